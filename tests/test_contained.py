"""What grows at rest in the linearised loop: contained by the nonlinearity, a limit cycle of its size, or not seen."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest
from small import Feedback

from workbench import ClosedLoop, Hold, Scenario, Signal, System
from workbench.contract.parameters import Unit
from workbench.run.log import Log, Status
from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.practical import contained
from workbench.verification.practical.contained import containment
from workbench.verification.practical.starts import Start
from workbench.verification.run import run


@dataclass(frozen=True)
class Swing(System):
    """ẏ = v, v̇ = −ω² y + (2 a − μ y²) v + u: at rest it grows at a, and swings with amplitude 2 √(2a/μ) for small a."""

    a: Annotated[float, Unit("1/s")] = 0.15
    μ: Annotated[float, Unit("1/s")] = 30.0
    ω: Annotated[float, Unit("rad/s")] = 6.0
    states = (Signal("y", "1"), Signal("v", "1/s"))
    outputs = (Signal("y", "1"),)
    inputs = (Signal("u0", "1"),)

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        y, v = x
        return [v, -self.ω * self.ω * y + (2 * self.a - self.μ * y * y) * v + u[0]]

    def out(self, t, x):
        return [x[0]]


@dataclass(frozen=True)
class Fork(System):
    """ẏ = a y − y³ + u: at rest it grows at a, and it stands still at √a."""

    a: Annotated[float, Unit("1/s")] = 0.5
    states = outputs = (Signal("y", "1"),)
    inputs = (Signal("u0", "1"),)

    def initial(self):
        return [0.0]

    def rhs(self, t, x, u):
        return [self.a * x[0] - x[0] ** 3 + u[0]]

    def out(self, t, x):
        return [x[0]]


def asked(plant, amounts, longest=100.0, rests=True):
    loop = ClosedLoop(plant, Feedback(plant, ((0.0,),), ((0.0,),)))
    nominal = run(loop, Scenario(duration=2.0, reference=Hold("output", (0.0,))))
    modes = slowest_and_unstable(nominal)
    if not rests:
        modes = Modes(tuple(replace(place, rests=False) for place in modes.places))
    return containment(nominal, modes, Start(amounts), 1e-3, longest, 60.0)


def test_a_swing_that_goes_on_is_a_limit_cycle_of_its_size():
    plant = Swing()
    found = asked(plant, {"y": 0.05})
    amplitude = 2 * np.sqrt(2 * plant.a / plant.μ)
    assert found.holds is False
    said = float(found.words.rpartition("swings by ")[2].split()[0])
    assert said == pytest.approx(amplitude, rel=0.03)


def test_what_stands_still_elsewhere_is_contained():
    found = asked(Fork(), {"y": 0.6})
    assert found.holds is True and "stands still" in found.words
    assert found.assumption().holds is None and found.words in found.assumption().worst


def test_what_grows_so_slowly_that_nothing_is_seen_is_undecided():
    """Five time constants are asked for: 33.3 s of the swing, 10 s of the fork."""
    assert asked(Swing(), {"y": 0.05}, longest=33.0).holds is None
    assert asked(Swing(), {"y": 0.05}, longest=34.0).holds is False
    assert asked(Fork(), {"y": 0.6}, longest=9.9).holds is None
    assert asked(Fork(), {"y": 0.6}, longest=10.1).holds is True


def test_what_grows_within_milliseconds_is_held_for_long_enough_to_be_seen():
    """Five time constants are 17 and 25 ms: a few rows of a log, of which nothing says that they stand still."""
    found = asked(Fork(a=300.0), {"y": 17.0})
    assert found.holds is True and "held there for 2 s it stands still" in found.words
    assert asked(Swing(a=200.0, μ=4e4, ω=300.0), {"y": 0.1}).holds is False


def test_what_grows_only_on_the_way_is_contained_where_every_start_came_back():
    """As if time stood still there: nothing is held, however slow it is."""
    found = asked(Swing(), {"y": 0.05}, longest=1.0, rests=False)
    assert found.holds is True and "came back" in found.words
    assert asked(Swing(), {"y": 0.05}, longest=1.0).holds is None


def test_where_nothing_grows_there_is_nothing_to_contain():
    assert asked(Swing(a=-0.15), {"y": 0.05}) is None


# ---- a mode of the law's memory, and which mode is held against runs ----------------------------------------------------
def held(**columns):
    """A run of twelve seconds with these columns."""
    time = np.linspace(0.0, 12.0, 1201)
    log = Log(
        time,
        np.column_stack([given(time) for given in columns.values()]),
        tuple(Signal(name, "1") for name in columns),
        {},
        Status(True, "completed", 12.0),
    )
    return SimpleNamespace(log=log)


@pytest.mark.parametrize(
    "given, holds",
    [
        (lambda t: np.exp(0.5 * t), False),
        (lambda t: 1e-9 * np.exp(0.5 * t), False),
        (lambda t: np.exp(0.2 * t), False),
        (lambda t: t, True),
        (lambda t: np.exp(-0.5 * t), True),
        (lambda t: np.where(t < 8.0, 0.0, t - 8.0), False),
        (lambda t: np.where(t < 9.0, t * t, 0.0), True),  # falls back to where it was
        (lambda t: t**1.3, True),  # no faster from third to third than a slow drift
    ],
)
def test_what_the_law_remembers_must_not_grow_on(given, holds):
    """From third to third of the time after 3 s the way it moves becomes longer by half at least, or it does not grow."""
    found = contained._unseen(held(c_0=given), "a mode", 3.0, ("c_0",))
    assert found.holds is holds and ("c_0 grows on" in found.words) is not holds


def test_memory_that_is_in_no_log_is_undecided_and_any_of_several_decides():
    still, grows = lambda t: 0 * t, lambda t: np.exp(t)
    assert contained._unseen(held(c_0=still), "a mode", 3.0, ("the law's memory",)).holds is None
    both = contained._unseen(held(c_0=still, c_1=grows), "a mode", 3.0, ("c_0", "c_1"))
    assert both.holds is False and "c_1 grows on" in both.words


def at(growth, rests, frequency=0.0, where="at the end"):
    mode = Mode(complex(growth, frequency), 1e-6, ("y",), where, 1.0)
    return Place(1.0, where, rests, (mode,))


def test_the_slowest_mode_that_grows_at_rest_is_held():
    """Growth of 1/200 s asks for 1000 s, more than the 30 s allowed, whatever grows faster or turns elsewhere."""
    run_of_ten = SimpleNamespace(scenario=Scenario(duration=10.0), loop=None)
    places = (
        at(0.5, True, 0.1, "fast"),
        at(0.005, True, 3.0, "slow"),
        at(0.001, False, 0.0, "way"),
    )
    found = containment(run_of_ten, Modes(places), None, 1e-3, 30.0, 60.0)
    assert found.holds is None and "slow:" in found.words and "200 s" in found.words


def test_what_grows_on_the_way_alone_is_contained_where_all_came_back():
    places = (at(-0.5, True), at(0.2, False, where="on the way"))
    found = containment(None, Modes(places), None, 1e-3, 30.0, 60.0)
    assert found.holds is True and found.words.startswith("on the way")


def test_what_grows_where_no_other_start_came_to_is_not():
    """The mode is one of t = 1 s."""
    places = (at(-0.5, True), at(0.2, False, where="on the way"))
    asked = lambda lasted: containment(None, Modes(places), None, 1e-3, 30.0, lasted)
    assert asked(1.0).holds is True
    assert asked(0.9).holds is None and "end at t = 0.9 s, before" in asked(0.9).words


# ---- what the held loop shows, by hand ----------------------------------------------------------------------------------
def shown(
    monkeypatch,
    *motions,
    growth=0.5,
    longest=30.0,
    status=None,
    states=("y",),
    settles=True,
    held=None,
):
    """What is said of a mode that grows at rest, of a run of 4 s whose held loop moves like this; asked: what was run."""
    asked = []
    log = SimpleNamespace(
        status=status or Status(True, "completed", 14.0), signal=lambda name: Signal(name, "m")
    )
    seen = SimpleNamespace(log=log)
    monkeypatch.setattr(contained, "comes_to_rest", lambda run: settles)
    monkeypatch.setattr(contained, "held_from_its_start", lambda run: held)
    monkeypatch.setattr(contained, "scenario_from", lambda run, start, base: (start, base))
    monkeypatch.setattr(
        contained, "simulated", lambda loop, scenario: asked.append(scenario) or seen
    )
    monkeypatch.setattr(
        contained,
        "rests",
        lambda run, begin, floor: [(asked.append((begin, floor)) or m) for m in motions],
    )
    monkeypatch.setattr(contained, "_unseen", lambda *given: given)
    plant = SimpleNamespace(states=(Signal("y", "1"), Signal("v", "1/s")))
    nominal = SimpleNamespace(
        scenario=Scenario(4.0, Hold("output", (0.0,))),
        demand=SimpleNamespace(reference=None),
        loop=SimpleNamespace(plant=plant),
    )
    mode = Mode(complex(growth), 1e-6, states, "at the end", 1.0)
    return contained._held(nominal, mode, "start", 1e-3, longest), asked, seen


def motion(name, width, word):
    return SimpleNamespace(name=name, width=width, word=word)


@pytest.mark.parametrize("word, holds", [("still", True), ("restless", False), ("moving", None)])
def test_the_widest_motion_of_the_held_loop_decides(monkeypatch, word, holds):
    """Five time constants after the run's own four seconds, from the start that was given."""
    found, asked, _ = shown(monkeypatch, motion("a", 0.1, "restless"), motion("b", 0.4, word))
    assert found.holds is holds and found.words.startswith(
        "at the end: a mode grows by e in 2 s (y); held there"
    )
    start, scenario = asked[0]
    assert start == "start" and scenario.length() == pytest.approx(14.0)
    assert asked[1] == (4.0, 1e-3)
    if not holds:
        assert found.words.endswith("b swings by 0.2 m")
    assert shown(monkeypatch)[0].holds is True, "nothing that could move"


@pytest.mark.parametrize("followed, holds", [(True, False), (False, None)])
def test_a_held_loop_that_ends_early_is_no_cycle_where_the_integrator_ended_it(
    monkeypatch, followed, holds
):
    ended = SimpleNamespace(completed=False, followed=followed, message="gone")
    found, _, _ = shown(monkeypatch, motion("a", 0.0, "still"), status=ended)
    assert found.holds is holds and found.words.endswith("held there, the run is gone")


@pytest.mark.parametrize("longest, holds", [(9.9, None), (10.1, True)])
def test_what_takes_longer_to_grow_than_is_allowed_is_not_seen(monkeypatch, longest, holds):
    found, asked, _ = shown(monkeypatch, motion("a", 0.0, "still"), longest=longest)
    assert found.holds is holds and bool(asked) is bool(holds)
    assert shown(monkeypatch, motion("a", 0.0, "still"), growth=1.3, longest=1.0)[0].holds is True


def test_a_reference_that_never_rests_shows_nothing_where_the_loop_cannot_be_held(monkeypatch):
    found, asked, _ = shown(monkeypatch, settles=False)
    assert found.holds is None and "never rests" in found.words and not asked


@pytest.mark.parametrize("word, holds", [("still", True), ("restless", False), ("moving", None)])
def test_a_reference_that_never_rests_is_held_where_it_ends(monkeypatch, word, holds):
    there = Scenario(4.0, Hold("output", (0.7,)))
    found, asked, _ = shown(monkeypatch, motion("a", 0.4, word), settles=False, held=there)
    assert found.holds is holds
    assert asked[0][1].reference == there.reference and asked[0][1].length() == pytest.approx(14.0)


def test_a_mode_of_memory_alone_is_looked_for_there(monkeypatch):
    found, _, seen = shown(monkeypatch, states=("z", "I"))
    assert found[0] is seen and found[2:] == (4.0, ("z", "I"))
    found, _, _ = shown(monkeypatch, motion("a", 0.0, "still"), states=("z", "v"))
    assert found.holds is True


def test_pressures_of_a_common_mode_are_no_growth():
    place = at(0.5, True)
    aside = replace(place, modes=(replace(place.modes[0], aside=True),))
    assert containment(None, Modes((aside,)), None, 1e-3, 30.0, 60.0) is None
    assert containment(None, Modes(()), None, 1e-3, 30.0, 60.0) is None
