"""Every parameter with its unit, origin and source."""

from __future__ import annotations

from reports import tables
from reports.chapters.chapter import Chapter
from workbench.contract.system import innermost


class Parameters(Chapter):
    name = "parameters"

    def rows(self, content, drawn: list[str]) -> dict:
        law, origin = innermost(content.controller), content.origin
        return {
            "plant": tables.parameter_groups(content.plant, origin, "plant."),
            "controller": tables.parameter_groups(law, origin, "controller.", "model."),
            "loop": tables.wrapper_groups(content.controller, origin),
            "meanings": tables.meanings(content.plant, content.controller),
            "tags": [[tag, words] for tag, words in tables.TAGS.items()],
        }
