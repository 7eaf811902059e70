"""Bounds on a whole box at once, by second derivatives: where branch and bound is slow, near a minimum, in many dimensions.

    g(x) = g(c) + ∇g(c)·d + ½ dᵀH(ξ)d,   d = x − c,   H(ξ) within an enclosure of the Hessian on the box

With s² = Σ(d_i/r_i)² and μ diag(1/r_i²) ⪯ H ⪯ M diag(1/r_i²) for every H enclosed, e = |g(c)|, k = Σ r_i |∂_i g(c)|:

    g ≥ ½μ − k − e  where s ≥ 1 (for μ ≥ k),     g ≤ ½M + k + e  where s ≤ 1

Asked only where no switch of the expression is undecided on the box, so that g has a second derivative. Source: [Moore09]
(enclosures).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import casadi as ca
import numpy as np

from workbench.numerics.intervals.enclosure import box
from workbench.numerics.intervals.rules import Box
from workbench.verification.rigorous.balls import Ball, definite_ball
from workbench.verification.rigorous.lifting import lift


@final
class Curvature:
    """g over z = (n states, what varies), with further symbols `fixed` in the boxes `values`."""

    def __init__(self, z: ca.SX, n: int, g: ca.SX, fixed: ca.SX, values: Sequence[Box]):
        self.n, self.values = n, values
        self.lifted = own = lift(ca.vertcat(z, fixed), g)
        slope = ca.gradient(own.expression, z)[:n]
        self.first = own.function(own.expression, slope)
        self.second = own.function(ca.vec(ca.jacobian(slope, z)[:, :n]))
        self.marks = own.function(ca.vertcat(ca.SX(0, 1), *own.steps, *own.kinks))
        self.domains = own.function(ca.vertcat(ca.SX(0, 1), *own.domains))

    def outside(self, low, high, centre, radii, sign: float = 1.0) -> float:
        """A proven lower bound of sign·g on the box (bounds of states and of what varies) where s ≥ 1; −∞ where there is none."""
        H, e, k = self._enclosed(low, high, centre, radii)
        μ = -np.inf if H is None else self._largest(H.scaled(sign), radii)
        return (
            (0.5 * μ - (e + k) * (1 + 1e-12)) * (1 - 1e-12)
            if μ > k and 0.5 * μ > e + k
            else -np.inf
        )

    def inside(self, low, high, centre, radii) -> float:
        """A proven upper bound of g where s ≤ 1; ∞ where there is none."""
        H, e, k = self._enclosed(low, high, centre, radii)
        M = np.inf if H is None else -self._largest(H.scaled(-1.0), radii)
        return (0.5 * max(M, 0.0) + e + k) * (1 + 1e-12)

    def bends(self, low, high, centre) -> np.ndarray:
        """Directions in which g may change its sign, one a row: eigenvectors of its Hessian at the centre. Nothing proven."""
        H, _, _ = self._enclosed(
            np.concatenate([centre, low[self.n :]]),
            np.concatenate([centre, high[self.n :]]),
            centre,
            np.ones(self.n),
        )
        if H is None:
            return np.zeros((0, self.n))
        r = (high - low)[: self.n] / 2
        return np.linalg.eigh((H.mid + H.mid.T) / 2 * np.outer(r, r))[1].T * r

    @staticmethod
    def _largest(H: Ball, radii) -> float:
        """A number μ with H ⪰ μ diag(1/r²) for every H of the ball, close to the largest; −∞ where none was shown."""
        r = np.asarray(radii)
        own = np.linalg.eigvalsh((H.mid + H.mid.T) / 2 * np.outer(r, r))
        wide = float(np.abs(H.rad * np.outer(r, r)).sum(axis=1).max()) + 1e-12 * float(
            np.abs(own).max()
        )
        for back in (1e-6, 1e-3, 0.1, 0.5, 0.9):
            μ = own[0] - back * abs(own[0]) - wide * min(1.0, 10 * back)
            if definite_ball(H - np.diag(μ / r**2)):
                return float(μ - 1e-12 * abs(μ))
        return -np.inf

    def _enclosed(self, low, high, centre, radii):
        """(Hessian or None, e, k) of the module's docstring."""
        n = self.n
        none = (None, np.inf, np.inf)
        ask = lambda f, a, b: self.lifted.enclose(
            f, [*(box(x, y) for x, y in zip(a, b)), *self.values]
        )
        if not all(m.low[0] == m.high[0] for m in ask(self.marks, low, high)):
            return none
        found = ask(self.second, low, high)
        at = ask(self.first, np.concatenate([centre, low[n:]]), np.concatenate([centre, high[n:]]))
        if not all(
            m.sure[0] and np.isfinite([m.low[0], m.high[0]]).all()
            for m in (*ask(self.domains, low, high), *found, *at)
        ):
            return none
        H = Ball.between(*(np.array([m[side][0] for m in found]).reshape(n, n) for side in (0, 1)))
        size = np.array([max(-m.low[0], m.high[0]) for m in at])
        return H, float(size[0]), float(size[1:] @ np.asarray(radii)) * (1 + 1e-12)
