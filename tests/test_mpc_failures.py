"""Predictive control: what it refuses, what a user adds, and what it does when there is no solution."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from actuator import SLEW, X_MAX, Actuator, mpc, tracking

from controllers import MPC, Limit, Observer
from workbench import Hold, Scenario
from workbench.contract.errors import InputError


def test_infeasible_falls_back_and_says_so():
    """A push that the model does not know throws the output over a hard limit: last solution, then law, both within the limits."""
    law = mpc(limits=(Limit("Y", -1e-4, 1e-4),), known=(), N=8)

    class Kick:
        def sample(self, t, order):
            return np.where((np.asarray(t) > 0.02) & (np.asarray(t) < 0.05), -9000.0, 0.0)[
                None, :, None
            ]

    log, e = tracking(law, Scenario(0.4, Hold("output", (5e-5,)), {"F_ext": Kick()}))
    status, fallback, u = log.array("mpc_status"), log.array("mpc_fallback"), log.array("X")
    assert np.array_equal(status != 1.0, fallback > 0) and {0.0, 1.0, 2.0} <= set(fallback)
    assert set(status) <= {1.0, -1.0, -6.0} and np.isnan(log.array("mpc_cost")[fallback > 0]).all()
    assert np.abs(u).max() <= X_MAX * (1 + 1e-9) and np.abs(np.diff(u)).max() <= SLEW * 1e-3 * (
        1 + 1e-9
    )
    first = int(np.flatnonzero(fallback)[0])
    assert log.time[first] > 0.02 and fallback[first] == 1.0
    assert fallback[-1] == 0 and abs(e[-1]) < 1e-7  # and it recovers


def test_fallback_is_the_plan_shifted():
    law = mpc(limits=(Limit("Y", -1e-4, 1e-4),), N=6, known=())
    r = [5e-5] * 7
    z, _ = law.step(0.0, law.start(0.0, law.initial(), [2e-5], r), [2e-5], r)
    predicted = z.solved * X_MAX
    for k in range(1, 6):
        z, u = law.step(k * 1e-3, z, [3e-3], r)
        assert z.last.fallback == 1 and np.isclose(u[0], predicted[k], rtol=1e-9, atol=1e-12)
    z, u = law.step(6e-3, z, [3e-3], r)
    assert z.last.fallback == 2 and abs(u[0] - predicted[5]) <= SLEW * 1e-3 * (1 + 1e-9)
    assert law.monitor(6e-3, z, [3e-3], r)[4] == 2.0 and law.monitor(6e-3, z, [3e-3], r)[0] < 0


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"N": 0}, "horizon N = 0"),
        ({"N": 2.5}, "^N: expected a whole number, got 2.5"),
        ({"blocks": (3, 0)}, "blocks"),
        ({"blocks": (15, 15)}, "at most N = 20"),
        ({"preview": -1}, "preview = -1"),
        ({"u_min": (1.0,), "u_max": (-1.0,)}, "u_min, 1, must be below u_max, -1"),
        (
            {"limits": (Limit("Y", 1e-3), Limit("Y", None, -1e-3))},
            "limits of Y contradict each other",
        ),
        ({"limits": (Limit("Z", 1e-3),)}, "no signal 'Z'"),
        ({"tracked": ("Z",)}, "no signal 'Z'"),
        ({"known": ("F",)}, "no signal 'F'"),
        ({"R": (0.0,), "S": (0.0,)}, "R: .* not positive definite"),
        ({"R": (0.0,), "S": (0.0,), "terminal": "none", "delay": 3e-3}, "leaves some move free"),
        ({"Q": (-1.0,)}, "Q: -1;"),
        ({"Q": (1.0, 2.0)}, "Q: expected one number, got 2"),
        ({"observer": None}, "a, b, v, w of Actuator are not measured"),
        (
            {"observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,), disturbance=("Y",))},
            "Y cannot be told apart",
        ),
        (
            {"observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,), disturbance=("X", "F_ext"))},
            "X, F_ext cannot be told apart",
        ),
        ({"terminal": "set", "room": 1.0}, "leaves no room"),
        ({"terminal": "ball"}, "^terminal: expected one of none, cost, set, got 'ball'"),
        ({"relinearise": True, "terminal": "set"}, "problem changes every sample"),
    ],
)
def test_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        mpc(**changes)


def test_limits_of_a_sample_that_no_state_can_keep_are_refused():
    """Y above 1 mm and its speed within ±1 mm/s and below … no contradiction; two outputs that are one signal are."""

    class Doubled(Actuator):
        @property
        def outputs(self):
            return (*super().outputs, replace(super().outputs[0], name="Y2"))

        def out(self, t, x):
            return [x[4], 2 * x[4]]

    settings = {
        "Q": (1e6,),
        "S": (1e5,),
        "u_min": (-X_MAX,),
        "u_max": (X_MAX,),
        "tracked": ("Y",),
        "observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,)),
    }
    MPC(Doubled(), **settings, limits=(Limit("Y", 1e-3, 2e-3), Limit("Y2", 3e-3, 5e-3)))
    with pytest.raises(InputError, match="contradict each other: no state"):
        MPC(Doubled(), **settings, limits=(Limit("Y", 1e-3, 2e-3), Limit("Y2", 5e-3, 6e-3)))


# ---- what a user adds -------------------------------------------------------------------------------------------------
def test_a_users_convex_additions():
    def gentle(v):
        return [v.y[0, 1:] <= 1.0e-4, 3e4 * cp.sum_squares(v.u[0, :5])]

    law = mpc(N=8, extra=gentle)
    limited = mpc(N=8, limits=(Limit("Y", None, 1.0e-4),))
    assert "0x" not in repr(law.extra) and "gentle" in repr(law.extra)
    scenario = Scenario(0.03, Hold("output", (2e-4,)))
    log, _ = tracking(law, scenario)
    assert set(log.array("mpc_status")) == {1.0} and log.array("Y").max() < 1.0e-4 * (1 + 1e-5)
    plain, _ = tracking(limited, scenario)
    only = mpc(N=8, extra=lambda v: v.y[0, 1:] <= 1.0e-4)
    same, _ = tracking(only, scenario)
    assert np.abs(same.array("X") - plain.array("X")).max() < 1e-5 * X_MAX
    assert np.abs(log.array("X") - plain.array("X")).max() > 1e-3 * X_MAX


@pytest.mark.parametrize(
    "extra, words",
    [
        (lambda v: v.u[0, 0] ** 2 >= 1e-9, "(?s)item 1 .* constraint is not convex"),
        (lambda v: [v.u[0, 0] <= 1, -cp.sum_squares(v.x)], "(?s)item 2 .* cost term is not convex"),
        (lambda v: [v.u], "a cost term is one number"),
        (lambda v: [v.y[0, 3] <= 1.0, "fast"], "neither a cvxpy constraint nor a cvxpy expression"),
        (lambda v: -cp.Variable(), "no lowest value"),
        (lambda v: v.u[0, 0] >= 2 * X_MAX, "limits contradict each other"),
        (lambda v: v.r[0, 0] * v.d[0] * v.u[0, 0], "not convex|compiled once"),
    ],
)
def test_a_users_additions_are_judged(extra, words):
    with pytest.raises(InputError, match=words):
        mpc(N=5, extra=extra)


def test_inaccurate_is_not_optimal():
    law = mpc(N=5, extra=lambda v: v.u[0, 0] <= 1.0)
    z = law.start(0.0, law.initial(), [0.0], None)
    solution = z.solver.solve(law.parameter(np.zeros(5), 1e-5))

    class Weak:
        def solve(self, θ):
            return solution._replace(status=4)

    r = [1e-5] * 6 + [0.0] * 6
    z, _ = law.step(0.0, z._replace(solver=Weak()), [0.0], r)
    assert z.last.fallback != 0 and law.monitor(0.0, z, [0.0], r)[0] == 4.0
