"""What acts between two points s apart (or on a joint at s), extending with ṡ: a force, a torque, a spring with damper.

A drive is one of two kinds. A law has `law(s, ṡ, u)` → N and no states. A circuit has states x (pressures, spools) and
`force(x, ṡ)`. Both have, with `label` the actuator's name,

    states(label), inputs(label)   Signals;            initial(s, force)   states at rest under that force
    rates(x, s, ṡ, u)              ẋ;                  stored(x, s)        energy, J
    bears, bears_by                least and greatest force at rest, and what limits it in words (only drives with inputs)
    powers(x, s, ṡ, u)             W, by power_names(label); their sum is d(stored)/dt plus the power F ṡ it gives
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, final

from plants.components.circuit import ThrottledCircuit
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal


class _Limited:
    """A drive that gives what it is told, up to its `limit` both ways."""

    limit: float | None

    @property
    def bears(self) -> tuple[float, float]:
        """Least and greatest force or torque."""
        most = inf if self.limit is None else self.limit
        return -most, most

    @property
    def bears_by(self) -> str:
        return "its limit"


@final
@dataclass(frozen=True)
class Force(_Limited):
    """A force along the line of the pins (or on a prismatic joint), positive when it extends: the input u, N."""

    limit: Annotated[float | None, Unit("N"), "largest force, both ways", positive] = None

    def __post_init__(self):
        check_bounds(self)

    def states(self, label):
        return ()

    def inputs(self, label):
        return (Signal(f"u_{label}", "N", f"force of {label}"),)

    def initial(self, s, force):
        return []

    def rates(self, x, s, sdot, u):
        return []

    def law(self, s, sdot, u):
        return u[0]

    def stored(self, x, s):
        return 0.0

    def power_names(self, label):
        return (label,)

    def powers(self, x, s, sdot, u):
        return [u[0] * sdot]


@final
@dataclass(frozen=True)
class Torque(_Limited):
    """A torque on a revolute joint: the input u, N m."""

    limit: Annotated[float | None, Unit("N m"), "largest torque, both ways", positive] = None

    def __post_init__(self):
        check_bounds(self)

    def inputs(self, label):
        return (Signal(f"u_{label}", "N m", f"torque of {label}"),)

    states, initial, rates, law = Force.states, Force.initial, Force.rates, Force.law
    stored, power_names, powers = Force.stored, Force.power_names, Force.powers


@final
@dataclass(frozen=True)
class SpringDamper:
    """f = −k (s − s_0) − d ṡ; on a revolute joint N m with s in rad."""

    k: Annotated[float, Unit("N/m"), "stiffness", nonnegative] = 0.0
    s_0: Annotated[float, Unit("m"), "length without force"] = 0.0
    d: Annotated[float, Unit("N s/m"), "damping", nonnegative] = 0.0

    def __post_init__(self):
        check_bounds(self)

    def inputs(self, label):
        return ()

    def law(self, s, sdot, u):
        return -self.k * (s - self.s_0) - self.d * sdot

    def stored(self, x, s):
        return 0.5 * self.k * (s - self.s_0) ** 2

    def powers(self, x, s, sdot, u):
        return [-self.d * sdot * sdot]

    states, initial, rates, power_names = (
        Force.states,
        Force.initial,
        Force.rates,
        Force.power_names,
    )


Drive = Force | Torque | SpringDamper | ThrottledCircuit


def effort(drive, x, s, sdot, u):
    """Force of a drive along its extension, N (N m on a revolute joint)."""
    return drive.law(s, sdot, u) if hasattr(drive, "law") else drive.force(x, sdot)
