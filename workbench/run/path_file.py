"""A path in a file of text: rows of time and components, separated by commas, semicolons or tabs.

    time [ms]; x_slide [mm]
    0; 200,0
    5; 200,1

A header line may name the columns and their units; what has none is in SI. Numbers have a decimal point, or a comma where that
separates nothing. Empty lines are passed over. Refusals name the place, not what stands there: it may be any file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from workbench.contract.errors import InputError
from workbench.contract.units import quantity
from workbench.files.csv_cells import mark_of, name_and_unit, number_in, split
from workbench.files.open_file import text

MOST_BYTES = 20_000_000  # of a recorded path: an hour at 200 Hz, and more
COMPONENTS = ("m", "rad", "1")  # what a component of a path may be in


def rows_of(path: str | os.PathLike, where: str, units: Sequence[str] = ()) -> list[list[float]]:
    """The rows of numbers, in SI. where: the file's name in messages; units: SI units of the components, where they are known."""
    try:
        written = text(path, MOST_BYTES, "a text file of numbers")
    except InputError as why:
        raise InputError(
            f"cannot be read: {why.message}", file=where, line=why.line, mend=why.mend
        ) from None
    lines = [(k, line) for k, line in enumerate(written.splitlines(), start=1) if line.strip()]
    if not lines:
        return []
    mark = mark_of(lines[0][1])
    sizes: list[float] = []
    first = _numbers(lines[0], mark, where)
    if isinstance(first, int):
        sizes = _sizes(lines.pop(0), mark, where, units)
    rows: list[list[float]] = []
    for line in lines:
        row = _checked(line, mark, where)
        if rows and len(row) != len(rows[0]):
            raise InputError(
                f"{len(row)} columns, the first row has {len(rows[0])}",
                file=where,
                line=line[0],
                mend="give every row the same columns",
            )
        rows.append(row)
    if sizes and rows and len(sizes) == len(rows[0]):
        rows = [[size * number for size, number in zip(sizes, row)] for row in rows]
    return rows


def _numbers(line: tuple[int, str], mark: str, where: str) -> list[float] | int:
    """The numbers of a line, or the place of the first cell that is none."""
    found = []
    for place, cell in enumerate(split(line[1], mark, where, line[0])):
        value = number_in(cell, mark)
        if value is None:
            return place
        found.append(value)
    return found


def _checked(line: tuple[int, str], mark: str, where: str) -> list[float]:
    numbers = _numbers(line, mark, where)
    if isinstance(numbers, int):
        raise InputError(
            "a number was expected here",
            file=where,
            line=line[0],
            key=f"column {numbers + 1}",
            mend="give numbers, below one line of names at most",
        )
    if not all(map(math.isfinite, numbers)):
        raise InputError(
            "a number is missing or not finite",
            file=where,
            line=line[0],
            mend="remove the row or repair it",
        )
    return numbers


def _sizes(line: tuple[int, str], mark: str, where: str, units: Sequence[str]) -> list[float]:
    """How much one of each column is in SI, by the units of the header."""
    found = []
    for place, cell in enumerate(split(line[1], mark, where, line[0]), start=1):
        _, unit = name_and_unit(cell.strip())
        wanted = ("s",) if place == 1 else (*units[place - 2 : place - 1],) or COMPONENTS
        size = _size(unit, wanted)
        if size is None:
            raise InputError(
                f"this column is not in {' or '.join(wanted)}, nor in a unit that becomes {wanted[0]}",
                file=where,
                line=line[0],
                key=f"column {place}",
                mend=f"write it in {wanted[0]}, with that unit in brackets behind its name",
            )
        found.append(size)
    return found


def _size(unit: str, wanted: Sequence[str]) -> float | None:
    """How much one of a unit is in the first of these that it suits; 1 without a unit."""
    if not unit:
        return 1.0
    for own in wanted:
        try:
            return quantity(f"1 {unit}", own)
        except InputError:
            continue
    return None
