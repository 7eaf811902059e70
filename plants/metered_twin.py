"""The smooth twin of quasistatic metered arms: the same valves with oil that can be compressed, lumped into volumes.

    V_p/β Ṗ   = Q − k_b R(P) − Q_M − Σ_j (Q_ph + Q_pr)                          pump's line
    V_h/β Ṗ_h = Q_ph − Q_th + Q_a − Q_ho − A_h v                                head side of each arm
    V_r/β Ṗ_r = Q_pr − Q_tr − Q_a − Q_ro + A_r v                                rod side
    B v = A_h P_h − A_r P_r − f̄                                                 rod without mass, f̄ as in `metered_arms`

    Q_ph = k_ph R⁺(P − P_h),  Q_pr = k_pr R⁺(P − P_r),  Q_th = k_th R(P_h),  Q_tr = k_tr R(P_r),  Q_a = k_a R⁺(P_r − P_h)
    Q_M = G (P − P_M)⁺,  Q_ho = G ((P_h − P_hM)⁺ − (−P_h)⁺),  Q_ro likewise    relief, less what the suction check draws

R is the root of `components.orifice` over the width w, R⁺ its positive part (orifice behind a check). As β, G → ∞ and w → 0 each
balance turns into one of (39) and the twin into `MeteredArms`, which it holds as `of`: commands, arms, reliefs and signals are
that one's. Volumes do not change with the stroke; v is solved from the third equation, so that both models have the same K and B.

Source: [Merritt67] lumped pressures; [Kikuuwe21] (39) is the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, NamedTuple, final

import numpy as np

from plants.components.orifice import root
from plants.metered_arms import MeteredArms
from workbench.contract.machine_limits import Limit
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal, System
from workbench.numerics.adaptive import Adaptive

_VALVES = ("ph", "pr", "th", "tr", "a", "h_limits", "r_limits")


class Flows(NamedTuple):
    """Through the valves of one section, m³/s; Q_ho, Q_ro out through reliefs, negative in through suction checks."""

    Q_ph: object
    Q_pr: object
    Q_th: object
    Q_tr: object
    Q_a: object
    Q_ho: object
    Q_ro: object


@final
@dataclass(frozen=True)
class MeteredTwin(System):
    """Equations in the module's docstring. Inputs as of `MeteredArms`. Raises ValueError for numbers out of range.

    It starts at rest: each rod carries its arm, with the chamber that need not push at the tank's pressure.
    """

    name: str = "metered arm, compressible oil"
    of: MeteredArms = MeteredArms()
    β: Annotated[float, Unit("Pa"), "bulk modulus of oil and hoses", positive] = 1.0e9
    V_h: Annotated[float, Unit("m^3"), "volume of each head side with its hose", positive] = 10e-3
    V_r: Annotated[float, Unit("m^3"), "volume of each rod side with its hose", positive] = 6e-3
    V_p: Annotated[float, Unit("m^3"), "volume of the pump's line", positive] = 3e-3
    G: Annotated[float, Unit("m^3/(s Pa)"), "slope of reliefs and suction checks", positive] = (
        2.5e-6
    )
    w: Annotated[float, Unit("Pa"), "width of the roots at zero pressure drop", positive] = 1e3

    def __post_init__(self):
        check_bounds(self)

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def names(self) -> tuple[str, ...]:
        return self.of.names

    @property
    def states(self):
        sides = (("h", "head"), ("r", "rod"))
        own = [
            Signal(f"P_{key}_{name}", "Pa", f"{side} side of arm {name}")
            for name in self.names
            for key, side in sides
        ]
        return (*self.of.states, *own, Signal("P", "Pa", "pressure of the pump"))

    @property
    def inputs(self):
        return self.of.inputs

    @property
    def outputs(self):
        return self.of.outputs

    @property
    def monitors(self):
        return tuple(
            s for s in self.of.monitors if s.name not in (*self.pressure_names, "P", "r_P")
        )

    @property
    def pressure_names(self):
        return self.of.pressure_names

    @property
    def power_names(self):
        return (
            "pump",
            "bleed",
            "relief",
            *(f"{valve}_{n}" for n in self.names for valve in (*_VALVES, "element", "tip")),
        )

    @property
    def adaptive(self):
        """Angles to 1e-9 rad, rods to 1e-10 m, pressures to 10 Pa a step."""
        n = len(self.names)
        return Adaptive((1e-9, 1e-8, 1e-10) * n + (10.0,) * (2 * n + 1))

    cuts_commands = True  # an opening beyond fully open is none

    @property
    def velocity_gain(self) -> float:
        """As of `MeteredArms`: standing pressures know nothing of the oil's stiffness."""
        return self.of.velocity_gain

    @property
    def loop_rate(self) -> float:
        """As of `MeteredArms`, K in series with the oil shut in."""
        oil = [
            self.β * (a.section.A_h**2 / self.V_h + a.section.A_r**2 / self.V_r)
            for a in self.of.arms
        ]
        return self.of.borne([a.K * k / (a.K + k) for a, k in zip(self.of.arms, oil)])

    def limits(self):
        return self.of.limits()

    def as_shipped(self):
        return MeteredTwin()

    def scales(self):
        return self.of.scales()

    @property
    def pressure_limits(self):
        return self.of.pressure_limits

    def machine_limits(self):
        """Those of the arms, and the pump's relief when it takes all of Q."""
        pump = self.of.pump
        own = Limit(
            "pressure of the pump",
            ("P",),
            -inf,
            pump.P_M + pump.Q / self.G,
            "Pa",
            "pressure",
            "the pump's relief with all of Q",
            "of.pump.P_M",
        )
        return (*self.of.machine_limits(), own)

    def holding(self, x, u):
        """As of the arms."""
        return self.of.holding(x, u)

    def valve_account(self, log):
        """As of `MeteredArms`; pressures are states here, and what a suction check lets in follows from how far below the tank."""
        from plants.valve_circuits.accounts import of_twin

        return of_twin(self, log)

    def initial(self):
        found, pressures = [], []
        for a in self.of.arms:
            f = self.carried(a)
            found += [a.θ_0, 0.0, a.length(a.θ_0) + f / a.K]
            pressures += [max(f, 0.0) / a.section.A_h, max(-f, 0.0) / a.section.A_r]
        return [*found, *pressures, min(self.of.pump.P_M, self._bled())]

    def carried(self, arm):
        """Force of a rod that holds its arm at the start, N."""
        return -arm.torque(arm.θ_0, 0.0, 0.0, self.of.g) / arm.lever(arm.θ_0)

    def _bled(self):
        Q, _, k_b = self.of.supply
        return (Q / k_b) ** 2 if k_b > 0 else np.inf

    # ---- equations --------------------------------------------------------------------------------------------------
    def limited(self, p, top):
        """Out through the relief, less in through the suction check, m³/s."""
        return self.G * (np.maximum(p - top, 0.0) - np.maximum(-p, 0.0))

    def section(self, row, P, P_h, P_r) -> Flows:
        """Flows of one section with its row as `Circuit.rows` has it."""
        one_way = lambda dp: root(np.maximum(dp, 0.0), self.w)
        return Flows(
            row[4] * one_way(P - P_h),
            row[5] * one_way(P - P_r),
            row[6] * root(P_h, self.w),
            row[7] * root(P_r, self.w),
            row[8] * one_way(P_r - P_h),
            self.limited(P_h, row[2]),
            self.limited(P_r, row[3]),
        )

    def _parts(self, x, u):
        """Of each arm: arm, row, θ, θ̇, x, P_h, P_r, f, v, flows; and P, flows through bleed and relief."""
        n, P, found = len(self.names), x[-1], []
        for j, (a, row) in enumerate(zip(self.of.arms, self.of.rows(u))):
            θ, θ̇, p = x[3 * j : 3 * j + 3]
            P_h, P_r = x[3 * n + 2 * j : 3 * n + 2 * j + 2]
            f = row[0] * P_h - row[1] * P_r
            found.append(
                (
                    a,
                    row,
                    θ,
                    θ̇,
                    p,
                    P_h,
                    P_r,
                    f,
                    (f - a.held(θ, θ̇, p)) / a.B,
                    self.section(row, P, P_h, P_r),
                )
            )
        _, P_M, k_b = self.of.supply
        return found, P, k_b * root(P, self.w), self.G * np.maximum(P - P_M, 0.0)

    def rhs(self, t, x, u):
        parts, P, Q_b, Q_M = self._parts(x, u)
        moved, filled, left = [], [], self.of.pump.Q - Q_b - Q_M
        for (a, row, θ, θ̇, _, _, _, f, v, q), f_ey in zip(parts, u[-len(self.names) :]):
            moved += [θ̇, a.torque(θ, f, f_ey, self.of.g) / a.inertia, v]
            filled += [
                self.β / self.V_h * (q.Q_ph - q.Q_th + q.Q_a - q.Q_ho - row[0] * v),
                self.β / self.V_r * (q.Q_pr - q.Q_tr - q.Q_a - q.Q_ro + row[1] * v),
            ]
            left = left - q.Q_ph - q.Q_pr
        return [*moved, *filled, self.β / self.V_p * left]

    def out(self, t, x):
        return self.of.out(t, x[: 3 * len(self.names)])

    def monitor(self, t, x, u):
        shown = []
        for a, _, θ, _, p, _, _, f, v, _ in self._parts(x, u)[0]:
            shown += [a.length(θ), v, f, p - a.length(θ)]
        return shown

    # ---- energy -----------------------------------------------------------------------------------------------------
    def powers(self, t, x, u):
        """W, by cause: the pump's, what each valve takes, what lies between rod and arm takes, and the tip's."""
        parts, P, Q_b, Q_M = self._parts(x, u)
        found = [self.of.pump.Q * P, -Q_b * P, -Q_M * P]
        for (a, _, θ, θ̇, _, P_h, P_r, _, v, q), f_ey in zip(parts, u[-len(self.names) :]):
            found += [
                -q.Q_ph * (P - P_h),
                -q.Q_pr * (P - P_r),
                -q.Q_th * P_h,
                -q.Q_tr * P_r,
                -q.Q_a * (P_r - P_h),
                -q.Q_ho * P_h,
                -q.Q_ro * P_r,
                -a.B * (v - a.lever(θ) * θ̇) ** 2,
                a.L_f * np.cos(θ) * θ̇ * f_ey,
            ]
        return found

    def stored(self, t, x, u):
        """Energy of the arms, of what lies between, and of compressed oil, J."""
        n, P = len(self.names), x[-1]
        oil = self.V_p * P * P
        for j in range(n):
            P_h, P_r = x[3 * n + 2 * j : 3 * n + 2 * j + 2]
            oil = oil + self.V_h * P_h * P_h + self.V_r * P_r * P_r
        return self.of.stored(t, x[: 3 * n], u) + oil / (2 * self.β)
