"""Riccati equations, solved and judged."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from workbench.contract.errors import InputError

RESIDUAL = 1e-9  # of a Riccati equation, relative to its largest term


@dataclass(frozen=True, eq=False)
class Riccati:
    """A stabilising solution: gain K (m×n), cost P (n×n), spectral radius of A − BK, relative residual."""

    K: np.ndarray
    P: np.ndarray
    radius: float
    residual: float


def riccati(A, B, Q, R, S=None) -> Riccati:
    """Solution of the Riccati equation above, polished by Newton steps and checked again from scratch.

    Raises InputError for weights that are no weights (Q ⪰ 0, R ≻ 0, jointly ⪰ 0 with S), for a pair (A, B) that cannot
    be stabilised, a cost that does not see an unstable mode, and a solution whose residual or radius does not hold.
    """
    A, B, Q, R = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, Q, R))
    S = np.zeros(B.shape) if S is None else np.asarray(S, float).reshape(B.shape)
    _check_weights(Q, R, S)
    e = 1 / np.sqrt(np.diag(R))
    weight = np.sqrt(np.diag(Q))
    d = np.where(weight > 0, 1 / np.where(weight > 0, weight, 1.0), 1.0)
    best = None
    why = ""
    for _ in range(4):  # states in units in which P has ones on its diagonal, found as we go
        scaled = (
            A * d / d[:, None],
            B * e / d[:, None],
            Q * d * d[:, None],
            R * e * e[:, None],
            S * e * d[:, None],
        )
        try:
            K, P = _solved(*scaled)
        except (np.linalg.LinAlgError, ValueError) as reason:
            why = str(reason)
            d = d if best is not None else np.ones(len(d))
            continue
        found = _judged(*scaled, K, P)
        if found is None:
            why = "the solution is not finite"
            d = d if best is not None else np.ones(len(d))
            continue
        if best is None or found[0] < best[0]:
            best = *found, e[:, None] * K / d, P / d / d[:, None]
        if best[0] < 1e-13:
            break
        d = d / np.sqrt(np.maximum(np.diag(P), 1e-12 * np.diag(P).max()))
    if best is None:
        raise InputError(
            f"no linear–quadratic gain: {why}",
            mend="every unstable or integrating mode must be moved by an input and seen by the cost",
        )
    residual, radius, low, K, P = best
    _check_solution(residual, radius, low)
    return Riccati(K, P, radius, residual)


def _check_solution(residual: float, radius: float, low: float) -> None:
    """InputError for a solution that is none. low: smallest eigenvalue of P, in the units that were found."""
    if not (residual <= RESIDUAL and radius < 1.0 and low >= -1e-9):
        raise InputError(
            f"the linear–quadratic gain does not pass its check: residual {residual:.2g}, closed-loop "
            f"spectral radius {radius:.9g}, smallest eigenvalue of P {low:.2g} (scaled)",
            mend="scale the weights alike, and let the cost see every mode that is not stable by itself",
        )


def _solved(A, B, Q, R, S) -> tuple[np.ndarray, np.ndarray]:
    """(K, P), from the pencil's stable subspace, then by Newton's method for this equation."""
    from scipy.linalg import solve_discrete_are, solve_discrete_lyapunov

    law = lambda P: np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + S.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the solution is judged afterwards
        P = solve_discrete_are(A, B, Q, R, s=S)
    for _ in range(2):
        K = law(P)
        closed = A - B @ K
        if np.abs(np.linalg.eigvals(closed)).max() >= 1:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            step = solve_discrete_lyapunov(closed.T, Q - S @ K - K.T @ S.T + K.T @ R @ K)
        if not np.isfinite(step).all():
            break
        P = (step + step.T) / 2
    return law(P), P


def _judged(A, B, Q, R, S, K, P) -> tuple[float, float, float] | None:
    """(residual relative to the largest term, spectral radius of A − BK, smallest eigenvalue of P), P's diagonal made 1."""
    size = np.abs(P).max(initial=0.0)
    if not (np.isfinite(P).all() and np.isfinite(K).all() and 1e-150 < size < 1e150):
        return None
    scale = np.sqrt(np.maximum(np.diag(P), 1e-12 * max(np.diag(P).max(initial=0.0), 1e-300)))
    weigh = lambda M: np.abs(M / scale[:, None] / scale).max(initial=0.0)
    terms = (A.T @ P @ A, (A.T @ P @ B + S) @ K, Q, P)
    residual = weigh(terms[0] - terms[1] + terms[2] - terms[3]) / max(weigh(M) for M in terms)
    radius = np.abs(np.linalg.eigvals(A - B @ K)).max(initial=0.0)
    low = np.linalg.eigvalsh(P / scale[:, None] / scale).min(initial=0.0)
    return float(residual), float(radius), float(low)


def _check_weights(Q, R, S):
    for name, M in (("Q", Q), ("R", R)):
        if (
            M.shape[0] != M.shape[1]
            or not np.allclose(M, M.T, rtol=1e-9, atol=0.0)
            or not np.isfinite(M).all()
        ):
            raise InputError(f"{name}: expected a symmetric finite matrix", mend="give (M + Mᵀ)/2")
    d = np.sqrt(np.maximum(np.diag(R), 0.0))
    if not (d > 0).all() or np.linalg.eigvalsh(R / d[:, None] / d)[0] <= 1e-13:
        raise InputError(
            "R: the weight of the inputs is not positive definite",
            mend="give every input, or its moves, a weight above 0",
        )
    rest = Q - S @ np.linalg.solve(R, S.T)
    if np.linalg.eigvalsh(rest)[0] < -1e-9 * max(np.abs(Q).max(), 1e-300):
        raise InputError(
            "Q: the weight of the states is not positive semidefinite (with what S takes from it)",
            mend="give no state a negative weight",
        )
