"""The predictive controller's problem in words of states and inputs, for cvxpy: to read, to check, to extend.

A user's function `extra(v)` gets the symbols and returns convex constraints and convex cost terms in any order, e.g.

    def extra(v):
        return [v.x[0] <= 0.02, 1e3 * cp.sum_squares(v.u[0, :3])]

    v.x (n, N+1) states, v.y (p, N+1) outputs, v.u (m, N) commands, v.moves (m, N) their differences, v.slack,
    v.r (q, N+1) references, v.d disturbances: physical units; v.names says which row is which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np

from controllers.mpc.cost import Stage, root, terms
from controllers.mpc.problem import Problem
from workbench.contract.errors import InputError, short

STATUS = {
    cp.OPTIMAL: 1,
    cp.OPTIMAL_INACCURATE: 4,
    cp.INFEASIBLE: -1,
    cp.INFEASIBLE_INACCURATE: -1,
    cp.UNBOUNDED: -3,
    cp.UNBOUNDED_INACCURATE: -3,
    cp.USER_LIMIT: -4,
    cp.SOLVER_ERROR: -8,
}


@dataclass(frozen=True, eq=False)
class Statement:
    """A stated problem: `problem` (cvxpy), the parameter θ's parts, and the symbols `v`."""

    data: Problem
    problem: Any
    given: dict[str, Any]
    v: SimpleNamespace
    solver: str
    accuracy: dict
    scale: float  # the solver sees V/scale

    def set(self, θ) -> None:
        """Parameters from θ."""
        for name, parameter in self.given.items():
            parameter.value = θ[self.data.at[name]]

    def solve(self, θ) -> tuple[np.ndarray, int, int, float]:
        """(commands (m, N), status, iterations, V) at θ; commands are NaN where there is no solution."""
        self.set(θ)
        try:
            self.problem.solve(solver=self.solver, **self.accuracy)
            status = self.problem.status
        except cp.SolverError:
            status = cp.SOLVER_ERROR
        stats = self.problem.solver_stats
        iterations = (
            int(stats.num_iters or 0) if status != cp.SOLVER_ERROR and stats is not None else 0
        )
        u = self.v.u.value
        if u is None:
            u = np.full(self.v.u.shape, np.nan)
        value = self.problem.value
        return (
            u,
            STATUS.get(status, -8),
            iterations,
            float(np.nan if value is None else value * self.scale),
        )


def stated(
    q: Problem,
    names: dict[str, list[str]] | None = None,
    extra: Callable | None = None,
    solver: str | None = None,
    scale: float = 1.0,
) -> Statement:
    """The problem in cvxpy, its cost divided by `scale` (a number of V's size).

    Raises InputError for additions that are not convex or not understood; `check` refuses what makes it unbounded.
    """
    given = {
        name: cp.Parameter(size, name=name)
        for name, size in q.sizes.items()
        if size and name != "one"
    }
    v = _symbols(q, given)
    v.names = names or {}
    cost = _cost(q, v)
    rules = _rules(q, v)
    cost, rules = (cost, rules) if extra is None else _extended(extra, v, cost, rules)
    problem = cp.Problem(cp.Minimize(cost / scale), [*v.dynamics, *rules])
    if not problem.is_dcp(dpp=True):
        raise InputError(
            "MPC: the problem cannot be compiled once for all samples (products of parameters)",
            mend="in `extra`, multiply references and disturbances by constants only",
        )
    solver = solver or (cp.DAQP if problem.is_qp() and extra is None else cp.CLARABEL)
    accuracy = (
        {}
        if solver != cp.CLARABEL
        else {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    )
    return Statement(q, problem, given, v, solver, accuracy, scale)


def _symbols(q: Problem, given) -> SimpleNamespace:
    """States, commands, outputs in physical units, as multiples of variables near 1; v.dynamics ties them together."""
    m = q.model
    N = q.N
    n, n_u = m.B.shape
    size = _sizes(q)
    X = cp.Variable((n, N + 1))
    moves = cp.Variable((n_u, len(q.blocks)))
    s = cp.Variable(len(q.soft), nonneg=True) if q.soft else None
    of = np.repeat(np.arange(len(q.blocks)), q.blocks)
    spread = np.zeros((len(q.blocks), N))
    spread[of, np.arange(N)] = 1.0
    x = cp.multiply(size[:, None] * np.ones((1, N + 1)), X)
    u = cp.diag(q.stroke) @ moves @ spread
    d = given.get("d", np.zeros(0))
    constant = lambda A, C: (A @ d if m.B_d.shape[1] else np.zeros(len(A))) + C
    r = _preview(q, given.get("r"), len(q.track))
    known = _preview(q, given.get("v"), m.E0.shape[1])
    dynamics = [X[:, 0] == given["x"] / size]
    for k in range(N):
        push = m.E0 @ known[k] + m.E1 @ known[k + 1] if m.E0.shape[1] else 0.0
        after = m.A @ x[:, k] + m.B @ u[:, k] + push + constant(m.B_d, m.g)
        dynamics.append((x[:, k + 1] - after) / size == 0)
    y = m.C @ x + cp.reshape(constant(m.C_d, m.h), (len(m.C), 1), order="F") @ np.ones((1, N + 1))
    before = cp.reshape(given["u"], (n_u, 1), order="F")
    differences = u - cp.hstack([before, u[:, :-1]]) if N > 1 else u - before
    slack = cp.multiply(1 / np.sqrt(q.ρ2), s) if q.soft else None
    return SimpleNamespace(
        x=x,
        u=u,
        y=y,
        moves=differences,
        slack=slack,
        scaled_slack=s,
        r=cp.hstack([cp.reshape(e, (len(q.track), 1), order="F") for e in r]),
        r_at=r,
        known=known,
        d=d,
        dynamics=dynamics,
        X=X,
        z=moves,
    )


def _preview(q, parameter, width) -> list:
    """Value at k = 0 … N: beyond the preview the last one known."""
    if parameter is None:
        return [np.zeros(0)] * (q.N + 1)
    return [parameter[min(k, q.p) * width : (min(k, q.p) + 1) * width] for k in range(q.N + 1)]


def _sizes(q) -> np.ndarray:
    """How far a full stroke moves each state over the horizon."""
    x = q.model.B * q.stroke
    size = np.zeros(len(q.model.A))
    for _ in range(q.N):
        size = np.maximum(size, np.abs(x).sum(axis=1))
        x = q.model.A @ x
    return np.where(size > 0, size, 1.0)


def _steady(q, v, k):
    """(x_s, u_s) for r_k, v_k, d."""
    given = cp.hstack([e for e in (v.r_at[k], v.known[k], v.d) if e.shape[0]] + [np.ones(1)])
    return q.target[0] @ given, q.target[1] @ given


def _cost(q: Problem, v):
    """V over the symbols."""
    rows = list(q.track)
    weighs = q.R.any()

    def error(k: int):
        return v.y[rows, k] - v.r_at[k]

    def stage(k: int) -> Stage:
        away = v.u[:, k] - _steady(q, v, k)[1] if weighs else None
        return Stage(error(k), away, v.moves[:, k])

    squares = [
        cp.sum_squares(root(weight) @ deviation)
        for _, weight, deviation in terms(q, stage, error(q.N), lambda: _deviation(q, v))
    ]
    if q.soft:
        squares += [cp.sum_squares(v.scaled_slack), q.ρ1 @ v.slack]
    return sum(squares)


def _deviation(q, v):
    """ξ_N − ξ_s."""
    x_s, u_s = _steady(q, v, q.N)
    return cp.hstack([v.x[:, q.N] - x_s, v.u[:, q.N - 1] - u_s])


def _rules(q: Problem, v) -> list:
    """Every limit of the problem as a cvxpy constraint."""
    found = []

    def between(e, low, high, size):
        for i in range(len(low)):
            if np.isfinite(low[i]):
                found.append(e[i] / size[i] >= low[i] / size[i])
            if np.isfinite(high[i]):
                found.append(e[i] / size[i] <= high[i] / size[i])

    between(v.u, q.u_min, q.u_max, q.stroke)
    starts = np.cumsum([0, *q.blocks[:-1]]).tolist()
    between(v.moves[:, starts], -q.slew, q.slew, q.stroke)
    reach = np.maximum(np.abs(q.model.C) @ _sizes(q), 1e-300)
    for i in range(len(reach)):
        seen = np.flatnonzero(q.felt[:, i])
        if len(seen):
            between(v.y[[i]][:, seen], q.y_min[[i]], q.y_max[[i]], reach[[i]])
    for i, row in enumerate(q.soft):
        s = v.slack[i] / reach[row]
        if np.isfinite(q.y_high[i]):
            found.append(v.y[row, 1:] / reach[row] - s <= q.y_high[i] / reach[row])
        if np.isfinite(q.y_low[i]):
            found.append(v.y[row, 1:] / reach[row] + s >= q.y_low[i] / reach[row])
    if q.H_t is not None and len(q.h_t):
        found.append(q.H_t @ _deviation(q, v) <= q.h_t)
    return found


def _extended(extra, v, cost, rules):
    """What the user adds, each judged by itself."""
    try:
        added = extra(v)
    except InputError:
        raise
    except Exception as why:
        raise InputError(
            f"extra: the function fails: {type(why).__name__}: {short(why)}",
            mend="give a function of (y, u, x, slack, …) that returns costs and constraints of cvxpy",
        ) from why
    added = list(added) if isinstance(added, (list, tuple)) else [added]
    for i, item in enumerate(added, 1):
        where = f"extra, item {i} ({str(item)[:60]})"
        if isinstance(item, cp.constraints.constraint.Constraint):
            if not item.is_dcp():
                raise InputError(
                    f"{where}: this constraint is not convex",
                    mend="write convex ≤ concave, affine == affine, or a norm ≤ a number",
                )
            rules = [*rules, item]
        elif isinstance(item, (cp.Expression, int, float)):
            item = cp.Constant(item) if isinstance(item, (int, float)) else item
            if not item.is_scalar() or not item.is_convex():
                raise InputError(
                    f"{where}: this cost term is not convex"
                    if item.is_scalar()
                    else f"{where}: a cost term is one number",
                    mend="add sums of squares, norms, or linear terms",
                )
            cost = cost + item
        else:
            raise InputError(
                f"{where}: neither a cvxpy constraint nor a cvxpy expression",
                mend="return a list of constraints and cost terms made from v.x, v.u, v.y",
            )
    return cost, rules


def check(made: Statement, θ) -> None:
    """Refuse, before anything runs, a problem that has no solution from any state, or whose cost has no lower bound.

    The state is free in this check: limits that contradict each other do so for every state.
    """
    made.set(θ)
    free = [rule for rule in made.problem.constraints if rule is not made.v.dynamics[0]]
    trial = cp.Problem(made.problem.objective, free)
    trial.solve(solver=cp.CLARABEL)
    if trial.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
        raise InputError(
            "MPC: the limits contradict each other: no state and no commands satisfy them all",
            mend="widen one of them, or make it soft",
        )
    if trial.status in (cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE):
        raise InputError(
            "MPC: the cost has no lowest value (unbounded): what `extra` adds rewards without end",
            mend="bound the new variables, or give them a convex weight",
        )
