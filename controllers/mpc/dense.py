"""The problem with states eliminated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from controllers.mpc.cost import residuals
from controllers.mpc.problem import Problem, limits
from workbench.contract.errors import InputError

NONE = 1e30  # DAQP's infinity


@dataclass(frozen=True, eq=False)
class Dense:
    """½ zᵀHz + (F θ)ᵀz + c₁ᵀz, |z| bounds, low ≤ G z + G_θ θ ≤ high;  V = |E_θ θ + E_z z|² + c₁ᵀz·scale, H scaled by it."""

    problem: Problem
    H: np.ndarray
    F: np.ndarray
    c1: np.ndarray
    scale: float  # V = scale · (QP's value) + |E_θ θ|²
    E_θ: np.ndarray
    z_low: np.ndarray
    z_high: np.ndarray
    G: np.ndarray
    G_θ: np.ndarray
    low: np.ndarray
    high: np.ndarray
    labels: list[str]

    def bounds(self, θ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of (z, G z) at θ; the slew limit of the first move is one of them."""
        q = self.problem
        m = self.problem.model.B.shape[1]
        shift = self.G_θ @ θ
        lower = np.concatenate([self.z_low, self.low - shift])
        upper = np.concatenate([self.z_high, self.high - shift])
        before = θ[q.at["u"]]
        lower[:m] = np.maximum(lower[:m], (before - q.slew) / q.stroke)
        upper[:m] = np.minimum(upper[:m], (before + q.slew) / q.stroke)
        return lower, upper

    def value(self, θ, z) -> float:
        """V at (θ, z)."""
        free = self.E_θ @ θ
        return float(self.scale * (z @ (self.H @ z) / 2 + (self.F @ θ + self.c1) @ z) + free @ free)

    def gain(self) -> np.ndarray:
        """u_0 = G θ where no limit is active."""
        m = self.problem.model.B.shape[1]
        return -self.problem.stroke[:, None] * np.linalg.solve(self.H, self.F)[:m]

    def kkt(self, θ, z, λ) -> float:
        """Largest violation of the optimality conditions, relative to the terms of each row; λ > 0 at upper bounds."""
        lower, upper = self.bounds(θ)
        free = self.F @ θ + self.c1
        bound = λ[: len(z)]
        rest = λ[len(z) :]
        off = np.abs(self.H @ z + free + bound + self.G.T @ rest)
        largest = max(
            1e-300,
            _largest(self._widest_H * z),
            _largest(free),
            _largest(bound),
            _largest(self._widest_G * rest),
        )
        value = np.concatenate([z, self.G @ z])
        size = 1.0 + np.abs(value)
        out = np.maximum(np.maximum(value - upper, lower - value), 0.0) / size
        slack = np.where(λ > 0, np.minimum(upper, NONE) - value, value - np.maximum(lower, -NONE))
        pushed = np.abs(λ)
        together = np.minimum(pushed / max(1.0, _largest(pushed)), np.abs(slack) / size)
        return float(max(_largest(off) / largest, _largest(out), _largest(together)))

    @cached_property
    def _widest_H(self) -> np.ndarray:
        """The largest entry of every column of H, by size."""
        return np.abs(self.H).max(axis=0)

    @cached_property
    def _widest_G(self) -> np.ndarray:
        """The largest entry of every row of G, by size."""
        return np.abs(self.G).max(axis=1, initial=0.0)


def _largest(values: np.ndarray) -> float:
    """The largest of these by size; 0 for none."""
    return float(np.abs(values).max(initial=0.0))


def condensed(q: Problem, checked: bool = True) -> Dense:
    """The dense QP of a problem. Raises InputError when its cost leaves some move free (unless that was checked before)."""
    E = residuals(q)
    split = q.n_θ
    m = q.model.B.shape[1]
    E_θ = E[:, :split]
    E_z = E[:, split:]
    H = 2 * E_z.T @ E_z
    scale = float(np.diag(H).mean())
    spread = np.linalg.eigvalsh(H) if checked else np.ones(1)
    if not np.isfinite(spread).all() or spread[0] <= 1e-14 * spread[-1]:
        raise InputError(
            "MPC: the cost leaves some move free (condition number of its Hessian "
            f"{spread[-1] / max(spread[0], 1e-300):.1e})",
            mend="give commands or their moves a weight (R or S), or fewer moves (blocks)",
        )
    moves = len(q.blocks)
    n_s = len(q.soft)
    M, low, high, labels = limits(q)
    wide = lambda v: np.clip(np.tile(v / q.stroke, moves), -NONE, NONE)
    c1 = np.concatenate([np.zeros(m * moves), q.ρ1 / np.sqrt(q.ρ2)]) / scale
    return Dense(
        problem=q,
        H=H / scale,
        F=2 * E_z.T @ E_θ / scale,
        c1=c1,
        scale=scale,
        E_θ=E_θ,
        z_low=np.concatenate([wide(q.u_min), np.zeros(n_s)]),
        z_high=np.concatenate([wide(q.u_max), np.full(n_s, NONE)]),
        G=M[:, split:],
        G_θ=M[:, :split],
        low=np.clip(low, -NONE, NONE),
        high=np.clip(high, -NONE, NONE),
        labels=labels,
    )
