"""Refusals with their place: an unknown word with the nearest one, a class's own refusal at the line of its field."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable
from typing import Any

from workbench.cases import shape
from workbench.cases.node import Node, after_comma
from workbench.contract.errors import Faults, InputError, in_words, short

MEANT = {"p_s": "p_top", "body": "joint"}  # a word of one part → what others call the same


def unknown(
    node: Node, key: str, known: Iterable[str], path: str = "", what: str = "key"
) -> InputError:
    """The error for a word that is not among the `known` ones: nearest one, and the list."""
    known = list(known)
    lower = {shape.spelled(k).lower(): k for k in known} | {k.lower(): k for k in known}
    near = dict.fromkeys(lower[n] for n in difflib.get_close_matches(key.lower(), lower, 2))
    if MEANT.get(key) in known:
        near = {MEANT[key]: None}
    listed = f"known: {', '.join(known) or 'none'}"
    place = joined(path, short(key)) if what == "key" else path
    mend = f"choose from those {listed}" if known else "take it out: nothing can be written here"
    if near:
        mend = f"did you mean {' or '.join(near)}? ({listed})"
    elif what == "key":
        mend = after_comma(key) or mend
    return node.error(f"there is no {what} {short(key)!r} here", key=place, mend=mend)


def joined(path: str, key: object) -> str:
    """The dotted path of a key below `path`."""
    return f"{path}.{key}" if path else str(key)


# What a class's own check may raise on odd numbers.
REFUSALS = (
    ValueError,
    TypeError,
    ArithmeticError,
    LookupError,
)


def refused_at(why: Exception, cls: type, node: Node, given: Any, path: str) -> InputError:
    """A class's own refusal, "field: message" or "field.inner: message", at the line of that field."""
    if isinstance(why, Faults):
        return why.each_as(lambda fault: refused_at(fault, cls, node, given, path))
    message, mend = (why.message, why.mend) if isinstance(why, InputError) else (in_words(why), "")
    match = re.match(r"([\w.]+): +(.*)", message, re.DOTALL)
    first, *inner = match[1].split(".") if match else ("",)
    if dataclasses.is_dataclass(cls) and first in shape.entries(cls):
        message = match[2]
        path = joined(path, match[1])
        node = given.get(first, node)
        for key in inner:
            node = node.value[key] if isinstance(node.value, dict) and key in node.value else node
    place = {"file": node.file or None, "line": node.line, "key": path or None}
    mend = mend or "change this value or the one it is compared with"
    named = match[1] if match else ""
    if isinstance(why, InputError) and (why.line or why.key not in (None, "", named)):
        return why.at(**place)
    return InputError(message, mend=mend, **place)
