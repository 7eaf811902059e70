"""Draws that are given: signals on which a sentence is tried, and limits that a run exceeds for much of its time."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Signal
from workbench.run.log import Log
from workbench.run.status import Status
from workbench.verification.predictive.kept import exceeded
from workbench.verification.temporal import unbreakable as module

TIME = np.array([0.0, 1.0, 2.0])


class Given:
    """A source of random numbers whose answers are written down; what it is asked for is kept."""

    def __init__(self, half, sign, size, number=(), off=(), within=(), pick=()):
        self.half = half
        self.told = {"size": size, "off": off, "within": within}
        self.signs, self.numbers, self.picks = sign, number, pick
        self.asked = []

    def uniform(self, low=0.0, high=1.0, n=None):
        if n is None:
            return self.half
        ranges = {module.SIZES: "size", module.BESIDE: "off"}
        self.asked.append((low, high, n))
        return np.array(self.told[ranges.get((low, high), "within")], float)

    def choice(self, among, n):
        self.asked.append((tuple(among), n))
        return np.array(self.signs if tuple(among) == (-1.0, 1.0) else self.numbers, float)

    def integers(self, high, size):
        assert high == 3
        return np.array(self.picks)


def drawn(rng, named=(), name="x"):
    return module._drawn(name, np.array(named, float), rng, TIME).tolist()


def test_a_signal_without_numbers_beside_it_has_any_size():
    """Half of them, those below one half, jump from instant to instant; the others stay."""
    assert drawn(Given(0.49, [1, -1, 1], [0, 2, -3])) == [1.0, -100.0, 1e-3]
    assert drawn(Given(0.5, [-1], [2])) == [-100.0] * 3
    assert drawn(Given(0.5, [-1], [2]), name="tool_error") == [100.0] * 3
    assert drawn(None, name="time") == TIME.tolist()


def test_a_signal_is_far_from_the_numbers_of_a_sentence_or_beside_or_between_them():
    rng = Given(
        0.1, [1, -1, -1], [0, 0, 1], [4.0, 4.0, -2.0], [-1, -1, -1], [1.5, 2.5, 3.5], [0, 1, 2]
    )
    assert drawn(rng, (4.0, -2.0)) == pytest.approx([1.0, 3.6, 3.5])
    assert (-2.0, 4.0, 3) in rng.asked and ((4.0, -2.0), 3) in rng.asked
    rng = Given(
        0.1, [1, 1, -1], [0, 0, 1], [4.0, 4.0, -2.0], [-1, -1, -1], [1.5, 2.5, -1.0], [1, 0, 2]
    )
    assert drawn(rng, (4.0, -2.0), "overshoot") == pytest.approx([4.4, 1.0, 1.0])


@pytest.mark.parametrize(
    "answers, found", [([True] * 3, True), ([True, None, True], False), ([True, False], False)]
)
def test_a_sentence_that_one_draw_does_not_make_true_asks_something(monkeypatch, answers, found):
    """Where there is no number at an instant of a draw, the others count."""
    monkeypatch.setattr(module, "DRAWS", 4)
    monkeypatch.setattr(module, "_numbers", lambda sentence: np.array([]))
    left = [*answers, None][: len(answers)]
    times = []

    def on(time, drawn):
        times.append(time)
        assert set(drawn) == {"x"}
        if len(times) == 2 and found:
            raise ValueError
        return SimpleNamespace(holds=left.pop(0))

    sentence = SimpleNamespace(names=("x",), until=3.0, on=on)
    assert module.unbreakable(sentence, 2.0) is found
    assert times[0][-1] == 3.0 and len(times[0]) == module.INSTANTS
    assert not found or len(times) == 4


# ---- limits that are none ----------------------------------------------------------------------------------------------------
@dataclass
class Bound:
    name: str
    low: float | None = None
    high: float | None = None


@dataclass
class Law:
    limits: tuple


def run(**signals):
    rows = np.array(list(signals.values()), float).T
    own = tuple(Signal(name, "m") for name in signals)
    log = Log(np.arange(len(rows)) * 1.0, rows, own, {}, Status(True, "", 1.0))
    return SimpleNamespace(log=log)


@pytest.mark.parametrize(
    "limit, values, words",
    [
        (Bound("x", high=2.0), [3.0] + [0.0] * 4, ""),
        (Bound("x", high=2.0), [3.0, 2.5] + [0.0] * 3, "40 % of the run, by up to 1 m"),
        (Bound("x", high=2.0), [2.002] * 5, ""),
        (Bound("x", high=2.0), [2.0021] * 5, "100 % of the run, by up to"),
        (Bound("x", low=-4.0, high=2.0), [2.0039] * 5, ""),
        (Bound("x", low=-4.0, high=2.0), [-4.0041] * 5, "100 % of the run"),
        (Bound("x", low=-4.0), [-5.0, -7.0, 9.0, 0.0, 0.0], "40 % of the run, by up to 3 m"),
        (Bound("y", low=0.0), [9.0] * 5, ""),
    ],
)
def test_a_limit_that_is_exceeded_for_more_than_a_fifth_of_a_run_is_none(limit, values, words):
    """By more than a thousandth of its larger end."""
    found = exceeded(Law((limit,)), run(x=values))
    assert words in found and bool(words) is bool(found)


def test_limits_of_several_signals_are_told_one_after_the_other():
    law = Law((Bound("x", high=1.0), Bound("y", low=2.0)))
    found = exceeded(law, run(x=[2.0, 2.0], y=[0.0, 1.0]))
    assert found == (
        "x is beyond its limit for 100 % of the run, by up to 1 m; "
        "y is beyond its limit for 100 % of the run, by up to 2 m"
    )
    assert exceeded(SimpleNamespace(limits=law.limits), run(x=[2.0])) == ""
