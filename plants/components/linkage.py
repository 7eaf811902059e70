"""The closed chain of a revolute segment: two links, three passive joints, one cylinder.

With d = x_j + x_j0 (pin to pin), c = cos q_j, s = sin q_j:

    d        = √(L² + L₁² + 2 L L₁ c)                                             (18)
    cos q_j1 = (L + L₁ c)/d,   sin q_j1 = L₁ s/d
    cos q_j2 = (L₁ + L c)/d,   sin q_j2 = L s/d,   q_j1 + q_j2 = q_j
    dx/dq    = −L₁ sin q_j2,   dq_j1/dq = L₁ cos q_j2/d

This form has no arccos and holds on both sides of q_j = 0, where (19), (20) of [Petrovic22] take the wrong branch for
q_j > 0. sin q_j2 = 0 (the three pins in line) is a true pole of (68): the cylinder then has no lever arm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Closure(NamedTuple):
    """Geometry of the closed chain at one q_j."""

    L: object
    L1: object
    c: object
    s: object
    d: object  # pin-to-pin length x_j + x_j0
    c1: object
    s1: object
    c2: object
    s2: object

    @property
    def lever(self):
        """dx_j/dq_j (21), m/rad: the cylinder's lever arm."""
        return -self.L1 * self.s2

    @property
    def swing(self):
        """dq_j1/dq_j."""
        return self.L1 * self.c2 / self.d

    def rates(self, qd):
        """ẋ_j, q̇_j1 for q̇_j = qd (linear in qd, so they serve required rates too)."""
        return self.lever * qd, self.swing * qd

    def accelerations(self, qd, rate, acceleration):
        """d/dt of `rates(rate)` along the true motion q̇_j = qd, with d(rate)/dt = acceleration: ẍ_j, q̈_j1."""
        xd, q1d = self.rates(qd)
        q2d = qd - q1d
        lever_dot = -self.L1 * self.c2 * q2d
        swing_dot = -self.L1 * (self.s2 * q2d + self.c2 * xd / self.d) / self.d
        return (
            self.lever * acceleration + lever_dot * rate,
            self.swing * acceleration + swing_dot * rate,
        )


def close(L, L1, q) -> Closure:
    """Closed chain with link lengths L, L₁ at joint angle q_j."""
    c = np.cos(q)
    s = np.sin(q)
    d = np.sqrt(L**2 + L1**2 + 2 * L * L1 * c)
    return Closure(L, L1, c, s, d, (L + L1 * c) / d, L1 * s / d, (L1 + L * c) / d, L * s / d)


def angle_at(L, L1, d):
    """q_j in (−π, 0) at which the pin-to-pin length is d (the inverse of (18) on the branch of [Petrovic22])."""
    return -np.arccos((d**2 - L**2 - L1**2) / (2 * L * L1))
