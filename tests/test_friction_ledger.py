"""What friction does to energies: loss, and each law's part in the stability ledger, from both sides."""

from dataclasses import replace
from math import cos, exp, inf, pi, sqrt

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from test_friction import DYNAMIC, EVERY, LAWS, STATIC, dynamic, every, memories, name

from plants.components.friction import CoulombViscous, LuGre, ModifiedLuGre

LUGRE, FILM = (next(law for law in LAWS if isinstance(law, cls)) for cls in (LuGre, ModifiedLuGre))
films = pytest.mark.parametrize(
    "law", [law for law in DYNAMIC if isinstance(law, ModifiedLuGre)], ids=name
)


def grip(law, v):
    return law.F_c + (law.F_s - law.F_c) * exp(-((abs(v) / law.v_s) ** law.n))


# ---- energies -------------------------------------------------------------------------------------------------------
@every
def test_what_is_not_stored_is_lost(law):
    """f_f v = loss + d/dt stored, the derivative exact along ż; up to the limit nothing is won."""
    rng, m = np.random.default_rng(21), len(law.states(""))
    limit = min(law.quadratic_limit(), 0.5) if m else 0.5
    for v, z in zip(rng.uniform(-limit, limit, 300), memories(law, rng, 300)):
        change = 0.0
        if m:
            s = ca.SX.sym("z", m)
            W = law.stored([s[i] for i in range(m)])
            change = float(ca.Function("d", [s], [ca.jtimes(W, s, ca.vertcat(*law.rate(v, z)))])(z))
        scale = abs(law.force(v, z) * v) + abs(change)
        assert law.force(v, z) * v == pytest.approx(law.loss(v, z) + change, abs=1e-13 * scale)
        assert law.loss(v, z) >= -1e-13 * scale


def test_bristles_that_are_damped_too_much_give_power():
    """Beyond 4 (σ_1 + b) g/σ_1² the form takes both signs: z on its ridge, friction gives power."""
    law = replace(LUGRE, σ_1=1e5)
    edge = brentq(lambda v: v - 4 * (law.σ_1 + law.b) * grip(law, v) / law.σ_1**2, 1e-6, 10)
    ridge = lambda v: [law.σ_1 * v / (2 * law.σ_0)]
    assert (
        law.loss(0.999 * edge, ridge(0.999 * edge))
        > 0
        > law.loss(1.001 * edge, ridge(1.001 * edge))
    )


@dynamic
def test_friction_dissipates_over_a_cycle(law):
    """∮ f_f dx > 0, and for slow sliding without Stribeck or viscous friction about 4 F_c times the amplitude."""
    X, ω = 0.05, 2.0
    speed = lambda t: X * ω * cos(ω * t)

    def work(law):
        m = len(law.states(""))
        run = solve_ivp(
            lambda t, z: law.rate(speed(t), z),
            (0, 2 * pi),
            [0.0] * m,
            method="LSODA",
            rtol=1e-8,
            atol=1e-11,
            dense_output=True,
        )
        return quad(
            lambda t: law.force(speed(t), list(run.sol(t))) * speed(t),
            pi,
            2 * pi,
            limit=400,
            epsabs=1e-6,
            epsrel=1e-6,
        )[0]

    assert work(law) > 4 * law.F_c * X
    if law is LUGRE:
        assert work(replace(law, F_s=1900.0, b=0.0, σ_1=0.0, v_s=0.5)) == pytest.approx(
            4 * law.F_c * X, rel=0.02
        )


# ---- the ledger -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", STATIC, ids=name)
def test_a_static_law_costs_at_most_its_falling_slope(law):
    rng = np.random.default_rng(8)
    μ = max(-law.slope(0.1)[0], 0.0)
    parts = [(law.part(v, v_r), (v_r - v) ** 2) for v, v_r in rng.uniform(-0.1, 0.1, (4000, 2))]
    assert all(part <= μ * square + 1e-9 for part, square in parts)
    assert (max(part for part, _ in parts) > 0) == (not law.monotone(0.1))


@dynamic
def test_part_is_the_ledger_entry(law):
    """part = −(v_r − v)(f_fr − f_f) + Ẇ with Ẇ the derivative of the storage along ẑ̇ and ż; strain is its gradient."""
    rng, m = np.random.default_rng(9), len(law.states(""))
    s, v, v_r = ca.SX.sym("s", 2 * m), ca.SX.sym("v"), ca.SX.sym("vr")
    z, ẑ = [s[i] for i in range(m)], [s[m + i] for i in range(m)]
    f_fr, rates = law.observer(v, v_r, ẑ)
    W = law.storage(ẑ, z)
    Wdot = ca.jtimes(W, s, ca.vertcat(*law.rate(v, z), *rates))
    entry = ca.Function(
        "e", [v, v_r, s], [-(v_r - v) * (f_fr - law.force(v, z)) + Wdot, ca.gradient(W, s)]
    )
    for (v0, r0), z0, h0 in zip(
        rng.normal(size=(50, 2)) * 0.2, memories(law, rng, 50), memories(law, rng, 50)
    ):
        part, gradient = entry(v0, r0, [*z0, *h0])
        scale = law.F_s * (abs(v0) + abs(r0)) * 1e3
        assert law.part(v0, r0, z0, h0) == pytest.approx(float(part), abs=1e-12 * scale)
        strain = law.strain(h0, z0)
        assert np.ravel(gradient) == pytest.approx([*(-k for k in strain), *strain], rel=1e-9)
        assert law.storage(h0, z0) >= 0


def worst_part(law, v, rng, aside=0.0):
    """Largest `part` at speed v over random tracking and observer errors and on the ridge of its quadratic form."""
    errors = [*rng.normal(size=(300, 2)) * [0.1, 1e-3], (1e-3, 1e-3 * law.σ_1 / (2 * law.σ_0))]
    more = [0.1, 0.1 + aside][: 2 * (len(law.states("")) - 1)]
    return max(law.part(v, v + e, [2e-4, *more[:1]], [2e-4 + ε, *more[1:]]) for e, ε in errors)


@pytest.mark.parametrize("law", [replace(LUGRE, σ_1=6e4), replace(LUGRE, σ_1=6e4, n=1.5)], ids=name)
def test_lugre_costs_nothing_up_to_its_speed_and_something_above(law):
    """|v| ≤ 4 (σ_1 + b) g(v)/σ_1² to a part in ten thousand, from either side."""
    rng = np.random.default_rng(10)
    edge = brentq(lambda v: v - 4 * (law.σ_1 + law.b) * grip(law, v) / law.σ_1**2, 1e-6, 10)
    for v in (1e-6, 1e-3, 0.4 * edge, 0.9999 * edge):
        assert worst_part(law, v, rng) <= 1e-12
    for v in (1.0001 * edge, 1.5 * edge, 5 * edge):
        assert worst_part(law, -v, rng) > 1e-12
    assert law.power_limit() <= edge
    assert law.power_limit() == pytest.approx(4 * 62600.0 * 1900.0 / 3.6e9)
    assert replace(law, σ_1=0.0).power_limit() == inf == CoulombViscous().power_limit()


@films
def test_equal_films_cost_what_bristles_cost(law):
    """With ĥ = h the part is LuGre's form with g(v, h): nothing up to 4 (σ_1 + b) g(v, h)/σ_1², something above."""
    rng = np.random.default_rng(11)
    g = lambda v: law.F_c + ((1 - 0.1) * law.F_s - law.F_c) * exp(-((v / law.v_s) ** law.n))
    edge = brentq(lambda v: v - 4 * (law.σ_1 + law.b) * g(v) / law.σ_1**2, 1e-6, 10)
    assert max(worst_part(law, v, rng) for v in (1e-6, 1e-3, 0.4 * edge, 0.9999 * edge)) <= 1e-12
    assert min(worst_part(law, v, rng) for v in (1.0001 * edge, 2 * edge)) > 1e-12
    assert law.power_limit() <= edge / 2 * (1 + 1e-12)


def pressed(law, rng, count=1500):
    """Largest `part` up to the limit, states within the law's domain, films that differ, errors along the worst direction."""
    found, limit = [], law.power_limit()
    for z, ẑ in zip(memories(law, rng, count), memories(law, rng, count)):
        v = limit * rng.uniform(-1, 1) if rng.uniform() < 0.3 else law.v_s * rng.uniform(-2, 2)
        v = float(np.clip(v, -limit, limit))
        z[0] = law.F_s / law.σ_0 * np.sign(z[0])
        # For given films, `part` is a quadratic function of (e, ε): its maximum by Newton's step, where it has one.
        f = lambda e, ε, v=v, z=z, ẑ=ẑ: law.part(v, v + e, z, [z[0] + ε, ẑ[1]])
        size = np.array([1e-2, 1e-4])
        c, (a, b) = f(0.0, 0.0), [(f(*(size * u)), f(*(-size * u))) for u in np.eye(2)]
        gradient = np.array([(a[0] - a[1]) / 2, (b[0] - b[1]) / 2])
        cross = (f(*size) - f(size[0], -size[1]) - f(-size[0], size[1]) + f(*-size)) / 4
        H = np.array([[a[0] + a[1] - 2 * c, cross], [cross, b[0] + b[1] - 2 * c]])
        step = np.linalg.solve(H, -gradient) * size if abs(np.linalg.det(H)) > 0 else size
        found.append(f(*step) / (1e-9 + abs(c)))
    return max(found)


class WithoutStorage(ModifiedLuGre):
    """A planted fault: the film's storage forgotten."""

    def film_weights(self):
        return [0.0]


@films
def test_films_that_differ_are_paid_for_by_their_storage(law):
    """part ≤ 0 for all errors with k_h, whatever the films; without that storage, it is not."""
    assert pressed(law, np.random.default_rng(12)) <= 1e-6
    assert pressed(WithoutStorage(**vars(law)), np.random.default_rng(12)) > 1.0


@films
def test_films_forget_their_difference(law):
    """|ĥ − h| falls at least as exp(−t/τ) with the slowest time constant, whatever the speed does."""
    rng = np.random.default_rng(13)
    slowest = max(law.τ_hp, law.τ_hn, law.τ_h0)
    for v, (z, h), (_, ĥ) in zip(
        rng.normal(size=300) * 0.05, memories(law, rng, 300), memories(law, rng, 300)
    ):
        closing = (law.film(v, [z, ĥ])[0] - law.film(v, [z, h])[0]) * (ĥ - h)
        assert closing <= -((ĥ - h) ** 2) / slowest * (1 - 1e-12)


@films
def test_memory_never_leaves_its_range(law):
    """On the border of |z| ≤ F_s/σ_0, 0 ≤ h ≤ 1 − F_c/F_s every rate points inwards, or along."""
    rng, top, most = np.random.default_rng(14), law.F_s / law.σ_0, 1 - law.F_c / law.F_s
    for v, (z, h) in zip(rng.normal(size=300) * 0.2, memories(law, rng, 300)):
        assert law.rate(v, [top, h])[0] <= 1e-15 and law.rate(v, [-top, h])[0] >= -1e-15
        assert law.rate(v, [z, 0.0])[1] >= 0 >= law.rate(v, [z, most])[1]
        assert law.F_c <= law.grip(v, [z, h]) <= law.F_s
        assert law.domain([z, h])[0] > 0 > law.domain([1.01 * top, h])[0]


def test_an_observer_on_the_wrong_speed_is_seen():
    """ẑ driven with |ẋ_r| instead of |ẋ| is no longer dissipative below the limit: the tests above can fail."""
    law, v, z = LUGRE, 0.02, 4e-4
    found = []
    for v_r in np.linspace(-0.1, 0.1, 41):
        rate = v_r - law.σ_0 * abs(v_r) / grip(law, v_r) * z
        f_fr = law.σ_0 * z + law.σ_1 * rate + law.b * v_r
        found.append(-(v_r - v) * (f_fr - law.force(v, [z])))
    assert v < law.power_limit() and max(found) > 1e-3
    assert max(law.part(v, v_r, [z], [z]) for v_r in np.linspace(-0.1, 0.1, 41)) <= 0


# ---- memory ---------------------------------------------------------------------------------------------------------
@dynamic
def test_after_is_exact_sliding_at_constant_speed(law):
    """z(t) = g/σ_0 sgn v + (z(0) − …) e^{−at} while the film stands; the film itself e^{−t/τ}; no step is too long."""
    rng = np.random.default_rng(15)
    for v, z in zip(rng.normal(size=20) * 0.02, memories(law, rng, 20)):
        rates, T = law.rate(v, z), float(rng.uniform(1e-4, 0.02))
        g = law.grip(v, z)
        exact = g / law.σ_0 * np.sign(v) + (z[0] - g / law.σ_0 * np.sign(v)) * exp(
            -law.σ_0 * abs(v) / g * T
        )
        at = law.after(T, v, z, rates)
        assert at[0] == pytest.approx(exact, rel=1e-11, abs=1e-15)
        if len(z) > 1:
            h_ss = law.film_settled(v)[0]
            decay = law.film_decays(v)[0 if z[1] <= h_ss else 1]
            assert at[1] == pytest.approx(h_ss + (z[1] - h_ss) * exp(-decay * T), rel=1e-12)
        late = law.after(1e9, v, z, rates)
        assert late == pytest.approx([g / law.σ_0 * np.sign(v), *law.film_settled(v)], rel=1e-9)


@dynamic
def test_pre_sliding_is_a_spring_of_stiffness_sigma_0(law):
    """Pushed by 1/1000 of breakaway and back: ∂f/∂x = σ_0 at first, and almost nothing is left behind."""
    pull, T = 1e-3 * law.F_s, 1.0
    push = lambda t: pull * np.sin(pi * t / T) ** 2
    # Massless: 0 = push − f_f(v, z) for v, by the law's own text.
    speed = lambda t, z: brentq(lambda v: law.force(v, list(z)) - push(t), -1e-3, 1e-3, xtol=1e-18)
    run = solve_ivp(
        lambda t, s: [speed(t, s[1:]), *law.rate(speed(t, s[1:]), list(s[1:]))],
        (0, T),
        [0.0] * (1 + len(law.states(""))),
        method="LSODA",
        rtol=1e-9,
        atol=1e-15,
        t_eval=[0.0, T / 2, T],
    )
    out, back = run.y[0, 1], run.y[0, 2]
    assert out == pytest.approx(pull / law.σ_0, rel=5e-3) and abs(back) < 0.02 * out


@films
def test_friction_lags_and_breakaway_grows_with_dwell(law):
    """Faster than the film can follow, friction is higher while accelerating; after a longer rest, breakaway is higher."""
    if law.τ_hp > law.τ_hn:
        return  # a film that grows slower than it shrinks: (31) asks for the contrary
    v0, h = 0.3 * law.v_s, law.film_settled(0.3 * law.v_s)[0]
    bristle = lambda v, h: law.grip(v, [0.0, h]) / law.σ_0
    rising = law.force(v0, [bristle(v0, 0.0), 0.0])
    falling = law.force(v0, [bristle(v0, h + 0.2), h + 0.2])
    assert rising > law.steady(v0) > falling
    rested = lambda t: law.after(t, 0.0, [0.0, h], law.rate(0.0, [0.0, h]))[1]
    assert (
        law.grip(0.0, [0.0, rested(30.0)])
        > law.grip(0.0, [0.0, rested(1.0)])
        > law.grip(0.0, [0.0, h])
    )
    assert rested(law.τ_h0) == pytest.approx(h * exp(-1))


def test_bristles_by_an_independent_integrator():
    """Sliding from rest with σ_0, F_c = F_s: z = F_c/σ_0 tanh-free closed form 1 − e^{−σ_0 x/F_c}, for any v(t) > 0."""
    law = replace(LUGRE, F_s=LUGRE.F_c)
    x = lambda t: 2e-3 * t * t
    run = solve_ivp(
        lambda t, z: law.rate(4e-3 * t, z), (0, 1.0), [0.0], rtol=1e-11, atol=1e-16, method="DOP853"
    )
    assert run.y[0, -1] == pytest.approx(
        law.F_c / law.σ_0 * (1 - exp(-law.σ_0 * x(1.0) / law.F_c)), rel=1e-8
    )


def test_exponents_and_steepest_falls():
    """Largest fall of g at v_s ((n − 1)/n)^{1/n}: the published √½ v_s for n = 2; at rest for n = 1."""
    for n, at in ((2.0, sqrt(0.5)), (3.0, (2 / 3) ** (1 / 3)), (1.0, 0.0)):
        law = replace(LUGRE, n=n)
        fall = (law.F_s - law.F_c) / law.v_s * n * at ** (n - 1) * exp(-(at**n))
        assert law.slope(1.0)[0] == pytest.approx(law.b - fall, rel=1e-10)


def test_every_law_has_the_whole_protocol():
    members = (
        "states",
        "force",
        "rate",
        "steady",
        "slope",
        "monotone",
        "stored",
        "loss",
        "guards",
        "stiff",
        "observer",
        "after",
        "storage",
        "strain",
        "part",
        "power_limit",
        "domain",
    )
    for law in EVERY:
        assert all(callable(getattr(law, member)) for member in members)
        assert set(law.stiff("7")) <= {s.name for s in law.states("7")}
