"""Claims with a certificate of their own: a sector at the commands, and a user's V; regions are in `regions.claims`.

Each hands the case's loop to the method that proves it (`sector`, `supplied`) and says what the answer rests on.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.scalars import Scalar
from workbench.contract.system import find, names
from workbench.contract.units import quantity
from workbench.run.start import start_state
from workbench.verification.linear.limited_loop import limited
from workbench.verification.linear.loop import (
    Point,
    closed,
    in_names,
    is_linear,
    point,
    refuse_turning,
)
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.observed.expression import formula
from workbench.verification.regions import sector as sectors
from workbench.verification.regions import sector_search
from workbench.verification.regions.claims import check_starts
from workbench.verification.rigorous.supplied import posed
from workbench.verification.verdict import Assumption, Verdict

ROUNDS = 9  # rounds of the search for the widest sector


def sector_asked(claim: Any, loop: Any) -> None:
    """InputError for a place, commands or a criterion that this loop has not; messages begin with the key they are about."""
    point(loop.plant, claim.at)
    _chosen(claim, loop)
    _criteria(claim, loop)


def region_asked(claim: Any, loop: Any) -> None:
    """InputError for starts that are none of the plant."""
    check_starts(claim, loop.plant)


def supplied_asked(claim: Any, loop: Any) -> None:
    """InputError for a certificate that does not fit the loop; the message begins with the claim's key where it is about one."""
    try:
        posed(**_question(claim, loop))
    except InputError as why:
        keys = {f.name for f in fields(claim)}
        told = why.key in keys and not why.message.startswith(f"{why.key}:")
        message = f"{why.key}: {why.message}" if told else why.message
        raise InputError(message, mend=why.mend) from None


# ---- a sector at the commands -------------------------------------------------------------------------------------------
def check_sector(claim: Any, run: Any, tick: Any = None) -> Verdict:
    """The linear loop with a nonlinearity in a sector at its commands: the criterion asked for, or the first that proves it."""
    sector_asked(claim, run.loop)
    at = point(run.loop.plant, claim.at)
    linear = is_linear(run.loop.plant)
    what = "the loop" if linear else f"the loop linearised at {at.words or 'the start'}"
    what += {
        "valve": ", its law without limits, a nonlinearity between law and plant,",
        "limit": ", a nonlinearity at the law's limits,",
    }[claim.place]
    try:
        s, notes = sector_loop(claim, run.loop, at)
    except InputError as why:
        return Verdict(
            "sector",
            f"{what} is stable",
            None,
            worst=why.message,
            source="sector criteria",
            counted=claim.counted,
        )
    tried = []
    for criterion in _criteria(claim, run.loop):
        used = replace(s, slope=None) if criterion != "jury-lee" else s
        found = sector_search.sector_stability(used, criterion, what)
        tried.append((criterion, found))
        if found.holds is not None:
            break
    data = {
        **found.data,
        "criterion": criterion,
        "low": claim.low,
        "high": claim.high,
        "response": _response(s),
    }
    found = replace(found, key="sector", limit=None, counted=claim.counted)
    if found.holds:
        k, _ = sector_search.largest_sector(used, criterion, ROUNDS)
        data["widest"] = widest = float(claim.low + k * (claim.high - claim.low))
        up_to = f"proven up to the sector [{claim.low:.4g}, {widest:.4g}]"
        worst = f"{criterion} criterion, {up_to}; {found.worst}"
        found = replace(found, margin=widest - claim.high, unit="1", limit=claim.high)
    elif found.holds is None:
        worst = "; ".join(f"{c}: {v.worst}" for c, v in tried)
        if s.T is not None and s.slope is None and len(tried) == 1:
            worst += "; jury-lee needs the slope of the nonlinearity"
    else:
        worst = in_names(found.worst, run.loop)
    notes += () if linear else (Assumption("near that motion", None, source="linearised"),)
    return replace(found, worst=worst, assumptions=(*found.assumptions, *notes), data=data)


def _chosen(claim: Any, loop: Any) -> list[int]:
    own = loop.controller.commands
    if claim.place == "limit" and claim.commands:
        raise InputError(
            "commands: at the limits all of them count",
            mend="leave commands out, or choose place: valve",
        )
    chosen = [find(own, n, "commands").name for n in claim.commands] or names(own)
    return [names(own).index(n) for n in chosen]


def _criteria(claim: Any, loop: Any) -> list[str]:
    other = "popov" if loop.period is None else "jury-lee"
    slope = claim.slope is not None or claim.place == "limit"
    if claim.criterion == "auto":
        return ["circle", *([other] if other == "popov" or slope else [])]
    if claim.criterion not in ("circle", other):
        raise InputError(
            f"criterion: {claim.criterion} is for {'sampled' if loop.period is None else 'continuous'} loops",
            mend=f"circle or {other}, or leave it to auto",
        )
    if claim.criterion == "jury-lee" and not slope:
        raise InputError(
            "slope: jury-lee needs the largest slope of the nonlinearity",
            mend="give slope, or use circle",
        )
    return [claim.criterion]


def sector_loop(claim: Any, loop: Any, at: Point) -> tuple[sectors.Sector, tuple[Assumption, ...]]:
    """The linear part with the sector in its place, and what that assumes. Raises InputError where the loop has none."""
    refuse_turning(loop.plant)
    if claim.place == "valve":
        M, enter, command = closed(loop, at)
        pick = _chosen(claim, loop)
        enter = enter[:, pick]
        command = command[pick]
        slope = claim.slope
        notes: tuple[Assumption, ...] = (
            Assumption("commands stay away from the law's own limits", None),
        )
    else:
        own = limited(loop, at)
        if not len(own.K):
            raise InputError("nothing limits the commands", mend="choose place: valve")
        own.rest()
        M = own.M
        enter = own.E
        command = own.K
        slope = 1.0 if claim.slope is None else claim.slope
        notes = own.assumptions()
        if claim.low > 0:
            notes += (
                Assumption(
                    f"before its limit a command stays within {1 / claim.low:.4g} times the limit",
                    None,
                ),
            )
    T = None if loop.period is None else float(loop.period)
    return sectors.Sector(
        M - enter @ command, -enter, command, claim.low, claim.high, T, slope
    ), notes


def _response(s: sectors.Sector) -> Any:
    """(ω, G) of the linear part, y = −G φ(y), where there is one channel; None where there are more."""
    if len(s.C) != 1:
        return None
    G = LinearSystem(s.A, s.B, s.C, np.zeros((1, 1)), s.T)
    size = np.abs(np.linalg.eigvals(s.A))
    size = size if s.T is None else np.abs(np.log(np.maximum(size, 1e-12))) / s.T
    size = size[size > 1e-9 * size.max(initial=1.0)]
    low, high = (
        (0.01 * size.min(initial=1.0), 30 * size.max(initial=1.0)) if len(size) else (1e-2, 1e2)
    )
    ω = np.geomspace(min(low, 1e-3 * G.top), min(high, G.top), 400)
    return ω, np.array([G.at(w)[0, 0] for w in ω])


# ---- a user's V ---------------------------------------------------------------------------------------------------------
def check_supplied(claim: Any, run: Any, tick: Any = None) -> Verdict:
    """The user's V on the box minus the ball."""
    asked = _question(claim, run.loop)
    judge, text, level = posed(**asked)
    found = judge.verdict(f"V = {claim.V.strip()}", text, level)
    units = {s.name: s.unit for s in run.loop.states}
    own = {
        "V": claim.V.strip(),
        "box": asked["box"],
        "centre": {n: asked["centre"].get(n, 0.0) for n in claim.box},
        "units": {n: units[n] for n in claim.box},
    }
    return _inside(
        run,
        asked,
        replace(found, key="supplied", counted=claim.counted, data={**found.data, **own}),
    )


def _inside(run: Any, asked: dict, found: Verdict) -> Verdict:
    """The verdict, undecided where this run begins outside {V ≤ γ} in the box: nothing is proven about it then."""
    if not found.holds:
        return found
    begin = dict(zip(names(run.loop.states), start_state(run.loop, run.scenario)))
    start = {n: float(begin[n]) for n in asked["box"]}
    value = float(formula(asked["V"], list(start))(list(start.values())))
    out = [n for n, (low, high) in asked["box"].items() if not low <= start[n] <= high]
    where = f"{out[0]} = {start[out[0]]:.6g}" if out else f"V = {value:.6g}"
    if not out and value <= found.data["level"]:
        note = Assumption(
            "this run's start is among those proven",
            True,
            worst=f"V = {value:.6g} ≤ {found.data['level']:.6g}",
        )
        return replace(found, assumptions=(*found.assumptions, note))
    return replace(
        found,
        holds=None,
        strength=None,
        margin=None,
        worst=f"this run's start is outside what is proven ({where}); for starts inside: {found.worst}",
    )


def _question(claim: Any, loop: Any) -> dict:
    """Arguments of `posed`, SI. Raises InputError that begins with the key it is about."""
    states, inputs = ({s.name: s.unit for s in signals} for signals in (loop.states, loop.inputs))

    def si(value: Scalar, unit: Any, key: Any) -> Any:
        try:
            return (
                tuple(quantity(v, unit) for v in value)
                if isinstance(value, tuple)
                else quantity(value, unit)
            )
        except InputError as why:
            raise InputError(f"{key}: {why.message}", mend=why.mend) from None

    def table(field: Any, units: Any, of: Any) -> Any:
        given = getattr(claim, field)
        for name in given:
            if name not in units:
                find(of, name, f"{field}")
        return {n: si(v, units[n], f"{field}.{n}") for n, v in given.items()}

    numbers = {leaf.path: leaf.info.unit for leaf in leaves(loop)} if claim.parameters else {}
    for path in claim.parameters:
        if path not in numbers:
            raise InputError(
                f"parameters: no number {path!r}", mend=f"such as {', '.join([*numbers][:6])}"
            )
    ball = (
        table("ball", states, loop.states)
        if not isinstance(claim.ball, (int, float))
        else float(claim.ball)
    )
    return {
        "V": claim.V,
        "system": loop,
        "box": table("box", states, loop.states),
        "ball": ball,
        "level": claim.level,
        "centre": table("centre", states, loop.states),
        "inputs": table("inputs", inputs, loop.inputs),
        "parameters": {
            p: si(v, numbers[p], f"parameters.{p}") for p, v in claim.parameters.items()
        },
        "budget": claim.budget,
    }
