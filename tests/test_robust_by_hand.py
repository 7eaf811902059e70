"""How a box of parameters is covered: families whose matrices are written down, halved where and in which direction it is known."""

import re

import numpy as np
import pytest

from workbench.verification.linear import robust as module
from workbench.verification.linear.data_margin import NEUTRAL
from workbench.verification.linear.robust import (
    _borne,
    _cover,
    _direction,
    _frozen,
    _limits,
    _refuted,
    _source,
    _varying,
    edge,
    robust_stability,
)
from workbench.verification.rigorous.balls import Ball
from workbench.verification.verdict import Verdict


class Family:
    """Matrices A(θ), enclosed on a box by their middle and how far corners are off; θ = (a, b)."""

    names = ("a", "b")

    def __init__(self, matrix, T=None, affine=False, rad=0.0, slopes=True):
        self.matrix, self.T, self.affine, self.rad, self.slopes = matrix, T, affine, rad, slopes
        self.covered = []

    def at(self, θ):
        M = np.array(self.matrix(*θ), float)
        return Ball(M, np.where(np.isfinite(M), self.rad, np.inf))

    def cover(self, low, high):
        self.covered.append((low.tolist(), high.tolist()))
        middle = self.at((low + high) / 2)
        vary = np.flatnonzero(high > low)
        r = (high - low)[vary] / 2
        slopes = []
        for k in vary:
            off = np.zeros(2)
            off[k] = 1e-3
            up, down = self.at((low + high) / 2 + off), self.at((low + high) / 2 - off)
            slopes.append(Ball.of((up.mid - down.mid) / 2e-3))
        return (middle, slopes, r) if self.slopes else (middle, [], r[:0])


def decaying(a, b):
    """Stable where a > 0: 0 at a = 0."""
    return [[-a, b], [0.0, -3.0]]


BOX = np.array([1.0, -2.0]), np.array([3.0, 2.0])


# ---- halving -----------------------------------------------------------------------------------------------------------
def narrow(most):
    """What is proved of balls that are off by no more than this in their first entry."""
    return lambda balls: np.ptp([M.mid[0, 0] for M in balls]) <= most


def test_a_box_is_halved_until_every_part_is_proved():
    """Only a moves the matrix: four quarters of 1 … 3, the lower ones first; b is never halved."""
    family = Family(lambda a, b: [[-a, 0.0], [0.0, -3.0]])
    seen = []
    done, used, left = _cover(
        family, *BOX, narrow(0.5), 100, lambda share, words: seen.append((share, words))
    )
    assert (done, used, left) == (True, 7, None)
    boxes = [(low[0], high[0]) for low, high in family.covered]
    assert boxes == [(1, 3), (1, 2), (1, 1.5), (1.5, 2), (2, 3), (2, 2.5), (2.5, 3)]
    assert all((low[1], high[1]) == (-2, 2) for low, high in family.covered)
    assert [share for share, _ in seen] == [0.25, 0.5, 0.75, 1.0]
    assert seen[0][1] == "3 sub-boxes" and seen[-1][1] == "7 sub-boxes"


@pytest.mark.parametrize("budget, used, done", [(7, 7, True), (6, 6, False), (0, 0, False)])
def test_a_box_is_left_where_the_budget_ends(budget, used, done):
    family = Family(lambda a, b: [[-a, 0.0], [0.0, -3.0]])
    found = _cover(family, *BOX, narrow(0.5), budget, None)
    assert found[:2] == (done, used)
    if budget == 6:
        assert [v[0] for v in found[2]] == [2.5, 3.0]


def test_a_part_that_is_refuted_or_cannot_be_halved_is_left():
    """Unstable at a = 1.5, in the middle of the first half; a point, and what is as narrow as 1e-7 of the whole, are not halved."""
    bump = Family(lambda a, b: [[1.0 if 1.4 < a < 1.6 else -a, 0.0], [0.0, -3.0]])
    done, used, left = _cover(bump, *BOX, lambda balls: False, 100, None)
    assert not done and [v[0] for v in left] == [1.0, 2.0] and used == 2
    point = np.array([1.0, 0.0])
    assert _cover(Family(decaying), point, point, lambda balls: False, 100, None)[:2] == (False, 1)
    family = Family(lambda a, b: [[-a, 0.0], [0.0, -3.0]])
    done, used, left = _cover(family, *BOX, lambda balls: False, 100, None)
    width = left[1][0] - left[0][0]
    assert not done and used == 25 and 2 * 2.0**-24 == pytest.approx(width)


def direction(D, r, a=BOX[0], b=BOX[1], M=None, width=(2.0, 4.0)):
    M = Ball.of(np.diag([-1.0, -2.0]) if M is None else M)
    return _direction(
        M, [Ball.of(np.array(d, float)) for d in D], np.array(r), a, b, np.array(width)
    )


def test_what_moves_the_matrix_most_is_halved():
    small, large = [[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, -3.0]]
    assert direction([small, large], [1.0, 1.0]) == 1
    assert direction([small, large], [1.0, 0.3]) == 0
    fixed = np.array([1.0, 0.0]), np.array([1.0, 4.0])
    assert direction([large], [1.0], *fixed) == 1, "a does not vary"
    unbounded = Ball(np.eye(2), np.full((2, 2), np.inf))
    assert (
        _direction(Ball.of(np.eye(2)), [unbounded] * 2, np.ones(2), *BOX, np.array([2.0, 8.0])) == 0
    )
    assert direction([], [], width=(2.0, 8.0)) == 0 and direction([], [], width=(8.0, 4.0)) == 1
    assert direction([small, large], [1.0, 1.0], M=np.full((2, 2), np.nan), width=(2.0, 8.0)) == 0


def test_moves_are_compared_in_balanced_coordinates():
    """States in units a million apart: an entry of 50 beside 1e6 is nothing beside 1e-5 next to 1e-6."""
    M = np.array([[-1.0, 1e6], [1e-6, -2.0]])
    first, second = [[0.0, 50.0], [0.0, 0.0]], [[0.0, 0.0], [1e-5, 0.0]]
    assert direction([first, second], [1.0, 1.0], M=M) == 1


# ---- what is refuted ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "a, T, rad, found",
    [
        (-0.1, None, 0.0, True),
        (0.1, None, 0.0, False),
        (-0.1, None, 0.001, True),
        (-0.1, None, 0.02, False),
        (-0.1, None, np.inf, False),
        (-1.05, 0.1, 0.0, True),
        (-0.95, 0.1, 0.0, False),
    ],
)
def test_a_point_is_refuted_by_far_more_than_its_enclosure(a, T, rad, found):
    """Ten times |rad| of four entries, 2 rad, is 0.02 of 0.1, or 0.4."""
    family = Family(lambda a, b: [[-a, 0.0], [0.0, -3.0 if T is None else 0.5]], T, rad=rad)
    verdict = _refuted(family, np.array([a, 7.0]), "key", "claim")
    assert (verdict is not None) is found
    if found:
        assert verdict.holds is False and verdict.unit == ("1/s" if T is None else "1")
        assert f"unstable at a = {a:g}, b = 7" in verdict.worst and verdict.data["θ"] == [a, 7.0]
        assert verdict.margin == pytest.approx(-0.1 if T is None else -0.05)


# ---- one matrix for all, or one for each -------------------------------------------------------------------------------
def test_a_common_matrix_of_corners_and_centre(monkeypatch):
    asked = []
    monkeypatch.setattr(
        module, "common_matrix", lambda matrices, T: asked.append(matrices) or np.eye(2)
    )
    falls = []
    monkeypatch.setattr(module, "_falls", lambda M, P, T, change: falls.append(M) or True)
    corners = [np.array(θ) for θ in ((1.0, -2.0), (3.0, 2.0))]
    family = Family(decaying, affine=True)
    found = _varying(family, *BOX, corners, 10, None, 0.0)
    assert found[:3] == (True, 0, None) and len(falls) == 2 and not family.covered
    assert [M[0, 0] for M in asked[0]] == [-1.0, -3.0, -2.0]
    assert _varying(Family(decaying), *BOX, corners, 10, None, 0.0)[:2] == (True, 1)
    assert _varying(Family(decaying, affine=True), *BOX, [], 10, None, 0.0)[:2] == (True, 1)
    monkeypatch.setattr(module, "common_matrix", lambda matrices, T: None)
    assert _varying(family, *BOX, corners, 10, None, 0.0) == (False, 0, None, None)
    broken = Family(lambda a, b: [[np.nan if a > 2 else -a, 0.0], [0.0, -3.0]])
    assert _varying(broken, *BOX, corners, 10, None, 0.0) == (False, 0, None, None)


@pytest.mark.parametrize(
    "T, matrix, margin",
    [(None, [[-3.0, 0.0], [0.0, -1.0]], 1.0), (0.1, [[-0.6, 0.0], [0.0, 0.2]], 0.4)],
)
def test_a_matrix_of_each_part_is_asked_for_half_its_margin(monkeypatch, T, matrix, margin):
    asked = []

    def lyapunov(centre, T, rate):
        asked.append((centre.tolist(), rate))
        return np.eye(2)

    monkeypatch.setattr(module, "lyapunov_matrix", lyapunov)
    monkeypatch.setattr(module, "_falls", lambda M, P, T, change: True)
    family = Family(lambda a, b: matrix, T)
    assert _frozen(family, *BOX, [], 10, None, 0.0) == (True, 1, None, None)
    assert asked == [(matrix, pytest.approx(margin / 2))]
    monkeypatch.setattr(module, "_falls", lambda M, P, T, change: False)
    assert _frozen(family, *BOX, [], 3, None, 0.0)[0] is False


def test_an_unstable_or_unknown_centre_is_not_proved(monkeypatch):
    monkeypatch.setattr(module, "lyapunov_matrix", lambda *given: pytest.fail("asked"))
    for matrix in ([[0.0, 0.0], [0.0, -1.0]], [[np.nan, 0.0], [0.0, -1.0]]):
        assert _frozen(Family(lambda a, b, M=matrix: M), *BOX, [], 3, None, 0.0)[0] is False


# ---- all of it ---------------------------------------------------------------------------------------------------------
def test_a_box_that_is_stable_everywhere_and_what_its_proof_bears(monkeypatch):
    limits = [(1.0, 3.0), (-0.1, 0.1)]
    monkeypatch.setattr(module, "common_matrix", lambda matrices, T: np.diag([0.5, 0.2]))
    for mode, affine in (("frozen", False), ("varying", True)):
        found = robust_stability(
            Family(decaying, affine=affine), limits, mode, changes=(1e-6, 1e-3)
        )
        assert found.holds is True and found.margin == 1e-3 and found.key == f"robust-{mode}"
        assert found.data["boxes"] == (0 if affine else found.data["boxes"]) and found.data[
            "box"
        ] == [[1, 3], [-0.1, 0.1]]
        assert (found.data["P"] is None) is (mode == "frozen")
        assert ("4 vertices" in found.worst) is affine
        assert len(found.assumptions) == (1 if mode == "frozen" else 0)


def test_an_unstable_corner_or_middle_is_a_violation():
    for limits in ([(-0.5, 3.0), (0.0, 0.0)], [(1.0, 3.0), (0.0, 0.0)]):
        middle = Family(lambda a, b: [[1.0 if a == 2.0 else -a, b], [0.0, -3.0]])
        found = robust_stability(middle, limits)
        assert found.holds is False and found.strength == "numerical"


def test_what_is_left_is_named(monkeypatch):
    """Stable at every a, and no P falls at all of them."""
    turned = Family(lambda a, b: [[-0.1, 10.0 * a], [-10.0 / a, -0.1]])
    limits = [(0.1, 10.0), (0.5, 0.5)]
    monkeypatch.setattr(module, "common_matrix", lambda matrices, T: np.eye(2))
    found = robust_stability(turned, limits, "varying", budget=1)
    assert (
        found.holds is None
        and found.strength is None
        and found.data == {"box": [[0.1, 10], [0.5, 0.5]]}
    )
    assert re.match(
        r"left: a ∈ \[[\d.]+, [\d.]+\], b ∈ \[0.5, 0.5\]; 1 sub-boxes tried", found.worst
    )
    monkeypatch.setattr(module, "common_matrix", lambda matrices, T: None)
    found = robust_stability(turned, limits, "varying")
    assert found.holds is None and found.worst == "no common P found; 0 sub-boxes tried"


def test_changes_are_tried_in_order_up_to_the_first_that_is_not_borne():
    tried = []
    proved = lambda more: tried.append(more) or more < 1e-5
    assert _borne(proved, (1e-9, 1e-6, 1e-4, 1e-2)) == 1e-6 and tried == [1e-9, 1e-6, 1e-4]
    assert _borne(proved, ()) == NEUTRAL and _borne(proved, (1.0,)) == NEUTRAL


def test_what_proves_it_in_words():
    assert "vertices" in _source("varying", 0)
    assert _source("varying", 5).startswith("a common xᵀPx, 5")
    assert _source("frozen", 5).startswith("xᵀPx per sub-box, 5")


@pytest.mark.parametrize(
    "limits", [[(1, 2)], [(2, 1), (0, 1)], [(0, np.inf), (0, 1)], [(0, 1)] * 3]
)
def test_boxes_that_are_none(limits):
    with pytest.raises(ValueError, match="box"):
        _limits(Family(decaying), limits)
    assert _limits(Family(decaying), [(1, 1), (-2, 3)]) == [(1.0, 1.0), (-2.0, 3.0)]


@pytest.mark.parametrize(
    "to, rounds, most, good, bad, asked",
    [
        (5.0, 6, 1024.0, 5.0, 5.5, [1, 2, 4, 8, 6, 5]),
        (0.3, 4, 1024.0, 0.25, 0.375, [1, 0.5, 0.25, 0.375]),
        (1e9, 12, 6.0, 6.0, None, [1, 2, 4, 6]),
        (1e9, 2, 1024.0, 2.0, None, [1, 2]),
    ],
)
def test_the_edge_of_what_is_proved_is_doubled_to_and_halved(
    monkeypatch, to, rounds, most, good, bad, asked
):
    """Boxes (1, 2) ± s (0.5, 3); signs of the halves do not matter."""
    seen = []

    def robust(family, limits, mode, budget, progress, what, changes):
        (a, b), (c, d) = limits
        s = b - a
        assert (a + b, c + d) == pytest.approx((2, 4)) and d - c == pytest.approx(6 * s)
        seen.append(s)
        return Verdict(
            "k", "c", True if s <= to else None, "proof" if s <= to else None, worst=f"{s:g}"
        )

    monkeypatch.setattr(module, "robust_stability", robust)
    found = edge(None, (1.0, 2.0), (0.5, -3.0), rounds=rounds, most=most)
    assert found[0] == pytest.approx(good) and seen == pytest.approx([0, *asked])
    assert found[1] is None if bad is None else found[1] == pytest.approx(6.0 if to == 5.0 else bad)
    assert float(found[2].worst) == pytest.approx(good)


def test_an_edge_of_what_is_not_proved_at_all(monkeypatch):
    no = Verdict("k", "c", None, None, worst="no")
    monkeypatch.setattr(module, "robust_stability", lambda *given: no)
    assert edge(None, (1.0,), (1.0,)) == (0.0, 0.0, no)
