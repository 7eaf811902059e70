"""A linear predictive law as expressions, as it is while none of its limits is active.

    x̂ ← x̂ + L (y − h − C x̂)      or the measured states themselves, x̂ with the estimated disturbances
    z* = −H⁻¹F θ,   u = G θ       z* the moves that cost least without limits, u the first of them
    excess = max_i max(a_i z* − high_i(θ), low_i(θ) − a_i z*)

The quadratic programme is strictly convex. So where excess ≤ 0, z* meets every limit and is its only solution: the command
of `MPC` and this one are the same but for the rounding of the solver. `excess` is a state: what it was at the last sample.

Source: [RawlingsMayneDiehl17] section 1.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from controllers.mpc.dense import NONE, Dense
from controllers.mpc.prepare import Prepared
from workbench.contract.errors import InputError
from workbench.contract.system import Controller, Signal

EXCESS = "excess"


@final
@dataclass(frozen=True, eq=False)
class Estimate:
    """A x̂ + L y + c."""

    A: np.ndarray
    L: np.ndarray
    c: np.ndarray

    def of(self, x: Sequence, y: Sequence) -> list:
        pairs = zip(times(self.A, x), times(self.L, y), self.c.tolist())
        return [a + b + c for a, b, c in pairs]


@final
@dataclass(frozen=True, eq=False)
class Signals:
    """Of the law, as its base calls them, and those of (x̂, d̂)."""

    measured: tuple[Signal, ...]
    commands: tuple[Signal, ...]
    references: tuple[Signal, ...]
    estimated: tuple[Signal, ...]


@final
@dataclass(frozen=True, eq=False)
class Unconstrained(Controller):
    """The law in the module's docstring. Its memory is (x̂, d̂, u_{−1}) and, where there are limits, `excess`.

    signals            what it reads, gives and is given, and (x̂, d̂);  begun: (x̂, d̂) before the first measurement
    first, corrected   (x̂, d̂) with the first measurement, and with every one
    gain, ahead        u, and x̂ one sample on, over θ = (x̂, u_{−1}, d̂, references, 1)
    limits             rows over θ: by how much z* is beyond each limit
    """

    signals: Signals
    begun: np.ndarray
    first: Estimate
    corrected: Estimate
    gain: np.ndarray
    ahead: np.ndarray
    limits: np.ndarray

    @property
    def measured(self) -> tuple[Signal, ...]:
        return self.signals.measured

    @property
    def commands(self) -> tuple[Signal, ...]:
        return self.signals.commands

    @property
    def references(self) -> tuple[Signal, ...]:
        return self.signals.references

    @property
    def states(self) -> tuple[Signal, ...]:
        before = [
            Signal(f"{s.name}_before", s.unit, f"{s.name} of the sample before")
            for s in self.commands
        ]
        most = Signal(EXCESS, "1", "largest excess over a limit of the predictive law")
        return (*self.signals.estimated, *before, *([most] if self.conditions else []))

    @property
    def conditions(self) -> tuple[str, ...]:
        return (EXCESS,) if len(self.limits) else ()

    def initial(self) -> Sequence[float]:
        before = [0.0] * len(self.commands)
        return [*self.begun.tolist(), *before, *([-1.0] if self.conditions else [])]

    def start(self, t, z, y, r):
        n = len(self.begun)
        return [*self.first.of(z[:n], y), *z[n:]]

    def step(self, t, z, y, r):
        n = len(self.begun)
        x = self.corrected.of(z[:n], y)
        moved = x[: len(self.ahead)]
        still = x[len(self.ahead) :]
        θ = [*moved, *z[n : n + len(self.commands)], *still, *r, 1.0]
        u = times(self.gain, θ)
        excess = [reduce(np.maximum, times(self.limits, θ))] if self.conditions else []
        return [*times(self.ahead, θ), *still, *u, *excess], u


def times(M: np.ndarray, v: Sequence) -> list:
    """M v, row by row, without what is multiplied by zero."""
    return [sum((a * x for a, x in zip(row, v) if a), 0.0) for row in M.tolist()]


def unconstrained(law: Any) -> Unconstrained:
    """The expressions of an `MPC`. Raises InputError for one that is no single linear law while its limits are not active."""
    if law.relinearise or law.extra is not None or law.overlap:
        raise InputError(
            "the predictive law changes from sample to sample, makes up for an overlap, or has costs of the user's own",
            mend="without relinearise and extra, on a model whose valves have no overlap",
        )
    if any(limit.soft for limit in law.limits):
        raise InputError(
            "the predictive law has soft limits, whose slack is at a limit of its own all the time",
            mend="make the limits hard, or leave them out",
        )
    made = law.prepared
    gain = made.dense.gain()
    return Unconstrained(
        Signals(law.measured, law.commands, law.references, _estimated(law, made)),
        made.start_x,
        _first(made),
        _corrected(made),
        gain,
        made.next_θ + made.problem.model.B @ gain,
        excesses(made.dense),
    )


def _estimated(law: Any, made: Prepared) -> tuple[Signal, ...]:
    """Signals of (x̂, d̂): the plant's states, commands on their way, disturbances."""
    states = law.model.states
    waiting = len(made.problem.model.A) - len(states)
    own = [Signal(f"{s.name}_hat", s.unit, f"estimated {s.name}") for s in states]
    late = [Signal(f"waiting_{k}", "1", "command on its way") for k in range(waiting)]
    pushes = [
        Signal(f"d_{name}_hat", "1", f"estimated disturbance at {name}")
        for name in law.disturbances
    ]
    return (*own, *late, *pushes)


def _corrected(made: Prepared) -> Estimate:
    """As `Prepared.corrected`."""
    n = len(made.start_x)
    L = made.L
    if L is not None:
        return Estimate(np.eye(n) - L @ made.C_a, L, -L @ made.problem.model.h)
    reads = np.zeros((n, len(made.C_a)))
    reads[np.arange(len(made.reads)), list(made.reads)] = 1.0
    kept = np.diag(1.0 - reads.any(axis=1))
    return Estimate(kept, reads, np.zeros(n))


def _first(made: Prepared) -> Estimate:
    """As `MPC.start`: the nearest state, in units of what a stroke moves, that explains the first measurement."""
    n = len(made.start_x)
    model = made.problem.model
    own = model.C[:, : model.n]
    L = np.zeros((n, len(own)))
    if made.L is not None:
        L[: model.n] = made.sizes[:, None] * np.linalg.pinv(own * made.sizes, rcond=1e-10)
    C = np.hstack([model.C, np.zeros((len(own), n - model.C.shape[1]))])
    return Estimate(np.eye(n) - L @ C, L, -L @ model.h)


def excesses(dense: Dense) -> np.ndarray:
    """Rows over θ: by how much −H⁻¹F θ is beyond each limit of the programme, in strokes or as a share of the row."""
    q = dense.problem
    z = -np.linalg.solve(dense.H, dense.F)
    one = q.pick("one")[0, : q.n_θ]
    before = q.pick("u")[:, : q.n_θ] / q.stroke[:, None]
    step = q.slew / q.stroke
    first = z[: len(step)] - before
    sides = (
        (z, dense.z_low, dense.z_high),
        (dense.G @ z + dense.G_θ, dense.low, dense.high),
        (first, -step, step),
    )
    found = [np.zeros((0, q.n_θ))]
    for rows, low, high in sides:
        above = np.abs(high) < NONE
        below = np.abs(low) < NONE
        found.append(rows[above] - np.outer(high[above], one))
        found.append(np.outer(low[below], one) - rows[below])
    return np.vstack(found)
