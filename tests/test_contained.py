"""What grows at rest in the linearised loop: contained by the nonlinearity, a limit cycle of its size, or not seen."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from small import Feedback

from workbench import ClosedLoop, Hold, Scenario, Signal, System
from workbench.contract.parameters import Unit
from workbench.verification.contained import containment
from workbench.verification.modes import Modes, slowest_and_unstable
from workbench.verification.run import run
from workbench.verification.starts import Start


@dataclass(frozen=True)
class Swing(System):
    """ẏ = v, v̇ = −ω² y + (2 a − μ y²) v + u: at rest it grows at a, and swings with amplitude 2 √(2a/μ) for small a."""

    a: Annotated[float, Unit("1/s")] = 0.15
    μ: Annotated[float, Unit("1/s")] = 30.0
    ω: Annotated[float, Unit("rad/s")] = 6.0
    states = (Signal("y", "1"), Signal("v", "1/s"))
    outputs = (Signal("y", "1"),)
    inputs = (Signal("u0", "1"),)

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        y, v = x
        return [v, -self.ω * self.ω * y + (2 * self.a - self.μ * y * y) * v + u[0]]

    def out(self, t, x):
        return [x[0]]


@dataclass(frozen=True)
class Fork(System):
    """ẏ = a y − y³ + u: at rest it grows at a, and it stands still at √a."""

    a: Annotated[float, Unit("1/s")] = 0.5
    states = outputs = (Signal("y", "1"),)
    inputs = (Signal("u0", "1"),)

    def initial(self):
        return [0.0]

    def rhs(self, t, x, u):
        return [self.a * x[0] - x[0] ** 3 + u[0]]

    def out(self, t, x):
        return [x[0]]


def asked(plant, amounts, longest=100.0, rests=True):
    loop = ClosedLoop(plant, Feedback(plant, ((0.0,),), ((0.0,),)))
    nominal = run(loop, Scenario(duration=2.0, reference=Hold("output", (0.0,))))
    modes = slowest_and_unstable(nominal)
    if not rests:
        modes = Modes(tuple(replace(place, rests=False) for place in modes.places))
    return containment(nominal, modes, Start(amounts), 1e-3, longest)


def test_a_swing_that_goes_on_is_a_limit_cycle_of_its_size():
    plant = Swing()
    found = asked(plant, {"y": 0.05})
    amplitude = 2 * np.sqrt(2 * plant.a / plant.μ)
    assert found.holds is False
    said = float(found.words.rpartition("swings by ")[2].split()[0])
    assert said == pytest.approx(amplitude, rel=0.03)


def test_what_stands_still_elsewhere_is_contained():
    found = asked(Fork(), {"y": 0.6})
    assert found.holds is True and "stands still" in found.words
    assert found.assumption().holds is None and found.words in found.assumption().worst


def test_what_grows_so_slowly_that_nothing_is_seen_is_undecided():
    """Five time constants are asked for: 33.3 s of the swing, 10 s of the fork."""
    assert asked(Swing(), {"y": 0.05}, longest=33.0).holds is None
    assert asked(Swing(), {"y": 0.05}, longest=34.0).holds is False
    assert asked(Fork(), {"y": 0.6}, longest=9.9).holds is None
    assert asked(Fork(), {"y": 0.6}, longest=10.1).holds is True


def test_what_grows_only_on_the_way_is_contained_where_every_start_came_back():
    """As if time stood still there: nothing is held, however slow it is."""
    found = asked(Swing(), {"y": 0.05}, longest=1.0, rests=False)
    assert found.holds is True and "came back" in found.words
    assert asked(Swing(), {"y": 0.05}, longest=1.0).holds is None


def test_where_nothing_grows_there_is_nothing_to_contain():
    assert asked(Swing(a=-0.15), {"y": 0.05}) is None
