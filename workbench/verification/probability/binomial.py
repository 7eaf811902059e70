"""Bounds of a probability after so many events in so many runs, each one-sided. Source: [ClopperPearson34]."""

from __future__ import annotations

import math


def fewest(α: float, p: float) -> int:
    """The fewest runs, none of them violated, that show a probability of p at most: (1 − p)ⁿ ≤ α."""
    return math.ceil(math.log(α) / math.log1p(-p))


def upper(k: int, n: int, α: float) -> float:
    """The probability that is exceeded with confidence α at most, after k violations in n runs."""
    from scipy.stats import beta

    return 1.0 if k >= n else float(beta.ppf(1.0 - α, k + 1, n - k))


def lower(k: int, n: int, α: float) -> float:
    """The probability that is fallen short of with confidence α at most."""
    from scipy.stats import beta

    return 0.0 if k == 0 else float(beta.ppf(α, k, n - k + 1))
