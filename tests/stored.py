"""Numbers that are kept in tables: what a case gives now is held against what the table says.

A table says nothing about what is right: laws, closed forms and other libraries do, in the tests beside. It sees that a number
which nobody looks at elsewhere has become another one. What differs on purpose is written anew, and the difference read:

    python -m tests.stored verdicts            # shows every number that differs and writes tests/data/verdicts.json
    python -m tests.stored                     # all tables

A table has a row for each entry of CASES in `tests/test_stored_<table>.py`, name → function that gives any value, and is held to
the share `within(name)`. Where another processor rounds to something else, the table says so and nothing is held.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from importlib import import_module
from inspect import getattr_static
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from workbench import Controller, Signal, System

FOLDER = Path(__file__).with_name("data")
LONG = 12  # entries from which on of an array its size, two weighted sums and its largest entry are kept
DIGITS = 12  # that a table keeps
MOST = 300  # entries of a member of an object: what has more is another object
OPEN = "rounding decides"  # in place of a number that another processor gives differently
OTHER = {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F"}
ROUNDING = 1e-13  # of the largest number beside it: a number below is kept as zero
NUMBER = re.compile(r"(?<![A-Za-z_\d.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


# ---- a value as a flat table ----------------------------------------------------------------------------------------
def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, word and truth value of a nested value by its path; what is neither is left out."""
    if value is None or isinstance(value, bool | str | np.bool_):
        yield path, bool(value) if isinstance(value, np.bool_) else value
    elif isinstance(value, complex | np.complexfloating):
        yield from flat([value.real, value.imag], path)
    elif isinstance(value, int | np.integer):
        yield path, int(value)
    elif isinstance(value, Number):
        yield path, float(value)
    elif isinstance(value, Signal):
        yield path, f"{value.name} {value.unit}"
    elif is_dataclass(value) and not isinstance(value, type | System | Controller):
        yield f"{path}.is", type(value).__name__
        for field in fields(value):
            yield from flat(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}")
    elif isinstance(value, np.ndarray) and not value.ndim:
        yield from flat(value.item(), path)
    elif isinstance(value, list | tuple | np.ndarray):
        yield from _row(value, path)


def _row(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    array = _numeric(value)
    if array is None or array.size <= LONG:
        yield f"{path}.count", len(value)
        for i, inner in enumerate(value):
            yield from flat(inner, f"{path}[{i}]")
        return
    yield f"{path}.shape", "×".join(map(str, array.shape))
    known = np.where(np.isfinite(array), array, 0.0).ravel()
    order = np.arange(1, known.size + 1)
    yield f"{path}.not finite", int(known.size - np.isfinite(array).sum())
    yield f"{path}.largest", float(np.abs(known).max())
    yield f"{path}.sum with cos k", float(known @ np.cos(order))
    yield f"{path}.sum with sin 2k", float(known @ np.sin(2.0 * order))


def _numeric(value: Any) -> np.ndarray | None:
    """As an array of floats, if it is one."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return value.astype(float)
    if len(value) > LONG and all(type(v) in (int, float) for v in value):
        return np.array(value, float)
    return None


def members(thing: Any, methods: tuple[str, ...] = ()) -> dict[str, Any]:
    """The properties of an object that are numbers, words or short rows of them, and what methods without arguments give."""
    kind = type(thing)
    held_by = dir(kind)
    names = [n for n in held_by if isinstance(getattr_static(kind, n), property | cached_property)]
    names = [n for n in names if hasattr(thing, n)]
    found = {n: getattr(thing, n) for n in names if not n.startswith("_")}
    found |= {n: getattr(thing, n)() for n in methods if hasattr(thing, n)}
    return {n: v for n, v in found.items() if 0 < sum(1 for _ in flat(v)) <= MOST}


def table_of(value: Any) -> dict[str, Any]:
    """A value as a table keeps it: numbers rounded to DIGITS, what is below rounding beside its neighbours zero."""
    found = dict(flat(value))
    largest: dict[str, float] = {}
    for path, one in found.items():
        if isinstance(one, float) and math.isfinite(one):
            largest[_group(path)] = max(largest.get(_group(path), 0.0), abs(one))
    return {path: _kept(one, largest.get(_group(path), 0.0)) for path, one in found.items()}


def _group(path: str) -> str:
    """Where a number stands: entries of one row are neighbours, and all of one object in a row of them, or of one mapping."""
    whole = re.sub(r"\.(sum with .*|largest)$", "", path)
    if whole != path or path.endswith("]"):
        return re.sub(r"\[\d+\]$", "", whole)
    row, bracket, _ = path.rpartition("]")
    return row + bracket or path.rpartition(".")[0]


def _kept(one: Any, largest: float) -> Any:
    if not isinstance(one, float):
        return one
    if not math.isfinite(one):
        return str(one)
    return 0.0 if abs(one) <= ROUNDING * largest else float(f"{one:.{DIGITS}g}")


# ---- what differs ---------------------------------------------------------------------------------------------------
def differences(
    kept: dict[str, Any], found: dict[str, Any], relative: float, small: float = 0.0
) -> list[str]:
    """In words, every entry that is another one, or gone. A new name is none: rows of numbers have their count."""
    kept = {path: one for path, one in kept.items() if one != OPEN}
    said = [f"{path}: {kept[path]!r}, now nothing" for path in kept if path not in found]
    largest: dict[str, float] = {}
    for path, one in kept.items():
        if isinstance(one, float):
            largest[_group(path)] = max(largest.get(_group(path), 0.0), abs(one))
    for path in kept.keys() & found.keys():
        slack = relative * 1e-4 * largest.get(_group(path), 0.0)
        if not same(kept[path], found[path], relative, max(slack, small)):
            said.append(f"{path}: {kept[path]!r}, now {found[path]!r}")
    return said


def same(a: Any, b: Any, relative: float, slack: float = 0.0) -> bool:
    """Numbers within a share of the larger one, or within `slack`; words but for the last digits of what is printed in them."""
    if isinstance(a, str) and isinstance(b, str):
        return same_words(a, b)
    if type(a) in (int, float) and type(b) in (int, float):
        if not (isinstance(a, float) or isinstance(b, float)):
            return a == b
        return abs(a - b) <= max(relative * max(abs(a), abs(b)), slack)
    return type(a) is type(b) and a == b


def same_words(a: str, b: str) -> bool:
    """The same text, printed numbers at most one apart in their last digit."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b))
    return all(_near(x, y) for x, y in pairs)


def _near(a: str, b: str) -> bool:
    if a == b:
        return True
    step = max(_last_digit(a), _last_digit(b))
    return abs(_value(a) - _value(b)) <= 1.01 * step


def _value(number: str) -> float:
    return float(number.replace("−", "-"))


def _last_digit(number: str) -> float:
    mantissa, _, power = number.partition("e")
    digits = len(mantissa.partition(".")[2])
    whole = mantissa.lstrip("-−").lstrip("0")
    if not digits and not power and len(whole) < 2:
        return 0.0  # one digit counts something: runs, modes
    return 10.0 ** (int(power or 0) - digits)


# ---- tables on disk -------------------------------------------------------------------------------------------------
@cache
def read(name: str) -> dict[str, dict[str, Any]]:
    """Case → path → number of a table."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write(name: str, table: Mapping[str, Mapping[str, Any]]) -> None:
    """A case a line, so that a difference can be read."""
    FOLDER.mkdir(exist_ok=True)
    rows = [f"{json.dumps(case, ensure_ascii=False)}: {_line(row)}" for case, row in table.items()]
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def held(
    name: str, case: str, make: Callable[[], Any], relative: float, small: float = 0.0
) -> None:
    """Assert that a case still gives what its table says; differences below `small` are rounding."""
    kept = read(name).get(case)
    assert kept is not None, f"no {case!r} in {name}.json: python -m tests.stored {name}"
    found = differences(kept, table_of(make()), relative, small)
    more = f"\n… and {len(found) - 12} more" if len(found) > 12 else ""
    mend = f"\nIf that is meant: python -m tests.stored {name}"
    assert not found, f"{case}: " + "\n".join(found[:12]) + more + mend


def module_of(name: str) -> Any:
    sys.path.insert(0, str(FOLDER.parent))
    return import_module(f"test_stored_{name}")


def made(name: str) -> dict[str, dict[str, Any]]:
    """What every case of a table gives now."""
    return {case: table_of(make()) for case, make in module_of(name).CASES.items()}


def elsewhere(name: str) -> dict[str, dict[str, Any]]:
    """The same on a processor that rounds differently: another kernel of the linear algebra, no wide instructions."""
    command = [sys.executable, "-m", "tests.stored", "--json", name]
    said = subprocess.run(command, env=os.environ | OTHER, capture_output=True, check=True)
    return json.loads(said.stdout)


def rounded(one: Any, small: float) -> bool:
    """Whether a number, or one printed in a sentence, is no larger than what rounding leaves: below `small`, not zero."""
    if isinstance(one, str):
        return small > 0 and any(0 < abs(_value(n)) < small for n in NUMBER.findall(one))
    return isinstance(one, float) and 0 < abs(one) < small


def renew(name: str) -> None:
    """Write a table anew and show what differs. What another processor gives differently is kept as OPEN."""
    before, after, other = read(name), made(name), elsewhere(name)
    for case, row in after.items():
        there = other[case]
        agreed = 0.03 * module_of(name).within(case)
        for path in row:
            if path not in there or not same(row[path], there[path], agreed):
                row[path] = OPEN
            if rounded(row[path], getattr(module_of(name), "SMALL", 0.0)):
                row[path] = OPEN
        count = sum(one == OPEN for one in row.values())
        if case not in before:
            print(f"{name}, {case}: new, {len(row)} entries, {count} of them open")
            continue
        for line in differences(before[case], row, 1e-9):
            print(f"{name}, {case}: {line}")
    for case in before.keys() - after.keys():
        print(f"{name}, {case}: gone")
    write(name, after)


def main(asked: list[str]) -> None:
    if asked[:1] == ["--json"]:
        print(json.dumps(made(asked[1])))
        return
    every = sorted(p.stem.removeprefix("test_stored_") for p in FOLDER.parent.glob("test_stored_*"))
    for name in asked or every:
        renew(name)


if __name__ == "__main__":
    main(sys.argv[1:])
