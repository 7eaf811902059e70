"""Oil in a chamber: stiffness with free air.

A volume V of oil holds the fraction `air` of free air at p_0. The air is compressed isothermally (p V_air constant),
the oil with its bulk modulus β, and the two share the pressure:

    1/β(p) = 1/β + air p_0/p²

so that the oil softens as its pressure falls, β(p) → 0 as p → 0, and no flow can pull a chamber below zero pressure in
finite time: with air, cavitation enters through the stiffness and needs no switch. Without air β(p) = β at every p, and
nothing stops a pressure from going negative.

Source: [Petrovic22] eqs (80), (81) for β; free air is the series stiffness of gas and liquid [Merritt67].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench.contract.parameters import Unit, check_bounds, fraction, positive

CAVITY = 1e4  # Pa, absolute
_FLOOR = 1e-12  # share of width², so that β(p) > 0 at any finite p


@final
@dataclass(frozen=True)
class Oil:
    """Hydraulic oil; equations in `plants.components.chamber`."""

    β: Annotated[
        float, Unit("Pa"), "bulk modulus without air, the reference β of the control law", positive
    ] = 800e6
    air: Annotated[float, Unit("1"), "volume fraction of free air at p_0", fraction] = 0.0
    p_0: Annotated[float, Unit("Pa"), "absolute pressure at which `air` is given", positive] = (
        101325.0
    )
    width: Annotated[
        float, Unit("Pa"), "pressure near zero over which p is kept positive", positive
    ] = 1.0

    def __post_init__(self):
        check_bounds(self)

    def stiffness(self, p):
        """β(p) [Pa] at absolute pressure p [Pa], positive for every p.

            β(p) = β / (1 + β air p_0/P²),   P = ½ (p + √(p² + w²))

        P is p kept positive over the width w: relative error w²/(4p²) for p ≫ w, P → w²/(4|p|) below zero.
        """
        w = self.width
        P = self._positive(p)
        return self.β / (1.0 + self.β * self.air * self.p_0 / (P * P + _FLOOR * w * w))

    @property
    def hollow(self) -> float:
        """Absolute pressure [Pa] below which a chamber is a cavity: 0; with air, which never lets it come so far, 0.1 bar."""
        return 0.0 if self.air == 0 else CAVITY

    def _positive(self, p):
        """P: ½(p + √(p² + w²)) without its cancellation at p < 0."""
        w = self.width
        return 0.5 * w * w / (np.sqrt(p * p + w * w) + np.abs(p)) + np.maximum(p, 0.0)

    def energy(self, p, surroundings):
        """Pressure work ∫ (s − p_s)/β(s) ds from p_s = `surroundings` to p, per volume of oil [J/m³]; absolute pressures.

            (p − p_s)²/(2β) + air p_0 [ln P + p_s/P + p_s w²/(12 P³) + w⁴/(64 P⁴)] between the P of p_s and of p

        by p = P − w²/(4P) in β(p); exact but for the floor far below zero.
        """
        k = 0.25 * self.width**2
        b = surroundings
        soft = lambda P: np.log(P) + b / P + b * k / (3 * P**3) + k * k / (4 * P**4)
        return (p - b) ** 2 / (2 * self.β) + self.air * self.p_0 * (
            soft(self._positive(p)) - soft(self._positive(b))
        )
