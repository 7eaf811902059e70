"""Reaches that suffice, found block after block of samples, from the starts up to where laps begin or the run ends.

What a sample adds to the set depends on the reaches that are taken for granted at it and before, on none later. So a block is
looked at until its own reaches suffice, each time with a little more than the last ones needed; only then the set goes on.
Where starts are nearly as wide as can be held, this takes many rounds over a few samples instead of over all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen, sample, stages
from workbench.verification.tube.checker.samples import Rows, begun, united, walked
from workbench.verification.tube.checker.section import MOST_SPLITS
from workbench.verification.tube.checker.zonotope import (
    FLAT,
    Deviations,
    longest,
    positive,
    reciprocal,
    row_lengths,
    row_sums,
)

FIRST = 250  # samples of a block at first; twice as many after one that took few rounds
LONGEST = 1000
FEW = 5
ROUNDS = 40
MORE = 1.01  # times what was needed is taken for granted next
LEAST = 1e-200  # what never moves is given this, more than the least that rounding adds
# Share of a state's reach: what the ball beside the segments of the start has at least.
FLOOR = 1e-4
SWEEPS = 2
BESIDE = 1.05  # times what was needed beside the segments of the start
TURNS = 3  # rounds in which balls follow the sets; then they only grow
HOPELESS = 30.0  # times as much as is taken for granted


def filled(c: Tube, reach: np.ndarray, linear: np.ndarray, held: np.ndarray, course: dict) -> Tube:
    """The tube with reaches and segments that suffice as far as they were found, of nodes before laps begin.

    reach: what the linear loop reaches, (nodes, stages + 1, states); linear: its matrices. held: states at whose change of
    sign a node is split. course: of the nominal run, see `samples`.
    """
    stop = int(c.after[-1]) if c.after[-1] >= 0 else len(c.z) - 1
    own = c.reach.copy()
    own[:stop] = MORE * reach[:stop] + LEAST
    c = replace(c, reach=own)
    Z = begun(c)
    at = 0
    many = FIRST
    while at < stop:
        nodes = np.arange(at, min(at + many, stop))
        foretold(c, nodes, Z, linear)
        c, after, rounds = settled(c, nodes, Z, held, course)
        if after is None:
            return c
        Z = after
        at = int(nodes[-1]) + 1
        many = min(2 * many, LONGEST) if rounds <= FEW else FIRST
    if c.after[-1] < 0:
        c.reach[-1, 0, c.section] = MORE * Z.reach + LEAST
    return c


def foretold(c: Tube, nodes: np.ndarray, Z: Deviations, linear: np.ndarray) -> None:
    """What holds the sets of a block's nodes as the linear loop moves them."""
    Z = Deviations(Z.G, Z.kept, Z.B)
    nothing = np.zeros(linear.shape[1:])
    for k in nodes:
        c.segments[k], c.balls[k] = fitted(Z, c.segments.shape[-1], MORE)
        Z.moved(linear[k], nothing, nothing[0])


def fitted(Z: Deviations, columns: int, more: float) -> tuple[np.ndarray, np.ndarray]:
    """(G, B) of a set, as the certificate has them: an ellipsoid that holds what is beside the starts' segments."""
    n = len(Z.G)
    found = np.zeros((n, columns))
    many = min(Z.kept, columns)
    found[:, :many] = Z.G[:, :many]
    H = np.hstack([Z.G[:, many:], FLOOR * np.diag(Z.reach + LEAST)])
    E = ellipsoid(H, Z.B)
    X = reciprocal(E)
    return found, more * longest(X @ H, X @ Z.B) * E


def ellipsoid(H: np.ndarray, B: np.ndarray) -> np.ndarray:
    """E with Hζ + Bu in {Ev : |v| ≤ 1}: E Eᵀ = P (Σ h_jh_jᵀ/p_j + BBᵀ/p_0), P = Σp, p about the lengths in these axes."""
    size = row_sums(H) + row_lengths(B)
    scaled = H / size[:, None]
    ball = B / size[:, None]
    X = np.eye(len(H))
    for _ in range(SWEEPS):
        lengths = np.sqrt(((X @ scaled) ** 2).sum(axis=0))
        p = positive(lengths)
        whole = np.sqrt(((X @ ball) ** 2).sum())
        C = (scaled / p) @ scaled.T + ball @ ball.T / positive(whole)
        λ, U = np.linalg.eigh((lengths.sum() + whole) * C)
        long = np.sqrt(np.maximum(λ, FLAT * λ.max()))
        X = U.T / long[:, None]
    return size[:, None] * U * long


def grown(segments: np.ndarray, ball: np.ndarray, Z: Deviations, share: float) -> tuple:
    """(G, B): the set's own G, and the ball longer by what it lacked."""
    found = segments.copy()
    many = min(Z.kept, segments.shape[1])
    found[:, :many] = Z.G[:, :many]
    return found, BESIDE * share * ball if share > 1 else ball


def settled(c: Tube, nodes: np.ndarray, Z: Deviations, held: np.ndarray, course: dict) -> tuple:
    """(tube, set after the block or None, rounds)."""
    for k in range(ROUNDS):
        rows = united(next(walked(c, nodes, course)))
        need, share, fits, after = carried(c, rows, Z, k < TURNS)
        taken = c.reach[nodes]
        if (need <= taken).all() and (share <= 1).all():
            return c, after, k + 1
        if k and not (need.max(axis=(0, 1)) <= HOPELESS * taken.max(axis=(0, 1))).all():
            break
        c.reach[nodes] = np.maximum(taken, MORE * need)
        c.segments[nodes], c.balls[nodes] = fits
        others = c.splits[~np.isin(c.splits[:, 0], nodes)]
        c = replace(c, splits=np.vstack([others, crossed(rows, held, nodes)]))
    return c, None, ROUNDS


def carried(c: Tube, rows: Rows, Z: Deviations, turns: bool) -> tuple:
    """(reaches, shares, (segments, balls), set after it): what a block needs. turns: whether balls may turn, or only grow."""
    Z = Deviations(Z.G, Z.kept, Z.B)
    need = np.zeros((len(rows.node), c.stages + 1, c.states))
    share = np.zeros(len(rows.node))
    segments = c.segments[rows.node]
    balls = c.balls[rows.node]
    X = reciprocal(balls)
    for r, k in enumerate(rows.node):
        Z.merged()
        share[r] = Z.within(c.segments[k], c.balls[k], X[r])
        if turns or not np.isfinite(share[r]):
            segments[r], balls[r] = fitted(Z, segments.shape[-1], BESIDE)
        else:
            segments[r], balls[r] = grown(segments[r], balls[r], Z, share[r])
        need[r] = stages(Z, rows, r, c.stages_of(int(c.finer[k])))
        if not np.isfinite(need[r]).all():
            need[r:] = np.inf
            break
        Z.moved(*sample(c, rows, r))
    return need, share, (segments, balls), Z


def crossed(seen: Seen | Rows, held: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Rows for both sides of zero of every held command that may change its sign at a node; none of a node where too many may."""
    own = np.flatnonzero(held)
    crossing = (seen.low[:, own] < 0) & (seen.high[:, own] > 0)
    crossing[crossing.sum(axis=1) > MOST_SPLITS] = False
    rows = [(k, i, 0.0) for j, i in enumerate(own) for k in nodes[crossing[:, j]]]
    return np.array(sorted(rows), float).reshape(-1, 3)


class Fits:
    """What would hold the sets of every node, as they pass by."""

    def __init__(self, c: Tube):
        self.segments = c.segments.copy()
        self.balls = c.balls.copy()

    def take(self, k: int, Z: Deviations) -> None:
        self.segments[k], self.balls[k] = fitted(Z, self.segments.shape[-1], BESIDE)

    def put(self, c: Tube, nodes: np.ndarray, share: np.ndarray | None = None) -> Tube:
        """The tube with those of these nodes. share: of balls that was needed: these grow where it was too much."""
        segments = c.segments.copy()
        balls = c.balls.copy()
        segments[nodes], balls[nodes] = self.segments[nodes], self.balls[nodes]
        if share is not None:
            own = nodes[np.isfinite(share[nodes])]
            balls[own] = longer(c, share).balls[own]
        return replace(c, segments=segments, balls=balls)


def longer(c: Tube, share: np.ndarray) -> Tube:
    """The tube with larger balls where more than these was needed."""
    more = np.where((share > 1) & np.isfinite(share), BESIDE * share, 1.0)
    return replace(c, balls=c.balls * more[:, None, None])
