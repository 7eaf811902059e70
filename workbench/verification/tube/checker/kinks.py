"""The set that forms are over, and the numbers κ that kinks leave open: one for maximum, minimum and size of a pair, see `form`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .balls import UNIT, up
from .form import Form
from .spread import Spread


class Kinks:
    """The set that forms are over, and what they share: how maxima divide between two sides."""

    def __init__(self, spread: Spread, operations: int):
        self.spread = spread
        self.γ = 4 * UNIT * operations
        self.columns = spread.columns
        self.pairs: dict = {}

    def along(self, line: np.ndarray) -> np.ndarray:
        return self.spread.along(line)

    def nothing(self) -> np.ndarray:
        return np.zeros((self.spread.rows, self.spread.columns))

    def shared(self, a: Form, b: Form) -> tuple:
        """(m, the column of κ or None where it is 0 in every row) of max(a, b)."""
        own = named(a), named(b)
        turned = self.pairs.get(own[::-1])
        if turned is not None:
            return 1.0 - turned[0], turned[1]
        if own not in self.pairs:
            self.pairs[own] = (*self.divided(a - b), a, b)
        return self.pairs[own][:2]

    def divided(self, d: Form) -> tuple:
        r = d.reach
        yes = d.near.lo >= 0
        no = d.near.hi <= 0
        with np.errstate(all="ignore"):
            above = np.where(d.at.lo > 0, np.minimum(d.at.lo / r * (1 - 4 * UNIT), 1.0), 0.0)
            below = np.where(d.at.hi < 0, np.minimum(-d.at.hi / r * (1 - 4 * UNIT), 1.0), 0.0)
        low = np.where(yes, 1.0, np.where(no, 0.0, above))
        high = np.where(no & ~yes, 0.0, np.where(yes, 1.0, 1.0 - below))
        m = np.broadcast_to(0.5 * (low + high), r.shape)
        left = np.where(yes | no, 0.0, (0.5 * (high - low) + 2 * UNIT) * r)
        if not (left != 0).any():
            return m, None
        κ = np.zeros((len(r), self.columns + 1))
        κ[:, -1] = up(left)
        self.columns += 1
        return m, κ


def named(x: Form) -> Any:
    """What tells a value from others: numbers by themselves."""
    if x.same and not np.ndim(x.value.lo) and x.value.lo == x.value.hi:
        return float(x.value.lo)
    return id(x)
