"""Coordinates w = X e in which the fast modes of a matrix A stand alone: Λ ≈ X A X⁻¹.

    Λ = diag(Λ_s, fast),  fast: a, or [[a, b], [−b, a]] of two mates       |exp(fast s)| = e^{as},  logarithmic norm a

Any X and Λ will do: what XA − ΛX is not zero by is part of the bounds. So they are floats, from eigenvectors; X⁻¹ alone is
enclosed. The slow coordinates are what is left of as many states when the fast modes are taken out.

Source: [Soderlind06] for logarithmic norms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import interval as iv
from .balls import UNIT, Balls, up
from .interval import Interval

FAST = 1.0  # |λ| h of a mode that is taken out
FLOOR = 1e-12


@dataclass(frozen=True, eq=False)
class Frame:
    """X, an enclosure T of X⁻¹, and Λ: the first `slow` coordinates are slow; a, b, mate of the others, one row a run."""

    X: np.ndarray
    T: Balls
    Λ: np.ndarray
    slow: int
    a: np.ndarray
    b: np.ndarray
    mate: np.ndarray

    def joined(self, v: np.ndarray) -> np.ndarray:
        """Bounds of every coordinate's size; of two mates both get the length of the pair."""
        fast = v[:, self.slow :]
        other = np.take_along_axis(fast, self.mate, axis=-1)
        alone = self.mate == np.arange(self.mate.shape[-1])
        return np.concatenate(
            [v[:, : self.slow], np.where(alone, fast, np.hypot(fast, other))], axis=-1
        )

    def stays(self, h: float) -> np.ndarray:
        """Bounds of ∫_0^h e^{μτ}dτ, μ the logarithmic norm of every coordinate's block."""
        own = np.diagonal(self.Λ, axis1=1, axis2=2)
        μ = np.concatenate([own[:, : self.slow], self.a], axis=-1)
        falling = np.minimum(h, 1 / np.where(μ < 0, -μ, 1.0))
        return up(np.where(μ < 0, falling, h * np.exp(np.maximum(μ, 0.0) * h)))

    def defect(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Bounds of |XJ − ΛX| for every J with |J − A| ≤ D."""
        left = Balls.exact(self.X) @ Balls.exact(A)
        right = Balls.exact(self.Λ) @ Balls.exact(self.X)
        off = np.abs(left.mid - right.mid) * (1 + UNIT) + left.rad + right.rad
        return up(off + np.abs(self.X) @ D)

    def exponential(self, h: float) -> tuple[Interval, Interval]:
        """e^{ah} cos bh and e^{ah} sin bh of the fast coordinates."""
        step = Interval(h * (1 - 4 * UNIT), h * (1 + 4 * UNIT))
        size = iv.exp(Interval(self.a) * step)
        angle = Interval(self.b) * step
        return size * iv.cos(angle), size * iv.sin(angle)


def framed(A: np.ndarray, sizes: np.ndarray, h: float) -> Frame:
    """The frame of matrices A (rows, n, n), scaled so that states of these sizes make coordinates of about one."""
    rows, n, _ = A.shape
    sizes = np.where(np.isfinite(sizes), sizes, 1.0)
    λ, right = modes(A)
    many = int((np.abs(λ) * h > FAST).sum(axis=-1).max(initial=0))
    while 0 < many < n and (λ[:, many - 1].imag > 0).any():
        many += 1
    λ = λ[:, :many]
    sizes = np.maximum(sizes, FLOOR * sizes.max(axis=-1, keepdims=True) * FLOOR) + 1e-200
    X = np.broadcast_to(np.eye(n), A.shape)
    if many:
        X = separated(modes(np.swapaxes(A, 1, 2))[1][..., :many], right[..., :many])
    own = np.abs(X) @ sizes[..., None]
    place = np.arange(many)
    mate = place + np.where(λ.imag > 0, 1, np.where(λ.imag < 0, -1, 0))
    mate = np.clip(mate, 0, max(many - 1, 0))
    paired = np.take_along_axis(λ, mate, axis=-1) == λ.conj()
    mate = np.where(paired, mate, place)
    λ = np.where(paired, λ, λ.real)
    fast = own[:, n - many :, 0]
    fast = np.maximum(fast, np.take_along_axis(fast, mate, axis=-1))
    X = X / np.concatenate([own[:, : n - many, 0], fast], axis=-1)[..., None]
    T = dual(X)
    Λ = np.zeros_like(A)
    s = n - many
    Λ[:, :s, :s] = (X @ A @ T.mid)[:, :s, :s]
    at = np.arange(rows)[:, None]
    Λ[at, s + place, s + mate] = λ.imag
    Λ[at, s + place, s + place] = λ.real
    return Frame(X, T, Λ, s, λ.real.copy(), λ.imag.copy(), mate)


def modes(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, the largest first, and a real basis of their eigenvectors: v, or Re v and Im v of two mates."""
    λ, V = np.linalg.eig(A)
    λ = λ.astype(complex)
    order = np.argsort(-np.abs(λ), axis=-1, kind="stable")
    λ = np.take_along_axis(λ, order, axis=-1)
    V = np.take_along_axis(V.astype(complex), order[:, None, :], axis=-1)
    return λ, np.where(λ.imag[:, None, :] < 0, -V.imag, V.real)


def separated(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """X from bases of the fast modes' left and right spaces."""
    n, many = right.shape[1:]
    L = np.swapaxes(left, 1, 2)
    fast = each(np.linalg.solve, L @ right, L)
    rest = np.eye(n) - right @ fast
    share = np.diagonal(rest, axis1=1, axis2=2)
    kept = np.sort(np.argsort(-share, axis=-1, kind="stable")[:, : n - many], axis=-1)
    return np.concatenate([np.take_along_axis(rest, kept[..., None], axis=1), fast], axis=1)


def dual(X: np.ndarray) -> Balls:
    """X⁻¹ = T(XT)⁻¹, so |X⁻¹ − T| ≤ |T| η/(1 − η) with ‖XT − 1‖ ≤ η, every entry of a matrix being at most its norm."""
    T = each(np.linalg.inv, X)
    product = Balls.exact(X) @ Balls.exact(T)
    off = Balls(
        product.mid - np.eye(X.shape[-1]), up(product.rad + UNIT * (np.abs(product.mid) + 1))
    )
    η = up(np.sqrt(np.sum(off.size**2, axis=(-1, -2))))
    share = np.where(η < 0.5, η / (1 - np.minimum(η, 0.5)), np.inf)
    whole = np.abs(T).sum(axis=-1, keepdims=True) * share[:, None, None]
    return Balls(T, up(np.broadcast_to(whole, T.shape)))


def each(solver, *given: np.ndarray) -> np.ndarray:
    """A solver of linear equations row by row; not a number, which proves nothing, where a matrix is singular."""
    try:
        return solver(*given)
    except np.linalg.LinAlgError:
        return np.stack([_alone(solver, *row) for row in zip(*given)])


def _alone(solver, *given: np.ndarray) -> np.ndarray:
    try:
        return solver(*given)
    except np.linalg.LinAlgError:
        return np.full_like(given[-1], np.nan)
