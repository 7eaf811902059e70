"""Memory of a traced law that follows what it measures: while that creeps it runs on, and no further once it is held."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest
from small import Following

from workbench import ClosedLoop, Hold, Sampled, Scenario, Signal, System
from workbench.contract.parameters import Unit
from workbench.verification.claims import PracticalStability
from workbench.verification.judge import examine
from workbench.verification.practical.later.timed import timed
from workbench.verification.practical.later.traced_memory import _Gains

T, τ = 0.02, 0.5


@dataclass(frozen=True)
class Creeping(System):
    """ẏ = 2 (u − y), and a level ṗ = c that no command moves."""

    c: Annotated[float, Unit("1/s")] = 0.01

    states = outputs = (Signal("y", "m"), Signal("p", "1"))
    inputs = (Signal("u0", "m"),)

    def initial(self):
        return [0.0, 1.0]

    def rhs(self, t, x, u):
        return [2 * (u[0] - x[0]), self.c]

    def out(self, t, x):
        return list(x)


@dataclass(frozen=True)
class Slowed(Following):
    """u = 4 e (1 + k tanh(z − 1)), z⁺ = z + T (s − z)/τ; s is p, or a sum of the law's own, σ⁺ = σ + T (1 + y²)/100."""

    follows: str = "p"
    k: float = -3.0

    @property
    def states(self):
        return (Signal("z", "1"), Signal("σ", "1"))

    def initial(self):
        return [1.0, 1.0]

    def step(self, t, z, y, r):
        source = y[1] if self.follows == "p" else z[1]
        gain = 4.0 * (1.0 + self.k * np.tanh(z[0] - 1.0))
        return [z[0] + T * (source - z[0]) / τ, z[1] + T * 0.01 * (1.0 + y[0] ** 2)], [
            gain * (r[0] - y[0])
        ]


def seen(follows):
    plant = Creeping()
    loop = ClosedLoop(plant, Sampled(Slowed(plant, follows), T))
    return examine(loop, Scenario(8.0, Hold("output", (0.0,))), [PracticalStability()]).run


def test_a_filter_of_what_creeps_runs_on_no_further_than_its_time_constant():
    assert timed(seen("p")) == ""


def test_a_filter_of_what_the_law_counts_goes_as_far_as_the_count():
    """The gain turns where z is 1.35, at 35 s, whether it is the count or follows it half a second later."""
    assert "a number that the law remembers has run on" in timed(seen("σ"))


@pytest.mark.parametrize("follows, rested", [("p", τ), ("σ", np.inf)])
def test_how_long_each_number_runs_on(follows, rested):
    run = seen(follows)
    states = [s.name for s in run.loop.states]
    rates = {states.index("z"): 0.01, states.index("σ"): 0.01}
    reach = _Gains(run, rates).reach
    assert reach[states.index("z")] == pytest.approx(rested, rel=1e-4)
    assert reach[states.index("σ")] == np.inf


def test_a_number_of_a_continuous_law_leaks_by_its_rate(monkeypatch):
    """ż = −4 z, and 1e9 + a rate that only rounding makes depend on it."""
    step = lambda t, x, w, c: np.array([-4.0 * x[0], 1e9])
    own = SimpleNamespace(x=np.array([3.0, 2.0]), w=None, constants=None, end=1.0)
    assert _Gains._leak(own, 0, None, step) == pytest.approx(4.0, rel=1e-6)
    assert _Gains._leak(own, 1, None, step) == 0.0
