"""Rods behind metering valves on a pump whose line holds no oil, as drives of a mechanism: metered arms are such mechanisms."""

from dataclasses import replace

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from mechanisms import CYLINDER, lift
from oracles import arms

from controllers import VDC
from plants import MeteredArms
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder
from plants.metered_arm import Arm, MotorArm
from plants.supplies.instant_pump import InstantPump
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.circuit import Motor, Pump, Section
from workbench import InputError
from workbench.contract.system import names

ONE = MeteredArms()
SECOND = Section("2", A_h=0.017, A_r=0.011, P_hM=30e6)
TWO = MeteredArms(
    arms=(Arm("1", M=1700.0, α=0.7), Arm("2", θ_0=-0.3, M=900.0, section=SECOND)), u_b=0.2, g=9.7
)
TURNED = MeteredArms(
    arms=(
        MotorArm(i=90.0, name="slew", M=1500.0, section=Motor("slew", D_r=44e-6)),
        Arm("boom", θ_0=-0.4, regeneration="command"),
        Arm("jib", θ_0=-0.6, M=700.0, regeneration="input"),
    )
)


def drawn(rng, plant):
    """A moving state around the start, commands of either sign, forces at the tips."""
    x = []
    for a in plant.arms:
        θ = a.θ_0 + 0.1 * rng.normal()
        x += [θ, 0.2 * rng.normal(), a.length(θ) + 3e-3 * rng.normal() * a.longest_lever]
    u = [
        float(v)
        if s.kind == "disturbance"
        else float(np.clip(w, 0.0 if s.name.startswith("u_a") else -1.0, 1.0))
        for s, v, w in zip(
            plant.inputs,
            2e3 * rng.normal(size=len(plant.inputs)),
            rng.normal(size=len(plant.inputs)),
        )
    ]
    return [float(v) for v in x], u


@pytest.mark.parametrize("plant", [ONE, TWO, TURNED], ids=["one", "two", "motor, regeneration"])
def test_metered_arms_are_this_mechanism(plant):
    """rhs, logged signals, powers and energy are those of the source's equations, to 1e-12 of their range over random states."""
    rng, ours, theirs = np.random.default_rng(2), [], []
    for _ in range(20):
        x, u = drawn(rng, plant)
        parts = (plant.rhs, plant.monitor, plant.powers)
        ours.append([*(v for part in parts for v in part(0.0, x, u)), plant.stored(0.0, x, u)])
        parts = (arms.rhs, arms.monitor, arms.powers)
        theirs.append([*(v for part in parts for v in part(plant, x, u)), arms.stored(plant, x)])
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    size = np.maximum(np.abs(theirs).max(axis=0), 1e-3)
    assert (np.abs(ours - theirs).max(axis=0) / size).max() <= 1e-12


def measured(law, plant, x):
    at = dict(zip(names(plant.outputs), plant.out(0.0, x)))
    return [at[s.name] for s in law.measured]


@pytest.mark.parametrize("plant", [ONE, TURNED], ids=["one", "motor"])
def test_its_ledger_closes_where_the_pump_s_pressure_is_no_state(plant):
    plant = replace(plant, arms=tuple(replace(a, regeneration="none") for a in plant.arms))
    law = VDC(plant.mechanism)
    b = at_random(loop_of(law), 4)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()


def test_a_section_with_the_oil_s_spring_shares_such_a_pump_too():
    """On a pump that keeps its pressure whatever is taken, P as a state and P as a root move it alike."""
    strong = Pump(Q=0.5, P_M=160e5)
    drive = MeteredSection(CYLINDER, 0.0)
    instant, slow = (
        lift(drive, supply=InstantPump(strong, 0.0)),
        lift(drive, supply=SharedPump(strong, 0.0)),
    )
    rng = np.random.default_rng(3)
    for _ in range(8):
        x = [0.3, 0.2 * rng.normal(), 0.3 + 1e-3 * rng.normal()]
        u = [float(rng.uniform(-1.0, 1.0))]
        ours, theirs = instant.rhs(0.0, x, u), slow.rhs(0.0, [*x, strong.P_M], u)
        assert ours == pytest.approx(theirs[:3], rel=1e-9, abs=1e-12)


def test_a_drive_whose_chambers_hold_oil_is_refused_on_it():
    with pytest.raises(InputError, match="a ServoCylinder takes what the pressure of its supply"):
        lift(ServoCylinder(CYLINDER, 0.0), supply=InstantPump())


@pytest.mark.parametrize("plant", [ONE, TURNED], ids=["one", "motor"])
def test_the_law_is_the_same_under_the_arms_own_names(plant):
    plant = replace(plant, arms=tuple(replace(a, regeneration="none") for a in plant.arms))
    own, other = VDC(plant), VDC(plant.mechanism)
    rng, n = np.random.default_rng(8), len(plant.arms)
    x, _ = drawn(rng, plant)
    y, y_o = measured(own, plant, x), measured(other, plant.mechanism, plant.inner(x))
    assert names(own.measured)[:n] == list(plant.joint_names) and y == y_o
    r = [*x[::3], *(float(v) for v in 0.1 * rng.normal(size=3 * n))]
    z = [2e4] * n
    assert own.command(0.0, z, y, r) == other.command(0.0, z, y, r)
    assert names(own.references)[:n] == [f"{name}_d" for name in plant.joint_names]
