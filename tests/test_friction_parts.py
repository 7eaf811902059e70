"""Parts of friction laws alone: slopes over intervals of speed, ranges by subdivision, decays and films in closed form."""

from dataclasses import replace
from math import e, sqrt

import numpy as np
import pytest

from plants.components.friction import BrownMcPhee, LuGre, ModifiedLuGre, Stribeck
from plants.components.friction.bristles import _mean
from plants.components.friction.enclosure import ROUNDING, ordered, subdivided, times

# ---- friction: slopes over intervals of speed --------------------------------------------------------------------------
STRIBECK = Stribeck(F_c=310.0, F_s=770.0, v_s=0.021, b=43.0, width=7e-3)
SMOOTH = BrownMcPhee(F_c=310.0, F_s=770.0, v_s=0.021, b=43.0)
FILMS = [
    ModifiedLuGre(F_c=310.0, F_s=770.0, v_s=0.021, b=43.0, v_b=0.07, width=6e-3, n=n)
    for n in (1.0, 1.7, 2.0)
]


def film_curve(law):
    """Steady friction of a law with a film up to v_b, as printed, for complex speeds."""
    speed = lambda v: v**2 / (v**2 + law.width**2) ** (2 / 3)
    thin = lambda v: 1 - speed(v) / speed(law.v_b)
    return lambda v: (law.F_s - law.F_c) * thin(v) * np.exp(-((v / law.v_s) ** law.n)) + law.b * v


CURVES = [(STRIBECK, STRIBECK.force), (SMOOTH, SMOOTH.force)]
CURVES += [(law, film_curve(law)) for law in FILMS]


def derivative(f, v):
    """f' by a complex step: no digits are lost."""
    return np.imag(f(v + 1e-30j)) / 1e-30


@pytest.mark.parametrize("law, curve", CURVES, ids=lambda x: getattr(type(x), "__name__", ""))
def test_a_slope_over_an_interval_holds_that_at_every_speed_in_it(law, curve):
    """At a single speed both ends are the derivative; an interval holds all of its speeds', and shrinks with its width."""
    v = np.geomspace(1e-5, 0.069, 300)
    exact = derivative(curve, v)
    size = np.abs(exact).max()
    low, high = law._slope_within(v, v)
    assert np.all(low <= exact) and np.all(exact <= high)
    assert np.abs(low - exact).max() < 3e-12 * size and np.abs(high - exact).max() < 3e-12 * size
    for share in (0.5, 0.05, 1e-3):
        h = np.minimum(v * (1 + share), 0.07)
        low, high = law._slope_within(v, h)
        for k in np.linspace(0, 1, 9):
            inside = derivative(curve, v + k * (h - v))
            assert np.all(low <= inside) and np.all(inside <= high)
        assert np.all(high - low <= 30 * size * share)


def test_the_fall_of_the_bump_is_held_where_it_turns():
    """The second term of Brown–McPhee is least, −4/9 (F_s − F_c)/v_s, at r² = 3: an interval around it says so, exactly."""
    law = replace(SMOOTH, F_c=0.0, b=0.0)
    least = -4 / 9 * 770.0 / 0.021
    r = sqrt(3) * 0.021
    for l, h in ((0.9 * r, 1.1 * r), (r, 1.2 * r), (0.8 * r, r)):
        low, _ = law._slope_within(np.array([l]), np.array([h]))
        assert low[0] == pytest.approx(least, rel=1e-9) and low[0] <= least
    beside, _ = law._slope_within(np.array([1.1 * r]), np.array([1.2 * r]))
    assert beside[0] > least * (1 - 1e-4) and beside[0] > 1.0001 * least


def test_intervals_by_hand():
    one = lambda a, b: (np.array([a]), np.array([b]))
    for p, q, wanted in (
        ((-2.0, 3.0), (-5.0, 7.0), (-15.0, 21.0)),
        ((2.0, 3.0), (5.0, 7.0), (10.0, 21.0)),
        ((-3.0, -2.0), (5.0, 7.0), (-21.0, -10.0)),
        ((-3.0, -2.0), (-7.0, -5.0), (10.0, 21.0)),
        ((2.0, 3.0), (-7.0, 5.0), (-21.0, 15.0)),
    ):
        assert times(one(*p), one(*q)) == (wanted[0], wanted[1])
    low, high = ordered(np.array([1.0, 5.0]), np.array([3.0, 2.0]))
    assert low.tolist() == [1.0, 2.0] and high.tolist() == [3.0, 5.0]


@pytest.mark.parametrize("v_max", [0.003, 0.4, 2.0])
def test_the_range_of_a_function_over_an_interval(v_max):
    """sin(9 v) with an enclosure that is loose by its width: both ends come within a millionth, from outside."""
    asked = []

    def within(l, h):
        asked.append(h.max())
        middle, half = 0.5 * (l + h), 4.5 * (h - l)
        return np.sin(9 * middle) - half, np.sin(9 * middle) + half

    low, high = subdivided(within, v_max, 0.05)
    v = np.linspace(0, v_max, 200001)
    size = np.abs(np.sin(9 * v)).max()
    assert low <= np.sin(9 * v).min() + 1e-12 and high >= np.sin(9 * v).max() - 1e-12
    assert low == pytest.approx(np.sin(9 * v).min(), abs=3e-6 * size)
    assert high == pytest.approx(np.sin(9 * v).max(), abs=3e-6 * size)
    assert max(asked) == v_max
    rough = subdivided(within, v_max, 0.05, rounds=1)
    assert rough[0] <= low + 1e-12 and rough[1] >= high - 1e-12
    assert subdivided(lambda l, h: (l + 1, h + 1), 0.0, 0.05) == (1.0, 1.0)


def test_the_slope_of_bristles_is_least_where_the_curve_turns():
    """b − (F_s − F_c) n r^{n−1} e^{−rⁿ}/v_s, least at r = ((n − 1)/n)^{1/n}, or as far as the speed goes; n = 1 at rest."""
    own = {"F_c": 310.0, "F_s": 770.0, "v_s": 0.021, "b": 43.0}
    for n in (1.0, 1.6, 2.0):
        law = LuGre(**own, n=n)
        for v in (1e-3, 0.013, 0.5):
            r = np.linspace(1e-9, v / 0.021, 100001)
            fall = 460.0 / 0.021 * (n * r ** (n - 1) * np.exp(-(r**n))).max()
            assert law.slope(-v)[0] == pytest.approx(43.0 - fall, rel=1e-6)
            assert law.slope(v)[0] <= 43.0 - fall * (1 - 1e-12)
    assert ROUNDING < 1e-12


def test_means_of_decays_and_films():
    """(1 − e^{−a})/a on both sides of where it is a series; a film's weight is its closed form."""
    for a in (0.0, 1e-12, 1e-9, 3e-8, 1e-3, 0.7, 30.0):
        exact = 1.0 if a == 0 else -np.expm1(-a) / a
        assert float(_mean(np.array(a))) == pytest.approx(exact, rel=3e-8)
    assert float(_mean(np.array(8e-9))) == pytest.approx(1 - 4e-9, rel=1e-12)
    law = replace(FILMS[1], τ_hp=0.4, τ_hn=0.15, τ_h0=7.0)
    for τ_hp, τ_hn, τ_h0 in ((0.4, 0.15, 7.0), (0.1, 0.3, 0.2)):
        law = replace(law, τ_hp=τ_hp, τ_hn=τ_hn, τ_h0=τ_h0)
        τ = max(τ_hp, τ_hn)
        reach = τ * 0.021 * (2 * 1.7 * e) ** (-1 / 1.7) + 6e-3 * sqrt(τ * max(τ, τ_h0))
        assert law.film_weights()[0] == pytest.approx(2.6 * 770.0**4 / 310.0**3 * reach)
    for v, z in ((0.02, 0.0), (0.02, 0.55)):
        for T in (0.01, 0.3):
            rate = law.film(v, [0.0, z])[0]
            gap = law.film_settled(v)[0] - z
            decay = rate / gap
            assert law.film_after(T, v, [0.0, z])[0] == pytest.approx(
                z + gap * (1 - np.exp(-decay * T))
            )
