"""Linear–quadratic gains: closed forms, what costs say, checks that refuse."""

import numpy as np
import pytest
from actuator import Actuator

from controllers import LQR
from controllers.lqr import gains, target_map
from controllers.riccati import riccati
from workbench import ClosedLoop, Hold, Sampled, Scenario, simulate
from workbench.contract.errors import InputError
from workbench.verification.linear.systems import LinearSystem


def test_scalar_closed_form():
    a, b, q, r = 1.3, 0.7, 2.1, 0.4
    found = riccati([[a]], [[b]], [[q]], [[r]])
    # p = a²p − a²b²p²/(r + b²p) + q, the positive root of b²p² + (r − a²r − b²q)p − qr = 0
    h = r - a * a * r - b * b * q
    p = (-h + np.sqrt(h * h + 4 * b * b * q * r)) / (2 * b * b)
    assert np.isclose(found.P[0, 0], p, rtol=1e-13) and np.isclose(
        found.K[0, 0], a * b * p / (r + b * b * p), rtol=1e-13
    )
    assert found.radius == abs(a - b * found.K[0, 0])


def test_cost_is_what_the_loop_pays():
    rng = np.random.default_rng(2)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    M = rng.normal(size=(6, 6))
    W = M @ M.T
    Q, S, R = W[:4, :4], W[:4, 4:], W[4:, 4:]
    found = riccati(A, B, Q, R, S)
    x0 = x = rng.normal(size=4)
    paid = 0.0
    for _ in range(600):
        u = -found.K @ x
        paid += x @ Q @ x + 2 * x @ S @ u + u @ R @ u
        x = A @ x + B @ u
    assert np.isclose(paid, x0 @ found.P @ x0, rtol=1e-10)
    assert found.residual < 1e-11


def test_units_do_not_matter():
    """States in Pa and m, commands in mV: the same law as in units near one."""
    rng = np.random.default_rng(3)
    A, B = 0.6 * rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    Q, R = np.diag([1.0, 2.0, 0.0, 0.5]), np.diag([0.3, 0.7])
    plain = riccati(A, B, Q, R)
    d, e = np.array([1e-7, 1.0, 1e5, 1e-3]), np.array([1e3, 1e-2])
    scaled = riccati(A * d / d[:, None], B * e / d[:, None], Q * d * d[:, None], R * e * e[:, None])
    assert np.allclose(scaled.K * e[:, None] / d, plain.K, rtol=1e-9, atol=1e-12)


def test_target_is_at_rest():
    rng = np.random.default_rng(4)
    A, B, C = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    right = rng.normal(size=(6, 3))
    M, miss = target_map(A, B, C, right)
    p = rng.normal(size=3)
    x, u = (M @ p)[:4], (M @ p)[4:]
    assert miss < 1e-12
    assert np.allclose(A @ x + B @ u + right[:4] @ p, x) and np.allclose(C @ x, right[4:] @ p)
    assert (
        target_map(A, B[:, :1], C, np.vstack([np.zeros((4, 2)), np.eye(2)]))[1] > 1e-3
    )  # two outputs, one command


@pytest.mark.parametrize(
    "A, B, Q, R, words",
    [
        (
            [[1.2, 0.0], [0.0, 0.5]],
            [[0.0], [1.0]],
            np.eye(2),
            [[1.0]],
            "no linear–quadratic gain|does not pass",
        ),  # not stabilisable
        (
            [[1.0, 0.0], [0.0, 0.5]],
            [[1.0], [1.0]],
            np.diag([0.0, 1.0]),
            [[1.0]],
            "gain",
        ),  # an integrator the cost does not see
        ([[0.5]], [[1.0]], [[1.0]], [[0.0]], "R: .* not positive definite"),
        ([[0.5]], [[1.0]], [[1.0]], [[-1.0]], "R: .* not positive definite"),
        ([[0.5]], [[1.0]], [[-1.0]], [[1.0]], "Q: .* not positive semidefinite"),
        (np.eye(2) / 2, np.eye(2), [[1.0, 0.3], [0.0, 1.0]], np.eye(2), "Q: expected a symmetric"),
    ],
)
def test_refused(A, B, Q, R, words):
    with pytest.raises(InputError, match=words):
        riccati(A, B, Q, R)


def test_integral_gains_place_the_augmented_loop():
    plant = LinearSystem(
        [[0.9, 0.2], [0.0, 0.7]], [[0.1], [0.8]], np.eye(2), np.zeros((2, 1)), 1e-3
    )
    C = np.array([[1.0, 0.3]])
    K, K_i = gains(plant, C, np.diag([2.0, 0.5]), np.array([[0.3]]), 0.05)
    A = np.block([[plant.A - plant.B @ K, -plant.B @ K_i], [C, np.eye(1)]])
    assert np.abs(np.linalg.eigvals(A)).max() < 1


# ---- the law in a loop -----------------------------------------------------------------------------------------------
PLANT = Actuator(all_states=True)
WEIGHTS = {"Q": [0.0, 0.0, 0.0, 0.0, 1e6], "R": 1e5, "x": [0.0] * 5}


def run(law, load=0.0, plant=PLANT):
    return simulate(
        ClosedLoop(plant, Sampled(law, 1e-3)),
        Scenario(1.0, Hold("output", (2e-4,) + (0.0,) * 4), {"F_ext": load}),
    )


def test_step_arrives():
    assert abs(run(LQR.design(PLANT, **WEIGHTS)).array("e_Y")[-1]) < 1e-12


def test_integral_action_removes_the_load():
    load = 300.0
    plain, integral = LQR.design(PLANT, **WEIGHTS), LQR.design(PLANT, **WEIGHTS, integral=1e3)
    without, with_it = (run(law, load).array("e_Y")[-1] for law in (plain, integral))
    assert abs(without) > 1e-5 and abs(with_it) < 1e-9
    assert abs(run(integral, load, Actuator(all_states=True, K=98.0)).array("e_Y")[-1]) < 1e-9


def test_command_stays_within_its_limit_and_integral_does_not_wind_up():
    law = LQR.design(PLANT, **WEIGHTS, integral=1e3, u_max=1e-4)
    log = run(law)
    assert np.abs(log.array("X")).max() == 1e-4
    assert log.array("Y").max() < 2e-4 * 1.25


def test_states_that_are_not_measured_are_refused():
    with pytest.raises(InputError, match="a, b, v, w of Actuator are not measured"):
        LQR.design(Actuator(), **WEIGHTS)
    with pytest.raises(ValueError, match="K: expected 5 numbers"):
        LQR(PLANT, (1.0,), (1.0,), (), ("Y",), (0.0,) * 5, (0.0,), (0.0,))
