"""Linear systems: sampling and stability against closed forms, python-control and brute force."""

import control
import numpy as np
import pytest

from tests.linear_systems import random_loop
from workbench.contract.errors import InputError
from workbench.verification.linear.margins import (
    loop_margins,
)
from workbench.verification.linear.sampled_data import sampled, whole_and_rest
from workbench.verification.linear.stability import (
    lyapunov_stable,
    positive_definite,
    spectral,
    stability,
    stable_verdict,
)
from workbench.verification.linear.systems import LinearSystem, feedback, series
from workbench.verification.verdict import exit_code

# ---- sampling


def test_sampled_closed_forms():
    a, b, T, τ = 1.7, 2.3, 0.31, 0.31 + 0.12
    first = sampled([[-a]], [[b]], [[1.0]], [[0.0]], T)
    assert first.A[0, 0] == pytest.approx(np.exp(-a * T), rel=1e-14)
    assert first.B[0, 0] == pytest.approx(b / a * (1 - np.exp(-a * T)), rel=1e-14)
    late = sampled([[-a]], [[b]], [[1.0]], [[0.0]], T, τ)  # one whole sample and 0.12 s
    Γ0 = b / a * (1 - np.exp(-a * (T - 0.12)))
    Γ1 = b / a * (np.exp(-a * (T - 0.12)) - np.exp(-a * T))
    np.testing.assert_allclose(late.A, [[np.exp(-a * T), Γ0, Γ1], [0, 0, 0], [0, 1, 0]], rtol=1e-13)
    np.testing.assert_array_equal(late.B, [[0], [1], [0]])
    double = sampled([[0, 1], [0, 0]], [[0], [b]], np.eye(2), np.zeros((2, 1)), T)
    np.testing.assert_allclose(double.B, [[b * T**2 / 2], [b * T]], rtol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_sampled_agrees_with_python_control(seed):
    rng = np.random.default_rng(seed)
    A, B, C, D = (
        rng.normal(size=(4, 4)),
        rng.normal(size=(4, 2)),
        rng.normal(size=(3, 4)),
        rng.normal(size=(3, 2)),
    )
    ours, theirs = sampled(A, B, C, D, 0.17), control.c2d(control.ss(A, B, C, D), 0.17)
    for name in "ABCD":
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-11, atol=1e-12
        )


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1, 0.137, 0.2, [0.05, 0.23]])
def test_sampled_with_delay_agrees_with_brute_force(delay):
    """Integrate the continuous plant with the delayed staircase from step to step of that staircase (Runge-Kutta)."""
    rng = np.random.default_rng(7)
    A, B = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    C, D, T, n = rng.normal(size=(2, 3)), rng.normal(size=(2, 2)), 0.1, 9
    u = rng.normal(size=(n, 2))
    τ = np.broadcast_to(delay, 2)

    def held(t, j):  # input j at the plant, just after t
        k = int(np.floor((t - τ[j]) / T + 1e-9))
        return u[k, j] if k >= 0 else 0.0

    x, z, t = np.zeros(3), None, 0.0
    P = sampled(A, B, C, D, T, delay)
    z = np.zeros(len(P.A))
    for k in range(n):
        np.testing.assert_allclose(
            P.C @ z + P.D @ u[k], C @ x + D @ [held(t, 0), held(t, 1)], atol=1e-9
        )
        z = P.A @ z + P.B @ u[k]
        edges = sorted({0.0, T, *(float(d % T) for d in τ if 1e-9 < d % T < T - 1e-9)})
        for lo, hi in zip(edges, edges[1:]):
            v = B @ [held(t + lo, 0), held(t + lo, 1)]
            h = (hi - lo) / 40
            for _ in range(40):
                k1 = A @ x + v
                k2 = A @ (x + h / 2 * k1) + v
                k3 = A @ (x + h / 2 * k2) + v
                x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + A @ (x + h * k3) + v)
        t = (k + 1) * T


@pytest.mark.parametrize("T", [1e-3, 0.07, 3.0])
@pytest.mark.parametrize("d", [0, 1, 3, 17])
def test_a_delay_is_whole_samples_and_a_rest(T, d):
    for share in (0.0, 1e-12, -1e-12):
        if d + share >= 0:
            assert whole_and_rest((d + share) * T, T) == (d, 0.0)
    for share in (1e-6, 0.3, 1 - 1e-6):
        whole, rest = whole_and_rest((d + share) * T, T)
        assert whole == d and rest == pytest.approx(share * T, rel=1e-6)


def test_bad_input_is_refused_in_words():
    with pytest.raises(InputError, match="B is 1×2"):
        LinearSystem(np.eye(2), [1, 0], [[1, 0]], [[0]])
    with pytest.raises(InputError, match="not finite"):
        LinearSystem([[np.nan]], [[1]], [[1]], [[0]])
    with pytest.raises(InputError, match="sample time"):
        LinearSystem([[0.5]], [[1]], [[1]], [[0]], 0.0)
    with pytest.raises(InputError, match="delay"):
        sampled([[0.5]], [[1]], [[1]], [[0]], 0.1, -0.01)
    with pytest.raises(InputError, match="different sample times"):
        series(
            sampled([[0.5]], [[1]], [[1]], [[0]], 0.1), LinearSystem([[0.5]], [[1]], [[1]], [[0]])
        )
    with pytest.raises(InputError, match="singular"):
        loop_margins(LinearSystem([[-1.0]], [[1]], [[1]], [[-1.0]]))


def test_python_control_round_trip():
    for L in (random_loop(3), random_loop(6)):
        back = LinearSystem.from_control(L.to_control())
        assert back.T == L.T
        for name in "ABCD":
            np.testing.assert_array_equal(getattr(back, name), getattr(L, name))


# ---- stability


def test_spectrum_of_a_second_order_system():
    ζ, ω = 0.23, 41.0
    A = np.array([[0, 1], [-(ω**2), -2 * ζ * ω]])
    sp = spectral(A)
    assert sp.margin == pytest.approx(ζ * ω, rel=1e-12)
    np.testing.assert_allclose(sp.damping, ζ, rtol=1e-12)
    np.testing.assert_allclose(sp.frequency, ω, rtol=1e-12)
    T = 0.004
    sd = spectral(sampled(A, [[0], [1]], [[1, 0]], [[0]], T).A, T)
    assert sd.margin == pytest.approx(1 - np.exp(-ζ * ω * T), rel=1e-9)
    np.testing.assert_allclose(sd.damping, ζ, rtol=1e-9)
    np.testing.assert_allclose(sd.frequency, ω, rtol=1e-9)


@pytest.mark.parametrize(
    "k, expected",
    [(0.7, True), (1.99, True), (2.0, None), (2.01, False), (0.0, None), (-0.1, False)],
)
def test_sampled_integrator_under_proportional_feedback(k, expected):
    """x⁺ = (1 − k) x: ρ = |1 − k| exactly."""
    T = 0.02
    P = sampled([[0.0]], [[3.0]], [[k / 3.0 / T]], [[0.0]], T)
    v = stable_verdict(feedback(P), "integrator")
    assert v.holds is expected
    assert v.margin == pytest.approx(1 - abs(1 - k), abs=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_stability_of_known_spectra_in_random_coordinates(seed):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(5, 5)) * 10.0 ** rng.uniform(-4, 4, size=(5, 1))
    λ = -rng.uniform(0.2, 900.0, size=5)
    for last, expected in ((λ[4], True), (0.7, False)):
        A = V @ np.diag([*λ[:4], last]) @ np.linalg.inv(V)
        assert stability(A).holds is expected
        assert lyapunov_stable(A) is expected
        assert stability(np.eye(5) + A / 1000, 0.001).holds is expected


def test_neutral_modes_are_named_and_undecided():
    A = [[0, 1, 0], [0, -3.1, 7.0], [0, -50.0, -2.3]]  # position integrates velocity
    v = stable_verdict(
        LinearSystem(A, np.zeros((3, 1)), np.zeros((1, 3)), [[0]]), "servo", ("x", "v", "p_L")
    )
    assert v.holds is None and v.strength is None and "neutral" in v.worst and "(x)" in v.worst
    assert exit_code([v]) == 2
    assert stability([[0, 1], [0, 0]]).holds is None  # defective
    assert stability([[0, 5.0], [-5.0, 0]]).holds is None  # undamped
    assert stability([[-1, 1e3], [0, -1e-15]]).holds is None  # inside, but less than rounding
    assert stability([[1.0, 0.2], [0, 0.3]], 0.1).holds is None
    assert stability(np.zeros((0, 0))).holds is True


@pytest.mark.parametrize("seed", range(6))
def test_an_integrator_in_random_coordinates_is_undecided(seed):
    """Its computed eigenvalue is ±1e-15 or so: neither sign of it may be believed."""
    V = np.random.default_rng(seed).normal(size=(4, 4))
    A = V @ np.diag([0.0, -1.3, -20.0, -7.0]) @ np.linalg.inv(V)
    assert stability(A).holds is None
    assert stability(np.eye(4) + A / 100, 0.01).holds is None


def test_defective_but_clearly_stable_is_decided():
    assert stability([[-1, 1, 0], [0, -1, 1], [0, 0, -1]]).holds is True
    chain = np.diag(np.ones(30), -1)
    assert stability(chain, 0.01).holds is True  # delays, nilpotent
    assert (
        stability(50 * chain, 0.01).holds is None
    )  # nilpotent too, but an entry of 1e-16 in the corner moves ρ to 13


def test_barely_indefinite_is_not_positive_definite():
    rng = np.random.default_rng(4)
    Q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    good = np.array([3.0, 1.2, 0.4, 7.0, 1e-6, 2.0])
    for least, expected in ((1e-6, True), (1e-17, False), (-1e-12, False)):
        assert positive_definite(Q @ np.diag([*good[:4], least, 2.0]) @ Q.T) is expected
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert positive_definite(M, 0.3) and not positive_definite(M, 0.6)
    assert positive_definite(np.diag([1e-200, 1e150])) and not positive_definite(
        np.full((2, 2), np.nan)
    )


@pytest.mark.parametrize("T", [None, 0.1])
def test_many_frequencies_at_once_are_those_one_by_one(T):
    rng = np.random.default_rng(4)
    system = LinearSystem(
        rng.normal(size=(4, 4)),
        rng.normal(size=(4, 2)),
        rng.normal(size=(3, 4)),
        rng.normal(size=(3, 2)),
        T,
    )
    ω = [0.0, 0.3, 7.0, system.top]
    found = system.response(ω)
    for value, w in zip(found, ω):
        np.testing.assert_allclose(value, system.at(w), rtol=1e-12)
    # At a pole every entry is ∞, and the other frequencies keep their values.
    integrator = LinearSystem([[0.0 if T is None else 1.0]], [[1.0]], [[1.0]], [[0.0]], T)
    at_pole, beside = integrator.response([0.0, 2.0])
    assert np.isinf(at_pole).all()
    np.testing.assert_allclose(beside, integrator.at(2.0))
    gain = LinearSystem(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[3.0]], T)
    assert (gain.response([0.0, 1.0]) == 3.0).all()
