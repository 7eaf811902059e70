"""What a claim `tube` asks, in SI units and in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.system import find
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.verification.ranges import ranges
from workbench.verification.tube.measures import TOOL_ERROR, named
from workbench.verification.tube.opened import Free, Late, Noise, Varied
from workbench.verification.tube.posed import Posed
from workbench.verification.verdict import Assumption


def widths(claim: Any, loop: Any) -> dict[str, float]:
    """Half-width of every state of the plant that may start elsewhere; InputError where it is none."""
    found = {}
    for name, value in claim.starts.items():
        try:
            signal = find(loop.plant.states, name, "states of the plant")
            found[name] = quantity(value, signal.unit)
        except InputError as why:
            raise InputError(f"starts.{name}: {why.message}", mend=why.mend) from None
        if not found[name] >= 0:
            raise InputError(f"starts.{name}: {value}, expected a half-width", mend="0 or more")
    moved = sum(1 for value in found.values() if value)
    if not moved:
        raise InputError("starts: no state may start elsewhere", mend="give one a width above 0")
    return found


def bounds(claim: Any, loop: Any) -> dict[str, tuple[float, float]]:
    """Between which numbers states and what is told of samples are to stay, in SI units; InputError where that says nothing."""
    told = named(loop)
    found = {}
    if claim.error is not None:
        error = error_of(claim, loop)
        found = {name: (-error, error) for name in errors_of(loop)}
    for name, pair in claim.within.items():
        try:
            unit = told[name] if name in told else find(loop.states, name, "states").unit
            low, high = (quantity(v, unit) for v in pair)
        except InputError as why:
            raise InputError(f"within.{name}: {why.message}", mend=why.mend) from None
        if not low < high:
            raise InputError(f"within.{name}: expected low < high, got {pair[0]} and {pair[1]}")
        found[name] = (low, high)
    return found


def varied(claim: Any, loop: Any) -> tuple[Varied, ...]:
    """The plant's numbers that are known to bounds; InputError where the run's own is not between them."""
    own = {leaf.path: leaf for leaf in leaves(loop.plant)} if claim.parameters else {}
    found = []
    for path, (low, high) in ranges(loop.plant, claim.parameters, "parameters").items():
        value = float(own[path].value)
        unit = own[path].info.unit
        if not low <= value <= high:
            raise InputError(
                f"parameters.{path}: the run has {say(value, unit)}, expected between {say(low, unit)} and {say(high, unit)}",
                mend="give a range around the number that the run has",
            )
        found.append(Varied(path, unit, value, low, high))
    return tuple(found)


def free(claim: Any, loop: Any) -> Free:
    """All that runs may differ in beside their starts; InputError, which begins with the key, where this loop has it not."""
    return Free(varied(claim, loop), noises(claim, loop), late(claim, loop))


def noises(claim: Any, loop: Any) -> tuple[Noise, ...]:
    """Bounds of the noise of what the law measures."""
    found = []
    for name, value in claim.noise.items():
        try:
            unit = find(loop.controller.measured, name, "signals that the law measures").unit
            half = quantity(value, unit)
        except InputError as why:
            raise InputError(f"noise.{name}: {why.message}", mend=why.mend) from None
        if not half >= 0:
            raise InputError(f"noise.{name}: {value}, expected a size", mend="0 or more")
        found.append(Noise(name, unit, half))
    return tuple(found)


def late(claim: Any, loop: Any) -> Late | None:
    """Bounds of the dead time, if it is known to bounds: within the sample that the run's own ends in."""
    if claim.delay is None:
        return None
    lag = float(loop.lag)
    T = float(loop.period)
    if not lag:
        raise InputError(
            "delay: the run has none that ends between two samples",
            mend="give loop.delay a part of a sample, and bounds around it",
        )
    own = float(loop.controller.delay)
    try:
        least, most = (quantity(v, "s") for v in claim.delay)
    except InputError as why:
        raise InputError(f"delay: {why.message}", mend=why.mend) from None
    samples = own - lag
    near = WHOLE * T
    # Where the run's own is a bound rounding is not to leave it out.
    low = min(least - samples, lag)
    high = max(most - samples, lag)
    if not least <= own <= most or not near < low <= high < T - near:
        raise InputError(
            f"delay: expected bounds around {say(own, 's')} that leave out every whole number of samples of {say(T, 's')}",
            mend="narrow them, or ask once for every sample that they reach into",
        )
    return Late(lag, T, low, high)


def check_asked(claim: Any, loop: Any) -> None:
    """Raise InputError for a claim that names what this loop has not; messages begin with the key they are about."""
    widths(claim, loop)
    free(claim, loop)
    check_parts(claim)
    bounds(claim, loop)


MOST_PARTS = 1000


def check_parts(claim: Any) -> None:
    """InputError for parts of what has no interval, or too many of them."""
    if claim.parts and claim.after:
        raise InputError(
            "parts: runs with other numbers are elsewhere after this instant",
            mend="leave `after` out, or give parameters without parts",
        )
    for path, many in claim.parts.items():
        if path not in claim.parameters:
            raise InputError(f"parts.{path}: it has no interval", mend=f"give parameters.{path}")
        if many < 1:
            raise InputError(f"parts.{path}: {many}, expected a whole number from 1")
    many = math.prod(claim.parts.values())
    if many > MOST_PARTS:
        raise InputError(f"parts: {many} tubes, expected no more than {MOST_PARTS}")


def errors_of(loop: Any) -> dict[str, str]:
    """What `error` is about, and its units: the tool's where there is one, else those of all outputs that have a reference."""
    told = named(loop)
    own = {name: unit for name, unit in told.items() if name.startswith("e_")}
    return {TOOL_ERROR: told[TOOL_ERROR]} if TOOL_ERROR in told else own


def error_of(claim: Any, loop: Any) -> float:
    """The error asked for, in SI units."""
    units = set(errors_of(loop).values())
    if not units:
        raise InputError("error: no output of this loop has a reference", mend="leave it out")
    if len(units) > 1:
        each = ", ".join(f"{name} in {unit}" for name, unit in errors_of(loop).items())
        raise InputError(
            f"error: outputs have several units ({each})", mend="bound each of them, under within"
        )
    try:
        return quantity(claim.error, units.pop())
    except InputError as why:
        raise InputError(f"error: {why.message}", mend=why.mend) from None


def sentence(claim: Any, loop: Any, half: dict[str, float]) -> str:
    units = {s.name: s.unit for s in loop.states}
    starts = ", ".join(f"{n} ± {say(v, units[n])}" for n, v in half.items() if v)
    when = f"is at {say(claim.after, 's')}" if claim.after else "starts"
    text = f"every run that {when} within {starts} of this one"
    more = others(claim, loop)
    text += f", with {', '.join(more)}, stays" if more else " stays"
    text += " in a tube around it"
    told = named(loop)
    own = errors_of(loop) if claim.error is not None else {}
    if own:
        error = say(error_of(claim, loop), next(iter(own.values())))
        who = "its tool " if TOOL_ERROR in own else ""
        text += f", {who}no more than {error} from the reference at every sample"
    for name, (low, high) in bounds(claim, loop).items():
        if name in claim.within:
            unit = told.get(name) or units[name]
            when = " at every sample" if name in told else ""
            text += f", {name} between {say(low, unit)} and {say(high, unit)}{when}"
    return text


def others(claim: Any, loop: Any) -> list[str]:
    """What runs may differ in beside their starts, in words."""
    asked = free(claim, loop)
    found = [
        f"{v.path} between {say(v.low, v.unit)} and {say(v.high, v.unit)}" for v in asked.numbers
    ]
    found += [f"noise of {n.signal} up to ± {say(n.half, n.unit)}" for n in asked.noises]
    if asked.late is not None:
        low, high = (quantity(v, "s") for v in claim.delay)
        found.append(f"a dead time between {say(low, 's')} and {say(high, 's')}")
    return found


WHOLE = 1e-8  # share of a sample that a dead time is away from a whole number of them, at least

ENDS = {
    "rest": "the references stay where they are at the end of the run: then for all times",
    "period": "the references repeat as they do at the end of the run: then for all times",
    "horizon": "up to the end of the run, and no longer",
}


def notes(question: Posed) -> tuple[Assumption, ...]:
    c = question.tube
    slack = float(np.max(c.slack, initial=0.0))
    own = question.free
    named = ", ".join(v.path for v in own.numbers)
    known = f"but for {named} parameters" if named else "parameters"
    quiet = "no noise but what is named" if own.noises else "no noise"
    solver = (
        "the predictive law's solver finds the minimum of its programme, which no limit cuts off"
    )
    solved = (Assumption(solver, None),) if question.conditions else ()
    return (
        *solved,
        Assumption(f"{known} are the stored numbers, the model is the machine", None),
        Assumption(ENDS[question.ends] + (f" (to {slack:.1g})" if slack else ""), None),
        Assumption(f"{quiet}; disturbances as in this run", None),
        Assumption("the model's equations hold throughout: no end of a stroke, no vacuum", None),
    )
