"""The claim that starts are attracted although commands saturate: the case's loop taken apart, `saturation` asked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import find, names
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.run.start import start_state
from workbench.verification.linear.data_margin import NEUTRAL, borne, largest_change, refused
from workbench.verification.linear.limited import Limited
from workbench.verification.linear.limited_loop import limited
from workbench.verification.linear.loop import Point, is_linear, point
from workbench.verification.linear.lyapunov import too_many
from workbench.verification.linear.stability import stability
from workbench.verification.regions.saturation import Region
from workbench.verification.regions.search import attracted
from workbench.verification.verdict import Assumption, Verdict

LEAVES = 1e6  # times its start: a run that grows so far does not come back
LONGEST = 20_000  # samples of such a run
TEXT = (
    "with a reference that stands still and no disturbance, every start in the ellipsoid goes to rest although commands "
    "saturate, for the stored matrices"
)


def check_starts(claim: Any, plant: Any) -> None:
    """Raise InputError for states the plant has not; the message begins with the key."""
    for i, start in enumerate(claim.starts):
        _state(
            plant, start, plant.initial(), "contains" if len(claim.starts) == 1 else f"contains.{i}"
        )
    _state(plant, claim.along, plant.initial(), "along")
    if claim.along and not any(_si(plant, n, v) for n, v in claim.along.items()):
        raise InputError("along: a direction of no length", mend="name a state and any value but 0")


def _undecided(claim: Any, why: str, **more: Any) -> Verdict:
    n = len(claim.starts)
    inside = "" if n == 0 else "; the start named is inside"
    return Verdict(
        "region-of-attraction",
        TEXT + (f"; the {n} starts named are inside" if n > 1 else inside),
        None,
        worst=why,
        counted=claim.counted,
        **more,
        source="saturation as a sector inside the ellipsoid",
    )


def check_region(claim: Any, run: Any) -> Verdict:
    """An ellipsoid of starts attracted although commands saturate, made large along what is asked for."""
    check_starts(claim, run.loop.plant)
    say_no = partial(_undecided, claim)
    loop = run.loop
    if not is_linear(loop.plant):
        return say_no(
            "the plant is not linear, and a region of its linearisation says nothing about it: supply a V"
        )
    if any(loop.plant.defaults().values()):
        return say_no(
            "inputs of the plant are not zero by default, so it does not rest where this looks for it"
        )
    r, still = reference(run)
    try:
        own = limited(loop, point(loop.plant, {}), r)
        if not len(own.K):
            return say_no(
                "nothing limits the commands: what linear-stability says holds from everywhere"
            )
        rest, room = own.rest()
    except InputError as why:
        return say_no(why.message)
    begin = partial(_begun, loop, rest, r)
    asked = [begin(s) - rest for s in claim.starts]
    along = dict(claim.along) or {_first(loop): 1.0}
    ahead = {
        n: rest[names(loop.plant.states).index(n)] + _si(loop.plant, n, v) for n, v in along.items()
    }
    way = begin(ahead) - begin({})
    region = attracted(
        own.M - own.E @ own.K,
        own.E,
        own.K,
        room,
        own.T,
        starts=[d for d in asked if d.any()] or [way],
    )
    notes = (
        Assumption(
            "the reference stands still" + (f" at {_at(loop, r)}" if still else ""),
            True if still else None,
        ),
        Assumption("no disturbance acts", None),
        *own.assumptions(),
    )
    if region is None:
        return _none_found(own, say_no, notes)
    return _judged(claim, run, own, region, rest, asked, way, along, say_no("", assumptions=notes))


def _begun(loop: Any, rest: Any, r: Any, said: Any) -> Vector:
    """The state of the limited loop from which it starts where the plant is as `said`, else at rest."""
    x = _state(loop.plant, said, rest, "start")
    return limited(loop, Point(x, [0.0] * len(loop.plant.inputs), ""), r).start


def _none_found(own: Limited, say_no: Any, notes: Any) -> Verdict:
    """The verdict without a region: violated where the loop is unstable away from its limits."""
    s = stability(own.M, own.T, own.states)
    if s.holds is False:
        return replace(
            say_no(f"unstable away from its limits: {s.why}"),
            holds=False,
            strength="numerical",
            margin=s.spectrum.margin,
            unit="1" if own.T else "1/s",
            source="eigenvalues",
        )
    left = "" if s.holds else f"; away from its limits: {s.why}"
    return say_no((too_many(len(own.M)) or "no region found") + left, assumptions=notes)


def _judged(
    claim: Any,
    run: Any,
    own: Limited,
    region: Region,
    rest: Any,
    asked: Any,
    way: Any,
    along: Any,
    blank: Verdict,
) -> Verdict:
    """The verdict on a region that passed its check."""
    plant = run.loop.plant
    units = {s.name: s.unit for s in (*plant.states, *run.loop.controller.states)}
    change = largest_change(region.bears)
    data = {
        "change": change,
        "P": region.P.tolist(),
        "centre": rest.tolist(),
        "states": list(own.states),
        "along": list(along),
        "units": [units.get(n, "1") for n in own.states],
        "room": region.u_max.tolist(),
        "certificate": region.document([d for d in asked if region.holds(d)]),
    }
    source = f"{blank.source}, checked by exact LDLᵀ"
    if change < NEUTRAL:
        return refused(replace(blank, data=data, source=source))
    begins = [float(v) for v in start_state(run.loop, run.scenario)[: len(plant.states)]]
    off = (
        limited(run.loop, Point(begins, [0.0] * len(plant.inputs), ""), reference(run)[0]).start
        - rest
    )
    if not region.holds(off):
        far = 1 / max(region.reach(off), 1e-300)
        return replace(
            blank,
            data=data,
            source=source,
            worst="this run's start is outside the ellipsoid that is proven, "
            f"{far:.4g} times too far: name it in `contains` to have one looked for around it",
        )
    found = replace(blank, data=data, source=source)
    if not asked:
        return _of_direction(run, region, way, along, units, change, found)
    return _of_starts(claim, run, own, region, rest, asked, units, change, found)


def _of_direction(
    run: Any, region: Region, way: Any, along: Any, units: dict, change: float, found: Verdict
) -> Verdict:
    """How far the region reaches along the direction stated."""
    name = next(iter(along))
    share = region.reach(way)
    size = share * abs(_si(run.loop.plant, name, along[name]))
    one = f"{name} off by up to {say(size, units[name])}"
    words = one if len(along) == 1 else f"up to {share:.4g} times the direction stated"
    return replace(
        found,
        holds=True,
        strength="proof",
        margin=size,
        unit=units[name],
        worst=f"{words}, all else at rest; limits leave {_room(run, region)}; {borne(change)}",
    )


def _of_starts(
    claim: Any,
    run: Any,
    own: Limited,
    region: Region,
    rest: Any,
    asked: Any,
    units: dict,
    change: float,
    found: Verdict,
) -> Verdict:
    """Whether every start named is inside the region; where one is not, whether the loop leaves from it."""
    shares = [region.reach(d) for d in asked]
    k = int(np.argmin(shares))
    named = ", ".join(
        f"{n} = {say(_si(run.loop.plant, n, v), units[n])}" for n, v in claim.starts[k].items()
    )
    if all(region.holds(d) for d in asked):
        return replace(
            found,
            holds=True,
            strength="proof",
            margin=float(shares[k] - 1),
            unit="1",
            worst=f"nearest the edge: {named}, which could be {shares[k]:.4g} times as far; "
            f"{borne(change)}",
        )
    gone = _leaves(own, rest + asked[k])
    if gone:
        return replace(
            found,
            holds=False,
            strength="sampled",
            source="a run of the stored matrices with their limits",
            worst=f"from {named} the loop leaves: {LEAVES:.0e} times as far after {gone} samples",
        )
    return replace(
        found,
        worst=f"not inside: {named}; the largest region found reaches {shares[k]:.4g} of the way",
    )


def _leaves(own: Limited, x: Vector) -> int:
    """After how many samples a run from x is LEAVES times as far out; 0 when it is not."""
    if own.T is None:
        return 0
    far = LEAVES * np.abs(x).max()
    for k in range(LONGEST):
        x = own.next(x)
        if not np.abs(x).max() < far:
            return k + 1
    return 0


def reference(run: Any) -> tuple[list[float], bool]:
    """(values of the law's references, whether they stand still in the run): their last, or those at the start with rates of 0."""
    own = [s for s in run.loop.controller.references]
    logged = [run.log.array(s.name) if s.name in run.log else np.zeros(1) for s in own]
    if all(np.ptp(v) == 0 for v in logged):
        return [float(v[0]) for v in logged], True
    return [
        0.0 if s.name.startswith("d") and s.name.endswith("_d") else float(v[0])
        for s, v in zip(own, logged)
    ], False


def _at(loop: Any, r: Vector) -> str:
    return (
        ", ".join(f"{s.name} = {say(v, s.unit)}" for s, v in zip(loop.controller.references, r))
        or "zero"
    )


def _first(loop: Any) -> str:
    """The first state that the law measures, or the plant's first."""
    own = names(loop.plant.states)
    return next((n for n in names(loop.controller.measured) if n in own), own[0])


def _room(run: Any, region: Region) -> str:
    unit = run.loop.controller.commands[0].unit
    return ", ".join(f"±{say(u, unit)}" for u in region.u_max)


def _si(plant: Any, name: str, value: Scalar) -> float:
    return quantity(value, find(plant.states, name, "states").unit)


def _state(plant: Any, said: Any, rest: Any, key: str) -> list[float]:
    """The plant's state: at `rest` but for what is said. Raises InputError with the key."""
    x = [float(v) for v in rest[: len(plant.states)]]
    own = names(plant.states)
    for name, value in said.items():
        signal = find(plant.states, name, f"{key}: states")
        try:
            x[own.index(name)] = quantity(value, signal.unit)
        except InputError as why:
            raise InputError(f"{key}.{name}: {why.message}", mend=why.mend) from None
    return x
