"""Least time along a curve: σ(t) from rows a_i σ̈ + b_i σ̇² ≤ c_i, by what can still be controlled and then greedily.

With b = σ̇² and σ̈ = db/dσ/2 constant within an interval, backwards from the end
    β_k = max { b : some σ̈ keeps the rows of the interval, and 0 ≤ b + 2 Δ_k σ̈ ≤ β_{k+1} }
is a linear program in two unknowns, here in closed form: b may rise until two rows leave no σ̈ between them. Forwards the largest
σ̈ is taken. All c_i ≥ 0: a motion that is slow enough keeps every row.

    T = Σ 2 Δ_k/(√b_k + √b_{k+1})

Source: [Pham18] (reachability analysis); [Verscheure09] for b as unknown.
"""

from __future__ import annotations

import numpy as np

SMALL = 1e-12  # a row (c of order one) with a smaller a says something of σ̇ alone


def spent(b: np.ndarray, Δ: np.ndarray) -> np.ndarray:
    """(N,) s of every interval; infinite where nothing moves."""
    root = np.sqrt(np.maximum(b, 0.0))
    with np.errstate(divide="ignore"):
        return 2 * Δ / (root[:-1] + root[1:])


def fastest_along(rows: np.ndarray, Δ: np.ndarray) -> np.ndarray:
    """b (N+1,) of least time. rows (N, m, 3): a, b, c of every interval's rows in (σ̈, σ̇² where it begins); Δ (N,)."""
    n = len(Δ)
    β = np.full(n + 1, np.inf)
    joined = [None] * n
    for k in range(n - 1, -1, -1):
        not_below_zero = [-2 * Δ[k], -1.0, 0.0]
        more = [not_below_zero]
        if np.isfinite(β[k + 1]):
            more.append([2 * Δ[k], 1.0, β[k + 1]])
        joined[k] = np.concatenate([rows[k], more])
        β[k] = _highest(joined[k])
    b = np.empty(n + 1)
    b[0] = β[0]
    for k in range(n):
        gained = 2 * Δ[k] * _steepest(joined[k], b[k])
        b[k + 1] = min(max(b[k] + gained, 0.0), β[k + 1])
    return b


def _steepest(rows: np.ndarray, b: float) -> float:
    """The largest σ̈ that keeps the rows at σ̇² = b."""
    a, slope, c = rows.T
    up = a > SMALL
    room = c[up] - slope[up] * b
    return (room / a[up]).min()


def _highest(rows: np.ndarray) -> float:
    """The largest b ≥ 0 for which some σ̈ keeps the rows."""
    a, b, c = rows.T
    caps = (np.abs(a) <= SMALL) & (b > 0)
    up = a > SMALL
    low = a < -SMALL
    gap = np.subtract.outer(c[up] / a[up], c[low] / a[low])  # of an upper and a lower row, b = 0
    closing = np.subtract.outer(b[up] / a[up], b[low] / a[low])
    meet = closing > 0
    roots = gap[meet] / closing[meet]
    capped = c[caps] / b[caps]
    most = min(capped.min(initial=np.inf), roots.min(initial=np.inf))
    return max(0.0, most)
