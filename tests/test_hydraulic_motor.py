"""A hydraulic motor as a drive: its equations written once more, its speed by hand, its law and ledger, what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, quadrature_gap, unbalanced
from mechanisms import MOTOR, lift, swing
from scipy.integrate import solve_ivp

from controllers import VDC
from controllers.vdc.drives.servo_valve import Valve as ValveLaw
from plants import ConstantPressure, HydraulicMotor, LuGre, Valve
from plants.components.motor import Motor
from plants.components.two_chambers import TwoChambers
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Pin
from workbench import InputError, Scenario, Waypoints, simulate
from workbench.cases.file import load, loads
from workbench.contract.system import names
from workbench.verification.claims import Hypotheses
from workbench.verification.run import run

EXAMPLE = Path(__file__).parents[1] / "examples" / "slewing-crane.yaml"
SLEWING = load(EXAMPLE)
LINE = ConstantPressure().line([])


def beam(**changes):
    """The swinging beam with another motor."""
    return swing(replace(MOTOR, **changes))


# ---- the drive --------------------------------------------------------------------------------------------------------
def test_it_moves_as_its_equations_written_once_more():
    """A flywheel on a level floor against SciPy: J ω̇ = i D (p_a − p_b) − f(ω), both pressures by continuity, one valve."""
    wheel = swing(gravity=(0.0, 0.0, 0.0))
    wheel = replace(wheel, bodies=(replace(wheel.bodies[0], damping=0.0),))
    J, m, β = 160.0 * 2.1**2 / 3.0, MOTOR, 800e6
    c, volts = m.valve.c_p1, 3.0

    def rates(t, x):
        _, ω, p_a, p_b = x
        Q_a, Q_b = c * volts * np.sqrt(LINE.p_s - p_a), -c * volts * np.sqrt(p_b - LINE.p_r)
        across, sweep = m.c_i * (p_a - p_b), m.i * m.D * ω
        torque = m.i * m.D * (p_a - p_b) - m.friction.force(ω)
        return [
            ω,
            torque / J,
            β / m.V * (Q_a - sweep - across - m.c_e * p_a),
            β / m.V * (Q_b + sweep + across - m.c_e * p_b),
        ]

    log = simulate(wheel, Scenario(0.5, disturbances={"u_m": volts}, max_step=2e-4))
    start = [log.array(name)[0] for name in ("q_beam", "dq_beam", "p_a_m", "p_b_m")]
    own = solve_ivp(rates, (0.0, 0.5), start, "LSODA", rtol=1e-10, atol=1e-9, max_step=1e-3).y[
        :, -1
    ]
    for name, value in zip(("q_beam", "dq_beam", "p_a_m", "p_b_m"), own):
        assert log.array(name)[-1] == pytest.approx(value, rel=1e-5), name
    assert abs(own[0] - start[0]) > 0.05


def test_its_speed_without_load_is_the_flow_over_the_displacement():
    """Without leakage each notch takes half of the pressure: ω = c u √(Δp/2)/(i D)."""
    drive = HydraulicMotor(replace(MOTOR, c_i=0.0, c_e=0.0))
    expected = MOTOR.valve.c_p1 * ((LINE.p_s - LINE.p_r) / 2) ** 0.5 / (MOTOR.i * MOTOR.D)
    assert drive.velocity_gain_on(LINE) == pytest.approx(expected)
    assert drive.sizes(LINE).speed == pytest.approx(10.0 * expected)
    assert drive.bears(LINE)[1] == pytest.approx(MOTOR.i * MOTOR.D * (LINE.p_s - LINE.p_r))


def test_it_rests_under_the_weight_of_the_beam():
    plant = swing()
    x = dict(zip(names(plant.states), plant.initial()))
    weight = 160.0 * 9.81 * 0.5 * 2.1 * np.cos(np.radians(20.0))
    assert MOTOR.i * MOTOR.D * (x["p_a_m"] - x["p_b_m"]) == pytest.approx(weight)


def test_its_scales_are_those_of_a_turn():
    found = swing().scales()
    torque = LINE.p_s * MOTOR.i * MOTOR.D
    assert found["torque"].value == pytest.approx(torque)
    assert found["angle"].value == pytest.approx(2 * np.pi)
    assert found["energy"].value == pytest.approx(2 * np.pi * torque)
    assert "length" not in found and "force" not in found
    both = SLEWING.plant.scales()
    assert {"length", "angle", "force", "torque", "velocity", "rate"} <= set(both)
    assert len(SLEWING.plant.velocity_gains) == 2  # one in m/(s V), one in rad/(s V)


def test_pid_moves_motor_and_cylinder_each_with_a_gain_of_its_own():
    text = EXAMPLE.read_text("utf-8").replace("law: VDC", "law: PID")
    assert "law: PID" in text
    case = loads(text, "slewing-crane.yaml")
    log = simulate(case.loop, replace(case.scenario, duration=5.0))
    assert log.status.completed
    assert np.degrees(log.array("q_column")[-1]) > 38.0
    assert np.degrees(np.abs(log.array("e_s_slew")).max()) < 4.0


def test_a_motor_turns_a_joint_and_nothing_else():
    with pytest.raises(
        InputError, match="acts on a revolute joint, and here it is on the prismatic"
    ):
        lift(HydraulicMotor(MOTOR))
    between = Actuator("m", HydraulicMotor(MOTOR), Pin(), Pin("beam", (1.0, 0.0, 0.0)))
    with pytest.raises(
        InputError, match="a HydraulicMotor acts on a revolute joint, and here it is on two pins"
    ):
        Mechanism(swing().bodies, actuators=(between,), supply=ConstantPressure())


def test_a_weight_beyond_its_torque_is_refused_with_the_torque():
    with pytest.raises(InputError, match="a motor cannot carry the weight: it needs .* kN m"):
        beam(i=3.0)


# ---- its law ----------------------------------------------------------------------------------------------------------
def path(angle, leg=0.6):
    start = np.radians(20.0)
    return Waypoints("joint", ("start", (start + angle,), "start"), leg)


@pytest.mark.parametrize(
    "motor", [MOTOR, replace(MOTOR, friction=LuGre(110.0, 160.0, 0.02, 650.0, 5e5, 900.0))]
)
def test_its_ledger_closes_and_every_cut_cancels(motor):
    lagging = replace(motor, valve=Valve(lag="second", frequency=45.0))
    b = at_random(loop_of(VDC(swing(lagging))), 4)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()
    assert all(
        np.abs(d).max() < 1e-9
        for (_, _, name), d in b.perturbations.items()
        if name in ("valve inverse", "parameters", "model")
    )


def test_v̇_is_the_derivative_of_v_along_the_run():
    law = VDC(swing(gravity=(0.0, -9.81, 0.0)))
    scenario = Scenario(0.1, path(0.2), offset={"q_beam": 0.01, "dq_beam": 0.05})
    gaps = [quadrature_gap(law, scenario, h) for h in (1e-4, 5e-5)]
    assert gaps[0] < 1e-5 and gaps[0] / gaps[1] > 3, gaps


def test_a_machine_with_a_motor_and_a_cylinder_closes_too():
    b = at_random(loop_of(SLEWING.loop.controller.inner), 5)
    assert not unbalanced(b) and not open_cuts(b)


def test_the_beam_follows_and_hypotheses_are_those_of_a_joint():
    """No stroke is asked of a motor; its valve is."""
    law = VDC(swing())
    found = run(loop_of(law), Scenario(1.5, path(0.2)))
    assert np.abs(found.log.array("e_q_beam")).max() < 2e-3
    said = {a.text: a for a in law.certificate(law.model).hypotheses(found, Hypotheses())}
    assert said["valve m invertible within ±10 V"].holds
    assert not any("stroke" in text for text in said)
    margins = law.certificate(law.model).monitors(found.balance)
    assert set(margins) >= {"valve m within ±10 V", "pump flow"}


def test_its_signals_are_torques():
    unit = {s.name: s.unit for s in VDC(swing()).monitors}
    assert unit["f_pr_m"] == "N m"
    assert {s.unit for s in HydraulicMotor(MOTOR).logged("m")} == {"N m"}


def test_a_displacement_known_wrongly_is_named_and_rows_still_close():
    b = at_random(loop_of(VDC(beam(D=1.1 * MOTOR.D)), swing()), 4)
    assert not unbalanced(b) and not open_cuts(b)
    named = {name for (_, _, name), d in b.perturbations.items() if np.abs(d).max() > 1e-6}
    assert "parameters" in named and "model" not in named


# ---- planted faults ---------------------------------------------------------------------------------------------------
def faulty(κ):
    return at_random(loop_of(VDC(swing(), κ=κ)), 4)


def test_leakage_left_out_of_the_law_is_found_at_its_row(monkeypatch):
    def tight(self, oil, x, xdot, p_a, p_b):
        g_a, g_b = self.gains(oil, x, p_a, p_b)
        return (g_a * self.A_a + g_b * self.A_b) * xdot

    monkeypatch.setattr(TwoChambers, "drift", tight)
    assert set(unbalanced(faulty(9.3))) == {"actuator m"}


@pytest.mark.parametrize("term", ["velocity", "force", "rate"])
def test_a_term_of_the_wrong_sign_is_found_at_its_row(monkeypatch, term):
    honest = ValveLaw.flow

    def flipped(self, x, xd, pair, f_pr, f_pr_rate, xd_r):
        right = honest(self, x, xd, pair, f_pr, f_pr_rate, xd_r)
        terms = {
            "velocity": self.k_x * (xd_r - xd),
            "force": self.k_f * (f_pr - self.cylinder.force(*pair)),
            "rate": f_pr_rate / self.oil.β,
        }
        return right - 2 * terms[term]

    monkeypatch.setattr(ValveLaw, "flow", flipped)
    assert set(unbalanced(faulty(9.4 + len(term) / 100))) == {"actuator m"}


def test_a_motor_without_friction_given_is_not_held_by_that_of_a_cylinder():
    """The numbers of the friction laws are forces of cylinders, and would be read as torques."""
    small = Motor(D=2e-6, V=1e-4)
    assert small.friction.force(1.0) == 0.0
