"""What a panel of the page is: plots over the time of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np


class Curve(NamedTuple):
    """Values (N,) of one line, in the plot's unit; look "wanted", "bound", "aside" or "" for the next colour."""

    label: str
    y: np.ndarray
    look: str = ""


class Level(NamedTuple):
    """A dashed line across a plot, with its name."""

    value: float
    name: str = ""


class Stretch(NamedTuple):
    """While something lasts, s; which of several it is, in words."""

    begin: float
    end: float
    words: str = ""


class Plot(NamedTuple):
    """Lines over time t (N,) s, in `unit`; or `rows`, name → stretches, of what is either so or not.

    words: below the title, one line. log: on a logarithmic axis, what is not positive left out. reach: limits of the axis
    where the lines themselves would hide what matters.
    """

    title: str
    unit: str = ""
    t: np.ndarray = np.zeros(0)
    curves: Sequence[Curve] = ()
    levels: Sequence[Level] = ()
    words: str = ""
    log: bool = False
    reach: tuple[float, float] | None = None
    rows: dict[str, list[Stretch]] | None = None


class Panel:
    """One subject of the page; an object of it stands in `PANELS`. name: heading above its plots."""

    name: ClassVar[str]

    def plots(self, content) -> list[Plot]:
        """Its plots of a `reports.Content` whose log is there; none where there is nothing to draw."""
        raise NotImplementedError
