"""Places of verdicts, by hand: margins beside a run's own error, answers kept by what they depend on, which loops have a tool."""

from types import SimpleNamespace

import pytest

from workbench import Scenario, Signal
from workbench.verification import accuracy, answers, defaults, verdict
from workbench.verification.answers import Answers
from workbench.verification.verdict import Verdict


@pytest.mark.parametrize(
    "margin, holds, words",
    [
        (0.0, None, "0 m left is less than the run's own error there, 0.25 m"),
        (0.125, None, "0.125 m left is less than"),
        (-0.125, None, "0.125 m over is less than"),
        (0.25, True, ""),
        (-0.25, False, ""),
    ],
)
def test_a_margin_is_left_or_over_and_decides_from_the_error_on(monkeypatch, margin, holds, words):
    monkeypatch.setattr(accuracy, "error_beside", lambda verdict, run, known: 0.25)
    monkeypatch.setattr(accuracy, "say", lambda value, unit, digits: f"{value:g} {unit}")
    given = Verdict("k", "a claim", margin >= 0, "sampled", margin, "m", data={"kept": 1})
    found = accuracy.beyond_error(given, None, {})
    assert found.holds is holds and found.margin == margin and found.strength == "sampled"
    assert found.data == {"kept": 1, "own_error": 0.25}
    assert words in found.worst and (words == "") is (found.worst == "")


def test_the_own_error_of_what_is_open_anyway_is_told(monkeypatch):
    monkeypatch.setattr(accuracy, "error_beside", lambda verdict, run, known: 0.25)
    given = Verdict("k", "a claim", None, "sampled", 0.125, "m", worst="open")
    found = accuracy.beyond_error(given, None, {})
    assert found.worst == "open" and found.data == {"own_error": 0.25}


def test_answers_are_found_in_whatever_order_numbers_are_stated(monkeypatch):
    """One scenario, its disturbances told in another order; another question is another answer."""
    monkeypatch.setattr(answers, "digest", lambda loop: loop)
    one = Scenario(1.0, disturbances={"f": 2.0, "g": 3.0})
    other = Scenario(1.0, disturbances={"g": 3.0, "f": 2.0})
    own = Answers(None, "how far")
    assert own._key(("loop", one)) == own._key(("loop", other))
    further = Scenario(1.0, disturbances={"g": 2.0, "f": 3.0})
    keys = {
        own._key(("loop", one)),
        own._key(("loop", further)),
        own._key(("another", one)),
        Answers(None, "how fast")._key(("loop", one)),
    }
    assert len(keys) == 4


def test_what_is_kept_is_not_made_again_and_one_answer_serves_two():
    kept = {"a": [1.0]}
    store = SimpleNamespace(get=kept.get, add=kept.__setitem__)
    own = Answers(store, "?")
    object.__setattr__(own, "_key", lambda job: job)
    asked = []

    def make(jobs):
        asked.append(list(jobs))
        return [[float(len(job))] for job in jobs]

    assert own.of(["bb", "a", "ccc", "bb"], make) == [[2.0], [1.0], [3.0], [2.0]]
    assert asked == [["bb", "ccc"]] and kept == {"a": [1.0], "bb": [2.0], "ccc": [3.0]}
    assert own.of(["a", "bb"], make) == [[1.0], [2.0]] and len(asked) == 1


@pytest.mark.parametrize(
    "structures, ledger, tool, jointed",
    [
        (("boom",), False, False, True),
        (("boom",), True, True, True),
        ((), True, True, True),
        ((), True, False, False),
        ((), False, True, False),
    ],
)
def test_tolerances_are_lengths_of_a_tool_that_the_law_knows(
    monkeypatch, structures, ledger, tool, jointed
):
    monkeypatch.setattr(defaults, "has_ledger", lambda loop: ledger)
    plant = SimpleNamespace(structures=structures, has_tool=tool)
    assert defaults._Loop(SimpleNamespace(plant=plant), None).jointed is jointed


def test_claims_about_stability_that_are_violated_and_count_for_nothing_are_told_once():
    """Two rows of one claim are one name; what counts, holds, is open or says nothing of stability is none."""
    key, other = sorted(verdict.STABILITY)[:2]
    rows = (
        Verdict(key, "a", False, "sampled", counted=False),
        Verdict(key, "b", False, "sampled", counted=False),
        Verdict("tracking", "c", False, "sampled", counted=False),
        Verdict(other, "d", True, "sampled", counted=False),
        Verdict(other, "e", None, counted=False),
        Verdict(other, "f", False, "sampled", counted=True),
    )
    assert verdict.lost_for_information(rows) == key
    assert verdict.lost_for_information(rows[3:]) == ""
    last = Verdict(other, "g", False, "sampled", counted=False)
    assert verdict.lost_for_information((last, *rows)) == f"{other}, {key}"


@pytest.mark.parametrize(
    "unit, error",
    [("m", 5e-3), ("rad", 2e-3), ("Pa", None), ("1", None), ("V", None)],
)
def test_a_margin_is_compared_with_the_largest_error_of_its_unit(unit, error):
    """Of states and outputs; a command's error counts for nothing, and shares have none."""
    signals = lambda **units: tuple(Signal(n, u) for n, u in units.items())
    plant = SimpleNamespace(
        states=signals(a="m", b="m", c="rad", d="1"), outputs=signals(y="m", z="Pa")
    )
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant))
    known = {"a": 1e-3, "b": 5e-3, "c": 2e-3, "d": 7.0, "y": 3e-3, "u": 9.0}
    one = Verdict("pressures", "a claim", True, "sampled", 1.0, unit)
    assert accuracy.error_beside(one, run, known) == error
    assert accuracy.error_beside(one, run, {}) is None
    proof = Verdict("pressures", "a claim", True, "proof", 1.0, unit)
    assert accuracy.error_beside(proof, run, known) is None
