"""What a search for a counter-example found, told of scores by hand; ranges of what may vary; runs that are run on."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.practical.later import run_on
from workbench.verification.search import falsify as module
from workbench.verification.search.direction import Direction, nearest, within
from workbench.verification.search.falsify import (
    CORNERS,
    MATTERS,
    _lacking,
    _told,
    check_falsify,
    fewest,
)
from workbench.verification.search.score import REFUSED, Score
from workbench.verification.verdict import Verdict


class Kind:
    def __init__(self, named_only=False):
        self.named_only = named_only


KIND = Kind()
MASS = Direction("mass", 1.0, 3.0, 2.0, "kg", KIND)
SEED = Direction("seed", 0.0, 9.0, 4.0, "1", KIND, whole=True)
FOUND = Verdict(
    "tracking", "tracking: error < 5 mm", False, "sampled", -2.0, "m", 5.0, "7 mm at t = 2 s"
)


# ---- directions ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "place, mass, seed",
    [(-1.0, 1.0, 0), (-0.5, 1.5, 2), (0.0, 2.0, 4), (0.25, 2.25, 5), (1.0, 3.0, 9), (7.0, 3.0, 9)],
)
def test_values_at_places(place, mass, seed):
    """From low at −1 by the nominal at 0 to high at 1; whole ones rounded."""
    lopsided = replace(MASS, high=3.0)
    assert lopsided.at(place) == pytest.approx(mass) and SEED.at(place) == seed


@pytest.mark.parametrize(
    "ends, said",
    [
        (("1 kg", "3 kg"), ""),
        ((2.0, 3.0), ""),
        ((1.0, 2.0), ""),
        (("500 g", 3.0), ""),
        ("1 kg", "a range of two values"),
        ((1.0, 2.0, 3.0), "a range of two values"),
        ((3.0, 1.0), "no width"),
        ((2.0, 2.0), "no width"),
        ((2.1, 3.0), "outside"),
        ((1.0, 1.9), "outside"),
        ((0.4, 3.0), "beyond what is possible"),
        ((1.0, 8.1), "beyond what is possible"),
        ((0.5, 8.0), ""),
        (("1 m", "3 m"), "kg"),
    ],
)
def test_ranges_of_what_may_vary(ends, said):
    """The case's own is 2 kg; it can be half a kilogram to eight."""
    own = replace(MASS, low=0.0, high=0.0, least=0.5, most=8.0)
    if not said:
        found = within(own, "over.mass", ends)
        assert found.low < found.high and found.low <= 2.0 <= found.high and found.nominal == 2.0
        return
    with pytest.raises(InputError) as why:
        within(own, "over.mass", ends)
    assert said in f"{why.value.message} {why.value.mend}" and why.value.key == "over.mass"
    if ends == (2.0, 2.0):
        assert "write two values" in why.value.mend
    if ends == (3.0, 1.0):
        assert "smaller value first" in why.value.mend


def test_names_that_may_have_been_meant():
    known = ["payload.mass", "oil.beta", *"cdefgh"]
    assert nearest("payload.mas", known) == "did you mean payload.mass?"
    assert nearest("zzz", known) == "choose from payload.mass, oil.beta, c, d, e, f"
    alike = ("mass1", "mass2", "mass3", "mass4")
    assert nearest("mass", alike).count("mass") == 3  # no more than three


# ---- what was found ------------------------------------------------------------------------------------------------------
def a_search(*scores, directions=(MASS, SEED), share=0.5):
    places = [np.array([0.1 * k, -0.1 * k]) for k in range(len(scores))]
    made = replace(FOUND, holds=True)
    return SimpleNamespace(
        scores=list(scores),
        places=places,
        along=directions,
        run=SimpleNamespace(kept={}),
        violates=None,
        amounts=lambda place: {d: d.at(float(p)) for d, p in zip(directions, place)},
        made=lambda place: ("run", Score(share, verdict=made if share > 0 else FOUND)),
    )


def told(monkeypatch, search, counted=True):
    monkeypatch.setattr(module, "tried", lambda search: np.array(search.places))
    monkeypatch.setattr(module, "described", lambda search: ["directions"])
    monkeypatch.setattr(module, "pictures", lambda *given: "pictures")
    monkeypatch.setattr(module, "shrunk", lambda place, violates: np.array([0.5, 0.0]))
    said = lambda holds, worst, **more: Verdict(
        "falsify", "text", holds, None if holds is None else "sampled", worst=worst, **more
    )
    return _told(SimpleNamespace(counted=counted), search, said)


FAR = 2 * MATTERS


def scores(*values, moved=FAR, fill=8):
    return [Score(v, "tracking", moved=moved) for v in (*values, *[0.9] * (fill - len(values)))]


def test_too_few_runs_are_told_with_what_they_would_look_at():
    """All first corners, and both ends of every direction."""
    for along, what in (((MASS,), "at 1 direction:"), ((MASS, SEED), "at 2 directions:")):
        few = a_search(*scores(fill=fewest(len(along)) - 1), directions=along)
        assert what in _lacking(few) and str(fewest(len(along))) in _lacking(few)
        assert _lacking(a_search(*scores(fill=fewest(len(along))), directions=along)) == ""


def test_a_counter_example_is_told_with_the_run_that_found_it(monkeypatch):
    """Shrunk, with its own margin; the run was the third."""
    search = a_search(*scores(0.5, 0.4, -0.1, -0.3), share=-0.2)
    found = told(monkeypatch, search)
    assert (
        found.holds is False
        and found.counted
        and (found.margin, found.unit, found.limit) == (-2.0, "m", 5.0)
    )
    assert (
        found.worst
        == "tracking: error < 5 mm: 7 mm at t = 2 s, with mass = 2.5 kg, seed = 4; found in run 3"
    )
    assert (
        found.data["counterexample"] == {"mass": 2.5, "seed": 4.0}
        and search.run.kept["falsify"] == "pictures"
    )
    assert [row["score"] for row in found.data["runs"]][:4] == [0.5, 0.4, -0.1, -0.3]
    assert told(monkeypatch, search, counted=False).counted is False


def test_what_was_not_refuted_does_not_count_unless_nothing_was_looked_at(monkeypatch):
    found = told(monkeypatch, a_search(*scores(0.5, 0.25)))
    assert found.holds is None and found.counted is False
    assert found.worst.startswith(
        "not refuted in 8 runs; closest: tracking: error < 5 mm: 7 mm at t = 2 s, 50 % of its room is left"
    )
    few = told(monkeypatch, a_search(*scores(0.5, fill=CORNERS - 1)))
    assert few.counted is True and f"{CORNERS} are the fewest" in few.worst
    none = told(monkeypatch, a_search(*[Score(REFUSED, refused="too short")] * 9))
    assert (
        none.holds is None
        and none.counted
        and none.worst == "not refuted in 9 runs; no run could be made: too short"
    )
    assert none.data["runs"][0]["score"] is None


@pytest.mark.parametrize(
    "directions, least",
    [(1, CORNERS), (CORNERS // 2, CORNERS), (CORNERS // 2 + 1, CORNERS + 2), (20, 40)],
)
def test_the_fewest_runs_that_look_at_all_ranges(directions, least):
    assert fewest(directions) == least


def test_why_runs_say_nothing_about_the_ranges():
    assert _lacking(a_search(*scores(0.5))) == ""
    lost = [*scores(0.5, fill=CORNERS - 1), Score(REFUSED), Score(REFUSED)]
    assert _lacking(a_search(*lost)).startswith(
        f"{CORNERS - 1} of them could be made, and {CORNERS} are the fewest"
    )
    alone = a_search(*scores(0.5, fill=3), directions=(MASS,))
    assert (
        _lacking(alone)
        == f"{CORNERS} are the fewest that look at 1 direction: give it a larger budget"
    )
    assert "2 directions" in _lacking(a_search(*scores(0.5, fill=3)))
    still = scores(0.5, moved=MATTERS)
    assert "no signal moved" in _lacking(a_search(*still))
    assert _lacking(a_search(*still[1:], Score(0.9, moved=1.01 * MATTERS))) == ""
    named = replace(SEED, kind=Kind(True))
    assert _lacking(a_search(*still, directions=(MASS, named))) == ""


def checked(monkeypatch, *nominal, asked=("claim",)):
    monkeypatch.setattr(module, "along", lambda claim, loop, scenario: (MASS, SEED))
    monkeypatch.setattr(module, "requirements", lambda claims: list(asked))
    monkeypatch.setattr(module, "check_length", lambda loop, scenario: None)
    monkeypatch.setattr(module, "verdicts", lambda asked, run: list(nominal))
    monkeypatch.setattr(module, "Search", lambda *given: SimpleNamespace(values="values"))
    monkeypatch.setattr(module, "Slopes", lambda search: "slopes")
    ran = []
    monkeypatch.setattr(module, "minimise", lambda *given: ran.append(given))
    monkeypatch.setattr(module, "_told", lambda claim, search, said: said(None, "told"))
    claim = SimpleNamespace(counted=True, budget=20, seed=3)
    return check_falsify(claim, SimpleNamespace(loop=None, scenario=None), None), ran


def test_nothing_is_searched_beside_a_run_that_fails_itself(monkeypatch):
    good = replace(FOUND, holds=True)
    found, ran = checked(monkeypatch, good, FOUND)
    assert (
        found.holds is None
        and not found.counted
        and not ran
        and "does not meet tracking: error < 5 mm" in found.worst
    )
    found, ran = checked(monkeypatch, good, replace(FOUND, holds=None, strength=None))
    assert found.counted and not ran
    found, ran = checked(monkeypatch, asked=())
    assert found.counted and not ran and "asks no requirement" in found.worst
    found, ran = checked(monkeypatch, good)
    ((n, values, budget, seed, enough, slope),) = ran
    assert (n, values, budget, seed, slope) == (
        2,
        "values",
        20,
        3,
        "slopes",
    ) and found.worst == "told"
    assert enough(np.array([0.5, -1e-15])) and not enough(np.array([0.5, 0.0]))
    assert found.claim == "no requirement is violated for any mass in 1 kg … 3 kg, seed in 0 … 9"


# ---- runs that are run on -------------------------------------------------------------------------------------------------------
class Silent(SimpleNamespace):
    """A log without signals."""

    def __contains__(self, name):
        return False


def run_on_to(
    monkeypatch,
    late,
    before=(0.1, np.nan, 0.2),
    floor=1e-3,
    length=20.0,
    period=0.01,
    completed=True,
):
    """What is said of a run of 20 s whose error was 0.2 at most; later it is `late`, at 10, 100 and 150 s."""
    asked = []
    status = SimpleNamespace(completed=completed, message="gone")
    log = Silent(status=status, time=np.array([10.0, 100.0, 150.0]))
    loop = SimpleNamespace(
        period=period,
        plant=SimpleNamespace(outputs=(), states=()),
        controller=SimpleNamespace(commands=()),
    )
    seen = SimpleNamespace(log=log, tool_error=np.array(late, float), loop=loop)
    monkeypatch.setattr(run_on, "undisturbed", lambda run, wanted: asked.append(wanted) or seen)
    monkeypatch.setattr(run_on, "floor_of", lambda run: floor)
    run = SimpleNamespace(
        scenario=SimpleNamespace(length=lambda: length),
        loop=loop,
        error_unit="m",
        kept={},
        log=log,
        tool_error=None if before is None else np.array(before),
    )
    return run_on.of_run_on(run), asked


@pytest.mark.parametrize(
    "late, given, said",
    [
        ((9.0, 0.29, 0.29), {}, ""),
        ((9.0, 0.29, 0.31), {}, "at t = 150 s it is 0.31 m off, in the run 0.2 m at most"),
        ((0.0, 0.31, 0.5), {}, "at t = 100 s it is 0.31 m off, in the run 0.2 m at most"),
        ((0.0, 0.31, 0.5), {"floor": 0.4}, ""),
        ((0.0, 0.75, 0.75), {"floor": 0.5}, ""),
        ((0.0, 0.0, 0.0), {"completed": False}, "run on, it is gone"),
    ],
)
def test_a_loop_further_off_than_half_as_much_again(monkeypatch, late, given, said):
    found, asked = run_on_to(monkeypatch, late, **given)
    assert found == said and asked == [200.0]


@pytest.mark.parametrize(
    "length, period, wanted",
    [
        (20.0, 0.01, [200.0]),
        (5.0, 0.01, [120.0]),
        (20.0, 1e-3, []),
        (14.9, 1e-3, [30.0]),
        (20.0, None, []),
        (12.0, None, [30.0]),
    ],
)
def test_how_long_a_loop_is_run_on(monkeypatch, length, period, wanted):
    """Ten times the run, two minutes at least, 30,000 samples at most; not where that is not twice the run."""
    assert run_on_to(monkeypatch, (0.0, 0.0, 0.0), length=length, period=period)[
        1
    ] == pytest.approx(wanted)
    assert run_on_to(monkeypatch, (9.0, 9.0, 9.0), before=None) == ("", [200.0])
