"""A cache for values that follow from a frozen object alone, kept for as long as the object lives.

A system is a tree of frozen dataclasses, tuples, numbers and text. One run asks several times for
its numbers and for the text of its graph, and both take a walk over the whole tree.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, TypeVar

Found = TypeVar("Found")
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type, FunctionType)

# id of an object → (reference to it, what was found, by its name). An id is free again when its
# object has gone, so the reference is compared before what was found is used.
_kept: dict[int, tuple[weakref.ref, dict[Hashable, Any]]] = {}


def remembered(name: Hashable, obj: object, find: Callable[[], Found]) -> Found:
    """`find()`, or what it gave for this very object before; objects that can change are asked anew."""
    found = of(obj)
    if found is None:
        if not cannot_change(obj):
            return find()
        found = {}
        _kept[id(obj)] = (weakref.ref(obj, _forgotten(id(obj))), found)
    if name not in found:
        found[name] = find()
    return found[name]


def of(obj: object) -> dict[Hashable, Any] | None:
    """What is remembered of this very object, by name; None where nothing is."""
    kept = _kept.get(id(obj))
    return kept[1] if kept is not None and kept[0]() is obj else None


def _forgotten(key: int) -> Callable[[weakref.ref], None]:
    def forget(gone: weakref.ref) -> None:
        kept = _kept.get(key)
        if kept is not None and kept[0] is gone:
            _kept.pop(key, None)

    return forget


def cannot_change(obj: Any) -> bool:
    """Whether `obj` is a frozen dataclass of such, of tuples, of numbers and text."""
    if not is_dataclass(obj) or isinstance(obj, type):
        return False
    kind: Any = type(obj)
    if not kind.__dataclass_params__.frozen or not hasattr(obj, "__weakref__"):
        return False
    return all(_is_fixed(getattr(obj, field.name)) for field in fields(obj))


def _is_fixed(value: object) -> bool:
    if isinstance(value, _PLAIN):
        return True
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    return of(value) is not None or cannot_change(value)
