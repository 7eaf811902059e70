"""Samples of the loop from many nodes: matrices of their stages, what may be added to these, and where centres go.

    |e| ≤ reach[k, s] before every stage s, e = z − z_k at first    ⇒    e_s = M_s e + a,  |a| ≤ error_s

M_s is the product of the stages' matrices (`steps`). Where a split is given both sides of it are looked at: the
derivative of a sample from any state of the tube is a mean of derivatives on either side.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import interval as iv
from .balls import Balls, up
from .centred import gradient
from .data import Tube
from .interval import Interval
from .program import as_it_is
from .section import constant, handed_on
from .series import Series
from .steps import Runs, around, as_series, flowed, jumped
from .stiff import stiffly
from .zonotope import Deviations

ROWS = 1000  # that are looked at together
TINY = 1e-250
FLAT = 1e-3  # share of a state's largest reach: where it moves less than that coordinates are scaled as if it did


@dataclass(frozen=True, eq=False)
class Rows:
    """Samples from some nodes, one a row and side of a split.

    M        (rows, stages + 1, states, section): the state before every stage is M e + a, and `off` what M is off by
    error    |a| at most, (rows, stages + 1, states)
    defect   |centre − z_i| at the end, of the section's states
    low, high  between which every run stays
    """

    node: np.ndarray
    M: np.ndarray
    off: np.ndarray
    error: np.ndarray
    defect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    centre: np.ndarray


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


def sampled(c: Tube, node: np.ndarray, sides: tuple, course: dict | None = None) -> Rows:
    """One sample from every row; nodes whose steps are equally fine, which are split all or none of them.

    course: keeps where the nominal run goes from every node, for those who ask again with other widths.
    """
    finer = int(c.finer[node[0]])
    fixed = constants(c)
    time = node * c.T
    w = disturbances(c, node)

    def given(clock):
        """The inputs of a program at these states, in the kind of number that the states are."""

        def at(x: list) -> list:
            lift = as_series if isinstance(x[0], Series) else as_it_is
            return [lift(clock), *x, *map(lift, w), *map(lift, fixed)]

        return at

    runs = started(c, node, sides)
    if course and all(k in course for k in node):
        runs.known = np.stack([course[k] for k in node])
    nothing = np.zeros(c.states, bool)
    jumped(c.jump, runs, given(moment(time, 0.0, 0.0)), nothing)
    runs.sides = sides
    beside = np.unique(node, return_inverse=True)[1]
    spans = ((0.0, c.lag, c.substeps[0]), (c.lag, c.T - c.lag, c.substeps[1]))
    least = flat(c)
    done = 0
    for first, span, coarse in spans:
        if span == 0:
            continue
        many = int(coarse) * finer
        if first > 0:
            jumped(c.release, runs, given(moment(time, first, first)), c.flow.still()[: c.states])
        h = float(span / many)
        inputs = given(moment(time, 0.0, c.T))
        for step in range(done, done + many):
            if c.paths.size:
                stiffly(c.flow, runs, inputs, h, c.paths[node, step], beside, least)
            else:
                flowed(c.flow, runs, inputs, h, c.order)
        done += many
    if course is not None and runs.known is None and not c.paths.size:
        course.update(zip(node.tolist(), gone(runs)))
    return concluded(c, node, runs)


def started(c: Tube, node: np.ndarray, sides: tuple) -> Runs:
    """The runs where they begin: at the nodes, not yet cut at these sides."""
    centre = [Interval(np.zeros(len(node))) for _ in range(c.states)]
    for j, i in enumerate(c.section):
        centre[i] = Interval(c.z[node, j])
    lower, upper = sides
    whole = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
    limited = np.isfinite(lower) | np.isfinite(upper)
    return Runs(centre, c.reach[node], whole, *spanned(c, node), 0.0, bool(limited.any()))


def disturbances(c: Tube, node: np.ndarray) -> list[Interval]:
    """The inputs that the loop is given at these nodes, each within its slack."""
    return [
        Interval(value) + Interval(-s, s) if s else Interval(value)
        for value, s in zip(c.w[node].T, c.slack)
    ]


def gone(runs: Runs) -> np.ndarray:
    """The course of the centre's run, (rows, stages, 4, states)."""
    rows = len(runs.reaches)

    def stack(boxes: list, side: str) -> np.ndarray:
        return np.stack([np.broadcast_to(getattr(b, side), rows) for b in boxes], axis=-1)

    stages = [[stack(b, side) for b in pair for side in ("lo", "hi")] for pair in runs.found]
    return np.moveaxis(np.array(stages), 2, 0)


def spanned(c: Tube, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Segments and ball that hold the deviations of these nodes, of all states, without columns of zeros."""
    found = []
    for of in (c.segments, c.balls):
        own = of[node]
        own = own[..., (own != 0).any(axis=(0, 1))]
        every = np.zeros((len(node), c.states, own.shape[-1]))
        every[:, c.section] = own
        found.append(every)
    return found[0], found[1]


def flat(c: Tube) -> np.ndarray:
    """Sizes below which no state scales coordinates: a share of its largest reach, as a power of two."""
    most = np.maximum(c.reach.max(axis=(0, 1)), TINY)
    return FLAT * 2.0 ** np.round(np.log2(most))


def moment(time: np.ndarray, first: float, last: float) -> Interval:
    """The time after a sample, between `first` and `last`."""
    return Interval(time, time) + Interval(first, last) + Interval(-1e-12, 1e-12)


def concluded(c: Tube, node: np.ndarray, runs: Runs) -> Rows:
    """What the stages of a sample come to. What is constant stays as it is, whatever the stages' rounding makes of it."""
    S = c.section
    n = S.size
    stays = constant(c)
    start = np.zeros((len(node), c.states, n))
    start[:, S, np.arange(n)] = 1.0
    each = [Balls.exact(start)]
    errors = [np.zeros((len(node), c.states))]
    for Φ, added in zip(runs.maps, runs.errors):
        each.append(Balls.exact(Φ) @ each[-1])
        errors.append(up(np.einsum("rij,rj->ri", np.abs(Φ), errors[-1]) + added))
    ends = c.after[node]
    last = [Interval(c.z[node, j]) if stays[i] else runs.centre[i] for j, i in enumerate(S)]
    off = [x - Interval(c.z[ends, j]) for j, x in enumerate(last)]
    defect = np.stack([np.broadcast_to(up(o.size), node.shape) for o in off], axis=-1)
    middle = np.stack([np.broadcast_to(o.mid, node.shape) for o in off], axis=-1)
    M = np.stack([b.mid for b in each], axis=1)
    rad = np.stack([b.rad for b in each], axis=1)
    error = np.stack(errors, axis=1)
    M[:, :, stays] = start[:, None, stays]
    rad[:, :, stays] = 0.0
    error[:, :, stays] = 0.0
    return Rows(
        node=node,
        M=M,
        off=rad,
        error=error,
        defect=np.where(stays[S] & (c.z[node] == c.z[ends]), 0.0, defect),
        low=runs.low,
        high=runs.high,
        centre=middle + c.z[ends],
    )


def walked(c: Tube, nodes: np.ndarray | None = None, course: dict | None = None) -> Iterator[Rows]:
    """Samples from all nodes, or from these, so many at a time."""
    asked = np.flatnonzero(c.after >= 0) if nodes is None else nodes
    for i in range(0, len(asked), ROWS):
        some = asked[i : i + ROWS]
        found = []
        for own in (part for group in alike(c, some) for part in fitting(c, group)):
            node, low, high = rows_of(c, own)
            with np.errstate(all="ignore"):
                found.append(sampled(c, node, (low, high), course))
        yield joined(found, c.stages)


def alike(c: Tube, nodes: np.ndarray) -> list[np.ndarray]:
    """Groups of nodes with equally fine steps, split ones by themselves."""
    split = np.isin(nodes, c.splits[:, 0]) if c.splits.size else np.zeros(len(nodes), bool)
    kinds = 2 * c.finer[nodes] + split
    return [nodes[kinds == kind] for kind in np.unique(kinds)]


def fitting(c: Tube, nodes: np.ndarray) -> list[np.ndarray]:
    """A group of nodes in parts of no more than ROWS rows, or of one node."""
    own = c.splits[np.isin(c.splits[:, 0], nodes), 0] if c.splits.size else np.zeros(0)
    most = int(np.unique(own, return_counts=True)[1].max(initial=0))
    return np.array_split(nodes, min(len(nodes), -(-(len(nodes) << most) // ROWS)))


def joined(parts: list[Rows], stages: int) -> Rows:
    """Rows of several kinds as one, in the order of their nodes; the last stage stands for those that are missing."""

    def long(x: np.ndarray) -> np.ndarray:
        more = stages + 1 - x.shape[1]
        return np.concatenate([x, np.repeat(x[:, -1:], more, axis=1)], axis=1) if more else x

    order = np.argsort(np.concatenate([p.node for p in parts]), kind="stable")
    found = {}
    for name in Rows.__dataclass_fields__:
        staged = name in ("M", "off", "error")
        each = [getattr(p, name) for p in parts]
        found[name] = np.concatenate([long(x) if staged else x for x in each])[order]
    return Rows(**found)


def united(rows: Rows) -> Rows:
    """One row a node: of both sides of a split the mean matrix, farther off, and the larger errors."""
    node, first = np.unique(rows.node, return_index=True)
    if len(node) == len(rows.node):
        return rows

    def over(join, x: np.ndarray) -> np.ndarray:
        return join.reduceat(x, first, axis=0)

    many = np.diff([*first, len(rows.node)])[:, None, None, None]
    M = over(np.add, rows.M) / many
    spread = over(np.maximum, np.abs(rows.M - np.repeat(M, many.ravel(), axis=0)) + rows.off)
    return Rows(
        node,
        M,
        np.where(spread == 0, 0.0, up(spread + 1e-15 * np.abs(M))),
        *(over(np.maximum, x) for x in (rows.error, rows.defect)),
        over(np.minimum, rows.low),
        over(np.maximum, rows.high),
        rows.centre[first],
    )


def begun(c: Tube) -> Deviations:
    """Where the starts are, z(0) − z_0."""
    fixed = constants(c)
    w = disturbances(c, np.array([0]))
    clock = Interval(np.zeros(1))
    centre = [Interval(np.array([v])) for v in c.x0]
    box = around(centre, c.half[None, :])
    with np.errstate(all="ignore"):
        _, K, radius = gradient(c.start, [clock, *box, *w, *fixed], 1, c.states, 1)
        value = c.start.run(iv, [clock, *centre, *w, *fixed], lambda x: x)
        S = c.section
        off = [float(np.ravel((value[i] - Interval(c.z[:1, j])).size)[0]) for j, i in enumerate(S)]
        moving = np.flatnonzero(c.half)
        spread = np.where(c.half > 0, radius[0, S], 0.0)  # what does not move adds nothing
        extra = up(np.array(off) + spread @ c.half + 1e-15 * np.abs(K[0, S]) @ c.half)
    exact = (constant(c) & handed_on(c.start, c.states))[S] & (c.x0[S] == c.z[0])
    return Deviations.box(K[0][np.ix_(S, moving)] * c.half[moving], np.where(exact, 0.0, extra))
