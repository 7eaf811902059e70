"""Supplies that are slower than the run: what the loop does when their pressure has come to where it stays."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.faults.entries import entries
from tests.faults.judging import judged
from workbench import Scenario
from workbench.verification.linear.modes import Mode, Modes, Place, modes_of
from workbench.verification.practical.later import slow_supply as module


def modes(*given):
    """(pole, states) at one place on the way."""
    found = tuple(Mode(complex(s), 1e-3, states, "", 1e-9, False, 1e-9) for s, states in given)
    return Modes((Place(0.0, "on the way", False, found),))


def loop_of(length):
    plant = SimpleNamespace(supply_names=("p_s",))
    return SimpleNamespace(loop=SimpleNamespace(plant=plant), scenario=Scenario(duration=length))


@pytest.mark.parametrize(
    "pole, states, end, later, said",
    [
        (-0.1, ("p_s",), "", "it is 9 mm off", "the supply takes 50 s"),
        (-0.1, ("p_s",), "", "", ""),
        (-0.1, ("p_s",), "stopped", "", "and then the loop is stopped"),
        (-0.7, ("p_s",), "", "it is 9 mm off", ""),  # 7.1 s of 8 s
        (-0.1, ("p_a", "p_s"), "", "it is 9 mm off", "the supply takes 50 s"),
        (-0.1, ("p_s", "I_s"), "", "", ""),
        (-0.1, ("p_a", "p_b"), "", "it is 9 mm off", ""),  # a chamber whose valve is closed
        (-0.1, (), "", "it is 9 mm off", ""),
        (0.1, ("p_s",), "", "it is 9 mm off", ""),
        (-1e-10, ("p_s",), "", "it is 9 mm off", ""),  # nothing but rounding
        (-1e-3, ("p_s",), "", "", "the supply takes 5000 s to come to where it stays (p_s): make"),
    ],
)
def test_what_comes_when_the_supply_is_there(monkeypatch, pole, states, end, later, said):
    asked = []

    def undisturbed(run, duration):
        asked.append(duration)
        status = SimpleNamespace(completed=not end, message=end)
        return SimpleNamespace(log=SimpleNamespace(status=status))

    monkeypatch.setattr(module, "undisturbed", undisturbed)
    monkeypatch.setattr(module, "off_later", lambda run, seen: later)
    found = module.starves_later(loop_of(8.0), modes((-9.0, ("q",)), (pole, states)))
    assert bool(found) is bool(said) and said in found
    assert asked == [] or asked == [pytest.approx(50.0)]


@pytest.mark.parametrize("k, mixed", [(1.0, True), (0.0, False)])
def test_a_supply_that_a_chamber_feeds_back_takes_part_in_its_mode(k, mixed):
    """τ ṗ_s = −p_s + p_a, ṗ_a = k (p_s − 1.5 p_a)/τ: the slow mode is one of both; k = 0: p_a alone is slow, and p_s follows."""
    τ = 60.0 if mixed else 0.5
    leak = 1.5 * k / τ if mixed else 1e-3
    M = np.array([[-1 / τ, 1 / τ], [k / τ, -leak]])
    found = modes_of(M, None, ("p_s", "p_a"), 8.0)
    slowest = max(found, key=lambda mode: mode.s.real)
    assert set(slowest.states) == ({"p_s", "p_a"} if mixed else {"p_a"})
    takes = module._slowest(loop_of(8.0), Modes((Place(0.0, "", False, found),)))
    assert takes == pytest.approx(-1 / slowest.s.real if mixed else 0.5)


@pytest.mark.parametrize(
    "name, code",
    [
        ("load-sensing-pump-starves-when-the-run-is-over@10-s", 2),
        ("load-sensing-pump-that-is-slow@20-s", 0),
    ],
)
def test_loops_of_the_list(name, code):
    (entry,) = [e for e in entries() if e.name == name]
    assert judged(entry).exit == code
