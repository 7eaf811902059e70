"""Cells of a comma-separated file: names, units, numbers."""

from __future__ import annotations

import csv
import math

from workbench.contract.errors import InputError

BRACKETS = {"]": "[", ")": "("}


def _split(line: str, mark: str, where: str, number: int) -> list[str]:
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


def _name_and_unit(cell: str) -> tuple[str, str]:
    """("X", "mm") of a header's cell "X [mm]" or "X (mm)"."""
    opening = BRACKETS.get(cell[-1:])
    if opening is None or opening not in cell:
        return cell, ""
    name, _, unit = cell[:-1].rpartition(opening)
    return name.strip(), unit.strip()


def _cells(cells, names, mark, where, line) -> list[float]:
    if len(cells) != len(names):
        raise InputError(
            f"{len(cells)} cells, the header has {len(names)}",
            file=where,
            line=line,
            mend="repair the line; quote cells that contain the separator",
        )
    found = []
    for name, cell in zip(names, cells):
        value = _number(cell, mark)
        if value is None or not math.isfinite(value):
            said = (
                "the cell is empty"
                if not cell.strip()
                else f"{cell.strip()[:30]!r} is not a number"
            )
            raise InputError(said, file=where, line=line, key=name, mend="remove or repair it")
        found.append(value)
    return found


def _number(cell: str, mark: str) -> float | None:
    try:
        return float(cell.replace(",", ".") if mark != "," else cell)
    except ValueError:
        return None
