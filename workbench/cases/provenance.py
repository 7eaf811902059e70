"""Provenance: where a value of a file comes from, kept by the path of the number it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.cases import shape
from workbench.cases.node import Node
from workbench.cases.refusals import joined, unknown


@dataclass(frozen=True)
class Provenance:
    """Where a value comes from: tag V, D, I or A (see shape.TAGS), source, note, and its line in the file."""

    tag: str = ""
    source: str = ""
    note: str = ""
    line: int = 0


def unwrapped(wanted: shape.Hint, node: Node, path: str, provenance: dict[str, Provenance]) -> Node:
    """The node below `value:`, its provenance noted, where this is such a mapping."""
    inside = node.value
    if (
        not isinstance(inside, dict)
        or "value" not in inside
        or any(map(shape.table, wanted.options))
    ):
        return node
    if wanted.classes and not inside.keys() <= set(shape.LEAF):
        return node
    if any("value" in shape.entries(c) for c in wanted.classes):
        return node
    found = {}
    for key, child in inside.items():
        if key not in shape.LEAF:
            raise unknown(child, key, shape.LEAF, path)
        if key != "value":
            if not isinstance(child.value, str | None):
                raise child.error(
                    f"expected text, got {child.words}",
                    key=joined(path, key),
                    mend="put it in quotes",
                )
            found[key] = child.value or ""
    if found.get("tag", "") not in ("", *shape.TAGS):
        raise unknown(inside["tag"], found["tag"], shape.TAGS, joined(path, "tag"), "tag")
    provenance[path] = Provenance(**found, line=node.line)
    return inside["value"]


def relocate(made: Any, path: str, provenance: dict[str, Provenance]) -> None:
    """The provenance of numbers that the object holds elsewhere than they were written."""
    for written, held in shape.held_at(made).items():
        origin = provenance.pop(joined(path, written), None)
        if origin is not None:
            provenance.update({joined(path, at): origin for at in held})


def derived(key: str, path: str, names, provenance: dict[str, Provenance]) -> None:
    """Provenance of the fields `names` that a shorthand gives: derived by arithmetic at best, else as weak as its weakest part."""
    origins = [p for at, p in provenance.items() if (at + ".").startswith(joined(path, key) + ".")]
    if not origins:
        return
    tag = max((p.tag or "D" for p in origins), key="VDIA".index)
    source = ", ".join(dict.fromkeys(p.source for p in origins if p.source))
    origin = Provenance("D" if tag == "V" else tag, source, f"from {key}", origins[0].line)
    provenance.update({joined(path, name): origin for name in names})
