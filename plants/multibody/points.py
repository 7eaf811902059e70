"""Points of bodies: three numbers, points by name, and the two ends of what acts between two pins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds

ORIGIN = (0.0, 0.0, 0.0)


def vector(owner, field: str, what: str, zero: bool = True) -> None:
    """Three floats in the field `field` of `owner`; the third may be left out where zero is allowed."""
    given = getattr(owner, field)
    try:
        value = tuple(map(float, given)) if isinstance(given, (tuple, list)) else ()
    except (TypeError, ValueError):
        value = ()
    if zero and len(value) == 2:
        value = (*value, 0.0)
    if len(value) != 3 or (not zero and not any(value)):
        raise InputError(
            f"{field}: expected {what}, three numbers{'' if zero else ' that are not all zero'}, got {given!r}",
            mend="write [x, y] or [x, y, z]" if zero else "write [x, y, z]",
        )
    object.__setattr__(owner, field, value)


PinTable = dict[
    str, Annotated[tuple[float, ...], Unit("m"), "pin in the body's frame, 2 or 3 numbers"]
]


@final
@dataclass(frozen=True)
class NamedPoint:
    """A point of a body that has a name."""

    name: str
    point: Annotated[tuple[float, ...], Unit("m"), "point in the body's frame"] = ORIGIN

    def __post_init__(self):
        vector(self, "point", "a point")
        check_bounds(self)


def named_points(owner) -> None:
    """The field `pins` of `owner`, a mapping name → point, as a tuple of `NamedPoint`s."""
    if not isinstance(owner.pins, dict):
        return
    found = []
    for name, point in owner.pins.items():
        try:
            found.append(NamedPoint(name, point))
        except InputError as why:
            raise InputError(f"pins.{name}: {why.message}", mend=why.mend) from None
    object.__setattr__(owner, "pins", tuple(found))


def check_ends(owner, what: str) -> bool:
    """Whether `owner` still has its pins by name; InputError where both, or neither, of a, b and between are given."""
    by_name = bool(owner.between)
    if by_name == (owner.a is not None and owner.b is not None) or (owner.a is None) != (
        owner.b is None
    ):
        raise InputError(
            f"between: {what}; give their two pins by name, or a and b",
            mend="write between: [body.pin, body.pin]",
        )
    if by_name and len(owner.between) != 2:
        raise InputError(
            f"between: expected two pins, got {len(owner.between)}",
            mend="write between: [body.pin, body.pin]",
        )
    return by_name
