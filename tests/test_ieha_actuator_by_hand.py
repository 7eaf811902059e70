"""The electro-hydraulic actuator as plant and as drive: signals of every detail, delivery of its pump, limits, starts, defaults."""

from dataclasses import replace
from math import pi
from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.friction import Frictionless, LuGre
from plants.components.micro_valve import Distributor, Ways
from plants.components.orifice import root
from plants.components.radial_pump import RadialPump
from plants.components.transition import EndStop
from plants.drives.ieha_drive import IEHADrive
from plants.drives.outer_force import OuterForce
from plants.ieha import energy
from plants.ieha.actuator import DETAILS, IEHA
from plants.ieha.hydraulics import STEP_ERRORS, Hydraulics
from plants.ieha.statements import named
from workbench.contract.errors import InputError
from workbench.contract.system import names

PUMP = RadialPump(N=3, S_p=0.17e-4, k_p=2e-14, ω=271.0, P_rp=7e5)
RUBS = LuGre(F_c=40.0)
DRIVES = {
    detail: IEHADrive(detail=detail, pump=PUMP, friction=RUBS, stop_E=EndStop(0.4e-3), stop_Y=EndStop(0.04), middle=0.3)
    for detail in DETAILS
}  # fmt: skip
PLANTS = {detail: IEHA(detail=detail, pump=PUMP, friction=RUBS, m=7.3) for detail in DETAILS}
TURNS = {"averaged": [], "ripple": ["phi"], "full": ["phi", "p_1", "p_2", "p_3"]}


# ---- signals -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("detail", DETAILS)
def test_signals_of_every_detail(detail):
    drive, plant = DRIVES[detail], PLANTS[detail]
    own = ["E", "dE", "zeta", "P_A", "P_B"]
    bristles = names(RUBS.states("a"))
    assert names(drive.states("a")) == [f"{k}_a" for k in (*own, *TURNS[detail])] + bristles
    pistons = TURNS[detail][1:]
    assert names(plant.states) == [*own, "Y", "dY", *pistons, *names(RUBS.states("Y"))]
    shown = ["Q", "P_AB", "Q_e", "F_p", "shaft", "f_f"]
    assert names(drive.logged("a")) == ["Y_a", *(f"{k}_a" for k in shown)]
    assert names(plant.monitors) == shown and names(drive.inputs("a")) == ["X_a"]
    units = {s.name: s.unit for s in (*plant.states, *plant.monitors, *drive.pump_signals())}
    assert [units[k] for k in own] == ["m", "m/s", "Pa", "Pa", "Pa"]
    assert [units[k] for k in shown] == ["m^3/s", "Pa", "m^3/s", "N", "W", "N"]
    assert drive.turning is (detail != "averaged") and drive.pressures("a") == ("P_A_a", "P_B_a")
    gap = () if detail == "full" else (energy.GAP,)
    assert drive.causes == (*energy.NAMES, *gap)
    assert drive.power_names("a") == tuple(f"{cause}_a" for cause in drive.causes)
    label = ("phi_Y",) if drive.turning else ()
    assert tuple(plant.timed(2.0)) == label and plant.timed(2.0).get("phi_Y", 542.0) == 542.0
    assert named("Q", "") == "Q" and named("Q", "a") == "Q_a"


def test_what_shows_no_friction_that_has_none():
    assert names(Hydraulics().shown_signals()) == ["Q", "P_AB", "Q_e", "F_p", "shaft"]
    assert not Hydraulics().rubs and DRIVES["full"].rubs
    assert [s.name for s in DRIVES["full"].pump_signals("b")][-1] == "p_3_b"


@pytest.mark.parametrize("detail", DETAILS)
def test_errors_that_steps_may_make(detail):
    errors = DRIVES[detail].step_errors("a")
    own = [1e-10, 1e-5, 150.0, 0.1, 0.1]
    turns = {"averaged": [], "ripple": [1e-9], "full": [1e-9, 1e3, 1e3, 1e3]}[detail]
    assert errors == (*own, *turns, STEP_ERRORS["z"])
    assert (STEP_ERRORS["Y"], STEP_ERRORS["dY"], STEP_ERRORS["h"]) == (1e-9, 2e-8, 1e-7)
    assert STEP_ERRORS["z"] == 1e-11 and DRIVES[detail].velocity_gain > 0
    found = dict(zip(names(PLANTS[detail].states), PLANTS[detail].adaptive.errors, strict=True))
    assert (found["E"], found["Y"], found["dY"]) == (1e-10, 1e-9, 2e-8)
    assert PLANTS[detail].adaptive.watched == "E"
    assert DRIVES[detail].edges("a") == ("E_a", DRIVES[detail].distributor.edges())


# ---- the pump ----------------------------------------------------------------------------------------------------------------
E, ED, P_A, P_B = 5.5e-6, 0.02, 30e5, 12e5
STATE = [E, ED, 1e5, P_A, P_B, 0.01, 0.05, 8e5, 25e5, 14e5]


@pytest.mark.parametrize("E", [5.5e-6, -5.5e-6])
def test_the_averaged_pump(E):
    """Q = N S_p ω E/π less its loss, on the way that is open; F_p against the mean of both ports; the shaft gives p Q."""
    drive, x = DRIVES["averaged"], [E, *STATE[1:]]
    ways = drive.distributor.ways(E)
    p_1, p_2 = 7e5 + ways.B * (P_B - 7e5), 7e5 + ways.A * (P_A - 7e5)
    assert drive.port_pressures(P_A, P_B, ways) == pytest.approx((p_1, p_2))
    Q = 3 * 0.17e-4 * 271.0 * E / pi
    made = drive.delivery(0.0, x)
    assert made.Q_A == pytest.approx(ways.A * (Q + PUMP.mean_loss(E, P_A, 8e8)))
    assert made.Q_B == pytest.approx(ways.B * (-Q + PUMP.mean_loss(E, P_B, 8e8)))
    assert made.F_p == pytest.approx(PUMP.mean_force(E, p_1, p_2)) and made.rates == []
    assert made.torque == pytest.approx(Q * (p_2 - p_1) / 271.0)
    assert 0 < max(ways.A, ways.B) < 1


@pytest.mark.parametrize("E", [5.5e-6, -5.5e-6])
def test_ideal_pistons_one_by_one(E):
    drive, x = DRIVES["ripple"], [E, *STATE[1:]]
    ways = drive.distributor.ways(E)
    pistons = PUMP.pistons(0.4, E)
    p = PUMP.at_ports(pistons, *drive.port_pressures(P_A, P_B, ways))
    Q_1, Q_2 = PUMP.delivery(pistons, ED)
    made = drive.delivery(0.4, x)
    assert made.Q_A == pytest.approx(ways.A * (Q_2 + PUMP.mean_loss(E, P_A, 8e8)))
    assert made.Q_B == pytest.approx(ways.B * (Q_1 + PUMP.mean_loss(E, P_B, 8e8)))
    assert (made.F_p, made.torque) == pytest.approx(
        (PUMP.force(pistons, p), PUMP.torque(pistons, p))
    )
    assert made.rates == []


def test_pistons_with_oil_of_their_own(monkeypatch):
    """Each takes from the intake where a port leads there, and gives to A by port 2 and to B by port 1; V/β ṗ is what is left."""
    drive, p = DRIVES["full"], STATE[7:]
    ways = Ways(A=0.25, B=0.5, intake_1=0.7, intake_2=0.9)
    monkeypatch.setattr(Distributor, "ways", lambda self, e: ways)
    area = drive.c * pi * 4e-6
    assert drive.c == pytest.approx(0.62 * np.sqrt(2 / 840)) and drive.pistons(STATE) == p
    flow = lambda drop: root(drop, 1e3)
    given, rates = [], []
    for piston, q in zip(PUMP.pistons(0.4, E), p):
        open_1, open_2 = PUMP.openings(piston)
        fed = area * (0.7 * open_1 + 0.9 * open_2) * flow(7e5 - q)
        to_A, to_B = area * 0.25 * open_2 * flow(q - P_A), area * 0.5 * open_1 * flow(q - P_B)
        given.append((fed, to_A, to_B))
        left = fed - to_A - to_B - PUMP.swept(piston, ED) - 2e-14 * q
        rates.append(8e8 / PUMP.volume(piston.L) * left)
    found = drive.exchanged(0.4, E, P_A, P_B, p)
    assert [f[1:] for f in found] == [pytest.approx(g) for g in given]
    made = drive.delivery(0.4, STATE)
    assert made.rates == pytest.approx(rates)
    assert (made.Q_A, made.Q_B) == pytest.approx(
        (sum(g[1] for g in given), sum(g[2] for g in given))
    )
    pistons = PUMP.pistons(0.4, E)
    assert (made.F_p, made.torque) == pytest.approx(
        (PUMP.force(pistons, p), PUMP.torque(pistons, p))
    )
    assert min(sum(map(abs, g)) for g in given) > 0


# ---- as a plant --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("detail", DETAILS)
def test_it_starts_in_the_middle_with_its_pump_recirculating(detail):
    plant = PLANTS[detail]
    pistons = [7e5] * (3 if detail == "full" else 0)
    assert plant.initial() == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, *pistons, 0.0]
    returned = replace(plant, circuit="open", P_T=2e5).initial()
    assert returned == [0.0, 0.0, 0.0, 2e5, 2e5, 0.0, 0.0, *pistons, 0.0]


@pytest.mark.parametrize("circuit, keys", [("closed", 1), ("open", 3)])
def test_limits_of_the_plant(circuit, keys):
    own = replace(PLANTS["full"], circuit=circuit).machine_limits()
    piston, ring, command = own[0], own[1], own[-1]
    assert (piston.low, piston.high, piston.signals) == (-0.05, 0.05, ("Y",)) and len(
        own
    ) == keys + 2
    assert (ring.name, ring.signals, ring.key) == ("carriage", ("E",), "stop_E.limit")
    assert (command.low, command.high) == (-0.5e-3, 0.5e-3)


def test_the_actuator_is_a_body_on_a_level_slide():
    """Nothing pulls it down; the drive has the actuator's own numbers, the outer force acts on the same joint."""
    plant = replace(PLANTS["full"])
    made = plant.mechanism
    (load,) = made.bodies
    assert (load.joint, load.axis, load.mass) == ("prismatic", (1.0, 0.0, 0.0), 7.3)
    assert made.gravity == (0.0, 0.0, 0.0) and [a.name for a in made.actuators] == ["Y", "ext"]
    assert made.actuators[0].drive == plant.drive and made.actuators[1].drive == OuterForce()
    assert plant.drive == IEHADrive(detail="full", pump=PUMP, friction=RUBS)
    assert (plant.drive.middle, plant.drive.F_max) == (0.0, None)
    assert plant.called["x_load"] == "Y" and plant.called["P_AB_Y"] == "P_AB"
    assert plant.causes["load"] == ("ext",) and plant.causes["shaft"] == ("shaft_Y",)
    assert list(plant.causes)[-2:] == ["load", "carried"]
    assert plant.out(0.0, [1, 2, 3, 4, 5, 6, 7]) == [6, 7, 1, 4, 5]
    assert plant.limits() == {"X": (-0.5e-3, 0.5e-3)} and plant.given([1, 2]) == [1, 2]
    assert plant.friction_laws == (RUBS,) and plant.task("joint", (0.3,)) == [0.3]
    assert (plant.n, plant.spaces, plant.position_names) == (1, ("joint",), ("Y",))
    with pytest.raises(InputError, match="has no output space"):
        plant.task("output", (0.3,))


def test_numbers_of_the_prototype():
    """[Alfayad16]; oil at 800 MPa with little air; a stroke of ±50 mm, a ring of ±0.5 mm."""
    own = IEHA()
    assert (own.m, own.detail, own.circuit, own.friction) == (
        10.0,
        "averaged",
        "closed",
        Frictionless(),
    )
    assert (own.ρ, own.C_d, own.δ, own.m_e) == (840.0, 0.62, 1e3, 0.091)
    assert (own.S_e, own.v_e, own.b_e, own.k_e) == (1.644e-4, 0.0822e-6, 0.0, 1e-12)
    assert (own.S_A, own.S_B, own.V_A0, own.V_B0) == (2.356e-4, 2.356e-4, 23.562e-6, 23.562e-6)
    assert (own.K_in, own.K_ex, own.P_T, own.b_v) == (2.75e-13, 7.5e-14, 0.0, 375.0)
    assert (own.oil.β, own.oil.air, own.oil.width) == (800e6, 1e-6, 1e3)
    assert (own.stop_E, own.stop_Y) == (EndStop(0.5e-3), EndStop(0.05))
    assert own.volumes(0.01) == pytest.approx((23.562e-6 + 2.356e-6, 23.562e-6 - 2.356e-6))
    assert own.linear_twin == "ieha-published-linear"
    assert own.drive.pulse == 0.0 and PLANTS["full"].drive.pulse == pytest.approx(pi / (3 * 271.0))
    even = SimpleNamespace(turning=True, pump=SimpleNamespace(N=4, ω=271.0))
    assert IEHADrive.pulse.fget(even) == pytest.approx(2 * pi / (4 * 271.0))
