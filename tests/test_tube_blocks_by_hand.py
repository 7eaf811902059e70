"""Reaches found block after block, on numbers written down and on a linear loop: what is enlarged, and when it ends."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from linear_tube import FIRST, FRESH, box, tube, whole

from workbench.verification.tube import blocks
from workbench.verification.tube.checker.judge import followed
from workbench.verification.tube.checker.samples import begun
from workbench.verification.tube.checker.zonotope import Deviations, reciprocal
from workbench.verification.tube.search import matrices, samples


def extent(E, d):
    """How far {E v : |v| ≤ 1} reaches along d."""
    return np.linalg.norm(d @ E)


# ---- what holds a set -------------------------------------------------------------------------------------------------------
def test_one_segment_is_its_own_ellipsoid():
    """h hᵀ, flat but for rounding."""
    h = np.array([[3.0], [-4.0]])
    E = blocks.ellipsoid(h, np.zeros((2, 2)))
    assert E @ E.T == pytest.approx(h @ h.T, rel=1e-6)


def test_a_ball_alone_is_its_own_ellipsoid():
    B = np.array([[2.0, 0.3], [-0.5, 700.0]])
    E = blocks.ellipsoid(np.zeros((2, 0)), B)
    assert E @ E.T == pytest.approx(B @ B.T, rel=1e-9)


def test_a_segment_as_long_as_the_ball_beside_it():
    """Lengths of 2 each: (2 + 2)(2 + 2)."""
    E = blocks.ellipsoid(np.array([[2.0]]), np.array([[2.0]]))
    assert abs(E[0, 0]) == pytest.approx(4.0)


def test_segments_along_axes_have_lengths_alike_in_the_ellipsoid():
    """Σp P h hᵀ/p of two axes: √2 of each, whatever their units."""
    E = blocks.ellipsoid(np.diag([3.0, 5e6]), np.zeros((2, 2)))
    assert E @ E.T == pytest.approx(2 * np.diag([9.0, 25e12]), rel=1e-6)


def test_an_ellipsoid_holds_segments_and_ball_and_is_not_much_larger():
    """In every direction; the second sweep makes it smaller than one that takes lengths as they are in the first coordinates."""
    rng = np.random.default_rng(4)
    H = np.diag([1.0, 1e4, 0.02]) @ rng.normal(size=(3, 5))
    B = np.diag([0.5, 2e3, 0.01]) @ rng.normal(size=(3, 3))
    E = blocks.ellipsoid(H, B)
    far = near = 0.0
    for d in rng.normal(size=(300, 3)) / [1.0, 1e4, 0.02]:
        own = np.abs(d @ H).sum() + np.linalg.norm(d @ B)
        assert own <= extent(E, d) * (1 + 1e-9)
        far = max(far, extent(E, d) / own)
        near = max(near, own / extent(E, d))
    assert far < 2.0 and near > 0.8


def test_a_set_is_fitted_with_its_own_segments_and_a_ball_that_holds_the_rest():
    """Columns that the certificate has no room for are in the ball; more times as long as it must be."""
    G = np.array([[0.3, 0.0, 0.02, 0.0], [0.1, 0.4, 0.0, 0.03]])
    Z = Deviations(G, 2, np.diag([0.004, 0.005]))
    for columns in (1, 2, 3):
        segments, ball = blocks.fitted(Z, columns, 1.0)
        many = min(columns, 2)
        assert (segments[:, :many] == G[:, :many]).all() and not segments[:, many:].any()
        share = Z.within(segments, ball, reciprocal(ball))
        assert share == pytest.approx(1.0, rel=2e-2) and share <= 1 + 1e-9
        _, larger = blocks.fitted(Z, columns, 1.7)
        assert larger == pytest.approx(1.7 * ball)


def test_what_never_moves_has_a_ball_all_the_same():
    """A state without any width: of the size of rounding, so that the ball has an inverse."""
    Z = Deviations(np.array([[0.3], [0.0]]), 1, np.zeros((2, 2)))
    _, ball = blocks.fitted(Z, 1, 1.0)
    assert np.isfinite(reciprocal(ball)).all()
    assert np.linalg.norm(ball[0]) == pytest.approx(np.sqrt(2) * blocks.FLOOR * 0.3, rel=0.5)
    assert 0 < np.abs(ball[1]).max() < 1e-190


@pytest.mark.parametrize("share, more", [(0.4, 1.0), (1.0, 1.0), (1.2, 1.2 * blocks.BESIDE)])
def test_a_ball_grows_by_what_it_lacked(share, more):
    Z = Deviations(np.array([[1.0, 2.0, 9.0], [3.0, 4.0, 9.0]]), 2, np.zeros((2, 2)))
    old, ball = np.full((2, 3), 7.0), np.array([[2.0, 0.5], [0.1, 3.0]])
    segments, longer = blocks.grown(old, ball, Z, share)
    assert segments.tolist() == [[1.0, 2.0, 7.0], [3.0, 4.0, 7.0]] and (old == 7.0).all()
    assert longer == pytest.approx(more * ball)
    narrow, _ = blocks.grown(old[:, :1], ball, Z, share)
    assert narrow.tolist() == [[1.0], [3.0]]


def test_balls_grow_where_they_were_too_small_and_known():
    share = np.array([0.5, 1.0, 1.3, np.inf, np.nan])
    c = tube(balls=np.tile(np.eye(4), (5, 1, 1)))
    found = blocks.longer(c, share).balls[:, 0, 0]
    assert found == pytest.approx([1.0, 1.0, 1.3 * blocks.BESIDE, 1.0, 1.0])


def test_what_passed_by_is_put_at_the_nodes_asked_for():
    """With shares the balls that are known to be too small grow instead, those of a share that is unknown turn."""
    c = tube(balls=np.tile(np.eye(4), (3, 1, 1)))
    fits = blocks.Fits(c)
    Z = begun(c)
    for k in (0, 1, 2):
        fits.take(k, Z)
    own, ball = blocks.fitted(Z, 3, blocks.BESIDE)
    found = fits.put(c, np.array([0, 2]))
    assert (found.balls[[0, 2]] == ball).all() and (found.balls[1] == np.eye(4)).all()
    assert (found.segments[[0, 2]] == own).all() and not found.segments[1].any()
    assert (c.balls == np.eye(4)).all() and not c.segments.any()
    share = np.array([1.5, 3.0, np.inf])
    found = fits.put(c, np.array([0, 2]), share)
    assert found.balls[0] == pytest.approx(1.5 * blocks.BESIDE * np.eye(4))
    assert (found.balls[1] == np.eye(4)).all() and (found.balls[2] == ball).all()


# ---- held commands that change their sign ---------------------------------------------------------------------------------
def test_nodes_are_split_where_a_held_command_may_change_its_sign():
    """Below 0 and above it; a bound at 0 is no change, and states that are not held are not looked at."""
    low = np.array([[-1.0, -1.0, -1.0], [0.0, -2.0, -1.0], [-3.0, 1.0, -1.0], [-1.0, -4.0, -1.0]])
    high = np.array([[1.0, 0.0, 1.0], [1.0, 3.0, 1.0], [2.0, 2.0, 1.0], [-0.5, 5.0, 1.0]])
    seen = SimpleNamespace(low=low, high=high)
    held = np.array([True, True, False])
    found = blocks.crossed(seen, held, np.array([10, 11, 12, 13]))
    assert found.tolist() == [[10, 0, 0], [11, 1, 0], [12, 0, 0], [13, 1, 0]]
    none = blocks.crossed(seen, np.zeros(3, bool), np.array([10, 11, 12, 13]))
    assert none.shape == (0, 3)


@pytest.mark.parametrize(
    "many, split", [(blocks.MOST_SPLITS, True), (blocks.MOST_SPLITS + 1, False)]
)
def test_a_node_with_too_many_of_them_is_not_split(many, split):
    seen = SimpleNamespace(low=-np.ones((2, many)), high=np.ones((2, many)))
    seen.low[1, 1:] = 0.5
    found = blocks.crossed(seen, np.ones(many, bool), np.array([4, 5]))
    assert (found[:, 0] == 4).sum() == (many if split else 0)
    assert found[found[:, 0] == 5].tolist() == [[5.0, 0.0, 0.0]]


# ---- a linear loop ---------------------------------------------------------------------------------------------------------
@cache
def solved():
    c = tube(after=np.array([1, 2, -1]), fresh=FRESH)
    return followed(c).need, matrices(SimpleNamespace(tube=c), samples(c))


@pytest.fixture
def linear():
    """(tube up to the end of a run with noise, what its linear loop reaches, its matrices)."""
    return tube(after=np.array([1, 2, -1]), fresh=FRESH), *solved()


def test_a_sample_without_a_derivative_has_no_matrix(linear):
    c, _, M = linear
    assert M[0] == pytest.approx(whole(0), rel=1e-8, abs=1e-12)
    seen = samples(c)
    seen.error[1, 2, 3] = np.inf
    found = matrices(SimpleNamespace(tube=c), seen)
    assert np.isnan(found[1]).all() and (found[0] == M[0]).all()


UNHELD = np.zeros(5, bool)


def test_a_linear_loop_is_filled_at_once_and_holds(linear):
    """Taken from it: a hundredth more than it needs, block by block; at the end what comes of the last sample."""
    c, need, M = linear
    found = blocks.filled(c, need, M, UNHELD, {})
    assert (found.reach[:2] == blocks.MORE * need[:2] + blocks.LEAST).all()
    G = np.hstack([whole(0) @ FIRST, np.diag(FRESH[c.section])])
    end = box(np.hstack([whole(1) @ G, np.diag(FRESH[c.section])]))
    assert found.reach[2, 0, c.section] == pytest.approx(blocks.MORE * end, rel=1e-6)
    assert (found.reach[2, 1:] == c.reach[2, 1:]).all()
    seen = followed(found)
    assert seen.failed in (None, 2) and (seen.share[:2] <= 1).all()
    assert (c.reach == 50.0).all()


def test_up_to_where_laps_begin(linear):
    c, need, M = linear
    lapped = replace(c, after=np.array([1, 2, 1]))
    found = blocks.filled(lapped, need, M, UNHELD, {})
    assert (found.reach[0] == blocks.MORE * need[0] + blocks.LEAST).all()
    assert (found.reach[1:] == c.reach[1:]).all() and not found.segments[1:].any()


def test_reaches_that_were_too_small_are_enlarged_until_they_do(linear):
    """A tenth of what is needed is taken for granted: the samples add nothing to it, so that the second round suffices."""
    c, need, M = linear
    nodes = np.array([0, 1])
    c = replace(c, reach=0.1 * need, splits=np.array([[2.0, 2.0, 0.0], [1.0, 2.0, 0.0]]))
    Z = begun(c)
    blocks.foretold(c, nodes, Z, M)
    found, after, rounds = blocks.settled(c, nodes, Z, UNHELD, {})
    assert rounds == 2 and after is not None
    assert found.reach[:2] == pytest.approx(blocks.MORE * need[:2], rel=1e-6, abs=1e-9)
    assert found.splits.tolist() == [[2.0, 2.0, 0.0]]  # of other nodes


def test_a_block_that_never_suffices_ends(linear, monkeypatch):
    """What is needed is twice what is taken, for ever; or at once more than can be hoped for."""
    c, need, M = linear
    nodes = np.array([0, 1])
    rounds = []

    def carried(times):
        def found(c, rows, Z, turns):
            rounds.append(turns)
            return times * c.reach[nodes], np.ones(2), (c.segments[nodes], c.balls[nodes]), Z

        return found

    monkeypatch.setattr(blocks, "walked", lambda c, nodes, course: iter([None]))
    monkeypatch.setattr(blocks, "united", lambda rows: rows)
    monkeypatch.setattr(blocks, "crossed", lambda rows, held, nodes: np.zeros((0, 3)))
    monkeypatch.setattr(blocks, "carried", carried(1.0))
    assert blocks.settled(c, nodes, "set", UNHELD, {})[1:] == ("set", 1)  # neither is too much
    for times, many in (
        (2.0, blocks.ROUNDS),
        (blocks.HOPELESS, blocks.ROUNDS),
        (31.0, 2),
        (np.nan, 2),
    ):
        rounds.clear()
        monkeypatch.setattr(blocks, "carried", carried(times))
        own = replace(c, reach=need + 1.0)
        assert blocks.settled(own, nodes, begun(c), UNHELD, {})[1:] == (None, blocks.ROUNDS)
        assert len(rounds) == many and sum(rounds) == min(blocks.TURNS, many)


def test_blocks_grow_after_few_rounds(monkeypatch):
    """As many samples at first, twice as many after few rounds, never more than LONGEST; a block without a set ends it."""
    K = 4001
    c = SimpleNamespace(
        after=np.array([1, -1]), z=np.zeros((K, 1)), reach=np.ones((K, 1, 1)), section=[0]
    )
    monkeypatch.setattr(blocks, "replace", lambda c, **new: SimpleNamespace(**vars(c) | new))
    monkeypatch.setattr(blocks, "begun", lambda c: 0)
    monkeypatch.setattr(blocks, "foretold", lambda c, nodes, Z, linear: None)
    asked = []
    rounds = iter([blocks.FEW, blocks.FEW, blocks.FEW, blocks.FEW + 1, blocks.FEW, 1])

    def settled(c, nodes, Z, held, course):
        asked.append((int(nodes[0]), len(nodes)))
        many = next(rounds)
        return c, (None if many == 1 else Z + 1), many

    monkeypatch.setattr(blocks, "settled", settled)
    blocks.filled(c, np.ones((K, 1, 1)), None, None, {})
    assert asked == [(0, 250), (250, 500), (750, 1000), (1750, 1000), (2750, 250), (3000, 500)]
