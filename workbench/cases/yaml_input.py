"""Untrusted YAML as a tree of Nodes that know their line: data only, within fixed limits.

What is read is the plain part of YAML 1.2: mappings with text keys, lists, text, true/false, null and decimal numbers
(`12`, `-0.5`, `1e-3`, `5e6`). Tags, merge keys, NaN and infinity are refused; aliases are
followed within limits. What looks like a number otherwise (`0x1F`, `1_000`) stays text.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workbench.contract.errors import InputError
from workbench.files import open_file

MAX_BYTES = 1_000_000
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


@dataclass(frozen=True)
class Node:
    """One value of a YAML file and its place.

    value    dict of str → Node, list of Nodes, str, bool, int, float or None
    line     1-based; inside a mapping the line of the key
    column   1-based
    file     as it is named in messages
    """

    value: object
    line: int
    column: int = 1
    file: str = ""

    def error(self, message: str, *, key: str | None = None, mend: str = "") -> InputError:
        """An InputError at this place."""
        return InputError(
            message, file=self.file or None, line=self.line, key=key or None, mend=mend
        )

    def plain(self) -> object:
        """The value without places: dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {k: v.plain() for k, v in self.value.items()}
        if isinstance(self.value, list):
            return [v.plain() for v in self.value]
        return self.value

    @property
    def words(self) -> str:
        """What this is, for messages: 'a list', 'the text "abc"', 'the number 3'."""
        value = self.value
        if value is None:
            return "nothing"
        if isinstance(value, dict):
            return "a mapping"
        if isinstance(value, list):
            return "a list"
        if isinstance(value, bool):
            return f"the truth value {str(value).lower()}"
        if isinstance(value, str):
            return f"the text {value if len(value) <= 60 else value[:57] + '…'!r}"
        return f"the number {value!r}"


def read(path: str | os.PathLike) -> Node:
    """The file's content; InputError when there is none, or anything in it is not plain data (see the module)."""
    return parse(read_text(path), open_file.shown(path))


def read_text(path: str | os.PathLike) -> str:
    """The file's text, for `parse`. Raises InputError for what is no file of text, or too long."""
    try:
        return open_file.text(path, MAX_BYTES, "a YAML file")
    except open_file.NoFile as why:
        raise InputError(why.message, file=why.file, mend=_neighbour(path)) from None
    except open_file.TooLarge as why:
        raise InputError(
            f"{why.message} of YAML",
            file=why.file,
            mend="keep measurements and logs in their own files and name them here",
        ) from None


def _neighbour(path) -> str:
    import difflib

    path = Path(os.fsdecode(path))
    try:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.y*ml")], 1)
    except (OSError, ValueError):
        near = []
    return f"did you mean {near[0]}?" if near else "check the name and the directory you are in"


def parse(text: str, file: str = "") -> Node:
    """The tree of a YAML text; `file` is its name in messages."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError

    if not text.strip():
        raise InputError(
            "the file is empty", file=file or None, mend="write at least a plant: section"
        )
    try:
        root = _Reader(file).document(YAML(typ="safe", pure=True).parse(text))
    except InputError:
        raise
    except MarkedYAMLError as why:
        mark = why.problem_mark or why.context_mark
        raise _grammar(why, text, file, mark.line + 1 if mark else None) from None
    except (
        Exception
    ) as why:  # the parser's own slips on hostile text: still bad input, never a traceback
        reason = str(why).strip().splitlines()
        raise InputError(
            f"this is not YAML: {reason[0] if reason else type(why).__name__}",
            file=file or None,
            mend="check the file; is it text?",
        ) from None
    if root.value is None:
        raise InputError(
            "the file holds no data", file=file or None, mend="write at least a plant: section"
        )
    return root


_MENDS = (
    ("\\t", "indent with spaces, not tabs"),
    ("mapping values are not allowed", "one 'key: value' a line; quote text that contains ': '"),
    ("could not find expected ':'", "write 'key: value', with a space after the colon"),
    ("expected ',' or", "close the bracket, and put commas between entries"),
    ("expected <block end>", "line this entry up with its neighbours"),
    ("while scanning a quoted scalar", "close the quote"),
    ("cannot start any token", "put text with special characters in quotes"),
)


def _grammar(why, text: str, file: str, line: int | None) -> InputError:
    said = " ".join(str(part) for part in (why.context, why.problem) if part)
    rows = text.splitlines()
    indented_by_tab = line is not None and line <= len(rows) and re.match(r" *\t", rows[line - 1])
    mend = next(
        (mend for sign, mend in _MENDS if sign in said),
        "check indentation and brackets near this line",
    )
    return InputError(
        f"this is not YAML: {said}",
        file=file or None,
        line=line,
        mend=_MENDS[0][1] if indented_by_tab else mend,
    )


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
        kind, mark = type(event).__name__, event.start_mark
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
        before, above = self.nodes, self.deepest
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
                event.value if event.style or not event.implicit[0] else self.scalar(event, path)
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
        key = event.value if event.style else self.scalar(event, path)
        if not isinstance(key, str) or not key:
            raise self.error(
                event,
                f"expected a word as key, got {event.value[:60]!r}",
                path,
                mend=f"put it in quotes: '{event.value[:60]}': …",
            )
        self.count(event, 1)
        return key

    def scalar(self, event, path) -> object:
        """A plain (unquoted) word by the core schema of YAML 1.2, decimal numbers only."""
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if _NOT_FINITE.fullmatch(text):
            raise self.error(
                event,
                f"expected a finite number, got {text}",
                path,
                mend="leave the key out, or give a number",
            )
        if not _NUMBER.fullmatch(text):
            return text
        number = float(text)
        if not math.isfinite(number):
            raise self.error(
                event, f"{text[:40]} is too large for a number", path, mend="check the exponent"
            )
        return int(text) if _INTEGER.fullmatch(text) and len(text) < 300 else number
