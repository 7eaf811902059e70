"""What a comparison of intervals decides, at its edges and beside them; jumps of intervals; boxes that are bounded on one side."""

import numpy as np
import pytest

from workbench.verification.tube.checker.centred import centred, gradient
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.program import CODE, DECIDED, Program

YES, NO, OPEN = (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)
A = Interval(1.0, 3.0)


def ends(found):
    return float(found.lo), float(found.hi)


@pytest.mark.parametrize(
    "low, high, less, at_most, equal",
    [
        (4.0, 5.0, YES, YES, NO),  # above
        (3.0, 5.0, OPEN, YES, OPEN),  # touching from above: both may be 3
        (2.0, 5.0, OPEN, OPEN, OPEN),
        (0.0, 1.0, NO, OPEN, OPEN),  # touching from below: both may be 1
        (0.0, 0.5, NO, NO, NO),
        (1.0, 3.0, OPEN, OPEN, OPEN),  # as wide, and not the same number
    ],
)
def test_what_intervals_decide(low, high, less, at_most, equal):
    b = Interval(low, high)
    assert ends(DECIDED["less"](A, b)) == less
    assert ends(DECIDED["at_most"](A, b)) == at_most
    assert ends(DECIDED["equal"](A, b)) == equal
    assert ends(DECIDED["different"](A, b)) == (1.0 - equal[1], 1.0 - equal[0])
    assert ends(DECIDED["equal"](b, A)) == equal


@pytest.mark.parametrize(
    "other, equal", [(2.0, YES), (np.nextafter(2.0, 3.0), NO), (np.nextafter(2.0, 1.0), NO)]
)
def test_numbers_are_equal_or_not(other, equal):
    a, b = Interval(2.0), Interval(other)
    assert ends(DECIDED["equal"](a, b)) == equal
    assert ends(DECIDED["less"](a, b)) == (YES if other > 2 else NO)
    assert ends(DECIDED["at_most"](a, b)) == (YES if other >= 2 else NO)
    assert ends(DECIDED["equal"](Interval(2.0, 2.5), Interval(2.0))) == OPEN
    assert ends(DECIDED["equal"](Interval(2.0), Interval(1.5, 2.0))) == OPEN


@pytest.mark.parametrize(
    "a, sign, floor, ceil",
    [
        ((0.25, 0.75), (1, 1), (0, 0), (1, 1)),
        ((0.5, 1.5), (1, 1), (0, 1), (1, 2)),
        ((-1.5, 0.5), (-1, 1), (-2, 0), (-1, 1)),
        ((-0.5, 0.0), (-1, 0), (-1, 0), (0, 0)),
        ((2.0, 2.0), (1, 1), (2, 2), (2, 2)),
    ],
)
def test_jumps_of_an_interval_hold_those_of_both_ends(a, sign, floor, ceil):
    own = Interval(*a)
    found = {name: ends(DECIDED[name](own)) for name in ("sign", "floor", "ceil")}
    assert found == {"sign": sign, "floor": floor, "ceil": ceil}


TRUTHS = {
    "yes": Interval(1.0),
    "no": Interval(0.0),
    "open": Interval(0.0, 1.0),
    "beyond": Interval(-3.0, -2.0),
}


@pytest.mark.parametrize(
    "a, b, both, either",
    [
        ("yes", "yes", YES, YES), ("yes", "no", NO, YES), ("no", "no", NO, NO), ("open", "no", NO, OPEN),
        ("open", "yes", OPEN, YES), ("open", "open", OPEN, OPEN), ("beyond", "yes", YES, YES), ("beyond", "open", OPEN, YES),
    ],
)  # fmt: skip
def test_what_is_true_of_both_or_of_one(a, b, both, either):
    for first, second in ((a, b), (b, a)):
        assert ends(DECIDED["and"](TRUTHS[first], TRUTHS[second])) == both
        assert ends(DECIDED["or"](TRUTHS[first], TRUTHS[second])) == either
    opposite = {"yes": NO, "no": YES, "open": OPEN, "beyond": NO}
    assert ends(DECIDED["not"](TRUTHS[a])) == opposite[a]


# ---- boxes -------------------------------------------------------------------------------------------------------------------
SQUARE = Program(
    np.array([CODE["input"], CODE["add"], CODE["sub"]]), np.array([0, 0, 1]), np.array([-1, 0, 0]), np.zeros(3), np.array([0, 2]), 1
)  # fmt: skip


@pytest.mark.parametrize(
    "low, high",
    [(-np.inf, 5.0), (-5.0, np.inf), (-np.inf, -5.0), (5.0, np.inf), (-7.0, -2.0), (2.0, 7.0)],
)
def test_a_box_with_one_bound_gives_no_other(low, high):
    """x itself, and x + x − x: no tighter than the box, and as tight where it is bounded."""
    with np.errstate(all="ignore"):
        found = centred(SQUARE, [Interval(np.array([low]), np.array([high]))], 0, 1)
    for out in found:
        assert out.value.lo <= low and out.value.hi >= high
        if np.isfinite(low) and np.isfinite(high):
            assert out.value.lo == pytest.approx(low) and out.value.hi == pytest.approx(high)


def test_derivatives_have_a_middle_and_a_radius_where_they_are_known():
    with np.errstate(all="ignore"):
        values, middle, radius = gradient(
            SQUARE, [Interval(np.array([-1.0]), np.array([3.0]))], 0, 1, 1
        )
    assert middle[0, :, 0] == pytest.approx([1.0, 1.0]) and (radius[0, :, 0] < 1e-14).all()
    assert len(values) == 2 and middle.shape == (1, 2, 1)
