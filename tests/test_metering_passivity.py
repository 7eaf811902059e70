"""Incremental passivity of valve circuits, from both sides: proven where the conditions hold, refused where one does not."""

from dataclasses import replace

import metering_cases as cases
import numpy as np
import pytest

from controllers import OpenLoop
from plants import Arm, MeteredArms
from plants.valve_circuits import Circuit, Pump, Section, passivity
from plants.valve_circuits.passivity import check_passive, conditions
from workbench import ClosedLoop, InputError, Scenario, load, verify
from workbench.parameters import bind
from workbench.verification.claims import IncrementalPassivity


def test_proven_for_any_circuit_of_the_family():
    rng = np.random.default_rng(3)
    for N in (1, 2, 3):
        verdict = check_passive(cases.circuit(rng, N), 200, seed=N)
        assert (verdict.holds, verdict.strength) == (True, "proof") and all(a.holds for a in verdict.assumptions)
        assert verdict.data["largest"] <= verdict.data["rounding"] and "fed back" in verdict.worst


@pytest.mark.parametrize("path, value, words", [
    ("sections.1.c_tr", -1e-6, "orifice"), ("sections.1.P_rM", 0.0, "relief"), ("sections.1.A_r", -0.01, "areas"),
    ("pump.Q", float("inf"), "pump's flow"), ("pump.c_b", float("nan"), "orifice"), ("pump.P_M", float("inf"), "relief")])
def test_a_condition_that_does_not_hold_leaves_it_undecided(path, value, words):
    broken = bind(Circuit(), {path: value})  # no data class would build it
    verdict = check_passive(broken)
    assert verdict.holds is None and words in verdict.worst and [a for a in conditions(broken) if a.holds is False]


def test_a_solver_that_is_wrong_is_found_out(monkeypatch):
    """Velocities of the wrong sign, and one that mixes up two sections, are against it somewhere."""
    honest = passivity.resolve_all

    def reversed_(rows, supply, β, f, v, P):
        honest(rows, supply, β, f, v, P)
        v *= -1.0

    def swapped(rows, supply, β, f, v, P):
        honest(rows, supply, β, f, v, P)
        v[:] = v[:, ::-1].copy()

    for wrong in (reversed_, swapped):
        monkeypatch.setattr(passivity, "resolve_all", wrong)
        verdict = check_passive(Circuit((Section("a"), Section("b", A_h=0.01))))
        assert (verdict.holds, verdict.strength) == (False, "sampled") and verdict.margin < 0


def test_asked_of_a_case_and_refused_where_there_is_no_circuit():
    plant = MeteredArms(arms=(Arm(), Arm("2", section=replace(Section(), A_r=0.03))), pump=Pump(Q=4e-3))
    verdicts = verify(ClosedLoop(plant, OpenLoop()), Scenario(0.1), (IncrementalPassivity(samples=50),))
    assert [(v.key, v.holds, v.strength) for v in verdicts] == [("incremental-passivity", True, "proof")]
    other = load("examples/four-bar-cycle.yaml")
    with pytest.raises(InputError, match="states no quasistatic circuit"):
        verify(other.loop, Scenario(0.05), (IncrementalPassivity(),))
