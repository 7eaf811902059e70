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

import numpy as np

from plants import scales
from plants.drives.metered_rod import MeteredRod, opened, regenerated, speed_gain
from plants.drives.tip_force import TipForce
from plants.metered_arm import Arm, MotorArm
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import GROUND, Actuator, Body, Pin
from plants.supplies.instant_pump import InstantPump
from plants.valve_circuits.circuit import Circuit, Pump
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Holding, Limit, chamber_limits, command_limits
from workbench.contract.parameters import Unit, check_bounds, fraction, positive, unchecked
from workbench.contract.system import Signal

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
class MeteredArms(Built):
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
    def velocity_gain(self):
        """ẋ per unit of u_c where no force acts and the pump is at its relief, mean of both directions and all arms, m/s."""
        gains = [speed_gain(a.section, self.pump.P_M) for a in self.arms]
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
        """A body on the ground for each arm, its rod between two pins or on its joint, and the force at its tip."""
        tips = [
            unchecked(
                Actuator, name=f"tip_{a.name}", drive=unchecked(TipForce, L=a.L_f), joint=a.name
            )
            for a in self.arms
        ]
        return unchecked(
            Mechanism,
            name=self.name,
            bodies=tuple(map(_body, self.arms)),
            actuators=(*map(_actuator, self.arms), *tips),
            gravity=(0.0, -self.g, 0.0),
            method="minimal",
            supply=unchecked(InstantPump, pump=self.pump, u_b=self.u_b),
        )

    @property
    def called(self):
        pairs = (("q", "θ"), ("dq", "dθ"), ("rod", "x"))
        return {f"{a}_{name}": f"{b}_{name}" for name in self.names for a, b in pairs}

    @property
    def causes(self):
        found = {}
        for name in self.names:
            rod = tuple(f"{way}_{name}" for way in ("supply", "tank", "in", "out"))
            found |= {f"{key}_{name}": (f"{key}_{name}",) for key in ("element", "tip")}
            found = {**found, f"rod_{name}": rod}
        return {name: found[name] for name in self._causes}

    @property
    def _causes(self) -> tuple[str, ...]:
        return tuple(f"{key}_{name}" for name in self.names for key in ("rod", "element", "tip"))

    def given(self, u):
        """Commands arm by arm, each with its regeneration's, then the forces at the tips."""
        n, more = len(self.arms), iter(u[len(self.arms) : len(u) - len(self.arms)])
        found = []
        for a, u_c in zip(self.arms, u):
            found += [u_c, next(more)] if a.regeneration == "input" else [u_c]
        return [*found, *u[len(u) - n :]]

    def task_names(self, space: str):
        """Angles: the one space that its laws know."""
        return list(self.joint_names)

    def task(self, space: str, q):
        return list(q)


def _body(arm) -> Body:
    return unchecked(
        Body,
        name=arm.name,
        mass=arm.M,
        com=(arm.L_g, 0.0, 0.0),
        inertia=(0.0, arm.J, arm.J, 0.0, 0.0, 0.0),
        start=arm.θ_0,
    )


def _actuator(arm) -> Actuator:
    own = {"K": arm.K, "B": arm.B, "section": arm.section, "regeneration": arm.regeneration}
    if arm.turns:
        return unchecked(
            Actuator, name=arm.name, drive=unchecked(MeteredRod, i=arm.i, **own), joint=arm.name
        )
    pin = (-arm.L_m * np.cos(arm.α), arm.L_m * np.sin(arm.α), 0.0)
    return unchecked(
        Actuator,
        name=arm.name,
        drive=unchecked(MeteredRod, **own),
        a=unchecked(Pin, body=GROUND, point=(arm.r_bx, arm.r_by, 0.0)),
        b=unchecked(Pin, body=arm.name, point=pin),
    )
