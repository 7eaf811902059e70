"""Monitors that are worked out after a run, many rows side by side, are those that the run itself would have written."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from test_native import LAW, PLANT, PUSH, WAVE, crane_loops

from workbench import ClosedLoop, Delayed, Sampled, Scenario
from workbench.contract.errors import InputError
from workbench.numerics.mapped import Mapped
from workbench.numerics.native import Loop
from workbench.numerics.samples import Samples
from workbench.run import ending
from workbench.run.demand import Demand
from workbench.run.fused import Fused
from workbench.run.log import Status
from workbench.run.pace import Pace
from workbench.run.start import start_state


def ready(loop, scenario, rows):
    return Fused(loop, scenario, Demand(loop, scenario, start_state(loop, scenario)), None, rows)


def both(run, every):
    """Rows of a run from its first sample on, in two calls: as it writes them, and with monitors after it."""
    g = replace(run.grid_at(Pace()), every=every)
    found = []
    for monitored in (True, False):
        machine = Loop(run.traced, None, monitored)
        x0 = run.demand.start
        begun = machine.begin(0.0, x0, run.inputs[0], run.constants)
        state = np.concatenate([begun, np.zeros(run.traced.n_powers)])
        rows = np.full((g.rows + 3, machine.row), np.nan)
        half = g.n // 2
        run.advance(machine, run.constants, g, state, 0, half, rows)
        kept = g.kept(half)
        run.advance(machine, run.constants, g, state, half, g.n - half, rows[kept:])
        found.append(rows)
    return found, g


@pytest.mark.parametrize("every", [0, 1, 3])
@pytest.mark.parametrize("which", ["held", "delayed by fractions, noisy", "continuous"])
def test_rows_are_the_same_to_the_last_bit(two_joint, which, every):
    loop = crane_loops(two_joint)[which]
    (within, after), g = both(ready(loop, Scenario(0.05), "steps"), every)
    assert np.array_equal(within, after, equal_nan=True)
    assert np.isfinite(within[: g.rows]).all() and np.isnan(within[g.rows :]).all()


@pytest.mark.parametrize("every", [0, 1])
@pytest.mark.parametrize("late", [0.0, 2.3e-3])
def test_rows_see_the_inputs_of_their_own_instant(every, late):
    """A push that changes between samples is read at the beginning of each step."""
    law = Sampled(LAW, 2e-3)
    loop = ClosedLoop(PLANT, Delayed(law, late) if late else law)
    scenario = Scenario(0.06, WAVE, {"w0": PUSH}, max_step=0.5e-3)
    run = ready(loop, scenario, "steps")
    assert run.traced.flow_is_driven
    (within, after), _ = both(run, every)
    assert np.array_equal(within, after, equal_nan=True)


def test_nothing_is_written_of_samples_that_were_not_done(two_joint, monkeypatch):
    run = ready(crane_loops(two_joint)["held"], Scenario(0.02), "steps")
    run.inputs = run.inputs.copy()
    run.inputs[5:] = np.inf
    (within, after), g = both(run, 1)
    assert g.n == 11 and np.isnan(after[6:]).all()
    assert np.array_equal(within, after, equal_nan=True)


@cache
def asked(every, first=6):
    """Five samples from number 6 on, 2 s apart, of one early step and two late ones."""
    W = np.arange(5.0)[:, None]
    F = 100 + np.arange(5 * 3 * 3.0)[:, None]
    return Samples(first, 5, every, True, 2.0, 1, 0.5, 2, 0.75, None, W, F, None, None)


def test_instants_and_inputs_of_rows():
    t, w = asked(1).logged(4, 3)
    assert t.tolist() == [12.0, 14.0, 16.0, 18.0] and w.ravel().tolist() == [0, 1, 2, 3]
    t, w = asked(4).logged(5, 3)  # number 8 alone
    assert t.tolist() == [16.0] and w.ravel().tolist() == [2]
    t, w = asked(0).logged(0, 3)  # a run that ends with its first sample
    assert t.shape == (0,) and w.shape == (0, 1)
    t, w = asked(0).logged(2, 3)
    assert t.tolist() == [12.0, 12.5, 13.25, 14.0, 14.5, 15.25]
    assert w.ravel().tolist() == [0, 103, 106, 1, 112, 115]
    t, w = asked(0)._replace(F=None).logged(2, 3)
    assert w.ravel().tolist() == [0, 0, 0, 1, 1, 1]


def test_outputs_written_into_longer_rows(two_joint):
    loop = crane_loops(two_joint)["held"]
    run = ready(loop, Scenario(0.02), "steps")
    log = Mapped(run.traced.log)
    x = np.tile(run.demand.start, (9, 1))
    given = (np.arange(9.0)[:, None], x, run.inputs[:9], run.constants)
    alone = log(*given)
    room = np.full((9, log.n_out + 5), -1.0)
    assert log(*given, out=room[:, 2:-3]) is not None
    assert np.array_equal(room[:, 2:-3], alone)
    assert (room[:, :2] == -1).all() and (room[:, -3:] == -1).all()
    assert log(given[0][:0], x[:0], run.inputs[:0], run.constants).shape == (0, log.n_out)


def test_a_loop_with_its_variation_writes_its_monitors_itself(two_joint):
    """Which side of an instant it differentiates at is a constant that changes along the run."""
    traced = ready(crane_loops(two_joint)["held"], Scenario(0.02), "steps").traced
    assert not Loop(traced, False, monitored=False).monitored
    assert Loop(replace(traced, sided=1), False, monitored=False).monitored


@pytest.mark.parametrize(
    "state, mend", [("q_1", "check the initial state"), ("u_1_held", "what it believes")]
)
def test_no_number_at_the_start_is_told_of_the_machine_or_of_the_law(
    two_joint, monkeypatch, state, mend
):
    loop = crane_loops(two_joint)["held"]
    status = Status(False, "diverged", 0.0, state)
    monkeypatch.setattr(ending, "ended", lambda *given: status)
    g = SimpleNamespace(every=1, times=np.zeros)
    columns = SimpleNamespace(give=lambda rows, inputs: None)
    run = SimpleNamespace(result=(g, np.zeros((0, 3)), None))
    with pytest.raises(InputError, match=f"{state} is not finite at the start") as told:
        ending.finish(loop, None, None, np.zeros((0, 1)), run, None, True, columns)
    assert mend in told.value.mend
