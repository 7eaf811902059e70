"""What rounding is given in the checker, on numbers so large that it can be seen, and spreads of deviations in closed form."""

from fractions import Fraction
from math import hypot

import casadi as ca
import numpy as np
import pytest

from workbench.verification.tube.checker import form as module
from workbench.verification.tube.checker.affine import linearised
from workbench.verification.tube.checker.balls import (
    ENLARGED,
    LEAST,
    UNIT,
    Balls,
    frobenius,
    less_identity,
    up,
)
from workbench.verification.tube.checker.form import Form
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.spread import Spread
from workbench.verification.tube.checker.zonotope import (
    Deviations,
    off_identity,
    reciprocal,
    rounding,
    unchanged,
)
from workbench.verification.tube.programs import program

LARGE = 1 / UNIT
RNG = np.random.default_rng(21)


# ---- what rounding is given ------------------------------------------------------------------------------------------------------
def test_the_identity_is_taken_off_with_what_that_loses():
    """|m − 1| is off by no more than 2⁻⁵² (|m| + 1)."""
    M = Balls(np.array([[3.0, LARGE], [-0.5 * LARGE, 1.0]]), np.array([[0.5, 0.0], [0.0, 0.0]]))
    found = less_identity(M)
    assert found.mid.tolist() == [[2.0, LARGE], [-0.5 * LARGE, 0.0]]
    assert found.rad == pytest.approx(np.array([[0.5, 1.0], [0.5, 2 * UNIT]]), rel=1e-11)
    assert found.rad[1, 1] >= 2 * UNIT and found.rad[0, 0] >= 0.5 + 4 * UNIT
    assert frobenius(
        Balls(np.array([[3.0, 0.0], [-1.0, 2.0]]), np.array([[0.0, 4.0], [0.0, 0.0]]))
    ) == pytest.approx(np.sqrt(9 + 16 + 1 + 4))


def test_bounds_are_enlarged_once_and_for_all():
    assert up(np.array([2.0]))[0] == 2.0 * ENLARGED + LEAST and ENLARGED > 1 + 1e-13
    assert up(0.0) == LEAST > 0


def test_what_the_product_of_a_matrix_and_its_inverse_misses():
    """γ |V||X| of the product, 2⁻⁵² (|VX| + 1) of taking the identity off."""
    V, X = np.array([[LARGE, -LARGE], [0.0, 2.0]]), np.array([[1.0, 0.0], [1.0, 0.5]])
    found = off_identity(V, X)
    assert found[0, 0] == pytest.approx(1.0 + 4 * 2, rel=1e-9)  # a sum that cancels
    assert found[1, 1] == pytest.approx(4 * UNIT + 2 * UNIT, rel=1e-9)
    assert found[1, 0] == pytest.approx(2.0, rel=1e-9)
    assert rounding(np.array([[3.0, -1.0, 0.5]])) == pytest.approx(
        5 * UNIT * np.array([[3, 1, 0.5]])
    )


def test_rows_that_take_a_coordinate_as_it_is():
    M = np.array([[0, 1, 0], [0, 0, -1], [1, 0, 1], [0, 0, 0], [1, 0, 0], [2, 0, 0], [0.5, 1, 0]])
    off = np.zeros((7, 3))
    off[4, 2] = 1e-300
    assert unchanged(M, off).tolist() == [True, False, False, False, False, False, False]


def test_the_share_of_a_ball_counts_what_rounding_of_its_inverse_loses():
    """2 γ |X| (sums of the set, of the segments and of the ball), in the length of the whole; η of the inverse besides."""
    G = LARGE * np.array([[1.0, 2.0], [0.5, 1.0]])
    Z = Deviations(G, 2, np.zeros((2, 2)))
    ball = np.diag([4.0, 8.0])
    sums = 2 * LARGE * np.array([3.0, 1.5])  # the set's and the segments'
    lost = 2 * 4 * UNIT * sums / [4.0, 8.0]
    share = Z.within(G, ball, reciprocal(ball))
    assert share == pytest.approx(hypot(*lost), rel=1e-9)
    round_ = Deviations(G, 2, LARGE * np.array([[1.0, -1.0], [0.0, 3.0]]))
    far = LARGE * np.linalg.norm([[0.25, -0.25], [0.0, 0.375]])
    sums = sums + LARGE * np.array([2.0, 3.0])
    assert round_.within(G, ball, reciprocal(ball)) <= (
        far + hypot(*(8 * UNIT * sums / [4, 8]))
    ) * (1 + 1e-9)
    off = reciprocal(ball) * 1.25  # η = 0.25 √2
    assert Z.within(G, ball, off) == pytest.approx(
        1.25 * hypot(*lost) / (1 - 0.25 * np.sqrt(2)), rel=1e-9
    )
    assert Z.within(G, ball, 1.4 * reciprocal(ball)) == np.inf


def test_remainders_of_forms_are_rounded_up():
    """Of sums, products and quotients: no less than with exact fractions of the same floats."""
    for _ in range(60):
        a, b, m = RNG.uniform(0.1, 1.0, 3)
        one = Form(
            Interval(np.zeros(1)), line=np.zeros((1, 2)), rest=np.array([a]), size=0.0, of="set"
        )
        two = Form(
            Interval(np.zeros(1)), line=np.zeros((1, 2)), rest=np.array([b]), size=0.0, of="set"
        )
        assert Fraction((one + two).rest[0]) >= Fraction(a) + Fraction(b)
        assert Fraction(one.times(Interval(m)).rest[0]) >= Fraction(m) * Fraction(a)
        assert (one + two).rest[0] < (a + b) * (1 + 1e-13)
    assert module.MORE > 1 + 8 * UNIT


def test_rounding_of_the_coefficients_is_in_what_a_form_leaves_out():
    """γ = 4 n 2⁻⁵² of n operations, times the sizes of what is summed: x + y and x − y of deviations of 2⁵²."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    p = program(ca.Function("f", [x, y], [ca.vertcat(x + y, x - y)]))
    box = np.array([[LARGE, 2 * LARGE]])
    given = [Interval(np.array([1.0])), Interval(np.array([0.0]))]
    wide = [Interval(g.lo - box[:, i], g.hi + box[:, i]) for i, g in enumerate(given)]
    A, rest, _ = linearised(p, given, 0, wide, Spread(box, []))
    assert A[0].tolist() == [[1.0, 1.0], [1.0, -1.0]]
    assert rest[0] == pytest.approx([4 * len(p.codes) * 3.0] * 2, rel=1e-9)


def test_a_coefficient_that_is_no_number_bounds_nothing():
    """1e200 · 1e200 x + y of deviations so small that what is summed is one; beside it, what is bounded."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    p = program(ca.Function("f", [x, y], [ca.vertcat(x * 1e200 * 1e200 + y, y)]))
    box = np.array([[1e-220, 1e-220]])
    given = [Interval(np.array([0.0])), Interval(np.array([0.0]))]
    with np.errstate(all="ignore"):
        A, rest, _ = linearised(p, given, 0, [Interval(-b, b) for b in box.T], Spread(box, []))
    assert rest[0, 0] == np.inf and A[0].tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert rest[0, 1] < 1e-230


# ---- spreads ---------------------------------------------------------------------------------------------------------------------
BOX = np.array([[1.0, 2.0], [10.0, 20.0]])
ENDS = [
    (np.array([[[0.5], [1.0]], [[3.0], [-4.0]]]), np.array([[[0.3, 0.4], [0.0, 0.1]], [[6.0, 8.0], [0.0, 5.0]]])),
    (np.array([[[0.25, 0.1], [0.0, 0.2]], [[1.0, 2.0], [3.0, 4.0]]]), np.zeros((2, 2, 0))),
]  # fmt: skip
MORE = np.array([[0.05, 0.01], [0.5, 0.25]])


def test_a_spread_knows_how_large_its_states_are():
    """The larger of the box and of every end, with what widens it."""
    found = Spread(BOX, ENDS, MORE)
    assert found.columns == 2 + 1 + 2 + 2 and found.lines.shape == (2, 2, 7)
    first = [0.5 + 0.5 + 0.05, 1.0 + 0.1 + 0.01], [3 + 10 + 0.5, 4 + 5 + 0.25]
    second = [0.35 + 0.05, 0.2 + 0.01], [3 + 0.5, 7 + 0.25]
    assert found.sizes == pytest.approx(np.maximum(np.maximum(BOX, first), second), rel=1e-11)
    assert Spread(BOX, []).sizes == pytest.approx(BOX) and Spread(BOX, []).columns == 2
    assert Spread(0 * BOX, ENDS[1:], MORE).sizes == pytest.approx(np.array(second), rel=1e-11)


def test_how_far_a_form_gets_over_a_spread():
    """min(|a| box, max over the ends + |a| more), and every number that kinks leave open."""
    found = Spread(BOX, ENDS, MORE)
    a = np.array([[2.0, -1.0], [0.5, 3.0]])
    lines = np.einsum("ri,rij->rj", a, found.lines)
    line = np.hstack([lines, [[0.25], [-0.5]]])
    first = abs(1.0 - 1.0) + hypot(0.6, 0.8 - 0.1), abs(1.5 - 12.0) + hypot(3.0, 4.0 + 15.0)
    second = abs(0.5) + abs(0.2 - 0.2), abs(0.5 + 9.0) + abs(1.0 + 12.0)
    more = 2 * 0.05 + 0.01, 0.25 + 0.75
    box = 4.0, 65.0
    for r in (0, 1):
        own = min(max(first[r], second[r]) + more[r], box[r])
        assert found.along(line)[r] == pytest.approx(own + (0.25, 0.5)[r], rel=1e-12)
    narrow = Spread(np.array([[0.1, 0.2], [10.0, 20.0]]), ENDS, MORE)
    assert narrow.along(line)[0] == pytest.approx(0.4 + 0.25)
    assert Spread(BOX, []).along(np.hstack([a, [[0.25], [-0.5]]])) == pytest.approx([4.25, 65.5])


def test_how_far_a_matrix_takes_a_spread():
    """Of its first end or its box, the smaller, with (columns + 2) 2⁻⁵² of what is summed."""
    found = Spread(BOX, ENDS, MORE)
    L = np.array([[[2.0, -1.0], [0.0, 1.0]], [[0.5, 3.0], [100.0, 0.0]]])
    own = [
        [hypot(0.6, 0.7) + 0.11, min(1.0 + 0.1 + 0.01, 2.0)],
        [10.5 + hypot(3.0, 19.0) + 1.0, min(100 * (3.0 + 10.0 + 0.5), 1000.0)],
    ]
    assert found.over(L) == pytest.approx(np.array(own), rel=1e-10)
    assert Spread(BOX, []).over(L) == pytest.approx(
        np.array([[4.0, 2.0], [65.0, 1000.0]]), rel=1e-10
    )
    wide = Spread(
        LARGE * BOX, [(LARGE * np.array([[[1.0], [1.0]]] * 2), np.zeros((2, 2, 0)))], 0 * MORE
    )
    lost = wide.over(np.array([[[1.0, -1.0]]] * 2))
    assert lost == pytest.approx((3 + 2) * np.array([[3.0], [30.0]]), rel=1e-10)
