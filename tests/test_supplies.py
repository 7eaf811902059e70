"""Supplies of a mechanism: on a load-sensing pump the crane as a mechanism is the crane on that pump."""

from dataclasses import replace

import numpy as np
import pytest
from crane_as_mechanism import random_state, rates_of, translated, with_servos
from mechanisms import CYLINDER, hydraulic, lift

from controllers import OpenLoop
from plants import LoadSensing, MeteredSection, SelectedLines, SharedPump, machine
from plants.crane.load_sensing import LoadSensed
from workbench import ClosedLoop, InputError, Scenario, simulate, verify
from workbench.cases.file import loads
from workbench.contract.system import names
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.judge import default_claims

WHOLE = machine("hiab-xs031").plant
CRANES = {"two joints": WHOLE.locked(extension=0.5), "three joints": WHOLE}
PUMPS = {
    "hydraulic": {"margin": 1.7e6, "τ": 0.031, "w": 0.05},
    "electric": {
        "margin": 3e5,
        "τ": 0.017,
        "w": 0.03,
        "nominal": 14e5,
        "flow": 5e-4,
        "standby": 45e5,
    },
}


def pair(crane, **pump):
    """(the crane on that pump, the same as a mechanism)."""
    supply = LoadSensing(**pump, p_top=crane.p_s, p_r=crane.p_r, Q_max=crane.Q_max)
    return LoadSensed(crane, **pump), with_servos(crane, supply=supply)


@pytest.mark.parametrize("pump", PUMPS.values(), ids=PUMPS)
@pytest.mark.parametrize("which", CRANES)
def test_the_crane_on_a_load_sensing_pump_agrees(which, pump):
    """rhs, what is felt and every power, to 1e-12 of their range over random states."""
    crane = CRANES[which]
    plant, mechanism = pair(crane, **pump)
    rng = np.random.default_rng(6)
    ours, theirs = [], []
    for _ in range(8):
        x = [*random_state(crane, rng), float(rng.uniform(30e5, 185e5))]
        u = [float(v) for v in rng.uniform(-8.0, 8.0, crane.n)]
        whole = [*u, *[crane.defaults().get(s.name, 0.0) for s in crane.inputs[crane.n :]]]
        y = translated(plant, mechanism, x)
        shown = dict(zip(names(mechanism.monitors), mechanism.monitor(0.0, y, u)))
        felt = dict(zip(names(plant.monitors), plant.monitor(0.0, x, whole)))["p_L"]
        powers = dict(zip(mechanism.power_names, mechanism.powers(0.0, y, u)))
        causes = dict(zip(plant.power_names, plant.powers(0.0, x, whole)))
        own = [sum(v for k, v in powers.items() if k.startswith(cause)) for cause in CAUSES]
        ours.append([*mechanism.rhs(0.0, y, u), shown["p_L"], *own])
        theirs.append([*rates_of(plant, mechanism, x, whole), felt, *(causes[k] for k in CAUSES)])
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    size = np.abs(theirs).max(axis=0)
    assert (np.abs(ours - theirs) <= 1e-12 * np.maximum(size, 1e-3)).all()
    assert np.ptp(theirs[:, len(mechanism.states) - 1]) > 0.0


CAUSES = ("supply", "tank", "throttling", "compression", "friction")


def test_it_starts_and_runs_as_the_crane_on_that_pump():
    crane = CRANES["two joints"]
    plant, mechanism = pair(crane, margin=1.7e6)
    x = plant.initial()
    assert mechanism.initial() == pytest.approx(
        translated(plant, mechanism, x), rel=1e-9, abs=1e-12
    )
    assert x[-1] == max(x[4:8]) + 1.7e6
    command = {"u_1": 2.0, "u_2": -1.5}
    theirs = simulate(plant, Scenario(0.4, disturbances=command))
    ours = simulate(
        mechanism, Scenario(0.4, disturbances={f"u_c{k[2:]}": v for k, v in command.items()})
    )
    for mine, name in (("q_arm1", "q_1"), ("p_s", "p_s"), ("p_L", "p_L")):
        moved = np.ptp(theirs.array(name))
        assert moved > 0.0
        assert ours.array(mine) == pytest.approx(theirs.array(name), abs=2e-6 * moved)


def test_limits_are_those_of_its_highest_pressure():
    constant, sensing = lift(), lift(supply=LoadSensing())
    assert sensing.holding(sensing.initial(), [0.0]) == constant.holding(constant.initial(), [0.0])
    assert sensing.scales()["pressure"].value == constant.supply.p_s
    assert [k for k in sensing.machine_limits() if k.kind == "flow"] == [
        k for k in constant.machine_limits() if k.kind == "flow"
    ]
    weak = replace(sensing.supply, p_top=60e5)
    assert lift(supply=weak).holding(sensing.initial(), [0.0])[0].high < 185e5 * 3e-3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"margin": 180e5},
            "margin: 180 bar above the return pressure .* more than the pump gives",
        ),
        ({"standby": 190e5}, "standby: 190 bar"),
        ({"p_r": 190e5}, "p_r: the return pressure, 190 bar"),
        ({"τ": 0.0}, "τ: .*greater than zero"),
        ({"w": -1.0}, "w: .*greater than zero"),
    ],
)
def test_wrong_numbers_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        LoadSensing(**change)


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
  supply: {type: LoadSensing, margin: 17 bar, p_top: 160 bar, p_r: 5 bar}
controller: {law: PID}
scenario: {reference: {type: Sine, space: output, centre: start, amplitude: [5 cm], frequency: 0.3 Hz}, duration: 1 s}
"""


def test_it_is_written_in_a_file():
    case = loads(TEXT, "lift.yaml")
    assert case.plant.supply == LoadSensing(17e5, p_top=160e5, p_r=5e5)
    log = simulate(case.loop, case.scenario)
    assert log.status.completed and np.ptp(log.array("s_lift")) > 0.02
    p_s = log.array("p_s")
    assert 22e5 <= p_s.min() and p_s.max() <= 160e5
    with pytest.raises(InputError, match="lift.yaml, line 13, plant.supply.margin") as refusal:
        loads(TEXT.replace("margin: 17 bar", "margin: 17 mm"), "lift.yaml")
    assert "bar" in str(refusal.value)
    with pytest.raises(InputError, match="LoadSensing"):
        loads(TEXT.replace("type: LoadSensing", "type: LoadSensng"), "lift.yaml")


def test_what_the_chambers_are_judged_by():
    """One supply pressure where it is a number; bounds of checks and reliefs where drives say so; nothing where parts differ."""
    servo, metered = lift(), lift(MeteredSection(CYLINDER, 0.0), supply=SharedPump())
    assert (servo.p_s, servo.p_r, servo.pressure_limits) == (185e5, 10e5, ())
    assert run_claims.Pressures() in default_claims(ClosedLoop(servo, OpenLoop(servo)))
    assert (metered.p_s, metered.p_r) == (None, None)
    assert metered.pressure_limits == (-0.3e5, 1.1 * 250e5)
    asked = default_claims(ClosedLoop(metered, OpenLoop(metered)))
    assert run_claims.Pressures(*metered.pressure_limits) in asked
    sensing = lift(supply=LoadSensing())
    assert sensing.p_s is None and sensing.pressure_limits == ()
    assert hydraulic().p_s is None and hydraulic().pressure_limits == ()
    loop, pushed = ClosedLoop(servo, OpenLoop(servo)), {"p_a_c": 60e5, "p_b_c": 91e5}
    given = Scenario(0.05, offset=pushed)
    (within,) = verify(loop, given, (run_claims.Pressures(),))
    (beyond,) = verify(loop, given, (run_claims.Pressures(high=180e5),))
    assert within.holds is True and "231.25 bar" in within.claim  # 1.25 times the supply
    assert beyond.holds is False and "p_b_c = 188.5 bar" in beyond.worst


# ---- two lines --------------------------------------------------------------------------------------------------------
def test_every_drive_is_on_the_lower_line_that_moves_it():
    """p_s,i goes to the low line, to the high one, or in between, by what its open port asks for; a shut one to the low line."""
    plant = lift(supply=SelectedLines(("c",), 84e5, 170e5, 7e5, 0.013, 3e5))
    at = names(plant.states)
    x = plant.initial()
    assert names(plant.monitors)[-1] == "p_L_c" and plant.supply_names == ("p_s_c",)
    assert plant.supply_range == (84e5, 170e5)
    x[at.index("p_s_c")] = 100e5
    for p_a, line in ((77e5, 170e5), (74e5, 84e5), (75.5e5, 127e5)):
        x[at.index("p_a_c")] = p_a
        (rate,) = plant.rhs(0.0, x, [5.0])[-1:]
        assert 100e5 + 0.013 * rate == pytest.approx(line, rel=1e-12)
    assert 100e5 + 0.013 * plant.rhs(0.0, x, [0.0])[-1] == pytest.approx(84e5, rel=1e-12)


def test_two_lines_name_their_drives_and_serve_no_metering_valves():
    with pytest.raises(InputError, match=r"the actuators that take oil are c") as refusal:
        lift(supply=SelectedLines(("lift",)))
    assert "drives: [c]" in str(refusal.value)
    with pytest.raises(InputError, match="account of metering valves"):
        lift(MeteredSection(CYLINDER, 0.0), supply=SelectedLines(("c",)))
    with pytest.raises(InputError, match="is not between"):
        SelectedLines(("c",), low=190e5)


@pytest.mark.parametrize("standby, named", [("125 bar", True), ("20 bar", False)])
def test_a_pump_that_stays_at_its_standby_is_named(standby, named):
    """Its margin could be anything: no run shows it."""
    text = TEXT.replace("margin: 17 bar", f"margin: 17 bar, standby: {standby}")
    case = loads(text.replace("duration: 1 s", "duration: 8 s"), "lift.yaml")
    claims = [C.PracticalStability(runs=2)]
    (found,) = verify(case.loop, case.scenario, claims)
    assert found.holds is True
    said = [a for a in found.assumptions if a.text == "the pump's pressure follows the loads"]
    assert [a.holds for a in said] == ([None] if named else [])
    assert all("it stayed at 125 bar, the least it gives" in a.worst for a in said)
