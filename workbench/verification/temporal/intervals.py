"""The interval of a word in time: [a, b] in s."""

from __future__ import annotations

import math

from workbench.contract.errors import InputError
from workbench.contract.units import quantity
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.cursor import Words
from workbench.verification.temporal.refusal import refusal
from workbench.verification.temporal.tokens import Token


def interval(words: Words, past: bool) -> S.Interval:
    """[a, b] in s; without one, all there is."""
    if not words.sees("["):
        return S.Interval()
    opening = words.take()
    begin = _instant(words, None)
    words.expect(",", "between the two ends of an interval")
    end = _instant(words, "start" if past else "end")
    words.expect("]", "after the interval")
    if end < begin:
        words.refuse(
            opening,
            f"the interval is empty: it ends at {end:g} s, before it begins at {begin:g} s",
            f"write [{end:g} s, {begin:g} s]",
        )
    return S.Interval(begin, end)


def _instant(words: Words, last: str | None) -> float:
    """A time ≥ 0 in s, or the word for the end of the run (its start, looking back)."""
    token = words.take()
    if last is not None and token.kind == "name" and token.text in (last, "inf"):
        return math.inf
    if token.kind != "number":
        also = f" or {last}" if last else ""
        words.refuse(
            token,
            f"expected a time{also}, got {token.words}",
            "intervals count from the instant at which they are asked, such as [2 s, 30 s]",
        )
    return _seconds(words, token)


def _seconds(words: Words, token: Token) -> float:
    try:
        return quantity(f"{token.text} {token.unit}".strip(), "s")
    except InputError as why:
        raise refusal(words.text, token.column, why.message, why.mend) from None
