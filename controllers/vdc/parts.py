"""Which law serves which kind of drive: every part says so itself, and is named in `PARTS`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers.vdc.drives.ieha import IEHAPart
from controllers.vdc.drives.metered_section import MeteredPart
from controllers.vdc.drives.pure_force import PureForce
from controllers.vdc.drives.servo_cylinder import ServoValvePart
from controllers.vdc.drives.throttled import ThrottledPart
from controllers.vdc.gains import agreed
from controllers.vdc.part import Part

PARTS: tuple[type[Part], ...] = (PureForce, ServoValvePart, ThrottledPart, MeteredPart, IEHAPart)
SERVED = tuple(drive for kind in PARTS for drive in kind.serves)


def kind_of(drive) -> type[Part]:
    """The part that serves a drive, one of `SERVED`."""
    return next(kind for kind in PARTS if isinstance(drive, kind.serves))


def part(label: str, drive, gains: Mapping[str, Any]) -> Part:
    """The law of one actuator; gains: name → number, at least those that it takes."""
    kind = kind_of(drive)
    return kind(label, drive, *(gains[name] for name in kind.takes))


def default_k_x(drives) -> tuple[float, ...]:
    """k_x [m] of drives by default, one where all agree; of drives without chambers it has no meaning."""
    return agreed(kind_of(drive).usual_k_x(drive) for drive in drives)
