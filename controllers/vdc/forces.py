"""What virtual decomposition control of a mechanism forms at one instant: required motion, required forces, commands."""

from __future__ import annotations

from typing import NamedTuple

from controllers.vdc import bodies, force_rate
from controllers.vdc.required_motion import desired_motion, required_motion
from controllers.vdc.vocabulary import Reading, Vocabulary
from plants.drives.contract import Line
from plants.multibody import coordinates, drive_forces, required
from plants.multibody.mechanism import Mechanism
from workbench.contract.once import once
from workbench.numerics.calculus import directional


class Sought(NamedTuple):
    """What the law forms at one instant: commands, required forces f_pr, and the rates of its observers."""

    u: list
    f_pr: list
    ẑ_rate: list
    need: bodies.Needed


class Forces(Vocabulary):
    """The part of `controllers.vdc.law.VDC` that has its equations."""

    λ: tuple[float, ...]

    def required_motion(self, q, qd, τ_d, τ1, τ2):
        """q̇_r and its exact derivative q̈_r along the true motion."""
        λ = self._each(self.λ, len(self.machine.lead))
        return required_motion(self.model, self.space, λ, q, qd, τ_d, τ1, τ2)

    @once
    def required(self, q, qd, τ, plant=None, around=None) -> bodies.Needed:
        """Required motion and forces of the model's bodies; of those of the mechanism `plant`, where surroundings are given.

        The law itself takes the ground to be at rest and the tool to be idle; `around` is what they truly do.
        """
        motion = self.required_motion(q, qd, *τ[:3])
        return bodies.required(self, plant or self.machine, q, qd, *motion, around)

    def rubbing(self, need: bodies.Needed, ẑ) -> tuple[list, list]:
        """(f_fr, rates of the observers), one entry a drive."""
        found = [
            own.rubbing(v, v_r, z) for own, v, v_r, z in zip(self.parts, need.xd, need.xd_r, ẑ)
        ]
        return [f for f, _ in found], [rate for _, rate in found]

    def observing(self, need: bodies.Needed, ẑ) -> tuple[list, list, list]:
        """(f_fr, f_pr = f_cr + f_fr, rates of all memory) of every drive."""
        f_fr, rubbed = self.rubbing(need, ẑ)
        f_pr = [a + b for a, b in zip(need.f_c, f_fr)]
        return f_fr, f_pr, self.flow(f_pr, ẑ, rubbed)

    def flow(self, f_pr, ẑ, rubbed) -> list[list]:
        """Rates of what the law remembers of every drive."""
        return [own.flow(f, z, rate) for own, f, z, rate in zip(self.parts, f_pr, ẑ, rubbed)]

    def required_forces(self, q, qd, τ, ẑ) -> list:
        """f_pr of every drive."""
        need = self.required(q, qd, τ)
        return [a + b for a, b in zip(need.f_c, self.rubbing(need, ẑ)[0])]

    def force_rate(self, q, qd, qdd, τ, ẑ, ẑ_rate) -> list:
        """Exact ḟ_pr along q̈ = qdd and the reference's own motion."""
        n = len(τ[0])
        n_q = len(q)
        moving = len(q) + len(qd)
        flat = [value for part_ in ẑ for value in part_]
        flow = [value for part_ in ẑ_rate for value in part_]

        def forces(s):
            τ = [s[moving + k * n : moving + (k + 1) * n] for k in range(3)]
            ẑ = self.observed(s[moving + 3 * n :])
            return self.required_forces(s[:n_q], s[n_q:moving], τ, ẑ)

        along = coordinates.velocities(self.machine, q, qd)
        return directional(
            forces,
            [*q, *qd, *τ[0], *τ[1], *τ[2], *flat],
            [*along, *qdd, *τ[1], *τ[2], *τ[3], *flow],
        )

    def acceleration(self, m: Reading, need: bodies.Needed, f_pr, ẑ) -> list:
        """q̈ of the states that `derivative` differentiates along: the model's, or the desired one."""
        if self.derivative == "desired":
            _, own = desired_motion(self.model, self.space, m.q, m.τ)
            return required.accelerations_at(self.machine, m.q, m.qd, own)
        lengths = [need.lines.s[i] for i in coordinates.driven(self.machine)]
        forces = [
            own.believed(p, s, v, z, line, f)
            for own, p, s, v, z, line, f in zip(
                self.parts, m.p, lengths, need.xd, ẑ, m.lines or [None] * len(f_pr), f_pr
            )
        ]
        springs = bodies.spring_forces(self.machine, need.lines, need.at.rates)
        return drive_forces.accelerations(
            self.machine, need.at, bodies.every(self.machine, springs, forces)
        )

    @once
    def sought(self, z, y, r, f_pr_rate=None) -> Sought:
        """Everything the law forms at one instant; ḟ_pr as `derivative` says unless given."""
        m = self.read(y, r)
        ẑ = self.observed(z)
        need = self.required(m.q, m.qd, m.τ)
        _, f_pr, ẑ_rate = self.observing(need, ẑ)
        if f_pr_rate is None:
            f_pr_rate = self._rate(z, m, need, f_pr, ẑ, ẑ_rate)
        lengths = [need.lines.s[i] for i in coordinates.driven(self.machine)]
        felt = [own.felt(p, s) for own, p, s in zip(self.parts, m.p, lengths)]
        lines = m.lines or [self.asked(self.machine, felt, need.xd, need.xd_r, ẑ, ẑ_rate)] * len(
            f_pr
        )
        u = [
            own.command(s, v, v_r, p, memory, f, rate, line)
            for own, s, v, v_r, p, memory, f, rate, line in zip(
                self.parts, lengths, need.xd, need.xd_r, m.p, ẑ, f_pr, f_pr_rate, lines
            )
        ]
        return Sought(u, f_pr, ẑ_rate, need)

    def asked(self, plant: Mechanism, forces, v, v_r, ẑ, ẑ_rate) -> Line | None:
        """The line of a supply without a state of its pressure while its rods move as the parts ask; None of another supply."""
        if plant.supply is None or not plant.supply.settles:
            return None
        drives = [plant.actuators[i].drive for i in coordinates.driven(plant)]
        each = zip(self.parts, drives, forces, v, v_r, ẑ, ẑ_rate)
        fed = [(part, *own) for part, *own in each if own[0].needs_supply]
        speeds, areas = zip(*(part.asks(*own) for part, *own in fed))
        return Line(plant.supply.left_by(areas, speeds), 0.0)

    @property
    def needs_rate(self) -> bool:
        """Whether a drive's command needs ḟ_pr."""
        return any(part.needs_rate for part in self.parts)

    def _rate(self, z, m: Reading, need, f_pr, ẑ, ẑ_rate) -> list:
        if not self.needs_rate:
            return [0.0] * len(f_pr)
        if self.derivative in force_rate.EXACT:
            qdd = self.acceleration(m, need, f_pr, ẑ)
            return self.force_rate(m.q, m.qd, qdd, m.τ, ẑ, ẑ_rate)
        return force_rate.rate(self, list(z[self._observers :]), f_pr)
