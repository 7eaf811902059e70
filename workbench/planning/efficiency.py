"""Efficiency of pump and motor over pressure and flow, as a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit


@final
@dataclass(frozen=True)
class EfficiencyMap:
    """η over pump pressure and flow, linear between the points, constant beyond them. rows: one a pressure."""

    pressures: Annotated[tuple[float, ...], Unit("Pa"), "rising"]
    flows: Annotated[tuple[float, ...], Unit("m^3/s"), "rising"]
    rows: tuple[Annotated[tuple[float, ...], Unit("1")], ...]

    def __post_init__(self):
        for name in ("pressures", "flows"):
            if len(getattr(self, name)) < 2 or (np.diff(getattr(self, name)) <= 0).any():
                raise InputError(
                    f"{name}: expected two or more rising numbers, got {getattr(self, name)}"
                )
        if [len(row) for row in self.rows] != [len(self.flows)] * len(self.pressures):
            raise InputError(
                f"rows: expected {len(self.pressures)} rows of {len(self.flows)} efficiencies"
            )
        if not all(0.05 <= η <= 1 for row in self.rows for η in row):
            raise InputError("rows: an efficiency must be between 0.05 and 1")

    def at(self, p, Q):
        """η(p, Q)."""
        a = _shares(self.pressures, p)
        b = _shares(self.flows, Q)
        return sum(x * sum(y * η for y, η in zip(b, row)) for x, row in zip(a, self.rows))


def _shares(points, value):
    """Weights of the points for linear interpolation, ends held."""
    value = np.minimum(np.maximum(value, points[0]), points[-1])
    rising = [
        np.minimum(np.maximum((value - a) / (b - a), 0.0), 1.0) for a, b in zip(points, points[1:])
    ]
    return [a - b for a, b in zip([1.0, *rising], [*rising, 0.0])]
