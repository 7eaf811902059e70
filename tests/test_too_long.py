"""Runs that a verification cannot repeat are counted and refused beforehand; what a claim would lengthen past that is undecided."""

import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, Sine
from workbench.cases.file import loads
from workbench.run.grid import grid
from workbench.verification import run_claims, too_long, verify
from workbench.verification.judge import examine

PLANT = Linear(((-0.7, 3.0), (-2.0, -0.4)), ((0.0,), (4.0,)), ((1.0, 0.0),), x0=(0.2, 0.0))
LAW = Feedback(PLANT, ((1.7,),), ((1.7,),))
WALK = Scenario(0.6, Sine("output", 0.0, 0.3, 1.3))


class Brought:
    """A user's law."""

    measured, commands, references, T_s = ("y0",), ("u0",), ("y0_d",), 1e-3

    def command(self, t, z, y, r):
        return [1.7 * (r[0] - y[0])]


@pytest.mark.parametrize("plant", ["ieha-published-linear", "ieha-control"])
def test_a_sample_time_mistyped_is_refused_before_anything_runs(plant, monkeypatch):
    case = loads(f"plant: {plant}\nloop: {{sample_time: 1e-6}}\n")
    monkeypatch.setattr("workbench.verification.run.simulate", None)
    with pytest.raises(InputError, match=r"has \d+ samples and \d+ steps") as refused:
        examine(case.loop, case.scenario, case.claims)
    assert refused.value.key == "sample_time" and "workbench simulate" in refused.value.mend


def test_a_law_called_from_python_may_be_called_less_often(monkeypatch):
    hosted = ClosedLoop(PLANT, Brought())
    fused = ClosedLoop(PLANT, Sampled(LAW, 1e-3))
    too_long.check_length(hosted, WALK)
    long = Scenario(1.1e-3 * too_long.MOST_CALLED, WALK.reference)
    too_long.check_length(fused, long)
    with pytest.raises(too_long.TooLong, match=f"at most {too_long.MOST_CALLED} samples"):
        too_long.check_length(hosted, long)


def test_the_longest_runs_are_taken_and_those_a_sample_longer_are_not():
    """200 000 samples of a law from Python, 2 000 000 of a compiled one, 20 000 000 steps; a run has one sample more than steps."""
    hosted = ClosedLoop(PLANT, Brought())
    fused = ClosedLoop(PLANT, Sampled(LAW, 1e-3))
    for loop, longest, fine, key in (
        (hosted, 199.999, 1e-3, "sample_time"),
        (fused, 1999.999, 1e-3, "sample_time"),
        (fused, 19.999, 1e-6, "max_step"),
    ):
        too_long.check_length(loop, Scenario(longest, WALK.reference, max_step=fine))
        with pytest.raises(too_long.TooLong) as refused:
            too_long.check_length(loop, Scenario(longest + 1e-3, WALK.reference, max_step=fine))
        assert refused.value.key == key


def test_steps_are_counted_where_they_are_many():
    loop = ClosedLoop(PLANT, Sampled(LAW, 1e-3))
    fine = Scenario(30.0, WALK.reference, max_step=1e-6)
    with pytest.raises(too_long.TooLong, match="3000[0-9]+ steps") as refused:
        too_long.check_length(loop, fine)
    assert refused.value.key == "max_step"


def test_a_run_that_a_claim_makes_too_long_leaves_that_claim_undecided(monkeypatch):
    loop = ClosedLoop(PLANT, Sampled(LAW, 1e-3))
    asked = [
        run_claims.Tracking(error=1.0, settle=0.2),
        run_claims.Settled(floor=1e-3, chatter=0.9),
    ]
    rests = Scenario(0.6, Hold("output", (0.2,)))
    before = verify(loop, rests, asked)
    monkeypatch.setattr(too_long, "MOST_SAMPLES", grid(loop, rests).n)
    tracking, settled = verify(loop, rests, asked)
    assert tracking.holds == before[0].holds is True
    assert settled.holds is None and "dozens of such runs" in settled.worst
    assert before[1].holds is not None
