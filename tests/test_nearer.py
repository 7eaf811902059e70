"""Starts from which a machine comes back on a way that no machine takes: what counts in their place, on hand-made outcomes."""

import math
from types import SimpleNamespace

import pytest

from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.nearer import from_nearer, nearer, nothing_shown, taken
from workbench.verification.practical.returning import Judged, Return
from workbench.verification.practical.starts import SHARES, Start

FINE = (math.inf, "")
RUN = SimpleNamespace(left=FINE, hollow=FINE, crossed=FINE)
HOLLOW = SimpleNamespace(left=FINE, hollow=(1.0, "p < 0"), crossed=FINE)
X = Judged("x", ("x",), "m", 0.02)


def outcome(unreal="", word="back", unrest="", gone=""):
    found = (Return(X, word, 1.0, 0.1, 2.0, 1.0, True),)
    return Outcome(0.0, 0.0, "", gone, unrest, found, unreal=unreal)


def asked(outcomes, real_from, run=RUN):
    """(what counts in the end, the shares that were run): from this share on nothing is unreal any more."""
    runs = []

    def again(which, share):
        runs.append((tuple(which), share))
        return [outcome("" if share <= real_from else "p < 0") for _ in which]

    return from_nearer(run, outcomes, again), runs


def test_what_stays_above_vacuum_counts_as_it_is():
    outcomes = [outcome(), outcome()]
    found, runs = asked(outcomes, 1.0)
    assert found == outcomes and not runs
    assert nearer(found) == () and nothing_shown(RUN, found) == ""


@pytest.mark.parametrize("given", [{"word": "growing"}, {"word": "staying"}, {"unrest": "cycle"}])
def test_what_does_not_come_back_counts_as_it_is(given):
    outcomes = [outcome("p < 0", **given)]
    found, runs = asked(outcomes, 0.0)
    assert found == outcomes and not runs and nothing_shown(RUN, found) == ""


def test_the_first_share_that_stays_above_vacuum_counts():
    found, runs = asked([outcome(), outcome("p < 0")], SHARES[1])
    assert runs == [((1,), SHARES[0]), ((1,), SHARES[1])]
    assert [one.share for one in found] == [1.0, SHARES[1]]
    assert nothing_shown(RUN, found) == ""
    (told,) = nearer(found)
    assert told.holds is None and "0.5 times" in told.text and told.worst == "from further p < 0"
    starts = [Start({"x": 1.0}), Start({"x": 1.0})]
    assert [start.amounts["x"] for start in taken(starts, found)] == [1.0, SHARES[1]]


def test_a_nearer_start_that_does_not_come_back_counts():
    found = from_nearer(RUN, [outcome("p < 0")], lambda which, share: [outcome(word="growing")])
    assert found[0].worst.word == "growing" and found[0].share == SHARES[0]


def test_nothing_is_shown_where_every_nearer_start_is_unreal_too():
    found, runs = asked([outcome(), outcome("p < 0")], 0.0)
    assert [share for _, share in runs] == list(SHARES)
    assert (
        nothing_shown(RUN, found)
        == "start 2 of 2: p < 0; so it does from nearer, down to 0.35 times as far off"
    )


def test_a_run_that_no_machine_makes_undisturbed_is_told_elsewhere():
    outcomes = [outcome("p < 0")]
    found, runs = asked(outcomes, 0.0, HOLLOW)
    assert found == outcomes and not runs and nothing_shown(HOLLOW, found) == ""
