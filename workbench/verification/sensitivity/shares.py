"""The share of the spread of a margin that each number causes, over ranges: Sobol's indices, by SciPy.

    S_i   share of the variance of the margin that is that of its mean given number i: the number alone
    T_i   share that is left where all other numbers are known: the number and its interactions with the others

Both by Saltelli's estimator, n (d + 2) runs of d numbers; their intervals (95 %) are bootstrapped.
Source: [Sobol01], [Saltelli10].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 499


@dataclass(frozen=True)
class Share:
    """Indices of one number: alone (S) and in all (T), each with its interval."""

    name: str
    alone: float
    alone_between: tuple[float, float]
    whole: float
    whole_between: tuple[float, float]


def base(runs: int, numbers: int) -> int:
    """n: the largest power of two for which n (d + 2) runs are no more than asked for."""
    return 2 ** int(np.log2(runs / (numbers + 2)))


def shares(
    margins: Callable[[np.ndarray], np.ndarray], names: list[str], n: int, seed: int
) -> list[list[Share]]:
    """For every margin, the shares of each number. margins: even draws in (0, 1) (k, d) → (k, m), finite."""
    from scipy.stats import sobol_indices, uniform

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a margin that nothing moves: 0/0, told below
        found = sobol_indices(
            func=lambda x: np.asarray(margins(x.T), float).T,
            n=n,
            dists=[uniform()] * len(names),
            rng=np.random.default_rng(seed),
        )
        ends = found.bootstrap(CONFIDENCE, RESAMPLES)
    first = np.atleast_2d(found.first_order)
    total = np.atleast_2d(found.total_order)
    alone = ends.first_order.confidence_interval
    whole = ends.total_order.confidence_interval
    between = lambda e, j, i: (
        float(np.atleast_2d(e.low)[j, i]),
        float(np.atleast_2d(e.high)[j, i]),
    )
    return [
        [
            Share(
                name,
                float(first[j, i]),
                between(alone, j, i),
                float(total[j, i]),
                between(whole, j, i),
            )
            for i, name in enumerate(names)
        ]
        for j in range(len(first))
    ]
