"""Relay experiments: exact oscillations of linear plants, python-control's critical gains, what must be refused; rules."""

import control
import numpy as np
import pytest
from scipy.optimize import brentq
from small import Linear

from controllers import PID
from controllers.pid_tuning import ByRelay, Relay, gains, relay
from controllers.pid_tuning.oscillation import limit_cycle
from workbench import ClosedLoop, Delayed, InputError, Sampled, Scenario, load, simulate
from workbench.cases.file import loads

s = control.tf("s")
THREE = 3.1 / ((0.21 * s + 1) * (0.47 * s + 1) * (1.3 * s + 1))
INTEGRATING = 0.7 / (s * (0.31 * s + 1) * (0.12 * s + 1))


def plant(G, x0=None):
    """A transfer function (or state space) as a system that starts at 0."""
    g = control.ss(G)
    rows = lambda M: tuple(tuple(float(v) for v in row) for row in np.atleast_2d(M))
    return Linear(rows(g.A), rows(g.B), rows(g.C), x0=x0 or (0.0,) * g.nstates)


def half_period(G, ε, d, delay=0.0):
    """Shortest h > delay with −y(h) = ε in the symmetric oscillation ±d of period 2h, from the linear plant's own solution.

    [AstromHagglund84]: x(0) = −x(h), u = d from `delay` on (−d before it), y(h) = C x(h).
    """
    g = control.ss(G)
    n = g.nstates

    def y_at(h):
        def flow(t):
            M = np.zeros((n + 1, n + 1))
            M[:n, :n], M[:n, n:] = g.A, g.B
            E = np.linalg.matrix_power(_expm(M * t / 64), 64)
            return E[:n, :n], E[:n, n]

        (A1, b1), (A2, b2) = flow(delay), flow(h - delay)
        fixed = A2 @ (-b1 * d) + b2 * d  # x(h) = A2 A1 x(0) + fixed = −x(0)
        x0 = -np.linalg.solve(np.eye(n) + A2 @ A1, fixed)
        return float((g.C @ -x0).item()) - ε

    grid = np.geomspace(max(delay, 1e-3) * 1.01, 30.0, 400)
    values = [y_at(h) for h in grid]
    k = next(k for k in range(len(grid) - 1) if values[k] < 0 < values[k + 1])
    return brentq(y_at, grid[k], grid[k + 1])


def _expm(M):
    from scipy.linalg import expm

    return expm(M)


# ---- exact ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("G", [THREE, INTEGRATING])
@pytest.mark.parametrize("ε", [0.0, 0.03])
def test_period_is_that_of_the_exact_oscillation_to_a_sample(G, ε):
    T = 4e-3
    found = relay(plant(G), 0.8, ε, T_s=T)
    assert found.settled and found.symmetric
    # A sampled relay switches up to a sample late: between the oscillations without and with that delay.
    early, late = 2 * half_period(G, ε, 0.8), 2 * half_period(G, ε, 0.8, T)
    assert early - 1e-9 <= found.T_u <= late + 2 * T
    assert late - early < 0.03 * early  # the bracket says something


@pytest.mark.parametrize("G", [THREE, INTEGRATING])
@pytest.mark.parametrize("delay", [0.0, 0.013])
def test_response_is_the_plants_own_at_that_frequency(G, delay):
    T = 4e-3
    p = plant(G)
    law = Sampled(PID(p, feed="none", damping="none", u_max=9.0), T)
    found = relay(ClosedLoop(p, Delayed(law, delay) if delay else law), 0.8, 0.02)
    exact = complex(G(1j * found.ω)) * np.exp(-1j * found.ω * delay)
    assert abs(found.response / exact - 1) < 1e-4
    assert found.ω * found.T_u == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("G", [THREE, INTEGRATING])
def test_critical_gain_is_near_the_true_one(G):
    K, _, ω, _ = control.margin(G)
    found = relay(plant(G), 0.8, T_s=1e-3)
    assert found.K_u == pytest.approx(K, rel=0.06) and found.T_u == pytest.approx(
        2 * np.pi / ω, rel=0.03
    )
    # Without hysteresis 1/|G| at the frequency of the run is the same number, up to the relay's own rounding.
    assert found.K_u == pytest.approx(1 / abs(found.response), rel=2e-3)


def test_hysteresis_is_corrected_for():
    """K_u = 4d/π√(a² − ε²) is −1/Re G of the describing function; ignoring ε the answer is another one."""
    found = relay(plant(THREE), 0.8, 0.15, T_s=1e-3)
    assert found.K_u == pytest.approx(-1 / found.response.real, rel=0.02)
    naive = 4 * 0.8 / (np.pi * found.amplitude)
    assert abs(naive / found.K_u - 1) > 0.05


def test_sampling_error_is_of_first_order():
    exact = 2 * half_period(THREE, 0.02, 0.8)
    T = np.array([0.016, 0.008, 0.004, 0.002])
    off = np.array([relay(plant(THREE), 0.8, 0.02, T_s=t).T_u - exact for t in T])
    assert (off >= -1e-9).all() and (off <= 4 * T).all() and off[-1] < off[0] / 3


def test_bias_makes_it_uneven_and_is_allowed_for():
    even, uneven = (relay(plant(THREE), 0.8, bias=b, T_s=1e-3) for b in (0.0, 0.4))
    assert even.symmetric and not uneven.symmetric
    exact = complex(THREE(1j * uneven.ω))
    assert abs(uneven.response / exact - 1) < 1e-3
    assert uneven.K_u == pytest.approx(even.K_u, rel=0.15)


def test_around_another_point():
    p = plant(INTEGRATING)
    found = relay(p, 0.8, T_s=4e-3, at={"x0": 1.7, "x1": 0.0, "x2": 0.0})
    still = relay(p, 0.8, T_s=4e-3)
    assert found.settled and found.T_u == pytest.approx(still.T_u, abs=0.009)


def test_at_another_pose_of_the_crane():
    loop = loads(
        "plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}\ncontroller: {law: PID}\n"
    ).loop
    up, down = (relay(loop, 0.8, command="u_1", at={"q_1": q}) for q in ("-1.0 rad", "-1.6 rad"))
    assert up.settled and down.settled and abs(up.K_u / down.K_u - 1) > 0.02
    y = [relay_log.log.array("x_1")[0] for relay_log in (up, down)]
    assert y == [
        float(loop.plant.task("piston", [q, loop.plant.initial()[1]])[0]) for q in (-1.0, -1.6)
    ]


# ---- no limit cycle -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "G, how, words",
    [
        (2.0 / (0.3 * s + 1), {}, "it is the sampling that oscillates"),
        (1 / s**2, {}, "the swing grows"),
        (THREE, {"hysteresis": 50.0}, "never switched"),
        (THREE, {"bias": 5.0}, "switched|does not come back"),
    ],
)
def test_says_why_none_settled(G, how, words):
    import re

    found = relay(plant(G), 0.8, **how, T_s=0.01, longest=60.0)
    assert (
        not found.settled
        and re.search(words, found.why)
        and found.K_u is None
        and found.response is None
    )


def test_a_divergence_is_no_limit_cycle():
    found = relay(plant(1 / (s - 2.0)), 0.01, T_s=0.01, at={"x0": 0.2}, longest=2000.0)
    assert not found.settled and found.why


@pytest.mark.parametrize("longest, settled", [(5.0, False), (200.0, True)])
def test_a_run_is_as_long_as_it_needs_and_no_longer_than_allowed(longest, settled):
    """One period of the swing takes more than two seconds, several must agree."""
    found = relay(plant(THREE), 0.8, 0.02, T_s=0.01, longest=longest)
    assert found.settled is settled
    ended = found.log.time[-1]
    assert 8.0 < ended < longest if settled else ended == pytest.approx(longest)


def test_a_decaying_or_uneven_swing_has_not_settled():
    t = np.arange(4000) * 0.01
    wave = np.sin(2 * np.pi * t / 1.3)
    side = np.where(wave > 0, 1.0, -1.0)
    assert limit_cycle(t, side, wave, side).settled
    for envelope in (np.exp(-0.05 * t), np.exp(0.05 * t), 1 + 0.1 * np.sin(0.7 * t)):
        assert not limit_cycle(t, side, wave * envelope, side).settled


@pytest.mark.parametrize(
    "how, words",
    [
        ({"amplitude": -1.0}, "amplitude: .*greater than zero"),
        ({"hysteresis": -1.0, "amplitude": 1.0}, "hysteresis: .*zero or greater"),
        ({}, "how large"),
        ({"amplitude": 1.0, "command": "u7"}, "there is no signal 'u7'"),
        ({"amplitude": 1.0, "output": "y7"}, "there is no signal 'y7'"),
        ({"amplitude": 1.0, "at": {"x9": 1.0}}, "there is no signal 'x9'"),
    ],
)
def test_refused(how, words):
    with pytest.raises(InputError, match=words):
        relay(plant(THREE), **how)


def test_loops_that_cannot_take_a_relay():
    p = plant(THREE)
    pid = PID(p, feed="none", damping="none", u_max=2.0)
    with pytest.raises(InputError, match="continuous"):
        relay(ClosedLoop(p, pid), 0.5)
    with pytest.raises(InputError, match="leave the limit of u0"):
        relay(ClosedLoop(p, Sampled(pid, 0.01)), 1.5, bias=1.0)
    with pytest.raises(InputError, match="takes the place of a PID"):
        relay(ClosedLoop(p, Sampled(lambda t, y, r: [0.0], 0.01)), 0.5)


def test_compiled_and_interpreted_runs_agree():
    found = relay(plant(THREE), 0.8, 0.02, T_s=0.01, longest=20.0)
    p = plant(THREE)
    loop = ClosedLoop(
        p,
        Sampled(
            Relay(
                PID(p, (0.0,), (0.0,), feed="none", damping="none"),
                p.outputs[0],
                p.inputs[0],
                0.8,
                0.02,
            ),
            0.01,
        ),
    )
    log = simulate(loop, Scenario(float(found.log.time[-1]), max_step=1e-3), compiled=False)
    np.testing.assert_allclose(log.array("e_relay"), found.log.array("e_relay"), atol=1e-6)


# ---- rules ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rule, structure, expected",
    [  # K_u = 2.4, T_u = 3.5 s, by hand
        ("ziegler-nichols", "P", (1.2, 0.0, 0.0)),
        ("ziegler-nichols", "PI", (1.08, 1.08 * 1.2 / 3.5, 0.0)),
        ("ziegler-nichols", "PID", (1.44, 1.44 * 2 / 3.5, 1.44 * 3.5 / 8)),
        ("tyreus-luyben", "PI", (0.75, 0.75 / 7.7, 0.0)),
        ("tyreus-luyben", "PID", (2.4 / 2.2, 2.4 / 2.2 / 7.7, 2.4 / 2.2 * 3.5 / 6.3)),
        ("astrom-hagglund", "PI", (0.528, 0.16 * 2.4 / 3.5, 0.0)),
        ("astrom-hagglund", "PID", (0.72, 0.72 / 2.1, 0.72 * 0.525)),
    ],
)
def test_rules(rule, structure, expected):
    found = gains(2.4, 3.5, rule, structure, N=7.0)
    assert found[:3] == pytest.approx(expected)
    assert found.τ == pytest.approx(found.K_d / found.K_p / 7.0)


@pytest.mark.parametrize(
    "given, words",
    [
        ((2.0, 1.0, "zn"), "no rule 'zn'"),
        ((2.0, 1.0, "tyreus-luyben", "P"), "no rule"),
        ((0.0, 1.0), "K_u: 0.0"),
        ((2.0, float("inf")), "T_u: inf"),
        ((2.0, 1.0, "tyreus-luyben", "PI", 0.0), "N: 0.0"),
    ],
)
def test_rules_refused(given, words):
    with pytest.raises(InputError, match=words):
        gains(*given)


def test_gains_of_a_loop_by_rule():
    loop = load("examples/ieha-pid.yaml").loop
    found = ByRelay(rule="ziegler-nichols", structure="PID", amplitude="0.1 mm").tune(loop)
    seen = found.experiments[0]
    wanted = gains(seen.K_u, seen.T_u, "ziegler-nichols", "PID")
    assert found.law.K_p[0] == pytest.approx(wanted.K_p, rel=1e-3) and found.law.K_d[
        0
    ] == pytest.approx(wanted.K_d, rel=1e-3)
    assert (
        found.asked is None and not found.met and found.disk < 0.5
    )  # a rule promises nothing, and this one gives little
    with pytest.raises(InputError, match="amplitude: a length was expected"):
        ByRelay(amplitude="1 V").tune(loop)
    with pytest.raises(InputError, match="relay on X: no limit cycle"):
        ByRelay(hysteresis="10 cm").tune(loop)
