"""Steps whose box must hold in every row, how far a run moved, and when a reference ends, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.system import Signal
from workbench.verification.observed.tail import moves_until
from workbench.verification.search import moves
from workbench.verification.tube.checker import stiff


# ---- a step of a stiff loop ---------------------------------------------------------------------
def step(monkeypatch, *, grows, rows=1):
    """(reach, end) of a step of two states from which nothing is off but what `grows` a thousandfold at every try."""
    tries = []

    def left(*_):
        tries.append(1)
        return 1e3 ** len(tries) * np.array(grows, float)

    monkeypatch.setattr(stiff, "around", lambda here, by, sides: by)
    monkeypatch.setattr(
        stiff, "gradient", lambda *_: (None, np.zeros((rows, 2, 2)), np.zeros((rows, 2, 2)))
    )
    monkeypatch.setattr(stiff, "remainder", left)
    frame = SimpleNamespace(
        defect=lambda A, D: A, T=SimpleNamespace(size=np.stack([np.eye(2)] * rows))
    )
    set_ = SimpleNamespace(P=np.ones((rows, 2)), lost=np.zeros((rows, 2)))
    here = np.zeros(2)
    reach, end, _ = stiff.enclosed(
        None,
        lambda box: box,
        frame,
        set_,
        None,
        0.1,
        here,
        np.zeros((rows, 2)),
        np.arange(rows),
        None,
    )
    return reach, end, len(tries)


def test_a_step_that_adds_nothing_reaches_what_it_began_with(monkeypatch):
    reach, end, tries = step(monkeypatch, grows=[[0.0, 0.0]])
    assert tries == 1
    assert reach == pytest.approx(np.ones((1, 2)))
    assert end == pytest.approx(np.zeros((1, 2)), abs=1e-12)


@pytest.mark.parametrize("grows", [[[0.0, 1.0]], [[1.0, 0.0]], [[1.0, 1.0]]])
def test_a_box_that_one_state_leaves_holds_nothing(monkeypatch, grows):
    reach, end, tries = step(monkeypatch, grows=grows)
    assert tries == stiff.TRIES
    assert np.isinf(reach).all() and np.isinf(end).all()


def test_a_box_that_one_row_leaves_holds_the_others(monkeypatch):
    reach, end, _ = step(monkeypatch, grows=[[0.0, 0.0], [0.0, 1.0]], rows=2)
    assert np.isfinite(reach[0]).all() and np.isinf(reach[1]).all()
    assert np.isfinite(end[0]).all() and np.isinf(end[1]).all()


# ---- how far a run of a search is from the one without deviations --------------------------------
class Log(dict):
    array = dict.__getitem__
    time = np.array([0.0, 1.0, 2.0])


PLANT = SimpleNamespace(states=(Signal("x", "m"),), outputs=(Signal("y", "m"), Signal("p", "bar")))


def moved(monkeypatch, run, nominal, scale=None):
    own = SimpleNamespace(of_unit=lambda unit: scale and SimpleNamespace(value=scale))
    monkeypatch.setattr(moves, "scales", lambda plant: own)
    a, b = Log(run), Log(nominal)
    return moves.move(
        SimpleNamespace(loop=SimpleNamespace(plant=PLANT), log=a), SimpleNamespace(log=b)
    )


AWAY, STILL = np.array([0.0, 3.0, 0.0]), np.array([2.0, 2.0, 2.0])


@pytest.mark.parametrize("scale, share", [(None, 1.0), (0.5, 1.0), (4.0, 0.5)])
def test_a_move_counts_in_the_larger_of_its_scale_and_its_values(monkeypatch, scale, share):
    """|0 − 2| of max(scale, 2)."""
    assert moved(monkeypatch, {"x": AWAY}, {"x": STILL}, scale) == pytest.approx(share)


def test_the_largest_of_all_signals_that_both_runs_have(monkeypatch):
    run = {"x": STILL, "y": AWAY, "p": AWAY}
    assert moved(monkeypatch, run, {"x": STILL, "y": STILL}) == pytest.approx(1.0)
    assert moved(monkeypatch, {"x": STILL}, {"x": STILL, "y": STILL}) == 0.0
    assert moved(monkeypatch, {"p": AWAY}, {"x": STILL}) == 0.0


def test_a_signal_that_is_no_number_has_moved_without_bound(monkeypatch):
    lost = np.array([2.0, np.nan, 2.0])
    assert moved(monkeypatch, {"x": lost}, {"x": STILL}) > 1e300


# ---- when a reference has come to rest -----------------------------------------------------------
@pytest.mark.parametrize("duration, end", [(None, 0.0), (0.0, 0.0), (3, 3.0)])
def test_a_reference_ends_with_its_duration(duration, end):
    reference = SimpleNamespace(duration=duration)
    assert moves_until(SimpleNamespace(demand=SimpleNamespace(reference=reference))) == end
    assert moves_until(SimpleNamespace(demand=SimpleNamespace(reference=None))) == 0.0
