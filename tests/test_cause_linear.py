"""What is named where the linearised loop grows: the smallest single change with which it does not."""

import pytest

from tests.faults.builders import linear, user
from workbench.verification.cause_linear import hardly_decays, lets_go, out_of_reach
from workbench.verification.causes import likely_cause
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
