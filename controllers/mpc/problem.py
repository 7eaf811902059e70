"""The predictive controller's problem as data, and the dense QP compiled from it.

    x⁺ = A x + B u + E₀ v + E₁ v⁺ + B_d d + g,   y = C x + C_d d + h

ξ = (x, u_{−1}); (x_s, u_s) the steady state at the reference; s the slack of soft output limits. `controllers.mpc.cost`
states the cost V of them. All that is known when a sample is due is one vector θ = (x, u_{−1}, d, r_0 … r_p, v_0 … v_p, 1);
what is decided is z = (moves/stroke, √ρ₂ s). Every prediction is a matrix over (θ, z), so the QP is read off:
V = |E_θ θ + E_z z|² + cᵀz, rows G z ≤ b − G_θ θ.
`controllers.mpc.convex` states the same limits over symbols for states and inputs, and the same cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from controllers.lqr import target_map
from workbench.verification.linear.sampled_data import hold, sampled


@dataclass(frozen=True, eq=False)
class Model:
    """Affine model from sample to sample (see above); x is the plant's state, then commands still on their way."""

    A: np.ndarray
    B: np.ndarray
    E0: np.ndarray
    E1: np.ndarray
    B_d: np.ndarray
    g: np.ndarray
    C: np.ndarray
    C_d: np.ndarray
    h: np.ndarray
    T: float
    n: int  # states of the plant itself


def sampled_model(A, B, E, D_d, c, C, C_d, h, T: float, delay: float) -> Model:
    """Sampled exactly: u held and delayed, v linear between samples, d and c constant; ẋ = A x + B u + E v + D_d d + c."""
    n = len(A)
    plant = sampled(A, B, C, np.zeros((len(C), B.shape[1])), T, delay)
    more = len(plant.A) - n
    wide = lambda M: np.vstack([M, np.zeros((more, M.shape[1]))])
    steady = lambda M: wide(hold(A, M, T)[1]) if M.shape[1] else np.zeros((n + more, 0))
    k = E.shape[1]
    ramp = np.zeros((n + more, 0))
    if k:  # the response to t/T on each v
        both = np.block([[A, E], [np.zeros((k, n + k))]])
        ramp = wide(hold(both, np.vstack([np.zeros((n, k)), np.eye(k) / T]), T)[1][:n])
    return Model(
        A=plant.A,
        B=plant.B,
        E0=steady(E) - ramp,
        E1=ramp,
        B_d=steady(D_d),
        g=steady(np.reshape(c, (n, 1)))[:, 0],
        C=plant.C,
        C_d=C_d,
        h=h,
        T=T,
        n=n,
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything the QP is made of, in SI units; limits may be infinite.

    blocks: how many samples each move lasts; track: rows of y that follow references; p: samples of preview
    soft: rows of y with soft limits y_low, y_high, weights ρ₁, ρ₂; hard limits on y in y_min, y_max
    P, K: terminal cost and law on ξ, or None; H_t, h_t: terminal set H_t (ξ_N − ξ_s) ≤ h_t, or None
    """

    model: Model
    N: int
    blocks: tuple[int, ...]
    track: tuple[int, ...]
    Q: np.ndarray
    R: np.ndarray
    S: np.ndarray
    u_min: np.ndarray
    u_max: np.ndarray
    slew: np.ndarray  # a sample
    y_min: np.ndarray
    y_max: np.ndarray
    soft: tuple[int, ...]
    y_low: np.ndarray
    y_high: np.ndarray
    ρ1: np.ndarray
    ρ2: np.ndarray
    p: int
    P: np.ndarray | None = None
    K: np.ndarray | None = None
    H_t: np.ndarray | None = None
    h_t: np.ndarray | None = None

    # ---- sizes and places ---------------------------------------------------------------------------------------------
    @cached_property
    def sizes(self) -> dict[str, int]:
        """Entries of θ: x, u, d, r, v, one."""
        m = self.model
        return {
            "x": len(m.A),
            "u": m.B.shape[1],
            "d": m.B_d.shape[1],
            "r": len(self.track) * (self.p + 1),
            "v": m.E0.shape[1] * (self.p + 1),
            "one": 1,
        }

    @cached_property
    def at(self) -> dict[str, slice]:
        """Slices of θ."""
        ends = np.cumsum([0, *self.sizes.values()])
        return {name: slice(int(a), int(b)) for name, a, b in zip(self.sizes, ends[:-1], ends[1:])}

    @cached_property
    def n_θ(self) -> int:
        return sum(self.sizes.values())

    @property
    def n_z(self) -> int:
        return self.model.B.shape[1] * len(self.blocks) + len(self.soft)

    @cached_property
    def stroke(self) -> np.ndarray:
        """What z counts commands in: half their range where it has two ends."""
        half = (self.u_max - self.u_min) / 2
        one = np.where(np.isfinite(self.u_max), np.abs(self.u_max), np.abs(self.u_min))
        half = np.where(np.isfinite(half), half, np.where(np.isfinite(one) & (one > 0), one, 1.0))
        return half

    def pick(self, name: str, k: int = 0, width: int | None = None) -> np.ndarray:
        """Rows that take entry `name` out of (θ, z): the k-th group of `width` entries."""
        s = self.at[name]
        width = s.stop - s.start if width is None else width
        rows = np.zeros((width, self.n_θ + self.n_z))
        rows[:, s.start + k * width : s.start + (k + 1) * width] = np.eye(width)
        return rows

    def reference(self, k: int) -> np.ndarray:
        """r_k: beyond the preview the last one known."""
        return self.pick("r", min(k, self.p), len(self.track))

    def known(self, k: int) -> np.ndarray:
        """v_k: beyond the preview the last one known."""
        return self.pick("v", min(k, self.p), self.model.E0.shape[1])

    @cached_property
    def target(self) -> tuple[np.ndarray, np.ndarray, float]:
        """(x_s, u_s) as matrices over (r, v, d, 1), and the residual (see `target_map`)."""
        m = self.model
        rows = list(self.track)
        q = len(rows)
        k = m.E0.shape[1]
        n = len(m.A)
        zeros = np.zeros
        right = np.block(
            [
                [zeros((n, q)), m.E0 + m.E1, m.B_d, m.g[:, None]],
                [np.eye(q), zeros((q, k)), -m.C_d[rows], -m.h[rows][:, None]],
            ]
        )
        M, residual = target_map(m.A, m.B, m.C[rows], right)
        return M[:n], M[n:], residual

    def steady(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of x_s and u_s for r_k, v_k, d."""
        given = np.vstack([self.reference(k), self.known(k), self.pick("d"), self.pick("one")])
        return self.target[0] @ given, self.target[1] @ given

    @cached_property
    def predicted(self) -> tuple[list, list, list]:
        """x_0 … x_N, u_{−1} … u_{N−1}, y_0 … y_N as rows over (θ, z)."""
        m = self.model
        n_u = self.model.B.shape[1]
        x, u, y, constant = [self.pick("x")], [self.pick("u")], [], self.pick("one")
        of = np.repeat(np.arange(len(self.blocks)), self.blocks)
        for k in range(self.N):
            move = np.zeros((n_u, self.n_θ + self.n_z))
            first = self.n_θ + n_u * of[k]
            move[:, first : first + n_u] = np.diag(self.stroke)
            u.append(move)
            x.append(
                m.A @ x[-1]
                + m.B @ move
                + m.E0 @ self.known(k)
                + m.E1 @ self.known(k + 1)
                + m.B_d @ self.pick("d")
                + m.g[:, None] @ constant
            )
        for state in x:
            y.append(m.C @ state + m.C_d @ self.pick("d") + m.h[:, None] @ constant)
        return x, u, y

    @cached_property
    def felt(self) -> np.ndarray:
        """(N+1, p): whether some move still acts on that output then; limits before that are not the controller's to keep."""
        size = np.array(
            [np.abs(y[:, self.n_θ :]).max(axis=1, initial=0.0) for y in self.predicted[2]]
        )
        return size > 1e-12 * size.max(axis=0)

    def terminal(self) -> np.ndarray:
        """ξ_N − ξ_s over (θ, z)."""
        x, u, _ = self.predicted
        x_s, u_s = self.steady(self.N)
        return np.vstack([x[-1] - x_s, u[-1] - u_s])

    def slack(self, i: int) -> np.ndarray:
        """Slack of the i-th soft output over (θ, z)."""
        row = np.zeros((1, self.n_θ + self.n_z))
        row[0, self.n_z + self.n_θ - len(self.soft) + i] = 1 / np.sqrt(self.ρ2[i])
        return row


def limits(q: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """General rows: low ≤ M (θ, z) ≤ high, and what each is (bounds on z itself are apart)."""
    _, u, y = q.predicted
    M = []
    low = []
    high = []
    labels = []

    def add(rows, below, above, text):
        for i in np.flatnonzero(np.isfinite(below) | np.isfinite(above)):
            M.append(rows[i])
            low.append(below[i])
            high.append(above[i])
            labels.append(f"{text} {i}")

    starts = np.cumsum([0, *q.blocks[:-1]])
    hard = np.isfinite([q.y_min, q.y_max]).any()
    for k in starts[1:] if np.isfinite(q.slew).any() else ():
        add(
            (u[k + 1] - u[k]) / q.stroke[:, None],
            -q.slew / q.stroke,
            q.slew / q.stroke,
            f"slew at {k}, command",
        )
    for k in range(1, q.N + 1):
        if hard:
            felt = q.felt[k]
            add(
                y[k],
                np.where(felt, q.y_min, -np.inf),
                np.where(felt, q.y_max, np.inf),
                f"limit at {k}, output",
            )
        for i, row in enumerate(q.soft):
            for sign, edge in ((1.0, q.y_high[i]), (-1.0, -q.y_low[i])):
                add(
                    sign * y[k][[row]] - q.slack(i),
                    [-np.inf],
                    [edge],
                    f"soft limit at {k}, output {row}",
                )
    if q.H_t is not None:
        add(q.H_t @ q.terminal(), np.full(len(q.h_t), -np.inf), q.h_t, "terminal set")
    rows = np.array(M).reshape(-1, q.n_θ + q.n_z)
    # a solver's tolerance is the same share of every row.
    size = np.abs(rows[:, q.n_θ :]).max(axis=1)
    size = np.where(size > 0, size, 1.0)
    return rows / size[:, None], np.array(low, float) / size, np.array(high, float) / size, labels
