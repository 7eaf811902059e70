"""Virtual decomposition control of a crane whose cylinders stand behind quasistatic metering valves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal, NamedTuple, final

import numpy as np

from controllers.vdc import VDC, BodyGain, Required
from plants.metered_crane import MeteredCrane
from plants.valve_circuits.inverse import Opening
from workbench.errors import InputError
from workbench.parameters import Unit, check_bounds, nonnegative, positive
from workbench.system import Controller, Signal

LARGEST = 4.0  # τ K k_f beyond which the actuators' dissipation is no sum of squares


class Measured(NamedTuple):
    """What the law reads: q, q̇, f_K = K (p − x) of each cylinder, P; and the reference τ_d with two derivatives."""

    q: list
    qd: list
    f_K: list
    P: object
    τ: list


class Sought(NamedTuple):
    """What the law forms at one instant, per cylinder: required motion and forces of the bodies, f_r, ḟ_Kr, ẑ̇, ṗ_r, valves."""

    need: Required
    f_r: list
    f_Kr_rate: list
    ẑ_rate: list
    v_r: list
    openings: list[Opening]


@final
@dataclass(frozen=True)
class MeteredVDC(Controller):
    """Virtual decomposition control behind quasistatic valves.

        q̇_r, F_r*, f_cr               required motion and forces of every body, as in `VDC`     (35)–(48), (70)–(77)
        f_r   = f_cr + f_fr                                                                      (78)
        τ ḟ_Kr = f_r − f_Kr            what of f_r the oil's spring carries
        ṗ_r   = ẋ + ḟ_Kr/K + k_x (ẋ_r − ẋ) + k_f (f_Kr − f_K)                                    in place of (90), (92)
        u     = opening at which the section moves at ṗ_r under f_K + B (ṗ_r − ẋ) and P          `valve_circuits.inverse`

    The valves put a piston at p, the linkage has it at x; K (p − x) = f_K is the oil's spring and f = f_K + B (ṗ − ẋ) the force,
    B = τ K. So ḟ_K = K (ṗ − ẋ): a cylinder's pressure equation with ṗ in place of the oil's flow. Since f_K is f behind a filter
    of time constant τ, a required f_Kr behind the same filter makes f_r, damping included, exact: ḟ_r is not needed, and no
    perturbation is left. With K k_f = 1/τ the memory f_Kr cancels: ṗ_r = ẋ + k_x (ẋ_r − ẋ) + (f_r − f_K)/B.

    model    the plant as the law knows it (truth and model are two objects)
    space, λ, κ, K_I, gains   as in `VDC`
    measured q, q̇, P, and f_K: on a machine A_a P_h − A_b P_r behind a filter of time constant τ
    states   friction's observers, f_Kr
    Openings beyond ±1 are left to the valves, which end there. Where no opening gives ṗ_r (too little pressure) the largest is
    asked for: `certificate` names both. One entry of k_x, Kk_f serves all actuators, else one each. Raises ValueError for
    numbers out of range, InputError for another plant.

    Source: [Petrovic22] (35)–(48), (70)–(78), (90)–(93) on the plant of [Kikuuwe21] (68)–(70); f_Kr and the inverse are ours.
    """

    model: MeteredCrane
    space: Literal["joint", "piston", "cartesian"] = "joint"
    λ: Annotated[tuple[float, ...], Unit("1/s"), "position gains", positive] = (8.0,)
    κ: Annotated[float, Unit("1/s"), "velocity gain per mass, K_A = κ M_A + K_I 1", nonnegative] = 10.0
    K_I: Annotated[float, Unit("1"), "velocity gain added on the diagonal of every K_A (N s/m, N m s)", nonnegative] = 0.0
    k_x: Annotated[tuple[float, ...], Unit("1"), "velocity gain of the actuators", positive] = (1.0,)
    Kk_f: Annotated[tuple[float, ...], Unit("1/s"), "force gain of the actuators times the oil's stiffness", positive] = (60.0,)
    gains: tuple[BodyGain, ...] = ()

    def __post_init__(self):
        if why := self.unfit(self.model):
            raise why
        check_bounds(self)
        VDC(**{name: getattr(self, name) for name in _SHARED}, model=self.model.crane)  # which checks its own
        for field in ("k_x", "Kk_f"):
            if len(getattr(self, field)) not in (1, self.model.n):
                raise ValueError(f"{field}: expected 1 or {self.model.n} numbers, one per actuator, "
                                 f"got {len(getattr(self, field))}")
        if max(self.Kk_f) * self.model.τ >= LARGEST:
            raise ValueError(f"Kk_f: {max(self.Kk_f):g} 1/s with damping τ = {self.model.τ:g} s of the oil gives the force error "
                             f"power; it must be below {LARGEST:g}/τ = {LARGEST / self.model.τ:g} 1/s")

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        if isinstance(model, MeteredCrane):
            return None
        like = "VDC for a crane with servo valves" if hasattr(model, "structures") else "PID"
        return InputError(f"MeteredVDC: {type(model).__name__} is no crane behind metering valves (MeteredCrane)",
                          mend=f"choose {like}")

    @property
    def bodies(self) -> VDC:
        """The law of the bodies alone. Not checked here: its numbers may be expressions."""
        law = object.__new__(VDC)
        own = {name: getattr(self, name) for name in _SHARED} | {"model": self.model.crane}
        for field in fields(VDC):
            object.__setattr__(law, field.name, own.get(field.name, field.default))
        return law

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def measured(self):
        at = {s.name: s for s in self.model.outputs}
        return (*self.model.outputs[: 2 * self.model.n], *(at[f"f_K_{k}"] for k in self.model.labels), at["P"])

    @property
    def commands(self):
        return self.model.inputs[: self.model.n]

    @property
    def references(self):
        return self.bodies.references[: 3 * self.model.n]

    @property
    def states(self):
        return (*self.bodies.states, *(Signal(f"f_Kr_{k}", "N", f"{s.name} force required of the oil's spring")
                                       for k, s in zip(self.model.labels, self.model.segments)))

    @property
    def monitors(self):
        own = (Signal(f"f_r_{k}", "N", f"{s.name} required force") for k, s in zip(self.model.labels, self.model.segments))
        return (*own, *self.bodies.monitors[self.model.n:])

    def per_rod(self, values) -> list:
        """One number an actuator."""
        return list(values) * self.model.n if len(values) == 1 else list(values)

    @property
    def observers(self) -> int:
        """How many states friction's observers have."""
        return len(self.states) - self.model.n

    # ---- the law ----------------------------------------------------------------------------------------------------
    def parts(self, y, r) -> Measured:
        """Measurement and reference by meaning."""
        n = self.model.n
        return Measured(list(y[:n]), list(y[n: 2 * n]), list(y[2 * n: 3 * n]), y[3 * n],
                        [list(r[k * n: (k + 1) * n]) for k in range(3)])

    def required(self, m: Measured, ẑ) -> tuple[Required, list, list]:
        """Required motion and forces of the bodies, f_r, and the observers' rates."""
        law = self.bodies
        need = law.required(m.q, m.qd, *law.required_motion(m.q, m.qd, *m.τ))
        f_fr, ẑ_rate = law.rubbing(need.xd, need.xd_r, ẑ)
        return need, [a + b for a, b in zip(need.f_c, f_fr)], ẑ_rate

    def sought(self, z, y, r) -> Sought:
        """Everything the law forms at one instant."""
        m, k, plant = self.parts(y, r), self.observers, self.model
        need, f_r, ẑ_rate = self.required(m, list(z[:k]))
        rate = [(f - g) / plant.τ for f, g in zip(f_r, z[k:])]
        v_r = self.rods(need.xd, need.xd_r, m.f_K, z[k:], rate, plant.stiffness(), plant.stiffness())
        f = [g + plant.τ * K * (v - d) for g, K, v, d in zip(m.f_K, plant.stiffness(), v_r, need.xd)]
        return Sought(need, f_r, rate, ẑ_rate, v_r, plant.openings(v_r, f, m.P))

    def rods(self, xd, xd_r, f_K, f_Kr, f_Kr_rate, K, known) -> list:
        """ṗ_r with the stiffness K of the oil; `known`: the K that the gain k_f is made of."""
        return [d + rate / k + k_x * (d_r - d) + g / own * (wanted - f) for d, d_r, f, wanted, rate, k, own, k_x, g in
                zip(xd, xd_r, f_K, f_Kr, f_Kr_rate, K, known, self.per_rod(self.k_x), self.per_rod(self.Kk_f))]

    # ---- the contract -----------------------------------------------------------------------------------------------
    def command(self, t, z, y, r):
        return [o.u for o in self.sought(z, y, r).openings]

    def rhs(self, t, z, y, r):
        found = self.sought(z, y, r)
        return [*found.ẑ_rate, *found.f_Kr_rate]

    def step_at(self, T_s, t, z, y, r):
        found, m, k = self.sought(z, y, r), self.parts(y, r), self.observers
        left = np.exp(-T_s / self.model.τ)
        ẑ = self.bodies.observe(T_s, m.q, m.qd, list(z[:k]), found.ẑ_rate)
        return [*ẑ, *(f + left * (g - f) for f, g in zip(found.f_r, z[k:]))], [o.u for o in found.openings]

    def start(self, t, z, y, r):
        k = self.observers
        return [*z[:k], *self.required(self.parts(y, r), list(z[:k]))[1]]

    def monitor(self, t, z, y, r):
        m = self.parts(y, r)
        return [*self.required(m, list(z[: self.observers]))[1],
                *(d - at for d, at in zip(m.τ[0], self.model.task(self.space, m.q)))]

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`."""
        from controllers.metered_vdc_ledger import MeteredVDCLedger

        return MeteredVDCLedger(self, plant)


_SHARED = ("space", "λ", "κ", "K_I", "gains")
