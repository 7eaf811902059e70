"""A manipulator on a load-sensing pump: the supply pressure is a state that follows the load.

    p_L  = max_i p_r + (p_a − p_r) sat(o/w) + (p_b − p_r) sat(−o/w)      highest open port; o: opening of valve i, sat in 0 … 1
    ṗ_s  = (min(p_L + Δp, p_top) − p_s)/τ                                the pump's regulator

The regulator is a first-order lag, the line between pump and valves holds no oil. Everything else is the `Manipulator`'s own text,
with p_s the state. Not a gradient: no passivity is claimed of a pump that follows its load, and no ledger is given.

Source: [Nurmi17] eqs (32)–(34), with the pressures of the chambers in place of those of the loads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, final

import numpy as np

from plants.manipulator import Manipulator
from workbench.errors import InputError
from workbench.parameters import Unit, bind, check_bounds, positive
from workbench.planning.supplies import ConstantPressure, LoadSensing
from workbench.system import Signal, System


@final
@dataclass(frozen=True)
class LoadSensed(System):
    """See the module. States: the machine's, then p_s. The machine's own p_s is the highest its pump gives, p_top."""

    machine: Manipulator
    margin: Annotated[float, Unit("Pa"), "Δp, above the highest load", positive] = 2e6
    τ: Annotated[float, Unit("s"), "time constant of the pump's regulator", positive] = 0.02
    w: Annotated[float, Unit("V"), "opening over which a port is felt", positive] = 0.02

    power_names = Manipulator.power_names
    spaces = Manipulator.spaces

    def __post_init__(self):
        check_bounds(self)
        if self.machine.p_r + self.margin >= self.machine.p_s:
            raise InputError(f"margin: {self.margin / 1e5:g} bar above the return pressure is more than the pump gives, "
                             f"{self.machine.p_s / 1e5:g} bar", mend="give less")

    def __getattr__(self, name):
        if name.startswith("__") or name == "machine":
            raise AttributeError(name)
        return getattr(self.machine, name)  # labels, cylinders, task, tool, check_pose, …

    @property
    def states(self):
        return (*self.machine.states, Signal("p_s", "Pa", "supply pressure"))

    @property
    def inputs(self):
        return self.machine.inputs

    @property
    def outputs(self):
        return (*self.machine.outputs, Signal("p_s", "Pa", "supply pressure"))

    @property
    def monitors(self):
        return (*self.machine.monitors, Signal("p_L", "Pa", "highest pressure that the pump feels"))

    @property
    def stiff(self):
        return self.machine.stiff

    @property
    def pressure_names(self):
        return self.machine.pressure_names

    def limits(self):
        return self.machine.limits()

    def defaults(self):
        return self.machine.defaults()

    def supplied(self, p_s) -> Manipulator:
        """The machine at this supply pressure."""
        return bind(self.machine, {"p_s": p_s})

    def felt(self, x, u):
        """p_L."""
        m = self.machine
        parts = m.split(x)
        top = m.p_r
        for c, voltage, (p_a, p_b), s in zip(m.cylinders, u, parts.p, parts.spool):
            o = c.valve.opening(c.valve.spool(s, voltage)) / self.w
            port = (p_a - m.p_r) * np.clip(o, 0.0, 1.0) + (p_b - m.p_r) * np.clip(-o, 0.0, 1.0)
            top = np.maximum(top, m.p_r + port)
        return top

    def rhs(self, t, x, u):
        aim = np.minimum(self.felt(x, u) + self.margin, self.machine.p_s)
        return [*self.supplied(x[-1]).rhs(t, x[:-1], u), (aim - x[-1]) / self.τ]

    def guards(self, t, x, u):
        return self.machine.guards(t, x[:-1], u)

    def out(self, t, x):
        return [*self.machine.out(t, x[:-1]), x[-1]]

    def monitor(self, t, x, u):
        return [*self.supplied(x[-1]).monitor(t, x[:-1], u), self.felt(x, u)]

    def powers(self, t, x, u):
        return self.supplied(x[-1]).powers(t, x[:-1], u)

    def stored(self, t, x, u):
        return self.machine.stored(t, x[:-1], u)

    def rest(self, q, pressures=None) -> list[float]:
        """At rest: chambers as the machine rests, the pump its margin above the highest of them."""
        x = self.machine.rest(q, pressures)
        highest = max(p for pair in self.machine.split(x).p for p in pair)
        return [*x, float(min(highest + self.margin, self.machine.p_s))]

    def initial(self):
        x = self.machine.initial()
        return self.rest(x[: self.machine.n], self.machine.split(x).p)


def on_supply(machine: Manipulator, supply) -> Manipulator | LoadSensed:
    """The machine on a plan's supply (see `workbench.planning.supplies`): a constant pressure, or a pump that follows the load.

    Raises InputError for supplies of which there is no machine here.
    """
    if isinstance(supply, ConstantPressure):
        return replace(machine, p_s=supply.p_s)
    if isinstance(supply, LoadSensing):
        return LoadSensed(machine, supply.margin)
    raise InputError(f"a crane on {type(supply).__name__} cannot be driven here", mend="drive plans of LoadSensing or "
                     "ConstantPressure; write others with --csv")
