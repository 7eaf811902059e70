"""The verdict on a supplied certificate: the level that the box allows, the level of the ball, and the search between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import final

import numpy as np

from workbench.verification.linear.data_margin import NEUTRAL, borne
from workbench.verification.rigorous.motion import Motion
from workbench.verification.rigorous.paving import faces, least
from workbench.verification.rigorous.supplied_search import BATCH, Search
from workbench.verification.verdict import Assumption, Verdict

CHANGES = (1e-6, 1e-3)  # relative changes of the data that are tried beside NEUTRAL
SOURCE = "interval branch and bound, outward rounding"


@final
class Judge(Search):
    """Decides one question."""

    def verdict(self, what: str, text: str, level: float | None) -> Verdict:
        """Whether V, called `what`, proves that starts on the box, called `text`, reach the ball's level."""
        say = partial(self._said, _claim(self.motion, self.n, what, text, level))
        refused = self._centre_is_zero(say)
        if refused is not None:
            return refused
        γ = self._edge_level() if level is None else float(level)
        refused = self._level_is_inside(say, γ, level is not None)
        if refused is not None:
            return refused
        m = self._ball_level()
        if not m < γ:
            return say(
                None,
                f"V reaches up to {m:.6g} from the ball, not below the level {γ:.6g}: smaller ball, larger box",
                ball=m,
                level=γ,
            )
        return self._searched(say, γ, m, top=γ if level is not None else np.inf)

    def _notes(self) -> tuple[Assumption, ...]:
        """Between which ends everything that varies stays, and where all other inputs do."""
        notes = tuple(
            Assumption(f"{n} stays in [{a:.6g}, {b:.6g}]", None)
            for n, a, b in zip(self.motion.varying, self.low[self.n :], self.high[self.n :])
        )
        if self.motion.held:  # disturbances, references, noise: zero unless said otherwise
            still = ", ".join(f"{n} = {v:.6g}" for n, v in self.motion.held.items())
            notes += (Assumption(f"inputs stay at {still}", None),)
        return notes

    def _said(self, claim: str, holds: bool | None, worst: str, **data) -> Verdict:
        return Verdict(
            "supplied-certificate",
            claim,
            holds,
            None if holds is None else "proof",
            worst=worst,
            assumptions=self._notes(),
            source=SOURCE,
            data=data,
        )

    def _centre_is_zero(self, say: Callable[..., Verdict]) -> Verdict | None:
        """The refusal where V is not 0 at the centre."""
        a, b, _ = self.motion.V.plain(
            *(np.array([[*self.c, *e[self.n :]]]) for e in (self.low, self.high))
        )
        if not (a[0] > 0 or b[0] < 0):
            return None
        return say(
            False,
            f"V at the centre is not 0: between {a[0]:.6g} and {b[0]:.6g}",
            at=self._point(self.c),
        )

    def _edge_level(self) -> float:
        """The largest level that the boundary of the box is proven to allow."""
        edge = least(self.motion.V, *faces(self.low, self.high, self.n), budget=self.budget // 4)
        if self.motion.curved:
            room = np.minimum(self.high[: self.n] - self.c, self.c - self.low[: self.n])
            around = self.motion.curved[0].outside(self.low, self.high, self.c, room * (1 - 1e-15))
            edge = max(edge, around)
        # A sampled loop must also stay in the box between samples, which what starts on its very edge cannot be shown to.
        return edge - (1e-9 if self.motion.period is None else 1e-3) * abs(edge)

    def _level_is_inside(
        self, say: Callable[..., Verdict], γ: float, stated: bool
    ) -> Verdict | None:
        """The refusal where {V ≤ γ} reaches the boundary of the box, or no level is left inside it."""
        if stated:
            reached, x = self._reached(γ)
            if reached is not False:
                return say(
                    False if reached else None,
                    f"{{V ≤ {γ:.6g}}} {'reaches' if reached else 'may reach'} the boundary of "
                    f"the box at {self._words(x)}",
                    at=self._point(x),
                    level=γ,
                )
        if γ > 0:
            return None
        found, x = self._reached(0.0)
        return say(
            False if found else None,
            f"V {'≤ 0' if found else 'is not shown positive'} on the boundary of the box"
            + (f" at {self._words(x)}" if found else ""),
            at=self._point(x) if found else {},
            level=γ,
        )

    def _searched(self, say: Callable[..., Verdict], γ: float, m: float, top: float) -> Verdict:
        """The verdict of the search over the set between the ball, on which V is at most m, and {V ≤ γ}."""
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
            x, words = found
            return say(False, f"{words} at {self._words(x)}", at=self._point(x), **data)
        lows, highs = found
        left = [
            {n: [float(a), float(b)] for n, a, b in zip(self.labels, lo, hi)}
            for lo, hi in zip(lows[:8], highs[:8])
        ]
        one = self._words((lows[0] + highs[0]) / 2)
        return say(
            None, f"{len(lows)} sub-boxes left of {used}, one around {one}", left=left, **data
        )

    def _more(self, top: float, γ: float, used: int) -> float:
        """The largest of a few relative changes of the data for which the search still succeeds with twice the boxes."""
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


def _claim(motion: Motion, n: int, what: str, text: str, level: float | None) -> str:
    """What is asked, as a sentence."""
    region = (text if n < 4 else f"a box of {n} states") + " minus the ball"
    region += "" if level is None else f", where V ≤ {level:.6g}"
    name = what if len(what) <= 60 else "the V supplied"
    change = "V̇" if motion.period is None else "ΔV"
    claim = f"{name} > 0 and {change} < 0 on {region}; its region is attracted to the ball's level"
    if motion.held:  # references, disturbances, noise
        claim += ", while other inputs stay as stated"
    return claim
