"""Solutions of a predictive law: both solvers, optimality by hand, what stands in for a solution, what a user adds."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from mpc_cases import BLOCKS, N, drawn, gone, m, n, scalar, small, soft_one

from controllers.mpc import convex, loop
from controllers.mpc.dense import NONE, condensed
from controllers.mpc.loop import BROKEN, Fast, Last, Memory, Slow, Solution
from workbench.contract.errors import InputError


# ---- the solution ------------------------------------------------------------
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


# ---- what stands in for a solution --------------------------------------------------
def memory(solved=None, age=0, u=(0.4, -0.2)):
    return Memory(np.zeros(n), None, np.array(u), solved, age, None, None)


def failed(status=-1):
    return Solution(np.full(8, np.nan), status, 0, np.zeros(0))


def test_each_stand_in_has_its_number():
    """1 the solution while it lasts, 2 the terminal law about the steady state at the horizon's end, 3 the last command."""
    rng = np.random.default_rng(40)
    inf = np.full(m, np.inf)
    q = small(rng, slew=inf, u_min=-inf, u_max=inf)
    θ, given, z = drawn(rng, q)
    run = gone(q, given, z)
    u, solved, age, number = loop.decided(q, θ, Solution(z, 1, 3, None), memory())
    assert (age, number) == (0, 0) and u == pytest.approx(run.u[0]) and solved is z
    assert loop.decided(q, θ, Solution(z, 2, 3, None), memory())[3] == 0
    u, solved, age, number = loop.decided(q, θ, Solution(z, 4, 3, None), memory(z, 0))
    assert (age, number) == (1, 1) and u == pytest.approx(run.u[1]) and solved is z
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


# ---- what a user adds ------------------------------------------------------------
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
