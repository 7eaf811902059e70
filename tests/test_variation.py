"""Derivatives of whole runs: closed forms with kinks inside steps, differences of sampled loops, what has none."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from scipy.optimize import brentq
from small import Bent, Clock, Push

from controllers import PID
from workbench import ClosedLoop, Sampled, Scenario, Signal, Sine, System, Unit, simulate
from workbench.run.variation import Varying, has_variation

T_S = 0.02
PUSH = Push(lambda t: 1.3 * np.sin(2.2 * t) + 0.4)


def variation(job, ε=1e-4):
    """(log, d log / dε at 0) of job(ε) = (loop, scenario)."""
    loop, scenario = job(0.0)
    log = simulate(loop, scenario, rows="steps")
    assert has_variation(loop, scenario, log)
    return log, Varying(loop, scenario, log).along(job(-ε), job(ε), 2 * ε)


@pytest.mark.quick
@pytest.mark.parametrize("stiff", ((), ("y",)), ids=("RK4", "exponential"))
def test_over_kinks_it_is_that_of_the_closed_form(stiff):
    """y of Bent: dy/dx_0 is ∫ of the slope of its bent line, dy/dd is −∫ of the sign outside ±d; both jump inside steps."""
    d = 0.2
    x = lambda t: -0.31 + 1.3 / 2.2 * (1 - np.cos(2.2 * t)) + 0.4 * t
    at = [0.0, *(brentq(lambda s, v=v: x(s) - v, 0.0, 1.0) for v in (-d, 0.0, d)), 1.0]
    spans = np.diff(at)
    scenario = Scenario(1.0, disturbances={"w": PUSH}, max_step=0.05)
    started = lambda ε: (Bent(d, stiff=stiff), replace(scenario, offset={"x": ε}))
    log, moved = variation(started)
    y = log.names.index("y")
    assert log.time[-1] == pytest.approx(1.0)
    assert moved[-1, y] == pytest.approx(spans @ [0.5, -0.5, 0.5, 1.5], abs=3e-5)
    _, wider = variation(lambda ε: (Bent(d + ε, stiff=stiff), scenario))
    assert wider[-1, y] == pytest.approx(spans @ [1.0, 0.0, 0.0, -1.0], abs=3e-5)


def sampled(ε):
    """A rate, a gain and an amplitude grow together; the plant starts elsewhere."""
    clock = Clock(b=5.0 * (1 + ε))
    law = PID(
        clock,
        K_p=(3.0 - 2 * ε,),
        K_i=(1.5,),
        signals=("x",),
        feed="none",
        damping="none",
        u_max=9.0,
    )
    walk = Sine("output", (0.1,), (0.2 * (1 + 3 * ε),), 1.3)
    return ClosedLoop(clock, Sampled(law, T_S)), Scenario(0.5, reference=walk, offset={"x": ε})


def test_of_a_sampled_loop_it_is_the_limit_of_differences_in_every_signal():
    log, found = variation(sampled)
    ends = [simulate(*sampled(ε), rows="steps").values for ε in (-1e-5, 1e-5)]
    made = (ends[1] - ends[0]) / 2e-5
    assert np.abs(found[:, 0]).max() > 0.1
    assert found == pytest.approx(made, abs=1e-7 * np.abs(made).max())
    assert {"x", "u"} <= set(log.names)


@dataclass(frozen=True)
class Cut(System):
    """ẋ = −k √max(x, 0): where x is negative the slope of the root is not finite."""

    k: Annotated[float, Unit("1/s")] = 1.0
    states = (Signal("x"),)
    inputs = ()

    def initial(self):
        return [-0.1]

    def rhs(self, t, x, u):
        return [-self.k * np.sqrt(np.maximum(x[0], 0.0))]


def test_there_is_none_where_graphs_have_none():
    _, found = variation(lambda ε: (Cut(1.0 + ε), Scenario(0.01)))
    assert found is None, "0 · ∞"
    _, found = variation(lambda ε: (Clock(), Scenario(0.01)) if ε > 0 else (Cut(), Scenario(0.01)))
    assert found is None, "two structures"
    loop, scenario = sampled(0.0)
    log = simulate(loop, scenario)
    assert not has_variation(loop, replace(scenario, accuracy=1e-6), log)
    slow = ClosedLoop(loop.plant, replace(loop.controller, T_s=2 * T_S))
    assert Varying(loop, scenario, log).along((slow, scenario), (slow, scenario), 1.0) is None
