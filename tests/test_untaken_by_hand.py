"""Where runs beyond an edge begin, what is asked of them and what is said: edges and outcomes by hand, no loop is simulated."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.practical.branches import untaken as module
from workbench.verification.practical.branches.untaken import MEND, WAY, _ended, _Search, untaken
from workbench.verification.practical.branches.ways import COMMANDS as AT_ONCE
from workbench.verification.practical.branches.ways import GAINS, Edge
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.returning import BACK, Judged, Return
from workbench.verification.practical.starts import Start
from workbench.verification.practical.switches.margins import Extent

LEADS = "what the law remembers may lead there"
START = np.array([0.5, -3.0])


def extent(*spans):
    low, high = np.array(spans, float).T
    return Extent(low, high)


SEEN = extent((0.2, 4.0), (-5.0, -0.3))


def returned(name="a", word="back", largest=1.0, last=0.01, moved=True, tolerance=0.0, **more):
    signal = Judged(name, (name,), "m", tolerance, **more)
    return Return(signal, word, largest, last, 1.0, 1.0, moved)


def outcome(*found, gone="", unrest="", compared=SEEN):
    return Outcome(0.0, 0.0, "", gone, unrest, found, compared=compared)


BACK_AGAIN, AWAY = outcome(returned()), outcome(returned(word="staying"))


class Law:
    words = staticmethod(lambda k, run: f"switch {k}")
    is_condition = staticmethod(lambda k: False)
    users = False

    def __init__(self, remembers=False):
        self.remembers = lambda run: remembers


@pytest.fixture
def search(monkeypatch):
    """A search at START = (a, b), on a machine that goes wherever it is asked up to b = 100; `tried` says what comes of a start."""
    monkeypatch.setattr(module, "stands", lambda run, start: True)
    monkeypatch.setattr(module, "scenario_from", lambda run, start, base: start)

    def reached(loop, start):
        off = [start.amounts.get(name, 0.0) for name in "ab"]
        return np.minimum(START + off, [np.inf, 100.0])

    monkeypatch.setattr(module, "start_state", reached)
    states = tuple(SimpleNamespace(name=name) for name in "ab")
    log = SimpleNamespace(array=lambda name: np.array([START["ab".index(name)], 77.0]))
    loop = SimpleNamespace(plant=SimpleNamespace(states=states))
    run = SimpleNamespace(log=log, loop=loop, scenario=None)
    made = _Search(run, run, Law(), [outcome(returned(largest=4.0))], None, SEEN)
    made.asked = []
    return made


def trying(search, *answers):
    """The search with these outcomes of what it tries, one after the other."""
    left = iter(answers)

    def tried(start):
        search.asked.append(dict(start.amounts))
        return next(left)

    search.tried = tried
    return search


def edge(a=1.0, b=0.0, switch=0, change=GAINS):
    return Edge(switch, np.array([a, b]), change)


# ---- where is gone to ------------------------------------------------------------------------------------------------------
def test_other_gains_are_gone_to_from_three_places(search):
    assert trying(search, *[BACK_AGAIN] * 3).gone_to(edge(2.0, -1.0)) == ""
    asked = [(one["a"], one["b"]) for one in search.asked]
    assert asked == [pytest.approx((2.0 * f, -f)) for f in (1.1, 1.7, 3.0)]
    assert [one.amounts for one in search.starts] == search.asked


@pytest.mark.parametrize("switch, other", [(0, (-0.1, 4.0)), (1, (-5.0, 0.1))])
def test_a_jump_is_gone_to_until_a_run_took_its_other_side(search, switch, other):
    spans = [(0.2, 4.0), (-5.0, -0.3)]
    spans[switch] = other
    took = outcome(returned(), compared=extent(*spans))
    one = edge(switch=switch, change=AT_ONCE)
    assert trying(search, BACK_AGAIN, took).gone_to(one) == "" and len(search.asked) == 2
    assert search.seen.low[switch] == min(spans[switch][0], SEEN.low[switch])
    assert switch not in search.seen.one_sided() and search.at_first is SEEN


def test_other_gains_are_gone_to_the_end_though_a_run_took_them(search):
    took = outcome(returned(), compared=extent((-0.1, 4.0), (-5.0, -0.3)))
    assert trying(search, *[took] * 3).gone_to(edge()) == "" and len(search.asked) == 3


def test_a_law_whose_runs_say_nothing_of_its_switches(search):
    silent = outcome(returned(), compared=None)
    jump = edge(change=AT_ONCE)
    assert trying(search, *[silent] * 3).gone_to(jump) == "" and len(search.asked) == 3
    assert search.seen.low.tolist() == SEEN.low.tolist()
    assert not search._took(outcome(compared=extent((-1, 4), (-5, 1))), None)


@pytest.mark.parametrize("b, count", [(50.0, 2), (90.0, 1), (99.0, 1), (102.0, 1), (104.0, 0)])
def test_beyond_the_end_of_a_stroke_nothing_is_asked(search, b, count):
    """b begins at −3 and ends at 100: 103 off, to a hundredth. 1.7 times 50 is within, three times is not."""
    assert trying(search, *[BACK_AGAIN] * 3).gone_to(edge(0.0, b)) == ""
    assert len(search.asked) == count
    if count == 1:
        assert search.asked[0]["b"] == pytest.approx((1.1 if b == 90.0 else 1.01) * b)


def test_memory_alone_is_told_without_a_run(search):
    said = search.gone_to(edge(0.0, change=AT_ONCE))
    near = "no run took the other side of switch 0 (they came as near as 0.2)"
    assert said == f"{near}, where {AT_ONCE}; {LEADS}; {MEND}"


# ---- what keeps it away -------------------------------------------------------------------------------------------------------
TOOK = outcome(returned(word="staying"), compared=extent((-0.1, 4.0), (-5.0, -0.3)))


@pytest.mark.parametrize(
    "before, places, told",
    [
        ([BACK_AGAIN], [0.9], True),
        ([AWAY, BACK_AGAIN], [0.9, 0.5], True),
        ([AWAY, AWAY], [0.9, 0.5], False),
        ([TOOK], [0.9], True),
        ([AWAY, TOOK], [0.9, 0.5], True),
    ],
)
def test_an_edge_keeps_the_loop_away_where_it_comes_back_from_before_it(
    search, before, places, told
):
    """Beyond it does not come back from 1.7 of the way; `TOOK`: the edge is nearer than it seemed."""
    said = trying(search, BACK_AGAIN, AWAY, *before).gone_to(edge(2.0))
    assert [one["a"] / 2 for one in search.asked] == pytest.approx([1.1, 1.7, *places])
    assert ("a does not come back from a start with a +3.4" in said) is told and bool(said) is told
    assert len(search.starts) == 1, "what does not come back leads nowhere else"


def test_where_the_machine_cannot_be_before_an_edge_nothing_is_said(search, monkeypatch):
    can_be = lambda start: start.amounts["a"] >= 1.0
    monkeypatch.setattr(search, "_can_be", can_be, raising=False)
    assert trying(search, AWAY, BACK_AGAIN).gone_to(edge()) == "" and len(search.asked) == 1


def test_how_it_ended_in_words():
    assert _ended(AWAY) == "a does not come back"
    assert _ended(outcome(gone="it fell over")) == "it fell over,"
    assert _ended(outcome(unrest="it swings")) == "it swings,"


# ---- what coming back is ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "one, back",
    [
        (outcome(returned(last=0.39)), True),  # BACK of 4 is 0.4
        (outcome(returned(last=0.41)), False),
        (outcome(returned(last=0.41, tolerance=0.5)), True),
        (outcome(returned(last=0.51, tolerance=0.5)), False),
        (outcome(returned(word="returning")), False),
        (outcome(returned(word="staying", moved=False)), True),
        (outcome(returned(word="staying", pressure=True)), True),
        (outcome(returned(word="growing", pressure=True)), False),
        (outcome(returned("other", largest=2.0, last=0.19)), True),
        (outcome(returned("other", largest=2.0, last=0.21)), False),
        (outcome(returned(), returned("b", "staying")), False),
        (outcome(returned(), gone="it fell over"), False),
        (outcome(returned(), unrest="it swings"), False),
        (outcome(), True),
    ],
)
def test_a_loop_is_back_where_every_signal_is_as_near_as_from_other_starts(search, one, back):
    """Near: BACK of the most that other starts were off, or where none was off in it, of what this one was."""
    before = returned("b", largest=9.0), returned(largest=2.0)
    search.outcomes = [outcome(returned(largest=4.0)), outcome(*before), outcome()]
    assert BACK == 0.1 and search._is_back(one) is back


# ---- what was seen before ------------------------------------------------------------------------------------------------------
def test_a_switch_that_a_run_from_elsewhere_took_is_not_gone_to(search):
    search.seen = extent((-1.0, 4.0), (-5.0, -0.3))
    assert search._was_seen(edge(switch=0)) and not search._was_seen(edge(switch=1))
    assert not search._was_seen(edge(2.0, switch=0)), "another edge of a switch that was asked for"


def test_a_place_is_gone_to_once(search):
    """The same within a hundredth of each state; turns have no switch; memory has no place."""
    assert not search._was_seen(edge(1.0, 2.0))
    assert search._was_seen(edge(1.005, 1.99, switch=None))
    assert not search._was_seen(edge(1.005, 2.05, switch=1))
    assert not search._was_seen(edge(1.0, 0.0, switch=1))
    assert search._was_seen(edge(1.0, 0.0, switch=None))
    assert not search._was_seen(edge(0.0, 0.0)) and not search._was_seen(edge(0.0, 0.0))
    assert not search._was_seen(edge(0.0, 2.0, switch=None))


# ---- where the machine can be ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "amounts, there, can",
    [
        ({"a": 2.0}, (2.5, -3.0), True),
        ({"a": 2.0}, (2.515, -3.0), True),
        ({"a": 2.0}, (2.525, -3.0), False),
        ({"a": -2.0}, (-1.485, -3.0), True),
        ({"a": -2.0}, (-1.475, -3.0), False),
        ({"a": 2.0}, (2.5, 50.0), True),  # of b nothing is asked: where constraints put it
        ({"a": 2.0, "b": 1.0}, (2.5, -2.05), False),
        ({"a": 2.0, "b": 0.0}, (2.5, 50.0), True),
    ],
)
def test_a_start_is_reached_to_a_hundredth_of_what_is_asked(
    search, monkeypatch, amounts, there, can
):
    monkeypatch.setattr(module, "start_state", lambda loop, start: np.array(there))
    assert search._can_be(Start(amounts)) is can


def test_the_machine_stands_at_every_twelfth_of_the_way(search, monkeypatch):
    parts = []
    monkeypatch.setattr(module, "stands", lambda run, start: parts.append(start.amounts) or True)
    assert search._can_be(Start({"a": 12.0, "b": -24.0}))
    assert [one["a"] for one in parts] == pytest.approx(range(1, 13)) and len(WAY) == 12
    assert [one["b"] for one in parts] == pytest.approx(range(-2, -25, -2))


# ---- where memory leads ----------------------------------------------------------------------------------------------------------
def test_runs_from_beyond_edges_are_asked_where_their_memory_leads(search, monkeypatch):
    """Each over twice the scenario, from its own start; what one leads to is told."""
    search.starts = [Start({"a": 1.1}), Start({"b": 2.0})]
    search.run.scenario = SimpleNamespace(length=lambda: 3.0)
    over = []
    monkeypatch.setattr(
        module, "undisturbed", lambda run, t: over.append(t) or SimpleNamespace(scenario="longer")
    )
    monkeypatch.setattr(module, "scenario_from", lambda run, start, base: (base, start.amounts))
    monkeypatch.setattr(module, "simulated", lambda loop, scenario: scenario)
    asked = []

    def leading(made, law, seen):
        asked.append((made, law is search.law, seen is search.seen))
        return [edge(0.0, switch=1, change=AT_ONCE)] if "b" in made[1] else []

    monkeypatch.setattr(module, "along_memory", leading)
    assert list(search.led_to()) == []
    search.law = Law(remembers=True)
    (said,) = search.led_to()
    assert asked == [(("longer", {"a": 1.1}), True, True), (("longer", {"b": 2.0}), True, True)]
    assert over == [6.0, 6.0]
    assert "other side of switch 1 (they came as near as 0.3), where" in said and LEADS in said


# ---- all of it -------------------------------------------------------------------------------------------------------------------
def told(monkeypatch, search, edges, turned, hosted, *answers, remembers=False, led=()):
    """What is said of a law with these edges and turns."""
    run = search.run
    run.loop.hosted = hosted
    trying(search, *answers)
    monkeypatch.setattr(module, "longest", lambda run: run)
    monkeypatch.setattr(module, "extent_of", lambda run: extent((0.1, 4.0), (-5.0, -0.3)))
    monkeypatch.setattr(module, "outwards", lambda run, spread, law, seen: iter(edges))
    monkeypatch.setattr(module, "turns", lambda run, spread, law: turned)
    monkeypatch.setattr(_Search, "led_to", lambda self: iter(led))
    law = Law(remembers)
    law.users = hosted
    return untaken(run, 0.02, law, search.outcomes, search.tried)


def test_the_first_edge_that_keeps_the_loop_away_is_told(monkeypatch, search):
    edges = [edge(1.0), edge(2.0, switch=1), edge(5.0)]
    said = told(monkeypatch, search, edges, [], False, *[BACK_AGAIN] * 3, AWAY, BACK_AGAIN)
    assert "other side of switch 1 (they came as near as 0.3)" in said and "a +2.2" in said
    assert told(monkeypatch, search, [], [], False) == ""
    assert told(monkeypatch, search, [], [], False, led=["it leads there"]) == "it leads there"


def test_turns_are_asked_of_users_laws(monkeypatch, search):
    turned = [edge(3.0, switch=None, change="the law fails")]
    assert told(monkeypatch, search, [], turned, False) == ""
    said = told(monkeypatch, search, [], turned, True, AWAY, BACK_AGAIN)
    ending = "a does not come back from a start with a +3.3"
    assert said == f"no run came as far as a +3, where the law fails; {ending}; {MEND}"
