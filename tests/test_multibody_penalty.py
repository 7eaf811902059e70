"""The augmented Lagrangian with trapezoidal rule: order, iterations, constraints, redundant rows, compiled or not."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import bricard, four_bar, hydraulic, slider_crank, turned

from controllers import PID
from plants.drives.laws import Force, SpringDamper
from plants.multibody.parts import Actuator, Pin
from plants.multibody.penalty.integrator import Penalty
from plants.multibody.penalty.run import simulate
from workbench import ClosedLoop, Delayed, InputError, Sampled, Scenario, Sine
from workbench import simulate as run
from workbench.contract.plain import Plain
from workbench.run.grid import at_samples
from workbench.run.steps import Steps

MOVING = {
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "bricard": lambda **o: turned(bricard(**o), b0={"rate": 1.3, "hold": True}),
}


def ends(mechanism, log):
    return np.array([log[s.name].values[-1] for s in mechanism.states], float)


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.long
def test_second_order_towards_the_other_solver(name):
    mechanism = MOVING[name](method="penalty")
    exact = ends(mechanism, run(MOVING[name](), Scenario(0.4, max_step=5e-4)))
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        log = simulate(mechanism, Scenario(0.4, max_step=h), Penalty(tolerance=1e-11))
        assert log.status.completed
        errors.append(np.abs(ends(mechanism, log) - exact).max())
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.3 and 1.8 < np.log2(errors[1] / errors[2]) < 2.3


@pytest.mark.long
@pytest.mark.parametrize("name", MOVING)
def test_constraints_hold_and_iterations_are_few(name):
    mechanism = MOVING[name](method="penalty")
    log = simulate(mechanism, Scenario(0.3))
    for loop in mechanism.loops:
        assert log[f"open_{loop.name}"].values.max() < 1e-9
    count = log["iterations"].values
    assert count[0] == 0 and 1 <= count[1:].min() and count.max() <= 4
    z, rates, _ = mechanism.split(list(ends(mechanism, log)))
    Φ, G = mechanism.constraints(z)
    assert (
        np.abs(np.array(G, float) @ rates).max() < 1e-6
    )  # left by W + h²/4 Φᵀ α Φ, not exactly zero


def test_mostly_one_iteration_at_a_millisecond():
    """As the paper found for smooth forces."""
    count = simulate(four_bar(method="penalty"), Scenario(1.0))["iterations"].values[1:]
    assert (count == 1).mean() > 0.9


def test_compiled_and_plain_are_the_same():
    mechanism = four_bar(
        method="penalty",
        actuators=(
            Actuator(
                "push", Force(), Pin("ground", (-1.0, 0.0, 0.0)), Pin("crank", (1.0, 0.0, 0.0))
            ),
            Actuator(
                "spring",
                SpringDamper(900.0, 3.0, 40.0),
                Pin("crank", (0.7, 0.3, 0.0)),
                Pin("rocker", (1.2, 0.1, 0.0)),
            ),
        ),
    )
    scenario = Scenario(0.04, disturbances={"u_push": 700.0})
    a, b = (simulate(mechanism, scenario, compiled=c) for c in (None, False))
    assert a.signals == b.signals
    for s in a.signals:
        x, y = a[s.name].values, b[s.name].values
        assert np.abs(x - y).max() < (
            1e-11 if s.name == "open_E" else 1e-9 * max(np.abs(x).max(), 1e-3)
        ), s.name
    assert np.ptp(a["q_crank"].values) > 1e-4


def test_energy_is_balanced_by_the_powers_at_second_order():
    mechanism = four_bar(
        method="penalty",
        actuators=(
            Actuator(
                "damper",
                SpringDamper(900.0, 1.6, 90.0),
                Pin("ground", (-1.0, 0.0, 0.0)),
                Pin("crank", (1.0, 0.0, 0.0)),
            ),
        ),
    )
    drifts = []
    for h in (4e-3, 2e-3):
        log = simulate(mechanism, Scenario(1.0, max_step=h))
        E = log["E_stored"].values
        drifts.append(np.abs(E - E[0] - log["E_damper"].values - log["E_damping"].values).max())
        assert log["E_damper"].values[-1] < -1.0
    assert drifts[1] < drifts[0] / 3.3 and drifts[1] < 0.05


def test_what_goes_wrong_is_said():
    with pytest.raises(
        InputError,
        match="method: the augmented Lagrangian works on a mechanism with all its coordinates",
    ):
        simulate(four_bar(method="minimal"))
    mechanism = turned(four_bar(method="penalty"), crank={"rate": 3.0})
    log = simulate(mechanism, Scenario(1.0, max_step=0.05), Penalty(most=2))
    assert not log.status.completed and "does not converge" in log.status.message and len(log) < 21
    with pytest.raises(ValueError, match="α"):
        Penalty(α=0.0)
    assert replace(Penalty(), α=1e9).most == 50


# ---- as the integrator of any run -----------------------------------------------------------------------------------
def held(mechanism, T_s=2e-3):
    law = PID(mechanism, K_p=(4e4,), K_i=(2e4,), K_d=(6e3,), feed="none", damping="none", u_max=1e5)
    return ClosedLoop(mechanism, Sampled(law, T_s))


def test_a_run_by_name_of_the_method_is_a_run_of_the_method():
    mechanism = hydraulic("penalty")
    scenario = Scenario(0.3, disturbances={"U_ref_c": Steps("output", (0.0, 0.1), (0.0, 4.0))})
    a, b = simulate(mechanism, scenario), run(mechanism, scenario)
    before = a.time < 0.1 - 1e-9
    for s in (
        b.signals
    ):  # the one takes the jump, as the paper, half a step early, the other where it is
        x, y = a[s.name].values[before], b[s.name].values[before]
        assert np.abs(x - y).max() <= 1e-12 * max(1.0, np.abs(y).max()), s.name
    exact = run(hydraulic(), scenario)["q_crank"].values
    assert (
        np.abs(b["q_crank"].values - exact).max() < 0.2 * np.abs(a["q_crank"].values - exact).max()
    )


def test_a_sampled_loop_converges_with_the_step():
    scenario = Scenario(0.4, Sine("output", "start", (0.02,), 1.0))
    exact = run(held(four_bar()), replace(scenario, max_step=2e-4))
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        log = run(held(four_bar(method="penalty")), replace(scenario, max_step=h))
        errors.append(np.abs(log["q_crank"].values - exact["q_crank"].values).max())
        assert log.status.completed and np.ptp(log["q_crank"].values) > 0.01
    assert errors[2] < errors[1] / 3 < errors[0] / 9 and errors[2] < 1e-6


def test_a_law_in_python_and_a_continuous_one():
    mechanism = four_bar(method="penalty")
    law = lambda t, y, r: [300.0]
    log = run(ClosedLoop(mechanism, Sampled(Plain(law), 4e-3)), Scenario(0.2))
    want = simulate(mechanism, Scenario(0.2, disturbances={"u_cylinder": 300.0}))
    assert log["q_crank"].values[-1] == pytest.approx(want["q_crank"].values[-1], abs=1e-9)
    with pytest.raises(InputError, match="the penalty method takes commands that are held"):
        run(ClosedLoop(mechanism, held(mechanism).controller.inner), Scenario(0.1))


def test_a_run_that_cannot_go_on_says_so():
    mechanism = turned(four_bar(method="penalty"), crank={"rate": 60.0})
    log = run(mechanism, Scenario(1.0, max_step=0.2))
    assert not log.status.completed and "diverged" in log.status.message


@pytest.mark.parametrize("lag", [0.0, 3e-3])
def test_rows_at_steps_hold_those_at_samples(lag):
    loop = held(four_bar(method="penalty"), 8e-3)
    if lag:
        loop = ClosedLoop(loop.plant, Delayed(loop.controller, lag))
    scenario = Scenario(0.08, Sine("output", "start", (0.02,), 1.0))
    whole, plain = run(loop, scenario, rows="steps"), run(loop, scenario)
    assert len(whole) == 8 * len(plain)
    assert np.abs(at_samples(whole).values - plain.values).max() == 0.0
    assert (np.diff(whole["q_crank"].values[8:]) != 0).mean() > 0.9
