"""A pump of constant flow with its relief and a bleed on a line that holds no oil; see `plants.supplies.contract`.

    Q = k_b √P + Q_M + Σ_j Q_j(P),   Q_M ≥ 0 only at P = P_M                                        (114), (123)

Pressures are above the tank's. P is no state but the root of this balance at every instant, where Q_j(P) is the flow that drive j
would take at the pressure P. So what one drive takes lowers the pressure of all others at the same instant.

Source: [Kikuuwe21] Section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from plants.drives.contract import Line, Settled
from plants.supplies.contract import Account, Supply, highest_left
from plants.valve_circuits import closed, on_pump, shared
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, fraction
from workbench.contract.system import Signal

AT = 1e-6  # share of the relief's pressure: nearer than that counts as at it


@final
@dataclass(frozen=True)
class InstantPump(Supply):
    """A pump of constant flow with relief and bleed on a line without oil; equations in `plants.supplies.instant_pump`.

    Its pressure P is no state, and is logged. It serves drives behind quasistatic metering valves (those with `Drive.behind`).
    """

    settles: ClassVar[bool] = True
    pressure_name: ClassVar[str] = "P"

    pump: Pump = Pump()
    u_b: Annotated[float, Unit("1"), "opening of the bleed", fraction] = 0.3

    def __post_init__(self):
        check_bounds(self)

    @property
    def k_b(self):
        """Flow coefficient of the bleed, m³/(s √Pa)."""
        return self.pump.c_b * self.u_b

    @property
    def circuit_pump(self) -> Pump:
        return self.pump

    @property
    def Q_max(self) -> float:
        """All that the pump delivers, m³/s."""
        return self.pump.Q

    def account(self, P, flow, rate):
        bled = self.k_b * np.sqrt(np.maximum(P, 0.0))
        relieved = np.where(P >= self.pump.P_M * (1 - AT), self.pump.Q - bled - flow, 0.0)
        lost = {"bleed": bled * P, "relief": relieved * P}
        return Account(self.pump.Q * P, lost, np.zeros(np.shape(P)))

    @property
    def numbers(self) -> list:
        return [self.pump.Q, self.pump.P_M, self.k_b]

    def line(self, y):
        raise InputError(
            "supply: the pressure of an InstantPump follows from what its drives take",
            mend="choose SharedPump, whose line holds oil",
        )

    def lines(self, y, asked):
        takers = [(drive, own) for drive, *own in asked if drive.needs_supply]
        found = self.settled([drive.behind(*own) for drive, own in takers])
        each = iter(found)
        return [next(each) if drive.needs_supply else None for drive, *_ in asked]

    def settled(self, sections) -> list[Line]:
        """Pressure and speeds of sections (`plants.drives.contract.Behind`) that share the pump."""
        rows, β, held = zip(*sections)
        found = shared.resolved(rows, self.numbers, β, held)
        speeds = found.v
        if len(rows) == 1 and on_pump.shut(rows[0][8]):
            speeds = [closed.Λ(rows[0], self.numbers, β[0], held[0])]
        return [
            Line(found.P, 0.0, Settled(v, Q_p, pair, found.residual))
            for v, Q_p, pair in zip(speeds, found.Q_p, found.held)
        ]

    def left_by(self, areas, speeds):
        """P while pistons move at given speeds, Pa: areas A_h, A_r of each, of which the pump feeds the one that grows."""
        taken = sum(np.where(v > 0.0, A_h, A_r) * np.abs(v) for v, (A_h, A_r) in zip(speeds, areas))
        left = np.maximum(self.pump.Q - taken, 0.0)
        return np.minimum(left / (self.k_b + closed._TINY), np.sqrt(self.pump.P_M)) ** 2

    @property
    def most(self):
        """At the relief, or where the bleed takes all of Q."""
        return Line(highest_left(self.pump, self.k_b), 0.0)

    def logged(self):
        return (
            Signal("P", "Pa", "pressure of the pump"),
            Signal("r_P", "1", "pump's flow that its pressure leaves unaccounted for, over Q"),
        )

    def shown(self, y, takers, w):
        line = takers[0][1].line
        return [line.p_s, line.settled.left]

    def power_names(self):
        return ("pump", "bleed", "relief", "delivered")

    def powers(self, y, takers, w):
        P = takers[0][1].line.p_s
        bled = self.k_b * np.sqrt(P)
        taken = sum(pull.line.settled.flow for _, pull in takers)
        relieved = self.pump.Q - bled - taken
        return [self.pump.Q * P, -bled * P, -relieved * P, -taken * P]

    def machine_limits(self, flows):
        return ()
