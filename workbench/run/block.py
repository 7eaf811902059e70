"""A block of runs in the lanes of one compiled loop: what goes into the lanes, and what each run takes out of them."""

from __future__ import annotations

import math

import numpy as np

from workbench.numerics.calculus import Traced
from workbench.numerics.direct import Direct
from workbench.numerics.lanes import Lanes
from workbench.run.attempt import Attempt
from workbench.run.fused import Fused, compiled_loop
from workbench.run.pace import Pace
from workbench.run.room import release

SOME, MANY = 500, 4000  # samples of a block between looks at what its lanes made
IN_CACHE = 2**20  # bytes that their inputs and rows may take to stay in the processor's cache


_lanes: dict = {}


def lanes_of(traced: Traced) -> Lanes:
    """The Lanes of a trace, built once; threads do not trace, so it is asked for before they begin."""
    if id(traced) not in _lanes:
        _lanes[id(traced)] = (traced, Lanes(compiled_loop(traced, None)))
    return _lanes[id(traced)][1]


def known_lanes(traced: Traced) -> Lanes | None:
    """The Lanes of a trace where they are built and compiled; None else."""
    found = _lanes.get(id(traced))
    return found[1] if found is not None and found[1].lib is not None else None


def side_by_side(runs: list[Fused], pace: Pace) -> list[Attempt]:
    """What `pace` makes of runs of one trace whose grids differ in their length at most."""
    lanes = lanes_of(runs[0].traced)
    block = Block(lanes, runs, pace)
    longest = max(g.n for g in block.grids)
    done = 0
    while done < longest and block.advance(done, min(block.chunk, longest - done)):
        done += block.chunk
    return block.attempts()


class Block:
    """Runs in the lanes of one compiled loop; lanes without a run repeat the first."""

    def __init__(self, lanes: Lanes, runs: list[Fused], pace: Pace) -> None:
        self.lanes, self.runs = lanes, runs
        self.grids = [run.grid_at(pace) for run in runs]
        self.logged = [run.columns.room(g.rows) for run, g in zip(runs, self.grids)]
        self.done = [0] * len(runs)
        own = list(range(len(runs))) + [0] * (lanes.count - len(runs))
        alone = lanes.alone
        start = Direct(alone.traced.start)
        begun = [start(0.0, r.x0, r.inputs[0], r.constants) for r in runs]
        self.own = own
        self.state = lanes.room(alone.n_x + alone.n_q)
        self.state[: alone.n_x] = np.array([begun[i] for i in own]).T
        self.c = lanes.room(max(1, len(runs[0].constants)))
        self.c[: len(runs[0].constants)] = np.array([runs[i].constants for i in own]).T
        g = self.grids[0]
        rows = 1 / g.every if g.every else g.rows_a_sample  # of a sample
        numbers = alone.n_w + rows * lanes.row
        fitting = int(IN_CACHE / (8 * lanes.count * numbers)) if numbers else MANY
        self.chunk = min(max(fitting, SOME), MANY)
        self.W = lanes.room(self.chunk, alone.n_w)
        self.rows = lanes.room(math.ceil(self.chunk * rows) + 1, lanes.row)

    def advance(self, first: int, count: int) -> bool:
        """Samples `first` to `first + count` of every run that is not at its end; whether one still goes on."""
        left = [min(g.n - first, count) for g in self.grids]
        wanted = [k if done == first else 0 for k, done in zip(left, self.done)]
        if not any(k > 0 for k in wanted):
            return False
        samples = np.zeros(self.lanes.count, dtype=np.int64)
        samples[: len(wanted)] = np.maximum(wanted, 0)
        g = self.grids[0]
        jumping = self.runs[0].loop.period is not None
        F = self._given(first, count)
        segments = (g.T, g.n1, g.h1, g.n2, g.h2)
        self.lanes.run(
            first, samples, g.every, jumping, segments, self.state, self.W, F, self.c, self.rows
        )
        self._take(first, [int(m) if k > 0 else 0 for m, k in zip(samples, wanted)])
        return True

    def _given(self, first: int, count: int) -> np.ndarray | None:
        """Writes the inputs of the samples into W; returns inputs at the integrator's stages, where the flow depends on them."""
        whole = self.runs[0].inputs
        if all(run.inputs is whole for run in self.runs):  # on one path
            given = whole[first : first + count]
            self.W[: len(given)] = given[:, :, None]
        else:
            for lane, i in enumerate(self.own):
                given = self.runs[i].inputs[first : first + count]
                self.W[: len(given), :, lane] = given
        if not self.runs[0].traced.flow_is_driven:
            return None
        offsets = self.lanes.alone.offsets
        stages = [r.driving(offsets, g, first, count) for r, g in zip(self.runs, self.grids)]
        F = self.lanes.room(*stages[0].shape)
        for lane, i in enumerate(self.own):
            F[..., lane] = stages[i]
        return F

    def _take(self, first: int, made: list[int]) -> None:
        """Put what the lanes made, so many samples each, into the tables of their runs."""
        parts = [
            table[g.kept(first) : g.kept(first + count)]
            for table, g, count in zip(self.logged, self.grids, made)
        ]
        self.lanes.distribute(self.rows, self.runs[0].columns.keep, parts)
        for i, count in enumerate(made):
            release(parts[i])
            if count:
                self.done[i] = first + count

    def attempts(self) -> list[Attempt]:
        """What became of every run."""
        table = zip(self.runs, self.grids, self.done, self.logged)
        return [
            run.attempt(g, done, logged[: g.kept(done)], self.state[:, i].copy())
            for i, (run, g, done, logged) in enumerate(table)
        ]
