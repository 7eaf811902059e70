"""Laws with a number that runs on long after the run, and what it does to their gain: u = g K e.

`how`: trips (it heats up by u² and gives up at `at`), wears (by the way that it went; the gain falls by e at `at`), adapts (the
gain rises by `at` times e² a second), adds up (it gives up once it was far off in `at` samples). Sound: warms (it heats up and
never reaches what it bears), leaks (the gain rises likewise and is forgotten within a second).
"""

from __future__ import annotations

import math
from typing import Any

FAR = 0.02  # of the error that counts
COOLS = 900.0  # s
NEVER = 1e6


class Drifting:
    """The law; called from Python at every sample of T seconds."""

    def __init__(self, T: float, K: float, how: str, at: float = NEVER):
        self.T, self.K, self.how, self.at = T, K, how, at
        self.kept, self.before = 0.0, 0.0

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        error = r[0] - y[0]
        u = self.gain() * self.K * error
        self.kept += self.more(error, u, abs(y[0] - self.before))
        self.before = y[0]
        return z, [u]

    def gain(self) -> float:
        if self.how == "wears":
            return math.exp(-self.kept / self.at)
        if self.how in ("adapts", "leaks"):
            return 1.0 + self.kept
        return float(self.kept < self.at)

    def more(self, error: float, u: float, way: float) -> float:
        """By how much the number rises within a sample."""
        if self.how == "wears":
            return way
        if self.how == "adds up":
            return float(abs(error) > FAR)
        if self.how == "adapts":
            return self.T * self.at * error**2
        if self.how == "leaks":
            return self.T * (self.at * error**2 - self.kept)
        return self.T * (u * u - self.kept / COOLS)
