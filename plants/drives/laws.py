"""Drives that are laws: a force, a torque, a spring with damper; see `plants.drives.contract`."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, ClassVar, final

from plants.drives.contract import Drive
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal


class _Limited(Drive):
    """A drive whose force or torque is its input, up to its `limit` both ways."""

    is_law: ClassVar[bool] = True
    limit: float | None

    def force(self, x, s, sdot, u, line):
        return u[0]

    def power_names(self, label):
        return (label,)

    def powers(self, x, s, sdot, u, line):
        return [u[0] * sdot]

    def bears(self, line) -> tuple[float, float]:
        most = inf if self.limit is None else self.limit
        return -most, most

    def bears_by(self, line) -> str:
        return "its limit"


@final
@dataclass(frozen=True)
class Force(_Limited):
    """A force along the line of the pins (or on a prismatic joint), positive when it extends: the input u, N."""

    limit: Annotated[float | None, Unit("N"), "largest force, both ways", positive] = None

    def __post_init__(self):
        check_bounds(self)

    def inputs(self, label):
        return (Signal(f"u_{label}", "N", f"force of {label}"),)


@final
@dataclass(frozen=True)
class Torque(_Limited):
    """A torque on a revolute joint: the input u, N m."""

    turns: ClassVar[bool] = True
    limit: Annotated[float | None, Unit("N m"), "largest torque, both ways", positive] = None

    def __post_init__(self):
        check_bounds(self)

    def inputs(self, label):
        return (Signal(f"u_{label}", "N m", f"torque of {label}"),)


@final
@dataclass(frozen=True)
class SpringDamper(Drive):
    """f = −k (s − s_0) − d ṡ; on a revolute joint N m with s in rad."""

    is_law: ClassVar[bool] = True
    anywhere: ClassVar[bool] = True
    limit: ClassVar[None] = None
    k: Annotated[float, Unit("N/m"), "stiffness", nonnegative] = 0.0
    s_0: Annotated[float, Unit("m"), "length without force"] = 0.0
    d: Annotated[float, Unit("N s/m"), "damping", nonnegative] = 0.0

    def __post_init__(self):
        check_bounds(self)

    def force(self, x, s, sdot, u, line):
        return -self.k * (s - self.s_0) - self.d * sdot

    def stored(self, x, s):
        return 0.5 * self.k * (s - self.s_0) ** 2

    def power_names(self, label):
        return (label,)

    def powers(self, x, s, sdot, u, line):
        return [-self.d * sdot * sdot]
