"""Machines drawn by their pins under PID, MPC and LQR: sound loops hold, a wire the wrong way round is refused."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from mechanisms import cart_pole
from planted import Wired

from controllers import LQR, MPC, PID
from plants.skeletons import skeleton
from workbench import ClosedLoop, InputError, Sampled, Scenario, Sine, simulate
from workbench.cases.file import load, loads
from workbench.contract.plain import Plain
from workbench.verification.claims import PracticalStability
from workbench.verification.judge import verify

WAVE = Scenario(1.5, reference=Sine("joint", "start", (0.06, 0.08), 0.5, ramp=0.5))
BACK = PracticalStability(runs=1, settle=2.0, duration=5.0)


@pytest.fixture(scope="module")
def crane():
    return loads(skeleton("crane"), "crane.yaml").loop.plant


@dataclass(frozen=True)
class Reversed:
    """A law called from Python whose commands reach the valves with the other sign."""

    inner: Any

    @property
    def T_s(self):
        return self.inner.T_s

    def initial(self):
        return self.inner.initial()

    def step(self, t, z, y, r):
        z, u = self.inner.step(t, z, y, r)
        return z, [-v for v in u]


def back(plant, law, T_s, scenario=WAVE):
    """The verdict whether the machine comes back from one other start."""
    (verdict,) = verify(ClosedLoop(plant, Sampled(law, T_s)), scenario, [BACK])
    return verdict


def test_position_control_comes_back_and_is_refused_with_a_wire_reversed(crane):
    law = PID.design(crane)
    assert back(crane, law, 1e-3).holds is True
    crossed = back(crane, Wired(law, commands_times=(-1.0, 1.0)), 1e-3)
    assert crossed.holds is False
    assert "sign of the command u_lift" in crossed.worst


@pytest.mark.quick
def test_predictive_control_of_pins_needs_no_numbers_and_follows(crane):
    law = MPC(crane, **MPC.suited(crane))
    assert law.tracked == ("s_lift", "s_tilt")
    assert law.S == (20.0,) and law.Q == (1e6,)  # as of the cranes of the papers, valves of 10 V
    log = simulate(ClosedLoop(crane, Sampled(law, law.T_s)), WAVE)
    late = log.time > 0.5
    for name in law.tracked:
        moved = np.ptp(log.array(name))
        assert np.abs(log.array(name) - log.array(f"{name}_d"))[late].max() < 2e-3 < 0.1 * moved
    assert set(log.array("mpc_status")) == {1.0}


@pytest.mark.long
def test_predictive_control_comes_back_and_is_refused_with_its_wires_reversed(crane):
    law = MPC(crane, **MPC.suited(crane))
    assert back(crane, law, law.T_s).holds is True
    wanted = {"measured": law.measured, "commands": law.commands, "references": law.references}
    assert back(crane, Plain(Reversed(law), **wanted), law.T_s).holds is False


def test_weights_of_moves_follow_the_range_of_the_commands(crane):
    """Of a valve with a limit of 4 V a move of 1 V weighs (10/4)² times as much."""
    lift, tilt = crane.actuators
    cylinder = replace(tilt.drive.cylinder, valve=replace(tilt.drive.cylinder.valve, u_max=4.0))
    other = replace(tilt, drive=replace(tilt.drive, cylinder=cylinder))
    known = MPC.suited(replace(crane, actuators=(lift, other)))
    assert known["S"] == pytest.approx((20.0, 20.0 * 2.5**2))
    assert known["observer"].σ_d == pytest.approx((1e-3, 4e-4))


def test_a_regulator_holds_a_pole_upright_and_falls_with_its_gains_reversed():
    plant = cart_pole()
    law = LQR.design(plant, Q=(10.0, 10.0, 1.0, 1.0), R=(1e-3,), T_s=5e-3, tracked=("x_cart",))
    leaning = Scenario(3.0, offset={"q_pole": 0.05})
    falls = replace(law, K=tuple(-k for k in law.K))
    ends = []
    for one in (law, falls):
        log = simulate(ClosedLoop(plant, Sampled(one, 5e-3)), leaning)
        ends.append(abs(log.array("q_pole")[-1] - np.pi / 2))
    assert ends[0] < 2e-3 and ends[1] > 0.5


def test_a_regulator_is_refused_where_valves_have_no_slope(crane):
    with pytest.raises(InputError, match="exactly at its edge"):
        LQR.design(crane, Q=1.0, R=1.0)


def test_position_control_of_two_cylinders_on_one_joint_follows_lengths_of_a_path_in_joints():
    """Three lengths follow from two joints: no path can be given in them, and each has its reference all the same."""
    plant = load("examples/two-cylinders.yaml").loop.plant
    assert "piston" not in plant.spaces
    assert plant.followed_lengths == ["s_left", "s_right", "s_tilt"]
    log = simulate(ClosedLoop(plant, Sampled(PID.design(plant), 1e-3)), WAVE)
    for name in plant.followed_lengths:
        error = log.array(name) - log.array(f"{name}_d")
        assert np.ptp(log.array(name)) > 0.02
        assert np.abs(error).max() < 0.01


def test_lengths_are_followed_on_a_ball_joint_and_not_where_nothing_has_a_path():
    """A plate on a ball joint has no joint that a path could follow; its three lengths are a space of their own."""
    plant = load("examples/tilting-platform.yaml").loop.plant
    assert "joint" not in plant.spaces
    assert plant.followed_lengths == ["s_leg_a", "s_leg_b", "s_leg_c"]
    assert replace(plant, method="penalty").followed_lengths == []
