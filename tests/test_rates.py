"""How fast v decays: closed forms, exact arithmetic, inertia of the whole machine, and rates that are told wrong."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from ledger_cases import (
    CRANE,
    FULL,
    LOADED,
    LUGRE,
    PATH,
    RUBBED,
    STRIBECK,
    heavier,
    own_gains,
    random_loop,
    sampled,
)
from oracles import paper_crane
from scipy.linalg import eigh

from controllers.vdc import VDC
from plants import Body, Stribeck
from workbench import Scenario
from workbench.verification import hypotheses
from workbench.verification.hypotheses import path_rate, rates
from workbench.verification.ledger.balance import Balance
from workbench.verification.ledger.claims import predicted
from workbench.verification.ledger.rates import (
    body_rates,
    certified_rate,
    definite_exactly,
    joint_jacobians,
    largest_rate,
    reduced_rate,
)
from workbench.verification.run import Run, run

SLACK = 2e-9  # the share by which a rate is taken smaller before it is confirmed exactly


def heavy_object_unknown():
    """The crane whose 570 kg object the controller does not know of, and its law."""
    last = FULL.structures[-1]
    bare = replace(last, prismatic=replace(last.prismatic, object=Body()))
    return FULL, VDC(model=replace(FULL, structures=(*FULL.structures[:-1], bare)), κ=10.0)


def inertia(plant, q):
    """H(q), from unit accelerations: no code of the rates."""
    return paper_crane.inertia(plant, list(q))


@pytest.mark.parametrize("κ", [7.5, 10.0, 23.0])
def test_gains_proportional_to_mass_give_twice_their_factor(κ):
    found = body_rates(VDC(model=FULL, κ=κ), FULL)
    assert len(found) == 12  # and the payload, of which there is none
    for name, (c, exact) in found.items():
        assert exact and (2 * κ * (1 - SLACK) <= c <= 2 * κ or name == "payload"), name


def test_rate_against_an_independent_eigenvalue_problem():
    """K not symmetric, M not diagonal: c = λ_min of (K + Kᵀ) x = c M x."""
    law, body = own_gains(CRANE), CRANE.structures[1].revolute.arm
    K = np.array(law.gains[0].K).reshape(6, 6)
    c, exact = body_rates(law, CRANE)["tilt.B1"]
    M = body.matrix()
    least = 1 / eigh(M, K + K.T, eigvals_only=True)[-1]
    assert exact and c == pytest.approx(least, rel=1e-8) and c <= least


def test_wrong_masses_in_the_model_count_with_the_true_ones():
    """K_A = κ M_A with the model's M_A, a tenth too heavy at the arms: the true rate differs from 2κ, both ways."""
    plant = heavier(CRANE, 1.1)
    low, high = VDC(model=CRANE), VDC(model=heavier(plant, 1.1))
    assert body_rates(low, plant)["lift.B1"][0] < 20 * (1 - 1e-3)
    assert body_rates(low, CRANE)["lift.B1"][0] == pytest.approx(
        20, rel=1e-8
    )  # what the model alone would claim
    assert body_rates(high, plant)["lift.B1"][0] >= 20 * (1 - SLACK)


def test_a_payload_without_gain_has_no_rate_of_its_own_but_one_on_the_machine():
    """The shipped crane's object, unknown to the controller: 0 for the body, H(q) against H(q) of the model for the whole."""
    plant, law = heavy_object_unknown()
    assert body_rates(law, plant)["tilt.P3"] == (0.0, True)
    rng, (low, high) = np.random.default_rng(3), np.array(plant.joint_range()).T
    for q in rng.uniform(low, high, (20, 3)):
        expected = 20 * eigh(inertia(law.model, q), inertia(plant, q), eigvals_only=True)[0]
        assert (
            reduced_rate(law, plant, q) == pytest.approx(expected, rel=1e-7)
            and 0.2 < expected < 0.24
        )


def test_the_reduced_rate_is_never_smaller():
    rng = np.random.default_rng(12)
    for seed, n in ((1, 1), (2, 2), (4, 3)):
        loop = random_loop(seed, n)
        law, plant = loop.controller.inner, loop.plant
        own = min(c for c, _ in body_rates(law, plant).values())
        for _ in range(5):
            q = np.array(plant.pose) + 0.1 * rng.normal(size=plant.n)
            assert reduced_rate(law, plant, q) >= own * (1 - 1e-9)


def test_friction_that_falls_takes_its_part_by_the_square_of_the_lever():
    """c H ⪯ Σ Jᵀ(K + Kᵀ)J − 2 diag(μ_j (dx_j/dq_j)²), by an eigenvalue problem of its own."""
    law, μ = VDC(model=CRANE, κ=9.0), (2e3, 9e3)
    for q in (CRANE.pose, (-1.1, -2.2)):
        J = joint_jacobians(CRANE, q)
        K, H = np.zeros((2, 2)), np.zeros((2, 2))
        for s in CRANE.structures:
            for frame, body in (b for g in s.segments for b in g.bodies):
                M, own = body.matrix(), J[f"{s.name}.{frame}"]
                H += own.T @ M @ own
                K += own.T @ (9.0 * M + law.K_I * np.eye(6)) @ own
        M = CRANE.payload.matrix()
        H += J["payload"].T @ M @ J["payload"]
        K += 9.0 * J["payload"].T @ M @ J["payload"]
        lever = np.array(CRANE.cylinder_motion(list(q), [0.0, 0.0])[2])
        expected = eigh(K + K.T - 2 * np.diag(μ * lever**2), H, eigvals_only=True)[0]
        assert 1.0 < expected < 17.9
        assert reduced_rate(law, CRANE, q, μ) == pytest.approx(expected, rel=1e-6)


# ---- exact arithmetic -----------------------------------------------------------------------------------------------
def test_barely_indefinite_is_refused_where_floats_see_nothing():
    a = 1.0 + 2.0**-52
    S = np.array(
        [[1.0, a], [a, 1.0 + 2.0**-51]]
    )  # det = −2⁻¹⁰⁴: a number no double near 1 can show
    assert Fraction(1.0) * Fraction(S[1, 1]) - Fraction(a) ** 2 < 0
    assert S[0, 0] * S[1, 1] - a * a == 0.0 and np.linalg.eigvalsh(S)[0] > -1e-15
    assert not definite_exactly(S) and not definite_exactly(S[::-1, ::-1])
    S[1, 1] += 2.0**-50
    assert definite_exactly(S)


def test_semidefinite_is_accepted_and_zero_pivots_are_looked_behind():
    v = np.array([1.0, 2.0, -3.0])
    assert definite_exactly(np.outer(v, v)) and definite_exactly(np.zeros((3, 3)))
    assert not definite_exactly(np.array([[0.0, 1.0], [1.0, 5.0]]))
    assert not definite_exactly(np.diag([1.0, 0.0, -1e-300]))


def test_the_certified_rate_is_a_lower_bound_by_exact_arithmetic():
    rng = np.random.default_rng(8)
    for _ in range(10):
        A, B = rng.normal(size=(2, 6, 6))
        K, M = A @ A.T + rng.normal(size=(6, 6)) * 0.1, B @ B.T + 0.01 * np.eye(6)
        c, exact = certified_rate(K, M)
        if c > 0:
            assert (
                exact
                and definite_exactly(K + K.T - c * M)
                and not definite_exactly(K + K.T - c * (1 + 1e-6) * M)
            )


@pytest.mark.parametrize("off, exact", [(1.0, True), (1.0 + 1e-8, False), (1.01, False)])
def test_a_rate_that_floats_give_too_large_is_not_confirmed(monkeypatch, off, exact):
    rng = np.random.default_rng(12)
    A, B = rng.normal(size=(2, 6, 6))
    K, M = A @ A.T, B @ B.T + 0.01 * np.eye(6)
    c = largest_rate(K, M)
    monkeypatch.setattr("workbench.verification.ledger.rates.largest_rate", lambda K, M: off * c)
    assert certified_rate(K, M) == (pytest.approx(off * c, rel=1e-8), exact)


def test_no_damping_no_rate_no_mass_no_limit():
    M = np.diag([3.0, 2.0, 1.0])
    assert largest_rate(np.zeros((3, 3)), M) == 0 and largest_rate(-M, M) == 0
    assert largest_rate(np.diag([0.0, 4.0, 4.0]), M) == 0
    assert largest_rate(np.eye(3), np.zeros((3, 3))) == np.inf
    assert largest_rate(np.diag([6.0, 5.0, 0.0]), np.diag([3.0, 2.0, 0.0])) == pytest.approx(4.0)


# ---- the rate on runs: v ≤ v̂ --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def runs():
    """Runs whose v is driven by hold, bristles, an unknown payload."""
    loops = {
        "hold": (sampled(CRANE), {}),
        "offset": (sampled(CRANE), {"q_1": 0.05}),
        "bristles": (sampled(RUBBED), {}),
        "payload": (sampled(LOADED, VDC(model=CRANE)), {"dq_2": 0.2}),
    }
    return {
        name: run(loop, Scenario(reference=PATH, duration=1.0, offset=offset), compiled=False)
        for name, (loop, offset) in loops.items()
    }


@pytest.mark.parametrize("name", ["hold", "offset", "bristles", "payload"])
def test_v_stays_below_what_the_ledger_predicts(runs, name):
    own, reduced = path_rate(runs[name])
    b = runs[name].balance
    assert own == 0.0 < 5 < reduced if name == "payload" else own == pytest.approx(20, rel=1e-8)
    for c in (own, reduced):
        assert (b.total <= predicted(b, c) + 1e-9 * b.total.max()).all()


def test_with_no_decay_the_prediction_is_exact_but_for_the_damping(runs):
    """c = 0 and d = v̇: ∫d is v itself, to the trapezoid's error."""
    b = runs["offset"].balance
    exact = replace(
        b,
        perturbations={("all", "all", "v̇"): b.total_rate},
        flows={},
        dissipation=0 * b.dissipation,
    )
    assert predicted(exact, 0.0) == pytest.approx(b.total, abs=3e-3 * b.total.max())


def test_a_rate_computed_with_the_controllers_masses_is_caught(runs):
    """κ M with the model's M claims 20 1/s though the payload carries no gain: v then exceeds v̂."""
    b = runs["payload"].balance
    claimed = body_rates(VDC(model=CRANE), CRANE)["lift.B0"][0]
    assert claimed == pytest.approx(20, rel=1e-8)
    assert (b.total > 1.3 * predicted(b, claimed)).any()


def test_bristles_carry_no_rate():
    """Bristles at rest, bent and not damped: v stays, and so must v̂; counted as if it decayed, v̂ would fall below v."""
    t, stays = np.linspace(0, 1, 101), np.full(101, 0.3)
    none = np.zeros((101, 1))
    b = Balance(
        t,
        (("s", "actuator"),),
        stays[:, None],
        none,
        none,
        none,
        {},
        {("s", "actuator", "hold"): 0 * t},
        {"undamped 1": stays},
    )
    assert predicted(b, 20.0) == pytest.approx(stays, rel=1e-12)
    assert predicted(replace(b, quantities={}), 20.0)[-1] == pytest.approx(
        0.3 * np.exp(-20), rel=1e-9
    )


def test_a_base_that_moves_is_outside_the_reduced_rate(runs):
    still = runs["payload"]
    moving = Run(
        still.loop, Scenario(reference=PATH, duration=1.0, disturbances={"V_bx": 0.1}), still.log
    )
    assert path_rate(moving) == (0.0, 0.0)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_the_rate_along_a_path_is_that_of_its_worst_pose_ends_included(monkeypatch, way):
    """Rates that grow along the path, or fall: the smallest is at its first or at its last instant."""
    along = np.linspace(0.7, 3.0, 200)[:: int(way)]
    ran = SimpleNamespace(
        scenario=SimpleNamespace(disturbances={}), log=SimpleNamespace(array=lambda name: along)
    )
    plant = SimpleNamespace(position_names=("q",))
    monkeypatch.setattr(rates, "body_rates", lambda law, plant: {"a": (0.4, ""), "b": (2, "")})
    monkeypatch.setattr(rates, "reduced_rate", lambda law, plant, row: row[0])
    assert hypotheses.rates_along(ran, None, plant, 9.0) == (0.4, 0.7)
    assert hypotheses.rates_along(ran, None, plant, 0.5) == (0.4, 0.5)
    assert hypotheses.rates_along(ran, None, plant, 0.3) == (0.3, 0.3)


def test_friction_is_looked_at_up_to_the_required_speed_wherever_that_is_largest():
    law = Stribeck(F_c=2900.0, F_s=4400.0, v_s=0.03, b=9e4)
    v, Δv = np.array([0.01, -0.02, 0.0]), np.array([0.0, -0.29, 0.1])
    found = hypotheses.rubbing(None, "1", law, law, v, Δv)
    assert found.margin == law.slope(0.31)[0] and "up to 0.31 m/s" in found.worst
    faster = hypotheses.rubbing(None, "1", law, law, 3 * v, 0 * v)
    assert faster.margin == law.slope(0.06)[0]


def test_friction_laws_are_told_apart_by_slope():
    """What rate can cost: the most negative slope of each law, from its closed form."""
    assert STRIBECK.slope(0.3)[0] < 0 < STRIBECK.b < STRIBECK.slope(0.3)[1]
    v = np.linspace(1e-6, 0.3, 20001)
    seen = np.diff(STRIBECK.force(v)) / np.diff(v)
    assert STRIBECK.slope(0.3)[0] <= seen.min() and STRIBECK.slope(0.3)[0] == pytest.approx(
        seen.min(), rel=1e-2
    )
    assert LUGRE.power_limit() == pytest.approx(
        4 * (LUGRE.σ_1 + LUGRE.b) * LUGRE.F_c / LUGRE.σ_1**2
    )
