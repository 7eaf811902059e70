"""The machine's own limits on a run: pump flow, strokes, vacuum, what reliefs hold, forces, travel of valves."""

from __future__ import annotations

import numpy as np

from workbench.contract.machine_limits import Limit
from workbench.contract.units import format_quantity as say
from workbench.verification.observed.requirements import diverged
from workbench.verification.observed.shares import (
    ROUNDING,
    limit_reached,
    name_of,
    size_of_limit,
    so_far,
)
from workbench.verification.run import Run
from workbench.verification.temporal import ready
from workbench.verification.verdict import Verdict

KEY = "machine-limits"
SOURCE = "numbers of the plant, checked on the run"
WORDS = {
    "flow": "pump flow",
    "stroke": "strokes",
    "vacuum": "vacuum",
    "pressure": "reliefs",
    "force": "forces",
    "valve": "valve travel",
}


def limits_of(plant) -> list[Limit]:
    """Limits of a plant that this claim asks; ranges of commands are what `saturation` asks."""
    return [limit for limit in plant.machine_limits() if limit.kind != "command"]


def check_machine_limits(claim, run: Run) -> Verdict:
    """Every limit kept at every instant of the run; those the machine bears, for all but a share of the time."""
    asked = limits_of(run.loop.plant)
    # Without a law a valve is where the scenario asks it to be.
    if not run.loop.controller.commands:
        asked = [limit for limit in asked if limit.kind != "valve"]
    kinds = dict.fromkeys(WORDS[limit.kind] for limit in asked)
    text = (
        f"the machine's limits are kept: {', '.join(kinds)}"
        if kinds
        else "the machine's limits are kept"
    )
    gone = diverged(KEY, text, run, claim.counted, SOURCE)
    if gone:
        return gone
    if not asked:
        return Verdict(
            KEY,
            text,
            None,
            worst="the plant states no limits",
            source=SOURCE,
            counted=claim.counted,
        )
    rows = [_row(limit, run, claim.share) for limit in asked]
    broken = [row for row in rows if row["broken"]]
    worst = max(broken or rows, key=lambda row: row["reached"])
    borne = worst["bearable"] and worst["share"] > 0
    measured = (
        (claim.share - worst["share"], "1", claim.share)
        if borne
        else (worst["margin"], worst["unit"], worst["limit"])
    )
    return Verdict(
        KEY,
        text,
        not broken,
        "sampled",
        *measured,
        worst["words"],
        source=SOURCE,
        counted=claim.counted,
        data={"limits": rows},
        instant=worst["at"],
    )


def _row(limit: Limit, run: Run, share: float) -> dict:
    """What one limit shows: how far it is reached (1: at the limit), for which share of the time, and in words where."""
    value = limit.value(run.log)
    size = size_of_limit(limit, value)
    inside = ready.within(limit)
    answer = inside.on(run.log.time, {name: run.log.array(name) for name in limit.signals})
    k = answer.sample
    room = answer.margin
    if limit.bearable:
        sentence = ready.borne(name_of(limit), share)
        reached = limit_reached(limit, value)
        broken = not sentence.on(run.log.time, {name_of(limit): so_far(reached)}).holds
    else:
        sentence = inside
        reached = np.minimum(value - limit.low, limit.high - value) < -ROUNDING * size
        broken = room < -ROUNDING * size
    portion = float(np.mean(reached))
    edge = limit.low if value[k] - limit.low < limit.high - value[k] else limit.high
    at = f"{say(value[k], limit.unit, 3)} at t = {run.log.time[k]:.2f} s"
    words = f"nearest: {limit.name} {at}, limit {say(edge, limit.unit, 3)} ({limit.key})"
    if limit.bearable and portion > 0:
        words += f"; at it for {100 * portion:.2g} % of the time, {100 * share:.2g} % may be"
    elif broken:
        words += f"; beyond it for {100 * portion:.2g} % of the time"
    return {
        "name": limit.name,
        "sentence": sentence.shown,
        "kind": limit.kind,
        "margin": room,
        "unit": limit.unit,
        "limit": float(edge),
        "bearable": limit.bearable,
        "share": portion,
        "broken": bool(broken),
        "reached": 1.0 - room / size,
        "at": float(run.log.time[k]),
        "words": words,
    }
