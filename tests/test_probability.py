"""Probabilities of violations: bounds against the binomial law, known ones from both sides, crashes, draws that are kept."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.stats import binom
from small import IDLE, Decaying

from workbench import ClosedLoop, InputError, Scenario, verify
from workbench.cases.file import loads
from workbench.verification.claims import Probability
from workbench.verification.probability.binomial import lower, upper
from workbench.verification.probability.claims import Spread
from workbench.verification.probability.draws import drawn, laws, standard
from workbench.verification.probability.fixed import Seen, draws, in_batches, judged
from workbench.verification.probability.rare import by_splitting
from workbench.verification.probability.rare import told as told_rare
from workbench.verification.probability.runs import Runs, Said
from workbench.verification.probability.sequential import Sequence
from workbench.verification.probability.splitting import next_level, particles, split
from workbench.verification.run import run as simulated
from workbench.verification.temporal.sentence import read

STARTED = Decaying(k=1.0)
LOOP = ClosedLoop(STARTED, IDLE)
SCENARIO = Scenario(duration=0.005)
EVENLY = {"c": Spread(uniform=("10 cm", "110 cm"))}  # above 1 m in one run of ten
LAWS = laws(EVENLY, LOOP.plant)


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


@pytest.fixture(scope="module")
def run_once():
    """(draws, what is seen (n, 2)) of 240 runs that ask for less than 2 m, and less than 1 m."""
    claim = Probability(("always (x < 2 m)", "always (x < 1 m)"), EVENLY, 0.2, runs=240, seed=3)
    runs = Runs(simulated(LOOP, SCENARIO), [read(of, {"x": "m"}) for of in claim.sentences], LAWS)
    every = draws(claim, runs, claim.number)
    return every, Seen.joined(list(in_batches(runs, every)))


def alone(run_once, at_most):
    every, seen = run_once
    claim = Probability("always (x < 1 m)", EVENLY, at_most, runs=240, seed=3)
    return judged(claim, every, Seen(seen.met[:, 1:], seen.asked[:, 1:]))


def test_a_known_probability_from_both_sides(run_once):
    """x starts above 1 m with probability 0.1: at most 20 % holds, at most 3 % is violated, 10 % cannot be told."""
    sure = alone(run_once, 0.2)
    assert sure.holds and sure.strength == "sampled" and 0.1 < sure.data["bounds"][0] <= 0.2
    assert sure.margin == pytest.approx(0.2 - sure.data["bounds"][0])
    bad = alone(run_once, 0.03)
    assert bad.holds is False and "run " in bad.worst and bad.data["least"][0] > 0.03
    open_ = alone(run_once, 0.1)
    assert open_.holds is None and "more runs" in open_.worst
    above = [d["c"] >= 1.0 for d in sure.data["draws"]]
    assert sure.data["violations"] == [sum(above)] and sure.data["violated"] == list(
        np.flatnonzero(above)
    )
    never = asked("always (x < 2 m)", at_most=0.05, confidence=0.95)
    assert never.holds and never.data["runs"] == 59 and never.data["violations"] == [0]


@pytest.mark.parametrize(
    "text, words",
    [
        ("always (x > 9 m implies x < 0 m)", "x > 9 m was never true"),
        ("always (abs(x) >= 0 m)", "nothing that these signals could do"),
    ],
)
def test_a_sentence_that_asks_nothing_is_never_held_to_be_probable(text, words):
    found = asked(text, at_most=0.5, confidence=0.5)
    assert found.holds is None and words in found.worst


SERVO = """plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [6 mm], frequency: 1 Hz}
  duration: 1.5 s
"""


def test_a_number_that_moves_nothing_is_not_drawn():
    """Without a force K_F moves nothing: all runs say what one says. Beside K, which moves them, it is named."""
    case = loads(SERVO)
    gain = {"K": Spread(uniform=("112 1/s", "118 1/s"))}
    idle = {"K_F": Spread(uniform=(-8e-6, -5e-6))}

    def servo(over):
        claim = Probability("always (tool_error < 1 mm)", over, 0.5, 0.5)
        (verdict,) = verify(case.loop, case.scenario, [claim])[:1]
        return verdict

    assert servo(gain).holds is True and "moved no signal" not in servo(gain).worst
    assert servo(idle).holds is None and "K_F moved no signal" in servo(idle).worst
    assert servo(gain | idle).holds is True and "K_F moved no signal" in servo(gain | idle).worst


@pytest.mark.parametrize(
    "text, words",
    [
        ("eventually (tool_error < 1 mm)", "true at the start of the run already"),
        ("eventually (Y_d > 5 mm)", "what the scenario gives"),
        ("always (tool_error < 5 m)", "more than the whole movement"),
    ],
)
def test_what_a_requirement_may_not_be_is_no_probability_either(text, words):
    case = loads(SERVO)
    claim = Probability(text, {"K": Spread(uniform=("112 1/s", "118 1/s"))}, 0.5, 0.5)
    (verdict,) = verify(case.loop, case.scenario, [claim])[:1]
    assert verdict.holds is None and words in verdict.worst


@pytest.mark.parametrize("sequential", [False, True])
def test_runs_that_ask_nothing_show_nothing(sequential):
    """x starts below 60 cm, the machine as it is at 50 cm, in half of the runs: of these alone is anything known."""
    options = {"at_most": 0.05, "confidence": 0.95, "sequential": sequential}
    whole = asked("always (x < 2 m)", **options, runs=1000)
    assert whole.holds and "put it to the test" not in whole.worst
    half = asked("always (x < 60 cm implies x > 1 cm)", **options, runs=80)
    tests, n = half.data["tests"][0], half.data["runs"]
    below = sum(d["c"] < 0.6 for d in half.data["draws"])
    assert tests == below and 0.3 < tests / n < 0.7
    assert half.holds is None and f"{tests} of which put it to the test" in half.worst
    more = asked("always (x < 60 cm implies x > 1 cm)", **options, runs=1000)
    assert more.holds and more.data["bounds"][0] >= upper(0, more.data["tests"][0], 0.05)


def test_runs_that_ask_something_are_counted_by_sentence():
    met = np.array([[True, True], [True, False], [True, True]])
    first = Seen(met, np.array([[True, True], [False, True], [False, True]]))
    both = Seen.joined([first, first])
    assert len(both) == 6 and both.violations == [0, 2] and both.tests == [2, 6]


def test_a_probability_is_at_least_what_all_runs_show_and_at_most_what_tests_show():
    claim = Probability("always (x < 1 m)", EVENLY, 0.2, runs=40)
    met = np.arange(40)[:, None] >= 3
    asked_by = np.arange(40)[:, None] < 10
    verdict = judged(claim, [{"c": 0.5}] * 40, Seen(met, asked_by))
    assert verdict.data["least"] == [lower(3, 40, claim.share)]
    assert verdict.data["bounds"] == [upper(3, 10, claim.share)]


def test_sentences_share_the_confidence(run_once):
    claim = Probability(("always (x < 2 m)", "always (x < 1 m)"), EVENLY, 0.2, runs=240, seed=3)
    both, one = judged(claim, *run_once), alone(run_once, 0.2)
    assert both.data["violations"] == [0, one.data["violations"][0]]
    assert both.data["bounds"][1] > one.data["bounds"][0]


def test_what_cannot_be_run_or_told_counts_as_a_violation():
    """A normal draw of a positive number is below zero in half of the runs: no such plant can be made."""
    over = {"c": Spread(normal=(1e-9, "1 cm"))}
    verdict = asked("always (x < 2 m)", over=over, at_most=0.3, runs=60, seed=1)
    below = sum(d["c"] <= 0 for d in verdict.data["draws"])
    assert verdict.holds is False and verdict.data["violations"] == [below] and 15 < below < 45
    late = asked("always[0 s, 1 s] (x < 2 m)", runs=5)
    assert late.holds is None and "run it longer" in late.worst


def test_draws_are_those_of_the_seed_and_of_their_law():
    z = standard(5, 4000, 1)
    assert np.array_equal(standard(5, 10, 1), z[:10]) and not np.array_equal(
        standard(6, 4000, 1), z
    )

    def values(**how):
        return np.array([d["c"] for d in drawn(laws({"c": Spread(**how)}, STARTED), z)])

    even = values(log_uniform=("1 cm", "1 m"))
    assert even.min() >= 0.01 and even.max() <= 1.0
    assert np.mean(even < 0.1) == pytest.approx(0.5, abs=0.03), "half of them below the middle"
    assert stats.kstest(values(uniform=("2 m", "5 m")), stats.uniform(2, 3).cdf).pvalue > 1e-3
    assert stats.kstest(values(normal=("2 m", "30 cm")), stats.norm(2, 0.3).cdf).pvalue > 1e-3


# ---- stopping as soon as it is decided -------------------------------------------------------------------------------------
@pytest.mark.quick
@pytest.mark.parametrize("k, n", [(0, 585), (3, 400), (40, 40)])
def test_bounds_that_hold_at_every_run_are_where_the_mixture_says(k, n):
    """At its ends M_n(p) = ∫ (q/p)^k ((1 − q)/(1 − p))^(n − k) dπ(q) is 1/α, by quadrature; wider than for one n."""
    α, aim = 0.01, 0.02
    low, high = Sequence(aim, α).interval(k, n)
    law = stats.beta(0.5, 0.5 / aim)
    for p, outside in ((low, k == 0), (high, k == n)):
        if outside:
            assert p == (0.0 if k == 0 else 1.0)
            continue
        ratio = lambda r, p=p: (
            2 * r * law.pdf(r**2) * (r**2 / p) ** k * ((1 - r**2) / (1 - p)) ** (n - k)
        )
        mixed, _ = quad(ratio, 0, 1, limit=400, epsabs=0, epsrel=1e-9)  # q = r²
        assert mixed == pytest.approx(1 / α, rel=1e-5)
    assert low <= lower(k, n, α) and high >= upper(k, n, α)


def test_bounds_cover_although_one_stops_where_they_look_best():
    """Of 500 sequences of runs, the truth leaves the interval at any of 600 runs in no more than α of them."""
    p, α = 0.05, 0.1
    n = np.arange(1, 601)
    k = np.cumsum(np.random.default_rng(3).random((500, 600)) < p, axis=1)
    missed = (Sequence(0.05, α).excess(p, k, n) >= 0).any(axis=1)
    fooled = (stats.binom.cdf(k, n, p) < α).any(axis=1)  # by bounds for one n, looked at as often
    assert missed.mean() <= α < 0.3 < fooled.mean()


def test_a_sequential_claim_stops_as_soon_as_it_is_decided():
    sure = asked("always (x < 1 m)", at_most=0.3, sequential=True, seed=3)
    assert sure.holds and sure.strength == "sampled" and sure.data["runs"] == 64
    assert len(sure.data["draws"]) == 64 and "at most" in sure.worst
    bad = asked("always (x < 40 cm)", at_most=0.4, sequential=True, seed=3)
    assert bad.holds is False and bad.data["least"][0] > 0.4 and bad.data["runs"] <= 128
    open_ = asked("always (x < 1 m)", at_most=0.1, runs=30, sequential=True, seed=3)
    assert open_.holds is None and open_.data["runs"] == 30 and "more runs" in open_.worst


# ---- rare violations -------------------------------------------------------------------------------------------------------
def beyond(p, dimensions=3):
    """Score of an event of probability p: a normal sum above its quantile."""
    limit = stats.norm.isf(p)
    return lambda z, seeds: z.sum(axis=1) / np.sqrt(dimensions) - limit


def test_a_rare_event_is_found_within_a_factor_of_two():
    """P(z̄ > quantile) = 1e-6 in 20,000 runs, five seeds."""
    count = particles(20_000, 1e-5)
    for seed in range(5):
        found = split(beyond(1e-6), 3, count, 20_000, seed)
        assert found.reached and found.runs <= 20_000
        assert 0.5e-6 < found.probability < 2e-6
        low, high = found.bounds(0.05)
        assert low < found.probability < high < 4e-6
        assert list(found.levels) == sorted(found.levels) and found.levels[-1] <= 0


def test_bounds_of_a_rare_event_cover_as_often_as_they_say():
    p, α = 1e-4, 0.05
    found = [split(beyond(p), 3, particles(4000, p), 4000, seed).bounds(α) for seed in range(100)]
    low, high = np.array(found).T
    assert np.mean(high >= p) >= 0.92 and np.mean(low <= p) >= 0.92


def test_noise_is_led_too():
    """One seed in 16 takes 2 off a limit of 4.5: P = 15/16 Q(4.5) + 1/16 Q(2.5) = 3.9e-4."""
    score = lambda z, seeds: z[:, 0] - 4.5 + 2.0 * (seeds % 16 == 3)
    found = [split(score, 1, 3000, 30_000, seed, noisy=True) for seed in range(6)]
    p = 15 / 16 * stats.norm.sf(4.5) + stats.norm.sf(2.5) / 16
    assert np.mean([f.probability for f in found]) == pytest.approx(p, rel=0.2)
    still = split(score, 1, 3000, 30_000, 0)
    assert still.probability < 0.1 * p, "with one seed alone it is another event"


def test_where_nothing_leads_to_the_event_nothing_is_said_to_be_sure():
    flat = split(lambda z, seeds: np.full(len(z), -1.0), 2, 200, 4000, 1)
    assert not flat.reached and flat.bounds(0.05)[1] == 1.0 and flat.runs == 200
    assert next_level(np.array([-1.0] * 150 + [-2.0] * 50)) == -2.0, "a plateau is kept whole"
    far = split(beyond(1e-9), 3, 400, 4000, 1)
    assert not far.reached and far.bounds(0.05)[0] == 0.0 and 1e-9 < far.bounds(0.05)[1] < 0.05


def test_a_rare_violation_is_asked_of_margins():
    """c is normal, 0.5 ± 0.1 m; above 0.872 m with probability 1e-4; a run says how far below it is."""
    limit = 0.5 + 0.1 * stats.norm.isf(1e-4)
    asked_of = SimpleNamespace(
        laws=laws({"c": Spread(normal=("50 cm", "10 cm"))}, LOOP.plant),
        noisy=False,
        run=SimpleNamespace(scenario=SCENARIO),
        said=lambda every, seeds: [[Said(d["c"] < limit, limit - d["c"])] for d in every],
    )
    claim = Probability("always (x < 1 m)", EVENLY, 1e-3, 0.95, 10_000, method="splitting")
    ticks = []
    sure = by_splitting(claim, asked_of, lambda: ticks.append(1))
    assert sure.holds is None and "no guarantee" in sure.worst and ticks
    assert "2995 runs drawn at random" in sure.worst
    assert 0.5e-4 < sure.data["probability"] < 2e-4 and sure.data["runs"] <= 10_000
    assert sure.data["levels"][0] > sure.data["levels"][-1] >= 0, "levels are margins"
    assert 0.872 <= sure.data["likeliest"]["c"] < 0.95
    assert sure.margin == 1e-3 - sure.data["bounds"][0]


def test_a_loop_that_often_violates_needs_no_level():
    options = {"at_most": 0.1, "confidence": 0.9, "runs": 280, "method": "splitting"}
    often = asked("always (x < 80 cm)", **options)
    assert often.holds is False and often.strength == "estimated" and often.data["levels"] == []
    assert 0.15 < often.data["probability"] < 0.45 and often.data["runs"] == 100


@pytest.mark.parametrize("at_most, holds", [(1e-2, None), (1e-6, False), (1e-4, None)])
def test_an_estimate_is_judged_by_its_bounds(at_most, holds):
    found = split(beyond(1e-4, 1), 1, 3000, 15_000, 2)
    claim = Probability("always (x < 1 m)", EVENLY, at_most, 0.95, method="splitting")
    verdict = told_rare(claim, Runs(None, (), LAWS), found)
    assert verdict.holds is holds and "no guarantee" in verdict.worst
    assert verdict.strength == (None if holds is None else "estimated")
    assert verdict.data["least"][0] < 1e-4 < verdict.data["bounds"][0]


def test_a_way_to_fail_that_no_margin_leads_to_is_never_held_to_be_rare():
    """Below z_1 = −4.3 all fails, with p = 8.5e-6, and the margin says nothing of it: the bound of what is found is too small."""
    hidden = lambda z, seeds: np.where(z[:, 1] < -4.3, 1.0, z[:, 0] - 6.0)
    found = split(hidden, 2, particles(20_000, 5e-6), 20_000, 1)
    claim = Probability("always (x < 1 m)", EVENLY, 5e-6, 0.95, method="splitting")
    verdict = told_rare(claim, Runs(None, (), LAWS), found)
    assert verdict.data["bounds"][0] < stats.norm.cdf(-4.3), "the bound does not cover the truth"
    assert verdict.holds is None and "at random" in verdict.worst


HEAD = "plant: ieha-published-linear\ncontroller: PID\nscenario: {duration: 1 s}\nclaims:\n  probability: "


@pytest.mark.parametrize(
    "text, words",
    [
        ("{of: always (Y < 1 m), over: {KK: {uniform: [1, 2]}}}", "no number 'KK'"),
        ("{of: always (Y < 1 m), over: {K: {uniform: [2 1/s, 1 1/s]}}}", "empty range"),
        ("{of: always (Y < 1 m), over: {K: {uniform: [2 1/s, 2 1/s]}}}", "empty range"),
        ("{of: always (Y < 1 m), over: {K: {uniform: [1 bar, 2 bar]}}}", "K: "),
        ("{of: always (Y < 1 m), over: {K: {normal: [104 1/s, 0 1/s]}}}", "not above zero"),
        ("{of: always (Y < 1 m), over: {K: {normal: [104 1/s, .inf]}}}", "finite"),
        ("{of: always (Y < 1 m), over: {K: {log_uniform: [0 1/s, 2 1/s]}}}", "K "),
        (
            "{of: always (Y < 1 m), over: {K: {normal: [100 1/s, 1e-9 1/s]}}}",
            "no width to speak of",
        ),
        ("{of: always (Y < 1 m), over: {K: {uniform: [7, 7.000001]}}}", "no width to speak of"),
        ("{of: always (Y < 1 m), confidence: 1 %, over: {K: {uniform: [1, 2]}}}", "a coin"),
        ("{of: always (Y < 1 m), confidence: 100 %, over: {K: {uniform: [1, 2]}}}", "confidence"),
        ("{of: always (Y < 1 m), confidence: 120 %, over: {K: {uniform: [1, 2]}}}", "confidence"),
        ("{of: always (Y < 1 m), method: guessing, over: {K: {uniform: [1, 2]}}}", "method"),
        (
            "{of: always (Y < 1 m), method: splitting, sequential: true, over: {K: {uniform: [1, 2]}}}",
            "stop early",
        ),
        (
            "{of: [always (Y < 1 m), always (Y < 2 m)], method: splitting, over: {K: {uniform: [1, 2]}}}",
            "join them",
        ),
        (
            "{of: always (Y < 1 m), method: splitting, runs: 200, over: {K: {uniform: [1, 2]}}}",
            "too few",
        ),
        (
            "{of: always (Y < 1 m), method: splitting, at_most: 20 %, over: {K: {uniform: [1, 2]}}}",
            "rare",
        ),
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
