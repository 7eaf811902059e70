"""A Comparison as text: rows of cells for terminal and paper, and JSON."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from workbench.commands.compare import Comparison, Entry, Under
from workbench.commands.terminal import GAP, clean, width, wrap
from workbench.contract.units import format_quantity as say
from workbench.run.log import plain

FORMAT = "fluidproof-comparison"
VERSION = 1


def rows(found: Comparison) -> list[tuple[str, list[str]]]:
    """(what, one cell a case), numbers with units, – where a case has none; what no case has is left out."""
    made = [("sample time", [_or_dash(e.period, "s", none="continuous") for e in found.entries])]
    made += _runs("", [e.nominal for e in found.entries])
    made += [(what, [cell(e) for e in found.entries]) for what, cell in CELLS]
    for k, change in enumerate(found.changes):
        words = ", ".join(f"{name} = {value}" for name, value in change.items())
        made += _runs(f"{words}: ", [e.also[k] for e in found.entries])
    return [(what, cells) for what, cells in made if set(cells) != {"–"}]


def _or_dash(value, unit, digits=3, none="–") -> str:
    if value is None or math.isnan(value):
        return none
    return "unlimited" if math.isinf(value) else say(value, unit, digits)


def _factor(gain: float | None) -> str:
    """'× 2.5'."""
    if gain is None or math.isinf(gain):
        return _or_dash(gain, "1")
    return f"× {gain:.3g}"


def _named(verdicts: list, holds: bool | None) -> str:
    """Counted claims with this answer, or a dash."""
    return "; ".join(v.claim for v in verdicts if v.counted and v.holds is holds) or "–"


def _runs(prefix: str, runs: list[Under]) -> list[tuple[str, list[str]]]:
    error = lambda value, run: "diverged" if math.isinf(value) else _or_dash(value, run.unit)
    settled = lambda run: (
        {True: "yes", False: "no", None: "–"}[run.settled] + (f": {run.words}" if run.words else "")
    )
    return [
        (f"{prefix}largest error", [error(r.error, r) for r in runs]),
        (f"{prefix}rms error", [error(r.rms, r) for r in runs]),
        (f"{prefix}settled", [settled(r) for r in runs]),
    ]


def _percent(share) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def _counts(e: Entry) -> str:
    holds, violated, undecided = e.counts
    return f"{holds} / {violated} / {undecided}"


CELLS = (
    ("sample time up to", lambda e: _or_dash(e.sample_time, "s")),
    ("gain margin, least", lambda e: _factor(e.gain)),
    ("phase margin, least", lambda e: "–" if e.phase is None else f"{math.degrees(e.phase):.3g}°"),
    ("time at a limit", lambda e: _percent(e.saturated)),
    ("energy", lambda e: _or_dash(e.energy, "J")),
    ("a sample's law takes", lambda e: _or_dash(e.seconds, "s", 2)),
    ("claims hold / violated / undecided", _counts),
    ("violated", lambda e: _named(e.verdicts, False)),
    ("undecided", lambda e: _named(e.verdicts, None)),
)


def text(found: Comparison, room: int) -> str:
    """The table for a terminal of `room` columns."""
    labels = ("", [entry.label for entry in found.entries])
    table = [[clean(what), *map(clean, cells)] for what, cells in (labels, *rows(found))]
    needed = [max(map(width, column)) for column in zip(*table)]
    first = min(needed[0], max(room // 3, 12))
    each = max((room - first) // len(found.entries) - len(GAP), 8)
    widths = [first, *(min(need, each) for need in needed[1:])]
    lines = [line for row in table for line in _wrapped(row, widths)]
    for note in found.notes:
        lines += wrap(f"not alike: {clean(note)}", room)
    return "\n".join(lines)


def _wrapped(row: list[str], widths: list[int]) -> Iterator[str]:
    """The lines of a row whose cells are wrapped to their columns."""
    cells = [wrap(cell, room) for cell, room in zip(row, widths)]
    for parts in itertools.zip_longest(*cells, fillvalue=""):
        padded = [part + " " * (room - width(part)) for part, room in zip(parts, widths)]
        yield GAP.join(padded).rstrip()


def document(found: Comparison) -> dict:
    """Plain data; numbers that are not finite are null, `settled` null where nobody knows."""
    number = lambda v: None if v is None or not math.isfinite(v) else float(v)
    run = lambda u: {
        "error": number(u.error),
        "rms": number(u.rms),
        "unit": u.unit,
        "settled": u.settled,
        "words": u.words,
        "diverged": math.isinf(u.error),
    }
    entries = [
        {
            "label": e.label,
            "law": e.law,
            "sample_time": e.period,
            **run(e.nominal),
            "sample_time_limit": number(e.sample_time),
            "gain_margin": number(e.gain),
            "phase_margin": number(e.phase),
            "time_at_limit": number(e.saturated),
            "energy": number(e.energy),
            "seconds_a_sample": number(e.seconds),
            "counts": dict(zip(("holds", "violated", "undecided"), e.counts)),
            "exit_code": e.exit_code,
            "verdicts": [
                {
                    "key": v.key,
                    "claim": v.claim,
                    "verdict": v.word,
                    "strength": v.strength,
                    "counted": v.counted,
                }
                for v in e.verdicts
            ],
            "under": [run(u) for u in e.also],
        }
        for e in found.entries
    ]
    return plain(
        {
            "format": FORMAT,
            "version": VERSION,
            "cases": entries,
            "changes": [dict(c) for c in found.changes],
            "not_alike": list(found.notes),
        },
        "comparison",
    )
