"""A crane whose supply pressures are states: what all pumps have in common whose pressure is not constant.

    ẋ   = the machine's own flow at the supply pressures p_s
    ṗ_s = what the pump's regulator does                          one for all cylinders, or one for each: `plants.supplies`

It is the machine's mechanism with another supply.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

from plants.crane import bodies as crane_bodies
from plants.crane.equations import Crane
from plants.crane.manipulator import Manipulator
from plants.delegation import of
from plants.multibody.mechanism import Mechanism
from plants.supplies.contract import Supply
from workbench.contract.parameters import bind


class OnPump(Crane):
    """See the module. States: the machine's, then the supply pressures, as measured. A pump adds its supply and what it fits.

    machine   its own p_s is the highest pressure there is
    """

    machine: Manipulator

    name = of("machine.name")
    structures = of("machine.structures")
    base = of("machine.base")
    oil = of("machine.oil")
    p_s = of("machine.p_s")
    p_r = of("machine.p_r")
    Q_max = of("machine.Q_max")
    g = of("machine.g")
    payload = of("machine.payload")
    pose = of("machine.pose")

    @property
    @abstractmethod
    def pump(self) -> Supply: ...

    @abstractmethod
    def fits(self, supply) -> bool:
        """Whether this machine has the supply that a plan states."""

    @cached_property
    def mechanism(self) -> Mechanism:
        """The machine's bodies and cylinders on the pump."""
        return crane_bodies.mechanism(self.machine, pump=self.pump)

    @property
    def supply_names(self) -> tuple[str, ...]:
        """The supply pressures' signals."""
        return tuple(f"p_s{line}" for line in self.lines)

    @property
    def supply_range(self) -> tuple[float, float] | None:
        """An interval that the supply pressures never leave, Pa."""
        return self.pump.range

    def as_shipped(self):
        return None

    # ---- the machine at the pressures of a state --------------------------------------------------------------------
    def supply(self, x):
        """p_s at a state as the machine takes it: one, or one for each cylinder."""
        k = len(self.lines)
        return x[-1] if k == 1 else list(x[len(x) - k :])

    def at_supply(self, x) -> Manipulator:
        """The machine at the supply pressures of state x."""
        return bind(self.machine, {"p_s": self.supply(x)})

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def initial(self):
        x = self.machine.initial()
        return self.rest(x[: self.n], self.machine.split(x).p)

    def rest(self, q, pressures=None) -> list[float]:
        """State at rest at joint positions q: chambers carry the weight, the pump has the pressure for the highest load."""
        x = self.machine.rest(q, pressures)
        return [*x, *self.pump.initial([list(pair) for pair in self.machine.split(x).p])]
