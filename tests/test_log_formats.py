"""Logs and linear systems as MCAP and MAT-files: read by their own readers, and back bit for bit."""

import json

import control
import numpy as np
import pytest
from scipy.io import loadmat, savemat

from workbench import InputError, Log, Signal, from_control, from_mat, to_control, to_mat
from workbench.run.log import Status

SIGNALS = (
    Signal("x_1", "m", "piston"),
    Signal("λ̇", "1/s"),
    Signal("p_a/b", "Pa"),
    Signal("signal_9"),
)


def log(n=7, first=0.0):
    rng = np.random.default_rng(3)
    time = first + np.cumsum(rng.uniform(0.001, 0.02, n)) - 0.001
    values = rng.normal(size=(n, 4)) * [1e-3, 1e300, 1e7, 1e-300]
    values[-1, 1:3] = np.nan, -np.inf
    ended = Status(False, "diverged: λ̇ is not finite", float(time[-1]), "λ̇")
    return Log(time, values, SIGNALS, {"seed": 4, "name": "ä"}, ended)


def same(a, b):
    np.testing.assert_array_equal(a.time, b.time)
    np.testing.assert_array_equal(a.values, b.values)
    assert (a.signals, a.provenance, a.status) == (b.signals, b.provenance, b.status)


# ---- MAT-files ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 7])
def test_a_log_comes_back_bit_for_bit(n, tmp_path):
    log(n).save(tmp_path / "run.mat")
    same(Log.load(tmp_path / "run.mat"), log(n))


def test_matlab_finds_its_variables(tmp_path):
    log().save(tmp_path / "run.mat")
    content = loadmat(tmp_path / "run.mat")
    assert {n for n in content if n[0] != "_"} == {
        "time", "x_1", "signal_1", "signal_2", "signal_3", "fluidproof_log",
    }  # fmt: skip
    assert content["x_1"].shape == (7, 1)
    about = json.loads(content["fluidproof_log"][0])
    assert [s["unit"] for _, s in about["signals"]] == ["m", "1/s", "Pa", "1"]


@pytest.mark.parametrize(
    "content, words",
    [
        ({"time": np.arange(3.0)}, "a MAT-file, but not a log"),
        ({"fluidproof_log": '{"format": 9}'}, "log format 9, this version reads 1"),
        ({"fluidproof_log": '{"format": 1, "signals": []}'}, "no readable log"),
        ({"fluidproof_log": "[1"}, "no readable log"),
    ],
)
def test_what_is_no_log_is_refused(content, words, tmp_path):
    savemat(tmp_path / "run.mat", content)
    with pytest.raises(InputError, match=words):
        Log.load(tmp_path / "run.mat")


def test_damaged_and_missing_files_are_refused(tmp_path):
    (tmp_path / "run.mat").write_bytes(b"no")
    for name in ("run.mat", "none.mat"):
        with pytest.raises(InputError, match=name):
            Log.load(tmp_path / name)


# ---- linear systems ----------------------------------------------------------------------------------------------------
def plant(seed=5):
    rng = np.random.default_rng(seed)
    A, B, C = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(1, 3))
    names = {"states": ["a", "b", "c"], "inputs": ["F", "u"], "outputs": ["y"], "name": "beam"}
    return from_control(control.ss(A, B, C, 0, **names))


def test_a_linear_system_goes_out_and_comes_back(tmp_path):
    to_mat(plant(), tmp_path / "sys.mat")
    content = loadmat(tmp_path / "sys.mat")
    np.testing.assert_array_equal(content["A"], to_control(plant(), linear=True).A)
    assert content["Ts"].item() == 0.0
    assert from_mat(tmp_path / "sys.mat") == plant()


def test_matrices_of_matlab_come_in_without_names(tmp_path):
    savemat(tmp_path / "sys.mat", {"A": [[-2.0]], "B": [[1.0]], "C": [[3.0]]})
    found = from_mat(tmp_path / "sys.mat")
    assert (found.A, found.B, found.C) == ((-2.0,), (1.0,), (3.0,))


@pytest.mark.parametrize(
    "content, words",
    [
        ({"A": [[1.0]], "B": [[1.0]]}, "no matrix C; it holds A, B.*\n.*ssdata"),
        ({"A": [[1.0, 2.0]], "B": [[1.0]], "C": [[1.0]]}, "make no linear system"),
        ({"A": [[1.0]], "B": [[1.0]], "C": [[1.0]], "D": [[2.0]]}, "directly on inputs"),
        ({"A": [[1.0]], "B": [[1.0]], "C": [[1.0]], "Ts": 0.1}, "is sampled"),
        ({"A": [[1.0]], "B": [[1.0]], "C": [[1.0]], "fluidproof_names": "[]"}, "no linear system"),
    ],
)
def test_what_cannot_come_in_is_refused(content, words, tmp_path):
    savemat(tmp_path / "sys.mat", content)
    with pytest.raises(InputError, match=words) as refused:
        from_mat(tmp_path / "sys.mat")
    assert "sys.mat" in str(refused.value)


def test_what_cannot_go_out_is_refused(tmp_path):
    with pytest.raises(InputError, match="TransferFunction has no matrices"):
        to_mat(control.tf([1], [1, 1]), tmp_path / "sys.mat")
    with pytest.raises(InputError, match="does not say how often"):
        to_mat(control.ss(0.5, 1, 1, 0, True), tmp_path / "sys.mat")
    assert not list(tmp_path.iterdir())


# ---- MCAP --------------------------------------------------------------------------------------------------------------
def messages(path):
    reader = pytest.importorskip("mcap.reader", reason="the package mcap is not here")
    with open(path, "rb") as stream:
        made = reader.make_reader(stream)
        found = list(made.iter_messages())
        about = {m.name: json.loads(m.metadata["json"]) for m in made.iter_metadata()}
    return found, about


def test_mcap_is_read_by_its_own_reader(tmp_path):
    pytest.importorskip("mcap", reason="the package mcap is not here")
    run = log()
    run.save(tmp_path / "run.mcap")
    found, about = messages(tmp_path / "run.mcap")
    assert len(found) == 7 and {channel.topic for _, channel, _ in found} == {"run"}
    schema = json.loads(found[0][0].data)
    assert found[0][0].encoding == "jsonschema" and found[0][1].message_encoding == "json"
    assert {n: p["unit"] for n, p in schema["properties"].items()} == {
        "t": "s", "x_1": "m", "λ̇": "1/s", "p_a/b": "Pa", "signal_9": "1",
    }  # fmt: skip
    assert schema["properties"]["x_1"]["description"] == "piston [m]"
    for k, (_, _, message) in enumerate(found):
        row = json.loads(message.data)
        assert row.pop("t") == run.time[k]
        assert abs(message.log_time - run.time[k] * 1e9) <= 0.51
        assert row == {n: v for n, v in zip(run.names, run.values[k]) if np.isfinite(v)}
    assert about["status"]["message"].startswith("diverged") and about["provenance"]["name"] == "ä"


def test_times_that_mcap_cannot_carry_are_refused(tmp_path):
    pytest.importorskip("mcap", reason="the package mcap is not here")
    for first in (-1.0, 1e10):
        with pytest.raises(InputError, match="nanoseconds.*\n.*\\.nc"):
            log(first=first).save(tmp_path / "run.mcap")
    named = Log(np.zeros(1), np.zeros((1, 1)), (Signal("t"),), {}, Status(True, "completed", 0.0))
    with pytest.raises(InputError, match="signal 't'"):
        named.save(tmp_path / "run.mcap")
    assert not list(tmp_path.iterdir())


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    import sys

    for name in ("mcap", "mcap.writer"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match="needs the package mcap.*\n.*fluidproof\\[mcap\\]"):
        log().save(tmp_path / "run.mcap")
    with pytest.raises(InputError, match="not read back.*\n.*\\.nc or \\.mat"):
        Log.load(tmp_path / "run.mcap")
