"""Matrices known up to a radius, many at once, and bounds of them that floats cannot spoil.

    M = {A : |A − mid| ≤ rad entry by entry},  arrays (…, m, n)

Products of floats with rounding to nearest, whatever the order of summation: |fl(A B) − A B| ≤ n u / (1 − n u) |A| |B|,
u = 2⁻⁵³ [Higham02, section 3.5]. Radii are computed in floats too and enlarged by more than their own error.

Eigenvalues are never believed. For a symmetric S let V be floats' eigenvectors, C ∋ Vᵀ S V and G ∋ Vᵀ V. For every w = V x

    wᵀS w = xᵀC x ≤ max_i (C_ii + Σ_j≠i |C_ij|) |x|²,     wᵀw = xᵀG x ≥ min_i (G_ii − Σ_j≠i |G_ij|) |x|²

so the quotient of both bounds λ_max(S) from above, and V is regular when the second is positive. Source: [Rump10], section 10.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

UNIT = 2.0**-52
LEAST = 1e-290  # more than all underflows of a product


class Known(NamedTuple):
    """Middles and radii of entries."""

    mid: np.ndarray
    rad: np.ndarray

    @property
    def T(self) -> Known:
        return Known(_turned(self.mid), _turned(self.rad))


def _turned(A: np.ndarray) -> np.ndarray:
    """The transposes."""
    return np.swapaxes(A, -1, -2)


def exactly(A: np.ndarray) -> Known:
    """Floats themselves."""
    A = np.asarray(A, float)
    return Known(A, np.zeros_like(A))


def between(low: np.ndarray, high: np.ndarray) -> Known:
    """Middles and radii that contain [low, high]."""
    mid = 0.5 * low + 0.5 * high
    rad = np.maximum(high - mid, mid - low)
    least = LEAST * (rad > 0)
    return Known(mid, _up(rad, 1) + least)


def product(A: Known, B: Known) -> Known:
    """A B."""
    n = A.mid.shape[-1]
    a = np.abs(A.mid)
    b = np.abs(B.mid)
    rounded = (n + 2) * UNIT * (a @ b)
    within = A.rad @ (b + B.rad)
    rad = _up(a @ B.rad + within + rounded, 2 * n + 6)
    return Known(A.mid @ B.mid, rad + LEAST)


def total(*terms: Known) -> Known:
    """Sum of the terms."""
    mid = terms[0].mid
    rad = terms[0].rad
    for term in terms[1:]:
        mid = mid + term.mid
        rad = rad + term.rad + UNIT * np.abs(mid)
    return Known(mid, _up(rad, 4 * len(terms)))


def scaled(c: float | np.ndarray, A: Known) -> Known:
    """c A for floats c."""
    mid = c * A.mid
    rounded = UNIT * np.abs(mid)
    rad = _up(np.abs(c) * A.rad + rounded, 6)
    return Known(mid, rad + LEAST)


def _up(x: np.ndarray, errors: int) -> np.ndarray:
    """No less than what was rounded `errors` times (sums of nonnegative numbers: relative errors add)."""
    return x * (1 + 2 * (errors + 1) * UNIT)


def row_sums(A: Known) -> np.ndarray:
    """Upper bounds of Σ_j |A_ij|."""
    most = np.abs(A.mid) + A.rad
    return _up(most.sum(axis=-1), A.mid.shape[-1] + 2)


def norm(A: Known) -> np.ndarray:
    """Upper bounds of ‖A‖₂: sharp for the middles, √(‖·‖₁ ‖·‖_∞) for the radii."""
    middle = exactly(A.mid)
    squares = product(middle.T, middle)
    sharp = np.sqrt(np.maximum(greatest(squares), 0.0))
    return _up(sharp + _crude(A.rad), 3)


def _crude(rad: np.ndarray) -> np.ndarray:
    """√(‖rad‖₁ ‖rad‖_∞), which is at least ‖rad‖₂."""
    rows = rad.sum(axis=-1).max(axis=-1)
    columns = rad.sum(axis=-2).max(axis=-1)
    summed = sum(rad.shape[-2:])
    return _up(np.sqrt(rows * columns), summed)


def greatest(S: Known) -> np.ndarray:
    """Upper bounds of the greatest eigenvalue of every symmetric matrix in S; ∞ where the floats fail."""
    return -least(Known(-S.mid, S.rad))


def least(S: Known) -> np.ndarray:
    """Lower bounds of the least eigenvalue of every symmetric matrix in S; −∞ where the floats fail.

    S is positive definite where the bound is positive.
    """
    good = np.isfinite(S.mid).all(axis=(-1, -2))
    mid = np.where(good[..., None, None], S.mid, 0.0)
    _, vectors = np.linalg.eigh(_symmetric(mid))
    V = exactly(vectors)
    half = product(V.T, Known(mid, S.rad))
    C = product(half, V)
    G = product(V.T, V)
    below = _discs(C)
    shortest = _discs(G)
    longest = row_sums(G).max(axis=-1)
    size = np.where(below >= 0, longest, shortest)
    with np.errstate(all="ignore"):
        found = below / size
        found = found - 4 * UNIT * np.abs(found)
    sure = good & (shortest > 0) & np.isfinite(found)
    return np.where(sure, found, -np.inf)


def _symmetric(A: np.ndarray) -> np.ndarray:
    """The symmetric parts."""
    return 0.5 * (A + _turned(A))


def _discs(C: Known) -> np.ndarray:
    """Lower bounds of min_i (C_ii − Σ_j≠i |C_ij|): Gershgorin's discs."""
    n = C.mid.shape[-1]
    diagonal = np.einsum("...ii->...i", C.mid)
    inner = np.einsum("...ii->...i", C.rad)
    apart = 1 - np.eye(n)
    most = np.abs(C.mid) * apart + C.rad
    others = most.sum(axis=-1) - inner
    others = _up(others + 2 * n * UNIT * inner + inner, n + 4)
    found = diagonal - others
    rounded = 2 * UNIT * np.abs(found)
    return (found - rounded).min(axis=-1)


class Family(NamedTuple):
    """What bounds ‖A + ½ Σ z_i B_i‖₂ for all |z| ≤ ρ: the squares AᵀA, a root R ≽ (Σ S_i²)^½, and ‖Σ B_iᵀB_i‖."""

    squares: Known
    root: Known
    second: np.ndarray


def family(A: Known, B: Known) -> Family:
    """A (…, m, n), B (…, r, m, n), whose radii count.

    With S_i = AᵀB_i + B_iᵀA and |z| ≤ ρ: Σ z_i S_i ≼ |z| (Σ S_i²)^½ by Cauchy and Schwarz and because the square root of
    matrices is monotone. The root is one of floats, lifted until R² ≽ Σ S_i² is seen.
    """
    slopes = product(_beside(A.T), B)
    S = total(slopes, slopes.T)
    power = _summed(product(S, S))
    curved = _summed(product(B.T, B))
    return Family(product(A.T, A), _root(power), greatest(curved))


def _beside(A: Known) -> Known:
    mid = A.mid[..., None, :, :]
    rad = A.rad[..., None, :, :]
    return Known(mid, rad)


def _summed(terms: Known) -> Known:
    """Σ_i of the matrices terms_i (…, r, m, n)."""
    r = terms.mid.shape[-3]
    sizes = np.abs(terms.mid).sum(axis=-3)
    rounded = sizes * (r + 2) * UNIT
    rad = terms.rad.sum(axis=-3) + rounded
    return Known(terms.mid.sum(axis=-3), _up(rad, r + 4))


def _root(power: Known) -> Known:
    """R symmetric with R² ≽ every matrix in power (positive semidefinite): lifted by what floats and radii leave open."""
    values, V = np.linalg.eigh(_symmetric(power.mid))
    largest = np.abs(values).max(axis=-1)
    left_open = _crude(power.rad) + 1e-13 * largest + LEAST
    negative = Known(-power.mid, power.rad)
    for lift in (2.0, 64.0, 4096.0):
        lifted = np.maximum(values, 0.0) + lift * left_open[..., None]
        lengths = np.sqrt(lifted)[..., None, :]
        root = (V * lengths) @ _turned(V)
        R = exactly(_symmetric(root))
        margin = least(total(product(R, R), negative))
        seen = (margin >= 0) & (least(R) >= 0)
        if seen.all():
            return R
    rad = np.where(seen[..., None, None], 0.0, np.inf)
    return Known(R.mid, rad)


def norm_of(members: Family, ρ: float | np.ndarray) -> np.ndarray:
    """Upper bounds of ‖A + ½ Σ z_i B_i‖₂ over |z| ≤ ρ: √(λ_max(AᵀA + ρ/2 R) + ρ²/4 ‖Σ B_iᵀB_i‖)."""
    half = np.asarray(ρ, float) / 2
    slope = scaled(half[..., None, None], members.root)
    first = greatest(total(members.squares, slope))
    second = _up(half * half * members.second, 4)
    square = np.maximum(first + second, 0.0)
    return _up(np.sqrt(square), 4)
