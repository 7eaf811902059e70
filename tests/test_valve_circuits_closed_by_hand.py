"""Closed forms of a section by pressures: roots and their edges, sets of forces branch by branch, velocities."""

import numpy as np
import pytest
from metering_cases import WAYS

from plants.valve_circuits import closed
from plants.valve_circuits.closed import Γ, Λ, Φ_A, Φ_B, Side

S = lambda x: x * abs(x)


# ---- roots -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "a, b, c", [(0.7, 1.3, -2.1), (0.7, 1.3, 2.1), (3.0, 0.2, -5.0), (0.05, 4.0, 0.6)]
)
def test_a_signed_square_and_a_line(a, b, c):
    x = Φ_A(b, c, a)
    assert S(x) / a + b * x + c == pytest.approx(0.0, abs=1e-12) and np.sign(x) == -np.sign(c)
    assert Φ_A(b, 0.0, a) == 0.0 and abs(Φ_A(b, c, 0.0)) < 1e-90


@pytest.mark.parametrize("a_0, a_1", [(0.7, 2.0), (2.0, 0.7), (1.1, 1.1), (0.7, 0.0), (30.0, 0.01)])
@pytest.mark.parametrize("c", [-0.4, -3.0, -12.0, -400.0])
def test_two_signed_squares_and_a_line(a_0, a_1, c):
    """S(x)/a_0 + S(x − x_1)/a_1 + b x + c = 0 where its root is positive; with a_1 = 0 it ends at x_1."""
    b, x_1 = 1.3, 1.7
    x = float(Φ_B(b, c, a_0, a_1, x_1))
    if a_1 == 0.0:
        alone = Φ_A(b, c, a_0)
        assert x == pytest.approx(x_1 if alone >= x_1 else x)
        assert x <= x_1 * (1 + 1e-12)
        return
    value = lambda x: S(x) / a_0 + S(x - x_1) / a_1 + b * x + c
    if value(0.0) >= 0.0:
        assert x == 0.0
        return
    assert value(x) == pytest.approx(0.0, abs=1e-9 * (1 + abs(c))) and x > 0.0


def test_a_valve_that_is_shut_moves_nothing():
    assert Φ_B(1.3, -12.0, 0.0, 2.0, 1.7) == 0.0
    assert (
        float(Φ_B(1.3, 9.0, 0.7, 2.0, 1.7)) == 0.0 and float(Φ_B(1.3, 90.0, 0.7, 0.1, 1.7)) == 0.0
    )


@pytest.mark.parametrize(
    "x, y, found", [(6.0, 4.0, 1.5), (-6.0, 4.0, -1.5), (6.0, 0.0, 6e150), (0.0, 0.0, 0.0)]
)
def test_a_ratio_is_beyond_everything_where_nothing_divides(x, y, found):
    assert closed.ratio(x, y) == pytest.approx(found)
    assert 0.0 < closed._LEAST < 1e-150 and 0.0 < closed._TINY < 1e-280


# ---- a section by its pressures ----------------------------------------------------------------------------------------------
A_H, A_R, P_HM, P_RM = 0.5, 0.3, 8.0, 7.0
Q, P_M = 4.0, 9.0


def row(way):
    return [A_H, A_R, P_HM, P_RM, *WAYS[way], 0.0]


def test_both_sides_of_a_section():
    """Areas, forces at the reliefs, openings k²/A³ of valves and of the bleed, F_M = A P_M, x_1 = Q/A."""
    out, back = closed.sides([A_H, A_R, P_HM, P_RM, 2.0, 1.1, 1.7, 1.5], (Q, P_M, 0.6))
    h, r = A_H**3, A_R**3
    assert out == pytest.approx(Side(A_H, 4.0, 2.1, 4 / h, 2.25 / r, 0.36 / h, 4.5, 8.0))
    assert back == pytest.approx(Side(A_R, 2.1, 4.0, 1.21 / r, 2.89 / h, 0.36 / r, 2.7, Q / A_R))
    assert closed.in_series(out) == pytest.approx(1 / (h / 4 + r / 2.25))


def pressures(way, k_b, v):
    """(P_fed, P_drained) while the rod moves at v ≠ 0 by orifices' laws: the pump has P_M, or what its bleed leaves."""
    A, A_o, top, top_o = (A_H, A_R, P_HM, P_RM) if v > 0 else (A_R, A_H, P_RM, P_HM)
    k_ph, k_pr, k_th, k_tr = WAYS[way]
    k_i, k_o = (k_ph, k_tr) if v > 0 else (k_pr, k_th)
    x, y = A * abs(v), A_o * abs(v)
    left = Q - x
    P = min(P_M, S(left / k_b)) if k_b else (P_M if left > 0 else -np.inf)
    fed = min(max(P - (x / k_i) ** 2, 0.0), top) if k_i else 0.0
    return fed, min((y / k_o) ** 2, top_o) if k_o else top_o


@pytest.mark.parametrize("k_b", [0.0, 0.4, 2.5])
@pytest.mark.parametrize("way", WAYS)
def test_forces_at_velocities_by_pressures(way, k_b):
    """A_h P_h − A_r P_r through suction, both valves, reliefs of either side and of the pump, and its bleed."""
    for v in (0.02, 0.3, 1.1, 2.4, 3.9, 5.7, 7.9, 9.5):
        fed, drained = pressures(way, k_b, v)
        for upper in (False, True):
            assert float(Γ(row(way), (Q, P_M, k_b), v, upper)) == pytest.approx(
                A_H * fed - A_R * drained
            )
        fed, drained = pressures(way, k_b, -v)
        for upper in (False, True):
            found = float(Γ(row(way), (Q, P_M, k_b), -v, upper))
            assert found == pytest.approx(A_H * drained - A_R * fed)


@pytest.mark.parametrize(
    "way, k_b, low, high",
    [
        ("out", 0.0, 4.0, 4.0),
        ("out", 2.0, 2.0, 4.0),
        ("back", 0.0, -2.1, -2.1),
        ("back", 2.0, -2.1, -1.2),
        ("out, shut to tank", 2.0, -0.1, 4.0),
        ("out, shut to pump", 2.0, 0.0, 4.0),
        ("back, shut to tank", 2.0, -2.1, 2.8),
        ("back, shut to pump", 2.0, -2.1, 0.0),
        ("shut", 2.0, -2.1, 4.0),
    ],
)
def test_the_set_of_a_rod_that_stands(way, k_b, low, high):
    """Least: fed at the pump's P (4 above the bleed, or its relief 9 and the head's 8), drained empty or, shut, at its relief."""
    ends = [float(Γ(row(way), (Q, P_M, k_b), 0.0, upper)) for upper in (False, True)]
    assert ends == pytest.approx([low, high]) and float(Γ(row(way), (Q, P_M, k_b), 0.0)) == ends[0]


@pytest.mark.parametrize(
    "way, v, low, high", [("out", 8.0, -0.768, 2.5 - 0.768), ("back", -Q / 0.3, 4.0, 4.0)]
)
def test_where_the_pump_ends_with_its_bleed_shut(way, v, low, high):
    """Its in side has any pressure up to what the orifice leaves: 9 − (4/2)², and none of 9 − (4/1.1)²."""
    ends = [float(Γ(row(way), (Q, P_M, 0.0), v, upper)) for upper in (False, True)]
    assert ends == pytest.approx([low, high])


def test_a_wide_valve_leaves_a_set_where_the_pump_ends():
    """At v = Q/A the head has 0 … P_M − (Q/k)²: its relief at 8 of 9 − 0.16."""
    wide = [A_H, A_R, P_HM, P_RM, 10.0, 0.0, 0.0, 1.5, 0.0]
    ends = [float(Γ(wide, (Q, P_M, 0.0), 8.0, upper)) for upper in (False, True)]
    assert ends == pytest.approx([-0.768, 4.0 - 0.768])
    back = [A_H, A_R, P_HM, P_RM, 0.0, 10.0, 1.7, 0.0, 0.0]
    ends = [float(Γ(back, (Q, P_M, 0.0), -Q / A_R, upper)) for upper in (False, True)]
    assert ends == pytest.approx([4.0 - 2.1, 4.0])


@pytest.mark.parametrize("k_b", [0.0, 0.4, 2.5])
@pytest.mark.parametrize("way", WAYS)
def test_velocities_are_those_whose_set_has_the_force(way, k_b):
    """β v + f̄ between both ends of Γ(v), for loads that help, that resist, and beyond both reliefs."""
    moved = 0
    for β in (0.3, 2.0, 30.0):
        for f in (-40.0, -9.0, -3.0, -1.2, -0.05, 0.0, 0.7, 1.9, 3.1, 4.2, 60.0):
            v = float(Λ(row(way), (Q, P_M, k_b), β, f))
            low, high = (float(Γ(row(way), (Q, P_M, k_b), v, upper)) for upper in (False, True))
            force = β * v + f
            near = (
                abs(v) * 1e-9 + 1e-12
            )  # a step of v within rounding has the forces of both its sides
            ends = [
                float(Γ(row(way), (Q, P_M, k_b), v + d, u))
                for d in (-near, near)
                for u in (False, True)
            ]
            assert min(low, *ends) - 1e-6 <= force <= max(high, *ends) + 1e-6
            moved += v != 0.0
    assert moved > 6


def test_a_pump_that_holds_its_pressure_is_bounded_by_what_it_is_given():
    """At `most` on the in side; where the load draws the rod, the out side alone decides."""
    out, _ = closed.sides(row("out"), (Q, P_M, 0.0))
    free = float(closed.rising_at(out, 2.0, 0.5))
    fed, drained = pressures("out", 0.0, free)
    assert A_H * fed - A_R * drained == pytest.approx(2.0 * free + 0.5)
    assert float(closed.rising_at(out, 2.0, 0.5, 0.5 * free)) == pytest.approx(0.5 * free)
    drawn = float(closed.rising_at(out, 2.0, -90.0, 0.0))
    assert 2.0 * drawn - 90.0 == pytest.approx(-2.1)
