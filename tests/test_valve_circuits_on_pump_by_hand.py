"""Sections on a pump as expressions: at a held pressure, at the one they share, with regeneration, and inverted."""

import numpy as np
import pytest
from metering_cases import WAYS
from oracles.metering import residuals

from plants.valve_circuits import closed, inverse, on_pump, shared, together

SECTION = [0.5, 0.3, 8.0, 7.0]
PRESSURES = (0.3, 3.0, 6.5, 7.5, 12.0)
LOADS = (-9.0, -2.3, -0.4, 0.6, 1.7, 3.3, 5.2)
NO_PUMP = (0.0, 0.0, 0.0)


def row(way, k_a=0.0):
    return [*SECTION, *WAYS[way], k_a]


def sided(way):
    """(A, P_M, k) of the fed and of the drained side."""
    A_h, A_r, P_hM, P_rM = SECTION
    k_ph, k_pr, k_th, k_tr = WAYS[way]
    if way.startswith("back"):
        return (A_r, P_rM, k_pr), (A_h, P_hM, k_th)
    return (A_h, P_hM, k_ph), (A_r, P_rM, k_tr)


# ---- at a pressure that is held ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", WAYS)
def test_a_section_at_a_held_pressure(way):
    """β v + f̄ is of the set at that pressure; what it takes passes its valve against the fed side's pressure."""
    w = on_pump.way(row(way), NO_PUMP)
    (A, top, k), (A_o, top_o, _) = sided(way)
    assert float(w.σ) == (-1.0 if way.startswith("back") else 1.0)
    assert (float(w.k_i), float(w.P_iM), float(w.side.A)) == (k, top, A)
    moved = 0
    for P in PRESSURES:
        for f in LOADS:
            along, Q_p, slope = (
                float(e) for e in on_pump.moved(w, on_pump.fixed(w, 2.0, f), 2.0, P)
            )
            v, force = float(w.σ) * along, 2.0 * float(w.σ) * along + f
            held = [float(closed.Γ(row(way), (1e9, P, 0.0), v, u)) for u in (False, True)]
            assert held[0] - 1e-9 <= force <= held[1] + 1e-9
            fed = min(P, top)
            if along > 0.0:
                fed = min(max(P - (A * along / k) ** 2, 0.0), top) if k else P
            assert Q_p == pytest.approx(k * np.sqrt(P - fed), abs=1e-7)
            ε = 1e-6
            both = [
                float(on_pump.moved(w, on_pump.fixed(w, 2.0, f), 2.0, P + d)[1]) for d in (ε, -ε)
            ]
            assert slope == pytest.approx((both[0] - both[1]) / (2 * ε), rel=1e-4, abs=1e-7)
            moved += along != 0.0
    assert moved > 3


@pytest.mark.parametrize("way", WAYS)
def test_pressures_of_a_section_that_moves(way):
    """They give its force; the drained side has what its orifice needs, or its relief."""
    (A, top, k), (A_o, top_o, k_o) = sided(way)
    w = on_pump.way(row(way), NO_PUMP)
    for P in PRESSURES:
        for f in LOADS:
            along = float(on_pump.moved(w, on_pump.fixed(w, 2.0, f), 2.0, P)[0])
            v = float(w.σ) * along
            force = 2.0 * v + f
            P_h, P_r = (float(p) for p in on_pump.pressures(row(way), NO_PUMP, v, force, P))
            assert 0.5 * P_h - 0.3 * P_r == pytest.approx(force, abs=1e-9)
            assert min(P_h, P_r) > -1e-9 and P_h < 8.0 + 1e-6 and P_r < 7.0 + 1e-6
            drained = P_h if way.startswith("back") else P_r
            if along > 0.0:
                assert drained == pytest.approx(
                    min((A_o * along / k_o) ** 2, top_o) if k_o else top_o
                )
            elif k_o or along < 0.0:
                assert drained == 0.0


@pytest.mark.parametrize("way, f, P_h, P_r", [
    ("out, shut to tank", 0.9, 5.0, 1.6 / 0.3),
    ("out, shut to tank", 3.1, 6.2, 0.0),
    ("back, shut to tank", -0.5, 2.0, 5.0),
    ("shut", 0.9, 1.8, 0.0),
    ("shut", -0.9, 0.0, 3.0),
])  # fmt: skip
def test_least_pressures_of_a_rod_that_stands(way, f, P_h, P_r):
    """Of a pump at 5: what is fed has its pressure, and the shut side the rest that the force wants."""
    found = [float(p) for p in on_pump.pressures(row(way), NO_PUMP, 0.0, f, 5.0)]
    assert found == pytest.approx([P_h, P_r])


@pytest.mark.parametrize(
    "v, k_a, taken", [(0.4, 0.3, True), (-0.4, 0.3, False), (0.0, 0.3, False), (0.4, 0.0, False)]
)
def test_pressures_that_are_known_of_a_section_that_regenerates(v, k_a, taken):
    """While it extends with its regeneration open; else by its force."""
    force = 1.1
    plain = on_pump.pressures(row("out"), NO_PUMP, v, force, 5.0)
    found = on_pump.pressures(row("out", np.float64(k_a)), NO_PUMP, v, force, 5.0, (2.5, 3.5))
    expected = (2.5, 3.5) if taken else plain
    assert [float(p) for p in found] == pytest.approx([float(p) for p in expected])


def test_what_is_known_to_be_shut_for_good():
    """A plain zero, before anything is traced; an expression or an array may open."""
    assert on_pump.shut(0.0) is True
    assert not any(map(on_pump.shut, (0.1, np.zeros(1), 0, np.array(0.0))))


# ---- at the pressure that they share -------------------------------------------------------------------------------------------
PUMPS = ((4.0, 9.0, 0.3), (1.0, 9.0, 0.0), (40.0, 9.0, 0.3), (2.0, 6.0, 0.9))
OTHER = [0.4, 0.7, 6.0, 9.0, 0.0, 1.3, 0.9, 0.0, 0.0]
THIRD = [0.2, 0.2, 9.5, 9.5, 0.8, 0.0, 0.0, 0.6, 0.0]


@pytest.mark.parametrize("supply", PUMPS)
@pytest.mark.parametrize(
    "f", [(-1.0, 0.5, 0.1), (0.6, -0.7, -0.9), (1.4, -5.0, 0.3), (-6.0, 2.0, -0.2)]
)
@pytest.mark.parametrize("many", [1, 2, 3])
def test_the_pressure_that_balances_the_pump(supply, f, many):
    """Q = k_b √P + Σ Q_p below the relief; at it no more is taken than there is. Each section is as at that pressure held."""
    rows, β = [row("out"), OTHER, THIRD][:many], [2.0, 0.7, 1.3][:many]
    found = shared.resolved(rows, supply, β, f[:many])
    Q, P_M, k_b = supply
    P = float(found.P)
    left = Q - k_b * np.sqrt(P) - sum(map(float, found.Q_p))
    assert left == pytest.approx(0.0, abs=1e-9 * Q) or (P == pytest.approx(P_M) and left > 0)
    assert abs(float(found.residual)) < 1e-9 and found.held == [None] * many
    for own, b, g, v, Q_p in zip(rows, β, f, found.v, found.Q_p):
        w = on_pump.way(own, supply)
        along, taken, _ = on_pump.moved(w, on_pump.fixed(w, b, g), b, P)
        assert (float(v), float(Q_p)) == pytest.approx((float(w.σ * along), float(taken)), abs=1e-7)


@pytest.mark.parametrize("supply", PUMPS)
@pytest.mark.parametrize("f", [(-1.0, 0.5), (0.6, -0.7), (-3.0, -5.0), (1.1, 2.0), (-0.2, -0.4)])
@pytest.mark.parametrize("k_a", [0.4, 1.6])
@pytest.mark.parametrize("areas", [(0.5, 0.3), (0.3, 0.5)])
def test_sections_that_regenerate_share_a_pressure(supply, f, k_a, areas):
    """All laws of a circuit are met: of one that extends with regeneration, and of one beside it."""
    own = [*areas, *SECTION[2:], *WAYS["out"], np.float64(k_a)]
    for rows, β in (([own], [2.0]), ([own, OTHER], [2.0, 0.7]), ([OTHER, own], [0.7, 2.0])):
        g = f[: len(rows)] if rows[0] is own else f[::-1]
        found = together.resolved(rows, supply, β, g)
        P = float(found.P)
        pairs = []
        for one, b, h, v, pair in zip(rows, β, g, found.v, found.held):
            force = b * v + h
            pairs.append([float(p) for p in on_pump.pressures(one, supply, v, force, P, pair)])
            assert one[0] * pairs[-1][0] - one[1] * pairs[-1][1] == pytest.approx(
                float(force), abs=1e-6
            )
        plain = [[float(e) for e in one] for one in rows]
        kept = [
            [min(max(p, 0.0), t) for p, t in zip(pair, one[2:4])] for pair, one in zip(pairs, plain)
        ]
        v = [float(v) for v in found.v]
        assert residuals(plain, supply, v, P, kept) < 1e-4
        assert float(found.residual) < 1e-7 and (found.held[rows.index(own)] is not None)


# ---- inverted --------------------------------------------------------------------------------------------------------------------
FULL = [0.5, 0.3, 8.0, 7.0, 2.0, 1.1, 1.7, 1.5, 0.0]


@pytest.mark.parametrize("u", [0.9, 0.35, -0.2, -0.8])
def test_the_opening_of_a_motion_is_the_one_that_makes_it(u):
    """Wherever an orifice carries it; the sides' pressures are those of both orifices in series."""
    series = seen = 0
    for P in (3.0, 6.5, 12.0):
        for f in LOADS:
            for sign in (1.0, -1.0):
                v = float(inverse.velocity(FULL, u, NO_PUMP, 2.0, sign * f, P))
                if v * u <= 0.0:
                    continue
                force = 2.0 * v + sign * f
                found = inverse.opening(FULL, v, force, P)
                again = float(inverse.velocity(FULL, float(found.u), NO_PUMP, 2.0, sign * f, P))
                assert again == pytest.approx(v, rel=1e-9)
                (A, top, k), (A_o, top_o, k_o) = sided("out" if u > 0 else "back")
                push = A * P - np.sign(v) * force
                assert (float(found.A), float(found.P_iM), float(found.P_oM)) == pytest.approx(
                    (A, top, top_o)
                )
                assert float(found.push) == pytest.approx(push)
                fed, drained = (
                    P - (A * abs(v) / (k * abs(u))) ** 2,
                    (A_o * abs(v) / (k_o * abs(u))) ** 2,
                )
                seen += 1
                if 0.0 < fed < top and drained < top_o:
                    series += 1
                    assert float(found.u) == pytest.approx(u)
                    assert (float(found.fed), float(found.drained)) == pytest.approx((fed, drained))
    assert series > 3 and seen > series


def test_a_force_beyond_the_pump_asks_for_more_than_there_is():
    assert float(inverse.opening(FULL, 0.3, 4.2, 3.0).u) == inverse.MOST == 10.0
    assert float(inverse.opening(FULL, -0.3, -2.2, 3.0).u) == -10.0


def test_a_row_with_every_valve_fully_open():
    """Both directions at once, each fully open at its end of the command."""
    opened = {1.0: [1.0, 2.0, 3.0, 0.0], -1.0: [1.0, 2.0, 0.0, 4.0]}

    class Drive:
        def opened(self, u):
            return opened[u]

    assert inverse.whole(Drive()) == [1.0, 2.0, 3.0, 4.0]


def test_what_a_shared_pressure_is_off_by():
    """Of the flow, below the relief alone, as a share of Q; of curves that miss the pump's root, over that of the relief."""
    supply = (4.0, 9.0, 0.5)
    below = together._residual(2.0, [1.0, 1.2], supply, 0.6)
    assert float(below) == pytest.approx(abs(4.0 - 1.0 - 2.2) / 4.0 + 0.6 / 3.0)
    assert float(together._residual(2.0, [1.0, 3.2], supply, 0.0)) == pytest.approx(1.2 / 4.0)
    assert float(together._residual(3.0, [1.0, 1.2], supply, 0.6)) == pytest.approx(0.2)
