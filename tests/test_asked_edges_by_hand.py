"""What may be asked, at its edges: numbers of claims, kinds of directions, starts of proofs, sentences that decide nothing."""

from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE, Decaying, Feedback, Linear

from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, Sine, Waypoints
from workbench.contract.wrappers import Noisy
from workbench.verification import claims as C
from workbench.verification.probability import judge
from workbench.verification.probability.claims import Spread
from workbench.verification.rigorous import claims as rigorous
from workbench.verification.run import Run
from workbench.verification.search import of_loop, of_scenario
from workbench.verification.sensitivity.claim import Sensitivity
from workbench.verification.temporal.sentence import read
from workbench.verification.verdict import Verdict

PUSHED = Linear(((-1.0,),), ((1.0,),), ((1.0,),), ((1.0,),))
LOOP = ClosedLoop(PUSHED, Sampled(Feedback(PUSHED, ((1.0,),)), 1e-3))
NOISY = ClosedLoop(PUSHED, Sampled(Noisy(Feedback(PUSHED, ((1.0,),)), 0.2), 1e-3))


def possible(make, *words):
    """Whether this can be made; else it is refused with these words."""
    try:
        make()
    except InputError as why:
        assert all(word in why.message for word in words)
        return False
    return True


# ---- numbers of claims ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "budget, fits", [(0, False), (1, True), (10_000_000, True), (10_000_001, False)]
)
def test_a_budget_of_boxes(budget, fits):
    asked = lambda: C.Supplied("x**2", {"x": (-1.0, 1.0)}, 0.1, budget=budget)
    assert possible(asked, "budget: ") is fits


SECTORS = [
    ({"low": 1.0, "high": 1.0}, False), ({"low": 0.999, "high": 1.0}, True),
    ({"place": "limit", "low": 0.1, "high": 0.99}, False), ({"place": "limit", "low": 0.1, "high": 1.0}, True),
    ({"low": 0.5, "high": 1.5, "slope": 1.49}, False), ({"low": 0.5, "high": 1.5, "slope": 1.5}, True),
    ({"place": "valve", "low": 0.1, "high": 0.5}, True),
]  # fmt: skip


@pytest.mark.parametrize("given, fits", SECTORS)
def test_ends_of_a_sector(given, fits):
    assert possible(lambda: C.Sector(**given)) is fits


@pytest.mark.parametrize("runs, fits", [(64, True), (63, False)])
def test_shares_of_two_numbers_take_sixty_four_runs(runs, fits):
    over = {n: Spread(uniform=(0.0, 1.0)) for n in "ab"}
    asked = lambda: Sensitivity(over=over, runs=runs)
    assert possible(asked, "2 numbers take 64 runs at least") is fits
    assert Sensitivity(runs=1).runs == 1


# ---- directions -----------------------------------------------------------------------------------
def told(found):
    return [(d.name, d.nominal, d.unit, d.of, d.whole, d.least, d.most) for d in found]


def test_disturbances_that_stay_the_same():
    kind, inf = of_scenario.Disturbance(), float("inf")
    given = Scenario(1.0, disturbances={"w0": 0.3})
    named = kind.named(LOOP, given, "disturbance.w0")
    assert told(named) == [("disturbance.w0", 0.3, "1", ("w0",), False, -inf, inf)]
    assert kind.named(LOOP, Scenario(1.0), "disturbance.w0")[0].nominal == 0.0
    waves = Scenario(1.0, disturbances={"w0": Sine("output", (0.0,), (1.0,), 2.0)})
    with pytest.raises(InputError, match="as a function of time"):
        kind.named(LOOP, waves, "disturbance.w0")
    with pytest.raises(InputError, match="there is no disturbance 'u0'") as why:
        kind.named(LOOP, given, "disturbance.u0")
    assert "w0" in why.value.mend
    none = ClosedLoop(IDLE.plant, Sampled(IDLE, 1e-3))
    with pytest.raises(InputError) as why:
        kind.named(none, given, "disturbance.w0")
    assert why.value.mend == "remove it: this plant has none"


def test_numbers_of_a_reference():
    kind = of_scenario.OfReference()
    walk = Scenario(1.0, Waypoints("output", ((0.0,), (0.5,)), 2.0, 0.25))
    (leg,) = kind.named(LOOP, walk, "reference.leg")
    assert (leg.nominal, leg.unit, leg.of, leg.least) == (2.0, "s", ("leg",), 0.0)
    with pytest.raises(
        InputError, match=r"the reference \(Waypoints\) has no number 'legs'"
    ) as why:
        kind.named(LOOP, walk, "reference.legs")
    assert "leg" in why.value.mend
    with pytest.raises(InputError, match=r"\(nothing\)") as why:
        kind.named(LOOP, Scenario(1.0), "reference.leg")
    assert why.value.mend == "state a reference with such a number"
    slower, scenario = kind.moved(LOOP, walk, {leg: 3.0})
    assert slower is LOOP and scenario.reference.leg == 3.0


def test_seeds_and_starts():
    seed = of_scenario.Seed()
    assert told(seed.named(NOISY, Scenario(1.0, seed=7), "seed")) == [
        ("seed", 7.0, "1", (), True, 0.0, 2**31 - 1)
    ]
    with pytest.raises(InputError, match="nothing in this loop draws noise"):
        seed.named(LOOP, Scenario(1.0), "seed")
    offset = of_scenario.Offset()
    (x,) = offset.named(LOOP, Scenario(1.0, offset={"x0": 0.4}), "start")
    assert (x.name, x.nominal, x.of) == ("offset.x0", 0.4, ("x0",))
    _, moved = offset.moved(LOOP, Scenario(1.0, offset={"x0": 0.4, "y": 1.0}), {x: 0.5})
    assert dict(moved.offset) == {"x0": 0.5, "y": 1.0}


def test_the_noise_of_a_loop(monkeypatch):
    kind = of_loop.Noise()
    (σ,) = kind.named(NOISY, Scenario(1.0), "noise")
    assert told([σ]) == [("noise", 0.2, "1", (), False, 0.0, float("inf"))]
    louder, _ = kind.moved(NOISY, Scenario(1.0), {σ: 0.5})
    assert louder.controller.inner.σ == 0.5
    with pytest.raises(InputError, match="this loop has no noises"):
        kind.named(LOOP, Scenario(1.0), "noise")
    monkeypatch.setattr(of_loop, "_noises", lambda controller: ["one", "two"])
    with pytest.raises(InputError, match="this loop has 2 noises"):
        kind.named(NOISY, Scenario(1.0), "noise")


def test_a_noise_on_signals_of_several_units_is_no_direction(monkeypatch):
    signal = lambda name, unit: SimpleNamespace(name=name, unit=unit)
    noise = SimpleNamespace(σ=0.1, signals=(), measured=[signal("p", "Pa"), signal("q", "m")])
    monkeypatch.setattr(of_loop, "_noises", lambda controller: [noise])
    loop = SimpleNamespace(controller=None)
    with pytest.raises(InputError, match=r"different units \(Pa, m\)|different units \(m, Pa\)"):
        of_loop.Noise().named(loop, Scenario(1.0), "noise")
    noise.signals = ("q",)
    assert of_loop.Noise().named(loop, Scenario(1.0), "noise")[0].unit == "m"


# ---- a run's own start ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "start, level, where",
    [
        ((0.5, 9.0), 0.25, ""),
        ((-0.5, 9.0), 0.25, ""),
        ((0.5, 9.0), 0.24, "V = 0.25"),
        ((1.0, 0.0), 2.0, ""),
        ((1.01, 0.0), 2.0, "x = 1.01"),
    ],
)
def test_a_proof_is_about_a_run_that_begins_in_its_level_set(monkeypatch, start, level, where):
    """V = x² on |x| ≤ 1; another state does not matter."""
    monkeypatch.setattr(rigorous, "start_state", lambda loop, scenario: np.array(start))
    states = (SimpleNamespace(name="x"), SimpleNamespace(name="other"))
    run = SimpleNamespace(loop=SimpleNamespace(states=states), scenario=None)
    found = Verdict("supplied", "t", True, "proof", 0.1, worst="as proven", data={"level": level})
    said = rigorous._inside(run, {"V": "x**2", "box": {"x": (-1.0, 1.0)}}, found)
    assert said.holds is (None if where else True)
    if where:
        assert (
            said.worst
            == f"this run's start is outside what is proven ({where}); for starts inside: as proven"
        )
    else:
        assert said.assumptions[0].worst == f"V = {start[0] ** 2:.6g} ≤ {level:.6g}"
    open_ = Verdict("supplied", "t", None)
    assert rigorous._inside(run, {}, open_) is open_


# ---- probabilities ------------------------------------------------------------------------------------
def asked(monkeypatch, until=1.0, length=1.0, completed=True, empty="", **options):
    """What is made of a claim on two sentences of which one looks so far."""
    sentences = {
        "a": SimpleNamespace(text="a", until=0.0),
        "b": SimpleNamespace(text="b", until=until),
    }
    monkeypatch.setattr(judge, "read", lambda text, table: sentences[text])
    monkeypatch.setattr(judge, "table", lambda loop, demand: None)
    monkeypatch.setattr(judge, "asks_nothing", lambda text, run: empty if text == "b" else "")
    monkeypatch.setattr(judge, "laws", lambda over, plant: ["law"])
    for name in judge.METHODS:
        monkeypatch.setitem(judge.METHODS, name, lambda claim, runs, tick, n=name: (n, runs.laws))
    monkeypatch.setattr(judge, "looked_at", lambda found, runs: found)
    claim = SimpleNamespace(
        **{"sentences": ("a", "b"), "sequential": False, "method": "runs", "over": {"c": 1}, "at_most": 0.1}
        | {"confidence": 0.9, "counted": True} | options
    )  # fmt: skip
    log = SimpleNamespace(time=np.array([0.0, length]), status=SimpleNamespace(completed=completed))
    run = SimpleNamespace(log=log, loop=SimpleNamespace(plant=Decaying()), demand=None)
    return judge.check_probability(claim, run, lambda: None)


def test_a_probability_is_asked_by_its_method(monkeypatch):
    assert asked(monkeypatch) == ("runs", ["law"])
    assert asked(monkeypatch, method="splitting") == ("splitting", ["law"])
    assert asked(monkeypatch, sequential=True) == ("sequential", ["law"])
    beyond = asked(monkeypatch, until=1.5)
    assert beyond.holds is None and beyond.worst.startswith(
        "b looks up to t = 1.5 s, beyond the run"
    )
    assert asked(monkeypatch, until=1.5, completed=False) == ("runs", ["law"])
    assert asked(monkeypatch, empty="b asks nothing").worst == "b asks nothing"


def test_a_reference_that_is_held_is_no_path_of_numbers():
    with pytest.raises(InputError, match=r"the reference \(Hold\) has no number 'leg'"):
        of_scenario.OfReference().named(
            LOOP, Scenario(1.0, Hold("output", (0.0,))), "reference.leg"
        )


# ---- clauses of a sentence --------------------------------------------------------------------------
def clauses(text, complete=True, **columns):
    units = {name: "rad" if name == "q" else "m" for name in columns}
    values = {name: np.array(v, float) for name, v in columns.items()}
    found = read(text, units).on(np.arange(3.0), values, complete)
    return [(c.text, c.holds, c.margin, c.unit) for c in found.clauses]


def test_every_part_of_a_conjunction_has_its_own_margin():
    """Each in its own unit; what nothing decides yet has none."""
    both = "always (x < 5 m and q < 1 rad)"
    assert clauses(both, x=[1.0, 4.0, 2.0], q=[0.5, 0.25, 1.5]) == [
        ("always (x < 5 m)", True, 1.0, "m"),
        ("always (q < 1 rad)", False, -0.5, "rad"),
    ]
    assert clauses(both, False, x=[1.0, 4.0, 2.0], q=[0.5, 0.25, 1.5]) == [
        ("always (x < 5 m)", None, None, "m"),
        ("always (q < 1 rad)", False, -0.5, "rad"),
    ]
    late = "eventually (x > 3 m) and always (x < 9 m)"
    assert clauses(late, False, x=[1.0, 4.0, 2.0])[0] == ("eventually (x > 3 m)", True, 1.0, "m")
    assert clauses("always (x < 5 m)", x=[1.0, 7.0, 2.0]) == [
        ("always (x < 5 m)", False, -2.0, "m")
    ]


@pytest.mark.parametrize(
    "x, idle", [([0.0, 2.0, 0.0], ()), ([0.0, 0.5, 0.0], ("x > 1 m",)), ([2.0, 2.0, 2.0], ())]
)
def test_a_condition_that_is_never_true_asks_nothing(x, idle):
    found = read("always (x > 1 m implies y < 3 m)", {"x": "m", "y": "m"})
    assert found.on(np.arange(3.0), {"x": np.array(x), "y": np.zeros(3)}).idle == idle


def test_a_margin_at_the_start_is_that_of_the_first_sample():
    """What is known of later samples decides nothing: at the second, `eventually` has no lower bound yet."""
    of = read("eventually[0 s, 1 s] (x > 1 m)", {"x": "m"})
    found = of.on(np.arange(3.0), {"x": np.array([4.0, 0.0, 0.0])}, complete=False)
    assert (found.holds, found.margin, found.time) == (True, 3.0, 0.0)
    inner = read("eventually[0 s, 5 s] always[0 s, 1 s] (x > 1 m)", {"x": "m"})
    later = inner.on(np.arange(2.0), {"x": np.array([4.0, 3.0])}, complete=False)
    assert (later.holds, later.margin) == (True, 2.0)


# ---- errors of a run ----------------------------------------------------------------------------------
def error_of(space=None, tool=True, path=((1.0, 2.0, 3.0), (4.0, 6.0, 3.0)), wanted=(), **logged):
    class Log(dict):
        array = dict.__getitem__
        time = np.arange(2.0)

    demand = SimpleNamespace(
        reference=space and SimpleNamespace(space=space),
        desired_tool=lambda t: None if path is None else np.array(path),
        wanted=wanted,
    )
    own = object.__new__(Run)
    loop = SimpleNamespace(plant=SimpleNamespace(has_tool=tool))
    signals = Log({name: np.array(v, float) for name, v in logged.items()})
    own.__dict__.update(demand=demand, loop=loop, log=signals)
    found = own.tool_error
    return found if found is None else found.tolist()


TOOL = {"tcp_x": [1.0, 1.0], "tcp_y": [2.0, 2.0], "tcp_z": [3.0, 3.0]}
OUTPUTS = {"y": [0.0, 1.0], "y_d": [3.0, 1.0], "z": [0.0, 5.0], "z_d": [4.0, 3.0]}
FOLLOWED = (("y", 0), ("y", 1), ("z", 0))


def test_an_error_is_the_distance_of_the_tool_or_of_what_follows_a_reference():
    """(3, 4, 0) is 5 m from where the tool should be; of two outputs (3, 4) and (0, 2)."""
    assert error_of("joint", **TOOL) == [0.0, 5.0] == error_of(**TOOL)
    assert error_of("joint", path=None, **TOOL) is None and error_of("joint") is None
    assert error_of("output", wanted=FOLLOWED, **TOOL, **OUTPUTS) == [5.0, 2.0]
    assert error_of("joint", False, wanted=FOLLOWED, **OUTPUTS) == [5.0, 2.0]
    assert error_of("output", wanted=(("y", 1),), **OUTPUTS) is None
