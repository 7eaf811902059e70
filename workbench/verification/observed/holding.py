"""Whether the drives of a machine can hold it at rest, wherever it goes: static force against what each can give."""

from __future__ import annotations

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Holding
from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict

_POSES = 60  # poses of a run at which it is asked
_KEY = "holds-weight"
_SOURCE = "statics (virtual work) at poses of the run, against pressures or limits of the drives"


def at_start(plant) -> tuple[Holding, ...]:
    """`System.holding` where the plant begins, under the inputs that nobody provides."""
    given = plant.defaults()
    return plant.holding(plant.initial(), [given.get(name, 0.0) for name in names(plant.inputs)])


def check_holding(claim, run: Run) -> Verdict:
    """Every drive's static force lies within what it can give, at the start and at poses of the run.

    Raises InputError for a plant that knows no limit of a drive.
    """
    plant = run.loop.plant
    text = "drives can hold the machine at rest at every pose of the run"
    poses = list(_poses(run))
    found = [(t, h) for t, x, u in poses for h in plant.holding(x, u)]
    if poses and not found:
        raise InputError(
            f"claim {_KEY}: a {type(plant).__name__} knows no limit of its drives",
            mend="give its drives a limit (or a supply pressure), or leave the claim out",
        )
    if not found or not all(np.isfinite(h.needs) for _, h in found):
        return Verdict(
            _KEY, text, None, worst=run.log.status.message, source=_SOURCE, counted=claim.counted
        )
    t, worst = min(found, key=lambda entry: entry[1].room)
    needs = {
        h.name: max((e.needs for _, e in found if e.name == h.name), key=abs) for _, h in found
    }
    has = f"{say(worst.low, worst.unit, 3)} … {say(worst.high, worst.unit, 3)} ({worst.limited_by})"
    verb = "needs" if worst.room >= 0 else "cannot hold: needs"
    mend = "" if worst.room >= 0 else f"; more from {worst.key}, less load, or other poses"
    return Verdict(
        key=_KEY,
        claim=text,
        holds=worst.room >= 0,
        strength="numerical",
        margin=worst.room,
        unit="1",
        limit=0.0,
        worst=f"{worst.name} {verb} {say(worst.needs + 0.0, worst.unit, 3)} at t = {t:.2f} s, can give {has}{mend}",
        source=_SOURCE,
        counted=claim.counted,
        data={"poses": len(poses), "needs": needs},
        instant=float(t),
    )


def _poses(run: Run):
    """(t, x, u) of the plant at instants of the log, those that are finite."""
    plant = run.loop.plant
    log = run.log
    given = plant.defaults()
    columns = [log.array(name) for name in names(plant.states)]
    inputs = [
        log.array(name) if name in log else np.full(len(log.time), given.get(name, 0.0))
        for name in names(plant.inputs)
    ]
    for k in np.unique(np.linspace(0, len(log.time) - 1, _POSES).astype(int)):
        x = [float(c[k]) for c in columns]
        if np.isfinite(x).all():
            yield float(log.time[k]), x, [float(c[k]) for c in inputs]
