"""A traced function as a straight-line program for boxes: every value once, only what the outputs need, few slots.

    row   (operation, to, a, b, c, kink)      operation: position in OPERATIONS;  to, a, b, c: slots;  kink: its number or −1

The first slots hold the constants, then the inputs. Inputs and outputs are the entries that a sparsity holds, column by column.
`where(c, a, b)`, which CasADi writes as if_else_zero(c, a) +
if_else_zero(not c, b), becomes one `select`: its box is the hull of both branches where c is not decided, not their sum.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, final

import casadi as ca
import numpy as np

# In the order of the enumeration in intervals/walk.c; the library's functions begin at `exp`.
OPERATIONS = (
    "copy add sub mul div sq sqrt neg twice fabs fmin fmax lt le eq ne and or not select "
    "exp expm1 tanh atan sinh asinh erf asin acosh log log1p atanh acos cosh sin cos tan atan2 pow sign floor ceil"
).split()
NUMBER = {name: k for k, name in enumerate(OPERATIONS)}
KINKED = {"select", "fabs", "sign", "floor", "ceil", "fmin", "fmax", "atan2"}
COMMUTE = {"add", "mul", "fmin", "fmax", "eq", "ne", "and", "or"}
_SAME_NAME = {
    getattr(ca, f"OP_{name.upper()}"): name
    for name in OPERATIONS
    if hasattr(ca, f"OP_{name.upper()}")
}
_SAME_NAME[ca.OP_CONSTPOW] = "pow"
_SPELT = {v: k for k, v in vars(ca).items() if k.startswith("OP_") and isinstance(v, int)}


class Kink(NamedTuple):
    """An operation that is not differentiable everywhere: its name, and its instruction's number in the traced function."""

    operation: str
    instruction: int


@final
@dataclass(frozen=True)
class Program:
    """What `intervals/walk.c` reads; `rows` are int32 (…, 6), `leaving` the slot of each output's entry."""

    rows: np.ndarray
    constants: np.ndarray
    leaving: np.ndarray
    inputs: int
    slots: int
    kinks: tuple[Kink, ...]


@dataclass
class Values:
    """Every value that the function makes: (operation, operands), each once."""

    made: list[tuple] = field(default_factory=list)
    known: dict[tuple, int] = field(default_factory=dict)
    instruction: dict[int, int] = field(default_factory=dict)  # value → where it was first made

    def value(self, *what: object) -> int:
        at = self.known.get(what)
        if at is None:
            at = self.known[what] = len(self.made)
            self.made.append(what)
        return at

    def constant(self, number: float) -> int:
        return self.value("constant", float(number))

    def opposite(self, a: int, b: int) -> bool:
        """Whether one condition is known to be the other's negation."""
        x = self.made[a]
        y = self.made[b]
        if x == ("not", b) or y == ("not", a):
            return True
        return {x[0], y[0]} == {"lt", "le"} and x[1:] == y[:0:-1]


def program(f: ca.Function) -> Program:
    """The program of an SX function; raises ValueError, naming it, for an operation that has no rule on boxes."""
    values, leaves = valued(f)
    return _allocated(values, leaves, sum(f.nnz_in(i) for i in range(f.n_in())))


def valued(f: ca.Function) -> tuple[Values, list[int]]:
    """All values of an SX function, and which of them are the entries of its outputs."""
    values = Values()
    first = np.cumsum([0, *(f.nnz_in(i) for i in range(f.n_in()))])
    held: dict[int, int] = {}
    leaves = [values.constant(0.0)] * sum(f.nnz_out(i) for i in range(f.n_out()))
    begins = np.cumsum([0, *(f.nnz_out(i) for i in range(f.n_out()))])
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        to = f.instruction_output(k)
        of = f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            leaves[begins[to[0]] + to[1]] = held[of[0]]
        elif op == ca.OP_INPUT:
            held[to[0]] = values.value("input", int(first[of[0]]) + of[1])
        elif op == ca.OP_CONST:
            held[to[0]] = values.constant(f.instruction_constant(k))
        else:
            made = len(values.made)
            held[to[0]] = _operation(values, f, op, [held[s] for s in of])
            for v in range(made, len(values.made)):
                values.instruction[v] = k
    return values, leaves


def _operation(values: Values, f: ca.Function, op: int, of: list[int]) -> int:
    if op == ca.OP_ASSIGN:
        return of[0]
    if op == ca.OP_INV:
        return values.value("div", values.constant(1.0), of[0])
    if op == ca.OP_HYPOT:
        squares = [values.value("sq", v) for v in of]
        return values.value("sqrt", values.value("add", *sorted(squares)))
    if op == ca.OP_IF_ELSE_ZERO:
        return values.value("select", of[0], of[1], values.constant(0.0))
    name = _SAME_NAME.get(op)
    if name is None:
        raise ValueError(
            f"{f.name()}: {_SPELT.get(op, op)} has no rule on boxes; expected sums, products, quotients, roots, "
            "comparisons and the functions of NumPy's text"
        )
    if name == "add":
        return _sum(values, *of)
    if name == "mul" and of[0] == of[1]:
        return values.value("sq", of[0])
    return values.value(name, *(sorted(of) if name in COMMUTE else of))


def _sum(values: Values, a: int, b: int) -> int:
    """a + b, or the one select whose two halves they are."""
    x = values.made[a]
    y = values.made[b]
    if x[0] == y[0] == "select" and values.made[x[3]] == values.made[y[3]] == ("constant", 0.0):
        if values.opposite(x[1], y[1]):
            negated = values.made[x[1]][0] == "not"
            yes, no = (y, x) if negated else (x, y)
            return values.value("select", yes[1], yes[2], no[2])
    return values.value("add", *sorted((a, b)))


def needed(values: Values, leaves: list[int]) -> list[int]:
    """Values that the outputs need, in the order in which they are made."""
    wanted = set(leaves)
    for v in range(len(values.made) - 1, -1, -1):
        if v in wanted and values.made[v][0] not in ("constant", "input"):
            wanted.update(values.made[v][1:])
    return sorted(wanted)


def _allocated(values: Values, leaves: list[int], inputs: int) -> Program:
    """Slots for what is needed. A row never writes where it reads: the C text may assume that they differ."""
    wanted = needed(values, leaves)
    made = values.made
    constants = [v for v in wanted if made[v][0] == "constant"]
    slot = {v: k for k, v in enumerate(constants)}
    slot |= {v: len(constants) + made[v][1] for v in wanted if made[v][0] == "input"}
    steps = [v for v in wanted if v not in slot]
    last = {operand: at for at, v in enumerate(steps) for operand in made[v][1:]}
    for v in leaves:
        last[v] = len(steps)
    slots = len(constants) + inputs
    free: list[int] = []
    rows: list[tuple[int, ...]] = []
    kinks: list[Kink] = []
    for at, v in enumerate(steps):
        name, *of = made[v]
        if not free:
            free.append(slots)
            slots += 1
        slot[v] = free.pop()
        kink = -1
        if name in KINKED:
            kink = len(kinks)
            kinks.append(Kink(name, values.instruction[v]))
        read = [slot[o] for o in of]
        rows.append((NUMBER[name], slot[v], *read, *(read[:1] * (3 - len(read))), kink))
        free += [slot[o] for o in set(of) if last[o] == at and o in slot and not _fixed(made[o])]
    return Program(
        np.array(rows, np.int32).reshape(-1, 6),
        np.array([made[v][1] for v in constants], float),
        np.array([slot[v] for v in leaves], np.int32),
        inputs,
        slots,
        tuple(kinks),
    )


def _fixed(made: tuple) -> bool:
    return made[0] in ("constant", "input")
