"""Predictive control: terminal sets, and the fall of the cost that they are for."""

from types import SimpleNamespace

import numpy as np
import pytest
from actuator import SLEW, X_MAX, Actuator, commands, mpc

from controllers import MPC, Limit
from controllers.mpc.terminal_set import admissible, largest, overshoot
from controllers.mpc.verification import _inside, moved
from workbench.contract.errors import InputError


def test_terminal_set_is_invariant_and_keeps_the_limits():
    terminal = mpc(terminal="set", room=0.4).terminal_data
    assert overshoot(terminal.A_K, terminal.H, terminal.h) < 1e-8
    for row, edge in zip(terminal.M, terminal.b):
        for sign in (1, -1):
            assert largest(
                np.zeros((0, len(row))), np.zeros(0), sign * row, terminal.H, terminal.h
            ) < edge * (1 + 1e-8)
    rng = np.random.default_rng(7)
    L = np.linalg.inv(np.linalg.cholesky(terminal.P)).T
    directions = rng.normal(size=(300, len(L))) @ L.T
    δ = (
        directions / (directions @ terminal.H.T / terminal.h).max(axis=1)[:, None]
    )  # on the boundary
    for _ in range(60):
        assert (np.abs(δ @ terminal.M.T) <= terminal.b * (1 + 1e-8)).all()
        δ = δ @ terminal.A_K.T
        assert (δ @ terminal.H.T <= terminal.h * (1 + 1e-8)).all()
    inside = (
        directions
        * np.sqrt(terminal.level / np.einsum("ij,jk,ik->i", directions, terminal.P, directions))[
            :, None
        ]
    )
    assert (inside @ terminal.H.T <= terminal.h * (1 + 1e-8)).all()
    assert (
        overshoot(
            terminal.A_K,
            terminal.H,
            terminal.h * np.where(np.arange(len(terminal.h)) == 0, 0.5, 1.0),
        )
        > 1e-3
    )


def test_terminal_set_is_the_largest():
    """Beyond its boundary the law breaks a limit some time later."""
    terminal = mpc(terminal="set", room=0.4).terminal_data
    rng = np.random.default_rng(8)
    L = np.linalg.inv(np.linalg.cholesky(terminal.P)).T
    for direction in rng.normal(size=(50, len(L))) @ L.T:
        δ = direction / (direction @ terminal.H.T / terminal.h).max() * 1.001
        worst = 0.0
        for _ in range(400):
            worst = max(worst, (np.abs(terminal.M @ δ) / terminal.b).max())
            δ = terminal.A_K @ δ
        assert worst > 1.0


def test_scalar_terminal_set():
    H, h = admissible(np.array([[0.5]]), np.array([[2.0]]), np.array([3.0]))
    assert np.allclose(sorted((H.ravel() / h).tolist()), [-2 / 3, 2 / 3])
    H, h = admissible(np.array([[0.9, 0.5], [0.0, 0.9]]), np.array([[1.0, 0.0]]), np.array([1.0]))
    assert len(h) > 4 and overshoot(np.array([[0.9, 0.5], [0.0, 0.9]]), H, h) < 1e-8
    with pytest.raises(InputError, match="not determined"):
        admissible(
            np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]]),
            np.array([[1.0, 0.0]]),
            np.array([1.0]),
        )


@pytest.mark.parametrize("room", [1.0, 0.6])
def test_room_is_a_share_of_each_range_about_its_own_middle(room):
    """Ranges off the origin, of commands and of outputs, from both ends; a range with one end only has no middle."""
    limits = SimpleNamespace(
        u_min=np.array([-1.0, 2.0]),
        u_max=np.array([5.0, 3.0]),
        y_min=np.array([-9.0, -np.inf]),
        y_max=np.array([-7.0, 1.0]),
    )
    middle = np.array([2.0, 2.5]), np.array([-8.0, 1e6])
    half = np.array([3.0, 0.5]), np.array([1.0, 0.0])
    assert _inside(limits, *middle, room)
    for which in (0, 1):
        for i in range(2 - which):
            for sign in (-1.0, 1.0):
                for share, inside in ((0.999, True), (1.001, False)):
                    given = [v.copy() for v in middle]
                    given[which][i] += sign * share * room * half[which][i]
                    assert _inside(limits, *given, room) is inside


def test_what_room_leaves_of_each_range_is_for_what_moves_about_the_steady_state():
    """Half-ranges times 1 − room of command and output, which lie off the origin; a rate has no steady part."""
    law = mpc(
        terminal="set",
        room=0.4,
        u_min=(-X_MAX,),
        u_max=(2 * X_MAX,),
        limits=(Limit("Y", -1e-4, 4e-4),),
    )
    terminal, q = law.terminal_data, law.prepared.problem
    n = len(q.model.A)
    last = np.eye(n + 1)[n]
    seen = np.append(q.model.C[0], 0.0)
    expected = (
        (-terminal.K[0], 0.6 * 1.5 * X_MAX),
        (-terminal.K[0] - last, q.slew[0]),
        (seen, 0.6 * 2.5e-4),
    )
    assert len(terminal.b) == 3
    for row, edge, (own, half) in zip(terminal.M, terminal.b, expected):
        assert row / edge == pytest.approx(own / half, rel=1e-9)


def test_what_a_command_moves_is_what_it_reaches():
    A = np.zeros((5, 5))
    A[1, 0] = A[2, 1] = A[0, 2] = A[4, 3] = A[3, 3] = 0.5
    assert moved(A, np.array([[0.0], [0.0], [1.0], [0.0], [0.0]])) == [0, 1, 2]
    assert moved(A, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])) == [
        *range(5)
    ]
    assert moved(A, np.eye(5)[:, [4]]) == [4]


def test_cost_falls_by_the_stage_cost():
    """With terminal cost and set, full state and the plant as model: V(x⁺) ≤ V(x) − ℓ, the theorem's inequality."""
    plant = Actuator(all_states=True)
    law = MPC(
        plant,
        Q=(1e6,),
        S=(1e5,),
        R=(1e3,),
        u_min=(-X_MAX,),
        u_max=(X_MAX,),
        slew=(SLEW,),
        tracked=("Y",),
        terminal="set",
        N=25,
        room=0.3,
    )
    assert all(law.hypotheses().values()) and not all(mpc().hypotheses().values())
    q, solver = law.prepared.problem, law.solver(law.prepared)
    x, u, steps = np.array([0.0, 0.0, 0.0, 0.0, 2.5e-4]), 0.0, 0
    for _ in range(40):
        θ = law.parameter(x, 0.0, u=u)
        s = solver.solve(θ)
        assert s.status == 1
        V, move = law.prepared.dense.value(θ, s.z), commands(law, s)[0]
        stage = 1e6 * x[4] ** 2 + 1e3 * move**2 + 1e5 * (move - u) ** 2
        x, u = q.model.A @ x + q.model.B[:, 0] * move, move
        after = law.value(x, 0.0, u=u)
        assert after <= V - stage + 1e-9 * V
        steps += np.count_nonzero(s.λ) > 0
    assert steps >= 3


def test_the_largest_of_a_row_is_bounded_from_both_sides():
    """|δ₁| ≤ 2, |δ₂| ≤ 3 cut by δ₁ − δ₂ ≤ 1: the least of δ₁ + δ₂ is −5 and the largest 5; without limits there is none."""
    M, b = np.eye(2), np.array([2.0, 3.0])
    H, h = np.array([[1.0, -1.0]]), np.array([1.0])
    assert largest(M, b, np.array([1.0, 1.0]), H, h) == pytest.approx(5.0)
    assert largest(M, b, np.array([-1.0, -1.0]), H, h) == pytest.approx(5.0)
    assert largest(M, b, np.array([1.0, -2.0]), H, h) == pytest.approx(4.0)
    assert largest(M, b, np.array([-1.0, 2.0]), H[:0], h[:0]) == pytest.approx(8.0)
    assert largest(M[:1], b[:1], np.array([0.0, 1.0]), H[:0], h[:0]) == np.inf


def test_rows_of_which_the_solver_says_nothing_are_kept(monkeypatch):
    """They hold of the set anyway: the set is the same one, told with more rows."""
    import scipy.optimize

    A_K = np.array([[0.5, 0.3], [0.0, 0.4]])
    few, _ = admissible(A_K, np.array([[1.0, 0.0]]), np.array([2.0]))
    solve = scipy.optimize.linprog
    calls = []

    def lost(*given, **options):
        calls.append(1)
        found = solve(*given, **options)
        found.status = 4 if len(calls) == 2 else found.status
        return found

    monkeypatch.setattr(scipy.optimize, "linprog", lost)
    more, h = admissible(A_K, np.array([[1.0, 0.0]]), np.array([2.0]))
    rng = np.random.default_rng(4)
    points = rng.uniform(-9.0, 9.0, (2000, 2))
    inside = lambda H: (points @ H.T <= 1.0 + 1e-9).all(axis=1)
    assert len(calls) > 2 and (inside(few) == inside(more)).all() and inside(few).any()
