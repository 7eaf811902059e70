"""Coordinates of the ball where laps begin: floats, made for what a lap adds. Any will do; the checker decides.

What the samples of a lap add is a sum of segments g_j at its end. Their sum lies in the ellipsoid of Σ g_j g_jᵀ/p_j, Σ p_j = 1
(Cauchy and Schwarz), the smaller the nearer p_j is to the segment's length in it. With M the matrix of the lap

    C = Σ_i θ^{−2i} M^i C_0 Mᵀ^i ,   M C Mᵀ ≤ θ² C,   R Rᵀ = C

so a lap shortens every deviation to the share θ in the coordinates R⁻¹e, and what it adds is about as long in all of them.
"""

from __future__ import annotations

import numpy as np

SWEEPS = 12
LAPS = 60
FLOOR = 1e-9  # share of the largest: segments in directions in which nothing is added


def shaped(M: np.ndarray, added: np.ndarray, share: float, least: np.ndarray) -> np.ndarray:
    """R (n, n) from the matrices of a lap's samples and what each of them adds. share: of the rate, that the ball is to keep.

    least: widths of the states that are nothing beside what they are.
    """
    ends = np.empty((len(M), *M.shape[1:]))
    whole = np.eye(M.shape[-1])
    for k in range(len(M) - 1, -1, -1):
        ends[k] = whole * added[k]
        whole = whole @ M[k]
    G = np.swapaxes(ends, 0, 1).reshape(len(whole), -1)
    size = np.abs(G).sum(axis=1) + least
    G = np.hstack([G / size[:, None], FLOOR * np.eye(len(size))])
    W = whole * size / size[:, None]
    return size[:, None] * np.linalg.cholesky(kept(W, ellipsoid(G), share))


def led(M: np.ndarray, own: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """G with W G = G, W the product of a lap's samples: where states settle that follow what is constant, one column each.

    own: rows of what the columns stand for; stays: rows of all that is constant.
    """
    W = np.eye(M.shape[-1])
    for Mk in M:
        W = Mk @ W
    moves = ~stays
    G = np.zeros((len(W), len(own)))
    G[own, np.arange(len(own))] = 1.0
    rest = np.eye(int(moves.sum())) - W[np.ix_(moves, moves)]
    G[moves] = np.linalg.solve(rest, W[np.ix_(moves, own)])
    return G


def ellipsoid(G: np.ndarray) -> np.ndarray:
    """C_0 of the segments that are the columns of G."""
    length = np.sqrt((G**2).sum(axis=0)) + 1e-300
    for _ in range(SWEEPS):
        C = (G / length) @ G.T * length.sum()
        length = np.sqrt(np.maximum((G * np.linalg.solve(C, G)).sum(axis=0), 1e-300))
    return (G / length) @ G.T * length.sum()


def kept(W: np.ndarray, C: np.ndarray, share: float) -> np.ndarray:
    """Σ θ^{−2i} W^i C Wᵀ^i by doubling, θ the `share` of the rate at which W shortens."""
    r = max(np.abs(np.linalg.eigvals(W)).max(), 1e-12)
    V = W / r**share
    for _ in range(LAPS):
        C = C + V @ C @ V.T
        V = V @ V
        if np.abs(V).max() < 1e-300:
            break
    return (C + C.T) / 2
