"""What is measured and logged of a mechanism, and its energy with the powers that change it."""

from __future__ import annotations

from plants.multibody import acting, coordinates, dynamics, loops, surroundings, tree
from plants.multibody.equations import Equations
from plants.multibody.surroundings import Surroundings


class Measured(Equations):
    """The part of `plants.multibody.mechanism.Mechanism` that tells of its motion."""

    def out(self, t, x):
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, None, None)
        return [
            *(p.s for p in pulls),
            *(p.rate for p in pulls),
            *z,
            *rates,
            *(v for part in own for v in part),
            *(v for a, p, x in zip(self.actuators, pulls, own) for v in a.drive.sense(x, p.s)),
        ]

    def monitor(self, t, x, u):
        z, rates, own = self.split(x)
        motion = self.closed(z, rates)
        gaps = []
        for loop, (a, b) in zip(self.loops, self.cuts):
            Φ = [row.value for row in loops.rows(loop, motion, a, b)]
            gaps.append(sum(v * v for v in Φ) ** 0.5)
        pulls = self.pulls(motion, z, rates, own, u)
        return [
            *(p.s for p in pulls),
            *(p.rate for p in pulls),
            *self._following(z, rates),
            *(p.force for p in pulls),
            *gaps,
            *dynamics.bends(self, z, motion),
            *acting.shown(self, pulls, own, u),
            *([] if self.tcp is None else coordinates.tip(self, motion)),
        ]

    def powers(self, t, x, u):
        """W into the stored energy, by cause."""
        z, rates, own = self.split(x)
        around = surroundings.given(self, u)
        motion = self.closed(z, rates, around.ground)
        pulls = self.pulls(motion, z, rates, own, u)
        lost = 0.0
        for j, v in zip(self.tree.body_of, rates):
            lost = lost - self.bodies[j].damping * v * v
        outer = surroundings.powers(self, around, motion, rates, pulls)
        return [*acting.powers(self, pulls, own, u), lost, *outer]

    def energies(self, z, rates, around: Surroundings | None = None):
        """(kinetic, potential) energy of the bodies, J; potential is zero with all centres of mass at the origin."""
        around = around or surroundings.at_rest(self)
        motion = self.moving(z, rates, around.ground)
        own = tree.inertias(self.bodies, motion)
        return tree.energies(self.bodies, own, motion, around.gravity)

    def stored(self, t, x, u):
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, own, u)
        total = sum(self.energies(z, rates, surroundings.given(self, u)))
        for a, p in zip(self.actuators, pulls):
            total = total + a.drive.stored(p.x, p.s)
        return total if self.supply is None else total + self.supply.stored(own[-1])
