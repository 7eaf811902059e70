"""Whether a law called from Python behaves otherwise after its run: by the time it is given, a counter of samples, a clock.

The law is evaluated at later times, with the measurements and the memory of a row of the run (as `called_law` does), also just
after the instants at which one of its comparisons changes its side (`crossings`). Two kinds of numbers in its memory are advanced
with time, whole numbers included: those that grow by the same amount every sample, whatever is measured (counters), and those that
still run on at the end of the run (`running_on`); of the latter only the law's gains are compared.

What the law will do is not known, and said to be so, where it uses a clock, chance or a file, and where it remembers something that
cannot be advanced: outside of its memory and attributes (closures, variables of modules and classes), or not as a number
(`called.kept`).
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest
from workbench.contract.plain import Plain
from workbench.contract.system import innermost
from workbench.verification.linear.called_law import Asked, Memory, asked_of
from workbench.verification.observed.running_on import (
    ASKED,
    LEAST,
    LOOKS,
    OFF,
    RUNS_ON,
    running_on,
)
from workbench.verification.practical.called.kept import Tokens, moved_on, tokens
from workbench.verification.practical.called.numbers import counted, set_on
from workbench.verification.practical.called.reach import (
    functions_of,
    kept_by,
    named_by,
    of_class,
    reached,
)
from workbench.verification.practical.disturbed import longest
from workbench.verification.practical.later.crossings import crossings
from workbench.verification.practical.later.stray import straight, stray
from workbench.verification.practical.switches.called import Called, called
from workbench.verification.run import Run

CLOCKS = ("time", "datetime")
CHANCE = ("random", "secrets", "numpy.random")  # modules whose numbers are no two times the same
FILES = ("open", "input")  # Python's own functions that read what others write
# Functions of a path, of NumPy and of pandas that read what others write.
READS = ("read_text", "read_bytes", "loadtxt", "genfromtxt", "fromfile", "read_csv")


def of_called(run: Run) -> str:
    """In words, when the law first does what it never did in the run, or why that is not known; "" where nothing was found."""
    law = innermost(run.loop.controller)
    if not isinstance(law, Plain) or isinstance(law.law, LinearNearRest):
        return ""
    functions = functions_of(law.law)
    clock = next(filter(None, (_read_module(f, CLOCKS) for f in functions)), "")
    if clock:
        return f"the law reads {clock}, and what it does at another hour is not known"
    chance = next(filter(None, (_read_module(f, CHANCE) for f in functions)), "")
    if chance:
        return f"the law reads {chance}, and what it does by chance is not known"
    source = next(filter(None, map(_read_file, functions)), "")
    if source:
        return f"the law calls {source}, and what it reads there after the run is not known"
    before = _outside(law.law, functions)
    try:
        found = _of_law(run, functions)
    except InputError as why:
        return f"after the run {why.message}"
    outside = moved_on([before, _outside(law.law, functions)], functions)
    if outside:
        where = f"outside of its memory and its attributes ({outside})"
        return f"the law remembers something {where}, and where that leads is not known"
    return found


def _of_law(run: Run, functions: list[FunctionType]) -> str:
    asked = asked_of(longest(run))
    last = len(asked.time) - 1
    seen = {row: asked.until(row) for row in np.linspace(0, last, LOOKS).astype(int).tolist()}
    kept = moved_on([_kept(memory) for memory in seen.values()], functions)
    if kept:
        return f"the law remembers what is no number ({kept}), and where that leads is not known"
    length = float(asked.time[-1])
    ticks = _ticks(asked, seen)
    for row in dict.fromkeys((0, last)):
        answer = _Answer(asked, seen[row], row, ticks)
        also = crossings(partial(answer.margins, called(tuple(functions))), length)
        found = stray(answer, length, ("the law",), ASKED, ASKED, also=also)
        if found:
            return found
    drifts = _drifts(asked, seen, ticks)
    if not drifts:
        return ""
    answer = _Answer(asked, seen[last], last, ticks | drifts)
    return stray(answer.gains, length, (RUNS_ON,), ASKED, ASKED, LEAST)


def _kept(memory: Memory) -> Tokens:
    """Tokens of everything in the law and its memory that is no number."""
    law, handed = memory.own
    return tokens({"law": law, "memory": handed}, numbers=False)


class _Answer:
    """The law at any time t: its commands, and how they change with a small change of each measurement; counters advance with t.

    ticks: place of a number in the memory → its increase a sample.
    """

    def __init__(self, asked: Asked, memory: Memory, row: int, ticks: dict[int, float]):
        self.asked, self.memory, self.row, self.ticks = asked, memory, row, ticks
        self.y = asked.y[row]
        self.off = _off(asked, row)
        self.values = counted(memory)

    def __call__(self, t: float) -> np.ndarray:
        return np.concatenate([self.command(t, self.y), self.gains(t)])

    def gains(self, t: float) -> np.ndarray:
        """Change of the commands at time t for a small change of the measurements."""
        return self.command(t, self.y + self.off) - self.command(t, self.y)

    def margins(self, law: Called, times: np.ndarray) -> np.ndarray:
        """Margins of the law's comparisons at these times, (k, N)."""
        found = []
        with law.noting():
            for t in times.tolist() if law.codes else ():
                self.command(t, self.y)
                found.append(law.notes.look()[0])
        return np.array(found).T

    def command(self, t: float, y: np.ndarray) -> np.ndarray:
        """The commands at time t for the measurement y."""
        samples = round((t - float(self.asked.time[self.row])) / float(self.asked.loop.period))
        values = list(self.values)
        for i, tick in self.ticks.items():
            values[i] += tick * samples
        return self.asked.step(set_on(self.memory, values), y, self.row, t)[1]


def _off(asked: Asked, row: int) -> np.ndarray:
    return OFF * np.maximum(np.ptp(asked.y, axis=0), np.maximum(np.abs(asked.y[row]), OFF))


def _ticks(asked: Asked, seen: dict[int, Memory]) -> dict[int, float]:
    """Counters in the law's memory: place → increase a sample, which is constant and does not depend on the measurement."""
    rows = np.array(list(seen), float)
    values = [counted(memory) for memory in seen.values()]
    if len({len(v) for v in values}) > 1 or len(rows) < 3:
        return {}
    lines = [straight(rows, np.array(column, float)) for column in zip(*values)]
    row, memory = list(seen.items())[len(seen) // 2]
    y = asked.y[row]
    t = float(asked.time[row])
    here = values[len(seen) // 2]
    after = [
        counted(asked.step(set_on(memory, here), at, row, t)[0]) for at in (y, y + _off(asked, row))
    ]
    return {
        i: line[1]
        for i, (line, one, other) in enumerate(zip(lines, *after))
        if line is not None and one == other
    }


def _drifts(asked: Asked, seen: dict[int, Memory], ticks: dict[int, float]) -> dict[int, float]:
    """Other numbers of the memory that run on at the end (`running_on`): place → increase a sample."""
    rows = list(seen)
    values = [counted(memory) for memory in seen.values()]
    if len({len(v) for v in values}) > 1:
        return {}
    time = asked.time[rows]
    rates = {i: running_on(time, np.array(column)) for i, column in enumerate(zip(*values))}
    T = float(asked.loop.period)
    return {i: T * rate for i, rate in rates.items() if rate is not None and i not in ticks}


# ---- what a law reaches beside its memory -------------------------------------------------------
def _read_module(function: FunctionType, modules: Sequence[str]) -> str:
    """What of these modules a function reads, or ""."""
    for name, thing in reached(function):
        module = inspect.getmodule(thing)
        if module is not None and module.__name__ in modules:
            called = name.rpartition(" ")[2]
            return f"the module {called}" if thing is module else f"{module.__name__}.{called}"
    inside = next((name for name in _imported(function) if name in modules), "")
    return f"the module {inside}" if inside else ""


def _imported(function: FunctionType) -> list[str]:
    """Modules that a function imports where it is called."""
    return [name.partition(".")[0] for name in _operands(function, "IMPORT_NAME")]


def _read_file(function: FunctionType) -> str:
    """What a function calls to read a file or a terminal, or ""; the user's own functions of these names are none."""
    own = function.__globals__
    called = [n for n in _operands(function, "LOAD_GLOBAL") if n in FILES and n not in own]
    called += [name for name in function.__code__.co_names if name in READS]
    return f"{called[0]}()" if called else ""


def _operands(function: FunctionType, operation: str) -> list[str]:
    """Arguments of a function's bytecode instructions of this kind."""
    return [str(one.argval) for one in dis.get_instructions(function) if one.opname == operation]


def _outside(law: Any, functions: list[FunctionType]) -> Tokens:
    """Tokens of all values that these functions reach outside the law: globals, closures, default values, class variables."""
    things: dict[str, Any] = {}
    for function in functions:
        things |= dict(named_by(function))
        things |= dict(kept_by(function))
    if not isinstance(law, FunctionType):
        things |= dict(of_class(type(law)))
    return tokens(things, numbers=True)
