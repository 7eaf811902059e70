"""Filters, weights and settings of predictive and quadratic laws: one state solved by hand, both sides of what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from mpc_cases import scalar, small

from controllers.mpc.check import refined
from controllers.mpc.dense import condensed
from controllers.mpc.field_checks import check_fields
from controllers.mpc.loop import Fast
from controllers.mpc.observer import (
    Observer,
    augmented,
    check_covariance,
    check_observable,
    covariances,
    kalman,
)
from controllers.mpc.parts import LONGEST, Limit, horizon, limit_units
from controllers.mpc.stated import _around, on_states_and_commands, problem_of, terminal_law
from controllers.riccati import _judged, riccati
from workbench.contract.errors import InputError
from workbench.contract.system import Signal

one = lambda v: np.array([[v]], float)


# ---- the Riccati equation ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("a, b, q, r, s", [(1.3, 0.7, 2.0, 0.5, 0.0), (0.4, 3.0, 1.0, 9.0, 0.6)])
def test_one_state_by_its_quadratic(a, b, q, r, s):
    """P = a² P + q − (a b P + s)²/(r + b² P), solved as a quadratic; K = (a b P + s)/(r + b² P)."""
    found = riccati(one(a), one(b), one(q), one(r), one(s))
    roots = np.roots([b * b, r - a * a * r - q * b * b + 2 * a * b * s, s * s - q * r])
    P = roots.max()
    assert found.P[0, 0] == pytest.approx(P) and found.residual < 1e-12
    K = (a * b * P + s) / (r + b * b * P)
    assert found.K[0, 0] == pytest.approx(K) and found.radius == pytest.approx(abs(a - b * K))


def test_several_states_in_any_units():
    """Against the equation itself, with states and commands scaled by decades; the gain scales along."""
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    Q, R, S = np.diag([1.0, 0.0, 2.0]), np.diag([0.5, 3.0]), 0.1 * rng.normal(size=(3, 2))
    S[1] = 0.0
    own = riccati(A, B, Q, R, S)
    law = np.linalg.solve(R + B.T @ own.P @ B, B.T @ own.P @ A + S.T)
    fall = A.T @ own.P @ A - own.P - (A.T @ own.P @ B + S) @ law + Q
    assert np.abs(fall).max() < 1e-10 and own.K == pytest.approx(law)
    d, e = np.diag([1e4, 1e-3, 10.0]), np.diag([1e-3, 1e2])
    back, inner = np.linalg.inv(d), np.linalg.inv(e)
    other = riccati(
        d @ A @ back, d @ B @ inner, back @ Q @ back, inner @ R @ inner, back @ S @ inner
    )
    assert e @ own.K @ back == pytest.approx(other.K, rel=1e-7)


@pytest.mark.parametrize(
    "fault, words",
    [
        ({"R": np.diag([1.0, 0.0])}, "R: .* not positive definite"),
        ({"R": np.diag([1.0, -1.0])}, "R: .* not positive definite"),
        ({"R": np.array([[1.0, 1.0], [1.0, 1.0]])}, "R: .* not positive definite"),
        ({"R": np.array([[1.0, 1e-6], [0.0, 1.0]])}, "R: expected a symmetric"),
        ({"Q": np.array([[1.0, np.nan], [np.nan, 1.0]])}, "Q: expected a symmetric"),
        ({"Q": np.diag([1.0, -1e-6])}, "Q: .* not positive semidefinite"),
        ({"S": np.array([[0.0, 1.1], [0.0, 0.0]])}, "Q: .* not positive semidefinite"),
        (
            {"A": np.diag([1.2, 0.5]), "B": np.array([[0.0, 0.0], [1.0, 1.0]])},
            "no linear–quadratic",
        ),
    ],
)
def test_weights_and_pairs_that_are_none(fault, words):
    good = {"A": np.diag([1.2, 0.5]), "B": np.eye(2), "Q": np.eye(2), "R": np.eye(2)}
    riccati(**good)
    riccati(**(good | {"S": np.array([[0.0, 0.9], [0.0, 0.0]])}))
    riccati(**(good | {"Q": np.diag([1.0, 0.0])}))
    with pytest.raises(InputError, match=words):
        riccati(**(good | fault))


def test_a_solution_is_judged_by_its_terms():
    """Residual over the largest term with P's diagonal made one, radius of A − BK, least eigenvalue of P."""
    A, B, Q, R, S, K, P = (one(v) for v in (0.5, 2.0, 3.0, 1.0, 0.4, 0.1, 4.0))
    residual, radius, low = _judged(A, B, Q, R, S, K, P)
    terms = [0.25 * 4, (0.5 * 4 * 2 + 0.4) * 0.1, 3.0, 4.0]
    assert residual == pytest.approx(abs(terms[0] - terms[1] + terms[2] - terms[3]) / 4.0)
    assert radius == pytest.approx(0.3) and low == 0.0  # no eigenvalue below zero
    assert _judged(A, B, Q, R, S, K, one(np.inf)) is None
    assert (
        _judged(A, B, Q, R, S, one(np.nan), P) is None and _judged(A, B, Q, R, S, K, 0 * P) is None
    )


# ---- filters ---------------------------------------------------------------------------------------------------------------
def test_a_filter_of_one_state():
    """P = a² P − (a c P)²/(c² P + V) + W, L = c P/(c² P + V), radius a (1 − L c)."""
    a, c, W, V = 0.9, 2.0, 0.3, 0.05
    found = kalman(one(a), one(c), one(W), one(V))
    P = np.roots([c * c, V - a * a * V - W * c * c, -W * V]).max()
    L = c * P / (c * c * P + V)
    assert found.P[0, 0] == pytest.approx(P) and found.L[0, 0] == pytest.approx(L)
    assert found.radius == pytest.approx(a * (1 - L * c))
    with pytest.raises(InputError, match="no stationary Kalman filter"):
        kalman(one(1.2), one(0.0), one(W), one(V))


@pytest.mark.parametrize(
    "M, weak, strict",
    [
        (np.diag([1.0, 2.0]), True, True),
        (np.diag([1.0, 0.0]), True, False),
        (np.diag([1.0, -1e-3]), False, False),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), False, False),
        (np.array([[1.0, 0.1], [0.2, 1.0]]), False, False),
        (np.array([[4e-12, 2e-6], [2e-6, 1.0]]), True, False),
        (np.array([[4e-12, 1e-6], [1e-6, 1.0]]), True, True),
    ],
)
def test_covariances_on_both_sides_of_the_edge(M, weak, strict):
    """Judged with variances made one, so that units do not matter."""
    for asked, holds in ((False, weak), (True, strict)):
        if holds:
            check_covariance("W", M, asked)
        else:
            with pytest.raises(InputError, match="W: no covariance"):
                check_covariance("W", M, asked)


def test_what_an_observer_believes():
    """W of states: σ_x² and σ_w² at the disturbances' places; of disturbances σ_d²; V: σ_y²; one entry serves all."""
    B_d = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 0.0]])
    given = Observer(σ_y=(0.1,), σ_d=(0.2, 0.3), σ_w=(0.5,), σ_x=(1.0, 2.0, 3.0))
    W, V = covariances(3, B_d, 2, given)
    wanted = np.diag([1.0, 4.0, 9.0]) + 0.25 * B_d @ B_d.T
    assert W[:3, :3] == pytest.approx(wanted) and np.diag(W[3:, 3:]) == pytest.approx([0.04, 0.09])
    assert not W[:3, 3:].any() and pytest.approx(0.01 * np.eye(2)) == V
    with pytest.raises(InputError, match="observer.σ_d: expected 1 or 3 numbers, got 2"):
        covariances(3, np.ones((3, 3)), 2, given)
    A, C = augmented(np.diag([0.5, 0.6, 0.7]), B_d, np.ones((2, 3)), np.eye(2))
    assert A[:3, 3:].tolist() == B_d.tolist() and A[3:, 3:].tolist() == np.eye(2).tolist()
    assert C.tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 0, 1]]


@pytest.mark.parametrize(
    "B_d, C_d, seen",
    [
        ([[1.0]], [[0.0]], True),
        ([[0.0]], [[1.0]], True),
        ([[1.0, 0.0]], [[0.0, 1.0]], False),  # two disturbances, one output
        ([[0.0]], [[0.0]], False),
        ([[1e-6]], [[0.0]], True),
    ],
)
def test_disturbances_that_outputs_tell_apart(B_d, C_d, seen):
    asked = one(0.5), np.array(B_d), one(2.0), np.array(C_d)
    if seen:
        check_observable(*asked)
        return
    with pytest.raises(InputError, match="cannot be told apart"):
        check_observable(*asked)


def test_a_disturbance_behind_an_integrator_is_not_seen_at_the_output():
    with pytest.raises(InputError, match="cannot be told apart"):
        check_observable(one(1.0), one(0.0), one(1.0), one(1.0))
    check_observable(one(1.0), one(1.0), one(1.0), one(0.0))


# ---- settings --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("T, N", [(20e-3, 20), (0.1, 10), (1e-3, 80), (0.4 / 33.4, 33), (5e-3, 80)])
def test_a_horizon_looks_four_tenths_ahead(T, N):
    assert horizon(T) == N


@pytest.mark.parametrize("low, high", [(None, None), (1.0, 1.0), (2.0, 1.0)])
def test_limits_that_are_none(low, high):
    with pytest.raises(InputError, match="limit of y"):
        Limit("y", low, high)
    Limit("y", 1.0, None), Limit("y", None, 0.0), Limit("y", 1.0, 1.0001)


def settings(**changes):
    """A law's numbers without a law."""
    given = {
        "N": 6,
        "preview": None,
        "blocks": (),
        "iterations": 1,
        "x_0": (),
        "u_0": (),
        "working": None,
        "relinearise": False,
        "extra": None,
        "terminal": "cost",
        "u_min": (-1.0,),
        "u_max": (1.0,),
        "model": SimpleNamespace(states=(Signal("a"), Signal("b"))),
        "commands": (Signal("u"),),
    } | changes
    law = SimpleNamespace(**given)
    law.each = lambda name: np.array(given[name])
    return law


@pytest.mark.parametrize(
    "changes",
    [
        {"N": 1},
        {"N": LONGEST},
        {"preview": 0},
        {"blocks": (1, 2, 3)},
        {"iterations": 1000},
        {"x_0": (1.0, 2.0), "u_0": (0.5,)},
        {"working": {"b": 1e-3}},
        {"relinearise": True},
        {"extra": len},
        {"terminal": "set"},
    ],
)
def test_settings_at_their_edges_are_taken(changes):
    check_fields(settings(**changes))


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"N": 0}, "horizon N = 0"),
        ({"N": 2.0}, "horizon N = 2.0"),
        ({"N": LONGEST + 1}, "at most 1000"),
        ({"preview": -1}, "preview"),
        ({"preview": 1.0}, "preview"),
        ({"blocks": (1, 0)}, "blocks"),
        ({"blocks": (1, 1.0)}, "blocks"),
        ({"blocks": (3, 4)}, "blocks"),
        ({"iterations": 0}, "iterations"),
        ({"iterations": 1001}, "iterations"),
        ({"iterations": 1.0}, "iterations"),
        ({"x_0": (1.0,)}, "x_0: expected 2 numbers"),
        ({"u_0": (1.0, 2.0)}, "u_0: expected 1 numbers"),
        ({"working": {"c": 1.0}}, "no signal 'c'"),
        ({"relinearise": True, "extra": len}, "changes every sample"),
        ({"relinearise": True, "terminal": "set"}, "changes every sample"),
        ({"u_min": (1.0,)}, "u_min, 1, must be below"),
        ({"u_min": (2.0,)}, "u_min, 2, must be below"),
    ],
)
def test_settings_beyond_their_edges_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        check_fields(settings(**changes))


def test_units_of_limits():
    model = lambda *units: SimpleNamespace(
        inputs=tuple(Signal(f"u{i}", unit) for i, unit in enumerate(units))
    )
    assert limit_units(model("V", "V")) == {"u_min": "V", "u_max": "V", "u_0": "V", "slew": "V/s"}
    assert limit_units(model("V", "m"))["slew"] == "1" and limit_units()["slew"] == "command/s"


# ---- the end of the problem ------------------------------------------------------------------------------------------------
def test_states_and_commands_together():
    """ξ⁺ = (A x + B u, u): the terminal law is the regulator of that, with the stage cost of the problem."""
    q = small(np.random.default_rng(3), P=None, K=None)
    A, B, Q, R, S = on_states_and_commands(q)
    x, before, u = (np.random.default_rng(4).normal(size=k) for k in (3, 2, 2))
    ξ = np.concatenate([x, before])
    assert A @ ξ + B @ u == pytest.approx(np.concatenate([q.model.A @ x + q.model.B @ u, u]))
    P, K, own = terminal_law(q)
    assert own == pytest.approx(A - B @ K)
    cost = Q - S @ K - K.T @ S.T + K.T @ R @ K
    assert P - own.T @ P @ own == pytest.approx(cost, abs=1e-8 * np.abs(P).max())


@pytest.mark.parametrize("room", [0.25, 0.5])
def test_limits_around_a_steady_state(room):
    """What `room` leaves of half of each range with two ends; slew whole; an output with one limit is left out or refused."""
    q = small(np.random.default_rng(5), y_min=np.array([-4.0, -np.inf, -1.0]))
    M, b = _around(q, q.K, room, strict=False)
    left = 1 - room
    assert b == pytest.approx([left * 2.5, 0.9, left * 3.0])
    own = np.hstack([np.zeros((2, 3)), np.eye(2)])
    assert M[0] == pytest.approx(-q.K[0]) and M[1] == pytest.approx(-q.K[0] - own[0])
    assert M[2] == pytest.approx([*q.model.C[2], 0, 0])
    with pytest.raises(InputError, match="one limit has no middle"):
        _around(q, q.K, room, strict=True)


def test_limits_of_one_output_are_joined_and_soft_ones_kept_apart():
    q = small(np.random.default_rng(6))
    law = SimpleNamespace(
        measured=(Signal("a"), Signal("b"), Signal("c")),
        follows=(Signal("c"), Signal("a")),
        limits=(
            Limit("a", -2.0, 5.0),
            Limit("a", None, 3.0),
            Limit("a", -1.0),
            Limit("b", 0.5, 0.7, True, 2.0, 3.0),
            Limit("c", None, 9.0, True),
        ),
        N=5, lengths=(1, 2, 2), T_s=0.1, ahead=2, R=(0.0,), terminal="none", relinearise=True,
    )  # fmt: skip
    numbers = {"Q": [3.0, 0.7], "R": [0.0, 0.0], "S": [2.0, 0.6], "slew": [9.0, np.inf]}
    numbers |= {"u_min": [-2.0, -1.0], "u_max": [3.0, 0.7]}
    law.each = lambda name: np.array(numbers[name])
    made, terminal = problem_of(law, q.model)
    assert terminal is None and made.track == (2, 0) and made.p == 2
    assert made.y_min.tolist() == [-1.0, -np.inf, -np.inf]
    assert made.y_max.tolist() == [3.0, np.inf, np.inf]
    assert made.soft == (1, 2) and made.y_low.tolist() == [0.5, -np.inf]
    assert made.y_high.tolist() == [0.7, 9.0] and made.ρ1.tolist() == [2.0, 0.0]
    assert made.ρ2.tolist() == [3.0, 1.0] and made.slew == pytest.approx([0.9, np.inf])
    law.limits = (Limit("a", 1.0), Limit("a", None, 1.0))
    with pytest.raises(InputError, match="limits of a contradict each other: above 1 and below 1"):
        problem_of(law, q.model)


# ---- a solution once more ----------------------------------------------------------------------------------------------------
def test_a_solution_is_found_again_from_its_active_set():
    rng = np.random.default_rng(7)
    q = small(rng)
    dense = condensed(q)
    θ = 0.3 * rng.normal(size=q.n_θ)
    θ[-1] = 1.0
    found = Fast(dense).solve(θ)
    assert found.status == 1
    z, λ, residual = refined(dense, θ, found.λ)
    assert z == pytest.approx(found.z, abs=1e-7) and residual < 1e-12
    assert λ == pytest.approx(found.λ, abs=1e-6)
    wrong = found.λ.copy()
    wrong[np.argmax(np.abs(wrong))] = 0.0
    if np.abs(found.λ).max() > 0:
        assert refined(dense, θ, wrong)[2] > 1e-6


def test_residuals_of_one_command_by_hand():
    """min (u − 3)² for |u| ≤ 1: the bound with the wrong sign, left out, or held too early."""
    dense, θ = scalar(3.0, -1.0, 1.0)
    z, λ, residual = refined(dense, θ, np.array([1.0]))
    assert z == pytest.approx([1.0]) and residual < 1e-15 and λ[0] == pytest.approx(4 / dense.scale)
    free = refined(dense, θ, np.array([0.0]))
    assert free[0] == pytest.approx([3.0]) and free[2] == pytest.approx(2.0)  # beyond by 2
    below = refined(dense, θ, np.array([-1.0]))
    assert below[0] == pytest.approx([-1.0]) and below[2] == pytest.approx(8 / 6)
    inner, at = scalar(0.5, -1.0, 1.0)
    held = refined(inner, at, np.array([1.0]))
    assert held[0] == pytest.approx([1.0]) and held[2] == pytest.approx(1.0)
    wide = replace(dense, z_high=np.array([1e30]), z_low=np.array([-1e30]))
    assert refined(wide, θ, np.array([0.0]))[2] < 1e-15
