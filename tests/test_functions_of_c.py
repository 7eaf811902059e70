"""sin, cos and tanh of compiled loops: within a unit in the last place, and the same number alone and in a lane."""

import ctypes
from decimal import Decimal, localcontext

import numpy as np
import pytest

from workbench.numerics.c_code import NUMBERS
from workbench.numerics.compiler import library
from workbench.numerics.laned import width
from workbench.numerics.lanes import aligned

π = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
)
NAMES = ("sin", "cos", "tanh")
EACH = """
void each_{0}(long n, const real *x, real *y) {{ for (long k = 0; k < n; ++k) y[k] = LANED({0})(x[k]); }}
"""
ODD = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-160,
    0.625,
    -0.625,
    22.0,
    -22.0,
    np.nextafter(22.0, 0.0),
    40.0,
)
FAR = (1000.0, np.nextafter(1000.0, 2e3), -1000.5, 1e5, -1e22, 1e308, np.inf, -np.inf, np.nan)


def compiled(lanes):
    """name → function of an array, over so many lanes."""
    head = f"#define LANES {lanes}\n"
    lib = library(head + NUMBERS + "".join(map(EACH.format, NAMES)))

    def over(name, x):
        call = getattr(lib, f"each_{name}")
        call.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        blocks = -(-len(x) // lanes)
        given, found = aligned(blocks, lanes), aligned(blocks, lanes)
        given.ravel()[: len(x)] = x
        call(blocks, given.ctypes.data, found.ctypes.data)
        return found.ravel()[: len(x)].copy()

    return over


@pytest.fixture(scope="module")
def alone():
    return compiled(1)


def exact(name, x):
    """The function of a float in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        if name == "tanh":
            e = Decimal(2.0 * x).exp()
            return (e - 1) / (e + 1)
        turned = Decimal(x) - (2 * π) * (Decimal(x) / (2 * π)).to_integral_value()
        term = turned if name == "sin" else Decimal(1)
        total, k = term, 1 if name == "sin" else 0
        while abs(term) > Decimal("1e-58"):
            term *= -turned * turned / ((k + 1) * (k + 2))
            total, k = total + term, k + 2
        return total


def units(name, x, y):
    """How many units in the last place y is off, at most."""
    off = [abs(Decimal(float(b)) - exact(name, float(a))) for a, b in zip(x, y)]
    return max(float(d / Decimal(float(np.spacing(abs(b))))) for d, b in zip(off, y))


def arguments(name):
    rng = np.random.default_rng(5)
    if name == "tanh":
        return np.concatenate(
            [rng.uniform(-0.7, 0.7, 400), rng.uniform(0.6, 3.0, 800), rng.uniform(-25, 25, 200)]
        )
    quarters = np.arange(-636, 637, 3) * (np.pi / 4)
    near = rng.uniform(-3.2, 3.2, 600)
    return np.concatenate(
        [quarters, np.nextafter(quarters, 9.0), near, rng.uniform(-1000, 1000, 400)]
    )


@pytest.mark.parametrize("name", NAMES)
def test_within_a_unit_in_the_last_place(alone, name):
    """At multiples of π/4 too, where what is left of the argument is small."""
    x = arguments(name)
    assert units(name, x, alone(name, x)) < 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_lane_has_the_number_of_a_run_alone(alone, name):
    """Zeros of both signs, the least numbers, edges of regions, and, mixed with them, what the C library answers."""
    x = np.concatenate([arguments(name), ODD, FAR, np.tile([0.3, 1e4, np.nan, -7.0, 0.1], 7)])
    assert compiled(width())(name, x).tobytes() == alone(name, x).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_odd_arguments(alone, name):
    """As the C library has them."""
    x = np.array([*ODD, *FAR])
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, name)(x)
    found = alone(name, x)
    np.testing.assert_allclose(found, wanted, rtol=4e-16, atol=0)
    zero = wanted == 0
    assert (np.signbit(found[zero]) == np.signbit(wanted[zero])).all()
    if name == "tanh":
        assert (np.abs(found[~np.isnan(x)]) <= 1.0).all()
