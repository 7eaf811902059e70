"""The page: one HTML file with the run, the verdicts and the scripts that draw both; it loads nothing from a network.

Text from case files is escaped where it becomes HTML, and is data, never markup, where scripts show it. A policy in the
file's head lets no script run but those whose digests it names, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from reports import tables
from reports.content import Content
from reports.page import film, plots
from reports.page.embedded import as_json
from reports.page.exported import exported_section
from reports.page.machines import machine3
from reports.page.panels.closest import called
from reports.style import clean
from workbench.files.atomic import write_atomic
from workbench.verification.verdict import exit_code

HERE = Path(__file__).parent
SCRIPTS = (  # in this order, in one scope
    "units",
    "colours",
    "clock",
    "poses",
    "shapes",
    "names",
    "stage",
    "stage_flat",
    "plots",
    "rows",
    "transport",
    "verdicts",
    "start",
)
FONTS = {"Inter": "inter.woff2", "Libertinus Serif": "libertinus.woff2"}
ENDINGS = (".html", ".htm")  # of files that are pages
LARGEST = 3_000_000  # bytes of a page


def is_page(path: str | os.PathLike) -> bool:
    """Whether a report of this name is a page."""
    return os.path.splitext(os.fspath(path))[1].lower() in ENDINGS


def write_page(path: str | os.PathLike, content: Content) -> None:
    """Write the page, whole or not at all. Raises InputError when `path` cannot be written."""
    made = page(content).encode("utf-8")
    write_atomic(path, lambda stream: stream.write(made))


def page(content: Content) -> str:
    """The page as text; the same content, the same text."""
    scripts = [vendored("uplot.min.js"), vendored("three.min.js"), own_scripts()]
    style = _style()
    parts = {
        "policy": policy(scripts, style),
        "style": style,
        "title": escape(clean(content.title, 300)),
        "heading": escape(clean(content.title, 300).replace(" · ", "\u00a0· ")),
        "verdicts": verdict_rows(content),
        "exported": exported_section(content),
        "case": escape(clean(content.case_text, 200_000)),
        "foot": _foot(content),
        "data": as_json(data(content)),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
        **_answer(content),
    }
    return Template((HERE / "page.html").read_text("utf-8")).substitute(parts)


def data(content: Content) -> dict:
    """What scripts show: the machine's poses, the plots, the instants that verdicts name."""
    log = content.log
    marks = [(v.instant, v.claim, v.word) for v in _ordered(content) if v.instant is not None]
    times = [at for at, _, _ in marks]
    return {
        "span": [float(log.time[0]), float(log.time[-1])] if log is not None else [0.0, 0.0],
        "marks": [[at, clean(claim, 200), word] for at, claim, word in marks],
        "panels": plots.panels(content, times),
        "scene": _scene(content, times),
    }


def _scene(content: Content, times: list[float]) -> dict | None:
    drawable = content.log is not None and content.plant is not None
    machine = None if not drawable else machine3(content.plant, content.log)
    if machine is None:
        return None
    found = content.analysis.get("falsify")
    log = None if not found else found["closest"].get("log")
    others = [] if log is None else [(called(found), log)]
    return film.scene(machine, content.log, content.plant, times, others)


def _ordered(content: Content) -> list:
    """Verdicts as they are listed: those that count first."""
    return sorted(content.verdicts, key=lambda v: not v.counted)


# ---- HTML -------------------------------------------------------------------------------------------------------------
MARKS = {"holds": "✓", "violated": "✗", "undecided": "?"}


def verdict_rows(content: Content) -> str:
    """Rows of the table of verdicts; one that names an instant of this run has a button that goes there."""
    rows = zip(_ordered(content), tables.verdict_rows(content.verdicts))
    return "\n".join(_row(verdict, row) for verdict, row in rows)


def _row(verdict, row: dict) -> str:
    word = row["word"]
    badge = f'<span class="badge"><span aria-hidden="true">{MARKS[word]}</span> {word}</span>'
    strength = row["strength"] if row["counted"] else f"{row['strength']}, information"
    said = [escape(row["margin"]), f"<small>{escape(strength)}</small>"]
    return (
        f'<tr class="{word}{"" if row["counted"] else " aside"}"><td>{badge}</td>'
        f'<td><span class="claim">{_shown(row["claim"])}</span>'
        f'<span class="worst">{_shown(row["worst"])}</span>{_jump(verdict)}</td>'
        f'<td class="margin">{"".join(said)}</td></tr>'
    )


def _jump(verdict) -> str:
    if verdict.instant is None:
        return ""
    at = tables.quantity(verdict.instant, "s", 4)
    return (
        f'<button type="button" class="jump" data-at="{verdict.instant!r}">'
        f'<span class="hidden">show the worst instant of this claim, </span>t = {escape(at)}</button>'
    )


def _answer(content: Content) -> dict[str, str]:
    answer = tables.answer(content.verdicts)
    words = {"word": answer["word"], "lead": answer["lead"], "answer": answer["text"]}
    return {k: _shown(v) for k, v in {**words, "question": content.question}.items()}


def _shown(text: str) -> str:
    """Text as HTML, with places where browsers may break long words."""
    return escape(clean(text).replace("\u200b", ""))


def _foot(content: Content) -> str:
    log = content.log
    run = (
        ""
        if log is None
        else f"{log.status.message}, {len(log)} instants of {len(log.signals)} signals"
    )
    thinned = (
        "Plots are thinned for drawing: of each stretch of time the smallest and the largest value of every curve are "
        "kept, so that no peak is lost. Verdicts come from the full run. Bodies are drawn around their pins; their "
        "thickness is not the machine's."
    )
    told = [run, content.date, content.command, f"exit {exit_code(content.verdicts)}"]
    line = " · ".join(escape(clean(part, 500)) for part in told if part)
    return f"<p>{thinned}</p><p>{line}</p>"


def policy(scripts: list[str], style: str) -> str:
    """Content-Security-Policy: these scripts, this style, what is inside the file, and nothing else."""
    hashes = " ".join(map(digest, scripts))
    return (
        f"default-src 'none'; script-src {hashes}; style-src {digest(style)}; font-src data:; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """'sha256-…' of what stands inside an element, as policies write it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"


# ---- parts of the package ---------------------------------------------------------------------------------------------
@cache
def vendored(name: str) -> str:
    """A script or style sheet of others, without what would end the element it stands in."""
    return (HERE / "vendor" / name).read_text("utf-8").strip()


@cache
def own_scripts() -> str:
    """The page's own scripts as one, in a scope of its own."""
    texts = [(HERE / "script" / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(texts) + "\n})();"


@cache
def _style() -> str:
    """Fonts, the plots' style sheet, the page's."""
    faces = [_face(family, HERE / "vendor" / file) for family, file in FONTS.items()]
    own = (HERE / "style.css").read_text("utf-8")
    return "\n".join([*faces, vendored("uplot.min.css"), own])


def _face(family: str, file: Path) -> str:
    text = base64.b64encode(file.read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-weight:400 650;font-display:block;'
        f'src:url(data:font/woff2;base64,{text}) format("woff2")}}'
    )
