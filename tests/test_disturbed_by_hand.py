"""Which runs practical stability is asked on, and for how long, from scenarios and logs that are written down: no run is made."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Hold, Scenario, Signal, Waypoints
from workbench.verification.practical import disturbed as module
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.returning import Judged, Return

LAP = Waypoints(
    "output", ((0.0,), (0.5,), (0.0,)), 2.0, 1.0
)  # 4 s on the way, 1 s at rest after each of its legs
WAY = Waypoints("output", ((0.0,), (0.5,)), 3.0)
SHOWN = Hold("output", (0.7,))  # a reference as a run resolved it


class Log(dict):
    array = dict.__getitem__

    def __init__(self, last=10.0, completed=True, **signals):
        super().__init__({name: np.array(v, float) for name, v in signals.items()})
        self.time = np.array([0.0, last])
        self.status = SimpleNamespace(completed=completed)


def a_run(reference=LAP, duration=None, *, last=10.0, completed=True, kept=None, **signals):
    plant = SimpleNamespace(outputs=(Signal("y", "m"),), has_tool=False)
    return SimpleNamespace(
        scenario=Scenario(duration, reference),
        demand=SimpleNamespace(reference=SHOWN),
        log=Log(last, completed, **signals),
        loop=SimpleNamespace(plant=plant, controller="law"),
        kept={} if kept is None else kept,
        error_unit="m",
    )


# ---- longer scenarios -------------------------------------------------------------------------------
@pytest.mark.parametrize("laps", [1, 2, 3])
def test_a_path_that_closes_is_walked_again(laps):
    lap = LAP.duration + LAP.dwell
    found = module.longer(Scenario(lap, LAP), laps * lap)
    assert found.reference.repeat == laps and found.duration == pytest.approx(laps * lap + 1.0)
    more = module.longer(Scenario(lap, LAP), laps * lap * (1 + 1e-6))
    assert more.reference.repeat == laps + 1
    assert module.longer(Scenario(lap, LAP)).duration == pytest.approx(2 * lap + 1.0)


def test_a_path_that_ends_elsewhere_is_held_there():
    found = module.longer(Scenario(3.0, WAY), 7.0)
    assert found.reference is WAY and found.duration == 7.0
    held = Hold("output", (0.3,))
    assert module.longer(Scenario(3.0, held)).duration == 6.0


# ---- which run --------------------------------------------------------------------------------------
def simulated(monkeypatch):
    made = []
    monkeypatch.setattr(module, "simulated", lambda loop, scenario: made.append(scenario) or "made")
    monkeypatch.setattr(
        module, "longer", lambda scenario, duration=None: ("longer", duration, scenario.reference)
    )
    return made


def test_a_run_that_lasts_long_enough_is_not_made_again(monkeypatch):
    made = simulated(monkeypatch)
    monkeypatch.setattr(module, "replace", lambda run, **new: new)
    own = a_run(duration=10.0)
    own.scenario = SimpleNamespace(length=lambda: 10.0, reference=LAP)
    assert module.undisturbed(own, 10.0)["scenario"] == {"reference": SHOWN, "duration": 10.0}
    own.demand.reference = None
    assert module.undisturbed(own, 4.0)["scenario"] == {"reference": LAP, "duration": 4.0}
    assert made == []


def test_a_run_that_is_too_short_or_ended_early_is_made_once(monkeypatch):
    made = simulated(monkeypatch)
    own = a_run(duration=10.0)
    assert module.undisturbed(own, 10.1) == "made" == module.undisturbed(own, 10.1)
    assert made == [("longer", 10.1, SHOWN)] and own.kept == {10.1: "made"}
    early = a_run(duration=10.0, completed=False)
    assert module.undisturbed(early, 5.0) == "made" and made[1:] == [("longer", 5.0, SHOWN)]


def test_the_longest_of_the_runs_that_were_made():
    ended = lambda last, completed=True: SimpleNamespace(log=Log(last, completed))
    own = a_run(
        kept={20.0: ended(20.0), 40: ended(40.0), 90.0: ended(90.0, False), "stirred": ended(99.0)}
    )
    assert module.longest(own) is own.kept[40]
    own.kept = {5.0: ended(5.0)}
    assert module.longest(own) is own


@pytest.mark.parametrize(
    "last, completed, made",
    [(10.0, True, False), (3.0, True, True), (2.0, False, False), (3.1, True, False)],
)
def test_a_run_within_the_time_for_settling_is_made_twice_as_long(
    monkeypatch, last, completed, made
):
    asked = []
    monkeypatch.setattr(
        module, "undisturbed", lambda run, duration: asked.append(duration) or "made"
    )
    own = a_run(last=last, completed=completed)
    assert module.lasting(own, 3.0) == ("made" if made else own) and asked == (
        [6.0] if made else []
    )


@pytest.mark.parametrize(
    "reference, settle, completed, made",
    [
        (LAP, 3.0, True, True),
        (LAP, 2.0, True, False),
        (LAP, 3.0, False, False),
        (WAY, 9.0, True, False),
    ],
)
def test_a_run_that_follows_its_path_after_settling(
    monkeypatch, reference, settle, completed, made
):
    """Where more than half of a path that closes comes before, it is walked twice."""
    monkeypatch.setattr(module, "ends", lambda reference: 4.0)
    monkeypatch.setattr(module, "undisturbed", lambda run, duration: ("made", duration))
    own = a_run(reference, 5.0, completed=completed)
    assert module.walking(own, settle) == (("made", 10.0) if made else own)


# ---- a run that stands still --------------------------------------------------------------------------
@pytest.mark.parametrize(
    "q, floor, jointed, still",
    [
        ([0.0, 0.5e-3], 1e-3, False, True), ([0.0, 1.5e-3], 1e-3, False, False), ([0.0, 1e-3], 1e-3, False, True),
        ([9e5, 9e5 + 8e-4], 0.0, False, True), ([9e5, 9e5 + 1e-3], 0.0, False, False),
        ([0.0, 1.9e-4], 0.0, True, True), ([0.0, 2.1e-4], 0.0, True, False),
    ],
)  # fmt: skip
def test_a_run_shows_no_motion_below_its_resolution(monkeypatch, q, floor, jointed, still):
    """Its floor, a billionth of its largest value, and on joints a hundredth of what another start is off."""
    monkeypatch.setattr(module, "signal_floor", lambda plant, name: floor)
    monkeypatch.setattr(module, "is_jointed", lambda plant: jointed)
    monkeypatch.setattr(module, "positions", lambda plant: ["p", "q", "gone"])
    own = a_run(p=[0.0, 0.0], q=q)
    assert module.stands_still(own) is still
    monkeypatch.setattr(module, "positions", lambda plant: [])
    assert module.stands_still(a_run(y=q)) is still


@pytest.mark.parametrize(
    "open_, completed, still, made",
    [
        (False, True, True, True),
        (True, True, True, False),
        (False, False, True, False),
        (False, True, False, False),
    ],
)
def test_a_loop_that_stands_still_is_stirred(monkeypatch, open_, completed, still, made):
    runs = []
    monkeypatch.setattr(module, "innermost", lambda controller: SimpleNamespace(open=open_))
    monkeypatch.setattr(module, "stands_still", lambda run: still)
    monkeypatch.setattr(module, "drawn", lambda run, n, spread: [f"start {n} {spread}"])
    monkeypatch.setattr(
        module, "scenario_from", lambda run, start, base: (start, base.duration, base.reference)
    )
    monkeypatch.setattr(
        module, "simulated", lambda loop, scenario: runs.append(scenario) or "stirred"
    )
    own = a_run(WAY, 5.0, completed=completed)
    own.demand.reference = WAY
    assert module.stirred(own) == ("stirred" if made else own) == module.stirred(own)
    assert runs == ([("start 1 0.02", 10.0, WAY)] if made else [])


# ---- how long starts are followed -----------------------------------------------------------------------
def back(word, moved=True, pressure=False):
    return Return(Judged("s", ("s",), "m", 0.0, pressure), word, 1.0, 0.5, 1.0, 0.0, moved)


@pytest.mark.parametrize(
    "found, longer",
    [
        ((back("returning"),), True), ((back("staying"),), True), ((back("growing"),), False), ((back("back"),), False),
        ((back("staying", pressure=True),), False), ((back("staying", moved=False),), False), ((), False),
    ],
)  # fmt: skip
def test_what_could_still_come_back_is_followed_on(found, longer):
    assert module._wants_longer(Outcome(math.nan, 1.0, "", "", "", found)) is longer


def followed(monkeypatch, *rounds, duration=None, longest=30.0, settles=0.0):
    """(durations of the runs, how many starts each has) of two starts whose outcomes ask for more as `rounds` say."""
    asked = []
    monkeypatch.setattr(module, "judged", lambda run, sizes, allowed: "signals")
    monkeypatch.setattr(module, "sizes", lambda run, spread: {})
    shown = lambda run, duration: asked.append(duration) or SimpleNamespace(scenario=duration)
    monkeypatch.setattr(module, "undisturbed", shown)
    monkeypatch.setattr(module, "scenario_from", lambda run, start, base: (start, base))
    left = iter(rounds)
    monkeypatch.setattr(module, "run_many", lambda jobs, look, tick: [next(left) for _ in jobs])
    monkeypatch.setattr(module, "_wants_longer", lambda outcome: outcome == "more")
    monkeypatch.setattr(module, "from_nearer", lambda run, found, again: found)
    claim = SimpleNamespace(duration=duration, longest=longest, spread=0.02, settle=3.0)
    slowest = SimpleNamespace(settles=settles) if settles else None
    own = a_run(WAY, 5.0)
    found = module.disturbed(claim, own, ["a", "b"], None, SimpleNamespace(slowest=slowest), None)
    return asked, found


def test_starts_are_followed_until_nothing_is_on_its_way_or_for_as_long_as_may_be(monkeypatch):
    assert followed(monkeypatch, "done", "done") == ([10.0], (["done", "done"], 10.0))
    asked, found = followed(monkeypatch, "more", "ok", "later")
    assert asked == [10.0, 20.0] and found == (["later", "ok"], 20.0)
    asked, found = followed(monkeypatch, *["more"] * 6)
    assert asked == [10.0, 20.0, 30.0] and found == (["more", "more"], 30.0)
    assert followed(monkeypatch, "ok", "ok", duration=4.0)[0] == [4.0]
    assert followed(monkeypatch, "ok", "ok", settles=25.0)[0] == [25.0]
    assert followed(monkeypatch, "ok", "ok", settles=99.0)[0] == [30.0]
    assert followed(monkeypatch, "ok", "ok", settles=99.0, longest=2.0)[0] == [10.0]


@pytest.mark.parametrize(
    "path, own, tool, floor",
    [
        (0.0, None, True, 1e-3),
        (0.0, None, False, 1e-3),
        (0.05, None, False, 5e-4),
        (0.05, 0.02, False, 2e-4),
        (9.0, 9.0, False, 1e-3),
    ],
)
def test_oscillation_below_a_hundredth_of_a_path_or_a_machine_is_none(
    monkeypatch, path, own, tool, floor
):
    monkeypatch.setattr(module, "path_size", lambda loop, scenario: path)
    scale = None if own is None else SimpleNamespace(value=own)
    monkeypatch.setattr(module, "scales", lambda plant: SimpleNamespace(of_unit=lambda unit: scale))
    run = a_run()
    run.loop.plant.has_tool = tool
    assert module.floor_of(run) == pytest.approx(floor)
