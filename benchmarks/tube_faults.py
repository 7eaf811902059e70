"""Faults drawn at random into loops that have a tube: is one ever proven that does not come closer to itself?

    python benchmarks/tube_faults.py [--faults 200] [--seed 1] [--processes 2] [--only joint]

One or two numbers of a sound loop are changed: gains with either sign, sample time, dead time, valve, supply, oil, the path.
Whether the changed loop is unsound is told by runs, not by the proof: a run from a corner of the starts ends its path no
closer than it began, or does not end it. Draws go on until there are as many unsound loops as `--faults`, or until Ctrl-C. Of
every loop that is proven, runs from corners go on three times as long as its path, and must stay between the bounds that the
certificate states.
Exit 1 where an unsound loop is proven or a run leaves its bounds.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from workbench.commands.verbs import read_case
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.verification.claims import Tube
from workbench.verification.run import run
from workbench.verification.tube import judged
from workbench.verification.tube.beside import other
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.claim_settings import widths

ROOT = Path(__file__).parents[1]
FILES = {"valve": ROOT / "benchmarks/tube_valve.yaml"}  # others are shipped
LONGER = 3  # times as long as the path are runs of what is proven
AT_MOST = 12  # draws for each fault that is asked for


@dataclass(frozen=True)
class Key:
    """A number of a case, and how it is changed: times 10^(low … high), the sign kept or not; or put between low and high."""

    path: str
    low: float
    high: float
    unit: str = ""
    value: float | None = None
    signs: tuple[int, ...] = (1,)
    form: str = "{}"

    def drawn(self, rng: np.random.Generator) -> str:
        part = rng.uniform(self.low, self.high)
        size = part if self.value is None else self.value * 10**part * rng.choice(self.signs)
        return f"{self.path}={self.form.format(f'{size:.5g} {self.unit}'.rstrip())}"


EITHER = (1, 1, -1)
EXACT = "loop.accuracy=1e-9"  # else the runs that are held against a tube are less exact than it is
BASES = {
    "valve": (
        ("scenario.duration=0.3 s",),
        (
            Key("controller.K_p", -1, 1.5, "", 0.35, EITHER),
            Key("controller.K_i", -1, 2.5, "", 0.6, EITHER),
            Key("controller.K_v", -1, 1.5, "", 0.025, EITHER),
            Key("loop.sample_time", 0, 1.5, "ms", 2),
            Key("loop.delay", 0.0, 30.0, "ms"),
            Key("plant.K", -1, 1.5, "1/s", 40),
            Key("plant.λ_1", -1, 1.5, "ms", 6),
        ),
    ),
    "servo": (
        ("scenario.duration=0.15 s",),
        (
            Key("controller.K_p", -1, 1.7, "", 300, EITHER),
            Key("controller.K_i", -1, 3, "", 1500, EITHER),
            Key("loop.sample_time", 0, 1.3, "ms", 1),
            Key("loop.delay", 0.0, 15.0, "ms"),
            Key("plant.supply.p_s", -1, 0, "bar", 210),
            Key("plant.bodies.table.mass", -1, 2, "kg", 250),
            Key("scenario.reference.amplitude", 0, 0.9, "mm", 30, form="[{}]"),
        ),
    ),
    "joint": (
        ("scenario.duration=0.1 s",),
        (
            Key("controller.βk_f", -1, 1.5, "1/s", 400),
            Key("loop.sample_time", 0, 1.3, "ms", 1),
            Key("loop.delay", 0.0, 10.0, "ms"),
            Key("plant.p_s", -0.7, 0.2, "bar", 140),
            Key("plant.oil.β", -1.5, 0.5, "GPa", 1.1),
            Key("scenario.reference.amplitude", -0.5, 0.7, "deg", 5, form="[{}]"),
        ),
    ),
    "ieha": (
        ("scenario.duration=0.02 s",),
        (
            Key("controller.K_p", -1, 2.5, "", 0.35),
            Key("controller.K_i", -1, 3, "", 0.5),
            Key("loop.sample_time", 0, 1.2, "ms", 1),
        ),
    ),
    "crane": (
        ("scenario.duration=0.03 s",),
        (
            Key("controller.βk_f", -1, 1.5, "1/s", 400),
            Key("loop.sample_time", 0, 1.3, "ms", 1),
            Key("loop.delay", 0.0, 8.0, "ms"),
        ),
    ),
}


def drawn(name: str, rng: np.random.Generator) -> tuple[str, ...]:
    """The settings of a changed loop."""
    always, keys = BASES[name]
    many = min(len(keys), int(rng.integers(1, 3)))
    chosen = rng.choice(len(keys), many, replace=False)
    return (EXACT, *always, *(keys[i].drawn(rng) for i in sorted(chosen)))


def tried(name: str, settings: tuple[str, ...]) -> tuple[str, str]:
    """(what runs show: "sound", "unsound", or "no case"; what the claim says and, where it is proven, how runs go on)."""
    try:
        file = FILES.get(name, ROOT / f"examples/tube-{name}.yaml")
        case = read_case(str(file), settings)
        claim = next(c for c in case.claims if isinstance(c, Tube))
        claim = replace(claim, error=None, within={})
        made = run(case.loop, case.scenario)
        half = widths(claim, case.loop)
        shown = "sound" if comes_closer(made, half) else "unsound"
    except InputError:
        return "no case", "refused as a case"
    with patch.object(judged, "smaller", lambda *_: ""):  # which smaller starts hold is not asked
        verdict = check_tube(claim, made)
    if not verdict.holds:
        return shown, verdict.word
    return shown, "holds" if stays(made, half, verdict.data) else "left"


def corners(made, half: dict[str, float]):
    """Loops and scenarios of runs from some corners of the starts."""
    moved = sum(1 for value in half.values() if value)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=moved)))
    for share in signs[:: max(1, len(signs) // 4)]:
        yield other(made, half, (), share)


def comes_closer(made, half: dict[str, float]) -> bool:
    """Whether runs from corners end the path nearer to this one than they began, in every state that is moved."""
    if not made.log.status.completed:
        return False
    columns = [names(made.loop.states).index(name) for name, value in half.items() if value]
    sizes = np.array([value for value in half.values() if value])
    last = len(made.log.values) // 50 + 1  # samples that make up the end
    for loop, scenario in corners(made, half):
        one = run(loop, scenario)
        if not one.log.status.completed or len(one.log.values) != len(made.log.values):
            return False
        away = np.abs(one.log.values - made.log.values)[-last:, columns].max(axis=0)
        if not (away < sizes).all():
            return False
    return True


def stays(made, half: dict[str, float], data: dict) -> bool:
    """Whether runs from corners stay between the bounds of the tube, for as long as it is said to last."""
    longer = 1 if data["ends"] == "horizon" else LONGER
    own = names(made.loop.states)
    low = np.array([data["low"][name] for name in own])
    high = np.array([data["high"][name] for name in own])
    for loop, scenario in corners(made, half):
        one = run(loop, replace(scenario, duration=longer * made.log.time[-1]))
        X = one.log.values[:, : len(own)]
        if longer == 1:
            X = X[:-1]  # commands of the sample that ends the run are behind the tube's end
        if not ((low <= X) & (X <= high)).all():
            return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=BASES, action="append")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    bases = asked.only or list(BASES)
    found: Counter[tuple[str, str, str]] = Counter()
    wrong = []
    draws = ((name, drawn(name, rng)) for _ in range(AT_MOST * asked.faults) for name in bases)
    with ProcessPoolExecutor(asked.processes) as pool, suppress(KeyboardInterrupt):
        running = {}
        unsound = 0
        while unsound < asked.faults:
            for name, settings in itertools.islice(draws, 2 * asked.processes - len(running)):
                running[pool.submit(tried, name, settings)] = name, settings
            if not running:
                break
            done = next(as_completed(running))
            name, settings = running.pop(done)
            shown, said = done.result()
            found[name, shown, said] += 1
            unsound += shown == "unsound"
            print(f"{unsound} unsound of {found.total()}", end="\r", file=sys.stderr, flush=True)
            if said == "left" or (shown, said) == ("unsound", "holds"):
                wrong.append(f"{name} {' '.join(settings)}: {shown}, {said}")
                print(wrong[-1], flush=True)
        pool.shutdown(cancel_futures=True)
    unsound = sum(many for (_, shown, _), many in found.items() if shown == "unsound")
    for (name, shown, said), many in sorted(found.items()):
        print(f"{name:8s} {shown:8s} {said:20s} {many}")
    proven = sum(many for (_, _, said), many in found.items() if said == "holds")
    print(
        f"{unsound} unsound loops, {len(wrong)} of them proven or left; {proven} loops proven in all"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
