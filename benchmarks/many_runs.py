"""Many runs in one kernel: runs per second side by side in lanes, beside the same runs one after the other.

    python benchmarks/many_runs.py [--runs 48] [--repeat 3]

The two-joint crane under VDC (30 s, loads and starts drawn at random), logged at every sample and every 100 samples, and a servo
cylinder under PID (10 s, gains drawn at random). "lanes" is `simulate_many` on one thread, "all cores" on
as many as there are; "alone" is `simulate`, run by run. Ratios are of processor times, so that other work on the machine does not
count; "runs/s" are what all cores would do if nothing else ran: cores over the processor time of a run. "kernel" is the compiled
loop alone, without what Python does around it. The numbers of both ways are compared bit by bit.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from time import process_time, thread_time
from typing import Annotated, final

import numpy as np
from common import T_S, cranes, demo_path, machine_in_words, vdc_loop

from controllers import PID
from workbench import (
    ClosedLoop,
    Sampled,
    Scenario,
    Signal,
    Sine,
    System,
    Unit,
    changed,
    simulate,
    simulate_many,
)
from workbench.numerics.lanes import Lanes
from workbench.numerics.native import Loop
from workbench.run.many import cores


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


@final
@dataclass(frozen=True)
class Servo(System):
    """Symmetric cylinder moving a mass, driven by a critically lapped four-way valve.

        m v̇ = A p_L − b v,   V/(4β) ṗ_L = Q_L − A v − C p_L,   Q_L = k u √(p_s − sgn(u) p_L)

    Source: [Merritt67], valve-controlled piston, load-pressure form.
    """

    m: Annotated[float, Unit("kg")] = 120.0
    b: Annotated[float, Unit("N s/m")] = 900.0
    A: Annotated[float, Unit("m^2")] = 1.1e-3
    V: Annotated[float, Unit("m^3")] = 0.8e-3
    β: Annotated[float, Unit("Pa")] = 0.9e9
    C: Annotated[float, Unit("m^3/(s Pa)")] = 4e-12
    k: Annotated[float, Unit("m^3/(s V Pa^0.5)")] = 1.1e-8
    p_s: Annotated[float, Unit("Pa")] = 120e5

    states = (
        Signal("y", "m", "position"),
        Signal("v", "m/s", "speed"),
        Signal("p_L", "Pa", "load"),
    )
    inputs = (Signal("u", "V", "command"),)
    outputs = (Signal("y", "m", "position"),)

    def initial(self):
        return [0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        _, v, p_L = x
        (u,) = u
        Q_L = self.k * u * np.sqrt(np.maximum(self.p_s - np.where(u > 0, p_L, -p_L), 0.0))
        return [
            v,
            (self.A * p_L - self.b * v) / self.m,
            4 * self.β / self.V * (Q_L - self.A * v - self.C * p_L),
        ]

    def out(self, t, x):
        return [x[0]]


def servo_jobs(count: int) -> list:
    """A servo cylinder under PID at 1 kHz that follows a sine for 10 s, logged every 100 samples."""
    rng = np.random.default_rng(11)
    plant = Servo()
    walk = Sine("output", (0.0,), (0.05,), 0.4)

    def loop(gain: float) -> ClosedLoop:
        law = PID(
            plant, K_p=(gain,), K_i=(0.0,), signals=("y",), feed="none", damping="none", u_max=1e6
        )
        return ClosedLoop(plant, Sampled(law, T_S))

    gains = rng.uniform(40.0, 80.0, count)
    return [(loop(float(k)), Scenario(10.0, reference=walk, log_period=0.1)) for k in gains]


class Kernel:
    """Processor time that the compiled loops take, alone and in lanes, while it is asked for."""

    def __init__(self) -> None:
        self.spent = 0.0
        for kind in (Loop, Lanes):
            kind.run = self._counted(kind.run)

    def _counted(self, run):
        def counted(*arguments):
            begin = thread_time()
            try:
                return run(*arguments)
            finally:
                self.spent += thread_time() - begin

        return counted


def timed(call, repeat: int, kernel: Kernel) -> tuple[float, float, list]:
    """(processor time, that of the compiled loop) of the fastest of several calls, s, and what it returned."""
    best = (np.inf, np.inf)
    for _ in range(repeat):
        kernel.spent = 0.0
        begin = process_time()
        made = call()
        best = min(best, (process_time() - begin, kernel.spent))
    return (*best, made)


def compared(name: str, jobs: list, repeat: int, kernel: Kernel) -> str:
    """One row of the table."""
    simulate_many(jobs[:2])
    alone, bare, logs = timed(lambda: [simulate(*job) for job in jobs], repeat, kernel)
    lanes, laned, many = timed(lambda: simulate_many(jobs, threads=1), repeat, kernel)
    threads, _, _ = timed(lambda: simulate_many(jobs), repeat, kernel)
    equal = all(a.values.tobytes() == b.values.tobytes() for a, b in zip(logs, many))
    n = len(jobs)
    words = "equal bit by bit" if equal else "DIFFERENT NUMBERS"
    return (
        f"| {name} | {1e3 * alone / n:.2f} ms | {1e3 * lanes / n:.2f} ms | {alone / lanes:.2f} | "
        f"{bare / laned:.2f} | {cores() * n / threads:.0f} runs/s | {threads / cores() / alone:.2f} | {words} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=48)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(machine_in_words())
    kernel = Kernel()
    print("| runs | alone | in lanes | ratio | kernel | all cores | of one core alone | numbers |")
    print("|---|---|---|---|---|---|---|---|")
    few = max(8, options.runs // 3)
    for name, jobs in (
        ("crane 30 s, every sample", crane_jobs(few, None)),
        ("crane 30 s, every 100 samples", crane_jobs(options.runs, 0.1)),
        ("servo cylinder 10 s, every 100 samples", servo_jobs(4 * options.runs)),
    ):
        print(compared(name, jobs, options.repeat, kernel), flush=True)


if __name__ == "__main__":
    main()
