"""Models along a predicted path: exponentials over a sample, delayed commands and their samples, against exact solutions."""

import math

import numpy as np
import pytest

from controllers.mpc.along import Along, Held
from workbench.numerics.tangents import Tangent

T = 0.25
A_1, A_2 = -1.5, 0.8
B = np.array(
    [[2.0, -0.5, 0.75, -0.6, 0.25], [0.3, 1.5, -1.25, 0.4, 0.5]]
)  # two commands, two known, one other
SIZES = np.array([3.0, 0.2])
WIDTHS = np.array([10.0, 0.5, 4.0, 1.5, 0.25])


def held(delay=0.0, known=2, places=(4,)):
    return Held(T, delay, 2, known, places, SIZES, WIDTHS)


def tangent(points, w, A=None):
    """The exact derivatives of ẋ = A x + B w, y = C x with its third output the sum, at every point."""
    A = np.diag([A_1, A_2]) if A is None else A
    C = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    every = lambda M: np.tile(M, (len(points), 1, 1))
    return Tangent(points @ A.T + w @ B.T, every(A), every(B), points @ C.T, every(C))


def whole(a, s):
    """∫₀ˢ e^{aσ} dσ."""
    return math.expm1(a * s) / a


def ramp(a, s):
    """∫₀ˢ e^{a(s − σ)} σ/s dσ."""
    return (math.expm1(a * s) - a * s) / (a * a * s)


# ---- over one sample -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("s", [T, 0.1])
def test_two_states_that_do_not_meet(s):
    points = np.array([[0.5, -1.5], [2.0, 0.25]])
    w = np.array([[1.0, -2.0, 0.5, -0.75, 3.0], [0.25, 1.5, -1.0, 1.25, 2.0]])
    at = tangent(points, w)
    Φ, Γ, φ, rise = held().exponentials(at, s)
    ones = np.array([whole(a, s) for a in (A_1, A_2)])
    slow = np.array([ramp(a, s) for a in (A_1, A_2)])
    for k in range(2):
        assert Φ[k] == pytest.approx(np.diag([math.exp(A_1 * s), math.exp(A_2 * s)]), abs=1e-15)
        assert Γ[k] == pytest.approx(ones[:, None] * B)
        assert φ[k] == pytest.approx(ones * at.f[k])
        assert rise[k] == pytest.approx(slow[:, None] * B[:, 2:4])


def test_a_mass_that_is_pushed():
    """ẋ = v, v̇ = b w: T²/2 and T of a push, T²/6 and T/2 of one that rises to it; no known input, no ramp."""
    A = np.array([[0.0, 1.0], [0.0, 0.0]])
    at = tangent(np.array([[0.5, -1.5]]), np.array([[1.0, -2.0, 0.5, -0.75, 3.0]]), A)
    Φ, Γ, _, rise = held().exponentials(at, T)
    assert Φ[0] == pytest.approx(np.array([[1.0, T], [0.0, 1.0]]))
    assert Γ[0] == pytest.approx(np.array([T * B[0] + T**2 / 2 * B[1], T * B[1]]))
    for k, e in enumerate(B[:, 2:4].T):
        assert rise[0, :, k] == pytest.approx([T / 2 * e[0] + T**2 / 6 * e[1], T / 2 * e[1]])
    assert held(known=0).exponentials(at, T)[3].shape == (1, 2, 0)


# ---- samples with commands on their way ----------------------------------------------------------------------------
D, C_D = np.array([0.7, -1.3]), np.array([[0.0, 0.0], [0.0, 2.5]])
V = np.array([[1.0, 0.3], [-0.5, 0.8], [2.0, -1.1]])


def exact(x, late, now, rest, v, rising):
    """x after a sample: the older command acts for `rest` seconds, then the newer one; v is led from one value to the next."""
    found = []
    for i, a in enumerate((A_1, A_2)):
        new = whole(a, T - rest)
        old = whole(a, T) - new
        known = B[i, 2:4] @ (v * whole(a, T) + (rising - v) * ramp(a, T))
        other = B[i, 4] * D[0] * whole(a, T)
        pushed = B[i, :2] @ (np.array(late) * old + np.array(now) * new)
        found.append(math.exp(a * T) * x[i] + pushed + known + other)
    return found


@pytest.mark.parametrize(
    "delay, waiting",
    [(0.0, 0), (0.1, 1), (T, 1), (0.35, 2), (2 * T, 2), (0.6, 3)],
)
def test_a_sample_is_the_exact_solution_wherever_it_is_linearised(delay, waiting):
    """One disturbance pushes, one is added to an output; the newest command on its way comes first."""
    h = held(delay, places=(4, None))
    assert h.length == waiting
    rng = np.random.default_rng(5)
    points, w = rng.normal(size=(3, 2)), rng.normal(size=(3, 5))
    rows = [2, 0]
    made = h.steps(tangent(points, w), points, w, V, D, C_D, rows)
    x, u = np.array([0.4, -0.9]), np.array([1.25, -0.75])
    past = rng.normal(size=(2, waiting))  # of each command, newest first
    state = np.concatenate([x, past.ravel()])
    d, rest = h.split
    sent = lambda ago: u if ago == 0 else past[:, ago - 1]
    for k in range(2):
        after = made.A[k] @ state + made.B[k] @ u + made.a[k]
        late = sent(d + 1) if rest else u * 0
        want = exact(x, late, sent(d), rest, V[k], V[k + 1])
        assert after[:2] == pytest.approx(want)
        moved = np.hstack([u[:, None], past])[:, :waiting]
        assert after[2:] == pytest.approx(moved.ravel())
    y = np.array([x.sum(), x[0]]) + C_D @ D
    for k in range(3):
        assert made.C[k] @ state + made.b[k] == pytest.approx(y)
    push = made.B_d
    assert push[:2, 0] == pytest.approx(B[:, 4] * [whole(a, T) for a in (A_1, A_2)])
    assert not push[2:].any() and not push[:, 1].any() and push.shape == (2 + 2 * waiting, 2)


def test_disturbances_at_one_place_add_up():
    h = held(places=(4, None, 0, 4))
    assert h.effect(np.array([1.0, 20.0, 300.0, 4000.0])).tolist() == [300.0, 0.0, 0.0, 0.0, 4001.0]


# ---- a path ----------------------------------------------------------------------------------------------------------
def test_a_path_follows_the_model_of_every_sample():
    rng = np.random.default_rng(6)
    points, w = rng.normal(size=(3, 2)), rng.normal(size=(3, 5))
    steps = held(places=(4, None)).steps(tangent(points, w), points, w, V, D, C_D, [0, 1])
    made = object.__new__(Along)
    for name, value in {"steps": steps, "start": np.array([0.4, -0.9]), "N": 2}.items():
        object.__setattr__(made, name, value)
    u = np.array([[1.0, -2.0], [0.5, 3.0]])
    found = made.path(u)
    assert found[0] == pytest.approx([0.4, -0.9])
    first = exact(found[0], u[0] * 0, u[0], 0.0, V[0], V[1])
    assert found[1] == pytest.approx(first)
    assert found[2] == pytest.approx(exact(first, u[1] * 0, u[1], 0.0, V[1], V[2]))
    assert found.shape == (3, 2)
