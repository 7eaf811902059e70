"""A sentence cut into words: numbers with their units, names, operators.

A unit follows its number: "200 bar", "10 deg/s", "350 N m", "1e-13 m^3/(s Pa)". Around the stroke of a unit there is no space, so
that "x / s" divides by a signal s and "5 mm/s" is a velocity. A name that is no plain word stands between backticks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from workbench.contract.errors import InputError
from workbench.verification.temporal.refusal import refusal

LONGEST = 10_000  # characters of a sentence
KEYWORDS = (
    "always",
    "eventually",
    "until",
    "historically",
    "once",
    "since",
    "not",
    "and",
    "or",
    "implies",
)
FUNCTIONS = ("abs", "sqrt", "min", "max")

_WORD = r"[^\W\d_]+(?:\^-?\d|[⁻¹²³]+)?(?!\w)"
_NEXT = rf"(?!(?:{'|'.join(KEYWORDS)})\b){_WORD}"
_UNIT = rf"%|°(?!\w)|(?:1|{_NEXT})(?:/{_NEXT}|/\({_NEXT}(?:[ ·]{_NEXT})*\)|[ ·]{_NEXT})+|{_NEXT}"
_GRAMMAR = re.compile(
    rf"""(?P<space>\s+)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?:[ ]*(?P<unit>{_UNIT}))?
    |(?P<name>[^\W\d]\w*(?:[.@]\w+)*)
    |`(?P<quoted>[^`]+)`
    |(?P<sign><=|>=|≤|≥|[<>+\-−*·/()\[\],])""",
    re.VERBOSE,
)
_ALIKE = {"≤": "<=", "≥": ">=", "−": "-", "·": "*"}
_FOREIGN = {
    "&&": "and",
    "&": "and",
    "||": "or",
    "|": "or",
    "!=": "not",
    "!": "not",
    "->": "implies",
    "=>": "implies",
    "→": "implies",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "□": "always",
    "◇": "eventually",
}


@dataclass(frozen=True)
class Token:
    """A word of the sentence at [begin, end); `unit` is that of a number."""

    kind: Literal["number", "name", "keyword", "sign", "end"]
    text: str
    begin: int
    end: int
    unit: str = ""

    @property
    def column(self) -> int:
        return self.begin + 1

    @property
    def words(self) -> str:
        """What it is, for messages."""
        return "the end of the sentence" if self.kind == "end" else repr(self.text[:40])


def tokens(text: str) -> list[Token]:
    """Words of a sentence, the last of kind "end". Raises InputError for what is no word, and for a sentence that is too long."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(
            "expected a sentence such as 'always[2 s, 30 s] (tool_error < 5 mm)'",
            mend="write it as text",
        )
    if len(text) > LONGEST:
        raise InputError(
            f"a sentence of {len(text)} characters, at most {LONGEST}",
            mend="state several requirements, each in a sentence of its own",
        )
    found = []
    at = 0
    while at < len(text):
        match = _GRAMMAR.match(text, at)
        if match is None:
            raise _foreign(text, at)
        token = _token(match)
        if token is not None:
            found.append(token)
        at = match.end()
    return [*found, Token("end", "", len(text), len(text))]


def _token(match: re.Match) -> Token | None:
    begin, end = match.span()
    if match["number"] is not None:
        return Token("number", match["number"], begin, end, match["unit"] or "")
    if match["name"] is not None:
        return Token("keyword" if match["name"] in KEYWORDS else "name", match["name"], begin, end)
    if match["quoted"] is not None:
        return Token("name", match["quoted"], begin, end)
    if match["sign"] is not None:
        return Token("sign", _ALIKE.get(match["sign"], match["sign"]), begin, end)
    return None


def _foreign(text: str, at: int) -> InputError:
    for sign, word in _FOREIGN.items():
        if text.startswith(sign, at):
            return refusal(text, at + 1, f"{sign!r} is no word of a requirement", f"write {word}")
    if text[at] == "=":
        mend = "write abs(a - b) <= 1 mm: two measured numbers are hardly ever equal"
        return refusal(text, at + 1, "equality cannot be asked", mend)
    if text[at] == "^":
        return refusal(text, at + 1, "powers cannot be asked", "write x*x for a square")
    mend = (
        "use names, numbers with units, + - * /, < <= > >=, brackets, and the words of the language"
    )
    return refusal(text, at + 1, f"{text[at]!r} cannot be read", mend)
