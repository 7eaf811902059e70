"""Cylinders, motors and their oil, alone: volumes, walls, rates of pressures, powers and forces at rest, by their equations."""

from dataclasses import fields, replace
from math import log, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad

from plants.components import orifice
from plants.components.chamber import CAVITY, Oil
from plants.components.cylinder import Cylinder, Walls
from plants.components.friction import CoulombViscous, Frictionless
from plants.components.motor import Motor
from plants.components.two_chambers import POWERS, Work
from plants.components.valve import Valve
from workbench.contract.errors import InputError

OIL = Oil(β=1.1e9, air=0.003, p_0=1.2e5, width=2.5)
WALLS = Walls(B_h=4e8, V_ha=2e-4, V_hb=3.5e-4, B_c=9e10)
RATED = Valve(c_p1=3.1e-8, c_n1=4.3e-8, c_p2=2.2e-8, c_n2=5.7e-8, u_max=7.0, dead_band=0.4, width=0.0)  # fmt: skip
BARE = Cylinder(0.08, 0.045, 0.55, V_a0=4e-5, V_b0=7e-5, c_i=3e-13, c_e=2e-13, valve=RATED)
PIPED = replace(BARE, walls=WALLS)
TURNED = Motor(D=4e-5, V=6e-4, i=5.0, c_i=3e-13, c_e=2e-13, valve=RATED)
A_A, A_B = pi / 4 * 0.08**2, pi / 4 * (0.08**2 - 0.045**2)
D_I = 2e-4
X, V, P_A, P_B, P_S, P_R = 0.2, 0.13, 92e5, 41e5, 187e5, 9e5


def modulus(p):
    """β(p) of oil with air well above zero: 1/β + air p_0/p²."""
    return 1 / (1 / 1.1e9 + 0.003 * 1.2e5 / p**2)


def walled(β, volume, hose):
    return volume / (volume / β + hose / 4e8 + (volume - hose) / 9e10)


def chambers(part):
    """(A_a, A_b, V_a, V_b, B_a, B_b) at X, P_A, P_B."""
    if part is TURNED:
        return D_I, D_I, 6e-4, 6e-4, modulus(P_A), modulus(P_B)
    V_a, V_b = 4e-5 + A_A * 0.2, 7e-5 + A_B * 0.35
    if part is BARE:
        return A_A, A_B, V_a, V_b, modulus(P_A), modulus(P_B)
    V_a, V_b = V_a + 2e-4, V_b + 3.5e-4
    B_a, B_b = walled(modulus(P_A), V_a, 2e-4), walled(modulus(P_B), V_b, 3.5e-4)
    return A_A, A_B, V_a, V_b, B_a, B_b


PARTS = (BARE, PIPED, TURNED)


# ---- what they are without numbers ----------------------------------------------------------------------------------------
def test_what_is_not_said_is_not_there():
    """No dead volume, no leakage, no hose, rigid walls, a gear of one; oil is pure, air is told at one atmosphere."""
    plain = Cylinder(0.08, 0.045, 0.55)
    assert (plain.V_a0, plain.V_b0, plain.c_i, plain.c_e, plain.walls) == (0.0,) * 4 + (None,)
    assert plain.valve == Valve() and plain.friction == CoulombViscous()
    own = Walls(B_h=3e8)
    assert (own.V_ha, own.V_hb, own.B_c) == (0.0, 0.0, None)
    geared = Motor(D=4e-5, V=6e-4)
    assert (geared.i, geared.c_i, geared.c_e) == (1.0, 0.0, 0.0)
    assert geared.friction == Frictionless()
    pure = Oil()
    assert (pure.β, pure.air, pure.p_0, pure.width) == (8e8, 0.0, 101325.0, 1.0)
    assert (pure.hollow, replace(pure, air=1e-3).hollow) == (0.0, 1e4) and CAVITY == 1e4


def test_a_rod_is_thinner_than_its_bore():
    assert replace(BARE, rod=0.0799).A_b > 0
    for rod in (0.08, 0.081):
        with pytest.raises(InputError, match=f"rod: {rod:g} m is not thinner than the bore, 0.08 m"):  # fmt: skip
            replace(BARE, rod=rod)


def test_lengths_are_metres():
    """80 mm, not 80 m, and no stroke of nothing."""
    for field in ("bore", "stroke"):
        with pytest.raises(ValueError, match="less than 15 m"):
            replace(BARE, **{field: 80.0})
        with pytest.raises(ValueError, match="greater than zero"):
            replace(BARE, **{field: 0.0})
    assert {"bore", "rod", "stroke"} <= {f.name for f in fields(Cylinder)}


# ---- oil ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("p", [3.0, -4.0, 0.7, 2e5])
def test_pressure_is_kept_positive_over_a_width(p):
    """P = ½ (p + √(p² + w²)), w = 2.5 Pa: positive, with P (P − p) = w²/4."""
    P = OIL._positive(p)
    assert P == pytest.approx((p + sqrt(p * p + 6.25)) / 2, rel=1e-9)
    assert OIL.stiffness(p) == pytest.approx(1.1e9 / (1 + 1.1e9 * 360 / P**2), rel=1e-9)


@pytest.mark.parametrize("p, base", [(60e5, 1e5), (1.4e5, 3e5), (30.0, 12.0)])
def test_work_of_compression_is_the_integral_of_the_strain(p, base):
    exact, _ = quad(lambda s: (s - base) / OIL.stiffness(s), base, p, epsabs=0, epsrel=1e-11)
    assert OIL.energy(p, base) == pytest.approx(exact, rel=1e-7)
    pure = replace(OIL, air=0.0)
    assert pure.energy(p, base) == pytest.approx((p - base) ** 2 / 2.2e9)


def test_work_of_air_far_above_zero_is_isothermal():
    p, base = 60e5, 1e5
    gas = 0.003 * 1.2e5 * (log(p / base) + base / p - 1)
    assert OIL.energy(p, base) == pytest.approx((p - base) ** 2 / 2.2e9 + gas, rel=1e-9)


def test_the_root_is_regular_where_both_are_zero():
    """Without a width down to 1e-140 Pa, where what keeps 0/0 away is seen."""
    assert orifice.root(0.0) == 0.0 and orifice.root(-9.0, 12.0) == pytest.approx(-9 / 15**0.5)
    assert orifice.root(1e-140) == pytest.approx(1e-70, abs=0.0)
    tiny = 1e-152 / (1e-304 + 1e-300) ** 0.25
    assert orifice.root(1e-152) == pytest.approx(tiny, rel=1e-9, abs=0.0)


# ---- walls ----------------------------------------------------------------------------------------------------------------
def test_hose_and_tube_stretch_beside_the_oil():
    β = 1.3e9
    assert WALLS.modulus(β, 7e-4, 2e-4) == pytest.approx(walled(β, 7e-4, 2e-4))
    rigid = replace(WALLS, B_c=None).modulus(β, 7e-4, 2e-4)
    assert rigid == pytest.approx(7e-4 / (7e-4 / β + 2e-4 / 4e8))


@pytest.mark.parametrize("part", PARTS, ids=("bare", "piped", "motor"))
def test_areas_volumes_and_moduli(part):
    A_a, A_b, V_a, V_b, B_a, B_b = chambers(part)
    assert (part.A_a, part.A_b) == pytest.approx((A_a, A_b))
    assert part.volumes(X) == pytest.approx((V_a, V_b))
    assert part.moduli(OIL, X, P_A, P_B) == pytest.approx((B_a, B_b))
    assert part.force(P_A, P_B) == pytest.approx(A_a * P_A - A_b * P_B)
    g = A_a * B_a / (1.1e9 * V_a), A_b * B_b / (1.1e9 * V_b)
    assert part.gains(OIL, X, P_A, P_B) == pytest.approx(g)


@pytest.mark.parametrize("part", PARTS, ids=("bare", "piped", "motor"))
def test_stiffness_with_both_ports_shut(part):
    """Of oil without air: −∂f_p/∂x at shut ports, over β."""
    A_a, A_b, V_a, V_b, _, _ = chambers(part)
    B_a, B_b = 1.1e9, 1.1e9
    if part is PIPED:
        B_a, B_b = walled(B_a, V_a, 2e-4), walled(B_b, V_b, 3.5e-4)
    wanted = (A_a**2 * B_a / V_a + A_b**2 * B_b / V_b) / 1.1e9
    assert part.shut_in(OIL, X) == pytest.approx(wanted)


# ---- rates and powers -----------------------------------------------------------------------------------------------------
Q_A, Q_B = 2.3e-4, -1.7e-4
LEAKS = 3e-13 * (P_A - P_B), 2e-13 * P_A, 2e-13 * P_B


@pytest.mark.parametrize("part", PARTS, ids=("bare", "piped", "motor"))
def test_pressures_rise_by_what_flows_in_and_is_not_made_room_for(part):
    A_a, A_b, V_a, V_b, B_a, B_b = chambers(part)
    q_i, q_ea, q_eb = LEAKS
    assert part.leakage(P_A, P_B) == pytest.approx(LEAKS)
    rates = B_a / V_a * (Q_A - A_a * V - q_i - q_ea), B_b / V_b * (Q_B + A_b * V + q_i - q_eb)
    assert part.pressure_rates(OIL, X, V, P_A, P_B, Q_A, Q_B) == pytest.approx(rates)
    g_a, g_b = part.gains(OIL, X, P_A, P_B)
    lost = part.drift(OIL, X, V, P_A, P_B)
    assert lost == pytest.approx(
        (g_a * A_a + g_b * A_b) * V + g_a * (q_i + q_ea) + g_b * (q_i - q_eb)
    )
    force_rate = A_a * rates[0] - A_b * rates[1]
    assert force_rate == pytest.approx(1.1e9 * (g_a * Q_A - g_b * Q_B - lost))


@pytest.mark.parametrize("u", [3.1, -2.7])
@pytest.mark.parametrize("part", PARTS, ids=("bare", "piped", "motor"))
def test_powers_behind_a_valve(part, u):
    """By cause; together what is left for the load, (f_p − f_f) ẋ."""
    work = part.at_work(OIL, (P_A, P_B), [], u, X, V, P_S, P_R)
    _, _, V_a, V_b, B_a, B_b = chambers(part)
    Q = RATED.flows(u, P_A, P_B, P_S, P_R)
    rates = part.pressure_rates(OIL, X, V, P_A, P_B, *Q)
    given, returned = (f(u, P_A, P_B, P_S, P_R) for f in (RATED.supply_flow, RATED.tank_flow))
    assert work == pytest.approx(Work(*rates, *Q, given, returned, u))
    found = dict(zip(POWERS, part.powers(OIL, (P_A, P_B), X, V, 310.0, work, P_S, P_R)))
    q_i, q_ea, q_eb = LEAKS
    wanted = {
        "supply": P_S * given,
        "tank": -P_R * returned,
        "throttling": P_A * Q[0] + P_B * Q[1] - P_S * given + P_R * returned,
        "leakage": -(P_A - P_B) * q_i - P_A * q_ea - P_B * q_eb,
        "compression": -(P_A * rates[0] * V_a / B_a + P_B * rates[1] * V_b / B_b),
        "friction": -310.0 * V,
    }
    assert found == pytest.approx(wanted)
    assert sum(found.values()) == pytest.approx((part.force(P_A, P_B) - 310.0) * V)


# ---- at rest --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("force", [12e3, -9e3, 60e3, A_A * 187e5 - A_B * 9e5, A_A * 9e5 - A_B * 187e5])  # fmt: skip
def test_pressures_that_carry_a_load_are_in_the_middle_of_what_is_possible(force):
    """p_b as far from its least as from its greatest: each where one of both chambers is at supply or return."""
    p_a, p_b = BARE.balanced(force, P_S, P_R)
    assert A_A * p_a - A_B * p_b == pytest.approx(force)
    ends = sorted([P_S, P_R, (A_A * P_S - force) / A_B, (A_A * P_R - force) / A_B])[1:3]
    assert p_b == pytest.approx(sum(ends) / 2)


@pytest.mark.parametrize(
    "part, force, said",
    [
        (BARE, A_A * 187e5 - A_B * 9e5 + 1.0, "a cylinder cannot carry the weight: it needs 90.9"),
        (BARE, A_A * 9e5 - A_B * 187e5 - 1.0, "a cylinder cannot carry the weight: it needs -59.7"),
        (TURNED, 4e3, "a motor cannot carry the weight: it needs 4 kN m and has -3.56 … 3.56 kN m"),
    ],
)
def test_a_load_beyond_the_supply_is_refused(part, force, said):
    with pytest.raises(InputError) as refused:
        part.balanced(force, P_S, P_R)
    text = refused.value.message
    assert text.startswith(said) and text.endswith("between 9 and 187 bar")
    assert "raise the supply pressure" in refused.value.mend


def test_speeds_without_load_take_the_whole_drop_in_both_notches():
    """v A_a = c_p1 √Δ_1 and v A_b = c_n2 √Δ_2 a volt, Δ_1 + Δ_2 = Δ; back through c_p2 and c_n1."""
    drop = 150e5
    out, back = BARE.speeds(drop)
    assert (out * A_A / 3.1e-8) ** 2 + (out * A_B / 5.7e-8) ** 2 == pytest.approx(drop)
    assert (back * A_B / 2.2e-8) ** 2 + (back * A_A / 4.3e-8) ** 2 == pytest.approx(drop)


def test_areas_are_floats_of_the_same_size_on_arrays():
    x = np.array([0.1, 0.4])
    V_a, V_b = PIPED.volumes(x)
    assert V_a == pytest.approx(4e-5 + A_A * x + 2e-4)
    assert V_b == pytest.approx(7e-5 + A_B * (0.55 - x) + 3.5e-4)
