"""Slopes of a search's scores: closed forms of a decay, none for a seed or a delay, and what a search gains from them."""

import numpy as np
import pytest
from small import IDLE, Decaying

from workbench import ClosedLoop, Scenario
from workbench.verification.observed.requirement_claims import Requirement
from workbench.verification.run import run
from workbench.verification.search.directions import directions
from workbench.verification.search.minimise import FIRST, GENERATION, minimise, steepest
from workbench.verification.search.score import verdicts
from workbench.verification.search.search import Search
from workbench.verification.search.slopes import Slopes

T = 0.02


@pytest.mark.quick
def test_slopes_are_those_of_the_closed_form():
    """x = (c + x_0) e^(−k T) against 0.3 m at the end: of its margin, as a share of that at c = 0.5, k = 3, x_0 = 0."""
    nominal = run(ClosedLoop(Decaying(), IDLE), Scenario(T))
    asked = [Requirement(f"always[{T} s, end] (x > 0.3 m)")]
    over = {"c": (0.4, 0.7), "k": (2.0, 7.0), "offset.x": (-0.1, 0.2)}
    along = directions(nominal.loop, nominal.scenario, over)
    search = Search(nominal, asked, verdicts(asked, nominal), along)
    point = np.array([0.2, -0.1, 0.4])
    c, k, x = (d.low + (p + 1) / 2 * (d.high - d.low) for d, p in zip(along, point))
    place = search.place(point)
    assert [d.at(float(s)) for d, s in zip(along, place)] != [c, k, x], "bent at the nominal value"
    c, k, x = (d.at(float(s)) for d, s in zip(along, place))
    half = search.place(point + 0.5) - search.place(point - 0.5)  # of a place, for one of the box
    ends = [d.high - d.nominal if s > 0 else d.nominal - d.low for d, s in zip(along, place)]
    fall = np.exp(-k * T)
    slope = np.array([fall, -T * (c + x) * fall, fall]) * half * ends
    assert Slopes(search)(point) == pytest.approx(slope / (0.5 * np.exp(-3 * T) - 0.3), rel=1e-6)
    assert not search.scores, "they are no runs of the search"


def test_whole_numbers_have_no_slope():
    nominal = run(ClosedLoop(Decaying(), IDLE), Scenario(T))
    asked = [Requirement(f"always[{T} s, end] (x < 1 m)")]
    along = directions(nominal.loop, nominal.scenario, {"c": (0.4, 0.7)})
    whole = tuple(d.__class__(**{**vars(d), "whole": True}) for d in along)
    search = Search(nominal, asked, verdicts(asked, nominal), whole)
    assert Slopes(search)(np.array([0.1])) is None


def test_a_search_goes_down_a_slope():
    """A plane that is below zero in one corner of twelve dimensions alone: one slope finds it."""
    n = 12
    way = np.where(np.arange(n) % 3, 1.5, -1.5)
    asked = {"places": 0, "slopes": 0}

    def values(places):
        asked["places"] += len(places)
        return places @ way + 0.99 * np.abs(way).sum()

    def slope(place):
        asked["slopes"] += 1
        return way

    violated = lambda scores: bool(np.min(scores) < 0)
    minimise(n, values, 300, 3, violated, slope)
    assert asked == {"places": FIRST + GENERATION, "slopes": 1}
    asked |= {"places": 0, "slopes": 0}
    minimise(n, values, 60, 3, lambda scores: False, slope)
    assert asked["places"] == 60 and asked["slopes"] < 5


def test_places_down_a_slope_stay_in_the_box():
    found = steepest(np.array([0.5, -0.9]), np.array([-2.0, 1.0]), np.array([2.0, 0.5, 0.1]))
    assert found == pytest.approx(np.array([[1.0, -1.0], [1.0, -1.0], [0.6, -0.95]]))
