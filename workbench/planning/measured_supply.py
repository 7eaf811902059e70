"""A law that is told the supply pressure: its model's p_s is what the pump measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, bind, positive
from workbench.contract.system import Signal, find, names
from workbench.contract.wrappers.around import Around


@final
@dataclass(frozen=True, eq=False)
class OnMeasuredSupply(Around):
    """`inner` (VDC, PID: anything whose model has p_s) with the measured supply pressure in its model, at every instant.

        |o| ≤ o_0 + u_max sat((p_s − p)/p_f)          p: the chamber that the opening o would fill, sat in 0 … 1

    A pump that follows its load is late by its lag. Until it comes, a valve opened to a chamber above the supply lets that
    chamber's oil flow back, and the cylinder drops. So the law waits: it opens by no more than o_0, which the pump feels and
    through which little flows, and all the way once the supply is p_f above the chamber. A p_f above the pump's margin would let
    law and pump wait for each other.

    supplies   the signals of the supply pressure: ("p_s",), or one for each cylinder (`OnPump.supply_names`)
    waits      False: the law does not wait
    """

    inner: Any
    supplies: tuple[str, ...] = ("p_s",)
    floor: Annotated[
        float,
        Unit("Pa"),
        "p_f, excess of the supply over a chamber at which its valve may open wide",
        positive,
    ] = 2e5
    crack: Annotated[
        float, Unit("V"), "o_0, opening of a valve that waits for the pump", positive
    ] = 0.1
    waits: bool = True

    def __post_init__(self):
        model = self.inner.model
        if model is None or model.p_s is None or self.inner.period is not None:
            raise InputError(
                f"OnMeasuredSupply: {type(self.inner).__name__} has no model with a supply pressure, or is sampled already",
                mend="put it around VDC or PID, inside Sampled",
            )
        self._check()
        if len(self.supplies) not in (1, self.inner.model.n):
            raise InputError(
                f"OnMeasuredSupply: {len(self.supplies)} supply pressures for {self.inner.model.n} cylinders",
                mend="give supplies=plant.supply_names",
            )

    @property
    def measured(self):
        """What the law measures, chambers it does not, supply pressures."""
        own = self.inner.measured
        model = self.inner.model
        more = [
            find(model.outputs, n, "OnMeasuredSupply")
            for n in model.pressure_names
            if n not in names(own)
        ]
        return (*own, *more, *(Signal(name, "Pa", "supply pressure") for name in self.supplies))

    def _told(self, y):
        """(the law with the pressure in its model, what it measures itself)."""
        k = len(self.supplies)
        p_s = y[-1] if k == 1 else list(y[-k:])
        return bind(self.inner, {"model.p_s": p_s}), y[: len(self.inner.measured)]

    def _waiting(self, law, u, y) -> list:
        """Voltages that wait for the pump."""
        if not self.waits:
            return u
        at = dict(zip(names(self.measured), y))
        found = []
        for k, v, p_s, c in zip(law.model.labels, u, law.model.supplies, law.model.cylinders):
            a, b = (
                c.valve.dead_band
                + self.crack
                + c.valve.u_max * np.clip((p_s - at[f"p_{side}{k}"]) / self.floor, 0.0, 1.0)
                for side in "ab"
            )
            found.append(np.minimum(np.maximum(v, -b), a))
        return found

    def command(self, t, z, y, r):
        law, own = self._told(y)
        return self._waiting(law, law.command(t, z, own, r), y)

    def rhs(self, t, z, y, r):
        law, own = self._told(y)
        return law.rhs(t, z, own, r)

    def step_at(self, T_s, t, z, y, r):
        law, own = self._told(y)
        memory, u = law.step_at(T_s, t, z, own, r)
        return memory, self._waiting(law, u, y)

    def start(self, t, z, y, r):
        law, own = self._told(y)
        return law.start(t, z, own, r)

    def monitor(self, t, z, y, r):
        law, own = self._told(y)
        return law.monitor(t, z, own, r)
