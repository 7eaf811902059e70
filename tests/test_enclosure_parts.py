"""Bounds over boxes: against exact ranges of small expressions, from both sides, with how much they may be off."""

from dataclasses import dataclass
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

from tests.small import Feedback, Linear
from workbench import ClosedLoop, Sampled
from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import NEUTRAL
from workbench.verification.rigorous.curvature import Curvature
from workbench.verification.rigorous.motion import Motion
from workbench.verification.rigorous.paving import Bound, ball_size, faces, halved, least
from workbench.verification.rigorous.supplied_ground import PIECES, Ground

INF = np.inf


def boxes(*rows):
    """(low, high) of boxes given as ((a, b), …)."""
    whole = np.array(rows, float)
    return whole[:, :, 0], whole[:, :, 1]


def polynomial():
    """x² − x y + 3 y over (x, y)."""
    z = ca.SX.sym("z", 2)
    return Bound(z, z[0] * z[0] - z[0] * z[1] + 3 * z[1])


# ---- sizes of boxes -------------------------------------------------------------------------------------------------------
def test_how_far_a_box_is_from_the_centre():
    """Least and most of Σ ((x_i − c_i)/r_i)²: the nearest point of each side, zero across the centre, and the farthest end."""
    c, r = np.array([1.0, -2.0]), np.array([0.5, 4.0])
    low, high = boxes(((2, 3), (-2, 2)), ((0, 4), (-6, -4)), ((-3, 0), (6, 7)), ((1, 1), (-2, -2)))
    near, far = ball_size(low, high, c, r)
    wanted_near = [(1 / 0.5) ** 2, (2 / 4) ** 2, (1 / 0.5) ** 2 + 4.0, 0.0]
    wanted_far = [16.0 + 1.0, 36.0 + 1.0, 64.0 + (9 / 4) ** 2, 0.0]
    assert near == pytest.approx(wanted_near, rel=1e-12, abs=1e-30)
    assert far == pytest.approx(wanted_far, rel=1e-12, abs=1e-29)
    assert np.all(near[:3] <= wanted_near[:3]) and np.all(far[:3] >= wanted_far[:3])
    wide, _ = ball_size(*boxes(((2, 3), (-2, 2), (9, 9))), c, r)
    assert wide[0] == pytest.approx(4.0)  # sides without a radius do not count


def test_faces_of_a_box_across_some_of_its_sides():
    low, high = faces([0.0, 1.0, 2.0], [3.0, 4.0, 5.0], 2)
    assert low.tolist() == [[0, 1, 2], [3, 1, 2], [0, 1, 2], [0, 4, 2]]
    assert high.tolist() == [[0, 4, 5], [3, 4, 5], [3, 1, 5], [3, 4, 5]]


def test_boxes_are_cut_across_their_heaviest_side():
    low, high = boxes(((0, 4), (0, 1)), ((0, 4), (0, 1)), ((0, 4), (0, 1)), ((0, 4), (0, 0.01)))
    weights = np.array([[1.0, 2.0], [3.0, 3.0], [np.nan, 5.0], [1.0, 9.0]])
    lows, highs = halved(low, high, weights, np.ones(2))
    first, second = (lows[:4], highs[:4]), (lows[4:], highs[4:])
    # box 0: across y, the heavier; box 1: a tie goes to the longer; box 2: what is no number is heaviest;
    # box 3: y is shorter than a 64th of x and is left alone.
    assert first[1].tolist() == [[4, 0.5], [2, 1], [2, 1], [2, 0.01]]
    assert second[0].tolist() == [[0, 0.5], [2, 0], [2, 0], [2, 0]]
    assert np.array_equal(first[0], low) and np.array_equal(second[1], high)
    by_scale = halved(*boxes(((0, 4), (0, 1))), np.ones((1, 2)), np.array([8.0, 1.0]))
    assert by_scale[1][0].tolist() == [4, 0.5]


# ---- bounds of an expression -------------------------------------------------------------------------------------------------
def test_bounds_hold_every_value_and_shrink_with_the_square_of_the_box():
    g = polynomial()
    rng = np.random.default_rng(1)
    middle = rng.normal(size=(40, 2))
    for half in (1.0, 1e-2, 1e-4):
        low, high = middle - half, middle + half
        a, b, weights = g.over(low, high)
        for _ in range(30):
            x, y = (low + rng.uniform(size=low.shape) * (high - low)).T
            value = x * x - x * y + 3 * y
            assert np.all(a <= value) and np.all(value <= b)
        x, y = middle.T
        slopes = np.abs(np.column_stack([2 * x - y, 3 - x]))
        first_order = 2 * half * slopes.sum(axis=1)
        assert np.all(b - a <= first_order + 16 * half * half + 1e-12)
        if half < 0.1:
            assert weights == pytest.approx(half * slopes, abs=4 * half * half)
    a, b, smooth = g.plain(middle, middle)
    assert b - a == pytest.approx(0.0, abs=1e-13) and smooth.all()


def test_bounds_of_kinks_steps_and_of_what_is_not_defined():
    """|x|: natural bounds across the kink; a step across its edge has no slopes; √x is not surely defined below zero."""
    z = ca.SX.sym("z", 1)
    low, high = boxes(((-1, 2),), ((1, 2),))
    a, b, _ = Bound(z, ca.fabs(z)).over(low, high)
    assert a == pytest.approx([0.0, 1.0]) and b == pytest.approx([2.0, 2.0])
    step = Bound(z, ca.if_else(z > 0.5, 3 + z, 1 + z))
    low, high = boxes(((0, 1),), ((0.6, 1),), ((0, 0.4),))
    a, b, smooth = step.plain(low, high)
    assert smooth.tolist() == [False, True, True]
    assert np.all(a <= [1, 3.6, 1]) and np.all(b >= [4, 4, 1.4])
    assert b[1:] - a[1:] == pytest.approx([0.4, 0.4], abs=1e-9)
    _, _, weights = step.over(low, high)
    assert weights[0, 0] == 1.0  # its width where no slope tells
    root = Bound(z, ca.sqrt(z))
    a, b, smooth = root.plain(*boxes(((-1, 1),), ((1, 4),)))
    assert (a[0], b[0]) == (-INF, INF) and not smooth[0]
    assert (a[1], b[1]) == (pytest.approx(1.0), pytest.approx(2.0)) and smooth[1]


@pytest.mark.parametrize("sign, wanted", [(1.0, -1.0), (-1.0, -5.0)])
def test_the_least_and_the_largest_value_on_a_box(sign, wanted):
    """(x − 1)² − 1 on [0, 3.449]: −1 at 1, and 5 at the far end, each proven and within a hundredth."""
    z = ca.SX.sym("z", 1)
    g = Bound(z, (z - 1) * (z - 1) - 1)
    end = 1 + np.sqrt(6)
    found = least(g, *boxes(((0, end),)), sign=sign)
    assert wanted - 0.011 * abs(wanted) <= found <= wanted + 1e-9
    rough = least(g, *boxes(((0, end),)), sign=sign, budget=2)
    assert rough <= found + 1e-12
    fine = least(g, *boxes(((0, end),)), sign=sign, gap=1e-4)
    assert wanted - 1.1e-4 * abs(wanted) <= fine <= wanted + 1e-9
    right = least(g, *boxes(((0, end),)), keep=lambda a, b: b[:, 0] >= 2.0, sign=1.0)
    assert -0.05 <= right <= 1e-9  # from 2 on it is 0 and more


# ---- second derivatives -----------------------------------------------------------------------------------------------------
def bent(a, b, shift=0.0, slope=0.0):
    """a x² + b y² + shift + slope x about (0, 0), with a factor p that varies."""
    z = ca.SX.sym("z", 3)
    g = z[2] * (a * z[0] * z[0] + b * z[1] * z[1]) + shift + slope * z[0]
    return Curvature(z, 2, g, ca.SX(0, 1), [])


LOW, HIGH = np.array([-2.0, -3.0, 1.0]), np.array([2.0, 3.0, 1.0])


def test_a_quadratic_outside_and_inside_its_ball():
    """With r = (½, 2): μ = 2 min(a r²) outside, M = 2 max inside, less and more what the centre's value and slope take."""
    c, r = np.zeros(2), np.array([0.5, 2.0])
    own = bent(3.0, 0.7)
    assert own.outside(LOW, HIGH, c, r) == pytest.approx(min(3 * 0.25, 0.7 * 4), rel=1e-5)
    assert own.inside(LOW, HIGH, c, r) == pytest.approx(max(3 * 0.25, 0.7 * 4), rel=1e-5)
    assert own.outside(LOW, HIGH, c, r) <= 0.75 and own.inside(LOW, HIGH, c, r) >= 2.8
    falls = bent(-3.0, -0.7)
    assert falls.outside(LOW, HIGH, c, r) == -INF
    assert falls.outside(LOW, HIGH, c, r, -1.0) == pytest.approx(0.75, rel=1e-5)
    assert falls.inside(LOW, HIGH, c, r) == pytest.approx(0.0, abs=1e-9)
    off = bent(3.0, 0.7, shift=-0.2, slope=0.3)
    assert off.outside(LOW, HIGH, c, r) == pytest.approx(0.75 - 0.2 - 0.15, rel=1e-5)
    assert off.inside(LOW, HIGH, c, r) == pytest.approx(2.8 + 0.2 + 0.15, rel=1e-5)
    assert bent(3.0, 0.7, shift=-0.7, slope=0.3).outside(LOW, HIGH, c, r) == -INF
    assert bent(3.0, -0.1).outside(LOW, HIGH, c, r) == -INF


def test_what_varies_takes_its_worst_and_directions_are_those_of_the_bends():
    c, r = np.zeros(2), np.ones(2)
    own = bent(3.0, 0.7)
    wide = HIGH + [0, 0, 1.0]
    assert (
        own.outside(LOW, wide, c, r) == pytest.approx(0.7, rel=0.2, abs=0.0)
        or own.outside(LOW, wide, c, r) <= 0.7
    )
    assert own.inside(LOW, wide, c, r) >= 6.0
    ways = bent(3.0, -0.7).bends(LOW, HIGH, c)
    assert sorted(map(tuple, np.abs(ways).round(9))) == [(0.0, 3.0), (2.0, 0.0)]
    z = ca.SX.sym("z", 2)
    kinked = Curvature(z, 2, ca.fabs(z[0]) + z[1] ** 2, ca.SX(0, 1), [])
    assert kinked.outside(LOW[:2], HIGH[:2], c, r) == -INF
    assert kinked.inside(LOW[:2], HIGH[:2], c, r) == INF
    assert kinked.bends(-np.ones(2), np.ones(2), c).shape in ((0, 2), (2, 2))
    undefined = Curvature(z, 2, ca.sqrt(z[0]) + z[1] ** 2, ca.SX(0, 1), [])
    assert undefined.outside(LOW[:2], HIGH[:2], np.array([1.0, 0.0]), r) == -INF


# ---- over a sample ------------------------------------------------------------------------------------------------------------
A, B, K, T = np.array([[0.0, 1.0], [-2.0, -0.3]]), np.array([[0.0], [1.5]]), 0.8, 0.05
PLANT = Linear(A=tuple(map(tuple, A)), B=tuple(map(tuple, B)), C=((1.0, 0.0), (0.0, 1.0)))


def held_loop(T=T):
    return ClosedLoop(PLANT, Sampled(Feedback(PLANT, ((K, 0.3),)), T))


def energy(x):
    return 2.0 * x[0] * x[0] + 0.4 * x[0] * x[1] + x[1] * x[1]


def after_a_sample(x, T=T):
    """x and the course of x over the sample, u held."""
    u = -(K * x[0] + 0.3 * x[1])
    both = np.block([[A, B], [np.zeros((1, 3))]])
    times = np.linspace(0, T, 21)
    path = np.array([(expm(both * t) @ np.append(x, u))[:2] for t in times])
    return path[-1], path


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_the_change_over_a_sample_is_met_closely(share):
    """At single states ΔV is held within its remainder of order T³, and the way over the sample is held, within a third more."""
    loop = held_loop(share * T)
    names = [s.name for s in loop.states]
    motion = Motion(loop, lambda x: energy(x[:2]), [n for n in names if n.startswith("x")])
    rng = np.random.default_rng(4)
    for x in rng.normal(size=(8, 2)):
        box = x[None, :], x[None, :]
        low, high, _, way = motion.change(*box)
        end, path = after_a_sample(x, share * T)
        exact = energy(end) - energy(x)
        assert low[0] <= exact <= high[0]
        size = energy(x) * (share * T) ** 3
        assert high[0] - low[0] <= 40 * size
        assert np.all(way[0][0] <= path.min(axis=0)) and np.all(way[1][0] >= path.max(axis=0))
        assert np.all(way[1][0] - way[0][0] <= 1.6 * np.ptp(path, axis=0) + 0.02 * share)


def test_a_change_of_the_data_widens_the_fall():
    """Continuous, ẋ = −x, V = x²: V̇ = −2 x² (1 ± c) after a relative change by c, and as it is without one."""
    one = Linear(A=((-1.0,),), B=((0.0,),), C=((1.0,),))
    motion = Motion(one, lambda x: x[0] * x[0], ["x0"])
    at = np.array([[3.0]])
    for change in (0.0, 1e-3, 0.1):
        motion.bear(change)
        low, high, _, way = motion.change(at, at)
        assert low[0] == pytest.approx(-18.0 * (1 + change)) and way is None
        assert high[0] == pytest.approx(-18.0 * (1 - change))
    assert 0 < NEUTRAL < 1e-9


def test_what_is_held_and_what_varies():
    """Inputs at numbers are held, at ranges they vary; a state that matters must be in the box; a range of a parameter, too."""
    two = Linear(A=((-1.0, 0.5), (0.0, -2.0)), B=((1.0,), (0.0,)), C=((1.0, 0.0),))
    motion = Motion(two, lambda x: x[0] * x[0] + x[1] * x[1], ["x0", "x1"], {"u0": (-0.5, 0.25)})
    assert motion.varying == ("u0",) and motion.ranges == [(-0.5, 0.25)] and motion.held == {}
    at = np.array([[1.0, 0.0, -0.5]]), np.array([[1.0, 0.0, 0.25]])
    low, high, weights, _ = motion.change(*at)
    assert low[0] == pytest.approx(-2.0 - 1.0, rel=1e-6)
    assert high[0] == pytest.approx(-2.0 + 0.5, rel=1e-6) and weights.shape == (1, 3)
    still = Motion(two, lambda x: x[0] * x[0], ["x0", "x1"], {"u0": 0.7})
    assert still.held == {"u0": 0.7} and still.varying == ()
    low, high, *_ = still.change(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]))
    assert low[0] == pytest.approx(2 * (-1.0 + 0.7), rel=1e-6)
    with pytest.raises(InputError, match="V moves with x1"):
        Motion(two, lambda x: x[0] * x[0], ["x0"])


class Loose:
    """Least values 10, 5 and 9 on three unit boxes; that of the first is known only of its halves."""

    values = (10.0, 5.0, 9.0)

    def over(self, low, high):
        known = np.array([self.values[int(a)] for a in low[:, 0]])
        loose = (low[:, 0] < 1) & (high[:, 0] - low[:, 0] > 0.6)
        return np.where(loose, 0.0, known), known + 1, np.ones_like(low)

    def plain(self, low, high):
        known = np.array([self.values[int(a)] for a in low[:, 0]])
        return known + 0.05, known + 0.1


def test_the_least_of_boxes_that_were_laid_aside_is_the_bound():
    """5 and 9 are laid aside at once, while the first box looks as if it went down to 0."""
    low = np.array([[0.0], [1.0], [2.0]])
    assert least(Loose(), low, low + 1, gap=0.1) == 5.0
    assert least(Loose(), low, low + 1, gap=0.1, budget=3) == 0.0


# ---- the ground of a search ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pull(Linear):
    """ẋ = A x with one input that varies."""


def ground(limit=2.0, ball=(0.1, 0.2), inputs=None, budget=800):
    two = Linear(A=((-1.0, 0.0), (0.0, -2.0)), B=((1.0,), (0.0,)), C=((1.0, 0.0),))
    motion = Motion(two, lambda x: x[0] * x[0] + 3 * x[1] * x[1], ["x0", "x1"], inputs)
    limits = [(-limit, limit), (-limit, limit)]
    return Ground(motion, ["x0", "x1"], limits, np.zeros(2), np.array(ball), budget, None)


def test_the_ball_the_edge_and_the_core():
    """V = x² + 3 y²: at most max(r_1², 3 r_2²) on the ball; at least 4 on the box's edge; the core is the whole box."""
    own = ground()
    assert 0.12 <= own._ball_level() <= 0.12 * 1.03
    assert own._reached(3.9) == (False, None)
    reached, x = own._reached(4.2)
    assert reached is True and x[0] ** 2 + 3 * x[1] ** 2 <= 4.2 and np.abs(x).max() == 2.0
    assert own._reached(4.0 - 1e-9)[0] in (False, None)
    low, high = own.core
    assert low.tolist() == [-2, -2] and high.tolist() == [2, 2]
    assert own.labels == ["x0", "x1"]
    near = own._near(np.array([[0.05, 0.1], [0.09, 0.15]]), np.array([[0.3, 0.3], [0.3, 0.3]]))
    assert near.tolist() == [True, False]


def test_a_boundary_that_is_reached_beside_the_middle_of_a_face():
    """V = (x − 0.7)² + 3 (y − 1.3)² is 1.47 at (0.7, 2), 1.96 in the middle of that face, and far above on the other three."""
    two = Linear(A=((-1.0, 0.0), (0.0, -2.0)), B=((1.0,), (0.0,)), C=((1.0, 0.0),))
    V = lambda x: (x[0] - 0.7) ** 2 + 3 * (x[1] - 1.3) ** 2
    limits = [(-2.0, 2.0), (-2.0, 2.0)]
    motion = Motion(two, V, ["x0", "x1"], None)
    own = Ground(motion, ["x0", "x1"], limits, np.zeros(2), np.array([0.1, 0.2]), 800, None)
    reached, x = own._reached(1.6)
    assert reached is True and x[1] == 2.0 and (x[0] - 0.7) ** 2 <= 0.13 + 1e-12
    assert own._reached(1.4) == (False, None)
    own.budget = 4
    assert own._reached(1.48)[0] is None, "too few boxes to tell"


def test_the_core_is_a_share_of_the_box_about_its_centre():
    """A quarter of −2 … 6 and of −8 … 0 about (1, −2), where the second derivatives settle a side of two at most."""
    own = object.__new__(Ground)
    own.motion = SimpleNamespace(curved="both", varying=())
    own.n, own.c = 2, np.array([1.0, -2.0])
    own.low, own.high = np.array([-2.0, -8.0]), np.array([6.0, 0.0])
    own._bent = lambda low, high: (high - low).max() <= 2.0
    low, high = own._core()
    assert low.tolist() == [0.25, -3.5] and high.tolist() == [2.25, -1.5]
    own._bent = lambda low, high: False
    assert own._core() is None
    own.motion.curved = None
    assert own._core() is None


def test_what_varies_is_cut_into_pieces():
    own = ground(inputs={"u0": (-0.3, 0.6)}, budget=400)
    assert own.labels == ["x0", "x1", "u0"] and own.low.tolist() == [-2, -2, -0.3]
    parts = list(own._parts(own.low, own.high, PIECES))
    assert len(parts) == PIECES
    edges = np.linspace(-0.3, 0.6, PIECES + 1)
    for k, (a, b) in enumerate(parts):
        assert (a[2], b[2]) == (pytest.approx(edges[k]), pytest.approx(edges[k + 1]))
        assert a[:2].tolist() == [-2, -2] and b[:2].tolist() == [2, 2]


def test_a_way_stays_inside_where_both_its_ends_do():
    own = SimpleNamespace(low=np.array([-1.0, -2.0]), high=np.array([1.0, 2.0]), n=2)
    stays = lambda a, b: Ground._stays(own, (np.array([a]), np.array([b])))[0]
    assert Ground._stays(own, None) is True
    assert stays([-0.9, -1.9], [0.9, 1.9]) and not stays([-1.0, 0.0], [0.0, 0.0])
    assert not stays([0.0, 0.0], [0.5, 2.0]) and not stays([0.0, -2.5], [0.5, 1.0])
