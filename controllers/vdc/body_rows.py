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
from plants.multibody.parts import GROUND
from plants.multibody.surroundings import Surroundings
from plants.multibody.tree import ZERO6
from workbench.verification.ledger.balance import Entry

BASE, TIP = "base B_c1", "tip"
COUNTED = 0.01  # share of terms that cancel inside a moment or a wrench, as part of the magnitude of a flow


class BodyRows:
    """The part of `controllers.vdc.ledger.MachineLedger` that knows no drive."""

    @property
    def machine(self) -> Mechanism:
        """The plant's bodies, joints, loops and drives."""
        raise NotImplementedError

    def bodies(self, need: bodies.Needed, qdd, forces, around: Surroundings) -> list[Entry]:
        """Entries of bodies, joints and springs, for true accelerations q̈, forces of all actuators, and surroundings."""
        plant = self.machine
        at = need.at
        by_rate = dict(zip(plant.own[1], qdd))
        leading = [at.rates[i] for i in plant.lead]
        accelerations = [by_rate[i] for i in plant.lead]
        _, true = mechanics.required(plant, at, leading, accelerations, ground=around.ground)
        nets = mechanics.net_wrenches(plant, at.motion, true, around.gravity)
        passive = bodies.damped(plant, at.rates)
        tool = surroundings.at_tool(plant, at.motion, around.wrench)
        pushed = _pushed(nets, tool)
        sides = (
            cuts.cuts(plant, at, need.lines, need.nets, need.every, need.passive),
            cuts.cuts(plant, at, need.lines, pushed, forces, passive),
        )
        Δ = [mechanics.against(a, b) for a, b in zip(need.wanted.Z, at.motion.Z)]
        Δ.append(mechanics.against(ZERO6, at.motion.ground.Z))
        flows = self._flows(need, Δ, sides, forces)
        self._outer(flows, Δ, tool)
        *of_bodies, of_ground = flows
        rows = []
        for j, flow in enumerate(of_bodies):
            rows.append(self._body(need, j, Δ[j], nets[j], flow))
        return [*rows, _ground(of_ground), *self._springs(need, forces)]

    def _body(self, need, j: int, Δ, net, flows) -> Entry:
        """The row of body j, with the damping of the joint that moves it."""
        body = self.machine.bodies[j]
        rubbed, rubs = self._damped(need, j)
        D = power(Δ, need.fed[j]) + rubbed
        joint = f"joint {body.name}"
        entering, scale = flows[joint]
        flows = flows | {joint: (entering + rubbed, scale + rubs)}
        size = magnitude(Δ, need.nets[j]) + magnitude(Δ, net) + np.abs(D)
        size = size + _sizes(flows)
        momentum = mechanics.momentum(body, need.at.motion, j, Δ)
        stored = power(Δ, momentum) / 2
        subsystem, name = in_subsystem(body.name)
        return Entry(subsystem, name, stored, D, _powers(flows), {}, size)

    def _outer(self, flows, Δ, tool) -> None:
        """What enters through the tool, and through a ground that moves."""
        if tool is not None:
            j, wrench = tool
            entering = power(Δ[j], wrench)
            flows[j][TIP] = entering, magnitude(Δ[j], wrench)
        if self.machine.moving_ground:
            of_ground = flows[-1]
            leaving = sum(_powers(of_ground).values())
            of_ground[BASE] = -leaving, _sizes(of_ground)

    def _flows(self, need, Δ, sides, forces) -> list[dict]:
        """Per body, and last for the ground: cut → (virtual power entering there, magnitude of its terms)."""
        plant = self.machine
        motion = need.at.motion
        required, true = sides
        found: list[dict] = [{} for _ in range(len(plant.bodies) + 1)]

        def put(j, cut, pair, way, at, *differences):
            found[j][cut] = _flow(Δ[j], pair, way, at, differences)

        for j, body in enumerate(plant.bodies):
            cut = f"joint {body.name}"
            pair = (required.joint[j], true.joint[j])
            place = motion.r[j]
            sizes = (required.sizes[j], true.sizes[j])
            put(j, cut, pair, 1.0, place, *sizes)
            put(plant.tree.parent[j], cut, pair, -1.0, place, *sizes)
        for n, which in enumerate(cuts.closed(plant)):
            loop = plant.loops[which]
            cut = f"loop {loop.name}"
            a, b = plant.cuts[which]
            pair = (required.loop[n], true.loop[n])
            place, *_ = tree.point(motion, b, loop.b.point)
            put(b, cut, pair, 1.0, place)
            put(a, cut, pair, -1.0, place)
        for i, (actuator, wrench) in enumerate(zip(plant.actuators, need.lines.wrench)):
            if wrench is None:
                continue
            both = (need.every[i], forces[i])
            pair = tuple(mechanics.scaled(f, wrench) for f in both)
            for pin, way in ((actuator.b, 1.0), (actuator.a, -1.0)):
                j = plant.number(pin.body)
                place, *_ = tree.point(motion, j, pin.point)
                put(j, self.cut(i), pair, way, place)
        return found

    def cut(self, i: int) -> str:
        """Name of the cut between actuator i and the bodies: its pins, or the joint it is on."""
        actuator = self.machine.actuators[i]
        return f"joint {actuator.joint}" if actuator.joint else f"pins {actuator.name}"

    def _damped(self, need, j: int):
        """d Δż² of the joint of body j, and the magnitude of its terms."""
        first, count = self.machine.tree.v[j]
        d = self.machine.bodies[j].damping
        D = size = 0.0
        for i in range(first, first + count):
            required = need.rates[i]
            true = need.at.rates[i]
            D = D + d * (required - true) ** 2
            size = size + d * (required**2 + true**2)
        return D, size

    def _springs(self, need, forces) -> list[Entry]:
        plant = self.machine
        found = []
        true = bodies.spring_forces(plant, need.lines, need.at.rates)
        for i, force in true.items():
            arm = [need.lines.by_joint[i]]
            (required_speed,) = linear.times(arm, need.rates)
            (true_speed,) = linear.times(arm, need.at.rates)
            Δ = required_speed - true_speed
            actuator = plant.actuators[i]
            name = actuator.name
            if actuator.drive.inputs(name):
                found.append(self._load(i, Δ, forces[i]))
                continue
            required = need.every[i]
            D = -Δ * (required - force)
            size = np.abs(Δ) * (np.abs(required) + np.abs(force))
            row = Entry(name, f"spring {name}", 0.0, D, {self.cut(i): D}, {}, size)
            found.append(row)
        return found

    def _load(self, i: int, Δ, force) -> Entry:
        """A disturbance: its force is no part of what is required, and its power on Δ perturbs."""
        name = self.machine.actuators[i].name
        into = Δ * force
        return Entry(
            name,
            f"load {name}",
            0.0,
            0.0,
            {self.cut(i): into},
            {"load": -into},
            np.abs(into),
        )


def _ground(flows: dict) -> Entry:
    """The row of the ground, which stores and dissipates nothing."""
    return Entry(GROUND, GROUND, 0.0, 0.0, _powers(flows), {}, _sizes(flows))


def _powers(flows: dict) -> dict:
    """Cut → the virtual power that enters there."""
    return {cut: entering for cut, (entering, _) in flows.items()}


def _sizes(flows: dict):
    """The sum of the magnitudes of what enters at all cuts."""
    return sum(size for _, size in flows.values())


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
    pairs = zip([*V[0], *V[1]], [*F[0], *F[1]])
    return sum(np.abs(a) * np.abs(b) for a, b in pairs)


def _flow(Δ, pair, way, at, differences=()):
    """(virtual power of a cut at a point (10), magnitude of its terms before they are subtracted).

    The magnitude is what rounding is measured by. Two kinds of terms cancel before they reach the cut: the parts of the moment
    r × f about the origin, and wrenches whose difference is the wrench at the cut (`differences`: their magnitudes). A share
    COUNTED of these is added, far more than rounding leaves of them, and too little to hide a fault.
    """
    entering = way * power(Δ, mechanics.against(*pair))
    x, y, z = (np.abs(v) for v in at)
    required, true = pair
    size = magnitude(Δ, required) + magnitude(Δ, true)
    size = size + COUNTED * sum(magnitude(Δ, met) for met in differences)
    _, turning = Δ
    for f, _ in pair:
        a, b, c = (np.abs(v) for v in f)
        moments = (y * c + z * b, z * a + x * c, x * b + y * a)
        size = size + COUNTED * sum(np.abs(ω) * m for ω, m in zip(turning, moments))
    return entering, size
