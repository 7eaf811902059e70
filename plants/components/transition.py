"""Smooth switches and elastic ends: what opens over a width, what stops at a limit.

    S(z) = 0 for z ≤ 0,  3z² − 2z³ between,  1 for z ≥ 1                 once continuously differentiable

An end stop at |z| = L is a spring with damping in proportion to its compression s = |z| − L (Hunt and Crossley), so that
its force starts from zero and never pulls:

    F = −sign(z) k s max(1 + c ṡ, 0)  for s > 0,  else 0                 stored ½ k s²
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive


def smoothstep(z):
    """S(z), from 0 at z = 0 to 1 at z = 1."""
    z = np.minimum(np.maximum(z, 0.0), 1.0)
    return z * z * (3.0 - 2.0 * z)


@final
@dataclass(frozen=True)
class EndStop:
    """Two equal stops at z = ±limit; equations in the module's docstring."""

    limit: Annotated[float, Unit("m"), "travel to either side", positive]
    k: Annotated[float, Unit("N/m"), "stiffness", positive] = 1e8
    c: Annotated[float, Unit("s/m"), "damping, relative to the spring's force", nonnegative] = 10.0

    def __post_init__(self):
        check_bounds(self)

    def force(self, z, zdot):
        """F [N] on the moving part, along +z."""
        up = np.maximum(z - self.limit, 0.0)
        down = np.maximum(-z - self.limit, 0.0)
        return self.k * (
            down * np.maximum(1.0 - self.c * zdot, 0.0) - up * np.maximum(1.0 + self.c * zdot, 0.0)
        )

    def stored(self, z):
        """Energy of the spring, J."""
        s = np.maximum(np.abs(z) - self.limit, 0.0)
        return 0.5 * self.k * s * s
