"""A reference off another one by a spline: the path that was asked for, and one that strays from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from workbench.contract.capabilities import periods
from workbench.contract.errors import InputError
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.sampling import Space, fix, merged_jumps
from workbench.run.spline import Spline


@final
@dataclass(frozen=True)
class Deviated:
    """A reference plus a deviation δ: a quintic spline through given values, at rest at the first and the last of them.

        r(t) = path(t) + δ(t),   δ(t_k) = values_k

    path     the reference that it deviates from
    times    (K,) s, rising, K ≥ 2
    values   K tuples of n numbers, n components of the path; outside the times the first and the last are held

    It is C² where the path is.
    """

    path: Waypoints | Sine | Hold | Spline
    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self):
        if not isinstance(self.path, Waypoints | Sine | Hold | Spline):
            raise InputError(
                f"path: expected Waypoints, Sine, Hold or Spline, got {type(self.path).__name__}",
                mend="give the reference that this one strays from",
            )
        spline = self._spline
        fix(self, times=spline.times, values=spline.values)

    @property
    def space(self) -> Space:
        """That of the path."""
        return self.path.space

    @cached_property
    def _spline(self) -> Spline:
        return Spline(self.path.space, self.times, self.values)

    @property
    def duration(self) -> float:
        """When both have ended, s."""
        return max(self.path.duration, self._spline.duration)

    @property
    def periods(self) -> tuple[float, ...]:
        """Those of the path, s."""
        return periods(self.path)

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n); the docstring of `workbench.run.reference` has the contract."""
        given = self.path.sample(t, order)
        strayed = self._spline.sample(t, order)
        if given.shape != strayed.shape:
            raise InputError(
                f"values: {strayed.shape[2]} components, the path has {given.shape[2]}",
                mend="give one number a component of the path",
            )
        return given + strayed

    def jerk_jumps(self):
        """Those of both."""
        times, jumps = zip(self.path.jerk_jumps(), self._spline.jerk_jumps())
        return merged_jumps(np.concatenate(times), np.concatenate(jumps))

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return self.path.names(n)

    def resolve(self, start) -> Deviated:
        """The path's "start" replaced by the point `start`."""
        return replace(self, path=self.path.resolve(start))


def undeviated(reference: Any) -> Any:
    """What a deviated reference strays from; any other reference as it is."""
    return reference.path if isinstance(reference, Deviated) else reference
