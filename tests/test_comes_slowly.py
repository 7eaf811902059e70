"""Runs from other starts that are too short for what swings and decays say nothing: neither that it stays, nor that it grows."""

from types import SimpleNamespace

import pytest

from controllers import PID
from workbench import ClosedLoop, Hold, Sampled, Scenario
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.practical.decision import comes_slowly


def modes(s):
    return Modes((Place(0.0, "at its start", True, (Mode(s, 1e-9, ("x",), "at its start", 0.0),)),))


@pytest.mark.parametrize("word", ["growing", "staying"])
@pytest.mark.parametrize(
    "s, duration, said",
    [
        (-0.7 + 3.5j, 0.3, True),  # a sixth of its period of 1.8 s
        (-0.7 + 3.5j, 1.7, True),
        (-0.7 + 3.5j, 1.9, False),
        (0.7 + 3.5j, 0.3, False),  # it grows
        (-0.7, 0.3, False),  # it does not swing: what grows in it is no part of it
    ],
)
def test_less_than_a_period_of_what_decays(word, s, duration, said):
    worst = SimpleNamespace(word=word, last=1.1, largest=1.0)
    assert comes_slowly(worst, modes(s), duration).startswith("linearised, a mode decays") is said


@pytest.mark.parametrize("damping, holds", [(1.5, None), (-0.02, False)])
def test_a_claim_whose_runs_last_a_third_of_a_second(damping, holds):
    """ẍ = −5 x − damping ẋ, with a period of 2.8 s."""
    A = (0.0, 1.0, 4.0, -damping)
    plant = LinearPlant(A, (0.0, 1.0), (1.0, 0.0, 0.0, 1.0), ("x", "v"), ("u",), ("x", "v"))
    gains = {"K_p": (9.0,), "K_i": (0.0,), "signals": ("x",), "u_max": 1e6}
    law = PID(plant, **gains, feed="none", damping="none")
    loop = ClosedLoop(plant, Sampled(law, T_s=0.01))
    claim = C.PracticalStability(duration=0.3, longest=0.3)
    (found,) = verify(loop, Scenario(0.3, Hold("output", (0.2,))), [claim])
    assert found.holds is holds, found.worst
