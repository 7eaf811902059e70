"""A manipulator whose supply pressures are states: what every pump that is not constant has in common.

    ẋ   = the machine's own flow at the supply pressures p_s
    ṗ_s = (aim(x, u) − p_s)/τ                     one for all cylinders, or one for each

The line between pump and valves holds no oil. Everything else is the `Manipulator`'s own text.
"""

from __future__ import annotations

from abc import abstractmethod
from operator import attrgetter
from typing import Any

from plants.manipulator import Manipulator
from workbench.contract.parameters import bind
from workbench.contract.system import Signal, System


def of_machine(name: str) -> property:
    """A member that is the machine's."""
    return property(lambda self: attrgetter(name)(self.machine))


class OnPump(System):
    """See the module. States: the machine's, then the supply pressures, as measured. A pump adds what it feels and aims at.

    machine   its own p_s is the highest pressure there is
    τ         s, time constant of the supply pressure
    """

    machine: Manipulator
    τ: Any

    power_names = of_machine("power_names")
    spaces = Manipulator.spaces

    def __getattr__(self, name):
        """What only a `Manipulator` has: its geometry, masses, pump."""
        if name.startswith("__") or name == "machine":
            raise AttributeError(name)
        return attrgetter(name)(self.machine)

    # ---- what is the machine's own ----------------------------------------------------------------------------------
    name = of_machine("name")
    labels = of_machine("labels")
    cylinders = of_machine("cylinders")
    segments = of_machine("segments")
    structures = of_machine("structures")
    mechanism = of_machine("mechanism")
    n = of_machine("n")
    joint_names = of_machine("joint_names")
    p_s = of_machine("p_s")
    p_r = of_machine("p_r")
    vacuum = of_machine("vacuum")
    tool = of_machine("tool")
    task = of_machine("task")
    task_names = of_machine("task_names")
    joint_range = of_machine("joint_range")
    check_pose = of_machine("check_pose")

    # ---- what a pump is ---------------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def lines(self) -> tuple[str, ...]:
        """What follows p_s and p_L in their names: ("",) where one line feeds all cylinders, or the cylinders' labels."""

    @abstractmethod
    def felt(self, x, u) -> list:
        """p_L of every line."""

    @abstractmethod
    def aims(self, x, u) -> list:
        """What the supply pressures go to."""

    @abstractmethod
    def fits(self, supply) -> bool:
        """Whether it is the machine for this supply of a plan."""

    @abstractmethod
    def least(self) -> float:
        """Below it no supply pressure falls."""

    # ---- the machine at the pressures of a state --------------------------------------------------------------------
    @property
    def supply_names(self) -> tuple[str, ...]:
        """The supply pressures' signals."""
        return tuple(f"p_s{line}" for line in self.lines)

    def supply(self, x):
        """p_s at a state as the machine takes it: one, or one for each cylinder."""
        k = len(self.lines)
        return x[-1] if k == 1 else list(x[len(x) - k :])

    def supplied(self, x) -> Manipulator:
        """The machine at the supply pressures of state x."""
        return bind(self.machine, {"p_s": self.supply(x)})

    def own(self, x) -> list:
        """The machine's own states."""
        return list(x[: len(x) - len(self.lines)])

    def ports(self, x, u, w) -> list:
        """Pressure of every cylinder's open port (`Valve.port`)."""
        m = self.machine
        parts = m.split(x)
        return [
            c.valve.port(c.valve.spool(s, voltage), *pair, m.p_r, w)
            for c, voltage, pair, s in zip(m.cylinders, u, parts.p, parts.spool)
        ]

    # ---- the contract -----------------------------------------------------------------------------------------------
    def _signals(self):
        return tuple(Signal(name, "Pa", "supply pressure") for name in self.supply_names)

    @property
    def states(self):
        return (*self.machine.states, *self._signals())

    @property
    def inputs(self):
        return self.machine.inputs

    @property
    def outputs(self):
        return (*self.machine.outputs, *self._signals())

    @property
    def monitors(self):
        return (
            *self.machine.monitors,
            *(Signal(f"p_L{line}", "Pa", "highest pressure that is felt") for line in self.lines),
        )

    @property
    def stiff(self):
        return self.machine.stiff

    @property
    def pressure_names(self):
        return self.machine.pressure_names

    def limits(self):
        return self.machine.limits()

    def scales(self):
        return self.machine.scales()

    def machine_limits(self):
        """Those of the machine: the pump's pressure never leaves what it aims at."""
        return self.machine.machine_limits()

    def holding(self, x, u):
        """Those of the machine at the highest pressure there is."""
        return self.machine.holding(self.own(x), u)

    def defaults(self):
        return self.machine.defaults()

    def rhs(self, t, x, u):
        own = self.own(x)
        rates = [(aim - p) / self.τ for aim, p in zip(self.aims(x, u), x[len(own) :])]
        return [*self.supplied(x).rhs(t, own, u), *rates]

    def guards(self, t, x, u):
        return self.machine.guards(t, self.own(x), u)

    def out(self, t, x):
        own = self.own(x)
        return [*self.machine.out(t, own), *x[len(own) :]]

    def monitor(self, t, x, u):
        return [*self.supplied(x).monitor(t, self.own(x), u), *self.felt(x, u)]

    def powers(self, t, x, u):
        return self.supplied(x).powers(t, self.own(x), u)

    def stored(self, t, x, u):
        return self.machine.stored(t, self.own(x), u)

    def initial(self):
        x = self.machine.initial()
        return self.rest(x[: self.machine.n], self.machine.split(x).p)

    @abstractmethod
    def rest(self, q, pressures=None) -> list[float]:
        """At rest at joint positions q: chambers as the machine rests, the pump as it would be for the highest of them."""
