"""Sizes of a throttled circuit: areas, flow constants, volumes and compliances, stroke, what it bears, how fast it is.

    A_2 = π/4 d²,   A_3 = π/4 (d² − d_r²)
    V_k/B_ek = V_k/B_oil + V_hk/B_h + A_k l_k/B_c                                                           (14)
    l_2 = l_20 + s − s_0,   l_3 = l_30 − s + s_0

Source: [Jaiswal21] eqs (14)–(18).
"""

from __future__ import annotations

from math import pi

from plants.components.circuit_signals import CircuitSignals
from plants.drives.contract import Sizes


class CircuitSizes(CircuitSignals):
    """What follows from the fields of `ThrottledCircuit` alone."""

    @property
    def A_2(self):
        """Area of the piston, m²."""
        return pi / 4 * self.bore**2

    @property
    def A_3(self):
        """Area of the annulus, m²."""
        return pi / 4 * (self.bore**2 - self.rod**2)

    @property
    def C_vd(self):
        """Flow constant of the valve, m³/(s V √Pa) (17)."""
        return self.Q_n / (self.U_max * self.Δp_n**0.5)

    @property
    def C_vt(self):
        """Flow constant of the throttle (16), m³/(s √Pa)."""
        return self.C_d * pi / 4 * self.d_t**2 * (2.0 / self.ρ) ** 0.5

    @property
    def limit(self):
        """Largest U_ref, both ways, V."""
        return self.U_max

    @property
    def range(self):
        """Shortest and longest distance of the pins, m."""
        return self.s_0 - self.l_20 + self.l_2min, self.s_0 + self.l_30 - self.l_3min

    @property
    def stroke(self):
        """Way of the piston, m."""
        return self.l_20 + self.l_30 - self.l_2min - self.l_3min

    def bears(self, line=None):
        """Least and greatest force at rest, N: one side at the pump's pressure, the other at the tank's."""
        return self.A_2 * self.p_T - self.A_3 * self.p_P, self.A_2 * self.p_P - self.A_3 * self.p_T

    def bears_by(self, line=None) -> str:
        return f"{self.p_T / 1e5:g} and {self.p_P / 1e5:g} bar"

    @property
    def velocity_gain(self):
        """ṡ per volt while the cylinder is held by no force, extending and retracting averaged, m/(s V)."""
        r = self.A_3 / self.A_2
        drop = (self.p_P - self.p_T) ** 0.5
        return 0.5 * self.C_vd * drop / self.A_2 * (1.0 + r**0.5) / (1.0 + r**3) ** 0.5

    def velocity_gain_on(self, line):
        return self.velocity_gain

    def sizes(self, line=None) -> Sizes:
        """What is large for this circuit: the pressure of its own pump, and what follows from it."""
        return Sizes(
            self.p_P,
            "pressure of the pump",
            self.p_P * self.A_2 * self.stroke,
            self.p_P * self.A_3,
            self.stroke,
            self.velocity_gain * self.limit,
        )

    def volumes(self, s):
        """V_1, V_2, V_3 [m³] at a distance s of the pins."""
        return (
            self.V_h1,
            self.V_h2 + self.A_2 * (self.l_20 + s - self.s_0),
            self.V_h3 + self.A_3 * (self.l_30 - s + self.s_0),
        )

    def compliances(self, s):
        """V_k/B_ek [m³/Pa] (14)."""
        hose = 1.0 / self.B_oil + 1.0 / self.B_h
        tube = 1.0 / self.B_oil + 1.0 / self.B_c
        return (
            self.V_h1 * hose,
            self.V_h2 * hose + self.A_2 * (self.l_20 + s - self.s_0) * tube,
            self.V_h3 * hose + self.A_3 * (self.l_30 - s + self.s_0) * tube,
        )
