"""Metrics against closed forms; limit cycles from both sides: what oscillates is found, what settles is not."""

from math import inf, isnan, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.signal import lfilter

from workbench.contract.errors import InputError
from workbench.run import metrics
from workbench.run.limit_cycle import limit_cycle

T = np.arange(20_001) * 1e-3
F = 3.137
SINE = np.sin(2 * pi * F * T + 0.3)
NOISE = np.random.default_rng(5).normal(size=T.size)


def test_norms_of_a_sine():
    t = np.linspace(0, 2.0, 4001)  # five whole periods
    e = 0.03 * np.sin(2 * pi * 2.5 * t)
    assert metrics.rms(t, e) == pytest.approx(0.03 / sqrt(2), rel=1e-6)
    assert metrics.l2_norm(t, e) == pytest.approx(0.03, rel=1e-6)
    assert metrics.linf_norm(e) == metrics.max_abs(e) == pytest.approx(0.03, rel=1e-6)
    circle = np.column_stack([e, 0.03 * np.cos(2 * pi * 2.5 * t)])
    assert metrics.linf_norm(circle) == pytest.approx(0.03, rel=1e-12)
    assert metrics.rms(t, circle) == pytest.approx(0.03, rel=1e-12)


def test_norms_weigh_time_not_samples():
    t = np.array([0.0, 1.0, 1.0, 1.1, 1.2, 4.0])
    e = np.array([2.0, 2.0, 5.0, 5.0, 5.0, 5.0])
    assert metrics.l2_norm(t, e) == pytest.approx(sqrt(4.0 * 1 + 25.0 * 3), rel=1e-14)
    assert metrics.rms(t, e) == pytest.approx(sqrt(79 / 4), rel=1e-14)


def test_a_failed_run_has_no_numbers():
    e = np.array([0.1, np.nan, 0.2])
    assert (
        isnan(metrics.linf_norm(e))
        and isnan(metrics.max_abs(e))
        and isnan(metrics.rms([0, 1, 2], e))
    )
    assert isnan(metrics.overshoot(e, 1.0)) and isnan(metrics.performance_index(e, [1.0, 2.0, 3.0]))
    for refuses in (
        lambda: metrics.settling_time([0, 1, 2], e, 0.2, 0.1),
        lambda: limit_cycle([0, 1, 2], e),
    ):
        with pytest.raises(InputError, match="not finite"):
            refuses()


def test_performance_index_is_error_over_velocity():
    assert metrics.performance_index([0.001, -0.004, 0.002], [0.3, -0.8, 0.5]) == pytest.approx(
        0.005, rel=1e-14
    )
    assert metrics.performance_index([[0.003, 0.004]], [[0.6, -0.8]]) == pytest.approx(
        0.005, rel=1e-14
    )
    with pytest.raises(InputError, match="zero throughout"):
        metrics.performance_index([0.1], [0.0])


def test_second_order_step():
    """Overshoot exp(−πζ/√(1 − ζ²)); a first-order lag is in its 5 % band after τ ln 20."""
    ζ, ω = 0.35, 4.1
    ωd, t = ω * sqrt(1 - ζ**2), np.linspace(0, 8, 80_001)
    rise = 1 - np.exp(-ζ * ω * t) * (np.cos(ωd * t) + ζ / sqrt(1 - ζ**2) * np.sin(ωd * t))
    for start, target in ((0.7, 1.9), (0.7, -0.4)):
        y = start + (target - start) * rise
        assert metrics.overshoot(y, target) == pytest.approx(
            np.exp(-pi * ζ / sqrt(1 - ζ**2)), rel=1e-6
        )
    lag = 2.0 * (1 - np.exp(-t / 0.9))
    assert metrics.overshoot(lag, 2.0) == 0.0
    assert metrics.settling_time(t + 3.3, lag, 2.0, 0.1) == pytest.approx(
        0.9 * np.log(20), rel=1e-7
    )
    assert (
        metrics.settling_time(t, lag, 5.0, 0.1) == inf
        and metrics.settling_time(t, 0 * t, 0.0, 0.1) == 0.0
    )
    with pytest.raises(InputError, match="begins at its target"):
        metrics.overshoot(lag, 0.0)


@pytest.mark.parametrize(
    "e, amplitude",
    [
        (0.02 * SINE + 0.5, 0.02),
        (0.02 * SINE + 0.005 * NOISE + 0.01 * T, 0.02),
        (1e-9 * SINE, 1e-9),
        (
            0.3 * SINE + 0.45 * np.sin(4 * pi * F * T),
            None,
        ),  # the second harmonic is the strongest line
        (np.sign(SINE), None),
        ((T * F) % 1, None),
        (0.02 * SINE * (1 + 2 * np.exp(-0.3 * T)), 0.02),  # settles to its cycle from above
    ],
    ids=["sine", "noisy and drifting", "small", "second harmonic", "square", "saw", "from above"],
)
def test_sustained_oscillation_is_found(e, amplitude):
    found = limit_cycle(T, e)
    assert found.detected and found.trend == "sustained" and found.confidence >= 0.8
    assert found.frequency == pytest.approx(F, rel=0.005)
    if amplitude:
        assert found.amplitude == pytest.approx(amplitude, rel=0.06)


def test_van_der_pol_has_its_known_cycle():
    """Amplitude 2 + O(μ²), ω = 1 − μ²/16 + O(μ⁴)."""
    for μ, start in ((0.1, 3.0), (0.3, 0.4)):
        t = np.linspace(0, 300, 12_001)
        flow = lambda _, x: [x[1], μ * (1 - x[0] ** 2) * x[1] - x[0]]  # noqa: E731, B023
        x = solve_ivp(flow, (0, 300), [start, 0.0], t_eval=t, rtol=1e-9, atol=1e-10).y[0]
        found = limit_cycle(t, x)
        assert found.trend == "sustained" and found.amplitude == pytest.approx(2, rel=0.005)
        assert 2 * pi * found.frequency == pytest.approx(1 - μ**2 / 16, rel=1e-4)


@pytest.mark.parametrize("rate", [0.01, 0.02, 0.1, 0.3, 1.0])
def test_decaying_is_no_limit_cycle_and_growing_is_reported(rate):
    for noise in (0.0, 1e-3):
        e = 0.1 + 0.7 * np.exp(-rate * T) * SINE
        found = limit_cycle(T, e + noise * np.exp(-rate * T) * NOISE)
        assert (
            not found.detected
            and found.trend == "decaying"
            and found.frequency == pytest.approx(F, rel=0.005)
        )
        assert found.rate == pytest.approx(-rate, rel=0.05)
        e = 0.1 + 0.7 * np.exp(rate * (T - T[-1])) * SINE
        found = limit_cycle(T, e + noise * np.exp(rate * (T - T[-1])) * NOISE)
        assert (
            found.detected
            and found.trend == "growing"
            and found.frequency == pytest.approx(F, rel=0.005)
        )
        assert found.rate == pytest.approx(rate, rel=0.05)


def test_dry_friction_decay_is_no_limit_cycle():
    assert limit_cycle(T, np.maximum(1 - T / 25, 0) * SINE).trend == "decaying"
    assert not limit_cycle(T, np.maximum(1 - T / 15, 0) * SINE).detected  # comes to rest


def test_explosions_are_growing_even_without_a_waveform():
    for e in (np.exp(T), np.exp(4 * (T - 20)) * SINE, 1e-3 * np.exp(1.5 * T) - 4):
        found = limit_cycle(T, e)
        assert found.detected and found.trend == "growing"
    assert limit_cycle(T, np.exp(T)).rate == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize(
    "e",
    [
        0 * T,
        0 * T + 3.7,
        3.7 + 1e-15 * NOISE,
        2 * T - 1,
        np.exp(-T),
        1 - np.exp(-0.1 * T),
        0.02 * T**2,
        np.exp(-4 * T) * SINE,
        np.sin(2 * pi * 0.2 * T),
    ],
    ids=[
        "zero",
        "constant",
        "rounding",
        "ramp",
        "lag",
        "slow lag",
        "parabola",
        "gone",
        "two periods",
    ],
)
def test_what_does_not_oscillate(e):
    found = limit_cycle(T, e)
    assert not found.detected and found.trend == "none" and isnan(found.frequency) and found.why


@pytest.mark.parametrize(
    "colour",
    [
        ([1.0], [1.0]),
        ([1.0], [1, -0.98]),
        ([1.0], [1, -1.0]),
        ([1.0], [1, -2 * 0.98 * np.cos(0.13), 0.98**2]),
    ],
    ids=["white", "low-passed", "random walk", "resonant"],
)
def test_noise_alone_is_no_limit_cycle(colour):
    rng = np.random.default_rng(11)
    for _ in range(30):
        assert limit_cycle(T[:6001], lfilter(*colour, rng.normal(size=6001))).trend == "none"


def test_floor_and_uneven_times():
    assert limit_cycle(T, 1e-4 * SINE, floor=2e-4).trend == "none"
    assert limit_cycle(T, 1e-4 * SINE + 2e-5 * NOISE, floor=0.9e-4).detected
    t = np.sort(np.random.default_rng(3).uniform(0, 20, 15_000))
    t = np.repeat(t, np.where(np.arange(t.size) % 50 == 0, 2, 1))  # jumps: two samples at one time
    found = limit_cycle(t, 0.4 * np.sin(2 * pi * F * t))
    assert found.frequency == pytest.approx(F, rel=0.005) and found.amplitude == pytest.approx(
        0.4, rel=0.01
    )


def test_only_the_settled_part_counts():
    e = np.where(T < 9, SINE, 0.0)
    assert (
        limit_cycle(T, e).trend == "none" and limit_cycle(T[:9000], e[:9000]).trend == "sustained"
    )
    with pytest.raises(InputError, match="at least 16"):
        limit_cycle(T[:20], SINE[:20])
