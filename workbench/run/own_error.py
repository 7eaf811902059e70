"""The error that a run makes by its steps, estimated on the run itself.

From a few of its logged states the loop is run again for a while with steps half as long (adaptive steps: with a sixteenth of
the error a step may make). What the two differ by, times 16/15, is the error of a method of order four gathered since that
state (Richardson). Where it still grows at the end of such a window, like (t)^p with p ≤ 1, it is taken to grow so until the run
ends; where a loop forgets its errors p is 0.

    e = 16/15 · d(L) · (t_end/L)^p,   p = log₂ d(L)/d(L/2) within 0 … 1,   the largest of all windows

Windows lie at the start, where the states move most, and evenly in between; together they are SHARE of the run. A law
that is called from Python keeps its memory to itself, so there the one window is the beginning of the run.

Source: [Hairer96] section IV.2 names the method; that the difference of a run and its refinement is the error is Richardson's.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from workbench.contract.system import System
from workbench.run.columns import signals_of
from workbench.run.demand import Demand
from workbench.run.fused import Fused, integrator, own_integrator
from workbench.run.grid import grid
from workbench.run.log import Log
from workbench.run.pace import Pace
from workbench.run.scenario import Scenario
from workbench.run.start import start_state

SHARE = 0.02  # share of a run's samples, in all windows
SHORTEST = 24  # samples of a window, where the run has as many
EVENLY, BUSIEST = 3, 2  # windows
GLANCES = 2000  # rows at which it is seen where states move most
FLOOR = 1e-6  # share of the largest state in a unit: one that stays below is measured by this
RICHARDSON = 16 / 15  # 1/(1 − 2⁻⁴)


def windows(states: np.ndarray) -> tuple[list[int], int]:
    """(first samples, length in samples) of the windows of a run with these states (samples, states)."""
    n = len(states)
    length = min(max(SHORTEST, round(SHARE * n / (EVENLY + BUSIEST))), n - 1)
    last = n - 1 - length
    starts = set(np.linspace(0, last, EVENLY).astype(int).tolist())
    every = max(1, n // GLANCES)
    seen = states[::every]
    span = np.ptp(seen, axis=0)
    moved = np.abs(np.diff(seen, axis=0)) / np.where(span > 0, span, 1.0)
    busy = np.argsort(-moved.max(axis=1, initial=0.0), kind="stable")
    starts |= {min(int(k) * every, last) for k in busy[:BUSIEST]}
    return sorted(starts), length


def errors_of(
    loop: System, scenario: Scenario, log: Log, demand: Demand | None = None
) -> dict[str, float]:
    """Name → error (in its unit) of what the integrator made of a run with this log, which has a row a sample.

    {} where that cannot be told: a run that did not reach its end, or a plant with an integrator of its own.
    """
    if own_integrator(loop) is not None or not log.status.completed or len(log) < 3:
        return {}
    if loop.hosted:
        return _of_its_beginning(loop, scenario, log)
    x0 = start_state(loop, scenario)
    ready = Fused(loop, scenario, demand or Demand(loop, scenario, x0), x0)
    signals = signals_of(loop)
    first: dict[str, int] = {}
    for i, s in enumerate(signals):
        first.setdefault(s.name, i)
    rows = log.values[:, : len(first)]
    starts, length = windows(rows[:, : len(loop.states)])
    worst = np.zeros(len(first))
    begun = len(loop.states) + len(loop.power_names)
    for k in starts:
        state = [log.array(s.name)[k] for s in signals[:begun]]
        finer = again(ready, pace_of(log), k, state, length)
        if finer is not None:
            gap = np.abs(finer[1:, list(first.values())] - rows[k + 1 : k + length + 1])
            worst = np.maximum(worst, grown(gap, len(log)))
    return dict(zip(first, worst.tolist()))


def share_of(log: Log, errors: dict[str, float], states: list[str]) -> tuple[float, str]:
    """(largest error of a state as a share of the largest value it takes, which state).

    A state that stays below FLOOR of the largest in its unit is measured by that.
    """
    size = {name: float(np.abs(log.array(name)).max()) for name in states if name in errors}
    top: dict[str, float] = {}
    for name, value in size.items():
        unit = log.signal(name).unit
        top[unit] = max(top.get(unit, 0.0), value)
    shares = {
        name: errors[name] / max(value, FLOOR * top[log.signal(name).unit])
        for name, value in size.items()
        if errors[name]
    }
    worst = max(shares, key=shares.__getitem__, default="")
    return shares.get(worst, 0.0), worst


def pace_of(log: Log) -> Pace:
    """The pace a log was made at."""
    told = log.provenance["pace"]
    return Pace(told["longest"] or inf, told["implicit"], told["why"], told["tolerance"])


def _of_its_beginning(loop, scenario: Scenario, log: Log) -> dict[str, float]:
    """Largest error of each signal over the beginning of the run, for a law that is called from Python."""
    from workbench.run.hosted import simulate_hosted

    length = min(max(SHORTEST, round(SHARE * len(log))), len(log) - 1)
    short = replace(scenario, duration=length * float(loop.period), log_period=None)
    finer = simulate_hosted(loop, short, at=pace_of(log).finer(scenario.max_step))
    n = min(len(finer), length + 1)
    names = [name for name in finer.names if name in log]
    gap = np.abs(np.column_stack([finer.array(name)[1:n] - log.array(name)[1:n] for name in names]))
    return dict(zip(names, grown(gap, len(log)).tolist()))


def grown(difference: np.ndarray, n: int) -> np.ndarray:
    """Error of a run of n samples, by the difference (samples, columns) within a window."""
    half = len(difference) // 2
    before = difference[:half].max(axis=0, initial=0.0)
    after = difference.max(axis=0, initial=0.0)
    ratio = np.divide(after, before, out=np.ones_like(after), where=before > 0)
    power = np.clip(np.log2(np.maximum(ratio, 1.0)), 0.0, 1.0)
    return RICHARDSON * after * (n / len(difference)) ** power


def again(ready: Fused, pace: Pace, k: int, state, length: int) -> np.ndarray | None:
    """Rows k … k + length from the state after the jump at k, with finer steps; None where these do not get that far."""
    finer = pace.finer(ready.scenario.max_step)
    g = replace(grid(ready.loop, ready.scenario, finer.longest), every=1)
    machine, c = integrator(ready.loop, ready.traced, ready.compiled, finer)
    state = np.array(state, dtype=float)
    rows = np.empty((length + 1, machine.row))
    done = ready.advance(machine, c, g, state, k, 1, rows, jumping=False)  # the jump at k is over
    done += ready.advance(machine, c, g, state, k + 1, length, rows[1:])
    return rows if done == length + 1 and np.isfinite(rows).all() else None
