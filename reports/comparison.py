"""Cases side by side on a page: the table of `workbench compare`, and every case's error over time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from workbench.commands.compare_table import rows

from . import tables
from .document import typeset, write_pdf
from .style import clean, drawing, svg

RANGE = 1e-4, 1e6  # mm that are drawn


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """What the page shows: `workbench.commands.compare.Comparison`, date and command as they shall be printed."""

    found: Any
    date: str = ""
    command: str = ""


def write_comparison(path: str | os.PathLike, content: Compared) -> None:
    """Write the page as PDF, whole or not at all. Raises InputError when `path` cannot be written."""
    write_pdf(path, lambda: rendered(content))


def rendered(content: Compared, format: str = "pdf", ppi: float = 100.0):
    """The page as bytes, or as pictures. Same content, same bytes."""
    with drawing():
        drawn = {"errors": svg(errors(content.found))}
    return typeset("comparison", drawn, data(content, list(drawn)), format, ppi)


def errors(found):
    """Error of every case over time, on a logarithmic scale."""
    from matplotlib.figure import Figure

    fig = Figure((6.7, 2.1), layout="constrained")
    ax = fig.subplots()
    for k, e in enumerate(found.entries):
        e_mm = np.clip(np.where(np.isfinite(e.errors), e.errors, np.nan) * 1e3, *RANGE)
        ax.semilogy(e.time, e_mm, ("-", "--", "-.", ":")[k % 4], lw=1.0, label=clean(e.label, 40))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_minor_formatter(lambda *_: "")
    ax.set(xlabel="t, s", ylabel="error, mm")
    fig.legend(loc="outside upper center", ncols=len(found.entries))
    return fig


def data(content: Compared, drawn: list[str]) -> dict:
    """What the template prints."""
    found = content.found
    made = [
        [tables.wrapped(what), *(tables.typeset(tables.wrapped(cell)) for cell in cells)]
        for what, cells in rows(found)
    ]
    return {
        "title": " · ".join(clean(e.label, 40) for e in found.entries),
        "short": "Comparison",
        "date": clean(content.date, 40),
        "labels": [clean(e.label, 40) for e in found.entries],
        "rows": made,
        "notes": [tables.wrapped(n) for n in found.notes],
        "claims": claims(found),
        "command": clean(content.command),
        "figures": drawn,
    }


def claims(found) -> list[list[str]]:
    """[claim, one word a case] for everything any case was asked; where the cases were asked differently, the words say what."""
    seen: dict[str, dict[str, tuple[str, str]]] = {}
    for e in found.entries:
        for v in e.verdicts:
            seen.setdefault(v.key, {})[e.label] = v.claim, v.word if v.counted else f"({v.word})"
    made = []
    for key, answers in seen.items():
        if len({claim for claim, _ in answers.values()}) == 1:
            title, _ = next(iter(answers.values()))
            words = {label: word for label, (_, word) in answers.items()}
        else:
            title = key.replace("-", " ")
            words = {label: f"{word}: {claim}" for label, (claim, word) in answers.items()}
        cells = [words.get(e.label, "–") for e in found.entries]
        made.append([tables.wrapped(title), *map(tables.wrapped, cells)])
    return made
