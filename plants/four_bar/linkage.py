"""A planar four-bar, its crank pushed by a hydraulic cylinder: one degree of freedom, the loop closed exactly.

    crank z_1, coupler z_1 + z_2, rocker z_1 + z_2 + z_3 from the horizontal (z_2, z_3 relative), E = (L_0, 0):
    L_1 e(a_1) + L_2 e(a_2) + L_3 e(a_3) = (L_0, 0),   e(a) = (cos a, sin a)                     closure
    a_2 = δ ± α_2,  a_3 = δ ∓ α_3   with the triangle L_2, L_3, d = |E − L_1 e(a_1)|, δ its direction
    s² = x_F² + x_G² + 2 x_F x_G cos z_1                    from G = (−x_G, 0) to F, x_F along the crank

With x_F = x_G = ½ L_1: s = L_1 cos(z_1/2). Crank, coupler and rocker are uniform beams, bodies of a mechanism in minimal
coordinates (`plants.multibody`), which has their equations of motion; the cylinder is a `components.circuit.ThrottledCircuit`.

The start is at rest. Without F_0 the oil carries the mechanism's weight, −386.0 N for the numbers of [Jaiswal21], who start from
681.23 N instead (`four-bar-printed`), which sets the crank swinging.

Source: [Jaiswal21] Section 5, there with z_1, z_2, z_3 as coordinates and two constraints; eqs (43)–(46).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Literal, final

import numpy as np

from plants.components.circuit import ThrottledCircuit
from plants.four_bar import bodies as four_bar_bodies
from plants.four_bar import geometry
from plants.four_bar.abilities import FourBarAbilities
from plants.four_bar.geometry import Pose
from plants.multibody import reduced
from plants.multibody.mechanism import Mechanism
from plants.multibody.planar import Closing
from plants.multibody.starting import holding_forces
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.run.steps import Steps

# U_ref (46); "t ≤ 9 s" there means from 8 s on.
WORK_CYCLE = Steps("output", (0.0, 1.0, 2.5, 5.0, 8.0), (0.0, 10.0, 0.0, -10.0, 0.0))


@final
@dataclass(frozen=True)
class FourBar(FourBarAbilities):
    """A planar four-bar whose crank a cylinder turns; equations in `plants.four_bar.linkage`.

    branch: the pose that the loop is assembled in, the coupler "above" or "below" the line from its pin to E. Input: U_ref [V].
    Outputs: length s [m] of the cylinder and its rate, z_1 [rad] and its rate, the pressures [Pa], tilt = π/2 − z_1. Steps of
    1 ms. Raises ValueError for bars that cannot close at the start, and as `ThrottledCircuit` does.
    """

    name: str = "four-bar"
    L_0: Annotated[
        float, Unit("m"), "distance of the rocker's joint E from the crank's", positive
    ] = 10.0
    L_1: Annotated[float, Unit("m"), "length of the crank", positive] = 2.0
    L_2: Annotated[float, Unit("m"), "length of the coupler", positive] = 8.0
    L_3: Annotated[float, Unit("m"), "length of the rocker", positive] = 5.0
    m_1: Annotated[float, Unit("kg"), "mass of the crank", positive] = 16.0
    m_2: Annotated[float, Unit("kg"), "mass of the coupler", positive] = 64.0
    m_3: Annotated[float, Unit("kg"), "mass of the rocker", positive] = 40.0
    x_F: Annotated[float, Unit("m"), "pin F of the cylinder, along the crank", positive] = 1.0
    x_G: Annotated[
        float, Unit("m"), "pin G of the cylinder, behind the crank's joint", positive
    ] = 1.0
    g: Annotated[float, Unit("m/s^2"), "gravity"] = 9.81
    z_10: Annotated[float, Unit("rad"), "crank angle at the start"] = np.pi / 3
    F_0: Annotated[
        float | None, Unit("N"), "force of the cylinder at the start; none: that of equilibrium"
    ] = None
    branch: Literal["above", "below"] = "above"
    circuit: ThrottledCircuit = ThrottledCircuit()
    closings: tuple[Closing, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self):
        check_bounds(self)
        self.circuit.check_pins("circuit")
        d = float(geometry.gap(self, self.z_10)[2])
        low, high = geometry.span(self)
        if not low < d < high:
            raise InputError(
                f"z_10: the loop cannot close: the coupler's pin is {d:.4g} m from E, and coupler and rocker span "
                f"{low:.4g} to {high:.4g} m"
            )
        if abs(self.lever(self.z_10)) < 1e-6 * self.x_F:
            raise InputError(
                f"z_10: at {self.z_10:.4g} rad the cylinder points through the crank's joint and cannot turn it"
            )
        object.__setattr__(self, "closings", four_bar_bodies.closings(self))
        self.initial()

    # ---- as a mechanism ---------------------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """Bodies, loop and drive, see `plants.four_bar.bodies`."""
        return four_bar_bodies.mechanism(self, self.closings)

    @property
    def called(self) -> dict[str, str]:
        return four_bar_bodies.called(self.circuit)

    @property
    def causes(self) -> dict[str, tuple[str, ...]]:
        return four_bar_bodies.causes(self.circuit)

    def given(self, u):
        return list(u)

    @property
    def beginning(self) -> dict:
        return {"z_10": self.z_10, "F_0": None}

    # ---- geometry ---------------------------------------------------------------------------------------------------
    def pose(self, z_1) -> Pose:
        """Directions of coupler and rocker, rad."""
        return geometry.pose(self, z_1)

    def length(self, z_1):
        """s [m]."""
        return geometry.length(self, z_1)

    def lever(self, z_1):
        """ds/dz_1 [m]."""
        return geometry.lever(self, z_1)

    def holding_force(self, z_1) -> float:
        """Force of the cylinder at which the mechanism rests, N, by virtual work."""
        (force,) = holding_forces(self.mechanism, reduced.positions(self.mechanism, [float(z_1)]))
        return force

    # ---- the contract -----------------------------------------------------------------------------------------------
    def initial(self):
        z_1 = self.z_10
        force = self.holding_force(z_1) if self.F_0 is None else self.F_0
        try:
            return [z_1, 0.0, *self.circuit.initial(float(self.length(z_1)), float(force))]
        except InputError as why:
            raise InputError(f"{self.name}: at the start, {why.message}", mend=why.mend) from None

    # ---- spaces a path can be given in ------------------------------------------------------------------------------
    n, spaces, joint_names = 1, ("joint", "piston"), ("z_1",)

    def task_names(self, space: str) -> tuple[str, ...]:
        """("z_1",) of the space "joint", ("s",) of "piston". Raises InputError for others."""
        if space not in self.spaces:
            raise InputError(
                f"{self.name} has no {space} space",
                mend=f"choose {' or '.join(self.spaces)}, or output",
            )
        return ("z_1",) if space == "joint" else ("s",)

    def task(self, space: str, q) -> list:
        """Coordinates of the crank angle [z_1] in `space`."""
        return [q[0]] if self.task_names(space) == ("z_1",) else [self.length(q[0])]

    def joint_range(self) -> tuple[tuple[float, float]]:
        """(least, greatest) crank angle at which the cylinder is within its stroke, see `four_bar_geometry.crank_range`."""
        return (geometry.crank_range(self),)

    def check_pose(self, q, where: str = "z_10") -> None:
        """Raise ValueError, saying `where`, for a crank angle [z_1] the bars, the cylinder or the oil cannot stand at."""
        try:
            replace(self, z_10=float(q[0]), F_0=None)
        except (ValueError, InputError) as why:
            raise InputError(f"{where}: {why}") from None

    def rest(self, q) -> list:
        """States at rest and in equilibrium at the crank angle [z_1]."""
        return replace(self, z_10=float(q[0]), F_0=None).initial()

    def out(self, t, x):
        return [self.length(x[0]), self.lever(x[0]) * x[1], *x[:5], 0.5 * np.pi - x[0]]

    def monitor(self, t, x, u):
        z_1, ż_1 = x[:2]
        pose, s, sdot = self.pose(z_1), self.length(z_1), self.lever(z_1) * ż_1
        z, rates, _ = self.mechanism.split(self.inner(x))
        kinetic, potential = self.mechanism.energies(z, rates)
        return [
            pose.a_2 - z_1,
            pose.a_3 - pose.a_2,
            s,
            sdot,
            0.5 * np.pi - z_1,
            self.circuit.force(x[2:], s, sdot),
            self.circuit.rubbing(x[2:], sdot),
            potential,
            kinetic,
            self.circuit.stored(x[2:], s),
        ]


def cylinder_work(log) -> np.ndarray:
    """W(t) [J] that the cylinder has done on the bars: what its powers have brought, less what oil and bristles keep."""
    brought = sum(log.array(f"E_{name}") for name in ThrottledCircuit().power_names())
    kept = log.array("E_oil")
    return brought - (kept - kept[0])


def drift(log) -> np.ndarray:
    """Potential and kinetic energy gained, less W [J]: 0 for an exact run."""
    gained = log.array("E_pot") + log.array("E_kin")
    return gained - gained[0] - cylinder_work(log)
