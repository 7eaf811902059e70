"""A path beside a flow: by how much it misses it over a step, in coordinates that mix states, against sums written out by hand."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.stiff import about, along, nth, residual, turned, value
from workbench.verification.tube.programs import program

x, y = ca.SX.sym("x"), ca.SX.sym("y")
A = np.array([[-3.0, 0.7], [2.0, -40.0]])
LINEAR = program(ca.Function("f", [x, y], [ca.vertcat(-3 * x + 0.7 * y, 2 * x - 40 * y)]))
CURVED = program(ca.Function("f", [x, y], [ca.vertcat(x * y - x, ca.sin(x) - 5 * y)]))
RNG = np.random.default_rng(8)
X = np.array([[[1.0, -0.4], [0.3, 2.0]], [[0.5, 0.1], [-1.0, 1.5]], [[1.0, 0.0], [0.0, 1.0]]])
FRAME = SimpleNamespace(X=X)


def missed(f, path, h):
    return residual(f, lambda states: states, path, FRAME, h)


@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("h", [0.002, 0.05, 0.6])
def test_what_a_parabola_misses_of_a_linear_flow(h, size):
    """r = A c − c' has the coefficients A c_j − (j + 1) c_{j+1}; or r(0) and what r' = A c' − 2 c_2 makes of it."""
    path = RNG.normal(size=(3, 3, 2)) * [[[1.0], [1.0], [size]]]
    found = missed(LINEAR, path, h)
    for k in range(3):
        c = path[k]
        each = [A @ c[0] - c[1], A @ c[1] - 2 * c[2], A @ c[2]]
        high = sum(np.abs(X[k] @ r) * h**j for j, r in enumerate(each))
        middle, spread = c[1] + c[2] * h, np.abs(c[2]) * h
        slope = A @ middle - 2 * c[2]
        low = np.abs(X[k] @ each[0]) + h * (
            np.abs(X[k] @ slope) + np.abs(X[k]) @ np.abs(A) @ spread
        )
        assert found[k] == pytest.approx(np.minimum(high, low), rel=1e-9)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("f", [LINEAR, CURVED])
def test_no_instant_misses_the_flow_by_more(f, order):
    """Where one of the two bounds is near zero, as where A c_1 = 2 c_2, the other one holds."""
    flow = lambda c: (
        A @ c if f is LINEAR else np.array([c[0] * c[1] - c[0], np.sin(c[0]) - 5 * c[1]])
    )
    for draw in range(20):
        h = float(10 ** RNG.uniform(-3, -0.3))
        path = RNG.normal(size=(3, order + 1, 2)) * 10 ** RNG.uniform(-2, 0, (3, order + 1, 1))
        if draw % 2:
            path[:, 2] = path[:, 1] @ A.T / 4
        found = missed(f, path, h)
        for s in np.linspace(0, h, 9):
            powers = s ** np.arange(order + 1)
            rates = np.arange(1, order + 1) * s ** np.arange(order)
            for k in range(3):
                r = flow(powers @ path[k]) - rates @ path[k, 1:]
                assert (np.abs(X[k] @ r) <= found[k] * (1 + 1e-12)).all()


def test_coefficients_of_a_path_over_a_step():
    """c = 1 + 2 s − 3 s²: within a step of 0.5 it and its slopes 2 − 6 s and −3 are within these bounds, and at its end 1.25."""
    path = np.array([[[1.0], [2.0], [-3.0]]])
    exact = (lambda s: 1 + 2 * s - 3 * s * s, lambda s: 2 - 6 * s, lambda s: -3 + 0 * s)
    for order, coefficient in enumerate(exact):
        (over,) = along(path, 0.5, order)
        inside = coefficient(np.linspace(0, 0.5, 50))
        assert (over.lo <= inside.min()).all() and (inside.max() <= over.hi).all()
    (first,) = along(path, 0.5, 1)
    assert (first.lo[0], first.hi[0]) == pytest.approx((-1.0, 2.0))
    end = value(path[:, :, 0], about(0.5))
    assert end.lo[0] <= 1.25 <= end.hi[0] and end.hi[0] - end.lo[0] < 1e-14


def test_a_step_is_known_to_rounding():
    h = about(0.3)
    assert h.lo < 0.3 < h.hi and h.hi - h.lo == pytest.approx(0.3 * 8 * 2.0**-53, rel=0.3)


def test_vectors_in_other_coordinates():
    """|X v| of what is known to a radius; where one of them is unbounded all are."""
    middle, radius = np.array([2.0, -1.0]), np.array([0.5, 0.25])
    v = [Interval(np.full(3, m - r), np.full(3, m + r)) for m, r in zip(middle, radius)]
    expected = np.abs(X @ middle) + np.abs(X) @ radius
    assert turned(FRAME, v) == pytest.approx(expected)
    open_ = Interval(np.array([0.0, -np.inf, 0.0]), np.array([0.0, 1.0, 0.0]))
    with np.errstate(invalid="ignore"):
        found = turned(FRAME, [open_, v[1]])
    assert np.isinf(found[1]).all() and np.isfinite(found[[0, 2]]).all()
    assert nth(Series([Interval(3.0), Interval(4.0)]), 1).lo == 4.0
    assert nth(Series([Interval(3.0)]), 1).hi == 0.0
