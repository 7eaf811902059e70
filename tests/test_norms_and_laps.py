"""Where responses cross, the H∞ norm, balls of laps, what is drawn beside a tube, growth that lasts: closed forms."""

from dataclasses import dataclass, replace
from math import pi, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.ledger.rates import certified_rate, largest_rate, matrices
from workbench.verification.linear import frozen_time, norms
from workbench.verification.linear.frozen_time import TracedPoints, common_modes, doubted
from workbench.verification.linear.modes import Place
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.tube import beside, lap


@dataclass(frozen=True)
class Known:
    """A mode, and how well it is known."""

    s: complex
    bound: float
    rounding: float = 0.0


# ---- cuts and crossings ----------------------------------------------------------------------------------------------------
def lag(gain=3.0, pole=0.5, T=None, D=0.0):
    return LinearSystem(-pole if T is None else pole, 1.0, gain, D, T)


def test_the_pencil_of_a_gain_of_one():
    """G = 3/(s + 0.5): |G| = 1 at ω = √(9 − 0.25); with a feedthrough |3/(jω + 0.5) + 0.4|² = 1."""
    (found,) = norms.cuts(lag(), level=True)
    assert found == pytest.approx(sqrt(8.75))
    through = norms.cuts(lag(D=0.4), level=True)
    size = lambda w: abs(3 / (1j * w + 0.5) + 0.4)
    assert any(size(w) == pytest.approx(1.0) for w in through)
    sampled = norms.cuts(lag(0.3, 0.8, T=0.1), level=True)
    size = lambda w: abs(0.3 / (np.exp(0.1j * w) - 0.8))
    assert len(sampled) >= 1 and any(size(w) == pytest.approx(1.0) for w in sampled)
    assert (sampled < pi / 0.1).all() and norms.cuts(lag(0.3, 0.8), level=True).size == 0
    alone = LinearSystem(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[2.0]])
    assert norms.cuts(alone, level=True).size == 0


def test_the_pencil_of_a_real_response():
    """1/((s + 1)(s + 2)(s + 3)) is real at ω = √11; 1/(z² (z − 0.5)) sampled where the phase passes a multiple of π."""
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-6.0, -11.0, -6.0]])
    g = LinearSystem(A, np.array([[0.0], [0.0], [1.0]]), np.array([[1.0, 0.0, 0.0]]), 0.0)
    assert min(abs(w - sqrt(11)) for w in norms.cuts(g, level=False)) < 1e-6
    late = LinearSystem(
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.5]]),
        np.array([[0.0], [0.0], [1.0]]),
        np.array([[1.0, 0.0, 0.0]]),
        0.0,
        0.1,
    )
    at = lambda w: 1 / (np.exp(0.2j * w) * (np.exp(0.1j * w) - 0.5))
    real = [w for w in norms.cuts(late, level=False) if abs(at(w).imag) < 1e-8 * abs(at(w))]
    assert len(real) == 2


def test_one_frequency_in_every_interval():
    assert norms.between(np.array([]), np.inf).tolist() == [1.0]
    assert norms.between(np.array([]), 6.0).tolist() == [3.0]
    assert norms.between(np.array([2.0, 8.0]), np.inf) == pytest.approx([1.0, 4.0, 16.0])
    assert norms.between(np.array([2.0, 8.0]), 10.0) == pytest.approx([1.0, 4.0, 9.0])


def test_zeros_that_are_crossed_touched_or_neither():
    """(w − 3) is crossed; (w − 3)² touched; a jump, a spurious cut and a value that stays away are none."""
    ω = np.array([1.0, 3.0, 7.0])
    assert norms.crossings(lambda w: w - 3.0, ω, np.inf) == pytest.approx([3.0])
    assert norms.crossings(lambda w: (w - 3.0) ** 2, ω, np.inf) == [3.0]
    assert norms.crossings(lambda w: np.sign(w - 3.3), ω, np.inf) == []
    assert norms.crossings(lambda w: (w - 3.0) ** 2 + 1e-3, ω, np.inf) == []
    assert norms.crossings(lambda w: 1e-12, ω, np.inf) == []
    split = np.array([1.0, 3.0, 3.0 * (1 + 5e-7), 7.0])
    assert norms.crossings(lambda w: (w - 3.0) ** 2, split, np.inf) == [3.0]
    assert norms.crossings(lambda w: (w - 1) * (w - 7), ω, 9.0) == pytest.approx([1.0, 7.0])
    assert norms.crossings(lambda w: w, np.array([]), 9.0) == []


def test_the_norm_of_what_rings_and_of_what_does_not():
    """ω²/(s² + 2ζω s + ω²): 1/(2ζ√(1 − ζ²)) at ω√(1 − 2ζ²); a lag at 0; a lead-like one at the top; ∞ where it is unstable."""
    ω, ζ = 7.0, 0.05
    A = np.array([[0.0, 1.0], [-ω * ω, -2 * ζ * ω]])
    ring = LinearSystem(A, np.array([[0.0], [1.0]]), np.array([[ω * ω, 0.0]]), 0.0)
    size, at = norms.hinf_norm(ring)
    assert size == pytest.approx(1 / (2 * ζ * sqrt(1 - ζ * ζ)), rel=1e-9)
    assert at == pytest.approx(ω * sqrt(1 - 2 * ζ * ζ), rel=1e-4)
    assert norms.hinf_norm(lag()) == pytest.approx((6.0, 0.0))
    size, at = norms.hinf_norm(lag(-1.5, 0.5, D=4.0))
    assert size == pytest.approx(4.0) and at > 100
    size, at = norms.hinf_norm(lag(0.3, -0.8, T=0.1))
    assert (size, at) == pytest.approx((1.5, pi / 0.1))
    assert norms.hinf_norm(lag(pole=-0.5))[0] == np.inf
    swings = LinearSystem(
        np.array([[0.1, 4.0], [-4.0, 0.1]]), np.ones((2, 1)), np.ones((1, 2)), 0.0
    )
    assert norms.hinf_norm(swings) == (np.inf, pytest.approx(4.0))
    turns = LinearSystem(
        1.1 * np.array([[0.0, 1.0], [-1.0, 0.0]]), np.ones((2, 1)), np.ones((1, 2)), 0.0, 0.1
    )
    assert norms.hinf_norm(turns) == (np.inf, pytest.approx(pi / 2 / 0.1))
    assert norms.hinf_norm(lag(gain=0.0))[0] == 0.0


# ---- rates ------------------------------------------------------------------------------------------------------------------
def test_a_rate_is_confirmed_a_little_below_the_largest():
    """K + Kᵀ ⪰ c M for diag(3, 5) against diag(2, 7): the least of 2 k/m; infinite without mass."""
    K, M = np.diag([3.0, 5.0]), np.diag([2.0, 7.0])
    c, exact = certified_rate(K, M)
    assert exact is True and 10 / 7 * (1 - 2e-9) < c < 10 / 7
    assert certified_rate(K, np.zeros((2, 2))) == (np.inf, True)
    assert largest_rate(np.diag([3.0, -5.0]), M) == 0.0
    assert largest_rate(np.diag([3.0, 0.1]), np.diag([2.0, 0.0])) == pytest.approx(3.0)
    skew = np.array([[3.0, 4.0], [-4.0, 5.0]])
    assert largest_rate(skew, M) == pytest.approx(10 / 7)


# ---- laps -------------------------------------------------------------------------------------------------------------------
def test_the_ellipsoid_of_orthogonal_segments():
    """Σ g gᵀ/p with p in the ratio of their lengths in it: halves for two orthogonal ones, C = 2 diag(9, 0.25)."""
    C = lap.ellipsoid(np.array([[3.0, 0.0], [0.0, 0.5]]))
    assert C == pytest.approx(np.diag([18.0, 0.5]), rel=1e-3)
    assert lap.ellipsoid(np.array([[3.0, 3.0]]))[0, 0] == pytest.approx(36.0)
    rng = np.random.default_rng(2)
    G = rng.normal(size=(2, 5))
    C = lap.ellipsoid(G)
    for signs in np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T:
        e = G @ signs
        assert e @ np.linalg.solve(C, e) <= 1 + 1e-9


def test_what_laps_keep_of_an_ellipsoid():
    """C/(1 − w²/r^{2 share}) for one state; W C Wᵀ ≤ r^{2 share} C in general."""
    found = lap.kept(np.array([[0.8]]), np.array([[5.0]]), 0.3)
    assert found[0, 0] == pytest.approx(5.0 / (1 - 0.8 ** (2 - 0.6)))
    W, C = np.array([[0.6, 0.4], [-0.1, 0.5]]), np.diag([2.0, 3.0])
    r = max(abs(np.linalg.eigvals(W)))
    found = lap.kept(W, C, 0.5)
    assert found == pytest.approx(C + W @ found @ W.T / r, rel=1e-9) and (found == found.T).all()


def test_the_ball_of_a_lap_holds_what_its_samples_add():
    """Two samples: segments diag(a_1) and M_1 diag(a_0) at the end; R Rᵀ holds their sum, and a lap shortens it."""
    M = np.array([[[0.9, 0.1], [0.0, 0.7]], [[0.8, 0.0], [0.2, 0.9]]])
    added = np.array([[0.3, 0.1], [0.2, 0.5]])
    least = np.zeros(2)
    R = lap.shaped(M, added, 0.5, least)
    C = R @ R.T
    whole = M[1] @ M[0]
    r = max(abs(np.linalg.eigvals(whole)))
    assert np.linalg.eigvalsh(r * C - whole @ C @ whole.T)[0] > -1e-9
    ends = np.hstack([np.diag(added[1]), M[1] @ np.diag(added[0])])
    for signs in np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T:
        e = ends @ signs
        assert e @ np.linalg.solve(C, e) <= 1 + 1e-6
    size = np.abs(ends).sum(axis=1)
    C_0 = lap.ellipsoid(ends / size[:, None])
    scaled = lap.kept(whole * size / size[:, None], C_0, 0.5) * np.outer(size, size)
    assert C == pytest.approx(scaled, rel=1e-5)


# ---- what is drawn beside a tube ----------------------------------------------------------------------------------------------
def test_starts_and_instants_that_are_drawn():
    two = beside.shares(2)
    assert (
        two.shape == (40, 2)
        and np.abs(two[:4]).min() == 1.0
        and len(np.unique(two[:4], axis=0)) == 4
    )
    assert np.abs(two).max() == 1.0 and np.abs(two[4:]).max() < 1.0 and two[4:].min() < -0.5
    many = beside.shares(5)
    assert (np.abs(many[:16]) == 1).all() and (np.abs(many[16:]) < 1).all()
    assert len(np.unique(many[:16], axis=0)) == 16
    few = np.arange(10)
    assert beside.drawn(few).tolist() == few.tolist()
    long = beside.drawn(np.arange(2000))
    assert long[:400].tolist() == list(range(400)) and long[400:404].tolist() == [
        400,
        404,
        408,
        412,
    ]


def test_how_far_runs_get_from_the_nominal_one(monkeypatch):
    """The largest distance over all starts, sample by sample; a run that ends earlier counts as long as it lasts."""
    asked = []

    def other(run, half, varied, share):
        return None, share.tolist()

    def many(jobs, far):
        found = []
        for _, share in jobs:
            asked.append(share)
            a = 0.5 + 0.25 * share[0]
            values = np.array([[a, 0.0], [2 * a, 0.0], [a, 1.0]])
            found.append(far(SimpleNamespace(log=SimpleNamespace(values=values))))
        return found

    monkeypatch.setattr(beside, "run_many", many)
    monkeypatch.setattr(beside, "other", other)
    run = SimpleNamespace(log=SimpleNamespace(values=np.array([[0.5, 0.0], [0.5, 0.0]])))
    found = beside.hull(run, {"x": 0.5}, (), np.array([[1.0, 1.0], [-1.0, 1.0]]), [0])
    assert asked == [[1.0, 1.0], [-1.0, 1.0]]
    assert found.tolist() == [[0.25], [1.0]]


# ---- growth on the way --------------------------------------------------------------------------------------------------------
def test_growth_counts_where_it_lasts_as_long_as_growing_takes():
    """At row 50 of 101, growth 0.1 1/s: rows 40, 45, 55, 60 are asked; half of it on the average is enough."""
    seen = []

    def points(rates):
        def visited(j):
            seen.append(j)
            modes = [SimpleNamespace(s=complex(v, 3.0)) for v in (rates[j], -5.0)]
            return SimpleNamespace(modes=modes)

        return SimpleNamespace(
            log=SimpleNamespace(time=np.linspace(0.0, 100.0, 101)), visited=visited
        )

    rates = dict.fromkeys(range(101), 0.0) | {40: 0.2, 45: 0.0, 55: 0.0, 60: 0.0}
    assert TracedPoints.lasts(points(rates), 50, 0.1) is True
    assert seen == [40, 45, 55, 60]
    assert TracedPoints.lasts(points(rates | {40: 0.19}), 50, 0.1) is False
    seen.clear()
    TracedPoints.lasts(points(rates), 98, 0.1)
    assert seen == [88, 93, 100, 100]


def test_a_mode_is_doubted_by_what_another_step_says_of_it():
    fine = Place(0.0, "here", True, ())
    near = [Known(-1 + 2j, 0.01), Known(-5 + 0j, 0.9)]
    rough = SimpleNamespace(modes=[Known(-1 + 2.5j, 0.0), Known(-5.1 + 0j, 0.0)])
    fine = replace(fine, modes=tuple(near))
    found = doubted(fine, rough).modes
    assert [m.bound for m in found] == pytest.approx([1.0, 0.9])
    assert [m.rounding for m in found] == pytest.approx([1.0, 0.2])
    lost = doubted(fine, SimpleNamespace(modes=[])).modes
    assert all(m.bound == np.inf for m in lost)


def test_directions_in_which_pressures_change_and_no_force_does(monkeypatch):
    """A_a Δp_a = A_b Δp_b: (A_b, A_a) over its length, at the places of the two."""
    cylinder = SimpleNamespace(A_a=4.0, A_b=3.0)
    monkeypatch.setattr(frozen_time, "chambers", lambda plant, state: {"p_a": ("p_b", cylinder)})
    states = [SimpleNamespace(name=name) for name in ("q", "p_b", "p_a")]
    loop = SimpleNamespace(plant=None, states=states)
    assert common_modes(loop) == pytest.approx(np.array([[0.0, 0.8, 0.6]]))


def test_gains_and_masses_of_every_body_in_its_own_frame():
    """κ M + K_I of the law's own body, nothing of K_I where the mass is carried, a body's own K where it has one."""
    body = lambda name, mass, **more: SimpleNamespace(
        name=name, mass=mass, com=(0.0, 0.0, 0.0), inertia=(0.5, 0.6, 0.7, 0.0, 0.0, 0.0), **more
    )
    known = [
        body("a", 3.0, carried=False),
        body("load", 5.0, carried=True),
        body("c", 7.0, carried=False),
    ]
    true = [body("A", 4.0), body("Load", 6.0), body("C", 8.0)]
    turned = {"A": (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)}
    own = np.arange(36.0)
    law = SimpleNamespace(
        gains=[SimpleNamespace(name="c", K=own.tolist())],
        κ=2.0,
        K_I=10.0,
        model=SimpleNamespace(mechanism=SimpleNamespace(bodies=known), axes={}),
    )
    plant = SimpleNamespace(mechanism=SimpleNamespace(bodies=true), axes=turned)
    found = matrices(law, plant)
    mass = lambda m, inertia=(0.5, 0.6, 0.7): np.diag([m, m, m, *inertia])
    assert found["A"][0] == pytest.approx(2 * mass(3.0) + 10 * np.eye(6))
    assert found["A"][1] == pytest.approx(mass(4.0, (0.6, 0.5, 0.7)))  # about turned axes
    assert found["Load"][0] == pytest.approx(2 * mass(5.0)) and found["Load"][1] == pytest.approx(
        mass(6.0)
    )
    assert found["C"][0] == pytest.approx(own.reshape(6, 6)) and found["C"][1] == pytest.approx(
        mass(8.0)
    )
