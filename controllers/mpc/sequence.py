"""One sample of predictive control that linearises along its own prediction (real-time iteration with a warm start).

  1. Estimate x̂, d̂ by the extended Kalman filter.
  2. Take the commands and states that the last sample predicted, shifted by one sample, as the path. The first sample has none:
     its path is x̂ and the last command, held, and steps 3 and 4 are repeated FIRST times along what they predict.
  3. Linearise the plant at every point of the path (`controllers.mpc.along`) and condense the quadratic program.
  4. Solve it by DAQP. Its first command is applied; the commands and states that it predicts are kept for the next sample.

Where the model is not finite or the program has no solution, `controllers.mpc.loop.decided` gives the command, and the path is
predicted with it.

Source: [RawlingsMayneDiehl17] chapters 4 (filter), 8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from controllers.mpc.along import Along
from controllers.mpc.dense import condensed
from controllers.mpc.loop import NO_MODEL, Fast, Last, Memory, Solution, commands_of, decided
from workbench.numerics.tangents import off_edges, opened

FIRST = 4  # times that the first sample linearises and solves


class Given(NamedTuple):
    """References (N+1, q), known inputs (N+1, k), estimated disturbances."""

    r: np.ndarray
    v: np.ndarray
    d: np.ndarray


class Tried(NamedTuple):
    """A problem linearised along a path, condensed, with its parameters θ = (x, u, 1) and its solution."""

    made: Along
    dense: Any
    θ: np.ndarray
    solution: Solution


def step(law, z: Memory, y, r) -> tuple[Memory, np.ndarray]:
    """(memory, commands) of one sample."""
    with np.errstate(all="ignore"):  # what overflows is not finite, and that is looked for
        return _step(law, z, y, r)


def _step(law, z: Memory, y, r) -> tuple[Memory, np.ndarray]:
    base = law.prepared
    q = base.problem
    n = len(q.model.A)
    x, P = corrected(law, z, y)
    tried = _tried(law, z, x[:n], _given(q, r, x[n:]))
    if tried is None:
        return _without_model(law, z, x, P)
    made = tried.made
    u, solved, age, fallback = decided(made, tried.θ, tried.solution, z)
    U = commands_of(made, solved, age) if fallback < 2 else np.tile(u, (q.N, 1))
    U[0] = u  # within the limits, which a shifted solution need not be
    X = made.path(U)
    ahead = np.concatenate([X[1], x[n:]])
    P = predicted_covariance(made.steps, P, base.W)
    last = Last(tried.θ, tried.solution, u, fallback, tried.dense)
    return Memory(
        x=ahead, covariance=P, u=u, solved=solved, age=age, solver=None, last=last, path=(X, U)
    ), u


def _tried(law, z: Memory, x: np.ndarray, given: Given) -> Tried | None:
    """The problem solved along the path, repeated along what each solution predicts; the last one, None without a finite model."""
    X, U, rounds = _path(law, z, x)
    θ = np.concatenate([x, z.u, [1.0]])
    for i in range(rounds):
        made = along(law, x, X, U, given)
        if made is None:
            return None
        dense = condensed(made, checked=False)
        solution = Fast(dense).solve(θ)
        if i + 1 < rounds and solution.status in (1, 2):
            U = commands_of(made, solution.z)
            X = made.path(U)
    return Tried(made, dense, θ, solution)


def _without_model(law, z: Memory, x: np.ndarray, P) -> tuple[Memory, np.ndarray]:
    """(memory, commands) of a sample whose model is not finite."""
    base = law.prepared
    nothing = Solution(np.full(base.problem.n_z, np.nan), NO_MODEL, 0, np.zeros(0))
    u, solved, age, fallback = decided(base.problem, None, nothing, z)
    grown = None if P is None else P + base.W
    last = Last(None, nothing, u, fallback, base.dense)
    return Memory(
        x=x, covariance=grown, u=u, solved=solved, age=age, solver=None, last=last, path=None
    ), u


def _given(q, r, d) -> Given:
    """References and known inputs from the scenario, the last known ones repeated up to the end of the horizon."""
    r = np.asarray(r, float)
    p = q.p
    width = len(q.track)
    split = width * (p + 1)
    k = q.model.E0.shape[1]
    at = np.minimum(np.arange(q.N + 1), p)
    return Given(r[:split].reshape(p + 1, width)[at], r[split:].reshape(p + 1, k)[at], d)


def _path(law, z: Memory, x: np.ndarray):
    """(states, commands) to linearise along, and how often to linearise and solve."""
    N = law.N
    if z.path is None:
        return np.tile(x, (N + 1, 1)), np.tile(z.u, (N, 1)), max(FIRST, law.iterations)
    X, U = z.path
    return np.vstack([x, X[2:], X[-1:]]), np.vstack([U[1:], U[-1:]]), law.iterations


def along(law, x, X, U, given: Given) -> Along | None:
    """The problem linearised along X (N+1, n), U (N, m); None where the plant has no finite derivative there."""
    base = law.prepared
    q = base.problem
    held = base.held
    n = base.problem.model.n
    acting = held.acting(x, U)
    w = np.zeros((len(X), len(held.size_w))) + held.effect(given.d)
    w[:, : held.commands] += np.vstack([acting, acting[-1:]])
    # Beyond its limits a command has no effect, and a law that sees none never brings it back.
    w[:, : held.commands] = np.clip(w[:, : held.commands], *base.inside)
    w[:, held.commands : held.commands + held.known] += given.v
    points = off_edges(opened(X[:, :n], base.open), held.size_x)
    w = off_edges(w, held.size_w)
    at = base.tangents(points, w)
    if not at.finite:
        return None
    steps = held.steps(at, points, w, given.v, given.d, q.model.C_d, base.rows)
    made = Along.of(q, steps, x, given.r)
    return (
        made if all(np.isfinite(part).all() for part in (*steps, made.predicted[0][-1])) else None
    )


def corrected(law, z: Memory, y) -> tuple[np.ndarray, np.ndarray | None]:
    """((x, d), its covariance) after measuring y."""
    base = law.prepared
    m = law.prepared.problem.model
    if law.observer is None:
        return base.corrected(z.x, y), None
    seen, C = base.tangents.outputs(z.x[: m.n])
    C_a = np.zeros((len(base.rows), len(z.x)))
    C_a[:, : m.n], C_a[:, len(m.A) :] = C[base.rows], m.C_d
    if not np.isfinite(C_a).all():
        return z.x, z.covariance
    P = z.covariance
    L = np.linalg.solve(C_a @ P @ C_a.T + base.V, C_a @ P).T
    x = z.x + L @ (np.asarray(y) - seen[base.rows] - m.C_d @ z.x[len(m.A) :])
    return x, P - L @ C_a @ P


def predicted_covariance(steps, P, W):
    """Covariance of (x, d) one sample on, along the first model of the path."""
    if P is None:
        return None
    n = steps.A.shape[1]
    k = steps.B_d.shape[1]
    A = np.eye(n + k)
    A[:n, :n], A[:n, n:] = steps.A[0], steps.B_d
    P = A @ P @ A.T + W
    return (P + P.T) / 2
