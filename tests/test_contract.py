"""A user's plant or law is checked when the loop is built; what is wrong is said with what to write
instead.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

from controllers import PID, VDC
from plants import machine, machines
from workbench import (
    ClosedLoop,
    Controller,
    InputError,
    Plain,
    Sampled,
    Saturated,
    Scenario,
    Signal,
    System,
    simulate,
)
from workbench.contract.checks import _check_controller, _check_system
from workbench.contract.parameters import Unit

MEMORY = []


@dataclass(frozen=True)
class Mass(System):
    """m v̇ = u − d v² sgn v, ẋ = v; measured x, v; `changed` replaces one method."""

    m: Annotated[float, Unit("kg")] = 2.0
    states = (Signal("x", "m"), Signal("v", "m/s"))
    inputs = (Signal("u", "N"),)
    outputs = (Signal("x", "m"), Signal("v", "m/s"))
    monitors = (Signal("a", "m/s^2"),)
    power_names = ("drive",)

    def initial(self):
        return [0.3, 0.1]

    def rhs(self, t, x, u):
        return [x[1], (u[0] - 0.4 * x[1] * np.abs(x[1])) / self.m]

    def out(self, t, x):
        return list(x)

    def monitor(self, t, x, u):
        return [u[0] / self.m]

    def powers(self, t, x, u):
        return [u[0] * x[1]]


@dataclass(frozen=True)
class Law(Controller):
    """u = −4 x − z, ż = x, in both forms."""

    states = (Signal("z"),)
    measured = (Signal("x"), Signal("v"))
    commands = (Signal("u"),)
    references = (Signal("x_d", kind="reference"),)
    monitors = (Signal("e"),)

    def command(self, t, z, y, r):
        return [-4 * (y[0] - r[0]) - z[0]]

    def rhs(self, t, z, y, r):
        return [y[0] - r[0]]

    def step(self, t, z, y, r):
        return [z[0] + 1e-3 * y[0]], [-4 * (y[0] - r[0]) - z[0]]

    def monitor(self, t, z, y, r):
        return [y[0] - r[0]]


def having(base, **changed):
    """An object of `base` with some attributes of its class replaced."""
    return dataclass(frozen=True)(type(f"My{base.__name__}", (base,), changed))()


def test_what_is_sound_passes():
    log = simulate(ClosedLoop(Mass(), Law()), Scenario(0.05), compiled=False)
    sampled = simulate(
        ClosedLoop(Mass(), Sampled(Saturated(Law(), -3.0, 3.0), 1e-3)),
        Scenario(0.05),
        compiled=False,
    )
    assert log.status.completed and sampled.status.completed


PLANTS = {
    "too few derivatives": (
        {"rhs": lambda s, t, x, u: [x[1]]},
        r"returns 1 derivatives, expected 2 \(x, v\)",
    ),
    "too many derivatives": (
        {"rhs": lambda s, t, x, u: [x[1], u[0], 0.0]},
        "returns 3 derivatives, expected 2",
    ),
    "nothing returned": (
        {"rhs": lambda s, t, x, u: None},
        r"returns nothing \(None\)(.|\n)*return \[",
    ),
    "one number": ({"rhs": lambda s, t, x, u: x[1]}, "expected a list of numbers"),
    "a list in the list": (
        {"rhs": lambda s, t, x, u: [x[1], [u[0]]]},
        "entry number 2 is .*expected one number",
    ),
    "text": ({"rhs": lambda s, t, x, u: [x[1], "u"]}, "entry number 2"),
    "short start": (
        {"initial": lambda s: [0.3]},
        r"initial returns 1 start values, expected 2 \(x, v\)",
    ),
    "long start": ({"initial": lambda s: [0.3, 0.0, 0.0]}, "initial returns 3 start values"),
    "start not finite": ({"initial": lambda s: [0.3, math.inf]}, "gives inf for v"),
    "short out": ({"out": lambda s, t, x: [x[0]]}, r"out returns 1 outputs, expected 2 \(x, v\)"),
    "no out": ({"out": System.out}, "out returns 0 outputs"),
    "short monitor": (
        {"monitor": lambda s, t, x, u: []},
        r"monitor returns 0 monitors, expected 1 \(a\)",
    ),
    "two powers": (
        {"powers": lambda s, t, x, u: [1.0, 2.0]},
        r"powers returns 2 powers, expected 1 \(drive\)",
    ),
    "short update": ({"update": lambda s, t, x, u: [x[0]]}, "update returns 1 states"),
    "short project": ({"project": lambda s, t, x: [x[0]]}, "project returns 1 states"),
    "stored list": ({"stored": lambda s, t, x, u: [1.0, 2.0]}, "stored: its entry number 1"),
    "input out of range": ({"rhs": lambda s, t, x, u: [x[1], u[1]]}, "IndexError"),
    "arguments": ({"rhs": lambda s, t, x: [x[1], 0.0]}, "rhs fails(.|\n)*rhs\\(self, t, x, u\\)"),
    "strings for signals": ({"states": ("x", "v")}, "expected a tuple of Signals"),
    "no comma": ({"monitors": Signal("a")}, "with the comma"),
    "names twice": ({"states": (Signal("x"), Signal("x"))}, "two signals are called 'x'"),
    "unknown default": (
        {"defaults": lambda s: {"w": 1.0}},
        "names 'w', which is none of its inputs",
    ),
    "unknown limit": ({"limits": lambda s: {"w": (0.0, 1.0)}}, "names 'w'"),
    "unknown stiff": ({"stiff": ("w",)}, "none of its states"),
    "if": (
        {"rhs": lambda s, t, x, u: [x[1], 1.0 if x[0] > 0 else u[0]]},
        r"np.where\(condition, a, b\)",
    ),
    "if on a parameter": (
        {"rhs": lambda s, t, x, u: [x[1], 1.0 if s.m > 0 else u[0]]},
        r"np.where\(condition, a, b\)",
    ),
    "math": (
        {"rhs": lambda s, t, x, u: [x[1], math.sin(x[0])]},
        "write np.sin in place of math.sin",
    ),
    "math of a parameter": (
        {"rhs": lambda s, t, x, u: [x[1], u[0] / math.sqrt(s.m)]},
        "write np.sqrt",
    ),
    "copysign": ({"rhs": lambda s, t, x, u: [x[1], math.copysign(1.0, x[0])]}, "write np.copysign"),
    "max": ({"rhs": lambda s, t, x, u: [x[1], max(u[0], 0.0)]}, r"np.maximum\(a, b\)"),
    "and": ({"out": lambda s, t, x: [x[0], (x[0] > 0) and x[1]]}, "np.logical_and"),
    "float": ({"out": lambda s, t, x: [x[0], float(x[1])]}, "leave out float"),
    "noise": (
        {"rhs": lambda s, t, x, u: [x[1], np.random.default_rng().normal()]},
        "other numbers when it is called again",
    ),
    "memory": (
        {"rhs": lambda s, t, x, u: [x[1], MEMORY.append(1) or float(len(MEMORY))]},
        "keep nothing on self",
    ),
    "type": (
        {"rhs": lambda s, t, x, u: [x[1], u[0] * (2.0 if isinstance(x[0], float) else 3.0) + 1.0]},
        r"one thing on numbers.*entry number 2 \(v\)",
    ),
}


@pytest.mark.parametrize("fault", PLANTS)
def test_a_plant_that_breaks_the_contract(fault):
    changed, sentence = PLANTS[fault]
    plant = having(Mass, **changed)
    with pytest.raises(InputError, match=sentence):
        ClosedLoop(plant, Law())
    with pytest.raises(InputError, match=sentence):
        simulate(plant, Scenario(0.01))


LAWS = {
    "a reference that nobody gives": (
        {"references": (Signal("x_d", "m"),)},
        r'the kind of x_d is \'\', expected (.|\n)*kind="reference"',
    ),
    "no command": (
        {"command": lambda s, t, z, y, r: []},
        r"command returns 0 commands, expected 1 \(u\)",
    ),
    "two commands": ({"command": lambda s, t, z, y, r: [1.0, 2.0]}, "command returns 2 commands"),
    "one number": ({"command": lambda s, t, z, y, r: -y[0]}, "expected a list of numbers"),
    "nothing": ({"command": lambda s, t, z, y, r: None}, "returns nothing"),
    "rates": ({"rhs": lambda s, t, z, y, r: []}, r"rhs returns 0 derivatives, expected 1 \(z\)"),
    "no pair": ({"step": lambda s, t, z, y, r: [1.0]}, r"expected the pair \(memory, commands\)"),
    "memory lost": (
        {"step": lambda s, t, z, y, r: ([], [1.0])},
        r"step returns 1 .*expected 2 \(z, u\)",
    ),
    "step_at": ({"step_at": lambda s, T, t, z, y, r: (z, [])}, "step_at returns 1"),
    "start": ({"start": lambda s, t, z, y, r: []}, "start returns 0 of memory"),
    "monitors": (
        {"monitor": lambda s, t, z, y, r: []},
        r"monitor returns 0 monitors, expected 1 \(e\)",
    ),
    "initial": ({"initial": lambda s: []}, r"initial returns 0 start values, expected 1 \(z\)"),
    "measurement out of range": ({"command": lambda s, t, z, y, r: [y[2]]}, "IndexError"),
    "arguments": ({"command": lambda s, y, r: [y[0]]}, r"command\(self, t, z, y, r\)"),
    "if": ({"command": lambda s, t, z, y, r: [1.0 if y[0] > 0 else -1.0]}, "np.where"),
    "math": ({"step": lambda s, t, z, y, r: (z, [math.tanh(y[0])])}, "write np.tanh"),
    "type": (
        {"command": lambda s, t, z, y, r: [1.0 if isinstance(y[0], float) else 2.0]},
        "says one thing on numbers",
    ),
    "names twice": ({"references": (Signal("x_d"), Signal("x_d"))}, "two signals are called 'x_d'"),
    "strings": ({"measured": ("x",)}, "expected a tuple of Signals"),
}


@pytest.mark.parametrize("fault", LAWS)
def test_a_law_that_breaks_the_contract(fault):
    changed, sentence = LAWS[fault]
    law = having(Law, **changed)
    for controller in (law, Sampled(Saturated(law, -3.0, 3.0), 1e-3)):
        with pytest.raises(InputError, match=sentence):
            ClosedLoop(Mass(), controller)


def test_a_controller_without_a_law():
    class Empty(Controller):
        measured = (Signal("x"),)
        commands = (Signal("u"),)

    with pytest.raises(InputError, match="Empty has no law"):
        ClosedLoop(Mass(), Empty())


def test_where_it_stands_is_said():
    """File and line are the user's."""
    plant = having(Mass, rhs=lambda s, t, x, u: [x[1], math.sin(x[0])])
    with pytest.raises(InputError) as refused:
        ClosedLoop(plant, Law())
    assert (
        refused.value.file == __file__
        and "math.sin" in open(__file__).read().splitlines()[refused.value.line - 1]
    )


def test_a_switch_on_its_edge_is_no_disagreement():
    """x = 0.1 + 0.2 − 0.3 is 5.6e-17 or 0 by how it is rounded; the text is right."""
    plant = having(
        Mass,
        initial=lambda s: [0.0, 0.0],
        rhs=lambda s, t, x, u: [x[1], np.where(x[0] + 0.1 + 0.2 - 0.3 > 0.0, 5.0, -5.0) * s.m],
    )
    assert ClosedLoop(plant, Law()).states


def test_a_text_with_a_domain_passes():
    """√v is no number near v = 0⁻, neither way."""
    plant = having(
        Mass,
        initial=lambda s: [0.0, 0.0],
        rhs=lambda s, t, x, u: [np.sqrt(x[1]), 1.0 / (x[0] + 1.0)],
    )
    assert ClosedLoop(plant, Law()).states


# ---- laws called from Python ---------------------------------------------------------------------
class Keeping:
    """A law with memory."""

    def initial(self):
        return 0.0

    def step(self, t, z, y, r):
        return z + y[0], [-z]


def test_laws_called_from_python_are_called_rightly():
    for law in (
        Keeping(),
        lambda t, y, r: [0.0],
        lambda t, y, r, k=2.0: [k],
        lambda *given: [0.0],
        Plain(Keeping()),
    ):
        assert ClosedLoop(Mass(), law).hosted


def test_references_of_a_law_called_from_python_are_the_scenarios():
    """A Signal that says nothing of its kind is one that the scenario gives, as a name is."""
    for asked in ("x_d", Signal("x_d", "m"), Signal("x_d", "m", kind="reference")):
        loop = ClosedLoop(Mass(), Plain(lambda t, y, r: [r[0]], references=(asked,)))
        assert [(s.name, s.kind) for s in loop.controller.references] == [("x_d", "reference")]


@pytest.mark.parametrize(
    "law, sentence",
    [
        (lambda t, y: [0.0], r"cannot be called as \(t, y, r\): too many positional arguments"),
        (
            lambda t, z, y, r: [0.0],
            r"cannot be called as \(t, y, r\): missing a required argument: 'r'",
        ),
        (Keeping, "Keeping is a class, not one of its objects"),
        (having(object, command=lambda s, y: [0.0]), r"command cannot be called as \(t, z, y, r\)"),
        (
            having(object, step=lambda s, t, z, y, r: (0, [0.0]), initial=lambda s, plant: 0.0),
            r"initial cannot be called as \(\)",
        ),
        (having(object, step=3.0), "cannot be called"),
        ("PID", "is no controller"),
    ],
)
def test_a_law_that_cannot_be_called(law, sentence):
    with pytest.raises(InputError, match=sentence):
        ClosedLoop(Mass(), law)


# ---- what the library ships ----------------------------------------------------------------------
@pytest.mark.parametrize("name", machines())
def test_every_shipped_machine_keeps_it(name):
    plant = machine(name).plant
    _check_system(plant)  # raises at the first rule that is broken
    assert len(plant.initial()) == len(plant.states) > 0


def test_shipped_laws_keep_it():
    crane = machine("hiab-xs031").plant.locked(extension=0.37)
    for law in (PID(crane), VDC(crane, derivative="zero")):
        _check_controller(law, crane)  # raises at the first rule that is broken
        assert len(law.commands) == len(crane.labels)
