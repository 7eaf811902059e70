"""Wires between machine and law, from numbers written down: what differs, what undoes it, and what is told of it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.system import Signal
from workbench.verification.cause import edits, fitted
from workbench.verification.cause import linear as slow
from workbench.verification.cause import wiring as module
from workbench.verification.cause.edits import Edit, same, scaled, shifted
from workbench.verification.cause.wiring import UNTOUCHED, Heard
from workbench.verification.linear.modes import Mode

COMMANDS = (Signal("u", "V"), Signal("w", "A"))
MEASURED = (Signal("a", "m"), Signal("b", "Pa"))
LAW = SimpleNamespace(commands=COMMANDS, measured=MEASURED)


def law(t, z, y, r):
    """u = 2 a + b, w = −3 a."""
    return [2.0 * y[0] + y[1], -3.0 * y[0]]


SEEN = [(0.5, [], [1.0, 2.0], []), (1.5, [], [3.0, -1.0], []), (2.5, [], [-1.0, 0.5], [])]


def heard(change=same, of=same):
    """What a law commands through wires that are changed."""
    return Heard(SEEN, law, np.array([change(law(t, z, of(y), r)) for t, z, y, r in SEEN]))


# ---- what differs -------------------------------------------------------------------------------
def test_commands_differ_by_shares_of_the_largest_of_each():
    """u = 4, 5, −1.5 and w = −3, −9, 3; the second is halved: off by a whole of its largest, 4.5, at the second sample."""
    found = heard(scaled([1], 0.5))
    off = found.off(UNTOUCHED)
    assert off.shape == (3, 2) and off[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert off[:, 1] == pytest.approx([1.5 / 4.5, 1.0, 1.5 / 4.5])
    assert found.residual(UNTOUCHED) == pytest.approx(1.0)
    assert found.residual(Edit("half", same, scaled([1], 0.5))) == 0.0
    assert found.sizes == [3.0, 2.0, 5.0, 4.5]


def test_commands_that_are_gone_differ_by_what_was_asked_for():
    off = heard(scaled([0], 0.0)).off(UNTOUCHED)
    assert off[:, 0] == pytest.approx([0.8, 1.0, 0.3])
    nothing = Heard(SEEN, lambda *_: [0.0, 0.0], np.zeros((3, 2)))
    assert nothing.residual(UNTOUCHED) == 0.0
    lost = Heard(SEEN, lambda *_: [math.nan, math.nan], np.zeros((3, 2)))
    assert lost.residual(UNTOUCHED) == math.inf
    partly = Heard(SEEN, lambda t, z, y, r: [math.nan, 0.5], np.ones((3, 2)))
    assert partly.residual(UNTOUCHED) == 0.5


def wired(monkeypatch, found, limits=None):
    monkeypatch.setattr(module, "heard", lambda run: iter([found] if found else []))
    monkeypatch.setattr(module, "innermost", lambda controller: LAW)
    monkeypatch.setattr(module, "between", lambda controller: [1, 2.0])
    plant = SimpleNamespace(limits=lambda: limits or {})
    return SimpleNamespace(loop=SimpleNamespace(controller=None, plant=plant))


def test_what_a_wrapper_changes_most_is_told_where_it_is(monkeypatch):
    run = wired(monkeypatch, heard(shifted([1], 1.0)))
    said = "changes w: at t = 500 ms the law asks for -3 A and it gives -2 A"
    assert module.altered(run) == f"int or float, between law and machine, {said}".replace(
        "500 ms", "0.5 s"
    )
    assert module.altered(wired(monkeypatch, None)) == ""


@pytest.mark.parametrize(
    "found, words",
    [
        (heard(scaled([1], -1.0)), "sign of the command w"),
        (heard(of=scaled([0], -1.0)), "sign of the measurement a"),
        (heard(of=scaled([0], 1 / 60)), "unit of the measurement a: times 0.01667 (a sixtieth)"),
        (heard(of=scaled([0], 60.0)), "unit of the measurement a: times 60 (sixty)"),
        (heard(of=scaled([1], 1.07)), "the measurement b times 1.07"),
        (heard(of=scaled([0], 50.0)), "the measurement a times 50"),
        (heard(shifted([0], 0.7)), "the command u plus 0.7 V"),
        (heard(lambda u: [u[0], 2.0]), "the command w does not reach the machine, which gets 2 A"),
    ],
)
def test_what_a_single_edit_undoes_is_named(monkeypatch, found, words):
    said = module.rewired(wired(monkeypatch, found))
    assert words in said and "with that undone the residual falls from" in said


def test_what_no_single_edit_undoes_is_not_named(monkeypatch):
    mixed = heard(lambda u: [u[0] * abs(u[1]), u[0] - 3.0 * u[1] ** 2])
    assert module.rewired(wired(monkeypatch, mixed)) == ""
    assert module.rewired(wired(monkeypatch, None)) == ""


def test_a_command_that_stays_is_stuck_unless_it_is_at_an_end_of_its_range():
    applied = np.array([[2.0, 5.0], [2.0, 5.0], [2.0, 5.1]])
    (found,) = edits.stuck(LAW, applied, {"u": (-3.0, 3.0)})
    assert found.words == (
        "the command u does not reach the machine, which gets 2 V for ever"
    ) and found.commanded([9.0, 8.0]) == [2.0, 8.0]
    assert list(edits.stuck(LAW, applied, {"u": (-2.0, 2.0)})) == []


@pytest.mark.parametrize("factor", [1e-2, 0.03, 0.97, 1.2, 30.0, 99.0])
def test_factors_from_a_hundredth_to_a_hundred_are_found(factor):
    found = heard(of=scaled([0], factor))
    assert fitted.fitted(LAW, found.residual).words == f"the measurement a times {factor:.4g}"


def test_nulls_are_sought_of_wires_that_carried_something():
    sizes = [3.0, 0.0, 5.0, 0.0]
    found = fitted.biased(LAW, lambda edit: 0.0, sizes)
    assert [edit.words.split(" plus ")[0] for edit in found] == [
        "the measurement a",
        "the command u",
    ]


def test_the_best_factor_is_sought_no_further():
    tried = []

    def residual(edit):
        tried.append(abs(edit.measured([1.0, 1.0])[0]))
        return abs(tried[-1] - 1e4)

    fitted.fitted(SimpleNamespace(commands=(), measured=MEASURED[:1]), residual)
    assert max(tried) == pytest.approx(100.0) and min(tried) == pytest.approx(0.01)


# ---- modes that hardly decay ------------------------------------------------------------------------
@pytest.mark.parametrize(
    "s, linear, told",
    [
        (-0.9, True, True),
        (-1.1, True, False),
        (-0.9, False, False),
        (-0.9 + 0.6j, False, False),
        (-0.9 + 0.7j, False, True),
        (0.9 + 0.7j, False, True),
        (1.1 + 0.7j, False, False),
    ],
)
def test_a_mode_that_stays_through_a_run_is_told(monkeypatch, s, linear, told):
    """Of a run of 10 s: |Re s| · SLOW · 10 < 1, and of a plant that is not linear more than one turn."""
    scale = 1 / (slow.SLOW * 10.0)
    mode = Mode(complex(s.real * scale, s.imag), 1e-9, ("y",), "at rest", 0.0)
    monkeypatch.setattr(slow, "modes_of", lambda *given: (mode,))
    monkeypatch.setattr(slow, "is_linear", lambda plant: linear)
    own = SimpleNamespace(matrix=lambda: np.eye(1), law=SimpleNamespace(A=(), T=0.0))
    monkeypatch.setattr(slow, "around", lambda run, loop: own)
    plant = SimpleNamespace(states=(Signal("y", "m"),))
    run = SimpleNamespace(
        loop=SimpleNamespace(plant=plant), scenario=SimpleNamespace(length=lambda: 10.0)
    )
    assert bool(slow.hardly_decays(run)) is told
