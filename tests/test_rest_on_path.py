"""Loops under an endless sine that hunt where they are held: play between motor and load, and none."""

from dataclasses import replace

import numpy as np
import pytest

from controllers import PID
from plants import BaseMotion
from tests.faults.entries import Entry
from tests.faults.entries import make as made
from tests.faults.plants import Play
from workbench import ClosedLoop, Hold, Sampled, Scenario, Sine
from workbench.verification import run_claims, verify
from workbench.verification.observed.rest_on_path import hunts_at_rest
from workbench.verification.run import run

TURN = Scenario(16.0, Sine("output", "start", (1.0,), 0.25))


def loop(h):
    plant = Play(h=h)
    gains = {"K_p": (8.0,), "K_i": (10.0,), "K_d": (1.2,), "τ": 5e-3, "u_max": 8.0}
    law = PID(plant, **gains, feed="none", damping="none", signals=("θ_2",))
    return ClosedLoop(plant, Sampled(law, T_s=2e-3))


@pytest.mark.parametrize("h, hunts", [(0.02, True), (0.0, False)])
def test_play_hunts_at_rest_behind_a_sine(h, hunts):
    """The amplitude of the hunt is that of a run which is held by its scenario."""
    (found,) = verify(loop(h), TURN, [run_claims.Settled(floor=1e-3)])
    assert found.holds is (None if hunts else True), found.worst
    assert ("held where it begins, θ_2 swings by" in found.worst) is hunts
    still = Scenario(16.0, Hold("output", (0.0,)), offset={"θ_2": 0.05})
    (held,) = verify(loop(h), still, [run_claims.Settled(floor=1e-3)])
    assert held.holds is (not hunts)


def test_a_machine_that_never_rests_is_not_asked():
    (found,) = verify(loop(0.02), TURN, [run_claims.Settled(floor=1e-3, rest=False)])
    assert found.holds is True


@pytest.mark.parametrize("reference", [Hold("output", (0.1,)), None])
def test_only_an_endless_path_is_held(reference):
    made = run(loop(0.02), replace(TURN, reference=reference, duration=2.0))
    assert hunts_at_rest(made, 1e-3) == ""


# ---- on a swell, and slow to be seen ---------------------------------------------------------------------------------------
BAND = "plant/actuators/lift/drive/cylinder/valve/dead_band"
SWELL = BaseMotion(
    Sine("output", (0.0, 0.0, 0.0), (0.0, 0.1, 0.0), 0.31),
    Sine("output", (0.0, 0.0, 0.0), (0.0, 0.0, 0.03), 0.31),
)


@pytest.mark.parametrize("swell", [False, True])
@pytest.mark.parametrize("band, K_i, hunts", [("0.4 V", 3000.0, True), ("0 V", 60.0, False)])
def test_an_overlap_hunts_at_rest_behind_a_sine_and_a_swell(swell, band, K_i, hunts):
    """0.55 Hz, settled to only after more than the first eight seconds of rest; what pushes for ever is left out there."""
    law = {"law": "PID", "K_p": 60.0, "K_i": K_i}
    edit = {BAND: band, "controller": law, "plant/moving_ground": True}
    case = made(Entry("swell", "valve", not hunts, "", base="stack-pid", edit=edit))
    pushes = SWELL.disturbances(case.loop.plant) if swell else {}
    scenario = replace(case.scenario, disturbances=pushes)
    (found,) = verify(case.loop, scenario, [run_claims.Settled()])
    assert found.holds is (None if hunts else True), found.worst
    without = "without it" if swell else "held where it begins, q_boom"
    assert not hunts or without in found.worst and "q_boom swings by" in found.worst
    if hunts:
        reference = Hold("joint", (float(run(case.loop, scenario).log.array("q_boom")[0]),))
        still = Scenario(40.0, reference, offset={"q_boom": 0.01})
        after = run(case.loop, still).log.array("q_boom")[-8000:]
        assert np.ptp(after) > 1e-3
