"""Baselines, direct transcription, neighbours, the plan as a reference, the command."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from planning_cases import CP, TRIANGLE, oil, short, task

from plants.crane.planar import planar_crane
from plants.crane.planar_whole import WholeCrane, whole_crane
from workbench import InputError, Scenario
from workbench.commands.cli import main
from workbench.planning import (
    EfficiencyMap,
    ElectricLoadSensing,
    Plan,
    PlannedConstantPressure,
    PlannedLoadSensing,
    Search,
    Speed,
    Stretched,
    TwoPressures,
    Work,
    optimise,
)
from workbench.planning.baselines import limited, pointwise, pseudo_inverse
from workbench.planning.compare import compare
from workbench.planning.drive import driven, driven_energy, extension, write_plan
from workbench.planning.dynamic import energy
from workbench.planning.neighbours import neighbours
from workbench.planning.paths import read_path
from workbench.planning.pressures import pressures
from workbench.planning.recursion import solved
from workbench.planning.transcription import Sides, _held, transcribe
from workbench.run.reference import Waypoints
from workbench.run.spline import Spline


@pytest.fixture(scope="module")
def plans():
    return {"CP": optimise(task(oil())), "LS": optimise(task())}


# ---- baselines ----------------------------------------------------------------------------------------------------------
def test_baselines_cost_what_is_known(plans):
    """Known of this triangle: pseudo-inverse 7–11 % more oil, 41–64 % more load-sensing energy; the path of least oil 31–59 %."""
    ls, found = task(), {}
    for name, plan in (
        ("weighted", pseudo_inverse(ls)),
        ("unweighted", pseudo_inverse(ls, False)),
        ("least oil", plans["CP"]),
    ):
        found[name] = (
            energy(task(oil()), plan.q_3) / CP - 1,
            energy(ls, plan.q_3) / plans["LS"].energy - 1,
        )
    for name in ("weighted", "unweighted"):
        assert 0.07 < found[name][0] < 0.12 and 0.41 < found[name][1] < 0.65
    assert 0.31 < found["least oil"][1] < 0.59


def test_pointwise_optima_look_no_further(plans):
    now = pointwise(task(), PlannedLoadSensing())
    assert 1.02 * plans["LS"].energy < now.energy < 1.1 * plans["LS"].energy
    assert pointwise(task(oil()), oil()).energy == pytest.approx(
        CP, rel=1e-3
    )  # of oil, the best step now is the best there is


def test_baselines_end_where_they_shall():
    t = short(end=0.923456)
    for plan in (pseudo_inverse(t), pointwise(t, PlannedLoadSensing())):
        assert plan.q_3[-1] == 0.923456 and plan.energy < 1e29
        assert plan.energy >= optimise(t, Search(nodes=209)).energy * (1 - 1e-6)


@pytest.mark.quick
def test_the_pseudo_inverse_is_the_null_space_formula():
    """q̇ = W⁻¹Jᵀ(J W⁻¹Jᵀ)⁻¹ ẋ (9) in actuator space, where no limit is active: the first small step of the path."""
    path = Waypoints("cartesian", ((3.0, 1.0), (3.2, 1.1)), 10.0)
    t = task(path=path, steps=400, start=0.5)
    plan = pseudo_inverse(t, weighted=False)
    k, q = 200, None
    q3 = plan.q_3
    u = (q3[k + 1] - q3[k]) / t.dt
    crane = t.crane
    r, rd, _ = (t.middles[i, k] for i in range(3))
    q = [float(v) for v in crane.joints(r, (q3[k] + q3[k + 1]) / 2)]
    h = 1e-6
    J = np.column_stack(
        [
            (np.array(crane.tip(np.add(q, h * e))) - crane.tip(np.subtract(q, h * e))) / (2 * h)
            for e in np.eye(3)
        ]
    )
    Ja = J / np.array(crane.levers(q))  # per piston
    v = Ja.T @ np.linalg.solve(Ja @ Ja.T, rd)
    assert u == pytest.approx(v[2], rel=2e-3)


# ---- direct transcription -----------------------------------------------------------------------------------------------
def test_every_start_of_the_transcription_finds_the_oil(plans):
    best, starts = transcribe(task(oil()), starts=2)
    assert best.energy == pytest.approx(plans["CP"].energy, rel=2e-5)
    assert (
        abs(plans["CP"].energy - best.energy) <= plans["CP"].estimate
    )  # the estimate covers the truth
    assert [s.energy for s in starts] == pytest.approx([best.energy] * 2, rel=1e-6)


MAP = EfficiencyMap((2e6, 1e7, 2e7), (1e-4, 6e-4), ((0.5, 0.7), (0.6, 0.85), (0.7, 0.8)))


@pytest.mark.long
@pytest.mark.parametrize(
    "supply, order, above",
    [
        (PlannedLoadSensing(creep=3e-3, back=2e5, η=0.8), 1, 0.2),
        (ElectricLoadSensing(), 2, 0.2),
        (TwoPressures(), 2, 1e-4),
        (Work(), 1, 2e-3),
        (Speed(), 2, 1e-5),
        (PlannedConstantPressure(map=MAP), 1, 1e-5),
    ],
    ids=lambda v: type(v).__name__,
)
def test_the_transcription_knows_every_supply_and_is_not_below_the_estimate(supply, order, above):
    """Where costs jump it ends above dynamic programming, where they do not it finds the same: two ways to the truth."""
    t = short(supply, order=order, steps=12)
    plan = optimise(t, Search() if order == 1 else Search(nodes=105, tube=17))
    best, starts = transcribe(t, starts=1)
    assert -plan.estimate <= best.energy - plan.energy <= above * plan.energy
    assert starts[0].energy == best.energy and starts[0].status


def test_given_sides_the_transcription_finds_the_optimum_of_load_sensing_again():
    """The planner's sides, spoilt extensions: IPOPT comes back, and no motion with these sides is below the estimate."""
    t = short()
    plan = optimise(t)
    again = _held(t, Sides(t, 500).solve(plan.q_3))
    assert (
        -plan.estimate
        <= energy(replace(t, crane=limited(t.crane, 1 + 1e-6)), again) - plan.energy
        <= 1e-4 * plan.energy
    )


LIFT = Waypoints("cartesian", ((2.3, 0.2), (2.8, 2.6)), 12.0)


@pytest.mark.parametrize(
    "t",
    [
        pytest.param(task(TwoPressures(map=MAP), path=LIFT, steps=50), marks=pytest.mark.long),
        task(PlannedLoadSensing(creep=3e-3), path=LIFT, steps=30),
        short(PlannedLoadSensing(map=MAP), order=2),
    ],
    ids=["two levels", "creep", "two states"],
)
def test_the_estimate_covers_what_much_finer_searches_find(t):
    """Of costs that jump, where two ways down may miss the same; more in benchmarks/planning_estimate.py."""
    search = Search() if t.order == 1 else Search(nodes=105, tube=17)
    plan, finer = (
        optimise(t, search),
        solved(t, replace(search, nodes=2 * search.nodes - 1, shrink=1.6)),
    )
    best = min(plan, finer, key=lambda p: p.energy)
    sides = energy(
        replace(t, crane=limited(t.crane, 1 + 1e-6)), _held(t, Sides(t, 500).solve(best.q_3))
    )
    assert 0 < plan.energy - min(best.energy, sides) <= plan.estimate < 0.02 * plan.energy


def test_an_optimum_on_the_first_grid_leaves_nothing_to_win():
    """Up its own circle an extension rests, and the oil is what the lift takes: no finer grid wins, and the estimate says so."""
    crane, q_1 = planar_crane(), np.linspace(0.5, 0.9, 9)
    tips = tuple(tuple(float(v) for v in crane.tip([q, -1.5, 0.0])) for q in q_1)
    path = Spline("cartesian", tuple(np.linspace(0.0, 8.0, 9).tolist()), tips)
    plan = optimise(task(oil(), path=path, steps=8), Search(nodes=4))
    taken = crane.cylinders[0].areas[0] * (crane.lift.length(q_1[-1]) - crane.lift.length(q_1[0]))
    assert plan.energy == pytest.approx(taken, rel=1e-9) and 0 <= plan.estimate < 1e-6 * plan.energy


def test_limits_of_the_pump_hold_in_the_transcription():
    free = transcribe(short(steps=10), 1)[0].signals
    Q_max, p_max = 0.9 * free["Q"].max(), 0.98 * free["p"].max()
    held = transcribe(short(steps=10, Q_max=Q_max, p_max=p_max), 1)[0].signals
    assert held["Q"].max() <= Q_max * (1 + 1e-6) and held["p"].max() <= p_max * (1 + 1e-6)


# ---- neighbours ---------------------------------------------------------------------------------------------------------
def test_no_neighbour_is_better_by_more_than_the_estimate(plans):
    for plan in plans.values():
        found = neighbours(plan, trials=300, seed=5)
        assert found.allowed > 200 and found.gain <= max(1e-3 * plan.energy, plan.estimate)


def test_a_spoilt_plan_has_better_neighbours(plans):
    """The planted fault: a bump in the path of least energy."""
    plan = plans["LS"]
    q = plan.q_3 + 0.004 * np.exp(-(((np.arange(151) - 30) / 4) ** 2))
    q[0] = plan.q_3[0]
    spoilt = replace(plan, q_3=q, energy=energy(plan.task, q))
    assert spoilt.energy < 1e29
    assert neighbours(spoilt, trials=300).gain > 5e-3 * plan.energy


# ---- to be driven -------------------------------------------------------------------------------------------------------
def test_the_reference_is_exact_at_the_tip_and_at_rest_at_the_ends(plans):
    plan = plans["LS"]
    path = driven(plan)
    t = np.linspace(0, 30, 997)
    np.testing.assert_allclose(
        path.sample(t, 0)[0][:, :2], plan.task.path.sample(t, 0)[0], atol=2e-6
    )
    ends = path.sample(np.array([0.0, 30.0]), 0)[0][:, 2]
    np.testing.assert_allclose(ends, plan.q_3[[0, -1]], atol=1e-12)
    q = extension(plan, t)
    assert q.min() >= plan.q_3.min() - 1e-12 and q.max() <= plan.q_3.max() + 1e-12
    speed = np.abs(np.gradient(q, t)).max()
    assert speed <= np.abs(np.diff(plan.q_3)).max() / plan.task.dt * (1 + 1e-9)


def test_a_straight_extension_is_reproduced():
    t = task()
    plan = Plan(t, 0.1 + 0.004 * np.arange(151), 0.0)
    inner = np.linspace(2.0, 28.0, 50)
    np.testing.assert_allclose(extension(plan, inner), 0.1 + 0.004 * inner / t.dt, atol=1e-12)


@pytest.mark.long
def test_creeping_does_not_survive_and_can_be_planned_for(plans):
    """The load-sensing optimum holds a loaded cylinder on the edge of sinking; smoothed by micrometres it costs a third more."""
    brave, careful = plans["LS"], optimise(task(PlannedLoadSensing(creep=3e-3)))
    assert driven_energy(brave) > 1.2 * brave.energy
    asked = Plan(brave.task, careful.q_3, energy(brave.task, careful.q_3))
    assert asked.creeping() < 6 and brave.creeping() > 50
    assert driven_energy(asked) < 1.06 * asked.energy and driven_energy(
        asked
    ) < 0.9 * driven_energy(brave)


def test_creep_counts_a_resting_and_a_slowly_sinking_load():
    areas = [(5e-3, 3e-3)] * 3
    p = pressures([-1e-3, 0.0, -0.02], [2e4, 2e4, 2e4], areas, 0.0, 3e-3)
    assert p == pytest.approx([4e6, 4e6, 0.0])
    assert pressures([-1e-3, 0.0, 1e-3], [2e4, 2e4, 2e4], areas) == pytest.approx([0.0, 0.0, 4e6])


def test_the_csv_is_a_reference_of_the_full_crane(tmp_path):
    from controllers import VDC
    from plants import machine
    from workbench import ClosedLoop, Sampled, simulate

    crane = WholeCrane.of(machine("hiab-xs031").plant)
    t = task(
        PlannedLoadSensing(creep=3e-3),
        crane=crane,
        path=Waypoints("cartesian", TRIANGLE[:2], 8.0),
        steps=40,
        start=0.02,
        room=0.01,
    )
    plan = optimise(t, Search(nodes=105, finest=1e-4))
    write_plan(tmp_path / "plan.csv", plan)
    path = Spline.from_csv(tmp_path / "plan.csv", "cartesian")
    plant = crane.machine
    start = tuple(float(v) for v in crane.positions(plan.signals["q"][0]))
    log = simulate(
        ClosedLoop(plant, Sampled(VDC(model=plant), T_s=1e-3)),
        Scenario(reference=path, start=start),
    )
    assert log.status.completed
    wanted = t.path.sample(log.time, 0)[0]
    for name, column in (("tcp_x", 0), ("tcp_y", 1)):
        assert float(np.abs(np.asarray(log[name]) - wanted[:, column]).max()) < 0.01


# ---- paths --------------------------------------------------------------------------------------------------------------
def test_a_path_with_nan_is_refused_with_its_line(tmp_path):
    file = tmp_path / "tip.csv"
    file.write_text("time,x,y\n0,2.3,0.2\n1,nan,0.3\n2,2.5,0.4\n")
    with pytest.raises(InputError, match=r"tip.csv, line 3.*not finite"):
        read_path(file)
    file.write_text("time,x,y\n0,2.3,0.2\n1,,0.3\n2,2.5,0.4\n")
    with pytest.raises(InputError, match="line 3"):
        read_path(file)
    file.write_text("0,2.3,0.2,1\n1,2.4,0.3,1\n")
    with pytest.raises(InputError, match="two, x and y"):
        read_path(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_path(tmp_path / "none.csv")


def test_a_stretched_path_is_the_same_path():
    path, slow = (
        Waypoints("cartesian", TRIANGLE, 3.0),
        Stretched(Waypoints("cartesian", TRIANGLE, 3.0), 2.5),
    )
    t = np.linspace(0.1, 8.9, 40)
    a, b = path.sample(t, 2), slow.sample(2.5 * t, 2)
    for i in range(3):
        np.testing.assert_allclose(a[i], b[i] * 2.5**i, atol=1e-12)
    assert slow.duration == 22.5
    same = Waypoints("cartesian", TRIANGLE, 7.5)
    np.testing.assert_allclose(slow.sample(2.5 * t, 2), same.sample(2.5 * t, 2), atol=1e-12)
    np.testing.assert_allclose(slow.jerk_jumps()[1], same.jerk_jumps()[1], rtol=1e-12)


# ---- in one call, and from the terminal ---------------------------------------------------------------------------------
@pytest.mark.long
def test_one_call_compares_all():
    found = compare(short(), Search(nodes=105, finest=1e-4), starts=1)
    names = [r.name for r in found.rows]
    assert names == [
        "dynamic programming",
        "pseudo-inverse, weighted",
        "pseudo-inverse",
        "pointwise, pump flow",
        "pointwise, LoadSensing",
        "optimal pump flow",
        "direct transcription, best of 1",
    ]
    assert all(found.excess(r) >= -1e-4 for r in found.rows if r.energy is not None)
    assert 0.5 * found.best.energy < found.bound < found.best.energy == found.rows[0].energy


def test_what_does_not_apply_says_why():
    t = short(PlannedConstantPressure(), steps=8, order=2)
    found = compare(t, Search(nodes=61, finest=1e-3, tube=11), starts=1)
    notes = {r.name: r.note for r in found.rows if r.note}
    assert notes == {
        "pointwise, ConstantPressure": "does not apply: under this supply it is the same as pump flow, pointwise",
        "optimal pump flow": "does not apply: under this supply it is the same as the optimum",
    }
    last = found.rows[-1]
    assert last.name.startswith("direct transcription") and last.energy == pytest.approx(
        found.best.energy, rel=1e-3
    )
    assert found.bound < min(r.energy for r in found.rows if r.energy)


FILE = """\
title: a short one
crane: hiab-reduced
path: {points: [[2.3 m, 0.2 m], [2600 mm, 0.6]], leg: 4 s}
supply: {type: LoadSensing, margin: 15 bar}
steps: 20
search: {nodes: 105, finest: 0.1 mm}
"""


def run(tmp_path, text, *options) -> int:
    file = tmp_path / "case.yaml"
    file.write_text(text)
    return main(["plan", str(file), *options])


def test_the_command_writes_table_csv_and_json(tmp_path, capsys):
    out = {name: str(tmp_path / f"plan.{name}") for name in ("csv", "json")}
    assert run(tmp_path, FILE, "--csv", out["csv"], "--json", out["json"]) == 0
    said = capsys.readouterr().out
    assert (
        "a short one" in said
        and "pseudo-inverse, weighted" in said
        and "grids:" in said
        and "plan.csv" in said
    )
    packed = json.load(open(out["json"]))
    assert packed["planners"][0]["energy"] == packed["energy"] and len(packed["q_3"]) == 21
    rows = list(csv.reader(open(out["csv"])))
    assert (
        rows[0] == ["time [s]", "tcp_x [m]", "tcp_y [m]", "x_t [m]"] and float(rows[-1][0]) == 4.0
    )
    assert run(tmp_path, FILE, "--shortest") == 0
    assert "at least" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, words",
    [
        (("hiab-reduced", "hiab-reducd"), ("line 2", "choose from hiab-reduced")),
        (("crane: hiab-reduced", "crane: {machine: ieha-control}"), ("line 2", "is no crane")),
        (
            ("margin: 15 bar", "margin: 15 m"),
            ("line 4", "supply.margin", "a pressure was expected"),
        ),
        (
            ("leg: 4 s", "leg: 0.4 s"),
            ("case.yaml", "the path cannot be followed in this time", "take "),
        ),
        (("steps: 20", "stps: 20"), ("line 5", "did you mean steps")),
        (("steps: 20", "steps: 1"), ("line 5", "steps: 1", "2 or more")),
        (("steps: 20", "start: 3 m"), ("line 5, start", "outside 0 …")),
        (
            ("steps: 20", "limits: {room: 3 m}"),
            ("line 5, limits.room", "leaves nothing of a stroke"),
        ),
        (("[2600 mm, 0.6]", "[2.3 m, 0.2 m]"), ("line 3, path", "the tip rests")),
        (("[2600 mm, 0.6]", "[9 m, 0.6]"), ("case.yaml", "outside the workspace")),
        (
            (
                "path: {points: [[2.3 m, 0.2 m], [2600 mm, 0.6]], leg: 4 s}",
                "path: {type: Recorded, file: none.csv}",
            ),
            ("none.csv", "cannot be read"),
        ),
        (
            ("title: a short one\ncrane: hiab-reduced", "title: a short one"),
            ("there is no crane: section",),
        ),
        (("nodes: 105", "nodes: 2"), ("line 6, search.nodes", "3 to 50000, got 2")),
        (("[[2.3 m", "[[start"), ("path.points",)),
    ],
)
def test_bad_files_say_what_to_do(tmp_path, capsys, change, words):
    assert run(tmp_path, FILE.replace(*change), "--csv", str(tmp_path / "no.csv")) == 3
    said = capsys.readouterr().err
    assert all(word in said for word in words), said
    assert "mend:" in said and "Traceback" not in said and not (tmp_path / "no.csv").exists()


def test_a_load_that_only_sinks_takes_nothing(tmp_path, capsys):
    """No share of an energy of zero is asked for: the table, the JSON and the bound are there."""
    sinks = FILE.replace("[[2.3 m, 0.2 m], [2600 mm, 0.6]]", "[[2.6 m, 1.2 m], [2.6 m, 0.6 m]]")
    assert (
        run(
            tmp_path,
            sinks.replace("margin: 15 bar", "margin: 0 bar"),
            "--json",
            str(tmp_path / "o.json"),
        )
        == 0
    )
    said = capsys.readouterr().out
    assert (
        "no motion needs less than 0 J (numerical)" in said
        and "from nothing" in said
        and "%" not in said.split("bound:")[1]
    )
    assert json.load(open(tmp_path / "o.json"))["energy"] == 0.0


def test_a_file_may_give_all_there_is(tmp_path):
    from plants.crane.planar import PlanarCrane, planar_crane
    from workbench.cases.yaml_input import read
    from workbench.planning.case import plan_of

    file = tmp_path / "all.yaml"
    file.write_text("""\
crane: {machine: hiab-xs031, whole: false}
path: {type: Spline, times: [0, 5 s, 10], values: [[2.5 m, 0.5 m], [3 m, 120 cm], [3.2, 1.5]]}
supply:
  type: LoadSensing
  creep: 2 mm/s
  map: {pressures: [20 bar, 200 bar], flows: [6 l/min, 60 l/min], rows: [[0.5, 0.7], [0.6, 80 %]]}
limits: {flow: 30 l/min, pressure: 200 bar, room: 5 mm, accelerations: true}
end: 0.3 m
""")
    case = plan_of(read(file), str(file), planar_crane, whole_crane, PlanarCrane)
    t = case.task
    assert (t.order, t.Q_max, t.p_max, t.room, t.start, t.end) == (
        2,
        pytest.approx(5e-4),
        2e7,
        5e-3,
        5e-3,
        0.3,
    )
    assert t.path.times == (0.0, 5.0, 10.0) and t.path.values[1] == (3.0, 1.2)
    assert t.supply.map.at(2e7, 1e-3) == 0.8 and t.supply.creep == 2e-3 and t.crane.h > 0.1


def test_examples_are_read_as_plans():
    from pathlib import Path

    from plants.crane.planar import PlanarCrane, planar_crane
    from workbench.cases.yaml_input import read
    from workbench.planning.case import plan_of

    for name, supply in (("ls", PlannedLoadSensing()), ("cp", PlannedConstantPressure())):
        file = Path(__file__).parents[1] / "examples" / f"hiab-triangle-{name}.yaml"
        case = plan_of(read(file), str(file), planar_crane, whole_crane, PlanarCrane)
        assert (
            case.task.supply == supply
            and case.task.crane == planar_crane()
            and case.task.path.duration == 30.0
        )
        text = file.read_text("utf-8")
        loose = "\n".join(
            line.replace("# ", "", 1)
            if line.startswith("# ") and ":" in line and "    " not in line[:3]
            else line
            for line in text.splitlines()[8:]
        )
        assert "limits" in loose or name == "cp"
