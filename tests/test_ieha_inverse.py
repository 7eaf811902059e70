"""The input–output equation: its coefficients, both ways round, and as a feed-forward of the actuator itself."""

from dataclasses import replace

import numpy as np
import pytest

from plants import InputOutput, feedforward, machine
from plants.components.radial_pump import RadialPump
from plants.ieha.inverse import coefficients, terms, valve_position
from workbench import InputError, Scenario, linearize, simulate

CONTROL = machine("ieha-control").plant
TIGHT = replace(
    CONTROL, k_e=0.0, K_in=0.0, K_ex=0.0, pump=replace(CONTROL.pump, k_p=0.0)
)  # no leakage anywhere
ODD = replace(
    TIGHT,
    m=7.3,
    b_v=41.0,
    S_e=1.51e-4,
    V_A0=21e-6,
    V_B0=21e-6,
    S_A=1.9e-4,
    S_B=1.9e-4,
    pump=RadialPump(S_p=0.17e-4, k_p=0.0, ω=271.0, P_rp=7.1e5),
)


def test_coefficients_are_the_papers_with_its_2π_mended():
    K, p = coefficients(CONTROL), CONTROL
    S_c, S_p, ω, β, v_c = 2.356e-4, 0.197e-4, 100 * np.pi, 8e8, 23.562e-6
    assert np.isclose(K.K_10, 2 * np.pi * S_c / (2 * S_p * 15 * ω), rtol=1e-12)
    assert (
        np.isclose(K.K_11, 2 * np.pi * v_c / (4 * β * S_c * S_p * 15 * ω), rtol=1e-12)
        and K.K_11m == 10 * K.K_11
    )
    assert np.isclose(K.K_7, 0.18 * 2 * np.pi * 0.62 * 2.5e-3 * np.sqrt(1e6 / 840) * β, rtol=1e-12)
    assert np.isclose(K.K_8, 1.644e-4 * β) and np.isclose(K.K_9, 0.0822e-6 / (2 * 1.644e-4))
    assert abs(1 / K.K_10 - 125.4) < 0.05  # with the printed K_10 788: 2π too much
    assert np.isclose(K.K_p * 2e5 * 3e-4, -p.pump.mean_force(3e-4, 1e5, 1e5), rtol=1e-12)


@pytest.mark.parametrize("order", (6, 4))
@pytest.mark.parametrize("plant", (TIGHT, ODD))
def test_the_plant_and_its_inverse(plant, order):
    """What the plant of order six (four) does under X is a motion for which the inverse gives X."""
    rng, io = np.random.default_rng(2), InputOutput(plant, order)
    for _ in range(8):
        E = rng.normal() * 2e-4
        x = [
            0.01,
            E / coefficients(plant).K_10,
            *(rng.normal() * 0.05 * 100.0**k for k in range(1, order - 1)),
        ]
        F = [rng.normal() * 300 * 60.0**k for k in range(order - 1)]
        X = rng.normal() * 3e-4
        highest = io.rhs(0.0, x, [X, *F])[-1]
        assert abs(valve_position(plant, [*x, highest], F, reduced=order == 4) - X) < 1e-13


def motion(t):
    """A smooth motion Y … Y⁽⁶⁾ and force F … F⁽⁴⁾; the pump always delivers to A."""

    def wave(a, ω, n, start=0.0, slope=0.0):
        found = [a * ω**k * np.sin(ω * t + k * np.pi / 2) for k in range(n)]
        return [found[0] + start + slope * t, found[1] + slope, *found[2:]]

    return wave(0.2e-3, 2 * np.pi * 15, 7, slope=0.03), wave(150.0, 2 * np.pi * 10, 5, start=200.0)


class Fed:
    """Something computed from the motion, as an input."""

    def __init__(self, f):
        self.f = f

    def sample(self, t, order):
        return np.array([self.f(*motion(at)) for at in np.asarray(t)])[None, :, None]


def follow(plant, inverse):
    """Largest distance of the averaged plant from the motion when fed by the inverse, from a consistent start, m."""
    Y, F = motion(0.0)
    part = terms(plant, Y, F)
    P = part.P_L / 2
    shift = feedforward(plant, Y, F) - valve_position(plant, Y, F)
    ζ = part.drop * plant.valve.P_s / 2
    start = (part.E[0] + shift, part.E[1], ζ, P, -P, Y[0], Y[1])
    log = simulate(
        plant,
        Scenario(
            0.1,
            None,
            {"X": Fed(inverse), "F_ext": Fed(lambda Y, F: F[0])},
            start=start,
            log_period=2e-3,
        ),
    )
    wanted = np.array([motion(t)[0][0] for t in log.time])
    return np.abs(np.array(log["Y"]) - wanted).max()


def test_feedforward_moves_the_leak_free_plant_along():
    """3 mm with 0.2 mm of 15 Hz under 200 ± 150 N, without any feedback."""
    exact = follow(TIGHT, lambda Y, F: feedforward(TIGHT, Y, F))
    assert exact < 1.5e-6
    assert (
        follow(TIGHT, lambda Y, F: feedforward(TIGHT, Y, F, reduced=True)) < 2e-6
    )  # (25) leaves out next to nothing
    # The same without Ė, ζ̇ (the carriage's lag), and with 2 % more of K_10: both are seen.
    assert follow(TIGHT, lambda Y, F: terms(TIGHT, Y, F).E[0]) > 20 * exact
    fast = replace(TIGHT, pump=replace(TIGHT.pump, ω=1.02 * TIGHT.pump.ω))
    assert follow(TIGHT, lambda Y, F: feedforward(fast, Y, F)) > 20 * exact


def test_modes_and_gain_of_the_orders():
    six, four = (linearize(InputOutput(TIGHT, n), [0.0] * n) for n in (6, 4))
    own = np.linalg.eigvals(linearize(TIGHT, [0.0] * 7).A)
    for L in (six, four):
        modes = np.linalg.eigvals(L.A)
        load = modes[np.argmin(abs(modes - 614j))]
        assert abs(load - own[np.argmin(abs(own - 614j))]) < 1.0
        A, B = L.A[1:, 1:], L.B[1:, :1]
        assert abs(-np.linalg.solve(A, B)[0, 0] / 125.4 - 1) < 0.002
    carriage = own[np.argmax(own.imag)]
    modes = np.linalg.eigvals(six.A)
    assert abs(modes[np.argmax(modes.imag)] / carriage - 1) < 1e-3
    assert (
        np.abs(np.linalg.eigvals(four.A)).max() < 1e3
    )  # the carriage's mode is what (25) leaves out


def test_as_a_plant_it_runs():
    ends = []
    for n in (6, 4):
        log = simulate(
            InputOutput(TIGHT, n),
            Scenario(0.3, disturbances={"X": 4e-4, "F_ext": 50.0}, log_period=0.05),
        )
        ends.append([float(log["Y"][-1]), float(log["P_AB"][-1])])
    assert abs(ends[0][0] - ends[1][0]) < 3e-6 and 0.0149 < ends[0][0] < 0.0151
    assert np.allclose(np.array(ends)[:, 1], (50 + 375 * 0.0501) / 2.356e-4, rtol=0.03)


@pytest.mark.parametrize(
    "ask, words",
    (
        (lambda: feedforward(machine("ieha-figures").plant, [0.0] * 7), "closed"),
        (lambda: feedforward(CONTROL, [0.0] * 6), "derivatives"),
        (lambda: valve_position(CONTROL, [0.0] * 7, [0.0] * 4), "derivatives"),
        (lambda: InputOutput(machine("ieha-figures").plant), "closed"),
    ),
)
def test_refusals(ask, words):
    with pytest.raises(InputError, match=words):
        ask()
    with pytest.raises(ValueError, match="order"):
        InputOutput(CONTROL, 5)
