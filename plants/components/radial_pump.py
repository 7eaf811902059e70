"""Radial piston pump with an eccentric ring: geometry, chambers, port plate, and their averages over a revolution.

Piston i of N, at the angle θ = φ + 2π i/N, φ̇ = ω, touches the ring (radius R_b, centre moved by E) at the distance L:

    R = √(R_b² − E² sin²θ),  L = R − E cos θ                                              (5)
    a = ∂L/∂E = −cos θ − E sin²θ/R,   b = ∂L/∂θ = E sin θ − E² sin θ cos θ/R,   L̇ = a Ė + b ω       (6)
    V = S_p (L − l_p − d),   (V/β) ṗ = q − S_p L̇ − k_p p                                  (14) with ṗ and its sign
    F_p = Σ S_p p a   along +E,     shaft torque = −Σ S_p p b                             virtual work, for (16)

    opening of port 1: S(sin θ/ε), of port 2: S(−sin θ/ε)                                 smoothstep S, (15)

Averages over a revolution with the pressures p_1, p_2 at the ports and p the delivery pressure:

    Q   = N S_p ω E/π                                       (8), its 2π mended: out of port 2 for E > 0
    ΔQ  = N ω/(2π) V_max/β (P_rp − p) − N/2 k_p p           decompression and leakage of the delivering half
    F_p = −(N S_p/4)(p_1 + p_2) E/R_b

Source: [Alfayad16] eqs (3)–(8), (14)–(16), with what is wrong there mended: only the delivering half counts in (3), ω/2π
in (8), the work-consistent force for (16).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Annotated, NamedTuple, final

import numpy as np

from plants.components.transition import smoothstep
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive


class Piston(NamedTuple):
    """One piston at an instant: sin θ, L, a = ∂L/∂E, b = ∂L/∂θ."""

    sin: object
    L: object
    a: object
    b: object


@final
@dataclass(frozen=True)
class RadialPump:
    """Pump of N micro-pistons; equations in the module's docstring."""

    S_p: Annotated[float, Unit("m^2"), "piston area", positive] = 0.197e-4
    R_b: Annotated[float, Unit("m"), "radius of the ring", positive] = 7.3e-3
    l_p: Annotated[float, Unit("m"), "piston length", positive] = 2.7e-3
    d: Annotated[float, Unit("m"), "shaft centre to bottom of the chamber", positive] = 4e-3
    r_rp: Annotated[float, Unit("m"), "radius of a port", positive] = 2e-3
    ω: Annotated[float, Unit("rad/s"), "speed of the shaft", positive] = 100 * pi
    P_rp: Annotated[float, Unit("Pa"), "pressure at the intake", nonnegative] = 10e5
    k_p: Annotated[float, Unit("m^3/(s Pa)"), "leakage of one piston", nonnegative] = 1e-14
    ε: Annotated[float, Unit("1"), "sine of the angle over which a port opens", positive] = 0.05
    N: Annotated[int, "number of pistons"] = 15

    def __post_init__(self):
        check_bounds(self)
        if self.R_b <= self.l_p + self.d:
            raise InputError(
                f"R_b: {self.R_b:g} m leaves no chamber; it must exceed l_p + d = {self.l_p + self.d:.6g} m"
            )
        if self.N < 1:
            raise InputError(f"N: {self.N} pistons; at least one is needed")

    @property
    def A_0(self):
        """Area of an open port, m²."""
        return pi * self.r_rp**2

    def pistons(self, φ, E) -> list[Piston]:
        """Geometry (5), (6) of all pistons with the shaft at φ, rad."""
        s = np.sin(φ)
        c = np.cos(φ)
        found = []
        for i in range(self.N):
            ahead = 2 * pi * i / self.N
            sin_θ = s * cos(ahead) + c * sin(ahead)
            cos_θ = c * cos(ahead) - s * sin(ahead)
            R = np.sqrt(self.R_b**2 - (E * sin_θ) ** 2)
            found.append(
                Piston(
                    sin_θ,
                    R - E * cos_θ,
                    -cos_θ - E * sin_θ**2 / R,
                    E * sin_θ - E * E * sin_θ * cos_θ / R,
                )
            )
        return found

    def volume(self, L):
        """Oil in a chamber, m³."""
        return self.S_p * (L - self.l_p - self.d)

    def swept(self, piston: Piston, Edot):
        """S_p L̇, m³/s."""
        return self.S_p * (piston.a * Edot + piston.b * self.ω)

    def openings(self, piston: Piston):
        """Open fraction of port 1 and of port 2."""
        return smoothstep(piston.sin / self.ε), smoothstep(-piston.sin / self.ε)

    def force(self, pistons, p):
        """F_p on the ring along +E, N, from the chamber pressures."""
        return self.S_p * sum(p_i * piston.a for p_i, piston in zip(p, pistons))

    def torque(self, pistons, p):
        """What the shaft must give, N m."""
        return -self.S_p * sum(p_i * piston.b for p_i, piston in zip(p, pistons))

    # ---- kinematic ripple: ideal pistons at the ports' pressures -----------------------------------------------------
    def delivery(self, pistons, Edot):
        """Oil displaced through port 1 and port 2 by the pistons on their side, m³/s."""
        ports = [0.0, 0.0]
        for piston in pistons:
            side = piston.sin > 0
            share = self.share(piston)
            turning = -self.S_p * self.ω * piston.b
            shifting = -self.S_p * Edot * piston.a
            ports[0] = ports[0] + np.where(side, turning, 0.0) + share * shifting
            ports[1] = ports[1] + np.where(side, 0.0, turning) + (1.0 - share) * shifting
        return ports

    def share(self, piston: Piston):
        """Port 1's part in a piston's pressure as it changes ports: 1 on its side, 0 on the other."""
        return smoothstep(0.5 * (1.0 + piston.sin / self.ε))

    def at_ports(self, pistons, p_1, p_2):
        """Chamber pressures of ideal pistons."""
        return [p_2 + self.share(piston) * (p_1 - p_2) for piston in pistons]

    # ---- averages over a revolution ----------------------------------------------------------------------------------
    def mean_flow(self, E):
        """Q, m³/s: out of port 2, into port 1."""
        return self.N * self.S_p * self.ω * E / pi

    def mean_loss(self, E, p, β):
        """ΔQ at the delivery pressure p, m³/s."""
        V_max = self.volume(self.R_b + np.abs(E))
        return self.N * self.ω / (2 * pi) * V_max / β * (self.P_rp - p) - self.N / 2 * self.k_p * p

    def mean_force(self, E, p_1, p_2):
        """F_p on the ring along +E, N."""
        return -self.N * self.S_p / 4 * (p_1 + p_2) * E / self.R_b
