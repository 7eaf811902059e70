"""Samples put together out of stages, rows and nodes that are written down; steps that are bounded by more than rounding."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from linear_tube import SECTION, tube

from workbench.verification.tube import blocks
from workbench.verification.tube.checker import samples as module
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.runs import Runs, around
from workbench.verification.tube.checker.samples import (
    FLAT,
    ROWS,
    Rows,
    alike,
    concluded,
    fitting,
    flat,
    gone,
    joined,
    spanned,
    started,
)
from workbench.verification.tube.checker.steps import (
    TERMS,
    common,
    deviation,
    exponential,
    left,
    picard,
    polynomial,
    widened,
    within,
)
from workbench.verification.tube.programs import program

RNG = np.random.default_rng(7)


def ends(interval):
    return float(np.ravel(interval.lo)[0]), float(np.ravel(interval.hi)[0])


# ---- a sample ----------------------------------------------------------------------------------------------------------------
def test_stages_are_put_together():
    """M_s = Φ_s … Φ_1, error_s = |Φ_s| error_{s−1} + what stage s adds; the constant stays, and misses nothing."""
    c = tube(after=np.array([1, 2, 0]))
    c.z[:, 3] = 0.35, 0.35, 0.5
    maps = [RNG.normal(size=(2, 5, 5)) for _ in range(3)]
    added = [RNG.uniform(0.1, 0.3, (2, 5)) for _ in range(3)]
    centre = [
        Interval(np.array([i - 0.25, i + 0.0]), np.array([i + 0.75, i + 0.0])) for i in range(5)
    ]
    runs = SimpleNamespace(centre=centre, maps=maps, errors=added, low="low", high="high")
    node = np.array([0, 2])
    rows = concluded(c, node, runs)
    start = np.eye(5)[:, SECTION]
    M, error = [start, start], [np.zeros(5), np.zeros(5)]
    for s in range(4):
        for r in (0, 1):
            kept = M[r].copy()
            kept[4] = start[4]
            assert rows.M[r, s] == pytest.approx(kept, rel=1e-12)
            assert rows.error[r, s] == pytest.approx(np.append(error[r][:4], 0.0), rel=1e-10)
            if s < 3:
                M[r] = maps[s][r] @ M[r]
                error[r] = np.abs(maps[s][r]) @ error[r] + added[s][r]
    assert (
        (rows.off[:, 1:, :4] > 0).any() and rows.off.max() < 1e-12 and not rows.off[:, :, 4].any()
    )
    z = c.z[[1, 0]]
    middle = np.array([[0.25, 1.25, 2.25], [0.0, 1.0, 2.0]])
    assert rows.centre[:, :3] == pytest.approx(middle)
    far = np.abs(middle - z[:, :3]) + np.array([[0.5], [0.0]])
    assert rows.defect[:, :3] == pytest.approx(far)
    assert rows.defect[0, 3] == 0.0 and rows.defect[1, 3] == pytest.approx(0.15)
    assert rows.centre[1, 3] == pytest.approx(0.5)
    assert (rows.low, rows.high, rows.node.tolist()) == ("low", "high", [0, 2])


def test_runs_begin_at_their_nodes_and_are_apart_where_a_side_is_looked_at():
    c = tube(segments=np.zeros((3, 4, 3)))
    c.segments[1, 0, 1] = 5.0
    free = np.full((2, 5), np.inf)
    runs = started(c, np.array([1, 2]), (-free, free))
    assert not runs.apart and not runs.maps
    for j, i in enumerate(SECTION):
        assert runs.centre[i].lo.tolist() == c.z[[1, 2], j].tolist()
    assert runs.centre[3].lo.tolist() == [0.0, 0.0]
    assert (runs.reaches == c.reach[[1, 2]]).all()
    assert runs.segments.shape == (2, 5, 1) and runs.segments[0, 0, 0] == 5.0
    for lower, upper in ((True, False), (False, True)):
        low, high = -free, free.copy()
        low[1, 2], high[1, 2] = (0.5 if lower else -np.inf), (0.5 if upper else np.inf)
        own = started(c, np.array([1, 2]), (low, high))
        assert own.apart and np.isinf(own.sides[0]).all() and np.isinf(own.sides[1]).all()


def test_a_sets_columns_are_those_of_its_nodes_without_zeros():
    segments = np.zeros((3, 4, 3))
    segments[0, :, 1] = 1.0, 2.0, 0.0, 4.0
    segments[1, 2, 2] = 7.0
    balls = np.zeros((3, 4, 4))
    balls[1, 3, 0] = 0.5
    own, ball = spanned(tube(segments=segments, balls=balls), np.array([0, 1]))
    assert own.shape == (2, 5, 2) and ball.shape == (2, 5, 1)
    assert own[0].tolist() == [[1, 0], [2, 0], [0, 0], [0, 0], [4, 0]]
    assert own[1].tolist() == [[0, 0], [0, 0], [0, 7], [0, 0], [0, 0]]
    assert ball[1, :, 0].tolist() == [0, 0, 0, 0, 0.5] and not ball[0].any()
    alone, _ = spanned(tube(segments=segments, balls=balls), np.array([1]))
    assert alone.shape == (1, 5, 1)


def test_the_course_of_a_centre_is_kept_stage_by_stage():
    """(rows, stages, bounds during and after, states)."""
    during = [Interval(np.array([1.0, 2.0]), np.array([3.0, 4.0])), Interval(5.0, 6.0)]
    after = [Interval(7.0, 8.0), Interval(np.array([9.0, 10.0]), np.array([11.0, 12.0]))]
    runs = SimpleNamespace(reaches=np.zeros((2, 3, 2)), found=[(during, after)] * 3)
    found = gone(runs)
    assert found.shape == (2, 3, 4, 2)
    assert found[0, 1].tolist() == [[1, 5], [3, 6], [7, 9], [8, 11]]
    assert found[1, 2].tolist() == [[2, 5], [4, 6], [7, 10], [8, 12]]


@pytest.mark.parametrize("reach, power", [(1.0, 0), (5.0, 2), (6.0, 3), (0.3, -2), (1e-300, -830)])
def test_states_that_hardly_move_scale_coordinates_as_if_they_did(reach, power):
    """A share of the largest reach, to the next power of two."""
    wide = np.full((3, 9, 5), 0.01 * reach)
    wide[1, 4, 2] = reach
    assert flat(tube(reach=wide))[2] == FLAT * 2.0**power


# ---- rows and groups -----------------------------------------------------------------------------------------------------------
def row(node, stages):
    of = np.arange(stages + 1.0)[None, :, None, None] + 100.0 * node
    return Rows(
        np.array([node]), of, of + 1, of[..., 0] + 2, *(np.array([[node + k]]) for k in range(4))
    )


def test_rows_of_several_kinds_are_one_in_the_order_of_their_nodes():
    """The last stage stands for those that are missing."""
    found = joined([row(5, 3), row(2, 1), row(7, 3)], 3)
    assert found.node.tolist() == [2, 5, 7]
    assert found.M[:, :, 0, 0].tolist() == [
        [200, 201, 201, 201],
        [500, 501, 502, 503],
        [700, 701, 702, 703],
    ]
    assert found.off[0, :, 0, 0].tolist() == [201, 202, 202, 202]
    assert found.error[0, :, 0].tolist() == [202, 203, 203, 203]
    assert found.defect[:, 0].tolist() == [2, 5, 7] and found.low[:, 0].tolist() == [3, 6, 8]
    assert found.high[:, 0].tolist() == [4, 7, 9] and found.centre[:, 0].tolist() == [5, 8, 10]


def test_nodes_are_alike_in_their_steps_and_in_being_split():
    splits = np.array([[1.0, 2.0, 0.0], [4.0, 2.0, 0.0], [4.0, 0.0, 1.0]])
    c = SimpleNamespace(finer=np.array([1, 1, 2, 1, 2]), splits=splits)
    groups = alike(c, np.array([0, 1, 2, 3, 4]))
    assert [g.tolist() for g in groups] == [[0, 3], [1], [2], [4]]
    whole = SimpleNamespace(finer=c.finer, splits=np.zeros((0, 3)))
    assert [g.tolist() for g in alike(whole, np.array([0, 2, 3]))] == [[0, 3], [2]]


@pytest.mark.parametrize(
    "nodes, sides, parts",
    [
        (ROWS, 0, 1),
        (ROWS + 1, 0, 2),
        (ROWS // 4, 2, 1),
        (ROWS // 4 + 1, 2, 2),
        (1, 6, 1),
        (3, 9, 2),
        (3, 20, 3),
    ],
)
def test_a_group_is_as_large_as_its_rows_allow(nodes, sides, parts):
    """2^sides rows a node."""
    own = [[0.0, float(i), 0.0] for i in range(sides)] + [[9e9, 0.0, 0.0]] * 30
    splits = np.array(own) if sides else np.zeros((0, 3))
    found = fitting(SimpleNamespace(splits=splits), np.arange(nodes))
    assert len(found) == parts and np.concatenate(found).tolist() == list(range(nodes))


def test_samples_are_walked_so_many_at_a_time(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 2)
    found = list(module.walked(tube(after=np.array([1, 2, 0]))))
    assert [rows.node.tolist() for rows in found] == [[0, 1], [2]]


def test_where_a_tube_is_one_lap_there_are_no_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "settled", lambda *given: pytest.fail("asked"))
    c = tube(after=np.array([1, 2, 0]))
    found = blocks.filled(c, c.reach, None, None, {})
    assert (found.reach == c.reach).all()


# ---- boxes and steps -----------------------------------------------------------------------------------------------------------
def test_a_box_is_cut_to_the_sides_of_its_row():
    centre = [Interval(np.array([1.0, 1.0])), Interval(np.array([0.0, 5.0]), np.array([1.0, 6.0]))]
    reach = np.array([[0.5, 2.0], [0.25, 3.0]])
    first, second = around(centre, reach)
    assert first.lo == pytest.approx([0.5, 0.75]) and second.hi == pytest.approx([3.0, 9.0])
    low = np.array([[0.75, -np.inf], [-np.inf, 10.0]])
    high = np.array([[np.inf, -1.0], [0.5, np.inf]])
    first, second = around(centre, reach, (low, high))
    assert first.lo == pytest.approx([0.75, 0.5]) and first.hi == pytest.approx([1.5, 0.5])
    assert second.lo == pytest.approx([-2.0, 10.0]) and second.hi == pytest.approx([-1.0, 10.0])


def test_boxes_in_common_wider_and_proved():
    assert ends(common(Interval(1.0, 4.0), Interval(2.0, 5.0))) == (2.0, 4.0)
    assert ends(widened(Interval(2.0, 4.0), 0.5)) == pytest.approx((1.0, 5.0), abs=1e-11)
    assert ends(widened(Interval(3.0, 3.0), 0.5)) == pytest.approx(
        (3 - 3e-12, 3 + 3e-12), abs=1e-15
    )
    nothing, found = Interval(-np.inf, np.inf), Interval(1.0, 2.0)
    assert ends(within(nothing, found, np.array(True))) == (1.0, 2.0)
    assert ends(within(nothing, found, np.array(False))) == (-np.inf, np.inf)
    assert ends(within(Interval(0.0, 3.0), found, np.array(True))) == (0.0, 3.0)


def flow(*rates):
    x = ca.SX.sym("x", len(rates))
    return program(ca.Function("f", [x], [ca.vertcat(*(f(*ca.vertsplit(x)) for f in rates))]))


def test_a_box_of_runs_over_a_step():
    """ẋ = −2x + y, ẏ = 3 from a box: it holds the runs and is little larger; a run that leaves has none."""
    h = 0.01
    start = [
        Interval(np.array([0.9]), np.array([1.1])),
        Interval(np.array([-0.5]), np.array([0.5])),
    ]
    box = picard(flow(lambda x, y: -2 * x + y, lambda x, y: ca.SX(3.0)), lambda b: b, start, h)
    low, high = ends(box[1])
    assert low <= -0.5 and high >= 0.53 and high - low < 1.03 + 1e-9
    low, high = ends(box[0])
    fastest, slowest = -2 * 0.88 + 0.53, -2 * 1.1 - 0.5
    assert low <= 0.9 - 0.0235 and high >= 1.1
    assert low > 0.9 + h * slowest - 1e-3 and high < 1.1 + h * max(fastest, 0.0) + 1e-6
    with np.errstate(all="ignore"):
        away = picard(flow(lambda x: x * x), lambda b: b, [Interval(np.array([50.0]))], 0.03)
    assert ends(away[0])[1] == np.inf


def test_a_polynomial_of_a_step():
    parts = [Interval(1.0), Interval(-2.0), Interval(3.0, 4.0)]
    assert ends(polynomial(parts, 0.5)) == pytest.approx((1 - 1 + 0.75, 1 - 1 + 1.0), rel=1e-12)


def test_the_exponential_of_a_step():
    """Φ = e^{Ah}, Q = e^{|A|h} E, and the term that comes next, N^{m+1}E/m!."""
    a, h, E = -30.0, 0.1, np.array([[2.0]])
    Φ, Q, truncated = exponential(np.array([[[a]]]), E, h)
    assert Φ[0, 0, 0] == pytest.approx(sum((a * h) ** j / factorial(j) for j in range(TERMS + 1)))
    assert Q[0, 0] == pytest.approx(2 * sum(3.0**j / factorial(j) for j in range(TERMS + 1)))
    assert truncated[0, 0] == pytest.approx(2 * 3.0 ** (TERMS + 1) / factorial(TERMS))


def factorial(j):
    return float(np.prod(np.arange(1, j + 1)))


def test_how_far_runs_are_from_the_exponential():
    """η = h D P + truncated + h(|A| + D) η + 1e-12 Q, P = max of both ends + N²Q/8 + 1e-12 Q; or δ ≤ ρ in place of D P."""
    A, D, h = np.array([[[-0.5]]]), np.array([[[0.25]]]), 0.1
    E, end, truncated = np.array([[1.0]]), np.array([[2.0]]), np.array([[0.0625]])
    for Q, P in ((4.0, 2.0 + 0.05**2 * 4 / 8), (3e12, 2 + 0.05**2 * 3e12 / 8 + 3), (1.5, 1.5)):
        found = deviation(end, A, D, np.array([[Q]]), truncated, E, h)[0, 0]
        η = (h * 0.25 * P + 0.0625) / (1 - h * 0.75)
        assert η + 1e-12 * Q <= found < (η + 1e-12 * Q) * 1.002
    none = deviation(end, A, 20 * D, np.array([[4.0]]), np.full((1, 1), np.inf), E, h)
    assert none == np.inf
    assert deviation(end, A, 40 * D, np.array([[4.0]]), truncated, E, h) == np.inf
    ρ = np.array([[0.5]])
    found = left(A, ρ, np.array([[4e12]]), truncated, h)[0, 0]
    η = (h * 0.5 + 0.0625) / (1 - h * 0.5)
    assert η + 4.0 <= found < (η + 4.0) * 1.002
    assert left(30 * A, ρ, np.array([[4.0]]), truncated, h) == np.inf


def test_bounds_between_which_runs_stay_are_extended():
    runs = Runs([], np.zeros((2, 3, 2)), (None, None))
    runs.seen([Interval(1.0, 2.0), Interval(np.array([3.0, -3.0]), np.array([4.0, 5.0]))])
    runs.seen([Interval(np.array([0.0, 1.5]), np.array([1.0, 9.0])), Interval(0.0, 4.5)])
    assert runs.low.tolist() == [[0.0, 0.0], [1.0, -3.0]]
    assert runs.high.tolist() == [[2.0, 4.5], [9.0, 5.0]]
