"""No law at all: the scenario drives the plant's controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from workbench.contract.parameters import check_bounds
from workbench.contract.system import Controller, System


@final
@dataclass(frozen=True)
class OpenLoop(Controller):
    """A loop that is open: controls are given as disturbances in the scenario, 0 where they are not.

    In a case file: `controller: OpenLoop`, and under `scenario: disturbances:` the name of a control with a number or a
    reference of one component.
    """

    model: System | None = None

    measured = commands = ()
    open = True

    def __post_init__(self):
        check_bounds(self)

    def command(self, t, z, y, r):
        return []
