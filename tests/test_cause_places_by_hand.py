"""Places of the search for causes, by hand: growth that is no number, settings that begin alike, wires of a single sample."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize

from workbench import Controller, Signal
from workbench.contract.annotations import Info
from workbench.contract.parameters import Leaf
from workbench.contract.plain import Plain
from workbench.run.reference import Sine
from workbench.verification.cause import edits, fitted, foresight, gains
from workbench.verification.cause.around import Around
from workbench.verification.cause.scenario_trials import _in_degrees
from workbench.verification.linear.loop import LinearLaw


def test_a_loop_of_which_a_single_slope_is_no_number_grows_without_end():
    none = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0))
    A = np.array([[-1.0, math.inf], [0.0, -2.0]])
    law = LinearLaw(*none, np.zeros((1, 2)), 0.0, 0.0)
    assert Around(A, np.zeros((2, 1)), np.eye(2), law).growth() == math.inf


def test_degrees_for_rad_are_as_odd_as_a_wrong_sign():
    wave = Sine("joint", (0.0,), (-7.0,), 0.5)
    run = SimpleNamespace(scenario=SimpleNamespace(reference=wave), error_unit="m")
    (found,) = _in_degrees(run)
    assert found.oddness == 1.0 and found.scenario["reference"].amplitude[0] == math.radians(-7.0)
    assert "is 7 rad, more than a turn" in found.words


def test_a_single_sample_can_be_stuck():
    law = SimpleNamespace(commands=(Signal("u", "V"), Signal("w", "1")))
    found = [edit.words for edit in edits.stuck(law, np.array([[2.0, 0.5]]), {"u": (-2.0, 2.0)})]
    assert found == ["the command w does not reach the machine, which gets 0.5 for ever"]


@pytest.mark.parametrize(
    "best, ends", [(0, (1.0, 2.0)), (1, (1.0, 4.0)), (3, (4.0, 16.0)), (4, (8.0, 16.0))]
)
def test_the_best_number_is_sought_between_its_neighbours(monkeypatch, best, ends):
    grid = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    asked = []

    def minimise(size, bounds, method, options):
        asked.append((bounds, method, options))
        return SimpleNamespace(x=0.25)

    monkeypatch.setattr(scipy.optimize, "minimize_scalar", minimise)
    found = fitted._refined(lambda v: v, lambda v: abs(v - grid[best]), grid)
    (bounds, method, options), *others = asked
    assert found == 0.25 and bounds == ends and method == "bounded" and not others
    assert options == {"xatol": pytest.approx(fitted.FINE * (ends[1] - ends[0]))}


def test_a_looser_law_is_called_as_the_loops_law_is(monkeypatch):
    """A law from Python stays wrapped under the names that it has in the loop; another one stands by itself."""
    alone = SimpleNamespace(controller=SimpleNamespace())
    assert foresight._called(alone, "made") == "made"
    given = {"measured": ("y",), "commands": ("u",), "references": ("y_d",)}
    plain = object.__new__(Plain)
    for name, value in given.items():
        object.__setattr__(plain, name, value)
    monkeypatch.setattr(foresight, "innermost", lambda controller: controller)
    monkeypatch.setattr(foresight, "replace", lambda own, **changes: (own, changes))
    found = foresight._called(SimpleNamespace(controller=plain), "made")
    assert found == (plain, {"law": "made", **given})


@dataclass(frozen=True)
class Two(Controller):
    """A law with settings of which one begins with another's name, one of them of several numbers."""

    model: object
    K: tuple = (2.0, 5.0)
    K_2: float = 3.0
    measured = ()
    commands = ()


def test_settings_that_begin_alike_are_put_right_apart(monkeypatch):
    """The oddest number of a setting is told; one that is as usual is not tried."""
    law = Two("model")
    usual = Two("model", K=(2.0, 4.0), K_2=3.3)
    monkeypatch.setattr(gains, "usual_law", lambda law, model: usual)
    paths = {"controller.K.0": 2.0, "controller.K.1": 5.0, "controller.K_2": 3.0}
    known = {path: Leaf(path, value, Info("1")) for path, value in paths.items()}
    first, second = gains._gains(SimpleNamespace(controller=law), known)
    assert first.numbers == {"controller.K.1": 4.0} and second.numbers == {"controller.K_2": 3.3}
    assert first.words == "gain controller.K is 1.25 × the default, 4 (5)"
    assert first.oddness == pytest.approx(0.85 * (0.5 + math.log10(1.25)))
