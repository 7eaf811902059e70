"""A crane behind metering valves, part by part: its signals in order, the oil's springs, rest, commands, limits, what it needs."""

from dataclasses import replace

import numpy as np
import pytest

from plants import machine
from plants.drives import metering
from plants.drives.metered_section import MeteredSection
from plants.metered.crane import MeteredCrane
from plants.metered.crane_names import MeteredCraneNames
from plants.metered.crane_valves import MeteredCraneValves
from plants.metered.on_valves import pump_limit
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.circuit import Pump
from workbench import changed
from workbench.contract.errors import InputError
from workbench.contract.system import names

HIAB = changed(
    machine("hiab-xs031").plant,
    {"payload.mass": 40.0, "tilt.friction": {"law": "LuGre"}, "extension.friction": {"law": "LuGre"}},
)  # fmt: skip
CRANE = MeteredCrane(
    HIAB, pump=Pump(Q=1.7e-3, P_M=1.6e7), u_b=0.07, P_hM=2.1e7, P_rM=2.3e7, V_p=4e-3, G=6e-9, τ=0.013
)  # fmt: skip
LABELS = ("1", "2", "t2")
JOINTS = ("q_1", "q_2", "x_t2")
RATES = ("dq_1", "dq_2", "dx_t2")
POSE = [-1.1, -1.6, 0.4]


# ---- signals -----------------------------------------------------------------------------------------------------------------
def test_signals_of_a_crane_behind_metering_valves():
    """Joints, rods, the pump's line, then the bristles of the cylinders that have some."""
    assert names(CRANE.states)[:10] == [*JOINTS, *RATES, "rod_1", "rod_2", "rod_t2", "P"]
    bristles = [s.name for k, c in zip(LABELS, CRANE.cylinders) for s in c.friction.states(k)]
    assert names(CRANE.states)[10:] == bristles and len(bristles) == 2
    assert names(CRANE.inputs) == ["u_c_1", "u_c_2", "u_c_t2", "f_Dx", "f_Dy", "f_Dz"]
    oil = ["f_K_1", "f_K_2", "f_K_t2"]
    assert names(CRANE.outputs) == [*JOINTS, *RATES, "P", "x_1", "x_2", *oil]
    shown = [f"{key}_{k}" for k in LABELS for key in ("f", "P_h", "P_r", "Q_p")]
    tool = [name for name in names(HIAB.monitors) if name.startswith("tcp_")]
    assert names(CRANE.monitors) == ["x_1", "x_2", *oil, *shown, *tool]
    assert CRANE.pressure_names == ("P_h_1", "P_r_1", "P_h_2", "P_r_2", "P_h_t2", "P_r_t2")
    assert CRANE.stiff == (*RATES, *bristles) and CRANE.cuts_commands is True
    assert CRANE.drawn_as is HIAB


def test_units_of_the_signals():
    units = {s.name: s.unit for s in (*CRANE.states, *CRANE.inputs, *CRANE.monitors)}
    assert (units["rod_2"], units["P"], units["u_c_t2"], units["f_K_1"]) == ("m", "Pa", "1", "N")
    assert [units[f"{k}_1"] for k in ("f", "P_h", "P_r", "Q_p")] == ["N", "Pa", "Pa", "m^3/s"]


def test_names_of_the_mechanism_and_causes_of_its_account():
    bodies = ("lift.B1", "tilt.B1", "tilt.B5")
    at = {f"{k}_{b}": own for k, b, own in zip(("q", "q", "x"), bodies, JOINTS)}
    moving = {f"d{name}": f"d{own}" for name, own in at.items()}
    logged = {f"f_p_{k}": f"f_{k}" for k in LABELS} | {f"Q_s_{k}": f"Q_p_{k}" for k in LABELS}
    assert CRANE.called == at | moving | logged
    valves = [f"{v}_{k}" for k in LABELS for v in metering.VALVES]
    assert list(CRANE.causes) == ["pump", "bleed", "relief", *valves, "oil", "friction", "tip"]
    assert CRANE.causes["oil"] == ("oil_1", "oil_2", "oil_t2")
    assert CRANE.causes["friction"] == ("friction_1", "friction_2", "friction_t2")
    assert CRANE.causes["th_2"] == ("th_2",) and CRANE.causes["tip"] == ("tip",)


# ---- valves and oil ----------------------------------------------------------------------------------------------------------
def test_the_oil_shut_in_is_the_spring_of_every_rod():
    """K = β (A_a²/V_a + A_b²/V_b) at half stroke, B = τ K."""
    for j, (k, c) in enumerate(zip(LABELS, CRANE.cylinders)):
        V_a, V_b = c.volumes(0.5 * c.stroke)
        K = HIAB.oil.β * (c.A_a**2 / V_a + c.A_b**2 / V_b)
        assert CRANE.stiffness()[j] == pytest.approx(K)
        assert CRANE.damping[f"{k}.τ K"] == pytest.approx(0.013 * K)
    assert len(CRANE.damping) == 3


def test_sections_have_the_cylinders_their_reliefs_and_names():
    for k, c, section in zip(LABELS, CRANE.cylinders, CRANE.circuit.sections):
        own = metering.section_of(c, 2.1e7, 2.3e7, k)
        assert section == own and (section.P_hM, section.P_rM) == (2.1e7, 2.3e7)
    assert CRANE.circuit.pump == Pump(Q=1.7e-3, P_M=1.6e7)
    gains = [metering.speed_gain(s, 1.6e7) for s in CRANE.circuit.sections]
    assert CRANE.velocity_gains == pytest.approx(gains)
    rows = CRANE.rows([0.5, -0.25, 0.75])
    for row, s, u in zip(rows, CRANE.circuit.sections, (0.5, -0.25, 0.75)):
        assert row == pytest.approx(metering.opened(s, u))
    assert CRANE.pressure_limits == metering.bounds(2.1e7, 2.3e7)


def test_claims_ask_sections_at_one_pressure():
    """The pump's line holds oil."""
    assert MeteredCraneValves.held is True
    drawn = CRANE.valve_sections
    assert (drawn.balance, drawn.names, drawn.u_b) == ("chambers", LABELS, 0.07)
    assert drawn.titles == ("lift", "tilt", "extension") and drawn.source is CRANE


def test_limits_of_the_machine():
    limits = {limit.name: limit for limit in CRANE.machine_limits()}
    assert limits["pressure of the pump"].high == pytest.approx(1.6e7 + 1.7e-3 / 6e-9)
    assert limits["pressure P_r_2"].high == pytest.approx(metering.OVER * 2.3e7)
    assert limits["vacuum in P_h_t2"].low == -metering.SUCTION
    assert [n for n in limits if n.startswith("piston")] == [f"piston {k}" for k in LABELS]
    assert limits["command u_c_2"].high == 1.0 and CRANE.limits()["u_c_t2"] == (-1.0, 1.0)


# ---- rest ----------------------------------------------------------------------------------------------------------------------
def test_with_all_valves_shut_the_pump_is_bled_and_relieved():
    P = CRANE.idle()
    assert CRANE.supply[2] * P**0.5 + 6e-9 * (P - 1.6e7) == pytest.approx(1.7e-3)


def asked(q, **push):
    """What the servo crane's cylinders need at rest under a push of the tip, N."""
    at = HIAB.defaults() | push
    given = [at.get(name, 0.0) for name in names(HIAB.inputs)]
    still = [0.0] * (len(HIAB.states) - 3)
    return [held.needs for held in HIAB.holding([*q, *still], given)]


def test_at_rest_the_oil_carries_the_weight():
    """Rods ahead of the pistons by f/K; nothing moves, bristles are straight."""
    x = CRANE.rest(POSE)
    assert x[:6] == [*POSE, 0.0, 0.0, 0.0] and x[9] == CRANE.idle() and x[10:] == [0.0, 0.0]
    assert all(type(number) is float for number in x)
    ahead = np.array(x[6:9]) - np.array(HIAB.task("piston", POSE))
    assert CRANE.stiffness() * ahead == pytest.approx(asked(POSE))
    rates = np.array(CRANE.rhs(0.0, x, [0.0] * 6), float)
    assert np.abs(rates[:9]).max() < 1e-9
    assert CRANE.initial() == CRANE.rest(HIAB.initial()[:3])


def test_cylinders_at_rest_against_weight_and_tip():
    """Needs are the servo crane's; sides bear what reliefs, pump and bleed let them."""
    x = CRANE.rest(POSE)
    x[9:] = [7.0, 8.0, 9.0]
    found = CRANE.holding(x, [0.1, 0.2, 0.3, 500.0, -300.0, 20.0])
    needs = asked(POSE, f_Dx=500.0, f_Dy=-300.0, f_Dz=20.0)
    assert [held.needs for held in found] == pytest.approx(needs)
    assert needs != pytest.approx(asked(POSE), rel=0.05)
    assert [(h.low, h.high) for h in found] == [CRANE.circuit.bears(j, 0.07) for j in range(3)]
    assert [h.name for h in found] == [
        "cylinder 1 (lift)",
        "cylinder 2 (tilt)",
        "cylinder t2 (extension)",
    ]
    assert {h.unit for h in found} == {"N"}


def test_the_crane_s_own_state_has_no_pressures_and_no_moving_ground():
    """Joints, rates and bristles keep their places between zeros; of inputs weight and the tip's force are kept."""
    x = [float(k) for k in range(1, 13)]
    whole, given = CRANE._whole(x, [0.1, 0.2, 0.3, 50.0, 60.0, 70.0])
    at = dict(zip(names(HIAB.states), whole, strict=True))
    assert [at[k] for k in (*JOINTS, *RATES)] == x[:6]
    assert whole[-2:] == [11.0, 12.0] and not any(whole[6:-2])
    told = dict(zip(names(HIAB.inputs), given, strict=True))
    kept = HIAB.defaults() | {"f_Dx": 50.0, "f_Dy": 60.0, "f_Dz": 70.0}
    assert {name: v for name, v in told.items() if v} == {n: v for n, v in kept.items() if v}


# ---- motion --------------------------------------------------------------------------------------------------------------------
MOVING = [*POSE, 0.1, -0.2, 0.3, 0.31, 0.22, 0.41, 1.2e7, 1e-5, -2e-5]
DRIVEN = [0.5, -0.4, 0.3, 150.0, -80.0, 60.0]


def test_what_is_measured_and_shown():
    """Pistons where the linkage has them, K (rod − x), then forces, pressures and flows of each, and the tool."""
    K = CRANE.stiffness()
    pistons = [float(p) for p in HIAB.task("piston", POSE)]
    oil = [k * (rod - at) for k, rod, at in zip(K, MOVING[6:9], pistons)]
    out = [float(v) for v in CRANE.out(0.0, MOVING)]
    assert out == pytest.approx([*MOVING[:6], 1.2e7, *pistons[:2], *oil])
    at = CRANE.logged(0.0, MOVING, DRIVEN)
    shown = [at[f"{key}_{k}"] for k in LABELS for key in ("f_p", "P_h", "P_r", "Q_s")]
    tool = list(HIAB.tool(POSE))
    assert CRANE.monitor(0.0, MOVING, DRIVEN) == pytest.approx([*out[7:], *shown, *tool])
    speeds, forces = CRANE.rods(MOVING, DRIVEN)
    rates = CRANE.rhs(0.0, MOVING, DRIVEN)
    assert speeds == pytest.approx(list(rates[6:9]))
    assert forces == pytest.approx([at[f"f_p_{k}"] for k in LABELS])


def test_commands_and_the_tips_force_in_the_axes_of_its_body():
    R = np.reshape([float(v) for v in CRANE.axes["payload"]], (3, 3))
    found = [float(v) for v in CRANE.given(DRIVEN)]
    assert found == pytest.approx([*DRIVEN[:3], *R @ DRIVEN[3:], 0.0, 0.0, 0.0])


def test_drives_and_pump_have_the_crane_s_numbers():
    machine = replace(CRANE).mechanism
    assert machine.supply == SharedPump(
        pump=CRANE.pump, u_b=0.07, V_p=4e-3, G=6e-9, β=HIAB.oil.β, w=0.0
    )
    assert machine.moving_ground is False
    for c, actuator in zip(CRANE.cylinders, machine.actuators):
        own = MeteredSection(cylinder=c, closed=0.0, oil=HIAB.oil, P_hM=2.1e7, P_rM=2.3e7, τ=0.013)
        assert actuator.drive == own


# ---- what it is by itself ------------------------------------------------------------------------------------------------------
def test_a_crane_as_shipped():
    """Every number of its own by default, around the shipped crane where it is of one, else around its own."""
    plain = MeteredCrane(machine("hiab-xs031").plant)
    assert CRANE.as_shipped() == plain == plain.as_shipped()
    own = replace(HIAB, name="another")
    assert MeteredCrane(own, u_b=0.2).as_shipped() == MeteredCrane(own)
    assert (plain.pump, plain.u_b) == (Pump(Q=100e-3 / 60, P_M=175e5), 0.05)
    assert (plain.P_hM, plain.P_rM, plain.V_p) == (250e5, 250e5, 5e-3)
    assert (plain.G, plain.τ) == (5e-9, 10e-3)
    assert (plain.loop_rate, plain.integral_rate) == (2.0, 0.08)
    assert MeteredCraneNames.spaces == type(HIAB).spaces


def test_valves_without_a_crane_are_refused():
    with pytest.raises(InputError, match="crane: "):
        MeteredCrane(CRANE)


def test_the_highest_pressure_of_a_pumps_line():
    limit = pump_limit(Pump(Q=3e-3, P_M=1.5e7), 6e-9, "own.P_M")
    assert limit.high == pytest.approx(1.55e7) and limit.low == -np.inf
    assert (limit.signals, limit.kind, limit.key) == (("P",), "pressure", "own.P_M")
