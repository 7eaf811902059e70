"""Roots, quotients, logarithms and powers: several in one text, and any of them outside its domain spoils a proof."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import casadi as ca
import numpy as np
import pytest

from workbench import Signal, System
from workbench.numerics.intervals.enclosure import box, enclose
from workbench.verification.linear.family import continuous, stepped
from workbench.verification.linear.robust import robust_stability
from workbench.verification.rigorous.supplied import check_supplied

DEFINED = {
    "root": lambda x: np.sqrt(x + 3.0),
    "quotient": lambda x: 1 / (x - 4.0),
    "logarithm": lambda x: np.log(x + 3.0),
    "power": lambda x: (x + 3.0) ** 1.7,
}
UNDEFINED = {
    "root": lambda x: np.sqrt(x - 0.5),
    "quotient": lambda x: 1 / (x - 0.5),
    "logarithm": lambda x: np.log(x - 0.5),
    "power": lambda x: (x - 0.5) ** 1.7,
}


@dataclass(frozen=True)
class Text(System):
    """ẋ = f(x)."""

    f: Callable[[Any], Any]
    states, inputs = (Signal("x"),), ()

    def initial(self):
        return [0.8]

    def rhs(self, t, x, u):
        return [self.f(x[0])]


@pytest.mark.parametrize("bad", UNDEFINED)
@pytest.mark.parametrize("good", DEFINED)
@pytest.mark.parametrize("order", list(permutations((0, 1))), ids=["first", "second"])
def test_one_of_two_that_is_undefined_is_enough(good, bad, order):
    """Each alone, both in either order, and one inside the other: what is not surely defined is said to be unsure."""
    x = ca.SX.sym("x")
    here = [[box([-1.0], [1.0])]]

    def sure(e):
        return bool(enclose(ca.Function("f", [x], [e]), here)[0].sure[0])

    parts = [DEFINED[good](x), UNDEFINED[bad](x)]
    assert sure(parts[0]) and not sure(parts[1])
    first, second = (parts[i] for i in order)
    assert (
        not sure(first + second) and not sure(first * second) and sure(DEFINED[good](x) + parts[0])
    )
    assert not sure(UNDEFINED[bad](DEFINED["root"](x) * 0.3))
    for branch in (
        np.where(first < second, 1.0, 2.0),
        np.where(second <= first, x, 2.0),
        np.where(first == second, 1.0, x),
        np.where(first != second, 1.0, x),
        np.minimum(first, second),
        np.abs(second + first),
        np.sign(first - second),
        np.floor(first + second),
    ):
        assert not sure(branch)


@pytest.mark.parametrize("bad", UNDEFINED)
@pytest.mark.parametrize("good", DEFINED)
@pytest.mark.parametrize("place", ["first", "second"])
def test_no_function_is_proven_where_the_flow_is_undefined(good, bad, place):
    """The flow would fall wherever it is a number: ẋ = −x (3 + small terms)."""

    def flow(x):
        terms = [0.01 * DEFINED[good](x), 0.01 * UNDEFINED[bad](x)]
        return -x * (3.0 + sum(terms if place == "second" else terms[::-1]))

    def sound(x):
        return -x * (3.0 + 0.01 * DEFINED[good](x) + 0.01 * DEFINED["root"](x))

    range_ = {"x": (-0.4, 0.9)}
    assert check_supplied("x**2", Text(sound), range_, 0.05, budget=2000).holds is True
    assert check_supplied("x**2", Text(flow), range_, 0.05, budget=2000).holds is not True


@pytest.mark.parametrize(
    "term",
    [
        "sqrt(x + 3) + sqrt(x - 0.5)",
        "sqrt(x - 0.5) + sqrt(x + 3)",
        "sqrt(x + 3)/(x - 0.5)",
        "1/(x - 4) + 1/(x - 0.5)",
        "1/(x - 0.5) + 1/(x - 4)",
        "sqrt(sqrt(x + 3) - 1.8)",
    ],
)
def test_no_function_is_proven_where_it_is_undefined_itself(term):
    falls = Text(lambda x: -3.0 * x)
    range_ = {"x": (-0.4, 0.9)}
    assert check_supplied("x**2 + 0*sqrt(x + 3)", falls, range_, 0.05, budget=2000).holds is True
    assert (
        check_supplied(f"x**2 + 0.001*x**2*({term})", falls, range_, 0.05, budget=2000).holds
        is not True
    )


@pytest.mark.parametrize(
    "made", [continuous, lambda names, A: stepped(names, A, 0.1)], ids=["continuous", "sampled"]
)
@pytest.mark.parametrize("bad", UNDEFINED)
@pytest.mark.parametrize("good", DEFINED)
def test_no_box_is_proven_where_an_entry_is_undefined(made, good, bad):
    """Two entries of the matrix, each with an operation of its own; the later one leaves its domain."""

    def matrix(θ, second):
        return [[-0.5 + 0.01 * DEFINED[good](θ), 0.0], [0.0, -0.5 + 0.01 * second(θ)]]

    sound = made(("θ",), lambda θ: matrix(θ[0], DEFINED["root"]))
    spoiled = made(("θ",), lambda θ: matrix(θ[0], UNDEFINED[bad]))
    assert robust_stability(sound, [(-1.0, 1.0)], changes=()).holds is True
    assert robust_stability(spoiled, [(-1.0, 1.0)], budget=60).holds is not True
