"""Intervals of a fit with a delay, along its valley: profile likelihood in place of a linearised covariance.

A delay and a lag bend a response in nearly the same way. Where the data hardly tell them apart, the sum of squares has a
long, curved and flat valley, and the covariance at its lowest point says nothing about its ends. So the delay is moved
away from its estimate, everything else is fitted again, and

    D(τ) = (S(τ) − S(τ̂)) / s²,   s² the variance of one residual, counted for the colour of the noise

τ belongs to the 95 % interval as long as D(τ) ≤ t², t the quantile of Student. Another parameter θ belongs to its
interval if some such τ has (θ − θ̂(τ))² ≤ (t² − D(τ)) var(θ | τ). s² is the variance of τ̂ by the covariance for coloured
noise over the one for unit white noise, so that a valley that is a parabola gives the intervals of the covariance.

Source: L. Ljung, System Identification, 2nd ed. 1999, section 9.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.identification.descent import Task, optimised
from workbench.identification.search import BRIEF
from workbench.identification.uncertainty import half_width

SHARP = 0.02  # share of the largest of delay and lag: intervals narrower than this are of a valley that is a parabola
STEPS = 10  # looks along the valley in one direction
STRIDE = 0.5  # share of the linearised half-width, the first step; each is half as long again as the one before


@dataclass(frozen=True)
class Profile:
    """What the valley of one channel's delay says: intervals of all parameters, and whether it closes on both sides."""

    low: np.ndarray
    high: np.ndarray
    closed: bool
    lowest: (
        tuple  # (sum of squares, channels) of the best point met, which may be better than the fit
    )


def is_flat(channel, half: float) -> bool:
    """Whether a delay is known so badly that its covariance may lie."""
    return not half <= SHARP * max(abs(channel.delay), abs(channel.lag))


def along_delay(
    task: Task, channels: Sequence, which: int, C: np.ndarray, freedom: float
) -> Profile:
    """The profile of the delay of channel number `which`, from the fit `channels` with covariance C outwards."""
    at = int(sum(s.size for s in task.shapes[: which + 1])) - 1
    θ = task.parameters(channels)
    t = half_width(1.0, freedom)
    s2 = C[at, at] / _unit_variance(task, channels, at)
    spread = np.maximum(np.diag(C) - C[:, at] ** 2 / C[at, at], 0.0)
    valley = _Valley(task, which, float(np.sum(task.weighted(channels) ** 2)), s2, t * t, spread)
    valley.take(θ, 0.0)
    lowest = (valley.base, channels)
    closed = True
    step = min(t * float(np.sqrt(C[at, at])), task.longest_step)
    for sign in (1.0, -1.0):
        ends, found = valley.walk(list(channels), θ[at], sign * STRIDE * step)
        closed = closed and ends
        lowest = min(lowest, found, key=lambda pair: pair[0])
    return Profile(valley.low, valley.high, closed, lowest)


def _unit_variance(task: Task, channels, at: int) -> float:
    """Variance of parameter number `at` for white noise of variance one."""
    sizes = task.sizes(channels)
    _, s, Vt = np.linalg.svd(task.jacobian(channels) * sizes, full_matrices=False)
    return float(sizes[at] ** 2 * np.sum((Vt[:, at] / np.maximum(s, 1e-12 * s.max())) ** 2))


class _Valley:
    """The intervals found so far, and the walk that widens them."""

    def __init__(self, task, which, base, s2, most, spread):
        self.task, self.which, self.base, self.s2, self.most, self.spread = (
            task,
            which,
            base,
            s2,
            most,
            spread,
        )
        self.low = np.full(spread.size, np.inf)
        self.high = np.full(spread.size, -np.inf)

    def take(self, θ: np.ndarray, D: float) -> None:
        """Widen all intervals by what a point of the valley allows."""
        half = np.sqrt(np.maximum(self.most - max(D, 0.0), 0.0) * self.spread)
        self.low = np.minimum(self.low, θ - half)
        self.high = np.maximum(self.high, θ + half)

    def held(self, channels, τ: float):
        """(sum of squares, channels) with the delay held at τ and all else fitted again from `channels`."""
        shapes = [
            replace(s, delay=τ) if k == self.which else s for k, s in enumerate(self.task.shapes)
        ]
        moved = [replace(c, delay=τ) if k == self.which else c for k, c in enumerate(channels)]
        inner = replace(self.task, shapes=tuple(shapes))
        found, _ = optimised(inner, moved, BRIEF)
        return float(np.sum(inner.weighted(found) ** 2)), found

    def walk(self, channels, τ: float, step: float) -> tuple[bool, tuple]:
        """Outwards until D exceeds its limit (True), or a delay of zero, or the end of the looks (False)."""
        lowest = (self.base, channels)
        before = (τ, 0.0, self.task.parameters(channels))
        for _ in range(STEPS):
            τ = max(τ + step, 0.0)
            S, channels = self.held(channels, τ)
            lowest = min(lowest, (S, channels), key=lambda pair: pair[0])
            D = (S - self.base) / self.s2
            θ = self.task.parameters(channels)
            if not np.isfinite(D):
                return False, lowest
            if self.most < D:
                share = (self.most - before[1]) / (D - before[1])
                self.take(before[2] + share * (θ - before[2]), self.most)
                return True, lowest
            self.take(θ, D)
            if τ == 0.0 and step < 0:
                return True, lowest  # no plant leads its input: zero is an end
            before = τ, D, θ
            step *= 1.5
        return False, lowest
