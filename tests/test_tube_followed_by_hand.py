"""Sets followed over samples that are written down: what stages need, what is added, where it ends, both sides of a split."""

from types import SimpleNamespace

import numpy as np
import pytest
from linear_tube import FRESH, HALF, SECTION, box, tube

from workbench.verification.tube import laps
from workbench.verification.tube.checker import judge as module
from workbench.verification.tube.checker.balls import UNIT
from workbench.verification.tube.checker.judge import followed, sample, stages
from workbench.verification.tube.checker.runs import Runs
from workbench.verification.tube.checker.samples import Rows
from workbench.verification.tube.checker.spread import Spread
from workbench.verification.tube.checker.steps import during, exponential
from workbench.verification.tube.checker.zonotope import Deviations

RNG = np.random.default_rng(11)
STAGES, STATES, N = 8, 5, 4
M = RNG.normal(size=(3, STAGES + 1, STATES, N))
ERROR = RNG.uniform(0.1, 0.4, (3, STAGES + 1, STATES))
DEFECT = RNG.uniform(0.1, 0.4, (3, N))
FINER = (5, 8, 5)  # stages of each node


def rows(node=(0, 1, 2), **other):
    """Samples of three nodes, or of rows of them."""
    at = np.array(node)
    sides = np.zeros((len(at), STATES))
    given = {
        "node": at, "M": M[at], "off": np.zeros_like(M[at]), "error": ERROR[at], "defect": DEFECT[at],
        "low": sides - at[:, None], "high": sides + 2.0 * at[:, None], "centre": np.zeros((len(at), N)),
    }  # fmt: skip
    return Rows(**given | other)


def of(k, G):
    """What the stages of a node need for segments, the last for those that it has not."""
    own = [box(M[k, s] @ G) + ERROR[k, s] for s in range(FINER[k] + 1)]
    return np.array(own + [own[-1]] * (STAGES - FINER[k]))


# ---- the sets -----------------------------------------------------------------------------------------------------------------
def test_what_stages_need_of_segments_a_ball_and_a_matrix_that_is_off():
    Z = Deviations(np.array([[1.0, -2.0], [0.5, 0.25]]), 1, np.array([[3.0, 4.0], [0.0, 0.6]]))
    assert Z.reach == pytest.approx([3.0 + 5.0, 0.75 + 0.6])
    M = np.array([[[[2.0, 0.0]], [[1.0, -4.0]], [[7.0, 7.0]]]])
    off = np.array([[[[0.0, 0.0]], [[0.5, 0.25]], [[0.0, 0.0]]]])
    ones = SimpleNamespace(M=M, off=off, error=np.array([[[0.125], [0.375], [9.0]]]))
    at_first = 2 * 8.0 + 0.125
    straight = abs(1 - 2) + abs(-2 - 1)
    second = straight + np.hypot(3.0, 4.0 - 2.4) + 0.5 * 8.0 + 0.25 * 1.35 + 0.375
    found = stages(Z, ones, 0, 1)
    assert found[:, 0] == pytest.approx([at_first, second, second])


def test_what_a_sample_adds_is_its_error_where_it_ends_and_noise():
    c = tube(fresh=FRESH)
    own, off, added = sample(c, rows(), 1)
    assert (own == M[1, -1, SECTION]).all() and not off.any()
    assert added == pytest.approx(ERROR[1, -1, SECTION] + DEFECT[1] + FRESH[SECTION])


def test_sets_go_on_with_what_is_added():
    c = tube(after=np.array([1, 2, -1]), fresh=FRESH)
    found = followed(c, lambda c: [rows()])
    G = np.diag(HALF)[SECTION][:, [0, 2, 4]].copy()
    G[1] += 0.5 * G[0]
    for k in (0, 1):
        assert found.need[k] == pytest.approx(of(k, G), rel=1e-9)
        added = ERROR[k, -1, SECTION] + DEFECT[k] + FRESH[SECTION]
        G = np.hstack([M[k, -1, SECTION] @ G, np.diag(added)])
    assert (found.added == ERROR[:, -1][:, SECTION]).all() and (found.defect == DEFECT).all()
    assert found.low[:, 0].tolist() == [0.0, -1.0, -2.0] and found.high[:, 4].tolist() == [0, 2, 4]


def test_of_a_lap_of_all_samples_the_last_node_needs_its_stages():
    """What comes back is no node's; without a lap the last node has no sample, and its set alone counts."""
    ball = followed(tube(after=np.array([1, 2, 0])), lambda c: [rows()])
    assert (ball.need[2] >= ERROR[2]).all()
    ends = followed(tube(after=np.array([1, 2, -1])), lambda c: [rows((0, 1))])
    assert not ends.need[2, 1:].any() and not ends.need[2, 0, 3]
    assert (ends.low[2] == np.inf).all() and (ends.high[2] == -np.inf).all()


@pytest.mark.parametrize("state", [0, 3])
def test_a_sample_that_nothing_bounds_ends_it_there(state):
    """One stage of one state is enough; what later nodes need is not known."""
    error = ERROR.copy()
    error[1, 2, state] = np.inf
    found = followed(tube(), lambda c: [rows(error=error)])
    assert found.failed == 1 and np.isinf(found.need[1, 2, state]) and not found.need[2].any()
    assert (found.enters, found.returns, found.contracts) == (np.inf, np.inf, np.inf)


def test_the_first_node_that_fails_is_told():
    """By a reach that is too small, or by a ball; a lap's last sample that nothing bounds is told there, too."""
    c = tube(after=np.array([1, 2, -1]), balls=np.tile(1e9 * np.eye(N), (3, 1, 1)))
    reach = followed(c, lambda c: [rows()]).need.copy()
    assert followed(tube(**vars(c) | {"reach": reach}), lambda c: [rows()]).failed is None
    for k in (0, 1):
        less = reach.copy()
        less[k, 4, 3] = np.nextafter(less[k, 4, 3], 0.0)
        assert followed(tube(**vars(c) | {"reach": less}), lambda c: [rows()]).failed == k
        balls = c.balls.copy()
        balls[k] *= 1e-10
        own = {"reach": reach, "balls": balls}
        assert followed(tube(**vars(c) | own), lambda c: [rows()]).failed == k
    error = ERROR.copy()
    error[2, 1, 0] = np.inf
    assert followed(tube(reach=0 * reach + 1e9), lambda c: [rows(error=error)]).failed is not None


def test_both_sides_of_a_split_are_looked_at_alone_only_where_a_lap_is_one_sample():
    """M = 0.5 and 0.9: by themselves 0.9 of the ball are left, in their mean 0.7, off by 0.2."""
    own = np.zeros((4, STAGES + 1, STATES, N))
    for r, size in enumerate((0.5, 0.5, 0.5, 0.9)):
        own[r, :, SECTION, np.arange(N)] = size
    own[:, :, 4] = 0.0
    own[:, :, 4, 3] = 1.0
    split = rows(
        (0, 1, 2, 2), M=own, error=np.zeros((4, STAGES + 1, STATES)), defect=np.zeros((4, N))
    )
    R = np.diag([2.0, 3.0, 4.0, 1.0])
    half = np.array([0.3, 0.0, 0.2, 0.0, 0.0])
    alone = followed(tube(after=np.array([1, 2, 2]), R=R, half=half), lambda c: [split])
    assert alone.contracts == pytest.approx(0.9) and alone.returns == pytest.approx(1.8)
    both = followed(tube(after=np.array([1, 2, 1]), R=R, half=half), lambda c: [split])
    assert both.contracts == pytest.approx(0.5 * 0.7, rel=1e-6)
    assert both.returns > 0.5 * 0.7 * 2.0 + 0.1


# ---- laps ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_ball_of_laps_is_shaped_by_what_their_samples_add(monkeypatch, first):
    """Errors, what is missed and noise, of the states that move by themselves; the constant keeps its own coordinate."""
    given = {}

    def shaped(M, added, share, least):
        given.update(M=M, added=added, share=share, least=least)
        return np.array([[2.0, 0.5, 0.0], [0.0, 3.0, 0.0], [0.25, 0.0, 4.0]])

    monkeypatch.setattr(laps, "shaped", shaped)
    scale = np.array([1.0, 10.0, 100.0, 1000.0])
    linear = RNG.normal(size=(3, N, N))
    seen = SimpleNamespace(added=ERROR[:, 0, :N], defect=DEFECT)
    c = tube(after=np.array([1, 2, first]), fresh=FRESH)
    found = laps.balled(SimpleNamespace(scale=scale), c, linear, seen)
    assert (given["M"] == linear[first:, :3, :3]).all() and given["share"] == laps.SHARE
    assert given["added"] == pytest.approx((ERROR[:, 0, :N] + DEFECT + FRESH[SECTION])[first:, :3])
    assert given["least"] == pytest.approx(laps.NOTHING * scale[:3])
    assert found.σ == 1.0 and found.R[:3, :3].tolist()[2] == [0.25, 0.0, 4.0]
    assert found.R[3].tolist() == [0.0, 0.0, 0.0, 1.0] and not found.R[:3, 3].any()
    assert c.σ == 2.0


@pytest.mark.parametrize("first", [0, 1])
def test_laps_follow_the_constants_that_start_elsewhere(monkeypatch, first):
    given = {}

    def led(M, own, stays):
        given.update(M=M, own=own, stays=stays)
        return np.array([[7.0], [8.0], [9.0], [1.0]])

    monkeypatch.setattr(laps, "led", led)
    linear = RNG.normal(size=(3, N, N))
    c = tube(after=np.array([1, 2, first]))
    found = laps.followed_by_constants(c, linear)
    assert (given["M"] == linear[first:]).all()
    assert given["own"].tolist() == [3] and given["stays"].tolist() == [False, False, False, True]
    assert found.segments[first, :, 0] == pytest.approx(HALF[4] * np.array([7.0, 8.0, 9.0, 1.0]))
    assert not found.segments[first, :, 1:].any()
    assert not np.delete(found.segments, first, axis=0).any()


def test_without_laps_or_constants_that_start_elsewhere_nothing_is_led(monkeypatch):
    monkeypatch.setattr(laps, "led", lambda *given: pytest.fail("asked"))
    ends = tube(after=np.array([1, 2, -1]))
    assert laps.followed_by_constants(ends, None) is ends
    assert laps.balled(None, ends, None, None) is ends
    fixed = tube(half=np.array([0.3, 0.0, 0.2, 0.0, 0.0]))
    assert laps.followed_by_constants(fixed, None) is fixed


@pytest.mark.parametrize(
    "η, larger", [(0.0, 1.0), (0.25, 4 / 3), (0.499, 1 / 0.501), (0.5, np.inf)]
)
def test_coordinates_that_are_not_quite_inverted_make_a_ball_larger(monkeypatch, η, larger):
    """|R⁻¹e| ≤ |X e|/(1 − η), of the ball and of everything; η from a half on tells nothing."""
    inverse = lambda R: (np.linalg.inv(R), np.array([η]))
    monkeypatch.setattr(module, "inverse", inverse)
    lap = module.Lap(tube())
    G = np.array([[0.5, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    ball = np.diag([2.0, 4.0, 8.0, 0.0])
    Z = Deviations(G, 1, ball)
    round_part, everything = lap.size(Z, np.array([0]))
    assert round_part == pytest.approx(4.0 * larger, rel=1e-9)
    assert everything == pytest.approx((4.0 + (0.5 + 1.0) / 0.5) * larger, rel=1e-9)


# ---- a step of many runs ------------------------------------------------------------------------------------------------------
def test_segments_and_ball_are_led_with_what_rounding_adds():
    """γ = 4·2⁻⁵² of two states: of segments of 2⁵² and 2·2⁵² and a ball of 5·2⁵² it is 4·(3 + 5) and more, through |Φ|."""
    big = 1 / UNIT
    Γ = big * np.array([[[1.0, -2.0], [0.0, 1.0]]])
    B = big * np.array([[[3.0, 4.0], [0.0, 2.0]]])
    runs = Runs([], np.zeros((1, 2, 2)), (None, None), Γ, B, np.array([[0.5, 0.25]]))
    Φ = np.array([[[2.0, -3.0], [0.0, 0.5]]])
    segments, ball, more = runs.led(Φ)
    assert (segments == Φ @ Γ).all() and (ball == Φ @ B).all()
    first, second = 4 * (3 + 5) + 0.5, 4 * (1 + 2) + 0.25
    assert more[0] == pytest.approx([2 * first + 3 * second, 0.5 * second], rel=1e-11)
    assert runs.ends == [(Γ, B)] and Runs([], np.zeros((1, 2, 2)), (None, None)).ends == []
    assert (more[0] >= [2 * first + 3 * second, 0.5 * second]).all()


@pytest.mark.parametrize(
    "A, cancels", [([[0.0, 2.0], [-3.0, 0.5]], False), ([[2.0, 2.0], [-2.0, -2.0]], True)]
)
def test_where_deviations_are_during_a_step(A, cancels):
    """Both ends and N²Q/8, or |A²|h²E/8 + N³Q/8 where that is less, and what is added on the way."""
    A, h = np.array([A]), 0.1
    E, η = np.array([[0.4, 0.7]]), np.array([[0.01, 0.02]])
    Φ, Q, _ = exponential(A, E, h)
    N = h * np.abs(A[0])
    plain = N @ N @ Q[0] / 8
    other = np.abs(A[0] @ A[0]) @ E[0] * h**2 / 8 + N @ N @ N @ Q[0] / 8
    assert (other < plain).all() == cancels
    expected = np.maximum(E[0], np.abs(Φ[0]) @ E[0]) + np.minimum(plain, other) + η[0]
    alone = Runs([], np.zeros((1, 2, 2)), (None, None))
    found = during(alone, Spread(E, []), A, Φ, Q, η, h)
    assert found.box[0] == pytest.approx(expected, rel=1e-10) and (found.box[0] >= expected).all()
    assert not found.places
    Γ, B = np.array([[[0.1], [0.2]]]), np.zeros((1, 2, 0))
    runs = Runs([], np.zeros((1, 2, 2)), (None, None), Γ, B, np.array([[0.3, 0.5]]))
    found = during(runs, runs_spread(E, Γ, B), A, Φ, Q, η, h)
    assert len(found.places) == 2
    ends = np.maximum([0.3, 0.5], np.abs(Φ[0]) @ [0.3, 0.5])
    assert (found.more[0] >= ends + η[0]).all()
    assert (found.more[0] <= ends + η[0] + plain + 1e-9).all()


def runs_spread(E, Γ, B):
    return Spread(E, [(Γ, B)], np.array([[0.3, 0.5]]))
