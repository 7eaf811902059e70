"""What a law called from Python keeps that is in no number of its memory: text, sets, lengths of lists, counters of other kinds.

Everything that the law reaches is looked through, also what no copy of it takes along: default values and attributes of functions,
what they close over, variables of modules and classes that they name. What stands there has a token each; a token that is another
one than ever before says that something runs on where no number can be followed. A list to which something is only appended, and
which nobody reads, is a record and no memory.
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from workbench.contract.own_text import own
from workbench.verification.practical.called.reach import (
    attributes,
    functions_of,
    is_plain,
    kept_by,
    slots_of,
    taken_apart,
)

MOST = 100_000  # things that are looked through
NAMED = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_ATTR", "LOAD_METHOD")
RECORDS = ("append", "appendleft", "add", "extend")  # what writes a record and reads nothing of it
NUMBERS = "fiu"  # NumPy's kinds of numbers
NEVER = (ModuleType, type, property, staticmethod, classmethod)
Tokens = dict[str, Hashable]


def tokens(things: Mapping[str, Any], numbers: bool) -> Tokens:
    """Where something stands → what it is, of all that is reached from these; numbers count where they are asked for."""
    walk = _Walk(numbers)
    for path, thing in things.items():
        walk.look(path, thing)
    return walk.found


class _Walk:
    """One look through a law."""

    def __init__(self, numbers: bool):
        self.numbers = numbers
        self.found: Tokens = {}
        self.seen: dict[int, Any] = {}

    def look(self, path: str, thing: Any) -> None:
        """Take the tokens of this thing and of all that it reaches."""
        if isinstance(thing, bool | str | bytes | complex | type(None)):
            self.found[path] = thing
        elif isinstance(thing, int | float | np.number):
            if self.numbers or not isinstance(thing, int | float | np.integer):
                self.found[path] = float(thing)
        elif id(thing) not in self.seen and len(self.seen) < MOST:
            self.seen[id(thing)] = thing
            self._inside(path, thing)

    def _inside(self, path: str, thing: Any) -> None:
        if isinstance(thing, np.ndarray):
            self._array(path, thing)
        elif isinstance(thing, list | tuple | deque):
            self.found[path] = len(thing)
            self._all((f"{path}[{i}]", part) for i, part in enumerate(thing))
        elif isinstance(thing, dict):
            self.found[path] = len(thing)
            self._all((f"{path}[{key!r}]", part) for key, part in thing.items())
        elif isinstance(thing, set | frozenset):
            self.found[path] = tuple(sorted(map(repr, thing)))
        elif isinstance(thing, FunctionType):
            self._function(path, thing)
        elif isinstance(thing, MethodType | BuiltinFunctionType):
            self.look(path, thing.__self__)
        elif not isinstance(thing, NEVER) and not own(type(thing)):
            self._object(path, thing)

    def _all(self, parts: Iterable[tuple[str, Any]]) -> None:
        for path, part in parts:
            self.look(path, part)

    def _array(self, path: str, thing: np.ndarray) -> None:
        counts = self.numbers or thing.dtype.kind not in NUMBERS
        self.found[path] = (thing.shape, thing.tobytes() if counts else b"")

    def _function(self, path: str, thing: FunctionType) -> None:
        """What a function keeps is copied with no law: its numbers count."""
        if own(thing):
            return
        self._counting(dict(kept_by(thing, path)))

    def _object(self, path: str, thing: Any) -> None:
        """Only numbers in plain attributes are a law's memory (`kept_numbers.numbers`): all others count."""
        if not is_plain(type(thing)):
            self._counting({f"{path}, {i}": part for i, part in enumerate(taken_apart(thing))})
            return
        self._all((f"{path}.{name}", part) for name, part in attributes(thing))
        self._counting({f"{path}.{name}": part for name, part in slots_of(thing)})

    def _counting(self, parts: Mapping[str, Any]) -> None:
        """Take what is in these, numbers as well."""
        before = self.numbers
        self.numbers = True
        self._all(parts.items())
        self.numbers = before


def moved_on(rows: Sequence[Tokens], functions: Sequence[FunctionType]) -> str:
    """Where the last of these is as none before it was; "" for nowhere. What is only a record does not count."""
    *before, last = rows
    records: list[str] = []
    for path, token in last.items():
        if any(path.startswith(record) for record in records):
            continue
        if any(path in row and row[path] == token for row in before):
            continue
        if isinstance(token, int) and _is_record(path, functions):
            records.append(path)
            continue
        return path
    return ""


class Sink:
    """In the place of a record that nobody reads: it takes everything and keeps nothing."""

    def append(self, *_: Any) -> None:
        """Keep nothing of it."""

    appendleft = add = extend = append


def without_records(law: Any) -> None:
    """Have a law keep none of its records: attributes to which it only appends."""
    try:
        own_lists = [n for n, v in vars(law).items() if isinstance(v, list | deque | set)]
    except TypeError:  # it has no attributes
        return
    functions = functions_of(law)
    for name in own_lists:
        if _is_record(name, functions):
            object.__setattr__(law, name, Sink())


def _is_record(path: str, functions: Sequence[FunctionType]) -> bool:
    """Whether all that these functions do with what has this name is to append to it."""
    name = path.rpartition(".")[2].rpartition(" ")[2]
    uses = [
        (one.opname, after)
        for function in functions
        for one, after in pairwise(dis.get_instructions(function))
        if one.argval == name and one.opname in NAMED
    ]
    return bool(uses) and all(after.argval in RECORDS for _, after in uses)
