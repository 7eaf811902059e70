"""Metering valves: operating points, openings over time, and the energy that each valve takes."""

from __future__ import annotations

from reports import accounts
from reports.chapters.chapter import Chapter, Figures
from reports.figures import metering


class Metering(Chapter):
    name = "metering"

    def figures(self, content) -> Figures:
        log = content.log
        plant = content.plant
        if log is None:
            return {}
        return {
            "operating_points": lambda: metering.operating_points(log, plant),
            "valve_states": lambda: metering.valve_states(log, plant),
        }

    def rows(self, content, drawn: list[str]) -> dict:
        return {"metering": accounts.facts(content.log, content.plant)}
