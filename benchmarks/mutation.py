"""Mutation testing: one token of the code is changed, the tests that matter must fail.

    python benchmarks/mutation.py --map map.jsonl                               # once: which test enters which function
    python benchmarks/mutation.py --map map.jsonl --each 3 --json out.jsonl     # three changes of each file, drawn at random
    python benchmarks/mutation.py --map map.jsonl --sample 100 --seed 3 --paths workbench/verification controllers/pid/law.py
    python benchmarks/mutation.py --map few.jsonl --modules 10 --each 4 --nearest 4 --wider 12 --seed 7 --json out.jsonl  # quick
    python benchmarks/mutation.py --map map.jsonl --again --budget 200 --json out.jsonl   # survivors, with more of the tests

What is changed: see `mutants.py`. The tests of a change are those that enter the function it is in, the most direct and quickest
first, until their time makes up `--budget`; see `mutation_runs.py` for how they are run. Kernels run uncompiled, as plain Python:
what Numba compiles, nobody sees entered, and each change of it would wait for the compiler. A change that the tests let pass is a
survivor, and somebody must read it: it is a hole in the tests, or changes nothing. What changes nothing goes with the reason into
`mutation_equivalent.yaml`. Results are kept in the JSON lines of `--json`, and a run goes on from them.
A quick look needs no whole map: `--modules` draws modules of each folder, `--nearest` maps only the test files that name them.
What survives these few files may fail others: `--wider N` tries survivors a second time, with the N nearest test files of
their modules and every other test of the map that enters the changed function, for `--more` seconds. What fails there counts
only if it passes without the change. Both rates are printed (`mutation_told.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import perf_counter

import pytest
from mutants import ROOT, Mutant, files, mutants, mutated, suspect
from mutation_draw import choose, nearest_files, test_files
from mutation_reach import beside, entering, nearest, read_map, record
from mutation_runs import KILLED, NOT_APPLIED, SURVIVED, Forks, forked, tried
from mutation_told import LEFT, Result, equivalents, read_results, summary

PATHS = ("workbench/verification", "controllers", "plants")
NOT_COPIED = (".git", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache")


# ---- running ----------------------------------------------------------------------------------------------------------
class Judge:
    """Runs the tests that matter on one change after the other and keeps the results.

    A stage after the first tries only what those before it let pass, with other tests than `before` had, for `budget` seconds.
    """

    def __init__(self, options, chosen: list[Mutant], stage: int, budget: float, before=None):
        self.options = options
        self.chosen = chosen
        self.stage = stage
        self.budget = budget
        self.done: dict[str, set[str]] = before.done if before else defaultdict(set)
        self.reach = read_map(Path(options.map))
        self.seconds = {r.test: r.seconds for r in self.reach}
        self.found = read_results(options.json)
        self.tree: Path | None = None

    def __call__(self, session) -> None:
        items = {item.nodeid: item for item in session.items}
        for i, mutant in enumerate(self.chosen, 1):
            if not self._asked(mutant):
                continue
            done = self.done[mutant.key]
            reach = [r for r in self.reach if r.test in items and r.test not in done]
            direct = entering(mutant, reach) + self._naming(mutant, reach)
            tests = nearest(mutant, direct or beside(mutant, reach), self.budget)
            done.update(tests)
            begun = perf_counter()
            outcome = self._outcome(session, mutant, [items[t] for t in tests], bool(direct))
            result = Result(
                mutant.key,
                mutant.file,
                mutant.line,
                outcome,
                round(perf_counter() - begun, 2),
                mutant.before,
                mutant.after,
                len(tests),
                suspect(mutant),
                self.stage,
            )
            self._keep(result)
            _print(
                f"{i}/{len(self.chosen)} {outcome} {result.seconds:.0f} s, {len(tests)} tests  {mutant.key}"
            )
        if self.tree is not None:
            shutil.rmtree(self.tree, ignore_errors=True)

    def _naming(self, mutant: Mutant, reach: list) -> list:
        """Of a change made as the module is imported: tests of a later stage that may read it without entering a function."""
        if mutant.function or self.stage == 1:
            return []
        near = nearest_files(mutant.file, self.options.wider or self.options.nearest)
        entered = entering(mutant, reach)
        return [r for r in reach if r.test.startswith(tuple(near)) and r not in entered]

    def _asked(self, mutant: Mutant) -> bool:
        known = self.found.get(mutant.key)
        if mutant.key in equivalents():
            return False
        if self.stage == 1:
            return known is None
        return known is not None and known.outcome in LEFT and known.stage < self.stage

    def _outcome(self, session, mutant: Mutant, items: list, loaded: bool) -> str:
        if not items:
            return "no test"
        status = self._status(session, mutant, items, loaded)
        if status is None:
            return "timeout"
        if status == SURVIVED:
            return "survived"
        return "killed" if status == KILLED and self._pass(session, mutant, items) else "broken"

    def _status(self, session, mutant: Mutant, items: list, loaded: bool) -> int | None:
        limit = self._limit(items)
        status: int | None = NOT_APPLIED
        if mutant.function and loaded:
            status = forked(partial(tried, session, items, mutant), limit)
        if status == NOT_APPLIED:
            status = self._fresh(mutant, [item.nodeid for item in items], limit)
        return status

    def _pass(self, session, mutant: Mutant, items: list) -> bool:
        """Whether the tests pass without the change. Those of the first stage passed when they were mapped."""
        if self.stage == 1:
            return True
        return forked(partial(tried, session, items, None), self._limit(items)) == SURVIVED

    def _limit(self, items: list) -> float:
        return 60.0 + 6.0 * sum(self.seconds[item.nodeid] for item in items)

    def _fresh(self, mutant: Mutant, tests: list[str], limit: float) -> int | None:
        """As `tried`, in a new process on a copy of the tree."""
        self.tree = self.tree or copied()
        target = self.tree / mutant.file
        source = (ROOT / mutant.file).read_text("utf-8")
        asked = self.tree / "asked.txt"
        asked.write_text("\n".join(tests), "utf-8")
        environment = {**os.environ, "PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            f"@{asked}",
        ]
        target.write_text(mutated(source, mutant), "utf-8")
        process = subprocess.Popen(
            command,
            cwd=self.tree,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return SURVIVED if process.wait(timeout=limit) == 0 else KILLED
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return None
        finally:
            target.write_text(source, "utf-8")

    def _keep(self, result: Result) -> None:
        self.found[result.key] = result
        if self.options.json:
            with open(self.options.json, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def copied() -> Path:
    """A copy of the tree to work in."""
    into = Path(tempfile.mkdtemp(prefix="mutation-"))
    skip = shutil.ignore_patterns(*NOT_COPIED)
    shutil.copytree(ROOT, into, ignore=skip, dirs_exist_ok=True)
    return into


def collect(tests: list[str], work) -> int:
    """Let pytest import and collect the tests, and call work(session) with them."""
    folder = tempfile.mkdtemp(prefix="mutation-tmp-")
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "--no-header", f"--basetemp={folder}/t"]
    os.chdir(ROOT)
    try:
        return pytest.main([*arguments, *tests], plugins=[Forks(work)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _print(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    options = _options().parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # before anything imports Numba
    sys.path.insert(0, str(ROOT))
    tests = options.tests or ["tests"]
    if not (options.each or options.sample or options.again or options.report):
        return mapped(tests, options)
    if options.report:
        summary(list(read_results(options.json).values()))
        return 0
    if options.again:
        wanted = read_results(options.json)
        chosen = [m for file in files(options.paths) for m in mutants(file) if m.key in wanted]
    else:
        chosen = choose(options)
    if options.nearest:
        tests = test_files(chosen, options.nearest)
        mapped(tests, options)
    if options.again:
        stage = 1 + max((r.stage for r in wanted.values()), default=0)
        judge = Judge(options, chosen, stage, options.budget)
        collect(tests, judge)
    else:
        judge = Judge(options, chosen, 1, options.budget)
        collect(tests, judge)
        judge = wider(options, judge) if options.wider else judge
    keys = {m.key for m in chosen}
    summary([r for r in judge.found.values() if r.key in keys])
    return 0


def mapped(tests: list[str], options) -> int:
    """Put into the map what these test files enter."""
    return collect(tests, lambda session: record(session, Path(options.map), options.limit))


def wider(options, first: Judge) -> Judge:
    """The second stage: what survived, with more of the tests."""
    left = [m for m in first.chosen if (r := first.found.get(m.key)) and r.outcome in LEFT]
    if not left:
        return first
    near = test_files(left, options.wider)
    mapped(near, options)
    second = Judge(options, first.chosen, 2, options.more, first)
    collect(sorted({*near, *entered_by(left, second.reach, options.more)}), second)
    return second


def entered_by(left: list[Mutant], reach: list, budget: float) -> set[str]:
    """Of each change the test files of the nearest tests that enter its function."""
    tests = {test for m in left for test in nearest(m, entering(m, reach), budget)}
    return {file for test in tests if (ROOT / (file := test.partition("::")[0])).exists()}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--map", required=True, metavar="FILE", help="which test enters which function")
    add("--paths", nargs="+", default=PATHS, help="files or folders that are changed")
    add("--tests", nargs="+", metavar="FILE", help="test files that are collected; default: all")
    add("--sample", type=int, default=0, metavar="N", help="that many changes, drawn at random")
    add("--modules", type=int, default=0, metavar="N", help="N modules of each path, at random")
    add("--nearest", type=int, default=0, metavar="N", help="only N test files of each module")
    add("--wider", type=int, default=0, metavar="N", help="survivors again, with N test files")
    add("--more", type=float, default=30.0, metavar="S", help="time of their tests, each")
    add("--each", type=int, default=0, metavar="N", help="that many changes of each file")
    add("--seed", type=int, default=1)
    add("--kind", action="append", help="only operator, comparison, number, sign, …")
    add("--budget", type=float, default=20.0, metavar="S", help="time of the tests of a change")
    add("--limit", type=float, default=120.0, metavar="S", help="time of a test file in the map")
    add("--json", metavar="FILE", help="write the results there, and go on from them")
    add("--again", action="store_true", help="try the survivors of --json once more")
    add("--report", action="store_true", help="print what --json holds, run nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
