"""Laws that turn their sign after so many samples, and keep the count where no number of their memory is: u = ±K e.

`where` says in what: a default value, an attribute of a function, a variable of a module or of a base class, an iterator, slots,
text, the length of a list, a generator, bytes, a set, a decimal number, or nowhere, by chance (a law that fails for good once in so
many samples). "record": the law keeps all it measured, reads nothing of it, and never turns.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from decimal import Decimal
from types import ModuleType
from typing import Any

LIBRARY = ModuleType("library")  # one of the user's, with a variable


class Counting:
    """Calls `passed` at every sample: whether the law has turned."""

    def __init__(self, K: float, passed: Callable[[Counting], bool], kept: Any):
        self.K, self.passed, self.kept = K, passed, kept

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        sign = -1.0 if self.passed(self) else 1.0
        return z, [sign * self.K * (r[0] - y[0])]


class Base:
    """A law that stands on a class with a variable."""

    count = 0


class Derived(Base):
    def __init__(self, K: float, at: int):
        self.K, self.at = K, at
        Base.count = 0

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        Base.count += 1
        sign = 1.0 if Base.count < self.at else -1.0
        return z, [sign * self.K * (r[0] - y[0])]


class Slotted:
    """One whole number in a slot."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def more(self) -> int:
        self.count += 1
        return self.count


class Chancing:
    """A law that fails for good with a chance of one in `at` at every sample."""

    def __init__(self, K: float, at: int):
        self.K, self.at, self.kept, self.failed = K, at, random.Random(3), False

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        self.failed = self.failed or self.kept.random() < 1.0 / self.at
        return z, [(-self.K if self.failed else self.K) * (r[0] - y[0])]


class Recording:
    """A law with a record of what it measured and of when it was far off."""

    def __init__(self, K: float):
        self.K, self.seen, self.far = K, [], []

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        error = r[0] - y[0]
        self.seen.append((t, y[0]))
        if abs(error) > 0.1:
            self.far.append("far")
        return z, [self.K * error]


def _written(law: Counting) -> int:
    law.kept += "."
    return len(law.kept)


def _listed(law: Counting) -> int:
    law.kept.append(None)
    return len(law.kept)


def _in_bytes(law: Counting) -> int:
    law.kept[:] = (int.from_bytes(law.kept, "little") + 1).to_bytes(8, "little")
    return int.from_bytes(law.kept, "little")


def _in_set(law: Counting) -> int:
    law.kept.add(len(law.kept))
    return len(law.kept)


def _added(law: Counting) -> Decimal:
    law.kept += 1
    return law.kept


IN_OBJECTS: dict[str, tuple[Callable, Callable]] = {  # how it begins, how it counts
    "iterator": (itertools.count, lambda law: next(law.kept)),
    "slots": (Slotted, lambda law: law.kept.more()),
    "text": (str, _written),
    "length": (list, _listed),
    "generator": (lambda: (n for n in itertools.count()), lambda law: next(law.kept)),
    "bytes": (lambda: bytearray(8), _in_bytes),
    "set": (set, _in_set),
    "decimal": (lambda: Decimal(0), _added),
}


def keeper(where: str, K: float, at: int) -> Any:
    """The law that counts there and turns at this count."""
    if where == "record":
        return Recording(K)
    if where == "base class":
        return Derived(K, at)
    if where == "chance":
        return Chancing(K, at)
    if where in IN_OBJECTS:
        begin, count = IN_OBJECTS[where]
        return Counting(K, lambda law: count(law) >= at, begin())
    return {"default": _default, "function": _function, "module": _module}[where](K, at)


def _default(K: float, at: int) -> Any:
    def law(t, y, r, count=[0]):  # noqa: B006 - the fault
        count[0] += 1
        return [(K if count[0] < at else -K) * (r[0] - y[0])]

    return law


def _function(K: float, at: int) -> Any:
    def law(t, y, r):
        law.count += 1
        return [(K if law.count < at else -K) * (r[0] - y[0])]

    law.count = 0
    return law


def _module(K: float, at: int) -> Any:
    LIBRARY.count = 0

    def law(t, y, r):
        LIBRARY.count += 1
        return [(K if LIBRARY.count < at else -K) * (r[0] - y[0])]

    return law
