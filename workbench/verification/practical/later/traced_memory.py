"""Whether the memory of a law that is an expression leads to other gains after its run; `clock` does this for called laws.

The memory z is part of the loop's state. Entries of z that still run on at the end of the longest run (`running_on`) are
extrapolated in time, everything else is held, and the law's response to a displacement δ of the plant is compared with that during
the run:

    g(t) = u(t, x + δ, z(t)) − u(t, x, z(t)),      z(t) = z(t_end) + ż (t − t_end)

An entry that leaks, such as a filter of a measurement, comes to rest while the measurement is held. It is extrapolated by its time
constant τ at most, unless it follows another entry that runs on:

    1/τ = −∂ż/∂z,      of a sampled law (1 − ∂z⁺/∂z)/T

States of wrappers (held and delayed commands, filters) are no memory of the law. Where z(t) brings a command to its limit, its g is
extrapolated from before: what limits do is the question of other claims.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.contract.system import innermost, names
from workbench.numerics.calculus import Traced, trace
from workbench.verification.observed.running_on import (
    ASKED,
    LEAST,
    LOOKS,
    OFF,
    RUNS_ON,
    running_on,
)
from workbench.verification.observed.shares import command_limits
from workbench.verification.practical.disturbed import longest
from workbench.verification.practical.later.stray import moved, stray
from workbench.verification.run import Run

NEAR = 1e-6  # share of a number: how far apart steps are compared
HARDLY = 1e-5  # 1/s: a leak that is less is rounding
HALVINGS = (
    40  # halvings of the time from a run's end to an instant at which a command is at its limit
)


def of_memory(run: Run) -> str:
    """In words, when the law first has gains that it never had in the run; "" where nothing was found."""
    seen = longest(run)
    rates = _rates(seen)
    if not rates:
        return ""
    length = float(seen.log.time[-1])
    return stray(_Gains(seen, rates), length, (RUNS_ON,), ASKED, ASKED, LEAST)


def _rates(run: Run) -> dict[int, float]:
    """Numbers of the law's memory that run on: place among the loop's states → rate, 1/s."""
    own = names(innermost(run.loop.controller).states)
    rows = np.linspace(0, len(run.log.time) - 1, LOOKS).astype(int)
    time = run.log.time[rows]
    rates = {n: running_on(time, run.log.array(n)[rows]) for n in own if n in run.log}
    states = names(run.loop.states)
    return {states.index(n): rate for n, rate in rates.items() if rate is not None}


class _Gains:
    """g(t) at the end of a run, as the module has it."""

    def __init__(self, run: Run, rates: dict[int, float]):
        traced = trace(run.loop, run.demand.live)
        self.rates = rates
        self.end = float(run.log.time[-1])
        self.x = np.array([run.log.array(n)[-1] for n in names(run.loop.states)])
        self.w = run.demand.at(run.log.time[[-1]])[0]
        self.moved = OFF * moved(run)
        self.constants = traced.constants(run.loop)
        self.command = _command(run, traced)
        self.reach = self._reaches(run.loop.period, traced)
        known = command_limits(run.loop)
        commands = names(run.loop.controller.commands)
        self.limits = np.array([known.get(name, (-np.inf, np.inf)) for name in commands]).T

    def __call__(self, t: float) -> np.ndarray:
        gains, limited = self.gains(t)
        if not limited.any():
            return gains
        last, _ = self.gains(self.end)
        until = self.before_limits(t)
        if until == self.end:
            return np.where(limited, last, gains)
        change = (self.gains(until)[0] - last) / (until - self.end)
        return np.where(limited, last + change * (t - self.end), gains)

    def before_limits(self, t: float) -> float:
        """The last instant between the run's end and t at which no command is at its limit yet."""
        inside = self.end
        beyond = t
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + beyond)
            if self.gains(middle)[1].any():
                beyond = middle
            else:
                inside = middle
        return inside

    def gains(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(g, whether the command is at its limit) of every command."""
        x = self.x.copy()
        for i, rate in self.rates.items():
            x[i] += rate * min(t - self.end, self.reach[i])
        both = [self.command(t, at, self.w, self.constants) for at in (x + self.moved, x)]
        low, high = self.limits
        return both[0] - both[1], np.any([(u <= low) | (u >= high) for u in both], axis=0)

    def _reaches(self, period: float | None, traced: Traced) -> dict[int, float]:
        """For how long [s] each entry is extrapolated: its time constant, or ∞ where it does not leak or follows another entry."""
        step = traced.flow if period is None else traced.jump
        rests_on = np.array(step.jac_sparsity(0, 1)) != 0
        follows = [i for i in self.rates if any(rests_on[i, j] for j in self.rates if j != i)]
        leaks = {i: self._leak(i, period, step) for i in self.rates}
        return {i: 1 / k if k > 0 and i not in follows else np.inf for i, k in leaks.items()}

    def _leak(self, i: int, period: float | None, step) -> float:
        """−∂ż/∂z of a number of the memory, 1/s, by a difference; 0 where rounding hides it."""
        off = np.zeros(len(self.x))
        off[i] = NEAR * max(1.0, abs(self.x[i]))
        ends = [
            np.array(step(self.end, x, self.w, self.constants)).ravel()[i]
            for x in (self.x, self.x + off)
        ]
        slope = float(ends[1] - ends[0]) / off[i]
        leak = -slope if period is None else (1 - slope) / period
        return leak if leak > HARDLY else 0.0


def _command(run: Run, traced: Traced) -> Callable[..., np.ndarray]:
    """What the law commands at (t, x, w), with the constants of its trace."""
    commands = names(run.loop.controller.commands)
    if run.loop.period is None:
        part = traced.log
        listed = names(run.loop.monitors)
    else:
        part = traced.jump
        listed = names(run.loop.states)
        commands = [f"{name}_held" for name in commands]
    rows = [listed.index(name) for name in commands]
    return lambda *at: np.array(part(*at)).ravel()[rows]
