"""Virtual decomposition control of parallel–serial hydraulic manipulators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

from controllers import force_rate
from controllers.body_gain import BodyGain
from controllers.force_rate import USUAL_CUTOFF, Cutoff, Derivative, DirtyTime, USUAL_τ
from controllers.gains import (
    USUAL_K_I,
    DiagonalGain,
    ForceGains,
    MassGain,
    PositionGains,
    USUAL_βk_f,
    USUAL_κ,
    USUAL_λ,
    VelocityGains,
)
from controllers.required_motion import desired_motion, required_motion
from controllers.servo_valve import Valve, usual_k_x
from plants import chain
from plants.chain import Base
from plants.components.spatial import minus, plus, scale
from plants.manipulator import Manipulator
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from workbench.contract.errors import InputError
from workbench.contract.parameters import check_bounds
from workbench.contract.system import Controller, Signal, System
from workbench.numerics.calculus import directional
from workbench.run.targets import target_name


class Required(NamedTuple):
    """What the law requires, at one state: rates, twists of all frames, forces."""

    rates: list  # q̇_r
    xd: list  # ẋ
    xd_r: list  # ẋ_r
    true: chain.Motion
    motion: chain.Motion
    nets: list  # F_r* of every body
    f_c: list  # f_cr
    cuts: list  # required forces at the cuts


@final
@dataclass(frozen=True)
class VDC(Controller):
    """Virtual decomposition control.

        q̇_r  = J⁻¹(τ̇_d + λ (τ_d − τ(q))),  τ: joint positions (36), piston positions (35) or tool and extensions
        F_r* = M_A V̇_r + C_A(ω) V_r + G_A + K_A (V_r − V)                            (8), (38)–(48)
        f_cr by (70)–(77),   f_pr = f_cr + f_fr
        u_fr = ḟ_pr/β + h ẋ + ℓ + k_x (ẋ_r − ẋ) + k_f (f_pr − f_p)                   (90), (92) with leakage
        u    = valve⁻¹(u_fr)                                                          (91), (93)

    model       the plant as the controller knows it (truth and model are two objects)
    space       "joint", "piston" or "cartesian": what λ acts on
    K_A         κ M_A + K_I 1 with the model's M_A, unless `gains` names the body
    derivative  how ḟ_pr is formed: exact along the model ("model") or along the desired acceleration ("desired"); "dirty":
                s/(1 + τ s); "difference": backward difference (sampled) filtered at `cutoff`; "zero"
    One entry of λ, k_x, βk_f serves all actuators, else one per actuator.

    Left out, k_x is that of `servo_valve.bearable_k_x`.

    Source: [Petrovic22] eqs (35)–(48), (70)–(77), (90)–(93).
    """

    model: Manipulator
    space: Literal["joint", "piston", "cartesian"] = "joint"
    λ: PositionGains = (USUAL_λ,)
    κ: MassGain = USUAL_κ
    K_I: DiagonalGain = USUAL_K_I
    k_x: VelocityGains = ()
    βk_f: ForceGains = (USUAL_βk_f,)
    derivative: Derivative = "model"
    τ: DirtyTime = USUAL_τ
    cutoff: Cutoff = USUAL_CUTOFF
    gains: tuple[BodyGain, ...] = ()

    def __post_init__(self):
        if why := self.unfit(self.model):
            raise why.at(key="model")
        if isinstance(self.k_x, tuple) and not self.k_x:
            object.__setattr__(self, "k_x", usual_k_x(self.model.cylinders, self.model.oil))
        check_bounds(self)
        for field in ("λ", "k_x", "βk_f"):
            if len(getattr(self, field)) not in (1, self.model.n):
                raise InputError(
                    f"{field}: expected 1 or {self.model.n} numbers, one per actuator, "
                    f"got {len(getattr(self, field))}"
                )
        known = [name for name, _ in self._bodies()]
        for gain in self.gains:
            if gain.name not in known:
                raise InputError(
                    f"gains: there is no body {gain.name!r}; choose from {', '.join(known)}"
                )
        if self.κ == 0 and self.K_I == 0 and {g.name for g in self.gains} != set(known):
            raise InputError(
                "κ: K_A is zero, not positive definite; give κ or K_I a positive value"
            )
        self.model.task(self.space, [0.0] * self.model.n)

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        if isinstance(model, System) and model.structures:
            return None
        like = (
            "; ForcePosition is its like for a four-bar"
            if hasattr(model, "circuit") and hasattr(model, "pose")
            else ""
        )
        like = "; MachineVDC is its like" if isinstance(model, Mechanism | Built) else like
        return InputError(
            f"VDC: {type(model).__name__} is no manipulator; virtual decomposition needs links and cylinders "
            "with valves",
            mend=f"choose PID or MPC, or a crane{like}",
        )

    def _bodies(self):
        return [
            (f"{s.name}.{frame}", body)
            for s in self.model.structures
            for seg in s.segments
            for frame, body in seg.bodies
        ]

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def measured(self):
        return self.model.outputs[: 4 * self.model.n]

    @property
    def commands(self):
        return self.model.inputs[: self.model.n]

    @property
    def references(self):
        units = {"q": "rad", "x": "m", "t": "m"}
        return tuple(
            Signal(
                target_name(name, k),
                units[name[0]] + ("" if k == 0 else f"/s^{k}" if k > 1 else "/s"),
                f"desired {name}, derivative {k}",
                "reference",
            )
            for k in range(4)
            for name in self.model.task_names(self.space)
        )

    @property
    def states(self):
        rub = [
            s
            for label, c in zip(self.model.labels, self.model.cylinders)
            for s in c.friction.states(label)
        ]
        own = [Signal(f"{s.name}_observed", s.unit, f"observed {s.meaning}") for s in rub]
        return (*own, *force_rate.memory(self.derivative, self.model.labels))

    @property
    def monitors(self):
        return (
            *(
                Signal(f"f_pr{k}", "N", f"required piston force, {s.name}")
                for k, s in zip(self.model.labels, self.model.segments)
            ),
            *(
                Signal(f"e_{name}", "m" if name[0] in "xt" else "rad", f"tracking error of {name}")
                for name in self.model.task_names(self.space)
            ),
        )

    def _each(self, values):
        return list(values) * self.model.n if len(values) == 1 else list(values)

    def parts(self, y, r):
        """(q, q̇, p, [τ_d, τ̇_d, τ̈_d, τ⃛_d]) from measurement and reference."""
        n = self.model.n
        return (
            list(y[:n]),
            list(y[n : 2 * n]),
            [(y[2 * n + 2 * i], y[2 * n + 2 * i + 1]) for i in range(n)],
            [list(r[k * n : (k + 1) * n]) for k in range(4)],
        )

    # ---- the law ----------------------------------------------------------------------------------------------------
    def required_motion(self, q, qd, τ_d, τ1, τ2):
        """q̇_r (35)–(37) and its exact derivative q̈_r along the true motion."""
        return required_motion(self.model, self.space, self._each(self.λ), q, qd, τ_d, τ1, τ2)

    def required(
        self,
        q,
        qd,
        rates,
        accelerations,
        plant: Manipulator | None = None,
        base: Base | None = None,
    ) -> Required:
        """Required twists and forces (38)–(48), (70)–(77), with the bodies of `plant` (the model's by default) and the applied K_A.

        base: true motion of the base frame; the law itself takes it to be at rest.
        """
        plant = plant or self.model
        shape = plant.geometry(q)
        still = plant._base(None)
        base = base or still
        true = chain.sweep(plant.structures, shape, base, qd)
        motion = chain.sweep(
            plant.structures, shape, Base(still.V, still.A, base.g), qd, rates, accelerations
        )
        nets = chain.net_forces(plant.structures, motion, true, plant.payload)
        fed = self.fed_back(motion, true)
        nets = [
            {name: plus(net, fed[j][name]) for name, net in row.items()}
            for j, row in enumerate(nets)
        ]
        f_c, cuts = chain.forces(plant.structures, shape, nets, chain.ZERO6)
        _, xd, _ = plant.cylinder_motion(q, qd, shape)
        _, xd_r, _ = plant.cylinder_motion(q, rates, shape)
        return Required(rates, xd, xd_r, true, motion, nets, f_c, cuts)

    def fed_back(self, motion, true) -> list:
        """K_A (V_r − V) of every body, per structure by frame name."""
        own = {g.name: g.K for g in self.gains}
        rows = []
        for j, s in enumerate(self.model.structures):
            bodies = [(f, b) for seg in s.segments for f, b in seg.bodies]
            row = {
                frame: self._K(
                    own.get(f"{s.name}.{frame}"), body, minus(motion.V[j][frame], true.V[j][frame])
                )
                for frame, body in bodies
            }
            rows.append(row)
        end = chain.end_frame(self.model.structures[-1])
        rows[-1]["payload"] = self._K(
            None, self.model.payload, minus(motion.V[-1][end], true.V[-1][end]), inner=0.0
        )
        return rows

    def _K(self, K, body, ΔV, inner=1.0):
        if K is not None:
            e = [*ΔV[0], *ΔV[1]]
            out = [sum(K[6 * i + k] * e[k] for k in range(6)) for i in range(6)]
            return out[:3], out[3:]
        p = body.momentum(ΔV)
        return tuple(
            plus(
                (scale(self.κ, p[0]), scale(self.κ, p[1])),
                (scale(inner * self.K_I, ΔV[0]), scale(inner * self.K_I, ΔV[1])),
            )
        )

    def rubbing(self, xd, xd_r, ẑ):
        """f_fr and the observers' rates, per cylinder; ẑ is flat."""
        f_fr, rates, at = [], [], 0
        for c, v, v_r in zip(self.model.cylinders, xd, xd_r):
            k = len(c.friction.states(""))
            f, rate = c.friction.observer(v, v_r, list(ẑ[at : at + k]))
            f_fr.append(f)
            rates += rate
            at += k
        return f_fr, rates

    def required_force(self, q, qd, τ_d, τ1, τ2, ẑ):
        """f_pr = f_cr + f_fr per cylinder, (78) required."""
        need = self.required(q, qd, *self.required_motion(q, qd, τ_d, τ1, τ2))
        f_fr, _ = self.rubbing(need.xd, need.xd_r, ẑ)
        return [a + b for a, b in zip(need.f_c, f_fr)]

    def force_rate(self, q, qd, qdd, τ, ẑ, ẑ_rate):
        """Exact ḟ_pr along q̈ = qdd and the reference's own motion."""
        n = self.model.n
        f = lambda s: self.required_force(
            s[:n], s[n : 2 * n], s[2 * n : 3 * n], s[3 * n : 4 * n], s[4 * n : 5 * n], s[5 * n :]
        )
        return directional(
            f, [*q, *qd, *τ[0], *τ[1], *τ[2], *ẑ], [*qd, *qdd, *τ[1], *τ[2], *τ[3], *ẑ_rate]
        )

    def acceleration(self, q, qd, p, τ, ẑ):
        """q̈ that `derivative` differentiates along: the model's, or the desired one."""
        if self.derivative == "desired":
            return desired_motion(self.model, self.space, q, τ)[1]
        _, xd, _ = self.model.cylinder_motion(q, qd)
        f_f, at = [], 0
        for c, v in zip(self.model.cylinders, xd):
            k = len(c.friction.states(""))
            f_f.append(c.friction.force(v, list(ẑ[at : at + k])))
            at += k
        return self.model.forward_dynamics(
            q, qd, [c.force(*pair) - f for c, pair, f in zip(self.model.cylinders, p, f_f)]
        )

    def flow_command(self, q, qd, p, f_pr, f_pr_rate, xd_r):
        """u_fr (90), (92) and u (91), (93) per actuator."""
        m = self.model
        x, xd, _ = m.cylinder_motion(q, qd)
        u_fr, u = [], []
        for i, valve in enumerate(self.valves(m)):
            need = valve.flow(x[i], xd[i], p[i], f_pr[i], f_pr_rate[i], xd_r[i])
            u_fr.append(need)
            u.append(valve.voltage(x[i], p[i], need))
        return u_fr, u

    def valves(self, plant) -> list[Valve]:
        """The cylinders of `plant` with this law's gains."""
        gains = zip(self._each(self.k_x), self._each(self.βk_f))
        return [
            Valve(c, plant.oil, p_s, plant.p_r, k_x, βk_f / self.model.oil.β)
            for c, p_s, (k_x, βk_f) in zip(plant.cylinders, plant.supplies, gains)
        ]

    def law(self, z, y, r, f_pr_rate=None):
        """Everything the law forms at one instant: (u, f_pr, ẑ̇, u_fr); ḟ_pr as `derivative` says unless given."""
        q, qd, p, τ = self.parts(y, r)
        ẑ = list(z[: self._observers])
        need = self.required(q, qd, *self.required_motion(q, qd, *τ[:3]))
        f_fr, ẑ_rate = self.rubbing(need.xd, need.xd_r, ẑ)
        f_pr = [a + b for a, b in zip(need.f_c, f_fr)]
        if f_pr_rate is None:
            f_pr_rate = self._rate(z, q, qd, p, τ, ẑ, ẑ_rate, f_pr)
        u_fr, u = self.flow_command(q, qd, p, f_pr, f_pr_rate, need.xd_r)
        return u, f_pr, ẑ_rate, u_fr

    @property
    def _observers(self):
        return sum(len(c.friction.states("")) for c in self.model.cylinders)

    def _rate(self, z, q, qd, p, τ, ẑ, ẑ_rate, f_pr):
        if self.derivative in force_rate.EXACT:
            return self.force_rate(q, qd, self.acceleration(q, qd, p, τ, ẑ), τ, ẑ, ẑ_rate)
        return force_rate.rate(self, list(z[self._observers :]), f_pr)

    # ---- the contract -----------------------------------------------------------------------------------------------
    def command(self, t, z, y, r):
        return self.law(z, y, r)[0]

    def rhs(self, t, z, y, r):
        _, f_pr, ẑ_rate, _ = self.law(z, y, r, f_pr_rate=[0.0] * self.model.n)
        return [*ẑ_rate, *force_rate.flow(self, list(z[self._observers :]), f_pr)]

    def step_at(self, T_s, t, z, y, r):
        q, qd, _, _ = self.parts(y, r)
        ẑ, memory = list(z[: self._observers]), list(z[self._observers :])
        if memory:
            _, f_pr, _, _ = self.law(z, y, r, f_pr_rate=[0.0] * self.model.n)
            memory = force_rate.after(self, T_s, memory, f_pr)
        u, _, ẑ_rate, _ = self.law([*ẑ, *memory], y, r)
        return [*self.observe(T_s, q, qd, ẑ, ẑ_rate), *memory], u

    def observe(self, T_s, q, qd, ẑ, ẑ_rate):
        # Observers have rates up to 1e4 1/s: exact over the sample for constant v, v_r, so that no sample time blows them up.
        _, xd, _ = self.model.cylinder_motion(q, qd)
        new, at = [], 0
        for c, v in zip(self.model.cylinders, xd):
            k = len(c.friction.states(""))
            new += c.friction.after(T_s, v, ẑ[at : at + k], ẑ_rate[at : at + k])
            at += k
        return new

    def start(self, t, z, y, r):
        _, f_pr, _, _ = self.law(list(z), y, r, f_pr_rate=[0.0] * self.model.n)
        return [*z[: self._observers], *force_rate.begun(self, f_pr)]

    def monitor(self, t, z, y, r):
        q, _, _, τ = self.parts(y, r)
        _, f_pr, _, _ = self.law(z, y, r, f_pr_rate=[0.0] * self.model.n)
        return [*f_pr, *(d - at for d, at in zip(τ[0], self.model.task(self.space, q)))]

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`, the accompanying functions (94)–(99)."""
        from controllers.vdc_ledger import VDCLedger

        return VDCLedger(self, plant)
