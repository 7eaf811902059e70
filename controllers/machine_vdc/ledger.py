"""The dissipation ledger of virtual decomposition control of any mechanism: cuts at every joint, loop and pin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from controllers.machine_vdc import bodies
from controllers.machine_vdc.commands import steps
from controllers.machine_vdc.law import MachineVDC
from controllers.machine_vdc.part import Given
from controllers.machine_vdc.rates import body_rates, decay_along
from controllers.vdc_ledger import magnitude
from plants.components.spatial import plus, power
from plants.multibody import coordinates, linear, surroundings
from plants.multibody import required as mechanics
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry

GROUND = "ground"
TIP = "tip"


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
    Drives bring their own rows (`controllers.machine_vdc.part`); springs with dampers dissipate d Δṡ².
    """

    law: MachineVDC
    plant: Mechanism | Built

    @property
    def machine(self) -> Mechanism:
        """The plant's bodies, joints and drives."""
        return self.plant.mechanism

    def entries(self, loop, t, x, w, rates) -> tuple[list[Entry], dict]:
        """Entries at one state of the loop, and the quantities its hypotheses need; rates: the loop's ẋ there."""
        law, plant, n = self.law, self.machine, self.machine.n
        own_x, _, _, r, own_u = loop.parts(t, x, w)
        xp, u = self.plant.inner(own_x), self.plant.given(own_u)
        change = self.plant.inner(rates[: len(xp)])
        q, qd, qdd = list(xp[:n]), list(xp[n : 2 * n]), list(change[n : 2 * n])
        τ = [list(r[k * n : (k + 1) * n]) for k in range(4)]
        need = law.required(q, qd, τ, plant)
        _, _, own = plant.split(xp)
        pulls = plant.pulls(need.at.motion, need.at.z, need.at.rates, own, u)
        tool = surroundings.at_tool(plant, need.at.motion, surroundings.given(plant, u).wrench)
        rows = self.bodies(need, qdd, [pull.force for pull in pulls], tool)
        more, quantities = self._drives(loop, t, x, w, rates, need, pulls, qdd, τ)
        return [*rows, *more], quantities

    # ---- bodies -----------------------------------------------------------------------------------------------------
    def bodies(self, need: bodies.Needed, qdd, forces, tool=None) -> list[Entry]:
        """Entries of bodies, joints and springs, for true accelerations q̈ and true forces of all actuators; tool: its body, and the
        wrench it exerts about the origin."""
        plant, at = self.machine, need.at
        _, true = mechanics.required(plant, at, _own(plant, at.rates), qdd)
        nets = mechanics.net_wrenches(plant, at.motion, true)
        passive = bodies.damped(plant, at.rates)
        sides = (
            mechanics.cuts(plant, at, need.lines, need.nets, need.every, need.passive),
            mechanics.cuts(plant, at, need.lines, _bearing(nets, tool), forces, passive),
        )
        Δ = [mechanics.against(a, b) for a, b in zip(need.wanted.Z, at.motion.Z)]
        flows = self._flows(need, Δ, sides, forces)
        if tool is not None:
            j, wrench = tool
            flows[j][TIP] = power(Δ[j], wrench), magnitude(Δ[j], wrench)
        rows = [self._body(need, j, Δ[j], nets[j], flows[j]) for j in range(len(plant.bodies))]
        ground = Entry(GROUND, GROUND, 0.0, 0.0, flows[-1])
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
        return Entry(
            body.name, body.name, stored, D, {cut: p for cut, (p, _) in flows.items()}, {}, size
        )

    def _flows(self, need, Δ, sides, forces) -> list[dict]:
        """Per body, and last for the ground: cut → (virtual power entering there, magnitude of its terms)."""
        plant = self.machine
        found: list[dict] = [{} for _ in range(len(plant.bodies) + 1)]

        def put(j, cut, pair, way):
            found[j][cut] = _flow(Δ[j], pair, way) if j >= 0 else 0.0

        for j, body in enumerate(plant.bodies):
            pair = (sides[0].joint[j], sides[1].joint[j])
            put(j, f"joint {body.name}", pair, 1.0)
            put(plant.tree.parent[j], f"joint {body.name}", pair, -1.0)
        for n, k in enumerate(plant.closings):
            a, b = plant.cuts[k.loop]
            pair = (sides[0].loop[n], sides[1].loop[n])
            put(b, f"loop {plant.loops[k.loop].name}", pair, 1.0)
            put(a, f"loop {plant.loops[k.loop].name}", pair, -1.0)
        for i, (actuator, wrench) in enumerate(zip(plant.actuators, need.lines.wrench)):
            if wrench is not None:
                pair = tuple(mechanics.scaled(f, wrench) for f in (need.every[i], forces[i]))
                put(plant.number(actuator.b.body), self.cut(i), pair, 1.0)
                put(plant.number(actuator.a.body), self.cut(i), pair, -1.0)
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
        xp = self.plant.inner(own_x)
        q, qd = list(xp[: plant.n]), list(xp[plant.n : 2 * plant.n])
        ẑ = law.observed(z)
        ẑ_flow = law.observed(list(rates[len(xp) :]))
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
            rows.append(law.parts[k].entry(drive, given))
            quantities |= law.parts[k].shown(drive, given)
        quantities["pump flow"] = sum(
            a.drive.flow(*pull.at) for a, pull in zip(plant.actuators, pulls)
        )
        return rows, quantities

    @property
    def served(self) -> list[tuple]:
        """(part, drive of the plant) of every driven actuator."""
        driven = coordinates.driven(self.machine)
        return [(part, self.machine.actuators[i].drive) for part, i in zip(self.law.parts, driven)]

    # ---- what the theorem asks for ----------------------------------------------------------------------------------
    def hypotheses(self, run, claim):
        """Every hypothesis of Theorem 5, and of what completes it, on this run."""
        law = self.law
        yield hypotheses.positive_gains(body_rates(law, self.machine), self._drive_rate(), law.k_x)
        for part, drive in self.served:
            yield from part.hypotheses(run, drive)
            yield hypotheses.lever(run, part.label, claim.lever)
        for most in self._most_flow:
            yield hypotheses.pump_flow(run, most)
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
        return decay_along(run, self.law, self.plant, self._drive_rate())

    def monitors(self, balance) -> dict:
        """Hypothesis → its margin along the run, 1 at ease, negative where it is not met."""
        q, found = balance.quantities, {}
        for part, drive in self.served:
            found |= part.monitors(q, drive)
            arm = np.abs(q[f"lever {part.label}"])
            found[f"lever arm {part.label}"] = arm / arm.max()
        for most in self._most_flow:
            found["pump flow"] = 1 - q["pump flow"] / most
        return found


def _bearing(nets, tool) -> list:
    """Net wrenches of the bodies and what their cuts carry for the tool besides."""
    found = list(nets)
    if tool is not None:
        j, wrench = tool
        found[j] = plus(found[j], wrench)
    return found


def _own(plant, rates) -> list:
    """Rates of the independent coordinates."""
    return [rates[i] for i in plant.own[1]]


def _flow(Δ, pair, way):
    """(virtual power of a cut (10), magnitude of its terms before subtraction)."""
    entering = way * power(Δ, mechanics.against(*pair))
    return entering, magnitude(Δ, pair[0]) + magnitude(Δ, pair[1])
