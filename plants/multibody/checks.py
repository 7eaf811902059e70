"""What a mechanism refuses when it is built, in words."""

from __future__ import annotations

import warnings
from functools import cache, partial
from math import degrees, inf

import numpy as np

from plants.drives.contract import Drive
from plants.multibody.loops import facing
from plants.multibody.parts import GROUND
from plants.multibody.tree import point
from workbench.contract.errors import InputError, Notice, tried
from workbench.contract.system import names


def check_names(mechanism) -> None:
    """Bodies that loops and actuators speak of exist, and drives act on joints they can act on."""
    known = [GROUND, *(b.name for b in mechanism.bodies)]
    mechanism.tree  # noqa: B018 — it refuses parents that do not exist
    named = [
        (f"{kind}.{part.name}.{side}.body", getattr(part, side).body)
        for kind in ("loops", "actuators")
        for part in getattr(mechanism, kind)
        for side in "ab"
        if getattr(part, side) is not None
    ]
    named += [(f"actuators.{a.name}.joint", a.joint) for a in mechanism.actuators if a.joint]
    for key, body in named:
        if body not in known:
            raise InputError(
                f"{key}: there is no body {body!r}", mend=f"choose from {', '.join(known)}"
            )
    for kind in ("loops", "actuators"):
        called = [part.name for part in getattr(mechanism, kind)]
        for name in called:
            if called.count(name) > 1:
                raise InputError(
                    f"{kind}: {name!r} is there twice", mend="give each a name of its own"
                )
    for a in mechanism.actuators:
        kind = next(
            (b.joint for b in mechanism.bodies if b.name == a.joint), "" if not a.joint else "fixed"
        )
        if kind in ("fixed", "spherical"):
            raise InputError(
                f"actuators.{a.name}.joint: {a.joint} has a {kind} joint, which no drive can act on",
                mend="name a body on a revolute or prismatic joint",
            )
        if not a.drive.anywhere and a.drive.turns != (kind == "revolute"):
            raise _misplaced(a, kind)


def _misplaced(actuator, kind: str) -> InputError:
    """What to say of a drive that pushes where it would have to turn, or turns where it would have to push."""
    drive = type(actuator.drive).__name__
    wanted = "a revolute joint" if actuator.drive.turns else "two pins or a prismatic joint"
    given = f"the {kind} joint of {actuator.joint}" if actuator.joint else "two pins"
    other = "revolute" if actuator.drive.turns else "prismatic"
    mend = "name the body whose joint it turns in place of the pins"
    if actuator.joint:
        mend = f"write 'joint: {other}' at {actuator.joint}"
    return InputError(
        f"actuators.{actuator.name}.drive: a {drive} acts on {wanted}, and here it is on {given}",
        mend=f"{mend}, or choose another drive",
    )


def check_supply(mechanism) -> None:
    """Drives that take oil have a supply, and a supply has drives that take its oil."""
    takers = [a for a in mechanism.actuators if a.drive.needs_supply]
    if takers and mechanism.supply is None:
        named = f"{', '.join(a.name for a in takers)} {'take' if takers[1:] else 'takes'}"
        raise InputError(
            f"supply: {named} oil from a supply, and the mechanism has none",
            key="supply",
            mend="give it one, e.g. 'supply: {type: ConstantPressure, p_s: 185 bar}'",
        )
    if mechanism.supply is not None and not takers:
        raise InputError(
            "supply: none of the drives takes oil from it",
            key="supply",
            mend="leave it out, or give an actuator a drive that takes oil, such as ServoCylinder",
        )
    if mechanism.supply is not None:
        mechanism.supply.check(takers)
    if mechanism.supply is not None and mechanism.supply.settles:
        _check_settled(mechanism)


def _check_settled(mechanism) -> None:
    """A pump whose line holds no oil serves drives whose chambers hold none either."""
    for a in mechanism.actuators:
        drive = a.drive
        if not drive.needs_supply or type(drive).behind is not Drive.behind:
            continue
        raise InputError(
            f"actuators.{a.name}.drive: the flow of a {type(drive).__name__} depends on the pressure of its supply, and "
            "the pressure of this supply depends on the flow of its drives at the same instant",
            key="supply",
            mend="choose SharedPump, whose line holds oil, or a drive behind quasistatic valves (MeteredSection, MeteredRod)",
        )


def check_surroundings(mechanism) -> None:
    """A wrench at the tool needs a tool; the penalty method works on a ground at rest only."""
    if mechanism.tool_wrench and mechanism.tcp is None:
        raise InputError(
            "tool_wrench: the mechanism has no tool for a wrench to act on",
            key="tool_wrench",
            mend="give it a tcp: {body: …, point: …}",
        )
    asked = (("moving_ground", mechanism.moving_ground), ("tool_wrench", mechanism.tool_wrench))
    for name, wanted in asked:
        if mechanism.method == "penalty" and wanted:
            raise InputError(
                f"{name}: method penalty takes no such disturbances",
                key=name,
                mend="write 'method: projected' or 'method: minimal'",
            )


EARTH = 9.81  # m/s²
MOST_WEIGHT = 10  # times that of the earth: more is no machine's weight


@cache
def tell_odd_gravity(gravity: tuple[float, ...]) -> None:
    """A Notice, once for each gravity, where bodies fall along +y or +z, or far faster than on earth: most likely a slip.

    It is no error: a drawing whose y points downwards has such a gravity.
    """
    axis = max(range(3), key=lambda i: abs(gravity[i]))
    size = abs(gravity[axis])
    written = f"gravity: [{', '.join(f'{value:g}' for value in gravity)}]"
    if axis > 0 and gravity[axis] > 0:
        down = ", ".join(f"{-size:g}" if i == axis else "0" for i in range(3))
        warnings.warn(
            Notice(
                f"{written} lets bodies fall along +{'xyz'[axis]}, which is upwards in every picture; weight that acts "
                f"downwards is [{down}]. If your {'xyz'[axis]} points downwards, all is well"
            ),
            stacklevel=2,
        )
    if size > MOST_WEIGHT * EARTH:
        warnings.warn(
            Notice(
                f"{written} is {size / EARTH:.4g} times that of the earth; plain numbers are in m/s²"
            ),
            stacklevel=2,
        )


def check_signals(mechanism) -> None:
    """No two signals of one name, and no two causes of one name in the energy account."""
    m = mechanism
    for called in (names([*m.states, *m.monitors, *m.inputs]), [*m.power_names, "stored"]):
        twice = next((name for name in called if called.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"bodies, actuators: two signals would be called {twice!r}",
                mend="rename a body or an actuator",
            )


def check_pins_apart(mechanism) -> None:
    """No actuator starts with its pins on each other."""
    found = mechanism.assembly
    motion = mechanism.moving(found.z, found.rates)
    tried(partial(_check_apart, mechanism, motion, a) for a in mechanism.actuators if not a.joint)


def check_lengths(mechanism) -> None:
    """Actuators start within their range."""
    found = mechanism.assembly
    motion = mechanism.moving(found.z, found.rates)
    pulls = mechanism.pulls(motion, found.z, found.rates, None, None)
    joints = {body.name: body.joint for body in mechanism.bodies}
    tried(
        partial(_check_length, a, float(pull.s), joints.get(a.joint))
        for a, pull in zip(mechanism.actuators, pulls)
    )


def _check_apart(mechanism, motion, actuator) -> None:
    ends = [
        point(motion, mechanism.number(pin.body), pin.point)[0] for pin in (actuator.a, actuator.b)
    ]
    if max(abs(p - q) for p, q in zip(*ends)) < 1e-9:
        raise InputError(
            f"actuators.{actuator.name}: its pins lie on each other at the start, so it has no direction",
            mend="start elsewhere, or move a pin",
        )


def _check_length(actuator, s: float, joint: str | None = None) -> None:
    """InputError where an actuator between pins, or the joint of that kind that it moves, is out of its range at the start."""
    low = -inf if actuator.shortest is None else actuator.shortest
    high = inf if actuator.longest is None else actuator.longest
    if low <= s <= high:
        return
    if joint == "revolute":
        raise InputError(
            f"actuators.{actuator.name}: joint {actuator.joint} is at {degrees(s):.4g} deg at the start and can only go from "
            f"{degrees(low):.4g} to {degrees(high):.4g} deg",
            mend="start it inside, with hold where closing a loop moves it; or move the pins",
        )
    off = f"{low - s:.4g} m less than retracted"
    if s > high:
        off = f"{s - high:.4g} m more than extended"
    raise InputError(
        f"actuators.{actuator.name}: measures {s:.6g} m at the start and can only span "
        f"{actuator.shortest or 0:g} … {high:g} m; {off}",
        mend="start elsewhere, or move its pins",
    )


def check_masses(mechanism, M) -> None:
    """Every motion must move some mass."""
    if not len(M):
        raise InputError(
            "bodies: all of them are fixed, so nothing can move", mend="put one on another joint"
        )
    scale = np.sqrt(np.maximum(np.diag(M), 0.0))
    for i, j in enumerate(mechanism.tree.body_of):
        if not scale[i] > 0:
            raise InputError(
                f"bodies.{mechanism.bodies[j].name}: moving its joint moves no mass",
                mend="give it a mass, or make the joint fixed",
            )
    σ, V = np.linalg.eigh(M / np.outer(scale, scale))
    if σ[0] < 1e-13:
        j = mechanism.tree.body_of[int(np.abs(V[:, 0]).argmax())]
        raise InputError(
            f"bodies.{mechanism.bodies[j].name}: its joint and others can move together without moving any mass",
            mend="give it a mass and inertia, or remove a joint",
        )


def check_faces(mechanism, z) -> None:
    """Axes of a closed cut point the same way."""
    motion = mechanism.moving(z, None)
    for loop, (a, b) in zip(mechanism.loops, mechanism.cuts):
        if any(float(product) < 0 for product in facing(loop, motion, a, b)):
            raise InputError(
                f"loops.{loop.name}: closes with its two axes or normals opposite to each other",
                mend="turn one of them round, or start nearer to what is meant",
            )
