"""Hidden modes are named, and unstable ones violate however quiet the output."""

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Sampled, Scenario
from workbench.verification import claims as C
from workbench.verification.judge import verify
from workbench.verification.linear.hidden import hidden_modes


@pytest.mark.parametrize("T", [None, 0.05], ids=["continuous", "sampled"])
@pytest.mark.parametrize("λ, holds", [(-0.7, True), (0.2, False)])
@pytest.mark.parametrize(
    "A, words",
    [
        (((-1.1, 0.0), (0.4, None)), "no measurement shows it"),
        (((-1.1, 0.4), (0.0, None)), "no command moves it"),
        (((-1.1, 0.0), (0.0, None)), "no command moves it and no measurement shows it"),
    ],
)
def test_a_hidden_mode_is_named(T, λ, holds, A, words):
    rows = tuple(tuple(λ if v is None else v for v in row) for row in A)
    plant = Linear(rows, ((1.0,), (0.0,)), ((1.0, 0.0),), x0=(0.0, 0.0))
    law = Feedback(plant, ((0.5,),))
    (v,) = verify(
        ClosedLoop(plant, law if T is None else Sampled(law, T)),
        Scenario(duration=0.2),
        [C.LinearStability()],
    )
    assert (
        v.holds is holds and f"hidden mode: {words}: λ = {λ:.4g} 1/s" in v.worst and "x1" in v.worst
    )


def test_what_is_seen_and_driven_is_not_hidden():
    """At random, in units far apart; and the same in other coordinates with one mode hidden."""
    rng = np.random.default_rng(3)
    for n in (2, 4, 6):
        d = 10.0 ** rng.integers(-4, 5, n)
        A = rng.normal(size=(n, n)) * d[:, None] / d
        B, C_ = rng.normal(size=(n, 1)) * d[:, None], rng.normal(size=(1, n)) / d
        assert hidden_modes(A, B, C_, [f"x{i}" for i in range(n)]) == ()
    V = rng.normal(size=(3, 3))
    B = V @ np.array([[1.0], [2.0], [0.0]])
    A, C_ = V @ np.diag([-1.0, -2.0, 0.4]) @ np.linalg.inv(V), np.ones((1, 3))
    (found,) = hidden_modes(A, B, C_, ["a", "b", "c"])
    assert found.eigenvalue.real == pytest.approx(0.4) and found.why == "no command moves it"


def test_of_a_hidden_mode_the_three_states_that_take_part_most_are_named():
    """A chain of which one mode is hidden, as large in four states as stated: the first three, if they take part at all."""
    for shares, names in (((0.6, 0.3, 0.1, 0.0), "ab"), ((0.2, 0.3, 0.27, 0.23), "bcd")):
        v = np.sqrt(shares)
        others = np.linalg.svd(v[None])[2][1:].T
        A = 0.4 * np.outer(v, v) - others @ np.diag([1.0, 2.0, 3.0]) @ others.T
        B = others @ np.ones((3, 1))
        (found,) = hidden_modes(A, B, np.ones((1, 4)), list("abcd"))
        assert found.states == tuple(sorted(names, key=lambda n: -shares["abcd".index(n)]))


def test_of_a_hidden_pair_one_is_named():
    A = np.array([[0.1, 3.0, 0.0], [-3.0, 0.1, 0.0], [0.0, 0.0, -1.0]])
    (found,) = hidden_modes(A, [[0.0], [0.0], [1.0]], np.ones((1, 3)), list("abc"))
    assert found.eigenvalue == pytest.approx(0.1 + 3j) and found.why == "no command moves it"
