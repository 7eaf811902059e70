"""Two lines of constant pressures; a selector puts each drive on the low one while that suffices; see `plants.supplies.contract`.

    p_Li  = p_r + (p_a − p_r) sat(o/w_o) + (p_b − p_r) sat(−o/w_o)                  open port of drive i, o: opening of its valve
    ṗ_si = (p_low + (p_high − p_low) sat((p_Li + Δp − p_low)/w + 1) − p_si)/τ        sat in 0 … 1

The low line suffices while p_Li + Δp < p_low − w; from p_Li + Δp = p_low on, drive i is on the high line. In between, the selector
takes oil from both lines, and the pumps give the power p_si Q_i. The lines hold no oil.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from plants.components import sizes
from plants.drives.contract import Line
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import Supply, flow_limit
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal, names


@final
@dataclass(frozen=True)
class SelectedLines(Supply):
    """Two lines of constant pressure; each drive is on the low one while that suffices. Equations in `plants.supplies.two_lines`.

    drives: names of the actuators that take oil, in the order of the mechanism. States: p_s_NAME [Pa], the supply pressure of
    each of them, measured. Also logged: p_L_NAME, its load pressure.
    """

    no_passivity: ClassVar[str] = (
        "two lines follow the load, and their sections are at no common pressure"
    )

    drives: tuple[str, ...]
    low: Annotated[float, Unit("Pa"), "pressure of the low line", positive] = 90e5
    high: Annotated[float, Unit("Pa"), "pressure of the high line", positive] = ConstantPressure.p_s
    margin: Annotated[float, Unit("Pa"), "Δp, what valve and selector take", nonnegative] = 1e6
    τ: Annotated[float, Unit("s"), "time constant of a selector", positive] = 0.02
    w: Annotated[
        float, Unit("Pa"), "width in pressure over which a selector switches", positive
    ] = 2e5
    opening: Annotated[
        float,
        Unit("V"),
        "w_o, opening over which a port begins to count",
        positive,
    ] = 0.02
    p_r: Annotated[float, Unit("Pa"), "return pressure", nonnegative] = ConstantPressure.p_r
    Q_max: Annotated[float, Unit("m^3/s"), "largest pump flow", sizes.flow] = ConstantPressure.Q_max

    def __post_init__(self):
        check_bounds(self)
        if not self.p_r < self.low < self.high:
            raise InputError(
                f"low: {self.low / 1e5:g} bar is not between the return pressure, {self.p_r / 1e5:g} bar, and "
                f"the high line, {self.high / 1e5:g} bar",
                key="low",
                mend="give one between",
            )

    def check(self, takers):
        there = ", ".join(a.name for a in takers)
        if list(self.drives) != [a.name for a in takers]:
            raise InputError(
                f"drives: {', '.join(self.drives) or 'none'}; the actuators that take oil are {there}",
                key="supply.drives",
                mend=f"write 'drives: [{there}]'",
            )
        for a in takers:
            if a.drive.metering(a.name) is not None:
                raise InputError(
                    f"actuators.{a.name}.drive: an account of metering valves knows one pressure of the pump, not one a drive",
                    key="supply",
                    mend="choose LoadSensing, SharedPump or ConstantPressure",
                )

    def states(self):
        return tuple(
            Signal(f"p_s_{name}", "Pa", f"supply pressure of {name}") for name in self.drives
        )

    def logged(self):
        return tuple(
            Signal(f"p_L_{name}", "Pa", f"pressure felt at {name}") for name in self.drives
        )

    def line(self, y):
        raise InputError(
            "supply: every drive on SelectedLines has a line of its own",
            mend="choose LoadSensing, whose line is one for all drives",
        )

    def lines(self, y, asked):
        each = iter(y)
        return [Line(next(each), self.p_r) if drive.needs_supply else None for drive, *_ in asked]

    @property
    def pressure_names(self):
        return tuple(names(self.states()))

    @property
    def range(self):
        """What the selectors aim at never leaves it."""
        return self.low, self.high

    @property
    def circuit_pump(self) -> Pump:
        return Pump(self.Q_max, self.high - self.p_r)

    @property
    def most(self):
        return Line(self.high, self.p_r)

    def selected(self, p):
        """The pressure that a selector goes to where it feels p, Pa."""
        over = np.clip((p + self.margin - self.low) / self.w + 1.0, 0.0, 1.0)
        return self.low + (self.high - self.low) * over

    def shown(self, y, takers, w):
        return [drive.port(*pull.at, self.opening) for drive, pull in takers]

    def rates(self, y, takers, w):
        felt = self.shown(y, takers, w)
        return [(self.selected(p) - p_s) / self.τ for p, p_s in zip(felt, y)]

    def initial(self, tops):
        return [float(self.selected(max([self.p_r, *own]))) for own in tops]

    def machine_limits(self, flows):
        return flow_limit(flows, self.Q_max)
