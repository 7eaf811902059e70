"""Actuators at work: lengths, rates and forces, and what they do to the bodies."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from plants.multibody import loops
from plants.multibody.drives import effort
from plants.multibody.tree import Motion
from workbench.contract.machine_limits import Limit, chamber_limits, command_limits, span_limits


class Pull(NamedTuple):
    """An actuator at work: length s, rate ṡ, force F, its states and inputs, and how it acts on the mechanism."""

    s: object
    rate: object
    force: object
    x: list
    u: list
    wrench: tuple | None


def shared_out(actuators, y) -> list[list]:
    """The states of every drive, from all of them in order."""
    parts, at = [], 0
    for a in actuators:
        many = len(a.drive.states(a.name))
        parts.append(list(y[at : at + many]))
        at += many
    return parts


def velocity_gain(actuators) -> float:
    """Velocity per unit of command, the mean of those that take one."""
    gains = [a.drive.velocity_gain for a in actuators if a.drive.inputs(a.name)]
    if not gains:
        raise AttributeError("velocity_gain: there is no command")
    return sum(gains) / len(gains)


def spans(actuators) -> dict[str, tuple[float, float]]:
    """(least, largest) of the logged s_…, of actuators where either is known."""
    return {f"s_{a.name}": a.span for a in actuators if a.span != (-inf, inf)}


def limits(actuators) -> dict[str, tuple[float, float]]:
    """Range of the inputs of drives that have one."""
    return {
        a.drive.inputs(a.name)[0].name: (-a.drive.limit, a.drive.limit)
        for a in actuators
        if getattr(a.drive, "limit", None)
    }


def machine_limits(mechanism) -> tuple[Limit, ...]:
    """What actuators can span, their chambers, spools and commands."""
    spools = []
    for a in mechanism.actuators:
        for s in a.drive.states(a.name):
            if s.unit == "V":
                u = a.drive.limit
                spools.append(
                    Limit(
                        f"spool of {a.name}",
                        (s.name,),
                        -u,
                        u,
                        "V",
                        "valve",
                        "travel of the spool",
                        f"actuators.{a.name}.drive.U_max",
                        bearable=True,
                    )
                )
    return (
        *span_limits(mechanism),
        *chamber_limits(mechanism.pressure_names, 0.0),
        *spools,
        *command_limits(mechanism),
    )


def joint_at(mechanism, actuator) -> tuple[int, int]:
    """Which position and which rate are those of the joint an actuator is on."""
    j = mechanism.number(actuator.joint)
    return mechanism.tree.z[j][0], mechanism.tree.v[j][0]


def pulls(mechanism, motion: Motion, z, rates, own, u) -> list[Pull]:
    """What every actuator does, with its states `own` and all inputs u; None: lengths and rates only."""
    found, at = [], 0
    for k, a in enumerate(mechanism.actuators):
        if a.joint:
            (i, j), wrench = joint_at(mechanism, a), None
            s, rate = z[i], rates[j]
        else:
            s, rate, wrench = loops.line_of(
                motion, mechanism.number(a.a.body), a.a, mechanism.number(a.b.body), a.b
            )
        many = len(a.drive.inputs(a.name))
        x, w = ([], []) if own is None else (own[k], list(u[at : at + many]))
        found.append(
            Pull(s, rate, None if own is None else effort(a.drive, x, s, rate, w), x, w, wrench)
        )
        at += many
    return found


def applied(mechanism, pulls: list[Pull], forces) -> tuple[list, list]:
    """(wrench on every body, force on every joint) of these forces of the actuators."""
    wrenches, own = [None] * len(mechanism.bodies), [0.0] * mechanism.tree.n_v
    for a, pull, F in zip(mechanism.actuators, pulls, forces):
        if pull.wrench is None:
            i = joint_at(mechanism, a)[1]
            own[i] = loops.plain_sum(own[i], F)
            continue
        on_b = tuple([F * e for e in part] for part in pull.wrench)
        loops.loaded(wrenches, mechanism.number(a.b.body), on_b)
        loops.loaded(wrenches, mechanism.number(a.a.body), loops.opposite(on_b))
    return wrenches, own
