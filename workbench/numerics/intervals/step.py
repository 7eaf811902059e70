"""One step of x' = f(t, x, …) over thousands of boxes at once, enclosed.

    B ⊇ X + [0, h] f(B)                                   then every solution from X exists over [0, h] and stays in B
    x(h) ∈ Σ_{k<K} x_k(X) h^k + x_K(B) h^K,  k x_k = coefficient k − 1 of f along the solution

The first is Picard and Lindelöf's theorem, B found by inflation; the second Taylor's with its remainder over B. Where a kink of f
lies in B there are no higher derivatives, and x(h) ∈ X + h f(B) remains. Source: [Moore09], chapter 10.
"""

from __future__ import annotations

from typing import NamedTuple, final

import casadi as ca
import numpy as np

from workbench.numerics.intervals.walk import Walk

TRIES = 12  # inflations of B
SHARE = 0.1  # share of its rates, by which B is inflated at first; grows with every try


class Stepped(NamedTuple):
    """Bounds (states, N) at the end of the step, and of what is passed during it; `sure` (N,) where they hold."""

    low: np.ndarray
    high: np.ndarray
    passed_low: np.ndarray
    passed_high: np.ndarray
    sure: np.ndarray
    smooth: np.ndarray


def _down(x: np.ndarray) -> np.ndarray:
    return np.nextafter(x, -np.inf)


def _up(x: np.ndarray) -> np.ndarray:
    return np.nextafter(x, np.inf)


@final
class Step:
    """`f` has the states as its input `x` and their rates as its first outputs; an input named `t` is the time."""

    def __init__(self, f: ca.Function, x: str = "x") -> None:
        self.walk = Walk(f)
        self.states = f.nnz_in(f.index_in(x))
        before = [sum(f.nnz_in(j) for j in range(i)) for i in range(f.n_in())]
        self._x = before[f.index_in(x)]
        self._t = before[f.index_in("t")] if "t" in f.name_in() else None

    def over(self, low: list, high: list, h: float, order: int = 6, threads: int = 1) -> Stepped:
        """Bounds after a step of h from boxes of all inputs of `f` (one list entry per input entry, as in `Walk.over`)."""
        X = self._box(low), self._box(high)
        B, found = self._passed(low, high, X, h, threads)
        with np.errstate(all="ignore"):
            coarse = _down(X[0] + _down(h * B[2])), _up(X[1] + _up(h * B[3]))
            fine, smooth = self._taylor(low, high, X, B[:2], h, order, threads)
            ends = [np.where(smooth, a, b) for a, b in zip(fine, coarse)]
        everything = np.full(X[0].shape, np.inf)
        return Stepped(
            np.where(found, ends[0], -everything),
            np.where(found, ends[1], everything),
            np.where(found, B[0], -everything),
            np.where(found, B[1], everything),
            found,
            smooth & found,
        )

    def _box(self, bounds: list) -> np.ndarray:
        own = np.broadcast_arrays(*[np.atleast_1d(np.asarray(b, float)) for b in bounds])
        return np.array(own[self._x : self._x + self.states])

    def _given(self, bounds: list, x: np.ndarray) -> list:
        return [*bounds[: self._x], *x, *bounds[self._x + self.states :]]

    def _rates(self, low: list, high: list, B: tuple, h: float, threads: int) -> tuple:
        """Bounds of f over B and all times of the step."""
        ends = list(high)
        if self._t is not None:
            ends[self._t] = _up(np.asarray(high[self._t], float) + h)
        found = self.walk.over(self._given(low, B[0]), self._given(ends, B[1]), threads=threads)
        n = self.states
        return found.low[:n], found.high[:n], found.sure[:n].all(axis=0)

    def _passed(self, low: list, high: list, X: tuple, h: float, threads: int) -> tuple:
        """(B and f over it, where B was found): X + [0, h] f(B) ⊆ B."""
        least, most, _ = self._rates(low, high, X, h, threads)
        share = SHARE
        for _ in range(TRIES):
            pad = share * (np.maximum(np.abs(least), np.abs(most)) + (most - least)) + 1e-300
            B = X[0] + np.minimum(h * (least - pad), 0), X[1] + np.maximum(h * (most + pad), 0)
            least, most, sure = self._rates(low, high, B, h, threads)
            inner = (
                _down(X[0] + np.minimum(_down(h * least), 0)),
                _up(X[1] + np.maximum(_up(h * most), 0)),
            )
            still = (least == 0) & (most == 0)
            bounded = np.isfinite(least) & np.isfinite(most)
            inside = bounded & (((inner[0] >= B[0]) & (inner[1] <= B[1])) | still)
            if inside.all():
                break
            share *= 1.5
        found = inside.all(axis=0) & sure
        through = np.where(still, X[0], inner[0]), np.where(still, X[1], inner[1])
        return (*through, least, most), found

    def _taylor(
        self, low: list, high: list, X: tuple, B: tuple, h: float, order: int, threads: int
    ) -> tuple:
        """Bounds by Taylor's theorem, and where f is smooth enough for them."""
        at, _ = self._coefficients(low, high, X, order - 1, threads)
        over, smooth = self._coefficients(low, _later(high, self._t, h), B, order, threads)
        ends = []
        for side, away in ((0, _down), (1, _up)):
            value = over[side][order]
            for k in range(order - 1, -1, -1):
                value = away(away(h * value) + at[side][k])
            ends.append(value)
        return ends, smooth

    def _coefficients(self, low: list, high: list, X: tuple, order: int, threads: int) -> tuple:
        """Taylor coefficients 0 to `order` of the solutions through the boxes X."""
        rows = [[X[0]], [X[1]]]
        sure = np.ones(X[0].shape[1], bool)
        for k in range(order):
            begin = self._series(low, rows[0], k + 1)
            end = self._series(high, rows[1], k + 1)
            found = self.walk.series(begin, end, k + 1, threads)
            for side, values, away in zip(rows, found[:2], (_down, _up)):
                rate = values.reshape(-1, k + 1, values.shape[-1])[: self.states, k]
                side.append(away(rate / (k + 1)))
            known = found.sure.reshape(-1, k + 1, len(sure))[: self.states]
            sure = np.asarray(known.all(axis=(0, 1)))
        return rows, sure

    def _series(self, bounds: list, side: list, orders: int) -> list:
        states = [[c[i] for c in side] for i in range(self.states)]
        asked = self._given(bounds, np.empty((0, 0)))
        asked[self._x : self._x] = states
        if self._t is not None and orders > 1:
            zeros = [0.0] * (orders - 2)
            asked[self._t] = [asked[self._t], 1.0, *zeros]
        return asked


def _later(bounds: list, t: int | None, h: float) -> list:
    """The bounds with the end of the step as last time."""
    if t is None:
        return bounds
    changed = list(bounds)
    changed[t] = _up(np.asarray(changed[t], float) + h)
    return changed
