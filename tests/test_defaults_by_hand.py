"""Which claims a loop is asked that states none, rule by rule, with their numbers: what a loop is, is written down here."""

from types import SimpleNamespace

import pytest

from workbench.contract.errors import InputError
from workbench.verification import claims as C
from workbench.verification import defaults as module
from workbench.verification import run_claims as R
from workbench.verification.defaults import BRIEF, DRAWS, FEW, MOST_SEED, SETTLE, SHORT


def signals(*kinds):
    return [SimpleNamespace(name=f"s{k}", kind=kind, unit="m") for k, kind in enumerate(kinds)]


def about(**other):
    """A closed loop of no joints, sampled, whose law is no predictive one and follows a reference for 30 s."""
    plant = {
        "pressure_names": (), "p_top": None, "pressure_limits": (), "valves": None, "power_names": (), "no_passivity": "",
        "on_floats": False, "limits": dict, "scales": lambda: {},
    }  # fmt: skip
    plant |= {k: other.pop(k) for k in tuple(other) if k in plant}
    loop = {"period": 0.01, "no_derivative": "", "inputs": signals("reference", "disturbance")}
    loop |= {k: other.pop(k) for k in tuple(other) if k in loop}
    given = {
        "closed": True,
        "jointed": False,
        "linear": True,
        "predictive": None,
        "curved": "",
        "counting": "",
        "hosted": False,
        "metered": False,
        "followed": True,
        "stops": False,
        "length": 30.0,
    }
    made = SimpleNamespace(**given | other)
    made.plant, made.loop = SimpleNamespace(**plant), SimpleNamespace(**loop)
    return made


@pytest.fixture(autouse=True)
def no_ledger(monkeypatch):
    monkeypatch.setattr(module, "has_ledger", lambda loop: False)
    monkeypatch.setattr(module, "error_unit", lambda loop: "m")
    monkeypatch.setattr(module, "as_shown", lambda size, unit: round(size, 9))


def asked(rule, *given, **loop):
    """(claims, what was left unasked)."""
    unasked = []
    return getattr(module, rule)(about(**loop), *given, unasked), unasked


# ---- stability -----------------------------------------------------------------------------------------------------------
def test_the_theorem_is_asked_of_a_law_with_a_ledger(monkeypatch):
    assert module._theorem(about()) == []
    monkeypatch.setattr(module, "has_ledger", lambda loop: True)
    assert module._theorem(about()) == [
        C.Hypotheses(),
        C.Identity(),
        C.PowerFlows(),
        C.Inequality(),
    ]


@pytest.mark.parametrize(
    "loop, settle",
    [
        ({"length": 30.0}, SETTLE),
        ({"length": 6.0}, 2.0),
        ({"length": 6.0, "jointed": True}, SETTLE),
    ],
)
def test_time_for_settling(loop, settle):
    """A third of a short scenario, unless the machine has joints."""
    assert module._settle(about(**loop)) == settle
    assert asked("_practical", **loop) == ([C.PracticalStability(settle=settle)], [])


def test_an_open_loop_is_asked_for_no_stability():
    assert asked("_practical", closed=False) == ([], [("practical-stability", module.OPEN)])
    assert asked("_linear", closed=False) == ([], [])


@pytest.mark.parametrize(
    "length, brief",
    [(100.0, BRIEF), (5.5, BRIEF), (4.5, 9.0), (0.5, 1.0)],
)
def test_a_predictive_law_is_asked_from_fewer_and_shorter_starts(length, brief):
    (claim,), _ = asked("_practical", predictive="law", length=length)
    assert (claim.runs, claim.duration, claim.longest) == (FEW, brief, 2 * brief)


def test_a_linear_plant_is_asked_for_linear_stability():
    assert asked("_linear") == ([C.LinearStability()], [])
    for other in ({"jointed": True}, {"linear": False}):
        assert asked("_linear", **other) == ([], [])
    assert asked("_linear", no_derivative="a table") == ([], [("linear-stability", "a table")])
    assert asked("_linear", no_derivative="a table", predictive="law")[0] == [C.LinearStability()]
    found, ((key, why),) = asked("_linear", curved="a curve")
    assert (
        not found and key == "linear-stability" and why.startswith("a curve; practical stability")
    )
    assert asked("_linear", curved="a curve", predictive="law") == ([C.LinearStability()], [])
    found, ((key, why),) = asked("_linear", counting="n only counts", predictive="law")
    assert (found, key) == ([], "linear-stability") and why.startswith("n only counts; ")


# ---- limits --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("jointed, ledger", [(True, False), (False, True)])
def test_sample_time_and_delay_of_a_machine(monkeypatch, jointed, ledger):
    monkeypatch.setattr(module, "has_ledger", lambda loop: ledger)
    assert asked("_limits", 0.0, jointed=jointed) == ([C.SampleTimeLimit(), C.DelayLimit()], [])


def test_scans_of_others_and_of_laws_called_from_python():
    for none in ({}, {"period": None, "jointed": True}, {"closed": False, "jointed": True}):
        assert asked("_limits", 1.0, **none) == ([], [])
    found, unasked = asked("_limits", 1.0, hosted=True, jointed=True)
    assert found == [] and [key for key, _ in unasked] == ["sample-time-limit", "delay-limit"]
    assert unasked[0][1].startswith("the law is called")
    assert asked("_limits", 1.0, hosted=True, on_floats=True)[1][0][1].startswith(
        "the plant is called"
    )


@pytest.mark.parametrize("length, many", [(SHORT, 0), (SHORT + 0.1, 1)])
def test_a_scan_behind_metering_valves_takes_a_run_that_is_long_enough(length, many):
    found, _ = asked("_limits", 0.5, metered=True, length=length)
    assert len(found) == many
    if many:
        assert found == [C.SampleTimeLimit(error=0.5 * module.ON_SCAN)]
        assert asked("_limits", 0.0, metered=True, length=length)[0] == [C.SampleTimeLimit()]


# ---- requirements --------------------------------------------------------------------------------------------------------
def requirement(kind, size=0.0, **loop):
    found, unasked = asked("_requirements", size, **loop)
    return next((claim for claim in found if isinstance(claim, kind)), None), dict(unasked)


def test_tracking_by_the_size_of_the_path_or_as_for_a_crane():
    assert requirement(R.Tracking, jointed=True)[0] == R.Tracking()
    own = requirement(R.Tracking, 0.4, length=30.0)[0]
    assert own.error == pytest.approx(0.4 * module.ON_PATH) and own.settle == 10.0, (
        "a third of the scenario"
    )
    stated = requirement(R.Tracking, 0.4, scales=lambda: {"length": 1})[0]
    assert stated.settle == SETTLE
    assert requirement(R.Tracking, 0.0)[0].error == R.Tracking().error
    assert requirement(R.Tracking, closed=False) == (None, {})
    none, unasked = requirement(R.Tracking, followed=False)
    assert none is None and "neither scenario nor law" in unasked["tracking"]
    assert "tracking" in requirement(R.Tracking, followed=False, jointed=True)[1]


@pytest.mark.parametrize(
    "plant, limits",
    [
        ({"pressure_names": ("p",), "p_top": 2e7}, R.Pressures()),
        ({"pressure_names": ("p",), "pressure_limits": (1e5, 2e7)}, R.Pressures(1e5, 2e7)),
        ({"p_top": 2e7}, None),
    ],
)
def test_pressures_of_a_plant_that_states_their_limits(plant, limits):
    assert requirement(R.Pressures, **plant) == (limits, {})
    if limits is None:
        found, unasked = requirement(R.Pressures, pressure_names=("p",))
        assert found is None and unasked == {"pressures": module.NO_LIMITS}


def test_cavitation_saturation_and_rest():
    assert (
        requirement(R.NoCavitation, metered=True)[0] == R.NoCavitation()
        and requirement(R.NoCavitation)[0] is None
    )
    limited = {"limits": lambda: {"u": (-1, 1)}}
    assert requirement(R.Saturation, **limited)[0] == R.Saturation(counted=True)
    assert requirement(R.Saturation, **limited, predictive="law")[0].counted is False
    assert requirement(R.Saturation, **limited, predictive="law", jointed=True)[0].counted is True
    assert (
        requirement(R.Saturation)[0] is None
        and requirement(R.Saturation, **limited, closed=False)[0] is None
    )
    assert requirement(R.Settled, 0.5)[0] == R.Settled(floor=0.5 * module.STILL, rest=True)
    assert (
        requirement(R.Settled, 0.5, jointed=True)[0] == R.Settled()
        and requirement(R.Settled)[0] == R.Settled()
    )
    assert requirement(R.Settled, predictive="law")[0].rest is True
    assert requirement(R.Settled, closed=False)[0] is None


# ---- the machine and its valves ----------------------------------------------------------------------------------------------
def test_what_a_machine_is_asked(monkeypatch):
    answers = {"limits_of": (), "at_start": (), "_valves": []}
    for name in answers:
        monkeypatch.setattr(module, name, lambda *given, name=name: answers[name])
    assert asked("_machine") == ([], [])
    answers |= {"limits_of": ("limit",), "at_start": ("held",), "_valves": ["valves"]}
    found, unasked = asked("_machine", power_names=("supply",), jointed=True)
    assert (
        found == [R.MachineLimits(), R.HoldsWeight(), R.EnergyBalance(), "valves", C.Linear()]
        and unasked == []
    )
    found, unasked = asked("_machine", jointed=True, hosted=True)
    assert C.Linear() not in found and unasked[0][0] == "linear"
    assert asked("_machine", jointed=True, closed=False)[0][-1] == "valves"


def test_what_valves_are_asked(monkeypatch):
    class Valves:
        def uniqueness(self):
            return None

        def passivity(self):
            return None

    kinds = {"HasUniqueness": Valves, "HasPassivity": Valves}
    for name, kind in kinds.items():
        monkeypatch.setattr(module, name, kind)
    assert asked("_valves") == ([], []) and asked("_valves", metered=True) == (
        [R.ValveLosses()],
        [],
    )
    found, unasked = asked("_valves", valves=Valves())
    assert found == [C.UniqueVelocity(), C.IncrementalPassivity()] and unasked == []
    found, unasked = asked("_valves", valves=Valves(), no_passivity="it follows the loads")
    assert found == [C.UniqueVelocity()] and unasked == [
        ("incremental-passivity", "it follows the loads")
    ]


# ---- other draws of noise, and the whole ---------------------------------------------------------------------------------------
def test_other_draws_of_the_noise_that_a_loop_has():
    noisy = {"inputs": signals("reference", "noise")}
    search = C.Falsify(over={"seed": (0, MOST_SEED)}, budget=DRAWS)
    tracking = [R.Tracking(settle=3.0)]
    assert asked("_other_draws", tracking, **noisy) == ([search], [])
    for other in ({}, noisy | {"hosted": True}):
        assert asked("_other_draws", tracking, **other) == ([], [])
    assert asked("_other_draws", [C.Linear()], **noisy) == ([], [])
    for length, left in ((3.0, True), (3.1, False)):
        found, unasked = asked("_other_draws", tracking, **noisy, length=length)
        assert bool(unasked) is left and bool(found) is not left
    assert unasked == [] and asked("_other_draws", tracking, **noisy, length=3.0)[1] == [
        ("falsify", module.NO_DRAWS)
    ]


def test_all_rules_one_after_the_other(monkeypatch):
    """What plant or law say is not asked of them is listed, unless it is asked; counted where the loop is open."""
    plant = SimpleNamespace(not_asked=(("tracking", "by plant"), ("pressures", "by plant")))
    law = SimpleNamespace(not_asked=(("linear", "by law"),))
    steps = (
        "_theorem",
        "_linear",
        "_practical",
        "_limits",
        "_requirements",
        "_machine",
        "predictive_claims",
    )
    sizes = []

    def rule(name):
        def made(about, *given):
            if name in ("_limits", "_requirements"):
                sizes.append(given[0])
            if name == "_linear":
                given[-1].append(("linear-stability", "by rule"))
            return [R.Tracking()] if name == "_requirements" else []

        return made

    for name in steps:
        monkeypatch.setattr(module, name, rule(name))
    monkeypatch.setattr(
        module,
        "_other_draws",
        lambda about, found, unasked: [C.Falsify(over={"seed": (0, 1)})] if found else [],
    )
    monkeypatch.setattr(module, "law_of", lambda loop: law)
    monkeypatch.setattr(module, "path_size", lambda loop, scenario: 0.7)
    for closed, jointed in ((True, False), (False, True)):
        own = SimpleNamespace(plant=plant, jointed=jointed, closed=closed)
        monkeypatch.setattr(module, "_Loop", lambda loop, scenario, own=own: own)
        sizes.clear()
        tracking, falsify, left = module.defaults(SimpleNamespace(controller="law"), None)
        assert isinstance(tracking, R.Tracking) and isinstance(falsify, C.Falsify)
        assert sizes == [0.0 if jointed else 0.7] * 2 and left.counted is not closed
        assert left.items == (
            ("linear-stability", "by rule"),
            ("pressures", "by plant"),
            ("linear", "by law"),
        )
    with pytest.raises(InputError, match="a machine without a controller"):
        module.defaults(SimpleNamespace(controller=None), None)
