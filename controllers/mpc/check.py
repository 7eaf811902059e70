"""The dense QP once more, in extended precision: what a solver's first move is measured against."""

from __future__ import annotations

import numpy as np

from controllers.mpc.dense import NONE, Dense

WIDE = np.longdouble
LEAST = 1e-300  # what a size of zero is taken for


def refined(dense: Dense, θ, λ, steps: int = 6) -> tuple[np.ndarray, np.ndarray, float]:
    """(z, λ, residual) of the active set that λ names: its linear system solved by refinement with extended residuals.

    The residual counts every condition of optimality, of all rows and bounds: it is small only if the active set is right.
    H, F and the limits count as exact.
    """
    n = len(dense.H)
    H = dense.H.astype(WIDE)
    F = dense.F.astype(WIDE)
    f = F @ θ.astype(WIDE) + dense.c1
    A = np.vstack([np.eye(n), dense.G])
    lower, upper = (edge.astype(WIDE) for edge in dense.bounds(θ))
    active = _active(λ)
    named = λ[active]
    edge = np.where(named > 0, upper[active], lower[active])
    rows = A[active]
    z, μ = _solved(dense.H, H, f, rows, edge, steps)
    size = np.abs(f).max(initial=LEAST)
    gradient = f + H @ z + rows.astype(WIDE).T @ μ
    stationary = np.abs(gradient).max() / size
    value = A.astype(WIDE) @ z
    beyond = _beyond(value, lower, upper)
    wrong_sign = np.maximum(-μ * np.sign(named), 0)
    wrong = wrong_sign.max(initial=0.0) / size
    full = np.zeros(len(A))
    full[active] = μ
    residual = max(stationary, beyond, wrong)
    return z.astype(float), full, float(residual)


def _active(λ) -> np.ndarray:
    """Indices of the rows and bounds whose multiplier is larger than rounding."""
    size = np.abs(λ)
    largest = max(size.max(initial=0.0), LEAST)
    return np.flatnonzero(size > 1e-12 * largest)


def _solved(stored, H, f, A, edge, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(z, μ) with H z + Aᵀ μ = −f and A z = edge, refined; stored: H in double precision, which the corrections are found with."""
    n = len(stored)
    many = len(A)
    rows = A.astype(WIDE)
    none = np.zeros((many, many))
    K = np.block([[stored, A.T], [A, none]])
    solution = np.zeros(n + many, dtype=WIDE)
    for _ in range(steps):
        z = solution[:n]
        μ = solution[n:]
        gradient = -f - H @ z - rows.T @ μ
        missed = np.concatenate([gradient, edge - rows @ z])
        correction = np.linalg.solve(K, missed.astype(float))
        solution = solution + correction
    return solution[:n], solution[n:]


def _beyond(value, lower, upper):
    """By how much rows and bounds that are limited are left, 0 where none is."""
    limited_above = upper < NONE / 2
    limited_below = lower > -NONE / 2
    above = np.where(limited_above, value - upper, 0)
    below = np.where(limited_below, lower - value, 0)
    return np.maximum(above, below).max(initial=0.0)
