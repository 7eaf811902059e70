"""Practical stability, step by step: what is asked after what, who overrules whom, and what memory leads to, without a run."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.linear.modes import Mode, Modes, Place
from workbench.verification.observed.running_on import ASKED, LEAST, LOOKS, OFF, RUNS_ON
from workbench.verification.practical import claim as module
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.later import stray, traced_memory
from workbench.verification.practical.nominal import Nominal
from workbench.verification.practical.returning import Judged, Return
from workbench.verification.verdict import Verdict

HOLDS = Verdict(
    "key", "text", True, "sampled", worst="all came back", margin=0.5, data={"duration": 20.0}
)
CONTAINED, UNMOVED = SimpleNamespace(holds=None), SimpleNamespace(holds=True)


A_PLANT = SimpleNamespace(no_other_starts="", joint_names=())


def a_claim(**other):
    given = {"settle": 2.0, "counted": True, "runs": 2, "spread": 0.02, "duration": None}
    return SimpleNamespace(**given | {"within": None, "longest": 60.0, "bound": None} | other)


def a_run(length=10.0, **other):
    given = {
        "loop": SimpleNamespace(plant=A_PLANT, hosted=False),
        "scenario": SimpleNamespace(length=lambda: length),
        "left": (math.inf, ""),
        "log": SimpleNamespace(status=SimpleNamespace(completed=True)),
        "kept": {},
    }
    return SimpleNamespace(**given | other)


def back(after, name="q", word="back", moved=True, pressure=False):
    return Return(Judged(name, (name,), "m", 0.0, pressure), word, 1.0, 0.0, after, 0.7, moved)


def outcome(*found):
    return Outcome(0.0, 0.0, "", "", "", found)


# ---- what came back later than it may ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "after, length, settle, within, late",
    [
        (9.9, 10.0, 2.0, None, False),
        (10.1, 10.0, 2.0, None, True),
        (10.1, 10.0, 12.0, None, False),
        (12.1, 10.0, 12.0, None, True),
        (10.0, 10.0, 2.0, None, False),
        (5.1, 10.0, 2.0, 5.0, True),
        (4.9, 10.0, 2.0, 5.0, False),
        (19.0, 10.0, 2.0, 20.0, False),
    ],
)
def test_back_within_the_scenario_or_settling_or_what_was_stated(
    after, length, settle, within, late
):
    found = module._late(
        a_claim(settle=settle, within=within), a_run(length), [outcome(back(1.0), back(after))]
    )
    assert (found is not None) is late
    if late:
        allowed = within or max(length, settle)
        stated = "stated" if within else "that the scenario lasts; state `within`"
        assert found.startswith(
            f"q is back only after {after:g} s, at 0.7 1/s, beyond the {allowed:g} s {stated}"
        )


def test_the_last_of_all_starts_counts_of_what_moved_and_is_back():
    claim, run = a_claim(), a_run()
    others = (back(50.0, word="returning"), back(60.0, moved=False), back(70.0, pressure=True))
    assert module._late(claim, run, [outcome(*others), outcome(back(3.0))]) is None
    said = module._late(claim, run, [outcome(back(11.0, "a")), outcome(back(12.0, "b"), *others)])
    assert said.startswith("b is back only after 12 s")
    assert module._late(claim, run, [outcome()]) is None


# ---- what the linearised loop knows ------------------------------------------------------------------------------------
CALM = Modes((Place(0.0, "at the end", True, (Mode(-0.5, 1e-3, ("q",), "at the end", 0.0),)),))


def with_modes(monkeypatch, found, modes=CALM, allowed=0.5):
    asked = []

    def containment(run, modes, start, quiet, longest, lasted):
        asked.append((start, quiet, longest, lasted))
        return found

    monkeypatch.setattr(module, "containment", containment)
    monkeypatch.setattr(module, "floor_of", lambda run: 7.0)
    return module._with_modes(a_claim(), a_run(), HOLDS, modes, "start", allowed), asked


def test_modes_of_which_none_grows_are_told_with_what_holds(monkeypatch):
    verdict, asked = with_modes(monkeypatch, None)
    assert verdict.holds and verdict.worst == HOLDS.worst and verdict.data["modes"] == CALM.words
    assert asked == [("start", pytest.approx(0.05), 60.0, 20.0)]
    _, asked = with_modes(monkeypatch, None, allowed=None)
    assert asked[0][1] == 7.0


@pytest.mark.parametrize("holds", [True, False, None])
def test_a_mode_that_grows_is_contained_or_overrules(monkeypatch, holds):
    contained = SimpleNamespace(holds=holds, words="it swings", assumption=lambda: CONTAINED)
    verdict, _ = with_modes(monkeypatch, contained)
    assert verdict.holds is holds and verdict.data["modes"] == CALM.words
    assert verdict.assumptions == ((CONTAINED,) if holds else ())
    assert verdict.worst == ("all came back" if holds else "it swings; was: all came back")


def test_memory_that_was_linearised_nowhere_overrules(monkeypatch):
    unread = Modes(CALM.places, (), "the law cannot be copied")
    verdict, asked = with_modes(monkeypatch, None, unread)
    assert verdict.holds is None and not asked and verdict.data["modes"] == unread.words
    assert verdict.worst.startswith("the law cannot be copied: what grows slowly in it")


# ---- how far off starts are ----------------------------------------------------------------------------------------------
def test_starts_that_show_no_motion_are_refused_and_nearer_ones_told(monkeypatch):
    monkeypatch.setattr(module, "is_jointed", lambda plant: True)
    said = lambda holds, worst, **more: (holds, worst)
    known = SimpleNamespace(unsound="")
    asked = lambda spread: module._without_runs(a_claim(spread=spread), a_run(), known, said)
    assert asked(1e-9)[0] is None and asked(1e-9)[1].startswith("says nothing: starts that are off")
    assert asked(2e-4) is not None and asked(2.1e-4) is None
    (told,) = module._nearer(a_run(), 1e-3)
    assert told.holds is None and "0.001 rad or m" in told.text and "0.02" in told.worst
    assert module._nearer(a_run(), 0.02) == ()


# ---- the order of questions --------------------------------------------------------------------------------------------
def checked(monkeypatch, run=None, claim=None, **answers):
    """(verdict, names of what was asked) where each step answers as given."""
    told = []
    given = {
        "lasting": run or a_run(),
        "nominal_run": Nominal(1.0, 3.0, "cause", 10.0, False, ""),
        "diverged": None,
        "drawn": ["first", "second"],
        "slowest_and_unstable": CALM,
        "disturbed": ([outcome(back(1.0))], 20.0),
        "decided": HOLDS,
        "at_its_end": None,
        "_with_modes": HOLDS.overruled("mode", True),
        "_besides": (UNMOVED,),
        "_with_places": HOLDS.overruled("branch", None),
        "_runs_meanwhile": [],
    } | answers

    def step(name, answer):
        def asked(*given, **more):
            told.append((name, given))
            return answer

        return asked

    for name, answer in given.items():
        monkeypatch.setattr(module, name, step(name, answer))
    verdict = module.check_practical(claim or a_claim(), run or a_run(), 0.5)
    return verdict, [name for name, _ in told], dict(told)


def test_what_holds_on_the_runs_is_asked_where_it_ends_of_modes_and_of_branches(monkeypatch):
    verdict, asked, given = checked(monkeypatch)
    assert verdict.worst.startswith("branch") and asked[-4:] == [
        "at_its_end",
        "_with_modes",
        "_besides",
        "_with_places",
    ]
    assert given["_with_places"][2].assumptions == (UNMOVED,)
    assert given["_with_modes"][4] == "first" and given["disturbed"][2] == ["first", "second"]
    assert given["drawn"][1:] == (2, 0.02)


def test_what_does_not_hold_is_asked_nothing_more(monkeypatch):
    no = HOLDS.overruled("it fell", False)
    verdict, asked, _ = checked(monkeypatch, decided=no)
    assert verdict is no and asked[-1] == "decided"
    verdict, asked, _ = checked(monkeypatch, _with_modes=no)
    assert verdict.holds is False and verdict.assumptions == (UNMOVED,) and asked[-1] == "_besides"
    verdict, asked, _ = checked(monkeypatch, at_its_end=no)
    assert verdict.holds is False and "_with_modes" not in asked


@pytest.mark.parametrize("within, holds", [(None, None), (0.5, False)])
def test_what_is_late_is_undecided_or_beyond_what_was_stated(monkeypatch, within, holds):
    late = ([outcome(back(11.0))], 20.0)
    verdict, asked, _ = checked(monkeypatch, claim=a_claim(within=within), disturbed=late)
    assert verdict.holds is holds and "is back only after 11 s" in verdict.worst
    assert asked[-1] == "decided"


def test_runs_that_nobody_can_be_asked_of(monkeypatch):
    gone = HOLDS.overruled("diverged", False)
    assert checked(monkeypatch, diverged=gone)[0] is gone
    left = a_run(left=(2.0, "x leaves its stroke"))
    verdict, asked, _ = checked(monkeypatch, run=left)
    assert (
        verdict.holds is False and verdict.worst == "x leaves its stroke" and "drawn" not in asked
    )
    unsound = Nominal(1.0, 3.0, "cause", 10.0, False, "it swings")
    verdict, _, _ = checked(monkeypatch, nominal_run=unsound)
    assert verdict.holds is None and "(it swings)" in verdict.worst and verdict.strength is None
    assert verdict.data == {"nominal": 1.0}
    verdict, _, _ = checked(monkeypatch, claim=a_claim(runs=0))
    assert verdict.holds is None and "runs: 0" in verdict.worst
    assert checked(monkeypatch, claim=a_claim(runs=1))[0].worst.startswith("branch")
    fixed = SimpleNamespace(plant=SimpleNamespace(no_other_starts="a record"), hosted=False)
    verdict, asked, _ = checked(monkeypatch, run=a_run(loop=fixed))
    assert verdict.holds is None and "a record" in verdict.worst and "drawn" not in asked


# ---- branches ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "found, far, late, holds",
    [
        ("", "", "", True),
        ("no run took it", "", "", None),
        ("", "not from there", "", None),
        ("", "", "the supply falls", None),
    ],
)
def test_a_branch_that_no_run_took_overrules(monkeypatch, found, far, late, holds):
    """One start is tried with the sizes of this run; where the law fails there, the outcome says so and is never back."""
    tried = []

    def untaken(run, spread, law, outcomes, one):
        tried.extend([one("there"), one("beyond")])
        return found

    def disturbed(claim, run, starts, allowed, modes, tick, amounts):
        if starts == ["beyond"]:
            raise InputError("no answer there", mend="stay")
        return ([("out", starts, amounts)], 3.0)

    monkeypatch.setattr(module, "switches_of", lambda run: "law")
    monkeypatch.setattr(module, "sizes", lambda run, spread: {"q": spread})
    monkeypatch.setattr(module, "disturbed", disturbed)
    monkeypatch.setattr(module, "untaken", untaken)
    monkeypatch.setattr(module, "further_off", lambda run, spread, one: far)
    monkeypatch.setattr(module, "_quiet", lambda run, allowed: 0.3)
    monkeypatch.setattr(module, "starves_later", lambda run, modes: late)
    swings, grows = [], []
    monkeypatch.setattr(module, "swings_on", lambda *given: swings.append(given[1:]) or "")
    monkeypatch.setattr(module, "held_on_the_way", lambda *given: grows.append(given[1:3]) or "")
    verdict = module._with_places(a_claim(), a_run(), HOLDS, [], None, CALM)
    assert verdict.holds is holds and tried[0] == ("out", ["there"], {"q": 0.02})
    assert swings == ([(CALM, 0.02, 0.3)] if holds else [])
    assert grows == ([(0.02, 0.3)] if holds else [])
    assert tried[1].gone == "no answer there" and math.isinf(tried[1].v) and tried[1].followed
    monkeypatch.setattr(module, "switches_of", lambda run: None)
    alone = module._with_places(a_claim(), a_run(), HOLDS, [], None, CALM)
    assert alone.holds is (None if far or late else True)


@pytest.mark.parametrize(
    "ledger, claim, run, many",
    [
        (True, {}, {}, 1),
        (False, {}, {}, 0),
        (True, {"runs": 0}, {}, 0),
        (True, {"runs": 1}, {}, 1),
        (True, {"duration": 5.0}, {}, 0),
        (True, {}, {"left": (1.0, "left")}, 0),
        (True, {}, {"log": SimpleNamespace(status=SimpleNamespace(completed=False))}, 0),
        (True, {}, {"loop": SimpleNamespace(hosted=True)}, 0),
    ],
)
def test_the_undisturbed_run_is_made_meanwhile_where_it_will_be_asked_for(
    monkeypatch, ledger, claim, run, many
):
    over = []
    monkeypatch.setattr(module, "has_ledger", lambda loop: ledger)
    monkeypatch.setattr(module, "undisturbed", lambda run, duration: over.append(duration))
    works = module._runs_meanwhile(a_claim(**claim), a_run(**run))
    for work in works:
        work(None)
    assert len(works) == many and over == [20.0] * many


def test_a_bound_is_asked_of_a_law_that_states_a_function(monkeypatch):
    for ledger in (True, False):
        monkeypatch.setattr(module, "has_ledger", lambda loop, ledger=ledger: ledger)
        module.bound_asked(a_claim(), None)
        if ledger:
            module.bound_asked(a_claim(bound=0.0), None)
    with pytest.raises(InputError, match="bound"):
        module.bound_asked(a_claim(bound=0.0), None)


# ---- memory that is an expression --------------------------------------------------------------------------------------
def gains(limits=(-np.inf, np.inf), rates=None, off=0.1, reach=np.inf):
    """u = (2 + z) x + z for a plant state x = 3 that is a little off, z = 1 at the end (t = 10) running on by 0.5 1/s."""
    made = object.__new__(traced_memory._Gains)
    made.rates = {1: 0.5} if rates is None else rates
    made.end = 10.0
    made.x = np.array([3.0, 1.0])
    made.w = None
    made.moved = np.array([off, 0.0])
    made.constants = None
    made.reach = dict.fromkeys(made.rates, reach)
    made.command = lambda t, x, w, c: np.array([(2 + x[1]) * x[0] + x[1], -x[0]])
    made.limits = np.array([[limits[0], -np.inf], [limits[1], np.inf]])
    return made


@pytest.mark.parametrize("t", [10.0, 12.0, 30.0, 4.0])
def test_by_how_much_otherwise_a_law_commands_as_its_memory_runs_on(t):
    z = 1 + 0.5 * (t - 10)
    found, limited = gains().gains(t)
    assert found == pytest.approx([0.1 * (2 + z), -0.1]) and not limited.any()
    assert gains()(t) == pytest.approx([0.1 * (2 + z), -0.1])
    far = 1 + 0.5 * min(t - 10, 3.0)  # of a number that leaks: no further than its time constant
    assert gains(reach=3.0)(t) == pytest.approx([0.1 * (2 + far), -0.1])


def test_a_command_that_memory_brings_to_its_limit_goes_on_as_it_went():
    """(2 + z) 3.1 + z = 6.2 + 4.1 z reaches 18.5 at z = 3, t = 14; later g goes on by 0.05 1/s, another command as it is."""
    one = gains((-np.inf, 18.5))
    assert one.before_limits(30.0) == pytest.approx(14.0, abs=1e-6)
    assert one(13.9) == pytest.approx([0.1 * (3 + 0.5 * 3.9), -0.1])
    assert one(30.0) == pytest.approx([0.1 * (3 + 10.0), -0.1])
    turned = gains((18.5, np.inf), rates={1: -0.5})
    assert turned(30.0) == pytest.approx([0.3, -0.1]), "at its limit from the end on"


@pytest.mark.parametrize("limits", [(-np.inf, 9.8), (10.0, np.inf), (-np.inf, 10.0)])
def test_which_commands_are_at_their_limits(limits):
    """10.3 off the place and 10 at it: either of them, or both, at a limit or beyond."""
    found, limited = gains(limits, rates={}).gains(10.0)
    assert limited.tolist() == [True, False]
    assert not gains((9.9, 10.4), rates={}).gains(10.0)[1].any()
    at_it = gains((-np.inf, 10.0), rates={}, off=-0.1).gains(10.0)
    assert at_it[1].tolist() == [True, False]


def logged(**signals):
    n = len(next(iter(signals.values())))
    signals = {name: np.asarray(v, float) for name, v in signals.items()}

    class Log(dict):
        time = np.linspace(0.0, 6.0, n)
        array = dict.get

    return Log(signals)


def test_numbers_that_run_on_are_found_among_what_the_law_remembers(monkeypatch):
    """z_1 rises by 2 1/s, z_2 swings; w rises as well and is none of the law's."""
    t = np.linspace(0.0, 6.0, 1001)
    log = logged(x=0 * t, w=t, z_1=2 * t, z_2=np.sin(9 * t))
    loop = SimpleNamespace(states=[SimpleNamespace(name=n) for n in ("x", "w", "z_2", "z_1")])
    inner = SimpleNamespace(states=[SimpleNamespace(name=n) for n in ("z_1", "z_2", "z_3")])
    loop.controller = inner
    monkeypatch.setattr(traced_memory, "innermost", lambda law: law)
    found = traced_memory._rates(SimpleNamespace(loop=loop, log=log))
    assert found == {3: pytest.approx(2.0)} and LOOKS > 2 and OFF > 0


def test_gains_are_followed_beyond_the_longest_run(monkeypatch):
    asked = []

    def stray(answer, *given):
        asked.append((answer, *given))
        return "it strays"

    long = SimpleNamespace(log=SimpleNamespace(time=np.array([0.0, 4.0, 8.0])))
    monkeypatch.setattr(traced_memory, "longest", lambda run: long)
    monkeypatch.setattr(traced_memory, "stray", stray)
    monkeypatch.setattr(traced_memory, "_Gains", lambda run, rates: (run, rates))
    monkeypatch.setattr(traced_memory, "_rates", lambda run: {2: 1.0})
    assert traced_memory.of_memory(None) == "it strays"
    assert asked == [((long, {2: 1.0}), 8.0, (RUNS_ON,), ASKED, ASKED, LEAST)]
    monkeypatch.setattr(traced_memory, "_rates", lambda run: {})
    assert traced_memory.of_memory(None) == "" and len(asked) == 1


# ---- what does something that it did at no time of the run -----------------------------------------------------------------------
def strays(inside, later, what=("it",), **given):
    """What is said of values that are `inside(t)` in a run of 10 s and `later(t)` after it."""
    answer = lambda t: np.array(inside(t) if t <= 10.0 else later(t), float)
    return stray.stray(answer, 10.0, what, **given)


@pytest.mark.parametrize(
    "later, told",
    [
        (3.0 * (1 + 0.9 * stray.SAME), False),
        (3.0 * (1 + 1.1 * stray.SAME), True),
        (3.0 * (1 - 1.1 * stray.SAME), True),
        (math.nan, True),
        (math.inf, True),
    ],
)
def test_a_value_that_stood_may_change_by_rounding(later, told):
    assert bool(strays(lambda t: [3.0], lambda t: [later])) is told


@pytest.mark.parametrize("beyond, told", [(0.9, False), (1.1, True)])
def test_a_value_that_swung_may_leave_its_range_by_a_share_of_it(beyond, told):
    """From 2 at the start to 4 at the end."""
    swing = lambda t: [2.0 + t / 5]
    for edge, sign in ((4.0, 1), (2.0, -1)):
        found = strays(swing, lambda t, e=edge + sign * beyond * stray.SLACK * 2: [e])
        assert bool(found) is told
    assert (
        bool(strays(swing, lambda t: [4.0 + beyond * (stray.SLACK * 2 + 0.5 * 4)], least=0.5))
        is told
    )


def test_whose_value_strays_and_when():
    """What was no number in the run says nothing; names come again and again."""
    inside = lambda t: [math.nan, 1.0, 1.0, 1.0]
    said = strays(inside, lambda t: [5.0, 1.0, 1.0, 7.0 if t > 1e4 else 1.0], ("a", "b"))
    assert "b does what it did at no time of the run" in said and said.startswith("at t = ")
    assert strays(inside, lambda t: [5.0, 1.0, 1.0, 1.0], ("a", "b")) == ""
    late = []
    strays(lambda t: [1.0], lambda t: late.append(t) or [1.0])
    assert (
        late == sorted(late) and 10.0 < late[0] and late[-1] <= max(stray.DAY, stray.LENGTHS * 10.0)
    )
    assert len(late) == stray.LATER


@pytest.mark.parametrize(
    "values, line",
    [
        (lambda t: 3.0 + 2.0 * t, (3.0, 2.0)),
        (lambda t: -0.5 * t, (0.0, -0.5)),
        (lambda t: 3.0 + 0 * t, None),
        (lambda t: t * t, None),
        (lambda t: np.abs(t - 7.0), None),
    ],
)
def test_a_clock_is_a_straight_line(values, line):
    time = np.linspace(2.0, 12.0, 51)
    found = stray.straight(time, values(time))
    assert found is None if line is None else found == pytest.approx(line, abs=1e-12)


@pytest.mark.parametrize("allowed, quiet", [(None, 1e-3), (5e-3, 5e-4), (80e-3, 1e-3)])
def test_what_may_still_move_is_a_tenth_of_what_is_allowed_and_no_more_than_ends_a_scan(
    monkeypatch, allowed, quiet
):
    """A bound of 80 mm on tracking does not call a swing of 8 mm rest."""
    monkeypatch.setattr(module, "floor_of", lambda run: 1e-3)
    assert module._quiet(None, allowed) == pytest.approx(quiet)
