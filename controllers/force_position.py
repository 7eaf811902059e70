"""Virtual decomposition control of a hydraulic four-bar: three bodies, a position loop outside a force loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, final

import numpy as np

from plants.components.circuit_inverse import drift, invert
from plants.four_bar import FourBar
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Controller, Signal
from workbench.numerics.calculus import directional
from workbench.run.targets import target_name

BARS = ("crank", "coupler", "rocker")


class Bar(NamedTuple):
    """One bar in the plane: mass, inertia about its centre, arms from there to its pins (B or C, and C or E)."""

    m: object
    I: object
    near: list
    far: list


class Balance(NamedTuple):
    """Forces at the pins B, C and of the cylinder that move the bars so, and each bar's own net force (x, y, moment)."""

    nets: list
    f_B: list
    f_C: list
    f_c: object


def e(a):
    """(cos a, sin a)."""
    return [np.cos(a), np.sin(a)]


def across(a, b):
    """a × b in the plane."""
    return a[0] * b[1] - a[1] * b[0]


def bars(plant: FourBar, z_1) -> tuple[list[Bar], object]:
    """The bars at crank angle z_1, and the pose."""
    pose = plant.pose(z_1)
    made = []
    for m, L, a in zip(
        (plant.m_1, plant.m_2, plant.m_3),
        (plant.L_1, plant.L_2, plant.L_3),
        (z_1, pose.a_2, pose.a_3),
    ):
        half = [0.5 * L * c for c in e(a)]
        made.append(Bar(m, m * L * L / 12.0, [-c for c in half], half))
    return made, pose


def motion(plant: FourBar, z_1, pose, rate, true_rate, acceleration) -> tuple[list, list]:
    """V_A = (v_x, v_y, ω) of the bars' centres for ż_1 = rate, and V̇_A for z̈_1 = acceleration, on poses moving at true_rate.

    Coupler and rocker turn at k_2 ż_1, k_3 ż_1; the crank's pin A and the rocker's E rest.
    """
    L = (plant.L_1, plant.L_2, plant.L_3)
    turn = ((1.0, 0.0), (pose.k_2, pose.k_2p), (pose.k_3, pose.k_3p))
    # d(L e(a))/dz_1 and its derivative along z_1, bar by bar
    along = [
        [k * L_i * c for c in (-np.sin(a), np.cos(a))]
        for L_i, a, (k, _) in zip(L, (z_1, pose.a_2, pose.a_3), turn)
    ]
    bent = [
        [-k * k * L_i * c + k_p * L_i * d for c, d in zip(e(a), (-np.sin(a), np.cos(a)))]
        for L_i, a, (k, k_p) in zip(L, (z_1, pose.a_2, pose.a_3), turn)
    ]
    centres = lambda d: [
        [0.5 * c for c in d[0]],
        [p + 0.5 * c for p, c in zip(d[0], d[1])],
        [-0.5 * c for c in d[2]],
    ]
    V, A = [], []
    for d, d_p, (k, k_p) in zip(centres(along), centres(bent), turn):
        V.append([c * rate for c in (*d, k)])
        A.append(
            [c * acceleration + c_p * true_rate * rate for c, c_p in zip((*d, k), (*d_p, k_p))]
        )
    return V, A


def balance(plant: FourBar, z_1, made, pose, accelerations, extra=None) -> Balance:
    """Pin and cylinder forces for these V̇_A, each bar's weight carried and `extra` (x, y, moment) added to its net force."""
    nets = [[b.m * A[0], b.m * (A[1] + plant.g), b.I * A[2]] for b, A in zip(made, accelerations)]
    if extra is not None:
        nets = [[n + x for n, x in zip(net, more)] for net, more in zip(nets, extra)]
    crank, coupler, rocker = made
    # Moments about E and about B leave f_C alone: −(E − C) × f_C = μ_3 and −(C − B) × f_C = μ_2.
    μ_3 = nets[2][2] + across(
        rocker.near, nets[2]
    )  # the centre seen from E is at −½ L_3 e(a_3), the near arm
    μ_2 = nets[1][2] + across(coupler.far, nets[1])
    s, e_2, e_3 = np.sin(pose.a_3 - pose.a_2), e(pose.a_2), e(pose.a_3)
    f_C = [μ_3 / (plant.L_3 * s) * x - μ_2 / (plant.L_2 * s) * y for x, y in zip(e_2, e_3)]
    f_B = [n + f for n, f in zip(nets[1], f_C)]
    torque = nets[0][2] + across(crank.far, nets[0]) + across([2 * c for c in crank.far], f_B)
    return Balance(nets, f_B, f_C, torque / plant.lever(z_1))


@final
@dataclass(frozen=True)
class ForcePosition(Controller):
    """Virtual decomposition control of a four-bar's crank angle through the force of its cylinder.

        ż_r  = ż_d + λ (z_d − z_1),   V_r of crank, coupler, rocker from ż_r by the closed loop
        F_r* = M_A V̇_r + G_A + κ M_A (V_r − V)            every bar about its centre
        f_cr from the bars' balance: pin C, pin B, cylinder
        f_pr = f_cr + f_fr                                 friction at the required speed
        u_fr = ḟ_pr/β + h ṡ + k_x (ṡ_r − ṡ) + k_f (f_pr − f_p)
        U    = inverse of valve and throttle in series     (`plants.components.circuit_inverse`), within ±U_max

    model       the four-bar as the controller knows it (truth and model are two objects)
    derivative  how ḟ_pr is formed: exact along the model's acceleration ("model"), along the desired one ("desired"), "zero"
    states      the observed states of a friction law with memory
    references  z_1_d and its three derivatives
    The spool's lag and the oil between valve and throttle are what it does not know. Raises ValueError for gains that are
    not positive.

    Source: [Petrovic22] (8), (90)–(93) on the plant of [Jaiswal21].
    """

    model: FourBar
    λ: Annotated[float, Unit("1/s"), "position gain", positive] = 8.0
    κ: Annotated[float, Unit("1/s"), "velocity gain per mass, K_A = κ M_A", positive] = 10.0
    k_x: Annotated[float, Unit("m"), "velocity gain of the actuator", positive] = 6e-3
    βk_f: Annotated[
        float, Unit("1/s"), "force gain of the actuator times the bulk modulus", positive
    ] = 60.0
    derivative: Literal["model", "desired", "zero"] = "model"

    def __post_init__(self):
        if why := self.unfit(self.model):
            raise why.at(key="model")
        check_bounds(self)
        if self.derivative not in ("model", "desired", "zero"):
            raise InputError(
                f"derivative: there is no {self.derivative!r}; choose from model, desired, zero"
            )

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        if isinstance(model, FourBar):
            return None
        return InputError(
            f"ForcePosition: {type(model).__name__} is no four-bar",
            mend="choose VDC for a crane, PID for any plant",
        )

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def measured(self):
        at = {s.name: s for s in self.model.outputs}
        return tuple(at[name] for name in ("z_1", "dz_1", "p_2", "p_3"))

    @property
    def commands(self):
        return self.model.inputs

    @property
    def references(self):
        rate = lambda k: "rad" + ("" if k == 0 else "/s" if k == 1 else f"/s^{k}")
        return tuple(
            Signal(
                target_name("z_1", k), rate(k), f"desired crank angle, derivative {k}", "reference"
            )
            for k in range(4)
        )

    @property
    def states(self):
        return tuple(
            Signal(f"{s.name}_observed", s.unit, f"observed {s.meaning}")
            for s in self.friction.states("c")
        )

    @property
    def monitors(self):
        return Signal("f_pr", "N", "required force of the oil"), Signal(
            "e_z_1", "rad", "tracking error of the crank angle"
        )

    @property
    def friction(self):
        return self.model.circuit.friction

    # ---- the law ----------------------------------------------------------------------------------------------------
    def required_motion(self, z_1, ż_1, τ):
        """ż_r, z̈_r."""
        return τ[1] + self.λ * (τ[0] - z_1), τ[2] + self.λ * (τ[1] - ż_1)

    def fed_back(self, plant: FourBar, z_1, Δż):
        """κ M_A (V_r − V) with the model's M_A on the bars of `plant`, and V_r − V."""
        made, pose = bars(plant, z_1)
        own, _ = bars(self.model, z_1)
        ΔV, _ = motion(plant, z_1, pose, Δż, 0.0, 0.0)
        return [[self.κ * w * c for w, c in zip((b.m, b.m, b.I), e_)] for b, e_ in zip(own, ΔV)], ΔV

    def required(self, z_1, ż_1, ż_r, z̈_r, plant: FourBar | None = None) -> Balance:
        """Required forces on the bars of `plant` (the model's by default), with the applied K_A."""
        plant = plant or self.model
        made, pose = bars(plant, z_1)
        _, A_r = motion(plant, z_1, pose, ż_r, ż_1, z̈_r)
        fed, _ = self.fed_back(plant, z_1, ż_r - ż_1)
        return balance(plant, z_1, made, pose, A_r, fed)

    def required_force(self, z_1, ż_1, τ, ẑ):
        """f_pr = f_cr + f_fr, and the observer's rates."""
        ż_r, z̈_r = self.required_motion(z_1, ż_1, τ)
        lever = self.model.lever(z_1)
        f_fr, rates = self.friction.observer(lever * ż_1, lever * ż_r, ẑ)
        return self.required(z_1, ż_1, ż_r, z̈_r).f_c + f_fr, rates

    def force_rate(self, z_1, ż_1, z̈_1, τ, ẑ, ẑ_rate):
        """Exact ḟ_pr along z̈_1 and the reference's own motion."""
        f = lambda s: [self.required_force(s[0], s[1], s[2:5], s[5:])[0]]
        return directional(f, [z_1, ż_1, *τ[:3], *ẑ], [ż_1, z̈_1, *τ[1:4], *ẑ_rate])[0]

    def acceleration(self, z_1, ż_1, p_2, p_3, τ, ẑ):
        """z̈_1 that `derivative` differentiates along."""
        if self.derivative == "desired":
            return τ[2]
        m, c = self.model, self.model.circuit
        pose, lever = m.pose(z_1), m.lever(z_1)
        M, slope = m.inertia(z_1, pose)
        force = c.A_2 * p_2 - c.A_3 * p_3 - self.friction.force(lever * ż_1, ẑ)
        return (force * lever - m.weight(z_1, pose) - slope * ż_1 * ż_1) / M

    def flow_command(self, z_1, ż_1, p_2, p_3, f_pr, f_pr_rate, ż_r):
        """u_fr and the voltage that gives it, unlimited."""
        m, c = self.model, self.model.circuit
        s, lever = m.length(z_1), m.lever(z_1)
        u_fr = (
            f_pr_rate / c.B_oil
            + drift(c, s, lever * ż_1)
            + self.k_x * lever * (ż_r - ż_1)
            + self.βk_f / c.B_oil * (f_pr - (c.A_2 * p_2 - c.A_3 * p_3))
        )
        return u_fr, invert(c, s, p_2, p_3, u_fr)

    def law(self, z, y, r, f_pr_rate=None):
        """(U within limits, f_pr, ẑ̇, U unlimited) at one instant; ḟ_pr as `derivative` says unless given."""
        (z_1, ż_1, p_2, p_3), ẑ = y, list(z)
        f_pr, rates = self.required_force(z_1, ż_1, r, ẑ)
        if f_pr_rate is None:
            f_pr_rate = 0.0
            if self.derivative != "zero":
                f_pr_rate = self.force_rate(
                    z_1, ż_1, self.acceleration(z_1, ż_1, p_2, p_3, r, ẑ), r, ẑ, rates
                )
        _, U = self.flow_command(
            z_1, ż_1, p_2, p_3, f_pr, f_pr_rate, self.required_motion(z_1, ż_1, r)[0]
        )
        limit = self.model.circuit.limit
        return np.clip(U, -limit, limit), f_pr, rates, U

    # ---- the contract -----------------------------------------------------------------------------------------------
    def command(self, t, z, y, r):
        return [self.law(z, y, r)[0]]

    def rhs(self, t, z, y, r):
        return self.required_force(y[0], y[1], r, list(z))[1]

    def step_at(self, T_s, t, z, y, r):
        U, _, rates, _ = self.law(z, y, r)
        speed = self.model.lever(y[0]) * y[1]
        return (self.friction.after(T_s, speed, list(z), rates) if self.states else []), [U]

    def monitor(self, t, z, y, r):
        return [self.required_force(y[0], y[1], r, list(z))[0], r[0] - y[0]]

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`."""
        from controllers.force_position_ledger import ForcePositionLedger

        return ForcePositionLedger(self, plant)
