"""Cells of a table in text: what separates them, names, units, numbers with a decimal point or comma."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence

from workbench.contract.errors import InputError

BRACKETS = {"]": "[", ")": "("}


def mark_of(line: str) -> str:
    """What separates the cells of a table, by its first line: a semicolon or a tab, where it has one, else a comma."""
    return next((mark for mark in ";\t" if mark in line), ",")


def split(line: str, mark: str, where: str, number: int) -> list[str]:
    """The cells of a line."""
    try:
        return next(csv.reader([line], delimiter=mark))
    except csv.Error:
        raise InputError(
            f"this line of {len(line)} characters cannot be split into cells",
            file=where,
            line=number,
            mend="repair the line; is it a table of numbers?",
        ) from None


def name_and_unit(cell: str) -> tuple[str, str]:
    """("X", "mm") of a header's cell "X [mm]" or "X (mm)"."""
    opening = BRACKETS.get(cell[-1:])
    if opening is None or opening not in cell:
        return cell, ""
    name, _, unit = cell[:-1].rpartition(opening)
    return name.strip(), unit.strip()


def numbers_of(
    cells: Sequence[str], names: Sequence[str], mark: str, where: str, line: int
) -> list[float]:
    """The numbers of a line, one a name."""
    if len(cells) != len(names):
        raise InputError(
            f"{len(cells)} cells, the header has {len(names)}",
            file=where,
            line=line,
            mend="repair the line; quote cells that contain the separator",
        )
    found = []
    for name, cell in zip(names, cells):
        value = number_in(cell, mark)
        if value is None or not math.isfinite(value):
            said = (
                "the cell is empty"
                if not cell.strip()
                else f"{cell.strip()[:30]!r} is not a number"
            )
            raise InputError(said, file=where, line=line, key=name, mend="remove or repair it")
        found.append(value)
    return found


def number_in(cell: str, mark: str) -> float | None:
    """The number of a cell; a comma is a decimal one where it separates nothing. None where there is no number."""
    try:
        return float(cell.replace(",", ".") if mark != "," else cell)
    except ValueError:
        return None
