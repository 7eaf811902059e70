"""The most likely cause of what went wrong: planted faults are named, sound loops are left alone."""

from dataclasses import replace

import numpy as np
import pytest
from ledger_cases import REAL
from planted import BRIEF, LINEAR, OFF, SLOW, SWING, WALK, faults, linear, own, told, vdc, wired

from workbench import changed
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.cause.badness import badness
from workbench.verification.cause.feedback import feedback, negative
from workbench.verification.cause.named import likely_cause, with_cause
from workbench.verification.cause.removal import SOUND
from workbench.verification.cause.trial import against, odd, slip
from workbench.verification.cause.trials import grouped, trials
from workbench.verification.cause.wiring import rewired
from workbench.verification.judge import examine
from workbench.verification.observed.requirements import check_tracking
from workbench.verification.run import run

LADEN = changed(REAL, {"payload.mass": 20.0})
WANTED = 0.8  # share of the planted faults that are named right


@pytest.mark.long
def test_planted_faults_are_named():
    """Over wires, units, gains, model, valves, delay, sample time, noise, friction, disturbance; each by words that say which."""
    wrong, asked = [], {name: fault for name, fault in faults().items() if name not in SLOW}
    for name, (loop, scenario, words) in asked.items():
        r = run(loop, scenario, compiled=scenario is not BRIEF)
        found = likely_cause(r)
        if found is None or words not in found.words:
            wrong.append((name, found))
    assert len(asked) >= 30 and len(wrong) <= (1 - WANTED) * len(asked), wrong


def test_a_sound_loop_shows_no_fault_and_pays_nothing(monkeypatch):
    r = run(vdc(), OFF)
    assert badness(r) < SOUND
    tracking = check_tracking(run_claims.Tracking(), r)
    assert tracking.holds is True
    monkeypatch.setattr(
        "workbench.verification.cause.named.likely_cause",
        lambda run, **_: pytest.fail("asked for a cause"),
    )
    assert with_cause(r, [tracking]) == [tracking]
    information = replace(tracking, holds=False, counted=False)
    assert with_cause(r, [information]) == [information]


def test_the_cause_comes_first_in_the_verdict_that_counts_and_changes_no_answer():
    found = examine(
        told({"payload.mass": 180.0}, LADEN),
        WALK,
        [run_claims.Tracking(), C.Hypotheses(), run_claims.EnergyBalance()],
    )
    tracking, hypotheses, energy = found.verdicts
    first = (
        "most likely cause: plant.payload.mass is 9 × what the controller believes, 20 kg (180 kg)"
    )
    assert tracking.holds is False and tracking.worst.startswith(first)
    assert tracking.data["cause"]["kind"] == "model"
    assert hypotheses.holds is False and "most likely" not in hypotheses.worst  # information
    assert energy.holds is True and "cause" not in energy.data


@pytest.mark.long
def test_wires_are_named_only_where_undoing_them_makes_the_residual_vanish():
    """The sound wires explain themselves; two faults at once are more than one edit explains."""
    straight = run(wired(), BRIEF, compiled=False)
    assert rewired(straight) == ""
    both = run(
        wired(commands_times=(-1.0, 1.0), measured_times=(1.0, 1.0, -1.0) + (1.0,) * 5),
        BRIEF,
        compiled=False,
    )
    assert rewired(both) == ""


@pytest.mark.quick
def test_the_sign_of_a_loop():
    assert feedback(run(own(0.4), SWING)) == "" == feedback(run(linear(), SWING))
    assert "positive feedback" in feedback(run(own(-0.4), SWING))
    assert negative(np.diag([-1.0, -2.0])) and not negative(np.diag([-1.0, 2.0]))
    assert not negative(
        np.array([[-1.0, 0.0], [-3.0, -1.0]])
    )  # more into the other output than into its own


@pytest.mark.quick
def test_a_factor_is_said_with_the_slip_it_may_be():
    assert against(180.0, 20.0, "what it was") == "9 × what it was, 20 (180)"
    assert (
        "wrong sign" in against(-1.0, 2.0, "")
        and against(3.0, 0.0, "as told") == "3 and not 0, as told"
    )
    assert "mm for m" in slip(8000.0, 8.0) and "mm for m" in slip(0.008, 8.0)
    assert "degrees" in slip(57.2958, 1.0) and "bar" in slip(1e5, 1.0)
    assert slip(9.0, 1.0) == slip(-1000.0, 1.0) == slip(0.0, 1.0) == ""
    assert odd(2.0, 2.0) == 0 < odd(2.2, 2.0) < odd(4.0, 2.0) < odd(100.0, 2.0) == 1.2


def test_a_wild_belief_is_never_made_into_a_machine():
    """A valve believed 60,000 times too large: the belief is put right, and no machine with such a valve is run."""
    wild = changed(REAL, {"all.valve.c_p1": 2e-3, "payload.mass": 3.0})
    r = run(vdc(REAL, wild), BRIEF, compiled=False)
    tried = [t for t in trials(r) if t.kind == "model"]
    touched = {
        path
        for t in tried
        for path, value in t.numbers.items()
        if path.startswith("plant.") and "c_p1" in path
    }
    assert not touched and any("valve.c_p1" in t.words for t in tried)
    together = next(t for t in tried if t.words.startswith("several"))
    assert all(path.startswith("controller.") for path in together.numbers)


def test_numbers_that_differ_alike_are_one_fault():
    found = grouped(
        {
            "lift.valve.frequency": (3.0, 30.0),
            "tilt.valve.frequency": (2.0, 20.0),
            "lift.valve.slew": (3.0, 30.0),
            "payload.mass": (180.0, 20.0),
        }
    )
    assert set(found) == {"*.valve.frequency", "lift.valve.slew", "payload.mass"}


def test_a_run_that_shows_nothing_is_kicked():
    """Holding still, a loop whose integral runs away shows nothing; off its path it does."""
    still = replace(SWING, reference=None)
    r = run(linear(K_i=(5e4,)), still)
    assert badness(r) < SOUND
    assert "K_i" in likely_cause(r).words
    assert LINEAR.as_shipped() == LINEAR
