"""What is needed to repeat the run."""

from __future__ import annotations

import json

from reports import tables
from reports.chapters.chapter import Chapter
from reports.style import clean


class Repeat(Chapter):
    name = "repeat"

    def rows(self, content, drawn: list[str]) -> dict:
        rest = "\n# … the rest is not printed" if len(content.case_text) > LONGEST_FILE else ""
        return {
            "reproduction": reproduction(content),
            "case": clean(content.case_text[:LONGEST_FILE]) + rest,
        }


LONGEST_FILE = 40_000  # characters of the case file that are printed


def reproduction(content) -> list[list[str]]:
    """(what, value) that pin the run down."""
    rows = [["command", clean(content.command)]] if content.command else []
    if content.log is None:
        return rows
    known = content.log.provenance
    rows += [
        [n.replace("_", " "), tables.wrapped(known[n])]
        for n in ("parameter_hash", "seed")
        if n in known
    ]
    if versions := known.get("versions"):
        rows.append(["versions", ", ".join(f"{clean(k)} {clean(v)}" for k, v in versions.items())])
    if grid := known.get("grid"):
        rows.append(["grid", ", ".join(f"{clean(k)} = {clean(v)}" for k, v in grid.items())])
    if scenario := known.get("scenario"):
        rows.append(["scenario", tables.wrapped(json.dumps(scenario, ensure_ascii=False))])
    return rows
