"""Metered sections on a pump they share: the crane's pistons driven so are the metered crane; and either drive on either supply."""

from dataclasses import replace

import numpy as np
import pytest
from crane_as_mechanism import as_mechanism, rates_of, translated
from mechanisms import lift
from test_metered_crane import BRISTLES, CRANE, drawn

from plants import (
    ConstantPressure,
    Cylinder,
    LoadSensing,
    MeteredCrane,
    MeteredSection,
    ServoCylinder,
    SharedPump,
)
from plants.components.friction import CoulombViscous
from plants.drives.metering import VALVES
from workbench import InputError, Scenario, simulate
from workbench.cases.file import loads
from workbench.contract.system import names

WAYS = (VALVES[:2], VALVES[2:])  # where oil goes in and out; a shut relief alone takes rounding


def metered(plant: MeteredCrane):
    """The same as a mechanism."""
    given = (plant.crane.oil, plant.P_hM, plant.P_rM, plant.τ)
    return as_mechanism(
        plant.crane,
        plant.initial()[: plant.n],
        drive=lambda segment, closed: MeteredSection(segment.cylinder, closed, *given),
        method="minimal",
        supply=SharedPump(plant.pump, plant.u_b, plant.V_p, plant.G, plant.crane.oil.β),
    )


@pytest.mark.parametrize("plant", [CRANE, BRISTLES], ids=["Coulomb", "bristles"])
def test_the_crane_with_metered_sections_is_the_metered_crane(plant):
    """rhs, logged signals, every power and the oil's energy, to 1e-12 of their range over random states."""
    mechanism, rng = metered(plant), np.random.default_rng(2)
    shown_as = {"f_K": "f_K", "f_p": "f", "P_h": "P_h", "P_r": "P_r", "Q_s": "Q_p"}
    ours, theirs = [], []
    for _ in range(12):
        x, u = drawn(rng, plant)
        u[plant.n :] = [0.0] * 3
        commands = u[: plant.n]
        y = translated(plant, mechanism, x)
        logged = dict(zip(names(mechanism.monitors), mechanism.monitor(0.0, y, commands)))
        wanted = dict(zip(names(plant.monitors), plant.monitor(0.0, x, u)))
        powers = dict(zip(mechanism.power_names, mechanism.powers(0.0, y, commands)))
        causes = dict(zip(plant.power_names, plant.powers(0.0, x, u)))
        oil = mechanism.stored(0.0, y, commands) - sum(mechanism.energies(*mechanism.split(y)[:2]))
        whole, given = plant._whole(x, u)
        ours.append(
            [
                *mechanism.rhs(0.0, y, commands),
                *(logged[f"{mine}_c{k}"] for mine in shown_as for k in plant.labels),
                *(sum(powers[f"{v}_c{k}"] for v in way) for way in WAYS for k in plant.labels),
                *(powers[cause] for cause in ("pump", "bleed", "relief")),
                *(
                    sum(powers[f"{cause}_c{k}"] for k in plant.labels)
                    for cause in ("oil", "friction")
                ),
                -sum(powers[f"supply_c{k}"] for k in plant.labels),
                oil,
            ]
        )
        theirs.append(
            [
                *rates_of(plant, mechanism, x, u),
                *(wanted[f"{name}_{k}"] for name in shown_as.values() for k in plant.labels),
                *(sum(causes[f"{v}_{k}"] for v in way) for way in WAYS for k in plant.labels),
                *(causes[cause] for cause in ("pump", "bleed", "relief", "oil", "friction")),
                powers["delivered"],
                plant.stored(0.0, x, u) - plant.crane.stored(0.0, whole, given),
            ]
        )
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    size = np.abs(theirs).max(axis=0)
    assert (np.abs(ours - theirs) <= 1e-12 * np.maximum(size, 1e-3)).all()


def test_it_starts_runs_and_is_limited_as_the_metered_crane():
    mechanism = metered(CRANE)
    start = translated(CRANE, mechanism, CRANE.initial())
    assert mechanism.initial() == pytest.approx(start, rel=1e-9, abs=1e-12)
    command = {"u_c_1": 0.2, "u_c_2": -0.15, "u_c_t2": 0.1}
    theirs = simulate(CRANE, Scenario(0.5, disturbances=command))
    ours = simulate(
        mechanism, Scenario(0.5, disturbances={f"u_c_c{k[4:]}": v for k, v in command.items()})
    )
    for mine, name in (("q_arm1", "q_1"), ("x_rod2", "x_t2"), ("P", "P"), ("P_h_c2", "P_h_2")):
        moved = np.ptp(theirs.array(name))
        assert moved > 0.0
        assert ours.array(mine) == pytest.approx(theirs.array(name), abs=1e-5 * moved)
    for kind in ("vacuum", "pressure", "command"):
        assert sorted((k.low, k.high) for k in mechanism.machine_limits() if k.kind == kind) == (
            sorted((k.low, k.high) for k in CRANE.machine_limits() if k.kind == kind)
        )
    still = [0.0] * len(CRANE.inputs)
    needs = {k.name.split()[1]: k for k in CRANE.holding(CRANE.initial(), still)}
    for k in mechanism.holding(mechanism.initial(), [0.0] * CRANE.n):
        wanted = needs[k.name.removeprefix("actuator c")]
        assert (k.needs, k.low, k.high) == pytest.approx(
            (wanted.needs, wanted.low, wanted.high), rel=1e-9
        )
    ours, theirs = mechanism.scales(), CRANE.scales()
    for kind in ("pressure", "force", "length", "velocity"):
        assert ours[kind].value == pytest.approx(theirs[kind].value, rel=1e-12)
    assert mechanism.cuts_commands and mechanism.loop_rate == CRANE.loop_rate
    assert mechanism.integral_rate == CRANE.integral_rate
    assert mechanism.velocity_gain == pytest.approx(np.mean(CRANE.velocity_gains))


CYLINDER = Cylinder(0.06, 0.035, 0.55, V_a0=5e-4, V_b0=5e-4, friction=CoulombViscous(150.0, 900.0))
DRIVES = {
    "servo": (ServoCylinder(CYLINDER, 0.0), {"u_c": 2.0}),
    "metered": (MeteredSection(CYLINDER, 0.0), {"u_c_c": 0.2}),
}
SUPPLIES = {"constant": ConstantPressure(), "sensing": LoadSensing(), "shared": SharedPump()}


@pytest.mark.parametrize("supply", SUPPLIES.values(), ids=SUPPLIES)
@pytest.mark.parametrize("drive", DRIVES)
def test_every_drive_runs_on_every_supply_and_its_energy_closes(drive, supply):
    made, command = DRIVES[drive]
    plant = lift(made, supply=supply)
    log = simulate(plant, Scenario(0.3, disturbances=command))
    assert log.status.completed and np.ptp(log.array("x_load")) > 5e-3
    stored = log.array("E_stored")
    spent = sum(log.array(f"E_{name}") for name in plant.power_names)
    turned = sum(np.abs(log.array(f"E_{name}")).max() for name in plant.power_names)
    assert np.abs(stored - stored[0] - spent).max() < 1e-6 * turned


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lift(MeteredSection(CYLINDER, 0.5)), "actuators.c: the cylinder reaches from 0.5"),
        (lambda: MeteredSection(CYLINDER, 0.0, τ=0.0), "τ: .*greater than zero"),
        (lambda: MeteredSection(CYLINDER, 0.0, P_hM=-1.0), "P_hM: .*greater than zero"),
        (lambda: SharedPump(V_p=0.0), "V_p: .*greater than zero"),
        (lambda: SharedPump(u_b=1.5), "u_b: .*between 0 and 1"),
        (lambda: SharedPump(G=0.0), "G: .*greater than zero"),
        (
            lambda: simulate(
                lift(MeteredSection(CYLINDER, 0.0)), Scenario(0.1, disturbances={"u_c_c": 1.2})
            ),
            "u_c_c = 1.2 .* which can be -1 to 1",
        ),
    ],
)
def test_wrong_numbers_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_a_pump_that_the_bleed_empties_is_told_at_that_pressure():
    open_bleed = SharedPump(u_b=1.0)
    top = (open_bleed.pump.Q / open_bleed.k_b) ** 2
    assert open_bleed.most.p_s == pytest.approx(min(top, open_bleed.pump.P_M))
    small = replace(open_bleed, pump=replace(open_bleed.pump, Q=4e-4))
    assert small.most.p_s == pytest.approx((4e-4 / small.k_b) ** 2) and small.initial([]) == [
        pytest.approx(small.most.p_s)
    ]


TEXT = """
plant:
  type: Mechanism
  bodies:
    load: {joint: prismatic, axis: [0, 1, 0], mass: 310 kg, start: 20 cm}
  actuators:
    lift:
      joint: load
      drive:
        type: MeteredSection
        closed: 0 m
        cylinder: {bore: 60 mm, rod: 35 mm, stroke: 550 mm, V_a0: 0.5 l, V_b0: 0.5 l}
  supply: {type: SharedPump, u_b: 0.03, pump: {Q: 40 l/min, P_M: 150 bar}}
controller: {law: PID}
scenario: {reference: {type: Sine, space: output, centre: start, amplitude: [5 cm], frequency: 0.1 Hz}, duration: 3 s}
"""


def test_it_is_written_in_a_file():
    case = loads(TEXT, "lift.yaml")
    assert case.plant.supply.pump.P_M == 150e5 and case.plant.supply.u_b == 0.03
    log = simulate(case.loop, case.scenario)
    assert log.status.completed and np.ptp(log.array("s_lift")) > 0.02
    for old, new, words in (
        ("type: MeteredSection", "type: MeteredSektion", "MeteredSection"),
        ("u_b: 0.03", "u_b: 3", "u_b"),
        ("P_M: 150 bar", "P_M: 150 mm", "P_M"),
        ("closed: 0 m", "closed: 30 cm", "the cylinder reaches from 0.3 m"),
    ):
        with pytest.raises(InputError, match=words) as refusal:
            loads(TEXT.replace(old, new), "lift.yaml")
        assert "lift.yaml, line" in str(refusal.value)
