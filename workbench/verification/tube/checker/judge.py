"""The inequalities of a tube certificate, all of them.

    the set at node k            Z_0 = {start(x_0 + δ) − z_0, |δ| ≤ half}
                                 Z_i = M_S Z_k ⊕ {|a| ≤ error_S + |centre − z_i| + fresh}
    in what holds it             Z_k ⊂ {Gζ + Bu : |ζ_i| ≤ 1, |u| ≤ 1}, from which forms are bounded
    which the stages are held to max |(M_s e)_j| over Z_k + error_sj ≤ reach[k, s, j]
    where laps begin             i = after[−1]:  Z_i ⊂ {Gζ + e : |R⁻¹ e| ≤ σ}, from which one lap leads back into it,
                                 ζ the starts of what is constant, |ζ_j| ≤ 1, and e 0 in it
    what is told of a sample     least ≤ out(z_k + e, w_k) ≤ most, |e| ≤ reach[k, 0]
    bounds                       every box that a run crosses, between samples too, lies in [low, high]

M_s and error_s are those of `samples`, which take the reaches for granted: stage by stage, and by induction from sample to
sample, they are then known. Z is a sum of segments and of a ball (`zonotope`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .balls import inverse
from .centred import centred
from .data import Tube
from .interval import Interval
from .samples import Rows, begun, constants, disturbances, moment, united, walked
from .section import Refused, check_shape, constant
from .zonotope import Deviations, reciprocal

AT_ONCE = 250  # nodes of which what is told is bounded side by side


@dataclass(frozen=True, eq=False)
class Seen:
    """What came of following the sets, per node.

    need          the reaches that the stages need, (nodes, stages + 1, states); 0 where nothing is read
    share         of its ball that each node's set needs beside G, (nodes,)
    added, defect what a sample adds to a set, and where its centre ends, (nodes, section)
    low, high     between which runs stay after every node, (nodes, states)
    enters, returns  |R⁻¹e| at most where laps begin: at first, and after a lap
    contracts     what a lap leaves of a deviation, if nothing were added
    failed        the first node whose reaches do not hold its runs, or None
    """

    need: np.ndarray
    share: np.ndarray
    added: np.ndarray
    defect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    enters: float
    returns: float
    contracts: float
    failed: int | None


def followed(c: Tube, walk: Any = walked, watch: Any = None) -> Seen:
    """The sets of deviations from node to node, held against what the certificate says they reach.

    walk: gives the samples; watch(node, set): looks on.
    """
    K, n = c.z.shape
    need = np.zeros(c.reach.shape)
    share = np.zeros(K)
    X = reciprocal(c.balls)
    added = np.zeros((K, n))
    defect = np.zeros((K, n))
    low = np.full((K, c.states), np.inf)
    high = np.full((K, c.states), -np.inf)
    lap = Lap(c)
    Z = begun(c)
    for rows in walk(c):
        ones = united(rows)
        at = ones.node
        added[at] = ones.error[:, -1, c.section]
        defect[at] = ones.defect
        low[at] = ones.low
        high[at] = ones.high
        for r, k in enumerate(at):
            Z = lap.entered(k, Z)
            Z.merged()
            if watch:
                watch(k, Z)
            share[k] = Z.within(c.segments[k], c.balls[k], X[k])
            need[k] = stages(Z, ones, r, c.stages_of(int(c.finer[k])))
            if k == K - 1:
                lap.closes(Z, rows, ones)
            elif not np.isfinite(need[k]).all():
                return Seen(
                    need=need,
                    share=share,
                    added=added,
                    defect=defect,
                    low=low,
                    high=high,
                    enters=np.inf,
                    returns=np.inf,
                    contracts=np.inf,
                    failed=int(k),
                )
            Z.moved(*sample(c, ones, r))
    if lap.first < 0:
        need[-1, 0, c.section] = Z.reach
    bad = ~(need <= c.reach).all(axis=(1, 2)) | ~(share <= 1)
    failed = int(np.argmax(bad)) if bad.any() else None
    return Seen(need, share, added, defect, low, high, *lap.sizes, failed)


def stages(Z: Deviations, rows: Rows, r: int, many: int) -> np.ndarray:
    """How far every state gets from the centre before every stage and after the last, from the deviations of a row's node.

    many: stages that the node has; later ones are the last once more.
    """
    M = rows.M[r, : many + 1]
    wide = M.reshape(-1, M.shape[-1])
    off = rows.off[r, : many + 1].reshape(wide.shape)
    found = Z.along(wide, off).reshape(M.shape[:-1]) + rows.error[r, : many + 1]
    return found[np.minimum(np.arange(rows.M.shape[1]), many)]


def sample(c: Tube, rows: Rows, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(M, what it is off by, what is added): of a whole sample, as the section sees it."""
    S = c.section
    added = rows.error[r, -1, S] + rows.defect[r] + c.fresh[S]
    return rows.M[r, -1, S], rows.off[r, -1, S], added


class Lap:
    """The part that repeats: where deviations enter it, and what one lap makes of {Gζ + e : |R⁻¹e| ≤ σ}.

    ζ are the starts of what is constant, one column of G each: runs differ by them for ever, and e comes closer.
    """

    def __init__(self, c: Tube):
        self.c = c
        self.first = int(c.after[-1])
        self.sizes = (0.0, 0.0, 0.0)  # enters, returns, contracts
        stays = constant(c)
        self.stays = stays[c.section]
        self.own = np.flatnonzero(stays[c.half > 0])  # columns of the starts' segments
        self.G = c.segments[self.first, :, : len(self.own)]
        X, η = inverse(c.R[None])
        self.X = X[0]
        self.share = 1 - float(η[0]) * (1 + 1e-12) if η[0] < 0.5 else 0.0

    def entered(self, k: int, Z: Deviations) -> Deviations:
        """The set where laps begin instead of the deviations that come to it; these elsewhere."""
        if k != self.first:
            return Z
        self.sizes = (self.size(Z, self.own)[1], np.inf, np.inf)
        ball = np.where(self.stays[:, None], 0.0, self.c.R * self.c.σ)
        return Deviations(self.G, self.G.shape[1], ball)

    def closes(self, Z: Deviations, rows: Rows, ones: Rows) -> None:
        """The last sample of a lap; where it is the only one the sides of a split need not be taken together."""
        if self.first == len(self.c.z) - 1:
            ones = rows
        ends = []
        for r in np.flatnonzero(ones.node == len(self.c.z) - 1):
            after = Deviations(Z.G, Z.kept, Z.B)
            with np.errstate(all="ignore"):  # of a sample that nothing bounds
                after.moved(*sample(self.c, ones, r))
                ends.append(self.size(after, np.arange(len(self.own))))
        ball, whole = np.max(ends, axis=0)
        self.sizes = (self.sizes[0], whole, ball / self.c.σ)

    def size(self, Z: Deviations, own: np.ndarray) -> tuple[float, float]:
        """|R⁻¹e| at most where laps begin: of the ball, and of everything. own: columns of Z that are those of G."""
        others = np.delete(Z.G, own, axis=1)
        beside = Deviations(np.hstack([Z.G[:, own] - self.G, others]), 0, Z.B)
        moved = beside.G[self.stays].any() or beside.B[self.stays].any()
        if moved or not self.share:
            return np.inf, np.inf
        ball, straight = beside.measured(self.X)
        return ball / self.share, (ball + straight) / self.share * (1 + 1e-15)


def measured(c: Tube) -> tuple[np.ndarray, np.ndarray]:
    """Between which numbers what is told of every sample is, (nodes, outputs) each; ±∞ where nothing bounds it."""
    fixed = constants(c)
    parts = np.array_split(np.arange(len(c.z)), 1 + len(c.z) // AT_ONCE)
    low, high = zip(*(told(c, nodes, fixed) for nodes in parts))
    return np.concatenate(low), np.concatenate(high)


def told(c: Tube, nodes: np.ndarray, fixed: list) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of what is told at some nodes, as `measured`. fixed: what the loop's parameters give."""
    z = c.z[nodes]
    reach = c.reach[nodes, 0]
    with np.errstate(all="ignore"):
        state = [Interval(np.zeros(len(z))) for _ in range(c.states)]
        for j, i in enumerate(c.section):
            state[i] = Interval(z[:, j]) + Interval(-reach[:, i], reach[:, i])
        wanted = disturbances(c, nodes)
        clock = moment(nodes * c.T, 0.0, 0.0)
        found = centred(c.out, [clock, *state, *wanted, *fixed], 1, c.states)
    low = np.zeros((len(z), len(found)))
    high = np.zeros((len(z), len(found)))
    for i, one in enumerate(found):
        low[:, i] = one.value.lo
        high[:, i] = one.value.hi
    return low, high


def judge(c: Tube) -> Seen:
    """What a certificate that proves what it says was seen to do; raises Refused with the reason."""
    check_shape(c)
    seen = followed(c)
    if seen.failed is not None:
        raise Refused(
            f"sample {seen.failed}: the tube does not hold its runs until the next sample"
        )
    if c.after[-1] >= 0 and not (seen.enters <= c.σ and seen.returns <= c.σ):
        raise Refused(
            f"laps: σ = {c.σ:.6g}, and {max(seen.enters, seen.returns):.6g} is needed where they begin"
        )
    least, most = measured(c)
    wrong = ~((least >= c.least) & (most <= c.most)).all(axis=0)
    if wrong.any():
        raise Refused(f"{c.told[np.argmax(wrong)]}: it may be beyond the bounds that are said")
    beyond = ~((seen.low >= c.low) & (seen.high <= c.high))
    if beyond.any():
        k, i = np.argwhere(beyond)[0]
        raise Refused(f"bounds: state {i} leaves them after sample {int(k)}")
    return seen
