"""Which changes are tried, drawn at random, and which test files are nearest to a module, read from their text.

A module's tests are the files that name it or what it defines; a name counts the more the fewer test files have it.
"""

from __future__ import annotations

import ast
import random
import re
from functools import cache
from itertools import zip_longest
from pathlib import Path

from mutants import ROOT, Mutant, compiles, files, mutants
from mutation_reach import SLOW

SHARED_WORD = 0.5  # a word in both files' names, against 1 for a name only one test file has
FEWEST = 8  # changes of a module that is worth a draw
Word = re.compile(r"\w+")


def choose(options) -> list[Mutant]:
    """The changes asked for, drawn at random: from all of them, or as many of each file."""
    draw = random.Random(options.seed)
    by_file = {file: mutants(file) for file in modules(options)}
    for found in by_file.values():
        if options.kind:
            found[:] = [m for m in found if m.kind in options.kind]
        draw.shuffle(found)
    if options.each:
        rows = zip_longest(*(found[: options.each] for found in by_file.values()))
        chosen = [m for row in rows for m in row if m is not None]
    else:
        chosen = [m for found in by_file.values() for m in found]
        draw.shuffle(chosen)
        chosen = chosen[: options.sample]
    return [m for m in chosen if compiles((ROOT / m.file).read_text("utf-8"), m)]


def modules(options) -> list[str]:
    """All modules of the paths, or as many of each path drawn at random."""
    if not options.modules:
        return files(options.paths)
    draw = random.Random(options.seed)
    found = []
    for path in options.paths:
        worth = [file for file in files([path]) if len(mutants(file)) >= FEWEST]
        found += draw.sample(worth, min(options.modules, len(worth)))
    return sorted(found)


def test_files(chosen: list[Mutant], most: int) -> list[str]:
    """Of the module of each change the nearest test files, at most so many of each module."""
    return sorted({test for file in {m.file for m in chosen} for test in nearest_files(file, most)})


def nearest_files(file: str, most: int) -> list[str]:
    """The test files that have most to do with a module, from their text."""
    names = _defined(file) | {Path(file).stem}
    having = {name: sum(name in words for words in _tests().values()) for name in names}
    title = set(Word.findall(file.replace("_", " ")))

    def near(test: str) -> float:
        common = title & set(Path(test).stem.split("_"))
        found = _tests()[test]
        return SHARED_WORD * len(common) + sum(1 / having[n] for n in names if n in found)

    ranked = sorted(_tests(), key=near, reverse=True)
    return [test for test in ranked[:most] if near(test) > 0]


def _defined(file: str) -> set[str]:
    body = ast.parse((ROOT / file).read_text("utf-8")).body
    made = (node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    return {node.name for node in made}


@cache
def _tests() -> dict[str, frozenset[str]]:
    """The words of each test file that is not slow as a whole."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if not any(word in path.name for word in SLOW):
            words = frozenset(Word.findall(path.read_text("utf-8")))
            found[str(path.relative_to(ROOT))] = words
    return found
