"""The machine: what it looks like, its circuit, its cylinders."""

from __future__ import annotations

from reports import parameter_tables, sketch
from reports.chapters.chapter import Chapter, Figures
from reports.figures import circuit


class Machine(Chapter):
    name = "machine"

    def figures(self, content) -> Figures:
        plant = content.plant
        log = content.log
        if plant is None:
            return {}
        return {
            "picture": lambda: sketch.machine(
                plant, log, height=2.1, width=2.7, ghosts=0, bare=True
            ),
            "machine": lambda: sketch.machine(plant, log),
            "circuit": lambda: circuit.circuit(plant),
        }

    def rows(self, content, drawn: list[str]) -> dict:
        return {"actuators": parameter_tables.actuator_rows(content.plant)}
