"""Loops under an endless sine that hunt where they are held: play between motor and load, and none."""

from dataclasses import replace

import pytest

from controllers import PID
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
