"""A reference that jumps: constant between given instants, such as the work cycle of a valve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit
from workbench.run.sampling import Space, check_space, component_names, fix, sample_times

_ROUNDING = 4  # ulp by which the time k T of a sample may lie before the instant it means


@final
@dataclass(frozen=True)
class Steps:
    """r(t) = values[k] for times[k] ≤ t < times[k+1]; the first value before, the last after.

    times    (N,) s, rising
    values   N tuples of n numbers, or N numbers

    Its derivatives are zero at all times, also at the jumps. A law that follows the rate of its reference (VDC, PID with
    feed-forward) is therefore asked to stand still between the jumps. Where a `Steps` drives the plant between samples, as a
    disturbance does, a step of the integrator ends at each jump.
    """

    space: Space
    times: Annotated[tuple[float, ...], Unit("s"), "instants from which the values hold"]
    values: tuple[float | tuple[float, ...], ...]

    def __post_init__(self):
        check_space(self.space)
        try:
            times = np.asarray(self.times, float)
            values = np.asarray(self.values, float)
        except (TypeError, ValueError):
            raise InputError(
                "values: expected numbers, as many in each",
                mend="give every instant the same components",
            ) from None
        values = values[:, None] if values.ndim == 1 else values
        if (
            times.ndim != 1
            or not times.size
            or values.ndim != 2
            or len(values) != times.size
            or not values.size
        ):
            raise InputError(
                f"values: {len(values)} for {times.size} times",
                mend="give one (tuple) for each of the times",
            )
        if not (np.isfinite(times).all() and np.isfinite(values).all()):
            raise InputError("values: some number is not finite", mend="remove or repair it")
        if (np.diff(times) <= 0).any():
            i = int(np.argmax(np.diff(times) <= 0)) + 1
            raise InputError(
                f"times: {times[i]:g} s comes after {times[i - 1]:g} s",
                mend="sort them, drop repeats",
            )
        fix(self, times=tuple(times.tolist()), values=tuple(map(tuple, values.tolist())))

    @property
    def duration(self) -> float:
        """Time of the last jump, s."""
        return self.times[-1]

    def jumps(self) -> tuple[float, ...]:
        """Instants of the jumps, s."""
        return self.times[1:]

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n); `workbench.run.reference` has the contract."""
        t, order = sample_times(t, order)
        held = np.searchsorted(self.times, t + _ROUNDING * np.spacing(np.abs(t)), side="right") - 1
        result = np.zeros((order + 1, t.size, len(self.values[0])))
        result[0] = np.array(self.values)[np.maximum(held, 0)]
        return result

    def jerk_jumps(self):
        """None that is finite: (0,), (0, n)."""
        return np.zeros(0), np.zeros((0, len(self.values[0])))

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.space, n)

    def resolve(self, start) -> Steps:
        """Itself: it has no "start"."""
        return self
