"""Instants at which a ledger is read: both ends of every sample."""

from __future__ import annotations

import numpy as np

from workbench.contract.system import System, names
from workbench.run.demand import Demand
from workbench.run.log import Log


def coarse(loop: System, log: Log) -> bool:
    """Whether the log skips samples."""
    return (
        loop.period is not None
        and len(log.time) > 1
        and log.time[1] - log.time[0] > 1.5 * loop.period
    )


def both_ends(loop: System, log: Log, demand: Demand) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(t, x, w) at two instants a sample: just after its jump, and just before the next one.

    Just after a sample the hold's error is zero; looking there only would hide it. A log coarser than the samples has only
    the first of the two: the controller's memory just before is not in it.
    """
    t, x, w = (alternating(parts) for parts in zip(*ends(loop, log, demand)))
    return t, x, w


def ends(loop: System, log: Log, demand: Demand) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(t, x, w) just after the jump of each sample; then those just before the next one, where the log has them."""
    t = np.asarray(log.time)
    x = chosen(log.values, [log.names.index(n) for n in names(loop.states)])
    w = demand.at(t)
    if loop.period is None or len(t) < 2 or coarse(loop, log):
        return [(t, x, w)]
    m = len(loop.plant.states)
    before = np.empty((len(t) - 1, x.shape[1]))
    before[:, :m] = x[1:, :m]
    if loop.lag > 0:  # a fraction of a sample later another command was applied
        for i, memory in enumerate(loop.controller.release(None, list(x[:-1, m:].T), None, None)):
            before[:, m + i] = memory
    else:
        before[:, m:] = x[:-1, m:]
    return [(t, x, w), (t[1:], before, _just_before(w, demand))]


def _just_before(w: np.ndarray, demand: Demand) -> np.ndarray:
    """Inputs just before the next sample: those of that sample, of noise what this one had."""
    held = np.array([demand.kinds[n] == "noise" for n in demand.live], bool)
    return np.where(held, w[:-1], w[1:]) if held.any() else w[1:]


def chosen(values: np.ndarray, columns: list[int]) -> np.ndarray:
    """These columns of a table; a view of it where they are its first ones."""
    leading = columns == list(range(len(columns)))
    return values[:, : len(columns)] if leading else values[:, columns]


def alternating(parts) -> np.ndarray:
    """after[0], before[0], after[1], before[1], …, after[-1]; or the one part there is."""
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0])
    after, before = parts
    both = np.empty((len(after) + len(before), *after.shape[1:]))
    both[0::2] = after
    both[1::2] = before
    return both
