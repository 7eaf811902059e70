"""Thousands of boxes at once through a traced function, in compiled code that rounds every result outwards.

    Walk(f).over(low, high)      low[k], high[k]: bounds of input entry k, arrays (N,) or one number for all boxes
    walk(f, arguments)           the boxes of `intervals.enclose(f, arguments)`, or tighter ones

Why the bounds hold: intervals/exact.h (sums, products, quotients, roots: the processor's own upward rounding of h and of n = −l)
and intervals/library.h (functions of the C library: widened by four units in the last place). What was compiled is tried on
numbers whose exact results are known as fractions before it is used (`rounds_outwards`); where there is no compiler, or it
does not round, the NumPy walk of intervals.py answers instead, slower and slightly wider.

Source: interval arithmetic with directed rounding and negated lower bounds [Moore09].
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple, final

import casadi as ca
import numpy as np

from workbench.contract.scalars import Scalar
from workbench.numerics.c_code import own_text
from workbench.numerics.compiler import library
from workbench.numerics.intervals.enclosure import box, enclose
from workbench.numerics.intervals.program import Kink, Program, program
from workbench.numerics.intervals.rules import Box
from workbench.numerics.lanes import ALIGNED, aligned

WIDTH = 32  # boxes side by side, as in intervals/exact.h
SLOT = 17 * WIDTH + (-17 * WIDTH) % ALIGNED  # bytes of a slot: two bounds and whether it is sure
FLAGS = ("-O3", "-frounding-math", "-fno-trapping-math", "-fno-fast-math", "-ffp-contract=off")
FILES = ("intervals/exact.h", "intervals/library.h", "intervals/series.h", "intervals/walk.c")
ORDERS = 12  # most Taylor coefficients, as in intervals/series.h


class Enclosed(NamedTuple):
    """Boxes (outputs, N) of every output entry; `sure` is False where a domain was left.

    `straddled` (kinks, N) says for each of the program's kinks in which boxes both of its sides are possible.
    """

    low: np.ndarray
    high: np.ndarray
    sure: np.ndarray
    straddled: np.ndarray


class _Program(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in "rows slots constants inputs outputs kinks".split()),
        *((name, ctypes.c_void_p) for name in ("code", "constant", "leaving")),
    ]


def _at(array: np.ndarray) -> int:
    return array.ctypes.data


@cache
def compiled() -> Any:
    """The walk's library, once it was seen to round outwards; None without a compiler that makes it so."""
    lib = library("\n".join(own_text(name) for name in FILES), FLAGS)
    return lib if lib is not None and rounds_outwards(lib) else None


# Boxes (a from, a to, b from, b to): every corner carries a bound of a product or a quotient once, and points.
TRIED = np.array(
    [
        (u * p, v * p, w * q, z * q)
        for p, q in ((0.1, 0.3), (0.7, 1e-17), (1e10 / 3, 7.1))
        for u, v in ((1, 1), (1, 1.7), (-1.7, -1), (-1.3, 0.9), (-0.4, 0.7))
        for w, z in ((1, 1), (1, 1.9), (-1.9, -1))
    ]
).T


def rounds_outwards(lib: Any) -> bool:
    """Sums, products, quotients, squares and roots over TRIED: every exact corner, as a fraction, lies inside."""
    x = ca.SX.sym("x", 2)
    a = x[0]
    b = x[1]
    texts = [a + b, a - b, a * b, a / b, -a - b, -a * b, -a / b, 1 / b, a * a, ca.sqrt(a * a)]
    f = ca.Function("probe", [x], [ca.vertcat(*texts, ca.sqrt(ca.fabs(b)))])
    low = TRIED[::2]
    high = TRIED[1::2]
    found = Walk(f, lib).over(list(low), list(high))
    for k in range(TRIED.shape[1]):
        bounds = [(Fraction(i), Fraction(j)) for i, j in zip(found.low[:, k], found.high[:, k])]
        root = bounds.pop()
        for u, v in product((low[0, k], high[0, k]), (low[1, k], high[1, k])):
            u = Fraction(u)
            v = Fraction(v)
            exact = [u + v, u - v, u * v, u / v, -u - v, -u * v, -u / v, 1 / v, u * u, abs(u)]
            if not all(i <= e <= j for (i, j), e in zip(bounds, exact)):
                return False
            if not root[0] ** 2 <= abs(v) <= root[1] ** 2:
                return False
    return True


@final
class Walk:
    """A traced SX function over boxes. `kinks` names its operations that are not differentiable everywhere."""

    def __init__(self, f: ca.Function, lib: Any = None) -> None:
        self.f = f
        self.program: Program = program(f)
        self.kinks: tuple[Kink, ...] = self.program.kinks
        self._lib = lib or compiled()
        p = self.program
        sizes = (len(p.rows), p.slots, len(p.constants), p.inputs, len(p.leaving), len(p.kinks))
        self._asked = _Program(*sizes, _at(p.rows), _at(p.constants), _at(p.leaving))

    def over(
        self, low: Sequence[Scalar], high: Sequence[Scalar], kinks: bool = False, threads: int = 1
    ) -> Enclosed:
        """Enclosures over N boxes; raises ValueError for a wrong number of entries, NaN, or low > high."""
        bounds = [_bounds(a, b) for a, b in zip(low, high, strict=True)]
        self._checked(len(bounds))
        n = _common(bounds, self.f.name())
        if self._lib is None:
            return _by_numpy(self.f, bounds, len(self.kinks), n)
        return self._compiled([[b] for b in bounds], n, kinks, threads, 1)

    def series(self, low: Sequence, high: Sequence, orders: int, threads: int = 1) -> Enclosed:
        """Taylor coefficients in t, 0 to orders − 1, of the outputs: (outputs × orders, N), an output's one after the other.

        low[k], high[k] are bounds of entry k's value where it does not change with t, or lists of the bounds of `orders` of
        its coefficients. With a box of coefficients over a range of t, the results are boxes over that range.
        """
        bounds = [_coefficients(a, b, orders) for a, b in zip(low, high, strict=True)]
        self._checked(len(bounds))
        n = _common([b for row in bounds for b in row if b is not None], self.f.name())
        if self._lib is None:
            raise RuntimeError("Taylor coefficients of boxes need a C compiler (gcc or clang)")
        if orders > ORDERS:
            raise ValueError(f"expected at most {ORDERS} Taylor coefficients, got {orders}")
        return self._compiled(bounds, n, False, threads, orders)

    def _checked(self, given: int) -> None:
        if given != self.program.inputs:
            expected = f"expected bounds of {self.program.inputs} entries"
            raise ValueError(f"{self.f.name()}: {expected}, got {given}")

    def _compiled(self, rows: list, n: int, kinks: bool, threads: int, orders: int) -> Enclosed:
        p = self.program
        shape = (len(p.leaving) * orders, n)
        found = Enclosed(
            np.empty(shape),
            np.empty(shape),
            np.empty(shape, np.uint8),
            np.zeros((len(p.kinks), n if kinks else 0), np.uint8),
        )
        bounds = [b for row in rows for b in (*row, *[None] * (orders - len(row)))]
        lows = (ctypes.c_void_p * len(bounds))(*(b and _at(b[0]) for b in bounds))
        highs = (ctypes.c_void_p * len(bounds))(*(b and _at(b[1]) for b in bounds))
        steps = np.array([int(b is not None and len(b[0]) == n > 1) for b in bounds], np.int32)
        told = _at(found.straddled) if kinks and p.kinks else None
        edges = _edges(n, threads)

        def part(first: int, last: int) -> int:
            room = aligned(p.slots * orders * SLOT // 8)
            flat = np.zeros(p.slots, np.uint8)
            heads = (ctypes.byref(self._asked), orders, lows, highs, ctypes.c_void_p(_at(steps)))
            outs = [ctypes.c_void_p(_at(a)) for a in found[:3]]
            spans = [ctypes.c_long(k) for k in (n, first, last)]
            own = [ctypes.c_void_p(_at(a)) for a in (room, flat)]
            last_ones = (ctypes.c_void_p(told), *spans, *own)
            return self._lib.walked(*heads, *outs, *last_ones)

        if any(_each(part, edges)):
            raise RuntimeError("interval walk: this processor cannot round upwards")
        return Enclosed(found.low, found.high, found.sure.view(bool), found.straddled.view(bool))


def _each(part: Any, edges: np.ndarray) -> list[int]:
    """The parts between the edges, one thread each."""
    spans = list(zip(edges[:-1].tolist(), edges[1:].tolist()))
    if len(spans) == 1:
        return [part(*spans[0])]
    with ThreadPoolExecutor(len(spans)) as pool:
        return list(pool.map(lambda span: part(*span), spans))


def _edges(n: int, threads: int) -> np.ndarray:
    blocks = -(-n // WIDTH)
    parts = max(1, min(threads, blocks))
    return np.minimum(np.arange(parts + 1) * -(-blocks // parts) * WIDTH, n)


def _bounds(low: Scalar, high: Scalar) -> tuple[np.ndarray, np.ndarray]:
    """Two contiguous arrays of floats of one length."""
    low, high = np.broadcast_arrays(
        np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float))
    )
    if not (low <= high).all():
        raise ValueError("box: expected low ≤ high, numbers everywhere")
    return np.ascontiguousarray(low), np.ascontiguousarray(high)


def _coefficients(low: Any, high: Any, orders: int) -> list:
    """Bounds of each coefficient; of a number that does not change with t the first alone."""
    if not isinstance(low, (list, tuple)):
        return [_bounds(low, high)]
    return [_bounds(a, b) for a, b in zip(low, high, strict=True)][:orders]


def _common(bounds: list, name: str) -> int:
    n = max((len(a) for a, _ in bounds), default=1)
    if not all(len(a) in (1, n) for a, _ in bounds):
        raise ValueError(f"{name}: expected arrays of {n} boxes or single numbers")
    return n


def _by_numpy(f: ca.Function, bounds: list, kinks: int, n: int) -> Enclosed:
    """The same question to the NumPy walk, which cannot tell straddled kinks: all of them are."""
    pairs = iter(bounds)
    asked = [[box(*next(pairs)) for _ in range(f.nnz_in(i))] for i in range(f.n_in())]
    found = enclose(f, asked)
    low, high, sure = (np.array([np.broadcast_to(b[k], (n,)) for b in found]) for k in range(3))
    return Enclosed(low, high, sure, np.ones((kinks, n), bool))


def walk(f: ca.Function, arguments: Sequence[Sequence[Box]]) -> list[Box]:
    """`intervals.enclose` in compiled code: arguments[i][k] is the box of entry k of input i; boxes of all output entries."""
    flat = [b for column in arguments for b in column]
    found = Walk(f).over([b.low for b in flat], [b.high for b in flat])
    sure = np.ones(found.sure.shape[1:], bool)
    for b in flat:
        sure = sure & b.sure
    return [Box(low, high, s & sure) for low, high, s in zip(*found[:3])]
