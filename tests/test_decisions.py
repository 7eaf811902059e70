"""Practical stability: what is decided on what the runs showed, case by case."""

import math
from types import SimpleNamespace

import pytest

from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.observed import oscillation
from workbench.verification.practical import decision as practical_decision
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.nominal import Nominal
from workbench.verification.practical.returning import Judged, Return
from workbench.verification.verdict import Verdict

TOOL = Judged("tool", ("tcp_x",), "m", 1e-3)
OTHER = Judged("q_1", ("q_1",), "rad", 1e-3)
PRESSURE = Judged("p_a1", ("p_a1",), "Pa", 1e4, pressure=True)


SMALL = "small swings are not looked for"


def back(signal=TOOL, word="back", last=1e-4, after=2.0, rate=1.5, moved=True):
    return Return(signal, word, 2e-2, last, after, rate, moved)


def outcome(*found, gone="", unrest="", v=math.nan, followed=True):
    return Outcome(v, 1.0, "cause", gone, unrest, found, followed=followed)


def decided(
    monkeypatch,
    *outcomes,
    ledger=False,
    v=1.0,
    bound=10.0,
    stated=False,
    restless="",
    slow=None,
    rests=True,
):
    """The verdict on these outcomes; the nominal run's largest v and its bound, where the law has a ledger."""
    monkeypatch.setattr(practical_decision, "has_ledger", lambda loop: ledger)
    monkeypatch.setattr(practical_decision, "restless", lambda run: restless)
    monkeypatch.setattr(practical_decision, "too_small", lambda run: SMALL)
    known = Nominal(v, 3.0, "cause", bound, stated, "")
    run = SimpleNamespace(kept={}, loop=None)
    modes = Modes((Place(0.0, "at the end", rests, (slow,) if slow else ()),))
    starts = [SimpleNamespace(amounts={"q_1": 0.01}, words=f"start {k}") for k in range(9)]

    def said(holds, worst, **more) -> Verdict:
        strength = None if holds is None else "sampled"
        return Verdict("key", "text", holds, strength, worst=worst, **more)

    return practical_decision.decided(run, known, starts, list(outcomes), 60.0, said, modes)


HELD = back(PRESSURE, "staying", last=5e5, after=math.inf, rate=0.0)
CASES = [
    ((outcome(back()),), True),
    ((outcome(back()), outcome(back(OTHER))), True),
    ((outcome(back(word="returning")),), None),
    ((outcome(back()), outcome(back(), back(OTHER, "returning"))), None),
    ((outcome(back(word="staying")),), False),
    ((outcome(back(), back(OTHER, "growing")),), False),
    ((outcome(back(), back(OTHER, "growing", moved=False)),), True),
    ((outcome(back(moved=False)),), None),  # nothing moved: too little was seen
    ((outcome(back(), HELD),), True),  # the common mode of a cylinder
    ((outcome(back(), back(PRESSURE, "returning", last=1e5)),), True),
    ((outcome(back(), back(PRESSURE, "growing", last=1e7)),), False),
    ((outcome(HELD),), True),
    ((outcome(back()), outcome(gone="diverged")), False),
    ((outcome(back()), outcome(gone="no step short enough", followed=False)), None),
    ((outcome(back(), unrest="1 mm of q_1, 3 Hz"),), False),
]


@pytest.mark.parametrize("outcomes, holds", CASES)
def test_what_was_seen_decides(monkeypatch, outcomes, holds):
    assert decided(monkeypatch, *outcomes).holds is holds


@pytest.mark.parametrize(
    "rate, last, holds",
    [
        (-0.01, 1.9e-2, None),
        (-0.01, 1.99e-2, False),
        (-0.0005, 1.99e-2, None),  # 1 % is all that it can have fallen by
        (-0.0005, 1.9999e-2, False),
        (-0.2, 1.9e-2, False),
        (0.01, 1.9e-2, False),
    ],
)
def test_what_stays_while_a_mode_decays_for_longer_than_the_run_is_undecided(
    monkeypatch, rate, last, holds
):
    """Runs of 60 s: five time constants of 100 s are longer, of 5 s are not; what has not fallen at all stays."""
    slow = Mode(complex(rate, 0.5), 1e-6, ("q_1",), "at the end", 0.0)
    bad = back(word="staying", last=last, after=math.inf)
    assert decided(monkeypatch, outcome(bad), slow=slow).holds is holds


@pytest.mark.parametrize(
    "rate, rounding, last, holds",
    [
        (-1 / 1200, 1e-6, 1.99e-2, None),  # of the 1.7 % that it can have fallen by
        (-1 / 1200, 1e-6, 1.9999e-2, False),
        (-1 / 1200, 1e-2, 1.99e-2, False),  # rounding hides it
        (1 / 1200, 1e-6, 1.99e-2, False),
    ],
)
def test_a_run_that_never_rests_has_slow_modes_too(monkeypatch, rate, rounding, last, holds):
    """The heat of an axis under a sine: frozen time, whose doubt is 1/60 1/s, says nothing of it for certain."""
    slow = Mode(complex(rate), 1 / 60, ("θ",), "on the way", 0.0, rounding=rounding)
    bad = back(word="staying", last=last, after=math.inf)
    found = decided(monkeypatch, outcome(bad), slow=slow, rests=False)
    assert found.holds is holds
    assert (holds is None) == ("decays by e in 1200 s" in found.worst)


def test_a_run_that_does_not_settle_itself_is_refused(monkeypatch):
    found = decided(monkeypatch, outcome(back()), restless="2 mm of tool")
    assert found.holds is False and "2 mm of tool" in found.worst


def test_the_start_and_the_signal_that_decide_are_named(monkeypatch):
    bad = back(OTHER, "staying", last=8e-3, after=math.inf)
    found = decided(monkeypatch, outcome(back()), outcome(back(), bad), outcome(back()))
    assert "start 2 of 3" in found.worst and "q_1" in found.worst and "start 1" in found.worst
    gone = decided(monkeypatch, outcome(back()), outcome(gone="piston 1 leaves"))
    assert gone.worst.startswith("start 2 of 2: piston 1 leaves")


def test_figures_beside_the_verdict(monkeypatch):
    """Three runs say 1 − 0.05^(1/3) at 95 %; the room is the least share that was given back."""
    found = decided(
        monkeypatch,
        outcome(back(after=1.0)),
        outcome(back(last=5e-3, after=4.0, rate=0.5)),
        outcome(back(PRESSURE, last=1.9e-2)),
    )
    assert found.data["violation_probability_at_95"] == pytest.approx(1 - 0.05 ** (1 / 3))
    assert found.data["runs"] == 3 and found.data["duration"] == 60.0
    assert found.margin == pytest.approx(1 - 5e-3 / 2e-2)
    assert "slowest back: tool after 4 s, at 0.5 1/s" in found.worst
    assert found.worst.endswith(SMALL)
    assert (
        decided(monkeypatch, outcome(back(word="returning"))).data["violation_probability_at_95"]
        is None
    )


@pytest.mark.parametrize(
    "v, stated, unrest, holds",
    [
        (9.9, False, "", True),
        (10.1, False, "", False),
        (10.1, True, "", False),
        (9.9, True, "", True),
        (9.9, True, "1 mm of q_1", False),  # no bound of v allows it
        (9.9, False, "1 mm of q_1", False),
        (math.inf, False, "", False),
    ],
)
def test_the_accompanying_function_stays_below_its_bound(monkeypatch, v, stated, unrest, holds):
    runs = (outcome(back(), v=v, unrest=unrest), outcome(back(), v=2.0))
    found = decided(monkeypatch, *runs, ledger=True, stated=stated)
    assert found.holds is holds
    assert found.data["bound"] == 10.0 and found.data["stated"] is stated
    assert found.data["nominal"] == 1.0
    assert found.data["largest"] == (v if math.isfinite(v) else None)


def test_pressures_that_stay_are_named_with_the_verdict(monkeypatch):
    """Largest last distance of those that neither come back nor grow."""
    (named,) = decided(monkeypatch, outcome(back(), HELD)).assumptions
    assert "p_a1 stay up to 5 bar" in str(named)
    assert decided(monkeypatch, outcome(back())).assumptions == ()


@pytest.mark.parametrize(
    "known, others, holds", [(1.0, 12.0, False), (12.0, 1.0, False), (2.0, 4.0, True)]
)
def test_the_largest_v_of_all_runs_is_held_against_the_bound(monkeypatch, known, others, holds):
    """It decides before what stays away; the margin is what is left to the bound of 10 J."""
    runs = outcome(back(), v=others), outcome(back(), v=0.5)
    found = decided(monkeypatch, *runs, ledger=True, v=known)
    assert found.holds is holds and found.margin == pytest.approx(10.0 - max(known, others))
    stays = outcome(back(word="staying"), v=others)
    assert ("stays" in decided(monkeypatch, stays, ledger=True, v=known).worst) is holds


@pytest.mark.parametrize(
    "units, said",
    [
        (("rad",), "swings below 0.0558 mrad are not looked for"),
        (("rad", "m", "rad"), "swings below 0.0558 mrad or 55.8 µm are not looked for"),
        ((), "swings are not looked for"),
    ],
)
def test_how_small_a_swing_is_looked_for(monkeypatch, units, said):
    monkeypatch.setattr(practical_decision, "floor_of", lambda run: 5.5799999999999994e-05)
    monkeypatch.setattr(oscillation, "joint_errors", lambda run: range(len(units)))
    log = SimpleNamespace(signal=lambda k: SimpleNamespace(unit=units[k]))
    assert practical_decision.too_small(SimpleNamespace(log=log)) == said
