"""The sentences with which a user's class is refused: where, what is wrong, what to write instead."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Sequence
from pathlib import Path

from workbench.contract.capabilities import Named
from workbench.contract.errors import InputError

_WORKBENCH = Path(__file__).parents[1]
# What a line of the user's holds → what to write in its place; the first that fits is said.
_INSTEAD = (
    (
        r"\bmath\.(\w+)|\bcmath\.(\w+)",
        "write np.{0} in place of math.{0}: the functions of NumPy work on expressions, too",
    ),
    (
        r"\b(?:if|elif|while|assert)\b",
        "write np.where(condition, a, b) in place of `if`: the same text must serve both sides",
    ),
    (r"\b(min|max)\(", "write np.{0}imum(a, b) in place of {0}(a, b)"),
    (
        r"\b(?:and|or|not|in)\b",
        "write np.logical_and, np.logical_or, np.logical_not inside np.where in place of and, or, not",
    ),
    (
        r"\bfloat\(|\bint\(|\.item\(|\bbool\(",
        "leave out float(…), int(…) and .item(): values stay what they are",
    ),
    (
        r"np\.(?:zeros|ones|empty|full|array|asarray)|\w+\[.*\]\s*[-+*/]?=",
        "write vectors as lists, [a, b], not as arrays of numbers that expressions are put into",
    ),
)
_GENERAL = (
    "write it with + − * / **, NumPy functions of one number (np.sin, np.sqrt, np.where, np.minimum) and lists; a law that "
    "needs more of Python is given as a function f(t, y, r) → u, which is called at every sample"
)


def failed(who: str, method: str, why: Exception, on_symbols: bool = False) -> InputError:
    """An exception out of a user's text, as a sentence with its file and line."""
    file, line, text = _place(why)
    if not on_symbols:
        said = f"{who}.{method} fails at its start values: {type(why).__name__}: {_first(why)}"
        mend = "it must work on the lists that `states`, `inputs` and `measured` promise, in their order"
        if isinstance(why, TypeError) and "argument" in str(why):
            mend = "give it the arguments that workbench.contract.system names: rhs(self, t, x, u), command(self, t, z, y, r), …"
        return InputError(said, file=file, line=line, mend=mend)
    said = (
        f"{who}.{method} works on numbers and not on expressions, which its equations are traced with"
        + (f": {text}" if text else f" ({type(why).__name__}: {_first(why)})")
    )
    return InputError(said, file=file, line=line, mend=_instead(text))


def unsteady(who: str, method: str) -> InputError:
    """The refusal of a method that answers the same question in two ways."""
    return InputError(
        f"{who}.{method} gives other numbers when it is called again with the same ones",
        mend="keep nothing on self and draw nothing at random: memory is a state (`states`, `rhs`, `step`), and "
        "noise a Noisy wrapper",
    )


def two_minds(who: str, method: str, i: int, wanted: Sequence | None) -> InputError:
    """Numbers and symbols disagree."""
    name = ""
    if wanted and i < len(wanted):
        signal = wanted[i]
        name = f" ({signal.name if isinstance(signal, Named) else signal})"
    return InputError(
        f"{who}.{method} says one thing on numbers and another on expressions: its entry number {i + 1}{name}",
        mend="do not ask what type a value has, and choose with np.where, np.minimum, np.maximum, np.clip only",
    )


def _place(why: Exception) -> tuple[str | None, int | None, str]:
    """(file, line, text) of the last line of the user's that was running."""
    frames = [
        f
        for f in traceback.extract_tb(why.__traceback__)
        if _WORKBENCH not in Path(f.filename).parents
    ]
    frames = [
        f
        for f in frames
        if "site-packages" not in f.filename and f.filename != "<__array_function__ internals>"
    ]
    if not frames:
        return None, None, ""
    last = frames[-1]
    text = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return last.filename, last.lineno, text[:120]


def _first(why: Exception) -> str:
    return str(why).split("\n")[0][:160]


def _instead(text: str) -> str:
    for pattern, words in _INSTEAD:
        found = re.search(pattern, text)
        if found:
            return words.format(next((g for g in found.groups() if g), ""))
    return _GENERAL
