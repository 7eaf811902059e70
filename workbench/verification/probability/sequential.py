"""Bounds of a probability p that hold at every run at once, so that one may stop whenever they decide.

After k violations in n runs, with a law π = Beta(a, b) of q that is stated beforehand:

    M_n(p) = ∫ q^k (1 − q)^(n−k) dπ(q) / (p^k (1 − p)^(n−k)) = B(a + k, b + n − k) / (B(a, b) p^k (1 − p)^(n−k))
    {p : M_n(p) < 1/α}       contains the true p at every n at once, with probability 1 − α at least

For the true p each factor q^X (1 − q)^(1−X) / (p^X (1 − p)^(1−X)) of a further run X has mean one, so that M_n(p) is a martingale
that begins at one and is never negative; that it ever reaches 1/α has probability α at most (Ville). The set is an interval with
k/n in it, because ln M_n is convex in p. Whatever a and b are, it is valid; a = 1/2 and b = 1/(2 p_0) make it narrow where p is
about p_0 or below it.
Source: [Robbins70] (mixtures and Ville's inequality), [Howard21] (confidence sequences).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SHAPE = 0.5  # a
FACTOR = 10  # times the runs of the fixed number, at most, where no number is stated


@dataclass(frozen=True)
class Sequence:
    """A confidence sequence of a probability that errs with α at most, narrow about `aim`."""

    aim: float
    α: float

    def excess(self, p: Any, k: Any, n: Any) -> Any:
        """ln (α M_n(p)): below zero for every p that is not excluded; elementwise."""
        from scipy.special import betaln, xlog1py, xlogy

        b = SHAPE / self.aim
        mixed = betaln(SHAPE + k, b + n - k) - betaln(SHAPE, b)
        return mixed - xlogy(k, p) - xlog1py(n - k, -p) + math.log(self.α)

    def interval(self, k: int, n: int) -> tuple[float, float]:
        """(lower, upper) bound of the probability after k violations in n runs."""
        if n == 0:
            return 0.0, 1.0
        below = lambda p: self.excess(p, k, n)
        share = k / n
        low = 0.0 if k == 0 else _edge(below, 0.0, share)
        high = 1.0 if k == n else _edge(below, 1.0, share)
        return low, high


def _edge(excess: Callable[[float], float], outside: float, inside: float) -> float:
    """Where `excess` changes its sign, on the outer side of it: a bound is never too narrow by rounding."""
    while abs(outside - inside) > 1e-12 * max(outside, inside):
        middle = 0.5 * (outside + inside)
        if middle in (outside, inside):
            break
        if excess(middle) >= 0:
            outside = middle
        else:
            inside = middle
    return outside
