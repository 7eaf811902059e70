"""What a mechanism is made of: bodies on joints, cut joints that close loops, actuators between points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Annotated, ClassVar, Literal, final

from plants.components.spatial import Body as Solid
from plants.drives.contract import Drive
from plants.drives.kinds import DriveKind
from plants.multibody.points import ORIGIN, NamedPoint, PinTable, check_ends, named_points, vector
from workbench.cases.shorthand import Shorthand
from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound, Unit, check_bounds, nonnegative
from workbench.contract.units import stated

GROUND = "ground"
# Positions, rates.
JOINTS = {
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "spherical": (4, 3),
    "fixed": (0, 0),
}
Z_AXIS = (0.0, 0.0, 1.0)


def _known(owner, field: str, known) -> None:
    given = getattr(owner, field)
    if not isinstance(given, str) or given not in known:
        raise InputError(f"{field}: there is no {given!r}; choose from {', '.join(known)}")


def _in_plane(value, others):
    """The tensor of a body of which only the moment about z is known: the same about x and y."""
    return {"inertia": (value, value, value, 0.0, 0.0, 0.0)}


@final
@dataclass(frozen=True)
class Body:
    """A rigid body and the joint it hangs on.

    Its frame has its origin at the joint; at position zero of the joint its axes are parallel to its parent's. point: the joint
    in the parent's frame; axis: in the parent's frame, of any length (revolute, prismatic). com and inertia (about the centre
    of mass: xx, yy, zz, xy, xz, yz, with the signs of the tensor) are in the body's own frame. damping: torque or force per
    rate of the joint. start: position the assembly begins its search from (60 deg, 0.2 m; a rotation vector for a spherical
    joint); with hold it is kept exactly. rate: the same for the velocity, which is projected onto what the loops allow.
    pins: points by name in the body's frame, {tip: [1.8, 0]}; at: the pin of another body that the joint is at, "boom.tip",
    which gives parent and point (`plants.multibody.pins`).

    Raises ValueError for numbers that belong to no body or joint.
    """

    name: str
    parent: Annotated[str, "the body that it hangs on, by name"] = GROUND
    joint: Literal["revolute", "prismatic", "spherical", "fixed"] = "revolute"
    point: Annotated[tuple[float, ...], Unit("m"), "joint in the parent's frame"] = ORIGIN
    axis: Annotated[tuple[float, ...], Unit("1"), "axis of the joint in the parent's frame"] = (
        Z_AXIS
    )
    mass: Annotated[float, Unit("kg"), "mass", nonnegative] = 0.0
    com: Annotated[tuple[float, ...], Unit("m"), "centre of mass in the body's frame"] = ORIGIN
    inertia: Annotated[
        tuple[float, ...],
        Unit("kg m^2"),
        "tensor about the centre of mass: xx, yy, zz, xy, xz, yz",
        Bound(words=""),
    ] = (0.0,) * 6
    damping: Annotated[
        float, Unit("1"), "viscous damping of the joint, N m s/rad or N s/m", nonnegative
    ] = 0.0
    start: Annotated[
        str | float | tuple[str | float, ...],
        Unit("1"),
        "position to start from, rad or m (60 deg, 20 cm)",
    ] = 0.0
    rate: Annotated[
        str | float | tuple[str | float, ...], Unit("1"), "velocity to start with, rad/s or m/s"
    ] = 0.0
    hold: bool = False
    at: Annotated[str, "pin the joint is at, such as ground.foot: it gives parent and point"] = ""
    pins: PinTable | tuple[NamedPoint, ...] = ()
    joint_name: Annotated[str, "name of the joint in drawings"] = ""
    carried: Annotated[bool, "a load, which control gives no K_I"] = False

    shorthand: ClassVar[tuple[Shorthand, ...]] = (
        Shorthand(
            "I_zz",
            Annotated[float, Unit("kg m^2"), "moment about z at the centre of mass", nonnegative],
            ("inertia",),
            _in_plane,
        ),
    )

    def __post_init__(self):
        _known(self, "joint", JOINTS)
        named_points(self)
        vector(self, "point", "a point")
        vector(self, "com", "a point")
        vector(self, "axis", "an axis", zero=False)
        length = "m" if self.joint == "prismatic" else "rad"
        for field, symbol in (("start", length), ("rate", length + "/s")):
            object.__setattr__(self, field, self._numbers(field, symbol))
        check_bounds(self)
        Solid(self.mass, self.com, self.inertia)  # refuses what belongs to no body

    def _numbers(self, field: str, symbol: str):
        given = getattr(self, field)
        try:
            if self.joint != "spherical":
                return (
                    stated(given, symbol)
                    if not isinstance(given, tuple)
                    else stated(*given, symbol)
                )
            value = tuple(
                stated(v, symbol) for v in (given if isinstance(given, tuple) else (given,))
            )
        except (InputError, TypeError) as why:
            if isinstance(why, InputError):
                raise InputError(f"{field}: {why.message}", mend=why.mend) from None
            raise InputError(f"{field}: expected one number") from None
        if value == (0.0,):
            return ORIGIN
        if len(value) != 3:
            raise InputError(
                f"{field}: expected a rotation vector, three numbers in {symbol}, for a spherical joint, got {len(value)}"
            )
        return value


@final
@dataclass(frozen=True)
class Place:
    """A point of a body with the axis of a joint there, both in the body's frame; name: what drawings call it.

    normal: a direction perpendicular to the axis. A prismatic joint keeps the normals of its two places parallel and needs them;
    other joints do without.
    """

    body: str = GROUND
    point: Annotated[tuple[float, ...], Unit("m"), "point in the body's frame"] = ORIGIN
    axis: Annotated[tuple[float, ...], Unit("1"), "axis of the joint in the body's frame"] = Z_AXIS
    normal: Annotated[tuple[float, ...], Unit("1"), "direction across the axis"] = ()
    name: str = ""

    def __post_init__(self):
        vector(self, "point", "a point")
        vector(self, "axis", "an axis", zero=False)
        check_bounds(self)
        if not self.normal:
            return
        vector(self, "normal", "a direction", zero=False)
        along = sum(a * n for a, n in zip(self.axis, self.normal))
        if along**2 > (1 - 1e-6) * sum(a * a for a in self.axis) * sum(n * n for n in self.normal):
            raise InputError("normal: it lies along the axis; give a direction across it")

    def complete(self) -> Place:
        """The place with a normal: the coordinate axis farthest from its own axis, where none is given."""
        least = min(range(3), key=lambda i: abs(self.axis[i]))
        return (
            self
            if self.normal
            else replace(self, normal=tuple(1.0 if i == least else 0.0 for i in range(3)))
        )


@final
@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop. It is no part of the tree of bodies: it constrains two places, a and b, of two bodies.

    between: two pins by name, each "body.pin", instead of the places a and b; the joint's axis is then z.
    """

    name: str
    a: Place | None = None
    b: Place | None = None
    joint: Literal["revolute", "spherical", "prismatic"] = "revolute"
    between: Annotated[
        tuple[str, ...], "two pins, such as [ground.lift, boom.rod], instead of a and b"
    ] = ()

    def __post_init__(self):
        check_bounds(self)
        if check_ends(self, "a loop closes between two places"):
            return
        if self.a.body == self.b.body:
            raise InputError(
                f"b: both places are on {self.a.body!r}; a loop closes between two bodies"
            )
        for side in "ab":
            place = getattr(self, side)
            if self.joint == "prismatic" and not place.normal:
                raise InputError(
                    f"{side}.normal: a prismatic joint keeps its bodies from turning and must know how they lie; give "
                    "each place a direction across its axis, the two parallel"
                )
            object.__setattr__(self, side, place.complete())


@final
@dataclass(frozen=True)
class Pin:
    """A point of a body, in its frame, that an actuator is attached to; name: in drawings."""

    body: str = GROUND
    point: Annotated[tuple[float, ...], Unit("m"), "point in the body's frame"] = ORIGIN
    name: str = ""

    def __post_init__(self):
        vector(self, "point", "a point")
        check_bounds(self)


@final
@dataclass(frozen=True)
class Actuator:
    """A drive along the line between two pins, s their distance, or along a joint, s its position.

    a, b: the pins that it acts between, each in its body's frame.
    between: the two pins by name, each "body.pin", instead of a and b.
    joint: the body whose joint it moves, instead of two pins.
    shortest, longest: least and largest s. A start outside is refused; a run that leaves the range says nothing from there on.
    """

    name: str
    drive: DriveKind | Drive
    a: Pin | None = None
    b: Pin | None = None
    joint: str = ""
    shortest: Annotated[float | None, Unit("m"), "length when retracted"] = None
    longest: Annotated[float | None, Unit("m"), "length when extended"] = None
    between: Annotated[
        tuple[str, ...], "two pins, such as [ground.lift, boom.rod], instead of a and b"
    ] = ()

    def __post_init__(self):
        check_bounds(self)
        if self.between and check_ends(self, "an actuator acts between two pins"):
            if self.joint:
                raise InputError(
                    "joint: an actuator acts between two pins, or on a joint, not both"
                )
            self.drive.check_pins("drive")
            return
        if bool(self.joint) == (self.a is not None and self.b is not None) or (self.a is None) != (
            self.b is None
        ):
            raise InputError(
                "joint: an actuator acts between two pins, a and b, or on the joint of a body; give one of the two"
            )
        if self.a is not None and self.a.body == self.b.body:
            raise InputError(
                f"b: both pins are on {self.a.body!r}; an actuator acts between two bodies"
            )
        if self.a is not None:
            self.drive.check_pins("drive")
        if (
            self.shortest is not None
            and self.longest is not None
            and not self.shortest < self.longest
        ):
            raise InputError(
                f"longest: {self.longest:g} m is not longer than the shortest, {self.shortest:g} m"
            )

    @property
    def span(self) -> tuple[float, float]:
        """(least, largest) s, of the drive's own stroke and of what was given; infinite where neither says."""
        low, high = self.drive.range
        return (
            max(low, -inf if self.shortest is None else self.shortest),
            min(high, inf if self.longest is None else self.longest),
        )


def unit(a) -> list:
    """a/|a|; exact axes stay exact, so that zeros drop out of traced graphs."""
    if all(type(v) is float for v in a):
        size = sqrt(sum(v * v for v in a))
        return [v / size for v in a]
    size = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) ** 0.5
    return [0.0 if type(v) is float and v == 0.0 else v / size for v in a]
