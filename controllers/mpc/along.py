"""The plant along a predicted path: one affine model a sample, and the problem they make.

Around the point (x̄_k, w̄_k) of the path, over one sample with commands held, known disturbances linear in time, others constant:

    x_{k+1} = x̄_k + φ_k + Φ_k (x_k − x̄_k) + Γ_k (w_k − w̄_k),   y_k = g(x̄_k) + C_k (x_k − x̄_k)
    Φ = e^{AT},   Γ = ∫₀ᵀ e^{As}ds B,   φ = ∫₀ᵀ e^{As}ds f(x̄_k, w̄_k)

A, B, f at the point. The QP of a sample is one Gauss–Newton step from the path; where the plant is linear it is exact.

Source: [RawlingsMayneDiehl17] chapter 8 (Gauss–Newton, one step a sample).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from controllers.lqr import target_map
from controllers.mpc.problem import Problem
from workbench.numerics.tangents import Tangent
from workbench.verification.linear.sampled_data import whole_and_rest


class Steps(NamedTuple):
    """x⁺ = A_k x + B_k u + a_k for k < N, y = C_k x + b_k for k ≤ N; x with the commands on their way; B_d of the first."""

    A: np.ndarray
    B: np.ndarray
    a: np.ndarray
    C: np.ndarray
    b: np.ndarray
    B_d: np.ndarray


@dataclass(frozen=True, eq=False)
class Held:
    """How inputs act over a sample of T s: w = (commands, known inputs, others); sizes make the exponential well scaled.

    places: column of w that each disturbance acts at, None for one added to an output
    """

    T: float
    delay: float
    commands: int
    known: int
    places: tuple[int | None, ...]
    size_x: np.ndarray
    size_w: np.ndarray

    @property
    def split(self) -> tuple[int, float]:
        """Whole samples of delay, and the rest, s."""
        return whole_and_rest(self.delay, self.T)

    @property
    def length(self) -> int:
        """Past commands that are still on their way."""
        d, rest = self.split
        return d + (rest > 0)

    def exponentials(self, at: Tangent, T: float):
        """(Φ, Γ, φ, response to t/T on known inputs) over T, at all points."""
        from scipy.linalg import expm

        N, n, m = at.B.shape
        k = self.known
        s = self.size_x
        w = self.size_w
        M = np.zeros((N, n + m + 1 + k, n + m + 1 + k))
        M[:, :n, :n] = at.A * (s * T) / s[:, None]
        M[:, :n, n : n + m] = at.B * (w * T) / s[:, None]
        M[:, :n, n + m] = at.f * T / s
        for i in range(k):
            M[:, n + self.commands + i, n + m + 1 + i] = 1.0
        E = expm(M)[:, :n] * s[:, None]
        pushes = w[self.commands : self.commands + k]
        return (
            E[:, :, :n] / s,
            E[:, :, n : n + m] / w,
            E[:, :, n + m],
            E[:, :, n + m + 1 :] / pushes,
        )

    def effect(self, d: np.ndarray) -> np.ndarray:
        """What the disturbances d add to w."""
        found = np.zeros(len(self.size_w))
        for place, value in zip(self.places, d):
            if place is not None:
                found[place] += value
        return found

    def acting(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Commands that reach the plant (N, m) for predicted ones u (N, m), those on their way being in x."""
        m, (d, _) = self.commands, self.split
        n = len(self.size_x)
        past = [x[n + self.length * np.arange(m) + d - 1 - k] for k in range(d)]
        return np.vstack([*past, u])[: len(u)]

    def steps(self, at: Tangent, x, w, known, d, C_d, rows) -> Steps:
        """The affine models at the points x (N+1, n), w (N+1, …); known inputs (N+1, k), disturbances d; rows of y."""
        N = len(x) - 1
        n = x.shape[1]
        m = self.commands
        first = Tangent(*(part[:N] for part in at))
        Φ, Γ, φ, ramp = self.exponentials(first, self.T)
        others = np.tile(self.effect(d), (N, 1)) - w[:N]
        others[:, m : m + self.known] += known[:N]
        size = n + m * self.length
        A = np.zeros((N, size, size))
        B = np.zeros((N, size, m))
        a = np.zeros((N, size))
        A[:, :n, :n] = Φ
        a[:, :n] = (
            x[:N] + φ - _times(Φ, x[:N]) + _times(Γ, others) + _times(ramp, np.diff(known, axis=0))
        )
        self._commands(first, A, B, Γ)
        C = np.zeros((N + 1, len(rows), size))
        C[:, :, :n] = at.C[:, rows]
        B_d = np.zeros((size, len(self.places)))
        for i, place in enumerate(self.places):
            if place is not None:
                B_d[:n, i] = Γ[0, :, place]
        return Steps(A, B, a, C, at.y[:, rows] - _times(C[:, :, :n], x) + C_d @ d, B_d)

    def _commands(self, at, A, B, Γ) -> None:
        """How commands enter: at once, or through those on their way."""
        n, m, (d, rest) = A.shape[1] - self.commands * self.length, self.commands, self.split
        parts = {d: Γ}
        if rest:
            now = self.exponentials(at, self.T - rest)
            late = self.exponentials(at, rest)
            parts = {d: now[1], d + 1: now[0] @ late[1]}
        for j in range(m):
            past = n + j * self.length
            for ago, column in parts.items():
                target = B[:, :n, j] if ago == 0 else A[:, :n, past + ago - 1]
                target[:] = column[:, :, j]
            if self.length:
                B[:, past, j] = 1.0
                A[:, range(past + 1, past + self.length), range(past, past + self.length - 1)] = 1.0


def _times(M, v):
    """M_k v_k for all k."""
    return (M @ v[:, :, None])[:, :, 0]


@dataclass(frozen=True, eq=False)
class Along(Problem):
    """The problem of one sample with a model of its own for every sample ahead; θ = (x, u_{−1}, 1), the rest is in numbers.

    start: x at this sample; wanted: references (N+1, q)
    """

    steps: Steps | None = None
    start: np.ndarray | None = None
    wanted: np.ndarray | None = None

    @classmethod
    def of(cls, base: Problem, steps: Steps, start, wanted) -> Along:
        """The problem `base` with other models."""
        return cls(
            **{f.name: getattr(base, f.name) for f in fields(Problem)},
            steps=steps,
            start=start,
            wanted=wanted,
        )

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {"x": self.steps.A.shape[1], "u": self.steps.B.shape[2], "one": 1}

    def constant(self, values) -> np.ndarray:
        """Rows that are these numbers."""
        rows = np.zeros((len(values), self.n_θ + self.n_z))
        rows[:, self.at["one"].start] = values
        return rows

    def reference(self, k: int) -> np.ndarray:
        return self.constant(self.wanted[k])

    @cached_property
    def targets(self) -> np.ndarray:
        """(x_s, u_s) for every reference, columns; of the last model."""
        s = self.steps
        rows = list(self.track)
        right = np.vstack(
            [np.tile(s.a[-1][:, None], (1, self.N + 1)), self.wanted.T - s.b[-1][rows][:, None]]
        )
        return target_map(s.A[-1], s.B[-1], s.C[-1][rows], right)[0]

    def steady(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        n = self.sizes["x"]
        return self.constant(self.targets[:n, k]), self.constant(self.targets[n:, k])

    @cached_property
    def predicted(self) -> tuple[list, list, list]:
        s = self.steps
        n_u = self.sizes["u"]
        one = self.at["one"].start
        x = [self.constant(self.start)]
        u = [self.pick("u")]
        of = np.repeat(np.arange(len(self.blocks)), self.blocks)
        for k in range(self.N):
            first = self.n_θ + n_u * of[k]
            move = np.zeros((n_u, self.n_θ + self.n_z))
            move[:, first : first + n_u] = np.diag(self.stroke)
            u.append(move)
            after = s.A[k] @ x[-1]
            after[:, first : first + n_u] += s.B[k] * self.stroke
            after[:, one] += s.a[k]
            x.append(after)
        y = [C @ state for C, state in zip(s.C, x)]
        for row, b in zip(y, s.b):
            row[:, one] += b
        return x, u, y

    def path(self, u: np.ndarray) -> np.ndarray:
        """States (N+1, n) under commands u (N, m)."""
        x = [self.start]
        for k in range(self.N):
            x.append(self.steps.A[k] @ x[-1] + self.steps.B[k] @ u[k] + self.steps.a[k])
        return np.array(x)
