"""A cylinder behind a throttle and a directional valve with a lagging spool, under virtual decomposition control.

    ḟ_p  = β (u_f − h ṡ),   f_p = A_2 p_2 − A_3 p_3,   u_f = g_2 Q_t + g_3 Q_3d         `plants.components.circuit_inverse`
    u_fr = ḟ_pr/β + h ṡ + k_x (ṡ_r − ṡ) + k_f (f_pr − f_p)                              (90), (92)
    U    = the opening at which valve and throttle in series pass u_fr

Without lag and without oil between valve and throttle u_f = u_fr, and v_p = Δf²/(2β k_x) has v̇_p = −(k_f/k_x) Δf² − Δṡ Δf. What the
law does not know is named: the spool's lag ("spool") and the oil between valve and throttle, of pressure p_1 ("throttle"). The law
measures p_2 and p_3.

Source: [Petrovic22] (90)–(93) on the circuit of [Jaiswal21] (13)–(18), (43).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from controllers.vdc.drives.oil import OilPart
from controllers.vdc.gains import USUAL_K_X
from controllers.vdc.part import Given
from plants.components.circuit import ThrottledCircuit
from plants.components.circuit_inverse import drift, gains, invert


def bearable_k_x(circuit: ThrottledCircuit) -> float:
    """k_x [m] by default: 6 mm, but no more than h in the middle of the stroke."""
    g_2, g_3 = gains(circuit, 0.5 * sum(circuit.range))
    return float(min(USUAL_K_X, g_2 * circuit.A_2 + g_3 * circuit.A_3))


@final
@dataclass(frozen=True)
class ThrottledPart(OilPart):
    """Law and ledger of a cylinder behind a throttle; equations in the module. k_x in m, βk_f in 1/s."""

    serves: ClassVar[tuple[type, ...]] = (ThrottledCircuit,)

    drive: ThrottledCircuit

    @staticmethod
    def usual_k_x(drive: ThrottledCircuit) -> float:
        return bearable_k_x(drive)

    @property
    def measured(self):
        return self.drive.pressures(self.label)[1:]

    @staticmethod
    def modulus(drive: ThrottledCircuit):
        return drive.B_oil

    @staticmethod
    def friction(drive: ThrottledCircuit):
        return drive.friction

    def pushed(self, circuit: ThrottledCircuit, p_2, p_3):
        """f_p, N."""
        return circuit.A_2 * p_2 - circuit.A_3 * p_3

    def believed(self, p, s, v, ẑ, line, f_pr):
        return self.pushed(self.drive, *p) - self.drive.friction.force(v, ẑ)

    def wanted(self, drive: ThrottledCircuit, s, v, v_r, p, f_pr, f_pr_rate):
        """u_fr on the numbers of `drive`, with the law's gains."""
        fed = self.k_x * (v_r - v) + self.k_f * (f_pr - self.pushed(drive, *p))
        return f_pr_rate / drive.B_oil + drift(drive, s, v) + fed

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        u_fr = self.wanted(self.drive, s, v, v_r, p, f_pr, f_pr_rate)
        return invert(self.drive, s, *p, u_fr)

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def side(self, drive: ThrottledCircuit, given: Given):
        from controllers.vdc.drives.throttled_ledger import side  # a run does without it

        return side(self, drive, given)

    def hypotheses(self, run, drive: ThrottledCircuit):
        from controllers.vdc.drives.throttled_ledger import hypotheses

        return hypotheses(self, run, drive)

    def monitors(self, q, drive: ThrottledCircuit) -> dict:
        """Hypothesis → its margin along the run, 1 at ease."""
        k = self.label
        opening = q[f"opening {k}"]
        return {
            f"piston {k} inside stroke": np.minimum(q[f"x {k}"], q[f"room {k}"])
            / (drive.stroke / 2),
            f"valve {k} within ±{drive.limit:g} V": 1 - np.abs(q[f"inverse {k}"]) / drive.limit,
            f"u_f of {k} rises with the opening": opening / np.abs(opening).max(),
        }
