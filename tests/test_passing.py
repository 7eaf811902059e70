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
from workbench.contract.declared import LawData
from workbench.contract.errors import InputError
from workbench.verification.linear.modes import Mode
from workbench.verification.linear.passed import along, growing, seen
from workbench.verification.observed import rest_on_path
from workbench.verification.practical import passing as module
from workbench.verification.practical import turning
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
    row, swing = next(one for one in growing(list(seen(run, 400)), 0) if one[1].s.imag > 0)
    assert abs(run.log.array("x")[row] - 0.033) < 0.005 and swing.s.real > 0.4
    assert swing.s.imag == pytest.approx(31.0, rel=0.1)
    assert growing(list(seen(a_run(), 400)), 4) == []


def test_between_its_rows_it_sees_nothing():
    assert growing(list(seen(a_run(how="hump", width=2e-4), 20)), 4) == []


def test_an_instant_is_no_place():
    """Row 1 grows most of all, and alone. Of two on end the slower counts; then the largest swing, and the largest other one."""

    def mode(s):
        return () if s is None else (Mode(complex(s), 1e-9, ("q",), "", 0.0),)

    modes = (None, 9 + 9j, None, 1 + 9j, 3 + 9j, 2 + 9j, None, 1, 5, 4, None, 1 + 8j, 1 + 8j)
    given = [(10 * k, mode(s)) for k, s in enumerate(modes)]
    told = lambda places: [(row, one.s) for row, one in growing(given, places)]
    assert told(0) == [(50, 2 + 9j), (90, 4 + 0j)]
    assert told(3) == [*told(0), (30, 1 + 9j), (50, 2 + 9j), (110, 1 + 8j)]


def test_what_grows_aside_is_no_growth():
    """A mode that no force shows and nothing of the machine takes part in."""
    aside = Mode(3 + 9j, 1e-9, ("q",), "", 0.0, True)
    shown = Mode(1 + 8j, 1e-9, ("q",), "", 0.0)
    assert growing([(k, (aside,)) for k in range(4)], 0) == []
    assert growing([(k, (aside, shown)) for k in range(4)], 0) == [(0, shown)]


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
    monkeypatch.setattr(module, "seen", lambda run, count: [(7, (mode,))])
    monkeypatch.setattr(module, "at_turns", lambda run, rows, asked: "")
    monkeypatch.setattr(module, "growing", lambda rows, places: [(7, mode)] if grows else [])
    monkeypatch.setattr(module, "nearest_wanted", lambda run, row: row + 1)
    monkeypatch.setattr(module, "held_at", lambda run, row: there if row == 8 else None)
    monkeypatch.setattr(module, "sizes", lambda run, spread: {"x": spread})
    monkeypatch.setattr(module, "drawn", lambda run, n, spread, amounts: [0, 1])
    monkeypatch.setattr(module, "lasting_swing", lambda run, at, spread, floor: far)
    run = SimpleNamespace(log=SimpleNamespace(time=np.arange(10.0)))
    said = module.held_on_the_way(run, 0.02, 1e-3, lambda start, at: outcomes[start])
    assert found in said and bool(said) is bool(found)
    assert not said or said.startswith("held where its path passes at t = 7 s")


@pytest.mark.parametrize("outcome, found", [(BACK, ""), (SWINGS, "limit cycle of x, 5 Hz; let")])
def test_of_no_known_mode_every_turn_is_asked(monkeypatch, outcome, found):
    """From one start three times as far off where the law is called, at the second turn only where it comes back from the first."""
    asked = []

    def drawn(there, count, spread, amounts):
        asked.append((there, count, round(spread, 9)))
        return [0]

    monkeypatch.setattr(module, "_looks", lambda run: (60, 0))
    monkeypatch.setattr(module, "seen", lambda run, count: [])
    monkeypatch.setattr(turning, "joint_errors", lambda run: {"q": np.zeros(6)})
    monkeypatch.setattr(module, "held_at", lambda run, row: row)
    monkeypatch.setattr(module, "sizes", lambda run, spread: {"q": spread})
    monkeypatch.setattr(module, "drawn", drawn)
    run = walked()[0]
    run.loop = SimpleNamespace(hosted=True)
    said = module.held_on_the_way(run, 0.02, 1e-3, lambda start, there: outcome)
    assert asked == [(row, 1, 0.06) for row in ((2, 4) if outcome is BACK else (2,))]
    assert said.startswith(f"held where its path passes at t = 2 s, {found}") if found else not said


def test_a_place_without_room_for_other_starts_is_not_asked(monkeypatch):
    def drawn(*given):
        raise InputError("no other start fits", mend="")

    monkeypatch.setattr(module, "drawn", drawn)
    monkeypatch.setattr(module, "at_turns", lambda *given: "")
    run = a_run(how="hump", at=0.033, width=0.003)
    assert module.held_on_the_way(run, 0.02, 1e-3, lambda *given: SWINGS) == ""


# ---- what hardly decays where the path turns -----------------------------------------------------------------------------
def walked(*slack):
    """(run, rows) of a path 0 → 3 → −1 → 0; the rows at which a mode swings with 1 % of critical damping are named."""
    place = np.array([0.0, 1.0, 3.0, 1.0, -1.0, 0.0])
    log = SimpleNamespace(time=np.arange(6.0), array=lambda name: place)
    modes = (Mode(-0.2 + 20j, 1e-9, ("q",), "", 0.0),)
    sound = (Mode(-5.0 + 20j, 1e-9, ("q",), "", 0.0),)
    rows = [(k, modes if k in slack else sound) for k in range(6)]
    loop = SimpleNamespace(controller=LawData())
    return SimpleNamespace(log=log, scenario=Scenario(duration=900.0), loop=loop), rows


@pytest.mark.parametrize(
    "slack, found",
    [
        ((), []),
        (range(6), [2, 4]),  # furthest from the end, 0, and furthest from there
        ((0, 5), [2, 4]),  # wherever it hardly decays
        ((1,), [2, 4]),
    ],
)
def test_where_a_path_turns(monkeypatch, slack, found):
    monkeypatch.setattr(turning, "joint_errors", lambda run: {"q": np.zeros(6)})
    run, rows = walked(*slack)
    monkeypatch.setattr(module, "_looks", lambda run: (60, 0))
    monkeypatch.setattr(module, "seen", lambda run, count: rows)
    asked = []
    monkeypatch.setattr(module, "_pushed", lambda run, row, *more: asked.append(row) or "")
    assert module.held_on_the_way(run, 0.02, 1e-3, lambda *given: SWINGS) == ""
    assert asked == found


def held_at_turns(monkeypatch, place, blind=()):
    """Rows at which a loop is held on a path, places by joint; where it is blind nothing is seen."""
    (n,) = {len(values) for values in place.values()}
    log = SimpleNamespace(time=np.arange(float(n)), array=place.get)
    monkeypatch.setattr(turning, "joint_errors", lambda run: dict.fromkeys(place, np.zeros(n)))
    asked = []
    told = lambda row: asked.append(row) or (None if row in blind else "")
    assert turning.at_turns(SimpleNamespace(log=log), range(n), told) == ""
    return asked


@pytest.mark.parametrize(
    "blind, found",
    [((), [2, 4]), ((2,), [2, 1, 4]), ((2, 4), [2, 1, 4]), ((1, 2, 3, 4), [2, 1, 4])],
)
def test_a_turn_that_shows_nothing_does_not_count(monkeypatch, blind, found):
    """Rows 1 and 3 are one place, 0 and 5 where the path ends: what is furthest beyond is asked."""
    place = {"q": np.array([0.0, 1.0, 3.0, 1.0, -1.0, 0.0])}
    assert held_at_turns(monkeypatch, place, blind) == found


def test_a_path_of_two_joints_turns_at_more_than_two_places(monkeypatch):
    """Round a square: the corner across from its end, and both others."""
    place = {"q_1": np.array([0.0, 1.0, 1.0, 0.0, 0.0]), "q_2": np.array([0.0, 0.0, 1.0, 1.0, 0.0])}
    assert held_at_turns(monkeypatch, place) == [2, 1, 3]


def test_a_straight_path_is_held_in_its_middle(monkeypatch):
    place = 2.0 - 2.0 * np.cos(np.linspace(0.0, 2.0 * np.pi, 101))
    held = place[held_at_turns(monkeypatch, {"q": place})]
    assert held == pytest.approx([4.0, 0.2, 2.1], abs=0.1)


def test_no_more_than_four_places_are_held(monkeypatch):
    """Of a path through all eight corners of a cube."""
    corners = np.array(
        [
            (0, 0, 0),
            (1, 0, 0),
            (1, 1, 0),
            (0, 1, 0),
            (0, 1, 1),
            (1, 1, 1),
            (1, 0, 1),
            (0, 0, 1),
            (0, 0, 0),
        ]
    )
    place = {f"q_{i}": corners[:, i].astype(float) for i in range(3)}
    assert len(held_at_turns(monkeypatch, place)) == turning.TURNS


@pytest.mark.parametrize("swing", ["", None, "from a start 3 times as far off, q swings by 2 mm"])
def test_it_is_pushed_there_and_watched(monkeypatch, swing):
    """For 20 time constants of 5 s."""
    asked = []

    def lasting_swing(run, there, spread, floor, length):
        asked.append((there, spread, floor, length))
        return swing

    run, rows = walked(2)
    monkeypatch.setattr(module, "lasting_swing", lasting_swing)
    monkeypatch.setattr(module, "nearest_wanted", lambda run, row: row + 1)
    monkeypatch.setattr(module, "held_at", lambda run, row: "there" if row == 3 else None)
    said = module._pushed(run, *rows[2], 0.02, 1e-3)
    assert asked == [("there", 0.02, 1e-3, pytest.approx(100.0))] and bool(said) is bool(swing)
    assert not said or said.startswith(
        f"held where its path passes at t = 2 s, {swing}; linearised"
    )
    assert swing or said == swing
    assert module._pushed(run, *rows[1], 0.02, 1e-3) is None


@pytest.mark.parametrize(
    "name, code",
    [
        ("gain-too-high-on-a-part-of-the-path@hump", 2),
        ("gain-too-high-on-a-part-of-the-path@at-its-turning-point", 2),
        ("gain-too-high-on-a-part-of-the-path@called-law", 2),
        ("too-high-at-one-end-of-the-stroke@jib-62-deg", 2),
        ("too-high-at-one-end-of-the-stroke@jib-45-deg", 2),
        ("too-high-at-one-end-of-the-stroke@jib-hardly-damped-there", 2),
        ("too-high-at-one-end-of-the-stroke@boom-a-fifth-more", 2),
        ("too-high-at-one-end-of-the-stroke@jib-until-it-leaves-its-stroke", 2),
        ("bearable-at-both-ends-of-the-stroke@jib-close-to-its-stroke", 0),
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
    monkeypatch.setattr(
        rest_on_path, "run_many", lambda jobs, look, watched: asked.extend(jobs) or []
    )
    assert rest_on_path.hunting_from(run, held_at(run, row), 0.06, 2, 1e-3, 8.0, 8.0) is None
    begins = [scenario.start[0] for _, scenario in asked]
    assert len(begins) == 6 and begins == pytest.approx([run.log.array("q_jib")[row]] * 6, abs=0.07)
