"""How near runs are to a violation, and how that changes with a direction, by hand; probabilities in words."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.probability.words import bound, draw, percent, words
from workbench.verification.search import score as module
from workbench.verification.search import slopes
from workbench.verification.search.score import REFUSED, VIOLATED, Score, requirements, score
from workbench.verification.search.slopes import BESIDE, NEAR, Slopes
from workbench.verification.verdict import Verdict


def verdict(margin, holds=True, key="k"):
    return Verdict(key, "text", holds, None if holds is None else "sampled", margin)


def scored(monkeypatch, pairs):
    """The score of verdicts beside those of the nominal run."""
    found, nominal = zip(*pairs)
    monkeypatch.setattr(module, "verdicts", lambda asked, run: list(found))
    return score(None, list(nominal), None)


# ---- scores -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "own, nominal, value",
    [
        (verdict(0.5), verdict(2.0), 0.25),
        (verdict(0.5), verdict(-2.0), 0.25),
        (verdict(-0.5, False), verdict(2.0), -0.25),
        (verdict(0.0, False), verdict(2.0), VIOLATED),
        (verdict(1e-20, False), verdict(2.0), VIOLATED),
        (verdict(None), verdict(2.0), 1.0),
        (verdict(None, False), verdict(2.0), -1.0),
        (verdict(0.5), verdict(0.0), 1.0),
        (verdict(0.5), verdict(None), 1.0),
        (verdict(-math.inf, False), verdict(2.0), -1.0),
        (verdict(math.inf), verdict(2.0), 1.0),
    ],
)
def test_a_margin_as_a_share_of_the_nominal_one(monkeypatch, own, nominal, value):
    found = scored(monkeypatch, [(own, nominal)])
    assert found.value == value and found.violated is (value < 0)
    assert found.verdict is own and found.each == (("k", value),)


def test_the_least_of_what_was_decided(monkeypatch):
    near, far, open_ = (
        verdict(0.2, key="near"),
        verdict(0.9, key="far"),
        verdict(-9.0, None, "open"),
    )
    one = verdict(1.0)
    found = scored(monkeypatch, [(far, one), (open_, one), (near, one)])
    assert (found.value, found.requirement, found.each) == (
        0.2,
        "near",
        (("far", 0.9), ("near", 0.2)),
    )
    none = scored(monkeypatch, [(open_, one)])
    assert (
        none.value == REFUSED == math.inf
        and none.refused == "nothing was decided"
        and not none.violated
    )
    assert not Score(0.0).violated


def test_claims_that_a_search_asks():
    made = [SimpleNamespace(searched=s, counted=c) for s in (True, False) for c in (True, False)]
    assert requirements(made) == made[:1]


def test_requirements_are_asked_of_rows_or_of_the_steps(monkeypatch):
    monkeypatch.setattr(module, "_check", lambda claim: lambda claim, run: (claim.name, run))
    run = SimpleNamespace(fine="steps")
    claims = [SimpleNamespace(name="a", at_steps=True), SimpleNamespace(name="b", at_steps=False)]
    assert module.verdicts(claims, run) == [("a", "steps"), ("b", run)]


# ---- slopes ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Log:
    values: np.ndarray


@dataclass(frozen=True)
class Along:
    name: str
    whole: bool = False
    nominal: float = 5.0


DIRECTIONS = (Along("a"), Along("seed", whole=True), Along("b"))


class Varying:
    """Of a run whose two values are (3 a + 100, −2 a b): the derivative along a direction, from jobs beside."""

    asked: list = []

    def __init__(self, loop, scenario, log):
        self.prepared = False

    def prepare(self):
        self.prepared = True

    def along(self, less, more, step):
        assert self.prepared
        Varying.asked.append((less, more, step))
        if Varying.none:
            return None
        return (values(more) - values(less)) / step

    none = False


def values(job):
    a, _, b = job
    return np.array([3 * a + 100.0, -2 * a * b])


@pytest.fixture
def search(monkeypatch):
    """A search over a, a seed and b whose score is the sum of both values, and their product where they are asked."""
    Varying.asked.clear()
    monkeypatch.setattr(Varying, "none", False)
    monkeypatch.setattr(slopes, "Varying", Varying)
    monkeypatch.setattr(slopes, "has_variation", lambda loop, scenario, log: log is not None)
    monkeypatch.setattr(
        slopes,
        "simulated",
        lambda *job: SimpleNamespace(
            loop=job, scenario=None, fine=SimpleNamespace(log=Log(values(job)))
        ),
    )
    monkeypatch.setattr(slopes, "start_state", lambda loop, scenario: None)
    monkeypatch.setattr(slopes, "Demand", lambda loop, scenario, x0: None)
    monkeypatch.setattr(slopes, "of_log", lambda loop, scenario, log, demand: log)
    monkeypatch.setattr(
        slopes, "score", lambda asked, nominal, log: SimpleNamespace(value=float(log.values.sum()))
    )
    run = SimpleNamespace(loop="loop", scenario="scenario", log="log")
    made = SimpleNamespace(
        along=DIRECTIONS, run=run, asked=None, nominal=None, place=lambda point: point
    )
    monkeypatch.setattr(
        Slopes, "_job", lambda self, point: tuple(map(float, np.clip(point, -1, 1)))
    )
    monkeypatch.setattr(Slopes, "_score", scored_beside)
    return made


def scored_beside(self, run, point, i, ε, change):
    return float((run.fine.log.values + ε * change).sum())


@pytest.mark.parametrize("a, b", [(0.25, -0.5), (-0.75, 0.1)])
def test_slopes_along_every_direction_that_has_one(search, a, b):
    """∂(3 a + 100 − 2 a b): 3 − 2 b, nothing along the seed, −2 a."""
    found = Slopes(search)(np.array([a, 0.3, b]))
    assert found == pytest.approx([3 - 2 * b, 0.0, -2 * a], rel=1e-6)
    assert [round(step / BESIDE, 9) for _, _, step in Varying.asked] == [2.0, 2.0] and NEAR < BESIDE


def test_a_point_at_the_side_of_the_box_is_differentiated_inwards(search):
    found = Slopes(search)(np.array([1.0, 0.0, -1.0]))
    assert found == pytest.approx([5.0, 0.0, -2.0], rel=1e-6)
    assert [round(step / BESIDE, 9) for _, _, step in Varying.asked] == [1.0, 1.0]
    assert all(np.abs(job).max() <= 1 for less, more, _ in Varying.asked for job in (less, more))


def test_where_there_is_no_slope(search, monkeypatch):
    monkeypatch.setattr(Varying, "none", True)
    assert Slopes(search)(np.zeros(3)) is None
    monkeypatch.setattr(Varying, "none", False)
    monkeypatch.setattr(Slopes, "_score", lambda self, run, point, i, ε, change: math.inf * ε)
    assert Slopes(search)(np.zeros(3)) is None
    search.run.log = None
    assert Slopes(search)(np.zeros(3)) is None
    search.run.log, search.along = "log", (Along("seed", whole=True),)
    assert Slopes(search)(np.zeros(1)) is None

    def refuses(*job):
        raise InputError("out of reach")

    search.along = DIRECTIONS
    monkeypatch.setattr(slopes, "simulated", refuses)
    assert Slopes(search)(np.zeros(3)) is None


# ---- words --------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "p, own, least",
    [
        (0.0123456789, "1.23457 %", "1.23 %"),
        (1e-4, "0.01 %", "0.01 %"),
        (9.99e-5, "9.99e-05", "9.99e-05"),
        (0.0, "0 %", "0 %"),
        (1.0, "100 %", "100 %"),
    ],
)
def test_probabilities_as_people_read_them(p, own, least):
    assert percent(p) == own and bound(p) == least


def test_a_claim_on_a_probability_in_words():
    claim = SimpleNamespace(
        sentences=("always  (a < 1)",), at_most=0.1, confidence=0.95, over={"m": 1, "k": 2}
    )
    said = "violated in at most 10 % of runs, with 95 % confidence, over m, k: always (a < 1)"
    assert words(claim) == said
    claim.sentences = ("a", "b")
    assert (
        words(claim)
        == "violated in at most 10 % of runs each, with 95 % confidence, over m, k: a; b"
    )
    assert draw({"m": 1.23456789, "k": 2.0}) == "m = 1.23457, k = 2 (SI)"
