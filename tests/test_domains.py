"""A proof about some starts says nothing about a run that begins elsewhere: domains, and the run's own start."""

from dataclasses import dataclass

import numpy as np
import pytest
from small import Feedback, Linear

from controllers import MPC
from workbench import ClosedLoop, Hold, Sampled, Saturated, Scenario
from workbench.cases.file import loads
from workbench.contract.plain import Plain
from workbench.verification import claims as C
from workbench.verification.judge import verify

PLANT = Linear(((0.3,),), ((1.0,),), ((1.0,),), x0=(0.1,))


def saturated(K=2.0):
    return ClosedLoop(PLANT, Sampled(Saturated(Feedback(PLANT, ((K,),)), -1.0, 1.0), 0.05))


def asked(claim, loop, start):
    (v,) = verify(loop, Scenario(duration=0.5, start=(start,)), [claim])
    return v


@pytest.mark.parametrize("start, holds", [(0.5, True), (3.2, True), (4.1, None), (-4.1, None)])
def test_a_region_is_about_starts_inside_it(start, holds):
    """ẋ = 0.3 x + sat(−2 x): attracted below 10/3, and from beyond it leaves."""
    v = asked(C.RegionOfAttraction(), saturated(), start)
    assert v.holds is holds and ("this run's start" in v.worst) is (holds is None)


@pytest.mark.parametrize("start, holds", [(0.3, True), (-0.3, True), (0.95, None), (1.4, None)])
def test_a_supplied_function_is_about_starts_in_its_level_set(start, holds):
    """V = x² with γ = 0.64 on |x| ≤ 1."""
    loop = ClosedLoop(PLANT, Feedback(PLANT, ((2.0,),)))
    v = asked(C.Supplied("x0**2", {"x0": (-1.0, 1.0)}, 0.05, level=0.64), loop, start)
    assert v.holds is holds and ("this run's start is outside" in v.worst) is (holds is None)
    if holds:
        assert any("this run's start" in a.text and a.holds for a in v.assumptions)


@pytest.mark.parametrize("offset, holds", [("0.1 mm", True), ("40 mm", None)])
def test_a_predictive_proof_is_about_feasible_starts(offset, holds):
    """From 40 mm nothing reaches the terminal set within the horizon: no problem is solved at the first sample."""
    case = loads(f"""
plant: {{machine: ieha-published-linear, change: {{measured: states, λ_F: 20 ms}}}}
controller: {{law: MPC, horizon: 25, R: 0.1, S: 1, slew: 0.05, terminal: set, room: 0.5, preview: 0,
  limits: {{Y: {{low: -0.05, high: 0.05}}}}}}
loop: {{sample_time: 2 ms}}
scenario:
  reference: {{type: Hold, space: output, point: [2 mm]}}
  duration: 0.02 s
  offset: {{Y: {offset}}}""")
    (v,) = verify(case.loop, case.scenario, [C.MPCStability()])
    assert v.holds is holds and "feasible start" in v.claim, v.worst
    assert ("this run's start" in v.worst) is (holds is None)


@dataclass(frozen=True)
class Shaken(Linear):
    """ẋ₀ = x₁, ẋ₁ = −x₁ + u + a sin 3t, all measured."""

    a: float = 0.0

    @property
    def outputs(self):
        return self.states

    def rhs(self, t, x, u):
        return [x[1], -x[1] + u[0] + self.a * np.sin(3 * t)]


@pytest.mark.parametrize("a, holds", [(0.0, True), (0.05, None)])
def test_a_predictive_proof_is_not_about_a_plant_that_is_shaken(a, holds):
    """The state goes to no target, whatever the model knows of it: it swings for ever."""
    plant = Shaken(((0.0, 1.0), (0.0, -1.0)), ((0.0,), (1.0,)), ((1.0, 0.0), (0.0, 1.0)), a=a)
    law = MPC(
        plant, Q=(10.0,), S=(1.0,), N=15, u_min=(-1.0,), u_max=(1.0,), T_s=0.1, terminal="set"
    )
    scenario = Scenario(2.0, Hold("output", (0.0,)), offset={"x0": 0.1})
    (v,) = verify(ClosedLoop(plant, Sampled(Plain(law), 0.1)), scenario, [C.MPCStability()])
    assert v.holds is holds, v.worst
    assert ("the plant is linear" in v.worst) is (holds is None)
