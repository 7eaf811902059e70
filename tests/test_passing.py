"""Places that a run passes too fast for what grows there to be seen: found by the linearised loop, and held."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID
from tests.faults.entries import entries, make
from tests.faults.judging import judged
from tests.faults.uneven import Uneven
from workbench import ClosedLoop, Sampled, Scenario, Waypoints
from workbench.contract.errors import InputError
from workbench.verification.linear.modes import Mode
from workbench.verification.linear.passed import along, growing
from workbench.verification.observed import rest_on_path
from workbench.verification.practical import passing as module
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.practical.returning import Judged, Return
from workbench.verification.run import run as simulated

PATH = Scenario(28.0, Waypoints("output", ((0.0,), (0.06,), (0.0,)), leg=10.0, dwell=4.0))


def a_run(K_p=120.0, **numbers):
    plant = Uneven(**numbers)
    law = PID(plant, K_p=(K_p,), K_i=(0.0,), feed="none", damping="none", u_max=1e6, signals=("x",))
    return simulated(ClosedLoop(plant, Sampled(law, T_s=2e-3)), PATH)


# ---- where it grows ------------------------------------------------------------------------------------------------------
def test_rows_are_even_over_way_and_time():
    """x goes from 0 to 1 within a hundredth of the time: half of the rows are there."""
    x = np.concatenate([np.linspace(0, 1, 101), np.ones(9900)])
    log = SimpleNamespace(array=lambda name: x)
    plant = SimpleNamespace(states=(SimpleNamespace(name="x"),))
    rows = along(SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant)), 41)
    assert rows[0] == 0 and rows[-1] >= 9999
    assert sum(row <= 100 for row in rows) == pytest.approx(21, abs=1)
    assert np.diff(rows[21:]) == pytest.approx(500, abs=10)


def test_the_place_of_too_much_gain_is_found():
    """K_p g K beyond 2 D w at the middle of the hump alone: there, swinging with nearly w."""
    run = a_run(how="hump", at=0.033, width=0.003)
    row, swing = next(one for one in growing(run, 400, 0) if one[1].s.imag > 0)
    assert abs(run.log.array("x")[row] - 0.033) < 0.005 and swing.s.real > 0.4
    assert swing.s.imag == pytest.approx(31.0, rel=0.1)
    assert growing(a_run(), 400, 4) == []


def test_between_its_rows_it_sees_nothing():
    assert growing(a_run(how="hump", width=2e-4), 20, 4) == []


def test_an_instant_is_no_place(monkeypatch):
    """Row 1 grows most of all, and alone. Of two on end the slower counts; then the largest swing, and the largest other one."""

    def mode(s):
        return None if s is None else Mode(complex(s), 1e-9, ("q",), "", 0.0)

    modes = (None, 9 + 9j, None, 1 + 9j, 3 + 9j, 2 + 9j, None, 1, 5, 4, None, 1 + 8j, 1 + 8j)
    given = [(10 * k, mode(s)) for k, s in enumerate(modes)]
    monkeypatch.setattr("workbench.verification.linear.passed._fastest", lambda run, n: given)
    told = lambda places: [(row, one.s) for row, one in growing(None, 13, places)]
    assert told(0) == [(50, 2 + 9j), (90, 4 + 0j)]
    assert told(3) == [*told(0), (30, 1 + 9j), (50, 2 + 9j), (110, 1 + 8j)]


# ---- what it does there ------------------------------------------------------------------------------------------------
def test_it_is_held_where_the_reference_comes_to_that_place():
    """A loop that lags is where its reference was before: the row is later on the way there."""
    run = a_run()
    row = int(np.searchsorted(run.log.time, 5.0))
    held = module.nearest_wanted(run, row)
    assert run.log.array("x_d")[held] == pytest.approx(run.log.array("x")[row], abs=1e-4)
    assert abs(run.log.array("x_d")[row] - run.log.array("x")[row]) > 2e-3


def away(pressure):
    """An outcome in which one signal goes further away."""
    signal = Judged("s", ("s",), "1", 1e-3, pressure)
    return Outcome(
        0.0, 0.0, "", "", "", (Return(signal, "growing", 0.1, 0.2, math.inf, 0.0, True),)
    )


BACK = Outcome(0.0, 0.0, "", "", "", ())
SWINGS = Outcome(0.0, 0.0, "", "", "limit cycle of x, 5 Hz", ())


@pytest.mark.parametrize(
    "grows, there, outcomes, found, far",
    [
        (True, "there", (BACK, BACK), "", ""),
        (
            True,
            "there",
            (BACK, SWINGS),
            "limit cycle of x, 5 Hz; linearised there, a mode grows",
            "",
        ),
        (False, "there", (SWINGS, SWINGS), "", ""),
        (True, None, (SWINGS, SWINGS), "", ""),
        (True, "there", (BACK, away(False)), "s does not come back", ""),
        (True, "there", (BACK, away(True)), "", ""),
        (True, "there", (BACK, BACK), "from further off; linearised there", "from further off"),
    ],
)
def test_what_grows_is_held_there(monkeypatch, grows, there, outcomes, found, far):
    mode = Mode(2.0 + 30j, 1e-9, ("x",), "", 0.0)
    monkeypatch.setattr(module, "_looks", lambda run: (60, 0))
    monkeypatch.setattr(module, "growing", lambda run, n, places: [(7, mode)] if grows else [])
    monkeypatch.setattr(module, "nearest_wanted", lambda run, row: row + 1)
    monkeypatch.setattr(module, "held_at", lambda run, row: there if row == 8 else None)
    monkeypatch.setattr(module, "sizes", lambda run, spread: {"x": spread})
    monkeypatch.setattr(module, "drawn", lambda run, n, spread, amounts: [0, 1])
    monkeypatch.setattr(module, "lasting_swing", lambda run, at, spread, floor: far)
    run = SimpleNamespace(log=SimpleNamespace(time=np.arange(10.0)))
    said = module.grows_on_the_way(run, 0.02, 1e-3, lambda start, at: outcomes[start])
    assert found in said and bool(said) is bool(found)
    assert not said or said.startswith("held where its path passes at t = 7 s")


def test_a_place_without_room_for_other_starts_is_not_asked(monkeypatch):
    def drawn(*given):
        raise InputError("no other start fits", mend="")

    monkeypatch.setattr(module, "drawn", drawn)
    run = a_run(how="hump", at=0.033, width=0.003)
    assert module.grows_on_the_way(run, 0.02, 1e-3, lambda *given: SWINGS) == ""


@pytest.mark.parametrize(
    "name, code",
    [
        ("gain-too-high-on-a-part-of-the-path@hump", 2),
        ("gain-too-high-on-a-part-of-the-path@at-its-turning-point", 2),
        ("gain-too-high-on-a-part-of-the-path@called-law", 2),
        ("too-high-at-one-end-of-the-stroke@jib-62-deg", 2),
        ("too-high-at-one-end-of-the-stroke@jib-45-deg", 2),
        ("bearable-at-both-ends-of-the-stroke@jib-62-deg", 0),
        ("bearable-at-both-ends-of-the-stroke@jib-30-deg", 0),
        ("gain-higher-on-a-part-of-the-path@hump", 0),
        ("gain-higher-on-a-part-of-the-path@called-law", 0),
    ],
)
def test_loops_of_the_list(name, code):
    (entry,) = [e for e in entries() if e.name == name]
    outcome = judged(entry)
    assert outcome.exit == code
    assert code == 0 or "held where its path passes" in " ".join(outcome.text)


def test_machines_of_the_library_are_looked_at_in_fewer_rows():
    own = next(e for e in entries() if e.builder == "user" and "numbers" in e.given)
    known = next(e for e in entries() if e.sound and e.base == "arm1-pid")
    called = next(e for e in entries() if e.given.get("law", {}).get("law") == "sum")
    counts = [module._looks(SimpleNamespace(loop=make(e).loop)) for e in (own, known, called)]
    assert counts == [(module.OWN, module.FEW), (module.ROWS, 0), (module.CALLED, module.FEW)]


def test_starts_further_off_are_around_the_place_where_the_loop_is_held(monkeypatch):
    """Not where its path begins: from there a machine that is to stand elsewhere leaves its stroke, and nothing is seen."""
    (entry,) = [e for e in entries() if e.name == "too-high-at-one-end-of-the-stroke@jib-62-deg"]
    run = simulated(make(entry).loop, make(entry).scenario)
    row = int(np.argmax(run.log.array("q_jib")))
    asked = []
    monkeypatch.setattr(rest_on_path, "run_many", lambda jobs, look: asked.extend(jobs) or [])
    assert rest_on_path.hunting_from(run, held_at(run, row), 0.06, 2, 1e-3, 8.0, 8.0) is None
    begins = [scenario.start[0] for _, scenario in asked]
    assert len(begins) == 4 and begins == pytest.approx([run.log.array("q_jib")[row]] * 4, abs=0.07)
