"""What lets a run come to rest that does not: one unusual thing taken away at a time, by hand."""

from types import SimpleNamespace

import pytest

from workbench import Scenario
from workbench.verification.cause import calmed as module
from workbench.verification.cause.trial import Trial

OWN = Scenario(9.0)
KICKED = Scenario(9.0, seed=7)


def trial(words, oddness=0.6, kind="machine"):
    return Trial(kind, words, {"n": 1.0}, {}, oddness)


def asked(monkeypatch, tried, calms, unrest_at=(OWN,), hosted=False):
    """The cause, where these trials are tried, and the loops named in `calms` come to rest."""
    monkeypatch.setattr(module, "trials", lambda run: tried)
    monkeypatch.setattr(module, "kicked", lambda run, scenario: [KICKED])
    monkeypatch.setattr(Trial, "on", lambda self, loop: self.words)
    restless_seeds = [scenario.seed for scenario in unrest_at]
    seen = []

    def unrest(jobs):
        seen.extend(jobs)
        hunts = [loop not in calms and s.seed in restless_seeds for loop, s in jobs]
        return ["chatter" if one else "" for one in hunts]

    monkeypatch.setattr(module, "_unrest", unrest)
    run = SimpleNamespace(loop=SimpleNamespace(hosted=hosted), scenario=OWN)
    found = module.calmed(run)
    return found and found.words, seen


def test_what_calms_is_told_the_most_unusual_first(monkeypatch):
    tried = [trial("slow valve", 0.9), trial("dead band"), trial("noise", 0.5), trial("quiet", 0.5)]
    assert asked(monkeypatch, tried, ["dead band"])[0] == "dead band"
    assert asked(monkeypatch, tried, ["noise", "slow valve"])[0] == "slow valve; or noise"
    every = [one.words for one in tried]
    assert asked(monkeypatch, tried, every)[0] == "slow valve; or dead band; or noise"
    assert asked(monkeypatch, tried, [])[0] is None


@pytest.mark.parametrize("odd", [trial("usual", 0.39), trial("slower path", 0.8, "reference")])
def test_a_slower_path_and_usual_numbers_are_not_blamed(monkeypatch, odd):
    assert asked(monkeypatch, [odd], [odd.words])[0] is None


def test_a_loop_that_rests_as_it_is_has_nothing_to_be_calmed(monkeypatch):
    tried = [trial("dead band")]
    assert asked(monkeypatch, tried, ["dead band"], unrest_at=())[0] is None
    words, seen = asked(monkeypatch, tried, ["dead band"], unrest_at=(KICKED,))
    assert words == "dead band" and seen[-1][1].seed == 7
    assert asked(monkeypatch, tried, ["dead band"], hosted=True)[0] is None


def test_runs_are_twice_the_scenario_and_twenty_seconds_at_most(monkeypatch):
    _, seen = asked(monkeypatch, [], [])
    assert {scenario.duration for _, scenario in seen if scenario.seed == 0} == {18.0}
    monkeypatch.setattr(module, "LONGEST", 11.0)
    _, seen = asked(monkeypatch, [], [])
    assert {scenario.duration for _, scenario in seen if scenario.seed == 0} == {11.0}
