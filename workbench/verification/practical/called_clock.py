"""Whether time itself changes what a law called from Python answers after its run: time it is given, samples it counts, a clock.

The law is asked once more as `called_law` does. What it remembers is held, but for numbers that it counts up by the same amount
every sample, whatever it measures: these go on with time. Whole numbers count, too. What it keeps outside of its memory and
its attributes (what a function closes over, module and class variables) cannot be set on, and a wall clock cannot be asked for
another time: where the law uses one, what it will do is not known.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest
from workbench.contract.own_text import own
from workbench.contract.system import Plain, innermost
from workbench.verification.linear.called_law import Asked, Memory, asked_of, numbers
from workbench.verification.practical.timed import straight, stray
from workbench.verification.run import Run

ALL = "fiu"  # kinds of numbers: floats, whole numbers
ASKED = 60  # instants within the run at which a law is asked, and after it
OFF = 1e-3  # of what a measurement covered, or of its size: what it is off by, to see a gain
CLOCKS = ("time", "datetime")
METHODS = ("step", "command", "__call__")
MOST = 60  # functions of a law that are looked through
NEVER = (ModuleType, FunctionType, BuiltinFunctionType, type, property, staticmethod, classmethod)


def of_called(run: Run) -> str:
    """When the law does what it did at no time of the run, or why that is not known, in words; "" where nothing was found."""
    law = innermost(run.loop.controller)
    if not isinstance(law, Plain) or isinstance(law.law, LinearNearRest):
        return ""
    functions = _functions(law.law)
    clock = next(filter(None, map(_read_clock, functions)), "")
    if clock:
        return f"the law reads {clock}, and what it does at another hour is not known"
    before = _outside(law.law, functions)
    try:
        found = _of_law(run)
    except InputError as why:
        return f"after the run {why.message}"
    if _changed(before, _outside(law.law, functions)):
        return "the law remembers something outside of its memory and its attributes, and where that leads is not known"
    return found


def _of_law(run: Run) -> str:
    asked = asked_of(run)
    last = len(run.log.time) - 1
    seen = {row: asked.until(row) for row in (0, last // 2, last)}
    ticks = _ticks(asked, seen)
    for row in dict.fromkeys((0, last)):
        answer = _Answer(asked, seen[row], row, ticks)
        found = stray(answer, run.scenario.length(), ("the law",), ASKED, ASKED)
        if found:
            return found
    return ""


class _Answer:
    """What the law commands, and by how much otherwise where the measurement is off, at any time; its clocks go with it."""

    def __init__(self, asked: Asked, memory: Memory, row: int, ticks: dict[int, float]):
        self.asked, self.memory, self.row, self.ticks = asked, memory, row, ticks
        self.y = asked.y[row]
        self.off = _off(asked, row)
        self.values = counted(memory)

    def __call__(self, t: float) -> np.ndarray:
        here = self.command(t, self.y)
        return np.concatenate([here, self.command(t, self.y + self.off) - here])

    def command(self, t: float, y: np.ndarray) -> np.ndarray:
        """At this time, of this measurement."""
        samples = round((t - float(self.asked.time[self.row])) / float(self.asked.loop.period))
        values = list(self.values)
        for i, tick in self.ticks.items():
            values[i] += tick * samples
        return self.asked.step(set_on(self.memory, values), y, self.row, t)[1]


def _off(asked: Asked, row: int) -> np.ndarray:
    return OFF * np.maximum(np.ptp(asked.y, axis=0), np.maximum(np.abs(asked.y[row]), OFF))


def _ticks(asked: Asked, seen: dict[int, Memory]) -> dict[int, float]:
    """Numbers of the law's memory that run on by the same amount every sample, whatever it measures: place → amount."""
    rows = np.array(list(seen), float)
    values = [counted(memory) for memory in seen.values()]
    if len({len(v) for v in values}) > 1 or len(rows) < 3:
        return {}
    lines = [straight(rows, np.array(column, float)) for column in zip(*values)]
    row, memory = list(seen.items())[1]
    y = asked.y[row]
    t = float(asked.time[row])
    after = [
        counted(asked.step(set_on(memory, values[1]), at, row, t)[0])
        for at in (y, y + _off(asked, row))
    ]
    return {
        i: line[1]
        for i, (line, one, other) in enumerate(zip(lines, *after))
        if line is not None and one == other
    }


def counted(memory: Memory) -> list[float]:
    """Every number in it, whole ones as well."""
    found: list[float] = []
    take = lambda v: found.append(v) or v  # type: ignore[func-returns-value]
    numbers([list(memory.wrapped), copy.deepcopy(memory.own)], take, kinds=ALL)
    return found


def set_on(memory: Memory, values: list[float]) -> Memory:
    """The same with other numbers; whole ones stay whole."""
    left = iter(values)

    def take(old: Any) -> Any:
        new = next(left)
        return new if isinstance(old, float) else int(round(new))

    whole = [list(memory.wrapped), copy.deepcopy(memory.own)]
    wrapped, law = numbers(whole, take, kinds=ALL)
    return Memory(wrapped, law)


# ---- what a law reaches beside its memory -------------------------------------------------------
def _functions(law: Any) -> list[FunctionType]:
    """The functions of a law that are called at a sample, and those of the user's that these name."""
    waiting: list[Any] = [law, *(_method(law, name) for name in METHODS)]
    found: list[FunctionType] = []
    while waiting and len(found) < MOST:
        one = waiting.pop()
        one = one.__func__ if isinstance(one, MethodType) else one
        if not isinstance(one, FunctionType) or one in found or own(one):
            continue
        found.append(one)
        waiting += [thing for _, thing in _reached(one)]
        waiting += [_method(law, name) for name in one.__code__.co_names]
    return found


def _method(law: Any, name: str) -> Any:
    """What stands in the law's classes under this name."""
    return next((vars(cls)[name] for cls in type(law).__mro__ if name in vars(cls)), None)


def _reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Names of globals and of what a function closes over, with what they stand for."""
    space = function.__globals__
    yield from ((name, space[name]) for name in function.__code__.co_names if name in space)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # empty as yet
            continue


def _read_clock(function: FunctionType) -> str:
    """The wall clock that a function reads, or ""."""
    for name, thing in _reached(function):
        module = inspect.getmodule(thing)
        if module is not None and module.__name__ in CLOCKS:
            return f"the module {name}" if thing is module else f"{module.__name__}.{name}"
    return ""


def _outside(law: Any, functions: list[FunctionType]) -> list[list[float]]:
    """Numbers in what these functions reach and in the law's class, thing by thing."""
    things = [thing for f in functions for _, thing in _reached(f)]
    things += [] if isinstance(law, FunctionType) else list(vars(type(law)).values())
    return [
        _numbers_of(thing)
        for thing in things
        if not isinstance(thing, NEVER) and not own(type(thing))
    ]


def _numbers_of(thing: Any) -> list[float]:
    found: list[float] = []
    try:
        take = lambda v: found.append(v) or v  # type: ignore[func-returns-value]
        numbers(copy.deepcopy(thing), take, kinds=ALL)
    except Exception:  # noqa: BLE001 - whatever a thing that cannot be copied raises
        return []
    return found


def _changed(before: list[list[float]], after: list[list[float]]) -> bool:
    """Whether numbers are others; what was only added, as to a record of what was seen, is none of them."""
    return any(old != new[: len(old)] for old, new in zip(before, after))
