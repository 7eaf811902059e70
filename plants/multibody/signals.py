"""Names of a mechanism's signals, by the joints and actuators it has."""

from __future__ import annotations

from workbench.contract.system import Signal

JOINTS = {"revolute": ("q", "rad", "angle"), "prismatic": ("x", "m", "position")}


def positions(bodies) -> tuple[Signal, ...]:
    """q_… (revolute), x_… (prismatic), e_…_0 to 3 (spherical: a quaternion)."""
    found = []
    for b in bodies:
        if b.joint == "spherical":
            found += [Signal(f"e_{b.name}_{k}", "1", f"quaternion of {b.name}") for k in range(4)]
        elif b.joint in JOINTS:
            letter, unit, word = JOINTS[b.joint]
            found.append(Signal(f"{letter}_{b.name}", unit, f"{word} of {b.name}"))
    return tuple(found)


def rates(bodies) -> tuple[Signal, ...]:
    """dq_…, dx_…, ω_…_x to z (spherical, in the body's axes)."""
    found = []
    for b in bodies:
        if b.joint == "spherical":
            found += [
                Signal(f"ω_{b.name}_{a}", "rad/s", f"angular velocity of {b.name} in its axes")
                for a in "xyz"
            ]
        elif b.joint in JOINTS:
            letter, unit, _ = JOINTS[b.joint]
            found.append(Signal(f"d{letter}_{b.name}", f"{unit}/s", f"rate of {b.name}"))
    return tuple(found)


def lengths(mechanism) -> tuple[Signal, ...]:
    """s_… and ds_… of the actuators; on a joint they are its position and rate."""
    kinds = {b.name: b.joint for b in mechanism.bodies}
    units = [JOINTS[kinds[a.joint]][1] if a.joint else "m" for a in mechanism.actuators]
    s = [
        Signal(f"s_{a.name}", unit, f"length of {a.name}")
        for a, unit in zip(mechanism.actuators, units)
    ]
    return (*s, *(Signal(f"d{x.name}", f"{x.unit}/s", f"rate of {x.meaning}") for x in s))


def bends(mechanism) -> tuple[Signal, ...]:
    """How far links are from a line, 0 there: "bend_…" of each loop that is closed in closed form, else "bend" of all loops."""
    if mechanism.closings:
        loops = [mechanism.loops[k.loop].name for k in mechanism.closings]
        return tuple(
            Signal(f"bend_{name}", "1", f"how far {name} is from a dead point") for name in loops
        )
    if not mechanism.kept or mechanism.used != mechanism.kept:
        return ()
    return (Signal("bend", "1", "how far the loops are from a change point"),)


def dead_ends(mechanism) -> dict[str, str]:
    """bend_… of each closing → what happens at its zero."""
    found = {}
    for k in mechanism.closings:
        loop, (a, b) = mechanism.loops[k.loop].name, (mechanism.bodies[j].name for j in k.unknown)
        found[f"bend_{loop}"] = (
            f"loop {loop} comes to a dead point: the joints of {a} and {b} are in line, where method minimal "
            "cannot tell which way they go on (write 'method: projected', or 'hold: true' at another joint)"
        )
    return found


def change_points(mechanism) -> dict[str, str]:
    """bend of all loops → what happens at its zero."""
    names = ", ".join(loop.name for loop in mechanism.loops)
    return {
        s.name: f"the linkage is driven through a change point (loop {names}): its links are in line, and which way they go on "
        "is not determined"
        for s in bends(mechanism)
        if not mechanism.closings
    }


def forces(mechanism) -> tuple[Signal, ...]:
    """f_… of the actuators; a torque on a revolute joint."""
    kinds = {b.name: b.joint for b in mechanism.bodies}
    return tuple(
        Signal(
            f"f_{a.name}", "N m" if kinds.get(a.joint) == "revolute" else "N", f"force of {a.name}"
        )
        for a in mechanism.actuators
    )


def of_parts(mechanism) -> tuple[Signal, ...]:
    """What drives log, with their flow from the supply, and what the supply logs."""
    found = []
    for a in mechanism.actuators:
        found += a.drive.logged(a.name)
        if a.drive.needs_supply:
            found.append(Signal(flow_name(a.name), "m^3/s", f"flow of {a.name} from the pump"))
    own = () if mechanism.supply is None else mechanism.supply.logged()
    return (*found, *own)


def flow_name(label: str) -> str:
    """The logged flow of a drive from the supply."""
    return f"Q_s_{label}"
