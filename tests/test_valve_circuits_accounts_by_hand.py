"""Accounts of a run's power: drives with oil of their own, energies that were counted, open pressures."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.orifice import root
from plants.valve_circuits.accounts import account
from plants.valve_circuits.accounts.account import ValveAccount, by_model, check_logged, counted
from plants.valve_circuits.accounts.filled import _filled, of_filled
from plants.valve_circuits.accounts.section import (
    Section,
    drawn_in,
    losses,
    open_ranges,
    section_flows,
)
from plants.valve_circuits.diagnosis import Suspect
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status

one = lambda *values: np.array(values, float)


def log_of(t=(0, 1, 2), **signals):
    values = np.column_stack([np.broadcast_to(v, len(t)) for v in signals.values()])
    return Log(
        one(*t), values, tuple(map(Signal, signals)), {}, Status(True, "ended", float(t[-1]))
    )


# ---- oil that is pressed together ---
ROW = [0.5, 0.3, 8.0, 7.0, 2.0, 0.6, 0.7, 1.5, 0.4]
W, G = 1e-3, 0.25
DRIVE = SimpleNamespace(
    valves=("ph", "a"), w=W, G=G, β=5.0, V_h=2.0, V_r=3.0, inputs=lambda k: (Signal(f"u_{k}"),),
    pressures=lambda k: (f"P_h_{k}", f"P_r_{k}"), row=lambda u: [*ROW[:4], *(k * u[0] for k in ROW[4:])],
)  # fmt: skip
RATES = {
    "rod_j": one(0.1, 0.2, 0.3),
    "P_h_j": one(4, 5, 6),
    "P_r_j": one(-7, 8, 9),
    "P": one(2, 2, 2),
}
P_H, P_R, U, LINE = one(1, 9, -2), one(3, -1, 8), one(1, 0.5, 2), one(5, 4, 10)
LOGGED = {
    "P_h_j": P_H,
    "side": P_R,
    "u_j": U,
    "P": LINE + 1.0,
    "Q_s_m": one(1, 2, 3),
    "x": one(0, 0, 0),
}


def test_one_drive_along_a_run():
    """Work A_h P_h − A_r P_r times v; d(oil)/dt = Σ V/β P Ṗ; flow from the line by both valves, backwards none."""
    found = _filled("j", DRIVE, LINE, {"P_r_j": "side"}, log_of(**LOGGED), RATES)
    assert found.work == pytest.approx((0.5 * P_H - 0.3 * P_R) * RATES["rod_j"])
    stored = (2.0 * P_H * RATES["P_h_j"] + 3.0 * P_R * RATES["P_r_j"]) / 5.0
    assert found.stored == pytest.approx(stored)
    fed = lambda p: root(np.maximum(LINE - p, 0.0), W)
    assert found.flow == pytest.approx(2.0 * U * fed(P_H) + 0.6 * U * fed(P_R))
    assert found.law["ph"] == pytest.approx(2.0 * U * fed(P_H) * (LINE - P_H))
    assert found.law["th"] == pytest.approx(0.7 * U * root(P_H, W) * P_H)
    assert found.law["tr"] == pytest.approx(1.5 * U * root(P_R, W) * P_R)
    assert found.law["r_limits"] == pytest.approx(
        G * (np.maximum(P_R - 7, 0) + np.minimum(P_R, 0)) * P_R
    )
    assert {k: p.tolist() for k, p in found.pressures.items()} == {
        "P_h_j": [1, 9, -2],
        "side": [3, -1, 8],
    }
    assert found.G == G


def plant(**powers):
    asked = {}

    def account(P, flow, rate):
        asked.update(P=P, flow=flow, rate=rate)
        return SimpleNamespace(given=P * 7.0, lost={"bleed": P * 0.5}, stored=P * 0.25)

    supply = SimpleNamespace(
        pressure_name="P", most=SimpleNamespace(p_r=1.0), account=account, power_names=lambda: ("pump", "bleed", "delivered")
    )  # fmt: skip
    drives = {"j": DRIVE, "m": SimpleNamespace(valves=())}
    machine = SimpleNamespace(
        actuators=[SimpleNamespace(name=k, drive=d) for k, d in drives.items()], supply=supply,
        flow_names=("Q_s_j", "Q_s_m"), states=tuple(map(Signal, RATES)),
    )  # fmt: skip
    own = SimpleNamespace(
        mechanism=machine, called={"P_r_j": "side"}, states=(Signal("x"),), inputs=(), power_names=tuple(powers),
        powers=lambda t, x, u: [t + p for p in powers.values()], rhs=lambda t, x, u: t,
        inner=lambda t: [t + r for r in RATES.values()],
    )  # fmt: skip
    return own, asked


def test_an_account_of_drives_with_oil_of_their_own():
    """The pump's as its supply has it; every valve by its law; rods, and what others take, are work; suction where p < 0."""
    powers = {
        "pump": one(1, 1, 1),
        "bleed": -one(2, 3, 4),
        "ph_j": -one(5, 6, 7),
        "a_j": -one(8, 9, 9),
    }
    own, asked = plant(**powers)
    found = of_filled(own, log_of(**LOGGED))
    drive = _filled("j", DRIVE, LINE, {"P_r_j": "side"}, log_of(**LOGGED), RATES)
    assert asked["P"].tolist() == LINE.tolist() and asked["rate"].tolist() == [2, 2, 2]
    assert asked["flow"] == pytest.approx(drive.flow + one(1, 2, 3))
    assert found.pump == pytest.approx(LINE * 7.0)
    assert found.stored == pytest.approx(LINE * 0.25 + drive.stored)
    assert list(found.law)[:2] == ["bleed", "ph_j"] and len(found.law) == 8
    assert found.law["th_j"] == pytest.approx(drive.law["th"])
    assert list(found.work) == ["rod_j", "Q_s_m"] and found.work["rod_j"] == pytest.approx(
        drive.work
    )
    assert found.work["Q_s_m"] == pytest.approx(LINE * one(1, 2, 3))
    assert {k: p.tolist() for k, p in found.given.items()} == {
        "bleed": [2, 3, 4],
        "ph_j": [5, 6, 7],
        "a_j": [8, 9, 9],
    }
    assert found.drawn["P_h_j"].tolist() == [0, 0, 2 * G] and found.drawn["side"].tolist() == [
        0,
        G,
        0,
    ]
    assert [r.tolist() for r in found.ranges["side"]] == [[3, -1, 8]] * 2
    assert found.at.tolist() == [0, 1, 2] and found.suspects == found.counted == ()
    with pytest.raises(InputError, match="the log has no x"):
        of_filled(own, log_of(P=LINE))


# ---- what is counted ---
def energies(t, **E):
    return log_of(t, **{f"E_{name}": np.asarray(v, float) for name, v in E.items()})


@pytest.mark.parametrize("rows, told", [(4, False), (5, True), (6, True)])
def test_a_run_of_few_rows_counts_nothing(rows, told):
    t = np.arange(float(rows))
    log = energies(t, pump=10 * t, a=3 * t)
    assert bool(counted(log, {"pump": 10 + 0 * t, "a": 2 + 0 * t})) is told


@pytest.mark.parametrize("given", [("pump",), ("supply_a", "supply_b")])
def test_what_is_off_counts_over_what_the_pump_gives(given):
    """The larger of run and law: here 10 W and 11 W over 6 s; a thousandth of it is nobody's."""
    t = np.arange(7.0)
    E = dict(zip(given, ([10 * t] if len(given) == 1 else [4 * t, 6 * t])))
    powers = dict(zip(given, ([11 + 0 * t] if len(given) == 1 else [5 + 0 * t, 6 + 0 * t])))
    found = {
        s.element: s for s in counted(energies(t, a=3 * t, **E), {**powers, "a": 2 + 0 * t}, given)
    }
    assert found["a"].size == pytest.approx((6 - 0.066) / 66)
    assert found["a"].words == "the run counted 18 J, its law gives 12 J over the run"
    assert found[given[0]].size == pytest.approx((6 - 0.066) / 66)
    assert set(found) == {"a", given[0]}
    small = counted(energies(t, a=2.01099 * t, **E), {**powers, "a": 2 + 0 * t}, given)
    assert {s.element for s in small} == {given[0]}


@pytest.mark.parametrize("rows", [5, 6, 7, 8])
def test_a_curved_power_is_as_uncertain_as_its_coarser_sum(rows):
    """Twice what every other row gives otherwise; a last row over is summed as it is. Steps are a fifth of the range and more."""
    t = np.arange(float(rows)) ** 1.1
    power = np.linspace(0.0, 1.0, rows) ** 2
    last = rows - 1 if rows % 2 else rows - 2
    fine = np.trapezoid(power, t)
    coarse = np.trapezoid(power[0 : last + 1 : 2], t[0 : last + 1 : 2]) + np.trapezoid(
        power[last:], t[last:]
    )
    step = np.abs(np.diff(power))
    jumps = sum(s * h for s, h in zip(step, np.diff(t)) if s > 0.1)
    assert account._uncertain(power, t) == pytest.approx(2 * abs(fine - coarse) + 0.5 * jumps)


def test_a_power_that_grows_by_tenths_does_not_jump():
    """A step of a tenth of the range is followed by rows, one of more is not."""
    t = np.arange(9.0)
    slow, fast = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8.0]), np.array([0, 0, 0, 0, 8, 8, 8, 8, 8.0])
    assert account._uncertain(slow, 1.0 * t) == pytest.approx(0.5 * 8)
    assert account._uncertain(fast, t) == pytest.approx(2 * 4 + 0.5 * 8)
    assert account._uncertain(np.arange(11.0), np.arange(11.0)) == pytest.approx(0.0, abs=1e-9)


def test_what_the_model_says_that_valves_take():
    supply = SimpleNamespace(power_names=lambda: ("pump", "bleed", "relief", "delivered"))
    drives = {"a": SimpleNamespace(valves=("ph", "th")), "b": SimpleNamespace(valves=("ph",))}
    powers = {"pump": 9.0, "bleed": -1.0, "relief": -2.0, "delivered": -3.0, "load": 7.0}
    powers |= {"ph_a": -4.0, "th_a": -5.0, "ph_b": -6.0}
    found = by_model(supply, drives, powers)
    assert found == {"bleed": 1.0, "relief": 2.0, "ph_a": 4.0, "th_a": 5.0, "ph_b": 6.0}
    assert check_logged({"a": 1}, ("a",)) is None
    with pytest.raises(InputError, match="the log has no b, c"):
        check_logged({"a": 1}, ("a", "b", "c"))


def test_an_account_of_quasistatic_sections():
    """Valves by their laws, f v of every rod, suction and ranges of each chamber by its name."""
    s = Section(ROW, one(0.1, 0.2), one(3, 4), one(8, 0), one(2, 1))
    P = one(5, 6)
    q = section_flows(s, P)
    found = account.quasistatic(
        one(0, 1), one(9, 9), {"j": s}, {"j": q}, {"bleed": one(1, 1)}, one(2, 2), one(0, 1), {"g": 1}, P, 4.0,
        [Suspect("e", 1.0, "w")],
    )  # fmt: skip
    own = losses(s, q)
    assert list(found.law) == ["bleed", *(f"{valve}_j" for valve in own)]
    assert all(found.law[f"{valve}_j"] == pytest.approx(p) for valve, p in own.items())
    assert found.work["rod_j"] == pytest.approx([0.3, 0.8]) and found.stored.tolist() == [2, 2]
    for key, oil, both in zip(("P_h_j", "P_r_j"), drawn_in(s, q), open_ranges(s, P, 4.0)):
        assert found.drawn[key] == pytest.approx(oil)
        assert np.array(found.ranges[key]) == pytest.approx(np.array(both))
    assert found.suspects == (Suspect("e", 1.0, "w"),) and found.given == {"g": 1}
    gap = 9 - sum(found.law.values()) - found.work["rod_j"] - 2
    assert isinstance(found, ValveAccount) and found.gap == pytest.approx(gap)


# ---- pressures that are open ---
def opened(k=(0.0, 0.0, 0.0, 0.0), v=0.0, f=1.0, P=5.0, P_h=3.2, P_r=2.0, Q=4.0):
    s = Section([0.5, 0.3, 8.0, 7.0, *k, 0.0], one(v), one(f), one(P_h), one(P_r))
    h, r = open_ranges(s, one(P), Q)
    return [e.item() for pair in (h, r) for e in np.broadcast_arrays(*pair)]


@pytest.mark.parametrize(
    "k, P, found",
    [
        ((0, 0, 0, 0), 5.0, [2.0, 6.2, 0.0, 7.0]),
        ((1, 0, 0, 0), 5.0, [3.2, 6.2, 2.0, 7.0]),  # no lower than the pump's, or where it is
        ((1, 0, 0, 0), 9.0, [3.2, 8.0, 2.0, 7.0]),
        ((0, 1, 0, 0), 3.0, [3.2, 6.2, 2.0, 7.0]),
        ((0, 0, 1, 0), 5.0, [0.0, 3.2, 0.0, 2.0]),
        ((0, 0, 0, 1), 5.0, [2.0, 3.2, 0.0, 2.0]),
        ((1, 0, 0, 1), 2.5, [2.5, 3.2, 0.0, 2.0]),
        ((1, 0, 1, 0), 5.0, [3.2, 3.2, 2.0, 2.0]),  # the pump's oil runs through
        ((0, 1, 0, 1), 5.0, [3.2, 3.2, 2.0, 2.0]),
    ],
)
def test_ranges_of_a_standing_rod(k, P, found):
    assert opened(k, P=P) == pytest.approx(found)
    assert opened((1, 0, 0, 0), P_r=6.5) == pytest.approx([3.2, 6.2, 5.0, 7.0])
    assert opened((0, 1, 0, 0), P=3.0, P_h=5.9) == pytest.approx([3.8, 6.2, 2.0, 7.0])


@pytest.mark.parametrize("share, stands", [(0.99e-12, True), (1.01e-12, False)])
def test_a_rod_that_moves_next_to_no_oil_stands(share, stands):
    """By the larger area, over the pump's flow, whichever way."""
    for sign in (1.0, -1.0):
        h_low, h_high, *_ = opened(v=sign * share * 4.0 / 0.5)
        assert ((h_low, h_high) == (3.2, 3.2)) is not stands


def test_reliefs_and_suction_checks_begin_at_a_millionth_of_their_pressure():
    """At the relief from 1 − 1e-6 of it on, at the tank up to 1e-6 of it."""
    at = lambda P_h, P_r: Section(
        [0.5, 0.3, 8.0, 7.0, *[0.0] * 5], one(0), one(0), one(P_h), one(P_r)
    )
    q = SimpleNamespace(
        **{k: one(0) for k in ("Q_ph", "Q_pr", "Q_th", "Q_tr", "Q_a", "P_c")},
        Q_ho=one(-0.5),
        Q_ro=one(-0.25),
    )
    edges = 8.0 * (1 - 1e-6), 7.0 * (1 - 1e-6)
    assert losses(at(*edges), q)["hR"] == pytest.approx([-4.0], rel=1e-5) and losses(at(*edges), q)[
        "rR"
    ] == pytest.approx([-1.75], rel=1e-5)
    below = losses(at(8.0 * (1 - 1.1e-6), 7.0 * (1 - 1.1e-6)), q)
    assert not below["hR"].any() and not below["rR"].any()
    drawn = lambda share: [float(d[0]) for d in drawn_in(at(8.0 * share, 7.0 * share), q)]
    assert drawn(1e-6) == [0.5, 0.25] and drawn(1.1e-6) == [0.0, 0.0]
