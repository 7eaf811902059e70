"""Sets of deviations from sample to sample: points inside stay inside, whatever was moved, merged or measured."""

from dataclasses import replace

import numpy as np
import pytest

from tests.test_tube import ASKED, asked, loop
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker import zonotope
from workbench.verification.tube.checker.judge import followed, judge
from workbench.verification.tube.checker.samples import Rows, united, walked
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.checker.zonotope import Deviations, enclosed
from workbench.verification.tube.search import samples

MOVES = 40


def moved(monkeypatch, most: int) -> tuple[Deviations, np.ndarray]:
    """A set after some maps, merged now and then, and points that went through maps within what these are off by."""
    monkeypatch.setattr(zonotope, "MOST", most)
    rng = np.random.default_rng(5)
    Z = Deviations.box(np.array([[1.0], [0.5], [-0.2]]), np.array([0.1, 0.0, 0.05]))
    Z.B = np.diag([0.2, 0.1, 0.3])
    many = 600
    u = rng.normal(size=(3, many))
    u /= np.linalg.norm(u, axis=0)
    e = Z.G @ rng.choice([-1.0, 1.0], (Z.G.shape[1], many)) + Z.B @ u
    for _ in range(MOVES):
        M = 0.9 * np.linalg.qr(rng.normal(size=(3, 3)))[0] + 0.05 * rng.normal(size=(3, 3))
        off = np.full((3, 3), 0.01)
        added = np.array([0.02, 0.0, 0.01])
        push = rng.choice([-1.0, 1.0], (3, many))
        e = np.stack([(M + off * rng.choice([-1, 1], (3, 3))) @ x for x in e.T], axis=1)
        e = e + added[:, None] * push
        Z.merged()
        Z.moved(M, off, added)
    return Z, e


@pytest.mark.parametrize("most", (12, 1000))
def test_points_that_were_inside_are_inside_after_maps_and_merging(monkeypatch, most):
    Z, e = moved(monkeypatch, most)
    L = np.random.default_rng(6).normal(size=(50, 3))
    seen = np.abs(L @ e).max(axis=1)
    bound = Z.along(L, np.zeros_like(L))
    assert (seen <= bound).all() and (np.abs(e).max(axis=1) <= Z.reach).all()
    X = np.diag([1.0, 2.0, 0.5])
    ball, straight = Z.measured(X)
    assert np.linalg.norm(X @ e, axis=0).max() <= ball + straight
    assert (Z.G.shape[1] <= 30) == (most == 12)


def test_of_linear_maps_alone_the_reach_is_the_exact_one(monkeypatch):
    """Segments and ball turned many times: as wide as the corners that are farthest, no wrapping."""
    angle = 0.3
    M = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    Z = Deviations.box(np.diag([2.0, 0.5]), np.zeros(2))
    whole = np.eye(2)
    for _ in range(200):
        Z.moved(M, np.zeros((2, 2)), np.zeros(2))
        whole = M @ whole
    assert Z.reach == pytest.approx(np.abs(whole) @ [2.0, 0.5], rel=1e-9)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("tube") / "sets.npz")
    assert asked(loop(), replace(ASKED, certificate=path)).holds
    return files.load(path)


def test_every_stage_and_state_is_held_to_its_reach(certificate):
    """Any reach that moves, taken below what is needed, is refused at its sample."""
    c = certificate
    need = judge(c).need
    rng = np.random.default_rng(2)
    moving = np.argwhere(need > 1e-12)
    for k, s, i in moving[rng.choice(len(moving), 6, replace=False)]:
        reach = c.reach.copy()
        reach[k, s, i] = 0.999 * need[k, s, i]
        with pytest.raises(Refused, match="sample"):
            judge(replace(c, reach=reach))


def test_every_set_is_held_to_its_segments(certificate):
    """The ball beside the starts' segments, or these, taken below what is needed, is refused at its sample."""
    c = certificate
    share = judge(c).share
    rng = np.random.default_rng(3)
    for k in rng.choice(np.flatnonzero(share > 0.5), 6, replace=False):
        balls = c.balls.copy()
        balls[k] *= 0.999 * share[k]
        with pytest.raises(Refused, match=f"sample {k}"):
            judge(replace(c, balls=balls))
        segments = c.segments.copy()
        segments[k] *= 0.5
        if segments[k].any():
            with pytest.raises(Refused, match=f"sample {k}"):
                judge(replace(c, segments=segments))


def test_a_set_is_within_segments_and_a_ball_to_its_share():
    """Points of a set beside the segments of the certificate: what is left fits into the ball, and not into much less of it."""
    rng = np.random.default_rng(4)
    G, ball = rng.normal(size=(3, 2)), rng.normal(size=(3, 3))
    small = 1e-3 * rng.normal(size=(3, 12))
    Z = Deviations(np.hstack([G + 0.01, small]), 2, 0.02 * rng.normal(size=(3, 3)))
    X = np.linalg.inv(ball)
    share = Z.within(G, ball, X)
    most = 0.0
    for _ in range(2000):
        ζ, u = rng.choice([-1.0, 1.0], 14), rng.normal(size=3)
        u /= np.linalg.norm(u)
        w = Z.G @ ζ + Z.B @ u - G @ ζ[:2]
        most = max(most, np.linalg.norm(np.linalg.solve(ball, w)))
    assert most <= share < 2 * most
    assert Z.within(G, 0 * ball, X) == np.inf  # not its inverse
    assert Z.within(0 * G, ball, X) > 10 * share


def test_the_longest_of_a_sum_of_segments_and_a_ball():
    """Of orthogonal segments as long as each other no more than the diagonal; of many points no farther, in any units."""
    assert zonotope.longest(np.eye(2), np.zeros((2, 2))) == pytest.approx(np.sqrt(2), rel=1e-9)
    assert zonotope.longest(np.zeros((2, 1)), np.diag([3.0, 1.0])) >= 3.0
    one = np.array([[3.0, 1.0], [4.0, 4.0 / 3.0]])  # both along the same line
    assert zonotope.longest(one, np.zeros((2, 2))) == pytest.approx(5.0 + 5.0 / 3.0, rel=1e-9)
    rng = np.random.default_rng(9)
    for many in (1, 4, 30):
        H, B = rng.normal(size=(3, many)), 0.3 * rng.normal(size=(3, 3))
        ζ = rng.choice([-1.0, 1.0], (many, 4000))
        u = rng.normal(size=(3, 4000))
        seen = np.linalg.norm(H @ ζ + B @ (u / np.linalg.norm(u, axis=0)), axis=0).max()
        assert seen <= zonotope.longest(H, B) < 2 * seen
    with np.errstate(all="ignore"):
        assert zonotope.longest(np.full((2, 2), np.inf), np.eye(2)) == np.inf


def test_a_matrix_that_is_wrong_is_seen_in_what_is_needed(certificate, monkeypatch):
    """Were a sample's matrix 5 % larger than it is the reaches would no longer do: they have little slack."""
    import workbench.verification.tube.checker.judge as judge_of

    def wrong(rows):
        found = united(rows)
        return replace(found, M=found.M * (1 + 0.05 * (found.node == 60))[:, None, None, None])

    assert followed(certificate).failed is None
    monkeypatch.setattr(judge_of, "united", wrong)
    assert followed(certificate).failed is not None


def test_a_lap_must_lead_back_into_its_ball(certificate):
    """The ball where laps begin, much too large: what is added grows with its square, or bounds are left."""
    for factor in (1e-3, 1e5):
        with pytest.raises(Refused):
            judge(replace(certificate, σ=factor * certificate.σ))


def test_both_sides_of_a_split_are_within_what_becomes_of_them(certificate):
    seen = followed(certificate)
    held = list(certificate.names).index("u_held")
    middle = (seen.low[:, held] + seen.high[:, held]) / 2
    cut = [(float(k), float(held), middle[k]) for k in (5, 40)]
    c = replace(certificate, splits=np.array(cut))
    for rows in walked(c, np.array([5, 6, 40])):
        assert len(rows.node) == 5
        ones = united(rows)
        for r, k in enumerate(ones.node):
            for own in np.flatnonzero(rows.node == k):
                assert (np.abs(rows.M[own] - ones.M[r]) <= ones.off[r]).all()
                assert (rows.error[own] <= ones.error[r]).all()


def test_the_mean_of_several_sides_is_as_far_off_as_the_farthest_of_them():
    M = np.array([0.0, 1.0, 5.0, 1.0])[:, None, None, None]
    off = np.array([0.1, 0.0, 0.2, 0.0])[:, None, None, None]
    each = np.arange(4.0)[:, None, None]
    rows = Rows(np.full(4, 7), M, off, each, each[..., 0], each, each, each)
    one = united(rows)
    assert one.node == [7] and (np.abs(M - one.M) + off <= one.off).all()
    assert (one.error, one.defect, one.low, one.high) == (3.0, 3.0, 0.0, 3.0)


def missed(c):
    """How far a sample's end is from the middle of its enclosure, at most, (nodes, states)."""
    rows = samples(c)
    found = np.zeros_like(c.z)
    np.maximum.at(found, rows.node, rows.defect - np.abs(rows.centre - c.z[c.after[rows.node]]))
    return found


def test_finer_steps_from_some_nodes_hold_them_and_leave_the_others_as_they_are(certificate):
    """Their samples end where they did, and less is added to them; a fault in one of the finer steps is seen."""
    c = replace(certificate, finer=np.ones_like(certificate.finer))
    widest = 1.1 * certificate.reach.max(axis=1, keepdims=True)
    c = replace(c, reach=np.repeat(widest, c.stages + 1, axis=1))
    before = followed(c)
    finer = np.where(np.arange(len(c.z)) % 7 == 3, 3, 1)
    fine = replace(c, finer=finer)
    reach = np.repeat(widest, fine.stages + 1, axis=1)
    seen = followed(replace(fine, reach=reach))
    own = finer > 1
    assert seen.failed is None and np.isfinite(seen.need).all()
    its_own = 1e-11  # what the steps of the run miss, however it is enclosed
    assert (seen.defect[own] <= before.defect[own] + its_own).all()
    less = missed(replace(fine, reach=reach))[own]
    assert (np.median(less, axis=0) < 0.1 * np.median(missed(c)[own], axis=0))[:2].all()
    assert (seen.need[~own, -1] == seen.need[~own, c.stages]).all()
    assert (seen.need[own, -1] != seen.need[own, c.stages]).any()
    reach[np.argmax(own), -2] = 0.5 * seen.need[np.argmax(own), -2]
    assert followed(replace(fine, reach=reach)).failed == np.argmax(own)


def test_segments_along_their_axes_reach_as_far_as_those_that_they_stand_for():
    """In every direction, also of flat sets; with any of them left out, or axes a little too short, not in all."""
    rng = np.random.default_rng(8)
    L = rng.normal(size=(400, 3))
    for flat in (1.0, 1e-9):
        H = np.diag([1.0, 3.0, 1e4]) @ rng.normal(size=(3, 3)) @ np.diag([1.0, 1.0, flat])
        H = np.linalg.qr(H)[0] @ np.diag([2.0, 1.0, flat])
        V, lost = enclosed(H)
        made = np.abs(L @ V).sum(axis=1) + np.abs(L @ lost).sum(axis=1)
        seen = np.abs(L @ H).sum(axis=1)
        assert (seen <= made).all() and lost.max() < 1e-9
        assert (seen > 0.99 * made).any()


def test_an_older_format_is_refused_in_words(certificate, tmp_path, capsys):
    arrays = certificate.arrays()
    path = tmp_path / "older.npz"
    np.savez(path, **{**arrays, "format": np.array("tube-certificate-7")})
    assert files.main(str(path)) == 3
    assert "format tube-certificate-7, expected tube-certificate-8" in capsys.readouterr().err
