"""Bounds of the tube's arithmetic are no wider than what they bound: ranges in closed form, slopes and series to rounding."""

from fractions import Fraction
from math import atan, cosh, exp, inf, log, pi, sin, sinh, sqrt, tanh

import casadi as ca
import numpy as np
import pytest

from workbench.verification.tube.checker import interval as iv
from workbench.verification.tube.checker import series, slope
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.slope import Slope


def box(low, high):
    return Interval(np.array([float(low)]), np.array([float(high)]))


def tight(found, low, high, share=2e-14):
    """Whether the true range lies inside, and no more of it outside than rounding."""
    a, b = float(np.ravel(found.lo)[0]), float(np.ravel(found.hi)[0])
    more = share * max(abs(low), abs(high)) + 1e-290
    return a <= low and high <= b and low - a <= more and b - high <= more


# ---- ranges ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "found, low, high",
    [
        (lambda: box(-3, 5) + box(7, 11), 4, 16),
        (lambda: box(-3, 5) - box(7, 11), -14, -2),
        (lambda: 2.5 - box(7, 11), -8.5, -4.5),
        (lambda: box(-3, 5) * box(-7, 11), -35, 55),
        (lambda: box(3, 5) * box(-11, -7), -55, -21),
        (lambda: box(-5, -3) * box(-11, -7), 21, 55),
        (lambda: box(-3, 5) * box(7, 7), -21, 35),
        (lambda: 3.0 * box(-11, 7), -33, 21),
        (lambda: box(-3, 5) / box(2, 4), -1.5, 2.5),
        (lambda: box(3, 5) / box(-4, -2), -2.5, -0.75),
        (lambda: 6.0 / box(2, 3), 2, 3),
        (lambda: -box(-3, 5), -5, 3),
        (lambda: iv.square(box(-3, 2)), 0, 9),
        (lambda: iv.square(box(-3, -2)), 4, 9),
        (lambda: iv.square(box(2, 3)), 4, 9),
        (lambda: iv.sqrt(box(0.25, 9)), 0.5, 3),
        (lambda: iv.sqrt(box(0.25, 0.49)), 0.5, 0.7),
        (lambda: iv.exp(box(-1, 2)), exp(-1), exp(2)),
        (lambda: iv.tanh(box(-1, 0.5)), tanh(-1), tanh(0.5)),
        (lambda: iv.arctan(box(-2, 0.5)), atan(-2), atan(0.5)),
        (lambda: iv.sinh(box(-1, 2)), sinh(-1), sinh(2)),
        (lambda: iv.log(box(0.5, 3)), log(0.5), log(3)),
        (lambda: iv.cosh(box(-1, 2)), 1, cosh(2)),
        (lambda: iv.cosh(box(-2, 1)), 1, cosh(2)),
        (lambda: iv.cosh(box(-2, 0.5)), 1, cosh(2)),
        (lambda: iv.cosh(box(0.5, 2)), cosh(0.5), cosh(2)),
        (lambda: iv.power(box(0, 3), 0.0), 1, 1),
        (lambda: iv.orifice(box(1, 2), box(0, 0)), 1, sqrt(2)),
        (lambda: iv.orifice_slope(box(1, 4), box(0, 0)), 0.25, 0.5),
        (lambda: iv.cosh(box(-2, -0.5)), cosh(0.5), cosh(2)),
        (lambda: iv.power(box(-2, 3), 3.0), -8, 27),
        (lambda: iv.power(box(-2, 3), 2.0), 0, 9),
        (lambda: iv.power(box(2, 3), 4.0), 16, 81),
        (lambda: iv.power(box(0, 3), 4.0), 0, 81),
        (lambda: iv.power(box(2, 4), -2.0), 1 / 16, 1 / 4),
        (lambda: iv.power(box(4, 9), 0.5), 2, 3),
        (lambda: iv.power(box(4, 9), 1.5), 8, 27),
        (lambda: iv.power(box(4, 9), -0.5), 1 / 3, 1 / 2),
        (lambda: iv.maximum(box(-3, 2), box(-1, 1)), -1, 2),
        (lambda: iv.minimum(box(-3, 2), box(-1, 1)), -3, 1),
        (lambda: iv.absolute(box(-3, -2)), 2, 3),
        (lambda: iv.absolute(box(2, 3)), 2, 3),
        (lambda: box(-3, 2).hull(box(1, 5)), -3, 5),
    ],
)
def test_ranges_in_closed_form(found, low, high):
    assert tight(found(), low, high)


@pytest.mark.parametrize("turns", [0, 1, -2])
@pytest.mark.parametrize(
    "low, high, bottom, top",
    [
        (0.3, 1.1, sin(0.3), sin(1.1)),
        (0.3, 2.1, sin(0.3), 1.0),
        (1.2, 3.5, sin(3.5), 1.0),
        (2.0, 4.0, sin(4.0), sin(2.0)),
        (3.5, 6.0, -1.0, sin(6.0)),
        (1.0, 5.0, -1.0, 1.0),
        (-1.2, 0.4, sin(-1.2), sin(0.4)),
    ],
)
def test_waves_meet_their_extremes_only_where_they_have_them(turns, low, high, bottom, top):
    """The same of the cosine, a quarter of a turn on."""
    for f, shift in ((iv.sin, 0.0), (iv.cos, pi / 2)):
        away = 2 * pi * turns - shift
        found = f(box(low + away, high + away))
        assert -1 <= found.lo[0] <= bottom + 1e-14 and top - 1e-14 <= found.hi[0] <= 1
        assert found.lo[0] > bottom - 3e-14 and found.hi[0] < top + 3e-14
    wild = iv.sin(box(1.1e6, 1.1e6))
    assert (wild.lo[0], wild.hi[0]) == (-1, 1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_bounds_nothing_and_what_may_not_be_negative():
    for found in (
        box(-3, 5) / box(-1, 2),
        box(3, 5) / box(0, 2),
        box(3, 5) / box(-2, 0),
        iv.power(box(-1, 2), 0.5),
        iv.power(box(0, 2), -1.0),
        iv.power(box(-1, 2), -2.0),
        iv.power(box(-1, 2), 4.0),
        iv.log(box(0, 2)),
        iv.orifice(box(1, 2), box(-0.1, 1)),
        iv.orifice_slope(box(1, 2), box(-0.1, 1)),
    ):
        assert (found.lo[0], found.hi[0]) == (-inf, inf)
    assert iv.sqrt(box(0, 4)).lo[0] == 0.0 and iv.square(box(0, 2)).lo[0] == 0.0
    assert (box(0, 2) * box(0, 3)).lo[0] == 0.0 and (box(-2, 0) * box(0, 3)).hi[0] == 0.0
    assert (box(0, 2) * box(-3, 0)).hi[0] == 0.0 and (box(-2, 0) * box(-3, 0)).lo[0] == 0.0
    assert iv.sqrt(box(-1e-9, 4)).lo[0] == -inf


def test_small_whole_numbers_add_up_exactly():
    a, b = Interval(5.0), Interval(-3.0)
    assert (a + b).lo == 2.0 == (a + b).hi and (a - b).lo == 8.0 == (a - b).hi
    for inexact in (Interval(0.5), Interval(2.0**40), Interval(1.0, 2.0)):
        assert (inexact + b).hi > float(inexact.hi) - 3.0
        assert (inexact - b).lo < float(inexact.lo) + 3.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_middle_radius_size_and_being_inside():
    a = box(-3, 7)
    assert a.mid[0] == 2.0 and a.size[0] == 7.0 and box(-9, 7).size[0] == 9.0
    assert 5.0 < a.rad[0] < 5.0 * (1 + 1e-14)
    assert box(-3, 7).inside(a)[0] and box(-2, 6).inside(a)[0]
    assert not box(-4, 6).inside(a)[0] and not box(-2, 8).inside(a)[0]
    assert box(-inf, 3).rad[0] == inf
    assert 1.0 < box(2, 4).rad[0] < 1.0 + 1e-14
    some = Interval(np.array([np.nan, 2.0])) + 1.0
    assert (some.lo[0], some.hi[0]) == (-inf, inf) and 2.9 < some.lo[1] <= 3.0 <= some.hi[1] < 3.1
    third = Interval(np.array([1 / 3]), np.array([2 / 3]))
    middle, rad = Fraction(third.mid[0]), Fraction(third.rad[0])
    assert middle - rad <= Fraction(1 / 3) and Fraction(2 / 3) <= middle + rad


def orifice(a, c):
    return a / (a * a + c) ** 0.25


def orifice_slope(a, c):
    return (a * a / 2 + c) / (a * a + c) ** 1.25


@pytest.mark.parametrize("low, high", [(0.5, 2.0), (-2.0, -0.5), (-3.0, 0.7), (-0.7, 3.0)])
def test_an_orifice_rises_and_its_slope_falls_away_from_zero(low, high):
    c = 0.3
    found = iv.orifice(box(low, high), box(c, c))
    assert tight(found, orifice(low, c), orifice(high, c))
    far = max(abs(low), abs(high))
    near = 0.0 if low < 0 < high else min(abs(low), abs(high))
    slope_found = iv.orifice_slope(box(low, high), box(c, c))
    assert tight(slope_found, orifice_slope(far, c), orifice_slope(near, c))


# ---- series ----------------------------------------------------------------------------------------------------------------
X = [0.7, -0.4, 0.3, 0.2, -0.5]  # coefficients of x(s) and y(s), none of them alike
Y = [1.3, 0.6, -0.2, 0.4, 0.1]


def known(expression, order=4):
    """Taylor coefficients of an expression of s, by repeated differentiation."""
    s = ca.SX.sym("s")
    power = lambda c: sum(v * s**k for k, v in enumerate(c))
    found, factor = [], 1.0
    f = expression(power(X), power(Y))
    for k in range(order + 1):
        found.append(float(ca.Function("f", [s], [f])(0.0)) / factor)
        f, factor = ca.jacobian(f, s), factor * (k + 1)
    return found


def as_series(values):
    return Series([box(v, v) for v in values])


CONSTANT = Series([box(0.3, 0.3)])
OPERATIONS = {
    "sum": (lambda x, y: x + y, lambda x, y: x + y),
    "difference": (lambda x, y: x - y, lambda x, y: x - y),
    "negative": (lambda x, y: -x, lambda x, y: -x),
    "product": (lambda x, y: x * y, lambda x, y: x * y),
    "product with a number": (lambda x, y: x * CONSTANT, lambda x, y: 0.3 * x),
    "number times it": (lambda x, y: CONSTANT * x, lambda x, y: 0.3 * x),
    "ratio": (lambda x, y: x / y, lambda x, y: x / y),
    "ratio to a number": (lambda x, y: x / CONSTANT, lambda x, y: x / 0.3),
    "root": (lambda x, y: series.sqrt(y), lambda x, y: ca.sqrt(y)),
    "square": (lambda x, y: series.square(y), lambda x, y: y**2),
    "orifice": (
        lambda x, y: series.orifice(x, CONSTANT),
        lambda x, y: x / (x * x + 0.3) ** 0.25,
    ),
    "orifice with a width that moves": (
        lambda x, y: series.orifice(x, y),
        lambda x, y: x / (x * x + y) ** 0.25,
    ),
    "exp": (lambda x, y: series.exp(x), lambda x, y: ca.exp(x)),
    "log": (lambda x, y: series.log(x), lambda x, y: ca.log(x)),
    "tanh": (lambda x, y: series.tanh(x), lambda x, y: ca.tanh(x)),
    "arctan": (lambda x, y: series.arctan(x), lambda x, y: ca.atan(x)),
    "sin": (lambda x, y: series.sin(x), lambda x, y: ca.sin(x)),
    "cos": (lambda x, y: series.cos(x), lambda x, y: ca.cos(x)),
    "sinh": (lambda x, y: series.sinh(x), lambda x, y: ca.sinh(x)),
    "cosh": (lambda x, y: series.cosh(x), lambda x, y: ca.cosh(x)),
    "power 3": (lambda x, y: series.power(x, 3.0), lambda x, y: x**3),
    "power −1.5": (lambda x, y: series.power(y, -1.5), lambda x, y: y**-1.5),
    "maximum": (lambda x, y: series.maximum(x, y), lambda x, y: y),
    "maximum, the first": (lambda x, y: series.maximum(y, x), lambda x, y: y),
    "minimum": (lambda x, y: series.minimum(x, y), lambda x, y: x),
    "minimum, the second": (lambda x, y: series.minimum(y, x), lambda x, y: x),
    "absolute": (lambda x, y: series.absolute(-x), lambda x, y: x),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_series_are_those_of_the_function(name):
    made, true = OPERATIONS[name]
    found = made(as_series(X), as_series(Y)).parts
    wanted = known(true)
    size = max(map(abs, wanted))
    for k, value in enumerate(wanted):
        at = found[k] if k < len(found) else series.ZERO
        low, high = float(np.ravel(at.lo)[0]), float(np.ravel(at.hi)[0])
        assert low - 1e-12 * size <= value <= high + 1e-12 * size, (name, k)
        assert high - low < 1e-12 * size, (name, k)


def test_a_kink_that_is_not_decided_bounds_value_and_rate_alone():
    a = Series([box(-1, 2), box(3, 3), box(5, 5)])
    b = Series([box(0, 1), box(-4, -4), box(6, 6)])
    for found, low, high in (
        (series.maximum(a, b), 0, 2),
        (series.minimum(a, b), -1, 1),
    ):
        assert (found.parts[0].lo[0], found.parts[0].hi[0]) == (low, high)
        assert (found.parts[1].lo[0], found.parts[1].hi[0]) == (-4, 3)
        assert (found.parts[2].lo[0], found.parts[2].hi[0]) == (-inf, inf)
    jump = series.stepped(box(0, 1), a)
    assert [(p.lo[0], p.hi[0]) for p in jump.parts] == [(0, 1), (-inf, inf), (-inf, inf)]
    still = series.stepped(box(1, 1), a)
    assert [(p.lo[0], p.hi[0]) for p in still.parts] == [(1, 1), (0, 0), (0, 0)]
    assert len(series.stepped(box(0, 1), CONSTANT).parts) == 1


# ---- slopes ------------------------------------------------------------------------------------------------------------------
def variable(number, low, high):
    return Slope(box(low, high), {number: box(1, 1)})


DERIVATIVES = {
    "sin": (slope.sin, ca.sin),
    "cos": (slope.cos, ca.cos),
    "exp": (slope.exp, ca.exp),
    "log": (slope.log, ca.log),
    "tanh": (slope.tanh, ca.tanh),
    "arctan": (slope.arctan, ca.atan),
    "sinh": (slope.sinh, ca.sinh),
    "cosh": (slope.cosh, ca.cosh),
    "absolute": (slope.absolute, ca.fabs),
    "negative": (lambda x: -x, lambda x: -x),
    "power 3": (lambda x: slope.power(x, 3.0), lambda x: x**3),
    "power −0.7": (lambda x: slope.power(x, -0.7), lambda x: x**-0.7),
    "orifice": (
        lambda x: slope.orifice(x, Slope(box(0.3, 0.3))),
        lambda x: x / (x * x + 0.3) ** 0.25,
    ),
    "orifice of its own width": (
        lambda x: slope.orifice(x, x),
        lambda x: x / (x * x + x) ** 0.25,
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_slopes_at_a_point_are_derivatives(name):
    made, true = DERIVATIVES[name]
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [true(x), ca.jacobian(true(x), x)])
    for at in (0.7, 1.9):
        value, rate = (float(v) for v in f(at))
        found = made(variable(3, at, at))
        s = found.by[3]
        wide = 1e-11 * abs(rate)
        assert s.lo[0] <= rate + 1e-13 and rate - 1e-13 <= s.hi[0] and s.hi[0] - s.lo[0] < wide
        assert abs(found.value.lo[0] - value) < 1e-13 > abs(found.value.hi[0] - value)


def test_kinks_and_jumps_of_slopes():
    x, y = variable(0, -1, 2), variable(1, 0, 1)
    top, bottom = slope.maximum(x, y), slope.minimum(x, y)
    assert (top.value.lo[0], top.value.hi[0]) == (0, 2)
    assert (bottom.value.lo[0], bottom.value.hi[0]) == (-1, 1)
    for found in (top, bottom):
        assert [(found.by[k].lo[0], found.by[k].hi[0]) for k in (0, 1)] == [(0, 1), (0, 1)]
    far = variable(1, 2, 5)
    for found, one, other in ((slope.maximum(x, far), 0, 1), (slope.maximum(far, x), 0, 1)):
        assert (found.by[0].hi[0], found.by[1].lo[0]) == (one, other)
    for found in (slope.minimum(x, far), slope.minimum(far, x)):
        assert (found.by[0].lo[0], found.by[1].hi[0]) == (1, 0)
    jump = slope.stepped(box(0, 1), x, y)
    assert {k: (s.lo[0], s.hi[0]) for k, s in jump.by.items()} == dict.fromkeys((0, 1), (-inf, inf))
    still = slope.stepped(box(1, 1), x)
    assert (still.by[0].lo[0], still.by[0].hi[0]) == (0, 0)
    assert (x * Slope(Interval(0.0))).by == {}
    assert set((x * Slope(Interval(2.0))).by) == {0} and set((x * y).by) == {0, 1}
    assert tight((x + y).value, -1, 3) and tight((x * x).value, -2, 4)
