"""The parts of a requirement: expressions over signals, comparisons of them, formulas in time.

Every part knows its `span`, the characters [begin, end) of the sentence that it was read from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Span = tuple[int, int]


@dataclass(frozen=True)
class Number:
    """A number and its unit as they are written, such as "200 bar"; `unit` is empty for a plain number."""

    text: str
    unit: str
    span: Span


@dataclass(frozen=True)
class Constant:
    """A number in SI units."""

    value: float
    span: Span


@dataclass(frozen=True)
class Name:
    """A signal."""

    name: str
    span: Span


@dataclass(frozen=True)
class Sum:
    """Σ ± parts."""

    parts: tuple[Expression, ...]
    signs: tuple[int, ...]
    span: Span


@dataclass(frozen=True)
class Product:
    """Π parts^±1; a sign of −1 divides."""

    parts: tuple[Expression, ...]
    signs: tuple[int, ...]
    span: Span


@dataclass(frozen=True)
class Call:
    """abs, sqrt, min or max of its parts."""

    function: str
    parts: tuple[Expression, ...]
    span: Span


Expression = Number | Constant | Name | Sum | Product | Call


@dataclass(frozen=True)
class Comparison:
    """A comparison left < right, left <= right, left > right or left >= right."""

    operator: Literal["<", "<=", ">", ">="]
    left: Expression
    right: Expression
    span: Span

    @property
    def strict(self) -> bool:
        """Whether equality breaks it."""
        return self.operator in ("<", ">")


@dataclass(frozen=True)
class Interval:
    """[begin, end] in s from the instant at which it is asked, forwards or backwards; `end` may be infinite."""

    begin: float = 0.0
    end: float = math.inf


@dataclass(frozen=True)
class Not:
    part: Formula
    span: Span


@dataclass(frozen=True)
class Junction:
    """All of the parts (kind "and"), or one of them at least ("or")."""

    kind: Literal["and", "or"]
    parts: tuple[Formula, ...]
    span: Span


@dataclass(frozen=True)
class Timed:
    """The part at every instant of the interval, or at one of them; later instants or earlier ones."""

    kind: Literal["always", "eventually", "historically", "once"]
    interval: Interval
    part: Formula
    span: Span

    @property
    def past(self) -> bool:
        return self.kind in ("historically", "once")

    @property
    def every(self) -> bool:
        return self.kind in ("always", "historically")


@dataclass(frozen=True)
class Until:
    """`right` at an instant of the interval, `left` from now until just before; "since" looks back."""

    kind: Literal["until", "since"]
    interval: Interval
    left: Formula
    right: Formula
    span: Span

    @property
    def past(self) -> bool:
        return self.kind == "since"


Formula = Comparison | Not | Junction | Timed | Until
Part = Expression | Formula


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The formulas that a formula is made of, in the order of the sentence."""
    if isinstance(formula, Comparison):
        return ()
    if isinstance(formula, Junction):
        return formula.parts
    if isinstance(formula, Until):
        return formula.left, formula.right
    return (formula.part,)


def comparisons(formula: Formula) -> list[Comparison]:
    """Every comparison in a formula, in the order of the sentence."""
    if isinstance(formula, Comparison):
        return [formula]
    return [found for part in parts_of(formula) for found in comparisons(part)]


def conditions(formula: Formula) -> list[Formula]:
    """What `a implies b`, which is `not a or b`, makes its condition: every such a, in the order of the sentence."""
    own = [part.part for part in _turned(formula)]
    return own + [found for part in parts_of(formula) for found in conditions(part)]


def _turned(formula: Formula) -> list[Not]:
    """The parts `not a` of an `or` that make a its condition; the last one is no condition where there is nothing else: it is what
    `a implies not b` asks for."""
    if not isinstance(formula, Junction) or formula.kind != "or":
        return []
    found = [part for part in formula.parts if isinstance(part, Not)]
    return found[:-1] if len(found) == len(formula.parts) else found


def ruled_out(formula: Formula, wanted: bool = True, own: bool = True) -> list[Junction]:
    """Every `a and b` that a sentence rules out, by `not (a and b)` or `not (eventually (a and b))`, in its order.

    So is `a until b` under a `not`: both of it. That which is a condition of `implies` is none.
    wanted: whether the formula has to be true; under one `not` it has to be false. own: whether it may be one itself.
    """
    if isinstance(formula, Not):
        return ruled_out(formula.part, not wanted)
    both = _together(formula) if own and not wanted else None
    found = [] if both is None else [both]
    turned = _turned(formula)
    for part in parts_of(formula):
        if part in turned:
            found += ruled_out(part.part, not wanted, False)
        else:
            found += ruled_out(part, wanted, own and both is None)
    return found


def _together(formula: Formula) -> Junction | None:
    """The parts that have to come together for a formula to be true; None of one that is no such."""
    if isinstance(formula, Until):
        return Junction("and", (formula.left, formula.right), formula.span)
    return formula if isinstance(formula, Junction) and formula.kind == "and" else None


def looks_ahead(formula: Formula) -> bool:
    """Whether a formula says anything of later instants than the one at which it is asked."""
    ahead = isinstance(formula, Timed | Until) and not formula.past and formula.interval.end > 0
    return ahead or any(looks_ahead(part) for part in parts_of(formula))


def at_last_alone(formula: Formula, length: float = math.inf) -> bool:
    """Whether a formula, asked of a run of this length (s), says something of its last instant alone.

    On samples that end, `eventually (always a)` is true where a is true at the last of them, and false elsewhere; so is
    `always (eventually a)`. The inner interval has no end, the outer one goes to the end of the run.
    """
    if isinstance(formula, Junction):
        return any(at_last_alone(part, length) for part in formula.parts)
    if not isinstance(formula, Timed) or formula.past or formula.interval.end < length:
        return False
    inner = formula.part
    if not isinstance(inner, Timed) or inner.past or math.isfinite(inner.interval.end):
        return False
    return inner.every != formula.every and inner.interval.begin == 0


def names_in(expression: Expression) -> list[str]:
    """Signals of an expression, each once, in the order of the sentence."""
    if isinstance(expression, Name):
        return [expression.name]
    if isinstance(expression, Number | Constant):
        return []
    return list(dict.fromkeys(name for part in expression.parts for name in names_in(part)))


def signals_in(formula: Formula) -> list[str]:
    """Signals of a formula, each once, in the order of the sentence."""
    sides = [side for c in comparisons(formula) for side in (c.left, c.right)]
    return list(dict.fromkeys(name for side in sides for name in names_in(side)))
