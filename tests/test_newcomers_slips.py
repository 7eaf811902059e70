"""What a newcomer gets wrong in numbers, names and files: the refusal has place, reason and a mend that fits this machine."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from test_newcomers import written

from controllers.pid_tuning.linear import matrices
from plants import machine
from plants.multibody.checks import tell_odd_gravity
from workbench import changed
from workbench.cases.file import load, loads
from workbench.commands.cli import main
from workbench.contract.errors import InputError, Notice
from workbench.identification.reading import read_table
from workbench.verification.cause.named import _wrong
from workbench.verification.practical.claim import _without_runs
from workbench.verification.practical.starts import Start, stands
from workbench.verification.verdict import Verdict


# ---- counts, settings and directions that do not fit ------------------------------------------------------------------
@pytest.mark.parametrize(
    "law, key, words",
    [
        ("{law: PID, K_p: [1, 2]}", "controller.K_p", "expected one number, got 2"),
        ("{law: VDC, λ: [1, 2]}", "controller.λ", "expected one number, got 2"),
    ],
)
def test_what_does_not_fit_the_machine_is_told_at_its_key(law, key, words):
    with pytest.raises(InputError, match=words) as why:
        loads(written(("{law: PID}", law)))
    assert why.value.key == key and "compared" not in why.value.mend


@pytest.mark.parametrize("setting", ["feed: flow", "damping: pressure"])
def test_settings_that_need_chambers_are_refused_at_their_key(setting):
    with pytest.raises(InputError, match="this plant is a LinearActuator and has none at X") as why:
        loads(f"plant: ieha-published-linear\ncontroller: {{law: PID, {setting}}}")
    assert why.value.key == f"controller.{setting.split(':')[0]}"


def test_a_search_without_ranges_is_told_with_one_of_this_machine(tmp_path, capsys):
    path = tmp_path / "slide.yaml"
    path.write_text(written(then="claims: {falsify: {budget: 9}}\n"))
    for command in ("falsify", "verify"):
        assert main([command, str(path)]) == 3
        said = capsys.readouterr().err
        assert "slide.yaml, line 16, claims.falsify.over" in said
        assert "bodies.slide.mass: [42.5 kg, 127.5 kg]" in said
    path.write_text(written())
    assert main(["falsify", str(path)]) == 3
    assert "slide.yaml, line 2, claims: the search" in capsys.readouterr().err


@pytest.mark.parametrize(
    "gravity, words",
    [
        ("[0, 9.81, 0]", r"along \+y, which is upwards.*is \[0, -9.81, 0\]"),
        ("[0, 0, 9.8]", r"along \+z, which is upwards.*is \[0, 0, -9.8\]"),
        ("[0, -9810, 0]", "1000 times that of the earth"),
    ],
)
def test_odd_gravity_is_noticed_once(gravity, words):
    tell_odd_gravity.cache_clear()
    text = written(("method: minimal", f"method: minimal\n  gravity: {gravity}"))
    with pytest.warns(Notice, match=words) as told:
        loads(text)
    assert len([one for one in told if one.category is Notice]) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("gravity", ("[0, -9.81, 0]", "[0, 0, -1.62]", "[0, 0, 0]", "[9.81, 0, 0]"))
def test_usual_gravity_is_not(gravity):
    tell_odd_gravity.cache_clear()
    loads(written(("method: minimal", f"method: minimal\n  gravity: {gravity}")))


def test_a_machine_stands_only_where_it_carries_its_weight():
    """A start inside all strokes at which the lift cylinder is too weak is none."""
    crane = changed(machine("hiab-xs031").plant.locked(extension=0.5), {"payload.mass": "360 kg"})
    log = SimpleNamespace(array=lambda name: [dict(zip(("q_1", "q_2"), crane.initial()))[name]])
    run = SimpleNamespace(loop=SimpleNamespace(plant=crane), log=log)
    assert stands(run, Start({"q_1": -0.2}))
    crane.check_pose([-1.288 + 0.2, -1.982])
    assert not stands(run, Start({"q_1": 0.2}))


@pytest.mark.parametrize("lag, name", [("ideal", "u_push"), ("second", "u_s_push")])
def test_a_point_off_the_edge_is_advised_that_serves(lag, name):
    """With an ideal valve the command, behind a lag the spool: what is advised can be linearised."""
    stroke = f"stroke: 0.4 m, valve: {{lag: {lag}}}"
    loop = loads(written(("stroke: 0.4 m", stroke), then="loop: {sample_time: 1 ms}\n")).loop
    with pytest.raises(InputError, match="at its edge") as why:
        matrices(loop, {})
    assert f"--at {name}=0.1 (in a file" in why.value.mend
    assert len(matrices(loop, {name: 0.1})) == 1


def test_a_law_for_linear_plants_names_laws_that_serve(tmp_path):
    with pytest.raises(InputError, match="cannot linearise") as why:
        loads(written(("{law: PID}", "{law: LQR, Q: 1, R: 1}")))
    assert "MPC with relinearise: true, PID" in why.value.mend and "'at'" not in why.value.mend


# ---- recorded paths as machines write them -----------------------------------------------------------------------------
RECORDED = "{type: Recorded, space: joint, file: path.csv}"
WALKED = "{type: Waypoints, space: joint, points: [start, [0.85 m], start], leg: 2 s}"


@pytest.mark.parametrize(
    "text",
    [
        "time,x\n0,0.75\n1.5,0.8\n3,0.85\n",
        "time [ms],x [mm]\n0,750\n1500,800\n3000,850\n",
        "\ufeffZeit [s];x [cm]\r\n0,0;75,0\r\n\r\n1,5;80,0\r\n3,0;85,0\r\n",
        "0,0;0,75\n1,5;0,8\n3,0;0,85\n",
        "t (s)\tx (m)\n0\t0.75\n1.5\t0.8\n3\t0.85\n",
    ],
)
def test_a_recorded_path_may_have_units_semicolons_and_decimal_commas(tmp_path, text):
    (tmp_path / "path.csv").write_text(text, "utf-8", newline="")
    (tmp_path / "case.yaml").write_text(written((WALKED, RECORDED)), "utf-8")
    path = load(tmp_path / "case.yaml").scenario.reference
    assert path.times == pytest.approx((0.0, 1.5, 3.0))
    assert [x for (x,) in path.values] == pytest.approx([0.75, 0.8, 0.85])


@pytest.mark.parametrize("head, place", [("time [s],x [deg]", 2), ("time [mm],x [m]", 1)])
def test_a_column_of_a_path_in_another_unit_is_refused(tmp_path, head, place):
    (tmp_path / "path.csv").write_text(f"{head}\n0,0.75\n3,0.85\n")
    (tmp_path / "case.yaml").write_text(written((WALKED, RECORDED)))
    with pytest.raises(InputError, match=f"path.csv, line 1, column {place}: .*not in [sm],"):
        load(tmp_path / "case.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "time,X,Y\ns,mm,mm\n0,1,2\n0.1,3,4\n",
        "Zeit;X;Y\n[s];[mm];[mm]\n0;1,0;2\n0,1;3;4\n",
        "time [s],X [mm],Y [mm],\n0,1,2,\n0.1,3,4,\n",
    ],
)
def test_records_with_a_row_of_units_or_separators_at_the_ends(tmp_path, text):
    (tmp_path / "bench.csv").write_text(text)
    columns = read_table(tmp_path / "bench.csv").columns
    assert [unit for unit, _ in columns.values()] == ["s", "mm", "mm"]
    assert columns["X"][1].tolist() == [1.0, 3.0] and columns["Y"][1].tolist() == [2.0, 4.0]


def test_a_date_in_place_of_seconds_is_told(tmp_path):
    (tmp_path / "bench.csv").write_text("time,X\n2026-11-28T10:00:00,1\n")
    with pytest.raises(InputError, match="not a number") as why:
        read_table(tmp_path / "bench.csv")
    assert "--period" in why.value.mend and why.value.line == 2


@pytest.mark.parametrize("mass", ("250,5 kg", "2,5e2", "250,5"))
def test_a_decimal_comma_in_a_change_is_told(mass):
    with pytest.raises(InputError) as why:
        loads(f"plant: {{machine: hiab-xs031, change: {{payload.mass: {mass}}}}}\n")
    assert "a decimal point, as in 1.5" in why.value.mend and "Any" not in why.value.message


def test_what_was_not_run_has_no_cause():
    """Where no other start can be had, a gain is not what to look at."""
    row = Verdict("practical-stability", "it comes back", None, None, data={"not_run": True})
    assert not _wrong(row) and _wrong(replace(row, data={}))


ASKED = (
    SimpleNamespace(
        left=("", ""), loop=SimpleNamespace(plant=SimpleNamespace(no_other_starts="shut"))
    ),
    SimpleNamespace(unsound=""),
    lambda holds, worst, **more: Verdict(
        "practical-stability", "", holds, None, worst=worst, **more
    ),
)


@pytest.mark.parametrize("runs, words", [(0, "runs: 0"), (6, "no other start can be had: shut")])
def test_starts_that_were_not_run_are_told_as_such(runs, words):
    found = _without_runs(SimpleNamespace(runs=runs), *ASKED)
    assert words in found.worst and not _wrong(found)
