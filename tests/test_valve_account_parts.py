"""What valves take and which pressures balance, from numbers written down: one section, its flows, its levels, its energy."""

from math import inf, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from plants.valve_circuits import levels
from plants.valve_circuits.accounts import account
from plants.valve_circuits.accounts.filled import _losses, of_filled
from plants.valve_circuits.accounts.section import (
    Flows,
    Section,
    drawn_in,
    losses,
    open_ranges,
    own_rows,
    section_flows,
)
from plants.valve_circuits.states import TABLE_1, segment
from workbench.contract.system import Signal
from workbench.run.log import Log, Status

A_H, A_R, P_HM, P_RM = 0.5, 0.3, 8.0, 7.0
one = lambda *values: np.array(values, float)


def row(k_ph=0.0, k_pr=0.0, k_th=0.0, k_tr=0.0, k_a=0.0):
    return [A_H, A_R, P_HM, P_RM, k_ph, k_pr, k_th, k_tr, k_a]


# ---- flows and losses -----------------------------------------------------------------------------------------------------
def test_flows_by_the_orifices_laws():
    """Roots of the drops, signs kept; regeneration from rod to head only; what is left goes through reliefs."""
    s = Section(row(2.0, 0.0, 0.7, 1.5, 0.4), one(1.0), one(0.0), one(1.0), one(3.25))
    q = section_flows(s, one(5.0))
    assert q.P_c == 5.0 and q.Q_ph == pytest.approx(2.0 * 2.0) and q.Q_pr == 0.0
    assert q.Q_th == pytest.approx(0.7) and q.Q_tr == pytest.approx(1.5 * sqrt(3.25))
    assert q.Q_a == pytest.approx(0.4 * 1.5)
    assert q.Q_ho == pytest.approx(4.0 - 0.7 + 0.6 - 0.5)
    assert q.Q_ro == pytest.approx(-1.5 * sqrt(3.25) - 0.6 + 0.3)
    back = section_flows(s._replace(P_h=one(3.25), P_r=one(1.0)), one(5.0))
    assert back.Q_a == 0.0


@pytest.mark.parametrize(
    "k_ph, k_pr, P, P_c",
    [
        (2.0, 0.0, 5.0, 5.0),
        (2.0, 0.0, 3.0, 4.0),  # the check is shut: behind it stands the head's pressure
        (0.0, 3.0, 1.0, 2.0),
        (2.0, 1.0, 1.0, (4 * 4.0 + 1 * 2.0) / 5),
        (2.0, 1.0, 3.7, 3.7),
        (0.0, 0.0, 1.0, 1.0),
    ],
)
def test_pressure_behind_the_pumps_check(k_ph, k_pr, P, P_c):
    """The pump's where oil flows through it, else where both sides' flows through their valves cancel."""
    s = Section(row(k_ph, k_pr), one(0.0), one(0.0), one(4.0), one(2.0))
    q = section_flows(s, one(P))
    assert q.P_c == pytest.approx(P_c)
    assert q.Q_ph + q.Q_pr >= -1e-12
    assert q.Q_ph == pytest.approx(k_ph * np.sign(P_c - 4) * sqrt(abs(P_c - 4)))
    assert q.Q_pr == pytest.approx(k_pr * np.sign(P_c - 2) * sqrt(abs(P_c - 2)))


def test_each_valve_takes_its_flow_times_its_drop():
    """Reliefs at their limits only; suction checks at none of the pressure only, and inward."""
    P_h, P_r = one(8.0, 4.0, 0.0), one(3.0, 7.0, 0.0)
    s = Section(row(2.0, 1.0, 0.7, 1.5, 0.4), one(0, 0, 0), one(0, 0, 0), P_h, P_r)
    q = Flows(
        one(1, 2, 3), one(4, 5, 6), one(7, 8, 9), one(1, 3, 5), one(2, 4, 6),
        one(0.5, 0.6, -0.7), one(0.8, 0.9, -1.1), one(9, 9, 9),
    )  # fmt: skip
    found = losses(s, q)
    assert found["ph"].tolist() == [1 * 1, 2 * 5, 3 * 9] and found["pr"].tolist() == [24, 10, 54]
    assert found["th"].tolist() == [56, 32, 0] and found["tr"].tolist() == [3, 21, 0]
    assert found["a"].tolist() == [2 * -5, 4 * 3, 0]
    assert found["hR"].tolist() == [4.0, 0.0, 0.0]
    assert found["rR"] == pytest.approx([0.0, 6.3, 0.0])
    h, r = drawn_in(s, q)
    assert h.tolist() == [0, 0, 0.7] and r.tolist() == [0, 0, 1.1]
    h, _ = drawn_in(s, q._replace(Q_ho=one(1, 1, 1)))
    assert h.tolist() == [0, 0, 0]


def test_rows_of_commands():
    """A positive command opens head to the pump and rod to the tank, a negative one the others; a hundred per cent at most."""
    s = SimpleNamespace(
        A_h=1, A_r=2, P_hM=3, P_rM=4, c_ph=5.0, c_pr=6.0, c_th=7.0, c_tr=8.0, c_a=9.0
    )
    circuit = SimpleNamespace(sections=(s,))
    (found,) = own_rows(circuit, [one(0.5, -0.25, 3.0, -3.0)], [one(0.0, 0.1, 0.0, 0.0)])
    assert found[:4] == [1, 2, 3, 4] and found[4].tolist() == [2.5, 0, 5, 0]
    assert found[5].tolist() == [0, 1.5, 0, 6] and found[6].tolist() == [0, 1.75, 0, 7]
    assert found[7].tolist() == [4, 0, 8, 0] and found[8] == pytest.approx([0, 0.9, 0, 0])


def test_a_standing_rod_leaves_its_pressures_open():
    """Shut: every pair that gives the force; a side open to the tank has none, one open to the pump no less than the pump's."""
    f = 1.0
    still = lambda k: Section(row(**k), one(0.0), one(f), one(3.2), one(2.0))
    (h, r) = open_ranges(still({}), one(5.0), 4.0)
    assert h[0][0] == pytest.approx(f / A_H) and h[1][0] == pytest.approx((f + A_R * P_RM) / A_H)
    assert r[0][0] == 0.0 and r[1][0] == pytest.approx((A_H * 6.2 - f) / A_R)
    tank = open_ranges(still({"k_tr": 1.0}), one(5.0), 4.0)
    assert tank[1][0][0] == 0.0 and tank[0][0][0] == pytest.approx(f / A_H)
    fed = open_ranges(still({"k_ph": 1.0}), one(2.5), 4.0)
    assert fed[0][0][0] == pytest.approx(2.5)
    moving = Section(row(k_ph=1.0), one(0.4), one(f), one(3.2), one(2.0))
    (h, r) = open_ranges(moving, one(5.0), 4.0)
    assert h == (3.2, 3.2) and r == (2.0, 2.0)
    through = open_ranges(still({"k_ph": 1.0, "k_th": 1.0}), one(5.0), 4.0)
    assert through[0] == (3.2, 3.2)
    low, high = open_ranges(still({})._replace(P_r=one(1e-14)), one(5.0), 4.0)[1]
    assert low[0] == 0.0 and high[0] > 1


# ---- an account of energy -----------------------------------------------------------------------------------------------------
def energy_log(**energies):
    t = np.linspace(0.0, 2.0, 9)
    signals = tuple(Signal(f"E_{name}", "J") for name in energies)
    values = np.column_stack([np.asarray(v(t), float) for v in energies.values()])
    return Log(t, values, signals, {}, Status(True, "ended", 2.0)), t


def test_energies_that_the_run_counted_otherwise_are_told():
    """10 J of the pump: 2 % more than its law gives is told, within a thousandth it is not; coarse rows are allowed for."""
    log, t = energy_log(
        pump=lambda t: 3.0 + 5 * t, a=lambda t: 7 + 2.1 * t, b=lambda t: -1.0025 * t
    )
    powers = {"pump": 5 + 0 * t, "a": 2 + 0 * t, "b": -1 + 0 * t}
    (found,) = account.counted(log, powers)
    assert found.element == "a" and found.size == pytest.approx((0.2 - 0.01) / 10)
    assert found.words == "the run counted 4.2 J, its law gives 4 J over the run"
    rough = {**powers, "a": 2 + 0 * t + 0.5 * (-1.0) ** np.arange(9)}
    assert account.counted(log, rough) == []
    assert account.counted(Log(t[:4], log.values[:4], log.signals, {}, log.status), {}) == []


@pytest.mark.parametrize("pulse, told", [(3.2, []), (4.9, []), (2.8, ["a"]), (5.2, ["a"])])
def test_a_power_that_jumps_between_rows_is_as_uncertain_as_its_jumps(pulse, told):
    """Five pulses of 1 W, high at four rows 1 s apart: each is 3 s to 5 s long, and 4 s by the rows. Of a smooth power beside it
    nothing is uncertain, so that 5 % of it are told."""
    t = np.arange(41.0)
    high = (np.arange(41) // 4 % 2).astype(float)
    energies = np.column_stack([10 * t, 5 * pulse * t / 40, 2.1 * t])
    signals = tuple(Signal(f"E_{name}", "J") for name in ("pump", "a", "b"))
    log = Log(t, energies, signals, {}, Status(True, "ended", 40.0))
    found = account.counted(log, {"pump": 10 + 0 * t, "a": high, "b": 2 + 0 * t})
    assert [s.element for s in found] == [*told, "b"]
    assert found[-1].size == pytest.approx((4.0 - 0.4) / 400)


def test_what_the_pump_gives_and_nothing_takes():
    zeros = np.zeros(2)
    made = account.ValveAccount(
        zeros, one(9, 8), {"a": one(1, 2), "b": one(3, 1)}, {"rod": one(2, 2)}, one(0.5, -0.5),
        zeros, {}, {}, {},
    )  # fmt: skip
    assert made.gap.tolist() == [2.5, 3.5]


def test_valves_of_compressible_oil_take_what_passes_them():
    """Checks let nothing back; reliefs and suction take G times what is beyond; drains both ways."""
    w, G = 1e-12, 0.25
    own = row(2.0, 1.0, 0.7, 1.5, 0.4)
    found = _losses(own, 5.0, 1.0, 3.25, w, G)
    assert found["ph"] == pytest.approx(2 * 2.0 * 4) and found["pr"] == pytest.approx(1.75**1.5)
    assert found["th"] == pytest.approx(0.7) and found["tr"] == pytest.approx(1.5 * 3.25**1.5)
    assert found["a"] == pytest.approx(0.4 * 2.25**1.5)
    assert found["h_limits"] == found["r_limits"] == 0.0
    over = _losses(own, 0.5, 9.0, -2.0, w, G)
    assert over["ph"] == over["a"] == 0.0 and over["pr"] == pytest.approx(2.5**1.5)
    assert over["h_limits"] == pytest.approx(G * 1 * 9) and over["r_limits"] == pytest.approx(G * 4)


# ---- pressures that balance -----------------------------------------------------------------------------------------------------
def flows(x, y, q_ph=0.0, q_pr=0.0, q_th=0.0, q_tr=0.0, q_a=0.0, q_ho=0.0, q_ro=0.0):
    return one(x, y, q_ph, q_pr, q_th, q_tr, q_a, q_ho, q_ro)


SMALL = 1e-9


def leveled(k, f=None, **q):
    return levels.level(np.array(row(**k)), flows(**q), SMALL, f)


def test_what_open_valves_decide_of_a_level():
    """A drained chamber, or one at a limit that passes oil, has its pressure; open valves their drops; regeneration a band."""
    s = leveled({"k_ph": 2.0, "k_tr": 1.5}, x=3.0, y=2.0, q_ph=-4.0)
    assert s.h == (0.0, P_HM) and s.r == (2.0, 2.0) and s.drop_h == pytest.approx(-4.0)
    assert s.drop_r is None and s.band == (-inf, inf) and not s.fed
    assert leveled({}, x=8.0, y=2.0, q_ho=1.0).h == (8.0, 8.0)
    assert leveled({}, x=0.0, y=2.0, q_ho=-1.0).h == (0.0, 0.0)
    assert leveled({}, x=5.0, y=7.0, q_ro=1.0).r == (7.0, 7.0)
    assert leveled({"k_a": 0.5}, x=2.0, y=3.0, q_a=0.5).band == (1.0, 1.0)
    assert leveled({"k_a": 0.5}, x=3.0, y=2.0).band == (-inf, 0.0)
    both = leveled({"k_ph": 2.0, "k_pr": 1.0}, x=1.0, y=1.0, q_ph=4.0, q_pr=1.0)
    assert both.band == (3.0, 3.0) and both.fed


def test_ranges_of_a_section_at_the_corners():
    """Shut, its box, which band and force cut; a fed side hangs on the pump, one behind a shut check is above it."""
    box = levels.section(leveled({}, x=1.0, y=1.0), (0.0, 5.0))
    assert box.P_h == (0.0, P_HM) and box.P_r == (0.0, P_RM) and box.P_c == (-inf, inf)
    assert box.f == (-A_R * P_RM, A_H * P_HM)
    joined = levels.section(leveled({"k_a": 0.5}, x=2.0, y=3.0, q_a=0.5), (0.0, 5.0))
    assert joined.P_h == (0.0, 6.0) and joined.P_r == (1.0, 7.0)
    assert joined.f == (pytest.approx(-A_R), pytest.approx(A_H * 6 - A_R * 7))
    below = levels.section(leveled({"k_a": 0.5}, x=3.0, y=2.0), (0.0, 5.0))
    assert below.P_h == (0.0, P_HM) and below.P_r == (0.0, P_RM)
    assert below.f[0] == pytest.approx(A_H * 0 - 0) and below.f[1] == pytest.approx(A_H * 8)
    fed = levels.section(leveled({"k_ph": 2.0}, x=1.0, y=1.0, q_ph=2.0), (3.0, 5.0))
    assert fed.P_h == (2.0, 4.0) and fed.P_c == (3.0, 5.0)
    held = levels.section(leveled({"k_ph": 2.0}, x=4.0, y=1.0), (3.0, 5.0))
    assert held.P_h == (3.0, P_HM) and held.P_c == (3.0, P_HM)
    rod = levels.section(leveled({"k_pr": 1.0}, x=4.0, y=1.0, q_pr=2.0), (5.0, 6.0))
    assert rod.P_r == (1.0, 2.0) and rod.P_c == (5.0, 6.0)


def test_a_known_force_ties_both_pressures():
    """P_r = (A_h P_h − f)/A_r within the box; with a level difference known as well there is one point."""
    found = levels.section(leveled({}, f=1.0, x=3.2, y=2.0), (0.0, 5.0))
    assert found.P_h == pytest.approx((2.0, (1 + A_R * P_RM) / A_H)) and found.f == (1.0, 1.0)
    assert found.P_r == pytest.approx((0.0, P_RM))
    tied = levels.section(leveled({"k_a": 0.5}, f=1.0, x=6.5, y=7.5, q_a=0.5), (0.0, 5.0))
    x = (1.0 + A_R) / (A_H - A_R)
    assert tied.P_h == pytest.approx((x, x)) and tied.P_r == pytest.approx((x + 1, x + 1), abs=0.51)
    under = levels.section(leveled({"k_a": 0.5}, f=1.0, x=2.5, y=1.0), (0.0, 5.0))
    assert under.P_h == pytest.approx((2.0, 5.0)) and under.P_r == pytest.approx((0.0, 5.0))
    odd = levels.section(leveled({"k_tr": 1.0, "k_th": 1.0}, f=1.0, x=3.0, y=2.0), (0.0, 5.0))
    assert odd.P_h == (3.0, 3.0) and odd.P_r == (2.0, 2.0)


def test_the_pumps_pressure_is_open_only_without_bleed_and_flow_to_spare():
    """Shut sections leave 0 … P_M; what is fed ties it to its chamber; a bleed, or its relief, fixes it."""
    rows = np.array([row(k_ph=2.0, k_tr=1.0)])
    moving = np.array([flows(1.0, 2.0, q_ph=4.0, q_tr=1.0)])
    shut = np.array([flows(1.0, 2.0)])
    supply = (4.0, 9.0, 0.0)
    span, _ = levels.ranges(rows, supply, 5.0, moving)
    assert span == (4.0, 9.0)  # 4 above a head between 0 and its relief
    span, (found,) = levels.ranges(rows, (4.0, 9.0, 0.1), 5.0, moving)
    assert span == (5.0, 5.0) and found.P_h == (1.0, 1.0)
    assert levels.ranges(rows, supply, 9.0, shut)[0] == (9.0, 9.0)
    span, (found,) = levels.ranges(rows, (0.0, 9.0, 0.0), 5.0, shut)
    assert span == (0.0, 8.0) and found.P_h == (0.0, 8.0)
    known = levels.ranges(rows, (0.0, 9.0, 0.0), 5.0, shut, [1.0])[1][0]
    assert known.P_h == pytest.approx(((1 + A_R * 2) / A_H,) * 2)


def test_rows_of_the_table_of_valve_states():
    """Every row is found by its own valves, whatever a valve that may be either is; with other signs or valves none is."""
    for name, own in TABLE_1.items():
        for either in (True, False):
            valves = [either if v is None else v for v in own[2:]]
            for direction in own.directions:
                assert segment(direction, own.sign, *valves) == name
            assert segment(None, own.sign, *valves) is None
    assert segment(1, 1, True, True, True, True, True) is None
    assert segment(1, -1, False, False, False, False, False) is None
    assert len(TABLE_1) == 17
    assert {name for name, r in TABLE_1.items() if r.hSC} == {"-F_rM", "+3"}
    assert {name for name, r in TABLE_1.items() if r.rSC} == {"-3", "F_hM"}
    assert {name for name, r in TABLE_1.items() if r.pR} == {"+2a", "+2b", "-2a", "-2b"}


def test_what_other_drives_take_is_work_at_the_pumps_pressure():
    """A motor and a rod without metering valves: all that the pump gives is the sum of their flows at its pressure."""
    taken = {"Q_s_motor": one(1, 2, 3), "Q_s_rod": one(0, 4, -1), "P_s": one(10, 20, 30)}
    log = SimpleNamespace(time=one(0, 1, 2), array=taken.get)
    asked = []
    supply = SimpleNamespace(
        pressure_name="P_s",
        most=SimpleNamespace(p_r=2.0),
        power_names=lambda: ("pump", "delivered"),
        account=lambda P, flow, rate: (
            asked.append((P, flow, rate))
            or SimpleNamespace(given=P * flow, lost={}, stored=one(5, 5, 5))
        ),
    )
    drive = SimpleNamespace(valves=())
    machine = SimpleNamespace(
        actuators=[SimpleNamespace(name=name, drive=drive) for name in ("motor", "rod")],
        supply=supply,
        flow_names=("Q_s_motor", "Q_s_rod"),
        states=(Signal("P_s", "Pa", ""),),
    )
    plant = SimpleNamespace(
        mechanism=machine,
        states=(),
        inputs=(),
        called={},
        power_names=("pump",),
        powers=lambda t, x, u: [one(7, 7, 7)],
        rhs=lambda t, x, u: None,
        inner=lambda rates: [0.25],
    )
    found = of_filled(plant, log)
    ((P, flow, rate),) = asked
    assert P.tolist() == [8, 18, 28] and flow.tolist() == [1, 6, 2] and rate == 0.25
    assert found.work["Q_s_motor"].tolist() == [8, 36, 84]
    assert found.work["Q_s_rod"].tolist() == [0, 72, -28]
    assert found.gap.tolist() == [-5, -5, -5] and found.law == {} and found.counted == ()
