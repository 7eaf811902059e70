"""A reference through given samples: a recorded path, a planner's output, a CSV file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.files.open_file import shown
from workbench.run.path_file import rows_of
from workbench.run.sampling import (
    Space,
    check_space,
    component_names,
    fix,
    merged_jumps,
    sample_times,
)


@final
@dataclass(frozen=True)
class Spline:
    """Quintic spline through given samples, from rest at the first to rest at the last, both held outside.

    times    (N,) s, rising, N ≥ 2
    values   N tuples of n numbers

    C⁴ between the ends; at the ends velocity and acceleration are zero and the jerk jumps to and from zero. Where the data
    do not begin or end at rest, the spline bends within the first or last few samples to do so.
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
    def from_csv(cls, path: str | os.PathLike, space: Space, units: Sequence[str] = ()) -> Spline:
        """Columns time, component 1, …, under an optional header line with units; see `workbench.run.path_file`.

        units    SI units of the components, where they are known: a column in another one is refused
        """
        where = shown(path)
        rows = rows_of(path, where, units)
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
