"""Many cases: one process, two, a pool from the standard library beside them, and a Dask cluster that loses a worker.

    python benchmarks/sweep.py [--repeat 3] [--cases 100] [--plans] [--dask]

Each way runs the same cases and writes, or would write, the same table: of the crane under VDC (load × delay × drawn valves), or
plans of its motion of least energy (triangle × supply × drawn loads). The processes' start is in the times. Wall time depends on
what else the machine does: the runs take turns, the medians are compared.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median

# One core a process everywhere, as the command has it: threads of the linear algebra library would lend one process the other core.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from common import ROOT, machine_in_words  # noqa: E402

TARGET = 1.8
SWEEP = """\
case: {case}
grid:
  plant.payload.mass: [0 kg, 15 kg, 30 kg, 45 kg, 60 kg]
  loop.delay: {{from: 0 ms, to: 2 ms, count: 5}}
draws:
  count: {count}
  seed: 3
  of: {{plant.all.valve.frequency: {{uniform: [60 Hz, 120 Hz]}}}}
collect:
  verdicts: [tracking, settled, energy-balance]
  signals: {{peak: {{signal: p_a1, take: max, after: 1 s}}}}
"""
PLANS = """\
plan: {case}
grid:
  steps: [60]
  search.nodes: [105]
  path.points:
    wide: [[2.4, 0.2], [3.8, 2.2], [3.8, 0.2], [2.4, 0.2]]
    near: [[2.2, 0.1], [3.0, 1.6], [3.0, 0.1], [2.2, 0.1]]
    flat: [[2.4, 0.3], [3.6, 0.3], [3.6, 0.8], [2.4, 0.3]]
    tall: [[2.3, 0.4], [3.0, 2.2], [3.4, 0.4], [2.3, 0.4]]
    skew: [[2.4, 0.2], [3.8, 2.2], [3.8, 0.4], [2.4, 0.2]]
  supply:
    LS: LoadSensing
    ELS: ElectricLoadSensing
    creep: {{type: LoadSensing, creep: 3 mm/s}}
    CP: ConstantPressure
    two: TwoPressures
draws:
  count: {count}
  seed: 3
  of: {{crane.load: {{uniform: [0 kg, 100 kg]}}}}
collect: {{planners: ["pseudo-inverse, weighted"]}}
"""


def used() -> float:
    """Processor seconds of this process and of those of its children that ended."""
    return sum(
        r.ru_utime + r.ru_stime
        for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def ways(asked, folder: Path):
    """name → function(out) that runs all cases."""
    from workbench.sweep import sweep
    from workbench.sweep.outcome import outcome

    def ours(jobs, out):
        sweep(asked.study, asked.grid, out=out, jobs=jobs, units=asked.units, about=asked.about)

    def pool(out):
        with ProcessPoolExecutor(2, get_context("spawn")) as two:
            assert not any(
                found.error
                for found in two.map(functools.partial(outcome, asked.study), asked.grid.points())
            )

    return {
        "one process": functools.partial(ours, 1),
        "two processes": functools.partial(ours, 2),
        "ProcessPoolExecutor, no table": pool,
    }


def compare(asked, folder: Path, repeat: int) -> Path:
    """Print the table; returns the file of the last run on two processes."""
    times: dict[str, list] = {}
    ways(asked, folder)["two processes"](
        folder / "warm.nc"
    )  # compiles, and is what the others must equal
    for k in range(repeat):
        for name, act in ways(asked, folder).items():
            out, begin, before = folder / f"{name.split()[0]}{k}.nc", time.perf_counter(), used()
            act(out)
            times.setdefault(name, []).append((time.perf_counter() - begin, used() - before))
            assert not out.exists() or out.read_bytes() == (folder / "warm.nc").read_bytes(), (
                "the tables differ"
            )
    one = median(wall for wall, _ in times["one process"])
    print(f"{'':32} {'wall, s':>8} {'best':>7} {'processor':>9} {'one process over it':>20}")
    for name, runs in times.items():
        wall = median(w for w, _ in runs)
        target = (
            f"   target {TARGET}: {'met' if one / wall >= TARGET else 'MISSED'}"
            if name.startswith("two")
            else ""
        )
        print(
            f"{name:32} {wall:8.2f} {min(w for w, _ in runs):7.2f} {median(c for _, c in runs):9.2f} {one / wall:20.2f}{target}"
        )
    spent = {name: median(c for _, c in runs) for name, runs in times.items()}
    print(
        f"by processor time, two free cores would give {2 * spent['one process'] / spent['two processes']:.2f}"
    )
    print("all tables are the same bit for bit")
    return folder / "warm.nc"


@contextmanager
def cluster(folder: Path):
    """(address, workers) of a scheduler with two workers of one thread."""
    started, file = [], folder / "scheduler.json"
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }

    def start(*words):
        command = [sys.executable, "-m", *words, "--no-dashboard"]
        started.append(
            subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.DEVNULL)
        )

    start(
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--scheduler-file",
        str(file),
    )
    try:
        while not file.exists():
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        for _ in range(2):
            start(
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--local-directory",
                str(folder),
            )
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


def on_dask(asked, folder: Path, wanted: Path) -> None:
    """The same cases on a cluster whose first worker is killed halfway."""
    from workbench.sweep import sweep

    with cluster(folder) as (address, workers):
        seen = []

        def progress(fraction, words):
            seen.append(fraction)
            if len(seen) == len(asked.grid) // 2:
                workers[0].kill()

        begin = time.perf_counter()
        sweep(
            asked.study,
            asked.grid,
            out=folder / "dask.nc",
            scheduler=address,
            units=asked.units,
            about=asked.about,
            progress=progress,
        )
        assert workers[0].wait() < 0
    same = (folder / "dask.nc").read_bytes() == wanted.read_bytes()
    print(
        f"Dask, two workers, one killed after {len(asked.grid) // 2} cases: {time.perf_counter() - begin:.2f} s, "
        f"table {'the same bit for bit' if same else 'DIFFERS'}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", type=int, default=100, help="a multiple of 25")
    parser.add_argument(
        "--plans", action="store_true", help="plans of least energy in place of the crane under VDC"
    )
    parser.add_argument(
        "--dask", action="store_true", help="also on a Dask cluster (needs distributed)"
    )
    options = parser.parse_args()
    from workbench.sweep.form import read_sweep

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        name, text = (
            ("hiab-triangle-ls.yaml", PLANS)
            if options.plans
            else ("hiab-xs031-two-joint.yaml", SWEEP)
        )
        (folder / "sweep.yaml").write_text(
            text.format(case=ROOT / "examples" / name, count=options.cases // 25)
        )
        asked = read_sweep(folder / "sweep.yaml")
        print(machine_in_words())
        print(f"{len(asked.grid)} cases")
        made = compare(asked, folder, options.repeat)
        if options.dask:
            on_dask(asked, folder, made)
        print(machine_in_words())


if __name__ == "__main__":
    main()
