"""What plants declare of their machines: limits with numbers, and joints that nothing holds."""

from dataclasses import replace
from math import inf

import mechanisms
import numpy as np
import pytest
from test_every_plant import PLANTS

from plants import LinearActuator, machine
from plants.crane.load_sensing import LoadSensed
from plants.drives.laws import SpringDamper, Torque
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Loop, Pin, Place
from workbench import ClosedLoop, Scenario, simulate
from workbench.contract.system import names
from workbench.run.columns import signals_of


@pytest.mark.parametrize(
    "plant",
    [*PLANTS.values(), LinearActuator(), LoadSensed(machine("hiab-xs031").plant)],
    ids=[*PLANTS, "linear actuator", "load sensing"],
)
def test_limits_are_intervals_of_signals_that_are_logged(plant):
    known = {s.name: s.unit for s in (*signals_of(plant), *plant.outputs, *plant.inputs)}
    found = plant.machine_limits()
    assert len({limit.name for limit in found}) == len(found)
    for limit in found:
        assert limit.low < limit.high and (limit.low > -inf or limit.high < inf)
        assert limit.meaning and limit.key
        assert {known[name] for name in limit.signals} == {limit.unit}
    commands = {
        limit.signals[0]: (limit.low, limit.high) for limit in found if limit.kind == "command"
    }
    assert commands == dict(plant.limits())


def test_every_number_of_a_crane_is_there():
    crane = machine("hiab-xs031").plant
    found = {limit.name: limit for limit in crane.machine_limits()}
    assert found["pump flow"].high == crane.Q_max and len(found["pump flow"].signals) == crane.n
    strokes = [limit.high for limit in crane.machine_limits() if limit.kind == "stroke"]
    assert strokes == [c.stroke for c in crane.cylinders]
    assert {limit.kind for limit in crane.machine_limits()} >= {
        "flow",
        "stroke",
        "vacuum",
        "command",
    }
    assert LoadSensed(crane).machine_limits() == crane.machine_limits()


def test_the_value_of_a_limit_is_the_sum_of_its_signals():
    crane = machine("hiab-xs031").plant
    log = simulate(crane, Scenario(0.05, disturbances={"u_1": 2.0, "u_2": -1.0}))
    flow = next(limit for limit in crane.machine_limits() if limit.kind == "flow")
    taken = sum(log.array(f"Q_s{label}") for label in crane.labels)
    assert flow.value(log) == pytest.approx(taken) and np.abs(taken).max() > 0


def free(mechanism, commands=None):
    return [joint.name for joint in mechanism.free_joints(commands)]


def test_a_pole_on_a_cart_is_free_and_the_cart_is_not():
    machine = mechanisms.cart_pole()
    assert free(machine) == ["pole"]
    assert free(machine, ["u_rail"]) == ["pole"]
    assert free(machine, []) == ["cart", "pole"]  # nobody drives the rail
    assert machine.joint_names == ("x_cart", "q_pole")
    (pole,) = machine.free_joints()
    assert (
        names(pole.positions) == ["q_pole"]
        and names(pole.rates) == ["dq_pole"]
        and pole.unit == "rad"
    )
    both = replace(
        machine, actuators=(*machine.actuators, Actuator("hinge", Torque(), joint="pole"))
    )
    assert free(both) == []
    assert free(both, ["u_hinge"]) == ["cart"]


def test_a_spring_holds_nothing():
    spring = Actuator("spring", SpringDamper(k=900.0, d=3.0), joint="pole")
    machine = mechanisms.cart_pole()
    assert free(replace(machine, actuators=(*machine.actuators, spring))) == ["pole"]


def test_cut_joints_determine_what_follows_a_driven_crank():
    assert free(mechanisms.four_bar()) == []
    assert free(mechanisms.four_bar(), []) == ["crank", "coupler", "rocker"]
    assert free(mechanisms.hydraulic(), []) == []  # oil is shut in
    assert free(mechanisms.hydraulic("minimal")) == []
    tree = mechanisms.random_tree(1, 5)
    assert free(tree) == [b.name for b in tree.bodies if b.joint != "fixed"]


def test_a_five_bar_on_one_drive_leaves_what_the_drive_does_not_hold():
    """Two degrees of freedom, one cylinder on the crank: the crank is held, the four others are not."""
    bars = [
        mechanisms.bar("a", "ground", 1.0, 2.0, start="100 deg", hold=True),
        mechanisms.bar("b", "a", 1.5, 2.0, point=(1.0, 0.0, 0.0), start="-60 deg"),
        mechanisms.bar("c", "ground", 1.1, 2.0, point=(1.4, 0.0, 0.0), start="80 deg", hold=True),
        mechanisms.bar("d", "c", 1.4, 2.0, point=(1.1, 0.0, 0.0), start="60 deg"),
    ]
    cut = Loop("top", Place("b", (1.5, 0.0, 0.0)), Place("d", (1.4, 0.0, 0.0)))
    drive = Actuator("crank", Torque(), joint="a")
    assert free(Mechanism(tuple(bars), (cut,), (drive,))) == ["b", "c", "d"]
    rod = Actuator(
        "rod", mechanisms.Force(), Pin("ground", (0.5, -0.5, 0.0)), Pin("c", (0.6, 0.0, 0.0))
    )
    assert free(Mechanism(tuple(bars), (cut,), (drive, rod))) == []


def test_how_far_a_spherical_joint_is_away_is_the_angle_between():
    tree = mechanisms.random_tree(1, 5)
    ball = next(joint for joint in tree.free_joints() if len(joint.positions) == 4)
    half = 0.35
    e_0 = [1.0, 0.0, 0.0, 0.0]
    e = [np.cos(half), np.sin(half) * 0.6, 0.0, -np.sin(half) * 0.8]
    turned = {
        s.name: np.array([a, -b]) for s, a, b in zip(ball.positions, e_0, e)
    }  # −e is the same attitude
    assert ball.away(turned, e_0) == pytest.approx([0.0, 2 * half])
    slide = next(joint for joint in tree.free_joints() if joint.unit == "m")
    assert slide.away({slide.positions[0].name: np.array([0.3, -0.2])}, [0.1]) == pytest.approx(
        [0.2, 0.3]
    )


def test_free_joints_are_those_of_the_loop():
    loop = ClosedLoop(mechanisms.cart_pole(), lambda t, y, r: [0.0])
    assert [j.name for j in loop.plant.free_joints(names(loop.controller.commands))] == ["pole"]
