"""What a chapter of the report is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

Figures = dict[str, Callable[[], Any]]


class Chapter:
    """One subject of the report: what it needs, its figures, its rows, its page.

    name      of the file that it is in. Its page is `page(d)` of the Typst file beside it; without that file, others
              print its rows
    analysis  name → what it holds, of the arrays in `Content.analysis` that the chapter's figures read (N samples, K cases)
    printed   likewise, of what its rows alone read

    To add a chapter: a file with an object of it in this folder, its page beside it, its name in `CHAPTERS`.
    """

    name: ClassVar[str]
    analysis: ClassVar[Mapping[str, str]] = {}
    printed: ClassVar[Mapping[str, str]] = {}

    def figures(self, content) -> Figures:
        """Name → function that draws it; it may still return None."""
        return {}

    def rows(self, content, drawn: list[str]) -> dict:
        """What its page prints: plain data, numbers already with their units. drawn: names of the figures there are."""
        return {}
