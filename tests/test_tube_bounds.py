"""Bounds of the tube's linear algebra by hand: what is summed, what rounding adds, and no more than that."""

from math import cos, exp, hypot, sin, sqrt

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.verification.tube.checker import balls, steps, stiff, zonotope
from workbench.verification.tube.checker.balls import UNIT, Balls
from workbench.verification.tube.checker.frame import Frame, framed
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.runs import Runs
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.stiff import Nominal
from workbench.verification.tube.checker.zonotope import Deviations

LARGE = 2.0**60  # of a size at which rounding is larger than one


def above(found, bound, share=4e-12):
    """Whether a bound is kept from above, and by no more than a share of it."""
    found, bound = np.asarray(found, float), np.asarray(bound, float)
    return bool((found >= bound).all() and (found <= bound * (1 + share) + 1e-280).all())


# ---- balls -----------------------------------------------------------------------------------------------------------------
def test_products_of_matrices_that_are_known_to_a_radius():
    """|A| r_B + r_A (|B| + r_B) + γ |A||B|, γ = (n + 2) 2⁻⁵²."""
    A = Balls(np.array([[2.0, -3.0], [0.5, 7.0]]), np.array([[0.1, 0.2], [0.3, 0.4]]))
    B = Balls(np.array([[-1.0], [4.0]]), np.array([[0.5], [0.7]]))
    found = A @ B
    assert found.mid.tolist() == [[-14.0], [27.5]]
    assert above(found.rad, [[3.1 + 0.15 + 0.94], [5.15 + 0.45 + 1.88]])
    big = Balls.exact(LARGE * A.mid) @ Balls.exact(B.mid)
    assert above(big.rad, 4 * UNIT * LARGE * np.array([[14.0], [28.5]]))
    assert above(A.size, [[2.1, 3.2], [0.8, 7.4]]) and A.T.mid.tolist() == [[2, 0.5], [-3, 7]]
    assert A.T.rad.tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert above(A.rows(), [hypot(2.1, 3.2), hypot(0.8, 7.4)])
    assert above(A.columns(), [hypot(2.1, 0.8), hypot(3.2, 7.4)])
    assert balls.up(np.array([np.nan]))[0] == np.inf and balls.up(0.0) > 0


def test_the_norm_of_a_matrix_that_is_known_to_a_radius():
    """The largest singular value, and the Frobenius norm of the radius; nothing of what is no number."""
    M = np.array([[3.0, 0.0], [4.0, 5.0]])
    assert above(balls.norm(Balls.exact(M[None])), [sqrt(45.0)], 1e-11)
    r = np.array([[0.3, 0.0], [0.4, 1.2]])
    assert above(balls.norm(Balls(M[None], r[None])), [sqrt(45.0) + 1.3], 1e-11)
    assert balls.norm(Balls.exact(np.full((1, 2, 2), np.nan)))[0] == np.inf
    assert balls.norm(Balls(M[None], np.full((1, 2, 2), np.inf)))[0] == np.inf
    V = np.array([[1.0, 0.3], [0.0, 1.0]])
    assert above(balls.above_identity(V[None]), [0.39], 1e-11)


def test_an_inverse_is_known_to_what_its_product_misses():
    R = np.array([[3.0, 1.0], [2.0, 5.0]])
    X, η = balls.inverse(R[None])
    assert X[0] == pytest.approx(np.array([[5.0, -1.0], [-2.0, 3.0]]) / 13)
    assert 0 < η[0] < 1e-14
    assert balls.inverse(np.ones((1, 2, 2)))[1][0] == np.inf


# ---- zonotopes -------------------------------------------------------------------------------------------------------------
G = np.array([[3.0, -4.0, 0.0], [0.5, 0.0, -2.0]])
B = np.array([[3.0, 4.0], [-1.0, 0.0]])


def test_how_far_segments_and_a_ball_reach():
    z = Deviations(G, 1, B)
    assert above(z.reach, [7.0 + 5.0, 2.5 + 1.0])
    L, off = np.array([[1.0, -2.0]]), np.array([[0.1, 0.3]])
    along = abs(3.0 - 1.0) + abs(-4.0) + abs(4.0) + hypot(3.0 + 2.0, 4.0) + 0.1 * 12 + 0.3 * 3.5
    assert above(z.along(L, off), [along])
    wide = Deviations(LARGE * np.array([[1.0, 1.0], [1.0, 1.0]]), 0, np.zeros((2, 2)))
    assert above(wide.along(np.array([[1.0, -1.0]]), np.zeros((1, 2))), [4 * UNIT * 4 * LARGE])
    boxed = Deviations.box(G, np.array([0.7, 0.2]))
    assert boxed.kept == 3 and above(boxed.reach, [7.7, 2.7])


def test_where_a_map_takes_a_set():
    z = Deviations(G, 1, B)
    M, off = np.array([[1.0, -2.0], [0.0, 0.5]]), np.array([[0.1, 0.0], [0.2, 0.3]])
    z.moved(M, off, np.array([0.9, 0.4]))
    assert z.G[:, :3].tolist() == (M @ G).tolist() and z.B.tolist() == (M @ B).tolist()
    assert above(np.diag(z.G[:, 3:]), [0.9 + 1.2, 0.4 + 2.4 + 1.05])
    assert z.G[0, 4] == z.G[1, 3] == 0.0
    wide = Deviations(LARGE * np.eye(2), 0, np.zeros((2, 2)))
    wide.moved(M, np.zeros((2, 2)), np.zeros(2))
    assert above(np.diag(wide.G[:, 2:]), 4 * UNIT * LARGE * np.array([3.0, 0.5]))


def test_a_set_in_other_coordinates():
    round_part, straight = Deviations(G, 1, B).measured(np.array([[1.0, -2.0], [0.0, 0.5]]))
    turned = np.array([[5.0, 4.0], [-0.5, 0.0]])
    assert above(round_part, np.linalg.norm(turned, 2), 1e-11)
    assert above(straight, hypot(2.0 + 4.0 + 4.0, 0.25 + 1.0), 1e-11)


def test_axes_in_which_segments_are_enclosed():
    """V X is 1; orthogonal segments are their own axes; sums of any are held, with little besides."""
    rng = np.random.default_rng(3)
    H = np.diag([1e-3, 1.0, 30.0]) @ rng.normal(size=(3, 40))
    V, X = zonotope.axes(H)
    assert V @ X == pytest.approx(np.eye(3), abs=1e-9)
    widths, lost = zonotope.enclosed(H)
    for direction in rng.normal(size=(20, 3)) / np.array([1e-3, 1.0, 30.0]):
        true = np.abs(direction @ H).sum()
        held = np.abs(direction @ widths).sum() + np.abs(direction @ lost).sum()
        assert true * (1 - 1e-12) <= held <= 3 * true
    assert (np.diag(lost) < 1e-11 * np.abs(H).sum(axis=1)).all() and (np.diag(lost) > 0).all()
    straight = np.array([[2.0, 0.0], [0.0, 0.3]])
    widths, _ = zonotope.enclosed(straight)
    assert np.sort(np.abs(widths).sum(axis=1)) == pytest.approx([0.3, 2.0])
    flat = np.array([[1.0, -3.0], [0.0, 0.0]])
    widths, lost = zonotope.enclosed(flat)
    assert above(np.abs(widths).sum(axis=1)[:1] + lost[0, :1], [4.0], 1e-9)
    assert np.isfinite(widths).all() and np.abs(widths[1]).sum() < 1e-9


def test_segments_along_others_are_merged_into_these_and_kept_ones_stay(monkeypatch):
    """Nothing is lost where they are parallel; what is across is held, and little besides."""
    monkeypatch.setattr(zonotope, "MOST", 10)
    rng = np.random.default_rng(7)
    first = np.array([[1e-3], [2e-3]])
    two = np.array([[5.0, 0.0], [0.0, 7.0]])
    along = two[:, [0, 1, 0, 1, 1, 0, 0, 1]] * rng.uniform(-0.5, 0.5, 8)
    z = Deviations(np.hstack([first, two, along]), 1, np.zeros((2, 2)))
    before = z.reach
    z.merged()
    assert z.G[:, 0].tolist() == [1e-3, 2e-3] and z.kept == 1 and z.G.shape[1] <= 10
    assert above(z.reach, before, 1e-11)
    across = Deviations(
        np.hstack([first, two, along + 0.01 * rng.normal(size=(2, 8))]), 1, np.zeros((2, 2))
    )
    true = across.reach
    across.merged()
    assert (across.reach >= true * (1 - 1e-12)).all() and (across.reach < true + 0.15).all()
    few = Deviations(np.hstack([first, two]), 1, np.zeros((2, 2)))
    few.merged()
    assert few.G.tolist() == np.hstack([first, two]).tolist()


def test_what_is_merged_is_held_along_every_direction():
    """In units that differ by 1e9, beside a state that none of them moves; the segment with the largest rest stays."""
    rng = np.random.default_rng(8)
    size = np.array([[1e-4], [1.0], [0.0], [1e5]])
    H = size * rng.normal(size=(4, 60)) * 10.0 ** rng.uniform(-3, 0, 60)
    heads = zonotope.spread_out(H, 25)
    found = zonotope.gathered(H, heads)
    assert len(set(heads)) == 25 and not any(part[2].any() for part in found)
    for direction in rng.normal(size=(200, 4)) / np.where(size > 0, size, 1.0).T:
        true = np.abs(direction @ H).sum()
        held = sum(np.abs(direction @ part).sum() for part in found)
        assert true * (1 - 1e-12) <= held <= 1.3 * true


# ---- a frame with one slow coordinate, a lag and a ring ---------------------------------------------------------------------
def by_hand(a=(-900.0, -200.0, -200.0), b=(0.0, 700.0, -700.0)):
    X = np.array([[[1.0, 0.2, 0.0, 0.0], [0.0, 2.0, 0.0, 0.1], [0, 0, 0.5, 0.0], [0, 0, 0, 4.0]]])
    Λ = np.zeros((1, 4, 4))
    Λ[0, 0, 0] = -3.0
    Λ[0, 1, 1], Λ[0, 2, 2], Λ[0, 3, 3] = a
    Λ[0, 2, 3], Λ[0, 3, 2] = b[1:]
    T = Balls(np.linalg.inv(X[0])[None], np.full((1, 4, 4), 1e-3))
    return Frame(X, T, Λ, 1, np.array([a]), np.array([b]), np.array([[0, 2, 1]]))


def test_two_mates_share_their_length():
    assert by_hand().joined(np.array([[9.0, 2.0, 3.0, 4.0]])).tolist() == [[9.0, 2.0, 5.0, 5.0]]
    columns = stiff.fast_columns(by_hand())[0]
    size = np.abs(by_hand().T.mid[0]) + 1e-3
    assert above(columns[:, 0], size[:, 1])
    for own in (1, 2):
        assert above(columns[:, own], 0.5 * np.hypot(size[:, 2], size[:, 3]))


def test_how_long_what_a_mode_is_driven_by_stays():
    """∫e^{μτ}dτ ≤ min(h, 1/|μ|) where μ falls, h e^{μh} where it grows."""
    h = 2e-3
    assert above(by_hand().stays(h)[0], [h, 1 / 900, h, h])
    growing = by_hand(a=(300.0, -900.0, -900.0))
    assert above(growing.stays(h)[0], [h, h * exp(0.6), 1 / 900, 1 / 900])
    assert above(stiff.grown(growing, h)[0], [exp(0.6), 1.0, 1.0])
    cosine, sine = by_hand().exponential(h)
    for k, (a, b) in enumerate(((-900, 0), (-200, 700), (-200, -700))):
        size = exp(a * h)
        assert abs(cosine.mid[0, k] - size * cos(b * h)) < 1e-14 and cosine.rad[0, k] < 1e-13
        assert abs(sine.mid[0, k] - size * sin(b * h)) < 1e-14 and sine.rad[0, k] < 1e-13


def test_what_coordinates_miss_of_a_matrix():
    """|XA − ΛX| + |X| D, entry by entry."""
    f = by_hand()
    A = np.linalg.inv(f.X[0]) @ f.Λ[0] @ f.X[0]
    A[1, 0] += 0.7
    D = np.full((1, 4, 4), 0.01)
    D[0, 2, 1] = 0.3
    wanted = np.abs(f.X[0] @ A - f.Λ[0] @ f.X[0]) + np.abs(f.X[0]) @ D[0]
    found = f.defect(A[None], D)[0]
    assert (found >= wanted - 1e-11).all() and (found <= wanted + 1e-10).all()


def test_a_frame_of_a_matrix_with_a_lag_and_a_ring():
    """Fast modes stand alone; X⁻¹ is enclosed; coordinates of states of these sizes are about one."""
    T = np.array([[1.0, 0.3, 0.1, 0.2], [0.2, 1, 0.4, 0], [0, 0.1, 1, 0.3], [0.3, 0, 0.2, 1]])
    blocks = np.zeros((4, 4))
    blocks[0, 0], blocks[1, 1] = -3.0, -4e3
    blocks[2:, 2:] = [[-2e3, 7e3], [-7e3, -2e3]]
    A = (T @ blocks @ np.linalg.inv(T))[None]
    sizes = np.array([[2.0, 0.5, 1.5, 3.0]])
    f = framed(A, sizes, 1e-3)
    assert f.slow == 1 and np.sort(f.a[0]) == pytest.approx([-4e3, -2e3, -2e3])
    assert np.sort(f.b[0]) == pytest.approx([-7e3, 0.0, 7e3], abs=1e-6)
    assert (f.mate[0][f.mate[0]] == np.arange(3)).all() and (f.mate[0] != np.arange(3)).sum() == 2
    assert f.Λ[0, 0, 0] == pytest.approx(-3.0)
    assert f.X[0] @ A[0] == pytest.approx(f.Λ[0] @ f.X[0], abs=1e-8)
    own = np.abs(f.X[0]) @ sizes[0]
    alone = int(np.flatnonzero(f.b[0] == 0)[0])
    assert own[0] == pytest.approx(1.0) and own[1 + alone] == pytest.approx(1.0)
    assert max(own) == pytest.approx(1.0) and np.sum(np.isclose(own, 1.0)) >= 3
    true = np.linalg.inv(f.X[0])
    assert (np.abs(f.T.mid[0] - true) <= f.T.rad[0] + 1e-14).all() and f.T.rad.max() < 1e-11
    assert stiff.propagator(f, 1e-3).mid[0] == pytest.approx(expm(A[0] * 1e-3), abs=1e-12)
    none = framed(A, sizes, 1e-5)
    assert none.slow == 4 and none.X[0] == pytest.approx(np.diag(1 / sizes[0]))
    only_ring = framed(A, sizes, 1e-3 / 5)
    assert only_ring.slow == 2
    shares = f.T.rad[0] / np.abs(f.T.mid[0]).sum(axis=1, keepdims=True)
    assert shares == pytest.approx(np.full((4, 4), shares[0, 0]), rel=1e-9)


def test_a_pair_is_not_split_where_another_row_has_more_fast_modes():
    """One row has one fast lag and a slow ring behind it, the other two fast lags: three coordinates are taken out of both."""
    ring, lags = np.diag([-4e3, 0.0, 0.0, -1.0]), np.diag([-5e3, -3e3, -2.0, -1.0])
    ring[1:3, 1:3] = [[-2.0, 70.0], [-70.0, -2.0]]
    f = framed(np.array([ring, lags]), np.ones((2, 4)), 1e-3)
    assert f.slow == 1
    assert f.X @ np.array([ring, lags]) == pytest.approx(f.Λ @ f.X, abs=1e-9)
    assert sorted(f.mate[0]) == [0, 1, 2] and f.mate[1].tolist() == [0, 1, 2]
    assert (f.mate[0] != np.arange(3)).sum() == 2


def test_a_state_that_never_moves_scales_no_coordinate():
    f = framed(np.diag([-1.0, -2.0])[None], np.array([[3.0, 0.0]]), 1e-3)
    assert f.X[0, 0, 0] == pytest.approx(1 / 3) and f.X[0, 1, 1] == pytest.approx(
        1 / 3e-24, rel=1e-6
    )
    wild = framed(np.diag([-1.0, -2.0])[None], np.array([[np.inf, 0.5]]), 1e-3)
    assert wild.X[0, 0, 0] == pytest.approx(1.0) and wild.X[0, 1, 1] == pytest.approx(2.0)


def test_rounding_of_every_mode_is_in_the_propagator():
    one = np.eye(2)[None]
    lags = np.array([[-900.0, -400.0]])
    f = Frame(one, Balls.exact(one), lags[:, :, None] * one, 0, lags, 0 * lags, np.array([[0, 1]]))
    Φ = stiff.propagator(f, 2e-3)
    cosine, _ = f.exponential(2e-3)
    assert Φ.mid[0] == pytest.approx(np.diag([exp(-1.8), exp(-0.8)]), rel=1e-12)
    assert (np.diag(Φ.rad[0]) >= cosine.rad[0]).all() and (cosine.rad[0] > 0).all()
    assert np.diag(Φ.rad[0])[1] > 10 * max(Φ.rad[0, 1, 0], Φ.rad[0, 0, 1])


# ---- polynomials and what grows over a step ---------------------------------------------------------------------------------
def spans(found, low, high):
    return bool(found.lo <= low and high <= found.hi and found.hi - found.lo < high - low + 1e-12)


def test_polynomials_over_a_step():
    """Taylor coefficients of 2 − 3s + 5s² − 7s³ over [0, h] and at h."""
    h = 0.5
    path = np.array([2.0, -3.0, 5.0, -7.0])[None, :, None]
    (value,), (rate,), (bent,) = (stiff.along(path, h, k) for k in (0, 1, 2))
    assert value.lo[0] <= 2 - 1.5 + 1.25 - 0.875 <= value.hi[0]
    assert spans(Interval(bent.lo[0], bent.hi[0]), 5 - 21 * h, 5)
    assert rate.lo[0] <= -3 <= rate.hi[0] and rate.lo[0] <= -3 + 10 * h - 21 * h * h <= rate.hi[0]
    assert spans(Interval(rate.lo[0], rate.hi[0]), -3 - 0.5 * h, -3 + 10 * h)
    end = stiff.value(path[:, :, 0], stiff.about(h))
    assert spans(Interval(end.lo[0], end.hi[0]), 0.875, 0.875)
    terms = [Interval(np.array([c])) for c in (2.0, -3.0, 5.0, -7.0)]
    again = steps.polynomial(terms, h)
    assert spans(Interval(again.lo[0], again.hi[0]), 0.875, 0.875)
    assert stiff.about(h).lo <= h * (1 - 5e-16) and stiff.about(h).hi >= h * (1 + 5e-16)
    assert stiff.nth(Series(terms), 2) is terms[2] and stiff.nth(Series(terms), 4).hi == 0.0


def test_the_exponential_and_what_bounds_it():
    """Φ = e^{Ah}; Q = e^{|A|h} E; the first term that is left out, N^{m+1}E/m!."""
    A, E, h = np.array([[-2.0, 1.5], [0.7, -1.0]]), np.array([0.3, 0.8]), 0.4
    Φ, Q, cut = steps.exponential(A[None], E[None], h)
    assert Φ[0] == pytest.approx(expm(A * h), abs=1e-11)
    assert Q[0] == pytest.approx(expm(np.abs(A) * h) @ E, rel=1e-11)
    N = h * np.abs(A)
    factorial = float(np.prod(np.arange(1.0, steps.TERMS + 1)))
    assert cut[0] == pytest.approx(np.linalg.matrix_power(N, steps.TERMS + 1) @ E / factorial)


@pytest.mark.parametrize("end, P", [(9.0, None), (0.2, 0.3)])
def test_what_a_step_adds_where_the_slopes_are_not_known_exactly(end, P):
    """|r| = (h D P + t)/(1 − h(|a| + D)) for one state, P = max(E, end) + (h a)² Q/8 or Q, whichever is less."""
    a, D, E, h, t = -2.0, 0.5, 0.3, 0.1, 1e-3
    Q = E * exp(0.2)
    most = Q if P is None else P + 0.04 * Q / 8
    one = lambda v: np.array([[v]])
    found = steps.deviation(one(end), one(a)[None], one(D)[None], one(Q), one(t), one(E), h)
    direct = h * D * most + t
    exact = direct / (1 - h * 2.5)
    assert exact <= found[0, 0] < exact * 1.002
    assert found[0, 0] > direct * (1 + h * 2.5)
    lost = steps.deviation(one(end), one(-30.0)[None], one(D)[None], one(Q), one(t), one(E), h)
    assert lost[0, 0] == np.inf
    wild = steps.deviation(one(end), one(a)[None], one(np.inf)[None], one(Q), one(t), one(E), h)
    assert wild[0, 0] == np.inf


def test_boxes_that_are_widened_met_and_cut():
    b = Interval(np.array([1.0]), np.array([5.0]))
    wide = steps.widened(b, 0.25)
    assert wide.lo[0] == pytest.approx(0.0, abs=1e-11) and wide.hi[0] == pytest.approx(6.0)
    assert wide.lo[0] < 0.0 and wide.hi[0] > 6.0
    both = steps.common(b, Interval(np.array([2.0]), np.array([7.0])))
    assert (both.lo[0], both.hi[0]) == (2.0, 5.0)
    free = Interval(np.array([-np.inf]), np.array([np.inf]))
    yes, no = np.array([True]), np.array([False])
    assert steps.within(free, b, yes).hi[0] == 5.0 and steps.within(free, b, no).hi[0] == np.inf
    assert steps.within(b, Interval(np.zeros(1), np.ones(1)), yes).lo[0] == 1.0
    reach = np.array([[0.5, 2.0]])
    centre = [Interval(np.array([1.0])), Interval(np.array([-3.0]))]
    first, second = steps.around(centre, reach)
    assert (first.lo[0], first.hi[0]) == pytest.approx((0.5, 1.5))
    assert (second.lo[0], second.hi[0]) == pytest.approx((-5.0, -1.0))
    sides = np.array([[0.8, -np.inf]]), np.array([[np.inf, -2.5]])
    first, second = steps.around(centre, reach, sides)
    assert (first.lo[0], first.hi[0]) == pytest.approx((0.8, 1.5))
    assert (second.lo[0], second.hi[0]) == pytest.approx((-5.0, -2.5))


def test_what_runs_have_seen_and_where_they_are_held():
    reaches = np.array([[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]])
    free = np.full((1, 2), np.inf)
    runs = Runs([Interval(np.zeros(1)), Interval(np.zeros(1))], reaches, (-free, free))
    assert runs.reach.tolist() == [[0.1, 0.2]] and runs.beyond.tolist() == [[0.3, 0.4]]
    runs.take(["a", "b"], np.eye(2), np.array([0.7, 0.8]))
    assert runs.centre == ["a", "b"] and runs.errors[0].tolist() == [0.7, 0.8]
    assert runs.reach.tolist() == [[0.3, 0.4]] and runs.beyond.tolist() == [[0.5, 0.6]]
    box = lambda *ends: [Interval(np.array([a]), np.array([b])) for a, b in ends]
    runs.seen(box((-1.0, 2.0), (3.0, 4.0)))
    runs.seen(box((-2.0, 1.0), (3.5, 6.0)))
    assert runs.low.tolist() == [[-2.0, 3.0]] and runs.high.tolist() == [[2.0, 6.0]]
    runs.cut(box((-1.0, 2.0), (3.0, 4.0)), np.array([False, True]))
    assert runs.sides[0].tolist() == [[-np.inf, 3.0]] and runs.sides[1].tolist() == [[np.inf, 4.0]]
    runs.cut(box((0.0, 0.0), (5.0, 6.0)), np.array([False, True]))
    assert runs.sides[0].tolist() == [[-np.inf, 5.0]] and runs.sides[1].tolist() == [[np.inf, 5.0]]


# ---- stiff steps -------------------------------------------------------------------------------------------------------------
def test_the_largest_of_a_node_is_that_of_all_its_rows():
    bounds = np.array([[1.0, 9.0], [3.0, 2.0], [5.0, 4.0]])
    beside = np.array([0, 1, 0])
    assert stiff.gathered(bounds, beside).tolist() == [[5.0, 9.0], [3.0, 2.0], [5.0, 9.0]]
    turned = stiff.turned(by_hand(), [Interval(np.array([v])) for v in (1.0, -2.0, 3.0, 0.5)])
    assert above(turned[0], np.abs(by_hand().X[0] @ [1.0, -2.0, 3.0, 0.5]), 1e-9)
    lost = stiff.turned(by_hand(), [Interval(np.array([v])) for v in (1.0, np.nan, 3.0, 0.5)])
    assert (lost == np.inf).all()


def alone(μ, slow):
    """One coordinate that is its state, fast or slow."""
    one = np.ones((1, 1, 1))
    none = np.zeros((1, 1 - slow))
    return Frame(one, Balls.exact(one), μ * one, slow, none + μ, none, none.astype(int))


@pytest.mark.parametrize("slow", [0, 1])
@pytest.mark.parametrize("μ, φ", [(-4e3, 1 / 4e3), (-100.0, 1e-3), (200.0, 1e-3 * exp(0.2))])
def test_what_drives_a_coordinate_over_a_step(μ, φ, slow):
    """ζ = φ (F P + t + r)/(1 − φ F): the smallest bound that reproduces itself; none where φ F ≥ 1."""
    one = lambda v: np.array([[v]])
    F, P, late, forced = 90.0, 0.3, 2.0, 5.0
    found = stiff.remainder(
        alone(μ, slow), one(F)[None], Nominal(one(P), one(0.0), one(late)), one(forced), 1e-3
    )
    exact = φ * (F * P + late + forced) / (1 - φ * F)
    assert exact <= found[0, 0] < exact * 1.003
    far = stiff.remainder(
        alone(μ, slow), one(5e3)[None], Nominal(one(P), one(0.0), one(late)), one(forced), 1e-3
    )
    assert far[0, 0] == np.inf


def test_where_a_known_start_is_over_a_step():
    """Slow part at both ends with its bend, N²Q/8; fast columns times what a fast mode has at first."""
    f = by_hand()
    h = 2e-3
    e = np.array([0.5, -0.2, 0.3, 0.1])
    found = stiff.known_start(f, Balls.exact(e[None, :, None]), h)
    W = np.abs(f.X[0] @ e)
    T = np.abs(f.T.mid[0]) + 1e-3
    joined = np.array([W[1], hypot(W[2], W[3]), hypot(W[2], W[3])])
    half = 0.5 * np.hypot(T[:, 2], T[:, 3])
    fast = np.column_stack([T[:, 1], half, half]) @ joined
    # |X⁻¹_s| ± 1e-3 of the slow column, at first and e^{−3h} later: the first is larger
    slowest = np.abs(f.T.mid[0][:, 0] * (f.X[0, 0] @ e)) + 1e-3 * (np.abs(f.X[0, 0]) @ np.abs(e))
    bent = T[:, 0] * (3 * h) ** 2 * W[0] * exp(3 * h) / 8
    assert found.P[0] == pytest.approx(slowest + bent + fast, rel=1e-9)
    assert found.lost[0] == pytest.approx([steps.ROUNDED * W[0] * exp(3 * h), 0, 0, 0], rel=1e-6)
    assert (found.truncated[0, 1:] < 1e-280).all() and 0 < found.truncated[0, 0] < 1e-30


@pytest.mark.parametrize("share", [1.0, 1e-3])
@pytest.mark.parametrize("grows", [0.0, 300.0])
def test_where_a_whole_set_is_over_a_step(share, grows):
    """No farther than |X⁻¹_s||X_s| E, nor than E and its end with what the fast part is seen as."""
    f = by_hand(a=(grows or -900.0, -200.0, -200.0))
    h = 2e-3
    E, beyond = np.array([[0.5, 0.2, 0.3, 0.1]]), np.array([[0.4, 0.02, 0.03, 0.01]])
    E, beyond = E * [1.0, share, share, share], beyond * share
    found = stiff.reaching(f, E, beyond, h)
    W = np.abs(f.X[0]) @ E[0]
    T = np.abs(f.T.mid[0]) + 1e-3
    half = 0.5 * np.hypot(T[:, 2], T[:, 3])
    pair = hypot(W[2], W[3])
    fast = np.column_stack([T[:, 1], half, half]) @ np.array([W[1] * exp(grows * h), pair, pair])
    first = T[:, 0] * W[0]
    begin = np.minimum(first, E[0] + fast)
    end = np.minimum(first * exp(-3 * h), beyond[0] + fast)
    bent = T[:, 0] * (3 * h) ** 2 * W[0] * exp(3 * h) / 8
    assert found.P[0] == pytest.approx(np.maximum(begin, end) + bent + fast, rel=1e-9)
