"""Sentences that nothing can meet: one expression asked to be above and below numbers that leave no room between.

x > a and x < b       with a ≥ b, of the same x at the same instants;  with ≥ and ≤ only where a > b
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.refusal import refusal
from workbench.verification.temporal.terms import constant

When = tuple  # the intervals that a comparison stands under
Side = tuple[str, float, bool, S.Comparison]  # words, number, whether above it, comparison


def check_contradiction(text: str, formula: S.Formula) -> None:
    """InputError, at the later of two comparisons joined by `and` that cannot both be true. Numbers are in SI."""
    if isinstance(formula, S.Junction) and formula.kind == "and":
        _check_joined(text, formula)
    for part in S.parts_of(formula):
        check_contradiction(text, part)


def _check_joined(text: str, formula: S.Formula) -> None:
    seen: dict[tuple, list[Side]] = {}
    for when, comparison in _joined(formula, ()):
        side = _bound(text, comparison)
        if side is None:
            continue
        others = seen.setdefault((when, side[0]), [])
        other = next((one for one in others if _excludes(one, side)), None)
        if other is not None:
            told = [" ".join(text[c.span[0] : c.span[1]].split()) for c in (other[3], comparison)]
            what = f"{told[1]} contradicts {told[0]}: nothing meets both"
            raise refusal(text, comparison.span[0] + 1, what, "exchange the numbers, or write `or`")
        others.append(side)


def _joined(formula: S.Formula, when: When) -> Iterator[tuple[When, S.Comparison]]:
    """Comparisons that must all be true, with the intervals they are asked over."""
    if isinstance(formula, S.Comparison):
        yield when, formula
    elif isinstance(formula, S.Junction) and formula.kind == "and":
        for part in formula.parts:
            yield from _joined(part, when)
    elif isinstance(formula, S.Timed) and formula.every:
        yield from _joined(formula.part, (*when, (formula.past, formula.interval)))


def _bound(text: str, comparison: S.Comparison) -> Side | None:
    """What is bounded, by which number, and whether it has to be above; None where both sides have signals."""
    for side, other, flips in (
        (comparison.left, comparison.right, False),
        (comparison.right, comparison.left, True),
    ):
        number = constant(other)
        if number is not None:
            above = (comparison.operator in (">", ">=")) != flips
            return "".join(text[side.span[0] : side.span[1]].split()), number, above, comparison
    return None


def _excludes(one: Side, other: Side) -> bool:
    """Whether a lower and an upper bound leave nothing between."""
    if one[2] == other[2]:
        return False
    low, high = (one, other) if one[2] else (other, one)
    strict = low[3].strict or high[3].strict
    return low[1] > high[1] or strict and low[1] == high[1]
