"""The report: everything about one verification on paper, as PDF. Nothing is computed here.

Text of users (names, files, claims) reaches the templates as data, never as source, so no character has a meaning.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import final

from workbench.run.log import Log
from workbench.verification.verdict import exit_code

from . import chapters, tables
from .content import Content
from .page import is_page, write_page
from .style import clean, drawing, svg

TEMPLATES = Path(__file__).parent / "templates"
PAGE = r"^#let page\(d\)"  # of a chapter that has one
CHAPTERS_AT = Path(__file__).parent / "chapters"


def write_report(
    path: str | os.PathLike,
    content: Content,
    progress: Callable[[float], None] | None = None,
    drawn: Drawn | None = None,
) -> None:
    """Write the report as PDF, or as an interactive page where `path` ends in .html.

    content: what it shows, such as `Content.of(case, examine(…))`. progress: called with the fraction done. drawn: figures that
    were drawn before; those of the same data are used again.

    Raises InputError when `path` cannot be written. A file that was there stays unless the new one is complete.
    """
    if is_page(path):
        write_page(path, content)
        return
    write_pdf(path, lambda: rendered(content, progress=progress, drawn=drawn))


def write_pdf(
    path: str | os.PathLike,
    made: Callable[[], bytes],
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write what `made` returns, whole or not at all; whether `path` can be written is asked first."""
    from workbench.files.atomic import check_writable, write_atomic

    check_writable(path)
    pdf = made()
    write_atomic(path, lambda stream: stream.write(pdf))
    if progress:
        progress(1.0)


def rendered(
    content: Content,
    format: str = "pdf",
    ppi: float = 100.0,
    progress: Callable[[float], None] | None = None,
    drawn: Drawn | None = None,
):
    """The report as bytes (format "pdf"), or a list of pictures, one a page (format "png"). Same content, same bytes.

    ppi: pixels an inch of the pictures. progress, drawn: as for `write_report`.
    """
    shown = figures(content, (lambda done: progress(0.8 * done)) if progress else None, drawn)
    made = typeset("report", shown, data(content, list(shown)), format, ppi)
    if progress:
        progress(1.0)
    return made


def typeset(
    main: str, drawn: Mapping[str, bytes], values: dict, format: str = "pdf", ppi: float = 100.0
):
    """The template `main` with figures (name → SVG) and data, as `rendered` returns it."""
    import typst

    from .placed import placed

    files = {path.name: path.read_bytes() for path in sorted(TEMPLATES.glob("*.typ"))}
    files |= {
        f"chapter-{path.name}": path.read_bytes() for path in sorted(CHAPTERS_AT.glob("*.typ"))
    }
    files["chapters.typ"] = contents().encode()
    files["main"] = files.pop(f"{main}.typ")
    files |= {f"{name}.svg": picture for name, picture in drawn.items()}
    files["data.json"] = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    options = {"ppi": ppi} if format == "png" else {}
    options |= {"format": format, "ignore_system_fonts": True, "timestamp": 0}
    return typst.compile(files, sys_inputs=placed(files), **options)


def contents() -> str:
    """Typst source of the list of all pages."""
    paged = [c.name for c in chapters.CHAPTERS if re.search(PAGE, _source(c.name), re.M)]
    lines = [f'#import "chapter-{name}.typ" as {name}' for name in paged]
    return "\n".join([*lines, f"#let pages = ({', '.join(f'{name}.page' for name in paged)})"])


def _source(name: str) -> str:
    path = CHAPTERS_AT / f"{name}.typ"
    return path.read_text("utf-8") if path.exists() else ""


def figures(
    content: Content,
    progress: Callable[[float], None] | None = None,
    drawn: Drawn | None = None,
) -> dict[str, bytes]:
    """Every figure this content has data for, name → SVG; those that `drawn` has of the same data are not drawn again."""
    known = Drawn() if drawn is None else drawn
    found = {}
    with drawing():
        planned = chapters.planned(content)
        for i, (name, figure) in enumerate(planned.items()):
            picture = known.of(name, figure)
            if picture is not None:
                found[name] = picture
            if progress:
                progress((i + 1) / len(planned))
    return found


@final
class Drawn:
    """Figures as SVG, each with the objects that it was drawn from: while these are the same, it is drawn once."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple, bytes | None]] = {}

    def of(self, name: str, figure: chapters.Planned) -> bytes | None:
        """The figure; None where there is nothing to draw."""
        kept = self._kept.get(name)
        if kept is not None and _same(kept[0], figure.basis):
            return kept[1]
        made = figure.draw()
        picture = None if made is None else svg(made)
        self._kept[name] = (figure.basis, picture)
        return picture


def _same(before: tuple, now: tuple) -> bool:
    """Whether both hold the same objects, one by one."""
    return len(before) == len(now) and all(a is b for a, b in zip(before, now))


def data(content: Content, drawn: list[str]) -> dict:
    """What the templates print: text, already with units, and the names of the figures there are."""
    front = {
        "title": tables.wrapped(content.title, 160),
        "short": tables.shortened(content.title, 70),
        "date": clean(content.date, 40),
        "question": tables.wrapped(content.question),
        "answer": tables.answer(content.verdicts),
        "exit": exit_code(content.verdicts),
        "verdicts": tables.verdict_rows(content.verdicts),
        "run": _run(content.log),
        "figures": drawn,
        "keys": [clean(v.key, 60) for v in content.verdicts],
        "sampled": content.controller is not None and content.controller.period is not None,
    }
    for chapter in chapters.CHAPTERS:
        rows = chapter.rows(content, drawn)
        if twice := front.keys() & rows.keys():
            raise ValueError(f"chapter {chapter.name}: {', '.join(sorted(twice))} is taken already")
        front |= rows
    return front


def _run(log: Log | None) -> dict | None:
    if log is None:
        return None
    return {
        "completed": log.status.completed,
        "message": clean(log.status.message),
        "samples": str(len(log)),
        "duration": tables.quantity(log.status.t_end, "s", 5),
    }
