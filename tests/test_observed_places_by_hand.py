"""Small places of what one run shows, from numbers written down: energy, limits, commands, tails, formulas, sentences."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_beyond_by_hand import a_run, at

from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Holding, Limit
from workbench.run.energy import EnergyAccount
from workbench.verification.observed import (
    energy_claims,
    holding,
    oscillation,
    requirement_claims,
    response,
    shares,
    tail,
)
from workbench.verification.observed import machine as machines
from workbench.verification.observed.expression import _DEEPEST, formula
from workbench.verification.temporal.robustness import Bounds


# ---- energy -------------------------------------------------------------------------------------
def balanced(energy, left="", completed=True):
    run = a_run(completed)
    run.left = (3.0, left)
    run.end = "; ".join(filter(None, (left, "" if completed else "gone")))
    run.energy = energy
    return energy_claims.check_energy(SimpleNamespace(share=0.01, counted=True), run)


def account(drift, through=100.0):
    return EnergyAccount(
        {"pump": 60.0, "load": -80.0, "rod": 5.0, "valve": -9.0}, 3.0, drift, through
    )


OUT = "lift leaves its stroke"


@pytest.mark.parametrize(
    "energy, left, completed, holds, worst",
    [
        (account(0.5), "", True, True, "drift 0.5 J, 0.5 % of 100 J"),
        (account(1.5), "", True, False, "drift 1.5 J, 1.5 % of 100 J"),
        (account(0.5), "", False, False, "gone"),
        (account(0.5), OUT, True, True, "drift 0.5 J"),
        (account(1.5), OUT, True, None, OUT),
        (account(0.5), OUT, False, None, f"{OUT}; gone"),
        (None, OUT, True, None, "SimpleNamespace states no energy"),
        (None, OUT, False, None, f"{OUT}; gone"),
        (account(0.0, 0.0), "", True, None, "nothing moved: no energy to balance"),
    ],
)
def test_an_energy_balance_in_and_beyond_a_stroke(
    monkeypatch, energy, left, completed, holds, worst
):
    monkeypatch.setattr(energy_claims, "storage_floor", lambda run: 0.0)
    found = balanced(energy, left, completed)
    assert found.holds is holds and found.worst.startswith(worst)


def test_an_energy_balance_tells_the_three_that_moved_most(monkeypatch):
    monkeypatch.setattr(energy_claims, "storage_floor", lambda run: 0.0)
    found = balanced(account(0.5))
    assert found.worst.endswith("; most by load -80 J, pump 60 J, valve -9 J")
    assert (found.margin, found.unit, found.limit) == (pytest.approx(0.005), "1", 0.01)
    assert found.data["gap"] == 0.5 and found.data["throughput"] == 100.0
    assert found.data["change"] == 3.0 and len(found.data["by"]) == 4


@pytest.mark.parametrize(
    "floor, rounding, holds", [(1.5, 0, None), (1.4, 0, False), (0, 1.5, None)]
)
def test_a_drift_that_is_rounding_is_none(monkeypatch, floor, rounding, holds):
    monkeypatch.setattr(energy_claims, "storage_floor", lambda run: floor)
    found = balanced(EnergyAccount({"pump": 1.0}, 0.0, 1.5, 100.0, rounding))
    assert found.holds is holds


# ---- limits ---------------------------------------------------------------------------------------
def test_what_passes_a_limit_by_rounding_is_not_beyond_it():
    limit = Limit("stroke", ("s",), 0.0, 1.0, "m", key="l")
    edge = machines._row(limit, a_run(s=at(30, -1e-6)), 0.05)
    assert edge["share"] == 0.0 and edge["broken"] is False
    beyond = machines._row(limit, a_run(s=at(30, -1.1e-6)), 0.05)
    assert beyond["share"] == pytest.approx(1 / 101) and beyond["broken"] is True
    assert beyond["words"].endswith("; beyond it for 0.99 % of the time")
    assert (edge["limit"], edge["at"], edge["reached"]) == (0.0, 3.0, pytest.approx(1 + 1e-6))


def test_the_nearer_end_of_a_limit_is_told():
    limit = Limit("stroke", ("s",), 0.0, 1.0, "m", key="l")
    assert machines._row(limit, a_run(s=at(30, 0.9)), 0.05)["limit"] == 1.0
    assert machines._row(limit, a_run(s=at(30, 0.1)), 0.05)["limit"] == 0.0
    assert machines._row(limit, a_run(s=at(30, 0.5)), 0.05)["limit"] == 1.0


@pytest.mark.parametrize("low, high", [(0.0, 1e9), (-3.0, 4.0)])
def test_a_command_is_at_its_limit_within_a_billionth_of_its_range(monkeypatch, low, high):
    monkeypatch.setattr(shares, "command_limits", lambda loop: {"u": (low, high)})
    slack = shares.NEAR * (high - low)
    u = np.array([high - slack, high - 1.01 * slack, low + slack, low + 1.01 * slack])
    run = SimpleNamespace(loop=None, log=SimpleNamespace(array=lambda name: u))
    assert shares.commands_at_limits(run)["u"].tolist() == [True, False, True, False]


def test_drives_hold_a_machine_within_what_they_can_give(monkeypatch):
    """Of a range −2 … 8 kN 7 kN leave a tenth; the largest need of each drive by its size."""
    needs = {0.0: (3e3, -0.8e3), 1.0: (7e3, 0.5e3)}
    of = lambda x, u: tuple(
        Holding(name, need, -2e3, 8e3, limited_by="p_s", key="supply.p_s")
        for name, need in zip(("lift", "tilt"), needs[x])
    )
    plant = SimpleNamespace(holding=of)
    monkeypatch.setattr(holding, "_poses", lambda run: [(0.0, 0.0, ()), (2.5, 1.0, ())])
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant))
    found = holding.check_holding(SimpleNamespace(counted=True), run)
    assert found.holds is True and found.margin == pytest.approx(0.1)
    assert (found.limit, found.unit, found.instant) == (0.0, "1", 2.5)
    assert found.worst == "lift needs 7 kN at t = 2.50 s, can give -2 kN … 8 kN (p_s)"
    assert found.data == {"poses": 2, "needs": {"lift": 7e3, "tilt": -0.8e3}}
    needs[1.0] = (8.1e3, 0.0)
    found = holding.check_holding(SimpleNamespace(counted=True), run)
    assert found.holds is False and found.margin == pytest.approx(-0.01)
    assert "lift cannot hold: needs 8.1 kN" in found.worst
    assert found.worst.endswith("; more from supply.p_s, less load, or other poses")
    needs[1.0] = (8e3, 0.0)
    assert holding.check_holding(SimpleNamespace(counted=True), run).holds is True
    run.log = SimpleNamespace(status=SimpleNamespace(message="gone"))
    needs[1.0] = (np.nan, 0.0)
    lost = holding.check_holding(SimpleNamespace(counted=True), run)
    assert lost.holds is None and lost.worst == "gone"


# ---- tails --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("slope, word", [(1.0, "creeping"), (-1.0, "creeping"), (0.0, "restless")])
def test_a_tail_that_moves_one_way_creeps_however_it_swings(monkeypatch, slope, word):
    """It passes its middle often enough, and no limit cycle is detected in it."""
    time = np.linspace(0.0, 10.0, 1001)
    error = (0.1 + 0.005 * time) * np.sign(np.sin(8 * np.pi * time + 0.1)) + slope * time
    quiet = SimpleNamespace(detected=False, few=False, trend="")
    monkeypatch.setattr(tail, "limit_cycle", lambda *given, **more: quiet)
    monkeypatch.setattr(tail, "_swings", lambda error: True)
    assert tail._rest("e", time, error, 1e-3, False).word == word


# ---- what time drives -----------------------------------------------------------------------------------
def called(rates):
    """A plant that is called from Python, whose rates are these functions of time."""
    plant = SimpleNamespace(
        states=(), inputs=(), defaults=dict, rhs=lambda t, x, u: [f(t) for f in rates]
    )
    loop = SimpleNamespace(hosted=True, plant=plant, controller=SimpleNamespace(commands=()))
    log = SimpleNamespace(time=np.arange(3.0))
    return SimpleNamespace(loop=loop, log=log, scenario=SimpleNamespace(length=lambda: 2.0))


def test_time_matters_where_rates_change_by_more_than_rounding():
    assert response._timed(called([lambda t: 0.0, lambda t: 0.0])) is False
    assert response._timed(called([lambda t: 3.0, lambda t: 1e-13 * t])) is False
    assert response._timed(called([lambda t: 3.0, lambda t: 1e-11 * t])) is True
    assert response._timed(called([])) is False


# ---- what swings ------------------------------------------------------------------------------------------
def swinging(count, **cycles):
    """What swings in a run of so many rows; cycles: error → (amplitude, frequency, trend, few)."""
    cycle = lambda a, f, trend, few=False: SimpleNamespace(
        detected=a is not None, amplitude=a, frequency=f, trend=trend, few=few, why="4 periods"
    )
    log = SimpleNamespace(time=np.arange(float(count)), signal=lambda n: SimpleNamespace(unit="m"))
    looked = {name: cycle(*given) for name, given in cycles.items()}
    return oscillation.Oscillations(SimpleNamespace(log=log), looked, {})


def test_a_cycle_needs_samples_enough_to_be_told():
    least = 2 * oscillation.LEAST_TOLD
    assert swinging(least).few == ""
    assert swinging(least - 1).few == (
        f"{least - 1} samples of the run are too few to tell a limit cycle: "
        "run it longer, or sample it faster"
    )
    growing = (2.0, np.nan, "growing")
    assert (
        list(swinging(least, e=growing).cycles) == ["e"]
        and not swinging(least - 1, e=growing).cycles
    )
    assert list(swinging(least - 1, e=(2.0, 3.0, "steady")).cycles) == ["e"]


def test_the_worst_that_swings(monkeypatch):
    """Chatter beyond its share first, then the widest cycle; what has no amplitude grows beyond all."""
    own = swinging(9999, a=(2.0, 3.0, "steady"), b=(5.0, 1.0, "growing"), c=(None, 9.0, ""))
    assert own.worst(0.05) == ("b", "growing oscillation", 1.0, 5.0, "m")
    assert (own._swing("a"), own._swing("b"), own._swing("c")) == (2.0, oscillation.BEYOND, 0.0)
    endless = swinging(9999, a=(2.0, 3.0, "steady"), b=(np.inf, np.nan, "steady"))
    assert endless.worst(0.05)[:2] == ("b", "limit cycle")
    assert endless._swing("b") == oscillation.BEYOND
    chatter = {n: oscillation.Chatter(s, 40.0, 0.3) for n, s in (("u", 0.06), ("w", 0.05))}
    loud = oscillation.Oscillations(own.run, own.looked, chatter)
    assert loud.worst(0.05) == ("u", "chatter", 40.0, 0.3, "m")
    assert loud.worst(0.06)[0] == "b" and loud.worst(0.04)[0] == "u"
    assert swinging(9999).worst(0.05) is None
    few = swinging(9999, a=(None, 3.0, ""), b=(None, 3.0, "", True))
    assert few.brief == "b moves, 4 periods" and own.brief == ""


# ---- formulas -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("before, after", [("(", ")**1"), ("-(", ")"), ("abs(", ")"), ("0+(", ")")])
def test_formulas_may_be_nested_a_hundred_levels(before, after):
    """Powers, signs, functions and right sides of sums: each counts a level."""
    text = lambda n: before * n + "x" + after * n
    assert formula(text(_DEEPEST), ["x"])([-2.0]) in (-2.0, 2.0)
    with pytest.raises(InputError, match="too deeply nested, at most 100 levels"):
        formula(text(_DEEPEST + 1), ["x"])


# ---- sentences ------------------------------------------------------------------------------------------
def answered(low, up, holds=None):
    series = Bounds(np.array(low, float), np.array(up, float))
    return SimpleNamespace(
        holds=holds,
        time=2.5,
        words="3 mm",
        clause="e < 5 mm",
        mixed=False,
        margin=1.0,
        series=series,
        never=(),
    )


def test_where_a_margin_was_read_is_told_while_it_can_change():
    """Not where the robustness at the start is bounded on both sides: then no instant decides yet."""
    inf = np.inf
    sentence = SimpleNamespace(units={1: "m"}, until=0.0)
    told = lambda low, up: requirement_claims.worst(answered(low, up), sentence, 4.0)
    decides = "what comes after the run's end at 4 s decides: run it longer"
    assert told([-1.0, -inf], [2.0, inf]) == decides
    assert told([-inf, -1.0], [2.0, 2.0]) == f"{decides}; so far 3 mm at t = 2.5 s"
    assert told([-1.0, -1.0], [inf, 2.0]) == f"{decides}; so far 3 mm at t = 2.5 s"
    sentence.until = 6.0
    assert told([-1.0, -inf], [2.0, inf]) == (
        "the sentence looks up to t = 6 s and the run ends at 4 s: "
        "run it longer, scenario.duration: 6 s, or end its interval earlier"
    )
    sentence.units = {1: "m", 2: "rad"}
    given = requirement_claims.worst(answered([1.0], [1.0], True), sentence, 4.0)
    assert given == "3 mm at t = 2.5 s, in e < 5 mm"
