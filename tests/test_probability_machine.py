"""A run that meets its sentence where no machine can be, past the end of a stroke, is none that meets it."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE, Decaying

from workbench import ClosedLoop, Scenario
from workbench.verification.claims import Probability
from workbench.verification.probability import runs as module
from workbench.verification.probability.claims import Spread
from workbench.verification.probability.draws import laws
from workbench.verification.probability.fixed import Seen, draws, in_batches
from workbench.verification.probability.runs import Runs
from workbench.verification.run import no_machine
from workbench.verification.run import run as simulated
from workbench.verification.temporal.sentence import read

EVENLY = {"c": Spread(uniform=("10 cm", "110 cm"))}


@dataclass(frozen=True)
class Ended(Decaying):
    """The same on a way that ends at 1 m, which its equation does not know."""

    @property
    def spans(self):
        return {"x": (0.0, 1.0)}


@pytest.mark.parametrize("plant, ends", [(Decaying, False), (Ended, True)])
def test_draws_that_leave_the_stroke_are_violations(plant, ends):
    loop = ClosedLoop(plant(), IDLE)
    claim = Probability("always (x < 2 m)", EVENLY, 0.2, runs=40, seed=3)
    sentences = [read("always (x < 2 m)", {"x": "m"})]
    runs = Runs(simulated(loop, Scenario(duration=0.005)), sentences, laws(EVENLY, loop.plant))
    every = draws(claim, runs, claim.number)
    met = Seen.joined(list(in_batches(runs, every))).met[:, 0]
    above = np.array([d["c"] > 1.0 for d in every])
    assert 1 < above.sum() < 20
    assert ((~met) == (above & ends)).all()


def test_a_run_past_stroke_vacuum_or_change_point_is_of_no_machine():
    known = {"left": (np.inf, ""), "hollow": (np.inf, ""), "crossed": (np.inf, "")}
    said = lambda **new: no_machine(SimpleNamespace(**known | new))
    assert said() == ""
    assert said(left=(1.0, "out")) == "out" and said(hollow=(1.0, "empty")) == "empty"
    assert said(crossed=(1.0, "in line"), left=(2.0, "out")) == "out"


def test_a_run_of_no_machine_meets_no_sentence(monkeypatch):
    run = simulated(ClosedLoop(Decaying(), IDLE), Scenario(duration=0.005))
    sentence = read("always (x < 2 m)", {"x": "m"})
    assert module.said(sentence, run).met
    monkeypatch.setattr(module, "no_machine", lambda run: "a chamber is empty")
    assert module.said(sentence, run) == module.LOST
