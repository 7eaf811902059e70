"""Predictive controllers: what the theorem needs, each part from both sides; the local law; logs."""

import json
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from workbench.contract.errors import InputError
from workbench.verification.predictive.claims import cost_on_log, mpc_stability
from workbench.verification.predictive.ingredients import (
    TerminalIngredients,
    strict_terminal_cost,
    with_slew,
)
from workbench.verification.predictive.local import local_stability, unconstrained
from workbench.verification.predictive.terminal_claims import (
    seen,
    sees_state,
    terminal_cost,
    terminal_set,
)
from workbench.verification.rigorous.exact import Dyadic
from workbench.verification.rigorous.recheck import recheck

A0, B0, C0 = (
    np.array([[1.0, 0.1], [0.0, 0.95]]),
    np.array([[0.005], [0.11]]),
    np.array([[1.0, 0.0]]),
)


def weights(q=4.0, v=0.2, r=0.3, s=0.5):
    """ℓ = q x² + r u² + s (u − u₋)² on (x, v, u₋): Q, R, S with cross term."""
    return np.diag([q, v, s]), np.array([[r + s]]), np.array([[0.0], [0.0], [-s]])


def invariant(A_K, rows, g, λ=0.9999):
    """{|rows (A_K/λ)ᵗ x| ≤ g}, stacked until long after it has settled: contracts by λ, with many rows to spare."""
    H, h, M = [], [], rows
    for _ in range(25):
        H, h = [*H, *M], [*h, *g]
        M = M @ A_K / λ
    return np.array(H), np.array(h) * (1 - 1e-9)


def ingredients(**changes):
    A, B, E, F, g = with_slew(A0, B0, -1.0, 1.2, 0.4, C0, -2.0, 2.5)
    Q, R, S = weights()
    P = solve_discrete_are(A, B, Q, R, s=S)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + S.T)
    H, h = invariant(A - B @ K, E - F @ K, g)
    t = TerminalIngredients(
        A, B, Q, R, strict_terminal_cost(A, B, Q, R, K, S), K, 8, E, F, g, H, h, S
    )
    return replace(t, **changes)


GOOD = ingredients()


def test_slew_limits_through_the_last_command():
    A, B, E, F, g = with_slew(A0, B0, -1.0, 1.2, 0.4, C0, -2.0, np.inf)
    x, u = np.array([0.3, -0.2, 0.5]), np.array([0.7])
    np.testing.assert_allclose(A @ x + B @ u, [*(A0 @ x[:2] + B0 @ u), 0.7])
    np.testing.assert_allclose(
        sorted(g - E @ x - F @ u), sorted([1.2 - 0.7, 0.7 + 1.0, 0.4 - 0.2, 0.4 + 0.2, 0.3 + 2.0])
    )


def test_all_parts_proved_and_rechecked():
    cost, kept, whole = mpc_stability(GOOD)
    assert [v.holds for v in (cost, kept, whole)] == [True] * 3 and whole.strength == "proof"
    assert any("minimiser" in a.text and a.holds is None for a in whole.assumptions)
    accepted, words = recheck(json.loads(json.dumps(whole.data["certificate"])))
    assert accepted, words


def test_closed_loop_does_what_was_proved():
    """The QP itself, solved by an independent solver from several feasible starts: feasible, and V falls by ℓ."""
    t, n = GOOD, 3
    x0 = cp.Parameter(n)
    X, U = cp.Variable((t.N + 1, n)), cp.Variable((t.N, 1))
    root = np.linalg.cholesky(np.block([[t.Q, t.S], [t.S.T, t.R]]) + 1e-12 * np.eye(4)).T
    ℓ = lambda x, u: cp.sum_squares(root @ cp.hstack([x, u]))
    cost = sum(ℓ(X[k], U[k]) for k in range(t.N)) + cp.quad_form(X[t.N], cp.psd_wrap(t.P))
    rules = [X[0] == x0, t.H @ X[t.N] <= t.h]
    for k in range(t.N):
        rules += [X[k + 1] == t.A @ X[k] + t.B @ U[k], t.E @ X[k] + t.F @ U[k] <= t.g]
    problem = cp.Problem(cp.Minimize(cost), rules)
    for start in ([0.8, 0.2, 0.0], [-0.7, -0.3, 0.1]):
        x, values, stages = np.array(start), [], []
        for _ in range(14):
            x0.value = x
            problem.solve(solver=cp.CLARABEL)
            assert problem.status == "optimal"
            u = U.value[0]
            values.append(problem.value)
            stages.append(float(ℓ(x, u).value))
            x = t.A @ x + t.B @ u
        assert cost_on_log(values, stages, ["optimal"] * 14, floor=1e-6 * values[0]).holds is True


# ---- planted faults


def test_wrong_terminal_costs_are_refused():
    own = terminal_cost(GOOD)
    assert own.holds and own.strength == "proof"
    P = GOOD.P
    for wrong in (-P, 0.9 * P, np.eye(3), P * np.array([[1, -1, 1], [-1, 1, 1], [1, 1, 1]])):
        v = terminal_cost(replace(GOOD, P=wrong))
        assert v.holds is False and v.strength == "proof"
        x, K = np.array(v.data["x"]), GOOD.K
        u = -K @ x
        after = GOOD.A @ x + GOOD.B @ u
        ℓ = x @ GOOD.Q @ x + 2 * x @ GOOD.S @ u + u @ GOOD.R @ u
        assert after @ wrong @ after - x @ wrong @ x + ℓ > 0
    assert terminal_cost(replace(GOOD, K=-GOOD.K)).holds is False
    assert terminal_cost(replace(GOOD, Q=GOOD.Q * 1.5)).holds is False


def test_a_riccati_solution_is_at_the_edge():
    """Its fall is ℓ exactly: rounding decides, so it is undecided; a touch less is violated or undecided, never held."""
    P = solve_discrete_are(GOOD.A, GOOD.B, GOOD.Q, GOOD.R, s=GOOD.S)
    assert terminal_cost(replace(GOOD, P=P * (1 - 1e-12))).holds is not True
    assert np.abs(GOOD.P - P).max() < 1e-5 * np.abs(P).max()


def test_sets_that_leak_are_refused():
    kept, duals = terminal_set(GOOD)
    assert kept.holds and kept.strength == "proof" and set(duals) == {"radius", "kept", "limits"}
    for fault in (dict(h=1.3 * GOOD.h), dict(K=-GOOD.K), dict(K=0 * GOOD.K), dict(g=0.9 * GOOD.g)):
        v, none = terminal_set(replace(GOOD, **fault))
        assert v.holds is False and v.strength == "proof" and not none
        t, x = replace(GOOD, **fault), np.array(v.data["x"])
        after = t.A @ x - t.B @ (t.K @ x)
        assert (t.H @ x <= t.h).all()
        assert (t.H @ after > t.h).any() or (t.E @ x - t.F @ (t.K @ x) > t.g).any()
    n = 2 * len(GOOD.g)
    short, _ = terminal_set(replace(GOOD, H=GOOD.H[: n // 2], h=GOOD.h[: n // 2]))
    assert short.holds is False  # admissible now, not kept


def test_tolerance_games_do_not_pass():
    """A set too large by one part in 10¹² touches a limit: not held. Unbounded sets and sets beside the origin neither."""
    g = GOOD.E - GOOD.F @ GOOD.K
    tight = np.vstack([GOOD.H, g]), np.concatenate([GOOD.h, GOOD.g * (1 + 1e-12)])
    loose = replace(GOOD, H=tight[0][len(GOOD.g) :], h=tight[1][len(GOOD.g) :])
    v, _ = terminal_set(loose)
    assert v.holds is not True
    assert terminal_set(replace(GOOD, H=GOOD.H[:2], h=GOOD.h[:2]))[0].holds is None
    assert (
        terminal_set(replace(GOOD, h=GOOD.h * np.where(np.arange(len(GOOD.h)) == 1, -0.1, 1)))[
            0
        ].holds
        is None
    )
    assert terminal_set(replace(GOOD, H=None, h=None))[0].holds is None


def test_scalar_set_at_its_exact_edge():
    """x⁺ = x/2 under u = −x/2, |u| ≤ 1: {|x| ≤ 2} is admissible exactly, and not an ulp more."""
    E, F = np.zeros((2, 1)), np.array([[1.0], [-1.0]])
    one = TerminalIngredients(
        [[1.0]],
        [[1.0]],
        [[1.0]],
        [[1.0]],
        [[2.0]],
        [[0.5]],
        3,
        E,
        F,
        np.ones(2),
        [[1.0], [-1.0]],
        np.array([2.0, 2.0]),
    )
    assert terminal_set(one)[0].holds is True
    assert terminal_set(replace(one, h=np.array([np.nextafter(2.0, 3), 2.0])))[0].holds is not True
    assert terminal_cost(one).holds is True  # 2 − ½ ≥ 1 + ¼
    assert terminal_cost(replace(one, P=[[5 / 3]])).holds is (5 / 3 * 3 / 4 >= 5 / 4 or None)


def test_ellipsoid_as_terminal_set():
    rows = GOOD.E - GOOD.F @ GOOD.K
    level = float((GOOD.g**2 / np.einsum("ij,jk,ik->i", rows, np.linalg.inv(GOOD.P), rows)).min())
    inside = replace(GOOD, H=None, h=None, level=level * (1 - 1e-9))
    assert terminal_set(inside)[0].holds and mpc_stability(inside)[2].holds
    assert terminal_set(replace(inside, level=level * (1 + 1e-9)))[0].holds is None
    assert terminal_set(replace(inside, P=0.9 * GOOD.P))[0].holds is None


def test_stage_costs_that_do_not_see_the_state():
    W, c = sees_state(GOOD)
    assert (
        seen(GOOD, W, c)
        and not seen(GOOD, -W, c)
        and not seen(GOOD, W, -c)
        and not seen(GOOD, W, 1e-9 * c)
    )
    blind = replace(
        GOOD, Q=np.diag([0.0, 0.2, 0.5])
    )  # position does not count, and does not settle by itself
    assert sees_state(blind) is None and mpc_stability(blind)[2].holds is None
    bent = replace(GOOD, Q=np.diag([4.0, -0.01, 0.5]))
    assert sees_state(bent) is None or not seen(bent, *sees_state(bent))
    indirect = replace(GOOD, Q=np.diag([4.0, 0.0, 0.5]))  # speed is seen through position
    assert sees_state(indirect) is not None
    C = np.array([[0.1, 0.3, 0.0]])
    assert terminal_cost(replace(GOOD, Q=Dyadic.of(C.T) @ C)).holds is True  # a product, kept exact


@pytest.mark.parametrize("lost", ["full state measured", "limits on outputs are hard"])
def test_lost_hypotheses_are_named(lost):
    *_, v = mpc_stability(replace(GOOD, lost=(lost,)))
    assert (
        v.holds is None
        and lost in v.worst
        and any(a.text == lost and a.holds is False for a in v.assumptions)
    )
    *_, blocked = mpc_stability(replace(GOOD, blocks=(1, 1, 6)))
    assert blocked.holds is None and "own move" in blocked.worst


def test_tampered_certificates_are_refused():
    document = mpc_stability(GOOD)[2].data["certificate"]
    scaled = lambda rows, k: [[str(Fraction(v) * k) for v in row] for row in rows]
    duals = document["duals"]
    for part in (
        dict(P=scaled(document["P"], -1)),
        dict(K=scaled(document["K"], -1)),
        dict(h=scaled([document["h"]], 2)[0]),
        dict(Q=scaled(document["Q"], 2)),
        dict(g=["1/100"] * len(document["g"])),
        dict(c="-0x1p+0"),
        dict(W=scaled(document["W"], -1)),
        dict(H=document["H"][1:]),
        dict(duals={**duals, "kept": duals["kept"][1:]}),
        dict(duals={**duals, "radius": duals["radius"][:-1]}),
        dict(duals={**duals, "limits": [["0x0p+0"] * len(document["h"])] * len(document["g"])}),
        dict(duals={**duals, "kept": [["-" + v.lstrip("-") for v in y] for y in duals["kept"]]}),
    ):
        assert not recheck({**document, **part})[0], part.keys()


def test_bad_ingredients_are_refused():
    for fault in (
        dict(K=GOOD.K.T),
        dict(N=0),
        dict(blocks=(1, 2)),
        dict(g=GOOD.g[1:]),
        dict(H=GOOD.H[:, :2]),
        dict(g=np.where(np.arange(len(GOOD.g)) == 0, np.inf, GOOD.g)),
        dict(P=np.eye(2)),
    ):
        with pytest.raises(InputError):
            replace(GOOD, **fault)


# ---- the local law


def test_unconstrained_gain_is_the_regulators():
    """With Riccati's P as terminal cost any horizon gives the infinite-horizon gain; the enclosure holds it, narrowly."""
    P = solve_discrete_are(GOOD.A, GOOD.B, GOOD.Q, GOOD.R, s=GOOD.S)
    X = unconstrained(replace(GOOD, P=P))
    assert X.rad.max() < 1e-9 and np.abs(X.mid[:1] + GOOD.K).max() < 1e-10


@pytest.mark.parametrize("blocks", [None, (1, 2, 5)])
def test_local_stability_where_no_limit_is_active(blocks):
    t = replace(GOOD, H=None, h=None, blocks=blocks)
    v = local_stability(t)
    assert v.holds and v.strength == "proof"
    W, level, K0 = np.array(v.data["W"]), v.data["level"], np.array(v.data["K0"])
    moves, rng = unconstrained(t).mid, np.random.default_rng(2)
    owner = np.repeat(np.arange(len(moves)), blocks or [1] * t.N)
    for x in rng.normal(size=(100, 3)):
        after = t.A @ x + t.B @ (K0 @ x)
        assert after @ W @ after < x @ W @ x
    y, used = np.eye(3), []
    for k in range(t.N):  # the most a limit is used on the level set: √(level · r W⁻¹ rᵀ)
        u = moves[owner[k] : owner[k] + 1]
        rows = t.E @ y + t.F @ u
        used.append(np.sqrt(level * np.einsum("ij,jk,ik->i", rows, np.linalg.inv(W), rows)) / t.g)
        y = t.A @ y + t.B @ u
    assert 0.999 < np.max(used) <= 1


def test_local_law_that_does_not_stabilise():
    """A short horizon without terminal cost leaves an unstable plant unstable."""
    A, B = np.array([[1.3, 0.4], [0.0, 1.1]]), np.array([[0.1], [0.2]])
    t = TerminalIngredients(
        A,
        B,
        1e-4 * np.eye(2),
        np.eye(1),
        np.zeros((2, 2)),
        np.zeros((1, 2)),
        2,
        np.zeros((2, 2)),
        np.array([[1.0], [-1.0]]),
        np.ones(2),
    )
    v = local_stability(t)
    assert v.holds is False and v.strength == "numerical"
    assert local_stability(replace(GOOD, g=GOOD.g * (np.arange(len(GOOD.g)) != 2))).holds is None
    assert local_stability(replace(GOOD, R=-50 * GOOD.R)).holds is None


# ---- logs


def test_costs_on_a_log():
    V, ℓ = np.array([10.0, 6.0, 3.5, 1.9, 1.0]), np.array([4.0, 2.4, 1.5, 0.8, 0.4])
    fine = ["optimal"] * 5
    v = cost_on_log(V, ℓ, fine)
    assert v.holds and v.strength == "sampled" and v.margin == pytest.approx(0.0, abs=1e-12)
    broken = cost_on_log(V, ℓ * [1, 1.2, 1, 1, 1], fine)
    assert broken.holds is False and broken.data["broken"] == [1]
    assert cost_on_log(V, ℓ * [1, 1.2, 1, 1, 1], fine, floor=1.0).holds is True
    inexact = cost_on_log(V, ℓ, ["optimal", "optimal", "optimal_inaccurate", "optimal", "optimal"])
    assert inexact.holds is None and inexact.data["not_optimal"][0] == {
        "step": 2,
        "status": "optimal_inaccurate",
        "fallback": False,
    }
    fell_back = cost_on_log(V, ℓ, fine, fallback=[False, False, False, True, False])
    assert fell_back.holds is None and "step" in fell_back.worst
    assert cost_on_log(V, ℓ * [1.2, 1, 1, 1, 1], fine, fallback=[False] * 4 + [True]).holds is False
    assert cost_on_log([1.0, np.nan, 0.5], [0.1] * 3, fine[:3]).holds is None
    assert cost_on_log([1.0], [0.1], fine[:1]).holds is None
    with pytest.raises(InputError):
        cost_on_log(V, ℓ[1:], fine)
    with pytest.raises(InputError):
        cost_on_log(V, ℓ, fine, floor=np.nan)
