"""Several sections on one pump, regeneration, both directions open: against cvxpy, (39), and one way of solving against another."""

import metering_cases as cases
import numpy as np
import pytest
from oracles.metering import programme, residuals

from plants.valve_circuits import Γ, Λ, Circuit, Openings, Pump, Section, operating
from plants.valve_circuits.kernel import pumped, section
from plants.valve_circuits.roots import resolve, resolve_all
from plants.valve_circuits.slopes import dΛ

PAPER = Circuit()


def drawn(seed, n, N, directions=(-1, 0, 1)):
    """Circuits of N sections with regeneration wherever they extend, and wherever both directions are open."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        picked = [d if d is None else int(d) for d in rng.choice(np.array(directions, object), N)]
        yield (
            rng,
            cases.circuit(rng, N),
            tuple(cases.openings(rng, d, d is None or d > 0) for d in picked),
            cases.bleed(rng),
        )


def nested(rows, supply, β, f):
    """v by the nested roots alone, bisection for P outside."""

    def at(P):
        p = [section(row, P, -g / b, 1 / b) for row, b, g in zip(rows, β, f)]
        left = (
            supply[0]
            - supply[2] * np.sqrt(P)
            - sum(pumped(row, P, -g / b, 1 / b, *x) for row, b, g, x in zip(rows, β, f, p))
        )
        return (
            left,
            np.array(
                [(row[0] * x - row[1] * y - g) / b for row, b, g, (x, y) in zip(rows, β, f, p)]
            ),
            p,
        )

    low, high = 0.0, supply[1]
    if at(high)[0] >= 0:
        return high, *at(high)[1:]
    while True:
        P = 0.5 * (low + high)
        if not low < P < high:
            return high, *at(high)[1:]
        low, high = (P, high) if at(P)[0] > 0 else (low, P)


@pytest.mark.parametrize("N", [1, 2, 3])
def test_newton_closed_forms_and_nested_roots_agree(N):
    moving = 0
    for rng, c, o, u_b in drawn(20 + N, 150 // N, N):
        rows, supply, (β, f) = c.rows(o), c.supply(u_b), cases.load(rng, N)
        _, v, _ = nested(rows, supply, β, f)
        assert Λ(c, o, u_b, β, f) == pytest.approx(v, abs=1e-9, rel=1e-10)
        moving += (np.abs(v) > 0.01).sum()
    assert moving > 60


@pytest.mark.parametrize("N", [1, 2])
def test_both_directions_open_agree_with_nested_roots(N):
    """Whatever is open, now and then next to nothing (1e-6), and around rest."""
    rng = np.random.default_rng(30 + N)
    for _ in range(60 // N):
        c, u_b, (β, f) = cases.circuit(rng, N), cases.bleed(rng), cases.load(rng, N)
        rows, supply = c.rows([cases.openings(rng, None, True) for _ in range(N)]), c.supply(u_b)
        rows[:, 4:] *= rng.choice((0.0, 1e-6, 1.0, 1.0, 1.0), (N, 5))
        v = np.zeros(N)
        resolve(rows, supply, β, f, v, np.zeros(N))
        assert v == pytest.approx(nested(rows, supply, β, f)[1], abs=1e-9, rel=1e-10)


@pytest.mark.parametrize(
    "N, directions", [(1, (-1, 0, 1)), (1, (None,)), (2, (-1, 1)), (3, (-1, 0, 1, None))]
)
def test_pressures_satisfy_every_relation_of_the_circuit(N, directions):
    """(39), (91): the programme is strictly convex in f, so what satisfies them is the solution."""
    refused = []
    for rng, c, o, u_b in drawn(40 + N, 60 // N, N, directions):
        rows, supply, (β, f) = c.rows(o), c.supply(u_b), cases.load(rng, N)
        P, v, p = nested(rows, supply, β, f)
        assert residuals(rows, supply, v, P, p) < 1e-6
        assert Λ(c, o, u_b, β, f) == pytest.approx(v, abs=1e-6)
        j = int(
            rng.integers(N)
        )  # and other pressures would not, but where they are free (a standing rod)
        p[j] = (0.97 * p[j][0] + 0.01 * rows[j, 2], p[j][1])
        refused.append(residuals(rows, supply, v, P, p) > 1e-6)
    assert np.mean(refused) > 0.6


@pytest.mark.parametrize(
    "N, directions", [(1, (1,)), (2, (-1, 1)), (3, (1, 1, -1)), (2, (None, 1))]
)
def test_convex_programme_stated_to_cvxpy(N, directions):
    for rng, c, o, u_b in drawn(60 + N, 4, N, directions):
        β, f = cases.load(rng, N, 5.5, 7.0)
        assert Λ(c, o, u_b, β, f) == pytest.approx(
            programme(c.rows(o), c.supply(u_b), β, f), abs=2e-6
        )


def test_forces_of_shared_and_regenerating_circuits_satisfy_every_relation():
    for N in (1, 2, 3):
        for rng, c, o, u_b in drawn(80 + N, 30, N):
            s = c.sections
            v = np.array([rng.uniform(-1, 1) * c.pump.Q / (N * max(x.A_h, x.A_r)) for x in s])
            at = operating(c, o, u_b, v)
            p = [(q.P_h.low, q.P_r.low) for q in at.sections]
            assert residuals(c.rows(o), c.supply(u_b), v, at.P.low, p) < 1e-6
            full = np.array([x.A_h * x.P_hM + x.A_r * x.P_rM for x in s])
            assert (
                np.array(at.f.high) - at.f.low <= 1e-9 * full
            ).all()  # away from 0 and Q/A there is one force
            back = Λ(c, o, u_b, np.full(N, 3e6), at.f.low - 3e6 * v)
            assert back == pytest.approx(v, abs=1e-9)


def test_force_set_of_a_standing_section_on_a_shared_pump():
    """(107) with P of (117): the other section, moving, decides how much pressure the standing one must bear."""
    c, o = Circuit((Section("a"), Section("b"))), (Openings.command(0.5), Openings.command(0.5))
    for v_2 in (0.0, 0.1, 0.3):
        at = Γ(c, o, 0.2, [0.0, v_2])
        P = operating(c, o, 0.2, [0.0, v_2]).P.low
        assert (at.low[0], at.high[0]) == pytest.approx((0.024 * P, 0.024 * 42e6), rel=1e-9)
    assert Γ(c, o, 0.2, [0.0, 0.3]).low[0] < Γ(c, o, 0.2, [0.0, 0.1]).low[0]


def test_pump_flow_escapes_through_a_chamber_whose_relief_is_below_the_pumps():
    """At v ≤ 0 an extending section still takes k √(P − P_hM) out of the pump, through its relief; (113) has none."""
    weak = Section("weak", P_hM=20e6)
    c, o = Circuit((weak, Section("other"))), (Openings.command(0.5), Openings.command(0.8))
    at = operating(c, o, 0.0, [-0.01, 0.2])
    assert at.sections[0].hR and at.sections[0].Q_ph > 1e-4
    assert at.sections[0].Q_ph == pytest.approx(
        weak.c_ph * 0.5 * np.sqrt(at.P.low - 20e6), rel=1e-9
    )
    rows, supply = c.rows(o), c.supply(0.0)
    β, f = np.array([2e6, 2e6]), np.array([6e5, 1e5])
    without = Λ(Circuit((Section("weak", P_hM=36e6), Section("other"))), o, 0.0, β, f)
    v = Λ(c, o, 0.0, β, f)
    assert (
        v == pytest.approx(nested(rows, supply, β, f)[1], abs=1e-9)
        and v[0] <= 0.0
        and without[1] - v[1] > 1e-3
    )


def test_regeneration_speeds_up_a_pulled_rod():
    """Fig. 8: u_c = 0.5, u_b = 0.2; under a pulling force the rod extends faster the further the valve is open."""
    v = [Λ(PAPER, Openings.command(0.5, u_a), 0.2, 1e3, -2.5e5)[0] for u_a in (0.0, 0.25, 0.5, 1.0)]
    assert np.all(np.diff(v) > 0.01)
    at = operating(PAPER, Openings.command(0.5, 0.5), 0.2, v[2]).sections[0]
    assert at.Q_a > 1e-4
    assert at.Q_a == pytest.approx(
        PAPER.sections[0].c_a * 0.5 * np.sqrt(at.P_r.low - at.P_h.low), rel=1e-9
    )


def test_full_regeneration_moves_like_a_cylinder_of_the_rods_area():
    """u_tr = 0: all oil of the rod side goes to the head; force (A_h − A_r) P_h − A_r q_a²/k_a²."""
    o, v = Openings(u_ph=0.8, u_a=0.9), 0.2
    s, at = PAPER.sections[0], operating(PAPER, o, 0.2, v)
    k_ph, k_a = 0.8 * s.c_ph, 0.9 * s.c_a
    P_h = at.P.low - ((s.A_h - s.A_r) * v / k_ph) ** 2
    assert at.f.low[0] == pytest.approx(
        (s.A_h - s.A_r) * P_h - s.A_r * (s.A_r * v / k_a) ** 2, rel=1e-9
    )
    assert Λ(PAPER, o, 0.2, 2e6, at.f.low - 2e6 * v) == pytest.approx(v, abs=1e-12)


@pytest.mark.parametrize("u_ph, P", [(0.0, 0.0), (0.5, 36e6)])
def test_slow_with_its_drain_shut_the_rod_pushes_with_the_difference_of_its_sides(u_ph, P):
    """u_tr = 0, v → 0+: P_r = P_h without rounding's help, where the drop from one to the other is far below a digit of either; a
    larger rod side is held at the reliefs. Γ(0) begins there."""
    o, s = Openings(u_ph=u_ph, u_a=0.6), PAPER.sections[0]
    small = Circuit((Section(A_h=s.A_r, A_r=s.A_h),))
    for v in (0.0, 1e-13, 1e-11, 1e-9):
        assert Γ(PAPER, o, 0.3, v).low[0] == pytest.approx((s.A_h - s.A_r) * P, abs=1e-2)
        assert Γ(small, o, 0.3, v).low[0] == pytest.approx((s.A_r - s.A_h) * 40e6, abs=1e-2)
    assert Γ(PAPER, o, 0.3, 0.0).high[0] == s.A_h * 42e6


def test_a_rod_side_that_only_regeneration_drains_holds_any_pressure_up_to_the_heads():
    """Standing, u_tr = 0: P_h from the pump's pressure to its relief, P_r from 0 to P_h or its own; f picks a piece of a line."""
    o, s = Openings(u_ph=0.5, u_a=0.6), PAPER.sections[0]
    at = operating(PAPER, o, 0.3, 0.0).sections[0]
    assert (*at.P_h, *at.P_r) == pytest.approx((36e6, 42e6, 0.0, 40e6), abs=1.0) and not at.hR
    at = operating(PAPER, o, 0.3, 0.0, f=4.5e5).sections[0]  # P_r ≤ P_h holds it below 37.5 MPa
    assert (*at.P_h, *at.P_r) == pytest.approx((36e6, 37.5e6, 34.5e6, 37.5e6), abs=1.0)
    small = Circuit((Section(A_h=s.A_r, A_r=s.A_h, P_hM=30e6),))
    at = operating(small, Openings(u_a=0.6), 0.3, 0.0).sections[0]
    assert (*at.P_h, *at.P_r) == pytest.approx((0.0, 30e6, 0.0, 30e6), abs=1.0)
    at = operating(small, o, 0.3, 0.0, f=-1.2e5).sections[0]
    assert (*at.P_h, *at.P_r) == pytest.approx((30e6, 30e6, 20e6, 20e6), abs=1.0)


def test_a_head_that_sucks_takes_no_more_from_the_pump_than_its_valve_passes():
    """A rod torn out beyond its relief, regeneration next to shut: what the other section needs is left to it."""
    c = Circuit(
        (
            Section("a", 0.0238, 0.0643, 9.4e6, 5.8e6, c_a=1e-8),
            Section("b", 0.0072, 0.0131, 6.6e6, 9.2e6),
        ),
        Pump(7.3e-3, 22e6),
    )
    o, f = (Openings(u_ph=0.014, u_a=0.01), Openings(u_pr=0.2, u_th=0.7)), -4.5e5
    v = Λ(c, o, 0.8, [4e3, 1.4e3], [f, -180.0])
    rows, supply = c.rows(o), c.supply(0.8)
    P, w, _ = nested(rows, supply, np.array([4e3, 1.4e3]), np.array([f, -180.0]))
    assert (
        v == pytest.approx(w, abs=1e-9)
        and v[1] < -0.1
        and v[0] == pytest.approx((-f - 0.0643 * 5.8e6) / 4e3, abs=1e-9)
    )
    assert supply[0] - supply[2] * np.sqrt(P) == pytest.approx(
        rows[0, 4] * np.sqrt(P) - 0.0131 * w[1], rel=1e-9
    )


def test_moves_never_run_against_each_other():
    """Incremental passivity of v ↦ −f: Σ (v − v')(f − f') ≤ 0 for any two states of a circuit, here by (β, f̄) at random."""
    for rng, c, o, u_b in drawn(90, 200, 2, (-1, 0, 1, None)):
        (β, f), (γ, g) = cases.load(rng, 2), cases.load(rng, 2)
        v, w = Λ(c, o, u_b, β, f), Λ(c, o, u_b, γ, g)
        rounding = 1e-9 * np.abs(v - w) @ (np.abs(β * v) + np.abs(f) + np.abs(γ * w) + np.abs(g))
        assert (v - w) @ ((β * v + f) - (γ * w + g)) <= rounding


def test_nothing_is_not_a_number():
    """5,000 circuits of three, a third of all openings exactly 0 or 1, forces exactly at the reliefs."""
    rng, n = np.random.default_rng(99), 5000
    rows, supply, β, f = [], [], [], []
    for _ in range(n // 50):
        c = cases.circuit(rng, 3)
        for _ in range(50):
            o = tuple(
                cases.openings(rng, d, True)
                for d in rng.choice(np.array((-1, 0, 1, None), object), 3)
            )
            rows.append(c.rows(o)), supply.append(c.supply(cases.bleed(rng)))
            load = cases.load(rng, 3, 1.0, 9.0)
            ends = np.array(
                [
                    rng.choice([s.A_h * s.P_hM, -s.A_r * s.P_rM, 0.0, s.A_h * c.pump.P_M])
                    for s in c.sections
                ]
            )
            β.append(load[0]), f.append(np.where(rng.uniform(size=3) < 0.3, ends, load[1]))
    v, P = np.full((n, 3), np.nan), np.full(n, np.nan)
    resolve_all(np.array(rows), np.array(supply), np.array(β), np.array(f), v, P)
    assert np.isfinite(v).all() and (P >= 0).all() and (P <= np.array(supply)[:, 1]).all()


def test_work_array_and_order_do_not_matter():
    """What is left in the arrays of an earlier call changes nothing."""
    c, o = (
        Circuit((Section("a"), Section("b", A_h=0.01, A_r=0.02))),
        (Openings.command(0.5, 0.7), Openings.command(-0.3)),
    )
    rows, supply, β, f = c.rows(o), c.supply(0.3), np.array([2e5, 3e6]), np.array([-2e5, 1e5])
    v, w = np.zeros(2), np.full(2, 7.0)
    assert resolve(rows, supply, β, f, v, np.zeros(2)) == resolve(
        rows, supply, β, f, w, np.full(2, 3.0)
    )
    assert (v == w).all() and Pump().Q > 0


@pytest.mark.parametrize("N", [1, 2, 3])
def test_derivatives_are_those_of_differences(N):
    """Central differences at two widths tell whether there is a derivative; where they agree, it is this one."""
    compared = 0
    for rng, c, o, u_b in drawn(110 + N, 60, N, (-1, 0, 1, None)):
        β, f = cases.load(rng, N, 4.5, 7.0)
        wide, narrow = (
            np.stack(
                [
                    (Λ(c, o, u_b, β, f + h * e) - Λ(c, o, u_b, β, f - h * e)) / (2 * h)
                    for e in np.eye(N)
                ],
                -1,
            )
            for h in (20.0, 5.0)
        )
        exact = dΛ(c, o, u_b, β, f)
        assert (np.diag(exact) <= 1e-9 / β).all() and (
            np.diag(exact) >= -1.0 / β * (1 + 1e-9)
        ).all()
        if np.abs(wide - narrow).max() < 1e-5 / β.min():
            compared += 1
            assert exact == pytest.approx(narrow, abs=1e-4 / β.min())
            assert exact == pytest.approx(exact.T, rel=1e-6, abs=1e-9 / β.max())
    assert compared > 40
