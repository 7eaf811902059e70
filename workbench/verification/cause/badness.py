"""Badness: how badly a run went as one number, by which trials are compared (`cause.removal`)."""

from __future__ import annotations

import math

import numpy as np

from workbench.numerics.overflow import may_overflow
from workbench.verification.run import Run
from workbench.verification.scales import scales

PRECISE = 1e-3  # error, a share of the machine's own scale, that does not matter
SELDOM = 0.02  # share of the time at a limit that does not matter
SMOOTH = 0.02  # roughness of a command, a share of its range, that does not matter
ROOM = 0.25  # share of the supply's pressure that a chamber may have above it
STRAY = 0.02  # pressure beyond that, a share of the supply's, that does not matter
AT_LIMIT = 1e-6  # share of a command's range: nearer to its end it is at its limit


def badness(run: Run, large: float = 0.0) -> float:
    """How badly a run went: 0 at its best, 5 to 8 where it diverged or left the machine, the earlier the more.

    A run that ends well has one for every decade that its error, saturation, chatter or pressures
    are beyond what does not matter (`parts`), 5 at most. large: a large error, in the unit of the run's, of a machine that states
    no such scale; 0: the largest of this run, by which no two runs can be compared.
    """
    if not run.log.status.completed or run.left[1]:
        early = min(run.log.status.t_end, run.left[0]) / run.scenario.length()
        return 8.0 - 3.0 * min(1.0, max(0.0, early))
    return min(5.0, sum(math.log10(1.0 + part) for part in parts(run, large)))


@may_overflow()
def parts(run: Run, large: float = 0.0) -> list[float]:
    """Errors, commands and pressures of the second half of a run, each as a multiple of what would be negligible."""
    late = slice(len(run.log.time) // 2, None)
    found = [*_error(run, large), *_commands(run, late), *_pressures(run, late)]
    return [part if math.isfinite(part) else 1e6 for part in found]


def largest_error(run: Run) -> float:
    """The largest error of a run, in its unit; 0 for one that follows nothing or ends at once."""
    e = run.tool_error
    found = 0.0 if e is None or len(e) <= 2 else float(np.abs(e).max())
    return found if math.isfinite(found) else 0.0


def late_error(run: Run) -> float:
    """The largest error of the second half of a run, in its unit; 0 for one that follows nothing or ends at once."""
    e = run.tool_error
    return 0.0 if e is None or len(e) <= 2 else float(np.nanmax(e[len(run.log.time) // 2 :]))


def _error(run: Run, large: float) -> list[float]:
    """The largest error of the second half."""
    e = run.tool_error
    if e is None or len(e) <= 2:
        return []
    scale = scales(run.loop.plant).of_unit(run.error_unit)
    size = scale.value if scale is not None else large or max(largest_error(run), 1e-12)
    return [late_error(run) / (PRECISE * size)]


def _commands(run: Run, late: slice) -> list[float]:
    """Of every command: how long it is at its limits, and how rough it is."""
    found = []
    for name, (low, high) in run.loop.plant.limits().items():
        if name in run.log:
            u = run.log.array(name)[late]
            found.append(share_at_limits(u, low, high) / SELDOM)
            found.append(_roughness(u) / (high - low) / SMOOTH)
    return found


def share_at_limits(u: np.ndarray, low: float, high: float) -> float:
    """Share of the samples in which a command is at one end of its range."""
    edge = AT_LIMIT * (high - low)
    return float(np.mean((u <= low + edge) | (u >= high - edge)))


def _roughness(u: np.ndarray) -> float:
    """Root mean square of the second differences of a command, in its unit."""
    return float(np.sqrt(np.mean(np.diff(u, 2) ** 2))) if len(u) > 3 else 0.0


def _pressures(run: Run, late: slice) -> list[float]:
    """How far the pressures are above the supply's (with some room) or below zero."""
    supply = scales(run.loop.plant).pressure
    if supply is None:
        return []
    logged = [name for name in run.loop.plant.pressure_names if name in run.log]
    p = np.array([run.log.array(name)[late] for name in logged])
    if not p.size:
        return [0.0]
    above = float(p.max()) / supply.value - (1.0 + ROOM)
    below = -float(p.min()) / supply.value
    return [max(above, below, 0.0) / STRAY]
