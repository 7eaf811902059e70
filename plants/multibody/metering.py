"""What the metering valves of a mechanism account for along a run, and what their circuit proves: claims ask `Mechanism.valves`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits import accounts
from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.passivity import check_passive
from plants.valve_circuits.uniqueness import check_unique
from plants.valve_circuits.valve_sections import ValveSections, with_oil
from workbench.contract.errors import InputError
from workbench.contract.system import names


@final
@dataclass(frozen=True)
class MeteringValves:
    """The valves of every drive of a mechanism that has some, on the mechanism's supply."""

    machine: Any

    @property
    def drives(self) -> dict[str, Any]:
        """Actuator → its drive, of those behind metering valves."""
        own = ((a.name, a.drive) for a in self.machine.actuators)
        return {name: drive for name, drive in own if drive.metering(name) is not None}

    @property
    def circuit(self) -> Circuit:
        """Their sections, named like the actuators, on the pump of the supply."""
        sections = tuple(drive.metering(name) for name, drive in self.drives.items())
        return Circuit(sections, self.machine.supply.circuit_pump)

    @property
    def held(self) -> bool:
        """Whether the pump's pressure does not depend on the flow taken at the same instant: it is a number or a state."""
        return not self.machine.supply.settles

    def rods(self, x, u) -> tuple[list, list]:
        """Velocities [m/s] and forces [N] of all rods behind the valves; also over a run, of arrays of states and inputs."""
        m = self.machine
        rates = dict(zip(names(m.states), m.rhs(0.0, x, u)))
        shown = dict(zip(names(m.monitors), m.monitor(0.0, x, u)))
        return [rates[f"rod_{k}"] for k in self.drives], [shown[f"f_p_{k}"] for k in self.drives]

    @property
    def valve_sections(self) -> ValveSections | None:
        """Its drives for reports, where none regenerates and the pump's line holds oil.

        Other pumps have no bleed to draw, or log no motion of the rods.
        """
        supply = self.machine.supply
        drives = self.drives.values()
        if not isinstance(supply, SharedPump) or any(d.regeneration != "none" for d in drives):
            return None
        return with_oil(self, self.circuit, supply.u_b, [s.name for s in self.circuit.sections])

    def valve_account(self, log):
        """Where the pump's power went in a run, what suction checks drew, and between which pressures chambers were."""
        return accounts.of_mechanism(self.machine, self.circuit, log)

    def passivity(self, samples: int = 300, seed: int = 0):
        """Verdict on incremental passivity of the rods. Raises InputError on a pump that follows the loads."""
        if self.machine.no_passivity:
            raise InputError(
                f"claim incremental-passivity: {self.machine.no_passivity}",
                mend="leave the claim out, or choose a pump of constant flow or of constant pressure",
            )
        return check_passive(self.circuit, samples, seed, held=self.held)

    def uniqueness(self, samples: int = 100, seed: int = 0):
        """Verdict on the one velocity of every rod."""
        B = {f"{name}: damping of the oil": float(d.damping) for name, d in self.drives.items()}
        return check_unique(self.circuit, B, samples, seed, held=self.held)


@final
@dataclass(frozen=True)
class FilledValves:
    """The valves of drives whose oil can be compressed: their powers are accounted for, but no claim on a circuit is proven."""

    machine: Any

    def valve_account(self, log):
        """Where the pump's power went in a run, and what suction checks drew."""
        return accounts.of_filled(self.machine, log)
