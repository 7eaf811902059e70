"""What every wrapper shares: it passes through from the law inside, and refuses what is sampled already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.parameters import check_bounds
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Controller, Signal


class Around(Controller):
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


def chosen_signals(measured: Any, signals: Any) -> Any:
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
