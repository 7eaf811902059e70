"""The ground of a supplied certificate: the box, the ball in it, and proven bounds of V on their edges.

box   {low ≤ (x, varying inputs and parameters) ≤ high}      ball   {Σ ((x_i − c_i)/r_i)² ≤ 1}
"""

from __future__ import annotations

from itertools import product

import numpy as np

from workbench.verification.linear.data_margin import NEUTRAL
from workbench.verification.rigorous.motion import Motion
from workbench.verification.rigorous.paving import ball_size, faces, halved, least

PIECES = 6  # in which the range of what varies is cut


class Ground:
    """One question: the motion, the box, the ball, and the numbers of the search."""

    def __init__(self, motion: Motion, names, limits, c, r, budget, progress):
        self.motion, self.names = motion, names
        self.c, self.r = c, r
        self.budget, self.progress = budget, progress
        self.n = len(names)
        self.low, self.high = np.array([*limits, *motion.ranges], float).T
        self.labels = [*names, *motion.varying]
        self.change = NEUTRAL
        self.core = self._core()

    def _core(self):
        """(low, high) of the largest box found around the centre on which second derivatives settle everything; or None."""
        if not self.motion.curved:
            return None
        for share in 0.5 ** np.arange(9):
            low = self.low.copy()
            high = self.high.copy()
            low[: self.n], high[: self.n] = (
                self.c + share * (low[: self.n] - self.c),
                self.c + share * (high[: self.n] - self.c),
            )
            for pieces in (1, PIECES) if 0 < len(self.motion.varying) <= 3 else (1,):
                if all(self._bent(a, b) for a, b in self._parts(low, high, pieces)):
                    return low, high
        return None

    def _bent(self, low, high) -> bool:
        signs = zip(self.motion.curved, (1.0, -1.0))
        return all(g.outside(low, high, self.c, self.r, sign) > 0 for g, sign in signs)

    def _parts(self, low, high, pieces: int):
        """The box with the range of everything that varies cut into so many pieces."""
        cuts = [np.linspace(a, b, pieces + 1) for a, b in zip(low[self.n :], high[self.n :])]
        for choice in product(range(pieces), repeat=len(cuts)):
            a = low.copy()
            b = high.copy()
            a[self.n :], b[self.n :] = (
                [c[k + side] for c, k in zip(cuts, choice)] for side in (0, 1)
            )
            yield a, b

    def _near(self, low, high):
        return ball_size(low, high, self.c, self.r)[0] <= 1

    def _reached(self, γ):
        """(True, point) where V ≤ γ on the boundary; (False, None) when V > γ is proven on all of it; (None, a box left)."""
        low, high = faces(self.low, self.high, self.n)
        used = 0
        while used < self.budget // 4:
            used += len(low)
            m = low + (high - low) / 2
            b = self.motion.V.plain(m, m)[1]
            if b.min() <= γ:
                return True, m[b.argmin()]
            a, _, weights = self.motion.V.over(low, high)
            open_ = ~(a > γ)
            if not open_.any():
                return False, None
            low, high = halved(
                low[open_], high[open_], weights[open_], np.maximum(self.high - self.low, 1e-300)
            )
        return None, low[0]

    def _ball_level(self) -> float:
        """A proven upper bound of V on the ball and, sampled, of V after a step from inside it."""
        around = (
            np.array([[*(self.c - self.r), *self.low[self.n :]]]),
            np.array([[*(self.c + self.r), *self.high[self.n :]]]),
        )
        m = -least(self.motion.V, *around, keep=self._near, budget=self.budget // 8, sign=-1.0)
        if self.motion.period is None:
            return min(m, self.motion.curved[0].inside(self.low, self.high, self.c, self.r))
        low, high = around
        scale = self.high - self.low
        for _ in range(8):  # V⁺ = V + ΔV, bounded on a cover of the ball
            low, high = halved(low, high, (high - low) / scale, scale)
            near = self._near(low, high)
            low = low[near]
            high = high[near]
        _, b, _ = self.motion.V.over(low, high)
        _, d, _, way = self.motion.change(low, high)
        return (
            max(m, float(np.nextafter(b + d, np.inf).max())) if self._stays(way).all() else np.inf
        )

    def _stays(self, way):
        """Whether the states stay inside the box over the sample."""
        if way is None:
            return True
        return ((way[0] > self.low[: self.n]) & (way[1] < self.high[: self.n])).all(axis=1)
