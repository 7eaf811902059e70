"""Defaults of plants: the machine that is shipped, the numbers a source prints, or what follows from the others."""

from dataclasses import fields, is_dataclass, replace
from functools import partial
from math import pi
from pathlib import Path

import pytest

from plants import IEHA, Arm, FourBar, LinearActuator, MeteredArms, MotorArm, machine
from plants.components.friction import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    LuGre,
    ModifiedLuGre,
    Stribeck,
)
from plants.components.valve import Valve, nominal
from plants.crane.manipulator import Manipulator
from plants.crane.planar_whole import ACCELERATIONS, SPEEDS
from plants.four_bar.linkage import WORK_CYCLE
from plants.metered.crane import MeteredCrane
from plants.multibody.penalty.integrator import Penalty
from plants.valve_circuits import Circuit, Motor, Pump, Section
from workbench.cases.file import loads

ROUNDING = partial(pytest.approx, rel=1e-14, abs=0.0)
LITRE = 1e-3  # m³
BAR = 1e5  # Pa


def numbers(part, path="") -> dict:
    """Every number, choice and kind of part in a plant, by its path; names are left out."""
    if is_dataclass(part):
        found = {f"{path}()": type(part).__name__}
        for field in fields(part):
            if field.name != "name":
                found |= numbers(getattr(part, field.name), f"{path}.{field.name}")
        return found
    return {path: part}


def different(ours: dict, theirs: dict) -> list[str]:
    """The paths at which two plants have other numbers."""
    assert set(ours) == set(theirs)
    return [path for path, value in ours.items() if not _alike(value, theirs[path])]


def _alike(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == ROUNDING(b)
    return a == b


SHIPPED = {
    "four-bar": FourBar(),
    "ieha-control": IEHA(),
    "ieha-published-linear": LinearActuator(),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_plant_without_numbers_is_the_machine_that_is_shipped(name):
    """The file says where each number comes from; the class has the same."""
    assert different(numbers(SHIPPED[name]), numbers(machine(name).plant)) == []


@pytest.mark.parametrize("name", SHIPPED)
def test_any_other_number_is_seen(name):
    shipped = numbers(machine(name).plant)
    floats = [path for path, value in shipped.items() if isinstance(value, float)]
    assert len(floats) >= 7
    for path in floats:
        moved = shipped | {path: shipped[path] * (1 + 1e-9) + 1e-30}
        assert different(moved, shipped) == [path]


def test_a_cylinder_of_the_actuator_holds_its_area_times_its_stroke():
    """v_c/S_c = 10 cm, from stop to stop, and both sides alike, [Alfayad16] Table 1."""
    plant = IEHA()
    stroke = 2 * plant.stop_Y.limit
    assert plant.V_A0 == pytest.approx(plant.S_A * stroke, rel=1e-4)
    assert (plant.V_B0, plant.S_B) == (plant.V_A0, plant.S_A)


def test_a_manipulator_without_a_supply_has_that_of_the_shipped_crane():
    crane = machine("hiab-xs031").plant
    bare = Manipulator("bare", crane.structures)
    kept = ("p_s", "p_r", "Q_max", "g", "oil")
    assert [getattr(bare, key) for key in kept] == [getattr(crane, key) for key in kept]


def test_a_valve_without_numbers_is_the_lift_valve_without_its_spool():
    """NG6 in [Petrovic22]: 40 l/min at 35 bar per notch, ±10 V."""
    lift = machine("hiab-xs031").plant.structures[0].revolute.cylinder
    ours = Valve()
    assert different(numbers(ours), numbers(lift.valve)) == [".lag", ".slew"]
    assert 10 * ours.c_p1 * (35 * BAR) ** 0.5 == ROUNDING(40 * LITRE / 60)
    assert Valve.from_nominal(40 * LITRE / 60, 35 * BAR) == ours
    assert nominal(1.0, 4.0) == ROUNDING(1 / 20)
    assert ours.slew >= 1e4 * ours.u_max * 2 * pi * ours.frequency  # in effect none
    assert CoulombViscous() == lift.friction


FALLING = (Stribeck, BengisuAkay, BrownMcPhee, LuGre, ModifiedLuGre)


@pytest.mark.parametrize("law", FALLING)
def test_friction_laws_start_from_the_same_four_numbers(law):
    """What is compared with defaults differs by the law alone; breakaway is half as much again as Coulomb friction."""
    ours = law()
    first = FALLING[0]()
    assert (ours.F_c, ours.F_s, ours.v_s, ours.b) == (first.F_c, first.F_s, first.v_s, first.b)
    assert ours.F_s == 1.5 * ours.F_c and ours.F_c == 0.75 * CoulombViscous().F_c
    assert ours.b * ours.v_s == ROUNDING(0.02 * ours.F_c)  # at v_s viscous friction is small


def test_bristles_start_alike():
    """n = 2 is the Gaussian of [Canudas95]; ζ of a ton on its bristles is σ_1/(2 √(σ_0 m)) = 0.2."""
    one, other = LuGre(), ModifiedLuGre()
    assert (one.σ_0, one.σ_1, one.n) == (other.σ_0, other.σ_1, other.n)
    assert one.n == 2.0
    assert one.σ_1 / (2 * (one.σ_0 * 1e3) ** 0.5) == pytest.approx(0.2)
    assert one.F_s / one.σ_0 == pytest.approx(0.45e-3)  # m, before the rod breaks away
    assert 10 * other.τ_hp == other.τ_hn and 40 * other.τ_hn == other.τ_h0
    assert other.τ_hp == pytest.approx(1 / 20) and other.v_b == 4 * other.v_s
    assert BengisuAkay().ξ * BengisuAkay().v_s == pytest.approx(1.0, rel=0.02)
    assert other.width < Stribeck().width == CoulombViscous().width


COEFFICIENT = 0.6 * 1e-4 * (2 / 850) ** 0.5  # C a √(2/ρ) of [Kikuuwe21] (66)
ORIFICES = ("c_ph", "c_pr", "c_th", "c_tr", "c_a")


def test_the_metering_circuit_is_that_of_the_paper():
    """[Kikuuwe21] (66)."""
    (section,) = Circuit().sections
    pump = Circuit().pump
    assert section == Section() and pump == Pump()
    assert (section.A_h, section.A_r) == (0.024, 0.012)
    assert (section.P_hM, section.P_rM, pump.P_M) == (42e6, 40e6, 36e6)
    assert pump.Q == ROUNDING(500 * LITRE / 60)
    for part in (section, Motor()):
        for key in ORIFICES:
            assert getattr(part, key) == ROUNDING(COEFFICIENT), key
    assert pump.c_b == ROUNDING(COEFFICIENT)
    motor = Motor()
    assert (motor.P_hM, motor.P_rM) == (section.P_hM, section.P_rM)
    assert motor.D_h == motor.D_r == ROUNDING(40e-3 * LITRE)


def test_the_metered_arm_is_that_of_the_paper():
    """[Kikuuwe21] (89) and below; base and start are ours, such that the relief opens when theirs does."""
    arm = Arm()
    assert (arm.L_g, arm.L_m, arm.L_f) == (1.5, 0.6, 3.0)
    assert (arm.M, arm.J, arm.α) == (2000.0, 5000.0, pi / 4)
    assert (arm.r_bx, arm.r_by, arm.θ_0) == (-1.2, -1.2, ROUNDING(-pi / 6))
    plant = MeteredArms()
    assert plant.arms == (replace(arm, K=5e7, B=2.5e6),)
    assert plant.g == 9.8 and plant.pump == Pump()
    turned = MotorArm(i=100.0)
    for key in ("L_g", "L_f", "M", "J", "θ_0"):
        assert getattr(turned, key) == getattr(arm, key), key


def test_the_metered_crane_has_the_pump_flow_of_the_crane():
    crane = machine("hiab-xs031").plant
    plant = MeteredCrane(crane)
    assert plant.pump.Q == crane.Q_max
    assert plant.pump.P_M == ROUNDING(crane.p_s - crane.p_r)
    assert plant.P_hM == plant.P_rM == 250 * BAR


def test_the_work_cycle_of_the_four_bar():
    """[Jaiswal21] (46): 10 V from 1 s to 2.5 s, −10 V from 5 s to 8 s, nothing else."""
    wanted = {0.5: 0.0, 1.2: 10.0, 2.4: 10.0, 2.6: 0.0, 4.9: 0.0, 5.1: -10.0, 7.9: -10.0, 8.1: 0.0}
    for at, volts in wanted.items():
        assert WORK_CYCLE.sample(at, 0) == volts, at


def test_planned_speeds_are_what_the_valves_let_through():
    """Three quarters of 40 l/min into the head side, rounded down; the largest rate is reached within half a second."""
    crane = machine("hiab-xs031").plant
    cylinders = (
        crane.structures[0].revolute.cylinder,
        crane.structures[1].revolute.cylinder,
        crane.structures[1].prismatic.cylinder,
    )
    for cylinder, speed, acceleration in zip(cylinders, SPEEDS, ACCELERATIONS):
        let_through = 0.75 * 40 * LITRE / 60 / cylinder.A_a
        assert speed == pytest.approx(let_through, rel=0.03)
        assert speed / acceleration == pytest.approx(0.5)


def test_the_penalty_method_has_the_papers_settings():
    """[Jaiswal21] section 5: α = 1e11; 1e-7 rad, m or V and 1e-2 Pa."""
    ours = Penalty()
    assert (ours.α, ours.tolerance, ours.pressure_tolerance) == (1e11, 1e-7, 1e-2)


EXAMPLE = Path(__file__).parents[1] / "examples" / "hiab-xs031.yaml"


def test_the_first_example_states_the_defaults():
    """Its comment says that everything but the plant may be left out: controller, loop, path and claims are then the same."""
    text = EXAMPLE.read_text("utf-8")
    assert "the values below are the defaults" in text
    whole = loads(text)
    alone = loads("plant: {machine: hiab-xs031}\n")
    assert different(numbers(whole.loop), numbers(alone.loop)) == []
    assert numbers(whole.scenario) == numbers(alone.scenario)
    assert whole.claims == alone.claims and len(whole.claims) >= 14
