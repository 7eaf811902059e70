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
