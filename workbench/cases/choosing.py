"""Which class a mapping of a file is meant for, and which of its keys are which fields."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.cases import shape
from workbench.cases.node import Node
from workbench.cases.refusals import joined, unknown


def chosen(classes: tuple[type, ...], node: Node, path: str) -> tuple[type, Node]:
    """The class a mapping is meant for, and the mapping without the key that says so."""
    inside = node.value
    by_name = {shape.called(c): c for c in classes}
    selectors = [
        s
        for s in shape.SELECTORS
        if s in inside and not any(s in shape.entries(c) for c in classes)
    ]
    if len(selectors) > 1:
        raise inside[selectors[1]].error(
            f"{' and '.join(selectors)} both say which one it is", key=path, mend="keep one"
        )
    if selectors:
        name = inside[selectors[0]]
        if name.value not in by_name if isinstance(name.value, str) else True:
            place = joined(path, selectors[0])
            raise unknown(name, str(name.plain()), by_name, place, selectors[0])
        rest = {k: v for k, v in inside.items() if k != selectors[0]}
        return by_name[name.value], Node(rest, node.line, node.column, node.file)
    fitting = classes if len(classes) == 1 else [c for c in classes if shape.fits(c, inside)]
    if len(fitting) != 1:
        for written, child in inside.items():
            if not any(shape.canonical(c, written) for c in classes):
                raise unknown(
                    child,
                    written,
                    dict.fromkeys(key for c in classes for key in shape.entries(c)),
                    path,
                )
        raise node.error(
            f"this can be {', '.join(by_name)}; the file does not say which",
            key=path,
            mend=f"add a line 'type: {next(iter(by_name))}'",
        )
    return fitting[0], node


def given_keys(cls: type, node: Node, path: str) -> dict[str, Node]:
    """Field of `cls` → what is written for it, whichever way its name is spelled."""
    keys = shape.entries(cls)
    given: dict[str, Node] = {}
    for written, child in node.value.items():
        key = shape.canonical(cls, written)
        if key is None:
            raise unknown(child, written, keys, path)
        if key in given:
            raise child.error(
                f"{written} is given already, as {key} or a spelling of it",
                key=joined(path, written),
                mend="keep one of them",
            )
        given[key] = child
    return given


def check_given(
    cls: type, node: Node, given: Mapping[str, Node], short: Mapping, path: str
) -> None:
    """Every field is given once, by itself or by a shorthand, and none that is needed is missing."""
    taken = {name: k for k, s in short.items() for name in s.gives}
    for key in (k for k in given if k in taken):
        raise given[key].error(
            f"{key} is given by {taken[key]} already",
            key=joined(path, key),
            mend="keep one of them",
        )
    for key, entry in shape.entries(cls).items():
        if entry.required and key not in given and key not in taken:
            wanted = shape.hint(entry.declared)
            ways = " or ".join(shape.given_by(cls, key))
            raise node.error(
                f"{ways} is missing" + (f": {wanted.meaning}" if wanted.meaning else ""),
                key=path,
                mend=f"add '{key}: …', {shape.expectation(wanted)}",
            )


def labels_of(node: Node, path: str) -> list[str]:
    """Labels of the entries of a list: their `name`, else their place; no label twice."""
    labels = [_label(child, i) for i, child in enumerate(node.value)]
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise node.value[i].error(
                f"two entries are called {label!r}", key=path, mend="rename one of them"
            )
    return labels


def _label(child: Node, index: int) -> str:
    name = child.value.get("name") if isinstance(child.value, dict) else None
    named = name is not None and isinstance(name.value, str) and name.value
    return name.value if named else str(index)
