"""How far a path goes, by which tolerances that nobody states are measured."""

import math

import mechanisms
import pytest

from controllers import PID
from plants.multibody.parts import Pin
from workbench import ClosedLoop, Hold, Sampled, Scenario, Sine
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.observed.path import path_size


@pytest.mark.parametrize("reach", [0.4, 2.1, 4.2])
def test_a_path_of_joints_is_as_long_as_the_way_of_the_tool(reach):
    """0.1 rad of a beam from 20 degrees on: a tenth of what its end moves by is allowed, not 10 mm whatever its length."""
    beam = mechanisms.swing(tcp=Pin("beam", (reach, 0.0, 0.0)))
    own = ClosedLoop(beam, Sampled(PID.design(beam), 2e-3))
    a, q = 0.1, math.radians(20.0)
    moved = reach * 0.5 * (math.sin(q + a) - math.sin(q - a))
    sine = Scenario(4.0, Sine("joint", "start", (a,), 0.5))
    assert path_size(own, sine) == pytest.approx(moved, rel=1e-2)
    brief = Scenario(0.4, Sine("joint", "start", (a,), 0.5))
    assert path_size(own, brief) == pytest.approx(moved, rel=1e-2)
    held = Scenario(4.0, Hold("joint", (q + a,)))
    assert path_size(own, held) == pytest.approx(reach * (math.sin(q + a) - math.sin(q)), rel=1e-2)
    asked = next(c for c in default_claims(own, sine) if isinstance(c, run_claims.Tracking))
    assert asked.error == pytest.approx(0.1 * moved, rel=2e-2)


def test_a_path_of_what_is_measured_is_as_long_as_it_says():
    beam = mechanisms.swing()
    own = ClosedLoop(beam, Sampled(PID.design(beam), 2e-3))
    assert path_size(own, Scenario(4.0, Sine("output", "start", (0.1,), 0.5))) == 0.1
    assert path_size(own, Scenario(4.0, Hold("output", "start"))) == 0.0
