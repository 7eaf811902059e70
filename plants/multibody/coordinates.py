"""Coordinates a path can be given in: independent joints, lengths of the drives, the tool.

    joint       q, positions of the joints that no closed loop determines
    piston      s_j(q), lengths of the driven actuators: a space of its own where there is one for each coordinate
    cartesian   tool's x and y (n = 2), and its angle about z (n = 3), of a mechanism in the plane of x and y

They exist where positions of all joints follow from the independent ones: without loops, or with method minimal.
"""

from __future__ import annotations

from plants.components.spatial import add, turn
from plants.multibody import reduced
from workbench.contract.errors import InputError

TOOL = ("tcp_x", "tcp_y", "tcp_φ")


def independent(mechanism) -> bool:
    """Whether positions of all joints follow from the independent ones, each of them one number."""
    closed = bool(mechanism.closings) or not mechanism.loops
    return closed and all(body.joint != "spherical" for body in mechanism.bodies)


def driven(mechanism) -> list[int]:
    """Numbers of the actuators that take commands."""
    return [
        i
        for i, a in enumerate(mechanism.actuators)
        if any(s.kind != "disturbance" for s in a.drive.inputs(a.name))
    ]


def joints(mechanism) -> list[str]:
    """Names of the independent coordinates."""
    return [mechanism.coordinates[i].name for i in mechanism.own[0]]


def spaces(mechanism) -> tuple[str, ...]:
    """Spaces a path can be given in."""
    if not independent(mechanism):
        return ()
    n = len(mechanism.own[0])
    piston = ("piston",) if len(driven(mechanism)) == n else ()
    cartesian = ("cartesian",) if mechanism.tcp is not None and n in (2, 3) else ()
    return ("joint", *piston, *cartesian)


def names(mechanism, space: str) -> list[str]:
    """Names of the coordinates of a space; InputError where the mechanism does not have it."""
    check(mechanism, space)
    if space == "joint":
        return joints(mechanism)
    if space == "piston":
        return [f"s_{mechanism.actuators[i].name}" for i in driven(mechanism)]
    return list(TOOL[: len(mechanism.own[0])])


def check(mechanism, space: str) -> None:
    """InputError for a space that the mechanism does not have."""
    if space in spaces(mechanism):
        return
    reasons = {
        "piston": "it takes one driven actuator for each coordinate",
        "cartesian": "it takes a tool (tcp: {body: …, point: …}) and two or three coordinates",
    }
    why = reasons.get(space, "its paths are given in other spaces")
    if not independent(mechanism):
        why = "its joints do not follow from independent ones; write 'method: minimal'"
    raise InputError(
        f"{mechanism.name} has no {space} space: {why}",
        mend=f"choose from {', '.join((*spaces(mechanism), 'output'))}",
    )


def task(mechanism, space: str, q) -> list:
    """Coordinates of a space at independent positions q; lengths of the drives also where they are no space for paths."""
    if space == "joint":
        return list(q)
    if space == "piston":
        return lengths(mechanism, q)
    check(mechanism, space)
    position, angle = place(mechanism, q)
    return [*position[:2], angle][: len(q)]


def lengths(mechanism, q) -> list:
    """s_j of the driven actuators, m."""
    z = positions(mechanism, q)
    still = [0.0] * mechanism.tree.n_v
    pulls = mechanism.pulls(mechanism.closed(z, still), z, still, None, None)
    return [pulls[i].s for i in driven(mechanism)]


def positions(mechanism, q) -> list:
    """Positions of all joints."""
    return reduced.positions(mechanism, list(q)) if mechanism.closings else list(q)


def place(mechanism, q) -> tuple[list, object]:
    """(position of the tool in the world, its angle about z): the sum of the angles above it whose axis is z, or against it."""
    z = positions(mechanism, q)
    position = tip(mechanism, mechanism.closed(z, None))
    j = mechanism.number(mechanism.tcp.body)
    angle = 0.0
    while j >= 0:
        body = mechanism.bodies[j]
        if body.joint == "revolute":
            angle = angle + body.axis[2] * z[mechanism.tree.z[j][0]]
        j = mechanism.tree.parent[j]
    return position, angle


def tip(mechanism, motion) -> list:
    """Position of the tool in the world, m."""
    j = mechanism.number(mechanism.tcp.body)
    return add(motion.r[j], turn(motion.R[j], mechanism.tcp.point))
