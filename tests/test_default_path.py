"""The path of a machine that is given none: as fast as its pump and its valves can follow."""

from dataclasses import replace
from functools import lru_cache
from math import pi
from pathlib import Path

import numpy as np
import pytest
from mechanisms import CYLINDER, MOTOR, lift
from test_drawing import shown

from plants.components.valve import Valve
from plants.drives.hydraulic_motor import HydraulicMotor
from plants.drives.laws import Force
from plants.drives.metered_rod import MeteredRod
from plants.drives.servo_cylinder import ServoCylinder
from plants.multibody.reach import tool_points
from plants.supplies.constant import ConstantPressure
from workbench.cases.default_path import LEG, SHARE, to_both_sides
from workbench.cases.file import load

PUMP = 80e-3 / 60  # m³/s, of the file
GIVEN = Path(__file__).parent / "data" / "knuckle-boom.yaml"
# Oil that each of its drives takes for a metre or a radian, out and back: bores and rods, displacements and gears of the file.
OIL = {
    "slew": (15e-6 * 100, 15e-6 * 100),
    "lift": (pi / 4 * 0.11**2, pi / 4 * (0.11**2 - 0.063**2)),
    "knuckle": (pi / 4 * 0.1**2, pi / 4 * (0.1**2 - 0.06**2)),
    "extend": (pi / 4 * 0.06**2, pi / 4 * (0.06**2 - 0.04**2)),
    "turn": (25e-6 * 5, 25e-6 * 5),
}


@lru_cache
def crane():
    """The case of a file without a scenario."""
    return load(GIVEN)


def rates(machine, path):
    """(instants, ṡ of every drive along a path in joints): lengths pose by pose, by differences."""
    walked = path.resolve(tuple(machine.initial()[: machine.n]))
    t = np.linspace(0.0, walked.duration, 800)
    lengths = [machine.task("piston", list(q)) for q in walked.sample(t, 0)[0]]
    return np.gradient(np.array(lengths, float), t, axis=0).T


def taken(path):
    """Most flow that the knuckle boom's pump is asked for along a path, m³/s."""
    flow = 0.0
    for (out, back), rate in zip(OIL.values(), rates(crane().plant, path)):
        flow = flow + np.maximum(out * rate, -back * rate)
    return flow.max()


def test_a_knuckle_boom_is_given_a_path_that_its_pump_can_do():
    """At the usual pace it asks for nearly twice what the pump has."""
    machine = crane().plant
    path = crane().scenario.reference
    assert [a.name for a in machine.actuators] == list(OIL)
    assert taken(replace(path, leg=LEG)) > 1.5 * PUMP
    assert 0.65 * PUMP < taken(path) <= SHARE * PUMP
    assert crane().scenario.length() == 3 * (path.leg + 1.0) + 4.0


def test_a_machine_that_fits_keeps_its_pace():
    """The same crane on twice the pump."""
    machine = replace(crane().plant, supply=ConstantPressure(210e5, 5e5, 2 * PUMP))
    assert to_both_sides(machine).reference.leg == LEG


def test_a_machine_without_oil_is_not_slowed():
    machine = lift(Force(), method="minimal", supply=None)
    assert machine.effort(np.linspace(0, 1, 5), np.array([[0.1, 0.2, 0.3, 0.4, 0.5]])) == 0.0


def test_a_small_valve_sets_the_pace():
    """By hand: √(Δp/((A_a/c)² + (A_b/c)²)) m/s a volt, 10 V, √½ of it under load; the joint is the cylinder."""
    c = 2e-9
    small = Valve(c_p1=c, c_n1=c, c_p2=c, c_n2=c, u_max=10.0)
    machine = lift(ServoCylinder(replace(CYLINDER, valve=small), 0.0), method="minimal")
    out, back = machine.actuators[0].drive.areas
    drop = machine.supply.p_s - machine.supply.p_r
    free = 10.0 * (drop / ((out / c) ** 2 + (back / c) ** 2)) ** 0.5
    path = to_both_sides(machine).reference
    (rate,) = rates(machine, path)
    assert path.leg > 2 * LEG
    assert 0.6 < np.abs(rate).max() / (free * 0.5**0.5) <= SHARE


@pytest.mark.parametrize(
    "drive", [ServoCylinder(CYLINDER, 0.0), HydraulicMotor(MOTOR), MeteredRod(K=2e7, B=1e5, i=0.6)]
)
def test_a_drive_takes_what_fills_its_chambers(drive):
    """Areas by hand: of a piston, of a rotor on its gear, of a rod on its lever."""
    if isinstance(drive, ServoCylinder):
        wanted = pi / 4 * 0.06**2, pi / 4 * (0.06**2 - 0.035**2)
    elif isinstance(drive, HydraulicMotor):
        wanted = 9e-6 * 70.0, 9e-6 * 70.0
    else:
        wanted = 0.6 * drive.section.A_h, 0.6 * drive.section.A_r
    assert drive.areas == pytest.approx(wanted)


def test_a_drawing_shows_the_telescope():
    """Beside the machine its place at the start, in the table its stroke; the tool reaches as far as it goes."""
    machine = crane().plant
    fig, texts, _ = shown(machine)
    assert "extend 0.800 m" in [t.get_text() for t in texts]
    table = [t.get_text() for t in fig.texts]
    assert table[table.index("extend") :][:4] == ["extend", "0.800 m", "0.000 … 1.600 m", "1.600 m"]
    assert "slew" not in table, "a motor has no stroke"
    held = [
        replace(a, longest=0.801, shortest=0.799) if a.name == "extend" else a
        for a in machine.actuators
    ]
    short = replace(machine, actuators=tuple(held))
    grown = np.ptp(tool_points(machine), axis=0) - np.ptp(tool_points(short), axis=0)
    assert grown[0] > 0.3 and grown[1] > 0.3
