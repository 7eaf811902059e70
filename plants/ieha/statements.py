"""What an electro-hydraulic actuator states about itself: signals, limits, causes of its energy account, edges of its flow."""

from __future__ import annotations

from math import pi
from typing import Any

from plants.components.friction import Frictionless
from plants.ieha import energy
from workbench.contract.machine_limits import Limit, chamber_limits
from workbench.contract.system import Signal


class Statements:
    """The part of `plants.ieha.hydraulics.Hydraulics` that has no equations."""

    detail: Any
    circuit: Any
    oil: Any
    pump: Any
    friction: Any
    stop_E: Any

    def shown_signals(self, label: str = "") -> tuple[Signal, ...]:
        """What `shown` shows."""
        own = (
            Signal(named("Q", label), "m^3/s", "pump flow into A less that into B"),
            Signal(named("P_AB", label), "Pa", "pressure difference P_A − P_B"),
            Signal(named("Q_e", label), "m^3/s", "flow of the micro-valve"),
            Signal(named("F_p", label), "N", "force of the pistons on the carriage"),
            Signal(named("shaft", label), "W", "power of the motor's shaft"),
        )
        friction = Signal(named("f_f", label), "N", "friction of the cylinder, besides b_v Ẏ")
        return (*own, friction) if self.rubs else own

    @property
    def rubs(self) -> bool:
        """Whether there is friction besides b_v Ẏ."""
        return not isinstance(self.friction, Frictionless)

    def own_signals(self, label: str = "") -> tuple[Signal, ...]:
        """E, Ė, ζ, P_A, P_B."""
        return (
            Signal(named("E", label), "m", "eccentricity"),
            Signal(named("dE", label), "m/s", "velocity of the carriage"),
            Signal(
                named("zeta", label), "Pa", "half the pressure difference of the carriage chambers"
            ),
            Signal(named("P_A", label), "Pa", "pressure in A"),
            Signal(named("P_B", label), "Pa", "pressure in B"),
        )

    def own_limits(self, label: str = "", key: str = "") -> tuple[Limit, ...]:
        """Travel of the carriage; vacuum (gauge; a closed circuit has no number for it)."""
        E = self.stop_E.limit
        carriage = Limit(
            name=f"carriage {label}".rstrip(),
            signals=(named("E", label),),
            low=-E,
            high=E,
            unit="m",
            kind="valve",
            meaning="travel of the ring",
            key=f"{key}stop_E.limit",
            bearable=True,
        )
        if self.circuit == "closed":
            return (carriage,)
        chambers = (named("P_A", label), named("P_B", label))
        return (carriage, *chamber_limits(chambers, self.oil.hollow - self.oil.p_0))

    @property
    def turning(self) -> bool:
        """Whether the angle of the pump's shaft is a state."""
        return self.detail != "averaged"

    @property
    def causes(self) -> tuple[str, ...]:
        """Causes of the energy account: `plants.ieha.energy`."""
        return energy.NAMES if self.detail == "full" else (*energy.NAMES, energy.GAP)

    def pump_signals(self, label: str = "") -> tuple[Signal, ...]:
        """φ, and the pistons' pressures."""
        if not self.turning:
            return ()
        n = self.pump.N if self.detail == "full" else 0
        return (
            Signal(named("phi", label), "rad", "angle of the pump's shaft"),
            *(
                Signal(named(f"p_{i}", label), "Pa", f"pressure of micro-piston {i}")
                for i in range(1, n + 1)
            ),
        )

    @property
    def pulse(self):
        """From one piston's change of ports to the next, s: φ_i = k π at multiples of π/(N ω), of 2π/(N ω) where N is even."""
        if not self.turning:
            return 0.0
        return pi / (self.pump.N * self.pump.ω) * (1 if self.pump.N % 2 else 2)


def named(name: str, label: str) -> str:
    """A signal's name with the label of its actuator."""
    return f"{name}_{label}" if label else name
