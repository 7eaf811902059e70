"""Expressions that are written quickly: CasADi's, with operators that go to their node without a search.

`a * b` of `casadi.SX` tries every kind of operand before it finds its own, which takes 12 µs; a crane under its law asks for some
ten thousand. `SX.binary` and `SX.unary` make the same node in 2 µs. The graph is the same, and all else is that of an `SX`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import casadi as ca
import numpy as np

_binary = ca.SX.binary
_unary = ca.SX.unary


def quick(e: ca.SX) -> Expression:
    """This expression, from now on with quick operators."""
    e.__class__ = Expression
    return e


def _operator(name: str, op: int, turned: bool = False) -> Callable:
    """The operator `name`, by its node where both sides are scalars or expressions, else as CasADi has it."""
    general = getattr(ca.SX, name)

    def made(x: ca.SX, y: Any) -> Any:
        if type(y) not in _PLAIN:
            return general(x, y)
        return quick(_binary(op, y, x) if turned else _binary(op, x, y))

    return made


@final
class Expression(ca.SX):
    """An `SX` whose operators, and those of NumPy on it, are quick and give such expressions again."""

    __add__ = _operator("__add__", ca.OP_ADD)
    __radd__ = _operator("__radd__", ca.OP_ADD, turned=True)
    __sub__ = _operator("__sub__", ca.OP_SUB)
    __rsub__ = _operator("__rsub__", ca.OP_SUB, turned=True)
    __mul__ = _operator("__mul__", ca.OP_MUL)
    __rmul__ = _operator("__rmul__", ca.OP_MUL, turned=True)
    __truediv__ = _operator("__truediv__", ca.OP_DIV)
    __rtruediv__ = _operator("__rtruediv__", ca.OP_DIV, turned=True)
    __lt__ = _operator("__lt__", ca.OP_LT)
    __le__ = _operator("__le__", ca.OP_LE)
    __gt__ = _operator("__gt__", ca.OP_LT, turned=True)
    __ge__ = _operator("__ge__", ca.OP_LE, turned=True)

    def __pow__(self, n: Any, modulo: Any = None) -> Any:
        if modulo is not None or type(n) not in _PLAIN:
            return super().__pow__(n, modulo)
        return quick(_binary(ca.OP_POW, self, n))

    def __neg__(self) -> Any:
        return quick(super().__neg__())

    def __abs__(self) -> Any:
        return quick(_unary(ca.OP_FABS, self))

    def __getitem__(self, at: Any) -> Any:
        return quick(super().__getitem__(at))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **how: Any) -> Any:
        op = _NODES.get(ufunc) if method == "__call__" and not how else None
        if op is None or not all(type(v) in _PLAIN for v in inputs):
            return _again(super().__array_ufunc__(ufunc, method, *inputs, **how))
        return quick(_binary(op, *inputs) if len(inputs) == 2 else _unary(op, *inputs))

    def __array_function__(self, func: Any, types: Any, args: Sequence, how: Any) -> Any:
        return _again(super().__array_function__(func, (ca.SX,), args, how))


def _again(made: Any) -> Any:
    return quick(made) if type(made) is ca.SX else made


_PLAIN = frozenset((Expression, ca.SX, float, int, np.float64))
_NODES = {
    np.absolute: ca.OP_FABS,
    np.sqrt: ca.OP_SQRT,
    np.sign: ca.OP_SIGN,
    np.exp: ca.OP_EXP,
    np.log: ca.OP_LOG,
    np.sin: ca.OP_SIN,
    np.cos: ca.OP_COS,
    np.tan: ca.OP_TAN,
    np.arcsin: ca.OP_ASIN,
    np.arccos: ca.OP_ACOS,
    np.arctan: ca.OP_ATAN,
    np.tanh: ca.OP_TANH,
    np.floor: ca.OP_FLOOR,
    np.add: ca.OP_ADD,
    np.subtract: ca.OP_SUB,
    np.multiply: ca.OP_MUL,
    np.divide: ca.OP_DIV,
    np.minimum: ca.OP_FMIN,
    np.maximum: ca.OP_FMAX,
    np.arctan2: ca.OP_ATAN2,
}


def column(values: Sequence) -> ca.SX:
    """Expressions and numbers as one column."""
    return (
        ca.vertcat(*[v if isinstance(v, ca.SX) else ca.SX(float(v)) for v in values])
        if len(values)
        else ca.SX(0, 1)
    )


def symbols(name: str, n: int) -> tuple[ca.SX, list]:
    """A column of n symbols and its entries."""
    s = ca.SX.sym(name, n)
    return s, [quick(s[i]) for i in range(n)]
