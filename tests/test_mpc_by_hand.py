"""The problem of a predictive law on a small random model, against a plain loop over samples that knows the definitions only."""

from dataclasses import replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from controllers.mpc import convex, loop
from controllers.mpc.cost import residuals, root, stage_costs, stage_form
from controllers.mpc.dense import NONE, condensed
from controllers.mpc.loop import BROKEN, Fast, Last, Memory, Slow, Solution
from controllers.mpc.problem import Model, Problem, limits, sampled_model
from workbench.contract.errors import InputError
from workbench.verification.sampled_data import sampled

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


ENDS = [{}, {"P": None, "K": None, "H_t": None, "h_t": None}, {"R": np.zeros((m, m))}]


@pytest.mark.parametrize("changes", ENDS, ids=["terminal", "last error", "no R"])
def test_the_cost_of_any_moves_is_the_sum_over_samples(changes):
    """V of the dense problem, of its rows and of the statement in symbols, at random states, references, loads and moves."""
    rng = np.random.default_rng(31)
    q = small(rng, **changes)
    dense = condensed(q)
    made = convex.stated(q, scale=7.0)
    E = residuals(q)
    for _ in range(3):
        θ, given, z = drawn(rng, q)
        run = gone(q, given, z)
        wanted = cost(q, given, run)
        assert dense.value(θ, z) == pytest.approx(wanted, rel=1e-9)
        rows = E @ np.concatenate([θ, z])
        assert rows @ rows + q.ρ1 @ run.slack == pytest.approx(wanted, rel=1e-9)
        set_in(made, q, θ, z, run)
        assert 7.0 * made.problem.objective.value == pytest.approx(wanted, rel=1e-9)
        assert all(np.abs(rule.residual).max() < 1e-9 for rule in made.v.dynamics)


def set_in(made, q, θ, z, run):
    """Put a decision and its states into the symbols."""
    made.set(θ)
    count = len(q.blocks)
    made.v.z.value = z[: m * count].reshape(count, m).T
    made.v.scaled_slack.value = z[m * count :]
    made.v.X.value = np.array(run.x).T / convex._sizes(q)[:, None]


def test_symbols_are_what_their_names_say():
    """x, y, u, moves, slack, r and known loads of the statement are those of the run, in physical units."""
    rng = np.random.default_rng(32)
    q = small(rng)
    made = convex.stated(q)
    θ, given, z = drawn(rng, q)
    run = gone(q, given, z)
    set_in(made, q, θ, z, run)
    v = made.v
    assert v.x.value.T == pytest.approx(np.array(run.x))
    assert v.y.value.T == pytest.approx(np.array(run.y))
    assert v.u.value.T == pytest.approx(run.u)
    assert v.moves.value.T == pytest.approx(np.diff(run.u, axis=0, prepend=given.u[None]))
    assert v.slack.value == pytest.approx(run.slack)
    assert v.r.value.T == pytest.approx(np.array(run.r))
    assert np.array([e.value for e in v.known]) == pytest.approx(given.v[[0, 1, 2, 2, 2, 2]])


def test_a_horizon_of_one_sample_has_one_move():
    """The move of the only sample is counted from the command before."""
    rng = np.random.default_rng(33)
    q = small(rng, N=1, blocks=(1,), p=0)
    made = convex.stated(q)
    θ, given, z = drawn(rng, q)
    run = gone(q, given, z)
    set_in(made, q, θ, z, run)
    assert made.v.moves.value[:, 0] == pytest.approx(run.u[0] - given.u)
    assert made.problem.objective.value == pytest.approx(cost(q, given, run))
    assert condensed(q).value(θ, z) == pytest.approx(cost(q, given, run))


def test_strokes_are_half_a_range_or_the_end_there_is():
    rng = np.random.default_rng(34)
    inf = np.inf
    low = np.array([-2.0, -inf, -5.0, -inf, -inf, 0.0])
    high = np.array([3.0, 0.7, inf, inf, 0.0, inf])
    q = small(rng, u_min=low, u_max=high)
    assert q.stroke == pytest.approx([2.5, 0.7, 5.0, 1.0, 1.0, 1.0])


def kept(q, given, run):
    """Whether every limit is kept, by the definitions; with the least room that any of them has."""
    room = []
    moves = np.diff(run.u, axis=0, prepend=given.u[None])
    for k in range(q.N):
        room += [*(q.u_max - run.u[k]), *(run.u[k] - q.u_min)]
        room += [*(q.slew - np.abs(moves[k]))]
    for k in range(q.N + 1):
        felt = k > 0
        if felt:
            room += [*(q.y_max - run.y[k]), *(run.y[k] - q.y_min)]
            for i, row in enumerate(q.soft):
                room += [q.y_high[i] + run.slack[i] - run.y[k][row]]
                room += [run.y[k][row] + run.slack[i] - q.y_low[i]]
    if q.H_t is not None:
        ξ = np.concatenate([run.x[q.N], run.u[-1]]) - run.steady[q.N]
        room += [*(q.h_t - q.H_t @ ξ)]
    room += [*run.slack]
    return min(room)


LOOSE = {
    "y_min": np.array([-9.0, -np.inf, -np.inf]),
    "y_max": np.array([np.inf, np.inf, 9.0]),
    "h_t": np.array([40.0, 45.0]),
}
ONE = [
    {"y_min": LOOSE["y_min"] + 6.0},
    {"y_max": LOOSE["y_max"] - 6.0},
    {"h_t": LOOSE["h_t"] / 9},
    {"slew": np.array([0.4, np.inf])},
    {"slew": np.array([np.inf, 0.3])},
    {"u_min": np.array([-0.3, -np.inf])},
    {"u_max": np.array([np.inf, 0.1])},
    {"y_low": np.array([0.5, -np.inf])},
    {"y_high": np.array([-0.5, np.inf])},
]


@pytest.mark.parametrize("change", ONE, ids=[f"{next(iter(c))}-{i}" for i, c in enumerate(ONE)])
def test_a_decision_is_refused_where_a_limit_of_a_sample_is_passed(change):
    """The dense rows, and those of the symbols, have room exactly where the run from sample to sample has."""
    rng = np.random.default_rng(35)
    free = np.full(m, np.inf)
    wide = {
        "u_min": np.array([-7.0, -3.0]),
        "u_max": np.array([7.0, 3.0]),
        "slew": free,
        "y_low": np.full(2, -np.inf),
        "y_high": np.full(2, np.inf),
        **{name: value * 1e3 for name, value in LOOSE.items()},
    }
    q = small(rng, **(wide | change))
    dense = condensed(q)
    made = convex.stated(q)
    signs = set()
    for size in (0.01, 0.05, 0.2, 0.5, 1.0) * 12:
        θ, given, z = drawn(rng, q)
        θ[:-1] *= size
        given = SimpleNamespace(**{k: size * e for k, e in vars(given).items()})
        z *= size
        run = gone(q, given, z)
        room = kept(q, given, run)
        lower, upper = dense.bounds(θ)
        value = np.concatenate([z, dense.G @ z])
        assert (min((upper - value).min(), (value - lower).min()) >= 0) == (room >= 0)
        set_in(made, q, θ, z, run)
        inside = all(np.all(rule.violation() <= 1e-12) for rule in rules_of(made))
        assert inside == (room >= 0)
        signs.add(room >= 0)
    assert signs == {True, False}


def rules_of(made):
    """The statement's limits without its dynamics."""
    known = {id(rule) for rule in made.v.dynamics}
    return [rule for rule in made.problem.constraints if id(rule) not in known]


def test_rows_are_named_by_sample_and_signal():
    """Slew from the second move on, limits from the first sample on which a move acts, soft ones twice, the terminal set."""
    q = small(np.random.default_rng(36))
    rows, low, high, labels = limits(q)
    assert labels[:2] == ["slew at 1, command 0", "slew at 3, command 0"]
    assert labels[2:4] == ["limit at 1, output 0", "limit at 1, output 2"]
    assert labels[4:8] == [f"soft limit at 1, output {i} 0" for i in (1, 1, 2)] + [
        "limit at 2, output 0"
    ]
    assert labels[-2:] == ["terminal set 0", "terminal set 1"]
    assert np.abs(rows[:, q.n_θ :]).max(axis=1) == pytest.approx(1.0)
    assert np.isfinite(low[:2]).all() and np.isneginf(low[-2:]).all()


def test_stage_cost_as_matrices_and_along_a_run():
    """ℓ by (Q, R, S) about a steady state, and along a log, is the sum of its three squares."""
    rng = np.random.default_rng(37)
    q = small(rng)
    rows = list(q.track)
    for case in (q, replace(q, R=np.zeros((m, m)))):
        x, before, u = rng.normal(size=n), rng.normal(size=m), rng.normal(size=m)
        Q, R, S = stage_form(case)
        ξ = np.concatenate([x, before])
        e = case.model.C[rows] @ x
        wanted = e @ case.Q @ e + u @ case.R @ u + (u - before) @ case.S @ (u - before)
        assert ξ @ Q @ ξ + 2 * ξ @ S @ u + u @ R @ u == pytest.approx(wanted)
        y, r = rng.normal(size=(4, 2)), rng.normal(size=2)
        us, u_s = rng.normal(size=(4, m)), rng.normal(size=m)
        found = stage_costs(case, y, r, us, u_s)
        last = np.zeros(m)
        for k in range(4):
            e, away, move = y[k] - r, us[k] - u_s, us[k] - last
            wanted = e @ case.Q @ e + away @ case.R @ away + move @ case.S @ move
            assert found[k] == pytest.approx(wanted)
            last = us[k]


def test_roots_of_badly_scaled_and_of_singular_weights():
    for M in (
        np.diag([1e12, 1e-12]),
        np.array([[4.0, 2.0], [2.0, 1.0]]),
        np.diag([3.0, 0.0]),
        np.array([[1e10, 1e2], [1e2, 4.0]]),
    ):
        F = root(M)
        assert F.T @ F == pytest.approx(M, rel=1e-9, abs=1e-12)


# ---- the model ---------------------------------------------------------------------------------------------------------
def test_a_sampled_model_is_the_continuous_one_after_a_sample():
    """ẋ = −a x + b u + e v + k d + c alone, with v a ramp: by the integral in closed form; with a delay the old command acts."""
    a, b, e, k, c, T = 1.7, 0.8, 0.5, -0.3, 0.2, 0.4
    one = lambda value: np.array([[value]])
    made = sampled_model(
        one(-a), one(b), one(e), one(k), [c], one(2.0), one(0.9), np.array([0.1]), T, 0.0
    )
    held = (1 - np.exp(-a * T)) / a
    ramp = 1 / a - held / (a * T)  # ∫ e^{−a (T − s)} s/T ds
    assert made.A == pytest.approx(one(np.exp(-a * T)))
    assert made.B == pytest.approx(one(b * held)) and made.B_d == pytest.approx(one(k * held))
    assert made.g == pytest.approx([c * held])
    assert made.E1 == pytest.approx(one(e * ramp))
    assert made.E0 == pytest.approx(one(e * (held - ramp)))
    late = sampled_model(
        one(-a), one(b), one(e), one(k), [c], one(2.0), one(0.9), np.array([0.1]), T, T
    )
    assert late.n == 1 and late.A.shape == (2, 2)
    assert late.A[0] == pytest.approx([np.exp(-a * T), b * held])
    assert late.B == pytest.approx(np.array([[0.0], [1.0]]))
    assert late.E1[:, 0] == pytest.approx([e * ramp, 0.0]) and late.g[1] == 0.0
    none = sampled_model(
        one(-a),
        one(b),
        np.zeros((1, 0)),
        np.zeros((1, 0)),
        [c],
        one(2.0),
        np.zeros((1, 0)),
        [0.1],
        T,
        T,
    )
    assert none.E0.shape == none.E1.shape == none.B_d.shape == (2, 0)
    assert sampled(one(-a), one(b), one(2.0), one(0.0), T, 0.0).A == pytest.approx(made.A)


def test_limits_that_no_move_reaches_are_left_out():
    """With a dead time of two samples the first outputs are as they are: rows begin with the third."""
    one = lambda value: np.array([[value]])
    none = np.zeros((1, 0))
    model = sampled_model(
        one(-1.0), one(1.0), none, none, [0.0], one(1.0), none, np.zeros(1), 0.1, 0.2
    )
    wide = np.array([np.inf])
    q = Problem(
        model,
        N=4,
        blocks=(1, 1, 1, 1),
        track=(0,),
        Q=one(1.0),
        R=one(0.0),
        S=one(1.0),
        u_min=-wide,
        u_max=wide,
        slew=wide,
        y_min=np.array([-1.0]),
        y_max=np.array([2.0]),
        soft=(),
        y_low=np.zeros(0),
        y_high=np.zeros(0),
        ρ1=np.zeros(0),
        ρ2=np.zeros(0),
        p=0,
    )
    assert q.felt[:, 0].tolist() == [False, False, False, True, True]
    assert limits(q)[3] == ["limit at 3, output 0", "limit at 4, output 0"]


# ---- the solution -------------------------------------------------------------------------------------------------------
def least(q, θ):
    """A solution of the QP, of the statement, and the gap of the optimality conditions."""
    dense = condensed(q)
    fast = Fast(dense).solve(θ)
    slow = convex.stated(q, solver=cp.CLARABEL).solve(θ)
    return dense, fast, slow


def test_both_solvers_find_the_same_moves():
    rng = np.random.default_rng(38)
    q = small(rng)
    for _ in range(4):
        θ, given, _ = drawn(rng, q)
        θ[:-1] *= 0.3
        dense, fast, (u, status, iterations, value) = least(q, θ)
        if fast.status < 0:
            assert status < 0
            continue
        assert fast.status == status == 1 and iterations > 0
        assert loop.commands_of(q, fast.z).T == pytest.approx(u, abs=1e-5)
        assert dense.value(θ, fast.z) == pytest.approx(value, rel=1e-6)
        assert dense.kkt(θ, fast.z, fast.λ) < 1e-8
        assert dense.kkt(θ, fast.z + 1e-3, fast.λ) > 1e-6
        off = fast.λ.copy()
        off[0] += 1.0
        assert dense.kkt(θ, fast.z, off) > 1e-6


def test_optimality_conditions_by_hand():
    """min (z − 3)² for z ≤ 1: λ = 4 at the bound; every wrong pair leaves its own residual."""
    dense, θ = scalar(3.0, -1.0, 1.0)
    scale = dense.scale
    λ = 4.0 / scale
    assert dense.kkt(θ, np.array([1.0]), np.array([λ])) < 1e-12
    assert dense.kkt(θ, np.array([1.0]), np.array([-λ])) == pytest.approx(4 / 3)  # 8 of 6
    assert dense.kkt(θ, np.array([3.0]), np.array([0.0])) == pytest.approx(2 / 4)  # beyond by 2
    inside = dense.kkt(θ, np.array([0.0]), np.array([6.0 / scale]))
    assert inside == pytest.approx(1.0)  # a multiplier a whole unit away from its bound
    half, at = scalar(0.6, -2.0, 2.0)  # z = 0 with λ = 0.3 balances, away from the bound
    assert half.kkt(at, np.array([0.0]), np.array([0.3])) == pytest.approx(0.3)
    low, at = scalar(-3.0, -1.0, 1.0)
    assert low.kkt(at, np.array([-1.0]), np.array([-4.0 / low.scale])) < 1e-12
    assert low.kkt(at, np.array([-3.0]), np.array([0.0])) == pytest.approx(2 / 4)


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


def test_the_value_without_limits_is_least_at_the_gain():
    """u_0 = G θ where nothing is limited: the first move of the solution, command by command in its own unit."""
    rng = np.random.default_rng(39)
    wide = np.full(m, 50.0)
    q = small(
        rng,
        u_min=np.array([-50.0, -10.0]),
        u_max=np.array([50.0, 10.0]),
        slew=wide,
        soft=(),
        y_low=np.zeros(0),
        y_high=np.zeros(0),
        ρ1=np.zeros(0),
        ρ2=np.zeros(0),
        y_min=np.full(3, -np.inf),
        y_max=np.full(3, np.inf),
        H_t=None,
        h_t=None,
    )
    θ, _, _ = drawn(rng, q)
    θ[:-1] *= 0.1
    dense, fast, _ = least(q, θ)
    assert dense.gain() @ θ == pytest.approx(fast.z[:m] * q.stroke, rel=1e-6)


# ---- what stands in for a solution -------------------------------------------------------------------------------------
def memory(plan=None, age=0, u=(0.4, -0.2)):
    return Memory(np.zeros(n), None, np.array(u), plan, age, None, None)


def failed(status=-1):
    return Solution(np.full(8, np.nan), status, 0, np.zeros(0))


def test_each_stand_in_has_its_number():
    """1 the plan while it lasts, 2 the terminal law about the steady state at the horizon's end, 3 the last command."""
    rng = np.random.default_rng(40)
    inf = np.full(m, np.inf)
    q = small(rng, slew=inf, u_min=-inf, u_max=inf)
    θ, given, z = drawn(rng, q)
    run = gone(q, given, z)
    u, plan, age, number = loop.decided(q, θ, Solution(z, 1, 3, None), memory())
    assert (age, number) == (0, 0) and u == pytest.approx(run.u[0]) and plan is z
    assert loop.decided(q, θ, Solution(z, 2, 3, None), memory())[3] == 0
    u, plan, age, number = loop.decided(q, θ, Solution(z, 4, 3, None), memory(z, 0))
    assert (age, number) == (1, 1) and u == pytest.approx(run.u[1]) and plan is z
    u, _, age, number = loop.decided(q, θ, failed(), memory(z, N - 2))
    assert (age, number) == (N - 1, 1) and u == pytest.approx(run.u[-1])
    u, _, age, number = loop.decided(q, θ, failed(), memory(z, N - 1))
    away = np.concatenate([given.x, [0.4, -0.2]]) - run.steady[N]
    assert (age, number) == (N, 2) and u == pytest.approx(run.steady[N][n:] - q.K @ away)
    u, _, _, number = loop.decided(replace(q, K=None), θ, failed(), memory(z, N - 1))
    assert number == 3 and u.tolist() == [0.4, -0.2]
    assert loop.decided(q, None, failed(), memory())[3] == 3


def test_which_solutions_are_looked_at():
    """Limits on outputs and terminal sets can be nearly dependent, with or without slew beside them; slew alone cannot."""
    rng = np.random.default_rng(43)
    free = {"y_min": np.full(3, -np.inf), "y_max": np.full(3, np.inf), "H_t": None, "h_t": None}
    soft = {name: np.zeros(0) for name in ("y_low", "y_high", "ρ1", "ρ2")}
    assert Fast(condensed(small(rng))).checked
    assert not Fast(condensed(small(rng, **free, **soft, soft=()))).checked


def test_without_loads_known_ahead_the_target_is_that_of_the_reference():
    """No known disturbances: V of the symbols is still that of the rows, terminal cost and weights on commands included."""
    rng = np.random.default_rng(44)
    q = small(rng)
    none = np.zeros((n, 0))
    q = replace(q, model=replace(q.model, E0=none, E1=none))
    made = convex.stated(q)
    θ = rng.normal(size=q.n_θ)
    θ[-1] = 1.0
    z = np.abs(rng.normal(size=q.n_z))
    made.set(θ)
    made.v.z.value = z[: m * len(BLOCKS)].reshape(-1, m).T
    made.v.scaled_slack.value = z[m * len(BLOCKS) :]
    x, _, _ = q.predicted
    states = np.array([rows @ np.concatenate([θ, z]) for rows in x])
    made.v.X.value = states.T / convex._sizes(q)[:, None]
    assert made.problem.objective.value == pytest.approx(condensed(q).value(θ, z), rel=1e-9)


def test_a_stand_in_keeps_slew_and_range():
    rng = np.random.default_rng(41)
    low, high, slew = np.array([-0.5, -1.0]), np.array([0.45, 1.0]), np.array([0.3, 0.3])
    q = small(rng, u_min=low, u_max=high, slew=slew)
    for value, ends in ((1e3, [0.45, 0.1]), (-1e3, [0.1, -0.5])):
        z = np.full(8, value)
        u, *_ = loop.decided(q, None, failed(), memory(z, 0))
        assert u == pytest.approx(ends)


def test_what_a_sample_logs():
    """Status, iterations, V, the largest slack in the output's unit, the stand-in, active limits and the residual."""
    rng = np.random.default_rng(42)
    q = small(rng)
    dense = condensed(q)
    θ, _, z = drawn(rng, q)
    z[-2:] = [0.6, 1.2]  # slacks of √ρ₂ s
    λ = np.zeros(len(z) + len(dense.G))
    λ[[0, 3, 4]] = 2e3, -1e-3, 1e-10
    row = loop.logged(Last(θ, Solution(z, 1, 17, λ), None, 2, dense))
    assert row[0] == 1 and row[1] == 17 and row[4] == 2 and row[5] == 2
    assert row[2] == pytest.approx(dense.value(θ, z))
    assert row[3] == pytest.approx(max(0.6 / 2, 1.2 / 3))
    assert row[6] == pytest.approx(dense.kkt(θ, z, λ))
    tight = z.copy()
    tight[-2:] = -0.1
    assert loop.logged(Last(θ, Solution(tight, 1, 17, λ), None, 0, dense))[3] == 0.0
    bare = loop.logged(Last(θ, Solution(z, 1, 17, np.zeros(0)), None, 0, dense))
    assert np.isnan(bare[6]) and bare[5] == 0
    lost = loop.logged(Last(θ, failed(-6), None, 3, dense))
    assert (
        lost[:2] == [-6, 0] and lost[4:6] == [3, 0] and np.isnan([lost[2], lost[3], lost[6]]).all()
    )


class Liar:
    """Stands for DAQP: says optimal at z."""

    settings = None

    def __init__(self, z, flag=1):
        self.answer = np.asarray(z, float), 0.0, flag, {"iterations": 5, "lam": np.zeros(9)}

    def update(self, **_):
        return 0

    def solve(self):
        return self.answer


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


@pytest.mark.parametrize(
    "z, beyond",
    [
        ([1.5, 0.5], 0.0),
        ([2.5, 2.0], 0.5),
        ([-2.5, 0.0], 0.5),
        ([1.5, -0.4], 0.9),
        ([0.5, 0.1], -0.1),
    ],
)
def test_how_far_a_solution_is_beyond_its_limits(z, beyond):
    """|u| ≤ 2 counts in strokes of 2, s ≥ 0, and y − s ≤ 1: the largest excess of any of them."""
    dense, θ = soft_one()
    fast = Fast(dense)
    fast.solve(θ)
    u = np.array([z[0] / 2, z[1]])
    lower, upper = dense.bounds(θ)
    value = np.concatenate([u, dense.G @ u])
    wanted = max(*(value - upper), *(lower - value))
    assert fast._excess(u) == pytest.approx(wanted)
    assert np.sign(round(wanted, 9)) == np.sign(beyond)


def test_a_solution_beyond_a_limit_is_asked_for_once_more_and_then_refused(monkeypatch):
    """A lie that the solver repeats ends as "beyond a limit", or as its own worse flag; one it does not repeat is mended."""
    dense, θ = soft_one()
    fast = Fast(dense)
    honest = fast.solve(θ)
    assert honest.status == 1 and fast.checked
    fast.model = Liar([1.0, -3.0])
    mended = fast.solve(θ)
    assert mended.status == 1 and mended.z == pytest.approx(honest.z)
    monkeypatch.setattr(Fast, "_set_up", lambda self, f: setattr(self, "model", Liar([1.0, -3.0])))
    fast.model = Liar([1.0, -3.0])
    refused = fast.solve(θ)
    assert refused.status == BROKEN == -9 and np.isnan(refused.z).all() and fast.model is None
    assert BROKEN not in {1, 2, 4, *convex.STATUS.values()} and BROKEN < 0
    flagged = lambda self, f: setattr(self, "model", Liar([1.0, 0.0], -12))
    monkeypatch.setattr(Fast, "_set_up", flagged)
    fast.model = Liar([1.0, -3.0])
    assert fast.solve(θ).status == -12
    nothing = lambda self, f: setattr(self, "model", Liar([1.0, 0.0], 0))
    monkeypatch.setattr(Fast, "_set_up", nothing)
    fast.model = Liar([1.0, -3.0])
    assert fast.solve(θ).status == BROKEN
    fast.model = Liar([1.0, 0.0], 0)
    assert fast.solve(θ).status == 0


def test_the_first_move_is_within_the_slew_of_the_last_command():
    """Bounds of the first move: range and slew from u_{−1}, whichever is nearer, on both sides."""
    dense, θ = scalar(9.0, -2.0, 2.0, slew=0.5)
    fast = Fast(dense)
    for before, wanted, found in (
        (0.4, 9.0, 0.9),
        (1.8, 9.0, 2.0),
        (0.4, -9.0, -0.1),
        (-1.9, -9.0, -2.0),
    ):
        θ[1], θ[2] = before, wanted
        assert fast.solve(θ).z[0] * 2.0 == pytest.approx(found)
        lower, upper = dense.bounds(θ)
        assert lower[0] * 2 == pytest.approx(max(-2.0, before - 0.5))
        assert upper[0] * 2 == pytest.approx(min(2.0, before + 0.5))


def test_moves_without_weight_are_refused():
    dense, _ = scalar(1.0, -1.0, 1.0)
    idle = replace(dense.problem, Q=np.array([[0.0]]), S=np.array([[1.0]]), blocks=(1, 1), N=2)
    condensed(idle)
    with pytest.raises(InputError, match="leaves some move free"):
        condensed(replace(idle, S=np.array([[0.0]])))
    assert NONE == 1e30


# ---- what a user adds ---------------------------------------------------------------------------------------------------
def test_every_number_and_term_that_a_user_adds_counts_in_v():
    """A constant 5, an affine term and a square: V is theirs and the problem's, whatever order they come in."""
    dense, θ = scalar(3.0, -2.0, 2.0)
    q = dense.problem

    def extra(v):
        return [5, v.u[0, 0] <= 1.5, 2.5, 2.0 * v.u[0, 0], 3.0 * cp.square(v.u[0, 0])]

    made = convex.stated(q, extra=extra, scale=2.0)
    u, status, iterations, value = made.solve(θ)
    best = 1.0 / 2.0  # (u − 3)² + 2u + 3u² is least at u = 1/2
    assert status == 1 and iterations > 0 and u[0, 0] == pytest.approx(best, abs=1e-6)
    assert value == pytest.approx((best - 3) ** 2 + 2 * best + 3 * best**2 + 9 + 7.5, rel=1e-8)
    alone = convex.stated(q, extra=lambda v: v.u[0, 0] <= 1.5)
    assert alone.solver == cp.CLARABEL and alone.solve(θ)[0][0, 0] == pytest.approx(1.5, abs=1e-6)
    assert convex.stated(q).solver == cp.DAQP
    found = Slow(alone, dense).solve(θ)
    assert found.z == pytest.approx([0.75], abs=1e-6) and found.status == 1


def test_a_statement_without_a_solution_says_which_kind():
    dense, θ = scalar(3.0, -2.0, 2.0)
    q = dense.problem
    never = convex.stated(q, extra=lambda v: v.u[0, 0] >= 5.0)
    u, status, _, _ = never.solve(θ)
    assert status == -1 and np.isnan(u).all() and u.shape == (1, 1)
    endless = convex.stated(q, extra=lambda v: -cp.Variable())
    assert endless.solve(θ)[1] == -3
    assert convex.STATUS[cp.OPTIMAL_INACCURATE] not in (1, 2)
    negative = {cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE, cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE}
    assert all(convex.STATUS[s] < 0 for s in (*negative, cp.USER_LIMIT, cp.SOLVER_ERROR))


def test_slow_solutions_carry_the_slack():
    dense, θ = soft_one()
    found = Slow(convex.stated(dense.problem, solver=cp.CLARABEL), dense).solve(θ)
    assert found.z == pytest.approx([1.0, 1.0], abs=1e-5)  # (u − 3)² + (u − 1)² at u = 2: stroke 2


@pytest.mark.parametrize("high, fine", [(2.5, True), (1.5, False)])
def test_limits_that_contradict_each_other_for_every_state(high, fine):
    """Outputs y and 2 y: y ≥ 1 and 2 y ≤ 2.5 have room, 2 y ≤ 1.5 has none."""
    dense, _ = scalar(3.0, -2.0, 2.0)
    both = np.array([[1.0], [2.0]])
    none = np.zeros((2, 0))
    model = dense.problem.model
    model = replace(model, A=np.array([[0.5]]), C=both, C_d=none, h=np.zeros(2))
    low, up = np.array([1.0, -np.inf]), np.array([np.inf, high])
    q = replace(dense.problem, model=model, y_min=low, y_max=up)
    θ = np.array([7.0, 0.0, 3.0, 1.0])
    made = condensed(q)
    if fine:
        loop.feasible_somewhere(made, θ)
        return
    with pytest.raises(InputError, match="contradict each other"):
        loop.feasible_somewhere(made, θ)
