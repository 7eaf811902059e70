"""Requirements in signal temporal logic: what was asked, clause by clause, and when it was decided; limits of the machine alike."""

from __future__ import annotations

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures.requirements import requirements
from reports.style import clean
from workbench.verification.observed.machine import KEY as MACHINE_LIMITS
from workbench.verification.verdict import Verdict

WORDS = {True: "holds", False: "violated", None: "undecided"}


class Requirements(Chapter):
    name = "requirements"
    analysis = {
        "requirements": "key → sentence, name, holds, margin, unit, at (s), clauses, bounds of robustness low, up (N,) over t, "
        "curve (N,) of the comparison that decides"
    }

    def figures(self, content) -> Figures:
        entries = list((content.analysis.get("requirements") or {}).values())
        return {"requirements": lambda: requirements(entries)} if entries else {}

    def rows(self, content, drawn: list[str]) -> dict:
        entries = (content.analysis.get("requirements") or {}).values()
        return {
            "requirements": [row for entry in entries for row in sentence_rows(entry)],
            "machine_limits": [row for verdict in content.verdicts for row in limit_rows(verdict)],
        }


def limit_rows(verdict: Verdict) -> list[list[str]]:
    """[limit, sentence, word, room to it] of every limit of the machine that a verdict is about."""
    if verdict.key != MACHINE_LIMITS:
        return []
    found = []
    for row in verdict.data.get("limits", ()):
        word = WORDS[not row["broken"]]
        margin = tables.quantity(row["margin"], row["unit"], 3)
        found.append([clean(row["name"], 40), clean(row["sentence"], 120), word, margin])
    return found


def sentence_rows(entry: dict) -> list[list[str]]:
    """[name, clause, word, margin, what decides and when]: a row a sentence, and one a clause where there are several."""
    decided = "" if entry["at"] is None else f"{entry['words']} at t = {entry['at']:.4g} s"
    whole = _row(entry["name"], entry["sentence"], entry, decided)
    clauses = entry["clauses"]
    if len(clauses) < 2:
        return [whole]
    return [whole, *(_row("", clause["text"], clause, "") for clause in clauses)]


def _row(name: str, text: str, entry: dict, decided: str) -> list[str]:
    margin = tables.quantity(entry["margin"], entry["unit"], 3)
    return [clean(name, 40), clean(text, 200), WORDS[entry["holds"]], margin, clean(decided, 120)]
