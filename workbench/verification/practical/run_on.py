"""What a plant that keeps its state to itself does after the run: it is run on, and its error is looked at.

A plant that is stepped from outside has no flow that could be asked at another time (`timed`): all it shows of later are runs. So
the loop is run on, undisturbed and under the same reference,

    to LENGTHS times its length, at least LEAST, at most MOST samples

and where its error then is MORE times the largest that the run had, nothing that the run showed is said of then. What comes
later still is not seen.
"""

from __future__ import annotations

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.verification.practical.disturbed import floor_of, undisturbed
from workbench.verification.run import Run

LENGTHS = 10.0
LEAST = 120.0  # s
MOST = 30_000  # samples: each is a question to another process
MORE = 1.5


def of_run_on(run: Run) -> str:
    """When the loop is further off than it ever was in the run, in words; "" where it is not, or nothing is to be followed."""
    length = run.scenario.length()
    before = run.tool_error
    wanted = min(max(LENGTHS * length, LEAST), MOST * float(run.loop.period or 1e-3))
    if before is None or wanted <= 2 * length:
        return ""
    seen = undisturbed(run, wanted)
    if not seen.log.status.completed:
        return f"run on, it is {seen.log.status.message}"
    off = seen.tool_error
    most = MORE * max(float(np.nanmax(before)), floor_of(run))
    late = np.flatnonzero((off > most) & (seen.log.time > length))
    if not len(late):
        return ""
    unit = run.error_unit
    return (
        f"at t = {say(float(seen.log.time[late[0]]), 's', 3)} it is {say(float(off[late[0]]), unit, 3)} off, in the run "
        f"{say(float(np.nanmax(before)), unit, 3)} at most"
    )
