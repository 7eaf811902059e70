"""Matrices of loops with parameters and delays, part by part, against one sample worked out step by step."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.contract.errors import InputError
from workbench.verification.linear import loop_family as module
from workbench.verification.linear import margins, modes_of_run, robust
from workbench.verification.linear.data_margin import borne, grown, largest_change
from workbench.verification.linear.family import sampled_loop
from workbench.verification.linear.modes import Mode, Place
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.rigorous.balls import Ball

A = np.array([[-1.0, 0.5], [0.25, -3.0]])
B = np.array([[2.0, 0.1], [0.0, 1.0]])
K = np.array([[0.4, -0.3], [0.6, 0.8]])
T = 0.1


def flown(x, u, t):
    """x after t seconds under a command that stands."""
    whole = expm(np.block([[A, B], [np.zeros((2, 4))]]) * t)
    return whole[:2, :2] @ x + whole[:2, 2:] @ u


# ---- delays of samples and fractions --------------------------------------------------------------
@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1, 0.13, 0.25])
def test_a_delayed_command_is_applied_after_whole_samples_and_a_rest(delay):
    """States x, the command applied, and the last ones, the newest first; u = −K x at the sample."""
    whole = int(delay / T + 1e-9)
    rest = delay - whole * T
    family = sampled_loop(("a",), lambda θ: A.tolist(), lambda θ: B.tolist(), K, T, delay)
    rng = np.random.default_rng(3)
    before = rng.normal(size=2 + 2 * (whole + 2))
    x, applied, *sent = before.reshape(-1, 2)
    queue = [-K @ x, *sent[:whole]]
    x = flown(flown(x, applied, rest), queue[-1], T - rest)
    after = np.concatenate([x, queue[-1], *queue])
    M = family.at([1.0])
    assert M.mid @ before == pytest.approx(after, abs=1e-12)
    assert np.abs(M.rad).max() < 1e-12 and family.T == T


# ---- a loop with a law that remembers ---------------------------------------------------------------
LAW = SimpleNamespace(
    A=np.array([[0.9]]), B=np.array([[0.3, -0.2]]), C=np.array([[2.0], [0.5]]), D=-K, T=T
)
C = np.array([[1.0, 0.2], [0.0, 2.0]])


@pytest.mark.parametrize("whole", [0, 1, 2])
def test_one_sample_of_a_loop_step_by_step(whole):
    parts = module._Parts(n=2, m=2, k=1, whole=whole)
    assert parts.size == 2 + 2 * (whole + 2) + 1
    rng = np.random.default_rng(whole)
    before = rng.normal(size=parts.size)
    x, z = before[:2], before[-1:]
    applied, *sent = before[2:-1].reshape(-1, 2)
    y = C @ x
    newest = [LAW.D @ y + LAW.C @ z, *sent[:whole]]
    jumped = np.concatenate([x, applied, *newest, LAW.A @ z + LAW.B @ y])
    assert module._sampled(parts, LAW, C) @ before == pytest.approx(jumped)
    released = np.concatenate([x, sent[-1], *sent, z])
    assert module._released(parts) @ before == pytest.approx(released)
    rates = np.array(module._held(parts, np.hstack([A, B]))) @ before
    assert rates == pytest.approx(np.concatenate([A @ x + B @ applied, 0 * before[2:]]))


@pytest.mark.parametrize(
    "low, high, fits",
    [
        (0.1, 0.2, True),
        (0.1, 0.2 * (1 + 5e-10), True),
        (0.1, 0.2 * (1 + 2e-9), False),
        (0.1, 0.21, False),
        (-1e-9, 0.2, False),
    ],
)
def test_a_range_of_delays_stays_within_a_sample(low, high, fits):
    if fits:
        return module._refuse_beyond_a_sample((low, high), 1, T)
    with pytest.raises(InputError, match="reaches over a sample"):
        module._refuse_beyond_a_sample((low, high), 1, T)


def test_how_long_the_older_command_is_still_applied():
    assert module._times(("k",), 1, 0.03, T) == (0.03, pytest.approx(0.07))
    early, late = module._times(("k", "delay"), 1, 0.03, T)
    assert early([9.0, 0.14]) == pytest.approx(0.04) and late([9.0, 0.14]) == pytest.approx(0.06)


# ---- boxes of parameters ------------------------------------------------------------------------------
class Jumps:
    """A family whose matrix may jump everywhere: no derivatives, nothing known at a point."""

    names = ("a", "b")
    T = None

    def cover(self, low, high):
        return Ball.of(-np.eye(1)), [], np.zeros(0)

    def at(self, θ):
        return Ball(np.eye(1), np.full((1, 1), np.inf))


def covered(low, high, budget=100):
    """(all proved, boxes looked at, box left) where boxes narrower than a quarter of the second range are proved."""
    asked, left = [], []

    def proved(balls):
        a, b = asked[-1]
        return b[1] - a[1] < 0.26

    family = Jumps()
    family.cover = lambda a, b: asked.append((a, b)) or Jumps.cover(family, a, b)
    progress = lambda share, words: left.append((share, words))
    found = robust._cover(family, np.array(low), np.array(high), proved, budget, progress)
    return found, left


def test_a_number_that_does_not_vary_is_never_halved():
    (done, used, left), told = covered([2.0, 0.0], [2.0, 1.0])
    assert (done, used, left) == (True, 7, None)
    assert [share for share, _ in told] == [0.25, 0.5, 0.75, 1.0]
    assert told[-1][1] == "7 sub-boxes"
    (done, used, left), _ = covered([2.0, 0.0], [2.0, 1.0], budget=3)
    assert (done, used) == (False, 3) and left[1][1] - left[0][1] == pytest.approx(0.25)


# ---- margins of data -----------------------------------------------------------------------------------
def test_what_a_bound_grows_by_is_rounded_upwards():
    """Of a b: (2 + 0.1)(3 + 0.2) − 6 = 0.72; of no change still what rounding may have cost."""
    product = lambda a, b: np.array([a * b])
    assert grown(product, (2.0, 3.0), (0.1, 0.2)) == pytest.approx([0.72])
    assert grown(product, (2.0, 3.0), (0.1, 0.2))[0] > 0.72 * (1 + 5e-10)
    assert grown(product, (2.0, 3.0), (0.0, 0.0)) == pytest.approx([6e-14], abs=0.0)


@pytest.mark.parametrize("edge", [3e-11, 1e-6, 0.3])
def test_the_largest_change_that_is_borne(edge):
    found = largest_change(lambda change: change <= edge)
    assert found <= edge < 1.01 * found
    assert largest_change(lambda change: True) == 1.0
    assert largest_change(lambda change: False) == 0.0
    assert borne(1.0) == "it bears changes of the data as large as the data"
    assert borne(0.031) == "it bears a relative change of the data of 0.031"


# ---- gains and modes -------------------------------------------------------------------------------------
def test_a_gain_without_bound_is_kept_finite():
    integrator = LinearSystem(0.0, 1.0, 1.0, 0.0)
    assert margins.log_gain(integrator, 0.0) == 1e3
    assert margins.log_gain(integrator, 2.0) == pytest.approx(-math.log(2.0))


@pytest.mark.parametrize("off, alike", [(0.9e-4, True), (1.1e-4, False)])
def test_places_have_the_same_modes_to_a_ten_thousandth(off, alike):
    place = lambda *modes: Place(0.0, "", False, tuple(Mode(s, 1e-9, (), "", 0.0) for s in modes))
    one, other = place(-3.0 + 4j, -1.0), place(-1.0, (-3.0 + 4j) * (1 + off))
    assert modes_of_run._alike(one, other, 0.0) is alike
    assert modes_of_run._alike(one, place(-1.0), 1.0) is False
    assert modes_of_run._alike(place(), place(), 0.0) is True
