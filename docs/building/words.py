"""Docstrings of this repository as Markdown: paragraphs, equations that stand further in, rows "name   words".

Text means itself: what Markdown would take for its own is escaped outside of `code`. A source cited as [Key] becomes a link to
the page of references.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from types import ModuleType

from docs.building.equations import mathml

ROW = re.compile(r"(\S+(?: \S+)?(?:, \S+)*) {2,}(\S.*)")
ROW_FURTHER_IN = re.compile(r" {4}(\S+(?:, \S+)*) {2,}(\S.*)")
CITED = re.compile(r"\[([A-Z][A-Za-z]+\d{2}[a-z]?)\]")
OWN = re.compile(r"([\\*_<>\[\]|$#~^{}])")


def plain(text: str) -> str:
    """Text that Markdown leaves as it is, but for `code` and sources."""
    pieces = re.split(r"(`+[^`]+`+)", " ".join(text.split()))
    return "".join(p if p.startswith("`") else _escaped(p) for p in pieces)


def _escaped(text: str) -> str:
    pieces = CITED.split(text)
    own = [OWN.sub(r"\\\1", piece) for piece in pieces[0::2]]
    keys = [f"[{key}](#source-{key.lower()})" for key in pieces[1::2]]
    return "".join(a + b for a, b in zip(own, [*keys, ""], strict=True))


def cell(text: str) -> str:
    """Text in a cell of a table."""
    return plain(text).replace("\n", " ")


def fence(text: str, language: str = "text") -> str:
    """A block of code."""
    bars = "`" * max(3, *(len(m) + 1 for m in re.findall(r"`{3,}", text)), 3)
    return f"{bars}{language}\n{text.rstrip()}\n{bars}"


def first_paragraph(thing: type | ModuleType) -> str:
    """The sentence that says what it is; "" where nothing does."""
    text = docstring(thing)
    return " ".join(text.split("\n\n")[0].split())


def docstring(thing: object) -> str:
    """Its docstring without margins; a dataclass without one has only what Python writes for it."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    name = getattr(thing, "__name__", "")
    return "" if name and text.startswith(f"{name}(") else text


def markdown(text: str, keys: Collection[str] = ()) -> str:
    """A docstring as Markdown. keys: names explained elsewhere, whose rows and phrases "name: words." are left out."""
    parts = (_part(kind, lines, keys) for kind, lines in _parts(text.splitlines()))
    return "\n\n".join(part for part in parts if part)


def _parts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(kind, lines) of the paragraphs: "code", "rows" or "text"."""
    kind, held = "", []
    for line in lines:
        new = _kind(line, kind)
        if new != kind and held:
            yield kind, held
            held = []
        kind = new
        if line.strip() or kind == "code":
            held.append(line)
    if held:
        yield kind, held


def _kind(line: str, before: str) -> str:
    if not line.strip():
        return "code" if before == "code" else ""
    if before == "rows" and line.startswith(" "):
        return "rows"
    if line.startswith("    "):
        return "text" if before == "text" else "code"  # a numbered paragraph goes on further in
    return "rows" if ROW.fullmatch(line) else "text"


def _part(kind: str, lines: list[str], keys: Collection[str]) -> str:
    if kind == "code":
        return _code(lines)
    if kind == "rows":
        return _rows(lines, keys)
    items = re.split(r"\n(?=\d+\. )", "\n".join(line.strip() for line in lines))
    return "\n".join(plain(_without(" ".join(item.splitlines()), keys)) for item in items)


def _code(lines: list[str]) -> str:
    """Equations as they stand, the numbers behind them drawn near: pages are narrower than sources."""
    text = re.sub(r"(?<=\S) {6,}(?=\S)", " " * 5, inspect.cleandoc("\n".join(["", *lines])))
    if not text.strip():
        return ""
    return fence(text, "text" if mathml(text) is None else "{equations}")


def _rows(lines: list[str], keys: Collection[str]) -> str:
    rows: list[list[str]] = []
    for line in lines:
        begun = ROW.fullmatch(line)
        if begun:
            rows.append([begun[1], begun[2]])
        else:
            rows[-1][1] += " " + line.strip()
    kept = [row for row in rows if not all(n in keys for n in re.split(r",? ", row[0]))]
    return table(["", ""], [[f"`{name}`", cell(words)] for name, words in kept])


def _without(text: str, keys: Collection[str]) -> str:
    """Text without its phrases "key: words.", which are in the table of keys."""
    if not keys:
        return text
    name = "|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True))
    found = re.search(rf"(?:^|(?<=[.;] ))(?:{name})(?:, (?:{name}))*: ", text)
    return text if found is None else text[: found.start()].strip()


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table of cells that are Markdown already; "" without rows."""
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
