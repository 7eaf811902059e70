"""The mean value form of every value on the way: it contains what is so, and it is needed where steps cancel."""

import casadi as ca
import numpy as np
import pytest

from workbench.verification.tube.checker import slope
from workbench.verification.tube.checker.centred import gradient
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.slope import Slope
from workbench.verification.tube.programs import program

x, y, w = (ca.SX.sym(name) for name in "xyw")
RNG = np.random.default_rng(11)

FUNCTIONS = {
    "a sum that cancels": (x + y) - y,
    "after one that cancels": (((x + y) - y) + 2) ** 2 * ca.sin(y),
    "a quotient": (x * y + 1) / (y + 3) - x,
    "a root": ca.sqrt(((x + y) - y) + 1.5) * w,
    "an edge": ca.fabs((x + y) - y) + ca.fmax(x, y * w),
    "a mass inverted": (3 + ca.cos(y)) / ((2 + ca.cos(y)) * (3 + ca.cos(y)) - (1 + ca.cos(y)) ** 2),
    "of what is not moved": ca.exp(w) - x * w,
}


def boxes(size: float, many: int) -> list:
    """Boxes of x and y of this half-width, and an interval of w, which is no variable."""
    mid = RNG.uniform(-0.9, 0.9, (2, many))
    wide = size * RNG.uniform(0.2, 1.0, (2, many))
    return [*(Interval(m - r, m + r) for m, r in zip(mid, wide)), Interval(0.4, 0.41)]


def inside(b: Interval, many: int) -> list:
    """Values in an interval, its ends first."""
    shares = [0.0, 1.0, *RNG.uniform(0, 1, many)]
    return [np.clip(b.lo + s * (b.hi - b.lo), b.lo, b.hi) for s in shares]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", (1e-7, 1e-2, 0.5))
def test_values_and_derivatives_of_a_box_are_inside(name, size):
    f = FUNCTIONS[name]
    F = ca.Function("F", [x, y, w], [f])
    J = ca.Function("J", [x, y, w], [ca.jacobian(f, ca.vertcat(x, y))])
    given = boxes(size, 30)
    (value,), middle, radius = gradient(program(F), given, 0, 2, 30)
    bare = 1e-13  # the rounding of the numbers that are compared with the bounds
    for a in inside(given[0], 3):
        for b in inside(given[1], 3):
            for c in (0.4, 0.41):
                true = np.array(F.map(30)(a[None], b[None], c * np.ones((1, 30)))).ravel()
                assert (value.lo - bare <= true).all() and (true <= value.hi + bare).all()
                slopes = np.array(J.map(30)(a[None], b[None], c * np.ones((1, 30))))
                off = np.abs(slopes.reshape(30, 2) - middle[:, 0])
                assert (off <= radius[:, 0] + bare).all()


def test_what_cancels_is_as_wide_as_it_is():
    """(x + y) − y moves by as much as x does, and no more: the ends of the bound are reached."""
    given = boxes(0.3, 20)
    (value,), _, _ = gradient(program(ca.Function("F", [x, y, w], [(x + y) - y])), given, 0, 2, 20)
    assert value.lo == pytest.approx(given[0].lo, abs=1e-14)
    assert value.hi == pytest.approx(given[0].hi, abs=1e-14)


def test_an_inverted_mass_needs_it():
    """By the chain rule alone the derivative of a moment's share is many times less certain."""
    p = program(ca.Function("F", [x, y, w], [x * FUNCTIONS["a mass inverted"]]))
    given = boxes(1e-3, 20)
    _, _, radius = gradient(p, given, 0, 2, 20)
    inputs = [Slope(g, {i: Interval(1.0)} if i < 2 else {}) for i, g in enumerate(given)]
    (alone,) = p.run(slope, inputs, Slope)
    assert np.median(alone.by[0].rad / radius[:, 0, 0]) > 2


def test_a_jump_that_is_not_decided_proves_nothing():
    p = program(ca.Function("F", [x, y, w], [ca.sign((x + y) - y) * y]))
    given = [Interval(np.array([-0.1]), np.array([0.2])), Interval(np.array([1.0])), Interval(0.4)]
    (value,), _, radius = gradient(p, given, 0, 2, 1)
    assert value.lo[0] <= -1 and value.hi[0] >= 1 and radius[0, 0, 0] == np.inf


def test_what_is_not_bounded_stays_so():
    p = program(ca.Function("F", [x, y, w], [(x + y) - y]))
    given = [Interval(np.array([-np.inf]), np.array([np.inf])), Interval(np.array([1.0]))]
    (value,), _, _ = gradient(p, [*given, Interval(0.4)], 0, 2, 1)
    assert value.lo[0] == -np.inf and value.hi[0] == np.inf
