"""Pressures that hold, one for each drive; see `plants.supplies.contract`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from plants.components import sizes
from plants.drives.contract import Line
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import Supply, flow_limit
from plants.valve_circuits.circuit import Pump
from workbench.contract.parameters import Unit, check_bounds, nonnegative


@final
@dataclass(frozen=True)
class EachPressure(Supply):
    """As `ConstantPressure`, with a line of its own for every actuator, in their order: what a law is told of such a pump."""

    p_s: Annotated[
        tuple[float, ...], Unit("Pa"), "supply pressure of each actuator", sizes.pressure
    ]
    p_r: Annotated[float, Unit("Pa"), "return pressure", nonnegative] = ConstantPressure.p_r
    Q_max: Annotated[float, Unit("m^3/s"), "largest pump flow", sizes.flow] = ConstantPressure.Q_max

    def __post_init__(self):
        check_bounds(self)

    def line(self, y):
        return self.most

    def lines(self, y, asked):
        return [Line(p_s, self.p_r) for p_s in self.p_s]

    @property
    def most(self):
        highest = self.p_s[0]
        for p_s in self.p_s[1:]:
            highest = np.maximum(highest, p_s)
        return Line(highest, self.p_r)

    @property
    def circuit_pump(self) -> Pump:
        return Pump(self.Q_max, self.most.p_s - self.p_r)

    def machine_limits(self, flows):
        return flow_limit(flows, self.Q_max)
