"""Wrappers against closed forms and scipy.signal; what cannot work is refused when built."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import signal
from small import Feedback, Linear

from workbench import (
    ClosedLoop,
    Controller,
    Delayed,
    Filtered,
    InputError,
    Noisy,
    Quantised,
    Sampled,
    Saturated,
    Scenario,
    Signal,
    simulate,
)
from workbench.contract.system import innermost

PLANT = Linear(
    ((0.0, 1.0), (-3.0, -0.4)), ((0.0,), (1.3,)), ((1.0, 0.0), (0.0, 1.0)), x0=(0.4, -0.1)
)


@dataclass(frozen=True)
class Through(Controller):
    """u = y, for measurements of any names."""

    named: tuple[str, ...] = ("p_a", "p_b", "q")

    @property
    def measured(self):
        return tuple(Signal(n) for n in self.named)

    @property
    def commands(self):
        return tuple(Signal(f"u_{n}") for n in self.named)

    def command(self, t, z, y, r):
        return list(y)


@dataclass(frozen=True)
class Counter(Controller):
    """A sampled law with memory: u_k = k + 1 (and a drift)."""

    measured = (Signal("y0"),)
    commands = (Signal("u0", "V"),)
    states = (Signal("count"),)

    def step(self, t, z, y, r):
        return [z[0] + 1.0], [z[0] + 1.0]


def stepped(law, inputs, T=0.01, references=None):
    """Commands of a law stepped through measurements (N, m)."""
    z = law.start(
        0.0,
        list(law.initial()),
        list(inputs[0]),
        list(references[0]) if references is not None else [],
    )
    found = []
    for k, y in enumerate(inputs):
        z, u = law.step_at(
            T, k * T, z, list(y), list(references[k]) if references is not None else []
        )
        found.append([float(v) for v in u])
    return np.array(found)


# ---- filter ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("damping", (0.4, 1.0, 1.7))
def test_filter_is_the_bilinear_transform(damping):
    """Trapezoidal rule on the newest measurement: scipy's bilinear filter of u with (u_k + u_{k−1})/2 = y_k."""
    T, ω, n = 0.003, 2 * np.pi * 24.0, 400
    b, a = signal.bilinear([ω**2], [1, 2 * damping * ω, ω**2], 1 / T)
    u = np.concatenate([[0.0], np.random.default_rng(1).normal(size=n)])
    y = (u[1:] + u[:-1]) / 2
    y[0], u[1] = 0.0, 0.0
    y = (u[1:] + u[:-1]) / 2
    found = stepped(Filtered(Through(("p",)), 24.0, damping), y[:, None], T)[:, 0]
    assert found == pytest.approx(signal.lfilter(b, a, u)[1:], rel=1e-9, abs=1e-12)


def test_continuous_filter_has_its_transfer_function():
    ω, ζ = 2 * np.pi * 3.0, 0.6
    law = Filtered(Through(("p",)), 3.0, ζ)
    t = np.linspace(0, 1, 2001)
    exact = signal.step(signal.TransferFunction([ω**2], [1, 2 * ζ * ω, ω**2]), T=t)[1]
    z, h, found = [0.0, 0.0], t[1], []
    for _ in t:
        found.append(law.command(0.0, z, [1.0], [])[0])
        half = [v + h / 2 * d for v, d in zip(z, law.rhs(0.0, z, [1.0], []))]
        z = [v + h * d for v, d in zip(z, law.rhs(0.0, half, [1.0], []))]
    assert np.abs(np.array(found) - exact).max() < 1e-4


def test_filter_starts_settled_and_only_on_its_signals():
    law = Filtered(Through(), 20.0, signals=("p",))
    y = np.tile([3.0, -2.0, 0.7], (50, 1))
    assert stepped(law, y) == pytest.approx(y, rel=1e-13)
    y[10:] += 1.0
    found = stepped(law, y)
    assert (
        found[10, 2] == 1.7
        and found[10, 0] < 3.9
        and found[-1] == pytest.approx([4.0, -1.0, 1.7], abs=1e-3)
    )
    assert [s.name for s in law.states] == [
        "p_a_filtered",
        "dp_a_filtered",
        "p_b_filtered",
        "dp_b_filtered",
    ]
    with pytest.raises(InputError, match="none of x is measured"):
        Filtered(Through(), 20.0, signals=("x",)).states  # noqa: B018


# ---- quantiser, saturation -------------------------------------------------------------------------------------------
def test_quantiser_rounds_to_the_nearest_step():
    law = Quantised(Through(), 0.25, ("p_a", "q"))
    y = np.array([[0.1249, 0.13, 0.126], [-0.1251, 7.77, -0.374], [1.0, 1.03, 3.3749]])
    assert np.array_equal(
        stepped(law, y), [[0.0, 0.13, 0.25], [-0.25, 7.77, -0.25], [1.0, 1.03, 3.25]]
    )
    rng = np.random.default_rng(2)
    y = rng.normal(size=(500, 3))
    error = stepped(Quantised(Through(), 0.01), y) - y
    assert np.abs(error).max() <= 0.005 + 1e-15 and np.std(error) == pytest.approx(
        0.01 / np.sqrt(12), rel=0.05
    )


def test_saturation():
    y = np.array([[-3.0, 0.2, 9.0]])
    assert np.array_equal(stepped(Saturated(Through(), -1.5, 4.0), y), [[-1.5, 0.2, 4.0]])
    assert Saturated(Through(), -1.5, 4.0).command(0.0, [], y[0], []) == [-1.5, 0.2, 4.0]
    with pytest.raises(ValueError, match="low: 4 must be below high, -4"):
        Saturated(Through(), 4.0, -4.0)


# ---- noise -----------------------------------------------------------------------------------------------------------
def noisy_run(σ, seed, n=4000):
    """What the law saw less what was there."""
    law = Noisy(Feedback(PLANT, ((-1.0, 0.0),)), σ, ("y0",))
    log = simulate(ClosedLoop(PLANT, Sampled(law, 1e-3)), Scenario((n - 1) * 1e-3, seed=seed))
    return log.array("u0") - log.array("x0")


def test_noise_is_white_gaussian_and_seeded():
    from scipy.stats import kstest

    n = noisy_run(0.02, 7)
    assert np.array_equal(n, noisy_run(0.02, 7)) and not np.array_equal(n, noisy_run(0.02, 8))
    assert kstest(n / 0.02, "norm").pvalue > 1e-3
    assert np.abs(np.correlate(n, n, "full")[len(n) : len(n) + 20]).max() / (n @ n) < 5 / np.sqrt(
        len(n)
    )
    assert noisy_run(0.06, 7) == pytest.approx(
        3 * n, rel=1e-9, abs=1e-13
    )  # σ scales the same draws
    assert np.abs(noisy_run(0.0, 7)).max() < 1e-15
    assert noisy_run(0.02, 7, 1000) == pytest.approx(
        n[:1000], abs=1e-15
    )  # the length of the run does not matter


def test_noise_and_quantiser_in_either_order():
    y, r = np.array([[0.4, 0.6, 0.2]]), np.array([[1.0, -1.0, 0.5]])
    inside = Quantised(Noisy(Through(), 0.03), 0.1)  # quantised first, then noise
    outside = Noisy(Quantised(Through(), 0.1), 0.03)  # noise first, then quantised
    assert stepped(inside, y, references=r)[0] == pytest.approx([0.43, 0.57, 0.215])
    assert stepped(outside, y + 0.03, references=r)[0] == pytest.approx([0.5, 0.6, 0.2])
    assert [s.name for s in outside.references] == ["noise_p_a", "noise_p_b", "noise_q"]


# ---- hold and delay --------------------------------------------------------------------------------------------------
def test_delay_is_a_queue():
    """A counting law: what is applied at sample k is k + 1 − delay/T, fractions from `lag` on."""
    plant = Linear(((0.0,),), ((1.0,),), ((1.0,),), x0=(0.0,))
    for delay in (0.0, 0.1, 0.3, 0.25):
        law = Delayed(Sampled(Counter(), 0.1), delay)
        log = simulate(ClosedLoop(plant, law), Scenario(1.0))
        k, whole = np.arange(11), int(delay / 0.1 + 1e-9)
        assert np.array_equal(log.array("count"), k + 1) and np.array_equal(
            log.array("u0_held"), k + 1
        )
        late = delay > 0.1 * whole + 1e-9
        assert np.array_equal(log.array("u0_applied"), np.maximum(k + 1 - whole - late, 0))
        assert law.lag == pytest.approx(delay - 0.1 * whole, abs=1e-12)
        given = np.maximum(k + 1 - whole, 0) * (0.1 - law.lag) + np.maximum(k - whole, 0) * law.lag
        assert log.array("x0")[1:] == pytest.approx(np.cumsum(given)[:-1], rel=1e-12, abs=1e-14)


def test_hold_keeps_memory_and_units():
    law = Sampled(Counter(), 0.1)
    assert [(s.name, s.unit) for s in law.states] == [("count", "1"), ("u0_held", "V")]
    assert law.update(0.0, [4.0, 9.0], [0.0], []) == [5.0, 5.0] and law.command(
        0.0, [4.0, 9.0], None, None
    ) == [9.0]
    assert innermost(Delayed(Sampled(Saturated(Counter()), 0.1), 0.05)) == Counter()


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda law: Delayed(law, 0.01), "needs a sampled controller"),
        (lambda law: Delayed(Saturated(law), 0.01), "needs a sampled controller"),
        (lambda law: Delayed(Delayed(Sampled(law), 1e-3), 1e-3), "add the two delays up"),
        (lambda law: Sampled(Sampled(law)), "sampled already"),
        (lambda law: Sampled(Delayed(Sampled(law), 1e-3)), "sampled already"),
        (lambda law: Quantised(Sampled(law), 1e-3), "Sampled\\(Quantised"),
        (lambda law: Saturated(Sampled(law)), "sampled already"),
        (lambda law: Noisy(Delayed(Sampled(law), 1e-3), 1e-3), "sampled already"),
        (lambda law: Filtered(Sampled(law)), "sampled already"),
        (lambda law: Sampled(law, 0.0), "T_s: .*greater than zero"),
        (lambda law: Delayed(Sampled(law), -1e-3), "zero or greater"),
        (lambda law: Noisy(law, -1.0), "zero or greater"),
        (lambda law: Filtered(law, 0.0), "greater than zero"),
        (lambda law: Quantised(law, float("nan")), "finite"),
    ],
)
def test_what_cannot_work_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build(Feedback(PLANT, ((1.0, 0.2),)))


def test_a_sampled_law_without_a_continuous_form():
    with pytest.raises(InputError, match="sampled law without a continuous form"):
        simulate(ClosedLoop(PLANT, Counter()), Scenario(0.1))
    from small import Feedback as Continuous

    class Memory(Continuous):
        states = (Signal("m"),)

    with pytest.raises(InputError, match="memory but no sampled form"):
        simulate(ClosedLoop(PLANT, Sampled(Memory(PLANT, ((1.0, 0.2),)))), Scenario(0.1))


def test_two_noises_on_one_signal_are_refused(two_joint):
    from controllers import VDC
    from workbench import ClosedLoop, InputError, Noisy, Sampled

    with pytest.raises(InputError, match="enters twice"):
        ClosedLoop(two_joint, Sampled(Noisy(Noisy(VDC(two_joint), 1e3, ("p",)), 2e3, ("p_a1",))))
    ClosedLoop(two_joint, Sampled(Noisy(Noisy(VDC(two_joint), 1e3, ("p",)), 1e-4, ("q",))))
