"""Kinks as choices: the same function, slopes that contain every chord's, and jumps that are told from kinks."""

import casadi as ca
import numpy as np
import pytest

from workbench.numerics.intervals.kinks import chosen
from workbench.numerics.intervals.walk import Walk

TEXTS = {
    "orifice": lambda x, y: np.maximum(x, 0) * np.sqrt(5 - y) + np.minimum(x, 0) * np.sqrt(2 + y),
    "nested": lambda x, y: np.maximum(np.abs(x) - 0.4 * y, np.sin(y) * np.minimum(x, 0.3)),
    "branch": lambda x, y: np.where(x > 0.2, (x - 0.2) * np.exp(y), (x - 0.2) * y) + y * y,
    "sign": lambda x, y: np.sign(x - y) * (x - y) ** 2,
}


def made(name):
    x = ca.SX.sym("x", 2)
    return ca.Function("g", [x], [TEXTS[name](x[0], x[1])])


def slopes(parts):
    """∂F/∂x(x, s) as a walk over x and s."""
    x, s = ca.SX.sym("x", 2), ca.SX.sym("s", len(parts.kinks))
    J = ca.densify(ca.jacobian(parts.function(x, s), x))
    return Walk(ca.Function("J", [x, s], [J]))


@pytest.mark.parametrize("name", TEXTS)
def test_with_its_own_sides_it_is_the_same_function(name):
    f, rng = made(name), np.random.default_rng(2)
    parts = chosen(f)
    for at in rng.uniform(-1, 1, (50, 2)):
        side = np.array(parts.sides(at)).ravel()
        assert float(parts.function(at, side)) == pytest.approx(float(f(at)), abs=1e-14)
        apart = np.array(parts.apart(at, side)).ravel()
        assert ((apart <= 0) == side)[apart != 0].all()


@pytest.mark.parametrize("name", TEXTS)
def test_slopes_contain_every_chord(name):
    """f(x + e) − f(x) ∈ J(box, s) e, for boxes astride of kinks and not."""
    f, rng = made(name), np.random.default_rng(3)
    parts = chosen(f)
    middle, radius = rng.uniform(-1, 1, (2, 400)), 10 ** rng.uniform(-3, -0.5, 400)
    low, high = middle - radius, middle + radius
    sides = Walk(parts.sides).over(list(low), list(high))
    J = slopes(parts).over([*low, *sides.low], [*high, *sides.high])
    straddled = (sides.low < sides.high).any(axis=0)
    assert 20 < straddled.sum() < 390
    for _ in range(20):
        a, b = (low + (high - low) * rng.uniform(0, 1, low.shape) for _ in range(2))
        chord = np.array(f.map(400)(b) - f.map(400)(a)).ravel()
        ends = np.array([J.low * (b - a), J.high * (b - a)])
        assert (ends.min(axis=0).sum(axis=0) - 1e-13 <= chord).all()
        assert (chord <= ends.max(axis=0).sum(axis=0) + 1e-13).all()


def test_a_decided_side_gives_one_slope():
    parts = chosen(made("orifice"))
    sides = Walk(parts.sides).over([[-0.2, 0.1, -0.3], 0.0], [[0.1, 0.2, -0.1], 0.0])
    assert (sides.high - sides.low).tolist() == [
        [1, 0, 0]
    ]  # both halves of the valve switch as one
    assert [kink.operation for kink in parts.kinks[0]] == ["fmax", "fmin"]
    assert sides.low[0, 1] != sides.low[0, 2]
    J = slopes(parts).over([0.1, 0.0, *sides.low[:, 1]], [0.2, 0.0, *sides.high[:, 1]])
    assert J.low[0, 0] == pytest.approx(np.sqrt(5)) == J.high[0, 0]


def test_kinks_about_the_same_numbers_switch_together():
    """max(x, 0) + min(x, 0) is x: its slope is 1 across the kink, where two choices would allow for 0 to 2."""
    x = ca.SX.sym("x", 2)
    whole = ca.fmax(x[0], 0) + ca.fmin(x[0], 0) + ca.fabs(x[0]) * 0.1
    parts = chosen(ca.Function("g", [x], [whole]))
    J = slopes(parts).over([-1.0, 0.0, 0.0], [1.0, 0.0, 1.0])
    assert J.low[0, 0] == pytest.approx(0.9) and J.high[0, 0] == pytest.approx(1.1)


def test_jumps_are_told_from_kinks():
    """(x − 0.2)·… vanishes on both sides of x = 0.2; with 0.1 more on one side the function jumps by 0.1."""
    x = ca.SX.sym("x", 2)
    for step in (0.0, 0.1):
        f = np.where(x[0] > 0.2, (x[0] - 0.2) * np.exp(x[1]) + step, (x[0] - 0.2) * x[1])
        found = Walk(chosen(ca.Function("g", [x], [f])).jumps).over([-1, -1, 0], [1, 1, 1])
        assert found.low[0, 0] <= step <= found.high[0, 0]
        assert found.high[0, 0] - found.low[0, 0] < 1e-15
    dead = Walk(chosen(ca.Function("g", [x], [0.7 * np.sign(x[0])])).jumps)
    found = dead.over([-1, -1, 0], [1, 1, 1])
    assert abs(found.low[0, 0]) == pytest.approx(1.4)
