"""Where a run passes a place at which something grows: too fast for it to be seen there.

    rows    N of a run, evenly over s(k) = Σ (largest share of its range that a state covers from row to row) + k/N

A loop whose gain is too high at one place of its path alone (near one end of the stroke, at one lever arm, on one part of a curve)
is linearised there as if time stood still, and the place where a mode grows most is found. Whether it grows in truth is for a run
that is held there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.verification.linear.frozen_time import HostedPoints, TracedPoints, refuse_timed
from workbench.verification.linear.modes import Mode, Place
from workbench.verification.run import Run

Row = tuple[int, tuple[Mode, ...]]  # of a run, and the modes of the loop there


def growing(rows: Sequence[Row], places: int) -> list[tuple[int, Mode]]:
    """(row of the run, the mode there) where modes grow: most, for swings and for what does not swing, and between the ends.

    places: at how many more of those at which a swing grows, evenly: in motion an error times the slope of a gain adds to what
    grows, so that where it grows most in motion is not where it does at rest. What grows at one row alone belongs to an instant,
    such as one at which a valve changes its side, and to no place.
    """
    found = _at_two_on_end([(row, _fastest(modes)) for row, modes in rows])
    swings = [one for one in found if one[1].s.imag > 0]
    others = [one for one in found if one[1].s.imag == 0]
    most = [max(kind, key=_growth) for kind in (swings, others) if kind]
    between = (np.arange(places) + 0.5) / max(places, 1) * len(swings)
    return [*most, *(swings[k] for k in between.astype(int) if swings)]


def _at_two_on_end(rows: list[tuple[int, Mode | None]]) -> list[tuple[int, Mode]]:
    """Of two rows on end at which something grows the one where it grows less."""
    pairs = [(one, other) for one, other in pairwise(rows) if one[1] and other[1]]
    return [min(pair, key=_growth) for pair in pairs]  # type: ignore[type-var]


def _growth(one: tuple[int, Mode]) -> float:
    return one[1].s.real


def _fastest(modes: Sequence[Mode]) -> Mode | None:
    """The mode that grows fastest; None where none does."""
    found = [m for m in modes if m.grows and not m.aside]
    return max(found, key=lambda mode: mode.s.real, default=None)


def seen(run: Run, count: int) -> Iterator[Row]:
    """So many rows of a run with the modes there; those at which the loop has no derivative left out."""
    points = HostedPoints(run) if run.loop.hosted else TracedPoints(run)
    try:
        _begin(points)
    except InputError:  # a loop without a derivative
        return
    for row in along(run, count):
        try:
            places = _passed(points, row)
        except InputError:  # no derivative there
            continue
        yield row, tuple(mode for place in places for mode in place.modes)


def _begin(points: TracedPoints) -> None:
    """What has to be done before rows are looked at; InputError, with the reason, where none can be."""
    if not isinstance(points, HostedPoints):
        points.prepare()
        refuse_timed(points.matrices)


def _passed(points: TracedPoints, row: int) -> list[Place]:
    """The loop as if time stood still at this row, however soon it passes."""
    if not isinstance(points, HostedPoints):
        return [points.visited(row)]
    when = say(float(points.log.time[row]), "s", 4)
    return points.near(row, f"on the way, t = {when}", again=True)


def along(run: Run, count: int) -> list[int]:
    """So many rows of a run, evenly over what its states cover and over time."""
    states = np.column_stack([run.log.array(name) for name in names(run.loop.plant.states)])
    ranges = np.ptp(states, axis=0)
    steps = np.abs(np.diff(states[:, ranges > 0], axis=0)) / ranges[ranges > 0]
    way = np.cumsum(steps.max(axis=1, initial=0.0))
    way = way / max(float(way[-1]), 1e-300) + np.linspace(0.0, 1.0, len(way))
    rows = np.searchsorted(way, np.linspace(way[0], way[-1], count))
    return np.unique(rows).tolist()
