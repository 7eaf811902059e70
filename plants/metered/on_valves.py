"""What plants on quasistatic metering valves and one pump have in common: their circuit's claims, pump and pressure limits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from plants.multibody.built import Built
from plants.valve_circuits.circuit import Circuit, Pump
from workbench.contract.machine_limits import Holding, Limit


class OnValves(Built):
    """A plant with a `circuit`, whose sections are on `pump` with the bleed opened by u_b.

    held      whether the pump's pressure is a state, so that all sections see the same one at an instant
    damping   B of every section, N s/m (N m s/rad of a motor), by the path of the number it follows from
    """

    pump: Pump
    u_b: float
    held: ClassVar[bool] = False

    @property
    @abstractmethod
    def circuit(self) -> Circuit: ...

    @property
    @abstractmethod
    def damping(self) -> Mapping[str, float]: ...

    def passivity(self, samples: int = 300, seed: int = 0):
        """Verdict on the circuit's incremental passivity."""
        from plants.valve_circuits.passivity import check_passive  # needs compiled code

        return check_passive(self.circuit, samples, seed, held=self.held)

    def uniqueness(self, samples: int = 100, seed: int = 0):
        """Verdict on the circuit's one velocity of every rod, under the damping of every section."""
        from plants.valve_circuits.uniqueness import check_unique

        return check_unique(self.circuit, dict(self.damping), samples, seed, held=self.held)

    @property
    def supply(self) -> list:
        """Q, P_M, k_b."""
        return [self.pump.Q, self.pump.P_M, self.pump.c_b * self.u_b]

    def bearing(self, j: int, name: str, needs: float, unit: str) -> Holding:
        """A force (a motor's torque) at rest beside the forces that both sides of section j bear at the pump's relief."""
        low, high = self.circuit.bears(j, self.u_b)
        words = f"reliefs of pump ({self.pump.P_M / 1e5:g} bar) and chambers, bleed"
        return Holding(name, needs, low, high, unit, words, "pump.P_M")


def pump_limit(pump: Pump, G, key: str) -> Limit:
    """The highest pressure of a pump's line: what the relief of slope G has when it takes all of Q."""
    return Limit(
        name="pressure of the pump",
        signals=("P",),
        high=pump.P_M + pump.Q / G,
        unit="Pa",
        kind="pressure",
        meaning="the pump's relief with all of Q",
        key=key,
    )
