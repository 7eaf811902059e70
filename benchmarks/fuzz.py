"""Hostile input for every reader, in worker processes with a limit on time and memory; prints what went wrong, by place.

    python benchmarks/fuzz.py [inputs] [--seed N] [--only TARGET] [--workers N] [--from K]

Each input has SECONDS of processor time (and WALL seconds on the clock) and MEMORY bytes. Trouble is any exception but
InputError, a process that ends by a signal, and both limits. The same seed gives the same inputs: `hostile(seed, k)`.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import os
import pickle
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import fuzz_readers  # noqa: E402
import fuzzing  # noqa: E402

SECONDS, WALL, MEMORY = 20.0, 300.0, 2_000_000_000


class Late(BaseException):
    """The processor time of an input is used up."""


def late(*_):
    raise Late


def worker(seed: int, numbers, only: str, pipe: int, folder: str) -> None:
    """Run inputs one after the other; one line before each, one after it."""
    own = Path(tempfile.mkdtemp(dir=folder))
    fuzz_readers.prepared(own)
    os.chdir(own)
    out = os.fdopen(pipe, "wb")
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, late)
    for k in numbers:
        target, data = fuzzing.hostile(seed, k, only)
        tell(out, ("began", k, target))
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            trouble = fuzz_readers.attempt(target, data, own)
        except Late:
            trouble = "over time at " + fuzz_readers.place_of()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        tell(out, ("ended", k, target, trouble, time.process_time() - begun))
    os._exit(0)


def tell(out, what) -> None:
    pickle.dump(what, out)
    out.flush()


class Started:
    """A worker: its process, what it does now and since when."""

    def __init__(self, seed: int, numbers: list[int], only: str, folder: str):
        self.numbers, self.now, self.since = numbers, None, time.monotonic()
        read, write = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(read)
            faulthandler.enable(open(os.devnull, "w"))  # noqa: SIM115
            try:
                worker(seed, numbers, only, write, folder)
            finally:
                os._exit(1)
        os.close(write)
        self.stream = os.fdopen(read, "rb")

    def end(self) -> int:
        """Kill the process; the signal that had ended it before, or 0."""
        os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        self.stream.close()
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def run(seed: int, first: int, count: int, only: str, workers: int, told) -> list[tuple]:
    """(number, target, trouble or None, seconds) of every input."""
    found: list[tuple] = []
    with tempfile.TemporaryDirectory() as folder:
        running = [
            Started(seed, list(range(first + i, first + count, workers)), only, folder)
            for i in range(workers)
        ]
        while running:
            ready, _, _ = select.select([w.stream for w in running], [], [], 1.0)
            for one in list(running):
                lost = time.monotonic() - one.since > WALL and one.now is not None
                trouble = f"over {WALL:g} s on the clock" if lost else None
                if one.stream in ready and not lost:
                    try:
                        event, k, target, *rest = pickle.load(one.stream)
                    except EOFError:
                        event, trouble = "gone", "the process ended"
                    one.since = time.monotonic()
                    if event == "began":
                        one.now = (k, target)
                    elif event == "ended":
                        found.append((k, target, *rest))
                        one.numbers.remove(k)
                        one.now = None
                        told(found)
                if trouble:
                    running.remove(one)
                    by = one.end()
                    if one.now is not None:
                        words = f"{trouble} (signal {by})" if not lost else trouble
                        found.append((*one.now, words, time.monotonic() - one.since))
                        one.numbers.remove(one.now[0])
                        told(found)
                    if one.numbers and one.now is not None:
                        running.append(Started(seed, one.numbers, only, folder))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Hostile input for every reader.")
    parser.add_argument("inputs", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--only", default="", choices=["", *fuzzing.MAKERS])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    import casadi  # noqa: F401  (once, before the workers)
    import scipy.interpolate  # noqa: F401

    import workbench.cases.file  # noqa: F401
    import workbench.run.simulate  # noqa: F401
    import workbench.sweep.form  # noqa: F401

    fuzzing.seeds("case"), fuzzing.pool()
    begun, shown = time.monotonic(), set()

    def told(found):
        k, target, trouble, seconds = found[-1]
        if (
            trouble
            and (words := trouble.split(":")[0] + trouble[trouble.find(":") :][:8]) not in shown
        ):
            shown.add(words)
            print(f"{k:6} {target:12} {seconds:6.1f} s  {trouble}", flush=True)
        if len(found) % 1000 == 0:
            print(f"       {len(found)} inputs, {time.monotonic() - begun:.0f} s", flush=True)

    found = run(options.seed, options.first, options.inputs, options.only, options.workers, told)
    kinds = collections.Counter(kind_of(trouble) for _, _, trouble, _ in found if trouble)
    by_place = collections.Counter(trouble.split(": ")[0] for _, _, trouble, _ in found if trouble)
    print(
        f"\n{len(found)} inputs (seed {options.seed}) in {time.monotonic() - begun:.0f} s: {kinds['traceback']} tracebacks, "
        f"{kinds['hang']} over {SECONDS:g} s, {kinds['memory']} over {MEMORY / 1e9:g} GB, {kinds['crash']} crashes"
    )
    for where, n in by_place.most_common():
        print(f"{n:6}  {where}")
    for target in fuzzing.MAKERS:
        times = sorted(seconds for _, t, _, seconds in found if t == target)
        if times:
            print(
                f"{len(times):6}  {target:12} median {1e3 * times[len(times) // 2]:.0f} ms, longest {times[-1]:.1f} s"
            )
    return 1 if kinds else 0


def kind_of(trouble: str) -> str:
    if "over memory" in trouble:
        return "memory"
    if trouble.startswith("over "):
        return "hang"
    return "crash" if trouble.startswith("the process ended") else "traceback"


if __name__ == "__main__":
    sys.exit(main())
