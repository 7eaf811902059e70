"""What a loop is asked where nobody states claims."""

from types import SimpleNamespace

import pytest

from controllers import PID
from plants import machine
from tests.faults.builders import linear
from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, Sine
from workbench.cases.scenario import default_scenario
from workbench.verification import verify
from workbench.verification.judge import default_claims, examine
from workbench.verification.predictive.defaults import ARGUMENT, predictive_claims
from workbench.verification.run_claims import Settled, Tracking
from workbench.verification.verdict import exit_code

UNSTABLE = {"A": [[0, 1], [2, -0.4]], "B": [[0], [1]], "C": [[1, 0], [0, 1]], "T_s": 0.01}


def regulated(K):
    """The verdicts, by key, on state feedback to zero: neither law nor scenario has a reference."""
    loop, scenario, claims = linear(**UNSTABLE, law={"law": "state", "K": [K]}, duration=10)
    return {v.key: v for v in verify(loop, scenario, claims)}


def test_a_regulator_to_zero_is_not_asked_to_track():
    found = regulated([7, 3])
    assert exit_code(found.values()) == 0 and found["practical-stability"].holds
    assert "tracking" not in found and "tracking" in found["unasked"].claim


@pytest.mark.parametrize(
    "change, word",
    [
        ({}, ""),
        ({"jointed": True}, "linear"),
        ({"linear": False}, "linear"),
        ({"reference": Sine("output", (0.0,), (1.0,), 1.0)}, "stands still"),
        ({"disturbances": {"F": 1.0}}, "disturbs"),
        ({"observer": "Kalman"}, "estimates"),
        ({"terminal": "cost"}, "practical-stability"),
        ({"terminal": "none"}, "terminal set"),
    ],
)
def test_what_a_predictive_law_is_not_asked_says_why(change, word):
    given = {"jointed": False, "linear": True, "reference": None, "disturbances": {}} | change
    law = SimpleNamespace(observer=given.get("observer"), terminal=given.get("terminal", "set"))
    scenario = Scenario(1.0, given["reference"], given["disturbances"])
    about = SimpleNamespace(
        jointed=given["jointed"],
        linear=given["linear"],
        scenario=scenario,
        predictive=law,
        closed=False,
    )
    unasked = []
    kinds = [type(claim).__name__ for claim in predictive_claims(about, unasked)]
    assert kinds[0] == "Solves" and ("MPCStability" in kinds) is (not word)
    assert [key for key, _ in unasked] == (list(ARGUMENT) if word else [])
    assert all(word in why for _, why in unasked)


def test_a_plant_that_states_no_sizes_has_a_third_of_the_scenario_to_settle():
    """Nothing says that 3 s are long for it; of a machine that states a stroke they are."""
    law = {"law": "PID", "K_p": 2, "K_i": 1}
    for duration, settle in ((150, 50.0), (6, 2.0)):
        _, _, claims = linear([[-0.05]], [[0.05]], [[1]], law, 0.5, duration=duration)
        assert [c.settle for c in claims if isinstance(c, Tracking)] == [settle]
    actuator = machine("ieha-published-linear").plant
    loop = ClosedLoop(actuator, Sampled(PID.design(actuator), 1e-3))
    claims = default_claims(loop, Scenario(150.0, Hold("output", (1e-3,))))
    assert [c.settle for c in claims if isinstance(c, Tracking)] == [3.0]


def test_a_machine_without_a_controller_is_refused_with_what_to_do():
    loop, scenario, _ = linear(**UNSTABLE, law={"law": "state", "K": [[7, 3]]}, duration=1)
    for claims in (None, [Settled()]):
        with pytest.raises(InputError, match="without a controller"):
            verify(loop.plant, scenario, claims)


@pytest.mark.parametrize("K", ([1.9, 3], [7, -0.38]))  # a real pole, a pair just past the edge
def test_a_regulator_that_lets_go_is_refused_without_tracking(K):
    found = regulated(K)
    assert exit_code(found.values()) == 1 and found["practical-stability"].holds is False


def test_without_a_scenario_a_loop_goes_the_way_of_a_file_that_states_none():
    case = machine("ieha-published-linear")
    loop = ClosedLoop(case.plant, Sampled(PID.design(case.plant), T_s=1e-3))
    asked = (Tracking(error=1e-3),)
    found = examine(loop, claims=asked)
    assert found.run.scenario.reference == default_scenario(loop).reference
    assert found.verdicts == examine(loop, default_scenario(loop), asked).verdicts
