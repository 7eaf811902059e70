"""Names of a mechanism's signals, by the joints and actuators it has."""

from __future__ import annotations

from workbench.system import Signal

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
            found += [Signal(f"ω_{b.name}_{a}", "rad/s", f"angular velocity of {b.name} in its axes") for a in "xyz"]
        elif b.joint in JOINTS:
            letter, unit, _ = JOINTS[b.joint]
            found.append(Signal(f"d{letter}_{b.name}", f"{unit}/s", f"rate of {b.name}"))
    return tuple(found)


def lengths(mechanism) -> tuple[Signal, ...]:
    """s_… and ds_… of the actuators; on a joint they are its position and rate."""
    kinds = {b.name: b.joint for b in mechanism.bodies}
    units = [JOINTS[kinds[a.joint]][1] if a.joint else "m" for a in mechanism.actuators]
    s = [Signal(f"s_{a.name}", unit, f"length of {a.name}") for a, unit in zip(mechanism.actuators, units)]
    return (*s, *(Signal(f"d{x.name}", f"{x.unit}/s", f"rate of {x.meaning}") for x in s))


def forces(mechanism) -> tuple[Signal, ...]:
    """f_… of the actuators; a torque on a revolute joint."""
    kinds = {b.name: b.joint for b in mechanism.bodies}
    return tuple(Signal(f"f_{a.name}", "N m" if kinds.get(a.joint) == "revolute" else "N", f"force of {a.name}")
                 for a in mechanism.actuators)
