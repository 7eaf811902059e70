"""What of the loop left the workbench as code, and how that code was held against the run."""

from __future__ import annotations

from reports.chapters.chapter import Chapter
from reports.style import clean

ANSWERS = {True: "well", False: "wrong", None: "not checked"}


class Exported(Chapter):
    name = "exported"
    analysis = {
        "exported": "facts: (what, text) of the exported part; checks: (what, True, False or None for not checked, text)"
    }

    def rows(self, content, drawn: list[str]) -> dict:
        told = content.analysis.get("exported")
        if told is None:
            return {"exported": None}
        facts = [[clean(what), clean(text)] for what, text in told["facts"]]
        checks = [[clean(what), ANSWERS[well], clean(text)] for what, well, text in told["checks"]]
        return {"exported": {"facts": facts, "checks": checks}}
