"""One sample of predictive control that linearises along its own prediction (real-time iteration with a warm start).

    estimate x̂, d̂ by the extended Kalman filter
    path: the last commands predicted and their states, one sample on (at first x̂ and the last command, gone over FIRST times)
    models along the path (`mpc_along`), QP, DAQP;  the path it predicts is the next one

A sample whose model is not finite, or whose QP has no solution, falls back as `mpc_loop.decided` says, and the path goes on with
the fallback's commands.

Source: [RawlingsMayneDiehl17] chapters 4 (filter), 8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from controllers.mpc.along import Along
from controllers.mpc.dense import condensed
from controllers.mpc.loop import NO_MODEL, Fast, Last, Memory, Solution, commands_of, decided
from workbench.numerics.tangents import off_edges, opened

FIRST = 4  # times the first path is gone over


class Given(NamedTuple):
    """References (N+1, q), known inputs (N+1, k), estimated disturbances."""

    r: np.ndarray
    v: np.ndarray
    d: np.ndarray


def step(law, z: Memory, y, r) -> tuple[Memory, np.ndarray]:
    """(memory, commands) of one sample."""
    with np.errstate(all="ignore"):  # what overflows is not finite, and that is looked for
        return _step(law, z, y, r)


def _step(law, z: Memory, y, r) -> tuple[Memory, np.ndarray]:
    base = law.prepared
    q = base.problem
    n = len(base.problem.model.A)
    x, P = corrected(law, z, y)
    given = _given(q, r, x[n:])
    X, U, rounds = _path(law, z, x[:n])
    for i in range(rounds):
        made = along(law, x[:n], X, U, given)
        if made is None:
            break
        dense = condensed(made, checked=False)
        θ = np.concatenate([x[:n], z.u, [1.0]])
        solution = Fast(dense).solve(θ)
        if i + 1 < rounds and solution.status in (1, 2):
            U = commands_of(made, solution.z)
            X = made.path(U)
    if made is None:
        nothing = Solution(np.full(q.n_z, np.nan), NO_MODEL, 0, np.zeros(0))
        u, solved, age, fallback = decided(q, None, nothing, z)
        ahead = Memory(
            x,
            None if P is None else P + base.W,
            u,
            solved,
            age,
            None,
            Last(None, nothing, u, fallback, base.dense),
            None,
        )
        return ahead, u
    u, solved, age, fallback = decided(made, θ, solution, z)
    U = commands_of(made, solved, age) if fallback < 2 else np.tile(u, (q.N, 1))
    U[0] = u  # within the limits, which a shifted solution need not be
    X = made.path(U)
    ahead = np.concatenate([X[1], x[n:]])
    P = predicted_covariance(made.steps, P, base.W)
    return Memory(ahead, P, u, solved, age, None, Last(θ, solution, u, fallback, dense), (X, U)), u


def _given(q, r, d) -> Given:
    """What the scenario provides, written out to the end of the horizon."""
    r = np.asarray(r, float)
    p = q.p
    width = len(q.track)
    split = width * (p + 1)
    k = q.model.E0.shape[1]
    at = np.minimum(np.arange(q.N + 1), p)
    return Given(r[:split].reshape(p + 1, width)[at], r[split:].reshape(p + 1, k)[at], d)


def _path(law, z: Memory, x: np.ndarray):
    """(states, commands, times to go over them) to linearise along."""
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
