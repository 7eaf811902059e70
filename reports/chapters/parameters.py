"""Every parameter with its unit, origin and source."""

from __future__ import annotations

from reports import parameter_tables, tables
from reports.chapters.chapter import Chapter
from workbench.contract.system import innermost


class Parameters(Chapter):
    name = "parameters"

    def rows(self, content, drawn: list[str]) -> dict:
        law = innermost(content.controller)
        origin = content.origin
        return {
            "plant": parameter_tables.parameter_groups(content.plant, origin, "plant."),
            "controller": parameter_tables.parameter_groups(law, origin, "controller.", "model."),
            "loop": parameter_tables.wrapper_groups(content.controller, origin),
            "meanings": parameter_tables.meanings(content.plant, content.controller),
            "tags": [[tag, words] for tag, words in tables.TAGS.items()],
        }
