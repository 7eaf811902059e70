"""Bounds that a machine cannot exceed say nothing; generous ones that it can exceed are judged."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback
from test_falsify import SCENARIO, Lag

from workbench import ClosedLoop, Hold, Sampled, Scenario, Sine, Waypoints, verify
from workbench.verification import default_claims
from workbench.verification.claims import PracticalStability, SampleTimeLimit
from workbench.verification.judge import _allowed
from workbench.verification.observed import reachable
from workbench.verification.observed.requirement_claims import Requirement
from workbench.verification.observed.requirements import check_tracking
from workbench.verification.run import run
from workbench.verification.run_claims import (
    EnergyBalance,
    MachineLimits,
    NoCavitation,
    Overshoot,
    Pressures,
    Saturation,
    Settled,
    Tracking,
)
from workbench.verification.scales import Scale
from workbench.verification.verdict import Verdict, exit_code

HELD = Verdict("k", "k", True, "sampled", 1.0, "m")


@dataclass(frozen=True)
class Stroked(Lag):
    """A Lag whose piston has a stroke of 0.6 m."""

    def scales(self):
        return {"length": Scale(0.6, "stroke")}


def loop(plant=None, gain=8.0):
    plant = plant or Lag()
    return ClosedLoop(plant, Sampled(Feedback(plant, ((gain,),), ((gain + 1,),)), 10e-3))


def idle(plant):
    """A law that leaves its command at what holds x = 0.2 m, whatever is asked for."""
    return ClosedLoop(plant, Sampled(Feedback(plant, ((-1.0,),), ((0.0,),)), 10e-3))


def step(far):
    """From 0.2 m to `far` m away from there."""
    return Scenario(4.0, reference=Hold("output", (0.2 + far,)))


def told(closed, scenario, *claims):
    (verdict, *_) = verify(closed, scenario, claims)
    return verdict


def test_the_error_of_a_law_that_does_nothing_is_the_way():
    """It stays at 0.2 m: D is what the reference goes away from there, on a step and on a sine alike."""
    assert reachable.way(run(loop(), step(0.35))) == pytest.approx(0.35, rel=1e-12)
    sine = Scenario(4.0, reference=Sine("output", (0.2,), (0.1,), 0.5))
    assert reachable.way(run(loop(), sine)) == pytest.approx(0.1, rel=1e-3)
    assert reachable.way(run(loop(), step(0.0))) == 0.0


@pytest.mark.parametrize("far", (0.35, -0.07))
def test_a_tracking_bound_beyond_the_way_says_nothing(far):
    """A law that does nothing meets such a bound, and so does a good one; a narrower bound tells the two apart."""
    wide, near = (Tracking(error=share * abs(far), settle=1.0) for share in (1.001, 0.999))
    lazy = run(idle(Lag()), step(far))
    assert check_tracking(wide, lazy).holds is True and check_tracking(near, lazy).holds is False
    verdict = told(loop(), step(far), wide)
    assert verdict.holds is None and verdict.counted
    assert verdict.worst.startswith("says nothing: ") and "whole movement" in verdict.worst
    assert told(loop(), step(far), near).holds is True
    assert exit_code(verify(loop(), step(far), [Tracking(error=5.0, settle=1.0)])) == 2


def test_five_metres_for_a_stroke_of_sixty_centimetres():
    """A machine that holds still has no way; its stroke, or a hundred times what its signals were, is what an error could be."""
    at_rest = Scenario(4.0, reference=Hold("output", (0.2,)))
    for error, holds in ((0.61, None), (0.59, True)):
        assert told(loop(Stroked()), at_rest, Tracking(error=error, settle=1.0)).holds is holds
    for error, holds in ((50.0, None), (0.05, True)):
        assert told(loop(), at_rest, Tracking(error=error, settle=1.0)).holds is holds


def test_default_bounds_say_something():
    for scenario in (step(0.3), step(1e-3), SCENARIO, Scenario(4.0, reference=Hold("output"))):
        seen = run(loop(), scenario)
        for claim in default_claims(seen.loop, scenario):
            if claim.reach:
                assert reachable.REACHES[claim.reach](claim, seen, HELD) == "", claim


def test_a_bound_beyond_the_machine_is_no_tolerance_of_other_claims():
    """Practical stability takes the error that tracking allows for its tolerance: not one that nothing could exceed."""
    seen = run(loop(), step(0.35))
    (default,) = [c for c in default_claims(seen.loop, seen.scenario) if isinstance(c, Tracking)]
    assert _allowed((Tracking(error=5.0),), seen) == pytest.approx(default.error)
    assert _allowed((Tracking(error=0.1),), seen) == 0.1


def test_the_floor_of_oscillations():
    """A limit cycle below the floor is of no interest: a floor as wide as the way makes every one so."""
    for floor, holds in ((0.36, None), (0.01, True)):
        assert told(loop(), step(0.35), Settled(floor=floor)).holds is holds
    assert told(loop(), step(0.35), Settled(floor=0.01, chatter=1.0)).holds is None


def test_an_overshoot_beyond_the_stroke():
    """0.6 m of stroke are two and a half times the way of 0.24 m."""
    for share, holds in ((2.6, None), (2.4, True), (0.1, True)):
        assert told(loop(Stroked()), step(0.24), Overshoot(share=share)).holds is holds


@pytest.mark.parametrize(
    "sentence, holds",
    [
        ("always[1 s, end] (tool_error < 5 m)", None),
        ("always[1 s, end] (tool_error < 0.2 m)", True),
        ("always (x < 8 m)", None),
        ("always (x < 2 m)", True),
        ("always (x < 8 m and x < 2 m)", True),
        ("always (0 m <= abs(x) <= 8 m)", None),
        ("always[1 s, end] (0 m <= tool_error and tool_error < 5 m)", None),
        ("always[1 s, end] (-1 m <= tool_error and tool_error < 0.2 m)", True),
    ],
)
def test_sentences_whose_room_is_more_than_the_machine(sentence, holds):
    assert told(loop(Stroked()), step(0.24), Requirement(sentence, "r")).holds is holds


@pytest.fixture(scope="module")
def crane_run(two_joint):
    from controllers import VDC

    path = Waypoints("joint", ("start", (-1.21, -1.90), "start"), leg=0.5)
    return run(ClosedLoop(two_joint, Sampled(VDC(two_joint), 2e-3)), Scenario(reference=path))


@pytest.mark.parametrize(
    "claim, words",
    [
        (Pressures(high=1e10), "times the supply"),
        (Pressures(low=-1e6), "below vacuum"),
        (Saturation(share=1.0), "larger share than all"),
        (MachineLimits(share=1.0), "larger share than all"),
        (EnergyBalance(share=1.0), "larger share than all"),
        (NoCavitation(drawn=1.0), "chambers hold"),
        (NoCavitation(low=-1e6), "below vacuum"),
        (PracticalStability(bound=1e9), "all oil"),
        (SampleTimeLimit(error=50.0), "size of the machine"),
        (Tracking(error=20.0), "whole movement"),
        (Settled(floor=7.0), "more than the machine moves"),
    ],
)
def test_bounds_that_no_crane_exceeds(crane_run, claim, words):
    said = reachable.put_in_reach(claim, HELD, crane_run)
    assert said.holds is None and said.strength is None and said.margin is None
    assert words in said.worst and "state a bound" in said.worst
    for holds in (False, None):
        other = replace(HELD, holds=holds)
        assert reachable.put_in_reach(claim, other, crane_run) is other


@pytest.mark.parametrize(
    "claim",
    [
        Pressures(low=0.0, high=6e7),
        Saturation(share=0.5),
        EnergyBalance(share=0.5),
        NoCavitation(drawn=1e-3),
        PracticalStability(bound=100.0),
        SampleTimeLimit(error=0.5),
        Tracking(error=0.04),
        Settled(floor=5e-3),
    ],
)
def test_generous_bounds_are_judged(crane_run, claim):
    assert reachable.put_in_reach(claim, HELD, crane_run) is HELD


def test_what_a_crane_is_asked_by_default(crane_run):
    for claim in default_claims(crane_run.loop, crane_run.scenario):
        assert reachable.put_in_reach(claim, HELD, crane_run) is HELD


def test_a_run_that_ended_early_is_judged_as_it_was(crane_run):
    broken = replace(crane_run.log.status, completed=False)
    early = replace(crane_run, log=replace(crane_run.log, status=broken))
    assert reachable.put_in_reach(Tracking(error=20.0), HELD, early) is HELD


def test_sizes_are_finite(crane_run):
    assert 0.5 < reachable.size(crane_run, "m") < 10.0
    assert np.isfinite(reachable.way(crane_run))


def test_the_size_of_a_plant_that_states_none(monkeypatch):
    """A hundred times the largest that outputs and joints of this unit, or the tool, had; at least of what is usual for it."""
    log = {
        "a": [0.1, -0.5],
        "b": [0.2, 0.3],
        "p": [9.0, 9.0],
        "q": [0.0, 0.7],
        "other": [50.0, 0.0],
    }
    signals = {"a": "m", "b": "m", "p": "Pa", "q": "rad"}

    class Log(dict):
        array = dict.__getitem__

        @staticmethod
        def signal(name):
            return SimpleNamespace(unit=signals[name])

    log = Log({name: np.array(values) for name, values in log.items()})
    outputs = [SimpleNamespace(name=n, unit=u) for n, u in signals.items() if n != "q"]
    outputs.append(SimpleNamespace(name="not logged", unit="m"))
    plant = SimpleNamespace(outputs=outputs)
    made = SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant))
    own = {}
    monkeypatch.setattr(reachable, "scales", lambda plant: SimpleNamespace(of_unit=own.get))
    monkeypatch.setattr(reachable, "joint_errors", lambda run: ["q"])
    assert reachable.size(made, "m") == pytest.approx(50.0)
    assert reachable.size(made, "rad") == pytest.approx(70.0)
    assert reachable.size(made, "Pa") == pytest.approx(1e7), "100 times 1 bar"
    log |= {f"tcp_{axis}": np.array([0.0, value]) for axis, value in zip("xyz", (2.0, 3.0, 6.0))}
    assert reachable.size(made, "m") == pytest.approx(700.0)
    own["m"] = Scale(3.0, "stroke")
    assert reachable.size(made, "m") == pytest.approx(7.0)
    own["m"] = Scale(8.0, "stroke")
    assert reachable.size(made, "m") == 8.0 and reachable.size(made, "rad") == pytest.approx(70.0)
