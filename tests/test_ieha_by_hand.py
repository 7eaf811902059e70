"""The hydraulics of an integrated electro-hydraulic actuator at one state that is written down, closed and open circuit."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plants.ieha.hydraulics import Hydraulics
from workbench.contract.errors import InputError

OPEN = Hydraulics(
    circuit="open",
    S_A=2.5e-4,
    S_B=2e-4,
    V_A0=3e-5,
    V_B0=2e-5,
    K_in=3e-13,
    K_ex=8e-14,
    P_T=2e5,
    b_e=40.0,
    k_e=2e-12,
)
CLOSED = replace(OPEN, circuit="closed", S_B=2.5e-4, V_B0=3e-5)
E, ED, ζ, P_A, P_B, Y, YD = X = [1e-4, 2e-3, 3e5, 6e6, 4e6, 0.01, 0.05]


def test_volumes_of_the_chambers():
    assert OPEN.volumes(0.01) == pytest.approx((3e-5 + 2.5e-6, 2e-5 - 2e-6))


def test_pressures_of_a_closed_circuit():
    """Each chamber has what the pump gives less what goes to the other, leaks outside and makes room."""
    V_A, V_B = CLOSED.volumes(Y)
    between = 3e-13 * 2e6
    out_A = 2.5e-4 * YD + between + 8e-14 * P_A
    out_B = -2.5e-4 * YD - between + 8e-14 * P_B
    β = CLOSED.oil.β
    found = CLOSED.chambers(X, 7e-5, 2e-5)
    assert found == pytest.approx((β / V_A * (5e-5 - out_A), β / V_B * (-5e-5 - out_B)))


def test_pressures_of_an_open_circuit():
    """Oil as stiff as its pressure makes it; what the pump does not take back goes to the tank."""
    V_A, V_B = OPEN.volumes(Y)
    between = 3e-13 * 2e6
    β_A, β_B = (OPEN.oil.stiffness(P + OPEN.oil.p_0) for P in (P_A, P_B))
    tank_A, tank_B = OPEN.to_tank(E, P_A, P_B)
    head = β_A / V_A * (7e-5 - tank_A - 2.5e-4 * YD - between - 8e-14 * P_A)
    rod = β_B / V_B * (2e-5 - tank_B + 2e-4 * YD + between - 8e-14 * P_B)
    assert OPEN.chambers(X, 7e-5, 2e-5) == pytest.approx((head, rod))


def test_ways_to_the_tank_are_those_of_the_other_side():
    """Where the distributor lets A in it lets B out."""
    ways = SimpleNamespace(A=0.25, B=0.75)
    area = OPEN.c * OPEN.pump.A_0
    own = SimpleNamespace(
        distributor=SimpleNamespace(ways=lambda e: ways), c=OPEN.c, pump=OPEN.pump, P_T=2e5, δ=1e-6
    )
    found = Hydraulics.to_tank(own, E, P_A, P_B)
    assert found == pytest.approx((0.75 * area * np.sqrt(5.8e6), 0.25 * area * np.sqrt(3.8e6)))


def test_the_carriage_goes_with_twice_the_pressure_of_its_valve():
    made = SimpleNamespace(F_p=12.0)
    found = OPEN.carriage(X, 5e-4, made)
    stop = OPEN.stop_E.force(E, ED)
    flow = OPEN.valve.flow(OPEN.c, 4e-4, ζ)
    speeding = (2 * OPEN.S_e * ζ + 12.0 - 40.0 * ED + stop) / OPEN.m_e
    charging = OPEN.oil.β / OPEN.v_e * (flow - OPEN.S_e * ED - 4e-12 * ζ)
    assert found == pytest.approx((speeding, charging))


def test_the_thrust_of_the_piston():
    """Both pressures on their areas, less friction, and the end of the stroke."""
    found = OPEN.thrust(X)
    assert found == pytest.approx(
        2.5e-4 * P_A - 2e-4 * P_B - OPEN.b_v * YD + OPEN.stop_Y.force(Y, YD)
    )


def test_velocity_per_metre_of_the_valve():
    assert OPEN.velocity_gain == pytest.approx(OPEN.pump.mean_flow(1.0) / 2.25e-4)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"circuit": "closed"}, "S_B: a closed circuit needs a symmetric cylinder, S_B = S_A"),
        ({"detail": "none"}, "detail: expected one of averaged, ripple, full, got 'none'"),
        ({"circuit": "half"}, "circuit: expected one of open, closed, got 'half'"),
        ({"V_A0": 2.5e-4 * 0.05}, "stop_Y: at ±0.05 m a chamber is empty"),
        ({"V_B0": 2e-4 * 0.05 * 0.999}, "a chamber is empty"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        replace(OPEN, **change)
    assert replace(OPEN, V_A0=2.5e-4 * 0.05 * 1.001, V_B0=2e-4 * 0.05 * 1.001)


def test_a_piston_ends_above_the_bottom_of_its_chamber():
    """The carriage's stop is nearer than the radius less piston and eccentricity."""
    pump = OPEN.pump
    room = pump.R_b - pump.l_p - pump.d
    with pytest.raises(InputError, match="a piston is at the bottom of its chamber"):
        replace(OPEN, stop_E=replace(OPEN.stop_E, limit=room))
    assert replace(OPEN, stop_E=replace(OPEN.stop_E, limit=room * 0.999))


def test_what_is_shown_beside_the_states(monkeypatch):
    made = SimpleNamespace(Q_A=7e-5, Q_B=2e-5, F_p=12.0, torque=0.3)
    monkeypatch.setattr(Hydraulics, "delivery", lambda self, φ, x: made)
    flow = OPEN.valve.flow(OPEN.c, 4e-4, ζ)
    assert OPEN.shown(0.0, X, 5e-4) == pytest.approx([5e-5, 2e6, flow, 12.0, 0.3 * OPEN.pump.ω])
