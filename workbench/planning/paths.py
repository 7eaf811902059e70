"""Paths of the tip: a reference walked more slowly, and one read from a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, positive
from workbench.files.open_file import shown
from workbench.run.sampling import sample_times
from workbench.run.spline import Spline


@final
@dataclass(frozen=True)
class Stretched:
    """r(t) = path(t/factor): the same way, `factor` times as long."""

    path: Any
    factor: Annotated[float, Unit("1"), "how much longer it takes", positive]

    @property
    def space(self):
        return self.path.space

    @property
    def duration(self) -> float:
        """s."""
        return self.path.duration * self.factor

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n), as every reference."""
        t, order = sample_times(t, order)
        values = self.path.sample(t / self.factor, order)
        return values / self.factor ** np.arange(order + 1)[:, None, None]

    def jerk_jumps(self):
        """Times and jumps of the third derivative."""
        times, jumps = self.path.jerk_jumps()
        return times * self.factor, jumps / self.factor**3

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return self.path.names(n)

    def resolve(self, start) -> Stretched:
        """The path with numbers in place of "start"."""
        return Stretched(self.path.resolve(start), self.factor)


def read_path(file: str | os.PathLike) -> Spline:
    """A tip's path from comma-separated columns time, x, y (s, m); InputError with the line where a number is missing."""
    path = Spline.from_csv(file, "cartesian")
    if len(path.values[0]) != 2:
        raise InputError(
            f"{len(path.values[0])} columns after the time; a planar path has two, x and y",
            file=shown(file),
            mend="give time, x, y in s and m",
        )
    return path
