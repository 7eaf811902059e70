"""An actuator's law with its pump, a servo valve's, two chambers and a four-bar's geometry by hand, with unequal numbers."""

from dataclasses import replace
from math import acos, cos, hypot, pi, sin, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.drives import ieha_ledger, ieha_pump
from controllers.vdc.drives.ieha import IEHAPart
from controllers.vdc.drives.servo_valve import SHARE_OF_H, Valve, bearable_k_x, motor_k_x, usual_k_x
from plants import CoulombViscous, Cylinder
from plants.components.chamber import Oil
from plants.components.two_chambers import Work
from plants.components.valve import Valve as ServoValve
from plants.drives.ieha_drive import IEHADrive
from plants.four_bar import geometry as four_bar_geometry
from workbench import InputError

S_A, S_B, V_A0, V_B0, K_IN, K_EX, β = 2.6e-4, 2.6e-4, 2.4e-5, 3.1e-5, 3e-13, 8e-14, 7.5e8
TRUE = IEHADrive(circuit="closed", S_A=S_A, S_B=S_B, V_A0=V_A0, V_B0=V_B0, K_in=K_IN, K_ex=K_EX)
TRUE = replace(
    TRUE,
    oil=Oil(β=β),
    b_v=310.0,
    friction=CoulombViscous(F_c=40.0, b=90.0),
    middle=0.63,
    P_T=2e5,
)
KNOWN = replace(TRUE, oil=Oil(β=9e8), S_A=2.5e-4, S_B=2.5e-4, b_v=270.0)
PART = IEHAPart("lift", KNOWN, k_x=4e-3, βk_f=60.0)
P = 41e5, 17e5
PUMP = TRUE.pump
FLOW = PUMP.N * PUMP.S_p * PUMP.ω / pi  # m³/s of a metre of eccentricity


def loss(pressure):
    """What compression and leakage take of the pump, m³/s."""
    dead = PUMP.S_p * (PUMP.R_b - PUMP.l_p - PUMP.d)
    squeezed = PUMP.N * PUMP.ω / (2 * pi) * dead / β * (pressure - PUMP.P_rp)
    return max(squeezed + PUMP.N / 2 * PUMP.k_p * pressure, 0.0)


def fed(Y):
    return S_A / (V_A0 + S_A * Y), S_B / (V_B0 - S_B * Y)


@pytest.mark.parametrize("E", [2e-4, -2e-4, 0.0])
def test_what_a_pump_gives_behind_its_losses(E):
    side = P[0] if E >= 0 else P[1]
    Q = FLOW * E - (loss(side) if E >= 0 else -loss(side))
    assert float(ieha_pump.pumped(TRUE, E, *P)) == pytest.approx(Q)
    assert float(ieha_pump.lost(TRUE, 41e5)) == pytest.approx(loss(41e5)) and loss(41e5) > 0
    assert float(ieha_pump.lost(TRUE, 5e4)) == 0.0 == loss(5e4)
    wanted = 3e-5 * (1 if E >= 0 else -1)
    side = P[0] if wanted >= 0 else P[1]
    back = (wanted + (loss(side) if wanted >= 0 else -loss(side))) / FLOW
    assert float(ieha_pump.eccentricity(TRUE, wanted, *P)) == pytest.approx(back)


def test_the_law_of_an_actuator_with_its_pump():
    """h ẋ + ℓ, u_fr and the eccentricity for it on the law's own numbers; what it believes to act; margins as shares."""
    part = IEHAPart("lift", TRUE, k_x=4e-3, βk_f=60.0)
    Y, v, v_r, f_rate = 0.013, 0.02, 0.05, -3e4
    g_A, g_B = fed(Y)
    between = K_IN * (P[0] - P[1])
    leak = g_A * (between + K_EX * P[0]) + g_B * (between - K_EX * P[1])
    drift = (g_A * S_A + g_B * S_B) * v + leak
    assert float(ieha_pump.drift(TRUE, Y, v, *P)) == pytest.approx(drift)
    f_p = S_A * P[0] - S_B * P[1]
    u_fr = f_rate / β + drift + 4e-3 * 0.03 + 60.0 / β * 150.0
    X = part.command(0.63 + Y, v, v_r, P, [], f_p + 150.0, f_rate, None)
    Q = u_fr / (g_A + g_B)
    assert float(X) == pytest.approx((Q + np.sign(Q) * loss(P[0] if Q > 0 else P[1])) / FLOW)
    believed = part.believed(P, None, v, [], None, None)
    assert believed == pytest.approx(f_p - 310.0 * v - 40.0 - 90.0 * v)
    assert part.rubbing(v, v_r, [])[0] == pytest.approx(40.0 + 90.0 * v_r + 310.0 * v_r)
    assert part.measured == ("P_A_lift", "P_B_lift") and PART.k_f == pytest.approx(60.0 / 9e8)
    q = {"x lift": np.array([0.02, 0.07]), "room lift": np.array([0.08, 0.03])}
    q["inverse lift"] = np.array([-1e-4, 4e-4])
    shown = part.monitors(q, TRUE)
    assert shown["piston lift inside stroke"] == pytest.approx([0.4, 0.6])
    assert shown["ring lift within ±0.5 mm"] == pytest.approx([0.8, 0.2])
    assert part.usual_k_x(TRUE) == pytest.approx(min(6e-3, S_A**2 / V_A0 + S_B**2 / V_B0))
    wide = replace(TRUE, V_A0=9e-4, V_B0=7e-4)
    assert (
        part.usual_k_x(wide) == pytest.approx(S_A**2 / 9e-4 + S_B**2 / 7e-4)
        and part.usual_k_x(wide) < 6e-3
    )
    free = replace(TRUE, P_T=1e5)
    tank = TRUE.c * PUMP.A_0 * sqrt(40e5)
    assert ieha_pump.drained(free, 41e5) == pytest.approx(tank)
    assert ieha_pump.lost_within(free, 41e5) == pytest.approx(2 * V_A0 * 40e5 / (β * tank))


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_the_row_of_an_actuator_with_its_pump(way):
    """Flows on the way from the certificate to the oil: ring asked for, steps, stop, what the pump does; all but oil rubs."""
    E = way * 1.3e-4
    given = SimpleNamespace(
        x=[E, 0.0, 0.0, *P],
        s=0.643,
        v=0.02,
        v_r=0.05,
        f_pr=900.0,
        f_pr_rate=-3e4,
        f_c=480.0,
        u=way * 7e-4,
        steps={"derivative": 2e-4, "measurement": -1e-4},
    )
    own = ieha_ledger.side(PART, TRUE, given)
    g_A, g_B = fed(0.013)
    f_p = S_A * P[0] - S_B * P[1]
    assert own.f_p == pytest.approx(f_p) and own.f_f == pytest.approx(f_p - 480.0)
    u_fr = (
        -3e4 / β
        + float(ieha_pump.drift(TRUE, 0.013, 0.02, *P))
        + 4e-3 * 0.03
        + 60.0 / 9e8 * (900.0 - f_p)
    )
    assert own.u_fr == pytest.approx(u_fr)
    names, flows = zip(*own.ladder)
    assert names == ("valve inverse", "derivative", "measurement", "saturation", "valve", "")
    made = lambda E: (g_A + g_B) * (FLOW * E - np.sign(E) * loss(P[0] if E > 0 else P[1]))
    assert flows[:5] == pytest.approx(
        (u_fr, u_fr, made(2e-4), made(-1e-4), made(way * 5e-4)), rel=1e-9
    )
    delivered = TRUE.delivery(0.0, TRUE.whole(given.x, 0.643, 0.02))
    assert flows[5] == pytest.approx((g_A + g_B) * (delivered.Q_A - delivered.Q_B))
    assert made(float(own.inverse)) == pytest.approx(u_fr)


@pytest.mark.parametrize("X, failed", [([1e-4, -5e-4, 2e-4], [3]), ([1e-4, -5.1e-4, 2e-4], [2, 3])])
def test_what_an_actuator_with_its_pump_takes_for_granted(X, failed):
    q = {"ẋ": [0.01] * 3, "Δẋ": [0.0] * 3, "x": [0.02] * 3, "room": [0.03] * 3, "inverse": X}
    quantities = {f"{name} lift": np.array(values) for name, values in q.items()}
    run = SimpleNamespace(
        balance=SimpleNamespace(quantities=quantities, t=np.array([0.0, 0.5, 1.0]))
    )
    found = list(ieha_ledger.hypotheses(PART, run, TRUE))
    assert [i for i, a in enumerate(found) if a.holds is not True] == failed
    most = max(map(abs, X))
    assert found[2].margin == pytest.approx(5e-4 - most)
    assert found[2].worst == f"{1e3 * most:g} mm at t = 0.50 s"


def test_an_open_circuit_has_no_law():
    with pytest.raises(InputError, match="open circuit.*at 12 bar its tank takes"):
        IEHAPart("lift", replace(TRUE, circuit="open"), k_x=4e-3, βk_f=60.0).check()
    PART.check()


# ---- two chambers behind a servo valve ---------------------------------------------------------------------------------------
VALVE = ServoValve(c_p1=3e-8, c_n1=4e-8, c_p2=5e-8, c_n2=6e-8, width=0.0)
CYLINDER = Cylinder(
    bore=0.05,
    rod=0.03,
    stroke=0.4,
    V_a0=3e-5,
    V_b0=5e-5,
    c_i=2e-13,
    c_e=1e-13,
    valve=VALVE,
    friction=CoulombViscous(F_c=40.0, b=90.0),
)
A_A, A_B = pi / 4 * 0.05**2, pi / 4 * (0.05**2 - 0.03**2)
OIL = Oil(β=1.1e9, air=0.0)


def test_two_chambers_and_their_power():
    x, v, p_a, p_b = 0.13, 0.07, 61e5, 23e5
    V_a, V_b = 3e-5 + A_A * x, 5e-5 + A_B * (0.4 - x)
    q_i, q_ea, q_eb = 2e-13 * 38e5, 1e-13 * 61e5, 1e-13 * 23e5
    Q_a, Q_b = 2e-4, -9e-5
    rate_a, rate_b = CYLINDER.pressure_rates(OIL, x, v, p_a, p_b, Q_a, Q_b)
    assert rate_a == pytest.approx(1.1e9 / V_a * (Q_a - A_A * v - q_i - q_ea), rel=1e-6)
    assert rate_b == pytest.approx(1.1e9 / V_b * (Q_b + A_B * v + q_i - q_eb), rel=1e-6)
    g_a, g_b = CYLINDER.gains(OIL, x, p_a, p_b)
    assert (g_a, g_b) == pytest.approx((A_A / V_a, A_B / V_b), rel=1e-6)
    drift = (g_a * A_A + g_b * A_B) * v + g_a * (q_i + q_ea) + g_b * (q_i - q_eb)
    assert CYLINDER.drift(OIL, x, v, p_a, p_b) == pytest.approx(drift)
    work = Work(rate_a, rate_b, Q_a, Q_b, 2.3e-4, 1.2e-4, 3.0)
    powers = CYLINDER.powers(OIL, (p_a, p_b), x, v, 700.0, work, 150e5, 4e5)
    squeezed = p_a * rate_a * V_a / 1.1e9 + p_b * rate_b * V_b / 1.1e9
    leak = p_a * (q_i + q_ea) + p_b * (q_eb - q_i)
    ports = p_a * Q_a + p_b * Q_b
    supply, tank = 150e5 * 2.3e-4, 4e5 * 1.2e-4
    expected = (supply, -tank, ports - supply + tank, -leak, -squeezed, -700.0 * v)
    assert powers == pytest.approx(expected, rel=1e-6)
    assert sum(powers) == pytest.approx((A_A * p_a - A_B * p_b - 700.0) * v, rel=1e-6)


@pytest.mark.parametrize("force", [5e3, -3e3, 20e3])
def test_pressures_at_rest_are_in_the_middle_of_what_is_possible(force):
    """p_b as far from its least as from its most, of which one is where a chamber meets supply or return."""
    p_s, p_r = 150e5, 4e5
    p_a, p_b = CYLINDER.balanced(force, p_s, p_r)
    assert A_A * p_a - A_B * p_b == pytest.approx(force)
    ends = [
        p
        for p in (p_r, p_s, (A_A * p_r - force) / A_B, (A_A * p_s - force) / A_B)
        if p_r - 1 <= p <= p_s + 1 and p_r - 1 <= (force + A_B * p) / A_A <= p_s + 1
    ]
    assert p_b == pytest.approx((min(ends) + max(ends)) / 2)


def test_forces_that_the_chambers_cannot_bear_and_speeds_without_one():
    p_s, p_r = 150e5, 4e5
    most, least = A_A * p_s - A_B * p_r, A_A * p_r - A_B * p_s
    for force in (most - 1.0, least + 1.0):
        CYLINDER.balanced(force, p_s, p_r)
    for force in (most + 1.0, least - 1.0):
        with pytest.raises(InputError, match="cannot carry the weight"):
            CYLINDER.balanced(force, p_s, p_r)
    out, back = CYLINDER.speeds(90e5)
    assert out == pytest.approx(sqrt(90e5 / ((A_A / 3e-8) ** 2 + (A_B / 6e-8) ** 2)))
    assert back == pytest.approx(sqrt(90e5 / ((A_B / 5e-8) ** 2 + (A_A / 4e-8) ** 2)))


def test_the_law_of_two_chambers_behind_a_servo_valve():
    x, v, v_r, pair = 0.13, 0.07, 0.05, (61e5, 23e5)
    law = Valve(CYLINDER, OIL, 150e5, 4e5, 4e-3, 5e-8)
    f_p = A_A * pair[0] - A_B * pair[1]
    drift = CYLINDER.drift(OIL, x, v, *pair)
    flow = law.flow(x, v, pair, f_p + 900.0, -3e6, v_r)
    assert flow == pytest.approx(-3e6 / 1.1e9 + drift - 4e-3 * 0.02 + 5e-8 * 900.0)
    g_a, g_b = CYLINDER.gains(OIL, x, *pair)
    D = (
        g_a * 3e-8 * sqrt(89e5) + g_b * 6e-8 * sqrt(19e5),
        g_b * 5e-8 * sqrt(127e5) + g_a * 4e-8 * sqrt(57e5),
    )
    assert law.denominators(x, pair) == pytest.approx(D)
    assert law.voltage(x, pair, 0.3) == pytest.approx(0.3 / D[0])
    assert law.voltage(x, pair, -0.3) == pytest.approx(-0.3 / D[1])
    h = A_A**2 / (3e-5 + A_A * 0.2) + A_B**2 / (5e-5 + A_B * 0.2)
    assert bearable_k_x(CYLINDER, OIL) == pytest.approx(min(6e-3, h), rel=1e-6)
    long = replace(CYLINDER, stroke=4.0)
    h = A_A**2 / (3e-5 + A_A * 2.0) + A_B**2 / (5e-5 + A_B * 2.0)
    assert h < 6e-3 and bearable_k_x(long, OIL) == pytest.approx(h, rel=1e-6)
    assert usual_k_x([long, long], OIL) == (bearable_k_x(long, OIL),)
    assert len(usual_k_x([long, replace(long, stroke=5.0)], OIL)) == 2
    motor = SimpleNamespace(shut_in=lambda oil, x: 3.0 + x)
    assert motor_k_x(motor, OIL) == pytest.approx(3.0 * SHARE_OF_H)


# ---- a four-bar -----------------------------------------------------------------------------------------------------------
def bars(**changes):
    given = {"L_0": 1.3, "L_1": 0.4, "L_2": 1.1, "L_3": 0.7, "x_F": 0.9, "x_G": 0.35}
    given |= {"branch": "above", "z_10": 1.0}
    given["circuit"] = SimpleNamespace(range=(0.66, 1.18))
    return SimpleNamespace(**(given | changes))


@pytest.mark.parametrize("branch", ["above", "below"])
@pytest.mark.parametrize("z", [0.7, -0.9, 2.1])
def test_a_four_bar_closes_in_its_branch(branch, z):
    """L_1 e(z_1) + L_2 e(a_2) − L_3 e(a_3) … ends at E: crank, coupler and rocker meet, coupler's pin on the branch's side."""
    p = bars(branch=branch)
    a_2, a_3 = four_bar_geometry.pose(p, z)
    x, y, d = four_bar_geometry.gap(p, z)
    assert (x, y) == pytest.approx((1.3 - 0.4 * cos(z), -0.4 * sin(z))) and d == pytest.approx(
        hypot(x, y)
    )
    assert 1.1 * cos(a_2) + 0.7 * cos(a_3) == pytest.approx(x)
    assert 1.1 * sin(a_2) + 0.7 * sin(a_3) == pytest.approx(y)
    side = x * sin(a_2) - y * cos(a_2)
    assert side > 0 if branch == "above" else side < 0
    s = hypot(0.9 + 0.35 * cos(z), 0.35 * sin(z))
    assert four_bar_geometry.length(p, z) == pytest.approx(s)
    h = 1e-6
    rate = (four_bar_geometry.length(p, z + h) - four_bar_geometry.length(p, z - h)) / (2 * h)
    assert four_bar_geometry.lever(p, z) == pytest.approx(rate, rel=1e-8)
    assert four_bar_geometry.span(p) == pytest.approx((0.4, 1.8))
    assert four_bar_geometry.span(bars(L_2=0.7, L_3=1.1)) == pytest.approx((0.4, 1.8))


def at_length(s):
    return acos((s * s - 0.9**2 - 0.35**2) / (2 * 0.9 * 0.35))


@pytest.mark.parametrize(
    "changes, ends",
    [
        ({}, (at_length(1.18), at_length(0.66))),
        ({"L_2": 0.5, "L_3": 0.7}, (at_length(1.18), acos((1.3**2 + 0.4**2 - 1.44) / 1.04))),
        ({"L_2": 1.9, "L_3": 0.7}, (acos((1.3**2 + 0.4**2 - 1.44) / 1.04), at_length(0.66))),
    ],
)
def test_a_crank_turns_as_far_as_cylinder_and_loop_allow(changes, ends):
    assert four_bar_geometry.crank_range(bars(**changes)) == pytest.approx(ends)
    mirrored = four_bar_geometry.crank_range(bars(z_10=-1.0, **changes))
    assert mirrored == pytest.approx((-ends[1], -ends[0]))


def test_a_crank_that_nothing_stops_turns_from_end_to_end():
    free = bars(L_2=1.1, L_3=0.7, circuit=SimpleNamespace(range=(0.1, 5.0)))
    assert four_bar_geometry.crank_range(free) == pytest.approx((0.0, pi))
