"""Sampled: a law computed at equal instants, its command held in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, final

from workbench.contract.parameters import Unit, positive
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal
from workbench.contract.wrappers.around import Around


@final
@dataclass(frozen=True, eq=False)
class Sampled(Around):
    """A law run every T_s on the measurement of that instant, its command held in between (zero-order hold)."""

    inner: Any
    T_s: Annotated[float, Unit("s"), "sample time", positive] = 1e-3

    def __post_init__(self) -> None:
        self._check()

    @property
    def states(self) -> tuple[Signal, ...]:
        held = (
            Signal(f"{s.name}_held", s.unit, f"held {s.meaning or s.name}")
            for s in self.inner.commands
        )
        return (*self.inner.states, *held)

    @property
    def period(self) -> float | None:
        return self.T_s

    @property
    def no_derivative(self) -> str:
        return self.inner.no_derivative

    def initial(self) -> Sequence[float]:
        return [*self.inner.initial(), *[0.0] * len(self.inner.commands)]

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        m = len(self.inner.states)
        return [*self.inner.start(t, z[:m], y, r), *z[m:]]

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return list(z[len(self.inner.states) :])

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return [0.0] * len(z)

    def update(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        memory, u = self.inner.step_at(self.T_s, t, z[: len(self.inner.states)], y, r)
        return [*memory, *u]

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.monitor(t, z[: len(self.inner.states)], y, r)
