"""Factors of small matrices and what holds motion on its constraints, against the same by NumPy."""

import numpy as np
import pytest
from test_articulated_tree_by_hand import MOTION, OWN, T

from plants.multibody import articulated, linear, tree

H = np.array([[4.0, 1.0, -0.5, 0.3], [1.0, 5.0, 0.7, -1.1], [-0.5, 0.7, 3.0, 0.9], [0.3, -1.1, 0.9, 6.0]])  # fmt: skip
G = [[0.5, -1.0, 0.3, 0.8, 0.2, -0.6], [0.9, 0.4, -0.7, 0.1, 0.6, 1.2]]
M = np.array(tree.mass_matrix(T, OWN, MOTION.b), float)
BRANCHES = articulated.branches(T, OWN, MOTION.b)


def test_factors_of_a_symmetric_matrix():
    """L D Lᵀ with ones on the diagonal of L, of which only what is below is filled."""
    found = linear.factors(H.tolist())
    below = np.tril(np.array(found.L), -1)
    assert np.array(found.L).tolist() == below.tolist()
    L = below + np.eye(4)
    assert L @ np.diag(1 / np.array(found.inverse)) @ L.T == pytest.approx(H)
    b = [3.0, -1.0, 2.0, 0.5]
    assert linear.solve(found, b) == pytest.approx(np.linalg.solve(H, b))
    assert b == [3.0, -1.0, 2.0, 0.5]


def test_products_with_rows():
    A, x, y = [[2.0, 0.0, -1.0], [0.5, 3.0, 4.0]], [7.0, -2.0, 0.5], [3.0, -5.0]
    assert linear.times(A, x) == pytest.approx(np.array(A) @ x)
    assert linear.transposed_times(A, y, 3) == pytest.approx(np.array(A).T @ y)
    assert linear.times([[], []], []) == [0.0, 0.0]


def test_what_holds_motion_on_its_constraints():
    own = linear.held(BRANCHES, G)
    g = np.array(G)
    S = g @ np.linalg.solve(M, g.T)
    assert np.array(own.rows) == pytest.approx(S) and own.damped is False
    assert np.array(own.columns) == pytest.approx(np.linalg.solve(M, g.T).T)
    b = [0.7, -1.9]
    μ = own.multipliers(b)
    assert μ == pytest.approx(np.linalg.solve(S, b), rel=1e-9)
    assert own.along(μ) == pytest.approx(np.linalg.solve(M, g.T @ μ))


def test_accelerations_and_multipliers_of_a_constrained_motion():
    """M z̈ + Gᵀ λ = Q and G z̈ + γ = 0, both; without rows M z̈ = Q."""
    Q, γ, g = [3.0, -1.0, 0.5, 2.0, 7.0, -4.0], [0.6, -1.3], np.array(G)
    found, λ = linear.constrained(linear.held(BRANCHES, G), Q, γ)
    assert M @ found + g.T @ λ == pytest.approx(Q) and g @ found == pytest.approx([-0.6, 1.3])
    free, none = linear.constrained(linear.held(BRANCHES, []), Q, [])
    assert free == pytest.approx(np.linalg.solve(M, Q)) and none == []


@pytest.mark.parametrize("damping", [0.2, 0.03])
def test_damped_rows_are_solved_again_for_what_the_damping_has_left(damping):
    """Of one row each solution leaves d/(1 + d) of what it met: three more leave its fourth power."""
    own = linear.held(BRANCHES, G[:1], damping)
    S = own.rows[0][0]
    left = damping / (1 + damping)
    assert own.damped is True
    assert own.multipliers([0.8])[0] * S == pytest.approx(0.8 * (1 - left**4), rel=1e-9)


def test_rows_that_depend_on_each_other_share_their_force():
    """The same row twice, once of double length: λ_2 = 2 λ_1 of a sum that holds."""
    own = linear.held(BRANCHES, [G[0], [2 * v for v in G[0]]], 1e-4)
    one = linear.held(BRANCHES, G[:1])
    wanted = one.along(one.multipliers([0.8]))
    μ = own.multipliers([0.8, 1.6])
    assert own.along(μ) == pytest.approx(wanted, rel=1e-9)
    off = [v for i, row in enumerate(own.rows) for j, v in enumerate(row) if i != j]
    assert off == pytest.approx([2 * own.rows[0][0]] * 2)
