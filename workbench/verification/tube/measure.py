"""The measure |R⁻¹e| in which runs come closer: floats, found backwards along the nominal run. Any R will do; the checker decides.

    P_k = e^{2αT} M_kᵀ P_{k+1} M_k + Q,   P_k = (R_k R_kᵀ)⁻¹

with the matrices M_k of the samples; at rest, or over a period, the P that repeats.
"""

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


def measure(M: np.ndarray, after: np.ndarray, α: float, T: float, Q: np.ndarray) -> np.ndarray:
    """R of every node; raises LinAlgError where none is found."""
    n = M.shape[-1]
    grow = np.exp(2 * α * T)
    first = int(after[-1])
    P = np.diag(Q)
    found = np.empty((len(M) + (first < 0), n, n))
    if first < 0:
        found[-1] = P
        first = len(M)
    else:
        P = repeated(M[first:], grow, Q)
    for k in range(len(M) - 1, -1, -1):
        P = grow * M[k].T @ P @ M[k] + np.diag(Q)
        P = (P + P.T) / 2
        found[k] = P
    S = np.sqrt(Q)
    scaled = found / S[:, None] / S[None, :]
    L = np.linalg.cholesky(scaled)
    eye = np.broadcast_to(np.eye(n), L.shape)
    return np.swapaxes(np.linalg.solve(L, eye), -1, -2) / S[:, None]


def repeated(M: np.ndarray, grow: float, Q: np.ndarray, laps: int = 60) -> np.ndarray:
    """P at the end of a lap that is the same one lap later, by doubling: P = Σ (Wᵀ)^j C W^j."""
    W = np.eye(M.shape[-1])
    C = np.zeros_like(W)
    for Mk in M[::-1]:
        C = grow * Mk.T @ C @ Mk + np.diag(Q)
        W = W @ Mk * np.sqrt(grow)
    P = C
    for _ in range(laps):
        P = P + W.T @ P @ W
        W = W @ W
        if np.abs(W).max() < 1e-300 or not np.isfinite(P).all():
            break
    if not np.isfinite(P).all():
        raise np.linalg.LinAlgError("no measure")
    return P
