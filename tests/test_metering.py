"""Γ and Λ of one section: closed forms against (39) solved by force, the sets, Table 1, edges, what is refused."""

import casadi as ca
import metering_cases as cases
import numpy as np
import pytest
from oracles.metering import brute_force

from plants.valve_circuits import (
    TABLE_1,
    Γ,
    Λ,
    Circuit,
    Openings,
    Pump,
    Section,
    closed,
    operating,
    orifice_coefficient,
    segment,
)
from plants.valve_circuits.roots import resolve
from workbench import InputError
from workbench.numerics.calculus import trace  # noqa: F401 — lets NumPy functions act on expressions

PAPER, A_H, A_R, Q = Circuit(), 0.024, 0.012, 500 / 60000


def full_scale(section):
    return section.A_h * section.P_hM + section.A_r * section.P_rM


def some(seed, n, directions=(-1, 0, 1)):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        c, o, u_b = (
            cases.circuit(rng),
            cases.openings(rng, rng.choice(directions)),
            cases.bleed(rng),
        )
        yield rng, c, o, u_b


def speed(rng, c):
    """A velocity around what the pump can give, now and then exactly Q/A of a side."""
    s = c.sections[0]
    return float(
        rng.choice(
            [
                rng.uniform(-1.5, 1.5) * c.pump.Q / min(s.A_h, s.A_r),
                0.1 * rng.normal(),
                1e-4 * rng.normal(),
            ]
        )
    )


# ---- Γ --------------------------------------------------------------------------------------------------------------------------
def test_forces_are_those_of_the_circuit_solved_by_force():
    for rng, c, o, u_b in some(1, 400):
        v = speed(rng, c)
        f = Γ(c, o, u_b, v)
        assert f.low == f.high
        assert f.low[0] == pytest.approx(
            brute_force(c.rows(o)[0], c.supply(u_b), v), abs=1e-9 * full_scale(c.sections[0])
        )


def test_dividing_by_the_larger_of_epsilon_and_the_opening_would_be_91_kN_off():
    """The workaround after (64): machine epsilon in SI is as large as (c_b u_b)² itself."""
    row, supply, worst = PAPER.rows(Openings.command(0.5))[0], PAPER.supply(0.003), 0.0
    eps, U_b = np.finfo(float).eps, supply[2]
    for v in np.linspace(0.2, 0.347, 400):
        w = v - Q / A_H
        paper = np.clip(
            min(A_H * 36e6, -(A_H**3) / max(eps, U_b**2) * w * abs(w))
            - v * v * A_H**3 / row[4] ** 2,
            0.0,
            A_H * 42e6,
        )
        paper -= min(v * v * A_R**3 / row[7] ** 2, A_R * 40e6)
        worst = max(worst, abs(paper - brute_force(row, supply, v)))
        assert Γ(PAPER, Openings.command(0.5), 0.003, v).low[0] == pytest.approx(
            brute_force(row, supply, v), abs=1e-3
        )
    assert worst > 9e4


def test_set_at_rest_by_hand():
    """(65) with (66): head side at the pump's relief or at the bleed's pressure, or shut."""
    out, u_b = Openings.command(0.5), 0.7
    dead = (Q / (PAPER.pump.c_b * u_b)) ** 2
    assert Γ(PAPER, out, 0.2, 0.0) == pytest.approx((A_H * 36e6, A_H * 42e6), rel=1e-14)
    assert Γ(PAPER, out, u_b, 0.0) == pytest.approx((A_H * dead, A_H * 42e6), rel=1e-14)
    assert Γ(PAPER, Openings.command(-0.5), u_b, 0.0) == pytest.approx(
        (-A_R * 40e6, -A_R * dead), rel=1e-14
    )
    assert Γ(PAPER, Openings(), 0.3, 0.0) == pytest.approx((-A_R * 40e6, A_H * 42e6), rel=1e-14)
    assert Γ(PAPER, Openings(u_tr=0.4), 0.3, 0.0) == pytest.approx((0.0, A_H * 42e6), abs=1e-9)
    assert Γ(PAPER, Openings(u_ph=0.4), 0.2, 0.0) == pytest.approx(
        (A_H * 36e6 - A_R * 40e6, A_H * 42e6), rel=1e-14
    )


def test_with_the_bleed_shut_the_force_is_a_set_where_the_pump_ends():
    for u_c, v in ((0.6, Q / A_H), (-0.6, -Q / A_R)):
        at = Γ(PAPER, Openings.command(u_c), 0.0, v)
        before, after = (
            Γ(PAPER, Openings.command(u_c), 0.0, v * k).low[0] for k in (1 - 1e-9, 1 + 1e-9)
        )
        assert at == pytest.approx(sorted((before, after)), rel=1e-6) and at.high - at.low > 1e4
        bled = Γ(PAPER, Openings.command(u_c), 1e-3, v)
        assert bled.low == bled.high


def test_every_set_lies_between_its_neighbours():
    """Γ decreases: all forces at a lower velocity are at least all forces at a higher one."""
    for rng, c, o, u_b in some(2, 60):
        s = c.sections[0]
        v = np.sort(
            np.concatenate(
                [speed(rng, c) * np.ones(1), rng.uniform(-1, 1, 30), [0.0, c.pump.Q / s.A_h]]
            )
        )
        sets = [Γ(c, o, u_b, w) for w in v]
        assert all(
            a.low[0] >= b.high[0] - 1e-9 * full_scale(s)
            for a, b in zip(sets, sets[1:])
            if a is not b
        )
        assert all(-s.A_r * s.P_rM <= a.low[0] <= a.high[0] <= s.A_h * s.P_hM for a in sets)


# ---- Λ --------------------------------------------------------------------------------------------------------------------------
def test_resolvent_undoes_the_map():
    for rng, c, o, u_b in some(3, 400):
        v, β = speed(rng, c), 10 ** rng.uniform(4, 8)
        for w in (v, 0.0):
            f = Γ(c, o, u_b, w)
            force = f.low[0] + rng.uniform() * (f.high[0] - f.low[0])
            with np.errstate(all="ignore"):
                exact = float(closed.Λ(c.rows(o)[0], c.supply(u_b), β, force - β * w))
            assert exact == pytest.approx(w, abs=1e-9)
            assert Λ(c, o, u_b, β, force - β * w) == pytest.approx(w, abs=1e-9)


def test_closed_form_and_root_agree_where_both_hold():
    rows, supply, β, f = [], [], [], []
    for rng, c, o, u_b in some(4, 3000):
        rows.append(c.rows(o)), supply.append(c.supply(u_b))
        load = cases.load(rng, 1, 2.0, 9.0)
        β.append(load[0]), f.append(load[1])
    rows, supply, β, f = map(np.array, (rows, supply, β, f))
    with np.errstate(
        all="raise", divide="ignore", over="ignore", under="ignore"
    ):  # nothing invalid in any branch
        v = closed.Λ(rows[:, 0].T, supply.T, β[:, 0], f[:, 0])
    w, q = np.zeros(1), np.zeros(1)
    for i in range(len(f)):
        resolve(rows[i], supply[i], β[i], f[i], w, q)
        assert v[i] == pytest.approx(w[0], abs=1e-9, rel=1e-12)
    assert (np.abs(v) > 0.01).mean() > 0.5 and (v == 0).mean() > 0.02  # moving and standing


def test_printed_condition_of_the_closed_form_would_be_wrong():
    """(29), u_b = 0: a_1 = 0 gives x_1, not a root of a negative number; b x_1 + c decides, not b x + c."""
    assert closed.Φ_B(3.1, -7.0, 0.8, 0.0, 0.4) == pytest.approx(0.4)
    assert closed.Φ_B(3.1, -7.0, 0.0, 0.6, 0.4) == 0.0
    assert closed.Φ_B(3.1, 0.0, 0.0, 0.0, 0.4) == 0.0
    for c in np.linspace(-9.0, 2.0, 57):
        x = closed.Φ_B(3.1, c, 0.8, 0.6, 0.4)
        left = x * abs(x) / 0.8 + (x - 0.4) * abs(x - 0.4) / 0.6 + 3.1 * x + c
        assert left == pytest.approx(0.0, abs=1e-13) or (x == 0.0 and left > 0)


def test_same_text_traced_with_finite_derivatives():
    names = ("β", "f", "u_c", "u_b")
    β, f, u_c, u_b = map(ca.SX.sym, names)
    s, p = PAPER.sections[0], PAPER.pump
    out, back = ca.fmax(u_c, 0), ca.fmax(-u_c, 0)
    row = [
        s.A_h,
        s.A_r,
        s.P_hM,
        s.P_rM,
        s.c_ph * out,
        s.c_pr * back,
        s.c_th * back,
        s.c_tr * out,
        0.0,
    ]
    v = closed.Λ(row, [p.Q, p.P_M, p.c_b * u_b], β, f)
    run = ca.Function("v", [β, f, u_c, u_b], [v, ca.jacobian(v, f)])
    rng = np.random.default_rng(6)
    for _ in range(300):
        b, force, c, u = (
            10 ** rng.uniform(4, 8),
            rng.uniform(-1e6, 1.2e6),
            rng.uniform(-1, 1),
            rng.uniform(0.01, 1),
        )
        c, u = float(rng.choice([c, 0.0, 1.0])), float(rng.choice([u, 0.0, 1.0]))
        value, slope = map(float, run(b, force, c, u))
        assert value == pytest.approx(Λ(PAPER, Openings.command(c), u, b, force)[0], abs=1e-12)
        assert (
            -1.0 / b * (1 + 1e-9) <= slope <= 0.0
        )  # decreasing, never faster than the line βv + f̄ itself


def test_nothing_is_not_a_number_at_edges():
    ends = (0.0, 1.0)
    for ph in ends:
        for tr in ends:
            for u_b in ends:
                for u_a in ends:
                    for o in (
                        Openings(u_ph=ph, u_tr=tr, u_a=u_a),
                        Openings(u_pr=ph, u_th=tr, u_a=u_a),
                    ):
                        for v in (0.0, Q / A_H, -Q / A_R, 1e-300, -1e-300, 50.0, -50.0):
                            assert np.isfinite(Γ(PAPER, o, u_b, v)).all()
                        for f in (0.0, A_H * 42e6, -A_R * 40e6, A_H * 36e6, 1e9, -1e9):
                            assert np.isfinite(Λ(PAPER, o, u_b, 1e4, f)).all()


# ---- pressures, flows, states ---------------------------------------------------------------------------------------------------
def formula(name, s, o, u_b, pump, v):
    """(64f)–(64s) and the two constants, as printed."""
    S = v * abs(v)
    ph, tr = s.c_ph**2 * o.u_ph**2 / s.A_h**3, s.c_tr**2 * o.u_tr**2 / s.A_r**3
    pr, th = s.c_pr**2 * o.u_pr**2 / s.A_r**3, s.c_th**2 * o.u_th**2 / s.A_h**3
    F_hM, F_rM, U = s.A_h * s.P_hM, s.A_r * s.P_rM, pump.c_b * u_b
    w, z = v - pump.Q / s.A_h, v + pump.Q / s.A_r
    out = {
        "-F_rM": lambda: -F_rM,
        "F_hM": lambda: F_hM,
        "+3": lambda: -S / tr,
        "-3": lambda: -S / th,
        "+2b": lambda: s.A_h * pump.P_M - S / ph - F_rM,
        "+2a": lambda: s.A_h * pump.P_M - S / ph - S / tr,
        "+1b": lambda: -(s.A_h**3) / U**2 * w * abs(w) - S / ph - F_rM,
        "+1a": lambda: -(s.A_h**3) / U**2 * w * abs(w) - S / ph - S / tr,
        "+0b": lambda: F_hM - F_rM,
        "+0a": lambda: F_hM - S / tr,
        "-0a": lambda: -F_rM - S / th,
        "-0b": lambda: F_hM - F_rM,
        "-1a": lambda: -(s.A_r**3) / U**2 * z * abs(z) - S / pr - S / th,
        "-1b": lambda: -(s.A_r**3) / U**2 * z * abs(z) - S / pr + F_hM,
        "-2a": lambda: -s.A_r * pump.P_M - S / pr - S / th,
        "-2b": lambda: -s.A_r * pump.P_M - S / pr + F_hM,
    }
    return out[name]()


def test_valve_states_name_the_segment_whose_formula_gives_the_force():
    seen = set()
    for rng, c, o, u_b in some(7, 500):
        v = speed(rng, c)
        at = operating(c, o, u_b, v)
        name = at.sections[0].segment
        assert name is not None
        seen.add(name)
        assert at.f.low[0] == pytest.approx(
            formula(name, c.sections[0], o, u_b, c.pump, v), abs=1e-8 * full_scale(c.sections[0])
        )
    assert len(seen) >= 12 and seen <= set(TABLE_1)


def test_no_state_fits_what_no_circuit_does():
    assert segment(1, 1, True, True, False, False, False) is None
    assert segment(0, 0, False, False, True, False, False) == "0"


def test_pressures_at_rest_are_ranges_that_a_known_force_narrows():
    shut = operating(PAPER, Openings(), 0.3, 0.0)
    assert shut.sections[0].P_h == pytest.approx((0.0, 42e6), abs=1.0)
    assert shut.sections[0].P_r == pytest.approx((0.0, 40e6), abs=1.0)
    held = operating(PAPER, Openings(), 0.3, 0.0, f=6e5).sections[0]
    assert held.P_h == pytest.approx((25e6, 42e6), rel=1e-9) and held.P_r == pytest.approx(
        (0.0, 34e6), rel=1e-9, abs=1.0
    )
    assert held.segment == "0" and not held.check


def test_flows_balance_and_power_is_what_valves_take():
    """Pump power = work on the rod + losses of every valve; flows of both chambers and of the pump add up."""
    for rng, c, o, u_b in some(8, 200, (-1, 0, 1, None)):
        v, s = speed(rng, c), c.sections[0]
        at = operating(c, o, u_b, v)
        q, P, h, r = at.sections[0], at.P.low, at.sections[0].P_h.low, at.sections[0].P_r.low
        P_c = max(
            P, (c.rows(o)[0, 4:6] ** 2 @ [h, r]) / max((c.rows(o)[0, 4:6] ** 2).sum(), 1e-300)
        )
        assert at.Q_b + at.Q_M + max(q.Q_ph + q.Q_pr, 0) == pytest.approx(c.pump.Q, rel=1e-6)
        losses = (
            at.Q_b * P
            + at.Q_M * P
            + q.Q_ph * (P_c - h)
            + q.Q_pr * (P_c - r)
            + q.Q_th * h
            + q.Q_tr * r
            + q.Q_a * (r - h)
            + q.Q_ho * h
            + q.Q_ro * r
        )
        pumped = c.pump.Q * P
        assert losses + v * (s.A_h * h - s.A_r * r) == pytest.approx(
            pumped, rel=1e-5, abs=1e-5 * c.pump.Q * c.pump.P_M
        )
        assert min(q.Q_a, q.Q_th, q.Q_tr, at.Q_b, at.Q_M) >= 0.0


# ---- what is refused ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Openings(u_ph=1.01), "u_ph: 1.01"),
        (lambda: Openings(u_a=-1e-9), "between 0 and 1"),
        (lambda: Openings(u_tr=float("nan")), "finite number"),
        (lambda: Openings.command(1.2), "u_c: 1.2 is no command"),
        (lambda: Section(A_r=-0.012), "A_r: -0.012"),
        (lambda: Section(P_hM=0.0), "greater than zero"),
        (lambda: Section(P_rM=-1e5), "above the tank"),
        (lambda: Pump(Q=0.0), "Q: 0 m"),
        (lambda: Pump(P_M=-1.0), "relief of the pump"),
        (lambda: Circuit(()), "without a section"),
        (lambda: Circuit((Section(), Section())), "a name of its own"),
        (lambda: Γ(PAPER, Openings(), 1.5, 0.0), "u_b: 1.5"),
        (lambda: Γ(PAPER, (Openings(),) * 2, 0.5, 0.0), "openings of 2 sections"),
        (lambda: Γ(PAPER, Openings(), 0.5, float("inf")), "finite number"),
        (lambda: Circuit((3,)), "sections: its entry number 1"),
        (lambda: Γ(PAPER, None, 0.5, 0.0), "None is no Openings"),
        (lambda: Openings(u_th=7), "between 0 and 1 (openings)"),
        (lambda: operating(PAPER, Openings(), 0.5, 0.0, [0.0, 1.0]), "no force for each"),
        (lambda: operating(PAPER, Openings(), 0.5, 0.0, float("nan")), "in N"),
        (lambda: Λ(PAPER, Openings(), 0.5, 0.0, 1e5), "greater than zero"),
        (lambda: Λ(PAPER, Openings(), 0.5, 1e5, float("nan")), "finite"),
        (
            lambda: Λ(Circuit((Section(), Section("2"))), (Openings(),) * 2, 0.5, 1e5, 0.0),
            "last axis",
        ),
    ],
)
def test_refused(make, words):
    with pytest.raises(InputError) as refusal:
        make()
    assert words in str(refusal.value) and "mend" in str(refusal.value)


def test_both_directions_at_once_are_said_not_refused():
    assert Openings(u_ph=0.4, u_pr=0.2).direction is None and Openings(u_tr=0.4).direction == 1
    assert (Openings(u_th=0.1).direction, Openings(u_a=0.4).direction) == (-1, 0)


def test_coefficients_of_the_paper():
    assert PAPER.sections[0].c_ph == pytest.approx(orifice_coefficient(0.6, 1e-4, 850.0))
    assert PAPER.pump.Q * 60000 == pytest.approx(500.0)
