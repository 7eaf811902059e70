"""Starts around the place where a path ends: one-sided laws are refused there, and paths that close are not asked twice."""

from dataclasses import replace

import pytest
from ledger_cases import PATH, REAL, sampled
from planted import linear

from workbench import ClosedLoop, Hold, Sampled, Scenario, Sine, Waypoints, verify
from workbench.contract.plain import Plain
from workbench.interop.linear_plant import LinearPlant
from workbench.run.steps import Steps
from workbench.verification import claims as C
from workbench.verification.practical import elsewhere
from workbench.verification.practical.elsewhere import where_it_ends
from workbench.verification.practical.starts import SPREAD, sizes
from workbench.verification.run import run
from workbench.verification.verdict import Verdict

CART = LinearPlant(
    (0.0, 1.0, 0.0, -2.0), (0.0, 1.0), (1.0, 0.0, 0.0, 1.0), ("x", "v"), ("u",), ("x", "v")
)
UP = Waypoints("output", ((0.0,), (0.5,)), 6.0)


def pushed(t, y, r):
    """Pushes and never pulls: a motion upwards hides it."""
    return [max(0.0, 6.0 * (r[0] - y[0]) - 2.0 * y[1])]


def both_ways(t, y, r):
    return [6.0 * (r[0] - y[0]) - 2.0 * y[1]]


def fading(t, y, r):
    """Holds an unstable cart within 0.35 of its middle, and lets go beyond."""
    return [6.0 * (r[0] - y[0]) - 2.0 * y[1] if abs(y[0]) < 0.35 else 0.0]


def there(seen):
    return where_it_ends(seen, sizes(seen, SPREAD))


def loop(law):
    return ClosedLoop(CART, Sampled(Plain(law, references=("x_d",)), T_s=0.01))


@pytest.mark.parametrize("law, holds", [(pushed, False), (both_ways, True)])
def test_a_law_that_only_pushes_is_refused_where_its_path_ends(law, holds):
    """On its way up from either start it is back: what is too far is overtaken. At its end nothing brings it down."""
    (found,) = verify(loop(law), Scenario(10.0, UP), [C.PracticalStability(runs=2, settle=1.0)])
    assert found.holds is holds
    assert ("held where its path ends: start " in found.worst) is not holds


@pytest.mark.parametrize("law, holds", [(fading, False), (both_ways, True)])
def test_a_law_that_lets_go_beyond_where_it_came_to_rest_is_refused(law, holds):
    """The reference stands still from the start; the cart comes from 0 to 0.34, just inside of what the law holds."""
    loose = replace(CART, A=(0.0, 1.0, 0.5, -2.0))
    closed = ClosedLoop(loose, Sampled(Plain(law, references=("x_d",)), T_s=0.01))
    claim = C.PracticalStability(runs=2, settle=1.0)
    (found,) = verify(closed, Scenario(10.0, Hold("output", (0.31,))), [claim])
    assert found.holds is holds
    assert ("held where its path ends: start " in found.worst) is not holds


@pytest.mark.parametrize(
    "reference",
    [
        Waypoints("output", ((0.0,), (0.5,), (0.0,)), 3.0),
        Hold("output", (0.0,)),
        Sine("output", (0.0,), (0.5,), 0.2),
        Waypoints("output", ((0.0,), (0.5,)), 60.0),
    ],
    ids=["closes", "holds", "swings", "under way"],
)
def test_there_is_no_other_place_where_a_path_closes_or_goes_on(reference):
    assert there(run(loop(both_ways), Scenario(10.0, reference))) is None


@pytest.mark.parametrize("end", [0.5, -0.5])
def test_a_path_may_end_on_either_side(end):
    held = there(run(loop(both_ways), Scenario(10.0, Waypoints("output", ((0.0,), (end,)), 6.0))))
    assert held.log.array("x")[0] == pytest.approx(end, abs=1e-3)


@pytest.mark.parametrize("answer", [True, None, False])
def test_what_is_undecided_where_a_path_ends_is_not_held(monkeypatch, answer):
    """Only what holds there leaves the verdict of the other starts as it is."""
    seen = run(loop(both_ways), Scenario(10.0, UP))
    verdict = Verdict(
        "practical-stability", "back", answer, None if answer is None else "sampled", worst="so"
    )
    monkeypatch.setattr(elsewhere, "disturbed", lambda *given: ([], 1.0))
    monkeypatch.setattr(elsewhere, "decided", lambda *given: verdict)
    found = elsewhere.at_its_end(C.PracticalStability(), seen, None, None, None, None)
    if answer:
        assert found is None
    else:
        assert found.holds is answer and found.worst == "held where its path ends: so"


def test_a_loop_is_held_where_it_came_to_rest_under_the_pushes_of_then():
    """From where it is, its own offset included once, with what came to act; what repeats goes on."""
    path = Waypoints("output", ((0.0,), (2e-3,)), 2.0)
    push = Steps("output", (0.0, 1.0), (0.0, 5.0))
    seen = run(linear(), Scenario(4.0, path, {"F_ext": push}, offset={"Y": -1e-4}))
    held = there(seen)
    assert held.scenario.disturbances == {"F_ext": 5.0}
    assert held.log.array("Y")[0] == pytest.approx(seen.log.array("Y")[-1], abs=1e-12)
    again = run(linear(), Scenario(4.0, path, {"F_ext": Sine("output", (0.0,), (5.0,), 1.0)}))
    assert there(again).scenario.disturbances == again.scenario.disturbances


def test_a_machine_stands_at_rest_in_the_pose_where_its_path_ends():
    away = Waypoints(PATH.space, PATH.points[:2], 2.0)
    seen = run(sampled(REAL), Scenario(reference=away, duration=3.0))
    held = there(seen)
    end = [seen.log.array(name)[-1] for name in ("q_1", "q_2")]
    assert held.scenario.start == pytest.approx(end) and not held.scenario.offset
    assert held.log.array("q_1")[0] == pytest.approx(end[0])
    assert abs(held.log.array("dq_1")[0]) < 1e-12
