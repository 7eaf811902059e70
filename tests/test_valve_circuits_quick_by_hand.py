"""Pieces of the shorter way of a valve section: roots, pressures of both sides with their slopes, and where it hands over."""

import numpy as np
import pytest

from plants.valve_circuits.quick import (
    DONE,
    SLOW,
    _advance,
    _drained,
    _held,
    _regenerate,
    _settle,
    _shut_in,
    _supplied,
    _through,
    quick,
)


@pytest.mark.parametrize(
    "b, c, a, x",
    [
        (3.0, -10.0, 1.0, 2.0),
        (1.0, -6.0, 0.5, 1.5),
        (3.0, 0.0, 1.0, 0.0),
        (3.0, 5.0, 1.0, 0.0),
        (3.0, -10.0, 0.0, 0.0),
        (1.0, 2.0, 3.0, 0.0),
    ],
)
def test_the_positive_root_of_a_square_and_a_line(b, c, a, x):
    """x²/a + b x + c = 0; none where nothing pushes, or the opening is shut."""
    found = _settle(b, c, a)
    assert found == pytest.approx(x)
    assert x == 0.0 or x * x / a + b * x + c == pytest.approx(0.0)


@pytest.mark.parametrize(
    "x, P_i, slope",
    [
        (1.0, 4.75, 0.5),
        (4.0, 1.0, 2.0),
        (-0.1, 3.9, 0.0),
        (np.sqrt(20.0), 0.0, 0.0),
        (5.0, 0.0, 0.0),
        (1.5, 4.4375, 0.75),
    ],
)
def test_the_fed_side_at_a_flow(x, P_i, slope):
    """P − (x/k)², between none and its relief; at the relief where oil is pushed back."""
    assert _held(x, 5.0, 4.8 if x > 0 else 3.9, 2.0) == pytest.approx((P_i, slope))
    assert _held(0.5, 5.0, 3.9, 2.0) == (3.9, 0.0) and _held(1.0, 5.0, 4.75, 2.0) == (4.75, 0.0)
    assert _held(0.5, 5.0, 3.9, 0.0) == (0.0, 0.0) and _held(0.0, 5.0, 6.0, 2.0) == (5.0, 0.0)


@pytest.mark.parametrize(
    "y, k, P_o, slope",
    [
        (3.0, 1.5, 4.0, 8 / 3),
        (0.0, 1.5, 0.0, 0.0),
        (-1.0, 1.5, 0.0, 0.0),
        (0.5, 0.0, 7.0, 0.0),
        (9.0, 1.5, 7.0, 0.0),
    ],
)
def test_the_drained_side_at_a_flow(y, k, P_o, slope):
    """(y/k)² up to its relief; shut, at its relief."""
    assert _drained(y, 7.0, k) == pytest.approx((P_o, slope))
    assert _drained(3.0, 4.0, 1.5) == (4.0, 0.0)


def test_flow_into_a_chamber_at_its_limit():
    assert _through(2.0, 9.0, 5.0) == (4.0, 0.5) and _through(2.0, 5.0, 5.0) == (0.0, 0.0)
    assert _through(0.0, 9.0, 5.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    "v, Q_p, slope",
    [(2.0, 1.0, 0.25 / (3.0 + 0.125)), (9.0, 2 * np.sqrt(5.0), 1 / np.sqrt(5.0)), (0.5, 2.0, 1.0)],
)
def test_what_the_pump_gives_a_side(v, Q_p, slope):
    """A v while its pressure is between its limits, of slope A²/(β' + A² 2 x/k²); at a limit what passes against that."""
    assert _supplied(0.5, 4.0 if v < 1 else 4.9, 2.0, v, 5.0, 3.0) == pytest.approx((Q_p, slope))
    assert _supplied(0.5, 4.9, 0.0, v, 5.0, 3.0) == (0.0, 0.0)


# A_i, A_o, F_i, F_o, a_i, a_o and P of a section by its sides.
SIDES = (0.5, 0.3, 4.0, 2.1, 32.0, 83.0)


@pytest.mark.parametrize("f", [-9.0, -3.0, -0.5, 1.0, 2.4, 3.6])
@pytest.mark.parametrize("P", [3.0, 7.5, 12.0])
@pytest.mark.parametrize(
    "open_i, open_o", [(True, True), (True, False), (False, True), (False, False)]
)
def test_a_section_advances_where_its_force_is_met(f, P, open_i, open_o):
    """β v + f = A_i P_i − A_o P_o by orifices, or no v > 0 at all."""
    A_i, A_o, F_i, F_o, a_i, a_o = SIDES
    a_i, a_o = a_i * open_i, a_o * open_o
    v = _advance(*SIDES[:4], a_i, a_o, 2.0, f, A_i * P)

    def force(v):
        pushed = min(max(A_i * P - v * v / a_i, 0.0), F_i) if a_i else 0.0
        return pushed - (min(v * v / a_o, F_o) if a_o else F_o)

    if 2.0 * 1e-9 + f >= force(1e-9):
        assert v <= 1e-9
        return
    assert v > 0.0 and 2.0 * v + f == pytest.approx(force(v), abs=1e-9)


@pytest.mark.parametrize("starts", [(0.5, 0.2), (3.0, 1.0), (0.2, 0.4), (9.0, 2.0)])
@pytest.mark.parametrize("f", [-3.0, -2.2, -1.5])
def test_newtons_method_meets_force_and_regeneration(f, starts):
    """From anywhere: β v + f = A_i P_i − A_o P_o and q² = k_a² (P_o − P_i); dQ_p/dP by a small change of P."""
    A_i, A_o, P_iM, P_oM, k_i, k_o, k_a = 0.5, 0.45, 8.0, 7.0, 0.9, 0.4, 0.6
    at = lambda P: _regenerate(A_i, A_o, P_iM, P_oM, k_i, k_o, k_a, 2.0, f, P, *starts)
    good, v, q, Q_p, slope = at(0.8)
    P_i, _ = _held(A_i * v - q, 0.8, P_iM, k_i)
    P_o, _ = _drained(A_o * v - q, P_oM, k_o)
    assert good and v > 0 and q > 0 and pytest.approx(A_i * v - q) == Q_p
    assert 2.0 * v + f == pytest.approx(A_i * P_i - A_o * P_o, abs=1e-6)
    assert q * q == pytest.approx(k_a * k_a * (P_o - P_i), abs=1e-6)
    assert slope == pytest.approx((at(0.8 + 1e-5)[3] - at(0.8 - 1e-5)[3]) / 2e-5, rel=1e-3)


def test_newtons_method_says_where_it_does_not_meet_both():
    """Where no oil regenerates there is nothing to find."""
    assert _regenerate(0.5, 0.45, 8.0, 7.0, 0.9, 0.4, 0.6, 2.0, 0.3, 3.0, 0.5, 0.2)[0] is False


def test_regeneration_alone_fills_a_side_behind_a_shut_check():
    """A_o > A_i: what the rod side gives more than the head needs goes to the tank; P_o − P_i = (A_i v/k_a)²."""
    A_i, A_o, k_i, k_o, k_a = 0.3, 0.5, 0.8, 0.3, 0.9
    for f, P, shut in ((-4.0, 0.2, True), (-4.0, 7.0, False)):
        found, v = _shut_in(A_i, A_o, 6.0, 9.0, k_i, k_o, k_a, 2.0, f, P)
        P_o = min(((A_o - A_i) * v / k_o) ** 2, 9.0)
        P_i = P_o - (A_i * v / k_a) ** 2
        assert 2.0 * v + f == pytest.approx(A_i * P_i - A_o * P_o, abs=1e-9)
        assert bool(found) is shut and bool(P_i >= P) is shut
    assert bool(_shut_in(A_i, A_o, 6.0, 9.0, 0.0, k_o, k_a, 2.0, -4.0, 7.0)[0])
    assert not _shut_in(A_i, A_o, 6.0, 9.0, k_i, k_o, k_a, 2.0, 1.0, 0.2)[0]


@pytest.mark.parametrize(
    "k, state",
    [
        ((2.0, 1.1, 0.0, 0.0, 0.0), SLOW),
        ((2.0, 0.0, 0.5, 0.0, 0.0), SLOW),
        ((0.0, 1.1, 0.0, 1.5, 0.0), SLOW),
        ((0.0, 1.1, 1.7, 0.0, 0.4), SLOW),
        ((0.0, 0.0, 0.0, 0.0, 0.4), SLOW),
        ((0.0, 0.0, 0.0, 0.0, 0.0), DONE),
        ((2.0, 0.0, 0.0, 1.5, 0.0), DONE),
        ((0.0, 1.1, 1.7, 0.0, 0.0), DONE),
    ],
)
def test_what_has_no_shorter_way(k, state):
    """Both directions open at once, regeneration while the rod does not extend, or alone."""
    row = np.array([0.5, 0.3, 8.0, 7.0, *k])
    found = quick(row, 2.0, 0.4, 5.0, 0.0, 0.0)
    assert found[0] == state and (state == DONE or found[1:] == (0.0, 0.0, 0.0, 0.0))
    if k == (0.0,) * 5:
        assert found[1:] == (0.0, 0.0, 0.0, 0.0)
        assert quick(row, 2.0, 4.6, 5.0, 0.0, 0.0)[1] == pytest.approx(-0.3)
        assert quick(row, 2.0, -2.5, 5.0, 0.0, 0.0)[1] == pytest.approx(0.2)


def test_the_larger_of_two_sides_has_no_shorter_way_where_it_drains_into_the_other_alone():
    row = np.array([0.3, 0.5, 6.0, 9.0, 2.0, 0.0, 0.0, 0.0, 0.6])
    assert quick(row, 2.0, 0.4, 5.0, 0.3, 0.2) == (SLOW, 0.0, 0.0, 0.0, 0.0)
