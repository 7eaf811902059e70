"""What the predictive controller does at a sample: estimate, solve, fall back, predict."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from controllers.mpc.dense import Dense
from controllers.mpc.problem import Problem
from workbench.contract.errors import InputError

SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "iter_limit": 2000}
TOLERATED = 1e-7  # excess over a limit, as a share of what the commands can do to it
BROKEN = -9  # status of a solution that says optimal and is beyond that
NO_MODEL = -10  # status where the plant has no finite derivative: there is nothing to solve


class Solution(NamedTuple):
    """z, status (1 optimal; DAQP's exit flags; 4 "optimal_inaccurate"; −9 beyond a limit), iterations, multipliers.

    Multipliers are positive at upper bounds, negative at lower ones.
    """

    z: np.ndarray
    status: int
    iterations: int
    λ: np.ndarray


class Fast:
    """The dense QP in DAQP, set up once; then only the linear term and the bounds change, and the active set is kept.

    Limits on outputs and terminal sets can be nearly dependent: there a solution that calls itself optimal is looked at.
    """

    def __init__(self, dense: Dense):
        self.dense, q = dense, dense.problem
        n = len(dense.H)
        m = q.model.B.shape[1]
        self.n, self.model = n, None
        self.rows = np.ascontiguousarray(np.vstack([dense.F, dense.G_θ]))
        self.work = np.zeros(len(self.rows))
        self.f, self.shift = self.work[:n], self.work[n:]
        self.lower = np.concatenate([dense.z_low, dense.low])
        self.upper = np.concatenate([dense.z_high, dense.high])
        self.low_rows, self.high_rows, self.first_low, self.first_high = (
            self.lower[n:],
            self.upper[n:],
            self.lower[:m],
            self.upper[:m],
        )
        self.lowest, self.highest = dense.z_low[:m].copy(), dense.z_high[:m].copy()
        self.u_at, self.per_stroke, self.slew = (
            q.at["u"],
            1 / q.stroke,
            np.clip(q.slew / q.stroke, 0.0, 1e30),
        )
        self.checked = not all(label.startswith("slew") for label in dense.labels)
        self.all_rows = np.ascontiguousarray(np.vstack([np.eye(n), dense.G]))

    def solve(self, θ: np.ndarray) -> Solution:
        """Solution at θ."""
        d = self.dense
        np.dot(self.rows, θ, out=self.work)
        f = np.add(self.f, d.c1, out=self.f)
        np.subtract(d.low, self.shift, out=self.low_rows)
        np.subtract(d.high, self.shift, out=self.high_rows)
        before = θ[self.u_at] * self.per_stroke
        np.maximum(self.lowest, before - self.slew, out=self.first_low)
        np.minimum(self.highest, before + self.slew, out=self.first_high)
        flag = (
            self._set_up(f)
            if self.model is None
            else self.model.update(f=f, bupper=self.upper, blower=self.lower)
        )
        if flag is not None and flag < 0:
            return self._failed(flag)
        z, _, flag, info = self.model.solve()
        if flag <= 0:
            return self._failed(flag)
        # An active set gone wrong: once more from nothing.
        if self.checked and self._excess(z) > TOLERATED:
            self._set_up(f)
            z, _, flag, info = self.model.solve()
            if flag <= 0 or self._excess(z) > TOLERATED:
                return self._failed(min(flag, BROKEN))
        return Solution(z, flag, info["iterations"], info["lam"])

    def _excess(self, z) -> float:
        """Largest violation of a limit."""
        value = self.all_rows @ z
        return max((value - self.upper).max(), (self.lower - value).max())

    def _set_up(self, f) -> int:
        import daqp

        d = self.dense
        self.model = daqp.Model()
        flag, _ = self.model.setup(
            d.H, f, d.G, self.upper, self.lower, np.zeros(len(self.upper), dtype=np.intc)
        )
        self.model.settings = SETTINGS
        return flag

    def _failed(self, flag) -> Solution:
        self.model = None  # nothing of a failed solve is kept
        return Solution(np.full(self.n, np.nan), int(flag), 0, np.zeros(len(self.upper)))


class Slow:
    """The statement in cvxpy, where the user has added something to it."""

    def __init__(self, statement, dense: Dense):
        self.statement, self.dense = statement, dense

    def solve(self, θ) -> Solution:
        """Solution at θ; multipliers of what is added are not among λ, so it is empty."""
        u, status, iterations, _ = self.statement.solve(θ)
        q = self.dense.problem
        starts = np.cumsum([0, *q.blocks[:-1]])
        z = (u[:, starts] / q.stroke[:, None]).T.ravel()
        if q.soft:
            s = self.statement.v.scaled_slack.value
            z = np.concatenate([z, np.full(len(q.soft), np.nan) if s is None else s])
        return Solution(z, status, iterations, np.zeros(0))


class Last(NamedTuple):
    """The last sample, for the log: θ, solution, command, which fallback gave it (0 none, 1 solution, 2 law, 3 held), the QP."""

    θ: np.ndarray
    solution: Solution
    u: np.ndarray
    fallback: int
    dense: Dense


class Memory(NamedTuple):
    """Estimate (x, d) predicted for the next sample, its covariance where it is carried along, last command, last solution.

    solved: z of the last solution, age: how many samples ago; solver: keeps the active set from sample to sample
    path: states (N+1, n) and commands (N, m) predicted last, where the law linearises along them
    """

    x: np.ndarray
    covariance: Any
    u: np.ndarray
    solved: Any
    age: int
    solver: Any
    last: Last | None
    path: Any = None


def assembled(prepared, x: np.ndarray, u: np.ndarray, r) -> np.ndarray:
    """θ from (x, d), u_{−1} and what the scenario provides, in order."""
    at = prepared.problem.at
    θ = np.empty(prepared.problem.n_θ)
    n = at["x"].stop
    θ[:n] = x[:n]
    θ[at["u"]] = u
    θ[at["d"]] = x[n:]
    θ[at["r"].start : -1] = r
    θ[-1] = 1.0
    return θ


def decided(q: Problem, θ: np.ndarray, solution: Solution, memory: Memory):
    """(command, last solution, age, fallback): the solution's first move, or what stands in for it; without θ no law can."""
    m = len(memory.u)
    if solution.status in (1, 2) and np.isfinite(solution.z[:m]).all():
        return solution.z[:m] * q.stroke, solution.z, 0, 0
    age = memory.age + 1
    if memory.solved is not None and age < q.N:
        u = commands_of(q, memory.solved, age)[0]
        fallback = 1
    elif q.K is not None and θ is not None:
        x_s, u_s = (M[:, : q.n_θ] @ θ for M in q.steady(q.N))
        away = np.concatenate([θ[q.at["x"]] - x_s, memory.u - u_s])
        u = u_s - q.K @ away
        fallback = 2
    else:
        u = memory.u
        fallback = 3
    u = np.clip(np.clip(u, memory.u - q.slew, memory.u + q.slew), q.u_min, q.u_max)
    return u, memory.solved, age, fallback


def commands_of(q: Problem, z: np.ndarray, age: int = 0) -> np.ndarray:
    """Commands (N, m) that a solution of `age` samples ago predicts from now on, its last one held."""
    at = np.minimum(np.arange(q.N) + age, q.N - 1)
    of = np.repeat(np.arange(len(q.blocks)), q.blocks)[at]
    return z[: len(q.blocks) * len(q.stroke)].reshape(len(q.blocks), -1)[of] * q.stroke


def logged(last: Last) -> list[float]:
    """status, iterations, cost V, largest slack, fallback, number of active limits, residual of the optimality conditions."""
    θ, s, _, fallback, dense = last
    if not np.isfinite(s.z).all():
        return [s.status, s.iterations, float("nan"), float("nan"), fallback, 0, float("nan")]
    q = dense.problem
    slack = s.z[len(s.z) - len(q.soft) :] / np.sqrt(q.ρ2)
    active = np.count_nonzero(np.abs(s.λ) > 1e-12 * max(np.abs(s.λ).max(initial=0.0), 1e-300))
    residual = dense.kkt(θ, s.z, s.λ) if len(s.λ) else float("nan")
    return [
        s.status,
        s.iterations,
        dense.value(θ, s.z),
        float(slack.max(initial=0.0)),
        fallback,
        active,
        residual,
    ]


def feasible_somewhere(dense: Dense, θ: np.ndarray) -> None:
    """Refuse limits that no state and no commands satisfy together: a linear programme over (x, z)."""
    from scipy.optimize import linprog

    q = dense.problem
    if not len(dense.G):
        return
    fixed = θ.copy()
    fixed[q.at["x"]] = 0.0
    lower, upper = dense.bounds(fixed)
    n_z = len(dense.H)
    free = dense.G_θ[:, q.at["x"]]
    size = np.where(np.abs(free).max(axis=0) > 0, np.abs(free).max(axis=0), 1.0)
    rows = np.hstack([free / size, dense.G])
    high = upper[n_z:]
    low = lower[n_z:]
    A = np.vstack([rows[high < 1e29], -rows[low > -1e29]])
    b = np.concatenate([high[high < 1e29], -low[low > -1e29]])
    bounds = [(None, None)] * free.shape[1] + [
        (a if a > -1e29 else None, c if c < 1e29 else None)
        for a, c in zip(lower[:n_z], upper[:n_z])
    ]
    if linprog(np.zeros(rows.shape[1]), A_ub=A, b_ub=b, bounds=bounds, method="highs").status == 2:
        raise InputError(
            "MPC: the limits contradict each other: no state and no commands satisfy them all",
            mend="widen one of them, or make it soft",
        )
