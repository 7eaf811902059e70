"""Tracking and pressures on logs that are written down: which instant decides, what was allowed, and what is left open."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.observed import requirements as module
from workbench.verification.observed.requirements import (
    check_pressures,
    check_tracking,
    diverged,
    error_units,
    in_si,
    joint_errors,
    size_of,
    too_short,
)
from workbench.verification.run_claims import Pressures, Tracking

TIME = np.linspace(0.0, 10.0, 101)


class Log(dict):
    array = dict.__getitem__
    time = TIME


def a_run(error=None, completed=True, **other):
    status = SimpleNamespace(
        completed=completed, message="gone", t_end=4.0, state=[1.0], followed=True
    )
    log = Log()
    log.status = status
    given = {
        "log": log,
        "tool_error": error,
        "error_unit": "m",
        "hollow": (1.0, ""),
        "valves": None,
        "end": "" if completed else "gone",
    }
    made = SimpleNamespace(**given | other)
    made.settled = lambda settle: slice(int(np.searchsorted(TIME, min(settle, 9.0))), None)
    return made


# ---- tracking ----------------------------------------------------------------------------------------------------------------
FALLING = 0.1 * np.exp(-TIME)


def spike(at, height, error=FALLING):
    found = error.copy()
    found[at] = height
    return found


@pytest.mark.parametrize(
    "error, holds, at, margin",
    [
        (FALLING, True, 30, 0.005 - FALLING[30]),
        (spike(50, 0.0049), True, 30, 0.005 - FALLING[30]),
        (spike(50, 0.005), True, 50, 0.0),
        (spike(50, 0.0051), False, 50, -0.0001),
        (spike(29, 0.3), True, 30, 0.005 - FALLING[30]),
        (spike(30, 0.3), False, 30, -0.295),
        (spike(100, 0.3), False, 100, -0.295),
    ],
)
def test_the_largest_error_after_settling_decides(error, holds, at, margin):
    """Three seconds are allowed, and 5 mm from then on: the sample at 3 s is the first that counts."""
    found = check_tracking(Tracking(error="5 mm", settle=3.0), a_run(error))
    assert (
        found.holds is holds
        and found.strength == "sampled"
        and found.unit == "m"
        and found.limit == 0.005
    )
    assert found.margin == pytest.approx(margin, abs=1e-12) and found.instant == pytest.approx(
        TIME[at]
    )
    assert found.worst.endswith(f"at t = {TIME[at]:.2f} s")
    late = error[30:]
    assert found.data["largest"] == error[at]
    assert found.data["rms"] == pytest.approx(math.sqrt(float((late**2).mean())))


def test_what_says_nothing_about_tracking():
    claim = Tracking(error=5e-3, settle=3.0, counted=False)
    none = check_tracking(claim, a_run())
    assert none.holds is None and "nothing says where" in none.worst and not none.counted
    for settle, brief in ((10.0, True), (9.9, False)):
        found = check_tracking(Tracking(error=1.0, settle=settle), a_run(FALLING))
        assert (found.holds is None) is brief
        assert ("the run ends at 10 s, within the 10 s allowed" in found.worst) is brief
    lost = check_tracking(claim, a_run(spike(60, np.nan)))
    assert (
        lost.holds is False
        and "beyond all numbers at t = 6 s" in lost.worst
        and lost.instant == TIME[60]
    )
    gone = check_tracking(claim, a_run(FALLING, completed=False))
    assert gone.holds is False and gone.worst == "gone"


def test_a_run_that_ended():
    """Violated where the loop ended it, whatever else is said of it."""
    ended = a_run(completed=False)
    found = diverged("key", "text", ended, False, "source")
    assert (found.holds, found.strength, found.worst, found.counted) == (
        False,
        "sampled",
        "gone",
        False,
    )
    assert found.data == {"t_end": 4.0, "state": [1.0]} and found.instant == 10.0
    assert diverged("key", "text", a_run(), True, "source") is None
    assert too_short("key", "text", a_run(), 9.99, True, "source") is None
    assert too_short("key", "text", a_run(), 10.0, True, "source").holds is None


# ---- pressures ---------------------------------------------------------------------------------------------------------------
def pressed(low=0.0, high=None, top=2e7, ranges=None, hollow="", **chambers):
    chambers = chambers or {"p_a": 1e7 + 0 * TIME, "p_b": 5e6 + 0 * TIME}
    run = a_run(hollow=(1.0, hollow))
    run.log.update(chambers)
    plant = SimpleNamespace(pressure_names=tuple(chambers), p_top=top)
    run.loop = SimpleNamespace(plant=plant)
    if ranges:
        run.valves = SimpleNamespace(ranges=ranges)
    return check_pressures(Pressures(low, high), run)


def at(k, value, level=1e7):
    found = np.full(101, level)
    found[k] = value
    return found


def test_the_chamber_nearest_to_a_limit_decides():
    """Above 25 MPa, a quarter more than the supply's, or below zero; the room of every chamber is told."""
    found = pressed(p_a=at(20, 2.4e7), p_b=at(70, 3e6))
    assert found.holds is True and found.margin == pytest.approx(1e6) and found.limit == 2.5e7
    assert found.worst == "p_a = 240 bar at t = 2.00 s" and found.instant == TIME[20]
    assert found.data == {"p_a": pytest.approx(1e6), "p_b": pytest.approx(3e6)}
    low = pressed(p_a=at(20, 2.1e7), p_b=at(70, -1e5))
    assert low.holds is False and low.limit == 0.0 and low.margin == pytest.approx(-1e5)
    assert low.worst == "p_b = -1 bar at t = 7.00 s" and low.data["p_b"] == pytest.approx(-1e5)
    high = pressed(p_a=at(20, 2.6e7))
    assert high.holds is False and high.margin == pytest.approx(-1e6)
    assert pressed(hollow="p_a falls below vacuum").worst.endswith("; p_a falls below vacuum")


def test_limits_that_are_stated_and_none():
    assert pressed(high=9e6).holds is False and pressed(high=1.1e7).holds is True
    assert pressed(low=6e6).holds is False and pressed(low=4e6).holds is True
    assert pressed(top=None, p_a=at(5, 1e12)).holds is True
    run = a_run()
    run.loop = SimpleNamespace(plant=SimpleNamespace(pressure_names=(), p_top=None))
    none = check_pressures(Pressures(), run)
    assert none.holds is None and none.worst == "the plant names no chamber pressures"


@pytest.mark.parametrize(
    "low, high, holds, limit",
    [
        (2e6, 2.4e7, True, 2.5e7),
        (1e6, 2.6e7, None, 2.5e7),
        (-1e5, 2e7, None, 0.0),
        (2.6e7, 2.7e7, False, 2.5e7),
        (-2e5, -1e5, False, 0.0),
    ],
)
def test_a_pressure_that_valves_leave_open(low, high, holds, limit):
    """It holds if it does whichever it is, and is violated if it is so whichever it is."""
    span = (at(40, low), at(40, high))
    found = pressed(p_a=at(40, 1e7), ranges={"p_a": span})
    assert found.holds is holds and found.limit == limit and found.instant == TIME[40]
    assert "p_a = anywhere between" in found.worst


# ---- sizes and units -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value, units, size",
    [
        (0.25, ["m"], 0.25),
        ("20 mm", ["rad", "m"], 0.02),
        ("2 deg", ["m", "rad"], math.radians(2)),
        (3.0, [], 3.0),
    ],
)
def test_sizes_in_the_first_unit_that_suits(value, units, size):
    assert size_of(SimpleNamespace(floor=value), "floor", units) == pytest.approx(size)


@pytest.mark.parametrize(
    "value, units, said",
    [
        ("3 bar", ["m", "rad"], "floor: "),
        ("-2 mm", ["m"], "greater than zero"),
        (0.0, ["m"], "greater than zero"),
    ],
)
def test_sizes_that_are_none(value, units, said):
    with pytest.raises(InputError, match=said):
        size_of(SimpleNamespace(floor=value), "floor", units)


def signals(**units):
    return [SimpleNamespace(name=n, unit=u, kind="reference") for n, u in units.items()]


def test_units_of_what_can_oscillate():
    plant = SimpleNamespace(
        states=signals(q="rad", s="m"),
        outputs=signals(Y="mm", Z="V"),
        has_tool=False,
        joint_names=("q", "away"),
    )
    inputs = [
        *signals(Y_d="mm"),
        *signals(**{"s_d": "m", "Z_d@1": "V"}),
        SimpleNamespace(name="q_d", kind="noise"),
    ]
    loop = SimpleNamespace(plant=plant, inputs=inputs)
    assert error_units(loop) == ["mm", "m"]
    plant.has_tool = True
    assert error_units(loop) == ["rad"]
    plant.joint_names = ()
    assert error_units(loop) == ["mm", "V"]
    plant.has_tool, loop.inputs = False, []
    assert error_units(loop) == ["mm", "V"]


def test_sizes_given_as_text_become_numbers(monkeypatch):
    monkeypatch.setattr(module, "error_units", lambda loop: ["rad"])
    monkeypatch.setattr(module, "error_unit", lambda loop: "m")
    assert in_si(Tracking(error="2 mm"), None) == Tracking(error=2e-3)
    assert in_si(Tracking(error=2e-3), None) == Tracking(error=2e-3)


# ---- errors --------------------------------------------------------------------------------------------------------------------
def followed(space, tool, wanted, reference=True):
    run = a_run()
    run.log |= {"a": 1.0 + TIME, "b": 2.0 + 0 * TIME, "a_d": 4.0 + TIME, "b_d": 0 * TIME}
    reference = SimpleNamespace(space=space) if reference else None
    joints = lambda t: np.column_stack([t, 10 + t])
    run.demand = SimpleNamespace(reference=reference, wanted=wanted, joints=joints)
    run.loop = SimpleNamespace(plant=SimpleNamespace(has_tool=tool, joint_names=("a", "b")))
    return {name: float(e[50]) for name, e in joint_errors(run).items()}


def test_errors_of_outputs_or_joints():
    """Wanted less actual at 5 s: 3 and −2 of outputs, −1 and 13 of joints; without a reference the positions."""
    wanted = [("a", 0), ("a", 1), ("b", 0)]
    for space, tool in (("output", True), ("tcp", False)):
        assert followed(space, tool, wanted) == {"a": pytest.approx(3.0), "b": pytest.approx(-2.0)}
    assert followed("tcp", True, wanted) == {"a": pytest.approx(-1.0), "b": pytest.approx(13.0)}
    assert followed("tcp", True, wanted, False) == {
        "a": pytest.approx(6.0),
        "b": pytest.approx(2.0),
    }
