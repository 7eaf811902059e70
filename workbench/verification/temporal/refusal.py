"""How a sentence is refused: the piece around the column, what was expected there, how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from workbench.contract.errors import InputError, short

AROUND = 30  # characters of the sentence that a message repeats on either side


def refusal(text: str, column: int, what: str, mend: str) -> InputError:
    """The error at a column of the sentence, counted from 1."""
    begin = max(0, column - 1 - AROUND)
    end = column - 1 + AROUND
    piece = " ".join(text[begin:end].split())
    before = "…" if begin else ""
    after = "…" if end < len(text) else ""
    where = f"column {column}, in “{before}{piece}{after}”" if piece else f"column {column}"
    return InputError(f"{where}: {what}", mend=mend)


def unknown(text: str, column: int, name: str, known: Iterable[str]) -> InputError:
    """The refusal of a signal that there is not, with the nearest names."""
    names = sorted(known)
    near = difflib.get_close_matches(name[:80], names, 3)
    mend = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"choose from {short(', '.join(names), 600) or 'none'}"
    )
    return refusal(text, column, f"there is no signal {short(name)!r}", mend)
