"""Sums, differences and products of scalars, floats or expressions, in which exact zeros and ones leave no trace.

A fixed base, a plane, an offset that is not there are floats 0.0: with these they drop out of the graph that is traced.
Of two floats everything is computed: NaN stays NaN.
"""

from __future__ import annotations


def plain_product(a, b):
    if type(a) is float and type(b) is not float:
        return 0.0 if a == 0.0 else b if a == 1.0 else a * b
    if type(b) is float and type(a) is not float:
        return 0.0 if b == 0.0 else a if b == 1.0 else a * b
    return a * b


def plain_sum(a, b):
    if type(a) is float and a == 0.0:
        return b
    if type(b) is float and b == 0.0:
        return a
    return a + b


def plain_difference(a, b):
    if type(b) is float and b == 0.0:
        return a
    if type(a) is float and a == 0.0:
        return -b
    return a - b
