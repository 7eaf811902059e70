"""Slopes over boxes: chords of random points lie inside, choices are decided rightly, corners are narrower than boxes of s."""

import casadi as ca
import numpy as np
import pytest

from workbench.numerics.intervals.slopes import Slopes


def valve():
    """Flow of a valve whose two halves differ, with smooth text around; by x, with a parameter."""
    x, c = ca.SX.sym("x", 2), ca.SX.sym("c")
    u = x[0] + 0.3 * ca.sin(x[1])
    o = ca.fmax(u, 0) / (2 + x[1]) + ca.fmin(u, 0) / (4 + c * x[1])
    return ca.Function(
        "valve", [c, x], [ca.vertcat(o * o + u, ca.fmax(o, x[1]), c * x[1] ** 2)], ["c", "x"], ["y"]
    )


def boxes(n=300):
    rng = np.random.default_rng(6)
    middle, radius = rng.uniform(-0.5, 0.5, (2, n)), 10 ** rng.uniform(-4, -1, n)
    return middle - radius, middle + radius, rng


def test_chords_lie_inside():
    f, slopes = valve(), Slopes(valve())
    low, high, rng = boxes()
    J = slopes.first([0.7, *low], [0.7, *high])
    sides = slopes.sides([0.7, *low], [0.7, *high])
    assert J.sure.all() and 20 < (sides[0] < sides[1]).any(axis=0).sum() < 250
    rows, columns = slopes.at
    F = f.map(300)
    for _ in range(40):
        a, b = (low + (high - low) * rng.uniform(0, 1, low.shape) for _ in range(2))
        chord = np.array(F(np.full(300, 0.7), b) - F(np.full(300, 0.7), a))
        e = (b - a)[columns]
        least, most = np.zeros((3, 300)), np.zeros((3, 300))
        np.add.at(least, rows, np.minimum(J.low * e, J.high * e))
        np.add.at(most, rows, np.maximum(J.low * e, J.high * e))
        assert (least - 1e-15 <= chord).all() and (chord <= most + 1e-15).all()


def test_second_slopes_bound_what_the_first_ones_miss():
    """Where no kink is inside: F(m + e) − F(m) − J_0 e lies in ½ Σ e_i H_i e."""
    f, slopes = valve(), Slopes(valve())
    low, high, rng = boxes()
    sides = slopes.sides([0.7, *low], [0.7, *high])
    middle = 0.5 * (low + high)
    J = slopes.first([0.7, *middle], [0.7, *middle], sides).mid
    H = slopes.second([0.7, *low], [0.7, *high], sides)
    plain = ~(sides[0] < sides[1]).any(axis=0)
    i, j, l = slopes.second_at
    F, given = f.map(300), np.full(300, 0.7)
    for _ in range(20):
        e = (high - low) * rng.uniform(-0.5, 0.5, low.shape)
        rest = np.array(F(given, middle + e) - F(given, middle))
        np.subtract.at(rest, slopes.at[0], J * e[slopes.at[1]])
        ends = np.array([H.low, H.high]) * (0.5 * e[j] * e[l])
        least, most = np.zeros((3, 300)), np.zeros((3, 300))
        np.add.at(least, i, ends.min(axis=0))
        np.add.at(most, i, ends.max(axis=0))
        assert (least - 1e-15 <= rest)[:, plain].all() and (rest <= most + 1e-15)[:, plain].all()


def test_corners_are_those_of_the_two_halves():
    """max(x, 0)/2 + min(x, 0)/4 has the slopes 1/4 to 1/2; a box for the choice would say 0 to 3/4."""
    x = ca.SX.sym("x")
    slopes = Slopes(ca.Function("g", [x], [ca.fmax(x, 0) / 2 + ca.fmin(x, 0) / 4], ["x"], ["y"]))
    J = slopes.first([np.array([-1.0, 0.1, -2.0])], [np.array([1.0, 2.0, -1.0])])
    assert J.low[0] == pytest.approx([0.25, 0.5, 0.25]) and J.high[0] == pytest.approx(
        [0.5, 0.5, 0.25]
    )


def test_a_mean_value_form_decides_what_the_walk_cannot():
    """x − x² + x·y over a small box about 1/2 has its sign; taken term by term on the wide difference it is not seen."""
    x = ca.SX.sym("x", 2)
    about = (x[0] + 3) ** 2 - 6 * x[0] - 9.26
    slopes = Slopes(ca.Function("g", [x], [ca.fabs(about)], ["x"], ["y"]))
    low, high = [0.52, 0.0], [0.56, 0.0]
    assert [s[0, 0] for s in slopes.sides(low, high)] in ([0.0, 0.0], [1.0, 1.0])
    assert slopes._sides.over(low, high).low[0, 0] != slopes._sides.over(low, high).high[0, 0]


def test_a_chord_outside_is_seen(monkeypatch):
    """With every kink taken as decided the test of chords fails."""

    def wrong(self, low, high):
        found = self._sides.over(low, high)
        return found.low, found.low

    monkeypatch.setattr(Slopes, "sides", wrong)
    with pytest.raises(AssertionError):
        test_chords_lie_inside()
