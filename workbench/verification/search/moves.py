"""How far a run of a search is from the run without deviations: a range that moves nothing has not been searched.

    m = max_i max_t |s_i(t) − s_i⁰(t)| / S_i        over states and outputs s_i of the plant, ⁰ without deviations

Instants are those of samples that both runs have reached; between two of them the run without deviations is taken as straight.
S_i is the plant's own scale of such a signal or the largest value it has in the run without deviations, whichever is larger.
Below MATTERS, the share at which a number of a machine is rounding, the run shows what is known already.
"""

from __future__ import annotations

import numpy as np

from workbench.numerics.overflow import may_overflow
from workbench.verification.practical.starts import UNSCALED
from workbench.verification.run import Run
from workbench.verification.scales import FRACTION, scales

MATTERS = FRACTION


@may_overflow()
def move(run: Run, nominal: Run) -> float:
    """The largest distance of a signal of the plant from the run without deviations, as a share of its size."""
    plant = run.loop.plant
    own = scales(plant)
    units = {s.name: s.unit for s in (*plant.states, *plant.outputs)}
    rows = run.log.time <= nominal.log.time[-1]
    time = run.log.time[rows]
    found = 0.0
    for name, unit in units.items():
        if name not in run.log or name not in nominal.log:
            continue
        before = np.interp(time, nominal.log.time, nominal.log.array(name))
        apart = np.abs(run.log.array(name)[rows] - before)
        scale = own.of_unit(unit)
        size = max(0.0 if scale is None else scale.value, float(np.abs(before).max(initial=0.0)))
        size = size or UNSCALED.get(unit, UNSCALED["1"])
        found = max(found, float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0)) / size)
    return found
