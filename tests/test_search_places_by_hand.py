"""Small places of searches, sentences and slopes, from numbers written down."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE

from workbench import ClosedLoop, InputError, Sampled, Scenario, Sine, Waypoints
from workbench.contract.parameters import Leaf
from workbench.contract.wrappers import Noisy
from workbench.verification.search import of_loop, of_path, of_plant
from workbench.verification.sensitivity import check, derivatives
from workbench.verification.sensitivity.shares import base
from workbench.verification.sensitivity.slopes import DERIVATIVE, MORRIS, Slope
from workbench.verification.temporal import ready, sentence
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.refusal import refusal
from workbench.verification.temporal.sentence import read


# ---- noise --------------------------------------------------------------------------------------
def noise(*signals):
    return SimpleNamespace(signals=signals)


@pytest.mark.parametrize(
    "chosen, name, meant",
    [
        ((), "q_1", True),
        (("q_1", "p"), "q_1", True),
        (("q_1", "p"), "p_a1", True),
        (("q_1", "p"), "pa_1", False),
        (("q_1", "p"), "q_10", False),
    ],
)
def test_noise_is_on_all_signals_or_on_those_named_by_their_begin(chosen, name, meant):
    assert of_loop._meant(noise(*chosen), name) is meant


def test_noises_around_a_law_from_the_outside_in():
    inner = Noisy(IDLE, 0.1)
    outer = Noisy(inner, 0.2)
    assert of_loop._noises(Sampled(outer, 1e-3)) == [outer, inner] and of_loop._noises(IDLE) == []
    louder = of_loop._noisier(Sampled(inner, 1e-3), 0.5)
    assert louder.inner.σ == 0.5 and louder.T_s == 1e-3


# ---- friction and factors ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name, mend", [("friction", "give the plant a law of friction"), ("scale.k", "vary the number")]
)
def test_nothing_to_be_multiplied(monkeypatch, name, mend):
    none = [Leaf("k", 0.0, SimpleNamespace(unit="1"), False)]
    monkeypatch.setattr(of_plant, "forces_of_friction", lambda plant: none)
    monkeypatch.setattr(of_plant, "_numbers", lambda *given: none)
    with pytest.raises(InputError, match="nothing of the plant") as why:
        of_plant.Scaled().named(SimpleNamespace(plant=None), Scenario(), name)
    assert why.value.mend.startswith(mend)


# ---- paths that stray ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "reference, length, end",
    [
        (Waypoints("output", ((0.0,), (0.3,)), 4.0), 9.0, 4.0),
        (Waypoints("output", ((0.0,), (0.3,)), 4.0), 3.0, 3.0),
        (Sine("output", "start", (0.1,), 0.5), 9.0, 9.0),
    ],
)
def test_a_path_strays_between_its_begin_and_its_end(monkeypatch, reference, length, end):
    """At knots evenly over the path, or over the run where that is shorter or the path has no end."""
    monkeypatch.setattr(of_path, "start_state", lambda loop, scenario: None)
    demand = SimpleNamespace(reference=reference)
    monkeypatch.setattr(of_path, "Demand", lambda *given: demand)
    monkeypatch.setattr(of_path, "_components", lambda loop, demand: (["y"], ["m"]))
    monkeypatch.setattr(of_path, "_speeds", lambda reference, times: np.array([0.2]))
    found = of_path.Path(knots=3).named(None, Scenario(length, reference), "path")
    assert [d.name for d in found] == [f"path.y@{end * k / 4:.4g}s" for k in (1, 2, 3)]
    assert [d.of for d in found] == [(0, 0), (1, 0), (2, 0)]
    kind = found[0].kind
    assert kind.times == pytest.approx([end * k / 4 for k in range(5)])
    assert kind.limits == (pytest.approx(0.3),)


def test_components_of_one_unit_share_a_limit():
    """The fastest of each unit, half as fast again; or what is stated, if the case's own path is no faster."""
    own, units = np.array([0.2, 5.0, 0.1, 0.4]), ["m", "rad", "m", "m"]
    assert of_path.Path()._limit("m", own, units) == pytest.approx(0.6)
    assert of_path.Path()._limit("rad", own, units) == pytest.approx(7.5)
    assert of_path.Path(speed=0.4)._limit("m", own, units) == 0.4
    with pytest.raises(InputError, match="moves at 0.4 m/s, faster than 0.39"):
        of_path.Path(speed=0.39)._limit("m", own, units)
    with pytest.raises(InputError, match="stands still") as why:
        of_path.Path()._limit("m", 0 * own, units)
    assert why.value.mend == "say how fast it may be: speed: 0.1 m/s"


# ---- sentences --------------------------------------------------------------------------------------------
TEXT = "".join(chr(ord("a") + k % 26) for k in range(100))


@pytest.mark.parametrize(
    "column, begin, end",
    [(31, 0, 60), (32, 1, 61), (70, 39, 99), (71, 40, 100), (1, 0, 30), (100, 69, 100)],
)
def test_a_refusal_repeats_thirty_characters_on_either_side(column, begin, end):
    said = refusal(TEXT, column, "why", "mend it").message
    before, after = "…" if begin else "", "…" if end < 100 else ""
    assert said == f"column {column}, in “{before}{TEXT[begin:end]}{after}”: why"
    assert refusal("", 1, "why", "mend").message == "column 1: why"


@pytest.mark.parametrize(
    "text, column, what, piece",
    [
        ("not x", 5, "what stands after not", "x"),
        ("(x + 1 m)", 1, "a requirement", "x + 1 m"),
        (
            "x > 1 m and x + x + x + x + x + x + x + x + x + x + x + x",
            13,
            "what stands after and",
            10 * "x + ",
        ),
    ],
)
def test_a_quantity_is_no_requirement(text, column, what, piece):
    with pytest.raises(InputError) as why:
        read(text, {"x": "m"})
    assert why.value.message.startswith(f"column {column}, ")
    assert why.value.message.endswith(
        f": {what} has to be true or false, and {piece!r} is a quantity"
    )
    assert why.value.mend == f"compare it, such as {piece} < 5 mm"


@pytest.mark.parametrize(
    "before, inside, after, most",
    [("always ", "x < 1 m", "", 39), ("", "(x < 1 m)", "", 39), ("always (x < ", "1 m", ")", 38)],
)
def test_sentences_are_at_most_forty_levels_deep(before, inside, after, most):
    """Whatever stands in brackets is a level deeper, and what stands after `not`."""
    opens, closes = ("not ", "") if not before else ("(", ")")
    text = lambda n: before + opens * n + inside + closes * n + after
    assert parse(text(most))
    with pytest.raises(InputError, match="more than 40 levels deep"):
        parse(text(most + 1))


def test_a_chain_of_comparisons_is_shown_as_it_stands():
    of = read("always (1 m < x < 2 m)", {"x": "m"})
    assert of.piece(of.formula.part) == "1 m < x < 2 m"
    assert [of.piece(c) for c in sentence.S.comparisons(of.formula)] == ["1 m < x", "x < 2 m"]


def test_a_slope_that_is_no_number_counts_as_none():
    """Of sqrt(x) at 0 the difference is none; of 3 x it is 3."""
    of = read("always (3 * x < 1 m)", {"x": "m"})
    (c,) = of.units and [next(iter(sentence.S.comparisons(of.formula)))]
    assert sentence.slopes(c, {"x": np.array([0.0, -2.0])}, 1) == {"x": pytest.approx(3.0)}
    with np.errstate(invalid="ignore"):
        assert sentence.slopes(c, {"x": np.array([np.inf])}, 0) == {"x": 0.0}


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (0.1234, "m", "0.1234 m"),
        (0.12345, "m", "0.12345 m"),
        (1.234567891e5, "Pa", "1.234567891 bar"),
        (0.123456789012, "m", "0.123456789012 m"),
    ],
)
def test_a_number_is_written_with_as_few_digits_as_read_back(value, unit, text):
    assert ready.written(value, unit) == text


def test_a_margin_that_cannot_become_worse_is_told_before_the_run_is_complete():
    """`eventually` was met by 2 m at the second sample: what follows may make it more, never less."""
    of = read("eventually (x > 1 m)", {"x": "m"})
    x = {"x": np.array([0.5, 3.0, 0.0])}
    open_ = of.on(np.arange(3.0), x, complete=False)
    assert (open_.holds, open_.margin, open_.time) == (True, 2.0, 1.0)
    assert of.on(np.arange(3.0), x).margin == 2.0
    never = read("always (x > 1 m)", {"x": "m"}).on(np.arange(3.0), x, complete=False)
    assert (never.holds, never.margin, never.time) == (False, -1.0, 2.0)
    least = of.on(np.arange(3.0), {"x": np.zeros(3)}, complete=False)
    assert (least.holds, least.margin) == (None, None)


@pytest.mark.parametrize(
    "text, curve",
    [("always (x < 2 m)", [1.0, -1.0, 2.0]), ("not eventually (x >= 2 m)", [1.0, -1.0, 2.0])],
)
def test_a_curve_is_the_margin_of_the_comparison_that_decides(text, curve):
    """Turned where `not` turns it."""
    found = read(text, {"x": "m"}).on(np.arange(3.0), {"x": np.array([1.0, 3.0, 0.0])})
    assert (found.holds, found.margin, found.time) == (False, -1.0, 1.0)
    assert found.curve.tolist() == curve and found.words == "x = 3 m"


# ---- slopes of margins --------------------------------------------------------------------------------------
def test_a_run_without_variation_has_no_derivatives(monkeypatch):
    monkeypatch.setattr(derivatives, "has_variation", lambda *given: False)
    run = SimpleNamespace(loop=None, scenario=None, fine=SimpleNamespace(log=None))
    case = SimpleNamespace(run=run, rows=[1, 2, 3])
    assert derivatives.derivatives(case, {"a": [], "b": []}, None) == [[None, None]] * 3


def slope(tenth, error=0.0, name="a", by=DERIVATIVE):
    return Slope(name, tenth, error, by)


def test_a_slope_is_rough_where_its_error_matters_beside_the_others():
    """An error above a millionth of the largest change that any number makes."""
    some = [slope(1e3, 0.0), slope(1e-4, 0.9e-3), slope(1e-4, 1.1e-3), slope(None or math.nan)]
    found = [check._rough(some, i) for i in range(3)]
    assert found == [False, False, True]
    assert check._rough([slope(2.0, 1e-9)], 0) is False


def test_a_slope_over_a_range_replaces_a_rough_one_where_it_is_known():
    one, ranged = slope(1.0, 0.5), slope(2.0, 0.1, by=MORRIS)
    assert check._better(one, ranged, True) is ranged
    assert check._better(one, ranged, False) is one is check._better(one, None, True)
    lost = slope(math.nan, by=MORRIS)
    assert (check._better(one, lost, True) is one) is (not lost.known)


@pytest.mark.parametrize(
    "margin, limit, room", [(3.0, -2.0, 1.5), (3.0, 4.0, 0.75), (3.0, 0.0, 3.0), (3.0, None, 3.0)]
)
def test_the_thinnest_margin_is_a_share_of_what_is_allowed(margin, limit, room):
    assert check._room(SimpleNamespace(margin=margin, limit=limit)) == room


def numbers(*values, unit="kg"):
    return [Leaf(f"m{k}", v, SimpleNamespace(unit=unit), False) for k, v in enumerate(values)]


@pytest.mark.parametrize(
    "tenth, values, unit, words",
    [
        (-4.2e-3, (500.0,), "m", "−84 µm per kg"),
        (4.2e-3, (500.0, 500.0), "m", "+84 µm per kg"),
        (4.2e-3, (-500.0,), "m", "−84 µm per kg"),
        (4.2e-3, (500.0, 400.0), "m", ""),
        (4.2e-3, (0.0,), "m", ""),
        (math.nan, (500.0,), "m", ""),
        (0.0, (500.0,), "m", "0 m per kg"),
    ],
)
def test_a_slope_per_unit_of_the_number(tenth, values, unit, words):
    """A tenth of 500 kg is 50 kg: 4.2 mm are 84 µm for each."""
    said = check.per_unit(slope(tenth), numbers(*values), unit)
    assert said == words


def test_numbers_are_moved_by_factors_of_their_groups():
    named = {"a": numbers(2.0, 3.0), "b": numbers(5.0)}
    found = check._moved({"a": named["a"]}, {"a": 1.1})
    assert found == {"m0": pytest.approx(2.2), "m1": pytest.approx(3.3)}


def test_a_loop_whose_margin_moves_by_nothing_says_so():
    assert check.strongest({"slopes": []}) == []
    some = {"slopes": [{"tenth": -3.0}, {"tenth": 2e-6}, {"tenth": None}, {"tenth": 4e-6}]}
    assert [s["tenth"] for s in check.strongest(some)] == [-3.0, 4e-6]
    assert check.signed(0.0, "m") == "0 m" and check.signed(-2e-3, "m") == "−2 mm"
    assert check.signed(2e-3, "m") == "+2 mm"
    assert check.doubt({"smooth": True}) == ""
    assert check.doubt({"smooth": False, "by": MORRIS}) == "mean over ±10 %, not smooth"
    assert check.doubt({"smooth": False, "by": DERIVATIVE}) == "not smooth there"


@pytest.mark.parametrize("runs, numbers, n", [(256, 2, 64), (255, 2, 32), (320, 3, 64), (16, 2, 4)])
def test_runs_of_a_share_are_the_largest_power_of_two(runs, numbers, n):
    """n (d + 2) runs of d numbers are no more than asked for."""
    assert base(runs, numbers) == n and n * (numbers + 2) <= runs < 2 * n * (numbers + 2)


def test_a_delay_is_asked_of_a_sampled_loop():
    loop = ClosedLoop(IDLE.plant, Sampled(IDLE, 1e-3))
    (found,) = of_loop.Delay().named(loop, Scenario(), "delay")
    assert (found.nominal, found.least, found.unit) == (0.0, 0.0, "s")
    late, _ = of_loop.Delay().moved(loop, Scenario(), {found: 2e-3})
    assert late.controller.delay == 2e-3
    again, _ = of_loop.Delay().moved(late, Scenario(), {found: 0.0})
    assert again.controller == loop.controller
