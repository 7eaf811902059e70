"""Supplies of machines one by one: what a plain one answers, lines, limits, powers and starts, and default numbers."""

from dataclasses import dataclass, replace
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from plants.drives.contract import Line
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import SHUT, Account, Supply, check_line, flow_limit, highest_left
from plants.supplies.each import EachPressure
from plants.supplies.instant_pump import InstantPump
from plants.supplies.load_sensing import LoadSensing, highest
from plants.supplies.shared_pump import SharedPump
from plants.supplies.two_lines import SelectedLines
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError
from workbench.contract.system import names

FLOW = 100e-3 / 60  # m³/s, of all pumps by default


# ---- what a supply answers by itself -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Plain(Supply):
    """A supply that says no more than it must."""

    def line(self, y):
        return Line(7.0, 2.0)

    @property
    def most(self):
        return Line(9.0, 2.0)

    def machine_limits(self, flows):
        return ()


@dataclass(frozen=True)
class Driven(Plain):
    """One with a pump, and a pressure that is a state."""

    pressure_name = "p"

    @property
    def circuit_pump(self):
        return Pump(Q=2e-3, P_M=1.5e7)

    def states(self):
        return ("a state",)


def test_a_supply_that_says_no_more_than_it_must():
    """No states, nothing logged, no energy; its power is P Q; every drive sees its line, and its valves the most there is."""
    own = Plain()
    assert (
        own.Q_max == inf and not own.settles and (own.no_passivity, own.pressure_name) == ("", "")
    )
    assert own.pressure_names == () and own.range is None and own.unloaded == own.most
    found = own.account(np.array([3.0, 5.0]), np.array([2.0, 4.0]), 9.0)
    assert found.given.tolist() == [6.0, 20.0] and found.lost == {}
    assert found.stored.tolist() == [0.0, 0.0] and isinstance(found, Account)
    assert own.lines(None, ["a", "b", "c"]) == [Line(7.0, 2.0)] * 3
    assert (own.states(), own.inputs(), own.logged(), own.power_names()) == ((), (), (), ())
    empty = (own.shown(0, 0, 0), own.rates(0, 0, 0), own.powers(0, 0, 0), own.guards(0))
    assert empty == ([], [], [], []) and own.initial(()) == [] and own.limits() == {}
    assert own.stored(None) == 0.0 and own.check([]) is None


def test_a_supply_without_a_pump_of_a_circuit_says_so():
    with pytest.raises(InputError, match="a Plain does not say by which pump claims"):
        Plain().circuit_pump  # noqa: B018 — a property that refuses
    assert Driven().numbers == [2e-3, 1.5e7, 0.0] and Driven().pressure_names == ("p",)


@pytest.mark.parametrize("p_r, fits", [(0.999e5, True), (1e5, False), (1.001e5, False)])
def test_the_return_is_below_the_supply(p_r, fits):
    if fits:
        assert check_line(Line(1e5, p_r)) is None
        assert ConstantPressure(p_s=1e5, p_r=p_r).most == Line(1e5, p_r)
        return
    for make in (lambda: check_line(Line(1e5, p_r)), lambda: ConstantPressure(p_s=1e5, p_r=p_r)):
        with pytest.raises(
            InputError, match=f"p_r: the return pressure, {p_r / 1e5:g} bar, .* 1 bar"
        ):
            make()


def test_the_flow_of_all_drives_is_limited_where_there_are_some():
    assert flow_limit((), 3.0) == ()
    (limit,) = flow_limit(("Q_a", "Q_b"), 3.0)
    assert (limit.signals, limit.low, limit.high) == (("Q_a", "Q_b"), -inf, 3.0)
    assert (limit.unit, limit.kind, limit.key) == ("m^3/s", "flow", "supply.Q_max")
    assert not limit.bearable


@pytest.mark.parametrize(
    "k_b, P",
    [(4e-7, 1.5e7), (2e-3 / 1.5e7**0.5, 1.5e7), (1e-6, 4e6), (0.0, 1.5e7), (SHUT / 2, 1.5e7)],
)
def test_the_highest_pressure_of_a_pump_with_a_bleed(k_b, P):
    """At the relief, or where the bleed takes all: (Q/k_b)²."""
    assert highest_left(Pump(Q=2e-3, P_M=1.5e7), k_b) == pytest.approx(P)
    assert 0.0 < SHUT < 1e-20


# ---- pressures that hold -----------------------------------------------------------------------------------------------------
def test_one_pressure_for_all():
    own = ConstantPressure(p_s=1.7e7, p_r=4e5, Q_max=3e-3)
    assert own.line([]) == own.most == own.unloaded == Line(1.7e7, 4e5)
    assert own.circuit_pump == Pump(3e-3, 1.7e7 - 4e5)
    assert own.machine_limits(("Q",))[0].high == 3e-3
    assert ConstantPressure() == ConstantPressure(p_s=185e5, p_r=10e5, Q_max=FLOW)


@pytest.mark.parametrize("pressures", [(5e6, 9e6, 7e6), (9e6, 7e6, 5e6), (5e6, 7e6, 9e6)])
def test_a_pressure_for_each(pressures):
    own = EachPressure(p_s=pressures, p_r=4e5, Q_max=3e-3)
    assert own.lines([], "abc") == [Line(p, 4e5) for p in pressures]
    assert own.line([]) == own.most == Line(9e6, 4e5)
    assert own.circuit_pump == Pump(3e-3, 9e6 - 4e5) and own.machine_limits(("Q",))[0].high == 3e-3
    plain = EachPressure(p_s=pressures)
    assert (plain.p_r, plain.Q_max) == (10e5, FLOW)


# ---- pumps -------------------------------------------------------------------------------------------------------------------
def test_a_pump_at_once_by_default():
    own = InstantPump()
    assert (own.pump, own.u_b) == (Pump(), 0.3) and own.Q_max == Pump().Q
    assert own.k_b == pytest.approx(0.3 * Pump().c_b) and own.circuit_pump == Pump()
    assert own.numbers == [Pump().Q, Pump().P_M, own.k_b]
    assert own.most == Line(highest_left(Pump(), own.k_b), 0.0) and own.machine_limits(()) == ()
    assert [(s.name, s.unit) for s in own.logged()] == [("P", "Pa"), ("r_P", "1")]
    assert own.power_names() == ("pump", "bleed", "relief", "delivered")
    with pytest.raises(InputError, match="follows from what its drives take"):
        own.line([])


def test_a_pump_that_settles_tells_each_drive_that_takes_oil(monkeypatch):
    """In order; a drive that takes none sees no line."""
    asked = []
    monkeypatch.setattr(
        InstantPump, "settled", lambda self, sections: asked.extend(sections) or [*"AB"]
    )
    taking = lambda name: SimpleNamespace(needs_supply=True, behind=lambda *own: (name, *own))
    dry = SimpleNamespace(needs_supply=False)
    given = [(taking("a"), 1, 2), (dry, 3, 4), (taking("b"), 5, 6)]
    assert InstantPump().lines([], given) == ["A", None, "B"]
    assert asked == [("a", 1, 2), ("b", 5, 6)]


@pytest.mark.parametrize("share, P", [(1.0, 0.0), (1.5, 0.0), (0.5, 1.6e7)])
def test_a_pump_without_a_bleed_is_at_its_relief_or_empty(share, P):
    own = InstantPump(pump=Pump(Q=2e-3, P_M=1.6e7), u_b=0.0)
    left = own.left_by(((0.01, 0.02),), (np.array(share * 0.2),))
    assert float(left) == pytest.approx(P)


@pytest.mark.parametrize("P", [0.0, -4.0])
def test_nothing_is_bled_at_no_pressure(P):
    found = InstantPump().account(np.array([P]), 1e-4, None)
    assert found.lost["bleed"].tolist() == [0.0] and found.lost["relief"].tolist() == [0.0]


SHARED = SharedPump(pump=Pump(Q=2e-3, P_M=1.5e7, c_b=3e-6), u_b=0.1, V_p=3e-3, G=4e-9, β=7e8, w=9e4)


def test_a_pump_with_oil_in_its_line():
    assert names(SHARED.states()) == ["P"] and SHARED.pressure_names == ("P",)
    assert SHARED.line([5e6]) == Line(5e6, 0.0) and SHARED.line([-2.0]) == Line(0.0, 0.0)
    assert SHARED.k_b == pytest.approx(3e-7) and SHARED.Q_max == 2e-3
    assert SHARED.most == Line(highest_left(SHARED.pump, SHARED.k_b), 0.0)
    assert SHARED.circuit_pump == SHARED.pump
    assert SHARED.numbers == [2e-3, 1.5e7, pytest.approx(3e-7)]
    assert SHARED.guards([4e6]) == [4e6 - 1.5e7]
    assert SHARED.power_names() == ("pump", "bleed", "relief", "delivered")
    (P,) = SHARED.initial(())
    assert SHARED.k_b * P**0.5 + 4e-9 * (P - 1.5e7) == pytest.approx(2e-3) and P > 1.5e7
    bled, _ = SHARED.lost([6e4])
    assert bled == pytest.approx(3e-7 * 6e4 / (6e4**2 + 9e4**2) ** 0.25)


@pytest.mark.parametrize("P", [0.25, 0.0, -0.25])
def test_a_bleed_takes_power_from_no_pressure_on(P):
    bled = SHARED.k_b * max(P, 0.0) / (P * P + 9e4**2) ** 0.25
    found = SHARED.account(P, 0.0, 0.0).lost["bleed"]
    assert found == pytest.approx(bled * max(P, 0.0), rel=1e-9, abs=0.0)


def test_a_pump_with_oil_in_its_line_by_default():
    own = SharedPump()
    assert (own.pump, own.u_b) == (Pump(Q=FLOW, P_M=175e5), 0.05)
    assert (own.V_p, own.G, own.β, own.w) == (5e-3, 5e-9, 800e6, 0.0)


# ---- lines that follow loads -------------------------------------------------------------------------------------------------
def test_a_load_sensing_pump_by_default():
    own = LoadSensing()
    assert (own.margin, own.τ, own.w, own.nominal) == (2e6, 0.02, 0.02, 0.0)
    assert (own.flow, own.standby, own.p_top, own.p_r) == (40e-3 / 60, 0.0, 185e5, 10e5)
    assert (
        own.Q_max == FLOW and own.line([3e6]) == Line(3e6, 10e5) and own.most == Line(185e5, 10e5)
    )
    assert own.machine_limits(("Q",))[0].high == FLOW
    assert (names(own.states()), names(own.logged())) == (["p_s"], ["p_L"])
    assert own.circuit_pump == Pump(FLOW, 175e5) and own.initial([]) == [3e6]


@pytest.mark.parametrize("ports, top", [((), 5.0), ((3.0, 4.0), 5.0), ((7.0, 9.0, 8.0), 9.0), ((9.0, 6.0), 9.0)])  # fmt: skip
def test_the_highest_port_is_felt_and_no_less_than_the_return(ports, top):
    assert highest(5.0, ports) == top
    drive = SimpleNamespace(port=lambda p, w: p if w == 0.03 else -1.0)
    takers = [(drive, SimpleNamespace(at=(p,))) for p in ports]
    own = LoadSensing(w=0.03, p_r=5.0)
    assert own.felt(takers) == top and own.shown(None, takers, None) == [top]


def test_a_margin_that_is_refused_is_told():
    with pytest.raises(InputError) as why:
        LoadSensing(margin=176e5, standby=3e5)
    assert why.value.message == (
        "margin: 176 bar above the return pressure (standby: 3 bar) is more than the pump gives, 185 bar"
    )
    with pytest.raises(InputError, match="p_r: the return pressure, 200 bar"):
        LoadSensing(p_r=200e5)


LINES = SelectedLines(
    drives=("a", "b"), low=8e6, high=1.8e7, margin=1e6, w=2e5, p_r=5e5, opening=0.03
)


def test_two_lines():
    """Each drive that takes oil has its own."""
    assert names(LINES.states()) == ["p_s_a", "p_s_b"] and LINES.pressure_names == (
        "p_s_a",
        "p_s_b",
    )
    assert names(LINES.logged()) == ["p_L_a", "p_L_b"] and LINES.range == (8e6, 1.8e7)
    takes, dry = (SimpleNamespace(needs_supply=n) for n in (True, False))
    found = LINES.lines([6.0, 7.0], [(takes, 1), (dry, 2), (takes, 3)])
    assert found == [Line(6.0, 5e5), None, Line(7.0, 5e5)]
    assert LINES.most == Line(1.8e7, 5e5) and LINES.circuit_pump == Pump(FLOW, 1.75e7)
    assert LINES.machine_limits(("Q",))[0].high == FLOW
    with pytest.raises(InputError, match="has a line of its own"):
        LINES.line([6.0])
    drive = SimpleNamespace(port=lambda p, w: p if w == 0.03 else -1.0)
    takers = [(drive, SimpleNamespace(at=(p,))) for p in (3.0, 4.0)]
    assert LINES.shown(None, takers, None) == [3.0, 4.0]
    assert LINES.initial([(), (4e5, 3e5)]) == [8e6, 8e6]
    plain = SelectedLines(drives=())
    assert (plain.low, plain.high, plain.margin, plain.τ) == (90e5, 185e5, 1e6, 0.02)
    assert (plain.w, plain.opening, plain.p_r, plain.Q_max) == (2e5, 0.02, 10e5, FLOW)


def taker(name, metering=None):
    return SimpleNamespace(name=name, drive=SimpleNamespace(metering=lambda label: metering))


@pytest.mark.parametrize(
    "own, takers, words",
    [
        (LINES, "ab", None),
        (LINES, "ba", "drives: a, b; the actuators that take oil are b, a"),
        (LINES, "a", "drives: a, b; the actuators that take oil are a"),
        (replace(LINES, drives=()), "a", "drives: none; the actuators that take oil are a"),
    ],
)
def test_two_lines_name_the_drives_that_take_oil_in_order(own, takers, words):
    if words is None:
        assert own.check([taker(k) for k in takers]) is None
        return
    with pytest.raises(InputError, match=words):
        own.check([taker(k) for k in takers])


def test_an_account_of_metering_valves_knows_one_pressure():
    with pytest.raises(
        InputError, match="actuators.b.drive: an account of metering valves knows one"
    ):
        LINES.check([taker("a"), taker("b", metering="a section")])
