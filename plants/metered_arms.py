"""Arms, each turned by a cylinder or a motor behind quasistatic valves, all on one pump.

    (J + M L_g²) θ̈ = −M g L_g cos θ + f ℓ'(θ) + L_f cos θ f_ey                                            (79)
    f = K(x − ℓ) + B(ẋ − ℓ̇),  f ∈ Γ(ẋ)  ⇔  ẋ = Λ(B, f̄),  f̄ = K(x − ℓ) − B ℓ̇                             (68)–(70)

x is the rod's displacement (p of the source), ℓ that of the arm's pin (`metered_arm`); K and B stand for what lies between, and
relax the set Γ(0) into an ordinary differential equation. One arm without regeneration: Λ in closed form; else: the
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
from typing import Annotated, final

import numpy as np

from plants import scales
from plants.metered_arm import Arm, MotorArm
from plants.valve_circuits import closed, shared
from plants.valve_circuits.circuit import Circuit, Pump
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Holding, Limit, chamber_limits, command_limits
from workbench.contract.parameters import Unit, check_bounds, fraction, positive
from workbench.contract.system import Signal, System

_PER_ARM = (
    ("θ", "rad", "angle of arm {}"),
    ("dθ", "rad/s", "its rate"),
    ("x", "m", "displacement of the rod of arm {}"),
)
_SHOWN = (
    ("l", "m", "pin to pin, arm {}"),
    ("v", "m/s", "velocity of the rod of arm {}"),
    ("f", "N", "force of the rod of arm {}"),
    ("stretch", "m", "rod ahead of the arm's pin, arm {}"),
    ("P_h", "Pa", "head side of arm {}"),
    ("P_r", "Pa", "rod side of arm {}"),
)


_TURNED = {"m": "rad", "m/s": "rad/s", "N": "N*m"}  # units of a motor's "rod"
_OF_ROD = ("x", "l", "dl", "v", "f", "stretch")


def _signals(kinds, arms, kind: str = ""):
    unit = lambda key, unit, arm: (
        _TURNED[unit] if isinstance(arm, MotorArm) and key in _OF_ROD else unit
    )
    return tuple(
        Signal(f"{key}_{a.name}", unit(key, of, a), meaning.format(a.name), kind)
        for a in arms
        for key, of, meaning in kinds
    )


@final
@dataclass(frozen=True)
class MeteredArms(System):
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
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.arms)

    @property
    def states(self):
        return _signals(_PER_ARM, self.arms)

    @property
    def inputs(self):
        return (
            *_signals((("u_c", "1", "command of arm {}"),), self.arms),
            *_signals((("u_a", "1", "opening of regeneration of arm {}"),), self._regenerating),
            *_signals(
                (("f_ey", "N", "force at the tip of arm {}, upwards"),), self.arms, "disturbance"
            ),
        )

    @property
    def _regenerating(self):
        """Arms whose regeneration is an input."""
        return tuple(a for a in self.arms if a.regeneration == "input")

    @property
    def outputs(self):
        return (
            *_signals(_SHOWN[:1], self.arms),
            *_signals((("dl", "m/s", "its rate, arm {}"),), self.arms),
            *self.states,
        )

    @property
    def monitors(self):
        return (
            *_signals(_SHOWN, self.arms),
            Signal("P", "Pa", "pressure of the pump"),
            Signal("r_P", "1", "pump's flow that its pressure leaves unaccounted for, over Q"),
        )

    @property
    def pressure_names(self):
        return tuple(f"{key}_{name}" for name in self.names for key in ("P_h", "P_r"))

    @property
    def power_names(self):
        return tuple(f"{key}_{name}" for name in self.names for key in ("rod", "element", "tip"))

    @property
    def velocity_gain(self):
        """ẋ per unit of u_c where no force acts and the pump is at its relief, mean of both directions and all arms, m/s."""
        gains = [
            (A * self.pump.P_M / (s.A_h**3 / h**2 + s.A_r**3 / r**2)) ** 0.5
            for s in (a.section for a in self.arms)
            for A, h, r in ((s.A_h, s.c_ph, s.c_tr), (s.A_r, s.c_th, s.c_pr))
        ]
        return sum(gains) / len(gains)

    cuts_commands = True  # an opening beyond fully open is none

    def limits(self):
        return {f"u_c_{name}": (-1.0, 1.0) for name in self.names} | {
            f"u_a_{a.name}": (0.0, 1.0) for a in self._regenerating
        }

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
        return -0.3e5, 1.1 * max(max(a.section.P_hM, a.section.P_rM) for a in self.arms)

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

    # ---- what a ledger asks for -------------------------------------------------------------------------------------
    @property
    def n(self) -> int:
        return len(self.arms)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(f"θ_{name}" for name in self.names)

    def joint_range(self) -> list[tuple[float, float]]:
        """Angles between which the pin does not meet the line from base to joint, around θ_0; of a motor half a turn either way."""
        found = []
        for a in self.arms:
            if a.turns:
                low, width = a.θ_0 - np.pi, 2 * np.pi
            else:
                dead = a.α + np.arctan2(a.r_by, a.r_bx)
                low, width = dead + np.pi * np.floor((a.θ_0 - dead) / np.pi), np.pi
            found.append((float(low), float(low + width)))
        return found

    def check_pose(self, q, where: str = "θ_0") -> None:
        """ValueError naming the first arm whose cylinder would point through its joint."""
        for name, θ, (low, high) in zip(self.joint_names, q, self.joint_range()):
            if not low < θ < high:
                raise InputError(
                    f"{where}: {name} = {θ:.4g} rad must lie in {low:.4g} … {high:.4g} rad"
                )

    def rest(self, q) -> list[float]:
        """State at rest at angles q: what lies between rod and arm carries the weight."""
        return [
            float(number)
            for a, θ in zip(self.arms, q)
            for number in (θ, 0.0, a.length(θ) - a.torque(θ, 0.0, 0.0, self.g) / a.lever(θ) / a.K)
        ]

    # ---- valves -----------------------------------------------------------------------------------------------------
    def regeneration(self, u) -> list:
        """Opening u_a of each arm, for commands and openings u (as `inputs`); a plain 0.0 where it has none."""
        given, found = iter(u[len(self.arms) :]), []
        for arm, u_c in zip(self.arms, u):
            asked = next(given) if arm.regeneration == "input" else u_c
            opened = np.where(u_c > 0.0, np.minimum(np.maximum(asked, 0.0), 1.0), 0.0)
            found.append(0.0 if arm.regeneration == "none" else opened)
        return found

    def rows(self, u):
        """As `Circuit.rows`, for commands and openings u (as `inputs`, forces may be left out)."""
        found = []
        for arm, u_c, u_a in zip(self.arms, u, self.regeneration(u)):
            s, out, back = (
                arm.section,
                np.minimum(np.maximum(u_c, 0.0), 1.0),
                np.minimum(np.maximum(-u_c, 0.0), 1.0),
            )
            found.append(
                [
                    s.A_h,
                    s.A_r,
                    s.P_hM,
                    s.P_rM,
                    s.c_ph * out,
                    s.c_pr * back,
                    s.c_th * back,
                    s.c_tr * out,
                    0.0 if arm.regeneration == "none" else s.c_a * u_a,
                ]
            )
        return found

    @property
    def supply(self):
        """Q, P_M, k_b."""
        return [self.pump.Q, self.pump.P_M, self.pump.c_b * self.u_b]

    def _motion(self, x, u):
        """(arm, θ, θ̇, x) of each, f̄, and velocities of the rods."""
        parts = [(a, *x[3 * j : 3 * j + 3]) for j, a in enumerate(self.arms)]
        held = [a.held(θ, θ̇, p) for a, θ, θ̇, p in parts]
        if len(parts) == 1 and parts[0][0].regeneration == "none":
            v = [closed.Λ(self.rows(u)[0], self.supply, parts[0][0].B, held[0])]
        else:
            v = shared.resolved(self.rows(u), self.supply, [a.B for a in self.arms], held).v
        return parts, held, v

    def rhs(self, t, x, u):
        rates = []
        for (a, θ, θ̇, _), f_bar, v, f_ey in zip(*self._motion(x, u), u[-len(self.arms) :]):
            rates += [θ̇, a.torque(θ, f_bar + a.B * v, f_ey, self.g) / a.inertia, v]
        return rates

    def out(self, t, x):
        lengths = [a.length(x[3 * j]) for j, a in enumerate(self.arms)]
        return [*lengths, *(a.lever(x[3 * j]) * x[3 * j + 1] for j, a in enumerate(self.arms)), *x]

    def monitor(self, t, x, u):
        parts, held, v = self._motion(x, u)
        rows = self.rows(u)
        pump = shared.resolved(rows, self.supply, [a.B for a in self.arms], held)
        shown = []
        for (a, θ, _, p), f_bar, w, row, pair in zip(parts, held, v, rows, pump.held):
            l, f = a.length(θ), f_bar + a.B * w
            shown += [l, w, f, p - l, *shared.pressures(row, self.supply, w, f, pump.P, pair)]
        return [*shown, pump.P, pump.residual]

    def powers(self, t, x, u):
        """Power into the arms and what lies between rod and arm, by cause (W); their sum is d(stored)/dt."""
        found = []
        for (a, θ, θ̇, _), f_bar, v, f_ey in zip(*self._motion(x, u), u[-len(self.arms) :]):
            found += [
                (f_bar + a.B * v) * v,
                -a.B * (v - a.lever(θ) * θ̇) ** 2,
                a.L_f * np.cos(θ) * θ̇ * f_ey,
            ]
        return found

    def stored(self, t, x, u):
        """Kinetic and potential energy of the arms, energy of what lies between rod and arm, J."""
        energy = 0.0
        for j, a in enumerate(self.arms):
            θ, θ̇, p = x[3 * j : 3 * j + 3]
            energy = (
                energy
                + 0.5 * a.inertia * θ̇ * θ̇
                + a.M * self.g * a.L_g * np.sin(θ)
                + 0.5 * a.K * (p - a.length(θ)) ** 2
            )
        return energy
