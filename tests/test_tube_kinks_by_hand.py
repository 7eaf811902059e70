"""Kinks, jumps and choices of forms beside a run, by hand: how a pair divides, which number is left open, on which side."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_forms_by_hand import Box

from workbench.verification.tube.checker import form as module
from workbench.verification.tube.checker import slope
from workbench.verification.tube.checker.balls import UNIT
from workbench.verification.tube.checker.centred import centred
from workbench.verification.tube.checker.form import Form, joined, kinked, part, some, stepped
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.kinks import Kinks, named
from workbench.verification.tube.checker.program import CODE, Program, masked
from workbench.verification.tube.checker.slope import Slope
from workbench.verification.tube.checker.spread import Spread

ROWS = 3


def spread():
    """A box of two states in three rows."""
    return Spread(np.array([[1.0, 2.0], [0.5, 0.25], [3.0, 1.0]]), [])


def form(kinks, at, line, rest=0.0, size=0.0):
    """a·e around `at` in every row."""
    at = np.array(at, float)
    line = np.array(line, float)
    wide = np.einsum("ri,ri->r", np.abs(line[:, :2]), kinks.spread.box) + rest
    value = Interval(at - wide * (1 + 1e-9) - 1e-9, at + wide * (1 + 1e-9) + 1e-9)
    return Form(value, Interval(at), line, np.full(ROWS, rest), np.full(ROWS, size), kinks)


# ---- how a pair divides --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "c, m, left",
    [
        (5.0, 1.0, 0.0),  # always above
        (-5.0, 0.0, 0.0),
        (0.0, 0.5, 2.0),  # r/2
        (1.0, 0.625, 1.5),  # slopes from 1/4 to 1: half of 3/4 r
        (-1.0, 0.375, 1.5),
        (3.0, 0.875, 0.5),
        (-3.0, 0.125, 0.5),
    ],
)
def test_between_which_slopes_a_pair_divides(c, m, left):
    """d = c ± 4 in the first row; the others are away from the kink."""
    kinks = Kinks(spread(), 7)
    d = form(kinks, [c, 90.0, -90.0], [[2.0, -1.0], [2.0, -1.0], [2.0, -1.0]])
    found, κ = kinks.divided(d)
    assert found == pytest.approx([m, 1.0, 0.0], abs=1e-8)
    if not left:
        assert κ is None and kinks.columns == 2
        return
    assert κ.shape == (ROWS, 3) and not κ[:, :2].any() and kinks.columns == 3
    assert κ[:, 2] == pytest.approx([left, 0.0, 0.0], rel=1e-8) and κ[0, 2] >= left


def test_a_pair_has_one_number_however_it_is_asked():
    """max(a, b) and max(b, a) share it, with slopes that sum to one; another pair has its own."""
    kinks = Kinks(spread(), 7)
    a = form(kinks, [1.0, 1.0, 1.0], [[2.0, -1.0]] * 3)
    b = form(kinks, [0.5, 0.0, 0.0], [[0.0, 0.5]] * 3)
    m, κ = kinks.shared(a, b)
    again, same = kinks.shared(a, b)
    turned, other = kinks.shared(b, a)
    assert again is m and same is κ and other is κ and kinks.columns == 3
    assert turned == pytest.approx(1.0 - m) and not np.allclose(m, 0.5)
    _, third = kinks.shared(a, Form(Interval(0.0)))
    assert third.shape[1] == 4 and kinks.columns == 4
    assert kinks.shared(a, Form(Interval(0.0)))[1] is third  # numbers go by their value
    assert kinks.shared(a, Form(Interval(0.25)))[1].shape[1] == 5
    assert kinks.γ == 4 * UNIT * 7


def test_what_tells_a_value_from_others():
    kinks = Kinks(spread(), 1)
    one = Form(Interval(2.0))
    assert named(one) == 2.0 == named(Form(Interval(2.0, 2.0)))
    wide, several = Form(Interval(2.0, 3.0)), Form(Interval(np.full(3, 2.0)))
    moved = form(kinks, [2.0] * 3, [[0.0, 0.0]] * 3)
    assert [named(x) for x in (wide, several, moved)] == [id(wide), id(several), id(moved)]


# ---- the larger and the smaller of two -----------------------------------------------------------------------------------------
def shared(m, κ=None):
    """A set that says how a pair divides."""
    return Box((np.array(m), κ))


def two(m, κ=None):
    of = shared(m, κ)
    a = Form(Interval(np.array([2.0, -3.0]), np.array([4.0, 5.0])), Interval(np.array([3.0, 1.0])),
             np.array([[1.0, -2.0], [0.5, 0.0]]), np.array([0.25, 0.5]), np.array([3.0, 4.0]), of)  # fmt: skip
    b = Form(Interval(np.array([1.0, -1.0]), np.array([6.0, 2.0])), Interval(np.array([2.0, 1.5])),
             np.array([[0.0, 4.0], [-2.0, 1.0]]), np.array([1.0, 2.0]), np.array([5.0, 7.0]), of)  # fmt: skip
    return a, b


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_larger_and_the_smaller_of_two_leave_the_same_open(sign):
    """m Δa + (1 − m) Δb + κ, and with the shares exchanged and −κ, so that both together are Δa + Δb."""
    m, κ = np.array([0.75, 0.25]), np.array([[0.5, 0.0, 0.125], [0.0, -0.25, 1.0]])
    a, b = two(m, κ)
    found = kinked(a, b, sign)
    own = m if sign > 0 else 1 - m
    expected = joined(a.line * own[:, None] + b.line * (1 - own)[:, None], sign * κ)
    assert found.line == pytest.approx(expected)
    assert found.rest == pytest.approx(own * a.rest + (1 - own) * b.rest)
    left = np.abs(κ).sum(axis=1)
    assert found.size == pytest.approx(own * a.size + (1 - own) * b.size + left)
    if sign > 0:
        assert (found.value.lo.tolist(), found.value.hi.tolist()) == ([2.0, -1.0], [6.0, 5.0])
        assert found.at.lo.tolist() == [3.0, 1.5]
    else:
        assert (found.value.lo.tolist(), found.value.hi.tolist()) == ([1.0, -3.0], [4.0, 2.0])
        assert found.at.lo.tolist() == [2.0, 1.0]


def test_of_a_pair_that_is_always_the_same_way_round_one_is_taken_as_it_is():
    a, b = two([1.0, 1.0])
    assert kinked(a, b, 1.0) is a and kinked(a, b, -1.0) is b
    a, b = two([0.0, 0.0])
    assert kinked(a, b, 1.0) is b and kinked(a, b, -1.0) is a
    a, b = two([1.0, 0.0])  # row by row
    found = kinked(a, b, 1.0)
    assert found.line.tolist() == [a.line[0].tolist(), b.line[1].tolist()]
    assert found.rest == pytest.approx([0.25, 2.0])
    assert kinked(*two([1.0, 1.0], np.ones((2, 3))), 1.0) is not a


def test_numbers_are_compared_as_they_are():
    found = kinked(Form(Interval(2.0)), Form(Interval(3.0)), 1.0)
    assert found.same and found.value.lo == 3.0
    a, _ = two([0.75, 0.25])
    found = kinked(Form(Interval(3.0)), a, 1.0)
    assert found.of is a.of and found.line == pytest.approx(a.line * [[0.25], [0.75]])
    assert found.rest == pytest.approx([0.0625, 0.375])


def test_nothing_of_what_has_no_bound_is_nothing():
    with np.errstate(all="ignore"):
        found = some(np.array([0.0, 0.5, 1.0]), np.array([np.inf, 4.0, np.inf]))
    assert found.tolist() == [0.0, 2.0, np.inf]
    assert part(None, np.array([0.5])) is None
    assert part(np.array([[1.0, 2.0]]), np.array([0.5])).tolist() == [[0.5, 1.0]]


def test_lines_of_different_lengths_are_joined_either_way():
    short, long = np.array([[1.0, 2.0]]), np.array([[10.0, 20.0, 30.0]])
    for a, b in ((short, long), (long, short)):
        assert joined(a, b).tolist() == [[11.0, 22.0, 30.0]]
    assert (short.tolist(), long.tolist()) == ([[1.0, 2.0]], [[10.0, 20.0, 30.0]])
    assert joined(None, short) is short and joined(short, None) is short


# ---- choices --------------------------------------------------------------------------------------------------------------------
def test_a_choice_is_the_value_nothing_or_unknown_row_by_row():
    """Of what is not chosen neither the line nor the size nor the remainder is left."""
    of = shared([0.5])
    own = Form(Interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])), Interval(np.array([1.5, 3.0, 4.5])),
               np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0.25, 0.5, 0.75]),
               np.array([3.0, 4.0, 5.0]), of)  # fmt: skip
    condition = Interval(np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0]))
    found = masked(module, Form(condition), own, Form)
    assert found.line.tolist() == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    assert found.size.tolist() == [3.0, 0.0, 0.0] and found.rest.tolist() == [0.25, 0.0, np.inf]
    assert found.value.lo.tolist() == [1.0, 0.0, 0.0] and found.value.hi.tolist() == [2.0, 0.0, 6.0]
    assert found.at.lo.tolist() == [1.5, 0.0, 0.0]
    assert masked(module, Form(Interval(2.0)), own, Form) is own
    assert masked(module, Form(Interval(0.0)), own, Form).value.hi == 0.0


def test_a_number_that_is_chosen_by_what_moves_jumps():
    of = shared([0.5])
    of.nothing = lambda: np.zeros((3, 2))
    moved = Form(
        Interval(np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0])), line=np.ones((3, 2)), of=of
    )
    found = masked(module, moved, Form(Interval(7.0)), Form)
    assert not found.line.any() and found.rest.tolist() == [0.0, 0.0, np.inf]
    assert found.value.lo.tolist() == [7.0, 0.0, 0.0] and found.value.hi.tolist() == [7.0, 0.0, 7.0]


@pytest.mark.parametrize("first, second", [(1.0, 2.0), (-1.5, 0.0)])
def test_slopes_at_a_kink_are_those_of_the_side_or_of_both(first, second):
    """max and min of x and y, |x|: of the side that is certain, edges included; else the hull with zero for what is not there."""
    x = Slope(Interval(2.0, 3.0), {0: Interval(first)})
    for low, high, own in ((0.0, 2.0, "x"), (3.0, 4.0, "y"), (2.5, 4.0, "both")):
        y = Slope(Interval(low, high), {1: Interval(second, second + 1)})
        by = {"x": ((first, first), (0, 0)), "y": ((0, 0), (second, second + 1))}
        both = ((min(first, 0), max(first, 0)), (min(second, 0), max(second + 1, 0)))
        by["both"] = both
        larger, smaller = slope.maximum(x, y), slope.minimum(x, y)
        swapped = {"x": "y", "y": "x", "both": "both"}[own]
        for found, side in ((larger, own), (smaller, swapped)):
            got = [(float(found.by[k].lo), float(found.by[k].hi)) for k in (0, 1)]
            assert got == [tuple(map(float, pair)) for pair in by[side]]
        assert (float(larger.value.lo), float(larger.value.hi)) == (max(2.0, low), max(3.0, high))
        assert (float(smaller.value.lo), float(smaller.value.hi)) == (min(2.0, low), min(3.0, high))


def test_a_value_on_the_way_has_the_smaller_of_its_bounds():
    """x − x is within the slope's bound 0 ± 0, not within ± the width of the box; both sides are cut."""
    codes = np.array([CODE["input"], CODE["sub"], CODE["input"], CODE["add"]])
    program = Program(
        codes, np.array([0, 0, 1, 1]), np.array([-1, 0, -1, 2]), np.zeros(4), np.array([1, 3]), 2
    )
    given = [Interval(np.array([-1.0]), np.array([5.0])), Interval(np.array([4.0]))]
    zero, four = centred(program, given, 0, 1)
    assert zero.value.lo == pytest.approx(0.0, abs=1e-12) and zero.value.hi == pytest.approx(
        0.0, abs=1e-12
    )
    assert four.value.lo == pytest.approx(4.0, abs=1e-12) and four.value.hi == pytest.approx(
        4.0, abs=1e-12
    )


def test_what_jumps_beside_what_moves():
    kinks = SimpleNamespace(nothing=lambda: np.zeros((2, 4)))
    moved = Form(Interval(0.0), line=np.ones((2, 4)), of=kinks)
    value = Interval(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    found = stepped(value, moved)
    assert found.line.shape == (2, 4) and found.size == 0.0 and found.at is value
