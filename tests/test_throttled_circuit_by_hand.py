"""A throttled circuit alone, by numbers: volumes, flows and rates on both sides of its spool, powers, its inverse, its signals."""

from dataclasses import replace
from math import pi, sqrt
from types import SimpleNamespace

import pytest

from plants.components import circuit as module
from plants.components import circuit_inverse as inverse
from plants.components.circuit import ThrottledCircuit
from plants.components.circuit_checks import check_chambers
from plants.components.friction import BrownMcPhee, CoulombViscous, LuGre
from workbench.contract.errors import InputError

OWN = ThrottledCircuit(
    p_P=8e6, p_T=2e5, p_30=3e6, B_oil=1.2e9, B_h=2e8, B_c=3e10, V_h1=5e-5, V_h2=3e-5, V_h3=8e-5, bore=0.07, rod=0.03,
    s_0=1.6, l_20=0.4, l_30=0.55, Q_n=5e-4, Δp_n=36e5, U_max=8.0, τ=0.02, d_t=5e-3, C_d=0.7, ρ=870.0, p_l=3e5,
    friction=CoulombViscous(F_c=200.0, b=400.0), l_2min=0.03, l_3min=0.02,
)  # fmt: skip
A_2, A_3 = pi / 4 * 0.07**2, pi / 4 * (0.07**2 - 0.03**2)
C_VD, C_VT = 5e-4 / (8 * sqrt(36e5)), 0.7 * pi / 4 * 5e-3**2 * sqrt(2 / 870)
S, RATE, P = 1.68, -0.12, (6e6, 5.4e6, 2.3e6)


def v(dp):
    """The root, linear below p_l = 3 bar."""
    return dp / sqrt(max(abs(dp), 3e5))


def compliance():
    hose, tube = 1 / 1.2e9 + 1 / 2e8, 1 / 1.2e9 + 1 / 3e10
    return 5e-5 * hose, 3e-5 * hose + A_2 * 0.48 * tube, 8e-5 * hose + A_3 * 0.47 * tube


def flows(U):
    """(Q_d1, Q_t, Q_3d, drops at both edges)."""
    if U >= 0:
        drops = 8e6 - P[0], P[2] - 2e5
    else:
        drops = P[0] - 2e5, 8e6 - P[2]
    return C_VD * U * v(drops[0]), C_VT * v(P[0] - P[1]), C_VD * U * v(drops[1]), *drops


# ---- sizes ----------------------------------------------------------------------------------------------------------------
def test_volumes_and_compliances():
    assert OWN.volumes(S) == pytest.approx((5e-5, 3e-5 + A_2 * 0.48, 8e-5 + A_3 * 0.47))
    assert [1e12 * K for K in OWN.compliances(S)] == pytest.approx([1e12 * K for K in compliance()])
    assert (OWN.C_vd, OWN.C_vt) == pytest.approx((C_VD, C_VT), abs=1e-15)
    assert OWN.sizes().source == "pressure of the pump"
    assert OWN.velocity_gain_on("a line") == OWN.velocity_gain


# ---- rates and powers -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("U", [3.0, -2.0, 0.0])
def test_flows_through_valve_and_throttle(U):
    assert tuple(map(float, OWN.flows([*P, U]))) == pytest.approx(flows(U), abs=1e-16)


def test_flow_is_laminar_below_a_drop():
    assert OWN.laminar_root(-1.2e5) == pytest.approx(-1.2e5 / sqrt(3e5))
    assert OWN.laminar_root(4.9e5) == pytest.approx(700.0) and OWN.laminar_root(-4e6) == -2000.0


@pytest.mark.parametrize("U", [3.0, -2.0])
@pytest.mark.parametrize("u, held", [(5.0, 5.0), (-9.0, -8.0), (11.0, 8.0)])
def test_rates_of_pressures_and_spool(U, u, held):
    Q_1, Q_t, Q_3, _, _ = flows(U)
    K_1, K_2, K_3 = compliance()
    wanted = [(Q_1 - Q_t) / K_1, (Q_t - A_2 * RATE) / K_2, (A_3 * RATE - Q_3) / K_3, (held - U) / 0.02]  # fmt: skip
    assert [float(r) for r in OWN.rates([*P, U], S, RATE, [u])] == pytest.approx(wanted)


LAW = LuGre(F_c=200.0, F_s=320.0, v_s=0.02, b=300.0, σ_0=5e6, σ_1=2e4)
BENT = replace(OWN, friction=LAW)


def test_force_and_memory_of_the_friction():
    z = [3e-5]
    x = [*P, 2.0, *z]
    assert BENT.rubbing(x, RATE) == pytest.approx(LAW.force(RATE, z))
    wanted = A_2 * P[1] - A_3 * P[2] - LAW.force(RATE, z)
    assert BENT.force(x, S, RATE) == pytest.approx(wanted)
    assert BENT.rates(x, S, RATE, [1.0])[4:] == pytest.approx(LAW.rate(RATE, z))
    K = compliance()
    oil = sum(k * p * p for k, p in zip(K, P)) / 2
    assert BENT.stored(x, S) == pytest.approx(oil + LAW.stored(z))
    assert module.KEPT == 4 and [s.name for s in BENT.states()][4:] == ["z_c"]


@pytest.mark.parametrize("U", [3.0, -2.0])
def test_powers_by_cause(U):
    """Their sum is what the oil stores more and the load gets."""
    Q_1, Q_t, Q_3, drop_1, drop_3 = flows(U)
    pump, tank = (Q_1, Q_3) if U >= 0 else (-Q_3, -Q_1)
    tube = 1 / 1.2e9 + 1 / 3e10
    wanted = {
        "pump": 8e6 * pump,
        "tank": -2e5 * tank,
        "valve": -abs(Q_1 * drop_1) - abs(Q_3 * drop_3),
        "throttle": -(P[0] - P[1]) * Q_t,
        "friction": -OWN.friction.force(RATE) * RATE,
        "carried": RATE * tube / 2 * (A_2 * P[1] ** 2 - A_3 * P[2] ** 2),
    }
    found = dict(zip(OWN.power_names(), map(float, OWN.powers([*P, U], S, RATE, [0.0]))))
    assert found == pytest.approx(wanted)
    rates = OWN.rates([*P, U], S, RATE, [0.0])
    stored = sum(k * p * r for k, p, r in zip(compliance(), P, rates))
    stored += RATE * tube / 2 * (A_2 * P[1] ** 2 - A_3 * P[2] ** 2)
    assert sum(found.values()) == pytest.approx(stored + OWN.force([*P, U], S, RATE) * RATE)


def test_at_rest_one_side_has_its_pressure_and_the_other_carries():
    p_2 = (900.0 + A_3 * 3e6) / A_2
    assert BENT.initial(S, 900.0) == pytest.approx([p_2, p_2, 3e6, 0.0, 0.0])


# ---- the inverse ----------------------------------------------------------------------------------------------------------
def test_gains_and_drift():
    _, K_2, K_3 = compliance()
    g = A_2 / (1.2e9 * K_2), A_3 / (1.2e9 * K_3)
    assert inverse.gains(OWN, S) == pytest.approx(g)
    assert inverse.drift(OWN, S, RATE) == pytest.approx((g[0] * A_2 + g[1] * A_3) * RATE, abs=1e-15)
    out, back = inverse.slopes(OWN, S, P[1], P[2])
    assert out == pytest.approx((g[0] * v(2.6e6), g[1] * v(2.1e6)))
    assert back == pytest.approx((g[0] * v(5.2e6), g[1] * v(5.7e6)))


@pytest.mark.parametrize("U", [0.4, 5.0, -0.7, -6.0])
def test_what_has_passed_a_valve_that_stays_open(U):
    """Orifices in series carry one flow: y v(Δ)/√(1 + (y/C_vt)²)."""
    y = C_VD * U
    g_2, g_3 = inverse.gains(OWN, S)
    drops = (2.6e6, 2.1e6) if U >= 0 else (5.2e6, 5.7e6)
    wanted = g_2 * y * v(drops[0]) / sqrt(1 + (y / C_VT) ** 2) + g_3 * y * v(drops[1])
    u_f = inverse.passed(OWN, S, P[1], P[2], U)
    assert float(u_f) == pytest.approx(wanted)
    assert float(inverse.invert(OWN, S, P[1], P[2], u_f)) == pytest.approx(U, rel=1e-9)


# ---- refusals -------------------------------------------------------------------------------------------------------------
ENDLESS = {"l_20": 0.03125, "l_2min": 0.03125, "l_30": 0.015625, "l_3min": 0.015625}


@pytest.mark.parametrize(
    "change, said",
    [
        ({"l_20": 0.029}, "l_20: 0.029 m at s_0 is shorter than l_2min = 0.03 m, the shortest the chamber at the piston can be"),
        ({"l_30": 0.019}, "l_30: 0.019 m at s_0 is shorter than l_3min = 0.02 m, the shortest the chamber at the rod can be"),
        ({"V_h2": 0.0, "l_2min": 0.0}, "V_h2: without a hose and with l_2min = 0 the volume at the piston vanishes"),
        ({"V_h3": 0.0, "l_3min": 0.0}, "V_h3: without a hose and with l_3min = 0 the volume at the rod vanishes"),
        (ENDLESS, "l_20: the chambers, 0.03125 and 0.015625 m long, leave no stroke"),
        ({"rod": 0.07}, "rod: 0.07 m is not thinner than the bore, 0.07 m"),
        ({"p_P": 2e5}, "p_P: the pump's 2 bar are not above the tank's 2 bar"),
    ],
)  # fmt: skip
def test_circuits_that_cannot_be(change, said):
    with pytest.raises(InputError) as refused:
        replace(OWN, **change)
    assert refused.value.message.startswith(said)


@pytest.mark.parametrize(
    "change",
    [
        {"l_20": 0.03},
        {"l_30": 0.02},
        {"V_h2": 0.0},
        {"l_2min": 0.0},
        {"V_h3": 0.0},
        {"rod": 0.0699},
        {"p_P": 2.001e5},
        {"l_20": 0.03, "l_30": 0.0201},
    ],
)
def test_circuits_that_can_just_be(change):
    check_chambers(replace(OWN, **change))


@pytest.mark.parametrize("s_0, fits", [(1.2701, True), (1.2699, False)])
def test_pins_of_a_retracted_cylinder(s_0, fits):
    """s_0 − l_20 + l_2min is at least the stroke, 0.4 + 0.55 − 0.05 m."""
    own = replace(OWN, s_0=s_0)
    if fits:
        own.check_pins("circuit")
        return
    with pytest.raises(InputError) as refused:
        own.check_pins("circuit")
    text = "circuit.l_20: retracted, the pins are 0.8999 m apart, less than the stroke, 0.9 m"
    assert refused.value.message == text


# ---- signals --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("label, end, of", [("", "", ""), ("lift", "_lift", ", lift")])
def test_names_of_signals(label, end, of):
    assert OWN.pressures(label) == (f"p_1{end}", f"p_2{end}", f"p_3{end}")
    assert [(s.name, s.unit, s.meaning) for s in OWN.states(label)] == [
        (f"p_1{end}", "Pa", f"pressure before the throttle{of}"),
        (f"p_2{end}", "Pa", f"pressure at the piston{of}"),
        (f"p_3{end}", "Pa", f"pressure at the rod{of}"),
        (f"U{end}", "V", f"spool{of}"),
    ]
    names = ("pump", "tank", "valve", "throttle", "friction", "carried")
    assert OWN.power_names(label) == tuple(f"{name}{end}" for name in names)
    (given,) = OWN.inputs(label)
    assert (given.name, given.unit) == (f"U_ref{end}", "V")
    *chambers, spool = OWN.machine_limits(label, "drive")
    assert [limit.signals for limit in chambers] == [(name,) for name in OWN.pressures(label)]
    assert [limit.low for limit in chambers] == [0.0] * 3
    assert (spool.signals, spool.low, spool.high, spool.key) == ((f"U{end}",), -8.0, 8.0, "drive.U_max")  # fmt: skip


def test_a_circuit_without_numbers_is_that_of_the_paper():
    """[Jaiswal21] Tables 1 and 2: bar, litres a minute, and the spool's 70π rad/s."""
    own, bar = ThrottledCircuit(), 1e5
    assert (own.p_P, own.p_T, own.p_30) == pytest.approx((76 * bar, 1 * bar, 35 * bar))
    assert (own.B_oil, own.B_h, own.B_c) == (1500e6, 150e6, 31500e6)
    assert [1e5 * V for V in (own.V_h1, own.V_h2, own.V_h3)] == pytest.approx([4.71, 3.14, 7.85])
    assert (own.bore, own.rod, own.l_20, own.l_30) == (0.08, 0.035, 0.5, 0.5)
    assert own.s_0**2 == pytest.approx(3.0) and own.Q_n * 60e3 == pytest.approx(24.0)
    assert (own.Δp_n, own.U_max, own.p_l) == (35 * bar, 10.0, 2 * bar)
    assert 70 * pi * own.τ == pytest.approx(1.0) and (own.d_t, own.C_d, own.ρ) == (6e-3, 0.8, 850.0)
    assert own.friction == BrownMcPhee(F_c=210.0, F_s=300.0, v_s=5e-3, b=330.0)
    assert (own.l_2min, own.l_3min) == (0.0, 0.0) and own.equal_steps is True


def test_a_hose_alone_or_a_length_alone_keeps_a_volume():
    kept = SimpleNamespace(l_20=0.4, l_2min=0.0, V_h2=1e-9, l_30=0.5, l_3min=1e-9, V_h3=0.0, stroke=0.9)  # fmt: skip
    assert check_chambers(kept) is None
