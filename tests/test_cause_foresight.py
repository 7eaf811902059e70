"""What a predictive law holds itself to, how far it looks, and what it believes, as causes."""

import numpy as np
import pytest

from controllers import MPC, PID
from controllers.mpc.law import Limit
from workbench import ClosedLoop, Hold, Sampled, Scenario
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification.cause.foresight import foresight_trials
from workbench.verification.cause.trials import believed
from workbench.verification.judge import verify

T = 0.02
NAMES = (("x", "v"), ("u",), ("x", "v"))


def plant(A=(0.0, 1.0, 2.3, -0.4), B=(0.0, 1.9), C=(1.0, 0.0, 0.0, 1.0)):
    """ẍ = 2.3 x − 0.4 ẋ + 1.9 u: it falls by e in 0.8 s where nothing holds it."""
    return LinearPlant(A, B, C, *NAMES)


FALLS = plant()
# y = 4/(s + 1) − 6/(s + 3): a zero at +3 1/s.
TURNS_BACK = LinearPlant(
    (-1.0, 0.0, 0.0, -3.0), (1.0, 1.0), (4.0, -6.0, 1.0, 0.0, 0.0, 1.0), *NAMES[:2], ("y", "x", "v")
)
GIVEN = {"N": 40, "R": (1e-3,), "S": (1e-2,), "tracked": ("x",), "T_s": T}


def looped(machine, law):
    return ClosedLoop(machine, Sampled(law, T_s=law.T_s))


def causes(loop, duration=4.0, point=0.1):
    run = Scenario(duration, Hold("output", (point,)))
    verdicts = verify(loop, run, [C.PracticalStability(runs=2)])
    return [v.data["cause"]["words"] for v in verdicts if "cause" in v.data]


def trials(**given):
    return [t.words for t in foresight_trials(looped(FALLS, MPC(FALLS, **GIVEN | given)))]


def test_nothing_is_tried_of_a_law_that_holds_itself_to_nothing():
    assert trials() == []
    law = PID(FALLS, K_p=(9.0,), K_i=(0.0,), feed="none", damping="none", u_max=9.0)
    assert list(foresight_trials(ClosedLoop(FALLS, Sampled(law, T_s=T)))) == []


@pytest.mark.parametrize(
    "given, said",
    [
        ({"slew": (0.3,)}, "to 0.3 a second (controller.slew)"),
        ({"u_min": (-0.4,), "u_max": (0.4,)}, "to -0.4 … 0.4 (controller.u_min, u_max)"),
        ({"limits": (Limit("x", high=0.3),)}, "holds x to limits (controller.limits)"),
        ({"terminal": "none"}, "looks 40 samples ahead (controller.horizon)"),
    ],
)
def test_each_is_loosened_alone(given, said):
    (words,) = trials(**given)
    assert said in words


def test_a_trial_is_the_law_without_it():
    law = MPC(FALLS, **GIVEN, u_min=(-0.4,), u_max=(0.4,))
    (trial,) = foresight_trials(looped(FALLS, law))
    made = trial.on(looped(FALLS, law)).controller.inner.law
    assert made.u_min == made.u_max == () and made.N == law.N


@pytest.mark.parametrize(
    "machine, given, said",
    [
        (FALLS, {"u_min": (-0.13,), "u_max": (0.13,)}, "controller.u_min, u_max"),
        (FALLS, {"N": 2, "R": (0.5,), "terminal": "none"}, "2 samples ahead (controller.horizon)"),
        (
            TURNS_BACK,
            {"N": 2, "R": (0.0,), "S": (1e-6,), "T_s": 0.05, "terminal": "none", "tracked": ("y",)},
            "2 samples ahead (controller.horizon)",
        ),
    ],
)
def test_it_is_named_where_the_loop_fails_of_it(machine, given, said):
    (words,) = causes(looped(machine, MPC(machine, **GIVEN | given)))
    assert said in words and "sign of" not in words


def test_what_a_predictive_law_believes_is_held_against_the_machine():
    model = plant(B=(0.0, -0.9))
    loop = looped(FALLS, MPC(model, **GIVEN))
    path, found = believed(loop)
    assert path == "controller.inner.law.model." and np.allclose(found.B, model.B)
    (words,) = causes(loop)
    assert "plant.B.1 is 1.9 and not -0.9, what the controller believes, of the wrong sign" in words


def test_a_sound_predictive_loop_names_nothing():
    assert causes(looped(FALLS, MPC(FALLS, **GIVEN))) == []
