"""A pump that holds one pressure, whatever is taken; see `plants.supplies.contract`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from plants.components import sizes
from plants.drives.contract import Line
from plants.supplies.contract import Supply, check_line, flow_limit
from plants.valve_circuits.circuit import Pump
from workbench.contract.parameters import Unit, check_bounds, nonnegative


@final
@dataclass(frozen=True)
class ConstantPressure(Supply):
    """A supply of constant pressures p_s and p_r, whatever flow is taken.

    Where the drives together take more than Q_max, the real pump could not hold p_s: the limits of the machine are then broken.
    """

    p_s: Annotated[float, Unit("Pa"), "supply pressure", sizes.pressure] = 185e5
    p_r: Annotated[float, Unit("Pa"), "return pressure", nonnegative] = 10e5
    Q_max: Annotated[float, Unit("m^3/s"), "largest pump flow", sizes.flow] = 100e-3 / 60

    def __post_init__(self):
        check_bounds(self)
        check_line(Line(self.p_s, self.p_r))

    def line(self, y) -> Line:
        return Line(self.p_s, self.p_r)

    @property
    def most(self) -> Line:
        return Line(self.p_s, self.p_r)

    @property
    def circuit_pump(self) -> Pump:
        return Pump(self.Q_max, self.p_s - self.p_r)

    def machine_limits(self, flows):
        return flow_limit(flows, self.Q_max)
