"""Loops near rest that are small enough to be changed and examined again, from matrices that are written down."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, Sampled, Scenario
from workbench.verification.cause import around as module
from workbench.verification.cause import removal
from workbench.verification.cause.around import MOST_STATES, Around, around
from workbench.verification.cause.trial import Trial
from workbench.verification.linear.loop import LinearLaw

A, B, C, K = (
    np.array(M) for M in ([[-1.0, 0.5], [0.0, -3.0]], [[0.0], [2.0]], [[1.0, 0.2]], [[0.7]])
)


def rows(M):
    return tuple(map(tuple, np.asarray(M, float).tolist()))


PLANT = Linear(rows(A), rows(B), rows(C))


@pytest.mark.parametrize("wrap, T, delay", [
    (lambda law: law, 0.0, 0.0),
    (lambda law: Sampled(law, 0.1), 0.1, 0.0),
    (lambda law: Delayed(Sampled(law, 0.1), 0.15), 0.1, 0.15),
])  # fmt: skip
def test_plant_and_law_near_rest(wrap, T, delay):
    found = around(None, ClosedLoop(PLANT, wrap(Feedback(PLANT, rows(K)))))
    assert (found.A, found.B, found.C) == (pytest.approx(A), pytest.approx(B), pytest.approx(C))
    assert found.law.D == pytest.approx(-K) and (found.law.T, found.law.delay) == (T, delay)
    if T == 0.0:
        assert found.matrix() == pytest.approx(A - B @ K @ C)


@pytest.mark.parametrize("n, linearised", [(MOST_STATES, True), (MOST_STATES + 1, False)])
def test_a_loop_of_many_states_is_not_examined_again(n, linearised):
    plant = Linear(rows(-np.eye(n)), rows(np.ones((n, 1))), rows(np.ones((1, n))))
    loop = ClosedLoop(plant, Feedback(plant, ((1.0,),)))
    assert (around(None, loop) is not None) is linearised


def test_a_crane_is_not_examined_again():
    class Crane(Linear):
        structures = ("a boom",)

    plant = Crane(rows(A), rows(B), rows(C))
    assert around(None, ClosedLoop(plant, Feedback(plant, rows(K)))) is None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_none_are_not_examined(monkeypatch, value):
    law = LinearLaw(
        np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[value]]), 0.1, 0.0
    )
    monkeypatch.setattr(module, "_law", lambda run, loop: law)
    loop = ClosedLoop(PLANT, Feedback(PLANT, rows(K)))
    assert around(None, loop) is None
    monkeypatch.setattr(module, "_law", lambda run, loop: None)
    assert around(None, loop) is None


def one(gain, T, a=-1.0):
    """ẋ = a x + u, u = gain x, held over T where that is not 0."""
    law = LinearLaw(
        np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[gain]]), T, 0.0
    )
    return Around(np.array([[a]]), np.eye(1), np.eye(1), law)


def test_growth_of_the_fastest_mode():
    """a + gain in flows; ln |e^{aT} + gain (e^{aT} − 1)/a|/T in samples; ∞ where a number is none."""
    assert one(3.0, 0.0).growth() == pytest.approx(2.0)
    assert one(-3.0, 0.0).growth() == pytest.approx(-4.0)
    held = math.exp(-0.2) - 30.0 * (1 - math.exp(-0.2))
    assert one(-30.0, 0.2).growth() == pytest.approx(math.log(abs(held)) / 0.2) and held < -1
    assert one(math.nan, 0.0).growth() == math.inf
    dead = math.exp(-0.2) / (1 - math.exp(-0.2))
    assert one(-dead, 0.2).growth() < -100


# ---- errors that are large ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "stated, error, large", [(True, 3.0, 0.0), (False, 3.0, 3.0), (False, math.inf, 0.0)]
)
def test_the_error_of_the_loop_as_it_is_counts_as_large_where_no_machine_states_one(
    monkeypatch, stated, error, large
):
    own = SimpleNamespace(of_unit=lambda unit: "a stroke" if stated else None)
    monkeypatch.setattr(removal, "scales", lambda plant: own)
    monkeypatch.setattr(removal, "_alone", lambda job, judge: error)
    run = SimpleNamespace(loop=SimpleNamespace(plant=None), error_unit="m")
    assert removal.large_error(run, None) == large


def shown(monkeypatch, *bad, hosted=False, length=10.0, period=None):
    """(badness, which start, its duration) of a run whose starts are as bad as these, one after the other."""
    monkeypatch.setattr(
        removal, "kicked", lambda run, brief: [replace(brief, seed=k) for k in (1, 2)]
    )
    left = iter(bad)
    monkeypatch.setattr(removal, "_alone", lambda job, judge: next(left))
    loop = SimpleNamespace(period=period)
    run = SimpleNamespace(loop=loop, scenario=Scenario(length, log_period=0.5))
    found, scenario = removal.shown(run, hosted)
    assert scenario.log_period is None
    return found, scenario.seed, scenario.duration


def test_a_run_is_shown_where_it_is_worst_and_no_longer_than_it_takes(monkeypatch):
    assert shown(monkeypatch, 0.35) == (0.35, 0, 6.0)
    assert shown(monkeypatch, 0.34, 0.5) == (0.5, 1, 6.0)
    assert shown(monkeypatch, 0.1, 0.3, 0.2, length=4.0) == (0.3, 1, 4.0)
    assert shown(monkeypatch, math.inf) == (10.0, 0, 6.0)
    assert shown(monkeypatch, 1.0, hosted=True, period=2e-3)[2] == 3.0
    assert shown(monkeypatch, 1.0, hosted=True)[2] == 1.5


@pytest.mark.parametrize(
    "kind, share, heals, part",
    [
        ("gain", 0.9, True, True), ("gain", 0.89, False, True), ("gain", 0.15, False, True),
        ("gain", 0.149, False, False), ("reference", 0.95, False, False),
    ],
)  # fmt: skip
def test_a_removal_heals_or_helps_in_part(kind, share, heals, part):
    trial = Trial(kind, "too high", {}, {}, 0.5)
    assert removal._heals(trial, share) is heals
    found = removal._in_part(trial, share)
    assert (found is not None) is part
    if part:
        assert (found.words, found.share) == ("in part, too high", share)


def test_jobs_that_cannot_be_run_are_as_bad_as_can_be(monkeypatch):
    def many(jobs, judge):
        if "broken" in jobs:
            raise ValueError("overflow")
        return [judge(job) for job in jobs]

    monkeypatch.setattr(removal, "run_many", many)
    assert removal._judged(["a", "bb"], len) == [1, 2]
    assert removal._judged(["a", "broken", "ccc"], len) == [1, math.inf, 3]


def test_the_delay_of_a_loop():
    law = Feedback(PLANT, rows(K))
    late = ClosedLoop(PLANT, Delayed(Sampled(law, 0.1), 0.25))
    assert module._delay(late) == 0.25
    assert module._delay(ClosedLoop(PLANT, Sampled(law, 0.1))) == 0.0
