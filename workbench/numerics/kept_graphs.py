"""Expression graphs kept between processes, beside the compiled code that is made of them.

Tracing a crane under its law takes a second, its ledger another. The graphs depend on the library's text and on the loop, but not
on the loop's numbers, which are symbols in them. So they are kept in the folder of `code_cache`, with a checksum beside each file;
a file's name is made of that text, of what `parameters.written` says of the loop, and of the versions of the tools. What is read
back is a graph in CasADi's own form and words in JSON: data, which nothing runs as code of Python. Systems with text that is not
this library's, and a library whose text in this process is not that of its files (`workbench.contract.as_written`), are traced
anew.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.as_written import text_digest
from workbench.contract.parameters import written
from workbench.contract.system import System
from workbench.numerics import code_cache

FORM = 1  # of these files
WORTH = 0.1  # s of tracing from which on graphs are kept
LONG = 2000  # letters of a system's text from which on tracing may take so long
GENERATIONS = 3  # texts of the library whose graphs are kept; what older ones left is removed
PREFIX = "graphs-"
LARGEST = 100_000_000  # letters of what a file may unpack to


@dataclass(frozen=True, eq=False)
class Graphs:
    """What was made of a system: functions by name, and plain data (as JSON has it: lists for tuples)."""

    functions: Mapping[str, ca.Function]
    words: Mapping[str, Any]


def kept(what: str, system: System, asked: Sequence, make: Callable[[], Graphs]) -> Graphs:
    """`make()`, or what an earlier process made where text, system and what was `asked` (plain data) are the same."""
    target = _target(what, system, asked)
    found = None if target is None else _read(target)
    if found is not None:
        return found
    begin = time.thread_time()
    made = make()
    if target is not None and time.thread_time() - begin > WORTH:
        with suppress(OSError):  # a full disk: the next process traces again
            _write(made, target)
    return made


def _target(what: str, system: System, asked: Sequence) -> Path | None:
    """The file for what is asked; None where nothing may be kept, or is worth it."""
    text = written(system)
    if len(text) < LONG:
        return None
    digest = text_digest(system)
    if digest is None:
        return None
    versions = [FORM, ca.__version__, np.__version__, platform.python_version()]
    told = json.dumps([what, text, list(asked), versions, digest])
    name = f"{PREFIX}{digest[:16]}-{hashlib.sha256(told.encode()).hexdigest()[:32]}.json"
    return code_cache.folder() / name


def _read(target: Path) -> Graphs | None:
    """What the file holds; None where it is not there, or not whole."""
    if not code_cache.whole(target):
        return None
    try:
        unpacker = zlib.decompressobj()
        told = json.loads(unpacker.decompress(target.read_bytes(), LARGEST))
        made = {name: ca.Function.deserialize(text) for name, text in told["functions"].items()}
        return Graphs(made, told["words"])
    except (OSError, zlib.error, ValueError, KeyError, RuntimeError):
        return None


def _write(made: Graphs, target: Path) -> None:
    functions = {name: f.serialize() for name, f in made.functions.items()}
    told = json.dumps({"functions": functions, "words": made.words})
    with code_cache.building(target.parent) as folder:
        new = Path(folder) / target.name
        new.write_bytes(zlib.compress(told.encode(), 1))
        code_cache.keep(new, target)
    _sweep(target.parent)


def _sweep(where: Path) -> None:
    """Remove the graphs of older texts of the library."""
    latest: dict[str, float] = {}
    files = list(where.glob(f"{PREFIX}*"))
    for file in files:
        with suppress(OSError):  # another process has removed it
            latest[_generation(file)] = max(
                latest.get(_generation(file), 0.0), file.stat().st_mtime
            )
    old = sorted(latest, key=lambda generation: -latest[generation])[GENERATIONS:]
    for file in files:
        if _generation(file) in old:
            file.unlink(missing_ok=True)


def _generation(file: Path) -> str:
    return file.name.removeprefix(PREFIX).partition("-")[0]
