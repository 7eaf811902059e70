"""The claim tube on a shipped example: how long proof and check take, how much wider than its runs it is, what is refused.

    python benchmarks/tube.py [runs] [servo | servo-loads | crane | crane-loads | crane-period]

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
from workbench.verification.claims import Tube
from workbench.verification.run import run, run_many
from workbench.verification.tube.asked import varied, widths
from workbench.verification.tube.beside import other
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
    "crane": ("loop.sample_time=7 ms", "loop.delay=6 ms", "controller.βk_f=3000 1/s"),
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
    faults = FAULTS.get(name, ())
    proved = [fault for fault in faults if not refused(file, fault)]
    print(f"{len(faults) - len(proved)} of {len(faults)} faults are not proved {proved or ''}")
    return 1 if left or proved else 0


def beside(case, asked, c, runs: int) -> int:
    """How many runs, corners first, leave the tube; prints how wide it is against their hull."""
    made = run(case.loop, case.scenario)
    half, numbers = widths(asked, case.loop), varied(asked, case.loop)
    free = len(half) + len(numbers)
    rng = np.random.default_rng(1)
    corners = rng.choice([-1.0, 1.0], (min(runs // 2, 2**free), free))
    shares = np.vstack([corners, rng.uniform(-1, 1, (runs - len(corners), free))])
    section = c.section[c.section < len(case.loop.states)]
    moving = ~c.flow.still()[section]
    centre, reach = c.z[1:, : len(section)], c.reach[1:, 0, section]

    def far(one) -> np.ndarray:
        x = one.log.values[: len(c.z), section]
        z = np.where(moving, x, np.vstack([c.z[:1, : len(section)], x[:-1]]))[1:]
        found = np.full(centre.shape, np.nan)  # memory as before the sample
        found[: len(z)] = np.abs(z - centre[: len(z)])
        return found

    each = run_many([other(made, half, numbers, share) for share in shares], far)
    left = sum(not (e <= reach * (1 + 1e-6)).all() for e in each)
    hull = np.max(each, axis=0)
    many = int(0.5 / c.T)
    for when, part in (("first", slice(0, many)), ("last", slice(-many, None))):
        ratio = np.median(reach[part] / np.maximum(hull[part], 1e-300), axis=0)
        said = ", ".join(f"{c.names[i]} {r:.2f}" for i, r in zip(section, ratio))
        print(f"width over hull, median of the {when} 0.5 s: {said}")
    print(f"{runs} runs, {left} leave the tube")
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
