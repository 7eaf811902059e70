"""Numbers that a thing keeps, wherever in it they stand: lists, mappings, arrays, attributes."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np


def numbers(
    thing: Any, take: Callable[[float], float], seen: set[int] | None = None, kinds: str = "f"
) -> Any:
    """`thing` with take(v) in place of every float v in it, in a fixed order; what can be changed is changed in place.

    What `take` gives back as it was leaves everything around it as it was: a `take` that only looks changes nothing.
    kinds: of NumPy's, those whose scalars and arrays count; with "i" whole numbers do, too.
    """
    seen = set() if seen is None else seen
    if isinstance(thing, float) or "i" in kinds and _whole(thing):
        return take(thing)
    if id(thing) in seen:
        return thing
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if thing.dtype.kind not in kinds:
            return thing
        found = [v.item() for v in thing.flat]
        taken = [take(v) for v in found]
        if _same(found, taken):
            return thing
        values = np.array(taken).reshape(thing.shape)
        return values.astype(thing.dtype) if "i" in kinds else values
    if isinstance(thing, tuple):
        inside = [numbers(v, take, seen, kinds) for v in thing]
        if _same(thing, inside):
            return thing
        return tuple(inside) if type(thing) is tuple else type(thing)(*inside)
    if isinstance(thing, list | deque):
        keys: Any = range(len(thing))
    elif isinstance(thing, dict):
        keys = list(thing)
    else:
        return _of_attributes(thing, take, seen, kinds)
    for key in keys:
        before = thing[key]
        after = numbers(before, take, seen, kinds)
        if after is not before:
            thing[key] = after
    return thing


def _same(before: Sequence, after: Sequence) -> bool:
    """Whether nothing stands in place of anything."""
    return all(map(operator.is_, before, after))


def _whole(thing: Any) -> bool:
    return isinstance(thing, int | np.integer) and not isinstance(thing, bool)


def _of_attributes(thing: Any, take: Callable, seen: set[int], kinds: str) -> Any:
    """`numbers` of an object's attributes; what has none is as it was."""
    try:
        own = vars(thing)
    except TypeError:
        return thing
    if isinstance(thing, type | ModuleType | FunctionType):
        return thing
    for name, before in list(own.items()):
        after = numbers(before, take, seen, kinds)
        if after is not before:
            object.__setattr__(thing, name, after)
    return thing
