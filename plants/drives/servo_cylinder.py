"""A cylinder with two chambers behind a servo valve, fed by the machine's supply: `plants.drives.servo`.

    x = s − closed

with s the distance of its pins (or the position of the joint it is on) and `closed` the s at which the piston is at x = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from plants.components.chamber import Oil
from plants.components.cylinder import Cylinder
from plants.drives.contract import Sizes, outside_stroke, too_short
from plants.drives.servo import ServoDrive, StartPressures
from workbench.contract.parameters import Unit, check_bounds
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class ServoCylinder(ServoDrive):
    """A cylinder of two chambers behind a servo valve; equations in `plants.drives.servo_cylinder`.

    States p_a, p_b [Pa], spool and friction states; input u [V].

    Raises InputError for a start outside the stroke and for a force that the chambers cannot carry.
    """

    part: ClassVar[str] = "cylinder"
    pushes: ClassVar[str] = "f_p"
    cylinder: Cylinder
    closed: Annotated[
        float, Unit("m"), "distance of the pins, or position of the joint, with the rod retracted"
    ]
    oil: Oil = Oil()
    pressures_at_start: StartPressures = None

    def __post_init__(self):
        check_bounds(self)

    @property
    def chambers(self):
        return self.cylinder

    def place(self, s):
        """Position of the piston from retracted, m."""
        return s - self.closed

    def logged(self, label):
        return (
            Signal(f"x_{label}", "m", f"piston position of {label}"),
            Signal(f"f_p_{label}", "N", f"piston force of {label}"),
            Signal(f"f_f_{label}", "N", f"friction of {label}"),
        )

    def shown(self, x, s, sdot, u, line):
        return [self.place(s), self.cylinder.force(x[0], x[1]), self.rubbing(x, sdot)]

    @property
    def range(self):
        return self.closed, self.closed + self.cylinder.stroke

    def sizes(self, line):
        c = self.cylinder
        p = line.p_s
        return Sizes(
            p, "supply pressure", p * c.A_a * c.stroke, p * c.A_b, c.stroke, self.fastest(line)
        )

    def initial(self, s, force, line):
        outside_stroke(s, *self.range)
        return self.at_rest(force, line)

    def check_pins(self, owner):
        too_short(owner, self.closed, self.cylinder.stroke)
