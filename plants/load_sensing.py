"""A manipulator on a load-sensing pump: the supply pressure is a state that follows the load.

    p_L  = max_i p_r + (p_a − p_r) sat(o/w) + (p_b − p_r) sat(−o/w)      highest open port; o: opening of valve i, sat in 0 … 1
    ṗ_s  = (min(max(p_L + Δp + Δp_n (Q/Q_n)², p_0), p_top) − p_s)/τ      the pump's regulator, Q: what the valves take

Δp_n > 0 is the pump turned by a motor that knows the flow (electric load sensing); p_0 its standby pressure. The regulator is a
first-order lag. Not a gradient: no passivity is claimed of a pump that follows its load. p_s stays where it aims, between
max(p_r + Δp, p_0) and p_top, once it is there: the aim never leaves that interval.

A valve here has no check: where a chamber is above the supply, oil flows back. And a cylinder that its load drives empties one
chamber faster than the supply fills the other unless p_s is high enough: see `workbench.verification.pump`.

Source: [Nurmi17] eqs (32)–(34), with the pressures of the chambers in place of those of the loads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, final

import numpy as np

from plants.manipulator import Manipulator
from plants.on_pump import OnPump
from plants.supplies.load_sensing import aim, highest, resting
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.planning.supplies import (
    ElectricLoadSensing,
    PlannedConstantPressure,
    PlannedLoadSensing,
    TwoPressures,
)


@final
@dataclass(frozen=True)
class LoadSensed(OnPump):
    """See the module. States: the machine's, then p_s. The machine's own p_s is the highest its pump gives, p_top."""

    machine: Manipulator
    margin: Annotated[float, Unit("Pa"), "Δp, above the highest load", positive] = 2e6
    τ: Annotated[float, Unit("s"), "time constant of the pump's regulator", positive] = 0.02
    w: Annotated[float, Unit("V"), "opening over which a port is felt", positive] = 0.02
    nominal: Annotated[float, Unit("Pa"), "Δp_n, further margin at the flow Q_n", nonnegative] = 0.0
    flow: Annotated[float, Unit("m^3/s"), "nominal flow Q_n", positive] = 40e-3 / 60
    standby: Annotated[float, Unit("Pa"), "p_0, least pressure of the pump", nonnegative] = 0.0

    lines = ("",)

    def __post_init__(self):
        check_bounds(self)
        if self.least() >= self.machine.p_s:
            raise InputError(
                f"margin: {self.margin / 1e5:g} bar above the return pressure (standby: {self.standby / 1e5:g} bar) "
                f"is more than the pump gives, {self.machine.p_s / 1e5:g} bar",
                mend="give less",
            )

    def least(self):
        return np.maximum(self.machine.p_r + self.margin, self.standby)

    def felt(self, x, u):
        return [highest(self.machine.p_r, self.ports(x, u, self.w))]

    def aims(self, x, u):
        m, (p_L,) = self.supplied(x), self.felt(x, u)
        parts = m.split(x)
        taken = [
            c.valve.supply_flow(c.valve.spool(s, v), *p, m.p_s, m.p_r)
            for c, v, p, s in zip(m.cylinders, u, parts.p, parts.spool)
        ]
        return [aim(self, p_L, taken, self.machine.p_s)]

    def fits(self, supply):
        if isinstance(supply, PlannedLoadSensing):
            return (self.margin, self.nominal, self.standby) == (supply.margin, 0.0, supply.standby)
        return isinstance(supply, ElectricLoadSensing) and (
            self.margin,
            self.nominal,
            self.flow,
            self.standby,
        ) == (supply.least, supply.nominal, supply.flow, 0.0)

    def rest(self, q, pressures=None):
        """Chambers as the machine rests, the pump its margin above the highest of them."""
        x = self.machine.rest(q, pressures)
        tops = [p for pair in self.machine.split(x).p for p in pair]
        return [*x, resting(self, tops, self.machine.p_s)]


@final
@dataclass(frozen=True)
class TwoLines(OnPump):
    """Every cylinder on one of two lines at constant pressures: the lower wherever that moves it.

        ṗ_si = (p_low + (p_s − p_low) sat((p_Li + Δp − p_low)/w + 1) − p_si)/τ

    p_Li is cylinder i's open port, sat in 0 … 1: at p_Li + Δp ≥ p_low its selector has gone over to the high line, the machine's
    own p_s. While a selector goes over, it takes oil from both, so that the pumps give p_si Q_i.
    """

    machine: Manipulator
    low: Annotated[float, Unit("Pa"), "pressure of the low line", positive] = 90e5
    margin: Annotated[float, Unit("Pa"), "Δp, what valve and selector take", nonnegative] = 1e6
    τ: Annotated[float, Unit("s"), "time constant of a selector", positive] = 0.02
    w: Annotated[float, Unit("Pa"), "pressure over which a selector goes over", positive] = 2e5
    opening: Annotated[float, Unit("V"), "opening over which a port is felt", positive] = 0.02

    def __post_init__(self):
        check_bounds(self)
        if not self.machine.p_r < self.low < self.machine.p_s:
            raise InputError(
                f"low: {self.low / 1e5:g} bar is not between the return pressure, {self.machine.p_r / 1e5:g} bar, and "
                f"the high line, {self.machine.p_s / 1e5:g} bar",
                mend="give one between",
            )

    @property
    def lines(self):
        return self.machine.labels

    def least(self):
        return self.low

    def felt(self, x, u):
        return self.ports(x, u, self.opening)

    def aims(self, x, u):
        return [self._line(p) for p in self.felt(x, u)]

    def _line(self, p):
        over = np.clip((p + self.margin - self.low) / self.w + 1.0, 0.0, 1.0)
        return self.low + (self.machine.p_s - self.low) * over

    def fits(self, supply):
        return isinstance(supply, TwoPressures) and (self.low, self.machine.p_s, self.margin) == (
            supply.low,
            supply.high,
            supply.margin,
        )

    def rest(self, q, pressures=None):
        """Chambers as the machine rests, every selector as its cylinder's highest chamber asks."""
        x = self.machine.rest(q, pressures)
        return [*x, *(float(self._line(max(pair))) for pair in self.machine.split(x).p)]


def on_supply(machine: Manipulator, supply) -> Manipulator | LoadSensed | TwoLines:
    """The machine on a plan's supply (see `workbench.planning.supplies`).

    Raises InputError for what is no supply of a machine.
    """
    if isinstance(supply, PlannedConstantPressure):
        return replace(machine, p_s=supply.p_s)
    if isinstance(supply, PlannedLoadSensing):
        return LoadSensed(machine, supply.margin, standby=supply.standby)
    if isinstance(supply, ElectricLoadSensing):
        return LoadSensed(machine, supply.least, nominal=supply.nominal, flow=supply.flow)
    if isinstance(supply, TwoPressures):
        return TwoLines(replace(machine, p_s=supply.high), supply.low, supply.margin)
    raise InputError(
        f"a crane on {type(supply).__name__} cannot be driven: that is a baseline, no supply",
        mend="drive plans of LoadSensing, ElectricLoadSensing, TwoPressures or ConstantPressure; write others "
        "with --csv",
    )
