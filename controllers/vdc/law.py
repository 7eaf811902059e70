"""Virtual decomposition control of a mechanism with drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np

from controllers import force_rate
from controllers.body_gain import BodyGain
from controllers.force_rate import USUAL_CUTOFF, Cutoff, Derivative, DirtyTime, USUAL_τ
from controllers.gains import (
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
from controllers.required_motion import desired_motion, required_motion
from controllers.vdc import bodies
from controllers.vdc.part import Part
from controllers.vdc.parts import SERVED, default_k_x, part
from plants.drives.contract import Line
from plants.multibody import coordinates, drive_forces, signals
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from workbench.contract.errors import InputError
from workbench.contract.parameters import check_bounds
from workbench.contract.system import Controller, Signal, System, names
from workbench.numerics.calculus import directional
from workbench.run.targets import target_name

HELD = (
    1e-6  # least singular value of J_s, of its largest: below it a coordinate is held by no drive
)


class Reading(NamedTuple):
    """What the law reads: q, q̇, measured states of every drive, the line each of them sees where that is measured or a number,
    and [τ_d, τ̇_d, τ̈_d, τ⃛_d]."""

    q: list
    qd: list
    p: list
    lines: list[Line] | None
    τ: list


class Sought(NamedTuple):
    """What the law forms at one instant: commands, required forces f_pr, and the rates of its observers."""

    u: list
    f_pr: list
    ẑ_rate: list
    need: bodies.Needed


@final
@dataclass(frozen=True)
class VDC(Controller):
    """Virtual decomposition control of any machine of bodies, joints, loops and drives.

        q̇_r   = J⁻¹(τ̇_d + λ (τ_d − τ(q))),  τ: joint positions (36), lengths of the drives (35) or the tool
        F*_Ar = M_A V̇_Ar + C_A(ω_A) V_Ar + G_A + K_A (V_Ar − V_A)                                (8), (38)–(48)
        f_cr  = J_s⁻ᵀ Σ_A J_Aᵀ F*_Ar,   ṡ = J_s q̇                              (68)–(77) for any mechanism
        u     by the law of each kind of drive, from f_pr = f_cr + f_fr and its rate          (90)–(93) behind servo valves

    model       the machine as the controller knows it (truth and model are two objects): a crane of parallel–serial structures,
                or a mechanism of method minimal
    space       "joint" (independent coordinates), "piston" (lengths of the drives) or "cartesian" (tool): what λ acts on
    K_A         κ M_A + K_I 1 with the model's M_A, unless `gains` names the body
    k_x, βk_f   of servo valves; left out, k_x is that of `servo_valve.bearable_k_x`
    k_m, Kk_f   of drives behind metering valves
    derivative  how ḟ_pr is formed: exact along the model ("model") or along the desired acceleration ("desired"); "dirty":
                s/(1 + τ s); "difference": backward difference (sampled) filtered at `cutoff`; "zero"
    One entry of λ serves all coordinates, one of a drive's gain all drives, else one each.

    Raises InputError for a mechanism in other coordinates, with drives that no law serves, or with a coordinate that no drive
    holds.

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
        for field, given, many, what in (("λ", self.λ, self.machine.n, "coordinate"), *own):
            if len(given) not in (1, many):
                raise InputError(
                    f"{field}: expected 1 or {many} numbers, one per {what}, got {len(given)}"
                )

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        machine = model.mechanism if isinstance(model, System) else None
        if machine is None:
            return _no_machine(model)
        return _unserved(machine) or (None if model.structures else _loose(model))

    @property
    def machine(self) -> Mechanism:
        """The model's bodies, joints, loops and drives."""
        return self.model.mechanism

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def parts(self) -> list[Part]:
        """The law of every driven actuator, in order."""
        own = [self.machine.actuators[i] for i in coordinates.driven(self.machine)]
        each = {name: self._each(given, len(own)) for name, given in self._drive_gains.items()}
        return [
            part(a.name, a.drive, {name: numbers[k] for name, numbers in each.items()})
            for k, a in enumerate(own)
        ]

    @property
    def _drive_gains(self) -> dict[str, tuple[float, ...]]:
        return {"k_x": self.k_x, "βk_f": self.βk_f, "k_m": self.k_m, "Kk_f": self.Kk_f}

    @staticmethod
    def _each(values, n: int) -> list:
        return list(values) * n if len(values) == 1 else list(values)

    @property
    def labels(self) -> list[str]:
        """Names of the driven actuators."""
        return [self.machine.actuators[i].name for i in coordinates.driven(self.machine)]

    @property
    def measured(self):
        at = {s.name: s for s in self.model.outputs}
        own = [name for p in self.parts for name in p.measured]
        supply = () if self.machine.supply is None else self.machine.supply.states()
        moving = self.machine.states[: 2 * self.machine.n]
        called = self.model.called
        sought = (*names(moving), *own, *names(supply))
        return tuple(at[called.get(name, name)] for name in sought)

    @property
    def commands(self):
        return self.model.inputs[: len(self.labels)]

    @property
    def references(self):
        unit = {s.name: s.unit for s in self.model.outputs} | {"tcp_φ": "rad"}
        tasks = self.model.task_names(self.space)
        return tuple(
            Signal(
                target_name(name, k),
                unit.get(name, "m") + ("" if k == 0 else f"/s^{k}" if k > 1 else "/s"),
                f"desired {name}, derivative {k}",
                "reference",
            )
            for k in range(4)
            for name in tasks
        )

    @property
    def states(self):
        own = [s for p in self.parts for s in p.memory]
        return (*own, *force_rate.memory(self.derivative, self.labels))

    @property
    def monitors(self):
        unit = {s.name: s.unit for s in self.model.outputs} | {"tcp_φ": "rad"}
        forces, called = signals.forces(self.machine), self.model.called
        pushes = zip(self.labels, [forces[i].unit for i in coordinates.driven(self.machine)])
        required = [(f"f_pr_{label}", unit, f"required force of {label}") for label, unit in pushes]
        return (
            *(Signal(called.get(name, name), *rest) for name, *rest in required),
            *(
                Signal(f"e_{name}", unit.get(name, "m"), f"tracking error of {name}")
                for name in self.model.task_names(self.space)
            ),
        )

    def read(self, y, r) -> Reading:
        """Measurement and reference by meaning."""
        n, at, p = self.machine.n, 2 * self.machine.n, []
        for own in self.parts:
            p.append(list(y[at : at + len(own.measured)]))
            at += len(own.measured)
        supply, lines = self.machine.supply, None
        if supply is not None and not supply.settles:
            each = supply.lines(list(y[at:]), [(a.drive,) for a in self.machine.actuators])
            lines = [each[i] for i in coordinates.driven(self.machine)]
        return Reading(
            list(y[:n]),
            list(y[n : 2 * n]),
            p,
            lines,
            [list(r[k * n : (k + 1) * n]) for k in range(4)],
        )

    def observed(self, z) -> list[list]:
        """The law's memory of every drive."""
        found, at = [], 0
        for own in self.parts:
            found.append(list(z[at : at + len(own.memory)]))
            at += len(own.memory)
        return found

    @property
    def _observers(self) -> int:
        return sum(len(p.memory) for p in self.parts)

    # ---- the law ----------------------------------------------------------------------------------------------------
    def required_motion(self, q, qd, τ_d, τ1, τ2):
        """q̇_r and its exact derivative q̈_r along the true motion."""
        λ = self._each(self.λ, self.machine.n)
        return required_motion(self.model, self.space, λ, q, qd, τ_d, τ1, τ2)

    def required(self, q, qd, τ, plant=None, around=None) -> bodies.Needed:
        """Required motion and forces of the model's bodies; of those of the mechanism `plant`, where surroundings are given.

        The law itself takes the ground to be at rest and the tool to be idle; `around` is what they truly do.
        """
        motion = self.required_motion(q, qd, *τ[:3])
        return bodies.required(self, plant or self.machine, q, qd, *motion, around)

    def rubbing(self, need: bodies.Needed, ẑ) -> tuple[list, list]:
        """(f_fr, rates of the observers), one entry a drive."""
        found = [
            own.rubbing(v, v_r, z) for own, v, v_r, z in zip(self.parts, need.xd, need.xd_r, ẑ)
        ]
        return [f for f, _ in found], [rate for _, rate in found]

    def observing(self, need: bodies.Needed, ẑ) -> tuple[list, list, list]:
        """(f_fr, f_pr = f_cr + f_fr, rates of all memory) of every drive."""
        f_fr, rubbed = self.rubbing(need, ẑ)
        f_pr = [a + b for a, b in zip(need.f_c, f_fr)]
        return f_fr, f_pr, self.flow(f_pr, ẑ, rubbed)

    def flow(self, f_pr, ẑ, rubbed) -> list[list]:
        """Rates of what the law remembers of every drive."""
        return [own.flow(f, z, rate) for own, f, z, rate in zip(self.parts, f_pr, ẑ, rubbed)]

    def required_forces(self, q, qd, τ, ẑ) -> list:
        """f_pr of every drive."""
        need = self.required(q, qd, τ)
        return [a + b for a, b in zip(need.f_c, self.rubbing(need, ẑ)[0])]

    def force_rate(self, q, qd, qdd, τ, ẑ, ẑ_rate) -> list:
        """Exact ḟ_pr along q̈ = qdd and the reference's own motion."""
        n = self.machine.n
        flat = [value for part_ in ẑ for value in part_]
        flow = [value for part_ in ẑ_rate for value in part_]

        def forces(s):
            τ = [s[k * n : (k + 1) * n] for k in (2, 3, 4)]
            return self.required_forces(s[:n], s[n : 2 * n], τ, self.observed(s[5 * n :]))

        return directional(
            forces, [*q, *qd, *τ[0], *τ[1], *τ[2], *flat], [*qd, *qdd, *τ[1], *τ[2], *τ[3], *flow]
        )

    def acceleration(self, m: Reading, need: bodies.Needed, f_pr, ẑ) -> list:
        """q̈ that `derivative` differentiates along: the model's, or the desired one."""
        if self.derivative == "desired":
            return desired_motion(self.model, self.space, m.q, m.τ)[1]
        lengths = [need.lines.s[i] for i in coordinates.driven(self.machine)]
        forces = [
            own.believed(p, s, v, z, line, f)
            for own, p, s, v, z, line, f in zip(
                self.parts, m.p, lengths, need.xd, ẑ, m.lines or [None] * len(f_pr), f_pr
            )
        ]
        springs = bodies.spring_forces(self.machine, need.lines, need.at.rates)
        return drive_forces.accelerations(
            self.machine, need.at, bodies.every(self.machine, springs, forces)
        )

    def sought(self, z, y, r, f_pr_rate=None) -> Sought:
        """Everything the law forms at one instant; ḟ_pr as `derivative` says unless given."""
        m, ẑ = self.read(y, r), self.observed(z)
        need = self.required(m.q, m.qd, m.τ)
        _, f_pr, ẑ_rate = self.observing(need, ẑ)
        if f_pr_rate is None:
            f_pr_rate = self._rate(z, m, need, f_pr, ẑ, ẑ_rate)
        lengths = [need.lines.s[i] for i in coordinates.driven(self.machine)]
        felt = [own.felt(p, s) for own, p, s in zip(self.parts, m.p, lengths)]
        lines = m.lines or [self.asked(self.machine, felt, need.xd, need.xd_r, ẑ, ẑ_rate)] * len(
            f_pr
        )
        u = [
            own.command(s, v, v_r, p, memory, f, rate, line)
            for own, s, v, v_r, p, memory, f, rate, line in zip(
                self.parts, lengths, need.xd, need.xd_r, m.p, ẑ, f_pr, f_pr_rate, lines
            )
        ]
        return Sought(u, f_pr, ẑ_rate, need)

    def asked(self, plant: Mechanism, forces, v, v_r, ẑ, ẑ_rate) -> Line | None:
        """The line of a supply without a state of its pressure while all rods move as the parts ask; None of another supply."""
        if plant.supply is None or not plant.supply.settles:
            return None
        drives = [plant.actuators[i].drive for i in coordinates.driven(plant)]
        each = zip(self.parts, drives, forces, v, v_r, ẑ, ẑ_rate)
        speeds, areas = zip(*(part.asks(*own) for part, *own in each))
        return Line(plant.supply.left_by(areas, speeds), 0.0)

    @property
    def needs_rate(self) -> bool:
        """Whether a drive's command needs ḟ_pr."""
        return any(part.needs_rate for part in self.parts)

    def _rate(self, z, m: Reading, need, f_pr, ẑ, ẑ_rate) -> list:
        if not self.needs_rate:
            return [0.0] * len(f_pr)
        if self.derivative in force_rate.EXACT:
            qdd = self.acceleration(m, need, f_pr, ẑ)
            return self.force_rate(m.q, m.qd, qdd, m.τ, ẑ, ẑ_rate)
        return force_rate.rate(self, list(z[self._observers :]), f_pr)

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
        ẑ, memory = list(z[:many]), list(z[many:])
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

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`. Raises InputError for a plant of another kind than the model."""
        from controllers.vdc.ledger import MachineLedger

        if plant.mechanism is None:
            raise InputError(
                f"VDC: its ledger is that of bodies and drives, and knows no {type(plant).__name__}",
                mend="verify it on the model's kind of plant; simulate runs it on this one",
            )
        return MachineLedger(self, plant)


def _unserved(model: Mechanism) -> InputError | None:
    """Why this law cannot serve a mechanism, if it cannot."""
    if not coordinates.independent(model):
        return InputError(
            f"VDC: {model.name} is described by method {model.method}, in coordinates that depend on each other "
            "or turn freely",
            mend="write 'method: minimal', with planar loops and joints of one degree of freedom",
        )
    for i in coordinates.driven(model):
        a = model.actuators[i]
        if not isinstance(a.drive, SERVED):
            served = ", ".join(cls.__name__ for cls in SERVED)
            return InputError(
                f"VDC: no law for the drive of actuator {a.name}, a {type(a.drive).__name__}",
                mend=f"choose from {served}; or PID",
            )
    return None


def _no_machine(model) -> InputError:
    like = (
        "; ForcePosition is its like for a four-bar"
        if hasattr(model, "circuit") and hasattr(model, "pose")
        else ""
    )
    return InputError(
        f"VDC: {type(model).__name__} is no manipulator or mechanism; virtual decomposition needs links and cylinders "
        "with valves",
        mend=f"choose PID or MPC, or a crane{like}",
    )


def _loose(plant: Mechanism | Built) -> InputError | None:
    """Why some coordinate is held by no drive, if one is, at the mechanism's start."""
    from plants.multibody import required

    model = plant.mechanism
    n = model.n
    q = [float(v) for v in plant.inner(plant.initial())[:n]]
    at = required.whole(model, q, [0.0] * n)
    by_coordinate = required.lines(model, at).by_coordinate
    rows = np.array([by_coordinate[i] for i in coordinates.driven(model)], float).reshape(-1, n)
    names = coordinates.joints(model)
    if len(rows):
        _, σ, Vt = np.linalg.svd(rows / np.maximum(np.abs(rows).max(), 1e-300))
        if len(σ) == n and σ[-1] > HELD * σ[0]:
            return None
        free = names[int(np.abs(Vt[-1]).argmax())]
    else:
        free = names[0]
    return InputError(
        f"VDC: {model.name} has {n} coordinates ({', '.join(names)}) and {len(rows)} drives, which leave {free} free",
        mend="give every coordinate a drive, or fix the joint",
    )
