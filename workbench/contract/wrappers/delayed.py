"""Delayed: a dead time between sample and valve, whole samples and a fraction of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal
from workbench.contract.wrappers.around import Around

MOST_HELD = 1000  # samples of a command that a delay may hold: each is a state of the loop, and a column of its log


@final
@dataclass(frozen=True, eq=False)
class Delayed(Around):
    """The held command of a Sampled controller, applied `delay` later (any fraction of a sample).

    capacity: longest delay it can hold, in samples; it decides the graph, so that all delays below it share one compiled loop.
    """

    inner: Any
    delay: Annotated[float, Unit("s"), "dead time from sample to valve", nonnegative] = 0.0
    capacity: int = 4

    def __post_init__(self) -> None:
        check_bounds(self)
        if getattr(self.inner, "period", None) is None:
            raise InputError(
                "Delayed needs a sampled controller: a continuous delay has no finite state",
                mend="write Delayed(Sampled(law, T_s=…), delay=…)",
            )
        if isinstance(self.inner, Delayed):
            raise InputError("Delayed cannot go around Delayed", mend="add the two delays up")
        if self.delay > self.capacity * self.inner.period:
            object.__setattr__(self, "capacity", int(np.ceil(self.delay / self.inner.period)) + 1)
        if self.capacity > MOST_HELD:
            T = self.inner.period
            raise InputError(
                f"delay: {self.capacity} samples of every command would be held, and at most {MOST_HELD} can be: "
                f"{MOST_HELD * T:g} s at a sample time of {T:g} s",
                key="delay",
                mend=f"give a shorter delay (was {self.delay:g} ms meant?), or a longer sample time",
            )

    @property
    def states(self) -> tuple[Signal, ...]:
        m = self.inner.commands
        buffer = [
            Signal(f"{s.name}_queue{i}", s.unit, f"{s.name} {i} samples old")
            for i in range(1, self.capacity + 2)
            for s in m
        ]
        return (
            *self.inner.states,
            *buffer,
            *(Signal(f"{s.name}_applied", s.unit, f"applied {s.name}") for s in m),
        )

    @property
    def period(self) -> float | None:
        return self.inner.period

    def _whole(self) -> Any:
        # A delay that is a whole number of samples up to rounding counts as whole.
        T = self.inner.period
        whole = np.floor(self.delay / T + 1e-9)
        rest = self.delay - whole * T
        return whole, np.where(rest > 1e-9 * T, rest, 0.0)

    @property
    def lag(self) -> float:
        return float(self._whole()[1])

    def initial(self) -> Sequence[float]:
        return [*self.inner.initial(), *[0.0] * ((self.capacity + 2) * len(self.inner.commands))]

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        m = len(self.inner.states)
        return [*self.inner.start(t, z[:m], y, r), *z[m:]]

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return list(z[len(z) - len(self.inner.commands) :])

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return [0.0] * len(z)

    def _ages(self, z: Vector) -> Any:
        m = len(self.inner.states)
        k = len(self.inner.commands)
        return [
            self.inner.command(None, z[:m], None, None),
            *(list(z[m + i * k : m + (i + 1) * k]) for i in range(self.capacity + 1)),
        ]

    def _pick(self, ages: Any, index: Any) -> Any:
        return [
            sum(np.where(index == i, age[k], 0.0) for i, age in enumerate(ages))
            for k in range(len(ages[0]))
        ]

    def update(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        m = len(self.inner.states)
        before = self._ages(z)
        memory = self.inner.update(t, z[:m], y, r)
        ages = [self.inner.command(None, memory, None, None), *before[:-1]]
        whole, rest = self._whole()
        applied = self._pick(ages, whole + np.where(rest > 0, 1.0, 0.0))
        return [*memory, *(v for age in ages[1:] for v in age), *applied]

    def release(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        k = len(self.inner.commands)
        return [*z[: len(z) - k], *self._pick(self._ages(z), self._whole()[0])]

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.monitor(t, z[: len(self.inner.states)], y, r)


def dead_time(controller: Any) -> float:
    """Delay between sample and valve, s; 0 without one."""
    return float(controller.delay) if isinstance(controller, Delayed) else 0.0


def undelayed(loop: Any) -> Any:
    """The loop without the dead time of its controller; any other loop as it is."""
    if not isinstance(loop.controller, Delayed):
        return loop
    return replace(loop, controller=loop.controller.inner)
