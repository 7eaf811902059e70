"""The published linear model: poles, gains and responses in closed form."""

from dataclasses import replace

import control
import numpy as np
import pytest

from plants import LinearActuator, machine
from workbench import ClosedLoop, Plain, Scenario, Sine, linearize, simulate

PUBLISHED = machine("ieha-published-linear").plant
OTHER = LinearActuator(K=87.0, λ_1=2.3e-3, λ_2=0.9e-3, λ_3=1.7e-3, K_F=-3.1e-5, λ_F=4.4e-4)


def test_published_numbers():
    p = PUBLISHED
    assert (p.K, p.λ_1, p.λ_2, p.λ_3, p.K_F, p.λ_F) == (
        115.4,
        1.14e-3,
        1.14e-3,
        1.11e-3,
        -6.3e-6,
        0.43e-6,
    )


@pytest.mark.parametrize("plant", (PUBLISHED, OTHER))
def test_transfer_functions(plant):
    """G_1 (27) of order four and G_2 (28) of order two at random frequencies, and the poles."""
    L = linearize(plant, [0.0] * 5)
    for s in (1j, 37j, 210.0 + 640j, -31 + 2.1e3j):
        G = L.C @ np.linalg.solve(s * np.eye(5) - L.A, L.B)
        G_1 = plant.K / (s * (1 + plant.λ_1 * s) * (1 + plant.λ_2 * s) * (1 + plant.λ_3 * s))
        G_2 = plant.K_F / (s * (1 + plant.λ_F * s))
        assert abs(G[0, 0] / G_1 - 1) < 1e-9 and abs(G[0, 1] / G_2 - 1) < 1e-9
        assert abs(G[1, 0] / (s * G_1) - 1) < 1e-9 and abs(G[1, 1] / (s * G_2) - 1) < 1e-9
    poles = np.sort(np.linalg.eigvals(L.A).real)
    assert np.allclose(
        poles,
        np.sort([0, *(-1 / λ for λ in (plant.λ_1, plant.λ_2, plant.λ_3, plant.λ_F))]),
        rtol=1e-4,
    )


def test_step_against_python_control():
    s = control.tf("s")
    G_1 = OTHER.K / (s * (1 + OTHER.λ_1 * s) * (1 + OTHER.λ_2 * s) * (1 + OTHER.λ_3 * s))
    log = simulate(OTHER, Scenario(0.04, disturbances={"X": 4e-4}, max_step=1e-4))
    Y = control.step_response(control.tf2ss(G_1), log.time)[1] * 4e-4
    assert np.abs(np.array(log["Y"]) - Y).max() < 1e-10


def test_ramp_lags_by_the_sum_of_the_lags_and_a_force_pushes_back():
    log = simulate(PUBLISHED, Scenario(0.1, disturbances={"X": 4e-4}, max_step=1e-3))
    lag = log.time[-1] - float(log["Y"][-1]) / (PUBLISHED.K * 4e-4)
    assert abs(lag - 3.39e-3) < 1e-8
    pushed = simulate(PUBLISHED, Scenario(0.1, disturbances={"F_ext": 600.0}, max_step=1e-3))
    assert abs(float(pushed["Y"][-1]) / (-6.3e-6 * 600 * (0.1 - 0.43e-6)) - 1) < 1e-6


def test_the_stiff_lag_is_no_obstacle_in_a_loop():
    """A lag of 0.43 µs under steps of 1 ms: proportional control against the closed loop's own poles."""
    gain = 0.6
    loop = ClosedLoop(
        PUBLISHED,
        Plain(lambda t, y, r: [gain * (r[0] - y[0])], measured=("Y",), references=("Y_d",)),
    )
    log = simulate(loop, Scenario(2.4, Sine("output", 0.0, 0.01, 0.5, ramp=0.2), {"F_ext": 100.0}))
    error = np.array(log["Y_d"]) - np.array(log["Y"])
    late = error[log.time > 0.4]
    # |S(jω)| for G = g K/(jω …) at ω = π: π/(g K), plus the force's offset.
    offset = 6.3e-6 * 100 / (gain * 115.4)
    assert abs((late.max() + late.min()) / 2 - offset) < 0.1 * offset + 2e-6
    assert abs((late.max() - late.min()) / 2 / (0.01 * np.pi / (gain * 115.4)) - 1) < 0.02


@pytest.mark.parametrize("key, value", (("λ_1", 0.0), ("K", -1.0), ("λ_F", float("nan"))))
def test_values_that_make_no_sense_are_refused(key, value):
    with pytest.raises(ValueError, match=key):
        replace(PUBLISHED, **{key: value})
