"""Which numbers of the machine move the margins of the requirements most."""

from __future__ import annotations

from collections.abc import Mapping

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import sensitivity
from reports.style import clean
from workbench.verification.sensitivity.check import doubt, signed, strongest


class Sensitivity(Chapter):
    name = "sensitivity"
    analysis = {
        "moved_margins": "requirements [{key, claim, margin, unit, slopes [{name, tenth, error, smooth, by, words}]}], "
        "shares [{key, runs, failed, numbers [{name, alone, alone_between, whole, whole_between}]}]"
    }

    def figures(self, content) -> Figures:
        found = content.analysis.get("moved_margins")
        return {"moved_margins": lambda: sensitivity.bars(found)} if found else {}

    def rows(self, content, drawn: list[str]) -> dict:
        found = content.analysis.get("moved_margins")
        if not found:
            return {"moved_margins": None}
        slopes = [row for entry in found["requirements"] for row in slope_rows(entry)]
        shares = [row for entry in found.get("shares", ()) for row in share_rows(entry)]
        return {"moved_margins": {"slopes": slopes, "shares": shares}}


def slope_rows(entry: Mapping) -> list[list[str]]:
    """[requirement, number, change of the margin for +10 %, per unit, whether it is smooth there] of those that are drawn."""
    rows = []
    for s in strongest(entry):
        change = (
            f"{signed(s['tenth'], entry['unit'])} ± {tables.quantity(s['error'], entry['unit'], 2)}"
        )
        smooth = doubt(s)
        name = "" if rows else clean(entry["key"], 40)
        rows.append([name, clean(s["name"], 40), change, clean(s["words"], 60), smooth])
    return rows


def share_rows(entry: Mapping) -> list[list[str]]:
    """[requirement, number, share of the spread alone, in all], each with its interval."""
    if entry["failed"]:
        words = f"{entry['failed']} of {entry['runs']} runs have no margin"
        return [[clean(entry["key"], 40), words, "–", "–"]]
    rows = []
    for n in entry["numbers"]:
        cells = [_share(n["alone"], n["alone_between"]), _share(n["whole"], n["whole_between"])]
        rows.append(["" if rows else clean(entry["key"], 40), clean(n["name"], 40), *cells])
    return rows


def _share(value: float, between: tuple[float, float]) -> str:
    return f"{value:.2f} ({between[0]:.2f} … {between[1]:.2f})"
