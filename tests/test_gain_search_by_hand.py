"""What a search by runs puts together, from knobs to the gains that are returned, on outcomes written down."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from controllers.gain_search import bearing, search
from controllers.gain_search import command as by_runs
from controllers.gain_search import knobs as turning
from controllers.gain_search.bearing import Ladder, borne
from controllers.gain_search.knobs import Knob, knobs, turned
from controllers.gain_search.options import NO_MEASURE, ByRuns
from controllers.gain_search.point import Point, Traded
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.verification.practical.limits.scanned import Outcome


# ---- knobs -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Law:
    """Gains of two actuators, and a horizon."""

    K: tuple = (2.0, 0.0, 3.0)
    τ: float = 0.5
    N: int = 20

    @property
    def searched(self):
        return ("K", "τ", "N")


def test_knobs_of_a_law():
    """All it offers in its own order, or those that are named; each entry above zero where that is asked."""
    assert knobs(Law()) == (Knob("K"), Knob("τ"), Knob("N"))
    assert knobs(Law(), ("N", "K")) == (Knob("K"), Knob("N"))
    assert knobs(Law(), each=True) == (Knob("K", 0), Knob("K", 2), Knob("τ"), Knob("N"))
    assert [knob.name for knob in knobs(Law(), ("K",), True)] == ["K[1]", "K[3]"]
    with pytest.raises(InputError, match="free: λ is not among what can be searched here, K, τ, N"):
        knobs(Law(), ("K", "λ"))
    with pytest.raises(InputError, match="SimpleNamespace names no gains"):
        knobs(SimpleNamespace(searched=()))


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.setattr(turning, "innermost", lambda controller: controller)
    monkeypatch.setattr(turning, "rewrapped", lambda controller, law: law)
    made = lambda plant, law: SimpleNamespace(plant=plant, controller=law)
    monkeypatch.setattr(turning, "ClosedLoop", made)


def test_a_loop_with_its_knobs_turned(plain):
    """By factors of two, in three digits; two entries of one gain by factors of their own."""
    loop = SimpleNamespace(plant="plant", controller=Law(K=(2.0, 0.1, 3.333)))
    every = (Knob("K", 0), Knob("N"), Knob("K", 2), Knob("τ"))
    found = turned(loop, every, (1.0, -1.0, 0.5, 0.0))
    assert found.plant == "plant"
    assert found.controller == Law(K=(4.0, 0.1, 4.71), τ=0.5, N=10)
    assert turned(loop, (Knob("K"),), (-1.0,)).controller.K == (1.0, 0.05, 1.67)
    hosted = object.__new__(Plain)
    object.__setattr__(hosted, "law", Law())
    assert turning.law_of(SimpleNamespace(controller=hosted)) == Law()


# ---- the search ------------------------------------------------------------------------------------------------------
def point(octaves, error=1.0, bears=0.5, excess=0.0, violated=()):
    return Point((octaves,), {}, error, 0.0, bears, violated, excess)


def test_gains_that_are_better_are_other_gains():
    made = lambda chosen: Traded(None, (), point(0.0), chosen, (), (), "", "", None, None, "m")
    assert made(point(1.0)).better and not made(point(0.0, 9.0)).better
    assert made(point(0.0)).met and not made(point(0.0, excess=0.1)).met


@pytest.mark.parametrize(
    "hosted, most, runs, beside", [(True, None, 40, 2), (False, None, 600, 8), (True, 7, 7, 2)]
)
@pytest.mark.parametrize("better", [True, False])
def test_a_search_from_its_start_to_what_it_chooses(
    monkeypatch, hosted, most, runs, beside, better
):
    """The start at its beginning, the search with what it bears, then the whole: what has to be kept is of the whole run."""
    told, asked = [], []
    begun, whole = point(0.0, 2.0, 0.2), point(0.0, 3.0, 0.25)
    best = point(1.0, 1.5, 0.3)

    class Bench(SimpleNamespace):
        knobs = (Knob("K", 0), Knob("τ"), Knob("K", 2))

        def points(self, many):
            asked.append(("begun", many, self.floor))
            return [begun]

        def asked_of(self, one):
            return replace(one, excess=self.floor or 0.0)

        def whole(self, one, many):
            asked.append(("whole", one.octaves, one.excess, many))
            return whole

    bench = Bench(wish=ByRuns(), floor=None, ceiling=None, near=0.0, rungs=None)
    counted = []

    def made(wish, loop, scenario, claims, counter):
        counted.append(counter)
        asked.append(("bench", claims))
        return bench

    def confirmed(bench, search, first, beside):
        asked.append(("confirmed", first.error, first.excess, bench.floor, beside))
        return [best, begun] if better else []

    monkeypatch.setattr(search, "replace", lambda bench, **new: Bench(**vars(bench) | new))
    monkeypatch.setattr(search, "_bench", made)
    monkeypatch.setattr(search, "width", lambda: 8)
    monkeypatch.setattr(search, "error_unit", lambda loop: "rad")
    monkeypatch.setattr(search, "_confirmed", confirmed)
    monkeypatch.setattr(
        search._Search, "run", lambda self, at: asked.append(("run", at, self.bench.floor))
    )
    monkeypatch.setattr(search, "turned", lambda loop, every, octaves: (loop, every, octaves))
    loop = SimpleNamespace(hosted=hosted)
    found = search.searched(ByRuns(most=most), loop, None, ("claim",), told.append)
    assert counted[0].most == runs and told == [1.0]
    assert asked == [
        ("bench", ("claim",)), ("begun", [(0.0, 0.0, 0.0)], None), ("run", (0.0,), 0.2), ("whole", (0.0,), 0.2, beside),
        ("confirmed", 3.0, 0.25, 0.25, beside),
    ]  # fmt: skip
    chosen = best if better else replace(whole, excess=0.25)
    assert found.chosen == chosen and found.loop == (loop, Bench.knobs, chosen.octaves)
    assert found.found == ("K", "τ") and found.start.error == 3.0 and len(found.tried) == 1
    assert found.ranked == ((best, begun) if better else ()) and found.unit == "rad"
    assert (found.floor, found.ceiling, found.what) == (0.25, None, "delay")
    assert found.asked == "the least error, bearing a delay of 0.25 s or more"
    begun, stated = replace(whole, violated=("tracking",)), ByRuns(bears=0.25)
    assert NO_MEASURE in ByRuns().asked(begun, 5e-4, None, "m")
    assert NO_MEASURE not in stated.asked(begun, 0.25, None, "m")
    assert (
        ByRuns("reserve").asked(begun, None, 1e-3, "m")
        == "the most delay borne, at an error of 1 mm or less"
    )


def test_a_bench_has_what_is_asked_and_the_ladder_of_its_claim(monkeypatch):
    asked = []
    note = lambda name: lambda *given: asked.append((name, *given)) or name
    monkeypatch.setattr(search, "error_unit", lambda loop: "rad")
    monkeypatch.setattr(search, "law_of", lambda loop: "law")
    monkeypatch.setattr(search, "knobs", note("knobs"))
    monkeypatch.setattr(search, "ladder", note("ladder"))
    monkeypatch.setattr(search, "judge_of", note("judge"))
    limit = lambda *given: asked.append(("limit", *given)) or SimpleNamespace(up_to=0.7)
    monkeypatch.setattr(search, "limit_of", limit)
    wish = ByRuns("reserve", "sample-time", 0.02, 0.3, ("K",), True)
    counter = search._Counter(9, None)
    found = search._bench(wish, "loop", "scenario", ("claims",), counter)
    assert asked == [
        ("knobs", "law", ("K",), True), ("limit", ("claims",), "sample time", "rad"),
        ("ladder", "loop", "sample time", 0.7, 0.02), ("judge", ("claims",), "sample time", "rad"),
    ]  # fmt: skip
    assert (found.floor, found.ceiling, found.near) == (0.02, 0.3, 0.0)
    assert (found.knobs, found.rungs, found.judge) == ("knobs", "ladder", "judge")
    found.tick.__self__.tell = told = []
    assert found.tick.__self__ is counter and told == []


# ---- ladders and shares --------------------------------------------------------------------------------------------------------
def test_the_longest_delay_that_is_held(monkeypatch):
    """A loop holds so many samples less one; where its own delay is longer there is nothing to scan."""
    end = (bearing.MOST_HELD - 1) * 0.01
    monkeypatch.setattr(bearing, "dead_time", lambda controller: 2 * end)
    loop = SimpleNamespace(period=0.01, controller=None)
    with pytest.raises(InputError, match=f"the scan ends at {end:g} s"):
        bearing.ladder(loop, "delay", 1e9, None)


def test_a_loop_that_bears_the_first_rung_alone(monkeypatch):
    own = Ladder("delay", 0.0, (1.0, 2.0, 3.0, 4.0))
    many = lambda jobs, judge, tick: [Outcome(value <= loop, 0, 0, "") for loop, value in jobs]
    monkeypatch.setattr(bearing, "run_many", many)
    monkeypatch.setattr(Ladder, "job", lambda self, loop, scenario, value: (loop, value))
    assert borne(own, [1.5, 1.0, 0.9], None, None, None) == [1.0, 1.0, 0.0]


def test_a_search_tells_how_far_it_is(monkeypatch):
    """From none on, whatever share the search is at."""
    told = []
    monkeypatch.setattr(by_runs, "_wish", lambda options, case: wish)
    monkeypatch.setattr(by_runs, "innermost", lambda law: law)
    monkeypatch.setattr(by_runs, "knobs", lambda *given: None)

    class Shown:
        def __enter__(self):
            return lambda *given: told.append(given)

        def __exit__(self, *gone):
            return False

    monkeypatch.setattr(by_runs, "terminal", SimpleNamespace(progress=lambda on: Shown()))
    monkeypatch.setattr(by_runs, "located", lambda section, key: Shown())
    found = SimpleNamespace(met=True)
    wish = SimpleNamespace(free=(), each=False, tune=lambda *given: given[3](0.25) or found)
    root = SimpleNamespace(value={"plant": None})
    case = SimpleNamespace(
        root=root, controller=None, loop=None, scenario=None, claims=None, located=Shown
    )
    options = SimpleNamespace(quiet=True, write="", report="")
    assert by_runs.tune_by_runs(options, case, None) == 0
    assert told == [(0.0, "tuning"), (0.25, "tuning")]
