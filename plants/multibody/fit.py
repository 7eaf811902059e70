"""Whether every cylinder of an assembled mechanism fits; all those that do not are listed, with numbers that would.

A machine whose cylinders do not fit cannot run, but its bodies and pins are known. `Faults.machine` of the refusal is the machine
as far as it is built, so that it can be drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import degrees

import numpy as np

from plants.multibody import acting, checks, strokes
from plants.multibody.points import NamedPoint
from plants.multibody.starting import start
from workbench.contract.errors import Faults, InputError

ELSEWHERE = "start elsewhere"  # what a refusal advises that knows no better


def check_fit(mechanism, drawn: bool) -> None:
    """Faults of all actuators: starts outside a stroke; where the machine is `drawn` by pins, dead points in a stroke, too."""
    checks.check_pins_apart(mechanism)
    faults = _told(partial(checks.check_lengths, mechanism))
    known = {_part(fault) for fault in faults}
    faults += [why for why in _told(partial(start, mechanism)) if _part(why) not in known]
    if drawn:
        known = {_part(fault) for fault in faults}
        dead = _told(partial(strokes.check_strokes, mechanism))
        faults += [why for why in dead if _part(why) not in known]
    if faults:
        raise Faults([_advised(mechanism, fault) for fault in faults], mechanism)


def _told(step: Callable[[], object]) -> list[InputError]:
    """The faults that a step raises."""
    try:
        step()
    except Faults as why:
        return list(why.each)
    except InputError as why:
        return [why]
    return []


def opened(mechanism) -> object:
    """The mechanism with its loops left open at the start that was given, to be drawn; None where even that cannot be built."""
    left = {b.name: b.pins for b in mechanism.bodies}
    ground = mechanism.pins
    for loop in mechanism.loops:
        for place in (loop.a, loop.b):
            pin = NamedPoint(place.name or loop.name, place.point)
            if place.body in left:
                left[place.body] = (*left[place.body], pin)
            else:
                ground = (*ground, pin)
    bodies = tuple(replace(b, pins=left[b.name]) for b in mechanism.bodies)
    try:
        return replace(mechanism, bodies=bodies, pins=ground, loops=(), method="projected")
    except Faults as why:
        return why.machine
    except ValueError:
        return None


def _part(fault: InputError) -> str:
    return fault.message.partition(":")[0]


def _advised(mechanism, fault: InputError) -> InputError:
    """The fault with the start that would do, where it advises another one; it is looked for where somebody reads it."""
    if not fault.mend.startswith(ELSEWHERE):
        return fault
    return InputError(fault.message, mend=partial(_where, mechanism, fault), key=fault.key)


def _where(mechanism, fault: InputError) -> str:
    """How to mend the fault, with the start that would do where one is found."""
    name = _part(fault).removeprefix("actuators.")
    k = next((k for k, a in enumerate(mechanism.actuators) if a.name == name), None)
    try:
        better = None if k is None else _fitting(mechanism, k)
    except ValueError:  # the stroke cannot be followed from a start like this one
        better = None
    if better is None:
        return fault.mend
    return fault.mend.replace(ELSEWHERE, f"start {better} (the other joints as they are)", 1)


def _fitting(mechanism, k: int) -> str | None:
    """The joint that actuator k moves most and where it may start; None where its stroke is not found from the start."""
    actuator = mechanism.actuators[k]
    low, high = actuator.span
    if not np.isfinite(high - low):
        return None
    if actuator.joint:
        i = acting.joint_at(mechanism, actuator)[0]
        return _between(mechanism, i, low, high)
    path = next(stroke for stroke in strokes.strokes(mechanism) if stroke.name == actuator.name)
    inside = [z for s, z in zip(path.lengths, path.positions) if low <= s <= high]
    if len(inside) < 2:
        return None
    z = np.array(inside)
    leading = list(mechanism.own[0])
    i = leading[int(np.ptp(z[:, leading], axis=0).argmax())]
    return _between(mechanism, i, float(z[:, i].min()), float(z[:, i].max()))


def _between(mechanism, i: int, low: float, high: float) -> str:
    """Where position i may start, in words."""
    signal = mechanism.coordinates[i]
    body = signal.name.partition("_")[2]
    if signal.unit == "rad":
        turns = 360 * round(degrees(low + high) / 720)
        said = f"{body} between {degrees(low) - turns:.0f} and {degrees(high) - turns:.0f} deg"
        return f"{said}, not rad" if turns else said
    return f"{body} between {low:.3g} and {high:.3g} m"
