"""Default gains come from the machine's own numbers, so that a loop nobody tuned neither chatters nor swings."""

from dataclasses import replace

import numpy as np
import pytest
from ledger_cases import FULL, REAL, every, sampled
from mechanisms import lift

from controllers import PID, VDC
from plants import Arm, ConstantPressure, LoadSensing, MeteredArms, MeteredTwin, Walls
from workbench import ClosedLoop, Sampled, Scenario, Waypoints
from workbench.verification.run import run

START = tuple(map(float, FULL.initial()[:3]))
MOVING = Scenario(
    reference=Waypoints(
        "joint", (START, (START[0] + 0.15, START[1] - 0.2, START[2] + 0.3), START), 2.5
    ),
    duration=5.0,
)


def stiffness(c):
    """h at half stroke, m: what a metre of rod changes of both volumes, by area over length of each oil column."""
    columns = ((c.A_a, c.V_a0 + c.A_a * c.stroke / 2), (c.A_b, c.V_b0 + c.A_b * c.stroke / 2))
    return sum(A * A / V for A, V in columns)


def test_no_actuator_is_driven_stiffer_than_its_oil():
    thin = VDC(model=FULL).k_x
    assert (
        thin == pytest.approx([min(6e-3, stiffness(c)) for c in FULL.cylinders])
        and thin[2] < 1e-3 < thin[0] == 6e-3
    )
    assert VDC(model=REAL).k_x == (6e-3,)  # where all agree, one number serves
    long_hoses = every(REAL, V_a0=0.02, V_b0=0.02)
    assert max(VDC(model=long_hoses).k_x) < 6e-3 and len(VDC(model=long_hoses).k_x) == 2
    rubber = every(REAL, walls=Walls(B_h=2e6, V_ha=2e-4, V_hb=2e-4))
    borne = [c.shut_in(rubber.oil, 0.5 * c.stroke) for c in rubber.cylinders]
    assert VDC(model=rubber).k_x == pytest.approx(borne) and max(borne) < 6e-3
    assert VDC(model=FULL, k_x=(6e-3,)).k_x == (6e-3,)  # what is given stays
    assert VDC(model=FULL).k_x == replace(VDC(model=FULL), λ=(5.0,)).k_x


def test_a_crane_whose_extension_moves_does_not_chatter():
    """With 6 mm for the slender extension too it rings at 17 Hz, by volts, all the way."""
    calm, ringing = (
        run(sampled(FULL, **gains), MOVING) for gains in ({}, {"k_x": (6e-3, 6e-3, 6e-3)})
    )
    rough = [float(np.diff(r.log.array("u_t2")[500:], 2).std()) for r in (calm, ringing)]
    assert rough[0] < 0.05 < 0.5 < rough[1], rough
    assert calm.tool_error.max() < 1e-3 < 5e-3 < ringing.tool_error.max()


def test_a_position_loop_is_as_fast_as_arm_and_oil_bear():
    arms, twin = MeteredArms(), MeteredTwin()
    assert (
        arms.loop_rate == 6.0
        and 3.0 < twin.loop_rate < 6.0
        and twin.velocity_gain == arms.velocity_gain
    )
    assert replace(twin, β=1e13).loop_rate == pytest.approx(min(6.0, arms.loop_rate))
    (arm,) = arms.arms
    soft = MeteredArms(arms=(arm, Arm("2", K=2e6)))
    slowest = 0.6 * (2e6 / soft.arms[1].inertia) ** 0.5
    assert soft.loop_rate == pytest.approx(slowest / 7) and soft.loop_rate < 2
    # In series with its oil an arm is softer than on either spring.
    k = twin.β * (0.024**2 / twin.V_h + 0.012**2 / twin.V_r)
    both = arm.longest_lever * (arm.K * k / (arm.K + k) / arm.inertia) ** 0.5
    assert twin.loop_rate == pytest.approx(both / 7)


@pytest.mark.parametrize(
    "gains, swings", [({}, False), ({"K_p": (70.0,), "K_i": (120.0,), "K_v": (40.0,)}, True)]
)
def test_the_compressible_arm_follows_under_default_pid(gains, swings):
    """The gains of a crane with servo valves, which it had before, swing it."""
    twin = MeteredTwin()
    law = PID(model=twin, **(PID.suited(twin) | gains))
    length = float(twin.out(0.0, twin.initial())[0])
    there = Waypoints("output", ((length,), (length + 0.1,), (length,)), 2.0)
    r = run(ClosedLoop(twin, Sampled(law, 1e-3)), Scenario(reference=there, duration=6.0))
    assert bool(r.tool_error.max() > 0.02) is swings


def test_on_a_load_sensing_pump_gains_and_paths_are_those_of_its_margin():
    """Of 160 bar a valve sees the 15 of the margin: a volt moves a third of what it does at constant pressure."""
    sensing = LoadSensing(15e5, p_top=160e5, p_r=5e5)
    electric = LoadSensing(4e5, nominal=11e5, p_top=160e5, p_r=5e5)
    on = {s: lift(supply=s) for s in (sensing, electric, ConstantPressure(20e5, 5e5))}
    gains = [PID.suited(machine) for machine in on.values()]
    force = [found.pop("K_f")[0] for found in gains]  # of the highest pressure that there is
    assert force[0] == force[1] == pytest.approx(force[2] * 20 / 160)
    assert gains[0] == gains[1] == gains[2]
    machine, high = on[sensing], lift(supply=ConstantPressure(160e5, 5e5))
    ratio = (155 / 15) ** 0.5
    assert gains[0]["K_p"][0] / PID.suited(high)["K_p"][0] == pytest.approx(ratio)
    t = np.linspace(0.0, 1.0, 50)
    ways = [m.effort(t, m.initial()[0] + 0.3 * t[None]) for m in (machine, high)]
    assert ways[0] / ways[1] == pytest.approx(ratio)


def test_a_machine_on_a_small_margin_follows_under_default_pid():
    """With the gains of the highest pressure it stays several times as far behind."""
    machine = lift(supply=LoadSensing(15e5, p_top=160e5, p_r=5e5))
    start = float(machine.initial()[0])
    there = Scenario(reference=Waypoints("joint", ("start", (start + 0.1,)), 2.0), duration=3.0)
    errors = []
    for own in (machine, lift(supply=ConstantPressure(160e5, 5e5))):
        law = PID(machine, **PID.suited(own))
        errors.append(run(ClosedLoop(machine, Sampled(law, 1e-3)), there).tool_error.max())
    assert 4 * errors[0] < errors[1] and errors[0] < 0.01, errors
