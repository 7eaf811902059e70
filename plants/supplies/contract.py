"""The contract of a supply, which feeds a machine's drives with oil. `Supply` has defaults for a supply without states.

A machine has one supply; y are the supply's states, w its inputs. `takers` are the drives that take oil from it, each a pair of
the drive and its actuator at the present state (`plants.multibody.acting.Pull`).

  1. A supply is a frozen dataclass; its annotated numbers are parameters (`workbench.contract.parameters`).
  2. `states()`, `inputs()`, `logged()` are tuples of Signal; y, w and `shown` have their length and order.
  3. `line(y)` are the pressures that its drives have (`plants.drives.contract.Line`). `lines(y, asked)` are those of each actuator
     of the machine; asked: (drive, x, s, ṡ, u) of each. `most` are the highest pressures there are, from which the largest forces
     and speeds of the drives follow; `unloaded` are those while a drive moves no load, from which gains and paths are chosen.
     `settles`: the pressure is no state; it follows at every instant from the flow that the drives would take at it
     (`Drive.behind`). Such a supply has no `line(y)`.
  4. `rates(y, takers, w)` is ẏ, `guards(y)` changes its sign where that has a kink; `powers(y, takers, w)`, in W by
     `power_names()`, is what changes its energy `stored(y)`, besides the powers of its drives.
  5. `initial(tops)` are its states at rest; tops: of each taker, the pressures of its chambers that are states. `check(takers)`
     raises InputError where it cannot serve these actuators.
  6. `pressure_name` is the logged signal that is its pressure, "" where the pressure is a number, or there are several.
     `pressure_names` are its states that are pressures, `range` is an interval [Pa] that they never leave, None if none is known.
     `no_passivity` says why two motions on this supply have no pump pressure in common, so that incremental passivity cannot be
     claimed; "" where it can.
  7. `account(P, flow, rate)` is where its power goes (`Account`) while its pressure is P [Pa] above its return, changing with
     `rate` [Pa/s], and its drives take `flow` [m³/s]. `circuit_pump` is the pump in claims on metering valves; InputError where
     there is none. `Q_max` [m³/s] is the most that its drives may take together, ∞ where it states none.
  8. `machine_limits(flows)` are its limits, flows: logged signals of what its drives take; `limits()` the ranges of its inputs.

To add a supply: a class in a file of this folder, its name in `plants.supplies.kinds`, a line in the tests' list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plants.drives.contract import Line
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit
from workbench.contract.system import Signal


class Account(NamedTuple):
    """Power that a pump gives, cause → power that its own valves lose, rate of the energy of the oil in its line, W."""

    given: Any
    lost: dict[str, Any]
    stored: Any


class Supply(ABC):
    """What feeds the drives of a `Mechanism` with oil; what a subclass has to give is numbered in `plants.supplies.contract`."""

    @abstractmethod
    def line(self, y) -> Line: ...

    @property
    @abstractmethod
    def most(self) -> Line: ...

    @abstractmethod
    def machine_limits(self, flows: tuple[str, ...]) -> tuple[Limit, ...]: ...

    @property
    def circuit_pump(self) -> Pump:
        raise InputError(
            f"supply: a {type(self).__name__} does not say by which pump claims on metering valves are made",
            mend="give it circuit_pump, a plants.valve_circuits.circuit.Pump, or drives without metering valves",
        )

    @property
    def unloaded(self) -> Line:
        return self.most

    Q_max: float = inf
    settles: ClassVar[bool] = False
    no_passivity: ClassVar[str] = ""
    pressure_name: ClassVar[str] = ""

    @property
    def pressure_names(self) -> tuple[str, ...]:
        return (self.pressure_name,) if self.states() else ()

    @property
    def range(self) -> tuple[float, float] | None:
        return None

    @property
    def numbers(self) -> list:
        """Q, P_M and the bleed's k_b of `circuit_pump`."""
        return [self.circuit_pump.Q, self.circuit_pump.P_M, 0.0]

    def account(self, P, flow, rate) -> Account:
        return Account(P * flow, {}, np.zeros(np.shape(P)))

    def lines(self, y, asked) -> list[Line]:
        return [self.line(y)] * len(asked)

    def states(self) -> tuple[Signal, ...]:
        return ()

    def inputs(self) -> tuple[Signal, ...]:
        return ()

    def logged(self) -> tuple[Signal, ...]:
        return ()

    def shown(self, y, takers, w) -> list:
        return []

    def rates(self, y, takers, w) -> list:
        return []

    def power_names(self) -> tuple[str, ...]:
        return ()

    def powers(self, y, takers, w) -> list:
        return []

    def stored(self, y):
        return 0.0

    def guards(self, y) -> list:
        return []

    def initial(self, tops) -> list:
        return []

    def check(self, takers: list) -> None:
        return None

    def limits(self) -> dict[str, tuple[float, float]]:
        return {}


def flow_limit(flows: tuple[str, ...], most: float) -> tuple[Limit, ...]:
    """The limit on the sum of the logged `flows`, what all drives take from the pump; () without such flows."""
    if not flows:
        return ()
    return (
        Limit(
            "pump flow",
            flows,
            high=most,
            unit="m^3/s",
            kind="flow",
            meaning="what all cylinders take from the pump",
            key="supply.Q_max",
        ),
    )


SHUT = 1e-30  # m³/(s √Pa): a bleed that is less open takes nothing


def highest_left(pump: Pump, k_b):
    """P [Pa] of a pump whose drives take nothing: a bleed of coefficient k_b takes all of Q, or the relief is open."""
    root = pump.Q / np.maximum(k_b, SHUT)
    return np.minimum(pump.P_M, root * root)


def check_line(line: Line) -> None:
    """InputError where the return pressure is not below the supply pressure."""
    if line.p_r >= line.p_s:
        raise InputError(
            f"p_r: the return pressure, {line.p_r / 1e5:g} bar, must be below the supply pressure, "
            f"{line.p_s / 1e5:g} bar"
        )
