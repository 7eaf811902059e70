"""A file with values exchanged by name: the way through it, `loop.delay`, `path.leg`, and below a machine any of its numbers."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, final

from workbench.cases.edit import plain
from workbench.cases.node import Node
from workbench.cases.refusals import unknown
from workbench.cases.yaml_input import read
from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.files.open_file import contents

_TREES = (".yaml", ".yml")
_FILES = (*_TREES, ".csv", ".so", ".fmu")


@final
@dataclass(frozen=True)
class Layout:
    """What a kind of file is made of.

    sections   its top-level keys;  whole: those that may be exchanged as a whole
    short      first word of a name → where that is
    machines   where a machine stands → (key of its bare name, what it holds → its own keys, None where it is written out in
               full). Any other word below it is a number or part of the machine, as under `change:`
    """

    sections: Collection[str]
    machines: Mapping[tuple[str, ...], tuple[str, Callable[[Mapping], set | None]]]
    short: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: Collection[str] = ()


@final
@dataclass(frozen=True, eq=False)
class Varied:
    """The tree `root` of the file `path`, its values exchanged by a point of a sweep.

    places   name of a parameter, or key of the sweep file → where it stands there
    named    parameter → (word → value), for values that have a name: the point then holds the word
    """

    root: Node
    path: str
    layout: Layout
    places: Mapping[str, Node] = field(default_factory=dict)
    named: Mapping[str, Mapping[str, Node]] = field(default_factory=dict)

    def tree(self, point: Mapping[str, Any]) -> Node:
        """The file's tree with the point's values in it, at the lines where the sweep names them."""
        tree = self.root
        for name, value in point.items():
            known = self.named.get(name)
            tree = placed(
                tree, name, known[value] if known else node_of(value, self.place(name)), self.layout
            )
        return tree

    def content(self, point: Mapping[str, Any]) -> list:
        """What a run depends on: the file as it is run, the files it names, versions."""
        tree = self.tree(point).plain()
        return [
            tree,
            {name: _hash(Path(self.path).parent / name) for name in sorted(_named(tree))},
            _versions(),
        ]

    def place(self, key: str) -> Node:
        """Where a parameter or a key stands in the sweep file."""
        return self.places.get(key, self.root if key.startswith("collect") else Node(None, 0))


# ---- names ----------------------------------------------------------------------------------------------------------
def placed(root: Node, name: str, value: Node, layout: Layout) -> Node:
    """The tree with `value` at a dotted name. Raises InputError at the line of `value`."""
    first, *rest = name.split(".")
    words = [*layout.short.get(first, (first,)), *rest]
    if words[0] not in layout.sections:
        raise unknown(value, words[0], [*layout.sections, *layout.short], name, "section")
    if not rest and words[0] not in layout.whole:
        raise value.error(
            "this is a whole section", key=name, mend=f"name something in it, such as {name}.…"
        )
    for at, (bare, own) in layout.machines.items():
        if tuple(words[: len(at)]) == at and len(words) > len(at):
            edit = partial(
                _changed, words=words[len(at) :], value=value, name=name, bare=bare, own=own
            )
            return _inside(root, [*at], edit, value, name)
    return _inside(root, words, lambda _: value, value, name)


def _changed(
    machine: Node,
    words: list[str],
    value: Node,
    name: str,
    bare: str,
    own: Callable[[Mapping], set | None],
) -> Node:
    """A machine's section with one thing in it exchanged."""
    inside = {bare: machine} if isinstance(machine.value, str) else machine.value or {}
    machine = Node(inside, machine.line, machine.column, machine.file)
    keys = own(inside)
    if keys is None or words[0] in keys - {"change"}:
        return _inside(machine, words, lambda _: value, value, name)
    if words == ["change"] and isinstance(value.value, dict):  # several changes under one name
        for inner, child in value.value.items():
            machine = _inside(machine, ["change", inner], lambda _, child=child: child, child, name)
        return machine
    words = words[1:] if words[0] == "change" and len(words) > 1 else words
    return _inside(machine, ["change", ".".join(words)], lambda _: value, value, name)


def _inside(
    node: Node, words: list[str], change: Callable[[Node], Node], value: Node, name: str
) -> Node:
    """The tree with what is at `words` exchanged; mappings that are not there are made."""
    if not words:
        return change(node)
    word = words[0]
    inside = node.value
    if isinstance(inside, list):
        labels = [
            c.value["name"].value if isinstance(c.value, dict) and "name" in c.value else str(i)
            for i, c in enumerate(inside)
        ]
        if word not in labels:
            raise unknown(value, word, labels, name, "entry")
        new = [
            _inside(c, words[1:], change, value, name) if label == word else c
            for c, label in zip(inside, labels)
        ]
        return Node(new, node.line, node.column, node.file)
    if isinstance(inside, str):  # a bare name: of a law, of a friction, of a reference
        inside = {"law": node} if name.startswith("controller") else {"type": node}
    if not isinstance(inside, (dict, bool)) and inside is not None:
        raise value.error(
            f"there is nothing below {name.split('.' + word)[0]}: it is {node.words}",
            key=name,
            mend="write the way to it as in the file that is varied",
        )
    inside = inside if isinstance(inside, dict) else {}
    key = next((k for k in inside if plain(k) == plain(word)), word)
    below = inside.get(key, Node(None, value.line, value.column, value.file))
    return Node(
        {**inside, key: _inside(below, words[1:], change, value, name)},
        node.line,
        node.column,
        node.file,
    )


def node_of(value: Any, at: Node) -> Node:
    """Plain data as Nodes at one place."""
    if isinstance(value, Mapping):
        return Node({k: node_of(v, at) for k, v in value.items()}, at.line, at.column, at.file)
    return Node(
        [node_of(v, at) for v in value] if isinstance(value, (list, tuple)) else value,
        at.line,
        at.column,
        at.file,
    )


def unit_of(name: str, known: Mapping[str, str], parts: Iterable) -> str:
    """SI unit of the number called `name`, as far as its last word tells: `known`, else of the `parts`; "" where it does not."""
    last = plain(name.split(".")[-1])
    known = {plain(word): unit for word, unit in known.items()}
    if last not in known:
        said = {
            leaf.info.unit
            for part in parts
            for leaf in leaves(part)
            if last in [plain(w) for w in leaf.path.split(".") if not w.isdigit()][-1:]
        }
        known = {last: said.pop()} if len(said) == 1 else {}
    unit = known.get(last, "")
    return "" if unit == "1" else unit


# ---- what results depend on -----------------------------------------------------------------------------------------
def _named(tree: Any) -> set[str]:
    """Texts in plain data that may be names of files."""
    if isinstance(tree, dict):
        library = tree.get("library")
        beside = {f"{library}/law.json"} if isinstance(library, str) else set()
        return beside.union(*map(_named, tree.values()))
    if isinstance(tree, list):
        return set().union(*map(_named, tree))
    return {tree} if isinstance(tree, str) and tree.lower().endswith(_FILES) else set()


@cache
def _hash(path: Path, within: tuple[Path, ...] = ()) -> str:
    """Of a file's content, and of the files that a file of YAML names in turn; within: those that lead to it."""
    try:
        found = hashlib.sha256(contents(path))
    except InputError:  # whoever reads it says why it cannot be read
        return ""
    place = path.resolve()
    if path.suffix.lower() in _TREES and place not in within:
        for name in sorted(_named(_plain(path))):
            found.update(f"{name} {_hash(path.parent / name, (*within, place))}".encode())
    return found.hexdigest()


def _plain(path: Path) -> Any:
    """What a file of YAML says; None of one that cannot be read so."""
    try:
        return read(path).plain()
    except InputError:
        return None


@cache
def _versions() -> dict[str, str]:
    from workbench import __version__

    return {
        "fluidproof": __version__,
        **{name: importlib.metadata.version(name) for name in ("numpy", "scipy", "casadi")},
    }
