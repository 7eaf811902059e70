"""A force in the world's direction of y at a point of a body that turns about a joint on the ground: a disturbance, no drive.

    τ = L cos(s) f,   s the joint's angle, the point at s = 0 at L along x

Source: [Kikuuwe21] (79).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from plants.drives.contract import Drive
from workbench.contract.parameters import Unit
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class TipForce(Drive):
    """See the module. Input f_ey, N; nothing acts where none is given."""

    is_law: ClassVar[bool] = True
    turns: ClassVar[bool] = True
    limit: ClassVar[None] = None

    L: Annotated[float, Unit("m"), "joint to the point"]

    def inputs(self, label):
        return (Signal(f"f_ey_{label}", "N", f"force at {label}, upwards", "disturbance"),)

    def force(self, x, s, sdot, u, line):
        return self.L * np.cos(s) * u[0] if u else 0.0

    def power_names(self, label):
        return (label,)

    def powers(self, x, s, sdot, u, line):
        return [self.force(x, s, sdot, u, line) * sdot]
