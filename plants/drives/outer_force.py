"""A force from outside that opposes the motion of a joint, or the lengthening of a line: a disturbance, no drive.

F = −F_ext
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from plants.drives.contract import Drive
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class OuterForce(Drive):
    """See the module. Input F_…, N; nothing acts where none is given."""

    is_law: ClassVar[bool] = True
    limit: ClassVar[None] = None

    def inputs(self, label):
        return (Signal(f"F_{label}", "N", "external force, opposing +Y", "disturbance"),)

    def force(self, x, s, sdot, u, line):
        return -u[0] if u else 0.0

    def power_names(self, label):
        return (label,)

    def powers(self, x, s, sdot, u, line):
        return [self.force(x, s, sdot, u, line) * sdot]
