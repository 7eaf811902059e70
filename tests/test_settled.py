"""What a loop does at rest: still, decaying, hunting, creeping. Closed forms, both sides."""

from dataclasses import dataclass

import numpy as np
import pytest
from small import Feedback, Linear

from tests.faults.entries import Entry
from tests.faults.entries import make as made
from workbench import ClosedLoop, Noisy, Quantised, Sampled, Scenario, Sine, Steps, verify
from workbench.run.limit_cycle import limit_cycle
from workbench.verification import examine, run_claims
from workbench.verification.observed.oscillation import pace, uncommanded
from workbench.verification.observed.tail import _rest, noisy
from workbench.verification.run import run

TIME = np.linspace(0.0, 12.0, 3000)
FLOOR = 1e-4


def rest(error, noise=False):
    return _rest("x", TIME, error, FLOOR, noise)


@pytest.mark.parametrize(
    "error, word",
    [
        (1e-3 * np.exp(-2 * TIME), "still"),
        (5e-5 * np.sin(3 * TIME), "still"),
        (1.0 * np.exp(-0.2 * TIME), "decaying"),
        (2e-2 * np.exp(-0.15 * TIME) * np.sin(5 * TIME), "decaying"),
        (2.6e-3 * np.sin(2 * np.pi * 0.3 * TIME), "restless"),
        (2.6e-3 * np.sign(np.sin(2 * np.pi * 0.31 * TIME)), "restless"),
        (1e-3 * TIME, "creeping"),
        (-1e-3 * TIME + 1e-5 * np.sin(9 * TIME), "creeping"),
        (1e-4 * np.exp(0.4 * TIME) * np.sin(5 * TIME), "restless"),
        (1e-2 * np.sin(0.4 * TIME), "creeping"),
    ],
)
def test_words_of_a_tail(error, word):
    assert rest(error).word == word


def test_a_hunt_without_a_waveform_is_seen_and_noise_is_not_taken_for_one():
    """Stick and slip at odd times is no periodic waveform; noise is none either, and is no hunt."""
    rng = np.random.default_rng(3)
    turns = np.cumsum(rng.uniform(0.5, 1.9, 12))
    hunt = 2e-3 * np.where(np.searchsorted(turns, TIME) % 2, 1.0, -1.0)
    assert rest(hunt).word == "restless"
    noise = 5e-4 * rng.normal(size=len(TIME))
    assert rest(noise, noise=True).word == "still"
    assert (
        rest(noise + 3e-3 * np.sin(2 * np.pi * 0.5 * TIME), noise=True).word == "creeping"
    )  # too few periods: longer
    assert rest(noise + 3e-3 * np.sin(2 * np.pi * 0.9 * TIME), noise=True).word == "restless"


# ---- loops ------------------------------------------------------------------------------------------------------------
STEP = Scenario(reference=Steps("output", (0.0, 0.1), (0.0, 1.0)), duration=1.0)


@dataclass(frozen=True)
class Follow(Feedback):
    """u = −k y + f r."""


def second_order(damping, ω=2.0):
    """y'' = −2 ζ ω y' − ω² y + u, standing at zero."""
    return Linear(
        ((0.0, 1.0), (-ω * ω, -2 * damping * ω)), ((0.0,), (1.0,)), ((1.0, 0.0),), x0=(0.0, 0.0)
    )


def settled(damping, **claim):
    plant = second_order(damping)
    loop = ClosedLoop(plant, Follow(plant, ((0.0,),), ((4.0,),)))
    (verdict,) = verify(loop, STEP, [run_claims.Settled(floor=1e-3, **claim)])
    return verdict


def test_its_figure_shows_the_run_held_at_its_end():
    plant = second_order(0.3)
    loop = ClosedLoop(plant, Follow(plant, ((0.0,),), ((4.0,),)))
    found = examine(loop, STEP, [run_claims.Settled(floor=1e-3)])
    (shown,) = found.analysis["settled"]
    assert shown["rest"] == pytest.approx(1.0) and shown["t"][0] == pytest.approx(0.5, abs=0.01)
    assert shown["t"][-1] == pytest.approx(1.0 + found.verdicts[0].data["tail"], abs=0.01)
    late = shown["error"][shown["t"] > shown["t"][-1] - 0.25 * found.verdicts[0].data["tail"]]
    assert np.ptp(late) <= 2 * shown["floor"], "still, as the verdict says"


def test_a_run_too_short_to_tell_is_lengthened_by_itself():
    """One second of a swing of 3.1 s: half a period is no evidence, whatever it shows."""
    sound = settled(0.5)
    assert sound.holds is True and sound.data["tail"] > 2.0
    later = settled(0.3).data["tail"]
    assert later in (4.0, 8.0, 16.0)  # doubled until it is long enough, from 2 s
    assert settled(-0.02).holds is False
    assert settled(0.0).holds is False


def test_too_few_samples_are_undecided_and_no_growth():
    """Forty rows of what grows fast: no word of growth and no frequency; with rows enough, growth."""
    for count, seen in ((40, False), (300, True)):
        time = np.linspace(0.0, 0.6, count)
        found = limit_cycle(time, 1e-5 * np.exp(24 * time))
        assert found.detected is seen and found.few is (not seen)
    plant = second_order(0.7)
    loop = ClosedLoop(plant, Sampled(Follow(plant, ((0.0,),), ((4.0,),)), 0.015))
    brief = Scenario(reference=STEP.reference, duration=0.6)
    (moving,) = verify(loop, brief, [run_claims.Settled(floor=1e-3, rest=False, longest=0.6)])
    assert moving.holds is None and "too few" in moving.worst and "nan" not in moving.worst
    (resting,) = verify(loop, brief, [run_claims.Settled(floor=1e-3)])
    assert resting.holds is True and "too few" in resting.worst and "at rest" in resting.worst
    assert pace(np.nan) == "" and pace(2.5) == ", 2.5 Hz"


@pytest.mark.parametrize(
    "gain, moving, holds",
    [(0.5, False, True), (0.5, True, True), (2.2, False, False), (2.2, True, False)],
)
def test_a_loop_sampled_every_second_is_run_until_its_samples_tell(gain, moving, holds):
    """x⁺ = x + K (r − x), eleven samples of it: 1 − K is 0.5 or −1.2, whatever the scenario lasts."""
    plant = Linear(((0.0,),), ((1.0,),), ((1.0,),), x0=(0.1,))
    loop = ClosedLoop(plant, Sampled(Follow(plant, ((gain,),), ((gain,),)), 1.0))
    wave = Sine("output", "start", (0.1,), 0.05) if moving else STEP.reference
    scenario = Scenario(reference=wave, duration=10.0, max_step=0.1)
    (verdict,) = verify(loop, scenario, [run_claims.Settled(floor=1e-3)])
    assert verdict.holds is holds, verdict.worst


def test_what_dies_out_too_slowly_is_undecided_with_the_mend():
    slow = settled(0.005)
    assert slow.holds is None and "longest" in slow.worst
    assert settled(0.005, longest=1200.0).holds is True
    assert settled(0.005, longest=7.0).data["tail"] == 7.0  # no longer than was allowed


def test_only_noise_and_converters_keep_a_loop_from_rest():
    plant = second_order(0.7)
    loops = {
        False: Feedback(plant, ((0.5,),), ((1.0,),)),
        True: Noisy(Feedback(plant, ((0.5,),), ((1.0,),)), 1e-4, ("y0",)),
    }
    for expected, law in loops.items():
        assert noisy(run(ClosedLoop(plant, Sampled(law, 0.01)), STEP)) is expected
    rounded = Quantised(loops[False], 1e-4, ("y0",))
    assert noisy(run(ClosedLoop(plant, Sampled(rounded, 0.01)), STEP))


# ---- what is commanded is no limit cycle ------------------------------------------------------------------------------------
@pytest.mark.parametrize("own, found", [(0.0, False), (1.3, True), (0.85, True)])
def test_a_commanded_period_is_taken_out_and_another_stays(own, found):
    time = np.linspace(0.0, 40.0, 8000)
    commanded = 3e-3 * np.sin(2 * np.pi * 0.4 * time) + 1e-3 * np.sign(
        np.cos(2 * np.pi * 0.4 * time)
    )
    error = commanded + 1e-3 * np.sin(2 * np.pi * own * time)
    t, left = uncommanded(time, error, [2.5])
    assert limit_cycle(t, left, floor=1e-4).detected is found
    assert (
        limit_cycle(time, error, floor=1e-4).detected or found
    )  # as it is, the command alone looks like one


def test_growth_stays_growth():
    time = np.linspace(0.0, 40.0, 8000)
    error = 3e-3 * np.sin(2 * np.pi * 0.4 * time) + 1e-5 * np.exp(0.15 * time) * np.sin(8 * time)
    assert limit_cycle(*uncommanded(time, error, [2.5]), floor=1e-5).trend == "growing"


# ---- a loop that stands still ----------------------------------------------------------------------------------------------
BAND = "plant/actuators/lift/drive/cylinder/valve/dead_band"


@pytest.mark.parametrize(
    "band, K_i, holds", [("0.4 V", 3000.0, False), ("20 mV", 0.0, True), ("0 V", 60.0, True)]
)
def test_a_loop_that_stands_still_is_disturbed_before_it_is_looked_at(band, K_i, holds):
    """Integral action hunts across a valve's overlap; where the command begins at 0 the run by itself shows nothing."""
    law = {"law": "PID", "K_p": 60.0, "K_i": K_i}
    edit = {
        BAND: band,
        "controller": law,
        "scenario/reference": {"type": "Hold", "space": "joint"},
    }
    case = made(Entry("held", "valve", not holds, "", base="stack-pid", edit=edit))
    standing = run(case.loop, case.scenario)
    assert float(np.ptp(standing.log.array("q_boom"))) < 1e-9
    (found,) = verify(case.loop, case.scenario, [run_claims.Settled()])
    assert found.holds is holds, found.worst
    if not holds:
        assert "limit cycle of q_boom at rest" in found.worst
