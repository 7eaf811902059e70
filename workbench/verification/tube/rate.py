"""The rate at which runs come closer, in floats."""

from __future__ import annotations

import numpy as np


def rate(M: np.ndarray, after: np.ndarray, T: float) -> float:
    """The rate (1/s) at which runs come closer in the end: of the loop at rest, or of one period."""
    first = int(after[-1])
    product = np.eye(M.shape[-1])
    if first < 0:
        first = max(0, len(M) - 1000)
    many = 0
    for Mk in M[first:]:
        product = Mk @ product
        many += 1
    if not np.isfinite(product).all():
        return -np.inf
    r = max(np.abs(np.linalg.eigvals(product)).max(), 1e-300)
    return -np.log(r) / (many * T)
