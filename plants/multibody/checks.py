"""What a mechanism refuses when it is built, in words."""

from __future__ import annotations

from math import inf

from plants.multibody.drives import Force, Torque
from plants.multibody.parts import GROUND
from workbench.errors import InputError


def check_names(mechanism) -> None:
    """Bodies that loops and actuators speak of exist, and drives act on joints they can act on."""
    known = [GROUND, *(b.name for b in mechanism.bodies)]
    mechanism.tree  # noqa: B018 — it refuses parents that do not exist
    named = [(f"{kind}.{part.name}.{side}.body", getattr(part, side).body) for kind in ("loops", "actuators")
             for part in getattr(mechanism, kind) for side in "ab" if getattr(part, side) is not None]
    named += [(f"actuators.{a.name}.joint", a.joint) for a in mechanism.actuators if a.joint]
    for key, body in named:
        if body not in known:
            raise InputError(f"there is no body {body!r}", key=key, mend=f"choose from {', '.join(known)}")
    for kind in ("loops", "actuators"):
        called = [part.name for part in getattr(mechanism, kind)]
        for name in called:
            if called.count(name) > 1:
                raise InputError(f"{name!r} is there twice", key=kind, mend="give each a name of its own")
    for a in mechanism.actuators:
        kind = next((b.joint for b in mechanism.bodies if b.name == a.joint), "" if not a.joint else "fixed")
        if kind in ("fixed", "spherical"):
            raise InputError(f"{a.joint} has a {kind} joint, which no drive can act on", key=f"actuators.{a.name}.joint",
                             mend="name a body on a revolute or prismatic joint")
        if isinstance(a.drive, Torque | Force) and isinstance(a.drive, Torque) != (kind == "revolute"):
            raise InputError("a Torque acts on a revolute joint, a Force between two pins or on a prismatic joint",
                             key=f"actuators.{a.name}.drive", mend="exchange the two, or name another joint")


def check_lengths(mechanism) -> None:
    """Actuators start within their range, and not with their pins on each other."""
    found = mechanism.assembly
    motion = mechanism.moving(found.z, found.rates)
    for a, pull in zip(mechanism.actuators, mechanism.pulls(motion, found.z, found.rates, None, None)):
        s, shortest, longest = float(pull.s), a.shortest or -inf, a.longest or inf
        if not a.joint and s < 1e-9:
            raise InputError(f"the pins of {a.name} lie on each other at the start, so it has no direction",
                             key=f"actuators.{a.name}", mend="start elsewhere, or move a pin")
        if not shortest <= s <= longest:
            raise InputError(f"{a.name} measures {s:.6g} m at the start and can only span {a.shortest or 0:g} … {longest:g} m",
                             key=f"actuators.{a.name}", mend="start elsewhere, or move its pins")
