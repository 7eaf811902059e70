"""Plants of a user with a branch of their own: far away, for good once it was come to, or for some seconds long after the run.

    ẏ = 0.4 y + g u          `how` says what g is: turned or gone beyond h, 0 where a latch has fallen (latched), turned for 8 s at
                             `at` (window), one fifth less beyond h (zone), 1 with limits of u (limited), 1/(1 + (y/h)⁸) (fades)

and a slide whose sensor drifts: ẏ = u, s = y + `rate` t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench import Signal, System
from workbench.contract.parameters import Unit, positive


@final
@dataclass(frozen=True)
class Far(System):
    """The latch falls by itself from 0.3 on, and is pushed by 60 1/s beyond h."""

    how: str = "limited"
    h: Annotated[float, Unit("m"), "where the branch begins", positive] = 0.2
    at: Annotated[float, Unit("s"), "when the window begins", positive] = 600.0

    states = (Signal("y", "m", "place"), Signal("latch", "1", "fallen at 1"))
    outputs = (Signal("y", "m", "place"),)
    inputs = (Signal("u", "m/s", "command"),)

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        y, latch = x
        pushed = 60.0 * (y * y > self.h**2) * (1 - latch) if self.how == "latched" else 0.0
        falls = 40 * latch * (latch - 0.3) * (1 - latch) + pushed
        return [0.4 * y + self.gain(t, y, latch) * self.command(u[0]), falls]

    def command(self, u):
        return np.clip(u, -20 * self.h, 20 * self.h) if self.how == "limited" else u

    def gain(self, t, y, latch):
        inside = y * y < self.h**2
        return {
            "turned": np.where(inside, 1.0, -1.0),
            "gone": np.where(inside, 1.0, 0.0),
            "zone": np.where(inside, 1.0, 0.8),
            "window": np.where((t > self.at) * (t < self.at + 8.0), -1.0, 1.0),
            "latched": 1.0 - latch,
            "fades": 1.0 / (1.0 + (y / self.h) ** 8),
        }.get(self.how, 1.0)

    def out(self, t, x):
        return [x[0]]


@final
@dataclass(frozen=True)
class Sensed(System):
    """The slide; it follows what its sensor shows."""

    rate: Annotated[float, Unit("m/s"), "of the drift"] = 0.0

    states = (Signal("y", "m", "place"),)
    outputs = (Signal("s", "m", "sensor"),)
    inputs = (Signal("u", "m/s", "command"),)

    def initial(self):
        return [0.0]

    def rhs(self, t, x, u):
        return [u[0]]

    def out(self, t, x):
        return [x[0] + self.rate * t]
