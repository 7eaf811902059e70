"""The dissipation ledger of virtual decomposition control of any mechanism: cuts at every joint, loop and pin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from controllers.vdc import bodies
from controllers.vdc.body_rows import BodyRows, in_subsystem
from controllers.vdc.computed import State, Truth, computed_by
from controllers.vdc.forces import Forces
from controllers.vdc.part import Given
from plants.multibody import coordinates, surroundings
from plants.multibody.mechanism import Mechanism
from workbench.contract.capabilities import OnSupply
from workbench.contract.parameters import bind
from workbench.verification import hypotheses
from workbench.verification.ledger.balance import Entry
from workbench.verification.ledger.rates import body_rates
from workbench.verification.observed.pump import pump


@final
@dataclass(frozen=True)
class MachineLedger(BodyRows):
    """Entries for every body, every spring and every drive, at true states.

        v_A = ½ ΔVᵀ M_A ΔV (96) with the true M_A,   ΔV = V_r − V
        v̇_A = −ΔVᵀ K_A ΔV − d Δż² + Σ_cuts ΔVᵀ (F_r − F) + d Δż²                              (C.1)–(C.7)

    The cuts of a body are its joints, the closed joints of loops and the pins of actuators on it. Wrenches at cuts come from
    the required forces of all actuators on one side, and from the true forces and accelerations on the other
    (`plants.multibody.required`). At a joint both sides of the cut leave Δż (bᵀ ΔF), which a drive on the joint or its damping
    takes, and which is zero at any other. The damping d of a joint is in the row of the body that the joint moves.
    Drives bring their own rows (`controllers.vdc.part`); springs with dampers dissipate d Δṡ².
    """

    law: Forces
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
            return MachineLedger(told, plant.at_supply(own_x)).entries(loop, t, x, w, rates)
        n = len(machine.lead)
        xp = plant.inner(own_x, t)
        q, qd = machine.pose_and_rates(xp)
        _, qdd = machine.pose_and_rates(plant.inner(rates))
        τ = [list(r[k * n : (k + 1) * n]) for k in range(4)]
        given = plant.given(own_u)
        around = surroundings.given(machine, given)
        need = law.required(q, qd, τ, machine, around)
        _, _, own = machine.split(xp)
        pulls = machine.pulls(need.at.motion, need.at.z, need.at.rates, own, given)
        rows = self.bodies(need, qdd, [pull.force for pull in pulls], around)
        state = State(loop, t, x, w, rates)
        more, quantities = self._drives(state, Truth(need, pulls, qdd, τ))
        return [*rows, *more], quantities

    # ---- drives -----------------------------------------------------------------------------------------------------
    def _drives(self, state: State, truth: Truth) -> tuple[list[Entry], dict]:
        """Rows of the drives, and what their hypotheses look at."""
        need, pulls = truth.need, truth.pulls
        plant = self.machine
        driven = coordinates.driven(plant)
        lines = need.lines.by_coordinate
        levers = bodies.levers([lines[i] for i in driven])
        told = computed_by(self.law, self.plant, self.served, state, truth)
        rows = []
        quantities = {}
        for k, i in enumerate(driven):
            pull = pulls[i]
            given = Given(
                cut=self.cut(i),
                x=pull.x,
                s=pull.s,
                v=need.xd[k],
                v_r=need.xd_r[k],
                line=pull.line,
                asked=told.asked or pull.line,
                f_pr=told.f_pr[k],
                f_pr_rate=told.f_pr_rate[k],
                f_cr=need.f_c[k],
                own_f_cr=told.own_f_cr[k],
                f_c=pull.force,
                f_fr=told.f_fr[k],
                own_f_fr=told.own_f_fr[k],
                u=told.u[k],
                steps={name: values[k] for name, values in told.steps.items()},
                ẑ=told.ẑ[k],
                ẑ_law=told.ẑ_law[k],
                ẑ_own=told.ẑ_own[k],
                ẑ_flow=told.ẑ_flow[k],
                lever=levers[k],
            )
            drive = plant.actuators[i].drive
            rows.append(self._placed(self.law.parts[k].entry(drive, given), i))
            quantities |= self.law.parts[k].shown(drive, given)
        flows = [a.drive.flow(*pull.at) for a, pull in zip(plant.actuators, pulls)]
        quantities["pump flow"] = sum(flows)
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
