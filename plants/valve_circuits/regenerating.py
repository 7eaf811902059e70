"""A section with regeneration as an expression: one explicit curve with the parameter m, along which the pump's pressure P rises.

The rod extends (head in, rod out), v ≥ 0. The curve begins with y = P_o = m². From m = √P_oM on, the out side is at its relief, and
ζ = √(P_o − P_i), which keeps its sign below zero, falls by m − √P_oM:

    A_o v = k_o √y + q_a,   A x = βv + f̄ + A_o y,   q_a = k_a √(y − x)⁺          q_a: root of a quadratic, x = P_i explicit
    X = A v − q_a,   P = clip(x, 0, P_iM) + S(X)/k_i²,   Q_p = max(X, 0)          what the pump must give, and at which pressure

x, y, X and P rise along m: a network of orifices is monotone, and so is (f − f̄)²/2β, as ∂f/∂P_i ∂f/∂P_o < 0. It begins where

    x = 0 (suction) or X = 0 (the pump's check shuts, A_o > A only),   and the rod goes no further where   x = P_iM (relief)

Before, Q_p = X_0 √(P/P_0) (what suction leaves to the pump, or none), and P = t² P_0, Q_p = t X_0, 0 ≤ t ≤ 1, is the curve; beyond,
Q_p = k_i √(P − P_iM), which its formulas give by themselves. So (P, Q_p) of a section is explicit all along.

No assumption A_h ≥ A_r, u_tr > 0 or u_b > 0; k_i > 0.

Source: [Kikuuwe21] (93)–(104) are the equations; the curve, which takes the place of the loop (105), is ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits.closed import _LEAST, Φ_A, ratio

_RELIEF_STEPS = 5  # of Newton's method for a relief of the in side below the pressure of the out side: convex, from above


class Feed(NamedTuple):
    """The numbers of a curve: areas and reliefs of in and out side, g = 1/k_i² (0 where that valve is shut), k_o, k_a, β, and f̄
    along the motion; σ_M = √P_oM and the ζ there; start, end: m at both ends."""

    A: object
    A_o: object
    P_iM: object
    P_oM: object
    g: object
    k_o: object
    k_a: object
    β: object
    f: object
    σ_M: object
    ζ_M: object
    start: object
    end: object


class Point(NamedTuple):
    """A point of the curve: v [m/s], x [Pa], X [m³/s], √P, and derivatives of X and √P by m."""

    v: object
    x: object
    X: object
    s: object
    dX: object
    ds: object


def feed(sides, k, β, f) -> Feed:
    """The curve of a section; along its motion: sides (A, A_o [m²], P_iM, P_oM [Pa]), k (k_i, k_o, k_a [m³/(s √Pa)]), f̄ [N]."""
    k_i, k_o, k_a = k
    g = np.where(k_i > 0.0, ratio(1.0, k_i * k_i), 0.0)
    σ_M = np.sqrt(sides[3])
    s = Feed(*sides, g, k_o, k_a, β, f, σ_M, ζ_M=0.0, start=0.0, end=0.0)
    q, _, x = _drained(s, s.σ_M)
    drop = s.P_oM - x
    ζ = np.where(
        q * s.k_a > 0.0,
        ratio(q, s.k_a),
        np.where(drop > 0.0, 1.0, -1.0) * np.sqrt(np.abs(drop) + _LEAST),
    )
    gap = s.P_oM - s.P_iM
    relieved = s.σ_M + np.maximum(ζ - np.where(gap > 0.0, 1.0, -1.0) * np.sqrt(np.abs(gap)), 0.0)
    s = s._replace(ζ_M=ζ, end=relieved)
    end = relief(s)
    return s._replace(start=np.minimum(beginning(s), end), end=end)


def _drained(s: Feed, σ):
    """q_a, v, x at y = σ² below the out side's relief."""
    y = σ * σ
    q = np.maximum(
        Φ_A(s.β / s.A_o, s.β * s.k_o * σ / s.A_o + s.f - (s.A - s.A_o) * y, s.k_a * s.k_a / s.A),
        0.0,
    )
    v = (s.k_o * σ + q) / s.A_o
    return q, v, (s.β * v + s.f + s.A_o * y) / s.A


def at(s: Feed, m) -> Point:
    """The point m of the curve."""
    early = np.minimum(m - s.start, 0.0)
    m = np.maximum(m, s.start)
    σ = np.minimum(m, s.σ_M)
    δ = np.maximum(m - s.σ_M, 0.0)
    t = 1.0 + early / s.σ_M
    ζ = s.ζ_M - δ
    q, v, x = _drained(s, σ)
    dq = np.where(
        q > 0.0,
        (2.0 * (s.A - s.A_o) * σ - s.β * s.k_o / s.A_o)
        / (s.β / s.A_o + ratio(2.0 * s.A * q, s.k_a * s.k_a)),
        0.0,
    )
    dv = (s.k_o + dq) / s.A_o
    risen = s.ζ_M * np.abs(s.ζ_M) - ζ * np.abs(ζ)
    rises = 2.0 * np.abs(ζ)
    turned = s.A / s.β
    beyond = np.where(δ > 0.0, 1.0, 0.0)
    q = q + s.k_a * (np.maximum(ζ, 0.0) - np.maximum(s.ζ_M, 0.0))
    dq = np.where(beyond > 0.0, np.where(ζ > 0.0, -s.k_a, 0.0), dq)
    dx = np.where(beyond > 0.0, rises, (s.β * dv + 2.0 * s.A_o * σ) / s.A)
    dv = np.where(beyond > 0.0, turned * rises, dv)
    v = v + turned * risen
    x = x + risen
    fed = np.where(s.g > 0.0, 1.0, 0.0)
    k = s.g
    X = fed * np.maximum(s.A * v - q, 0.0)
    dX = fed * (s.A * dv - dq)
    kept = np.minimum(np.maximum(x, 0.0), s.P_iM)
    root = np.sqrt(kept + X * X * k + _LEAST)
    slope = ratio(np.where(kept == x, dx, 0.0) + 2.0 * X * dX * k, 2.0 * root)
    return Point(
        v,
        x,
        X * t,
        root * t,
        np.where(early < 0.0, X / s.σ_M, dX),
        np.where(early < 0.0, root / s.σ_M, slope),
    )


def velocity(s: Feed, m) -> Point:
    """The point where the rod is when the pump is at m: between the ends of the curve."""
    return at(s, np.minimum(np.maximum(np.where(s.g > 0.0, m, s.start), s.start), s.end))


def beginning(s: Feed):
    """m where x = 0, or X = 0, whichever is later."""
    σ_s = np.maximum(Φ_A(s.β * (s.k_a + s.k_o) / s.A_o, s.f, 1.0 / s.A_o), 0.0)
    m_s = np.where(σ_s < s.σ_M, σ_s, s.σ_M + np.maximum(s.ζ_M - s.σ_M, 0.0))
    d = np.maximum(s.A_o - s.A, 0.0)  # what regeneration leaves goes to tank
    h = d * d * s.k_a * s.k_a
    a = ratio(h, d * h + s.A * s.A * s.A * s.k_o * s.k_o)
    σ_x = np.maximum(Φ_A(s.β * s.k_o / np.where(d > 0.0, d, 1.0), s.f, a), 0.0)
    ζ_x = np.maximum(Φ_A(s.β * s.k_a / s.A, s.f + d * s.P_oM, 1.0 / s.A), 0.0)
    m_x = np.where(σ_x < s.σ_M, σ_x, s.σ_M + np.maximum(s.ζ_M - ζ_x, 0.0))
    return np.maximum(m_s, np.where(d > 0.0, m_x, 0.0))


def relief(s: Feed):
    """m where x = P_iM."""
    f = s.f - s.A * s.P_iM
    b = s.β / s.A_o
    alone = Φ_A(b * s.k_o, f, 1.0 / s.A_o)  # √y without regeneration
    left = f + s.A_o * s.P_iM
    ζ = np.minimum(
        Φ_A(b * s.k_a, left + b * s.k_o * np.sqrt(s.P_iM), 1.0 / s.A_o),
        Φ_A(b * (s.k_a + s.k_o), left, 1.0 / s.A_o),
    )
    ζ = np.maximum(ζ, 0.0)
    for _ in range(_RELIEF_STEPS):
        σ = np.sqrt(ζ * ζ + s.P_iM)
        g = b * (s.k_o * σ + s.k_a * ζ) + s.A_o * ζ * ζ + left
        ζ = np.maximum(ζ - ratio(g, b * (s.k_o * ζ / σ + s.k_a) + 2.0 * s.A_o * ζ), 0.0)
    σ = np.where(ζ > 0.0, np.sqrt(ζ * ζ + s.P_iM), np.minimum(alone, np.sqrt(s.P_iM)))
    # f ≥ 0: pushed back through the relief.
    return np.where(f >= 0.0, 0.0, np.where(σ < s.σ_M, σ, s.end))
