"""A load-sensing pump: its pressure is a state that follows the highest load; see `plants.supplies.contract`.

    p_L = max_i p_r + (p_a − p_r) sat(o/w) + (p_b − p_r) sat(−o/w)       highest open port; o: opening of valve i, sat in 0 … 1
    ṗ_s = (min(max(p_L + Δp + Δp_n (Q/Q_n)², p_0), p_top) − p_s)/τ       the pump's regulator, Q: what the valves take

The margin above the highest load is Δp at no flow; Δp_n > 0 lets it grow with the flow, as in electric load sensing, where the
pump's motor knows the flow. p_0 is the standby pressure. The regulator is a first-order lag τ; the line to the valves holds no oil.

Source: [Nurmi17] eqs (32)–(34), with the pressures of the chambers in place of those of the loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from plants.components import sizes
from plants.drives.contract import Line
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import Supply, check_line, flow_limit
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal


def highest(p_r, ports):
    """p_L: the highest of the open ports, no less than the return pressure."""
    top = p_r
    for p in ports:
        top = np.maximum(top, p)
    return top


def aim(regulator, p_L, taken, p_top):
    """What p_s goes to; `regulator` has margin, nominal, flow and standby, `taken` is the flow of every valve."""
    share = np.maximum(sum(taken), 0.0) / regulator.flow
    wanted = p_L + regulator.margin + regulator.nominal * share * share
    return np.minimum(np.maximum(wanted, regulator.standby), p_top)


def resting(regulator, tops, p_top) -> float:
    """p_s of a pump that feels the highest of these chambers, nothing being taken."""
    return float(min(max(max(tops) + regulator.margin, regulator.standby), p_top))


@final
@dataclass(frozen=True)
class LoadSensing(Supply):
    """A pump whose pressure follows the highest load by a margin; equations in `plants.supplies.load_sensing`.

    State: p_s [Pa], which is measured. Also logged: p_L, the highest load pressure.
    """

    no_passivity: ClassVar[str] = (
        "the pressure of a load-sensing pump follows the loads, so that two motions have none in common"
    )
    pressure_name: ClassVar[str] = "p_s"

    margin: Annotated[float, Unit("Pa"), "Δp, above the highest load", positive] = 2e6
    τ: Annotated[float, Unit("s"), "time constant of the pump's regulator", positive] = 0.02
    w: Annotated[float, Unit("V"), "opening over which a port begins to count", positive] = 0.02
    nominal: Annotated[float, Unit("Pa"), "Δp_n, further margin at the flow Q_n", nonnegative] = 0.0
    flow: Annotated[float, Unit("m^3/s"), "nominal flow Q_n", positive] = 40e-3 / 60
    standby: Annotated[float, Unit("Pa"), "p_0, least pressure of the pump", nonnegative] = 0.0
    p_top: Annotated[float, Unit("Pa"), "highest pressure of the pump", sizes.pressure] = (
        ConstantPressure.p_s
    )
    p_r: Annotated[float, Unit("Pa"), "return pressure", nonnegative] = ConstantPressure.p_r
    Q_max: Annotated[float, Unit("m^3/s"), "largest pump flow", sizes.flow] = ConstantPressure.Q_max

    def __post_init__(self):
        check_bounds(self)
        check_line(self.most)
        if max(self.p_r + self.margin, self.standby) >= self.p_top:
            raise InputError(
                f"margin: {self.margin / 1e5:g} bar above the return pressure (standby: {self.standby / 1e5:g} bar) "
                f"is more than the pump gives, {self.p_top / 1e5:g} bar",
                key="margin",
                mend="give less",
            )

    def states(self):
        return (Signal("p_s", "Pa", "supply pressure"),)

    def logged(self):
        return (Signal("p_L", "Pa", "highest pressure that is felt"),)

    def line(self, y):
        return Line(y[0], self.p_r)

    @property
    def most(self):
        return Line(self.p_top, self.p_r)

    @property
    def unloaded(self):
        """Above the load a valve has no more than the margin, that at the nominal flow, whatever p_top is."""
        return Line(min(self.p_r + self.margin + self.nominal, self.p_top), self.p_r)

    @property
    def range(self):
        """What the regulator aims at never leaves it."""
        return max(self.p_r + self.margin, self.standby), self.p_top

    @property
    def circuit_pump(self) -> Pump:
        return Pump(self.Q_max, self.p_top - self.p_r)

    def felt(self, takers):
        """p_L."""
        return highest(self.p_r, [drive.port(*pull.at, self.w) for drive, pull in takers])

    def shown(self, y, takers, w):
        return [self.felt(takers)]

    def rates(self, y, takers, w):
        taken = [drive.flow(*pull.at) for drive, pull in takers]
        return [(aim(self, self.felt(takers), taken, self.p_top) - y[0]) / self.τ]

    def initial(self, tops):
        return [resting(self, [self.p_r, *(p for own in tops for p in own)], self.p_top)]

    def machine_limits(self, flows):
        return flow_limit(flows, self.Q_max)
