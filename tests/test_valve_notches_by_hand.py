"""A four-way valve notch by notch, by numbers: flows, port, denominators, spool, where it has kinks, what it is by itself."""

from dataclasses import replace
from math import pi, sqrt

import pytest

from plants.components.valve import D_MIN, Nominal, Valve, nominal
from workbench.contract.errors import InputError

VALVE = Valve(c_p1=3e-8, c_n1=4e-8, c_p2=2e-8, c_n2=5e-8, u_max=7.0, dead_band=0.4, width=0.0)
P_S, P_R, P_A, P_B = (
    190e5,
    10e5,
    109e5,
    46e5,
)  # Pa: drops of 81 and 144 from the supply, of 99 and 36 bar to the return


@pytest.mark.parametrize(
    "u, Q_a, Q_b, drawn, returned",
    [
        (2.4, 3e-8 * 9 * 2, -5e-8 * 6 * 2, 3e-8 * 9 * 2, 5e-8 * 6 * 2),
        (-3.4, -4e-8 * sqrt(99) * 3, 2e-8 * 12 * 3, 2e-8 * 12 * 3, 4e-8 * sqrt(99) * 3),
        (0.3, 0.0, 0.0, 0.0, 0.0),
        (50.0, 3e-8 * 9 * 6.6, -5e-8 * 6 * 6.6, 3e-8 * 9 * 6.6, 5e-8 * 6 * 6.6),
    ],
)
def test_flows_through_the_notches(u, Q_a, Q_b, drawn, returned):
    root = sqrt(1e5)
    at = (u, P_A, P_B, P_S, P_R)
    assert VALVE.flows(*at) == pytest.approx((Q_a * root, Q_b * root), abs=1e-17)
    assert VALVE.supply_flow(*at) == pytest.approx(drawn * root, abs=1e-17)
    assert VALVE.tank_flow(*at) == pytest.approx(returned * root, abs=1e-17)


def test_every_root_has_the_width():
    """At drops of nothing v' = 1/√w: each notch takes its own pressures."""
    soft = replace(VALVE, width=400.0)
    for u, p_a, p_b, Q in (
        (2.4, P_S - 2.0, P_R + 3.0, (3e-8 * 2 * 2 / 20, -5e-8 * 2 * 3 / 20)),
        (-2.4, P_R + 5.0, P_S - 7.0, (-4e-8 * 2 * 5 / 20, 2e-8 * 2 * 7 / 20)),
    ):
        assert soft.flows(u, p_a, p_b, P_S, P_R) == pytest.approx(Q, rel=1e-3)
    D = soft.denominators(0.7, 1.3, P_S - 2.0, P_R + 3.0, P_S, P_R)
    assert D[0] == pytest.approx(0.7 * 3e-8 * 2 / 20 + 1.3 * 5e-8 * 3 / 20, rel=1e-3)
    D = soft.denominators(0.7, 1.3, P_R + 5.0, P_S - 7.0, P_S, P_R)
    assert D[1] == pytest.approx(1.3 * 2e-8 * 7 / 20 + 0.7 * 4e-8 * 5 / 20, rel=1e-3)


def test_what_a_volt_of_opening_gives():
    root = sqrt(1e5)
    plus = (0.7 * 3e-8 * 9 + 1.3 * 5e-8 * 6) * root
    minus = (1.3 * 2e-8 * 12 + 0.7 * 4e-8 * sqrt(99)) * root
    assert VALVE.denominators(0.7, 1.3, P_A, P_B, P_S, P_R) == pytest.approx((plus, minus))


@pytest.mark.parametrize(
    "u_f, D_plus, D_minus, u",
    [
        (6e-4, 2e-4, 5e-4, 3.0 + 0.4),
        (-6e-4, 2e-4, 5e-4, -1.2 - 0.4),
        (0.0, 2e-4, 5e-4, 0.0),
        (3e-12, -1.0, 5e-4, 3e-12 / D_MIN + 0.4),
        (-3e-12, 2e-4, 0.0, -3e-12 / D_MIN - 0.4),
    ],
)
def test_the_voltage_for_a_flow_term(u_f, D_plus, D_minus, u):
    assert VALVE.invert(u_f, D_plus, D_minus) == pytest.approx(u) and D_MIN == 1e-12


@pytest.mark.parametrize(
    "o, p", [(0.0, 10e5), (0.5, 40e5), (4.6, 70e5), (-0.25, 15e5), (-1.6, 30e5)]
)
@pytest.mark.parametrize("w", [1.0, 1.3])
def test_the_port_is_the_chamber_that_is_fed(o, p, w):
    """Blended over an opening of w; the return's pressure where the valve is shut."""
    u = o * w + 0.4 * ((o > 0) - (o < 0))
    assert VALVE.port(u, 70e5, 30e5, P_R, w) == pytest.approx(p)


# ---- spool ----------------------------------------------------------------------------------------------------------------
def test_rates_of_a_spool():
    ω = 2 * pi * 11.0
    own = replace(VALVE, frequency=11.0, damping=0.6, slew=90.0)
    assert replace(own, lag="ideal").spool_rhs([], 3.0) == []
    first = replace(own, lag="first")
    assert first.spool_rhs([2.0], 2.5) == pytest.approx([0.5 * ω])
    assert first.spool_rhs([2.0], -5.0) == [-90.0] and first.spool_rhs([-6.0], 50.0) == [90.0]
    second = replace(own, lag="second")
    for u, error in ((2.5, 0.5), (99.0, 5.0), (-99.0, -9.0)):
        found = second.spool_rhs([2.0, 31.0], u)
        assert found == pytest.approx([31.0, ω * ω * error - 1.2 * ω * 31.0])
    assert second.spool_rhs([2.0, 91.0], 2.0) == pytest.approx([90.0, -1.2 * ω * 91.0])
    assert second.spool_rhs([2.0, -91.0], 2.0)[0] == -90.0


def test_what_changes_its_sign_where_flows_or_spool_have_a_kink():
    ω = 2 * pi * 11.0
    own = replace(VALVE, frequency=11.0, slew=90.0)
    at = lambda s: [s - 0.4, s + 0.4, abs(s) - 7.0]
    assert replace(own, lag="ideal").guards([], -3.0) == pytest.approx(at(-3.0))
    found = replace(own, lag="first").guards([-2.0], -9.0)
    assert found == pytest.approx([*at(-2.0), 2.0, 5.0 * ω - 90.0])
    found = replace(own, lag="second").guards([-2.0, -120.0], -9.0)
    assert found == pytest.approx([*at(-2.0), 2.0, 30.0])


def test_states_of_a_spool():
    first, second = (replace(VALVE, lag=lag).spool_states("lift") for lag in ("first", "second"))
    assert [(s.name, s.unit, s.meaning) for s in second] == [
        ("u_s_lift", "V", "spool position, lift"),
        ("du_s_lift", "V/s", "spool speed, lift"),
    ]
    assert first == second[:1] and VALVE.spool_states("lift") == ()
    assert VALVE.spool([], -9.0) == -7.0 and VALVE.spool([], 3.0) == 3.0
    assert replace(VALVE, lag="second").spool([1.5, 2.5], -9.0) == 1.5


# ---- ratings --------------------------------------------------------------------------------------------------------------
def test_a_rating_gives_the_coefficients_less_the_overlap():
    """Q_N/(√Δp_N (u_max − u_d)) times each ratio."""
    rated = Nominal(6e-4, 36e4, (1.0, 0.9, 0.6, 0.5))
    c = 6e-4 / (600 * 6.5)
    found = rated.coefficients({"u_max": 7.0, "dead_band": 0.5})
    assert found == pytest.approx({"c_p1": c, "c_n1": 0.9 * c, "c_p2": 0.6 * c, "c_n2": 0.5 * c})
    assert Nominal(6e-4, 36e4).ratios == (1.0,) * 4
    made = Valve.from_nominal(6e-4, 36e4, 5.0, (1.0, 0.9, 0.6, 0.5), damping=0.4)
    c = 6e-4 / (600 * 5.0)
    assert [made.c_p1, made.c_n1, made.c_p2, made.c_n2] == pytest.approx([c, 0.9 * c, 0.6 * c, 0.5 * c])  # fmt: skip
    assert (made.u_max, made.damping) == (5.0, 0.4)
    plain = Valve.from_nominal(6e-4, 36e4)
    assert plain.c_p1 == plain.c_n1 == plain.c_p2 == plain.c_n2 == 6e-4 / (600 * 10.0)
    assert nominal(6e-4, 0.25, 0.5) == pytest.approx(6e-4 / 0.25)
    assert nominal(6e-4, 36e4) == pytest.approx(1e-7) and plain.u_max == 10.0


@pytest.mark.parametrize("ratios", [(1.0, 0.9, 0.6), (1.0,) * 5])
def test_a_rating_has_four_ratios(ratios):
    with pytest.raises(InputError, match=f"expected four, .* got {len(ratios)}"):
        Nominal(6e-4, 36e4, ratios)


@pytest.mark.parametrize("given", [(0.0, 36e4, 5.0), (6e-4, 0.0, 5.0), (6e-4, 36e4, 0.0)])
def test_a_rating_is_positive(given):
    with pytest.raises(InputError, match="all must be positive"):
        nominal(*given)


@pytest.mark.parametrize("dead_band, fits", [(7.0, False), (6.999, True)])
def test_a_valve_opens(dead_band, fits):
    if fits:
        assert replace(VALVE, dead_band=dead_band).opening(8.0) == pytest.approx(0.001)
        return
    with pytest.raises(InputError, match="dead_band: 7 V never opens; it must be below u_max = 7 V"):  # fmt: skip
        replace(VALVE, dead_band=dead_band)


def test_a_valve_without_numbers():
    """40 l/min at 35 bar a notch, ±10 V, no overlap, a spool that follows at once."""
    own = Valve()
    c = 40 / 60e3 / (sqrt(35e5) * 10)
    assert own.c_p1 == own.c_n1 == own.c_p2 == own.c_n2 == pytest.approx(c)
    assert (own.u_max, own.dead_band, own.lag, own.frequency) == (10.0, 0.0, "ideal", 30.0)
    assert (own.damping, own.slew, own.width) == (0.707, 1e9, 1e3)
