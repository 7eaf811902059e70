"""The search for a tube, in floats: the run's own matrices and steps first, then rounds of reaches (`rounds`)."""

from __future__ import annotations

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
