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
from workbench.verification.tube.checker.zonotope import Deviations

FIRST = 125  # samples of a block at first; twice as many after one that took few rounds
LONGEST = 1000
FEW = 3
ROUNDS = 40
MORE = 1.01  # times what was needed is taken for granted next
LEAST = 1e-200  # what never moves is given this, more than the least that rounding adds
HOPELESS = 30.0  # times as much as is taken for granted


def filled(c: Tube, linear: np.ndarray, held: np.ndarray) -> Tube:
    """The tube with reaches that suffice as far as they were found, of nodes before laps begin.

    linear: what the linear loop reaches, (nodes, stages + 1, states). held: states at whose change of sign a node is split.
    """
    stop = int(c.after[-1]) if c.after[-1] >= 0 else len(c.z) - 1
    reach = c.reach.copy()
    reach[:stop] = MORE * linear[:stop] + LEAST
    c = replace(c, reach=reach)
    Z = begun(c)
    at = 0
    many = FIRST
    while at < stop:
        nodes = np.arange(at, min(at + many, stop))
        c, after, rounds = settled(c, nodes, Z, held)
        if after is None:
            return c
        Z = after
        at = int(nodes[-1]) + 1
        many = min(2 * many, LONGEST) if rounds <= FEW else FIRST
    if c.after[-1] < 0:
        c.reach[-1, 0, c.section] = MORE * Z.reach + LEAST
    return c


def settled(c: Tube, nodes: np.ndarray, Z: Deviations, held: np.ndarray) -> tuple:
    """(tube, set after the block or None, rounds)."""
    for k in range(ROUNDS):
        rows = united(next(walked(c, nodes)))
        need, after = carried(c, rows, Z)
        taken = c.reach[nodes]
        if (need <= taken).all():
            return c, after, k + 1
        if k and not (need.max(axis=(0, 1)) <= HOPELESS * taken.max(axis=(0, 1))).all():
            break
        c.reach[nodes] = np.maximum(taken, MORE * need)
        others = c.splits[~np.isin(c.splits[:, 0], nodes)]
        c = replace(c, splits=np.vstack([others, crossed(rows, held, nodes)]))
    return c, None, ROUNDS


def carried(c: Tube, rows: Rows, Z: Deviations) -> tuple[np.ndarray, Deviations]:
    """The reaches that a block needs, (nodes, stages + 1, states), and the set after it."""
    Z = Deviations(Z.G, Z.kept, Z.B)
    need = np.zeros((len(rows.node), c.stages + 1, c.states))
    for r, k in enumerate(rows.node):
        Z.merged()
        need[r] = stages(Z, rows, r, c.stages_of(int(c.finer[k])))
        if not np.isfinite(need[r]).all():
            need[r:] = np.inf
            break
        Z.moved(*sample(c, rows, r))
    return need, Z


def crossed(seen: Seen | Rows, held: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Both sides of zero for every held command that may change its sign at a node."""
    rows = []
    for i in np.flatnonzero(held):
        crossing = (seen.low[:, i] < 0) & (seen.high[:, i] > 0)
        rows += [(k, i, 0.0) for k in nodes[crossing]]
    return np.array(sorted(rows), float).reshape(-1, 3)
