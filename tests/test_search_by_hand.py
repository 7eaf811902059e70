"""How a search goes on, step by step, on scores whose slopes are known; and what a formula of a user's is read as."""

import math

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.observed.expression import formula, used
from workbench.verification.search import minimise as module
from workbench.verification.search.minimise import FARTHEST, GENERATION, _down, _first

NEVER = lambda scores: False
FAR = 8.0 / 2.0 ** np.arange(8)  # 8, 4, … 1/16


class Scores:
    """Scores of places, with what was asked."""

    def __init__(self, f):
        self.f, self.asked = f, []

    def __call__(self, places):
        self.asked.append(np.array(places))
        return np.array([self.f(place) for place in places], float)


# ---- where it begins ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "n, count, corners", [(2, 16, 4), (3, 16, 8), (3, 5, 5), (13, 10, 8), (1, 16, 2)]
)
def test_corners_first_and_then_an_even_spread(n, count, corners):
    places = _first(n, count, np.random.default_rng(3))
    assert places.shape == (count, n) and (np.abs(places) <= 1).all()
    at_corners = (np.abs(places) == 1).all(axis=1)
    assert at_corners.tolist() == [True] * corners + [False] * (count - corners)
    if n < 13:
        assert len(np.unique(places[:corners], axis=0)) == corners
    inside = places[corners:]
    if len(inside) >= 8:
        assert (inside.min(axis=0) < -0.5).all() and (inside.max(axis=0) > 0.5).all()


# ---- down the slope -----------------------------------------------------------------------------------------------------------
def test_a_generation_lies_down_the_slope_and_stops_at_the_sides():
    """From (0.5, −0.5) against (3, −6): the direction that matters most goes so far, the other half as far."""
    assert (FARTHEST, GENERATION) == (8.0, 8)
    values = Scores(lambda p: 9.0)
    found = _down(np.array([0.5, -0.5]), 9.0, values, lambda p: np.array([3.0, -6.0]), 100, NEVER)
    expected = np.clip(np.array([0.5, -0.5]) + np.outer(FAR, [-0.5, 1.0]), -1, 1)
    assert values.asked[0] == pytest.approx(expected) and len(values.asked) == 1
    assert found[0].tolist() == [0.5, -0.5] and found[1] == 8, "nothing is gained"


def test_it_goes_down_again_where_much_was_gained():
    """0.9, then 0.4 and 0.19, less than half each time; 0.11 is less, and more than half of it."""
    steps = {0: 0.4, 1: 0.19, 2: 0.11}
    values = Scores(lambda p: 1.0)
    count = [0]

    def f(place):
        return steps[len(values.asked) - 1] if place[0] == values.asked[-1][2][0] else 1.0

    values.f = f
    begin, used_, scores = _down(
        np.array([0.9]), 0.9, values, lambda p: count.append(p[0]) or np.array([1.0]), 100, NEVER
    )
    assert len(values.asked) == 3 and used_ == 24, "0.4 < 0.45, 0.19 < 0.2, 0.11 > 0.095"
    assert begin == values.asked[2][2] and min(scores) == 0.11
    assert count[1:] == pytest.approx([0.9, values.asked[0][2][0], values.asked[1][2][0]])


def test_it_ends_where_there_is_no_slope_no_budget_or_enough():
    zero = Scores(lambda p: 0.0)
    assert _down(np.array([0.5]), 2.0, zero, lambda p: None, 100, NEVER)[1] == 0
    assert _down(np.array([0.5]), 2.0, zero, lambda p: None, 100, NEVER)[2].tolist() == [2.0]
    best = Scores(lambda p: 1e-3 if len(best.asked) == 1 else 1e-9)
    begin, used_, _ = _down(np.array([0.5]), 2.0, best, lambda p: np.array([1.0]), 11, NEVER)
    assert used_ == 11 and [len(a) for a in best.asked] == [8, 3]
    found = Scores(lambda p: -1.0)
    begin, used_, scores = _down(
        np.array([0.5]), 2.0, found, lambda p: np.array([1.0]), 99, lambda s: s.min() < 0
    )
    assert used_ == 8 and begin == 0.5 and scores.min() == -1.0


# ---- CMA-ES ---------------------------------------------------------------------------------------------------------------------
class Strategy:
    """In the place of the library: it asks for places around where it was begun, and keeps what it was told."""

    made: list = []

    def __init__(self, start, spread, options):
        self.start, self.spread, self.options, self.told = start, spread, options, []
        Strategy.made.append(self)

    def stop(self):
        return False

    def ask(self):
        return [self.start + 0.01 * k for k in range(8)]

    def tell(self, asked, scores):
        self.told.append(scores)


def evolved(monkeypatch, values, most, begin=(0.5,), enough=NEVER):
    import cma

    Strategy.made.clear()
    monkeypatch.setattr(cma, "CMAEvolutionStrategy", Strategy)
    found = module._evolved(np.array(begin), values, most, 7, enough)
    return found, Strategy.made[0]


def test_a_generation_begins_beside_the_nearest_and_in_two_dimensions(monkeypatch):
    values = Scores(lambda p: 5.0)
    (count, scores), search = evolved(monkeypatch, values, 500)
    assert search.start.tolist() == [0.49, 0.0] and search.spread == 0.25
    assert search.options["popsize"] == 8 and search.options["seed"] == 7
    assert values.asked[0].ravel() == pytest.approx(0.49 + 0.01 * np.arange(8))
    assert count == 56 and len(values.asked) == 7, "six generations gained nothing"
    (_, _), search = evolved(monkeypatch, Scores(lambda p: 5.0), 10, (0.5, -1.0, 1.0))
    assert search.start == pytest.approx([0.49, -0.98, 0.98])


@pytest.mark.parametrize("factor, generations", [(0.94, 30), (0.96, 7)])
def test_patience_ends_where_a_twentieth_is_not_gained(monkeypatch, factor, generations):
    values = Scores(lambda p: 5.0 * factor ** len(values.asked))
    (count, _), _ = evolved(monkeypatch, values, 240)
    assert len(values.asked) == generations and count == 8 * generations


def test_a_generation_that_the_budget_cuts_is_the_last_and_is_not_told(monkeypatch):
    values = Scores(lambda p: 2e9 if p[0] > 0.55 else math.inf)
    (count, scores), search = evolved(monkeypatch, values, 11)
    assert count == 11 and len(scores) == 3 and len(search.told) == 1
    assert search.told[0] == [1e6] * 8
    (count, _), search = evolved(
        monkeypatch, Scores(lambda p: -1.0), 99, enough=lambda s: s.min() < 0
    )
    assert count == 8 and not search.told
    (count, scores), _ = evolved(monkeypatch, values, 0)
    assert count == 0 and scores.tolist() == [math.inf]


# ---- the whole search -----------------------------------------------------------------------------------------------------------
def searched(monkeypatch, budget, slope=None, enough=NEVER, down=8, evolve=20):
    told = []

    def values(places):
        told.append(("values", len(places)))
        return np.arange(len(places), 0.0, -1.0)

    def go_down(begin, low, values, slope, left, enough):
        told.append(("down", low, left))
        return begin + 9, min(down, left), np.array([3.0])

    def go_on(begin, values, left, seed, enough):
        told.append(("evolve", left, bool((begin > 5).all())))
        return min(evolve, left), np.array([3.0])

    monkeypatch.setattr(module, "_down", go_down)
    monkeypatch.setattr(module, "_evolved", go_on)
    module.minimise(2, values, budget, 5, enough, slope)
    return told


def test_a_search_goes_down_and_evolves_from_the_nearest_and_begins_anew(monkeypatch):
    told = searched(monkeypatch, 60, slope=lambda p: p)
    assert told == [
        ("values", 16),
        ("down", 1.0, 44),
        ("evolve", 36, True),
        ("values", 16),
    ]
    told = searched(monkeypatch, 61, slope=lambda p: p)
    assert told[4:] == [("down", 1.0, 1)]
    told = searched(monkeypatch, 60)
    assert told == [("values", 16), ("evolve", 44, False), ("values", 16), ("evolve", 8, False)]
    assert searched(monkeypatch, 10) == [("values", 10)] and searched(monkeypatch, 16) == [
        ("values", 16)
    ]


@pytest.mark.parametrize("calls, told", [(1, 1), (2, 2), (3, 3)])
def test_a_search_ends_where_it_has_enough(monkeypatch, calls, told):
    asked = []
    enough = lambda scores: len(asked.append(0) or asked) >= calls
    assert len(searched(monkeypatch, 900, slope=lambda p: p, enough=enough)) == told


# ---- formulas -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, value",
    [
        ("x - y - 1", 3.0 - 5.0 - 1),
        ("x - (y - 1)", -1.0),
        ("x / y / 2 * 4", 3.0 / 5.0 / 2 * 4),
        ("-x**2 + +y", -4.0),
        ("2 * -x", -6.0),
        ("x**0 + x**16", 1 + 3.0**16),
        ("sqrt(x*x) + abs(-y)", 8.0),
        (
            "sin(x) + cos(y) - tanh(x) * exp(-y)",
            math.sin(3) + math.cos(5) - math.tanh(3) * math.exp(-5),
        ),
        ("1 + 2 * 3 - x", 4.0),
        (" x ", 3.0),
    ],
)
def test_what_a_formula_is(text, value):
    assert formula(text, ("y", "x"))((5.0, 3.0)) == pytest.approx(value)


@pytest.mark.parametrize(
    "text, x, y, value",
    [
        ("x / y", 1.0, 0.0, math.inf),
        ("x / y", -1.0, 0.0, -math.inf),
        ("x / y", 1.0, -0.0, -math.inf),
        ("x / y", -2.0, -0.0, math.inf),
        ("x / y", 0.0, 0.0, math.nan),
        ("x / y", math.nan, 0.0, math.nan),
        ("x**16 + 0*y", 1e300, 0.0, math.inf),
        ("x**16 + 0*y", -1e300, 0.0, math.inf),
        ("x**15 + 0*y", -1e300, 0.0, -math.inf),
        ("x**15 + 0*y", 1e300, 0.0, math.inf),
    ],
)
def test_numbers_beyond_all_are_as_the_standard_says(text, x, y, value):
    found = formula(text, ("x", "y"))((x, y))
    assert found == value or math.isnan(found) and math.isnan(value)


@pytest.mark.parametrize(
    "text, what, column",
    [
        ("x + z", "unknown signal 'z'", 5),
        ("x ** 17", "a power", 1),
        ("x ** -1", "a power", 1),
        ("x ** 2.0", "a power", 1),
        ("y + x ** y", "a power", 5),
        ("log(x)", "a call", 1),
        ("sin(x, y)", "a call", 1),
        ("sin(x=1)", "a call", 1),
        ("x.real", "something", 1),
        ("x if y else 1", "something", 1),
        ("True + x", "something", 1),
        ("1e301 * x", "something", 1),
        ("x % y", "something", 1),
        ("~x", "something", 1),
        ("x + 1/0", "no finite value", 5),
        ("x + (2 - 2) / 0 * y", "no finite value", 5),
        ("x / (1 - 1)", "division by zero", 6),
        ("sin(1/0) * x", "no finite value", 1),
        ("x * sqrt(0 - 1)", "no finite value", 5),
        ("x * exp(1000) + y", "no finite value", 5),
        ("sin(x + exp(1000))", "no finite value", 9),
        ("-(x + exp(1000))", "no finite value", 7),
    ],
)
def test_what_a_formula_cannot_have(text, what, column):
    with pytest.raises(InputError) as why:
        formula(text, ("x", "y"))
    assert what in why.value.message and why.value.message.endswith(f"(column {column})")


def test_powers_are_written_with_stars():
    with pytest.raises(InputError) as why:
        formula("x ^ 2", ("x",))
    assert "powers are written **" in why.value.mend
    with pytest.raises(InputError) as why:
        formula("x % 2", ("x",))
    assert "powers" not in why.value.mend


def test_long_and_deep_formulas():
    assert formula("+".join(["x"] * 1000), ("x",))((2.0,)) == 2000.0
    assert formula("(" * 100 + "x" + ")" * 100, ("x",))((2.0,)) == 2.0
    with pytest.raises(InputError, match="4001 characters"):
        formula("x" + " " * 4000, ("x",))
    assert formula("x" + " " * 3999, ("x",))((2.0,)) == 2.0
    assert formula("-" * 100 + "x", ("x",))((2.0,)) == 2.0
    with pytest.raises(InputError, match="nested"):
        formula("-" * 101 + "x", ("x",))
    with pytest.raises(InputError, match="nested"):
        formula("x + (" * 101 + "x" + ")" * 101, ("x",))
    assert formula("x + (" * 100 + "x" + ")" * 100, ("x",))((2.0,)) == 202.0
    for nothing in ("", "  ", None, 3):
        with pytest.raises(InputError, match="expected a formula"):
            formula(nothing, ("x",))
    with pytest.raises(InputError, match="near column"):
        formula("x + (y", ("x", "y"))


def test_signals_that_a_formula_uses():
    assert used("sin(x) + 2*z", ("x", "y", "z")) == {"x", "z"} and used("1 + 1", ("x",)) == set()
