"""A compass search and a ladder of delays, step by step, on points and loops whose outcomes are written down."""

import math
from types import SimpleNamespace

import pytest

from controllers.gain_search import bearing, search
from controllers.gain_search.bearing import Bracket, Ladder, _octaves, borne, climbed, ladder
from controllers.gain_search.knobs import Knob, _of, _times, rounded
from controllers.gain_search.point import Point
from controllers.gain_search.search import (
    _confirmed,
    _Counter,
    _moved,
    _Search,
    _with_limits,
    better,
)
from workbench.contract.errors import InputError
from workbench.verification.practical.limits.scanned import Outcome


def point(error=1.0, bears=1.0, excess=0.0, octaves=(0.0,), violated=()):
    return Point(octaves, {}, error, 0.0, bears, violated, excess)


# ---- what is better -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "one, other, error, reserve, balanced",
    [
        (point(0.9), point(), True, True, True),
        (point(1.1), point(), False, False, False),
        (point(bears=1.1), point(), True, True, True),
        (point(0.9, 0.8), point(), True, False, False),
        (point(0.8, 0.9), point(), True, False, True),
        (point(1.1, 1.2), point(), False, True, True),
        (point(0.991), point(), False, False, False),
        (point(0.989), point(), True, True, True),
        (point(0.991, 1.1), point(), True, True, True),
        (point(9.0, excess=0.1), point(excess=0.2), True, True, True),
        (point(0.1, excess=0.2), point(excess=0.1), False, False, False),
        (point(0.5, excess=math.inf), point(excess=math.inf), False, False, False),
        (point(math.inf, excess=math.inf), point(), False, False, False),
    ],
)
def test_what_is_better(one, other, error, reserve, balanced):
    """Less is missed; then error or what is borne by a percent, and where it is alike the other of the two; or their ratio."""
    found = [better(one, other, trade) for trade in ("error", "reserve", "balanced")]
    assert found == [error, reserve, balanced]


@pytest.mark.parametrize(
    "trade, start, floor, ceiling",
    [
        ("error", point(bears=0.3), 0.3, None),
        ("error", point(bears=0.0), 0.01, None),
        ("error", point(bears=0.3, violated=("late",)), 0.01, None),
        ("reserve", point(0.2), None, 0.2),
        ("reserve", point(math.inf), None, None),
        ("balanced", point(0.2, 0.3), None, None),
    ],
)
def test_what_must_be_kept_where_nothing_was_stated(monkeypatch, trade, start, floor, ceiling):
    monkeypatch.setattr(
        search, "replace", lambda bench, **new: SimpleNamespace(**vars(bench) | new)
    )
    rungs = SimpleNamespace(values=(0.01, 0.02))
    bench = SimpleNamespace(
        wish=SimpleNamespace(trade=trade), floor=None, ceiling=None, rungs=rungs
    )
    found = _with_limits(bench, start)
    assert (found.floor, found.ceiling, found.near) == (floor, ceiling, start.bears)
    bench.floor, bench.ceiling = 7.0, 8.0
    found = _with_limits(bench, start)
    assert (found.floor, found.ceiling) == (7.0, 8.0)


# ---- a compass ----------------------------------------------------------------------------------------------------------------
class Bench:
    """Errors as a function of octaves; generations that were asked for."""

    def __init__(self, error, trade="error"):
        self.error, self.wish, self.asked = error, SimpleNamespace(trade=trade), []

    def points(self, many):
        self.asked.append(list(many))
        return [point(self.error(*octaves), octaves=octaves) for octaves in many]


def compass(error, most=1000, begin=(0.0, 0.0), tell=lambda share: None):
    bench = Bench(error)
    made = _Search(bench, _Counter(most, tell))
    made.points([begin])
    made.run(begin)
    return made, bench


def test_all_helpful_steps_are_taken_at_once_and_then_half_of_them():
    """The least error is at (1.5, −0.5): first (1, −1) by both, then half steps."""
    made, bench = compass(lambda a, b: math.exp(abs(a - 1.5) + abs(b + 0.5)))
    assert bench.asked[1] == [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
    assert bench.asked[2] == [(2.0, 0.0), (1.0, 1.0), (1.0, -1.0)], "what was run is not run again"
    best = min(made.tried.values(), key=lambda p: p.error)
    assert best.octaves == (1.5, -0.5) and best.error == pytest.approx(1.0)


def test_two_steps_that_help_lead_on_together():
    made, bench = compass(lambda a, b: math.exp(abs(a - 2) + abs(b - 2)))
    assert bench.asked[1:3] == [[(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)], [(1.0, 1.0)]]
    assert bench.asked[3][0] == (2.0, 1.0) and bench.asked[4] == [(2.0, 2.0)]


def test_of_both_ways_the_better_one_helps():
    """Up and down help; down more: it alone leads on together with the other knob."""
    _, bench = compass(lambda a, b: {1.0: 0.8, -1.0: 0.5}.get(a, 1.0) * {-1.0: 0.7}.get(b, 1.0))
    assert bench.asked[2] == [(-1.0, -1.0)]


def test_a_search_ends_with_its_budget_and_tells_how_far_it_is():
    told = []
    counter = _Counter(4, told.append)
    for _ in range(5):
        counter.tick()
    assert told == [0.25, 0.5, 0.75, 0.99, 0.99] and counter.spent
    half = _Counter(4, told.append)
    assert not half.spent
    spent = _Counter(1, told.append, done=1)
    bench = Bench(lambda a, b: 1.0 - a)
    made = _Search(bench, spent, {(0.0, 0.0): point()})
    made.run((0.0, 0.0))
    assert made.points([(1.0, 0.0)]) == [] and bench.asked == []


def test_a_knob_ends_at_its_reach():
    """Four octaves, a factor of 16."""
    assert _moved((3.5, -3.5, 0.0), [(0, 1.0), (1, -1.0)]) == (4.0, -4.0, 0.0)
    assert _moved((1.0,), [(0, 0.5), (0, -1.0)]) == (0.5,)


def test_points_are_confirmed_over_the_whole_scenario():
    """The best first, at most six, until two keep what is asked; those that are no better there than the first are left."""
    tried = {(float(k),): point(1.0 - 0.1 * k, octaves=(float(k),)) for k in range(9)}
    asked = []

    def confirmed(whole):
        asked.clear()
        bench = SimpleNamespace(wish=SimpleNamespace(trade="error"))

        def run(one, beside):
            asked.append(one.octaves[0])
            return whole(one)

        bench.whole = run
        return _confirmed(bench, SimpleNamespace(tried=tried), tried[(0.0,)], 2)

    assert [p.octaves for p in confirmed(lambda p: p)] == [(8.0,), (7.0,)] and asked == [8.0, 7.0]
    missed = confirmed(
        lambda p: point(p.error, excess=0.0 if p.octaves[0] < 8 else 0.5, octaves=p.octaves)
    )
    assert [p.octaves for p in missed] == [(7.0,), (6.0,)] and asked == [8.0, 7.0, 6.0]
    none = confirmed(lambda p: point(2.0, octaves=p.octaves))
    assert none == [] and asked == [8.0, 7.0, 6.0, 5.0, 4.0, 3.0]
    turned = confirmed(lambda p: point(0.1 * p.octaves[0] - 0.2, octaves=p.octaves))
    assert [p.octaves for p in turned] == [(7.0,), (8.0,)], (
        "by what they are over the whole scenario"
    )


# ---- the ladder -----------------------------------------------------------------------------------------------------------------
def test_two_rungs_an_octave():
    assert _octaves(1.0, 4.0) == pytest.approx([1, 2**0.5, 2, 2**1.5, 4])
    assert (
        _octaves(1.0, 3.999) == pytest.approx([1, 2**0.5, 2, 2**1.5]) and _octaves(2.0, 1.0) == []
    )


def rungs(what="delay", own=2e-3, up_to=0.02, floor=None, T=0.01):
    with pytest.MonkeyPatch.context() as m:
        m.setattr(bearing, "dead_time", lambda controller: own)
        return ladder(SimpleNamespace(period=T, controller=None), what, up_to, floor)


def test_rungs_of_delays_begin_half_a_sample_beyond_the_own_one():
    found = rungs()
    assert (found.what, found.own) == ("delay", 2e-3)
    assert found.values == pytest.approx([2e-3 + 5e-3 * 2 ** (k / 2) for k in range(4)])
    assert rungs(floor=0.011).values[2] == 0.011 and rungs(floor=0.03).values[-1] == 0.03
    assert 1e-3 not in rungs(floor=1e-3).values
    longest = rungs(up_to=1e9, T=0.01).values[-1]
    assert longest <= (bearing.MOST_HELD - 1) * 0.01 < 2 * longest
    with pytest.raises(
        InputError, match="own delay is 0.002 s already, and the scan ends at 0.006 s"
    ):
        rungs(up_to=6e-3)
    assert rungs(T=None).values[0] == pytest.approx(2e-3 + 5e-4)


def test_rungs_of_sample_times_begin_above_the_own_one():
    found = rungs("sample time", up_to=0.04)
    assert found.own == 0.01 and found.values == pytest.approx(
        [0.01 * 2 ** (k / 2) for k in (1, 2, 3, 4)]
    )
    assert rungs("sample time", up_to=0.02, floor=0.05).values[-1] == 0.05


@pytest.mark.parametrize("near, k", [(0.0, 2), (1.0, 0), (2.5, 1), (4.0, 3), (9.0, 3)])
def test_the_rung_that_a_search_begins_with(near, k):
    assert Ladder("delay", 0.0, (1.0, 2.0, 3.0, 4.0)).index(near) == k


def test_a_run_with_another_delay_or_sample_time(monkeypatch):
    asked = []
    monkeypatch.setattr(bearing, "variant", lambda loop, scenario, **given: asked.append(given))
    monkeypatch.setattr(bearing, "queue", lambda samples: ("queue", round(samples, 6)))
    loop = SimpleNamespace(period=0.01)
    Ladder("sample time", 0.01, ()).job(loop, None, 0.02)
    Ladder("delay", 0.0, ()).job(loop, None, 0.025)
    Ladder("delay", 0.0, ()).job(SimpleNamespace(period=None), None, 0.025)
    assert asked == [
        {"T_s": 0.02},
        {"delay": 0.025, "capacity": ("queue", 2.5)},
        {"delay": 0.025, "capacity": ("queue", 25.0)},
    ]


@pytest.mark.parametrize(
    "bears, first, asked",
    [
        (9, 4, [4, 5, 7, 9]),
        (4, 4, [4, 5]),
        (6, 4, [4, 5, 7, 6]),
        (3, 4, [4, 3]),
        (1, 4, [4, 3, 1, 2]),
        (-1, 4, [4, 3, 1, 0]),
        (0, 0, [0, 1]),
    ],
)
def test_a_bracket_grows_from_its_first_rung_and_is_halved(bears, first, asked):
    bracket = Bracket(10, first)
    seen = []
    while bracket.open:
        k = bracket.next()
        seen.append(k)
        bracket.told(k, k <= bears)
    assert seen == asked and bracket.low == bears


def side_by_side(monkeypatch, run):
    monkeypatch.setattr(
        bearing,
        "run_many",
        lambda jobs, judge, tick: [Outcome(run(*job), 0.0, 0.0, "") for job in jobs],
    )
    monkeypatch.setattr(Ladder, "job", lambda self, loop, scenario, value: (loop, value))


def test_what_loops_bear_side_by_side(monkeypatch):
    jobs = []

    def run(loop, value):
        jobs.append((loop, value))
        return value <= loop

    side_by_side(monkeypatch, run)
    own = Ladder("delay", 0.0, (1.0, 2.0, 3.0, 4.0))
    assert borne(own, [2.5, 0.5, 9.0], None, None, None, 2.0) == [2.0, 0.0, 4.0]
    assert jobs[:3] == [(2.5, 2.0), (0.5, 2.0), (9.0, 2.0)]
    assert borne(own, [], None, None, None) == []


@pytest.mark.parametrize(
    "fails, good, many",
    [((3.0,), 2.0, 4), ((1.0,), 0.0, 2), ((), 5.0, 6), ((2.0, 1.0), 0.0, 2), ((5.0,), 4.0, 6)],
)
def test_every_rung_is_climbed_up_to_the_first_that_fails(monkeypatch, fails, good, many):
    """Two at a time, however many come back further up."""
    jobs = []
    side_by_side(monkeypatch, lambda loop, value: jobs.append(value) or value not in fails)
    own = Ladder("delay", 0.0, (1.0, 2.0, 3.0, 4.0, 5.0))
    assert climbed(own, None, None, None, None, 2) == good and len(jobs) == min(many, 5)


# ---- what is turned --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value, factor, entry, turned",
    [
        (10, 1.26, None, 13),
        (10, 0.01, None, 1),
        (1.23456, 1.0, None, 1.23456),
        (1.23456, 2.0, None, 2.47),
        ((1.0, 2.0, 0.0), 2.0, None, (2.0, 4.0, 0.0)),
        ((1.0, 2.0, 3.0), 2.0, 1, (1.0, 4.0, 3.0)),
        ((1.23456, 2.0), 1.0, None, (1.23456, 2.0)),
    ],
)
def test_a_gain_times_a_factor(value, factor, entry, turned):
    assert _times(value, factor, entry) == turned


def test_knobs_of_a_gain():
    assert _of("K", (1.0, 0.0, 2.0), True) == [Knob("K", 0), Knob("K", 2)]
    assert _of("K", (1.0, 0.0), False) == [Knob("K")] and _of("K", (1.0,), True) == [Knob("K")]
    assert (
        _of("N", 5, True) == [Knob("N")] and Knob("K", 2).name == "K[3]" and Knob("K").name == "K"
    )
    assert (rounded(123456.0), rounded(-0.00123456)) == (123000.0, -0.00123)
