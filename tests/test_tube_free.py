"""Noise of what is measured, and dead times that are known to bounds: tubes hold for all of them, and for no others."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.test_tube import ASKED, SINE, Integral, Throttled, asked, loop
from workbench import ClosedLoop, Delayed, InputError, Sampled, simulate
from workbench.numerics.calculus import trace
from workbench.verification.run import run
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker import words
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.checker.section import Refused, constant
from workbench.verification.tube.claim_settings import check_asked, free
from workbench.verification.tube.opened import noisy

LOUD = replace(ASKED, noise={"y": 2e-4})
LATE = replace(ASKED, delay=(0.0035, 0.0045))
T = 0.01


@dataclass(frozen=True)
class Smooth(Throttled):
    """ṗ = u √(3 − p) − k p, ẏ = p − b y."""

    def rhs(self, t, x, u):
        p, y = x
        return [u[0] * np.sqrt(3.0 - p) - self.k * p, p - self.b * y]


def late(delay=0.004, T=T):
    return ClosedLoop(Smooth(), Delayed(Sampled(Integral(T=T), T), delay=delay, capacity=1))


def certified(tmp_path_factory, system, claim):
    path = str(tmp_path_factory.mktemp("tube") / "tube.npz")
    verdict = asked(system, replace(claim, certificate=path))
    assert verdict.holds and verdict.data["ends"] == "period", verdict
    return verdict, files.load(path)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    return certified(tmp_path_factory, loop(), ASKED)


@pytest.fixture(scope="module")
def loud(tmp_path_factory):
    return certified(tmp_path_factory, loop(), LOUD)


@pytest.fixture(scope="module")
def delayed(tmp_path_factory):
    return certified(tmp_path_factory, late(), LATE)


# ---- noise -------------------------------------------------------------------------------------------------------------
def heard(c, noise, offset):
    """States before every sample of a run whose measurements are off by `noise`, by steps of its own."""
    made = run(loop(), SINE)
    other = noisy(made.loop, free(LOUD, made.loop).noises)
    traced = trace(other, (*made.demand.live, "noise_y"))
    known = traced.constants(other)
    w = np.asarray(made.demand.at(made.log.time)).reshape(len(made.log.time), -1)
    start = made.demand.start + np.array([*offset, 0.0, 0.0])
    x = np.array(traced.start(0.0, start, [*w[0], noise[0]], known)).ravel()
    found = []
    for k in range(len(c.z)):
        found.append(x[c.section[:3]])
        x = np.array(traced.jump(k * T, x, [*w[k], noise[k]], known)).ravel()
        for _ in range(4):
            x = stepped(lambda v: np.array(traced.flow(0.0, v, [0.0, 0.0], known)).ravel()[:4], x)
    return np.array(found)


def stepped(f, x, h=T / 4):
    """A step of Runge and Kutta's fourth order."""
    a = f(x)
    b = f(x + h / 2 * a)
    d = f(x + h / 2 * b)
    return x + h / 6 * (a + 2 * b + 2 * d + f(x + h * d))


def test_runs_whose_measurements_are_off_stay_in_the_tube(loud):
    """Noise of either sign, the same for many samples, and at random; it shifts runs for ever."""
    verdict, c = loud
    assert "noise of y up to ± 0.0002" in verdict.claim
    assert any(a.text.startswith("no noise but what is named") for a in verdict.assumptions)
    rng = np.random.default_rng(6)
    n = len(c.z)
    hull = np.zeros(3)
    for noise, offset in [
        (np.full(n, 2e-4), (0.004, 0.004)),
        (np.where(np.arange(n) // 30 % 2, 2e-4, -2e-4), (-0.004, 0.004)),
        (rng.uniform(-2e-4, 2e-4, n), (0.004, -0.004)),
        (rng.choice([-2e-4, 2e-4], n), (0.0, 0.0)),
    ]:
        e = np.abs(heard(c, noise, offset) - c.z[:, :3])
        assert (e <= c.reach[:, 0, c.section][:, :3] * (1 + 1e-9) + 1e-9).all()
        hull = np.maximum(hull, e[-50:].max(axis=0))
    assert hull[1] > 1.5e-4


def test_noise_is_read_once_and_anew_before_every_sample(loud, quiet):
    c = loud[1]
    at = list(c.names).index("noise_y")
    assert c.fresh[at] == c.half[at] == 2e-4 and np.count_nonzero(c.fresh) == 1
    assert not constant(c)[at]
    assert "moved by noise_y ± 0.0002 before every sample" in words.proved(c)
    assert "moved by" not in words.proved(quiet[1])
    assert (c.reach[-50:, 0, 1] > 1.5e-4).all()


def test_a_certificate_for_less_noise_than_it_says_is_refused(loud):
    c = loud[1]
    judge(c)
    at = list(c.names).index("noise_y")
    outside = int(np.setdiff1d(np.arange(c.states), c.section)[0])
    one = np.eye(c.states)
    for fresh in (1.05 * c.fresh, c.fresh + 1e-4 * one[0], c.fresh + 1e-3 * one[outside], -c.fresh):
        with pytest.raises(Refused):
            judge(replace(c, fresh=fresh))
    with pytest.raises(Refused):
        judge(replace(c, half=np.where(np.arange(c.states) == at, 1.05 * c.half, c.half)))


def test_noise_that_the_loop_does_not_bear_is_undecided():
    verdict = asked(loop(), replace(ASKED, noise={"y": 0.5}), replace(SINE, duration=0.8))
    assert verdict.holds is None and verdict.worst


# ---- dead time ---------------------------------------------------------------------------------------------------------
def test_runs_of_other_dead_times_stay_in_the_tube(delayed):
    verdict, c = delayed
    assert "a dead time between 3.5 ms and 4.5 ms" in verdict.claim
    centre = simulate(late(), SINE).values
    shares = []
    for delay in (0.0035, 0.0038, 0.0045):
        for a, b in ((1, 1), (-1, 1), (1, -1), (0, 0)):
            offset = {"p": 0.004 * a, "y": 0.004 * b}
            x = simulate(late(delay), replace(SINE, offset=offset)).values[: len(c.z)]
            e = np.abs(x[:, :2] - c.z[:, :2])[1:]
            assert (e <= c.reach[1:, 0, :2] * (1 + 1e-9) + 1e-9).all()
            shares.append(np.abs(x[-50:, 0] - centre[len(c.z) - 50 : len(c.z), 0]).max())
    assert max(shares) > 1e-5


def test_a_certificate_for_fewer_dead_times_than_it_says_is_refused(delayed):
    c = delayed[1]
    judge(c)
    at = list(c.names).index("delay")
    one = np.arange(c.states) == at
    assert constant(c)[at] and c.x0[at] == 1.0 and c.half[at] == pytest.approx(0.125)
    for wrong in (
        replace(c, half=np.where(one, 1.05 * c.half, c.half)),
        replace(c, x0=np.where(one, 1.02, c.x0)),
        replace(c, lag=1.1 * c.lag),
    ):
        with pytest.raises(Refused):
            judge(wrong)


def test_the_larger_loop_goes_through_a_sample_as_the_late_one_does(delayed):
    """At another share of the dead time, beside the loop that was built with it: span by span in its own length of time."""
    from workbench.verification.tube.checker import interval as iv
    from workbench.verification.tube.checker.samples import as_it_is, constants

    c = delayed[1]
    names = list(c.names)
    rho, pace = names.index("delay"), names.index("pace")
    x = np.linspace(0.1, 0.3, c.states)
    x[rho] = 0.9
    for name, wanted in (("jump", 0.9), ("release", (T - 0.9 * 0.004) / (T - 0.004))):
        given = [iv.Interval(v) for v in (0.0, *x, 0.2)]
        found = getattr(c, name).run(iv, [*given, *constants(c)], as_it_is)
        assert float(found[pace].mid) == pytest.approx(wanted) and float(found[rho].mid) == 0.9
    rates = []
    for s in (1.0, 0.7):
        x[pace] = s
        given = [iv.Interval(v) for v in (0.0, *x, 0.2)]
        rates.append([float(f.mid) for f in c.flow.run(iv, [*given, *constants(c)], as_it_is)])
    assert rates[1] == pytest.approx([0.7 * r for r in rates[0]]) and rates[0][rho] == 0


def test_dead_times_that_reach_into_another_sample_or_are_far_off_are_not_held():
    with pytest.raises(InputError, match="delay: expected bounds around 4 ms"):
        check_asked(replace(ASKED, delay=(0.0035, 0.0105)), late())
    far = ClosedLoop(Throttled(), Delayed(Sampled(Integral(T=0.05), 0.05), delay=0.28, capacity=6))
    claim = replace(ASKED, delay=(0.279, 0.281))
    assert asked(far, claim, replace(SINE, duration=2.7)).holds is None


# ---- what cannot be asked ----------------------------------------------------------------------------------------------
@pytest.mark.quick
def test_what_is_not_there_is_refused_by_its_key():
    for claim, wanted in [
        (replace(ASKED, noise={"x": 1e-3}), "noise.x: "),
        (replace(ASKED, noise={"y": -1e-3}), "noise.y: -0.001, expected a size"),
        (replace(ASKED, delay=(0.001, 0.002)), "delay: the run has none"),
    ]:
        with pytest.raises(InputError, match=wanted):
            check_asked(claim, loop())
    for pair in ((0.0, 0.005), (0.0041, 0.005), ("1 bar", "2 bar")):
        with pytest.raises(InputError, match="delay: "):
            check_asked(replace(ASKED, delay=pair), late())
