"""Metered arms turned by motors, K and B by rule and at their limit, regeneration in case files, bad input in words."""

from dataclasses import replace

import numpy as np
import pytest

from plants import Arm, MeteredArms, MotorArm
from plants.valve_circuits import Γ, Λ, Circuit, Motor, Openings, Section, stepping
from plants.valve_circuits.stepping import stepped
from workbench import InputError, Scenario, simulate
from workbench.cases.file import loads


def test_a_motor_is_a_cylinder_of_the_same_numbers():
    """Displacements for areas: Γ, Λ and an arm turned with a constant lever."""
    c = Circuit((Motor(D_h=6e-5, D_r=5e-5),))
    same = Circuit((Section(A_h=6e-5, A_r=5e-5),))
    o = Openings.command(0.4, 0.3)
    assert (
        Λ(c, o, 0.2, 3.0, -900.0) == Λ(same, o, 0.2, 3.0, -900.0)
        and Λ(c, o, 0.2, 3.0, -900.0)[0] > 10.0
    )
    assert Γ(c, o, 0.2, 20.0) == Γ(same, o, 0.2, 20.0)
    slew = MeteredArms(
        arms=(MotorArm(i=120.0, L_g=1e-3, θ_0=0.0, section=Motor(D_h=5e-5)),), g=0.0, u_b=0.1
    )
    assert {s.unit for s in slew.monitors if s.name in ("v_1", "f_1", "l_1")} == {
        "rad/s",
        "N*m",
        "rad",
    }
    run = stepped(slew, 1.5, 1e-3, 0.5)
    rate = (
        Λ(slew.circuit, Openings.command(0.5), 0.1, 1e-6, 0.0)[0] / 120.0
    )  # no torque left once it turns
    assert run.dθ[-1, 0] == pytest.approx(rate, rel=1e-3) and rate > 0.5
    log = simulate(
        slew, Scenario(0.5, disturbances={"u_c_1": 0.5}, max_step=2.5e-4), compiled=False
    )
    errors = [abs(stepped(slew, 0.5, h, 0.5).θ[-1, 0] - log.array("θ_1")[-1]) for h in (1e-3, 5e-4)]
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)


def test_stiffness_and_damping_left_out_follow_the_rule():
    """ω = 1/(23 h), critically damped; for the source's arm at 1 ms its K."""
    a = MeteredArms(arms=(Arm(),)).arms[0]
    assert a.K == pytest.approx(5e7, rel=0.01) and a.B**2 == pytest.approx(
        4 * a.K * a.inertia / a.L_m**2
    )
    for h in (2e-4, 5e-3):
        a, m = MeteredArms(arms=(Arm("1"), MotorArm(i=80.0, name="2")), h=h).arms
        assert all(
            np.sqrt(x.K / x.inertia) * x.longest_lever == pytest.approx(1 / (23 * h))
            for x in (a, m)
        )
        assert (
            a.step_limit() / h
            == pytest.approx(m.step_limit() / h)
            == pytest.approx(23 * (2 * np.sqrt(2) - 2))
        )
    given = MeteredArms(arms=(Arm(B=1e6),)).arms[0]
    assert given.B == 1e6 and given.K == pytest.approx(5e7, rel=0.01)


def test_runs_just_within_the_step_limit_stay_and_just_beyond_it_do_not():
    """Valves shut, a push at the start: the lever next to its longest, so that the limit is sharp."""
    arm = Arm(r_bx=-1.2, r_by=0.0, α=0.0, L_m=0.3, θ_0=np.radians(75.5), L_g=1e-3, K=5e7, B=1.4e6)
    assert abs(arm.lever(arm.θ_0)) == pytest.approx(arm.longest_lever, rel=1e-3)
    plant = MeteredArms(arms=(arm,), g=0.0)
    push, ends = (lambda t: np.where(t < 1e-9, 2e4, 0.0)), []
    for share in (0.98, 1.04):
        h = share * arm.step_limit()
        geometry, found = np.array([stepping._geometry(arm)]), np.zeros((5, 401, 1))
        found[0, 0], found[2, 0] = arm.θ_0, arm.length(arm.θ_0)
        row = np.array([[[*np.array(plant.rows([0.0, 0.0])[0], float)]]] * 400)
        stepping._advance(
            geometry, row, np.array(plant.supply), 0.0, h, push(np.arange(400) * h)[:, None], *found
        )
        ends.append(np.abs(found[0, -50:, 0] - arm.θ_0).max())
    assert ends[0] < 1e-3 and ends[1] > 30 * ends[0]
    with pytest.raises(InputError, match="bears steps"):
        simulate(plant, Scenario(0.1, max_step=1.04 * arm.step_limit()))


CASE = """
plant:
  type: MeteredArms
  arms:
    - {name: "1", θ_0: 30 deg, regeneration: input}
controller: OpenLoop
loop: {sample_time: continuous}
scenario:
  disturbances: {u_c_1: {type: Steps, times: [0 s, 0.1 s], values: [0, 0.5]}, u_a_1: 0.7}
  duration: 0.3 s
"""


def test_regeneration_in_a_case_file():
    case = loads(CASE)
    log = simulate(case.loop, case.scenario, compiled=False)
    without = simulate(
        case.loop,
        replace(case.scenario, disturbances=case.scenario.disturbances | {"u_a_1": 0.0}),
        compiled=False,
    )
    assert log.array("θ_1")[-1] < without.array("θ_1")[-1] - 1e-4 and case.plant.arms[
        0
    ].K == pytest.approx(5e7, rel=0.01)
    account = case.plant.valve_account(log)
    assert account.law["a_1"].max() > 100.0
    assert np.abs(account.gap).max() < 1.0


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("values: [0, 0.5]", "values: [0, 1.5]", "u_c_1 = 1.5 at t = 0.1"),
        ("u_a_1: 0.7", "u_a_1: 1.2", "u_a_1 = 1.2"),
        ("regeneration: input", "regeneration: sometimes", "none, command, input"),
        ("regeneration: input}", "section: {A_h: -1 cm^2}}", "greater than zero"),
        ("regeneration: input}", "section: {P_hM: 0 bar}}", "above the tank"),
        (
            "type: MeteredArms",
            "type: MeteredArms\n  pump: {Q: 0 l/min}",
            "flow must be greater than zero",
        ),
        ("type: MeteredArms", "type: MeteredArms\n  u_b: 1.3", "between 0 and 1"),
        ("regeneration: input}", "K: 5e12 N/m}", "bear steps up to"),
        ("regeneration: input}", "B: 0 N s/m}", "greater than zero"),
        ("duration: 0.3 s", "max_step: 0.1 s\n  duration: 0.3 s", "bears steps of"),
        (
            'arms:\n    - {name: "1", θ_0: 30 deg, regeneration: input}',
            "arms: []",
            "give at least one",
        ),
    ],
)
def test_a_file_is_refused_in_words(old, new, words):
    assert old in CASE
    with pytest.raises(InputError) as refusal:
        case = loads(CASE.replace(old, new))
        simulate(case.loop, case.scenario, compiled=False)
    assert words in str(refusal.value) and "mend" in str(refusal.value)


@pytest.mark.parametrize(
    "law, points, first",
    [
        ("VDC", "[[-10 deg, 0.3], [0 deg, 20 deg]]", (np.radians(-10), 0.3)),
        ("PID, signals: [l_1, θ_2]", "[[600 mm, 0.3], [0.0, 20 deg]]", (0.6, 0.3)),
    ],
)
def test_points_of_a_path_take_the_units_of_what_is_followed(law, points, first):
    """Two arms, whose first outputs are lengths: angles of both; or a length and an angle. A length for an angle is refused."""
    text = f"""
plant: {{type: MeteredArms, arms: [{{name: "1"}}, {{name: "2", i: 90}}]}}
controller: {{law: {law}}}
scenario:
  reference: {{type: Waypoints, space: output, leg: 2 s, points: {points}}}
"""
    found = loads(text).scenario.reference.points
    assert found[0] == pytest.approx(first) and found[1] == pytest.approx((0.0, np.radians(20)))
    with pytest.raises(InputError, match="an angle was expected"):
        loads(text.replace("20 deg", "20 mm"))
