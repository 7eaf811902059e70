"""A traced function with every kink turned into a choice, so that its derivatives are those of smooth text.

    where(c, a, b) → b + s (a − b)      s = 1 where c is true
    |x|            → (2 s − 1) x        s = 1 where x ≥ 0
    max(a, b)      → b + s (a − b)      s = 1 where a ≥ b
    min(a, b)      → a + s (b − a)      s = 1 where a ≥ b
    sign(x)        → 2 s − 1            s = 1 where x ≥ 0

The choices s are a further input; kinks about the same two numbers share one, so that max(x, 0) + min(x, 0) keeps the slope 1.
F(x, s) is smooth, and with s = s(x) it is the function that was traced. For every F that is continuous, the difference over a
segment is the integral of ∂F/∂x(x̄ + τ e, s(τ)) e over τ, whose s(τ) is 0 or 1 [Clarke83]: the hull of ∂F/∂x over the corners of
s, 0 and 1 wherever the box does not decide, contains every chord's slope. The box [0, 1] for s does, too, but is wider: each place
where s stands is then taken by itself. What one kink j adds to a slope is its channel ∂²F/∂x∂s_j times an s_j in [0, 1].

|x|, min and max are continuous by themselves. `where` and `sign` need not be: `jumps` is ∂F/∂s_j at the place where the
comparison's two sides are equal. Where it is 0 the function is continuous there; else it is by how much the function jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

from workbench.numerics.intervals.program import Kink, Values, needed, valued

CHOSEN = ("select", "fabs", "fmin", "fmax", "sign")
_TWO: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "atan2": ca.atan2,
    "pow": lambda a, b: a**b,
    "fmin": ca.fmin,
    "fmax": ca.fmax,
}
_ONE: dict[str, Callable] = {
    "sq": lambda a: a * a,
    "neg": lambda a: -a,
    "twice": lambda a: 2 * a,
    "not": ca.logic_not,
}


class Chosen(NamedTuple):
    """The smooth function over the traced one's inputs and the choices s.

    sides   the traced one's inputs → each choice: its box is [0, 0], [1, 1], or [0, 1] where the kink is straddled
    apart   inputs and s → for each choice b − a of max(a, b), so that a mean-value form may decide a side; 0 for `where`
    jumps   inputs and s → (outputs, choices): what the function jumps by where a choice of `where` or `sign` changes, else 0
    kinks   for each choice s, the kinks that share it, about one switching point
    """

    function: ca.Function
    sides: ca.Function
    apart: ca.Function
    jumps: ca.Function
    kinks: tuple[tuple[Kink, ...], ...]


def chosen(f: ca.Function) -> Chosen:
    """`f`'s smooth text; raises ValueError, naming it, for an operation that has no rule on boxes."""
    values, leaves = valued(f)
    wanted = needed(values, leaves)
    about: dict[tuple, list[int]] = {}
    for v in wanted:
        if values.made[v][0] in CHOSEN:
            about.setdefault(_about(values, v), []).append(v)
    inputs = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())]
    s = ca.SX.sym("s", len(about))
    entries = [e for column in inputs for e in column.nonzeros()]
    choice = {
        v: _turned(values, pair, v, s[j])
        for j, (pair, group) in enumerate(about.items())
        for v in group
    }
    smooth = _rebuilt(values, wanted, entries, choice)
    plain = _rebuilt(values, wanted, entries, {})
    outputs = _outputs(f, [smooth[v] for v in leaves])
    whole = ca.vertcat(*[ca.densify(e) for e in outputs])
    columns = [_jump(values, g, smooth, s[j], leaves) for j, g in enumerate(about.values())]
    sides = [_side(values, pair, g[0], plain) for pair, g in about.items()]
    apart = [_apart(pair, smooth) for pair in about]
    named = [f.name_in(i) for i in range(f.n_in())]
    kink = lambda v: Kink(values.made[v][0], values.instruction[v])
    return Chosen(
        function=ca.Function(f.name(), [*inputs, s], outputs, [*named, "s"], f.name_out()),
        sides=ca.Function("sides", inputs, [_column(sides)]),
        apart=ca.Function("apart", [*inputs, s], [_column(apart)]),
        jumps=ca.Function("jumps", [*inputs, s], [_beside(columns, whole.numel())]),
        kinks=tuple(tuple(map(kink, group)) for group in about.values()),
    )


def _about(values: Values, v: int) -> tuple:
    """What decides a kink: the two numbers compared, or a condition."""
    name, *of = values.made[v]
    if name == "select":
        return ("condition", of[0])
    pair = of if name in ("fmin", "fmax") else (of[0], values.constant(0.0))
    return tuple(sorted(pair))


def _turned(values: Values, pair: tuple, v: int, s: ca.SX) -> ca.SX:
    """The choice as this kink reads it: of |x| and sign(x) whether x ≥ 0, where s says whether 0 ≥ x."""
    name, x = values.made[v][:2]
    return 1 - s if name in ("fabs", "sign") and pair[1] == x else s


def _rebuilt(values: Values, wanted: list[int], entries: list, choice: dict) -> dict[int, ca.SX]:
    """The wanted expressions, with each kink in `choice` replaced by the piece chosen there; other kinks stay."""
    made: dict[int, ca.SX] = {}
    for v in wanted:
        made[v] = _expression(values.made[v], made, entries, choice.get(v))
    return made


def _expression(what: tuple, made: dict, entries: list, s: ca.SX | None) -> ca.SX:
    name, *of = what
    if name == "constant":
        return ca.SX(of[0])
    if name == "input":
        return entries[of[0]]
    read = [made[o] for o in of]
    if s is not None:
        return _choice(name, read, s)
    if name == "select":
        return ca.if_else(*read)
    if name in _TWO:
        return _TWO[name](*read)
    one = _ONE.get(name) or getattr(ca, name)
    return one(read[0])


def _choice(name: str, read: list, s: ca.SX) -> ca.SX:
    if name == "fabs":
        return (2 * s - 1) * read[0]
    if name == "sign":
        return 2 * s - 1
    a, b = reversed(read) if name == "fmin" else read[-2:]
    return b + s * (a - b)


def _side(values: Values, pair: tuple, v: int, plain: dict) -> ca.SX:
    """What the walk makes the box of a choice from."""
    if values.made[v][0] == "select":
        return plain[pair[1]] != 0
    a, b = (plain.get(o, ca.SX(0)) for o in pair)
    return b <= a


def _apart(pair: tuple, smooth: dict) -> ca.SX:
    """Of which sign the choice tells: it is 1 where this is not positive."""
    if pair[0] == "condition":
        return ca.SX(0)
    a, b = (smooth.get(o, ca.SX(0)) for o in pair)
    return b - a


def _jump(values: Values, group: list[int], smooth: dict, s: ca.SX, leaves: list[int]) -> ca.SX:
    """Column of ∂F/∂s on the surface where it switches; zero for what is continuous by itself."""
    outputs = ca.vertcat(*[smooth[o] for o in leaves])
    if not any(values.made[v][0] in ("select", "sign") for v in group):
        return ca.SX(outputs.numel(), 1)
    slope = ca.jtimes(outputs, s, ca.SX(1))
    name, *of = values.made[group[0]]
    condition = values.made[of[0]]
    if name == "select" and condition[0] in ("lt", "le"):
        return _met(slope, smooth[condition[1]], smooth[condition[2]])
    return slope


def _met(slope: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
    """The slope where a = b, when one of them is an input by itself; else as it is, which is no less."""
    for one, other in ((a, b), (b, a)):
        if one.is_symbolic() and not ca.depends_on(other, one):
            return ca.substitute(slope, one, other)
    return slope


def _outputs(f: ca.Function, entries: list) -> list[ca.SX]:
    at = 0
    made = []
    for i in range(f.n_out()):
        sparsity = f.sparsity_out(i)
        made.append(ca.SX(sparsity, ca.vertcat(*entries[at : at + sparsity.nnz()])))
        at += sparsity.nnz()
    return made


def _column(entries: list) -> ca.SX:
    return ca.vertcat(*entries) if entries else ca.SX(0, 1)


def _beside(columns: list, height: int) -> ca.SX:
    return ca.horzcat(*columns) if columns else ca.SX(height, 0)
