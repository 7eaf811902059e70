"""Matrices in balls, numbers as they are written, hold and delay taken off, starts further off, pressures off balance: by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Scenario, Signal
from workbench.contract.units import quantity
from workbench.verification.cause.wiring import instant
from workbench.verification.practical import reach_seen, starts
from workbench.verification.regions import search
from workbench.verification.results import arrays
from workbench.verification.rigorous.balls import Ball
from workbench.verification.search.of_scenario import Disturbance
from workbench.verification.temporal.ready import MOST_DIGITS, written
from workbench.verification.verdict import Verdict


# ---- matrices inside of balls --------------------------------------------------
@pytest.mark.parametrize("row, column", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_matrix_is_inside_of_a_ball_with_every_entry_exactly(row, column):
    """At the radius it is in; a unit of the last digit beyond it, in any one entry, it is not."""
    mid, rad = np.array([[1.0, -2.0], [4.0, 8.0]]), np.array([[0.5, 0.0], [0.25, 2.0]])
    own = Ball(mid, rad)
    for sign in (-1.0, 1.0):
        at = mid.copy()
        at[row, column] += sign * rad[row, column]
        assert own.holds(at)
        at[row, column] = np.nextafter(at[row, column], sign * np.inf)
        assert not own.holds(at)


# ---- numbers as people write them --------------------------------------------------
@pytest.mark.parametrize(
    "text, unit",
    [("12.3456789012 mm", "m"), ("12.35 mm", "m"), ("1.234567 kN", "N"), ("3.25 %", "1")],
)
def test_a_number_is_written_with_as_few_digits_as_read_back(text, unit):
    """From four up to twelve; one that needs more stands as Python writes it."""
    assert MOST_DIGITS == 12 and written(quantity(text, unit), unit) == text


@pytest.mark.parametrize(
    "value, unit, text", [(0.1234567890123, "m", "0.1234567890123 m"), (1 / 3, "1", repr(1 / 3))]
)
def test_a_number_of_too_many_digits_is_written_in_full(value, unit, text):
    assert written(value, unit) == text and quantity(text, unit) == value


# ---- what stands around a law --------------------------------------------------
def test_hold_and_delay_are_taken_off_and_what_has_no_period_stays():
    law = SimpleNamespace(period=None, inner=None)
    filtered = SimpleNamespace(period=None, inner=law)
    held = SimpleNamespace(period=0.1, inner=filtered)
    late = SimpleNamespace(period=0.1, inner=held)
    assert instant(late) is filtered and instant(held) is filtered and instant(law) is law
    alone = SimpleNamespace(period=0.1, inner=None)
    assert instant(alone) is alone


# ---- starts further off --------------------------------------------------
@pytest.mark.parametrize("strange, lost, words", [
    (True, ("", ""), ""),
    (True, ("", "it falls"), f"it falls, from a start further off: back; {reach_seen.MEND}"),
    (True, ("it stays", "it falls"), f"it stays, from a start further off: ahead; {reach_seen.MEND}"),
    (False, ("it stays", "it falls"), ""),
])  # fmt: skip
def test_a_plant_that_nobody_knows_is_tried_from_further_off(monkeypatch, strange, lost, words):
    told = dict(zip(("ahead", "back"), lost))
    monkeypatch.setattr(reach_seen, "strange", lambda plant: strange)
    monkeypatch.setattr(reach_seen, "foreign", lambda controller: False)
    monkeypatch.setattr(reach_seen, "sizes", lambda run, spread: {"x": spread})
    asked = []

    def outermost(run, amounts):
        asked.append(amounts)
        return [SimpleNamespace(words="ahead"), SimpleNamespace(words="back")]

    monkeypatch.setattr(reach_seen, "outermost", outermost)
    monkeypatch.setattr(reach_seen, "lost", lambda outcome: told[outcome])
    run = SimpleNamespace(loop=SimpleNamespace(plant=None, controller=None))
    assert reach_seen.further_off(run, 0.25, lambda start: start.words) == words
    assert asked == ([{"x": 2.5}] if strange else [])


@pytest.mark.parametrize("pressures, scale, off", [
    ({"p": [2e5, -3e5], "q": [1e5, 0.0]}, None, 6e3),
    ({"p": [0.5, 0.25]}, None, 0.01),
    ({"p": [0.0, 0.0]}, None, starts.UNSCALED["Pa"]),
    ({}, None, starts.UNSCALED["Pa"]),
    ({"p": [2e5, 3e5]}, 1e7, 2e5),
])  # fmt: skip
def test_pressures_are_put_off_by_a_fiftieth_of_their_scale_or_of_the_largest(
    monkeypatch, pressures, scale, off
):
    known = None if scale is None else SimpleNamespace(value=scale)
    monkeypatch.setattr(starts, "scales", lambda plant: SimpleNamespace(pressure=known))
    log = SimpleNamespace(array=lambda name: np.array(pressures[name]))
    plant = SimpleNamespace(pressure_names=tuple(pressures))
    run = SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant))
    assert starts.unbalanced(run) == pytest.approx(off)


# ---- disturbances that may vary --------------------------------------------------
@pytest.mark.parametrize(
    "stated, default, nominal",
    [({"f": 3.0}, {"f": 7.0}, 3.0), ({}, {"f": 7.0}, 7.0), ({}, {}, 0.0)],
)
def test_a_disturbance_begins_where_the_scenario_has_it(stated, default, nominal):
    inputs = (Signal("f", "N", "", "disturbance"), Signal("u", "V"))
    loop = SimpleNamespace(inputs=inputs, defaults=lambda: default)
    (found,) = Disturbance().named(loop, Scenario(1.0, disturbances=stated), "disturbance.f")
    assert (found.low, found.high, found.nominal) == (0.0, 0.0, nominal)
    assert (found.unit, found.of) == ("N", ("f",))


# ---- regions of a solver, curves of actuators --------------------------------------------------
@pytest.mark.parametrize("spoilt", ["Q", "Y", "s"])
def test_a_solution_with_a_number_that_is_none_is_no_region(monkeypatch, spoilt):
    """One entry of three suffices: Q so that P is none, Y, or a multiplier; without it the first shrinking is taken."""
    taken = []

    class Known(SimpleNamespace):
        def check(self):
            taken.append(self.τ)
            return True

    monkeypatch.setattr(search, "Region", lambda **given: Known(**given))
    parts = {"Q": np.diag([4.0, 2.0]), "Y": np.array([[1.0, 3.0]]), "s": np.array([0.5])}
    ask = lambda: search._checked(
        None, None, None, np.array([2.0]), None, np.eye(2), (*parts.values(), 1.0)
    )
    found = ask()
    assert found.P == pytest.approx(np.diag([0.25, 0.5]), rel=1e-6)
    assert found.G == pytest.approx(np.array([[0.5, 3.0]])) and found.τ == pytest.approx(
        [0.5], rel=1e-6
    )
    parts[spoilt] = parts[spoilt].copy()
    parts[spoilt].flat[0] = np.nan
    assert ask() is None and len(taken) == 1


def test_only_actuators_with_margins_are_drawn(monkeypatch):
    monkeypatch.setattr(
        arrays, "_loops", lambda run, claims, key: [("a", ["loop a", key]), ("b", [])]
    )
    monkeypatch.setattr(arrays, "around", lambda loops, disk: (loops, disk))
    row = lambda name, disk: {"actuator": name, "disk": disk}
    local = Verdict(
        "linear-stability", "c", None, data={"margins": [row("a", 0.5), row("c", 0.25)]}
    )
    asked = Verdict("linear", "c", None, data={"margins": [row("a", 0.75)]})
    found = arrays.sensitivity(None, (), [local])
    assert found == {"a": (["loop a", "linear-stability"], 0.5)}
    assert arrays.sensitivity(None, (), [local, asked]) == {"a": (["loop a", "linear"], 0.75)}
    assert arrays.sensitivity(None, (), [Verdict("linear", "c", None)]) == {}
