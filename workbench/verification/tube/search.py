"""The search for a tube: reaches in floats, until the checker's inequalities hold at every sample.

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
from workbench.verification.tube.checker.frame import FAST
from workbench.verification.tube.checker.judge import Seen, followed
from workbench.verification.tube.checker.samples import Rows, begun, walked
from workbench.verification.tube.checker.section import constant, released
from workbench.verification.tube.laps import NOTHING, ball, balled, followed_by_constants
from workbench.verification.tube.paths import fastest, longest, pathed, turning
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.progress import Share
from workbench.verification.tube.rate import rate

ROUNDS = 12
ROUGH = 30.0  # times what samples usually miss: those that miss more get finer steps
WEIGHS = 0.1  # share of the starts' envelope that they miss together, at which these steps are taken at once
FINER = 8
HOPELESS = 10.0  # |λ| h beyond which steps without polynomials near the run are not tried
NEWTON = 2
MOST_SUBSTEPS = 100
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


def searched(question: Posed, progress: Share) -> Result:
    """A tube, or where and why there is none: with polynomials near the run where modes are too fast for steps without."""
    speed = fastest(question.tube) * longest(question.tube)
    if not speed > HOPELESS:
        found = tried(closed(question), progress)
        if found.failed is None or not speed > FAST:
            return found
    question = closed(replace(question, tube=pathed(question.tube)))
    question = replace(question, tube=pathed(question.tube))
    rough = roughly(question)
    if not rough.any():
        return tried(question, progress)
    if not weighs(question, rough):
        found = tried(question, progress)
        if found.failed is None or not rough[found.failed]:
            return found
    return tried(refined(question, rough), progress)


def tried(question: Posed, progress: Share) -> Result:
    """A tube with the steps that the question has."""
    course: dict = {}
    linear = matrices(question, course)
    progress.step()
    c = question.tube
    if not np.isfinite(linear).all():
        k = int(np.argmax(~np.isfinite(linear).all(axis=(1, 2))))
        return Result(c, None, k, unbounded(c))
    with np.errstate(all="ignore"):
        moves = ~constant(c)[c.section]
        λ = rate(linear[:, moves][:, :, moves], c.after, c.T)
    if not λ > 0:
        return Result(c, None, len(linear) - 1, "runs side by side do not come closer")
    return sized(Ready(question, linear, λ, course), 1.0, progress)


def roughly(question: Posed) -> np.ndarray:
    """Nodes whose samples miss far more than most of them, as where the run crosses an edge, and those beside them."""
    missed = samples(tiny(question)).defect
    with np.errstate(all="ignore"):
        usual = np.median(missed, axis=0)
        rough = ~(missed <= ROUGH * usual + NOTHING * question.scale).all(axis=1)
    rough[1:] |= rough[:-1].copy()
    rough[:-1] |= rough[1:].copy()
    return rough


def weighs(question: Posed, rough: np.ndarray) -> bool:
    """Whether what these nodes miss is, at the end of the run, more than a share of how far starts ever get."""
    found = samples(tiny(question))
    M = found.M[:, -1, question.tube.section]
    E = begun(question.tube).G
    far = np.abs(E).sum(axis=1)
    for Mk in M:
        E = Mk @ E
        far = np.maximum(far, np.abs(E).sum(axis=1))
    left = np.zeros(len(far))
    whole = np.eye(len(far))
    for k in range(len(M) - 1, -1, -1):
        left += np.abs(whole) @ found.defect[k] * rough[k]
        whole = whole @ M[k]
    return bool((~(left <= WEIGHS * far))[far > NOTHING * question.scale].any())


def refined(question: Posed, rough: np.ndarray) -> Posed:
    """With finer steps from these nodes."""
    finer = np.where(rough, FINER, 1)
    question = replace(question, tube=pathed(replace(question.tube, finer=finer)))
    question = closed(question)
    return replace(question, tube=pathed(question.tube))


def closed(question: Posed) -> Posed:
    """The nodes that repeat moved to where they do: z_k + δ_k, δ_{k+1} = M_k δ_k, (1 − ΠM) δ = what the lap misses (Newton)."""
    moves = ~constant(question.tube)[question.tube.section]
    for _ in range(NEWTON):
        c = question.tube
        first = int(c.after[-1])
        if first < 0:
            return question
        found = samples(tiny(question), np.arange(first, len(c.z)))
        M = found.M[:, -1, c.section][:, moves][:, :, moves]
        missed = (found.centre - c.z[c.after[found.node]])[:, moves]
        if not np.isfinite(M).all() or not np.isfinite(missed).all():
            return question
        whole = np.eye(M.shape[-1])
        rest = np.zeros(M.shape[-1])
        with np.errstate(all="ignore"):
            for Mk, d in zip(M, missed):
                whole = Mk @ whole
                rest = Mk @ rest + d
        if not np.isfinite(whole).all() or not np.isfinite(rest).all():
            return question
        δ = np.linalg.lstsq(np.eye(len(whole)) - whole, rest, rcond=None)[0]
        z = c.z.copy()
        for k, Mk, d in zip(found.node, M, missed):
            z[k, moves] += δ
            δ = Mk @ δ + d
        question = replace(question, tube=replace(c, z=z))
    return question


def tiny(question: Posed) -> Tube:
    """The tube with next to no width."""
    c = question.tube
    size = np.full(c.states, 1e-12 * question.scale.min())
    size[c.section] = 1e-12 * question.scale
    own = size[c.section]
    moving = int((c.half > 0).sum())
    segments = np.zeros((len(c.z), len(own), moving + len(own)))
    segments[:, :, moving:] = np.diag(own)
    return replace(
        c,
        reach=np.broadcast_to(size, (len(c.z), c.stages + 1, c.states)),
        segments=segments,
        balls=np.zeros((len(c.z), len(own), len(own))),
    )


def samples(c: Tube, nodes: np.ndarray | None = None, course: dict | None = None) -> Rows:
    """All samples at once."""
    found = list(walked(c, nodes, course))
    names = Rows.__dataclass_fields__
    return Rows(**{name: np.concatenate([getattr(p, name) for p in found]) for name in names})


def matrices(question: Posed, course: dict) -> np.ndarray:
    """The derivative of every sample along the nominal run, in physical coordinates."""
    c = question.tube
    found = samples(tiny(question), None, course)
    M = found.M[:, -1, c.section]
    M[~np.isfinite(found.error).all(axis=(1, 2))] = np.nan
    return M


def unbounded(c: Tube) -> str:
    """Why a sample of the run itself cannot be enclosed."""
    most = "" if c.substeps[1] >= MOST_SUBSTEPS else f"; substeps above {c.substeps[1]} may help"
    return f"no bounded derivative on the run itself: it crosses an edge, or changes much within a step{most}"


def sized(ready: Ready, part: float, progress: Share) -> Result:
    """The tube from this part of the starts whose reaches suffice, from one that has next to no width."""
    question = ready.question
    tube = question.tube
    c = tiny(replace(question, tube=replace(tube, half=part * tube.half, fresh=part * tube.fresh)))
    c = followed_by_constants(c, ready.linear)
    held = c.flow.still() & ~released(c) & ~constant(c) & turning(c)
    c = balled(question, c, ready.linear, ready.followed(c))
    fits = Fits(c)
    seen = ready.followed(c, fits.take)
    progress.step()

    def ended(why: str) -> Result:
        failed = len(c.z) - 1 if seen.failed is None else seen.failed
        return Result(c, seen, failed, why, ready)

    if not seen.contracts < 1:
        return ended("runs side by side do not come closer")
    every = np.arange(len(c.z))
    c = fits.put(c, every)
    c = replace(c, reach=ROOM * seen.need + LEAST, σ=ball(seen, 0.0))
    c.balls[:] *= c.σ
    c = filled(
        replace(c, splits=crossed(seen, held, every)), seen.need, ready.linear, held, ready.course
    )
    progress.step()
    for k in range(ROUNDS):
        fits = Fits(c)
        seen = ready.followed(c, fits.take)
        progress.step()
        if not np.isfinite(seen.need).all():
            return ended("the tube is too wide to enclose a sample")
        if seen.failed is None and max(seen.enters, seen.returns) <= c.σ:
            return settled(c, seen, ready)
        needed = ball(seen, c.σ) if c.after[-1] >= 0 else c.σ
        if (largest(seen.need) > 1e6 * largest(c.reach)).any() or not np.isfinite(needed):
            return ended("the tube grows without end")
        nodes = np.flatnonzero(laps(c) | ~(seen.share <= 1))
        c = fits.put(c, nodes, None if k < TURNS else seen.share)
        c.balls[:] *= needed / c.σ
        c = replace(c, reach=wider(c, seen), σ=needed, splits=crossed(seen, held, every))
    return ended("the tube grows with every round")


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
