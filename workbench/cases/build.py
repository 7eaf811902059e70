"""A tree of Nodes → frozen dataclass objects, with every refusal at its line.

What a class may contain follows from its type hints (`workbench.cases.shape`):

    Annotated[float, Unit("m"), …]     0.08 or 80 mm, checked against its Bound; tuple[float, ...] a list of them
    bool, int, str, Literal[…]         as they are
    another dataclass                  a mapping of its fields
    A | B | C of dataclasses           a mapping with `type: A` (law:, kind:), or the bare name A when A needs nothing
    tuple[X, ...]                      a list, or, when X has a `name`, a mapping name → X
    Mapping[str, X]                    a mapping;    Node: handed through as it is
    X | None                           X, or null

Any value may be written {value: …, tag: V|D|I|A, source: …, note: …}; where it came from is then kept as Provenance.
Greek keys may be spelled out (beta for β). `Shorthand`s of a class are expanded. Classes check themselves: a ValueError
"field: message" from __post_init__ is reported at the line of that field.
"""

from __future__ import annotations

import difflib
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from workbench.cases import shape
from workbench.cases.choosing import check_given, chosen, given_keys, labels_of
from workbench.cases.expanding import expanded
from workbench.cases.node import Node, after_comma
from workbench.cases.numbers import bounded, number
from workbench.cases.provenance import Provenance, relocate, unwrapped
from workbench.cases.refusals import REFUSALS, joined, refused_at, unknown
from workbench.contract.errors import short, tried
from workbench.contract.parameters import Info


def build(
    declared: Any, node: Node, key: str = "", provenance: dict[str, Provenance] | None = None
) -> Any:
    """Object of the type `declared` (a dataclass, a union of them, any hint above) from `node`.

    key          dotted path of the node, for messages
    provenance   collects path → Provenance; paths are `key` plus those of `parameters.leaves`, a vector has one entry

    Raises InputError with file, line and key.
    """
    with warnings.catch_warnings():
        # Overflow in a class's own checks; the check itself speaks.
        warnings.simplefilter("ignore", RuntimeWarning)
        return _Builder({} if provenance is None else provenance).value(declared, node, key)


@dataclass(frozen=True)
class _Builder:
    provenance: dict[str, Provenance] = field(default_factory=dict)

    def value(self, declared: Any, node: Node, path: str, outer: Info | None = None) -> Any:
        """Anything: takes {value: …} apart, then the option that suits what is written."""
        wanted = shape.hint(declared, outer)
        if Node in wanted.options:
            return node
        node = unwrapped(wanted, node, path, self.provenance)
        if node.value is None:
            if wanted.optional:
                return None
            raise node.error(
                f"nothing is given here; expected {shape.expectation(wanted)}",
                key=path,
                mend=after_comma(path.rpartition(".")[2])
                or "write a value, or remove the key to get the default",
            )
        if isinstance(node.value, dict):
            return self.from_mapping(wanted, node, path)
        if isinstance(node.value, list):
            return self.from_list(wanted, node, path)
        return self.from_scalar(wanted, node, path)

    def from_mapping(self, wanted: shape.Hint, node: Node, path: str) -> Any:
        if wanted.classes:
            cls, rest = chosen(wanted.classes, node, path)
            return self.object(cls, rest, path)
        for option in wanted.options:
            if (inner := shape.table(option)) is not None:
                return self.entries(
                    {key: (inner, child) for key, child in node.value.items()}, path
                )
            if (inner := shape.items(option)) and _named(inner[0]):
                return tuple(
                    tried(
                        partial(self.member, inner[0], key, child, path)
                        for key, child in node.value.items()
                    )
                )
            if option in (Any, object):
                return node.plain()
        raise node.error(
            f"expected {shape.expectation(wanted)}, got a mapping",
            key=path,
            mend="write the value itself, or {value: …, tag: …, source: …, note: …}",
        )

    def entries(self, wanted: dict[str, tuple[Any, Node]], path: str) -> dict[str, Any]:
        """The value of every key, given (declared type, node)."""
        made = tried(
            partial(self.value, declared, child, joined(path, key))
            for key, (declared, child) in wanted.items()
        )
        return dict(zip(wanted, made))

    def member(self, declared: Any, name: str, child: Node, path: str) -> Any:
        """One entry of a mapping name → member."""
        if not isinstance(child.value, dict | None):
            raise child.error(
                f"expected a mapping, got {child.words}",
                key=joined(path, name),
                mend=f"write '{short(name)}:' and its keys below it, indented",
            )
        inside = child.value or {}
        if "name" in inside and inside["name"].value != name:
            raise inside["name"].error(
                f"this entry is called {name!r} already",
                key=joined(path, f"{name}.name"),
                mend="leave name: out",
            )
        named = {**inside, "name": Node(name, child.line, child.column, child.file)}
        return self.value(
            declared, Node(named, child.line, child.column, child.file), joined(path, name)
        )

    def from_list(self, wanted: shape.Hint, node: Node, path: str) -> Any:
        for option in wanted.options:
            if option in (Any, object):
                return node.plain()
            if (inner := shape.items(option)) is None:
                continue
            if inner[-1] is not ... and len(inner) != len(node.value):
                raise node.error(
                    f"expected a list of {len(inner)}, got {len(node.value)}",
                    key=path,
                    mend=f"give exactly {len(inner)} entries",
                )
            hints = [inner[0]] * len(node.value) if inner[-1] is ... else inner
            labels = labels_of(node, path)
            return tuple(
                tried(
                    partial(self.value, h, child, joined(path, label), wanted.info)
                    for h, child, label in zip(hints, node.value, labels)
                )
            )
        raise node.error(
            f"expected {shape.expectation(wanted)}, got a list",
            key=path,
            mend=_unlisted(wanted),
        )

    def from_scalar(self, wanted: shape.Hint, node: Node, path: str) -> Any:
        value = node.value
        for option in wanted.options:
            if option in (Any, object) or value in (shape.choices(option) or ()):
                return value
            if option in (str, bool) and type(value) is option:
                return value
            if option is int and type(value) in (int, float) and value == int(value):
                return bounded(int(value), wanted.info, node, path)
            if option is float and (len(wanted.options) == 1 or str(value)[:1] in "+-.0123456789"):
                return number(wanted.info or Info("1"), node, path)
        by_name = {shape.called(c): c for c in wanted.classes}
        if by_name and isinstance(value, str) and value.isidentifier():
            if value not in by_name:
                raise unknown(node, value, by_name, path, path.rpartition(".")[2] or "type")
            return self.object(by_name[value], Node({}, node.line, node.column, node.file), path)
        words = [str(c) for option in wanted.options for c in shape.choices(option) or ()]
        near = difflib.get_close_matches(str(value), words, 1)
        other = "put it in quotes" if str in wanted.options else shape.written(wanted.classes)
        mend = f"did you mean {near[0]}?" if near else other
        raise node.error(
            f"expected {shape.expectation(wanted)}, got {node.words}",
            key=path,
            mend=mend or f"write {shape.expectation(wanted)}",
        )

    def object(self, cls: type, node: Node, path: str) -> Any:
        """An instance of the dataclass `cls` from a mapping."""
        keys = shape.entries(cls)
        given = given_keys(cls, node, path)
        short = {k: keys[k].shorthand for k in given if keys[k].shorthand}
        check_given(cls, node, given, short, path)
        values = self.entries({k: (keys[k].declared, child) for k, child in given.items()}, path)
        try:
            made = cls(**expanded(cls, values, short, given, path, self.provenance))
        except REFUSALS as why:
            raise refused_at(why, cls, node, given, path) from None
        relocate(made, path, self.provenance)
        return made


def _named(declared: Any) -> bool:
    classes = shape.hint(declared).classes
    return bool(classes) and all("name" in shape.entries(c) for c in classes)


def _unlisted(wanted: shape.Hint) -> str:
    """What to write where a list stands and none is expected."""
    if any(shape.table(option) is not None for option in wanted.options):
        return "write 'name: value' for each, in curly brackets or indented"
    return "write one value, without brackets" + (f": {wanted.meaning}" if wanted.meaning else "")
