"""A run that settles, step by step: when it is made longer, what its tail is called, and what that decides."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.run.reference import Sine
from workbench.run.scenario import Scenario
from workbench.run.steps import Steps
from workbench.verification.observed import at_rest as resting
from workbench.verification.observed import settled as module
from workbench.verification.observed import tail
from workbench.verification.observed.settled import plain
from workbench.verification.observed.tail import Rest, _rest, noisy, rests
from workbench.verification.run_claims import Settled
from workbench.verification.verdict import Verdict

CLAIM = Settled()


def said(holds, worst, **data):
    return Verdict(
        "settled", "t", holds, None if holds is None else "sampled", worst=worst, data=data
    )


def a_run(length=10.0, completed=True, followed=True, period=0.01, **other):
    status = SimpleNamespace(completed=completed, followed=followed, message="gone")
    log = SimpleNamespace(status=status, signal=lambda name: SimpleNamespace(unit="m"))
    given = {"log": log, "scenario": SimpleNamespace(length=lambda: length), "kept": {}}
    return SimpleNamespace(loop=SimpleNamespace(period=period), **given | other)


# ---- in motion -----------------------------------------------------------------------------------------------------------
def in_motion(monkeypatch, *looks, longest=80.0, restless=(), hunts="", **run):
    """The verdict on a run of 10 s where swings(…) says this, look after look; asked: how long runs were."""
    asked, ticks = [], []
    left = iter(looks[1:])
    bad = iter(restless)
    own = lambda few, brief: SimpleNamespace(seen=SimpleNamespace(few=few, brief=brief))

    def undisturbed(given, duration):
        asked.append(duration)
        return a_run(**run)

    monkeypatch.setattr(module, "undisturbed", undisturbed)
    monkeypatch.setattr(module, "swings", lambda run, floor, chatter: own(*next(left)))
    monkeypatch.setattr(module, "_restless", lambda *given: next(bad, None))
    monkeypatch.setattr(module, "_quiet", lambda *given: "quiet")
    monkeypatch.setattr(module, "hunts_at_rest", lambda run, floor, longest: hunts)
    claim = Settled(longest=longest)
    found = module._in_motion(claim, a_run(), 1e-3, own(*looks[0]), said, lambda: ticks.append(0))
    return found, asked, len(ticks)


def test_a_run_is_made_longer_until_enough_is_seen(monkeypatch):
    found, asked, ticks = in_motion(monkeypatch, ("few", ""), ("", "brief"), ("", ""))
    assert found.holds is True and found.worst == "quiet" and asked == [20.0, 40.0] and ticks == 2
    assert in_motion(monkeypatch, ("", ""))[:2] == (found, [])
    found, asked, _ = in_motion(monkeypatch, *[("", "brief")] * 5)
    assert (
        found.holds is None
        and asked == [20.0, 40.0, 80.0]
        and found.worst.startswith("brief; make the run longer")
    )
    found, asked, _ = in_motion(monkeypatch, *[("few", "brief")] * 5, longest=31.0)
    assert found.holds is None and asked == [20.0, 31.0] and found.worst == "few"


@pytest.mark.parametrize(
    "periods, longest, most",
    [
        ([13.0, 7.0], Settled.longest, module.REPEATS * 13.0),
        ([13.0], 31.0, 0.0),
        ([], Settled.longest, 0.0),
        ([1e3], Settled.longest, module.AT_MOST * 10.0),
    ],
)
def test_a_run_lasts_some_periods_of_what_drives_it(monkeypatch, periods, longest, most):
    """The slowest of them, in reason, and where nobody stated how long."""
    monkeypatch.setattr(module, "commanded_periods", lambda run: periods)
    assert module._periods(Settled(longest=longest), a_run()) == most


def test_what_hunts_where_the_path_begins_leaves_it_undecided(monkeypatch):
    found, _, _ = in_motion(monkeypatch, ("", ""), hunts="held where it begins, it swings")
    assert found.holds is None and found.worst == "held where it begins, it swings"


def test_what_a_longer_run_shows_decides(monkeypatch):
    no = said(False, "it swings")
    found, asked, ticks = in_motion(monkeypatch, *[("", "brief")] * 3, restless=[None, no])
    assert found is no and asked == [20.0, 40.0] and ticks == 2
    for followed, holds in ((True, False), (False, None)):
        found, asked, _ = in_motion(monkeypatch, ("", "brief"), completed=False, followed=followed)
        assert found.holds is holds and found.worst == "made longer: gone" and asked == [20.0]


@pytest.mark.parametrize(
    "longest, length, period, most",
    [
        (31.0, 10.0, 0.01, 31.0),
        (31.0, 50.0, 0.01, 50.0),
        (31.0, 50.0, 1e3, 50.0),
        (Settled.longest, 10.0, 1e3, 2 * module.FEWEST * 1e3),
        (Settled.longest, 10.0, None, max(Settled.longest, 10.0)),
    ],
)
def test_how_long_a_run_is_made_at_most(longest, length, period, most):
    """As long as a cycle needs samples only where nobody stated it."""
    assert module._longest(Settled(longest=longest), a_run(length, period=period)) == most


# ---- at rest -------------------------------------------------------------------------------------------------------------
def at_rest(monkeypatch, *tails, longest=80.0, length=10.0, **run):
    asked, ticks = [], []
    left = iter(tails)

    def held(given, duration):
        asked.append(duration)
        return a_run(length, **run)

    monkeypatch.setattr(module, "held", held)
    monkeypatch.setattr(module, "rests", lambda end, begin, floor: next(left))
    monkeypatch.setattr(module, "courses", lambda *given: given[1:])
    monkeypatch.setattr(module, "moves_until", lambda end: 12.0)
    own = a_run(length)
    found = module._at_rest(
        Settled(longest=longest), own, 1e-3, "quiet", said, lambda: ticks.append(0)
    )
    return found, asked, own


STILL, DECAYS = Rest("a", 1e-4, "still"), Rest("b", 2e-2, "decaying")


def test_what_stands_still_is_looked_at_once_more(monkeypatch):
    """What sticks and slips stands still for a while: over four times the tail it does not."""
    creeps = Rest("a", 2e-2, "creeping")
    found, asked, _ = at_rest(monkeypatch, [STILL], [creeps], [creeps], [creeps], longest=30.0)
    assert found.holds is None and asked == [15.0, 30.0, 40.0]
    found, asked, _ = at_rest(monkeypatch, [STILL], [DECAYS], [STILL], longest=30.0)
    assert found.holds is True and asked == [15.0, 30.0, 40.0] and found.data == {"tail": 30.0}


def test_a_tail_is_made_longer_while_something_decays(monkeypatch):
    found, asked, own = at_rest(monkeypatch, [STILL, DECAYS], [DECAYS], [STILL], [STILL])
    assert found.holds is True and asked == [15.0, 20.0, 30.0, 90.0]
    assert found.data == {"tail": 20.0}
    assert found.worst == "quiet; at rest for 20 s after it" and own.kept["settled"] == (
        5.0,
        12.0,
        1e-3,
    )
    assert at_rest(monkeypatch, [], [])[0].holds is True, "nothing that could move"
    assert at_rest(monkeypatch, [STILL], [STILL], length=2.0)[1] == [4.0, 10.0], "two seconds"
    found, asked, _ = at_rest(monkeypatch, *[[DECAYS]] * 9, longest=30.0)
    assert asked == [15.0, 20.0, 30.0, 40.0] and found.holds is None
    assert (
        found.worst.startswith("b still swings by 10 mm after 30 s at rest")
        and found.data["tail"] == 30.0
    )
    creeps = [Rest("a", 9.0, "decaying"), Rest("b", 2e-2, "creeping")]
    assert at_rest(monkeypatch, *[creeps] * 9, longest=5.0)[0].worst.startswith("b creeps by 10 mm")


def test_a_limit_cycle_at_rest_is_a_violation_at_once(monkeypatch):
    cycles = [
        Rest("a", 9.0, "creeping"),
        Rest("b", 4e-2, "restless", 2.5),
        Rest("c", 6e-2, "restless", 1.5),
    ]
    found, asked, _ = at_rest(monkeypatch, cycles)
    assert found.holds is False and asked == [15.0]
    assert found.data == {
        "signal": "c",
        "kind": "limit cycle",
        "frequency": 1.5,
        "amplitude": pytest.approx(0.03),
    }
    assert found.worst.startswith("limit cycle of c at rest") and "amplitude 30 mm" in found.worst
    for followed, holds in ((True, False), (False, None)):
        ended, _, _ = at_rest(monkeypatch, completed=False, followed=followed)
        assert ended.holds is holds and ended.worst == "held at its end: gone"


# ---- what a tail is called -----------------------------------------------------------------------------------------------------
TIME = np.linspace(0.0, 20.0, 2001)
SWING = np.sin(2 * np.pi * 1.5 * TIME)


@pytest.mark.parametrize(
    "error, word",
    [
        (0 * TIME, "still"),
        (0.99e-3 * SWING, "still"),
        (1.1e-3 * SWING, "restless"),
        (SWING, "restless"),
        (np.exp(-0.2 * TIME), "decaying"),
        (np.exp(-0.2 * TIME) * SWING, "decaying"),
        (0.1 * TIME, "creeping"),
        (-0.1 * TIME, "creeping"),
        (np.exp(0.1 * TIME) * SWING, "restless"),
    ],
)
def test_words_for_what_moves(error, word):
    """Twice the floor of 1 mm is still; what falls from quarter to quarter decays; a mean that goes one way creeps."""
    found = _rest("a", TIME, error, 1e-3, False)
    assert found.word == word and found.name == "a"
    if word == "restless":
        assert found.frequency == pytest.approx(1.5, rel=0.05)


def test_too_short_a_tail_may_still_decay():
    n = 4 * tail.SHORTEST
    assert _rest("a", TIME[: n - 1], SWING[: n - 1], 1e-3, False).word == "decaying"
    assert _rest("a", TIME[:n], 0 * SWING[:n], 1e-3, False).word == "still"


def test_noise_at_rest_is_no_cycle():
    error = np.random.default_rng(3).normal(size=2001)
    assert _rest("a", TIME, error, 1e-3, True).word == "still"
    assert _rest("a", TIME, error, 1e-3, False).word == "restless"


def test_turns_and_pace():
    """Of the last three quarters, 15 s: 1.5 Hz pass the middle 45 times, about any mean."""
    assert abs(tail._turns(SWING + 7.0) - 45) <= 1
    assert tail._pace(TIME, SWING - 3.0) == pytest.approx(1.5, rel=0.03)
    slow = np.sin(2 * np.pi * TIME / 15)
    assert tail._turns(slow) == 2 and math.isnan(tail._pace(TIME, slow)) and not tail._swings(slow)
    six = np.sin(2 * np.pi * (TIME - 5) / 5 + 0.5)
    assert (
        tail._turns(six) == 6 and tail._swings(six) and tail._pace(TIME, six) == pytest.approx(0.2)
    )
    five = np.sin(2 * np.pi * (TIME - 5) / 6 + 0.5)
    assert tail._turns(five) == 5 and not tail._swings(five)
    assert plain(2.5) == 2.5 and plain(math.nan) is None


def test_tails_begin_where_the_reference_has_come_to_rest(monkeypatch):
    asked = []
    monkeypatch.setattr(tail, "joint_errors", lambda run: {"a": TIME, "b": -TIME})
    monkeypatch.setattr(tail, "signal_floor", lambda plant, name: {"a": 2e-3, "b": 1e-4}[name])
    monkeypatch.setattr(tail, "noisy", lambda run: "noise")
    monkeypatch.setattr(tail, "_rest", lambda *given: asked.append(given))
    end = a_run()
    end.log.time = TIME
    end.loop.plant = None
    for duration, begin, first in ((12.0, 5.0, 12.0), (12.0, 14.0, 14.0), (None, 5.0, 5.0)):
        asked.clear()
        end.demand = SimpleNamespace(reference=SimpleNamespace(duration=duration))
        rests(end, begin, 1e-3)
        (a, time, error, floor, noise), (b, _, other, least, _) = asked
        assert (a, b, floor, least, noise) == ("a", "b", 2e-3, 1e-3, "noise")
        assert time[0] == pytest.approx(first) and error[0] == time[0] and other[0] == -time[0]
    end.demand.reference = None
    assert tail.moves_until(end) == 0.0


# ---- whether it can be held --------------------------------------------------------------------------------------------------
ENDS, NEVER = SimpleNamespace(duration=3.0), None


@pytest.mark.parametrize(
    "reference, demanded, push, on, rest",
    [
        ("ends", True, None, False, True),
        (None, True, None, False, True),
        ("goes on", True, None, False, False),
        ("ends", False, None, False, False),
        ("ends", True, "ends", False, True),
        ("ends", True, "goes on", False, False),
        ("ends", True, 20.0, False, True),
        ("ends", True, None, True, False),
    ],
)
def test_a_loop_can_be_held_where_nothing_drives_it_on(
    monkeypatch, reference, demanded, push, on, rest
):
    class Goes:
        def sample(self, t, order):
            return None

    parts = {"ends": Steps("output", (0.0, 1.0), (0.0, 5.0)), "goes on": Goes()}
    pushes = {} if push is None else {"F": parts.get(push, push), "G": 1.0}
    scenario = SimpleNamespace(
        reference=parts.get(reference), disturbances=pushes, length=lambda: 2.0
    )
    demand = SimpleNamespace(reference="r" if demanded else None)
    monkeypatch.setattr(resting, "driven", lambda run, after: on or after != 2.0)
    given = SimpleNamespace(scenario=scenario, demand=demand)
    assert bool(resting.comes_to_rest(given)) is rest


@pytest.mark.parametrize("on, held", [(False, True), (True, False)])
def test_a_reference_that_goes_on_is_held_where_it_is_at_the_end(monkeypatch, on, held):
    """After three quarters of its period a sine of 0.3 about 0.1 is at −0.2; what else drives the loop holds nothing."""
    sine = Sine("output", (0.1,), (0.3,), 0.5, ramp=0.0)
    scenario = Scenario(1.5, sine, offset={"y": 0.02})
    log = SimpleNamespace(time=np.array([0.0, 1.5]))
    monkeypatch.setattr(resting, "driven", lambda run, after: on or after != 1.5)
    run = SimpleNamespace(scenario=scenario, demand=SimpleNamespace(reference=sine), log=log)
    found = resting.held_from_its_start(run)
    assert (found is not None) is held
    there = resting.held_there(run)
    assert there.reference.point == pytest.approx((-0.2,)) and there.offset == {"y": 0.02}


def test_noise_and_converters_keep_a_loop_from_standing_still():
    class Quantised(SimpleNamespace):
        pass

    plain_law = SimpleNamespace(inner=None)

    def made(kind="reference", law=plain_law):
        inputs = [SimpleNamespace(kind="disturbance"), SimpleNamespace(kind=kind)]
        return SimpleNamespace(loop=SimpleNamespace(inputs=inputs, controller=law))

    assert not noisy(made()) and noisy(made("noise"))
    assert noisy(made(law=SimpleNamespace(inner=Quantised(inner=plain_law))))
