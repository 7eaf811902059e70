"""The electro-hydraulic actuator as a drive: with one mass on a slide it is the plant IEHA; two on an arm; what is refused."""

from dataclasses import fields, replace

import numpy as np
import pytest
from mechanisms import lift
from test_ieha import CONTROL, FIGURES, ODD, random_state

from plants import IEHA, IEHADrive, LuGre
from plants.components.transition import EndStop
from plants.ieha.hydraulics import Hydraulics
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Pin
from workbench import InputError, Scenario, simulate
from workbench.cases.file import loads
from workbench.contract.system import names

PLANTS = {
    "control": CONTROL,
    "odd": ODD,
    "ripple": replace(ODD, detail="ripple"),
    "full": replace(FIGURES, detail="full"),
    "bristles": replace(CONTROL, detail="full", friction=LuGre()),
}


def drive_of(plant: IEHA, **changes) -> IEHADrive:
    """Its hydraulics as a drive."""
    own = {f.name: getattr(plant, f.name) for f in fields(Hydraulics)}
    return IEHADrive(**{**own, **changes})


def as_mechanism(plant: IEHA, **changes) -> Mechanism:
    """A body of its mass on a level slide, with its piston at Y = 0.2 m − middle."""
    body = Body("load", "ground", "prismatic", axis=(1.0, 0.0, 0.0), mass=plant.m, start=0.2)
    drive = drive_of(plant, middle=0.2, **changes)
    return Mechanism((body,), actuators=(Actuator("c", drive, joint="load"),))


def translated(plant, mechanism, x, φ=0.0):
    """A state of the plant, the shaft of its pump at φ, as one of the mechanism."""
    at = dict(zip(names(plant.states), x)) | {"phi": φ}
    found = {"x_load": at["Y"] + 0.2, "dx_load": at["dY"]}
    for name in names(mechanism.drive_states):
        stem = name.removesuffix("_c")
        found[name] = at[stem] if stem in at else at[f"{stem}_Y"]
    return [found[name] for name in names(mechanism.states)]


@pytest.mark.parametrize("which", PLANTS)
def test_with_a_mass_on_a_slide_it_is_the_plant(which):
    """rhs, logged signals, powers and stored energy, to 1e-12 of their range over random states, stops included."""
    plant = PLANTS[which]
    mechanism, rng = as_mechanism(plant), np.random.default_rng(3)
    shown = ("Q", "P_AB", "Q_e", "F_p", "shaft")
    causes = [name for name in plant.power_names if name != "load"]
    ours, theirs = [], []
    for k in range(16):
        x = random_state(rng, plant)
        x[5] += 0.025 * (k % 3 - 1)
        for i, s in enumerate(plant.states):
            x[i] = float(rng.normal()) * 1e-5 if s.name.startswith("z_") else x[i]
        x, X = [float(v) for v in x], float(rng.normal() * 3e-4)
        t = float(rng.uniform(0.0, 0.02))
        y = translated(plant, mechanism, x, plant.pump.ω * t)
        logged = dict(zip(names(mechanism.monitors), mechanism.monitor(0.0, y, [X])))
        wanted = dict(zip(names(plant.monitors), plant.monitor(t, x, [X, 0.0])))
        powers = dict(zip(mechanism.power_names, mechanism.powers(0.0, y, [X])))
        given = dict(zip(plant.power_names, plant.powers(t, x, [X, 0.0])))
        rates = translated(plant, mechanism, plant.rhs(t, x, [X, 0.0]), plant.pump.ω)
        rates[0] -= 0.2
        ours.append(
            [
                *mechanism.rhs(0.0, y, [X]),
                *(logged[f"{name}_c"] for name in shown),
                *(powers[f"{cause}_c"] for cause in causes),
                mechanism.stored(0.0, y, [X]),
            ]
        )
        theirs.append(
            [
                *rates,
                *(wanted[name] for name in shown),
                *(given[cause] for cause in causes),
                plant.stored(t, x, [X, 0.0]),
            ]
        )
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    size = np.abs(theirs).max(axis=0)
    # Y is read off the joint, so 0.2 m of it are taken away again: 1e-16 m on a stop of 1e8 N/m
    stop = 4 * np.spacing(0.2) * plant.stop_Y.k / plant.m
    floor = np.zeros_like(size)
    floor[1] = stop
    assert (np.abs(ours - theirs) <= 1e-12 * np.maximum(size, 1e-6) + floor).all()


def test_it_runs_as_the_plant_and_its_energy_closes():
    plant, mechanism = CONTROL, as_mechanism(CONTROL)
    assert mechanism.adaptive.watched == "E_c" and mechanism.fixed is None
    theirs = simulate(plant, Scenario(0.05, disturbances={"X": 3e-4}))
    ours = simulate(mechanism, Scenario(0.05, disturbances={"X_c": 3e-4}))
    assert np.ptp(theirs.array("Y")) > 1e-3
    assert ours.array("Y_c") == pytest.approx(theirs.array("Y"), abs=1e-8)
    assert ours.array("P_A_c") == pytest.approx(theirs.array("P_A"), abs=50.0)
    stored = ours.array("E_stored")
    spent = sum(ours.array(f"E_{name}") for name in mechanism.power_names)
    turned = sum(np.abs(ours.array(f"E_{name}")).max() for name in mechanism.power_names)
    assert np.abs(stored - stored[0] - spent).max() < 1e-6 * turned


@pytest.mark.parametrize("plant", [CONTROL, ODD], ids=["closed", "open"])
def test_it_starts_at_rest_under_a_weight(plant):
    hanging = lift(drive_of(plant, middle=0.3), supply=None)
    weight = Body("load", "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=21.0, start=0.31)
    hanging = replace(hanging, bodies=(weight,))
    x = dict(zip(names(hanging.states), hanging.initial()))
    S_A, S_B = plant.S_A, plant.S_B
    assert S_A * x["P_A_c"] - S_B * x["P_B_c"] == pytest.approx(21.0 * 9.81, rel=1e-9)
    assert hanging.rhs(0.0, hanging.initial(), [0.0])[1] == pytest.approx(0.0, abs=1e-9)
    if plant.circuit == "open":
        assert min(x["P_A_c"], x["P_B_c"]) == pytest.approx(plant.P_T)


def two_joints() -> Mechanism:
    """An arm of two links, each turned by an actuator through a lever arm."""
    bodies = (
        Body(
            "upper",
            mass=3.0,
            com=(0.15, 0.0, 0.0),
            inertia=(0.0, 0.03, 0.03, 0.0, 0.0, 0.0),
            start="-40 deg",
        ),
        Body(
            "fore",
            "upper",
            point=(0.3, 0.0, 0.0),
            mass=2.0,
            com=(0.12, 0.0, 0.0),
            inertia=(0.0, 0.02, 0.02, 0.0, 0.0, 0.0),
            start="30 deg",
        ),
    )
    actuators = (
        Actuator(
            "hip",
            drive_of(CONTROL, middle=0.28),
            Pin("ground", (0.0, 0.06, 0.0)),
            Pin("upper", (0.24, 0.0, 0.0)),
        ),
        Actuator(
            "knee",
            drive_of(CONTROL, middle=0.25),
            Pin("upper", (0.03, 0.05, 0.0)),
            Pin("fore", (0.02, 0.05, 0.0)),
        ),
    )
    return Mechanism(bodies, actuators=actuators)


def test_two_of_them_turn_the_joints_of_an_arm():
    arm = two_joints()
    assert arm.adaptive.watched == "" and len(arm.adaptive.errors) == len(arm.states)
    log = simulate(arm, Scenario(0.1, disturbances={"X_hip": 2e-4, "X_knee": -1e-4}))
    assert log.status.completed
    assert np.ptp(log.array("q_upper")) > 5e-3 and np.ptp(log.array("q_fore")) > 5e-3
    stored = log.array("E_stored")
    spent = sum(log.array(f"E_{name}") for name in arm.power_names)
    turned = sum(np.abs(log.array(f"E_{name}")).max() for name in arm.power_names)
    assert np.abs(stored - stored[0] - spent).max() < 1e-6 * turned
    assert {k.name for k in arm.machine_limits() if k.kind == "valve"} == {
        "carriage hip",
        "carriage knee",
    }
    assert arm.velocity_gain == pytest.approx(CONTROL.velocity_gain)


def test_a_stated_force_limits_what_it_holds():
    weak = lift(drive_of(CONTROL, middle=0.3, F_max=235.0), supply=None)
    (held,) = weak.holding(weak.initial(), [0.0])
    assert (held.low, held.high) == (-235.0, 235.0) and held.room < 0.0
    assert lift(drive_of(CONTROL, middle=0.3), supply=None).holding(weak.initial(), [0.0]) == ()
    assert weak.scales()["force"].value == 235.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: drive_of(CONTROL, S_B=1e-4), "S_B: a closed circuit needs a symmetric cylinder"),
        (lambda: drive_of(CONTROL, F_max=0.0), "F_max: .*greater than zero"),
        (lambda: drive_of(CONTROL, stop_Y=EndStop(0.2)), "stop_Y: at ±0.2 m a chamber is empty"),
        (
            lambda: lift(drive_of(CONTROL, middle=0.5), supply=None),
            "actuators.c: the cylinder reaches from 0.45 m to 0.55 m",
        ),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


TEXT = """
plant:
  type: Mechanism
  gravity: [0, 0, 0]
  bodies:
    load: {joint: prismatic, axis: [1, 0, 0], mass: 10 kg}
  actuators:
    c:
      joint: load
      drive: {type: IEHADrive, middle: 1 cm, b_v: 375 N s/m, F_max: 235 N}
controller: OpenLoop
scenario: {duration: 20 ms, disturbances: {X_c: 0.2 mm}}
"""


def test_it_is_written_in_a_file():
    case = loads(TEXT, "ieha.yaml")
    assert case.plant.actuators[0].drive == IEHADrive(middle=0.01, F_max=235.0)
    log = simulate(case.loop, case.scenario)
    assert log.status.completed and np.ptp(log.array("x_load")) > 1e-4
    for old, new, words in (
        ("type: IEHADrive", "type: IEHADriv", "IEHADrive"),
        ("middle: 1 cm", "middle: 1 bar", "middle"),
        ("middle: 1 cm", "m: 3 kg", "m"),
        ("F_max: 235 N", "F_max: 235 m", "F_max"),
    ):
        with pytest.raises(InputError, match=words) as refusal:
            loads(TEXT.replace(old, new), "ieha.yaml")
        assert "ieha.yaml, line" in str(refusal.value)
