"""Drives of mechanisms at states that are written down: forces, rates and powers of rods behind valves, springs, starts, sizes."""

from dataclasses import replace
from math import inf, pi
from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.cylinder import Cylinder
from plants.components.friction import CoulombViscous
from plants.components.valve import Valve
from plants.drives import contract, metering
from plants.drives.contract import Line, outside_stroke
from plants.drives.ieha_drive import IEHADrive
from plants.drives.laws import SpringDamper
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder
from plants.linear_actuator import LinearActuator
from plants.metered.arm import Arm
from plants.metered.arms_valves import MeteredArmsValves
from plants.valve_circuits.circuit import Section
from workbench.contract.errors import InputError

LINE = Line(1.6e7, 1e6)


# ---- laws and starts -----------------------------------------------------------------------------------------------------------
def test_a_spring_and_a_damper():
    own = SpringDamper(k=200.0, s_0=0.25, d=30.0)
    assert own.force([], 0.75, -0.5, [], None) == pytest.approx(-100.0 + 15.0)
    assert own.stored([], 0.75) == pytest.approx(25.0) and own.stored([], 0.0) == pytest.approx(
        6.25
    )
    assert own.powers([], 0.75, -0.5, [], None) == [-7.5]
    assert SpringDamper().force([], 3.0, 4.0, [], None) == 0.0


@pytest.mark.parametrize("s, fits", [(0.5, True), (1.25, True), (0.4999, False), (1.2501, False)])
def test_a_start_is_within_the_stroke(s, fits):
    if fits:
        outside_stroke(s, 0.5, 1.25)
        return
    with pytest.raises(
        InputError, match="the cylinder reaches from 0.5 m to 1.25 m, and the start is at s = "
    ):
        outside_stroke(s, 0.5, 1.25)


@pytest.mark.parametrize(
    "s, key, told",
    [
        (2.0, "closed", "1.625"),
        (1.1249, "closed", ""),
        (1.126, "closed", "0.751"),
        (2.0, "middle", "2"),
        (0.7, "middle", ""),
    ],
)
def test_what_puts_a_start_into_the_middle_of_the_stroke(s, key, told):
    """Retracted no shorter than the stroke of 0.75 m, as no cylinder is."""
    found = contract._centred(s, 0.5, 1.25, key)
    assert found == (f" ({told} m puts the start into the middle of the stroke)" if told else "")


# ---- rods behind valves ----------------------------------------------------------------------------------------------------------
def test_what_a_rod_at_rest_bears():
    """Pump or relief, whichever is lower, on each side; a return pressure is not felt."""
    section = Section(A_h=0.02, A_r=0.01, P_hM=1.2e7, P_rM=2e7)
    assert metering.bears(section, LINE) == pytest.approx((-0.01 * 1.5e7, 0.02 * 1.2e7))
    assert metering.bears(section, Line(1.1e7, 1e6)) == pytest.approx((-0.01 * 1e7, 0.02 * 1e7))


def test_the_speed_of_a_rod_per_unit_of_command():
    """Without force A_h P_h = A_r P_r: v² (A_h³/c_ph² + A_r³/c_tr²) = A_h P out, and the same back, averaged."""
    s = Section(A_h=0.02, A_r=0.011, c_ph=2e-6, c_pr=3e-6, c_th=4e-6, c_tr=5e-6)
    P = 1.5e7
    out = (0.02 * P / (0.02**3 / 4e-12 + 0.011**3 / 25e-12)) ** 0.5
    back = (0.011 * P / (0.02**3 / 16e-12 + 0.011**3 / 9e-12)) ** 0.5
    assert metering.speed_gain(s, P) == pytest.approx((out + back) / 2)


ROD = MeteredSection(
    cylinder=Cylinder(bore=0.1, rod=0.06, stroke=0.7, friction=CoulombViscous(F_c=300.0, b=2000.0)),
    closed=1.1,
    τ=0.02,
)


class Work(SimpleNamespace):
    """What the valves do at a state."""


@pytest.fixture
def working(monkeypatch):
    work = Work(speed=0.07, force=9000.0, flow=3e-4, P_h=5e6, P_r=2e6)
    monkeypatch.setattr(MeteredSection, "at_work", lambda self, x, s, sdot, u, line: work)
    monkeypatch.setattr(metering, "dissipated", lambda work, P: (P, 2 * P))
    return work


def test_a_cylinder_on_the_spring_of_its_oil(working):
    """K (r − x), K of the oil shut in at half stroke; its friction is beside the valves' force."""
    x, s, sdot = [0.25], 1.3, 0.05
    K = ROD.oil.β * ROD.cylinder.shut_in(ROD.oil, 0.35)
    rubbing = 300.0 * np.tanh(50.0) + 2000.0 * 0.05
    assert ROD.stiffness == pytest.approx(K) and ROD.damping == pytest.approx(0.02 * K)
    assert ROD.spring(x, s) == pytest.approx(K * 0.05) and ROD.sense(x, s) == [ROD.spring(x, s)]
    assert ROD.force(x, s, sdot, None, LINE) == pytest.approx(9000.0 - rubbing)
    assert ROD.rates(x, s, sdot, None, LINE) == [0.07]
    assert ROD.shown(x, s, sdot, None, LINE) == pytest.approx(
        [0.2, K * 0.05, 9000.0, rubbing, 5e6, 2e6]
    )
    assert ROD.stored(x, s) == pytest.approx(0.5 * K * 0.05**2)
    powers = ROD.powers(x, s, sdot, None, LINE)
    assert powers == pytest.approx(
        [1.6e7 * 3e-4, -1e6 * 3e-4, -1.5e7, -3e7, -0.02 * K * 0.02**2, -rubbing * 0.05]
    )
    assert ROD.initial(1.3, 5000.0, LINE) == pytest.approx([0.2 + 5000.0 / K])
    assert ROD.range == pytest.approx((1.1, 1.8)) and ROD.regenerated([0.3]) == 0.0
    with pytest.raises(InputError, match="the cylinder reaches from"):
        ROD.initial(1.81, 0.0, LINE)


def test_sizes_of_a_cylinder_behind_valves():
    found = ROD.sizes(LINE)
    A_a, A_b = pi / 4 * 0.01, pi / 4 * (0.01 - 0.0036)
    assert (found.pressure, found.stroke) == (1.5e7, 0.7) and found.source == "pressure of the pump"
    assert found.energy == pytest.approx(1.5e7 * A_a * 0.7) and found.force == pytest.approx(
        1.5e7 * A_b
    )
    assert found.speed == pytest.approx(ROD.velocity_gain_on(LINE))


GEARED = MeteredRod(K=4e7, B=3e5)


def test_a_rod_with_its_own_stiffness(monkeypatch):
    work = Work(speed=0.07, force=9000.0, flow=3e-4, P_h=5e6, P_r=2e6)
    monkeypatch.setattr(MeteredRod, "at_work", lambda self, x, s, sdot, u, line: work)
    monkeypatch.setattr(metering, "dissipated", lambda work, P: (P,))
    i = GEARED.i
    assert GEARED.spring([0.3], 0.2) == pytest.approx(4e7 * (0.3 - i * 0.2))
    assert GEARED.stored([0.3], 0.2) == pytest.approx(2e7 * (0.3 - i * 0.2) ** 2)
    assert GEARED.initial(0.2, 800.0, LINE) == pytest.approx([i * 0.2 + 800.0 / i / 4e7])
    powers = GEARED.powers([0.3], 0.2, 0.05, None, LINE)
    assert powers == pytest.approx([4800.0, -300.0, -1.5e7, -3e5 * (0.07 - i * 0.05) ** 2])


@pytest.mark.parametrize(
    "turns, travel, words", [(False, 1.0, "one metre of travel"), (True, 2 * pi, "one turn")]
)
def test_sizes_of_a_rod_that_states_no_stroke(turns, travel, words):
    s = GEARED.section
    own = SimpleNamespace(section=s, turns=turns, i=4.0, velocity_gain_on=lambda line: 0.5)
    found = MeteredRod.sizes(own, LINE)
    assert found.source == f"pressure of the pump, {words}" and found.pressure == 1.5e7
    assert found.energy == pytest.approx(1.5e7 * s.A_h * 4.0 * travel)
    assert found.force == pytest.approx(1.5e7 * s.A_r * 4.0) and found.stroke == pytest.approx(
        travel
    )


# ---- an actuator with a pump of its own ------------------------------------------------------------------------------------------
CLOSED = IEHADrive(middle=0.4)
OPEN = replace(CLOSED, circuit="open", S_A=2.5e-4, S_B=2e-4, P_T=2e5)


def test_an_actuator_is_blocked_at_rest():
    """Half of the force on each side of a closed circuit; in an open one the side that need not push is at the return."""
    found = CLOSED.initial(0.41, 500.0, None)
    half = 250.0 / CLOSED.S_A
    assert found[:5] == pytest.approx([0.0, 0.0, 0.0, half, -half]) and len(found) == 5
    for force, p_a, p_b in (
        (300.0, (300 + 40.0) / 2.5e-4, 2e5),
        (-300.0, 2e5, (50.0 + 300.0) / 2e-4),
    ):
        assert OPEN.initial(0.41, force, None)[3:5] == pytest.approx([p_a, p_b])
    full = replace(CLOSED, detail="full").initial(0.41, 0.0, None)
    assert len(full) == 6 + CLOSED.pump.N and full[5] == 0.0 and full[6] == CLOSED.pump.P_rp
    with pytest.raises(InputError, match="change middle"):
        CLOSED.initial(0.4 + 1.01 * CLOSED.stop_Y.limit, 0.0, None)


def test_what_an_actuator_can():
    assert CLOSED.range == pytest.approx((0.4 - CLOSED.stop_Y.limit, 0.4 + CLOSED.stop_Y.limit))
    assert CLOSED.bears(None) == (-inf, inf) and replace(CLOSED, F_max=900.0).bears(None) == (
        -900.0,
        900.0,
    )
    stroke, speed = 2 * CLOSED.stop_Y.limit, CLOSED.velocity_gain * CLOSED.stop_E.limit
    supply = OPEN.sizes(None)
    force = OPEN.valve.P_s * 2e-4
    assert (supply.force, supply.energy, supply.pressure) == pytest.approx(
        (force, force * stroke, OPEN.valve.P_s)
    )
    stated = replace(OPEN, F_max=900.0).sizes(None)
    assert (stated.force, stated.pressure, stated.stroke) == pytest.approx(
        (900.0, 900 / 2e-4, stroke)
    )
    assert CLOSED.sizes(None).speed == pytest.approx(speed) and CLOSED.limit == CLOSED.stop_E.limit
    assert CLOSED.whole([1, 2, 3, 4, 5, 6], 0.45, 9.0)[5:7] == pytest.approx([0.05, 9.0])


# ---- a cylinder behind a servo valve ---------------------------------------------------------------------------------------------
SERVO = ServoCylinder(cylinder=Cylinder(bore=0.1, rod=0.06, stroke=0.7), closed=1.1)


def test_what_a_servo_cylinder_can():
    """Its slower direction is its fastest; a volt gives the mean of both."""
    valve = SimpleNamespace(u_max=10.0, dead_band=0.5)
    uneven = SimpleNamespace(valve=valve, speeds=lambda drop: (drop * 3e-9, drop * 2e-9))
    own = SimpleNamespace(chambers=uneven)
    assert ServoCylinder.fastest(own, LINE) == pytest.approx(9.5 * 0.03)
    assert ServoCylinder.velocity_gain_on(own, LINE) == pytest.approx(0.0375)
    c = SERVO.chambers
    pull, push = SERVO.bears(LINE)
    assert push == pytest.approx(1.6e7 * c.A_a - 1e6 * c.A_b) and pull == pytest.approx(
        1e6 * c.A_a - 1.6e7 * c.A_b
    )
    assert SERVO.areas == (c.A_a, c.A_b) and SERVO.bears_by(LINE) == "10 and 160 bar"


def test_a_servo_cylinder_at_rest_under_a_force():
    p_a, p_b, *rest = SERVO.at_rest(8000.0, LINE)
    c = SERVO.chambers
    assert c.A_a * p_a - c.A_b * p_b == pytest.approx(8000.0) and not any(rest)
    given = replace(SERVO, pressures_at_start=(3e6, 4e6)).at_rest(8000.0, LINE)
    assert given[:2] == [3e6, 4e6] and len(given) == len(SERVO.states("")) == 2 + len(rest)


def test_a_linear_actuator_is_lags_in_a_row_and_a_load_beside_them():
    own = LinearActuator()
    assert own.rhs(0.0, [1.0, 2.0, 4.0, 8.0, 16.0], [0.5, 3.0]) == pytest.approx(
        [
            (own.K * 0.5 - 1.0) / own.λ_1,
            (1.0 - 2.0) / own.λ_2,
            (2.0 - 4.0) / own.λ_3,
            (own.K_F * 3.0 - 8.0) / own.λ_F,
            12.0,
        ]
    )
    x = [1.0, 2.0, 4.0, 8.0, 16.0]
    assert own.out(0.0, x) == [16.0, 12.0]
    assert replace(own, measured="states").out(0.0, x) == [16.0, 12.0, 1.0, 2.0, 4.0, 8.0]


def test_the_velocity_gain_of_arms_is_their_mean():
    arms = [SimpleNamespace(section=s) for s in (Section(), Section(A_h=0.05))]
    own = SimpleNamespace(arms=arms, pump=SimpleNamespace(P_M=1.5e7))
    first, second = (metering.speed_gain(a.section, 1.5e7) for a in arms)
    assert MeteredArmsValves.velocity_gain.fget(own) == pytest.approx((first + second) / 2)


@pytest.mark.parametrize(
    "make, words",
    [
        (
            lambda: LinearActuator(measured="some"),
            "measured: expected one of load, states, got 'some'",
        ),
        (lambda: Valve(lag="third"), "lag: expected one of ideal, first, second, got 'third'"),
        (
            lambda: Arm(regeneration="x"),
            "regeneration: expected one of none, command, input, got 'x'",
        ),
    ],
)
def test_a_kind_that_there_is_not_is_refused(make, words):
    with pytest.raises(InputError) as why:
        make()
    assert why.value.message == words
