"""The verdict on a certificate of a linear loop that claims all that it needs: held to the last place."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from linear_tube import FIRST, FRESH, tube, whole

from workbench.verification.tube.checker import judge as module
from workbench.verification.tube.checker.judge import followed, judge, measured
from workbench.verification.tube.checker.section import Refused


@cache
def borne_out():
    """A certificate up to the end of the run that claims what it needs, and no more; and what is seen of it."""
    segments = np.zeros((3, 4, 3))
    segments[:2] = FIRST, whole(0) @ FIRST
    segments[2] = whole(1) @ segments[1]
    c = tube(segments=segments, fresh=FRESH, after=np.array([1, 2, -1]))
    c = replace(c, reach=followed(c).need * (1 + 1e-9) + 1e-9)
    found = followed(c)
    least, most = measured(c)
    ends = {"least": least.min(axis=0), "most": most.max(axis=0)}
    return replace(c, low=found.low.min(axis=0), high=found.high.max(axis=0), **ends), found


@pytest.fixture
def refused(monkeypatch):
    """What is said of the same certificate with other bounds, of which the same is seen."""
    c, found = borne_out()
    monkeypatch.setattr(module, "followed", lambda c: found)

    def said(**other):
        with pytest.raises(Refused) as why:
            judge(replace(c, **other))
        return str(why.value)

    return said


def test_what_is_claimed_may_be_all_that_is_seen():
    c, _ = borne_out()
    assert judge(c).failed is None
    assert (np.isfinite(c.low) & np.isfinite(c.high)).all()


def test_bounds_of_states_are_held_to_the_last_place(refused):
    """The state and the first sample after which a run may leave them are named."""
    c, found = borne_out()
    for i in range(5):
        high, low = c.high.copy(), c.low.copy()
        high[i] = np.nextafter(high[i], -np.inf)
        low[i] = np.nextafter(low[i], np.inf)
        text = f"bounds: state {i} leaves them after sample "
        assert refused(high=high) == text + str(int(np.argmax(found.high[:, i] > high[i])))
        assert refused(low=low) == text + str(int(np.argmax(found.low[:, i] < low[i])))


def test_what_is_told_is_held_to_the_last_place(refused):
    """e = 2 q − r at samples, over the reaches of both."""
    c, _ = borne_out()
    each = c.reach[:, 0] @ [2.0, 1.0, 0.0, 0.0, 0.0]
    e = c.z @ [2.0, -1.0, 0.0, 0.0]
    assert (c.least, c.most) == pytest.approx(((e - each).min(), (e + each).max()))
    text = "e: it may be beyond the bounds that are said"
    assert refused(most=np.nextafter(c.most, -np.inf)) == text
    assert refused(least=np.nextafter(c.least, np.inf)) == text


def test_a_reach_that_is_too_small_is_refused_at_its_sample():
    c, _ = borne_out()
    for k, s, i in ((0, 3, 1), (2, 0, 2)):
        reach = c.reach.copy()
        reach[k, s, i] *= 1 - 1e-6
        with pytest.raises(Refused, match=f"^sample {k}: the tube does not hold its runs until"):
            judge(replace(c, reach=reach))


@pytest.mark.parametrize(
    "enters, returns, needed",
    [
        (2.0, 2.0, ""),
        (2.0, 1.0, ""),
        (2.0 + 1e-12, 1.0, "2"),
        (1.0, 2.0 + 1e-12, "2"),
        (2.5, 3.25, "3.25"),
        (3.5, 0.25, "3.5"),
        (np.inf, 1.0, "inf"),
        (np.nan, 1.0, "nan"),
    ],
)
def test_the_ball_of_laps_is_held_to_its_size(monkeypatch, enters, returns, needed):
    """What enters it and what a lap brings back, against σ = 2; of a run that ends neither is asked."""
    c, found = borne_out()
    c = replace(c, after=np.array([1, 2, 1]))
    again = replace(found, enters=enters, returns=returns)
    monkeypatch.setattr(module, "followed", lambda c: again)
    assert judge(replace(c, after=np.array([1, 2, -1]))) is again
    if not needed:
        assert judge(c) is again
        return
    with pytest.raises(Refused) as why:
        judge(c)
    assert str(why.value) == f"laps: σ = 2, and {needed} is needed where they begin"


def test_what_is_told_of_many_nodes_is_told_of_each(monkeypatch):
    """A few side by side."""
    c, _ = borne_out()
    whole = measured(c)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    assert all((a == b).all() for a, b in zip(measured(c), whole))
