"""A cylinder behind quasistatic metering valves: law and ledger in `controllers.metered_vdc` and its ledger, for one drive.

    τ ḟ_Kr = f_pr − f_Kr                   what of f_pr the oil's spring carries, τ = B/K: a memory of the law
    ṙ_r    = ẋ + ḟ_Kr/K + k_m (ẋ_r − ẋ) + k_f (f_Kr − f_K)                                   in place of (90), (92)
    u      = opening at which the section moves at ṙ_r under f_K + B (ṙ_r − ẋ) and the pump's pressure

    v_p = Δf²/(2 K k_m) + friction's storage,   Δf = f_Kr − f_K,   Δẋ = ẋ_r − ẋ
    D_p = (k_f/k_m)(1 − B k_f/4) Δf² + B k_m (Δẋ + k_f Δf/(2 k_m))²

f_K = K (r − x) is read from the piston's place r behind the valves. The drive's own friction is observed.

Source: [Petrovic22] (90)–(93) on the plants of [Kikuuwe21] (68)–(70); f_Kr and the inverse are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from controllers.machine_vdc.part import Given, Part
from plants.drives.metered_section import MeteredSection, row
from plants.valve_circuits.inverse import opening
from workbench.contract.errors import InputError
from workbench.contract.system import Signal

LARGEST = 4.0  # B k_f beyond which the dissipation is no sum of squares


def whole(drive: MeteredSection) -> list:
    """The section's row with every valve fully open, both ways at once."""
    ways = (row(drive.cylinder, drive.P_hM, drive.P_rM, u) for u in (1.0, -1.0))
    return [np.maximum(a, b) for a, b in zip(*ways)]


@final
@dataclass(frozen=True)
class MeteredPart(Part):
    """See the module. k_m has no unit, Kk_f in 1/s."""

    serves: ClassVar[tuple[type, ...]] = (MeteredSection,)
    takes: ClassVar[tuple[str, ...]] = ("k_m", "Kk_f")

    label: str
    drive: MeteredSection
    k_m: Any
    Kk_f: Any

    def check(self) -> None:
        if self.Kk_f * self.drive.τ >= LARGEST:
            raise InputError(
                f"Kk_f: {self.Kk_f:g} 1/s with damping τ = B/K = {self.drive.τ:g} s of the oil of {self.label} gives the "
                f"force error power; it must be below {LARGEST:g}/τ = {LARGEST / self.drive.τ:g} 1/s"
            )

    @property
    def measured(self):
        return (self.drive.states(self.label)[0].name,)

    @property
    def _bristles(self) -> tuple[Signal, ...]:
        return tuple(self.drive.cylinder.friction.states(self.label))

    @property
    def memory(self):
        spring = Signal(
            f"f_Kr_{self.label}", "N", f"force required of the oil's spring of {self.label}"
        )
        observed = (
            Signal(f"{s.name}_observed", s.unit, f"observed {s.meaning}") for s in self._bristles
        )
        return (*observed, spring)

    def rubbing(self, v, v_r, ẑ):
        return self.drive.cylinder.friction.observer(v, v_r, list(ẑ[:-1]))

    def flow(self, f_pr, ẑ, rubbed):
        return [*rubbed, (f_pr - ẑ[-1]) / self.drive.τ]

    def after(self, T, v, f_pr, ẑ, rate):
        observed = self.drive.cylinder.friction.after(T, v, list(ẑ[:-1]), list(rate[:-1]))
        share = np.exp(-T / self.drive.τ)
        return [*observed, f_pr + share * (ẑ[-1] - f_pr)]

    def begun(self, f_pr, ẑ):
        return [*ẑ[:-1], f_pr]

    def believed(self, p, s, v, ẑ, line, f_pr):
        return self.drive.spring(p, s) - self.drive.cylinder.friction.force(v, list(ẑ[:-1]))

    def wanted(self, v, v_r, f_K, f_Kr, flow, K):
        """ṙ_r with the stiffness K of the oil; k_f is made of the law's own."""
        k_f = self.Kk_f / self.drive.stiffness
        return v + flow / K + self.k_m * (v_r - v) + k_f * (f_Kr - f_K)

    def opened(self, drive: MeteredSection, speed, v, f_K, line):
        """Opening at which the valves of `drive` move at `speed`."""
        B = drive.τ * drive.stiffness
        return opening(whole(drive), speed, f_K + B * (speed - v), line.p_s - line.p_r)

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        f_K = self.drive.spring(p, s)
        flow = (f_pr - ẑ[-1]) / self.drive.τ
        speed = self.wanted(v, v_r, f_K, ẑ[-1], flow, self.drive.stiffness)
        return self.opened(self.drive, speed, v, f_K, line).u

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def entry(self, drive: MeteredSection, given: Given):
        from controllers.machine_vdc.metered_section_ledger import entry

        return entry(self, drive, given)

    def shown(self, drive: MeteredSection, given: Given) -> dict:
        from controllers.machine_vdc.metered_section_ledger import shown

        return shown(self, drive, given)

    def hypotheses(self, run, drive: MeteredSection):
        from controllers.machine_vdc.metered_section_ledger import hypotheses

        return hypotheses(self, run, drive)

    def monitors(self, q, drive: MeteredSection) -> dict:
        """Hypothesis → its margin along the run, 1 at ease."""
        k, top = self.label, max(drive.P_hM, drive.P_rM)
        half = drive.cylinder.stroke / 2
        return {
            f"piston {k} inside stroke": np.minimum(q[f"x {k}"], q[f"room {k}"]) / half,
            f"valve {k} within ±1": 1.0 - np.abs(q[f"inverse {k}"]),
            f"pressure for {k}": q[f"push {k}"] / top,
            f"{k} off reliefs and checks": q[f"inside {k}"] / top,
        }

    def rate(self, drive: MeteredSection) -> float:
        """Rate of Δf²/(2 K k_m), 1/s: 2 K k_f (1 − B k_f/4)."""
        g = self.Kk_f * drive.stiffness / self.drive.stiffness
        return float(2.0 * g * (1.0 - drive.τ * g / LARGEST))
