"""Integrators by observed order and against other people's; samples, jumps, disturbances and noise at their times."""

import importlib
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from small import Bent, Clock, Curved, Fast, Feedback, Linear, Push

from controllers.vdc import VDC
from workbench import (
    ClosedLoop,
    Delayed,
    InputError,
    Noisy,
    Sampled,
    Scenario,
    Sine,
    Waypoints,
    simulate,
)
from workbench.contract.system import names
from workbench.numerics import exponential
from workbench.verification.linear.sampled_data import sampled

RUNS = importlib.import_module("workbench.run.fused")
PUSH = Push(lambda t: 1.3 * np.sin(2.2 * t) + 0.4)


def observed_order(errors):
    """Slope of log error over log step, for steps halved."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


# ---- integrators -----------------------------------------------------------------------------------------------------
@pytest.fixture
def exponential_alone(monkeypatch):
    """Every step of a loop with stiff states is the exponential one, gentle as their block may be."""
    monkeypatch.setattr(exponential, "GENTLE", 0.0)
    monkeypatch.setattr(RUNS, "_loops", {})


@pytest.mark.parametrize(
    "stiff",
    ((), ("x0", "x1", "x2"), ("x1",), ("x0", "x2")),
    ids=("RK4", "whole block", "part", "other part"),
)
def test_observed_order(stiff, exponential_alone):
    """Nonlinear, explicit in time and driven; the exponential method has order 4 whatever part of the Jacobian it sees."""
    system = Curved(stiff=stiff)
    exact = solve_ivp(
        lambda t, x: system.rhs(t, x, [1.3 * np.sin(2.2 * t) + 0.4]),
        (0, 2),
        system.initial(),
        "DOP853",
        rtol=1e-13,
        atol=1e-14,
    ).y[:, -1]
    errors = []
    for h in (0.04, 0.02, 0.01):
        log = simulate(system, Scenario(2.0, disturbances={"w": PUSH}, log_period=2.0, max_step=h))
        assert len(log) == 2
        errors.append(np.abs(log.values[-1, :3] - exact).max())
    assert observed_order(errors) == pytest.approx([4, 4], abs=0.25) and errors[-1] < 1e-7


def fast_exactly(λ, t):
    """x0 of Fast: it follows (λ² cos t + λ sin t)/(λ² + 1) and forgets its start."""
    smooth = lambda t: (λ**2 * np.cos(t) + λ * np.sin(t)) / (λ**2 + 1)
    return smooth(t) + (3 - smooth(0.0)) * np.exp(-λ * t)


@pytest.mark.parametrize("λ, order", ((1.0, 4), (3e4, 2), (1e8, 2)))
def test_a_fast_state_is_followed(λ, order, exponential_alone):
    """The problem of Prothero and Robinson: order 4, and where λ h ≫ 1 an error of h²/(12 λ); the start is forgotten at once."""
    errors = []
    for h in (0.1, 0.05, 0.025):
        log = simulate(Fast(λ), Scenario(2.0, max_step=h))
        errors.append(np.abs(log.array("x0") - fast_exactly(λ, log.time)).max())
        assert errors[-1] < (2e-7 if order == 4 else h**2 / (10 * λ))
    assert observed_order(errors) == pytest.approx([order] * 2, abs=0.1)
    if order == 2:
        unnamed = simulate(
            Fast(λ, stiff=()), Scenario(2.0, max_step=0.05)
        )  # RK4 would be gone at once
        assert unnamed.status.completed and unnamed.provenance["pace"]["implicit"]


@pytest.mark.parametrize(
    "λ, h, classical",
    ((24.0, 2e-3, True), (26.0, 2e-3, False), (1.0, 2.1e-3, False)),
    ids=("gentle", "not", "long steps"),
)
@pytest.mark.parametrize("compiled", (None, False))
def test_a_gentle_block_takes_the_classical_step(λ, h, classical, compiled):
    """Up to |λ| h = 0.05 and steps of 2 ms the run is that of RK4, to the last bit; beyond either it is not."""
    assert (exponential.GENTLE, exponential.SHORT) == (0.05, 2e-3)
    ends = [
        simulate(Fast(λ, stiff=stiff), Scenario(40 * h, max_step=h), compiled=compiled)
        for stiff in (("x0",), ())
    ]
    named, plain = (log.array("x0") for log in ends)
    assert np.array_equal(named, plain) == classical
    np.testing.assert_allclose(named, plain, rtol=0, atol=1e-7)


@pytest.mark.parametrize("unit", (1.0, 1e-3, 1e3))
def test_what_is_gentle_has_no_units(unit):
    """A turning mode of |λ| h = 0.03 with its second state in another unit; a third that is driven and decays."""
    ω = 0.03
    Z = np.array([[0.0, ω, 0.0], [-ω, -0.2 * ω, 0.0], [5.0, -5.0, -0.01]])
    scale = np.diag([1.0, unit, unit**2])
    seen = scale @ Z @ np.linalg.inv(scale)
    assert exponential.gentle(ca.DM(seen))
    assert not exponential.gentle(ca.DM(2 * seen))


def block_diagonal(rng, *sizes, fastest):
    """A stable matrix with blocks of these sizes, strongly coupled inside, its states shuffled."""
    A = np.zeros((sum(sizes),) * 2)
    at = 0
    for m in sizes:
        block = rng.normal(size=(m, m))
        A[at : at + m, at : at + m] = fastest * (
            block - (np.abs(np.linalg.eigvals(block)).max() + 0.1) * np.eye(m)
        )
        at += m
    mix = rng.permutation(len(A))
    return A[np.ix_(mix, mix)]


@pytest.mark.parametrize("sizes", ((1,), (2, 1), (3, 2, 2), (7,)))
@pytest.mark.parametrize("compiled", (None, False))
def test_linear_blocks_are_followed_exactly(sizes, compiled):
    """x = e^{At} x_0, whatever the step: slow, fast, and so fast that nothing is left."""
    rng = np.random.default_rng(len(sizes))
    for fastest in (0.7, 40.0, 3e5):
        A = block_diagonal(rng, *sizes, fastest=fastest)
        start = rng.normal(size=len(A))
        system = Linear(
            tuple(map(tuple, A)),
            ((0.0,),) * len(A),
            (),
            x0=tuple(start),
            stiff=tuple(f"x{i}" for i in range(len(A))),
        )
        log = simulate(system, Scenario(0.3, max_step=0.1), compiled=compiled)
        exact = np.array([expm(A * t) @ start for t in log.time])
        assert np.abs(log.values[:, : len(A)] - exact).max() < 1e-11


# ---- kinks of the flow -----------------------------------------------------------------------------------------------
def bent_exactly(d, t):
    """y of Bent at t, x = −0.31 + 1.3/2.2 (1 − cos 2.2 t) + 0.4 t, kink to kink."""
    x = lambda t: -0.31 + 1.3 / 2.2 * (1 - np.cos(2.2 * t)) + 0.4 * t
    ends = [0.0, *(brentq(lambda s, v=v: x(s) - v, 0.0, t) for v in sorted({-d, 0.0, d})), t]
    rate = lambda s: x(s) - np.clip(x(s), -d, d) + abs(x(s)) / 2
    return sum(quad(rate, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in zip(ends, ends[1:]))


@pytest.mark.parametrize("stiff", ((), ("y",)), ids=("RK4", "exponential"))
@pytest.mark.parametrize(
    "d", (0.2, 3e-3, 0.0), ids=("far apart", "within a step", "at one instant")
)
def test_kinks_cost_no_order_where_guards_tell_them(d, stiff):
    """Order 4 over edges of a dead band wider than a step, narrower, and of none; unguarded, the order is lost."""

    def errors(system):
        found = []
        for h in (0.1, 0.05, 0.025):
            log = simulate(
                system, Scenario(1.0, disturbances={"w": PUSH}, log_period=0.5, max_step=h)
            )
            assert log.array("x")[-1] > d
            found.append(abs(log.array("y")[-1] - bent_exactly(d, 1.0)))
        return found

    guarded = errors(Bent(d, stiff=stiff))
    assert observed_order(guarded) == pytest.approx([4, 4], abs=0.5) and guarded[-1] < 1e-7
    assert errors(Bent(d, guarded=False, stiff=stiff))[-1] > 100 * guarded[-1]


def test_valves_of_the_crane_cost_no_order(two_joint, short):
    """Spools cross their middle many times; every state converges as over a smooth flow."""
    loop = ClosedLoop(two_joint, Sampled(VDC(two_joint), 2e-3))
    n = len(two_joint.states)
    runs = [simulate(loop, replace(short, max_step=2e-3 / k)).values[:, :n] for k in (1, 4, 32)]
    size = np.ptp(runs[-1], axis=0)
    errors = [(np.abs(run - runs[-1]) / size).max() for run in runs[:-1]]
    crossed = (np.diff(np.sign(runs[-1][:, n - 4 :: 2]), axis=0) != 0).sum()
    assert crossed > 20 and errors[0] > 4**3.7 * errors[1] and errors[1] < 1e-7


def test_crane_run_against_an_independent_integrator(ideal, short):
    """The plant on floats by DOP853 from sample to sample under the logged commands."""
    log = simulate(
        ClosedLoop(ideal, Sampled(VDC(ideal), 2e-3)), replace(short, duration=0.04, max_step=5e-4)
    )
    states = names(ideal.states)
    x = np.column_stack([log.array(n) for n in states])
    u = np.column_stack([log.array("u_1"), log.array("u_2")])
    rest = [ideal.defaults().get(s.name, 0.0) for s in ideal.inputs[2:]]
    size = np.array([1e6 if n.startswith("p_") else 1.0 for n in states])
    y, worst = x[0], 0.0
    for k in range(20):
        y = solve_ivp(
            lambda t, s, k=k: ideal.rhs(t, s, [*u[k], *rest]),
            (0, 2e-3),
            y,
            "DOP853",
            rtol=1e-9,
            atol=1e-9 * size,
        ).y[:, -1]
        worst = max(worst, (np.abs(y - x[k + 1]) / size).max())
    assert worst < 1e-8 and np.ptp(x[:, 4]) > 1e4


def test_default_step_is_converged(ideal, short):
    """1 ms steps at 1 kHz against steps twenty times shorter."""
    loop = ClosedLoop(ideal, Sampled(VDC(ideal), 1e-3))
    a, b = (simulate(loop, replace(short, max_step=h)) for h in (1e-3, 5e-5))
    for name in ("q_1", "q_2", "dq_1", "p_a1", "p_b2", "tcp_x", "u_1"):
        assert np.abs(a.array(name) - b.array(name)).max() < 2e-7 * np.ptp(b.array(name)), name


def test_power_integrals_close_the_energy_balance(ideal, short):
    """Stored energy is the integral of all powers, to the integrator's order; a flow left out would show."""
    loop, gaps = ClosedLoop(ideal, Sampled(VDC(ideal), 2e-3)), []
    for h in (2e-3, 1e-3, 5e-4):
        log = simulate(loop, replace(short, max_step=h))
        powers = np.array([log.array(f"E_{name}") for name in loop.power_names])
        gaps.append(
            np.abs(log.array("E_stored") - log.array("E_stored")[0] - powers.sum(axis=0)).max()
        )
    through = np.abs(powers[loop.power_names.index("supply")]).max()
    assert gaps[-1] < 1e-10 * through and observed_order(gaps) == pytest.approx([4, 4], abs=0.2)
    assert sum(np.abs(p).max() > 1e-3 * through for p in powers) >= 5


# ---- samples ---------------------------------------------------------------------------------------------------------
INTEGRATOR = Linear(((0.0,),), ((1.0,),), ((1.0,),), ((1.0,),), x0=(0.8,))


def test_sampled_integrator_in_closed_form():
    """x_{k+1} = (1 − K T) x_k; the logged instant is after the jump: u_k = −K x_k stands beside x_k."""
    T, K = 0.13, 2.9
    log = simulate(ClosedLoop(INTEGRATOR, Sampled(Feedback(INTEGRATOR, ((K,),)), T)), Scenario(4.0))
    k = np.arange(len(log))
    assert len(log) == 32 and log.time == pytest.approx(k * T, rel=1e-15)
    assert log.array("x0") == pytest.approx(0.8 * (1 - K * T) ** k, rel=1e-12)
    assert log.array("u0_held") == pytest.approx(-K * log.array("x0"), rel=1e-14)
    assert np.array_equal(log.array("u0"), log.array("u0_held"))


def test_length_and_logging_of_a_run():
    loop = ClosedLoop(INTEGRATOR, Sampled(Feedback(INTEGRATOR, ((1.0,),)), 0.01))
    full = simulate(loop, Scenario(1.0))
    assert full.time[-1] == 1.0 and full.status.t_end == 1.0 and len(full) == 101
    thin = simulate(loop, Scenario(1.0, log_period=0.07))
    assert np.array_equal(thin.values, full.values[::7]) and thin.time == pytest.approx(
        full.time[::7]
    )
    free = simulate(INTEGRATOR, Scenario(1.0, log_period=0.1, max_step=1e-3))
    assert len(free) == 11 and not np.ptp(free.array("x0"))
    short = Waypoints("output", ((0.8,), (0.9,)), 0.25)
    tracking = ClosedLoop(INTEGRATOR, Sampled(Feedback(INTEGRATOR, ((3.0,),), ((3.0,),)), 0.01))
    assert simulate(tracking, Scenario(reference=short)).time[-1] == pytest.approx(
        0.25
    )  # the reference's own duration
    with pytest.raises(InputError, match="how long"):
        simulate(loop, Scenario())


@pytest.mark.parametrize("chunk", (1, 7, 4000))
def test_chunks_do_not_show(monkeypatch, chunk):
    loop = ClosedLoop(
        INTEGRATOR, Delayed(Sampled(Noisy(Feedback(INTEGRATOR, ((2.0,),)), 0.1), 0.01), 0.013)
    )
    scenario = Scenario(0.5, disturbances={"w0": PUSH}, seed=5, log_period=0.03)
    whole = simulate(loop, scenario)
    seen = []
    monkeypatch.setattr(RUNS, "CHUNK", chunk)
    assert np.array_equal(simulate(loop, scenario, progress=seen.append).values, whole.values)
    assert len(seen) == -(-51 // chunk) and seen[-1] == 1.0 and np.all(np.diff(seen) > 0)


# ---- delay -----------------------------------------------------------------------------------------------------------
OSCILLATOR = Linear(
    ((0.0, 1.0), (-7.0, -0.5)), ((0.0,), (2.1,)), ((1.0, 0.0), (0.0, 1.0)), x0=(0.5, -0.2)
)


def by_hand(plant, K, T, delay, n):
    """States at the samples under u_k = −K x_k, applied `delay` later: piece by piece with the matrix exponential."""
    A, B = np.array(plant.A), np.array(plant.B)[:, 0]

    def flow(x, u, span):
        M = np.zeros((3, 3))
        M[:2, :2], M[:2, 2] = A * span, B * span
        return (expm(M) @ [*x, u])[:2]

    whole, rest = int(delay / T + 1e-9), delay - int(delay / T + 1e-9) * T
    x, given = np.array(plant.x0), [0.0] * (whole + 1)
    found = [x]
    for _ in range(n):
        given.append(float(-np.array(K) @ x))
        if rest > 1e-9 * T:
            x = flow(flow(x, given[-whole - 2], rest), given[-whole - 1], T - rest)
        else:
            x = flow(x, given[-whole - 1], T)
        found.append(x)
    return np.array(found)


@pytest.mark.parametrize("delay", (0.0, 0.004, 0.02, 0.0333, 0.04, 0.1, 0.0999999999))
def test_delay_of_whole_and_fractional_samples(delay):
    T, K = 0.02, (3.0, 0.8)
    loop = ClosedLoop(OSCILLATOR, Delayed(Sampled(Feedback(OSCILLATOR, (K,)), T), delay))
    log = simulate(loop, Scenario(1.0))
    x = np.column_stack([log.array("x0"), log.array("x1")])
    assert x == pytest.approx(by_hand(OSCILLATOR, K, T, delay, 50), rel=1e-7, abs=1e-9)
    other = by_hand(OSCILLATOR, K, T, delay + 1e-4, 50)
    assert np.abs(x - other).max() > 1e-6  # a tenth of a millisecond shows


@pytest.mark.parametrize("delay", (0.0, 0.02, 0.0333))
def test_delayed_loop_has_the_modes_of_the_exact_discretisation(delay):
    """From one sample to the next the run multiplies by the closed-loop matrix of the sampled-data analysis."""
    T, K = 0.02, np.array([[3.0, 0.8]])
    plant = sampled(
        np.array(OSCILLATOR.A), np.array(OSCILLATOR.B), np.eye(2), np.zeros((2, 1)), T, delay
    )
    C = np.hstack([np.eye(2), np.zeros((2, len(plant.A) - 2))])
    closed = plant.A - plant.B @ K @ C
    log = simulate(
        ClosedLoop(
            OSCILLATOR, Delayed(Sampled(Feedback(OSCILLATOR, tuple(map(tuple, K))), T), delay)
        ),
        Scenario(0.6),
    )
    state = np.array([*OSCILLATOR.x0, *[0.0] * (len(closed) - 2)])
    for k in range(31):
        assert [log.array("x0")[k], log.array("x1")[k]] == pytest.approx(
            state[:2], rel=1e-7, abs=1e-9
        )
        state = closed @ state


def test_delays_share_one_trace():
    from workbench.numerics.calculus import trace

    law = Sampled(Feedback(OSCILLATOR, ((3.0, 0.8),)), 0.02)
    loops = [ClosedLoop(OSCILLATOR, Delayed(law, d)) for d in (0.0, 0.011, 0.05)]
    assert len({id(trace(loop, ())) for loop in loops}) == 1
    longer = Delayed(law, 0.31)
    assert longer.capacity >= 16 and len(longer.states) > len(loops[0].controller.states)


# ---- disturbances ----------------------------------------------------------------------------------------------------
def test_smooth_disturbances_enter_at_the_stages():
    """x = x_0 + ∫ w for w = a + b sin(ωt): Simpson's rule in every step, although the loop samples 20 times slower."""
    w = Push(lambda t: 0.4 + 1.7 * np.sin(31 * t))
    loop = ClosedLoop(INTEGRATOR, Sampled(Feedback(INTEGRATOR, ((0.0,),)), 0.02))
    log = simulate(loop, Scenario(0.4, disturbances={"w0": w}))
    exact = 0.8 + 0.4 * log.time + 1.7 / 31 * (1 - np.cos(31 * log.time))
    assert log.array("x0") == pytest.approx(exact, abs=2e-10)
    assert log.array("w0") == pytest.approx(w.f(log.time))


@pytest.mark.parametrize("at", (0.0071, 0.007, 0.02, 0.0268))
def test_steps_of_a_disturbance_act_between_samples(at):
    """A step inside a sample acts from its own integrator step on; nothing waits for the next sample."""
    loop = ClosedLoop(INTEGRATOR, Sampled(Feedback(INTEGRATOR, ((0.0,),)), 0.02))
    log = simulate(loop, Scenario(0.06, disturbances={"w0": Push(lambda t: 5.0 * (t >= at))}))
    exact = 0.8 + 5.0 * np.maximum(log.time - at, 0.0)
    assert log.array("x0") == pytest.approx(exact, abs=5.0 * 1e-3)  # within one integrator step
    number = simulate(loop, Scenario(0.06, disturbances={"w0": 5.0}))
    assert number.array("x0") == pytest.approx(0.8 + 5.0 * number.time, rel=1e-13)


def test_controls_of_a_plant_alone_can_be_driven():
    log = simulate(
        INTEGRATOR, Scenario(0.5, disturbances={"u0": 0.7, "w0": Push(lambda t: np.cos(t))})
    )
    assert log.array("x0") == pytest.approx(0.8 + 0.7 * log.time + np.sin(log.time), abs=1e-12)


def test_explicit_time_is_the_time_of_every_stage():
    """ẋ = cos 5t under a delayed law that does nothing: several steps before and after the release in every sample."""
    plant = Clock()
    loop = ClosedLoop(plant, Delayed(Sampled(Feedback(plant, ((0.0,),)), 0.05), 0.023))
    for compiled in (None, False):
        log = simulate(loop, Scenario(1.0, max_step=5e-3), compiled=compiled)
        assert log.array("x") == pytest.approx(0.3 + np.sin(5 * log.time) / 5, abs=1e-9)


def test_noise_on_a_continuous_law_is_held_over_a_step():
    """ẋ = −K (x + σ n_k) between draws: x_{k+1} = e^{−KT} x_k − (1 − e^{−KT}) σ n_k, u_k = −K (x_k + σ n_k).

    The step is that of the integrator, whatever is logged.
    """
    K, T = 2.7, 0.005
    loop = ClosedLoop(INTEGRATOR, Noisy(Feedback(INTEGRATOR, ((K,),)), 0.3))
    log = simulate(loop, Scenario(2.0, max_step=T))
    x, pushed = log.array("x0"), -(log.array("x0") + log.array("u0") / K)  # σ n_k
    assert np.std(pushed) == pytest.approx(0.3, rel=0.25)
    assert x[1:] == pytest.approx(
        np.exp(-K * T) * x[:-1] - (1 - np.exp(-K * T)) * pushed[:-1], abs=1e-10
    )
    thin = simulate(loop, Scenario(2.0, max_step=T, log_period=8 * T))
    np.testing.assert_array_equal(thin.values, log.values[::8])


# ---- start -----------------------------------------------------------------------------------------------------------
def test_start_and_offset(two_joint):
    here = (-1.2, -1.9)
    log = simulate(two_joint, Scenario(0.01, start=here, offset={"p_a1": 3e5, "dq_2": 0.01}))
    rest = dict(zip(names(two_joint.states), two_joint.rest(here)))
    first = {n: log.array(n)[0] for n in rest}
    assert first == pytest.approx(rest | {"p_a1": rest["p_a1"] + 3e5, "dq_2": 0.01})
    with pytest.raises(InputError, match="did you mean .*p_a1"):
        simulate(two_joint, Scenario(0.01, offset={"p_1": 3e5}))
    with pytest.raises(ValueError, match="scenario.start: q_1 = -0.05 puts the lift piston"):
        simulate(two_joint, Scenario(0.01, start=(-0.05, -1.9)))
    with pytest.raises(InputError, match="no disturbance 'f_Dw'"):
        simulate(two_joint, Scenario(0.01, disturbances={"f_Dw": 1.0}))


def test_runs_are_repeatable_and_their_provenance_plain(two_joint, short):
    loop = ClosedLoop(
        two_joint, Sampled(Noisy(VDC(two_joint, derivative="zero"), 1e-5, ("q",)), 2e-3)
    )
    a, b, c = (simulate(loop, replace(short, duration=0.1, seed=s)) for s in (3, 3, 4))
    assert np.array_equal(a.values, b.values) and a.provenance == b.provenance
    assert not np.array_equal(a.values, c.values)
    assert a.provenance["seed"] == 3 and a.provenance["parameters"]["plant.p_s"] == two_joint.p_s
    assert a.provenance["scenario"]["reference"]["type"] == "Waypoints"


def test_a_start_that_is_no_number():
    with pytest.raises(InputError, match="gives nan for x0"):
        simulate(replace(INTEGRATOR, x0=(float("nan"),)), Scenario(0.1))


def test_references_may_be_sines_of_outputs():
    """r enters at the samples only: x_{k+1} = x_k + T K (r_k − x_k) for a sampled integrator."""
    T, K = 0.05, 3.1
    loop = ClosedLoop(INTEGRATOR, Sampled(Feedback(INTEGRATOR, ((K,),), ((K,),)), T))
    path = Sine("output", (0.4,), (0.3,), 0.7, ramp=0.5)
    log = simulate(loop, Scenario(2.0, path))
    r, x = path.sample(log.time, 0)[0, :, 0], [0.8]
    for v in r[:-1]:
        x.append(x[-1] + T * K * (v - x[-1]))
    assert log.array("x0") == pytest.approx(x, rel=1e-12) and log.array("y0_d") == pytest.approx(r)
