"""Filtered: measured signals behind a second-order low-pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Annotated, Any, final

from workbench.contract.parameters import Unit, positive
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal
from workbench.contract.wrappers.around import Around, chosen_signals


@final
@dataclass(frozen=True, eq=False)
class Filtered(Around):
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
            for i in chosen_signals(inner, self.signals)
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
            *[0.0] * (2 * len(chosen_signals(self.inner.measured, self.signals))),
        ]

    def _split(self, z: Vector) -> Any:
        m = len(self.inner.states)
        return z[:m], z[m::2], z[m + 1 :: 2]

    def _seen(self, s: Any, y: Vector) -> Any:
        seen = list(y)
        for i, value in zip(chosen_signals(self.inner.measured, self.signals), s):
            seen[i] = value
        return seen

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, _, _ = self._split(z)
        settled = [
            v for i in chosen_signals(self.inner.measured, self.signals) for v in (y[i], 0.0)
        ]
        return [*self.inner.start(t, inner, y, r), *settled]

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, s, _ = self._split(z)
        return self.inner.command(t, inner, self._seen(s, y), r)

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        inner, s, v = self._split(z)
        ω = 2 * pi * self.frequency
        chosen = chosen_signals(self.inner.measured, self.signals)
        rates = [
            e
            for i, si, vi in zip(chosen, s, v)
            for e in (vi, ω**2 * (y[i] - si) - 2 * self.damping * ω * vi)
        ]
        return [*self.inner.rhs(t, inner, self._seen(s, y), r), *rates]

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        inner, s, v = self._split(z)
        ω = 2 * pi * self.frequency
        chosen = chosen_signals(self.inner.measured, self.signals)
        a = self.damping * ω * T_s
        b = (ω * T_s) ** 2 / 4
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
