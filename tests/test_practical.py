"""Practical stability and its limits: bounds too small, loops that are unstable, runs too short, edges where they are said."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import pytest
from ledger_cases import CRANE, LOADED, PATH, REAL, START, Reversed, sampled

from controllers.vdc import VDC
from workbench import ClosedLoop, Delayed, Hold, Sampled, Scenario, verify
from workbench.contract.errors import InputError
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.practical.disturbed import longer, settled_storage, undisturbed
from workbench.verification.practical.limits.claims import outcome
from workbench.verification.practical.limits.scanned import Outcome, Scan
from workbench.verification.practical.starts import drawn, scenario_from
from workbench.verification.run import Run, run
from workbench.verification.variant import variant
from workbench.verification.verdict import exit_code

SLOW = Scenario(reference=replace(PATH, leg=2.0))  # there and back, 4 s
KNOWN = VDC(model=CRANE)
PRACTICAL = C.PracticalStability(runs=2, settle=1.0)


def late(delay, plant=CRANE):
    return ClosedLoop(plant, Delayed(Sampled(VDC(model=plant), 1e-3), delay, capacity=16))


def answer(loop, claim, scenario=SLOW):
    (verdict,) = verify(loop, scenario, [claim])
    return verdict


@pytest.fixture(scope="module")
def nominal():
    return run(sampled(CRANE), SLOW)


def others(nominal, runs, spread=0.02):
    """Scenarios from other starts, over twice the duration."""
    base = undisturbed(nominal, 2 * nominal.scenario.length()).scenario
    return [scenario_from(nominal, start, base) for start in drawn(nominal, runs, spread)]


@pytest.fixture(scope="module")
def limits():
    """The practical claim and both limits of the ideal crane at 1 kHz, with a bound a person might state."""
    claims = [
        replace(PRACTICAL, bound=2e-3),
        C.SampleTimeLimit(up_to=20e-3),
        C.DelayLimit(up_to=20e-3),
    ]
    return {v.key: v for v in verify(sampled(CRANE), SLOW, claims)}


# ---- the bound ------------------------------------------------------------------------------------------------------
@pytest.mark.long
def test_a_bound_on_both_sides_of_what_is_seen():
    seen = answer(sampled(CRANE), PRACTICAL)
    assert (
        seen.holds is True
        and seen.strength == "sampled"
        and "bound set on the nominal run" in seen.worst
    )
    v = seen.data["largest"]
    assert 0 < v <= seen.data["bound"] == pytest.approx(10 * seen.data["nominal"])
    assert answer(sampled(CRANE), replace(PRACTICAL, bound=1.001 * v)).holds is True
    refused = answer(sampled(CRANE), replace(PRACTICAL, bound=0.999 * v))
    assert refused.holds is False and refused.margin == pytest.approx(-0.001 * v, rel=1e-6)
    assert refused.data["violation_probability_at_95"] is None
    assert seen.data["violation_probability_at_95"] == pytest.approx(1 - 0.05**0.5)


def test_the_cause_is_named():
    assert "valve term" in answer(sampled(REAL), replace(PRACTICAL, bound=1.0)).worst
    assert "hold term" in answer(sampled(CRANE, T_s=8e-3), replace(PRACTICAL, bound=1.0)).worst
    assert "model term" in answer(sampled(LOADED, KNOWN), replace(PRACTICAL, bound=1e3)).worst


def test_other_starts_are_other_longer_and_come_back_to_the_same_path(nominal):
    found = others(nominal, runs=5)
    starts = np.array([scenario.start for scenario in found])
    assert len({*map(tuple, starts)}) == 5 and 0 < np.abs(starts - START).max() <= 0.02
    for scenario in found:
        assert (
            scenario.length() >= 2 * SLOW.length()
            and scenario.reference.duration >= 2 * SLOW.reference.duration
        )
        np.testing.assert_array_equal(
            scenario.reference.sample(np.array([0.0, 2.0]), 0)[0], [PATH.points[0], PATH.points[1]]
        )
    assert [s.start for s in found] == [s.start for s in others(nominal, runs=5)]
    assert longer(Scenario(reference=Hold("joint"), duration=3.0)).duration == 6.0


def test_starts_that_do_not_fit_are_drawn_closer():
    low, high = CRANE.joint_range()[0]
    edge = Scenario(start=(low + 2e-3, START[1]), duration=1.2)
    for scenario in others(run(sampled(CRANE), edge), runs=4, spread=0.5):
        CRANE.check_pose(scenario.start)


def test_no_other_start_is_refused():
    with pytest.raises(InputError, match="runs"):
        replace(PRACTICAL, runs=0)


@pytest.mark.long
def test_a_run_within_its_settling_time_is_made_longer_by_itself():
    for claim in (replace(PRACTICAL, settle=4.0), replace(PRACTICAL, settle=4.0, bound=1.0)):
        verdict = answer(sampled(CRANE), claim)
        assert verdict.holds is True and verdict.data["duration"] >= 16.0
    brief = replace(SLOW, duration=2.5)
    assert answer(sampled(CRANE), run_claims.Tracking(error=5e-3), brief).holds is True
    for claim in (C.SampleTimeLimit(up_to=2e-3), C.ParameterLimit("friction.F_c", to=1.05)):
        assert answer(sampled(CRANE), claim, brief).holds is True


# ---- unstable loops -------------------------------------------------------------------------------------------------
UNSTABLE = {
    "20 ms": sampled(CRANE, T_s=20e-3),
    "12 ms late": late(12e-3),
    "ports swapped": ClosedLoop(CRANE, Sampled(Reversed(KNOWN), 1e-3)),
    "force gain thirty times": sampled(CRANE, βk_f=(4000.0,)),
}


@pytest.mark.parametrize("name", UNSTABLE)
def test_an_unstable_loop_never_holds(name):
    stated, unstated = (answer(UNSTABLE[name], replace(PRACTICAL, bound=b)) for b in (0.05, None))
    decided = stated.holds is False and (
        "t = " in stated.worst or "leaves its stroke" in stated.worst
    )
    assert (
        decided or stated.holds is None and "own error" in stated.worst
    )  # what hammers has no run that two steps agree on
    assert unstated.holds is not True  # ten times a limit cycle would bound a limit cycle
    assert exit_code([stated]) == (1 if decided else 2)


@pytest.mark.quick
def test_what_is_not_v_is_refused_as_well():
    """A loop that hammers its valves is refused by what users look at, whatever bound on v they gave."""
    found = {
        v.key: v
        for v in verify(
            UNSTABLE["20 ms"],
            SLOW,
            [
                run_claims.Tracking(settle=1.0),
                run_claims.Settled(),
                run_claims.Saturation(),
                C.SampleTimeLimit(up_to=25e-3),
            ],
        )
    }
    assert {k: v.holds for k, v in found.items()} == {
        "tracking": False,
        "settled": False,
        "saturation": False,
        "sample-time-limit": False,
    }


@final
@dataclass(frozen=True)
class Blast:
    """A force no number can hold for long."""

    when: float
    space = "output"

    def sample(self, t, order):
        return np.where(t >= self.when, 1e300, 0.0)[None, :, None]


def test_a_run_that_diverges_is_a_failure_and_not_a_matter_of_energy():
    """Numbers overflow: violated, with the time, even though no energy can be balanced then."""
    claims = [
        replace(PRACTICAL, bound=1e9),
        run_claims.Tracking(settle=1.0),
        run_claims.Pressures(),
        run_claims.Saturation(),
        run_claims.Settled(),
        C.SampleTimeLimit(),
        C.DelayLimit(),
        C.Identity(),
        C.PowerFlows(),
    ]
    for when in (0.0, 0.7):
        found = verify(sampled(CRANE), replace(SLOW, disturbances={"f_Dy": Blast(when)}), claims)
        for v in found[:-2]:
            assert v.holds is False and "not finite at t = " in v.worst, v.key
        # The identity holds at whatever states there are.
        assert [v.holds for v in found[-2:]] == ([True, True] if when else [None, None])


def test_a_piston_through_its_end_is_a_failure_of_any_bound():
    swapped = UNSTABLE["ports swapped"]
    verdict = answer(swapped, replace(PRACTICAL, bound=1e30))
    assert verdict.holds is False and "leaves its stroke" in verdict.worst
    assert settled_storage(run(swapped, SLOW), 1.0)[0] == np.inf


# ---- limits ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "key, again",
    [
        pytest.param(
            "sample-time-limit",
            lambda T: variant(sampled(CRANE), SLOW, T_s=T),
            marks=pytest.mark.long,
        ),
        ("delay-limit", lambda d: variant(sampled(CRANE), SLOW, delay=d, capacity=24)),
    ],
)
def test_a_limit_is_where_simulating_again_puts_it(limits, key, again):
    verdict = limits[key]
    good, bad = verdict.data["good"], verdict.data["bad"]
    assert verdict.holds is True and 0 < good < bad < 1.15 * good
    judge = outcome(C.SampleTimeLimit(), 2e-3)
    assert judge(run(*again(0.9 * good))).good and judge(run(*again(good))).good
    assert not judge(run(*again(bad))).good and not judge(run(*again(1.1 * bad))).good


def test_everything_below_a_limit_was_tried_and_good(limits):
    for key in ("sample-time-limit", "delay-limit"):
        data = limits[key].data
        assert list(data["values"]) == sorted(data["values"]) and len(data["values"]) > 4
        assert all(
            ok == (v <= data["good"])
            for v, ok in zip(data["values"], data["ok"])
            if v <= data["bad"]
        )


@pytest.mark.parametrize(
    "share, holds", [(0.9, True), (1.05, False), pytest.param(3.0, False, marks=pytest.mark.long)]
)
def test_a_limit_asked_for_is_tried_itself(limits, share, holds):
    good, bad = limits["sample-time-limit"].data["good"], limits["sample-time-limit"].data["bad"]
    asked = share * (good if holds else bad)
    verdict = answer(sampled(CRANE), C.SampleTimeLimit(at_least=asked, up_to=1.5e-3, bound=2e-3))
    assert verdict.holds is holds and any(
        v == pytest.approx(asked) for v in verdict.data["values"]
    ) is (share < 3 or not holds)
    assert (verdict.margin >= 0) is holds


def test_nothing_is_claimed_beyond_the_end_of_a_scan():
    """Asked for 60 ms of a scan that ends at 2 ms: 60 ms is tried, and fails."""
    verdict = answer(sampled(CRANE), C.DelayLimit(at_least=60e-3, up_to=2e-3, bound=2e-3))
    assert verdict.holds is False and verdict.margin < 0


def test_parameters_move_in_the_machine_only(limits):
    """Friction a fifth larger holds; a payload of zero told, growing in truth, fails somewhere and says where."""
    assert answer(sampled(CRANE), C.ParameterLimit("friction.F_c", to=1.2, bound=5.0)).holds is True
    heavy = answer(
        sampled(LOADED), C.ParameterLimit("payload.mass", to=1.2, at_least=1.15, bound=0.05)
    )
    assert (
        heavy.holds is False
        and heavy.data["good"] < 1.15
        and heavy.data["paths"] == ["payload.mass"]
    )
    slow = answer(
        sampled(REAL), C.ParameterLimit("valve.frequency", to=0.3, at_least=0.3, bound=1.0)
    )
    assert slow.holds is False and 0.3 < slow.data["bad"] <= slow.data["good"] <= 1.0


@pytest.mark.parametrize(
    "edge, values, good, bad",
    [
        (3.3, (1, 2, 3, 4, 5), (3.0, 3.3), (3.3, 4.0)),
        (9, (1, 2, 3), (3, 3), (None, None)),
        (0.5, (1, 2), (0, 0), (1, 1)),
    ],
)
def test_a_scan_brackets_the_first_failure(monkeypatch, edge, values, good, bad):
    monkeypatch.setattr(
        "workbench.verification.practical.limits.scanned.run_many",
        lambda jobs, judge, tick=None: [judge(j) for j in jobs],
    )
    judge = lambda v: Outcome(v <= edge, v, 0.0, "" if v <= edge else "beyond")
    reach = Scan(lambda v: v, judge).along(values)
    assert good[0] <= reach.good <= good[1]
    assert reach.bad is None if bad[0] is None else bad[0] <= reach.bad <= bad[1]


def test_an_island_of_failure_is_not_stepped_over(monkeypatch):
    """Good up to 2, bad at 3, good again beyond: what is beyond does not count."""
    monkeypatch.setattr(
        "workbench.verification.practical.limits.scanned.run_many",
        lambda jobs, judge, tick=None: [judge(j) for j in jobs],
    )
    for values in ((1, 2, 3, 4, 5), (1, 3, 4, 5), (1, 2, 2.5, 3, 4)):
        judge = lambda v: Outcome(not 2.4 <= v <= 3.3, v, 0.0, "island")
        reach = Scan(lambda v: v, judge).along(values)
        assert reach.good < 2.4 <= reach.bad <= 3.0


def test_failures_in_any_measure_end_a_scan(nominal):
    judge = outcome(C.SampleTimeLimit(error=1e-3), 1.0)
    assert judge(nominal).good
    assert not outcome(C.SampleTimeLimit(error=1e-9), 1.0)(nominal).good
    assert not outcome(C.SampleTimeLimit(), 1e-9)(nominal).good
    gone = Run(nominal.loop, nominal.scenario, replace_status(nominal.log))
    assert judge(gone) == (False, np.inf, np.inf, "diverged: q_1 is not finite at t = 1 s")


def replace_status(log):
    from workbench.run.log import Log, Status

    status = Status(False, "diverged: q_1 is not finite at t = 1 s", 1.0, "q_1")
    return Log(log.time, log.values, log.signals, log.provenance, status)
