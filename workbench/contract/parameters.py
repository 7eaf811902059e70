"""Parameters as data: the unit, meaning and bound of every number a system holds.

A parameter is a field of a frozen dataclass annotated with its unit::

    m: Annotated[float, Unit("kg"), "moved mass", positive] = 120.0

Fields may nest: dataclasses in dataclasses, tuples of dataclasses (each with a `name`), tuples of floats (vectors,
tensors). `leaves` walks them in a fixed order, `bind` rebuilds the object with some numbers exchanged (for symbols when
it is traced, for draws and sliders otherwise). Everything that is not an annotated number belongs to the graph: a system in
which it differs is traced anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

from workbench.contract.annotations import Bound, Info, Unit, fraction, nonnegative, positive, up_to
from workbench.contract.capabilities import Named
from workbench.contract.described import described, field_infos
from workbench.contract.errors import InputError
from workbench.contract.field_checks import check_bounds, check_parts, is_number
from workbench.contract.own_text import own
from workbench.contract.remembered import of as remembered_of
from workbench.contract.remembered import remembered
from workbench.contract.scalars import Scalar, Vector

Part = TypeVar("Part")


@dataclass(frozen=True)
class Leaf:
    """One number of a system: dotted path, value, annotation, and whether it stays a constant of the graph when traced."""

    path: str
    value: float
    info: Info
    constant: bool = False


def label(item: object, index: int) -> str:
    """Path element of a tuple's member: its `name` where it has one, else its place."""
    kind: Any = type(item)
    if kind in _WITHOUT_NAMES:
        return str(index)
    named = _is_named(kind) if is_dataclass(item) else isinstance(item, Named)
    name = item.name if named else ""  # type: ignore[attr-defined]
    return name if isinstance(name, str) and name else str(index)


_WITHOUT_NAMES = (float, int, tuple, str, bool)


@cache
def _is_named(kind: Any) -> bool:
    """Whether objects of a dataclass are `Named`: by the class, as every part of every system is asked."""
    return any(field.name == "name" for field in fields(kind)) or "name" in dir(kind)


def leaves(obj: object) -> Iterator[Leaf]:
    """Every annotated number below `obj`, depth first in field order."""
    return iter(remembered("leaves", obj, lambda: tuple(_leaves(obj, ""))))


def _leaves(obj: Any, prefix: str) -> Iterator[Leaf]:
    if is_dataclass(obj):
        infos = described(obj)
        for field in fields(obj):
            yield from _below(getattr(obj, field.name), prefix + field.name, infos[field.name])
    elif isinstance(obj, tuple):
        taken = [label(item, i) for i, item in enumerate(obj)]
        if len(set(taken)) < len(taken):
            twice = next(name for i, name in enumerate(taken) if name in taken[:i])
            raise InputError(
                f"{prefix.removesuffix('.') or 'parameters'}: two parts are called {twice!r}",
                mend="give each a name of its own: numbers are addressed by it",
            )
        for i, item in enumerate(obj):
            yield from _leaves(
                item,
                f"{prefix.removesuffix('.')}.{label(item, i)}." if prefix else f"{label(item, i)}.",
            )


def _below(value: Any, path: str, info: Info | None) -> Iterator[Leaf]:
    if info is None:
        known = (remembered_of(value) or {}).get("leaves")
        if known is not None:  # of a plant that several loops share
            for leaf in known:
                yield Leaf(f"{path}.{leaf.path}", leaf.value, leaf.info, leaf.constant)
        elif is_dataclass(value) or isinstance(value, tuple):
            yield from _leaves(value, path + ".")
    elif isinstance(value, tuple):
        # Exact zeros and ones of vectors and tensors are constants of the graph: an axis, a plane, a missing product of inertia.
        for i, entry in enumerate(value):
            yield Leaf(
                f"{path}.{i}",
                entry,
                info,
                constant=entry in (0.0, 1.0) if is_number(entry) else False,
            )
    elif value is not None:
        yield Leaf(path, value, info)


def bind(obj: Any, values: Mapping[str, object], prefix: str = "") -> Any:
    """Copy of `obj` with the numbers named in `values` exchanged; no validation runs (symbols pass through)."""
    if is_dataclass(obj):
        new = object.__new__(type(obj))
        infos = field_infos(obj.__class__)
        for field in fields(obj):
            value = getattr(obj, field.name)
            path = prefix + field.name
            object.__setattr__(new, field.name, _bound(value, path, infos[field.name], values))
        return new
    if isinstance(obj, tuple):
        stem = prefix.removesuffix(".")
        return tuple(
            bind(item, values, f"{stem}.{label(item, i)}." if stem else f"{label(item, i)}.")
            if is_dataclass(item) or isinstance(item, tuple)
            else item
            for i, item in enumerate(obj)
        )
    return obj


def unchecked(cls: type[Part], **values: Any) -> Part:
    """An object of a frozen dataclass, as `bind` makes one: no validation runs, so that numbers may be expressions."""
    new = object.__new__(cls)
    for field in fields(cls):  # type: ignore[arg-type]
        value = values.pop(field.name, field.default)
        if value is MISSING:
            raise TypeError(f"{cls.__name__}: {field.name} has no default")
        object.__setattr__(new, field.name, value)
    if values:
        raise TypeError(f"{cls.__name__} has no {', '.join(values)}")
    return new


def _bound(value: Scalar, path: Any, info: Any, values: Vector) -> Any:
    if info is None:
        return (
            bind(value, values, path + ".")
            if is_dataclass(value) or isinstance(value, tuple)
            else value
        )
    if isinstance(value, tuple):
        return tuple(values.get(f"{path}.{i}", entry) for i, entry in enumerate(value))
    return values.get(path, value)


def graph_key(obj: object, traced: bool = True) -> str:
    """Text that is equal for two objects exactly when they trace to the same graph (numbers as symbols).

    Part of it is the code that the objects' classes and functions reach now (`workbench.contract.reach`): where a method, a
    global or what a function closes over has changed, the text has, too. traced=False: numbers as they are, and no code.
    """
    text, code = remembered(("text", traced), obj, lambda: _text_and_code(obj, traced))
    if not traced:
        return text
    from workbench.contract.reach import reached  # needs NumPy, which reading a file does without

    return f"{text} | {reached(code.values())}"


def written(obj: object) -> str:
    """The text of `graph_key` without the code it reaches: of a system of this library's parts alone the same in every process."""
    return remembered(("text", True), obj, lambda: _text_and_code(obj, True))[0]


def _text_and_code(obj: object, traced: bool) -> tuple[str, dict[int, object]]:
    code: dict[int, object] = {}
    return _text(obj, traced, code), code


def _text(obj: Any, traced: bool, code: dict[int, object]) -> str:
    """The text of `graph_key`; `code` collects what is text itself: classes and functions that are not this library's."""
    if is_dataclass(obj) and not isinstance(obj, type):
        if not own(type(obj)):
            code[id(type(obj))] = type(obj)
        infos = field_infos(obj.__class__)
        inner = ",".join(
            f"{f.name}={_shape(getattr(obj, f.name), infos[f.name], traced, code)}"
            for f in fields(obj)
        )
        return (
            f"{_told_apart(type(obj), f'{type(obj).__module__}.{type(obj).__qualname__}')}({inner})"
        )
    if isinstance(obj, tuple):
        return "(" + ",".join(_text(item, traced, code) for item in obj) + ")"
    # Whose repr is rounded and cut.
    if type(obj).__name__ == "ndarray" and str(obj.dtype) != "object":
        return f"array({obj.shape}, {obj.dtype}, {hashlib.sha256(obj.tobytes()).hexdigest()})"
    if isinstance(obj, _SIMPLE):
        return repr(obj)
    code[id(obj)] = obj
    if isinstance(obj, type) or type(obj).__repr__ in _ADDRESSES:
        own_name = obj if hasattr(obj, "__qualname__") else type(obj)
        return _told_apart(obj, f"{own_name.__module__}.{own_name.__qualname__}")
    return repr(obj)


_ADDRESSES: tuple[Any, ...] = (object.__repr__, FunctionType.__repr__)  # whose repr is an address
_SIMPLE = (type(None), bool, int, float, complex, str, bytes)
_met: dict[str, list] = {}


def _told_apart(thing: object, name: str) -> str:
    """The name; with a number where something else of that name came before, as a class a notebook defines again."""
    seen = _met.setdefault(name, [])
    for k, other in enumerate(seen):
        if other is thing:
            return name if k == 0 else f"{name}#{k + 1}"
    seen.append(thing)
    return _told_apart(thing, name)


def _shape(value: Scalar, info: Any, traced: Any, code: Any) -> Any:
    if info is None or value is None or not traced:
        return _part(value, traced, code)
    if isinstance(value, tuple):
        return "[" + ",".join(repr(e) if e in (0.0, 1.0) else "#" for e in value) + "]"
    return "#"


def _part(value: Any, traced: bool, code: dict[int, object]) -> str:
    """The text of a part; of one that something is remembered of, as of a plant that several loops share, it is kept."""
    if remembered_of(value) is None:
        return _text(value, traced, code)
    text, reaches = remembered(("text", traced), value, lambda: _text_and_code(value, traced))
    code.update(reaches)
    return text


def digest(obj: object) -> str:
    """Hash of the graph and the numbers together: two systems with the same digest are the same system."""
    return hashlib.sha256(graph_key(obj, traced=False).encode()).hexdigest()[:16]


__all__ = [
    "Bound",
    "Info",
    "Leaf",
    "Unit",
    "bind",
    "check_bounds",
    "check_parts",
    "described",
    "digest",
    "field_infos",
    "fraction",
    "graph_key",
    "label",
    "leaves",
    "nonnegative",
    "positive",
    "up_to",
    "written",
]
