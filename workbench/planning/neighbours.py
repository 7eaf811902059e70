"""Is a plan at least the best among its neighbours? Asked without derivatives, of the exact energy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.planning.dynamic import Plan, energy
from workbench.planning.task import BIG

HEIGHTS = (1e-4, 1e-3, 5e-3, 2e-2)  # m, of the changes tried


class Neighbours(NamedTuple):
    """trials: motions tried, `allowed` of them within the limits; gain: J by which the best of them is better (0: none is)."""

    trials: int
    allowed: int
    gain: float
    q_3: np.ndarray


def neighbours(plan: Plan, trials: int = 400, seed: int = 1) -> Neighbours:
    """Adds smooth bumps of random place, length (2 steps to a third of the path) and height, both signs; seeded.

    A gain is kept and searched on from, so that what is found is a motion, not a slope.
    """
    task = plan.task
    rng = np.random.default_rng(seed)
    low, high = task.ranges[2]
    q = plan.q_3
    best = plan.energy
    allowed = 0
    k = np.arange(task.steps + 1)
    last = task.steps if task.end is None else task.steps - 1
    for _ in range(trials):
        width = np.exp(rng.uniform(np.log(1.5), np.log(max(task.steps / 6, 1.5))))
        bump = np.maximum(1 - ((k - rng.uniform(1, task.steps)) / width) ** 2, 0.0) ** 2
        tried = q + rng.choice([-1, 1]) * rng.choice(HEIGHTS) * rng.uniform(0.2, 1.0) * bump
        tried = np.clip(tried, low, high)
        tried[0] = task.start
        tried[last + 1 :] = q[last + 1 :]
        e = energy(task, tried)
        allowed += e < BIG / 2
        if e < best:
            q = tried
            best = e
    return Neighbours(trials, int(allowed), plan.energy - best, q)
