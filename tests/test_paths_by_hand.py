"""How far paths go and what a loop does where its path begins, from numbers written down: no run."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Hold, Scenario, Sine, Spline, Waypoints
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.observed import path as module
from workbench.verification.observed import rest_on_path as resting
from workbench.verification.observed import settled_picture as picture
from workbench.verification.observed.tail import Rest
from workbench.verification.run import Run
from workbench.verification.scales import Scale


# ---- the way of a tool ----------------------------------------------------------------------
def asked_of(monkeypatch, tool, points=None):
    """What `tool_span` asks a demand for; tool: instants (N,) → positions (N, 3), or None."""
    seen = []

    def demand(loop, scenario, x0):
        held = getattr(scenario.reference, "point", None)
        at = (lambda t: np.tile([1.0, 2.0, 3.0], (len(t), 1))) if held == "start" else tool

        def desired(t):
            seen.append(t)
            return at(t)

        reference = None if points is None else SimpleNamespace(points=points)
        return SimpleNamespace(desired_tool=desired, reference=reference)

    monkeypatch.setattr(module, "Demand", demand)
    monkeypatch.setattr(module, "start_state", lambda loop, scenario: None)
    return seen


def circling(t):
    return np.column_stack([0.1 * np.sin(t), 0.7 * np.cos(2 * t), 0.0 * t + 5.0])


def test_a_tool_goes_half_of_its_widest_way_from_the_middle(monkeypatch):
    seen = asked_of(monkeypatch, circling)
    path = Waypoints("joint", ((0.0,), (0.1,)), 20.0)
    assert module.tool_span(None, Scenario(20.0, path)) == pytest.approx(0.7, rel=1e-3)
    assert (len(seen[0]), seen[0][0], seen[0][-1]) == (200, 0.0, 20.0)


@pytest.mark.parametrize("duration, last", [(1.0, 4.5), (9.0, 9.0)])
def test_of_a_sine_a_whole_period_behind_its_ramp_is_looked_at(monkeypatch, duration, last):
    seen = asked_of(monkeypatch, circling)
    sine = Sine("joint", "start", (0.1,), 0.4, ramp=2.0)
    module.tool_span(None, Scenario(duration, sine))
    assert seen[0][-1] == last


def test_a_tool_that_is_held_goes_from_where_it_starts(monkeypatch):
    held = lambda t: np.tile([1.1, 1.6, 3.2], (len(t), 1))
    seen = asked_of(monkeypatch, held)
    found = module.tool_span(None, Scenario(3.0, Hold("joint", (0.3,))))
    assert found == pytest.approx(0.4) and [len(t) for t in seen] == [200, 1]


def test_a_tool_whose_way_nobody_knows_goes_nowhere(monkeypatch):
    asked_of(monkeypatch, lambda t: None)
    path = Scenario(3.0, Sine("joint", "start", (0.1,), 0.4))
    assert module.tool_span(None, path) == 0.0
    course = Spline("joint", (0.0, 1.0), ((0.0,), (0.1,)))
    assert module.tool_span(None, Scenario(3.0, course)) == 0.0

    def refuses(t):
        raise InputError("out of reach")

    asked_of(monkeypatch, refuses)
    assert module.tool_span(None, path) == 0.0


# ---- the way of a path ------------------------------------------------------------------------
def test_a_path_goes_as_far_as_it_says(monkeypatch):
    points = np.array([[1.0, 5.0], [1.5, 4.2], [0.8, 4.9]])
    asked_of(monkeypatch, None, points)
    assert module.span(None, Scenario(1.0, Sine("output", "start", (-0.3, 0.2), 0.4))) == 0.3
    way = Waypoints("output", ((1.5, 4.2), (0.8, 4.9)), 2.0)
    assert module.span(None, Scenario(1.0, way)) == pytest.approx(0.8)
    assert module.span(None, Scenario(1.0, Hold("output", (1.5, 4.2)))) == pytest.approx(0.8)
    assert module.span(None, None) == module.span(None, Scenario(1.0, None)) == 0.0


def test_a_path_nobody_can_demand_goes_nowhere(monkeypatch):
    asked_of(monkeypatch, None)
    assert module.span(None, Scenario(1.0, Hold("output", (1.5,)))) == 0.0

    def refuses(*_):
        raise InputError("out of reach")

    monkeypatch.setattr(module, "Demand", refuses)
    assert module.span(None, Scenario(1.0, Hold("output", (1.5,)))) == 0.0


@pytest.mark.parametrize(
    "own, tool, space, size",
    [
        (None, True, "joint", 7.0),
        (None, True, "output", 90.0),
        (None, False, "joint", 90.0),
        (8.0, False, "joint", 80.0),
        (10.0, False, "joint", 90.0),
        (0.5, True, "joint", 5.0),
    ],
)
def test_a_path_is_measured_where_its_error_is(monkeypatch, own, tool, space, size):
    """A tool's error by the way of the tool; at most ten lengths of a machine that states one."""
    monkeypatch.setattr(module, "tool_span", lambda *_: 7.0)
    monkeypatch.setattr(module, "span", lambda *_: 90.0)
    monkeypatch.setattr(module, "error_unit", lambda loop: "m")
    scale = None if own is None else Scale(own, "its stroke")
    monkeypatch.setattr(module, "scales", lambda plant: SimpleNamespace(of_unit=lambda u: scale))
    loop = SimpleNamespace(plant=SimpleNamespace(has_tool=tool))
    assert module.path_size(loop, Scenario(1.0, Hold(space, (0.3,)))) == pytest.approx(size)
    nothing = 90.0 if own is None else min(90.0, 10 * own)
    assert module.path_size(loop, None) == module.path_size(loop, Scenario(1.0)) == nothing


LOOP = SimpleNamespace(hosted=False, plant=SimpleNamespace(no_other_starts=""))


# ---- rest on a path that never rests ----------------------------------------------------------
def moving(monkeypatch, pushed=False, timed=False, reference=None):
    monkeypatch.setattr(resting, "pushed", lambda run: pushed)
    monkeypatch.setattr(resting, "moves_in_time", lambda run: timed)
    monkeypatch.setattr(resting, "calmed", lambda run: run)
    signal = SimpleNamespace(unit="m")
    return SimpleNamespace(
        demand=SimpleNamespace(reference=reference or Sine("output", "start", (1.0,), 0.25)),
        log=SimpleNamespace(signal=lambda name: signal, time=np.arange(4.0)),
        scenario=Scenario(3.0),
        loop=LOOP,
    )


def rest(word="restless", width=4e-3, frequency=2.5, name="s"):
    return Rest(name, width, word, frequency)


def standing(monkeypatch):
    """The loop that is held where its path begins."""
    plant = SimpleNamespace(pressure_names=())
    there = SimpleNamespace(loop=SimpleNamespace(plant=plant), scenario=Scenario(1.0))
    monkeypatch.setattr(resting, "held_at", lambda run, row: there if row == 0 else None)
    return there


FAR = " from a start 3 times as far off"
ENDS = Waypoints("output", ((0.0,), (0.1,)), 2.0)


@pytest.mark.parametrize(
    "near, far, words",
    [(None, None, None), (rest(), None, ""), (None, rest(), FAR), (rest(), rest(name="t"), "")],
)
@pytest.mark.parametrize("hosted", [False, True])
def test_a_loop_that_hunts_where_it_is_held(monkeypatch, near, far, words, hosted):
    """From starts as far off as others, or, where it comes to rest, from some that are further off; of a called law one each; where
    it begins, and from those further off where it turns."""
    own, there = moving(monkeypatch), standing(monkeypatch)
    own.loop = SimpleNamespace(hosted=hosted, plant=LOOP.plant)
    found = {1.0: near, 3.0: far}
    asked = []

    def widest(run, at, spread, runs, floor, longest, further):
        assert (spread, longest) == (0.02, 30.0)
        asked.append(runs)
        return found[further] if at is there else None

    turned = lambda run, rows, ask, here: asked.append((list(rows), here, ask(3))) or ""
    monkeypatch.setattr(resting, "at_turns", turned)
    monkeypatch.setattr(resting, "hunting_from", widest)
    said = resting.hunts_at_rest(own, 1e-3)
    swing = f"s swings by 2 mm, 2.5 Hz: {resting.MEND}"
    hunts = f"its path never rests; held where it begins{words}, {swing}"
    assert said == ("" if words is None else hunts)
    begins = ([1, 1] if hosted else [6, 2])[: 1 if near else 2]
    assert asked == (begins if said else [*begins, ([0, 1, 2, 3], 0, None)])
    own.loop = SimpleNamespace(hosted=hosted, plant=SimpleNamespace(no_other_starts="no pose"))
    assert resting.hunts_at_rest(own, 1e-3) == ""


def test_a_loop_that_hunts_where_its_path_turns(monkeypatch):
    """It is told with the instant at which it is there; a path that ends is not asked for."""
    own = moving(monkeypatch)
    monkeypatch.setattr(resting, "held_at", lambda run, row: SimpleNamespace(row=row))
    monkeypatch.setattr(resting, "at_turns", lambda run, rows, ask, here: ask(2) and ask(3))
    found = lambda run, there, spread, *more, **known: rest(
        "restless" if there.row == 3 else "still"
    )
    monkeypatch.setattr(resting, "hunting_from", found)
    assert resting.hunts_at_rest(own, 1e-3) == ""
    monkeypatch.setattr(resting, "at_turns", lambda run, rows, ask, here: ask(2) or ask(3))
    said = resting.hunts_at_rest(own, 1e-3)
    assert f"held where it is at t = 3 s{FAR}, s swings by 2 mm, 2.5 Hz: {resting.MEND}" in said
    assert resting.hunts_at_rest(moving(monkeypatch, pushed=True, reference=ENDS), 1e-3) == ""


@pytest.mark.parametrize(
    "reference, pushed, timed, asked",
    [
        (None, False, False, True),
        (None, False, True, False),
        (None, True, False, True),
        (ENDS, False, False, False),
        (ENDS, True, False, True),
        (Hold("output", (0.0,)), False, False, False),
        (Hold("output", (0.0,)), True, False, True),
        (Hold("output", (0.0,)), True, True, False),
    ],
)
def test_what_keeps_a_loop_from_rest_is_its_path_or_a_push(
    monkeypatch, reference, pushed, timed, asked
):
    """A plant that moves in time cannot be calmed; of a push the sentence says that it is left out."""
    own = moving(monkeypatch, pushed, timed, reference)
    standing(monkeypatch)
    monkeypatch.setattr(resting, "hunting_from", lambda *given, **known: rest())
    said = resting.hunts_at_rest(own, 1e-3)
    moves = "what pushes it never rests; held where it begins without it"
    moves = moves if pushed else "its path never rests; held where it begins"
    assert said == (f"{moves}, s swings by 2 mm, 2.5 Hz: {resting.MEND}" if asked else "")


def test_a_calmed_run_keeps_the_pushes_that_end():
    wave = Sine("output", (0.0,), (5.0,), 0.3)
    shove = Waypoints("output", ((0.0,), (5.0,)), 1.0)
    pushes = {"F": wave, "G": 3.0, "H": shove}
    made = Run(None, Scenario(2.0, disturbances=pushes), None, demanded="known")
    calm = resting.calmed(made)
    assert calm.scenario.disturbances == {"G": 3.0, "H": shove} and calm.demanded is None
    assert made.scenario.disturbances == pushes


@dataclass(frozen=True)
class Begun:
    """A start by its number, and how much of it is left."""

    which: object
    share: float = 1.0

    def scaled(self, factor):
        return Begun(self.which, factor * self.share)


def seen(end, errors):
    """What a run showed."""
    log = SimpleNamespace(status=SimpleNamespace(completed=end != "diverged"))
    return SimpleNamespace(end=end, errors=errors, log=log)


def held(monkeypatch, looks, duration=3.0, longest=30.0):
    """What `hunting_from` asks for, of two starts: [(start, length of the run)] a round, and from when on errors are looked at.

    looks: a round: what both runs show, each (end, rests). How much of a start is left is told by the length of its run.
    """
    own, there = moving(monkeypatch), standing(monkeypatch)
    own.scenario = Scenario(duration)
    asked = []
    rounds = iter(looks)
    monkeypatch.setattr(
        resting, "drawn", lambda run, n, spread, amounts: [Begun(k) for k in range(n)]
    )
    monkeypatch.setattr(resting, "until_its_end", lambda seen: seen)
    monkeypatch.setattr(resting, "displaced", lambda run, spread: [])
    monkeypatch.setattr(resting, "sizes", lambda run, spread: {})
    monkeypatch.setattr(resting, "outermost", lambda run, amounts: [])
    monkeypatch.setattr(
        resting,
        "scenario_from",
        lambda run, start, base: (start.which, base.duration * start.share),
    )

    def run_many(jobs, judge, watched=True):
        asked.append([scenario for loop, scenario in jobs if loop is own.loop])
        every = dict(enumerate(next(rounds)))
        shown = [every[scenario[0]] for _, scenario in jobs]
        return [judge(seen(end, rests)) for end, rests in shown]

    monkeypatch.setattr(resting, "run_many", run_many)
    look = lambda run, after, floor: asked.append((after, floor)) or run.errors
    monkeypatch.setattr(resting, "rests", look)
    return resting.hunting_from(own, there, 0.07, 2, 1e-3, longest), asked


@pytest.mark.parametrize(
    "hosted, asked", [(False, ["drawn", "at rest", {"q": 0.07}]), (True, ["drawn"])]
)
def test_positions_alone_and_everything_are_off_in_further_starts(monkeypatch, hosted, asked):
    """Not of a law that is called from Python, where a run takes seconds."""
    own, there = moving(monkeypatch), standing(monkeypatch)
    own.scenario, own.loop = Scenario(3.0), SimpleNamespace(hosted=hosted)
    monkeypatch.setattr(resting, "drawn", lambda run, n, spread, amounts: [Begun("drawn")])
    monkeypatch.setattr(resting, "displaced", lambda run, amounts: [Begun("at rest")])
    monkeypatch.setattr(resting, "sizes", lambda run, spread: {"q": spread})
    monkeypatch.setattr(resting, "outermost", lambda run, amounts: [Begun(amounts)])
    monkeypatch.setattr(resting, "scenario_from", lambda run, start, base: start.which)
    started = []
    monkeypatch.setattr(
        resting, "run_many", lambda jobs, judge, watched: started.extend(jobs) or []
    )
    assert resting.hunting_from(own, there, 0.07, 1, 1e-3, longest=1.0) is None
    assert [start for _, start in started] == asked


@pytest.mark.parametrize(
    "end, word, found",
    [
        ("", "still", "still"),
        ("out of its stroke", "still", None),  # a push that went too far
        ("out of its stroke", "restless", "restless"),
        ("diverged", "restless", "restless"),
        ("diverged", "decaying", None),
    ],
)
def test_a_swing_that_leaves_its_stroke_and_lasts_is_one(monkeypatch, end, word, found):
    """Until it leaves the stroke it has not swung for long enough; one that did not get to its end is seen until then only."""
    begin = 0.0 if end == "diverged" else 8.0
    looked = lambda run, after, floor: run.errors if after == begin else []
    monkeypatch.setattr(resting, "rests", looked)
    monkeypatch.setattr(resting, "until_its_end", lambda run: run)
    most = resting._moving(seen(end, [rest(word)]), 8.0, 1e-3)
    assert (most and most.word) == found


def test_further_starts_are_further_off_in_everything(monkeypatch):
    """Pressures too, as far as half of what they are; a spread alone would leave them, and all of a plant without joints."""
    pressures = {"p_a": 20e5, "p_b": 90e5, "p_r": 1e5}
    plant = SimpleNamespace(pressure_names=tuple(pressures))
    log = SimpleNamespace(array=lambda name: np.array([pressures[name]]))
    there = SimpleNamespace(loop=SimpleNamespace(plant=plant), log=log)
    own = {"q": 0.02, "dq": 0.04, "y": 1e-3, "p_a": 4e5, "p_b": 4e5, "p_r": 4e5}
    monkeypatch.setattr(resting, "sizes", lambda run, spread: own if spread == 0.02 else {})
    off = {"q": 0.06, "dq": 0.12, "y": 3e-3, "p_a": 10e5, "p_b": 12e5, "p_r": 4e5}
    assert resting._amounts(there, 0.02, 3.0) == pytest.approx(off)


STILL = ("", [rest("still", width=1e-4)])
NOTHING = ("", [])


def test_a_loop_is_held_for_eight_seconds_or_its_scenario_and_as_long_again(monkeypatch):
    widest = rest(width=3e-3, name="b")
    others = [rest(width=1e-3), rest(width=2e-3), rest("decaying", width=9e-3)]
    found, asked = held(monkeypatch, [[NOTHING, ("", [*others, widest])]])
    assert found is widest
    assert asked == [[(0, 16.0), (1, 16.0)], (8.0, 1e-3), (8.0, 1e-3)]
    longer = held(monkeypatch, [[NOTHING, ("", [widest])]], duration=9.0)[1]
    assert longer == [[(0, 18.0), (1, 18.0)], (9.0, 1e-3), (9.0, 1e-3)]
    assert held(monkeypatch, [[NOTHING, STILL]])[0].word == "still"


LEAVES = ("out of its stroke", [rest("decaying")])
GROWS = ("diverged", [rest()])


def test_a_start_that_leaves_its_stroke_is_tried_with_less(monkeypatch):
    """0.7, 0.5 and 0.35 of it; the other one, that stays inside, is not tried anew."""
    less = [[LEAVES, STILL]]
    found, asked = held(monkeypatch, 3 * less + [[STILL, NOTHING]])
    made = [one for one in asked if isinstance(one, list)]
    assert made == [[(0, 16.0), (1, 16.0)], [(0, 11.2)], [(0, 8.0)], [(0, pytest.approx(5.6))]]
    assert found.word == "still"
    assert held(monkeypatch, 4 * [[LEAVES, STILL]])[0].word == "still"
    assert held(monkeypatch, 4 * [[LEAVES, LEAVES]])[0] is None


def test_what_swings_until_it_leaves_its_stroke_does_not_die(monkeypatch):
    """What did not get to its end is looked at from its begin on."""
    found, asked = held(monkeypatch, [[GROWS, STILL]])
    assert found == replace(rest(), end="diverged") and found.lasts
    assert asked == [[(0, 16.0), (1, 16.0)], (0.0, 1e-3), (8.0, 1e-3)]


def test_a_run_is_cut_where_it_leaves_its_stroke():
    """One that leaves none is not."""
    time = np.arange(6.0)
    log = Log(time, time[:, None], (Signal("s", "m"),), {}, Status(True, "", 5.0))
    made = lambda t: Run(None, Scenario(5.0), log, steps=log, demanded="known")
    for t, last in ((3.2, 3.0), (-1.0, 0.0), (math.inf, 5.0)):
        run = made(t)
        run.__dict__["left"] = (t, "")
        cut = resting.until_its_end(run)
        assert (cut.log.time[-1], cut.steps, cut.demanded) == (last, None, "known")


@pytest.mark.parametrize("word", ["decaying", "creeping"])
def test_what_still_moves_is_held_longer(monkeypatch, word):
    """8, 16 and 30 s of rest; what is still is not made again, and what moves at the end decides nothing."""
    moves = ("", [rest(word)])
    hunts = rest(width=5e-3, name="c")
    found, asked = held(monkeypatch, [[STILL, moves], [None, moves], [None, ("", [hunts])]])
    assert found is hunts
    made = [one for one in asked if isinstance(one, list)]
    assert made == [[(0, 16.0), (1, 16.0)], [(1, 32.0)], [(1, 60.0)]]
    assert held(monkeypatch, [[STILL, moves]], longest=8.0)[0].word == word
    assert held(monkeypatch, [[STILL, moves], [None, STILL]])[0].word == "still"


def test_a_loop_that_cannot_be_held_is_not(monkeypatch):
    own = moving(monkeypatch)
    monkeypatch.setattr(resting, "held_at", lambda run, row: None)
    monkeypatch.setattr(resting, "at_turns", lambda run, rows, ask, here: ask(2) or "")
    assert resting.hunts_at_rest(own, 1e-3) == ""


# ---- what is drawn of it ----------------------------------------------------------------------
TIME = np.arange(9.0)


def drawn_of(monkeypatch, errors, begin, after, floor=0.5):
    monkeypatch.setattr(picture, "joint_errors", lambda run: errors)
    floors = {"a": 0.1, "b": 2.0, "c": 0.1}
    monkeypatch.setattr(picture, "signal_floor", lambda plant, name: floors[name])
    signal = SimpleNamespace(unit="m")
    log = SimpleNamespace(time=TIME, signal=lambda name: signal)
    run = SimpleNamespace(log=log, loop=SimpleNamespace(plant=None))
    return picture.courses(run, begin, after, floor)


def test_errors_are_drawn_by_how_far_they_move_above_their_floors(monkeypatch):
    """In the last quarter from t = 4 s on, that is from 7 s: a by 1/0.5, b by 6/2, c by nothing."""
    errors = {
        "c": np.where(TIME < 7, 50.0, 1.0),
        "a": np.where(TIME == 8, 1.0, 0.0),
        "b": np.where(TIME == 7, -6.0, 0.0),
    }
    found = drawn_of(monkeypatch, errors, 2.0, 4.0)
    assert [one["signal"] for one in found] == ["b", "a", "c"]
    assert [one["floor"] for one in found] == [2.0, 0.5, 0.5]
    assert all(one["rest"] == 4.0 and one["unit"] == "m" for one in found)
    assert found[0]["t"].tolist() == TIME[2:].tolist()
    assert found[0]["error"].tolist() == errors["b"][2:].tolist()


def test_a_run_that_was_not_held_is_looked_at_from_where_it_is_drawn(monkeypatch):
    """From t = 0 on the last quarter begins at 6 s, after 4 s at 7 s."""
    errors = {"a": np.where(TIME == 6, 2.0, 0.0), "b": np.where(TIME == 7, 3.0, 0.0)}
    order = lambda *given: [one["signal"] for one in drawn_of(monkeypatch, errors, *given)]
    assert order(0.0, None) == ["a", "b"]
    assert order(4.0, None) == order(0.0, 4.0) == ["b", "a"]
    assert picture._width({"t": TIME, "error": 3 * TIME, "rest": None}) == 6.0
    assert picture._width({"t": TIME, "error": 3 * TIME, "rest": 4.0}) == 3.0
    assert math.isclose(picture._width({"t": TIME, "error": -TIME, "rest": 8.0}), 0.0)
