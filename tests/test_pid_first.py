"""PID.design on linear plants that say nothing of themselves: gains with the margin that is promised, or a sentence."""

import control
import numpy as np
import pytest

from controllers import PID
from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, from_control, simulate
from workbench import to_control as out

s = control.tf("s")
PLANTS = {
    "lag": 3 / (0.5 * s + 1),
    "unstable": 2 / ((s - 1) * (0.02 * s + 1)),
    "double": 1 / (s**2 * (0.001 * s + 1)),
    "quick": 1e3 / (s + 1e4),
}
SLOW = [pytest.param(n, marks=pytest.mark.long) if n in ("double", "quick") else n for n in PLANTS]


def radius(G, law):
    """Of the poles of the sampled loop around another plant than the law was made for; what never moves is left out."""
    loop = ClosedLoop(from_control(G), Sampled(law, 1e-3))
    A = out(loop, linear=True).A
    moves = np.abs(A - np.eye(len(A))).any(axis=1)
    return np.abs(np.linalg.eigvals(A[moves][:, moves])).max()


@pytest.mark.parametrize("name", SLOW)
def test_the_loop_bears_the_gains_that_its_margin_promises(name):
    """A disk margin of 0.75 bears 0.45 to 2.2 of the gain at the command."""
    G = PLANTS[name]
    law = PID.design(from_control(G))
    for factor in (0.46, 1.0, 2.19):
        assert radius(factor * G, law) < 1, factor
    assert radius(40 * G, law) > 1
    log = simulate(
        ClosedLoop(from_control(G), Sampled(law, 1e-3)),
        Scenario(6.0, Hold("output", (0.7,)), log_period=0.1),
    )
    assert log.values[-1, log.names.index(from_control(G).outputs[0].name)] == pytest.approx(
        0.7, abs=0.02
    )


def test_what_is_given_stays():
    law = PID.design(from_control(PLANTS["lag"]), K_p=(1.7,), u_max=2.5)
    assert (law.K_p, law.u_max, law.feed) == ((1.7,), 2.5, "gain")
    with pytest.raises(InputError, match="needs two chambers behind a valve.*\n.*PID.design"):
        PID(from_control(PLANTS["lag"]))


def test_a_plant_that_goes_the_wrong_way_is_refused():
    with pytest.raises(InputError, match="goes down.*\n.*turn the sign"):
        PID.design(from_control(-3 / (s + 1)))


@pytest.mark.long
def test_a_plant_that_nothing_simple_holds_is_refused():
    with pytest.raises(InputError, match="nothing simple is stable.*\n.*LQR"):
        PID.design(from_control((s - 1) / ((s - 2) * (s + 5))))
