"""Pages out of files at the repository's top: notation, how to contribute, what changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = {"notation": "NOTATION.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}


def wrapped() -> Iterator[tuple[str, str]]:
    """(name, Markdown)."""
    for name, file in FILES.items():
        yield name, re.sub(r"\]\(([^)#:]+)\)", _led, (ROOT / file).read_text("utf-8"))


def on_site(text: str, depth: int) -> str:
    """A page by hand, `depth` folders below docs, whose links to those files lead to their pages."""
    for name, file in FILES.items():
        text = text.replace(
            f"]({'../' * (depth + 1)}{file})", f"]({'../' * depth}reference/{name}.md)"
        )
    return text


def _led(found: re.Match) -> str:
    target = found[1]
    for name, file in FILES.items():
        if target == file:
            return f"]({name}.md)"
    if target.startswith("docs/"):
        return f"](../{target.removeprefix('docs/')})"
    return f"](../../{target})"
