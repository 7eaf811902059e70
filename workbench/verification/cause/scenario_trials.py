"""What a scenario demands of a loop, as faults that could be removed: a disturbance left out, a reference followed more slowly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import numpy as np

from workbench.contract.system import innermost
from workbench.contract.units import format_quantity as say
from workbench.run.reference import Sine
from workbench.run.targets import target_name
from workbench.verification.cause.badness import late_error
from workbench.verification.cause.gains import feeds_forward
from workbench.verification.cause.trial import Cause, Trial
from workbench.verification.run import run_many
from workbench.verification.scales import scales

MUCH = 0.7  # share of the speed that a machine has, from which on a reference is fast
TURN = 2 * math.pi  # rad: no drive of a joint goes as far
SLOWER = (4.0, 20.0)  # times as long: references that are walked more slowly
LESS = 0.5  # share of the error, that a slower path leaves where its speed may be the cause


def scenario_trials(run) -> Iterator[Trial]:
    """The scenario without its disturbances, and with a slower reference."""
    loop = run.loop
    scenario = run.scenario
    pushes = {s.name for s in loop.inputs if s.kind == "disturbance"}
    acting = {name: value for name, value in scenario.disturbances.items() if name in pushes}
    if acting:
        kept = {name: value for name, value in scenario.disturbances.items() if name not in acting}
        yield Trial(
            "disturbance", f"disturbance {', '.join(acting)}", {}, {"disturbances": kept}, 0.6
        )
    yield from _in_degrees(run)
    if slowed(scenario.reference) is not None:
        yield from _slower(run)


def _in_degrees(run) -> Iterator[Trial]:
    """A sine of angles that goes round by turns, read in degrees."""
    reference = run.scenario.reference
    top = max(map(abs, reference.amplitude)) if isinstance(reference, Sine) else 0.0
    if not top > TURN or run.error_unit != "rad" and reference.space != "joint":
        return
    words = f"the amplitude of the reference is {top:.3g} rad, more than a turn (a slip of units, degrees for rad?)"
    meant = replace(reference, amplitude=tuple(math.radians(a) for a in reference.amplitude))
    yield Trial("reference", words, {}, {"reference": meant}, 1.0)


def _slower(run) -> Iterator[Trial]:
    """The reference walked more slowly. Any loop follows that better: only what goes beyond it speaks for the cause.

    Of a reference that is fast for its machine no slower one is tried than the first at which it is not.
    """
    share, words = asked_speed(run)
    asked = share if share > MUCH else 0.0
    enough = asked > 0 and asked <= MUCH * SLOWER[0]
    for factor in SLOWER[:1] if enough else SLOWER:
        given = {"reference": slowed(run.scenario.reference, factor)}
        free = 0.0 if asked else math.log10(factor)
        yield Trial("reference", words, {}, given, min(0.8, 0.2 + asked), free=free)


def asked_speed(run) -> tuple[float, str]:
    """(largest speed the reference asks for as a share of what the machine has, in words); share 0 where it has no such number."""
    own = scales(run.loop.plant)
    found = [(0.0, "the reference is faster than this loop can follow")]
    units = {s.name: s.unit for s in (*run.loop.plant.states, *run.loop.plant.outputs)}
    live = dict(zip(run.demand.live, run.demand.at(run.log.time).T))
    for name, order in run.demand.wanted:
        unit = units.get(name, "") + "/s"
        scale = own.of_unit(unit)
        asked = live.get(target_name(name, 1))
        if order == 1 and scale is not None and asked is not None:
            top = float(np.abs(asked).max())
            share = 100 * top / scale.value
            words = (
                f"the reference asks for {top:.3g} {unit} of {name}, {share:.3g} % of what the machine has "
                f"({scale.value:.3g} {unit})"
            )
            found.append((top / scale.value, words))
    share, words = max(found)
    words = words if share > MUCH else found[0][1]
    law = innermost(run.loop.controller)
    if feeds_forward(law) and law.feed == "none":
        words += ", and nothing feeds its velocity forward (controller.feed: none)"
    return share, words


def slower(run) -> Cause | None:
    """The speed of the path, where the error falls to less than LESS of itself when that is walked more slowly.

    Any loop follows a slower path better: it is told where nothing else explains the error.
    """
    reference = slowed(run.scenario.reference, SLOWER[0])
    if reference is None:
        return None
    job = (run.loop, replace(run.scenario, reference=reference))
    (left,) = run_many([job], late_error)
    if not left < LESS * late_error(run):
        return None
    told = say(left, run.error_unit, 3)
    words = f"{asked_speed(run)[1]}: {SLOWER[0]:g} times as slow it is off by {told}"
    return Cause("reference", words)


def slowed(reference, factor: float = 4.0):
    """The reference `factor` times as slow; None for a reference that stands still or states no speed."""
    if reference is None:
        return None
    own = {f.name for f in fields(reference)} if is_dataclass(reference) else set()
    if "leg" in own:
        legs = reference.leg
        return replace(
            reference,
            leg=tuple(factor * leg for leg in legs) if isinstance(legs, tuple) else factor * legs,
        )
    if "frequency" in own:
        return replace(reference, frequency=reference.frequency / factor)
    return None
