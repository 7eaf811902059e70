"""Delay margins of sampled loops: never beyond the first failure, found by brute force over fractions of a sample."""

import numpy as np
import pytest
from small import Feedback, Linear

from controllers import PID
from workbench import ClosedLoop, Delayed, InputError, Sampled, Saturated, Scenario
from workbench.contract.wrappers import MOST_HELD
from workbench.verification import claims as C
from workbench.verification.judge import verify
from workbench.verification.linear.delay_margin import LateCommand, delay_margin
from workbench.verification.linear.margins import loop_margins
from workbench.verification.linear.sampled_data import _delays, sampled
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.practical.limits.claims import queue


def drawn(seed):
    """A random plant of 1 to 4 states under u = −K y, which is stable with its own delay; None where it is not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    A = 5 * rng.normal(size=(n, n))
    A -= (np.linalg.eigvals(A).real.max() + rng.choice([-0.3, 0.0, 0.5, 2.0])) * np.eye(n)
    B, C_ = rng.normal(size=(n, 1)), rng.normal(size=(1, n))
    K = float(rng.normal() * 10 ** rng.uniform(-1, 1.5))
    T = float(rng.choice([0.005, 0.02, 0.1]))
    own = float(rng.choice([0.0, 0.3, 1.7, 2.0])) * T
    found = A, B, C_, K, T, own
    return found if radius(found, 0.0) < 1 - 1e-6 else None


def radius(plant, more):
    A, B, C_, K, T, own = plant
    s = sampled(A, B, C_, [[0.0]], T, own + more)
    return np.abs(np.linalg.eigvals(s.A - K * s.B @ s.C)).max()


def margin(plant):
    A, B, C_, K, T, own = plant
    s = sampled(A, B, C_, [[0.0]], T)
    return delay_margin(
        LateCommand(A, B[:, 0], s.A - K * s.B @ s.C, -K * s.C[0], np.eye(len(A)), T, own)
    )


STABLE = [seed for seed in range(340) if drawn(seed) is not None][:200]


@pytest.mark.parametrize(
    "part", [0, 1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_no_delay_below_the_margin_destabilises_and_one_above_does(part):
    """200 plants: exact sampling at 16 delays below, fractions of the first samples among them, and right above."""
    for seed in STABLE[part::4]:
        plant = drawn(seed)
        T, found = plant[4], margin(plant)
        assert found.found, seed
        most = min(found.lower * (1 - 1e-6), 40 * T)
        below = np.concatenate([np.linspace(0, most, 8), np.linspace(0, min(most, 2 * T), 8)])
        assert all(radius(plant, τ) < 1 for τ in below), seed
        if found.lower < 40 * T:
            above = found.lower + np.array([1e-3, 3e-3, 1e-2, 2e-2]) * max(found.lower, T)
            assert max(radius(plant, τ) for τ in above) >= 1 - 1e-9, seed


@pytest.mark.parametrize("seed, share", [(78, 200), (368, 10)])
def test_the_factor_e_to_the_minus_jωτ_overstates_it(seed, share):
    """Plants faster than the samples: a fraction of a sample of delay destabilises, the usual margin says samples."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    A = rng.normal(size=(n, n)) * 10 ** rng.uniform(0.5, 2)
    A -= (np.linalg.eigvals(A).real.max() + rng.choice([0, 0.5, 5])) * np.eye(n)
    B, C_ = rng.normal(size=(n, 1)), rng.normal(size=(1, n))
    plant = A, B, C_, float(rng.normal() * 10 ** rng.uniform(0, 2.5)), 0.05, 0.0
    s = sampled(A, B, C_, [[0.0]], 0.05)
    usual = loop_margins(LinearSystem(s.A, s.B, plant[3] * s.C, [[0.0]], 0.05)).delay_margin
    found = margin(plant)
    assert usual > share * found.lower
    assert radius(plant, 0.999 * found.lower) < 1 < radius(plant, 1.01 * found.lower)


@pytest.mark.quick
def test_against_the_closed_form_of_an_integrator():
    """x⁺ = x − K T u: late by d T + τ', the edge for K T = 1 and one sample is the golden ratio's polynomial."""

    def integrator(KT):
        one = np.eye(1)
        return delay_margin(
            LateCommand(0 * one, np.ones(1), (1 - KT) * one, -np.array([KT]), one, 1.0)
        )

    # z² − z + KT(1 − τ) z + KT τ = 0 for a delay τ < 1: |product of roots| = KT τ reaches 1 at τ = 1/KT.
    assert integrator(1.25).lower == pytest.approx(0.8, rel=1e-3) and integrator(1.25).lower <= 0.8
    # One whole sample: KT = 1 is the edge.
    assert integrator(1.0).lower == pytest.approx(1.0, rel=1e-3)
    # In slow loops the hold is half a sample: π/2 = K (τ + T/2).
    assert integrator(0.01).lower == pytest.approx(np.pi / 2 / 0.01 - 0.5, rel=1e-3)


def test_where_no_delay_destabilises_the_margin_is_infinite():
    """Small gain: |L| < 1 at all frequencies."""
    A = np.array([[-2.0]])
    s = sampled(A, [[1.0]], [[1.0]], [[0.0]], 0.1)
    found = delay_margin(
        LateCommand(A, np.ones(1), s.A - 1.9 * s.B, np.array([-1.9]), np.eye(1), 0.1)
    )
    assert found.lower == np.inf and found.found
    edge = delay_margin(
        LateCommand(A, np.ones(1), s.A - 2.1 * s.B, np.array([-2.1]), np.eye(1), 0.1)
    )
    assert np.isfinite(edge.lower)


def test_a_search_that_ends_early_reports_what_is_certain():
    seed = next(
        s for s in STABLE if np.isfinite(margin(drawn(s)).lower) and margin(drawn(s)).boxes > 100
    )
    A, B, C_, K, T, own = drawn(seed)
    s = sampled(A, B, C_, [[0.0]], T)
    c = LateCommand(A, B[:, 0], s.A - K * s.B @ s.C, -K * s.C[0], np.eye(len(A)), T, own)
    whole = delay_margin(c)
    for boxes in (1, 20, 60):
        part = delay_margin(c, boxes)
        assert not part.found and part.boxes == boxes and 0 <= part.lower <= whole.lower


# ---- the claim -----------------------------------------------------------------------------------
def rows(loop):
    (v,) = verify(loop, Scenario(duration=0.1), [C.LinearStability()])
    return v.data["margins"], v


def test_several_commands_each_have_their_own():
    """Two commands, each late alone while the other keeps the loop's delay: stable below, unstable right above."""
    A, B, C_ = ((-0.4, 1.1), (-0.6, -0.2)), ((1.0, 0.2), (0.1, 0.8)), ((1.0, 0.0), (0.0, 1.0))
    plant = Linear(A, B, C_, x0=(0.0, 0.0))
    K, T, own = np.array([[2.1, 0.3], [-0.2, 3.3]]), 0.05, 0.02
    found, _ = rows(
        ClosedLoop(plant, Delayed(Sampled(Feedback(plant, tuple(map(tuple, K))), T), own))
    )

    def late(i, τ):
        s = sampled(A, B, C_, np.zeros((2, 2)), T, own + τ * np.eye(2)[i])
        return np.abs(np.linalg.eigvals(s.A - s.B @ K @ s.C)).max()

    assert [r["actuator"] for r in found] == ["u0", "u1"] and found[0]["delay"] > 1.2 * found[1][
        "delay"
    ]
    for i, r in enumerate(found):
        assert (
            r["delay_found"]
            and max(late(i, s * r["delay"]) for s in np.linspace(0, 0.9999, 40)) < 1
        )
        assert late(i, 1.01 * r["delay"]) > 1


def test_long_delays_and_short_samples_take_a_short_time():
    """60 ms of delay at 1 ms, and 1/(s + 1) under P control at 1 ms, whose margin is 361 samples."""
    lag = Linear(((-1.0,),), ((1.0,),), ((1.0,),), x0=(0.0,))
    law = PID(lag, K_p=(5.0,), K_i=(0.0,), feed="none", damping="none", u_max=9.0)
    (slow,), v = rows(ClosedLoop(lag, Sampled(law, 1e-3)))
    ω = np.sqrt(24.0)
    assert slow["delay"] == pytest.approx((np.pi - np.arctan(ω)) / ω - 0.5e-3, rel=1e-3)
    assert "delay 0.361 s" in v.worst
    (late,), _ = rows(ClosedLoop(lag, Delayed(Sampled(law, 1e-3), 60e-3)))
    assert late["delay"] == pytest.approx(slow["delay"] - 60e-3, rel=1e-3)


def test_no_semidefinite_program_is_posed_for_many_states():
    lag = Linear(((-1.0,),), ((1.0,),), ((1.0,),), x0=(0.1,))
    loop = ClosedLoop(
        lag, Delayed(Sampled(Saturated(Feedback(lag, ((3.0,),)), -1.0, 1.0), 1e-3), 40e-3)
    )
    for v in verify(loop, Scenario(duration=0.1), [C.RegionOfAttraction(), C.Sector(0.5, 1.5)]):
        assert v.holds is None and "states" in v.worst and "24" in v.worst, v.worst


def test_a_queue_holds_every_delay_that_can_be_held():
    for samples in [0.0, 0.5, 8.0, 8.01, 100.0, 512.5, MOST_HELD - 1, MOST_HELD]:
        assert samples <= queue(samples) <= MOST_HELD, samples
    assert queue(3.0) == queue(8.0)  # near delays share one graph


def test_a_delay_of_more_samples_than_a_plant_may_have_states_is_refused():
    """One state and 3999 samples of delay, over both inputs, are the most."""
    A, B = np.array([[-1.0]]), np.ones((1, 2))
    taken = _delays((999.5, 1000.0), 0.5, 1, 2)
    assert taken == pytest.approx([999.5, 1000.0])
    with pytest.raises(InputError, match="1000.5 s holds 2e.03 samples of 0.5 s.*4000 states are"):
        sampled(A, B, A, np.zeros((1, 2)), 0.5, (999.5, 1000.5))
