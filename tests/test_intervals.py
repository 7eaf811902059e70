"""Enclosures of the same plain text that floats and expressions read: they contain every value, and say so when they cannot."""

import casadi as ca
import numpy as np
import pytest

from workbench.numerics.intervals.enclosure import box, enclose, lower_bound

TEXTS = {
    "polynomial": lambda x, y: x**3 - 2.5 * x * y + y**2 / 7,
    "trigonometry": lambda x, y: np.sin(3 * x) * np.cos(y) + np.tanh(5 * x),
    "root in a branch": lambda x, y: np.where(x > 0, np.sqrt(np.maximum(x, 0.0)), -y),
    "quotient": lambda x, y: x / (2.2 + np.abs(y)) + np.exp(-y * y),
    "limits": lambda x, y: np.clip(3 * x, -1, 0.7) + np.sign(y) * np.hypot(x, y) + np.floor(x),
    "root of a sum of squares": lambda x, y: np.sqrt(x * x + y * y + 0.1),
}


@pytest.mark.parametrize("name", TEXTS)
def test_contains_every_value(name):
    f, rng = TEXTS[name], np.random.default_rng(3)
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    g = ca.Function("g", [x, y], [f(x, y)])
    middle, radius = rng.uniform(-2, 2, (2, 200)), 10 ** rng.uniform(-9, 0, (2, 200))
    (b,) = enclose(g, [[box(middle[i] - radius[i], middle[i] + radius[i])] for i in range(2)])
    for _ in range(50):
        at = middle + radius * rng.uniform(-1, 1, (2, 200))
        value = np.array([float(g(*p)) for p in at.T])
        assert (b.low <= value).all() and (value <= b.high).all()


def test_rounds_outwards_on_points():
    x = ca.SX.sym("x")
    (b,) = enclose(ca.Function("g", [x], [x / 3 + x * x]), [[box([0.1, 0.7], [0.1, 0.7])]])
    from fractions import Fraction

    for k, v in enumerate((0.1, 0.7)):
        exact = Fraction(v) / 3 + Fraction(v) ** 2
        assert Fraction(b.low[k]) < exact < Fraction(b.high[k]) and b.high[k] - b.low[k] < 1e-15


def test_decided_branch_is_not_blurred():
    x = ca.SX.sym("x")
    g = ca.Function("g", [x], [np.where(x > 0, 5.0 + x, -7.0 + x)])
    (b,) = enclose(g, [[box([1.0, -2.0, -1.0], [2.0, -1.0, 1.0])]])
    assert b.low[0] > 5.9 and b.high[1] < -7.9
    assert b.low[2] < -7.9 and b.high[2] > 5.9


def test_leaving_a_domain_is_said():
    x = ca.SX.sym("x")
    (root,) = enclose(ca.Function("g", [x], [np.sqrt(x)]), [[box([-1.0, 0.5], [1.0, 1.0])]])
    assert list(root.sure) == [False, True]
    (branch,) = enclose(
        ca.Function("g", [x], [np.where(x > -1, np.sqrt(x), 0.0)]),
        [[box([-2.0, 0.5, -3.0], [1.0, 1.0, -2.0])]],
    )
    assert list(branch.sure) == [
        False,
        True,
        True,
    ]  # its condition does not keep the root's argument positive
    (quotient,) = enclose(ca.Function("g", [x], [1 / x]), [[box(-1.0, 1.0)]])
    assert not quotient.sure[0] and quotient.low[0] == -np.inf


def test_lower_bound_is_below_the_minimum_and_close():
    f = lambda x: 2 + np.cos(x) * np.exp(-x / 5)
    values = 2 + np.cos(np.linspace(0, 9, 20001)) * np.exp(-np.linspace(0, 9, 20001) / 5)
    bound = lower_bound(f, 0.0, 9.0)
    assert values.min() - 1e-3 < bound <= values.min()
    assert lower_bound(lambda x: np.sqrt(x), -1.0, 1.0) == -np.inf


def test_plant_flow_on_a_box(crane):
    """The crane's own text: floats inside the enclosure, at random states and on small boxes."""
    from workbench.contract.system import names
    from workbench.numerics.calculus import trace

    traced, rng = trace(crane, tuple(names(crane.inputs)[:3])), np.random.default_rng(5)
    c, size = (
        traced.constants(crane),
        np.array([1e5 if n.startswith("p_") else 0.2 for n in names(crane.states)]),
    )
    x = np.array(crane.initial()) + 0.3 * size * rng.uniform(-1, 1, (20, len(size)))
    r = 1e-4 * size
    b = enclose(
        traced.flow,
        [
            [box(0, 0)],
            [box(x[:, i] - r[i], x[:, i] + r[i]) for i in range(len(size))],
            [box(0.4, 0.6)] * 3,
            [box(v, v) for v in c],
        ],
    )
    assert all(e.sure.all() for e in b)
    for k in range(20):
        for _ in range(20):
            point = x[k] + r * rng.uniform(-1, 1, len(size))
            u = [
                *rng.uniform(0.4, 0.6, 3),
                *[crane.defaults().get(s.name, 0.0) for s in crane.inputs[3:]],
            ]
            xd = crane.rhs(0.0, list(point), u)
            assert all(e.low[k] <= v <= e.high[k] for e, v in zip(b, xd))


def test_sums_and_products_of_what_is_not_negative_keep_roots_defined():
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [ca.sqrt(0.3 * x[0] ** 2 + x[1] ** 2 * 1.7)])
    low, high = np.array([-0.2, 0.0, -1e-160]), np.array([0.1, 0.4, 1e-160])
    (found,) = enclose(f, [[box(low, high), box(low, high)]])
    assert (
        found.sure.all()
        and (found.low == 0).all()
        and (found.high >= np.sqrt(2.0) * np.maximum(-low, high)).all()
    )
    g = ca.Function("g", [x], [ca.sqrt(x[0] ** 2 + x[1])])
    assert not enclose(g, [[box(-0.1, 0.2), box(-1e-300, 1.0)]])[0].sure.any()
