"""Probabilities of violations, small places by hand: numbers that are asked, runs that are lost, edges of what decides."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE, Decaying
from test_splitting_parts import people

from workbench import ClosedLoop, InputError, Scenario
from workbench.verification.claims import Probability
from workbench.verification.probability import runs, stopped
from workbench.verification.probability.claims import Spread
from workbench.verification.probability.fixed import in_batches, told
from workbench.verification.probability.runs import LOST, Runs, Said
from workbench.verification.probability.splitting import FAMILIES, _estimated
from workbench.verification.ranges import ranges
from workbench.verification.temporal.sentence import read

EVENLY = {"c": Spread(uniform=("10 cm", "110 cm"))}
X = "always (x < 1 m)"


# ---- how many runs ------------------------------------------------------------------------------
def test_how_many_runs_are_made():
    """Fixed: 459 for 1 % with 99 %; tenfold where they may stop; 20 000 of splitting; what is stated."""
    assert Probability(X, EVENLY).number == 459
    assert Probability(X, EVENLY, sequential=True).number == 4590
    assert Probability(X, EVENLY, 1e-4, sequential=True).number == 100_000
    assert Probability(X, EVENLY, 1e-3, method="splitting").number == 20_000
    assert Probability(X, EVENLY, runs=7).number == 7
    assert Probability((X, X), EVENLY, confidence=0.9).share == pytest.approx(0.05)


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"at_most": 0.0}, "at_most"),
        ({"at_most": 1.0}, "at_most"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": 0.49}, "confidence"),
        ({"at_most": 1e-6}, "at_most"),
        ({"method": "splitting", "at_most": 0.11}, "at_most"),
        ({"method": "splitting", "sequential": True}, "sequential"),
        ({"method": "splitting", "at_most": 1e-3, "runs": 10}, "runs"),
        ({"of": (X, X), "method": "splitting"}, "of"),
    ],
)
def test_numbers_of_a_probability_that_cannot_be_asked(changes, key):
    with pytest.raises(InputError) as why:
        Probability(**{"of": X, "over": EVENLY} | changes)
    assert why.value.key == key


def test_numbers_of_a_probability_at_the_edge():
    assert Probability(X, EVENLY, confidence=0.5).confidence == 0.5
    assert Probability(X, EVENLY, 0.1, method="splitting").at_most == 0.1
    Probability(X, EVENLY, 5e-5)  # 92 101 runs
    for wrong in ({"over": {}}, {"of": ()}):
        with pytest.raises(InputError, match="at least one"):
            Probability(**{"of": X, "over": EVENLY} | wrong)


# ---- runs that are lost ---------------------------------------------------------------------------
STARTED = Decaying(k=1.0)
LOOP = ClosedLoop(STARTED, IDLE)


def two():
    sentences = [read(X, {"x": "m"}), read("always (x < 2 m)", {"x": "m"})]
    return Runs(SimpleNamespace(loop=LOOP, scenario=Scenario(0.005)), sentences, ())


def test_a_run_that_cannot_be_made_loses_every_sentence(monkeypatch):
    def fails(*job):
        raise ArithmeticError("overflow")

    own = two()
    monkeypatch.setattr(runs, "run_many", fails)
    monkeypatch.setattr(runs, "simulated", fails)
    assert own._made([(LOOP, Scenario(0.005))] * 3) == [[LOST, LOST]] * 3
    monkeypatch.setattr(runs, "simulated", lambda *job: "a run")
    monkeypatch.setattr(Runs, "_of", lambda self, run: [Said(True, 1.0)])
    assert own._made([(LOOP, Scenario(0.005))]) == [[Said(True, 1.0)]]


def answer(holds, margin):
    return SimpleNamespace(holds=holds, margin=margin)


@pytest.mark.parametrize(
    "given, said",
    [
        (answer(True, 2.0), Said(True, 2.0)),
        (answer(False, -3.0), Said(False, -3.0)),
        (answer(True, None), Said(True, math.inf)),
        (answer(False, None), Said(False, -math.inf)),
        (answer(None, 1.0), LOST),
    ],
)
def test_what_a_run_says_to_a_sentence(monkeypatch, given, said):
    monkeypatch.setattr(runs, "columns", lambda run, names: {"x": np.ones(3)})
    status = SimpleNamespace(completed=True)
    log = SimpleNamespace(status=status, time=np.arange(3.0))
    run = SimpleNamespace(log=log, fine=SimpleNamespace(log=log))
    sentence = SimpleNamespace(names=("x",), on=lambda time, found, scale: given)
    assert runs.said(sentence, run) == said
    status.completed = False
    assert runs.said(sentence, run) == LOST
    status.completed = True
    monkeypatch.setattr(runs, "columns", lambda run, names: {"x": np.array([1.0, np.nan])})
    assert runs.said(sentence, run) == LOST


def test_what_runs_said_is_kept_as_numbers():
    row = [Said(True, 2.5), Said(False, -1.0)]
    assert runs._numbers(row) == [1.0, 2.5, 0.0, -1.0]
    assert runs._said([1.0, 2.5, 0.0, -1.0]) == row


def test_what_is_large_for_a_machine_is_that_of_the_one_that_is_not_drawn(monkeypatch):
    known = SimpleNamespace(of_unit={"m": SimpleNamespace(value=0.4)}.get)
    monkeypatch.setattr(runs, "scales", lambda plant: known)
    assert (two()._scale("m"), two()._scale("Pa")) == (0.4, 0.0)


def test_every_run_has_noise_of_its_own():
    """Seeds go on from that of the scenario, over batches of 64."""
    asked = []

    def said(some, seeds):
        asked.append((len(some), list(seeds)))
        return [[Said(k % 2 == 0, 1.0), Said(True, 1.0)] for k in range(len(some))]

    own = SimpleNamespace(run=SimpleNamespace(scenario=SimpleNamespace(seed=5)), said=said)
    met = list(in_batches(own, [{}] * 70))
    assert asked == [(64, list(range(5, 69))), (6, list(range(69, 75)))]
    assert met[1].tolist() == [[True, True], [False, True]] * 3


# ---- what decides ---------------------------------------------------------------------------------
CLAIM = SimpleNamespace(
    sentences=(X, "always (x < 2 m)"), at_most=0.25, confidence=0.95, over={"c": 0}, counted=True,
    share=0.025, seed=3, number=128,
)  # fmt: skip
DRAWS = [{"c": 0.1 * k} for k in range(4)]


@pytest.mark.parametrize(
    "least, bounds, holds, worst",
    [
        ((0.0, 0.1), (0.2, 0.25), True, "1 of 4 runs violate it, so that the probability is at most 25 %"),
        ((0.0, 0.1), (0.2, 0.26), None, "1 of 4 runs violate it, so that the probability is at most 26 %"),
        ((0.26, 0.1), (0.5, 0.4), False, "2 of 4 runs violate it, so that the probability is at least 26 %"),
        ((0.25, 0.1), (0.5, 0.4), None, "2 of 4 runs violate it, so that the probability is at most 50 %"),
    ],
)  # fmt: skip
def test_the_worst_of_several_sentences_decides(least, bounds, holds, worst):
    met = np.array([[True, True], [False, True], [True, True], [False, False]])
    found = told(CLAIM, DRAWS, met, least, bounds, "more", "source")
    i = int(np.argmax(bounds))
    first = (1, 3)[i]
    told_of = f"{worst}, {CLAIM.sentences[i]}; the first is run {first} of seed 3, "
    assert found.holds is holds and found.worst.startswith(told_of)
    assert found.margin == pytest.approx(0.25 - bounds[i]) and found.limit == 0.25
    tail = f"; it is at least {100 * least[i]:g} %: more"
    assert found.worst.endswith(tail) is (holds is None)
    assert found.data["violations"] == [2, 1] and found.data["runs"] == 4
    assert found.data["violated"] == ([1, 3], [3])[i]


@pytest.mark.parametrize(
    "ends, looks",
    [
        (((0.0, 0.25), (0.1, 0.2)), 1),
        (((0.0, 0.26), (0.1, 0.2)), 2),
        (((0.26, 0.9), (0.1, 0.2)), 1),
        (((0.25, 0.9), (0.1, 0.2)), 2),
    ],
)
def test_runs_end_where_the_bounds_decide(monkeypatch, ends, looks):
    """At most as much as is allowed, or more than that at least; two batches of 64 are all there are."""
    ticks, asked = [], []
    left = {}

    def interval(self, k, n):
        asked.append((k, n))
        left[n] = left.get(n, 0) + 1
        return ends[left[n] - 1]

    monkeypatch.setattr(stopped.Sequence, "interval", interval)
    monkeypatch.setattr(stopped, "draws", lambda claim, runs, n: [{}] * n)
    part = np.tile([[True, False]], (64, 1))
    monkeypatch.setattr(stopped, "in_batches", lambda runs, every: iter([part, part]))
    given = lambda claim, every, met, least, bounds, more, source: (len(met), least, bounds, more)
    monkeypatch.setattr(stopped, "told", given)
    n, least, bounds, more = stopped.by_stopping(CLAIM, None, lambda: ticks.append(0))
    assert n == 64 * looks == 64 * len(ticks) and more == f"more runs may decide (runs: {4 * n})"
    assert (least, bounds) == ([e[0] for e in ends], [e[1] for e in ends])
    assert asked[:2] == [(0, 64), (64, 64)]


@pytest.mark.parametrize("failing, reached", [(FAMILIES, True), (FAMILIES - 1, False)])
def test_as_many_families_as_count_reach_the_event(failing, reached):
    count = 32  # whose shares are floats, so that ten families count as ten
    scores = np.where(np.arange(count) < failing, 1.0, -1.0)
    found = _estimated(people(scores), count, (), count, ())
    assert found.reached is reached
    assert found.probability == pytest.approx(failing / count if reached else 1.0)


# ---- ranges of numbers ------------------------------------------------------------------------------
@pytest.mark.parametrize("low, high", [(-1.0, 0.6), (0.0, 0.6), (-2.0, -1.0)])
def test_both_ends_of_a_range_are_possible(low, high):
    with pytest.raises(InputError, match=f"over.c: it cannot be from {low:g} to {high:g}"):
        ranges(STARTED, {"c": (low, high)}, "over")


def test_ranges_in_si():
    found = ranges(STARTED, {"c": ("10 cm", "0.6 m"), "u": ("1 cm", 2.0)}, "over", {"u": "m"})
    assert found == {"c": (0.1, 0.6), "u": (0.01, 2.0)}
    assert ranges(STARTED, {"c": (0.5, 0.5)}, "over") == {"c": (0.5, 0.5)}
    assert ranges(STARTED, {"u": (-2.0, -1.0)}, "over", {"u": "m"}) == {"u": (-2.0, -1.0)}
    with pytest.raises(InputError, match="over.c: low, 2, is above high, 1"):
        ranges(STARTED, {"c": (2.0, 1.0)}, "over")
    with pytest.raises(InputError, match="over: the plant has no number 'd'"):
        ranges(STARTED, {"d": (2.0, 1.0)}, "over")
