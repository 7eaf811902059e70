"""Terminal costs and sets of one state, by hand: at the edge, on either side of it, with ends that are not alike."""

import numpy as np
import pytest

from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.predictive.terminal_claims import (
    bears,
    seen,
    terminal_cost,
    terminal_set,
)


def one(a=0.5, b=1.0, K=0.0, q=0.75, r=1.0, s=0.0, P=1.0, rows=(), **other):
    """x⁺ = a x + b u, u = −K x, ℓ = q x² + 2 s x u + r u²; rows: (e, f, g) of e x + f u ≤ g."""
    E, F, g = (np.array([row[i] for row in rows], float) for i in range(3))
    matrix = lambda v: np.array([[float(v)]])
    return TerminalIngredients(
        *map(matrix, (a, b, q, r, P, K)), 5, E[:, None], F[:, None], g, S=matrix(s), **other
    )


# ---- the terminal cost -------------------------------------------------------------------------------------
def test_a_cost_that_falls_by_just_the_stage_cost_is_a_proof():
    """P − a²P − q = 0."""
    verdict = terminal_cost(one())
    assert verdict.holds is True and verdict.strength == "proof"


def test_with_a_law_the_stage_cost_is_that_of_its_command():
    """K = 1/2, a = 1, b = 1: closed 1/2, ℓ = q − 2 s K + r K²; 0.75 P = ℓ at P = 4, s = 1/4, r = 1, q = 3."""
    edge = {"a": 1.0, "K": 0.5, "s": 0.25, "r": 1.0, "q": 3.0, "P": 4.0}
    assert terminal_cost(one(**edge)).holds is True
    for name, more in (("q", 0.01), ("s", -0.01), ("r", 0.01), ("P", -0.01), ("a", 0.01)):
        assert terminal_cost(one(**edge | {name: edge[name] + more})).holds is False, name
        if name != "a":
            assert terminal_cost(one(**edge | {name: edge[name] - more})).holds is True, name


@pytest.mark.parametrize("off, holds", [(1e-15, None), (5e-7, None), (2e-6, False), (0.1, False)])
def test_what_misses_by_rounding_is_undecided(off, holds):
    verdict = terminal_cost(one(q=0.75 + off))
    assert verdict.holds is holds
    if holds is False:
        assert verdict.margin == pytest.approx(-off) and abs(verdict.data["x"][0]) == 1.0


def test_a_cost_that_is_not_positive_proves_nothing():
    assert terminal_cost(one(P=0.0, q=0.0, r=0.0)).holds is None
    assert terminal_cost(one(P=-1.0, a=2.0, q=0.0)).holds is None


# ---- the terminal set --------------------------------------------------------------------------------------
SET = {"H": np.array([[1.0], [-1.0]]), "h": np.array([2.0, 1.0])}  # −1 ≤ x ≤ 2


@pytest.mark.parametrize(
    "a, rows, room, where",
    [
        (-0.4, (), 0.2, "next step, row 1"),  # −0.4 · 2 = −0.8 of −1
        (0.4, (), 0.6, "next step, row 0"),
        (-0.1, (), 0.8, "next step, row 1"),
        (-0.4, ((1.0, 0.0, 2.6),), 0.2, "next step, row 1"),
        (-0.4, ((5.0, 0.0, 20.0), (1.0, 0.0, 2.2)), 1 - 2 / 2.2, "limit 1"),
        (-0.4, ((-2.0, 0.0, 2.2),), 1 - 2 / 2.2, "limit 0"),
    ],
)
def test_the_least_room_of_a_set(a, rows, room, where):
    verdict, duals = terminal_set(one(a=a, rows=rows, **SET))
    assert verdict.holds is True and verdict.margin == pytest.approx(room, rel=1e-6)
    assert verdict.worst.endswith(where)
    assert len(duals["kept"]) == 2 and len(duals["limits"]) == len(rows)
    assert len(duals["radius"]) == 2


def test_a_command_of_the_law_has_its_limit():
    """u = −0.5 x ≤ 0.6, as x ≥ −1 makes 0.5; ≤ 0.4 it does not keep."""
    inside = one(a=0.9, K=0.5, rows=((0.0, 1.0, 0.6),), **SET)
    verdict, _ = terminal_set(inside)
    assert verdict.holds is True and verdict.margin == pytest.approx(1 - 0.5 / 0.6, rel=1e-6)
    verdict, duals = terminal_set(one(a=0.9, K=0.5, rows=((0.0, 1.0, 0.4),), **SET))
    assert verdict.holds is False and duals == {}
    assert verdict.data["x"] == pytest.approx([-1.0]) and verdict.margin == pytest.approx(-0.1)
    assert verdict.worst.startswith("limit 0 is broken at x = ")


def test_a_state_that_leaves_the_set_is_shown():
    verdict, _ = terminal_set(one(a=-0.6, **SET))
    assert verdict.holds is False and verdict.data["x"] == pytest.approx([2.0])
    assert verdict.margin == pytest.approx(1.0 - 1.2) and "row 1 is broken" in verdict.worst


def test_sets_that_are_none():
    assert "bounded" in terminal_set(one(H=np.array([[1.0]]), h=np.array([2.0])))[0].worst
    for h in ((2.0, 0.0), (-0.1, 1.0)):
        assert "origin" in terminal_set(one(H=SET["H"], h=np.array(h)))[0].worst
    at_zero = one(a=-0.4, rows=((0.0, 0.0, 0.0),), **SET)
    assert "origin" not in terminal_set(at_zero)[0].worst
    assert "origin" in terminal_set(one(rows=((0.0, 0.0, -1.0),), **SET))[0].worst
    assert terminal_set(one())[0].worst == "there is no terminal set"


@pytest.mark.parametrize(
    "e, g, level, holds",
    [
        (0.3, 0.6, 4.0, True),  # |x| ≤ 2 to the last bit
        (-0.3, 0.6, 4.0, True),
        (0.3, 0.6 * (1 - 1e-15), 4.0, None),
        (0.3, 0.6, 4.0 * (1 + 1e-15), None),
        (0.3, 0.3, 1.0, True),
        (0.3, -0.6, 4.0, None),
        (0.3, 0.6, 0.0, None),
        (0.3, 0.6, -4.0, None),
    ],
)
def test_a_limit_on_an_ellipsoid_is_as_far_as_its_edge(e, g, level, holds):
    verdict, _ = terminal_set(one(rows=((e, 0.0, g),), level=level))
    assert verdict.holds is holds
    if holds:
        assert verdict.worst == f"xᵀPx ≤ {level:g}"


def test_an_ellipsoid_is_kept_only_where_the_cost_falls():
    verdict, _ = terminal_set(one(q=0.76, rows=((0.3, 0.0, 0.6),), level=4.0))
    assert verdict.holds is None and "only where the terminal cost falls" in verdict.worst


# ---- what the stage cost sees ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "change, W, c, found",
    [
        ({}, 1.0, 2.0, True),  # [[2q + 0.75, −½], [−½, 1]]
        ({}, 1.0, 1.0, False),
        ({}, 1.0, 1.1, False),  # 0.1 · 1.575 against ¼
        ({}, 1.0, 1.2, True),  # 0.2 · 1.65
        ({}, -1.0, 2.0, False),
        ({}, 0.0, 2.0, False),
        ({"q": -0.1}, 1.0, 2.0, False),  # though the whole form is positive
        ({"q": 0.0, "s": 0.0}, 1.0, 2.0, True),
        ({"q": 0.0, "s": 0.1}, 1.0, 2.0, False),
    ],
)
def test_whether_a_storage_is_seen(change, W, c, found):
    assert seen(one(**change), np.array([[W]]), c) is found


def test_how_much_of_a_and_b_may_change():
    """The cost falls by P − k²P − ℓ, k = a − b K; a change of k by δ = change · (2 |a| + |bK|) takes 2 P |k| δ + P δ² of that."""
    a, b, K, P, q = 0.9, -0.5, -0.8, 2.0, 0.3
    t = one(a=a, b=b, K=K, q=q, r=0.1, P=P)
    k = a - b * K
    most = 2 * abs(a) + abs(b * K)
    gap = P * (1 - k * k) - q - 0.1 * K * K
    change = (np.sqrt(k * k + gap / P) - abs(k)) / most
    W, c = np.array([[1e-3]]), 100.0
    assert bears(t, W, c, 0.999 * change) and not bears(t, W, c, 1.001 * change)


def test_what_is_seen_may_be_lost_first():
    """W at the edge of what ℓ sees bears nothing, though the cost falls far."""
    t = one(a=0.5, q=0.01, r=10.0, P=5.0)
    assert bears(t, np.array([[1.0]]), 1.0, 1e-6)
    assert not bears(t, np.array([[1.0]]), 1.0, 10.0)
    r = 0.5**2 / (0.01 + 0.75) + 1.0  # det = 0
    edge = one(a=0.5, q=0.01, r=r * (1 + 1e-9), P=5.0)
    assert seen(edge, np.array([[1.0]]), 1.0) and not bears(edge, np.array([[1.0]]), 1.0, 1e-6)
