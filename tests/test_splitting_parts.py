"""Splitting part by part: weights, families, levels, chains, moves that keep the law, estimates and their bounds by hand."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from workbench.verification.probability.sequential import Sequence, _edge
from workbench.verification.probability.splitting import (
    ACCEPTED,
    FAMILIES,
    Move,
    Population,
    Split,
    _estimated,
    filled,
    joined,
    next_level,
    particles,
    split,
)
from workbench.verification.search.minimise import FIRST, GENERATION, PATIENCE, minimise


def people(scores, weights=None, family=None):
    n = len(scores)
    weights = np.full(n, 1 / n) if weights is None else np.array(weights, float)
    family = np.arange(n) if family is None else np.array(family)
    z = np.arange(2.0 * n).reshape(n, 2)
    return Population(z, np.arange(n), np.array(scores, float), weights, family)


# ---- populations ------------------------------------------------------------
def test_families_count_by_weight():
    """(Σ Y)²/Σ Y² of the weights that end in each family."""
    own = people([0] * 5, [0.1, 0.2, 0.3, 0.2, 0.2], [0, 0, 3, 3, 4])
    assert own.ended.tolist() == pytest.approx([0.3, 0, 0, 0.5, 0.2])
    assert own.families == pytest.approx(1 / (0.09 + 0.25 + 0.04))
    assert own.taken(np.zeros(5, bool)).families == 0.0 and len(own) == 5
    some = own.taken(np.array([False, True, False, True, False]))
    assert some.weights.tolist() == [0.2, 0.2] and some.z.tolist() == [[2, 3], [6, 7]]
    both = joined([some, own])
    assert len(both) == 7 and both.family.tolist() == [0, 3, 0, 0, 3, 3, 4]


@pytest.mark.parametrize(
    "scores, level",
    [
        (list(range(20)), 17),  # two of twenty, a tenth, are above
        ([0] * 10 + [5] * 10, 0),  # a plateau: half of them is above a lower level
        ([5] * 20, None),
        ([0] * 17 + [1, 2, 3], 1),
        ([0] * 19 + [3], 0),
        ([0] * 16 + [2, 2, 2, 2], 0),
    ],
)
def test_the_next_level(scores, level):
    assert next_level(np.array(scores, float)) == level


@pytest.mark.parametrize("most, aim, levels", [(1000, 0.1, 2), (1000, 1e-3, 4), (1000, 0.5, 2)])
def test_draws_of_a_population(most, aim, levels):
    """N + 0.9 N a level for one level more than ten to a power needs."""
    assert particles(most, aim) == int(most / (1 + 0.9 * levels))


# ---- moves and chains ------------------------------------------------------------
def test_a_move_keeps_the_law_and_stays_above_the_level():
    """√(1 − σ²) z + σ ξ is normal again; refused ones stay where they were, with their score and seed."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal((20000, 2))
    own = Population(z, np.arange(20000), z[:, 0], np.ones(20000), np.arange(20000))
    free = Move(lambda z, seeds: z[:, 0], -np.inf, 0.6, False, np.random.default_rng(2))
    after, yes = free(own)
    assert yes.all() and after.seeds.tolist() == own.seeds.tolist()
    assert after.z.std() == pytest.approx(1.0, abs=0.02)
    assert np.mean(after.z * z) == pytest.approx(0.8, abs=0.02)  # √(1 − 0.36)
    held = Move(lambda z, seeds: z[:, 0], 0.5, 0.6, True, np.random.default_rng(3))
    above = own.taken(own.scores > 0.5)
    after, yes = held(above)
    assert 0.3 < yes.mean() < 1.0 and after.scores.min() > 0.5
    assert np.array_equal(after.scores, after.z[:, 0])
    stayed = ~yes
    assert np.array_equal(after.z[stayed], above.z[stayed])
    assert np.array_equal(after.seeds[stayed], above.seeds[stayed])
    anew = (after.seeds != above.seeds)[yes]
    assert anew.mean() == pytest.approx(0.5, abs=0.05)
    edge = Move(lambda z, seeds: np.full(len(z), 0.5), 0.5, 0.6, False, np.random.default_rng(4))
    assert not edge(above)[1].any()  # at the level is not above it


@pytest.mark.parametrize("count", [9, 12, 20])
def test_chains_fill_a_population_up_and_share_their_weight(count):
    """Three seeds of weight 0.1, 0.2, 0.3: every seed's chain keeps its weight and family, lengths differ by one at most."""
    rng = np.random.default_rng(5)
    above = people([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [4, 7, 9])
    asked = []

    def score(z, seeds):
        asked.append(len(z))
        return np.where(rng.random(len(z)) < 0.5, 5.0, 0.0)

    made, share = filled(above, count, Move(score, 0.5, 0.3, False, rng))
    assert len(made) == count and sum(asked) == count - 3
    for family, weight in ((4, 0.1), (7, 0.2), (9, 0.3)):
        own = made.family == family
        assert made.weights[own].sum() == pytest.approx(weight)
        assert own.sum() in (count // 3, -(-count // 3))
    assert 0.0 <= share <= 1.0


def test_levels_runs_and_moves_are_told():
    """A score that is the first number: levels near the quantiles of a tenth, a hundredth …; runs are those that were made."""
    made = []

    def score(z, seeds):
        made.append(len(z))
        return z[:, 0] - 3.0

    found = split(score, 2, 2000, 100_000, 7)
    assert found.runs == sum(made) and found.reached
    assert found.levels[0] == pytest.approx(1.2816 - 3.0, abs=0.1)
    assert found.levels[1] == pytest.approx(2.3263 - 3.0, abs=0.15)
    assert len(found.accepted) == len(found.levels) and all(0 < a < 1 for a in found.accepted)
    assert found.probability == pytest.approx(1.35e-3, rel=0.4)
    likely = split(lambda z, seeds: z[:, 0] + 1.2, 2, 2000, 100_000, 7)
    assert likely.levels == () and likely.runs == 2000
    for most, levels in ((3799, 0), (3800, 1), (5599, 1), (5600, 2)):  # 1800 of 2000 are made anew
        some = split(lambda z, seeds: z[:, 0] - 3.0, 2, 2000, most, 7)
        assert len(some.levels) == levels and some.runs == 2000 + 1800 * levels
    few = split(lambda z, seeds: z[:, 0] - 3.0, 2, 2000, 3000, 7)
    assert few.levels == () and few.runs == 2000
    assert ACCEPTED == 0.44 and FAMILIES == 10.0


# ---- estimates ------------------------------------------------------------
def test_an_estimate_is_the_weight_in_the_event():
    """Twelve families of equal weight of a hundred draws: δ² = K/(K − 1) (1/K − 1/N)."""
    own = people([1.0] * 12 + [-1.0] * 8, [0.01] * 12 + [0.02] * 8)
    found = _estimated(own, 100, (0.5,), 321, (0.4,))
    assert found.reached and found.probability == pytest.approx(0.12)
    assert found.families == pytest.approx(12.0)
    assert found.deviation == pytest.approx(math.sqrt((1 / 12 - 0.01) * 12 / 11))
    assert (found.levels, found.runs, found.accepted, found.final) == ((0.5,), 321, (0.4,), own)
    short = _estimated(people([1.0] * 9 + [-1.0] * 8, [0.01] * 17), 100, (), 17, ())
    assert not short.reached and short.probability == pytest.approx(0.17)
    assert short.families == pytest.approx(17.0)
    at_zero = _estimated(people([0.0] * 12, [0.01] * 12), 100, (), 12, ())
    assert not at_zero.reached
    whole = _estimated(people([1.0] * 12), 12, (), 12, ())
    assert whole.deviation == pytest.approx(0.0, abs=1e-7) and whole.probability == pytest.approx(
        1.0
    )


@pytest.mark.parametrize("reached", [True, False])
def test_bounds_of_an_estimate(reached):
    """p̂ exp(δ²/2 ± t δ), Student's t of K − 1 degrees that leaves α/2; nothing below where the event was not reached."""
    own = Split(1e-3, 0.4, 15.0, reached, (), 100, (), people([1.0]))
    low, high = own.bounds(0.05)
    spread = student.isf(0.025, 14.0) * 0.4
    assert high == pytest.approx(1e-3 * math.exp(0.08 + spread))
    assert low == (pytest.approx(1e-3 * math.exp(0.08 - spread)) if reached else 0.0)
    few = Split(1e-3, 0.4, 9.99, True, (), 100, (), people([1.0]))
    assert few.bounds(0.05) == (0.0, 1.0)
    sure = Split(0.9, 0.4, 10.0, True, (), 100, (), people([1.0]))
    assert sure.bounds(0.05)[1] == 1.0 and sure.bounds(0.05)[0] > 0.2


# ---- sequences ------------------------------------------------------------
@pytest.mark.parametrize("outside, inside", [(0.0, 0.3), (1.0, 0.3)])
def test_an_edge_is_found_from_outside(outside, inside):
    """Where x − 0.2, or 0.7 − x, changes its sign: the number given is excluded still, and hardly beyond."""
    edge = 0.2 if outside < inside else 0.7
    excess = lambda p: (edge - p) if outside < inside else (p - edge)
    found = _edge(excess, outside, inside)
    assert excess(found) >= 0 and found == pytest.approx(edge, rel=1e-11)


def test_bounds_hold_where_the_mixture_is_one_over_alpha():
    """α M(p) = 1 at both ends, below it between; none before the first run, and none beyond 0 and 1."""
    own = Sequence(0.02, 0.05)
    for k, n in ((1, 40), (7, 200), (3, 3), (0, 25)):
        low, high = own.interval(k, n)
        assert low < k / n <= high or k == 0
        assert (low == 0.0) is (k == 0) and (high == 1.0) is (k == n)
        if k:
            assert own.excess(low, k, n) == pytest.approx(0.0, abs=1e-8)
        if k < n:
            assert own.excess(high, k, n) == pytest.approx(0.0, abs=1e-8)
    assert own.interval(0, 0) == (0.0, 1.0)
    b = 0.5 / 0.02  # one run without violation: M = B(a, b + 1)/B(a, b)/(1 − p)
    assert own.excess(0.3, 0, 1) == pytest.approx(math.log(0.05 * b / (b + 0.5) / 0.7))


# ---- where to look next ------------------------------------------------------------
class Asked:
    def __init__(self, value):
        self.value, self.calls = value, []

    def __call__(self, places):
        self.calls.append(places.copy())
        return np.array([self.value(p) for p in places])

    @property
    def count(self):
        return sum(map(len, self.calls))


@pytest.mark.parametrize("budget", [1, 5, FIRST, 40, 133])
def test_no_more_places_than_are_allowed(budget):
    values = Asked(lambda p: float(p @ p))
    minimise(2, values, budget, 3, lambda scores: False)
    assert values.count == budget
    assert all(np.abs(c).max() <= 1.0 for c in values.calls)
    first = values.calls[0]
    assert len(first) == min(FIRST, budget)
    corners = {tuple(p) for p in first[: min(4, budget)]}
    assert len(corners) == min(4, budget) and all(set(map(abs, c)) == {1.0} for c in corners)


def test_a_search_ends_when_it_has_found_enough():
    values = Asked(lambda p: float(p @ p))
    minimise(2, values, 500, 3, lambda scores: True)
    assert values.count == FIRST
    later = Asked(lambda p: float(np.hypot(*(p - [0.3, -0.4])) - 0.05))
    minimise(2, later, 2000, 3, lambda scores: bool(np.min(scores) < 0))
    assert later.count < 1000 and min(later.value(p) for p in later.calls[-1]) < 0
    assert all(min(later.value(p) for p in c) >= 0 for c in later.calls[:-1])


def test_generations_restart_where_nothing_is_gained():
    """On a field that hardly falls CMA-ES gives up after its patience, and places are drawn anew all over the box."""
    values = Asked(lambda p: 1.0 + 1e-3 * float(p[0]))
    minimise(3, values, 16 + 8 * (PATIENCE + 1) + 16, 3, lambda scores: False)
    sizes = [len(c) for c in values.calls]
    assert sizes[0] == FIRST and set(sizes[1 : PATIENCE + 2]) == {GENERATION}
    assert sizes[PATIENCE + 2] == FIRST
    again = values.calls[PATIENCE + 2]
    assert again.min() < -0.5 and again.max() > 0.5
    one = Asked(lambda p: float(abs(p[0] - 0.9)))
    minimise(1, one, 120, 5, lambda scores: bool(np.min(scores) < 1e-3))
    assert one.count < 120 and all(c.shape[1] == 1 for c in one.calls)
    many = Asked(lambda p: float(p @ p))
    minimise(14, many, 16, 5, lambda scores: False)
    assert np.all(np.abs(many.calls[0][:8]) == 1.0) and np.abs(many.calls[0][8:]).max() < 1.0
