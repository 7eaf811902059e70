"""What a class says of its fields: unit, meaning and bound of each annotated number, read off its type hints once."""

from __future__ import annotations

import typing
from dataclasses import fields, replace
from functools import cache
from typing import Any

from workbench.contract.annotations import Bound, Info, Unit
from workbench.contract.capabilities import StatesUnits


@cache
def field_infos(cls: type) -> dict[str, Info | None]:
    """Field name → Info for annotated numbers, None for everything else."""
    hints = typing.get_type_hints(cls, include_extras=True)
    found: dict[str, Info | None] = {}
    for field in fields(cls):
        metadata = getattr(hints[field.name], "__metadata__", ())
        unit = next((m.symbol for m in metadata if isinstance(m, Unit)), None)
        if unit is None:
            found[field.name] = None
            continue
        meaning = next((m for m in metadata if isinstance(m, str)), "")
        bound = next((m for m in metadata if isinstance(m, Bound)), Bound())
        found[field.name] = Info(unit, meaning, bound)
    return found


def described(obj: Any) -> dict[str, Info | None]:
    """`field_infos` of the object's class, in the units it states itself (`units()`: field → unit) where they follow others'."""
    infos = field_infos(obj.__class__)
    own = obj.units() if _states_units(obj.__class__) else {}
    return (
        infos | {name: _restated(infos[name], unit) for name, unit in own.items()} if own else infos
    )


@cache
def _states_units(cls: type) -> bool:
    return issubclass(cls, StatesUnits)


def _restated(info: Info | None, unit: str) -> Info:
    return replace(info or Info(unit), unit=unit)
