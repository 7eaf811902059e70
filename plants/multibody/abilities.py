"""What a mechanism can do, and how it is integrated: limits, scales, gains, forces that hold its weight."""

from __future__ import annotations

from plants import scales
from plants.components.spatial import Frame
from plants.drives.contract import Drive
from plants.machine_files import like
from plants.multibody import acting, coordinates, effort, held, reach, signals, static
from plants.multibody.oil import Oil
from workbench.numerics.adaptive import Adaptive, Fixed


class Abilities(Oil):
    """The part of `plants.multibody.mechanism.Mechanism` that answers what claims, laws and integrators ask."""

    @property
    def demo_path(self) -> tuple[tuple[float, ...], ...] | None:
        """Points in independent positions, to both sides of the start within all strokes; None where those are not known."""
        return reach.demo(self)

    def effort(self, t, q) -> float:
        """See `plants.multibody.effort`."""
        return effort.effort(self, t, q)

    @property
    def integrator(self):
        """The method's own integrator; None: those of `workbench.run.simulate`."""
        if self.method != "penalty":
            return None
        from plants.multibody.penalty.loop import penalty_loop

        return penalty_loop

    @property
    def fixed(self) -> Fixed | None:
        """Equal steps of the L-stable method where a drive asks for them, and none for steps that find their own length."""
        wanted = any(a.drive.equal_steps for a in self.actuators)
        return Fixed() if wanted and self.adaptive is None else None

    @property
    def adaptive(self) -> Adaptive | None:
        """Steps of the L-stable method that find their own length, where a drive asks for them."""
        return acting.adaptive(self)

    @property
    def stiff(self):
        """States that may be fast where steps are not equal: spools, bristles, and rates near rest under dry friction."""
        own = tuple(name for a in self.actuators for name in a.drive.stiff(a.name))
        if self.fixed or self.adaptive or not any(a.drive.steep for a in self.actuators):
            return ()
        return (*(self.rates[i].name for i in self.own[1]), *own)

    @property
    def upward(self) -> tuple:
        """Weight direction in the world, against gravity, m/s²; the world has the axes of the ground at rest."""
        return tuple(-v for v in self.gravity)

    @property
    def base(self) -> Frame:
        """Pose of the ground in the world, at rest."""
        return Frame()

    @property
    def loop_rate(self) -> float:
        """Rate that a position loop can have, 1/s: that of the slowest drive."""
        return min((a.drive.loop_rate for a in self.actuators), default=Drive.loop_rate)

    @property
    def integral_rate(self) -> float:
        """K_i/K_p of a position loop, 1/s."""
        return min((a.drive.integral_rate for a in self.actuators), default=Drive.integral_rate)

    @property
    def cuts_commands(self) -> bool:
        """Whether a drive has no command beyond its limit."""
        return any(a.drive.cuts_commands for a in self.actuators)

    @property
    def just_shut(self) -> dict[str, float]:
        """Commands at which valves of drives are just shut, so that the machine has no slope there."""
        return {
            a.drive.inputs(a.name)[0].name: a.drive.just_shut
            for a in self.actuators
            if a.drive.just_shut is not None
        }

    @property
    def velocity_gain(self) -> float | None:
        """Velocity that a unit of command gives, averaged over the actuators; None where commands set something else."""
        gains = acting.velocity_gains(self)
        return sum(gains) / len(gains) if gains else None

    @property
    def velocity_gains(self) -> tuple[float, ...]:
        """Velocity per unit of command of each actuator, where these differ in unit, so that a mean has no meaning."""
        units = {(s.unit, a.drive.turns) for a in self.actuators for s in a.drive.inputs(a.name)}
        return acting.velocity_gains(self) if len(units) > 1 else ()

    @property
    def valves(self):
        """What accounts for the metering valves of its drives (`plants.multibody.metering`); None where no drive has some."""
        if not any(a.drive.valves for a in self.actuators):
            return None
        from plants.multibody import metering  # numerics that only claims on them need

        in_circuit = any(a.drive.metering(a.name) is not None for a in self.actuators)
        return metering.MeteringValves(self) if in_circuit else metering.FilledValves(self)

    @property
    def no_passivity(self) -> str:
        """Why the incremental passivity of its valves cannot be claimed; empty where it can."""
        return "" if self.supply is None else self.supply.no_passivity

    @property
    def notched(self) -> tuple:
        """The drives with two chambers behind one spool, all fed by the machine's supply."""
        own = (a.drive.notched(a.name) for a in self.actuators)
        line = self.line_at_most
        return tuple(one._replace(p_s=line.p_s, p_r=line.p_r) for one in own if one is not None)

    @property
    def spans(self) -> dict[str, tuple[float, float]]:
        """What the actuators can span, m (rad on a revolute joint), those for which it is known."""
        return acting.spans(self.actuators)

    def limits(self):
        return acting.limits(self)

    def as_shipped(self):
        return like(self)

    def scales(self):
        return scales.of_mechanism(self)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Positions of the independent joints; of all joints that have one number where they depend on each other."""
        if coordinates.independent(self):
            return tuple(coordinates.joints(self))
        return tuple(s.name for s in self.coordinates if not s.name.startswith("e_"))

    def machine_limits(self):
        """Spans of the actuators, vacuum in their chambers, spools, commands."""
        return acting.machine_limits(self)

    def holding(self, x, u):
        """Forces of the driven actuators at rest, by virtual work and within their limits where that is possible."""
        return static.holding(self, x)

    @property
    def dead_ends(self):
        """Of method minimal: signals that are zero where a loop's two dependent joints are in line."""
        return signals.dead_ends(self)

    @property
    def change_points(self):
        """Of the other methods: signals that are zero where the loops' constraints depend on each other for an instant."""
        return signals.change_points(self)

    def free_joints(self, commands=None):
        return held.free_joints(self, commands)
