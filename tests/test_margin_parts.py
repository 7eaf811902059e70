"""Margins part by part: the disk read off its own circle, lists beside a margin, ends of the frequency axis."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.linear import margins
from workbench.verification.linear.margins import Margins, disk_range
from workbench.verification.linear.systems import LinearSystem


def circle(α, σ):
    """Factors on the boundary of the disk, from its definition."""
    δ = α * np.exp(1j * np.linspace(0.0, 2 * np.pi, 200_001))
    return (1 + (1 - σ) * δ / 2) / (1 - (1 + σ) * δ / 2)


@pytest.mark.parametrize("α, σ", [(0.4, 0.0), (0.7, 0.5), (0.3, -2.0), (1.9, 0.0), (0.5, 1.5)])
def test_a_disk_of_factors_read_off_its_circle(α, σ):
    """The real factors of its ends, and the least angle at which it leaves the unit circle."""
    f = circle(α, σ)
    low, high, phase = disk_range(α, σ)
    real = f[np.abs(f.imag) < 1e-4 * np.abs(f).max()].real
    assert (low, high) == pytest.approx((real.min(), real.max()), rel=1e-6)
    turned = np.angle(f[np.flatnonzero(np.diff(np.abs(f) > 1))])
    assert phase == pytest.approx(np.abs(turned).min(), rel=1e-3)


def test_disks_without_an_end():
    """α = 2 at σ = 0: half a plane from 0 on; beyond it everything outside a circle; ∞: all but one point."""
    assert disk_range(2.0) == (0.0, np.inf, pytest.approx(np.pi / 2))
    low, high, phase = disk_range(3.0)
    assert (low, high) == (pytest.approx(-0.2), np.inf)
    assert phase == pytest.approx(np.arccos((1 - 0.2 * -5) / (-0.2 - 5)))
    assert disk_range(1.0, 1.0) == (pytest.approx(0.5), np.inf, pytest.approx(np.pi / 3))
    assert disk_range(0.5, 3.0) == (pytest.approx(0.75), np.inf, pytest.approx(np.arccos(0.75)))
    assert disk_range(np.inf) == (-1.0, np.inf, np.pi)
    assert disk_range(np.inf, 0.5) == (pytest.approx(-1 / 3), np.inf, np.inf)
    assert disk_range(np.inf, -1.0) == (-np.inf, np.inf, np.inf)


def test_the_smallest_of_every_list_beside_a_margin():
    stable = SimpleNamespace(holds=True)
    some = Margins(
        stable,
        gain=((1.0, 0.3), (2.0, 5.0), (3.0, 0.8), (4.0, 2.5)),
        phase=((1.0, -0.4), (2.0, 0.9)),
        delay=((1.0, 0.7), (2.0, 0.2)),
    )
    assert (some.gain_up, some.gain_down) == (2.5, 0.8)
    assert (some.phase_margin, some.delay_margin) == (0.4, 0.2)
    none = Margins(stable)
    assert (none.gain_up, none.gain_down) == (np.inf, 0.0)
    assert (none.phase_margin, none.delay_margin) == (np.inf, np.inf)
    for word in (False, None):
        lost = Margins(SimpleNamespace(holds=word), some.gain, some.phase, some.delay)
        assert lost.gain_up is lost.gain_down is lost.phase_margin is lost.delay_margin is None


def lag(gain, pole=0.5, D=0.0, T=None):
    return LinearSystem(pole if T else -pole, 1.0, gain, D, T)


def test_crossovers_at_both_ends_of_the_axis():
    """|L(0)| = 1 of 0.5/(s + 0.5); |L(∞)| = 1 of a feedthrough; a negative gain is real at 0, and at the top of samples."""
    assert margins.gain_crossovers(lag(0.5)) == [0.0]
    assert margins.gain_crossovers(lag(0.4)) == []
    assert margins.gain_crossovers(lag(1.0, D=1.0))[-1] == np.inf
    assert margins.phase_crossovers(lag(-0.3)) == [0.0]
    assert margins.phase_crossovers(lag(0.3)) == []
    assert margins.phase_crossovers(lag(0.3, T=0.1)) == [pytest.approx(np.pi / 0.1)]
    assert margins.log_gain(lag(3.0), 0.0) == pytest.approx(np.log(6.0))
    assert margins.log_gain(lag(0.0), 2.0) == -1e3


def test_margins_of_a_lag_of_samples_by_hand():
    """L = 0.3/(z − 0.5): −1 is reached at z = −1 with k = 5; |L| < 1 everywhere: neither lag nor delay destabilises."""
    found = margins.loop_margins(lag(0.3, T=0.1))
    assert found.gain == ((pytest.approx(np.pi / 0.1), pytest.approx(5.0)),)
    assert found.phase == () and found.delay_margin == np.inf
    wide = margins.loop_margins(lag(0.9, T=0.1))
    ((ω, φ),) = wide.phase
    z = np.exp(0.1j * ω)
    assert abs(0.9 / (z - 0.5)) == pytest.approx(1.0)
    assert φ == pytest.approx(np.angle(-0.9 / (z - 0.5)))
    assert wide.delay == ((ω, pytest.approx((φ % (2 * np.pi)) / ω)),)
    leads = margins.loop_margins(lag(-0.9, pole=2.0, D=-0.3))
    assert all(τ >= 0 for _, τ in leads.delay)
    through = margins.loop_margins(LinearSystem(-1.0, 1.0, -0.5, 1.5))
    assert through.delay[-1] == (np.inf, 0.0) and through.delay_margin == 0.0
    below = margins.loop_margins(LinearSystem(-1.0, 1.0, -0.5, 0.99))
    assert (np.inf, 0.0) not in below.delay


def test_crossovers_of_three_lags():
    """1/((s + 1)(s + 2)(s + 3)) is real and negative at √11 alone, where it is −1/60; its gain never reaches one."""
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-6.0, -11.0, -6.0]])
    L = LinearSystem(A, np.array([[0.0], [0.0], [1.0]]), np.array([[1.0, 0.0, 0.0]]), 0.0)
    assert margins.phase_crossovers(L) == [pytest.approx(np.sqrt(11.0))]
    ((ω, k),) = margins.loop_margins(L).gain
    assert (ω, k) == pytest.approx((np.sqrt(11.0), 60.0)) and margins.gain_crossovers(L) == []
    (alone,) = margins.disk_margins(L)
    assert alone.α == pytest.approx(margins.disk_margin(L, 0.0).α)


@pytest.mark.parametrize(
    "f, stays", [(4.9, True), (5.1, False), (-1.6, True), (-1.7, False), (2j, True), (6j, False)]
)
def test_a_loop_with_a_factor(f, stays):
    """z − 0.5 + 0.3 f: inside where |0.5 − 0.3 f| < 1; with a feedthrough the factor is f/(1 + f D)."""
    assert margins.stable_with(lag(0.3, T=0.1), f) is (abs(0.5 - 0.3 * f) < 1) is stays
    with_D = LinearSystem(0.5, 1.0, 0.3, 0.2, 0.1)
    assert margins.stable_with(with_D, f) is bool(abs(0.5 - 0.3 * f / (1 + 0.2 * f)) < 1)


def test_a_disk_margin_of_one_lag():
    """S − T over two of L = k/(s + a): |s + a − k|/(2 |s + a + k|), largest ½ at ∞ or (a − k)/(2 (a + k)) at 0."""
    found = margins.disk_margin(lag(1.0, pole=2.0))
    assert found.α == pytest.approx(2.0) and found.gain_max > 1e6
    skewed = margins.disk_margin(lag(1.0, pole=2.0), σ=-1.0)
    assert skewed.α == pytest.approx(3.0)  # T alone: largest 1/3 at 0
    assert margins.disk_margin(lag(1.0, pole=-2.0)).α == 0.0
