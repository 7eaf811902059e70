"""Every number that a law called from Python remembers, whole ones as well; and the same memory with other numbers."""

from __future__ import annotations

import copy
from typing import Any

from workbench.verification.linear.called_law import Memory
from workbench.verification.linear.kept_numbers import numbers

ALL = "fiu"  # kinds of numbers: floats, whole numbers


def counted(memory: Memory) -> list[float]:
    """Every number in it, whole ones as well."""
    found: list[float] = []
    take = lambda v: found.append(v) or v  # type: ignore[func-returns-value]
    numbers([memory.wrapped, memory.own], take, kinds=ALL)
    return found


def set_on(memory: Memory, values: list[float]) -> Memory:
    """The memory with other numbers in it; whole numbers stay whole."""
    left = iter(values)

    def take(old: Any) -> Any:
        new = next(left)
        return new if isinstance(old, float) else int(round(new))

    whole = [list(memory.wrapped), copy.deepcopy(memory.own)]
    wrapped, law = numbers(whole, take, kinds=ALL)
    return Memory(wrapped, law)
