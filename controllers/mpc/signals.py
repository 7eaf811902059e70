"""Signals of a predictive law, and its fields as one number for each command or output."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from controllers.mpc.overlap import Overlap, overlap, smoothed, without_overlap
from controllers.mpc.parts import limit_units
from workbench.contract.declared import LawData
from workbench.contract.errors import miscounted
from workbench.contract.system import Signal, controls, find, names
from workbench.run.targets import target_name

NO_LIMIT = {"u_min": -np.inf, "u_max": np.inf, "slew": np.inf}
INWARDS = {"u_min": 1.0, "u_max": -1.0}  # by which sign the overlap narrows a range


class MPCSignals(LawData):
    """What follows from the fields of `MPC` and its model without solving anything."""

    @property
    def searched(self) -> tuple[str, ...]:
        """Weights and horizon that a search may turn: Q stands for what the others are weighed against."""
        return (*(name for name in ("R", "S") if any(getattr(self, name))), "N")

    def units(self) -> dict[str, str]:
        """Units of this law's numbers where they follow those of the plant."""
        return limit_units(self.model)

    @property
    def commands(self) -> tuple[Signal, ...]:
        return controls(self.model)

    @property
    def measured(self) -> tuple[Signal, ...]:
        wanted = self.signals or names(self.model.outputs)
        return tuple(find(self.model.outputs, name, "MPC, measurement") for name in wanted)

    @property
    def follows(self) -> tuple[Signal, ...]:
        """Outputs that follow references."""
        wanted = self.tracked or names(self.measured)[: len(self.commands)]
        return tuple(find(self.measured, name, "MPC, tracked") for name in wanted)

    @property
    def ahead(self) -> int:
        """Samples of preview."""
        return self.N if self.preview is None else min(self.preview, self.N)

    @property
    def references(self) -> tuple[Signal, ...]:
        found = []
        for k in range(self.ahead + 1):
            for s in self.follows:
                name = target_name(s.name, 0)
                words = f"desired {s.meaning or s.name}, {k} samples ahead"
                found.append(Signal(f"{name}@{k}" if k else name, s.unit, words, "reference"))
        pushes = [find(self.model.inputs, name, "MPC, known") for name in self.known]
        for k in range(self.ahead + 1):
            for s in pushes:
                words = f"{s.meaning or s.name}, {k} samples ahead"
                found.append(Signal(f"{s.name}@{k}", s.unit, words, "reference"))
        return tuple(found)

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Where estimated disturbances act."""
        if self.observer is None:
            return ()
        return self.observer.disturbance or tuple(names(self.commands))

    @property
    def monitors(self) -> tuple[Signal, ...]:
        known = {s.name: s.unit for s in (*self.model.inputs, *self.model.outputs)}
        return (
            Signal("mpc_status", "1", "1 optimal, else what the solver said"),
            Signal("mpc_iterations", "1", "iterations"),
            Signal("mpc_cost", "1", "lowest cost V"),
            Signal("mpc_slack", "1", "largest excess over a soft limit"),
            Signal("mpc_fallback", "1", "0 none, 1 last solution, 2 terminal law, 3 last command"),
            Signal("mpc_active", "1", "active limits"),
            Signal(
                "mpc_residual", "1", "violation of the optimality conditions, nan where not known"
            ),
            *(
                Signal(f"d_{name}_hat", known.get(name, "1"), f"estimated disturbance at {name}")
                for name in self.disturbances
            ),
        )

    def each(self, field: str) -> np.ndarray:
        """A field as one number for each command (of "Q": each tracked output); ±∞ where there is no limit.

        u_min and u_max are those of the valves' openings: the commands' own, less the overlap.
        """
        of = self.follows if field == "Q" else self.commands
        value = getattr(self, field)
        if not value and field in NO_LIMIT:
            value = (NO_LIMIT[field],)
        if len(value) not in (1, len(of)):
            raise miscounted(field, len(value), len(of), each=[s.name for s in of])
        found = np.zeros(len(of)) + value
        return found + INWARDS[field] * self.overlap.u_d if field in INWARDS else found

    @cached_property
    def overlap(self) -> Overlap:
        """Overlap of the model's valves."""
        return overlap(self.model, self.w)

    @cached_property
    def predicting(self):
        """The model as the predictions have it: without overlap, along a path without the steepest part of friction."""
        inside = without_overlap(self.model)
        return smoothed(inside, self.smooth) if self.relinearise else inside

    @property
    def lengths(self) -> tuple[int, ...]:
        """Samples each move lasts, N together."""
        rest = self.N - sum(self.blocks)
        return (1,) * self.N if not self.blocks else (*self.blocks[:-1], self.blocks[-1] + rest)
