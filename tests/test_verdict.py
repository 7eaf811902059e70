"""A verdict never rounds up: what it may say, what it refuses to say, and what exit code follows."""

import itertools
import json
import math

import numpy as np
import pytest

from workbench.verification.observed.energy_claims import resting_on
from workbench.verification.verdict import STRENGTHS, Assumption, Verdict, exit_code, weakest

YES = Assumption("met", True)
NO = Assumption("missed", False)
OPEN = Assumption("not known", None)


def said(holds, counted=True, **more):
    return Verdict(
        "k",
        "a claim",
        holds,
        None if holds is None else more.pop("strength", "sampled"),
        counted=counted,
        **more,
    )


@pytest.mark.parametrize("holds, word", [(True, "holds"), (False, "violated"), (None, "undecided")])
def test_words(holds, word):
    assert said(holds).word == word and said(holds).as_dict()["verdict"] == word


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("strength", [None, "", "certain", "proven"])
def test_a_decided_verdict_needs_a_strength_that_exists(holds, strength):
    with pytest.raises(ValueError, match="states its strength"):
        Verdict("k", "a claim", holds, strength)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_nothing_holds_on_an_assumption_that_does_not(strength):
    with pytest.raises(ValueError, match="although an assumption does not"):
        Verdict("k", "a claim", True, strength, assumptions=(YES, NO))
    assert Verdict("k", "a claim", False, strength, assumptions=(NO,)).word == "violated"
    assert Verdict("k", "a claim", None, assumptions=(NO, OPEN)).word == "undecided"
    assert Verdict("k", "a claim", True, strength, assumptions=(YES, OPEN)).word == "holds"


def test_a_margin_is_a_number_or_nothing():
    with pytest.raises(ValueError, match="not a number"):
        said(False, margin=math.nan)
    assert (
        said(True, margin=math.inf).margin == math.inf and said(False, margin=-2.0).margin == -2.0
    )


@pytest.mark.parametrize(
    "comparison, plain", [(np.float64(1) <= 2, True), (np.float64(3) <= 2, False)]
)
def test_an_answer_is_plain_whatever_comparison_it_came_from(comparison, plain):
    verdict = said(comparison)
    assert verdict.holds is plain and json.loads(json.dumps(verdict.as_dict()))["holds"] is plain


@pytest.mark.parametrize("answers", [*itertools.product((True, False, None), repeat=3)])
def test_exit_codes_of_counted_claims(answers):
    expected = 1 if False in answers else 2 if None in answers else 0
    verdicts = [said(a) for a in answers]
    assert exit_code(verdicts) == exit_code(reversed(verdicts)) == expected
    for extra in (True, False, None):
        assert exit_code([*verdicts, said(extra, counted=False)]) == expected


def test_nothing_counted_is_nothing_shown():
    assert exit_code([]) == 2 and exit_code([said(True, counted=False)]) == 2


@pytest.mark.parametrize("given", [*itertools.product(STRENGTHS, repeat=3)])
def test_a_conclusion_is_as_strong_as_its_weakest_ground(given):
    order = {"proof": 3, "numerical": 2, "sampled": 1, "estimated": 0}
    assert order[weakest(*given)] == min(order[g] for g in given)
    assert weakest(*given) == weakest(*reversed(given)) and weakest(given[0]) == given[0]


class Ended:
    """A run that ended, its pistons inside, its chambers full."""

    left = hollow = crossed = (math.inf, "")
    log = type("Log", (), {"status": type("Status", (), {"completed": True})})


class Out(Ended):
    left = (1.5, "piston 1 leaves its stroke at t = 1.500 s")


class Hollow(Ended):
    hollow = (0.7, "p_b1 falls below vacuum at t = 0.700 s")


class Broken(Ended):
    log = type("Log", (), {"status": type("Status", (), {"completed": False})})


BALANCED, LOST, IDLE = (
    Verdict("energy-balance", "balance", h, None if h is None else "numerical")
    for h in (True, False, None)
)


@pytest.mark.parametrize(
    "run, energy, holds, then",
    [
        (Ended, BALANCED, True, True),
        (Ended, BALANCED, False, False),
        (Ended, LOST, True, None),
        (Ended, LOST, False, None),
        (Ended, IDLE, True, True),
        (Out, BALANCED, True, None),
        (Out, BALANCED, False, False),
        (Out, LOST, False, None),
        (Hollow, BALANCED, True, None),
        (Hollow, BALANCED, False, False),
        (Broken, LOST, False, False),
        (Ended, LOST, None, None),
    ],
)
def test_a_sampled_verdict_rests_on_its_run(run, energy, holds, then):
    after = resting_on(said(holds), energy, run)
    assert after.holds is then
    if then is None and holds is not None:
        assert "was:" in after.worst and any(a.holds is False for a in after.assumptions)


@pytest.mark.parametrize("strength", ["numerical", "proof"])
def test_what_needs_no_run_does_not_rest_on_one(strength):
    for run, energy in itertools.product((Ended, Out), (BALANCED, LOST)):
        assert resting_on(said(True, strength=strength), energy, run).holds is True
