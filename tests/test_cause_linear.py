"""What is named where the linearised loop grows: the smallest single change with which it does not."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, final

import numpy as np
import pytest

from tests.faults.builders import around, linear, user, wired
from tests.faults.plants import Slide
from workbench import ClosedLoop, Signal, Steps
from workbench.contract.system import innermost, rewrapped
from workbench.contract.wrappers.around import Around
from workbench.run.log import Log
from workbench.run.status import Status
from workbench.verification.cause import wiring as cause_wiring
from workbench.verification.cause.edits import edits
from workbench.verification.cause.linear import hardly_decays, lets_go, out_of_reach
from workbench.verification.cause.named import jumping, likely_cause
from workbench.verification.cause.trials import trials
from workbench.verification.cause.wiring import altered, rewired
from workbench.verification.run import run as simulated

THIRD = {
    "A": [[-3, 0, 0], [3, -7, 0], [0, 7, -11]],
    "B": [[1], [0], [0]],
    "C": [[0, 0, 1]],
    "T_s": 0.01,
}
INTEGRATOR = {"A": [[0]], "B": [[1]], "C": [[1]], "T_s": 0.01}
OSCILLATOR = {"A": [[0, 1], [-4, -0.8]], "B": [[0], [1]], "C": [[1, 0], [0, 1]], "T_s": 0.01}
STILL = {"hold": {"point": [0.0]}}


def made(plant, law, duration=8.0, **options):
    loop, scenario, _ = linear(**plant, law=law, duration=duration, reference=STILL, **options)
    return simulated(loop, scenario)


def pid(K_p, **more):
    return {"law": "PID", "K_p": K_p, **more}


def feedback(gain, rate):
    return {
        "law": "function",
        "gain": gain,
        "followed": "x_0",
        "rate": "x_1",
        "derivative": rate,
    }


@pytest.mark.parametrize(
    "plant, law, options, word",
    (
        (THIRD, pid(114.2), {}, "gain controller.K_p (114.2) times 0.95"),
        (INTEGRATOR, pid(20.0), {"delay": 0.09}, "delay of 90 ms"),
        (INTEGRATOR, pid(20.0), {"delay": 0.09}, "gain controller.K_p"),
        (INTEGRATOR, pid(20.0, K_i=4000.0), {}, "gain controller.K_i (4000)"),
        (OSCILLATOR, feedback(2, -1.2), {}, "sign of the measurement x_1"),
        (OSCILLATOR, feedback(-6, 1.2), {}, "sign of the measurement x_0"),
    ),
)
def test_the_smallest_change_is_named(plant, law, options, word):
    words, size = lets_go(made(plant, law, **options))
    assert word in words and size < 1.0


@pytest.mark.parametrize(
    "plant, law, options",
    (
        (THIRD, pid(90.0), {}),
        (INTEGRATOR, pid(20.0), {"delay": 0.05}),
        (OSCILLATOR, feedback(2, 1.2), {}),
    ),
)
def test_nothing_is_named_where_nothing_grows(plant, law, options):
    run = made(plant, law, **options)
    assert lets_go(run)[0] == "" and hardly_decays(run) == "" and out_of_reach(run) == ""


def test_a_hidden_mode_comes_before_any_gain():
    """x_1 grows beside the loop; the loop itself is 5 % beyond its edge, too."""
    plant = {"A": [[0, 0], [0, 0.4]], "B": [[1], [1]], "C": [[1, 0]], "T_s": 0.01}
    words, _ = lets_go(made(plant, pid(210.0)))
    assert words.startswith("hidden, unstable mode") and "x_1" in words


def test_modes_that_nobody_waits_for():
    beside = {"A": [[0, 0, 0], [0, 0, 1], [0, -9, 0]], "B": [[1], [0], [0]], "T_s": 0.01}
    assert "x_1" in out_of_reach(made(beside | {"C": [[1, 0, 0]]}, pid(3.0)))
    slow = made({"A": [[0]], "B": [[1]], "C": [[1]], "T_s": 0.01}, pid(1e-3))
    assert "time constant of 1e+03 s" in hardly_decays(slow)


def test_a_plant_that_is_no_shipped_one_has_no_usual_gains():
    """The gains of a crane are no measure for a user's servo: a tenth of each is tried instead."""
    law = {"law": "PID", "K_p": 9000, "signals": "y", "u_max": 10}
    sine = {"sine": {"centre": "start", "amplitude": [0.02], "frequency": 0.5}}
    loop, scenario, _ = user("servo", law, duration=4.0, reference=sine)
    cause = likely_cause(simulated(loop, scenario))
    assert "K_p" in cause.words and "default" not in cause.words


def test_a_velocity_that_nothing_feeds_forward():
    from tests.faults.entries import entries, make

    (entry,) = (e for e in entries() if e.name == "lag-without-feed-forward@actuator-pid")
    found = make(entry)
    assert "controller.feed: none" in likely_cause(simulated(found.loop, found.scenario)).words


def test_a_users_function_is_tried_with_a_tenth_of_what_it_commands():
    sine = {"sine": {"centre": "start", "amplitude": [0.02], "frequency": 0.5}}
    law = {"law": "function", "gain": 9000, "followed": "y"}
    loop, scenario, _ = user("servo", law, duration=2.0, reference=sine)
    cause = likely_cause(simulated(loop, scenario))
    assert cause.words.startswith("gains of the law") and cause.share > 0.25


@pytest.mark.parametrize("bound, tried", ((2.0, True), (10.0, False)))
def test_a_limit_of_the_law_below_that_of_the_machine_is_tried(bound, tried):
    law = {"law": "PID", "K_p": 400, "signals": "y", "u_max": bound}
    loop, scenario, _ = user("servo", law, duration=0.2, reference={"hold": {"point": "start"}})
    words = [trial.words for trial in trials(simulated(loop, scenario))]
    assert any("controller.u_max" in said for said in words) is tried


@pytest.mark.parametrize("gain", (1.0, 0.99, 1.02))
def test_a_sensor_that_shows_a_multiple_is_named_with_its_factor(gain):
    loop, scenario, _ = wired("fourbar-pid", {"scenario/duration": "1 s"}, gains={"s": gain})
    said = rewired(simulated(loop, scenario))
    assert said.startswith(f"the measurement s times {gain:.4g}:") if gain != 1.0 else said == ""


@pytest.mark.parametrize(
    "base, wires, words",
    [
        ("fourbar-pid", {"nulls": {"s": 0.004}}, "the measurement s plus 0.004 m"),
        ("fourbar-pid", {"nulls": {"U_ref": -0.6}}, "the command U_ref plus -0.6 V"),
        (
            "fourbar-pid",
            {"gains": {"U_ref": 0.0}, "nulls": {"U_ref": 0.3}},
            "the command U_ref does not reach the machine, which gets 0.3 V for ever:",
        ),
        (
            "fourbar-vdc",
            {"gains": {"dz_1": 0.0}},
            "the measurement dz_1 does not reach the law, which reads 0:",
        ),
    ],
)
def test_a_null_that_is_off_and_a_wire_that_is_cut_are_named(base, wires, words):
    """A null of the sensor and one of the valve look alike to a law without rates: both are told."""
    loop, scenario, _ = wired(base, {"scenario/duration": "1 s"}, **wires)
    assert words in rewired(simulated(loop, scenario))


@final
@dataclass(frozen=True, eq=False)
class Shut(Around):
    """A valve that opens to one side alone, up to a number; nobody but the user knows it."""

    inner: Any
    up_to: float

    def command(self, t, z, y, r):
        return [np.minimum(np.maximum(u, 0.0), self.up_to) for u in self.inner.command(t, z, y, r)]

    def step_at(self, T_s, t, z, y, r):
        memory, commands = self.inner.step_at(T_s, t, z, y, r)
        return memory, [np.minimum(np.maximum(u, 0.0), self.up_to) for u in commands]


@final
@dataclass(frozen=True, eq=False)
class Loosening(Around):
    """A wire that turns around at `at` seconds."""

    inner: Any
    at: float

    def command(self, t, z, y, r):
        sign = np.where(t > self.at, -1.0, 1.0)
        return [sign * u for u in self.inner.command(t, z, y, r)]

    def step_at(self, T_s, t, z, y, r):
        memory, commands = self.inner.step_at(T_s, t, z, y, r)
        return memory, [np.where(t > self.at, -1.0, 1.0) * u for u in commands]


@pytest.mark.parametrize(
    "at, words", [(0.0, "to 0"), (3.0, "8 s later than in the run"), (1e4, "")]
)
def test_a_wire_that_turns_around_after_the_run_is_named(at, words):
    """Other starts are followed for longer than the run, and meet it there; one that turns after days is none of theirs."""
    loop, scenario, _ = wired("fourbar-pid", {"scenario/duration": "2 s"})
    law = Loosening(innermost(loop.controller), at)
    loop = ClosedLoop(loop.plant, rewrapped(loop.controller, law))
    said = rewired(simulated(loop, scenario))
    assert said.startswith("sign of the command U_ref: ") is bool(words) and words in said, said


@pytest.mark.parametrize("shut", [True, False])
def test_a_wrapper_that_changes_a_command_somehow_is_named_with_what_it_does(shut):
    """A valve that opens to one side alone; wires as they should be change nothing."""
    loop, scenario, _ = wired("fourbar-pid", {"scenario/duration": "2 s"})
    if shut:
        law = Shut(innermost(loop.controller), 9.0)
        loop = ClosedLoop(loop.plant, rewrapped(loop.controller, law))
    run = simulated(loop, scenario)
    said = altered(run)
    assert ("Shut, between law and machine, changes U_ref: at t = " in said) is shut
    assert said.endswith(" and it gives 0 V") is shut and rewired(run) == ""


@pytest.mark.parametrize(
    "values, left, kept",
    [
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 9], np.inf, 10),
        ([1, 2, 3, 4, 99, 101, 3e9, 5, 1, 1], np.inf, 5),  # beyond ten times the range of 10 V
        ([1, 2, 3, 4, 5, -3e9, 1, 1, 1, 1], 2.5, 3),  # it left the machine before
        ([1, 2, 3e9, 3e9, 3e9, 3e9, 3e9, 3e9, 3e9, 3e9], np.inf, 10),  # nothing before it to ask
        ([1, 2, 3, 4, 5, np.nan, 1, 1, 1, 1], np.inf, 5),
    ],
)
def test_a_law_is_asked_before_its_run_goes_astray(values, left, kept):
    status = Status(True, "", 9.0)
    log = Log(np.arange(10.0), np.array(values, float)[:, None], (Signal("u", "V"),), {}, status)
    plant = SimpleNamespace(limits=lambda: {"u": (-10.0, 10.0)})
    run = SimpleNamespace(log=log, left=(left, ""), loop=SimpleNamespace(plant=plant))
    assert cause_wiring._rows(run).tolist() == list(range(kept))


def test_a_command_that_reaches_two_valves_is_an_edit_of_the_wires():
    class Law:
        commands = (Signal("u_1", "V"), Signal("u_2", "V"))
        measured = (Signal("q_1", "rad"),)

    (edit,) = (e for e in edits(Law()) if e.words == "u_2 gets the command u_1")
    assert edit.commanded([3.0, 4.0]) == [3.0, 3.0] and edit.measured([1.0]) == [1.0]


def test_what_drifts_at_rest_alone_is_no_slow_mode():
    """A mass that rubs: smoothed friction at rest lets it creep in the linearised loop, and in no other."""
    law = {"law": "PID", "K_p": 2.0, "K_d": 25.0, "τ": 5e-3, "signals": "x", "u_max": 50.0}
    loop, scenario, _ = around(
        Slide(F_c=3.0), law, 1e-3, 0.0, None, 4.0, {"hold": {"point": "start"}}
    )
    assert hardly_decays(simulated(loop, scenario)) == ""


@pytest.mark.parametrize("times, jumps", (([0.0, 1.0], True), ([0.0, 9.0], False)))
def test_a_reference_that_jumps_is_named_where_it_does_within_the_run(times, jumps):
    loop, scenario, _ = linear(**INTEGRATOR, law=pid(5.0), duration=3.0, reference=STILL)
    steps = Steps("output", tuple(times), (0.0, 1.0))
    found = jumping(simulated(loop, replace(scenario, reference=steps)))
    assert (found is not None and "jumps at t = 1 s" in found.words) is jumps
