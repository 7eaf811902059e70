"""Does a value fit its field's annotation? The same question for objects built in Python as `build`
asks of a file.

    Literal[…]             one of the words, spelled as they are
    bool, int, str         that; True is no whole number
    float                  a number, not NaN
    tuple[X, ...]          a tuple or list of X;  tuple[X, Y]: exactly two
    Mapping[K, X]          a mapping whose values are X
    A | B | None           what fits one of them
    a class                an object of it

What is annotated with a Unit is a number of any size there; `parameters.check_bounds` asks for its
range.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import difflib
import math
import numbers
import types
import typing
from functools import cache
from typing import Any

from workbench.contract.errors import short

_MAPPINGS = (dict, collections.abc.Mapping)
_SEQUENCES = (list, collections.abc.Sequence)
WHOLE = ("", "")  # the value as a whole does not fit


@cache
def declared(cls: type) -> tuple[tuple[str, Any], ...]:
    """(field, annotation) of what a dataclass is built from."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple((field.name, hints[field.name]) for field in dataclasses.fields(cls) if field.init)


def options(hint: Any) -> tuple:
    """What may stand there: unions taken apart, Annotated left out, None as it is."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return options(hint.__origin__)
    if origin in (typing.Union, types.UnionType):
        return tuple(option for part in typing.get_args(hint) for option in options(part))
    return (None,) if hint is type(None) else (hint,)


def takes_text(hint: Any) -> bool:
    """Whether text may stand there, any or a choice of words."""
    return any(option is str or _words(option) for option in options(hint))


def refusal(hint: Any, value: Any) -> tuple[str, str] | None:
    """(what is wrong, how to mend it) where `value` does not fit `hint`; None where it does."""
    possible = options(hint)
    found = []
    for option in possible:
        reason = _refused(option, value)
        if reason is None:
            return None
        found.append(reason)
    inside = [reason for reason in found if reason != WHOLE]
    if inside:
        return inside[0]
    expected = " or ".join(dict.fromkeys(_expected(option) for option in possible))
    return f"expected {expected}, got {shown(value)}", _mend(possible, value)


def _mend(possible: tuple, value: Any) -> str:
    """What was most likely meant by a value that fits no option; "" where nothing is likely."""
    words = [word for option in possible for word in _words(option)]
    near = difflib.get_close_matches(str(value).lower(), [str(word).lower() for word in words], 1)
    for word in words:
        if near and str(word).lower() == near[0]:
            return f"did you mean {word!r}?"
    kind = type(value)
    for option in possible:
        if getattr(option, "__name__", "") == kind.__name__ and option is not kind:
            return (
                f"this one is {kind.__module__}.{kind.__name__}; take that of {option.__module__}"
            )
        if typing.get_origin(option) is tuple and hasattr(value, "tolist"):
            return "write a tuple: tuple(array.tolist())"
        if _is_one_entry(option, value):
            entry = repr(value)
            return f"one entry alone is a tuple, too: ({entry if len(entry) < 20 else '…'},)"
        if isinstance(option, type) and (name := holding(value, option)):
            return f"give its {name}: write .{name} behind it"
        if dataclasses.is_dataclass(option) and isinstance(value, collections.abc.Mapping):
            fields = ", ".join(f"{key}={entry!r}" for key, entry in value.items())
            return f"write {getattr(option, '__name__', option)}({fields})"
    return ""


def holding(thing: Any, wanted: type) -> str:
    """The attribute in which a machine or a case has what is wanted of it: loop or plant; "" where it has none."""
    holds = [name for name in ("loop", "plant") if isinstance(getattr(thing, name, None), wanted)]
    return holds[0] if holds else ""


def _is_one_entry(option: Any, value: Any) -> bool:
    """Whether the value fits what a tuple of any length holds."""
    members = typing.get_args(option)
    if typing.get_origin(option) is not tuple or members[-1:] != (...,):
        return False
    return refusal(members[0], value) is None


def _words(option: Any) -> tuple:
    return typing.get_args(option) if typing.get_origin(option) is typing.Literal else ()


def _refused(option: Any, value: Any) -> tuple[str, str] | None:
    """None where the value fits this one option; WHOLE where it is another kind of thing; else (what is wrong in it, mend)."""
    origin = typing.get_origin(option)
    if origin is typing.Literal:
        fits = any(type(word) is type(value) and word == value for word in typing.get_args(option))
    elif origin is tuple:
        return _refused_tuple(typing.get_args(option), value)
    elif origin in _SEQUENCES:
        return _refused_tuple((*typing.get_args(option), ...), value)
    elif origin in _MAPPINGS:
        return _refused_mapping(typing.get_args(option)[1], value)
    else:
        fits = _fits_plain(option, value)
    return None if fits else WHOLE


def _fits_plain(option: Any, value: Any) -> bool:
    if option is None:
        return value is None
    if option is bool:
        return isinstance(value, bool)
    if option is int:
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and holds(value)
    if option is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and holds(value)
    if option is str:
        return isinstance(value, str)
    if option is tuple:
        return isinstance(value, (tuple, list))
    if isinstance(option, type) and option is not Any:
        return isinstance(value, option)
    return True


def holds(value: Any) -> bool:
    """Whether a float can hold this real number: NaN and whole numbers past 1.8e308 it cannot."""
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def _refused_tuple(members: tuple, value: Any) -> tuple[str, str] | None:
    if not isinstance(value, (tuple, list)):
        return WHOLE
    if members and members[-1] is ...:
        hints = (members[0],) * len(value)
    elif len(members) != len(value) and members:
        return f"expected {len(members)} entries, got {len(value)}", ""
    else:
        hints = members
    for i, (hint, entry) in enumerate(zip(hints, value)):
        if (reason := refusal(hint, entry)) is not None:
            return f"its entry number {i + 1}: {reason[0]}", reason[1]
    return None


def _refused_mapping(hint: Any, value: Any) -> tuple[str, str] | None:
    if not isinstance(value, collections.abc.Mapping):
        return WHOLE
    for key, entry in value.items():
        if (reason := refusal(hint, entry)) is not None:
            return f"{key}: {reason[0]}", reason[1]
    return None


def _expected(option: Any) -> str:
    origin = typing.get_origin(option)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(option)))
    if origin is tuple or option is tuple or origin in _SEQUENCES:
        members = [part for part in typing.get_args(option) if part is not ...]
        if not members:
            return "a tuple"
        return f"a tuple, each entry {_expected(options(members[0])[0])}"
    if origin in _MAPPINGS:
        return "a mapping"
    known = {
        None: "None",
        bool: "True or False",
        int: "a whole number",
        float: "a number",
        str: "text",
    }
    return known.get(option, getattr(option, "__name__", str(option)))


def shown(value: Any) -> str:
    """A value as messages show it, cut where it is long."""
    return short(repr(value))
