"""Sweeps: the same table whatever ran where and in whatever order; nothing lost, nothing run twice; bad input in one message."""

import functools
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sweep_studies as studies

from workbench import cli, load, verify
from workbench.errors import InputError
from workbench.file import loads
from workbench.parameters import leaves
from workbench.sweep import Draw, Grid, Table, spaced, sweep
from workbench.sweep.form import read_sweep
from workbench.sweep.journal import HEAD, Journal
from workbench.sweep.outcome import Outcome, digest
from workbench.system import innermost
from workbench.units import measured

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GRID = {"a": [1.1, 2.3, 3.0, 4.7], "b": [0.3, -7.0, 1e-300]}


def run_python(code, *arguments, **options):
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{TESTS}"}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


# ---- which cases ----------------------------------------------------------------------------------------------------
def test_every_combination_once_the_last_axis_fastest():
    points = Grid(GRID).points()
    assert [tuple(p.values()) for p in points[:4]] == [(1.1, 0.3), (1.1, -7.0), (1.1, 1e-300), (2.3, 0.3)]
    assert len(points) == len(Grid(GRID)) == 12 == len({tuple(p.values()) for p in points})


def test_draws_depend_on_seed_name_and_place_only():
    draws = {"m": Draw("uniform", 2.0, 5.0), "k": Draw("normal", 1.0, 0.2)}
    few, many = Grid({"a": [1, 2]}, draws, 3, 7).points(), Grid({}, {"m": draws["m"]}, 50, 7).points()
    assert [p["m"] for p in few] == [p["m"] for p in many[:3]] * 2  # the same at every point of the grid
    assert all(p["m"] != q["m"] for p, q in zip(many, Grid({}, {"m": draws["m"]}, 50, 8).points()))
    assert len({p["k"] for p in few}) == 3 and {p["k"] for p in few}.isdisjoint(p["m"] for p in few)


def test_draws_have_their_distributions():
    scipy = pytest.importorskip("scipy.stats")
    draws = {"u": Draw("uniform", 2.0, 5.0), "l": Draw("log-uniform", 1e-3, 10.0), "n": Draw("normal", 3.0, 0.2)}
    points = Grid({}, {**draws, "c": Draw("choice", among=("x", "y"))}, 2000, 5).points()
    column = {name: [p[name] for p in points] for name in "ulnc"}
    assert scipy.kstest(column["u"], scipy.uniform(2, 3).cdf).pvalue > 1e-3
    assert scipy.kstest(column["l"], scipy.loguniform(1e-3, 10).cdf).pvalue > 1e-3
    assert scipy.kstest(column["n"], scipy.norm(3, 0.2).cdf).pvalue > 1e-3
    assert scipy.binomtest(column["c"].count("x"), 2000).pvalue > 1e-3
    assert abs(np.corrcoef(column["u"], column["n"])[0, 1]) < 0.1


def test_a_drawn_quantity_is_text_that_reads_back_exactly():
    point, = Grid({}, {"m": Draw("uniform", 2.0, 5.0, unit="kg")}, 1, 7).points()
    bare, = Grid({}, {"m": Draw("uniform", 2.0, 5.0)}, 1, 7).points()
    assert point["m"].endswith(" kg") and measured(point["m"]) == (bare["m"], "kg")


@pytest.mark.parametrize("text, number, unit", [
    ("185 bar", 1.85e7, "Pa"), ("10 kHz", 1e4, "Hz"), ("3 1/s", 3.0, "1/s"), ("30 deg/s", np.pi / 6, "rad/s"), ("50 %", 0.5, ""),
    ("2 N/mm", 2000.0, "N/m"), ("0.25", 0.25, ""), ("6 l/min", 1e-4, "m^3/s"), ("2 m^4", 2.0, "m^4")])
def test_what_a_quantity_measures_is_read_off_it(text, number, unit):
    found = measured(text)
    assert found[0] == pytest.approx(number, rel=1e-15) and found[1] == unit


@pytest.mark.parametrize("text", ["", "start", "3 foo", "1 mm 2", "kg"])
def test_what_is_no_quantity_is_text(text):
    assert measured(text) is None


def test_spaced():
    assert spaced(0.0, 2e-3, 3, "s") == ["0.0 s", "0.001 s", "0.002 s"]
    assert spaced(1.0, 100.0, 3, log=True) == pytest.approx([1.0, 10.0, 100.0], rel=1e-15)


@pytest.mark.parametrize("make, words", [
    (lambda: Grid({}), "nothing to vary"), (lambda: Grid({"a": []}), "no values"), (lambda: Grid({"a": "xyz"}), "list of values"),
    (lambda: Grid({"a": [1]}, {"a": Draw("uniform")}, 2), "on the grid and drawn"), (lambda: Grid({"a": [1]}, {}, 5), "give both"),
    (lambda: Grid({"a": range(1001), "b": range(1001)}), "1002001 cases"), (lambda: Draw("gauss"), "no distribution"),
    (lambda: Draw("uniform", 2, 1), "swap"), (lambda: Draw("log-uniform", 0, 1), "greater than zero"),
    (lambda: Draw("normal", 1, -1), "deviation"), (lambda: Draw("choice"), "nothing to choose"),
    (lambda: Draw("uniform", 0, float("inf")), "finite"), (lambda: spaced(1, 2, 1), "count"),
    (lambda: spaced(0, 2, 3, log=True), "greater than zero"), (lambda: sweep(studies.product, GRID, jobs=0), "0 processes"),
])
def test_grids_that_are_none_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


# ---- the table ------------------------------------------------------------------------------------------------------
def test_rows_columns_and_units():
    table = sweep(studies.product, {"a": [2.0, 3.0], "b": ["5 mm", "7 cm"]}, jobs=1)
    assert not any(sweep(lambda p: {"x": len(p["b"])}, {"b": ["5 mm"]}, jobs=1).errors)
    assert table.column("b").unit == "m" and list(table["b"]) == [5e-3, 0.07] * 2
    assert all("TypeError" in e for e in table.errors)  # `product` multiplies text
    table = sweep(studies.product, GRID, jobs=1)
    assert table.names == ["a", "b", "product", "ratio", "word", "none", "error"]
    assert table.column("product").unit == "J" and np.array_equal(table["product"], table["a"] * table["b"])
    assert list(table["word"][::3]) == ["odd", "even", "odd", "odd"] and np.isnan(table["none"]).all()
    with pytest.raises(InputError, match="did you mean product"):
        table["produkt"]


def test_a_case_that_fails_is_a_row_with_its_error():
    table = sweep(studies.failing, {"a": [0, 1, 2, 3, 4]}, jobs=1)
    assert list(table["value"][[0, 4]]) == [0.0, 4.0] and np.isnan(table["value"][1:4]).all()
    assert [bool(e) for e in table.errors] == [False, True, True, True, False]
    assert "a must not be one" in table.errors[1] and "give two" in table.errors[1]
    assert table.errors[2].startswith("ZeroDivisionError") and "expected a number or text" in table.errors[3]


def test_a_result_in_two_units_gets_a_column_for_each():
    table = sweep(lambda p: {"x": (1.0, p["u"])}, {"u": ["m", "N"]}, jobs=1)
    assert table.names == ["u", "x [m]", "x [N]", "error"]
    assert np.array_equal(table["x [m]"], [1.0, np.nan], equal_nan=True)


def test_names_that_meet_do_not_hide_each_other():
    table = sweep(lambda p: {"a": 2.0 * p["a"], "error": 3.0}, {"a": [1.0]}, jobs=1)
    assert table.names == ["a", "a (result)", "error (result)", "error"] and table["a (result)"][0] == 2.0


def test_equal_cases_run_once(tmp_path):
    table = sweep(studies.marked, {"a": [1.5, 2.5, 1.5], "b": [2.0], "folder": [str(tmp_path)]}, jobs=1)
    assert list(table["product"]) == [3.0, 5.0, 3.0]
    assert sorted((tmp_path / "ran").read_text().split("\n")) == ["", "1.5 2.0", "2.5 2.0"]


def test_saved_and_loaded(tmp_path):
    odd = {"ρ = max|e|/max|v|": (0.1, "s"), "error, largest": float("inf"), "case": "β", " x ": float("nan"), "empty": ""}
    table = sweep(lambda p: odd, {"plant.mass": ["1 kg", "2 kg"]}, out=tmp_path / "t.nc", jobs=1, about={"title": "τ"})
    again = Table.load(tmp_path / "t.nc")
    assert again.names == table.names and dict(again.about) == {"title": "τ"}
    for one, other in zip(table.columns, again.columns):
        assert (one.unit, one.parameter, one.values.dtype) == (other.unit, other.parameter, other.values.dtype)
        assert all(a == b or a != a and b != b for a, b in zip(one.values, other.values))
    again.save(tmp_path / "again.nc")
    assert (tmp_path / "again.nc").read_bytes() == (tmp_path / "t.nc").read_bytes()
    assert table.to_dataset()["error, largest"].dims == ("case",) and table.to_dataset().coords["plant.mass"].attrs["units"] == "kg"


def test_the_file_opens_in_xarray_with_units_and_coordinates(tmp_path):
    import xarray

    sweep(studies.product, {"a": ["1 mm"], "b": [2.0, 3.0]}, out=tmp_path / "x.nc", jobs=1)
    with xarray.open_dataset(tmp_path / "x.nc", engine="h5netcdf") as found:
        assert found.sizes == {"case": 2} and set(found.coords) == {"a", "b"}
        assert found["a"].attrs["units"] == "m" and list(found["b"].values) == [2.0, 3.0]
        assert all("can't multiply" in str(e) for e in found["error"].values)


def test_other_files_are_no_tables(tmp_path):
    (tmp_path / "x.nc").write_text("x")
    for name in ("x.nc", "missing.nc"):
        with pytest.raises(InputError, match="no readable table|no such file"):
            Table.load(tmp_path / name)


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    sweep(studies.product, GRID, out=tmp_path / "t.parquet", jobs=1)
    found = parquet.read_table(tmp_path / "t.parquet")
    assert found.schema.field("product").metadata[b"units"] == b"J"
    assert found["product"].to_pylist() == [a * b for a in GRID["a"] for b in GRID["b"]]


def test_parquet_without_its_library_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs pyarrow"):
        sweep(studies.product, GRID, out=tmp_path / "t.parquet", jobs=1)


# ---- wherever it runs -----------------------------------------------------------------------------------------------
def test_two_processes_give_the_same_file_as_one(tmp_path):
    sweep(studies.product, GRID, out=tmp_path / "one.nc", jobs=1)
    sweep(studies.product, GRID, out=tmp_path / "two.nc", jobs=2)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


def test_a_process_that_dies_is_replaced_and_nothing_changes(tmp_path):
    grid = GRID | {"folder": [str(tmp_path)]}
    table = sweep(studies.deadly, grid, jobs=2)
    assert (tmp_path / "died").exists() and not any(table.errors)
    assert np.array_equal(table["product"], table["a"] * table["b"])


def test_a_case_that_always_kills_its_process_is_a_row_and_not_remembered(tmp_path):
    grid = {"a": [2.0, 3.0, 4.0], "b": [1.5]}
    table = sweep(studies.fatal, grid, out=tmp_path / "t.nc", jobs=2)
    assert [bool(e) for e in table.errors] == [False, True, False] and "died 3 times, by signal 9" in table.errors[1]
    assert len((tmp_path / "t.nc.journal").read_text().splitlines()) == 3  # head and two cases


def test_processes_have_one_thread_of_linear_algebra_each(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    study = functools.partial(studies.environment, "OPENBLAS_NUM_THREADS")
    assert list(sweep(study, {"a": [1, 2]}, jobs=2)["value"]) == ["1", "1"]
    assert os.environ["OPENBLAS_NUM_THREADS"] == "5"


def test_a_study_that_cannot_travel_is_refused():
    with pytest.raises(InputError, match="cannot be sent to another process"):
        sweep(functools.partial(studies.environment, threading.Lock()), {"a": [1, 2]}, jobs=2)


# ---- resumed --------------------------------------------------------------------------------------------------------
KILLED = ("import sys; import sweep_studies as s; from workbench.sweep import sweep\n"
          "if __name__ == '__main__':\n"
          "    sweep(s.marked, {'a': [float(k) for k in range(1, 9)], 'b': [0.3, 0.7, 1.9], 'folder': [sys.argv[1]]},"
          " out=sys.argv[2], resume=True, jobs=int(sys.argv[3]))")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_sweep_loses_nothing_and_runs_nothing_twice(tmp_path, jobs):
    out, journal = tmp_path / "t.nc", tmp_path / "t.nc.journal"
    for wanted in (5, 13):
        process = run_python(KILLED, tmp_path, out, jobs)
        limit = time.monotonic() + 60
        while time.monotonic() < limit and (not journal.exists() or journal.read_bytes().count(b"\n") <= wanted):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not out.exists()
    kept = [json.loads(line)["key"] for line in journal.read_text().splitlines()[1:]]
    assert 13 <= len(kept) < 24 and len(set(kept)) == len(kept)
    time.sleep(0.2)  # what was running when its parent died ends
    before = len((tmp_path / "ran").read_text().splitlines())
    process = run_python(KILLED, tmp_path, out, jobs)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    ran = (tmp_path / "ran").read_text().splitlines()
    assert len(ran) - before == 24 - len(kept)  # none that was kept
    assert max(Counter(ran).values()) <= 3 and len(set(ran)) == 24
    assert sum(n - 1 for n in Counter(ran).values()) <= 2 * jobs  # at most what each kill hit
    grid = {"a": [float(k) for k in range(1, 9)], "b": [0.3, 0.7, 1.9], "folder": [str(tmp_path)]}
    sweep(studies.marked, grid, out=tmp_path / "whole.nc", jobs=1)
    assert out.read_bytes() == (tmp_path / "whole.nc").read_bytes()


def test_a_larger_grid_runs_what_is_new_only(tmp_path):
    grid, counts = {"a": [1.5, 2.5], "b": [2.0], "folder": [str(tmp_path)]}, []
    sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1)
    table = sweep(studies.marked, grid | {"a": [2.5, 3.5, 1.5]}, out=tmp_path / "t.nc", jobs=1, resume=True,
                  told=lambda *c: counts.append(c))
    assert counts == [(2, 3)] and list(table["product"]) == [5.0, 7.0, 3.0]
    assert (tmp_path / "ran").read_text().split("\n") == ["1.5 2.0", "2.5 2.0", "3.5 2.0", ""]


def test_a_torn_or_damaged_line_runs_its_case_again(tmp_path):
    grid = {"a": [1.5, 2.5, 3.5], "b": [2.0], "folder": [str(tmp_path)]}
    sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1)
    whole, journal = (tmp_path / "t.nc").read_bytes(), tmp_path / "t.nc.journal"
    head, first, second, third = journal.read_text().splitlines(keepends=True)
    for damaged in (head + first + second + third[:-1], head + first[:40] + "\n" + second + third, head[:20], ""):
        journal.write_text(damaged)
        (tmp_path / "ran").write_text("")
        sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1, resume=True)
        good = sum(line.endswith("}\n") for line in damaged.splitlines(keepends=True)[1:])
        assert len((tmp_path / "ran").read_text().splitlines()) == 3 - good
        assert (tmp_path / "t.nc").read_bytes() == whole


def test_cases_are_known_by_what_they_depend_on(tmp_path):
    point, other = {"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}
    assert digest(studies.product, point) == digest(studies.product, other)
    assert digest(studies.product, point) != digest(studies.slow, point)
    assert digest(studies.product, point) != digest(studies.product, {"a": 1.0, "b": 2.0000000000000004})
    made = [functools.partial(studies.environment, name) for name in ("A", "B")]
    assert digest(made[0], point) != digest(made[1], point)

    def scaled(k):
        return lambda p: {"x": k}

    assert digest(scaled(1), point) != digest(scaled(2), point)


def test_an_earlier_sweep_is_not_thrown_away(tmp_path):
    sweep(studies.product, GRID, out=tmp_path / "t.nc", jobs=1)
    kept = (tmp_path / "t.nc.journal").read_bytes()
    with pytest.raises(InputError, match=r"12 finished cases(?s:.*)--resume"):
        sweep(studies.product, GRID, out=tmp_path / "t.nc", jobs=1)
    assert (tmp_path / "t.nc.journal").read_bytes() == kept
    (tmp_path / "u.nc.journal").write_text("dear diary\n")
    with pytest.raises(InputError, match="not the journal of a sweep"):
        sweep(studies.product, GRID, out=tmp_path / "u.nc", jobs=1, resume=True)
    assert (tmp_path / "u.nc.journal").read_text() == "dear diary\n"


def test_two_sweeps_to_one_file_are_refused(tmp_path):
    (tmp_path / "link.nc").symlink_to(tmp_path / "t.nc")
    with Journal(tmp_path / "t.nc") as first:
        first.add("k", Outcome((("x", 1.5, "m"),)))
        for name in ("t.nc", "link.nc"):
            with pytest.raises(InputError, match="another sweep is writing to this file"):
                sweep(studies.product, GRID, out=tmp_path / name, jobs=1, resume=True)
    assert (tmp_path / "t.nc.journal").read_text().startswith(HEAD)
    with Journal(tmp_path / "t.nc", resume=True) as again:  # the lock went with it
        assert again.known == {"k": Outcome((("x", 1.5, "m"),))}


def test_a_full_disk_says_so_and_keeps_what_there_was(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "t.nc")
    with journal:
        journal.add("k", Outcome())
        monkeypatch.setattr(os, "write", lambda file, data: len(data) - 1)
        with pytest.raises(InputError, match=r"disk is full(?s:.*)--resume"):
            journal.add("l", Outcome())


@pytest.mark.parametrize("name, words", [("t.txt", "NetCDF or Parquet"), ("none/t.nc", "no such directory"), (".nc", "NetCDF or")])
def test_outputs_that_cannot_be_are_refused_before_any_case_runs(tmp_path, name, words):
    with pytest.raises(InputError, match=words):
        sweep(studies.marked, GRID | {"folder": [str(tmp_path)]}, out=tmp_path / name, jobs=1)
    assert not list(tmp_path.iterdir())


# ---- case files -----------------------------------------------------------------------------------------------------
BASE = """\
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 1 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz}
  duration: 0.4 s
claims: {region-of-attraction: false}
"""
SWEEP = """\
case: base.yaml
grid:
  controller.K_p: [0.4, 0.3]
  loop.delay: [0 ms, 2 ms]
collect:
  verdicts: [tracking, saturation]
  signals: {top: {signal: Y, take: max}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_gives_what_verify_says_of_each_case_written_out(folder, capsys):
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert "4 cases over controller.K_p, loop.delay" in said and "4 ran, 0 failed · sweep.nc" in said
    table = Table.load("sweep.nc")
    assert table.column("loop.delay").unit == "s" and list(table["loop.delay"]) == [0.0, 0.002] * 2
    assert table.about["case"]["plant"] == "ieha-published-linear"
    for i, (K_p, delay) in enumerate([(0.4, 0), (0.4, 2), (0.3, 0), (0.3, 2)]):
        text = BASE.replace("K_p: 0.4", f"K_p: {K_p}").replace("1 ms}", f"1 ms, delay: {delay} ms}}")
        case = loads(text, "written.yaml")
        assert case.loop.controller != load("base.yaml").loop.controller or i == 0
        found = {v.key: v for v in verify(case.loop, case.scenario, case.claims)}
        for key in ("tracking", "saturation"):
            assert table[key][i] == found[key].word and table[f"{key}.margin"][i] == found[key].margin
    assert len(set(table["tracking.margin"])) == 4 and table.column("tracking.margin").unit == "m"
    assert len(set(table["top"])) == 4 and table.column("top").unit == "m"


NAMES = [  # name, value, where the value must arrive in the case
    ("plant.payload.mass", "37 kg", lambda c: c.plant.payload.mass, 37.0),
    ("plant.all.valve.frequency", "61 Hz",
     lambda c: {p.value for p in leaves(c.plant) if p.path.endswith("valve.frequency")}, {61.0}),
    ("plant.change.payload.mass", "38 kg", lambda c: c.plant.payload.mass, 38.0),
    ("plant.lock.extension", "0.4 m", lambda c: len(c.plant.labels), 2),
    ("plant.friction", {"law": "Frictionless"}, lambda c: type(c.plant.cylinders[0].friction).__name__, "Frictionless"),
    ("model.payload.mass", "12 kg", lambda c: innermost(c.controller).model.payload.mass, 12.0),
    ("controller.model.payload.mass", 13, lambda c: innermost(c.controller).model.payload.mass, 13.0),
    ("controller.lambda", "9 1/s", lambda c: innermost(c.controller).λ[0], 9.0),
    ("controller.λ", "9 1/s", lambda c: innermost(c.controller).λ[0], 9.0),
    ("loop.sample_time", "3 ms", lambda c: c.loop.period, 3e-3),
    ("scenario.seed", 5, lambda c: c.scenario.seed, 5),
    ("scenario.reference.leg", "4 s", lambda c: c.scenario.reference.leg, 4.0),
    ("claims.tracking.error", "7 mm", lambda c: next(k.error for k in c.claims if type(k).__name__ == "Tracking"), 7e-3),
]


PATH = "scenario: {reference: {type: Waypoints, space: joint, points: [start, [-70 deg, -105 deg, 0.6 m]], leg: 3 s}}\n"
SHORT = f"plant: hiab-xs031\n{PATH}"
LONG = f"""plant: {{machine: hiab-xs031, change: {{payload.mass: 5 kg}}}}
controller: {{law: VDC, λ: 7, model: {{change: {{payload.mass: 6 kg}}}}}}
loop: {{delay: 1 ms}}
{PATH}"""


@pytest.mark.parametrize("name, value, at, wanted", NAMES, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("base", [SHORT, LONG], ids=["short", "long"])
def test_names_find_their_place(tmp_path, name, value, at, wanted, base):
    base = base.replace(", 0.6 m]", "]") if "lock" in name else base
    (tmp_path / "base.yaml").write_text(base)
    (tmp_path / "s.yaml").write_text(f"case: base.yaml\ngrid:\n  {name}: [{json.dumps(value, ensure_ascii=False)}]\n")
    asked = read_sweep(tmp_path / "s.yaml")
    case = asked.study.case(asked.grid.points()[0])
    assert at(case) == pytest.approx(wanted) if isinstance(wanted, float) else at(case) == wanted


def test_units_of_plain_numbers_are_those_of_what_they_set(tmp_path):
    (tmp_path / "s.yaml").write_text("case: hiab-xs031\ngrid: {plant.payload.mass: [0, 5], loop.delay: [0], controller.λ: [8], "
                                     "scenario.seed: [1, 2], plant.friction: [{law: LuGre}]}\n")
    assert read_sweep(tmp_path / "s.yaml").units == {
        "plant.payload.mass": "kg", "loop.delay": "s", "controller.λ": "1/s", "scenario.seed": "", "plant.friction": ""}


BAD = [  # text, line, what the message holds
    ("case: base.yaml\n", None, "nothing to vary"), ("grid: {loop.delay: [1 ms]}\n", None, "there is no case:"),
    ("case: bas.yaml\ngrid: {loop.delay: [1 ms]}\n", None, "no such file"),
    ("case: base.yaml\ngird: {loop.delay: [1 ms]}\n", 2, "did you mean grid"),
    ("case: base.yaml\ngrid:\n  lop.delay: [1 ms]\n", 3, "did you mean loop"),
    ("case: base.yaml\ngrid:\n  loop.dealy: [1 ms]\n", 3, "did you mean delay"),
    ("case: base.yaml\ngrid:\n  plant.paylod: [1 kg]\n", 3, "nothing called 'paylod'"),
    ("case: base.yaml\ngrid:\n  controller.K_p.x: [1]\n", 3, "nothing below controller.K_p"),
    ("case: base.yaml\ngrid:\n  controller: [PID]\n", 3, "whole section"),
    ("case: base.yaml\ngrid:\n  loop.delay: []\n", 3, "an empty one"),
    ("case: base.yaml\ngrid:\n  loop.delay: 1 ms\n", 3, "expected a list of values"),
    ("case: base.yaml\ngrid:\n  loop.delay: [1 kg]\n", 3, "a time was expected"),
    ("case: base.yaml\ngrid:\n  loop.delay: [1 ms, 2 kg]\n", 3, "different units: kg, s"),
    ("case: base.yaml\ngrid:\n  loop.delay: {from: 1 ms, to: 2 kg, count: 3}\n", 3, "different units"),
    ("case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms}\n", 3, "count is missing"),
    ("case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms, count: 2.5}\n", 3, "whole number"),
    ("case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms, count: 3, spacing: log}\n", 3, "greater than zero"),
    ("case: base.yaml\ndraws:\n  count: 3\n  of: {loop.delay: {unifrom: [0 ms, 1 ms]}}\n", 4, "did you mean uniform"),
    ("case: base.yaml\ndraws:\n  count: 3\n  of: {loop.delay: {uniform: [2 ms, 1 ms]}}\n", 4, "swap them"),
    ("case: base.yaml\ndraws:\n  count: 3\n  of: {loop.delay: {uniform: [2 ms]}}\n", 4, "two numbers"),
    ("case: base.yaml\ndraws:\n  of: {loop.delay: {uniform: [0 ms, 2 ms]}}\n", 2, "count is missing"),
    ("case: base.yaml\ngrid: {loop.delay: [0 ms]}\ndraws: {count: 2, of: {loop.delay: {uniform: [0, 1]}}}\n", 3, "grid and drawn"),
    ("case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect:\n  verdicts: [trackin]\n", 4, "did you mean tracking"),
    ("case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect:\n  signals: {top: {signal: Z}}\n", 4, "Z"),
    ("case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect:\n  signals: {top: {signal: Y, take: most}}\n", 4, "most"),
    ("case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect: {verdicts: false, statistics: false}\n", 3, "nothing is collected"),
    ("case: [1]\ngrid: {loop.delay: [0 ms]}\n", 1, "expected a case file"), ("- 1\n", 1, "expected a mapping"),
]


@pytest.mark.parametrize("text, line, words", BAD, ids=[words for *_, words in BAD])
def test_a_file_that_cannot_be_is_answered_at_its_line(folder, capsys, text, line, words):
    (folder / "bad.yaml").write_text(text)
    before = sorted(p.name for p in folder.iterdir())
    assert cli.main(["sweep", "bad.yaml"]) == 3
    said = capsys.readouterr().err
    assert words in said and "mend: " in said and "Traceback" not in said
    if line:
        assert f"bad.yaml, line {line}" in said, said
    assert sorted(p.name for p in folder.iterdir()) == before


def test_values_out_of_range_are_rows_others_go_on(folder, capsys):
    (folder / "s.yaml").write_text(SWEEP.replace("[0 ms, 2 ms]", "[0 ms, -1 ms]"))
    assert cli.main(["sweep", "s.yaml", "--jobs", "1", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    errors = Table.load("s.nc").errors
    assert [bool(e) for e in errors] == [False, True] * 2 and "s.yaml, line 4, loop.delay" in errors[1]


@pytest.mark.parametrize("arguments, words", [
    (["--scheduler", "kubernetes"], "no address of a Dask scheduler"),
    (["--scheduler", "tcp://"], "no address of a Dask scheduler"),
    (["--out", "base.yaml"], "NetCDF or Parquet"), (["--jobs", "0"], "expected one or more"), (["--jobs", "x"], "invalid int"),
    (["--out", "no/t.nc"], "no such directory")])
def test_wrong_options_are_one_message(folder, capsys, arguments, words):
    try:
        code = cli.main(["sweep", "sweep.yaml", *arguments])
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr().err
    assert code == 3 and words in said and said.count("mend:") == 1
    assert sorted(p.name for p in folder.iterdir()) == ["base.yaml", "sweep.yaml"]


def test_without_dask_a_scheduler_is_refused(folder, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main(["sweep", "sweep.yaml", "--scheduler", "tcp://127.0.0.1:8786"]) == 3
    assert "fluidproof[cluster]" in capsys.readouterr().err


def test_content_follows_the_files_a_case_names(folder):
    (folder / "path.csv").write_text("0,0\n1,0.01\n")
    recorded = re.sub(r"\{type: Sine.*\}", "{type: Recorded, file: path.csv, space: output}", BASE)
    (folder / "base.yaml").write_text(recorded)
    point = {"controller.K_p": 0.4, "loop.delay": "0 ms"}

    def hashed():
        from workbench.sweep import cases

        cases._hash.cache_clear()
        return digest(read_sweep("sweep.yaml").study, point)

    first = hashed()
    (folder / "base.yaml").write_text("# a remark\n" + (folder / "base.yaml").read_text())
    assert hashed() == first
    (folder / "path.csv").write_text("0,0\n1,0.02\n")
    assert hashed() != first


def test_interrupted_it_says_how_to_go_on(folder, capsys, monkeypatch):
    from workbench.sweep import cases

    runs = []

    def results(case, collect, real=cases.results):
        runs.append(case)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return real(case, collect)

    monkeypatch.setattr(cases, "results", results)
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 130
    assert "go on with --resume" in capsys.readouterr().err and not (folder / "sweep.nc").exists()
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1", "--resume"]) == 0
    assert len(runs) == 5 and "2 taken from the journal" in capsys.readouterr().out


# ---- Dask -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def scheduler(tmp_path):
    """Address of a scheduler of our own, and a function that starts a worker for it."""
    pytest.importorskip("distributed")
    started, environment = [], os.environ | {"PYTHONPATH": f"{ROOT}:{TESTS}", "DASK_DISTRIBUTED__WORKER__DAEMON": "True"}

    def start(*words):
        log = open(tmp_path / f"dask-{len(started)}.log", "w+")
        process = subprocess.Popen([sys.executable, "-m", *words], env=environment, stdout=log, stderr=log, cwd=tmp_path)
        started.append((process, log))
        return process

    file = tmp_path / "scheduler.json"
    start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    limit = time.monotonic() + 60
    while not file.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    worker = lambda: start("distributed.cli.dask_worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard",
                           "--no-nanny", "--local-directory", str(tmp_path))
    yield address, worker
    for process, log in started:
        process.kill()
        process.wait()
        log.close()


def _workers(address, count):
    from distributed import Client

    with Client(address, timeout=30, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)


def test_a_cluster_whose_worker_is_killed_gives_the_same_file(tmp_path, scheduler):
    address, worker = scheduler
    with pytest.raises(InputError, match="has no workers"):
        sweep(studies.slow, GRID, scheduler=address)
    victim, _ = worker(), worker()
    _workers(address, 2)
    grid = {"a": [float(k) for k in range(1, 31)], "b": [0.3, 1.7]}
    seen = []

    def progress(fraction, words):
        seen.append(fraction)
        if len(seen) == 20:
            victim.kill()

    sweep(studies.slow, grid, out=tmp_path / "cluster.nc", scheduler=address, progress=progress)
    assert victim.wait() == -signal.SIGKILL and len(seen) == 60
    sweep(studies.slow, grid, out=tmp_path / "here.nc", jobs=2)
    assert (tmp_path / "cluster.nc").read_bytes() == (tmp_path / "here.nc").read_bytes()


def test_a_scheduler_that_does_not_answer_is_one_message(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from workbench.sweep import cluster

    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with pytest.raises(InputError, match=re.escape("no Dask scheduler answers at tcp://127.0.0.1:9")):
        sweep(studies.product, GRID, out=tmp_path / "t.nc", scheduler="tcp://127.0.0.1:9")
    assert not (tmp_path / "t.nc").exists() and not (tmp_path / "t.nc.journal").exists()
