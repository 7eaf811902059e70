"""Expressions: sums, products, signals, numbers with units, functions."""

from __future__ import annotations

from collections.abc import Callable

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.cursor import EXPRESSIONS, Words
from workbench.verification.temporal.tokens import FUNCTIONS, KEYWORDS, Token


class Quantities:
    """Reads expressions; `inside` reads what stands in a bracket, which may be a formula as well."""

    def __init__(self, words: Words, inside: Callable[[], S.Part]) -> None:
        self.words, self.inside = words, inside

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
        begin = self.words.next.begin
        first = read()
        if not self.words.sees(*signs):
            return first
        what = "a term of a sum" if made is S.Sum else "a factor of a product"
        if not isinstance(first, EXPRESSIONS):
            self.words.refuse(
                self.words.next, f"{what} has to be a quantity", "take the comparison out of it"
            )
        parts = [first]
        directions = [1]
        while self.words.sees(*signs):
            directions.append(1 if self.words.take().text == signs[0] else -1)
            parts.append(self.words.expression(read, what))
        return made(tuple(parts), tuple(directions), self.words.since(begin))

    def factor(self) -> S.Part:
        token = self.words.take()
        span = (token.begin, token.end)
        if token.kind == "number":
            return S.Number(token.text, token.unit, span)
        if token.kind == "name" and self.words.sees("("):
            return self.call(token)
        if token.kind == "name":
            return S.Name(token.text, span)
        if token.kind == "sign" and token.text == "-":
            part = self.words.expression(
                lambda: self.words.deeper(self.factor), "what stands after a minus"
            )
            return S.Sum((part,), (-1,), self.words.since(token.begin))
        if token.kind == "sign" and token.text == "(":
            found = self.words.deeper(self.inside)
            self.words.expect(")", "that closes the bracket")
            return found
        mend = (
            f"{token.text} has to stand in brackets here: ({token.text} …)"
            if token.text in KEYWORDS
            else "write a signal, a number with its unit, or a bracket"
        )
        self.words.refuse(token, f"expected a quantity or a formula, got {token.words}", mend)

    def call(self, name: Token) -> S.Call:
        if name.text not in FUNCTIONS:
            self.words.refuse(
                name,
                f"there is no function {name.text[:40]!r}",
                f"choose from {', '.join(FUNCTIONS)}; always, eventually and their like stand before brackets",
            )
        self.words.take()
        what = f"what {name.text} takes"
        parts = [self.words.expression(lambda: self.words.deeper(self.sum), what)]
        while self.words.sees(","):
            self.words.take()
            parts.append(self.words.expression(lambda: self.words.deeper(self.sum), what))
        self.words.expect(")", f"that closes {name.text}(")
        if (len(parts) > 1) != (name.text in ("min", "max")):
            wanted = "two quantities or more" if name.text in ("min", "max") else "one quantity"
            self.words.refuse(
                name, f"{name.text} takes {wanted}, got {len(parts)}", "see the commas"
            )
        return S.Call(name.text, tuple(parts), self.words.since(name.begin))
