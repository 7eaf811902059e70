"""Cells of a table in text: what separates them, names, units, numbers with a decimal point or comma."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence

from workbench.contract.errors import InputError, short

TIMED = re.compile(r"\s*\d{1,4}[-/.:]\d{1,2}[-/.:]\d")  # how a date or a time of day begins
MOST_COLUMNS = 1000  # of a table
MOST_CELLS = 4_000_000
BRACKETS = {"]": "[", ")": "("}


def mark_of(line: str) -> str:
    """What separates the cells of a table, by its first line: a semicolon or a tab, where it has one, else a comma."""
    return next((mark for mark in ";\t" if mark in line), ",")


def without_last_mark(lines: list[str], first: int, mark: str) -> list[str]:
    """The lines of a table without the separator that some programs write behind every row, the header's included."""
    if mark == "\t" or not lines[first].rstrip().endswith(mark):
        return lines
    return [line.rstrip().removesuffix(mark) for line in lines]


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
            mend = (
                "write seconds as numbers, or leave the column out and give --period"
                if TIMED.match(cell)
                else "remove or repair it"
            )
            raise InputError(said, file=where, line=line, key=name, mend=mend)
        found.append(value)
    return found


def number_in(cell: str, mark: str) -> float | None:
    """The number of a cell; a comma is a decimal one where it separates nothing. None where there is no number."""
    try:
        return float(cell.replace(",", ".") if mark != "," else cell)
    except ValueError:
        return None


def header(lines: list[str], first: int, mark: str, where: str) -> tuple[list[str], list[str]]:
    """(names, units) of the columns, each name once."""
    cells = split(lines[first], mark, where, first + 1)
    if len(cells) > MOST_COLUMNS or len(cells) * (len(lines) - first) > MOST_CELLS:
        raise InputError(
            f"{len(cells)} columns of {len(lines) - first - 1} samples; expected at most {MOST_COLUMNS} columns and "
            f"{MOST_CELLS:,} numbers".replace(",", " "),
            file=where,
            line=first + 1,
            mend="keep the columns that are needed, or save it as NetCDF or MAT",
        )
    if all(number_in(cell, mark) is not None for cell in cells):
        raise InputError(
            "the first line holds numbers, not names",
            file=where,
            line=first + 1,
            mend="add a header line, like 'time [s],X [mm],Y [mm]'",
        )
    names = []
    units = []
    for cell in cells:
        name, unit = name_and_unit(cell.replace("\n", " ").strip())
        names.append(name)
        units.append(unit)
    if "" in names or len(set(names)) < len(names):
        odd = next(n for n in names if n == "" or names.count(n) > 1)
        twice = f"two columns are called {short(odd)!r}"
        raise InputError(
            "a column without a name" if odd == "" else twice,
            file=where,
            line=first + 1,
            mend="give every column a name of its own",
        )
    return names, units
