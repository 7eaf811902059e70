"""Friction laws: closed forms, enclosures of slopes, and their part in the stability ledger, from both sides."""

from dataclasses import fields, replace
from math import cosh, exp, sqrt, tanh
from typing import get_args

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from plants.components.friction import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    Friction,
    Frictionless,
    LuGre,
    ModifiedLuGre,
    Stribeck,
)
from workbench import InputError
from workbench.numerics.switches import refuse_undecided

ca.GlobalOptions.setNumpyMode(-1)

# One instance of every friction law; a new law adds its line here.
FALLING = {"F_c": 1900.0, "F_s": 3300.0, "v_s": 0.021, "b": 2600.0}
LAWS = [
    CoulombViscous(F_c=2100.0, b=1700.0, width=3e-3),
    Stribeck(**FALLING, width=2e-3),
    BengisuAkay(**FALLING, ξ=57.0),
    BrownMcPhee(**FALLING),
    LuGre(**FALLING, σ_0=6.1e6, σ_1=3.7e4),
    ModifiedLuGre(
        **FALLING, σ_0=6.1e6, σ_1=3.7e4, v_b=0.07, τ_hp=0.06, τ_hn=0.4, τ_h0=7.0, width=3e-4
    ),
    Frictionless(),
]
OTHERS = [
    LuGre(**FALLING, σ_0=6.1e6, σ_1=3.7e4, n=1.3),
    replace(LAWS[5], n=1.0),
    replace(LAWS[5], n=3.0, v_b=0.021),
    replace(LAWS[5], τ_hp=0.7, τ_hn=0.2, τ_h0=0.1),
]
STATIC = [law for law in LAWS if not law.states("")]
DYNAMIC = [law for law in LAWS if law.states("")] + OTHERS
EVERY = LAWS + OTHERS
name = lambda law: f"{type(law).__name__}{getattr(law, 'n', '')}"
every = pytest.mark.parametrize("law", EVERY, ids=name)
dynamic = pytest.mark.parametrize("law", DYNAMIC, ids=name)


def traced(f, *values):
    """f at `values` by way of an expression."""
    symbols = [ca.SX.sym(f"s{i}") for i in range(len(values))]
    results = f(*symbols)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    numbers = ca.Function("f", symbols, [ca.vertcat(*results)])(*values)
    return np.array(numbers).ravel()


def slope(f, v):
    """Exact derivative of f at v, one or many."""
    x = ca.SX.sym("x")
    found = np.array(
        ca.Function("d", [x], [ca.densify(ca.jacobian(f(x), x))])(np.atleast_2d(v))
    ).ravel()
    return found if np.ndim(v) else float(found[0])


def memories(law, rng, count=1):
    """Random states of a law's memory within what it can reach: |z| ≤ F_s/σ_0, 0 ≤ h ≤ 1 − F_c/F_s."""
    if not law.states(""):
        return [[] for _ in range(count)]
    z = law.F_s / law.σ_0 * rng.uniform(-1, 1, count)
    h = (1 - law.F_c / law.F_s) * rng.uniform(0, 1, count)
    return [[float(a), float(b)][: len(law.states(""))] for a, b in zip(z, h)]


def test_every_law_is_tested():
    assert {type(law) for law in LAWS} == set(get_args(Friction))


@every
def test_floats_and_expressions_agree(law):
    rng, m = np.random.default_rng(6), len(law.states("a"))
    for (v, v_r), z, ẑ in zip(
        rng.normal(size=(20, 2)) * 0.1, memories(law, rng, 20), memories(law, rng, 20)
    ):

        def everything(v, v_r, *both):
            z, ẑ = both[:m], both[m:]
            f_fr, rates = law.observer(v, v_r, ẑ)
            return [
                law.force(v, z),
                *law.rate(v, z),
                f_fr,
                *rates,
                law.storage(ẑ, z),
                *law.strain(ẑ, z),
                law.loss(v, z),
                law.part(v, v_r, z, ẑ),
                law.stored(z),
                *law.after(0.01, v, z, law.rate(v, z)),
                *law.guards(v, z),
            ]

        floats = everything(v, v_r, *z, *ẑ)
        assert len(law.rate(v, z)) == len(law.observer(v, v_r, ẑ)[1]) == len(law.strain(ẑ, z)) == m
        assert traced(everything, v, v_r, *z, *ẑ) == pytest.approx(floats, rel=1e-12, abs=1e-12)


@every
def test_what_friction_remembers_is_told_by_its_kind(law):
    assert {s.kind for s in law.states("a")} <= {"friction"}


@every
def test_friction_is_odd_and_a_perfect_observer_adds_nothing(law):
    rng = np.random.default_rng(7)
    for v, z in zip(rng.normal(size=50) * 0.1, memories(law, rng, 50)):
        turned = [-z[0], *z[1:]] if z else z  # a film does not know the direction
        assert law.force(-v, turned) == pytest.approx(-law.force(v, z), rel=1e-14)
        assert law.observer(v, v, z) == (law.force(v, z), law.rate(v, z))
        assert law.part(v, v, z, z) == 0.0 == law.storage(z, z)


# ---- steady sliding -------------------------------------------------------------------------------------------------
def slid(law, v, seconds=60.0):
    """f_f after sliding at v for long, by integration (SciPy)."""
    m = len(law.states(""))
    if not m:
        return law.force(v, [])
    run = solve_ivp(
        lambda t, z: law.rate(v, z), (0, seconds), [0.0] * m, method="Radau", rtol=1e-10, atol=1e-14
    )
    return law.force(v, list(run.y[:, -1]))


CURVES = {  # g(v) of the equations as printed, |v|, without sign and viscous friction
    Stribeck: lambda law, v: (
        (law.F_c + (law.F_s - law.F_c) * exp(-((v / law.v_s) ** 2))) * tanh(v / law.width)
    ),
    BengisuAkay: lambda law, v: (
        -law.F_s / law.v_s**2 * (v - law.v_s) ** 2 + law.F_s
        if v < law.v_s
        else law.F_c + (law.F_s - law.F_c) * exp(-law.ξ * (v - law.v_s))
    ),
    BrownMcPhee: lambda law, v: (
        law.F_c * tanh(4 * v / law.v_s)
        + (law.F_s - law.F_c) * (v / law.v_s) / ((v / law.v_s) ** 2 / 4 + 3 / 4) ** 2
        - law.b * v * (1 - tanh(4))
    ),
    LuGre: lambda law, v: law.F_c + (law.F_s - law.F_c) * exp(-((v / law.v_s) ** law.n)),
    ModifiedLuGre: lambda law, v: (
        law.F_c + ((1 - film(law, v)) * law.F_s - law.F_c) * exp(-((v / law.v_s) ** law.n))
    ),
}


def film(law, v):
    """|h_ss| of (32), (33), smoothed at rest as the law says."""
    s = lambda v: v ** (2 / 3) * (v**2 / (v**2 + law.width**2)) ** (2 / 3)
    return (1 - law.F_c / law.F_s) / s(law.v_b) * s(min(v, law.v_b))


@pytest.mark.parametrize("law", [law for law in EVERY if type(law) in CURVES], ids=name)
def test_sliding_friction_is_the_printed_curve(law):
    for v in (-0.4, -0.03, 0.011, 0.05, 0.2):
        printed = np.sign(v) * CURVES[type(law)](law, abs(v)) + law.b * v
        assert law.steady(v) == pytest.approx(printed, rel=1e-12)
        assert slid(law, v) == pytest.approx(printed, rel=1e-7)


def test_laws_at_their_marked_speeds():
    """Bengisu–Akay is F_s + b v_s at v_s from both sides, (22) as printed would jump there; Brown–McPhee is smooth, (24)."""
    ba, bm = (
        next(law for law in LAWS if isinstance(law, cls)) for cls in (BengisuAkay, BrownMcPhee)
    )
    for side in (1 - 1e-12, 1 + 1e-12):
        assert ba.force(side * ba.v_s) == pytest.approx(ba.F_s + ba.b * ba.v_s, rel=1e-9)
    assert slope(ba.force, 0.0) == pytest.approx(2 * ba.F_s / ba.v_s + ba.b)
    assert slope(ba.force, 0.999999 * ba.v_s) == pytest.approx(ba.b, rel=1e-3)
    assert slope(ba.force, 1.000001 * ba.v_s) == pytest.approx(
        ba.b - ba.ξ * (ba.F_s - ba.F_c), rel=1e-3
    )
    assert ba.guards(0.9 * ba.v_s)[0] < 0 < ba.guards(-1.1 * ba.v_s)[0]
    assert bm.force(bm.v_s) == pytest.approx(
        bm.F_c * tanh(4) + (bm.F_s - bm.F_c) + bm.b * tanh(4) * bm.v_s, rel=1e-14
    )
    assert slope(bm.force, 0.0) == pytest.approx(
        4 * bm.F_c / bm.v_s + 16 / 9 * (bm.F_s - bm.F_c) / bm.v_s + bm.b * tanh(4)
    )
    assert slope(bm.force, bm.v_s) == pytest.approx(
        4 * bm.F_c / bm.v_s / cosh(4) ** 2 + bm.b * tanh(4)
    )


def test_a_narrow_film_is_the_printed_one():
    """(30)–(33) for w → 0: K_f |v|^⅔ and the three time constants; the smoothing costs (2/3)(w/v)²."""
    law = next(law for law in LAWS if isinstance(law, ModifiedLuGre))
    sharp = replace(law, width=1e-9)
    K_f = (1 - law.F_c / law.F_s) * law.v_b ** (-2 / 3)
    for v in (0.004, 0.03, 0.0699):
        assert sharp.film_settled(-v)[0] == pytest.approx(K_f * v ** (2 / 3), rel=1e-9)
        off = law.film_settled(v)[0] / (K_f * v ** (2 / 3)) - 1
        assert off == pytest.approx(
            -2 / 3 * ((law.width / v) ** 2 - (law.width / law.v_b) ** 2), rel=0.02, abs=1e-9
        )
    assert sharp.film_settled(0.5) == sharp.film_settled(0.07) == [1 - law.F_c / law.F_s]
    rate = lambda v, h: sharp.film(v, [0.0, h])[0] / (sharp.film_settled(v)[0] - h)
    assert rate(0.03, 0.0) == pytest.approx(1 / law.τ_hp) and rate(0.03, 0.4) == pytest.approx(
        1 / law.τ_hn
    )
    assert rate(0.0, 0.4) == pytest.approx(1 / law.τ_h0)


@pytest.mark.parametrize(
    "law",
    [
        *EVERY,
        Stribeck(F_c=300.0, F_s=800.0, v_s=4e-4, b=5.0, width=7e-3),
        Stribeck(F_c=2e3, F_s=5e3, v_s=0.01, b=0.0, width=1e-5),
        BrownMcPhee(F_c=10.0, F_s=5e3, v_s=0.01, b=0.0),
        ModifiedLuGre(v_b=0.03, width=0.02, n=1.0),
        LuGre(n=1.0),
    ],
    ids=name,
)
def test_slope_encloses_the_chords_and_is_tight(law):
    """Every difference quotient of steady friction lies within; the ends of static laws are attained to 1e-4."""
    for v_max in (2e-5, 4e-3, 0.3):
        low, high = law.slope(v_max)
        v = np.geomspace(v_max * 1e-7, v_max, 4001)
        f = np.array([law.steady(x) for x in v])
        quotients, noise = (
            np.diff(f) / np.diff(v),
            1e-15 * np.abs(f).max() / np.diff(v),
        )  # noise: rounding of f
        assert np.all(low <= quotients + noise) and np.all(quotients - noise <= high)
        if not law.states(""):
            edges = [
                s * x for x in (law.v_s or 1.0,) for s in (1 - 1e-9, 1 + 1e-9) if s * x <= v_max
            ]
            exact = slope(law.force, [*v[::4], 0.0, *edges])
            assert (low, high) == pytest.approx(
                (exact.min(), exact.max()), rel=1e-4, abs=1e-4 * np.abs(exact).max()
            )
        else:
            clear = quotients[noise < 1e-3 * np.abs(quotients).max()]
            assert low == pytest.approx(
                min(clear.min(), law.b), rel=1e-2, abs=1e-2 * abs(clear).max()
            )


def test_monotone_is_claimed_where_it_is_true_only():
    falling = Stribeck(F_c=3000.0, F_s=4500.0, v_s=0.03, b=2000.0)
    assert falling.slope(0.2)[0] < 0 and not falling.monotone(0.2)
    least = 2 * 1500 / 0.03 / sqrt(2) * exp(-0.5)  # b at which g' + b is never negative
    assert replace(falling, b=1.0001 * least).monotone(0.2) and not replace(
        falling, b=0.9999 * least
    ).monotone(0.2)
    assert falling.monotone(1e-4) and replace(falling, F_s=3000.0, b=0.0).monotone(0.2)
    assert CoulombViscous(b=0.0).monotone(5.0) and Frictionless().monotone(5.0)
    assert not any(law.monotone(1e-3) for law in DYNAMIC)


def test_bengisu_akay_and_brown_mcphee_are_monotone_up_to_their_peak_only():
    """The peak of the first is v_s exactly, unless b ≥ ξ (F_s − F_c); of the second just below v_s when b is small."""
    ba = BengisuAkay(b=0.0)
    assert ba.monotone(ba.v_s * (1 - 1e-6)) and not ba.monotone(ba.v_s * (1 + 1e-6))
    least = ba.ξ * (ba.F_s - ba.F_c)
    assert replace(ba, b=1.000001 * least).monotone(1.0) and not replace(
        ba, b=0.999999 * least
    ).monotone(1.0)
    bm = BrownMcPhee(b=100.0)
    peak = brentq(lambda v: slope(bm.force, v), 0.5 * bm.v_s, 1.5 * bm.v_s, xtol=1e-14)
    assert (
        bm.monotone(peak * (1 - 1e-5))
        and not bm.monotone(peak * (1 + 1e-5))
        and not bm.monotone(1.0)
    )
    least = (
        4 / 9 * (bm.F_s - bm.F_c) / bm.v_s / tanh(4)
    )  # the steepest fall, at √3 v_s, where tanh(4 r) is level
    assert replace(bm, b=1.001 * least).monotone(1.0) and not replace(bm, b=0.99 * least).monotone(
        1.0
    )


@pytest.mark.parametrize(
    "wrong, words",
    [
        (
            {"F_s": 1899.0},
            "F_s: breakaway friction, 1899 N, must not be below Coulomb friction, F_c = 1900 N",
        ),
        ({"v_s": -0.1}, "v_s: -0.1 m/s; it must be greater than zero"),
        ({"v_s": 0.0}, "v_s: 0 m/s"),
        ({"b": -1.0}, "b: -1 N s/m; it must be zero or greater"),
        ({"F_c": float("nan")}, "F_c: expected a finite number"),
        ({"ξ": 0.0}, "ξ: 0 s/m; it must be greater"),
        ({"σ_0": 0.0}, "σ_0: 0 N/m; it must be greater than zero"),
        ({"σ_1": -1.0}, "σ_1: -1 N s/m; it must be zero or greater"),
        ({"n": 0.5}, "n: 0.5; it must be 1 or greater"),
        ({"n": float("nan")}, "n: expected a finite number"),
        ({"v_b": 0.02}, "v_b: the film stops growing at 0.02 m/s, which must not be"),
        ({"τ_h0": 0.0}, "τ_h0: 0 s; it must be greater"),
        ({"width": 0.03}, "width: the cylinder dwells below 0.03 m/s"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(wrong, words):
    (key,) = wrong
    having = [
        law
        for law in LAWS
        if key in {f.name for f in fields(law)}
        and hasattr(law, "F_s")
        and not (key == "width" and isinstance(law, Stribeck))
    ]
    assert having
    for law in having:
        with pytest.raises(ValueError) as why:
            replace(law, **wrong)
        assert str(why.value).startswith(words)


@every
def test_laws_have_a_derivative_at_rest(law):
    """To all sides, so that machines with friction can be linearised where they stand: the slope of the force is what it is."""
    m = len(law.states(""))
    x = ca.SX.sym("x", 1 + m)
    v, z = x[0], [x[1 + i] for i in range(m)]
    f = ca.vertcat(law.force(v, z), *law.rate(v, z))
    at = [np.zeros(1 + m)]
    J = np.array(ca.Function("J", [x], [ca.densify(ca.jacobian(f, x))])(*at))
    refuse_undecided(ca.Function("f", [x], [ca.densify(f)]), at, J, [0])
    if not m and not isinstance(law, Frictionless):
        assert J[0, 0] == pytest.approx((law.force(1e-9) - law.force(-1e-9)) / 2e-9, rel=1e-5)
    elif m:
        assert J[0] == pytest.approx([law.σ_1 + law.b, law.σ_0, 0.0][: 1 + m]) and J[1, 0] == 1.0
        bent = [np.array([0.0, 1e-4, 0.1][: 1 + m])]
        with pytest.raises(
            InputError, match="exactly at its edge"
        ):  # bent bristles let go to one side only
            refuse_undecided(ca.Function("f", [x], [ca.densify(f)]), bent, J, [0])
