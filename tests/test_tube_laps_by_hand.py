"""Laps of a tube from numbers written down: how they are measured, at which rate runs come closer, how large a ball they need."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from test_tube_verdict_by_hand import tube

from workbench.verification.tube import end, laps
from workbench.verification.tube.lap import led
from workbench.verification.tube.rate import rate


def test_a_lap_is_measured_in_the_size_of_the_ball_where_it_begins():
    seen = SimpleNamespace(returns=0.4)
    assert end.closing(tube(), seen) == 0.8
    assert end.closing(tube(after=(1, 2, 0)), seen) == 0.8
    assert end.closing(tube(after=(1, 2, -1)), seen) is None


def test_the_rate_of_a_lap_of_two_samples():
    assert end.pace(tube(), 0.8) == pytest.approx(-math.log(0.8) / 0.04)
    assert end.pace(tube(after=(1, 2, 2)), 0.8) == pytest.approx(-math.log(0.8) / 0.02)
    assert end.pace(tube(), 0.0) == pytest.approx(300 * math.log(10) / 0.04)


@pytest.mark.parametrize("first, slowest", [(0, 3.15), (1, 0.63), (2, 0.7)])
def test_the_rate_of_a_loop_is_that_of_the_slowest_mode_of_its_lap(first, slowest):
    """Two modes that are mixed, of three samples: 3, 0.5, 0.2 and 5, 0.9, 0.7; those before the lap do not count."""
    X = np.random.default_rng(5).normal(size=(2, 2))
    modes = ((3.0, 5.0), (0.5, 0.9), (0.2, 0.7))
    M = np.array([X @ np.diag(each) @ np.linalg.inv(X) for each in modes])
    found = rate(M, np.array([1, 2, first]), 0.02)
    assert found == pytest.approx(-math.log(slowest) / ((3 - first) * 0.02))


def test_without_a_lap_the_rate_is_that_of_the_last_thousand_samples():
    M = np.full((1500, 1, 1), 0.9)
    M[:500] = 3.0
    assert rate(M, np.array([1, -1]), 0.5) == pytest.approx(-math.log(0.9) / 0.5)
    assert rate(M[:, :, :] * np.inf, np.array([-1]), 0.5) == -np.inf
    for entry in (np.inf, np.nan):
        one = np.array([[[1.0, entry], [0.0, 1.0]]])
        with np.errstate(all="ignore"):
            assert rate(one, np.array([0]), 0.5) == -np.inf  # one entry is enough
    assert rate(np.zeros((2, 1, 1)), np.array([0]), 0.5) == pytest.approx(math.log(1e300))


def test_where_states_settle_that_follow_what_is_constant():
    """q⁺ = a_k q + b_k c: q = b c/(1 − a) after the lap; columns of two constants in another order than their rows."""
    a, b, d = (0.5, 0.8), (2.0, -1.0), (0.3, 0.7)
    M = np.array([[[1, 0, 0], [b[k], a[k], d[k]], [0, 0, 1]] for k in (0, 1)])
    G = led(M, np.array([2, 0]), np.array([True, False, True]))
    assert G[[0, 2]].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    share = 1 - a[0] * a[1]
    assert G[1] == pytest.approx([(a[1] * d[0] + d[1]) / share, (a[1] * b[0] + b[1]) / share])


@pytest.mark.parametrize(
    "σ, enters, returns, contracts, size",
    [
        (2.0, 1.9, 1.8, 0.7, 2.0),  # it holds
        (2.0, 2.1, 1.8, 0.7, 1.1 * 2.1),  # what enters is larger
        (2.0, 1.0, 3.4, 0.7, 1.5 * (3.4 - 1.4) / 0.3),  # a lap adds more
        (2.0, 1.0, 2.05, 0.99, 1.5 * (2.05 - 1.98) / 0.01),
        (2.0, 1.0, 2.05, 0.5, 1.5 * (2.05 - 1.0) / 0.5),
        (2.0, 1.0, 3.0, 1.0, math.inf),
        (2.0, 1.0, 1.0, 1.2, math.inf),
        (0.0, 0.0, 0.0, 0.5, 1e-12),
        (3.0, 1.0, 3.0 + 1e-9, 0.001, 1.5 * (3.0 + 1e-9 - 0.003) / 0.999),
    ],
)
def test_how_large_a_ball_of_laps_has_to_be(σ, enters, returns, contracts, size):
    seen = SimpleNamespace(enters=enters, returns=returns, contracts=contracts)
    assert laps.ball(seen, σ) == pytest.approx(size, rel=1e-6, abs=0.0)
