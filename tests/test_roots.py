"""Zeros of functions of one number: closed forms, jumps, flat and steep ones, within their brackets."""

import math

import pytest

from workbench.numerics.roots import zero

CASES = (
    (lambda x: x**3 - 2.0, 0.1, 5.0, 2.0 ** (1 / 3)),
    (lambda x: math.exp(x) - 1e9, -5.0, 100.0, math.log(1e9)),
    (lambda x: math.tanh(50.0 * (x - 1.0)), 0.0, 9.0, 1.0),
    (lambda x: 3.0 - x, 7.0, -2.0, 3.0),
    (lambda x: 1.0 if x > math.pi else -1.0, 1.0, 7.0, math.pi),  # jumps
)


@pytest.mark.parametrize("f, a, b, exact", CASES)
def test_a_zero_is_found_to_rounding(f, a, b, exact):
    calls = []
    x = zero(lambda s: (calls.append(s), f(s))[1], a, b)
    assert x == pytest.approx(exact, rel=3e-15)
    assert all(min(a, b) <= s <= max(a, b) for s in calls)
    assert len(calls) <= 70


def test_a_flat_zero_ends():
    assert zero(lambda x: (x - 1.0) ** 9, 0.0, 3.3) == pytest.approx(1.0, abs=1e-3)


def test_one_sign_is_refused():
    with pytest.raises(ValueError, match="one sign"):
        zero(lambda x: x * x + 1.0, -1.0, 2.0)
