"""Which numbers move margins, step by step: slopes of a run, groups, what is told, and what their spread is made of."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE, Decaying

from workbench import ClosedLoop, Scenario
from workbench.contract.parameters import Leaf, leaves
from workbench.verification.probability.claims import Spread
from workbench.verification.sensitivity import check, derivatives
from workbench.verification.sensitivity.claim import Sensitivity
from workbench.verification.sensitivity.derivatives import NEAR, NEIGHBOUR
from workbench.verification.sensitivity.slopes import DERIVATIVE, MORRIS, Slope
from workbench.verification.verdict import Verdict

PLANT = Decaying(c=0.5, k=3.0)
LOOP = ClosedLoop(PLANT, IDLE)
NAMED = {leaf.path: [leaf] for leaf in leaves(PLANT)}


def row(margin=1.0, unit="m", limit=2.0, key="requirements.a"):
    return Verdict(key, "text", True, "sampled", margin, unit, limit)


# ---- derivatives ----------------------------------------------------------------------------------
def test_numbers_of_the_plant_are_moved_and_the_law_keeps_what_it_believes():
    run = SimpleNamespace(loop=LOOP, scenario=Scenario(0.3))
    (loop, scenario) = derivatives._moved(run, [*NAMED["c"], *NAMED["k"]], 0.1)
    assert loop.plant.c == pytest.approx(0.55) and loop.plant.k == pytest.approx(3.3)
    assert loop.controller is IDLE and scenario is run.scenario and PLANT.c == 0.5


def test_margins_along_a_change_at_both_distances():
    """Five values a margin: at −NEIGHBOUR, −NEAR, here, NEAR, NEIGHBOUR of the number."""
    asked = []

    def along(case, job, change):
        asked.append((job, change.tolist()))
        return [10 * job + change[0], -job]

    case = SimpleNamespace(rows=[row(7.0), row(8.0)])
    found = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derivatives, "_along", along)
        found = derivatives._margins(case, lambda ε: ε, np.array([2.0]))
    steps = (-NEIGHBOUR, -NEAR, NEAR, NEIGHBOUR)
    assert asked == [(ε, [2 * ε]) for ε in steps]
    at = [12 * ε for ε in steps]
    assert found[0] == pytest.approx([*at[:2], 7.0, *at[2:]])
    assert found[1] == pytest.approx([NEIGHBOUR, NEAR, 8.0, -NEAR, -NEIGHBOUR])


def test_one_number_is_differentiated_to_both_sides(monkeypatch):
    asked = []
    varying = SimpleNamespace(along=lambda *given: asked.append(given) or "change")
    monkeypatch.setattr(derivatives, "_moved", lambda run, some, ε: ε)
    monkeypatch.setattr(
        derivatives, "_margins", lambda case, at, change: [(0.0, 1.0, 2.0, 3.0, 4.0)]
    )
    monkeypatch.setattr(derivatives, "_slope", lambda name, *five: (name, five))
    case = SimpleNamespace(run=None, rows=[1])
    found = derivatives._of_one(case, varying, "c", [])
    assert found == [("c", (0.0, 1.0, 2.0, 3.0, 4.0))] and asked == [(-1e-4, 1e-4, 2e-4)]
    varying.along = lambda *given: None
    case.rows = [1, 2]
    assert derivatives._of_one(case, varying, "c", []) == [None, None]


@pytest.mark.parametrize(
    "wide, sides, tenth, error",
    [(0.0, 0.0, 0.3, 0.0), (0.5, 0.0, 0.3, 0.05), (0.0, 2.0, 0.3, 0.2), (-0.5, 0.1, 0.3, 0.05)],
)
def test_a_slope_of_three_and_its_error(wide, sides, tenth, error):
    """m = 5 + 3 ε + sides |ε| near by; over a thousandth another slope by `wide`."""
    m = lambda ε: 5.0 + 3 * ε + 0.5 * sides * abs(ε)
    far = (3 + wide) * NEIGHBOUR
    found = derivatives._slope("c", 5.0 - far, m(-NEAR), 5.0, m(NEAR), 5.0 + far)
    assert found.tenth == pytest.approx(tenth) and found.by == DERIVATIVE
    assert found.error == pytest.approx(error, abs=1e-6)


def test_a_slope_where_runs_end():
    nan = math.nan
    assert derivatives._slope("c", 1.0, nan, 1.0, 1.0, 1.0) is None
    one_side = derivatives._slope("c", nan, 1.0 - 3 * NEAR, 1.0, 1.0 + 3 * NEAR, 1.0)
    assert one_side.tenth == pytest.approx(0.3) and one_side.error == pytest.approx(0.3)
    rounded = derivatives._slope("c", 1.0, 1.0, 1.0 + 5e-16, 1.0, 1.0)
    assert rounded.error == 0.0, "what rounding makes of the sides is no kink"


@pytest.mark.parametrize("off, good", [(0.0, True), (0.019, True), (0.021, False)])
def test_runs_that_move_all_numbers_agree_with_their_slopes(off, good):
    """Within a fiftieth of all slopes together: of 3 and −2 of a margin, of one that nothing moves within rounding."""
    some = [Slope("a", 0.3, 0.0), Slope("b", -0.2, 0.0), None]
    none = [None, Slope("b", 0.0, 0.0), None]

    def move(sides):
        assert len(sides) == 2 and all(set(one) == {"a", "b"} for one in sides)
        change = lambda s, v: 3 * (s["a"] - 1) - 2 * (s["b"] - 1)
        told = [change(s, v) for s, v in zip(sides, (-1, 1))]
        far = 0.5 * 5 * off * np.array([-1, 1]) * 2e-4
        return [[t + f, 4.0] for t, f in zip(told, far)]

    rows = [row(1e-9, limit=0.0), row(0.5)]
    assert derivatives._agreed(rows, [some, none], move) == [good, True]
    assert derivatives._agreed(rows, [[None], [None]], None) == [False, False]


# ---- groups and slopes ------------------------------------------------------------------------------
def test_numbers_of_a_plant_are_grouped_by_the_end_of_their_paths(monkeypatch):
    values = {
        "a.lift.F_c": 3.0,
        "b.lift.F_c": 4.0,
        "lift.n": 2,
        "lift.on": True,
        "m.z": 0.0,
        "m.w": np.inf,
    }
    found = [Leaf(path, v, SimpleNamespace(unit="1"), False) for path, v in values.items()]
    monkeypatch.setattr(check, "leaves", lambda plant: found)
    assert {n: [x.path for x in some] for n, some in check.groups(None, ()).items()} == {
        "lift.F_c": ["a.lift.F_c", "b.lift.F_c"]
    }
    assert list(check.groups(PLANT, ("c",))) == ["c"]


def slope(name, tenth, error=0.0, by=DERIVATIVE):
    return Slope(name, tenth, error, by)


def test_slopes_that_have_no_derivative_are_differences_and_rough_ones_effects(monkeypatch):
    exact = [
        [slope("a", 1.0), None, slope("c", 9.0, 8.0)],
        [slope("a", 2.0), None, slope("c", 1.0)],
    ]
    beside = [[slope("b", 5.0, 0.0, "differences")], [slope("b", 6.0, 5.0, "differences")]]
    ranged = [
        [slope("b", 0.5, 0, MORRIS), slope("c", 7.0, 0, MORRIS)],
        [slope("b", 0.6, 0, MORRIS), slope("c", 8.0, 0, MORRIS)],
    ]
    asked = []
    monkeypatch.setattr(check, "derivatives", lambda case, named, move: exact)
    monkeypatch.setattr(check, "slopes", lambda move, rest: asked.append(rest) or beside)
    monkeypatch.setattr(
        check, "effects", lambda move, rough, seed: asked.append((rough, seed)) or ranged
    )
    found = check._slopes(None, dict.fromkeys("abc"), None, 4)
    assert asked == [["b"], (["b", "c"], 4)]
    assert [[s.tenth for s in some] for some in found] == [[1.0, 5.0, 7.0], [2.0, 0.6, 1.0]]


# ---- what is told -------------------------------------------------------------------------------------
def test_the_strongest_numbers_of_the_thinnest_requirement():
    named = {
        n: [Leaf(n, v, SimpleNamespace(unit="kg"), False)]
        for n, v in zip("abcd", (5.0, 0.0, 2.0, 1.0))
    }
    moved = [
        slope("a", 1e-3),
        slope("b", math.nan),
        slope("c", -4e-3, 3e-3),
        slope("d", 2e-3, 0.0, MORRIS),
    ]
    said = check._words(row(0.05), moved, named)
    assert said.startswith("thinnest is requirements.a, 50 mm left; ")
    assert said.endswith(
        "b: runs beside the case end early; c −4 mm per +10 %, not smooth there; "
        "d +2 mm per +10 %, mean over ±10 %, not smooth"
    )
    told = check._row(row(0.05), moved, named)
    assert [s["name"] for s in told["slopes"]] == ["b", "c", "d", "a"]
    assert told["slopes"][0] == {
        "name": "b", "tenth": None, "error": None, "smooth": False, "by": DERIVATIVE, "words": ""
    }  # fmt: skip
    assert told["slopes"][1]["words"] == "−20 mm per kg" and told["margin"] == 0.05
    assert (told["key"], told["claim"], told["unit"]) == ("requirements.a", "text", "m")


# ---- their spread ---------------------------------------------------------------------------------------
def test_a_spread_is_made_of_draws_of_every_law(monkeypatch):
    """Even draws of 0.5 are the middle of a range; two of four runs without a margin leave a requirement out."""
    over = {"c": Spread(uniform=("0.4 m", "0.6 m")), "k": Spread(normal=("3 1/s", "0.1 1/s"))}
    claim = Sensitivity(over=over, runs=128, seed=6)
    asked = []

    class Case(SimpleNamespace):
        def margins(self, values):
            asked.extend(values)
            return np.array([[1.0, np.nan if k % 2 else 2.0] for k in range(len(values))])

    case = Case(rows=[row(key="first"), row(key="second")], run=SimpleNamespace(loop=LOOP))

    def shares(margins, names, n, seed):
        assert (names, n, seed) == (["c", "k"], 32, 6)
        found = margins(np.array([[0.5, 0.5], [0.0, 0.5], [1.0, 0.5], [0.5, 0.8413447]]))
        assert found.tolist() == [[1.0, 2.0], [1.0, 0.0]] * 2
        return [[], []]

    monkeypatch.setattr(check, "shares", shares)
    first, second = check._spread(claim, case)
    assert first == {"key": "first", "runs": 128, "failed": 0, "numbers": []}
    assert second == {"key": "second", "runs": 128, "failed": 2, "numbers": []}
    assert [round(v["c"], 6) for v in asked] == [0.5, 0.4, 0.6, 0.5]
    assert [v["k"] for v in asked] == pytest.approx([3.0, 3.0, 3.0, 3.1], abs=1e-6)
