"""The shortest time with accelerations limited, the path's time law scaled: a closed form, proposals taken.

That least time is below: test_planning_fastest.
"""

from dataclasses import replace

import numpy as np
import pytest
from planning_cases import TRIANGLE, oil, random_crane, short, smaller, task

from plants.crane.planar import planar_crane
from workbench import InputError
from workbench.commands.cli import main
from workbench.planning import PlannedLoadSensing, Search, optimise, shortest_time
from workbench.planning.feasible import raised
from workbench.planning.least_duration import shortest
from workbench.run.reference import Waypoints

FEW = Search(nodes=61, tube=17, finest=1e-3)


def in_time(t, seconds):
    """The same path, straight edges, in so many seconds."""
    return replace(
        t, path=Waypoints("cartesian", t.path.points, seconds / (len(t.path.points) - 1))
    )


def test_an_extension_without_room_leaves_a_closed_form():
    crane, a = planar_crane(), 0.03
    stiff = replace(
        crane, cylinders=(*crane.cylinders[:2], replace(crane.cylinders[2], stroke=1e-6))
    )
    t = short(
        oil(),
        crane=smaller(stiff, a_max=a),
        order=2,
        path=Waypoints("cartesian", ((2.3, 0.5), (2.6, 1.3)), 7.0),
    )
    x = np.stack(t.crane.pistons(t.crane.joints(list(t.tips.T), 0.0))[:2])
    Δ = np.diff(x, axis=1)
    jumps = np.diff(np.pad(Δ, ((0, 0), (1, 1))), axis=1)
    exact = 20 * max(np.sqrt(np.abs(jumps).max() / a), np.abs(Δ).max() / 0.1)
    assert exact > 1.3 * shortest_time(replace(t, order=1))  # accelerations decide
    assert shortest_time(t) == pytest.approx(exact, rel=1e-3)


HELD = {"path": Waypoints("cartesian", ((2.4, 0.2), (3.2, 0.9)), 5.0), "start": 0.3, "p_max": 135e5}
CASES = {
    "speeds": short(oil(), order=2),
    "flow and end": short(oil(), order=2, Q_max=5e-4, end=0.923456),
    "accelerations": short(oil(), order=2, crane=smaller(planar_crane(), a_max=0.04)),
    "pressure": short(PlannedLoadSensing(), order=2, **HELD),
    "random crane": short(
        oil(),
        order=2,
        crane=random_crane(3),
        start=0.3,
        steps=60,
        path=Waypoints("cartesian", ((2.4, 0.2), (3.0, 0.7)), 5.0),
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("t", CASES.values(), ids=CASES)
def test_what_is_proposed_can_be_planned_and_less_cannot(t):
    found = shortest(t)
    seconds = raised(found.seconds)
    plan = optimise(in_time(t, seconds), FEW)
    moved = (
        np.diff(np.pad(plan.signals["x"], ((1, 1), (0, 0)), mode="edge"), axis=0)
        * t.steps
        / seconds
    )
    for cylinder, v, a in zip(
        t.crane.cylinders, moved.T, np.diff(moved, axis=0).T * t.steps / seconds
    ):
        assert np.abs(v).max() <= cylinder.v_max * (1 + 1e-9) and np.abs(
            a
        ).max() <= cylinder.a_max * (1 + 1e-6)
    assert found.speeds <= found.seconds < 1.002 * seconds
    with pytest.raises(InputError, match="cannot be followed in this time"):
        optimise(in_time(t, 0.97 * found.seconds), FEW)


@pytest.mark.long
def test_the_triangle_takes_little_more_than_speeds_ask_for():
    found = shortest(task(oil(), order=2))
    assert found.seconds == pytest.approx(shortest_time(task(oil())), rel=0.01)


def test_the_command_says_that_it_was_found(tmp_path, capsys):
    (tmp_path / "p.yaml").write_text(
        f"crane: hiab-reduced\nsupply: {{type: ConstantPressure}}\nsteps: 40\n"
        f"path: {{points: {[list(p) for p in TRIANGLE[:2]]}, leg: 10 s}}\n"
        "limits: {accelerations: true}\n"
    )
    assert main(["plan", str(tmp_path / "p.yaml"), "--shortest"]) == 0
    said = capsys.readouterr().out
    assert (
        "a motion that takes it was found; without limited accelerations: about" in said
        and "at least" not in said
    )
