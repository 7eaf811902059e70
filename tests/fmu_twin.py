"""The bench of `fmus` as equations of this library."""

from dataclasses import dataclass
from typing import Annotated

from workbench import Signal, System, Unit


@dataclass(frozen=True)
class Bench(System):
    m: Annotated[float, Unit("kg")] = 2.0
    d: Annotated[float, Unit("N s/m")] = 3.0
    k: Annotated[float, Unit("N/m")] = 50.0

    states = (Signal("q", "m"), Signal("mass_v", "m/s"))
    inputs = (Signal("F", "N"), Signal("D", "N", kind="disturbance"))
    outputs = (Signal("q", "m"), Signal("q_mm", "m"))
    monitors = outputs

    def initial(self):
        return [0.0, 0.0]

    def limits(self):
        return {"F": (-40.0, 40.0)}

    def rhs(self, t, x, u):
        q, v = x
        F, D = u
        return [v, (F + D - self.d * v - self.k * q) / self.m]

    def out(self, t, x):
        return [x[0], x[0]]

    def monitor(self, t, x, u):
        return [x[0], x[0]]


@dataclass(frozen=True)
class WholeBench(Bench):
    """All its states are measured."""

    outputs = (Signal("q", "m"), Signal("mass_v", "m/s"))
    monitors = ()

    def out(self, t, x):
        return list(x)

    def monitor(self, t, x, u):
        return []
