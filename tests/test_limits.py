"""How far practical stability reaches: scans of known edges, and every number of the verdict made of one."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback, Linear

from controllers.pid.law import PID
from plants import LinearActuator
from workbench import ClosedLoop, Delayed, Hold, Sampled, Scenario
from workbench.contract.errors import InputError
from workbench.contract.wrappers import MOST_HELD
from workbench.interop.linear_plant import LinearPlant
from workbench.numerics.laned import width
from workbench.run.log import Log, Status
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.practical.limits import claims as limits
from workbench.verification.practical.limits import scanned
from workbench.verification.practical.limits.claims import Clock, _beside, outcome, queue
from workbench.verification.practical.limits.foundation import Foundation
from workbench.verification.practical.limits.scanned import Outcome, Reach, Scan
from workbench.verification.verdict import Verdict

WHOLE = Scenario(1.0)


@pytest.fixture
def decays(monkeypatch):
    """Every loop rests, and has a mode that decays, whatever is scanned."""
    mode = Mode(-0.5 + 2.0j, 1e-9, ("x",), "at its start", 0.0)
    still = Modes((Place(0.0, "at its start", True, (mode,)),))
    monkeypatch.setattr(limits, "slowest_and_unstable", lambda run: still)
    monkeypatch.setattr(limits, "windows", lambda make, own, asked: ())


@pytest.fixture
def at_once(monkeypatch):
    """Jobs are their own runs."""
    monkeypatch.setattr(
        scanned, "run_many", lambda jobs, judge, tick=None: [judge(job) for job in jobs]
    )


def scan(make, values, judge, known=None, rounds=None, **how):
    return Scan(make, lambda run: Outcome(*judge(run)), **how).along(values, known, rounds)


def within(low, high):
    """Good between low and high; v is ten times the value, the error a tenth."""
    return lambda v: (low <= v <= high, 10 * v, v / 10, "" if low <= v <= high else f"at {v:.3f}")


def split(a, b):
    """The two values that divide a … b by equal factors."""
    return a ** (2 / 3) * b ** (1 / 3), a ** (1 / 3) * b ** (2 / 3)


def test_a_scan_upwards_step_by_step(at_once):
    """1, 2, 3 until 4 fails. Between 3 and 4 the first inner value fails, between 3 and this one none; beyond one none is tried."""
    first = split(3.0, 4.0)
    second = split(3.0, first[0])
    found = scan(lambda v: v, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), within(0, 3.3))
    values = (1.0, 2.0, 3.0, *second, first[0], 4.0)
    assert found.values == pytest.approx(values)
    assert found.data["ok"] == (True,) * 5 + (False,) * 2
    assert found.data["v"] == pytest.approx([10 * v for v in values])
    assert found.data["error"] == pytest.approx([v / 10 for v in values])
    assert found.data["why"][:5] == ("",) * 5 and found.data["why"][-1] == "at 4.000"
    assert found.good == pytest.approx(second[1]) and found.bad == pytest.approx(first[0])


def test_a_scan_downwards_step_by_step(at_once):
    first = split(0.6, 0.4)
    second = split(*first)
    found = scan(lambda v: v, (1.0, 0.8, 0.6, 0.4, 0.2), within(0.5, 9), down=True)
    assert found.values == pytest.approx(sorted((1.0, 0.8, 0.6, 0.4, *first, *second)))
    assert found.good == pytest.approx(second[0]) and found.bad == pytest.approx(second[1])
    assert second[0] > 0.5 > second[1]


@pytest.mark.parametrize("edge", [0.2, 1.7, 3.3, 4.95, 6.0])
def test_eight_at_once_find_the_edge_that_one_after_the_other_find(at_once, edge):
    values = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    one = scan(lambda v: v, values, within(0, edge))
    eight = scan(lambda v: v, values, within(0, edge), beside=8)
    assert eight.good == pytest.approx(one.good)
    assert eight.bad == (None if one.bad is None else pytest.approx(one.bad))
    assert set(np.round(one.values, 12)) <= set(np.round(eight.values, 12))


@pytest.mark.parametrize("hole", [(9.0, 9.0), (2.3, 2.9)])
@pytest.mark.parametrize("edge", [0.2, 1.7, 3.3, 4.95, 6.0])
def test_one_after_the_other_gives_what_two_at_once_give(at_once, edge, hole):
    """The same last good and first bad value, and of what was tried the same: fewer runs, none beyond one that failed."""
    values = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)

    def judge(v):
        good = v <= edge and not hole[0] < v < hole[1]
        return good, 10 * v, v / 10, "" if good else f"at {v:.3f}"

    one = scan(lambda v: v, values, judge)
    two = scan(lambda v: v, values, judge, beside=2)
    assert (one.good, one.bad) == (two.good, two.bad)
    told = lambda reach: set(
        zip(reach.values, reach.data["ok"], reach.data["v"], reach.data["error"], reach.data["why"])
    )
    assert told(one) <= told(two)
    nearer = lambda reach: {v for v in reach.values if reach.bad is None or v <= reach.bad}
    assert nearer(one) == nearer(two)


def test_machines_that_differ_in_a_number_are_scanned_as_many_at_once_as_there_are_lanes():
    plant = Linear(((-1.0,),), ((1.0,),), ((1.0,),), x0=(0.0,))
    loop = ClosedLoop(plant, Sampled(Feedback(plant, ((2.0,),)), 1e-3))
    short = SimpleNamespace(loop=loop, scenario=Scenario(0.05))
    assert _beside(short, 9) == 1  # a second kernel would not pay
    assert _beside(short, 10**6) == width()
    exact = SimpleNamespace(loop=loop, scenario=replace(short.scenario, accuracy=1e-6))
    assert _beside(exact, 10**6) == 1  # such runs have no lane


def test_from_zero_the_bracket_is_divided_in_equal_steps(at_once):
    found = scan(lambda v: v, (0.0, 4.0), within(0, 1.0))
    assert found.values == pytest.approx((0, 4 / 9, 8 / 9, 4 / 3, 4))
    assert found.good == pytest.approx(8 / 9) and found.bad == pytest.approx(4 / 3)


def test_towards_zero_the_bracket_is_divided_in_equal_steps(at_once):
    found = scan(lambda v: v, (1.0, 0.0), within(0.5, 9), down=True, rounds=1)
    assert found.values == pytest.approx((0, 1 / 3, 2 / 3, 1))
    assert found.good == pytest.approx(2 / 3) and found.bad == pytest.approx(1 / 3)


def test_downwards_the_edges_nearest_to_the_nominal_value_count(at_once):
    """Both inner values fail: the higher one is the edge. Both pass: the lower one is good."""
    upper, lower = split(1.0, 0.1)
    fails = scan(lambda v: v, (1.0, 0.1), within(0.9, 9), down=True, rounds=1)
    assert (fails.good, fails.bad) == pytest.approx((1.0, upper))
    passes = scan(lambda v: v, (1.0, 0.1), within(0.15, 9), down=True, rounds=1)
    assert (passes.good, passes.bad) == pytest.approx((lower, 0.1))


@pytest.mark.parametrize("rounds, good, bad", [(0, 3.0, 4.0), (1, 3.0, split(3.0, 4.0)[0])])
def test_a_bracket_is_as_narrow_as_the_rounds_make_it(at_once, rounds, good, bad):
    found = scan(lambda v: v, (1.0, 2.0, 3.0, 4.0), within(0, 3.3), rounds=rounds)
    assert (found.good, found.bad) == pytest.approx((good, bad))


@pytest.mark.parametrize("down, good", [(False, 0.0), (True, 1.0)])
def test_where_nothing_is_good_there_is_nothing_to_bracket(at_once, down, good):
    values = (3.0, 2.0) if down else (2.0, 3.0)
    found = scan(lambda v: v, values, within(7, 8), down=down)
    assert found.values == values[:1] and found.data["ok"] == (False,)
    assert found.good == good and found.bad == values[0]


def test_what_is_good_beyond_the_first_failure_does_not_count(at_once):
    """Bad at 3 alone: neither 4 nor an inner value beyond a bad one is reached."""
    found = scan(lambda v: v, (3.0, 4.0), lambda v: (v > 3.0, v, 0.0, ""))
    assert found.good == 0.0 and found.bad == 3.0
    # Between 2 and 4 the nearer inner value fails and the farther one passes: the nearer one is the edge.
    near, far = split(2.0, 4.0)
    holed = scan(
        lambda v: v, (2.0, 4.0), lambda v: (v == 2.0 or abs(v - far) < 1e-9, v, 0.0, ""), rounds=1
    )
    assert holed.good == 2.0 and holed.bad == pytest.approx(near)


def test_runs_there_are_already_are_not_made_again(at_once):
    made = []
    found = scan(lambda v: made.append(v) or v, (1.0, 2.0), within(0, 9), known={1.0: 1.0})
    assert made == [2.0] and found.values == (1.0, 2.0) and found.bad is None and found.good == 2.0
    made.clear()
    found = scan(lambda v: made.append(v) or v, (1.0, 2.0), within(5, 9), known={1.0: 1.0})
    assert made == [] and found.values == (1.0,) and found.bad == 1.0 and found.good == 0.0


@pytest.mark.parametrize(
    "samples, length",
    [(0.2, 8), (7.5, 8), (8.0, 8), (8.1, 16), (16.0, 16), (17.0, 32), (1e9, None)],
)
def test_a_queue_is_the_next_power_of_two(samples, length):
    assert queue(samples) == (MOST_HELD if length is None else length)


# ---- what counts as good ------------------------------------------------------------------------------------------------
FINE = (math.inf, "")


def ran(e=None, stored=None, unit="m", completed=True, left=FINE, v_times=None, hollow=FINE):
    """A run of nine seconds, settled from the third on, with a tool error and a storage by hand."""
    status = SimpleNamespace(completed=completed, message="diverged: q_1")
    time = np.linspace(0.0, 9.0, 4)
    fine = SimpleNamespace(
        tool_error=None if e is None else np.array(e), settled=lambda after: slice(1, None)
    )
    t = time if v_times is None else np.array(v_times)
    return SimpleNamespace(
        log=SimpleNamespace(status=status),
        end=left[1] or ("" if completed else status.message),
        left=left,
        hollow=hollow,
        crossed=FINE,
        fine=fine,
        storage=(t, np.array(stored if stored is not None else [0.0] * len(t))),
        error_unit=unit,
    )


CLAIM = SimpleNamespace(error=1e-3)


@pytest.mark.parametrize(
    "run, bound, found",
    [
        (ran([9, 1e-4, 5e-4, 2e-4]), None, (True, math.nan, 5e-4, "")),
        (ran([9, 1e-4, 1e-3, 2e-4]), None, (True, math.nan, 1e-3, "")),
        (ran([9, 1e-4, 2e-3, 2e-4]), None, (False, math.nan, 2e-3, "error 2 mm")),
        (ran(None), None, (True, math.nan, math.nan, "")),
        (ran([0, 0, 0, 0], [9, 2, 3, 1]), 3.0, (True, 3.0, 0.0, "")),
        (ran([0, 0, 0, 0], [9, 2, 4, 1]), 3.0, (False, 4.0, 0.0, "v = 4 J")),
        (ran(None, [9, 2, 3, 1]), 3.0, (True, 3.0, math.nan, "")),
        (ran([0] * 4, completed=False), None, (False, math.inf, math.inf, "diverged: q_1")),
        (ran([0] * 4, left=(1.0, "piston 1")), None, (False, math.inf, math.inf, "piston 1")),
    ],
)
def test_what_a_run_of_a_scan_shows(monkeypatch, run, bound, found):
    """After three seconds: the largest v against its bound, then the largest error against what is allowed."""
    monkeypatch.setattr(limits, "restless", lambda run: "")
    assert limits.SETTLE == 3.0
    good, v, error, why = outcome(CLAIM, bound)(run)
    assert (good, why) == (found[0], found[3])
    assert (v, error) == pytest.approx(found[1:3], nan_ok=True)


def test_a_run_shorter_than_settling_is_read_in_its_last_tenth(monkeypatch):
    monkeypatch.setattr(limits, "restless", lambda run: "")
    short = ran(None, [9, 8, 7, 1, 2], v_times=[0.0, 0.1, 0.44, 0.46, 0.5])
    assert outcome(CLAIM, 5.0)(short)[:2] == (True, 2.0)


def test_a_run_below_vacuum_is_none_that_a_machine_bears(monkeypatch):
    monkeypatch.setattr(limits, "restless", lambda run: "")
    quiet = {"e": [0.0] * 4, "stored": [0.0] * 4}
    assert outcome(CLAIM, 5.0)(ran(**quiet)).good
    found = outcome(CLAIM, 5.0)(ran(**quiet, hollow=(1.0, "p_a falls below vacuum")))
    assert found == (False, math.inf, math.inf, "p_a falls below vacuum")


@pytest.mark.parametrize("e, stored", [(0.0, 0.0), (2e-3, 0.0), (0.0, 9.0)])
def test_a_run_that_swings_is_told_by_its_swing(monkeypatch, e, stored):
    monkeypatch.setattr(limits, "restless", lambda run: "swings")
    good, _, _, why = outcome(CLAIM, 3.0)(ran([e] * 4, [stored] * 4))
    assert (good, why) == (False, "swings")


# ---- verdicts -----------------------------------------------------------------------------------------------------------
def verdict(monkeypatch, reach, least=2e-3, own_bound=None, **asked):
    """The verdict of a sample-time limit on a scan that found this; what the scan was asked goes into `asked`."""

    class Scanning(Scan):
        def along(self, values, known=None, rounds=None):
            asked.update(values=values, known=known, bound=self.judge)
            return reach

    monkeypatch.setattr(limits, "Scan", Scanning)
    monkeypatch.setattr(limits, "outcome", lambda claim, bound: bound)
    log = SimpleNamespace(status=SimpleNamespace(completed=True))
    run = SimpleNamespace(loop=SimpleNamespace(period=asked.get("period", 1e-3)), log=log)
    claim = SimpleNamespace(up_to=16e-3, bound=own_bound, counted=False, error=0.05)
    clock = Clock("sample time", 1e-3, 2e-3, least, None)
    found = limits._limit(clock, claim, run, Foundation.known(1.0), None)
    return found, asked, run


def reached(good, bad, ok=(True, False), why=("", "too far")):
    values = (good, good + 1.0 if bad is None else bad)
    seen = map(Outcome, ok, (1.0, 2.0), (0.1, 0.2), why)
    return Reach(dict(zip(values, seen)), good, bad)


@pytest.mark.usefixtures("decays")
@pytest.mark.parametrize(
    "reach, holds, worst",
    [
        (reached(5e-3, None), True, "none of the 2 values tried up to 5 ms failed"),
        (reached(3e-3, 4e-3), True, "3 ms; at 4 ms: too far"),
        (reached(1e-3, 2.5e-3), True, "1 ms; at 2.5 ms: too far"),
        (reached(1e-3, 2e-3), False, "1 ms; at 2 ms: too far"),
        (reached(1e-3, 1.5e-3), False, "1 ms; at 1.5 ms: too far"),
        (
            reached(0.0, 3e-3, ok=(False, False)),
            False,
            "fails at the shortest tried, 3 ms: too far",
        ),
    ],
)
def test_a_limit_in_time(monkeypatch, reach, holds, worst):
    """Asked up to 2 ms: it holds where the first failure is beyond; the margin is what the last good value has over."""
    found, asked, run = verdict(monkeypatch, reach)
    assert found.holds is holds and found.strength == "sampled" and found.counted is False
    assert found.worst == worst and found.claim == "stays so up to sample time 2 ms"
    assert found.key == "sample-time-limit" and found.source == limits.SCANNED
    assert found.margin == pytest.approx(reach.good - 2e-3)
    assert (found.unit, found.limit) == ("s", 2e-3)
    assert found.data["values"] == reach.values and found.data["ok"] == reach.data["ok"]
    assert found.data["v"] == reach.data["v"] and found.data["error"] == reach.data["error"]
    assert (found.data["good"], found.data["bad"]) == (reach.good, reach.bad)
    assert found.data["why"] == reach.data["why"]
    assert asked["known"] == {1e-3: run} and asked["bound"] == 1.0
    wanted = sorted([2e-3, *(1e-3 * 16 ** (k / 8) for k in range(9))])  # from its own sample time
    assert asked["values"] == pytest.approx(wanted)


@pytest.mark.usefixtures("decays")
def test_the_bound_a_claim_states_goes_before_the_runs_own(monkeypatch):
    assert verdict(monkeypatch, reached(5e-3, None), own_bound=7.0)[1]["bound"] == 7.0


def test_a_run_that_ends_early_or_has_no_practical_stability_is_not_scanned(monkeypatch):
    monkeypatch.setattr(limits, "Scan", None)
    gone = SimpleNamespace(completed=False, followed=True, message="gone", t_end=1.0, state="q")
    whole = SimpleNamespace(completed=True)
    claim = SimpleNamespace(up_to=16e-3, bound=None, counted=True, error=0.05)
    unstable = Verdict("p", "", False, "sampled")
    for status, practical, holds in ((gone, None, False), (whole, unstable, None)):
        log = SimpleNamespace(status=status, time=[0.0, 1.0])
        run = SimpleNamespace(log=log, loop=None, end="gone")
        clock = Clock("delay", 1e-3, 1e-3, 1e-3, None)
        assert (
            limits._limit(clock, claim, run, Foundation.known(1.0, practical), None).holds is holds
        )


@pytest.mark.usefixtures("decays")
def test_a_loop_without_samples_has_no_run_at_its_own_sample_time(monkeypatch):
    _, asked, _ = verdict(monkeypatch, reached(5e-3, None), period=None)
    assert asked["known"] == {}


def test_where_practical_stability_does_not_hold_there_is_nothing_to_reach_from(monkeypatch):
    said = lambda holds: Verdict("p", "", holds, None if holds is None else "sampled")
    assert limits.unfounded("key", "text", False, None) is None
    assert limits.unfounded("key", "text", False, said(True)) is None
    for holds, word in ((False, "violated"), (None, "undecided")):
        found = limits.unfounded("key", "text", False, said(holds))
        assert found.holds is None and found.counted is False and word in found.worst
        assert (found.key, found.claim, found.source) == ("key", "text", limits.SCANNED)


def loop(T=2e-3, delay=None):
    plant = LinearActuator()
    law = PID(plant, **PID.suited(plant))
    law = law if T is None else Sampled(law, T)
    return ClosedLoop(plant, law if delay is None else Delayed(law, delay=delay))


def asked_of(monkeypatch, check, claim, own):
    """What `check` asks `_limit` for, of a loop."""
    told = {}

    def asked(clock, claim, run, foundation, tick):
        told.update(clock._asdict(), claim=claim, bound=foundation.bound)

    monkeypatch.setattr(limits, "_limit", asked)
    monkeypatch.setattr(limits, "lasting", lambda run, settle: run)
    scenario = Scenario(duration=2.0, log_period=0.01)
    run = SimpleNamespace(loop=own, scenario=scenario, log=None)
    check(claim, run, Foundation.known(1.5))
    return told


@pytest.mark.parametrize("at_least, least", [(None, 2e-3), (5e-3, 5e-3)])
def test_a_sample_time_is_asked_for_from_the_loops_own(monkeypatch, at_least, least):
    claim = C.SampleTimeLimit(at_least=at_least)
    told = asked_of(monkeypatch, limits.check_sample_time, claim, loop())
    assert (told["own"], told["first"], told["least"]) == (2e-3, 2e-3, least)
    assert (told["name"], told["bound"]) == ("sample time", 1.5)
    slow, scenario = told["make"](7e-3)
    assert slow.period == 7e-3 and scenario.log_period is None and scenario.duration == 2.0


def test_a_law_without_samples_counts_as_one_of_a_millisecond(monkeypatch):
    told = asked_of(monkeypatch, limits.check_sample_time, C.SampleTimeLimit(), loop(None))
    assert told["own"] == told["first"] == told["least"] == 1e-3
    told = asked_of(monkeypatch, limits.check_delay, C.DelayLimit(up_to=1e6), loop(None))
    assert told["first"] == 0.5e-3 and told["claim"].up_to == pytest.approx(MOST_HELD * 1e-3 - 1e-3)


@pytest.mark.parametrize("at_least, least", [(None, 3e-3), (9e-3, 9e-3)])
def test_a_delay_is_asked_for_from_the_loops_own(monkeypatch, at_least, least):
    """As far as a delay can be held: MOST_HELD − 1 samples, or as far as it is asked for."""
    claim = C.DelayLimit(at_least=at_least, up_to=1e6)
    told = asked_of(monkeypatch, limits.check_delay, claim, loop(delay=3e-3))
    assert (told["own"], told["first"], told["least"]) == (3e-3, 1e-3, least)
    assert told["claim"].up_to == pytest.approx((MOST_HELD - 1) * 2e-3)
    late, scenario = told["make"](40e-3)
    assert late.controller.delay == 40e-3 and late.controller.capacity == 32
    assert scenario.log_period is None
    far = asked_of(monkeypatch, limits.check_delay, replace(claim, at_least=5e6), loop())
    assert far["claim"].up_to == 1e6 and far["own"] == 0.0
    near = asked_of(monkeypatch, limits.check_delay, replace(claim, up_to=4e-3), loop())
    assert near["claim"].up_to == 4e-3


# ---- a parameter --------------------------------------------------------------------------------------------------------
def parameter(monkeypatch, reach, plant=None, **claim):
    """(verdict, what the scan was asked) of a parameter-limit on a scan that found this."""
    told = {}

    class Scanning(Scan):
        def along(self, values, known=None, rounds=None):
            told.update(values=values, make=self.make, down=self.down)
            return reach

    monkeypatch.setattr(limits, "Scan", Scanning)
    monkeypatch.setattr(limits, "lasting", lambda run, settle: run)
    own = loop()
    own = own if plant is None else ClosedLoop(plant, own.controller)
    log = Log(np.zeros(1), np.zeros((1, 0)), (), {}, Status(True, "completed", 1.0))
    run = SimpleNamespace(loop=own, scenario=WHOLE, log=log)
    return limits.check_parameter(C.ParameterLimit(**claim), run, Foundation.known(1.0)), told


@pytest.mark.usefixtures("decays")
@pytest.mark.parametrize(
    "to, at_least, good, bad, holds, margin",
    [
        (3.0, None, 3.0, None, True, 0.0),
        (3.0, 2.0, 2.2, 2.5, True, 0.2),
        (3.0, 2.0, 1.8, 2.0, False, -0.2),
        (3.0, 2.0, 1.5, 1.7, False, -0.5),
        (0.2, 0.55, 0.5, 0.45, True, 0.05),
        (0.2, 0.55, 0.6, 0.55, False, -0.05),
        (0.2, 0.55, 0.65, 0.6, False, -0.1),
    ],
)
def test_a_parameter_upwards_and_downwards(monkeypatch, to, at_least, good, bad, holds, margin):
    """Upwards the first failure must lie above what is asked, downwards below; the margin is how far beyond it still holds."""
    found, told = parameter(
        monkeypatch, reached(good, bad), parameter="K", to=to, at_least=at_least
    )
    assert found.holds is holds and found.strength == "sampled" and found.unit == "1"
    assert found.margin == pytest.approx(margin) and found.limit == (at_least or to)
    assert told["down"] is (to < 1)
    assert told["values"] == sorted(told["values"], reverse=to < 1)
    assert len(told["values"]) == (9 if at_least is None else 10)
    assert (at_least or to) in told["values"] and told["values"][0] == 1.0
    assert found.claim == f"stays so up to K × {at_least or to:g}"
    if bad is None:
        assert found.worst == f"none of the 2 values tried up to {good:g} failed"
    else:
        assert found.worst == f"{good:.4g}; at {bad:.4g}: too far"
    assert found.data["paths"] == ["K"] and found.data["good"] == good and found.data["bad"] == bad
    assert found.data["ok"] == (True, False) and found.data["why"] == ("", "too far")


def test_a_scan_of_a_parameter_ends_where_practical_stability_fails(monkeypatch):
    foundation = Foundation()
    foundation.set_bound(1.0)

    class Refused(Scan):
        def along(self, values, known=None, rounds=None):
            assert not self.over()
            foundation.decide(Verdict("practical-stability", "", False, "sampled"))
            assert self.over()
            return reached(1.5, None)

    monkeypatch.setattr(limits, "Scan", Refused)
    monkeypatch.setattr(limits, "lasting", lambda run, settle: run)
    log = Log(np.zeros(1), np.zeros((1, 0)), (), {}, Status(True, "completed", 1.0))
    run = SimpleNamespace(loop=loop(), scenario=WHOLE, log=log)
    found = limits.check_parameter(C.ParameterLimit(parameter="K", to=3.0), run, foundation)
    assert found.holds is None and "nothing to reach from" in found.worst


@pytest.mark.usefixtures("decays")
def test_a_parameter_that_is_zero_is_scanned_in_its_own_unit(monkeypatch):
    """From 0 in equal steps; the value itself, not a factor."""
    plant = LinearActuator(K_F=0.0)
    found, told = parameter(
        monkeypatch, reached(2e-6, None), plant, parameter="K_F", to=4e-6, at_least=3.3e-6
    )
    steps = [4e-6 * k / 8 for k in range(9)]
    assert told["values"] == pytest.approx(sorted([*steps, 3.3e-6]), rel=1e-9, abs=1e-15)
    assert told["make"](1.5e-6)[0].plant == replace(plant, K_F=1.5e-6)
    assert told["make"](1.5e-6)[1] is WHOLE
    assert found.unit == "m/(s N)" and found.claim == "stays so up to K_F = 3.3e-06"


def test_a_parameter_nobody_has_is_refused_with_its_neighbours(monkeypatch):
    with pytest.raises(InputError, match="did you mean .*X_max"):
        parameter(monkeypatch, reached(1.0, None), parameter="X_mx", to=2.0)
    with pytest.raises(InputError, match="for example"):
        parameter(monkeypatch, reached(1.0, None), parameter="payload.mass", to=2.0)


@pytest.mark.parametrize("damping, holds", [(1.5, True), (-0.02, None)])
@pytest.mark.parametrize("asked", [False, True])
def test_a_limit_of_a_loop_that_grows_slowly_is_undecided_where_nothing_else_is_asked(
    damping, holds, asked
):
    """ẍ = −5 x − damping ẋ under PID, 6 s of it: with −0.02 it grows by e in a minute and a half, which no run of a scan shows."""
    plant = LinearPlant(
        (0.0, 1.0, 4.0, -damping), (0.0, 1.0), (1.0, 0.0, 0.0, 1.0), ("x", "v"), ("u",), ("x", "v")
    )
    gains = {"K_p": (9.0,), "K_i": (0.0,), "signals": ("x",), "u_max": 1e6}
    law = PID(plant, **gains, feed="none", damping="none")
    loop = ClosedLoop(plant, Sampled(law, T_s=0.01))
    limit = C.ParameterLimit("A.2", to=1.05, at_least=1.01, error=10.0)
    claims = [*([C.PracticalStability(runs=2)] if asked else []), limit]
    found = verify(loop, Scenario(6.0, Hold("output", (0.2,))), claims)[-1]
    assert found.holds is holds, found.worst
    if not holds:
        assert (
            "there is nothing to reach from" if asked else "ask practical-stability"
        ) in found.worst
