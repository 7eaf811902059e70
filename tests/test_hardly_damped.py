"""Swings that dry friction holds near a path and not further off: modes with little damping, and starts from there."""

from types import SimpleNamespace

import pytest

from tests.faults.entries import entries
from tests.faults.judging import judged
from workbench.verification.linear.modes import Mode, Modes, Place
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


def outcome(unrest="", gone=""):
    return SimpleNamespace(unrest=unrest, gone=gone)


@pytest.mark.parametrize(
    "pole, outcomes, said",
    [
        (-0.1 + 25j, [outcome(), outcome("limit cycle of q")], True),
        (-0.1 + 25j, [outcome(), outcome()], False),
        (-0.1 + 25j, [outcome("chatter", "leaves its stroke"), outcome()], False),
        (-5.0 + 25j, [outcome("limit cycle of q")] * 2, False),
    ],
)
def test_starts_three_times_as_far_off_where_little_damps(monkeypatch, pole, outcomes, said):
    """Held where the path ends; a start from which a stroke ends says nothing of swings."""
    drawn = lambda run, n, spread: [SimpleNamespace(words=f"q +{spread:g}")] * n
    monkeypatch.setattr(module, "drawn", drawn)
    monkeypatch.setattr(module, "held_at", lambda run, row: ("held", row))
    left = list(outcomes)
    asked = []

    def tried(start, there):
        asked.append(there)
        return left.pop(0)

    words = module.swings_on(None, Modes((place("moving", pole),)), 0.02, tried)
    assert bool(words) is said and set(asked) <= {("held", -1)}
    assert not said or "limit cycle of q; it began with q +0.06; linearised, moving" in words


def test_a_loop_that_cannot_be_held_is_not(monkeypatch):
    monkeypatch.setattr(module, "held_at", lambda run, row: None)
    assert module.swings_on(None, Modes((place("moving", 0.1 + 9j),)), 0.02, None) == ""


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
