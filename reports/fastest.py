"""A motion of least time on pages: what it takes beside others, its bracket, the path, what is used of every limit."""

from __future__ import annotations

import os

from reports.figures import fastest as own
from reports.figures import planning as figures
from workbench.contract.units import format_quantity
from workbench.planning import driven_table, race

from . import tables
from .document import typeset, write_pdf
from .planning import Planned
from .style import clean, drawing, svg


def write_fastest(path: str | os.PathLike, content: Planned) -> None:
    """Write the pages as PDF, whole or not at all; `found` is a `workbench.planning.race.Race`."""
    write_pdf(path, lambda: rendered(content))


def rendered(content: Planned, format: str = "pdf", ppi: float = 100.0):
    """The pages as bytes, or as pictures. Same content, same bytes."""
    found = content.found
    with drawing():
        drawn = {
            name: svg(fig)
            for name, fig in (
                ("workspace", figures.workspace(found)),
                ("pace", own.pace(found)),
                ("limits", own.limits(found)),
                ("motion", figures.motion(found)),
            )
        }
    return typeset("fastest", drawn, data(content, list(drawn)), format, ppi)


def data(content: Planned, drawn: list[str]) -> dict:
    """What the template prints."""
    found = content.found
    text = lambda cells: [tables.wrapped(clean(cell)) for cell in cells]
    history = [[str(n), format_quantity(t, "s", 5)] for n, t in found.found.history]
    return {
        "title": clean(content.case.name, 60),
        "short": "Plan",
        "date": clean(content.date, 40),
        "what": clean(race.title(found)),
        "head": list(race.HEAD[:5]),
        "rows": [text(row[:5]) for row in race.cells(found)],
        "notes": [f"{row[0]}: {clean(row[5])}" for row in race.cells(found) if row[5]],
        "remarks": text(race.remarks(found)),
        "history": history,
        "command": clean(content.command),
        "figures": drawn,
        "driven": [
            {
                "law": clean(d.law),
                "head": list(driven_table.HEAD),
                "rows": [text(row) for row in driven_table.rows(d)],
                "remarks": text(driven_table.remarks(d)),
            }
            for d in content.drives or ()
        ],
    }
