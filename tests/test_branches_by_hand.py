"""The search of a supplied certificate with answers that are given: queue, budget, progress and what is left of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.rigorous import supplied_search as module
from workbench.verification.rigorous.supplied_ground import PIECES, Ground
from workbench.verification.rigorous.supplied_search import Search


def searched(settled, budget=1000, example=lambda low, high: None, low=(0.0, 1.0), high=(4.0, 3.0)):
    """(state, used, found, progress, batches) of a search that settles a box where `settled(low, high)` of its sides says so.

    Boxes are cut across their first side. The second side of the box may have no width.
    """
    told, batches = [], []

    def opened(a, b, top, γ):
        assert (top, γ) == (7.0, 5.0)
        batches.append([tuple(row) for row in np.column_stack([a[:, 0], b[:, 0]])])
        open_ = np.array([not settled(x, y) for x, y in zip(a[:, 0], b[:, 0])])
        return open_, np.tile([2.0, 1.0], (len(a), 1))

    own = SimpleNamespace(
        low=np.array(low),
        high=np.array(high),
        budget=budget,
        progress=lambda share, words: told.append((share, words)),
        _open=opened,
        _example=lambda a, b, top: example(a, b),
    )
    return *Search._search(own, 7.0, 5.0), told, batches


def test_a_box_is_halved_until_every_part_is_settled():
    state, used, found, told, batches = searched(lambda a, b: b - a <= 1.0)
    assert (state, used, found) == ("proved", 7, None)
    assert batches == [[(0, 4)], [(0, 2), (2, 4)], [(0, 1), (2, 3), (1, 2), (3, 4)]]
    assert told == [(0.0, "1 sub-boxes"), (0.0, "3 sub-boxes"), (1.0, "7 sub-boxes")]


def test_progress_is_the_share_of_the_box_that_is_settled():
    """A side without width counts for nothing."""
    _, used, _, told, _ = searched(lambda a, b: a >= 2 or b - a <= 0.5, high=(4.0, 1.0))
    assert used == 1 + 2 + 2 + 4 and [share for share, _ in told] == [0.0, 0.5, 0.5, 1.0]


def test_an_example_among_open_boxes_ends_the_search():
    def example(low, high):
        return ("here", "V does not fall") if len(low) and low[0, 0] == 2.0 else None

    state, used, found, told, _ = searched(lambda a, b: b <= 2.0, example=example)
    assert (state, used, found) == ("false", 3, ("here", "V does not fall"))
    assert told == [(0.0, "1 sub-boxes")]


@pytest.mark.parametrize("budget, used, left", [(2, 3, 2), (3, 3, 2), (4, 7, 4), (7, 7, 4)])
def test_a_search_ends_at_its_budget_with_what_is_open(budget, used, left):
    state, boxes, (low, high), _, _ = searched(lambda a, b: False, budget=budget)
    assert state == "left" and boxes == used and len(low) == len(high) == left
    assert low[:, 0].min() == 0.0 and high[:, 0].max() == 4.0
    assert np.sum(high[:, 0] - low[:, 0]) == 4.0


def test_at_its_budget_a_search_with_nothing_open_is_a_proof():
    assert searched(lambda a, b: b - a <= 2.0, budget=3)[:3] == ("proved", 3, None)
    assert searched(lambda a, b: b - a <= 2.0, budget=2)[:2] == ("proved", 3)


def test_the_last_boxes_are_looked_at_first_and_the_others_wait(monkeypatch):
    """Batches of one: the upper half, which came last, and what is left at the budget waits in front."""
    monkeypatch.setattr(module, "BATCH", 1)
    *_, batches = searched(lambda a, b: b - a <= 1.0)
    assert batches == [[(0, 4)], [(2, 4)], [(3, 4)], [(2, 3)], [(0, 2)], [(1, 2)], [(0, 1)]]
    state, used, (low, high), _, _ = searched(lambda a, b: False, budget=3)
    assert (state, used) == ("left", 3)
    assert list(zip(low[:, 0], high[:, 0])) == [(3, 4), (0, 2), (2, 3)]
    state, used, (low, high), _, _ = searched(lambda a, b: False, budget=2)
    assert (state, used) == ("left", 2) and list(low[:, 0]) == [2, 0]
    state, used, (low, high), _, _ = searched(lambda a, b: a == 3, budget=3)
    assert (state, used) == ("left", 3) and list(zip(low[:, 0], high[:, 0])) == [(0, 2), (2, 3)]


def test_boxes_that_are_too_small_to_be_cut_are_left():
    """Around 1: one box of each side is laid aside once it is a thousand-millionth of the whole."""
    touches = lambda a, b: not a <= 1.0 <= b
    state, _, (low, high), _, _ = searched(touches, budget=10**6, high=(4.0, 1.0))
    assert state == "left" and (high - low)[:, 0].tolist() == [4 / 2**30] * 2
    assert len(low) == 2 and (low[:, 0] <= 1.0).all() and (high[:, 0] >= 1.0).all()


# ---- an example -----------------------------------------------------------------------------------------------------------
def example(points, values, falls, top=np.inf):
    """What is found among single points of one state, and by how much data were moved while they were looked at."""
    points = np.array(points, float)[:, None]
    borne = []
    at = lambda m: [points[:, 0].tolist().index(x) for x in m[:, 0]]
    below, above = np.array(values, float).T
    motion = SimpleNamespace(
        V=SimpleNamespace(plain=lambda a, b: (below[at(a)], above[at(a)], None)),
        bear=borne.append,
        change=lambda a, b: (np.array(falls, float)[at(a)], None, None, None),
    )
    own = SimpleNamespace(c=np.zeros(1), r=np.ones(1), motion=motion, change=1e-6)
    return Search._example(own, points, points, top), borne


def test_an_example_is_one_of_the_loop_as_it_is():
    (x, words), borne = example([2.0, 3.0], [(1, 1), (1, 1)], [-1.0, 0.0])
    assert x == [3.0] and words == "V does not fall" and borne == [0.0, 1e-6]


@pytest.mark.parametrize(
    "values, falls, top, at, words",
    [
        ([(1, 1), (1, 1), (1, 1)], [0.5, 2.0, 1.0], np.inf, 3.0, "V does not fall"),
        ([(1, 1), (1, 1), (1, 1)], [0.5, np.inf, 1.0], np.inf, 4.0, "V does not fall"),
        ([(1, 1), (1, 3), (1, 2)], [0.5, 2.0, 1.0], 2.0, 4.0, "V does not fall"),
        ([(1, 1), (-1, 0), (-2, -1)], [5.0, -2.0, -1.0], np.inf, 4.0, "V ≤ 0"),
        ([(1, 1), (-1, 0), (-2, 0.5)], [5.0, -2.0, -1.0], np.inf, 3.0, "V ≤ 0"),
        ([(1, 1), (1, 1), (1, 1)], [-1.0, -2.0, -1e-9], np.inf, None, ""),
        ([(1, 3), (1, 3), (1, 3)], [1.0, 2.0, 3.0], 2.5, None, ""),
    ],
)
def test_the_worst_of_several_examples_is_told(values, falls, top, at, words):
    """V ≤ 0 first, for sure; then what rises most and is finite; none above the level."""
    found, _ = example([2.0, 3.0, 4.0], values, falls, top)
    if at is None:
        assert found is None
    else:
        assert found[0] == [at] and found[1] == words


def test_points_in_the_ball_are_no_examples():
    assert example([0.5, 1.0], [(1, 1), (1, 1)], [3.0, 2.0])[0] is None
    assert example([0.5, 1.5], [(1, 1), (1, 1)], [3.0, 2.0])[0][0] == [1.5]


# ---- the edge and the ball --------------------------------------------------------------------------------------------------
def reached(V, γ, budget=4000):
    """What `_reached` says of V(x, y) on the boundary of [−1, 3] × [−2, 2], bounds of boxes as their corners say."""
    asked = []

    def bounds(low, high):
        corners = [V(x, y) for x in (low[:, 0], high[:, 0]) for y in (low[:, 1], high[:, 1])]
        return np.min(corners, axis=0), np.max(corners, axis=0)

    def plain(low, high):
        return *bounds(low, high), None

    def over(low, high):
        asked.append(len(low))
        return *bounds(low, high), high - low

    motion = SimpleNamespace(V=SimpleNamespace(plain=plain, over=over))
    box = {"low": np.array([-1.0, -2.0]), "high": np.array([3.0, 2.0])}
    return Ground._reached(SimpleNamespace(n=2, budget=budget, motion=motion, **box), γ), asked


def test_a_level_below_the_whole_boundary_is_not_reached():
    found, asked = reached(lambda x, y: 0.0 * x + 5.0, 4.0)
    assert found == (False, None) and asked == [4]


def test_a_point_of_the_boundary_at_the_level_is_told():
    """The middle of the face x = 3 has 3 + 0, at the level exactly; the least of all middles is named."""
    (found, x), asked = reached(lambda x, y: 6.0 - x + y * y, 3.0)
    assert found is True and x.tolist() == [3.0, 0.0] and asked == []
    (found, x), _ = reached(lambda x, y: 6.0 - x + 2.0 * y, 3.0)
    assert found is True and x.tolist() == [1.0, -2.0]


def test_what_is_left_at_a_quarter_of_the_budget_is_open():
    """A corner just at the level is never settled by middles; four faces are asked, then those halves that are open."""
    slope = lambda x, y: 10.0 - x - y
    (found, x), asked = reached(slope, 5.0, budget=40)
    assert found is None and len(asked) > 1 and sum(asked[:-1]) < 10 <= sum(asked)
    assert reached(slope, 4.9)[0] == (False, None)


@pytest.mark.parametrize(
    "varying, pieces", [(0, (1,)), (1, (1, PIECES)), (3, (1, PIECES)), (4, (1,))]
)
def test_ranges_of_up_to_three_numbers_that_vary_are_cut_where_a_core_is_looked_for(
    varying, pieces
):
    asked = []
    own = object.__new__(Ground)
    own.motion = SimpleNamespace(curved="both", varying=("k",) * varying)
    own.n, own.c = 1, np.zeros(1)
    own.low, own.high = np.array([-1.0, *[2.0] * varying]), np.array([3.0, *[5.0] * varying])

    def parts(low, high, count):
        asked.append((low.tolist(), high.tolist(), count))
        return []

    own._parts, own._bent = parts, None
    assert [side.tolist() for side in own._core()] == [own.low.tolist(), own.high.tolist()]
    asked.clear()
    own._parts = lambda low, high, count: parts(low, high, count) or [(low, high)]
    own._bent = lambda low, high: len(asked) > 2 * len(pieces)
    low, high = own._core()
    assert [count for *_, count in asked] == [*pieces, *pieces, 1]
    assert (low[0], high[0]) == (-0.25, 0.75)
    assert low[1:].tolist() == [2.0] * varying and high[1:].tolist() == [5.0] * varying


def ball(period, v=(1.0, 3.0), d=(-0.5, 0.25), stays=True, inside=2.0, monkeypatch=None):
    """The level of a ball of 0.5 around 1 in [0, 4]: V and ΔV are given on every box."""
    asked = []

    def least(V, low, high, keep, budget, sign):
        asked.append((low.tolist(), high.tolist(), budget, sign))
        return -v[1]

    def wide(low, high, size):
        return np.full(len(low), size[0]), np.full(len(low), size[1]), None

    monkeypatch.setattr("workbench.verification.rigorous.supplied_ground.least", least)
    covers = []
    motion = SimpleNamespace(
        period=period,
        V=SimpleNamespace(over=lambda a, b: covers.append((a, b)) or wide(a, b, v)),
        change=lambda a, b: (*wide(a, b, d), "way"),
        curved=[SimpleNamespace(inside=lambda low, high, c, r: inside)],
    )
    own = SimpleNamespace(
        c=np.ones(1),
        r=np.full(1, 0.5),
        n=1,
        low=np.array([0.0, 5.0]),
        high=np.array([4.0, 6.0]),
        budget=800,
        motion=motion,
        _near=lambda low, high: high[:, 0] >= 1.0,
        _stays=lambda way: np.array([True, stays]),
    )
    return Ground._ball_level(own), asked, covers


def test_the_level_of_a_ball_is_the_lower_of_two_bounds(monkeypatch):
    level, asked, _ = ball(None, monkeypatch=monkeypatch)
    assert level == 2.0 and asked == [([[0.5, 5.0]], [[1.5, 6.0]], 100, -1.0)]
    assert ball(None, inside=3.5, monkeypatch=monkeypatch)[0] == 3.0


def test_a_sample_may_lift_v_above_the_ball(monkeypatch):
    """The larger of V on the ball and V + ΔV on its cover, which is cut eight times; nothing where a step leaves the box."""
    level, _, covers = ball(0.1, monkeypatch=monkeypatch)
    assert level == pytest.approx(3.25) and level > 3.25
    assert ball(0.1, d=(-1.0, -0.5), monkeypatch=monkeypatch)[0] == 3.0
    assert ball(0.1, stays=False, monkeypatch=monkeypatch)[0] == np.inf
    ((low, high),) = covers
    assert (high[:, 0] >= 1.0).all() and high[:, 0].max() == 1.5
    assert np.unique(high - low, axis=0).tolist() == [[1 / 8, 1 / 32]]
