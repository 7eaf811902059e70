"""Which machines virtual decomposition control can serve: a sentence for every one that it cannot."""

from __future__ import annotations

import numpy as np

from controllers.vdc.parts import SERVED
from plants.multibody import coordinates, drive_forces
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from workbench.contract.errors import InputError
from workbench.contract.system import System

# Least singular value of J_s, of its largest: below it a coordinate is held by no drive.
HELD = 1e-6


def unfit(model) -> InputError | None:
    """The reason why the law cannot serve a plant, in words; empty where it can."""
    machine = model.mechanism if isinstance(model, System) else None
    if machine is None:
        return _no_machine(model)
    why = _unserved(machine)
    if why is None and not model.n:
        return _no_machine(model)
    return why or (None if model.structures else _loose(model))


def unaccounted(parts, plant) -> InputError | None:
    """Why a law of these parts has no ledger on a plant, if it has none: every drive must be of a kind that its part serves."""
    machine = plant.mechanism
    if machine is None:
        unknown = [plant]
    else:
        drives = (machine.actuators[i].drive for i in coordinates.driven(machine))
        unknown = [
            drive for part, drive in zip(parts, drives) if not isinstance(drive, part.serves)
        ]
    if not unknown:
        return None
    return InputError(
        f"VDC: its ledger is that of bodies and drives, and knows no {type(unknown[0]).__name__}",
        mend="verify it on the model's kind of plant; simulate runs it on this one",
    )


def _unserved(model: Mechanism) -> InputError | None:
    """Why this law cannot serve a mechanism, if it cannot."""
    if model.method == "penalty":
        return InputError(
            f"VDC: {model.name} is described by method penalty, which leaves its loops open by a little",
            mend="write 'method: minimal' (planar loops) or 'method: projected' (any loops)",
        )
    for i in coordinates.driven(model):
        a = model.actuators[i]
        if not isinstance(a.drive, SERVED):
            served = ", ".join(cls.__name__ for cls in SERVED)
            return InputError(
                f"VDC: no law for the drive of actuator {a.name}, a {type(a.drive).__name__}",
                mend=f"choose from {served}; or PID",
            )
    return None


def _no_machine(model) -> InputError:
    return InputError(
        f"VDC: {type(model).__name__} is no manipulator or mechanism; virtual decomposition needs links and cylinders "
        "with valves",
        mend="choose PID or MPC, or a crane",
    )


def _loose(plant: Mechanism | Built) -> InputError | None:
    """Why some coordinate is held by no drive, if one is, at the mechanism's start."""
    model = plant.mechanism
    n = len(model.lead)
    q, _ = model.pose_and_rates([float(v) for v in plant.inner(plant.initial())])
    rows = np.array(drive_forces.rows_at(model, q), float).reshape(-1, n)
    names = coordinates.freedoms(model)
    if len(rows):
        _, σ, Vt = np.linalg.svd(rows / np.maximum(np.abs(rows).max(), 1e-300))
        if len(σ) == n and σ[-1] > HELD * σ[0]:
            return None
        free = names[int(np.abs(Vt[-1]).argmax())]
    else:
        free = names[0]
    return InputError(
        f"VDC: {model.name} has {n} coordinates ({', '.join(names)}) and {len(rows)} drives, which leave {free} free",
        mend="give every coordinate a drive, or fix the joint",
    )
