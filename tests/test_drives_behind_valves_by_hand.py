"""Rods behind metering valves one by one: names and units, what they have at work, the oil that is pressed together, defaults."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.cylinder import Cylinder
from plants.components.friction import Frictionless, LuGre
from plants.components.orifice import root
from plants.components.valve import Valve
from plants.drives import metering
from plants.drives.behind_valves import BehindValves
from plants.drives.compressible_rod import VALVES, CompressibleRod, Flows
from plants.drives.contract import Behind, Line, Settled
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.valve_circuits.circuit import Motor, Section
from workbench.contract.errors import InputError

LINE = Line(1.6e7, 1e6)
SECTION = Section(
    A_h=0.02,
    A_r=0.011,
    P_hM=1.2e7,
    P_rM=1.3e7,
    c_ph=2e-6,
    c_pr=3e-6,
    c_th=4e-6,
    c_tr=5e-6,
    c_a=1e-6,
)
ROD = MeteredRod(K=4e7, B=3e5, section=SECTION, regeneration="input", i=1.5)
TURNED = MeteredRod(K=4e3, B=30.0, section=Motor(), i=9.0)
CYLINDER = Cylinder(
    bore=0.1, rod=0.06, stroke=0.7, friction=LuGre(F_c=300.0), valve=Valve(u_max=9.0)
)
OWN = MeteredSection(cylinder=CYLINDER, closed=1.1, P_hM=2.2e7, P_rM=2.4e7, τ=0.02)
OIL = CompressibleRod(rod=ROD, β=8e8, V_h=9e-3, V_r=5e-3, G=2e-6, w=5e4)


def told(signals):
    return [(s.name, s.unit) for s in signals]


# ---- names and units -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rod, units", [(ROD, ("m", "m/s", "N")), (TURNED, ("rad", "rad/s", "N*m"))]
)
def test_signals_of_a_rod(rod, units):
    """Lengths and forces, of a motor angles and torques."""
    length, rate, force = units
    assert told(rod.states("a")) == [("rod_a", length)]
    sides = [("P_h_a", "Pa"), ("P_r_a", "Pa")]
    own = [("stretch_a", length), ("v_a", rate), ("f_p_a", force)]
    assert told(rod.logged("a")) == [*own, *sides] and told(rod.sides("a")) == sides
    causes = ("supply", "tank", *metering.VALVES, "element")
    assert rod.power_names("a") == tuple(f"{cause}_a" for cause in causes)
    assert rod.pressures("a") == ("P_h_a", "P_r_a") and rod.turns is (rod is TURNED)


@pytest.mark.parametrize("regeneration", ["none", "command", "input"])
def test_commands_of_a_rod(regeneration):
    """An opening of regeneration is an input of its own where it says so."""
    rod = replace(ROD, regeneration=regeneration)
    more = {"u_a_a": (0.0, 1.0)} if regeneration == "input" else {}
    assert rod.limits("a") == {"u_c_a": (-1.0, 1.0)} | more
    assert told(rod.inputs("a")) == [(name, "1") for name in rod.limits("a")]
    u = [0.6, 0.4][: len(rod.inputs("a"))]
    opened = {"none": 0.0, "command": 0.6, "input": 0.4}[regeneration]
    assert float(rod.regenerated(u)) == opened and float(rod.regenerated([0.0, 0.4])) == 0.0
    assert rod.opened(0.6, opened) == pytest.approx(metering.opened(SECTION, 0.6, opened))
    assert rod.opened(0.6)[8] == 0.0 and rod.opened(-0.3) == metering.opened(SECTION, -0.3)


def test_signals_of_a_cylinder_on_its_oil():
    bristles = told(CYLINDER.friction.states("a"))
    assert told(OWN.states("a")) == [("rod_a", "m"), *bristles]
    assert told(OWN.inputs("a")) == [("u_c_a", "1")] and told(OWN.sensed("a")) == [("f_K_a", "N")]
    own = [("x_a", "m"), ("f_K_a", "N"), ("f_p_a", "N"), ("f_f_a", "N")]
    assert told(OWN.logged("a")) == [*own, ("P_h_a", "Pa"), ("P_r_a", "Pa")]
    causes = ("supply", "tank", *metering.VALVES, "oil", "friction")
    assert OWN.power_names("a") == tuple(f"{cause}_a" for cause in causes)
    assert OWN.stiff("a") == tuple(CYLINDER.friction.stiff("a")) and len(OWN.stiff("a")) == 1


def test_signals_of_a_rod_on_oil_that_is_pressed_together():
    """Its chambers' pressures are states, and logged no second time."""
    assert told(OIL.states("a")) == [("rod_a", "m"), ("P_h_a", "Pa"), ("P_r_a", "Pa")]
    assert OIL.states("a")[2].meaning == "rod side of a"
    assert told(OIL.logged("a")) == [("stretch_a", "m"), ("v_a", "m/s"), ("f_p_a", "N")]
    causes = ("supply", "tank", *VALVES, "element")
    assert OIL.power_names("a") == tuple(f"{cause}_a" for cause in causes)
    assert VALVES == ("ph", "pr", "th", "tr", "a", "h_limits", "r_limits")
    assert OIL.step_errors("a") == (1e-10, 10.0, 10.0)
    assert told(OIL.inputs("a")) == told(ROD.inputs("a")) and OIL.limits("a") == ROD.limits("a")
    for same in ("turns", "areas", "pressure_limits"):
        assert getattr(OIL, same) == getattr(ROD, same)


# ---- what they can ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rod, i", [(ROD, 1.5), (OWN, 1.0)])
def test_what_a_rod_bears_and_how_fast_it_is(rod, i):
    """Forces and areas per travel of joint or pins, speeds the other way; pressures a little beyond both limits."""
    section = rod.section
    low, high = metering.bears(section, LINE)
    assert rod.bears(LINE) == pytest.approx((i * low, i * high))
    assert type(rod.bears(LINE)[0]) is float and rod.areas == (i * section.A_h, i * section.A_r)
    assert rod.velocity_gain_on(LINE) == pytest.approx(metering.speed_gain(section, 1.5e7) / i)
    assert rod.pressure_limits == metering.bounds(section.P_hM, section.P_rM)
    low_h, high_h, low_r, high_r = rod.machine_limits("a", "k")
    assert low_h.low == low_r.low == rod.pressure_limits[0] and low_r.signals == ("P_r_a",)
    assert high_h.high == high_r.high == rod.pressure_limits[1]
    assert rod.metering("lift") == replace(section, name="lift")
    assert rod.bears_by(LINE) == "pump (150 bar above the return) and reliefs of the chambers"


def test_a_section_has_the_orifices_of_its_servo_valve():
    v = CYLINDER.valve
    s = OWN.section
    assert (s.A_h, s.A_r, s.P_hM, s.P_rM) == (CYLINDER.A_a, CYLINDER.A_b, 2.2e7, 2.4e7)
    assert (s.c_ph, s.c_pr) == (9.0 * v.c_p1, 9.0 * v.c_p2)
    assert (s.c_th, s.c_tr) == (9.0 * v.c_n1, 9.0 * v.c_n2)
    assert metering.section_of(CYLINDER, 1.0, 2.0).name == "1" and s.name == "1"
    assert OWN.opened(-0.3) == metering.opened(s, -0.3)


# ---- at work ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("u", [0.6, -0.5])
def test_what_stands_against_the_valves_of_a_cylinder(u):
    """K (r − x) less B ẋ, at the rod's own row; the rest of its states is the friction's."""
    x, s, v = [0.25, 1e-5], 1.3, 0.05
    own = OWN.behind(x, s, v, [u])
    K = OWN.stiffness
    assert own.row == OWN.opened(u) and own.β == pytest.approx(0.02 * K)
    assert own.held == pytest.approx(K * 0.05 - 0.02 * K * v)
    work = OWN.at_work(x, s, v, [u], LINE)
    rubbing = CYLINDER.friction.force(v, [1e-5])
    assert OWN.rubbing(x, v) == pytest.approx(rubbing)
    assert OWN.rates(x, s, v, [u], LINE) == pytest.approx(
        [work.speed, *CYLINDER.friction.rate(v, [1e-5])]
    )
    assert OWN.guards(x, s, v, [u]) == pytest.approx(CYLINDER.friction.guards(v, [1e-5]))
    assert OWN.flow(x, s, v, [u], LINE) == pytest.approx(work.flow)
    felt = metering.open_port(work, u, LINE, 0.02)
    assert OWN.port(x, s, v, [u], LINE, 0.02) == pytest.approx(felt)
    assert OWN.initial(1.3, 5e3, LINE) == pytest.approx([0.2 + 5e3 / K, 0.0])
    assert OWN.friction is CYLINDER.friction


@pytest.mark.parametrize("u", [[0.6, 0.4], [-0.5, 0.4]])
def test_what_stands_against_the_valves_of_a_rod(u):
    """K (x − i s) less B i ṡ; force and rates per travel of the joint."""
    x, s, v = [0.451], 0.3, 0.05
    own = ROD.behind(x, s, v, u)
    assert own.row == pytest.approx(ROD.opened(u[0], ROD.regenerated(u)))
    assert own.β == 3e5 and own.held == pytest.approx(4e7 * 0.001 - 3e5 * 1.5 * 0.05)
    work = ROD.at_work(x, s, v, u, LINE)
    assert ROD.force(x, s, v, u, LINE) == pytest.approx(1.5 * work.force)
    assert ROD.rates(x, s, v, u, LINE) == [work.speed]
    shown = [0.001, work.speed, work.force, work.P_h, work.P_r]
    assert np.array(ROD.shown(x, s, v, u, LINE)) == pytest.approx(np.array(shown))
    assert work.force == pytest.approx(own.held + own.β * work.speed)
    assert 0.02 * work.P_h - 0.011 * work.P_r == pytest.approx(work.force)
    lost = metering.dissipated(work, 1.5e7)
    powers = [1.6e7 * work.flow, -1e6 * work.flow, *(-p for p in lost)]
    assert ROD.valve_powers(work, LINE) == pytest.approx(powers)
    assert (ROD.stiffness, ROD.damping, ROD.rubbing(x, v)) == (4e7, 3e5, 0.0)
    assert ROD.initial(0.3, 600.0, LINE) == pytest.approx([0.45 + 1e-5])
    assert OIL.initial(0.3, 600.0, LINE) == pytest.approx([0.45 + 1e-5, 2e4, 0.0])
    assert OIL.initial(0.3, -660.0, LINE) == pytest.approx([0.45 - 1.1e-5, 0.0, 4e4])


def test_what_a_supply_has_settled_is_taken():
    """In place of what the section would do alone at the pressure of its line."""
    row = metering.opened(SECTION, 0.5, np.float64(0.5))
    own = Behind(row, 3e5, -2e5)
    line = Line(1.5e7, 0.0, Settled(0.07, 9e-4, (4e6, 5e6), 0.0))
    work = metering.metered(own, line, [0.5, 0.5])
    assert (work.speed, work.flow) == (0.07, 9e-4) and work.force == pytest.approx(
        -2e5 + 3e5 * 0.07
    )
    assert (work.P_h, work.P_r) == (4e6, 5e6) and work.row == row


@pytest.mark.parametrize("u_a", [0.0, np.float64(0.4)])
def test_a_section_alone_takes_what_its_pressure_gives(u_a):
    """Its force is one of Γ: flows through both open valves, and regeneration, balance."""
    row = metering.opened(SECTION, 0.5, u_a)
    own = Behind(row, 3e5, 5e4)
    found = metering.held_at(own, 1.1e7)
    work = metering.metered(own, Line(1.2e7, 1e6), [0.5])
    assert work.speed == pytest.approx(found.speed) and work.flow == pytest.approx(found.flow)
    k_ph, k_tr, k_a = row[4], row[7], row[8]
    back = k_a * np.sqrt(max(work.P_r - work.P_h, 0.0))
    assert found.flow == pytest.approx(k_ph * np.sqrt(1.1e7 - work.P_h), rel=1e-6)
    assert found.flow + back == pytest.approx(0.02 * found.speed, rel=1e-6)
    assert 0.011 * found.speed == pytest.approx(k_tr * np.sqrt(work.P_r) + back, rel=1e-6)
    assert found.left == pytest.approx(0.0, abs=1e-9) and found.speed > 0


@pytest.mark.parametrize(
    "u, slope",
    [([0.0], np.nan), ([0.3], 0.0), ([-0.3], 0.0), ([0.3, 0.0], np.nan), ([-0.3, 0.0], 0.0)],
)
def test_a_command_that_just_shuts_valves_has_no_slope(u, slope):
    """0 for any commands; regeneration does not count while the rod does not extend."""
    import casadi as ca

    assert metering.unsloped(u) == 0.0
    x = ca.SX.sym("u", len(u))
    found = ca.Function("f", [x], [ca.jacobian(metering.unsloped(ca.vertsplit(x)), x)])(u)
    rates = np.array(found).ravel()
    assert np.isnan(rates).any() if np.isnan(slope) else np.all(rates == 0.0)


# ---- oil that is pressed together ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "p, top, q", [(5e6, 9e6, 0.0), (9.5e6, 9e6, 1.0), (-3e5, 9e6, -0.6), (9e6, 9e6, 0.0)]
)
def test_reliefs_and_suction_checks_pass_what_is_beyond(p, top, q):
    assert OIL.limited(p, top) == pytest.approx(q)


@pytest.mark.parametrize(
    "P_h, P_r, P", [(4e6, 5e6, 9e6), (5e6, 4e6, 3e6), (1.3e7, 1.5e7, 9e6), (-2e5, -1e5, 1e6)]
)
def test_rates_of_both_chambers_by_their_balances(P_h, P_r, P):
    """V/β Ṗ = what comes in − what goes out − what makes room, through reliefs and checks too."""
    u, x, s, v, line = [0.6, 0.4], [0.47, P_h, P_r], 0.3, 0.05, Line(P + 1e6, 1e6)
    row = OIL.row(u)
    assert row == pytest.approx(ROD.opened(0.6, 0.4))
    q = OIL.flows(row, P, P_h, P_r)
    one_way = lambda d: root(max(d, 0.0), 5e4)
    assert q == pytest.approx(
        Flows(
            row[4] * one_way(P - P_h), row[5] * one_way(P - P_r),
            row[6] * root(P_h, 5e4), row[7] * root(P_r, 5e4), row[8] * one_way(P_r - P_h),
            OIL.limited(P_h, 1.2e7), OIL.limited(P_r, 1.3e7),
        )
    )  # fmt: skip
    push = 0.02 * P_h - 0.011 * P_r
    speed = (push - 4e7 * 0.02 + 3e5 * 1.5 * 0.05) / 3e5
    head = 8e8 / 9e-3 * (q.Q_ph - q.Q_th + q.Q_a - q.Q_ho - 0.02 * speed)
    rod = 8e8 / 5e-3 * (q.Q_pr - q.Q_tr - q.Q_a - q.Q_ro + 0.011 * speed)
    assert OIL.rates(x, s, v, u, line) == pytest.approx([speed, head, rod])
    assert OIL.force(x, s, v, u, line) == pytest.approx(1.5 * push)
    powers = OIL.powers(x, s, v, u, line)
    stored = 4e7 * 0.02 * (speed - 1.5 * v) + (9e-3 * P_h * head + 5e-3 * P_r * rod) / 8e8
    assert sum(powers) == pytest.approx(stored + 1.5 * push * v)


def test_defaults_of_rods():
    """1 GPa and some litres; a metre of travel for one of the joint; 250 bar; 10 ms."""
    plain = MeteredRod(K=1.0, B=2.0)
    assert (plain.section, plain.regeneration, plain.i) == (Section(), "none", 1.0)
    oil = CompressibleRod(rod=plain)
    assert (oil.β, oil.V_h, oil.V_r, oil.G, oil.w) == (1e9, 10e-3, 6e-3, 2.5e-6, 1e3)
    assert oil.force([0.0, 2.0, 0.0], 0.0, 0.0, [0.0], LINE) == pytest.approx(2 * Section().A_h)
    own = MeteredSection(cylinder=CYLINDER, closed=1.1)
    assert (own.P_hM, own.P_rM, own.τ) == (250e5, 250e5, 10e-3)
    assert (own.i, own.regeneration, own.integral_rate) == (1.0, "none", 0.08)
    for kind in (oil, plain, own):
        assert (kind.loop_rate, kind.limit, kind.just_shut) == (2.0, 1.0, 0.0)
        assert kind.needs_supply and kind.cuts_commands
    assert plain.steep and own.steep and not oil.steep and plain.anywhere and oil.anywhere
    assert isinstance(plain.friction, Frictionless) and isinstance(oil.friction, Frictionless)
    assert plain.areas == (Section().A_h, Section().A_r)
    assert BehindValves.valves == metering.VALVES == ("ph", "pr", "th", "tr", "a", "hR", "rR")
    assert (metering.NO_PUMP, metering.PLENTY) == ((0.0, 0.0, 0.0), 10.0)
    assert (metering.SUCTION, metering.OVER) == (0.3e5, 1.1)


def test_kinks_of_a_section_are_those_of_its_friction():
    """Which is told its own states."""
    rubs = SimpleNamespace(guards=lambda v, z: (v, z))
    own = SimpleNamespace(cylinder=SimpleNamespace(friction=rubs))
    assert MeteredSection.guards(own, [7.0, 8.0, 9.0], 1.3, 0.05, [0.0]) == (0.05, [8.0, 9.0])


def test_pins_that_a_section_does_not_fit_between():
    assert replace(OWN, closed=0.7).check_pins("lift") is None
    with pytest.raises(InputError, match="lift.closed: retracted"):
        replace(OWN, closed=0.69).check_pins("lift")


def test_a_drop_that_is_none_has_no_root():
    assert [float(metering._root(d)) for d in (9.0, 0.0, -4.0)] == [3.0, 0.0, 0.0]
    work = SimpleNamespace(
        row=[0.02, 0.011, 1e7, 1e7, 1.0, 0.0, 0.0, 2.0, 0.0], flow=3.0, P_h=5.0, P_r=4.0, speed=1.0
    )
    ph, pr, th, tr, a, hR, rR = metering.dissipated(work, 9.0)
    assert (ph, pr, th, tr, a) == (12.0, 0.0, 0.0, 16.0, 0.0)
    assert (hR, rR) == pytest.approx(((3.0 - 0.02) * 5.0, (-4.0 + 0.011) * 4.0))
