"""Predictive control that linearises along its own prediction: against the linear law, a nonlinear programme, and a crane."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from actuator import SLEW, X_MAX, Actuator, mpc, tracking

from controllers import MPC, Limit, Observer
from controllers.mpc.along import Held
from controllers.mpc.overlap import overlap, smoothed, without_overlap
from controllers.mpc.sequence import Given, along
from workbench import ClosedLoop, Hold, Sampled, Scenario, Signal, Sine, System, simulate
from workbench.cases.edit import changed
from workbench.contract.errors import InputError
from workbench.numerics.tangents import Tangent, off_edges, opened, tangents
from workbench.verification.claims import Solves
from workbench.verification.judge import verify
from workbench.verification.linear.sampled_data import hold

TURNING = Scenario(
    5.0, Sine("piston", "start", (0.03, 0.04, 0.05), 0.25, ramp=1.0)
)  # every piston comes back


@dataclass(frozen=True)
class Bent(Actuator):
    """The actuator with a gain that falls with stroke: K (1 − X²/X_0²), X_0 = 0.9 mm."""

    def rhs(self, t, x, u):
        return super().rhs(t, x, [u[0] * (1 - (u[0] / 9e-4) ** 2), u[1]])


@dataclass(frozen=True)
class Duffing(System):
    """ẋ = v, v̇ = −3.1 x − 0.4 v − 40 x³ + 5.3 u: its stiffness grows with the square of the way."""

    states = (Signal("x", "m"), Signal("v", "m/s"))
    inputs = (Signal("u", "N"),)
    outputs = states

    def initial(self):
        return [0.31, -0.2]

    def rhs(self, t, x, u):
        return [x[1], -3.1 * x[0] - 0.4 * x[1] - 40.0 * x[0] ** 3 + 5.3 * u[0]]

    def out(self, t, x):
        return list(x)


# ---- models -------------------------------------------------------------------------------------------------------------
def test_tangents_are_the_linearisation(crane):
    """Flow, outputs and Jacobians at many random states at once, against central differences of the plant's text on floats."""
    rng = np.random.default_rng(5)
    live = ("u_1", "u_2", "u_t2", "f_Dx")
    derivatives = tangents(crane, live)
    x = np.array(crane.initial()) + rng.normal(size=(4, 18)) * np.array(
        [0.1] * 3 + [0.2] * 3 + [1e6] * 6 + [2.0, 9.0] * 3
    )
    w = rng.normal(size=(4, 4)) * [3.0, 3.0, 3.0, 200.0]
    at = derivatives(x, w)
    place = [[s.name for s in crane.inputs].index(name) for name in live]
    base = [crane.defaults().get(s.name, 0.0) for s in crane.inputs]

    def flow(both):
        u = list(base)
        for i, value in zip(place, both[18:]):
            u[i] = value
        return np.array(crane.rhs(0.0, both[:18].tolist(), u), float)

    for k in range(4):
        point, J = np.concatenate([x[k], w[k]]), np.hstack([at.A[k], at.B[k]])
        assert np.allclose(at.f[k], flow(point), rtol=1e-9, atol=1e-9)
        assert np.allclose(at.y[k], crane.out(0.0, x[k].tolist()), rtol=1e-12, atol=1e-12)
        for i, h in enumerate([1e-5] * 6 + [10.0] * 6 + [1e-5] * 9 + [1e-2]):
            step = np.eye(22)[i] * h
            slope = (flow(point + step) - flow(point - step)) / (2 * h)
            assert np.allclose(
                J[:, i], slope, rtol=1e-5, atol=1e-5 * max(np.abs(slope).max(), 1e-12)
            )
    y, C = derivatives.outputs(x[0])
    assert np.array_equal(y, at.y[0]) and np.array_equal(C, at.C[0])


@pytest.mark.parametrize("delay", [0.0, 0.7e-3, 2e-3, 2.3e-3])
def test_affine_models_are_exact_where_the_plant_is_affine(delay):
    """Φ, Γ, φ and the ramp against single matrix exponentials, commands on their way at their places."""
    rng = np.random.default_rng(6)
    n, m, N, T = 3, 2, 4, 1e-3
    A, B, c = 300 * rng.normal(size=(n, n)), 50 * rng.normal(size=(n, m + 1)), rng.normal(size=n)
    held = Held(T, delay, m, 1, (0, None), np.array([0.3, 2.0, 40.0]), np.array([1.0, 3.0, 7.0]))
    x, w = rng.normal(size=(N + 1, n)), rng.normal(size=(N + 1, m + 1))
    known, d = rng.normal(size=(N + 1, 1)), rng.normal(size=2)
    everywhere = lambda M: np.tile(M, (N + 1, 1, 1))
    at = Tangent(x @ A.T + w @ B.T + c, everywhere(A), everywhere(B), x, everywhere(np.eye(n)))
    C_d = np.array([[0.0, 1.0], [0.0, 0.0]])
    s = held.steps(at, x, w, known, d, C_d, [0, 2])
    past = rng.normal(size=(held.length, m))  # u_{−1}, u_{−2} …
    state = np.concatenate([rng.normal(size=n), past.T.ravel()])
    u = rng.normal(size=(N, m))
    line = np.vstack([past[::-1], u])
    z = state[:n].copy()
    whole, rest = held.split
    for k in range(N):
        state = s.A[k] @ state + s.B[k] @ u[k] + s.a[k]
        for length, ago in ((rest, whole + 1), (T - rest, whole)):  # the older command first
            if length == 0.0:
                continue
            start = 0.0 if ago == whole + 1 else rest
            slope = (known[k + 1] - known[k]) / T
            v0 = known[k] + slope * start
            push = B[:, :m] @ (line[held.length + k - ago] + [d[0], 0.0]) + c
            Φ, Γ = hold(A, np.eye(n), length)
            both = np.block([[A, B[:, m:]], [np.zeros((1, n + 1))]])
            Φ2, Γ2 = hold(both, np.vstack([np.zeros((n, 1)), slope[None, :]]), length)
            z = Φ @ z + Γ @ push + (Φ2 @ np.r_[np.zeros(n), v0] + Γ2[:, 0])[:n]
        assert np.allclose(state[:n], z, rtol=1e-9, atol=1e-9 * np.abs(z).max())
        assert np.allclose(
            s.C[k + 1] @ state + s.b[k + 1], state[[0, 2]] + [d[1], 0.0], rtol=1e-9, atol=1e-10
        )
    assert np.allclose(
        s.B_d[:n], np.column_stack([hold(A, B[:, :1], T)[1][:, 0], np.zeros(n)]), rtol=1e-9
    )


def test_points_are_kept_off_edges():
    assert np.array_equal(off_edges(np.array([0.0, -2.0]), np.array([3.0, 1.0])), [3e-6, -2.0])
    assert np.array_equal(
        opened(np.array([0.0, -0.1, 0.1, 5.0, -5.0]), np.full(5, 0.3)), [0.3, -0.3, 0.3, 5.0, -5.0]
    )


# ---- the law --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"R": (3e5,), "terminal": "none"},
        {"delay": 1.4e-3},
        {"blocks": (1, 2, 3, 5)},
        {"limits": (Limit("Y", -3e-4, 3e-4, soft=True, quadratic=1e7),)},
    ],
    ids=["plain", "weighted commands", "delay", "blocks", "soft"],
)
def test_on_a_linear_plant_it_is_the_linear_law(changes):
    load = (
        120.0 if "R" in changes else Sine("output", 100.0, 50.0, 20.0)
    )  # u_s is that of the last model
    scenario = Scenario(0.05, Hold("output", (6e-4,)), {"F_ext": load})
    once, _ = tracking(mpc(**changes), scenario)
    every, _ = tracking(mpc(**changes, relinearise=True), scenario)
    assert np.abs(once.array("X") - every.array("X")).max() < 1e-6 * X_MAX
    assert np.allclose(
        once.array("mpc_cost"),
        every.array("mpc_cost"),
        rtol=1e-4,
        atol=1e-6 * once.array("mpc_cost").max(),
    )
    assert np.abs(once.array("d_X_hat") - every.array("d_X_hat")).max() < 1e-6 * X_MAX
    assert np.array_equal(once.array("mpc_active"), every.array("mpc_active"))


def test_gone_over_often_it_solves_the_nonlinear_programme():
    """The first move of a converged law on a Duffing oscillator, against IPOPT on the same cost with a fine Runge–Kutta model."""
    N, T, Q, S, r = 12, 0.05, 30.0, 0.02, 0.45
    law = MPC(
        Duffing(),
        Q=(Q,),
        S=(S,),
        N=N,
        T_s=T,
        u_min=(-3.0,),
        u_max=(3.0,),
        tracked=("x",),
        terminal="none",
        relinearise=True,
        iterations=15,
        preview=0,
    )
    z = law.start(0.0, law.initial(), [0.31, -0.2], [r])
    z, u = law.step(0.0, z, [0.31, -0.2], [r])

    w, x = ca.SX.sym("u", N), ca.SX([0.31, -0.2])
    f = lambda x, u: ca.vertcat(*Duffing().rhs(0.0, [x[0], x[1]], [u]))
    cost, before = Q * (x[0] - r) ** 2, 0.0
    for k in range(N):
        for _ in range(20):
            h = T / 20
            a = f(x, w[k])
            b = f(x + h / 2 * a, w[k])
            c = f(x + h / 2 * b, w[k])
            x = x + h / 6 * (a + 2 * b + 2 * c + f(x + h * c, w[k]))
        cost += Q * (x[0] - r) ** 2 + S * (w[k] - before) ** 2
        before = w[k]
    solver = ca.nlpsol(
        "s",
        "ipopt",
        {"x": w, "f": cost},
        {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"},
    )
    best = np.array(solver(x0=np.ones(N), lbx=-3.0, ubx=3.0)["x"]).ravel()
    planned = z.path[1][:, 0]
    assert (
        np.abs(planned - best).max() < 0.02 * np.abs(best).max()
    )  # the exponential step is of second order in T
    linear = replace(law, relinearise=False, iterations=1, x_0=(0.31, -0.2), u_0=(0.0,))
    far = linear.step(
        0.0, linear.start(0.0, linear.initial(), [0.31, -0.2], [r]), [0.31, -0.2], [r]
    )[0]
    assert np.abs(far.solved * 3.0 - best).max() > 5 * np.abs(planned - best).max()


def test_it_beats_a_fixed_model_on_a_bent_plant():
    plant = Bent()
    scenario = Scenario(0.12, Sine("output", 0.0, (1.2e-3,), 4.0, ramp=0.05))
    peak = {}
    for every in (False, True):
        _, e = tracking(
            mpc(
                plant,
                known=(),
                N=12,
                relinearise=every,
                observer=Observer(σ_y=(1e-6,), σ_d=(1e-8,)),
            ),
            scenario,
            plant,
        )
        peak[every] = np.abs(e[60:]).max()
    assert peak[True] < 0.3 * peak[False]


# ---- failures ---------------------------------------------------------------------------------------------------------------
class Kick:
    """A push the model does not know."""

    def sample(self, t, order):
        return np.where((np.asarray(t) > 0.02) & (np.asarray(t) < 0.05), -9000.0, 0.0)[
            None, :, None
        ]


@pytest.mark.long
def test_a_sample_without_solution_falls_back_says_so_and_shows_in_the_verdict():
    law = mpc(limits=(Limit("Y", -1e-4, 1e-4),), known=(), N=8, relinearise=True)
    scenario = Scenario(0.4, Hold("output", (5e-5,)), {"F_ext": Kick()})
    log, e = tracking(law, scenario)
    status, fallback, u = log.array("mpc_status"), log.array("mpc_fallback"), log.array("X")
    assert np.array_equal(status != 1.0, fallback > 0) and {0.0, 1.0, 2.0} <= set(fallback)
    assert np.abs(u).max() <= X_MAX * (1 + 1e-9) and np.abs(np.diff(u)).max() <= SLEW * 1e-3 * (
        1 + 1e-9
    )
    assert fallback[-1] == 0 and abs(e[-1]) < 1e-7
    (verdict,) = verify(ClosedLoop(Actuator(), law), scenario, [Solves()])
    assert (
        verdict.holds is False
        and "last solution" in verdict.worst
        and "terminal law" in verdict.worst
    )
    (sound,) = verify(
        ClosedLoop(Actuator(), law), Scenario(0.1, Hold("output", (5e-5,))), [Solves()]
    )
    assert sound.holds is True


@dataclass(frozen=True)
class Brittle(Actuator):
    """No derivative, and no value, where Y is below −0.1 mm."""

    def rhs(self, t, x, u):
        return [v + 1e-30 * np.sqrt(x[4] + 1e-4) for v in super().rhs(t, x, u)]


def test_without_a_finite_model_the_last_plan_then_the_last_command_stand():
    law = mpc(Brittle(), known=(), N=3, relinearise=True)
    r = [2e-5] * 4
    z, u = law.step(0.0, law.start(0.0, law.initial(), [0.0], r), [0.0], r)
    predicted = z.solved * X_MAX
    for k, fallback in enumerate((1, 1, 3, 3), 1):
        z = z._replace(
            x=np.array([0.0, 0.0, 0.0, 0.0, -5e-4, 0.0])
        )  # an estimate where there is no model
        z, u = law.step(k * 1e-3, z, [-5e-4], r)
        logged = law.monitor(k * 1e-3, z, [-5e-4], r)
        assert logged[0] == -10.0 and logged[4] == fallback and np.isfinite(u).all()
        if fallback == 1:
            assert np.isclose(u[0], predicted[k], rtol=1e-9)
    with pytest.raises(InputError, match="no finite derivative"):
        mpc(Brittle(), known=(), relinearise=True, x_0=(0.0, 0.0, 0.0, 0.0, -5e-4))


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"iterations": 0}, "iterations = 0"),
        ({"iterations": 1.5}, "^iterations: expected a whole number, got 1.5"),
        ({"working": {"Z": 1.0}}, "no signal 'Z'"),
        ({"terminal": "set"}, "problem changes every sample"),
    ],
)
def test_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        mpc(relinearise=True, **changes)


def test_a_plant_that_depends_on_time_is_refused():
    @dataclass(frozen=True)
    class Timed(Actuator):
        def rhs(self, t, x, u):
            return [v + np.sin(t) for v in super().rhs(t, x, u)]

    with pytest.raises(InputError, match="depends on time itself"):
        mpc(Timed(), relinearise=True)
    mpc(Timed())  # frozen at t = 0 it may be linearised


# ---- valves with overlap ------------------------------------------------------------------------------------------------------
def test_overlap_is_outside_the_law(two_joint):
    lapped = changed(two_joint, {"all.valve.dead_band": 0.4})
    inside = without_overlap(lapped)
    assert without_overlap(two_joint) is two_joint and not overlap(two_joint, 0.2)
    for c, own in zip(lapped.cylinders, inside.cylinders):
        for v in (-9.6, -3.0, 0.0, 0.7, 9.6):  # fully open at u_max − u_d
            u = overlap(lapped, 1e-9).command(np.array([v, v]))[0]
            assert np.isclose(own.valve.opening(v), c.valve.opening(u), rtol=1e-12, atol=1e-9)
    settings = MPC.suited(lapped)
    law = MPC(lapped, **settings)
    assert np.allclose(law.each("u_max"), 9.6) and np.allclose(law.each("u_min"), -9.6)
    band = overlap(lapped, law.w)
    assert np.allclose(band.command(np.array([0.1, -5.0])), [0.1 + 0.2, -5.4])


def test_a_crane_with_overlap_is_followed_and_without_its_inverse_it_is_not(two_joint):
    lapped = changed(two_joint, {"all.valve.dead_band": 0.4})
    scenario = Scenario(3.0, Sine("piston", "start", (0.02, 0.03), 0.3, ramp=1.0))
    worst = {}
    for told, model in (("told", lapped), ("not told", two_joint)):
        law = MPC(model, **MPC.suited(model))
        log = simulate(ClosedLoop(lapped, law), scenario)
        assert np.abs(log.array("u_1")).max() <= 10.0 and set(log.array("mpc_status")) == {1.0}
        worst[told] = max(np.abs(log.array(n) - log.array(f"{n}_d")).max() for n in ("x_1", "x_2"))
    assert worst["told"] < 2e-3 and worst["told"] < 0.7 * worst["not told"]


@pytest.mark.parametrize("v", [0.0, 1e-3, 5e-3, -1e-2, 4e-2])
def test_steep_friction_is_smoothed_along_a_path_only(crane, v):
    """∂v̇/∂v of the extension alone is −(b + F_c/w sech²(v/w))/m, with w = `smooth` in predictions and the plant's own elsewhere."""
    law = MPC(crane, **MPC.suited(crane))
    friction = crane.cylinders[2].friction
    at = [s.name for s in crane.states].index("dx_t2")

    def slope(law, v):
        x = np.array([crane.initial()])
        x[0, at] = v
        A = law.prepared.tangents(x, np.zeros((1, len(law.prepared.tangents.live)))).A
        return A[0, at, at]

    def expected(width):
        return friction.b + friction.F_c / width / np.cosh(v / width) ** 2

    assert friction.width == 1e-3 < law.smooth
    mass = -friction.b / slope(law, 1.0)  # so fast that Coulomb friction has no slope
    assert np.isclose(slope(law, v) * mass, -expected(law.smooth), rtol=1e-9)
    steep = replace(law, smooth=1e-9)
    assert np.isclose(slope(steep, v) * mass, -expected(friction.width), rtol=1e-9)
    if (
        v == 5e-3
    ):  # what it is there against: 5 mm/s off rest the wall is gone, while the smoothed one has lost a fifth
        assert slope(steep, v) > 1e-3 * slope(steep, 0.0)
        assert slope(law, v) < 0.75 * slope(law, 0.0)


def test_smoothing_of_friction_touches_only_what_is_steep_and_only_along_a_path(crane):
    law = MPC(crane, **MPC.suited(crane))
    assert {c.friction.width for c in law.predicting.cylinders} == {0.01}
    assert smoothed(law.predicting, 0.01) is law.predicting
    assert smoothed(law.predicting, 0.005) is law.predicting
    open_valves = [
        1.0 if s.name.startswith("u_s") else x for s, x in zip(crane.states, crane.initial())
    ]
    once = replace(
        law, relinearise=False, terminal="none", x_0=tuple(open_valves), u_0=(1.0, 1.0, 1.0)
    )
    assert {c.friction.width for c in once.predicting.cylinders} == {1e-3}
    assert {c.friction.width for c in crane.cylinders} == {1e-3}


# ---- the crane ------------------------------------------------------------------------------------------------------------------
def test_a_crane_follows_its_pistons_also_under_a_load_nobody_told_it_of(crane):
    """Settings as a file has them that says MPC; the load is 50 kg, the law's model has none."""
    law = MPC(crane, **MPC.suited(crane))
    for plant in (crane, changed(crane, {"payload.mass": 50.0})):
        log = simulate(ClosedLoop(plant, law), TURNING)
        late = log.time > 3.0
        for name, most in (
            ("x_1", 2e-3),
            ("x_2", 2e-3),
            ("x_t2", 3e-3),
        ):  # 4 kN of friction turn round with the extension
            e = log.array(name) - log.array(f"{name}_d")
            assert np.abs(e[late]).max() < most < 5e-2 < np.ptp(log.array(name))
        assert set(log.array("mpc_status")) == {1.0} and not log.array("mpc_fallback").any()
        assert np.nanmax(log.array("mpc_residual")) < 1e-8


def test_a_command_at_its_limit_keeps_its_effect(crane):
    """Command and estimated disturbance together beyond the limit: a model without gain would leave the valve there for ever."""
    law = MPC(crane, **MPC.suited(crane))
    x = np.array(crane.initial())
    given = Given(np.zeros((21, 3)), np.zeros((21, 0)), np.array([1.3, 0.0, 0.0, 0.0, 0.0]))
    X, inner = np.tile(x, (21, 1)), np.zeros((20, 3))
    at_limit = along(law, x, X, inner + [9.7, 0.0, 0.0], given).steps
    free = along(law, x, X, inner + [5.0, 0.0, 0.0], given).steps
    assert (
        np.allclose(at_limit.B, free.B, rtol=1e-6, atol=1e-9 * np.abs(free.B).max())
        and np.abs(free.B[:, :, 0]).max() > 0.1
    )


def test_a_load_nobody_looks_for_is_an_offset(crane):
    """With and without a force at the tool among the disturbances: where the pistons rest under 50 kg."""
    settings = MPC.suited(crane)
    blind = replace(settings["observer"], σ_d=(1e-3,), disturbance=("u_1", "u_2", "u_t2"))
    off = {}
    for name, observer in (("seen", settings["observer"]), ("blind", blind)):
        law = MPC(crane, **{**settings, "observer": observer})
        log = simulate(
            ClosedLoop(changed(crane, {"payload.mass": 50.0}), law),
            Scenario(4.0, Hold("piston", "start")),
        )
        if name == "seen":  # and what is believed to pull at the tool is the load
            pull = np.hypot(log.array("d_f_Dx_hat")[-1], log.array("d_f_Dy_hat")[-1])
            assert abs(pull - 50 * crane.g) < 0.1 * 50 * crane.g, pull
        off[name] = max(abs(log.array(n)[-1] - log.array(f"{n}_d")[-1]) for n in ("x_1", "x_2"))
    assert off["seen"] < 3e-5 < 2e-4 < off["blind"], off


def test_runs_repeat_and_wrapped_it_is_the_same(two_joint):
    law = MPC(two_joint, **MPC.suited(two_joint))
    scenario = Scenario(0.3, Sine("piston", "start", (0.01, 0.01), 1.0))
    first, second, sampled = (
        simulate(ClosedLoop(two_joint, c), scenario) for c in (law, law, Sampled(law, 20e-3))
    )
    assert np.array_equal(first.values, second.values, equal_nan=True)
    assert np.array_equal(first.values, sampled.values, equal_nan=True)
