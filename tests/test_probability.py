"""Probabilities of violations: bounds against the binomial law, known ones from both sides, crashes, draws that are kept."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from scipy.stats import binom
from small import Feedback, Linear

from workbench import ClosedLoop, InputError, Scenario, Signal, System, verify
from workbench.cases.file import loads
from workbench.contract.parameters import Unit, positive
from workbench.verification.binomial import lower, upper
from workbench.verification.claims import Probability
from workbench.verification.probability_claims import Spread, draws


@dataclass(frozen=True)
class Started(System):
    """ẋ = −x + u, x(0) = c."""

    c: Annotated[float, Unit("m"), "where it starts", positive] = 0.5

    @property
    def states(self):
        return (Signal("x", "m", "state"),)

    @property
    def inputs(self):
        return (Signal("u0", "1", "input"),)

    @property
    def outputs(self):
        return (Signal("y0", "m", "output"),)

    def initial(self):
        return [self.c]

    def rhs(self, t, x, u):
        return [-x[0] + u[0]]

    def out(self, t, x):
        return [x[0]]


LOOP = ClosedLoop(Started(), Feedback(Linear(A=((0.0,),), B=((1.0,),), C=((1.0,),)), ((0.0,),)))
SCENARIO = Scenario(duration=0.05)
EVENLY = {"c": Spread(uniform=("10 cm", "110 cm"))}  # above 1 m in one run of ten


def asked(of, **options):
    claim = Probability(of, options.pop("over", EVENLY), **options)
    (verdict,) = [v for v in verify(LOOP, SCENARIO, [claim]) if v.key == "probability"]
    return verdict


@pytest.mark.quick
@pytest.mark.parametrize("k, n", [(0, 10), (1, 459), (7, 100), (100, 100)])
def test_bounds_are_those_of_the_binomial_law(k, n):
    """At the upper bound k violations or fewer have probability α; at the lower one, k or more."""
    α = 0.01
    high, low = upper(k, n, α), lower(k, n, α)
    if k < n:
        assert binom.cdf(k, n, high) == pytest.approx(α, rel=1e-8)
    else:
        assert high == 1.0
    if k > 0:
        assert binom.sf(k - 1, n, low) == pytest.approx(α, rel=1e-8)
    else:
        assert low == 0.0


@pytest.mark.parametrize("p, confidence, m", [(0.01, 0.99, 1), (0.05, 0.95, 1), (0.1, 0.9, 3)])
def test_as_few_runs_as_can_show_it(p, confidence, m):
    claim = Probability(("always (x < 1 m)",) * m, EVENLY, p, confidence)
    n = claim.number
    assert upper(0, n, claim.share) <= p < upper(0, n - 1, claim.share)
    assert (p, confidence, m, n) in {(0.01, 0.99, 1, 459), (0.05, 0.95, 1, 59), (0.1, 0.9, 3, 33)}


def test_a_known_probability_from_both_sides():
    """x starts above 1 m with probability 0.1: at most 20 % holds, at most 3 % is violated, 10 % cannot be told."""
    sure = asked("always (x < 1 m)", at_most=0.2, runs=400, seed=3)
    assert sure.holds and sure.strength == "sampled" and 0.1 < sure.data["bounds"][0] <= 0.2
    assert sure.margin == pytest.approx(0.2 - sure.data["bounds"][0])
    bad = asked("always (x < 1 m)", at_most=0.03, runs=400, seed=3)
    assert bad.holds is False and "run " in bad.worst and bad.data["least"][0] > 0.03
    open_ = asked("always (x < 1 m)", at_most=0.1, runs=400, seed=3)
    assert open_.holds is None and "more runs" in open_.worst
    above = [d["c"] >= 1.0 for d in sure.data["draws"]]
    assert sure.data["violations"] == [sum(above)] and sure.data["violated"] == list(
        np.flatnonzero(above)
    )
    never = asked("always (x < 2 m)", at_most=0.05, confidence=0.95)
    assert never.holds and never.data["runs"] == 59 and never.data["violations"] == [0]


def test_sentences_share_the_confidence():
    both = asked(("always (x < 2 m)", "always (x < 1 m)"), at_most=0.2, runs=300, seed=3)
    alone = asked("always (x < 1 m)", at_most=0.2, runs=300, seed=3)
    assert both.data["violations"] == [0, alone.data["violations"][0]]
    assert both.data["bounds"][1] > alone.data["bounds"][0]


def test_what_cannot_be_run_or_told_counts_as_a_violation():
    """A normal draw of a positive number is below zero in half of the runs: no such plant can be made."""
    over = {"c": Spread(normal=(1e-9, "1 cm"))}
    verdict = asked("always (x < 2 m)", over=over, at_most=0.3, runs=60, seed=1)
    below = sum(d["c"] <= 0 for d in verdict.data["draws"])
    assert verdict.holds is False and verdict.data["violations"] == [below] and 15 < below < 45
    late = asked("always[0 s, 1 s] (x < 2 m)", runs=5)
    assert late.holds is None and "run it longer" in late.worst


def test_draws_are_those_of_the_seed_and_of_their_law():
    over = {"c": Spread(log_uniform=("1 cm", "1 m"))}
    claim = Probability("always (x < 1 m)", over, runs=4000, seed=5)
    values = np.array([d["c"] for d in draws(claim, Started())])
    assert draws(claim, Started()) == draws(claim, Started())
    assert draws(claim, Started()) != draws(
        Probability(claim.of, over, runs=4000, seed=6), Started()
    )
    assert values.min() >= 0.01 and values.max() <= 1.0
    assert np.mean(values < 0.1) == pytest.approx(0.5, abs=0.03), "half of them below the middle"


HEAD = "plant: ieha-published-linear\ncontroller: PID\nscenario: {duration: 1 s}\nclaims:\n  probability: "


@pytest.mark.parametrize(
    "text, words",
    [
        ("{of: always (Y < 1 m), over: {KK: {uniform: [1, 2]}}}", "no number 'KK'"),
        ("{of: always (Y < 1 m), over: {K: {uniform: [2 1/s, 1 1/s]}}}", "is empty"),
        ("{of: always (Y < 1 m), over: {K: {uniform: [1 bar, 2 bar]}}}", "expected"),
        ("{of: always (Y < 1 m), over: {K: {}}}", "expected one of uniform"),
        ("{of: always (Y <, over: {K: {uniform: [100, 120]}}}", "column"),
        ("{of: always (Y < 1 m), over: {}}", "at least one number"),
        ("{of: always (Y < 1 m), at_most: 0, over: {K: {uniform: [100, 120]}}}", "between 0 and 1"),
        ("{of: always (Y < 1 m), at_most: 1e-9, over: {K: {uniform: [100, 120]}}}", "more than"),
    ],
)
def test_files_that_ask_amiss(text, words):
    with pytest.raises(InputError) as caught:
        loads(HEAD + text + "\n", "case.yaml")
    assert words in str(caught.value) and caught.value.line, str(caught.value)


def test_a_file_asks_for_a_probability():
    text = "{of: always (Y < 1 m), at_most: 5 %, confidence: 95 %, over: {K: {uniform: [104 1/s, 127 1/s]}}}\n"
    (claim,) = [c for c in loads(HEAD + text).claims if isinstance(c, Probability)]
    assert claim.number == 59 and not Probability.says_stable
