"""What only looks linear: laws and plants that bend, switch or step get no proof about a linear loop."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pytest

from controllers import LQR, PID
from plants import machine
from tests.small import Feedback, Linear, Wired
from workbench import (
    ClosedLoop,
    Delayed,
    Hold,
    Plain,
    Sampled,
    Saturated,
    Scenario,
    Signal,
    System,
    simulate,
    verify,
)
from workbench.cases.file import loads
from workbench.contract.parameters import Unit, digest, graph_key
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.linear.claims import check_linear_stability
from workbench.verification.linear.loop import closed, is_linear, point
from workbench.verification.regions.claims import check_region
from workbench.verification.rigorous.claims import check_sector
from workbench.verification.rigorous.supplied import check_supplied
from workbench.verification.run import Run

GROWS = Linear(A=((0.7,),), B=((1.0,),), C=((1.0,),), x0=(0.1,))
LAWS = {
    "bent at rest": lambda y: -2.1 * y + 5.3 * np.abs(y),
    "steps at rest": lambda y: -2.1 * y + 0.4 * np.sign(y),
    "two gains": lambda y: np.where(y > 0, 3.2 * y, -2.1 * y),
    "rounds": lambda y: np.clip(-2.1 * y, -1, 1) + np.floor(5 * y),
    "curved": lambda y: -2.1 * y + 5.3 * y**3,
    "at rest elsewhere": lambda y: -2.1 * (y - 1) ** 3,
}


@dataclass(frozen=True)
class Own(Wired):
    """u = f(y)."""

    f: Any

    def command(self, t, z, y, r):
        return [self.f(y[0])]


@dataclass(frozen=True)
class Scalar(System):
    """ẋ = f(x, u)."""

    f: Any
    states = outputs = (Signal("x"),)
    inputs = (Signal("u"),)

    def initial(self):
        return [0.3]

    def rhs(self, t, x, u):
        return [self.f(x[0], u[0])]

    def out(self, t, x):
        return list(x)


def asked(loop):
    still = Scenario(
        duration=0.1, reference=Hold("output", (0.0,)) if loop.controller.references else None
    )
    run = Run(loop, still, simulate(loop, still, compiled=False))
    return {
        v.key: v
        for v in (
            check_linear_stability(C.LinearStability(), run),
            check_region(C.RegionOfAttraction(), run),
            check_sector(C.Sector(low=0.9, high=1.1), run),
        )
    }


@pytest.mark.parametrize("T", [None, 0.05], ids=["continuous", "sampled"])
@pytest.mark.parametrize("name", LAWS)
def test_a_law_that_is_not_linear_is_not_called_so(name, T):
    law = Own(GROWS, LAWS[name])
    found = asked(ClosedLoop(GROWS, law if T is None else Sampled(law, T)))
    assert {v.holds for v in found.values()} == {None}
    for key in ("linear-stability", "sector"):
        assert any(w in found[key].worst for w in ("not linear", "switch")), found[key].worst


@pytest.mark.parametrize("T", [None, 0.05], ids=["continuous", "sampled"])
def test_a_step_far_from_rest_leaves_local_claims_only(T):
    law = Own(GROWS, lambda y: np.clip(-2.1 * y, -1, 1) + np.where(y > 0.01, 3.0, 0.0))
    found = asked(ClosedLoop(GROWS, law if T is None else Sampled(law, T)))
    assert (
        found["region-of-attraction"].holds is None
        and "linear but for them" in found["region-of-attraction"].worst
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda x, u: -x + u + 5 * np.sign(x),
        lambda x, u: -x + u + np.where(x > 0.4, 7.0, 0.0),
        lambda x, u: -x + np.floor(3 * u),
    ],
)
def test_a_plant_with_steps_is_linear_nowhere_but_near_a_point(f):
    plant = Scalar(f)
    assert not is_linear(plant)
    found = asked(ClosedLoop(plant, Saturated(Own(plant, lambda y: -0.5 * y), -1.0, 1.0)))
    assert (
        found["region-of-attraction"].holds is None
        and "not linear" in found["region-of-attraction"].worst
    )
    if found["linear-stability"].holds:
        assert "linearised" in found["linear-stability"].claim
        assert any(a.source == "linearised" for a in found["linear-stability"].assumptions)


def test_laws_with_limits_and_anti_windup_are_linear_inside_them():
    """The other side: what switches only beyond its limits has its proof."""
    plant = Linear(A=((-0.7,),), B=((1.3,),), C=((1.0,),), x0=(0.1,))
    gains = {"K_p": (2.1,), "K_i": (0.9,), "feed": "none", "damping": "none", "u_max": 0.6}
    for law in (
        PID(plant, **gains, anti_windup="clamp"),
        PID(plant, **gains),
        Saturated(Feedback(plant, ((1.7,),)), -1, 1),
    ):
        assert asked(ClosedLoop(plant, Sampled(law, 0.02)))["linear-stability"].strength == "proof"
    states = replace(machine("ieha-published-linear").plant, measured="states")
    law = LQR.design(states, [0, 0, 0, 0, 1.0], 0.3, 2e-3, integral=1e-3, u_max=5e-4)
    assert asked(ClosedLoop(states, Sampled(law, 2e-3)))["linear-stability"].strength == "proof"


@pytest.mark.parametrize("K_p, own", [(1.9, 0.0), (2.4, 0.0), (1.1, 1.3)])
def test_a_delay_margin_of_a_fraction_of_a_sample_is_not_overstated(K_p, own):
    """The held command that comes later, sampled again exactly: stable below the margin, not above where it is the edge."""
    plant, T = machine("ieha-published-linear").plant, 5e-3
    law = Sampled(PID(plant, K_p=(K_p,), K_i=(3.0,), feed="none", damping="none", u_max=5e-4), T)
    loop = lambda τ: ClosedLoop(plant, Delayed(law, own * T + τ))
    (row,) = asked(loop(0.0))["linear-stability"].data["margins"]
    radius = lambda τ: np.abs(np.linalg.eigvals(closed(loop(τ), point(plant, {}))[0])).max()
    assert 0 < row["delay"] and all(
        radius(s * row["delay"]) < 1 for s in np.linspace(0, 0.9999, 23)
    )
    assert radius(1.05 * row["delay"]) > 1


@pytest.mark.parametrize("T", [None, 0.05], ids=["continuous", "sampled"])
@pytest.mark.parametrize(
    "A",
    [
        ((-1.1, 0.0), (0.4, 0.2)),
        ((-1.1, 0.4), (0.0, 0.2)),
        ((-1.1, 0.0), (0.0, 0.2)),
        ((-1.1, 0.0), (0.0, 0.0)),
    ],
    ids=["unseen", "undriven", "isolated", "neutral"],
)
def test_modes_that_no_command_shows_are_not_overlooked(A, T):
    plant = Linear(A=A, B=((1.0,), (0.0,)), C=((1.0, 0.0),), x0=(0.1, 0.0))
    law = PID(plant, K_p=(1.3,), K_i=(0.5,), feed="none", damping="none", u_max=1.0)
    found = asked(ClosedLoop(plant, law if T is None else Sampled(law, T)))
    assert {v.holds for v in found.values()} == {False if A[1][1] > 0 else None}


# ---- what is left out of an argument must be at rest ---------------------------------------------------------------------
@pytest.mark.parametrize("offset, holds", [("", True), ("  offset: {v_F: 5 mm/s}\n", None)])
def test_what_no_command_moves_must_rest_in_the_run(offset, holds):
    text = f"""
plant: {{machine: ieha-published-linear, change: {{measured: states, λ_F: 20 ms}}}}
controller: {{law: MPC, horizon: 25, R: 0.1, S: 1, slew: 0.05, terminal: set, room: 0.5, preview: 0,
  limits: {{Y: {{low: -0.05, high: 0.05}}}}}}
loop: {{sample_time: 2 ms}}
scenario:
  reference: {{type: Hold, space: output, point: [2 mm]}}
  duration: 0.02 s
{offset}"""
    case = loads(text)
    (found,) = verify(case.loop, case.scenario, [C.MPCStability()])
    assert found.holds is holds and (
        holds or "v_F moves although no command drives it" in found.worst
    )


# ---- one name, two systems -----------------------------------------------------------------------------------------------
def defined(sign):
    """A class of one and the same name, as a notebook has when a cell is changed and run again."""

    @dataclass(frozen=True)
    class Mine(System):
        k: Annotated[float, Unit("1/s")] = 1.7
        states, inputs = (Signal("x"),), ()

        def initial(self):
            return [0.3]

        def rhs(self, t, x, u):
            return [sign * self.k * x[0]]

    return Mine()


def test_a_class_defined_again_is_another_system():
    judged = [
        check_supplied("x**2", defined(sign), {"x": (-1, 1)}, 0.1).holds for sign in (-1, 1, -1)
    ]
    assert judged == [True, False, True]


def test_functions_and_arrays_tell_systems_apart():
    again = lambda k: lambda x, u: k * x + u
    assert graph_key(Scalar(again(2.0))) != graph_key(Scalar(again(3.0)))
    M = np.zeros(5000)
    other = M.copy()
    other[2500] = 1e-12
    assert (
        repr(M) == repr(other)
        and graph_key((M,)) != graph_key((other,))
        and graph_key((M,)) == graph_key((M.copy(),))
    )
    assert digest((np.array([0.1 + 1e-12]),)) != digest((np.array([0.1]),))


# ---- a plant of one's own ------------------------------------------------------------------------------------------------
def test_outputs_that_are_no_states_are_logged_and_followed():
    plant = Linear(
        A=((-0.7, 0.3), (0.0, -2.1)), B=((0.2,), (1.3,)), C=((1.0, 0.4),), x0=(0.1, -0.2)
    )
    law = Sampled(PID(plant, K_p=(2.1,), K_i=(4.9,), feed="none", damping="none", u_max=6.0), 0.02)
    loop, scenario = (
        ClosedLoop(plant, law),
        Scenario(duration=9.0, reference=Hold("output", (0.3,))),
    )
    log = simulate(loop, scenario)
    assert log.array("y0") == pytest.approx(log.array("x0") + 0.4 * log.array("x1"), rel=1e-9)
    (found,) = verify(loop, scenario, [run_claims.Tracking(error=1e-3, settle=6.0)])
    assert found.holds and found.data["largest"] == pytest.approx(
        np.abs(0.3 - log.array("y0"))[log.time >= 6.0].max(), rel=1e-6
    )
    called = ClosedLoop(
        plant,
        Sampled(
            Plain(lambda t, y, r: [2.1 * (r[0] - y[0])], measured=("y0",), references=("y0_d",)),
            0.02,
        ),
    )
    log = simulate(called, scenario)
    assert log.array("y0") == pytest.approx(log.array("x0") + 0.4 * log.array("x1"), rel=1e-9)
    assert log.array("u0") == pytest.approx(2.1 * (0.3 - log.array("y0")), rel=1e-9)
