"""Parts of valve circuits alone, by hand: the curve of a section with regeneration, and the element that is to blame."""

from math import sqrt

import numpy as np
import pytest

from plants.valve_circuits import diagnosis, regenerating
from plants.valve_circuits.accounts.section import Flows, Section, section_flows


# ---- a curve of a section with regeneration -----------------------------------------------------------------------------------
def curve(rng):
    """Areas, reliefs and coefficients of about one, loads of both signs."""
    sides = rng.uniform(0.5, 2.0, 4)
    k = rng.uniform(0.3, 2.0, 3)
    return sides, k, rng.uniform(0.3, 2.0), rng.uniform(-4.0, 2.0)


def relations(sides, k, β, f, v, x, σ, beyond):
    """What q_a is at a point, and what the equations of the curve leave: the out side's balance, and the force."""
    A, A_o, _, P_oM = sides
    y = P_oM if beyond else σ * σ
    q = k[2] * sqrt(max(y - x, 0.0))
    return q, (0.0 if beyond else A_o * v - k[1] * σ - q), A * x - β * v - f - A_o * y


def test_every_point_of_a_curve_obeys_both_balances_and_rises():
    """Below and beyond the out side's relief; X = A v − q_a, P = clip(x) + X²/k_i²; its derivatives by differences."""
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(60):
        sides, k, β, f = curve(rng)
        s = regenerating.feed(sides, k, β, f)
        assert s.g == pytest.approx(1 / k[0] ** 2) and s.σ_M == pytest.approx(sqrt(sides[3]))
        start, end = float(s.start), float(s.end)
        last = None
        for share in (0.0, 0.2, 0.5, 0.8, 1.0):
            m = start + share * (max(end, start) + 0.5 - start)
            p = regenerating.at(s, m)
            beyond = m > float(s.σ_M)
            q, oil, force = relations(sides, k, β, f, p.v, p.x, min(m, float(s.σ_M)), beyond)
            assert oil == pytest.approx(0.0, abs=1e-9) and force == pytest.approx(0.0, abs=1e-9)
            assert p.X == pytest.approx(max(sides[0] * p.v - q, 0.0), abs=1e-9)
            kept = min(max(p.x, 0.0), sides[2])
            assert p.s**2 == pytest.approx(kept + p.X**2 / k[0] ** 2, abs=1e-12)
            kinds.add((bool(beyond), bool(q > 0)))
            values = np.array([p.x, p.X, p.s], float)
            assert last is None or np.all(values >= last - 1e-9)
            last = values
            h = 1e-6
            a, b = regenerating.at(s, m - h), regenerating.at(s, m + h)
            if abs(a.dX - b.dX) < 1e-3 and abs(a.ds - b.ds) < 1e-3 and share > 0:
                assert (b.X - a.X) / (2 * h) == pytest.approx(p.dX, abs=1e-3)
                assert (b.s - a.s) / (2 * h) == pytest.approx(p.ds, abs=1e-3)
    assert kinds == {(a, b) for a in (False, True) for b in (False, True)}


def test_both_ends_of_a_curve():
    """It begins at x = 0 or X = 0, at m = 0 at the earliest, and ends at x = P_iM, or where the out side can give no more."""
    rng = np.random.default_rng(8)
    begun = ended = 0
    for _ in range(120):
        sides, k, β, f = curve(rng)
        s = regenerating.feed(sides, k, β, f)
        start, end = float(s.start), float(s.end)
        assert start <= end
        a, b = regenerating.at(s, start), regenerating.at(s, end)
        if 1e-6 < start < end - 1e-6:
            assert (
                min(
                    abs(a.x),
                    abs(
                        sides[0] * a.v
                        - relations(
                            sides, k, β, f, a.v, a.x, min(start, float(s.σ_M)), start > float(s.σ_M)
                        )[0]
                    ),
                )
                < 1e-6
            )
            begun += 1
        if f < 0 and start < end:
            assert b.x == pytest.approx(sides[2], abs=1e-6)
            ended += 1
        if f >= sides[0] * sides[2]:
            assert end == 0.0
        still = regenerating.velocity(s, end + 3.0)
        assert still.v == pytest.approx(b.v) and still.x == pytest.approx(b.x)
        assert regenerating.velocity(s, start - 3.0).v == pytest.approx(a.v)
    assert begun > 10 and ended > 50


def test_before_its_beginning_the_flow_falls_with_the_root_of_the_pressure():
    """P = t² P_0, Q_p = t X_0, 0 ≤ t ≤ 1, over a length of √P_oM."""
    rng = np.random.default_rng(9)
    seen = 0
    for _ in range(60):
        sides, k, β, f = curve(rng)
        s = regenerating.feed(sides, k, β, f)
        if not s.start < s.end:
            continue
        first = regenerating.at(s, s.start)
        for t in (0.25, 0.75):
            p = regenerating.at(s, s.start - (1 - t) * s.σ_M)
            assert p.X == pytest.approx(t * first.X) and p.s == pytest.approx(t * first.s)
            assert p.v == pytest.approx(first.v)
            assert p.dX == pytest.approx(first.X / s.σ_M) and p.ds == pytest.approx(first.s / s.σ_M)
        seen += first.X > 0
    assert seen > 10
    shut = regenerating.feed((1.0, 0.6, 2.0, 1.5), (0.0, 0.7, 0.9), 1.0, -1.0)
    assert shut.g == 0.0 and regenerating.at(shut, 0.5).X == 0.0
    assert regenerating.velocity(shut, 0.9).v == regenerating.velocity(shut, -0.9).v


# ---- faults of a circuit --------------------------------------------------------------------------------------------------------
Q, P_M, K_B = 4.0, 9.0, 0.5
P_PUMP = 4.0
ROW = [0.5, 0.3, 8.0, 7.0, 2.0, 0.0, 0.0, 1.5, 0.4]  # extends: k_ph, k_tr, k_a
T = np.array([0.0, 1.0, 2.0, 3.0])


def balanced(**changes):
    """A section whose chambers balance: P_h, P_r chosen, v by the head's balance, k_tr by the rod's; the pump's by Q."""
    P_h, P_r = np.array([1.0, 1.5, 2.0, 1.2]), np.array([2.0, 2.4, 2.6, 1.9])
    A_h, A_r, _, _, k_ph, _, _, _, k_a = ROW
    q_ph, q_a = k_ph * np.sqrt(P_PUMP - P_h), k_a * np.sqrt(P_r - P_h)
    v = (q_ph + q_a) / A_h
    k_tr = (A_r * v - q_a) / np.sqrt(P_r)
    row = [*ROW[:7], k_tr, k_a]
    s = Section(row, v, A_h * P_h - A_r * P_r, P_h, P_r)._replace(**changes)
    return s, q_ph + K_B * sqrt(P_PUMP)


def blamed(s, gives, pump=1.0):
    """The first suspect of a run on a pump that gives what the section and the bleed take, times a factor."""
    flows = section_flows(s, np.full(4, P_PUMP))
    P = np.full(4, P_PUMP)
    supply = (gives.max(), P_M, K_B)
    left = {("j", side): diagnosis._chamber(s, flows, side, Q) for side in "hr"}
    held = diagnosis._pump({"j": s}, {"j": flows}, (gives * pump, P_M, K_B), P)
    left["pump"] = held._replace(size=np.where(np.abs(held.oil) < 1e-9, 0.0, held.size))
    assert supply[0] > 0
    return diagnosis._blamed(T, {"j": s}, {"j": flows}, left, P, Q), left


def test_a_circuit_that_balances_blames_nobody():
    s, gives = balanced()
    found, left = blamed(s, gives)
    assert all(np.abs(x.oil).max() < 1e-12 for x in left.values()) and all(
        x.known.all() for x in left.values()
    )
    assert found == [] or found[0].size < 1e-12
    assert not [
        x for x in diagnosis._limits(T, "j", s) if x.size > 1e-12
    ]  # pressures inside, force of the sides


@pytest.mark.parametrize(
    "element, entry, share, words",
    [
        ("ph_j", 4, 1.25, "orifice (pump to head) passes 80 %"),
        ("tr_j", 7, 2.0, "orifice (rod to tank) passes 50 %"),
        ("a_j", 8, 0.5, "orifice (regeneration, rod to head) passes 200 %"),
    ],
)
def test_an_orifice_that_passes_another_share_is_blamed(element, entry, share, words):
    """What its coefficient promises, times a share, is what it passes: the coefficient is told wrong."""
    s, gives = balanced()
    row = list(s.row)
    row[entry] = row[entry] * share
    (found,), _ = blamed(s._replace(row=row), gives)
    assert found.element == element and found.words.startswith(words)
    assert found.size > 0


def test_a_weak_pump_and_a_bleed_are_told_apart():
    s, gives = balanced()
    (found,), left = blamed(s, gives, 1.2)
    assert left["pump"].oil == pytest.approx(0.2 * gives)
    assert found.element in ("pump", "ph_j") and left["pump"].size.max() > 0


def test_oil_from_nowhere_and_a_relief_that_opens_early():
    """One instant alone, which no element explains over all four: the side and the sign say what it is."""
    s, gives = balanced()
    v = s.v.copy()
    v[2] += (
        0.4  # the head grows by 0.2 more than flows in, the rod side gives 0.12 more than flows out
    )
    (found,), left = blamed(s._replace(v=v), gives)
    assert left["j", "h"].oil[2] == pytest.approx(-0.2) and left["j", "r"].oil[2] == pytest.approx(
        0.12
    )
    assert found.words.endswith("t = 2.00 s")
    lone = {
        key: x._replace(
            oil=np.where(key == ("j", "h"), x.oil, 0.0),
            size=np.where(key == ("j", "h"), x.size, 0.0),
        )
        for key, x in left.items()
    }
    P = np.full(4, P_PUMP)
    flows = section_flows(s, P)
    pulse = lambda sign: {key: x._replace(oil=sign * x.oil) for key, x in lone.items()}
    for sign, element, said in (
        (1.0, "hS_j", "come into the head side from nowhere"),
        (-1.0, "hR_j", "relief (or suction check) of the head side passes"),
    ):
        (found,) = diagnosis._blamed(T, {"j": s}, {"j": flows}, pulse(sign), P, Q)
        assert found.element == element and said in found.words and "t = 2.00 s" in found.words
        assert f"{6e4 * 0.2:.4g} l/min" in found.words and f"{2.0 / 1e5:.4g} bar" in found.words


def test_how_much_a_pattern_explains():
    """The share of Σ oil² along α times the pattern, and α; instants at a limit and other balances do not count for it."""
    known = np.array([True, True, False])
    left = {
        "a": diagnosis.Left(np.array([2.0, 4.0, 99.0]), None, known),
        "b": diagnosis.Left(np.array([0.0, 3.0, np.nan]), None, np.array([True, True, True])),
    }
    share, α = diagnosis._explained(left, {"a": np.array([1.0, 2.0, 50.0])})
    assert α == pytest.approx(2.0) and share == pytest.approx(20.0 / 29.0)
    share, α = diagnosis._explained(
        left, {"a": np.array([1.0, 2.0, 0.0]), "b": np.array([0.0, -1.0, 0.0])}
    )
    assert α == pytest.approx((2 + 8 - 3) / 6) and share == pytest.approx(49 / 6 / 29)
    assert diagnosis._explained(left, {"c": np.ones(3)}) == (0.0, 0.0)
    assert diagnosis._explained(left, {"a": np.array([0.0, 0.0, 9.0])}) == (0.0, 0.0)


def test_a_balance_at_a_limit_may_leave_oil_one_way():
    """At its relief a chamber may lose oil, at suction it may gain some; in between neither, and near a limit the other not."""
    P = np.array([8.0, 0.0, 4.0, 8.0, 0.0])
    oil = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    zero = np.zeros(5)
    s = Section(ROW, zero, zero, P, zero + 3.0)
    q = Flows(zero, zero, zero, zero, zero, oil, zero, zero + 5.0)
    head = diagnosis._chamber(s, q, "h", Q)
    assert head.oil.tolist() == [0.0, 0.0, 1.0, -1.0, 1.0]
    assert head.known.tolist() == [False, False, True, False, False]
    r = Section(ROW, zero, zero, zero + 3.0, P * 7 / 8)
    q = q._replace(Q_ho=zero, Q_ro=oil)
    rod = diagnosis._chamber(r, q, "r", Q)
    assert rod.oil.tolist() == [0.0, 0.0, 1.0, -1.0, 1.0]
    assert np.all(rod.size[2:] > 0) and rod.size[0] == 0.0


def test_the_size_of_an_imbalance_is_the_pressure_that_mends_it():
    """Over the relief's: |o| / Σ k/(2√Δp) / P_hM, and no more than |o|/Q; with every valve shut |o|/Q."""
    zero = np.zeros(1)
    row = [0.5, 0.3, 8.0, 7.0, 2.0, 0.0, 1.0, 1.5, 0.4]
    s = Section(row, zero, zero, zero + 1.0, zero + 3.0)
    q = Flows(zero, zero, zero, zero, zero, zero + 0.01, zero, zero + 5.0)
    steep = 2.0 / (2 * 2.0) + 1.0 / (2 * 1.0) + 0.4 / (2 * sqrt(2.0))
    head = diagnosis._chamber(s, q, "h", Q)
    assert head.size[0] == pytest.approx(min(0.01 / steep / 8.0, 0.01 / Q))
    shut = s._replace(row=[*row[:4], 0.0, 0.0, 0.0, 0.0, 0.0])
    assert diagnosis._chamber(shut, q, "h", Q).size[0] == pytest.approx(0.01 / Q)
    rod = diagnosis._chamber(s, q._replace(Q_ro=zero + 0.01), "r", Q)
    steep = 1.5 / (2 * sqrt(3.0)) + 0.4 / (2 * sqrt(2.0))
    assert rod.size[0] == pytest.approx(min(0.01 / steep / 7.0, 0.01 / Q))
    assert diagnosis._conductance(2.0, np.array([1e-9]), np.array([0.1]))[0] == pytest.approx(
        2.0 / (2 * 0.1 / 2.0)
    )
    assert diagnosis._conductance(0.0, np.array([1.0]), np.array([0.1]))[0] == 0.0


def test_the_pumps_balance():
    """Q − k_b √P − what the sections take, forward through the check only; at its relief it may leave oil."""
    one = lambda v: np.array([v, v])
    P = np.array([4.0, 9.0])
    row = [0.5, 0.3, 8.0, 7.0, 2.0, 1.0, 0.0, 1.5, 0.0]
    s = Section(row, one(0.0), one(0.0), one(1.0), one(3.0))
    q = Flows(one(1.0), one(0.5), one(0.0), one(0.0), one(0.0), one(0.0), one(0.0), one(5.0))
    found = diagnosis._pump({"j": s}, {"j": q}, (Q, P_M, K_B), P)
    assert found.oil == pytest.approx([Q - 0.5 * 2 - 1.5, 0.0]) and found.known.tolist() == [
        True,
        False,
    ]
    steep = 0.5 / (2 * 2.5 / 0.5) + 2.0 / (2 * 2.0) + 1.0 / (2 * 2.5)
    wanted = min(1.5 / steep / P_M, 1.5 / Q)
    assert found.size[0] == pytest.approx(wanted, rel=0.2)
    back = q._replace(Q_ph=one(-1.0))
    assert diagnosis._pump({"j": s}, {"j": back}, (Q, P_M, K_B), P).oil[0] == pytest.approx(3.0)
    short = diagnosis._pump({"j": s}, {"j": q._replace(Q_ph=one(9.0))}, (Q, P_M, K_B), P)
    assert short.oil == pytest.approx([Q - 1 - 9.5, Q - 1.5 - 9.5])


def test_pressures_beyond_their_limits_and_a_force_of_nobody():
    s, _ = balanced()
    P_h = s.P_h.copy()
    P_h[1] = 8.8  # 10 % over 8
    P_r = s.P_r.copy()
    P_r[3] = -0.7  # a tenth of 7 below zero
    odd = s._replace(P_h=P_h, P_r=P_r, f=ROW[0] * P_h - ROW[1] * P_r)
    found = {x.element: x for x in diagnosis._limits(T, "j", odd)}
    assert found["hR_j"].size == pytest.approx(0.1) and "t = 1.00 s" in found["hR_j"].words
    assert found["rS_j"].size == pytest.approx(0.1) and "t = 3.00 s" in found["rS_j"].words
    assert found["rR_j"].size < 0 and found["hS_j"].size < 0 and found["rod_j"].size < 1e-12
    f = s.f.copy()
    f[2] += 0.61
    full = 0.5 * 8.0 + 0.3 * 7.0
    off = {x.element: x for x in diagnosis._limits(T, "j", s._replace(f=f))}["rod_j"]
    assert off.size == pytest.approx(0.61 / full) and off.words.endswith("t = 2.00 s")
