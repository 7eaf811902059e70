"""What a law that is called from Python was given in a run, with the wrappers around it, and what was commanded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.wrappers.around import Around
from workbench.interop.export.replay import Replay
from workbench.run.scenario import Scenario
from workbench.run.simulate import simulate


@final
@dataclass(frozen=True, eq=False)
class Recording(Around):
    """A sampled controller that keeps what it is given and what it commands, from the last start on."""

    inner: Any
    rows: list[tuple] = field(default_factory=list)

    @property
    def lag(self) -> float:
        return float(self.inner.lag)

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        self.rows.clear()
        return self.inner.start(t, z, y, r)

    def update(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        memory = self.inner.update(t, z, y, r)
        self.rows.append((t, list(y), list(r), list(self.inner.command(t, memory, y, r))))
        return memory

    def release(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.release(t, z, y, r)


def recorded(loop: ClosedLoop, scenario: Scenario) -> Replay:
    """The loop run through the scenario, as its controller saw it; without the law's memory, which is Python's.

    Raises InputError where the run does not come to its end.
    """
    recording = Recording(loop.controller)
    log = simulate(replace(loop, controller=recording), scenario)
    if not log.status.completed:
        raise InputError(
            f"the run that is to be replayed ended early: {log.status.message}",
            key="scenario",
            mend="give a scenario that the loop completes",
        )
    t, y, r, u = (np.array(column, float) for column in zip(*recording.rows))
    n = len(t)
    return Replay(t, y.reshape(n, -1), r.reshape(n, -1), np.empty((n, 0)), u.reshape(n, -1))
