"""Servo cylinders on a mechanism: the shipped crane's pistons driven through them are the crane, in every number it has."""

from dataclasses import replace

import numpy as np
import pytest
from crane_as_mechanism import random_state, rates_of, translated, with_servos
from mechanisms import four_bar, lift

from plants import ConstantPressure, Cylinder, LoadSensing, ServoCylinder, machine
from plants.components.friction import CoulombViscous, LuGre
from plants.multibody.parts import Actuator, Body, Pin
from workbench import InputError, Scenario, simulate
from workbench.cases.file import loads
from workbench.contract.parameters import bind
from workbench.contract.system import names

WHOLE = machine("hiab-xs031").plant
CRANES = {"two joints": WHOLE.locked(extension=0.5), "three joints": WHOLE}


def lagging(crane):
    """The same with spools and bristles that have states, leaks and dead volumes."""
    for label in [s.name for s in crane.segments]:
        crane = _changed(crane, label)
    return crane


def _changed(crane, name):
    def other(segment):
        if segment is None or segment.name != name:
            return segment
        c = segment.cylinder
        return replace(
            segment,
            cylinder=replace(
                c,
                V_a0=2e-4,
                V_b0=3e-4,
                c_i=2e-13,
                c_e=1e-13,
                valve=replace(c.valve, lag="second", dead_band=0.3),
                friction=LuGre(),
            ),
        )

    structures = tuple(
        replace(s, revolute=other(s.revolute), prismatic=other(s.prismatic))
        for s in crane.structures
    )
    return replace(crane, structures=structures)


@pytest.mark.parametrize("change", [lambda crane: crane, lagging], ids=["shipped", "lagging"])
@pytest.mark.parametrize("which", CRANES)
def test_the_crane_with_servo_cylinders_is_the_crane(which, change):
    """rhs, measured and logged signals, powers and guards agree to 1e-12 of their range over random states."""
    crane = change(CRANES[which])
    mechanism, rng = with_servos(crane), np.random.default_rng(4)
    pairs = []
    for _ in range(6):
        x = random_state(crane, rng)
        u = [float(v) for v in rng.uniform(-12.0, 12.0, crane.n)]
        pairs.append(_both(crane, mechanism, x, u))
    for key in pairs[0]:
        ours = np.array([pair[key][0] for pair in pairs], float)
        theirs = np.array([pair[key][1] for pair in pairs], float)
        size = np.abs(theirs).max(axis=0)
        assert size.max() > 0.0, key
        assert (np.abs(ours - theirs) <= 1e-12 * np.maximum(size, 1e-3 * size.max())).all(), key


def _both(crane, mechanism, x, u):
    """name → (mechanism's, crane's) numbers at a state of the crane."""
    whole = [*u, *[crane.defaults().get(s.name, 0.0) for s in crane.inputs[crane.n :]]]
    y = translated(crane, mechanism, x)
    rates = rates_of(crane, mechanism, x, whole)
    found = {}
    ours = mechanism.rhs(0.0, y, u)
    for unit in {s.unit for s in mechanism.states}:
        at = [i for i, s in enumerate(mechanism.states) if s.unit == unit]
        found[f"rates of states in {unit}"] = (
            [ours[i] for i in at],
            [rates[i] for i in at],
        )
    shown = dict(zip(names(mechanism.monitors), mechanism.monitor(0.0, y, u)))
    theirs = dict(zip(names(crane.monitors), crane.monitor(0.0, x, whole)))
    own = dict(zip(names(crane.states), x))
    for kind in ("x_", "f_p", "f_f", "Q_s"):
        found[kind] = (
            [shown[f"{kind.rstrip('_')}_c{label}"] for label in crane.labels],
            [theirs.get(f"{kind}{label}", own.get(f"{kind}{label}")) for label in crane.labels],
        )
    powers = dict(zip(mechanism.power_names, mechanism.powers(0.0, y, u)))
    wanted = dict(zip(crane.power_names, crane.powers(0.0, x, whole)))
    found["powers"] = tuple(
        zip(
            *(
                (sum(powers[f"{cause}_c{label}"] for label in crane.labels), wanted[cause])
                for cause in ("supply", "tank", "throttling", "leakage", "compression", "friction")
            )
        )
    )
    return found


def test_it_starts_rests_and_runs_as_the_crane():
    crane = CRANES["three joints"]
    mechanism = with_servos(crane)
    start = translated(crane, mechanism, crane.initial())
    assert mechanism.initial() == pytest.approx(start, rel=1e-9, abs=1e-12)
    assert mechanism.fixed is None and set(mechanism.vacua.values()) == {crane.vacuum} == {0.0}
    assert {"dq_arm1", "dq_arm2", "dx_rod2", "u_s_c1"} < set(mechanism.stiff)
    assert len(mechanism.stiff) == len(crane.stiff)
    command = {"u_1": 2.0, "u_2": -1.5, "u_t2": 1.0}
    theirs = simulate(crane, Scenario(0.5, disturbances=command))
    ours = simulate(
        mechanism, Scenario(0.5, disturbances={f"u_c{k[2:]}": v for k, v in command.items()})
    )
    for mine, name in (("q_arm1", "q_1"), ("x_rod2", "x_t2"), ("p_a_c1", "p_a1")):
        moved = np.ptp(theirs.array(name))
        assert moved > 0.0
        assert ours.array(mine) == pytest.approx(theirs.array(name), abs=1e-6 * moved)
    stored = ours.array("E_stored")
    spent = sum(ours.array(f"E_{name}") for name in mechanism.power_names)
    assert stored - stored[0] == pytest.approx(spent, abs=1e-5 * np.abs(spent).max())


def test_limits_holding_and_gains_are_those_of_the_crane():
    crane = CRANES["three joints"]
    mechanism = with_servos(crane)
    ours, theirs = mechanism.machine_limits(), crane.machine_limits()
    assert [k.high - k.low for k in ours if k.kind == "stroke"] == pytest.approx(
        [k.high - k.low for k in theirs if k.kind == "stroke"]
    )
    for kind in ("flow", "vacuum", "valve", "command"):
        assert [(k.low, k.high) for k in ours if k.kind == kind] == [
            (k.low, k.high) for k in theirs if k.kind == kind
        ]
    x = crane.initial()
    still = [crane.defaults().get(s.name, 0.0) for s in crane.inputs]
    needs = {k.name.split()[1]: k for k in crane.holding(x, still)}
    for k in mechanism.holding(mechanism.initial(), [0.0] * crane.n):
        wanted = needs[k.name.removeprefix("actuator c")]
        assert (k.needs, k.low, k.high) == pytest.approx(
            (wanted.needs, wanted.low, wanted.high), rel=1e-9
        )
    theirs, ours = crane.scales(), mechanism.scales()
    for kind in ("energy", "pressure", "force", "length", "velocity"):
        assert ours[kind].value == pytest.approx(theirs[kind].value, rel=1e-12)
    assert mechanism.velocity_gain > 0.0


CYLINDER = CRANES["two joints"].cylinders[0]


def test_a_drive_that_takes_oil_needs_a_supply_and_a_supply_needs_a_drive():
    with pytest.raises(InputError, match="c takes oil from a supply") as refusal:
        lift(ServoCylinder(CYLINDER, 0.0), supply=None)
    assert "ConstantPressure" in str(refusal.value)
    sound = lift(ServoCylinder(CYLINDER, 0.0))
    with pytest.raises(InputError, match="none of the drives takes oil"):
        replace(sound, actuators=())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: lift(ServoCylinder(CYLINDER, 0.5)),
            "actuators.c: the cylinder reaches from 0.5 m",
        ),
        (
            lambda: Actuator("c", ServoCylinder(CYLINDER, 0.2), Pin(), Pin("load")),
            "drive.closed: retracted, the pins are 0.2 m apart, less than the stroke",
        ),
        (lambda: ConstantPressure(p_s=5e5), "p_r: the return pressure, 10 bar, must be below"),
        (lambda: ConstantPressure(Q_max=0.0), "Q_max: .* greater than zero"),
        (
            lambda: ServoCylinder(CYLINDER, 0.0, pressures_at_start=(-1.0, 2e5)),
            "pressures_at_start",
        ),
    ],
)
def test_wrong_numbers_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_a_load_that_the_supply_cannot_carry_is_refused_at_the_start():
    heavy = Body("load", "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=8e4, start=0.3)
    with pytest.raises(InputError, match="actuators.c: a cylinder cannot carry the weight"):
        replace(lift(ServoCylinder(CYLINDER, 0.0)), bodies=(heavy,))


@pytest.mark.parametrize("bore, F_c, b", [(0.08, 4000.0, 3000.0), (0.016, 160.0, 120.0)])
def test_without_friction_of_its_own_a_cylinder_has_that_of_its_seals(bore, F_c, b):
    """8 bar on the piston, whatever its size; what is given stays, and so does what there was where the bore is changed."""
    made = Cylinder(bore=bore, rod=bore / 2, stroke=0.1).friction
    assert (made.F_c, made.b) == pytest.approx((F_c, b))
    own = LuGre(F_c=100.0)
    assert Cylinder(bore=bore, rod=bore / 2, stroke=0.1, friction=own).friction is own
    assert replace(Cylinder(bore, bore / 2, 0.1), bore=1.0).friction.F_c == pytest.approx(F_c)


@pytest.mark.parametrize("F_c, moves", [(90e3, False), (59.8e3, False), (59.6e3, True)])
def test_friction_that_the_supply_cannot_overcome_either_way_is_refused(F_c, moves):
    """Pushed back by 187 bar on the rod's side against 9 bar it gives 59.7 kN, and 90.9 kN the other way."""
    part = Cylinder(0.08, 0.045, 0.5, friction=CoulombViscous(F_c=F_c))
    if moves:
        assert part.balanced(0.0, 187e5, 9e5)
        return
    with pytest.raises(
        InputError, match="friction.F_c: .* more than a cylinder can push, 59.73 kN"
    ):
        part.balanced(0.0, 187e5, 9e5)


def test_pressures_of_the_start_may_be_given():
    given = lift(ServoCylinder(CYLINDER, 0.0, pressures_at_start=(40e5, 30e5)))
    assert given.initial()[2:4] == [40e5, 30e5]
    other = bind(given, {"supply.p_s": 200e5})
    assert other.supply.p_s == 200e5


@pytest.mark.parametrize("supply", [ConstantPressure(), LoadSensing()], ids=["constant", "sensing"])
def test_all_methods_move_a_loop_on_a_servo_cylinder_alike(supply):
    """Projected and minimal to their own accuracy; the penalty method, of order two, to that of its step."""
    cylinder = Cylinder(
        0.08, 0.035, 1.0, V_a0=3e-4, V_b0=3e-4, friction=CoulombViscous(50.0, 2000.0)
    )
    pins = (Pin("ground", (-1.0, 0.0, 0.0)), Pin("crank", (1.0, 0.0, 0.0)))
    actuators = (Actuator("c", ServoCylinder(cylinder, 1.2), *pins),)
    scenario = Scenario(0.3, disturbances={"u_c": 1.0}, max_step=2.5e-4)
    logs = {
        method: simulate(four_bar(actuators=actuators, supply=supply, method=method), scenario)
        for method in ("projected", "minimal", "penalty")
    }
    moved = np.ptp(logs["minimal"].array("q_crank"))
    assert moved > 5e-3
    for method, error in (("projected", 1e-8), ("penalty", 1e-4)):
        for name in ("q_crank", "p_a_c", "p_b_c"):
            ours, theirs = logs[method].array(name), logs["minimal"].array(name)
            assert np.abs(ours - theirs).max() < error * np.abs(theirs).max(), (method, name)


TEXT = """
plant:
  type: Mechanism
  bodies:
    load: {joint: prismatic, axis: [0, 1, 0], mass: 310 kg, start: 20 cm}
  actuators:
    lift:
      joint: load
      drive:
        type: ServoCylinder
        closed: 0 m
        cylinder: {bore: 40 mm, rod: 25 mm, stroke: 500 mm}
  supply: {type: ConstantPressure, p_s: 160 bar, p_r: 5 bar, Q_max: 40 l/min}
controller: {law: PID}
scenario: {reference: {type: Sine, space: output, centre: start, amplitude: [5 cm], frequency: 0.3 Hz}, duration: 1 s}
"""


def test_it_is_written_in_a_file():
    case = loads(TEXT, "lift.yaml")
    (actuator,) = case.plant.actuators
    assert actuator.drive == ServoCylinder(Cylinder(0.04, 0.025, 0.5), 0.0)
    assert case.plant.supply == ConstantPressure(160e5, 5e5, 40e-3 / 60)
    log = simulate(case.loop, case.scenario)
    assert log.status.completed and np.ptp(log.array("s_lift")) > 0.03
    assert set(log.names) >= {"x_lift", "f_p_lift", "f_f_lift", "Q_s_lift", "p_a_lift"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("type: ServoCylinder", "type: ServoCylindre", "ServoCylinder"),
        ("closed: 0 m", "closed: 0 bar", "closed"),
        ("closed: 0 m", "closed: 40 cm", "the cylinder reaches from 0.4 m"),
        ("        closed: 0 m\n", "", "closed"),
        ("rod: 25 mm", "rod: 45 mm", "not thinner than the bore"),
        ("p_r: 5 bar", "p_r: 165 bar", "must be below the supply pressure"),
        ("p_s: 160 bar, ", "p_s: 4 mm, ", "p_s"),
    ],
)
def test_wrong_files_are_refused_with_key_and_line(old, new, words):
    assert old in TEXT
    with pytest.raises(InputError, match=words) as refusal:
        loads(TEXT.replace(old, new), "lift.yaml")
    assert "lift.yaml, line" in str(refusal.value)
