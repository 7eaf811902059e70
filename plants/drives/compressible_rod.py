"""A cylinder or a motor behind four metering valves, with oil that can be compressed: its chambers' pressures are states.

    V_h/β Ṗ_h = Q_ph − Q_th + Q_a − Q_ho − A_h ẋ                                 head side
    V_r/β Ṗ_r = Q_pr − Q_tr − Q_a − Q_ro + A_r ẋ                                 rod side
    f = A_h P_h − A_r P_r = K (x − i s) + B (ẋ − i ṡ),   F = i f                  rod without mass
    Q_ph = k_ph R⁺(P − P_h),  Q_pr = k_pr R⁺(P − P_r),  Q_th = k_th R(P_h),  Q_tr = k_tr R(P_r),  Q_a = k_a R⁺(P_r − P_h)
    Q_ho = G ((P_h − P_hM)⁺ − (−P_h)⁺),  Q_ro likewise                           relief, less what the suction check draws

Pressures are above the return's, P = p_s − p_r. R is the root of `components.orifice` over the width w, R⁺ its positive part (an
orifice behind a check). As β, G → ∞ and w → 0 it turns into the `MeteredRod` it is made of, whose section, command, stiffness and
damping it has. Volumes do not change with the stroke. Through u_c = 0 the rates of the pressures have two slopes: a command to one
side opens the pump to the head, a command to the other side opens the pump to the rod side.

Source: [Merritt67] lumped pressures; [Kikuuwe21] (39) is the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, final

import numpy as np

from plants.components.friction import Frictionless
from plants.components.orifice import root
from plants.delegation import of
from plants.drives.contract import Drive
from plants.drives.metered_rod import MeteredRod
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal

VALVES = ("ph", "pr", "th", "tr", "a", "h_limits", "r_limits")


class Flows(NamedTuple):
    """Through the valves of one section, m³/s; Q_ho, Q_ro out through reliefs, negative in through suction checks."""

    Q_ph: object
    Q_pr: object
    Q_th: object
    Q_tr: object
    Q_a: object
    Q_ho: object
    Q_ro: object


class Filled(NamedTuple):
    """The rod at work: pressures of pump and chambers above the return [Pa], ẋ [m/s], f [N], areas [m²], flows."""

    P: object
    P_h: object
    P_r: object
    speed: object
    force: object
    areas: list
    flows: Flows


@final
@dataclass(frozen=True)
class CompressibleRod(Drive):
    """A cylinder behind metering valves, with oil that can be compressed; equations in `plants.drives.compressible_rod`.

    States: x [m], P_h, P_r [Pa] above the return. Inputs: those of its `MeteredRod`, the field `rod`.
    """

    needs_supply: ClassVar[bool] = True
    anywhere: ClassVar[bool] = True
    cuts_commands: ClassVar[bool] = True
    loop_rate: ClassVar[float] = MeteredRod.loop_rate
    limit: ClassVar[float] = MeteredRod.limit
    just_shut: ClassVar[float] = 0.0
    valves: ClassVar[tuple[str, ...]] = VALVES
    friction: ClassVar[Frictionless] = Frictionless()

    rod: MeteredRod
    β: Annotated[float, Unit("Pa"), "bulk modulus of oil and hoses", positive] = 1.0e9
    V_h: Annotated[float, Unit("m^3"), "volume of the head side with its hose", positive] = 10e-3
    V_r: Annotated[float, Unit("m^3"), "volume of the rod side with its hose", positive] = 6e-3
    G: Annotated[float, Unit("m^3/(s Pa)"), "slope of reliefs and suction checks", positive] = (
        2.5e-6
    )
    w: Annotated[float, Unit("Pa"), "width of the roots at zero pressure drop", positive] = 1e3

    turns = of("rod.turns")
    limits = of("rod.limits")
    areas = of("rod.areas")
    bears = of("rod.bears")
    bears_by = of("rod.bears_by")
    sizes = of("rod.sizes")
    velocity_gain_on = of("rod.velocity_gain_on")
    pressure_limits = of("rod.pressure_limits")
    machine_limits = of("rod.machine_limits")
    inputs = of("rod.inputs")
    pressures = of("rod.pressures")

    def __post_init__(self):
        check_bounds(self)

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label):
        sides = (("h", "head"), ("r", "rod"))
        return (
            *self.rod.states(label),
            *(Signal(f"P_{key}_{label}", "Pa", f"{side} side of {label}") for key, side in sides),
        )

    def logged(self, label):
        return tuple(s for s in self.rod.logged(label) if s.name not in self.pressures(label))

    def power_names(self, label):
        return tuple(f"{cause}_{label}" for cause in ("supply", "tank", *VALVES, "element"))

    def step_errors(self, label):
        return (1e-10, 10.0, 10.0)

    # ---- the equations ------------------------------------------------------------------------------------------------
    def limited(self, p, top):
        """Out through the relief, less in through the suction check, m³/s."""
        return self.G * (np.maximum(p - top, 0.0) - np.maximum(-p, 0.0))

    def flows(self, row, P, P_h, P_r) -> Flows:
        """Through all valves of a section, its row as `Circuit.rows` has it."""
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

    def row(self, u) -> list:
        """The section at the inputs u, as `Circuit.rows` has it."""
        return self.rod.opened(u[0], self.rod.regenerated(u))

    def at_work(self, x, s, sdot, u, line) -> Filled:
        _, P_h, P_r = x
        P = line.p_s - line.p_r
        row = self.row(u)
        force = row[0] * P_h - row[1] * P_r
        held = self.rod.spring(x, s) - self.rod.B * self.rod.i * sdot
        speed = (force - held) / self.rod.B
        return Filled(P, P_h, P_r, speed, force, row[:2], self.flows(row, P, P_h, P_r))

    def force(self, x, s, sdot, u, line):
        return self.rod.i * self.at_work(x, s, sdot, u, line).force

    def rates(self, x, s, sdot, u, line):
        at = self.at_work(x, s, sdot, u, line)
        q, (A_h, A_r) = at.flows, at.areas
        return [
            at.speed,
            self.β / self.V_h * (q.Q_ph - q.Q_th + q.Q_a - q.Q_ho - A_h * at.speed),
            self.β / self.V_r * (q.Q_pr - q.Q_tr - q.Q_a - q.Q_ro + A_r * at.speed),
        ]

    def flow(self, x, s, sdot, u, line):
        q = self.at_work(x, s, sdot, u, line).flows
        return q.Q_ph + q.Q_pr

    def port(self, x, s, sdot, u, line, w):
        o = u[0] / w
        return line.p_r + x[1] * np.clip(o, 0.0, 1.0) + x[2] * np.clip(-o, 0.0, 1.0)

    def shown(self, x, s, sdot, u, line):
        at = self.at_work(x, s, sdot, u, line)
        return [x[0] - self.rod.i * s, at.speed, at.force]

    def stored(self, x, s):
        _, P_h, P_r = x
        oil = self.V_h * P_h * P_h + self.V_r * P_r * P_r
        return self.rod.stored(x, s) + oil / (2 * self.β)

    def powers(self, x, s, sdot, u, line):
        at = self.at_work(x, s, sdot, u, line)
        q = at.flows
        taken = q.Q_ph + q.Q_pr
        return [
            line.p_s * taken,
            -line.p_r * taken,
            -q.Q_ph * (at.P - at.P_h),
            -q.Q_pr * (at.P - at.P_r),
            -q.Q_th * at.P_h,
            -q.Q_tr * at.P_r,
            -q.Q_a * (at.P_r - at.P_h),
            -q.Q_ho * at.P_h,
            -q.Q_ro * at.P_r,
            -self.rod.B * (at.speed - self.rod.i * sdot) ** 2,
        ]

    def initial(self, s, force, line):
        """At rest, the chamber that need not push at the return's pressure."""
        f = force / self.rod.i
        P_h = max(f, 0.0) / self.rod.section.A_h
        P_r = max(-f, 0.0) / self.rod.section.A_r
        return [*self.rod.initial(s, force, line), P_h, P_r]
