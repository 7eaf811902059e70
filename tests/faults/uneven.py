"""An axis behind a valve whose gain is not the same everywhere, or a law that is not.

    x⃛ = w² (g K u − ẋ) − 2 D w ẍ        with u = K_p e stable below g K K_p = 2 D w

`how` says what g is: 1 + c e^{−((x − at)/width)²} (hump), 1 + c/2 (1 + tanh((x − at)/width)) (end), or 1 (even).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench import Signal, System
from workbench.contract.parameters import Unit, positive


@final
@dataclass(frozen=True)
class Uneven(System):
    """The axis; c is by how much the gain is higher there."""

    how: str = "even"
    c: Annotated[float, Unit("1"), "how much more gain"] = 5.0
    at: Annotated[float, Unit("m"), "where"] = 0.033
    width: Annotated[float, Unit("m"), "of that place", positive] = 0.003
    w: Annotated[float, Unit("rad/s"), "of oil and mass", positive] = 31.0
    D: Annotated[float, Unit("1"), "damping", positive] = 0.17
    K: Annotated[float, Unit("m/(s V)"), "valve", positive] = 0.021

    states = (Signal("x", "m"), Signal("v", "m/s"), Signal("a", "m/s^2"))
    outputs = (Signal("x", "m"),)
    inputs = (Signal("u", "V"),)

    def initial(self):
        return [0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        place, v, a = x
        flow = gain(self.how, self.c, (place - self.at) / self.width) * self.K * u[0]
        return [v, a, self.w**2 * (flow - v) - 2 * self.D * self.w * a]

    def out(self, t, x):
        return [x[0]]


def gain(how: str, c: float, x: Any) -> Any:
    """g at a place, in widths from the middle of its hump or step."""
    return {
        "hump": 1.0 + c * np.exp(-x * x),
        "end": 1.0 + 0.5 * c * (1.0 + np.tanh(x)),
    }.get(how, 1.0)


class UnevenLaw:
    """u = g K_p e with such a g of what is measured; called from Python at every sample."""

    def __init__(self, how: str, K: float, c: float, at: float, width: float):
        self.how, self.K, self.c, self.at, self.width = how, K, c, at, width

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        g = gain(self.how, self.c, (y[0] - self.at) / self.width)
        return z, [float(g * self.K * (r[0] - y[0]))]
