"""Single faults of the wires between machine and law, in words, and what each does to measurements and commands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from workbench.contract.system import names

UNITS = {
    1e3: "a thousand",
    1e-3: "a thousandth",
    180 / math.pi: "degrees for rad",
    math.pi / 180: "rad for degrees",
    1e5: "Pa for bar",
    1e-5: "bar for Pa",
    60.0: "sixty",
    1 / 60.0: "a sixtieth",
}


class Edit(NamedTuple):
    """A fault of the wires in words, and what it does to measurements and to commands."""

    words: str
    measured: Callable
    commanded: Callable


def same(values):
    """Wires as they should be."""
    return list(values)


def crossed(i: int, j: int) -> Callable:
    """Wires i and j exchanged."""

    def exchange(values):
        out = list(values)
        out[i], out[j] = out[j], out[i]
        return out

    return exchange


def scaled(where: list[int], factor: float) -> Callable:
    """Some wires times a factor."""
    return lambda values: [factor * v if k in where else v for k, v in enumerate(values)]


def shifted(where: list[int], number: float) -> Callable:
    """Some wires and a number more."""
    return lambda values: [v + number if k in where else v for k, v in enumerate(values)]


def held(k: int, number: float) -> Callable:
    """Wire k carries one number for ever."""
    return lambda values: [number if j == k else v for j, v in enumerate(values)]


def stuck(law, applied: np.ndarray, ranges: Mapping[str, tuple[float, float]]) -> Iterator[Edit]:
    """Commands that reach the machine as one number for ever: a valve that is stuck, a wire that is cut.

    applied: what reached the machine, one row a sample. ranges: of the commands; what stays at an end of its range may be asked.
    """
    for k, s in enumerate(law.commands):
        first = float(applied[0, k])
        if (applied[:, k] == first).all() and first not in ranges.get(s.name, ()):
            unit = "" if s.unit == "1" else f" {s.unit}"
            words = f"the command {s.name} does not reach the machine, which gets {first:.4g}{unit} for ever"
            yield Edit(words, same, held(k, first))


def edits(law) -> Iterator[Edit]:
    """Every single fault of the wires of a law, the likelier first."""
    commands = names(law.commands)
    measured = names(law.measured)
    units = [s.unit for s in law.measured]
    for k, name in enumerate(commands):
        yield Edit(f"sign of the command {name}", same, scaled([k], -1.0))
    everything = list(range(len(commands)))
    yield Edit("sign of all commands", same, scaled(everything, -1.0))
    for i, j in combinations(everything, 2):
        yield Edit(f"commands {commands[i]} and {commands[j]} swapped", same, crossed(i, j))
    for i in everything:
        for j in everything:
            if i != j:
                words = f"{commands[j]} gets the command {commands[i]}"
                yield Edit(words, same, repeated(i, j))
    for k, name in enumerate(measured):
        yield Edit(f"sign of the measurement {name}", scaled([k], -1.0), same)
    for k, name in enumerate(measured):
        yield Edit(
            f"the measurement {name} does not reach the law, which reads 0", held(k, 0.0), same
        )
    for i, j in combinations(range(len(measured)), 2):
        if units[i] == units[j]:
            yield Edit(f"measurements {measured[i]} and {measured[j]} swapped", crossed(i, j), same)
    for unit in dict.fromkeys(units):
        where = [k for k, own in enumerate(units) if own == unit]
        listed = ", ".join(measured[k] for k in where[:3])
        for group, said in (
            (where, f"{listed}{' …' if len(where) > 3 else ''}"),
            *(([k], measured[k]) for k in where),
        ):
            yield from (
                Edit(
                    f"unit of the measurement {said}: times {factor:.4g} ({words})",
                    scaled(group, factor),
                    same,
                )
                for factor, words in UNITS.items()
            )
    yield from (
        Edit(
            f"unit of the commands: times {factor:.4g} ({words})", same, scaled(everything, factor)
        )
        for factor, words in UNITS.items()
    )


def repeated(i: int, j: int) -> Callable:
    """Wire j carries what belongs on wire i."""

    def repeat(values):
        out = list(values)
        out[j] = out[i]
        return out

    return repeat
