"""Numbers of the plant that are known to bounds only, as states of the loop: they stay as they start.

    x' = (x, θ)      J'(x, θ) = (J(x; θ), θ),      f'(x, θ) = (f(x; θ), 0)

So a tube of the larger loop, from starts in which θ is anywhere within its bounds, is one for each θ of the smaller one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.numerics.calculus import hoist

STEPS = ("jump", "release", "flow", "start")  # functions of the state that give the state


@dataclass(frozen=True)
class Varied:
    """A number of the plant by its path: its value in the run, and the bounds between which it may be instead."""

    path: str
    unit: str
    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """The farther bound's distance from the value, rounded up."""
        far = max(self.high - self.value, self.value - self.low)
        return float(np.nextafter(far, np.inf)) if far > 0 else 0.0

    def at(self, share: float) -> float:
        """The number at a share of the way from the run's own to a bound, −1 to 1."""
        far = self.high - self.value if share > 0 else self.value - self.low
        return self.value + share * far


def opened(traced: Any, varied: Sequence[Varied]) -> dict[str, ca.Function]:
    """The loop's functions with these parameters behind its states, and the `prelude` that gives their constants."""
    if not varied:
        return {name: getattr(traced, name) for name in (*STEPS, "out", "prelude")}
    n = traced.n_states
    t = ca.SX.sym("t")
    x = ca.SX.sym("x", n)
    w = ca.SX.sym("w", len(traced.live))
    θ = ca.SX.sym("θ", len(varied))
    p = ca.SX.sym("p", len(traced.paths))
    numbers = ca.SX(p)
    numbers[[traced.paths.index(f"plant.{v.path}") for v in varied]] = θ
    (known,), c, prelude = hoist([traced.prelude(numbers)], p)

    def larger(name: str, more: ca.SX) -> ca.Function:
        own = ca.densify(getattr(traced, name)(t, x, w, known))
        every = own if name == "out" else ca.vertcat(own[:n], more)
        return ca.Function(name, [t, ca.vertcat(x, θ), w, c], [every])

    rest = ca.SX(len(varied), 1)
    found = {name: larger(name, rest if name == "flow" else θ) for name in (*STEPS, "out")}
    return found | {"prelude": ca.Function("prelude", [p], [prelude])}
