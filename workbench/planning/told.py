"""A law that is told the supply pressure: its model's p_s is what the pump measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench.errors import InputError
from workbench.parameters import Unit, bind, check_bounds, positive
from workbench.system import Controller, Signal


@final
@dataclass(frozen=True)
class SupplyTold(Controller):
    """`law` (VDC, PID: anything whose model has p_s) with the measured p_s in its model, at every instant.

    A pump that follows its load is late by its lag; until it comes, a valve would be asked to open against a chamber above the
    supply. So the law believes in a supply at least `floor` above every chamber.
    """

    law: Any
    floor: Annotated[float, Unit("Pa"), "least excess of the supply over every chamber that the law counts on", positive] = 5e5

    def __post_init__(self):
        check_bounds(self)
        if not hasattr(getattr(self.law, "model", None), "p_s") or self.law.period is not None:
            raise InputError(f"SupplyTold: {type(self.law).__name__} has no model with a supply pressure, or is sampled already",
                             mend="put it around VDC or PID, inside Sampled")

    @property
    def measured(self):
        return (*self.law.measured, Signal("p_s", "Pa", "supply pressure"))

    @property
    def commands(self):
        return self.law.commands

    @property
    def references(self):
        return self.law.references

    @property
    def states(self):
        return self.law.states

    @property
    def monitors(self):
        return self.law.monitors

    def initial(self):
        return self.law.initial()

    def _told(self, y):
        """(the law with the pressure in its model, what it measures itself)."""
        p_s = y[-1]
        for signal, value in zip(self.law.measured, y):
            if signal.unit == "Pa":
                p_s = np.maximum(p_s, value + self.floor)
        return bind(self.law, {"model.p_s": p_s}), y[:-1]

    def command(self, t, z, y, r):
        law, y = self._told(y)
        return law.command(t, z, y, r)

    def rhs(self, t, z, y, r):
        law, y = self._told(y)
        return law.rhs(t, z, y, r)

    def step_at(self, T_s, t, z, y, r):
        law, y = self._told(y)
        return law.step_at(T_s, t, z, y, r)

    def start(self, t, z, y, r):
        law, y = self._told(y)
        return law.start(t, z, y, r)

    def monitor(self, t, z, y, r):
        law, y = self._told(y)
        return law.monitor(t, z, y, r)
