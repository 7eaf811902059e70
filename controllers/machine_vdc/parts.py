"""Which law serves which kind of drive."""

from __future__ import annotations

from typing import Any, NamedTuple

from controllers import servo_valve
from controllers.machine_vdc import ieha
from controllers.machine_vdc.ieha import IEHAPart
from controllers.machine_vdc.metered_section import MeteredPart
from controllers.machine_vdc.part import Part
from controllers.machine_vdc.pure_force import PureForce
from controllers.machine_vdc.servo_cylinder import ServoValvePart
from plants.drives.ieha_drive import IEHADrive
from plants.drives.laws import Force, Torque
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder


class Gains(NamedTuple):
    """Gains of one drive, of every kind."""

    k_x: Any
    βk_f: Any
    k_m: Any
    Kk_f: Any


SERVED = (Force, Torque, ServoCylinder, MeteredSection, IEHADrive)


def part(label: str, drive, gains: Gains) -> Part:
    """The law of one actuator."""
    if isinstance(drive, ServoCylinder):
        return ServoValvePart(label, drive, gains.k_x, gains.βk_f)
    if isinstance(drive, MeteredSection):
        return MeteredPart(label, drive, gains.k_m, gains.Kk_f)
    if isinstance(drive, IEHADrive):
        return IEHAPart(label, drive, gains.k_x, gains.βk_f)
    return PureForce(label, drive)


def default_k_x(drives) -> tuple[float, ...]:
    """k_x [m] of drives by default, one where all agree; of drives without chambers it has no meaning."""
    found = [_usual_k_x(drive) for drive in drives]
    return (found[0],) if len(set(found)) == 1 else tuple(found)


def _usual_k_x(drive) -> float:
    if isinstance(drive, ServoCylinder):
        return servo_valve.bearable_k_x(drive.cylinder, drive.oil)
    if isinstance(drive, IEHADrive):
        return ieha.bearable_k_x(drive)
    return servo_valve.USUAL_K_X
