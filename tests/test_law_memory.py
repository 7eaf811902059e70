"""What a law that is an expression remembers: memory that grows is found whatever it is called and however short the run is."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from small import Following

from workbench import ClosedLoop, Hold, Sampled, Scenario, Signal, Sine, System
from workbench.contract.parameters import Unit
from workbench.verification import claims as C
from workbench.verification.judge import verify

T = 0.02
STILL = Hold("output", (0.0,))


@dataclass(frozen=True)
class Lag(System):
    """ẏ = a (sat(u) − y − g y³): a state called `name`."""

    a: Annotated[float, Unit("1/s")] = 2.0
    g: Annotated[float, Unit("1/m^2")] = 0.0
    name: str = "y"
    begin: Annotated[float, Unit("m")] = 0.0

    @property
    def states(self):
        return (Signal(self.name, "m", "what moves"),)

    @property
    def outputs(self):
        return self.states

    inputs = (Signal("u0", "m", "command"),)

    def limits(self):
        return {"u0": (-50.0, 50.0)}

    def initial(self):
        return [self.begin]

    def rhs(self, t, x, u):
        return [self.a * (np.clip(u[0], -50.0, 50.0) - x[0] - self.g * x[0] ** 3)]

    def out(self, t, x):
        return list(x)


@dataclass(frozen=True)
class Sum(Following):
    """u = 10 e + z, z⁺ = z + T K e: a mode near −K/11 (1/s); its memory is called `memory`."""

    K: Annotated[float, Unit("1/s")] = 0.1
    memory: str = "sum"

    @property
    def states(self):
        return (Signal(self.memory, "m", "what it remembers"),)

    def step(self, t, z, y, r):
        error = r[0] - y[0]
        return [z[0] + T * self.K * error], [10.0 * error + z[0]]


def practical(K, memory="sum", name="y", duration=4.0, path=STILL, **plant):
    plant = Lag(name=name, **plant)
    loop = ClosedLoop(plant, Sampled(Sum(plant, K, memory), T))
    (verdict,) = verify(loop, Scenario(duration, path), [C.PracticalStability()])
    return verdict


@pytest.mark.parametrize("memory, name", [("sum", "y"), ("z_1", "y"), ("h_1", "y"), ("sum", "z_1")])
def test_memory_that_grows_is_found_whatever_it_is_called(memory, name):
    """Names of friction's memory begin with z_ and h_; a user's may, too."""
    grows = practical(-0.1, memory, name)
    assert grows.holds is None and "grows by e in 110 s" in grows.worst
    assert practical(0.1, memory, name).holds is True


@pytest.mark.parametrize("duration", [0.5, 4.0])
def test_memory_that_grows_within_the_hour_is_found_in_a_short_run(duration):
    """By e in 1,100 s: less than a thousandth of it within the run."""
    grows = practical(-0.01, duration=duration)
    assert grows.holds is None and "grows by e in 1100 s" in grows.worst
    assert practical(0.01, duration=duration).holds is True


@pytest.mark.parametrize("g", [0.0, 0.3])
def test_memory_that_grows_is_found_where_the_run_never_rests(g):
    """It starts away from its equilibrium and follows a sine: the loop rests nowhere, and is the same everywhere or nowhere."""
    moving = {"g": g, "begin": 2.0, "path": Sine("output", (0.0,), (1.0,), 0.5)}
    grows = practical(-0.1, **moving)
    assert grows.holds is None and "grows by e in 11" in grows.worst
    assert practical(0.1, **moving).holds is True
