"""Check that a method of a user's class gives the same with symbols as with numbers, so that it can be traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract import words
from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, leaves
from workbench.numerics.expressions import column, symbols

# How far from the start the text is compared, as a share of every number and of one.
NEAR = (0.0, 1e-3, 0.1)
SAME = 1e-7  # relative difference that rounding explains


class Unwritable(TypeError):
    """A symbol was asked for its number."""


@contextmanager
def no_numbers() -> Iterator[None]:
    """Inside, float(symbol), math.sin(symbol) and a symbol put into an array of numbers raise; else
    they would be NaN.
    """
    plain = ca.SX.__float__

    def refuse(self: Any) -> Any:
        if self.is_constant():
            return plain(self)
        raise Unwritable("a number was asked of an expression")

    ca.SX.__float__ = refuse
    try:
        yield
    finally:
        ca.SX.__float__ = plain


def traced(thing: Any, method: str, f: Callable, point: list[float], n: int) -> ca.Function:
    """(point, parameters) → what the method gives, from its text on symbols. InputError where that
    does not go through.
    """
    who = type(thing).__name__
    free = [leaf for leaf in leaves(thing) if not leaf.constant]
    p, entries = symbols("p", len(free))
    a, arguments = symbols("a", len(point))
    bound = bind(thing, {leaf.path: e for leaf, e in zip(free, entries)})
    try:
        with no_numbers():
            found = list(f(bound, arguments))
            value = column(found)
    except InputError:
        raise
    except Exception as why:
        raise words.failed(who, method, why, on_symbols=True) from why
    if value.numel() != n:
        raise InputError(
            f"{who}.{method} returns {n} numbers on numbers and {value.numel()} on expressions",
            mend="let the number of entries follow from structure only, never from a value",
        )
    return ca.Function("f", [a, p], [ca.densify(value)])


def apart(thing: Any, f: Callable, graph: ca.Function, point: list[float]) -> int | None:
    """Index of an entry that numbers and symbols disagree on, near the start; None where they agree."""
    p = [leaf.value for leaf in leaves(thing) if not leaf.constant]
    rng = np.random.default_rng(1)
    for share in NEAR:
        moved = np.array(point) + share * rng.uniform(-1, 1, len(point)) * (np.abs(point) + 1.0)
        first = _entry_apart(thing, f, graph, moved, p)
        # A switch may stand exactly on its edge, where rounding decides: two places side by side do not both do so.
        beside = moved * (1 + 1e-6) + 1e-9 * rng.uniform(0.5, 1.0, len(point))
        if first is not None and _entry_apart(thing, f, graph, beside, p) is not None:
            return first
    return None


def _entry_apart(thing: Any, f: Any, graph: Any, point: Any, p: Any) -> int | None:
    try:
        plain = np.array([float(v) for v in f(thing, point.tolist())])
    except (ArithmeticError, ValueError):  # outside the text's domain
        return None
    traced_values = np.array(graph(point, p)).ravel()
    size = np.maximum(np.abs(plain), np.abs(traced_values))
    finite = np.isfinite(plain)
    gap = (
        ~(np.abs(plain - traced_values) <= SAME * size + 1e-12 * size[finite].max(initial=0.0))
        & finite
    )
    return int(np.argmax(gap)) if gap.any() else None
