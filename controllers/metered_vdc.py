"""Virtual decomposition control of machines whose actuators stand behind quasistatic metering valves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np

from controllers.gains import (
    USUAL_K_I,
    DiagonalGain,
    MassGain,
    MeteredForceGains,
    MeteredVelocityGains,
    PositionGains,
    USUAL_k_m,
    USUAL_Kk_f,
    USUAL_κ,
    USUAL_λ,
)
from controllers.metered_machines import SHARED, Measured, OfArms, OfCrane, machine
from controllers.vdc import VDC, BodyGain
from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.valve_circuits.inverse import Opening, opening
from workbench.contract.errors import InputError
from workbench.contract.parameters import check_bounds
from workbench.contract.system import Controller, Signal, System

LARGEST = 4.0  # B k_f beyond which the actuators' dissipation is no sum of squares


class Sought(NamedTuple):
    """What the law forms at one instant, per rod: ẋ, ẋ_r, f_cr; f_r, ḟ_Kr, ẑ̇, ṗ_r, and the valves at the pressure P."""

    need: object
    f_r: list
    f_Kr_rate: list
    ẑ_rate: list
    v_r: list
    P: object
    openings: list[Opening]


@final
@dataclass(frozen=True)
class MeteredVDC(Controller):
    """Virtual decomposition control behind quasistatic valves.

        q̇_r, F_r*, f_cr               required motion and forces of every body, as in `VDC`     (35)–(48), (70)–(77)
        f_r   = f_cr + f_fr                                                                      (78)
        τ ḟ_Kr = f_r − f_Kr            what of f_r the oil's spring carries, τ = B/K
        ṗ_r   = ẋ + ḟ_Kr/K + k_x (ẋ_r − ẋ) + k_f (f_Kr − f_K)                                    in place of (90), (92)
        u     = opening at which the section moves at ṗ_r under f_K + B (ṗ_r − ẋ) and P          `valve_circuits.inverse`

    The valves put a piston at p, the linkage has it at x; K (p − x) = f_K is the oil's spring and f = f_K + B (ṗ − ẋ) the force. So
    ḟ_K = K (ṗ − ẋ): a cylinder's pressure equation with ṗ in place of the oil's flow. Since f_K is f behind a filter of time
    constant τ, a required f_Kr behind the same filter makes f_r, damping included, exact: ḟ_r is not needed, and no perturbation is
    left. With K k_f = 1/τ the memory f_Kr cancels: ṗ_r = ẋ + k_x (ẋ_r − ẋ) + (f_r − f_K)/B.

    model    the plant as the law knows it (truth and model are two objects): MeteredCrane, or MeteredArms without regeneration
    space, λ, κ, K_I, gains   as in `VDC`; of arms the angles, K_A = κ I + K_I
    measured of a crane q, q̇, P, and f_K: on a machine A_a P_h − A_b P_r behind a filter of time constant τ; of arms θ, θ̇, and the
             rod's displacement p
    states   friction's observers, f_Kr
    Openings beyond ±1 are left to the valves, which end there. Where no opening gives ṗ_r (too little pressure) the largest is
    asked for: `certificate` names both. One entry of λ, k_x, Kk_f serves all actuators, else one each. Raises ValueError for
    numbers out of range, InputError for another plant.

    Source: [Petrovic22] (35)–(48), (70)–(78), (90)–(93) on the plants of [Kikuuwe21] (68)–(70); f_Kr and the inverse are ours.
    """

    model: MeteredCrane | MeteredArms
    space: Literal["joint", "piston", "cartesian"] = "joint"
    λ: PositionGains = (USUAL_λ,)
    κ: MassGain = USUAL_κ
    K_I: DiagonalGain = USUAL_K_I
    k_x: MeteredVelocityGains = (USUAL_k_m,)
    Kk_f: MeteredForceGains = (USUAL_Kk_f,)
    gains: tuple[BodyGain, ...] = ()

    def __post_init__(self):
        if why := self.unfit(self.model):
            raise why.at(key="model")
        check_bounds(self)
        n = self.machine.n
        if isinstance(self.model, MeteredCrane):
            VDC(
                **{name: getattr(self, name) for name in SHARED}, model=self.model.crane
            )  # which checks its own
        elif self.space != "joint" or self.gains:
            raise InputError(
                f"{'gains' if self.gains else 'space'}: arms have angles and K_A = κ I + K_I; leave it out"
            )
        elif self.κ == 0 and self.K_I == 0:
            raise InputError(
                "κ: K_A is zero, not positive definite; give κ or K_I a positive value"
            )
        for field in ("λ", "k_x", "Kk_f"):
            if len(getattr(self, field)) not in (1, n):
                raise InputError(
                    f"{field}: expected 1 or {n} numbers, one per actuator, got {len(getattr(self, field))}"
                )
        for g, K, B in zip(self.per_rod(self.Kk_f), self.machine.K, self.machine.B):
            if g * B / K >= LARGEST:
                raise InputError(
                    f"Kk_f: {g:g} 1/s with damping τ = B/K = {B / K:g} s of the oil gives the force error power; it "
                    f"must be below {LARGEST:g}/τ = {LARGEST * K / B:g} 1/s"
                )

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        if isinstance(model, MeteredCrane | MeteredArms):
            more = [a.name for a in model.arms if a.regeneration != "none"]
            return (
                InputError(
                    f"MeteredVDC: arm {more[0]} has regeneration, which its inverse of the valves does not know",
                    mend="leave regeneration out, or choose PID",
                )
                if more
                else None
            )
        crane = isinstance(model, System) and model.structures
        like = "VDC for a crane with servo valves" if crane else "PID"
        return InputError(
            f"MeteredVDC: {type(model).__name__} is no machine behind metering valves (MeteredCrane, MeteredArms)",
            mend=f"choose {like}",
        )

    @property
    def machine(self) -> OfCrane | OfArms:
        """The model as this law sees it."""
        return machine(self, self.model)

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def measured(self):
        return self.machine.measured

    @property
    def commands(self):
        return self.model.inputs[: self.machine.n]

    @property
    def references(self):
        return self.machine.references

    @property
    def states(self):
        m = self.machine
        return (
            *m.observers,
            *(
                Signal(f"f_Kr_{k}", unit, f"{title} force required of the oil's spring")
                for k, title, unit in zip(m.labels, m.titles, m.units)
            ),
        )

    @property
    def monitors(self):
        m = self.machine
        own = (
            Signal(f"f_r_{k}", unit, f"{title} required force")
            for k, title, unit in zip(m.labels, m.titles, m.units)
        )
        return (*own, *m.wanted)

    def per_rod(self, values) -> list:
        """One number an actuator."""
        return list(values) * self.machine.n if len(values) == 1 else list(values)

    # ---- the law ----------------------------------------------------------------------------------------------------
    def required(self, m: Measured, ẑ) -> tuple[object, list, list]:
        """What is required of the bodies (xd, xd_r, f_c), f_r, and the observers' rates."""
        need = self.machine.required(m)
        f_fr, ẑ_rate = self.machine.rub(need.xd, need.xd_r, ẑ)
        return need, [a + b for a, b in zip(need.f_c, f_fr)], ẑ_rate

    def sought(self, z, y, r) -> Sought:
        """Everything the law forms at one instant."""
        own = self.machine
        m, k = own.read(y, r), len(own.observers)
        need, f_r, ẑ_rate = self.required(m, list(z[:k]))
        rate = [(f - g) * K / B for f, g, K, B in zip(f_r, z[k:], own.K, own.B)]
        v_r = self.rods(need.xd, need.xd_r, m.f_K, z[k:], rate, own.K, own.K)
        return Sought(need, f_r, rate, ẑ_rate, v_r, *self.valves(own, m, need.xd, v_r))

    def rods(self, xd, xd_r, f_K, f_Kr, f_Kr_rate, K, known) -> list:
        """ṗ_r with the stiffness K of the oil; `known`: the K that the gain k_f is made of."""
        return [
            d + rate / k + k_x * (d_r - d) + g / own * (wanted - f)
            for d, d_r, f, wanted, rate, k, own, k_x, g in zip(
                xd,
                xd_r,
                f_K,
                f_Kr,
                f_Kr_rate,
                K,
                known,
                self.per_rod(self.k_x),
                self.per_rod(self.Kk_f),
            )
        ]

    def valves(self, own, m: Measured, xd, v_r) -> tuple[object, list[Opening]]:
        """P, and what every section must open to move at ṗ_r, by the numbers of the machine `own`."""
        P, f = own.pressure(m, v_r), [g + B * (v - d) for g, B, v, d in zip(m.f_K, own.B, v_r, xd)]
        return P, [opening(row, v, g, P) for row, v, g in zip(own.rows, v_r, f)]

    # ---- the contract -----------------------------------------------------------------------------------------------
    def command(self, t, z, y, r):
        return [o.u for o in self.sought(z, y, r).openings]

    def rhs(self, t, z, y, r):
        found = self.sought(z, y, r)
        return [*found.ẑ_rate, *found.f_Kr_rate]

    def step_at(self, T_s, t, z, y, r):
        own, found = self.machine, self.sought(z, y, r)
        k = len(own.observers)
        ẑ = own.observe(T_s, own.read(y, r), list(z[:k]), found.ẑ_rate)
        f_Kr = [
            f + np.exp(-T_s * K / B) * (g - f) for f, g, K, B in zip(found.f_r, z[k:], own.K, own.B)
        ]
        return [*ẑ, *f_Kr], [o.u for o in found.openings]

    def start(self, t, z, y, r):
        k = len(self.machine.observers)
        return [*z[:k], *self.required(self.machine.read(y, r), list(z[:k]))[1]]

    def monitor(self, t, z, y, r):
        m = self.machine.read(y, r)
        return [
            *self.required(m, list(z[: len(self.machine.observers)]))[1],
            *self.machine.errors(m),
        ]

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`. Raises InputError for a plant of another kind than the model."""
        from controllers.metered_vdc_ledger import MeteredVDCLedger

        if type(plant) is not type(self.model):
            raise InputError(
                f"MeteredVDC: its ledger is that of a {type(self.model).__name__}, which its model is, and knows no "
                f"{type(plant).__name__}",
                mend="verify it on the model's kind of plant; simulate runs it on this one",
            )

        return MeteredVDCLedger(self, plant)
