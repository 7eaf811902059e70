"""Segments and structures of a parallel–serial manipulator, with the paper's frames and numbers: data, no equations of motion.

    d = x_j + x_j0 = √(L² + L₁² + 2 L L₁ cos q_j)          pin to pin, of a cylinder between two links               (18)

Motion and forces are those of the mechanism that `plants.crane.bodies` makes of them.

Source: [Petrovic22] Fig. 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from plants.components.cylinder import Cylinder
from plants.components.spatial import Body, Frame
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, positive


@final
@dataclass(frozen=True)
class Revolute:
    """Revolute closed-chain segment: link L_j, link L_j1, cylinder case, piston with rod [Petrovic22, Fig. 5a].

    Frames: B_0 at the q_j1-joint, x towards the q_j-joint; B_1 at the q_j-joint, x towards the q_j2-joint; T_c at the
    q_j2-joint, axes of B_1; B_3 at B_0's origin, x towards the q_j2-joint; B_4 on the piston, l_c short of the q_j2-joint.
    """

    name: str
    L: Annotated[float, Unit("m"), "length of link L_j", positive]
    L1: Annotated[float, Unit("m"), "length of link L_j1", positive]
    x0: Annotated[float, Unit("m"), "pin-to-pin length at zero piston stroke", positive]
    l_c: Annotated[float, Unit("m"), "length of piston with rod", positive]
    cylinder: Cylinder
    link: Body = Body()
    arm: Body = Body()
    case: Body = Body()
    piston: Body = Body()
    end: Frame = Frame()

    slides: ClassVar[bool] = False

    def __post_init__(self):
        check_bounds(self)
        near = abs(self.L - self.L1)
        far = self.L + self.L1
        if not near < self.x0 < far:
            raise InputError(
                f"x0: the linkage cannot close with the cylinder retracted: {self.x0:g} m pin to pin is "
                f"outside ({near:.4g}, {far:.4g}) m, what links of {self.L:g} m and {self.L1:g} m allow"
            )
        if self.x0 + self.cylinder.stroke >= far:
            raise InputError(
                f"cylinder.stroke: {self.cylinder.stroke:g} m is beyond the linkage: pin to pin it allows at most "
                f"{far:.4f} m, so the stroke must be below {far - self.x0:.4f} m"
            )

    def length(self, q):
        """d = x_j + x_j0 (18), m: pin to pin at joint angle q."""
        return np.sqrt(self.L**2 + self.L1**2 + 2 * self.L * self.L1 * np.cos(q))

    def lever(self, q):
        """dx_j/dq_j = −L L₁ sin q_j/d (21), m/rad."""
        return -self.L * self.L1 * np.sin(q) / self.length(q)

    def angle(self, d):
        """q_j in (−π, 0) at which the pins are d apart, rad: the inverse of (18) on the branch of [Petrovic22].

        NaN where no angle has them so far apart.
        """
        with np.errstate(invalid="ignore"):
            return -np.arccos((d**2 - self.L**2 - self.L1**2) / (2 * self.L * self.L1))

    @property
    def bodies(self):
        """(frame name, body) from the base outwards."""
        return (("B0", self.link), ("B1", self.arm), ("B3", self.case), ("B4", self.piston))


@final
@dataclass(frozen=True)
class Prismatic:
    """Prismatic segment: tube {P_2}, piston with rod {B_5} sliding along its x-axis, object {P_3} [Petrovic22, Fig. 5b, c]."""

    name: str
    cylinder: Cylinder
    tube: Body = Body()
    rod: Body = Body()
    object: Body = Body()
    start: Frame = Frame()  # P_2 → B_5 at x_t = 0
    rod_end: Frame = Frame()  # B_5 → P_3
    end: Frame = Frame()  # P_3 → E_2

    slides: ClassVar[bool] = True

    def __post_init__(self):
        check_bounds(self)

    @property
    def bodies(self):
        """(frame name, body) from the base outwards."""
        return (("P2", self.tube), ("B5", self.rod), ("P3", self.object))


@final
@dataclass(frozen=True)
class Structure:
    """The j-th structure: a revolute segment, optionally followed by a prismatic one."""

    name: str
    revolute: Revolute
    prismatic: Prismatic | None = None

    def __post_init__(self):
        check_bounds(self)

    @property
    def segments(self):
        return (self.revolute,) if self.prismatic is None else (self.revolute, self.prismatic)

    @property
    def frames(self):
        """Frames from {B_1} at zero to where the next structure is attached, in order."""
        s = self.prismatic
        return (self.revolute.end,) if s is None else (self.revolute.end, s.start, s.rod_end, s.end)
