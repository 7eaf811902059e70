"""A cylinder (or a motor) behind quasistatic metering valves under virtual decomposition control.

    τ ḟ_Kr = f_pr − f_Kr                   what of f_pr the oil's spring carries, τ = B/K: a memory of the law
    ṙ_r    = ẋ + ḟ_Kr/K + k_m (ẋ_r − ẋ) + k_f (f_Kr − f_K)                                   in place of (90), (92)
    u      = opening at which the section moves at ṙ_r under f_K + B (ṙ_r − ẋ) and the pump's pressure

The valves put a piston at r, the mechanism has it at x; f_K = K (r − x) is the spring between, f = f_K + B (ṙ − ẋ) the force.
So ḟ_K = K (ṙ − ẋ): a cylinder's pressure equation with ṙ in place of the oil's flow. Since f_K is f behind a filter of time
constant τ, a required f_Kr behind the same filter makes f_pr, damping included, exact: ḟ_pr is not needed, and no perturbation is
left. With K k_f = 1/τ the memory f_Kr cancels: ṙ_r = ẋ + k_m (ẋ_r − ẋ) + (f_pr − f_K)/B. Where the pump's pressure is no state, it
is the one at which all rods move at their ṙ_r: they share the pump before they move.

    v_p = Δf²/(2 K k_m) + friction's storage,   Δf = f_Kr − f_K,   Δẋ = ẋ_r − ẋ
    D_p = (k_f/k_m)(1 − B k_f/4) Δf² + B k_m (Δẋ + k_f Δf/(2 k_m))²

f_K is measured, or read from the piston's place r behind the valves. The drive's own friction is observed.

Source: [Petrovic22] (90)–(93) on the plants of [Kikuuwe21] (68)–(70); f_Kr and the inverse are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, final

import numpy as np

from controllers.vdc.drives.metered_drive import Metering, settling
from controllers.vdc.part import Given, Part
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.valve_circuits.inverse import opening, whole
from workbench.contract.errors import InputError
from workbench.contract.system import Signal

LARGEST = 4.0  # B k_f beyond which the dissipation is no sum of squares


@final
@dataclass(frozen=True)
class MeteredPart(Part):
    """See the module; forces and speeds of the rod are those of the drive's line over and times its gear i. Kk_f in 1/s."""

    serves: ClassVar[tuple[type, ...]] = (MeteredSection, MeteredRod)
    takes: ClassVar[tuple[str, ...]] = ("k_m", "Kk_f")
    needs_rate: ClassVar[bool] = False

    label: str
    drive: Metering
    k_m: Any
    Kk_f: Any

    def check(self) -> None:
        if self.drive.regeneration != "none":
            raise InputError(
                f"VDC: {self.label} has regeneration, which its inverse of the valves does not know",
                mend="leave regeneration out, or choose PID",
            )
        τ = settling(self.drive)
        if self.Kk_f * τ >= LARGEST:
            raise InputError(
                f"Kk_f: {self.Kk_f:g} 1/s with damping τ = B/K = {τ:g} s of the oil of {self.label} gives the "
                f"force error power; it must be below {LARGEST:g}/τ = {LARGEST / τ:g} 1/s"
            )

    @property
    def measured(self):
        felt = self.drive.sensed(self.label) or self.drive.states(self.label)
        return (felt[0].name,)

    def felt(self, p, s):
        """f_K as it is measured, or by the place of the rod behind the valves."""
        return p[0] if self.drive.sensed(self.label) else self.drive.spring(p, s)

    def acting(self, drive: Metering, x, s):
        """The true f_K."""
        return drive.spring(x, s)

    @property
    def _bristles(self) -> tuple[Signal, ...]:
        return tuple(self.drive.friction.states(self.label))

    @property
    def memory(self):
        unit = self.drive.states(self.label)[0].unit
        spring = Signal(
            f"f_Kr_{self.label}",
            "N" if unit == "m" else "N*m",
            f"force required of the oil's spring of {self.label}",
        )
        observed = (
            Signal(f"{s.name}_observed", s.unit, f"observed {s.meaning}") for s in self._bristles
        )
        return (*observed, spring)

    def rubbing(self, v, v_r, ẑ):
        return self.drive.friction.observer(v, v_r, list(ẑ[:-1]))

    def flow(self, f_pr, ẑ, rubbed):
        return [*rubbed, (f_pr / self.drive.i - ẑ[-1]) / settling(self.drive)]

    def after(self, T, v, f_pr, ẑ, rate):
        observed = self.drive.friction.after(T, v, list(ẑ[:-1]), list(rate[:-1]))
        share = np.exp(-T / settling(self.drive))
        wanted = f_pr / self.drive.i
        return [*observed, wanted + share * (ẑ[-1] - wanted)]

    def begun(self, f_pr, ẑ):
        return [*ẑ[:-1], f_pr / self.drive.i]

    def believed(self, p, s, v, ẑ, line, f_pr):
        return self.drive.i * self.felt(p, s) - self.drive.friction.force(v, list(ẑ[:-1]))

    def wanted(self, v, v_r, f_K, f_Kr, flow, K):
        """ṙ_r with the stiffness K of the oil; k_f is made of the law's own."""
        k_f = self.Kk_f / self.drive.stiffness
        return v + flow / K + self.k_m * (v_r - v) + k_f * (f_Kr - f_K)

    def opened(self, drive: Metering, speed, v, f_K, line):
        """Opening at which the valves of `drive` move at `speed`; v: the rod's where the mechanism has it."""
        force = f_K + drive.damping * (speed - v)
        return opening(whole(drive), speed, force, line.p_s - line.p_r)

    def asks(self, drive: Metering, f_K, v, v_r, ẑ, flow):
        speed = self.wanted(
            drive.i * v,
            drive.i * v_r,
            f_K,
            ẑ[-1],
            flow[-1],
            self.drive.stiffness,
        )
        return speed, whole(drive)[:2]

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        f_K = self.felt(p, s)
        speed, _ = self.asks(self.drive, f_K, v, v_r, ẑ, self.flow(f_pr, ẑ, []))
        return self.opened(self.drive, speed, self.drive.i * v, f_K, line).u

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def entry(self, drive: Metering, given: Given):
        from controllers.vdc.drives.metered_section_ledger import entry  # a run does without it

        return entry(self, drive, given)

    def shown(self, drive: Metering, given: Given) -> dict:
        from controllers.vdc.drives.metered_section_ledger import shown

        return shown(self, drive, given)

    def hypotheses(self, run, drive: Metering):
        from controllers.vdc.drives.metered_section_ledger import hypotheses

        return hypotheses(self, run, drive)

    def monitors(self, q, drive: Metering) -> dict:
        """Hypothesis → its margin along the run, 1 at ease."""
        k = self.label
        top = max(whole(drive)[2:4])
        low, high = drive.range
        inside = {}
        if high - low < inf:
            left = np.minimum(q[f"x {k}"], q[f"room {k}"])
            inside = {f"piston {k} inside stroke": 2 * left / (high - low)}
        return inside | {
            f"valve {k} within ±1": 1.0 - np.abs(q[f"inverse {k}"]),
            f"pressure for {k}": q[f"push {k}"] / top,
            f"{k} off reliefs and checks": q[f"inside {k}"] / top,
        }

    def rate(self, drive: Metering) -> float:
        """Rate of Δf²/(2 K k_m), 1/s: 2 K k_f (1 − B k_f/4)."""
        g = self.Kk_f * drive.stiffness / self.drive.stiffness
        return float(2.0 * g * (1.0 - settling(drive) * g / LARGEST))
