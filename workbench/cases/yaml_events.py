"""The parser's events turned into Nodes, counted as they come: depth, values and aliases stay within fixed limits.

Plain words follow the core schema of YAML 1.2 with decimal numbers only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workbench.cases.node import Node, after_comma
from workbench.contract.errors import InputError

MAX_DEPTH = 40
MAX_NODES = 20_000
MAX_ALIASES = 32
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?(?:\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN")
_WORDS = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


@dataclass
class _Reader:
    """Turns the parser's events into Nodes, counting as it goes."""

    file: str
    nodes: int = 0
    aliases: int = 0
    deepest: int = 0
    anchors: dict = field(default_factory=dict)  # name → (Node, how many nodes, how deep)

    def document(self, events: Iterator) -> Node:
        root = None
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                if root is not None:
                    raise self.error(
                        event,
                        "a second document starts here; expected one",
                        mend="remove the line '---', or keep each document in its own file",
                    )
                root = self.node(next(events), events, ())
        return root if root is not None else Node(None, 1, 1, self.file)

    def error(self, event, message, path=(), mend="") -> InputError:
        return InputError(
            message,
            file=self.file or None,
            line=event.start_mark.line + 1,
            key=".".join(path) or None,
            mend=mend,
        )

    def node(self, event, events, path, line=None) -> Node:
        kind = type(event).__name__
        mark = event.start_mark
        if kind == "AliasEvent":
            return self.alias(event, path, line)
        if event.ctag is not None:
            tag = str(event.ctag).replace("tag:yaml.org,2002:", "!!")[:60]
            raise self.error(
                event,
                f"the tag {tag} is not allowed; expected plain data",
                path,
                mend="remove everything from '!' up to the value",
            )
        before = self.nodes
        above = self.deepest
        self.count(event, 1)
        self.deepest = 0
        self.descend(event, len(path))
        if kind == "MappingStartEvent":
            value = self.mapping(events, path)
        elif kind == "SequenceStartEvent":
            value = []
            while type(item := next(events)).__name__ != "SequenceEndEvent":
                value.append(self.node(item, events, (*path, str(len(value)))))
        else:
            value = (
                event.value
                if event.style or not event.implicit[0]
                else plain_word(event, path, self.error)
            )
        node = Node(value, line or mark.line + 1, mark.column + 1, self.file)
        if event.anchor is not None:
            self.anchors[event.anchor] = node, self.nodes - before, self.deepest - len(path)
        self.deepest = max(self.deepest, above)
        return node

    def descend(self, event, depth):
        self.deepest = max(self.deepest, depth)
        if depth > MAX_DEPTH:
            raise self.error(
                event,
                f"nested deeper than {MAX_DEPTH} levels",
                mend="no machine needs this; flatten it",
            )

    def count(self, event, more):
        self.nodes += more
        if self.nodes > MAX_NODES:
            raise self.error(
                event,
                f"more than {MAX_NODES} values (aliases counted each time)",
                mend="keep measurements and tables in their own files and name them here",
            )

    def alias(self, event, path, line) -> Node:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise self.error(
                event,
                f"more than {MAX_ALIASES} aliases (*{event.anchor[:40]})",
                path,
                mend="write the values out",
            )
        if event.anchor not in self.anchors:
            raise self.error(
                event,
                f"the alias *{event.anchor[:40]} names nothing finished above",
                path,
                mend="write the values out",
            )
        node, nodes, depth = self.anchors[event.anchor]
        self.count(event, nodes)
        self.descend(event, len(path) + depth)
        return Node(
            node.value, line or event.start_mark.line + 1, event.start_mark.column + 1, self.file
        )

    def mapping(self, events, path) -> dict[str, Node]:
        found: dict[str, Node] = {}
        while type(event := next(events)).__name__ != "MappingEndEvent":
            key = self.key(event, path)
            if key in found:
                raise self.error(
                    event,
                    f"the key {key!r} appears twice (first in line {found[key].line})",
                    (*path, key),
                    mend="keep one of them",
                )
            found[key] = self.node(next(events), events, (*path, key), event.start_mark.line + 1)
        return found

    def key(self, event, path) -> str:
        if type(event).__name__ != "ScalarEvent" or event.ctag is not None:
            raise self.error(
                event,
                "expected a plain word as key",
                path,
                mend="write 'key: value'; quote a word with brackets",
            )
        if event.style is None and event.value == "<<":
            raise self.error(
                event, "merge keys (<<) are not part of YAML 1.2", path, mend="write the values out"
            )
        key = event.value if event.style else plain_word(event, path, self.error)
        if not isinstance(key, str) or not key:
            raise self.error(
                event,
                f"expected a word as key, got {event.value[:60]!r}",
                path,
                mend=after_comma(event.value) or f"put it in quotes: '{event.value[:60]}': …",
            )
        self.count(event, 1)
        return key


def plain_word(event, path, error: Callable[..., InputError]) -> object:
    """A plain (unquoted) word by the core schema of YAML 1.2, decimal numbers only."""
    text = event.value
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise error(
            event,
            f"expected a finite number, got {text}",
            path,
            mend="leave the key out, or give a number",
        )
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    if not math.isfinite(number):
        raise error(
            event, f"{text[:40]} is too large for a number", path, mend="check the exponent"
        )
    return int(text) if _INTEGER.fullmatch(text) and len(text) < 300 else number
