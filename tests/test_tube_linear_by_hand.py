"""The checker on a linear loop written down: what products of matrices give, stage by stage, lap by lap, to the last place."""

import numpy as np
import pytest
from linear_tube import (
    FIRST,
    FRESH,
    HALF,
    JUMP,
    LAG,
    NOTHING,
    RELEASE,
    SECTION,
    SLACK,
    X0,
    T,
    affine,
    box,
    course,
    driven,
    flowing,
    nodes,
    tube,
    whole,
)

from workbench.verification.tube.checker.judge import followed
from workbench.verification.tube.checker.samples import begun, rows_of
from workbench.verification.tube.search import samples

TOLERANCE = 1e-8  # relative, of what is rounded outward a few hundred times


# ---- samples --------------------------------------------------------------------------------------------------------------
def test_where_starts_are():
    found = begun(tube())
    assert found.kept == 3 and found.G[:, :3] == pytest.approx(FIRST)
    assert np.abs(found.G[:, 3:]).max() < 1e-12 and not found.B.any()
    assert not found.G[3, 3:].any()  # what is constant starts where it is
    off = np.array([0.01, 0.0, -0.02, 0.0])
    beside = begun(tube(z=nodes() - off)).G[:, 3:]
    assert np.diag(beside) == pytest.approx(np.abs(off), abs=1e-12)
    (later,) = begun(tube(z=nodes() - np.array([0.0, 0.0, 0.0, 0.05]))).G[3:, 3:]
    assert later == pytest.approx([0.0, 0.0, 0.0, 0.05], abs=1e-12)


def test_the_matrices_of_every_stage_and_what_is_missed():
    """Nodes with fewer stages repeat their last one; what each sample misses is told at its end."""
    z = nodes()
    off = np.array([0.02, -0.3, 0.1, 0.0])
    z[2] += off
    rows = samples(tube(z=z))
    for k in (0, 1, 2):
        own = course(k, z[k])
        for s in range(9):
            M = own[min(s, len(own) - 1)][1][:, SECTION]
            assert rows.M[k, s] == pytest.approx(M, rel=TOLERANCE, abs=1e-9)
        assert rows.centre[k] == pytest.approx(own[-1][0][SECTION], rel=1e-10)
        missed = own[-1][0][SECTION] - z[(1, 2, 1)[k]]
        assert rows.defect[k] == pytest.approx(np.abs(missed), abs=1e-9)
    assert np.abs(rows.error).max() < 1e-8 and (rows.error >= 0).all()
    assert not rows.defect[:2, 3].any() and not rows.error[:, :, 4].any()
    assert rows.off.max() < 1e-12


def test_references_known_to_a_slack_widen_the_command_alone():
    """|Δw| ≤ 0.02 is in v after the jump and in u after the release."""
    plain = samples(tube())
    rows = samples(tube(slack=SLACK))
    wider = rows.defect - plain.defect
    moved = flowing(np.array([0.0, 0.0, 0.02, 0.0, 0.0]), T - LAG)[0] - flowing(NOTHING, T - LAG)[0]
    moved = np.abs(moved)[SECTION]
    assert (moved[:3] * (1 - 1e-9) <= wider[0, :3]).all() and (wider[0] <= 1.2 * moved).all()
    assert wider[0, 2] == pytest.approx(0.02, rel=1e-9)


def test_every_sample_is_told_its_own_time():
    """0.3 t in the command at the jump and 0.2 t in it at the release: 0.3 kT + 0.2 (kT + lag) from then on."""
    timed = affine(JUMP, driven(3, 0), clock=np.array([0.0, 0.0, 0.0, 0.3, 0.0]))
    late = affine(RELEASE, clock=np.array([0.0, 0.0, 0.2, 0.0, 0.0]))
    plain = samples(tube())
    rows = samples(tube(jump=timed, release=late))
    for k in (0, 1, 2):
        more = np.array([0.0, 0.0, 0.3 * k * T + 0.2 * (k * T + LAG), 0.0, 0.0])
        moved = flowing(more, T - LAG)[0] - flowing(NOTHING, T - LAG)[0]
        assert rows.centre[k] - plain.centre[k] == pytest.approx(moved[SECTION], abs=1e-9)


@pytest.mark.parametrize("after, asked", [((1, 2, -1), [0, 1]), ((1, 2, 0), [0, 1, 2])])
def test_samples_of_all_nodes_that_lead_on(after, asked):
    assert samples(tube(after=np.array(after))).node.tolist() == asked


def test_sides_of_splits_in_all_their_combinations():
    """Two splits of node 1 and one of node 2: bounds of the states they are about, none of others."""
    splits = np.array([[1.0, 2.0, 0.5], [2.0, 2.0, 3.0], [1.0, 0.0, -1.0]])
    node, low, high = rows_of(tube(splits=splits), np.array([0, 1, 2]))
    assert node.tolist() == [0, 1, 1, 1, 1, 2, 2]
    free = (-np.inf, np.inf)
    u = [free, (-np.inf, 0.5), (-np.inf, 0.5), (0.5, np.inf), (0.5, np.inf), (-np.inf, 3.0)]
    q = [free, (-np.inf, -1.0), (-1.0, np.inf), (-np.inf, -1.0), (-1.0, np.inf), free, free]
    assert list(zip(low[:, 2], high[:, 2])) == [*u, (3.0, np.inf)]
    assert list(zip(low[:, 0], high[:, 0])) == q
    assert np.isinf(low[:, [1, 3, 4]]).all() and np.isinf(high[:, [1, 3, 4]]).all()
    twice = np.array([[1.0, 2.0, 0.5], [1.0, 2.0, 2.0]])
    _, low, high = rows_of(tube(splits=twice), np.array([1]))
    pairs = [(-np.inf, 0.5), (2.0, 2.0), (0.5, 2.0), (2.0, np.inf)]  # the second is empty
    assert list(zip(low[:, 2], high[:, 2])) == pairs


def test_runs_stay_between_the_boxes_of_every_stage():
    """No farther from the course than the reaches that are taken for granted, and all of the course between."""
    c = tube(reach=np.full((3, 9, 5), 1e-3))
    rows = samples(c)
    for k in (0, 1, 2):
        points = np.array([x for x, _ in course(k, c.z[k])[1:]])
        assert (rows.low[k] <= points.min(axis=0) - 0.9e-3)[:4].all()
        assert (rows.high[k] >= points.max(axis=0) + 0.9e-3)[:4].all()
        assert rows.low[k, 4] == pytest.approx(X0[4] - 1e-3, abs=1e-6)
        assert rows.high[k, 4] == pytest.approx(X0[4] + 1e-3, abs=1e-6)
        assert (rows.high[k] - points.max(axis=0) < 0.2).all()
        assert (points.min(axis=0) - rows.low[k] < 0.2).all()


def test_a_course_that_was_kept_gives_the_same_samples():
    """Kept once without widths, taken up with others, of all nodes or of some."""
    kept = {}
    first = samples(tube(), None, kept)
    assert sorted(kept) == [0, 1, 2] and kept[1].shape == (8, 4, 5) and kept[0].shape == (5, 4, 5)
    for asked in (None, np.array([1])):
        again = samples(tube(), asked, kept)
        own = slice(None) if asked is None else asked
        assert (again.defect == first.defect[own]).all() and (again.error == first.error[own]).all()
    moved = {k: v + np.array([0.0, 0.0, 0.0, 0.0, 1.0]) for k, v in kept.items()}
    assert samples(tube(), None, moved).high[0, 4] == pytest.approx(first.high[0, 4] + 1)


# ---- the sets ------------------------------------------------------------------------------------------------------------
def test_a_run_that_ends_needs_what_products_of_matrices_give():
    """Stage by stage; segments of noise are added before every sample but the first."""
    found = followed(tube(after=np.array([1, 2, -1]), fresh=FRESH))
    G = FIRST
    for k in (0, 1):
        own = course(k, np.zeros(4))
        for s in range(9):
            M = own[min(s, len(own) - 1)][1][:, SECTION]
            assert found.need[k, s] == pytest.approx(box(M @ G), rel=TOLERANCE, abs=1e-7)
        G = np.hstack([whole(k) @ G, np.diag(FRESH[SECTION])])
    assert found.need[2, 0, SECTION] == pytest.approx(box(G), rel=TOLERANCE, abs=1e-7)
    assert not found.need[2, 1:].any()
    assert (found.enters, found.returns, found.contracts) == (0.0, 0.0, 0.0)


def test_what_is_added_is_told_of_every_sample_and_no_other():
    z = nodes()
    z[2, :2] += 0.02, -0.3
    found = followed(tube(z=z, fresh=FRESH))
    assert np.abs(found.added).max() < 1e-8  # noise is no part of it
    assert found.defect[1, :2] == pytest.approx([0.02, 0.3], abs=1e-8)
    assert found.defect[0] == pytest.approx(0.0, abs=1e-8)
    watched = {}
    followed(tube(z=z, fresh=FRESH), watch=lambda k, Z: watched.setdefault(k, Z.reach))
    far = box(whole(0) @ FIRST) + FRESH[SECTION]
    assert watched[0] == pytest.approx(box(FIRST)) and watched[1] != pytest.approx(far)  # a lap's
    ends = followed(tube(z=z, fresh=FRESH, after=np.array([1, 2, -1])))
    G = np.hstack([whole(0) @ FIRST, np.diag(FRESH[SECTION])])
    G = np.hstack([whole(1) @ G, np.diag(FRESH[SECTION] + [0.02, 0.3, 0.0, 0.0])])
    assert ends.need[2, 0, SECTION] == pytest.approx(box(G), rel=TOLERANCE, abs=1e-7)


def test_the_share_of_a_ball_that_holds_what_is_beside_the_segments():
    """Segments along axes, lengths l_i of the ball's: √(Σl · max l), since Σ h hᵀ/p has the lengths for eigenvalues."""
    segments = np.zeros((3, 4, 3))
    segments[0] = FIRST
    segments[1] = whole(0) @ FIRST
    found = followed(tube(segments=segments, fresh=FRESH, after=np.array([1, 2, -1])))
    lengths = FRESH[SECTION] / np.diag(tube().balls[1])
    assert found.share[0] < 1e-9
    assert found.share[1] == pytest.approx(np.sqrt(lengths.sum() * lengths.max()), rel=1e-6)
    less = segments.copy()
    less[0, 2] = 0.0  # u's start is left to the ball: 0.2/9, one segment
    assert followed(tube(segments=less)).share[0] == pytest.approx(0.2 / 9.0, rel=1e-6)


# ---- laps ----------------------------------------------------------------------------------------------------------------
def follows():
    """G with W G = G + (what starts of ϑ are): where states settle over a lap, for ϑ half a width off."""
    lap = whole(2) @ whole(1)
    rest = np.linalg.solve(np.eye(3) - lap[:3, :3], lap[:3, 3])
    return np.append(rest, 1.0)[:, None] * HALF[4]


def lapped(**other):
    segments = np.zeros((3, 4, 3))
    segments[1, :, :1] = follows()
    return tube(**{"segments": segments, **other})


def test_what_enters_a_lap_and_what_comes_back():
    """In R⁻¹ the starts' segments beside those of what is constant; a lap leaves ‖R⁻¹WR‖ of the ball and adds its noise."""
    c = lapped(fresh=FRESH)
    found = followed(c)
    R = c.R[:3, :3]
    straight = np.hstack([whole(0) @ FIRST, np.diag(FRESH[SECTION])])
    straight[:, 2] -= follows()[:, 0]
    size = np.linalg.norm(box(np.linalg.solve(R, straight[:3])))
    assert found.enters == pytest.approx(size, rel=1e-6)
    lap = whole(2) @ whole(1)
    noise = np.hstack([whole(2) @ np.diag(FRESH[SECTION]), np.diag(FRESH[SECTION])])[:3]
    shorter = np.linalg.norm(np.linalg.solve(R, lap[:3, :3] @ R), 2)
    assert found.contracts == pytest.approx(shorter, rel=1e-6)
    missed = course(2, c.z[2])[-1][0][SECTION] - c.z[1]
    noise = np.hstack(
        [whole(2) @ np.diag(FRESH[SECTION]), np.diag(FRESH[SECTION] + np.abs(missed))]
    )
    added = np.linalg.norm(box(np.linalg.solve(R, noise[:3])))
    assert found.returns == pytest.approx(shorter * c.σ + added, rel=1e-6)


def test_a_lap_that_leaves_out_what_follows_a_constant_has_no_size():
    """Without its column a constant that starts elsewhere never comes back."""
    assert followed(tube()).enters == np.inf and followed(lapped()).enters < np.inf


def test_the_sets_of_a_lap_are_its_ball_and_what_follows_the_constants():
    c = lapped()
    G = np.hstack([follows(), 2.0 * c.R[:, :3]])
    found = followed(c)
    for k in (1, 2):
        for s, (_, M) in enumerate(course(k, np.zeros(4))):
            M = M[:, SECTION]
            reach = np.abs(M @ G[:, :1])[:, 0] + np.linalg.norm(M @ G[:, 1:], axis=1)
            assert found.need[k, s] == pytest.approx(reach, rel=1e-5, abs=1e-6)
        G = whole(k) @ G
