"""Causes of machines that state no scale of their error, that are fed too little, or that carry a joint which nothing drives."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.faults.entries import case_of
from workbench import ClosedLoop, Delayed, Hold, Sine
from workbench.cases.file import load, loads
from workbench.contract.parameters import Leaf, leaves
from workbench.verification.cause.machine import starved
from workbench.verification.cause.named import _of_range, likely_cause
from workbench.verification.cause.removal import large_error
from workbench.verification.cause.scenario_trials import _in_degrees, slower
from workbench.verification.cause.trials import _machine, another_clock, another_delay, trials
from workbench.verification.run import run
from workbench.verification.verdict import Verdict

STILL = {"type": "Hold", "space": "output", "point": [0.5]}


def case(base, edit=()):
    return loads(json.dumps(case_of(base, dict(edit)), ensure_ascii=False), "case.yaml")


def ran(base, edit=()):
    made = case(base, edit)
    return run(made.loop, made.scenario)


@pytest.mark.parametrize(
    "edit, cause",
    [
        ({"controller/u_max": 3}, "controller.u_max limits commands to 3"),
        (
            {"controller/K_i": 0, "scenario/reference": STILL},
            "no integral action (controller.K_i: 0)",
        ),
        (
            {"scenario/reference/amplitude": ["8.6 rad"]},
            "more than a turn (a slip of units, degrees for rad?)",
        ),
    ],
    ids=str,
)
def test_errors_of_a_motor_are_compared_by_those_of_the_loop_as_it_is(edit, cause):
    """A motor states no scale of angles: by its own largest error every run was as bad as the other."""
    found = likely_cause(ran("pendulum-pid", edit))
    assert found is not None and cause in found.words


def test_a_machine_with_a_scale_keeps_it():
    r = ran("fourbar-pid")
    assert large_error(r, r.scenario) == 0.0
    assert large_error(ran("pendulum-pid"), case("pendulum-pid").scenario) > 0.0


def machine_trials(plant):
    """What could be put right about a machine under VDC, words and oddness."""
    loop = loads(json.dumps({"plant": plant, "controller": "VDC"}), "case.yaml").loop
    known = {leaf.path: leaf for leaf in leaves(loop)}
    return {trial.words: trial.oddness for trial in _machine(loop, known)}


def test_a_shipped_machine_of_pins_is_put_back_to_what_it_was():
    """The excavator with a supply of 30 bar; on another supply it is another build, and a better machine says what is wrong."""
    (found,) = machine_trials({"machine": "excavator", "change": {"supply.p_s": "30 bar"}})
    assert found.startswith("plant.supply.p_s is 0.15 × that of the machine as shipped, 200 bar")
    sensing = {"type": "LoadSensing", "margin": "5 bar", "standby": "20 bar", "p_top": "200 bar"}
    other = machine_trials(
        {
            "machine": "excavator",
            "change": {"supply": sensing | {"p_r": "5 bar", "Q_max": "60 l/min"}},
        }
    )
    assert any(words.startswith("plant.supply.margin is") for words in other)
    assert not machine_trials("excavator")


def test_a_load_on_another_supply_is_put_back_as_well():
    """The bodies are those of the shipped machine; of a crane whose extension is locked they are not."""
    sensing = {"type": "LoadSensing", "margin": "30 bar", "standby": "60 bar", "p_top": "200 bar"}
    load = {"bucket.mass": "600 kg", "supply": sensing | {"p_r": "5 bar", "Q_max": "60 l/min"}}
    first = next(iter(machine_trials({"machine": "excavator", "change": load})))
    assert first.startswith("plant.bodies.bucket.mass is 13.04 × that of the machine as shipped")
    locked = {"machine": "hiab-xs031", "lock": {"extension": 0.5}}
    assert not [words for words in machine_trials(locked) if "as shipped" in words]


def test_a_supply_that_no_machine_is_built_for():
    """Below half of 100 bar it is put there; return lines, beliefs and what gives no pressure are none."""
    numbers = {
        "plant.supply.p_s": 30e5,
        "plant.pump.P_M": 50e5,
        "plant.supply.p_r": 5e5,
        "plant.left.p_s": 0.0,
        "plant.right.p_s": 49.9e5,
        "controller.model.supply.p_s": 30e5,
    }
    known = {path: Leaf(path, value, None) for path, value in numbers.items()}
    assert starved(known) == {"supply.p_s": (30e5, 100e5), "right.p_s": (49.9e5, 100e5)}


HEAVY = {
    "parent": "cart",
    "mass": "0.4 kg",
    "com": ["0.35 m", "0 m", "0 m"],
    "inertia": [0.0002, 0.016, 0.016, 0, 0, 0],
    "damping": 0.12,
    "hold": True,
}


@pytest.mark.parametrize(
    "edit, kind",
    [
        ({"controller/K_i": 9000}, "edge"),
        ({"plant/bodies/pole": HEAVY | {"start": "90 deg"}}, "joint"),
    ],
    ids=["gain", "pole"],
)
def test_a_gain_that_shakes_a_free_joint_is_named_before_the_joint(edit, kind, monkeypatch):
    """A load that hangs is shaken by the cart's gains; a pole that stands on it falls under any of them."""
    named = "workbench.verification.cause.named.left_alone"
    monkeypatch.setattr(named, lambda r: "nothing drives the joint of pole")
    found = likely_cause(ran("cartpole-hanging", edit))
    assert found is not None and found.kind == kind
    assert ("K_i" in found.words) == (kind == "edge")


@pytest.mark.parametrize(
    "amplitude, unit, tried", [(6.2, "rad", 0), (6.4, "rad", 1), (6.4, "m", 0)]
)
def test_a_sine_that_goes_round_is_tried_in_degrees(amplitude, unit, tried):
    wave = Sine("output", (0.0, 0.0), (0.1, amplitude), 0.5)
    asked = SimpleNamespace(scenario=SimpleNamespace(reference=wave), error_unit=unit)
    found = list(_in_degrees(asked))
    assert len(found) == tried
    for trial in found:
        given = trial.scenario["reference"].amplitude
        assert given == pytest.approx((np.radians(0.1), np.radians(amplitude)))


def test_commands_at_their_limits_are_told_which_numbers_say_so():
    """Where nothing else was found; what the law believes of the machine is none of them, and other claims are not told so."""
    r = ran("pendulum-pid")
    violated = Verdict("saturation", "a claim", False, "sampled")
    assert _of_range(r, violated).words == (
        "the range of u_motor ends at 60 N m (plant.actuators.motor.drive.limit, controller.inner.u_max)"
    )
    assert _of_range(r, replace(violated, key="tracking")) is None


@pytest.mark.parametrize("times, named", [(1.0, False), (4.0, True)])
def test_a_predictive_law_that_runs_at_another_sample_time_than_it_is_made_for(times, named):
    made = load("examples/linear-mpc.yaml")
    controller = made.loop.controller
    other = replace(controller, T_s=times * controller.T_s)
    found = run(ClosedLoop(made.loop.plant, other), made.scenario)
    words = "the law is made for a sample time of 2 ms, and runs every 8 ms"
    assert another_clock(found) == (words if named else "")
    tried = [t for t in trials(found) if t.kind == "sample time"]
    assert all(len(set(t.numbers.values())) == 1 and len(t.numbers) == 2 for t in tried) and tried


@pytest.mark.parametrize("late, named", [(4e-3, True), (0.0, False)])
def test_a_dead_time_of_which_a_predictive_law_believes_another(late, named):
    made = load("examples/linear-mpc.yaml")
    controller = Delayed(made.loop.controller, late) if late else made.loop.controller
    found = run(ClosedLoop(made.loop.plant, controller), made.scenario)
    cause = another_delay(found)
    assert (cause is not None) is named
    assert not named or "4 ms late, and the law believes 0 ms" in cause.words
    assert another_delay(ran("pendulum-pid")) is None


@pytest.mark.parametrize("K_i, named", [(160.0, True), (0.0, False)])
def test_a_path_that_is_followed_when_it_is_walked_more_slowly(K_i, named):
    """An error that is as large on a slow path is not one of its speed: without integral action a beam sags."""
    reference = Sine("output", "start", (0.05,), 2.0)
    edit = {"controller/K_i": K_i, "scenario/duration": "4 s"}
    r = ran("pendulum-pid", edit)
    other = replace(r.scenario, reference=reference)
    cause = slower(run(r.loop, other))
    assert (cause is not None) is named
    assert not named or cause.kind == "reference" and "4 times as slow it is off by" in cause.words
    assert slower(run(r.loop, replace(r.scenario, reference=Hold("output")))) is None


def test_weights_of_a_predictive_law_are_tried():
    made = load("examples/linear-mpc.yaml")
    told = [t.told(True) for t in trials(run(made.loop, made.scenario))]
    assert any(w.startswith("controller.S.0 (") and "goes well with ten times" in w for w in told)
