"""Which numbers of a law's memory fade by themselves, a sample after the other.

    δz⁺ = J δz,  J = ∂z⁺/∂z:   number i fades within N samples where column i of Jᴺ is next to nothing

What fades follows what it is fed, and goes no further than the machine takes it: filters, and forces required of an oil's spring.
What adds up, as an integral does, goes on as long as it is fed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LOOKS = 7  # rows of a run at which J is taken
FORGOTTEN = 1e-3  # share of a number's range that may be left


def forgotten(slopes: Sequence[np.ndarray], sizes: np.ndarray, samples: int) -> np.ndarray:
    """Whether each number (p,) fades within so many samples, at every row at which J (p, p) was taken.

    sizes: ranges of the numbers in a run; one that did not move has none, and counts as of size 1. A slope that is not finite,
    or grows, tells of no fading.
    """
    scales = np.where(sizes > 0, sizes, 1.0)
    fades = np.ones(len(scales), bool)
    with np.errstate(all="ignore"):
        for J in slopes:
            left = np.linalg.matrix_power(J * scales / scales[:, None], samples)
            fades &= np.abs(left).max(axis=0, initial=0.0) < FORGOTTEN
    return fades
