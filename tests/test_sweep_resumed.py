"""Sweeps that are killed, continued, disturbed: nothing lost, nothing run twice; and clusters that lose a worker."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import sweep_studies as studies

from workbench.contract.errors import InputError
from workbench.sweep import sweep
from workbench.sweep.form import read_sweep
from workbench.sweep.journal import HEAD, Journal
from workbench.sweep.outcome import Outcome, digest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GRID = {"a": [1.1, 2.3, 3.0, 4.7], "b": [0.3, -7.0, 1e-300]}


def run_python(code, *arguments, **options):
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{TESTS}"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# ---- resumed --------------------------------------------------------------------------------------------------------
KILLED = (
    "import sys; import sweep_studies as s; from workbench.sweep import sweep\n"
    "if __name__ == '__main__':\n"
    "    sweep(s.marked, {'a': [float(k) for k in range(1, 9)], 'b': [0.3, 0.7, 1.9], 'folder': [sys.argv[1]]},"
    " out=sys.argv[2], resume=True, jobs=int(sys.argv[3]))"
)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_sweep_loses_nothing_and_runs_nothing_twice(tmp_path, jobs):
    out, journal = tmp_path / "t.nc", tmp_path / "t.nc.journal"
    for wanted in (5, 13):
        process = run_python(KILLED, tmp_path, out, jobs)
        limit = time.monotonic() + 60
        while time.monotonic() < limit and (
            not journal.exists() or journal.read_bytes().count(b"\n") <= wanted
        ):
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
    # Each kill hits what a process runs, and a result of its that is on its way to the journal.
    assert sum(n - 1 for n in Counter(ran).values()) <= 2 * 2 * jobs
    grid = {"a": [float(k) for k in range(1, 9)], "b": [0.3, 0.7, 1.9], "folder": [str(tmp_path)]}
    sweep(studies.marked, grid, out=tmp_path / "whole.nc", jobs=1)
    assert out.read_bytes() == (tmp_path / "whole.nc").read_bytes()


def test_a_larger_grid_runs_what_is_new_only(tmp_path):
    grid, counts = {"a": [1.5, 2.5], "b": [2.0], "folder": [str(tmp_path)]}, []
    sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1)
    table = sweep(
        studies.marked,
        grid | {"a": [2.5, 3.5, 1.5]},
        out=tmp_path / "t.nc",
        jobs=1,
        resume=True,
        told=lambda *c: counts.append(c),
    )
    assert counts == [(2, 3)] and list(table["product"]) == [5.0, 7.0, 3.0]
    assert (tmp_path / "ran").read_text().split("\n") == ["1.5 2.0", "2.5 2.0", "3.5 2.0", ""]


def test_a_torn_or_damaged_line_runs_its_case_again(tmp_path):
    grid = {"a": [1.5, 2.5, 3.5], "b": [2.0], "folder": [str(tmp_path)]}
    sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1)
    whole, journal = (tmp_path / "t.nc").read_bytes(), tmp_path / "t.nc.journal"
    head, first, second, third = journal.read_text().splitlines(keepends=True)
    for damaged in (
        head + first + second + third[:-1],
        head + first[:40] + "\n" + second + third,
        head[:20],
        "",
    ):
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
    assert digest(studies.product, point) != digest(
        studies.product, {"a": 1.0, "b": 2.0000000000000004}
    )
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


def test_a_table_that_finds_the_disk_full_loses_no_case(tmp_path, monkeypatch):
    from workbench.sweep import Table

    grid = {"a": [1.5, 2.5], "b": [2.0], "folder": [str(tmp_path)]}
    with monkeypatch.context() as full:
        full.setattr(
            Table,
            "_to_netcdf",
            lambda *_: (_ for _ in ()).throw(
                InputError("the disk is full", mend="free some space")
            ),
        )
        with pytest.raises(
            InputError, match=r"the disk is full(?s:.*)free some space; then go on with --resume"
        ):
            sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1)
    assert list(
        sweep(studies.marked, grid, out=tmp_path / "t.nc", jobs=1, resume=True)["product"]
    ) == [3.0, 5.0]
    assert len((tmp_path / "ran").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "name, words",
    [("t.txt", "NetCDF or Parquet"), ("none/t.nc", "no such directory"), (".nc", "NetCDF or")],
)
def test_outputs_that_cannot_be_are_refused_before_any_case_runs(tmp_path, name, words):
    with pytest.raises(InputError, match=words):
        sweep(studies.marked, GRID | {"folder": [str(tmp_path)]}, out=tmp_path / name, jobs=1)
    assert not list(tmp_path.iterdir())


# ---- Dask -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def scheduler(tmp_path):
    """Address of a scheduler of our own, and a function that starts a worker for it."""
    pytest.importorskip("distributed")
    started, environment = (
        [],
        os.environ | {"PYTHONPATH": f"{ROOT}:{TESTS}", "DASK_DISTRIBUTED__WORKER__DAEMON": "True"},
    )

    def start(*words):
        log = open(tmp_path / f"dask-{len(started)}.log", "w+")
        process = subprocess.Popen(
            [sys.executable, "-m", *words], env=environment, stdout=log, stderr=log, cwd=tmp_path
        )
        started.append((process, log))
        return process

    file = tmp_path / "scheduler.json"
    start(
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    )
    limit = time.monotonic() + 60
    while not file.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    worker = lambda: start(
        "distributed.cli.dask_worker",
        address,
        "--nworkers",
        "1",
        "--nthreads",
        "1",
        "--no-dashboard",
        "--no-nanny",
        "--local-directory",
        str(tmp_path),
    )
    yield address, worker
    for process, log in started:
        process.kill()
        process.wait()
        log.close()


def _workers(address, count):
    from distributed import Client

    with Client(address, timeout=30, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)


PLANS = """\
plan: {crane: hiab-reduced, path: {points: [[2.5 m, 0.5 m], [3.3 m, 1.4 m]], leg: 4 s}, steps: 16, search: {nodes: 41}}
grid: {supply: {LS: LoadSensing, CP: ConstantPressure}, path.leg: [4 s, 5 s]}
collect: {planners: ["pseudo-inverse, weighted"]}
"""


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
    (tmp_path / "s.yaml").write_text(PLANS)  # and of plans, on the worker that is left
    asked = read_sweep(tmp_path / "s.yaml")
    for name, where in (("far.nc", {"scheduler": address}), ("near.nc", {"jobs": 1})):
        assert not any(
            sweep(
                asked.study,
                asked.grid,
                out=tmp_path / name,
                units=asked.units,
                about=asked.about,
                **where,
            ).errors
        )
    assert (tmp_path / "far.nc").read_bytes() == (tmp_path / "near.nc").read_bytes()


def test_a_scheduler_that_does_not_answer_is_one_message(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from workbench.sweep import cluster

    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with pytest.raises(
        InputError, match=re.escape("no Dask scheduler answers at tcp://127.0.0.1:9")
    ):
        sweep(studies.product, GRID, out=tmp_path / "t.nc", scheduler="tcp://127.0.0.1:9")
    assert not (tmp_path / "t.nc").exists() and not (tmp_path / "t.nc.journal").exists()
