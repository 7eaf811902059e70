"""The zero of a function of one number between two places where its signs differ.

SciPy has one, too; but importing `scipy.optimize` for it takes longer than the margins of a crane.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

ROUNDING = 4 * sys.float_info.epsilon  # of a zero: no closer is asked for
MOST = 500  # evaluations, several times what halving alone needs


def zero(f: Callable[[float], float], a: float, b: float) -> float:
    """x between a and b with f(x) = 0, or where f jumps across 0; ValueError where f(a) and f(b) have one sign.

    Inverse quadratic interpolation where it is safe, else halving. Source: [Chandrupatla97].
    """
    at = f(a)
    beyond = f(b)
    if at * beyond > 0:
        raise ValueError(f"f has one sign at {a!r} and {b!r}")
    older = a
    of_older = at
    share = 0.5
    for _ in range(MOST):
        x = a + share * (b - a)
        now = f(x)
        if (now > 0) == (at > 0):
            older = a
            of_older = at
        else:
            older = b
            of_older = beyond
            b = a
            beyond = at
        a = x
        at = now
        best, least = (a, at) if abs(at) < abs(beyond) else (b, beyond)
        close = 0.5 * ROUNDING * abs(best)
        if least == 0 or abs(b - a) <= 2 * close:
            return best
        share = _share(a, b, older, at, beyond, of_older)
        limit = close / abs(b - a)
        share = min(max(share, limit), 1 - limit)
    return best


def _share(a: float, b: float, c: float, at: float, beyond: float, of_c: float) -> float:
    """Where between a (0) and b (1) to look next."""
    if of_c in (at, beyond):
        return 0.5
    ξ = (a - b) / (c - b)
    φ = (at - beyond) / (of_c - beyond)
    if φ * φ >= ξ or (1 - φ) ** 2 >= 1 - ξ:
        return 0.5
    first = at / (beyond - at) * of_c / (beyond - of_c)
    return first + (c - a) / (b - a) * at / (of_c - at) * beyond / (of_c - beyond)
