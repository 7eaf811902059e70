"""The search for the minimum: guesses, a scan over delays, Levenberg–Marquardt steps in a trust region.

What is minimised is the sum of squared residuals with each record's offset (and trend) projected out, which is the same
as estimating them along. Steps into unstable models are refused; the a_j of stable ones stay positive. A search that is
stopped by either is not at a minimum: `edge` tells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.identification.descent import Task, optimised
from workbench.identification.model import Channel, LinearModel
from workbench.identification.records import Record
from workbench.identification.start import guesses

BRIEF = 12  # evaluations from each guess, before the best two go on
GUESSES = 6
HOPS = 5
ENOUGH = 15_000  # samples of a record to guess by


def search(task: Task, start: LinearModel | None, longest_delay: float | None):
    """Channels at the best minimum found, and SciPy's result."""
    if start is not None:
        found = [start.channel(s.input) for s in task.shapes]
        for c, s in zip(found, task.shapes):
            if (len(c.b), len(c.a), c.integrators) != (s.zeros + 1, s.lags, s.integrators):
                raise InputError(
                    f"start: the channel of {s.input} has another structure",
                    mend="give one of its Shape",
                )
        try:
            channels, result = optimised(task, found)
        except InputError:  # its mirrored poles are no numbers
            result = None
        if result is None or not np.isfinite(result.cost):
            raise InputError(
                "start: this model cannot be simulated over the records",
                mend="begin nearer, or leave start out",
            )
        return channels, result
    candidates = _scanned(task, longest_delay)
    if not candidates:
        raise InputError(
            f"no model of this order follows {task.output}",
            file=task.records[0].source or None,
            mend="check that the inputs move the output, try another order or an integrator",
        )
    tried = [optimised(task, channels, BRIEF) for channels in _distinct(candidates)]
    tried.sort(key=lambda pair: pair[1].cost)
    if not np.isfinite(tried[0][1].cost):
        raise _out_of_numbers(task, candidates[0][1])
    return min(
        (_beyond_kinks(task, optimised(task, channels)) for channels, _ in tried[:2]),
        key=lambda pair: pair[1].cost,
    )


def _out_of_numbers(task: Task, channels) -> InputError:
    """No gradient at any guess: time scales too far apart for the powers of s between them."""
    rates = np.abs(np.concatenate([c.poles for c in channels]))
    return InputError(
        f"no model of this order follows {task.output} in numbers: the best guess has poles from {rates.min():.2g} "
        f"to {rates.max():.2g} 1/s",
        file=task.records[0].source or None,
        mend="a pole so slow is an integrator: count it as one (integrators=1, --integrator); or lower the order",
    )


def _distinct(candidates) -> list[list[Channel]]:
    """The best guesses that differ: by error, and the best of each delay."""
    best = candidates[0][0]
    chosen = []
    delays = set()
    last = None
    for error, channels in candidates:
        here = tuple(c.delay for c in channels)
        if error < 30 * best + 1e-300 and (
            here not in delays or len(chosen) < 3 and error > 1.02 * last
        ):
            chosen.append(channels)
            delays.add(here)
            last = error
    return chosen[:GUESSES]


def _beyond_kinks(task: Task, best):
    """With a held input the error has kinks where a delay is a whole number of samples; look on both sides."""
    for i, s in enumerate(task.shapes):
        T = min(r.T for r in task.records if s.input in r.input_names)
        for _ in range(HOPS if s.estimates_delay else 0):
            τ = best[0][i].delay
            before = best[1].cost
            if abs(τ / T - round(τ / T)) > 0.02:
                break
            for aside in (-0.5, 0.5):
                moved = [
                    replace(c, delay=τ + aside * T) if k == i else c for k, c in enumerate(best[0])
                ]
                best = min(best, optimised(task, moved), key=lambda pair: pair[1].cost)
            if best[1].cost >= before * (1 - 1e-9):
                break
    return best


def _scanned(task: Task, longest: float | None):
    """Guesses by rising error; for delays on a coarse grid, one channel's delay at a time."""
    delays = [0.0 if s.delay in (None, True, False) else float(s.delay) for s in task.shapes]
    records = [_shortened(r, task) for r in task.records]
    make = lambda **less: guesses(
        task.shapes, records, task.output, delays, task.weights, task.trend, **less
    )
    if not any(s.estimates_delay for s in task.shapes):
        return make()
    shortest = min(r.t[-1] - r.t[0] for r in task.records)
    T = max(r.T for r in task.records)
    longest = longest or shortest / 10
    grid = [0.0, *np.geomspace(1.5 * T, max(longest, 4 * T), 11)]
    for i, s in enumerate(task.shapes):
        if s.estimates_delay:
            found = []
            for delays[i] in grid:
                found += make(cutoffs=3, passes=4)
            delays[i] = min(found, key=lambda pair: pair[0])[1][i].delay if found else 0.0
    return sorted([*found, *make()], key=lambda pair: pair[0])


def _shortened(r: Record, task: Task) -> Record:
    """The beginning of a long record, where it tells as much to guess by."""
    end = r.start + ENOUGH
    moved = all(
        np.ptp(r.input(s.input)[:end])
        for s in task.shapes
        if s.input in r.input_names and np.ptp(r.input(s.input))
    )
    if (
        len(r) <= end
        or not moved
        or np.ptp(r.output(task.output)[r.start : end]) < 0.3 * np.ptp(r.output(task.output))
    ):
        return r
    return replace(r, t=r.t[:end], u=r.u[:end], y=r.y[:end])
