"""Straight-line programs: what a system's function computes, one operation after the other, over any kind of number.

Node i is operation `codes[i]` on the nodes `left[i]` and `right[i]`; an input has its place in `left`, a constant its
number in `number`. `outputs` are nodes. A program carries no derivatives: those follow from it (`slope`, `series`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .interval import Interval
from .series import Series

NAMES = (
    *("input", "constant", "add", "sub", "mul", "div", "neg", "square", "sqrt", "twice", "inv"),
    *("sin", "cos", "tan", "exp", "log", "tanh", "arctan", "sinh", "cosh", "power"),
    *("maximum", "minimum", "absolute", "less", "at_most", "equal", "different", "not"),
    *("and", "or", "if_else_zero", "sign", "floor", "ceil", "same", "hypot"),
    "orifice",
)
CODE = {name: k for k, name in enumerate(NAMES)}
PLAIN = ("sqrt", "square", "sin", "cos", "exp", "log", "tanh", "arctan", "sinh", "cosh", "absolute")
TWO = {"add", "sub", "mul", "div", "power", "maximum", "minimum", "less", "at_most", "equal"}
TWO |= {"different", "and", "or", "if_else_zero", "hypot", "orifice"}


@dataclass(frozen=True, eq=False)
class Program:
    codes: np.ndarray
    left: np.ndarray
    right: np.ndarray
    number: np.ndarray
    outputs: np.ndarray
    inputs: int

    def __post_init__(self):
        n = len(self.codes)
        at = np.arange(n)
        known = (self.codes >= 0) & (self.codes < len(NAMES))
        reads = (self.codes != CODE["input"]) & (self.codes != CODE["constant"])
        two = np.isin(self.codes, [CODE[name] for name in TWO])
        sound = known.all() and (self.outputs >= 0).all() and (self.outputs < n).all()
        sound &= bool(((self.left < at) & (self.left >= 0))[reads].all())
        sound &= bool(((self.right < at) & (self.right >= 0))[two].all())
        places = self.left[self.codes == CODE["input"]]
        sound &= bool(((places >= 0) & (places < self.inputs)).all())
        if not sound or np.isnan(self.number).any():
            raise ValueError("a program reads what it has not computed")

    def depends(self) -> np.ndarray:
        """Whether each output depends on each input, (outputs, inputs), as far as the text shows."""
        rows = np.zeros((len(self.codes), self.inputs), bool)
        for i, code in enumerate(self.codes):
            name = NAMES[code]
            if name == "input":
                rows[i, self.left[i]] = True
            elif name != "constant":
                rows[i] = rows[self.left[i]]
                if name in TWO:
                    rows[i] |= rows[self.right[i]]
        return rows[self.outputs]

    def still(self) -> np.ndarray:
        """Whether each output is the constant zero."""
        constant = self.codes[self.outputs] == CODE["constant"]
        return constant & (self.number[self.outputs] == 0)

    def run(self, kind: Any, inputs: list, made: Any) -> list:
        """All outputs over numbers of a module `kind` (interval, slope, series); `made` makes one of an interval."""
        nodes = self.nodes(kind, inputs, made)
        return [nodes[i] for i in self.outputs]

    def nodes(self, kind: Any, inputs: list, made: Any, closer: Any = None) -> list:
        """All nodes; `closer(i, x)`: what stands for the number x of operation i from then on."""
        nodes: list = []
        steps = zip(self.codes, self.left, self.right, self.number)
        for i, (code, a, b, c) in enumerate(steps):
            name = NAMES[code]
            if name == "input":
                nodes.append(inputs[a])
            elif name == "constant":
                nodes.append(made(Interval(float(c))))
            else:
                other = nodes[b] if name in TWO else None
                x = operate(kind, name, nodes[a], other, made)
                nodes.append(closer(i, x) if closer else x)
        return nodes


def as_it_is(x: Any) -> Any:
    return x


def operate(kind: Any, name: str, a: Any, b: Any, made: Any) -> Any:
    """One operation."""
    if name in PLAIN:
        return getattr(kind, name)(a)
    simple = SIMPLE.get(name)
    if simple:
        return simple(kind, a, b, made)
    return kind.stepped(
        DECIDED[name](*(value(x) for x in (a, b) if x is not None)), a, *[b][: b is not None]
    )


def value(x: Any) -> Interval:
    """The bounds of a number of any kind."""
    if isinstance(x, Interval):
        return x
    return x.parts[0] if isinstance(x, Series) else x.value


def raised(kind: Any, a: Any, b: Any) -> Any:
    """A power whose exponent is a number; anything else proves nothing."""
    exponent = value(b)
    if np.ndim(exponent.lo) or exponent.lo != exponent.hi:
        return kind.stepped(Interval(np.array(-np.inf), np.array(np.inf)), a, b)
    return kind.power(a, float(exponent.lo))


def masked(kind: Any, condition: Any, a: Any, made: Any) -> Any:
    """a where the condition is certainly not 0, 0 where it certainly is 0, else the hull of both, without a derivative."""
    yes, no = decided(value(condition))
    if np.all(yes):
        return a
    if np.all(no):
        return made(Interval(0.0))
    both = value(a).hull(Interval(0.0))
    hull = kind.stepped(Interval(both.lo - 0.0, both.hi + 0.0), a, condition)
    return selected(kind, yes, no, a, hull, made)


def selected(kind: Any, yes: Any, no: Any, a: Any, hull: Any, made: Any) -> Any:
    """Entry by entry: a, zero, or the hull."""

    def pick(x: Interval, z: Interval) -> Interval:
        low = np.where(yes, x.lo, np.where(no, 0.0, z.lo))
        return Interval(low, np.where(yes, x.hi, np.where(no, 0.0, z.hi)))

    if isinstance(a, Interval):
        return pick(a, hull)
    if hasattr(a, "selected"):
        return a.selected(yes, no, hull, pick)
    zero = Interval(0.0)
    wide = Interval(-np.inf, np.inf)
    if isinstance(a, Series):
        parts = [pick(a.parts[0], hull.parts[0])]
        later = max(len(a.parts), len(hull.parts)) - 1  # a constant that is switched has rates, too
        own = [*a.parts[1:], *[zero] * later][:later]
        return type(a)(parts + [pick(p, wide) for p in own])
    keys = {*a.by, *hull.by}
    by = {k: pick(a.by.get(k, zero), wide) for k in keys}
    return type(a)(pick(a.value, hull.value), by)


SIMPLE = {
    "add": lambda kind, a, b, made: a + b,
    "sub": lambda kind, a, b, made: a - b,
    "mul": lambda kind, a, b, made: a * b,
    "div": lambda kind, a, b, made: a / b,
    "neg": lambda kind, a, b, made: -a,
    "twice": lambda kind, a, b, made: a + a,
    "inv": lambda kind, a, b, made: made(Interval(1.0)) / a,
    "tan": lambda kind, a, b, made: kind.sin(a) / kind.cos(a),
    "same": lambda kind, a, b, made: a,
    "hypot": lambda kind, a, b, made: kind.sqrt(kind.square(a) + kind.square(b)),
    "power": lambda kind, a, b, made: raised(kind, a, b),
    "orifice": lambda kind, a, b, made: kind.orifice(a, b),
    "maximum": lambda kind, a, b, made: kind.maximum(a, b),
    "minimum": lambda kind, a, b, made: kind.minimum(a, b),
    "if_else_zero": lambda kind, a, b, made: masked(kind, a, b, made),
}


def decided(c: Interval) -> tuple:
    """(surely true, surely false): any number but 0 is true."""
    return (c.lo > 0) | (c.hi < 0), (c.lo == 0) & (c.hi == 0)


def _not(a: Interval) -> Interval:
    yes, no = decided(a)
    return truth(no, yes)


def _and(a: Interval, b: Interval) -> Interval:
    (yes, no), (too, neither) = decided(a), decided(b)
    return truth(yes & too, no | neither)


def _or(a: Interval, b: Interval) -> Interval:
    return _not(_and(_not(a), _not(b)))


def truth(yes: Any, no: Any) -> Interval:
    return Interval(np.where(yes, 1.0, 0.0), np.where(no, 0.0, 1.0))


def _same(a: Interval, b: Interval):
    return (a.lo == a.hi) & (b.lo == b.hi) & (a.lo == b.lo)


def _apart(a: Interval, b: Interval):
    return (a.hi < b.lo) | (b.hi < a.lo)


DECIDED = {
    "less": lambda a, b: truth(a.hi < b.lo, a.lo >= b.hi),
    "at_most": lambda a, b: truth(a.hi <= b.lo, a.lo > b.hi),
    "equal": lambda a, b: truth(_same(a, b), _apart(a, b)),
    "different": lambda a, b: truth(_apart(a, b), _same(a, b)),
    "not": _not,
    "and": _and,
    "or": _or,
    "sign": lambda a: Interval(np.sign(a.lo), np.sign(a.hi)),
    "floor": lambda a: Interval(np.floor(a.lo), np.floor(a.hi)),
    "ceil": lambda a: Interval(np.ceil(a.lo), np.ceil(a.hi)),
}
