"""Numbers of a plant that a claim lets vary: path → [low, high], in the units that the plant declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.numbers import nearest
from workbench.contract.parameters import leaves
from workbench.contract.units import quantity


def ranges(
    plant: Any, asked: Mapping[str, tuple], key: str, others: Mapping[str, str] | None = None
) -> dict[str, tuple[float, float]]:
    """Path of a plant's number → (low, high), SI. others: what else has a range, and its unit.

    Raises InputError, which begins with the claim's `key`, for what the plant has not or does not allow.
    """
    known = {leaf.path: leaf for leaf in leaves(plant) if not leaf.constant}
    others = others or {}
    found = {}
    for name, ends in asked.items():
        if name not in others and name not in known:
            mend = nearest(name, [*known, *others])
            raise InputError(f"{key}: the plant has no number {name!r}", mend=mend)
        unit = others[name] if name in others else known[name].info.unit
        low, high = (quantity(v, unit) for v in ends)
        if not low <= high:
            raise InputError(
                f"{key}.{name}: low, {low:g}, is above high, {high:g}", mend="write [low, high]"
            )
        if name in known and not all(known[name].info.bound.admits(v) for v in (low, high)):
            raise InputError(
                f"{key}.{name}: it cannot be from {low:g} to {high:g}",
                mend=f"keep the {key} where the plant allows it",
            )
        found[name] = (low, high)
    return found
