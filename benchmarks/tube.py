"""The claim tube on a shipped example: how long proof and check take, how much wider than its runs it is, what is refused.

    python benchmarks/tube.py [runs] [servo | servo-loads | ieha | crane | crane-loads | crane-parts | crane-period]

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
from workbench.contract.parameters import leaves
from workbench.verification.claims import Tube
from workbench.verification.run import run, run_many
from workbench.verification.tube.beside import other
from workbench.verification.tube.checker.cover import together
from workbench.verification.tube.checker.file import load
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.claim_settings import varied, widths

EXAMPLES = Path(__file__).parents[1] / "examples"
FAULTS = {
    "servo": (
        "loop.sample_time=7 ms",
        "controller.K_p=3000",
        "controller.K_i=0",
        "controller.K_i=300000",
        "plant.supply.p_s=20 bar",
    ),
    "ieha": (
        "loop.sample_time=20 ms",
        "controller.K_p=4",
        "controller.K_i=300",
        "loop.delay=30 ms",
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
        paths = sorted(Path(folder).iterdir())
        tubes = [load(str(path)) for path in paths]
        size = sum(path.stat().st_size for path in paths)
    begun = time.perf_counter()
    for c in tubes:
        judge(c)
    took = time.perf_counter() - begun
    print(f"checked in {took:.1f} s; {len(tubes[0].z)} samples, {size / 1e6:.1f} MB")
    if len(tubes) > 1:
        print(together(tubes))
    left = beside(case, asked, tubes, runs)
    faults = FAULTS.get(name, ())
    proved = [fault for fault in faults if not refused(file, fault)]
    print(f"{len(faults) - len(proved)} of {len(faults)} faults are not proved {proved or ''}")
    return 1 if left or proved else 0


def beside(case, asked, tubes, runs: int) -> int:
    """How many runs, corners first, leave a tube that holds their numbers; prints how wide all tubes are against their hull."""
    made = run(case.loop, case.scenario)
    half, numbers = widths(asked, case.loop), varied(asked, case.loop)
    free = len(half) + len(numbers)
    rng = np.random.default_rng(1)
    corners = rng.choice([-1.0, 1.0], (min(runs // 2, 2**free), free))
    shares = np.vstack([corners, rng.uniform(-1, 1, (runs - len(corners), free))])
    c = tubes[0]
    section = c.section[c.section < len(case.loop.states)]
    moving = ~c.flow.still()[section]
    nodes = min(len(c.z) for c in tubes)

    def sections(one) -> np.ndarray:
        """What the samples read, from the second on: memory as before the sample; NaN after the end of a run that ends early."""
        x = np.full((nodes, len(section)), np.nan)
        known = one.log.values[:nodes, section]
        x[: len(known)] = known
        return np.where(moving, x, np.vstack([c.z[:1, : len(section)], x[:-1]]))[1:]

    def held(z: np.ndarray, c) -> bool:
        reach = c.reach[1:nodes, 0, section]
        return bool((np.abs(z - c.z[1:nodes, : len(section)]) <= reach * (1 + 1e-6)).all())

    def gone(one) -> tuple[bool, np.ndarray]:
        """(whether it leaves a tube of its numbers, or has none; how far it is from this run)."""
        known = {leaf.path: float(leaf.value) for leaf in leaves(one.loop.plant)}
        own = [c for c in tubes if within(c, known)]
        z = sections(one)
        return not own or not all(held(z, c) for c in own), np.abs(z - centre)

    centre = sections(made)
    each = run_many([other(made, half, numbers, share) for share in shares], gone)
    left = sum(outside for outside, _ in each)
    hull = np.max([far for _, far in each], axis=0)
    far = [np.abs(c.z[1:nodes, : len(section)] - centre) for c in tubes]
    reach = np.max([f + c.reach[1:nodes, 0, section] for f, c in zip(far, tubes)], axis=0)
    many = int(0.5 / c.T)
    for when, part in (("first", slice(0, many)), ("last", slice(-many, None))):
        ratio = np.median(reach[part] / np.maximum(hull[part], 1e-300), axis=0)
        said = ", ".join(f"{c.names[i]} {r:.2f}" for i, r in zip(section, ratio))
        print(f"width over hull, median of the {when} 0.5 s: {said}")
    print(f"{runs} runs, {left} leave the tube")
    return left


def within(c, known: dict[str, float]) -> bool:
    """Whether a certificate's starts hold these numbers of the plant."""
    own = [(i, known[name]) for i, name in enumerate(map(str, c.names)) if name in known]
    return all(abs(value - c.x0[i]) <= c.half[i] for i, value in own)


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
