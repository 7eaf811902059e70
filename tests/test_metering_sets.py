"""Γ where it is a set and beside it, pressures under a known force, next to nothing open: against the programme and by hand."""

import metering_cases as cases
import numpy as np
import pytest
from oracles.metering import programme, residuals

from plants.valve_circuits import Γ, Λ, Circuit, Openings, Pump, Section, operating
from workbench import InputError

PAPER = Circuit()
DEAD = (500 / 60000 / PAPER.pump.c_b) ** 2  # pressure at which the bleed takes all of Q


def full_scale(s):
    return s.A_h * s.P_hM + s.A_r * s.P_rM


def both_or_regenerating(seed, n, N=1):
    """Openings with both directions open, or pump to rod with regeneration, or anything with regeneration."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        o = []
        for _ in range(N):
            z = [float(rng.choice([0.0, 0.0, 1.0, rng.uniform(0.02, 1.0)])) for _ in range(5)]
            o.append(Openings(*z))
        yield rng, cases.circuit(rng, N), tuple(o), cases.bleed(rng)


# ---- beside rest --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "o",
    [Openings(u_ph=1, u_pr=1), Openings(u_pr=1, u_a=1)],
    ids=["both pump valves", "regeneration"],
)
def test_a_rod_with_its_sides_joined_stands_between_the_dead_pressure_and_a_relief(o):
    """Sides at one level p push with (A_h − A_r) p; slowly out, p is the pump's, that of the bleed."""
    low = 0.012 * DEAD
    at = Γ(PAPER, o, 1.0, 0.0)
    assert at.low[0] == pytest.approx(low, rel=1e-12) and low == pytest.approx(98.38e3, rel=1e-4)
    for v in (1e-12, 1e-10, 1e-8, 1e-6):
        assert (
            Γ(PAPER, o, 1.0, v).low[0] == pytest.approx(low, rel=1e-4)
            and Γ(PAPER, o, 1.0, v).high[0] <= low
        )
    if o.u_ph:
        assert at.high[0] == pytest.approx(0.012 * 40e6, rel=1e-12)
        assert Γ(PAPER, o, 1.0, -1e-9).low[0] == pytest.approx(0.012 * 40e6, rel=1e-9)
        s = operating(PAPER, o, 1.0, 0.0).sections[0]
        assert s.P_h == s.P_r == pytest.approx((DEAD, 40e6), rel=1e-12)


@pytest.mark.parametrize("N", [1, 2])
def test_velocity_and_force_agree_whatever_is_open_and_however_slow(N):
    """v = Λ(β, f − βv) for the ends and the middle of Γ(v), at rest, next to it, and moving."""
    sets = 0
    for rng, c, o, u_b in both_or_regenerating(200 + N, 120 // N, N):
        full = np.array([(c.pump.Q + row[4:].max() * row[2] ** 0.5) / row[0] for row in c.rows(o)])
        β = np.array([full_scale(s) for s in c.sections]) / np.maximum(full, 1e-3)
        for size in (0.0, 1e-11, 1e-8, 1e-4, 0.1):
            v = size * full * rng.choice((-1.0, 1.0), N)
            at = Γ(c, o, u_b, v)
            assert (at.low <= at.high).all()
            sets += bool((at.high - at.low > 1e-3 * np.abs(at.high)).any())
            if N > 1:  # corners of a set of several need not be in it
                continue
            for part in (0.0, 0.37, 1.0):
                f = at.low + part * (at.high - at.low)
                assert Λ(c, o, u_b, β, f - β * v) == pytest.approx(v, abs=1e-9 * full[0])
            if at.high > at.low:  # and beyond the set it moves
                for f, way in (
                    (at.low - 1e-3 * full_scale(c.sections[0]), 1),
                    (at.high + 1e-3 * full_scale(c.sections[0]), -1),
                ):
                    assert way * (Λ(c, o, u_b, β, f - β * v) - v) > 0
    assert sets > 20


def test_forces_beside_rest_are_the_ends_of_the_set_at_rest():
    for _, c, o, u_b in both_or_regenerating(210, 100):
        s, tiny = c.sections[0], 1e-10 * c.pump.Q
        still = Γ(c, o, u_b, 0.0)
        out, back = (Γ(c, o, u_b, way * tiny / max(s.A_h, s.A_r)) for way in (1, -1))
        assert out.high[0] == pytest.approx(still.low[0], abs=1e-6 * full_scale(s))
        assert back.low[0] == pytest.approx(still.high[0], abs=1e-6 * full_scale(s))


def test_forces_are_those_of_the_convex_programme():
    """Stated to cvxpy: under β v + f̄ = f of Γ it moves at v, at rest and slowly too."""
    for rng, c, o, u_b in both_or_regenerating(220, 8):
        s, full = (
            c.sections[0],
            (c.pump.Q + c.rows(o)[0, 4:].max() * c.sections[0].P_hM ** 0.5) / c.sections[0].A_h,
        )
        β = np.array([full_scale(s) / max(full, 1e-2)])
        v = np.array([float(rng.choice([0.0, 1e-8, 0.2])) * full])
        at = Γ(c, o, u_b, v)
        f = 0.5 * (at.low + at.high)
        assert programme(c.rows(o), c.supply(u_b), β, f - β * v) == pytest.approx(v, abs=5e-6)


# ---- pressures under a known force -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("Q", [20 / 60000, 500 / 60000])
def test_pressures_balance_the_force_they_are_asked_for(Q):
    """Bleed shut or open, pump small or large: both ends of what is free balance f, and satisfy (39), (91)."""
    rng, free = np.random.default_rng(5), 0
    for _ in range(150):
        c = Circuit((Section(A_h=0.024, A_r=float(rng.choice([0.012, 0.024]))),), Pump(Q=Q))
        o = cases.openings(rng, rng.choice(np.array([-1, 0, 1, None], object)), True)
        u_b = float(rng.choice([0.0, 0.3]))
        β, f_bar = cases.load(rng, 1, 4.0, 7.0)
        f_bar *= 0.6
        v = Λ(c, o, u_b, β, f_bar)
        f = β * v + f_bar
        at, s = operating(c, o, u_b, v, f), c.sections[0]
        h, r = at.sections[0].P_h, at.sections[0].P_r
        ends = [(h.low, r.low), (h.high, r.high)]
        assert h.low <= h.high and r.low <= r.high
        free += h.high > h.low
        for x, y in ends:
            assert s.A_h * x - s.A_r * y == pytest.approx(f[0], abs=1e-7 * full_scale(s))
        if at.P.low == at.P.high:
            assert (
                max(residuals(c.rows(o), c.supply(u_b), v, at.P.low, [end]) for end in ends) < 1e-5
            )
    assert free > 5


def test_sides_of_one_size_leave_their_common_level_free():
    """A_h = A_r, joined by both pump valves: what leaves one side enters the other, at any level from the pump's to a relief."""
    c, o, v = Circuit((Section(A_r=0.024),)), Openings(u_ph=1, u_pr=1), 0.05
    at = operating(c, o, 1.0, v)
    s, drop = at.sections[0], (0.024 * v / c.sections[0].c_ph) ** 2
    assert (
        not s.check
        and at.f.low[0] == pytest.approx(-2 * 0.024 * drop, rel=1e-9)
        and at.f.high[0] == pytest.approx(at.f.low[0])
    )
    assert s.P_r == pytest.approx((DEAD + drop, 40e6), rel=1e-9)
    assert s.P_h == pytest.approx((DEAD - drop, 40e6 - 2 * drop), rel=1e-9)


def test_with_the_bleed_shut_a_pump_that_gives_what_the_rod_takes_has_any_pressure():
    c = Circuit(pump=Pump(Q=20 / 60000))
    v = c.pump.Q / 0.024
    at = operating(c, Openings.command(1.0), 0.0, v, 2e5)
    drop = (c.pump.Q / c.sections[0].c_ph) ** 2
    P_h = (2e5 + 0.012 * at.sections[0].P_r.low) / 0.024
    assert at.sections[0].P_h == pytest.approx((P_h, P_h)) and at.P == pytest.approx(
        (P_h + drop, P_h + drop)
    )
    free = operating(c, Openings.command(1.0), 0.0, v)
    assert free.P.low == pytest.approx(drop) and free.P.high == pytest.approx(36e6)


def test_a_force_that_is_none_at_that_velocity_is_refused():
    for v, f in ((0.0, 1.2e6), (0.1, 9e5), (-0.1, -9e5)):
        with pytest.raises(InputError, match="is no force of section 1"):
            operating(PAPER, Openings.command(0.5), 0.2, v, f)


# ---- next to nothing open --------------------------------------------------------------------------------------------------------
def force_through_regeneration(row, v):
    """f at v ≠ 0 where regeneration is the only way, by hand."""
    A_h, A_r, P_hM, P_rM, k = *row[:4], row[8]
    if v < 0:  # the head's relief, the rod's suction
        return A_h * P_hM
    if A_h >= A_r:  # the head is short of oil
        return -A_r * min((A_r * v / k) ** 2, P_rM)
    drop = (A_r * v / k) ** 2
    if P_hM + drop <= P_rM:  # what is too much leaves through the head's relief
        return A_h * P_hM - A_r * (P_hM + drop)
    taken = k * np.sqrt(max(P_rM - P_hM, 0.0))
    P_h = P_hM if taken >= A_h * v else max(P_rM - (A_h * v / k) ** 2, 0.0)
    return A_h * P_h - A_r * P_rM


def standing_through_regeneration(row):
    A_h, A_r, P_hM, P_rM = row[:4]
    return (0.0 if A_h >= A_r else (A_h - A_r) * min(P_hM, P_rM)), A_h * P_hM


@pytest.mark.parametrize("u_a", [1.0, 1e-4, 1e-6, 1e-8, 1e-12])
def test_a_tiny_regeneration_as_the_only_way(u_a):
    rng, moved = np.random.default_rng(3), 0
    for _ in range(60):
        c, (β, f_bar) = cases.circuit(rng), cases.load(rng, 1)
        f_bar = f_bar * rng.choice([1.0, 0.3])
        row, f_bar, β = c.rows(Openings(u_a=u_a))[0], float(f_bar[0]), float(β[0])
        low, high = standing_through_regeneration(row)
        v, expected = Λ(c, Openings(u_a=u_a), 0.3, β, f_bar)[0], 0.0
        if not low <= f_bar <= high:
            a, b = (0.0, 1e4) if f_bar < low else (-1e4, 0.0)
            for _ in range(300):
                expected = 0.5 * (a + b)
                more = force_through_regeneration(row, expected) > β * expected + f_bar
                a, b = (expected, b) if more else (a, expected)
        assert v == pytest.approx(expected, abs=1e-12, rel=1e-7)
        moved += abs(v) > 1e-3
    assert moved > 10
