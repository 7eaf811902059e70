"""Rows of bodies, springs and loads in the dissipation ledger of virtual decomposition control, and the cuts between them.

Equations in `controllers.vdc.ledger`.
"""

from __future__ import annotations

import numpy as np

from controllers.vdc import bodies
from plants.components.spatial import plus, power
from plants.multibody import cuts, linear, surroundings, tree
from plants.multibody import required as mechanics
from plants.multibody.mechanism import Mechanism
from plants.multibody.surroundings import Surroundings
from plants.multibody.tree import ZERO6
from workbench.verification.ledger.balance import Entry

GROUND = "ground"
BASE, TIP = "base B_c1", "tip"
COUNTED = 0.01  # of the terms of a moment about the origin


class BodyRows:
    """The part of `controllers.vdc.ledger.MachineLedger` that knows no drive."""

    @property
    def machine(self) -> Mechanism:
        """The plant's bodies, joints, loops and drives."""
        raise NotImplementedError

    def bodies(self, need: bodies.Needed, qdd, forces, around: Surroundings) -> list[Entry]:
        """Entries of bodies, joints and springs, for true accelerations q̈, forces of all actuators, and surroundings."""
        plant, at = self.machine, need.at
        by_rate = dict(zip(plant.own[1], qdd))
        leading = [at.rates[i] for i in plant.lead]
        accelerations = [by_rate[i] for i in plant.lead]
        _, true = mechanics.required(plant, at, leading, accelerations, ground=around.ground)
        nets = mechanics.net_wrenches(plant, at.motion, true, around.gravity)
        passive = bodies.damped(plant, at.rates)
        tool = surroundings.at_tool(plant, at.motion, around.wrench)
        sides = (
            cuts.cuts(plant, at, need.lines, need.nets, need.every, need.passive),
            cuts.cuts(plant, at, need.lines, _pushed(nets, tool), forces, passive),
        )
        Δ = [mechanics.against(a, b) for a, b in zip(need.wanted.Z, at.motion.Z)]
        Δ.append(mechanics.against(ZERO6, at.motion.ground.Z))
        flows = self._flows(need, Δ, sides, forces)
        self._outer(flows, Δ, tool)
        rows = [self._body(need, j, Δ[j], nets[j], flows[j]) for j in range(len(plant.bodies))]
        size = sum(scale for _, scale in flows[-1].values())
        ground = Entry(
            GROUND, GROUND, 0.0, 0.0, {cut: p for cut, (p, _) in flows[-1].items()}, {}, size
        )
        return [*rows, ground, *self._springs(need, forces)]

    def _body(self, need, j: int, Δ, net, flows) -> Entry:
        body, motion = self.machine.bodies[j], need.at.motion
        rubbed, rubs = self._damped(need, j)
        D = power(Δ, need.fed[j]) + rubbed
        joint = f"joint {body.name}"
        flows = flows | {joint: (flows[joint][0] + rubbed, flows[joint][1] + rubs)}
        size = magnitude(Δ, need.nets[j]) + magnitude(Δ, net) + np.abs(D)
        size = size + sum(scale for _, scale in flows.values())
        stored = power(Δ, mechanics.momentum(body, motion, j, Δ)) / 2
        subsystem, name = in_subsystem(body.name)
        return Entry(
            subsystem, name, stored, D, {cut: p for cut, (p, _) in flows.items()}, {}, size
        )

    def _outer(self, flows, Δ, tool) -> None:
        """What enters through the tool, and through a ground that moves."""
        if tool is not None:
            j, wrench = tool
            flows[j][TIP] = power(Δ[j], wrench), magnitude(Δ[j], wrench)
        if self.machine.moving_ground:
            pairs = flows[-1].values()
            flows[-1][BASE] = -sum(p for p, _ in pairs), sum(size for _, size in pairs)

    def _flows(self, need, Δ, sides, forces) -> list[dict]:
        """Per body, and last for the ground: cut → (virtual power entering there, magnitude of its terms)."""
        plant = self.machine
        found: list[dict] = [{} for _ in range(len(plant.bodies) + 1)]

        places = need.at.motion.r

        def put(j, cut, pair, way, at):
            found[j][cut] = _flow(Δ[j], pair, way, at)

        for j, body in enumerate(plant.bodies):
            pair = (sides[0].joint[j], sides[1].joint[j])
            put(j, f"joint {body.name}", pair, 1.0, places[j])
            put(plant.tree.parent[j], f"joint {body.name}", pair, -1.0, places[j])
        for n, which in enumerate(cuts.closed(plant)):
            loop = plant.loops[which]
            a, b = plant.cuts[which]
            pair = (sides[0].loop[n], sides[1].loop[n])
            at = tree.point(need.at.motion, b, loop.b.point)[0]
            put(b, f"loop {loop.name}", pair, 1.0, at)
            put(a, f"loop {loop.name}", pair, -1.0, at)
        for i, (actuator, wrench) in enumerate(zip(plant.actuators, need.lines.wrench)):
            if wrench is not None:
                pair = tuple(mechanics.scaled(f, wrench) for f in (need.every[i], forces[i]))
                for pin, way in ((actuator.b, 1.0), (actuator.a, -1.0)):
                    j = plant.number(pin.body)
                    put(j, self.cut(i), pair, way, tree.point(need.at.motion, j, pin.point)[0])
        return found

    def cut(self, i: int) -> str:
        """Name of the cut between actuator i and the bodies: its pins, or the joint it is on."""
        actuator = self.machine.actuators[i]
        return f"joint {actuator.joint}" if actuator.joint else f"pins {actuator.name}"

    def _damped(self, need, j: int):
        """d Δż² of the joint of body j, and the magnitude of its terms."""
        first, count = self.machine.tree.v[j]
        D = size = 0.0
        for i in range(first, first + count):
            d = self.machine.bodies[j].damping
            D = D + d * (need.rates[i] - need.at.rates[i]) ** 2
            size = size + d * (need.rates[i] ** 2 + need.at.rates[i] ** 2)
        return D, size

    def _springs(self, need, forces) -> list[Entry]:
        plant, found = self.machine, []
        true = bodies.spring_forces(plant, need.lines, need.at.rates)
        for i, force in true.items():
            arm = need.lines.by_joint[i]
            Δ = linear.times([arm], need.rates)[0] - linear.times([arm], need.at.rates)[0]
            name = plant.actuators[i].name
            if plant.actuators[i].drive.inputs(name):
                found.append(self._load(i, Δ, forces[i]))
                continue
            D = -Δ * (need.every[i] - force)
            size = np.abs(Δ) * (np.abs(need.every[i]) + np.abs(force))
            found.append(Entry(name, f"spring {name}", 0.0, D, {self.cut(i): D}, {}, size))
        return found

    def _load(self, i: int, Δ, force) -> Entry:
        """A disturbance: its force is no part of what is required, and its power on Δ perturbs."""
        name, into = self.machine.actuators[i].name, Δ * force
        return Entry(
            name, f"load {name}", 0.0, 0.0, {self.cut(i): into}, {"load": -into}, np.abs(into)
        )


def in_subsystem(body: str) -> tuple[str, str]:
    """(subsystem, component) of a body: "lift.B1" is B1 of lift, a name without a dot is both."""
    subsystem, _, name = body.partition(".")
    return subsystem, name or subsystem


def _pushed(nets, tool) -> list:
    """Net wrenches with what the tool pushes with, which its body has to be given as well."""
    if tool is None:
        return nets
    j, wrench = tool
    return [plus(net, wrench) if i == j else net for i, net in enumerate(nets)]


def magnitude(V, F):
    """|V|ᵀ|F|."""
    return sum(np.abs(a) * np.abs(b) for a, b in zip([*V[0], *V[1]], [*F[0], *F[1]]))


def _flow(Δ, pair, way, at):
    """(virtual power of a cut at a point (10), magnitude of its terms before subtraction).

    Moments are about the origin: f × r of a force that points there is a difference of its own, of which a hundredth is counted:
    far more than rounding leaves of it, and little enough to hide no fault.
    """
    entering = way * power(Δ, mechanics.against(*pair))
    x, y, z = (np.abs(v) for v in at)
    size = magnitude(Δ, pair[0]) + magnitude(Δ, pair[1])
    for f, _ in pair:
        a, b, c = (np.abs(v) for v in f)
        arms = (y * c + z * b, z * a + x * c, x * b + y * a)
        size = size + COUNTED * sum(np.abs(ω) * arm for ω, arm in zip(Δ[1], arms))
    return entering, size
