"""Noisy: measured signals with white Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

from workbench.contract.parameters import Unit, nonnegative
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal
from workbench.contract.wrappers.around import Around, chosen_signals


@final
@dataclass(frozen=True, eq=False)
class Noisy(Around):
    """White Gaussian noise of standard deviation σ (in the signal's unit) on measured signals, one draw a sample.

    The draws are inputs of the loop, provided by the scenario's seed, so a run can be repeated exactly.
    """

    inner: Any
    σ: Annotated[float, Unit("1"), "standard deviation, in the signal's unit", nonnegative] = 0.0
    signals: tuple[str, ...] = ()
    no_derivative = "noise has no derivative"

    def __post_init__(self) -> None:
        self._check()

    @property
    def references(self) -> tuple[Signal, ...]:
        own = [
            Signal(f"noise_{self.inner.measured[i].name}", "1", "standard normal draw", "noise")
            for i in chosen_signals(self.inner.measured, self.signals)
        ]
        return (*self.inner.references, *own)

    def _seen(self, y: Vector, r: Vector) -> Any:
        m = len(self.inner.references)
        seen = list(y)
        for i, draw in zip(chosen_signals(self.inner.measured, self.signals), r[m:]):
            seen[i] = seen[i] + self.σ * draw
        return seen, r[:m]

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.start(t, z, *self._seen(y, r))

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.command(t, z, *self._seen(y, r))

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.rhs(t, z, *self._seen(y, r))

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        return self.inner.step_at(T_s, t, z, *self._seen(y, r))

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.monitor(t, z, *self._seen(y, r))
