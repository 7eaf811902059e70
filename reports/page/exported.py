"""The page's chapter on exported code: what left the workbench, and how it was held against the run."""

from __future__ import annotations

from html import escape

from reports.chapters.exported import Exported
from reports.style import clean

MARKS = {"well": "holds", "wrong": "violated", "not checked": "undecided"}  # colours of verdicts


def exported_section(content) -> str:
    """HTML of the chapter, the rows of the printed one; empty where nothing was exported."""
    told = Exported().rows(content, [])["exported"]
    if told is None:
        return ""
    facts = "".join(
        f"<tr><td>{_text(what)}</td><td>{_text(text)}</td></tr>" for what, text in told["facts"]
    )
    checks = "".join(_check(*row) for row in told["checks"])
    return (
        '<section aria-labelledby="exported"><h2 id="exported">Exported code</h2>'
        f'<table class="verdicts"><tbody>{facts}{checks}</tbody></table></section>'
    )


def _check(what: str, answer: str, text: str) -> str:
    badge = f'<span class="badge">{answer}</span>'
    return f'<tr class="{MARKS[answer]}"><td>{badge}</td><td>{_text(what)}: {_text(text)}</td></tr>'


def _text(text: str) -> str:
    return escape(clean(text).replace("\u200b", ""))
