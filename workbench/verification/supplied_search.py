"""The search behind a supplied certificate: V and its fall on a box minus a ball, box by box. See `supplied`."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import final

import numpy as np

from workbench.verification.data_margin import NEUTRAL, borne
from workbench.verification.motion import Motion
from workbench.verification.paving import ball_size, faces, halved, least
from workbench.verification.verdict import Assumption, Verdict

BATCH = 2048
CHANGES = (1e-6, 1e-3)  # relative changes of the data that are tried beside NEUTRAL
SHOTS = 200  # directions tried at random
PIECES = 6  # in which the range of what varies is cut
SOURCE = "interval branch and bound, outward rounding"


@final
class Judge:
    """One question: the motion, the box, the ball, and the numbers of the search."""

    def __init__(self, motion: Motion, names, limits, c, r, budget, progress):
        self.motion, self.names, self.c, self.r, self.budget, self.progress = (
            motion,
            names,
            c,
            r,
            budget,
            progress,
        )
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
            low, high = self.low.copy(), self.high.copy()
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
            a, b = low.copy(), high.copy()
            a[self.n :], b[self.n :] = (
                [c[k + side] for c, k in zip(cuts, choice)] for side in (0, 1)
            )
            yield a, b

    def verdict(self, what: str, text: str, level: float | None) -> Verdict:
        sampled = self.motion.period is not None
        region = (text if self.n < 4 else f"a box of {self.n} states") + " minus the ball"
        region += "" if level is None else f", where V ≤ {level:.6g}"
        what = what if len(what) <= 60 else "the V supplied"
        claim = f"{what} > 0 and {'ΔV' if sampled else 'V̇'} < 0 on {region}; its region is attracted to the ball's level"
        if self.motion.held:  # references, disturbances, noise
            claim += ", while other inputs stay as stated"
        notes = tuple(
            Assumption(f"{n} stays in [{a:.6g}, {b:.6g}]", None)
            for n, a, b in zip(self.motion.varying, self.low[self.n :], self.high[self.n :])
        )
        if self.motion.held:  # disturbances, references, noise: zero unless said otherwise
            still = ", ".join(f"{n} = {v:.6g}" for n, v in self.motion.held.items())
            notes += (Assumption(f"inputs stay at {still}", None),)
        say = lambda holds, worst, **data: Verdict(
            "supplied-certificate",
            claim,
            holds,
            None if holds is None else "proof",
            worst=worst,
            assumptions=notes,
            source=SOURCE,
            data=data,
        )
        a, b, _ = self.motion.V.plain(
            *(np.array([[*self.c, *e[self.n :]]]) for e in (self.low, self.high))
        )
        if a[0] > 0 or b[0] < 0:
            return say(
                False,
                f"V at the centre is not 0: between {a[0]:.6g} and {b[0]:.6g}",
                at=self._point(self.c),
            )
        if level is None:
            edge = least(
                self.motion.V, *faces(self.low, self.high, self.n), budget=self.budget // 4
            )
            if self.motion.curved:
                room = np.minimum(self.high[: self.n] - self.c, self.c - self.low[: self.n]) * (
                    1 - 1e-15
                )
                edge = max(edge, self.motion.curved[0].outside(self.low, self.high, self.c, room))
            # A sampled loop must also stay in the box between samples, which what starts on its very edge cannot be shown to.
            γ = edge - (1e-9 if not sampled else 1e-3) * abs(edge)
        else:
            γ = float(level)
            reached, x = self._reached(γ)
            if reached is not False:
                return say(
                    False if reached else None,
                    f"{{V ≤ {γ:.6g}}} {'reaches' if reached else 'may reach'} the boundary of "
                    f"the box at {self._words(x)}",
                    at=self._point(x),
                    level=γ,
                )
        if not γ > 0:
            found, x = self._reached(0.0)
            return say(
                False if found else None,
                f"V {'≤ 0' if found else 'is not shown positive'} on the boundary of the box"
                + (f" at {self._words(x)}" if found else ""),
                at=self._point(x) if found else {},
                level=γ,
            )
        m = self._ball_level()
        if not m < γ:
            return say(
                None,
                f"V reaches up to {m:.6g} from the ball, not below the level {γ:.6g}: smaller ball, larger box",
                ball=m,
                level=γ,
            )
        top = γ if level is not None else np.inf
        shots = self._shots()
        example = self._example(shots, shots, top)
        state, used, found = ("false", 0, example) if example else self._search(top, γ)
        data = {"level": γ, "ball": m, "boxes": used}
        if state == "proved":
            change = self._more(top, γ, used)
            proven = say(
                True,
                f"starts with V ≤ {γ:.6g} go to V ≤ {m:.6g}; {used} sub-box{'es' * (used != 1)}; "
                f"{borne(change)}",
                **data,
                change=change,
            )
            return replace(proven, margin=change, unit="1", limit=NEUTRAL)
        if state == "false":
            return say(
                False, f"{found[1]} at {self._words(found[0])}", at=self._point(found[0]), **data
            )
        lows, highs = found
        left = [
            {n: [float(a), float(b)] for n, a, b in zip(self.labels, lo, hi)}
            for lo, hi in zip(lows[:8], highs[:8])
        ]
        return say(
            None,
            f"{len(lows)} sub-boxes left of {used}, one around {self._words((lows[0] + highs[0]) / 2)}",
            left=left,
            **data,
        )

    def _more(self, top: float, γ: float, used: int) -> float:
        """The largest relative change of the data among a few for which the same search succeeds, with twice the boxes."""
        kept = self.budget, self.progress
        self.progress, most = None, NEUTRAL
        for self.change in CHANGES:
            self.motion.bear(self.change)
            self.core, self.budget = self._core(), 2 * used + BATCH
            if not self._ball_level() < γ or self._search(top, γ)[0] != "proved":
                break
            most = self.change
        self.budget, self.progress = kept
        self.change = NEUTRAL
        self.motion.bear(NEUTRAL)
        return most

    def _words(self, x) -> str:
        return ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.labels, x))

    def _point(self, x) -> dict:
        return {n: float(v) for n, v in zip(self.labels, x)}

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
            low, high = low[near], high[near]
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

    def _shots(self) -> np.ndarray:
        """Points tried before the search: along the directions in which V and V̇ bend, and at random, seeded."""
        n, random = self.n, np.random.default_rng(0)
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
        low, high, used, left = self.low[None, :], self.high[None, :], 0, []
        total = np.prod(scale[scale > 0])
        done = 0.0
        while len(low):
            now, later = slice(-BATCH, None), slice(None, -BATCH)
            a, b, rest = low[now], high[now], (low[later], high[later])
            used += len(a)
            open_, weights = self._open(a, b, top, γ)
            example = self._example(a[open_], b[open_], top)
            if example:
                return "false", used, example
            done += float(np.prod((b - a)[~open_][:, scale > 0], axis=1).sum() / total)
            if self.progress:
                self.progress(min(done, 1.0), f"{used} sub-boxes")
            a, b, weights = a[open_], b[open_], weights[open_]
            tiny = ((b - a) <= 1e-9 * scale).all(axis=1) if len(a) else np.zeros(0, bool)
            left += list(zip(a[tiny], b[tiny]))
            if used >= self.budget and len(a) + len(rest[0]):
                return "left", used, (np.concatenate([a, rest[0]]), np.concatenate([b, rest[1]]))
            a, b = (
                halved(a[~tiny], b[~tiny], weights[~tiny], np.maximum(scale, 1e-300))
                if (~tiny).any()
                else (a[:0], b[:0])
            )
            low, high = np.concatenate([rest[0], a]), np.concatenate([rest[1], b])
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
        at, a, own = at[need], a[need], own[need]
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
