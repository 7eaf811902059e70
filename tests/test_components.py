"""Orifice, oil and valve: laws and closed forms, each alone, on floats and on expressions."""

from dataclasses import replace
from math import inf, pi, sqrt

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from plants.components.chamber import Oil
from plants.components.orifice import root
from plants.components.valve import D_MIN, Valve, nominal
from workbench.contract.errors import InputError
from workbench.contract.parameters import bind

ca.GlobalOptions.setNumpyMode(-1)

OIL = Oil(β=1.3e9, air=0.004, p_0=1.1e5)
VALVE = Valve(
    c_p1=3.1e-8, c_n1=4.3e-8, c_p2=2.2e-8, c_n2=5.7e-8, u_max=7.0, dead_band=0.4, width=0.0
)
P_S, P_R = 187e5, 9e5


def traced(f, *values):
    """f at `values` by way of an expression."""
    symbols = [ca.SX.sym(f"s{i}") for i in range(len(values))]
    results = f(*symbols)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    numbers = ca.Function("f", symbols, [ca.vertcat(*results)])(*values)
    return np.array(numbers).ravel()


def slope(f, v):
    """Exact derivative of f at v."""
    x = ca.SX.sym("x")
    return float(ca.Function("d", [x], [ca.jacobian(f(x), x)])(v))


def pressures(rng, n):
    """Chamber pressures strictly between return and supply."""
    return rng.uniform(P_R + 1e5, P_S - 1e5, (n, 2))


# ---- orifice ---------------------------------------------------------------------------------------------------------


def test_root_without_width_is_the_signed_square_root():
    drops = np.array([-185e5, -3.0, -1e-9, 0.0, 2e-12, 1.0, 7e5, 4e7])
    exact = np.sign(drops) * np.sqrt(np.abs(drops))
    assert [root(float(d)) for d in drops] == pytest.approx(exact, rel=1e-15, abs=0)
    assert [traced(root, float(d))[0] for d in drops] == pytest.approx(exact, rel=1e-15, abs=0)


def test_root_with_width_is_odd_increasing_and_has_the_stated_slope_and_error():
    w = 730.0
    up = np.geomspace(1e-3, 1e7, 300)
    values = np.array([root(float(d), w) for d in [*-up[::-1], 0.0, *up]])
    assert np.array_equal(values, -values[::-1]) and np.all(np.diff(values) > 0)
    assert slope(lambda d: root(d, w), 0.0) == pytest.approx(1 / sqrt(w), rel=1e-14)
    assert root(5e4, w) / sqrt(5e4) - 1 == pytest.approx(-((w / 5e4) ** 2) / 4, rel=1e-3)


# ---- oil -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.8e5, 3e5, 40e5, 200e5])
def test_compliance_is_that_of_oil_and_gas_in_series(p):
    """Volume lost per pressure, from the volume of oil (1 − p/β) and that of isothermal gas (air p_0/p)."""
    assert 1 / OIL.stiffness(p) == pytest.approx(
        -slope(lambda x: 1 - x / OIL.β + OIL.air * OIL.p_0 / x, p), rel=1e-9
    )


def test_without_air_the_stiffness_is_the_bulk_modulus_exactly():
    pure = replace(OIL, air=0.0)
    for p in (-1e308, -3e7, -1.0, 0.0, 1e-200, 5.0, 2e7, 1e308):
        with np.errstate(over="ignore"):
            assert pure.stiffness(np.float64(p)) == OIL.β
    assert traced(lambda p, air: bind(OIL, {"air": air}).stiffness(p), -2.0, 0.0)[0] == OIL.β


def test_with_air_the_stiffness_is_positive_everywhere_and_rises_with_pressure():
    p = np.concatenate([-np.geomspace(1e8, 1e-6, 200), [0.0], np.geomspace(1e-6, 1e8, 400)])
    β = np.array([OIL.stiffness(float(x)) for x in p])
    assert np.all(β > 0) and np.all(β <= OIL.β) and np.all(np.diff(β) >= 0)
    assert β[-1] == pytest.approx(OIL.β, rel=1e-4)
    with np.errstate(over="ignore"):
        assert OIL.stiffness(np.float64(-1e308)) > 0 and OIL.stiffness(np.float64(1e308)) == OIL.β


def test_a_chamber_that_is_sucked_empty_stays_above_zero_with_air_and_not_without():
    def emptied(oil):
        rhs = lambda t, p: [-oil.stiffness(p[0]) * 0.3]
        return solve_ivp(rhs, (0, 2), [50e5], method="LSODA", rtol=1e-9, atol=1e-3).y[0]

    assert emptied(OIL).min() > 0
    assert emptied(replace(OIL, air=0.0)).min() < -1e8


# ---- valve -----------------------------------------------------------------------------------------------------------


def test_nominal_flow_comes_back_through_one_notch():
    c = nominal(40 / 60e3, 35e5, 7.0)
    valve = Valve.from_nominal(40 / 60e3, 35e5, 7.0, ratios=(1.0, 0.9, 0.6, 0.5), width=0.0)
    assert (valve.c_p1, valve.c_n1, valve.c_p2, valve.c_n2) == pytest.approx(
        (c, 0.9 * c, 0.6 * c, 0.5 * c)
    )
    Q_a, Q_b = valve.flows(7.0, P_S - 35e5, P_R + 35e5, P_S, P_R)
    assert (Q_a, Q_b) == pytest.approx((40 / 60e3, -0.5 * 40 / 60e3), rel=1e-14)
    with pytest.raises(InputError, match="must be positive"):
        nominal(-1e-3, 35e5)


def test_flows_are_those_of_the_paper():
    """(82)–(85) written out with the selection function, at random spool positions and pressures, p > p_s included."""
    rng, v = np.random.default_rng(3), lambda d: np.sign(d) * np.sqrt(abs(d))
    S = lambda u: 1.0 if u > 0 else 0.0
    valve = replace(VALVE, dead_band=0.0)
    for u in rng.uniform(-7, 7, 200):
        p_a, p_b = rng.uniform(0, 230e5, 2)
        Q_a = valve.c_p1 * v(P_S - p_a) * u * S(u) + valve.c_n1 * v(p_a - P_R) * u * S(-u)
        Q_b = -valve.c_n2 * v(p_b - P_R) * u * S(u) - valve.c_p2 * v(P_S - p_b) * u * S(-u)
        assert valve.flows(u, p_a, p_b, P_S, P_R) == pytest.approx((Q_a, Q_b), rel=1e-13)
        assert traced(valve.flows, u, p_a, p_b, P_S, P_R) == pytest.approx((Q_a, Q_b), rel=1e-13)


def test_oil_is_neither_made_nor_lost_in_the_valve():
    rng = np.random.default_rng(4)
    for u, (p_a, p_b) in zip(rng.uniform(-9, 9, 100), pressures(rng, 100)):
        state = (u, p_a, p_b, P_S, P_R)
        drawn, returned = VALVE.supply_flow(*state), VALVE.tank_flow(*state)
        assert drawn >= 0 and returned >= 0
        assert drawn - returned == pytest.approx(sum(VALVE.flows(*state)), rel=1e-12, abs=1e-18)
        lost = P_S * drawn - P_R * returned - np.dot((p_a, p_b), VALVE.flows(*state))
        assert lost >= 0  # throttling dissipates


def test_opening_saturates_and_skips_the_overlap():
    cases = {
        -50.0: -6.6,
        -7.0: -6.6,
        -0.5: -0.1,
        -0.4: 0.0,
        0.0: 0.0,
        0.3: 0.0,
        0.9: 0.5,
        7.0: 6.6,
        1e9: 6.6,
    }
    assert [VALVE.opening(u) for u in cases] == pytest.approx(list(cases.values()), abs=1e-15)


def test_inverse_gives_back_the_flow_term():
    rng = np.random.default_rng(5)
    for u, (p_a, p_b), (g_a, g_b) in zip(
        rng.uniform(-7, 7, 300), pressures(rng, 300), rng.uniform(0.4, 30, (300, 2))
    ):
        Q_a, Q_b = VALVE.flows(u, p_a, p_b, P_S, P_R)
        u_f, D = g_a * Q_a - g_b * Q_b, VALVE.denominators(g_a, g_b, p_a, p_b, P_S, P_R)
        back = VALVE.invert(u_f, *D)
        assert min(D) > 0
        assert back == pytest.approx(u if abs(u) > 0.4 else 0.0, rel=1e-12)
        assert traced(VALVE.invert, u_f, *D)[0] == pytest.approx(back, rel=1e-14)


def test_inverse_where_there_is_none_opens_fully_to_the_side_asked_for():
    D = VALVE.denominators(
        2.0, 3.0, P_S + 30e5, P_R - 5e5, P_S, P_R
    )  # nothing can push out from here
    assert D[0] < 0 < D[1]
    u = VALVE.invert(1e-4, *D)
    assert u == pytest.approx(1e-4 / D_MIN + 0.4) and VALVE.opening(u) == pytest.approx(6.6)
    assert VALVE.invert(0.0, *D) == 0.0 and VALVE.opening(
        VALVE.invert(-1.0, 1.0, 0.0)
    ) == pytest.approx(-6.6)


def test_spool_of_second_order_follows_the_matrix_exponential():
    valve = replace(VALVE, lag="second", frequency=23.0, damping=0.61)
    ω = 2 * pi * 23.0
    A = np.array([[0, 1], [-ω * ω, -2 * 0.61 * ω]])
    start, u = np.array([-1.2, 40.0]), 2.9
    run = solve_ivp(lambda t, s: valve.spool_rhs(s, u), (0, 0.02), start, rtol=1e-11, atol=1e-12)
    exact = [u, 0] + expm(A * 0.02) @ (start - [u, 0])
    assert run.y[:, -1] == pytest.approx(exact, rel=1e-8)


def test_spool_of_first_order_and_its_slew():
    valve = replace(VALVE, lag="first", frequency=11.0, slew=90.0)
    assert valve.spool_rhs([0.2], 0.5) == pytest.approx([2 * pi * 11 * 0.3])
    assert valve.spool_rhs([0.2], 50.0) == pytest.approx(
        [90.0]
    )  # command saturates at 7 V, rate at 90 V/s
    assert replace(valve, slew=1e9).spool_rhs([0.2], 50.0) == pytest.approx([2 * pi * 11 * 6.8])
    fast = replace(valve, lag="second").spool_rhs([0.0, -300.0], 1.0)
    assert fast[0] == -90.0


def test_spool_states_and_position():
    for lag, units in (("ideal", []), ("first", ["V"]), ("second", ["V", "V/s"])):
        valve = replace(VALVE, lag=lag)
        states = valve.spool_states("lift")
        assert (
            [s.unit for s in states]
            == units
            == [s.unit for s in states if s.name.endswith("u_s_lift")]
        )
        assert len(valve.spool_rhs([0.1, 0.2][: len(states)], 1.0)) == len(states)
        assert valve.spool([0.1, 0.2], 12.0) == (7.0 if lag == "ideal" else 0.1)


def test_impossible_valves_are_refused():
    for wrong, words in (
        ({"dead_band": 7.0}, "never opens"),
        ({"lag": "third"}, "ideal, first, second"),
        ({"c_p2": 0.0}, "greater than zero"),
        ({"slew": inf}, "finite"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(VALVE, **wrong)


@pytest.mark.parametrize("sign", (-1, 1))
@pytest.mark.parametrize("lag", ("first", "second"))
def test_a_guard_changes_its_sign_where_the_spool_reaches_its_largest_speed(lag, sign):
    """Once, at |speed| = slew and nowhere before, from either side."""
    valve = replace(VALVE, lag=lag, slew=500.0)
    ω = 2 * pi * valve.frequency

    def at(speed):
        if lag == "first":
            return np.array(valve.guards([0.3], 0.3 + speed / ω), float)
        return np.array(valve.guards([0.3, speed], 0.3), float)

    below, above = at(sign * 499.0), at(sign * 501.0)
    assert (below * above < 0).sum() == 1
    changed = int(np.nonzero(below * above < 0)[0][0])
    assert at(sign * 500.0)[changed] == pytest.approx(0.0, abs=1e-9)
    assert (at(0.0)[changed] < 0) == (below[changed] < 0)


@pytest.mark.parametrize("lag", ("ideal", "first", "second"))
def test_guards_are_where_flows_and_spool_have_their_kinks(lag):
    """Along a straight line of spool and command, slopes change exactly between the samples where a guard changes its sign."""
    valve = replace(VALVE, lag=lag, slew=500.0)
    n = len(valve.spool_states(""))

    def along(f, s):
        return np.array(f([-9.0 + 1.9 * s, -650.0 + 118.0 * s][:n], -9.5 + 1.7 * s)).ravel()

    def kinked(f, s, h=1e-5):
        ends = [along(f, s + k * h) for k in (-2, -1, 0, 1, 2)]
        before, after = (ends[1] - ends[0]) / h, (ends[4] - ends[3]) / h
        return not np.allclose(before, after, rtol=1e-5, atol=1e-7 * np.abs(before).max())

    laws = (
        lambda x, u: 1e4 * np.array(valve.flows(valve.spool(x, u), 92e5, 55e5, P_S, P_R)),
        valve.spool_rhs,
    )
    s = np.linspace(0.0, 11.0, 4001)
    g = np.array([along(valve.guards, v) for v in s])
    changes = [(i, j) for i, j in zip(*np.nonzero(g[1:] * g[:-1] < 0))]
    assert len(changes) >= 4
    for i, j in changes:
        at = s[i] + (s[i + 1] - s[i]) * g[i, j] / (g[i, j] - g[i + 1, j])
        assert any(kinked(law, at) for law in laws)
    for v in np.random.default_rng(2).uniform(0.5, 10.5, 60):
        near = np.abs(s - v) < 0.01
        if not (np.sign(g[near]) != np.sign(g[near][0])).any():
            assert not any(kinked(law, v) for law in laws if len(along(law, v)))
