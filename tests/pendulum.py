"""A pendulum as a plant, for tests of conversions."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from workbench import Signal, System
from workbench.contract.parameters import Unit


@dataclass(frozen=True)
class Pendulum(System):
    """m l² θ̈ = −m g l sin θ − d θ̇ + u + w, measured θ."""

    m: Annotated[float, Unit("kg")] = 2.3
    l: Annotated[float, Unit("m")] = 0.7
    d: Annotated[float, Unit("N m s")] = 0.9
    name = "pendulum"
    states = (Signal("θ", "rad"), Signal("ω", "rad/s"))
    inputs = (Signal("u", "N m"), Signal("w", "N m", kind="disturbance"))
    outputs = monitors = (Signal("θ", "rad"),)

    def initial(self):
        return [0.4, -0.3]

    def defaults(self):
        return {"w": 1.3}

    def rhs(self, t, x, u):
        J = self.m * self.l**2
        return [x[1], (-self.m * 9.81 * self.l * np.sin(x[0]) - self.d * x[1] + u[0] + u[1]) / J]

    def out(self, t, x):
        return [x[0]]

    def monitor(self, t, x, u):
        return [x[0]]
