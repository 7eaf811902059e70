"""The state a mechanism starts in: assembled, at rest, its drives under the forces that hold it; and what was found, in words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from plants.multibody.virtual_work import at_rest, lever_arms, loads
from workbench.contract.errors import InputError, tried
from workbench.contract.parameters import graph_key
from workbench.contract.remembered import remembered
from workbench.contract.system import names

POSES = 200  # whose states at rest are kept of one mechanism


def in_words(mechanism) -> str:
    """What the assembly found, in a sentence or two."""
    found = mechanism.assembly
    units = {s.name: s.unit for s in mechanism.coordinates}
    many = found.mobility
    text = f"{many} degree{'s' if many != 1 else ''} of freedom"
    per: dict[str, int] = {}
    for loop, _ in found.left_out:
        per[loop] = per.get(loop, 0) + 1
    if per:
        text += ", after leaving out constraints that follow from others: " + ", ".join(
            f"{n} of {k}" for k, n in per.items()
        )
    if found.moved:
        text += ". To close the loops the start was moved: " + ", ".join(
            f"{name} by {δ:.4g} {units[name]}".removesuffix(" 1") for name, δ in found.moved.items()
        )
    return text + "."


def start(mechanism) -> list:
    """The state at the assembled start, drives at rest under the forces that hold it."""
    found = mechanism.assembly
    zs, vs = mechanism.own
    lengths = mechanism.pulls(
        mechanism.moving(found.z, found.rates), found.z, found.rates, None, None
    )
    forces = holding_forces(mechanism, found.z)
    begun = tried(
        partial(_begun, a, float(p.s), F, mechanism.line_at_most)
        for a, p, F in zip(mechanism.actuators, lengths, forces)
    )
    own = [value for states in begun for value in states]
    tops = [
        _chambers(a, states)
        for a, states in zip(mechanism.actuators, begun)
        if a.drive.needs_supply
    ]
    if mechanism.supply is not None:
        own += mechanism.supply.initial(tops)
    return [*(found.z[i] for i in zs), *(found.rates[i] for i in vs), *map(float, own)]


def _begun(actuator, s: float, force: float, line) -> list:
    """States of a drive of length s at rest under a force; InputError under the actuator's name."""
    try:
        return actuator.drive.initial(s, force, line)
    except InputError as why:
        raise InputError(f"actuators.{actuator.name}: {why.message}", mend=why.mend) from None


def _chambers(actuator, states) -> list:
    """The pressures among the states of a drive."""
    chambers = actuator.drive.pressures(actuator.name)
    own = names(actuator.drive.states(actuator.name))
    return [p for name, p in zip(own, states) if name in chambers]


def rested(mechanism, q) -> list:
    """The state at rest with the start q; worked out once for every q, as long as the text of its parts stays as it is."""
    at = tuple(map(float, q))
    kept = remembered(("rest", graph_key(mechanism)), mechanism, dict)
    found = kept.get(at)
    if found is None:
        if len(kept) >= POSES:
            kept.clear()
        found = kept[at] = _state_or_why(mechanism, at)
    if isinstance(found, InputError):
        raise found.at()
    return list(found)


def _state_or_why(mechanism, q) -> list | InputError:
    """The state at rest with the start q, or why there is none."""
    try:
        return resting(mechanism, q).initial()
    except InputError as why:
        return why.with_traceback(None)


def resting(mechanism, q):
    """The mechanism with the start q (leading position states, in order) and no velocity."""
    owners = {at: j for j, (at, many) in enumerate(mechanism.tree.z) if many == 1}
    zs = mechanism.own[0]
    given = {}
    if len(q) > len(zs) or any(i not in owners for i in zs[: len(q)]):
        raise InputError(
            f"expected up to {len(zs)} positions, those of joints that turn about an axis or slide: "
            f"{', '.join(mechanism.coordinates[i].name for i in zs)}",
            mend="give fewer, in this order",
        )
    for i, value in zip(zs, q):
        given[owners[i]] = float(value)
    bodies = tuple(
        replace(b, start=given.get(j, b.start), rate=0.0) for j, b in enumerate(mechanism.bodies)
    )
    return replace(mechanism, bodies=bodies)


def holding_forces(mechanism, z) -> list[float]:
    """Forces of the actuators that hold positions z at rest, by virtual work: weight + Σ F_k ∂s_k/∂z − Φ_zᵀ λ = 0.

    Drives that are laws (springs, forces at input zero) give what they give; the others share the rest, by least squares.
    """
    z = list(map(float, z))
    motion, pulls = at_rest(mechanism, z)
    laws = [k for k, a in enumerate(mechanism.actuators) if a.drive.is_law]
    open_ = [k for k in range(len(pulls)) if k not in laws]
    F = [0.0] * len(pulls)
    for k in laws:
        drive = mechanism.actuators[k].drive
        F[k] = float(drive.force([], pulls[k].s, 0.0, [0.0] * len(drive.inputs("")), None))
    if not open_:
        return F
    known = np.array(loads(mechanism, motion, pulls, F, mechanism.gravity), float)
    arms = np.array(lever_arms(mechanism, motion, pulls), float)
    columns = np.vstack([*(arms[k] for k in open_), -mechanism.constraints(z)[1]]).T
    for k, force in zip(open_, np.linalg.lstsq(columns, -known, rcond=1e-10)[0]):
        F[k] = float(force)
    return F
