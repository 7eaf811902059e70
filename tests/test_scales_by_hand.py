"""What is large for machines whose numbers are written down: of several drives the weakest, shortest and slowest stand for all."""

from types import SimpleNamespace

import pytest

from plants import scales
from plants.drives.laws import Force, SpringDamper, Torque
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body


def values(found):
    return {name: scale.value for name, scale in found.items()}


def cylinder(A_a, A_b, stroke, speeds):
    valve = SimpleNamespace(u_max=10.0, dead_band=0.5)
    own = {"A_a": A_a, "A_b": A_b, "stroke": stroke, "valve": valve}
    return SimpleNamespace(**own, speeds=lambda drop: [drop * v for v in speeds])


CRANE = SimpleNamespace(
    p_s=2e7, p_r=5e6, cylinders=[cylinder(0.01, 0.006, 0.5, (2e-9, 3e-9)), cylinder(0.02, 0.004, 0.8, (5e-9, 1e-9))],
    joint_names=("q_1", "q_2", "s_3"), joint_range=lambda: ((0.0, 1.5), (-0.25, 1.0), (0.0, 0.8)),
)  # fmt: skip


def test_scales_of_a_crane():
    """The drop over a valve is from supply to return; joints that slide have no range in angle."""
    found = values(scales.of_crane(CRANE))
    slow = 9.5 * 1.5e7 * 1e-9
    assert found == pytest.approx({
        "energy": 2e7 * (0.005 + 0.016), "pressure": 2e7, "force": 2e7 * 0.004, "length": 0.5,
        "velocity": slow, "angle": 1.25, "rate": slow * 1.25 / 0.5,
    })  # fmt: skip
    slides = SimpleNamespace(**vars(CRANE) | {"joint_names": ("s_1", "s_2", "s_3")})
    assert not {"angle", "rate"} & scales.of_crane(slides).keys()


def test_scales_of_a_crane_behind_metering_valves():
    """Its own pump's relief and line, and speeds of its own orifices."""
    plant = SimpleNamespace(
        pump=SimpleNamespace(P_M=3e7), cylinders=CRANE.cylinders, V_p=0.004, crane=CRANE, velocity_gains=(0.3, 0.2)
    )  # fmt: skip
    found = values(scales.of_metered_crane(plant))
    assert found["energy"] == pytest.approx(3e7 * 0.025) and found["pressure"] == 3e7
    assert found["force"] == pytest.approx(3e7 * 0.004) and found["velocity"] == 0.2
    assert found["rate"] == pytest.approx(0.2 * 1.25 / 0.5) and found["length"] == 0.5


def sized(energy, pressure, force, stroke, speed, source="relief"):
    return SimpleNamespace(
        energy=energy, pressure=pressure, force=force, stroke=stroke, speed=speed, source=source
    )


CYLINDERS = [sized(5.0, 9.0, 4.0, 3.0, 2.0), sized(6.0, 8.0, 7.0, 1.0, 0.5)]
MOTORS = [sized(10.0, 7.0, 40.0, 30.0, 20.0, "pump"), sized(20.0, 11.0, 30.0, 50.0, 60.0, "pump")]


def test_scales_of_drives_with_oil():
    found = values(scales.of_sizes(CYLINDERS))
    assert found == {"energy": 11.0, "pressure": 8.0, "force": 4.0, "length": 1.0, "velocity": 0.5}
    assert values(scales.of_drives(CYLINDERS, [])) == found


def test_scales_of_motors_are_those_of_a_turn():
    found = scales.of_drives([], MOTORS)
    assert values(found) == {
        "energy": 30.0,
        "pressure": 7.0,
        "torque": 30.0,
        "angle": 30.0,
        "rate": 20.0,
    }
    assert found["energy"].source == "pump × what a turn of every motor takes"
    both = scales.of_drives(CYLINDERS, MOTORS)
    assert values(both) == {
        "energy": 41.0, "pressure": 7.0, "force": 4.0, "length": 1.0, "velocity": 0.5, "torque": 30.0, "angle": 30.0, "rate": 20.0,
    }  # fmt: skip
    assert both["energy"].source.endswith("of every motor takes, and the volume of the cylinders")


def mechanism(*actuators):
    car = Body("car", joint="prismatic", axis=(0.0, 0.0, 1.0), mass=50.0, start=0.5)
    arm = Body("arm", parent="car", axis=(0.0, 1.0, 0.0), mass=8.0, com=(0.5, 0.0, 0.0))
    return Mechanism(name="rig", bodies=(car, arm), actuators=actuators)


def test_scales_of_a_mechanism_without_oil_are_what_its_drives_state():
    """The least limit of each kind, the shortest span; energy where every limit has a span."""
    push = Actuator("push", Force(limit=300.0), joint="car", shortest=0.25, longest=0.75)
    pull = Actuator("pull", Force(limit=200.0), joint="car", shortest=0.0, longest=2.0)
    turn = Actuator("turn", Torque(limit=40.0), joint="arm", shortest=-1.0, longest=2.0)
    spring = Actuator("spring", SpringDamper(k=9.0), joint="car", shortest=0.45, longest=0.55)
    found = values(scales.of_mechanism(mechanism(push, pull, turn, spring)))
    assert found == pytest.approx({
        "force": 200.0, "length": 0.5, "energy": 150.0 + 400.0 + 120.0, "torque": 40.0, "angle": 3.0,
    })  # fmt: skip
    free = Actuator("free", Torque(limit=30.0), joint="arm")
    found = values(scales.of_mechanism(mechanism(push, turn, free)))
    assert found == pytest.approx(
        {"force": 300.0, "length": 0.5, "energy": 150.0, "torque": 30.0, "angle": 3.0}
    )
    half = Actuator("half", Force(limit=300.0), joint="car", longest=0.75)
    assert values(scales.of_mechanism(mechanism(half))) == {"force": 300.0}
    assert scales.of_mechanism(mechanism(Actuator("any", Force(), joint="car"))) == {}


def test_scales_of_small_actuators():
    own = SimpleNamespace(stop_Y=SimpleNamespace(limit=0.05), velocity_gain=40.0, stop_E=SimpleNamespace(limit=5e-4),
                          S_A=3e-4, S_B=2e-4, b_v=375.0, m=60.0)  # fmt: skip
    force = 375.0 * 0.02 + 60.0 * 9.81
    assert values(scales.of_ieha(own)) == pytest.approx({
        "energy": force * 0.1, "pressure": force / 2e-4, "force": force, "length": 0.1, "velocity": 0.02,
    })  # fmt: skip
    linear = SimpleNamespace(K=30.0, X_max=0.002)
    assert values(scales.of_linear_actuator(linear)) == pytest.approx(
        {"length": 0.06, "velocity": 0.06}
    )


def test_scales_of_arms():
    """A cylinder's rod goes twice its longest lever at most; a motor's turns with its gear."""
    section = lambda A_h, A_r: SimpleNamespace(A_h=A_h, A_r=A_r)
    rod = SimpleNamespace(turns=False, longest_lever=0.4, section=section(0.02, 0.01))
    motor = SimpleNamespace(turns=True, i=30.0, section=section(2e-5, 1e-5))
    ranges = ((-0.5, 1.0), (0.0, 3.0))
    plant = SimpleNamespace(
        pump=SimpleNamespace(P_M=2e7),
        arms=(rod, motor),
        joint_range=lambda: ranges,
        velocity_gain=0.6,
    )
    found = values(scales.of_arms(plant))
    assert found == pytest.approx({
        "pressure": 2e7, "angle": 1.5, "energy": 2e7 * (0.02 * 0.8 + 2e-5 * 90.0), "force": 2e5, "length": 0.8,
        "torque": 200.0, "rate": min(0.6 * 1.5 / 0.8, 0.6 * 3.0 / 90.0),
    })  # fmt: skip
    alone = SimpleNamespace(**vars(plant) | {"arms": (rod,), "joint_range": lambda: ranges[:1]})
    found = values(scales.of_arms(alone))
    assert found["velocity"] == 0.6 and "torque" not in found
