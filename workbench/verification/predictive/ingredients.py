"""What a predictive controller's stability argument is about, as plain matrices, and helpers to make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.rigorous.exact import Dyadic


@final
@dataclass(frozen=True, eq=False)
class TerminalIngredients:
    """What the argument is about. Law u = −K x; rows E x + F u ≤ g; terminal set H x ≤ h, or {xᵀPx ≤ level}, or neither.

    Slew limits: let x hold the last command, (x, u_{−1}), and Δu = u − u_{−1} be a row of E and F (`with_slew`).
    Matrices are arrays or `Dyadic` (a product such as CᵀQC, exactly). blocks: samples each move lasts, None: one each.
    lost: hypotheses of the theorem that the controller does not meet, in words. Raises InputError where shapes disagree.
    """

    A: object
    B: object
    Q: object
    R: object
    P: np.ndarray
    K: np.ndarray
    N: int
    E: np.ndarray
    F: np.ndarray
    g: np.ndarray
    H: np.ndarray | None = None
    h: np.ndarray | None = None
    S: object = None
    level: float | None = None
    blocks: tuple[int, ...] | None = None
    lost: tuple[str, ...] = ()

    def __post_init__(self):
        n, m = Dyadic.of(self.B).shape
        if self.S is None:
            object.__setattr__(self, "S", np.zeros((n, m)))
        g = np.atleast_1d(np.asarray(self.g, float))
        shapes = {
            "A": (n, n),
            "Q": (n, n),
            "R": (m, m),
            "P": (n, n),
            "K": (m, n),
            "S": (n, m),
            "E": (len(g), n),
            "F": (len(g), m),
        }
        if self.H is not None:
            shapes["H"] = (len(np.atleast_1d(self.h)), n)
        for name, shape in shapes.items():
            found = Dyadic.of(getattr(self, name)).shape if len(g) or name not in "EF" else shape
            if found != shape:
                raise InputError(
                    f"terminal ingredients: {name} is {found}, expected {shape}",
                    key=name,
                    mend="A n×n, B n×m, Q n×n, R m×m, P n×n, K m×n with u = −K x, E x + F u ≤ g, H x ≤ h",
                )
        ends = [g, *([] if self.h is None else [np.asarray(self.h, float)])]
        if not all(np.isfinite(e).all() for e in ends):
            raise InputError(
                "terminal ingredients: a limit is not a number",
                key="g",
                mend="leave infinite limits out",
            )
        if self.N < 1 or (
            self.blocks is not None and (sum(self.blocks) != self.N or min(self.blocks) < 1)
        ):
            raise InputError(
                f"horizon {self.N}, blocks {self.blocks}",
                key="N",
                mend="blocks add up to the horizon",
            )

    @property
    def closed(self) -> Dyadic:
        """A − B K, exactly."""
        return Dyadic.of(self.A) - Dyadic.of(self.B) @ self.K

    @property
    def stage(self) -> Dyadic:
        """[Q, S; Sᵀ, R]."""
        return Dyadic.block([[self.Q, self.S], [Dyadic.of(self.S).T, self.R]])

    @property
    def rows(self) -> Dyadic:
        """E − F K: limits under the terminal law."""
        return Dyadic.of(self.E) - Dyadic.of(self.F) @ self.K


def with_slew(A, B, u_min, u_max, slew, C=None, y_min=None, y_max=None):
    """(A, B, E, F, g) on (x, u_{−1}) with limits on u, on u − u_{−1} (a sample) and on y = C x; infinite ones left out."""
    A = np.atleast_2d(A)
    B = np.atleast_2d(B)
    n, m = B.shape
    one = np.eye(m)
    none = np.zeros((m, n + m))
    own = np.hstack([np.zeros((m, n)), one])
    slew = np.broadcast_to(np.asarray(slew, float), (m,))
    parts = [(none, one, u_max, u_min), (-own, one, slew, -slew)]
    if C is not None:
        C = np.atleast_2d(C)
        parts.append((np.hstack([C, np.zeros((len(C), m))]), np.zeros((len(C), m)), y_max, y_min))
    E = []
    F = []
    g = []
    for e, f, high, low in parts:
        for sign, limit in ((1.0, high), (-1.0, low)):
            limit = np.broadcast_to(np.asarray(limit, float), (len(e),)) * sign
            keep = np.isfinite(limit)
            E = [*E, *(sign * e[keep])]
            F = [*F, *(sign * f[keep])]
            g = [*g, *limit[keep]]
    return (
        np.block([[A, np.zeros((n, m))], [np.zeros((m, n + m))]]),
        np.vstack([B, one]),
        np.array(E).reshape(-1, n + m),
        np.array(F).reshape(-1, m),
        np.array(g),
    )


def strict_terminal_cost(A, B, Q, R, K, S=None, ε: float = 1e-7) -> np.ndarray:
    """P of the terminal law's own cost, a share ε larger, so that its fall by ℓ survives rounding (Riccati's P does not)."""
    from scipy.linalg import solve_discrete_lyapunov

    A, B, Q, R, K = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, Q, R, K))
    S = np.zeros(B.shape) if S is None else np.asarray(S, float)
    own = A - B @ K
    W = Q - S @ K - K.T @ S.T + K.T @ R @ K
    P = solve_discrete_lyapunov(own.T, W)
    # States in units in which P has ones on its diagonal.
    d = np.sqrt(np.maximum(np.diag(P), 1e-12 * np.diag(P).max()))
    P = solve_discrete_lyapunov((own * d[:, None] / d).T, W / d / d[:, None] + ε * np.eye(len(d)))
    return (P + P.T) / 2 * (d * d[:, None])
