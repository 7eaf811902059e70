"""Which test enters which function, and which tests matter to a change.

The map has a line a test: how long it takes, whether it passes, and the functions of ours that it enters.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from cProfile import Profile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType

from mutants import ROOT, Mutant
from mutation_runs import forked

FOLDERS = ("workbench", "controllers", "plants")
SLOW = ("notebooks", "fuzz", "sweep", "planning", "atomic", "readme", "cli.py", "animation")


@dataclass(frozen=True)
class Reach:
    """A test that passes: the functions it enters and the time it takes."""

    test: str
    seconds: float
    functions: frozenset[str]

    def rank(self, file: str) -> float:
        """Small for a quick test of little else, and where the names of test file and changed file share a word."""
        shared = _words(file) & _words(self.test.partition("::")[0])
        return (self.seconds + 0.02) * len(self.functions) * (0.1 if shared else 1.0)


def _words(file: str) -> set[str]:
    return set(Path(file).stem.split("_")) - {"test", "claims", "every"}


def read_map(path: Path) -> list[Reach]:
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    kept = [row for row in rows if row["passed"]]
    return [Reach(row["test"], row["seconds"], frozenset(row["functions"])) for row in kept]


def entering(mutant: Mutant, reach: list[Reach]) -> list[Reach]:
    """Tests that enter the changed function; without one around the change, a function of its file."""
    inside = f"{mutant.file}::{mutant.function}"
    if mutant.function:
        return [r for r in reach if inside in r.functions]
    return [r for r in reach if any(f.startswith(inside) for f in r.functions)]


def beside(mutant: Mutant, reach: list[Reach]) -> list[Reach]:
    """Tests that enter a function of the file, or else of its folder."""
    for near in (f"{mutant.file}::", f"{Path(mutant.file).parent}/"):
        found = [r for r in reach if any(f.startswith(near) for f in r.functions)]
        if found:
            return found
    return []


def nearest(mutant: Mutant, reach: list[Reach], budget: float) -> list[str]:
    """The nearest of these tests, for `budget` seconds, at least three."""
    chosen = []
    spent = 0.0
    for one in sorted(reach, key=lambda r: r.rank(mutant.file)):
        spent += one.seconds
        if spent > budget and len(chosen) >= 3:
            break
        chosen.append(one.test)
    return chosen


def record(session, into: Path, limit: float) -> None:
    """The map of every test that is not in it yet, each file's in a fork of its own.

    A file that is ended by the limit goes on from its next test when it is asked for again.
    """
    known = set(_tests_of(into))
    by_file = defaultdict(list)
    for item in session.items:
        if item.nodeid not in known:
            by_file[item.nodeid.partition("::")[0]].append(item)
    for file in sorted(by_file, key=_slow):
        begun = time.perf_counter()
        ended = forked(partial(reached, session, by_file[file], into), limit)
        note = "" if ended == 0 else f"  ended with {ended}"
        print(f"{file}  {time.perf_counter() - begun:.0f} s{note}", flush=True)


def _slow(file: str) -> bool:
    return any(word in file for word in SLOW)


def _tests_of(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [json.loads(line)["test"] for line in path.read_text("utf-8").splitlines()]


def reached(session, items, into: Path) -> int:
    """Run the tests of one file; write a line a test: how long it took, whether it passed, the functions it entered."""
    with into.open("a", encoding="utf-8") as stream:
        for item, following in zip(items, [*items[1:], None]):
            failed = session.testsfailed
            begun = time.process_time()
            profile = Profile(
                builtins=False
            )  # counts calls in C: a trace in Python triples the time
            profile.enable()
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            finally:
                profile.disable()
            entered = [row.code for row in profile.getstats() if isinstance(row.code, CodeType)]
            row = {
                "test": item.nodeid,
                "seconds": time.process_time() - begun,
                "passed": session.testsfailed == failed,
                "functions": sorted({name for code in entered if (name := own_name(code))}),
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
    return 0


def own_name(code: CodeType) -> str:
    """ "file::Class.method" of code of ours, the outermost function's name; else empty."""
    path = code.co_filename
    if not path.startswith(f"{ROOT}/"):
        return ""
    file = path[len(str(ROOT)) + 1 :]
    if not file.startswith(FOLDERS):
        return ""
    return f"{file}::{code.co_qualname.partition('.<locals>')[0]}"
