"""Sets of deviations that go from sample to sample: sums of segments and of a ball.

    Z = {G ζ + B u : |ζ_i| ≤ 1, |u| ≤ 1}         max of c e over Z = Σ_j |(c G)_j| + |c B|

A linear map moves both matrices; what is added within bounds is one segment more a state. Nothing is enclosed anew, so that
nothing wraps. Where there are too many segments, the shortest of them become one a principal axis, but for those of the start,
which are kept (a parallelotope V; what X misses of V⁻¹ is added).

    fl(M G) − M G, row by row, summed over the columns   ≤ γ |M| Σ_j |G_j|,  γ = (n + 2) 2⁻⁵²

Source: [Girard05] for zonotopes; [Rump10] for the rounding of products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .balls import UNIT, Balls, norm, up

MOST = 1000  # segments that are kept
FLAT = 1e-24  # of the largest, squared: as long an axis is at least


@dataclass(eq=False)
class Deviations:
    """Segments G (n, ·), of which the first `kept` are never merged, and the ball B (n, n)."""

    G: np.ndarray
    kept: int
    B: np.ndarray

    @staticmethod
    def box(G: np.ndarray, extra: np.ndarray) -> Deviations:
        """Segments, and `extra` a state besides."""
        n = len(G)
        return Deviations(np.hstack([G, np.diag(extra)]), G.shape[1], np.zeros((n, n)))

    @property
    def reach(self) -> np.ndarray:
        """|e_i| at most."""
        return up(np.abs(self.G).sum(axis=1) + np.sqrt((self.B**2).sum(axis=1)))

    def along(self, L: np.ndarray, off: np.ndarray) -> np.ndarray:
        """max |l e| of every row l of a matrix that L is within `off` of."""
        reach = self.reach
        lost = off + (L.shape[1] + 2) * UNIT * np.abs(L)
        straight = np.abs(L @ self.G).sum(axis=1)
        return up(straight + np.sqrt(((L @ self.B) ** 2).sum(axis=1)) + lost @ reach)

    def moved(self, M: np.ndarray, off: np.ndarray, added: np.ndarray) -> None:
        """e → M' e + a with |M' − M| ≤ off, |a| ≤ added."""
        lost = off + (M.shape[1] + 2) * UNIT * np.abs(M)
        exact = unchanged(M, off) & (added == 0)
        more = np.where(exact, 0.0, up(added + lost @ self.reach))
        self.G = np.hstack([M @ self.G, np.diag(more)])
        self.B = M @ self.B

    def merged(self) -> None:
        """The shortest segments as one an axis, if there are too many: H = V X H + (1 − V X) H. Kept ones stay."""
        many = self.G.shape[1] - MOST
        if many <= 0:
            return
        H = self.G[:, self.kept :]
        length = np.abs(axes(H)[1] @ H).sum(axis=0)
        order = np.argsort(length, kind="stable")
        short = order[: many + MOST // 2]
        long = np.sort(order[many + MOST // 2 :])
        self.G = np.hstack([self.G[:, : self.kept], H[:, long], *enclosed(H[:, short])])

    def within(self, segments: np.ndarray, ball: np.ndarray, X: np.ndarray) -> float:
        """The share of V that holds what is not in the segments G and the ball beside it, segments = [G V], X = V⁻¹ or near it.

        e = Gζ + Bu + w,  w = (G_own − G)ζ + (B_own − B)u + Hζ',  in {Vy : |y_i| ≤ share} since V⁻¹w = (XV)⁻¹ Xw.
        """
        n = len(self.G)
        G, V = segments[:, :-n], segments[:, -n:]
        many = min(self.kept, G.shape[1])
        H = np.hstack([self.G[:, :many] - G[:, :many], self.G[:, many:]])
        round_part = self.B - ball
        sums = np.abs(self.G).sum(axis=1) + np.abs(G).sum(axis=1)
        sums += np.abs(self.B).sum(axis=1) + np.abs(ball).sum(axis=1)
        far = np.abs(X @ H).sum(axis=1) + np.sqrt(((X @ round_part) ** 2).sum(axis=1))
        far += 2 * (n + 2) * UNIT * np.abs(X) @ sums
        whole = Balls.exact(X) @ Balls.exact(V)
        off = up(whole.rad + np.abs(whole.mid - np.eye(n)) + UNIT * (np.abs(whole.mid) + 1))
        η = float(off.sum(axis=1).max()) * (1 + 1e-12)
        return float(up(far).max() / (1 - η) * (1 + 1e-12)) if η < 0.5 else np.inf

    def measured(self, X: np.ndarray) -> tuple[float, float]:
        """Bounds of |X e|: what the ball gives, and what the segments give, row by row."""
        straight = Deviations(self.G, self.kept, np.zeros_like(self.B))
        rows = straight.along(X, np.zeros_like(X))
        round_part = norm(Balls.exact(X[None]) @ Balls.exact(self.B[None]))[0]
        return float(round_part), float(up(np.sqrt((rows**2).sum())))


def reciprocal(V: np.ndarray) -> np.ndarray:
    """Nearly the inverses of square matrices, whatever the units of their rows; not numbers where there are none."""
    size = np.abs(V).max(axis=-1, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    with np.errstate(all="ignore"):
        try:
            return np.linalg.inv(V / size) / np.swapaxes(size, -1, -2)
        except np.linalg.LinAlgError:
            return np.full_like(V, np.nan)


def axes(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(V, X ≈ V⁻¹): the principal axes of segments, in units in which their sums are alike. Any will do."""
    size = np.abs(H).sum(axis=1)
    size = np.where(size > 0, size, 1.0)
    scaled = H / size[:, None]
    length = np.sqrt((scaled**2).sum(axis=0)) + FLAT
    λ, U = np.linalg.eigh((scaled / length) @ scaled.T)
    long = np.sqrt(np.maximum(λ, FLAT * λ.max(initial=FLAT)))
    return size[:, None] * U * long, U.T / long[:, None] / size


def unchanged(M: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Rows of a matrix that take a coordinate as it is: one entry is 1, known exactly, and the others are 0."""
    return (off == 0).all(axis=1) & (np.count_nonzero(M, axis=1) == 1) & (M == 1).any(axis=1)


def enclosed(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Segments whose sum holds that of H: one an axis, and one a state for what X misses and rounding; rows of 0 stay so."""
    some = H.any(axis=1)
    found = np.zeros((2, len(H), int(some.sum())))
    if some.any():
        found[:, some] = turned(H[some])
    return found[0], found[1]


def turned(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of segments that move every state."""
    V, X = axes(H)
    n = len(V)
    sums = up(np.abs(H).sum(axis=1))
    widths = up(np.abs(X @ H).sum(axis=1) + (n + 2) * UNIT * np.abs(X) @ sums)
    whole = Balls.exact(V) @ Balls.exact(X)
    left = up(whole.rad + np.abs(whole.mid - np.eye(n)) + UNIT * (np.abs(whole.mid) + 1))
    lost = up(left @ sums + 2 * UNIT * np.abs(V) @ widths)
    return V * widths, np.diag(lost)
