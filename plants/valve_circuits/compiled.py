"""The closed forms of `closed` compiled for scalars: the same text, `np.where` read as a choice between two numbers."""

from __future__ import annotations

import types

import numpy as np

from plants.valve_circuits import closed
from plants.valve_circuits.jit import jit


@jit
def _choice(condition, a, b):
    return a if condition else b


_scalar = types.ModuleType("scalar")  # what `np` means in the compiled text
for _name in ("sqrt", "abs", "maximum", "minimum"):
    setattr(_scalar, _name, getattr(np, _name))
_scalar.where = _choice
_names = {
    "__name__": __name__,  # a function that Numba reads back from disk looks for its module
    "np": _scalar,
    "_TINY": closed._TINY,
    "_LEAST": closed._LEAST,
    "_FAR": closed._FAR,
    "Side": closed.Side,
}
for _f in (
    closed.ratio,
    closed.Φ_A,
    closed.Φ_B,
    closed.in_series,
    closed.rising_at,
    closed.rising,
    closed.standing,
    closed.sides,
):
    _names[_f.__name__] = jit(types.FunctionType(_f.__code__, _names, _f.__name__))
_sides = _names["sides"]
_standing = _names["standing"]
_rising = _names["rising"]


@jit
def scalar(row, supply, β, f):
    """`closed.Λ` of one section, only the direction that moves evaluated."""
    out, back = _sides(row, (supply[0], supply[1], supply[2]))
    if f < _standing(out):
        return _rising(out, β, f)
    return -_rising(back, β, -f) if f > -_standing(back) else 0.0


@jit
def scalar_all(rows, supply, β, f, v):
    """`scalar` at M points: rows (M, 9), supply (M, 3), β, f, v (M)."""
    for m in range(rows.shape[0]):
        v[m] = scalar(rows[m], supply[m], β[m], f[m])
