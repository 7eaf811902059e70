"""A predictive law near the origin, by hand: predictions, the gain of its problem, the largest level, and what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.predictive import local as module
from workbench.verification.predictive.ingredients import (
    TerminalIngredients,
    strict_terminal_cost,
    with_slew,
)
from workbench.verification.predictive.local import (
    critical_level,
    local_stability,
    predictions,
    unconstrained,
)
from workbench.verification.predictive.terminal_claims import seen
from workbench.verification.rigorous.balls import Ball

A = np.array([[1.1, 0.2], [0.0, 0.9]])
B = np.array([[0.1], [0.5]])
Q, R, S, P = np.diag([2.0, 0.5]), np.array([[0.3]]), np.array([[0.1], [0.05]]), np.diag([9.0, 3.0])
NONE = {"E": np.zeros((0, 2)), "F": np.zeros((0, 1)), "g": np.zeros(0)}


def ingredients(N=3, **other):
    given = {
        "A": A,
        "B": B,
        "Q": Q,
        "R": R,
        "S": S,
        "P": P,
        "K": np.array([[1.0, 0.8]]),
        "N": N,
        **NONE,
    }
    return TerminalIngredients(**given | other)


def moves(x, U, lengths):
    """States and commands of a sequence."""
    found = []
    for u in np.repeat(U, lengths):
        found.append((x, u))
        x = A @ x + B[:, 0] * u
    return [*found, (x, None)]


# ---- predictions and gains --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("blocks", [None, (1, 2), (2, 1), (3,)])
def test_predictions_of_states_and_commands(blocks):
    lengths = blocks or (1, 1, 1)
    found = predictions(ingredients(blocks=blocks))
    rng = np.random.default_rng(3)
    x, U = rng.normal(size=2), rng.normal(size=len(lengths))
    for (own_x, own_u), (there, u) in zip(found, moves(x, U, lengths), strict=True):
        assert own_x.mid @ np.concatenate([x, U]) == pytest.approx(there)
        assert own_u.mid.shape[0] == (0 if u is None else 1)
        if u is not None:
            assert own_u.mid @ np.concatenate([x, U]) == pytest.approx([u])


def cost(x, U, lengths):
    *steps, (end, _) = moves(x, U, lengths)
    return sum(s @ Q @ s + 2 * s @ S[:, 0] * u + R[0, 0] * u * u for s, u in steps) + end @ P @ end


@pytest.mark.parametrize("blocks", [None, (1, 2), (3,)])
def test_the_gain_makes_the_cost_least(blocks):
    """Any other sequence costs more, by the same up and down; the enclosure is narrow."""
    lengths = blocks or (1, 1, 1)
    X = unconstrained(ingredients(blocks=blocks))
    assert X.mid.shape == (len(lengths), 2) and (X.rad <= 1e-11).all() and (X.rad > 0).all()
    for x in np.random.default_rng(5).normal(size=(4, 2)):
        U = X.mid @ x
        least = cost(x, U, lengths)
        for k in range(len(lengths)):
            off = 0.1 * np.eye(len(lengths))[k]
            up, down = cost(x, U + off, lengths), cost(x, U - off, lengths)
            assert up > least < down and up - least == pytest.approx(down - least, rel=1e-6)


def test_a_cost_that_is_not_convex_in_the_moves_has_no_gain():
    bent = ingredients(R=np.array([[-20.0]]))
    assert unconstrained(bent) is None
    assert local_stability(bent).worst == "the cost is not shown strictly convex in the moves"
    flat = ingredients(N=1, R=np.zeros((1, 1)), S=np.zeros((2, 1)), P=np.zeros((2, 2)))
    assert unconstrained(flat) is None


# ---- the largest level ------------------------------------------------------------------------------------------------------
W = np.array([[2.0, 0.3], [0.3, 1.0]])


def exact(row, limit):
    """The largest c with |row x| ≤ limit on {xᵀWx ≤ c}."""
    return limit**2 / (row @ np.linalg.solve(W, row))


def limited(E, F, g, **other):
    return ingredients(E=np.array(E, float), F=np.array(F, float), g=np.array(g, float), **other)


def test_the_limit_that_is_reached_first():
    """Rows E x_k + F u_k at every sample, U = X x; the nearest decides, with its number among those of a sample."""
    X = Ball.of(np.array([[-0.5, 0.2], [0.1, -0.3], [0.0, 0.4]]))
    t = limited([[1.0, 0.0], [0.0, 0.5]], [[0.0], [1.0]], [5.0, 0.7])
    rows = []
    state = np.eye(2)
    for k in range(3):
        u = X.mid[k]
        rows += [(state[0], 5.0, 0), (0.5 * state[1] + u, 0.7, 1)]
        state = A @ state + B @ u[None, :]
    expected = min((exact(row, limit), i) for row, limit, i in rows)
    c, row = critical_level(t, X, W)
    assert row == expected[1] and c == pytest.approx(expected[0], rel=1e-9) and c <= expected[0]
    ended = replace(t, H=np.array([[0.0, 3.0]]), h=np.array([0.01]))
    c, row = critical_level(ended, X, W)
    assert row == 0 and c == pytest.approx(exact(3.0 * state[1], 0.01), rel=1e-9)


def test_levels_at_the_edge():
    X = Ball.of(np.zeros((3, 2)))
    assert critical_level(ingredients(), X, W) == (1e300, None)
    assert critical_level(limited([[1.0, 0.0]], [[0.0]], [0.0]), X, W) == (0.0, 0)
    assert critical_level(limited([[1.0, 0.0]], [[0.0]], [-1.0]), X, W) == (0.0, 0)
    assert critical_level(limited([[0.0, 0.0]], [[1.0]], [1.0]), X, W) == (1e300, None), (
        "a row that nothing moves"
    )
    wide = Ball(X.mid, np.full((3, 2), 0.25))
    assert critical_level(limited([[0.0, 0.0]], [[1.0]], [1.0]), wide, W)[0] < 1e300


# ---- the verdict -------------------------------------------------------------------------------------------------------------
def test_a_law_that_stabilises_within_a_level():
    t = limited([[0.0, 0.0], [0.0, 0.0]], [[1.0], [-1.0]], [2.0, 2.0], N=8)
    found = local_stability(t, "this law")
    assert (
        found.holds is True
        and found.strength == "proof"
        and found.claim.startswith("this law is locally")
    )
    W_own, c = np.array(found.data["W"]), found.data["level"]
    K = np.array(found.data["K0"])[0]
    first = 4.0 / (K @ np.linalg.solve(W_own, K))
    assert 0 < c <= first and "limit " in found.worst and found.data["change"] >= 1e-9
    assert len(found.assumptions) == 2
    free = local_stability(ingredients(N=8))
    assert (
        free.holds is True
        and "limit" not in free.worst.split(";")[1]
        and free.data["level"] == 1e300
    )
    shut = local_stability(limited([[0.0, 0.0]], [[1.0]], [0.0], N=8))
    assert shut.holds is None and shut.worst == "limit 0 may be active at the origin"


def test_a_gain_that_does_not_stabilise_is_a_violation():
    """Nothing weighs the state: the least cost is no command, and the machine goes away by 1.1 a sample."""
    idle = ingredients(Q=np.zeros((2, 2)), S=np.zeros((2, 1)), P=np.zeros((2, 2)))
    found = local_stability(idle)
    assert found.holds is False and found.strength == "numerical"
    assert (
        found.worst.startswith("the unconstrained gain does not stabilise") and "K0" in found.data
    )


@pytest.mark.parametrize("margin, found", [(-1.1e-4, True), (-0.9e-4, False), (0.1, False)])
def test_how_far_an_eigenvalue_is_outside(margin, found):
    """A thousand times what the enclosure can be off: 2e-9 of four entries, condition 50."""
    loop = Ball(np.eye(2), np.full((2, 2), 1e-9))
    spectrum = SimpleNamespace(margin=margin, conditions=[50.0])
    assert bool(module._outside_beyond(loop, spectrum)) is found
    assert module._outside_beyond(
        Ball(np.eye(2), np.zeros((2, 2))), SimpleNamespace(margin=-1e-300, conditions=[1e9])
    )


# ---- ingredients -----------------------------------------------------------------------------------------------------------------
def test_limits_of_a_command_that_may_move_by_so_much():
    """x and the last command; u ≤ 2, u ≥ −1, |u − u₋₁| ≤ 0.5 and y = 3 x_1 ≤ 4 with no lower limit."""
    A2, B2, E, F, g = with_slew(A, B, -1.0, 2.0, 0.5, [[3.0, 0.0]], -np.inf, 4.0)
    assert A2.tolist() == [
        [1.1, 0.2, 0.0],
        [0.0, 0.9, 0.0],
        [0.0, 0.0, 0.0],
    ] and B2.ravel().tolist() == [0.1, 0.5, 1.0]
    rows = {(*e, *f, limit) for e, f, limit in zip(E.tolist(), F.tolist(), g.tolist())}
    assert rows == {
        (0, 0, 0, 1, 2),
        (0, 0, 0, -1, 1),
        (0, 0, -1, 1, 0.5),
        (0, 0, 1, -1, 0.5),
        (3, 0, 0, 0, 4),
    }
    free = with_slew(A, B, -np.inf, np.inf, np.inf)
    assert free[2].shape == (0, 3) and free[3].shape == (0, 1) and free[4].shape == (0,)


def test_a_terminal_cost_falls_by_more_than_the_stage_cost():
    K = np.array([[1.2, 0.9]])
    own = A - B @ K
    assert np.abs(np.linalg.eigvals(own)).max() < 1
    P_own = strict_terminal_cost(A, B, Q, R, K, S)
    stage = Q - S @ K - K.T @ S.T + K.T @ R @ K
    left = P_own - own.T @ P_own @ own - stage
    assert np.linalg.eigvalsh(left)[0] > 0 and np.abs(left).max() < 1e-4 * np.abs(P_own).max()
    assert strict_terminal_cost(A, B, Q, R, K) == pytest.approx(
        strict_terminal_cost(A, B, Q, R, K, np.zeros((2, 1)))
    )


@pytest.mark.parametrize(
    "change, key",
    [
        ({"A": np.eye(3)}, "A"),
        ({"Q": np.eye(3)}, "Q"),
        ({"R": np.eye(2)}, "R"),
        ({"P": np.eye(1)}, "P"),
        ({"K": np.ones((2, 2))}, "K"),
        ({"S": np.ones((1, 2))}, "S"),
        ({"E": np.ones((1, 2)), "F": np.ones((2, 1)), "g": np.ones(1)}, "F"),
        ({"E": np.ones((2, 2)), "F": np.ones((1, 1)), "g": np.ones(1)}, "E"),
        ({"H": np.ones((1, 3)), "h": np.ones(1)}, "H"),
        ({"E": np.ones((1, 2)), "F": np.ones((1, 1)), "g": np.array([np.inf])}, "g"),
        ({"H": np.ones((1, 2)), "h": np.array([np.nan])}, "g"),
        ({"N": 0}, "N"),
        ({"blocks": (1, 1)}, "N"),
        ({"blocks": (3, 0)}, "N"),
    ],
)
def test_ingredients_that_do_not_fit(change, key):
    with pytest.raises(InputError) as refused:
        ingredients(**change)
    assert refused.value.key == key


def test_ingredients_that_fit():
    t = ingredients(N=3, blocks=(1, 2), H=np.ones((4, 2)), h=np.ones(4))
    assert t.closed.floats() == pytest.approx(A - B @ t.K)
    assert t.stage.floats() == pytest.approx(np.block([[Q, S], [S.T, R]]))
    rows = limited([[1.0, 2.0]], [[3.0]], [1.0])
    assert rows.rows.floats() == pytest.approx(np.array([[1.0, 2.0]]) - 3.0 * rows.K)
    assert ingredients(S=None).S.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize(
    "W_own, c, change, found",
    [
        (np.eye(2), 50.0, {}, True),
        (np.eye(2), 0.0, {}, False),
        (np.eye(2), -1.0, {}, False),
        (np.eye(2), 0.1, {}, False),
        (np.diag([1.0, -0.01]), 50.0, {}, False),
        (np.eye(2), 50.0, {"Q": np.diag([2.0, -0.5])}, False),
    ],
)
def test_whether_the_stage_cost_sees_the_state(W_own, c, change, found):
    """c ℓ is more than what xᵀWx grows by, W is definite, and ℓ is nowhere negative."""
    assert seen(ingredients(**change), W_own, c) is found
