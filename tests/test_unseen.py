"""What a scenario states for after its run was not seen: pushes that come later, jumps, faster legs; the rest changes nothing."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from planted import linear

from workbench import Scenario, Sine, Waypoints, verify
from workbench.run.steps import Steps
from workbench.verification.observed.unseen import as_far_as_seen, unseen
from workbench.verification.verdict import Verdict

LENGTH = 4.0


def run(reference=None, **disturbances):
    scenario = Scenario(LENGTH, reference, disturbances)
    return SimpleNamespace(scenario=scenario, demand=SimpleNamespace(reference=reference))


def pushed(times, values):
    return run(F_ext=Steps("output", times, values))


def walked(*legs):
    points = tuple((0.01 * (k % 2),) for k in range(len(legs) + 1))
    return run(Waypoints("output", points, tuple(legs)))


def test_a_push_after_the_run_was_not_seen():
    assert unseen(pushed((0.0, 100.0), (0.0, 4e4))) == (
        "disturbance F_ext is what it never was before at t = 100 s, and the run ends at 4 s"
    )
    pulse = pushed((0.0, 1.0, 2.0, 50.0, 50.0001), (0.0, 5.0, 0.0, -3.0, 0.0))
    assert "at t = 50 s" in unseen(pulse)


def test_a_push_that_was_seen_or_that_repeats_changes_nothing():
    assert unseen(pushed((0.0, 1.0, 100.0), (0.0, 5.0, 5.2))) == ""
    assert unseen(pushed((0.0, 3.0), (0.0, 5.0))) == ""
    assert unseen(run(F_ext=Sine("output", (0.0,), (600.0,), 0.01))) == ""
    assert unseen(run(F_ext=20.0)) == ""


def test_a_path_that_is_walked_faster_after_the_run():
    words = unseen(walked(4.0, 0.5))
    assert (
        words
        == "the reference moves 8 times as fast as before at t = 4.25 s, and the run ends at 4 s"
    )
    assert (
        unseen(walked(2.0, 2.0, 1.9)) == unseen(walked(4.0, 20.0)) == unseen(walked(1.0, 0.5)) == ""
    )
    late = run(Steps("output", (0.0, 9.0), ((0.0,), (0.01,))))
    assert unseen(late).startswith("the reference is what it never was before at t = 9 s")
    assert unseen(run()) == ""


@pytest.mark.parametrize(
    "key, opened", [("tracking", True), ("practical-stability", True), ("settled", False)]
)
def test_what_holds_of_stability_and_tracking_is_left_open(key, opened):
    seen = pushed((0.0, 100.0), (0.0, 4e4))
    held = Verdict(key, "a claim", True, "sampled", worst="3 mm")
    (found,) = as_far_as_seen(seen, [held])
    assert (found.holds is None) is opened
    assert found.worst.endswith("was: 3 mm") is opened
    others = [
        replace(held, counted=False),
        replace(held, holds=False),
        replace(held, strength="proof"),
    ]
    assert as_far_as_seen(seen, others) == others
    assert as_far_as_seen(walked(2.0, 2.0), [held]) == [held]


@pytest.mark.parametrize("at, holds", [(100.0, None), (3.0, True)])
def test_a_loop_is_judged_by_the_pushes_that_its_run_shows(at, holds):
    push = Steps("output", (0.0, at), (0.0, 5.0))
    scenario = Scenario(6.0, Sine("output", "start", (2e-3,), 0.5), {"F_ext": push})
    tracking = next(v for v in verify(linear(), scenario) if v.key == "tracking")
    assert tracking.holds is holds


# ---- edges, by hand ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "later, told", [(5.24, False), (5.26, True), (-0.24, False), (-0.26, True)]
)
def test_beyond_a_twentieth_of_the_range_within_the_run(later, told):
    found = unseen(pushed((0.0, 1.0, 100.0), (0.0, 5.0, later)))
    assert bool(found) is told and ("at t = 100 s" in found) is told
    both = run(
        A=Steps("output", (0.0, 1.0), (0.0, 5.0)),
        B=Steps("output", (0.0, 1.0, 30.0), (0.0, 5.0, later)),
    )
    assert (
        unseen(both).startswith("disturbance B is" if told else "") and bool(unseen(both)) is told
    )


@pytest.mark.parametrize("second, told", [(2.04, False), (2.06, True)])
def test_every_part_of_a_reference_has_its_own_range(second, told):
    """One of 100 and one of 1 … 2: 0.04 beyond is within a twentieth of its own range, 0.06 is not."""
    points = ((0.0, 1.0), (100.0, 2.0), (50.0, second), (50.0, 1.5))
    jumps = run(Steps("output", (0.0, 1.0, 7.0, 9.0), points))
    assert ("at t = 7 s" in unseen(jumps)) is told and bool(unseen(jumps)) is told


@pytest.mark.parametrize("leg, told", [(4 / 1.19, False), (4 / 1.21, True)])
def test_a_leg_is_faster_by_a_fifth(leg, told):
    found = unseen(walked(4.0, 8.0, leg))
    assert ("the reference moves 1.21 times as fast as before" in found) is told
    assert bool(found) is told


def test_a_path_that_begins_after_the_run():
    still = Waypoints("output", ((0.0,), (0.0,), (0.01,)), (5.0, 2.0))
    assert unseen(run(still)).startswith("the reference moves the first time at all at t = 6 s")
    backwards = Waypoints("output", ((0.01,), (0.02,), (0.0,)), (4.0, 4.0))
    assert unseen(run(backwards)).startswith("the reference moves 2 times as fast")


@pytest.mark.parametrize("end, told", [(4.0, False), (4.5, True)])
def test_what_ends_with_the_run_was_seen(end, told):
    assert bool(unseen(pushed((0.0, 1.0, end), (0.0, 5.0, 9.0)))) is told
