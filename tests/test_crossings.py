"""Instants after a run at which comparisons with time change sides; laws and plants that turn for seconds, sensors that drift."""

import numpy as np
import pytest
from faults.branches import Branching
from faults.clocks import clocked
from faults.far import Far, Sensed

from controllers import PID
from workbench import ClosedLoop, Hold, Sampled, Scenario
from workbench.contract.plain import Plain
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification.judge import verify
from workbench.verification.practical.later.crossings import crossings

T = 0.02
FALLS = LinearPlant((0.4,), (1.0,), (1.0,), ("a",), ("u",), ("a",))


def judged(plant, law):
    loop = ClosedLoop(plant, Sampled(law, T_s=T))
    (verdict,) = verify(loop, Scenario(6.0, Hold("output", (0.3,))), [C.PracticalStability(runs=2)])
    return verdict


def called(plant, law=None):
    return Plain(law or Branching("nothing", 6.0, 1.0), references=(f"{plant.outputs[0].name}_d",))


def pid(plant):
    return PID(plant, K_p=(6.0,), K_i=(0.0,), feed="none", damping="none", u_max=1e6)


@pytest.mark.parametrize("at, wide", [(600.0, 8.0), (70_000.0, 0.5)])
def test_both_ends_of_a_window_are_found_however_short(at, wide):
    """(t − at)(t − at − wide) is below zero within; a step between two instants of the grid is thousands of seconds in the end."""
    found = crossings(lambda t: (t - at)[None] * (t - at - wide), 6.0)
    assert any(at < t < at + wide for t in found)


def test_a_margin_that_comes_again_and_one_that_is_not_come_to():
    """t mod 3600 − 1800 jumps at the end of every hour, too; a margin that is not a number is as far off as can be."""
    margins = lambda t: np.array(
        [t % 3600.0 - 1800.0, np.where(t % 3600.0 > 1800.0, t - 1e9, np.nan)]
    )
    found = crossings(margins, 10.0)
    assert min(found) == pytest.approx(1800.0, abs=1e-3) and min(found) > 1800.0


@pytest.mark.parametrize(
    "margins", [lambda t: np.zeros((0, len(t))), lambda t: np.ones((2, len(t)))]
)
def test_what_knows_no_time_has_none(margins):
    assert crossings(margins, 5.0) == []


def test_what_comes_near_an_edge_and_turns_back_has_none():
    assert crossings(lambda t: ((t - 500.0) ** 2 + 1e-3)[None], 5.0) == []


@pytest.mark.parametrize("clock", ["given", "counted", "summed", "handed on"])
def test_a_called_law_that_turns_for_seconds_is_undecided_with_the_time(clock):
    found = judged(FALLS, called(FALLS, clocked(T, 6.0, "window", 5000.0, clock)))
    assert found.holds is None and "at t = 5" in found.worst, found.worst
    assert "the law does what it did at no time of the run" in found.worst


@pytest.mark.parametrize("law", [pid, called])
@pytest.mark.parametrize("at, holds", [(3000.0, None), (1e9, True)])
def test_a_plant_that_turns_for_seconds_is_undecided_with_the_time(law, at, holds):
    """A window in thirty years is none."""
    plant = Far("window", at=at)
    found = judged(plant, law(plant))
    assert found.holds is holds, found.worst
    assert holds or "at t = 3000 s y does what it did at no time of the run" in found.worst


@pytest.mark.parametrize("law", [pid, called])
@pytest.mark.parametrize("rate, holds", [(1e-4, None), (0.0, True)])
def test_a_sensor_that_drifts_is_undecided_under_every_law(law, rate, holds):
    plant = Sensed(rate=rate)
    found = judged(plant, law(plant))
    assert found.holds is holds, found.worst
    assert holds or "time itself may change the loop" in found.worst
