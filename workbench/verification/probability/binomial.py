"""One-sided bounds of a probability, from the number of events in a number of runs. Source: [ClopperPearson34]."""

from __future__ import annotations

import math


def fewest(α: float, p: float) -> int:
    """The least number n of runs, none of them violated, that shows a probability of at most p: (1 − p)ⁿ ≤ α."""
    return math.ceil(math.log(α) / math.log1p(-p))


def upper(k: int, n: int, α: float) -> float:
    """Upper bound of the probability after k violations in n runs; it is wrong with a probability of at most α."""
    from scipy.stats import beta

    return 1.0 if k >= n else float(beta.ppf(1.0 - α, k + 1, n - k))


def lower(k: int, n: int, α: float) -> float:
    """Lower bound of the probability after k violations in n runs; it is wrong with a probability of at most α."""
    from scipy.stats import beta

    return 0.0 if k == 0 else float(beta.ppf(α, k, n - k + 1))
