"""Defaults of scans, units of lengths on joints, and what certainly is alike: single places whose numbers are written down here."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.multibody import signals
from workbench import Waypoints
from workbench.verification import claims
from workbench.verification.practical import elsewhere
from workbench.verification.regions import sector_search
from workbench.verification.regions.sector import Sector
from workbench.verification.tube.checker import program, zonotope
from workbench.verification.tube.checker.interval import Interval


# ---- claims ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "claim, defaults",
    [
        (
            claims.SampleTimeLimit(),
            {"at_least": None, "up_to": 40e-3, "error": 50e-3, "bound": None},
        ),
        (claims.DelayLimit(), {"at_least": None, "up_to": 20e-3, "error": 50e-3, "bound": None}),
        (
            claims.ParameterLimit("payload.mass"),
            {"to": 2.0, "at_least": None, "error": 50e-3, "bound": None},
        ),
    ],
)
def test_what_a_scan_is_asked_where_nobody_says(claim, defaults):
    assert {name: getattr(claim, name) for name in defaults} == defaults
    assert claim.counted is True and claim.scans is True and claim.reach == "scan"


# ---- signals of a mechanism -----------------------------------------------------------------------------------------------
def test_an_actuator_on_a_joint_has_the_length_of_that_joint():
    """rad on one that turns, m on one that slides, and m between two pins."""
    body = lambda name, joint: SimpleNamespace(name=name, joint=joint)
    actuator = lambda name, joint: SimpleNamespace(name=name, joint=joint)
    made = SimpleNamespace(
        bodies=[body("boom", "revolute"), body("tube", "prismatic")],
        actuators=[actuator("turn", "boom"), actuator("push", "tube"), actuator("lift", None)],
    )
    found = signals.lengths(made)
    assert [(s.name, s.unit) for s in found] == [
        ("s_turn", "rad"),
        ("s_push", "m"),
        ("s_lift", "m"),
        ("ds_turn", "rad/s"),
        ("ds_push", "m/s"),
        ("ds_lift", "m/s"),
    ]
    assert found[0].meaning == "length of turn" and found[4].meaning == "rate of length of push"


# ---- comparisons of sets --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "a, b, alike",
    [
        ((2.0, 2.0), (2.0, 2.0), True),
        ((2.0, 2.0), (3.0, 3.0), False),
        ((1.0, 2.0), (1.0, 2.0), False),
        ((1.0, 1.0), (1.0, 2.0), False),
        ((1.0, 2.0), (1.0, 1.0), False),
    ],
)
def test_only_points_are_certainly_alike(a, b, alike):
    """Two sets of the same ends may hold numbers that differ."""
    assert bool(program._same(Interval(*a), Interval(*b))) is alike


def test_where_a_condition_is_open_a_masked_value_is_it_or_zero():
    kind = SimpleNamespace(stepped=lambda hull, *_: hull)
    value = Interval(np.array([-3.0, 2.0]), np.array([-1.0, 5.0]))
    found = program.masked(kind, Interval(np.zeros(2), np.ones(2)), value, lambda x: x)
    assert found.lo.tolist() == [-3.0, 0.0] and found.hi.tolist() == [0.0, 5.0]


# ---- searches -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "edge, rounds, asked, good",
    [
        (3.0, 6, [1, 2, 4, 3, 3.5, 3.25], 3.0),
        (0.3, 4, [1, 0.5, 0.25, 0.375], 0.25),
        (1e9, 9, [1, 2, 4, 8], 8.0),
    ],
)
def test_the_largest_sector_is_found_by_doubling_and_halving(
    monkeypatch, edge, rounds, asked, good
):
    """Sectors from 2 to 2 + 5 k and slopes from 2 to 2 + 3 k hold up to an edge of k, and none beyond 8 is asked for."""
    tried = []

    def searched(sector, criterion):
        k = float((sector.high[0] - 2.0) / 5.0)
        assert sector.slope[0] == pytest.approx(2.0 + 3.0 * k) and criterion == "jury-lee"
        tried.append(k)
        return f"certificate of {k:g}" if k <= edge else None

    monkeypatch.setattr(sector_search, "search", searched)
    one = np.ones((1, 1))
    loop = Sector(one, one, one, np.array([2.0]), np.array([7.0]), slope=np.array([5.0]))
    found, certificate = sector_search.largest_sector(loop, "jury-lee", rounds, most=8.0)
    assert tried == pytest.approx(asked)
    assert (found, certificate) == (good, f"certificate of {good:g}")


# ---- lengths of segments --------------------------------------------------------------------------------------------------
def test_the_longest_of_one_segment_covers_the_rounding_of_its_sums():
    """Of h = 1 it is 1 and at least 8 roundings more, before it is enlarged: sums of five products each are off by four."""
    bound = zonotope.longest(np.ones((1, 1)), np.zeros((1, 1))) / zonotope.ENLARGED
    assert 1 + 8 * 2.0**-52 <= bound <= 1 + 20 * 2.0**-52


def test_the_longest_of_two_segments_covers_the_rounding_of_all_their_sums():
    """Two of length 1 at right angles: √2, and half of 160 roundings more."""
    bound = zonotope.longest(np.eye(2), np.zeros((2, 1))) / zonotope.ENLARGED / np.sqrt(2.0)
    assert 1 + 60 * 2.0**-52 <= bound <= 1 + 120 * 2.0**-52


# ---- where a path ends ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "way, amounts, looked",
    [
        (0.5, {}, True),
        (0.5, {"x": 0.4}, True),
        (0.5, {"x": 0.5}, False),
        (0.0, {}, False),
    ],
)
def test_the_end_of_a_path_is_looked_at_where_it_is_further_off_than_other_starts(
    monkeypatch, way, amounts, looked
):
    """A place that other starts leave as it is counts as soon as the path moves it."""
    path = Waypoints("output", ((0.0,), (0.5,)), 2.0)
    run = SimpleNamespace(
        demand=SimpleNamespace(reference=path), scenario=SimpleNamespace(length=lambda: 3.0)
    )
    monkeypatch.setattr(elsewhere, "_places", lambda run: ["x"])
    monkeypatch.setattr(elsewhere, "_way", lambda run, name: way)
    monkeypatch.setattr(elsewhere, "held_at", lambda run, row: f"held at {row}")
    assert elsewhere.where_it_ends(run, amounts) == ("held at -1" if looked else None)
