"""Steps of checks, by hand: what is smooth, how a bar goes on, places inside of conditions, what drifts, starts further off."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, InputError, Noisy, Quantised, Sampled, Signal
from workbench.run.log import Log
from workbench.run.status import Status
from workbench.verification import judge
from workbench.verification.linear.smooth import smooth
from workbench.verification.practical.called.notes import _inside_of
from workbench.verification.practical.later import run_on
from workbench.verification.practical.reach_seen import lost
from workbench.verification.regions import claims as regions
from workbench.verification.verdict import Verdict

PLANT = Linear(((-0.7, 3.0), (-2.0, -0.4)), ((0.0,), (4.0,)), ((1.0, 0.0),))
LAW = Feedback(PLANT, ((1.7,),))


@pytest.mark.parametrize(
    "wrapped, wanted",
    [
        (LAW, LAW),
        (Noisy(LAW, 0.1), LAW),
        (Sampled(Noisy(Quantised(LAW, 0.1), 0.1), 0.02), Sampled(LAW, 0.02)),
        (
            Delayed(Sampled(Quantised(Noisy(LAW, 0.2), 0.1), 0.02), 0.04),
            Delayed(Sampled(LAW, 0.02), 0.04),
        ),
    ],
)
def test_noise_and_rounding_are_taken_off_wherever_they_stand(wrapped, wanted):
    assert repr(smooth(ClosedLoop(PLANT, wrapped)).controller) == repr(wanted)


# ---- the bar of a check ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Asks:
    """A claim with seven steps of work, checked by the function below."""

    takes: tuple = ()
    work: int = 7
    check = "checked"
    needs_ledger = needs_motion = at_steps = False
    counted = True


def checked(claim, run, tick=None):
    """Two ticks, where it may tick."""
    for _ in range(2 if tick else 0):
        tick()
    return Verdict("asks", "a claim", True, "sampled", 1.0, instant=3.0)


@pytest.mark.parametrize("takes, steps", [((), [7]), (("tick",), [None, None, 0])])
def test_a_bar_goes_on_with_each_tick_or_by_all_work_at_once(monkeypatch, takes, steps):
    monkeypatch.setattr(judge, "function", lambda name: checked)
    monkeypatch.setattr(judge, "put_in_reach", lambda claim, verdict, run: verdict)
    told = []
    bar = SimpleNamespace(tick=lambda what, *given: told.append((what, *given)))
    found = judge._check(Asks(takes), SimpleNamespace(), {}, bar)
    assert found.holds is True and found.instant == 3.0
    assert told == [("Asks",) if step is None else ("Asks", step) for step in steps]


# ---- places in a text --------------------------------------------------------------------------------------------------------
WHOLE = ("code", (2, 4), (5, 9), 0)


@pytest.mark.parametrize(
    "begin, end, inside",
    [
        ((2, 4), (5, 9), True),
        ((3, 0), (4, 80), True),
        ((2, 3), (5, 9), False),
        ((2, 4), (5, 10), False),
        ((1, 9), (3, 0), False),
        ((6, 0), (6, 5), False),
        ((5, 0), (5, 9), True),
    ],
)
def test_a_place_is_inside_of_a_text_with_both_its_ends(begin, end, inside):
    assert _inside_of(("code", begin, end, 1), WHOLE) is inside
    assert not _inside_of(("other", begin, end, 1), WHOLE)


# ---- what a run on shows -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count, told", [(32, True), (31, False), (48, True)])
def test_a_signal_drifts_over_sixteen_windows_of_two_instants(monkeypatch, count, told):
    time = np.arange(count) * 0.5
    log = Log(time, 2.0 * time[:, None], (Signal("s", "m"),), {}, Status(True, "", 1.0))
    plant = SimpleNamespace(states=(Signal("s", "m"),), outputs=(), scales=lambda: {})
    law = SimpleNamespace(commands=())
    seen = SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant, controller=law))
    monkeypatch.setattr(run_on, "signal_floor", lambda plant, name: 0.0)
    words = run_on._drifting(seen)
    wanted = f"until t = {time[-1]:.3g} s s drifts by 120 m a minute"
    assert words == (wanted if told else "")


@pytest.mark.parametrize("rate, told", [(1e-4, False), (1e-2, True)])
def test_a_signal_far_from_zero_drifts_by_what_it_changes(monkeypatch, rate, told):
    """By 0.0016 or 0.16 of 100 in the second half; 0.01 is its floor."""
    time = np.arange(64) * 0.5
    log = Log(time, 100.0 + rate * time[:, None], (Signal("s", "m"),), {}, Status(True, "", 1.0))
    plant = SimpleNamespace(states=(Signal("s", "m"),), outputs=())
    law = SimpleNamespace(commands=())
    seen = SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant, controller=law))
    monkeypatch.setattr(run_on, "signal_floor", lambda plant, name: 0.01)
    assert bool(run_on._drifting(seen)) is told


def outcome(word="decaying", lenient=False, gone="", unrest="", seen=True):
    worst = SimpleNamespace(word=word, lenient=lenient, signal=SimpleNamespace(name="x"))
    return SimpleNamespace(gone=gone, unrest=unrest, worst=worst if seen else None)


@pytest.mark.parametrize(
    "found, words",
    [
        (outcome(), ""),
        (outcome("growing"), "x does not come back"),
        (outcome("staying"), "x does not come back"),
        (outcome("growing", lenient=True), ""),
        (outcome("growing", gone="it diverges"), "it diverges"),
        (outcome("growing", unrest="it swings"), "it swings"),
        (outcome(gone="it diverges", unrest="it swings"), "it diverges"),
        (outcome(seen=False), ""),
        (outcome(seen=False, unrest="it swings"), "it swings"),
    ],
)
def test_why_a_loop_does_not_come_back(found, words):
    assert lost(found) == words


# ---- where a run begins, beside a region -------------------------------------------------------------------------------------
@pytest.mark.parametrize("begins, holds", [(2.5, True), (3.5, None), (-2.5, None), (-0.5, True)])
def test_a_start_is_measured_from_where_the_loop_rests(monkeypatch, begins, holds):
    """At rest at x = 1, a region of 2 around it."""
    monkeypatch.setattr(regions, "start_state", lambda loop, scenario: np.array([begins, 99.0]))
    monkeypatch.setattr(
        regions, "limited", lambda loop, at, r: SimpleNamespace(start=np.array(at.x))
    )
    monkeypatch.setattr(regions, "reference", lambda run: ([0.0], True))
    monkeypatch.setattr(regions, "largest_change", lambda bears: 1e-6)
    monkeypatch.setattr(regions, "_of_direction", lambda *given: Verdict("k", "c", True, "proof"))
    states = (Signal("x", "m"),)
    plant = SimpleNamespace(states=states, inputs=())
    loop = SimpleNamespace(plant=plant, controller=SimpleNamespace(states=()))
    region = SimpleNamespace(
        bears=None,
        P=np.eye(1),
        u_max=np.ones(1),
        holds=lambda off: abs(off[0]) <= 2.0,
        reach=lambda off: 2.0 / abs(off[0]),
        document=lambda inside: {},
    )
    own = SimpleNamespace(states=("x",))
    run = SimpleNamespace(loop=loop, scenario=None)
    blank = Verdict("region", "text", None, None, worst="", source="a sector")
    found = regions._judged(None, run, own, region, np.ones(1), [], None, {"x": 1.0}, blank)
    assert found.holds is holds
    if holds is None:
        assert f"{abs(begins - 1) / 2:.4g} times too far" in found.worst
        assert found.data["centre"] == [1.0] and found.source == "a sector, checked by exact LDLᵀ"


@pytest.mark.parametrize("rows, holds", [(0, None), (1, None), (2, True), (3, True)])
def test_rows_of_a_ledger_need_two_instants(monkeypatch, rows, holds):
    monkeypatch.setattr(judge, "has_ledger", lambda loop: True)
    monkeypatch.setattr(judge, "function", lambda name: checked)
    monkeypatch.setattr(judge, "put_in_reach", lambda claim, verdict, run: verdict)
    asked = Asks()
    object.__setattr__(asked, "needs_ledger", True)
    status = SimpleNamespace(message="it ended at once")
    log = SimpleNamespace(time=np.zeros(rows), status=status)
    bar = SimpleNamespace(tick=lambda *given: None)
    found = judge._check(asked, SimpleNamespace(log=log, loop=None), {}, bar)
    assert found.holds is holds and (holds or found.worst == "it ended at once")
    monkeypatch.setattr(judge, "has_ledger", lambda loop: False)
    with pytest.raises(InputError, match="claim Asks: this controller states no accompanying"):
        judge._check(asked, SimpleNamespace(log=log, loop=None), {}, bar)
