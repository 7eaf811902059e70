"""One joint on two cylinders: statics, the law's shares, and a run; against forces by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from draws import apart

from controllers import VDC
from workbench import Scenario, changed, load, simulate

CASE = load(Path(__file__).parents[1] / "examples" / "two-cylinders.yaml")
CRANE = CASE.plant
FOOT = np.array([0.0, 1.2])


def lever(a, b, turn):
    """Lever arm about the foot of a cylinder from the ground's point a to the boom's point b."""
    rod = FOOT + [
        b[0] * np.cos(turn) - b[1] * np.sin(turn),
        b[0] * np.sin(turn) + b[1] * np.cos(turn),
    ]
    along = (rod - a) / np.hypot(*(rod - a))
    arm = np.array(a) - FOOT
    return arm[0] * along[1] - arm[1] * along[0]


LEVERS = [
    lever((0.45, 0.35), (0.95, -0.06), np.radians(20)),
    lever((0.62, 0.42), (1.10, -0.06), np.radians(20)),
]


def required(crane):
    law = VDC(crane)
    q = [np.radians(20.0), np.radians(-50.0)]
    return law.required(q, [0.0, 0.0], [q, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])


def weight(crane):
    """Moment of boom and arm about the foot at the start."""
    turn, arm = np.radians(20.0), np.radians(-30.0)
    boom = 1.2 * np.cos(turn) - 0.05 * np.sin(turn)
    tip = 2.6 * np.cos(turn)
    ahead = 0.8 * np.cos(arm) - 0.03 * np.sin(arm)
    return 9.81 * (320.0 * boom + 140.0 * (tip + ahead))


def test_the_two_together_carry_the_weight():
    left, right, _ = (h.needs for h in CRANE.holding(CRANE.initial(), None))
    assert left * LEVERS[0] + right * LEVERS[1] == pytest.approx(weight(CRANE), rel=1e-9)
    f = required(CRANE).f_c
    assert f[0] * LEVERS[0] + f[1] * LEVERS[1] == pytest.approx(weight(CRANE), rel=1e-9)


@pytest.mark.parametrize("bore", [0.080, 0.110])
def test_each_takes_a_share_by_its_lever_arm_and_what_it_can_bear(bore):
    """f = W J (JᵀWJ)⁻¹ τ: forces in the ratio of lever arms times the squares of what supply and bore can bear."""
    crane = changed(CRANE, {"actuators.left.drive.cylinder.bore": bore})
    left, right = required(crane).f_c[:2]
    most = [max(np.abs(a.drive.bears(crane.line_at_most))) for a in crane.actuators]
    ratio = (most[0] / most[1]) ** 2 * LEVERS[0] / LEVERS[1]
    assert left / right == pytest.approx(ratio, rel=1e-9)


def test_the_shares_are_the_same_text_on_floats_and_expressions():
    law = VDC(CRANE)
    q, still = [0.3, -0.8], [0.0, 0.0]

    def f_c(law, x, u):
        return law.required(x, [0.1, -0.2], [q, still, still, still]).f_c

    assert apart(law, f_c, q, []) < 1e-12


def test_the_law_drives_it():
    """2 s of the shipped path: within 1 mrad, and the two push the same way."""
    log = simulate(CASE.loop, replace(CASE.scenario, duration=2.0))
    assert log.status.completed
    for name in ("q_boom", "q_arm"):
        assert np.abs(log[name].values - log[f"{name}_d"].values).max() < 1e-3
    assert np.ptp(log["q_boom"].values) > np.radians(3.0)
    assert (log["f_p_left"].values * log["f_p_right"].values > 0).all()


def test_without_commands_it_stays():
    log = simulate(CRANE, Scenario(0.5))
    assert np.abs(log["q_boom"].values - log["q_boom"].values[0]).max() < 1e-6
