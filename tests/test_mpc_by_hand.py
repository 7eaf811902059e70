"""The problem of a predictive law on a small random model, against a plain loop over samples that knows the definitions only."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from mpc_cases import cost, drawn, gone, m, n, set_in, small

from controllers.mpc import convex
from controllers.mpc.cost import residuals, root, stage_costs, stage_form
from controllers.mpc.dense import condensed
from controllers.mpc.problem import Problem, limits, sampled_model
from workbench.verification.linear.sampled_data import sampled

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


# ---- the model ------------------------------------------------------------
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
