"""What a loop is asked where nobody states claims."""

import pytest

from tests.faults.builders import linear
from workbench.verification import verify
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


@pytest.mark.parametrize("K", ([1.9, 3], [7, -0.38]))  # a real pole, a pair just past the edge
def test_a_regulator_that_lets_go_is_refused_without_tracking(K):
    found = regulated(K)
    assert exit_code(found.values()) == 1 and found["practical-stability"].holds is False
