"""What the runs from other starts showed, as words, rows and numbers: who came back last, who stayed away, by how much."""

from __future__ import annotations

import math

from workbench.contract.units import format_quantity as say
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.returning import Return
from workbench.verification.verdict import Assumption


def in_words(one: Return, duration: float) -> str:
    """Where a signal is at the end of the run, and how far off it was at most."""
    unit = one.signal.unit
    end = {
        "growing": "grows away to",
        "staying": "stays",
        "returning": "is still",
        "back": "is back to",
    }[one.word]
    return (
        f"{one.signal.name} {end} {say(one.last, unit, 3)} off at {say(duration, 's', 3)}, of {say(one.largest, unit, 3)} "
        "that it was off"
    )


def slowest_return(outcomes: list[Outcome]) -> str:
    """The slowest return that was seen, in words."""
    back = [
        r
        for o in outcomes
        for r in o.found
        if r.moved and r.word == "back" and math.isfinite(r.rate) and r.rate > 0
    ]
    if not back:
        return "back at once"
    last = max(back, key=lambda r: r.after)
    return (
        f"slowest back: {last.signal.name} after {say(last.after, 's', 3)}, at {last.rate:.2g} 1/s"
    )


def neutral_pressures(outcomes: list[Outcome]) -> tuple[Assumption, ...]:
    """Chamber pressures that neither come back nor grow: the common mode of a cylinder at rest."""
    kept: dict[str, float] = {}
    for outcome in outcomes:
        for r in outcome.found:
            if r.lenient and r.moved and r.word != "back":
                kept[r.signal.name] = max(kept.get(r.signal.name, 0.0), r.last)
    if not kept:
        return ()
    name = max(kept, key=kept.get)
    return (
        Assumption(
            "every chamber pressure comes back",
            None,
            None,
            "",
            f"{', '.join(kept)} stay up to {say(kept[name], 'Pa', 3)} off and do not grow",
            "the common mode of a cylinder's pressures is neutral at rest",
        ),
    )


def share_given_back(outcomes: list[Outcome]) -> float | None:
    """Smallest share of the disturbance that was given back, 1 for all of it; None where no number says so."""
    moved = [
        r for o in outcomes for r in o.found if r.moved and not r.signal.pressure and r.largest > 0
    ]
    room = float(min((1 - r.last / r.largest for r in moved), default=0.0))
    return room if math.isfinite(room) else None


def row(r: Return) -> dict:
    plain = lambda value: float(value) if math.isfinite(value) else None
    return {
        "signal": r.signal.name,
        "word": r.word,
        "largest": r.largest,
        "last": r.last,
        "after": plain(r.after),
        "rate": plain(r.rate),
        "unit": r.signal.unit,
        "moved": r.moved,
    }
