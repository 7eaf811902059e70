"""Places that only many samples, several states or both signs show, by hand: starts, poses, slopes, scans, runs that go on."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench import Signal
from workbench.verification.linear.step_matrix import Matrices
from workbench.verification.observed import holding, response
from workbench.verification.practical import starts
from workbench.verification.practical.contained import _unseen
from workbench.verification.practical.later import run_on
from workbench.verification.practical.limits import claims as limits
from workbench.verification.regions.claims import _undecided
from workbench.verification.temporal.sentence import read
from workbench.verification.verdict import Verdict


# ---- other starts ------------------------------------------------------------------------------------------------------------
def test_starts_are_drawn_in_opposite_pairs_to_either_side_of_each_state(monkeypatch):
    """By 0.3 to 1 of each size; over many pairs every state goes both ways, not always with the others."""
    monkeypatch.setattr(starts, "stands", lambda run, start: True)
    run = SimpleNamespace(scenario=SimpleNamespace(seed=4))
    sizes = {"a": 2.0, "b": 5.0}
    found = [start.amounts for start in starts.drawn(run, 41, 0.02, sizes)]
    assert len(found) == 41
    for one, other in zip(found[:40:2], found[1:40:2]):
        assert one == {name: -value for name, value in other.items()}
    shares = np.array([[start[n] / size for n, size in sizes.items()] for start in found[:40:2]])
    assert (np.abs(shares) >= 0.3).all() and (np.abs(shares) <= 1.0).all()
    assert (shares > 0).any(axis=0).all() and (shares < 0).any(axis=0).all()
    assert len(set(np.sign(shares[:, 0] * shares[:, 1]))) == 2
    monkeypatch.setattr(starts, "sizes", lambda run, spread: {"c": spread})
    (only,) = starts.drawn(run, 1, 0.02)
    assert set(only.amounts) == {"c"} and 0.006 <= abs(only.amounts["c"]) <= 0.02


# ---- poses of a run ----------------------------------------------------------------------------------------------------------
def test_poses_with_a_number_that_is_none_are_left_out_and_inputs_have_their_defaults():
    time = np.arange(4.0)
    logged = {
        "x": [0.0, 1.0, np.nan, 3.0],
        "y": [0.0, np.inf, 2.0, 30.0],
        "u": [5.0, 6.0, 7.0, 8.0],
    }
    log = type("Log", (dict,), {"time": time, "array": lambda self, n: np.array(self[n])})(logged)
    plant = SimpleNamespace(
        states=(Signal("x"), Signal("y")),
        inputs=(Signal("u"), Signal("w"), Signal("v")),
        defaults=lambda: {"w": 0.5, "u": 99.0},
    )
    found = list(holding._poses(SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant))))
    assert found == [(0.0, [0.0, 0.0], [5.0, 0.5, 0.0]), (3.0, [3.0, 30.0], [8.0, 0.5, 0.0])]


# ---- flows that know the time ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("timed, told", [(0.0, False), (1e-11, True), (1e-13, False)])
def test_a_plant_called_from_python_is_asked_at_the_middle_of_its_run(timed, told):
    """With what is commanded there, defaults of the rest, and nothing for an input that has none."""
    asked = []

    def rhs(t, x, u):
        asked.append((x, u))
        return [3.0 + timed * t, 4.0]

    plant = SimpleNamespace(
        states=(Signal("x"),),
        inputs=(Signal("u"), Signal("w"), Signal("v")),
        defaults=lambda: {"w": 0.5, "u": 9.0},
        rhs=rhs,
    )
    log = SimpleNamespace(
        time=np.arange(5.0), array={"x": np.arange(5.0), "u": 10 * np.arange(5.0)}.get
    )
    loop = SimpleNamespace(
        hosted=True, plant=plant, controller=SimpleNamespace(commands=(Signal("u"),))
    )
    run = SimpleNamespace(loop=loop, log=log, scenario=SimpleNamespace(length=lambda: 4.0))
    assert response._timed(run) is told
    assert asked[0] == ([2.0], [20.0, 0.5, 0.0]) and len(asked) == response.INSTANTS


# ---- slopes where some are no numbers ----------------------------------------------------------------------------------------
def test_a_column_with_one_entry_that_is_no_number_is_taken_by_differences():
    """f = (√x₀ + 3 x₁, 5 x₁, x₀ x₁) at x₀ = 0: its first column has one infinite entry; the second stays exact."""
    t, x, w, c = (ca.SX.sym(n, k) for n, k in (("t", 1), ("x", 3), ("w", 1), ("c", 1)))
    even = ca.sqrt(ca.fabs(x[0])) + 3 * x[1]
    flow = ca.Function("flow", [t, x, w, c], [ca.vertcat(even, 5 * x[1], x[0] * x[1])])
    J = ca.Function("J", [t, x, w, c], [ca.densify(ca.jacobian(flow(t, x, w, c), x)), x])
    own = object.__new__(Matrices)
    own.jac, own.c, own.S = {"flow": J}, 0.0, np.array([2.0, 1.0, 1.0])
    own.traced = SimpleNamespace(flow=flow, project=None)
    found = own.slope("flow", 0.0, np.array([0.0, 7.0, 0.0]), 0.0)
    assert np.isfinite(found).all()
    assert found == pytest.approx(
        np.array([[0.0, 3.0, 0.0], [0.0, 5.0, 0.0], [7.0, 0.0, 0.0]]), abs=1e-9
    )


# ---- margins that are shares -------------------------------------------------------------------------------------------------
def test_slopes_of_a_share_are_divided_by_what_it_is_a_share_of():
    """tool < 4 mm and turn < 0.5 rad: of the tool a share of 4 mm."""
    time = np.linspace(0.0, 1.0, 5)
    sentence = read("always (3 * tool < 4 mm and turn < 0.5 rad)", {"tool": "m", "turn": "rad"})
    found = sentence.on(time, {"tool": 1e-3 * time, "turn": 0.1 * time})
    assert found.mixed and found.margin == pytest.approx(0.25)
    assert found.slopes == {"tool": pytest.approx(3.0 / 4e-3, rel=1e-6)}


# ---- scans and what they rest on ---------------------------------------------------------------------------------------------
def mode(aside=False):
    return SimpleNamespace(aside=aside, words="grows by 2 1/s")


@pytest.mark.parametrize("places, worst", [
    ([], "fine"),
    ([(True, None)], "fine"),
    ([(True, mode(aside=True))], "fine"),
    ([(False, mode())], "fine"),
    ([(False, mode()), (True, mode(aside=True)), (True, mode())], "ask practical-stability as well"),
])  # fmt: skip
def test_a_limit_that_holds_beside_a_mode_that_grows_is_undecided(monkeypatch, places, worst):
    """Where practical stability is not asked for itself; what does not hold stays as it is."""
    made = [SimpleNamespace(lasts=lasts, fastest=one) for lasts, one in places]
    monkeypatch.setattr(limits, "slowest_and_unstable", lambda run: SimpleNamespace(places=made))
    holds = Verdict("delay-limit", "c", True, "sampled", 1.0, worst="fine")
    found = limits._founded(holds, None, None)
    assert worst in found.worst and found.holds is (True if worst == "fine" else None)
    assert (
        limits._founded(holds, Verdict("practical-stability", "c", True, "sampled"), None) is holds
    )
    for other in (
        Verdict("delay-limit", "c", False, "sampled", 1.0),
        Verdict("delay-limit", "c", None),
    ):
        assert limits._founded(other, None, None) is other


@pytest.mark.parametrize(
    "starts_named, words",
    [(0, ""), (1, "; the start named is inside"), (2, "; the 2 starts named are inside")],
)
def test_a_region_is_asked_for_with_the_starts_that_are_named(starts_named, words):
    claim = SimpleNamespace(starts=({},) * starts_named, counted=False)
    found = _undecided(claim, "why", margin=None)
    assert found.claim.endswith(f"for the stored matrices{words}") and found.worst == "why"
    assert found.counted is False and found.source == "saturation as a sector inside the ellipsoid"


# ---- runs that go on ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("at, told", [(4.0, False), (4.5, True)])
def test_what_is_further_off_is_looked_for_after_the_run(monkeypatch, at, told):
    """Not at its last instant, which the run had itself."""
    monkeypatch.setattr(run_on, "floor_of", lambda run: 1e-4)
    time = np.arange(0.0, 6.0, 0.5)
    run = SimpleNamespace(
        tool_error=np.full(3, 2e-3), scenario=SimpleNamespace(length=lambda: 4.0), error_unit="m"
    )
    seen = SimpleNamespace(
        tool_error=np.where(time == at, 5e-3, 1e-3), log=SimpleNamespace(time=time)
    )
    words = run_on.off_later(run, seen)
    assert words == (f"at t = {at:g} s it is 5 mm off, in the run 2 mm at most" if told else "")


def test_memory_that_grows_by_just_so_much_is_still_contained():
    """2, 3, 6: from the first third to the second by 1.5 exactly."""
    time = np.arange(40.0)
    move = np.concatenate([np.zeros(10), *(np.linspace(0.0, rate, 10) for rate in (2.0, 3.0, 6.0))])
    log = type("Log", (dict,), {"time": time, "array": dict.__getitem__})({"z": move})
    assert _unseen(SimpleNamespace(log=log), "said", 10.0, ("z",)).holds is True
