"""Sweeps of functions: which cases there are, what the table holds, the same table whatever ran where and in whatever order."""

import functools
import importlib.util
import os
import threading

import numpy as np
import pytest
import sweep_studies as studies

from workbench.contract.errors import InputError
from workbench.contract.units import measured
from workbench.sweep import Draw, Grid, Table, spaced, sweep

GRID = {"a": [1.1, 2.3, 3.0, 4.7], "b": [0.3, -7.0, 1e-300]}


# ---- which cases ----------------------------------------------------------------------------------------------------
def test_every_combination_once_the_last_axis_fastest():
    points = Grid(GRID).points()
    assert [tuple(p.values()) for p in points[:4]] == [
        (1.1, 0.3),
        (1.1, -7.0),
        (1.1, 1e-300),
        (2.3, 0.3),
    ]
    assert len(points) == len(Grid(GRID)) == 12 == len({tuple(p.values()) for p in points})


def test_draws_depend_on_seed_name_and_place_only():
    draws = {"m": Draw("uniform", 2.0, 5.0), "k": Draw("normal", 1.0, 0.2)}
    few, many = (
        Grid({"a": [1, 2]}, draws, 3, 7).points(),
        Grid({}, {"m": draws["m"]}, 50, 7).points(),
    )
    assert [p["m"] for p in few] == [
        p["m"] for p in many[:3]
    ] * 2  # the same at every point of the grid
    assert all(p["m"] != q["m"] for p, q in zip(many, Grid({}, {"m": draws["m"]}, 50, 8).points()))
    assert len({p["k"] for p in few}) == 3 and {p["k"] for p in few}.isdisjoint(p["m"] for p in few)


def test_draws_have_their_distributions():
    scipy = pytest.importorskip("scipy.stats")
    draws = {
        "u": Draw("uniform", 2.0, 5.0),
        "l": Draw("log-uniform", 1e-3, 10.0),
        "n": Draw("normal", 3.0, 0.2),
    }
    points = Grid({}, {**draws, "c": Draw("choice", among=("x", "y"))}, 2000, 5).points()
    column = {name: [p[name] for p in points] for name in "ulnc"}
    assert scipy.kstest(column["u"], scipy.uniform(2, 3).cdf).pvalue > 1e-3
    assert scipy.kstest(column["l"], scipy.loguniform(1e-3, 10).cdf).pvalue > 1e-3
    assert scipy.kstest(column["n"], scipy.norm(3, 0.2).cdf).pvalue > 1e-3
    assert scipy.binomtest(column["c"].count("x"), 2000).pvalue > 1e-3
    assert abs(np.corrcoef(column["u"], column["n"])[0, 1]) < 0.1


def test_a_drawn_quantity_is_text_that_reads_back_exactly():
    (point,) = Grid({}, {"m": Draw("uniform", 2.0, 5.0, unit="kg")}, 1, 7).points()
    (bare,) = Grid({}, {"m": Draw("uniform", 2.0, 5.0)}, 1, 7).points()
    assert point["m"].endswith(" kg") and measured(point["m"]) == (bare["m"], "kg")


@pytest.mark.parametrize(
    "text, number, unit",
    [
        ("185 bar", 1.85e7, "Pa"),
        ("10 kHz", 1e4, "Hz"),
        ("3 1/s", 3.0, "1/s"),
        ("30 deg/s", np.pi / 6, "rad/s"),
        ("50 %", 0.5, ""),
        ("2 N/mm", 2000.0, "N/m"),
        ("0.25", 0.25, ""),
        ("6 l/min", 1e-4, "m^3/s"),
        ("2 m^4", 2.0, "m^4"),
    ],
)
def test_what_a_quantity_measures_is_read_off_it(text, number, unit):
    found = measured(text)
    assert found[0] == pytest.approx(number, rel=1e-15) and found[1] == unit


@pytest.mark.parametrize("text", ["", "start", "3 foo", "1 mm 2", "kg"])
def test_what_is_no_quantity_is_text(text):
    assert measured(text) is None


def test_spaced():
    assert spaced(0.0, 2e-3, 3, "s") == ["0.0 s", "0.001 s", "0.002 s"]
    assert spaced(1.0, 100.0, 3, log=True) == pytest.approx([1.0, 10.0, 100.0], rel=1e-15)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Grid({}), "nothing to vary"),
        (lambda: Grid({"a": []}), "no values"),
        (lambda: Grid({"a": "xyz"}), "list of values"),
        (lambda: Grid({"a": [1]}, {"a": Draw("uniform")}, 2), "on the grid and drawn"),
        (lambda: Grid({"a": [1]}, {}, 5), "give both"),
        (lambda: Grid({"a": range(1001), "b": range(1001)}), "1002001 cases"),
        (lambda: Draw("gauss"), "no distribution"),
        (lambda: Draw("uniform", 2, 1), "swap"),
        (lambda: Draw("log-uniform", 0, 1), "greater than zero"),
        (lambda: Draw("normal", 1, -1), "deviation"),
        (lambda: Draw("choice"), "nothing to choose"),
        (lambda: Draw("uniform", 0, float("inf")), "finite"),
        (lambda: spaced(1, 2, 1), "count"),
        (lambda: spaced(0, 2, 3, log=True), "greater than zero"),
        (lambda: sweep(studies.product, GRID, jobs=0), "0 processes"),
    ],
)
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
    assert table.column("product").unit == "J" and np.array_equal(
        table["product"], table["a"] * table["b"]
    )
    assert (
        list(table["word"][::3]) == ["odd", "even", "odd", "odd"] and np.isnan(table["none"]).all()
    )
    with pytest.raises(InputError, match="did you mean product"):
        table["produkt"]


def test_a_case_that_fails_is_a_row_with_its_error():
    table = sweep(studies.failing, {"a": [0, 1, 2, 3, 4]}, jobs=1)
    assert list(table["value"][[0, 4]]) == [0.0, 4.0] and np.isnan(table["value"][1:4]).all()
    assert [bool(e) for e in table.errors] == [False, True, True, True, False]
    assert "a must not be one" in table.errors[1] and "give two" in table.errors[1]
    assert (
        table.errors[2].startswith("ZeroDivisionError")
        and "expected a number or text" in table.errors[3]
    )


def test_a_table_shows_its_rows_with_units_and_errors_where_there_are_some():
    def study(point):
        if point["m"] > 2.0:
            raise ValueError("too heavy")
        return {"reach": (3.0 * point["m"], "m")}

    whole = repr(sweep(study, {"m": [1.0, 2.0]}, jobs=1, units={"m": "kg"}))
    assert whole.startswith("2 cases, 0 failed\n") and "m [kg]" in whole and "reach [m]" in whole
    assert "6.0" in whole and "error" not in whole
    half = sweep(study, {"m": [1.0, 3.0]}, jobs=1)
    assert repr(half).startswith("2 cases, 1 failed\n") and "too heavy" in repr(half)
    assert "<th>reach [m]</th>" in half._repr_html_() and "too heavy" in half._repr_html_()


def test_a_result_in_two_units_gets_a_column_for_each():
    table = sweep(lambda p: {"x": (1.0, p["u"])}, {"u": ["m", "N"]}, jobs=1)
    assert table.names == ["u", "x [m]", "x [N]", "error"]
    assert np.array_equal(table["x [m]"], [1.0, np.nan], equal_nan=True)


def test_names_that_meet_do_not_hide_each_other():
    table = sweep(lambda p: {"a": 2.0 * p["a"], "error": 3.0}, {"a": [1.0]}, jobs=1)
    assert (
        table.names == ["a", "a (result)", "error (result)", "error"]
        and table["a (result)"][0] == 2.0
    )


def test_equal_cases_run_once(tmp_path):
    table = sweep(
        studies.marked, {"a": [1.5, 2.5, 1.5], "b": [2.0], "folder": [str(tmp_path)]}, jobs=1
    )
    assert list(table["product"]) == [3.0, 5.0, 3.0]
    assert sorted((tmp_path / "ran").read_text().split("\n")) == ["", "1.5 2.0", "2.5 2.0"]


def test_saved_and_loaded(tmp_path):
    odd = {
        "ρ = max|e|/max|v|": (0.1, "s"),
        "error, largest": float("inf"),
        "case": "β",
        " x ": float("nan"),
        "empty": "",
    }
    table = sweep(
        lambda p: odd,
        {"plant.mass": ["1 kg", "2 kg"]},
        out=tmp_path / "t.nc",
        jobs=1,
        about={"title": "τ"},
    )
    again = Table.load(tmp_path / "t.nc")
    assert again.names == table.names and dict(again.about) == {"title": "τ"}
    for one, other in zip(table.columns, again.columns):
        assert (one.unit, one.parameter, one.values.dtype) == (
            other.unit,
            other.parameter,
            other.values.dtype,
        )
        assert all(a == b or a != a and b != b for a, b in zip(one.values, other.values))
    again.save(tmp_path / "again.nc")
    assert (tmp_path / "again.nc").read_bytes() == (tmp_path / "t.nc").read_bytes()
    assert (
        table.to_dataset()["error, largest"].dims == ("case",)
        and table.to_dataset().coords["plant.mass"].attrs["units"] == "kg"
    )


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
    assert [bool(e) for e in table.errors] == [
        False,
        True,
        False,
    ] and "died 3 times, by signal 9" in table.errors[1]
    assert len((tmp_path / "t.nc.journal").read_text().splitlines()) == 3  # head and two cases


def test_a_process_killed_before_its_first_case_is_replaced(tmp_path):
    table = sweep(studies.Late(str(tmp_path), 1), GRID, jobs=2)
    assert list(tmp_path.glob("killed-*"))
    assert not any(table.errors) and np.array_equal(table["product"], table["a"] * table["b"])


def test_processes_killed_again_and_again_before_their_first_case_are_told_as_that(tmp_path):
    with pytest.raises(
        InputError, match="killed 3 times before their first case, by signal 9(.|\n)*fewer jobs"
    ) as refused:
        sweep(studies.Late(str(tmp_path), 1000), GRID, jobs=2)
    assert "__main__" not in str(refused.value)


def test_processes_have_one_thread_of_linear_algebra_each(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    study = functools.partial(studies.environment, "OPENBLAS_NUM_THREADS")
    assert list(sweep(study, {"a": [1, 2]}, jobs=2)["value"]) == ["1", "1"]
    assert os.environ["OPENBLAS_NUM_THREADS"] == "5"


def test_a_study_that_cannot_travel_is_refused():
    with pytest.raises(InputError, match="cannot be sent to another process"):
        sweep(functools.partial(studies.environment, threading.Lock()), {"a": [1, 2]}, jobs=2)
