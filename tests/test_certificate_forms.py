"""Forms of certificates, and what bounds them: the quadratic forms at random states against the definitions, term by term."""

from fractions import Fraction

import numpy as np
import pytest

from workbench.verification.linear.data_margin import grown
from workbench.verification.linear.lyapunov import Certificate, falls_around, falls_in_ball
from workbench.verification.regions.saturation import Region
from workbench.verification.regions.sector import Sector, SectorCertificate
from workbench.verification.rigorous.balls import Ball

n, m = 3, 2
CASES = [("circle", None), ("circle", 0.1), ("popov", None), ("jury-lee", 0.1)]


def certificate(rng, criterion, T):
    """Any numbers, of either sign where the sign is free."""
    matrix = lambda *shape: rng.normal(size=shape)
    P = matrix(n, n)
    slope = np.array([2.5, 1.7]) if criterion == "jury-lee" else None
    loop = Sector(
        matrix(n, n),
        matrix(n, m),
        matrix(m, n),
        np.array([-0.3, 0.2]),
        np.array([0.9, 1.6]),
        T,
        slope,
    )
    λ = np.zeros(m) if criterion == "circle" else np.array([0.4, 0.7])
    return SectorCertificate(loop, criterion, P + P.T, np.array([1.3, 0.6]), λ)


def region(rng, T):
    matrix = lambda *shape: rng.normal(size=shape)
    P = matrix(n, n)
    limits, τ = np.array([1.5, 0.8]), np.array([0.7, 1.9])
    return Region(matrix(n, n), matrix(n, m), matrix(m, n), limits, T, P + P.T, matrix(m, n), τ)


@pytest.mark.parametrize("criterion, T", CASES)
def test_entries_of_a_sectors_form_are_bounded_by_the_same_sum_without_signs(criterion, T):
    rng = np.random.default_rng(4)
    c = certificate(rng, criterion, T)
    s = c.loop
    A, B, C, P = (np.abs(M) for M in (s.A, s.B, s.C, c.P))
    low, high = np.abs(s.low), np.abs(s.high)
    bound = c._largest(A, B, C)
    assert bound == pytest.approx(bound.T) and (bound >= np.abs(c.form().floats()) - 1e-12).all()
    if criterion != "circle":  # the sector begins at 0
        A, low, high = A + B @ np.diag(low) @ C, 0 * low, low + high
    for _ in range(4):
        x, w = rng.uniform(size=n), rng.uniform(size=m)
        y, step = C @ x, A @ x + B @ w
        value = (w + low * y) @ (c.τ * (high * y + w))
        if T is None:
            value += 2 * x @ P @ step + 2 * w @ (c.λ * (C @ step))
        else:
            value += step @ P @ step + x @ P @ x
            Δy = C @ (step + x)
            slope = 0 if s.slope is None else np.abs(s.slope) + np.abs(s.low)
            value += 2 * w @ (c.λ * Δy) + Δy @ (c.λ * slope * Δy)
        z = np.concatenate([x, w])
        assert z @ bound @ z == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("T", [None, 0.1])
def test_the_form_of_a_region_is_the_fall_and_what_the_dead_zone_takes(T):
    """In (x, ψ): −V̇ or V − V⁺ with ẋ or x⁺ = (A + BK) x − Bψ, less −2ψᵀτ(ψ − Gx); its bound is the same without signs."""
    rng = np.random.default_rng(5)
    c = region(rng, T)
    form = c._form().floats()
    bound = c._largest(*(np.abs(M) for M in (c.A, c.B, c.K)))
    assert form == pytest.approx(form.T) and (bound >= np.abs(form) - 1e-12).all()

    def value(x, ψ, A, B, K, P, G, sign):
        step = (A + B @ K) @ x - sign * B @ ψ
        fall = 2 * x @ P @ step if T is None else step @ P @ step
        stays = 0.0 if T is None else x @ P @ x
        return stays - sign * fall + 2 * ψ @ (c.τ * (ψ - sign * G @ x))

    for _ in range(4):
        x, ψ = rng.normal(size=n), rng.normal(size=m)
        z = np.concatenate([x, ψ])
        assert z @ form @ z == pytest.approx(value(x, ψ, c.A, c.B, c.K, c.P, c.G, 1))
        sizes = [np.abs(M) for M in (c.A, c.B, c.K, c.P, c.G)]
        x, ψ = np.abs(x), np.abs(ψ)
        z = np.abs(z)
        assert z @ bound @ z == pytest.approx(value(x, ψ, *sizes, -1))


@pytest.mark.parametrize("criterion, T", CASES)
def test_no_change_of_the_data_leaves_its_bound(criterion, T):
    """All corners of a change by a hundredth: entries of the form move no farther than is said, and nearly as far."""
    rng = np.random.default_rng(6)
    c = certificate(rng, criterion, T)
    s, form, change = c.loop, c.form().floats(), 0.01
    sizes = tuple(np.abs(M) for M in (s.A, s.B, s.C))
    spread = grown(c._largest, sizes, tuple(change * M for M in sizes))
    moved = np.zeros_like(form)
    for _ in range(200):
        A, B, C = (M * (1 + change * rng.choice((-1, 1), M.shape)) for M in (s.A, s.B, s.C))
        other = SectorCertificate(
            Sector(A, B, C, s.low, s.high, T, s.slope), criterion, c.P, c.τ, c.λ
        )
        moved = np.maximum(moved, np.abs(other.form().floats() - form))
    assert (moved <= spread).all() and moved.max() >= 0.2 * spread.max()


# ---- one state --------------------------------------------------------------------------------------
def unstable(T=None, P=1.0, G=0.0, u=1.0, τ=2.0):
    """ẋ = x + sat(−3 x) or x⁺ = 1.2 x + sat(−0.7 x)."""
    matrix = lambda v: np.array([[float(v)]])
    a, k = (1.0, -3.0) if T is None else (1.2, -0.7)
    return Region(
        matrix(a), matrix(1), matrix(k), np.array([u]), T, matrix(P), matrix(G), np.array([τ])
    )


@pytest.mark.parametrize("T", [None, 0.1])
def test_planes_touch_an_interval_where_the_dead_zone_may_begin(T):
    """|(k − g) x| ≤ u at P x² ≤ 1: (k − g)² ≤ u² P, at the edge as well."""
    g = -1.0 if T is None else -0.2  # k − g = −2 or −0.5
    edge = 4.0 if T is None else 0.25
    for P, fine in ((edge, True), (edge * (1 - 1e-12), False), (2 * edge, True)):
        c = unstable(T, P, g, τ=2 * P)
        assert c.check() is bool(fine), P
        assert unstable(T, P / 4, g, u=2.0, τ=P / 2).check() is bool(fine)


def test_what_is_no_certificate():
    fine = dict(P=4.0, G=-1.0, τ=8.0)
    assert unstable(**fine).check()
    for other in ({"P": -4.0}, {"τ": 0.0}, {"τ": -8.0}, {"u": 0.0}, {"u": -1.0}):
        assert not unstable(**fine | other).check(), other


def test_how_far_a_state_can_be_stretched():
    c = unstable(P=4.0)
    assert c.holds([0.5]) and c.holds([-0.5]) and not c.holds([0.5 * (1 + 1e-15)])
    assert c.reach([0.25]) == pytest.approx(2.0, rel=1e-12) and c.reach([0.0]) == np.inf
    x = np.array([0.3])
    stretched = Fraction(float((unstable(P=7.0).reach(x) * x)[0]))
    assert 7 * stretched**2 <= 1


# ---- how far a matrix may be off, exactly -----------------------------------------------------------
ONES = np.ones((2, 2))
SCALED = np.diag([1.0, 1e-3])  # the second state in a thousandth of its unit


@pytest.mark.parametrize("unit", [np.eye(2), SCALED], ids=["alike", "apart"])
@pytest.mark.parametrize("T, a, edge", [(None, -0.6, 0.3), (0.1, 0.7, 0.15), (0.1, -0.7, 0.15)])
def test_a_radius_is_borne_up_to_the_worst_matrix_within_it(unit, T, a, edge):
    """a 1 + Δ, |Δ| ≤ r: a + 2r < 0, or |a| + 2r < 1, whatever the units of the states."""
    back = np.linalg.inv(unit)
    P = back @ np.diag([3.0, 3.0]) @ back
    for share, holds in ((0.999, True), (1.001, False)):
        r = share * edge * np.abs(unit @ ONES @ back)
        assert falls_in_ball(Ball.of(a * np.eye(2), r), P, T) is holds
        assert falls_around(a * np.eye(2), r, P, T) is holds


@pytest.mark.parametrize("T, a, fastest", [(None, -0.6, 0.6), (0.1, 0.7, 0.3), (0.1, -0.7, 0.3)])
def test_a_rate_is_borne_up_to_that_of_the_matrix(T, a, fastest):
    """V̇ ≤ −2 rate V, or V⁺ ≤ (1 − rate)² V."""
    A, P = Ball.of(np.array([[a]])), np.array([[5.0]])
    assert falls_in_ball(A, P, T, 0.999 * fastest) and not falls_in_ball(A, P, T, 1.001 * fastest)
    assert not falls_in_ball(A, P, T, -0.1) and not falls_in_ball(A, -P, T)
    assert not falls_in_ball(Ball.of(np.array([[0.0]])), P, 0.1, 1.0)
    assert not falls_in_ball(Ball.of(np.array([[np.nan]])), P, T)


def test_a_form_that_is_not_symmetric_or_not_positive_proves_nothing():
    A = Ball.of(-np.eye(2))
    assert falls_in_ball(A, np.array([[2.0, 0.5], [0.5, 1.0]]))
    assert not falls_in_ball(A, np.array([[2.0, 0.5], [0.5 + 1e-15, 1.0]]))
    assert not falls_in_ball(A, np.array([[2.0, 3.0], [3.0, 1.0]]))
    assert not falls_around(-np.eye(2), 0 * ONES, np.array([[2.0, 3.0], [3.0, 1.0]]))


def test_the_change_that_a_certificate_bears_is_a_share_of_every_entry():
    """−0.6 and its change of twice 0.6 a share (S(a) = 2 |a|): up to one half; with a radius of 0.3 up to a quarter."""
    matrix = np.array([[-0.6]])
    own = Certificate((matrix,), np.array([[1.0]]))
    assert own.check() and own.bears(0.499) and not own.bears(0.501)
    wide = Certificate((matrix,), np.array([[1.0]]), radius=np.array([[0.3]]))
    assert wide.check() and wide.bears(0.249) and not wide.bears(0.251)
    two = Certificate((matrix, 0.5 * matrix), np.array([[1.0]]), radius=np.array([[0.3]]))
    assert not two.check() and not two.bears(0.0)
