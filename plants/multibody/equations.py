"""The equations of motion of a mechanism with its drives and supply."""

from __future__ import annotations

import numpy as np

from plants.multibody import (
    acting,
    closure,
    dynamics,
    loops,
    planar_rates,
    reduced,
    surroundings,
    tree,
)
from plants.multibody.acting import Pull
from plants.multibody.surroundings import Surroundings
from plants.multibody.tree import REST, Ground, Motion
from plants.multibody.vocabulary import Vocabulary
from workbench.contract.once import once


class Equations(Vocabulary):
    """The part of `plants.multibody.mechanism.Mechanism` that moves."""

    gravity: tuple[float, ...]

    @once
    def split(self, x):
        """(all z, all ż, states of every drive) of the state vector."""
        zs, vs = self.own
        parts = acting.shared_out(self, x[len(zs) + len(vs) :])
        z = list(x[: len(zs)])
        rates = list(x[len(zs) : len(zs) + len(vs)])
        if self.closings:
            z = reduced.positions(self, z)
            own = dict(zip(vs, rates))
            G = planar_rates.jacobian(self, z)
            rates = reduced.followed(
                self, G, [own.get(i, 0.0) for i in range(self.tree.n_v)], [0.0] * len(G)
            )
        return z, rates, parts

    @once
    def moving(self, z, rates, ground: Ground = REST) -> Motion:
        """Poses, columns and, with rates, velocities of all bodies, at any positions."""
        return tree.move(self.bodies, self.tree, z, rates, None, ground)

    @once
    def closed(self, z, rates, ground: Ground = REST) -> Motion:
        """As `moving`, at positions that close all loops: in closed form, without angles of the joints that follow."""
        known = reduced.directions(self, z) if self.closings else None
        return tree.move(self.bodies, self.tree, z, rates, known, ground)

    def mass_matrix(self, z) -> list:
        """M^Σ (8), rows."""
        motion = self.moving(z, None)
        return tree.mass_matrix(self.tree, tree.inertias(self.bodies, motion), motion.b)

    def rows(self, motion: Motion) -> list:
        """All rows of all loops."""
        return loops.all_rows(self.loops, self.cuts, motion)

    def constraints(self, z) -> tuple[np.ndarray, np.ndarray]:
        """(Φ, Φ_z) of all rows at numbers z, redundant rows too: (rows,) and (rows, rates)."""
        return closure.equations(self, z)

    def moved(self, z, δ) -> list:
        """z ⊕ δ: positions after a small motion δ, given as rates times time; quaternions of unit length."""
        return tree.moved(self.bodies, self.tree, z, δ)

    @once
    def pulls(self, motion: Motion, z, rates, own, u) -> list[Pull]:
        """What every actuator does; own, u None: lengths and rates only."""
        return acting.pulls(self, motion, z, rates, own, u)

    def loads(
        self, motion: Motion, own, rates, pulls: list[Pull], around: Surroundings | None = None
    ) -> list:
        """Q^Σ with actuators, damping and what the surroundings do (firm ground, an idle tool where none are given)."""
        around = around or surroundings.at_rest(self)
        wrenches, direct = acting.applied(self, pulls, [p.force for p in pulls])
        tool = surroundings.at_tool(self, motion, around.wrench)
        if tool is not None:
            loops.loaded(wrenches, tool[0], loops.opposite(tool[1]))
        Q = tree.forces(self.tree, own, motion, around.gravity, wrenches)
        return [
            q + f - self.bodies[j].damping * v
            for q, f, j, v in zip(Q, direct, self.tree.body_of, rates)
        ]

    def accelerations(
        self, motion: Motion, rates, pulls: list[Pull], around: Surroundings | None = None
    ) -> tuple[list, list]:
        """(z̈, λ) with λ of the rows that are kept; minimal: z̈ of the independent joints, and nothing."""
        return dynamics.accelerations(self, motion, rates, pulls, around)

    def all_accelerations(self, motion: Motion, rates, own) -> list:
        """z̈ of all joints from what `accelerations` gives."""
        return dynamics.all_accelerations(self, motion, rates, own)

    def rhs(self, t, x, u):
        z, rates, own = self.split(x)
        around = surroundings.given(self, u)
        motion = self.closed(z, rates, around.ground)
        pulls = self.pulls(motion, z, rates, own, u)
        accelerations, _ = self.accelerations(motion, rates, pulls, around)
        flows = acting.rates(self, pulls, own, u)
        velocities = tree.velocities(self.bodies, self.tree, z, rates)
        return [*(velocities[i] for i in self.own[0]), *accelerations, *flows]

    def guards(self, t, x, u):
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, own, u)
        supply = [] if self.supply is None else self.supply.guards(own[-1])
        drives = zip(self.actuators, pulls)
        return [*(g for a, p in drives for g in a.drive.guards(p.x, p.s, p.rate, p.u)), *supply]

    def project(self, t, x) -> list:
        """x back on its loops, nearest in the metric of M^Σ; quaternions of unit length."""
        if self.closings and "spherical" not in {b.joint for b in self.bodies}:
            return list(x)
        z, rates, own = self.split(x)
        z, rates = dynamics.projected(self, self.moved(z, [0.0] * self.tree.n_v), rates)
        zs, vs = self.own
        return [*(z[i] for i in zs), *(rates[i] for i in vs), *(v for part in own for v in part)]
