"""Whether the fields of an object fit their annotations: choices, lengths, types, and numbers in their range."""

from __future__ import annotations

import sys
from typing import Any

from workbench.contract import kinds
from workbench.contract.annotations import Info
from workbench.contract.described import described, field_infos
from workbench.contract.errors import InputError
from workbench.contract.units import quantity


def check_bounds(obj: Any) -> None:
    """Raise InputError naming the first field of `obj` that does not fit its annotation (`workbench.contract.kinds`).

    Choices, lengths and types are those of the annotation; annotated numbers are finite and in their range. Parts come
    first: the units of the numbers may be asked of them.
    """
    check_parts(obj)
    infos = described(obj)
    for name, declared in kinds.declared(obj.__class__):
        info = infos[name]
        value = getattr(obj, name)
        if info is None:
            continue
        if isinstance(value, str) and kinds.takes_text(declared):
            _check_kind(name, declared, value)
        elif value is not None or None not in kinds.options(declared):
            _check_numbers(name, info, declared, value)


def check_parts(obj: Any) -> None:
    """Raise InputError naming the first field without a unit that does not fit its annotation: choices and parts."""
    infos = field_infos(obj.__class__)
    for name, declared in kinds.declared(obj.__class__):
        if infos[name] is None:
            _check_kind(name, declared, getattr(obj, name))


def _check_kind(name: str, declared: object, value: object) -> None:
    reason = kinds.refusal(declared, value)
    if reason is not None:
        raise InputError(f"{name}: {reason[0]}", mend=reason[1])


def _told(number: Any) -> str:
    """A number as a sentence has it; whole ones may be larger than any float."""
    largest = sys.float_info.max
    return f"{number:.12g}" if -largest <= number <= largest else "a number beyond all floats"


def _check_numbers(name: str, info: Info, declared: object, value: object) -> None:
    """An annotated number, or a tuple of them: finite, in range, as many as the annotation says."""
    for entry in value if isinstance(value, tuple) else (value,):
        if not is_number(entry) or entry != entry or entry in (float("inf"), -float("inf")):
            raise InputError(
                f"{name}: expected a finite number{_unit(info, ' in ')}, got {kinds.shown(entry)}",
                mend=_as_number(info, entry),
            )
        if not info.bound.admits(entry):
            raise InputError(
                f"{name}: {_told(entry)}{_unit(info, ' ')}; it must be {info.bound.words}"
            )
    reason = kinds.refusal(declared, value)
    if reason is not None:
        raise InputError(f"{name}: {reason[0]}", mend=reason[1])


def _as_number(info: Info, entry: object) -> str:
    """How to write a quantity or a list in Python; "" for what is neither."""
    if isinstance(entry, list):
        return f"write a tuple: {kinds.shown(tuple(entry))}"
    if not isinstance(entry, str):
        return ""
    try:
        number = quantity(entry, info.unit)
    except InputError as why:
        return why.mend
    return f"write {number:g}; in Python numbers are SI, without a unit"


def is_number(value: object) -> bool:
    """Whether a value is a number and not a symbolic expression."""
    return isinstance(value, (int, float))


def _unit(info: Info, before: str) -> str:
    """The unit of an annotated number after a word; empty for a plain number."""
    return "" if info.unit == "1" else before + info.unit
