"""Two chambers behind a servo valve, of a cylinder or of a motor: equations in `controllers.servo_valve`.

x = s − closed is the position of a cylinder's piston; of a motor x = s is the joint's angle, in rad, forces are torques in N m, and
k_x is in m³/rad². The chambers' pressures are measured, bristles of friction are observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from controllers.servo_valve import Valve, bearable_k_x, motor_k_x
from controllers.vdc.part import Given, Part
from plants.drives.hydraulic_motor import HydraulicMotor
from plants.drives.servo import ServoDrive
from plants.drives.servo_cylinder import ServoCylinder
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class ServoValvePart(Part):
    """See the module. k_x in m (of a motor in m³/rad²), βk_f in 1/s."""

    serves: ClassVar[tuple[type, ...]] = (ServoCylinder, HydraulicMotor)
    takes: ClassVar[tuple[str, ...]] = ("k_x", "βk_f")

    label: str
    drive: ServoDrive
    k_x: Any
    βk_f: Any

    @staticmethod
    def usual_k_x(drive: ServoDrive) -> float:
        if drive.turns:
            return motor_k_x(drive.chambers, drive.oil)
        return bearable_k_x(drive.chambers, drive.oil)

    @property
    def measured(self):
        return self.drive.pressures(self.label)

    @property
    def memory(self):
        bristles = self.drive.chambers.friction.states(self.label)
        return tuple(
            Signal(f"{s.name}_observed", s.unit, f"observed {s.meaning}") for s in bristles
        )

    def rubbing(self, v, v_r, ẑ):
        return self.drive.chambers.friction.observer(v, v_r, ẑ)

    def after(self, T, v, f_pr, ẑ, rate):
        # Observers have rates up to 1e4 1/s: exact over the sample for constant v, v_r, so that no sample time blows them up.
        return self.drive.chambers.friction.after(T, v, ẑ, rate)

    def believed(self, p, s, v, ẑ, line, f_pr):
        chambers = self.drive.chambers
        return chambers.force(*p) - chambers.friction.force(v, ẑ)

    def valve(self, drive: ServoDrive, line) -> Valve:
        """The chambers of `drive` with this law's gains."""
        k_f = self.βk_f / self.drive.oil.β
        return Valve(drive.chambers, drive.oil, line.p_s, line.p_r, self.k_x, k_f)

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        valve, x = self.valve(self.drive, line), self.drive.place(s)
        return valve.voltage(x, p, valve.flow(x, v, p, f_pr, f_pr_rate, v_r))

    # ---- the ledger -------------------------------------------------------------------------------------------------
    def _side(self, drive: ServoDrive, given: Given):
        from controllers.servo_valve_ledger import Side

        pressures, _, rub = drive.parts(given.x)
        work = drive.at_work(given.x, given.s, given.v, [given.u], given.line)
        return Side(
            self.label,
            self.label,
            given.cut,
            self.valve(drive, given.line),
            drive.place(given.s),
            given.v,
            given.v_r,
            pressures,
            given.f_pr,
            given.f_pr_rate,
            given.f_cr,
            given.own_f_cr,
            given.f_c,
            given.f_fr,
            drive.rubbing(given.x, given.v),
            work.Q_a,
            work.Q_b,
            given.steps,
            given.u,
            rub,
            given.ẑ,
            given.ẑ_law,
            given.ẑ_flow,
        )

    def entry(self, drive: ServoDrive, given: Given):
        from controllers.servo_valve_ledger import entry

        return entry(self._side(drive, given))

    def shown(self, drive: ServoDrive, given: Given) -> dict:
        from controllers.servo_valve_ledger import shown

        _, longest = drive.range
        room = None if drive.turns else longest - given.s
        return shown(self._side(drive, given), given.lever, room)

    def hypotheses(self, run, drive: ServoDrive):
        from workbench.verification import hypotheses

        q, k = run.balance.quantities, self.label
        known = self.drive.chambers.friction
        v, Δv = q[f"ẋ {k}"], q[f"Δẋ {k}"]
        yield hypotheses.rubbing(run, k, drive.chambers.friction, known, v, Δv)
        if not drive.turns:
            yield hypotheses.stroke(run, k)
        yield hypotheses.valve(run, k, drive.chambers)
        valve = drive.chambers.valve
        yield hypotheses.unlagged(valve, (k,) if valve.lag != "ideal" else (), of=f" of {k}")

    def monitors(self, q, drive: ServoDrive) -> dict:
        """Hypothesis → its margin along the run, 1 at ease."""
        k, (low, high) = self.label, drive.range
        most = drive.limit
        found = {f"valve {k} within ±{most:g} V": 1 - np.abs(q[f"inverse {k}"]) / most}
        if drive.turns:
            return found
        room = np.minimum(q[f"x {k}"], q[f"room {k}"]) / (0.5 * (high - low))
        return {f"piston {k} inside stroke": room, **found}

    def rate(self, drive: ServoDrive) -> float:
        """Rate of Δf²/(2β k_x), 1/s: 2 β k_f with the true β."""
        return 2 * self.βk_f * drive.oil.β / self.drive.oil.β
