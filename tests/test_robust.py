"""Boxes of parameters: edges known in closed form, approached from both sides; common and frozen certificates told apart."""

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.contract.errors import InputError
from workbench.verification.linear.family import Family, corners_of
from workbench.verification.linear.robust import (
    continuous,
    edge,
    robust_stability,
    sampled_loop,
    stepped,
)

OSCILLATOR = continuous(("k", "d"), lambda θ: [[0.0, 1.0], [-θ[0], -θ[1]]])


def servo(K=2.6, T=0.02, delay=0.0):
    """Position servo with a lightly damped valve: ẍ-like plant with parameters ω (rad/s) and gain g."""

    def A(θ):
        return [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -(θ[0] ** 2), -0.9 * θ[0]]]

    return sampled_loop(
        ("ω", "g"), A, lambda θ: [[0.0], [0.0], [θ[0] ** 2 * θ[1]]], [[K, 0.0, 0.0]], T, delay
    )


def test_affine_family_is_recognised_and_its_vertices_suffice():
    assert OSCILLATOR.affine
    assert not continuous(("k",), lambda θ: [[-1.0 - θ[0] ** 2]]).affine
    assert not continuous(("k",), lambda θ: [[-np.abs(θ[0])]]).affine and not servo().affine
    v = robust_stability(OSCILLATOR, [(1.0, 1.4), (0.5, 1.5)], "varying")
    assert (
        v.holds and v.strength == "proof" and "vertices" in v.source and "k ∈ [1, 1.4]" in v.claim
    )


def test_varying_stiffness_has_its_own_edge():
    """ẍ + d ẋ + k(t) x with d constant is quadratically stable exactly for √k_max − √k_min < d."""
    d = 0.5
    family = continuous(("k",), lambda θ: [[0.0, 1.0], [-θ[0], -d]])
    top = (np.sqrt(1.3) + d) ** 2
    assert robust_stability(family, [(1.3, top - 1e-3)], "varying").holds is True
    over = robust_stability(family, [(1.3, top + 1e-3)], "varying")
    assert over.holds is None
    frozen = robust_stability(family, [(1.3, top + 1.0)], "frozen")
    assert (
        frozen.holds
        and any("constant" in a.text for a in frozen.assumptions)
        and "constant" in frozen.claim
    )


@pytest.mark.long
def test_frozen_box_up_to_its_edge():
    assert robust_stability(OSCILLATOR, [(1, 3), (0.03, 1.5)]).holds is True
    over = robust_stability(OSCILLATOR, [(1, 3), (-0.03, 1.5)])
    assert over.holds is False and over.strength == "numerical" and over.data["θ"][1] <= 0
    assert robust_stability(OSCILLATOR, [(1, 3), (0.0, 1.5)], budget=200).holds is None
    good, bad, v = edge(OSCILLATOR, [2.0, 0.8], [0.0, 1.0], rounds=10)
    assert 0.79 < good < 0.8 < bad + 2e-3 and v.holds


def test_a_hole_inside_the_box_is_found():
    """Stable at all corners and the centre, unstable in between: θ near 0.31 only."""
    family = continuous(("θ",), lambda θ: [[-0.02 + 0.05 * np.exp(-(((θ[0] - 0.31) / 0.03) ** 2))]])
    v = robust_stability(family, [(-1.0, 1.0)])
    assert v.holds is False and abs(v.data["θ"][0] - 0.31) < 0.03
    small = continuous(("θ",), lambda θ: [[-0.06 + 0.05 * np.exp(-(((θ[0] - 0.31) / 0.03) ** 2))]])
    assert small.traced and robust_stability(small, [(-1.0, 1.0)]).holds is True


@pytest.mark.parametrize("mode", ["frozen", "varying"])
@pytest.mark.parametrize("c", [0.0, 7.0, -31.0])
def test_a_box_is_where_it_is(c, mode):
    """ẋ = (a² + b² − r²) x, a and b from the centre of a box of half-width 1: stable in it exactly for r² > 2."""
    box = [(c - 1, c + 1), (-2 * c - 1, -2 * c + 1)]

    def bowl(square):
        return continuous(("a", "b"), lambda θ: [[(θ[0] - c) ** 2 + (θ[1] + 2 * c) ** 2 - square]])

    assert robust_stability(bowl(2.3), box, mode).holds is True
    over = robust_stability(bowl(1.9), box, mode)
    assert over.holds is False and np.abs(np.array(over.data["θ"]) - [c, -2 * c]) == pytest.approx(
        [1.0, 1.0]
    )
    peak = continuous(("a", "b"), lambda θ: [[0.2 - 9 * (θ[0] - c) ** 2 - 9 * (θ[1] + 2 * c) ** 2]])
    assert robust_stability(peak, box, mode).data["θ"] == pytest.approx([c, -2 * c], abs=1e-12)


def test_switches_in_the_text_are_covered():
    family = stepped(
        ("θ",), lambda θ: [[np.where(θ[0] > 0.2, 0.9, -0.8), 0.3], [0.0, 0.5 + 0.1 * θ[0]]], 0.1
    )
    assert robust_stability(family, [(-1.0, 1.0)]).holds is True
    jump = stepped(("θ",), lambda θ: [[np.where(θ[0] > 0.2, 1.1, -0.8)]], 0.1)
    assert robust_stability(jump, [(-1.0, 1.0)]).holds is False
    assert (
        robust_stability(stepped(("θ",), lambda θ: [[np.sqrt(θ[0])]], 0.1), [(-0.5, 0.5)]).holds
        is None
    )


BUMPS = {
    "choice": lambda θ: np.where(θ > 0.3, 1.0, 0.0) - np.where(θ > 0.32, 1.0, 0.0),
    "sign": lambda θ: 0.5 * (np.sign(θ - 0.3) - np.sign(θ - 0.32)),
    "floor": lambda θ: np.floor(θ - 0.3) - np.floor(θ - 0.32),
    "ceil": lambda θ: np.ceil(θ - 0.3) - np.ceil(θ - 0.32),
}


@pytest.mark.parametrize("mode", ["frozen", "varying"])
@pytest.mark.parametrize("bump", BUMPS)
@pytest.mark.parametrize("T", [None, 0.1])
def test_a_step_up_and_down_again_inside_the_box_is_no_slope(T, bump, mode):
    """1 for 0.3 < θ < 0.32, else 0: neither centre, corners nor any derivative show it; only the bound of the text does."""
    make = continuous if T is None else lambda names, text: stepped(names, text, T)
    low = -0.5 if T is None else 0.5

    def family(height):
        return make(("θ",), lambda θ: [[low + height * BUMPS[bump](θ[0])]])

    assert robust_stability(family(0.1), [(-0.6, 1.0)], mode).holds is True
    assert robust_stability(family(0.7), [(-0.6, 1.0)], mode, budget=400).holds is not True


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02, 0.031])
def test_sampled_loop_is_the_exact_one(delay):
    """Against a brute-force simulation of plant, hold and delay; eigenvalues at zero are the memory."""
    T, K = 0.02, 2.6
    family = servo(K, T, delay)
    ω, g = 31.0, 0.9
    M = family.at((ω, g))
    A = np.array([[0.0, 1, 0], [0, 0, 1], [0, -(ω**2), -0.9 * ω]])
    B = np.array([[0.0], [0], [ω**2 * g]])
    big = np.block([[A, B], [np.zeros((1, 4))]])
    x, ξ = np.array([1.0, -0.4, 3.0]), np.zeros(len(M.mid))
    ξ[:3] = x
    pending, applied = [], 0.0
    for k in range(12):
        pending.append((k * T + delay, -K * x[0]))
        t = k * T
        while t < (k + 1) * T - 1e-12:
            due = [u for time, u in pending if time <= t + 1e-12]
            applied = due[-1] if due else applied
            until = min([time for time, _ in pending if time > t + 1e-12] + [(k + 1) * T])
            x = (expm(big * (until - t)) @ [*x, applied])[:3]
            t = until
        ξ = M.mid @ ξ
        np.testing.assert_allclose(ξ[:3], x, rtol=1e-9, atol=1e-9 * np.abs(x).max())
    assert M.rad.max() < 1e-9 * np.abs(M.mid).max()


def test_cover_of_a_sampled_family_holds_every_member():
    family, rng = servo(delay=0.013), np.random.default_rng(3)
    low, high = np.array([28.0, 0.8]), np.array([30.0, 0.9])
    corners = corners_of(*family.cover(low, high))
    assert len(corners) == 4
    lows, highs = (
        np.min([c.mid - c.rad for c in corners], axis=0),
        np.max([c.mid + c.rad for c in corners], axis=0),
    )
    for _ in range(60):
        M = family.at(rng.uniform(low, high)).mid
        assert (lows <= M).all() and (M <= highs).all()
    width = highs - lows
    spread = np.ptp([family.at((a, b)).mid for a in (28, 29, 30) for b in (0.8, 0.9)], axis=0)
    assert (width <= 3 * spread + 0.02 * np.abs(M).max()).all()


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_derivatives_of_a_product_are_those_of_its_entries(stages):
    """Stages that all depend on both parameters, with and without a time of their own, against central differences."""
    texts = (
        (lambda θ: [[0.3 + θ[0], θ[1] ** 2], [0.2, 0.7 * θ[0]]], None),
        (lambda θ: [[-θ[1], 1.0], [-3.0 * θ[0], 0.4]], lambda θ: 0.2 + 0.3 * θ[0] * θ[1]),
        (lambda θ: [[1.0, 0.5 * θ[0]], [θ[1], 0.9]], None),
        (lambda θ: [[0.1, -2.0 * θ[0] * θ[1]], [1.0, -0.3]], 0.4),
    )
    family = Family(("a", "b"), texts[:stages], 0.1)
    θ, h = np.array([0.8, 1.3]), 1e-6
    M, D, r = family.cover(θ - h, θ + h)
    product = np.eye(2)
    for text, time in texts[:stages]:
        X = np.array(text(θ))
        t = time(θ) if callable(time) else time
        product = (X if t is None else expm(X * t)) @ product
    assert M.mid == pytest.approx(product, rel=1e-12) and r == pytest.approx([h, h])
    for k, slope in enumerate(D):
        step = 1e-5 * np.eye(2)[k]
        difference = (family.at(θ + step).mid - family.at(θ - step).mid) / 2e-5
        assert (np.abs(slope.mid - difference) <= slope.rad + 1e-8).all()
        assert slope.rad.max() < 1e-3


def test_sampled_servo_up_to_its_edge():
    family = servo()
    inside = robust_stability(family, [(28.0, 33.0), (0.8, 1.1)])
    assert inside.holds and inside.strength == "proof" and inside.data["boxes"] >= 1
    edges = np.linspace(1.0, 12.0, 2000)
    radius = np.array([np.abs(np.linalg.eigvals(family.at((30.0, g)).mid)).max() for g in edges])
    limit = edges[np.argmax(radius > 1)]
    assert 1.5 < limit < 11
    assert robust_stability(family, [(30.0, 30.0), (0.5, 0.97 * limit)]).holds is True
    assert robust_stability(family, [(30.0, 30.0), (0.5, 1.01 * limit)]).holds is False


def test_changes_need_a_common_matrix():
    """Every constant θ is a stable spiral, but switching between them grows: frozen holds, varying must not."""
    family = continuous(("θ",), lambda θ: [[-0.1, 1 + 9 * θ[0]], [-10 + 9 * θ[0], -0.1]])
    ends = [family.at((θ,)).mid for θ in (0.0, 1.0)]
    quarter = np.pi / 2 / np.sqrt(10.0 + 0.0)
    grown = expm(ends[0] * quarter) @ expm(ends[1] * quarter)
    assert np.abs(np.linalg.eigvals(grown)).max() > 1
    assert robust_stability(family, [(0.0, 1.0)], "frozen").holds is True
    assert robust_stability(family, [(0.0, 1.0)], "varying").holds is None
    assert robust_stability(family, [(0.5, 0.505)], "varying").holds is True
    sampled = stepped(("θ",), lambda θ: [[0.5, 2.0 * θ[0]], [2.0 * (1 - θ[0]), 0.5]], 0.1)
    assert robust_stability(sampled, [(0.0, 0.02)], "varying").holds is True
    assert (
        robust_stability(sampled, [(0.0, 1.0)], "varying").holds is False
    )  # θ = ½ has the mode 1.5


def test_a_time_may_be_a_parameter():
    """e^{a t} over t ∈ [0.1, 0.2] with a jump by 1.15: stable exactly while 1.15 e^{−a·t} < 1 for the shortest t."""
    make = lambda a: Family(
        ("t",), ((lambda θ: [[1.15]], None), (lambda θ: [[-a]], lambda θ: θ[0])), 0.2
    )
    a = np.log(1.15) / 0.1
    assert robust_stability(make(1.001 * a), [(0.1, 0.2)]).holds is True
    assert robust_stability(make(0.999 * a), [(0.1, 0.2)]).holds is False


def test_bad_questions_are_refused():
    for limits in ([(1.0, 2.0)], [(2.0, 1.0), (0.1, 0.2)], [(1.0, np.inf), (0.1, 0.2)]):
        with pytest.raises(InputError):
            robust_stability(OSCILLATOR, limits)
    with pytest.raises(InputError):
        robust_stability(OSCILLATOR, [(1, 2), (1, 2)], "always")
    with pytest.raises(InputError):
        robust_stability(continuous(("k",), lambda θ: [[np.nan]]), [(1, 2)])
    told = []
    robust_stability(
        OSCILLATOR, [(1, 3), (0.1, 1.5)], progress=lambda share, text: told.append(share)
    )
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)
