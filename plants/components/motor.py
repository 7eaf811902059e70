"""Hydraulic motor on a gear: two chambers of constant volume behind a valve, between them a rotor that turns a joint.

    T_p   = D_i (p_a − p_b),   D_i = i D,   θ = i q                                       q: the joint's angle; θ: the shaft's
    V_a   = V,   V_b = V                                                                 oil of one side, its line included
    ṗ_a   = β(p_a)/V (Q_a − D_i q̇ − q_i − q_ea)
    ṗ_b   = β(p_b)/V (Q_b + D_i q̇ + q_i − q_eb)

These are the equations of `plants.components.two_chambers` with D_i, the volume that a radian of the joint sweeps, for both areas.
c_i is the leakage from side to side, c_e that of each side into the housing. Friction of motor, gear and bearing acts
at the joint: its law has N m, N m s/rad and rad/s in the places of N, N s/m and m/s. The rotor's inertia, i² times, is
part of the body that it turns.
Without a `friction` of its own it has none: the numbers that friction laws have by themselves are those of a cylinder.

Source: [Merritt67], valve-controlled motor, with both pressures in place of the load pressure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from plants.components.chamber import Oil
from plants.components.friction import Frictionless
from plants.components.friction.turning import Turning, about_a_joint
from plants.components.two_chambers import TwoChambers
from plants.components.valve import Valve
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive


@final
@dataclass(frozen=True)
class Motor(TwoChambers):
    """One motor with its valve and friction; equations in `plants.components.motor`."""

    what: ClassVar[str] = "a motor"
    unit: ClassVar[str] = "kN m"

    D: Annotated[float, Unit("m^3/rad"), "displacement of the shaft", positive]
    V: Annotated[float, Unit("m^3"), "oil of one side, its line included", positive]
    i: Annotated[float, Unit("1"), "turns of the shaft for one of the joint", positive] = 1.0
    c_i: Annotated[float, Unit("m^3/(s Pa)"), "internal leakage", nonnegative] = 0.0
    c_e: Annotated[
        float, Unit("m^3/(s Pa)"), "leakage of each side into the housing", nonnegative
    ] = 0.0
    valve: Valve = Valve()
    friction: Turning = Frictionless()

    def __post_init__(self):
        object.__setattr__(self, "friction", about_a_joint(self.friction))
        check_bounds(self)

    @property
    def A_a(self):
        """D_i, m³/rad."""
        return self.i * self.D

    @property
    def A_b(self):
        """D_i, m³/rad."""
        return self.i * self.D

    def volumes(self, x):
        """V_a, V_b, m³, at every angle."""
        return self.V, self.V

    def moduli(self, oil: Oil, x, p_a, p_b):
        """B_a, B_b [Pa]: of the oil at these pressures."""
        return oil.stiffness(p_a), oil.stiffness(p_b)

    def shut_in(self, oil: Oil, x):
        """h = 2 D_i²/V [m³/rad²]: β h is the stiffness of the joint with both ports shut, N m/rad, without air."""
        return 2.0 * self.A_a**2 / self.V
