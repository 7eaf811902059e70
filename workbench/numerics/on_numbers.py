"""A function of numbers that is called often, as one graph: its Python is walked through once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def on_numbers(f: Callable[[list], Sequence[Sequence]], n: int) -> Callable[..., list[np.ndarray]]:
    """`f` as a function of n numbers that gives each of its lists of scalars as an array, with the operations of `f` itself.

    f may not ask what its argument is: it is called with symbols.
    """
    import casadi as ca  # reading a file does without

    from workbench.numerics.expressions import column, symbols

    x, entries = symbols("x", n)
    graph = ca.Function("on_numbers", [x], [column(made) for made in f(entries)])

    def at(values: Sequence[float]) -> list[np.ndarray]:
        return [np.array(made).ravel() for made in graph.call([ca.DM(values)])]

    return at
