"""The four-bar in its one coordinate, written out: closure, inertia and weight by the crank's angle.

k_2 = da_2/dz_1 = L_1 sin(a_1 − a_3)/(L_2 sin(a_3 − a_2)),  k_3 likewise; k_2', k_3' from the closure once more
M(z_1) z̈_1 + ½ M'(z_1) ż_1² + 𝒱'(z_1) = F_c ds/dz_1
M = m_1 L_1²/3 + m_2 (L_1² + L_1 L_2 k_2 cos(a_1 − a_2) + L_2² k_2²/3) + m_3 L_3² k_3²/3    uniform beams
𝒱 = g (m_1 ½ L_1 sin a_1 + m_2 (L_1 sin a_1 + ½ L_2 sin a_2) − m_3 ½ L_3 sin a_3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Pose(NamedTuple):
    """Directions a_2, a_3 of coupler and rocker at a crank angle, and their first two derivatives by it."""

    a_2: object
    a_3: object
    k_2: object
    k_3: object
    k_2p: object
    k_3p: object


def pose(p, z_1) -> Pose:
    """The pose of the four-bar `p`."""
    a_2, a_3 = p.pose(z_1)
    L_1, L_2, L_3 = p.L_1, p.L_2, p.L_3
    across, c = np.sin(a_3 - a_2), np.cos(a_3 - a_2)
    k_2 = L_1 * np.sin(z_1 - a_3) / (L_2 * across)
    k_3 = L_1 * np.sin(a_2 - z_1) / (L_3 * across)
    k_2p = (L_1 * np.cos(z_1 - a_3) + L_2 * k_2**2 * c + L_3 * k_3**2) / (L_2 * across)
    k_3p = -(L_1 * np.cos(z_1 - a_2) + L_2 * k_2**2 + L_3 * k_3**2 * c) / (L_3 * across)
    return Pose(a_2, a_3, k_2, k_3, k_2p, k_3p)


def inertia(p, z_1, at: Pose):
    """M and ½ M', kg m²."""
    m_2, L_1, L_2 = p.m_2, p.L_1, p.L_2
    c, s, rocker = np.cos(z_1 - at.a_2), np.sin(z_1 - at.a_2), p.m_3 * p.L_3**2 / 3.0
    M = p.m_1 * L_1**2 / 3.0 + rocker * at.k_3**2
    M = M + m_2 * (L_1**2 + L_1 * L_2 * at.k_2 * c + L_2**2 * at.k_2**2 / 3.0)
    bent = 0.5 * L_1 * L_2 * (at.k_2p * c - at.k_2 * (1.0 - at.k_2) * s)
    slope = m_2 * (bent + L_2**2 * at.k_2 * at.k_2p / 3.0) + rocker * at.k_3 * at.k_3p
    return M, slope


def potential(p, z_1, at: Pose):
    """𝒱 [J]."""
    crank, rocker = 0.5 * p.m_1 * p.L_1 * np.sin(z_1), 0.5 * p.m_3 * p.L_3 * np.sin(at.a_3)
    coupler = p.m_2 * (p.L_1 * np.sin(z_1) + 0.5 * p.L_2 * np.sin(at.a_2))
    return p.g * (crank - rocker + coupler)


def weight(p, z_1, at: Pose):
    """𝒱' [N m]."""
    crank = 0.5 * p.m_1 * p.L_1 * np.cos(z_1)
    rocker = 0.5 * p.m_3 * p.L_3 * at.k_3 * np.cos(at.a_3)
    coupler = p.m_2 * (p.L_1 * np.cos(z_1) + 0.5 * p.L_2 * at.k_2 * np.cos(at.a_2))
    return p.g * (crank - rocker + coupler)


def required_force(p, z_1, ż_1, z̈_1):
    """F_c that moves the bars so, N."""
    at = pose(p, z_1)
    M, slope = inertia(p, z_1, at)
    return (M * z̈_1 + slope * ż_1**2 + weight(p, z_1, at)) / p.lever(z_1)


def rhs(p, x, u) -> list:
    """ẋ of the four-bar with its circuit."""
    z_1, ż_1 = x[:2]
    at, lever, s = pose(p, z_1), p.lever(z_1), p.length(z_1)
    M, slope = inertia(p, z_1, at)
    sdot = lever * ż_1
    torque = p.circuit.force(x[2:], s, sdot) * lever - weight(p, z_1, at) - slope * ż_1**2
    return [ż_1, torque / M, *p.circuit.rates(x[2:], s, sdot, u)]
