"""Virtual decomposition control of a mechanism with drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from controllers.vdc import force_rate, suited
from controllers.vdc.body_gain import BodyGain
from controllers.vdc.force_rate import USUAL_CUTOFF, Cutoff, Derivative, DirtyTime, USUAL_τ
from controllers.vdc.forces import Forces, Sought
from controllers.vdc.gains import (
    USUAL_K_I,
    DiagonalGain,
    ForceGains,
    MassGain,
    MeteredForceGains,
    MeteredVelocityGains,
    PositionGains,
    USUAL_k_m,
    USUAL_Kk_f,
    USUAL_βk_f,
    USUAL_κ,
    USUAL_λ,
    VelocityGains,
)
from controllers.vdc.parts import default_k_x
from plants.multibody import coordinates
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from workbench.contract.errors import InputError, miscounted
from workbench.contract.parameters import check_bounds


@final
@dataclass(frozen=True)
class VDC(Forces):
    """Virtual decomposition control of any machine of bodies, joints, loops and drives.

        q̇_r   = J⁻¹(τ̇_d + λ (τ_d − τ(q))),  τ: joint positions (36), lengths of the drives (35) or the tool
        F*_Ar = M_A V̇_Ar + C_A(ω_A) V_Ar + G_A + K_A (V_Ar − V_A)                                (8), (38)–(48)
        f_cr  = J_s⁻ᵀ Σ_A J_Aᵀ F*_Ar,   ṡ = J_s q̇                              (68)–(77) for any mechanism
        u     by the law of each kind of drive, from f_pr = f_cr + f_fr and its rate          (90)–(93) behind servo valves

    model       the machine as the controller knows it (truth and model are two objects): a crane of parallel–serial structures,
                or a mechanism of method minimal
    space       "joint" (independent coordinates), "piston" (lengths of the drives) or "cartesian" (tool): what λ acts on
    K_A         κ M_A + K_I 1 with the model's M_A, unless `gains` names the body
    k_x, βk_f   gains on velocity [m] and force [1/s] of drives with oil behind a valve or pump; () for k_x takes
                `servo_valve.bearable_k_x`
    k_m, Kk_f   gains on velocity [1] and force [1/s] of drives behind metering valves
    derivative  how ḟ_pr is formed: exact along the model ("model") or along the desired acceleration ("desired"); "dirty":
                s/(1 + τ s); "difference": backward difference (sampled) filtered at `cutoff`; "zero"
    λ has one entry for all coordinates or one for each; k_x, βk_f, k_m and Kk_f have one for all drives or one for each.

    Raises InputError for a mechanism of another method, one with a drive that this law has no part for, and one with a
    coordinate that no drive holds.

    Source: [Petrovic22] eqs (35)–(48), (68)–(77), (90)–(93).
    """

    model: Mechanism | Built
    space: Literal["joint", "piston", "cartesian"] = "joint"
    λ: PositionGains = (USUAL_λ,)
    κ: MassGain = USUAL_κ
    K_I: DiagonalGain = USUAL_K_I
    k_x: VelocityGains = ()
    βk_f: ForceGains = (USUAL_βk_f,)
    k_m: MeteredVelocityGains = (USUAL_k_m,)
    Kk_f: MeteredForceGains = (USUAL_Kk_f,)
    derivative: Derivative = "model"
    τ: DirtyTime = USUAL_τ
    cutoff: Cutoff = USUAL_CUTOFF
    gains: tuple[BodyGain, ...] = ()

    def __post_init__(self):
        if why := self.unfit(self.model):
            raise why.at(key="model")
        if isinstance(self.k_x, tuple) and not self.k_x:
            drives = [self.machine.actuators[i].drive for i in coordinates.driven(self.machine)]
            object.__setattr__(self, "k_x", default_k_x(drives))
        check_bounds(self)
        self._check_lengths()
        for own in self.parts:
            own.check()
        known = [body.name for body in self.machine.bodies if not body.carried]
        for gain in self.gains:
            if gain.name not in known:
                raise InputError(
                    f"gains: there is no body {gain.name!r}; choose from {', '.join(known)}"
                )
        if self.κ == 0 and self.K_I == 0 and {g.name for g in self.gains} != set(known):
            raise InputError(
                "κ: K_A is zero, not positive definite; give κ or K_I a positive value"
            )
        self._check_space()

    def _check_space(self) -> None:
        known = ("joint", *self.model.spaces)
        own = self.machine.spaces
        if self.space == "joint" and own and "joint" not in own:
            raise InputError(
                f"space: {self.model.title} has no joint space: an independent joint is a ball joint, whose position is "
                "no single number",
                mend=f"write 'space: {own[0]}', for the law and for its path",
            )
        if self.space in known:
            self.model.task_names(self.space)
            return
        coordinates.check(self.machine, self.space)
        raise InputError(
            f"space: {self.model.title} has no {self.space} space",
            mend=f"choose from {', '.join(dict.fromkeys(known))}",
        )

    def _check_lengths(self) -> None:
        drives = len(coordinates.driven(self.machine))
        own = [(name, given, drives, "drive") for name, given in self._drive_gains.items()]
        for field, given, many, what in (("λ", self.λ, len(self.machine.lead), "coordinate"), *own):
            if len(given) not in (1, many):
                raise miscounted(field, len(given), many, what)

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        return suited.unfit(model)

    # ---- the contract -----------------------------------------------------------------------------------------------
    def command(self, t, z, y, r):
        return self.sought(z, y, r).u

    def _without_rate(self, z, y, r) -> Sought:
        return self.sought(z, y, r, f_pr_rate=[0.0] * len(self.labels))

    def rhs(self, t, z, y, r):
        found = self._without_rate(z, y, r)
        flow = force_rate.flow(self, list(z[self._observers :]), found.f_pr)
        return [*(v for rate in found.ẑ_rate for v in rate), *flow]

    def step_at(self, T_s, t, z, y, r):
        many = self._observers
        ẑ = list(z[:many])
        memory = list(z[many:])
        if memory:
            memory = force_rate.after(self, T_s, memory, self._without_rate(z, y, r).f_pr)
        found = self.sought([*ẑ, *memory], y, r)
        return [*self.observe(T_s, found, self.observed(ẑ)), *memory], found.u

    def observe(self, T_s, found: Sought, ẑ) -> list:
        """Memory of all drives after a sample."""
        new = []
        for own, v, f, z, rate in zip(self.parts, found.need.xd, found.f_pr, ẑ, found.ẑ_rate):
            new += own.after(T_s, v, f, z, rate)
        return new

    def start(self, t, z, y, r):
        f_pr = self._without_rate(list(z), y, r).f_pr
        memory = [own.begun(f, ẑ) for own, f, ẑ in zip(self.parts, f_pr, self.observed(z))]
        return [*(v for own in memory for v in own), *force_rate.begun(self, f_pr)]

    def monitor(self, t, z, y, r):
        m = self.read(y, r)
        at = self.model.task(self.space, m.q)
        return [*self._without_rate(z, y, r).f_pr, *(d - a for d, a in zip(m.τ[0], at))]

    @property
    def searched(self) -> tuple[str, ...]:
        """Gains that a search may turn: those above zero that act on the model's drives."""
        taken = {name for own in self.parts for name in own.takes}
        return (
            "λ",
            *(name for name in ("κ", "K_I") if getattr(self, name) > 0),
            *(name for name in self._drive_gains if name in taken),
        )

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`. Raises InputError for a plant of another kind than the model."""
        from controllers.vdc.ledger import MachineLedger

        wrong = suited.unaccounted(self.parts, plant)
        if wrong:
            raise wrong
        return MachineLedger(self, plant)
