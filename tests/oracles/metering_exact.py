"""Valve circuits solved by force in extended precision (80 bits where the processor has them): bisection, many circuits at once."""

from __future__ import annotations

import numpy as np

LONG = np.longdouble


def _signed(x):
    return np.sign(x) * np.sqrt(np.abs(x))


def _bisected(f, low, high, steps=75):
    """Where increasing f changes its sign, elementwise; an end where it does not."""
    low, high = low + 0 * high, high + 0 * low
    for _ in range(steps):
        middle = (low + high) / 2
        below = f(middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def force(row, supply, v):
    """f at v ≠ 0 of sections open one way, without regeneration: P of (39) by bisection. row (9, M), supply (3, M), v (M)."""
    A_h, A_r, P_hM, P_rM, ph, pr, th, tr, _ = row.astype(LONG)
    (Q, P_M, k_b), v = supply.astype(LONG), v.astype(LONG)
    out = v > 0
    A, A_o, P_iM, P_oM = np.where(out, [A_h, A_r, P_hM, P_rM], [A_r, A_h, P_rM, P_hM])
    k, k_o, w = np.where(out, ph, pr), np.where(out, tr, th), np.abs(v)
    with np.errstate(divide="ignore", invalid="ignore"):
        drop, drained = (
            np.where(k > 0, (A * w / k) ** 2, np.inf),
            np.where(k_o > 0, np.minimum((A_o * w / k_o) ** 2, P_oM), P_oM),
        )
    fed = lambda P: np.clip(P - drop, 0, P_iM)
    P = _bisected(
        lambda P: k_b * np.sqrt(P) + k * np.sqrt(np.maximum(P - fed(P), 0)) - Q, 0 * Q, P_M
    )
    return np.where(out, 1, -1) * (A * fed(P) - A_o * drained)


def velocities(rows, supply, β, f, steps=75):
    """v (M, N) with βv + f̄ ∈ Γ(v), any openings: P, in it P_r of each section, in it P_h, each by bisection of a flow balance."""
    rows, (Q, P_M, k_b), β, f = (
        rows.astype(LONG),
        supply.T.astype(LONG),
        β.astype(LONG),
        f.astype(LONG),
    )

    def balances(j, P, x, y):
        A_h, A_r, _, _, ph, pr, th, tr, a = rows[:, j].T
        both = ph * ph + pr * pr
        P_c = np.maximum(
            P, np.where(both > 0, (ph * ph * x + pr * pr * y) / np.where(both > 0, both, 1), P)
        )
        v, q_a = (A_h * x - A_r * y - f[:, j]) / β[:, j], a * np.sqrt(np.maximum(y - x, 0))
        q_h, q_r = ph * _signed(P_c - x), pr * _signed(P_c - y)
        return (
            v,
            A_h * v - q_h + th * np.sqrt(x) - q_a,
            -A_r * v - q_r + tr * np.sqrt(y) + q_a,
            np.maximum(q_h + q_r, 0),
        )

    def section(j, P):
        top = rows[:, j, 2:4].T
        head = lambda y: _bisected(lambda x: balances(j, P, x, y)[1], 0 * P, top[0], steps)
        y = _bisected(lambda y: balances(j, P, head(y), y)[2], 0 * P, top[1], steps)
        return balances(j, P, head(y), y)

    def left(P):
        return k_b * np.sqrt(P) + sum(section(j, P)[3] for j in range(rows.shape[1])) - Q

    P = _bisected(left, 0 * Q, P_M, steps)
    return np.stack([section(j, P)[0] for j in range(rows.shape[1])], -1)
