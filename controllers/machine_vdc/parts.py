"""Which law serves which kind of drive."""

from __future__ import annotations

from typing import Any, NamedTuple

from controllers.machine_vdc.metered_section import MeteredPart
from controllers.machine_vdc.part import Part
from controllers.machine_vdc.pure_force import PureForce
from controllers.machine_vdc.servo_cylinder import ServoValvePart
from controllers.servo_valve import USUAL_K_X, bearable_k_x, usual_k_x
from plants.drives.laws import Force, Torque
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder


class Gains(NamedTuple):
    """Gains of one drive, of every kind."""

    k_x: Any
    βk_f: Any
    k_m: Any
    Kk_f: Any


SERVED = (Force, Torque, ServoCylinder, MeteredSection)


def part(label: str, drive, gains: Gains) -> Part:
    """The law of one actuator."""
    if isinstance(drive, ServoCylinder):
        return ServoValvePart(label, drive, gains.k_x, gains.βk_f)
    if isinstance(drive, MeteredSection):
        return MeteredPart(label, drive, gains.k_m, gains.Kk_f)
    return PureForce(label, drive)


def default_k_x(drives) -> tuple[float, ...]:
    """k_x [m] of drives by default; of drives without oil it has no meaning, and is the others'."""
    cylinders = [drive.cylinder for drive in drives if isinstance(drive, ServoCylinder)]
    if len(cylinders) == len(drives):
        return usual_k_x(cylinders)
    own = [
        bearable_k_x(drive.cylinder) if isinstance(drive, ServoCylinder) else USUAL_K_X
        for drive in drives
    ]
    return tuple(own)
