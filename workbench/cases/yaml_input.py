"""Untrusted YAML as a tree of Nodes that know their line: data only, within fixed limits.

What is read is the plain part of YAML 1.2: mappings with text keys, lists, text, true/false, null and decimal numbers
(`12`, `-0.5`, `1e-3`, `5e6`). Tags, merge keys, NaN and infinity are refused; aliases are
followed within limits. What looks like a number otherwise (`0x1F`, `1_000`) stays text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from workbench.cases.node import Node
from workbench.cases.yaml_events import _Reader
from workbench.contract.errors import InputError
from workbench.files import open_file

MAX_BYTES = 1_000_000


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
    ("\\t", "write spaces, not tabs"),
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
