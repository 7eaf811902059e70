"""Sampled, Delayed, Saturated, Filtered, Quantised, Noisy: a controller around a controller, never a subclass.

Write them from the law outwards: Sampled(Saturated(Filtered(Noisy(law, …), …), …), T_s=1e-3). What the machine measures
passes the wrappers from the outside in; what the law commands passes from the inside out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Controller, Signal


class _Around(Controller):
    """What every wrapper passes through from `inner`."""

    inner: Any

    def _check(self) -> None:
        """Bounds, and that nothing sampled is inside."""
        check_bounds(self)
        if getattr(self.inner, "period", None) is not None:
            own = type(self).__name__
            raise InputError(
                f"{own} cannot go around {type(self.inner).__name__}, which is sampled already",
                mend=f"write it inside: Sampled({own}(law, …), T_s=…), and Delayed outermost",
            )

    @property
    def states(self) -> tuple[Signal, ...]:
        return getattr(self.inner, "states", ())

    @property
    def monitors(self) -> tuple[Signal, ...]:
        return getattr(self.inner, "monitors", ())

    @property
    def measured(self) -> tuple[Signal, ...]:
        return self.inner.measured

    @property
    def commands(self) -> tuple[Signal, ...]:
        return self.inner.commands

    @property
    def references(self) -> tuple[Signal, ...]:
        return self.inner.references

    @property
    def period(self) -> float | None:
        return getattr(self.inner, "period", None)

    @property
    def no_derivative(self) -> str:
        return getattr(self.inner, "no_derivative", "")

    def initial(self) -> Sequence[float]:
        return self.inner.initial()

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.start(t, z, y, r)

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.command(t, z, y, r)

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.rhs(t, z, y, r)

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        return self.inner.step_at(T_s, t, z, y, r)

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return self.inner.monitor(t, z, y, r)


@final
@dataclass(frozen=True, eq=False)
class Sampled(_Around):
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


MOST_HELD = 1000  # samples of a command that a delay may hold: each is a state of the loop, and a column of its log


@final
@dataclass(frozen=True, eq=False)
class Delayed(_Around):
    """The held command of a Sampled controller, applied `delay` later (any fraction of a sample).

    capacity: longest delay it can hold, in samples; structure, so delays below it share one compiled loop.
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
        m, k = len(self.inner.states), len(self.inner.commands)
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


@final
@dataclass(frozen=True, eq=False)
class Saturated(_Around):
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


def _chosen(measured: Any, signals: Any) -> Any:
    chosen = [
        i
        for i, s in enumerate(measured)
        if not signals or any(s.name == n or s.name.startswith(n + "_") for n in signals)
    ]
    if signals and not chosen:
        raise InputError(
            f"none of {', '.join(signals)} is measured",
            mend=f"choose from {', '.join(s.name for s in measured)}",
        )
    return chosen


@final
@dataclass(frozen=True, eq=False)
class Filtered(_Around):
    """Second-order low-pass on measured signals: s̈ = ω²(y − s) − 2ζω ṡ, ω = 2π frequency.

    signals: which (all by default); "p" stands for every signal that begins with "p_". Sampled: trapezoidal rule.
    """

    inner: Any
    frequency: Annotated[float, Unit("Hz"), "corner frequency", positive] = 24.0
    damping: Annotated[float, Unit("1"), "damping ratio", positive] = 1.0
    signals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check()

    @property
    def states(self) -> tuple[Signal, ...]:
        inner = self.inner.measured
        extra = [
            s
            for i in _chosen(inner, self.signals)
            for s in (
                Signal(f"{inner[i].name}_filtered", inner[i].unit, f"filtered {inner[i].meaning}"),
                Signal(
                    f"d{inner[i].name}_filtered",
                    inner[i].unit + "/s",
                    f"rate of filtered {inner[i].meaning}",
                ),
            )
        ]
        return (*self.inner.states, *extra)

    def initial(self) -> Sequence[float]:
        return [
            *self.inner.initial(),
            *[0.0] * (2 * len(_chosen(self.inner.measured, self.signals))),
        ]

    def _split(self, z: Vector) -> Any:
        m = len(self.inner.states)
        return z[:m], z[m::2], z[m + 1 :: 2]

    def _seen(self, s: Any, y: Vector) -> Any:
        seen = list(y)
        for i, value in zip(_chosen(self.inner.measured, self.signals), s):
            seen[i] = value
        return seen

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, _, _ = self._split(z)
        settled = [v for i in _chosen(self.inner.measured, self.signals) for v in (y[i], 0.0)]
        return [*self.inner.start(t, inner, y, r), *settled]

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, s, _ = self._split(z)
        return self.inner.command(t, inner, self._seen(s, y), r)

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, s, v = self._split(z)
        ω, chosen = 2 * pi * self.frequency, _chosen(self.inner.measured, self.signals)
        rates = [
            e
            for i, si, vi in zip(chosen, s, v)
            for e in (vi, ω**2 * (y[i] - si) - 2 * self.damping * ω * vi)
        ]
        return [*self.inner.rhs(t, inner, self._seen(s, y), r), *rates]

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        inner, s, v = self._split(z)
        ω, chosen = 2 * pi * self.frequency, _chosen(self.inner.measured, self.signals)
        a, b = self.damping * ω * T_s, (ω * T_s) ** 2 / 4
        new_v = [
            (vi * (1 - a - b) + T_s * ω**2 * (y[i] - si)) / (1 + a + b)
            for i, si, vi in zip(chosen, s, v)
        ]
        new_s = [si + T_s / 2 * (vi + ni) for si, vi, ni in zip(s, v, new_v)]
        memory, u = self.inner.step_at(T_s, t, inner, self._seen(new_s, y), r)
        return [*memory, *(e for pair in zip(new_s, new_v) for e in pair)], u

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, s, _ = self._split(z)
        return self.inner.monitor(t, inner, self._seen(s, y), r)


@final
@dataclass(frozen=True, eq=False)
class Quantised(_Around):
    """Measured signals rounded to a multiple of `resolution` (in the signal's unit), as an encoder or converter does."""

    inner: Any
    resolution: Annotated[float, Unit("1"), "step, in the signal's unit", positive] = 1e-5
    signals: tuple[str, ...] = ()
    no_derivative = "a quantiser has no derivative"

    def __post_init__(self) -> None:
        self._check()

    def _seen(self, y: Vector) -> Any:
        chosen = _chosen(self.inner.measured, self.signals)
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


@final
@dataclass(frozen=True, eq=False)
class Noisy(_Around):
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
            for i in _chosen(self.inner.measured, self.signals)
        ]
        return (*self.inner.references, *own)

    def _seen(self, y: Vector, r: Vector) -> Any:
        m, seen = len(self.inner.references), list(y)
        for i, draw in zip(_chosen(self.inner.measured, self.signals), r[m:]):
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
