"""How an examination goes on, clocks of laws, gains of the user's own far off, boxes whose corners are no numbers: by hand."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench import Signal
from workbench.contract.plain import Plain
from workbench.verification import judge
from workbench.verification import run as run_module
from workbench.verification.cause import feedback
from workbench.verification.linear import robust
from workbench.verification.linear.limited import unlimited
from workbench.verification.linear.systems import LinearSystem, balanced_matrix
from workbench.verification.practical.later import timed
from workbench.verification.results import arrays


# ---- the bar of an examination -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("work, shares", [((), [0.0, 1.0]), ((3, 5), [0.0, 4 / 12])])
def test_a_simulation_is_four_steps_of_the_whole(monkeypatch, work, shares):
    """Beside the work of all claims; what is judged rests on the run, and comes in the order of its claims."""
    told = []
    run = SimpleNamespace(told="log")
    for name in (
        "within_accuracy",
        "as_far_as_seen",
        "beyond_the_run",
        "_with_cause",
        "_with_energy",
    ):
        monkeypatch.setattr(judge, name, lambda run, verdicts: verdicts)
    monkeypatch.setattr("workbench.verification.defaults.check_closed", lambda loop: None)
    monkeypatch.setattr(judge, "simulated", lambda loop, scenario: run)
    monkeypatch.setattr(judge, "put_to_the_test", lambda verdict: verdict.upper())
    monkeypatch.setattr(judge, "plain", lambda verdicts: verdicts)
    monkeypatch.setattr(
        judge, "_judged", lambda claims, run, bar, ahead: (["a", "b"], {"drawn": 1})
    )
    claims = tuple(SimpleNamespace(work=w, needs_ledger=False) for w in work)
    found = judge._examined(
        "loop", "scenario", claims, lambda share, what: told.append((share, what)), None
    )
    assert [share for share, _ in told] == pytest.approx(shares)
    assert {what for _, what in told} == {"simulating"}
    assert found.verdicts == ["A", "B"] and found.log == "log"


def test_a_bar_never_goes_beyond_its_end_and_needs_nobody_who_looks():
    told = []
    bar = judge._Progress(lambda share, what: told.append((share, what)), 4)
    bar.tick("a")
    bar.tick("b", 2)
    bar.tick("c", 5)
    assert told == [(0.25, "a"), (0.75, "b"), (1.0, "c")]
    none = judge._Progress(None, 0)
    none.tick()
    assert (none.done, none.total) == (1, 1)


@pytest.mark.parametrize("alike", [True, False])
def test_a_log_of_samples_alone_is_kept_once(monkeypatch, alike):
    """A row a step beside a row a sample, only where they differ."""
    monkeypatch.setattr(run_module, "at_samples", lambda whole: whole if alike else "samples")
    monkeypatch.setattr(run_module, "Run", lambda *given: given)
    found = run_module.of_log("loop", "scenario", "whole", "demand")
    wanted = ("whole", None) if alike else ("samples", "whole")
    assert found == ("loop", "scenario", *wanted, "demand")


# ---- clocks ------------------------------------------------------------------------------------------------------------------
def test_memory_that_runs_on_whatever_is_measured_is_a_clock():
    """z_0 counts, z_1 adds a measurement up, z_2 an input, z_3 another number of the memory; z_4 stays, z_5 is doubled."""
    t, x, w, c = (ca.SX.sym(n, k) for n, k in (("t", 1), ("x", 8), ("w", 2), ("c", 1)))
    z = [x[2 + k] for k in range(6)]
    after = ca.vertcat(
        x[0], x[1], z[0] + 0.25, z[1] + x[0], z[2] + w[1], z[3] + z[0], z[4], 2 * z[5]
    )
    step = ca.Function("jump", [t, x, w, c], [after])
    time = np.linspace(0.0, 2.0, 9)
    logged = {
        "z0": 3.0 + time,
        "z4": 0 * time + 7.0,
        "z5": 2.0**time,
        "z1": time,
        "z2": time,
        "z3": time,
    }
    plant = SimpleNamespace(states=(Signal("a"), Signal("b")))
    law = SimpleNamespace(states=tuple(Signal(f"z{k}") for k in range(6)))
    log = SimpleNamespace(time=time, array=logged.__getitem__)
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant, controller=law), log=log)
    assert timed._clocks(run, step) == {2: (pytest.approx(3.0), pytest.approx(1.0))}


# ---- gains far off -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rates, period, words",
    [
        (
            [2.0, 0.24],
            0.1,
            "gain from y to w: it closes the loop at 0.24 1/s, which in a run of 4 s gets nowhere",
        ),
        ([2.0, 0.25], 0.1, ""),
        ([4.9, 1.0], 0.1, ""),
        (
            [5.0, 1.0],
            0.1,
            "gain from x to u: it closes the loop at 5 1/s, and a sample time of 100 ms bears 5 1/s",
        ),
        (
            [1.0, 500.0],
            None,
            "gain from y to w: it closes the loop at 500 1/s, and a sample time of 1 ms bears 500 1/s",
        ),
        ([1.0, 499.0], None, ""),
    ],
)
def test_a_users_own_gain_closes_its_loop_within_the_run_and_not_faster_than_samples(
    monkeypatch, rates, period, words
):
    plain = object.__new__(Plain)
    object.__setattr__(plain, "law", lambda t, y, r: [0.0])
    monkeypatch.setattr(feedback, "innermost", lambda controller: controller)
    loop = SimpleNamespace(period=period, controller=plain)
    given = (["u", "w"], ["x", "y"], np.array(rates), 4.0)
    found = feedback._far_off(loop, *given)
    assert found.startswith(words) and bool(found) is bool(words)
    assert not words or found.endswith("(a slip of units?)")
    ours = SimpleNamespace(period=period, controller=SimpleNamespace())
    assert feedback._far_off(ours, *given) == ""


# ---- boxes of a robust proof -----------------------------------------------------------------------------------------------------
def test_one_entry_that_is_no_number_leaves_nothing_to_search(monkeypatch):
    """At any corner, or in the middle; else one matrix from the corners and the centre is checked at every corner."""
    asked = []
    monkeypatch.setattr(robust, "common_matrix", lambda matrices, T: asked.append(matrices) or "P")
    monkeypatch.setattr(
        robust, "_falls", lambda M, P, T, change: (P, T, change) == ("P", 0.5, 1e-6) and M.good
    )

    def family(bad=None, lost=None):
        def at(θ):
            mid = np.full((2, 2), float(θ[0]))
            if bad is not None and θ[0] == bad:
                mid[1, 0] = np.nan
            return SimpleNamespace(mid=mid, good=θ[0] != lost)

        return SimpleNamespace(at=at, T=0.5, affine=True)

    low, high = np.array([1.0]), np.array([3.0])
    corners = [low, high]
    for bad in (1.0, 2.0, 3.0):
        found = robust._varying(family(bad), low, high, corners, 9, None, 1e-6)
        assert found == (False, 0, None, None) and asked == []
    assert robust._varying(family(), low, high, corners, 9, None, 1e-6) == (True, 0, None, "P")
    assert [M[0, 0] for M in asked[0]] == [1.0, 3.0, 2.0]
    for lost in (1.0, 3.0):
        assert robust._varying(family(lost=lost), low, high, corners, 9, None, 1e-6)[0] is False


# ---- peaks of several loops, empty matrices, limits behind limits -------------------------------------------------------------
def test_the_largest_peak_of_several_loops_is_told_where_it_is(monkeypatch):
    """The largest of S in the second loop, of T in the first, at lower frequencies than the others'."""
    peaks = iter([(1.5, 9.0), (3.0, 2.0), (2.5, 1.0), (2.0, 8.0)])
    asked = []

    def norm(G, inside, least):
        asked.append(least)
        return next(peaks)

    monkeypatch.setattr("workbench.verification.linear.norms.hinf_norm", norm)
    one = LinearSystem(-np.eye(1), np.eye(1), 2 * np.eye(1), np.zeros((1, 1)))
    found = arrays.around([one, one], 1.0)
    assert (found["M_S"], found["ω_S"], found["M_T"], found["ω_T"]) == (2.5, 1.0, 3.0, 2.0)
    assert asked == [-1.0, -1.0, 1.5, 3.0] and found["disk"] == arrays.excluded(1.0)
    L = 2 / (1j * found["ω"] + 1)
    assert found["L"] == pytest.approx(L) and found["S"] == pytest.approx(np.abs(1 / (1 + L)))
    assert found["T"] == pytest.approx(np.abs(L / (1 + L)))


def test_a_loop_without_states_is_balanced_as_it_is():
    assert balanced_matrix(np.zeros((0, 0))).shape == (0, 0) == balanced_matrix([]).shape
    assert balanced_matrix(3.0).tolist() == [[3.0]]


@pytest.mark.parametrize(
    "outer, one",
    [
        ((-1.0, 2.0), True),
        ((-1.0, 3.0), True),
        ((-4.0, 2.0), True),
        ((-0.5, 2.0), False),
        ((-1.0, 1.5), False),
    ],
)
def test_a_limit_behind_one_that_is_as_narrow_changes_nothing(outer, one):
    x = ca.SX.sym("x", 2)
    law = ca.fmin(ca.fmax(ca.fmin(ca.fmax(3 * x[0], -1.0), 2.0), outer[0]), outer[1])
    _, limits, which = unlimited(x, ca.vertcat(law))
    assert (which == [0] and len(limits) == 1) is one
    assert (limits[0].low, limits[0].high) == (-1.0, 2.0)
