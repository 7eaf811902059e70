"""The energy that every cause brought, and what is stored."""

from __future__ import annotations

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import mechanism


class Energy(Chapter):
    name = "energy"

    def figures(self, content) -> Figures:
        log = content.log
        plant = content.plant
        if log is None:
            return {}
        return {"energy": lambda: mechanism.energy(log, plant)}

    def rows(self, content, drawn: list[str]) -> dict:
        _, energies = tables.energies_apart(content.analysis.get("statistics") or {}, drawn)
        return {"energy": tables.statistics_rows(energies)}
