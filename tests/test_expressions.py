"""Quick expressions write the graph that CasADi's own operators write, node by node."""

import operator

import casadi as ca
import numpy as np
import pytest

from workbench.numerics.expressions import Expression, symbols

x, (a, b) = symbols("x", 2)
NUMBERS = (0.0, 1.0, -1.0, 2.5, 2, -3, np.float64(3.5), float("inf"))
PAIRS = [(a, b), (a, a), (-a, b), (2.0 * a, b * b), *((a, v) for v in NUMBERS)]
BOTH = {
    f.__name__: f
    for f in (
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.pow,
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
        np.add,
        np.subtract,
        np.multiply,
        np.divide,
        np.minimum,
        np.maximum,
        np.arctan2,
        np.hypot,
    )
} | {"where": lambda v, w: np.where(v > 0.5, v, w)}
ONE = {
    f.__name__: f
    for f in (
        operator.neg,
        abs,
        np.sqrt,
        np.sign,
        np.exp,
        np.log,
        np.sin,
        np.cos,
        np.tan,
        np.arcsin,
        np.arccos,
        np.arctan,
        np.tanh,
        np.cosh,
        np.floor,
        np.square,
    )
}


def plain(v):
    """The same expression without quick operators; a number as it is."""
    return ca.SX(v) if isinstance(v, ca.SX) else v


def check(f, given):
    quick = f(*given)
    own = f(*map(plain, given))
    assert type(own) is ca.SX
    assert type(quick) is Expression, "quickness is lost on the way"
    assert ca.is_equal(quick, own, 20) and str(quick) == str(own)


@pytest.mark.parametrize("f", BOTH.values(), ids=BOTH)
def test_two_operands_give_the_node_of_casadi(f):
    for v, w in PAIRS:
        check(f, (v, w))
        if isinstance(v, Expression) and not (f is operator.pow and isinstance(w, float | int)):
            check(f, (w, v))


@pytest.mark.parametrize("f", ONE.values(), ids=ONE)
def test_one_operand_gives_the_node_of_casadi(f):
    for v in (a, a * b, a - 1.0):
        check(f, (v,))


def test_either_side_may_be_an_expression_of_casadi():
    for mixed in (plain(a) - b, a - plain(b)):
        assert type(mixed) is Expression
        assert ca.is_equal(mixed, plain(a) - plain(b), 5)


def test_columns_keep_their_shape():
    e = 2.0 * (x[0] * x) - a
    assert e.shape == (2, 1)
    whole = ca.Function("f", [x], [e])
    assert np.array(whole([3.0, 5.0])).ravel().tolist() == [15.0, 27.0]


def test_what_cannot_be_multiplied_is_refused_as_casadi_does():
    with pytest.raises((NotImplementedError, TypeError)):
        a * "b"
