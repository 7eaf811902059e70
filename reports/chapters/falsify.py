"""The search for a counter-example: what was varied, where the room is thin, the closest run, every requirement."""

from __future__ import annotations

import numpy as np

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import falsify
from reports.style import clean


class Falsify(Chapter):
    name = "falsify"
    analysis = {
        "falsify": "directions [{name, low, high, nominal, unit}], values (K, n) of K runs, scores (K,), matter (n,), requirements "
        "[{claim, margin, unit, least, run}], closest {values (n,), deviates, requirement, score, curves}"
    }

    def figures(self, content) -> Figures:
        found = content.analysis.get("falsify")
        if not found:
            return {}
        return {
            "falsify_scatter": lambda: falsify.scatter(found),
            "falsify_beside": lambda: falsify.beside(found),
        }

    def rows(self, content, drawn: list[str]) -> dict:
        found = content.analysis.get("falsify")
        return {"falsify": page_rows(found) if found else None}


def page_rows(found: dict) -> dict:
    """What the page prints: directions, requirements, and how many runs there were."""
    scores = np.asarray(found["scores"], float)
    finite = scores[np.isfinite(scores)]
    return {
        "runs": str(len(scores)),
        "refused": int(len(scores) - len(finite)),
        "violated": bool(len(finite)) and bool(finite.min() < 0),
        "matter": [clean(name, 40) for name in names_that_matter(found)],
        "directions": direction_rows(found),
        "requirements": [requirement_row(row, found) for row in found["requirements"]],
    }


def names_that_matter(found: dict) -> list[str]:
    """The two directions that explain most of the scores' spread, first the one that explains more."""
    order = np.argsort(-np.asarray(found["matter"]), kind="stable")[:2]
    return [found["directions"][i]["name"] for i in order]


def direction_rows(found: dict) -> list[list[str]]:
    """[name, range, nominal, closest run, share of the spread that it explains]."""
    weights = np.asarray(found["matter"], float)
    total = weights.sum() or 1.0
    rows = []
    for d, value, weight in zip(found["directions"], found["closest"]["values"], weights):
        changed = d["name"] in found["closest"]["deviates"]
        rows.append(
            [
                clean(d["name"], 40),
                tables.range_of(d["low"], d["high"], d["unit"]),
                tables.quantity(d["nominal"], d["unit"], 4),
                tables.quantity(value, d["unit"], 4) if changed else "as nominal",
                tables.percent(weight / total, 2),
            ]
        )
    return rows


def requirement_row(row: dict, found: dict) -> list[str]:
    """[requirement, its margin in the nominal run, the least share of it in any run, values of that run]."""
    if not np.isfinite(row["least"]):
        return [clean(row["claim"], 160), tables.quantity(row["margin"], row["unit"], 3), "–", ""]
    values = np.asarray(found["values"], float)[row["run"]]
    where = ", ".join(
        f"{d['name']} = {tables.quantity(value, d['unit'], 3)}"
        for d, value in zip(found["directions"], values)
        if value != d["nominal"]
    )
    return [
        clean(row["claim"], 160),
        tables.quantity(row["margin"], row["unit"], 3),
        tables.percent(row["least"], 3),
        clean(where or "nothing deviates", 160),
    ]
