"""Every number of every claim on small loops, sound and faulty: held by a table, see `stored`."""

from dataclasses import replace

import pytest
from ledger_cases import CRANE, LEAKY, PATH, heavier
from small import Feedback, Linear
from stored import held

from controllers import PID, VDC, OpenLoop
from plants import Arm, MeteredArms
from tests.faults.builders import around
from tests.faults.plants import CartPole, Servo
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    Hold,
    Noisy,
    Quantised,
    Sampled,
    Saturated,
    Scenario,
    Sine,
    Steps,
)
from workbench.cases.file import loads
from workbench.verification import claims as C
from workbench.verification.analysis import analysis
from workbench.verification.judge import default_claims, study
from workbench.verification.probability_claims import Spread
from workbench.verification.report_arrays import report_arrays

LAG = Linear(((-2.0,),), ((1.5,),), ((1.0,),), ((0.7,),), x0=(0.3,))
SERVO = Linear(
    ((0.0, 1.0), (0.0, -4.0)), ((0.0,), (9.0,)), ((1.0, 0.0),), ((0.0,), (0.8,)), x0=(0.1, 0.0)
)
SPRING = Linear(
    ((0.0, 1.0), (-9.0, -0.4)), ((0.0,), (1.0,)), ((1.0, 0.0), (0.0, 1.0)), x0=(0.2, -0.1)
)
PAIR = Linear(
    ((0.0, 1.0, 0.0, 0.0), (-3.0, -1.2, 0.4, 0.0), (0.0, 0.0, 0.0, 1.0), (0.3, 0.0, -7.0, -0.9)),
    ((0.0, 0.0), (2.0, 0.1), (0.0, 0.0), (0.0, 1.3)),
    ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)),
    x0=(0.1, 0.0, -0.2, 0.0),
)
POLE = Linear(((0.0, 1.0), (4.0, 0.0)), ((0.0,), (1.0,)), ((1.0, 0.0), (0.0, 1.0)), x0=(0.05, 0.0))
CLAIMS = (
    C.LinearStability(),
    C.Linear(counted=True),
    C.PracticalStability(runs=2, settle=0.5, spread=0.1),
    C.Settled(),
    C.Tracking(0.05, settle=0.5),
    C.Saturation(),
)


def pid(plant, **fields):
    numbers = {"K_p": (3.0,), "K_i": (1.0,), "feed": "none", "damping": "none", "u_max": 5.0}
    return PID(plant, **(numbers | fields))


def asked(loop, scenario, claims=CLAIMS, arrays=False) -> dict:
    """All that is said of a loop."""
    found = study(loop, scenario, claims)
    said = {f"{k} {v.key}": plain(v) for k, v in enumerate(found.verdicts)}
    if arrays:
        said["analysis"] = analysis(found.run, found.verdicts)
        said["arrays"] = report_arrays(found.run, claims, found.verdicts)
    return said


def plain(verdict) -> dict:
    """A verdict without the certificate's own digits and without its wording: what it found, and where it is worst."""
    data = {k: v for k, v in verdict.data.items() if k != "certificate"}
    kept = {k: v for k, v in verdict.as_dict().items() if k not in ("claim", "source")}
    return {**kept, "data": data}


SINE = Scenario(3.0, Sine("output", "start", (0.1,), 0.5))
STEP = Scenario(2.0, Steps("output", (0.0, 0.5), (0.1, 0.2)))
STILL = Scenario(2.0, Hold("output", "start"))


def sampled(plant, law=None, T=0.01, **fields):
    return ClosedLoop(plant, Sampled(law or pid(plant, **fields), T))


LOOPS = {
    "lag": lambda: asked(sampled(LAG), STEP, arrays=True),
    "lag, default claims": lambda: asked(
        sampled(LAG), SINE, default_claims(sampled(LAG), SINE), arrays=True
    ),
    "servo": lambda: asked(sampled(SERVO), SINE, arrays=True),
    "servo, gain too high": lambda: asked(sampled(SERVO, K_p=(60.0,)), STEP),
    "servo, wrong sign": lambda: asked(
        ClosedLoop(SERVO, Sampled(Feedback(SERVO, ((-0.2,),)), 0.01)), Scenario(1.0)
    ),
    "servo, late": lambda: asked(
        ClosedLoop(SERVO, Delayed(Sampled(pid(SERVO), 0.01), 0.034)), SINE
    ),
    "servo, cut": lambda: asked(sampled(SERVO, u_max=0.05), STEP, arrays=True),
    "servo, pushed": lambda: asked(
        sampled(SERVO), replace(STILL, disturbances={"w0": Sine("output", 0.2, (0.3,), 1.5)})
    ),
    "servo, coarse": lambda: asked(
        ClosedLoop(SERVO, Sampled(Quantised(pid(SERVO), 0.02), 0.01)), STEP
    ),
    "servo, noisy and filtered": lambda: asked(
        ClosedLoop(SERVO, Sampled(Filtered(Noisy(pid(SERVO), 1e-3), 8.0), 0.01)), SINE
    ),
    "spring, continuous": lambda: asked(
        ClosedLoop(SPRING, Feedback(SPRING, ((2.0, 1.5),))), Scenario(6.0), arrays=True
    ),
    "spring, hardly damped": lambda: asked(
        ClosedLoop(SPRING, Feedback(SPRING, ((0.0, -0.39),))), Scenario(6.0)
    ),
    "spring, grows": lambda: asked(
        ClosedLoop(SPRING, Feedback(SPRING, ((0.0, -0.6),))), Scenario(6.0)
    ),
    "two channels": lambda: asked(
        sampled(PAIR, K_p=(4.0, 6.0), K_i=(1.0, 2.0)),
        Scenario(3.0, Sine("output", "start", (0.1, 0.05), 0.5, phase=(0.0, 1.0))),
        arrays=True,
    ),
    "two channels crossed": lambda: asked(
        ClosedLoop(PAIR, Sampled(Feedback(PAIR, ((0.0, 9.0), (-9.0, 0.0))), 0.01)), Scenario(3.0)
    ),
    "pole": lambda: asked(
        ClosedLoop(POLE, Sampled(Saturated(Feedback(POLE, ((9.0, 4.0),)), -2.0, 2.0), 0.02)),
        Scenario(4.0),
        (
            C.LinearStability(),
            C.RegionOfAttraction(),
            C.Sector(low=0.7, high=1.3),
            C.Settled(),
        ),
    ),
    "limits": lambda: asked(
        sampled(SERVO),
        STEP,
        (
            C.PracticalStability(runs=2, settle=0.5, spread=0.1),
            C.SampleTimeLimit(up_to=0.08, error=0.2),
            C.DelayLimit(up_to=0.1, error=0.2),
        ),
    ),
    "requirements": lambda: asked(
        sampled(SERVO),
        STEP,
        (
            C.Requirement("always (x0 < 0.22)"),
            C.Requirement("eventually [0 s, 2 s] (abs(y0 - 0.2) < 0.01)"),
            C.Requirement("always [1 s, 2 s] (abs(x0 - 0.2) < 0.02)"),
            C.Requirement("(x0 < 0.15) until [0 s, 1 s] (x1 > 0.05)"),
            C.Requirement("always (x1 < 0.2)"),
        ),
        arrays=True,
    ),
    "search": lambda: asked(
        CURVED, STEP, (C.Requirement("always (y < 0.21 m)"), C.Falsify(OVER, budget=24, seed=4))
    ),
    "search, nothing found": lambda: asked(
        CURVED, STEP, (C.Requirement("always (y < 1 m)"), C.Falsify(OVER, budget=12))
    ),
    "probability": lambda: asked(
        CURVED,
        STEP,
        (
            C.Probability(
                ("always (y < 0.208 m)", "always (y > -0.01 m)"),
                {
                    "m": Spread(uniform=(100.0, 400.0)),
                    "b": Spread(normal=(900.0, 50.0)),
                    "β": Spread(log_uniform=(4e8, 2e9)),
                },
                at_most=0.5,
                confidence=0.9,
                seed=5,
            ),
        ),
    ),
    "cylinder": lambda: asked(CURVED, STEP, (*CLAIMS, C.EnergyBalance()), arrays=True),
    "cylinder, wrongly known": lambda: asked(
        ClosedLoop(Servo(m=900.0, limit=0.5), Delayed(Sampled(servo(), 2e-3), 5e-3)), STEP
    ),
    "pole on a cart": lambda: asked(
        around(CartPole(), POLE_LAW, 2e-3, 0.0, {"φ": 0.05}, 2.0)[0],
        Scenario(2.0, offset={"φ": 0.05}),
    ),
    "predictive": lambda: case(PREDICTIVE),
    "predictive, previewed": lambda: case(PREVIEWED),
    "crane under VDC": lambda: asked(
        crane(CRANE),
        Scenario(0.25, PATH, offset={"q_1": 0.003}),
        (
            C.Identity(),
            C.PowerFlows(),
            C.Hypotheses(),
            C.Inequality(),
            C.MachineLimits(),
            C.EnergyBalance(),
            C.Pressures(),
            C.HoldsWeight(),
        ),
        arrays=True,
    ),
    "crane whose law knows little": lambda: asked(
        ClosedLoop(LEAKY, Sampled(VDC(heavier(CRANE), derivative="dirty"), 1e-3)),
        Scenario(0.2, PATH, offset={"q_2": 0.01}),
        (C.Identity(), C.Hypotheses(), C.Inequality()),
    ),
    "valves that meter": lambda: metered(),
}


# ---- larger machines --------------------------------------------------------------------------------------------------
OVER = {"m": (100.0, 2000.0), "offset.y": (-0.02, 0.02)}
POLE_LAW = {"law": "state", "K": [[-8.0, -60.0, -9.0, -11.0]]}


def servo(**fields):
    numbers = {"K_p": (60.0,), "K_i": (20.0,), "signals": ("y",), "feed": "none", "damping": "none"}
    return PID(Servo(), **(numbers | {"u_max": 10.0} | fields))


CURVED = ClosedLoop(Servo(), Sampled(servo(), 2e-3))
PREDICTIVE = """
plant: {machine: ieha-published-linear, change: {measured: states, λ_F: 20 ms}}
controller: {law: MPC, horizon: 25, R: 0.1, S: 1, slew: 0.05, terminal: set, room: 0.5, preview: 0,
  limits: {Y: {low: -0.05, high: 0.05}}}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Hold, space: output, point: [2 mm]}
  duration: 0.06 s
  offset: {Y: 0.1 mm}
claims: {mpc-stability: true, cost-decrease: true, solves: true, linear-stability: true}
"""
PREVIEWED = """
plant: {machine: ieha-published-linear}
controller: {law: MPC, horizon: 20, S: 1, observer: {σ_y: 1e-6, σ_d: 2e-6}}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 mm], frequency: 4 Hz}
  duration: 0.3 s
claims: {mpc-stability: true, solves: true, cost-decrease: true, tracking: {error: 0.2 mm, settle: 0.05 s}, saturation: true}
"""


def case(text: str) -> dict:
    found = loads(text, "case.yaml")
    return asked(found.loop, found.scenario, found.claims, arrays=True)


def crane(plant):
    return ClosedLoop(plant, Sampled(VDC(plant), 1e-3))


def metered() -> dict:
    plant = MeteredArms(arms=(Arm(), Arm("2", θ_0=-0.35)))
    way = lambda top: Steps("output", (0.0, 0.1, 0.35), (0.0, top, 0.0))
    return asked(
        ClosedLoop(plant, OpenLoop(plant)),
        Scenario(0.5, disturbances={"u_c_1": way(-0.6), "u_c_2": way(0.5)}),
        (
            C.ValveLosses(),
            C.NoCavitation(),
            C.MachineLimits(),
            C.Pressures(),
            C.HoldsWeight(),
            C.EnergyBalance(),
            C.IncrementalPassivity(samples=12),
            C.UniqueVelocity(samples=8),
        ),
        arrays=True,
    )


CASES = LOOPS


SMALL = 1e-9  # residuals of accounts that close: rounding


def within(case: str) -> float:
    return 1e-6


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_verdicts_are_those_of_the_table(case):
    held("verdicts", case, CASES[case], within(case), SMALL)
