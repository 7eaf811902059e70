"""A longer run of a loop whose plant is stepped from outside, such as an FMU: does it change with time?

The flow of such a plant cannot be evaluated at later times (`timed`), so a longer run has to show it: undisturbed, under the same
reference,

    to LENGTHS times its length, at least LEAST s, at most MOST samples

The verdict is undecided where later than the first run

    the error is more than MORE times the largest one before;
    a state, an output or a command leaves its range by more than the share BEYOND of that range;
    the largest or smallest value of one of these, window by window, runs on (`running_on`) by TREND of its range or more in the
    second half: a sensor drifts, a leak grows, something wears.

The verdict states until when the plant was seen (`seen_until`); what comes later is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.verification.observed.running_on import running_on
from workbench.verification.practical.disturbed import floor_of, undisturbed
from workbench.verification.run import Run
from workbench.verification.scales import signal_floor
from workbench.verification.verdict import Assumption

LENGTHS = 10.0
LEAST = 120.0  # s
MOST = 30_000  # samples: each is a question to another process
MORE = 1.5
BEYOND = 0.5
WINDOWS = 16
TREND = 1e-3
KEPT = "run on"
MEND = "it keeps its equations to itself, and what it does later is not known: make the run longer to see"


def of_run_on(run: Run) -> str:
    """In words, when the loop first does what it never did in the run; "" where it does not."""
    wanted = _wanted(run)
    long = wanted <= 2 * run.scenario.length()
    seen = run if long else undisturbed(run, wanted)
    run.kept[KEPT] = seen
    if not seen.log.status.completed:
        return f"run on, it is {seen.log.status.message}"
    return off_later(run, seen) or _elsewhere(run, seen) or _drifting(seen)


def seen_until(run: Run) -> tuple[Assumption, ...]:
    """The assumption "the plant is seen until t = …", which is not known to be enough; () where there was no longer run."""
    if KEPT not in run.kept:
        return ()
    until = say(float(run.kept[KEPT].log.time[-1]), "s", 3)
    return (Assumption(f"the plant is seen until t = {until}", None, worst=MEND),)


def _wanted(run: Run) -> float:
    """How long the loop is to be run, s."""
    length = max(LENGTHS * run.scenario.length(), LEAST)
    return min(length, MOST * float(run.loop.period or 1e-3))


def off_later(run: Run, seen: Run) -> str:
    """In words, when the error is first larger than MORE times its largest value in the run; "" for never."""
    before = run.tool_error
    off = seen.tool_error
    if before is None or off is None:
        return ""
    most = MORE * max(float(np.nanmax(before)), floor_of(run))
    late = np.flatnonzero((off > most) & (seen.log.time > run.scenario.length()))
    if not len(late):
        return ""
    unit = run.error_unit
    return (
        f"at t = {say(float(seen.log.time[late[0]]), 's', 3)} it is {say(float(off[late[0]]), unit, 3)} off, in the run "
        f"{say(float(np.nanmax(before)), unit, 3)} at most"
    )


def _elsewhere(run: Run, seen: Run) -> str:
    """In words, when a signal is first far outside the range that it had in the run; "" for never."""
    late = seen.log.time > run.scenario.length()
    for name, values in _signals(seen):
        had = values[~late]
        low = float(had.min())
        high = float(had.max())
        room = max(BEYOND * (high - low), signal_floor(run.loop.plant, name))
        out = np.flatnonzero(late & ((values < low - room) | (values > high + room)))
        if len(out):
            unit = seen.log.signal(name).unit
            there = say(float(values[out[0]]), unit, 3)
            between = f"{say(low, unit, 3)} … {say(high, unit, 3)}"
            return f"at t = {say(float(seen.log.time[out[0]]), 's', 3)} {name} is {there}, in the run {between}"
    return ""


def _drifting(seen: Run) -> str:
    """In words, a signal whose largest or smallest value, window by window, runs on; "" for none."""
    ends = np.linspace(0, len(seen.log.time), WINDOWS + 1).astype(int)
    if ends[1] < 2:
        return ""
    parts = list(zip(ends[:-1], ends[1:]))
    time = seen.log.time[ends[1:] - 1]
    for name, values in _signals(seen):
        least = max(TREND * float(np.ptp(values)), signal_floor(seen.loop.plant, name))
        for most in (np.max, np.min):
            extremes = np.array([most(values[a:b]) for a, b in parts])
            rate = running_on(time, extremes)
            if rate is not None and abs(extremes[-1] - extremes[WINDOWS // 2]) > least:
                unit = seen.log.signal(name).unit
                until = say(float(seen.log.time[-1]), "s", 3)
                return f"until t = {until} {name} drifts by {say(60 * rate, unit, 3)} a minute"
    return ""


def _signals(seen: Run) -> Iterator[tuple[str, np.ndarray]]:
    """States and outputs of the plant and the law's commands, name by name."""
    plant = seen.loop.plant
    listed = (*names(plant.outputs), *names(plant.states), *names(seen.loop.controller.commands))
    for name in dict.fromkeys(listed):
        if name in seen.log:
            yield name, seen.log.array(name)
