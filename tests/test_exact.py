"""Exact and outward-rounded algebra against fractions, closed forms and high precision; the edge is decided, not rounded."""

from fractions import Fraction

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.rigorous import exact
from workbench.verification.rigorous.balls import Ball, definite_ball, exponential
from workbench.verification.rigorous.exact import (
    Dyadic,
    definite,
    definite_exactly,
    dual_bound,
    lyapunov_exactly,
    multipliers,
    polytope_radius,
    radius_bound,
)

ULP = float(np.finfo(float).eps)


def plain(M):
    """The stored matrix as fractions."""
    return [[Fraction(float(v)) for v in row] for row in M]


def minors_positive(M) -> bool:
    """Sylvester's criterion by plain Gaussian elimination over fractions, another road to definiteness."""
    A = plain((M + M.T) / 2)
    for k in range(len(A)):
        if A[k][k] <= 0:
            return False
        for i in range(k + 1, len(A)):
            f = A[i][k] / A[k][k]
            A[i] = [a - f * b for a, b in zip(A[i], A[k])]
    return True


def test_dyadic_products_and_sums_are_exact():
    rng = np.random.default_rng(1)
    A, B = (
        rng.normal(size=(3, 4)) * 10.0 ** rng.integers(-150, 150, (3, 4)),
        rng.normal(size=(4, 2)) / 3,
    )
    C = rng.normal(size=(3, 2))
    a, b, c = plain(A), plain(B), plain(C)
    found = (Dyadic.of(A) @ B - C).fractions()
    assert found == [
        [sum(a[i][k] * b[k][j] for k in range(4)) - c[i][j] for j in range(2)] for i in range(3)
    ]
    assert (A @ Dyadic.of(B)).fractions() == (Dyadic.of(A) @ B).fractions()
    assert Dyadic.of(A).times(0.1).fractions() == [[v * Fraction(0.1) for v in row] for row in a]
    assert Dyadic.block([[A, C], [C.T, np.eye(2, 3)]]).T.floats()[4, 0] == C[0, 0]
    np.testing.assert_array_equal(Dyadic.of(A).floats(), A)


def test_numbers_that_are_none_are_refused():
    with pytest.raises(InputError):
        Dyadic.of([[1.0, np.nan]])
    with pytest.raises(InputError):
        definite([[np.inf]])


@pytest.mark.parametrize("seed", range(8))
def test_definiteness_agrees_with_sylvester(seed):
    """Random matrices pushed to the edge by their smallest eigenvalue, badly scaled."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    M = rng.normal(size=(n, n))
    M = M @ M.T
    d = 10.0 ** rng.integers(-6, 6, n)
    answers = set()
    for shift in (0.5, 1 - 1e-14, 1.0, 1 + 1e-14, 2.0):
        S = (M - shift * np.linalg.eigvalsh(M)[0] * np.eye(n)) * (d * d[:, None])
        assert definite(S) == minors_positive(S)
        answers.add(definite(S))
    assert answers == {True, False}


def test_the_edge_is_decided_exactly():
    a = 0.1
    square = Fraction(a) * Fraction(a)
    up = float(square) if Fraction(float(square)) > square else np.nextafter(float(square), 1)
    down = np.nextafter(up, 0)
    assert definite([[up, a], [a, 1.0]]) and not definite([[down, a], [a, 1.0]])
    assert definite_exactly([[0.25, 0.5], [0.5, 1.0]]) and not definite([[0.25, 0.5], [0.5, 1.0]])
    assert not definite_exactly([[0.0, 1e-300], [1e-300, 1.0]])
    assert definite_exactly(np.diag([2.0, 0.0, 3.0])) and not definite_exactly(
        np.diag([2.0, -5e-324])
    )
    assert definite_exactly([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.7]])
    assert not definite_exactly([[1.0, 1.0, 1e-200], [1.0, 1.0, 0.0], [1e-200, 0.0, 0.7]])


def test_thirty_states():
    rng = np.random.default_rng(4)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    A = Q * np.linspace(-0.9, 0.97, 30) @ Q.T
    assert lyapunov_exactly(A, np.eye(30), 1.0, 0.02) and not lyapunov_exactly(
        A, np.eye(30), 1.0, 0.04
    )


def test_lyapunov_conditions_one_by_one():
    A, P = np.array([[0.3, 2.0], [0.0, -0.4]]), np.array([[1.0, 0.4], [0.4, 6.0]])
    own = lambda ρ: np.linalg.eigvalsh(ρ**2 * P - A.T @ P @ A)[0] > 0
    for rate in (0.0, 0.2, 0.5, 0.9):
        assert lyapunov_exactly(A, P, 1.0, rate) == own(1 - rate)
    assert not lyapunov_exactly(A, -P, 1.0) and not lyapunov_exactly(
        A, P + 1e-9 * np.eye(2, k=1), 1.0
    )
    F = np.array([[-0.5, 1.5], [0.0, -0.8]])
    assert lyapunov_exactly(F, np.diag([1.0, 3.0]), None, 0.1) and not lyapunov_exactly(
        F, np.diag([1.0, 3.0]), None, 0.4
    )
    assert not lyapunov_exactly(-F, np.diag([1.0, 3.0])) and not lyapunov_exactly(
        F, np.diag([1.0, 3.0]), None, -0.1
    )


def test_ball_products_hold_every_product():
    rng = np.random.default_rng(7)
    A, B = (
        Ball(rng.normal(size=(4, 5)), 1e-3 * rng.random((4, 5))),
        Ball(rng.normal(size=(5, 3)), 1e-2 * rng.random((5, 3))),
    )
    C, S = A @ B, (A + A).scaled(0.29, 0.31)
    for _ in range(60):
        a, b = (M.mid + M.rad * rng.choice([-1, 1, 0.3], M.mid.shape) * (1 - 1e-15) for M in (A, B))
        assert C.holds(Dyadic.of(a) @ b)
        assert S.holds((Dyadic.of(a) + a).times(rng.uniform(0.29, 0.31)))
    point = Ball.of(A.mid) @ B.mid
    assert point.holds(Dyadic.of(A.mid) @ B.mid) and point.rad.max() < 1e-13
    assert not C.holds(Dyadic.of(A.mid) @ B.mid + 10 * C.rad)


def series(X, terms=160):
    """e^X over fractions, truncated far beyond double precision."""
    X = Dyadic.of(X).fractions()
    n = len(X)
    term = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    total = [row[:] for row in term]
    for k in range(1, terms):
        term = [
            [sum(term[i][m] * X[m][j] for m in range(n)) / k for j in range(n)] for i in range(n)
        ]
        term = [[Fraction(round(v * 2**260), 2**260) for v in row] for row in term]
        total = [[a + b for a, b in zip(x, y)] for x, y in zip(total, term)]
    return total


@pytest.mark.parametrize("seed", range(3))
def test_exponential_holds_the_true_one(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed
    X = rng.normal(size=(n, n)) * [0.05, 1.0, 4.0][seed]
    E, true = exponential(Ball.of(X)), series(X)
    mid, rad = E.mid, E.rad
    assert all(
        abs(Fraction(mid[i, j]) - true[i][j]) < Fraction(rad[i, j])
        for i in range(n)
        for j in range(n)
    )
    assert rad.max() < 1e-11 * np.abs(mid).max()


def test_exponential_closed_forms_and_boxes():
    t, ω = 0.37, 5.3
    E = exponential(Ball.of(np.array([[0, ω], [-ω, 0]]) * 1.0).scaled(t))
    assert (
        abs(E.mid - [[np.cos(ω * t), np.sin(ω * t)], [-np.sin(ω * t), np.cos(ω * t)]]).max() < 1e-13
    )
    stiff = exponential(Ball.of([[-4e4, 3e6], [0.0, -2e-3]]))
    assert (
        stiff.mid[1, 1] == pytest.approx(np.exp(-2e-3), rel=1e-9)
        and abs(stiff.mid[0, 0]) <= stiff.rad[0, 0] + 1e-12
    )
    rng = np.random.default_rng(2)
    X = Ball(rng.normal(size=(3, 3)), 0.02 * rng.random((3, 3)))
    wide = exponential(X)
    from scipy.linalg import expm

    for _ in range(40):
        inside = expm(X.mid + X.rad * rng.uniform(-1, 1, (3, 3)))
        assert (abs(inside - wide.mid) <= wide.rad + 1e-13).all()
    assert wide.rad.max() < 0.5
    assert np.isinf(exponential(Ball.of([[np.inf]])).rad).all()


def exactly(M):
    return [[Fraction(float(v)) for v in row] for row in np.atleast_2d(M)]


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_the_outermost_members_are_held_to_the_last_bit(k):
    """Products, sums and multiples of balls at their corners, in fractions: a radius that is rounded down loses some."""
    rng = np.random.default_rng(k)
    for centred in (True, False):
        for _ in range(40):
            a, b = rng.uniform(0.1, 1.0, (2, k))
            m, n = (0 * a, 0 * b) if centred else rng.uniform(0.1, 1.0, (2, k))
            A, B = Ball(m[None], a[None]), Ball(n[:, None], b[:, None])
            low, high = np.sort(rng.uniform(0.5, 2.0, 2))
            [x], [y] = exactly(m), exactly(n)
            [r], [s] = exactly(a), exactly(b)
            ends = [p + q for p, q in zip(x, r)], [p + q for p, q in zip(y, s)]
            product = A @ B
            (reached,), (mid,), (rad,) = (
                [sum(p * q for p, q in zip(*ends))],
                exactly(product.mid)[0],
                exactly(product.rad)[0],
            )
            assert abs(reached - mid) <= rad
            for found, members in (
                (A + B.T, [p + q for p, q in zip(*ends)]),
                (A - B.T, [x_ - r_ - e for x_, r_, e in zip(x, r, ends[1])]),
                (A.scaled(low, high), [e * Fraction(high) for e in ends[0]]),
                (A.scaled(low), [e * Fraction(low) for e in ends[0]]),
            ):
                [mid], [rad] = exactly(found.mid), exactly(found.rad)
                assert all(abs(e - c) <= w for e, c, w in zip(members, mid, rad))
            assert all(e <= w for e, w in zip(ends[0], exactly(A.size)[0]))
            span = Ball.between(m[None] - a, m[None] + 3 * a)
            for edge in (m - a, m + 3 * a):
                assert span.holds(edge[None])
            assert product.rad[0, 0] <= (m + a) @ (n + b) - m @ n + 1e-13 * k


def test_definite_balls_at_the_edge():
    M = np.diag([2.0, 3e-9]) + 1e-6
    assert definite_ball(Ball.of(M)) and not definite_ball(Ball.of(M - np.diag([0, 1.1e-6])))
    assert definite_ball(Ball(M, np.diag([0.1, 1.001e-6]))) and not definite_ball(
        Ball(M, np.diag([0.1, 1.004e-6]))
    )
    assert not definite_ball(Ball.of(np.array([[1.0, 1.0], [1.0, 1.0]])))
    assert not definite_ball(Ball(np.eye(2), np.array([[0, np.inf], [0, 0]])))


def test_linear_bounds_from_any_multipliers():
    """cᵀx on the unit square cut by x + y ≤ 1.5: exact multipliers give 1.5, perturbed ones a little more, never less."""
    H, h = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [1, 1]]), np.array([1, 1, 1, 1, 1.5])
    radius, duals = polytope_radius(H, h)
    assert radius == 1 and len(duals) == 4
    y = multipliers([1.0, 1.0], H, h)
    assert dual_bound([1.0, 1.0], H, h, y, radius) == Fraction(3, 2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        c, wrong = rng.normal(size=2), rng.normal(size=5)
        most = max(c @ v for v in ([1, 0.5], [0.5, 1], [-1, 1], [-1, -1], [1, -1]))
        assert dual_bound(c, H, h, wrong, radius) >= Fraction(float(most)) - Fraction(1, 10**12)
        assert abs(float(dual_bound(c, H, h, multipliers(c, H, h), radius)) - most) < 1e-9
    assert (
        radius_bound(
            H[:3], h[:3], [multipliers(s * e, H[:3], h[:3]) for e in np.eye(2) for s in (1, -1)]
        )
        is None
    )
    assert radius_bound(H, h, [np.zeros(5)] * 4) is None


def test_multipliers_that_cannot_be_balanced():
    """A programme whose solver names a side that is none of those that bind: the bound is poor, and holds."""
    H, h = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.ones(3)
    y = np.array([0.9, 0.0, 0.0])
    assert exact._balanced(y, np.array([1.0, 1.0]), H) == pytest.approx([1.0, 0.0, 0.0])
    assert exact._balanced(np.zeros(3), np.array([1.0, 1.0]), H).tolist() == [0, 0, 0]
    assert float(dual_bound(np.array([1.0, 1.0]), H, h, np.array([1.0, 0.0, 0.0]), 3)) == 4.0
