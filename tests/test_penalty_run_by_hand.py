"""Logs of the penalty method: states, powers by the trapezoidal rule, what is shown, how often, and how a run ended."""

import mechanisms as made
import numpy as np
import pytest

from plants.drives.laws import Force
from plants.multibody.parts import Actuator, Pin
from plants.multibody.penalty import run as penalty_run
from plants.multibody.penalty.integrator import Penalty, consistent
from plants.multibody.penalty.run import simulate
from workbench import Scenario
from workbench.contract.system import names

PUSH = Actuator("push", Force(), Pin("ground", (-1.0, 0.4, 0.0)), Pin("crank", (1.0, 0.1, 0.0)))


def logged(every=1, **settings):
    rig = made.four_bar(actuators=(PUSH,), method="penalty")
    scenario = Scenario(0.012, max_step=2e-3, log_period=every * 2e-3)
    return rig, simulate(rig, scenario, Penalty(**settings), compiled=False)


def test_a_log_has_states_powers_what_is_shown_and_iterations():
    rig, log = logged()
    assert log.time == pytest.approx(2e-3 * np.arange(7)) and log.status.completed
    assert log.status.t_end == pytest.approx(0.012)
    x = np.column_stack([log[s.name].values for s in rig.states])
    powers = np.array([[float(v) for v in rig.powers(t, list(row), [0.0])] for t, row in zip(log.time, x)])  # fmt: skip
    work = np.vstack([np.zeros(powers.shape[1]), np.cumsum((powers[1:] + powers[:-1]) * 1e-3, axis=0)])  # fmt: skip
    for k, name in enumerate(rig.power_names):
        assert log[f"E_{name}"].values == pytest.approx(work[:, k], abs=1e-12)
    shown = [float(v) for v in rig.monitor(0.0, list(x[4]), [0.0])]
    assert [log[s.name].values[4] for s in rig.monitors] == pytest.approx(shown, abs=1e-9)
    assert log["iterations"].values[0] == 0 and (log["iterations"].values[1:] >= 1).all()
    assert log["u_push"].values.tolist() == [0.0] * 7
    assert names(rig.states) == ["q_crank", "q_coupler", "q_rocker", "dq_crank", "dq_coupler", "dq_rocker"]  # fmt: skip
    assert x[-1, 3] < x[0, 3] - 1e-3


def test_a_log_keeps_every_so_many_steps():
    _, whole = logged()
    _, some = logged(3)
    assert some.time == pytest.approx([0.0, 0.006, 0.012])
    assert some["q_crank"].values == pytest.approx(whole["q_crank"].values[::3], rel=1e-12)
    assert some["iterations"].values.tolist() == whole["iterations"].values[::3].tolist()


def test_a_run_whose_iterations_do_not_end_says_when():
    _, log = logged(most=0)
    assert not log.status.completed and log.status.t_end == 0.0 and len(log.time) == 1
    assert log.status.message == "no step from t = 0 s: Newton's method does not converge"


def test_a_run_without_inputs():
    rig = made.four_bar(actuators=(), method="penalty")
    log = simulate(rig, Scenario(0.004, max_step=2e-3), compiled=False)
    assert log.status.completed and len(log.time) == 3


def test_a_log_has_the_states_of_the_drives_behind_those_of_the_joints():
    """Of a row [z, ż, z̈, y, ẏ, λ]: z, ż and y; inputs as they are given."""
    oily = made.hydraulic("penalty")
    row = consistent(oily, oily.initial(), [0.0])
    rows = np.array([row, row, row])
    rows[:, 9:13] += np.arange(3.0)[:, None] * [1e4, 2e4, 3e4, 0.5]
    U = np.array([[0.0], [1.5], [2.5]])
    log = penalty_run._log(oily, Scenario(0.02), rows, np.array([0, 3, 2]), U, 0.01, 1)
    for name, place in zip(names(oily.states), [0, 1, 2, 3, 4, 5, 9, 10, 11, 12]):
        assert log[name].values == pytest.approx(rows[:, place]), name
    assert log["iterations"].values.tolist() == [0, 3, 2] and log.status.completed
    assert log[names(oily.inputs)[0]].values.tolist() == [0.0, 1.5, 2.5]
    short = penalty_run._log(oily, Scenario(0.02), rows[:2], np.array([0, 3]), U, 0.01, 1)
    assert not short.status.completed and short.status.t_end == 0.01
