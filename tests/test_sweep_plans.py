"""`workbench sweep` over plan files: paths, supplies, loads by name; cases without a motion; what a file can get wrong."""

import json
from dataclasses import replace

import pytest

from workbench.cases.file import driver, plan_of
from workbench.cases.yaml_input import read
from workbench.commands import cli
from workbench.planning.compare import compare
from workbench.planning.driven import drive_all
from workbench.sweep import Table, plans, sweep
from workbench.sweep.form import read_sweep
from workbench.sweep.outcome import digest

BASE = """\
crane: {planar: hiab-reduced, change: {load: 15 kg}}
path: {points: [[2.5 m, 0.5 m], [3.3 m, 1.4 m]], leg: 4 s}
supply: {type: LoadSensing, margin: 17 bar}
limits: {room: 20 mm}
steps: 16
search: {nodes: 41, finest: 4 mm}
"""
SWEEP = """\
plan: base.yaml
grid:
  path.points:
    up: [[2.5 m, 0.5 m], [3.3 m, 1.4 m]]
    out: [[2.4 m, 0.2 m], [3.5 m, 0.3 m]]
  crane.load: [15 kg, 70 kg]
  supply:
    LS: {type: LoadSensing, margin: 17 bar}
    CP: {type: ConstantPressure, p_s: 185 bar}
collect: {planners: ["pseudo-inverse, weighted", "pointwise, LoadSensing"]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_gives_what_plan_says_of_each_file_written_out(folder, capsys):
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 0
    said, table = capsys.readouterr().out, Table.load("sweep.nc")
    assert "8 ran, 0 failed" in said and "the optimum saves" in said and "by supply: LS " in said
    assert (
        table.column("crane.load").unit == "kg"
        and list(table["path.points"]) == ["up"] * 4 + ["out"] * 4
    )
    for i in (1, 6):
        constant = ("{type: LoadSensing, margin: 17 bar}", "ConstantPressure")
        out = ("[[2.5 m, 0.5 m], [3.3 m, 1.4 m]]", "[[2.4 m, 0.2 m], [3.5 m, 0.3 m]]")
        (folder / "p.yaml").write_text(
            BASE.replace(*constant) if i == 1 else BASE.replace(*out).replace("15 kg", "70 kg")
        )
        case = plan_of(read("p.yaml"), "p.yaml")
        wanted = compare(
            case.task,
            case.search,
            case.starts,
            only=["pseudo-inverse, weighted"],
            look_around=False,
        )
        best, other = wanted.rows
        assert (
            table["dynamic programming.energy"][i] == best.energy
            and table["dynamic programming.smoothed"][i] == best.driven
        )
        assert table["dynamic programming.estimate"][i] == wanted.best.estimate > 0
        assert table["pseudo-inverse, weighted.saving"][i] == 1 - best.energy / other.energy > 0.01
        assert (table["no motion below"][i] == wanted.bound) == (i == 1)
    creeping = table["dynamic programming.creeping"]
    assert (creeping[::2] >= 0).all() and (
        creeping[1::2] != creeping[1::2]
    ).all()  # asked of load sensing only
    energy = table["dynamic programming.energy"]  # at constant pressure oil counts, and no load
    assert (
        len(set(energy)) == 6
        and list(energy[[1, 5]]) == list(energy[[3, 7]])
        and set(table["motion"]) == {"found"}
    )


NAMES = [  # crane, name, value, where the value must arrive in the task, as what
    ("hiab-reduced", "crane.load", "37 kg", lambda t: t.crane.load, 37.0),
    ("hiab-reduced", "crane.cylinders.0.bore", "91 mm", lambda t: t.crane.cylinders[0].bore, 0.091),
    (
        "{planar: hiab-reduced, change: {load: 5 kg}}",
        "crane.g",
        "1.6 m/s^2",
        lambda t: (t.crane.g, t.crane.load),
        (1.6, 5.0),
    ),
    (
        "{machine: hiab-xs031}",
        "crane.payload.mass",
        "37 kg",
        lambda t: t.crane.machine.payload.mass,
        37.0,
    ),
    (
        "{machine: hiab-xs031}",
        "crane.change.tilt.bore",
        "91 mm",
        lambda t: t.crane.cylinders[1].bore,
        0.091,
    ),
    (
        "{machine: hiab-xs031, change: {payload.mass: 9 kg}}",
        "crane.change",
        {"lift.bore": "91 mm", "tilt.bore": 0.092},
        lambda t: (t.crane.machine.payload.mass, *(c.bore for c in t.crane.cylinders[:2])),
        (9.0, 0.091, 0.092),
    ),
    ("{machine: hiab-xs031}", "crane.whole", False, lambda t: hasattr(t.crane, "machine"), False),
    (
        "hiab-reduced",
        "crane",
        {"machine": "hiab-xs031"},
        lambda t: hasattr(t.crane, "machine"),
        True,
    ),
    ("hiab-reduced", "supply.margin", "3 bar", lambda t: t.supply.margin, 3e5),
    ("hiab-reduced", "path.leg", "7 s", lambda t: t.path.duration, 7.0),
    ("hiab-reduced", "limits.flow", "30 l/min", lambda t: t.Q_max, 5e-4),
    ("hiab-reduced", "end", "0.3 m", lambda t: t.end, 0.3),
    ("hiab-reduced", "steps", 9, lambda t: t.steps, 9),
]


@pytest.mark.parametrize(
    "crane, name, value, at, wanted", NAMES, ids=[f"{c[:8]} {n}" for c, n, *_ in NAMES]
)
def test_names_find_their_place(folder, crane, name, value, at, wanted):
    base = BASE.replace("{planar: hiab-reduced, change: {load: 15 kg}}", crane)
    (folder / "base.yaml").write_text(base)
    (folder / "s.yaml").write_text(f"plan: base.yaml\ngrid:\n  {name}: [{json.dumps(value)}]\n")
    asked = read_sweep("s.yaml")
    assert at(asked.study.case(asked.grid.points()[0]).task) == pytest.approx(wanted, rel=1e-12)
    (folder / "s.yaml").write_text(
        f"plan: base.yaml\ngrid:\n  {name}: {{β: {json.dumps(value)}}}\n"
    )
    asked = read_sweep("s.yaml")
    (point,) = asked.grid.points()
    assert point == {name: "β"} and at(asked.study.case(point).task) == pytest.approx(
        wanted, rel=1e-12
    )


def test_units_of_plain_numbers_are_those_of_what_they_set(folder):
    (folder / "s.yaml").write_text(
        "plan: base.yaml\ngrid: {crane.load: [1, 2], supply.margin: [1e5], limits.room: [0.02], "
        "path.leg: [4], steps: [16, 18]}\n"
    )
    units = {
        "crane.load": "kg",
        "supply.margin": "Pa",
        "limits.room": "m",
        "path.leg": "s",
        "steps": "",
    }
    assert read_sweep("s.yaml").units == units


# ---- no motion ------------------------------------------------------------------------------------------------------
def test_a_path_out_of_reach_is_a_row_that_says_why_and_the_others_go_on(folder, capsys):
    text = SWEEP.replace(
        "out: [[2.4 m, 0.2 m], [3.5 m, 0.3 m]]", "far: [[2.4 m, 0.2 m], [9.5 m, 0.3 m]]"
    )
    (folder / "s.yaml").write_text(text.replace("[15 kg, 70 kg]", "[15 kg, -1 kg]"))
    assert cli.main(["sweep", "s.yaml", "--jobs", "1"]) == 0
    said, table = capsys.readouterr().out, Table.load("s.nc")
    assert list(table["motion"]) == ["found", "found", "", ""] + ["none", "none", "", ""]
    assert (
        "outside the workspace" in table["why"][4]
        and "move this part of the path" in table["why"][4]
    )
    assert [bool(e) for e in table.errors] == [
        False,
        False,
        True,
        True,
    ] * 2 and "s.yaml, line 6, crane." in table.errors[2]
    assert (
        "no motion, 2 cases (4, 5): at t = " in said
        and "4 ran, 4 failed" in said
        and "case 2 failed" in said
    )


def test_a_start_that_does_not_fit_is_named(folder):
    (folder / "s.yaml").write_text(
        "plan: base.yaml\ngrid: {start: [0.9 m], path.points: [[[1.9, 0.5], [2.5, 1.0]]]}\n"
    )
    asked = read_sweep("s.yaml")
    (why,) = sweep(asked.study, asked.grid, jobs=1)["why"]
    assert why.startswith("start: an extension of 0.9 m does not fit there") and "choose" in why


def test_a_baseline_that_cannot_finish_says_why(folder, monkeypatch):
    from workbench.planning import compare as module
    from workbench.sweep import plans

    asked = read_sweep("sweep.yaml")
    case = asked.study.case(asked.grid.points()[0])

    def stuck(task, *_):
        raise module.InputError("no step is left")

    monkeypatch.setattr(module, "pseudo_inverse", stuck)
    found = plans.results(case, asked.study.collect)
    assert (
        found["pseudo-inverse, weighted.note"] == "no step is left"
        and "pseudo-inverse, weighted.energy" not in found
    )
    monkeypatch.setattr(
        module, "optimise", stuck
    )  # names no key: not a task without a motion, but something that went wrong
    with pytest.raises(module.InputError, match="no step is left"):
        plans.results(case, asked.study.collect)


# ---- the same, and again --------------------------------------------------------------------------------------------
def test_two_processes_and_a_sweep_that_goes_on_give_the_same_bytes(folder, capsys, monkeypatch):
    from workbench.sweep import plans

    text = SWEEP.replace("    out: [[2.4 m, 0.2 m], [3.5 m, 0.3 m]]\n", "").replace(
        ', "pointwise, LoadSensing"', ""
    )
    (folder / "sweep.yaml").write_text(text)
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "2", "--quiet", "--out", "two.nc"]) == 0
    ran = []

    def results(case, collect, real=plans.results):
        ran.append(case)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return real(case, collect)

    monkeypatch.setattr(plans, "results", results)
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 130
    assert "go on with --resume" in capsys.readouterr().err and not (folder / "sweep.nc").exists()
    (folder / "sweep.yaml").write_text(
        text.replace("up:", "upwards:")
    )  # a word for a value is no part of the case
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1", "--resume"]) == 0
    assert len(ran) == 5 and "2 of them taken from the journal" in capsys.readouterr().out
    (folder / "sweep.yaml").write_text(text)
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1", "--resume"]) == 0 and len(ran) == 5
    assert (folder / "sweep.nc").read_bytes() == (folder / "two.nc").read_bytes()


def test_cases_are_known_by_what_they_depend_on(folder):
    def hashed(text, at=0):
        (folder / "s.yaml").write_text(text)
        asked = read_sweep("s.yaml")
        return digest(asked.study, asked.grid.points()[at])

    first = hashed(SWEEP)
    assert (
        first == hashed(SWEEP.replace("up:", "u:")) == hashed(SWEEP.replace("LS:", "load sensing:"))
    )
    others = [hashed(SWEEP, at) for at in range(1, 8)]
    changed = [
        SWEEP.replace("[2.5 m, 0.5 m]", "[2.5 m, 0.6 m]"),
        SWEEP.replace(', "pointwise, LoadSensing"', ""),
    ]
    assert len({first, *others, *map(hashed, changed)}) == 10
    (folder / "base.yaml").write_text(BASE.replace("nodes: 41", "nodes: 43"))
    assert hashed(SWEEP) != first


# ---- driven ---------------------------------------------------------------------------------------------------------
def test_motions_are_driven_and_metered(folder):
    (folder / "base.yaml").write_text("""\
crane: {machine: hiab-xs031}
path: {points: [[2.6 m, 0.2 m], [2.8 m, 0.5 m]], leg: 1.5 s}
limits: {room: 100 mm}
steps: 12
search: {nodes: 41, finest: 4 mm}
""")
    (folder / "s.yaml").write_text(
        "plan: base.yaml\ngrid: {supply: {CP: ConstantPressure, Work: Work}}\n"
        "collect: {planners: ['pseudo-inverse, weighted'], drive: PID}\n"
    )
    asked = read_sweep("s.yaml")
    table = sweep(asked.study, asked.grid, jobs=1)
    case = asked.study.case({"supply": "CP"})
    found = compare(case.task, case.search, 0, only=["pseudo-inverse, weighted"], look_around=False)
    (_, best, _), (other, plain, _) = drive_all(found, *driver(case.task, "PID"), "PID").rows
    assert table["dynamic programming.metered"][0] == best.account.metered != best.account.planned
    assert table[f"{other}.metered saving"][0] == 1 - best.account.metered / plain.account.metered
    assert (
        table[f"{other}.tip error"][0] == plain.error.max()
        and table["dynamic programming.gap"][0] == best.account.gap
    )
    assert table["dynamic programming.by compression"][0] == best.account.terms["compression"]
    counted = [v for v in best.examination.verdicts if v.counted]
    assert counted and [table[f"dynamic programming.claim {v.key}"][0] for v in counted] == [
        v.word for v in counted
    ]
    assert "cannot be driven" in table["not driven"][1] and not any(table.errors)


# ---- files that cannot be -------------------------------------------------------------------------------------------
GRID = "plan: base.yaml\ngrid:\n  "
BAD = [  # text, line, what the message holds
    ("plan: base.yaml\ncase: base.yaml\n", None, "both a case: and a plan:"),
    ("plan: base.yaml\n", None, "nothing to vary"),
    ("plan: case.yaml\ngrid: {steps: [9]}\n", 1, "a case, not a plan"),
    ("case: base.yaml\ngrid: {steps: [9]}\n", 1, "a plan, not"),
    ("plan: bas.yaml\ngrid: {steps: [9]}\n", None, "no such file"),
    ("plan: [1]\ngrid: {steps: [9]}\n", 1, "expected a plan file"),
    (GRID + "pahts.leg: [4 s]\n", 3, "did you mean path"),
    (GRID + "path.legg: [4 s]\n", 3, "did you mean leg"),
    (GRID + "crane.laod: [1 kg]\n", 3, "nothing called 'laod'"),
    (GRID + "limits: [{}]\n", 3, "whole section"),
    (GRID + "path.leg: [4 kg]\n", 3, "a time was expected"),
    (GRID + "crane.load: {}\n", 3, "expected a list of values"),
    (GRID + "supply: {LS: LoadSensnig}\n", 3, "did you mean LoadSensing"),
    (GRID + "path.leg: {a: 4 kg}\n", 3, "a time was"),
    (GRID + "steps: [9]\ncollect: {planners: [pseudo]}\n", 4, "no planner 'pseudo'"),
    (GRID + "steps: [9]\ncollect: {verdicts: true}\n", 4, "verdicts"),
    (GRID + "steps: [9]\ncollect: {drive: MPC}\n", 4, "MPC"),
    (GRID + "steps: [9]\ncollect: {drive: PID}\n", 4, "no machine that could be driven"),
]


@pytest.mark.parametrize("text, line, words", BAD, ids=[words for *_, words in BAD])
def test_a_file_that_cannot_be_is_answered_at_its_line(folder, capsys, text, line, words):
    (folder / "bad.yaml").write_text(text)
    (folder / "case.yaml").write_text("plant: hiab-xs031\n")
    assert cli.main(["sweep", "bad.yaml"]) == 3
    said = capsys.readouterr().err
    assert words in said and said.count("mend: ") == 1 and "Traceback" not in said, said
    if line:
        assert f"bad.yaml, line {line}" in said, said
    assert sorted(p.name for p in folder.iterdir()) == [
        "bad.yaml",
        "base.yaml",
        "case.yaml",
        "sweep.yaml",
    ]


def test_the_example_is_read():
    from pathlib import Path

    asked = read_sweep(Path(__file__).parents[1] / "examples" / "sweep-triangles.yaml")
    points = asked.grid.points()
    cases = [asked.study.case(point) for point in (points[0], points[-1])]
    assert len(points) == 32 and [c.task.crane.machine.payload.mass for c in cases] == [0.0, 60.0]
    assert (
        cases[0].task.supply == replace(cases[0].task.supply, p_s=185e5)
        and cases[1].task.crane.cylinders[0].bore == 0.09
    )


def test_plans_of_least_time_have_times_in_place_of_energies(folder, capsys):
    (folder / "s.yaml").write_text(
        "plan: base.yaml\ngrid: {objective: [time], path.points: {up: [[2.5, 0.5], [3.3, 1.4]]}}\n"
    )
    assert cli.main(["sweep", "s.yaml", "--jobs", "1"]) == 0
    table, said = Table.load("s.nc"), capsys.readouterr().out
    time, bound = table["least time.time"][0], table["no motion faster than"][0]
    assert (
        bound < time < table["own time law, as a whole.time"][0] < 4.0
        and table.column("least time.time").unit == "s"
    )
    assert "no motion faster than" in said and "dynamic programming" not in said


def test_a_crane_that_is_no_mapping_is_nobodys():
    assert plans._crane(7) is None and plans._crane("hiab") is None
    assert plans._crane({"machine": "hiab-xs031"})
