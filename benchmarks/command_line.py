"""The commands as whole processes: what a user waits for, warm and on first use, and where the time goes.

    python benchmarks/command_line.py [--repeat 5] [--case examples/hiab-xs031.yaml]
    python benchmarks/command_line.py --before bca2801 [--now HEAD]     # wheels of two commits, in turns; case of each commit

Wall time depends on what else the machine does, so processor time (children included) stands next to it.
The split counts processor time of the calling thread, each moment once, under the innermost of the named parts.
"""

from __future__ import annotations

import argparse
import builtins
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import wheels
from common import ROOT, machine_in_words, row, table
from wheels import VERIFY

PARTS = (  # (module, owner or "", function, part)
    ("workbench.numerics.calculus", "", "_trace", "tracing"),
    ("workbench.verification.ledger.balance", "LedgerFunction", "__init__", "tracing the ledger"),
    ("workbench.numerics.native", "", "generated", "writing C"),
    ("workbench.numerics.native", "", "_compile", "compiling (waiting for the compiler)"),
    ("workbench.numerics.native", "Loop", "run", "runs: compiled loop"),
    ("workbench.numerics.mapped", "Mapped", "__call__", "ledger and references: compiled maps"),
    ("workbench.run.simulate", "", "simulate", "runs: around the loop"),
    ("workbench.run.demand", "Demand", "__init__", "references"),
    ("workbench.run.demand", "Demand", "at", "references"),
    ("workbench.run.demand", "Demand", "check", "references"),
    ("workbench.verification.ledger.balance", "", "ledger_function", "ledger: around the maps"),
    ("workbench.verification.ledger.balance", "", "both_ends", "ledger: around the maps"),
    ("workbench.verification.observed.requirements", "", "oscillation", "limit cycles"),
    ("workbench.cases.file", "", "load", "reading the file"),
    ("reports.document", "", "figures", "report: figures"),
    ("reports.document", "", "write_report", "report: the rest"),
)


def process(arguments: list[str], cache: Path | None = None) -> tuple[float, float, int]:
    """(wall, processor, exit code) of one Python process."""
    environment = (
        os.environ | {"PYTHONPATH": str(ROOT)} | ({"FLUIDPROOF_CACHE": str(cache)} if cache else {})
    )
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        wall,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        done.returncode,
    )


def measured(name, arguments, repeat, target=None, cache=None, fresh=False):
    """Row of a process run `repeat` times; fresh: with an empty cache each time."""
    runs = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as empty:
            runs.append(process(arguments, Path(empty) if fresh else cache))
    return row(
        name, [(wall, cpu) for wall, cpu, _ in runs], target=target, note=f"exit {runs[-1][2]}"
    )


# ---- where the time goes --------------------------------------------------------------------------------------------
class Split:
    """Processor time by part: every thread's time counts for the innermost part it is in."""

    def __init__(self):
        self.spent, self.local, self.lock = defaultdict(float), threading.local(), threading.Lock()

    def _book(self, now):
        with self.lock:
            self.spent[self.local.stack[-1]] += now() - self.local.since

    def around(self, f, part, now=time.thread_time):
        """f, with its time counted for `part`."""

        def counted(*arguments, **options):
            local = self.local
            if not hasattr(local, "stack"):
                local.stack, local.since = ["everything else"], now()
            self._book(now)
            local.stack.append(part)
            local.since = now()
            try:
                return f(*arguments, **options)
            finally:
                self._book(now)
                local.stack.pop()
                local.since = now()

        return counted


def split(case: str, cache: Path, report: Path) -> None:
    """Run the command in this process with its parts timed, and print them."""
    import importlib

    os.environ["FLUIDPROOF_CACHE"] = str(cache)
    parts = Split()
    builtins.__import__ = parts.around(builtins.__import__, "importing")

    def everything():
        from workbench.commands.cli import verify_stability

        for module, owner, name, part in PARTS:
            try:
                home = importlib.import_module(module)
            except ImportError:
                continue
            target = getattr(home, owner, None) if owner else home
            if target is None or not hasattr(target, name):
                continue
            original = getattr(target, name)
            new = parts.around(original, part)
            setattr(target, name, new)
            for other in list(sys.modules.values()):  # those that imported it by name
                if not owner and getattr(other, "__dict__", {}).get(name) is original:
                    setattr(other, name, new)
        verify_stability([case, "--report", str(report), "--quiet"])

    begin = time.perf_counter()
    parts.around(everything, "everything else")()
    wall, total = time.perf_counter() - begin, sum(parts.spent.values())
    for part, seconds in sorted(parts.spent.items(), key=lambda item: -item[1]):
        print(f"    {seconds:6.2f} s  {100 * seconds / total:4.0f} %  {part}")
    print(f"    {total:6.2f} s processor time of Python's threads in {wall:.2f} s")


def asked() -> argparse.Namespace:
    """What is asked on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--case", default="examples/hiab-xs031.yaml")
    parser.add_argument(
        "--before",
        metavar="COMMIT",
        help="time the wheel of this commit beside that of --now, and nothing else",
    )
    parser.add_argument(
        "--now", metavar="COMMIT", default="HEAD", help="the other commit (default HEAD)"
    )
    parser.add_argument(
        "--split", metavar="CACHE", help="only run in this process and print the split"
    )
    return parser.parse_args()


def main():
    options = asked()
    if options.before:
        print(machine_in_words())
        wheels.compare(options.before, options.now, options.case, options.repeat)
        print(machine_in_words())
        return
    with tempfile.TemporaryDirectory() as folder:
        cache, report = Path(options.split or folder) / "cache", Path(folder) / "report.pdf"
        if options.split:
            return split(options.case, cache, report)
        verify = ["-c", VERIFY, options.case, "--report", str(report)]
        print(machine_in_words())
        first = measured(
            "verify-stability FILE --report, first use",
            verify,
            max(1, options.repeat // 2),
            25.0,
            fresh=True,
        )
        process(verify, cache)
        rows = [
            first,
            measured("verify-stability FILE --report, warm", verify, options.repeat, 10.0, cache),
            measured("verify-stability --help", ["-c", VERIFY, "--help"], options.repeat, 0.3),
            measured("import workbench", ["-c", "import workbench"], options.repeat),
            measured("bare interpreter", ["-c", ""], options.repeat),
        ]
        print(table(rows, "seconds", ratio=False))
        for what, where in (("warm", folder), ("first use", str(Path(folder) / "empty"))):
            print(f"\nsplit, {what}")
            sys.stdout.flush()
            subprocess.run(
                [sys.executable, __file__, "--case", options.case, "--split", where],
                cwd=ROOT,
                check=False,
            )
        print(machine_in_words())


if __name__ == "__main__":
    main()
