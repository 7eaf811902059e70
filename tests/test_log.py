"""Log: what goes in comes out, bit for bit, and nothing is lost when it cannot."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status, plain

SIGNALS = (
    Signal("p_a1", "Pa", "pressure, piston side, cylinder 1"),
    Signal("q̇_1", "rad/s"),
    Signal("u/1", "1", kind="noise"),
    Signal("λ", "1/s", "gain"),
)


def a_log(n=257, seed=4, **changes):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 4)) * [1.3e7, 0.02, 1.0, 1e-300]
    values[3] = [np.nan, np.inf, -0.0, 5e-324]
    fields = {
        "time": 0.25 + np.cumsum(rng.uniform(0.5e-3, 2e-3, n)),
        "values": values,
        "signals": SIGNALS,
        "provenance": {
            "scenario": {
                "duration": 0.1 + 0.2,
                "start": (1, 2.5),
                "λ": None,
                "quiet": True,
                "note": "",
            },
            "parameters": {"m": np.float64(121.7)},
            "hash": "4f1d",
            "versions": {"numpy": np.__version__},
            "seed": np.int64(17),
        },
        "status": Status(False, "p_a1 is not finite", 0.3, "p_a1"),
    }
    return Log(**fields | changes)


def identical(a, b):
    return (
        a.time.tobytes() == b.time.tobytes()
        and np.ascontiguousarray(a.values).tobytes() == np.ascontiguousarray(b.values).tobytes()
        and a.signals == b.signals
        and a.provenance == b.provenance
        and a.status == b.status
    )


def test_saved_and_loaded_is_the_same_bit_for_bit(tmp_path):
    log = a_log()
    log.save(tmp_path / "run.nc")
    assert identical(Log.load(tmp_path / "run.nc"), log)
    assert log.provenance["scenario"] == {
        "duration": 0.30000000000000004,
        "start": [1, 2.5],
        "λ": None,
        "quiet": True,
        "note": "",
    }
    assert type(log.provenance["seed"]) is int and os.listdir(tmp_path) == ["run.nc"]


def test_one_sample_and_no_signals_survive(tmp_path):
    for log in (
        Log([2.0], [[3.0]], (Signal("x"),), {}, Status(True, "", 2.0)),
        Log([1.0, 2.0], np.zeros((2, 0)), (), {"a": "x" * 200_000}, Status(True, "", 2.0)),
    ):
        log.save(tmp_path / "run.nc")
        assert identical(Log.load(tmp_path / "run.nc"), log)


def test_file_opens_in_xarray_with_units(tmp_path):
    import xarray

    log = a_log()
    log.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        assert data["p_a1"].attrs == {
            "units": "Pa",
            "long_name": "pressure, piston side, cylinder 1",
        }
        assert data["p_a1"].dims == ("time",) and data["time"].attrs["units"] == "s"
        np.testing.assert_array_equal(data["p_a1"].values, log.array("p_a1"))
        assert json.loads(data.attrs["provenance"])["hash"] == "4f1d"


def test_signal_by_name_is_labelled():
    log = a_log()
    p = log["p_a1"]
    assert (
        p.dims == ("time",)
        and p.attrs["units"] == "Pa"
        and p.attrs["long_name"].startswith("pressure")
    )
    assert p.coords["time"].attrs["units"] == "s"
    np.testing.assert_array_equal(p.values, log.values[:, 0])
    np.testing.assert_array_equal(p.coords["time"], log.time)
    data = log.to_dataset()
    assert list(data.data_vars) == log.names and data["λ"].attrs == {
        "units": "1/s",
        "long_name": "gain",
    }
    assert log.signal("λ") == SIGNALS[3] and "λ" in log and "μ" not in log and len(log) == 257


def test_unknown_name_gets_the_nearest():
    for look in (
        lambda log: log["p_a2"],
        lambda log: log.array("p_a2"),
        lambda log: log.signal("p_a2"),
    ):
        with pytest.raises(InputError, match="p_a2.*\n.*did you mean p_a1"):
            look(a_log())


def test_arrays_are_read_only_views():
    log = a_log()
    assert np.shares_memory(log.array("λ"), log.values)
    with pytest.raises(ValueError):
        log.array("λ")[0] = 1.0
    with pytest.raises(ValueError):
        log.time[0] = 1.0


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"time": np.arange(256.0)}, "values"),
        ({"values": np.zeros((257, 3))}, "values"),
        ({"time": np.full(257, np.nan)}, "finite"),
        ({"time": -np.arange(257.0)}, "fall"),
        ({"time": np.zeros(0), "values": np.zeros((0, 4))}, "N ≥ 1"),
        ({"signals": (*SIGNALS[:3], SIGNALS[0])}, "p_a1"),
        ({"signals": (*SIGNALS[:3], Signal("time"))}, "time"),
        ({"provenance": {"plant": object()}}, "provenance.plant: object"),
        ({"provenance": {"a": [{1: 2}]}}, "provenance.a.0: key 1"),
    ],
)
def test_what_does_not_fit_is_refused(changes, words):
    with pytest.raises(InputError, match=words):
        a_log(**changes)


def test_two_samples_at_one_time_are_a_jump(tmp_path):
    log = Log(
        [0.0, 1.0, 1.0, 2.0],
        [[0.0], [1.0], [5.0], [6.0]],
        (Signal("x", "m"),),
        {},
        Status(True, "", 2.0),
    )
    log.save(tmp_path / "run.nc")
    assert Log.load(tmp_path / "run.nc").array("x").tolist() == [0.0, 1.0, 5.0, 6.0]
    assert log.window(1.0, 1.0).array("x").tolist() == [1.0, 5.0]


def test_files_that_are_not_logs(tmp_path):
    import xarray

    # Bits without pattern (NaN payloads among them) cannot be packed; a changed one must be found all the same.
    bits = np.random.default_rng(6).integers(0, 2**63, (20_000, 4)).view(np.float64)
    files = {}
    for name, log in (("noise", a_log(n=20_000, values=bits)), ("good", a_log(n=20_000))):
        log.save(tmp_path / f"{name}.nc")
        assert identical(Log.load(tmp_path / f"{name}.nc"), log)
        files[name] = whole = (tmp_path / f"{name}.nc").read_bytes()
        middle = len(whole) // 2  # within some signal's values
        (tmp_path / f"{name} damaged.nc").write_bytes(
            whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
        )
    (tmp_path / "text.nc").write_text("time, p_a1\n0, 1\n")
    (tmp_path / "empty.nc").write_bytes(b"")
    (tmp_path / "short.nc").write_bytes(files["good"][: len(files["good"]) * 2 // 3])
    xarray.Dataset({"a": ("t", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    for name, words in (
        ("text.nc", "not a NetCDF-4"),
        ("empty.nc", "not a NetCDF-4"),
        ("short.nc", "cut short"),
        ("good damaged.nc", "damaged"),
        ("noise damaged.nc", "damaged"),
        ("other.nc", "not a log"),
        ("none.nc", "no such file"),
        (".", "folder"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            Log.load(tmp_path / name)
        assert caught.value.file == str(tmp_path / name) and caught.value.mend


def test_a_later_format_is_refused_by_number(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.run.log_file.FORMAT", 7)
    a_log().save(tmp_path / "run.nc")
    monkeypatch.undo()
    with pytest.raises(InputError, match="format 7"):
        Log.load(tmp_path / "run.nc")


def test_a_full_disk_keeps_the_earlier_file(tmp_path):
    """A limit on file size stands in for the full disk; in a process of its own, where HDF5 alone would crash."""
    path = tmp_path / "run.nc"
    a_log().save(path)
    before = path.read_bytes()
    code = """
import resource, signal, sys
import numpy as np
from workbench.contract.errors import InputError
from workbench.run.log import Log, Signal, Status
log = Log(np.arange(30_000.0), np.random.default_rng(1).normal(size=(30_000, 2)), (Signal("x"), Signal("y")), {},
          Status(True, "", 1.0))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for write in (log.save, log.to_csv):
    try:
        write(sys.argv[1])
    except InputError as error:
        print("refused")
"""
    pytest.importorskip("resource")  # not on Windows
    # -B: Python would cut its own compiled files short, too.
    command = [sys.executable, "-B", "-c", code, str(path)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "refused\nrefused\n", "")
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["run.nc"]


def test_text_that_no_file_can_hold_is_refused(tmp_path):
    log = Log([0.0], [[1.0]], (Signal("x", meaning="\ud800"),), {}, Status(True, "", 0.0))
    with pytest.raises(InputError, match="cannot be written"):
        log.save(tmp_path / "run.nc")
    assert os.listdir(tmp_path) == []


def test_unwritable_places(tmp_path):
    for place in (tmp_path / "missing" / "run.nc", tmp_path):
        for write in (a_log().save, a_log().to_csv):
            with pytest.raises(InputError):
                write(place)
    assert os.listdir(tmp_path) == []


def test_csv_reads_back_exactly(tmp_path):
    log = a_log(signals=(*SIGNALS[:3], Signal("a, b", "N m")))
    log.to_csv(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == 'time [s],p_a1 [Pa],q̇_1 [rad/s],u/1 [1],"a, b [N m]"'
    table = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    np.testing.assert_array_equal(table, np.column_stack([log.time, log.values]))


def test_window_and_decimated_share_and_say_so():
    log = a_log()
    t0, t1 = log.time[10], log.time[200]
    part = log.window(t0, t1)
    np.testing.assert_array_equal(part.values, log.values[10:201])
    assert np.shares_memory(part.values, log.values) and part.status == log.status
    thin = part.decimated(7)
    np.testing.assert_array_equal(thin.time, log.time[10:201:7])
    assert thin.provenance["excerpt"] == [{"window": [t0, t1]}, {"decimated": 7}]
    assert "excerpt" not in log.provenance
    for bad in (
        lambda: log.window(5, 4),
        lambda: log.window(90, 91),
        lambda: log.window(np.nan, 1),
        lambda: log.decimated(0),
        lambda: log.decimated(1.5),
    ):
        with pytest.raises(InputError):
            bad()


def test_plain_data_comes_back_from_json_equal():
    data = plain(
        {"a": (1, 2.5, "x", None, True), "b": np.array([[1.5, 2.0]]), "c": {"d": np.bool_(False)}},
        "here",
    )
    assert data == {"a": [1, 2.5, "x", None, True], "b": [[1.5, 2.0]], "c": {"d": False}}
    assert json.loads(json.dumps(data)) == data


def test_importing_the_log_imports_no_file_library():
    code = "import sys, workbench.run.log; print([m for m in ('xarray', 'h5netcdf', 'h5py', 'pandas') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
