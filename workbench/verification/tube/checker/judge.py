"""The inequalities of a tube certificate, all of them.

    node k → i = after[k]      (‖R_i⁻¹ M_k R_k‖ ρ_k + Σ_s Σ_j |R_i⁻¹ Ψ_s e_j| r_{s,j} + |R_i⁻¹ d_k|) ≤ ρ_i
    starts                     |R_0⁻¹(start(x_0 + δ) − z_0)| ≤ ρ_0 for |δ| ≤ half
    errors                     |out(z_k + R_k ξ) − w_k| ≤ error, |ξ| ≤ ρ_k
    bounds                     every box that a run crosses, between samples too, lies in [low, high]

M_k is the product of the stages' matrices, Ψ_s what follows stage s, r_s what stage s may add (`steps`), d_k where the
centre goes less z_i. Where a split is given both sides of it are looked at: the derivative of a sample from any state of
the tube is a mean of derivatives on either side, and a norm of a mean is at most the larger norm.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from . import interval as iv
from .balls import Balls, inverse, norm, up
from .data import Tube
from .interval import Interval
from .section import Refused, check_shape
from .series import Series
from .steps import Runs, around, as_series, flowed, gradient, jumped

ROWS = 1000  # that are looked at together


@dataclass(frozen=True, eq=False)
class Found:
    """Per row: node, growth ‖·‖, what stages add, the defect; and the boxes of every node."""

    node: np.ndarray
    growth: np.ndarray
    added: np.ndarray
    defect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    M: np.ndarray
    parts: np.ndarray
    centre: np.ndarray

    def needed(self, ρ: np.ndarray) -> np.ndarray:
        """The least ρ of the next node, one a row."""
        return up(self.growth * ρ[self.node] + self.added + self.defect)


def constants(c: Tube) -> list:
    """What the loop's parameters give, as intervals."""
    return c.prelude.run(iv, [Interval(float(p)) for p in c.parameters], lambda x: x)


def rows_of(c: Tube, nodes: np.ndarray) -> tuple:
    """(node, lower side, upper side) of every row: a node without splits has one, with m of them 2^m."""
    at = []
    low = []
    high = []
    for k in nodes:
        own = c.splits[c.splits[:, 0] == k] if c.splits.size else []
        for sides in itertools.product((0, 1), repeat=len(own)):
            bottom = np.full(c.states, -np.inf)
            top = np.full(c.states, np.inf)
            for side, (_, state, number) in zip(sides, own):
                i = int(state)
                bottom[i] = max(bottom[i], number) if side else bottom[i]
                top[i] = top[i] if side else min(top[i], number)
            at.append(k)
            low.append(bottom)
            high.append(np.maximum(top, bottom))
    return np.array(at, int), np.array(low), np.array(high)


def sampled(c: Tube, node: np.ndarray, sides: tuple) -> Found:
    """One sample from every row."""
    fixed = constants(c)
    time = node * c.T
    w = [
        Interval(c.w[node, j] - c.slack[j], c.w[node, j] + c.slack[j])
        if c.slack[j]
        else Interval(c.w[node, j])
        for j in range(c.w.shape[1])
    ]

    def given(clock):
        """The inputs of a program at these states, in the kind of number that the states are."""

        def at(x: list) -> list:
            lift = as_series if isinstance(x[0], Series) else as_it_is
            return [lift(clock), *x, *map(lift, w), *map(lift, fixed)]

        return at

    rows = len(node)
    n = c.section.size
    centre = [Interval(np.zeros(rows)) for _ in range(c.states)]
    M = np.zeros((rows, c.states, n))
    for j, i in enumerate(c.section):
        centre[i] = Interval(c.z[node, j])
        M[:, i, :] = c.R[node, j, :]
    free = (np.full_like(sides[0], -np.inf), np.full_like(sides[1], np.inf))
    runs = Runs(
        centre,
        Balls.exact(M),
        np.zeros((rows, c.states)),
        c.ρ[node],
        free,
        np.searchsorted(np.unique(node), node),
    )
    nothing = np.zeros(c.states, bool)
    jumped(c.jump, runs, given(moment(time, 0.0, 0.0)), nothing)
    runs.sides = sides
    spans = ((0.0, c.lag, c.substeps[0]), (c.lag, c.T - c.lag, c.substeps[1]))
    for first, span, many in spans:
        if span == 0:
            continue
        if first > 0:
            jumped(c.release, runs, given(moment(time, first, first)), c.flow.still()[: c.states])
        h = float(span / many)
        for _ in range(many):
            flowed(c.flow, runs, given(moment(time, 0.0, c.T)), h, c.order)
    return concluded(c, node, runs)


def as_it_is(x: Interval) -> Interval:
    return x


def moment(time: np.ndarray, first: float, last: float) -> Interval:
    """The time after a sample, between `first` and `last`."""
    return Interval(time, time) + Interval(first, last) + Interval(-1e-12, 1e-12)


def concluded(c: Tube, node: np.ndarray, runs: Runs) -> Found:
    """What the stages of a sample come to, in the measure of the next node."""
    after = c.after[node]
    X, η = inverse(c.R[after])
    shrink = np.where(η < 0.5, 1 - np.minimum(η, 0.5) * (1 + 1e-12), 0.0)
    M = Balls(runs.M.mid[:, c.section], runs.M.rad[:, c.section])
    growth = norm(Balls.exact(X) @ M)
    Ψ = Balls.exact(X) @ Balls.exact(np.broadcast_to(chosen(c), (len(node), *chosen(c).shape)))
    added = np.zeros(len(node))
    parts = np.zeros((len(node), c.states))
    for Φ, w in zip(reversed(runs.maps), reversed(runs.errors)):
        each = up(Ψ.columns() * w)
        parts += each
        added = up(added + each.sum(axis=-1))
        Ψ = Ψ @ Balls.exact(Φ)
    off = [runs.centre[i] - Interval(c.z[after, j]) for j, i in enumerate(c.section)]
    mid = np.stack([np.where(np.isfinite(o.rad), o.mid, 0.0) for o in off], axis=-1)
    rad = np.stack([np.broadcast_to(o.rad, node.shape) for o in off], axis=-1)
    d = Balls.exact(X) @ Balls(mid[..., None], rad[..., None])
    with np.errstate(all="ignore"):
        defect = up(d.columns()[..., 0] / shrink)
        grown = up(growth / shrink)
        extra = up(added / shrink)
    return Found(node, grown, extra, defect, runs.low, runs.high, M.mid, parts, mid + c.z[after])


def chosen(c: Tube) -> np.ndarray:
    """The matrix that takes the section out of the state."""
    S = np.zeros((c.section.size, c.states))
    S[np.arange(c.section.size), c.section] = 1.0
    return S


def walked(c: Tube, nodes: np.ndarray | None = None) -> Found:
    """Samples from all nodes, or from these, so many rows at a time."""
    with np.errstate(all="ignore"):
        asked = np.flatnonzero(c.after >= 0) if nodes is None else nodes
        pieces = []
        for i in range(0, len(asked), ROWS):
            node, low, high = rows_of(c, asked[i : i + ROWS])
            pieces.append(sampled(c, node, (low, high)))
    names = Found.__dataclass_fields__
    return Found(**{name: np.concatenate([getattr(p, name) for p in pieces]) for name in names})


def begun(c: Tube) -> float:
    """The least ρ_0 that holds every start."""
    fixed = constants(c)
    w = [Interval(np.array([v - s]), np.array([v + s])) for v, s in zip(c.w[0], c.slack)]
    clock = Interval(np.zeros(1))
    centre = [Interval(np.array([v])) for v in c.x0]
    box = around(centre, c.half[None, :])
    with np.errstate(all="ignore"):
        _, K, radius = gradient(c.start, [clock, *box, *w, *fixed], 1, c.states, 1)
        value = c.start.run(iv, [clock, *centre, *w, *fixed], lambda x: x)
    X, η = inverse(c.R[:1])
    S = c.section
    off = [value[i] - Interval(c.z[:1, j]) for j, i in enumerate(S)]
    mid = np.stack([o.mid for o in off], axis=-1)
    extra = np.stack([np.broadcast_to(o.rad, (1,)) for o in off], axis=-1)
    extra = up(extra + np.einsum("rij,j->ri", radius[:, S], c.half))
    moving = np.flatnonzero(c.half)
    K = Balls.exact(K[:, S][..., moving])
    worst = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=len(moving)):
        corner = K @ Balls.exact(np.array(signs)[:, None] * c.half[moving][:, None])
        place = corner.mid + mid[..., None]
        rounded = 1e-15 * (np.abs(corner.mid) + np.abs(mid[..., None]))
        e = Balls(place, up(corner.rad + extra[..., None] + rounded))
        worst = max(worst, float((Balls.exact(X) @ e).columns()[0, 0]))
    return float(up(worst / (1 - η[0]))) if η[0] < 0.5 else np.inf


def distances(c: Tube) -> np.ndarray:
    """How far every output of `pairs` may be from its reference, (nodes, pairs)."""
    fixed = constants(c)
    with np.errstate(all="ignore"):
        reach = up(c.ρ[:, None] * Balls.exact(c.R).rows())
        state = [Interval(np.zeros(len(c.z))) for _ in range(c.states)]
        for j, i in enumerate(c.section):
            state[i] = Interval(c.z[:, j]) + Interval(-reach[:, j], reach[:, j])
        w = [Interval(c.w[:, j] - c.slack[j], c.w[:, j] + c.slack[j]) for j in range(c.w.shape[1])]
        clock = moment(np.arange(len(c.z)) * c.T, 0.0, 0.0)
        measured = c.out.run(iv, [clock, *state, *w, *fixed], as_it_is)
        sizes = [(measured[i] - w[j]).size for i, j in c.pairs]
    return np.stack([np.broadcast_to(size, len(c.z)) for size in sizes], axis=-1)


def judge(c: Tube) -> Found:
    """The rows of a certificate that proves what it says; raises Refused with the reason."""
    check_shape(c)
    needed = begun(c)
    if not needed <= c.ρ[0]:
        raise Refused(f"starts: ρ = {c.ρ[0]:.6g}, and the starts need {needed:.6g}")
    found = walked(c)
    asked = found.needed(c.ρ)
    missing = ~(asked <= c.ρ[c.after[found.node]])
    if missing.any():
        k = int(found.node[np.flatnonzero(missing)[0]])
        raise Refused(f"sample {k}: the tube does not hold its runs until the next sample")
    if len(c.pairs) and not (distances(c) <= c.error).all():
        raise Refused("error: an output is farther from its reference than is said")
    within = (found.low >= c.low).all() and (found.high <= c.high).all()
    if not within:
        bad = (found.low < c.low) | (found.high > c.high) | ~(np.isfinite(found.low + found.high))
        k, i = np.argwhere(bad)[0] if bad.any() else (0, 0)
        raise Refused(f"bounds: state {i} leaves them after sample {int(found.node[k])}")
    return found
