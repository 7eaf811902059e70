"""The programs of the gain search on loops written down: half-planes, steps, shares of a step, the way out of a disk."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid_tuning import experiment
from controllers.pid_tuning.design import (
    GROWTH,
    Program,
    _bounds,
    _furthest,
    _solved,
    climb,
    recover,
)
from workbench.contract.system import Signal

T = 0.01
GUIDES = np.geomspace(0.5, 200.0, 9)


class Written:
    """A loop L = L_0 + Σ g_j K_j at every frequency, of two sides, and disk margins by a rule of the gains."""

    T = T

    def __init__(self, free=2, rule=None, base=0.0):
        self.free, self.base = free, base
        self.rule = rule or (lambda K: 2.0)
        self.asked = []

    def parts(self, ω):
        """(2, ω, 1 + free): constant part and the response of each gain."""
        own = [self.base * np.exp(-1j * ω), 2 / (1j * ω), 3 / (1j * ω) ** 2, 0.1 + 0j * ω]
        one = np.column_stack(own[: self.free + 1])
        return np.stack([one, 1.3 * one])

    def responses(self, K, i, ω, steps):
        return self.parts(ω)

    def margins(self, K, enough, first=0):
        """(margin, command) with the worst last, as the search asks for it."""
        self.asked.append(K.copy())
        α = self.rule(K[0])
        return [(SimpleNamespace(α=α, ω=7.3), 0)]


def program(free=2, m=0.5, noise=None, rule=None, base=0.0):
    family = Written(free, rule, base)
    return Program(family, np.zeros((1, free)), 0, np.ones(free), GUIDES.copy(), m, noise)


def out_of_the_disk(L, m):
    """Distance of L from the disk |1 − L| = a |1 + L|, a = 2/m, less its radius."""
    a = 2 / m
    centre, radius = -(a * a + 1) / (a * a - 1), 2 * a / (a * a - 1)
    assert abs(1 - (centre + radius)) == pytest.approx(a * abs(1 + centre + radius))
    return np.abs(L - centre) - radius


@pytest.mark.parametrize("m", [0.3, 0.8, 1.2])
def test_half_planes_touch_the_disk_and_hold_the_gains_they_are_made_at(m):
    """At K⁰ the room of each row is the distance of L from the disk; every K inside keeps L out of it."""
    rng = np.random.default_rng(1)
    made = program(m=m)
    K = np.array([0.4, 0.1])
    rows, right = made._rows(K, m)
    L = made.at(K)
    assert L.shape == (2, 9) and rows.shape == (18, 2)
    assert L == pytest.approx(made.family.parts(GUIDES) @ np.array([1.0, 0.4, 0.1]))
    assert right - rows @ K == pytest.approx(out_of_the_disk(L, m).ravel())
    inside = 0
    for _ in range(200):
        other = K + rng.normal(size=2)
        if np.all(rows @ other <= right):
            inside += 1
            assert np.all(out_of_the_disk(made.at(other), m) >= -1e-12)
    assert inside > 5


def test_noise_and_real_zeros_are_rows_of_their_own():
    """h·K ≤ limit; K_p ≥ ρ K_i + K_d/ρ with ρ = K_p/2K_i: at equality T_i = 4 T_d, and tangent there."""
    h = np.array([1.0, 0.0, 40.0])
    made = program(3, noise=(h, 9.0))
    K = np.array([0.8, 0.5, 0.02])
    rows, right = made._rows(K, 0.5)
    assert len(rows) == 18 + 2 and rows[18].tolist() == h.tolist() and right[18] == 9.0
    ρ = 0.8 / (2 * 0.5)
    assert rows[19] == pytest.approx([-1.0, ρ, 1 / ρ]) and right[19] == 0.0
    double = np.array([0.8, 0.5, 0.8**2 / (4 * 0.5)])
    assert rows[19] @ double == pytest.approx(0.0)
    rng = np.random.default_rng(2)
    for _ in range(100):
        K = rng.uniform(0, 1, 3)
        if rows[19] @ K <= 0:
            assert K[0] ** 2 >= 4 * K[1] * K[2] - 1e-12
    assert len(program(3)._rows(np.array([0.8, 0.0, 0.02]), 0.5)[0]) == 18
    assert len(program(2)._rows(np.array([0.8, 0.5]), 0.5)[0]) == 18


def test_gains_move_by_three_at_most_and_small_ones_by_a_tenth_of_their_size():
    found = _bounds(np.array([6.0, 0.05, 0.0]), np.array([2.0, 1.0, 4.0]))
    assert found[0] == pytest.approx((6 / GROWTH / 2, (GROWTH * 6 + 0.2) / 2))
    assert found[1] == pytest.approx((0.0, 0.15 + 0.1)) and found[2] == pytest.approx((0.0, 0.1))
    assert GROWTH == 3.0


def test_a_linear_program_in_units_of_its_sizes():
    """max K_1 for K_0 + K_1 ≤ 3, 1e6 K_1 ≤ 2e6: 2, whatever the sizes; None where nothing is allowed."""
    rows, right = np.array([[1.0, 1.0], [0.0, 1e6]]), np.array([3.0, 2e6])
    for scale in (np.ones(2), np.array([1e-3, 50.0])):
        bounds = [(0, 100 / s) for s in scale]
        found = _solved(np.array([0.0, -1.0]), rows, right, bounds, scale)
        assert found[1] == pytest.approx(2.0) and found[0] <= 1.0 + 1e-9
    assert _solved(np.zeros(2), rows, np.array([-1.0, 2e6]), [(0, 1), (0, 1)], np.ones(2)) is None


def test_a_step_leads_to_the_largest_gain_and_out_of_the_disk():
    made = program(m=0.5)
    K = np.array([0.4, 0.02])
    new = made.step(K, 1, np.array([0.4, 0.02]))
    assert new[1] > K[1] and np.all(out_of_the_disk(made.at(new), 0.5) >= -1e-9)
    assert np.all(new <= 3 * K + 0.1 * np.array([0.4, 0.02]) + 1e-12)
    poor = program(m=0.5)
    near = np.array([0.02, 0.1])
    before = out_of_the_disk(poor.at(near), 0.5).min()
    there = poor.outward(near, near, 0.5)
    assert out_of_the_disk(poor.at(there), 0.5).min() > before and len(there) == 2


def test_guides_are_added_once_and_below_half_the_sampling():
    made = program()
    made.add(3.3)
    made.add(3.3 * (1 + 1e-12))
    made.add(np.pi / T)
    made.add(0.0)
    assert len(made.ω) == 10 and made.L.shape == (2, 10, 3) and made.ω[-1] == 3.3
    assert made.L[:, -1] == pytest.approx(made.family.parts(np.array([3.3]))[:, 0])
    assert made.whole(np.array([5.0, 6.0])).tolist() == [[5.0, 6.0]] and made.K.tolist() == [[0, 0]]


@pytest.mark.parametrize("edge, share", [(9.0, 1.0), (0.8, 0.5), (0.55, 0.25), (0.401, 2.0**-6)])
def test_as_far_as_the_margin_is_kept(edge, share):
    """From 0.4 towards 1.0, halved until K_0 is within the edge; the frequency that refused joins the guides."""
    made = program(rule=lambda K: 1.0 if K[0] <= edge else 0.1)
    K, new = np.array([0.4, 0.2]), np.array([1.0, 0.8])
    found, refused = _furthest(made, K, new, 1)
    if share > 2.0**-7 and 0.4 + share * 0.6 <= edge:
        assert found == pytest.approx(K + share * (new - K)) and refused == (share < 1.0)
    assert found[0] <= edge and (7.3 in made.ω) == refused


@pytest.mark.parametrize("factor", [2.0, 1.3, 1.05])
def test_where_no_share_is_good_the_goal_alone_grows_a_little(factor):
    made = program(rule=lambda K: 1.0 if K[0] == 0.4 and K[1] <= 0.2 * factor + 1e-12 else 0.1)
    found, refused = _furthest(made, np.array([0.4, 0.2]), np.array([1.0, 0.8]), 1)
    assert refused and found == pytest.approx([0.4, 0.2 * factor])
    stuck = program(rule=lambda K: 0.1)
    found, refused = _furthest(stuck, np.array([0.4, 0.2]), np.array([1.0, 0.8]), 1)
    assert refused and found.tolist() == [0.4, 0.2]
    least = program(rule=lambda K: 1.0 if K[0] == 0.4 else 0.1)
    found, _ = _furthest(least, np.array([0.4, 0.2]), np.array([1.0, 0.21]), 1)
    assert found == pytest.approx([0.4, 0.21])  # not beyond what the program asked for


def test_a_climb_ends_where_it_has_grown_enough_or_no_more():
    """The goal grows at most threefold a step: by a factor of 8 that is two steps; up to an edge it comes within a thousandth."""
    free = program(m=0.5)
    K = np.array([5.0, 0.01])
    grown = climb(free, K, 1, np.array([5.0, 0.01]), 8.0)
    assert 8 * K[1] <= grown[1] <= 24 * K[1]
    assert climb(free, K, 1, np.array([5.0, 0.01]), 1.0).tolist() == K.tolist()
    edged = program(m=0.5, rule=lambda K: 1.0 if K[1] <= 0.137 else 0.1)
    found = climb(edged, K, 1, np.array([5.0, 0.01]))
    assert found[1] <= 0.137 and found[1] == pytest.approx(0.137, rel=0.02)


def test_a_loop_is_led_to_its_margin():
    """α = min 2 |1 + L|/|1 − L| over the guides: from less than half of 0.5 it reaches that; where nothing leads out it stays."""

    def least(K):
        L = made.family.parts(GUIDES) @ np.append(1.0, K)
        return float((2 * np.abs(1 + L) / np.abs(1 - L)).min())

    made = program(m=0.5, rule=least)
    K = np.array([0.05, 0.4])
    assert least(K) < 0.25
    found, α = recover(made, K, K, least(K))
    assert α >= 0.5 and α == pytest.approx(least(found))
    still = program(m=0.5, rule=lambda K: 0.1)
    K, α = recover(still, np.array([0.1, 0.01]), np.array([0.1, 0.01]), 0.1)
    assert α == 0.1 and K.tolist() == [0.1, 0.01]
    assert recover(still, np.array([0.1, 0.01]), np.ones(2), 0.6) == (
        pytest.approx([0.1, 0.01]),
        0.6,
    )


def test_what_commands_the_rest_while_the_relay_has_one():
    """Without a law: what is held, else the default, else nothing; nothing at the relay's own. With one: its other gains."""
    inputs = (Signal("a", "V"), Signal("b", "V"), Signal("c", "V"), Signal("d", "V"))
    plant = SimpleNamespace(
        inputs=(*inputs, Signal("load", "N", kind="disturbance")),
        defaults=lambda: {"a": 2.0, "b": 3.0},
    )
    begin = SimpleNamespace(held={"b": 7.0, "d": 9.0})
    still = experiment._around(plant, None, 3, begin)
    assert still.step(0.0, [], [], [])[1] == [2.0, 7.0, 0.0, 0.0]
    other = experiment._around(plant, None, 0, begin)
    assert other.step(0.0, [], [], [])[1] == [0.0, 7.0, 0.0, 9.0]
    assert [s.name for s in still.commands] == ["a", "b", "c", "d"]
