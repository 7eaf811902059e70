"""What a law called from Python counts and lets run on, from numbers written down: no law is run."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.cause.fitted import FINE, _refined
from workbench.verification.linear.called_law import Memory
from workbench.verification.practical.branches import edges
from workbench.verification.practical.branches.ways import AT_ONCE, COMMANDS, Manner, Way
from workbench.verification.practical.called.reach import functions_of
from workbench.verification.practical.later import clock as module
from workbench.verification.practical.switches import graph
from workbench.verification.practical.switches.called import Called
from workbench.verification.practical.switches.margins import Beside
from workbench.verification.practical.switches.own_plant import OnOwnPlant


# ---- clocks -------------------------------------------------------------------------------------
class Counts:
    """A law asked anew: its first number grows by 2 a sample, its second by what is measured, its third by 3 until row 20."""

    def __init__(self, rows=31):
        self.time = 0.1 * np.arange(float(rows))
        self.y = np.column_stack([np.full(rows, 0.5)])
        self.loop = SimpleNamespace(period=0.1)

    def step(self, memory, y, row, t=None):
        a, b, c = memory.wrapped
        return Memory([a + 2.0, b + float(y[0]), c + 3.0], (None, None)), np.array([0.0])


def seen(rows, third=lambda row: 3.0 * row):
    return {row: Memory([2.0 * row, 0.5 * row, third(row)], (None, None)) for row in rows}


def test_a_clock_grows_by_the_same_amount_whatever_is_measured(monkeypatch):
    monkeypatch.setattr(module, "_off", lambda asked, row: np.array([0.01]))
    assert module._ticks(Counts(), seen((0, 10, 20, 30))) == pytest.approx({0: 2.0, 2: 3.0})
    bent = seen((0, 10, 20, 30), lambda row: 3.0 * min(row, 20))
    assert module._ticks(Counts(), bent) == pytest.approx({0: 2.0})
    still = seen((0, 10, 20, 30), lambda row: 7.0)
    assert module._ticks(Counts(), still).get(2) in (None, 0.0)


def test_two_rows_or_memory_of_another_length_tell_no_clock(monkeypatch):
    monkeypatch.setattr(module, "_off", lambda asked, row: np.array([0.01]))
    assert set(module._ticks(Counts(), seen((0, 15, 30)))) == {0, 2}
    assert module._ticks(Counts(), seen((0, 30))) == {}
    longer = seen((0, 10, 20, 30)) | {30: Memory([60.0, 15.0, 90.0, 1.0], (None, None))}
    assert module._ticks(Counts(), longer) == {}
    assert module._drifts(Counts(), longer, {}) == {}


def test_what_runs_on_and_is_no_clock_is_told_a_sample(monkeypatch):
    asked = []

    def running_on(time, values):
        asked.append(time.tolist())
        return None if values[-1] == 15.0 else values[-1]

    monkeypatch.setattr(module, "running_on", running_on)
    found = module._drifts(Counts(), seen((0, 10, 30)), {2: 3.0})
    assert found == pytest.approx({0: 6.0}) and asked[0] == [0.0, 1.0, 3.0]


# ---- what a law calls -----------------------------------------------------------------------------
class Gain:
    def times(self, e):
        return 3.0 * e


class Law:
    def __init__(self):
        self.gain = Gain()

    def __call__(self, t, y, r):
        return [self.gain.times(r[0] - y[0])]


def plain(k, t, y, r):
    return [k * y[0]]


@pytest.mark.parametrize(
    "law, called",
    [(Law(), ["__call__", "times"]), (partial(plain, 2.0), ["plain"]), (plain, ["plain"])],
)
def test_functions_of_a_law_are_those_that_a_sample_calls(law, called):
    """Of an object that is called its own and what these name; of a function with a number given that function."""
    assert [one.__name__ for one in functions_of(law)] == called
    if isinstance(law, Law):
        assert [one.__name__ for one in functions_of(law.__call__)] == called


def test_a_users_plant_beside_a_called_law_is_the_users():
    """What such a law remembers may grow beyond an edge: it is looked for."""
    assert OnOwnPlant.users is True and Called.users is True


# ---- the number that explains most --------------------------------------------------------------
@pytest.mark.parametrize(
    "best, found",
    [(0.3, 0.3), (0.7, 0.7), (1.7, 1.7), (2.4, 2.4), (2.9, 2.9), (-1.0, 0.0), (4.0, 3.0)],
)
def test_the_best_number_is_sought_between_the_neighbours_on_the_grid(best, found):
    """Of 0, 1, 2 and 3 the nearest, at its ends on one side only."""
    got = _refined(lambda v: v, lambda v: (v - best) ** 2, np.arange(4.0))
    assert got == pytest.approx(found, abs=20 * FINE) and 0.0 <= got <= 3.0


# ---- the way to an edge ---------------------------------------------------------------------------
class Straight:
    """A law whose only comparison is that of its first value with 0.5."""

    def ask(self, run, row, points):
        return SimpleNamespace(margins=lambda side: np.array([0.5 - points[0]]))

    def held(self, run, row, points):
        return SimpleNamespace(margins=lambda side: np.array([points[0] - 0.5]))


@pytest.mark.parametrize("held, side", [(False, 1.0), (True, -1.0)])
def test_an_edge_lies_behind_the_last_point_that_is_not_beyond(held, side):
    """Four parts from 0 to 1: the third is at the edge itself, and on this side of it."""
    manner = Manner(held, 5, 1, 3)
    own = Way(manner, Straight(), None, 0, np.zeros(1), np.ones(1), 0, side)
    assert own.edge(0.0, 1.0) == (0.5, 0.75)
    assert own.edge(0.6, 1.0) == (0.6, pytest.approx(0.7))
    finer = Way(Manner(held, 5, 2, 3), Straight(), None, 0, np.zeros(1), np.ones(1), 0, side)
    assert finer.edge(0.0, 1.0) == (0.5, 0.5625)
    assert AT_ONCE.held is False


@pytest.mark.parametrize("edge", [0.005, 0.02, 0.5])
def test_an_edge_may_lie_before_the_nearest_point_that_is_asked(edge):
    """From the row itself on: a hundredth of the move is the smallest that is tried."""

    class At:
        users = False

        def at(self, run, row):
            return np.array([0.15]), np.zeros(0)

        def ask(self, run, row, points):
            margins = np.array([0.15 + edge - points[0]])
            return Beside(
                margins,
                margins,
                np.where(margins >= 0, 1.0, -1.0),
                np.zeros((0, points.shape[1])),
                np.zeros((0, points.shape[1])),
            )

        def shown(self, run, row, points):
            return {}

    plant = SimpleNamespace(
        states=(SimpleNamespace(name="a", unit="m"),),
        p_top=None,
        pressure_names=(),
        machine_limits=lambda: (),
    )
    log = SimpleNamespace(array={"a": np.array([0.15])}.get, time=np.zeros(1))
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), log=log)
    seen = SimpleNamespace(side=lambda k: 1.0)
    (found,) = edges._beside(run, At(), seen, 0, np.array([[1.0], [-1.0]]), [0])
    assert found.aside[0] == pytest.approx(edge, rel=1e-6) and found.change == COMMANDS


def test_a_tie_is_the_smallest_number_there_is():
    assert graph.TIE == 5e-324 and sorted(graph.TIES.values()) == [-5e-324, 5e-324]
