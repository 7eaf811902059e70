"""Which of several is told: pumps, slopes, knots, blocks, starts, signals; and plants of the user's own beside ours."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, Signal
from workbench.contract.system import System
from workbench.verification.cause import linear, named
from workbench.verification.cause.foresight import _looser
from workbench.verification.linear import curved
from workbench.verification.linear.lyapunov import coordinates
from workbench.verification.observed.energy_claims import check_energy
from workbench.verification.practical import meters
from workbench.verification.practical.switches import own_plant
from workbench.verification.predictive.claims import _hypotheses
from workbench.verification.probability.runs import Runs
from workbench.verification.regions.claims import check_starts
from workbench.verification.search import of_path
from workbench.verification.sensitivity.check import strongest
from workbench.verification.verdict import Verdict


# ---- causes ---------------------------------------------------------------------------------------------------------------
def row(name, reached, broken=True, kind="flow"):
    return {
        "name": name, "reached": reached, "limit": 2e-3, "unit": "m^3/s", "broken": broken, "kind": kind,
    }  # fmt: skip


def test_the_pump_that_lacks_most_is_told():
    rows = [row("left", 1.2), row("right", 1.5), row("third", 1.3), row("spool", 9.0, kind="V")]
    rows.append(row("fourth", 3.0, broken=False))
    found = named._of_pump(Verdict("machine-limits", "c", False, "sampled", data={"limits": rows}))
    assert found.kind == "limit" and "right reaches 1.5 times what it has" in found.words
    other = Verdict("tracking", "c", False, "sampled", data={"limits": rows})
    assert named._of_pump(other) is None
    fine = Verdict("machine-limits", "c", False, "sampled", data={"limits": rows[3:]})
    assert named._of_pump(fine) is None


@dataclass(frozen=True)
class Gains:
    """A law with several numbers of one gain, and a gain of which the name begins likewise."""

    K: tuple = ()
    K_2: float = 0.0
    λ: float = 0.0
    range: float = 0.0


def test_three_numbers_of_a_gain_are_told_and_all_are_changed(monkeypatch):
    monkeypatch.setattr(linear, "innermost", lambda controller: Gains())
    monkeypatch.setattr(linear, "law_path", lambda controller: "controller.")
    values = {f"controller.K.{k}": 1.5 + k for k in range(4)}
    values |= {"controller.K_2": 7.0, "controller.λ": 0.25, "controller.range": 3.0, "plant.K": 1.0}
    found = dict(
        (words, paths) for paths, words in linear._gains(SimpleNamespace(controller=0), values)
    )
    assert found == {
        "gain controller.K (1.5, 2.5, 3.5)": [f"controller.K.{k}" for k in range(4)],
        "gain controller.K_2 (7)": ["controller.K_2"],
        "gain controller.λ (0.25)": ["controller.λ"],
    }


@dataclass(frozen=True)
class Foresees:
    """What a predictive law says of itself, with two commands."""

    u_min: tuple = (-1.0, -1.0)
    u_max: tuple = (1.0, 1.0)
    slew: tuple = ()
    limits: tuple = ()
    terminal: str = "cost"
    N: int = 10
    commands = (Signal("u", "V"), Signal("w", "A"))

    def each(self, name):
        return getattr(self, name) or ({"u_min": -math.inf, "u_max": math.inf}[name],) * 2


@pytest.mark.parametrize(
    "ranges, wide",
    [
        ({"u": (-5.0, 6.0), "w": (-7.0, 8.0)}, {"u_min": (-5.0, -7.0), "u_max": (6.0, 8.0)}),
        ({"u": (-5.0, 6.0)}, {"u_min": (), "u_max": ()}),
        ({"w": (-5.0, 6.0)}, {"u_min": (), "u_max": ()}),
        ({}, {"u_min": (), "u_max": ()}),
        ({"u": (-1.0, 1.0), "w": (-1.0, 1.0)}, None),
    ],
)
def test_a_law_is_given_the_ranges_of_its_machine_where_it_states_them_all(ranges, wide):
    loop = SimpleNamespace(plant=SimpleNamespace(limits=lambda: ranges))
    found = list(_looser(loop, Foresees()))
    words = "the law holds its commands to -1, -1 … 1, 1 (controller.u_min, u_max)"
    assert found == ([] if wide is None else [(words, wide)])


def test_a_horizon_and_the_slew_of_a_law_are_loosened_up_to_their_ends():
    loop = SimpleNamespace(plant=SimpleNamespace(limits=dict))
    own = Foresees((), (), slew=(0.5, 2.0), terminal="none", N=39)
    (slew, none), (horizon, longer) = _looser(loop, own)
    assert slew == "the law holds its commands to 0.5, 2 a second (controller.slew)"
    assert none == {"slew": ()} and longer == {"N": 195, "terminal": "cost"}
    assert horizon.startswith("the law looks 39 samples ahead")
    ((_, longer),) = _looser(loop, Foresees((), (), terminal="none", N=41))
    assert longer["N"] == 200
    assert list(_looser(loop, Foresees((), (), terminal="none", N=200))) == []


# ---- slopes, knots, blocks -----------------------------------------------------------------------------------------------------
def test_slopes_of_more_than_a_millionth_of_the_largest_are_shown():
    slopes = lambda *sizes: {"slopes": [{"tenth": size} for size in sizes]}
    kept = lambda *sizes: [s["tenth"] for s in strongest(slopes(*sizes))]
    assert kept(-4.0, 3e-6, None, 4.1e-6, -4.1e-6) == [-4.0, 4.1e-6, -4.1e-6]
    assert kept(3e-9, 2e-9) == [3e-9, 2e-9] and kept(0.0, 0.0) == [] == kept(None) == kept()


def test_the_knots_of_a_path_stray_by_nothing_until_they_are_moved(monkeypatch):
    """Each component at each knot, in its unit, around 0."""
    monkeypatch.setattr(of_path, "start_state", lambda loop, scenario: None)
    reference = Hold("output", (0.0, 0.1))
    monkeypatch.setattr(of_path, "Demand", lambda *given: SimpleNamespace(reference=reference))
    monkeypatch.setattr(of_path, "_components", lambda loop, demand: (["y", "z"], ["m", "rad"]))
    monkeypatch.setattr(of_path, "_speeds", lambda reference, times: np.array([0.2, 0.4]))
    found = of_path.Path(knots=2).named(None, Scenario(6.0, reference), "path")
    assert [(d.low, d.nominal, d.high) for d in found] == [(0.0, 0.0, 0.0)] * 4
    assert [(d.name, d.unit, d.of) for d in found] == [
        ("path.y@2s", "m", (0, 0)),
        ("path.z@2s", "rad", (0, 1)),
        ("path.y@4s", "m", (1, 0)),
        ("path.z@4s", "rad", (1, 1)),
    ]
    assert found[0].kind.limits == pytest.approx((0.3, 0.6))


@pytest.mark.parametrize(
    "blocks, own", [(None, True), ((1, 1), True), ((1, 2), False), ((3,), False)]
)
def test_a_move_of_several_samples_ends_the_argument(blocks, own):
    cost = Verdict("c", "a claim", True, "proof", worst="a")
    kept = Verdict("c", "a claim", None, worst="b")
    found = _hypotheses(
        SimpleNamespace(blocks=blocks, lost=("the model is the plant",)), cost, kept, True
    )
    assert [a.holds for a in found] == [True, None, True, False, *([] if own else [False])]
    assert own or found[-1].text == "every sample has its own move"
    unseen = _hypotheses(SimpleNamespace(blocks=None, lost=()), cost, kept, False)
    assert unseen[2].holds is None and (unseen[0].worst, unseen[1].worst) == ("a", "b")


# ---- starts and signals --------------------------------------------------------------------------------------------------------
PLANT = Linear(((-1.0, 0.0), (0.0, -2.0)), ((1.0,), (0.0,)), ((1.0, 0.0),))


@pytest.mark.parametrize(
    "starts, key",
    [
        (({"x9": 1.0},), "contains: "),
        (({"x0": "5 bar"},), "contains.x0"),
        (({"x0": 1.0}, {"x0": "5 bar"}), "contains.1.x0"),
    ],
)
def test_a_start_among_several_is_told_by_its_number(starts, key):
    with pytest.raises(InputError) as why:
        check_starts(SimpleNamespace(starts=starts, along={}), PLANT)
    assert why.value.message.startswith(key)


@pytest.mark.parametrize(
    "along, refused", [({}, False), ({"x0": 0.0}, True), ({"x0": 0.0, "x1": -2.0}, False)]
)
def test_a_direction_has_a_length(along, refused):
    claim = SimpleNamespace(starts=(), along=along)
    if not refused:
        check_starts(claim, PLANT)
        return
    with pytest.raises(InputError, match="along: a direction of no length"):
        check_starts(claim, PLANT)


@pytest.mark.parametrize(
    "kinds, noisy",
    [(("reference", "noise"), True), (("noise",), True), (("reference",), False), ((), False)],
)
def test_one_input_of_noise_makes_runs_differ_by_their_seed(kinds, noisy):
    inputs = [SimpleNamespace(kind=kind) for kind in kinds]
    run = SimpleNamespace(loop=SimpleNamespace(inputs=inputs))
    assert Runs(run, (), ()).noisy is noisy


@pytest.mark.parametrize("share, holds", [(0.01, True), (0.0101, None), (0.009, True)])
def test_a_run_that_left_its_stroke_is_judged_where_its_balance_is_met(monkeypatch, share, holds):
    energy = SimpleNamespace(
        share=share, drift=1.0, through=100.0, rounding=0.0, by={"pump": 1.0}, change=0.0
    )
    monkeypatch.setattr(
        "workbench.verification.observed.energy_claims.diverged", lambda *given: None
    )
    run = SimpleNamespace(energy=energy, left=(-0.1, "the piston leaves"), end="it ended there")
    monkeypatch.setattr(
        "workbench.verification.observed.energy_claims.storage_floor", lambda run: 0.0
    )
    found = check_energy(SimpleNamespace(share=0.01, counted=True), run)
    assert found.holds is holds and (holds or found.worst == "it ended there")


# ---- plants of the user's own --------------------------------------------------------------------------------------------------
class Brought(System):
    """A plant that is no expression where `on_floats`, and has constraints where it projects."""

    states = inputs = outputs = ()
    on_floats = False

    def initial(self):
        return []

    def rhs(self, t, x, u):
        return []

    def out(self, t, x):
        return []


class Floats(Brought):
    on_floats = True


class Bound(Brought):
    def project(self, t, x):
        return x


class Ours(Brought):
    __module__ = "plants.known"


class OursOnFloats(Floats):
    __module__ = "plants.known"


@pytest.mark.parametrize(
    "plant, counted, switched",
    [
        (Brought, True, True),
        (Floats, False, False),
        (Bound, False, True),
        (Ours, False, False),
        (OursOnFloats, False, False),
    ],
)
def test_only_expressions_of_the_user_are_read(monkeypatch, plant, counted, switched):
    monkeypatch.setattr(meters, "_found", lambda plant, reads: ("s", *reads))
    loop = SimpleNamespace(plant=plant(), wiring=SimpleNamespace(reads=("y",)))
    assert meters.meters(loop) == (("s", "y") if counted else ())
    monkeypatch.setattr(own_plant, "trace", lambda plant, inputs: plant)
    monkeypatch.setattr(own_plant, "Flow", lambda traced: SimpleNamespace(switches=["one"]))
    monkeypatch.setattr(own_plant, "_flows", {})
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant()))
    assert isinstance(own_plant.on_own_plant(run, "law"), own_plant.OnOwnPlant) is switched


# ---- curves, coordinates -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "law, flows", [(lambda law: law, True), (lambda law: Sampled(law, 0.02), False)]
)
def test_a_law_is_asked_for_its_slopes_as_it_runs(monkeypatch, law, flows):
    asked = []
    monkeypatch.setattr(curved, "law_slopes", lambda inner, flows: asked.append((inner, flows)))
    wrapped = law(Feedback(PLANT, ((1.7,),)))
    assert curved.curved_law(ClosedLoop(PLANT, wrapped)) == "" and asked == [(wrapped, flows)]


@pytest.mark.parametrize("T", [None, 0.1])
def test_in_the_coordinates_of_a_stable_matrix_every_state_comes_nearer(T):
    """W A W⁻¹ is dissipative, or contracts, where A grows for a while."""
    A = np.array([[-0.5, 30.0], [0.0, -0.8]]) if T is None else np.array([[0.5, 30.0], [0.0, 0.8]])
    W = coordinates(A, T)
    M = W @ A @ np.linalg.inv(W)
    if T is None:
        assert np.linalg.eigvalsh(M + M.T)[-1] < 0 < np.linalg.eigvalsh(A + A.T)[-1]
    else:
        assert np.linalg.norm(M, 2) < 1 < np.linalg.norm(A, 2)
