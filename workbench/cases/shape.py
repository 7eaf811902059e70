"""What a class looks like in a file: the one reading of type hints behind `build` and `schema`."""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Any

from workbench.cases.shorthand import Shorthand
from workbench.contract.parameters import Bound, Info, Unit

SELECTORS = ("type", "law", "kind")  # keys that name the class where several are possible
TAGS = {
    "V": "verbatim from the source",
    "D": "derived from it by arithmetic",
    "I": "inferred",
    "A": "assumed",
}
LEAF = ("value", "tag", "source", "note")


def called(cls: type) -> str:
    """The name of a class in files: what it declares as `name_in_files`, or else its own."""
    return vars(cls).get("name_in_files", cls.__name__)


@dataclass(frozen=True)
class Hint:
    """A type hint taken apart: what may stand there, in which unit, meaning what, and whether nothing may."""

    options: tuple
    info: Info | None = None
    meaning: str = ""
    optional: bool = False

    @property
    def classes(self) -> tuple[type, ...]:
        """The dataclasses among the options."""
        return tuple(o for o in self.options if dataclasses.is_dataclass(o))


def hint(declared: Any, outer: Info | None = None) -> Hint:
    """`declared` without Annotated, unions and None; numbers in tuples inherit the unit `outer` of the tuple."""
    metadata: list = []
    optional = False
    waiting = [declared]
    options = []
    while waiting:
        item = waiting.pop(0)
        origin = typing.get_origin(item)
        if origin is typing.Annotated:
            metadata += item.__metadata__
            waiting.insert(0, item.__origin__)
        elif origin in (typing.Union, types.UnionType):
            waiting = [*typing.get_args(item), *waiting]
        elif item in (None, type(None)):
            optional = True
        else:
            options.append(item)
    meaning = next((m for m in metadata if isinstance(m, str)), "")
    unit = next((m.symbol for m in metadata if isinstance(m, Unit)), None)
    bound = next((m for m in metadata if isinstance(m, Bound)), Bound())
    options = [option for option in options if not _is_base(option, options)]
    return Hint(
        tuple(options), outer if unit is None else Info(unit, meaning, bound), meaning, optional
    )


def _is_base(option: Any, others: Sequence) -> bool:
    """Whether it is a base of other options: Python code may give an object of its own kind, a file names one of the others."""
    if not isinstance(option, type) or dataclasses.is_dataclass(option):
        return False
    return any(
        isinstance(other, type) and dataclasses.is_dataclass(other) and issubclass(other, option)
        for other in others
    )


def items(option: Any) -> tuple | None:
    """Hints of a tuple's or list's members: (X, ...) or a fixed (X, Y); None when `option` is neither."""
    origin = typing.get_origin(option)
    if origin is tuple:
        return typing.get_args(option)
    if origin in (list, collections.abc.Sequence):
        return (*typing.get_args(option), ...)
    return None


def table(option: Any) -> Any:
    """Hint of a mapping's values, None when `option` is no mapping from text."""
    if typing.get_origin(option) in (dict, collections.abc.Mapping):
        return typing.get_args(option)[1]
    return None


def choices(option: Any) -> tuple | None:
    """Values of a Literal, else None."""
    return typing.get_args(option) if typing.get_origin(option) is typing.Literal else None


@dataclass(frozen=True)
class Entry:
    """One key of a class in a file: a field, or a shorthand for some."""

    key: str
    declared: Any
    default: Any = None
    required: bool = False
    shorthand: Shorthand | None = None


@cache
def entries(cls: type) -> dict[str, Entry]:
    """Keys of `cls` in a file: its fields, then its shorthands."""
    hints = typing.get_type_hints(cls, include_extras=True)
    found = {}
    for field in dataclasses.fields(cls):
        if field.init and not field.name.startswith("_"):
            default = field.default if field.default_factory is MISSING else field.default_factory()
            required = default is MISSING
            found[field.name] = Entry(
                field.name, hints[field.name], None if required else default, required
            )
    for short in getattr(cls, "shorthand", ()):
        found[short.key] = Entry(short.key, short.of, shorthand=short)
    return found


def held_at(made: Any) -> dict[str, tuple[str, ...]]:
    """Path as written → paths of the object's numbers it became, where a class says that they differ (its `held_at`)."""
    stated = getattr(type(made), "held_at", None)
    return {} if stated is None else stated(made)


@cache
def spellings(cls: type) -> dict[str, str]:
    """Accepted spelling → key: each key itself, and its Greek letters spelled out (β or beta, σ_0 or sigma_0)."""
    keys = entries(cls)
    return {
        **{spelled(key): key for key in keys if spelled(key) not in keys},
        **{key: key for key in keys},
    }


def spelled(key: str) -> str:
    """`key` with Greek letters written as words: λ_x is lambda_x, Δp is Delta_p."""
    text = ""
    for i, letter in enumerate(key):
        name = unicodedata.name(letter, "")
        if not name.startswith("GREEK"):
            text += letter
            continue
        word = name.rsplit(" ", 1)[1].replace("LAMDA", "LAMBDA")
        text += word.lower() if "SMALL" in name else word.capitalize()
        text += "_" if key[i + 1 : i + 2].isalnum() else ""
    return text


def canonical(cls: type, written: str) -> str | None:
    """The key meant by a spelling in a file (as Python, which folds µ and μ), None when there is none."""
    return spellings(cls).get(unicodedata.normalize("NFKC", written))


def fits(cls: type, written: Iterable[str]) -> bool:
    """True when these spellings are keys of `cls` and all it needs."""
    needed = [key for key, entry in entries(cls).items() if entry.required]
    return all(canonical(cls, w) for w in written) and all(
        set(given_by(cls, key)) & set(written) for key in needed
    )


def given_by(cls: type, key: str) -> list[str]:
    """Every spelling that provides the field `key`, shorthands included."""
    ways = [s for s, k in spellings(cls).items() if k == key]
    return sorted(ways, key=lambda s: s != key) + [
        e.key for e in entries(cls).values() if e.shorthand and key in e.shorthand.gives
    ]


def bound_words(bound: Bound) -> str:
    """Completes 'must be …'; empty when everything finite is allowed."""
    if bound.words or (bound.low, bound.high) == (-float("inf"), float("inf")):
        return bound.words
    return f"between {bound.low:g} and {bound.high:g}"


def written(classes: Sequence[type]) -> str:
    """What to write for the first of these classes, as a sentence; "" for none."""
    return f"write its keys: {filled_in(classes[0])}" if classes else ""


def filled_in(cls: type) -> str:
    """A class as a file holds it, with gaps for values: the keys it needs (all, where it needs none)."""
    keys = entries(cls)
    needed = [key for key, entry in keys.items() if entry.required] or list(keys)
    return "{" + ", ".join(f"{key}: …" for key in needed) + "}"


def expectation(wanted: Hint) -> str:
    """What may stand here, in words."""
    return " or ".join(dict.fromkeys(_words(o, wanted.info) for o in wanted.options))


def _words(option: Any, info: Info | None) -> str:
    if option is float:
        return "a number" if info is None or info.unit == "1" else f"a quantity in {info.unit}"
    if (members := choices(option)) is not None:
        return "one of " + ", ".join(map(str, members))
    if (inner := items(option)) is not None:
        count = "" if inner[-1] is ... else f" of {len(inner)}"
        return (
            f"a list{count}, each {expectation(hint(inner[0], info))}" if inner else "an empty list"
        )
    if table(option) is not None:
        return "a mapping"
    names = {int: "a whole number", str: "text", bool: "true or false", Any: "a value"}
    return names.get(option) or (called(option) if isinstance(option, type) else str(option))
