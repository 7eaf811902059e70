"""Robustness of requirements: time for a run of 30,001 samples, and the same numbers from rtamt where it is installed.

    python benchmarks/temporal.py [--sentences 200] [--repeat 9]

rtamt (pip install rtamt, the optional extra "monitors") is asked for the same sentences on the same samples, once a second: random
sentences on random samples are compared at every sample whose robustness does not depend on what comes after the run, and bounded
operators are timed (not its `until`, whose cost grows with the cube of the window). Ratios are of processor times, so that other
work on the machine does not count.
"""

from __future__ import annotations

import argparse
import re
import sys
from time import process_time

import numpy as np
from common import ROOT, machine_in_words

sys.path.insert(0, str(ROOT / "tests"))

from temporal_oracle import sentence  # noqa: E402

from workbench.verification.temporal.sentence import read  # noqa: E402

PLAIN = {"x": "1", "y": "1"}
SAMPLES = 30_001
TIMED = (
    "always[0 s, 3 s] (x < 1.5)",
    "always[2 s, 20 s] (x < 1.5)",
    "eventually[0 s, 5 s] always[0 s, 1 s] (x > 0.5)",
    "always (x > 0.9 implies eventually[0 s, 7 s] y > 0.9)",
    "(x < 1.5) until[1 s, 5 s] (y > 0.9)",
    "always (x > 0.9 implies once[0 s, 2 s] (x < 0))",
)


def best(call, repeat: int) -> float:
    """Processor time of the fastest of several calls, ms."""
    times = []
    for _ in range(repeat):
        begin = process_time()
        call()
        times.append(process_time() - begin)
    return 1e3 * min(times)


def peer(text: str, step: float = 1.0):
    """rtamt's specification of a sentence, sampled every `step` seconds; None where rtamt is not installed."""
    try:
        import rtamt
    except ImportError:
        return None
    made = rtamt.StlDiscreteTimeSpecification()
    for name in PLAIN:
        made.declare_var(name, "float")
    made.unit = "s"
    made.set_sampling_period(round(1000 * step), "ms", 0.1)
    made.spec = re.sub(r"\[(\S+) s, (\S+) s\]", r"[\1:\2]", text)
    made.parse()
    return made


def asked(made, columns: dict) -> np.ndarray:
    """rtamt's robustness at every sample."""
    n = len(columns["x"])
    data = {"time": list(range(n)), **{name: list(c) for name, c in columns.items()}}
    return np.array([row[1] for row in made.evaluate(data)])


def agreement(count: int) -> str:
    """The largest difference to rtamt over random sentences, at samples that the end of the run does not concern."""
    rng, worst, compared, used = np.random.default_rng(11), 0.0, 0, 0
    while used < count:
        text = sentence(rng, depth=3, step=1.0, longest=12)
        n = int(rng.integers(30, 120))
        columns = {name: rng.normal(size=n) for name in PLAIN}
        made = peer(text)
        if made is None:
            return "rtamt is not installed: pip install rtamt"
        try:
            ours = read(f"always (x < 1e9) and ({text})", PLAIN)  # so that it looks ahead
        except ValueError:
            continue
        bounds = ours.on(np.arange(float(n)), columns).series
        theirs = asked(made, columns)
        settled = (bounds.low == bounds.up) & np.isfinite(bounds.low) & (bounds.low < 1e8)
        worst = max([worst, *np.abs(theirs[settled] - bounds.low[settled])])
        compared, used = compared + int(settled.sum()), used + 1
    return f"{used} sentences, {compared} samples: largest difference {worst:.2g}"


def timings(repeat: int) -> list[str]:
    """One row a sentence: ours, rtamt's, how many times faster."""
    t = 1e-3 * np.arange(SAMPLES)
    columns = {"x": np.sin(3 * t), "y": np.cos(5 * t)}
    rows = []
    for text in TIMED:
        ready = read(text, PLAIN)
        ours = best(lambda ready=ready: ready.on(t, columns), repeat)
        made = None if "until" in text else peer(text, 1e-3)
        if made is None:
            rows.append(f"| {text} | {ours:.2f} | – | – |")
            continue
        theirs = best(lambda made=made: asked(made, columns), 1)
        rows.append(f"| {text} | {ours:.2f} | {theirs:.0f} | {theirs / ours:.0f} |")
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sentences", type=int, default=200)
    options.add_argument("--repeat", type=int, default=9)
    given = options.parse_args()
    print(machine_in_words())
    print(f"{SAMPLES} samples; robustness at every sample, deciding clause and instant")
    print("| sentence | ours, ms | rtamt, ms | times faster |\n|---|---|---|---|")
    print(agreement(given.sentences), flush=True)
    print(*timings(given.repeat), sep="\n")


if __name__ == "__main__":
    main()
