"""Small predictive problems of known numbers, and a plain loop over samples that knows their definitions only."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from controllers.mpc import convex
from controllers.mpc.dense import condensed
from controllers.mpc.problem import Model, Problem

N, BLOCKS = 5, (1, 2, 2)
n, m, p_y, n_d, n_v = 3, 2, 3, 1, 2


def small(rng, **changes):
    """Three states, two commands, three outputs of which two are tracked, one estimated and two known disturbances."""
    model = Model(
        A=0.6 * rng.normal(size=(n, n)),
        B=rng.normal(size=(n, m)),
        E0=rng.normal(size=(n, n_v)),
        E1=rng.normal(size=(n, n_v)),
        B_d=rng.normal(size=(n, n_d)),
        g=rng.normal(size=n),
        C=rng.normal(size=(p_y, n)),
        C_d=rng.normal(size=(p_y, n_d)),
        h=rng.normal(size=p_y),
        T=0.1,
        n=n,
    )
    half = rng.normal(size=(n + m, n + m))
    settings = {
        "N": N,
        "blocks": BLOCKS,
        "track": (2, 0),
        "Q": np.diag([3.0, 0.7]),
        "R": np.diag([0.4, 1.9]),
        "S": np.diag([2.3, 0.6]),
        "u_min": np.array([-2.0, -np.inf]),
        "u_max": np.array([3.0, 0.7]),
        "slew": np.array([0.9, np.inf]),
        "y_min": np.array([-4.0, -np.inf, -np.inf]),
        "y_max": np.array([np.inf, np.inf, 5.0]),
        "soft": (1, 2),
        "y_low": np.array([-1.5, -np.inf]),
        "y_high": np.array([1.2, 2.5]),
        "ρ1": np.array([0.3, 0.5]),
        "ρ2": np.array([4.0, 9.0]),
        "p": 2,
        "P": half @ half.T + np.eye(n + m),
        "K": rng.normal(size=(m, n + m)),
        "H_t": rng.normal(size=(2, n + m)),
        "h_t": np.array([8.0, 11.0]),
    }
    return Problem(model, **(settings | changes))


def drawn(rng, q):
    """A random θ, its parts, and a random decision z."""
    given = SimpleNamespace(
        x=rng.normal(size=n),
        u=rng.normal(size=m),
        d=rng.normal(size=n_d),
        r=rng.normal(size=(q.p + 1, len(q.track))),
        v=rng.normal(size=(q.p + 1, n_v)),
    )
    θ = np.concatenate([given.x, given.u, given.d, given.r.ravel(), given.v.ravel(), [1.0]])
    z = rng.normal(size=m * len(q.blocks) + len(q.soft))
    z[m * len(q.blocks) :] = np.abs(z[m * len(q.blocks) :])
    return θ, given, z


def gone(q, given, z):
    """x, u, y, r, steady states and slack from sample to sample, by the definitions."""
    o = q.model
    moves = z[: m * len(q.blocks)].reshape(len(q.blocks), m) * q.stroke
    u = np.array([moves[i] for i, size in enumerate(q.blocks) for _ in range(size)])
    v = [given.v[min(k, q.p)] for k in range(q.N + 1)]
    r = [given.r[min(k, q.p)] for k in range(q.N + 1)]
    x = [given.x]
    for k in range(q.N):
        pushed = o.E0 @ v[k] + o.E1 @ v[k + 1] + o.B_d @ given.d + o.g
        x.append(o.A @ x[k] + o.B @ u[k] + pushed)
    y = [o.C @ one + o.C_d @ given.d + o.h for one in x]
    steady = []
    rows = list(q.track)
    for k in range(q.N + 1):
        M = np.block([[np.eye(n) - o.A, -o.B], [o.C[rows], np.zeros((len(rows), m))]])
        pushed = (o.E0 + o.E1) @ v[k] + o.B_d @ given.d + o.g
        wanted = r[k] - o.C_d[rows] @ given.d - o.h[rows]
        steady.append(np.linalg.solve(M, np.concatenate([pushed, wanted])))
    slack = z[m * len(q.blocks) :] / np.sqrt(q.ρ2)
    return SimpleNamespace(x=x, u=u, y=y, r=r, steady=steady, slack=slack)


def cost(q, given, run):
    """V, term by term."""
    total = 0.0
    before = given.u
    rows = list(q.track)
    for k in range(q.N):
        e = run.y[k][rows] - run.r[k]
        move = run.u[k] - before
        total += e @ q.Q @ e + move @ q.S @ move
        away = run.u[k] - run.steady[k][n:]
        total += away @ q.R @ away
        before = run.u[k]
    if q.P is None:
        e = run.y[q.N][rows] - run.r[q.N]
        total += e @ q.Q @ e
    else:
        ξ = np.concatenate([run.x[q.N], before]) - run.steady[q.N]
        total += ξ @ q.P @ ξ
    return total + q.ρ1 @ run.slack + q.ρ2 @ run.slack**2


def set_in(made, q, θ, z, run):
    """Put a decision and its states into the symbols."""
    made.set(θ)
    count = len(q.blocks)
    made.v.z.value = z[: m * count].reshape(count, m).T
    made.v.scaled_slack.value = z[m * count :]
    made.v.X.value = np.array(run.x).T / convex._sizes(q)[:, None]


def scalar(wanted, low, high, slew=np.inf):
    """min (y − wanted)², y = u, one sample: the dense problem and θ."""
    one = lambda value: np.array([[value]])
    none = np.zeros((1, 0))
    model = Model(
        one(0.0), one(1.0), none, none, none, np.zeros(1), one(1.0), none, np.zeros(1), 1.0, 1
    )
    q = Problem(
        model,
        N=1,
        blocks=(1,),
        track=(0,),
        Q=one(1.0),
        R=one(0.0),
        S=one(0.0),
        u_min=np.array([low]),
        u_max=np.array([high]),
        slew=np.array([slew]),
        y_min=np.array([-np.inf]),
        y_max=np.array([np.inf]),
        soft=(),
        y_low=np.zeros(0),
        y_high=np.zeros(0),
        ρ1=np.zeros(0),
        ρ2=np.zeros(0),
        p=0,
    )
    return condensed(q), np.array([0.0, 0.0, wanted, 1.0])


def soft_one():
    """A row besides the bounds: y ≤ 1 softly, ρ such that z has a command and a slack."""
    one = lambda value: np.array([[value]])
    dense, θ = scalar(3.0, -2.0, 2.0)
    q = replace(
        dense.problem,
        soft=(0,),
        y_low=np.array([-np.inf]),
        y_high=np.array([1.0]),
        ρ1=np.array([0.0]),
        ρ2=np.array([1.0]),
        Q=one(1.0),
    )
    return condensed(q), θ
