"""The note-taker of comparisons: what the text of a function compares, written down while it answers as Python does.

In the text of a function every comparison of numbers, every condition made of several (`and`, `or`, `&`, `|`, `all`, `any`), and
every `min`, `max`, `clip`, `sign`, `copysign` and their kin, is handed to `Notes`. The margin of a condition is 1 where it is met
and −1 where it is not: whether parts of it were met says nothing of the whole. The code of a function is made anew from that text,
so that it knows the same names; a function whose text cannot be had (no file, several lambdas on a line) has none.
"""

from __future__ import annotations

import ast
import linecache
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from workbench.verification.practical.switches.graph import TIE

NOTE = "__fluidproof_compared__"  # the note-taker, among the globals of the law's functions while it is asked
COMPARED: dict[type, Callable] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
OPERATORS = {one.__name__: one for one in COMPARED.values()}
# What a margin of zero counts as: it has the sign of the side that is taken there.
TIES = {"lt": TIE, "le": -TIE, "gt": -TIE, "ge": TIE}
WHICH = operator.attrgetter(
    "co_qualname", "co_firstlineno", "co_varnames", "co_freevars", "co_cellvars"
)
PAIRED = ("min", "max", "minimum", "maximum", "fmin", "fmax", "clip")
SIGNED = {"sign": 0, "copysign": 1}  # function → which argument's sign it takes
DECIDED = ("all", "any")


class Notes:
    """The note-taker: margins of every place in the law's text since the last look."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.places: dict[tuple, int] = {}
        self.conditions: set[int] = set()
        self.low: list[float] = []
        self.high: list[float] = []

    def place(self, key: tuple, text: str) -> int:
        """The number of a place in a text."""
        if key not in self.places:
            self.places[key] = len(self.texts)
            self.texts.append(text)
            self.low.append(np.nan)
            self.high.append(np.nan)
        return self.places[key]

    def parts(self, k: int) -> list[int]:
        """Places within the text of a condition; none of any other place."""
        if k not in self.conditions:
            return []
        keys = list(self.places)
        return [i for i, other in enumerate(keys) if i != k and _inside_of(other, keys[k])]

    def take(self, k: int, a: Any, b: Any, tie: float = 0.0) -> None:
        """Note the margin of two numbers, or of arrays of them, `tie` where it is zero; what is no number is passed over."""
        if isinstance(a, float) and isinstance(b, float):
            self._note(k, float(a) - float(b) or tie)
            return
        try:
            margin = np.subtract(np.asarray(a, float), np.asarray(b, float))
        except (TypeError, ValueError):
            return
        margin = np.where(margin == 0.0, tie, margin)
        if margin.size:
            self._note(k, float(margin.min()))
            self._note(k, float(margin.max()))

    def _note(self, k: int, margin: float) -> None:
        """Widen what was noted of a place by a margin; one that is no number is passed over."""
        if math.isnan(margin):
            return
        if not self.low[k] <= margin:
            self.low[k] = margin
        if not self.high[k] >= margin:
            self.high[k] = margin

    def compared(self, places: Sequence[int], how: Sequence[str], *values: Any) -> Any:
        """The answer of a comparison of these values, one with the next."""
        found: Any = True
        for k, name, a, b in zip(places, how, values, values[1:]):
            self.take(k, a, b, TIES[name])
            answer = OPERATORS[name](a, b)
            if len(how) == 1:
                return answer
            found = found and answer
        return found

    def decided(self, places: Sequence[int], met: Any) -> Any:
        """A condition made of several, as it came out; what is no truth value is passed over."""
        if isinstance(met, bool | np.bool_):
            self.take(places[0], 1.0 if met else -1.0, 0.0)
        return met

    def called(
        self, places: Sequence[int], name: str, f: Callable, *values: Any, **named: Any
    ) -> Any:
        """What a function of these values gives, that takes the larger, the smaller or the sign of them."""
        if name in SIGNED and len(values) > SIGNED[name]:
            self.take(places[0], values[SIGNED[name]], 0.0)
        else:
            first, *others = values
            for k, other in zip(places, others):
                self.take(k, first, other)
        return f(*values, **named)

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        """(least, largest) margins since the last look."""
        found = np.array(self.low), np.array(self.high)
        self.low = [np.nan] * len(self.low)
        self.high = [np.nan] * len(self.high)
        return found


def _inside_of(one: tuple, other: tuple) -> bool:
    """Whether a place, as `Notes` numbers it, lies within the text of another."""
    code, begin, end, _ = one
    return code == other[0] and other[1] <= begin and end <= other[2]


class _Noted(ast.NodeTransformer):
    """A text whose comparisons are made by the note-taker `NOTE`."""

    def __init__(self, notes: Notes, code: CodeType):
        self.notes, self.code = notes, code

    def _place(self, node: ast.expr, text: str, number: int) -> ast.Constant:
        begin = (node.lineno, node.col_offset)
        key = (self.code, begin, (node.end_lineno, node.end_col_offset), number)
        return ast.Constant(self.notes.place(key, f"`{text}` (line {node.lineno})"))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        if not all(type(op) in COMPARED for op in node.ops):
            return node
        places = [self._place(node, text, i) for i in range(len(node.ops))]
        how = [ast.Constant(COMPARED[type(op)].__name__) for op in node.ops]
        made = self._noted(node, "compared", places, how, [node.left, *node.comparators])
        return made if len(places) == 1 else self._condition(made, text, len(places))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        return self._condition(node, text)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        return self._condition(node, text) if isinstance(node.op, ast.BitAnd | ast.BitOr) else node

    def _condition(self, node: ast.expr, text: str, number: int = 0) -> ast.Call:
        place = self._place(node, text, number)
        self.notes.conditions.add(place.value)
        return self._noted(node, "decided", [place], [], [node])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        name = _name(node.func)
        if name in DECIDED:
            return self._condition(node, text)
        plain = not any(isinstance(one, ast.Starred) for one in node.args)
        if name not in (*PAIRED, *SIGNED) or not plain or not node.args:
            return node
        places = [self._place(node, text, i) for i in range(max(1, len(node.args) - 1))]
        made = self._noted(node, "called", places, [], [ast.Constant(name), node.func, *node.args])
        made.keywords = node.keywords
        return made

    def _noted(
        self, node: ast.expr, method: str, places: list, how: list, values: list
    ) -> ast.Call:
        def listed(parts: list) -> ast.expr:
            return ast.Tuple(parts, ast.Load())

        taker = ast.Attribute(ast.Name(NOTE, ast.Load()), method, ast.Load())
        first = [listed(places), *([listed(how)] if how else [])]
        return ast.copy_location(ast.Call(taker, [*first, *values], []), node)


def _name(function: ast.expr) -> str:
    """What a function is called by, without where it stands."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def noted(function: FunctionType, notes: Notes) -> CodeType | None:
    """The code of a function with its comparisons noted; None where its text cannot be had, or compares nothing."""
    old = function.__code__
    text = "".join(linecache.getlines(old.co_filename, function.__globals__))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    before = len(notes.texts)
    noted = ast.fix_missing_locations(_Noted(notes, old).visit(tree))
    if len(notes.texts) == before:
        return None
    whole = compile(noted, old.co_filename, "exec", dont_inherit=True)
    same = [one for one in _inside(whole) if _is_same(one, old)]
    return same[0] if len(same) == 1 else None


def _inside(code: CodeType) -> Iterator[CodeType]:
    """All code in a module's."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _inside(one)


def _is_same(one: CodeType, other: CodeType) -> bool:
    """Whether two texts of code begin at the same place and know the same names."""
    return WHICH(one) == WHICH(other)
