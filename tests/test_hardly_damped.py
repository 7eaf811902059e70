"""Swings that die near a path and last further off: modes with little damping, and starts from there."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.faults.entries import entries, make
from tests.faults.judging import judged
from workbench import Scenario, Sine, simulate
from workbench.contract.declared import LawData
from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.observed.tail import Rest
from workbench.verification.practical import hardly_damped as module
from workbench.verification.practical import starts
from workbench.verification.practical.starts import displaced
from workbench.verification.run import Run

BOUND = 1e-9


LONG = SimpleNamespace(
    scenario=Scenario(duration=900.0), loop=SimpleNamespace(controller=LawData())
)


def place(where, *poles, aside=False):
    modes = tuple(Mode(s, BOUND, ("q",), where, 0.0, aside, 0.0) for s in poles)
    return Place(0.0, where, False, modes)


@pytest.mark.parametrize(
    "poles, found",
    [
        ((-1.0 + 9.9j, -1.0 - 9.9j), None),  # 10.05 % of critical damping
        ((-1.0 + 10.0j, -1.0 - 10.0j), -1.0 + 10.0j),  # 9.95 %
        ((-0.001 + 0.0j,), None),  # no swing
        ((0.4 + 20.0j, -0.1 + 60.0j), 0.4 + 20.0j),
    ],
)
def test_what_swings_with_little_damping(poles, found):
    mode, where = module.least_damped(Modes((place("at rest", -9 + 9j), place("moving", *poles))))
    assert (mode and mode.s, where) == (found, "moving" if found else "")


def test_a_queue_of_commands_swings_without_the_machine():
    queue = Mode(-90.0 + 2500.0j, BOUND, (), "moving", 0.0, False, 0.0)
    assert module.least_damped(Modes((Place(0.0, "moving", False, (queue,)),))) == (None, "")


def test_it_is_watched_for_as_long_as_the_slowest_takes():
    """A slower mode than the one that is damped least: 1/0.05 s; of modes damped well nothing is asked."""
    modes = Modes((place("at rest", -0.05 + 1j, -5 + 6j), place("moving", -0.1 + 20j)))
    assert module.least_damped(modes)[0].s == -0.1 + 20j
    everywhere = [mode for one in modes.places for mode in one.modes]
    assert module.watched(everywhere) == pytest.approx(20 * 20.0)
    assert [mode.s for mode in module.hardly_damped(everywhere)] == [-0.1 + 20j, -0.05 + 1j]
    assert module.watched(place("at rest", -5 + 6j).modes) == 0.0


def test_what_no_force_shows_is_not_asked():
    assert module.least_damped(Modes((place("moving", 0.4 + 20j, aside=True),))) == (None, "")
    assert module.least_damped(Modes(())) == (None, "")


@pytest.mark.parametrize(
    "pole, hunts, said",
    [(-0.1 + 25j, True, True), (-0.1 + 25j, False, False), (-5.0 + 25j, True, False)],
)
def test_starts_three_times_as_far_off_where_little_damps(monkeypatch, pole, hunts, said):
    """Held where the path ends."""
    signal = SimpleNamespace(unit="m")
    there = SimpleNamespace(log=SimpleNamespace(signal=lambda name: signal))
    monkeypatch.setattr(module, "held_at", lambda run, row: there if row == -1 else None)
    found = Rest("s", 4e-3, "restless", 2.5) if hunts else None

    def hunting_from(run, at, spread, runs, floor, length, further):
        asked = (at is there, spread, further, runs, floor) == (True, 0.02, 3.0, 2, 1e-3)
        assert length == pytest.approx(20 / 0.1)  # time constants
        return found if asked else None

    monkeypatch.setattr(module, "calmed", lambda run: run)
    monkeypatch.setattr(module, "hunting_from", hunting_from)
    words = module.swings_on(LONG, Modes((place("moving", pole),)), 0.02, 1e-3)
    assert bool(words) is said
    assert not said or "3 times as far off, s swings by 2 mm, 2.5 Hz; linearised, moving" in words


def test_a_law_with_a_setting_that_damps_is_told_it():
    class Damped(LawData):
        damped_by = "damping: pressure"

    run = lambda law: SimpleNamespace(loop=SimpleNamespace(controller=law))
    assert module.more_damping(run(Damped())) == "more damping (damping: pressure), or less gain"
    assert module.more_damping(run(LawData())) == "more damping, or less gain"


def test_what_pushes_for_ever_is_left_out(monkeypatch):
    """Its response swings without any mode."""
    asked = []
    monkeypatch.setattr(module, "hunting_from", lambda run, at, *more, **known: asked.append(at))
    begins = Scenario(disturbances={"F": Sine("output", (0.0,), (600.0,), 0.5), "G": 5.0})
    there = Run(SimpleNamespace(), begins, None)
    assert module.lasting_swing(None, there, 0.02, 1e-3) is None
    assert asked[0].scenario.disturbances == {"G": 5.0}


def test_a_loop_that_cannot_be_held_is_not(monkeypatch):
    monkeypatch.setattr(module, "held_at", lambda run, row: None)
    assert module.swings_on(None, Modes((place("moving", 0.1 + 9j),)), 0.02, 1e-3) == ""


@pytest.mark.parametrize(
    "name, code",
    [
        ("late-commands-hunt-where-it-is-held@post-still", 2),
        ("late-commands-hunt-where-it-is-held@post-40-ms", 2),
        ("held-where-it-begins@post-still-standing", 0),
        ("delay-lets-a-large-swing-last@metered-30-ms", 2),
    ],
)
def test_what_swings_from_further_off(name, code):
    (entry,) = [e for e in entries() if e.name == name]
    assert judged(entry).exit == code


def test_starts_that_are_off_in_positions_alone():
    """Two opposite ones, all positions by all of the spread: no rate, no pressure, no memory is off."""
    (entry,) = [e for e in entries() if e.name == "delay-lets-a-large-swing-last@two-metered-22-ms"]
    made = make(entry)
    brief = replace(made.scenario, duration=0.05)
    there = Run(made.loop, brief, simulate(made.loop, brief))
    first, second = displaced(there, {"θ_a": 0.03, "θ_b": 0.03, "dθ_a": 0.1})
    assert dict(first.amounts) == {"θ_a": 0.03, "θ_b": 0.03}
    assert dict(second.amounts) == {"θ_a": -0.03, "θ_b": -0.03}


def test_of_two_pressures_one_is_off_up_and_one_down(monkeypatch):
    """Both sides of a piston off alike hardly push it."""
    monkeypatch.setattr(starts, "_fitting", lambda run, start: start)
    plant = SimpleNamespace(pressure_names=("p_a", "p_b", "p_c", "p_d"))
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant))
    first, second = starts.outermost(run, {"q": 0.1, "p_a": 1.0, "p_b": 2.0, "p_d": 3.0})
    assert first.amounts == {"q": 0.1, "p_a": 1.0, "p_b": -2.0, "p_d": -3.0}
    assert second.amounts == {"q": -0.1, "p_a": -1.0, "p_b": 2.0, "p_d": 3.0}
