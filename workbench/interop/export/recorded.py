"""What a law that is called from Python was given in a run, and what it commanded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import ClosedLoop, innermost, rewrapped
from workbench.interop.export.replay import Replay
from workbench.run.scenario import Scenario
from workbench.run.simulate import simulate


class Recorder:
    """A law that keeps what it is given and what it commands, from the last start on."""

    def __init__(self, law: Any) -> None:
        self.law = law
        self.rows: list[tuple] = []

    def initial(self) -> Any:
        return self.law.initial()

    def start(self, t: float, z: Any, y: Sequence[float], r: Sequence[float]) -> Any:
        self.rows.clear()
        return self.law.start(t, z, y, r)

    def step(self, t: float, z: Any, y: Sequence[float], r: Sequence[float]) -> tuple:
        z, u = self.law.step(t, z, y, r)
        self.rows.append((t, list(y), list(r), list(u)))
        return z, u

    def __deepcopy__(self, memo: Any) -> Recorder:
        return self


def recorded(loop: ClosedLoop, scenario: Scenario) -> Replay:
    """The loop run through the scenario, as its law saw it; without the law's memory, which is Python's.

    Raises InputError where the run does not come to its end.
    """
    plain = innermost(loop.controller)
    recorder = Recorder(plain.law)
    kept = Plain(recorder, plain.measured, plain.commands, plain.references)
    log = simulate(replace(loop, controller=rewrapped(loop.controller, kept)), scenario)
    if not log.status.completed:
        raise InputError(
            f"the run that is to be replayed ended early: {log.status.message}",
            key="scenario",
            mend="give a scenario that the loop completes",
        )
    t, y, r, u = (np.array(column, float) for column in zip(*recorder.rows))
    n = len(t)
    return Replay(t, y.reshape(n, -1), r.reshape(n, -1), np.empty((n, 0)), u.reshape(n, -1))
