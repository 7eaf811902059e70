"""The claim tube from an instant of the run on: where it begins, runs that start there, and what cannot begin later."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from test_tube_linear import Lag

from tests.test_tube import Integral
from workbench import ClosedLoop, Controller, Sampled, Scenario
from workbench.contract.errors import InputError
from workbench.run.reference import Hold
from workbench.verification import claims as C
from workbench.verification.run import run
from workbench.verification.tube.claim_settings import check_asked, sentence, widths
from workbench.verification.tube.judged import judged
from workbench.verification.tube.posed import posed
from workbench.verification.tube.progress import Share

T = 0.01
STEP = Scenario(reference=Hold("output", (0.1,)), duration=0.6)
HALF = {"p": 1e3, "y": 0.02}
LATER = C.Tube(starts=HALF, after=0.2, substeps=1)


@dataclass(frozen=True)
class Forward(Controller):
    """u = K (r − y), without memory; with `drift` also t."""

    K: float = 20.0
    drift: float = 0.0
    measured = Integral.measured
    commands = Integral.commands
    references = Integral.references

    def command(self, t, z, y, r):
        return [self.K * (r[0] - y[0]) + self.drift * t]


@dataclass(frozen=True)
class Settling(Integral):
    """Its memory begins with a multiple of the first measurement."""

    def start(self, t, z, y, r):
        return [5.0 + 3.0 * y[0]]


def loop(law=None):
    return ClosedLoop(Lag(), Sampled(law or Forward(), T))


def found(claim=LATER, law=None):
    return judged(claim, run(loop(law), STEP), Share(None, 0))


# ---- where it begins -----------------------------------------------------------------------------------------------
def test_it_begins_with_the_state_and_memory_of_the_run_at_that_instant():
    made = run(loop(Integral(T=T)), STEP)
    question = posed(made, HALF, after=0.2)
    names = list(question.states)
    z = dict(zip((names[i] for i in question.tube.section), question.tube.z[0]))
    assert z["p"] == made.log.array("p")[20] and z["y"] == made.log.array("y")[20]
    assert z["I"] == made.log.array("I")[19]  # before the sample
    assert question.begins == pytest.approx(0.2) and len(question.tube.z) == 41
    assert (question.tube.x0[[names.index("p"), names.index("y")]] == [z["p"], z["y"]]).all()


def test_runs_from_there_stay_in_the_tube():
    one = found()
    assert one.verdict.holds, one.verdict.worst
    c = one.tube
    made = run(loop(), STEP)
    here = made.log.values[20, :2] - made.log.values[0, :2]
    for shares in itertools.product((-1.0, 1.0), repeat=2):
        offset = dict(zip(HALF, here + np.array(shares) * list(HALF.values())))
        other = run(loop(), replace(STEP, offset=offset, duration=0.4))
        far = np.abs(other.log.values[:40, :2] - c.z[:40])
        assert (far <= c.reach[:40, 0, c.section] * (1 + 1e-9)).all()
        assert (far[0] > 0.99 * c.reach[0, 0, c.section]).all()


def test_memory_that_is_made_of_the_first_measurement_is_made_at_first_only():
    at_first = found(replace(LATER, after=0.0), Settling(T=T))
    later = found(law=Settling(T=T))
    assert later.verdict.holds, later.verdict.worst
    memory = at_first.question.states.index("I")
    column = at_first.question.tube.section.tolist().index(memory)
    y = run(loop(Settling(T=T)), STEP).log.array("y")[0]
    assert at_first.question.tube.z[0, column] == pytest.approx(5.0 + 3.0 * y)
    assert abs(later.tube.z[0, column] - 5.0) > 0.01
    assert later.tube.reach[0, 0, memory] < 1e-6  # it does not start elsewhere; at first it does
    assert at_first.tube is None or at_first.tube.reach[0, 0, memory] > 0.05


def test_it_is_told_when_it_begins():
    assert found().verdict.data["time"][0] == pytest.approx(0.2)
    assert "every run that is at 0.2 s within" in sentence(LATER, loop(), HALF)
    at_first = replace(LATER, after=0.0)
    assert "every run that starts within" in sentence(at_first, loop(), HALF)


# ---- what cannot begin later -----------------------------------------------------------------------------------------
def test_an_instant_after_the_end_is_refused():
    verdict = found(replace(LATER, after=0.6)).verdict
    assert verdict.holds is None and "before the end of the run" in verdict.worst


def test_a_law_that_reads_the_time_has_no_tube_that_begins_later():
    verdict = found(law=Forward(drift=1.0)).verdict
    assert verdict.holds is None and "reads the time itself" in verdict.worst
    assert found(replace(LATER, after=0.0), Forward(drift=1.0)).verdict.worst != verdict.worst


def test_parts_do_not_begin_later():
    claim = replace(LATER, parameters={"k": (3.9, 4.1)}, parts={"k": 2})
    with pytest.raises(InputError, match="elsewhere after this instant"):
        check_asked(claim, loop())


def test_a_loop_that_grows_is_not_held_from_later_on():
    assert found(law=Forward(K=-20.0)).verdict.holds is None


def test_widths_are_those_of_the_starts():
    assert widths(LATER, loop()) == HALF
