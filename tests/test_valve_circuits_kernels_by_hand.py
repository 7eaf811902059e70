"""Kernels of valve circuits against the orifices' laws: at a pressure, at a speed, and on their pump."""

from itertools import product

import numpy as np
import pytest

from plants.valve_circuits.crossed import _fed, crossed, passed
from plants.valve_circuits.kernel import _flows, _rod, pumped, section
from plants.valve_circuits.quick import DONE, quick
from plants.valve_circuits.roots import _balance, given, loaded, moving, resolve

AREAS = {"narrow rod": [0.5, 0.3, 8.0, 7.0], "wide rod": [0.3, 0.5, 6.0, 9.0]}
WAYS = {
    "out": [2.0, 0.0, 0.0, 1.5],
    "back": [0.0, 1.1, 1.7, 0.0],
    "both": [2.0, 1.1, 0.8, 1.5],
    "pump to both": [2.0, 1.1, 0.0, 0.0],
    "head through": [1.3, 0.0, 0.9, 0.0],
    "rod through": [0.0, 1.3, 0.0, 0.9],
    "tank": [0.0, 0.0, 0.7, 0.5],
    "out, shut to tank": [2.0, 0.0, 0.0, 0.0],
    "out, shut to pump": [0.0, 0.0, 0.0, 1.5],
    "shut": [0.0, 0.0, 0.0, 0.0],
}
REGENERATES = {
    "out": 0.6,
    "out, shut to tank": 0.6,
    "out, shut to pump": 0.4,
    "both": 0.5,
    "shut": 0.4,
}
ROWS = {
    f"{side}, {way}{', regenerates' if k_a else ''}": [*areas, *k, k_a]
    for side, areas in AREAS.items()
    for way, k in WAYS.items()
    for k_a in sorted({0.0, REGENERATES.get(way, 0.0)})
}
LOADS = (-6.0, -1.3, -0.2, 0.4, 1.6, 3.1, 9.0)
STATES = [*product((0.5, 3.0), LOADS, (3.0, 7.5))]
SMALL = 1e-7

root = lambda d: np.sign(d) * np.sqrt(abs(d))


def check(row, P, v, force, found):
    """Relations (39), (91) at pressures and flows: forces, orifices, oil of both chambers, and which limit passes any."""
    x, y, q_ph, q_pr, q_th, q_tr, q_a, q_ho, q_ro = found
    A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, k_a = row
    assert A_h * x - A_r * y == pytest.approx(force, abs=1e-6)
    assert -SMALL <= x <= P_hM + SMALL and -SMALL <= y <= P_rM + SMALL
    assert q_th == pytest.approx(k_th * np.sqrt(max(x, 0.0)), abs=1e-6)
    assert q_tr == pytest.approx(k_tr * np.sqrt(max(y, 0.0)), abs=1e-6)
    assert q_a == pytest.approx(k_a * np.sqrt(max(y - x, 0.0)), abs=1e-4)
    meet = (k_ph**2 * x + k_pr**2 * y) / max(k_ph**2 + k_pr**2, 1e-300)
    P_c = max(P, meet)
    if (
        v != 0.0 or q_ph != 0.0 or q_pr != 0.0
    ):  # else both may stand below the pump's pressure, behind its check
        assert q_ph == pytest.approx(k_ph * root(P_c - x), abs=1e-3)
        assert q_pr == pytest.approx(k_pr * root(P_c - y), abs=1e-3)
    assert q_ph - q_th + q_a - A_h * v == pytest.approx(q_ho, abs=SMALL)
    assert q_pr - q_tr - q_a + A_r * v == pytest.approx(q_ro, abs=SMALL)
    for over, p, top in ((q_ho, x, P_hM), (q_ro, y, P_rM)):
        assert over < SMALL or p == pytest.approx(top)
        assert over > -SMALL or p == pytest.approx(0.0, abs=1e-9)


def at(row, β, f, P):
    found = np.zeros(9)
    v, Q_p = passed(row, β, f, P, found)
    return v, Q_p, found


# ---- at a pressure ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ROWS)
def test_a_section_at_a_pressure_obeys_every_law(name):
    row = np.array(ROWS[name])
    for β, f, P in STATES:
        v, Q_p, found = at(row, β, f, P)
        check(ROWS[name], P, v, β * v + f, found)
        assert pytest.approx(max(found[2] + found[3], 0.0)) == Q_p


@pytest.mark.parametrize("name", ROWS)
def test_the_shorter_way_finds_the_same_or_says_that_it_does_not_know(name):
    """Velocity, regeneration, the pump's flow, and how that grows with the pressure."""
    row = np.array(ROWS[name])
    done = 0
    for β, f, P in STATES:
        v, Q_p, found = at(row, β, f, P)
        state, w, q_a, Q, slope = quick(row, β, f, P, 0.0, 0.0)
        if state != DONE:
            continue
        done += 1
        assert (w, Q) == pytest.approx((v, Q_p), abs=1e-6)
        if v > 0:
            assert q_a == pytest.approx(found[6], abs=1e-4)
        ε = 1e-5
        ends = [at(row, β, f, P + d)[1] for d in (ε, -ε, 0.0)]
        rises, falls = (ends[0] - ends[2]) / ε, (ends[2] - ends[1]) / ε
        if rises == pytest.approx(falls, rel=1e-2, abs=1e-3):
            assert slope == pytest.approx((rises + falls) / 2, rel=1e-2, abs=2e-3)
        near = quick(row, β, f, P, 1.1 * abs(v) + 0.01, 0.9 * q_a)
        if near[0] == DONE:
            assert near[1:4] == pytest.approx((w, q_a, Q), abs=1e-6)
    both = sum(k > 0 for k in row[[4, 7]]) * sum(k > 0 for k in row[[5, 6]])
    assert (done == 0) if both else (done > 0 or row[8] > 0)


@pytest.mark.parametrize(
    "name", [n for n in ROWS if "both" in n or "through" in n or n.endswith("rod, out")]
)
def test_any_openings_have_the_slope_of_their_network(name):
    row = np.array(ROWS[name])
    smooth = 0
    for β, f, P in STATES:
        v, Q_p, slope = crossed(row, β, f, P)
        assert (v, Q_p) == pytest.approx(at(row, β, f, P)[:2], abs=1e-9)
        ε = 1e-5
        ends = [at(row, β, f, P + d)[1] for d in (ε, -ε, 0.0)]
        rises, falls = (ends[0] - ends[2]) / ε, (ends[2] - ends[1]) / ε
        if rises == pytest.approx(falls, rel=1e-3, abs=1e-4):
            assert slope == pytest.approx((rises + falls) / 2, rel=5e-3, abs=1e-3)
            smooth += 1
    assert smooth > len(STATES) / 2


@pytest.mark.parametrize("name", ROWS)
def test_nested_roots_find_pressures_of_the_same_force(name):
    """Also the flow of the pump, whichever side is between its limits."""
    row = np.array(ROWS[name])
    for β, f, P in STATES[::3]:
        v, Q_p, _ = at(row, β, f, P)
        x, y = section(row, P, -f / β, 1.0 / β)
        assert (row[0] * x - row[1] * y - f) / β == pytest.approx(v, abs=1e-6)
        assert pumped(row, P, -f / β, 1.0 / β, x, y) == pytest.approx(Q_p, abs=1e-5)


@pytest.mark.parametrize("name", ROWS)
def test_what_a_section_takes_at_a_speed_is_what_it_takes_under_its_force(name):
    row = np.array(ROWS[name])
    for β, f, P in STATES[::3]:
        v, Q_p, found = at(row, β, f, P)
        again = np.zeros(9)
        assert moving(row, v, P, again) == pytest.approx(Q_p, abs=1e-5) or abs(v) < 1e-9
        if abs(v) > 1e-9:
            check(ROWS[name], P, v, row[0] * again[0] - row[1] * again[1], again)


@pytest.mark.parametrize(
    "changed, v, P, x, y, Q_p",
    [
        (
            {},
            2.0,
            5.0,
            4.0,
            4.25,
            2.4,
        ),  # A_h v + q_th − q_a, q_a what the rod side has beyond its drain: none
        ({7: 0.1}, 2.0, 5.0, 4.0, 4.25, 2.4 - (0.6 - 0.1 * np.sqrt(4.25))),
        ({7: 0.1}, 2.0, 5.0, 4.0, 7.0, 2.4 - 0.4 * np.sqrt(3.0)),  # at its relief by the drop
        ({7: 0.1}, 2.0, 5.0, 4.0, 3.9, 2.4),
        ({}, 2.0, 3.0, 4.0, 4.25, 0.0),
        ({4: 0.0, 5: 1.0, 7: 0.5}, -2.0, 5.0, 4.0, 1.0, 1.1),  # −A_r v + q_tr + q_a
        ({4: 0.0, 5: 1.0, 7: 0.5}, -2.0, 5.0, 4.0, 7.0, 0.0),
        ({4: 0.0, 5: 1.0, 7: 0.5}, -2.0, 9.0, 4.0, 7.0, np.sqrt(2.0)),
        ({4: 0.0, 5: 1.0, 7: 0.5}, -2.0, 0.9, 4.0, 1.0, 0.0),
    ],
)
def test_what_a_section_takes_by_its_balances(changed, v, P, x, y, Q_p):
    """Between their limits chambers tell it by what they need, which has more digits than drops."""
    row = np.array([0.5, 0.3, 8.0, 7.0, 2.0, 0.0, 0.7, 1.5, 0.4])
    for k, number in changed.items():
        row[k] = number
    assert pumped(row, P, v, 0.0, x, y) == pytest.approx(Q_p)


@pytest.mark.parametrize("P, P_c", [(1.0, 3.0), (3.5, 3.5)])
def test_behind_a_check_equal_valves_meet_in_the_middle(P, P_c):
    found = _flows(np.array([0.5, 0.3, 8.0, 7.0, 1.3, 1.3, 0.7, 1.5, 0.4]), P, 4.0, 2.0)
    assert found[5] == pytest.approx(P_c)
    assert found[:2] == pytest.approx((1.3 * root(P_c - 4.0), 1.3 * root(P_c - 2.0)))


@pytest.mark.parametrize(
    "k_pr, P, x, q_ph",
    [
        (0.0, 5.0, 4.0, 2.3),  # A_h v + q_th − q
        (0.0, 1.1, 1.0, 1.6),
        (0.0, 0.3, 0.2, 2 * np.sqrt(0.3)),  # no more than at no pressure
        (0.0, 4.0, 5.0, 0.0),  # the check is shut
        (0.0, 9.0, 8.0, 2.0),  # at its relief by the drop
        (0.0, 5.0, 8.0, 0.0),
        (1.0, 5.0, 8.0, -2 * np.sqrt(3.0)),  # back into the other side
        (1.0, 9.5, 7.0, 1.0 + 0.7 * np.sqrt(7.0) - 0.1),
    ],
)
def test_what_a_head_is_fed(k_pr, P, x, q_ph):
    """By its balance at v = 2 and q = 0.1, between what passes against its relief and against none."""
    row = np.array([0.5, 0.3, 8.0, 7.0, 2.0, k_pr, 0.7, 1.5, 0.4])
    assert _fed(row, P, x, 2.0, 0.1) == pytest.approx(q_ph, abs=1e-4)


@pytest.mark.parametrize(
    "changed, P, x, y, q_a",
    [
        ({}, 1.0, 4.0, 4.0, 2.4),  # the check shut: what the head lacks, A_h v + q_th
        ({}, 5.0, 4.0, 4.0, 0.4),  # 2 of it from the pump
        ({}, 9.9, 4.0, 4.0, 0.0),  # more than it lacks
        ({}, 4.0, 4.0, 4.0, 0.0),  # there the pump's orifice is as steep
        ({}, 1.0, 4.0, 4.0 * (1 - 1e-15), 0.0),
        ({}, 1.0, 4.0, 6.25, 2.4),
        ({}, 5.0, 4.0, 6.25, 0.6),  # by its own drop, where that is steeper
        ({5: 1.0}, 1.0, 4.0, 4.0, 0.0),
        ({8: 0.0}, 1.0, 4.0, 4.0, 0.0),
        ({2: 4.0}, 1.0, 4.0, 4.0, 0.0),
        ({}, 1.0, 0.0, 0.0, 0.0),
    ],
)
def test_regeneration_that_rounding_loses_is_what_the_head_lacks(changed, P, x, y, q_a):
    """By the head's balance where that has more digits than the drop: −A_r v − (q_pr − q_tr − q_a) at v = 2."""
    row = np.array([0.5, 0.3, 8.0, 7.0, 2.0, 0.0, 0.7, 1.5, 0.4])
    for k, number in changed.items():
        row[k] = number
    found = _rod(row, P, 2.0, 0.0, x, y)
    assert found == pytest.approx(-0.6 + 1.5 * np.sqrt(y) + q_a)


# ---- on their pump ---------------------------------------------------------------------------------------------------------------
PUMPS = ((4.0, 9.0, 0.3), (0.7, 9.0, 0.0), (40.0, 9.0, 0.3), (2.0, 6.0, 1.2))
OUT = ROWS["narrow rod, out"]
SEVERAL = (
    [OUT],
    [ROWS["wide rod, out, regenerates"]],
    [OUT, ROWS["wide rod, back"]],
    [ROWS["narrow rod, both"], ROWS["wide rod, out, regenerates"]],
    [ROWS["wide rod, out"], ROWS["narrow rod, head through"], ROWS["narrow rod, back"]],
)


@pytest.mark.parametrize("rows", SEVERAL, ids=range(len(SEVERAL)))
@pytest.mark.parametrize("supply", PUMPS)
def test_the_pump_gives_what_bleed_and_sections_take(rows, supply):
    """Q = k_b √P + Σ Q_p, or P = P_M and some is left; for loads, and again for the speeds that they give."""
    Q, P_M, k_b = supply
    N = len(rows)
    own = np.array(rows)
    for f in ([-1.3, 0.4, -0.2], [0.4, -1.6, 1.3], [-6.0, 3.1, 0.6]):
        β = np.array([2.0, 0.7, 1.3])[:N]
        load = np.array(f[:N])
        v, q = np.zeros(N), np.ones(N)
        P = resolve(own, np.array(supply), β, load, v, q)
        each = [at(row, b, g, P) for row, b, g in zip(own, β, load)]
        left = Q - k_b * np.sqrt(P) - sum(e[1] for e in each)
        assert left == pytest.approx(0.0, abs=1e-6) or (P == P_M and left > 0.0)
        assert v == pytest.approx([e[0] for e in each], abs=1e-7)
        flows, w = np.zeros((N, 9)), np.zeros(N)
        assert loaded(own, np.array(supply), β, load, flows, w) == P
        assert w == pytest.approx(v, abs=1e-7) and np.stack([e[2] for e in each]) == pytest.approx(
            flows
        )
        again = given(own, np.array(supply), v, flows)
        left = Q - k_b * np.sqrt(again) - sum(max(q[2] + q[3], 0.0) for q in flows)
        assert left == pytest.approx(0.0, abs=1e-5) or (again == P_M and left > 0.0)
        if k_b > 0.0:  # else the speed at which the pump ends has any pressure
            assert again == pytest.approx(P, rel=1e-5)


@pytest.mark.parametrize("rows", SEVERAL, ids=range(len(SEVERAL)))
@pytest.mark.parametrize("s", [1.1, 2.4])
def test_what_the_pump_has_left_and_how_that_falls(rows, s):
    """r = Q − k_b s − Σ Q_p at P = s², and dr/ds by small changes; velocities are those at that pressure."""
    N = len(rows)
    own, supply = np.array(rows), np.array(PUMPS[0])
    β, load = np.array([2.0, 0.7, 1.3])[:N], np.array([0.4, -1.6, 1.3])[:N]

    def at_root(s):
        v, q = np.zeros(N), np.zeros(N)
        return (*_balance(own, supply, β, load, s, v, q), v)

    r, slope, v = at_root(s)
    each = [at(row, b, g, s * s) for row, b, g in zip(own, β, load)]
    assert r == pytest.approx(4.0 - 0.3 * s - sum(e[1] for e in each), abs=1e-6)
    assert v == pytest.approx([e[0] for e in each], abs=1e-7)
    assert slope == pytest.approx((at_root(s + 1e-5)[0] - at_root(s - 1e-5)[0]) / 2e-5, rel=5e-3)
