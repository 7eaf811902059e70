"""The boxes of a search for delay margins: what is enclosed is enclosed, closely; which delays the phases of a box allow."""

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.verification.linear.delay_margin import LateCommand, _first, _Response

T = 0.1


def loop(rng, n=3, more=2):
    """A random plant of n states in a stable loop with memory, one of its commands."""
    A = rng.normal(size=(n, n))
    M = rng.normal(size=(n + more, n + more))
    M *= 0.8 / np.abs(np.linalg.eigvals(M)).max()
    E = np.eye(n + more, n)
    return LateCommand(A, rng.normal(size=n), M, rng.normal(size=n + more), E, T)


def response(c, θ, τ):
    """(N, S) at z = e^{jθ} and τ', by the module's formulas with integrals by quadrature."""
    z = np.exp(1j * θ)
    s, weights = np.polynomial.legendre.leggauss(8)

    def integral(a, b):
        points = a + (b - a) * (s + 1) / 2
        return sum(w * expm(c.A * p) @ c.b for w, p in zip(weights, points)) * (b - a) / 2

    Γ = integral(0.0, c.T)
    v = integral(c.T - τ, c.T)
    q = c.K @ np.linalg.solve(z * np.eye(len(c.M)) - c.M, c.E)
    return q @ (Γ - (1 - 1 / z) * v), 1 + q @ Γ


@pytest.mark.parametrize(
    "δ, h", [(0.0, 0.02), (0.02, 0.0), (0.01, 0.01), (0.1, 0.05), (1e-3, 1e-3)]
)
def test_every_point_of_a_box_is_within_its_errors(δ, h):
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(8):
        c = loop(rng)
        made = _Response(c)
        θ, τ = rng.uniform(0.2, 3.0), rng.uniform(h, T - h)
        N, by_θ, by_τ, S, of_S = made.over((θ - δ, θ + δ), (τ - h, τ + h))
        if not np.isfinite(by_θ):
            continue
        assert (N, S) == pytest.approx(response(c, θ, τ))
        seen += 1
        for a in (-1.0, 0.3, 1.0):
            for b in (-1.0, 0.5, 1.0):
                there, own = response(c, θ + a * δ, τ + b * h)
                assert abs(there - N) <= (by_θ + by_τ) * (1 + 1e-9) + 1e-14
                assert abs(own - S) <= of_S * (1 + 1e-9) + 1e-14
    assert seen > 5


def test_errors_of_a_small_box_are_those_of_its_first_order():
    """By θ no more than the slope of N and S along the circle asks for, by τ' that of N; twice that on boxes of a thousandth."""
    rng = np.random.default_rng(2)
    for _ in range(8):
        c = loop(rng)
        made = _Response(c)
        θ, τ, ε = rng.uniform(0.3, 2.8), rng.uniform(0.02, 0.08), 1e-5
        N, by_θ, by_τ, S, of_S = made.over((θ - ε, θ + ε), (τ - ε, τ + ε))
        k = np.linalg.solve((np.exp(1j * θ) * np.eye(5) - c.M).T, c.K)
        q = k @ c.E
        e = expm(c.A * (c.T - τ)) @ c.b
        turn = abs(1 - np.exp(-1j * θ))
        assert by_τ == pytest.approx(ε * turn * abs(q @ e), rel=0.05, abs=1e-3 * ε)
        slope = abs(response(c, θ + ε, τ)[1] - response(c, θ - ε, τ)[1]) / 2
        assert of_S == pytest.approx(slope, rel=0.02, abs=1e-4 * ε)
        moved = abs(response(c, θ + ε, τ)[0] - response(c, θ - ε, τ)[0]) / 2
        assert moved <= by_θ * (1 + 1e-6)
        z = np.exp(1j * θ)
        g = made.Γ - (1 - 1 / z) * made.at_τ(τ)[0]
        R = np.linalg.solve(z * np.eye(5) - c.M, np.eye(5))
        first = [abs(k @ R @ c.E @ g), abs(q @ made.at_τ(τ)[0])]
        assert by_θ == pytest.approx(ε * sum(first), rel=0.02)


def test_the_bend_along_the_delay_is_the_half_square():
    """A mass: e^{As} b = (s, 1) turns away by h²/2 where q is across it; the bound is that and nearly no more."""
    A, b = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 1.0])
    h, τ = 0.03, 0.05
    s = T - τ
    c = LateCommand(A, b, 0.5 * np.eye(2), np.array([1.0, -s]), np.eye(2), T)
    made = _Response(c)
    N, by_θ, by_τ, _, _ = made.over((np.pi, np.pi), (τ - h, τ + h))
    off = max(abs(response(c, np.pi, τ + way * h)[0] - N) for way in (-1, 1))
    assert off == pytest.approx(2 / 1.5 * h * h / 2)
    assert by_θ == pytest.approx(0.0, abs=1e-12) and off <= by_τ <= 1.6 * off
    growing = LateCommand(A + 4 * np.eye(2), b, c.M, c.K, c.E, T)
    made = _Response(growing)
    N, _, by_τ, _, _ = made.over((np.pi, np.pi), (τ - h, τ + h))
    assert max(abs(response(growing, np.pi, τ + w * h)[0] - N) for w in (-1, 1)) <= by_τ


def test_nothing_is_known_where_the_circle_comes_too_near_a_pole():
    c = LateCommand(np.array([[-1.0]]), np.ones(1), np.array([[0.9]]), np.ones(1), np.eye(1), T)
    made = _Response(c)
    size = 1 / 0.1
    for δ, known in ((0.49 / size, True), (0.51 / size, False)):
        found = made.over((-δ, δ), (0.0, 0.01))
        assert bool(np.isfinite(found[1])) is known


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.23])
def test_the_least_delay_that_the_phases_allow(delay):
    """d θ = arg N − arg S for a θ of the box, from the own delay on; where nothing is known of phases, at once."""
    rng = np.random.default_rng(3)
    c = LateCommand(np.zeros((1, 1)), np.ones(1), np.zeros((1, 1)), np.ones(1), np.eye(1), T, delay)
    for _ in range(60):
        θ = np.sort(rng.uniform(0, np.pi, 2))
        θ = θ[0], min(θ[1], θ[0] + 0.02)
        τ = 0.03, 0.06
        N, S = np.exp(1j * rng.uniform(-3, 3)), 2 * np.exp(1j * rng.uniform(-3, 3))
        own, of_S = 0.05, 0.08
        spread = np.arcsin(0.05) + np.arcsin(0.04)
        begin = max(0, int(np.ceil((delay - τ[1]) / T - 1e-9)))
        wanted = np.inf
        for d in range(begin, 3000):
            low, high = d * θ[0] - spread, d * θ[1] + spread
            phase = np.angle(N / S)
            turns = np.arange(
                np.floor((low - phase) / 2 / np.pi), np.ceil((high - phase) / 2 / np.pi) + 1
            )
            if np.any((phase + 2 * np.pi * turns >= low) & (phase + 2 * np.pi * turns <= high)):
                wanted = max(d * T + τ[0], delay)
                break
        if np.isfinite(wanted):
            assert _first(c, θ, τ, N, own, S, of_S) == pytest.approx(wanted)
    at_once = max(max(0, int(np.ceil((delay - 0.06) / T - 1e-9))) * T + 0.03, delay)
    assert _first(c, (0.1, 0.2), (0.03, 0.06), 1.0, 1.0, 1.0, 0.1) == pytest.approx(at_once)
    assert _first(c, (0.1, 0.2), (0.03, 0.06), 1.0, 0.1, 1.0, 1.0) == pytest.approx(at_once)
    assert _first(c, (0.0, 0.0), (0.03, 0.06), 1.0, 0.1, -1.0, 0.1) == np.inf
