"""Micro-valve whose sleeve rides on the carriage, and the passive distributor that the carriage moves.

    Q_e = c f_w 2π r_tig x q(P_s/2 − sgn(x) ζ),  x = X − E,  c = C_d √(2/ρ)                 (9), (23), the sign of x added

2ζ is the pressure difference across the carriage, f_w the part of the spool's circumference that is window, q the
regularised root. The distributor breaks before it makes. With the smoothstep S over the width w:

    to the cylinder   port 2 → A: S((E − E_d)/w),         port 1 → B: S((−E − E_d)/w)
    to the intake     port 2: 1 − S((E − E_d + w)/w),     port 1: 1 − S((−E − E_d + w)/w)

so that within |E| < E_d − w both ports recirculate and the cylinder is blocked, and at |E| = E_d the delivering port is shut.

Source: [Alfayad16] eqs (9), (15), (23).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Annotated, NamedTuple, final

import numpy as np

from plants.components.orifice import root
from plants.components.transition import smoothstep
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, fraction, positive


@final
@dataclass(frozen=True)
class MicroValve:
    """Valve of the carriage; equations in the module's docstring."""

    r_tig: Annotated[float, Unit("m"), "radius of the spool", positive] = 2.5e-3
    f_w: Annotated[float, Unit("1"), "window, as a part of the circumference", fraction] = 0.18
    P_s: Annotated[float, Unit("Pa"), "supply pressure", positive] = 10e5
    width: Annotated[
        float, Unit("Pa"), "pressure drop over which the root is regularised", positive
    ] = 1e3

    def __post_init__(self):
        check_bounds(self)

    def gain(self, c):
        """dQ_e/dx per root of pressure, c f_w 2π r_tig."""
        return c * self.f_w * 2 * pi * self.r_tig

    def flow(self, c, x, ζ):
        """Q_e, m³/s, at the opening x and the half pressure difference ζ."""
        P = self.P_s / 2
        opened = root(P - ζ, self.width)
        back = root(P + ζ, self.width)
        return self.gain(c) / 2 * (x * (opened + back) + np.abs(x) * (opened - back))


class Ways(NamedTuple):
    """Open fractions of the distributor: port 2 to A, port 1 to B, ports 1 and 2 to the intake."""

    A: object
    B: object
    intake_1: object
    intake_2: object


@final
@dataclass(frozen=True)
class Distributor:
    """Passive distributor; equations in the module's docstring."""

    E_d: Annotated[float, Unit("m"), "eccentricity at which the cylinder is reached", positive] = (
        4e-6
    )
    w: Annotated[float, Unit("m"), "travel over which a way opens or shuts", positive] = 2e-6

    def __post_init__(self):
        check_bounds(self)
        if self.w >= self.E_d:
            raise InputError(f"w: {self.w:g} m does not fit into the overlap E_d = {self.E_d:g} m")

    def ways(self, E) -> Ways:
        """Share of each port that the valve opens at eccentricity E of the ring."""
        out = (E - self.E_d) / self.w
        back = (-E - self.E_d) / self.w
        return Ways(
            smoothstep(out),
            smoothstep(back),
            1.0 - smoothstep(back + 1.0),
            1.0 - smoothstep(out + 1.0),
        )

    def edges(self) -> tuple[float, ...]:
        """Eccentricities at which a way starts or ends to open."""
        one = (self.E_d - self.w, self.E_d, self.E_d + self.w)
        return (*(-e for e in reversed(one)), *one)
