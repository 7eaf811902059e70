"""Where on a run most of a condition is met: rows counted by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.practical.branches.in_part import met_in_part

NONE = np.nan
ROWS = np.array([0, 10, 20, 30, 40, 50, 60])


def rows(margins, one_sided, parts, users=True):
    low = np.array(margins, float)
    law = SimpleNamespace(
        users=users, parts=lambda k: parts.get(k, []), margins=lambda run: (ROWS, low, low)
    )
    seen = SimpleNamespace(one_sided=lambda: np.array(one_sided, int))
    return met_in_part(None, law, seen)


@pytest.mark.parametrize(
    "band, row",
    [
        ([-1, -1, 1, 1, 1, -1, -1], 30),  # the middle of the stretch within it
        ([-1, -1, -1, -1, -1, -1, 2], 60),
        ([3, -1, -1, -1, 3, 3, -1], 40),  # the longer of two, the first of its two rows
        ([1, 1, 1, -1, 1, 1, 1], 30),  # outside is the rarer side
    ],
)
def test_the_row_lies_where_the_part_takes_its_rarer_side(band, row):
    """The second part never took its other side, and was come to everywhere."""
    assert rows([[-1] * 7, band, [-0.5] * 7], [0], {0: [1, 2]}) == [row]


def test_a_part_that_was_come_to_counts():
    """As Python leaves `and`: the second part is NaN where the first decides."""
    later = [NONE, NONE, NONE, NONE, -0.2, -0.2, NONE]
    assert rows([[-1] * 7, later], [0], {0: [1]}) == [40]


def test_a_comparison_below_another_if_has_no_parts_and_is_looked_for_where_it_was_come_to():
    assert rows([[NONE, -1, NONE, NONE, NONE, NONE, NONE]], [0], {}) == [10]


def test_one_row_for_each_and_none_for_what_took_both_sides_or_is_no_law_of_ones_own():
    margins = [[-1] * 7, [-1, 1, -1, -1, -1, -1, -1], [-1, -1, -1, -1, -1, 1, -1]]
    assert rows(margins, [0, 0], {0: [1]}) == [10, 10]
    assert rows(margins, [], {0: [1]}) == []
    assert rows(margins, [0], {0: [1]}, users=False) == []
