"""Kalman filter and disturbances: closed forms, statistics, what cannot be seen."""

import numpy as np
import pytest

from controllers import Observer
from controllers.mpc.observer import (
    augmented,
    check_covariance,
    check_observable,
    covariances,
    design,
    kalman,
)
from workbench.contract.errors import InputError

LAGS = np.array([[0.8, 0.0], [0.15, 1.0]])  # a lag into an integrator
B, C = np.array([[0.3], [0.02]]), np.array([[0.0, 1.0]])


def test_scalar_closed_form():
    a, w, v = 0.9, 0.3, 0.7
    found = kalman([[a]], [[1.0]], [[w]], [[v]])
    # p = a²p v/(p + v) + w
    h = v - a * a * v - w
    p = (-h + np.sqrt(h * h + 4 * w * v)) / 2
    assert np.isclose(found.P[0, 0], p, rtol=1e-13) and np.isclose(
        found.L[0, 0], p / (p + v), rtol=1e-13
    )


def test_covariances_are_the_squares_of_what_is_told():
    given = Observer(σ_y=(0.02, 0.05), σ_d=(0.01,), σ_w=(0.3,), σ_x=(0.4, 0.7))
    W, V = covariances(2, B, 2, given)
    noise = [[0.16 + 0.09 * 0.09, 0.09 * 0.006], [0.09 * 0.006, 0.49 + 0.09 * 0.0004]]
    assert W == pytest.approx(np.block([[np.array(noise), np.zeros((2, 1))], [0.0, 0.0, 1e-4]]))
    assert V == pytest.approx(np.diag([4e-4, 2.5e-3]))


def test_covariance_is_that_of_many_runs():
    """The predicted error's covariance, simulated with the noise the filter was told."""
    given = Observer(σ_y=(0.02,), σ_d=(0.01,), σ_w=(0.03,), σ_x=(0.004, 0.007))
    found = design(LAGS, B, C, np.zeros((1, 1)), given)
    A, seen = augmented(LAGS, B, C, np.zeros((1, 1)))
    W, V = covariances(2, B, 1, given)
    rng = np.random.default_rng(0)
    runs = 40_000
    e = rng.multivariate_normal(np.zeros(3), found.P, size=runs)
    for _ in range(12):
        e = e - (e @ seen.T + rng.normal(size=(runs, 1)) * np.sqrt(V[0, 0])) @ found.L.T
        e = e @ A.T + rng.multivariate_normal(np.zeros(3), W, size=runs)
    assert np.allclose(
        np.cov(e.T),
        found.P,
        rtol=0.05,
        atol=0.05 * np.sqrt(np.outer(np.diag(found.P), np.diag(found.P))).max(),
    )
    assert found.radius < 1


def test_constant_disturbance_is_found_exactly():
    found = design(LAGS, B, C, np.zeros((1, 1)), Observer(σ_y=(0.02,), σ_d=(0.01,)))
    A, seen = augmented(LAGS, B, C, np.zeros((1, 1)))
    x, guess = np.array([0.3, -0.2, 0.6]), np.zeros(3)
    for _ in range(2000):
        guess = guess + found.L @ (seen @ x - seen @ guess)
        x, guess = A @ x, A @ guess
    assert abs(guess[2] - 0.6) < 1e-10


def test_what_cannot_be_seen_is_refused():
    free = np.zeros((2, 1))
    check_observable(LAGS, B, C, np.zeros((1, 1)))
    with pytest.raises(
        InputError, match="cannot be told apart"
    ):  # an output disturbance behind an integrator
        check_observable(LAGS, free, C, np.eye(1), ("Y",))
    with pytest.raises(
        InputError, match="X, Y cannot be told apart"
    ):  # two disturbances, one output
        check_observable(LAGS, np.hstack([B, free]), C, np.array([[0.0, 1.0]]), ("X", "Y"))
    stable = np.array([[0.8, 0.0], [0.15, 0.6]])
    check_observable(stable, free, C, np.eye(1))


@pytest.mark.parametrize(
    "W, V, words",
    [
        (np.diag([1.0, 1.0]), [[0.0]], "V: no covariance"),
        (np.diag([1.0, 1.0]), [[-1.0]], "V: no covariance"),
        (np.diag([1.0, -1e-3]), [[1.0]], "W: no covariance"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), [[1.0]], "W: no covariance"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), [[1.0]], "W: no covariance"),
        (np.zeros((2, 2)), [[1.0]], "no stationary Kalman filter"),  # nothing drives the integrator
    ],
)
def test_covariances_that_are_none(W, V, words):
    with pytest.raises(InputError, match=words):
        kalman(LAGS, C, W, V)


def test_settings_are_checked():
    for wrong in (
        {"σ_y": (0.0,)},
        {"σ_y": (-1.0,)},
        {"σ_d": (0.0,)},
        {"σ_w": (-1e-3,)},
        {"σ_x": (float("nan"),)},
    ):
        with pytest.raises(ValueError):
            Observer(**({"σ_y": (1.0,), "σ_d": (1.0,)} | wrong))
    with pytest.raises(InputError, match="observer.σ_x: expected 1 or 2 numbers, got 3"):
        design(LAGS, B, C, np.zeros((1, 1)), Observer(σ_y=(1.0,), σ_d=(1.0,), σ_x=(1.0, 1.0, 1.0)))


# ---- covariances are judged as if every variance were one --------------------------------------------------------------
SPLIT = np.array([1e-10, 3.0])  # standard deviations of what differs in size


@pytest.mark.parametrize("correlation", [0.0, 0.7, -0.9])
def test_a_small_variance_beside_a_large_one_is_a_covariance(correlation):
    R = np.array([[1.0, correlation], [correlation, 1.0]])
    check_covariance("V", SPLIT[:, None] * R * SPLIT, strict=True)


def test_a_correlation_above_one_is_told_by_its_smallest_eigenvalue():
    R = np.array([[1.0, 1.5], [1.5, 1.0]])
    with pytest.raises(InputError, match=r"V: no covariance: smallest eigenvalue -0\.5 "):
        check_covariance("V", SPLIT[:, None] * R * SPLIT)


def test_only_a_measurement_must_have_noise_of_every_kind():
    """A singular W is a covariance, a singular V is none; neither need M and Mᵀ differ for it."""
    R = np.outer(SPLIT, SPLIT)
    check_covariance("W", R)
    check_covariance("W", np.zeros((2, 2)))
    check_covariance("W", np.zeros((0, 0)))
    with pytest.raises(InputError, match="expected more than 0"):
        check_covariance("V", R, strict=True)
    with pytest.raises(InputError, match="expected 0 or more"):
        check_covariance("W", np.diag([1.0, -1e-6]))
    with pytest.raises(InputError, match="no covariance"):
        check_covariance("W", np.array([[1.0, 0.2], [0.1, 1.0]]))
