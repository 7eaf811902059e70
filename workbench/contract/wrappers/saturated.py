"""Saturated: commands cut off at a lowest and a highest value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.wrappers.around import Around


@final
@dataclass(frozen=True, eq=False)
class Saturated(Around):
    """Commands limited to [low, high]."""

    inner: Any
    low: Annotated[float, Unit("1"), "lowest command, in the command's unit"] = -10.0
    high: Annotated[float, Unit("1"), "highest command, in the command's unit"] = 10.0

    def __post_init__(self) -> None:
        self._check()
        if not self.low < self.high:
            raise InputError(f"low: {self.low:g} must be below high, {self.high:g}")

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return [
            np.minimum(np.maximum(u, self.low), self.high) for u in self.inner.command(t, z, y, r)
        ]

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        memory, u = self.inner.step_at(T_s, t, z, y, r)
        return memory, [np.minimum(np.maximum(v, self.low), self.high) for v in u]
