"""Margins, disk margins and norms against closed forms, python-control and brute force."""

import control
import numpy as np
import pytest

from tests.linear_systems import random_loop, response, s, system
from workbench.contract.errors import InputError
from workbench.verification.linear.margin_verdicts import margin_verdicts
from workbench.verification.linear.margins import (
    disk_margin,
    disk_margins,
    disk_range,
    gain_crossovers,
    loop_margins,
)
from workbench.verification.linear.norms import hinf_norm
from workbench.verification.linear.sampled_data import sampled, stable_up_to
from workbench.verification.linear.stability import stability
from workbench.verification.linear.systems import (
    LinearSystem,
    break_loop,
    feedback,
    loop_at,
    series,
)

# ---- margins


def test_margins_of_a_second_order_loop():
    """ω_n²/(s(s + 2ζω_n)): ω_c = ω_n √(√(1 + 4ζ⁴) − 2ζ²), φ = atan(2ζω_n/ω_c), any gain."""
    ζ, ω = 0.37, 12.0
    m = loop_margins(system(ω**2 / (s * (s + 2 * ζ * ω))))
    ω_c = ω * np.sqrt(np.sqrt(1 + 4 * ζ**4) - 2 * ζ**2)
    assert m.gain_up == np.inf and m.gain_down == 0.0
    assert m.phase[0][0] == pytest.approx(ω_c, rel=1e-12)
    assert m.phase_margin == pytest.approx(np.arctan(2 * ζ * ω / ω_c), rel=1e-11)
    assert m.delay_margin == pytest.approx(np.arctan(2 * ζ * ω / ω_c) / ω_c, rel=1e-11)


def test_margins_of_a_third_order_lag():
    """k/(τs + 1)³: limit gain 8 at ω = √3/τ."""
    m = loop_margins(system(3.2 / (0.05 * s + 1) ** 3))
    assert m.gain_up == pytest.approx(8 / 3.2, rel=1e-12)
    assert m.gain[0][0] == pytest.approx(np.sqrt(3) / 0.05, rel=1e-12)


def test_sampled_integrator_with_delay():
    """K T/(z − 1) z^{−d}: |L| = 1 at 2 sin(ωT/2) = KT; L real and negative at ωT = π/(2d + 1)."""
    K, T, d = 3.0, 0.01, 4
    m = loop_margins(sampled([[0.0]], [[K]], [[1.0]], [[0.0]], T, d * T))
    ω_c = 2 / T * np.arcsin(K * T / 2)
    assert m.gain_up == pytest.approx(2 * np.sin(np.pi / (4 * d + 2)) / (K * T), rel=1e-11)
    assert m.phase[0][0] == pytest.approx(ω_c, rel=1e-10)
    assert m.phase_margin == pytest.approx(np.pi / 2 - ω_c * T * (d + 0.5), rel=1e-10)
    limit = min(k for _, k in m.gain)
    assert limit == m.gain_up and len(m.gain) > 1  # the delay makes several phase crossovers


def test_integrator_with_pure_delay_in_the_limit_of_fast_sampling():
    """K e^{−sτ}/s is stable for Kτ < π/2; the sampled loop has half a sample of delay more."""
    K, T = 5.0, 4e-3
    delays = np.arange(0, 0.4, 0.05)
    low, high = stable_up_to(
        lambda τ: feedback(sampled([[0.0]], [[K]], [[1.0]], [[0.0]], T, τ)), delays
    )
    assert low < high and high - low < 1e-6
    assert low + T / 2 == pytest.approx(np.pi / 2 / K, rel=1e-4)


def test_conditionally_stable_loop():
    """20(s + 2)²/s³: stable from k = 1/20 upwards (Routh: 4k·20·k·20 > 4·20 k ⇒ k > 1/20)."""
    m = loop_margins(system(20 * (s + 2) ** 2 / s**3))
    assert m.stability.holds is True
    assert m.gain_down == pytest.approx(0.05, rel=1e-9)
    assert m.gain_up == np.inf
    assert (
        loop_margins(system(0.9 * (s + 2) ** 2 / s**3)).gain_up is None
    )  # below it: unstable, no margins


def test_gain_window_with_both_ends():
    """8(s + 1)²/(s³(0.05 s + 1)(0.02 s + 1)): a window of gains; both ends against closed-loop eigenvalues."""
    L = system(8 * (s + 1) ** 2 / (s**3 * (0.05 * s + 1) * (0.02 * s + 1)))
    m = loop_margins(L)
    assert 0 < m.gain_down < 1 < m.gain_up < np.inf
    for k, inside in ((m.gain_down, 1 + 1e-6), (m.gain_up, 1 - 1e-6)):
        assert np.linalg.eigvals(L.A - k * inside * L.B @ L.C).real.max() < 0
        assert np.linalg.eigvals(L.A - k / inside * L.B @ L.C).real.max() > 0


@pytest.mark.parametrize("seed", range(40))
def test_every_crossover_of_random_loops(seed):
    """Against sign changes on a grid of 8,000 points, python-control's margins, and closed-loop eigenvalues."""
    L = random_loop(seed)
    m = loop_margins(L)
    closed = np.linalg.eigvals(feedback(L).A)
    outside = closed.real.max() > 0 if L.T is None else abs(closed).max() > 1
    assert m.stability.holds is (not outside)
    if outside:
        assert (m.gain, m.phase, m.gain_up, m.phase_margin, m.delay_margin) == (
            (),
            (),
            None,
            None,
            None,
        )
        return
    ω = np.logspace(-3, 4, 8000) if L.T is None else np.linspace(1e-4, np.pi / L.T - 1e-4, 8000)
    values = response(L, ω)
    size, im = np.log(abs(values)), values.imag
    found = np.array([w for w, _ in m.phase])
    real = np.array([w for w, _ in m.gain])
    for a, b in zip(*(ω[k + np.flatnonzero(size[1:] * size[:-1] < 0)] for k in (0, 1))):
        assert np.sum((found >= a) & (found <= b)) == 1
    for a, b in zip(
        *(ω[k + np.flatnonzero((im[1:] * im[:-1] < 0) & (values.real[1:] < 0))] for k in (0, 1))
    ):
        assert np.sum((real >= a) & (real <= b)) == 1
    np.testing.assert_allclose(abs(response(L, found)), 1, rtol=1e-8)
    for k, inside in ((m.gain_up, 1 - 1e-5), (m.gain_down, 1 + 1e-5)):
        if 0 < k < np.inf and np.isfinite(L.D[0, 0]) and abs(1 + k * L.D[0, 0]) > 1e-3:
            for factor, expected in ((k * inside, True), (k / inside, False)):
                λ = np.linalg.eigvals(L.A - L.B @ L.C * factor / (1 + factor * L.D[0, 0]))
                assert bool(λ.real.max() < 0 if L.T is None else abs(λ).max() < 1) is expected


def test_agrees_with_python_control_margins():
    compared = 0
    for seed in range(1, 60, 2):
        L = random_loop(seed)
        m = loop_margins(L)
        if m.stability.holds is not True or seed % 3 == 0:
            continue
        _, _, _, w_phase, w_gain, _ = control.stability_margins(L.to_control(), returnall=True)
        ours = sorted(w for w, _ in m.gain if 0 < w < np.inf)
        np.testing.assert_allclose(ours, sorted(w_phase[w_phase > 0]), rtol=1e-6)
        np.testing.assert_allclose(
            sorted(w for w, _ in m.phase if w > 0), sorted(w_gain), rtol=1e-6
        )
        compared += len(m.gain) + len(m.phase)
    assert compared > 10


def test_a_touching_gain_crossover_is_seen():
    """|L| of ω_n²·k/(s² + 2ζω_n s + ω_n²) touches 1 at its peak when k = 2ζ√(1 − ζ²)."""
    ζ, ω = 0.1, 7.0
    L = system(2 * ζ * np.sqrt(1 - ζ**2) * ω**2 / (s**2 + 2 * ζ * ω * s + ω**2))
    found = gain_crossovers(L)  # one, or two that rounding has split
    assert 1 <= len(found) <= 2
    np.testing.assert_allclose(found, ω * np.sqrt(1 - 2 * ζ**2), rtol=1e-6)
    assert gain_crossovers(LinearSystem(L.A, L.B, 0.999999 * L.C, L.D)) == []


def test_delay_margin_is_the_delay_that_destabilises():
    """Sampled loop with a resonance: discretise with 0.99 and 1.01 of the margin, both whole and fractional samples."""
    A, B, C, T = [[0, 1], [-900.0, -9.0]], [[0], [900.0]], [[1.0, 0]], 0.004
    integrator = LinearSystem([[1.0]], [[T]], [[6.0]], [[0.0]], T)

    def loop(τ):
        return series(integrator, sampled(A, B, C, [[0.0]], T, τ))

    m = loop_margins(loop(0.0))
    assert 20 * T < m.delay_margin < 1.0
    assert stability(feedback(loop(0.99 * m.delay_margin)).A, T).holds is True
    assert stability(feedback(loop(1.01 * m.delay_margin)).A, T).holds is False
    low, _ = stable_up_to(lambda τ: feedback(loop(τ)), np.arange(0, 0.4, 0.02))
    assert low == pytest.approx(m.delay_margin, rel=1e-3)


def test_delay_margins_of_a_loop_that_leads_and_lags():
    """k s/(s² + 2ζω_n s + ω_n²) has |L| = 1 where s-phase is ahead and where it is behind; any gain is stable."""
    k, ζ, ω = 9.0, 0.11, 13.0
    m = loop_margins(system(k * s / (s**2 + 2 * ζ * ω * s + ω**2)))
    b = np.sqrt(k**2 - (2 * ζ * ω) ** 2)  # |ω² − w²| = b w
    low, high = (-b + np.sqrt(b**2 + 4 * ω**2)) / 2, (b + np.sqrt(b**2 + 4 * ω**2)) / 2
    lead = np.arccos(2 * ζ * ω / k)
    np.testing.assert_allclose(m.phase, [(low, lead - np.pi), (high, np.pi - lead)], rtol=1e-9)
    np.testing.assert_allclose(
        m.delay, [(low, (np.pi + lead) / low), (high, (np.pi - lead) / high)], rtol=1e-9
    )
    assert m.gain_up == np.inf and m.gain_down == 0.0
    assert m.delay_margin == pytest.approx((np.pi - lead) / high)  # the smaller of the two
    assert m.phase_margin == pytest.approx(np.pi - lead)


def test_a_jump_of_phase_at_an_undamped_pole_is_no_crossover():
    assert loop_margins(system(5 * s / ((s**2 + 9) * (0.1 * s + 1)))).gain == ()
    assert loop_margins(system(5 * s / ((s**2 + 9) * (0.1 * s + 1)))).stability.holds is True


def test_feedthrough_of_one_or_more_leaves_no_delay_margin():
    assert loop_margins(LinearSystem([[-2.0]], [[1.0]], [[3.0]], [[1.4]])).delay_margin == 0.0
    assert loop_margins(LinearSystem([[-2.0]], [[1.0]], [[0.3]], [[0.4]])).delay_margin == np.inf


def test_gain_margin_at_zero_and_infinite_frequency():
    """L = −0.5/(s + 1): at ω = 0; L = −0.4 + 0.1/(s + 3): 1 + kD = 0 at infinity."""
    assert loop_margins(
        LinearSystem([[-1.0]], [[1.0]], [[-0.5]], [[0.0]])
    ).gain_up == pytest.approx(2.0, rel=1e-14)
    assert loop_margins(
        LinearSystem([[-3.0]], [[1.0]], [[0.1]], [[-0.4]])
    ).gain_up == pytest.approx(2.5, rel=1e-14)


def test_a_hidden_unstable_mode_is_seen():
    L = LinearSystem([[-1.0, 0], [0, 0.3]], [[2.0], [0.0]], [[1.0, 1.0]], [[0.0]])
    assert loop_margins(L).stability.holds is False


def test_break_loop_and_loop_at():
    rng = np.random.default_rng(11)
    A, B, K = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    for T in (None, 0.2):
        closed = A - B @ K
        for i in (0, 1):
            L = break_loop(closed, B, -K, i, T)  # command u = −K x
            np.testing.assert_allclose(feedback(L).A, closed, atol=1e-14)
            if i == 0 and T is None:
                np.testing.assert_allclose(break_loop(closed, B, -K).A, L.A, atol=0)
            same = loop_at(LinearSystem(A, B, K, np.zeros((2, 2)), T), i)
            np.testing.assert_allclose(same.A, L.A, atol=1e-14)
            np.testing.assert_allclose(same.at(0.7), L.at(0.7), rtol=1e-12)


@pytest.mark.parametrize("i", [-1, 2])
def test_a_channel_that_is_not_there_is_refused(i):
    loop = LinearSystem(-np.eye(2), np.eye(2), np.eye(2), np.zeros((2, 2)), None)
    with pytest.raises(InputError, match=f"channel {i} of a 2×2 loop"):
        loop_at(loop, i)


def test_loop_at_with_feedthrough_is_the_return_ratio():
    """det(I + G) = (1 + G_jj)(1 + L_i) for a 2×2 loop."""
    rng = np.random.default_rng(12)
    G = LinearSystem(
        rng.normal(size=(3, 3)),
        rng.normal(size=(3, 2)),
        rng.normal(size=(2, 3)),
        rng.normal(size=(2, 2)),
    )
    for i, j in ((0, 1), (1, 0)):
        g = G.at(1.9)
        product = (1 + g[j, j]) * (1 + loop_at(G, i).at(1.9)[0, 0])
        assert np.linalg.det(np.eye(2) + g) == pytest.approx(product, rel=1e-12)


# ---- norms and disk margins


@pytest.mark.parametrize("ζ", [0.3, 1e-3, 1e-6, 1e-9])
def test_narrow_resonance(ζ):
    """Peak 1/(2ζ√(1 − ζ²)) at ω_n√(1 − 2ζ²), also sampled, where a grid of 1,000 points misses it."""
    ω = 37.3
    g = system(1 / (s**2 / ω**2 + 2 * ζ * s / ω + 1))
    norm, at = hinf_norm(g)
    assert norm == pytest.approx(1 / (2 * ζ * np.sqrt(1 - ζ**2)), rel=1e-9)
    assert at == pytest.approx(ω * np.sqrt(1 - 2 * ζ**2), rel=1e-4)
    if ζ <= 1e-3:
        assert max(abs(response(g, np.logspace(-1, 4, 1000)))) < 0.5 * norm
    T = 0.002
    d = sampled(g.A, g.B, g.C, g.D, T)
    hd, wd = hinf_norm(d)
    near = wd * (1 + np.linspace(-3, 3, 601) * ζ)
    rounding = 1e-12 + 10 * np.finfo(float).eps / (
        ζ * ω * T
    )  # of e^{jωT}, seen over the width of the peak
    assert hd >= max(abs(d.at(w)[0, 0]) for w in near) * (1 - rounding)
    assert hd == pytest.approx(norm, rel=0.01)


@pytest.mark.parametrize("seed", range(12))
def test_norm_of_random_systems(seed):
    rng = np.random.default_rng(100 + seed)
    L = random_loop(seed)
    n = len(L.A)
    g = LinearSystem(
        L.A,
        rng.normal(size=(n, 2)),
        rng.normal(size=(2, n)),
        rng.normal(size=(2, 2)) * (seed % 3),
        L.T,
    )
    norm, at = hinf_norm(g)
    assert norm == pytest.approx(np.linalg.norm(g.at(at), 2), rel=1e-9)
    ω = np.logspace(-3, 4, 3000) if g.T is None else np.linspace(0, np.pi / g.T, 3000)
    grid = max(np.linalg.norm(g.at(w), 2) for w in ω)
    assert grid * (1 - 1e-12) <= norm
    assert norm == pytest.approx(float(control.norm(g.to_control(), "inf", tol=1e-8)), rel=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_the_largest_norm_of_several_is_that_of_each_alone(seed):
    """Norms below one that is reached already need not be found: what is told of them is attained, and no more than that."""
    systems = [random_loop(2 * k + seed % 2) for k in range(seed, seed + 4)]
    alone = [hinf_norm(g) for g in systems]
    largest, at = -1.0, 0.0
    for g, (norm, _) in zip(systems, alone):
        known = stability(g.A, g.T)
        told, where = hinf_norm(g, inside=known, least=largest)
        assert told <= norm * (1 + 1e-9)
        assert told == pytest.approx(abs(g.at(where)[0, 0]), rel=1e-9)
        assert told == pytest.approx(norm, rel=1e-9) or norm <= largest * (1 + 1e-9)
        largest, at = max((largest, at), (told, where))
    wanted = max(alone)
    assert largest == pytest.approx(wanted[0], rel=1e-9)
    assert at == pytest.approx(wanted[1], rel=1e-4)


def test_norm_of_unstable_and_static_systems():
    assert hinf_norm(LinearSystem([[0.1]], [[1.0]], [[1.0]], [[0.0]]))[0] == np.inf
    assert hinf_norm(LinearSystem([[0.0]], [[1.0]], [[1.0]], [[0.0]]))[0] == np.inf
    static = LinearSystem(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0)), [[3.0, -4.0]])
    assert hinf_norm(static)[0] == pytest.approx(5.0, rel=1e-15)
    assert hinf_norm(LinearSystem([[-1.0]], [[0.0]], [[1.0]], [[0.0]]))[0] == 0.0
    assert hinf_norm(system(3 * s / ((s + 1) * (s + 4)))) == pytest.approx(
        (3 / 5, 2.0), rel=1e-6
    )  # 0 at both ends


@pytest.mark.parametrize("σ, low", [(-1.0, -np.inf), (0.0, -1.0), (0.5, -1 / 3), (1.0, 0.0)])
def test_a_disk_without_end_leaves_one_point_out(σ, low):
    """α = ∞: every factor but −(1 − σ)/(1 + σ), what large α tend to; σ = −1 leaves that point at infinity."""
    found = disk_range(np.inf, σ)
    assert found[0] == pytest.approx(low) and found[1] == np.inf
    assert found[2] == (np.pi if σ == 0 else np.inf)
    if σ > -1:
        near = disk_range(1e9, σ)
        assert near[0] == pytest.approx(low, abs=1e-8)


def test_disk_margin_closed_forms():
    """L = k/s: (S − T)/2 is all-pass of size 1/2, α = 2, any gain > 0, ±90°; constant L: α = 2/|S − T|."""
    d = disk_margin(system(3.7 / s))
    assert d.α == pytest.approx(2.0, rel=1e-9)
    assert d.gain_min == pytest.approx(0.0, abs=1e-9) and d.phase == pytest.approx(
        np.pi / 2, rel=1e-9
    )
    constant = LinearSystem([[-1.0]], [[0.0]], [[0.0]], [[0.25]])
    assert disk_margin(constant).α == pytest.approx(2 * 1.25 / 0.75, rel=1e-12)
    assert disk_range(0.8)[:2] == pytest.approx((0.6 / 1.4, 1.4 / 0.6))
    assert disk_range(0.8)[2] == pytest.approx(2 * np.arctan(0.4))
    assert disk_range(3.0)[2] == pytest.approx(2 * np.arctan(1.5))
    assert disk_range(0.5, 1.0)[:2] == pytest.approx((1 / 1.5, 2.0))  # σ = 1: 1/(1 + α), 1/(1 − α)


@pytest.mark.parametrize("σ", [0.0, 1.0, -1.0, 0.4])
def test_disk_margin_against_python_control(σ):
    """25/(s³ + 10 s² + 10 s + 10), the example of Seiler, Packard and Gahinet: α = 0.46 for σ = 0."""
    L = system(25 / (s**3 + 10 * s**2 + 10 * s + 10))
    d = disk_margin(L, σ)
    ω = np.linspace(0.9 * d.ω, 1.1 * d.ω, 2001)
    α, gain, phase = control.disk_margins(L.to_control(), ω, skew=σ)
    assert d.α == pytest.approx(float(α), rel=1e-6)
    assert d.phase == pytest.approx(np.deg2rad(phase), rel=1e-5)
    assert min(d.gain_max, 1 / d.gain_min) == pytest.approx(10 ** (gain / 20), rel=1e-5)
    if σ == 0:
        assert d.α == pytest.approx(0.46, abs=0.005)


@pytest.mark.parametrize("seed", range(10))
def test_disk_margin_is_sharp(seed):
    """Every factor strictly inside keeps the loop stable, and one on the boundary puts an eigenvalue on the edge."""
    L = random_loop(seed)
    d = disk_margin(L)
    if d.stability.holds is not True:
        assert d.α == 0.0
        return
    for angle in np.linspace(0.05, 6.2, 25):
        δ = 0.999 * min(d.α, 1.99) * np.exp(1j * angle)
        f = (1 + δ / 2) / (1 - δ / 2)
        λ = np.linalg.eigvals(L.A - L.B @ L.C * f / (1 + f * L.D[0, 0]))
        assert λ.real.max() < 0 if L.T is None else abs(λ).max() < 1
    l = L.at(d.ω)[0, 0]  # the factor f = −1/l reaches −1 there; its δ = 2(f − 1)/(f + 1)
    assert abs(2 * (1 + l) / (1 - l)) == pytest.approx(d.α, rel=1e-6)


def test_margins_of_both_loops_miss_what_a_simultaneous_change_does():
    """Spinning satellite: each loop alone has α = 2 (any gain), both at once under 0.2."""
    a = 10.0
    L = LinearSystem([[0, a], [-a, 0]], np.eye(2), [[1, a], [-a, 1]], np.zeros((2, 2)))
    alone, both = disk_margins(L), disk_margin(L)
    assert [d.α for d in alone] == pytest.approx([2.0, 2.0], rel=1e-6)
    assert 0 < both.α < 0.2


# ---- verdicts


def test_margin_verdicts():
    L = system(3.2 / (0.05 * s + 1) ** 3)
    verdicts = {
        v.key: v for v in margin_verdicts(L, "lag", gain_up=2.0, phase=0.3, delay=1e-3, disk=0.2)
    }
    assert all(v.holds is True and v.strength == "numerical" for v in verdicts.values())
    assert verdicts["margin-gain-up"].margin == pytest.approx(0.5, rel=1e-10)
    strict = {
        v.key: v
        for v in margin_verdicts(
            L, "lag", gain_up=2.6, gain_down=None, phase=1.2, delay=0.1, disk=1.0
        )
    }
    assert strict.pop("linear-stability").holds is True
    assert [v.holds for v in strict.values()] == [False] * 4
    assert {v.key: v.holds for v in margin_verdicts(L, "lag", gain_up=2.5)}[
        "margin-gain-up"
    ] is None  # at the edge


def test_margin_verdicts_of_unstable_and_neutral_loops():
    unstable = margin_verdicts(system(9.0 / (0.05 * s + 1) ** 3), "lag", delay=1e-3, disk=0.1)
    assert [v.holds for v in unstable] == [False] * 6 and all(
        v.margin is None for v in unstable[1:]
    )
    neutral = margin_verdicts(system(4 / s**2), "double integrator")
    assert [v.holds for v in neutral] == [None] * 4
