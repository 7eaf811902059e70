"""The manipulator against pinocchio and MuJoCo: largest relative differences over many random cases, and time per call.

python benchmarks/oracles.py [--cases 200] [--seed 0]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from oracles.mujoco_machine import MujocoMachine  # noqa: E402
from oracles.pinocchio_machine import PinocchioMachine  # noqa: E402
from oracles.random_machines import random_base, random_machine, random_state, random_tip  # noqa: E402

ORACLES = {"pinocchio": PinocchioMachine, "MuJoCo": MujocoMachine}
QUANTITIES = ("cylinder forces", "reaction force", "reaction moment", "joint accelerations")


def gap(found, expected):
    """Largest difference over the largest expected entry."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return abs(found - expected).max() / abs(expected).max()


def evaluate(machine, state, base, tip, f_c):
    """The four compared quantities of a plant or an oracle."""
    f, (f_base, m_base) = machine.inverse_dynamics(*state, base, tip)
    return f, f_base, m_base, machine.forward_dynamics(*state[:2], f_c, base, tip)


def compare(cases, seed):
    """Relative differences, cases × oracles × quantities."""
    rng = np.random.default_rng(seed)
    gaps = np.zeros((cases, len(ORACLES), len(QUANTITIES)))
    for i in range(cases):
        plant = random_machine(rng, 1 + i % 3)
        state, base, tip = random_state(rng, plant), random_base(rng), random_tip(rng)
        f_c = [float(f) for f in rng.normal(size=len(state[0])) * 40e3]
        ours = evaluate(plant, state, base, tip, f_c)
        for j, oracle in enumerate(ORACLES.values()):
            theirs = evaluate(oracle(plant), state, base, tip, f_c)
            gaps[i, j] = [gap(a, b) for a, b in zip(ours, theirs)]
    return gaps


def seconds_per_call(machine, state, base, tip, calls=200):
    """Best of five means, s."""
    means = []
    for _ in range(5):
        start = perf_counter()
        for _ in range(calls // 5):
            machine.inverse_dynamics(*state, base, tip)
        means.append((perf_counter() - start) / (calls // 5))
    return min(means)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    gaps = compare(options.cases, options.seed)
    print(
        f"largest (median) relative difference over {options.cases} random machines, states and base motions"
    )
    print(f"{'':22}" + "".join(f"{name:>24}" for name in ORACLES))
    for k, quantity in enumerate(QUANTITIES):
        cells = (
            f"{gaps[:, j, k].max():.1e} ({np.median(gaps[:, j, k]):.1e})"
            for j in range(len(ORACLES))
        )
        print(f"{quantity:22}" + "".join(f"{cell:>24}" for cell in cells))
    print("\ntime per inverse dynamics, ms (Python objects built beforehand)")
    rng = np.random.default_rng(options.seed)
    for layout in ((False,), (False, True), (True, True, True)):
        plant = random_machine(rng, len(layout), layout)
        state, base, tip = random_state(rng, plant), random_base(rng), random_tip(rng)
        machines = {"plant": plant} | {name: oracle(plant) for name, oracle in ORACLES.items()}
        times = "   ".join(
            f"{name} {1e3 * seconds_per_call(m, state, base, tip):.3f}"
            for name, m in machines.items()
        )
        print(f"  {len(layout)} structures, {sum(layout)} prismatic: {times}")


if __name__ == "__main__":
    main()
