"""The rounds of a search: reaches that are enlarged to what the sets need, until the checker's inequalities hold at every sample.

What stages add grows faster than the reaches that are taken for granted. So these begin a little above those of the linear
loop, and are enlarged to what the sets need until they suffice, or nothing is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from workbench.verification.tube.blocks import LEAST, TURNS, Fits, crossed, filled, longer
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen, followed
from workbench.verification.tube.checker.samples import walked
from workbench.verification.tube.checker.section import constant, released
from workbench.verification.tube.laps import ball, balled, followed_by_constants
from workbench.verification.tube.paths import turning
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.progress import Share
from workbench.verification.tube.resumed import WORTH, Kept

ROUNDS = 12
SMALLER = 3
ROOM = 1.2  # by which reaches are first larger than those of the linear loop
MORE = 1.1  # and then than what was needed
CLOSE = 1.01  # by which the last reaches are larger than what is needed


@dataclass(frozen=True, eq=False)
class Ready:
    """What a tube is looked for with, whatever its starts: the nodes moved to where they repeat, the run's matrices, its rate."""

    question: Posed
    linear: np.ndarray
    rate: float
    course: dict
    worth: float = WORTH  # s of a round from which on the next one is kept

    def followed(self, c: Tube, watch: Any = None) -> Seen:
        """What comes of a tube around this run, whose course is known."""
        return followed(c, partial(walked, course=self.course), watch)


@dataclass(frozen=True, eq=False)
class Result:
    """A tube that the checker bears out, or the last that was tried, and the node where that one failed."""

    tube: Tube
    seen: Seen | None
    failed: int | None
    why: str = ""
    ready: Ready | None = None


def tiny(question: Posed) -> Tube:
    """The tube with next to no width."""
    c = question.tube
    size = np.full(c.states, 1e-12 * question.scale.min())
    size[c.section] = 1e-12 * question.scale
    own = size[c.section]
    moving = int((c.half > 0).sum())
    return replace(
        c,
        reach=np.broadcast_to(size, (len(c.z), c.stages + 1, c.states)),
        segments=np.zeros((len(c.z), len(own), moving)),
        balls=np.tile(np.diag(own), (len(c.z), 1, 1)),
    )


def sized(ready: Ready, part: float, progress: Share) -> Result:
    """The tube from this part of the starts whose reaches suffice, from one that has next to no width."""
    question = ready.question
    tube = question.tube
    asked = replace(tube, half=part * tube.half, fresh=part * tube.fresh)
    c = followed_by_constants(tiny(replace(question, tube=asked)), ready.linear)
    held = c.flow.still() & ~released(c) & ~constant(c) & turning(c)
    kept = Kept(asked, ready.worth)
    reached = kept.taken_up(c, ROUNDS)
    if reached is not None:
        return rounds(ready, held, *reached, kept, progress)
    first = widened(ready, c, held, progress)
    return first if isinstance(first, Result) else rounds(ready, held, 0, first, kept, progress)


def widened(ready: Ready, c: Tube, held: np.ndarray, progress: Share) -> Tube | Result:
    """The tube of the first round, out of what the samples of one with next to no width add; or why there is none."""
    c = balled(ready.question, c, ready.linear, ready.followed(c))
    fits = Fits(c)
    seen = ready.followed(c, fits.take)
    progress.step()
    if not seen.contracts < 1:
        return ended(ready, c, seen, "runs side by side do not come closer")
    nodes = every(c)
    c = fits.put(c, nodes)
    c = replace(c, reach=ROOM * seen.need + LEAST, σ=ball(seen, 0.0))
    c.balls[laps(c)] *= c.σ
    splits = crossed(seen, held, nodes)
    c = filled(replace(c, splits=splits), seen.need, ready.linear, held, ready.course)
    progress.step()
    return c


def ended(ready: Ready, c: Tube, seen: Seen, why: str) -> Result:
    """A search without a tube, at the node where its last one failed."""
    failed = len(c.z) - 1 if seen.failed is None else seen.failed
    return Result(c, seen, failed, why, ready)


def rounds(
    ready: Ready, held: np.ndarray, first: int, c: Tube, kept: Kept, progress: Share
) -> Result:
    """Reaches enlarged to what the sets need, from round `first` on, until they suffice."""
    for k in range(first, ROUNDS):
        kept.keep(k, c)
        fits = Fits(c)
        seen = ready.followed(c, fits.take)
        progress.step()
        if not np.isfinite(seen.need).all():
            return ended(ready, c, seen, "the tube is too wide to enclose a sample")
        if seen.failed is None and max(seen.enters, seen.returns) <= c.σ:
            return settled(c, seen, ready)
        needed = ball(seen, c.σ) if c.after[-1] >= 0 else c.σ
        if (largest(seen.need) > 1e6 * largest(c.reach)).any() or not np.isfinite(needed):
            return ended(ready, c, seen, "the tube grows without end")
        nodes = np.flatnonzero(laps(c) | ~(seen.share <= 1))
        c = fits.put(c, nodes, None if k < TURNS else seen.share)
        c.balls[laps(c)] *= needed / c.σ
        c = replace(c, reach=wider(c, seen), σ=needed, splits=crossed(seen, held, every(c)))
    return ended(ready, c, seen, "the tube grows with every round")


def every(c: Tube) -> np.ndarray:
    """Numbers of all nodes."""
    return np.arange(len(c.z))


def laps(c: Tube) -> np.ndarray:
    """Nodes of the part that repeats."""
    return (np.arange(len(c.z)) >= c.after[-1]) & (c.after[-1] >= 0)


def wider(c: Tube, seen: Seen) -> np.ndarray:
    """Reaches with more than what was needed, where that was too much or, within a lap, nearly so."""
    found = np.where(seen.need <= c.reach, c.reach, MORE * seen.need)
    found[laps(c)] = np.maximum(found, MORE * seen.need)[laps(c)]
    return found


def largest(reach: np.ndarray) -> np.ndarray:
    """Of every state over all nodes and stages: where it hardly moves rounding alone may be a million times more than before."""
    return reach.max(axis=(0, 1))


def settled(c: Tube, seen: Seen, ready: Ready) -> Result:
    """Around laps the reaches that are needed instead of those that suffice, where the checker bears them out, too."""
    if c.after[-1] < 0:
        return Result(c, seen, None, ready=ready)
    less = replace(c, reach=np.minimum(c.reach, CLOSE * seen.need + LEAST))
    for _ in range(SMALLER):
        found = ready.followed(less)
        if found.failed is None and max(found.enters, found.returns) <= less.σ:
            return Result(less, found, None, ready=ready)
        wider = np.maximum(less.reach, CLOSE * found.need)
        less = replace(longer(less, found.share), reach=np.minimum(c.reach, wider))
    return Result(c, seen, None, ready=ready)
