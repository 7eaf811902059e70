"""Whether a function has a derivative at a point: asked of all switches at once, the answer is that of the walk over its graph."""

from functools import partial

import casadi as ca
import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.numerics.switches import Edges, refuse_undecided

POINTS = 8
TWO = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    ca.fmax,
    ca.fmin,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: ca.if_else(a < b, a, b),
    lambda a, b: a - ca.fmin(ca.fmax(a, -b), b),
)
ONE = (ca.fabs, ca.sign, lambda a: a**2, ca.sqrt, lambda a: 1 / a, lambda a: 2 * a, ca.floor)


def drawn(rng, steps):
    """A random expression of three variables and a constant, most of them piecewise linear, and its symbols."""
    x = ca.SX.sym("x", 3)
    w = ca.SX.sym("w", 1)
    known = [*ca.vertsplit(x), w, ca.SX(0), ca.SX(1)]
    for _ in range(steps):
        if rng.uniform() < 0.8:
            a, b = (known[i] for i in rng.integers(0, len(known), 2))
            known.append(TWO[rng.integers(0, len(TWO))](a, b))
        else:
            known.append(ONE[rng.integers(0, len(ONE))](known[rng.integers(0, len(known))]))
    return x, w, ca.vertcat(*known[-2:])


def refused(ask):
    """Whether the derivative is refused."""
    try:
        ask()
    except InputError:
        return True
    return False


def test_both_ways_agree_at_points_where_switches_often_are_at_their_edges():
    rng = np.random.default_rng(7)
    found = [agreed(rng, *drawn(rng, 8)) for _ in range(150)]
    refusals = sum(found)
    assert 100 < refusals < 150 * POINTS - 100, "a test that meets one side only says nothing"


def agreed(rng, x, w, y):
    """At how many of POINTS points both ways refuse the derivative; they agree at all of them."""
    f = ca.Function("f", [x, w], [ca.densify(y)])
    jacobian = ca.Function("J", [x, w], [ca.densify(ca.jacobian(y, x))])
    edges = Edges(f, (0,))
    count = 0
    for _ in range(POINTS):
        at = [rng.integers(-1, 2, 3).astype(float), float(rng.integers(-1, 2))]
        J = np.array(jacobian(*at))
        with np.errstate(invalid="ignore"):
            walked = refused(partial(refuse_undecided, f, at, J, (0,)))
            assert refused(partial(edges.refuse_undecided, at, J)) is walked, (y, at)
        count += walked
    return count


def band(u, d):
    """What is left of u beyond a dead band of half-width d."""
    return u - ca.fmin(ca.fmax(u, -d), d)


@pytest.mark.parametrize(
    "u, d, walks", [(0.3, 0.0, 0), (-0.3, 0.0, 0), (0.0, 0.0, 1), (0.3, 0.3, 1), (0.1, 0.3, 0)]
)
def test_the_graph_is_walked_only_where_a_side_moves_at_an_edge(monkeypatch, u, d, walks):
    """A band of no width has both its ends at the same place: beyond it, nothing that moves is at an edge."""
    asked = []
    monkeypatch.setattr(
        "workbench.numerics.switches.refuse_undecided", lambda *given: asked.append(given)
    )
    x = ca.SX.sym("x")
    c = ca.SX.sym("c")
    f = ca.Function("f", [x, c], [band(x, c)])
    Edges(f, (0,)).refuse_undecided([u, d], np.ones((1, 1)))
    assert len(asked) == walks


def test_a_step_or_a_slope_without_bound_is_walked_wherever_it_stands(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "workbench.numerics.switches.refuse_undecided", lambda *given: asked.append(given)
    )
    x = ca.SX.sym("x")
    c = ca.SX.sym("c")
    Edges(ca.Function("f", [x, c], [ca.floor(x)]), (0,)).refuse_undecided(
        [0.5, 0.0], np.zeros((1, 1))
    )
    Edges(ca.Function("f", [x, c], [ca.floor(c) + x]), (0,)).refuse_undecided(
        [0.5, 0.0], np.ones((1, 1))
    )
    assert len(asked) == 1, "a step of what is not differentiated by is none"
    Edges(ca.Function("f", [x, c], [ca.sqrt(x)]), (0,)).refuse_undecided(
        [0.0, 0.0], np.array([[np.inf]])
    )
    assert len(asked) == 2
