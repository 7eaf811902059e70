"""Hydraulic cylinder: two chambers behind a valve, a rod that rubs.

    f_p   = A_a p_a − A_b p_b                                                        (79)
    V_a   = V_a0 + A_a x + V_ha,   V_b = V_b0 + A_b (s − x) + V_hb
    ṗ_a   = B_a/V_a (Q_a − A_a ẋ − q_i − q_ea)                                       (80) with dead volume and leakage
    ṗ_b   = B_b/V_b (Q_b + A_b ẋ + q_i − q_eb)                                       (81)
    V_i/B_i = V_i/β(p_i) + V_hi/B_h + (V_i − V_hi)/B_c                               oil, hose and tube in series; `Walls`
    q_i   = c_i (p_a − p_b),  q_ea = c_e p_a,  q_eb = c_e p_b

and in the form the control law inverts, with g_i = A_i B_i/(β V_i):

    ḟ_p   = β (u_f − h ẋ − ℓ),  u_f = g_a Q_a − g_b Q_b,  h = g_a A_a + g_b A_b,  ℓ = g_a (q_i + q_ea) + g_b (q_i − q_eb)

Without walls V_hi = 0 and B_i = β(p_i). Dead volumes V_a0, V_b0 are inside the tube; they may make the chambers longer than the
stroke.

Source: [Petrovic22] eqs (78)–(93); [Jaiswal21] eq. (14) for the walls; dead volume, leakage and cavitation beyond the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Annotated, NamedTuple, final

from plants.components.chamber import Oil
from plants.components.friction import CoulombViscous, Friction
from plants.components.valve import Valve
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive

POWERS = ("supply", "tank", "throttling", "leakage", "compression", "friction")


class Work(NamedTuple):
    """A cylinder behind its valve: ṗ_a, ṗ_b [Pa/s]; flows into the chambers, from the supply and to the tank [m³/s]; spool [V]."""

    rate_a: object
    rate_b: object
    Q_a: object
    Q_b: object
    Q_s: object
    Q_t: object
    spool: object


@final
@dataclass(frozen=True)
class Walls:
    """What gives way with the oil: a hose from the valve to each chamber, and the cylinder's tube."""

    B_h: Annotated[float, Unit("Pa"), "bulk modulus of the hoses", positive]
    V_ha: Annotated[float, Unit("m^3"), "volume of the hose, piston side", nonnegative] = 0.0
    V_hb: Annotated[float, Unit("m^3"), "volume of the hose, rod side", nonnegative] = 0.0
    B_c: Annotated[float | None, Unit("Pa"), "bulk modulus of the tube; none: rigid", positive] = (
        None
    )

    def __post_init__(self):
        check_bounds(self)

    def modulus(self, β, V, V_h):
        """B of a chamber of volume V, of which V_h is hose, filled with oil of β."""
        tube = 0.0 if self.B_c is None else (V - V_h) / self.B_c
        return V / (V / β + V_h / self.B_h + tube)


@final
@dataclass(frozen=True)
class Cylinder:
    """One differential cylinder with its valve and friction; equations in the module's docstring."""

    bore: Annotated[float, Unit("m"), "piston diameter", positive]
    rod: Annotated[float, Unit("m"), "rod diameter", nonnegative]
    stroke: Annotated[float, Unit("m"), "piston travel s", positive]
    V_a0: Annotated[float, Unit("m^3"), "dead volume, piston side", nonnegative] = 0.0
    V_b0: Annotated[float, Unit("m^3"), "dead volume, rod side", nonnegative] = 0.0
    c_i: Annotated[float, Unit("m^3/(s Pa)"), "internal leakage", nonnegative] = 0.0
    c_e: Annotated[float, Unit("m^3/(s Pa)"), "external leakage of each chamber", nonnegative] = 0.0
    valve: Valve = Valve()
    friction: Friction = CoulombViscous()
    walls: Walls | None = None

    def __post_init__(self):
        check_bounds(self)
        if self.rod >= self.bore:
            raise InputError(f"rod: {self.rod} m is not thinner than the bore, {self.bore} m")

    @property
    def A_a(self):
        """Piston area, m²."""
        return pi / 4 * self.bore**2

    @property
    def A_b(self):
        """Annulus area, m²."""
        return pi / 4 * (self.bore**2 - self.rod**2)

    def force(self, p_a, p_b):
        """f_p (79), N, positive when it pushes the rod out."""
        return self.A_a * p_a - self.A_b * p_b

    def volumes(self, x):
        """V_a, V_b [m³] of the oil at piston position x, hoses included."""
        V_a = self.V_a0 + self.A_a * x
        V_b = self.V_b0 + self.A_b * (self.stroke - x)
        if self.walls is None:
            return V_a, V_b
        return V_a + self.walls.V_ha, V_b + self.walls.V_hb

    def moduli(self, oil: Oil, x, p_a, p_b):
        """B_a, B_b [Pa]: of the oil at these pressures with hoses and tube in series."""
        β_a, β_b = oil.stiffness(p_a), oil.stiffness(p_b)
        if self.walls is None:
            return β_a, β_b
        return self._in_series(x, β_a, β_b)

    def _in_series(self, x, β_a, β_b):
        V_a, V_b = self.volumes(x)
        walls = self.walls
        return walls.modulus(β_a, V_a, walls.V_ha), walls.modulus(β_b, V_b, walls.V_hb)

    def shut_in(self, oil: Oil, x):
        """h = A_a² B_a/(β V_a) + A_b² B_b/(β V_b) [m]: β h is the stiffness of the rod with both ports shut, without air."""
        V_a, V_b = self.volumes(x)
        if self.walls is None:
            return self.A_a * self.A_a / V_a + self.A_b * self.A_b / V_b
        B_a, B_b = self._in_series(x, oil.β, oil.β)
        return (self.A_a**2 * B_a / V_a + self.A_b**2 * B_b / V_b) / oil.β

    def leakage(self, p_a, p_b):
        """q_i (from a to b), q_ea, q_eb, m³/s."""
        return self.c_i * (p_a - p_b), self.c_e * p_a, self.c_e * p_b

    def pressure_rates(self, oil: Oil, x, xdot, p_a, p_b, Q_a, Q_b):
        """ṗ_a, ṗ_b (80), (81)."""
        V_a, V_b = self.volumes(x)
        B_a, B_b = self.moduli(oil, x, p_a, p_b)
        q_i, q_ea, q_eb = self.leakage(p_a, p_b)
        return (
            B_a / V_a * (Q_a - self.A_a * xdot - q_i - q_ea),
            B_b / V_b * (Q_b + self.A_b * xdot + q_i - q_eb),
        )

    def gains(self, oil: Oil, x, p_a, p_b):
        """g_a, g_b: what a flow into each chamber does to f_p/β."""
        V_a, V_b = self.volumes(x)
        B_a, B_b = self.moduli(oil, x, p_a, p_b)
        return self.A_a * B_a / (oil.β * V_a), self.A_b * B_b / (oil.β * V_b)

    def drift(self, oil: Oil, x, xdot, p_a, p_b):
        """h ẋ + ℓ: the part of −ḟ_p/β that needs no valve."""
        g_a, g_b = self.gains(oil, x, p_a, p_b)
        q_i, q_ea, q_eb = self.leakage(p_a, p_b)
        return (g_a * self.A_a + g_b * self.A_b) * xdot + g_a * (q_i + q_ea) + g_b * (q_i - q_eb)

    # ---- behind its valve -------------------------------------------------------------------------------------------
    def at_work(self, oil: Oil, pressures, spool, u, x, xdot, p_s, p_r) -> Work:
        """What it does at (p_a, p_b), spool states and voltage u, between supply p_s and return p_r."""
        p_a, p_b = pressures
        at = self.valve.spool(spool, u)
        Q_a, Q_b = self.valve.flows(at, p_a, p_b, p_s, p_r)
        return Work(
            *self.pressure_rates(oil, x, xdot, p_a, p_b, Q_a, Q_b),
            Q_a,
            Q_b,
            self.valve.supply_flow(at, p_a, p_b, p_s, p_r),
            self.valve.tank_flow(at, p_a, p_b, p_s, p_r),
            at,
        )

    def powers(self, oil: Oil, pressures, x, xdot, rubbing, work: Work, p_s, p_r) -> list:
        """W by `POWERS`, with the friction force `rubbing`; they add up to (f_p − f_f) ẋ."""
        p_a, p_b = pressures
        q_i, q_ea, q_eb = self.leakage(p_a, p_b)
        V_a, V_b = self.volumes(x)
        B_a, B_b = self.moduli(oil, x, p_a, p_b)
        supply = p_s * work.Q_s
        tank = p_r * work.Q_t
        ports = p_a * work.Q_a + p_b * work.Q_b
        leak = p_a * (q_i + q_ea) + p_b * (q_eb - q_i)
        squeeze_a = p_a * work.rate_a * V_a / B_a
        squeeze_b = p_b * work.rate_b * V_b / B_b
        return [
            supply,
            -tank,
            ports - supply + tank,
            -leak,
            -(squeeze_a + squeeze_b),
            -rubbing * xdot,
        ]

    # ---- at rest, and without load ----------------------------------------------------------------------------------
    def balanced(self, force, p_s, p_r) -> tuple[float, float]:
        """p_a, p_b with A_a p_a − A_b p_b = force, in the middle of the range that return and supply pressure allow.

        Raises InputError where that range is empty.
        """
        low = max(p_r, (self.A_a * p_r - force) / self.A_b)
        high = min(p_s, (self.A_a * p_s - force) / self.A_b)
        if low > high:
            raise InputError(
                f"a cylinder cannot carry the weight: it needs {force / 1e3:.4g} kN and has "
                f"{self.force(p_r, p_s) / 1e3:.4g} … {self.force(p_s, p_r) / 1e3:.4g} kN "
                f"between {p_r / 1e5:g} and {p_s / 1e5:g} bar",
                mend="raise the supply pressure, lower the payload or start elsewhere",
            )
        p_b = (low + high) / 2
        return (force + self.A_b * p_b) / self.A_a, p_b

    def speeds(self, drop: float) -> tuple[float, float]:
        """(extending, retracting) speed per volt of opening, m/(s V), both notches taking `drop` together, without load."""
        valve = self.valve
        out = drop / ((self.A_a / valve.c_p1) ** 2 + (self.A_b / valve.c_n2) ** 2)
        back = drop / ((self.A_b / valve.c_p2) ** 2 + (self.A_a / valve.c_n1) ** 2)
        return out**0.5, back**0.5
