"""Predictive control: closed forms, two statements of one problem, optimality, limits, offsets, previews, refusals."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from actuator import SLEW, X_MAX, Actuator, drawn, mpc

from controllers import MPC, Limit, Observer
from controllers.lqr import riccati
from controllers.mpc_check import refined
from controllers.mpc_cvxpy import stated
from controllers.mpc_problem import residuals
from controllers.terminal_set import admissible, largest, overshoot
from workbench import ClosedLoop, Delayed, Hold, Sampled, Scenario, Sine, simulate
from workbench.errors import InputError
from workbench.system import names

PLANT = Actuator()
SOFT = Limit("Y", -3e-4, 3e-4, soft=True, linear=2.0, quadratic=1e7)
VARIANTS = {
    "plain": {},
    "no terminal cost": {"terminal": "none"},
    "terminal set": {"terminal": "set", "room": 0.3},
    "blocks": {"blocks": (1, 2, 3, 5)},
    "weighted commands": {"R": (3e5,)},
    "soft": {"limits": (SOFT,)},
    "delayed": {"delay": 1.4e-3},
    "no preview": {"preview": 0},
    "preview of three": {"preview": 3},
    "estimated load": {"observer": Observer(σ_y=(1e-6,), σ_d=(30.0,), disturbance=("F_ext",)), "known": ()},
}


@pytest.fixture(scope="module", params=VARIANTS)
def law(request):
    return mpc(**VARIANTS[request.param])


def draws(law, count, seed=0):
    rng = np.random.default_rng(seed)
    return [drawn(law, rng, spread) for spread in np.geomspace(0.02, 1.0, count)]


def solved(law, θs):
    """Solutions that exist, solver and all; infeasible draws (a terminal set out of reach) are left out."""
    solver = law.solver(law.prepared)
    found = [(θ, solver.solve(θ)) for θ in θs]
    return [(θ, s) for θ, s in found if s.status == 1]


def commands(law, s):
    q = law.prepared.problem
    return np.repeat(s.z[: len(q.blocks)], q.blocks) * q.stroke[0]


# ---- closed forms ----------------------------------------------------------------------------------------------------
def test_without_limits_it_is_the_regulator():
    """With the Riccati equation's cost at the end the first move is −K ξ, whatever the horizon."""
    for N in (1, 4, 17):
        law = mpc(N=N, u_min=(), u_max=(), slew=(), R=(2e4,), known=())
        q, gain = law.prepared.problem, law.gain()
        n = len(q.model.A)
        C = q.model.C
        A = np.block([[q.model.A, np.zeros((n, 1))], [np.zeros((1, n + 1))]])
        Q, S = np.zeros((n + 1, n + 1)), np.zeros((n + 1, 1))
        Q[:n, :n], Q[n, n], S[n, 0] = 1e6 * C.T @ C, 1e5, -1e5
        K = riccati(A, np.vstack([q.model.B, [[1.0]]]), Q, [[1.2e5]], S).K
        assert np.allclose(np.hstack([gain["x"], gain["u"]]), -K, rtol=1e-8, atol=1e-8 * np.abs(K).max())
        rng = np.random.default_rng(1)
        x, u = 1e-2 * rng.normal(size=n), 1e-4
        (_, s), = solved(law, [law.parameter(x, 0.0, u=u)])
        assert np.isclose(commands(law, s)[0], -(K @ [*x, u])[0], rtol=1e-8)
        assert np.isclose(law.value(x, 0.0, u=u), np.r_[x, u] @ law.terminal_data.P @ np.r_[x, u], rtol=1e-9)


def test_one_step_by_hand():
    """N = 1, no terminal cost: V = Q(y₀ − r₀)² + Q(y₁ − r₁)² + S(u − u₋₁)², y₁ = c(Ax + Bu)."""
    law = mpc(N=1, terminal="none", known=())
    m = law.prepared.problem.model
    x, u_before, r = np.array([1e-3, 2e-3, -1e-3, 0.0, 2e-5]), 5e-5, 1e-6
    b, free = (m.C @ m.B)[0, 0], (m.C @ m.A @ x)[0]
    u = (1e6 * b * (r - free) + 1e5 * u_before) / (1e6 * b * b + 1e5)
    (_, s), = solved(law, [law.parameter(x, r, u=u_before)])
    assert np.isclose(commands(law, s)[0], u, rtol=1e-10)
    V = 1e6 * ((x[4] - r) ** 2 + (free + b * u - r) ** 2) + 1e5 * (u - u_before) ** 2
    assert np.isclose(law.value(x, r, u=u_before), V, rtol=1e-10)


def test_prediction_is_the_plant():
    """The model's states N samples on against a simulated plant, with a load that is linear between samples."""
    law = mpc(N=25, delay=1.4e-3)
    q = law.prepared.problem
    rng = np.random.default_rng(3)
    u = X_MAX * rng.uniform(-1, 1, 25)
    x, _, _ = q.predicted
    slope = 2e4
    load = [100.0 + slope * 1e-3 * k for k in range(26)]
    θ = np.concatenate([np.zeros(len(q.model.A)), [0.0], [0.0], np.zeros(26), load, [1.0]])
    predicted = x[-1] @ np.concatenate([θ, u / X_MAX])

    class Given:
        T_s, k = 1e-3, -1

        def step(self, t, z, y, r):
            self.k += 1
            return z, [u[min(self.k, 24)]]

    class Ramp:
        def sample(self, t, order):
            return (100.0 + slope * np.asarray(t))[None, :, None]

    loop = ClosedLoop(PLANT, Delayed(Sampled(Given(), 1e-3), 1.4e-3))
    log = simulate(loop, Scenario(0.025, disturbances={"F_ext": Ramp()}, max_step=2e-5))
    simulated = [log.array(name)[25] for name in names(PLANT.states)]
    assert np.allclose(predicted[:5], simulated, rtol=1e-7, atol=1e-12)


# ---- one problem, two statements, and its optimality conditions -------------------------------------------------------
def test_dense_problem_is_the_stated_one(law):
    """Commands of the dense QP, to 1e-8 of full stroke, and its value, from the statement in cvxpy; limits active."""
    q, dense = law.prepared.problem, law.prepared.dense
    found = solved(law, draws(law, 12))
    assert len(found) >= 4
    problem = stated(q, scale=dense.scale, solver=cp.DAQP)
    other = stated(q, scale=dense.scale, solver=cp.CLARABEL)
    for θ, s in found:
        u, status, _, V = problem.solve(θ)
        assert status == 1 and np.abs(u[0] - commands(law, s)).max() < 1e-8 * X_MAX
        u, status, _, V = other.solve(θ)  # an interior-point method: no active set at all
        assert status == 1 and np.isclose(V, dense.value(θ, s.z), rtol=1e-6, atol=1e-9 * dense.scale)
    assert max(np.count_nonzero(s.λ) for _, s in found) >= 1


def test_optimality_conditions(law):
    found = solved(law, draws(law, 40, 5))
    assert len(found) >= 10
    assert max(law.prepared.dense.kkt(θ, s.z, s.λ) for θ, s in found) < 1e-11
    θ, s = found[-1]
    z = s.z.copy()
    z[0] += 1e-6  # a planted fault is seen
    assert law.prepared.dense.kkt(θ, z, s.λ) > 1e-10


def test_first_move_against_extended_precision(law):
    """The active set's linear system with extended residuals: optimal to 1e-12, and the first move the same to 1e-8."""
    for θ, s in solved(law, draws(law, 30, 9)):
        z, _, residual = refined(law.prepared.dense, θ, s.λ)
        assert residual < 1e-12 and abs(z[0] - s.z[0]) < 1e-8
        wrong = np.where(np.arange(len(s.λ)) == np.argmax(np.abs(s.λ)), 0.0, s.λ)
        if np.abs(s.λ).max() > 1e-3:  # one active limit forgotten
            assert refined(law.prepared.dense, θ, wrong)[2] > 1e-9


def test_warm_start_does_not_change_the_solution(law):
    warm = solved(law, draws(law, 25, 6))
    for θ, s in warm[::-1]:
        fresh = law.solver(law.prepared).solve(θ)
        assert np.abs(fresh.z - s.z).max() < 1e-9


def test_value_is_the_sum_of_its_terms():
    law = mpc(limits=(SOFT,), R=(2e4,))
    q = law.prepared.problem
    θ = draws(law, 3)[1]
    rng = np.random.default_rng(0)
    z = 0.3 * rng.uniform(size=q.n_z)
    w = np.concatenate([θ, z])
    x, u, y = (np.array([e @ w for e in group]) for group in q.predicted)
    r, at, one = θ[q.at["r"]], q.at, []
    for k in range(20):
        u_s = q.steady(k)[1] @ w
        one.append(1e6 * (y[k, 0] - r[k]) ** 2 + 2e4 * (u[k + 1] - u_s)[0] ** 2 + 1e5 * (u[k + 1] - u[k])[0] ** 2)
    x_s, u_s = (M @ w for M in q.steady(20))
    δ = np.concatenate([x[-1] - x_s, u[-1] - u_s])
    s = z[-1] / np.sqrt(SOFT.quadratic)
    V = sum(one) + δ @ q.P @ δ + SOFT.linear * s + SOFT.quadratic * s**2
    assert np.isclose(law.prepared.dense.value(θ, z), V, rtol=1e-9)
    assert at["one"].stop == len(θ) and len(residuals(q)[0]) == len(w)


# ---- limits ----------------------------------------------------------------------------------------------------------
def test_blocks_hold_and_the_last_goes_on():
    law = mpc(blocks=(1, 2, 3))
    assert law.lengths == (1, 2, 17) and mpc().lengths == (1,) * 20
    for θ, _ in solved(law, draws(law, 5)):
        u, *_ = stated(law.prepared.problem, scale=law.prepared.dense.scale).solve(θ)
        assert np.ptp(u[0, 1:3]) == np.ptp(u[0, 3:]) == 0.0
    free, blocked = mpc(), mpc(blocks=(1, 2, 3))
    x = [0.0, 0.0, 0.0, 0.0, 1e-4]
    assert free.value(x, 0.0) < blocked.value(x, 0.0)


def tracking(law, scenario, plant=PLANT):
    log = simulate(ClosedLoop(plant, law), replace(scenario, max_step=5e-5))  # fine for lags of 0.4 ms
    return log, log.array("Y_d") - log.array("Y")


STEP = Scenario(0.12, Hold("output", (2e-3,)))


def test_commands_keep_their_limits():
    log, e = tracking(mpc(), STEP)
    u = log.array("X")
    moves = np.diff(np.concatenate([[0.0], u]))
    assert np.abs(u).max() <= X_MAX * (1 + 1e-9) and np.abs(moves).max() <= SLEW * 1e-3 * (1 + 1e-9)
    assert np.count_nonzero(u > X_MAX * (1 - 1e-9)) > 10 and np.count_nonzero(moves > 0.999 * SLEW * 1e-3) >= 4
    assert log.array("mpc_active").max() >= 5 and abs(e[-1]) < 1e-8
    assert set(log.array("mpc_status")) == {1.0} and not log.array("mpc_fallback").any()


def test_hard_and_soft_limits_on_the_output():
    beyond = Scenario(0.1, Hold("output", (5e-4,)))
    hard, _ = tracking(mpc(limits=(Limit("Y", -4e-4, 4e-4),)), beyond)
    assert hard.array("Y").max() < 4e-4 * (1 + 1e-6) and hard.array("Y")[-1] > 4e-4 * (1 - 1e-3)
    soft, _ = tracking(mpc(limits=(Limit("Y", -4e-4, 4e-4, soft=True, linear=0.0, quadratic=3e7),)), beyond)
    assert 4.05e-4 < soft.array("Y").max() < 4.99e-4
    assert np.isclose(soft.array("mpc_slack")[-1], soft.array("Y")[-1] - 4e-4, rtol=0.2)
    exact, _ = tracking(mpc(limits=(Limit("Y", -4e-4, 4e-4, soft=True, linear=1e5, quadratic=1e6),)), beyond)
    assert exact.array("Y").max() < 4e-4 * (1 + 1e-6)  # a linear penalty that is large enough makes it hard


# ---- offsets, previews, delays ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("disturbance, σ_d", [("X", 1e-6), ("F_ext", 30.0)])
def test_no_offset_under_load_and_with_a_wrong_model(disturbance, σ_d):
    law = mpc(known=(), observer=Observer(σ_y=(1e-6,), σ_d=(σ_d,), disturbance=(disturbance,)))
    truth = Actuator(K=97.0, λ=(1.3e-3, 0.9e-3, 1.0e-3), K_F=-7.5e-6)
    log, e = tracking(law, Scenario(0.5, Hold("output", (3e-4,)), {"F_ext": 350.0}), truth)
    assert abs(e[-1]) < 1e-10
    expected = {"X": 7.5e-6 * -350.0 / 97.0 * -1 / -1, "F_ext": None}[disturbance]
    if expected is not None:  # the command holds the load, so the disturbance at X is its negative
        assert np.isclose(log.array("d_X_hat")[-1], expected, rtol=1e-6) and np.isclose(log.array("X")[-1], -expected, rtol=1e-6)
    blind = replace(PLANT, all_states=True)
    seen = MPC(blind, Q=(1e6,), S=(1e5,), u_min=(-X_MAX,), u_max=(X_MAX,), tracked=("Y",))
    _, off = tracking(seen, Scenario(0.5, Hold("output", (3e-4, 0, 0, 0, 0)), {"F_ext": 350.0}), replace(truth, all_states=True))
    assert abs(off[-1]) > 1e-6  # without an estimate there is one


def test_preview_of_a_load_and_of_the_reference():
    scenario = Scenario(0.8, Sine("output", 0.0, (2e-3,), 2.0, ramp=0.3), {"F_ext": Sine("output", 0.0, 400.0, 9.0, ramp=0.1)})
    error = {}
    for name, changes in {"ahead": {}, "now": {"preview": 0}, "estimated": {"known": ()}}.items():
        _, e = tracking(mpc(**changes), scenario)
        error[name] = np.abs(e[300:]).max()
    assert error["ahead"] < 1e-7
    assert error["estimated"] > 20 * error["ahead"] and error["now"] > 20 * error["ahead"]


def test_delay_is_predicted_through():
    scenario = Scenario(0.1, Hold("output", (1e-4,)))
    over = {}
    for told in (0.0, 2.4e-3):
        log = simulate(ClosedLoop(PLANT, Delayed(Sampled(mpc(delay=told, S=(3e4,)), 1e-3), 2.4e-3)), scenario)
        over[told] = log.array("Y").max() / 1e-4 - 1
    assert over[2.4e-3] < 0.2 * over[0.0] and over[0.0] > 0.1


def test_previews_are_shifted_references():
    law = mpc(N=4)
    seen = []

    class Spy:
        T_s, measured, commands, references = law.T_s, law.measured, law.commands, law.references

        def step(self, t, z, y, r):
            seen.append(r)
            return z, [0.0]

    push = Sine("output", 10.0, 5.0, 30.0, ramp=0.01)
    log = simulate(ClosedLoop(PLANT, Spy()), Scenario(0.05, Sine("output", 0.0, (1e-3,), 3.0, ramp=0.02), {"F_ext": push}))
    assert [s.name for s in law.references] == ["Y_d", *(f"Y_d@{k}" for k in range(1, 5)), *(f"F_ext@{k}" for k in range(5))]
    r = np.array(seen)
    for k in range(5):
        assert np.allclose(r[: len(r) - k, k], log.array("Y_d")[k:], rtol=0, atol=1e-15)
        assert np.allclose(r[: len(r) - k, 5 + k], log.array("F_ext")[k:], rtol=1e-12)
    t_last = log.time[-1] + 4e-3
    assert np.isclose(r[-1, 9], push.sample(np.array([t_last]), 0)[0, 0, 0], rtol=1e-12)


# ---- failures --------------------------------------------------------------------------------------------------------
def test_infeasible_falls_back_and_says_so():
    """A push that the model does not know throws the output over a hard limit: plan, then law, both within the limits."""
    law = mpc(limits=(Limit("Y", -1e-4, 1e-4),), known=(), N=8)

    class Kick:
        def sample(self, t, order):
            return np.where((np.asarray(t) > 0.02) & (np.asarray(t) < 0.05), -9000.0, 0.0)[None, :, None]

    log, e = tracking(law, Scenario(0.4, Hold("output", (5e-5,)), {"F_ext": Kick()}))
    status, fallback, u = log.array("mpc_status"), log.array("mpc_fallback"), log.array("X")
    assert np.array_equal(status != 1.0, fallback > 0) and {0.0, 1.0, 2.0} <= set(fallback)
    assert set(status) <= {1.0, -1.0, -6.0} and np.isnan(log.array("mpc_cost")[fallback > 0]).all()
    assert np.abs(u).max() <= X_MAX * (1 + 1e-9) and np.abs(np.diff(u)).max() <= SLEW * 1e-3 * (1 + 1e-9)
    first = int(np.flatnonzero(fallback)[0])
    assert log.time[first] > 0.02 and fallback[first] == 1.0
    assert fallback[-1] == 0 and abs(e[-1]) < 1e-7  # and it recovers


def test_fallback_is_the_plan_shifted():
    law = mpc(limits=(Limit("Y", -1e-4, 1e-4),), N=6, known=())
    r = [5e-5] * 7
    z, _ = law.step(0.0, law.start(0.0, law.initial(), [2e-5], r), [2e-5], r)
    plan = z.plan * X_MAX
    for k in range(1, 6):
        z, u = law.step(k * 1e-3, z, [3e-3], r)
        assert z.last.fallback == 1 and np.isclose(u[0], plan[k], rtol=1e-9, atol=1e-12)
    z, u = law.step(6e-3, z, [3e-3], r)
    assert z.last.fallback == 2 and abs(u[0] - plan[5]) <= SLEW * 1e-3 * (1 + 1e-9)
    assert law.monitor(6e-3, z, [3e-3], r)[4] == 2.0 and law.monitor(6e-3, z, [3e-3], r)[0] < 0


@pytest.mark.parametrize("changes, words", [
    ({"N": 0}, "horizon N = 0"),
    ({"N": 2.5}, "horizon N = 2.5"),
    ({"blocks": (3, 0)}, "blocks"),
    ({"blocks": (15, 15)}, "at most N = 20"),
    ({"preview": -1}, "preview = -1"),
    ({"u_min": (1.0,), "u_max": (-1.0,)}, "u_min, 1, must be below u_max, -1"),
    ({"limits": (Limit("Y", 1e-3), Limit("Y", None, -1e-3))}, "limits of Y contradict each other"),
    ({"limits": (Limit("Z", 1e-3),)}, "no signal 'Z'"),
    ({"tracked": ("Z",)}, "no signal 'Z'"),
    ({"known": ("F",)}, "no signal 'F'"),
    ({"R": (0.0,), "S": (0.0,)}, "R: .* not positive definite"),
    ({"R": (0.0,), "S": (0.0,), "terminal": "none", "delay": 3e-3}, "leaves some move free"),
    ({"Q": (-1.0,)}, "Q: -1.0"),
    ({"Q": (1.0, 2.0)}, "Q: expected 1 or 1 numbers, got 2"),
    ({"observer": None}, "a, b, v, w of Actuator are not measured"),
    ({"observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,), disturbance=("Y",))}, "Y cannot be told apart"),
    ({"observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,), disturbance=("X", "F_ext"))}, "X, F_ext cannot be told apart"),
    ({"terminal": "set", "room": 1.0}, "leaves no room"),
    ({"terminal": "ball"}, "'ball' is unknown"),
    ({"relinearise": True, "terminal": "set"}, "problem changes every sample"),
])
def test_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        mpc(**changes)


def test_limits_of_a_sample_that_no_state_can_keep_are_refused():
    """Y above 1 mm and its speed within ±1 mm/s and below … no contradiction; two outputs that are one signal are."""

    class Doubled(Actuator):
        @property
        def outputs(self):
            return (*super().outputs, replace(super().outputs[0], name="Y2"))

        def out(self, t, x):
            return [x[4], 2 * x[4]]

    settings = {"Q": (1e6,), "S": (1e5,), "u_min": (-X_MAX,), "u_max": (X_MAX,), "tracked": ("Y",),
                "observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,))}
    MPC(Doubled(), **settings, limits=(Limit("Y", 1e-3, 2e-3), Limit("Y2", 3e-3, 5e-3)))
    with pytest.raises(InputError, match="contradict each other: no state"):
        MPC(Doubled(), **settings, limits=(Limit("Y", 1e-3, 2e-3), Limit("Y2", 5e-3, 6e-3)))


# ---- what a user adds -------------------------------------------------------------------------------------------------
def test_a_users_convex_additions():
    def gentle(v):
        return [v.y[0, 1:] <= 1.0e-4, 3e4 * cp.sum_squares(v.u[0, :5])]

    law = mpc(N=8, extra=gentle)
    limited = mpc(N=8, limits=(Limit("Y", None, 1.0e-4),))
    assert "0x" not in repr(law.extra) and "gentle" in repr(law.extra)
    scenario = Scenario(0.03, Hold("output", (2e-4,)))
    log, _ = tracking(law, scenario)
    assert set(log.array("mpc_status")) == {1.0} and log.array("Y").max() < 1.0e-4 * (1 + 1e-5)
    plain, _ = tracking(limited, scenario)
    only = mpc(N=8, extra=lambda v: v.y[0, 1:] <= 1.0e-4)
    same, _ = tracking(only, scenario)
    assert np.abs(same.array("X") - plain.array("X")).max() < 1e-5 * X_MAX
    assert np.abs(log.array("X") - plain.array("X")).max() > 1e-3 * X_MAX


@pytest.mark.parametrize("extra, words", [
    (lambda v: v.u[0, 0] ** 2 >= 1e-9, "(?s)item 1 .* constraint is not convex"),
    (lambda v: [v.u[0, 0] <= 1, -cp.sum_squares(v.x)], "(?s)item 2 .* cost term is not convex"),
    (lambda v: [v.u], "a cost term is one number"),
    (lambda v: [v.y[0, 3] <= 1.0, "fast"], "neither a cvxpy constraint nor a cvxpy expression"),
    (lambda v: -cp.Variable(), "no lowest value"),
    (lambda v: v.u[0, 0] >= 2 * X_MAX, "limits contradict each other"),
    (lambda v: v.r[0, 0] * v.d[0] * v.u[0, 0], "not convex|compiled once"),
])
def test_a_users_additions_are_judged(extra, words):
    with pytest.raises(InputError, match=words):
        mpc(N=5, extra=extra)


def test_inaccurate_is_not_optimal():
    law = mpc(N=5, extra=lambda v: v.u[0, 0] <= 1.0)
    z = law.start(0.0, law.initial(), [0.0], None)
    solution = z.solver.solve(law.parameter(np.zeros(5), 1e-5))

    class Weak:
        def solve(self, θ):
            return solution._replace(status=4)

    r = [1e-5] * 6 + [0.0] * 6
    z, _ = law.step(0.0, z._replace(solver=Weak()), [0.0], r)
    assert z.last.fallback != 0 and law.monitor(0.0, z, [0.0], r)[0] == 4.0


# ---- terminal sets ----------------------------------------------------------------------------------------------------
def test_terminal_set_is_invariant_and_keeps_the_limits():
    terminal = mpc(terminal="set", room=0.4).terminal_data
    assert overshoot(terminal.A_K, terminal.H, terminal.h) < 1e-8
    for row, edge in zip(terminal.M, terminal.b):
        for sign in (1, -1):
            assert largest(np.zeros((0, len(row))), np.zeros(0), sign * row, terminal.H, terminal.h) < edge * (1 + 1e-8)
    rng = np.random.default_rng(7)
    L = np.linalg.inv(np.linalg.cholesky(terminal.P)).T
    directions = rng.normal(size=(300, len(L))) @ L.T
    δ = directions / (directions @ terminal.H.T / terminal.h).max(axis=1)[:, None]  # on the boundary
    for _ in range(60):
        assert (np.abs(δ @ terminal.M.T) <= terminal.b * (1 + 1e-8)).all()
        δ = δ @ terminal.A_K.T
        assert (δ @ terminal.H.T <= terminal.h * (1 + 1e-8)).all()
    inside = directions * np.sqrt(terminal.level / np.einsum("ij,jk,ik->i", directions, terminal.P, directions))[:, None]
    assert (inside @ terminal.H.T <= terminal.h * (1 + 1e-8)).all()
    assert overshoot(terminal.A_K, terminal.H, terminal.h * np.where(np.arange(len(terminal.h)) == 0, 0.5, 1.0)) > 1e-3


def test_terminal_set_is_the_largest():
    """Beyond its boundary the law breaks a limit some time later."""
    terminal = mpc(terminal="set", room=0.4).terminal_data
    rng = np.random.default_rng(8)
    L = np.linalg.inv(np.linalg.cholesky(terminal.P)).T
    for direction in rng.normal(size=(50, len(L))) @ L.T:
        δ = direction / (direction @ terminal.H.T / terminal.h).max() * 1.001
        worst = 0.0
        for _ in range(400):
            worst = max(worst, (np.abs(terminal.M @ δ) / terminal.b).max())
            δ = terminal.A_K @ δ
        assert worst > 1.0


def test_scalar_terminal_set():
    H, h = admissible(np.array([[0.5]]), np.array([[2.0]]), np.array([3.0]))
    assert np.allclose(sorted((H.ravel() / h).tolist()), [-2 / 3, 2 / 3])
    H, h = admissible(np.array([[0.9, 0.5], [0.0, 0.9]]), np.array([[1.0, 0.0]]), np.array([1.0]))
    assert len(h) > 4 and overshoot(np.array([[0.9, 0.5], [0.0, 0.9]]), H, h) < 1e-8
    with pytest.raises(InputError, match="not determined"):
        admissible(np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]]), np.array([[1.0, 0.0]]), np.array([1.0]))


def test_cost_falls_by_the_stage_cost():
    """With terminal cost and set, full state and the plant as model: V(x⁺) ≤ V(x) − ℓ, the theorem's inequality."""
    plant = Actuator(all_states=True)
    law = MPC(plant, Q=(1e6,), S=(1e5,), R=(1e3,), u_min=(-X_MAX,), u_max=(X_MAX,), slew=(SLEW,), tracked=("Y",), terminal="set",
              N=25, room=0.3)
    assert all(law.hypotheses().values()) and not all(mpc().hypotheses().values())
    q, solver = law.prepared.problem, law.solver(law.prepared)
    x, u, steps = np.array([0.0, 0.0, 0.0, 0.0, 2.5e-4]), 0.0, 0
    for _ in range(40):
        θ = law.parameter(x, 0.0, u=u)
        s = solver.solve(θ)
        assert s.status == 1
        V, move = law.prepared.dense.value(θ, s.z), commands(law, s)[0]
        stage = 1e6 * x[4] ** 2 + 1e3 * move**2 + 1e5 * (move - u) ** 2
        x, u = q.model.A @ x + q.model.B[:, 0] * move, move
        after = law.value(x, 0.0, u=u)
        assert after <= V - stage + 1e-9 * V
        steps += np.count_nonzero(s.λ) > 0
    assert steps >= 3


# ---- nonlinear plants ---------------------------------------------------------------------------------------------------
class Bent(Actuator):
    """The actuator with a gain that falls with stroke: K (1 − X²/X_0²), X_0 = 0.9 mm."""

    def rhs(self, t, x, u):
        return super().rhs(t, x, [u[0] * (1 - (u[0] / 9e-4) ** 2), u[1]])


def test_relinearised_on_a_linear_plant_is_the_same_controller():
    changes = {"known": (), "S": (1e5,)}
    scenario = Scenario(0.06, Hold("output", (6e-4,)), {"F_ext": 100.0})
    once, _ = tracking(mpc(**changes), scenario)
    every, _ = tracking(mpc(**changes, relinearise=True), scenario)
    assert np.abs(once.array("X") - every.array("X")).max() < 1e-6 * X_MAX


def test_relinearised_beats_a_fixed_model_on_a_bent_plant():
    plant = Bent()
    scenario = Scenario(0.12, Sine("output", 0.0, (1.2e-3,), 4.0, ramp=0.05))
    peak = {}
    for every in (False, True):
        _, e = tracking(mpc(plant, known=(), N=12, relinearise=every, observer=Observer(σ_y=(1e-6,), σ_d=(1e-8,))), scenario, plant)
        peak[every] = np.abs(e[60:]).max()
    assert peak[True] < 0.3 * peak[False]


def test_crane_follows_pistons(two_joint):
    """Successive linearisation on the crane: valves, oil and stiction; only what its sensors give."""
    sensors = ("x_1", "x_2", "dx_1", "dx_2", "p_a1", "p_b1", "p_a2", "p_b2")
    observer = Observer(σ_y=(1e-5, 1e-5, 1e-4, 1e-4, 1e3, 1e3, 1e3, 1e3), σ_d=(1e-2,), σ_w=(1e-2,),
                        σ_x=(1e-6, 1e-6, 1e-4, 1e-4, 1e3, 1e3, 1e3, 1e3, 1e-3, 1e-1, 1e-3, 1e-1))
    law = MPC(two_joint, Q=(1e6,), S=(0.3,), N=20, T_s=5e-3, u_min=(-10.0,), u_max=(10.0,), tracked=("x_1", "x_2"),
              signals=sensors, observer=observer, terminal="none", relinearise=True)
    log = simulate(ClosedLoop(two_joint, law), Scenario(0.5, Sine("piston", "start", (0.02, 0.03), 0.15)))
    for name in ("x_1", "x_2"):
        assert np.abs(log.array(name) - log.array(f"{name}_d")).max() < 1e-4 < 5e-4 < np.ptp(log.array(f"{name}_d"))
    assert set(log.array("mpc_status")) == {1.0} and not log.array("mpc_fallback").any()


def test_runs_repeat_and_the_log_knows_its_controller():
    law = mpc(limits=(SOFT,))
    loop = ClosedLoop(PLANT, law)
    first, second = (simulate(loop, Scenario(0.05, Hold("output", (1e-3,)))) for _ in range(2))
    assert np.array_equal(first.values, second.values) and first.provenance == second.provenance
    assert any(path.endswith("limits.Y.quadratic") for path in first.provenance["parameters"])
