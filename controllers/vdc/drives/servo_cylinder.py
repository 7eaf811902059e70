"""Two chambers behind a servo valve, of a cylinder or of a motor: equations in `servo_valve`.

x = s − closed is the position of a cylinder's piston; of a motor x = s is the joint's angle, in rad, forces are torques in N m, and
k_x is in m³/rad². The chambers' pressures are measured, bristles of friction are observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from controllers.vdc.drives.oil import OilPart
from controllers.vdc.drives.servo_valve import Valve, bearable_k_x, motor_k_x
from controllers.vdc.part import Given
from plants.drives.hydraulic_motor import HydraulicMotor
from plants.drives.servo import ServoDrive
from plants.drives.servo_cylinder import ServoCylinder


@final
@dataclass(frozen=True)
class ServoValvePart(OilPart):
    """See the module. k_x in m (of a motor in m³/rad²), βk_f in 1/s."""

    serves: ClassVar[tuple[type, ...]] = (ServoCylinder, HydraulicMotor)

    drive: ServoDrive

    @staticmethod
    def usual_k_x(drive: ServoDrive) -> float:
        if drive.turns:
            return motor_k_x(drive.chambers, drive.oil)
        return bearable_k_x(drive.chambers, drive.oil)

    @property
    def measured(self):
        return self.drive.pressures(self.label)

    @staticmethod
    def modulus(drive: ServoDrive):
        return drive.oil.β

    @staticmethod
    def friction(drive: ServoDrive):
        return drive.chambers.friction

    def believed(self, p, s, v, ẑ, line, f_pr):
        chambers = self.drive.chambers
        return chambers.force(*p) - chambers.friction.force(v, ẑ)

    def valve(self, drive: ServoDrive, line) -> Valve:
        """The chambers of `drive` with this law's gains."""
        return Valve(drive.chambers, drive.oil, line.p_s, line.p_r, self.k_x, self.k_f)

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        valve = self.valve(self.drive, line)
        x = self.drive.place(s)
        return valve.voltage(x, p, valve.flow(x, v, p, f_pr, f_pr_rate, v_r))

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def side(self, drive: ServoDrive, given: Given):
        from controllers.vdc.drives.servo_valve_ledger import side

        return side(self, drive, given)

    def hypotheses(self, run, drive: ServoDrive):
        from workbench.verification import hypotheses

        q = run.balance.quantities
        k = self.label
        known = self.drive.chambers.friction
        v = q[f"ẋ {k}"]
        Δv = q[f"Δẋ {k}"]
        yield hypotheses.rubbing(run, k, drive.chambers.friction, known, v, Δv)
        if not drive.turns:
            yield hypotheses.stroke(run, k)
        yield hypotheses.valve(run, k, drive.chambers)
        valve = drive.chambers.valve
        yield hypotheses.unlagged([valve], of=f" of {k}")

    def monitors(self, q, drive: ServoDrive) -> dict:
        """Hypothesis → its margin along the run, 1 at ease."""
        k, (low, high) = self.label, drive.range
        most = drive.limit
        found = {f"valve {k} within ±{most:g} V": 1 - np.abs(q[f"inverse {k}"]) / most}
        if drive.turns:
            return found
        room = np.minimum(q[f"x {k}"], q[f"room {k}"]) / (0.5 * (high - low))
        return {f"piston {k} inside stroke": room, **found}
