"""Rows of drives with oil between a valve and a piston, and the law of a throttled circuit: every term by hand."""

from dataclasses import replace
from math import pi, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.drives import oil_ledger, throttled_ledger
from controllers.vdc.drives.oil_ledger import Side
from controllers.vdc.drives.throttled import ThrottledPart
from controllers.vdc.part import Given
from plants import CoulombViscous, LuGre
from plants.components import circuit_inverse
from plants.components.circuit import ThrottledCircuit

RUBS = LuGre(F_c=310.0, F_s=450.0, v_s=6e-3, b=520.0, σ_0=7e6, σ_1=3e4)
GIVEN = Given(
    cut="pins lift",
    x=[61e5, 58e5, 23e5, 2.1, 3e-5],
    s=1.83,
    v=0.031,
    v_r=0.052,
    line=None,
    asked=None,
    f_pr=21.3e3,
    f_pr_rate=-4.1e4,
    f_cr=19.7e3,
    own_f_cr=18.9e3,
    f_c=17.3e3,
    f_fr=391.0,
    own_f_fr=374.0,
    u=1.7,
    steps={"derivative": 2.3, "measurement": 1.9},
    ẑ=[-2e-5],
    ẑ_law=[4e-3],
    ẑ_own=None,
    ẑ_flow=[7e-3],
    lever=0.3,
)
LADDER = [("valve inverse", 0.9), ("derivative", -0.7), ("derivative", 0.4), ("", 0.25)]


def row(given, own):
    part = SimpleNamespace(
        label="lift",
        k_f=3e-8,
        k_x=4e-3,
        modulus=lambda drive: 1.2e9,
        friction=lambda drive: RUBS,
        side=lambda drive, given: own,
    )
    drive = SimpleNamespace(range=(1.5, 2.2), turns=False)
    return oil_ledger.entry(part, drive, given), oil_ledger.shown(part, drive, given)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_row_of_a_drive_with_oil(sign):
    """Storage, dissipation, flow, each perturbation and the magnitude of all terms; the friction of a bent bristle with them."""
    f = lambda value: sign * value
    given = GIVEN._replace(
        f_pr=f(21.3e3),
        f_cr=f(19.7e3),
        own_f_cr=f(18.9e3),
        f_c=f(17.3e3),
        f_fr=f(391.0),
        own_f_fr=f(374.0),
        v_r=f(0.052),
    )
    own = Side(f(20.1e3), f(270.0), [3e-5], 0.9, 0.6, LADDER, 0.11, {"D₊": 5.0})
    found, shown = row(given, own)
    Δf, Δx = sign * 1.2e3, sign * 0.052 - 0.031
    bent = 0.031 - 7e6 * 0.031 / (310.0 + 140.0 * np.exp(-((0.031 / 6e-3) ** 2))) * 3e-5
    strain = 7e6 * -5e-5
    assert found.storage == pytest.approx(1.2e3**2 / (2 * 1.2e9 * 4e-3) + 0.5 * 7e6 * 5e-5**2)
    D = 3e-8 / 4e-3 * 1.2e3**2
    assert found.dissipation == pytest.approx(D)
    assert found.flows == {"pins lift": pytest.approx(-Δx * sign * 2.4e3)}
    assert found.perturbations == pytest.approx(
        {
            "valve inverse": Δf / 4e-3 * 1.6,
            "derivative": Δf / 4e-3 * (-0.7 - 0.25),
            "friction": -Δx * sign * 121.0 + strain * (4e-3 - bent),
            "hold": strain * 3e-3,
            "model": Δx * sign * (0.8e3 + 17.0),
        }
    )
    forces = 19.7e3 + 18.9e3 + 17.3e3 + 21.3e3 + 20.1e3 + 391.0 + 374.0 + 270.0
    flows = 0.9 + 0.7 + 0.4 + 0.25 + 4.1e4 / 1.2e9 + 0.11
    size = abs(Δx) * forces + 1.2e3 / 4e-3 * flows
    assert found.scale == pytest.approx(size + D + 0.5 * 7e6 * 5e-5**2, rel=1e-9)
    assert (found.subsystem, found.name) == ("lift", "actuator lift")
    values = {"undamped": 0.5 * 7e6 * 5e-5**2, "Δf": Δf, "Δẋ": Δx, "u_fr": 0.9, "lever": 0.3}
    values |= {"ẋ": 0.031, "command": 1.7, "inverse": 0.6, "D₊": 5.0, "x": 0.33, "room": 0.37}
    assert shown == pytest.approx({f"{name} lift": value for name, value in values.items()})


# ---- a throttled circuit ----------------------------------------------------------------------------------------------------
TRUE = ThrottledCircuit(
    p_P=83e5,
    p_T=2e5,
    B_oil=1.2e9,
    bore=0.07,
    rod=0.04,
    V_h2=5e-5,
    V_h3=9e-5,
    l_20=0.42,
    l_30=0.61,
    U_max=8.0,
    d_t=5e-3,
    friction=CoulombViscous(F_c=310.0, b=520.0),
)
KNOWN = ThrottledCircuit(B_oil=1.4e9, bore=0.075, friction=CoulombViscous(F_c=250.0, b=410.0))
PART = ThrottledPart("lift", KNOWN, k_x=4e-3, βk_f=60.0)
A_2, A_3 = pi / 4 * 0.07**2, pi / 4 * (0.07**2 - 0.04**2)
C_vd, C_vt = 4e-4 / (8.0 * sqrt(35e5)), 0.8 * pi / 4 * 5e-3**2 * sqrt(2 / 850.0)


def stiff(s, l_20=0.42, l_30=0.61):
    """g_2, g_3: A_k over β V_k/B_ek, hose, oil and wall in series."""
    l_2, l_3 = l_20 + s - sqrt(3), l_30 - s + sqrt(3)
    V_2, V_3 = 5e-5 + A_2 * l_2, 9e-5 + A_3 * l_3
    K_2 = V_2 / 1.2e9 + 5e-5 / 150e6 + A_2 * l_2 / 31500e6
    K_3 = V_3 / 1.2e9 + 9e-5 / 150e6 + A_3 * l_3 / 31500e6
    return A_2 / (1.2e9 * K_2), A_3 / (1.2e9 * K_3)


def lasting(U):
    """u_f of an opening that has lasted: throttle and edge in series, the other edge alone."""
    g_2, g_3 = stiff(1.83)
    y = C_vd * U
    fed = sqrt(83e5 - 58e5 if U >= 0 else 58e5 - 2e5)
    other = sqrt(23e5 - 2e5 if U >= 0 else 83e5 - 23e5)
    return y * (g_2 * fed / sqrt(1 + (y / C_vt) ** 2) + g_3 * other)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_throttled_circuit_at_one_state(way):
    g_2, g_3 = stiff(1.83)
    h = g_2 * A_2 + g_3 * A_3
    steps = {name: way * u for name, u in GIVEN.steps.items()}
    given = GIVEN._replace(
        u=way * 9.1,
        f_pr=21.3e3 + way * 4e3,
        steps=steps,
        x=[61e5, 58e5, 23e5, way * 2.1],
        v=-0.031 * way,
        v_r=0.052 * way,
    )
    own = throttled_ledger.side(PART, TRUE, given)
    f_p = A_2 * 58e5 - A_3 * 23e5
    assert own.f_p == pytest.approx(f_p) and own.bristles == []
    assert own.f_f == pytest.approx(-way * (310.0 + 520.0 * 0.031))
    fed = 4e-3 * 0.083 * way + 60.0 / 1.4e9 * (given.f_pr - f_p)
    u_fr = -4.1e4 / 1.2e9 - h * 0.031 * way + fed
    assert own.u_fr == pytest.approx(u_fr)
    assert lasting(own.inverse) == pytest.approx(u_fr, rel=1e-9)
    names, flows = zip(*own.ladder)
    assert names == (
        "valve inverse",
        "derivative",
        "measurement",
        "saturation",
        "spool",
        "throttle",
        "",
    )
    edge = 23e5 - 2e5 if way > 0 else 83e5 - 23e5
    throttle = C_vt * sqrt(3e5)
    volts = (own.inverse, *steps.values(), way * 8.0, way * 2.1)
    last = g_2 * throttle + g_3 * way * C_vd * 2.1 * sqrt(edge)
    assert flows == pytest.approx((u_fr, *(lasting(U) for U in volts), last), rel=1e-9)
    assert own.moving == pytest.approx(h * 0.031)
    out = g_2 * sqrt(25e5) + g_3 * sqrt(21e5)
    back = g_2 * sqrt(56e5) + g_3 * sqrt(60e5)
    assert own.more == {"opening": pytest.approx(min(out, back))}


def test_the_law_of_a_throttled_circuit():
    """Its own numbers: what is believed, the opening for u_fr, memory's rate, the usual k_x, the margins as shares."""
    part = ThrottledPart("lift", TRUE, k_x=4e-3, βk_f=60.0)
    f_p = A_2 * 58e5 - A_3 * 23e5
    p = (58e5, 23e5)
    believed = part.believed(p, 1.83, 0.02, [], None, None)
    assert believed == pytest.approx(f_p - 310.0 - 520.0 * 0.02)
    g_2, g_3 = stiff(1.83)
    u_fr = 4.1e4 / 1.2e9 + (g_2 * A_2 + g_3 * A_3) * 0.031 + 4e-3 * 0.021 + 60.0 / 1.2e9 * 700.0
    u = part.command(1.83, 0.031, 0.052, p, [], f_p + 700.0, 4.1e4, None)
    assert lasting(u) == pytest.approx(u_fr, rel=1e-9)
    assert PART.rate(TRUE) == pytest.approx(2 * 60.0 * 1.2 / 1.4)
    assert part.measured == ("p_2_lift", "p_3_lift")
    low, high = TRUE.range
    g_2, g_3 = stiff(0.5 * (low + high))
    bearable = g_2 * A_2 + g_3 * A_3
    assert part.usual_k_x(TRUE) == pytest.approx(min(6e-3, bearable))
    q = {"x lift": np.array([0.2, 0.5]), "room lift": np.array([0.83, 0.53])}
    q |= {"inverse lift": np.array([-2.0, 6.0]), "opening lift": np.array([3.0, -4.0])}
    shown = part.monitors(q, TRUE)
    half = (high - low) / 2
    assert shown["piston lift inside stroke"] == pytest.approx([0.2 / half, 0.5 / half])
    assert shown["valve lift within ±8 V"] == pytest.approx([0.75, 0.25])
    assert shown["u_f of lift rises with the opening"] == pytest.approx([0.75, -1.0])


@pytest.mark.parametrize("share", [0.02, 0.5, -0.02, -0.5])
def test_an_opening_is_found_for_what_it_passes(share):
    """Newton's five steps leave 1e-12 up to an opening whose flow constant is half that of the throttle."""
    U = share * C_vt / C_vd
    u_f = lasting(U)
    assert circuit_inverse.passed(TRUE, 1.83, 58e5, 23e5, U) == pytest.approx(u_f, rel=1e-13)
    assert circuit_inverse.invert(TRUE, 1.83, 58e5, 23e5, u_f) == pytest.approx(U, rel=2e-12)


def test_the_usual_k_x_of_a_long_cylinder():
    """A stroke of four metres has h = g_2 A_2 + g_3 A_3 in the middle that is less than the usual 6 mm."""
    long = replace(TRUE, l_20=1.3, l_30=2.7)
    g_2, g_3 = stiff(sqrt(3) + 0.7, 1.3, 2.7)
    bearable = g_2 * A_2 + g_3 * A_3
    assert bearable < 6e-3 and ThrottledPart.usual_k_x(long) == pytest.approx(bearable)


@pytest.mark.parametrize(
    "changes, failed",
    [({}, []), ({"opening": [3.0, 0.0, 2.0]}, [2]), ({"inverse": [0.0, -8.5, 3.0]}, [3])],
)
def test_what_a_throttled_circuit_takes_for_granted(changes, failed):
    """A spool with lag and oil before the throttle are never granted; opening and inverse are judged at their worst."""
    q = {"ẋ": [0.01, 0.02, 0.03], "Δẋ": [0.0, 0.0, 0.0], "x": [0.2] * 3, "room": [0.3] * 3}
    q |= {"opening": [3.0, 1.5, 2.0], "inverse": [0.5, -8.0, 3.0]} | changes
    quantities = {f"{name} lift": np.array(values) for name, values in q.items()}
    balance = SimpleNamespace(quantities=quantities, t=np.array([0.0, 0.5, 1.0]))
    run = SimpleNamespace(balance=balance)
    part = ThrottledPart("lift", TRUE, k_x=4e-3, βk_f=60.0)
    found = list(throttled_ledger.hypotheses(part, run, TRUE))
    assert [i for i, a in enumerate(found) if a.holds is not True] == sorted({*failed, 4, 5})
    rises, inside, lag, oil = found[2:]
    opening, inverse = min(q["opening"]), max(np.abs(q["inverse"]))
    assert rises.margin == opening and rises.worst == f"{opening:g} √Pa/m at t = 0.50 s"
    assert inside.margin == 8.0 - inverse and inside.worst == f"{inverse:g} V at t = 0.50 s"
    assert "τ = 4.55 ms" in lag.worst and oil.worst == "47.1 ml"
