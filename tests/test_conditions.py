"""Branches behind conditions made of several comparisons, and behind windows of past samples, in laws that are expressions."""

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from workbench import ClosedLoop, Sampled, Scenario, Signal, Sine
from workbench.contract.plain import Plain
from workbench.contract.system import Controller
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.practical.switches.graph import shown, switches_in

PLANT = LinearPlant((0.4,), (1.0,), (1.0,), ("y",), ("u",), ("y",))
PATH = Scenario(8.0, Sine("output", 0.0, 0.05, 0.25))


@dataclass(frozen=True)
class Guarded(Controller):
    """u = 6 e, until for good it is off: once ten errors in a row were beyond h, or the error was, with the reference high."""

    how: str
    h: float = 0.2
    plant: Any = PLANT

    measured = PLANT.outputs
    commands = PLANT.inputs
    references = (Signal("y_d", "1", "", "reference"),)
    states = (Signal("off", "1"), *(Signal(f"w_{i}", "1") for i in range(10)))

    def initial(self):
        return [0.0] * 11

    def step_at(self, T_s, t, z, y, r):
        off, *window = z
        e = r[0] - y[0]
        window = [np.fabs(e), *window[:-1]]
        off = np.where(self.trips(e, r[0], window), 1.0, off)
        return [off, *window], [6 * e * (1 - off)]

    def trips(self, e, r, window):
        least = window[0]
        for one in window[1:]:
            least = np.fmin(least, one)
        high = r > 0.04
        return {
            "window": least > self.h,
            "product": (e > self.h) * high,
            "and": np.logical_and(e > self.h, high),
            "nested": np.where(e > self.h, np.where(high, 1.0, 0.0), 0.0),
        }[self.how]


def practical(law):
    loop = ClosedLoop(PLANT, Sampled(law, T_s=0.02))
    (verdict,) = verify(loop, PATH, [C.PracticalStability()])
    return verdict


@pytest.mark.parametrize("how", ["window", "product", "and", "nested"])
def test_a_law_that_goes_off_for_good_is_undecided_and_one_that_cannot_get_there_holds(how):
    """At h = 0.2 a push is enough; at 10,000 nothing gets there."""
    found = practical(Guarded(how))
    assert found.holds is None and "no run took the other side of" in found.worst
    assert practical(Guarded(how, h=1e4)).holds is True


def test_an_edge_on_a_part_of_the_path_is_tried_with_the_reference_held_there():
    assert "held there, y does not come back" in practical(Guarded("and")).worst


def test_conditions_of_several_comparisons_are_switches_where_they_are_asked_for():
    x, r, k = ca.SX.sym("x"), ca.SX.sym("r"), ca.SX.sym("k")
    high, ahead = x > 2, r > 3
    alone = [k * high + ahead, k * x * high, ca.if_else(high, x, r)]
    joined = [
        ca.if_else(ca.logic_and(high, ahead), x, r),
        ca.if_else(high, ca.if_else(ahead, x, r), k),
        2 * k * high * ahead,
    ]
    for expression in joined:
        told = [shown(*one) for one in switches_in([expression], conditions=True)]
        assert "the condition 2 < x and 3 < r" in told
        assert not [t for t in (shown(*o) for o in switches_in([expression])) if "and" in t]
    for expression in alone:
        assert all(kind == ca.OP_LT for kind, _, _ in switches_in([expression], conditions=True))


# ---- laws that are curves ------------------------------------------------------------------------------------------------
def soft(e):
    return 3 * np.tanh(2 * e)


def cubic(e):
    return 6 * e + 40 * e * e * e


@dataclass(frozen=True)
class Curve(Controller):
    """u = f(e), as an expression."""

    f: Any
    plant: Any = PLANT

    measured = PLANT.outputs
    commands = PLANT.inputs
    references = (Signal("y_d", "1", "", "reference"),)

    def command(self, t, z, y, r):
        return [self.f(r[0] - y[0])]


@pytest.mark.parametrize("f, holds", [(soft, True), (cubic, None)])
def test_a_curve_is_judged_alike_as_an_expression_and_called(f, holds):
    """f = tanh holds; a cube makes the sampled loop diverge from 1.7 on. Neither is asked whether a linear loop is stable."""
    called = Plain(lambda t, y, r: [f(r[0] - y[0])], references=("y_d",))
    plant = replace(PLANT, A=(-0.4,))
    for law in (Curve(f, plant), called):
        found = verify(ClosedLoop(plant, Sampled(law, T_s=0.02)), PATH)
        keys = {v.key: v for v in found}
        assert "linear-stability" not in keys and "linear-stability" in keys["unasked"].worst
        assert not keys["unasked"].counted
        assert keys["practical-stability"].holds is holds, keys["practical-stability"].worst


def test_a_law_that_is_linear_is_asked_for_linear_stability():
    found = verify(ClosedLoop(PLANT, Sampled(Curve(lambda e: 6 * e), T_s=0.02)), PATH)
    assert {v.key: v.holds for v in found}["linear-stability"] is True
