"""The search behind a supplied certificate: V and its fall on a box minus a ball, box by box. See `supplied`."""

from __future__ import annotations

import numpy as np

from workbench.verification.rigorous.paving import ball_size, halved
from workbench.verification.rigorous.supplied_ground import Ground

BATCH = 2048
SHOTS = 200  # directions tried at random


class Search(Ground):
    """Branch and bound over the box minus the ball, and points that are tried before."""

    def _shots(self) -> np.ndarray:
        """Points tried before the search: along the directions in which V and V̇ bend, and at random, seeded."""
        n = self.n
        random = np.random.default_rng(0)
        ways = random.uniform(-1, 1, (SHOTS, n)) * (self.high - self.low)[:n] / 2
        for g in self.motion.curved or ():
            own = g.bends(self.low, self.high, self.c)
            ways = np.vstack([ways, own, -own])
        ways = np.vstack([ways * s for s in 0.5 ** np.arange(6)])
        vary = random.uniform(self.low[n:], self.high[n:], (len(ways), len(self.low) - n))
        return np.hstack([np.clip(self.c + ways, self.low[:n], self.high[:n]), vary])

    def _search(self, top: float, γ: float):
        """("proved" | "false" | "left", boxes used, counter-example or boxes left). top: boxes with V > top are exempt."""
        scale = self.high - self.low
        low = self.low[None, :]
        high = self.high[None, :]
        used = 0
        left = []
        total = np.prod(scale[scale > 0])
        done = 0.0
        while len(low):
            now = slice(-BATCH, None)
            later = slice(None, -BATCH)
            a = low[now]
            b = high[now]
            rest = (low[later], high[later])
            used += len(a)
            open_, weights = self._open(a, b, top, γ)
            example = self._example(a[open_], b[open_], top)
            if example:
                return "false", used, example
            done += float(np.prod((b - a)[~open_][:, scale > 0], axis=1).sum() / total)
            if self.progress:
                self.progress(min(done, 1.0), f"{used} sub-boxes")
            a = a[open_]
            b = b[open_]
            weights = weights[open_]
            tiny = ((b - a) <= 1e-9 * scale).all(axis=1) if len(a) else np.zeros(0, bool)
            left += list(zip(a[tiny], b[tiny]))
            if used >= self.budget and len(a) + len(rest[0]):
                return "left", used, (np.concatenate([a, rest[0]]), np.concatenate([b, rest[1]]))
            a, b = (
                halved(a[~tiny], b[~tiny], weights[~tiny], np.maximum(scale, 1e-300))
                if (~tiny).any()
                else (a[:0], b[:0])
            )
            low = np.concatenate([rest[0], a])
            high = np.concatenate([rest[1], b])
        if left:
            return "left", used, tuple(np.array(e) for e in zip(*left))
        return "proved", used, None

    def _open(self, low, high, top, γ):
        """Which boxes are not settled, and where to cut them."""
        open_ = ball_size(low, high, self.c, self.r)[1] > 1
        if self.core:
            open_ &= ~((low >= self.core[0]) & (high <= self.core[1])).all(axis=1)
        weights = (high - low) / (self.high - self.low + 1e-300)
        at = np.flatnonzero(open_)
        if not len(at):
            return open_, weights
        a, _, own = self.motion.V.over(low[at], high[at])
        need = ~(a > top)
        open_[at[~need]] = False
        at = at[need]
        a = a[need]
        own = own[need]
        if len(at):
            _, d, slope, way = self.motion.change(low[at], high[at])
            # A step may not leave the box from where V ≤ γ; beyond that level it is free to.
            fine = (a > 0) & (d < 0) & (self._stays(way) | (a > γ))
            open_[at[fine]] = False
            weights[at] = np.where((d < 0)[:, None], own, slope)
        return open_, weights

    def _example(self, low, high, top):
        """A midpoint outside the ball, with V ≤ top, where V > 0 or the fall provably fails."""
        if not len(low):
            return None
        m = low + (high - low) / 2
        m = m[ball_size(m, m, self.c, self.r)[0] > 1]
        if not len(m):
            return None
        a, b, _ = self.motion.V.plain(m, m)
        within = b <= top
        self.motion.bear(0.0)  # an example is one of the loop as it is
        down, _, _, _ = self.motion.change(m, m)
        self.motion.bear(self.change)
        for bad, words in (
            (within & (b <= 0), "V ≤ 0"),
            (within & (down >= 0) & np.isfinite(down), "V does not fall"),
        ):
            if bad.any():
                k = (
                    int(np.argmax(np.where(bad, down, -np.inf)))
                    if bad.sum() > 1
                    else int(np.argmax(bad))
                )
                return m[k], words
        return None
