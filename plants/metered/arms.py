"""Arms, each turned by a cylinder or a motor behind quasistatic valves, all on one pump.

    (J + M L_g²) θ̈ = −M g L_g cos θ + f ℓ'(θ) + L_f cos θ f_ey                                            (79)
    f = K(x − ℓ) + B(ẋ − ℓ̇),  f ∈ Γ(ẋ)  ⇔  ẋ = Λ(B, f̄),  f̄ = K(x − ℓ) − B ℓ̇                             (68)–(70)

x is the rod's displacement (p of the source), ℓ that of the arm's pin (`metered.arm`); K and B stand for what lies between, and
relax the set Γ(0) into an ordinary differential equation. It is a mechanism: a body for each arm, moved by a `MeteredRod`, all of
them on an `InstantPump`. One arm without regeneration: Λ in closed form; else: the
root in the pump's pressure, unrolled (`valve_circuits.shared`).

Command u_c opens u_ph = u_tr (u_c > 0, extending) or u_pr = u_th (u_c < 0); it is cut at ±1 (67). Regeneration, where an arm has
it, opens by u_a, which is u_c or an input of its own (`Arm.regeneration`), and only while u_c > 0, as Section 5.1 there assumes.
The bleed is fixed at u_b. K and B are given, or chosen by the rule of `metered.arm` for steps of `h`; longer ones than they bear
are refused. `valve_circuits.stepping` has the implicit step (72).

Source: [Kikuuwe21] Sections 4.1, 4.3, 5, 6. (81) there has the sign of (68a) wrong: with it a locked arm runs away. Pin r_b, θ(0),
g are not in the text; these defaults open the rod-side relief at 7.404 s as in Fig. 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, final

from plants import scales
from plants.metered import arm_bodies
from plants.metered.arm import Arm, MotorArm
from plants.metered.arms_valves import MeteredArmsValves
from plants.multibody.mechanism import Mechanism
from plants.supplies.instant_pump import InstantPump
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, fraction, positive, unchecked


@final
@dataclass(frozen=True)
class MeteredArms(MeteredArmsValves):
    """Arms behind metering valves on one pump, quasistatic; equations in `plants.metered.arms`.

    Inputs of each arm: a command u_c in [−1, 1], an opening u_a in [0, 1] where its regeneration is an "input", and a force
    f_ey [N] at its tip, upwards.

    While a rod stands still, the model does not determine its chamber pressures; the log then has the least P_h and P_r that
    balance its force. Raises ValueError for numbers out of range, InputError for arms that share a name.
    """

    name: str = "metered arm"
    arms: tuple[Arm | MotorArm, ...] = (Arm(K=5e7, B=2.5e6),)
    pump: Pump = Pump()
    u_b: Annotated[float, Unit("1"), "opening of the bleed", fraction] = 0.3
    g: Annotated[float, Unit("m/s^2"), "gravity"] = 9.8
    h: Annotated[float, Unit("s"), "longest step that K and B are chosen for", positive] = 1e-3

    def __post_init__(self):
        check_bounds(self)
        if not self.arms:
            raise InputError("arms: there is none; give at least one")
        object.__setattr__(self, "arms", tuple(replace(a, **a.ruled(self.h)) for a in self.arms))
        for arm in self.arms:
            if arm.step_limit() < self.h:
                raise InputError(
                    f"arms.{arm.name}: K = {arm.K:.3g} N/m and B = {arm.B:.3g} N s/m bear steps up to "
                    f"{arm.step_limit():.3g} s only, not {self.h:g} s; lower them, leave them out (they are then "
                    "chosen for h), or lower h and the step (max_step)"
                )
        self.circuit  # noqa: B018 — refuses arms that share a name

    @property
    def longest_step(self) -> float:
        """Step [s] that K and B of every arm bear."""
        return min(a.step_limit() for a in self.arms)

    @property
    def loop_rate(self) -> float:
        """Rate that a position loop can have, 1/s: arms swing on their stiffness K, damped by B alone."""
        return self.borne([a.K for a in self.arms])

    def borne(self, stiffnesses) -> float:
        """A seventh of the slowest resonance ℓ'_M √(K/I) of arms on these stiffnesses, 6 1/s at most."""
        slowest = min(
            a.longest_lever * (K / a.inertia) ** 0.5 for a, K in zip(self.arms, stiffnesses)
        )
        return float(min(6.0, slowest / 7.0))

    def as_shipped(self):
        return MeteredArms()

    def scales(self):
        return scales.of_arms(self)

    def initial(self):
        return [number for a in self.arms for number in (a.θ_0, 0.0, a.length(a.θ_0))]

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def rest(self, q) -> list[float]:
        """State at rest at angles q: what lies between rod and arm carries the weight."""
        return [
            float(number)
            for a, θ in zip(self.arms, q)
            for number in (θ, 0.0, a.length(θ) - a.torque(θ, 0.0, 0.0, self.g) / a.lever(θ) / a.K)
        ]

    def out(self, t, x):
        lengths = [a.length(x[3 * j]) for j, a in enumerate(self.arms)]
        return [*lengths, *(a.lever(x[3 * j]) * x[3 * j + 1] for j, a in enumerate(self.arms)), *x]

    def monitor(self, t, x, u):
        at = self.logged(t, x, u)
        shown = []
        for j, a in enumerate(self.arms):
            own = (at[f"{key}_{a.name}"] for key in ("v", "f_p", "stretch", "P_h", "P_r"))
            shown += [a.length(x[3 * j]), *own]
        return [*shown, at["P"], at["r_P"]]

    # ---- the same as a mechanism --------------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """Arms, each with a rod behind its valves, and the force at its tip."""
        return arm_bodies.mechanism(
            self.name, self.arms, self.g, unchecked(InstantPump, pump=self.pump, u_b=self.u_b)
        )

    def given(self, u):
        """Inputs of the mechanism: arm by arm the command and the opening of regeneration, then the forces at the tips."""
        n = len(self.arms)
        more = iter(u[n:])
        found = []
        for a, u_c in zip(self.arms, u):
            found += [u_c, next(more)] if a.regeneration == "input" else [u_c]
        return [*found, *u[len(u) - n :]]
