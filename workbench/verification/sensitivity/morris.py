"""How far a margin moves where it is not smooth: elementary effects over a range, by Morris' method.

    d_i = (m(θ, θ_i + Δ) − m(θ)) / Δ        along paths that move one number after the other over a grid of LEVELS in 1 ± REACH

Their mean over PATHS paths is what the number does to the margin on average, their deviation how much that depends on where the
numbers stand: on kinks, curvature and the other numbers. PATHS (d + 1) runs of d numbers. Source: [Morris91].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.verification.sensitivity.slopes import MORRIS, Margins, Slope

LEVELS = 4
PATHS = 6
REACH = 0.1  # share of a number: the range is that much to both sides


def paths(numbers: int, seed: int) -> np.ndarray:
    """Points (PATHS, numbers + 1, numbers) of the unit cube: neighbours of a path differ in one number, by ±2/3."""
    rng = np.random.default_rng(seed)
    Δ = LEVELS / (2 * (LEVELS - 1))
    found = []
    for _ in range(PATHS):
        sign = rng.choice([-1.0, 1.0], numbers)
        low = rng.integers(0, LEVELS // 2, numbers) / (LEVELS - 1)
        at = np.where(sign > 0, low, low + Δ)
        rows = [at]
        for i in rng.permutation(numbers):
            at = at.copy()
            at[i] += sign[i] * Δ
            rows.append(at)
        found.append(rows)
    return np.array(found)


def effects(margins: Margins, names: Sequence[str], seed: int = 0) -> list[list[Slope]]:
    """For every margin, the effect of each number for +10 %: its mean, and its deviation as the error; NaN where runs fail."""
    points = 1 + REACH * (2 * paths(len(names), seed) - 1)
    asked = [dict(zip(names, map(float, point))) for path in points for point in path]
    found = np.asarray(margins(asked), float).reshape(*points.shape[:2], -1)
    steps = np.diff(points, axis=1)
    change = np.diff(found, axis=1)
    which = np.abs(steps).argmax(axis=2)
    size = np.take_along_axis(steps, which[..., None], axis=2)[..., 0]
    effect = 0.1 * change / size[..., None]
    order = np.argsort(which, axis=1)
    each = np.take_along_axis(effect, order[..., None], axis=1)
    mean = each.mean(axis=0)
    spread = each.std(axis=0, ddof=1)
    return [
        [Slope(n, float(mean[i, j]), float(spread[i, j]), MORRIS) for i, n in enumerate(names)]
        for j in range(found.shape[2])
    ]
