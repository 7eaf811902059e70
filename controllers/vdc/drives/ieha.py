"""An integrated electro-hydraulic actuator (closed circuit) under virtual decomposition control: its pump's ring is its valve.

    ḟ_p  = β (u_f − h ẋ − ℓ),   f_p = S_A P_A − S_B P_B,   u_f = (g_A + g_B) Q,   g_i = S_i/V_i,   h = g_A S_A + g_B S_B
    u_fr = ḟ_pr/β + h ẋ + ℓ + k_x (ẋ_r − ẋ) + k_f (f_pr − f_p)                           (90), (92) with leakage ℓ
    X    = E at which the averaged pump gives Q_r = u_fr/(g_A + g_B): what it loses by compression and leakage added, no overlap

Q is the pump's flow into A less that into B. The carriage takes the ring to E = X within a millisecond; that it lags, and that the
distributor shuts near E = 0, are the perturbation "valve". The viscous friction b_v ẋ is part of f_pr.

An open circuit has no such law. There the side that the pump does not feed is open to the tank, through the port of area A_0:

    E ≥  E_d + w   u_f =  g_A Q + g_B c A_0 √(P_B − P_T)  ≥  g_A Q
    E ≤ −E_d − w   u_f = −g_B |Q| − g_A c A_0 √(P_A − P_T)  ≤  −g_A c A_0 √(P_A − P_T)

While A carries a load, P_A > P_T, no place of the ring beyond the edges of the distributor gives a u_f between
−g_A c A_0 √(P_A − P_T) and that of the pump at E = 0. A force can be raised gradually, and it can be lost, within
2 V_A √(P_A − P_T)/(β c A_0) (`lost_within`); it cannot be lowered gradually. At rest under a load the feedback of (90) needs
both signs. On the edge itself, of width w, u_f is steeper by c A_0 √P/(w ∂Q/∂E), some thousand times, than the pump that
the carriage is made to place.

Source: [Petrovic22] (90)–(93) on the actuator of [Alfayad16].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from controllers.vdc.drives.ieha_pump import drained, drift, eccentricity, gains, lost_within
from controllers.vdc.drives.oil import OilPart
from controllers.vdc.gains import USUAL_K_X
from controllers.vdc.part import Given
from plants.drives.ieha_drive import IEHADrive
from workbench.contract.errors import InputError


def bearable_k_x(drive: IEHADrive) -> float:
    """k_x [m] by default: 6 mm, but no more than h in the middle of the stroke."""
    V_A, V_B = drive.volumes(0.0)
    return float(min(USUAL_K_X, drive.S_A**2 / V_A + drive.S_B**2 / V_B))


@final
@dataclass(frozen=True)
class IEHAPart(OilPart):
    """See the module. k_x in m, βk_f in 1/s."""

    serves: ClassVar[tuple[type, ...]] = (IEHADrive,)

    drive: IEHADrive

    @staticmethod
    def usual_k_x(drive: IEHADrive) -> float:
        return bearable_k_x(drive)

    def check(self) -> None:
        if self.drive.circuit != "closed":
            raise self._open()

    def _open(self) -> InputError:
        drive = self.drive
        P = drive.P_T + drive.sizes(None).pressure
        most = drive.pump.mean_flow(drive.stop_E.limit)
        return InputError(
            f"VDC: the drive of actuator {self.label} is an open circuit, which can raise a force gradually but not lower it: at "
            f"{P / 1e5:.3g} bar its tank takes {6e4 * drained(drive, P):.3g} l/min, where the pump gives up to "
            f"{6e4 * most:.3g}, and the force is lost within {1e3 * lost_within(drive, P):.2g} ms",
            mend="write 'circuit: closed', or choose PID",
        )

    @property
    def measured(self):
        return self.drive.pressures(self.label)

    def rubbing(self, v, v_r, ẑ):
        force, rate = super().rubbing(v, v_r, ẑ)
        return force + self.drive.b_v * v_r, rate

    @staticmethod
    def modulus(drive: IEHADrive):
        return drive.oil.β

    @staticmethod
    def friction(drive: IEHADrive):
        return drive.friction

    def pushed(self, drive: IEHADrive, pressures):
        """Piston force f_p, N."""
        return drive.S_A * pressures[0] - drive.S_B * pressures[1]

    def believed(self, p, s, v, ẑ, line, f_pr):
        drive = self.drive
        return self.pushed(drive, p) - drive.b_v * v - drive.friction.force(v, ẑ)

    def wanted(self, drive: IEHADrive, s, v, v_r, p, f_pr, f_pr_rate):
        """u_fr by the equation of the module, with the numbers of `drive` and the law's gains."""
        own = drift(drive, s - drive.middle, v, *p)
        fed = self.k_x * (v_r - v) + self.k_f * (f_pr - self.pushed(drive, p))
        return f_pr_rate / drive.oil.β + own + fed

    def ring(self, drive: IEHADrive, s, p, u_fr):
        """X at which `drive` gives u_fr."""
        return eccentricity(drive, u_fr / sum(gains(drive, s - drive.middle)), *p)

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        u_fr = self.wanted(self.drive, s, v, v_r, p, f_pr, f_pr_rate)
        return self.ring(self.drive, s, p, u_fr)

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def side(self, drive: IEHADrive, given: Given):
        from controllers.vdc.drives.ieha_ledger import side  # a run does without it

        return side(self, drive, given)

    def hypotheses(self, run, drive: IEHADrive):
        from controllers.vdc.drives.ieha_ledger import hypotheses

        return hypotheses(self, run, drive)

    def monitors(self, q, drive: IEHADrive) -> dict:
        """Hypothesis → its margin along the run, 1 at ease."""
        k = self.label
        E = drive.stop_E.limit
        half = drive.stop_Y.limit
        return {
            f"piston {k} inside stroke": np.minimum(q[f"x {k}"], q[f"room {k}"]) / half,
            f"ring {k} within ±{1e3 * E:g} mm": 1 - np.abs(q[f"inverse {k}"]) / E,
        }
