"""Intervals for the slopes of friction laws: arrays of (low, high) pairs, and a search over a subdivision."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-13  # relative, per term: covers a dozen rounded operations and library functions off by a few ulp


def ordered(p, q):
    """The interval between p and q, arrays."""
    return np.minimum(p, q), np.maximum(p, q)


def times(p, q):
    """Product of intervals (low, high), arrays."""
    ends = np.stack([p[0] * q[0], p[0] * q[1], p[1] * q[0], p[1] * q[1]])
    return ends.min(0), ends.max(0)


def total(*terms):
    """Sum of intervals, rounded outwards."""
    lows, highs = zip(*terms)
    return sum(lows) - ROUNDING * sum(map(np.abs, lows)), sum(highs) + ROUNDING * sum(
        map(np.abs, highs)
    )


def subdivided(within, v_max: float, scale: float, rounds: int = 60) -> tuple[float, float]:
    """Floats (low, high) enclosing the range over [0, v_max] of a function with interval extension `within(l, h)`.

    Starts from parts that grow with v beyond `scale`; those that could still hold an extreme beyond what is attained at
    mid-points are quartered, until the slack is 1e-6 of the range's size. The enclosure is valid whenever it stops.
    """
    knots = np.unique(
        np.clip(
            np.concatenate([[0.0], scale * np.geomspace(1e-2, max(v_max / scale, 1e-1), 400)]),
            0.0,
            v_max,
        )
    )
    knots = np.unique(np.append(knots, v_max))
    return tuple(sign * _lowest(within, knots, sign, rounds) for sign in (1.0, -1.0))


def _lowest(within, knots, sign, rounds):
    def signed(l, h):
        low, high = within(l, h)
        return (low, high) if sign > 0 else (-high, -low)

    l, h = (knots[:-1], knots[1:]) if len(knots) > 1 else (knots, knots)
    done = attained = np.inf
    for _ in range(rounds):
        low = signed(l, h)[0]
        m = 0.5 * (l + h)
        attained = min(attained, signed(m, m)[1].min())
        open_ = low < attained - 1e-6 * max(abs(attained), abs(low.min()))
        done = min(done, low[~open_].min(initial=np.inf))
        if not open_.any() or open_.sum() > 20000:
            return float(min(done, low.min()))
        l = l[open_]
        h = h[open_]
        quarters = [l + (h - l) * k / 4 for k in range(4)] + [h]
        l = np.concatenate(quarters[:-1])
        h = np.concatenate(quarters[1:])
    return float(min(done, signed(l, h)[0].min()))
