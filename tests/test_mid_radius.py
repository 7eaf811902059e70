"""Bounds of matrices: no member is beyond them, they are sharp, and they are seen to fail when a rounding is forgotten."""

from fractions import Fraction

import numpy as np
import pytest

from workbench.numerics import mid_radius as mr


def matrices(seed, *shape):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, shape) * 10 ** rng.uniform(-2, 2, shape), rng


def exact(A, B):
    """The product in fractions."""
    return [[sum(Fraction(a) * Fraction(b) for a, b in zip(row, col)) for col in B.T] for row in A]


def test_a_product_contains_that_of_every_member():
    A, rng = matrices(1, 6, 4, 5)
    B, _ = matrices(2, 6, 5, 3)
    radii = [1e-3 * np.abs(A), 1e-5 * np.abs(B)]
    for shares in (0.0, 1.0):
        known = [mr.Known(M, shares * r) for M, r in zip((A, B), radii)]
        C = mr.product(*known)
        for k in range(6):
            for _ in range(3):
                member = [
                    M[k] + shares * r[k] * rng.choice([-1, 1], M[k].shape) * (1 - 1e-9)
                    for M, r in zip((A, B), radii)
                ]
                true = exact(*member)
                away = [
                    abs(true[i][j] - Fraction(C.mid[k, i, j])) <= Fraction(C.rad[k, i, j])
                    for i in range(4)
                    for j in range(3)
                ]
                assert all(away)
        if not shares:
            assert (C.rad < 1e-13 * (np.abs(A) @ np.abs(B)) + 1e-280).all() and (C.rad > 0).all()


def test_norms_are_bounds_and_sharp():
    A, rng = matrices(3, 40, 6, 6)
    true = np.linalg.norm(A, 2, axis=(-1, -2))
    found = mr.norm(mr.exactly(A))
    assert (found >= true * (1 - 1e-15)).all() and (found <= true * (1 + 1e-12)).all()
    rad = 1e-2 * np.abs(A)
    wide = mr.norm(mr.Known(A, rad))
    for _ in range(50):
        member = A + rad * rng.uniform(-1, 1, A.shape)
        assert (np.linalg.norm(member, 2, axis=(-1, -2)) <= wide).all()


def test_a_norm_that_is_known_exactly():
    """‖3 Q‖ = 3 for the exactly orthogonal Q = [[3, 4], [−4, 3]]/5 times 5: ‖·‖ = 15, never below, and by rounding only above."""
    found = mr.norm(mr.exactly(np.array([[9.0, 12.0], [-12.0, 9.0]])))
    assert 15.0 <= found <= 15.0 * (1 + 1e-14)


def test_definite_is_only_said_of_what_is():
    """[[1, 1 − ε], [1 − ε, 1]] has the eigenvalue ε: seen for 1e-12, not within a radius of ε, not for −1e-12."""
    for ε, rad, positive in ((1e-12, 0.0, True), (1e-12, 1e-12, False), (-1e-12, 0.0, False)):
        S = np.array([[1.0, 1.0 - ε], [1.0 - ε, 1.0]])
        bound = mr.least(mr.Known(S, np.full((2, 2), rad)))
        assert (bound > 0) == positive and bound <= ε + 1e-16
    assert mr.least(mr.exactly(np.full((2, 2), np.nan))) == -np.inf
    assert mr.greatest(mr.exactly(np.full((2, 2), np.nan))) == np.inf


@pytest.mark.parametrize("r", [1, 4])
def test_a_family_is_bounded_by_its_worst_member(r):
    A, rng = matrices(7, 30, 5, 4)
    B = rng.normal(0, 1, (30, r, 5, 4))
    rad = 1e-6 * np.abs(B)
    members = mr.family(mr.exactly(A), mr.Known(B, rad))
    for ρ in (1e-3, 0.3):
        bound = mr.norm_of(members, ρ)
        worst = np.zeros(30)
        for _ in range(200):
            z = rng.normal(0, 1, r)
            z *= ρ / np.linalg.norm(z)
            M = A + 0.5 * np.einsum("i,kimn->kmn", z, B + rad * rng.choice([-1, 1], B.shape))
            worst = np.maximum(worst, np.linalg.norm(M, 2, axis=(-1, -2)))
        assert (worst <= bound).all()
        if r == 1:  # one number: the bound is that of ±ρ, but for the sum of the squares
            assert (bound < worst * (1 + 1e-5) + ρ).all()


def test_a_forgotten_rounding_is_seen(monkeypatch):
    """Without the term for the rounding of sums, the exact product lies outside."""
    monkeypatch.setattr(mr, "UNIT", 0.0)
    with pytest.raises(AssertionError):
        test_a_product_contains_that_of_every_member()
