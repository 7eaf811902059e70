"""Conditions in graphs and shares of margins, by hand: what is true or false, factors that choose, what a margin is a share of."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench.verification.practical import disturbed
from workbench.verification.practical.branches import edges, in_part, ways
from workbench.verification.practical.switches.graph import switches_in
from workbench.verification.temporal import sentence as module

X = ca.SX.sym("x", 4)
LESS, MORE = X[0] < X[1], X[2] < X[3]


def conditions(*expressions):
    """Conditions of several among the switches of these expressions, as they stand."""
    found = switches_in(expressions, conditions=True)
    return [node for op, node, half in found if op == ca.OP_AND and float(half) == 0.5]


@pytest.mark.parametrize(
    "condition",
    [
        ca.logic_and(LESS, MORE),
        ca.logic_or(LESS, MORE),
        ca.logic_and(ca.logic_not(LESS), MORE),
        ca.logic_or(LESS, ca.logic_not(MORE)),
        ca.logic_and(X[0] <= X[1], X[2] == X[3]),
    ],
)
def test_a_condition_of_two_comparisons_is_one_also_where_one_is_turned(condition):
    (found,) = conditions(ca.if_else(condition, X[0], 2 * X[1]))
    assert ca.is_equal(found, condition, 4)
    assert conditions(ca.if_else(LESS, X[0], 2 * X[1])) == []


def test_what_joins_numbers_is_no_condition():
    assert conditions(ca.logic_and(X[0], LESS), ca.logic_or(X[0], X[1])) == []


@pytest.mark.parametrize(
    "product, several",
    [
        (LESS * MORE, True),
        ((3.0 * LESS) * (X[0] * -MORE), True),
        (ca.logic_not(LESS) * MORE, True),
        (LESS * X[2], False),
        (X[2] * X[3], False),
    ],
)
def test_a_product_of_two_conditions_is_one_of_several(product, several):
    assert bool(conditions(product)) is several


# ---- what a margin is a share of ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "left, right, machine, share",
    [
        (None, -5e-3, 7.0, 5e-3),
        (2.0, None, 7.0, 2.0),
        (2.0, 3.0, 7.0, 3.0),
        (None, 0.0, 7.0, 7.0),
        (None, None, 7.0, 7.0),
        (None, None, 0.0, 1.0),
        (None, 0.0, None, 1.0),
    ],
)
def test_a_margin_is_a_share_of_its_number_or_of_the_machine_or_of_one_unit(
    monkeypatch, left, right, machine, share
):
    monkeypatch.setattr(module, "constant", lambda side: side)
    comparison = SimpleNamespace(left=left, right=right, span=(0, 5))
    own = SimpleNamespace(units={(0, 5): "m"})
    scale = None if machine is None else {"m": machine}.get
    assert module.Sentence._scale(own, comparison, scale) == share


# ---- what changes at an edge -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("row, jump, leap", [
    ([4.0, 4.0, 4.0, 4.0], False, False),
    ([4.0, 4.0, 4.79, 4.79], True, False),
    ([4.0, 4.0, 5.01, 5.01], True, True),
    ([-4.0, -4.0, -5.01, -5.01], True, True),
    ([4.0, 4.0, 4.0 + 3e-6, 4.0 + 3e-6], False, False),
    ([4.0, 4.0, 4.0 + 5e-6, 4.0 + 5e-6], True, False),
    ([0.0, 4.0, 4.35, 4.4], False, False),
    ([0.0, 4.0, 4.45, 4.4], True, False),
])  # fmt: skip
def test_jumps_and_leaps_are_shares_of_what_a_value_is_near_an_edge(size, row, jump, leap):
    """A jump is a millionth of its size and a tenth of what it changes by near by; a leap is a fifth of the largest."""
    quiet = np.zeros(4)
    for rows in ([row], [quiet, row], [row, quiet]):
        f = size * np.array(rows)
        assert ways._jumps(f) is jump and ways._leaps(f) is leap
    assert not ways._jumps(np.zeros((0, 4))) and not ways._leaps(np.zeros((0, 4)))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    "behind, turns",
    [(2.0, False), (4.05, False), (4.15, True), (-0.15, True), (0.0, False), (-0.05, False)],
)
def test_a_slope_turns_where_it_changes_by_more_than_itself(size, behind, turns):
    """2 before the edge, over 0.5; after it over 0.25: from −0.1 to 4.1 it is no turn."""
    row = size * np.array([9.0, 10.0, 10.0, 10.0 + 0.25 * behind])
    for rows in ([row], [0 * row, row], [row, 0 * row]):
        assert ways._turns(np.array(rows), 0.5, 0.25) is turns


@pytest.mark.parametrize(
    "users, period, rows",
    [(True, 0.1, [0, 6]), (False, 0.1, []), (True, None, []), (False, None, [])],
)
def test_a_sampled_law_of_the_users_is_held_at_both_ends_of_its_run(users, period, rows):
    run = SimpleNamespace(
        log=SimpleNamespace(time=np.arange(7.0)), loop=SimpleNamespace(period=period)
    )
    assert edges._rows_held(run, SimpleNamespace(users=users)) == rows


# ---- conditions that are met in part -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "count, middle",
    [
        ([0, 2, 2, 2, 0, 2, 0], 2),
        ([2, 0, 1, 2, 2, 2, 2], 4),
        ([2, 2, 2, 2, 0, 2, 2], 1),
        ([1, 1, 2], 2),
        ([2, 1, 2], 0),
        ([1, 1, 1, 1, 1], 2),
    ],
)
def test_the_middle_of_the_longest_stretch_with_most(count, middle):
    assert in_part._in_the_middle(count) == middle


def test_parts_count_where_they_were_come_to_and_on_their_rarer_side():
    """The first part is rarely above zero, the second rarely below; NaN was not come to."""
    nan = np.nan
    margins = np.array([[-1.0, 2.0, -3.0, nan], [4.0, 5.0, -6.0, 7.0]])
    assert in_part._count(margins).tolist() == [2, 3, 3, 1]


@pytest.mark.parametrize(
    "floor, values, jointed, wanted",
    [
        (1e-3, [0.0, 0.5], False, 1e-3),
        (1e-12, [-4.0, 0.0, 1.0], False, 4e-9),
        (1e-12, [0.0, 0.5], True, disturbed.HARDLY * disturbed.SPREAD),
        (1.0, [0.0, 0.5], True, 1.0),
    ],
)
def test_what_shows_nothing_is_rounding_or_little_beside_another_start(
    monkeypatch, floor, values, jointed, wanted
):
    monkeypatch.setattr(disturbed, "signal_floor", lambda plant, name: floor)
    monkeypatch.setattr(disturbed, "is_jointed", lambda plant: jointed)
    log = SimpleNamespace(array=lambda name: np.array(values))
    run = SimpleNamespace(log=log, loop=SimpleNamespace(plant=None))
    assert disturbed._resolution(run, "x") == pytest.approx(wanted, rel=1e-12)
