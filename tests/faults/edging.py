"""A base whose commands give way smoothly beside its path: at the edge of the reach, and nowhere near where it runs.

What a law commands is multiplied by g((y − at)/width) of one measured position y.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tests.faults.entries import case_of
from workbench import ClosedLoop
from workbench.cases.file import loads
from workbench.contract.system import innermost, names, rewrapped
from workbench.contract.wrappers.around import Around

HOW = {
    "turns": lambda x: -np.tanh(x),  # from 1 to −1
    "dips": lambda x: 1.0 - 2.5 * np.exp(-x * x),  # the other way about x = 0
    "fades": lambda x: 0.7 - 0.3 * np.tanh(x),  # from 1 to 0.4
    "as it is": lambda x: 1.0,
}


@final
@dataclass(frozen=True, eq=False)
class Edging(Around):
    """The law whose commands give way."""

    inner: Any
    place: int
    at: float
    width: float
    how: str

    def command(self, t, z, y, r):
        return self._left(y, self.inner.command(t, z, y, r))

    def step_at(self, T_s, t, z, y, r):
        memory, commands = self.inner.step_at(T_s, t, z, y, r)
        return memory, self._left(y, commands)

    def _left(self, y, commands):
        share = HOW[self.how]((y[self.place] - self.at) / self.width)
        return [share * u for u in commands]


def edging(base: str, place: str, at: float, width: float, how: str, edit: Mapping[str, Any] = {}):
    """(loop, scenario, claims) of a base whose commands give way beyond `at` of a measured position, in its unit."""
    case = loads(json.dumps(case_of(base, edit), ensure_ascii=False), f"{base}.yaml")
    law = innermost(case.controller)
    around = Edging(law, names(law.measured).index(place), at, width, how)
    loop = ClosedLoop(case.plant, rewrapped(case.controller, around))
    return loop, case.scenario, case.claims
