"""The metering valves of a crane: their circuit, the forces it bears, and its limits."""

from __future__ import annotations

from plants.drives.metering import bounds, speed_gain
from plants.metered.crane_names import MeteredCraneNames
from plants.metered.on_valves import OnValves, pump_limit
from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.valve_sections import ValveSections, with_oil
from workbench.contract.machine_limits import chamber_limits, command_limits


class MeteredCraneValves(MeteredCraneNames, OnValves):
    """The part of `plants.metered.crane.MeteredCrane` that is valves. The pump's pressure is a state."""

    G: float
    P_hM: float
    P_rM: float
    τ: float
    held = True

    @property
    def circuit(self) -> Circuit:
        """The valve circuit, its sections named like the cylinders."""
        sections = (drive.metering(k) for k, drive in zip(self.labels, self._drives))
        return Circuit(tuple(sections), self.pump)

    def stiffness(self) -> list:
        """Stiffness K_j of the oil that is shut in at half stroke, N/m."""
        return [drive.stiffness for drive in self._drives]

    @property
    def damping(self):
        """B_j, N s/m: of the oil."""
        return {f"{k}.τ K": float(self.τ * K) for k, K in zip(self.labels, self.stiffness())}

    @property
    def velocity_gains(self) -> tuple[float, ...]:
        """ṗ per unit of command under no force at full pressure, extending and retracting averaged, m/s."""
        return tuple(float(speed_gain(drive.section, self.pump.P_M)) for drive in self._drives)

    def rows(self, u):
        """The sections as `Circuit.rows` gives them, for the commands u."""
        return [drive.opened(u_c) for drive, u_c in zip(self._drives, u)]

    def machine_limits(self):
        """Strokes, suction, reliefs, the pump's relief when it takes all of Q, commands."""
        strokes = tuple(s for s in self.crane.machine_limits() if s.kind == "stroke")
        return (
            *strokes,
            *chamber_limits(self.pressure_names, *self.pressure_limits),
            pump_limit(self.pump, self.G, "pump.P_M"),
            *command_limits(self),
        )

    def holding(self, x, u):
        """Cylinder forces at rest against what the sides bear at the pump's relief."""
        whole, given = self._whole(x, u)
        needs = [h.needs for h in self.crane.holding(whole, given)]
        return tuple(
            self.bearing(j, f"cylinder {k} ({s.name})", f, "N")
            for j, (k, s, f) in enumerate(zip(self.labels, self.segments, needs))
        )

    @property
    def pressure_limits(self):
        """(least, greatest) pressure that chambers should have, Pa: somewhat beyond suction checks and reliefs."""
        return bounds(self.P_hM, self.P_rM)

    @property
    def valve_sections(self) -> ValveSections:
        """The cylinders' valves as reports draw them."""
        return with_oil(self, self.circuit, self.u_b, [s.name for s in self.segments])

    def valve_account(self, log):
        """Where the pump's power went in a run, what suction checks drew, and between which pressures chambers were."""
        from plants.valve_circuits.accounts import of_mechanism

        return of_mechanism(self, self.circuit, log)
