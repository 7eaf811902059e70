"""Starts further off, of machines of this library whose law, or what stands around it, is the user's own."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from controllers import PID
from plants import LinearActuator
from tests.faults.entries import entries, make
from workbench import ClosedLoop, Delayed, Filtered, Sampled
from workbench.contract.plain import Plain
from workbench.contract.wrappers.around import Around
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.practical import reach_seen as module
from workbench.verification.practical.starts import Start

GIVEN = {"feed": "none", "damping": "none", "δ": 0.0}
KNOWN = PID(LinearActuator(), **GIVEN)


@dataclass(frozen=True, eq=False)
class Odd(Around):
    """Something of the user's own around a law."""

    inner: Any


@dataclass(frozen=True, eq=False)
class OddLaw(PID):
    """A law of the user's own."""


@pytest.mark.parametrize(
    "controller, found",
    [
        (Sampled(KNOWN, 1e-3), False),
        (Delayed(Sampled(Filtered(KNOWN, 30.0, 1.0, ("Y",)), 1e-3), 2e-3), False),
        (Sampled(Odd(KNOWN), 1e-3), True),
        (Delayed(Sampled(Filtered(Odd(KNOWN), 30.0, 1.0, ("Y",)), 1e-3), 2e-3), True),
        (Sampled(OddLaw(LinearActuator(), **GIVEN), 1e-3), True),
        (Sampled(Plain(lambda t, y, r: [0.0], references=("Y_d",)), 1e-3), False),
    ],
)
def test_what_is_the_users_own_between_law_and_machine(controller, found):
    assert module.foreign(controller) is found


def test_what_is_known_is_left_of_a_controller():
    whole = Delayed(Sampled(Odd(Filtered(Odd(KNOWN), 30.0, 1.0, ("Y",))), 1e-3), 2e-3)
    left = module._known(whole)
    assert (left.delay, left.inner.T_s, left.inner.inner.frequency) == (2e-3, 1e-3, 30.0)
    assert left.inner.inner.inner is KNOWN


@pytest.mark.parametrize("joints, names", [(("x", "y"), ["x", "y"]), ((), ["x", "q"])])
def test_joints_are_as_far_off_as_their_path_goes(monkeypatch, joints, names):
    """Ten times as far as other starts, or all that was covered; chamber pressures stay where they are."""
    monkeypatch.setattr(module, "sizes", lambda *_: {"x": 0.02, "y": 0.05, "q": 0.1, "p": 1e5})
    monkeypatch.setattr(module, "positions", lambda plant: ["x", "q"])
    monkeypatch.setattr(module, "strange", lambda plant: False)
    monkeypatch.setattr(module, "foreign", lambda controller: True)
    loop = SimpleNamespace(plant=SimpleNamespace(joint_names=joints), controller=None)
    log = SimpleNamespace(array=lambda name: np.array([0.1, 0.7, 0.4]))
    most = module._furthest(SimpleNamespace(loop=loop, log=log), 0.02)
    wanted = {"x": 0.6, "y": 0.6, "q": 1.0}
    assert most == pytest.approx({name: wanted[name] for name in names})


@pytest.mark.parametrize(
    "whole, bare, told",
    [
        ({0.4: "", 0.2: ""}, {0.4: "", 0.2: ""}, ""),
        ({0.4: "leaves"}, {0.4: ""}, "+0.4"),
        ({0.4: "leaves", 0.2: "stays"}, {0.4: "leaves", 0.2: ""}, "+0.2"),
        ({0.4: "leaves", 0.2: ""}, {0.4: "leaves", 0.2: ""}, ""),
        ({0.4: "leaves", 0.2: "leaves"}, {0.4: "leaves", 0.2: "leaves"}, ""),
        ({0.4: "leaves"}, None, "+0.4"),
    ],
)
def test_only_what_the_machine_does_without_it_speaks_against_what_is_ones_own(
    monkeypatch, whole, bare, told
):
    """From where it is lost without that, too, it is started half as far off."""
    monkeypatch.setattr(module, "_furthest", lambda run, spread: {"x": 0.4})
    monkeypatch.setattr(module, "_bare", lambda run: None if bare is None else "bare")
    monkeypatch.setattr(module, "outermost", lambda run, most: [Start(most)])
    monkeypatch.setattr(module, "lost", lambda why: why)

    def tried(start, there="run"):
        return (whole if there == "run" else bare)[start.amounts["x"]]

    found = module.further_off(None, 0.02, tried)
    assert (f"from a start further off: x {told};" in found) if told else found == ""


@pytest.mark.parametrize("name, holds", [("dips", None), ("fades", True)])
def test_commands_that_give_way_beside_the_path(name, holds):
    (entry,) = [
        e for e in entries() if e.name.startswith("gives") and f"stack-vdc-{name}" in e.name
    ]
    made = make(entry)
    (verdict,) = verify(made.loop, made.scenario, [C.PracticalStability(runs=2)])
    assert verdict.holds is holds, verdict.worst
    assert holds or "from a start further off: q_boom" in verdict.worst
    alone = ClosedLoop(made.loop.plant, module._known(made.loop.controller))
    (known,) = verify(alone, made.scenario, [C.PracticalStability(runs=2)])
    assert known.holds is True and not any("no further off" in a.text for a in known.assumptions)
