"""Hydraulic cylinder: two chambers behind a valve, and a rod with friction.

    f_p, ṗ_a, ṗ_b, leakage: `plants.components.two_chambers`, (79)–(81)
    V_a   = V_a0 + A_a x + V_ha,   V_b = V_b0 + A_b (s − x) + V_hb
    V_i/B_i = V_i/β(p_i) + V_hi/B_h + (V_i − V_hi)/B_c                               oil, hose and tube in series; `Walls`

Without walls V_hi = 0 and B_i = β(p_i). Dead volumes V_a0, V_b0 are inside the tube; they may make the chambers longer than the
stroke.

Source: [Petrovic22] eqs (78)–(93); [Jaiswal21] eq. (14) for the walls; dead volume, leakage and cavitation beyond the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi
from typing import Annotated, ClassVar, final

from plants.components import sizes
from plants.components.chamber import Oil
from plants.components.friction import CoulombViscous, Friction
from plants.components.two_chambers import TwoChambers
from plants.components.valve import Valve
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive

SEALED = 0.08  # m, bore that the default numbers of friction laws belong to, [Petrovic22] table 1


@final
@dataclass(frozen=True)
class Walls:
    """Walls that stretch under pressure: hoses and tube, in series with the oil."""

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


def seal(bore: float) -> CoulombViscous:
    """Friction of the seals of a piston: what the law's own numbers, those of 80 mm, are per area.

    F_c is 8 bar on the piston, whatever its bore, and b grows alike.
    """
    usual = CoulombViscous()
    share = (bore / SEALED) ** 2
    return replace(usual, F_c=share * usual.F_c, b=share * usual.b)


@final
@dataclass(frozen=True)
class Cylinder(TwoChambers):
    """One differential cylinder with its valve and friction; equations in `plants.components.cylinder`."""

    what: ClassVar[str] = "a cylinder"
    unit: ClassVar[str] = "kN"

    bore: Annotated[float, Unit("m"), "piston diameter", sizes.length]
    rod: Annotated[float, Unit("m"), "rod diameter", nonnegative]
    stroke: Annotated[float, Unit("m"), "piston travel s", sizes.length]
    V_a0: Annotated[float, Unit("m^3"), "dead volume, piston side", nonnegative] = 0.0
    V_b0: Annotated[float, Unit("m^3"), "dead volume, rod side", nonnegative] = 0.0
    c_i: Annotated[float, Unit("m^3/(s Pa)"), "internal leakage", nonnegative] = 0.0
    c_e: Annotated[float, Unit("m^3/(s Pa)"), "external leakage of each chamber", nonnegative] = 0.0
    valve: Valve = Valve()
    friction: Annotated[
        Friction | None,
        "friction law, by name or with numbers; left out: that of a seal of this bore",
    ] = None
    walls: Walls | None = None

    def __post_init__(self):
        check_bounds(self)
        if self.friction is None:
            object.__setattr__(self, "friction", seal(self.bore))
        if self.rod >= self.bore:
            raise InputError(f"rod: {self.rod:g} m is not thinner than the bore, {self.bore:g} m")

    @property
    def A_a(self):
        """Piston area, m²."""
        return pi / 4 * self.bore**2

    @property
    def A_b(self):
        """Annulus area, m²."""
        return pi / 4 * (self.bore**2 - self.rod**2)

    def volumes(self, x):
        """V_a, V_b [m³] of the oil at piston position x, hoses included."""
        V_a = self.V_a0 + self.A_a * x
        V_b = self.V_b0 + self.A_b * (self.stroke - x)
        if self.walls is None:
            return V_a, V_b
        return V_a + self.walls.V_ha, V_b + self.walls.V_hb

    def moduli(self, oil: Oil, x, p_a, p_b):
        """B_a, B_b [Pa]: of the oil at these pressures with hoses and tube in series."""
        β_a = oil.stiffness(p_a)
        β_b = oil.stiffness(p_b)
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
