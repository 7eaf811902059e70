"""The dissipation ledger of virtual decomposition control: accompanying functions (94)–(98), completed (C.12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from controllers import servo_valve_ledger
from controllers.servo_valve_ledger import Side
from controllers.unlimited import instant, unlimited, waits
from controllers.vdc import VDC, Required
from plants import chain
from plants.components.spatial import IDENTITY, minus, pose, power
from plants.manipulator import Manipulator
from workbench.contract.capabilities import OnSupply
from workbench.contract.parameters import bind
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry
from workbench.verification.pump import pump

EXTERNAL_BASE, EXTERNAL_TIP = "base B_c1", "tip D"


def magnitude(V, F):
    """|V|ᵀ|F|."""
    return sum(np.abs(a) * np.abs(b) for a, b in zip([*V[0], *V[1]], [*F[0], *F[1]]))


def either(F, G):
    """|F| + |G|, entry by entry."""
    return tuple([np.abs(a) + np.abs(b) for a, b in zip(f, g)] for f, g in zip(F, G))


@final
@dataclass(frozen=True)
class VDCLedger:
    """Entries for every body A ∈ S_j and every actuator, at true states.

        v_A = ½ ΔVᵀ M_A ΔV (96) with the true M_A,    v_p = Δf²/(2β k_x) (97), (98) plus the friction's own storage
        v̇_A = −ΔVᵀ K_A ΔV + (flows through its cuts)                                            (C.1)–(C.7)
        v̇_p = −(k_f/k_x) Δf² − Δẋ (f_cr − f_c) + Σ d                                            (C.10), (C.11), completed

    Perturbations d of an actuator: "friction" −Δẋ(f_fr − f_f) (+ its storage's rate); "model" Δẋ(f_cr^true − f_cr^model);
    and Δf/k_x times the parts of u_fr − u_f, telescoped from the law at true states to the flow that really goes through
    the valve: "valve inverse", "parameters", "derivative" (ḟ_pr), "measurement", "hold", "saturation", "valve", and "pump"
    where the law waits for one.

    Where supply pressures are states (`OnPump`), law and plant are taken at those of the state: D± of (89) is all they enter, u_fr
    has no ṗ_s in it, and v none of them, so that the balance is that of a constant supply, whatever the pump does.
    """

    law: VDC
    plant: Manipulator

    def entries(self, loop, t, x, w, rates) -> tuple[list[Entry], dict]:
        """Entries at one state of the loop, and the quantities its hypotheses need; rates: the loop's ẋ there."""
        xp, z, y, r, u = loop.parts(t, x, w)
        if isinstance(self.plant, OnSupply):
            told = bind(self.law, {"model.p_s": self.plant.supply(xp)})
            return VDCLedger(told, self.plant.supplied(xp)).entries(loop, t, x, w, rates)
        law, plant, n = self.law, self.plant, self.plant.n
        parts = plant.split(xp)
        _, base, tip = plant.surroundings(u)
        q, qd, qdd = parts.q, parts.qd, list(rates[n : 2 * n])
        _, _, _, τ = law.parts([*q, *qd, *[0.0] * (2 * n)], r)
        ẑ = list(self._memory(loop, z)[: law._observers])
        ẑ_flow = list(self._memory(loop, list(rates[len(loop.plant.states) :]))[: law._observers])
        rows, need, f_c = self.bodies(q, qd, qdd, τ, base, tip)
        more, quantities = self._actuators(
            loop, t, parts, y, r, z, u, rates, need, f_c, qdd, τ, ẑ, ẑ_flow
        )
        return [*rows, *more], quantities

    def bodies(self, q, qd, qdd, τ, base, tip) -> tuple[list[Entry], Required, list]:
        """Entries of the bodies alone, whatever drives the cylinders; what is required of true bodies, true forces f_c."""
        law, plant = self.law, self.plant
        need = law.required(q, qd, *law.required_motion(q, qd, *τ[:3]), plant=plant, base=base)
        shape = plant.geometry(q)
        true = chain.sweep(plant.structures, shape, base, qd, accelerations=qdd)
        nets = chain.net_forces(plant.structures, true, true, plant.payload)
        f_c, cuts = chain.forces(plant.structures, shape, nets, tip)
        return self._bodies(shape, need, true, nets, f_c, cuts, tip), need, f_c

    def _memory(self, loop, z):
        """The law's own memory inside the controller's (wrappers append theirs)."""
        return z[: len(self.law.states)]

    # ---- what the theorem asks for ----------------------------------------------------------------------------------
    def hypotheses(self, run, claim):
        """Every hypothesis of Theorem 5, and of what completes it, on this run."""
        yield from hypotheses.manipulator(run, claim)
        if isinstance(self.plant, OnSupply):
            yield from pump(run)

    def rates(self, run):
        """(rate of the bodies and actuators alone, over the run's poses), 1/s."""
        return hypotheses.manipulator_rates(run)

    def monitors(self, balance) -> dict:
        """Hypothesis → its margin along the run, 1 at ease, negative where it is not met."""
        q, plant, found = balance.quantities, self.plant, {}
        for label, c, segment in zip(plant.labels, plant.cylinders, plant.segments):
            found[f"piston {label} inside stroke"] = np.minimum(
                q[f"x {label}"], q[f"room {label}"]
            ) / (c.stroke / 2)
            found[f"valve {label} within ±{c.valve.u_max:g} V"] = (
                1 - np.abs(q[f"inverse {label}"]) / c.valve.u_max
            )
            if not segment.slides:
                found[f"lever arm {label}"] = (
                    np.abs(q[f"lever {label}"]) / np.abs(q[f"lever {label}"]).max()
                )
        return found | {"pump flow": 1 - q["pump flow"] / plant.Q_max}

    # ---- bodies -----------------------------------------------------------------------------------------------------
    def _bodies(self, shape, need: Required, true, nets, f_c, cuts, tip):
        law, plant, rows, i = self.law, self.plant, [], 0
        fed = law.fed_back(need.motion, true)
        for j, (structure, (k, frames)) in enumerate(zip(plant.structures, shape)):
            ΔV = {name: minus(need.motion.V[j][name], true.V[j][name]) for name in need.motion.V[j]}
            last = j == len(plant.structures) - 1
            revolute = structure.revolute
            F_E = (need.cuts[j]["E1"], cuts[j]["E1"])
            inner = [
                chain.loop_forces(revolute, k, frames, row[j], F, f[i])
                for row, F, f in ((need.nets, F_E[0], need.f_c), (nets, F_E[1], f_c))
            ]
            at = lambda name, inner=inner: (inner[0][name], inner[1][name])
            pin = pose((revolute.l_c, 0.0, 0.0), IDENTITY)
            pin_arm = pose(
                (revolute.L1, 0.0, 0.0), (k.c2, k.s2, 0.0, -k.s2, k.c2, 0.0, 0.0, 0.0, 1.0)
            )
            Δx = need.xd_r[i] - need.xd[i]
            rod = (Δx * (need.f_c[i] - f_c[i]), np.abs(Δx) * (np.abs(need.f_c[i]) + np.abs(f_c[i])))
            out = (
                f"{structure.name} E_1"
                if not last or structure.prismatic is not None
                else self._end_cut(structure)
            )
            S = structure.name
            # Each side of a cut takes the velocity of its own body, carried to the cut's frame.
            cut = {
                "B0": {
                    self._driven(j): sum2(flow(ΔV["B0"], *at("B0")), flow(ΔV["B0"], *at("B2"))),
                    f"{S} B_1": neg(flow(frames["B1"].velocity(ΔV["B0"]), *at("B1"))),
                    f"{S} B_3": neg(flow(frames["B3"].velocity(ΔV["B0"]), *at("B3"))),
                },
                "B1": {
                    f"{S} B_1": flow(ΔV["B1"], *at("B1")),
                    f"{S} P_1": flow(pin_arm.velocity(ΔV["B1"]), *at("P1")),
                    out: neg(flow(ΔV["E1"], *F_E)),
                },
                "B3": {
                    f"{S} B_3": flow(ΔV["B3"], *at("B3")),
                    f"{S} rod": rod,
                    f"{S} B_4": neg(flow(ΔV["B4"], *at("B4"))),
                },
                "B4": {
                    f"{S} B_4": flow(ΔV["B4"], *at("B4")),
                    f"{S} P_1": neg(flow(pin.velocity(ΔV["B4"]), *at("P1"))),
                },
            }
            if structure.prismatic is not None:
                Δx = need.xd_r[i + 1] - need.xd[i + 1]
                rod = (
                    Δx * (need.f_c[i + 1] - f_c[i + 1]),
                    np.abs(Δx) * (np.abs(need.f_c[i + 1]) + np.abs(f_c[i + 1])),
                )
                both = lambda name, j=j: (need.cuts[j][name], cuts[j][name])
                slid = frames["B5"].velocity(ΔV["P2"])
                out = f"{structure.name} E_2" if not last else self._end_cut(structure)
                cut |= {
                    "P2": {
                        f"{S} E_1": flow(ΔV["P2"], *both("P2")),
                        f"{S} B_5": neg(flow(slid, *both("B5"))),
                    },
                    "B5": {
                        f"{S} B_5": flow(slid, *both("B5")),
                        f"{S} slide": rod,
                        f"{S} P_3": neg(flow(frames["P3"].velocity(ΔV["B5"]), *both("P3"))),
                    },
                    "P3": {
                        f"{S} P_3": flow(ΔV["P3"], *both("P3")),
                        out: neg(flow(ΔV["E2"], *both("E2"))),
                    },
                }
            bodies = {name: body for segment in structure.segments for name, body in segment.bodies}
            if last:
                end = chain.end_frame(structure)
                bodies["payload"], ΔV["payload"] = plant.payload, ΔV[end]
                F_D = (chain.ZERO6, tip)
                cut["payload"] = {
                    self._end_cut(structure): flow(ΔV[end], need.cuts[j][end], cuts[j][end]),
                    EXTERNAL_TIP: neg(flow(ΔV[end], *F_D)),
                }
            for name, flows in cut.items():
                e, net = ΔV[name], (need.nets[j][name], nets[j][name])
                D = power(e, fed[j][name])
                scale = magnitude(e, either(*net)) + np.abs(D) + sum(m for _, m in flows.values())
                rows.append(
                    Entry(
                        S,
                        name,
                        power(e, bodies[name].momentum(e)) / 2,
                        D,
                        {c: p for c, (p, _) in flows.items()},
                        {},
                        scale,
                    )
                )
            i += len(structure.segments)
        return rows

    def _driven(self, j):
        if j == 0:
            return EXTERNAL_BASE
        before = self.plant.structures[j - 1]
        return f"{before.name} E_{1 if before.prismatic is None else 2}"

    def _end_cut(self, structure):
        return f"{structure.name} E_{1 if structure.prismatic is None else 2}"

    # ---- actuators --------------------------------------------------------------------------------------------------
    def _actuators(self, loop, t, parts, y, r, z, u, rates, need, f_c, qdd, τ, ẑ, ẑ_flow):
        law, plant = self.law, self.plant
        q, qd = parts.q, parts.qd
        x, xd, lever = plant.cylinder_motion(q, qd)
        f_fr, ẑ_law = law.rubbing(need.xd, need.xd_r, ẑ)
        own = law.required(q, qd, *law.required_motion(q, qd, *τ[:3]))  # with the model's bodies
        f_pr = [a + b for a, b in zip(own.f_c, f_fr)]
        f_pr_rate = law.force_rate(q, qd, qdd, τ, ẑ, ẑ_flow)
        exact = [*q, *qd, *(p for pair in parts.p for p in pair)]
        steps = self._commands(loop, t, z, self._memory(loop, z), y, exact, r, f_pr_rate, u)
        flows = plant.hydraulics(parts, plant.surroundings(u)[0], x, xd)
        f_f = plant.friction(parts, xd)
        rows, quantities, first = [], {}, 0
        for i, (valve, label) in enumerate(zip(law.valves(plant), plant.labels)):
            observed = slice(first, first + len(law.model.cylinders[i].friction.states("")))
            first = observed.stop
            side = Side(
                self._structure(i),
                label,
                self.rod(i),
                valve,
                x[i],
                xd[i],
                need.xd_r[i],
                parts.p[i],
                f_pr[i],
                f_pr_rate[i],
                need.f_c[i],
                own.f_c[i],
                f_c[i],
                f_fr[i],
                f_f[i],
                *flows[i][2:4],
                {name: volts[i] for name, volts in steps.items()},
                u[i],
                parts.rub[i],
                ẑ[observed],
                ẑ_law[observed],
                ẑ_flow[observed],
            )
            rows.append(servo_valve_ledger.entry(side))
            quantities |= servo_valve_ledger.shown(side, lever[i], valve.cylinder.stroke - x[i])
        quantities["pump flow"] = sum(row[4] for row in flows)
        return rows, quantities

    def rod(self, i) -> str:
        """Name of the cut between cylinder i and its bodies."""
        return f"{self._structure(i)} {'slide' if self.plant.labels[i].startswith('t') else 'rod'}"

    def _structure(self, i):
        at = 0
        for structure in self.plant.structures:
            at += len(structure.segments)
            if i < at:
                return structure.name
        raise IndexError(i)

    def _commands(self, loop, t, z, inner_z, y, exact, r, f_pr_rate, u) -> dict:
        """Voltages on the way from the law at true states to the valve's input: the law's own, with its own ḟ_pr, with measured
        signals, waiting for the pump, within the limits the controller sets itself, and as held; by what each brings in."""
        law, m = self.law, len(self.law.references)
        now = instant(loop.controller)
        at = lambda controller: controller.command(t, list(z[: len(now.states)]), y, r)
        free, waiting = unlimited(now), unlimited(now, waiting=True)
        return {
            "parameters": law.law(inner_z, exact, r[:m], f_pr_rate=f_pr_rate)[0],
            "derivative": law.law(inner_z, exact, r[:m])[0],
            "measurement": at(free),
            **({"pump": at(waiting)} if waits(waiting) else {}),
            "saturation": at(now),
            "hold": list(u[: self.plant.n]),
        }


def neg(pair):
    """The same flow leaving."""
    return -pair[0], pair[1]


def flow(V, F_r, F):
    """Virtual power of a cut (10) and the magnitude of its terms before subtraction."""
    return power(V, minus(F_r, F)), magnitude(V, either(F_r, F))


def sum2(a, b):
    """Flows added, magnitudes too."""
    return a[0] + b[0], a[1] + b[1]
