"""The search for a tube, in floats: the run's own matrices and steps first, then rounds of reaches (`rounds`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.frame import FAST
from workbench.verification.tube.checker.samples import Rows, begun, walked
from workbench.verification.tube.checker.section import constant
from workbench.verification.tube.laps import NOTHING
from workbench.verification.tube.paths import fastest, longest, pathed
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.progress import Share
from workbench.verification.tube.rate import rate
from workbench.verification.tube.rounds import Ready, Result, sized, tiny

ROUGH = 30.0  # times what samples usually miss: those that miss more get finer steps
WEIGHS = 0.1  # share of the starts' envelope that they miss together, at which these steps are taken at once
FINER = 8
HOPELESS = 10.0  # |λ| h beyond which steps without polynomials near the run are not tried
NEWTON = 2
MOST_SUBSTEPS = 100


def searched(question: Posed, progress: Share) -> Result:
    """A tube, or where and why there is none: with polynomials near the run where modes are too fast for steps without."""
    speed = fastest(question.tube) * longest(question.tube)
    if not speed > HOPELESS:
        found = at_edges(closed(question), progress, as_it_is)
        if found.failed is None or not speed > FAST:
            return found
    return at_edges(prepared(question, pathed), progress, pathed)


def as_it_is(c: Tube) -> Tube:
    """The tube without polynomials: its steps need none."""
    return c


def prepared(question: Posed, stepped: Callable[[Tube], Tube]) -> Posed:
    """With the steps that `stepped` gives, and nodes that repeat moved to where they do with them."""
    question = closed(replace(question, tube=stepped(question.tube)))
    return replace(question, tube=stepped(question.tube))


def at_edges(question: Posed, progress: Share, stepped: Callable[[Tube], Tube]) -> Result:
    """A tube, with finer steps where the run crosses edges if what is missed there weighs, or there is none without."""
    course: dict = {}
    seen = samples(tiny(question), None, course)
    progress.step()
    rough = roughly(question, seen)
    if not weighs(question, seen, rough):
        found = tried(question, seen, course, progress)
        if found.failed is None or not rough[: found.failed + 1].any():
            return found
    finer = np.ones(len(question.tube.z), int)
    finer[np.flatnonzero(rough)] = FINER
    fine = prepared(replace(question, tube=replace(question.tube, finer=finer)), stepped)
    again: dict = {}
    more = samples(tiny(fine), None, again)
    if np.isfinite(seen.error).all() and not np.isfinite(more.error).all():
        return tried(question, seen, course, progress)
    return tried(fine, more, again, progress)


def tried(question: Posed, seen: Rows, course: dict, progress: Share) -> Result:
    """A tube with the steps that the question has; `seen`: its samples with next to no width."""
    linear = matrices(question, seen)
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


def roughly(question: Posed, seen: Rows) -> np.ndarray:
    """Nodes whose samples miss far more than most of them, as where the run crosses an edge, and those beside them."""
    with np.errstate(all="ignore"):
        usual = np.median(seen.defect, axis=0)
        rough = ~(seen.defect <= ROUGH * usual + NOTHING * question.scale).all(axis=1)
    rough[1:] |= rough[:-1].copy()
    rough[:-1] |= rough[1:].copy()
    return rough


def weighs(question: Posed, seen: Rows, rough: np.ndarray) -> bool:
    """Whether what these nodes miss is, at the end of the run, more than a share of how far starts ever get."""
    M = seen.M[:, -1, question.tube.section]
    E = begun(question.tube).G
    far = np.abs(E).sum(axis=1)
    with np.errstate(all="ignore"):
        for Mk in M:
            E = Mk @ E
            far = np.maximum(far, np.abs(E).sum(axis=1))
    left = np.zeros(len(far))
    whole = np.eye(len(far))
    with np.errstate(all="ignore"):
        for k in range(len(M) - 1, -1, -1):
            left += np.abs(whole) @ seen.defect[k] * rough[k]
            whole = whole @ M[k]
    return bool((~(left <= WEIGHS * far))[far > NOTHING * question.scale].any())


def closed(question: Posed) -> Posed:
    """The nodes moved to where the loop itself goes from the start, and to where it repeats where it does (Newton's method)."""
    for _ in range(NEWTON):
        found = samples(tiny(question))
        moved = question.tube.z + corrections(question.tube, found)
        if not np.isfinite(moved).all():
            return question
        question = replace(question, tube=replace(question.tube, z=moved))
    return question


def corrections(c: Tube, found: Rows) -> np.ndarray:
    """δ of every node: δ_0 = 0, δ_{k+1} = M_k δ_k + what sample k misses; in a lap (1 − ΠM) δ = what the lap misses."""
    moves = ~constant(c)[c.section]
    M = found.M[:, -1, c.section][:, moves][:, :, moves]
    missed = (found.centre - c.z[c.after[found.node]])[:, moves]
    δ = np.zeros((len(c.z), int(moves.sum())))
    first = int(c.after[-1])
    steps = list(zip(M, missed))
    with np.errstate(all="ignore"):
        if first >= 0:
            δ[first] = repeated(steps[first:])
        for k, (Mk, off) in enumerate(steps[: len(c.z) - 1]):
            if k + 1 != first:
                δ[k + 1] = Mk @ δ[k] + off
    every = np.zeros_like(c.z)
    every[:, moves] = δ
    return every


def repeated(steps: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """δ with δ = ΠM δ + what these samples miss; not a number where the samples have no bounded derivative."""
    whole = np.eye(len(steps[0][1]))
    rest = np.zeros(len(whole))
    for Mk, off in steps:
        whole = Mk @ whole
        rest = Mk @ rest + off
    if not np.isfinite(whole).all() or not np.isfinite(rest).all():
        return np.full(len(whole), np.nan)
    return np.linalg.lstsq(np.eye(len(whole)) - whole, rest, rcond=None)[0]


def samples(c: Tube, nodes: np.ndarray | None = None, course: dict | None = None) -> Rows:
    """All samples at once."""
    found = list(walked(c, nodes, course))
    names = Rows.__dataclass_fields__
    return Rows(**{name: np.concatenate([getattr(p, name) for p in found]) for name in names})


def matrices(question: Posed, seen: Rows) -> np.ndarray:
    """The derivative of every sample along the nominal run, in physical coordinates."""
    M = seen.M[:, -1, question.tube.section]
    M[~np.isfinite(seen.error).all(axis=(1, 2))] = np.nan
    return M


def unbounded(c: Tube) -> str:
    """Why a sample of the run itself cannot be enclosed."""
    most = "" if c.substeps[1] >= MOST_SUBSTEPS else f"; substeps above {c.substeps[1]} may help"
    return f"no bounded derivative on the run itself: it crosses an edge, or changes much within a step{most}"
