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

import math
from collections.abc import Callable
from typing import Any, NoReturn

from workbench.contract.errors import InputError
from workbench.contract.units import quantity
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.refusal import refusal
from workbench.verification.temporal.tokens import FUNCTIONS, KEYWORDS, Token, tokens

DEEPEST = 40  # brackets and operators inside each other; each takes a dozen calls inside each other
EXPRESSIONS = (S.Number, S.Constant, S.Name, S.Sum, S.Product, S.Call)
COMPARED = ("<", "<=", ">", ">=")
TIMED = ("always", "eventually", "historically", "once")


def parse(text: str) -> S.Formula:
    """The formula in a sentence. Raises InputError with the column, what was expected there and how to mend it."""
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at, self.depth = text, tokens(text), 0, 0

    # ---- words ------------------------------------------------------------------------------------------------
    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def sees(self, *words: str) -> bool:
        """Whether one of these signs or keywords comes next."""
        return self.next.kind in ("sign", "keyword") and self.next.text in words

    def since(self, begin: int) -> S.Span:
        """The characters from `begin` to the end of the last word taken, brackets included."""
        return begin, self.tokens[self.at - 1].end

    def refuse(self, token: Token, what: str, mend: str) -> NoReturn:
        raise refusal(self.text, token.column, what, mend)

    def expect(self, sign: str, what: str) -> Token:
        if not self.sees(sign):
            self.refuse(
                self.next,
                f"expected {sign!r} {what}, got {self.next.words}",
                f"write {sign} here, or take out what is before it",
            )
        return self.take()

    # ---- formulas ---------------------------------------------------------------------------------------------
    def whole(self) -> S.Formula:
        found = self.formula(self.implication, "a requirement")
        if self.next.kind == "end":
            return found
        if self.next.kind == "keyword":
            mend = "set brackets around what belongs together"
        else:
            mend = "join formulas by and, or, implies; write 2 * x for a product"
        self.refuse(self.next, f"expected an operator or the end, got {self.next.words}", mend)

    def formula(self, read: Callable[[], S.Part], what: str) -> S.Formula:
        """What `read` finds, which has to be a formula."""
        first, found = self.next, read()
        if isinstance(found, EXPRESSIONS):
            piece = self.text[found.span[0] : found.span[1]][:40]
            self.refuse(
                first,
                f"{what} has to be true or false, and {piece!r} is a quantity",
                f"compare it, such as {piece} < 5 mm",
            )
        return found

    def expression(self, read: Callable[[], S.Part], what: str) -> S.Expression:
        """What `read` finds, which has to be a quantity."""
        first, found = self.next, read()
        if not isinstance(found, EXPRESSIONS):
            self.refuse(
                first,
                f"{what} has to be a quantity, and this is true or false",
                "take the comparison out of it",
            )
        return found

    def deeper(self, read: Callable[[], S.Part]) -> S.Part:
        """What `read` finds one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(
                self.next,
                f"brackets and operators more than {DEEPEST} levels deep",
                "state several requirements, each in a sentence of its own",
            )
        found = read()
        self.depth -= 1
        return found

    def implication(self) -> S.Part:
        begin, left = self.next.begin, self.disjunction()
        if not self.sees("implies"):
            return left
        self.must_hold(left, "what implies")
        self.take()
        right = self.formula(lambda: self.deeper(self.implication), "what is implied")
        return S.Junction("or", (S.Not(left, left.span), right), self.since(begin))

    def must_hold(self, part: S.Part, what: str) -> None:
        """Refuses a quantity on the left of an operator that takes formulas."""
        if isinstance(part, EXPRESSIONS):
            piece = self.text[part.span[0] : part.span[1]][:40]
            raise refusal(
                self.text,
                part.span[0] + 1,
                f"{what} has to be true or false, and {piece!r} is a quantity",
                f"compare it, such as {piece} < 5 mm",
            )

    def disjunction(self) -> S.Part:
        return self.junction("or", self.conjunction)

    def conjunction(self) -> S.Part:
        return self.junction("and", self.until)

    def junction(self, word: str, read: Callable[[], S.Part]) -> S.Part:
        begin, first = self.next.begin, read()
        if not self.sees(word):
            return first
        self.must_hold(first, f"what stands before {word}")
        parts = [first]
        while self.sees(word):
            self.take()
            parts.append(self.formula(read, f"what stands after {word}"))
        return S.Junction(word, tuple(parts), self.since(begin))  # type: ignore[arg-type]

    def until(self) -> S.Part:
        begin, left = self.next.begin, self.prefixed()
        if not self.sees("until", "since"):
            return left
        self.must_hold(left, f"what stands before {self.next.text}")
        kind: Any = self.take().text
        interval = self.interval(past=kind == "since")
        right = self.formula(self.prefixed, f"what stands after {kind}")
        if self.sees("until", "since"):
            self.refuse(
                self.next,
                f"two of until and since beside each other leave open which is meant first ({self.next.text})",
                "set brackets: (a until b) until c",
            )
        return S.Until(kind, interval, left, right, self.since(begin))

    def prefixed(self) -> S.Part:
        if self.sees("not"):
            word = self.take()
            part = self.formula(lambda: self.deeper(self.prefixed), "what stands after not")
            return S.Not(part, self.since(word.begin))
        if self.sees(*TIMED):
            word = self.take()
            kind: Any = word.text
            interval = self.interval(past=kind in ("historically", "once"))
            part = self.formula(lambda: self.deeper(self.prefixed), f"what stands after {kind}")
            return S.Timed(kind, interval, part, self.since(word.begin))
        return self.comparison()

    def interval(self, past: bool) -> S.Interval:
        """[a, b] in s; without one, all there is."""
        if not self.sees("["):
            return S.Interval()
        opening = self.take()
        begin = self.instant(None)
        self.expect(",", "between the two ends of an interval")
        end = self.instant("start" if past else "end")
        self.expect("]", "after the interval")
        if end < begin:
            self.refuse(
                opening,
                f"the interval is empty: it ends at {end:g} s, before it begins at {begin:g} s",
                f"write [{end:g} s, {begin:g} s]",
            )
        return S.Interval(begin, end)

    def instant(self, last: str | None) -> float:
        """A time ≥ 0 in s, or the word for the end of the run (its start, looking back)."""
        token = self.take()
        if last is not None and token.kind == "name" and token.text in (last, "inf"):
            return math.inf
        if token.kind != "number":
            also = f" or {last}" if last else ""
            self.refuse(
                token,
                f"expected a time{also}, got {token.words}",
                "intervals count from the instant at which they are asked, such as [2 s, 30 s]",
            )
        return self.seconds(token)

    def seconds(self, token: Token) -> float:
        try:
            return quantity(f"{token.text} {token.unit}".strip(), "s")
        except InputError as why:
            raise refusal(self.text, token.column, why.message, why.mend) from None

    # ---- comparisons and expressions --------------------------------------------------------------------------
    def comparison(self) -> S.Part:
        begins, first = [self.next.begin], self.sum()
        if not self.sees(*COMPARED):
            return first
        what = "a side of a comparison"
        if not isinstance(first, EXPRESSIONS):
            self.refuse(
                self.next, f"{what} has to be a quantity", "take the comparison out of the brackets"
            )
        left, links = first, []
        while self.sees(*COMPARED):
            operator: Any = self.take().text
            begins.append(self.next.begin)
            right = self.expression(self.sum, what)
            links.append(S.Comparison(operator, left, right, self.since(begins[-2])))
            left = right
        span = self.since(begins[0])
        return links[0] if len(links) == 1 else S.Junction("and", tuple(links), span)

    def sum(self) -> S.Part:
        return self.chain(("+", "-"), self.product, S.Sum)

    def product(self) -> S.Part:
        return self.chain(("*", "/"), self.factor, S.Product)

    def chain(
        self,
        signs: tuple[str, str],
        read: Callable[[], S.Part],
        made: type[S.Sum] | type[S.Product],
    ) -> S.Part:
        begin, first = self.next.begin, read()
        if not self.sees(*signs):
            return first
        what = "a term of a sum" if made is S.Sum else "a factor of a product"
        if not isinstance(first, EXPRESSIONS):
            self.refuse(self.next, f"{what} has to be a quantity", "take the comparison out of it")
        parts, directions = [first], [1]
        while self.sees(*signs):
            directions.append(1 if self.take().text == signs[0] else -1)
            parts.append(self.expression(read, what))
        return made(tuple(parts), tuple(directions), self.since(begin))

    def factor(self) -> S.Part:
        token = self.take()
        span = (token.begin, token.end)
        if token.kind == "number":
            return S.Number(token.text, token.unit, span)
        if token.kind == "name" and self.sees("("):
            return self.call(token)
        if token.kind == "name":
            return S.Name(token.text, span)
        if token.kind == "sign" and token.text == "-":
            part = self.expression(lambda: self.deeper(self.factor), "what stands after a minus")
            return S.Sum((part,), (-1,), self.since(token.begin))
        if token.kind == "sign" and token.text == "(":
            found = self.deeper(self.implication)
            self.expect(")", "that closes the bracket")
            return found
        mend = (
            f"{token.text} has to stand in brackets here: ({token.text} …)"
            if token.text in KEYWORDS
            else "write a signal, a number with its unit, or a bracket"
        )
        self.refuse(token, f"expected a quantity or a formula, got {token.words}", mend)

    def call(self, name: Token) -> S.Call:
        if name.text not in FUNCTIONS:
            self.refuse(
                name,
                f"there is no function {name.text[:40]!r}",
                f"choose from {', '.join(FUNCTIONS)}; always, eventually and their like stand before brackets",
            )
        self.take()
        what = f"what {name.text} takes"
        parts = [self.expression(lambda: self.deeper(self.sum), what)]
        while self.sees(","):
            self.take()
            parts.append(self.expression(lambda: self.deeper(self.sum), what))
        self.expect(")", f"that closes {name.text}(")
        if (len(parts) > 1) != (name.text in ("min", "max")):
            wanted = "two quantities or more" if name.text in ("min", "max") else "one quantity"
            self.refuse(name, f"{name.text} takes {wanted}, got {len(parts)}", "see the commas")
        return S.Call(name.text, tuple(parts), self.since(name.begin))
