"""The valves of metered arms: their circuit, the forces it bears, and the limits of the arms."""

from __future__ import annotations

from dataclasses import replace

from plants.drives.metering import bounds, opened, regenerated, speed_gain
from plants.metered.arm import Arm, MotorArm
from plants.metered.arms_names import MeteredArmsNames
from plants.metered.on_valves import OnValves
from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.valve_sections import ValveSections
from workbench.contract.machine_limits import Limit, chamber_limits, command_limits


class MeteredArmsValves(MeteredArmsNames, OnValves):
    """The part of `plants.metered.arms.MeteredArms` that is valves."""

    g: float

    @property
    def circuit(self) -> Circuit:
        """The valve circuit, its sections named like the arms."""
        return Circuit(tuple(replace(a.section, name=a.name) for a in self.arms), self.pump)

    @property
    def velocity_gain(self):
        """ẋ per unit of u_c where no force acts and the pump is at its relief, mean of both directions and all arms, m/s."""
        gains = [speed_gain(a.section, self.pump.P_M) for a in self.arms]
        return sum(gains) / len(gains)

    @property
    def damping(self):
        """B of every arm (the implicit step has B + hK)."""
        return {f"{arm.name}.B": arm.B for arm in self.arms}

    def rows(self, u):
        """The sections as `Circuit.rows` gives them, for commands and openings u (as `inputs`; forces are optional)."""
        return [
            opened(arm.section, u_c, u_a)
            for arm, u_c, u_a in zip(self.arms, u, self.regeneration(u))
        ]

    def regeneration(self, u) -> list:
        """Opening u_a of each arm, for commands and openings u (as `inputs`); a plain 0.0 where it has none."""
        more = iter(u[len(self.arms) :])
        found = []
        for arm, u_c in zip(self.arms, u):
            own = [u_c, next(more)] if arm.regeneration == "input" else [u_c]
            found.append(regenerated(arm.regeneration, own))
        return found

    @property
    def valve_sections(self) -> ValveSections:
        """The arms' valves as reports draw them."""
        titles = tuple(f"arm {name}" for name in self.names) if len(self.arms) > 1 else ("",)
        regenerates = tuple(a.regeneration != "none" for a in self.arms)
        return ValveSections(
            "all", self, self.circuit, self.u_b, tuple(self.names), titles, regenerates
        )

    def valve_account(self, log):
        """Where the pump's power went in a run, what suction checks drew, and between which pressures chambers were."""
        from plants.valve_circuits.accounts import of_mechanism

        return of_mechanism(self, self.circuit, log)

    @property
    def pressure_limits(self):
        """(least, greatest) pressure that chambers should have, Pa: somewhat beyond suction checks and reliefs."""
        sections = [arm.section for arm in self.arms]
        return bounds(max(s.P_hM for s in sections), max(s.P_rM for s in sections))

    def machine_limits(self):
        """Angles at which a cylinder points through its joint, suction, reliefs, commands."""
        turns = [
            _pointing(arm, name, *span)
            for arm, name, span in zip(self.arms, self.joint_names, self.joint_range())
            if isinstance(arm, Arm)
        ]
        return (
            *turns,
            *chamber_limits(self.pressure_names, *self.pressure_limits),
            *command_limits(self),
        )

    def holding(self, x, u):
        """Force (a motor's torque) that stands against weight and tip force, and what the sides bear at the pump's relief."""
        found = []
        for j, (arm, f_ey) in enumerate(zip(self.arms, u[-len(self.arms) :])):
            θ = float(x[3 * j])
            needs = -arm.torque(θ, 0.0, f_ey, self.g) / arm.lever(θ)
            unit = "N m" if isinstance(arm, MotorArm) else "N"
            found.append(self.bearing(j, f"arm {arm.name}", float(needs), unit))
        return tuple(found)


def _pointing(arm: Arm, name: str, low: float, high: float) -> Limit:
    """The angles at which a cylinder points through its arm's joint."""
    return Limit(
        name=f"angle {name}",
        signals=(name,),
        low=low,
        high=high,
        unit="rad",
        kind="stroke",
        meaning="where the cylinder points through the joint",
        key=f"arms.{arm.name}.r_bx",
    )
