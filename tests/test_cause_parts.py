"""Parts of the search for a cause, each by itself: words for odd numbers, what is tried, what a run's badness is made of."""

import math
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid.law import PID
from plants import LinearActuator, machine
from workbench import ClosedLoop, Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.contract.machine_limits import FreeJoint
from workbench.contract.parameters import Leaf, leaves
from workbench.contract.plain import Plain
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.scenario import Scenario
from workbench.run.steps import Steps
from workbench.verification.cause import badness
from workbench.verification.cause import edits as cause_edits
from workbench.verification.cause import fitted as cause_fitted
from workbench.verification.cause import named as causes
from workbench.verification.cause import removal as cause_removal
from workbench.verification.cause import scenario_trials as cause_asked
from workbench.verification.cause import trials as cause_trials
from workbench.verification.cause import wiring as cause_wiring
from workbench.verification.cause.around import Around
from workbench.verification.cause.free import left_alone
from workbench.verification.cause.gains import _one_each, _scaled, _weaker, gain_trials
from workbench.verification.cause.machine import imperfect, uneven, wider
from workbench.verification.cause.trial import Cause, Trial, against, law_path, odd, slip
from workbench.verification.linear.loop import LinearLaw
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.returning import Judged, Return
from workbench.verification.verdict import Verdict


# ---- what nothing drives ---------------------------------------------------------------------------------------------------
def seen_from(word, signal="q_pole", measured=("s_cart",)):
    """A run of a cart with a pole that hangs on it freely, and one other start from which `signal` did so."""
    joint = FreeJoint("pole", (Signal("q_pole", "rad"),), (Signal("dq_pole", "rad/s"),), "rad")
    law = SimpleNamespace(
        measured=tuple(Signal(n, "1") for n in measured), commands=(Signal("F_motor", "N"),)
    )
    plant = SimpleNamespace(
        free_joints=lambda commands: (joint,) if commands == ["F_motor"] else ()
    )
    back = Return(Judged("q_cart", ("q_cart",), "m", 0.0), "back", 1.0, 0.0, 1.0, 1.0, True)
    worst = replace(back, signal=replace(back.signal, name=signal), word=word, last=0.9)
    outcome = Outcome(0.0, 0.0, "", "", "", (back, worst))
    return SimpleNamespace(
        loop=SimpleNamespace(controller=law, plant=plant), kept={"outcomes": [outcome]}
    )


@pytest.mark.parametrize(
    "word, said", [("growing", "by is growing"), ("staying", "by is not taken back")]
)
def test_a_joint_that_nothing_drives_is_named(word, said):
    assert f"nothing drives the joint of pole, and no law measures it: what it is moved {said}" in (
        left_alone(seen_from(word))
    )


@pytest.mark.parametrize(
    "other",
    [
        {"word": "back"},
        {"word": "returning"},
        {"word": "staying", "signal": "q_beam"},
        {"word": "growing", "measured": ("s_cart", "q_pole")},
    ],
)
def test_a_joint_that_comes_back_or_that_a_law_measures_is_no_cause(other):
    assert left_alone(seen_from(**other)) == ""


# ---- numbers and words ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value, usual, size",
    [
        (3.0, 3.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 2.0, 1.0),
        (2.0, 0.0, 1.0),
        (-2.0, 3.0, 1.0),
        (3.0, 1.5, 0.5 + math.log10(2)),
        (1.5, 3.0, 0.5 + math.log10(2)),
        (-1.5, -3.0, 0.5 + math.log10(2)),
        (4.0, 1.0, 0.5 + math.log10(4)),
        (6.0, 1.0, 1.2),
        (1.0, 600.0, 1.2),
    ],
)
def test_how_odd_a_number_is(value, usual, size):
    """A half at once and one more a decade, 1.2 at most; 1 for what is zero or of the wrong sign."""
    assert odd(value, usual) == pytest.approx(size)


@pytest.mark.parametrize(
    "ratio, words",
    [
        (1e3, "mm for m"),
        (1e-3, "mm for m"),
        (1e5, "Pa for bar"),
        (60.0, "seconds for minutes"),
        (180 / math.pi, "degrees for rad"),
        (math.pi / 180, "degrees for rad"),
        (1e6, "MPa for Pa"),
        (6e4, "l/min"),
        (1019.0, "mm for m"),
        (1021.0, ""),
        (981.0, "mm for m"),
        (979.0, ""),
        (2.0, ""),
        (-1e3, ""),
        (0.0, ""),
    ],
)
def test_a_slip_of_units_is_within_two_percent(ratio, words):
    told = slip(ratio * 0.7, 0.7)
    assert (words in told and "slip of units" in told) if words else told == ""


def test_a_number_against_another_in_words():
    assert against(180.0, 20.0, "what is shipped") == "9 × what is shipped, 20 (180)"
    assert against(20.0, 180.0, "usual") == "0.1111 × usual, 180 (20)"
    assert against(3e7, 2e7, "usual", "Pa") == "1.5 × usual, 200 bar (300 bar)"
    assert against(0.0, 3.0, "usual") == "0 and not 3, usual"
    assert against(3.0, 0.0, "usual") == "3 and not 0, usual"
    assert against(-2.0, 3.0, "usual") == "-2 and not 3, usual, of the wrong sign"
    assert against(2000.0, 2.0, "usual").endswith("(a slip of units, mm for m, or ms for s?)")


# ---- what is tried --------------------------------------------------------------------------------------------------------
PLANT = LinearActuator()
LAW = PID(PLANT, **PID.suited(PLANT))


def loop(controller=None, plant=PLANT):
    return ClosedLoop(plant, controller or Sampled(LAW, 1e-3))


def paths(own):
    known = {leaf.path: leaf for leaf in leaves(own)}
    return list(cause_trials._paths(own, known))


@pytest.mark.parametrize(
    "wrapper, kind, words, numbers, oddness",
    [
        (
            Delayed(Sampled(LAW, 1e-3), 4e-3),
            "delay",
            "delay of 4 ms, 4 samples",
            {"controller.delay": 0.0},
            0.9,
        ),
        (
            Delayed(Sampled(LAW, 1e-3), 20e-3),
            "delay",
            "delay of 20 ms, 20 samples",
            {"controller.delay": 0.0},
            1.2,
        ),
        (
            Sampled(LAW, 3e-3),
            "sample time",
            "sample time of 3 ms",
            {"controller.T_s": 1e-3},
            0.5 + math.log10(3),
        ),
        (
            Sampled(Filtered(LAW, 20.0), 1e-3),
            "filter",
            "filter of 20 Hz on what is measured",
            {"controller.inner.frequency": 300.0},
            0.5 + math.log10(4.5),
        ),
        (
            Sampled(Filtered(LAW, 120.0), 1e-3),
            "filter",
            "filter of 120 Hz on what is measured",
            {"controller.inner.frequency": 1200.0},
            0.0,
        ),
        (
            Sampled(Noisy(LAW, σ=2e-4), 1e-3),
            "noise",
            "noise of 0.0002 on what is measured",
            {"controller.inner.σ": 0.0},
            0.7,
        ),
        (
            Sampled(Noisy(LAW, σ=2e-4, signals=("Y",)), 1e-3),
            "noise",
            "noise of 0.0002 on Y",
            {"controller.inner.σ": 0.0},
            0.7,
        ),
        (
            Sampled(Quantised(LAW, 3e-6), 1e-3),
            "quantisation",
            "quantisation, a resolution of 3e-06, of what is measured",
            {"controller.inner.resolution": 3e-9},
            0.7,
        ),
    ],
)
def test_every_wrapper_between_machine_and_law(wrapper, kind, words, numbers, oddness):
    (found,) = paths(loop(wrapper))
    assert (found.kind, found.words) == (kind, words)
    assert found.numbers == pytest.approx(numbers) and found.oddness == pytest.approx(oddness)
    assert found.scenario == {} and found.law is None


@pytest.mark.parametrize("T_s, tried", [(20e-3, 5e-3), (3e-3, 1e-3)])
def test_a_law_called_from_python_is_not_asked_much_more_often(T_s, tried):
    """A predictive law solves a problem at every sample: at a twentieth of its sample time a run takes twenty times as long."""
    own = ClosedLoop(PLANT, Sampled(Plain(lambda t, y, r: [0.0], ("Y",), ("X",), ()), T_s))
    assert own.hosted
    (found,) = paths(own)
    assert found.kind == "sample time"
    assert found.numbers == pytest.approx({"controller.T_s": tried})
    (law,) = paths(loop(Sampled(LAW, T_s)))
    assert law.numbers == {"controller.T_s": 1e-3}


def test_a_wrapper_that_does_nothing_wrong_is_not_tried():
    assert paths(loop(Delayed(Sampled(LAW, 1e-3), 0.0))) == []
    assert paths(loop(Sampled(Noisy(LAW, σ=0.0), 1e-3))) == []


@pytest.mark.parametrize("share, tried", [(0.5, True), (0.94, True), (0.96, False), (1.0, False)])
def test_limits_below_what_the_machine_takes(share, tried):
    top = PLANT.limits()["X"][1]
    found = paths(loop(Sampled(Saturated(LAW, -share * top, share * top), 1e-3)))
    assert bool(found) is tried
    if tried:
        assert found[0].numbers == {"controller.inner.low": -top, "controller.inner.high": top}
        assert found[0].oddness == pytest.approx(0.5 - math.log10(share))
        assert found[0].kind == "limit" and f"machine takes {top:g}" in found[0].words


def test_where_the_law_stands_behind_its_wrappers():
    assert law_path(LAW) == "controller."
    assert law_path(Sampled(LAW, 1e-3)) == "controller.inner."
    assert law_path(Delayed(Sampled(Noisy(LAW), 1e-3), 1e-3)) == "controller.inner.inner.inner."


def test_numbers_that_differ_alike_are_one_fault():
    """Grouped by the last two names and the ratio; one alone keeps its whole path."""
    differences = {
        "structures.0.revolute.cylinder.valve.frequency": (30.0, 15.0),
        "structures.1.revolute.cylinder.valve.frequency": (20.0, 10.0),
        "structures.2.revolute.cylinder.valve.frequency": (20.0, 5.0),
        "payload.mass": (100.0, 0.0),
        "oil.β": (3.0, 2.0),
    }
    found = cause_trials.grouped(differences)
    assert {name: list(group) for name, group in found.items()} == {
        "*.valve.frequency": [
            "structures.0.revolute.cylinder.valve.frequency",
            "structures.1.revolute.cylinder.valve.frequency",
        ],
        "structures.2.revolute.cylinder.valve.frequency": [
            "structures.2.revolute.cylinder.valve.frequency"
        ],
        "payload.mass": ["payload.mass"],
        "oil.β": ["oil.β"],
    }
    assert found["oil.β"]["oil.β"] == (3.0, 2.0)


def test_what_the_law_believes_put_right_and_made_true():
    """K of the law's model twice the machine's: the belief put to the machine's first, the machine to the belief next."""
    own = loop(Sampled(replace(LAW, model=replace(PLANT, K=2 * PLANT.K)), 1e-3))
    known = {leaf.path: leaf for leaf in leaves(own)}
    belief, machine = cause_trials._models(own, known)
    assert belief.numbers == {"controller.inner.model.K": PLANT.K}
    assert machine.numbers == {"plant.K": 2 * PLANT.K}
    assert belief.oddness == pytest.approx(0.5 + math.log10(2))
    assert machine.oddness == pytest.approx(0.9 * belief.oddness)
    assert belief.words == machine.words
    assert belief.words.startswith("plant.K is 0.5 × what the controller believes, ")
    wild = loop(Sampled(replace(LAW, model=replace(PLANT, K=31 * PLANT.K)), 1e-3))
    assert len(list(cause_trials._models(wild, {x.path: x for x in leaves(wild)}))) == 1
    wilder = loop(Sampled(replace(LAW, model=replace(PLANT, K=PLANT.K / 31)), 1e-3))
    assert len(list(cause_trials._models(wilder, {x.path: x for x in leaves(wilder)}))) == 1
    near = loop(Sampled(replace(LAW, model=replace(PLANT, K=29 * PLANT.K)), 1e-3))
    assert len(list(cause_trials._models(near, {x.path: x for x in leaves(near)}))) == 2
    same = loop()
    assert list(cause_trials._models(same, {x.path: x for x in leaves(same)})) == []


def trial(kind="gain", words="a", oddness=0.5, law=None, **numbers):
    return Trial(kind, words, numbers, {}, oddness, law)


def test_what_is_wrong_of_one_kind_is_also_put_back_together():
    """Numbers of the first win, oddness 0.4 of the largest; alone, or all of one fault, nothing is put together."""
    found = [
        trial("gain", "a", 0.5, K=1.0),
        trial("gain", "b", 1.0, K=2.0, L=3.0),
        trial("machine", "c", 1.0, m=1.0),
        trial("delay", "d", 1.0, τ=1.0),
        trial("delay", "e", 1.0, σ=1.0),
    ]
    (both,) = cause_trials._together(found)
    assert both.numbers == {"K": 1.0, "L": 3.0} and both.kind == "gain"
    assert both.words == "several numbers together: a; b" and both.oddness == pytest.approx(0.4)
    many = [trial("gain", word, 1.0, **{word: 1.0}) for word in "abcde"]
    (all_of_them,) = cause_trials._together(many)
    assert all_of_them.words == "several numbers together: a; b; c; and 2 more"
    assert list(cause_trials._together(found[:1])) == []
    twice = [trial("machine", "c", m=1.0), trial("machine", "c", n=1.0)]
    assert list(cause_trials._together(twice)) == []
    beliefs = [
        Trial("model", "a", {"controller.model.K": 1.0}, {}, 0.5),
        Trial("model", "a", {"plant.K": 1.0}, {}, 0.45),
        Trial("model", "b", {"controller.model.L": 2.0}, {}, 0.7),
        Trial("model", "b", {"plant.L": 2.0}, {}, 0.6),
    ]
    (both,) = cause_trials._together(beliefs)
    assert both.numbers == {"controller.model.K": 1.0, "controller.model.L": 2.0}
    assert both.oddness == pytest.approx(0.28)


def test_slower_references():
    """Four times as slowly: longer legs, a lower frequency; what stands still has no pace."""
    path = Waypoints("output", ((0.0,), (1.0,)), 0.5)
    assert cause_asked.slowed(path).leg == 2.0
    assert cause_asked.slowed(replace(path, leg=(0.5,)), 2.0).leg == (1.0,)
    assert cause_asked.slowed(Sine("output", (0.0,), (1.0,), 8.0)).frequency == 2.0
    assert cause_asked.slowed(Hold("output", (0.0,))) is None and cause_asked.slowed(None) is None


def test_disturbances_are_left_out_and_the_reference_walked_more_slowly():
    sine = Sine("output", "start", (1e-3,), 2.0)
    scenario = SimpleNamespace(disturbances={"F_ext": 3.0, "X": 1.0}, reference=sine)
    time = np.linspace(0, 1, 5)
    run = SimpleNamespace(
        loop=loop(),
        scenario=scenario,
        log=SimpleNamespace(time=time),
        demand=SimpleNamespace(
            live=("Y_d",), at=lambda t: np.zeros((len(t), 1)), wanted=(("Y", 0),), reference=sine
        ),
    )
    push, slower, slowest = cause_asked.scenario_trials(run)
    assert push.kind == "disturbance" and push.words == "disturbance F_ext"
    assert push.scenario == {"disturbances": {"X": 1.0}} and push.oddness == 0.6
    assert push.numbers == slower.numbers == {}
    assert slower.kind == "reference" and slower.scenario["reference"].frequency == 0.5
    assert slower.oddness == pytest.approx(0.2)  # nothing says how fast the machine is
    assert slowest.scenario["reference"].frequency == 0.1
    assert (slower.free, slowest.free) == pytest.approx((math.log10(4), math.log10(20)))
    quiet = SimpleNamespace(disturbances={}, reference=None)
    run.scenario = quiet
    assert list(cause_asked.scenario_trials(run)) == []


@pytest.mark.parametrize("share, said", [(0.6, False), (0.8, True), (1.5, True)])
def test_a_reference_faster_than_the_machine(share, said):
    """Speed asked for over the machine's own; told from seven tenths on."""
    own = loop(Sampled(replace(LAW, feed="none"), 1e-3))
    speed = PLANT.scales()["velocity"].value
    asked = np.array([[0.0, 0.1 * speed], [0.0, -share * speed], [0.0, 0.2 * speed]])
    run = SimpleNamespace(
        loop=own,
        log=SimpleNamespace(time=np.arange(3.0)),
        demand=SimpleNamespace(
            live=("Y_d", "dY_d"), at=lambda t: asked, wanted=(("Y", 0), ("Y", 1))
        ),
    )
    found, words = cause_asked.asked_speed(run)
    assert found == pytest.approx(share)
    assert ("the reference asks for" in words) is said
    assert words.endswith("nothing feeds its velocity forward (controller.feed: none)")
    run.loop = loop(Sampled(replace(LAW, feed="gain"), 1e-3))
    assert "feeds" not in cause_asked.asked_speed(run)[1]


def test_what_belongs_to_the_hydraulics_of_another_build():
    good = ("p_s", "oil.β", "pump.Q", "circuit.P", "payload.mass", "structures.0.cylinder.A_a")
    assert all(map(cause_trials._hydraulic, good))
    assert not any(map(cause_trials._hydraulic, ("bodies.0.m", "structures.1.revolute.l")))


def test_numbers_of_a_machine_put_back_to_those_it_was_shipped_with():
    """With what the law believes, where it believes the same; of another build only the hydraulics."""
    shipped = replace(PLANT, K=2 * PLANT.K)
    plant = replace(PLANT, λ_2=PLANT.λ_2)
    known = {leaf.path: leaf for leaf in leaves(loop())}

    def machine(model):
        own = SimpleNamespace(
            plant=SimpleNamespace(as_shipped=lambda: shipped, machine=plant),
            controller=Sampled(replace(LAW, model=model), 1e-3),
        )
        return list(
            cause_trials._machine(own, known | {x.path: x for x in leaves(loop(own.controller))})
        )

    (same,) = machine(PLANT)
    assert same.numbers == {"plant.K": 2 * PLANT.K, "controller.inner.model.K": 2 * PLANT.K}
    assert same.kind == "machine" and same.oddness == pytest.approx(0.9 * (0.5 + math.log10(2)))
    assert same.words.startswith("plant.K is 0.5 × that of the machine as shipped, ")
    (other,) = machine(replace(PLANT, K=3 * PLANT.K))
    assert other.numbers == {"plant.K": 2 * PLANT.K}
    drawn = SimpleNamespace(as_shipped=lambda: None, machine=plant)
    unknown = SimpleNamespace(plant=drawn, controller=loop().controller)
    assert list(cause_trials._machine(unknown, known)) == []


def test_what_makes_a_machine_of_ones_own_worse_is_put_to_that_of_a_better_one():
    """No shipped machine says what is usual; numbers that are as good as they need be are left alone."""
    cylinder = "plant.actuators.lift.drive.cylinder."
    numbers = {
        f"{cylinder}c_i": 3e-10,
        f"{cylinder}c_e": 0.0,
        f"{cylinder}valve.dead_band": 1.5,
        f"{cylinder}valve.frequency": 2.0,
        f"{cylinder}friction.F_c": 400.0,
        "plant.supply.p_s": 60e5,
        "plant.supply.margin": 1e5,
        "plant.supply.τ": 2.0,
        f"{cylinder}circuit.τ": 2.0,
        f"{cylinder}valve.slew": 20.0,
        "plant.supply.p_r": 90e5,
        "plant.supply.pump.Q": 2e-4,
        "plant.supply.pump.P_M": 40e5,
        "plant.supply.u_b": 0.6,
        "plant.actuators.lift.drive.P_hM": 30e5,
        "plant.actuators.lift.drive.p_P": 45e5,
        "plant.actuators.lift.drive.d_t": 1e-3,
        "plant.actuators.tilt.drive.cylinder.valve.frequency": 45.0,
        "controller.model.supply.p_s": 60e5,
    }
    found = imperfect({path: Leaf(path, value, None) for path, value in numbers.items()})
    better = {path.rpartition(".")[2]: pair for path, pair in found.items()}
    assert better == {
        "c_i": (3e-10, 0.0),
        "dead_band": (1.5, 0.0),
        "frequency": (2.0, 30.0),
        "F_c": (400.0, pytest.approx(40.0)),
        "p_s": (60e5, 120e5),
        "margin": (1e5, 20e5),
        "τ": (2.0, 0.03),
        "slew": (20.0, 500.0),
        "p_r": (90e5, 5e5),
        "Q": (2e-4, pytest.approx(2e-3)),
        "P_M": (40e5, 80e5),
        "u_b": (0.6, 0.0),
        "P_hM": (30e5, 60e5),
        "p_P": (45e5, 90e5),
        "d_t": (1e-3, 5e-3),
    }
    assert all(path.startswith(("actuators.lift.", "supply.")) for path in found)


def test_an_orifice_far_narrower_than_another_of_its_valve_is_put_to_that():
    """A third is what areas of a piston and its rod side may differ by; what is shut for good is no orifice."""
    orifices = {"c_ph": 3e-7, "c_th": 1e-8, "c_pr": 1.1e-7, "c_tr": 0.0}
    numbers = {f"plant.arms.a.section.{n}": v for n, v in orifices.items()}
    numbers |= {"plant.arms.b.section.c_ph": 1e-8, "controller.model.c_th": 1e-9}
    known = {path: Leaf(path, value, None) for path, value in numbers.items()}
    assert uneven(known) == {"arms.a.section.c_th": (1e-8, 3e-7)}


def test_a_larger_valve_has_all_its_orifices_wider():
    """Valve by valve, three and ten times; nothing of the controller's, nothing that is no orifice."""
    valve = "actuators.lift.drive.cylinder.valve."
    numbers = {
        f"plant.{valve}c_p1": 1e-8,
        f"plant.{valve}c_n2": 2e-8,
        f"plant.{valve}u_max": 10.0,
        "plant.actuators.tilt.drive.section.c_ph": 3e-8,
        f"controller.model.{valve}c_p1": 1e-8,
    }
    known = {path: Leaf(path, value, None) for path, value in numbers.items()}
    first, second, *other = wider(known)
    assert first[f"{valve}c_p1"] == pytest.approx((1e-8, 3e-8), rel=1e-12)
    assert second[f"{valve}c_n2"] == pytest.approx((2e-8, 2e-7), rel=1e-12)
    assert list(first) == list(second) == [f"{valve}c_p1", f"{valve}c_n2"]
    assert [list(each) for each in other] == [["actuators.tilt.drive.section.c_ph"]] * 2


@pytest.mark.parametrize("share, oddness", [(0.6, 0.2), (0.75, 0.8)])
def test_a_reference_that_the_machine_could_follow_is_hardly_odd(share, oddness, monkeypatch):
    """Walked more slowly any loop follows better: that alone speaks for no cause."""
    monkeypatch.setattr(cause_asked, "asked_speed", lambda run: (share, "fast"))
    scenario = SimpleNamespace(disturbances={}, reference=Sine("output", "start", (1e-3,), 2.0))
    slower, *_ = cause_asked.scenario_trials(SimpleNamespace(loop=loop(), scenario=scenario))
    assert slower.oddness == pytest.approx(oddness)
    assert slower.free == pytest.approx(0.0 if share > 0.7 else math.log10(4))


# ---- gains ----------------------------------------------------------------------------------------------------------------
def gains(own):
    return list(gain_trials(own, {leaf.path: leaf for leaf in leaves(own)}))


def test_a_gain_that_is_not_the_default_is_put_to_it():
    law = replace(LAW, K_p=(4 * LAW.K_p[0],))
    (found,) = (t for t in gains(loop(Sampled(law, 1e-3))) if "K_p" in t.words)
    assert list(found.numbers.values()) == [LAW.K_p[0]]
    assert found.oddness == pytest.approx(0.85 * (0.5 + math.log10(4)))
    assert found.words.startswith("gain controller.K_p is 4 × the default, ")
    assert [t for t in gains(loop()) if t.kind == "gain"] == []


def test_a_gain_that_is_many_decades_off_is_put_halfway_too():
    """The default alone may follow worse than what is wrong; the words are of the gain as it is."""
    law = replace(LAW, K_p=(1e4 * LAW.K_p[0],))
    to, halfway = (t for t in gains(loop(Sampled(law, 1e-3))) if t.kind == "gain")
    assert halfway.words == to.words and halfway.oddness == 0.5
    assert list(halfway.numbers.values()) == pytest.approx([100 * LAW.K_p[0]])


@pytest.mark.parametrize(
    "given, count, each",
    [
        (3.0, 1, [3.0]),
        ((3.0,), 2, [3.0, 3.0]),
        ((1.0, 2.0, 9.0), 1, [2.0]),
        ((1.0, 2.0), 2, [1.0, 2.0]),
        ((1.0, 2.0), 3, [1.0, 2.0]),
    ],
)
def test_defaults_beside_one_number_for_all_or_one_for_each(given, count, each):
    """One number for all actuators is held against the middle of what each would have."""
    assert _one_each(given, count) == each


@pytest.mark.parametrize("share, tried", [(0.3, True), (0.94, True), (0.96, False)])
def test_a_law_that_limits_itself(share, tried):
    top = PLANT.limits()["X"][1]
    law = replace(LAW, u_max=share * top)
    found = [t for t in gains(loop(Sampled(law, 1e-3))) if t.kind == "limit"]
    assert bool(found) is tried
    if tried:
        assert (
            list(found[0].numbers.values()) == [top] and "u_max limits commands" in found[0].words
        )
        assert found[0].oddness == pytest.approx(0.5 - math.log10(share))


def test_the_velocity_fed_forward_where_nothing_does():
    law = replace(LAW, feed="none", K_i=(2 * LAW.K_i[0],))
    alone, whole = (t for t in gains(loop(Sampled(law, 1e-3))) if t.kind == "feed")
    assert alone.law.feed == "gain" and alone.law.K_v == LAW.K_v and alone.law.K_i == law.K_i
    assert whole.law.feed == "gain" and whole.law.K_i == LAW.K_i
    assert (alone.oddness, whole.oddness) == (0.6, 0.5) and alone.numbers == whole.numbers == {}
    assert "gain controller.K_i is 2 × the default" in whole.words
    assert [t for t in gains(loop()) if t.kind == "feed"] == []


def test_a_users_function_with_a_tenth_of_its_gains():
    def law(t, y, r):
        return [3.0 * y[0], -2.0]

    own = SimpleNamespace(controller=Plain(law, ("Y",), ("X",), ()), plant=PLANT, period=1e-3)
    (found,) = _weaker(own)
    assert found.law.law(0.0, [5.0], []) == pytest.approx([1.5, -0.2])
    assert (found.kind, found.oddness) == ("gain", 0.6) and "a tenth" in found.told(True)

    class Remembers:
        def step(self, *_):
            return []

    own.controller = Plain(Remembers(), ("Y",), ("X",), ())
    assert list(_weaker(own)) == []


@pytest.mark.parametrize(
    "kind, in_turn",
    [("machine 0.1", True), ("gain 10", True), ("sample time", False), ("gain", False)],
)
def test_kinds_of_numbers_tried_in_turn(kind, in_turn):
    assert Cause(kind, "w").in_turn is in_turn


def test_numbers_tried_in_turn():
    tenth, tenfold = _scaled([SimpleNamespace(path="plant.m", value=4.0)], "machine", 0.2)
    assert tenth.numbers == {"plant.m": pytest.approx(0.4)} and tenth.kind == "machine 0.1"
    assert tenfold.numbers == {"plant.m": 40.0} and tenfold.kind == "machine 10"
    assert tenth.oddness == tenfold.oddness == 0.2
    assert "plant.m (4): it goes well with a tenth of it" == tenth.told(True)
    assert "plant.m (4): it goes better with a tenth of it" == tenth.told(False)
    assert tenth.told(True, well=False) == tenth.told(False)
    (inner, _) = _scaled([SimpleNamespace(path="controller.inner.law.S.0", value=4.0)], "weight", 0)
    assert inner.words == "controller.S.0 (4)"


# ---- what is weighed ------------------------------------------------------------------------------------------------------
def weighed(monkeypatch, tried, after, before=2.0, hosted=False, **given):
    """The removal named, where the run's badness is `before` and that of each trial `after`."""
    monkeypatch.setattr(cause_removal, "trials", lambda run: tried)
    monkeypatch.setattr(cause_removal, "_ranked", lambda run, tried: tried)
    monkeypatch.setattr(cause_removal, "shown", lambda run, hosted: (before, Shown()))
    monkeypatch.setattr(cause_removal, "large_error", lambda run, scenario: 0.0)
    monkeypatch.setattr(cause_removal, "_judged", lambda jobs, judge: after[: len(jobs)])
    return cause_removal.removal(SimpleNamespace(loop=SimpleNamespace(hosted=hosted)), **given)


@dataclass(frozen=True)
class Shown:
    """A scenario."""

    reference: object = None


def test_the_removal_that_helps_most_weighed_with_how_odd_the_number_was(monkeypatch):
    """Weights are share · (0.2 + oddness): 0.5 · 1.2 beats 0.75 · 0.7; the share is told as it is."""
    tried = [trial("a", "first", 0.5), trial("b", "second", 1.0), trial("c", "third", 0.0)]
    found = weighed(monkeypatch, tried, [0.5, 1.0, 0.0])
    assert found == Cause("b", "second", 0.5)
    assert weighed(monkeypatch, tried, [0.2, 1.0, 0.0]) == Cause("a", "first", 0.9)


def test_what_goes_away_in_any_loop_speaks_for_nothing(monkeypatch):
    """A path walked more slowly takes 0.6 of the error away by itself: 0.5 is left of 1.1."""
    slower = replace(trial("reference", "slower"), free=0.6)
    assert weighed(monkeypatch, [slower], [0.9]).share == pytest.approx(0.25)
    assert weighed(monkeypatch, [slower], [1.0]) is None
    other = trial("a", "first")
    assert weighed(monkeypatch, [slower, other], [0.5, 0.6]).words == "first"


def test_a_slower_path_is_told_with_the_stronger_machine_that_would_do_as_well(monkeypatch):
    slower = replace(trial("reference", "slower", 0.2), free=0.6)
    valve = trial("machine", "valve", 0.0)
    found = weighed(monkeypatch, [slower, valve], [0.2, 0.8])
    assert found.kind == "reference" and found.words == "slower; or valve"
    assert weighed(monkeypatch, [slower, valve], [0.2, 1.0]).words == "slower"


@pytest.mark.parametrize("why", [IndexError, KeyError, ZeroDivisionError])
def test_a_trial_that_cannot_be_run_leaves_the_others(monkeypatch, why):
    """A sample time with other memory, an odd number in a user's own code: whatever it raises."""

    def judged(jobs, look):
        if "bad" in jobs:
            raise why
        return [1.0 for _ in jobs]

    monkeypatch.setattr(cause_removal, "run_many", judged)
    assert cause_removal._judged(["good", "bad"]) == [1.0, math.inf]


@pytest.mark.parametrize("delay, shortest", [(0.003, 1e-3), (0.036, 4e-3), (0.2, None)])
def test_a_sample_time_is_put_no_lower_than_the_delay_can_be_held(delay, shortest):
    """20 ms a sample; a delay holds so many commands as it was built for."""
    around = Delayed(Sampled(LAW, 20e-3), delay, capacity=9)
    found = [t for t in paths(loop(around)) if t.kind == "sample time"]
    if shortest is None:
        shortest = delay / around.capacity
    assert list(found[0].numbers.values()) == pytest.approx([shortest])


def test_a_removal_must_take_a_quarter_away(monkeypatch):
    assert weighed(monkeypatch, [trial()], [1.5]).share == 0.25
    assert weighed(monkeypatch, [trial()], [3.0]) is None
    assert weighed(monkeypatch, [trial()], [0.1], before=0.34) is None


def test_where_little_is_seen_a_removal_must_take_nearly_all_of_it_away(monkeypatch):
    """A claim of a millimetre is violated by what is small for the machine: 0.3 of what counts as bad."""
    half, whole, slower = trial("a", "half", 1.2), trial("b", "whole", 0.3), trial("reference", "s")
    faint = partial(weighed, monkeypatch, before=0.3)
    found = faint([half, whole, slower], [0.1, 0.02, 0.0])
    assert found.words == "whole" and found.share == pytest.approx(0.28 / 0.3)
    assert faint([half, slower], [0.1, 0.0]) is None
    assert weighed(monkeypatch, [whole], [0.0], before=0.019) is None


def test_what_a_run_hardly_shows_is_no_cause_of_what_no_run_violates(monkeypatch):
    """Undecided for a start that is far away: the run on its path is sound, and ten times the gain would not change that."""
    whole = trial("b", "whole", 0.3)
    assert weighed(monkeypatch, [whole], [0.0], before=0.34, faint=True).words == "whole"
    assert weighed(monkeypatch, [whole], [0.0], before=0.34, faint=False) is None
    assert weighed(monkeypatch, [whole], [0.0], before=0.35, faint=False).words == "whole"


@pytest.mark.parametrize("left, how", [(0.34, "well"), (0.35, "better"), (1.4, "better")])
def test_a_run_that_still_shows_the_fault_goes_better_and_not_well(monkeypatch, left, how):
    tenfold = replace(trial("gain 10", "gain", 0.3), better="ten times that")
    assert (
        weighed(monkeypatch, [tenfold], [left]).words == f"gain: it goes {how} with ten times that"
    )
    barely = weighed(monkeypatch, [tenfold], [0.4], before=4.0)
    assert barely.words == "gain: it goes well with ten times that"


def test_a_run_that_shows_little_is_taken_where_it_shows_most(monkeypatch):
    """None of the starts is bad enough by itself; what is no number is."""
    monkeypatch.setattr(cause_removal, "kicked", lambda run, brief: ["left", "right"])
    run = SimpleNamespace(loop=None, scenario=Scenario(3.0, Hold("output", (0.0,))))
    for bad, found in (((0.1, 0.3, 0.2), (0.3, "left")), ((0.1, math.inf, 9.0), (10.0, "left"))):
        seen = iter(bad)
        monkeypatch.setattr(cause_removal, "_alone", lambda job, judge, seen=seen: next(seen))
        assert cause_removal.shown(run, False) == found

    assert weighed(monkeypatch, [trial()], [0.0], before=0.35).share == 1.0
    assert weighed(monkeypatch, [], []) is None


def test_what_takes_less_than_a_quarter_away_is_told_as_a_part(monkeypatch):
    found = weighed(monkeypatch, [trial()], [1.51])
    assert found.share == pytest.approx(0.245) and found.words.startswith("in part, ")
    assert weighed(monkeypatch, [trial()], [1.71]) is None


def test_numbers_tried_in_turn_are_told_with_their_like(monkeypatch):
    """A twentieth less than the best counts as alike; three at most, the weightiest first."""
    kinds = [trial(f"gain {k}", f"w{k}", o) for k, o in enumerate((0.4, 0.4, 0.4, 0.5, 0.3))]
    found = weighed(monkeypatch, kinds, [0.0, 0.1, 0.2, 0.5, 0.04])
    assert found.words == "w0; or w1; or w4" and found.kind == "gain 0" and found.share == 1.0
    single = weighed(monkeypatch, [replace(t, kind="gain") for t in kinds], [0.0, 0.0, 0.2, 1.0, 1])
    assert single.words == "w0"


def test_how_many_are_tried(monkeypatch):
    """Forty; six of a law that is called from Python."""
    many = [trial("a", f"w{k}", 0.5) for k in range(50)]
    after = [2.0] * 50
    for hosted, most in ((False, 40), (True, 6)):
        good = list(after)
        good[most - 1] = 0.0
        assert weighed(monkeypatch, many, good, hosted=hosted).words == f"w{most - 1}"
        late = list(after)
        late[most] = 0.0
        assert weighed(monkeypatch, many, late, hosted=hosted) is None


def saying(said, run):
    """A search that says this of any run."""
    return said


def likely(monkeypatch, **found):
    """The cause found where each of the searches says this."""
    searches = "another_clock rewired lets_go out_of_reach removal feedback hardly_decays"
    for name in (*searches.split(), "altered", "largest_term", "jumping", "at_limits", "unfilled"):
        monkeypatch.setattr(causes, name, partial(saying, found.get(name)))
    monkeypatch.setattr(causes, "has_ledger", lambda loop: found.get("ledger", False))
    return causes.likely_cause(SimpleNamespace(loop=None))


HEALS, HALF = Cause("gain", "heals", 0.8), Cause("gain", "half", 0.79)
SLOWER = Cause("reference", "slower", 0.9)


@pytest.mark.parametrize(
    "found, cause",
    [
        ({"rewired": "w", "lets_go": ("e", 0.0)}, Cause("wiring", "w")),
        ({"lets_go": ("e", causes.WITHIN), "out_of_reach": "m"}, Cause("edge", "e")),
        ({"lets_go": ("e", causes.WITHIN * 1.01), "out_of_reach": "m"}, Cause("mode", "m")),
        ({"lets_go": ("", 0.0), "out_of_reach": "m"}, Cause("mode", "m")),
        ({"removal": HEALS, "feedback": "t"}, HEALS),
        ({"removal": HALF, "feedback": "t"}, Cause("wiring", "t")),
        ({"removal": HALF, "feedback": "t", "ledger": True}, HALF),
        ({"removal": HALF}, HALF),
        ({"removal": Cause("x", "no share"), "feedback": "t"}, Cause("x", "no share")),
        ({"feedback": "t"}, Cause("wiring", "t")),
        ({"removal": HEALS, "lets_go": ("e", 99.0)}, Cause("edge", "e")),
        ({"removal": HEALS, "hardly_decays": "s"}, HEALS),
        ({"removal": SLOWER, "hardly_decays": "s"}, Cause("mode", "s")),
        ({"removal": SLOWER}, SLOWER),
        ({"removal": SLOWER, "altered": "a", "hardly_decays": "s"}, Cause("mode", "s")),
        ({"removal": SLOWER, "altered": "a"}, Cause("wiring", "a")),
        ({"altered": "a", "largest_term": 1}, Cause("wiring", "a")),
        ({"removal": HEALS, "altered": "a"}, HEALS),
        ({"removal": Cause("gain 10", "in turn", 0.9), "altered": "a"}, Cause("wiring", "a")),
        ({"removal": Cause("gain 10", "in turn", 0.9)}, Cause("gain 10", "in turn", 0.9)),
        ({"hardly_decays": "s"}, Cause("mode", "s")),
        ({"largest_term": 1, "jumping": 2, "at_limits": 3}, 2),
        ({"largest_term": 1, "jumping": 2, "unfilled": 4}, 2),
        ({"largest_term": 1, "unfilled": 4, "at_limits": 3}, 4),
        ({"removal": Cause("better", "a machine", 0.9), "unfilled": 4}, 4),
        (
            {"removal": Cause("machine", "a fault", 0.9), "unfilled": 4},
            Cause("machine", "a fault", 0.9),
        ),
        ({"largest_term": 1, "at_limits": 3}, 1),
        ({"at_limits": 3}, 3),
        ({"removal": Cause("gain", "in part", 0.2), "at_limits": 3}, 3),
        ({"removal": Cause("gain", "in part", 0.2)}, Cause("gain", "in part", 0.2)),
        ({"another_clock": "2 ms", "rewired": "w", "removal": HEALS}, Cause("sample time", "2 ms")),
        ({}, None),
    ],
)
def test_the_order_in_which_causes_are_asked(monkeypatch, found, cause):
    assert likely(monkeypatch, **found) == cause


def verdict(key, holds, counted=True, worst=""):
    strength = None if holds is None else "sampled"
    return Verdict(key, "text", holds, strength, worst=worst, counted=counted, data={"n": 1})


def test_a_pump_that_is_too_small_is_the_cause_of_its_own_limit(monkeypatch):
    monkeypatch.setattr(causes, "likely_cause", lambda run, **_: Cause("gain", "too much", 0.7))
    run = SimpleNamespace(loop=SimpleNamespace(controller=1))

    def limits(kind, broken=True):
        row = {"name": "pump", "kind": kind, "broken": broken, "reached": 1.7}
        one = verdict("machine-limits", False)
        return replace(one, data={"limits": [row | {"limit": 1e-3, "unit": "m^3/s"}]})

    told = causes.with_cause(run, [limits("flow"), limits("stroke"), limits("flow", False)])
    assert "the pump is too small" in told[0].worst and "1.7 times" in told[0].worst
    assert [v.data["cause"]["words"] for v in told[1:]] == ["too much", "too much"]
    told = causes.with_cause(run, [limits("flow"), verdict("settled", False)])
    assert [v.data["cause"]["words"] for v in told] == ["too much", "too much"]
    monkeypatch.setattr(causes, "likely_cause", lambda run, **_: Cause("machine", "rubs", 0.7))
    told = causes.with_cause(run, [limits("flow"), verdict("settled", False)])
    assert "the pump is too small" in told[0].worst and told[1].data["cause"]["words"] == "rubs"


def test_which_verdicts_are_told_the_cause(monkeypatch):
    """Counted, violated, not one that says its own; practical stability also where it is undecided."""
    monkeypatch.setattr(causes, "likely_cause", lambda run, **_: Cause("gain", "too much", 0.7))
    run = SimpleNamespace(loop=SimpleNamespace(controller=1))
    given = [
        verdict("tracking", False, worst="2 mm"),
        verdict("tracking", None),
        verdict("tracking", True),
        verdict("settled", False, counted=False),
        verdict("identity", False),
        verdict("practical-stability", None),
        verdict("practical-stability", True),
    ]
    found = causes.with_cause(run, given)
    assert [a is not b for a, b in zip(found, given)] == [
        True,
        False,
        False,
        False,
        False,
        True,
        False,
    ]
    assert found[0].worst == "most likely cause: too much; 2 mm"
    assert found[5].worst == "most likely cause: too much"
    assert found[0].data == {"n": 1, "cause": {"kind": "gain", "words": "too much", "share": 0.7}}
    assert causes.with_cause(SimpleNamespace(loop=SimpleNamespace(controller=None)), given) == given
    assert causes.with_cause(run, given[1:5]) == given[1:5]

    def fails(run, **_):
        raise ZeroDivisionError

    monkeypatch.setattr(causes, "likely_cause", fails)
    assert causes.with_cause(run, given) == given


def test_what_lies_beyond_all_that_was_run_says_itself_why_it_is_undecided(monkeypatch):
    monkeypatch.setattr(causes, "likely_cause", lambda run, **_: Cause("gain", "too much", 0.7))
    run = SimpleNamespace(loop=SimpleNamespace(controller=1))
    near = verdict("practical-stability", None)
    far = replace(near, data={"beyond": "x does not come back, from a start further off"})
    found = causes.with_cause(run, [near, far])
    assert "too much" in found[0].worst and found[1] is far


@pytest.mark.parametrize("balance, violated", [(False, True), (True, False)])
def test_a_run_whose_energy_balance_fails_went_wrong(monkeypatch, balance, violated):
    """It went so far that nothing else decides; only where all that counts is undecided a gain far off is no cause."""
    asked = lambda run, violated, on_path: Cause("gain", f"violated: {violated}")
    monkeypatch.setattr(causes, "likely_cause", asked)
    run = SimpleNamespace(loop=SimpleNamespace(controller=1))
    given = [verdict("practical-stability", None), verdict("energy-balance", balance)]
    stability, energy = causes.with_cause(run, given)
    assert stability.worst == f"most likely cause: violated: {violated}" and energy is given[1]


@pytest.mark.parametrize(
    "wrong, on_path",
    [
        (("practical-stability", False), False),
        (("practical-stability", None), False),
        (("tracking", False), True),
        (("linear-stability", False), True),
    ],
)
def test_where_only_other_starts_went_wrong_the_run_on_its_path_is_no_evidence(
    monkeypatch, wrong, on_path
):
    asked = lambda run, violated, on_path: Cause("gain", f"on its path: {on_path}")
    monkeypatch.setattr(causes, "likely_cause", asked)
    run = SimpleNamespace(loop=SimpleNamespace(controller=1))
    given = [verdict(*wrong), verdict("settled", False, counted=False), verdict("saturation", None)]
    first, *others = causes.with_cause(run, given)
    assert first.worst == f"most likely cause: on its path: {on_path}" and others == given[1:]


def test_what_a_run_hardly_shows_is_looked_into_where_the_run_itself_went_wrong(monkeypatch):
    likely(monkeypatch)
    monkeypatch.setattr(causes, "removal", lambda run, faint=True: Cause("gain", f"faint: {faint}"))
    run = SimpleNamespace(loop=None)
    assert causes.likely_cause(run).words == "faint: True"
    assert causes.likely_cause(run, on_path=False).words == "faint: False"


def test_a_reference_that_jumps_while_the_loop_runs():
    def asked(*times):
        steps = Steps("output", (0.0, *times), tuple(float(k) for k in range(len(times) + 1)))
        demand, scenario = SimpleNamespace(reference=steps), SimpleNamespace(length=lambda: 3.0)
        return causes.jumping(SimpleNamespace(demand=demand, scenario=scenario))

    assert "jumps at t = 1 s, 2.5 s, which" in asked(1.0, 2.5, 3.0).words
    assert asked(0.5, 1.0, 2.0, 2.5).words.count(" s,") == 3 and asked(3.0) is None
    assert asked(1.0).kind == "reference"
    still = SimpleNamespace(demand=SimpleNamespace(reference=Hold("output", (0.0,))))
    assert causes.jumping(still) is None


# ---- what a run's badness is made of ----------------------------------------------------------------------------------------
def logged(completed=True, t_end=4.0, limits=None, pressures=(), units=None, error=None, **columns):
    time = np.linspace(0.0, 4.0, len(next(iter(columns.values()))))
    signals = tuple(Signal(name, (units or {}).get(name, "V")) for name in columns)
    status = Status(completed, "ended", t_end)
    log = Log(time, np.column_stack(list(columns.values())), signals, {}, status)
    scale = LinearActuator().scales()["velocity"]
    own = {"pressure": replace(scale, value=2e7), "length": replace(scale, value=0.5)}
    plant = SimpleNamespace(
        limits=lambda: limits or {},
        pressure_names=pressures,
        scales=lambda: own,
        inputs=(*signals, Signal("other"), Signal("absent")),
        states=(),
    )
    return SimpleNamespace(
        log=log,
        loop=SimpleNamespace(plant=plant),
        scenario=SimpleNamespace(length=lambda: 4.0),
        left=(math.inf, ""),
        tool_error=error,
        error_unit="m",
    )


RANGE = {"u": (-10.0, 10.0)}


@pytest.mark.parametrize(
    "u, at, rough",
    [
        ([0.0] * 8, 0.0, 0.0),
        ([0, 0, 0, 0, 10, 10, -10, 0], 0.75 / 0.02, None),
        ([10, 10, 10, 10, 0, 0, 0, 0], 0.0, 0.0),  # the first half does not count
        ([0, 0, 0, 0, 1, -1, 1, -1], 0.0, 4.0 / 20 / 0.02),
        ([0, 0, 0, 0, 9.99999, 0, 0, 0], 0.25 / 0.02, None),
        ([0, 0, 0, 0, 9.9999, 0, 0, 0], 0.0, None),
    ],
)
def test_commands_at_their_ends_and_rough_ones(u, at, rough):
    """Share of time within a millionth of an end over 2 %; rms of second differences over 2 % of the range."""
    run = logged(limits={**RANGE, "other": (0.0, 1.0)}, u=np.array(u, float))
    found = badness.parts(run)
    assert len(found) == 3 and found[2] == 0.0
    assert found[0] == pytest.approx(at)
    if rough is not None:
        assert found[1] == pytest.approx(rough)


@pytest.mark.parametrize(
    "p, beyond", [(1e7, 0.0), (2.5e7, 0.0), (2.7e7, 0.1), (-1e6, 0.05), (0.0, 0.0)]
)
def test_pressures_beyond_the_supplys(p, beyond):
    """Above 1.25 times the supply's, or below zero, as a share of it over 2 %."""
    values = np.array([9e9, 0, 0, 0, 1e6, p, 1e6, 1e6])
    (found,) = badness.parts(logged(pressures=("p", "absent"), p=values))
    assert found == pytest.approx(beyond / 0.02, abs=1e-9)


def test_an_error_counts_from_a_thousandth_of_the_stroke():
    e = np.array([9.0, 9, 9, 9, 1e-3, 2e-3, np.nan, 1e-3])
    found = badness.parts(logged(error=e, p=np.zeros(8)))
    assert found == pytest.approx([2e-3 / (1e-3 * 0.5), 0.0])
    run = logged(error=np.array([4.0, 1.0, 2.0, 3.0]), p=np.zeros(4))
    run.error_unit = "1"  # no scale: its own largest, or what is said to be large
    assert badness.parts(run)[0] == pytest.approx(3.0 / (1e-3 * 4.0))
    assert badness.parts(run, 20.0)[0] == pytest.approx(3.0 / (1e-3 * 20.0))
    assert badness.parts(logged(error=np.zeros(2), p=np.zeros(2))) == [0.0]
    assert badness.parts(logged(error=np.array([0, 0, np.inf, 1.0]), p=np.zeros(4)))[0] == 1e6


def test_badness_of_a_run(monkeypatch):
    """One for every decade, 5 at most; 8 down to 5 for a run that ended, the later the better."""
    run = logged(u=np.zeros(8))
    for found, bad in (([], 0.0), ([9.0, 99.0], 3.0), ([9e9], 5.0), ([0.0], 0.0)):
        monkeypatch.setattr(badness, "parts", lambda run, large, found=found: found)
        assert badness.badness(run) == pytest.approx(bad)
    for t_end, bad in ((0.0, 8.0), (2.0, 6.5), (4.0, 5.0), (9.0, 5.0), (-1.0, 8.0)):
        assert badness.badness(logged(False, t_end, u=np.zeros(8))) == pytest.approx(bad)
    run.left = (1.0, "piston 1")
    assert badness.badness(run) == pytest.approx(7.25)


@pytest.mark.parametrize("share, told", [(0.29, None), (0.3, "30 %"), (0.6, "60 %")])
def test_commands_at_their_limits_for_most_of_the_run(share, told):
    u, w = np.zeros(100), np.zeros(100)
    u[: round(100 * share)] = -10.0
    w[:20] = 5.0
    run = logged(limits={**RANGE, "w": (-5.0, 5.0), "absent": (0.0, 1.0)}, u=u, w=w)
    found = causes.at_limits(run)
    assert (found is None) is (told is None)
    if told:
        assert (
            found.kind == "limit"
            and found.words.startswith("u is at its limit")
            and told in found.words
        )
    assert causes.at_limits(logged(u=u)) is None


# ---- what the ledger says --------------------------------------------------------------------------------------------------
class Books:
    """A balance of two instants."""

    def __init__(self, t=(0.0, 1.0), **terms):
        self.t = np.array(t)
        self.perturbations = {
            ("s", "c", name): np.array(values, float) for name, values in terms.items()
        }

    def finite(self):
        return self

    def part(self, rows):
        return self


def test_what_model_and_parameters_cost_along_a_run():
    """The sum of the sizes of their terms, at two hundred instants from the first to the last."""
    asked = []

    def ledger(loop, t, x, w):
        asked.append(t)
        return Books(
            model=[1.0, -2.0], parameters=[0.5, 0.0], friction=[-4.0, 0.0], hold=[9.0, 9.0]
        )

    for n, rows in ((1000, 200), (7, 7)):
        t = np.arange(float(n))
        run = SimpleNamespace(instants=(t, np.zeros((n, 2)), np.zeros((n, 1))), ledger=ledger)
        assert cause_removal.mismatch(run, None) == pytest.approx(7.5)
        assert len(asked[-1]) == rows and asked[-1][0] == 0 and asked[-1][-1] == n - 1


def test_beliefs_are_ranked_by_what_their_correction_takes_away(monkeypatch):
    monkeypatch.setattr(cause_removal, "has_ledger", lambda loop: True)
    monkeypatch.setattr(cause_removal, "believed", lambda loop: ("c.model.", 1))
    monkeypatch.setattr(cause_removal, "bind", lambda loop, numbers: next(iter(numbers)))
    monkeypatch.setattr(
        cause_removal,
        "mismatch",
        lambda run, loop: {"c.model.a": 4.0, "c.model.b": 1.0}.get(loop, 5.0),
    )
    belief = [Trial("model", name, {f"c.model.{name}": 1.0}, {}, 0.5) for name in "ab"]
    made = Trial("model", "b", {"plant.b": 1.0}, {}, 0.4)
    gain, odder = trial("gain", "g", 0.9), trial("delay", "d", 1.0)
    tried = [gain, belief[0], made, belief[1], odder]
    run = SimpleNamespace(loop="own")
    assert [t.words for t in cause_removal._ranked(run, tried)] == ["b", "b", "a", "d", "g"]
    assert cause_removal._ranked(run, tried)[0] is belief[1]
    assert cause_removal._ranked(run, tried[:3]) == tried[:3]  # one belief alone is not ranked
    monkeypatch.setattr(cause_removal, "has_ledger", lambda loop: False)
    assert cause_removal._ranked(run, tried) == tried
    monkeypatch.setattr(cause_removal, "has_ledger", lambda loop: True)
    monkeypatch.setattr(cause_removal, "believed", lambda loop: ("c.model.", None))
    assert cause_removal._ranked(run, tried) == tried


def test_the_term_that_brings_most_of_what_v_lives_on(monkeypatch):
    """Only what it brings counts: 3 of 4 J, however much the other takes at other times."""
    monkeypatch.setattr(causes, "has_ledger", lambda loop: True)
    monkeypatch.setattr(causes, "readable", lambda b: slice(None))
    monkeypatch.setattr(causes, "outside", lambda b: b.perturbations)

    def told(b, n=2):
        return causes.largest_term(
            SimpleNamespace(loop=None, balance=b, log=SimpleNamespace(time=np.zeros(n)))
        )

    found = told(Books(hold=[3.0, -1.0], friction=[-50.0, 1.0]))
    assert found == Cause("term", "the hold term of c (s) brings 75 % of what v lives on")
    assert told(Books(hold=[-3.0, 0.0])) is None and told(Books((), hold=[])) is None
    assert told(Books(hold=[3.0, -1.0]), n=1) is None
    monkeypatch.setattr(causes, "has_ledger", lambda loop: False)
    assert told(Books(hold=[3.0, -1.0])) is None


def test_a_path_is_too_fast_where_the_pump_alone_is_asked_too_much():
    flow = {"broken": True, "kind": "flow", "margin": -0.5, "limit": 2.0}
    kept = {"broken": False, "kind": "stroke", "margin": 0.1, "limit": 1.0}

    def told(*rows, key="machine-limits"):
        return causes.too_fast([Verdict(key, "", False, "sampled", data={"limits": rows})])

    assert "with legs 1.25 times as long" in told(flow, kept).words
    assert told(kept) is None and told(flow, {**kept, "broken": True}) is None
    assert told(flow, key="tracking") is None


# ---- wires ----------------------------------------------------------------------------------------------------------------
def test_edits_of_wires():
    """A sign, an exchange, a wire on another: each on its own wires alone."""
    assert cause_edits.crossed(0, 2)([1, 2, 3]) == [3, 2, 1]
    assert cause_edits.scaled([1], -1.0)([1, 2, 3]) == [1, -2, 3]
    assert cause_edits.repeated(0, 2)([1, 2, 3]) == [1, 2, 1]
    units = ["m", "m", "Pa", "m", "m"]
    law = SimpleNamespace(
        commands=(Signal("u"), Signal("w")),
        measured=tuple(Signal(f"y{k}", unit) for k, unit in enumerate(units)),
    )
    found = {e.words: e for e in cause_edits.edits(law)}
    y, u = [1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 20.0]
    assert found["sign of the command w"].commanded(u) == [10, -20]
    assert found["sign of all commands"].commanded(u) == [-10, -20]
    assert found["commands u and w swapped"].commanded(u) == [20, 10]
    assert found["w gets the command u"].commanded(u) == [10, 10]
    assert found["u gets the command w"].commanded(u) == [20, 20]
    assert found["sign of the measurement y2"].measured(y) == [1, 2, -3, 4, 5]
    assert found["measurements y0 and y3 swapped"].measured(y) == [4, 2, 3, 1, 5]
    assert "measurements y0 and y2 swapped" not in found
    group = found["unit of the measurement y0, y1, y3 …: times 1000 (a thousand)"]
    assert group.measured(y) == [1e3, 2e3, 3, 4e3, 5e3]
    one = found["unit of the measurement y2: times 1e-05 (bar for Pa)"]
    assert one.measured(y)[2] == pytest.approx(3e-5) and one.measured(y)[:2] == [1, 2]
    all_commands = found["unit of the commands: times 0.01745 (rad for degrees)"]
    assert all_commands.commanded(u) == pytest.approx([10 * math.pi / 180, 20 * math.pi / 180])
    assert all_commands.measured(y) == y and group.commanded(u) == u
    swaps = 1 + 10 - 4  # of commands, and of five measurements those of one unit
    assert sum("swapped" in words for words in found) == swaps
    assert sum("sign" in words for words in found) == 2 + 1 + 5
    assert sum("thousandth" in words for words in found) == 1 + 4 + 1 + 1


def test_the_number_that_explains_most():
    law = SimpleNamespace(
        commands=(Signal("u"),), measured=(Signal("a", "m"), Signal("b", "m"), Signal("c", "Pa"))
    )

    def off(edit):
        a, b, c = edit.measured([1.0, 1.0, 1.0])
        (u,) = edit.commanded([1.0])
        return abs(a - 1) + abs(b - 0.0413) + abs(c - 1) + abs(u - 1)

    found = cause_fitted.fitted(law, off)
    assert found.words == "the measurement b times 0.0413"
    assert found.measured([1.0, 1.0, 1.0]) == pytest.approx([1.0, 0.0413, 1.0], rel=1e-5)
    both = cause_fitted.fitted(
        law, lambda e: sum(abs(v - w) for v, w in zip(e.measured([1, 1, 1]), (1.1, 1.1, 1)))
    )
    assert both.words == "the measurements a, b times 1.1"
    command = cause_fitted.fitted(law, lambda e: abs(e.commanded([1.0])[0] + 0 - 7.3))
    assert command.words == "the command u times 7.3" and command.measured([1, 2, 3]) == [1, 2, 3]


# ---- a loop near rest ------------------------------------------------------------------------------------------------------
def test_growth_of_a_loop_near_rest():
    """ẋ = a x + b u, u = −k x grows at a − b k; sampled every T: z = e^{aT} − k b (e^{aT} − 1)/a, growth ln|z|/T."""
    a, b, k, T = -2.0, 3.0, 5.0, 0.01
    none = np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0))
    one = lambda v: np.array([[v]])
    flowing = Around(one(a), one(b), one(1.0), LinearLaw(*none, one(-k), 0.0, 0.0))
    assert flowing.growth() == pytest.approx(a - b * k)
    held = Around(one(a), one(b), one(1.0), LinearLaw(*none, one(-k), T, 0.0))
    z = math.exp(a * T) - k * b * (math.exp(a * T) - 1) / a
    assert held.growth() == pytest.approx(math.log(z) / T)
    assert held.matrix() == pytest.approx(one(z))
    # With memory ż = −y, u = z beside it: [[a − bk, b], [−1, 0]].
    law = LinearLaw(one(0.0), one(-1.0), one(1.0), one(-k), 0.0, 0.0)
    assert Around(one(a), one(b), one(1.0), law).matrix() == pytest.approx(
        np.array([[a - b * k, b], [-1.0, 0.0]])
    )
    lost = Around(one(math.inf), one(b), one(1.0), LinearLaw(*none, one(-k), 0.0, 0.0))
    assert lost.growth() == math.inf


# ---- positions that belong to other commands --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "signals, words",
    [
        ((), ""),
        (("x_1", "x_2"), ""),
        (("x_2", "x_1"), "u_1 acts on x_2 and moves x_1, u_2 acts on x_1 and moves x_2"),
        (
            ("q_1", "q_2"),
            "",
        ),  # other signals than those of the machine's own order: nothing says which belongs where
    ],
)
def test_positions_in_another_order_than_the_actuators_are_told(signals, words):
    crane = machine("hiab-xs031").plant.locked(extension=0.5)
    law = Sampled(PID(crane, feed="gain", signals=signals), T_s=2e-3)
    told = cause_wiring.misplaced(SimpleNamespace(loop=SimpleNamespace(controller=law)))
    assert told.endswith(words) and bool(told) is bool(words)
    assert not told or "controller.signals" in told
