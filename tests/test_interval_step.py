"""Steps over boxes: closed solutions and point runs end inside, the order is what it says, kinks cost it and are told."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from workbench.numerics.intervals import walk as interval_walk
from workbench.numerics.intervals.step import Step

pytestmark = pytest.mark.skipif(interval_walk.compiled() is None, reason="needs a C compiler")


def pendulum():
    """Driven and damped, with friction by tanh and a root: x = (angle, rate), c a parameter."""
    t, x, c = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("c")
    rate = -ca.sin(x[0]) - c * ca.tanh(3 * x[1]) + ca.sqrt(2 + x[0]) * ca.cos(2 * t)
    return ca.Function("f", [t, x, c], [ca.vertcat(x[1], rate)], ["t", "x", "c"], ["y"])


def test_a_closed_solution_is_inside_and_close():
    """x' = −x² from x_0: x_0 / (1 + x_0 h)."""
    x = ca.SX.sym("x")
    step = Step(ca.Function("f", [x], [-x * x], ["x"], ["y"]))
    at = np.linspace(0.3, 2.0, 50)
    for h, order, width in ((0.05, 2, 3e-2), (0.05, 8, 1e-7), (0.01, 8, 1e-13)):
        found = step.over([at], [at], h, order)
        true = at / (1 + at * h)
        assert found.sure.all() and found.smooth.all()
        assert (found.low[0] <= true + 2e-16).all() and (true - 2e-16 <= found.high[0]).all()
        assert (found.high - found.low < width).all()
        assert (found.passed_low[0] <= true).all() and (at <= found.passed_high[0]).all()


def test_the_remainder_falls_with_its_order():
    f, at = pendulum(), [0.3, np.array([0.4]), np.array([-0.2]), 0.25]
    widths = [float(np.ptp([*s[:2]])) for h in (0.04, 0.02) for s in [_first(Step(f), at, h)]]
    assert 2**3.5 < widths[0] / widths[1] < 2**5.5  # K = 4: width ∝ h⁴, the box's own ∝ h more


def _first(step, at, h):
    found = step.over(at, at, h, 4)
    return found.low[1, 0], found.high[1, 0]


def test_point_runs_from_boxes_end_inside():
    rng = np.random.default_rng(8)
    middle, h = rng.uniform(-1, 1, (2, 12)), 0.03
    low, high = middle - 1e-3, middle + 1e-3
    found = Step(pendulum()).over([0.3, *low, 0.2], [0.3, *high, 0.3], h)
    assert found.sure.all()
    f = pendulum()

    def rates(t, y, c):
        return np.array(f(t, y, c)).ravel()

    for k in range(12):
        for _ in range(4):
            x = low[:, k] + (high - low)[:, k] * rng.uniform(0, 1, 2)
            c = rng.uniform(0.2, 0.3)
            run = solve_ivp(rates, (0.3, 0.3 + h), x, rtol=1e-12, atol=1e-13, args=(c,))
            assert (found.low[:, k] <= run.y[:, -1]).all() and (
                run.y[:, -1] <= found.high[:, k]
            ).all()
            assert (found.passed_low[:, k, None] <= run.y).all()
            assert (run.y <= found.passed_high[:, k, None]).all()


def test_a_kink_inside_is_told_and_still_enclosed():
    """x' = −|x| + 1/2 through 0: no Taylor series, but the coarse bounds hold."""
    x = ca.SX.sym("x")
    step = Step(ca.Function("f", [x], [0.5 - ca.fabs(x)], ["x"], ["y"]))
    found = step.over([np.array([-0.01, 0.3])], [np.array([-0.01, 0.3])], 0.1)
    assert found.smooth.tolist() == [False, True] and found.sure.all()
    run = solve_ivp(lambda t, y: 0.5 - abs(y), (0, 0.1), [-0.01], rtol=1e-11, atol=1e-13).y[0, -1]
    assert found.low[0, 0] <= run <= found.high[0, 0]


def test_a_solution_that_ends_within_the_step_is_not_sure():
    x = ca.SX.sym("x")
    found = Step(ca.Function("f", [x], [x * x], ["x"], ["y"])).over([2.0], [2.0], 0.6)
    assert not found.sure[0] and found.high[0, 0] == np.inf


def test_a_remainder_forgotten_is_seen(monkeypatch):
    """With the last coefficient taken at the start instead of over B, closed solutions fall outside."""
    right = Step._taylor

    def wrong(self, low, high, X, B, h, order, threads):
        return right(self, low, high, X, X, h, order, threads)

    monkeypatch.setattr(Step, "_taylor", wrong)
    with pytest.raises(AssertionError):
        test_a_closed_solution_is_inside_and_close()
