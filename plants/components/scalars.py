"""Sums, differences and products of scalars, floats or expressions, in which exact zeros and ones leave no trace.

A fixed base, a plane, an offset that is not there are floats 0.0: with these they drop out of the graph that is traced.
Of two floats everything is computed: NaN stays NaN.
"""

from __future__ import annotations


def plain_product(a, b):
    for number, other in ((a, b), (b, a)):
        if type(number) is float and type(other) is not float:
            if number == 0.0:
                return 0.0
            if number == 1.0:
                return other
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
