"""Does the estimate printed with a plan cover the truth? Every cost on several paths, one and two states.

Default grids beside the best of two much finer searches and of IPOPT started from it, its cylinders' sides given. `left` is by
how much the best found is lower than the plan, which is to be less than the estimate; both are shares of the energy.

    python benchmarks/planning_estimate.py [1 or 2: only that many states] [name of a path, or of a cost: only those]
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

os.environ.setdefault("OMP_NUM_THREADS", "1")

import common  # noqa: E402, F401  the root of the repository on the path

from plants.crane.planar import planar_crane  # noqa: E402
from workbench import Waypoints  # noqa: E402
from workbench.planning import (  # noqa: E402
    EfficiencyMap,
    ElectricLoadSensing,
    PlannedConstantPressure,
    PlannedLoadSensing,
    Search,
    Task,
    TwoPressures,
    Work,
    optimise,
)
from workbench.planning.baselines import limited  # noqa: E402
from workbench.planning.dynamic import energy
from workbench.planning.recursion import solved
from workbench.planning.transcription import Sides  # noqa: E402

PATHS = {
    "triangle": (((2.3, 0.2), (3.9, 2.4), (3.9, 0.2), (2.3, 0.2)), 10.0),
    "low": (((2.4, -0.4), (4.0, 0.0), (3.0, 0.9), (2.4, -0.4)), 8.0),
    "lift": (((2.3, 0.2), (2.8, 2.6)), 12.0),
    "reach": (((2.5, 1.2), (4.2, 1.2), (2.5, 1.2)), 9.0),
}
MAP = EfficiencyMap((2e6, 1e7, 2e7), (1e-4, 6e-4), ((0.5, 0.7), (0.6, 0.85), (0.7, 0.8)))
SUPPLIES = {
    "oil": PlannedConstantPressure(),
    "oil, map": PlannedConstantPressure(map=MAP),
    "LS": PlannedLoadSensing(),
    "LS, creep": PlannedLoadSensing(creep=3e-3),
    "LS, back, map": PlannedLoadSensing(back=3e5, map=MAP),
    "electric LS": ElectricLoadSensing(),
    "electric LS, creep": ElectricLoadSensing(creep=3e-3),
    "two levels": TwoPressures(),
    "two levels, creep": TwoPressures(creep=3e-3),
    "two levels, map": TwoPressures(map=MAP),
    "work": Work(),
}
USUAL = {1: Search(), 2: Search(nodes=209, tube=33)}  # what a plan's file gets
FINER = {
    1: [Search(nodes, 5e-7, 129, shrink) for nodes, shrink in ((833, 1.5), (1249, 1.9))],
    2: [
        Search(nodes, 2e-6, tube, shrink)
        for nodes, tube, shrink in ((209, 49, 1.6), (313, 65, 2.0))
    ],
}


def truth(task: Task, plan) -> float:
    """The least energy that anything finds."""
    best = min(
        [plan, *(p for s in FINER[task.order] if (p := solved(task, s)) is not None)],
        key=lambda p: p.energy,
    )
    found = [best.energy]
    if task.supply.draws:
        polished = Sides(task, 500).solve(best.q_3)[: task.steps + 1].clip(*task.ranges[2])
        found.append(energy(replace(task, crane=limited(task.crane, 1 + 1e-7)), polished))
    return min(found)


def main() -> None:
    asked = set(sys.argv[1:])
    orders = [n for n in (1, 2) if str(n) in asked] or [1, 2]
    paths, costs = (
        {n: v for n, v in known.items() if n in asked} or known for known in (PATHS, SUPPLIES)
    )
    print(f"{'path':10}{'cost':20}{'states':>7}{'energy':>12}{'estimate':>11}{'left':>11}")
    missed = 0
    for order in orders:
        for path, (points, leg) in paths.items():
            for name, supply in costs.items():
                task = Task(
                    planar_crane(),
                    Waypoints("cartesian", points, leg),
                    supply,
                    50 * (len(points) - 1),
                    order=order,
                )
                plan = optimise(task, USUAL[order])
                left = plan.energy - truth(task, plan)
                covers = left <= plan.estimate
                missed += not covers
                print(
                    f"{path:10}{name:20}{order:7}{plan.energy:12.2f}{plan.estimate / plan.energy:11.1e}{left / plan.energy:11.1e}"
                    f"{'' if covers else '  NOT COVERED'}",
                    flush=True,
                )
    print(f"{missed} not covered")


if __name__ == "__main__":
    main()
