"""Terminal sets: where the terminal law keeps every limit for ever.

    δ⁺ = A_K δ,   O = {δ: |M_i A_Kᵗ δ| ≤ b_i for all t ≥ 0},   δ = ξ − ξ_s

Deviations from a steady state: limits are narrowed to the share `1 − room` of their range, so the set serves every target
that stays within `room` of the middle. O is found by adding t until linear programmes show the next rows to be implied.

Source: [GilbertTan91].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.contract.errors import InputError

LONGEST = 400  # samples
SLACK = 1e-9  # by which a linear programme may overstep, relative to the limit


@dataclass(frozen=True, eq=False)
class Terminal:
    """Cost δᵀPδ, law u − u_s = −K δ, closed loop A_K on δ = (x, u_{−1}) − (x_s, u_s), and the set H δ ≤ h.

    M, b: limits |M δ| ≤ b that hold inside; level: largest γ with {δᵀPδ ≤ γ} inside them (an invariant ellipsoid)
    """

    P: np.ndarray
    K: np.ndarray
    A_K: np.ndarray
    H: np.ndarray
    h: np.ndarray
    M: np.ndarray
    b: np.ndarray
    room: float

    @property
    def level(self) -> float:
        """γ = min b²/(m P⁻¹ mᵀ)."""
        if not len(self.b):
            return np.inf
        d = np.sqrt(np.maximum(np.diag(self.P), 1e-300))
        S = np.linalg.pinv(self.P / d[:, None] / d, hermitian=True)
        M = self.M / d
        return float((self.b**2 / np.einsum("ij,jk,ik->i", M, S, M)).min())


def largest(M, b, c, H, h) -> float:
    """Maximum of c δ over |M δ| ≤ b, H δ ≤ h; ∞ where it is unbounded, and where the solver ends without an answer.

    The answer ∞ is on the safe side: callers drop a row c only where the others imply it, and keeping a row too many is harmless.
    """
    from scipy.optimize import linprog

    A = np.vstack([M, -M, H]) if len(H) else np.vstack([M, -M])
    found = linprog(
        -c,
        A_ub=A,
        b_ub=np.concatenate([b, b, h]) if len(H) else np.concatenate([b, b]),
        bounds=(None, None),
        method="highs",
    )
    return float(-found.fun) if found.status == 0 else np.inf


def admissible(A_K, M, b) -> tuple[np.ndarray, np.ndarray]:
    """(H, h) of the largest set with |M A_Kᵗ δ| ≤ b for all t ≥ 0, without rows the others imply.

    Raises InputError for limits that leave no room, or when it is not determined after LONGEST samples.
    """
    if not len(b):
        return np.zeros((0, len(A_K))), np.zeros(0)
    if not (b > 0).all():
        raise InputError(
            "terminal set: a limit leaves no room around the steady states",
            mend="a smaller `room`, or wider limits",
        )
    scale = _sizes(A_K, M, b)
    A_K = A_K / scale[:, None] * scale
    rows = M / b[:, None] * scale
    kept = rows
    for _ in range(LONGEST):
        rows = rows @ A_K
        new = [row for row in rows if largest(kept, np.ones(len(kept)), row, [], []) > 1 + SLACK]
        if not new:
            kept = _needed(kept) / scale
            return np.vstack([kept, -kept]), np.ones(2 * len(kept))
        kept = np.vstack([kept, new])
    raise InputError(
        f"terminal set: not determined after {LONGEST} samples",
        mend="a longer sample time, or a terminal law that settles faster (larger Q)",
    )


def _sizes(A_K, M, b) -> np.ndarray:
    """A size of each state within the limits, by which the linear programmes are scaled."""
    seen = np.zeros(len(A_K))
    rows = M / b[:, None]
    for _ in range(2 * len(A_K)):
        seen = np.maximum(seen, np.abs(rows).max(axis=0))
        rows = rows @ A_K
    return 1 / np.where(seen > 0, seen, 1.0)


def _needed(rows) -> np.ndarray:
    """Rows of |rows δ| ≤ 1 that the others do not imply."""
    i = 0
    while i < len(rows):
        rest = np.delete(rows, i, axis=0)
        if len(rest) and largest(rest, np.ones(len(rest)), rows[i], [], []) <= 1 + SLACK:
            rows = rest
        else:
            i += 1
    return rows


def overshoot(A_K, H, h) -> float:
    """max over the set of max_i (H A_K δ − h)_i / h_i: at most 0 when the set is invariant."""
    none = np.zeros((0, len(A_K)))
    return max(
        (largest(none, np.zeros(0), row, H, h) / edge - 1 for row, edge in zip(H @ A_K, h)),
        default=0.0,
    )
