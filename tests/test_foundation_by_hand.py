"""What limits rest on: when the bound and the verdict are known, who waits for them, and what a scan does meanwhile."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from workbench.verification import claims as C
from workbench.verification import judge
from workbench.verification.practical.limits import claims as limits
from workbench.verification.practical.limits.claims import Clock
from workbench.verification.practical.limits.foundation import Foundation
from workbench.verification.practical.limits.scanned import Outcome, Scan
from workbench.verification.verdict import Verdict


def said(holds):
    return Verdict("practical-stability", "", holds, None if holds is None else "sampled")


def test_what_is_known_first_counts():
    found = Foundation()
    found.set_bound(2.0)
    found.set_bound(3.0)
    assert found.bound == 2.0 and not found.fails
    found.decide(said(True))
    found.decide(said(False))
    assert found.practical.holds is True and found.bound == 2.0 and not found.fails


def test_a_verdict_without_a_bound_says_that_there_is_none():
    found = Foundation()
    found.decide(None)
    assert found.bound is None and found.practical is None and not found.fails


@pytest.mark.parametrize("holds, fails", [(True, False), (False, True), (None, True)])
def test_it_fails_where_practical_stability_is_not_shown(holds, fails):
    assert Foundation.known(1.0, said(holds)).fails is fails


def test_a_reader_waits_for_the_bound():
    found = Foundation()
    read = []
    reader = threading.Thread(target=lambda: read.append(found.bound))
    reader.start()
    reader.join(0.05)
    assert reader.is_alive() and not read
    found.set_bound(4.0)
    reader.join(5.0)
    assert read == [4.0]


def scan(over, good=lambda v: True):
    """A scan over numbers, and the numbers that it tried."""
    tried = []

    def judge_(v):
        tried.append(v)
        return Outcome(good(v), 0.0, 0.0, "")

    return Scan(lambda v: v, judge_, over=over), tried


def test_a_scan_ends_where_nobody_wants_to_know_any_more(monkeypatch):
    monkeypatch.setattr(
        "workbench.verification.practical.limits.scanned.run_many",
        lambda jobs, judge_, tick: [judge_(j) for j in jobs],
    )
    asked = iter([False, False, True])
    made, tried = scan(lambda: next(asked))
    assert made.along([1.0, 2.0, 3.0, 4.0]).bad is None and tried == [1.0, 2.0]
    asked = iter([False, False, False, True])  # three values, then before the first round
    made, tried = scan(lambda: next(asked), good=lambda v: v < 3.0)
    found = made.along([1.0, 2.0, 3.0, 4.0])
    assert (found.good, found.bad) == (2.0, 3.0) and tried == [1.0, 2.0, 3.0]


def test_a_limit_is_undecided_where_the_loop_turns_out_not_to_be_stable(monkeypatch):
    """The scan is under way when practical stability is refused: what it found until then counts for nothing."""
    foundation = Foundation()
    foundation.set_bound(1.0)

    class Refusing(Scan):
        def along(self, values, known=None, rounds=None):
            assert not self.over()
            foundation.decide(said(False))
            assert self.over()
            return limits.Reach({1.0: Outcome(True, 0.0, 0.0, "")}, 1.0, None)

    monkeypatch.setattr(limits, "Scan", Refusing)
    monkeypatch.setattr(limits, "diverged", lambda *_: None)
    monkeypatch.setattr(limits, "windows", lambda *_: ())
    run = SimpleNamespace(loop=SimpleNamespace(period=1e-3))
    claim = SimpleNamespace(up_to=16e-3, bound=None, counted=False, error=0.05)
    clock = Clock("delay", 0.0, 1e-3, 3e-3, None)
    found = limits._limit(clock, claim, run, foundation, None)
    assert found.holds is None and "nothing to reach from" in found.worst
    assert (found.key, found.counted) == ("delay-limit", False)


def practical(monkeypatch, checked):
    """What the judge makes of two practical claims, with what `checked` says of each; the foundation after it."""
    foundation = Foundation()
    known = {"foundation": foundation, "bounded": foundation.set_bound}
    monkeypatch.setattr(judge, "_check", lambda claim, run, known, bar: checked(claim, known))
    first, last = C.PracticalStability(runs=2), C.PracticalStability(runs=4)
    asked = {0: first, 1: C.PowerFlows(), 2: last}
    return (lambda: judge._practical(asked, None, known, None)), foundation


def test_limits_rest_on_the_practical_claim_that_is_stated_last(monkeypatch):
    def checked(claim, known):
        known["bounded"](float(claim.runs))
        return said(claim.runs == 4)

    find, foundation = practical(monkeypatch, checked)
    found = find()
    assert {i: v.holds for i, v in found.items()} == {0: False, 2: True}
    assert foundation.bound == 4.0 and foundation.practical is found[2]


def test_nobody_waits_for_a_practical_claim_that_ended_in_an_error(monkeypatch):
    def checked(claim, known):
        raise ValueError("no other start fits")

    find, foundation = practical(monkeypatch, checked)
    with pytest.raises(ValueError):
        find()
    assert foundation.bound is None and foundation.practical is None


def test_without_a_practical_claim_limits_need_not_wait(monkeypatch):
    foundation = Foundation()
    known = {"foundation": foundation, "bounded": foundation.set_bound}
    assert judge._practical({0: C.PowerFlows()}, None, known, None) == {}
    assert foundation.bound is None and foundation.practical is None
