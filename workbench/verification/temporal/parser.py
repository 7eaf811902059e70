"""A sentence in signal temporal logic, read by recursive descent.

    formula     binds, the loosest first
                a implies b · a or b · a and b · a until[0 s, 5 s] b, a since b
                not a · always[2 s, 30 s] a · eventually a · historically a · once a
                x < 5 mm · 1 bar < x <= 200 bar
                x + y, x - y · x * y, x / y · -x
                names · numbers with units · abs(x), sqrt(x), min(x, y), max(x, y) · ( … )

Brackets stand around formulas and expressions alike, so one descent reads both and each operator asks for what it takes.
Source: [MalerNickovic04] for the language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.cursor import EXPRESSIONS, Words
from workbench.verification.temporal.intervals import interval
from workbench.verification.temporal.quantities import Quantities

COMPARED = ("<", "<=", ">", ">=")
TIMED = ("always", "eventually", "historically", "once")


def parse(text: str) -> S.Formula:
    """The formula in a sentence. Raises InputError with the column, what was expected there and how to mend it."""
    return _Formulas(Words(text)).whole()


class _Formulas:
    """Reads formulas, the loosest operator first."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.sum = Quantities(words, self.implication).sum

    def whole(self) -> S.Formula:
        found = self.words.formula(self.implication, "a requirement")
        if self.words.next.kind == "end":
            return found
        if self.words.next.kind == "keyword":
            mend = "set brackets around what belongs together"
        else:
            mend = "join formulas by and, or, implies; write 2 * x for a product"
        self.words.refuse(
            self.words.next, f"expected an operator or the end, got {self.words.next.words}", mend
        )

    def implication(self) -> S.Part:
        begin = self.words.next.begin
        left = self.disjunction()
        if not self.words.sees("implies"):
            return left
        self.words.must_hold(left, "what implies")
        self.words.take()
        right = self.words.formula(lambda: self.words.deeper(self.implication), "what is implied")
        return S.Junction("or", (S.Not(left, left.span), right), self.words.since(begin))

    def disjunction(self) -> S.Part:
        return self.junction("or", self.conjunction)

    def conjunction(self) -> S.Part:
        return self.junction("and", self.until)

    def junction(self, word: str, read: Callable[[], S.Part]) -> S.Part:
        begin = self.words.next.begin
        first = read()
        if not self.words.sees(word):
            return first
        self.words.must_hold(first, f"what stands before {word}")
        parts = [first]
        while self.words.sees(word):
            self.words.take()
            parts.append(self.words.formula(read, f"what stands after {word}"))
        return S.Junction(word, tuple(parts), self.words.since(begin))  # type: ignore[arg-type]

    def until(self) -> S.Part:
        begin = self.words.next.begin
        left = self.prefixed()
        if not self.words.sees("until", "since"):
            return left
        self.words.must_hold(left, f"what stands before {self.words.next.text}")
        kind: Any = self.words.take().text
        within = interval(self.words, past=kind == "since")
        right = self.words.formula(self.prefixed, f"what stands after {kind}")
        if self.words.sees("until", "since"):
            self.words.refuse(
                self.words.next,
                f"two of until and since beside each other leave open which is meant first ({self.words.next.text})",
                "set brackets: (a until b) until c",
            )
        return S.Until(kind, within, left, right, self.words.since(begin))

    def prefixed(self) -> S.Part:
        if self.words.sees("not"):
            word = self.words.take()
            part = self.words.formula(
                lambda: self.words.deeper(self.prefixed), "what stands after not"
            )
            return S.Not(part, self.words.since(word.begin))
        if self.words.sees(*TIMED):
            word = self.words.take()
            kind: Any = word.text
            within = interval(self.words, past=kind in ("historically", "once"))
            part = self.words.formula(
                lambda: self.words.deeper(self.prefixed), f"what stands after {kind}"
            )
            return S.Timed(kind, within, part, self.words.since(word.begin))
        return self.comparison()

    def comparison(self) -> S.Part:
        begins = [self.words.next.begin]
        first = self.sum()
        if not self.words.sees(*COMPARED):
            return first
        what = "a side of a comparison"
        if not isinstance(first, EXPRESSIONS):
            self.words.refuse(
                self.words.next,
                f"{what} has to be a quantity",
                "take the comparison out of the brackets",
            )
        left = first
        links = []
        while self.words.sees(*COMPARED):
            operator: Any = self.words.take().text
            begins.append(self.words.next.begin)
            right = self.words.expression(self.sum, what)
            links.append(S.Comparison(operator, left, right, self.words.since(begins[-2])))
            left = right
        span = self.words.since(begins[0])
        return links[0] if len(links) == 1 else S.Junction("and", tuple(links), span)
