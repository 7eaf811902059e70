"""Shares of a bar, chosen series, slopes of powers, and which proofs say that a loop is stable, by hand."""

import numpy as np
import pytest

from workbench.verification import proofs
from workbench.verification.tube.checker.chords import power
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.program import selected
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.progress import STEP, Share


def test_every_step_takes_its_part_of_what_is_left():
    ticks = []
    bar = Share(lambda: ticks.append(1), 1000)
    for k in (1, 2, 3):
        bar.step()
        assert len(ticks) == int(1000 * (1 - (1 - STEP) ** k))
    bar.done(0.5)
    assert len(ticks) == max(500, int(1000 * (1 - (1 - STEP) ** 3)))
    bar.end()
    assert len(ticks) == 1000


@pytest.mark.parametrize("yes, no", [(True, False), (False, True), (False, False)])
def test_of_a_chosen_series_every_rate_is_kept_dropped_or_unknown(yes, no):
    own = Series([Interval(1.0), Interval(2.0), Interval(3.0)])
    hull = Series([Interval(-5.0, 5.0)])
    found = selected(None, np.array(yes), np.array(no), own, hull, None)
    low, high = ([float(getattr(p, end)) for p in found.parts] for end in ("lo", "hi"))
    if yes:
        assert low == high == [1.0, 2.0, 3.0]
    elif no:
        assert low == high == [0.0, 0.0, 0.0]
    else:
        assert low == [-5.0, -np.inf, -np.inf] and high == [5.0, np.inf, np.inf]


@pytest.mark.parametrize(
    "exponent, wide", [(3.0, 1e-13), (4.0, 1e-13), (2.5, 1e-13), (-1.0, 1e-13), (0.3, 1e-11)]
)
def test_the_slope_of_a_power_is_held_and_tightly_where_one_less_is_a_float(exponent, wide):
    """Relative widths. 0.3 − 1 is none: it is off by 2⁻⁵⁴."""
    found = power(Interval(2.0), exponent)
    low, high = float(found.lo), float(found.hi)
    exact = exponent * 2.0 ** (exponent - 1.0)
    assert low <= exact <= high and high - low < wide * abs(exact)
    assert exponent != 0.3 or high - low > 1e-12 * exact


def test_these_proofs_say_that_a_loop_is_stable():
    own = {n: c for n, c in vars(proofs).items() if getattr(c, "__module__", "") == proofs.__name__}
    stable = {"LinearStability", "RobustStability", "MPCStability", "Sector", "RegionOfAttraction"}
    stable |= {"Supplied", "Tube"}
    assert {n for n, c in own.items() if getattr(c, "says_stable", False)} == stable
