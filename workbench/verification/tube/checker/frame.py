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
from .balls import UNIT, Balls, frobenius, less_identity, up
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
        slow = v[:, : self.slow]
        fast = v[:, self.slow :]
        other = picked(fast, self.mate)
        alone = self.mate == np.arange(self.mate.shape[-1])
        pair = np.hypot(fast, other)
        return beside(slow, np.where(alone, fast, pair))

    def stays(self, h: float) -> np.ndarray:
        """Bounds of ∫_0^h e^{μτ}dτ, μ the logarithmic norm of every coordinate's block."""
        own = np.diagonal(self.Λ, axis1=1, axis2=2)
        μ = beside(own[:, : self.slow], self.a)
        falls = μ < 0
        within = np.where(falls, -μ, 1.0)
        falling = np.minimum(h, 1 / within)
        rising = np.exp(np.maximum(μ, 0.0) * h)
        return up(np.where(falls, falling, h * rising))

    def defect(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Bounds of |XJ − ΛX| for every J with |J − A| ≤ D."""
        left = Balls.exact(self.X) @ Balls.exact(A)
        right = Balls.exact(self.Λ) @ Balls.exact(self.X)
        apart = np.abs(left.mid - right.mid)
        off = apart * (1 + UNIT) + left.rad + right.rad
        return up(off + np.abs(self.X) @ D)

    def exponential(self, h: float) -> tuple[Interval, Interval]:
        """e^{ah} cos bh and e^{ah} sin bh of the fast coordinates."""
        least = h * (1 - 4 * UNIT)
        most = h * (1 + 4 * UNIT)
        step = Interval(least, most)
        size = iv.exp(Interval(self.a) * step)
        angle = Interval(self.b) * step
        return size * iv.cos(angle), size * iv.sin(angle)


def framed(A: np.ndarray, sizes: np.ndarray, h: float) -> Frame:
    """The frame of matrices A (rows, n, n), scaled so that states of these sizes make coordinates of about one."""
    n = A.shape[-1]
    λ, right = modes(A)
    many = fast_modes(λ, h)
    λ = λ[:, :many]
    X = np.broadcast_to(np.eye(n), A.shape)
    if many:
        _, left = modes(np.swapaxes(A, 1, 2))
        X = separated(left[..., :many], right[..., :many])
    mate, paired = mates(λ)
    λ = np.where(paired, λ, λ.real)
    X = X / coordinate_sizes(X, sizes, mate)[..., None]
    T = dual(X)
    Λ = blocks(X @ A @ T.mid, λ, mate)
    return Frame(X, T, Λ, n - many, λ.real.copy(), λ.imag.copy(), mate)


def fast_modes(λ: np.ndarray, h: float) -> int:
    """How many modes are taken out: as many as are fast in any row, and never one of two mates alone."""
    n = λ.shape[-1]
    fast = np.abs(λ) * h > FAST
    many = int(fast.sum(axis=-1).max(initial=0))
    while 0 < many < n and (λ[:, many - 1].imag > 0).any():
        many += 1
    return many


def mates(λ: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(place of every mode's mate, its own where it has none; whether it has one)."""
    many = λ.shape[-1]
    place = np.arange(many)
    step = np.where(λ.imag > 0, 1, np.where(λ.imag < 0, -1, 0))
    mate = np.clip(place + step, 0, max(many - 1, 0))
    paired = picked(λ, mate) == λ.conj()
    return np.where(paired, mate, place), paired


def coordinate_sizes(X: np.ndarray, sizes: np.ndarray, mate: np.ndarray) -> np.ndarray:
    """Sizes of the coordinates X e of states of these sizes; two mates have the larger one's."""
    sizes = np.where(np.isfinite(sizes), sizes, 1.0)
    largest = sizes.max(axis=-1, keepdims=True)
    sizes = np.maximum(sizes, FLOOR * largest * FLOOR) + 1e-200
    own = np.abs(X) @ sizes[..., None]
    slow = X.shape[-1] - mate.shape[-1]
    fast = own[:, slow:, 0]
    fast = np.maximum(fast, picked(fast, mate))
    return beside(own[:, :slow, 0], fast)


def blocks(near: np.ndarray, λ: np.ndarray, mate: np.ndarray) -> np.ndarray:
    """Λ of a matrix XAX⁻¹: its slow block as it is, then a block for every fast mode or two mates."""
    rows, n, _ = near.shape
    many = λ.shape[-1]
    slow = n - many
    Λ = np.zeros_like(near)
    Λ[:, :slow, :slow] = near[:, :slow, :slow]
    row = np.arange(rows)[:, None]
    place = slow + np.arange(many)
    Λ[row, place, slow + mate] = λ.imag
    Λ[row, place, place] = λ.real
    return Λ


def picked(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Of every row the values at these places."""
    return np.take_along_axis(values, place, axis=-1)


def beside(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Two tables as one, row by row."""
    return np.concatenate([left, right], axis=-1)


def modes(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, the largest first, and a real basis of their eigenvectors: v, or Re v and Im v of two mates."""
    λ, V = np.linalg.eig(A)
    λ = λ.astype(complex)
    order = np.argsort(-np.abs(λ), axis=-1, kind="stable")
    λ = picked(λ, order)
    V = picked(V.astype(complex), order[:, None, :])
    second = λ.imag[:, None, :] < 0
    return λ, np.where(second, -V.imag, V.real)


def separated(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """X from bases of the fast modes' left and right spaces."""
    n, many = right.shape[1:]
    L = np.swapaxes(left, 1, 2)
    fast = each(np.linalg.solve, L @ right, L)
    rest = np.eye(n) - right @ fast
    share = np.diagonal(rest, axis1=1, axis2=2)
    order = np.argsort(-share, axis=-1, kind="stable")
    kept = np.sort(order[:, : n - many], axis=-1)
    slow = np.take_along_axis(rest, kept[..., None], axis=1)
    return np.concatenate([slow, fast], axis=1)


def dual(X: np.ndarray) -> Balls:
    """X⁻¹ = T(XT)⁻¹, so |X⁻¹ − T| ≤ |T| η/(1 − η) with ‖XT − 1‖ ≤ η, every entry of a matrix being at most its norm."""
    T = each(np.linalg.inv, X)
    product = Balls.exact(X) @ Balls.exact(T)
    η = frobenius(less_identity(product))
    small = η < 0.5
    share = np.where(small, η / (1 - np.minimum(η, 0.5)), np.inf)
    sums = np.abs(T).sum(axis=-1, keepdims=True)
    whole = sums * share[:, None, None]
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
