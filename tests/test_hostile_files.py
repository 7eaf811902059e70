"""Files that are named in files: devices, pipes, circles, giants, secrets. A sentence each time, soon, and nothing of them."""

import json
import os
import signal
import threading

import numpy as np
import pytest
from scipy.io import savemat

from workbench.cases.yaml_input import read
from workbench.commands.cli import main, verify_stability
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.files import packed
from workbench.identification import read_table
from workbench.planning.paths import read_path
from workbench.run.log import Log, Status
from workbench.run.spline import Spline
from workbench.sweep.form import read_sweep
from workbench.sweep.journal import HEAD, Journal
from workbench.sweep.table import Table
from workbench.verification.rigorous.recheck import main as recheck

SECRET = "root:x:0:0:hunter2:/root:/bin/sh\nhunter2,hunter2\n"
READERS = {
    "case": read,
    "reference": lambda path: Spline.from_csv(path, "joint"),
    "tip's path": read_path,
    "table": read_table,
    "log": Log.load,
    "sweep": read_sweep,
    "table of a sweep": Table.load,
}


@pytest.fixture(autouse=True)
def soon():
    """A test that hangs is ended, and fails."""

    def late(*_):
        raise TimeoutError("a reader hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(40)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def odd_files(folder):
    """Name → path of what is no file to read from."""
    os.mkfifo(folder / "pipe")
    (folder / "round").symlink_to(folder / "round")
    (folder / "folder").mkdir()
    with open(folder / "sparse", "wb") as file:
        file.truncate(10**10)
    (folder / "endless").symlink_to("/dev/zero")
    (folder / "random").symlink_to("/dev/random")
    return (
        "pipe",
        "round",
        "folder",
        "sparse",
        "endless",
        "random",
        "not there",
        "nul\0byte",
        "n" * 300,
    )


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_what_is_no_file(reader, tmp_path):
    for name in odd_files(tmp_path):
        with pytest.raises(InputError) as refused:
            READERS[reader](str(tmp_path / name))
        assert refused.value.file and refused.value.mend


@pytest.mark.parametrize("ending", (".nc", ".mat", ".csv"))
def test_whatever_the_ending_says(ending, tmp_path):
    for name in odd_files(tmp_path):
        if "\0" in name or len(name) > 200:
            continue
        if name != "not there":
            (tmp_path / (name + ending)).symlink_to(tmp_path / name)
        with pytest.raises(InputError):
            read_table(str(tmp_path / (name + ending)))


CASES = {
    "reference": "plant: hiab-xs031\nscenario:\n  reference: {{type: Recorded, file: {}, space: joint}}\n",
    "disturbance": "plant: hiab-xs031\nscenario:\n  duration: 1 s\n  disturbances: {{f_Dy: {{type: Recorded, file: {}}}}}\n",
    "machine": "plant: {}.yaml\n",
}


@pytest.mark.parametrize("kind", CASES)
def test_a_case_that_names_one(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in odd_files(tmp_path):
        if "\0" in name or "n" * 300 == name:
            continue
        if kind == "machine" and name != "not there":
            (tmp_path / f"{name}.yaml").symlink_to(tmp_path / name)
        (tmp_path / "case").write_text(CASES[kind].format(name))
        assert verify_stability(["case"]) == 3
        said = capsys.readouterr().err
        assert "mend: " in said and "Traceback" not in said


def test_a_pipe_that_somebody_writes_to_is_none_either(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    def write():
        descriptor = os.open(tmp_path / "pipe", os.O_RDWR)  # so that nobody waits
        os.write(descriptor, b"plant: hiab-xs031\n")
        hold.wait(20)
        os.close(descriptor)

    hold = threading.Event()
    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(InputError, match="a device or a pipe"):
            read(tmp_path / "pipe")
    finally:
        hold.set()
        writer.join()


# ---- what messages repeat ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    (
        SECRET,
        "time,x\n" + SECRET,
        "0,1\n1,hunter2\n",
        "t,hunter2 [hunter2]\n0,1\n1,2\n",
        "0,1\n1," + "hunter2" * 30000 + "\n",
        'a\n"hunter2\n' + "hunter2," * 50,
    ),
)
def test_nothing_of_a_file_that_is_named_is_repeated(text, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given").write_text(text)
    for kind in ("reference", "disturbance"):
        (tmp_path / "case").write_text(CASES[kind].format("given"))
        assert verify_stability(["case"]) == 3
        said = capsys.readouterr().err
        assert "given" in said and "hunter2" not in said
    (tmp_path / "plan").write_text("crane: hiab-reduced\npath: {type: Recorded, file: given}\n")
    assert main(["plan", "plan"]) == 3
    assert "hunter2" not in capsys.readouterr().err


def test_a_column_in_another_unit_is_named_so_still(tmp_path):
    (tmp_path / "q.csv").write_text("t [s],q [bar]\n0,1\n1,2\n")
    with pytest.raises(InputError, match="column 2: .*not in m or rad"):
        Spline.from_csv(tmp_path / "q.csv", "joint")
    (tmp_path / "q.csv").write_text("t [s],q [rad]\n0,1\n1,2\n")
    assert Spline.from_csv(tmp_path / "q.csv", "joint").values == ((1.0,), (2.0,))


@pytest.mark.parametrize(
    "text",
    (
        "x" * 900_000,
        "plant: " + "y" * 900_000,
        "plant: hiab-xs031\n" + "k" * 900_000 + ": 1",
        "plant: hiab-xs031\ntitle: [" + "0, " * 9000 + "]",
        "plant: hiab-xs031\nloop: {delay: " + "7" * 300_000 + "}",
    ),
)
def test_messages_are_short(text, tmp_path, capsys):
    (tmp_path / "long.yaml").write_text(text)
    assert verify_stability([str(tmp_path / "long.yaml")]) == 3
    assert 20 < len(capsys.readouterr().err) < 7000


# ---- tables of numbers ---------------------------------------------------------------------------------------------
def log_of(n=300):
    t = np.arange(n) * 0.01
    return Log(
        t,
        np.column_stack([np.sin(t), np.cos(t)]),
        (Signal("X", "m"), Signal("Y", "Pa")),
        {"a": [1, "b"]},
        Status(True, "completed", float(t[-1])),
    )


@pytest.mark.parametrize(
    "header, words",
    (
        ("t" + " " * 300_000 + "[s],X,Y", None),
        ("t [" + " " * 300_000 + ",X,Y", None),
        ("(" * 100_000 + ",X,Y", None),
        ("t,X,Y" + ",z" * 20_000, "columns"),
        ("t,X," + "Y" * 200_000, None),
        ('t,"X,Y', None),
    ),
)
def test_headers_cost_no_time(header, words, tmp_path):
    rows = "\n".join(",".join(f"{0.1 * k:.3g}" for _ in range(3)) for k in range(20))
    (tmp_path / "a.csv").write_text(header + "\n" + rows + "\n")
    try:
        assert len(read_table(tmp_path / "a.csv").columns) == 3 and words is None
    except InputError as why:
        assert words is None or words in str(why)
        assert len(str(why)) < 3000


def test_names_and_units_of_headers(tmp_path):
    rows = "\n".join(f"{k},1,2,3,4" for k in range(20))
    (tmp_path / "a.csv").write_text(
        "time (s); X [mm] ;Y [a] [bar];p(kPa);z]\n".replace(";", ",") + rows
    )
    table = read_table(tmp_path / "a.csv")
    assert [(name, unit) for name, (unit, _) in table.columns.items()] == [
        ("time", "s"),
        ("X", "mm"),
        ("Y [a]", "bar"),
        ("p", "kPa"),
        ("z]", ""),
    ]


def test_a_cell_without_end(tmp_path):
    text = "t,X,Y\n" + "\n".join(f"{k},1,2" for k in range(20)) + "\n20,1," + "1" * 131_073 + "\n"
    (tmp_path / "a.csv").write_text(text)
    for read_one in (read_table, lambda path: Spline.from_csv(path, "joint")):
        with pytest.raises(InputError) as refused:
            read_one(tmp_path / "a.csv")
        assert refused.value.line == 22 and len(str(refused.value)) < 1000


def test_thousands_of_empty_lines_cost_no_time(tmp_path):
    rows = "\n".join(f"{k},1,2" for k in range(20))
    (tmp_path / "a.csv").write_text("t,X,Y\n" + rows + "\n" * 300_000)
    assert len(read_table(tmp_path / "a.csv").columns["t"][1]) == 20


# ---- HDF5 and MAT --------------------------------------------------------------------------------------------------
READER = """
import sys, time, os, signal
{}
"""


@pytest.mark.parametrize(
    "acts, words",
    (
        ("time.sleep(60)", "not read within"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crash"),
        ("print('{')", "too early"),
        ("print('{\"error\": \"' + 'x' * 5000 + '\"}')", "xxx"),
    ),
)
def test_a_reader_that_hangs_or_crashes(acts, words, tmp_path, monkeypatch):
    log_of().save(tmp_path / "a.nc")
    savemat(tmp_path / "a.mat", {"t": np.arange(30.0)})
    (tmp_path / "reader.py").write_text(READER.format(acts))
    monkeypatch.setattr(packed, "READER", tmp_path / "reader.py")
    monkeypatch.setattr(packed, "PATIENCE", 1.0)
    for load, file in (
        (Log.load, "a.nc"),
        (Table.load, "a.nc"),
        (read_table, "a.nc"),
        (read_table, "a.mat"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            load(tmp_path / file)
        assert len(str(refused.value)) < 4000


def test_damaged_logs_end_in_a_sentence_or_are_whole(tmp_path):
    log = log_of()
    log.save(tmp_path / "a.nc")
    whole, rng = (tmp_path / "a.nc").read_bytes(), np.random.default_rng(5)
    for k in range(6):
        bad = bytearray(whole)
        for at in rng.integers(0, 4000, 3):
            bad[at] ^= 1 << int(rng.integers(8))
        (tmp_path / "b.nc").write_bytes(bad if k else whole[: len(whole) // 2])
        try:
            assert Log.load(tmp_path / "b.nc").names
        except InputError as why:
            assert "b.nc" in str(why)


def test_numbers_of_another_file_are_not_read(tmp_path):
    import h5py

    (tmp_path / "secret").write_bytes(np.arange(40.0).tobytes())
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["t"] = np.arange(40.0)
        file.create_dataset("X", (40,), "f8", external=[(str(tmp_path / "secret"), 0, 320)])
    with pytest.raises(InputError, match="another file"):
        read_table(tmp_path / "a.h5")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["t"] = np.arange(40.0)
        file["X"] = h5py.ExternalLink("a.h5", "t")
    assert set(read_table(tmp_path / "b.h5").columns) == {"t"}


def test_claims_of_a_small_file_are_not_believed(tmp_path, monkeypatch):
    import h5py

    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("t", (10**12,), "f8", chunks=(1024,))  # nothing of it is stored
    with pytest.raises(InputError, match="claims more numbers"):
        read_table(tmp_path / "a.h5")
    savemat(
        tmp_path / "a.mat", {"t": np.zeros(300_000), "X": np.zeros(300_000)}, do_compression=True
    )
    assert read_table(tmp_path / "a.mat").columns["t"][1].size == 300_000
    monkeypatch.setattr(packed, "MOST_NUMBERS", 4_000_000)
    with pytest.raises(InputError, match="more numbers"):
        read_table(tmp_path / "a.mat")


# ---- journals and certificates -------------------------------------------------------------------------------------
LINES = (
    "[" * 100_000,
    '{"key": ' * 5000,
    '{"key": 1, "results": [], "error": ""}',
    '{"key": "a", "results": [[1, 2, 3]], "error": ""}',
    '{"key": "a", "results": [["x", ' + "9" * 4000 + ', ""]], "error": ""}',
    '{"key": "a", "results": {"b": 1}, "error": ""}',
    '{"key": "a", "results": [["x", 1.0]], "error": ""}',
    "null",
    "7",
    '"' + "x" * 100_000,
    "\0" * 1000,
)


def test_lines_of_a_journal_that_are_none(tmp_path):
    good = json.dumps(
        {"key": "g", "results": [["x", 1.5, "m"], ["y", None, ""], ["z", "holds", ""]], "error": ""}
    )
    (tmp_path / "t.nc.journal").write_text(
        HEAD + "\n".join([*LINES, good, *LINES]) + "\n" + good[:30]
    )
    with Journal(tmp_path / "t.nc", resume=True) as journal:
        assert set(journal.known) == {"g"} and journal.known["g"].results[0] == ("x", 1.5, "m")
    assert (tmp_path / "t.nc.journal").read_bytes().endswith(b"\n")


def test_a_journal_that_is_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "t.nc.journal")
    with (
        pytest.raises(InputError, match="a device or a pipe"),
        Journal(tmp_path / "t.nc", resume=True),
    ):
        pass


@pytest.mark.parametrize(
    "text",
    (
        "[" * 100_000,
        '{"format": ' * 3000,
        '{"format": ["quadratic-certificate-1"]}',
        "9" * 5000,
        "NaN",
        '{"format": "quadratic-certificate-1", "P": [["0x1p99999"]], "rate": "0"}',
        '{"format": "quadratic-certificate-1", "P": [["1"]], "rate": "' + "9" * 400 + '", "time": '
        '"continuous", "matrices": [[["-' + "9" * 401 + '"]]]}',
        '{"format": "' + "x" * 5000 + '"}',
    ),
)
def test_certificates_that_are_none(text, tmp_path, capsys):
    (tmp_path / "a.json").write_text(text)
    assert recheck([str(tmp_path / "a.json")]) == 1
    said = capsys.readouterr()
    assert 5 < len(said.out + said.err) < 700 + len(str(tmp_path))


def test_a_certificate_without_end(capsys):
    assert recheck(["/dev/zero"]) == 1
    assert "more than 100 MB" in capsys.readouterr().err
