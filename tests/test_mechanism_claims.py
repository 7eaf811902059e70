"""Claims that drives and supplies bring to a bare mechanism: valves and their circuit, pressures, the pump of a certificate."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mechanisms import CYLINDER, ROD, lift

from controllers import VDC, OpenLoop
from plants import (
    ConstantPressure,
    InstantPump,
    LoadSensing,
    MeteredSection,
    ServoCylinder,
    SharedPump,
)
from plants.drives.compressible_rod import CompressibleRod
from plants.multibody.mechanism import Actuator, Body, Mechanism
from plants.valve_circuits import Pump, Section
from workbench import ClosedLoop, InputError, Sampled, Scenario, Steps, load, simulate
from workbench.contract.parameters import bind
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.observed import pump
from workbench.verification.observed.passivity import check_passivity, check_unique
from workbench.verification.observed.requirements import check_pressures
from workbench.verification.observed.valve_claims import check_cavitation, check_valve_losses
from workbench.verification.run import Run

EXAMPLES = Path(__file__).parents[1] / "examples"
SECTION = MeteredSection(CYLINDER, 0.0)
PUMP = Pump(Q=4e-3, P_M=190e5)
UP_AND_DOWN = {"u_c_c": Steps("output", (0.0, 0.02, 0.1), (0.02, 0.2, -0.2))}
UP = {"u_c_c": Steps("output", (0.0, 0.02), (0.02, 0.1))}


def two(second):
    """A load on a metered cylinder and one on `second`, on a pump that they share."""
    bodies = [
        Body(name, "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=mass, start=0.3)
        for name, mass in (("load", 310.0), ("other", 190.0))
    ]
    drives = (Actuator("c", SECTION, joint="load"), Actuator("d", second, joint="other"))
    return Mechanism(bodies, actuators=drives, supply=SharedPump(), gravity=(0.0, -9.81, 0.0))


PLANTS = {
    "shared pump": lift(SECTION, supply=SharedPump()),
    "rod on an instant pump": lift(ROD, supply=InstantPump(PUMP, u_b=0.2)),
    "regeneration": lift(replace(ROD, regeneration="command"), supply=SharedPump()),
    "constant pressure": lift(SECTION, supply=ConstantPressure()),
    "load sensing": lift(SECTION, supply=LoadSensing()),
    "beside a servo valve": two(ServoCylinder(CYLINDER, 0.0)),
}


@pytest.fixture(scope="module")
def runs():
    ways = {"regeneration": UP}
    return {name: ran(p, ways.get(name, UP_AND_DOWN), 0.15) for name, p in PLANTS.items()}


def ran(plant, commands, duration):
    """A run of the plant alone."""
    loop = ClosedLoop(plant, OpenLoop(plant))
    scenario = Scenario(duration, disturbances=commands)
    return Run(loop, scenario, simulate(loop, scenario, compiled=False))


def again(run: Run) -> Run:
    """The same run, nothing read off it yet."""
    return Run(run.loop, run.scenario, run.log)


# ---- valves -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PLANTS)
def test_the_pumps_energy_is_found_again_valve_by_valve(runs, name):
    run = runs[name]
    verdict = check_valve_losses(run_claims.ValveLosses(share=1e-6), run)
    assert (verdict.holds, verdict.strength) == (True, "numerical"), verdict.worst
    by = verdict.data["by"]
    assert by["pump"] > 10.0 and by["ph_c"] > 0.0 and by["tr_c"] > 0.0
    asked = {type(claim) for claim in default_claims(run.loop, run.scenario)}
    assert {run_claims.ValveLosses, run_claims.NoCavitation, C.UniqueVelocity} <= asked
    assert (C.IncrementalPassivity in asked) is (name != "load sensing")


FAULTS = {"dropped": lambda p: 0.0 * p, "sign": lambda p: -p, "coefficient": lambda p: 1.02 * p}


@pytest.mark.parametrize("change", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize(
    ("name", "valve"),
    [
        ("shared pump", "ph_c"),
        ("shared pump", "bleed"),
        ("rod on an instant pump", "tr_c"),
        ("constant pressure", "ph_c"),
        ("load sensing", "tr_c"),
    ],
)
def test_a_fault_in_one_valve_is_found_at_that_valve(runs, name, valve, change, monkeypatch):
    honest = Mechanism.powers

    def told(plant, *given):
        found = honest(plant, *given)
        return [change(p) if k == valve else p for k, p in zip(plant.power_names, found)]

    monkeypatch.setattr(Mechanism, "powers", told)
    verdict = check_valve_losses(run_claims.ValveLosses(), again(runs[name]))
    assert verdict.holds is False and verdict.worst.startswith(f"{valve}: the model's account has")


@pytest.mark.parametrize("supply", [SharedPump(), ConstantPressure()], ids=["pump", "constant"])
def test_valves_of_compressible_oil_are_accounted_for_in_any_machine(supply, monkeypatch):
    """Each valve by its drive's name, and one whose power the model doubles is found."""
    run = ran(lift(CompressibleRod(ROD), supply=supply), UP_AND_DOWN, 0.1)
    verdict = check_valve_losses(run_claims.ValveLosses(share=1e-6), run)
    assert verdict.holds is True, verdict.worst
    by = verdict.data["by"]
    assert by["ph_c"] > 0.0 and by["tr_c"] > 0.0 and {"rod_c", "h_limits_c"} <= set(by)
    asked = {type(claim) for claim in default_claims(run.loop, run.scenario)}
    assert {run_claims.ValveLosses, run_claims.NoCavitation} <= asked
    assert C.UniqueVelocity not in asked
    honest = Mechanism.powers

    def told(plant, *given):
        found = honest(plant, *given)
        return [2 * p if k == "tr_c" else p for k, p in zip(plant.power_names, found)]

    monkeypatch.setattr(Mechanism, "powers", told)
    verdict = check_valve_losses(run_claims.ValveLosses(), again(run))
    assert verdict.holds is False and verdict.worst.startswith("tr_c: the model's account has")


@pytest.mark.parametrize("key", ["c_ph", "c_tr"])
def test_a_coefficient_that_the_model_has_not_is_found_at_its_valve(runs, key, monkeypatch):
    honest = MeteredSection.metering

    def worn(drive, label):
        section = honest(drive, label)
        return bind(section, {key: 0.9 * getattr(section, key)})

    monkeypatch.setattr(MeteredSection, "metering", worn)
    verdict = check_valve_losses(run_claims.ValveLosses(), again(runs["shared pump"]))
    assert verdict.holds is False and verdict.worst.startswith(f"{key[2:]}_c")


def test_a_pump_that_gives_less_leaves_a_gap(runs, monkeypatch):
    honest = SharedPump.account

    def weak(supply, P, flow, rate):
        account = honest(supply, P, flow, rate)
        return account._replace(given=0.9 * account.given)

    monkeypatch.setattr(SharedPump, "account", weak)
    verdict = check_valve_losses(run_claims.ValveLosses(), again(runs["shared pump"]))
    assert verdict.holds is False and "is nobody's" in verdict.worst


def test_lowering_faster_than_the_pump_fills_cavitates_and_slowly_does_not(runs):
    slow = check_cavitation(run_claims.NoCavitation(drawn=1e-9), runs["shared pump"])
    assert slow.holds, slow.worst
    starved = lift(SECTION, supply=InstantPump(Pump(Q=2e-5, P_M=175e5), u_b=0.0))
    fast = check_cavitation(run_claims.NoCavitation(drawn=1e-9), ran(starved, {"u_c_c": -0.9}, 0.2))
    assert fast.holds is False and fast.worst.startswith("P_r_c")


def test_one_velocity_and_passivity_are_proven_and_refused(runs, monkeypatch):
    run = runs["shared pump"]
    assert check_unique(C.UniqueVelocity(samples=20), run).strength == "proof"
    assert check_passivity(C.IncrementalPassivity(samples=50), run).strength == "proof"
    with pytest.raises(InputError, match="load-sensing pump follows the loads"):
        check_passivity(C.IncrementalPassivity(), runs["load sensing"])
    broken = object.__new__(Section)  # an orifice through which flow falls with its pressure drop
    for key, value in vars(SECTION.metering("c")).items():
        object.__setattr__(broken, key, -value if key == "c_ph" else value)
    monkeypatch.setattr(MeteredSection, "metering", lambda drive, label: broken)
    for verdict in (
        check_unique(C.UniqueVelocity(samples=5), run),
        check_passivity(C.IncrementalPassivity(samples=5), run),
    ):
        assert verdict.holds is None and "c.c_ph" in verdict.worst


def test_a_mechanism_without_metering_valves_is_refused():
    plant = lift()
    assert plant.valves is None
    run = ran(plant, {}, 0.01)
    for check, claim in (
        (check_valve_losses, run_claims.ValveLosses()),
        (check_unique, C.UniqueVelocity()),
        (check_passivity, C.IncrementalPassivity()),
    ):
        with pytest.raises(InputError, match="mechanism with metered drives"):
            check(claim, run)


# ---- pressures --------------------------------------------------------------------------------------------------------------
def pressures(plant, **rows):
    """The default claim on pressures, judged on a run at rest whose log has these values at its end instead."""
    run = ran(plant, {}, 0.02)
    loop, scenario = run.loop, run.scenario
    (claim,) = (c for c in default_claims(loop, scenario) if isinstance(c, run_claims.Pressures))
    values = run.log.values.copy()
    for name, value in rows.items():
        values[-1, [s.name for s in run.log.signals].index(name)] = value
    return check_pressures(claim, Run(loop, scenario, replace(run.log, values=values)))


@pytest.mark.parametrize("supply", [ConstantPressure(), LoadSensing()], ids=["constant", "sensing"])
def test_chambers_of_a_servo_valve_are_held_to_the_highest_supply_pressure(supply):
    """Limits by hand: 1 bar, and 1.25 times 185 bar, also where the pressure of the instant is lower."""
    plant = lift(supply=supply)
    assert pressures(plant, p_a_c=230e5).holds
    assert pressures(plant, p_a_c=232e5).holds is False
    assert pressures(plant, p_b_c=0.9e5).holds is False


def test_metered_chambers_are_held_to_their_own_limits():
    plant = lift(SECTION, supply=SharedPump())
    assert pressures(plant).holds
    broken = pressures(plant, P_h_c=280e5)  # a rod at rest leaves open which pressures it has
    assert not broken.holds and "P_h_c" in broken.worst


def test_what_nobody_states_is_said():
    """Pressures above the tank's on one pump: no number says what a servo valve's chambers may have."""
    plant = PLANTS["beside a servo valve"]
    asked = default_claims(ClosedLoop(plant, OpenLoop(plant)), Scenario(0.1))
    (unasked,) = (claim for claim in asked if isinstance(claim, run_claims.Unasked))
    assert "pressures" in dict(unasked.items)


# ---- the pump of a certificate ----------------------------------------------------------------------------------------------
def assumed(plant, law, **rows):
    """The assumptions about the pump on a run of two rows."""
    still = {"u_s_c": 0.0, "u_c": 0.0, "ds_c": 0.0, "f_p_c": 0.0, "p_s": 100e5}
    log = SimpleNamespace(
        time=np.array([0.0, 1.0]),
        array=lambda name: np.array(rows.get(name, [still[name]] * 2)),
    )
    loop = SimpleNamespace(plant=plant, controller=law)
    return list(pump.pump(SimpleNamespace(loop=loop, log=log)))


def test_what_vdc_of_a_mechanism_asks_of_its_pump():
    plant = lift(supply=LoadSensing(), method="minimal")
    told, within, fills, waits = assumed(plant, Sampled(VDC(plant), 1e-3), p_s=[30e5, 185e5])
    assert told.holds and within.holds and fills.holds and waits.holds
    blind = Sampled(VDC(lift(method="minimal")), 1e-3)
    assert assumed(plant, blind)[0].holds is False
    assert assumed(plant, blind, p_s=[29e5, 100e5])[1].holds is False
    assert assumed(plant, blind, p_s=[100e5, 186e5])[1].holds is False
    sinking = {"u_c": [0.0, -1.0], "u_s_c": [0.0, -1.0], "ds_c": [0.0, -0.05], "f_p_c": [6e4, 6e4]}
    low = assumed(plant, blind, p_s=[38e5, 38e5], **sinking)[2]
    assert low.holds is False and "cylinder c" in low.text and "t = 1.00 s" in low.worst
    need = float(low.worst.split("not the ")[1].split(" bar")[0]) * 1e5
    enough = [need + 1e5, need + 1e5]
    assert assumed(plant, blind, p_s=enough, **sinking)[2].holds


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("excavator-ls", {"Pressures"}),
        (
            "excavator-imv",
            {"Pressures", "NoCavitation", "ValveLosses", "UniqueVelocity", "IncrementalPassivity"},
        ),
    ],
)
def test_shipped_excavators_are_asked_by_default(name, more):
    case = load(EXAMPLES / f"{name}.yaml")
    assert more <= {type(claim).__name__ for claim in default_claims(case.loop, case.scenario)}
