"""The switches of a law that is called from Python: what its text compares, measured while it is asked the samples of a run again.

While it is asked, every comparison of numbers in the text of the law's functions is made by a note-taker, which writes down both
sides and answers as Python does; likewise the larger, the smaller, the sign and the limits of `min`, `max`, `clip`, `sign`,
`copysign` and their kin. A function whose text cannot be had (no file, several lambdas on a line) is asked nothing.
"""

from __future__ import annotations

import ast
import linecache
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest
from workbench.contract.system import Plain, innermost, names
from workbench.verification.linear.called_law import Asked, Memory, asked_of
from workbench.verification.practical.called_kept import functions_of
from workbench.verification.practical.called_numbers import counted, set_on
from workbench.verification.run import Run

NOTE = "__fluidproof_compared__"  # the note-taker, among the globals of the law's functions while it is asked
COMPARED: dict[type, Callable] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
OPERATORS = {one.__name__: one for one in COMPARED.values()}
WHICH = operator.attrgetter(
    "co_qualname", "co_firstlineno", "co_varnames", "co_freevars", "co_cellvars"
)
PAIRED = ("min", "max", "minimum", "maximum", "fmin", "fmax", "clip")
SIGNED = {"sign": 0, "copysign": 1}  # function → which argument's sign it takes
MOST_ROWS = 20_000  # of a run, that a law is asked again
EVERY = 2000  # samples, at most, of which margins are kept one by one


class Notes:
    """The note-taker: margins of every place in the law's text since the last look."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.places: dict[tuple, int] = {}
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

    def take(self, k: int, a: Any, b: Any) -> None:
        """Note the margin of two numbers, or of arrays of them; what is no number is passed over."""
        try:
            margin = np.subtract(np.asarray(a, float), np.asarray(b, float))
        except (TypeError, ValueError):
            return
        if margin.size:
            self.low[k] = float(np.fmin(self.low[k], margin.min()))
            self.high[k] = float(np.fmax(self.high[k], margin.max()))

    def compared(self, places: Sequence[int], how: Sequence[str], *values: Any) -> Any:
        """The answer of a comparison of these values, one with the next."""
        found: Any = True
        for k, name, a, b in zip(places, how, values, values[1:]):
            self.take(k, a, b)
            answer = OPERATORS[name](a, b)
            if len(how) == 1:
                return answer
            found = found and answer
        return found

    def called(
        self, places: Sequence[int], name: str, f: Callable, *values: Any, **named: Any
    ) -> Any:
        """What a function of these values gives, that takes the larger, the smaller or the sign of them."""
        if name in SIGNED and len(values) > SIGNED[name]:
            self.take(places[0], values[SIGNED[name]], 0.0)
        elif len(values) > 1:
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


class _Noted(ast.NodeTransformer):
    """A text whose comparisons are made by the note-taker `NOTE`."""

    def __init__(self, notes: Notes, code: CodeType):
        self.notes, self.code = notes, code

    def _place(self, node: ast.expr, text: str, number: int = 0) -> ast.expr:
        key = (self.code, node.lineno, node.col_offset, number)
        return ast.Constant(self.notes.place(key, f"`{text}` (line {node.lineno})"))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        if not all(type(op) in COMPARED for op in node.ops):
            return node
        places = [self._place(node, text, i) for i in range(len(node.ops))]
        how = [ast.Constant(COMPARED[type(op)].__name__) for op in node.ops]
        return self._noted(node, "compared", places, how, [node.left, *node.comparators])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        name = _name(node.func)
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


def _codes(function: FunctionType, notes: Notes) -> CodeType | None:
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


class Called:
    """The switches of a law called from Python."""

    def __init__(self, functions: Sequence[FunctionType]):
        self.notes = Notes()
        made = [(f, _codes(f, self.notes)) for f in functions]
        self.codes = [(f, code) for f, code in made if code is not None]

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Have the law's comparisons noted meanwhile."""
        before = [f.__code__ for f, _ in self.codes]
        for f, code in self.codes:
            f.__globals__[NOTE] = self.notes
            f.__code__ = code
        self.notes.look()
        try:
            yield
        finally:
            for (f, _), code in zip(self.codes, before):
                f.__code__ = code
                f.__globals__.pop(NOTE, None)

    def margins(self, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self.codes:
            return np.zeros(1, int), np.zeros((0, 1)), np.zeros((0, 1))
        asked = asked_of(run)
        rows = _spans(asked)
        memory = asked.seen[0].copied()
        found = []
        with self.noting():
            for begin, end in pairwise(rows):
                for k in range(begin, end):
                    memory, _ = asked.step(memory, asked.y[k], k)
                found.append(self.notes.look())
        low, high = (np.array(part).T for part in zip(*found))
        return np.array(rows[:-1]), low, high

    def at(self, run: Run, row: int) -> tuple[np.ndarray, np.ndarray]:
        x = np.array([run.log.array(s.name)[row] for s in run.loop.plant.states])
        return x, np.array(counted(asked_of(run).until(row)))

    def ask(
        self, run: Run, row: int, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        asked = asked_of(run)
        memory = asked.until(row)
        n = len(run.loop.plant.states)
        answers = []
        with self.noting():
            for point in points.T.tolist():
                y = _measured(run, asked, row, point[:n])
                u, after = self._answer(asked, set_on(memory, point[n:]), y, row)
                answers.append((*self.notes.look(), u, after))
        low, high, u, z = (np.array(part, float).T for part in zip(*answers))
        return low, high, u, z

    def _answer(self, asked: Asked, memory: Memory, y: list[float], row: int) -> tuple:
        """(commands, numbers remembered) after a sample; NaN where the law fails."""
        before = len(counted(memory))
        try:
            after, u = asked.step(memory, y, row)
        except InputError:
            return np.full(len(asked.law.commands), np.nan), np.full(before, np.nan)
        return u, np.array(counted(after))

    def remembers(self, run: Run) -> bool:
        return bool(counted(asked_of(run).until(0)))

    def covered(self, run: Run) -> np.ndarray:
        if "covered" not in run.kept:
            run.kept["covered"] = _covered(asked_of(run))
        return run.kept["covered"]

    def shown(self, run: Run, row: int, points: np.ndarray) -> Mapping[str, np.ndarray]:
        return {}

    def words(self, k: int, run: Run) -> str:
        return self.notes.texts[k]


def _covered(asked: Asked) -> np.ndarray:
    """What every number that a law remembers covers along a run, looked at between spans of samples."""
    memory = asked.seen[0].copied()
    seen = [counted(memory)]
    for begin, end in pairwise(_spans(asked)):
        for k in range(begin, end):
            memory, _ = asked.step(memory, asked.y[k], k)
        seen.append(counted(memory))
    return np.ptp(seen, axis=0) if len({len(values) for values in seen}) == 1 else np.zeros(0)


def _spans(asked: Asked) -> list[int]:
    """Samples of a run between which it is looked at a law."""
    last = min(len(asked.time), MOST_ROWS)
    return np.unique(np.linspace(0, last, EVERY + 1).astype(int)).tolist()


def _measured(run: Run, asked: Asked, row: int, x: list[float]) -> list[float]:
    """What the law measures of these states of the plant."""
    plant = run.loop.plant
    t = float(asked.time[row])
    seen = dict(zip(names(plant.outputs), plant.out(t, plant.project(t, x))))
    return [float(seen[name]) for name in names(asked.law.measured)]


def of_called(run: Run) -> Called | None:
    """The switches of this run's law; None where it is not called from Python."""
    law = innermost(run.loop.controller)
    if not isinstance(law, Plain) or isinstance(law.law, LinearNearRest):
        return None
    return _called(tuple(functions_of(law.law)))


_called = lru_cache(maxsize=8)(Called)
