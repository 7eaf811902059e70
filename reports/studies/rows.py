"""What is printed beside what a study computes: a table of text, one line a row, and a number for each of its lines.

    where | what | published | unit | why

where: the figure, table or equation. what: the name of the row, once in a study. published: a number, or – where it is said in
words only. why: the reason that ours differs, or agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import nan

_BAR = re.compile(r"\s+\|\s+")


@dataclass(frozen=True)
class Row:
    """What is compared, where it is published, the number there (nan: in words, or silent), ours in `unit`, why they differ."""

    where: str
    what: str
    published: float
    ours: float
    unit: str
    why: str

    @property
    def ratio(self) -> float:
        """Ours over published."""
        return self.ours / self.published


def cells(table: str) -> list[list[str]]:
    """The cells of a table, line by line."""
    return [_BAR.split(line.strip()) for line in table.strip().splitlines()]


def number(cell: str) -> float:
    """A number as a table has it; nan for –."""
    return nan if cell == "–" else float(cell)


def beside(table: str, ours: Mapping[str, float]) -> list[Row]:
    """The rows of a table with our numbers, by name. Raises ValueError where a name is in one of the two only."""
    lines = cells(table)
    check_names((what for _, what, *_ in lines), ours)
    return [
        Row(where, what, number(published), float(ours[what]), unit, why)
        for where, what, published, unit, why in lines
    ]


def check_names(printed: Iterable[str], ours: Iterable[str]) -> None:
    """Raise ValueError where a row has no number, or a number no row."""
    lacking = sorted(set(printed) ^ set(ours))
    if lacking:
        raise ValueError(f"rows and numbers do not fit: {', '.join(lacking)}")


def by_name(rows: Iterable[Row]) -> dict[str, float]:
    """What is compared → ours."""
    return {row.what: row.ours for row in rows}
