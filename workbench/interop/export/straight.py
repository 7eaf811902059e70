"""Expression graphs as straight-line programs: one operation a line, no branches, no memory of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca

INPUT = ca.OP_INPUT
OUTPUT = ca.OP_OUTPUT
CONST = ca.OP_CONST


@cache
def operation_names() -> dict[int, str]:
    """CasADi's number of an operation → its name in small letters: add, mul, if_else_zero, …"""
    found = [name for name in dir(ca) if name.startswith("OP_")]
    return {getattr(ca, name): name.removeprefix("OP_").lower() for name in found}


@dataclass(frozen=True)
class Operation:
    """target = name(*operands): places of the program; `value` is that of a constant, else None.

    An input has its argument and its place there in `operands`; an output has no target, and (result, place, source).
    """

    name: str
    target: int | None
    operands: tuple[int, ...]
    value: float | None = None


@dataclass(frozen=True)
class Straight:
    """A program in which every place is written once, with its arguments and results in order."""

    operations: tuple[Operation, ...]

    @property
    def counts(self) -> Counter[str]:
        """How often each operation is done; reading, writing and constants are none."""
        free = {"input", "output", "const"}
        return Counter(o.name for o in self.operations if o.name not in free)


def straight(f: ca.Function) -> Straight:
    """The program of an SX function; slots that CasADi uses again become places of their own."""
    place: dict[int, int] = {}
    found: list[Operation] = []
    for k in range(f.n_instructions()):
        kind = f.instruction_id(k)
        name = operation_names()[kind]
        ins = f.instruction_input(k)
        outs = f.instruction_output(k)
        if kind == OUTPUT:
            found.append(Operation(name, None, (outs[0], outs[1], place[ins[0]])))
            continue
        operands = tuple(ins) if kind == INPUT else tuple(place[i] for i in ins)
        value = f.instruction_constant(k) if kind == CONST else None
        place[outs[0]] = len(found)
        found.append(Operation(name, len(found), () if kind == CONST else operands, value))
    return Straight(tuple(found))


def most_counted(programs: Sequence[Straight]) -> int:
    """Operations of the longest of these programs: what a sample costs at most, as every path is taken."""
    return max((sum(p.counts.values()) for p in programs), default=0)
