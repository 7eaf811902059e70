"""Sector criteria at their closed-form limits, both sides; regions of attraction at their true edges."""

import control
import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.regions.search import attracted, saturated_region
from workbench.verification.regions.sector import Sector, SectorCertificate
from workbench.verification.regions.sector_search import largest_sector, search, sector_stability
from workbench.verification.rigorous.recheck import recheck

THIRD = control.ss(control.tf([1.0], [1.0, 3.0, 3.0, 1.0]))


def loop(high, T=None, slope=None, low=0.0):
    g = THIRD if T is None else control.c2d(THIRD, T)
    return Sector(g.A, g.B, g.C, low, high, T, slope)


def circle_limit(T):
    """−1/min Re G, by a fine grid."""
    g = THIRD if T is None else control.c2d(THIRD, T)
    ω = np.linspace(1e-3, 8.0 if T is None else np.pi / T, 40001)
    return -1 / g(1j * ω if T is None else np.exp(1j * ω * T)).real.min()


@pytest.mark.parametrize(
    "criterion, T, limit",
    [
        ("circle", None, 4.0),  # 1/(s + 1)³: min Re G = −1/4
        ("popov", None, 8.0),  # the linear limit: Aizerman's conjecture holds here
        ("circle", 0.2, None),
        (
            "jury-lee",
            0.2,
            6.2409158781974985,
        ),  # the linear limit of the sampled loop, from its gain margin
    ],
)
def test_largest_sector_is_the_known_one(criterion, T, limit):
    limit = circle_limit(T) if limit is None else limit
    k, found = largest_sector(loop(1.0, T, 1.0 if T else None), criterion, rounds=18)
    assert limit * (1 - 1e-3) < k < limit and found.check()


@pytest.mark.parametrize("T", [None, 0.2], ids=["continuous", "sampled"])
@pytest.mark.parametrize("criterion", ["circle", "multiplier"])
def test_the_form_is_the_fall_of_v_and_what_the_sector_gives(T, criterion):
    """At random states and distinct numbers, two channels: V along the loop, the sector's product, the integral's part."""
    rng = np.random.default_rng(9)
    A, B, C_ = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    low, high, slope = np.array([0.2, -0.3]), np.array([1.1, 0.9]), np.array([1.7, 2.3])
    G = rng.normal(size=(3, 3))
    P, τ = G @ G.T + np.eye(3), np.array([0.7, 1.9])
    kind = "circle" if criterion == "circle" else "popov" if T is None else "jury-lee"
    λ = np.zeros(2) if criterion == "circle" else np.array([0.4, 0.6])
    own = Sector(A, B, C_, low, high, T, None if T is None else slope)
    form = SectorCertificate(own, kind, P, τ, λ).form().floats()
    if criterion != "circle":  # w counts from the lower line on
        A, high, low, slope = A - B @ np.diag(low) @ C_, high - low, 0 * low, slope - low
    for _ in range(5):
        x, w = rng.normal(size=3), rng.normal(size=2)
        y, step = C_ @ x, A @ x - B @ w
        value = 2 * x @ P @ step if T is None else step @ P @ step - x @ P @ x
        value += (w - low * y) @ (τ * (high * y - w))
        if T is None:
            value += 2 * (λ * w) @ (C_ @ step)
        else:
            move = C_ @ (step - x)
            value += 2 * (λ * w) @ move + move @ (λ * slope * move)
        z = np.concatenate([x, w])
        assert z @ form @ z == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_proved_undecided_violated():
    inside = sector_stability(loop(3.9), "circle")
    assert inside.holds and inside.strength == "proof" and not inside.assumptions
    assert sector_stability(loop(4.1), "circle").holds is None
    popov = sector_stability(loop(7.9), "popov")
    assert popov.holds and any("time" in a.text for a in popov.assumptions)
    out = sector_stability(loop(8.1), "popov")
    assert out.holds is False and out.strength == "numerical"
    assert sector_stability(loop(6.2, 0.2, 6.2), "jury-lee").holds is True
    assert sector_stability(loop(6.3, 0.2, 6.3), "jury-lee").holds is False


def test_steep_slopes_spoil_jury_lee():
    """A sector alone is not enough for it: with a slope of fifty times the sector's only the circle's limit is left."""
    assert sector_stability(loop(5.5, 0.2, 5.5), "jury-lee").holds is True
    assert sector_stability(loop(5.5, 0.2, 300.0), "jury-lee").holds is None


def test_unstable_plant_in_a_sector_away_from_zero():
    """ẋ = x − φ(x): stable exactly for low > 1."""
    one = [[1.0]]
    assert sector_stability(Sector(one, one, one, 1.01, 9.0)).holds is True
    assert sector_stability(Sector(one, one, one, 0.99, 9.0)).holds is False
    assert sector_stability(Sector(one, one, one, 1.01, 9.0), "popov").holds is True
    assert sector_stability(Sector([[1.2]], one, one, 0.25, 2.15, 0.1)).holds is True
    assert sector_stability(Sector([[1.2]], one, one, 0.25, 2.25, 0.1)).holds is False


def test_two_channels():
    A, B = np.array([[-1.0, 0.4], [0.3, -2.0]]), np.array([[1.0, 0.2], [0.1, 1.5]])
    v = sector_stability(Sector(A, B, np.eye(2), [0.0, 0.0], [2.0, 5.0]))
    assert v.holds
    rng = np.random.default_rng(6)
    for _ in range(
        20
    ):  # every linear member, switching or not, contracts in the certificate's metric
        K = np.diag(rng.uniform(0, [2.0, 5.0]))
        assert np.linalg.eigvals(A - B @ K).real.max() < 0


def test_certificates_are_exported_and_tampering_is_refused():
    more = lambda rows, k: [[(float.fromhex(v) * k).hex() for v in row] for row in rows]
    for s, kind in ((loop(3.0), "circle"), (loop(7.0), "popov"), (loop(5.0, 0.2, 5.0), "jury-lee")):
        found = search(s, kind)
        document = found.document()
        assert recheck(document)[0]
        for part in (
            dict(high=more(document["high"], 3.0)),
            dict(P=more(document["P"], -1.0)),
            dict(tau=more(document["tau"], -1.0)),
            dict(A=more(document["A"], -1.0)),
            dict(criterion="circle" if kind != "circle" else "jury-lee"),
            dict(time="sampled" if s.T is None else "continuous"),
        ):
            assert not recheck({**document, **part})[0], (kind, part.keys())
        for wrong in (
            dict(P=-found.P),
            dict(τ=-found.τ),
            dict(λ=-found.λ - 1.0),
            dict(P=found.P + np.triu(np.ones((3, 3)), 1)),
        ):
            parts = {"P": found.P, "τ": found.τ, "λ": found.λ, **wrong}
            assert not SectorCertificate(s, kind, **parts).check()
    assert not SectorCertificate(loop(3.0, 0.2), "popov", found.P, found.τ, found.λ).check()


def test_popov_is_refused_for_sampled_loops_and_the_like():
    for s, kind in (
        (loop(1.0, 0.2, 1.0), "popov"),
        (loop(1.0), "jury-lee"),
        (loop(1.0, 0.2), "jury-lee"),
        (loop(1.0), "kalman"),
    ):
        with pytest.raises(InputError):
            sector_stability(s, kind)
    with pytest.raises(InputError):
        loop(-1.0)
    with pytest.raises(InputError):
        Sector(np.eye(2), np.ones((2, 1)), np.ones((2, 2)), 0, 1)


# ---- saturation


@pytest.mark.parametrize("T, a, k, edge", [(None, 0.5, -2.0, 2.0), (0.1, 1.2, -0.7, 5.0)])
def test_scalar_region_reaches_the_true_edge(T, a, k, edge):
    """ẋ = a x + sat(kx): attracted exactly for |x| < 1/a; x⁺: |x| < 1/(a − 1)."""
    region = attracted([[a]], [[1.0]], [[k]], 1.0, T)
    assert region.check() and region.holds([0.9999 * edge]) and not region.holds([1.0001 * edge])


def test_region_of_an_unstable_plant_against_simulation():
    A, B, K = np.array([[0.0, 1.0], [1.3, 0.2]]), np.array([[0.0], [1.7]]), np.array([[-3.1, -2.2]])
    v = saturated_region(A, B, K, 0.9, inside=[[0.2, 0.1]])
    assert v.holds and v.strength == "proof"
    P, h = np.array(v.data["P"]), 4e-3
    w, X = np.linalg.eigh(P)
    for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
        x = X @ ([np.cos(angle), np.sin(angle)] / np.sqrt(w))  # on the edge of the region
        assert np.abs(K @ x).max() > 0
        for _ in range(6000):
            x = x + h * (A @ x + B @ np.clip(K @ x, -0.9, 0.9))
        assert np.abs(x).max() < 1e-2
    assert saturated_region(A, B, K, 0.9, inside=[[3.0, 3.0]]).holds is None
    assert saturated_region(A, B, -K, 0.9).holds is False


def test_regions_a_little_too_large_are_refused():
    from dataclasses import replace

    A, B, K = np.array([[0.0, 1.0], [1.3, 0.2]]), np.array([[0.0], [1.7]]), np.array([[-3.1, -2.2]])
    for T, a, b in ((None, A, B), (0.05, np.eye(2) + 0.05 * A, 0.05 * B)):
        region = attracted(a, b, K, 0.9, T)
        assert region.check()
        for wrong in (
            dict(P=region.P * 0.99),
            dict(K=-K),
            dict(τ=-region.τ),
            dict(u_max=region.u_max * 0.9),
            dict(B=-b),
        ):
            assert not replace(region, **wrong).check(), wrong.keys()
    with pytest.raises(InputError):
        attracted(A, B, K.T, 0.9)
