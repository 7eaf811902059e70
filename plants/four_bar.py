"""A planar four-bar, its crank pushed by a hydraulic cylinder: one degree of freedom, the loop closed exactly.

    crank z_1, coupler z_1 + z_2, rocker z_1 + z_2 + z_3 from the horizontal (z_2, z_3 relative), E = (L_0, 0):
    L_1 e(a_1) + L_2 e(a_2) + L_3 e(a_3) = (L_0, 0),   e(a) = (cos a, sin a)                     closure
    a_2 = δ ± α_2,  a_3 = δ ∓ α_3   with the triangle L_2, L_3, d = |E − L_1 e(a_1)|, δ its direction
    k_2 = da_2/dz_1 = L_1 sin(a_1 − a_3)/(L_2 sin(a_3 − a_2)),  k_3 likewise; k_2', k_3' from the closure once more

    M(z_1) z̈_1 + ½ M'(z_1) ż_1² + 𝒱'(z_1) = F_c ds/dz_1
    M = m_1 L_1²/3 + m_2 (L_1² + L_1 L_2 k_2 cos(a_1 − a_2) + L_2² k_2²/3) + m_3 L_3² k_3²/3    uniform beams
    𝒱 = g (m_1 ½ L_1 sin a_1 + m_2 (L_1 sin a_1 + ½ L_2 sin a_2) − m_3 ½ L_3 sin a_3)
    s² = x_F² + x_G² + 2 x_F x_G cos z_1                    from G = (−x_G, 0) to F, x_F along the crank

With x_F = x_G = ½ L_1: s = L_1 cos(z_1/2). The cylinder is a `components.circuit.ThrottledCircuit`.

The start is at rest. Without F_0 the oil carries the mechanism's weight: F_c = 𝒱'/(ds/dz_1), −386.0 N for the numbers of
[Jaiswal21], who start from 681.23 N instead (`four-bar-printed`), which sets the crank swinging.

Source: [Jaiswal21] Section 5, there with z_1, z_2, z_3 as coordinates and two constraints; eqs (43)–(46).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple, final

import numpy as np

from plants import scales
from plants.components.circuit import ThrottledCircuit
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import (
    Holding,
    Limit,
    chamber_limits,
    command_limits,
    span_limits,
)
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal, System
from workbench.numerics.adaptive import Fixed
from workbench.run.steps import Steps

# U_ref (46); "t ≤ 9 s" there means from 8 s on.
WORK_CYCLE = Steps("output", (0.0, 1.0, 2.5, 5.0, 8.0), (0.0, 10.0, 0.0, -10.0, 0.0))


class Pose(NamedTuple):
    """Directions a_2, a_3 of coupler and rocker at a crank angle, and their first two derivatives by it."""

    a_2: object
    a_3: object
    k_2: object
    k_3: object
    k_2p: object
    k_3p: object


@final
@dataclass(frozen=True)
class FourBar(System):
    """Equations in the module's docstring. Input U_ref [V]; integrated by equal steps of 1 ms.

    `branch`: which of its two poses the loop is assembled in, the coupler "above" or "below" the line from its pin to E.
    Outputs: length s of the cylinder and its rate, z_1 and its rate, the pressures, tilt = π/2 − z_1. Raises ValueError for
    bars that cannot close at the start, and what the circuit raises.
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

    fixed = Fixed(1e-3)
    loop_rate = 8.0  # 1/s, what a position loop can have: the oil spring and the mechanism swing at 26 Hz, hardly damped
    pressure_names = ("p_1", "p_2", "p_3")
    monitors = (
        Signal("z_2", "rad", "coupler, relative to the crank"),
        Signal("z_3", "rad", "rocker, relative to the coupler"),
        Signal("s", "m", "length of the cylinder"),
        Signal("ds", "m/s", "its rate"),
        Signal("tilt", "rad", "crank from the vertical, grows with s"),
        Signal("F_c", "N", "force of the cylinder"),
        Signal("F_mu", "N", "friction of the cylinder"),
        Signal("E_pot", "J", "potential energy"),
        Signal("E_kin", "J", "kinetic energy"),
        Signal("E_oil", "J", "energy of compressed oil and bent bristles"),
    )

    def __post_init__(self):
        check_bounds(self)
        self.circuit.check_pins("circuit")
        d, low, high = float(self._gap(self.z_10)[2]), abs(self.L_2 - self.L_3), self.L_2 + self.L_3
        if not low < d < high:
            raise InputError(
                f"z_10: the loop cannot close: the coupler's pin is {d:.4g} m from E, and coupler and rocker span "
                f"{low:.4g} to {high:.4g} m"
            )
        if abs(self.lever(self.z_10)) < 1e-6 * self.x_F:
            raise InputError(
                f"z_10: at {self.z_10:.4g} rad the cylinder points through the crank's joint and cannot turn it"
            )
        self.initial()

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def states(self):
        return (
            Signal("z_1", "rad", "crank angle"),
            Signal("dz_1", "rad/s", "its rate"),
            *self.circuit.states(),
        )

    @property
    def inputs(self):
        return self.circuit.inputs()

    @property
    def outputs(self):
        return (self.monitors[2], self.monitors[3], *self.states[:5], self.monitors[4])

    @property
    def power_names(self):
        return self.circuit.power_names()

    def limits(self):
        return {"U_ref": (-self.circuit.limit, self.circuit.limit)}

    def as_shipped(self):
        from plants.shipped import like  # which imports this file

        return like(self)

    def scales(self):
        return scales.of_four_bar(self)

    @property
    def spans(self):
        """What the cylinder can span, m."""
        return {"s": self.circuit.range}

    def machine_limits(self):
        """Stroke, crank angles at which the loop closes, vacuum, spool, command."""
        ((low, high),) = self.joint_range()
        crank = Limit(
            "crank",
            ("z_1",),
            low,
            high,
            "rad",
            "stroke",
            "where the loop closes and the cylinder turns the crank",
            "L_0",
        )
        U = self.circuit.U_max
        spool = Limit(
            "spool",
            ("U",),
            -U,
            U,
            "V",
            "valve",
            "travel of the spool",
            "circuit.U_max",
            bearable=True,
        )
        return (
            *span_limits(self),
            crank,
            *chamber_limits(self.pressure_names, 0.0),
            spool,
            *command_limits(self),
        )

    def holding(self, x, u):
        """Force of the cylinder by virtual work, against the circuit's."""
        return (
            Holding(
                "cylinder",
                float(self.holding_force(x[0])),
                *self.circuit.bears(),
                "N",
                self.circuit.bears_by(),
                "circuit.p_P",
            ),
        )

    @property
    def p_s(self):
        """Supply pressure, Pa."""
        return self.circuit.p_P

    @property
    def p_r(self):
        """Return pressure, Pa."""
        return self.circuit.p_T

    @property
    def velocity_gain(self):
        """That of the circuit, m/(s V)."""
        return self.circuit.velocity_gain

    # ---- geometry ---------------------------------------------------------------------------------------------------
    def _gap(self, z_1):
        """E − L_1 e(z_1) and its length."""
        x, y = self.L_0 - self.L_1 * np.cos(z_1), -self.L_1 * np.sin(z_1)
        return x, y, np.sqrt(x * x + y * y)

    def pose(self, z_1) -> Pose:
        x, y, d = self._gap(z_1)
        δ, side = np.arctan2(y, x), 1.0 if self.branch == "above" else -1.0
        a_1, L_1, L_2, L_3 = z_1, self.L_1, self.L_2, self.L_3
        a_2 = δ + side * np.arccos((d * d + L_2**2 - L_3**2) / (2.0 * d * L_2))
        a_3 = δ - side * np.arccos((d * d + L_3**2 - L_2**2) / (2.0 * d * L_3))
        across = np.sin(a_3 - a_2)
        k_2, k_3 = (
            L_1 * np.sin(a_1 - a_3) / (L_2 * across),
            L_1 * np.sin(a_2 - a_1) / (L_3 * across),
        )
        c = np.cos(a_3 - a_2)
        k_2p = (L_1 * np.cos(a_1 - a_3) + L_2 * k_2 * k_2 * c + L_3 * k_3 * k_3) / (L_2 * across)
        k_3p = -(L_1 * np.cos(a_1 - a_2) + L_2 * k_2 * k_2 + L_3 * k_3 * k_3 * c) / (L_3 * across)
        return Pose(a_2, a_3, k_2, k_3, k_2p, k_3p)

    def length(self, z_1):
        """s [m]."""
        return np.sqrt(
            self.x_F * self.x_F + self.x_G * self.x_G + 2.0 * self.x_F * self.x_G * np.cos(z_1)
        )

    def lever(self, z_1):
        """ds/dz_1 [m]."""
        return -self.x_F * self.x_G * np.sin(z_1) / self.length(z_1)

    # ---- mechanics --------------------------------------------------------------------------------------------------
    def inertia(self, z_1, pose: Pose):
        """M and ½ M', kg m²."""
        m_2, L_1, L_2 = self.m_2, self.L_1, self.L_2
        c, s, rocker = np.cos(z_1 - pose.a_2), np.sin(z_1 - pose.a_2), self.m_3 * self.L_3**2 / 3.0
        M = (
            self.m_1 * L_1**2 / 3.0
            + m_2 * (L_1**2 + L_1 * L_2 * pose.k_2 * c + L_2**2 * pose.k_2**2 / 3.0)
            + rocker * pose.k_3**2
        )
        slope = (
            m_2
            * (
                0.5 * L_1 * L_2 * (pose.k_2p * c - pose.k_2 * (1.0 - pose.k_2) * s)
                + L_2**2 * pose.k_2 * pose.k_2p / 3.0
            )
            + rocker * pose.k_3 * pose.k_3p
        )
        return M, slope

    def potential(self, z_1, pose: Pose):
        """𝒱 [J]."""
        return self.g * (
            0.5 * self.m_1 * self.L_1 * np.sin(z_1)
            - 0.5 * self.m_3 * self.L_3 * np.sin(pose.a_3)
            + self.m_2 * (self.L_1 * np.sin(z_1) + 0.5 * self.L_2 * np.sin(pose.a_2))
        )

    def weight(self, z_1, pose: Pose):
        """𝒱' [N m]."""
        return self.g * (
            0.5 * self.m_1 * self.L_1 * np.cos(z_1)
            - 0.5 * self.m_3 * self.L_3 * pose.k_3 * np.cos(pose.a_3)
            + self.m_2 * (self.L_1 * np.cos(z_1) + 0.5 * self.L_2 * pose.k_2 * np.cos(pose.a_2))
        )

    def holding_force(self, z_1):
        """Force of the cylinder at which the mechanism rests, N, by virtual work."""
        return self.weight(z_1, self.pose(z_1)) / self.lever(z_1)

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
        """Crank angles at which the cylinder is inside its stroke and the loop closes, on the start's side of the dead points."""
        low, high = self.circuit.range
        angle = lambda s: float(
            np.arccos(
                np.clip((s * s - self.x_F**2 - self.x_G**2) / (2 * self.x_F * self.x_G), -1.0, 1.0)
            )
        )
        reach = lambda d: float(
            np.arccos(
                np.clip((self.L_0**2 + self.L_1**2 - d * d) / (2 * self.L_0 * self.L_1), -1.0, 1.0)
            )
        )
        least, most = (
            max(angle(high), reach(abs(self.L_2 - self.L_3))),
            min(angle(low), reach(self.L_2 + self.L_3)),
        )
        return ((least, most) if self.z_10 > 0 else (-most, -least),)

    def check_pose(self, q, where: str = "z_10") -> None:
        """Raise ValueError, saying `where`, for a crank angle [z_1] the bars, the cylinder or the oil cannot stand at."""
        try:
            replace(self, z_10=float(q[0]), F_0=None)
        except (ValueError, InputError) as why:
            raise InputError(f"{where}: {why}") from None

    def rest(self, q) -> list:
        """States at rest and in equilibrium at the crank angle [z_1]."""
        return replace(self, z_10=float(q[0]), F_0=None).initial()

    def rhs(self, t, x, u):
        z_1, ż_1 = x[:2]
        pose, lever = self.pose(z_1), self.lever(z_1)
        M, slope = self.inertia(z_1, pose)
        sdot = lever * ż_1
        torque = (
            self.circuit.force(x[2:], self.length(z_1), sdot) * lever
            - self.weight(z_1, pose)
            - slope * ż_1 * ż_1
        )
        return [ż_1, torque / M, *self.circuit.rates(x[2:], self.length(z_1), sdot, u)]

    def out(self, t, x):
        return [self.length(x[0]), self.lever(x[0]) * x[1], *x[:5], 0.5 * np.pi - x[0]]

    def monitor(self, t, x, u):
        z_1, ż_1 = x[:2]
        pose, s, sdot = self.pose(z_1), self.length(z_1), self.lever(z_1) * ż_1
        M, _ = self.inertia(z_1, pose)
        return [
            pose.a_2 - z_1,
            pose.a_3 - pose.a_2,
            s,
            sdot,
            0.5 * np.pi - z_1,
            self.circuit.force(x[2:], s, sdot),
            self.circuit.rubbing(x[2:], sdot),
            self.potential(z_1, pose),
            0.5 * M * ż_1 * ż_1,
            self.circuit.stored(x[2:], s),
        ]

    def powers(self, t, x, u):
        """Power into the mechanism and its oil, by cause (W); their sum is d(stored)/dt."""
        return self.circuit.powers(x[2:], self.length(x[0]), self.lever(x[0]) * x[1], u)

    def stored(self, t, x, u):
        """Potential, kinetic and compression energy, J."""
        pose = self.pose(x[0])
        M, _ = self.inertia(x[0], pose)
        return (
            self.potential(x[0], pose)
            + 0.5 * M * x[1] * x[1]
            + self.circuit.stored(x[2:], self.length(x[0]))
        )


def cylinder_work(log) -> np.ndarray:
    """W(t) [J] that the cylinder has done on the bars: what its powers have brought, less what oil and bristles keep."""
    brought = sum(log.array(f"E_{name}") for name in ThrottledCircuit().power_names())
    kept = log.array("E_oil")
    return brought - (kept - kept[0])


def drift(log) -> np.ndarray:
    """Potential and kinetic energy gained, less W [J]: 0 for an exact run."""
    gained = log.array("E_pot") + log.array("E_kin")
    return gained - gained[0] - cylinder_work(log)
