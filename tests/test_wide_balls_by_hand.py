"""The exponential of a wide ball and the factors of a disk margin, by hand."""

import numpy as np
import pytest

from workbench.verification.linear.margin_verdicts import _around
from workbench.verification.rigorous.balls import Ball, exponential


@pytest.mark.parametrize("half", [0.2, 1.0, 3.0])
def test_the_exponential_of_a_wide_ball_holds_its_ends(half):
    """The radius counts in the norm: e^±half is inside though the middle is zero."""
    E = exponential(Ball(np.zeros((1, 1)), np.full((1, 1), half)))
    low, high = float((E.mid - E.rad)[0, 0]), float((E.mid + E.rad)[0, 0])
    assert low <= np.exp(-half)
    assert np.exp(half) <= high < np.exp(4 * half) + 1


@pytest.mark.parametrize("terms", [1, 2, 3])
@pytest.mark.parametrize("x", [-0.25, 0.24, 0.7])
def test_what_a_short_series_leaves_out_is_in_the_radius(terms, x):
    E = exponential(Ball.of(np.array([[x]])), terms)
    assert abs(float(E.mid[0, 0]) - np.exp(x)) <= float(E.rad[0, 0]) < 0.5


def test_the_factors_of_a_disk_lie_just_inside_its_edge_all_around():
    factors = np.array(_around(0.8))
    δ = 2 * (factors - 1) / (factors + 1)
    assert np.abs(δ) == pytest.approx(0.8 * 0.999999)
    turns = np.sort(np.angle(δ))
    assert np.diff(turns).max() < 0.3 and turns[0] < -2.8 and turns[-1] > 2.8
    assert np.abs(factors - 1).min() > 0.5


def test_no_disk_asked_changes_nothing():
    assert np.array(_around(None)) == pytest.approx(1)
