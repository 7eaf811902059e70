"""Units of expressions, and their values on a run.

    unit_of(part, table)        SI unit of an expression, None for a plain number that takes that of its neighbour
    checked(formula, table)     the formula with every number in SI, once all units fit
    value(part, columns)        values (N,) of an expression

Sums, min, max and comparisons want one unit on all sides; products and quotients multiply units; abs keeps it, sqrt halves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np

from workbench.contract.dimensions import alike, multiplied, root
from workbench.contract.errors import InputError
from workbench.contract.units import expected, measured, stated
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.refusal import refusal, unknown
from workbench.verification.temporal.tokens import tokens

Table = Mapping[str, str]  # signal → its unit


class Units:
    """The units of a sentence whose signals are in `table`."""

    def __init__(self, text: str, table: Table) -> None:
        self.text, self.table = text, table
        self.plain: dict[S.Span, str] = {}  # numbers without a unit → the one that they take

    @property
    def whole(self) -> str:
        """The sentence, once its numbers are in SI, with the unit that every plain number takes: 5 beside metres is 5 m."""
        text = self.text
        for (_, end), unit in sorted(self.plain.items(), reverse=True):
            text = f"{text[:end]} {unit}{text[end:]}"
        return text

    # ---- units ------------------------------------------------------------------------------------------------
    def of(self, part: S.Expression) -> str | None:
        """SI unit of an expression; None for a plain number. Raises InputError."""
        if isinstance(part, S.Constant):
            return None
        if isinstance(part, S.Number):
            return self._written(part)
        if isinstance(part, S.Name):
            if part.name not in self.table:
                raise unknown(self.text, part.span[0] + 1, part.name, self.table)
            return self.table[part.name] or "1"
        if isinstance(part, S.Product):
            return self._product(part)
        common = self._common(part.parts)
        if isinstance(part, S.Call) and part.function == "sqrt":
            return None if common is None else root(common)
        return common

    def _written(self, number: S.Number) -> str | None:
        if not number.unit:
            return None
        found = measured(f"{number.text} {number.unit}")
        if found is None:
            what = f"the unit {number.unit!r} is not known"
            mend = f"write {number.text} * {number.unit} if a signal is meant"
            raise refusal(self.text, number.span[0] + 1, what, mend)
        return found[1] or "1"

    def _product(self, product: S.Product) -> str | None:
        units = [self.of(part) for part in product.parts]
        if all(unit is None for unit in units):
            return None
        found = "1"
        for part, unit, sign in zip(product.parts, units, product.signs):
            made = multiplied(found, unit or "1", sign)
            if made is None:
                what = f"the unit of this product cannot be told ({found} and {unit})"
                raise refusal(self.text, part.span[0] + 1, what, "compare its factors one by one")
            found = made
        return found

    def _common(self, parts: tuple[S.Expression, ...]) -> str | None:
        """The unit of parts that are to have one: that of the first with a signal, else of the first with a unit."""
        ordered = sorted(parts, key=lambda part: not S.names_in(part))
        return next((unit for unit in map(self.of, ordered) if unit is not None), None)

    # ---- numbers in SI ----------------------------------------------------------------------------------------
    def formula(self, formula: S.Formula) -> S.Formula:
        """The formula with every number in SI. Raises InputError with the column of what does not fit."""
        if isinstance(formula, S.Comparison):
            return self.comparison(formula)
        if isinstance(formula, S.Junction):
            return replace(formula, parts=tuple(self.formula(part) for part in formula.parts))
        if isinstance(formula, S.Until):
            return replace(
                formula, left=self.formula(formula.left), right=self.formula(formula.right)
            )
        return replace(formula, part=self.formula(formula.part))

    def comparison(self, made: S.Comparison) -> S.Comparison:
        sides = (made.left, made.right)
        if not any(S.names_in(side) for side in sides):
            what = "this comparison has no signal: it is true or false whatever happens"
            near = ", ".join(sorted(self.table)[:12])
            raise refusal(self.text, made.span[0] + 1, what, f"compare a signal, such as {near}")
        unit = self._common(sides) or "1"
        return replace(made, left=self.si(made.left, unit), right=self.si(made.right, unit))

    def si(self, part: S.Expression, unit: str) -> S.Expression:
        """The part, which is to have this unit, with its numbers in SI."""
        if isinstance(part, S.Constant):
            return part
        if isinstance(part, S.Number):
            return S.Constant(self._number(part, unit), part.span)
        if isinstance(part, S.Name):
            self._fits(part, unit)
            return part
        if isinstance(part, S.Product):
            self._fits(part, unit)
            self._written_out(part, unit)
            inner = tuple(self.si(factor, self.of(factor) or "1") for factor in part.parts)
            return replace(part, parts=inner)
        if isinstance(part, S.Call) and part.function == "sqrt":
            self._fits(part, unit)
            unit = self._common(part.parts) or "1"
        return replace(part, parts=tuple(self.si(inner, unit) for inner in part.parts))

    def _number(self, number: S.Number, unit: str) -> float:
        try:
            value = stated(f"{number.text} {number.unit}".strip(), unit)
        except InputError as why:
            raise refusal(self.text, number.span[0] + 1, why.message, why.mend) from None
        if not number.unit and value and unit != "1" and _can_be_read(unit):
            self.plain[number.span] = unit
        return value

    def _written_out(self, product: S.Product, unit: str) -> None:
        """InputError for a product of plain numbers beside quantities: nothing in it shows the unit that it takes."""
        if unit == "1" or S.names_in(product) or self.of(product) is not None:
            return
        number = float(value(self.si(product, "1"), {}))
        if number == 0.0:
            return
        piece = self.text[product.span[0] : product.span[1]][:40]
        what = f"{piece} has no unit, and stands beside what is in {unit}"
        mend = f"write one number with its unit: {number:.6g} {unit}"
        raise refusal(self.text, product.span[0] + 1, what, mend)

    def _fits(self, part: S.Expression, unit: str) -> None:
        own = self.of(part) or unit
        if alike(own, unit):
            return
        piece = self.text[part.span[0] : part.span[1]][:40]
        what = f"{expected(unit)}; {piece} is in {own}"
        raise refusal(self.text, part.span[0] + 1, what, "compare and add quantities of one kind")


def _can_be_read(unit: str) -> bool:
    """Whether a number in this unit can be written in a sentence."""
    try:
        number, *others = tokens(f"1 {unit}")
    except InputError:  # a sign that no sentence has, such as °
        return False
    return number.unit == unit and len(others) == 1 and measured(f"1 {unit}") is not None


def unit_of(comparison: S.Comparison, units: Units) -> str:
    """SI unit of both sides of a comparison, that of its margin."""
    return units._common((comparison.left, comparison.right)) or "1"


# ---- values -----------------------------------------------------------------------------------------------------
_CHOICES = {"min": np.minimum, "max": np.maximum}


def value(part: S.Expression, columns: Mapping[str, np.ndarray]):
    """Values of an expression whose numbers are in SI: (N,), or a float where it has no signal; NaN where there is none."""
    if isinstance(part, S.Constant):
        return part.value
    if isinstance(part, S.Name):
        return columns[part.name]
    inner = [value(each, columns) for each in part.parts]
    if isinstance(part, S.Sum):
        terms = [each if sign > 0 else -each for each, sign in zip(inner, part.signs)]
        return reduce(np.add, terms)
    if isinstance(part, S.Product):
        return _multiplied(inner, part.signs)
    if part.function in _CHOICES:
        return reduce(_CHOICES[part.function], inner)
    return np.abs(inner[0]) if part.function == "abs" else np.sqrt(inner[0])


def _multiplied(factors: list, signs: tuple[int, ...]):
    found = factors[0]
    for factor, sign in zip(factors[1:], signs[1:]):
        found = np.multiply(found, factor) if sign > 0 else np.divide(found, factor)
    return found


def margin(comparison: S.Comparison, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """How far a comparison is met (N,): larger side less smaller side, negative where it is broken, in the unit of both."""
    with np.errstate(all="ignore"):
        left = value(comparison.left, columns)
        right = value(comparison.right, columns)
        return right - left if comparison.operator in ("<", "<=") else left - right


def constant(part: S.Expression) -> float | None:
    """The value of an expression without signals; None for one with some."""
    if S.names_in(part):
        return None
    with np.errstate(all="ignore"):
        return float(value(part, {}))
