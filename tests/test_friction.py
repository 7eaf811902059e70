"""Friction laws: closed forms, enclosures of slopes, and their part in the stability ledger, from both sides."""

from dataclasses import replace
from math import cos, exp, inf, pi, sqrt
from typing import get_args

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from plants.components.friction import CoulombViscous, Friction, Frictionless, LuGre, Stribeck

ca.GlobalOptions.setNumpyMode(-1)

# One instance of every friction law; a new law adds its line here.
LAWS = [
    CoulombViscous(F_c=2100.0, b=1700.0, width=3e-3),
    Stribeck(F_c=1900.0, F_s=3300.0, v_s=0.021, b=2600.0, width=2e-3),
    LuGre(F_c=1900.0, F_s=3300.0, v_s=0.021, b=2600.0, σ_0=6.1e6, σ_1=3.7e4),
    Frictionless(),
]
STATIC = [law for law in LAWS if not law.states("")]
DYNAMIC = [law for law in LAWS if law.states("")]


def traced(f, *values):
    """f at `values` by way of an expression."""
    symbols = [ca.SX.sym(f"s{i}") for i in range(len(values))]
    results = f(*symbols)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    numbers = ca.Function("f", symbols, [ca.vertcat(*results)])(*values)
    return np.array(numbers).ravel()


def slope(f, v):
    """Exact derivative of f at v."""
    x = ca.SX.sym("x")
    return float(ca.Function("d", [x], [ca.jacobian(f(x), x)])(v))


def test_every_law_is_tested():
    assert {type(law) for law in LAWS} == set(get_args(Friction))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_floats_and_expressions_agree(law):
    rng, m = np.random.default_rng(6), len(law.states("a"))
    for v, v_r, z, z_hat in rng.normal(size=(20, 4)) * [0.1, 0.1, 3e-4, 3e-4]:
        def everything(v, v_r, z, ẑ):
            f_fr, rates = law.observer(v, v_r, [ẑ][:m])
            memory = ([z][:m], [ẑ][:m])
            return [law.force(v, memory[0]), *law.rate(v, memory[0]), f_fr, *rates, law.storage(*memory[::-1]),
                    law.part(v, v_r, *memory)]
        floats = everything(v, v_r, z, z_hat)
        assert len(law.rate(v, [z])) == len(law.observer(v, v_r, [z_hat])[1]) == m
        assert traced(everything, v, v_r, z, z_hat) == pytest.approx(floats, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_friction_is_odd_and_a_perfect_observer_adds_nothing(law):
    rng, m = np.random.default_rng(7), len(law.states("a"))
    for v, z in rng.normal(size=(50, 2)) * [0.1, 3e-4]:
        memory = [z][:m]
        assert law.force(-v, [-e for e in memory]) == pytest.approx(-law.force(v, memory), rel=1e-14)
        assert law.observer(v, v, memory) == (law.force(v, memory), law.rate(v, memory))
        assert law.part(v, v, memory, memory) == 0.0 == law.storage(memory, memory)


def steady(law, v):
    """f_f after sliding at v for long."""
    if not law.states(""):
        return law.force(v, [])
    at_rest, fall = law.rate(v, [0.0])[0], law.rate(v, [0.0])[0] - law.rate(v, [1.0])[0]
    return law.force(v, [at_rest / fall])  # ż is affine in z


@pytest.mark.parametrize("law", [law for law in LAWS if isinstance(law, (Stribeck, LuGre))],
                         ids=lambda law: type(law).__name__)
def test_sliding_friction_is_stribecks_curve(law):
    for v in (-0.4, -0.03, 0.011, 0.05, 0.2):
        g = law.F_c + (law.F_s - law.F_c) * exp(-((v / law.v_s) ** 2))
        edge = np.tanh(v / law.width) if isinstance(law, Stribeck) else np.sign(v)
        assert steady(law, v) == pytest.approx(g * edge + law.b * v, rel=1e-9)


@pytest.mark.parametrize("law", [*LAWS, Stribeck(F_c=800.0, F_s=300.0, v_s=4e-4, b=5.0, width=7e-3),
                                 Stribeck(F_c=2e3, F_s=5e3, v_s=0.01, b=0.0, width=1e-5),
                                 LuGre(F_c=3e3, F_s=2e3, v_s=0.05)], ids=lambda law: type(law).__name__)
def test_slope_encloses_the_chords_and_is_tight(law):
    """Every difference quotient of steady friction lies within; the ends of static laws are attained to 1e-4."""
    for v_max in (2e-5, 4e-3, 0.3):
        low, high = law.slope(v_max)
        v = np.geomspace(v_max * 1e-7, v_max, 4001)
        f = np.array([steady(law, x) for x in v])
        quotients, noise = np.diff(f) / np.diff(v), 1e-15 * np.abs(f).max() / np.diff(v)  # noise: rounding of f
        assert np.all(low <= quotients + noise) and np.all(quotients - noise <= high)
        if not law.states(""):
            exact = [slope(law.force, x) for x in np.append(v[::4], [0.0])]
            assert (low, high) == pytest.approx((min(exact), max(exact)), rel=1e-4, abs=1e-4 * max(map(abs, exact)))


def test_monotone_is_claimed_where_it_is_true_only():
    falling = Stribeck(F_c=3000.0, F_s=4500.0, v_s=0.03, b=2000.0)
    assert falling.slope(0.2)[0] < 0 and not falling.monotone(0.2)
    least = 2 * 1500 / 0.03 / sqrt(2) * exp(-0.5)  # b at which g' + b is never negative
    assert replace(falling, b=1.0001 * least).monotone(0.2) and not replace(falling, b=0.9999 * least).monotone(0.2)
    assert falling.monotone(1e-4) and replace(falling, F_s=3000.0, b=0.0).monotone(0.2)
    assert CoulombViscous(b=0.0).monotone(5.0) and Frictionless().monotone(5.0)
    assert not any(law.monotone(1e-3) for law in DYNAMIC)


@pytest.mark.parametrize("law", STATIC, ids=lambda law: type(law).__name__)
def test_a_static_law_costs_at_most_its_falling_slope(law):
    rng = np.random.default_rng(8)
    μ = max(-law.slope(0.1)[0], 0.0)
    parts = [(law.part(v, v_r), (v_r - v) ** 2) for v, v_r in rng.uniform(-0.1, 0.1, (4000, 2))]
    assert all(part <= μ * square + 1e-9 for part, square in parts)
    assert (max(part for part, _ in parts) > 0) == (not law.monotone(0.1))


@pytest.mark.parametrize("law", DYNAMIC, ids=lambda law: type(law).__name__)
def test_part_is_the_ledger_entry(law):
    """part = −(v_r − v)(f_fr − f_f) + Ẇ with Ẇ the derivative of the storage along ẑ̇ and ż."""
    rng = np.random.default_rng(9)
    z, ẑ, v, v_r = (ca.SX.sym(n) for n in ("z", "zh", "v", "vr"))
    f_fr, rates = law.observer(v, v_r, [ẑ])
    W = law.storage([ẑ], [z])
    Wdot = ca.jacobian(W, ca.vertcat(ẑ, z)) @ ca.vertcat(*rates, *law.rate(v, [z]))
    entry = ca.Function("e", [v, v_r, z, ẑ], [-(v_r - v) * (f_fr - law.force(v, [z])) + Wdot])
    for v0, r0, z0, h0 in rng.normal(size=(50, 4)) * [0.2, 0.2, 3e-4, 3e-4]:
        scale = law.σ_0 * (abs(h0) + abs(z0)) * (abs(v0) + abs(r0)) * 1e3
        assert law.part(v0, r0, [z0], [h0]) == pytest.approx(float(entry(v0, r0, z0, h0)), abs=1e-12 * scale)


LUGRE = next(law for law in LAWS if isinstance(law, LuGre))


def worst_part(law, v, rng):
    """Largest `part` at speed v over random tracking and observer errors and on the ridge of its quadratic form."""
    errors = [*rng.normal(size=(300, 2)) * [0.1, 1e-3], (1e-3, 1e-3 * law.σ_1 / (2 * law.σ_0))]
    return max(law.part(v, v + e, [2e-4], [2e-4 + ε]) for e, ε in errors)


def test_lugre_costs_nothing_up_to_its_speed_and_something_above():
    """|v| ≤ 4 (σ_1 + b) g(v)/σ_1² to a part in ten thousand, from either side."""
    rng = np.random.default_rng(10)
    law = replace(LUGRE, σ_1=6e4)
    g = lambda v: law.F_c + (law.F_s - law.F_c) * exp(-((v / law.v_s) ** 2))
    edge = brentq(lambda v: v - 4 * (law.σ_1 + law.b) * g(v) / law.σ_1**2, 1e-6, 10)
    for v in (1e-6, 1e-3, 0.4 * edge, 0.9999 * edge):
        assert worst_part(law, v, rng) <= 1e-12
    for v in (1.0001 * edge, 1.5 * edge, 5 * edge):
        assert worst_part(law, -v, rng) > 1e-12
    assert law.power_limit() <= edge
    assert law.power_limit() == pytest.approx(4 * 62600.0 * 1900.0 / 3.6e9)
    assert replace(law, σ_1=0.0).power_limit() == inf == CoulombViscous().power_limit()


def test_an_observer_on_the_wrong_speed_is_seen():
    """ẑ driven with |ẋ_r| instead of |ẋ| is no longer dissipative below the limit: the test above can fail."""
    law, v, z = LUGRE, 0.02, 4e-4
    a = lambda speed: law.σ_0 * abs(speed) / (law.F_c + (law.F_s - law.F_c) * exp(-((speed / law.v_s) ** 2)))
    found = []
    for v_r in np.linspace(-0.1, 0.1, 41):
        rate = v_r - a(v_r) * z
        f_fr = law.σ_0 * z + law.σ_1 * rate + law.b * v_r
        found.append(-(v_r - v) * (f_fr - law.force(v, [z])))
    assert v < law.power_limit() and max(found) > 1e-3
    assert max(law.part(v, v_r, [z], [z]) for v_r in np.linspace(-0.1, 0.1, 41)) <= 0


def test_lugre_dissipates_over_a_cycle():
    """∮ f_f dx > 0, and about 4 F_c times the amplitude when sliding slowly without Stribeck or viscous friction."""
    law = replace(LUGRE, F_s=1900.0, b=0.0, σ_1=0.0, v_s=0.5)
    X, ω = 0.05, 2.0
    speed = lambda t: X * ω * cos(ω * t)
    run = solve_ivp(lambda t, z: law.rate(speed(t), z), (0, 2 * pi), [0.0], method="LSODA", rtol=1e-9, atol=1e-12,
                    dense_output=True)
    work = quad(lambda t: law.force(speed(t), run.sol(t)) * speed(t), pi, 2 * pi, limit=400)[0]
    assert work == pytest.approx(4 * law.F_c * X, rel=0.02)
