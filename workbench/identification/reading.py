"""Files → Table → Record: CSV, NetCDF (own logs and others), MAT. Units from headers ("X [mm]") or given; SI inside."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.system import Signal
from workbench.contract.unit_tables import QUICK
from workbench.contract.units import quantity
from workbench.files.csv_cells import (
    header,
    mark_of,
    number_in,
    numbers_of,
    split,
    without_last_mark,
)
from workbench.files.open_file import TooLarge
from workbench.files.open_file import text as read_text
from workbench.identification.records import Record, of_columns

CLOCK = ("t", "time", "zeit", "temps", "timestamp")


@final
@dataclass(frozen=True)
class Table:
    """Columns of a file as written: names, units ("" where none is given), values (N,); `row` is the first sample's line."""

    columns: Mapping[str, tuple[str, np.ndarray]]
    source: str
    row: int | None = None

    def record(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        units: Mapping[str, str] | None = None,
        time: str = "",
        period: float | None = None,
        resample: float | None = None,
        hold: Sequence[str] = (),
    ) -> Record:
        """Record (SI) of these columns.

        units    column → unit, for columns without one in the header
        time     name of the time column (default: t, time …); period: step of time (s) of a file without one
        """
        units = dict(units or {})
        notes = []
        clock = time or next((n for n in self.columns if n.lower() in CLOCK), "")
        t = self._time(clock, period, units)
        for name in (*inputs, *outputs):
            if name == clock:
                raise InputError(
                    f"{name} is the time", file=self.source, mend="name another column"
                )
        chosen = []
        for name, (written, values) in self.columns.items():
            if name == clock or name not in (*inputs, *outputs):
                continue
            unit, size, note = self._unit(name, written, units)
            notes += [note] if note else []
            chosen.append((Signal(name, unit), values * size))
        missing = [n for n in (*inputs, *outputs) if n not in self.columns]
        if missing:
            import difflib

            near = difflib.get_close_matches(missing[0], self.columns, 3)
            raise InputError(
                f"there is no column {missing[0]!r}",
                file=self.source,
                mend=f"did you mean {' or '.join(near)}?"
                if near
                else f"choose from {short(', '.join(n for n in self.columns if n != clock), 300) or 'none'}",
            )
        return of_columns(t, chosen, inputs, outputs, hold, resample, self.source, self.row, notes)

    def _time(self, clock: str, period: float | None, units) -> np.ndarray:
        if period is not None:
            if not (math.isfinite(period) and period > 0):
                raise InputError(f"period: {period:g} s", mend="give a time greater than 0 s")
            return np.arange(len(next(iter(self.columns.values()))[1])) * period
        if clock not in self.columns:
            raise InputError(
                f"there is no time column {clock!r}" if clock else "there is no time column",
                file=self.source,
                mend="call it 'time [s]', or name it (--time), or give the step (--period)",
            )
        written, values = self.columns[clock]
        unit, size, _ = self._unit(clock, written or ("" if clock in units else "s"), units)
        if unit != "s":
            raise InputError(
                f"the time is in {short(written or units[clock])}",
                file=self.source,
                key=clock,
                mend="give a unit of time, like s or ms",
            )
        return values * size

    def _unit(self, name: str, written: str, units) -> tuple[str, float, str]:
        """SI unit, size and a note about a missing unit."""
        given = units.get(name, "")
        if given and written and si(given) != si(written):
            raise InputError(
                f"the header says {short(written)}, but {short(given)} was given",
                file=self.source,
                key=name,
                mend="leave out one of them",
            )
        if not given and not written:
            return "1", 1.0, f"{name} has no unit: its numbers are taken as they are"
        found = si(given or written)
        if found is None:
            raise InputError(
                f"the unit {short(given or written)!r} is not known",
                file=self.source,
                key=name,
                line=None if given or self.row is None else self.row - 1,
                mend="write one like mm, bar, l/min, or 1 for a plain number",
            )
        return *found, ""


def si(unit: str) -> tuple[str, float] | None:
    """SI unit and size of a written unit: "mm" → ("m", 1e-3); None when it is not known."""
    unit = unit.strip()
    if not unit:
        return None
    if unit in QUICK or unit in ("-", "–", "V/V"):
        return (unit if unit in QUICK else "1"), 1.0
    for target, sizes in QUICK.items():
        if unit in sizes:
            return target, sizes[unit]
    for target in (*QUICK, "rad/s^2", "N/m", "K"):
        try:
            return target, quantity(f"1 {unit}", target)
        except InputError:
            continue
    return None


def read_record(
    path: str | os.PathLike, inputs: Sequence[str], outputs: Sequence[str], **options
) -> Record:
    """Record from a .csv, .nc or .mat file; options as for `Table.record`."""
    return read_table(path).record(inputs, outputs, **options)


def read_table(path: str | os.PathLike) -> Table:
    """All columns of a file. InputError with file, line and column for what cannot be read."""
    where = os.fspath(path)
    if not os.path.isfile(where):
        raise InputError(
            "is a folder, not a file" if os.path.isdir(where) else "there is no such file",
            file=where,
            mend="give the path of a CSV, NetCDF or MAT file",
        )
    kind = os.path.splitext(where)[1].lower()
    if kind in (".nc", ".nc4", ".h5", ".hdf5", ".cdf"):
        return _netcdf(where)
    if kind == ".mat":
        return _mat(where)
    return _csv(where)


# ---- CSV ----------------------------------------------------------------------------------------------------------
def _csv(where: str) -> Table:
    lines = _lines(where)
    first = next(
        (i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")),
        None,
    )
    if first is None:
        raise InputError(
            "the file is empty", file=where, mend="give a header line and numbers below it"
        )
    mark = mark_of(lines[first])
    lines = without_last_mark(lines, first, mark)
    names, units = header(lines, first, mark, where)
    if not any(units) and (below := _row_of_units(lines[first + 1 :], len(names), mark, where)):
        first += 1
        units = below
    rows = []
    row = None
    for number, line in enumerate(lines[first + 1 :], start=first + 2):
        if not line.strip() or line.lstrip().startswith("#"):
            if row is not None and any(rest.strip() for rest in lines[number:]):
                raise InputError(
                    "an empty line between the samples", file=where, line=number, mend="remove it"
                )
            continue
        row = row or number
        rows.append(numbers_of(split(line, mark, where, number), names, mark, where, number))
    if not rows:
        raise InputError(
            "there are no samples below the header", file=where, line=first + 1, mend="add some"
        )
    values = np.array(rows)
    return Table({n: (u, values[:, i]) for i, (n, u) in enumerate(zip(names, units))}, where, row)


def _row_of_units(lines: list[str], many: int, mark: str, where: str) -> list[str]:
    """The units in the first of the lines below a header, where it holds nothing else; else []."""
    cells = [cell.strip(" []()") for cell in split(lines[0], mark, where, 2)] if lines else []
    known = [cell for cell in cells if cell and number_in(cell, mark) is None and si(cell)]
    return cells if known and len(known) == sum(map(bool, cells)) and len(cells) == many else []


def _lines(where: str) -> list[str]:
    """The lines of a file of text."""
    try:
        return read_text(where, what="a CSV file").rstrip().splitlines()
    except TooLarge as why:
        raise InputError(why.message, file=where, mend="save it as NetCDF or MAT") from None
    except InputError as why:
        raise InputError(
            f"cannot be read as text: {why.message}",
            file=where,
            line=why.line,
            mend="save it as CSV in UTF-8",
        ) from None


# ---- NetCDF and MAT -----------------------------------------------------------------------------------------------
def _netcdf(where: str) -> Table:
    return _packed(where, "hdf5", "this is no readable NetCDF-4 file", "export it again")


def _mat(where: str) -> Table:
    return _packed(where, "mat", "this is no readable MAT file", "save it with save -v7")


def _packed(where: str, kind: Literal["hdf5", "mat"], words: str, mend: str) -> Table:
    from workbench.files.packed import read_packed

    try:
        columns = dict(read_packed(where, kind).columns)
    except InputError as why:
        raise InputError(f"{words} ({why.message})", file=where, mend=mend) from None
    if kind == "mat":
        columns = {name: ("", values) for name, (_, values) in columns.items()}
    return _of_equal_length(columns, where)


def _of_equal_length(columns, where) -> Table:
    lengths = [v.size for _, v in columns.values()]
    if not lengths:
        raise InputError(
            "there are no vectors of numbers in it",
            file=where,
            mend="save time and signals as vectors",
        )
    clock = next(
        (v.size for n, (_, v) in columns.items() if n.lower() in CLOCK),
        max(lengths, key=lengths.count),
    )
    return Table({n: c for n, c in columns.items() if c[1].size == clock}, where)
