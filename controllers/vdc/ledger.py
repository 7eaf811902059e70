"""The dissipation ledger of virtual decomposition control of any mechanism: cuts at every joint, loop and pin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from controllers.vdc import bodies
from controllers.vdc.commands import steps
from controllers.vdc.law import VDC
from controllers.vdc.part import Given
from plants.components.spatial import plus, power
from plants.multibody import coordinates, linear, surroundings, tree
from plants.multibody import required as mechanics
from plants.multibody.mechanism import Mechanism
from plants.multibody.surroundings import Surroundings
from plants.multibody.tree import ZERO6
from workbench.contract.capabilities import OnSupply
from workbench.contract.parameters import bind
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry
from workbench.verification.pump import pump
from workbench.verification.rates import body_rates

GROUND = "ground"
BASE, TIP = "base B_c1", "tip"
COUNTED = 0.01  # of the terms of a moment about the origin


@final
@dataclass(frozen=True)
class MachineLedger:
    """Entries for every body, every spring and every drive, at true states.

        v_A = ½ ΔVᵀ M_A ΔV (96) with the true M_A,   ΔV = V_r − V
        v̇_A = −ΔVᵀ K_A ΔV − d Δż² + Σ_cuts ΔVᵀ (F_r − F) + d Δż²                              (C.1)–(C.7)

    The cuts of a body are its joints, the closed joints of loops and the pins of actuators on it. Wrenches at cuts come from
    the required forces of all actuators on one side, and from the true forces and accelerations on the other
    (`plants.multibody.required`). At a joint both sides of the cut leave Δż (bᵀ ΔF), which a drive on the joint or its damping
    takes, and which is zero at any other. The damping d of a joint is in the row of the body that the joint moves.
    Drives bring their own rows (`controllers.vdc.part`); springs with dampers dissipate d Δṡ².
    """

    law: VDC
    plant: Any

    @property
    def machine(self) -> Mechanism:
        """The plant's bodies, joints, loops and drives."""
        return self.plant.mechanism

    def entries(self, loop, t, x, w, rates) -> tuple[list[Entry], dict]:
        """Entries at one state of the loop, and the quantities its hypotheses need; rates: the loop's ẋ there."""
        law, plant, machine = self.law, self.plant, self.machine
        own_x, _, _, r, own_u = loop.parts(t, x, w)
        if isinstance(plant, OnSupply):
            told = bind(law, {"model.p_s": plant.supply(own_x)})
            return MachineLedger(told, plant.supplied(own_x)).entries(loop, t, x, w, rates)
        n, xp, change = machine.n, plant.inner(own_x), plant.inner(rates)
        q, qd, qdd = list(xp[:n]), list(xp[n : 2 * n]), list(change[n : 2 * n])
        τ = [list(r[k * n : (k + 1) * n]) for k in range(4)]
        given = plant.given(own_u)
        around = surroundings.given(machine, given)
        need = law.required(q, qd, τ, machine, around)
        _, _, own = machine.split(xp)
        pulls = machine.pulls(need.at.motion, need.at.z, need.at.rates, own, given)
        rows = self.bodies(need, qdd, [pull.force for pull in pulls], around)
        more, quantities = self._drives(loop, t, x, w, rates, need, pulls, qdd, τ)
        return [*rows, *more], quantities

    # ---- bodies -----------------------------------------------------------------------------------------------------
    def bodies(self, need: bodies.Needed, qdd, forces, around: Surroundings) -> list[Entry]:
        """Entries of bodies, joints and springs, for true accelerations q̈, forces of all actuators, and surroundings."""
        plant, at = self.machine, need.at
        _, true = mechanics.required(plant, at, _own(plant, at.rates), qdd, ground=around.ground)
        nets = mechanics.net_wrenches(plant, at.motion, true, around.gravity)
        passive = bodies.damped(plant, at.rates)
        tool = surroundings.at_tool(plant, at.motion, around.wrench)
        sides = (
            mechanics.cuts(plant, at, need.lines, need.nets, need.every, need.passive),
            mechanics.cuts(plant, at, need.lines, _pushed(nets, tool), forces, passive),
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
        for n, k in enumerate(plant.closings):
            a, b = plant.cuts[k.loop]
            pair = (sides[0].loop[n], sides[1].loop[n])
            at = tree.point(need.at.motion, b, plant.loops[k.loop].b.point)[0]
            put(b, f"loop {plant.loops[k.loop].name}", pair, 1.0, at)
            put(a, f"loop {plant.loops[k.loop].name}", pair, -1.0, at)
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

    # ---- drives -----------------------------------------------------------------------------------------------------
    def _drives(self, loop, t, x, w, rates, need, pulls, qdd, τ):
        law, plant = self.law, self.machine
        own_x, z, y, r, u = loop.parts(t, x, w)
        xp, n = self.plant.inner(own_x), plant.n
        q, qd = list(xp[:n]), list(xp[n : 2 * n])
        ẑ = law.observed(z)
        ẑ_flow = law.observed(list(rates[len(loop.plant.states) :]))
        own = law.required(q, qd, τ)  # with the model's bodies
        f_fr, rubbed = law.rubbing(need, ẑ)
        f_pr = [a + b for a, b in zip(own.f_c, f_fr)]
        ẑ_law = law.flow(f_pr, ẑ, rubbed)
        ẑ_own = law.observing(own, ẑ)[2]
        f_pr_rate = [0.0] * len(f_pr)
        if law.needs_rate:
            f_pr_rate = law.force_rate(q, qd, qdd, τ, ẑ, ẑ_flow)
        ladder = steps(law, self.plant, loop, t, own_x, z, y, r, f_pr_rate, u)
        driven = coordinates.driven(plant)
        by_drive = [need.lines.by_coordinate[i] for i in driven]
        levers = bodies.levers(by_drive)
        at_work = [(part, drive, pulls[i]) for (part, drive), i in zip(self.served, driven)]
        acting = [part.acting(drive, pull.x, pull.s) for part, drive, pull in at_work]
        asked = law.asked(plant, acting, need.xd, need.xd_r, ẑ, ẑ_law)
        rows, quantities = [], {}
        for k, i in enumerate(driven):
            pull, drive = pulls[i], plant.actuators[i].drive
            given = Given(
                self.cut(i),
                pull.x,
                pull.s,
                need.xd[k],
                need.xd_r[k],
                pull.line,
                asked or pull.line,
                f_pr[k],
                f_pr_rate[k],
                need.f_c[k],
                own.f_c[k],
                pull.force,
                f_fr[k],
                u[k],
                {name: values[k] for name, values in ladder.items()},
                ẑ[k],
                ẑ_law[k],
                ẑ_own[k],
                ẑ_flow[k],
                levers[k],
            )
            rows.append(self._placed(law.parts[k].entry(drive, given), i))
            quantities |= law.parts[k].shown(drive, given)
        quantities["pump flow"] = sum(
            a.drive.flow(*pull.at) for a, pull in zip(plant.actuators, pulls)
        )
        return rows, quantities

    def _placed(self, row: Entry, i: int) -> Entry:
        """The row of actuator i in the subsystem of the body whose joint it is on."""
        subsystem, name = in_subsystem(self.machine.actuators[i].joint)
        return row if subsystem == name else replace(row, subsystem=subsystem)

    @property
    def served(self) -> list[tuple]:
        """(part, drive of the plant) of every driven actuator."""
        driven = coordinates.driven(self.machine)
        return [(part, self.machine.actuators[i].drive) for part, i in zip(self.law.parts, driven)]

    # ---- what the theorem asks for ----------------------------------------------------------------------------------
    def hypotheses(self, run, claim):
        """Every hypothesis of Theorem 5, and of what completes it, on this run."""
        law = self.law
        if self.plant.structures:
            yield from hypotheses.manipulator(run, claim)
            if isinstance(self.plant, OnSupply):
                yield from pump(run)
            return
        yield hypotheses.positive_gains(body_rates(law, self.plant), self._drive_rate(), law.k_x)
        for part, drive in self.served:
            yield from part.hypotheses(run, drive)
            yield hypotheses.lever(run, part.label, claim.lever)
        for most in self._most_flow:
            yield hypotheses.pump_flow(run, most)
        if self.plant.supply_names:
            yield from pump(run)
        yield from hypotheses.reference(run)
        yield from hypotheses.told(run, law, {"name": "", **self.plant.beginning})
        yield from hypotheses.signal_path(run)

    @property
    def _most_flow(self) -> list[float]:
        """Largest flow of the pump, m³/s, where it has one."""
        supply = self.machine.supply
        limits = () if supply is None else supply.machine_limits(self.machine.flow_names)
        return [limit.high for limit in limits if limit.kind == "flow"]

    def _drive_rate(self) -> float:
        return min(part.rate(drive) for part, drive in self.served)

    def rates(self, run) -> tuple[float, float]:
        """(rate of the bodies and drives alone, over the run's poses), 1/s."""
        return hypotheses.rates_along(run, self.law, self.plant, self._drive_rate())

    def monitors(self, balance) -> dict:
        """Hypothesis → its margin along the run, 1 at ease, negative where it is not met."""
        q, found = balance.quantities, {}
        pairs = zip(self.plant.labels, self.plant.segments)
        slides = [label for label, segment in pairs if segment.slides]
        for part, drive in self.served:
            found |= part.monitors(q, drive)
            if part.label in slides:
                continue
            arm = np.abs(q[f"lever {part.label}"])
            found[f"lever arm {part.label}"] = arm / arm.max()
        for most in self._most_flow:
            found["pump flow"] = 1 - q["pump flow"] / most
        return found


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


def _own(plant, rates) -> list:
    """Rates of the independent coordinates."""
    return [rates[i] for i in plant.own[1]]


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
