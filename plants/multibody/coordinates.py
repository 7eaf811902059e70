"""Coordinates a path can be given in: joints that lead, lengths of the drives, the tool.

    joint       positions of the joints from which all others follow, where each of them has one number
    piston      s_j(q), lengths of the driven actuators: a space of its own where there is one for each degree of freedom
    cartesian   tool's x and y (two degrees of freedom), and its angle about z (three), of a mechanism in the plane of x and y

Where positions of all joints follow from independent ones, q are these: without loops, or with method minimal. Else q are the
positions of all joints, quaternions included, and what is zero where they fit together is `misfit`.
"""

from __future__ import annotations

from plants.components.spatial import add, turn
from plants.multibody import reduced, tree
from workbench.contract.errors import InputError

TOOL = ("tcp_x", "tcp_y", "tcp_φ")


def independent(mechanism) -> bool:
    """Whether positions of all joints follow from the independent ones, each of them one number."""
    closed = bool(mechanism.closings) or not mechanism.loops
    return closed and all(body.joint != "spherical" for body in mechanism.bodies)


def misfit(mechanism, q) -> list:
    """What is zero where the positions q fit together: rows of the loops, and |e|² − 1 of every quaternion."""
    if independent(mechanism):
        return []
    found = []
    if not mechanism.closings:
        rows = mechanism.rows(mechanism.moving(list(q), None))
        found = [rows[i].value for i in mechanism.kept]
    at = dict(zip(mechanism.own[0], q))
    for body, (first, many) in zip(mechanism.bodies, mechanism.tree.z):
        if body.joint == "spherical":
            found.append(sum(at[i] * at[i] for i in range(first, first + many)) - 1.0)
    return found


def velocities(mechanism, q, qd) -> list:
    """Rates of the positions q that are states, from q̇: those of quaternions follow from angular velocities."""
    if len(q) == len(qd):
        return list(qd)
    zs, vs = mechanism.own
    z = [0.0] * mechanism.tree.n_z
    rates = [0.0] * mechanism.tree.n_v
    for i, value in zip(zs, q):
        z[i] = value
    for i, value in zip(vs, qd):
        rates[i] = value
    found = tree.velocities(mechanism.bodies, mechanism.tree, z, rates)
    return [found[i] for i in zs]


def leading(mechanism) -> list[int]:
    """Numbers of the positions of the joints that lead; empty where one of those is a ball joint."""
    T = mechanism.tree
    bodies = [T.body_of[i] for i in mechanism.lead]
    if any(mechanism.bodies[j].joint == "spherical" for j in bodies):
        return []
    return [T.z[j][0] for j in bodies]


def driven(mechanism) -> list[int]:
    """Numbers of the actuators that take commands."""
    return [
        i
        for i, a in enumerate(mechanism.actuators)
        if any(s.kind != "disturbance" for s in a.drive.inputs(a.name))
    ]


def joints(mechanism) -> list[str]:
    """Names of the coordinates of the joint space."""
    return [mechanism.coordinates[i].name for i in leading(mechanism)]


def freedoms(mechanism) -> list[str]:
    """Names of the degrees of freedom: positions of the joints that lead, or a rate about an axis of a ball joint."""
    return joints(mechanism) or [mechanism.rates[i].name for i in mechanism.lead]


def spaces(mechanism) -> tuple[str, ...]:
    """Spaces a path can be given in."""
    if mechanism.method == "penalty":
        return ()
    n = len(mechanism.lead)
    joint = ("joint",) if leading(mechanism) else ()
    piston = ("piston",) if len(driven(mechanism)) == n else ()
    planar = independent(mechanism) and n in (2, 3)
    cartesian = ("cartesian",) if mechanism.tcp is not None and planar else ()
    return (*joint, *piston, *cartesian)


def names(mechanism, space: str) -> list[str]:
    """Names of the coordinates of a space; InputError where the mechanism does not have it."""
    check(mechanism, space)
    if space == "joint":
        return joints(mechanism)
    if space == "piston":
        return lengths_named(mechanism)
    return list(TOOL[: len(mechanism.lead)])


def lengths_named(mechanism) -> list[str]:
    """Names of the lengths of the driven actuators."""
    return [f"s_{mechanism.actuators[i].name}" for i in driven(mechanism)]


def check(mechanism, space: str) -> None:
    """InputError for a space that the mechanism does not have."""
    if space in spaces(mechanism):
        return
    reasons = {
        "joint": "its joints follow from a ball joint, whose position is no single number",
        "piston": "it takes one driven actuator for each coordinate",
        "cartesian": "it takes a tool (tcp: {body: …, point: …}) and two or three coordinates",
    }
    why = reasons.get(space, "its paths are given in other spaces")
    if mechanism.method == "penalty" or space == "cartesian" and not independent(mechanism):
        why = "its joints do not follow from independent ones; write 'method: minimal'"
    raise InputError(
        f"{mechanism.name} has no {space} space: {why}",
        mend=f"choose from {', '.join((*spaces(mechanism), 'output'))}",
    )


def task(mechanism, space: str, q) -> list:
    """Coordinates of a space at positions q; "piston" gives the lengths of the drives also where no path can be given in them."""
    if space == "joint" and independent(mechanism):
        return list(q)
    if space == "joint":
        check(mechanism, space)
        z = positions(mechanism, q)
        return [z[i] for i in leading(mechanism)]
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
