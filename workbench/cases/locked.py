"""A plant with some of its segments locked, and where its numbers then come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.cases.provenance import Provenance
from workbench.contract.capabilities import Lockable
from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves


def locked(plant: Any, at: Mapping[str, float], provenance: Mapping[str, Provenance]):
    """The plant with prismatic segments frozen, and the provenance of what is left of it."""
    if not isinstance(plant, Lockable):
        raise InputError(f"lock: a {type(plant).__name__} has nothing to lock", mend="remove lock:")
    before = dict(_values(plant))
    plant = plant.locked(**at)
    note = "with " + ", ".join(f"{name} locked at {value:g} m" for name, value in at.items())
    kept = {}
    for path, value in _values(plant):
        if before.get(path) != value:
            kept[path] = Provenance("D", note=note)
        elif path in provenance:
            kept[path] = provenance[path]
    return plant, kept


def _values(plant):
    """(path, value) of every number, vectors whole."""
    whole: dict[str, tuple] = {}
    for leaf in leaves(plant):
        stem, _, last = leaf.path.rpartition(".")
        path = stem if last.isdigit() else leaf.path
        whole[path] = (*whole.get(path, ()), leaf.value)
    return whole.items()
