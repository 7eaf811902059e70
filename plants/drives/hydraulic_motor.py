"""A hydraulic motor on a gear behind a servo valve, fed by the machine's supply, on a revolute joint: `plants.drives.servo`.

s is the joint's angle, the drive's force a torque at the joint: equations in `plants.components.motor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import ClassVar, final

from plants.components.chamber import Oil
from plants.components.motor import Motor
from plants.drives.contract import Sizes
from plants.drives.servo import ServoDrive, StartPressures
from workbench.contract.parameters import check_bounds
from workbench.contract.system import Signal

TURN = 2.0 * pi  # rad: over which a motor that turns without end is measured


@final
@dataclass(frozen=True)
class HydraulicMotor(ServoDrive):
    """A motor on a gear behind a servo valve; equations in `plants.drives.hydraulic_motor`.

    States p_a, p_b [Pa], spool and friction states; input u [V].

    Raises InputError for a torque that the chambers cannot carry.
    """

    turns: ClassVar[bool] = True
    part: ClassVar[str] = "motor"
    pushes: ClassVar[str] = "T_p"
    motor: Motor
    oil: Oil = Oil()
    pressures_at_start: StartPressures = None

    def __post_init__(self):
        check_bounds(self)

    @property
    def chambers(self):
        return self.motor

    def place(self, s):
        """The joint's angle, rad."""
        return s

    def logged(self, label):
        return (
            Signal(f"T_p_{label}", "N m", f"torque of the oil of {label}, at the joint"),
            Signal(f"T_f_{label}", "N m", f"friction of {label}, at the joint"),
        )

    def shown(self, x, s, sdot, u, line):
        return [self.motor.force(x[0], x[1]), self.rubbing(x, sdot)]

    def initial(self, s, force, line):
        return self.at_rest(force, line)

    def sizes(self, line):
        """What is large for this motor, with one turn of the joint as its stroke."""
        torque = line.p_s * self.motor.A_a
        work = torque * TURN
        return Sizes(line.p_s, "supply pressure", work, torque, TURN, self.fastest(line))
