"""Small places of claims, from numbers written down: a valve that lags, suction checks, ranges with a unit."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.drives.servo_cylinder import ServoValvePart
from workbench.contract.errors import InputError
from workbench.verification.observed import valve_claims
from workbench.verification.run_claims import NoCavitation
from workbench.verification.search import directions as module
from workbench.verification.search.direction import Direction
from workbench.verification.search.of_plant import Number


# ---- a law's hypotheses -------------------------------------------------------------------------
@pytest.mark.parametrize("lag, met", [("ideal", True), ("first", False), ("second", False)])
def test_a_valve_that_lags_is_a_hypothesis_not_met(monkeypatch, lag, met):
    valve = SimpleNamespace(lag=lag, frequency=25.0)
    chambers = SimpleNamespace(friction=None, valve=valve)
    drive = SimpleNamespace(chambers=chambers, turns=True)
    run = SimpleNamespace(balance=SimpleNamespace(quantities={"ẋ c": 0.0, "Δẋ c": 0.0}))
    from workbench.verification import hypotheses

    for name in ("rubbing", "valve"):
        monkeypatch.setattr(hypotheses, name, lambda *given: None)
    part = SimpleNamespace(label="c", drive=drive)
    *_, last = ServoValvePart.hypotheses(part, run, drive)
    assert last.text == "valves without lag of c" and last.holds is met
    order = {"first": "spool of order 1 at 25 Hz", "second": "spool of order 2 at 25 Hz"}
    assert last.worst == order.get(lag, "")


# ---- claims -------------------------------------------------------------------------------------
def account(lows, highs, drawn=0.0, open_for=4):
    """Ten intervals of 0.2 s; one suction check draws `drawn` m³/s at the first instants; pressures (low, high) of two sides."""
    t = np.linspace(1.0, 3.0, 11)
    q = np.where(np.arange(11) < open_for, drawn, 0.0)
    ranges = {
        name: (np.full(11, 5e5) + low, np.full(11, 5e5) + high)
        for name, low, high in zip(("P_h", "P_r"), lows, highs)
    }
    return SimpleNamespace(t=t, drawn={"h": q, "r": 0.1 * q}, ranges=ranges)


def cavitation(monkeypatch, given, **claim):
    monkeypatch.setattr(valve_claims, "diverged", lambda *asked: None)
    monkeypatch.setattr(valve_claims, "_account", lambda key, run: given)
    return valve_claims.check_cavitation(NoCavitation(**claim), None)


def dip(at, to):
    return np.where(np.arange(11) == at, to - 5e5, 0.0)


def test_a_chamber_that_may_fall_too_far_is_undecided_and_one_that_does_is_refused(monkeypatch):
    """The lower bound of its pressure says the margin, its upper bound whether that is sure."""
    maybe = account((dip(3, -2e4), 0.0), (0.0, 0.0))
    found = cavitation(monkeypatch, maybe, low=1e4)
    assert found.holds is None and found.margin == pytest.approx(-3e4) and found.unit == "Pa"
    assert found.worst == "P_h may fall to -0.2 bar at t = 1.60 s"
    surely = account((0.0, dip(7, -2e4)), (0.0, dip(7, 0.5e4)))
    found = cavitation(monkeypatch, surely, low=1e4)
    assert found.holds is False and found.worst == "P_r falls to -0.2 bar at t = 2.40 s"
    nowhere = account((dip(3, -np.inf), 0.0), (0.0, 0.0))
    assert cavitation(monkeypatch, nowhere, low=1e4).margin is None


@pytest.mark.parametrize("share, seconds", [(0.9, 0.0), (1.5, 0.7), (2.5, 0.7)])
def test_a_check_is_open_where_it_would_draw_a_thousandth_of_what_may_be(
    monkeypatch, share, seconds
):
    """1e-6 m³ may be drawn in 2 s: open from 5e-10 m³/s on, for 0.6 s and half of an interval."""
    found = cavitation(monkeypatch, account((0.0, 0.0), (0.0, 0.0), share * 5e-10), drawn=1e-6)
    assert found.holds is True
    assert found.data["open"]["h"] == pytest.approx(seconds)
    assert found.data["drawn"]["h"] == pytest.approx(share * 5e-10 * 0.7)
    assert found.margin == pytest.approx(1e-6 - share * 5e-10 * 0.7)


def direction(name, unit, nominal):
    return Direction(name, 0.0, 0.0, nominal, unit, Number())


def test_a_range_with_its_unit_goes_to_what_has_that_unit():
    """A unit is what the text ends in; numbers alone say nothing where units differ."""
    found = [direction("arm.m", "kg", 5.0), direction("arm.l", "m", 0.7)]
    (one,) = module._ranged(found, "arm", ("0.5 m", "1 m"))
    assert (one.name, one.low, one.high) == ("arm.l", 0.5, 1.0)
    (one,) = module._ranged(found, "arm", (5, "8 kg"))
    assert (one.name, one.low, one.high) == ("arm.m", 5.0, 8.0)
    for ends in ((0.5, 1.0), ("0.5", "1.5")):
        with pytest.raises(InputError, match=r"different units \(kg, m\)"):
            module._ranged(found, "arm", ends)
    with pytest.raises(InputError):
        module._ranged(found, "arm", ("1 bar", "2 bar"))
    both = module._ranged([found[0], direction("boom.m", "kg", 6.0)], "m", (4.0, 7.0))
    assert [(d.name, d.low, d.high) for d in both] == [("arm.m", 4.0, 7.0), ("boom.m", 4.0, 7.0)]
