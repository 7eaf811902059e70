"""What plain drives, laws and servo drives answer one by one: defaults, limits, signals, refusals with numbers."""

from dataclasses import dataclass, replace
from math import inf, pi
from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.chamber import Oil
from plants.components.cylinder import Cylinder
from plants.components.friction import CoulombViscous, LuGre
from plants.components.motor import Motor
from plants.components.two_chambers import POWERS
from plants.components.valve import Valve
from plants.drives import contract
from plants.drives.contract import Drive, Line, outside_stroke, spool_limit, too_short
from plants.drives.hydraulic_motor import TURN, HydraulicMotor
from plants.drives.laws import Force, SpringDamper, Torque
from plants.drives.outer_force import OuterForce
from plants.drives.servo_cylinder import ServoCylinder
from plants.drives.tip_force import TipForce
from workbench.contract.errors import InputError
from workbench.contract.system import names

LINE = Line(1.6e7, 1e6)


# ---- a drive that says no more than it must ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Plain(Drive):
    limit = 7.0

    def force(self, x, s, sdot, u, line):
        return u[0]

    def power_names(self, label):
        return (label,)

    def powers(self, x, s, sdot, u, line):
        return [u[0] * sdot]

    def inputs(self, label):
        return (SimpleNamespace(name=f"u_{label}"),)


def test_what_a_drive_answers_that_has_neither_oil_nor_states():
    own = Plain()
    none = (own.states("a"), own.logged("a"), own.sensed("a"), own.stiff("a"), own.step_errors("a"))
    assert none == ((),) * 5 and own.pressures("a") == own.machine_limits("a", "k") == ()
    at = ([], 0.3, 0.1, [2.0], LINE)
    assert own.shown(*at) == own.rates(*at) == own.guards(*at[:4]) == own.sense([], 0.3) == []
    assert own.initial(0.3, 5.0, LINE) == [] and own.flow(*at) == own.stored([], 0.3) == 0.0
    assert own.port(*at, 0.02) == 1e6 and own.behind(*at[:4]) is None
    assert own.metering("a") is own.notched("a") is own.sizes(LINE) is None
    assert own.velocity_gain_on(LINE) is None and own.check_pins("a") is None
    assert own.edges("a") == ("", ()) and own.range == own.bears(LINE) == (-inf, inf)
    assert own.bears_by(LINE) == "nothing"
    assert own.loop_rate == 4.0 and own.integral_rate == pytest.approx(4 / 9)
    flags = (own.is_law, own.needs_supply, own.equal_steps, own.steep, own.turns, own.anywhere)
    assert not any(flags) and own.cuts_commands is False and own.valves == own.pressure_limits == ()
    assert (own.pulse, own.vacuum, own.just_shut, own.areas) == (0.0, None, None, (0.0, 0.0))


@pytest.mark.parametrize("limit, found", [(7.0, {"u_a": (-7.0, 7.0)}), (None, {}), (0.0, {})])
def test_a_limit_is_that_of_its_input_both_ways(monkeypatch, limit, found):
    monkeypatch.setattr(Plain, "limit", limit)
    assert Plain().limits("a") == found


# ---- laws ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind, unit, turns", [(Force, "N", False), (Torque, "N m", True)])
def test_a_force_and_a_torque_are_their_input(kind, unit, turns):
    """No limit is none; what they do is F ṡ."""
    free, held = kind(), kind(limit=9.0)
    at = ([], 0.3, -0.5, [4.0], None)
    assert held.force(*at) == 4.0 and held.powers(*at) == [-2.0]
    assert free.bears(None) == (-inf, inf) and held.bears(None) == (-9.0, 9.0)
    assert held.bears_by(None) == "its limit" and held.power_names("a") == ("a",)
    assert [(s.name, s.unit) for s in held.inputs("a")] == [("u_a", unit)]
    assert held.limits("a") == {"u_a": (-9.0, 9.0)} and free.limits("a") == {}
    assert (held.turns, held.is_law, free.limit) == (turns, True, None)
    with pytest.raises(InputError, match="limit"):
        kind(limit=0.0)


def test_a_spring_and_a_damper_by_default_do_nothing():
    own = SpringDamper()
    assert (own.k, own.s_0, own.d, own.limit) == (0.0, 0.0, 0.0, None)
    assert own.anywhere and own.is_law and own.power_names("a") == ("a",)
    assert replace(own, k=3.0, s_0=0.5, d=2.0).force([], 2.0, 0.25, [], None) == -5.0


@pytest.mark.parametrize("u, force", [([6.0], -6.0), ([], 0.0)])
def test_a_force_from_outside_opposes(u, force):
    own = OuterForce()
    assert own.force([], 0.3, 0.5, u, None) == force
    assert own.powers([], 0.3, 0.5, u, None) == [force * 0.5] and own.power_names("a") == ("a",)
    assert [(s.name, s.unit, s.kind) for s in own.inputs("a")] == [("F_a", "N", "disturbance")]
    assert own.limit is None and own.is_law


@pytest.mark.parametrize("u, torque", [([6.0], 12.0 * np.cos(0.4)), ([], 0.0)])
def test_a_force_at_a_tip_turns_by_its_lever(u, torque):
    own = TipForce(L=2.0)
    assert own.force([], 0.4, 0.5, u, None) == pytest.approx(torque)
    assert own.powers([], 0.4, 0.5, u, None) == pytest.approx([torque * 0.5])
    assert [(s.name, s.unit, s.kind) for s in own.inputs("a")] == [("f_ey_a", "N", "disturbance")]
    assert own.limit is None and own.is_law and own.turns


# ---- refusals --------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "s, said", [(0.7, ""), (62.5, ""), (62.6, "lengths without a unit are in metres")]
)
def test_a_start_far_beyond_is_another_unit(s, said):
    """More than fifty times what the cylinder reaches."""
    found = contract._units_hint(s, 1.25)
    assert said in found and bool(found) is bool(said)


def test_a_cylinder_as_short_as_its_stroke_is_one():
    """Retracted 0.75 m, extended 1.5 m: its middle is advised."""
    assert "0.75 m puts the start into the middle" in contract._centred(1.125, 0.5, 1.25, "closed")
    assert contract._centred(0.75, 0.5, 1.25, "middle") != ""


def test_a_start_outside_of_the_stroke_is_told():
    with pytest.raises(InputError) as why:
        outside_stroke(2.0, 0.5, 1.25)
    assert why.value.message.startswith(
        "the cylinder reaches from 0.5 m to 1.25 m, and the start is at s = 2 m (s: "
    )
    assert why.value.mend == (
        "start elsewhere, change closed (1.625 m puts the start into the middle of the stroke) or the stroke, or move the pins"
    )
    with pytest.raises(InputError) as why:
        outside_stroke(900.0, 0.5, 1.25, "middle")
    assert why.value.mend.startswith("start elsewhere, change middle or the stroke")
    assert why.value.mend.endswith("write 1600 mm or 1.6")


@pytest.mark.parametrize("closed, fits", [(0.7, True), (0.6999, False), (0.8, True)])
def test_a_cylinder_is_longer_than_its_stroke(closed, fits):
    own = ServoCylinder(cylinder=Cylinder(bore=0.1, rod=0.06, stroke=0.7), closed=closed)
    if fits:
        assert own.check_pins("lift") is too_short("lift", closed, 0.7) is None
        return
    for check in (own.check_pins, lambda owner: too_short(owner, closed, 0.7)):
        with pytest.raises(InputError, match="lift.closed: retracted, the pins are 0.6999 m apart"):
            check("lift")


def test_travel_of_a_spool_is_a_limit_that_is_borne():
    limit = spool_limit("lift", "u_s_lift", 7.5, "key")
    assert (limit.name, limit.signals, limit.key) == ("spool of lift", ("u_s_lift",), "key")
    assert (limit.low, limit.high, limit.unit, limit.kind) == (-7.5, 7.5, "V", "valve")
    assert limit.bearable is True


# ---- behind a servo valve --------------------------------------------------------------------------------------------------------
VALVE = Valve(lag="second", dead_band=0.4, u_max=9.0)
ROD = ServoCylinder(
    cylinder=Cylinder(bore=0.1, rod=0.06, stroke=0.7, valve=VALVE, friction=LuGre(F_c=300.0)),
    closed=1.1,
)
TURNED = HydraulicMotor(
    motor=Motor(
        D=2e-5,
        V=4e-4,
        i=9.0,
        valve=replace(VALVE, lag="ideal"),
        friction=CoulombViscous(F_c=40.0, b=30.0),
    )
)
X = [5e6, 3e6, 1.5, 20.0, 1e-5]


def test_states_of_drives_behind_a_servo_valve():
    """Two pressures, the spool's, the friction's; parts of a state in this order."""
    assert names(ROD.states("a")) == [
        "p_a_a",
        "p_b_a",
        "u_s_a",
        "du_s_a",
        *names(LuGre().states("a")),
    ]
    assert ROD.parts(X) == ((5e6, 3e6), [1.5, 20.0], [1e-5])
    assert TURNED.parts(X[:2]) == ((5e6, 3e6), [], []) and names(TURNED.states("a")) == [
        "p_a_a",
        "p_b_a",
    ]
    assert [(s.name, s.unit) for s in ROD.inputs("a")] == [("u_a", "V")]
    assert ROD.power_names("a") == tuple(f"{cause}_a" for cause in POWERS)
    assert ROD.stiff("a") == ("u_s_a", "du_s_a", *LuGre().stiff("a")) and TURNED.stiff("a") == ()
    assert ROD.pressures("a") == ("p_a_a", "p_b_a") and ROD.limit == 9.0


def test_forces_and_flows_of_a_rod_behind_a_servo_valve():
    """f_p − f_f, the chambers' rates, the spool's and the bristles'; the port that the spool opens."""
    s, v, u = 1.3, 0.05, [2.0]
    c = ROD.cylinder
    rubbing = c.friction.force(v, [1e-5])
    work = c.at_work(ROD.oil, (5e6, 3e6), [1.5, 20.0], 2.0, s - 1.1, v, 1.6e7, 1e6)
    assert ROD.rubbing(X, v) == pytest.approx(rubbing)
    assert ROD.force(X, s, v, u, LINE) == pytest.approx(c.A_a * 5e6 - c.A_b * 3e6 - rubbing)
    spool = c.valve.spool_rhs([1.5, 20.0], 2.0)
    rates = [work.rate_a, work.rate_b, *spool, *c.friction.rate(v, [1e-5])]
    assert ROD.rates(X, s, v, u, LINE) == pytest.approx(rates)
    assert ROD.flow(X, s, v, u, LINE) == pytest.approx(work.Q_s)
    assert ROD.shown(X, s, v, u, LINE) == pytest.approx([s - 1.1, c.force(5e6, 3e6), rubbing])
    powers = c.powers(ROD.oil, (5e6, 3e6), s - 1.1, v, rubbing, work, 1.6e7, 1e6)
    assert ROD.powers(X, s, v, u, LINE) == pytest.approx(powers)
    guards = [*c.valve.guards([1.5, 20.0], 2.0), *c.friction.guards(v, [1e-5])]
    assert ROD.guards(X, s, v, u) == pytest.approx(guards)
    for at, felt in ((1.5, 5e6), (-1.5, 3e6), (0.0, 1e6)):
        x = [5e6, 3e6, at, 20.0, 1e-5]
        assert ROD.port(x, s, v, u, LINE, 0.02) == pytest.approx(felt)


def test_what_a_motor_behind_a_servo_valve_does():
    """Its torque at the joint is i D Δp; a turn of the joint stands for its stroke."""
    x, s, v = X[:2], 0.7, 0.05
    torque = 9.0 * 2e-5 * 2e6
    assert TURNED.force(x, s, v, [2.0], LINE) == pytest.approx(torque - TURNED.rubbing(x, v))
    assert TURNED.shown(x, s, v, [2.0], LINE) == pytest.approx([torque, TURNED.rubbing(x, v)])
    assert [(g.name, g.unit) for g in TURNED.logged("a")] == [("T_p_a", "N m"), ("T_f_a", "N m")]
    assert TURNED.place(s) == s and pytest.approx(2 * pi) == TURN and TURNED.turns
    found = TURNED.sizes(LINE)
    most = 1.6e7 * 9.0 * 2e-5
    assert (found.pressure, found.source) == (1.6e7, "supply pressure")
    assert (found.force, found.energy, found.stroke) == pytest.approx((most, most * 2 * pi, 2 * pi))
    assert found.speed == pytest.approx(TURNED.fastest(LINE))
    p_a, p_b = TURNED.initial(s, 50.0, LINE)
    assert 9.0 * 2e-5 * (p_a - p_b) == pytest.approx(50.0)


def test_sizes_and_starts_of_a_servo_cylinder():
    c = ROD.cylinder
    found = ROD.sizes(LINE)
    assert (found.pressure, found.stroke, found.source) == (1.6e7, 0.7, "supply pressure")
    assert found.energy == pytest.approx(1.6e7 * c.A_a * 0.7)
    assert found.force == pytest.approx(1.6e7 * c.A_b)
    assert found.speed == pytest.approx((9.0 - 0.4) * min(c.speeds(1.5e7)))
    assert ROD.velocity_gain_on(LINE) == pytest.approx(sum(c.speeds(1.5e7)) / 2)
    assert ROD.range == pytest.approx((1.1, 1.8)) and ROD.place(1.3) == pytest.approx(0.2)
    p_a, p_b, *rest = ROD.initial(1.3, 8e3, LINE)
    assert c.A_a * p_a - c.A_b * p_b == pytest.approx(8e3) and rest == [0.0, 0.0, 0.0]
    with pytest.raises(InputError, match="the cylinder reaches from 1.1 m to 1.8 m"):
        ROD.initial(1.81, 8e3, LINE)


@pytest.mark.parametrize("air, vacuum", [(0.0, 0.0), (1e-6, None)])
def test_limits_of_a_drive_behind_a_servo_valve(air, vacuum):
    """Vacuum of each chamber; travel of a spool where it has states; a chamber is a cavity early where the oil has air."""
    own = replace(ROD, oil=Oil(air=air))
    assert own.vacuum == vacuum
    low_a, low_b, spool = own.machine_limits("a", "k")
    assert low_a.low == low_b.low == own.oil.hollow and low_a.signals == ("p_a_a",)
    assert (spool.signals, spool.high) == (
        ("u_s_a",),
        9.0,
    ) and spool.key == "k.cylinder.valve.u_max"
    assert len(TURNED.machine_limits("a", "k")) == 2


def test_how_a_drive_behind_a_spool_is_logged():
    """The spool is the command where it has no states."""
    rod, turned = ROD.notched("a"), TURNED.notched("a")
    assert rod[:6] == ("a", ROD.cylinder, "u_a", "u_s_a", "ds_a", "f_p_a")
    assert turned[:6] == ("a", TURNED.motor, "u_a", "", "ds_a", "T_p_a")
    assert rod.pressures == ("p_a_a", "p_b_a") and (rod.oil, rod.position) == (ROD.oil, "s_a")
    assert (rod.place(ROD.closed + 0.1), turned.place(0.7)) == (pytest.approx(0.1), 0.7)
    kept = (ROD.oil, ROD.pressures_at_start)
    assert kept == (Oil(), None) == (TURNED.oil, TURNED.pressures_at_start)
    assert ROD.needs_supply and ROD.steep and not ROD.turns
