"""Quantised: measured signals rounded as an encoder or a converter does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.parameters import Unit, positive
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.wrappers.around import Around, chosen_signals


@final
@dataclass(frozen=True, eq=False)
class Quantised(Around):
    """Measured signals rounded to a multiple of `resolution` (in the signal's unit), as an encoder or converter does."""

    inner: Any
    resolution: Annotated[float, Unit("1"), "step, in the signal's unit", positive] = 1e-5
    signals: tuple[str, ...] = ()
    no_derivative = "a quantiser has no derivative"

    def __post_init__(self) -> None:
        self._check()

    def _seen(self, y: Vector) -> Any:
        chosen = chosen_signals(self.inner.measured, self.signals)
        return [
            np.floor(v / self.resolution + 0.5) * self.resolution if i in chosen else v
            for i, v in enumerate(y)
        ]

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.start(t, z, self._seen(y), r)

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.command(t, z, self._seen(y), r)

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.rhs(t, z, self._seen(y), r)

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        return self.inner.step_at(T_s, t, z, self._seen(y), r)

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.monitor(t, z, self._seen(y), r)
