"""The gallery: every script of docs/gallery is an entry, with its text, its code, what it prints and what it draws.

A script's docstring is its title, and below it what is seen. Its name begins with the group that it belongs to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.building.words import fence, markdown

FOLDER = Path(__file__).parents[1] / "gallery"
GROUPS = {
    "run": "Run a machine",
    "design": "Design a law",
    "verify": "Verify a loop",
    "search": "Search and count",
    "identify": "Identify",
    "plan": "Plan",
    "look": "Look inside",
}


@dataclass(frozen=True)
class Entry:
    """A script of the gallery."""

    name: str
    group: str
    title: str
    words: str
    code: str


def entries() -> list[Entry]:
    """Every entry, by group."""
    found = [read(path) for path in sorted(FOLDER.glob("*.py"))]
    return sorted(found, key=lambda entry: list(GROUPS).index(entry.group))


def read(path: Path) -> Entry:
    """An entry out of its script."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    title, _, words = (ast.get_docstring(tree) or path.stem).partition("\n\n")
    code = "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip("\n") + "\n"
    return Entry(path.stem, path.stem.split("-")[0], title.rstrip("."), words, code)


def pages() -> Iterator[tuple[str, str]]:
    """(name, Markdown) of the page of every entry, and of the one with all pictures."""
    found = entries()
    if not found:
        return
    yield "gallery/index", _first(found)
    for entry in found:
        yield f"gallery/{entry.name}", _page(entry)


def _first(found: list[Entry]) -> str:
    parts = [
        "(all-gallery)=\n\n# Gallery",
        "Each entry is a script of 40 lines at most that runs within 20 seconds. Its picture, and what it prints, are made when"
        " this site is built.",
    ]
    for group, title in GROUPS.items():
        own = [entry for entry in found if entry.group == group]
        if own:
            parts += [f"## {title}", _grid(own)]
    parts.append("\n".join(["```{toctree}", ":hidden:", "", *(e.name for e in found), "```"]))
    return "\n\n".join(parts) + "\n"


def _grid(own: list[Entry]) -> str:
    cards = [
        f":::{{grid-item-card}} {entry.title}\n:link: {entry.name}\n:link-type: doc\n\n```{{thumbnail}} {entry.name}\n```\n:::"
        for entry in own
    ]
    return "\n\n".join(["::::{grid} 1 2 3 3\n:gutter: 3", *cards, "::::"])


def _page(entry: Entry) -> str:
    parts = [
        f"(gallery-{entry.name})=\n\n# {entry.title}",
        markdown(entry.words),
        f"```{{shown}} {entry.name}\n```",
        fence(entry.code, "python"),
        f"```{{printed}} {entry.name}\n```",
    ]
    return "\n\n".join(parts) + "\n"
