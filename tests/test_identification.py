"""Identification: exact responses and gradients, recovered truths, honest intervals, what is not identifiable."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.signal import cont2discrete, dlsim, lfilter
from scipy.stats import binom, kstest

from workbench import InputError, Signal
from workbench.identification import (
    PRBS,
    Channel,
    Chirp,
    LinearModel,
    MultiSine,
    Pulse,
    Record,
    Shape,
    Step,
    examine,
    fit,
    select_order,
    validate,
    values,
    whiteness,
)
from workbench.identification.order import cancelling
from workbench.identification.residuals import cross_correlation
from workbench.identification.response import sensitivities, simulated
from workbench.identification.uncertainty import autoregression, lag_estimates, root_gradients

T = 2e-3
LAGS = (1.3e-3, 1.1e-3, 0.7e-3)
G_1, G_2 = Channel.of_lags("X", 125.2, LAGS, 1), Channel.of_lags("F", -6.1e-6, (0.43e-3,), 1)
SERVO = Channel("X", (2.0, 0.05), (0.15, 0.004), 0, 0.0131)
SHAPE = Shape("X", 2, 1, 0, True)


def experiment(channels, signals, T=T, N=3000, σ=0.0, seed=0, offset=3e-3, ar=(), hold=()):
    """Record of the channels' summed outputs under test signals, with an offset and noise."""
    channels = (channels,) if isinstance(channels, Channel) else channels
    t = np.arange(N) * T
    u = np.column_stack([np.zeros(N) if s is None else values(s, t) for s in signals])
    names = tuple(c.input for c in channels)
    r = Record(t, u, np.zeros(N), names, ("Y",), hold)
    e = lfilter([1.0], [1.0, *ar], np.random.default_rng(seed).normal(size=N + 500))[500:]
    return replace(r, y=LinearModel("Y", channels).response(r) + offset + σ * e / e.std())


def servo(**changes):
    return experiment(SERVO, [PRBS("output", 1.0, clock=0.04, length=5.5, begin=0.1)], **changes)


# ---- responses ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ν", [0, 1, 2])
@pytest.mark.parametrize("hold", ["zoh", "foh"])
def test_responses_agree_with_scipy(ν, hold):
    rng, b, a = (
        np.random.default_rng(3),
        np.array([115.4, 0.3]),
        np.array([3.39e-3, 3.8e-6, 1.44e-9]),
    )
    u = np.concatenate([[0.0], rng.normal(size=400)])  # SciPy's "foh" begins on a ramp from nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy on its own polynomials
        system = cont2discrete((b[::-1], [*a[::-1], 1.0, *[0.0] * ν]), 1e-3, hold)
        expected = dlsim((system[0], system[1], 1e-3), u)[1][:, 0]
    found = simulated(b, a, ν, 0.0, u, 1e-3, hold)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_a_step_response_is_the_closed_form():
    K, λ, τ = 3.7, 0.021, 0.0137
    t = np.arange(400) * T
    s = np.maximum(t - τ, 0.0)
    one = np.ones(t.size)
    first = Channel.of_lags("u", K, (λ,), 0, τ).response(one, T)
    np.testing.assert_allclose(first, K * (1 - np.exp(-s / λ)), rtol=0, atol=1e-13)
    ramp = Channel.of_lags("u", K, (λ, λ), 1, τ).response(one, T)  # equal lags
    np.testing.assert_allclose(
        ramp, K * (s - 2 * λ + (2 * λ + s) * np.exp(-s / λ)), rtol=0, atol=1e-13
    )
    w, ζ = 61.3, 0.052
    swing = Channel("u", (K,), (2 * ζ / w, 1 / w**2), 0, τ).response(one, T)
    d = w * np.sqrt(1 - ζ**2)
    expected = K * (1 - np.exp(-ζ * w * s) * (np.cos(d * s) + ζ * w / d * np.sin(d * s)))
    np.testing.assert_allclose(swing, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("hold", ["zoh", "foh"])
@pytest.mark.parametrize("delay", [0.0, 2.3e-3, 4e-3, 0.0117])
def test_delays_between_samples_are_exact(hold, delay):
    rng, fine = np.random.default_rng(5), 20
    b, a, u = np.array([1.7, 0.02]), np.array([0.09, 0.0031]), rng.normal(size=200)
    whole = (
        np.repeat(u, fine)
        if hold == "zoh"
        else np.interp(np.arange(200 * fine) / fine, np.arange(200), u)
    )
    at = np.round((np.arange(200) * T - delay) / (T / fine)).astype(int)
    expected = np.where(
        at < 0, 0.0, simulated(b, a, 1, 0.0, whole, T / fine, hold)[np.maximum(at, 0)]
    )
    np.testing.assert_allclose(simulated(b, a, 1, delay, u, T, hold), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ν", [0, 1])
def test_gradients_are_those_of_the_response(ν):
    θ, n_b = np.array([2.1, 0.04, 0.15, 0.0043, 1.1e-5, 0.0131]), 2
    u = np.random.default_rng(7).normal(size=300)
    run = lambda p: simulated(p[:n_b], p[n_b:-1], ν, p[-1], u, T, "foh")
    y, J = sensitivities(θ[:n_b], θ[n_b:-1], ν, θ[-1], u, T, "foh", True)
    np.testing.assert_allclose(y, run(θ), rtol=0, atol=1e-9 * np.abs(y).max())
    for k in range(θ.size):
        h = np.zeros(θ.size)
        h[k] = 1e-4 * θ[k]
        # fourth-order differences
        slope = (8 * (run(θ + h) - run(θ - h)) - (run(θ + 2 * h) - run(θ - 2 * h))) / (12 * h[k])
        np.testing.assert_allclose(J[:, k], slope, rtol=0, atol=2e-6 * np.abs(slope).max())


def test_a_long_run_does_not_drift():
    N = 400_000
    y = Channel.of_lags("u", 1.0, (1.3e-3, 0.7e-3), 1).response(np.ones(N), 1e-3)
    assert y[-1] == pytest.approx((N - 1) * 1e-3 - 2e-3, rel=1e-12)


# ---- recovered truths ---------------------------------------------------------------------------------------------
def close(made, channels):
    truth = np.concatenate([c.parameters(s) for c, s in zip(channels, made.shapes)])
    assert np.abs([e.value for e in made.estimates] / truth - 1).max() < 1e-8


def test_noise_free_data_give_the_truth():
    close(fit(servo(), SHAPE), [SERVO])
    oscillating = Channel("X", (0.7,), (2 * 0.05 / 61.0, 1 / 61.0**2), 1)
    close(
        fit(experiment(oscillating, [Chirp("output", 0.3, length=6.0)]), Shape("X", 3, 0, 1)),
        [oscillating],
    )
    first = Channel.of_lags("X", -4.0, (0.3,), 0)
    close(fit(experiment(first, [Step("output", 2.0, 0.3)]), Shape("X", 1)), [first])
    pure = Channel("X", (0.8,), (), 1)
    close(
        fit(experiment(pure, [MultiSine("output", 0.4, 0.2, 9.0, 5.0)]), Shape("X", 1, 0, 1)),
        [pure],
    )


def paper_bench(σ=0.0, seed=0, **changes):
    """Pulse, step, chirp on X; chirp on F: the paper's test bench, its linear model as the plant."""
    bench = [
        (Pulse("output", 4e-4, 0.1, 0.3), None),
        (Step("output", 4e-4, 0.1), None),
        (Chirp("output", 4e-4, length=4.0), None),
        (None, Chirp("output", 450.0, length=4.0)),
    ]
    return [
        experiment((G_1, G_2), signals, 1e-3, 4000, σ, seed + k, **changes)
        for k, signals in enumerate(bench)
    ]


def test_two_inputs_and_several_records_give_the_truth():
    made = fit(paper_bench(), (Shape("X", 4, 0, 1), Shape("F", 2, 0, 1)), "Y")
    close(made, [G_1, G_2])
    assert made["Σλ_X"].value == pytest.approx(sum(LAGS), rel=1e-9) and made.converged
    assert min(made.percent) > 100 - 1e-6


def test_unequal_step_sizes_and_weights_give_the_truth():
    records = [
        servo(),
        experiment(SERVO, [Chirp("output", 3.0, length=3.0)], T=3e-3, N=1200, offset=-1.0),
    ]
    close(fit(records, SHAPE, weights=(1.0, 0.25)), [SERVO])


def test_a_line_in_the_output_can_be_taken_out():
    r = experiment(G_1, [Chirp("output", 4e-4, length=4.0)], 1e-3, 4000)
    sloping = replace(r, y=r.y + 0.002 * r.t[:, None])
    shape = Shape("X", 4, 0, 1)
    close(fit(sloping, shape, trend=True), [G_1])
    assert abs(fit(sloping, shape)["K_X"].value / 125.2 - 1) > 1e-4


def test_the_minimum_is_that_of_curve_fit():
    r = servo(σ=0.1, seed=4)
    made = fit(r, SHAPE, noise="white")
    run = lambda _, b_0, b_1, a_1, a_2, τ, y_0: (
        Channel("X", (b_0, b_1), (a_1, a_2), 0, τ).response(r.u[:, 0], T) + y_0
    )
    θ, C = curve_fit(run, r.t, r.y[:, 0], [*SERVO.parameters(SHAPE) * 1.04, 0.0])
    σ = np.sqrt(np.diag(C))[:5]
    assert np.abs((θ[:5] - [e.value for e in made.estimates]) / σ).max() < 0.01
    np.testing.assert_allclose([e.σ for e in made.estimates], σ, rtol=0.01)


def test_a_delay_that_is_not_there_is_held_at_zero():
    plant = replace(SERVO, delay=0.0)
    made = [
        fit(
            experiment(plant, [PRBS("output", 1.0, clock=0.04, length=5.5)], σ=0.05, seed=s),
            SHAPE,
            start=LinearModel("Y", (plant,)),
        )
        for s in range(6)
    ]
    held = [m for m in made if any("held at 0" in n for n in m.notes)]
    assert held and all(m.model.channels[0].delay == 0.0 and len(m.estimates) == 4 for m in held)
    assert all(m["τ_X"].low <= 0.0 for m in made if m not in held)


LAGGED = Channel.of_lags("X", 125.2, (5e-3, 2e-3), 1, 2.4e-3)


def lagged(seed: int, σ: float, ar: tuple[float, ...]) -> Record:
    """Lags of 5 and 2 ms and a delay of 2.4 ms behind an integrator, 0.5 s at 1 kHz, noise coloured by 1/(1 + ar)."""
    t = np.arange(500) * 1e-3
    u = values(PRBS("output", 4e-4, clock=0.02, length=0.45, begin=0.02), t)
    clean = Record(t, u[:, None], np.zeros((t.size, 1)), (Signal("X", "m"),), (Signal("Y", "m"),))
    e = lfilter([1.0], [1.0, *ar], np.random.default_rng(seed).normal(size=1000))[500:]
    y = LinearModel("Y", (LAGGED,)).response(clean) + 0.003 + σ * e / e.std()
    return replace(clean, y=y[:, None])


@pytest.mark.parametrize("σ, ar", [(2e-5, ()), (6e-5, (-0.9,)), (12e-5, (-0.9,))])
def test_in_the_valley_of_delay_against_lags_the_intervals_cover(σ, ar):
    """What is called identified is right, and the sum is covered where the two cannot be told apart."""
    begin, shape, runs = LinearModel("Y", (LAGGED,)), Shape("X", 3, 0, 1, True), 12
    made = [fit(lagged(seed, σ, ar), shape, start=begin) for seed in range(runs)]
    least = binom.ppf(1e-3, runs, 0.95)
    for name, truth in (("τ_X", 2.4e-3), ("Σλ_X", 7e-3)):
        assert sum(m[name].low <= truth <= m[name].high for m in made) >= least
    vague = [m for m in made if not (m["τ_X"].identified and m["Σλ_X"].identified)]
    assert all(any("only their sum is known" in note for note in m.notes) for m in vague)
    assert len(vague) == runs if σ > 3e-5 else len(vague) < runs
    held = [m for m in made if any("held at 0" in note for note in m.notes)]
    assert all("ask for none" not in " ".join(m.notes) and m["τ_X"].high > 1e-3 for m in held)
    assert held or σ < 12e-5


# ---- honest intervals ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ar", [(), (-0.9,)])
def test_intervals_cover_the_truth(ar):
    runs, begin = 60, LinearModel("Y", (SERVO,))
    truth = SERVO.parameters(SHAPE)
    made = [
        fit(servo(σ=0.05, seed=100 + k, ar=ar, N=2000), SHAPE, start=begin).estimates
        for k in range(runs)
    ]
    inside = np.sum([[e.low <= θ <= e.high for e, θ in zip(m, truth)] for m in made], axis=0)
    least = binom.ppf(1e-4, runs, 0.95)
    assert (inside >= least).all(), inside
    stated, spread = (
        np.mean([[e.σ for e in m] for m in made], 0),
        np.std([[e.value for e in m] for m in made], 0, ddof=1),
    )
    assert (
        np.abs(np.log(stated / spread)) < 0.4
    ).all()  # χ² with 59 degrees of freedom: ±4 deviations


def test_coloured_noise_taken_for_white_would_be_found_out():
    truth, begin = SERVO.parameters(SHAPE), LinearModel("Y", (SERVO,))
    made = [
        fit(
            servo(σ=0.05, seed=100 + k, ar=(-0.9,), N=2000), SHAPE, start=begin, noise="white"
        ).estimates
        for k in range(25)
    ]
    inside = np.sum([[e.low <= θ <= e.high for e, θ in zip(m, truth)] for m in made], axis=0)
    assert (inside < binom.ppf(1e-4, 25, 0.95)).any()


def test_the_noise_is_recognised():
    rng = np.random.default_rng(2)
    white = rng.normal(size=5000)
    assert autoregression([white]).order == 0
    made = autoregression([lfilter([1.0], [1.0, -1.2, 0.5], white)])
    assert (
        made.order == 2
        and made.a[1:] == pytest.approx((-1.2, 0.5), abs=0.05)
        and made.σ == pytest.approx(1, rel=0.05)
    )
    # effective samples of an AR(1): N (1 − a²)/(1 + a²)
    one = autoregression([lfilter([1.0], [1.0, -0.8], rng.normal(size=20000))])
    assert one.effective / 20000 == pytest.approx((1 - 0.64) / (1 + 0.64), rel=0.1)


# ---- what data cannot tell ----------------------------------------------------------------------------------------
def test_single_lags_are_not_identifiable_and_their_sum_is():
    made = fit(paper_bench(σ=2e-6), (Shape("X", 4, 0, 1), Shape("F", 2, 0, 1)), "Y")
    total = made["Σλ_X"]
    assert (
        total.identified
        and total.low < sum(LAGS) < total.high
        and total.high - total.low < 0.01 * total.value
    )
    assert made["K_X"].low < 125.2 < made["K_X"].high
    said = [n for n in made.notes if "cannot be told apart" in n]
    assert len(said) == 1 and "λ_1, λ_2, λ_3 of X" in said[0] and "Σλ = 0.003" in said[0]


def test_a_slow_input_leaves_a_combination_open():
    slow = Channel.of_lags("X", 3.0, (0.012, 0.010), 0)
    made = fit(
        experiment(slow, [MultiSine("output", 1.0, 0.2, 1.0, 5.0)], σ=1.5, seed=1),
        Shape("X", 2, 0, 0, True),
    )
    assert made["K_X"].identified and not made["a_2_X"].identified
    # a_1 + τ is what a slow input sees
    mixed = made.open[-1].weights
    assert {"a_1_X", "a_2_X", "τ_X"} & mixed.keys()
    C = made.covariance
    i, k = (list(e.name for e in made.estimates).index(n) for n in ("a_1_X", "τ_X"))
    together = np.sqrt(C[i, i] + C[k, k] + 2 * C[i, k])
    assert together < 0.5 * min(np.sqrt(C[i, i]), np.sqrt(C[k, k]))


def test_fast_enough_lags_are_told_apart():
    plant = Channel.of_lags("X", 3.0, (0.4, 0.03), 0)
    made = fit(
        experiment(plant, [PRBS("output", 1.0, clock=0.06, length=5.9)], σ=0.01), Shape("X", 2)
    )
    for name, truth in (("λ_1_X", 0.4), ("λ_2_X", 0.03), ("Σλ_X", 0.43)):
        assert made[name].identified and abs(made[name].value - truth) < 4 * made[name].σ
    assert not made.open and not any("told apart" in n for n in made.notes)


def test_root_gradients():
    a = np.array([0.9, 0.23, 0.015])
    λ, G = root_gradients(a)
    for j in range(3):
        h = np.zeros(3)
        h[j] = 1e-6
        slope = (root_gradients(a + h)[0] - root_gradients(a - h)[0]) / 2e-6
        np.testing.assert_allclose(G[:, j], slope, rtol=1e-6)
    assert λ.sum() == pytest.approx(0.9)
    assert not np.isfinite(root_gradients(np.array([2.0, 1.0]))[1]).all()  # equal lags
    w, ζ = 7.0, 0.3
    pair = {
        e.name: e
        for e in lag_estimates("X", np.array([2 * ζ / w, 1 / w**2]), np.diag([1e-8, 1e-8]), 50)
    }
    assert pair["ω_X"].value == pytest.approx(w) and pair["ζ_X"].value == pytest.approx(ζ)
    # ω = a_2^(−½): dω = −½ ω³ da_2;  ζ = a_1 ω/2
    assert pair["ω_X"].σ == pytest.approx(0.5 * w**3 * 1e-4)
    assert pair["ζ_X"].σ == pytest.approx(1e-4 * np.hypot(w / 2, ζ / w * 0.5 * w**3))


# ---- order, residuals, validation ---------------------------------------------------------------------------------
def test_the_order_is_found():
    r = experiment(
        Channel.of_lags("X", 3.0, (0.1, 0.03, 0.02), 0),
        [PRBS("output", 1.0, clock=0.04, length=5.9)],
        σ=0.002,
    )
    found = select_order(r, "X", orders=(1, 2, 3, 4))
    assert found.best.orders == (3,)
    one, two, three, four = found.candidates
    assert three.p_value < 1e-6 and (four.too_high or four.bic > three.bic)
    assert not whiteness(one.fit.residuals).white and whiteness(three.fit.residuals).white


def test_a_pole_with_a_zero_on_top_is_seen():
    r = servo()
    made = fit(r, SHAPE)
    doubled = Channel(
        "X",
        np.convolve((2.0, 0.05), (1.0, 0.3)),
        np.convolve((1.0, 0.15, 0.004), (1.0, 0.3))[1:],
        0,
        0.0131,
    )
    assert not cancelling(made)
    assert cancelling(replace(made, model=LinearModel("Y", (doubled,))))[0].startswith(
        "X: pole -3.333"
    )


def test_whiteness_and_independence_of_both_kinds():
    rng = np.random.default_rng(8)
    p = [whiteness([rng.normal(size=400)]).p for _ in range(150)]
    assert kstest(p, "uniform").pvalue > 1e-3
    assert not whiteness([lfilter([1.0], [1.0, -0.5], rng.normal(size=400))]).white
    u = lfilter([1.0], [1.0, -0.8], rng.normal(size=2000))
    e = rng.normal(size=2000)
    assert cross_correlation([e], [u], "u").independent
    seen = cross_correlation([e + 0.2 * np.roll(u, 3)], [u], "u")
    assert not seen.independent and np.argmax(np.abs(seen.z)) in (2, 3, 4)


def test_a_good_model_passes_fresh_records_and_a_poor_one_does_not():
    fresh = experiment(SERVO, [Chirp("output", 1.0, 0.1, 20.0, 5.0)], σ=0.05, seed=9, offset=0.7)
    good, poor = fit(servo(σ=0.05), SHAPE), fit(servo(σ=0.05), Shape("X", 1))
    assert examine(good).whiteness.white and examine(good).cross[0].independent
    checked = validate(good, fresh)
    assert checked.whiteness.white and checked.cross[0].independent and checked.percent[0] > 80
    bad = validate(poor, fresh)
    assert not bad.cross[0].independent and bad.percent[0] < checked.percent[0] - 2
    first, second = servo(σ=0.05).split(0.6)
    half = fit(first, SHAPE)
    assert (
        validate(half, second).whiteness.white and half.samples + len(second) - second.start == 3000
    )


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (dict(order=2, zeros=2), "not strictly proper"),
        (dict(order=0), "1 or more"),
        (dict(order=12), "12 poles"),
        (dict(order=2, integrators=3), "3 integrators"),
        (dict(order=1.5), "whole number"),
        (dict(order=2, delay=-1.0), "delay"),
    ],
)
def test_orders_that_make_no_sense_are_refused(shape, said):
    with pytest.raises(InputError, match=said) as why:
        Shape("X", **shape)
    assert "X" in str(why.value)


def test_an_unstable_plant_is_found_only_on_request():
    plant = Channel("X", (1.0,), (-0.5,), 0)  # pole at +2 1/s
    r = experiment(plant, [PRBS("output", 1.0, clock=0.06, length=1.9)], N=1000)
    free = fit(
        r,
        Shape("X", 1, stable=False),
        causality="ignore",
        start=LinearModel("Y", (Channel("X", (0.9,), (-0.52,)),)),
    )
    close(free, [plant])
    assert any("unstable" in n for n in free.notes)
    assert fit(r, Shape("X", 1), causality="ignore").model.stable


# ---- signals ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "signal",
    [
        Pulse("output", 3.0, 0.2, 0.3, 0.1, -1.0),
        Chirp("output", 0.7, 0.2, 9.0, 3.0, 0.1, False, 0.4, 0.3),
        Chirp("output", 0.7, 0.2, 9.0, 3.0, 0.1, True),
        MultiSine("output", 2.0, 0.3, 8.0, 4.0, 2, 0.1, 0.5),
    ],
)
def test_derivatives_of_signals(signal):
    t = np.array([0.2113, 0.2871, 0.5332, 0.9712, 2.417])
    h = 1e-5
    here, after, before = signal.sample(t, 2), signal.sample(t + h, 2), signal.sample(t - h, 2)
    for i in (1, 2):
        slope = (after[i - 1] - before[i - 1]) / (2 * h)
        np.testing.assert_allclose(
            here[i], slope, rtol=0, atol=1e-5 * max(np.abs(here[i]).max(), 1e-3)
        )


def test_signals_are_what_they_say():
    t = np.arange(0, 12, 1e-3)
    chirp = values(Chirp("output", 0.7, 0.1, 10.0, 10.0, 0.5), t)
    assert (
        np.abs(chirp).max() == pytest.approx(0.7, abs=1e-3)
        and not chirp[t < 0.5].any()
        and not chirp[t > 10.51].any()
    )
    assert Chirp("output", 1.0, logarithmic=True).frequency(5.0) == pytest.approx(
        1.0
    )  # the geometric mean
    crossings = np.count_nonzero(np.diff(np.sign(chirp[(t > 0.5) & (t < 10.5)])))
    assert crossings == pytest.approx(
        2 * 5.05 * 10, abs=2
    )  # twice the mean frequency times the length
    many = MultiSine("output", 2.0, 0.5, 8.0, 4.0)
    y = values(many, np.arange(4000) * 1e-3)
    spectrum = np.abs(np.fft.rfft(y)) / 2000
    lines = np.flatnonzero(spectrum > 1e-9)
    assert list(lines) == list(many.harmonics) and np.ptp(spectrum[lines]) < 1e-9
    assert (
        np.abs(y).max() == pytest.approx(2.0, rel=1e-3) and np.abs(y).max() / y.std() < 2.1
    )  # cosines in phase: 7.6
    bits = PRBS("output", 1.5, 0.01, 5.11, 9, seed=5)
    one = values(bits, np.arange(511) * 0.01)
    assert set(one) == {-1.5, 1.5} and one.sum() == pytest.approx(1.5)
    spread = np.fft.ifft(np.abs(np.fft.fft(one / 1.5)) ** 2).real
    np.testing.assert_allclose(spread[1:], -1.0, atol=1e-9)  # of a maximum-length sequence
    assert not np.array_equal(values(replace(bits, seed=6), t[:5000]), values(bits, t[:5000]))
    step = values(Step("output", 2.0, 0.5, offset=1.0), t)
    assert step[499] == 1.0 and step[500] == 3.0 and step[-1] == 3.0


def test_signals_drive_a_simulated_plant():
    from controllers import PID
    from plants import machine
    from workbench import ClosedLoop, Scenario, simulate

    plant = machine("hiab-xs031").plant.locked(extension=0.5)
    push = Step("output", 400.0, 0.05)
    log = simulate(
        ClosedLoop(plant, PID(plant)), Scenario(duration=0.2, disturbances={"f_Dy": push})
    )
    np.testing.assert_array_equal(log.array("f_Dy"), values(push, log.time))
    r = Record.from_log(log, ["f_Dy"], [plant.outputs[0].name])
    assert (
        r.T == pytest.approx(1e-3)
        and (r.inputs[0].name, r.inputs[0].unit) == ("f_Dy", "N")
        and r.hold == ("zoh",)
    )


def test_signals_that_make_no_sense_are_refused():
    for make in (
        lambda: Chirp("output", 1.0, low=0.0),
        lambda: Pulse("output", float("nan")),
        lambda: Pulse("somewhere", 1.0),
        lambda: PRBS("output", 1.0, bits=4, seed=15),
        lambda: MultiSine("output", 1.0, 0.51, 0.59, 1.0),
        lambda: PRBS("output", 1.0, bits=40),
    ):
        with pytest.raises(ValueError):
            make()
