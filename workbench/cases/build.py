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

import dataclasses
import difflib
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.cases import shape
from workbench.cases.node import Node
from workbench.contract.errors import InputError, in_words
from workbench.contract.parameters import Info
from workbench.contract.units import quantity


@dataclass(frozen=True)
class Provenance:
    """Where a value comes from: tag V, D, I or A (see shape.TAGS), source, note, and its line in the file."""

    tag: str = ""
    source: str = ""
    note: str = ""
    line: int = 0


def build(
    declared: Any, node: Node, key: str = "", provenance: dict[str, Provenance] | None = None
) -> Any:
    """Object of the type `declared` (a dataclass, a union of them, any hint above) from `node`.

    key          dotted path of the node, for messages
    provenance   collects path → Provenance; paths are `key` plus those of `parameters.leaves`, a vector has one entry

    Raises InputError with file, line and key.
    """
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # overflow in a class's own checks; the check itself speaks
        return _Builder({} if provenance is None else provenance).value(declared, node, key)


def unknown(
    node: Node, key: str, known: Iterable[str], path: str = "", what: str = "key"
) -> InputError:
    """The error for a word that is not among the `known` ones: nearest one, and the list."""
    known = list(known)
    lower = {k.lower(): k for k in known}
    near = [lower[n] for n in difflib.get_close_matches(key.lower(), lower, 2)]
    listed = f"known: {', '.join(known) or 'none'}"
    place = _join(path, _short(key)) if what == "key" else path
    return node.error(
        f"there is no {what} {_short(key)!r} here",
        key=place,
        mend=f"did you mean {' or '.join(near)}? ({listed})"
        if near
        else f"choose from those {listed}",
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


@dataclass(frozen=True)
class _Builder:
    provenance: dict[str, Provenance] = field(default_factory=dict)

    def value(self, declared: Any, node: Node, path: str, outer: Info | None = None) -> Any:
        """Anything: takes {value: …} apart, then the option that suits what is written."""
        wanted = shape.hint(declared, outer)
        if Node in wanted.options:
            return node
        node = self.unwrapped(wanted, node, path)
        if node.value is None:
            if wanted.optional:
                return None
            raise node.error(
                f"nothing is given here; expected {shape.expectation(wanted)}",
                key=path,
                mend="write a value, or remove the key to get the default",
            )
        if isinstance(node.value, dict):
            return self.from_mapping(wanted, node, path)
        if isinstance(node.value, list):
            return self.from_list(wanted, node, path)
        return self.from_scalar(wanted, node, path)

    def unwrapped(self, wanted: shape.Hint, node: Node, path: str) -> Node:
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
                        key=_join(path, key),
                        mend="put it in quotes",
                    )
                found[key] = child.value or ""
        if found.get("tag", "") not in ("", *shape.TAGS):
            raise unknown(inside["tag"], found["tag"], shape.TAGS, _join(path, "tag"), "tag")
        self.provenance[path] = Provenance(**found, line=node.line)
        return inside["value"]

    def from_mapping(self, wanted: shape.Hint, node: Node, path: str) -> Any:
        if wanted.classes:
            cls, rest = self.chosen(wanted.classes, node, path)
            return self.object(cls, rest, path)
        for option in wanted.options:
            if (inner := shape.table(option)) is not None:
                return {
                    key: self.value(inner, child, _join(path, key))
                    for key, child in node.value.items()
                }
            if (inner := shape.items(option)) and _named(inner[0]):
                return tuple(
                    self.member(inner[0], key, child, path) for key, child in node.value.items()
                )
            if option in (Any, object):
                return node.plain()
        raise node.error(
            f"expected {shape.expectation(wanted)}, got a mapping",
            key=path,
            mend="write the value itself, or {value: …, tag: …, source: …, note: …}",
        )

    def member(self, declared: Any, name: str, child: Node, path: str) -> Any:
        """One entry of a mapping name → member."""
        if not isinstance(child.value, dict | None):
            raise child.error(
                f"expected a mapping, got {child.words}",
                key=_join(path, name),
                mend=f"write '{_short(name)}:' and its keys below it, indented",
            )
        inside = child.value or {}
        if "name" in inside and inside["name"].value != name:
            raise inside["name"].error(
                f"this entry is called {name!r} already",
                key=_join(path, f"{name}.name"),
                mend="leave name: out",
            )
        named = {**inside, "name": Node(name, child.line, child.column, child.file)}
        return self.value(
            declared, Node(named, child.line, child.column, child.file), _join(path, name)
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
            labels = [_label(child, i) for i, child in enumerate(node.value)]
            for i, label in enumerate(labels):
                if label in labels[:i]:
                    raise node.value[i].error(
                        f"two entries are called {label!r}", key=path, mend="rename one of them"
                    )
            return tuple(
                self.value(h, child, _join(path, label), wanted.info)
                for h, child, label in zip(hints, node.value, labels)
            )
        raise node.error(
            f"expected {shape.expectation(wanted)}, got a list",
            key=path,
            mend="write one value, without brackets",
        )

    def from_scalar(self, wanted: shape.Hint, node: Node, path: str) -> Any:
        value = node.value
        for option in wanted.options:
            if option in (Any, object) or value in (shape.choices(option) or ()):
                return value
            if option in (str, bool) and type(value) is option:
                return value
            if option is int and type(value) in (int, float) and value == int(value):
                return self.bounded(int(value), wanted.info, node, path)
            if option is float and (len(wanted.options) == 1 or str(value)[:1] in "+-.0123456789"):
                return self.number(wanted.info or Info("1"), node, path)
        by_name = {c.__name__: c for c in wanted.classes}
        if by_name and isinstance(value, str) and value.isidentifier():
            if value not in by_name:
                raise unknown(node, value, by_name, path, "class")
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

    def number(self, info: Info, node: Node, path: str) -> float:
        try:
            number = quantity(node.value, info.unit)
        except InputError as why:
            raise why.at(file=node.file or None, line=node.line, key=path or None) from None
        return self.bounded(number, info, node, path)

    def bounded(self, number, info: Info | None, node: Node, path: str):
        if info is not None and not info.bound.admits(number):
            words = shape.bound_words(info.bound)
            raise node.error(
                f"{info.meaning or 'this'} must be {words}, got {node.value}",
                key=path,
                mend=f"give a value {words}",
            )
        return number

    def chosen(self, classes: tuple[type, ...], node: Node, path: str) -> tuple[type, Node]:
        """The class a mapping is meant for, and the mapping without the key that says so."""
        inside = node.value
        by_name = {c.__name__: c for c in classes}
        selectors = [
            s
            for s in shape.SELECTORS
            if s in inside and not any(s in shape.entries(c) for c in classes)
        ]
        if len(selectors) > 1:
            raise inside[selectors[1]].error(
                f"{' and '.join(selectors)} both name a class", key=path, mend="keep one"
            )
        if selectors:
            name = inside[selectors[0]]
            if name.value not in by_name if isinstance(name.value, str) else True:
                raise unknown(name, str(name.plain()), by_name, _join(path, selectors[0]), "class")
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

    def object(self, cls: type, node: Node, path: str) -> Any:
        """An instance of the dataclass `cls` from a mapping."""
        keys, given = shape.entries(cls), {}
        for written, child in node.value.items():
            key = shape.canonical(cls, written)
            if key is None:
                raise unknown(child, written, keys, path)
            if key in given:
                raise child.error(
                    f"{written} is given already, as {key} or a spelling of it",
                    key=_join(path, written),
                    mend="keep one of them",
                )
            given[key] = child
        short = {k: keys[k].shorthand for k in given if keys[k].shorthand}
        taken = {name: k for k, s in short.items() for name in s.gives}
        for key in (k for k in given if k in taken):
            raise given[key].error(
                f"{key} is given by {taken[key]} already",
                key=_join(path, key),
                mend="keep one of them",
            )
        for key, entry in keys.items():
            if entry.required and key not in given and key not in taken:
                wanted, ways = shape.hint(entry.declared), " or ".join(shape.given_by(cls, key))
                raise node.error(
                    f"{ways} is missing" + (f": {wanted.meaning}" if wanted.meaning else ""),
                    key=path,
                    mend=f"add '{key}: …', {shape.expectation(wanted)}",
                )
        values = {
            k: self.value(keys[k].declared, child, _join(path, k)) for k, child in given.items()
        }
        try:
            made = cls(**self.expanded(cls, values, short, given, path))
        except _REFUSALS as why:
            raise _located(why, cls, node, given, path) from None
        self.relocate(made, path)
        return made

    def relocate(self, made: Any, path: str) -> None:
        """The provenance of numbers that the object holds elsewhere than they were written."""
        for written, held in shape.held_at(made).items():
            origin = self.provenance.pop(_join(path, written), None)
            if origin is not None:
                self.provenance.update({_join(path, at): origin for at in held})

    def expanded(
        self, cls: type, values: dict, short: Mapping, given: Mapping[str, Node], path: str
    ) -> dict:
        """Field values with the shorthands worked out."""
        plain = {k: v for k, v in values.items() if k not in short}
        others = {
            k: e.default
            for k, e in shape.entries(cls).items()
            if not e.required and not e.shorthand
        } | plain
        for key, shorthand in short.items():
            try:
                plain |= shorthand.expand(values[key], others)
            except _REFUSALS as why:
                raise _located(
                    why, type(values[key]), given[key], given[key].value, _join(path, key)
                ) from None
            origins = [
                p
                for at, p in self.provenance.items()
                if (at + ".").startswith(_join(path, key) + ".")
            ]
            if origins:  # derived by arithmetic at best, else as weak as its weakest ingredient
                tag = max((p.tag or "D" for p in origins), key="VDIA".index)
                source = ", ".join(dict.fromkeys(p.source for p in origins if p.source))
                derived = Provenance(
                    "D" if tag == "V" else tag, source, f"from {key}", origins[0].line
                )
                self.provenance.update({_join(path, name): derived for name in shorthand.gives})
        return plain


def _named(declared: Any) -> bool:
    classes = shape.hint(declared).classes
    return bool(classes) and all("name" in shape.entries(c) for c in classes)


def _label(child: Node, index: int) -> str:
    name = child.value.get("name") if isinstance(child.value, dict) else None
    return (
        name.value
        if name is not None and isinstance(name.value, str) and name.value
        else str(index)
    )


_REFUSALS = (
    ValueError,
    TypeError,
    ArithmeticError,
    LookupError,
)  # what a class's own check may raise on odd numbers


def _located(why: Exception, cls: type, node: Node, given: Any, path: str) -> InputError:
    """A class's own refusal, "field: message" or "field.inner: message", at the line of that field."""
    message, mend = (why.message, why.mend) if isinstance(why, InputError) else (in_words(why), "")
    match = re.match(r"([\w.]+): +(.*)", message, re.DOTALL)
    first, *inner = match[1].split(".") if match else ("",)
    if dataclasses.is_dataclass(cls) and first in shape.entries(cls):
        message, path = match[2], _join(path, match[1])
        node = given.get(first, node)
        for key in inner:
            node = node.value[key] if isinstance(node.value, dict) and key in node.value else node
    place = {"file": node.file or None, "line": node.line, "key": path or None}
    mend = mend or "change this value or the one it is compared with"
    if isinstance(why, InputError) and (why.key or why.line):
        return why.at(**place)
    return InputError(message, mend=mend, **place)
