"""The claim tube on a shipped example: how long proof and check take, how much wider than its runs it is, what is refused.

    python benchmarks/tube.py [runs] [servo | crane]

No timing is asserted anywhere. A run that leaves the tube, or a fault that is proved, ends with exit 1.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.commands.verbs import read_case
from workbench.contract.errors import InputError
from workbench.run.simulate import simulate
from workbench.verification.claims import Tube
from workbench.verification.run import run
from workbench.verification.tube.asked import widths
from workbench.verification.tube.checker.file import load
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.claim import check_tube

EXAMPLES = Path(__file__).parents[1] / "examples"
FAULTS = {
    "servo": (
        "loop.sample_time=7 ms",
        "controller.K_p=3000",
        "controller.K_i=0",
        "controller.K_i=60000",
        "plant.supply.p_s=20 bar",
    ),
    "crane": ("loop.sample_time=7 ms", "controller.βk_f=3000 1/s"),
}


def main(runs: int = 100, name: str = "servo") -> int:
    file = str(EXAMPLES / f"tube-{name}.yaml")
    case = read_case(file, ())
    asked = next(c for c in case.claims if isinstance(c, Tube))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tube.npz")
        begun = time.perf_counter()
        verdict = check_tube(replace(asked, certificate=path), run(case.loop, case.scenario))
        print(f"{verdict.word} in {time.perf_counter() - begun:.1f} s: {verdict.worst}")
        if not verdict.holds:
            return 1
        c = load(path)
        size = Path(path).stat().st_size
    begun = time.perf_counter()
    judge(c)
    print(
        f"checked in {time.perf_counter() - begun:.1f} s; {len(c.z)} samples, {size / 1e6:.1f} MB"
    )
    left = beside(case, asked, c, runs)
    faults = FAULTS[name]
    proved = [fault for fault in faults if not refused(file, fault)]
    print(f"{len(faults) - len(proved)} of {len(faults)} faults are not proved {proved or ''}")
    return 1 if left or proved else 0


def beside(case, asked, c, runs: int) -> int:
    """How many runs, corners first, leave the tube; prints how wide it is against their hull."""
    half = widths(asked, case.loop)
    rng = np.random.default_rng(1)
    corners = np.array(np.meshgrid(*[(-1, 1)] * len(half))).reshape(len(half), -1).T
    shares = np.vstack([corners, rng.uniform(-1, 1, (max(0, runs - len(corners)), len(half)))])
    reach = c.reach[:, 0, c.section]
    moving = ~c.flow.still()[c.section]
    hull = np.zeros(c.z.shape)
    left = 0
    own = dict(case.scenario.offset)
    for share in shares[:runs]:
        moved = {n: own.get(n, 0.0) + s * w for (n, w), s in zip(half.items(), share)}
        x = simulate(case.loop, replace(case.scenario, offset={**own, **moved})).values
        x = x[: len(c.z), c.section]
        z = np.where(moving, x, np.vstack([c.z[:1], x[:-1]]))[1:]  # memory as before the sample
        e = np.abs(z - c.z[1 : len(z) + 1])
        left += bool((e > reach[1 : len(z) + 1] * (1 + 1e-6)).any())
        hull[1 : len(z) + 1] = np.maximum(hull[1 : len(z) + 1], e)
    transient = slice(1, int(0.5 / c.T))
    ratio = np.median(reach[transient] / np.maximum(hull[transient], 1e-300), axis=0)
    said = ", ".join(f"{c.names[i]} {r:.1f}" for i, r in zip(c.section, ratio))
    print(
        f"{len(shares[:runs])} runs, {left} leave the tube; width over hull, median of the first 0.5 s: {said}"
    )
    return left


def refused(file: str, fault: str) -> bool:
    """Whether the example with this fault is not proved."""
    try:
        case = read_case(file, (fault,))
        asked = next(c for c in case.claims if isinstance(c, Tube))
        verdict = check_tube(asked, run(case.loop, case.scenario))
    except InputError as why:
        print(f"  {fault}: {why.message}")
        return True
    print(f"  {fault}: {verdict.word}, {verdict.worst}")
    return verdict.holds is not True


if __name__ == "__main__":
    sys.exit(main(*(int(n) for n in sys.argv[1:2]), *sys.argv[2:3]))
