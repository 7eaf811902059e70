"""Many runs in one kernel: runs per second side by side in lanes, beside the same runs one after the other.

    python benchmarks/many_runs.py [--runs 48] [--repeat 3]

The two-joint crane under VDC (30 s, loads and starts drawn at random), logged at every sample and every 100 samples. "lanes" is
`simulate_many` on one thread, "all cores" on as many as there are; "alone" is `simulate`, run by run. Ratios are of processor
times, so that other work on the machine does not count; the numbers of both are compared bit by bit.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter, process_time

import numpy as np
from common import cranes, demo_path, machine_in_words, vdc_loop

from workbench import changed, simulate, simulate_many


def crane_jobs(count: int, log_period: float | None) -> list:
    """The crane with loads of 0 to 60 kg, from joints off by up to 20 mrad."""
    rng = np.random.default_rng(7)
    plant = cranes()["two-joint"]
    path = demo_path(log_period=log_period)
    jobs = []
    for _ in range(count):
        loaded = changed(plant, {"payload.mass": float(rng.uniform(0.0, 60.0))})
        q_1, q_2 = (float(v) for v in rng.uniform(-0.02, 0.02, 2))
        jobs.append((vdc_loop(loaded), replace(path, offset={"q_1": q_1, "q_2": q_2})))
    return jobs


def timed(call, repeat: int) -> tuple[float, float, list]:
    """(wall, processor) of the fastest of several calls, s, and what it returned."""
    best = (np.inf, np.inf)
    for _ in range(repeat):
        wall, processor = perf_counter(), process_time()
        made = call()
        spent = (perf_counter() - wall, process_time() - processor)
        best = min(best, spent, key=lambda pair: pair[1])
    return (*best, made)


def compared(name: str, jobs: list, repeat: int) -> str:
    """One row of the table."""
    simulate_many(jobs[:2])
    _, alone, logs = timed(lambda: [simulate(*job) for job in jobs], repeat)
    _, lanes, many = timed(lambda: simulate_many(jobs, threads=1), repeat)
    wall, threads, _ = timed(lambda: simulate_many(jobs), repeat)
    equal = all(a.values.tobytes() == b.values.tobytes() for a, b in zip(logs, many))
    n = len(jobs)
    words = "equal bit by bit" if equal else "DIFFERENT NUMBERS"
    return (
        f"| {name} | {1e3 * alone / n:.1f} ms | {1e3 * lanes / n:.1f} ms | {alone / lanes:.2f} | "
        f"{n / wall:.0f} runs/s | {words} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=48)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(machine_in_words())
    print("| runs | alone | in lanes | ratio | all cores, wall | numbers |")
    print("|---|---|---|---|---|---|")
    few = max(8, options.runs // 3)
    print(compared("crane, every sample", crane_jobs(few, None), options.repeat))
    print(compared("crane, every 100 samples", crane_jobs(options.runs, 0.1), options.repeat))


if __name__ == "__main__":
    main()
