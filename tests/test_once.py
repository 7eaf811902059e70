"""In a trace an expression is built once; what comes out is the same to the last bit, and numbers are computed every time."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY

from controllers import VDC
from plants import machine
from workbench import ClosedLoop, Sampled
from workbench.contract import once as shared
from workbench.contract.once import once, traced
from workbench.numerics import calculus


@dataclass(frozen=True)
class Spring:
    k: object
    asked: tuple = ()

    @once
    def forces(self, x, scale=1.0):
        COUNT.append(scale)
        return [self.k * x[0] * scale, x[1]]


COUNT: list = []


@pytest.fixture(autouse=True)
def _counted():
    COUNT.clear()


def test_the_same_arguments_are_entered_once_while_something_is_traced():
    spring, x = Spring(ca.SX.sym("k")), [ca.SX.sym("a"), 2.0]
    with traced():
        first = spring.forces(x)
        again = spring.forces(list(x))
        assert len(COUNT) == 1 and first[0] is again[0]
        again.append("a caller's own")
        assert len(spring.forces(tuple(x))) == 2
        spring.forces(x, scale=2.0)
        spring.forces([ca.SX.sym("a"), 2.0])
        Spring(ca.SX.sym("k")).forces(x)
        assert COUNT == [1.0, 1.0, 2.0, 1.0, 1.0]


def test_zeros_of_two_signs_and_numbers_of_two_kinds_are_not_the_same():
    spring = Spring(3.0)
    with traced():
        for x in ([0.0, 1.0], [-0.0, 1.0], [0, 1.0], [False, 1.0]):
            spring.forces(x)
    assert len(COUNT) == 4


def test_without_a_trace_nothing_is_kept():
    spring = Spring(3.0)
    assert spring.forces([1.0, 2.0]) is not spring.forces([1.0, 2.0])
    assert len(COUNT) == 2
    with traced():
        pass
    assert shared._built.get() is None


def loops():
    crane = machine("hiab-xs031").plant.locked(extension=0.5)
    yield "crane", ClosedLoop(crane, Sampled(VDC(crane), 1e-3))
    yield "continuous", ClosedLoop(crane, VDC(crane, derivative="dirty"))
    for name in ("tree", "load sensing", "two lines", "electro-hydraulic", "in closed form"):
        yield name, EVERY[name]()


@pytest.mark.parametrize("system", [pytest.param(s, id=name) for name, s in loops()])
def test_a_trace_with_shared_expressions_gives_the_same_bits(system):
    live = tuple(s.name for s in system.inputs)
    with traced():
        with_sharing = calculus._trace(system, live)
    without = calculus._trace(system, live)
    rng = np.random.default_rng(3)
    x = np.array(system.initial()) * (1 + 1e-3 * rng.standard_normal(len(system.initial())))
    w = 1e-2 * rng.standard_normal(len(live))
    for name in ("flow", "log", "out", "jump", "start"):
        values = [
            np.array(getattr(found, name)(0.3, x, w, found.constants(system))).ravel()
            for found in (with_sharing, without)
        ]
        assert np.array_equal(*values, equal_nan=True), name
        assert np.isfinite(values[0]).any() or not values[0].size
