"""Arms, each turned by a cylinder or a motor behind quasistatic valves, all on one pump.

    (J + M L_g²) θ̈ = −M g L_g cos θ + f ℓ'(θ) + L_f cos θ f_ey                                            (79)
    f = K(x − ℓ) + B(ẋ − ℓ̇),  f ∈ Γ(ẋ)  ⇔  ẋ = Λ(B, f̄),  f̄ = K(x − ℓ) − B ℓ̇                             (68)–(70)

x is the rod's displacement (p of the source), ℓ that of the arm's pin (`metered_arm`); K and B stand for what lies between, and
relax the set Γ(0) into an ordinary differential equation. It is a mechanism: a body for each arm, moved by a `MeteredRod`, all of
them on an `InstantPump`. One arm without regeneration: Λ in closed form; else: the
root in the pump's pressure, unrolled (`valve_circuits.shared`).

Command u_c opens u_ph = u_tr (u_c > 0, extending) or u_pr = u_th (u_c < 0); it is cut at ±1 (67). Regeneration, where an arm has
it, opens by u_a, which is u_c or an input of its own (`Arm.regeneration`), and only while u_c > 0, as Section 5.1 there assumes.
The bleed is fixed at u_b. K and B are given, or chosen by the rule of `metered_arm` for steps of `h`; longer ones than they bear
are refused. `valve_circuits.stepping` has the implicit step (72).

Source: [Kikuuwe21] Sections 4.1, 4.3, 5, 6. (81) there has the sign of (68a) wrong: with it a locked arm runs away. Pin r_b, θ(0),
g are not in the text; these defaults open the rod-side relief at 7.404 s as in Fig. 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, final

from plants import arm_bodies, scales
from plants.drives.metering import bounds, opened, regenerated, speed_gain
from plants.metered_arm import Arm, MotorArm
from plants.metered_arms_names import MeteredArmsNames
from plants.multibody.mechanism import Mechanism
from plants.supplies.instant_pump import InstantPump
from plants.valve_circuits.circuit import Circuit, Pump
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Holding, Limit, chamber_limits, command_limits
from workbench.contract.parameters import Unit, check_bounds, fraction, positive, unchecked


@final
@dataclass(frozen=True)
class MeteredArms(MeteredArmsNames):
    """Equations in the module's docstring. Inputs a command u_c in [−1, 1], an opening u_a in [0, 1] where regeneration is
    an "input", and a force f_ey [N] at the tip, upwards, for each arm.

    Where a standing rod leaves its chambers' pressures open, P_h and P_r shown are the least that balance. Raises ValueError for
    numbers out of range, InputError for arms that share a name.
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
        """What a position loop can have, 1/s: arms swing on their K, damped by B alone."""
        return self.borne([a.K for a in self.arms])

    def borne(self, stiffnesses) -> float:
        """A seventh of the slowest resonance ℓ'_M √(K/I) of arms on these stiffnesses, 6 1/s at most."""
        slowest = min(
            a.longest_lever * (K / a.inertia) ** 0.5 for a, K in zip(self.arms, stiffnesses)
        )
        return float(min(6.0, slowest / 7.0))

    @property
    def circuit(self) -> Circuit:
        """The valve circuit, its sections named like the arms."""
        return Circuit(tuple(replace(a.section, name=a.name) for a in self.arms), self.pump)

    @property
    def velocity_gain(self):
        """ẋ per unit of u_c where no force acts and the pump is at its relief, mean of both directions and all arms, m/s."""
        gains = [speed_gain(a.section, self.pump.P_M) for a in self.arms]
        return sum(gains) / len(gains)

    def as_shipped(self):
        return MeteredArms()

    def scales(self):
        return scales.of_arms(self)

    def initial(self):
        return [number for a in self.arms for number in (a.θ_0, 0.0, a.length(a.θ_0))]

    def passivity(self, samples: int = 300, seed: int = 0):
        """Verdict on the circuit's incremental passivity."""
        from plants.valve_circuits.passivity import (
            check_passive,
        )  # compiled code, wanted by nothing else here

        return check_passive(self.circuit, samples, seed)

    def uniqueness(self, samples: int = 100, seed: int = 0):
        """Verdict on the circuit's one velocity, under the B of every arm (B + hK by the implicit step)."""
        from plants.valve_circuits.uniqueness import check_unique

        return check_unique(self.circuit, {f"{a.name}.B": a.B for a in self.arms}, samples, seed)

    def valve_account(self, log):
        """Where the pump's power went in a run, what suction checks drew, and between which pressures chambers were."""
        from plants.valve_circuits.accounts import of_arms

        return of_arms(self, log)

    @property
    def pressure_limits(self):
        """Between which chambers should stay, Pa: somewhat beyond suction checks and reliefs."""
        own = [bounds(a.section.P_hM, a.section.P_rM) for a in self.arms]
        return min(low for low, _ in own), max(high for _, high in own)

    def machine_limits(self):
        """Angles at which a cylinder points through its joint, suction, reliefs, commands."""
        turns = tuple(
            Limit(
                f"angle {name}",
                (name,),
                low,
                high,
                "rad",
                "stroke",
                "where the cylinder points through the joint",
                f"arms.{a.name}.r_bx",
            )
            for a, name, (low, high) in zip(self.arms, self.joint_names, self.joint_range())
            if isinstance(a, Arm)
        )
        return (
            *turns,
            *chamber_limits(self.pressure_names, *self.pressure_limits),
            *command_limits(self),
        )

    def holding(self, x, u):
        """Force (a motor's torque) that stands against weight and tip force, and what the sides bear at the pump's relief."""
        found, words = [], f"reliefs of pump ({self.pump.P_M / 1e5:g} bar) and chambers, bleed"
        for j, (a, f_ey) in enumerate(zip(self.arms, u[-len(self.arms) :])):
            θ = float(x[3 * j])
            needs = -a.torque(θ, 0.0, f_ey, self.g) / a.lever(θ)
            unit = "N m" if isinstance(a, MotorArm) else "N"
            found.append(
                Holding(
                    f"arm {a.name}",
                    float(needs),
                    *self.circuit.bears(j, self.u_b),
                    unit,
                    words,
                    "pump.P_M",
                )
            )
        return tuple(found)

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def rest(self, q) -> list[float]:
        """State at rest at angles q: what lies between rod and arm carries the weight."""
        return [
            float(number)
            for a, θ in zip(self.arms, q)
            for number in (θ, 0.0, a.length(θ) - a.torque(θ, 0.0, 0.0, self.g) / a.lever(θ) / a.K)
        ]

    # ---- valves -----------------------------------------------------------------------------------------------------
    def rows(self, u):
        """As `Circuit.rows`, for commands and openings u (as `inputs`, forces may be left out)."""
        return [
            opened(arm.section, u_c, u_a)
            for arm, u_c, u_a in zip(self.arms, u, self.regeneration(u))
        ]

    def regeneration(self, u) -> list:
        """Opening u_a of each arm, for commands and openings u (as `inputs`); a plain 0.0 where it has none."""
        more, found = iter(u[len(self.arms) :]), []
        for arm, u_c in zip(self.arms, u):
            own = [u_c, next(more)] if arm.regeneration == "input" else [u_c]
            found.append(regenerated(arm.regeneration, own))
        return found

    @property
    def supply(self):
        """Q, P_M, k_b."""
        return [self.pump.Q, self.pump.P_M, self.pump.c_b * self.u_b]

    def out(self, t, x):
        lengths = [a.length(x[3 * j]) for j, a in enumerate(self.arms)]
        return [*lengths, *(a.lever(x[3 * j]) * x[3 * j + 1] for j, a in enumerate(self.arms)), *x]

    def monitor(self, t, x, u):
        at, shown = self.logged(t, x, u), []
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
        """Commands arm by arm, each with its regeneration's, then the forces at the tips."""
        n, more = len(self.arms), iter(u[len(self.arms) : len(u) - len(self.arms)])
        found = []
        for a, u_c in zip(self.arms, u):
            found += [u_c, next(more)] if a.regeneration == "input" else [u_c]
        return [*found, *u[len(u) - n :]]
