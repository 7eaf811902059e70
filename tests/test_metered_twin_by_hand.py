"""The twin of metered arms with compressible oil: its signals, start, springs in series, machine and default numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plants.drives.compressible_rod import VALVES, CompressibleRod
from plants.metered import arm_bodies
from plants.metered.arm import Arm, MotorArm
from plants.metered.arms import MeteredArms
from plants.metered.twin import MeteredTwin
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.circuit import Motor, Pump, Section
from workbench.contract.system import names

BOOM = Arm("boom", L_g=1.25, L_m=0.7, L_f=2.75, M=900.0, J=650.0, r_bx=-1.1, r_by=-0.8, K=3e6, B=4e4,
           section=Section(A_h=0.02, A_r=0.011, P_hM=3e7, P_rM=4.5e7))  # fmt: skip
SLEW = MotorArm(i=21.0, name="slew", L_g=0.3, L_f=2.5, M=300.0, J=90.0, θ_0=0.2, K=5e3, B=70.0,
                section=Motor(D_h=3e-5, D_r=5e-5))  # fmt: skip
ARMS = MeteredArms(arms=(BOOM, SLEW), pump=Pump(Q=2e-3, P_M=1.8e7, c_b=2e-6), u_b=0.2, g=9.7)
OIL = {"β": 1.3e9, "V_h": 7e-3, "V_r": 5e-3, "G": 1.7e-6, "w": 900.0}
TWIN = MeteredTwin(of=ARMS, V_p=2e-3, **OIL)


def test_its_states_are_those_of_the_arms_then_pressures():
    pressures = ["P_h_boom", "P_r_boom", "P_h_slew", "P_r_slew"]
    assert names(TWIN.states) == [*names(ARMS.states), *pressures, "P"]
    assert {s.unit for s in TWIN.states[6:]} == {"Pa"}
    assert TWIN.states[7].meaning == "rod side of arm boom"
    shown = [f"{key}_{name}" for name in ("boom", "slew") for key in ("l", "v", "f", "stretch")]
    assert names(TWIN.monitors) == shown
    for same in ("names", "inputs", "outputs", "pressure_names", "pressure_limits", "called"):
        assert getattr(TWIN, same) == getattr(ARMS, same)
    assert TWIN.limits() == ARMS.limits() and TWIN.velocity_gain == ARMS.velocity_gain
    assert TWIN.cuts_commands is True and TWIN.drawn_as is ARMS


def test_causes_of_its_account_are_its_own_valves():
    own = [f"{v}_{n}" for n in ("boom", "slew") for v in (*VALVES, "element", "tip")]
    assert list(TWIN.causes) == ["pump", "bleed", "relief", *own]
    assert all(causes == (name,) for name, causes in TWIN.causes.items())
    drawn = TWIN.valve_sections
    assert drawn.balance == "volumes" and drawn.names == ("boom", "slew") and drawn.source is ARMS


@pytest.mark.parametrize("m_g", [1.0, -1.0])
def test_it_starts_at_rest_on_one_chamber_of_each(m_g):
    """K (x − ℓ) = f carries the weight over the lever; the side that pushes has f/A, the other none; the pump at its relief."""
    own = replace(TWIN, of=replace(ARMS, g=9.7 * m_g))
    x = own.initial()
    assert len(x) == 11
    for j, a in enumerate(own.of.arms):
        f = a.M * 9.7 * m_g * a.L_g * np.cos(a.θ_0) / a.lever(a.θ_0)
        at, rate, rod = x[3 * j : 3 * j + 3]
        assert (at, rate) == (a.θ_0, 0.0) and own.carried(a) == pytest.approx(f)
        assert rod == pytest.approx(a.length(a.θ_0) + f / a.K)
        head, side = x[6 + 2 * j : 8 + 2 * j]
        assert head == pytest.approx(max(f, 0.0) / a.section.A_h)
        assert side == pytest.approx(max(-f, 0.0) / a.section.A_r)
    assert x[-1] == 1.8e7


@pytest.mark.parametrize("u_b, P", [(0.5, 4e6), (0.2, 1.8e7), (0.0, 1.8e7)])
def test_its_pump_starts_at_the_relief_or_where_the_bleed_takes_all(u_b, P):
    assert replace(TWIN, of=replace(ARMS, u_b=u_b)).initial()[-1] == pytest.approx(P)


def test_a_position_loop_swings_on_both_springs_in_series():
    """1/k = 1/K + 1/β(A_h²/V_h + A_r²/V_r), of the arm that is slowest: here the oil's own is as soft as K."""
    soft = MeteredTwin(of=ARMS, V_p=2e-3, **(OIL | {"β": 4e7}))
    rates = []
    for a in ARMS.arms:
        oil = 4e7 * (a.section.A_h**2 / 7e-3 + a.section.A_r**2 / 5e-3)
        k = 1.0 / (1.0 / a.K + 1.0 / oil)
        rates.append(a.longest_lever * np.sqrt(k / a.inertia) / 7)
    assert soft.loop_rate == pytest.approx(min(rates)) and soft.loop_rate < 6.0
    alone = MeteredTwin(of=replace(ARMS, arms=(BOOM,)), **(OIL | {"β": 4e7}))
    assert alone.loop_rate == pytest.approx(rates[0])


def test_errors_of_its_steps():
    found = TWIN.adaptive.errors
    assert found == (*(1e-9, 1e-8, 1e-10) * 2, *(10.0,) * 5)


def test_limits_are_those_of_the_arms_and_of_its_pumps_line():
    *arms, relief = TWIN.machine_limits()
    assert tuple(arms) == ARMS.machine_limits()
    assert relief.high == pytest.approx(1.8e7 + 2e-3 / 1.7e-6) and relief.key == "of.pump.P_M"


def test_its_machine_has_rods_of_compressible_oil_on_a_pump_of_the_same():
    made = replace(TWIN).mechanism
    assert made.supply == SharedPump(pump=ARMS.pump, u_b=0.2, V_p=2e-3, G=1.7e-6, β=1.3e9, w=900.0)
    rods = [a.drive for a in made.actuators if isinstance(a.drive, CompressibleRod)]
    assert rods == [CompressibleRod(rod=arm_bodies.rod(a), **OIL) for a in ARMS.arms]
    assert made.gravity == (0.0, -9.7, 0.0) and made.name == TWIN.name
    row = [0.02, 0.011, 3e7, 4.5e7, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7]
    assert TWIN.section(row, 9e6, 4e6, 5e6) == rods[0].flows(row, 9e6, 4e6, 5e6)


def test_what_it_measures_and_where_its_power_goes(monkeypatch):
    x = [0.1, 0.2, 1.1, 0.7, -0.6, 15.0, *[4e6] * 5]
    assert TWIN.out(0.0, x) == ARMS.out(0.0, x[:6])
    from plants.valve_circuits import accounts

    monkeypatch.setattr(accounts, "of_filled", lambda plant, log: (plant, log))
    assert TWIN.valve_account("log") == (TWIN, "log")


def test_a_rod_of_an_arm_has_its_numbers():
    """A gear where a motor turns it."""
    rod = arm_bodies.rod(SLEW)
    assert (rod.K, rod.B, rod.i, rod.section) == (5e3, 70.0, 21.0, SLEW.section)
    plain = arm_bodies.rod(replace(BOOM, regeneration="command"))
    assert (plain.i, plain.regeneration, plain.section) == (1.0, "command", BOOM.section)


def test_a_twin_by_default():
    """Oil of a rod, 3 l in the pump's line."""
    own = MeteredTwin()
    assert own == TWIN.as_shipped() and own.of == MeteredArms()
    assert (own.β, own.V_h, own.V_r, own.V_p) == (1e9, 10e-3, 6e-3, 3e-3)
    assert (own.G, own.w) == (2.5e-6, 1e3)
    tiny = SimpleNamespace(of=SimpleNamespace(supply=(2e-3, None, 1e-9)))
    assert MeteredTwin._bled(tiny) == pytest.approx(4e12)
