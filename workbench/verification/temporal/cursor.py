"""The words of a sentence, taken one after the other, and what has to stand where."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.refusal import refusal
from workbench.verification.temporal.tokens import Token, tokens

DEEPEST = 40  # brackets and operators inside each other; each takes a dozen calls inside each other
EXPRESSIONS = (S.Number, S.Constant, S.Name, S.Sum, S.Product, S.Call)


class Words:
    """A sentence and how far it is read; readers take words and ask what comes next."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at, self.depth = text, tokens(text), 0, 0

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

    def formula(self, read: Callable[[], S.Part], what: str) -> S.Formula:
        """What `read` finds, which has to be a formula."""
        first = self.next
        found = read()
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
        first = self.next
        found = read()
        if not isinstance(found, EXPRESSIONS):
            self.refuse(
                first,
                f"{what} has to be a quantity, and this is true or false",
                "take the comparison out of it",
            )
        return found

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
