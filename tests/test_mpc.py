"""Predictive control: closed forms, two statements of one problem, optimality, limits, offsets, previews, refusals."""

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest
from actuator import SLEW, X_MAX, Actuator, commands, drawn, mpc, tracking

from controllers import MPC, Limit, Observer
from controllers.mpc.check import refined
from controllers.mpc.convex import stated
from controllers.mpc.cost import residuals
from controllers.mpc.verification import ingredients, steady
from controllers.riccati import riccati
from workbench import ClosedLoop, Delayed, Hold, Sampled, Scenario, Sine, simulate
from workbench.contract.system import names

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
    "estimated load": {
        "observer": Observer(σ_y=(1e-6,), σ_d=(30.0,), disturbance=("F_ext",)),
        "known": (),
    },
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
        assert np.allclose(
            np.hstack([gain["x"], gain["u"]]), -K, rtol=1e-8, atol=1e-8 * np.abs(K).max()
        )
        rng = np.random.default_rng(1)
        x, u = 1e-2 * rng.normal(size=n), 1e-4
        ((_, s),) = solved(law, [law.parameter(x, 0.0, u=u)])
        assert np.isclose(commands(law, s)[0], -(K @ [*x, u])[0], rtol=1e-8)
        assert np.isclose(
            law.value(x, 0.0, u=u), np.r_[x, u] @ law.terminal_data.P @ np.r_[x, u], rtol=1e-9
        )


def test_one_step_by_hand():
    """N = 1, no terminal cost: V = Q(y₀ − r₀)² + Q(y₁ − r₁)² + S(u − u₋₁)², y₁ = c(Ax + Bu)."""
    law = mpc(N=1, terminal="none", known=())
    m = law.prepared.problem.model
    x, u_before, r = np.array([1e-3, 2e-3, -1e-3, 0.0, 2e-5]), 5e-5, 1e-6
    b, free = (m.C @ m.B)[0, 0], (m.C @ m.A @ x)[0]
    u = (1e6 * b * (r - free) + 1e5 * u_before) / (1e6 * b * b + 1e5)
    ((_, s),) = solved(law, [law.parameter(x, r, u=u_before)])
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
        assert status == 1 and np.isclose(
            V, dense.value(θ, s.z), rtol=1e-6, atol=1e-9 * dense.scale
        )
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
        one.append(
            1e6 * (y[k, 0] - r[k]) ** 2
            + 2e4 * (u[k + 1] - u_s)[0] ** 2
            + 1e5 * (u[k + 1] - u[k])[0] ** 2
        )
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


STEP = Scenario(0.12, Hold("output", (2e-3,)))


def test_commands_keep_their_limits():
    log, e = tracking(mpc(), STEP)
    u = log.array("X")
    moves = np.diff(np.concatenate([[0.0], u]))
    assert np.abs(u).max() <= X_MAX * (1 + 1e-9) and np.abs(moves).max() <= SLEW * 1e-3 * (1 + 1e-9)
    assert (
        np.count_nonzero(u > X_MAX * (1 - 1e-9)) > 10
        and np.count_nonzero(moves > 0.999 * SLEW * 1e-3) >= 4
    )
    assert log.array("mpc_active").max() >= 5 and abs(e[-1]) < 1e-8
    assert set(log.array("mpc_status")) == {1.0} and not log.array("mpc_fallback").any()


def test_hard_and_soft_limits_on_the_output():
    beyond = Scenario(0.1, Hold("output", (5e-4,)))
    hard, _ = tracking(mpc(limits=(Limit("Y", -4e-4, 4e-4),)), beyond)
    assert hard.array("Y").max() < 4e-4 * (1 + 1e-6) and hard.array("Y")[-1] > 4e-4 * (1 - 1e-3)
    soft, _ = tracking(
        mpc(limits=(Limit("Y", -4e-4, 4e-4, soft=True, linear=0.0, quadratic=3e7),)), beyond
    )
    assert 4.05e-4 < soft.array("Y").max() < 4.99e-4
    assert np.isclose(soft.array("mpc_slack")[-1], soft.array("Y")[-1] - 4e-4, rtol=0.2)
    exact, _ = tracking(
        mpc(limits=(Limit("Y", -4e-4, 4e-4, soft=True, linear=1e5, quadratic=1e6),)), beyond
    )
    assert exact.array("Y").max() < 4e-4 * (
        1 + 1e-6
    )  # a linear penalty that is large enough makes it hard


HIGHER = 7e-3  # m


@dataclass(frozen=True)
class Higher(Actuator):
    """The same actuator, its position measured from somewhere else: y = C x + h."""

    def out(self, t, x):
        return [x[4] + HIGHER]


@pytest.mark.parametrize("terminal", ["cost", "set"])
def test_where_a_position_is_measured_from_changes_no_command(terminal):
    """Reference, limits and measurement with the same offset h: the same commands, the same steady state, the same proof."""
    logs, found = [], []
    for plant, h in ((PLANT, 0.0), (Higher(), HIGHER)):
        law = mpc(
            plant,
            limits=(Limit("Y", h - 1e-4, h + 4e-4),),
            terminal=terminal,
            room=0.9,
        )
        scenario = Scenario(0.06, Hold("output", (h + 3e-4,)), {"F_ext": 90.0})
        log, _ = tracking(law, scenario, plant)
        logs.append(np.column_stack([log.array("X"), log.array("Y")]))  # Y of the states
        found.append((steady(law, [h + 2e-4]), ingredients(law, [h + 2e-4])[0]))
    size = np.abs(logs[0]).max(axis=0)
    assert (size > 1e-4).all() and (np.abs(logs[1] - logs[0]).max(axis=0) < 1e-6 * size).all()
    assert logs[1][-1, 1] == pytest.approx(3e-4, rel=1e-3)
    one, two = found
    for a, b in zip(one[0], two[0]):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-15)
    for name in ("P", "F", "g"):
        a, b = (np.asarray(getattr(i, name)) for i in (one[1], two[1]))
        assert a == pytest.approx(b, rel=1e-6, abs=1e-9 * np.abs(a).max()), name


# ---- offsets, previews, delays ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("disturbance, σ_d", [("X", 1e-6), ("F_ext", 30.0)])
def test_no_offset_under_load_and_with_a_wrong_model(disturbance, σ_d):
    law = mpc(known=(), observer=Observer(σ_y=(1e-6,), σ_d=(σ_d,), disturbance=(disturbance,)))
    truth = Actuator(K=97.0, λ=(1.3e-3, 0.9e-3, 1.0e-3), K_F=-7.5e-6)
    log, e = tracking(law, Scenario(0.5, Hold("output", (3e-4,)), {"F_ext": 350.0}), truth)
    assert abs(e[-1]) < 1e-10
    expected = {"X": 7.5e-6 * -350.0 / 97.0 * -1 / -1, "F_ext": None}[disturbance]
    if expected is not None:  # the command holds the load, so the disturbance at X is its negative
        assert np.isclose(log.array("d_X_hat")[-1], expected, rtol=1e-6) and np.isclose(
            log.array("X")[-1], -expected, rtol=1e-6
        )
    blind = replace(PLANT, all_states=True)
    seen = MPC(blind, Q=(1e6,), S=(1e5,), u_min=(-X_MAX,), u_max=(X_MAX,), tracked=("Y",))
    _, off = tracking(
        seen,
        Scenario(0.5, Hold("output", (3e-4, 0, 0, 0, 0)), {"F_ext": 350.0}),
        replace(truth, all_states=True),
    )
    assert abs(off[-1]) > 1e-6  # without an estimate there is one


def test_preview_of_a_load_and_of_the_reference():
    scenario = Scenario(
        0.8,
        Sine("output", 0.0, (2e-3,), 2.0, ramp=0.3),
        {"F_ext": Sine("output", 0.0, 400.0, 9.0, ramp=0.1)},
    )
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
        log = simulate(
            ClosedLoop(PLANT, Delayed(Sampled(mpc(delay=told, S=(3e4,)), 1e-3), 2.4e-3)), scenario
        )
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
    log = simulate(
        ClosedLoop(PLANT, Spy()),
        Scenario(0.05, Sine("output", 0.0, (1e-3,), 3.0, ramp=0.02), {"F_ext": push}),
    )
    assert [s.name for s in law.references] == [
        "Y_d",
        *(f"Y_d@{k}" for k in range(1, 5)),
        *(f"F_ext@{k}" for k in range(5)),
    ]
    r = np.array(seen)
    for k in range(5):
        assert np.allclose(r[: len(r) - k, k], log.array("Y_d")[k:], rtol=0, atol=1e-15)
        assert np.allclose(r[: len(r) - k, 5 + k], log.array("F_ext")[k:], rtol=1e-12)
    t_last = log.time[-1] + 4e-3
    assert np.isclose(r[-1, 9], push.sample(np.array([t_last]), 0)[0, 0, 0], rtol=1e-12)
