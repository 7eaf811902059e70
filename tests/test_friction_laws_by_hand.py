"""Friction laws member by member, on numbers: forces, slopes, memory, the observer and what it adds to the ledger."""

from dataclasses import replace
from math import cosh, e, exp, inf, sqrt, tanh

import numpy as np
import pytest

from plants.components.friction import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    Frictionless,
    LuGre,
    ModifiedLuGre,
    Stribeck,
)
from plants.components.friction.bristles import EXPONENT, _bell
from plants.components.friction.enclosure import ROUNDING, _lowest, ordered, times, total
from workbench.contract.errors import InputError

OWN = {"F_c": 310.0, "F_s": 770.0, "v_s": 0.021, "b": 43.0}
COULOMB = CoulombViscous(F_c=310.0, b=43.0, width=0.004)
STRIBECK = Stribeck(**OWN, width=0.004)
PARABOLA = BengisuAkay(**OWN, ξ=55.0)
SMOOTH = BrownMcPhee(**OWN)
LUGRE = LuGre(**OWN, σ_0=3e6, σ_1=700.0, n=1.7)
FILM = ModifiedLuGre(**OWN, σ_0=3e6, σ_1=700.0, n=1.7, v_b=0.07, τ_hp=0.04, τ_hn=0.3, τ_h0=9.0, width=0.003)  # fmt: skip


# ---- without memory -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("v", [0.009, -0.016, 0.021, 0.03, -0.05])
def test_forces_as_printed(v):
    s, a = np.sign(v), abs(v)
    r, rest = v / 0.021, a - 0.021
    assert COULOMB.force(v) == pytest.approx(310 * tanh(v / 0.004) + 43 * v)
    falling = 310 + 460 * exp(-(r**2))
    assert STRIBECK.force(v) == pytest.approx(falling * tanh(v / 0.004) + 43 * v)
    bump = r / (r**2 / 4 + 0.75) ** 2
    assert SMOOTH.force(v) == pytest.approx(310 * tanh(4 * r) + 460 * bump + 43 * tanh(4) * v)
    top = 770 - 770 * rest**2 / 0.021**2 if a < 0.021 else 310 + 460 * exp(-55 * rest)
    assert float(PARABOLA.force(v)) == pytest.approx(s * top + 43 * v)
    assert float(PARABOLA.guards(v)[0]) == pytest.approx(rest)


@pytest.mark.parametrize("law", [COULOMB, STRIBECK, PARABOLA, SMOOTH])
def test_a_law_without_memory(law):
    """f_fr = f_f(v_r), nothing stored, all of f_f v lost."""
    v, v_r = 0.013, -0.03
    f, f_r = float(law.force(v)), float(law.force(v_r))
    assert float(law.loss(v)) == pytest.approx(f * v)
    assert float(law.steady(v)) == f and law.observer(v, v_r) == (f_r, [])
    assert float(law.part(v, v_r)) == pytest.approx(-(v_r - v) * (f_r - f))
    assert (law.stored(), law.storage(), law.power_limit()) == (0.0, 0.0, inf)
    assert law.rate(v) == law.after(1.0, v) == law.strain() == law.domain() == []
    assert law.states("x") == law.stiff("x") == ()
    if law is not PARABOLA:
        assert law.guards(v) == []


def test_no_friction():
    assert Frictionless().force(-3.0) == 0.0 and Frictionless().slope(2.0) == (0.0, 0.0)
    assert Frictionless.F_c == 0.0 and Frictionless.v_s is None and Frictionless().monotone(1.0)


@pytest.mark.parametrize("v", [0.002, -0.005])
def test_the_slope_of_coulomb_friction_falls_from_rest(v):
    low, high = COULOMB.slope(v)
    steep = 310 / 0.004
    assert high == pytest.approx(43 + steep, rel=1e-12) and high > 43 + steep
    exact = 43 + steep / cosh(v / 0.004) ** 2
    assert low == pytest.approx(exact, rel=1e-9) and low < exact
    assert COULOMB.slope(1.0)[0] == 43.0


@pytest.mark.parametrize(
    "v, least",
    [
        (0.007, 43 + 2 * 770 / 0.021 * 2 / 3),
        (-0.0105, 43 + 770 / 0.021),
        (0.021, 43 - 55 * 460),
        (0.5, 43 - 55 * 460),
    ],
)
def test_the_slope_of_a_parabola_and_what_follows(v, least):
    low, high = PARABOLA.slope(v)
    assert low == pytest.approx(least, rel=1e-9) and low < least
    assert high == pytest.approx(43 + 2 * 770 / 0.021, rel=1e-12) and high > 43 + 2 * 770 / 0.021
    size = 2 * 770 / 0.021 + 55 * 460 + 43
    assert least - low == pytest.approx(ROUNDING * size, rel=0.3)


def test_increasing_is_said_up_to_the_fall():
    assert PARABOLA.monotone(0.02) and not PARABOLA.monotone(0.0211)
    assert replace(PARABOLA, b=55 * 460.1).monotone(3.0)
    assert STRIBECK.slope(0.06)[0] < 0 < replace(STRIBECK, b=4e4).slope(0.06)[0]
    assert not LUGRE.monotone(1e-6) and not FILM.monotone(1e-6)


@pytest.mark.parametrize("law", [STRIBECK, PARABOLA, SMOOTH, LUGRE, FILM])
def test_breakaway_is_not_below_sliding(law):
    assert replace(law, F_s=310.0).F_s == 310.0
    with pytest.raises(InputError, match="breakaway friction, 309 N, must not be below Coulomb friction, F_c = 310 N"):  # fmt: skip
        replace(law, F_s=309.0)


@pytest.mark.parametrize("law", [Stribeck, BengisuAkay, BrownMcPhee, LuGre, ModifiedLuGre])
def test_breakaway_that_was_left_out_follows_sliding(law):
    assert law(F_c=5000.0).F_s == 7500.0 and law(F_c=100.0).F_s == 150.0
    assert replace(law(F_c=100.0), F_c=120.0).F_s == 150.0, "once there it is a number as any other"
    with pytest.raises(InputError) as told:
        law(F_s=750.0)
    assert told.value.mend == "leave F_s out: it is 1.5 × F_c then, 4500 N here; or give both"


@pytest.mark.parametrize("law", [LuGre, ModifiedLuGre])
def test_bristles_that_were_left_out_follow_the_breakaway(law):
    """They bend by 0.45 mm, and yield in 4 ms; what is given stays."""
    assert (law().F_s, law().σ_0, law().σ_1) == (4500.0, 1e7, 4e4)
    small = law(F_c=300.0)
    assert (small.σ_0, small.σ_1) == (pytest.approx(1e6), pytest.approx(4e3))
    assert law(F_c=300.0, F_s=900.0).σ_0 == pytest.approx(2e6)
    assert law(F_c=300.0, σ_0=5e5).σ_1 == pytest.approx(2e3)
    assert law(F_c=300.0, σ_1=70.0).σ_1 == 70.0 and law(F_c=300.0, σ_1=0.0).σ_1 == 0.0


# ---- bristles -------------------------------------------------------------------------------------------------------------
def grip(law, v, h=None):
    top = 770 if h is None else max((1 - h) * 770, 310)
    return 310 + (top - 310) * exp(-(abs(v / 0.021) ** 1.7))


BENT = [(LUGRE, [7e-5], None), (FILM, [7e-5, 0.25], 0.25)]


@pytest.mark.parametrize("law, z, h", BENT, ids=["lugre", "film"])
@pytest.mark.parametrize("v", [0.015, -0.04])
def test_bristles_bend_and_slip(law, z, h, v):
    g = grip(law, v, h)
    a = 3e6 * abs(v) / g
    rate = v - a * 7e-5
    assert law.grip(v, z) == pytest.approx(g) and law.slip(v, z) == pytest.approx(a)
    assert law.rate(v, z)[0] == pytest.approx(rate)
    force = 3e6 * 7e-5 + 700 * rate + 43 * v
    assert law.force(v, z) == pytest.approx(force)
    assert law.stored(z) == pytest.approx(1.5e6 * 49e-10)
    assert law.loss(v, z) == pytest.approx(force * v - 3e6 * 7e-5 * rate)
    assert law.after(0.004, v, z, law.rate(v, z))[0] == pytest.approx(
        7e-5 + rate * (1 - exp(-a * 0.004)) / a
    )
    assert law.stiff("arm") == ("z_arm",)


@pytest.mark.parametrize("law, z, h", BENT, ids=["lugre", "film"])
def test_the_observer_and_its_part_of_the_ledger(law, z, h):
    """Strain of each memory, its weight times the difference; part = −e (f_fr − f_f) + Ẇ."""
    v, v_r, seen = 0.015, 0.022, [9e-5, 0.4][: len(z)]
    a = 3e6 * v / grip(law, v, None if h is None else 0.4)
    rate = v_r - a * 9e-5
    f_fr, rates = law.observer(v, v_r, seen)
    assert f_fr == pytest.approx(3e6 * 9e-5 + 700 * rate + 43 * v_r)
    assert rates[0] == pytest.approx(rate) and len(rates) == len(z)
    weights = [3e6, *law.film_weights()]
    strain = [k * (p - q) for k, p, q in zip(weights, seen, z)]
    assert law.strain(seen, z) == pytest.approx(strain)
    energy = sum(k * (p - q) ** 2 for k, p, q in zip(weights, seen, z)) / 2
    assert law.storage(seen, z) == pytest.approx(energy)
    grows = sum(s * (p - q) for s, p, q in zip(strain, rates, law.rate(v, z)))
    assert law.part(v, v_r, z, seen) == pytest.approx(-(v_r - v) * (f_fr - law.force(v, z)) + grows)


def test_speed_up_to_which_bristles_only_take_power():
    limit = 4 * (700 + 43) * 310 / 700**2
    assert LUGRE.power_limit() == pytest.approx(limit)
    assert FILM.power_limit() == pytest.approx(limit / 2)
    assert replace(LUGRE, σ_1=0.0).power_limit() == inf
    assert replace(LUGRE, σ_1=1.5).power_limit() == pytest.approx(4 * 44.5 * 310 / 2.25)
    assert LUGRE.domain([1e-4]) == [] and FILM.domain([-2e-4, 0.1])[0] == pytest.approx(1.005 * 770 / 3e6 - 2e-4)  # fmt: skip


def test_steady_sliding_has_the_grip_of_its_speed():
    for v in (0.015, -0.04):
        assert LUGRE.steady(v) == pytest.approx(np.sign(v) * grip(LUGRE, v) + 43 * v)
        h = FILM.film_settled(v)[0]
        assert FILM.steady(v) == pytest.approx(np.sign(v) * grip(FILM, v, h) + 43 * v)
    assert _bell(0.0, 1.3) == 1.0 and _bell(-0.5, 3.0) == pytest.approx(exp(-0.125))


def test_kinks_of_bristles_and_film():
    assert LUGRE.guards(-0.03, [1e-5]) == [-0.03]
    v, b, h = FILM.guards(-0.03, [1e-5, 0.3])
    assert (v, b) == pytest.approx((-0.03, 0.03 - 0.07))
    assert h == pytest.approx(0.3 - FILM.film_settled(-0.03)[0])


def test_least_exponent_of_the_bell():
    assert (EXPONENT.low, EXPONENT.words) == (1.0, "1 or greater")
    assert replace(LUGRE, n=1.0).n == 1.0
    with pytest.raises(ValueError, match="1 or greater"):
        replace(LUGRE, n=0.99)
    one = replace(LUGRE, n=1.0)
    assert one.slope(0.3)[0] == pytest.approx(43 - 460 / 0.021)
    r = (0.7 / 1.7) ** (1 / 1.7)
    fall = 460 * 1.7 / 0.021 * r**0.7 * exp(-(r**1.7))
    assert LUGRE.slope(0.3) == (pytest.approx(43 - fall), inf)
    assert 43 - fall - LUGRE.slope(0.3)[0] == pytest.approx(ROUNDING * (fall + 43), rel=0.3)
    assert 1e8 - fall - replace(LUGRE, b=1e8).slope(0.3)[0] == pytest.approx(
        1e8 * ROUNDING, rel=0.01
    )
    r = 0.004 / 0.021
    fall = 460 * 1.7 / 0.021 * r**0.7 * exp(-(r**1.7))
    assert LUGRE.slope(-0.004)[0] == pytest.approx(43 - fall)


# ---- film -----------------------------------------------------------------------------------------------------------------
def settled(v):
    speed = lambda s: s * s / (s * s + 0.003**2) ** (2 / 3)
    return (1 - 310 / 770) * min(speed(v) / speed(0.07), 1.0)


@pytest.mark.parametrize("v, h", [(0.02, 0.05), (-0.02, 0.55), (0.2, 0.3), (0.0, 0.2)])
def test_a_film_follows_the_speed(v, h):
    μ = v * v / (v * v + 0.003**2)
    up, down = μ / 0.04 + (1 - μ) / 9.0, μ / 0.3 + (1 - μ) / 9.0
    assert FILM.film_settled(v)[0] == pytest.approx(settled(v))
    assert FILM.film_decays(v) == pytest.approx((up, down))
    gap = settled(v) - h
    decay = up if gap > 0 else down
    assert FILM.film(v, [0.0, h])[0] == pytest.approx(gap * decay)
    later = FILM.film_after(0.03, v, [0.0, h])[0]
    assert later == pytest.approx(h + gap * (1 - exp(-decay * 0.03)))


def test_the_weight_of_a_film():
    """2.6 F_s⁴/F_c³ (τ_M v_s (2 n e)^{−1/n} + w √(τ_M max(τ_M, τ_h0)))."""
    reach = 0.3 * 0.021 * (2 * 1.7 * e) ** (-1 / 1.7) + 0.003 * sqrt(0.3 * 9.0)
    assert FILM.film_weights() == pytest.approx([2.6 * 770**4 / 310**3 * reach])


@pytest.mark.parametrize(
    "change, said",
    [
        ({"v_b": 0.0209}, "v_b: the film stops growing at 0.0209 m/s, which must not be below v_s = 0.021 m/s"),
        ({"width": 0.021}, "width: the cylinder dwells below 0.021 m/s, which must be below v_s = 0.021 m/s"),
    ],
)  # fmt: skip
def test_films_that_cannot_be(change, said):
    with pytest.raises(InputError) as refused:
        replace(FILM, **change)
    assert refused.value.message == said
    assert replace(FILM, v_b=0.021, width=0.0209).v_b == 0.021


def test_the_slope_of_a_film_is_least_between_rest_and_its_largest_speed():
    """By the derivative at many speeds; beyond v_b at least b."""
    v = np.linspace(1e-6, 0.07, 40001)
    speed = lambda s: s * s / (s * s + 0.003**2) ** (2 / 3)
    curve = 460 * (1 - speed(v) / speed(0.07)) * np.exp(-((v / 0.021) ** 1.7))
    slope = np.gradient(curve, v) + 43
    for most in (0.004, -0.03, 0.5):
        least = min(slope[v <= abs(most)].min(), 43.0)
        assert FILM.slope(most) == (pytest.approx(least, rel=2e-3), inf)


# ---- intervals ------------------------------------------------------------------------------------------------------------
def test_sums_of_intervals_are_rounded_outwards():
    low, high = total((2.0, 5.0), (-7.0, -3.0), (0.5, 4.0))
    assert low == pytest.approx(-4.5 - ROUNDING * 9.5, rel=1e-15) and low < -4.5
    assert high == pytest.approx(6.0 + ROUNDING * 12.0, rel=1e-15) and high > 6.0
    assert (low + 4.5, high - 6.0) == pytest.approx((-ROUNDING * 9.5, ROUNDING * 12), rel=1e-2)
    assert ordered(3.0, -1.0) == (-1.0, 3.0) and ROUNDING == 1e-13
    assert times((-2.0, 3.0), (4.0, 5.0)) == (-10.0, 15.0)


def test_a_range_ends_where_too_many_parts_are_left():
    """What is open past 20000 parts is enclosed as it is."""
    asked = []

    def within(l, h):
        asked.append(len(l))
        return np.where(l == 0.0, -3.0, -1.0), np.full(len(l), 1.0)

    assert _lowest(within, np.linspace(0, 1, 20002), 1.0, 60) == -3.0
    assert asked == [20001, 20001]
    asked.clear()
    noisy = lambda l, h: (np.where(l < h, -1.0, 0.0) + 0 * within(l, h)[0], np.ones(len(l)))
    assert _lowest(noisy, np.linspace(0, 1, 20001), 1.0, 2) == -1.0
    assert asked == [20000, 20000, 80000, 80000]


def test_parts_of_a_range_are_looked_at_whole_and_in_their_middle():
    """Those that may hold less than what is attained are quartered."""
    asked = []

    def within(l, h):
        asked.append((l.tolist(), h.tolist()))
        return 3 - h, 3 - l

    assert _lowest(within, np.array([0.0, 1.0, 3.0]), 1.0, 2) == 0.0
    assert asked == [
        ([0.0, 1.0], [1.0, 3.0]),
        ([0.5, 2.0], [0.5, 2.0]),
        ([1.0, 1.5, 2.0, 2.5], [1.5, 2.0, 2.5, 3.0]),
        ([1.25, 1.75, 2.25, 2.75],) * 2,
        ([2.5, 2.625, 2.75, 2.875], [2.625, 2.75, 2.875, 3.0]),
    ]


@pytest.mark.parametrize("rounds", [60, 1])
def test_a_part_that_is_done_keeps_its_least(rounds):
    """1 in the first part; in the second 0.5 at a rough look and 5 at a finer one."""
    within = lambda l, h: (np.where(h <= 1, 1.0, np.where(h - l > 1, 0.5, 5.0)),) * 2
    exact = lambda l, h: within(l, h) if (h > l).any() else (np.where(h <= 1, 1.0, 2.0),) * 2
    assert _lowest(exact, np.array([0.0, 1.0, 3.0]), 1.0, rounds) == 1.0
