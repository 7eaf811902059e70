"""A pump of constant flow with its relief and a bleed, one line for all drives; see `plants.supplies.contract`.

    V_p/β Ṗ = Q − k_b R(P) − G (P − P_M)⁺ − Σ_j Q_j                              (114), (123) of [Kikuuwe21] with oil in the line

R is the root of `components.orifice` over the width w. Pressures are above the tank's, which is zero. The line is long and holds
oil, V_p; so P is a state, and drives take what they take at that P.

Source: [Kikuuwe21]; that the line holds oil is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, ClassVar, final

import numpy as np

from plants.components.orifice import root
from plants.drives.contract import Line
from plants.supplies.contract import Account, Supply, highest_left
from plants.valve_circuits.circuit import Pump
from workbench.contract.machine_limits import Limit
from workbench.contract.parameters import Unit, check_bounds, fraction, nonnegative, positive
from workbench.contract.system import Signal


def idle(Q, P_M, k_b, G) -> float:
    """P with all valves shut, Pa: Q = k_b √P + G (P − P_M)⁺."""
    if k_b * P_M**0.5 >= Q:
        return (Q / k_b) ** 2
    b = k_b / G
    return (0.5 * ((b * b + 4.0 * (P_M + Q / G)) ** 0.5 - b)) ** 2


@final
@dataclass(frozen=True)
class SharedPump(Supply):
    """A pump of constant flow, relief, bleed; equations in `plants.supplies.shared_pump`. State P."""

    pressure_name: ClassVar[str] = "P"

    pump: Pump = Pump(Q=100e-3 / 60, P_M=175e5)
    u_b: Annotated[float, Unit("1"), "opening of the bleed", fraction] = 0.05
    V_p: Annotated[float, Unit("m^3"), "volume of the pump's line", positive] = 5e-3
    G: Annotated[float, Unit("m^3/(s Pa)"), "slope of the pump's relief", positive] = 5e-9
    β: Annotated[float, Unit("Pa"), "bulk modulus of the oil in the line", positive] = 800e6
    w: Annotated[float, Unit("Pa"), "width of the bleed's root at no pressure", nonnegative] = 0.0

    def __post_init__(self):
        check_bounds(self)

    @property
    def k_b(self):
        """Flow coefficient of the bleed, m³/(s √Pa)."""
        return self.pump.c_b * self.u_b

    def states(self):
        return (Signal("P", "Pa", "pressure of the pump"),)

    def line(self, y):
        return Line(np.maximum(y[0], 0.0), 0.0)

    @property
    def most(self):
        """The highest line: at the relief's pressure, or at that where the bleed takes the whole flow Q."""
        return Line(highest_left(self.pump, self.k_b), 0.0)

    def lost(self, y) -> tuple:
        """Flows through bleed and relief, m³/s."""
        P = np.maximum(y[0], 0.0)
        return self.k_b * root(P, self.w), self.G * np.maximum(P - self.pump.P_M, 0.0)

    @property
    def circuit_pump(self) -> Pump:
        return self.pump

    @property
    def Q_max(self) -> float:
        """All that the pump delivers, m³/s."""
        return self.pump.Q

    @property
    def numbers(self) -> list:
        return [self.pump.Q, self.pump.P_M, self.k_b]

    def account(self, P, flow, rate):
        bled, relieved = self.lost([P])
        lost = {"bleed": bled * np.maximum(P, 0.0), "relief": relieved * P}
        oil = self.V_p / self.β * P * rate
        return Account(self.pump.Q * P, lost, oil)

    def rates(self, y, takers, w):
        bled, relieved = self.lost(y)
        taken = sum(drive.flow(*pull.at) for drive, pull in takers)
        return [self.β / self.V_p * (self.pump.Q - bled - relieved - taken)]

    def guards(self, y):
        """Where the relief opens, Pa."""
        return [y[0] - self.pump.P_M]

    def power_names(self):
        return ("pump", "bleed", "relief", "delivered")

    def powers(self, y, takers, w):
        bled, relieved = self.lost(y)
        P = np.maximum(y[0], 0.0)
        taken = sum(drive.flow(*pull.at) for drive, pull in takers)
        return [self.pump.Q * P, -bled * P, -relieved * P, -taken * P]

    def stored(self, y):
        return 0.5 * self.V_p / self.β * y[0] ** 2

    def initial(self, tops):
        return [idle(self.pump.Q, self.pump.P_M, self.k_b, self.G)]

    def machine_limits(self, flows):
        top = self.pump.P_M + self.pump.Q / self.G
        return (
            Limit(
                name="pressure of the pump",
                signals=("P",),
                low=-inf,
                high=top,
                unit="Pa",
                kind="pressure",
                meaning="the pump's relief with all of Q",
                key="supply.pump.P_M",
            ),
        )
