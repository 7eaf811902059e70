"""Parts of predictive control along its own prediction: a model a sample, targets, shifted paths, a filter in another form."""

from types import SimpleNamespace

import numpy as np
import pytest
from mpc_cases import BLOCKS, N, m, n, p_y, small

from controllers.mpc import sequence
from controllers.mpc.along import Along, Held, Steps


def models(rng):
    size = lambda *shape: rng.normal(size=shape)
    return Steps(
        0.6 * size(N, n, n),
        size(N, n, m),
        size(N, n),
        size(N + 1, p_y, n),
        size(N + 1, p_y),
        size(n, 1),
    )


def problem(rng, **changes):
    base = small(rng, **changes)
    return base, Along.of(base, models(rng), rng.normal(size=n), rng.normal(size=(N + 1, 2)))


def test_predictions_with_a_model_of_its_own_for_every_sample():
    """x_{k+1} = A_k x_k + B_k u_k + a_k from the start, moves in strokes and held as long as their blocks, y_k = C_k x_k + b_k."""
    rng = np.random.default_rng(51)
    base, q = problem(rng)
    s = q.steps
    θ = np.concatenate([rng.normal(size=n), rng.normal(size=m), [1.0]])
    z = rng.normal(size=q.n_z)
    both = np.concatenate([θ, z])
    moves = z[: m * len(BLOCKS)].reshape(len(BLOCKS), m) * base.stroke
    u = np.array([moves[i] for i, size in enumerate(BLOCKS) for _ in range(size)])
    x = [q.start]
    for k in range(N):
        x.append(s.A[k] @ x[k] + s.B[k] @ u[k] + s.a[k])
    rows_x, rows_u, rows_y = q.predicted
    assert np.array([row @ both for row in rows_x]) == pytest.approx(np.array(x))
    assert rows_u[0] @ both == pytest.approx(θ[n : n + m])
    assert np.array([row @ both for row in rows_u[1:]]) == pytest.approx(u)
    for k, row in enumerate(rows_y):
        assert row @ both == pytest.approx(s.C[k] @ x[k] + s.b[k])
    assert q.path(u) == pytest.approx(np.array(x))
    assert q.n_θ == n + m + 1 and q.sizes == {"x": n, "u": m, "one": 1}
    for k in range(N + 1):
        assert q.reference(k) @ both == pytest.approx(q.wanted[k])


def test_targets_of_the_last_model():
    """x_s = A x_s + B u_s + a and C x_s + b = r for every reference, in the rows that are tracked."""
    rng = np.random.default_rng(52)
    base, q = problem(rng)
    s = q.steps
    both = np.concatenate([rng.normal(size=n + m), [1.0], rng.normal(size=q.n_z)])
    for k in range(N + 1):
        x_s, u_s = (rows @ both for rows in q.steady(k))
        assert x_s == pytest.approx(s.A[-1] @ x_s + s.B[-1] @ u_s + s.a[-1])
        assert (s.C[-1] @ x_s + s.b[-1])[list(base.track)] == pytest.approx(q.wanted[k])


# ---- what is known at a sample ------------------------------------------------------------------------------------------------
def test_references_and_known_inputs_to_the_end_of_the_horizon():
    """Beyond the preview of p samples the last one known."""
    q = small(np.random.default_rng(53))
    r, v = np.arange(6.0), np.arange(10.0, 16.0)
    given = sequence._given(q, [*r, *v], "d")
    last = [0, 1, 2, 2, 2, 2]
    assert given.r.tolist() == r.reshape(3, 2)[last].tolist() and given.d == "d"
    assert given.v.tolist() == v.reshape(3, 2)[last].tolist()


def test_the_path_to_linearise_along_is_the_last_plan_one_sample_on():
    law = SimpleNamespace(N=3, iterations=2)
    x = np.array([9.0, 8.0])
    first = SimpleNamespace(path=None, u=np.array([0.5]))
    X, U, rounds = sequence._path(law, first, x)
    assert X.tolist() == [[9.0, 8.0]] * 4 and U.tolist() == [[0.5]] * 3 and rounds == sequence.FIRST
    assert sequence._path(SimpleNamespace(N=3, iterations=7), first, x)[2] == 7
    path = np.arange(8.0).reshape(4, 2), np.array([[1.0], [2.0], [3.0]])
    X, U, rounds = sequence._path(law, SimpleNamespace(path=path), x)
    assert X.tolist() == [[9.0, 8.0], [4.0, 5.0], [6.0, 7.0], [6.0, 7.0]] and rounds == 2
    assert U.tolist() == [[2.0], [3.0], [3.0]]


def filtered(C, finite=True):
    """A law with two states, one command on its way and two disturbances; three outputs of which two are measured."""
    model = SimpleNamespace(n=2, A=np.zeros((3, 3)), C_d=np.array([[0.4, 0.0], [0.0, -1.5]]))
    seen = np.array([5.0, 6.0, 7.0])
    outputs = lambda x: (seen + np.array([x[0], 0.0, 2 * x[1]]), C if finite else C * np.nan)
    prepared = SimpleNamespace(
        problem=SimpleNamespace(model=model),
        tangents=SimpleNamespace(outputs=outputs),
        rows=[2, 0],
        V=np.array([[0.3, 0.1], [0.1, 0.5]]),
    )
    return SimpleNamespace(prepared=prepared, observer="given")


def test_a_measurement_corrects_as_the_filter_in_information_form_does():
    """P⁺ = (P⁻¹ + CᵀV⁻¹C)⁻¹ and x⁺ = x + P⁺CᵀV⁻¹(y − ŷ), C of the rows that are measured, what is on its way unseen."""
    rng = np.random.default_rng(54)
    C = rng.normal(size=(3, 2))
    half = rng.normal(size=(5, 5))
    P = half @ half.T + np.eye(5)
    z = SimpleNamespace(x=np.array([0.3, -0.7, 0.2, 0.9, -0.4]), covariance=P)
    y = np.array([1.1, 4.2])
    law = filtered(C)
    V, C_d = law.prepared.V, np.array([[0.4, 0.0], [0.0, -1.5]])
    C_a = np.hstack([C[[2, 0]], np.zeros((2, 1)), C_d])
    told = np.array([7.0 + 2 * -0.7, 5.0 + 0.3]) + C_d @ z.x[3:]
    after = np.linalg.inv(np.linalg.inv(P) + C_a.T @ np.linalg.inv(V) @ C_a)
    x, covariance = sequence.corrected(law, z, y)
    assert covariance == pytest.approx(after)
    assert x == pytest.approx(z.x + after @ C_a.T @ np.linalg.inv(V) @ (y - told))
    x, covariance = sequence.corrected(filtered(C, finite=False), z, y)
    assert x is z.x and covariance is P
    own = SimpleNamespace(corrected=lambda x, y: (x, y), problem=SimpleNamespace(model=None))
    plain = SimpleNamespace(observer=None, prepared=own)
    assert sequence.corrected(plain, z, y) == ((z.x, y), None)


def test_the_covariance_one_sample_on():
    """x⁺ = A x + B_d d and d stays: A P Aᵀ and the cross terms block by block, with W added and symmetric."""
    rng = np.random.default_rng(55)
    A, B_d = rng.normal(size=(4, 3, 3)), rng.normal(size=(3, 2))
    half = rng.normal(size=(5, 5))
    P, W = half @ half.T, np.diag([0.1, 0.2, 0.3, 0.4, 0.5])
    found = sequence.predicted_covariance(SimpleNamespace(A=A, B_d=B_d), P, W)
    xx, xd, dd = P[:3, :3], P[:3, 3:], P[3:, 3:]
    first = A[0]
    upper = first @ xx @ first.T + first @ xd @ B_d.T + B_d @ xd.T @ first.T + B_d @ dd @ B_d.T
    assert found[:3, :3] == pytest.approx(upper + W[:3, :3])
    assert found[:3, 3:] == pytest.approx(first @ xd + B_d @ dd)
    assert found[3:, 3:] == pytest.approx(dd + W[3:, 3:]) and (found == found.T).all()
    assert sequence.predicted_covariance(None, None, W) is None


# ---- how inputs act over a sample -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("delay, length, past", [(0.0, 0, []), (0.2, 2, [1, 0]), (0.23, 3, [1, 0])])
def test_commands_that_reach_the_plant(delay, length, past):
    """Whole samples of delay hold back that many; those on their way are in x, the newest first, command by command."""
    held = Held(0.1, delay, 2, 1, (1, None, 1), np.ones(3), np.ones(4))
    assert held.length == length and held.split[0] == len(past)
    way = np.arange(2.0 * length) + 10.0
    x = np.concatenate([[7.0, 7.0, 7.0], way])
    u = np.arange(8.0).reshape(4, 2)
    found = held.acting(x, u)
    first = [[way[k], way[length + k]] for k in past]
    assert found.tolist() == [*first, *u.tolist()][:4]
    assert held.effect(np.array([3.0, 5.0, -1.0])).tolist() == [0.0, 2.0, 0.0, 0.0]
