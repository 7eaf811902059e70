"""A manipulator on a load-sensing pump, or on two lines: the supply pressure is a state that follows the load.

Equations of the pumps are those of `plants.supplies.load_sensing` and `plants.supplies.two_lines`. Not a gradient: no passivity is
claimed of a pump that follows its load. p_s stays where it aims, between max(p_r + Δp, p_0) and p_top, once it is there: the aim
never leaves that interval.

A valve here has no check: where a chamber is above the supply, oil flows back. And a cylinder that its load drives empties one
chamber faster than the supply fills the other unless p_s is high enough: see `workbench.verification.observed.pump`.

Source: [Nurmi17] eqs (32)–(34), with the pressures of the chambers in place of those of the loads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, final

from plants.crane.manipulator import Manipulator
from plants.crane.on_pump import OnPump
from plants.supplies.load_sensing import LoadSensing
from plants.supplies.two_lines import SelectedLines
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive, unchecked
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
    margin: Annotated[float, Unit("Pa"), "Δp, above the highest load", positive] = (
        LoadSensing.margin
    )
    τ: Annotated[float, Unit("s"), "time constant of the pump's regulator", positive] = (
        LoadSensing.τ
    )
    w: Annotated[float, Unit("V"), "opening over which a port is felt", positive] = LoadSensing.w
    nominal: Annotated[float, Unit("Pa"), "Δp_n, further margin at the flow Q_n", nonnegative] = (
        LoadSensing.nominal
    )
    flow: Annotated[float, Unit("m^3/s"), "nominal flow Q_n", positive] = LoadSensing.flow
    standby: Annotated[float, Unit("Pa"), "p_0, least pressure of the pump", nonnegative] = (
        LoadSensing.standby
    )

    def __post_init__(self):
        check_bounds(self)
        LoadSensing(**self._numbers())

    def _numbers(self) -> dict[str, Any]:
        own = ("margin", "τ", "w", "nominal", "flow", "standby")
        found = {name: getattr(self, name) for name in own}
        return found | {"p_top": self.p_s, "p_r": self.p_r, "Q_max": self.Q_max}

    @property
    def pump(self):
        return unchecked(LoadSensing, **self._numbers())

    def fits(self, supply):
        if isinstance(supply, PlannedLoadSensing):
            return (self.margin, self.nominal, self.standby) == (supply.margin, 0.0, supply.standby)
        return isinstance(supply, ElectricLoadSensing) and (
            self.margin,
            self.nominal,
            self.flow,
            self.standby,
        ) == (supply.least, supply.nominal, supply.flow, 0.0)


@final
@dataclass(frozen=True)
class TwoLines(OnPump):
    """Every cylinder on one of two lines at constant pressures: the lower wherever that moves it (`SelectedLines`).

    The high line is at the machine's own p_s.
    """

    machine: Manipulator
    low: Annotated[float, Unit("Pa"), "pressure of the low line", positive] = SelectedLines.low
    margin: Annotated[float, Unit("Pa"), "Δp, what valve and selector take", nonnegative] = (
        SelectedLines.margin
    )
    τ: Annotated[float, Unit("s"), "time constant of a selector", positive] = SelectedLines.τ
    w: Annotated[
        float, Unit("Pa"), "width in pressure over which a selector switches", positive
    ] = SelectedLines.w
    opening: Annotated[float, Unit("V"), "opening over which a port is felt", positive] = (
        SelectedLines.opening
    )

    def __post_init__(self):
        check_bounds(self)
        SelectedLines(**self._numbers())

    def _numbers(self) -> dict[str, Any]:
        own = ("low", "margin", "τ", "w", "opening")
        found = {name: getattr(self, name) for name in own}
        line = {"high": self.p_s, "p_r": self.p_r, "Q_max": self.Q_max}
        return found | line | {"drives": self.labels}

    @property
    def pump(self):
        return unchecked(SelectedLines, **self._numbers())

    @property
    def lines(self):
        return self.labels

    def fits(self, supply):
        return isinstance(supply, TwoPressures) and (self.low, self.p_s, self.margin) == (
            supply.low,
            supply.high,
            supply.margin,
        )


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
