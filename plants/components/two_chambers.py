"""Two chambers behind a four-way valve, with a piston or a rotor between them: what cylinders and motors have in common.

    f_p   = A_a p_a − A_b p_b                                                        (79)
    ṗ_a   = B_a/V_a (Q_a − A_a ẋ − q_i − q_ea)                                       (80) with dead volume and leakage
    ṗ_b   = B_b/V_b (Q_b + A_b ẋ + q_i − q_eb)                                       (81)
    q_i   = c_i (p_a − p_b),  q_ea = c_e p_a,  q_eb = c_e p_b

and in the form the control law inverts, with g_i = A_i B_i/(β V_i):

    ḟ_p   = β (u_f − h ẋ − ℓ),  u_f = g_a Q_a − g_b Q_b,  h = g_a A_a + g_b A_b,  ℓ = g_a (q_i + q_ea) + g_b (q_i − q_eb)

x is a position in m, A_i are areas and f_p a force in N; of a motor x is an angle in rad, A_i are displacements in m³/rad and f_p a
torque in N m.

Source: [Petrovic22] eqs (79)–(93); leakage beyond the paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from plants.components.chamber import Oil
from plants.components.friction import Friction
from plants.components.valve import Valve
from workbench.contract.errors import InputError

POWERS = ("supply", "tank", "throttling", "leakage", "compression", "friction")


class Work(NamedTuple):
    """Chambers behind their valve: ṗ_a, ṗ_b [Pa/s]; flows into the chambers, from the supply and to the tank [m³/s]; spool [V]."""

    rate_a: object
    rate_b: object
    Q_a: object
    Q_b: object
    Q_s: object
    Q_t: object
    spool: object


class TwoChambers(ABC):
    """See the module. In messages `what` names the part that bears a load, and `unit` is kN, or kN m of a motor."""

    what: ClassVar[str]
    unit: ClassVar[str]
    c_i: float
    c_e: float
    valve: Valve
    friction: Friction

    @property
    @abstractmethod
    def A_a(self): ...

    @property
    @abstractmethod
    def A_b(self): ...

    @abstractmethod
    def volumes(self, x):
        """V_a, V_b [m³] of the oil at position x."""

    @abstractmethod
    def moduli(self, oil: Oil, x, p_a, p_b):
        """B_a, B_b [Pa]."""

    @abstractmethod
    def shut_in(self, oil: Oil, x):
        """h: β h is the stiffness with both ports shut, without air."""

    def force(self, p_a, p_b):
        """f_p (79), positive when it pushes towards larger x."""
        return self.A_a * p_a - self.A_b * p_b

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

        Raises InputError where that range is empty, and where dry friction is more than the pressures can push.
        """
        self._check_friction(p_s, p_r)
        low = max(p_r, (self.A_a * p_r - force) / self.A_b)
        high = min(p_s, (self.A_a * p_s - force) / self.A_b)
        if low > high:
            raise InputError(
                f"{self.what} cannot carry the weight: it needs {force / 1e3:.4g} {self.unit} and has "
                f"{self.force(p_r, p_s) / 1e3:.4g} … {self.force(p_s, p_r) / 1e3:.4g} {self.unit} "
                f"between {p_r / 1e5:g} and {p_s / 1e5:g} bar",
                mend="raise the supply pressure, lower the payload or start elsewhere",
            )
        p_b = (low + high) / 2
        return (force + self.A_b * p_b) / self.A_a, p_b

    def _check_friction(self, p_s, p_r) -> None:
        """InputError for chambers that cannot overcome their own friction, either way."""
        most = min(self.force(p_s, p_r), -self.force(p_r, p_s))
        if not 0.0 < most <= self.friction.F_c:
            return
        raise InputError(
            f"friction.F_c: {self.friction.F_c / 1e3:.4g} {self.unit} of dry friction are more than {self.what} can push, "
            f"{most / 1e3:.4g} {self.unit} between {p_r / 1e5:g} and {p_s / 1e5:g} bar",
            mend="give the friction of its seals, a few per cent of that force; or leave friction out",
        )

    def speeds(self, drop: float) -> tuple[float, float]:
        """(forwards, backwards) speed per volt of opening, both notches taking `drop` [Pa] together, without load."""
        valve = self.valve
        out = drop / ((self.A_a / valve.c_p1) ** 2 + (self.A_b / valve.c_n2) ** 2)
        back = drop / ((self.A_b / valve.c_p2) ** 2 + (self.A_a / valve.c_n1) ** 2)
        return out**0.5, back**0.5
