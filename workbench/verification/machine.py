"""The machine's own limits on a run: pump flow, strokes, vacuum, what reliefs hold, travel of valves."""

from __future__ import annotations

import numpy as np

from workbench.contract.machine_limits import Limit
from workbench.contract.units import format_quantity as say
from workbench.verification.requirements import diverged
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict

KEY = "machine-limits"
SOURCE = "numbers of the plant, checked on the run"
ROUNDING = 1e-6  # of a limit's size: what rounding may pass it by
WORDS = {
    "flow": "pump flow",
    "stroke": "strokes",
    "vacuum": "vacuum",
    "pressure": "reliefs",
    "valve": "valve travel",
}


def limits_of(plant) -> list[Limit]:
    """Limits of a plant that this claim asks; ranges of commands are what `saturation` asks."""
    return [limit for limit in plant.machine_limits() if limit.kind != "command"]


def check_machine_limits(claim, run: Run) -> Verdict:
    """Every limit kept at every logged instant; those the machine bears, for all but a share of the time."""
    asked = limits_of(run.loop.plant)
    if (
        not run.loop.controller.commands
    ):  # without a law a valve is where the scenario asks it to be
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
    return Verdict(
        KEY,
        text,
        not broken,
        "sampled",
        worst["margin"],
        worst["unit"],
        worst["limit"],
        worst["words"],
        source=SOURCE,
        counted=claim.counted,
        data={"limits": rows},
    )


def _row(limit: Limit, run: Run, share: float) -> dict:
    """What one limit shows: how far it is reached (1: at the limit), for which share of the time, and in words where."""
    value = limit.value(run.log)
    room = np.minimum(value - limit.low, limit.high - value)
    k = int(np.argmin(room))
    size = _size(limit, value)
    beyond = room < (0.0 if limit.bearable else -ROUNDING * size)
    reached = room <= ROUNDING * size if limit.bearable else beyond
    portion = float(np.mean(reached))
    broken = portion > share if limit.bearable else bool(beyond.any())
    edge = limit.low if value[k] - limit.low < limit.high - value[k] else limit.high
    at = f"{say(value[k], limit.unit, 3)} at t = {run.log.time[k]:.2f} s"
    words = f"nearest: {limit.name} {at}, limit {say(edge, limit.unit, 3)} ({limit.key})"
    if broken:
        words += (
            f"; {'at' if limit.bearable else 'beyond'} it for {100 * portion:.2g} % of the time"
        )
    return {
        "name": limit.name,
        "kind": limit.kind,
        "margin": float(room[k]),
        "unit": limit.unit,
        "limit": float(edge),
        "share": portion,
        "broken": broken,
        "reached": 1.0 - float(room[k]) / size,
        "words": words,
    }


def _size(limit: Limit, value: np.ndarray) -> float:
    """What a limit's room is measured by: its width, or its own size, or that of what is limited."""
    if np.isfinite(limit.high - limit.low):
        return limit.high - limit.low
    edge = limit.high if np.isfinite(limit.high) else limit.low
    return max(abs(edge), float(np.abs(value).max()), 1e-300)
