"""A reference through given samples: a recorded path, a planner's output, a CSV file."""

from __future__ import annotations

import csv
import io
import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.unit_tables import QUICK
from workbench.files.open_file import shown, text
from workbench.run.sampling import (
    Space,
    check_space,
    component_names,
    fix,
    merged_jumps,
    sample_times,
)

MOST_BYTES = 20_000_000  # of a recorded path: an hour at 200 Hz, and more


@final
@dataclass(frozen=True)
class Spline:
    """Quintic spline through given samples, from rest at the first to rest at the last, both held outside.

    times    (N,) s, rising, N ≥ 2
    values   N tuples of n numbers

    C⁴ between the ends; at the ends velocity and acceleration are zero and the jerk jumps to and from zero. Data that
    does not begin and end at rest is met by an arc within the first or last few samples.
    """

    space: Space
    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self):
        check_space(self.space)
        times = np.asarray(self.times, float)
        values = np.asarray(self.values, float)
        values = values[:, None] if values.ndim == 1 else values
        if (
            times.ndim != 1
            or times.size < 2
            or values.ndim != 2
            or values.shape[0] != times.size
            or not values.size
        ):
            raise InputError(
                f"samples: times {times.shape} and values {values.shape}",
                mend="give times (N,) and values (N, n) with N ≥ 2",
            )
        if not (np.isfinite(times).all() and np.isfinite(values).all()):
            raise InputError("samples: some number is not finite", mend="remove or repair it")
        if (np.diff(times) <= 0).any():
            i = int(np.argmax(np.diff(times) <= 0)) + 1
            raise InputError(
                f"samples: time does not rise at sample {i} ({times[i]:g} s)",
                mend="sort, drop repeats",
            )
        fix(self, times=tuple(times.tolist()), values=tuple(map(tuple, values.tolist())))

    @classmethod
    def from_csv(cls, path: str | os.PathLike, space: Space) -> Spline:
        """Comma-separated columns time, component 1, …, in SI units, under an optional header line."""
        where = shown(path)
        try:
            written = text(path, MOST_BYTES, "a text file of numbers")
        except InputError as why:
            raise InputError(
                f"cannot be read: {why.message}", file=where, line=why.line, mend=why.mend
            ) from None
        rows = _rows(written, where)
        try:
            return cls(space, tuple(row[0] for row in rows), tuple(tuple(row[1:]) for row in rows))
        except InputError as error:
            raise error.at(file=where) from error

    @property
    def duration(self) -> float:
        """Time of the last sample, s."""
        return self.times[-1]

    @cached_property
    def _spline(self):
        from scipy.interpolate import make_interp_spline

        rest = [(1, np.zeros(len(self.values[0]))), (2, np.zeros(len(self.values[0])))]
        try:
            return make_interp_spline(self.times, np.array(self.values), k=5, bc_type=(rest, rest))
        except (
            ValueError
        ) as why:  # numbers whose powers overflow, times that rounding cannot tell apart
            raise InputError(
                f"samples: no spline goes through them ({why})",
                mend="give times and values in the sizes of a machine's motion",
            ) from None

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n); the module's docstring has the contract."""
        t, order = sample_times(t, order)
        values = np.array(self.values)
        result = np.zeros((order + 1, t.size, values.shape[1]))
        moving = (t >= self.times[0]) & (t < self.times[-1])
        result[0] = np.where((t < self.times[0])[:, None], values[0], values[-1])
        for i in range(min(order, 5) + 1):
            result[i, moving] = self._spline(t[moving], nu=i)
        return result

    def jerk_jumps(self):
        """First and last sample: from zero to the spline's jerk and back."""
        ends = np.array([self.times[0], self.times[-1]])
        return merged_jumps(ends, self._spline(ends, nu=3) * [[1.0], [-1.0]])

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.space, n)

    def resolve(self, start) -> Spline:
        """Itself: it has no "start"."""
        return self


def _rows(written: str, where: str) -> list[list[float]]:
    """The numbers of a text, without a header. Refusals name the place, not what stands there: it may be any file."""
    rows: list[list[float]] = []
    reader = csv.reader(io.StringIO(written, newline=""))
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            numbers = _floats(row)
            if isinstance(numbers, int):
                if rows or reader.line_num > 1:
                    raise InputError(
                        "a number was expected here",
                        file=where,
                        line=reader.line_num,
                        key=f"column {numbers + 1}",
                        mend="give numbers, below one line of names at most",
                    )
                _check_header(row, where)
                continue
            if not all(map(math.isfinite, numbers)):
                raise InputError(
                    "a number is missing or not finite",
                    file=where,
                    line=reader.line_num,
                    mend="remove the row or repair it",
                )
            rows.append(numbers)
            if len(numbers) != len(rows[0]):
                raise InputError(
                    f"{len(numbers)} columns, the first row has {len(rows[0])}",
                    file=where,
                    line=reader.line_num,
                    mend="give every row the same columns",
                )
    except csv.Error:
        raise InputError(
            "this is no line of comma-separated numbers",
            file=where,
            line=reader.line_num,
            mend="give numbers with commas between them",
        ) from None
    return rows


def _floats(row: list[str]) -> list[float] | int:
    """The numbers of a row, or the place of the first cell that is none."""
    found = []
    for place, cell in enumerate(row):
        try:
            found.append(float(cell))
        except ValueError:
            return place
    return found


def _check_header(row: list[str], where: str) -> None:
    for place, cell in enumerate(row, start=1):
        unit = cell[cell.find("[") + 1 : cell.rfind("]")] if "[" in cell else ""
        if unit and unit not in ("s", "m", "rad", "1"):
            known = any(unit in sizes for sizes in QUICK.values())
            raise InputError(
                f"this column is not in SI units{f' but in {unit}' if known else ''}",
                file=where,
                line=1,
                key=f"column {place}",
                mend="convert it to s, m or rad",
            )
