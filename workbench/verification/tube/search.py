"""The search for a tube: measures and sizes in floats, until the checker's inequalities hold at every sample.

What stages add, q(ρ), grows faster than ρ. So with a guess ρ⁰ that is large enough

    ρ_{k+1} = (‖·‖_k + q_k(ρ⁰)/ρ⁰_k) ρ_k + d_k ≤ ρ⁰_{k+1}   everywhere

is a tube. The guess begins with q = 0 and is enlarged until this is so, or nothing is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.judge import Found, begun, constants, walked
from workbench.verification.tube.checker.section import released
from workbench.verification.tube.checker.steps import gradient
from workbench.verification.tube.measure import measure, rate
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.progress import Share

SHARES = (0.5, 0.25, 0.75)  # of the rate at which runs come closer
ROUNDS = 12
SMALLER = 4
NEWTON = 2
ROOM = 1e-7  # by which a size is larger than what is needed


@dataclass(frozen=True, eq=False)
class Result:
    """A tube that the checker's rows bear out, or the last that was tried, and the node where that one failed."""

    tube: Tube
    rows: Found | None
    failed: int | None
    rate: float
    why: str = ""


def searched(question: Posed, progress: Share) -> Result:
    """The first measure with which a tube is found; the one that gets farthest where there is none."""
    question = closed(question)
    linear = matrices(question)
    progress.step()
    c = question.tube
    if not np.isfinite(linear).all():
        k = int(np.argmax(~np.isfinite(linear).all(axis=(1, 2))))
        return Result(c, None, k, np.nan, unbounded(c))
    question = replace(question, scale=envelope(question, linear))
    with np.errstate(all="ignore"):
        λ = rate(linear, c.after, c.T)
    if not λ > 0:
        return Result(c, None, len(linear) - 1, λ, "runs side by side do not come closer")
    best = None
    for share in SHARES:
        found = sized(question, linear, share * λ, λ, progress)
        if found.failed is None:
            return found
        if best is None or found.failed > best.failed:
            best = found
    return best


def closed(question: Posed) -> Posed:
    """The nodes that repeat moved to where they do: z_k + δ_k, δ_{k+1} = M_k δ_k, (1 − ΠM) δ = what the lap misses (Newton)."""
    for _ in range(NEWTON):
        c = question.tube
        first = int(c.after[-1])
        if first < 0:
            return question
        found = walked(tiny(question), np.arange(first, len(c.z)))
        M = found.M / question.scale
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
    R = np.broadcast_to(np.diag(question.scale), c.R.shape).copy()
    return replace(c, R=R, ρ=np.full(len(c.z), 1e-9))


def matrices(question: Posed) -> np.ndarray:
    """The derivative of every sample along the nominal run, in physical coordinates."""
    found = walked(tiny(question))
    found.M[found.node[~np.isfinite(found.added)]] = np.nan
    return found.M / question.scale


def unbounded(c: Tube) -> str:
    """Why a sample of the run itself cannot be enclosed: a step long for the flow's fastest mode at the start, or an edge."""
    state = [Interval(np.array([v])) for v in c.x0]
    w = [Interval(np.array([v])) for v in c.w[0]]
    with np.errstate(all="ignore"):
        given = [Interval(np.zeros(1)), *state, *w, *constants(c)]
        _, A, _ = gradient(c.flow, given, 1, c.states, 1)
    text = "a derivative is not bounded on the run itself"
    if not np.isfinite(A).all():
        return text
    fastest = float(np.abs(np.linalg.eigvals(A[0, : c.states])).max())
    if fastest * c.T <= c.substeps[1]:
        return text
    return f"{text}: its fastest mode, {fastest:.3g} 1/s, asks for substeps: {int(np.ceil(fastest * c.T))} or so, of 100 at most"


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


def sized(question: Posed, linear: np.ndarray, α: float, λ: float, progress: Share) -> Result:
    """The tube in the measure that wants runs to come closer at the rate α."""
    c = question.tube
    try:
        R = measure(linear, c.after, α, c.T, 1 / question.scale**2)
    except np.linalg.LinAlgError:
        return Result(c, None, 0, λ, "no measure was found")
    c = replace(c, R=R)
    c = replace(c, ρ=np.full(len(c.z), 1e-9))
    first = begun(c) * (1 + ROOM)
    found = walked(c)
    guess = 1.2 * forward(c, found, np.zeros(len(found.node)), first)
    held = c.flow.still() & ~released(c) & driving(c)
    failed = 0
    for _ in range(ROUNDS):
        c = replace(c, ρ=guess, splits=splits(found, held))
        found = walked(c)
        progress.step()
        extra = found.added / guess[found.node]
        bad = ~np.isfinite(extra + found.growth + found.defect)
        if bad.any():
            return Result(
                c,
                found,
                int(found.node[np.argmax(bad)]),
                λ,
                "the box of the tube is too wide to enclose a sample",
            )
        ρ = forward(c, found, extra, first)
        if (ρ <= guess).all():
            return settled(c, found, ρ, guess, first, λ)
        over = ~(ρ <= 1e6 * guess)
        failed = int(np.argmax(ρ > guess))
        if over.any() or not np.isfinite(ρ).all():
            failed = int(np.argmax(over))
            return Result(c, found, failed, λ, "the tube grows without end")
        guess = 1.1 * np.maximum(ρ, guess)
    return Result(c, found, failed, λ, "the tube grows with every round")


def driving(c: Tube) -> np.ndarray:
    """States that the flow reads, or that the release hands on to it."""
    reads = c.flow.depends()[:, 1 : 1 + c.states].any(axis=0)
    if c.lag > 0:
        changed = released(c)
        reads = reads | c.release.depends()[changed, 1 : 1 + c.states].any(axis=0)
    return reads


def settled(
    c: Tube, found: Found, ρ: np.ndarray, guess: np.ndarray, first: float, λ: float
) -> Result:
    """The smallest sizes that the rows bear out: those that follow from a guess, or else the guess itself."""
    for _ in range(SMALLER):
        smaller = replace(c, ρ=np.minimum(guess, ρ * 1.001))
        rows = walked(smaller)
        if borne_out(smaller, rows):
            return Result(smaller, rows, None, λ)
        extra = rows.added / smaller.ρ[rows.node]
        ρ = np.minimum(guess, 1.01 * np.maximum(ρ, forward(smaller, rows, extra, first)))
    whole = replace(c, ρ=guess)
    if borne_out(whole, found):
        return Result(whole, found, None, λ)
    k = int(found.node[np.argmax(found.needed(guess) > guess[c.after[found.node]])])
    return Result(whole, found, k, λ, "the tube does not close")


def borne_out(c: Tube, rows: Found) -> bool:
    return bool((rows.needed(c.ρ) <= c.ρ[c.after[rows.node]]).all()) and begun(c) <= c.ρ[0]


def forward(c: Tube, found: Found, extra: np.ndarray, first: float) -> np.ndarray:
    """Sizes from node to node, and around the loop at the end."""
    nodes = len(c.z)
    growth = np.zeros(nodes)
    np.maximum.at(growth, found.node, found.growth + extra)
    defect = np.zeros(nodes)
    np.maximum.at(defect, found.node, found.defect)
    ρ = np.zeros(nodes)
    ρ[0] = max(first, 1e-12)
    last = int(c.after[-1])
    with np.errstate(over="ignore"):
        sweep(ρ, growth, defect, 0)
        for _ in range(60 if last >= 0 else 0):
            back = (growth[-1] * ρ[-1] + defect[-1]) * (1 + ROOM)
            if back <= ρ[last]:
                break
            ρ[last] = back * (1.05 if last == nodes - 1 else 1.01)
            sweep(ρ, growth, defect, last)
    return ρ


def sweep(ρ: np.ndarray, growth: np.ndarray, defect: np.ndarray, first: int) -> None:
    for k in range(first, len(ρ) - 1):
        ρ[k + 1] = (growth[k] * ρ[k] + defect[k]) * (1 + 1e-10) + 1e-15


def splits(found: Found, held: np.ndarray) -> np.ndarray:
    """Both sides of zero for every held command that may change its sign at a node."""
    rows = []
    for i in np.flatnonzero(held):
        crossing = (found.low[:, i] < 0) & (found.high[:, i] > 0)
        rows += [(k, i, 0.0) for k in np.unique(found.node[crossing])]
    return np.array(sorted(rows), float).reshape(-1, 3)
