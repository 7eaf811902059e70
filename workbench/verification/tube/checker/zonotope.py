"""Sets of deviations that go from sample to sample: sums of segments and of a ball.

    Z = {G ζ + B u : |ζ_i| ≤ 1, |u| ≤ 1}         max of c e over Z = Σ_j |(c G)_j| + |c B|

A linear map moves both matrices; what is added within bounds is one segment more a state. Nothing is enclosed anew, so that
nothing wraps. Where there are too many segments, those of the start are kept, and of the others those that lie nearly along
another, h, are taken to it. What they have across is enclosed in one segment a principal axis (a parallelotope V; what X misses
of V⁻¹ is added):

    g_jζ_j = α_j h ζ_j + (g_j − α_j h)ζ_j,         hζ + Σ α_j h ζ_j ⊂ (1 + Σ|α_j|) hζ'

    fl(M G) − M G, row by row, summed over the columns   ≤ γ |M| Σ_j |G_j|,  γ = (n + 2) 2⁻⁵²

Source: [Girard05] for zonotopes; [Rump10] for the rounding of products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .balls import ENLARGED, UNIT, Balls, above_identity, norm, up

MOST = 1000  # segments that are kept
LEFT = 0.7  # share of these: what merging leaves
FLAT = 1e-24  # share of the largest, squared: as long an axis is at least


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
        return up(row_sums(self.G) + row_lengths(self.B))

    def along(self, L: np.ndarray, off: np.ndarray) -> np.ndarray:
        """max |l e| of every row l of a matrix that L is within `off` of."""
        lost = off + rounding(L)
        straight = row_sums(L @ self.G)
        round_part = row_lengths(L @ self.B)
        return up(straight + round_part + lost @ self.reach)

    def moved(self, M: np.ndarray, off: np.ndarray, added: np.ndarray) -> None:
        """e → M' e + a with |M' − M| ≤ off, |a| ≤ added."""
        lost = off + rounding(M)
        moves = ~(unchanged(M, off) & (added == 0))
        most = up(added + lost @ self.reach)
        self.G = np.hstack([M @ self.G, np.diag(most)[:, moves]])
        self.B = M @ self.B

    def merged(self) -> None:
        """Fewer segments, if there are too many: those nearly along others are taken to these. Kept ones stay."""
        if self.G.shape[1] <= MOST:
            return
        first = self.G[:, : self.kept]
        H = self.G[:, self.kept :]
        heads = spread_out(H, max(int(LEFT * MOST) - 2 * len(H), 1))
        self.G = np.hstack([first, *gathered(H, heads)])

    def within(self, G: np.ndarray, ball: np.ndarray, X: np.ndarray) -> float:
        """The share of a ball that holds what is not in the segments G beside it, X = ball⁻¹ or near it.

        e = Gζ + w,  w = (G_own − G)ζ + Bu + Hζ',  in {ball v : |v| ≤ share} since ball⁻¹w = (X ball)⁻¹ Xw.
        """
        many = min(self.kept, G.shape[1])
        shifted = self.G[:, :many] - G[:, :many]
        H = np.hstack([shifted, self.G[:, many:]])
        sums = row_sums(self.G) + row_sums(G) + row_sums(self.B)
        lost = 2 * rounding(X) @ sums
        with np.errstate(all="ignore"):
            far = longest(X @ H, X @ self.B) + np.sqrt((lost**2).sum())
        η = float(np.sqrt((off_identity(X, ball) ** 2).sum())) * ENLARGED
        if not η < 0.5:
            return np.inf
        return float(up(far) / (1 - η) * ENLARGED)

    def measured(self, X: np.ndarray) -> tuple[float, float]:
        """Bounds of |X e|: what the ball gives, and what the segments give, row by row."""
        no_ball = np.zeros_like(self.B)
        straight = Deviations(self.G, self.kept, no_ball)
        rows = straight.along(X, np.zeros_like(X))
        length = np.sqrt((rows**2).sum())
        product = Balls.exact(X[None]) @ Balls.exact(self.B[None])
        round_part = norm(product)[0]
        return float(round_part), float(up(length))


def longest(H: np.ndarray, B: np.ndarray) -> float:
    """Bounds of |Hζ + Bu|, |ζ_j| ≤ 1, |u| ≤ 1: with any p_j > 0, P their sum, and S = Σ_j h_jh_jᵀ/p_j + BBᵀ/p_0

        |Hζ + Bu|² ≤ P λ_max(S),   λ_max(S) ≤ ‖VᵀSV‖/(1 − ‖VᵀV − 1‖) by row sums, for any V

    (Cauchy and Schwarz). Sums of m products are off by less than 4m 2⁻⁵² of those of their sizes, which the trace of S bounds.
    """
    lengths = np.sqrt((H**2).sum(axis=0))
    p = positive(lengths)
    whole = np.sqrt((B**2).sum())
    S = (H / p) @ H.T + B @ B.T / positive(whole)
    if not np.isfinite(S).all():
        return np.inf
    V = np.linalg.eigh(S)[1]
    turned = row_sums(V.T @ S @ V).max()
    rounded = 4 * UNIT * len(S) * (H.shape[1] + 4 * len(S)) * np.trace(S)
    η = float(above_identity(V))
    if not η < 0.5:
        return np.inf
    return float(np.sqrt((lengths.sum() + whole) * (turned + rounded) / (1 - η)) * ENLARGED)


def row_sums(M: np.ndarray) -> np.ndarray:
    """The sum of every row's entries, in absolute value."""
    return np.abs(M).sum(axis=1)


def row_lengths(M: np.ndarray) -> np.ndarray:
    """The Euclidean length of every row."""
    return np.sqrt((M**2).sum(axis=1))


def rounding(M: np.ndarray) -> np.ndarray:
    """γ |M|: what a product with M is off by at most, per unit of the other factor."""
    γ = (M.shape[1] + 2) * UNIT
    return γ * np.abs(M)


def off_identity(V: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Bounds of |V X − 1|, entry by entry."""
    product = Balls.exact(V) @ Balls.exact(X)
    apart = np.abs(product.mid - np.eye(len(V)))
    lost = UNIT * (np.abs(product.mid) + 1)
    return up(product.rad + apart + lost)


def reciprocal(V: np.ndarray) -> np.ndarray:
    """Nearly the inverses of square matrices, whatever the units of their rows; not numbers where there are none."""
    largest = np.abs(V).max(axis=-1, keepdims=True)
    size = positive(largest)
    with np.errstate(all="ignore"):
        try:
            scaled = np.linalg.inv(V / size)
            return scaled / np.swapaxes(size, -1, -2)
        except np.linalg.LinAlgError:
            return np.full_like(V, np.nan)


def axes(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(V, X ≈ V⁻¹): the principal axes of segments, in units in which their sums are alike. Any will do."""
    size = positive(row_sums(H))
    scaled = H / size[:, None]
    squares = (scaled**2).sum(axis=0)
    length = np.sqrt(squares) + FLAT
    weighted = scaled / length
    λ, U = np.linalg.eigh(weighted @ scaled.T)
    least = FLAT * λ.max(initial=FLAT)
    long = np.sqrt(np.maximum(λ, least))
    V = size[:, None] * U * long
    X = U.T / long[:, None] / size
    return V, X


def positive(size: np.ndarray) -> np.ndarray:
    """These sizes, 1 in the place of 0: what they divide stays as it is."""
    return np.where(size > 0, size, 1.0)


def unchanged(M: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Rows of a matrix that take a coordinate as it is: one entry is 1, known exactly, and the others are 0."""
    known = (off == 0).all(axis=1)
    single = np.count_nonzero(M, axis=1) == 1
    one = (M == 1).any(axis=1)
    return known & single & one


def spread_out(H: np.ndarray, many: int) -> np.ndarray:
    """Which so many segments to keep, so that what others have across the nearest of them is small: the farthest, one by one."""
    _, X = axes(H)
    scaled = X @ H
    squares = (scaled**2).sum(axis=0)
    unit = scaled / np.sqrt(positive(squares))
    across = squares.copy()
    found = []
    for _ in range(min(many, H.shape[1])):
        farthest = int(across.argmax())
        along = unit[:, farthest] @ unit
        across = np.minimum(across, squares * (1 - along**2))
        across[farthest] = -1.0
        found.append(farthest)
    return np.sort(found)


def gathered(H: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segments whose sum holds that of H: these of them, longer, one an axis, and one a state for what was rounded."""
    others = np.delete(H, heads, axis=1)
    kept = H[:, heads]
    nearest, α = shares(others, kept)
    along = kept[:, nearest] * α
    longer = np.ones(len(heads))
    np.add.at(longer, nearest, np.abs(α))
    longer = kept * up(longer)
    lost = 4 * UNIT * (row_sums(others) + row_sums(along) + row_sums(longer))
    some = lost > 0
    return longer, *enclosed(np.hstack([others - along, np.diag(up(lost))[:, some]]))


def shares(others: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(which kept segment is nearest, α) of every other one: in coordinates in which their sum is alike along all axes."""
    _, X = axes(np.hstack([others, kept]))
    a = X @ others
    b = X @ kept
    squares = positive((b**2).sum(axis=0))
    products = (b / np.sqrt(squares)).T @ a
    nearest = np.abs(products).argmax(axis=0)
    chosen = products[nearest, np.arange(a.shape[1])]
    return nearest, chosen / np.sqrt(squares[nearest])


def enclosed(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Segments whose sum holds that of H: one an axis, and one a state for what X misses and rounding; rows of 0 stay so."""
    some = H.any(axis=1)
    n = len(H)
    per_axis = np.zeros((n, int(some.sum())))
    per_state = np.zeros_like(per_axis)
    if some.any():
        per_axis[some], per_state[some] = turned(H[some])
    return per_axis, per_state


def turned(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `enclosed` gives, of segments that move every state."""
    V, X = axes(H)
    sums = up(row_sums(H))
    widths = row_sums(X @ H) + rounding(X) @ sums
    widths = up(widths)
    missed = off_identity(V, X) @ sums
    lost = 2 * UNIT * np.abs(V) @ widths
    return V * widths, np.diag(up(missed + lost))
