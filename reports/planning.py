"""A plan on pages: path and crane, motions, flow and pressure, energies, the cost to go."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, final

from reports.figures import driven
from reports.figures import planning as figures
from workbench.contract.units import format_quantity
from workbench.planning import driven_table
from workbench.planning.table import HEAD, amount, remarks, share, title

from . import tables
from .document import typeset, write_pdf
from .style import clean, drawing, svg


@final
@dataclass(frozen=True, eq=False)
class Planned:
    """What the pages show: a `workbench.planning.case.PlanCase`, its Comparison, date and command as they shall be printed;
    `workbench.planning.driven.Drives` of every law that drove the motions."""

    case: Any
    found: Any
    date: str = ""
    command: str = ""
    drives: tuple = ()


def write_planning(path: str | os.PathLike, content: Planned) -> None:
    """Write the pages as PDF, whole or not at all. Raises InputError when `path` cannot be written."""
    write_pdf(path, lambda: rendered(content))


def rendered(content: Planned, format: str = "pdf", ppi: float = 100.0):
    """The pages as bytes, or as pictures. Same content, same bytes."""
    found = content.found
    with drawing():
        made = {
            "workspace": figures.workspace(found),
            "motion": figures.motion(found),
            "supply": figures.supply(found),
            "energies": figures.energies(found),
            "value": figures.value(found),
        }
        for i, drives in enumerate(content.drives):
            made |= {f"account{i}": driven.account(drives), f"run{i}": driven.run(drives)}
        drawn = {name: svg(fig) for name, fig in made.items() if fig is not None}
    return typeset("planning", drawn, data(content, list(drawn)), format, ppi)


def data(content: Planned, drawn: list[str]) -> dict:
    """What the template prints."""
    found = content.found
    task = content.found.task
    text = lambda cells: [tables.wrapped(clean(cell)) for cell in cells]
    return {
        "title": clean(content.case.name, 60),
        "short": "Plan",
        "date": clean(content.date, 40),
        "what": clean(title(task)),
        "head": list(HEAD[:6]),
        "rows": [text(_cells(found, row)) for row in found.rows],
        "notes": [": ".join(text((row.name, row.note))) for row in found.rows if row.note],
        "remarks": text(remarks(found)),
        "supply": task.supply.title,
        "treated": clean(task.supply.treated),
        "order": task.order,
        "history": history(found.best),
        "command": clean(content.command),
        "figures": drawn,
        "driven": [_driven(drives, i) for i, drives in enumerate(content.drives)],
    }


def _cells(found, row) -> tuple[str, ...]:
    """A planner's row of the table, under `HEAD`."""
    excess = found.excess(row)
    over = "" if excess is None or row is found.rows[0] else share(excess)
    steps = "–" if row.creeping is None else f"{row.creeping} of {found.task.steps}"
    seconds = format_quantity(row.seconds, "s", 2)
    return row.name, amount(row.energy), over, amount(row.driven), steps, seconds


def _driven(drives, i: int) -> dict:
    """The motions that one law drove: their table, the verdicts on the optimum (the first row), and remarks."""
    best = drives.rows[0][1]
    return {
        "law": clean(drives.law),
        "head": list(driven_table.HEAD),
        "verdicts": [] if best is None else list(map(_verdict, best.examination.verdicts)),
        "account": f"account{i}",
        "run": f"run{i}",
        "rows": [
            [tables.wrapped(clean(cell)) for cell in row] for row in driven_table.rows(drives)
        ],
        "remarks": [tables.wrapped(clean(r)) for r in driven_table.remarks(drives, verdicts=False)],
    }


def _verdict(verdict) -> list[str]:
    """[claim, word, strength, where it is worst]."""
    return [
        clean(verdict.claim, 60),
        verdict.word + ("" if verdict.counted else " (information)"),
        verdict.strength or "–",
        tables.wrapped(clean(verdict.worst)),
    ]


def history(plan) -> list[list[str]]:
    """[spacing, energy] of the last pass at every spacing: the first seven spacings and the finest."""
    last = list({format_quantity(h, "m", 2): amount(e) for h, e in plan.history}.items())
    return [list(pair) for pair in [*last[:7], *last[7:][-1:]]]
