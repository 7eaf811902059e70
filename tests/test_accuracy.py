"""The run's own error: estimated on the run, small where asked for, and no verdict rests on a margin below it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small import Feedback, Linear

from plants import machine
from workbench import ClosedLoop, Sampled, Scenario, Sine, simulate
from workbench.cases.file import load, loads
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.run.own_error import errors_of, share_of
from workbench.run.steps import Steps
from workbench.verification import run_claims, verify
from workbench.verification.accuracy import beyond_error, error_beside, within_accuracy
from workbench.verification.judge import examine
from workbench.verification.run import run
from workbench.verification.verdict import Verdict

IEHA = load(Path(__file__).parents[1] / "examples" / "ieha-pid.yaml")
SWING = Linear(((-0.7, 31.0), (-29.0, -0.4)), ((0.0,), (4.0,)), ((1.0, 0.0),), x0=(0.2, 0.0))
WALK = Scenario(2.0, Sine("output", 0.0, 0.3, 1.3), max_step=5e-3)


class Brought:
    """A user's law."""

    measured, commands, references, T_s = ("y0",), ("u0",), ("y0_d",), 10e-3

    def command(self, t, z, y, r):
        return [1.7 * (r[0] - y[0])]


LOOPS = {
    "sampled": (ClosedLoop(SWING, Sampled(Feedback(SWING, ((1.7,),), ((1.7,),)), 10e-3)), WALK),
    "continuous": (ClosedLoop(SWING, Feedback(SWING, ((1.7,),), ((1.7,),))), WALK),
    "hosted": (ClosedLoop(SWING, Brought()), WALK),
    "adaptive": (IEHA.loop, replace(IEHA.scenario, duration=0.5)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_estimate_is_the_error(name):
    """Against a run with steps of 1/64: never below two thirds of it, never so large that it says nothing."""
    loop, scenario = LOOPS[name]
    log, fine = (simulate(loop, replace(scenario, accuracy=a)) for a in (None, 1e-15))
    states = names(loop.states)
    found, _ = share_of(log, errors_of(loop, scenario, log), states)
    gap = {n: float(np.abs(log.array(n) - fine.array(n)).max()) for n in states if n in fine}
    true, _ = share_of(log, gap, states)
    assert 0 < 2 / 3 * true < found < 300 * true


@pytest.mark.parametrize("name", LOOPS)
def test_an_accuracy_asked_for_is_reached(name):
    loop, scenario = LOOPS[name]
    asked, fine = (simulate(loop, replace(scenario, accuracy=a)) for a in (1e-9, 1e-15))
    states = names(loop.states)
    gap = {n: float(np.abs(asked.array(n) - fine.array(n)).max()) for n in states if n in fine}
    assert share_of(asked, gap, states)[0] < 1.5e-9
    assert len(asked) == len(simulate(loop, scenario))


def test_a_large_step_of_a_stiff_actuator_is_told_and_followed():
    """The distributor just after a step from one end to the other under load: its error is estimated, and small where asked."""
    plant = replace(machine("ieha-control").plant, detail="full")
    there = Steps("output", (0.0, 8e-3), (-5e-4, 5e-4))
    scenario = Scenario(0.012, disturbances={"X": there, "F_ext": -600.0}, log_period=1e-4)
    plain, asked, fine = (
        simulate(plant, replace(scenario, accuracy=a)) for a in (None, 1e-5, 1e-13)
    )
    error, tight = (np.abs(log.array("E") - fine.array("E")).max() for log in (plain, asked))
    assert 2 / 3 * error < errors_of(plant, scenario, plain)["E"] < 100 * error
    assert tight < 1e-5 * np.abs(fine.array("E")).max() and tight < 1e-10 < error


def test_a_file_asks_for_it():
    case = loads(
        "plant: {type: LinearActuator}\ncontroller: PID\nloop: {accuracy: 1e-8}\nscenario: {duration: 1 s}\n"
    )
    assert case.scenario.accuracy == 1e-8
    found = {v.key: v for v in verify(case.loop, case.scenario, [run_claims.Saturation()])}
    assert (
        found["accuracy"].holds
        and found["accuracy"].counted
        and 0 < found["accuracy"].data["share"] < 1e-8
    )
    with pytest.raises(InputError, match="accuracy.*greater than"):
        loads("plant: {type: LinearActuator}\nloop: {accuracy: 0}\n")
    assert loads("plant: {type: LinearActuator}\ncontroller: PID\n").scenario.accuracy is None


def test_an_accuracy_out_of_reach_is_undecided():
    loop, scenario = LOOPS["sampled"]
    verdict = verify(
        loop, replace(scenario, accuracy=1e-18), [run_claims.Tracking(error=1.0, settle=0.5)]
    )[-1]
    assert verdict.key == "accuracy" and verdict.holds is None


@pytest.mark.parametrize("name", ["sampled", "hosted"])
def test_a_margin_below_the_runs_own_error_decides_nothing(name):
    """A limit is laid just beside the largest error: half the run's own error away it is undecided, ten times as far decided."""
    loop, scenario = LOOPS[name]
    (first,) = verify(loop, scenario, [run_claims.Tracking(error=0.45, settle=0.5)])
    largest, own = first.data["largest"], first.data["own_error"]
    assert first.holds and 0 < own < 0.01 * largest
    for apart, holds in (
        (10 * own, True),
        (0.5 * own, None),
        (-0.5 * own, None),
        (-10 * own, False),
    ):
        (verdict,) = verify(
            loop, scenario, [run_claims.Tracking(error=largest + apart, settle=0.5)]
        )
        assert verdict.holds is holds
        assert ("own error" in verdict.worst) == (holds is None)


def test_only_what_is_read_off_the_run_is_compared():
    ran = run(*LOOPS["sampled"])
    known = {"x0": 1.0, "y0": 1.0}
    proof = Verdict("linear-stability", "…", True, "proof", 0.5, "1/s")
    scanned = Verdict("delay-limit", "…", True, "sampled", 1e-3, "s")
    bare = Verdict("settled", "…", True, "sampled")
    assert [beyond_error(v, ran, known) for v in (proof, scanned, bare)] == [proof, scanned, bare]


def test_an_error_is_compared_in_the_unit_of_the_margin():
    """The largest error of a signal of that unit; of an energy twice the run's share of what was read, for it is a square."""
    loop, scenario = LOOPS["adaptive"]
    ran = run(loop, replace(scenario, duration=0.02))
    states = names(loop.states)
    by_unit = {s.unit: s.name for s in loop.plant.states if s.unit != "1"}
    length, speed = by_unit["m"], by_unit["m/s"]
    known = {length: 2e-3, speed: 7.0}

    def beside(strength, unit, margin=1e-4, **more):
        return error_beside(Verdict("x", "…", True, strength, margin, unit, **more), ran, known)

    assert beside("sampled", "m") == 2e-3 and beside("sampled", "m", limit=5.0) == 2e-3
    assert beside("sampled", "m/s") == 7.0 and beside("sampled", "Pa") is None
    assert beside("proof", "m") is None and beside("numerical", "m/s") is None
    assert beside("sampled", "m", margin=None) is None and beside("sampled", "J") is None
    share, _ = share_of(ran.log, known, states)
    assert beside("sampled", "J", limit=0.7) == pytest.approx(2 * share * (0.7 - 1e-4))
    assert error_beside(Verdict("x", "…", True, "sampled", 1.0, "m"), ran, {}) is None


def test_a_study_tells_it():
    told = examine(*LOOPS["continuous"], [run_claims.Tracking(error=1.0, settle=0.5)]).analysis[
        "statistics"
    ]
    share, unit = next(v for name, v in told.items() if name.startswith("own error of the run"))
    assert unit == "1" and 0 < share < 1e-3


def test_a_run_that_ends_early_has_none():
    unstable = ClosedLoop(SWING, Feedback(SWING, ((-900.0,),), ((1.7,),)))
    ran = run(unstable, replace(WALK, duration=60.0))
    violated = Verdict("tracking", "…", False, "sampled")
    assert within_accuracy(ran, [violated]) == [violated] and not ran.log.status.completed
