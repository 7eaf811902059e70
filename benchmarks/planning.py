"""One planning task solved three ways in one run: ours, the same recursion vectorised in NumPy, IPOPT from eight starts.

The reference case (a triangle in 30 s, 150 steps) under constant pressure (known optimum: 6.3719 l) and load sensing (best known:
55.4 kJ). Every way says its energy by the same exact measure; ratios are processor times over ours.

    python benchmarks/planning.py [1: also NumPy on 1665 nodes with load sensing]
"""

from __future__ import annotations

import os
import sys
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from common import machine_in_words, row, table, timed  # noqa: E402

from plants.crane.planar import planar_crane  # noqa: E402
from plants.crane.planar_whole import whole_crane  # noqa: E402
from workbench import Waypoints  # noqa: E402
from workbench.planning import (  # noqa: E402
    PlannedConstantPressure,
    PlannedLoadSensing,
    Search,
    Task,
    kernel_numpy,  # noqa: E402
    least_time,
    optimise,
    shortest_time,
)
from workbench.planning import dynamic as dp  # noqa: E402
from workbench.planning.bound import lower_bound  # noqa: E402
from workbench.planning.kernel import Kernel  # noqa: E402
from workbench.planning.neighbours import neighbours  # noqa: E402
from workbench.planning.transcription import transcribe  # noqa: E402

TRIANGLE = ((2.3, 0.2), (3.9, 2.4), (3.9, 0.2), (2.3, 0.2))
KNOWN = {
    "CP": (6.3719, "l", 1e3, 0.4),
    "LS": (55.4, "kJ", 1e-3, 2.0),
}  # value, unit, its size, target in processor seconds


def task(name: str, **changes) -> Task:
    supply = PlannedConstantPressure(1.0, holds=False) if name == "CP" else PlannedLoadSensing()
    return Task(planar_crane(), Waypoints("cartesian", TRIANGLE, 10.0), supply, **changes)


def by_numpy(t: Task, nodes: int) -> float:
    """One pass over the stroke, no refinement: the energy."""
    low, high = t.ranges[2]
    h = (high - low) / (nodes - 1)
    g = dp.grid(t, dp.np.full(t.steps + 1, low), h, nodes, {0: round((t.start - low) / h)})
    J, _ = kernel_numpy.one(
        t.step, g, dp.np.where(g.ok[-1] > 0.5, 0.0, 1e30), t.reach * (1 + 1e-12)
    )
    return float(J[0].min())


def ours(t: Task, nodes: int) -> float:
    """The same pass, compiled."""
    low, high = t.ranges[2]
    h = (high - low) / (nodes - 1)
    g = dp.grid(t, dp.np.full(t.steps + 1, low), h, nodes, {0: round((t.start - low) / h)})
    J, _ = Kernel(t.step, dp.coefficients(t)).one(
        g, dp.np.where(g.ok[-1] > 0.5, 0.0, 1e30), t.reach * (1 + 1e-12)
    )
    return float(J[0].min())


def case(name: str, long: bool) -> None:
    t, (known, unit, size, target) = task(name), KNOWN[name]
    said = lambda e: f"{size * e:.4f} {unit}, {size * e / known - 1:+.3%} of the known"
    plan, rows = optimise(t), []
    used = lambda run, *how: [
        (c, c) for _, c in timed(run, *how)
    ]  # one core's seconds: what the target is about
    rows.append(
        row("ours, refined", used(lambda: optimise(t), 5), target=target, note=said(plan.energy))
    )
    rows.append(
        row("ours, 417 nodes, one pass", used(lambda: ours(t, 417), 5), note=said(ours(t, 417)))
    )
    for nodes in (417, *([1665] if name == "CP" or long else [])):  # 1665 nodes reach 0.1 % of oil
        found = []
        seconds = used(lambda: found.append(by_numpy(t, nodes)), 1, 0)  # noqa: B023
        rows.append(row(f"NumPy, {nodes} nodes, one pass", seconds, note=said(found[0])))
    best = []
    seconds = used(lambda: best.append(transcribe(t, 8)), 1, 0)
    rows.append(row("IPOPT, 8 starts", seconds, note=said(best[0][0].energy)))
    print(table(rows, "s"))
    gained = neighbours(plan, 2000)
    bound = lower_bound(t, plan.energy)
    print(
        f"estimate {plan.estimate / plan.energy:.3%}, neighbours: {gained.allowed} motions within the limits, the best "
        f"{gained.gain / plan.energy:.1e} better"
        f", lower bound {said(bound.energy)} ({bound.method})"
    )
    begin = process_time()
    two = optimise(task(name, order=2), Search(nodes=209, tube=33))
    print(f"accelerations limited, too: {said(two.energy)}, in {process_time() - begin:.2f} s\n")


def least(crane) -> None:
    """Least time along the triangle, cylinders limited: ours, IPOPT from eight random extensions, own time law, bound."""
    t, found = (
        Task(
            crane,
            Waypoints("cartesian", TRIANGLE, 10.0),
            PlannedConstantPressure(1.0, holds=False),
            order=2,
        ),
        [],
    )
    rows = [
        row(
            "ours",
            [(c, c) for _, c in timed(lambda: found.append(least_time(t)), 3)],
            note=f"{found[-1].time:.3f} s",
        )
    ]
    ours, many = found[-1], []
    seconds = [(c, c) for _, c in timed(lambda: many.append(least_time(t, 8)), 1, 0)]
    ends = sorted(t for t in many[0].starts if t < float("inf"))
    none = (
        f", none from {len(many[0].starts) - len(ends)}" if len(ends) < len(many[0].starts) else ""
    )
    rows.append(
        row("ours and 8 other starts", seconds, note=f"{ends[0]:.3f} … {ends[-1]:.3f} s{none}")
    )
    slowed = []
    rows.append(
        row(
            "own time law, as a whole",
            [(c, c) for _, c in timed(lambda: slowed.append(shortest_time(t)), 1, 0)],
            note=f"{slowed[0]:.3f} s, {slowed[0] / ours.time:.2f} × ours",
        )
    )
    print(table(rows, "s"))
    print(
        f"no motion takes less than {ours.bound:.3f} s ({ours.bound / ours.time - 1:.1%}); "
        f"finer intervals: {ours.estimate:.3f} s\n"
    )


def main() -> None:
    print(machine_in_words())
    for name in KNOWN:
        print(f"\n{name}, processor seconds of one core")
        case(name, "1" in sys.argv[1:])
    for name, crane in (("reduced", planar_crane()), ("whole", whole_crane("hiab-xs031"))):
        print(f"least time, {name} crane, processor seconds of one core")
        least(crane)


if __name__ == "__main__":
    main()
