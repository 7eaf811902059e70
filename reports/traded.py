"""What `workbench tune` traded, on a page: gains before and after, the picture, what the verification of the file said."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import Any, final

from workbench.files.atomic import write_atomic

from . import tables
from .document import typeset, write_pdf
from .style import clean, drawing, svg


@final
@dataclass(frozen=True, eq=False)
class TradedPage:
    """What the page shows.

    found: a `controllers.gain_search.Traded`. rows: (what, before, chosen) of its table. words: what was asked and what came of it.
    verdicts: of the file that was written. date and command as they shall be printed.
    """

    title: str
    found: Any
    rows: tuple[tuple[str, str, str], ...]
    words: tuple[str, ...]
    verdicts: tuple = ()
    date: str = ""
    command: str = ""


def write_traded(path: str | os.PathLike, content: TradedPage) -> None:
    """Write the page, as HTML where the name ends so, else as PDF. Raises InputError when `path` cannot be written."""
    if os.fspath(path).endswith((".html", ".htm")):
        write_atomic(path, lambda stream: stream.write(as_html(content).encode()))
    else:
        write_pdf(path, lambda: rendered(content))


def rendered(content: TradedPage, format: str = "pdf", ppi: float = 100.0):
    """The page as bytes, or as pictures. Same content, same bytes."""
    with drawing():
        drawn = {"traded": svg(content.found.plot())}
    return typeset("traded", drawn, data(content, list(drawn)), format, ppi)


def data(content: TradedPage, drawn: list[str]) -> dict:
    """What the template prints."""
    judged = [
        [tables.wrapped(v.claim), v.word if v.counted else f"({v.word})", tables.wrapped(v.worst)]
        for v in content.verdicts
    ]
    return {
        "title": clean(content.title, 120),
        "short": "Tuning",
        "date": clean(content.date, 40),
        "rows": [[tables.typeset(tables.wrapped(cell)) for cell in row] for row in content.rows],
        "words": [tables.wrapped(line) for line in content.words],
        "what": content.found.what,
        "claims": judged,
        "command": clean(content.command),
        "figures": drawn,
    }


def as_html(content: TradedPage) -> str:
    """One file, nothing loaded from elsewhere."""
    with drawing():
        picture = svg(content.found.plot()).decode()
    picture = picture[picture.index("<svg") :]
    judged = [(v.claim, v.word if v.counted else f"({v.word})", v.worst) for v in content.verdicts]
    title = html.escape(clean(content.title, 120))
    told = "".join(f"<p>{html.escape(line)}</p>" for line in content.words)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tuning · {title}</title>{STYLE}</head>'
        f"<body><h1>{title}</h1>{_table((('', 'before', 'chosen'), *content.rows))}{told}"
        f'<figure role="img" aria-label="rms error against the {content.found.what} borne">{picture}</figure>'
        f"{_verified(judged)}<p><code>{html.escape(clean(content.command))}</code> {html.escape(content.date)}</p></body></html>\n"
    )


STYLE = (
    "<style>:root{color-scheme:light}body{font:16px/1.5 Georgia,serif;max-width:46rem;margin:2rem auto;padding:0 1rem;"
    "background:#fff;color:#222}table{border-collapse:collapse}th,td{text-align:left;padding:.2rem 1rem .2rem 0;"
    "border-bottom:1px solid #ddd;vertical-align:top}figure{margin:1rem 0}svg{max-width:100%;height:auto}</style>"
)


def _verified(judged: list[tuple[str, str, str]]) -> str:
    if not judged:
        return ""
    return f"<h2>The file that was written</h2>{_table((('claim', 'verdict', 'worst'), *judged))}"


def _table(rows) -> str:
    head, *rest = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    head = head.replace("<td>", '<th scope="col">').replace("</td>", "</th>")
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rest)}</table>"
