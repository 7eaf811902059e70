"""The search for a tube on numbers written down: laps that are closed, edges that weigh, polynomials near the run."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workbench.verification.tube import lap, paths, search


# ---- the search for a tube ----------------------------------------------------------------------
@dataclass(frozen=True)
class Question:
    """As much of a posed question as the search looks at."""

    tube: Any
    scale: Any = 1.0


@dataclass(frozen=True)
class Loop:
    """Three nodes in two moving states and a constant one, of which the last two repeat."""

    z: np.ndarray
    after: Any = (1, 2, 1)
    section: Any = ...
    T: float = 0.1


M = np.array([[[0.5, 0.2], [-0.1, 0.8]], [[0.9, -0.3], [0.4, 0.2]], [[0.1, 0.6], [-0.7, 0.3]]])
BESIDE = np.array([[1.0, -2.0], [0.5, 3.0], [-4.0, 0.25]])


def run_on(z, nodes):
    """Samples of z⁺ = M_k z + c_k in the states that move, exactly."""
    ends = np.array([[*(M[k] @ z[k, :2] + BESIDE[k]), z[k, 2]] for k in nodes])
    slopes = np.zeros((len(nodes), 1, 3, 3))
    slopes[:, 0, :2, :2] = M[nodes]
    slopes[:, 0, 2, 2] = 1.0
    return SimpleNamespace(node=nodes, M=slopes, centre=ends)


@pytest.fixture
def by_hand(monkeypatch):
    monkeypatch.setattr(search, "constant", lambda c: np.array([False, False, True]))
    monkeypatch.setattr(search, "tiny", lambda question: question.tube)
    monkeypatch.setattr(
        search, "samples", lambda c: run_on(c.z, np.flatnonzero(np.array(c.after) >= 0))
    )


def follows(z, k, after):
    """Whether sample k leads exactly from its node to the next one."""
    return M[k] @ z[k, :2] + BESIDE[k] == pytest.approx(z[after, :2], rel=1e-12)


def test_a_step_of_newton_closes_a_linear_lap(by_hand, monkeypatch):
    """The start and states that stay are left where they are."""
    monkeypatch.setattr(search, "NEWTON", 1)
    z = np.array([[0.3, -0.2, 7.0], [1.0, 2.0, 7.0], [-1.0, 0.5, 7.0]])
    found = search.closed(Question(Loop(z, np.array((1, 2, 1))))).tube.z
    assert found[0] == pytest.approx(z[0]) and (found[:, 2] == 7.0).all()
    assert follows(found, 1, 2) and follows(found, 2, 1) and not follows(found, 0, 1)


def test_a_lap_from_the_start_on_is_closed_where_it_begins(by_hand, monkeypatch):
    monkeypatch.setattr(search, "NEWTON", 1)
    z = np.array([[0.3, -0.2, 7.0], [1.0, 2.0, 7.0], [-1.0, 0.5, 7.0]])
    found = search.closed(Question(Loop(z, np.array((1, 2, 0))))).tube.z
    assert follows(found, 0, 1) and follows(found, 1, 2) and follows(found, 2, 0)


def test_the_nodes_of_a_run_that_ends_go_where_the_loop_goes(by_hand, monkeypatch):
    monkeypatch.setattr(search, "NEWTON", 1)
    z = np.array([[0.3, -0.2, 7.0], [1.0, 2.0, 7.0], [-1.0, 0.5, 7.0]])
    found = search.closed(Question(Loop(z, np.array((1, 2, -1))))).tube.z
    assert (found[0] == z[0]).all() and (found[:, 2] == 7.0).all()
    assert follows(found, 0, 1) and follows(found, 1, 2)


@pytest.mark.parametrize("after", [(1, 2, -1), (1, 2, 1)])
def test_nodes_whose_samples_have_no_derivative_stay_where_they_are(by_hand, monkeypatch, after):
    slopes = M.copy()
    slopes[1, 0, 1] = np.inf
    monkeypatch.setitem(globals(), "M", slopes)
    question = Question(Loop(np.ones((3, 3)), np.array(after)))
    assert search.closed(question) is question


@pytest.mark.parametrize("λ, why", [(0.0, True), (-1.0, True), (np.nan, True), (2.0, False)])
def test_runs_that_do_not_come_closer_are_told_at_the_last_node(by_hand, monkeypatch, λ, why):
    linear = np.zeros((3, 3, 3))
    linear[:, :2, :2] = M
    monkeypatch.setattr(search, "matrices", lambda question, seen: linear)
    monkeypatch.setattr(search, "rate", lambda each, after, T: λ if (each == M).all() else None)
    monkeypatch.setattr(search, "sized", lambda ready, σ, progress: (ready.rate, σ))
    found = search.tried(Question(Loop(np.zeros((3, 3)))), None, {}, None)
    if why:
        assert (found.failed, found.why) == (2, "runs side by side do not come closer")
    else:
        assert found == (2.0, 1.0)


def test_a_matrix_that_is_not_finite_is_told_at_its_node(by_hand, monkeypatch):
    linear = np.zeros((3, 3, 3))
    linear[1:, 0, 1] = np.inf
    monkeypatch.setattr(search, "matrices", lambda question, seen: linear)
    monkeypatch.setattr(search, "unbounded", lambda c: "unbounded")
    found = search.tried(Question(Loop(np.zeros((3, 3)))), None, {}, None)
    assert (found.failed, found.why) == (1, "unbounded")


@pytest.mark.parametrize(
    "missed, rough, tells",
    [
        ((0.49, 0.0), (True, False), False),
        ((0.51, 0.0), (True, False), True),  # 0.4 of it are left at the end, of a width of 2
        ((0.51, 0.0), (False, True), False),
        ((0.0, 0.19), (True, True), False),
        ((0.0, 0.21), (True, True), True),
        ((0.3, 0.09), (True, True), True),
        ((np.nan, 0.0), (True, True), True),
    ],
)
def test_what_edges_miss_weighs_against_how_far_starts_get(monkeypatch, missed, rough, tells):
    """One state, M = 0.5 and 0.4, starts ± 2 (two segments): what the first node misses shrinks by 0.4 until the end."""
    monkeypatch.setattr(search, "begun", lambda c: SimpleNamespace(G=np.array([[1.5, -0.5]])))
    seen = SimpleNamespace(
        M=np.array([0.5, 0.4]).reshape(2, 1, 1, 1), defect=np.array(missed)[:, None]
    )
    question = Question(SimpleNamespace(section=slice(None)), np.ones(1))
    assert search.weighs(question, seen, np.array(rough)) is tells


@pytest.mark.parametrize("share, tells", [(1.9, True), (2.1, False)])
def test_what_edges_miss_of_a_state_that_starts_do_not_move_tells_nothing(
    monkeypatch, share, tells
):
    """Starts are ± 2: of a state so large that this is nothing of it, no miss counts."""
    monkeypatch.setattr(search, "begun", lambda c: SimpleNamespace(G=np.array([[1.5, -0.5]])))
    seen = SimpleNamespace(
        M=np.array([0.5, 0.4]).reshape(2, 1, 1, 1), defect=np.array([[9.0], [9.0]])
    )
    question = Question(SimpleNamespace(section=slice(None)), np.array([share / search.NOTHING]))
    assert search.weighs(question, seen, np.array([True, True])) is tells


def test_nodes_that_miss_far_more_than_usual_and_those_beside_them():
    defect = np.full((8, 2), 1e-3)
    defect[3, 1] = search.ROUGH * 1e-3 * 1.01
    defect[6, 0] = search.ROUGH * 1e-3 * 0.99
    rough = search.roughly(Question(None, np.zeros(2)), SimpleNamespace(defect=defect))
    assert rough.tolist() == [False, False, True, True, True, False, False, False]


# ---- polynomials near the run -------------------------------------------------------------------
def test_a_sweep_solves_a_linear_flow_forwards_slow_and_backwards_fast():
    """ẋ = r(t) slow; ẏ = −a y + b z + ρ, ż = −b y − a z + q fast: every coefficient satisfies its own row, in any coordinates."""
    a, b, p = -30.0, 7.0, 3
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3, 3))
    Λ = np.array([[0.0, 0.0, 0.0], [0.0, a, b], [0.0, -b, a]])
    T = np.linalg.inv(X)
    r = rng.normal(size=(p + 1, 3))  # of the flow in the frame's coordinates, a row a power of time
    frame = SimpleNamespace(
        slow=1, X=X[None], T=SimpleNamespace(mid=T[None]),
        a=np.full((1, 2), a), b=np.array([[b, -b]]), mate=np.array([[1, 0]]),
    )  # fmt: skip
    x = rng.normal(size=(1, 3))
    C = rng.normal(size=(1, p + 1, 3))

    def flow(C):
        return np.array([[T @ (Λ @ (X @ C[0, j]) + r[j]) for j in range(p + 1)]])

    W = (X @ paths.swept(C, flow(C), frame, x)[0].T).T
    assert W[0, 0] == pytest.approx(X[0] @ x[0])
    assert W[1:, 0] == pytest.approx([r[j, 0] / (j + 1) for j in range(p)])
    for j in range(p + 1):
        left = (j + 1) * W[j + 1, 1:] if j < p else np.zeros(2)
        assert left == pytest.approx(Λ[1:, 1:] @ W[j, 1:] + r[j, 1:], abs=1e-9)


@pytest.mark.parametrize("lag, turns", [(0.0, [False, True, False]), (0.4, [False, True, True])])
def test_what_a_release_puts_where_a_kink_is_turns_it_too(monkeypatch, lag, turns):
    """The flow has a kink at x₁ = 0, a held command; x₂ waits behind it for the release."""
    monkeypatch.setattr(paths, "starts", lambda path: np.array([[1.0, 0.5, -3.0], [2.0, 4.0, 5.0]]))
    monkeypatch.setattr(paths, "released", lambda c: np.array([False, True, False]))
    path = SimpleNamespace(sides=lambda x: [x[:, 1] > 0, x[:, 0] > 1.5])
    path.jumped = lambda program, x: x[:, [0, 2, 2]]
    monkeypatch.setattr(paths, "Path", lambda c, nodes: path)
    c = SimpleNamespace(
        z=np.zeros((2, 1)), states=3, lag=lag,
        flow=SimpleNamespace(still=lambda: np.array([False, True, True])),
        release=None,
    )  # fmt: skip
    path.c = c
    assert paths.turning(c).tolist() == turns


def test_what_a_lap_adds_over_all_laps():
    """Σ (W θ⁻¹)ⁱ C (Wᵀ θ⁻¹)ⁱ of two modes apart, θ = √0.5: 1/(1 − 0.5) and 1/(1 − 0.125)."""
    found = lap.kept(np.diag([0.5, 0.25]), np.eye(2), 0.5)
    assert found == pytest.approx(np.diag([2.0, 8 / 7]))
    mixed = lap.kept(np.array([[0.5, 0.3], [0.0, 0.25]]), np.eye(2), 0.5)
    W = np.array([[0.5, 0.3], [0.0, 0.25]]) / np.sqrt(0.5)
    assert W @ mixed @ W.T + np.eye(2) == pytest.approx(mixed)


def test_segments_of_no_length_add_nothing_to_an_ellipsoid():
    G = np.array([[1.0, 0.0, 0.3], [0.0, 2.0, 0.1]])
    found = lap.ellipsoid(np.hstack([G, np.zeros((2, 2))]))
    assert found == pytest.approx(lap.ellipsoid(G), rel=1e-9)
    for d in np.random.default_rng(1).normal(size=(20, 2)):  # it holds the sum of the segments
        assert np.abs(d @ G).sum() <= np.sqrt(d @ found @ d) * (1 + 1e-9)
