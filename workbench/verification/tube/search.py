"""The search for a tube: reaches in floats, until the checker's inequalities hold at every sample.

What stages add grows faster than the reaches that are taken for granted. So these begin a little above those of the linear
loop, and are enlarged to what the sets need until they suffice, or nothing is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.verification.tube.blocks import LEAST, crossed, filled
from workbench.verification.tube.checker.centred import gradient
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.judge import Seen, followed
from workbench.verification.tube.checker.samples import Rows, constants, walked
from workbench.verification.tube.checker.section import released
from workbench.verification.tube.measure import measure, rate
from workbench.verification.tube.paths import pathed
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.progress import Share

SHARE = (
    0.5  # of the rate at which runs come closer: what the coordinates of merged sets are made for
)
ROUNDS = 12
NEWTON = 2
MOST_SUBSTEPS = 100
SMALLER = 3
ROOM = 1.2  # by which reaches are first larger than those of the linear loop
MORE = 1.1  # and then than what was needed
LAP = 4.0  # times what a lap adds to the ball where laps begin, for want of a smaller one
CLOSE = 1.01  # by which the last reaches are larger than what is needed


@dataclass(frozen=True, eq=False)
class Result:
    """A tube that the checker bears out, or the last that was tried, and the node where that one failed."""

    tube: Tube
    seen: Seen | None
    failed: int | None
    rate: float
    why: str = ""


def searched(question: Posed, progress: Share) -> Result:
    """A tube, or where and why there is none: with polynomials near the run where modes are too fast for steps without."""
    found = tried(question, progress)
    if found.failed is None:
        return found
    begun = pathed(question.tube)
    if not begun.paths.size:
        return found
    question = closed(replace(question, tube=begun))
    return tried(replace(question, tube=pathed(question.tube)), progress, moved=False)


def tried(question: Posed, progress: Share, moved: bool = True) -> Result:
    """A tube with the steps that the question has. moved: nodes that repeat are first led to where they do."""
    question = closed(question) if moved else question
    linear = matrices(question)
    progress.step()
    c = question.tube
    if not np.isfinite(linear).all():
        k = int(np.argmax(~np.isfinite(linear).all(axis=(1, 2))))
        return Result(c, None, k, np.nan, unbounded(c))
    with np.errstate(all="ignore"):
        λ = rate(linear, c.after, c.T)
    if not λ > 0:
        return Result(c, None, len(linear) - 1, λ, "runs side by side do not come closer")
    size = envelope(question, linear)
    try:
        R = measure(linear, c.after, SHARE * λ, c.T, 1 / size**2)
    except np.linalg.LinAlgError:
        return Result(c, None, 0, λ, "no measure was found")
    return sized(replace(tiny(question), R=R), λ, progress)


def closed(question: Posed) -> Posed:
    """The nodes that repeat moved to where they do: z_k + δ_k, δ_{k+1} = M_k δ_k, (1 − ΠM) δ = what the lap misses (Newton)."""
    for _ in range(NEWTON):
        c = question.tube
        first = int(c.after[-1])
        if first < 0:
            return question
        found = samples(tiny(question), np.arange(first, len(c.z)))
        M = found.M[:, -1, c.section]
        missed = found.centre - c.z[c.after[found.node]]
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
            z[k] += δ
            δ = Mk @ δ + d
        question = replace(question, tube=replace(c, z=z))
    return question


def tiny(question: Posed) -> Tube:
    """The tube with next to no width."""
    c = question.tube
    size = np.full(c.states, 1e-12 * question.scale.min())
    size[c.section] = 1e-12 * question.scale
    return replace(c, reach=np.broadcast_to(size, (len(c.z), c.stages + 1, c.states)))


def samples(c: Tube, nodes: np.ndarray | None = None) -> Rows:
    """All samples at once."""
    found = list(walked(c, nodes))
    names = Rows.__dataclass_fields__
    return Rows(**{name: np.concatenate([getattr(p, name) for p in found]) for name in names})


def matrices(question: Posed) -> np.ndarray:
    """The derivative of every sample along the nominal run, in physical coordinates."""
    c = question.tube
    found = samples(tiny(question))
    M = found.M[:, -1, c.section]
    M[~np.isfinite(found.error).all(axis=(1, 2))] = np.nan
    return M


def unbounded(c: Tube) -> str:
    """Why a sample of the run itself cannot be enclosed."""
    most = "" if c.substeps[1] >= MOST_SUBSTEPS else f"; substeps above {c.substeps[1]} may help"
    return f"no bounded derivative on the run itself: it crosses an edge, or changes much within a step{most}"


def envelope(question: Posed, linear: np.ndarray) -> np.ndarray:
    """How far each state gets from the starts, to first order: the sizes that the measure weighs alike."""
    c = question.tube
    slope = gradient_of_start(c)
    E = slope * c.half
    size = np.abs(E).sum(axis=1)
    for M in linear:
        E = M @ E
        size = np.maximum(size, np.abs(E).sum(axis=1))
    return np.where(size > 0, size, 1e-6 * question.scale)


def gradient_of_start(c: Tube) -> np.ndarray:
    """∂z(0)/∂x_0 at the nominal start."""
    state = [Interval(np.array([v])) for v in c.x0]
    w = [Interval(np.array([v])) for v in c.w[0]]
    clock = Interval(np.zeros(1))
    _, K, _ = gradient(c.start, [clock, *state, *w, *constants(c)], 1, c.states, 1)
    return K[0, c.section]


def sized(c: Tube, λ: float, progress: Share) -> Result:
    """The tube whose reaches suffice, from one that has next to no width."""
    held = c.flow.still() & ~released(c) & driving(c)
    seen = followed(c)
    progress.step()
    if not seen.contracts < 1:
        return Result(c, seen, len(c.z) - 1, λ, "runs side by side do not come closer")
    every = np.arange(len(c.z))
    laps = (every >= c.after[-1]) & (c.after[-1] >= 0)
    c = replace(c, reach=ROOM * seen.need + LEAST, σ=ball(seen, 0.0))
    c = filled(replace(c, splits=crossed(seen, held, every)), seen.need, held)
    progress.step()
    for _ in range(ROUNDS):
        seen = followed(c)
        progress.step()
        if not np.isfinite(seen.need).all():
            return Result(c, seen, seen.failed, λ, "the tube is too wide to enclose a sample")
        if seen.failed is None and max(seen.enters, seen.returns) <= c.σ:
            return settled(c, seen, λ)
        needed = ball(seen, c.σ) if c.after[-1] >= 0 else c.σ
        if (largest(seen.need) > 1e6 * largest(c.reach)).any() or not np.isfinite(needed):
            return Result(c, seen, seen.failed, λ, "the tube grows without end")
        wider = np.where(seen.need <= c.reach, c.reach, MORE * seen.need)
        wider[laps] = np.maximum(wider, MORE * seen.need)[laps]
        c = replace(c, reach=wider, σ=needed, splits=crossed(seen, held, every))
    failed = len(c.z) - 1 if seen.failed is None else seen.failed
    return Result(c, seen, failed, λ, "the tube grows with every round")


def largest(reach: np.ndarray) -> np.ndarray:
    """Of every state over all nodes and stages: where it hardly moves rounding alone may be a million times more than before."""
    return reach.max(axis=(0, 1))


def ball(seen: Seen, σ: float) -> float:
    """A size of the ball where laps begin: what enters it, and several times what a lap adds."""
    added = seen.returns - seen.contracts * σ
    if seen.contracts >= 1:
        return np.inf
    return max(MORE * seen.enters, LAP * added / (1 - seen.contracts), σ, 1e-12)


def settled(c: Tube, seen: Seen, λ: float) -> Result:
    """The reaches that are needed instead of those that suffice, where the checker bears them out, too."""
    less = replace(c, reach=np.minimum(c.reach, CLOSE * seen.need + LEAST))
    for _ in range(SMALLER):
        found = followed(less)
        if found.failed is None and max(found.enters, found.returns) <= less.σ:
            return Result(less, found, None, λ)
        wider = np.maximum(less.reach, CLOSE * found.need)
        less = replace(less, reach=np.minimum(c.reach, wider))
    return Result(c, seen, None, λ)


def driving(c: Tube) -> np.ndarray:
    """States that the flow reads, or that the release hands on to it."""
    reads = c.flow.depends()[:, 1 : 1 + c.states].any(axis=0)
    if c.lag > 0:
        changed = released(c)
        reads = reads | c.release.depends()[changed, 1 : 1 + c.states].any(axis=0)
    return reads
