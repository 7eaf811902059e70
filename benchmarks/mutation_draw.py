"""Which changes are tried, drawn at random, and which test files are nearest to a module, read from their text.

A module's tests are the files that import or name it, or what it defines, or whose own name has a word of its path. Each of
these counts the more the fewer test files have it: "linear" of a folder says less than the name of a module.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from functools import cache
from itertools import zip_longest
from pathlib import Path

from mutants import ROOT, Mutant, compiles, files, mutants
from mutation_reach import SLOW

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
    dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    names = _defined(file) | {Path(file).stem, dotted}
    having = {name: sum(name in words for words in _tests().values()) for name in names}
    path = set(Word.findall(file.replace("_", " ")))
    titled = Counter(word for test in _tests() for word in _title(test))

    def near(test: str) -> float:
        common = path & _title(test)
        found = names & _tests()[test]
        return sum(1 / titled[word] for word in common) + sum(1 / having[name] for name in found)

    ranked = sorted(_tests(), key=near, reverse=True)
    return [test for test in ranked[:most] if near(test) > 0]


def _title(test: str) -> set[str]:
    """The words of a test file's name."""
    return set(Path(test).stem.split("_"))


def _defined(file: str) -> set[str]:
    body = ast.parse((ROOT / file).read_text("utf-8")).body
    made = (node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    return {node.name for node in made}


@cache
def _tests() -> dict[str, frozenset[str]]:
    """The words of each test file that is not slow as a whole, and the dotted names that it imports."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if not any(word in path.name for word in SLOW):
            text = path.read_text("utf-8")
            words = {*Word.findall(text), *_imported(text)}
            found[str(path.relative_to(ROOT))] = frozenset(words)
    return found


def _imported(text: str) -> set[str]:
    """Modules that a file imports from, and what it takes from them, by their dotted names."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found
