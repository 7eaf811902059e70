"""The dense QP once more, in extended precision: what a solver's first move is measured against."""

from __future__ import annotations

import numpy as np

from controllers.mpc.dense import NONE, Dense


def refined(dense: Dense, θ, λ, steps: int = 6) -> tuple[np.ndarray, np.ndarray, float]:
    """(z, λ, residual) of the active set that λ names: its linear system solved by refinement with extended residuals.

    The residual counts every condition of optimality, of all rows and bounds: it is small only if the active set is right.
    H, F and the limits count as exact.
    """
    wide = np.longdouble
    H = dense.H.astype(wide)
    n = len(dense.H)
    A = np.vstack([np.eye(n), dense.G])
    f = dense.F.astype(wide) @ θ.astype(wide) + dense.c1
    lower, upper = (edge.astype(wide) for edge in dense.bounds(θ))
    on = np.flatnonzero(np.abs(λ) > 1e-12 * max(np.abs(λ).max(initial=0.0), 1e-300))
    edge = np.where(λ[on] > 0, upper[on], lower[on])
    rows = A[on].astype(wide)
    k = len(on)
    K = np.block([[dense.H, A[on].T], [A[on], np.zeros((k, k))]])
    solution = np.zeros(n + k, dtype=wide)
    for _ in range(steps):
        z = solution[:n]
        μ = solution[n:]
        miss = np.concatenate([-f - H @ z - rows.T @ μ, edge - rows @ z])
        solution = solution + np.linalg.solve(K, miss.astype(float))
    z = solution[:n]
    μ = solution[n:]
    stationary = np.abs(f + H @ z + rows.T @ μ).max() / np.abs(f).max(initial=1e-300)
    value = A.astype(wide) @ z
    above = np.where(upper < NONE / 2, value - upper, 0)
    below = np.where(lower > -NONE / 2, lower - value, 0)
    beyond = np.maximum(above, below).max(initial=0.0)
    wrong = np.maximum(-μ * np.sign(λ[on]), 0).max(initial=0.0) / np.abs(f).max(initial=1e-300)
    full = np.zeros(len(A))
    full[on] = μ
    return z.astype(float), full, float(max(stationary, beyond, wrong))
