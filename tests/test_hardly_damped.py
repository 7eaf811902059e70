"""Swings that dry friction holds near a path and not further off: modes with little damping, and starts from there."""

from types import SimpleNamespace

import pytest

from tests.faults.entries import entries
from tests.faults.judging import judged
from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.observed.tail import Rest
from workbench.verification.practical import hardly_damped as module

BOUND = 1e-9


def place(where, *poles, aside=False):
    modes = tuple(Mode(s, BOUND, ("q",), where, 0.0, aside, 0.0) for s in poles)
    return Place(0.0, where, False, modes)


@pytest.mark.parametrize(
    "poles, found",
    [
        ((-1.0 + 49.0j, -1.0 - 49.0j), None),  # 2.04 % of critical damping
        ((-1.0 + 51.0j, -1.0 - 51.0j), -1.0 + 51.0j),  # 1.96 %
        ((-0.001 + 0.0j,), None),  # no swing
        ((0.4 + 20.0j, -0.1 + 60.0j), 0.4 + 20.0j),
    ],
)
def test_what_swings_with_little_damping(poles, found):
    mode, where = module.least_damped(Modes((place("at rest", -9 + 9j), place("moving", *poles))))
    assert (mode and mode.s, where) == (found, "moving" if found else "")


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

    def hunting_from(run, at, spread, runs, floor):
        asked = (at is there, round(spread, 9), runs, floor) == (True, 0.06, 2, 1e-3)
        return found if asked else None

    monkeypatch.setattr(module, "hunting_from", hunting_from)
    words = module.swings_on(None, Modes((place("moving", pole),)), 0.02, 1e-3)
    assert bool(words) is said
    assert not said or "3 times as far off, s swings by 2 mm, 2.5 Hz; linearised, moving" in words


def test_a_loop_that_cannot_be_held_is_not(monkeypatch):
    monkeypatch.setattr(module, "held_at", lambda run, row: None)
    assert module.swings_on(None, Modes((place("moving", 0.1 + 9j),)), 0.02, 1e-3) == ""


@pytest.mark.parametrize(
    "name, code",
    [
        ("late-commands-hunt-where-it-is-held@post-still", 2),
        ("late-commands-hunt-where-it-is-held@post-40-ms", 2),
        ("held-where-it-begins@post-still-standing", 0),
    ],
)
def test_a_post_that_swings_from_further_off(name, code):
    (entry,) = [e for e in entries() if e.name == name]
    assert judged(entry).exit == code
