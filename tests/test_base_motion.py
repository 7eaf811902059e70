"""A moving base: kinematics against differences, power against energy, VDC's ledger with p_Bc1."""

import math
from dataclasses import replace

import numpy as np
import pytest

from controllers import VDC
from plants import machine
from plants.base_motion import BaseMotion, rotation
from workbench import ClosedLoop, Delayed, InputError, Sampled, Scenario, Sine, Waypoints, simulate
from workbench.verification.claims import Identity, PowerFlows
from workbench.verification.judge import examine
from workbench.verification.observed.settled import check_settled
from workbench.verification.run import run
from workbench.verification.run_claims import EnergyBalance, Settled

SWAY = BaseMotion(
    Sine("output", (0.0, 0.0, 0.0), (0.05, 0.08, 0.03), 0.3, 0.4, 1.0),
    Sine("output", (0.0, 0.0, 0.0), (0.03, 0.02, 0.05), 0.2, 0.9, 1.5),
)


TUMBLE = BaseMotion(
    Sine("output", (0.3, -0.2, 0.5), (0.5, 0.8, 0.3), 0.3, 0.4, 1.0),
    Sine("output", (0.4, -0.3, 0.7), (0.9, 0.6, 1.1), 0.2, 0.9, 1.5),
)


@pytest.mark.parametrize("motion", [SWAY, TUMBLE], ids=["sways", "tumbles"])
def test_kinematics_against_central_differences(two_joint, motion):
    t, h = np.linspace(0.3, 6.0, 41), 1e-5
    g, V, ω, A, α = motion.at(two_joint, t)
    R0 = np.array(two_joint.base.R).reshape(3, 3)
    R = lambda s: rotation(*motion.angles.sample(s, 0)[0].T) @ R0
    p = lambda s: motion.position.sample(s, 0)[0]
    skew = np.einsum("nji,njk->nik", R(t), (R(t + h) - R(t - h)) / (2 * h))
    assert np.abs(ω - np.column_stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]])).max() < 1e-9
    assert np.abs(V - np.einsum("nji,nj->ni", R(t), (p(t + h) - p(t - h)) / (2 * h))).max() < 1e-9
    ahead, behind = motion.at(two_joint, t + h), motion.at(two_joint, t - h)
    assert np.abs(A - (ahead[1] - behind[1]) / (2 * h)).max() < 1e-8
    assert np.abs(α - (ahead[2] - behind[2]) / (2 * h)).max() < 1e-8
    assert (
        np.abs(np.linalg.norm(g, axis=1) - two_joint.g).max() < 1e-12
        and np.abs(np.diff(g, axis=0)).max() > 0.01
    )


def test_every_input_of_a_base_is_moved(two_joint):
    given = TUMBLE.disturbances(two_joint)
    stems = ("g_", "V_b", "ω_b", "A_b", "α_b")
    assert list(given) == [f"{stem}{axis}" for stem in stems for axis in "xyz"]
    t = np.array([0.7, 2.9])
    whole = TUMBLE.at(two_joint, t)
    for k, name in enumerate(given):
        assert given[name].sample(t, 0)[0, :, 0] == pytest.approx(whole[k // 3, :, k % 3])
    with pytest.raises(InputError, match="only values"):
        given["V_bx"].sample(t, 1)


@pytest.mark.long
def test_energy_and_ledger_close_on_a_swaying_base(two_joint):
    scenario = Scenario(
        reference=Waypoints("joint", ("start", (-1.21, -1.90)), 2.0),
        duration=3.0,
        disturbances=SWAY.disturbances(two_joint),
    )
    found = examine(
        ClosedLoop(two_joint, Sampled(VDC(two_joint), 1e-3)),
        scenario,
        [Identity(), PowerFlows(), EnergyBalance()],
    )
    assert all(v.holds for v in found.verdicts), [(v.key, v.worst) for v in found.verdicts]
    assert np.abs(found.log.array("E_base")).max() > 50.0
    assert (
        np.abs(found.run.balance.perturbation()["base B_c1"]).max() > 1.0
    )  # the law takes the base to be at rest


@pytest.mark.long
def test_a_base_whose_signals_disagree_is_seen_in_the_energy(two_joint):
    wrong = SWAY.disturbances(two_joint)
    wrong["A_bx"] = 0.0  # the base accelerates, its inputs say it does not
    loop = ClosedLoop(two_joint, Sampled(VDC(two_joint), 1e-3))
    scenario = Scenario(
        reference=Waypoints("joint", ("start", (-1.21, -1.90)), 2.0),
        duration=3.0,
        disturbances=wrong,
    )
    (verdict,) = examine(loop, scenario, [EnergyBalance()]).verdicts
    assert verdict.holds is False


@pytest.mark.long
def test_a_mechanism_rides_on_a_base_too():
    """An excavator that asks for it stands on the sway, and the energy account closes."""
    digger = replace(machine("excavator").plant, method="minimal", moving_ground=True)
    scenario = Scenario(duration=1.0, disturbances=SWAY.disturbances(digger))
    loop = ClosedLoop(digger, Sampled(VDC(digger), 1e-3))
    found = examine(loop, scenario, [EnergyBalance()])
    assert found.verdicts[0].holds
    assert np.abs(found.log.array("E_base")).max() > 50.0


def test_three_components_are_asked_for(two_joint):
    with pytest.raises(InputError, match="three components"):
        BaseMotion(position=Sine("output", (0.0, 0.0), (0.1, 0.1), 1.0)).disturbances(two_joint)


def test_a_base_at_rest_changes_nothing(two_joint):
    loop = ClosedLoop(two_joint, Sampled(VDC(two_joint), 1e-3))
    plain = simulate(loop, Scenario(duration=0.2))
    still = simulate(
        loop, Scenario(duration=0.2, disturbances=BaseMotion().disturbances(two_joint))
    )
    for name in ("q_1", "q_2", "p_a1", "p_b2"):
        assert (
            np.abs(plain.array(name) - still.array(name)).max()
            <= 1e-9 * np.abs(plain.array(name)).max()
        )


# ---- what a base says of itself -----------------------------------------------------------------
def test_periods_and_end_of_a_base(two_joint):
    """Those of its parts; every signal of it has them, so that a run can be made long enough."""
    assert SWAY.periods == pytest.approx((1 / 0.3, 1 / 0.2)) and SWAY.duration == math.inf
    shove = Waypoints("output", ((0.0, 0.0, 0.0), (0.2, 0.0, 0.1)), 1.7)
    assert BaseMotion(position=shove).periods == () and BaseMotion().duration == 0.0
    assert BaseMotion(position=shove).duration == pytest.approx(1.7)
    rolls = Sine("output", (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 0.25)
    both = BaseMotion(shove, rolls)
    assert both.periods == (4.0,) and both.duration == math.inf
    for signal in both.disturbances(two_joint).values():
        assert signal.periods == (4.0,) and signal.duration == math.inf


SWELL = BaseMotion(
    Sine("output", (0.0, 0.0, 0.0), (0.0, 0.1, 0.0), 0.25),
    Sine("output", (0.0, 0.0, 0.0), (0.05, 0.0, 0.0), 0.3),
)


@pytest.mark.parametrize("delay, holds", [(0.0, True), (3.5e-3, False)])
def test_a_crane_on_a_swell_is_told_from_one_that_hunts(two_joint, delay, holds):
    """Periods of the swell make the run long enough; sums of its frequencies are seen in a run from another start, too."""
    law = Sampled(VDC(two_joint), 1e-3)
    loop = ClosedLoop(two_joint, Delayed(law, delay) if delay else law)
    there = ("start", (-1.21, -1.90), "start")
    path = Waypoints("joint", there, 1.5)
    scenario = Scenario(reference=path, disturbances=SWELL.disturbances(two_joint))
    told = check_settled(Settled(), run(loop, scenario))
    assert told.holds is holds
    assert ("response to disturbance" in told.worst) is holds
