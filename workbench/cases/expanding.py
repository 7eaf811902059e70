"""Shorthands of a file worked out: one key that gives several fields of a class."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.cases import shape
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance, derived
from workbench.cases.refusals import REFUSALS, joined, refused_at


def expanded(
    cls: type,
    values: dict,
    short: Mapping,
    given: Mapping[str, Node],
    path: str,
    provenance: dict[str, Provenance],
) -> dict:
    """Field values with the shorthands worked out."""
    plain = {k: v for k, v in values.items() if k not in short}
    others = {
        k: e.default for k, e in shape.entries(cls).items() if not e.required and not e.shorthand
    } | plain
    for key, shorthand in short.items():
        try:
            plain |= shorthand.expand(values[key], others)
        except REFUSALS as why:
            raise refused_at(
                why, type(values[key]), given[key], given[key].value, joined(path, key)
            ) from None
        derived(key, path, shorthand.gives, provenance)
    return plain
