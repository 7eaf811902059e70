"""What a field's annotation says of a number: its SI unit, its meaning, and the range it must lie in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """SI unit in which a field is stored, as pint spells it ("kg", "m^2", "Pa", "1")."""

    symbol: str


@dataclass(frozen=True)
class Bound:
    """Closed or open range a value must lie in; `words` completes 'must be …'."""

    low: float = -float("inf")
    high: float = float("inf")
    strict: bool = False
    words: str = ""

    def admits(self, value: float) -> bool:
        """True when `value` lies in the range (NaN never does)."""
        return self.low < value < self.high if self.strict else self.low <= value <= self.high


positive = Bound(low=0.0, strict=True, words="greater than zero")
nonnegative = Bound(low=0.0, words="zero or greater")


def up_to(most: int, least: int = 1) -> Bound:
    """Bound of a number of runs, nodes or tries: what is more than `most` is a slip of the pen, and would not end."""
    return Bound(low=least, high=most, words=f"{least} to {most}")


fraction = Bound(low=0.0, high=1.0, words="between 0 and 1")


@dataclass(frozen=True)
class Info:
    """What a field's annotation says: unit, meaning, bound."""

    unit: str
    meaning: str = ""
    bound: Bound = Bound()
