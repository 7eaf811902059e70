"""What the last digits of the data destroy is no proof: every kind of certificate from both sides."""

from dataclasses import replace

import numpy as np
import pytest
from small import Feedback, Linear
from test_mpc_claims import GOOD

from workbench import ClosedLoop, Sampled, Saturated, Scenario
from workbench.verification import claims as C
from workbench.verification.judge import verify
from workbench.verification.linear.data_margin import (
    NEUTRAL,
    definite_around,
    largest_change,
    sizes,
)
from workbench.verification.linear.quadratic import quadratic_certificate
from workbench.verification.linear.robust import continuous, robust_stability
from workbench.verification.predictive.claims import mpc_stability
from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.predictive.local import local_stability
from workbench.verification.regions.saturation import Region
from workbench.verification.regions.sector import Sector, SectorCertificate
from workbench.verification.rigorous.supplied import check_supplied

TINY, PLAIN = 2.0**-44, 0.3  # below a relative 1e-12, and far above


def neutral(v) -> bool:
    return v.holds is None and v.strength is None and "neutral to rounding" in v.worst


# ---- what the margin is --------------------------------------------------------------------------
def test_sizes_know_that_an_oscillator_may_be_damped():
    np.testing.assert_array_equal(sizes([[0.0, 1.0], [-9.0, 0.0]]), [[3.0, 1.0], [9.0, 3.0]])
    np.testing.assert_array_equal(sizes([[-2.0, 0.0], [5.0, 0.0]]), [[4.0, 0.0], [5.0, 0.0]])


def test_definite_around_is_sharp_on_a_diagonal():
    """Row sums are exact where the spread is diagonal; off the diagonal they weigh alike."""
    S = np.diag([1e-8, 3.0])
    assert definite_around(S, np.diag([0.99e-8, 2.99])) and not definite_around(
        S, np.diag([1.01e-8, 0.0])
    )
    spread = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert definite_around(np.diag([1e-8, 1.01e8]), spread) and not definite_around(
        np.diag([1e-8, 0.99e8]), spread
    )


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.inf, np.nan])
@pytest.mark.parametrize("first", [True, False])
def test_one_entry_that_cannot_be_is_enough(bad, first):
    order = slice(None) if first else slice(None, None, -1)
    assert definite_around(np.diag([2.0, 1.0]), np.zeros((2, 2)))
    if np.isfinite(bad):
        assert not definite_around(np.diag([2.0, bad][order]), np.zeros((2, 2)))
    else:
        assert not definite_around(np.eye(2), np.diag([0.0, bad][order]))


def test_the_largest_change_is_found_from_both_sides():
    assert 0.9e-4 < largest_change(lambda ε: ε <= 1e-4) <= 1e-4
    assert largest_change(lambda ε: ε < NEUTRAL) == 0.0 and largest_change(lambda ε: True) == 1.0


# ---- quadratic certificates ----------------------------------------------------------------------
@pytest.mark.parametrize("T", [None, 0.01])
@pytest.mark.parametrize("P", [None, np.eye(2)], ids=["found", "given"])
def test_an_oscillator_without_damping_has_no_proof(T, P):
    def loop(d):
        if T is None:
            return [[-d, 1.0], [-1.0, -d]]
        return (1 - d) * np.array([[np.cos(0.1), np.sin(0.1)], [-np.sin(0.1), np.cos(0.1)]])

    sound = quadratic_certificate(loop(PLAIN), T, P=P)
    assert (
        sound.strength == "proof"
        and sound.margin == sound.data["change"] > 1e-2
        and sound.unit == "1"
    )
    assert "relative change of the data" in sound.worst
    nearly = quadratic_certificate(loop(TINY), T, P=P)
    assert nearly.holds is None and nearly.margin is None
    if P is not None:
        assert neutral(nearly)


def test_the_slightest_damping_that_is_known_is_enough():
    for d, holds in ((1e-10, True), (1e-13, None)):
        assert quadratic_certificate([[0.0, 1.0], [-1.0, -d]]).holds is holds
        assert quadratic_certificate([[1 - d]], 0.1).holds is holds


@pytest.mark.parametrize("seed", range(4))
def test_every_change_within_the_margin_is_borne(seed):
    """Changes as large as the margin leave the loop stable; units of states hardly matter."""
    rng = np.random.default_rng(seed)
    n, T = 4, None if seed % 2 else 0.1
    A = rng.normal(size=(n, n))
    λ = np.linalg.eigvals(A)
    A = A - (λ.real.max() + 0.4) * np.eye(n) if T is None else 0.8 * A / np.abs(λ).max()
    found = quadratic_certificate(A, T)
    radius = lambda M: (
        np.linalg.eigvals(M).real.max() if T is None else np.abs(np.linalg.eigvals(M)).max() - 1
    )
    for _ in range(300):
        assert radius(A + found.margin * sizes(A) * rng.choice([-1, 0, 1], size=(n, n))) < 0
    d = 10.0 ** rng.integers(-4, 5, n)
    assert 1 / 3 < quadratic_certificate(A * d / d[:, None], T).margin / found.margin < 3


def test_a_stiff_loop_keeps_its_proof():
    """Rates of 1e-3 and 1e6 1/s side by side: rounding in floats is larger than what the data may change by."""
    for A in ([[-1e-3, 0.0], [1.0, -1e6]], [[-1e-3, 1e3], [-1e3, -1e6]]):
        assert quadratic_certificate(A).strength == "proof"


@pytest.mark.parametrize("d, holds", [(PLAIN, True), (TINY, None)])
def test_the_claim_on_a_loop_says_so(d, holds):
    plant = Linear(((0.0, 1.0), (-1.0, -d)), ((0.0,), (1.0,)), ((1.0, 0.0),), x0=(0.0, 0.0))
    loop = ClosedLoop(plant, Feedback(plant, ((0.0,),)))
    (v,) = verify(loop, Scenario(duration=0.1), [C.LinearStability()])
    assert v.holds is holds


# ---- boxes, sectors, regions ---------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["frozen", "varying"])
def test_a_box_whose_edge_is_neutral_has_no_proof(mode):
    family = continuous(("d",), lambda θ: [[0.0, 1.0], [-1.0, -θ[0]]])
    sound = robust_stability(family, [(PLAIN, PLAIN)], mode)
    assert sound.strength == "proof" and sound.margin >= 1e-3 and "relative change" in sound.worst
    assert robust_stability(family, [(TINY, TINY)], mode, budget=50).holds is None


def edge_sector(δ):
    """ẋ = x − φ(x) with φ above (1 + δ) x: V = x² falls by 2δ x² at worst. det of the form is 4δ."""
    loop = Sector([[1.0]], [[1.0]], [[1.0]], 1 + δ, 2.0)
    return SectorCertificate(loop, "circle", np.eye(1), np.array([2 / (1 - δ)]), np.zeros(1))


def test_a_sector_that_begins_at_the_edge_has_no_proof():
    assert edge_sector(TINY).check() and not edge_sector(TINY).bears(NEUTRAL)
    sound = edge_sector(PLAIN)
    change = largest_change(sound.bears)
    assert sound.check() and 1e-3 < change < PLAIN
    for a in (1 - change, 1 + change):
        for b in (1 - change, 1 + change):
            assert a - b * (1 + PLAIN) * (1 - change) < 0


@pytest.mark.parametrize("T", [None, 0.1])
def test_a_region_at_the_edge_has_no_proof(T):
    """ẋ = x − sat((1 + δ) x), and x⁺ = x + T ẋ; inside |x| ≤ 1 nothing saturates by much."""

    def region(δ):
        A, B = ([[1.0]], [[1.0]]) if T is None else ([[1 + T]], [[T]])
        own = -δ if T is None else 1 - T * δ
        G = 1.0 if T is None else own * T
        A, B, K = (np.array(M, float) for M in (A, B, [[-(1 + δ)]]))
        return Region(A, B, K, np.array([5.0]), T, np.eye(1), np.array([[G]]), np.ones(1))

    assert region(TINY).check() and not region(TINY).bears(NEUTRAL)
    assert region(PLAIN).check() and largest_change(region(PLAIN).bears) > 1e-3


def test_a_region_whose_planes_touch_has_no_proof():
    """The same with a limit that the ellipsoid just reaches: |(K − G) x| = u_max at |x| = 1."""
    one = np.eye(1)
    touching = Region(one, one, -2 * one, np.array([3.0]), None, one, one, np.ones(1))
    assert touching.check() and not touching.bears(NEUTRAL)
    assert replace(touching, u_max=np.array([3.001])).bears(1e-9)


def test_claims_on_sound_loops_say_how_much_they_bear():
    """The largest ellipsoid touches its limits but for 1e-7: it bears little, and a proof it is."""
    plant = Linear(((0.3,),), ((1.0,),), ((1.0,),), x0=(0.1,))
    loop = ClosedLoop(plant, Sampled(Saturated(Feedback(plant, ((2.0,),)), -1.0, 1.0), 0.05))
    found = verify(loop, Scenario(duration=0.2), [C.RegionOfAttraction(), C.Sector(0.5, 1.5)])
    for v, least in zip(found, (1e-10, 1e-4)):
        assert v.strength == "proof" and v.data["change"] > least
        assert "relative change of the data" in v.worst


# ---- predictive laws -----------------------------------------------------------------------------
def test_a_predictive_loop_that_hardly_contracts_has_no_proof():
    """x⁺ = x + u, u = −δ x, ℓ = δ x² + u²: V = x² falls by less than rounding may take."""

    def given(δ):
        one = np.eye(1)
        return TerminalIngredients(
            one,
            one,
            δ * one,
            δ * one,
            (1 + δ) * one,
            δ * one,
            3,
            np.zeros((0, 1)),
            np.zeros((0, 1)),
            np.zeros(0),
            np.array([[1.0], [-1.0]]),
            np.ones(2),
        )

    assert mpc_stability(given(0.3))[-1].strength == "proof"
    cost, kept, whole = mpc_stability(given(TINY))
    assert cost.holds and whole.holds is None


def test_predictive_proofs_say_how_much_they_bear():
    whole = mpc_stability(GOOD)[-1]
    assert (
        whole.strength == "proof"
        and whole.margin == whole.data["change"] >= NEUTRAL
        and "relative change" in whole.worst
    )
    near = local_stability(replace(GOOD, H=None, h=None))
    assert near.strength == "proof" and near.data["change"] > 1e-6


def test_a_local_law_that_is_neutral_has_no_proof():
    """No weight on the state to speak of: u_0 is nearly 0, and x⁺ = x."""

    def given(q):
        one = np.eye(1)
        return TerminalIngredients(
            one,
            one,
            q * one,
            one,
            q * one,
            0.1 * one,
            2,
            np.zeros((0, 1)),
            np.zeros((0, 1)),
            np.zeros(0),
        )

    assert local_stability(given(0.5)).strength == "proof"
    assert local_stability(given(1e-14)).holds is None


# ---- a user's V ----------------------------------------------------------------------------------
@pytest.mark.parametrize("d, holds", [(PLAIN, True), (1e-9, True), (1e-14, None)])
def test_a_supplied_function_that_hardly_falls_has_no_proof(d, holds):
    plant = Linear(((-d, 1.0), (-1.0, -d)), ((0.0,), (0.0,)), ((1.0, 0.0),), x0=(0.0, 0.0))
    v = check_supplied(
        "x0**2 + x1**2",
        plant,
        {"x0": (-1, 1), "x1": (-1, 1)},
        0.1,
        inputs={"u0": 0.0},
        budget=20_000,
    )
    assert v.holds is holds
    if holds:
        assert v.margin == v.data["change"] >= NEUTRAL and "relative change" in v.worst
