"""Worst instants: a verdict names the time at which the run it was asked about is worst, and no time of another run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from workbench.cases.file import loads
from workbench.verification.claims import Overshoot, Tracking
from workbench.verification.judge import examine

CASE = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2}
loop: {sample_time: 1 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz}
  duration: 3 s
claims:
  requirements: {travel: always (-12 mm < Y < 12 mm)}
"""


@pytest.fixture(scope="module")
def judged():
    """(log, key → verdict) of a run that moves."""
    case = loads(CASE, "case.yaml")
    asked = [c for c in case.claims if type(c).__name__ in ("Requirement", "MachineLimits")]
    found = examine(case.loop, case.scenario, [Tracking(5e-3, settle=1.0), Overshoot(), *asked])
    return found.log, {v.key: v for v in found.verdicts}


def test_the_error_is_largest_then(judged):
    log, verdicts = judged
    error = np.abs(log.array("Y_d") - log.array("Y"))
    late = np.where(log.time >= 1.0, error, -1.0)
    assert log.time[late.argmax()] == verdicts["tracking"].instant
    assert late.max() == pytest.approx(verdicts["tracking"].data["largest"])


def test_the_sentence_is_nearest_to_being_broken_then(judged):
    log, verdicts = judged
    Y = log.array("Y")
    k = np.searchsorted(log.time, verdicts["requirements.travel"].instant)
    assert np.abs(Y[k]) == np.abs(Y).max()


def test_what_is_printed_is_what_is_named(judged):
    _, verdicts = judged
    named = [v for v in verdicts.values() if v.instant is not None]
    assert {"tracking", "overshoot", "requirements.travel"} <= {v.key for v in named}
    for verdict in named:
        printed = re.search(r"t = ([\d.]+) s", verdict.worst)[1]
        assert float(printed) == pytest.approx(verdict.instant, abs=6e-3)
        assert verdict.as_dict()["instant"] == verdict.instant


def test_another_run_s_instant_is_none_of_this_one():
    """Where the machine stands still, tracking is judged from another start."""
    case = loads("plant: ieha-published-linear\ncontroller: {law: PID, K_p: 0.4}\n", "case.yaml")
    still = replace(case.scenario, reference=None, disturbances={}, duration=0.5)
    found = examine(case.loop, still, [Tracking(0.5, settle=0.1)])
    (verdict,) = found.verdicts
    assert np.ptp(found.log.array("Y")) == 0 and "t = " in verdict.worst
    assert verdict.instant is None
