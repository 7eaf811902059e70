"""How a tube is asked of a run and of parts of its numbers, and what is made of what comes back, on stubs that are written down."""

from functools import partial
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from linear_tube import tube

from workbench.contract.errors import InputError
from workbench.verification.tube import judged as judged_of
from workbench.verification.tube import parts
from workbench.verification.tube import posed as posed_of
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.judged import Found
from workbench.verification.tube.opened import Free, Noise, Varied
from workbench.verification.tube.programs import program
from workbench.verification.verdict import Assumption, Verdict

MASS = Varied("load.m", "kg", 7.0, 6.5, 9.0)
DAMPING = Varied("b", "N s/m", 20.0, 18.0, 21.0)
SAID = partial(Verdict, "tube", "text")
NOTE = (Assumption("noted", None),)


def part(holds=True, margin=0.5, worst="", c=None):
    strength = "proof" if holds else ""
    verdict = Verdict(
        "tube", "", holds, strength, margin=margin, unit="1/s", worst=worst, assumptions=NOTE
    )
    return Found(verdict, "question", c, "seen")


# ---- parts ---------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def asked(monkeypatch):
    """Parts of two numbers, of which these come back in this order."""
    monkeypatch.setattr(parts, "varied", lambda claim, loop: (MASS, DAMPING))
    monkeypatch.setattr(parts, "worded", lambda claim, loop: SAID)
    monkeypatch.setattr(parts, "widths", lambda claim, loop: "half")
    monkeypatch.setattr(parts, "free", lambda claim, loop: "free")
    monkeypatch.setattr(parts, "posed", lambda run, *given: given)
    monkeypatch.setattr(parts, "replace", lambda claim, **new: SimpleNamespace(**vars(claim) | new))
    monkeypatch.setattr(parts, "joined", lambda said, question, found: (question, found))
    log = []
    claim = SimpleNamespace(parts={"load.m": 2, "b": 3}, substeps=4)

    def ask(found):
        monkeypatch.setattr(
            parts, "searches", lambda run, each: log.append(each) or (one for one in found)
        )
        bar = SimpleNamespace(done=log.append)
        return parts.in_parts(claim, SimpleNamespace(loop=None), bar), log

    return ask


def test_parts_come_back_in_any_order_and_are_joined_in_theirs(asked):
    each = [part(margin=k) for k in range(6)]
    (question, found), log = asked([(k, each[k]) for k in (3, 0, 5, 1, 4, 2)])
    assert question == ("half", 4, "free") and found == each
    shares, (first, *_) = log[1:], log[0]
    assert shares == pytest.approx([k / 6 for k in range(1, 7)])
    assert first.parts == {} and first.parameters == {"load.m": (6.5, 7.75), "b": (18.0, 19.0)}


def test_the_first_part_without_a_tube_is_named_and_ends_it(asked):
    whole, log = asked([(0, part()), (4, part(None, None, "too wide")), (1, None)])
    assert whole.verdict.holds is None and whole.tube is None and whole.certificates == ()
    assert (
        whole.verdict.worst
        == "with load.m between 7.75 kg and 9 kg, b between 19 N s/m and 20 N s/m: too wide"
    )
    assert whole.verdict.assumptions == NOTE and log[1:] == pytest.approx([1 / 6])


def test_a_run_that_no_tube_can_be_asked_of_has_no_parts(asked, monkeypatch):
    def refused(*given):
        raise InputError("the loop is not sampled")

    monkeypatch.setattr(parts, "posed", refused)
    whole, log = asked([])
    assert whole.verdict.worst == "the loop is not sampled" and not log


@pytest.mark.parametrize("margins, least", [((0.5, 0.25, 0.75), 0.25), ((0.5, None, 0.75), None)])
def test_parts_hold_with_the_least_rate_of_them(monkeypatch, margins, least):
    """The figure's tube is the one that holds all of theirs; of what samples add the largest share is told."""
    c = tube(reach=np.full((3, 9, 5), 2.0))
    found = [part(margin=m, c=SimpleNamespace(k=k)) for k, m in enumerate(margins)]
    shares = [np.full((4, 4), 0.1 * k) for k in (3, 1, 2)]
    for k, share in enumerate(shares):
        share[k] = 0.9
    monkeypatch.setattr(parts, "taken", lambda tube, seen: shares[tube.k])
    monkeypatch.setattr(
        parts, "holding", lambda own, tubes: c if own == "own" and len(tubes) == 3 else None
    )
    monkeypatch.setattr(parts, "in_words", lambda question, c, reach: f"words of {reach.shape}")
    monkeypatch.setattr(parts, "told", lambda question, c, reach: {"reach": reach.shape})
    monkeypatch.setattr(parts, "notes", lambda question: NOTE)
    whole = parts.joined(SAID, SimpleNamespace(tube="own"), found)
    verdict = whole.verdict
    assert verdict.holds is True and verdict.strength == "proof" and verdict.margin == least
    assert verdict.worst == "words of (3, 4); 3 parts, each with a tube of its own"
    assert verdict.unit == "1/s" and verdict.data == {"reach": (3, 4), "parts": 3}
    assert whole.share.shape == (3, 4) and whole.share[:, 0] == pytest.approx([0.9] * 3)
    assert whole.tube is c and [t.k for t in whole.certificates] == [0, 1, 2]


@pytest.mark.parametrize("jobs, started", [(1, []), (2, [2]), (9, [3])])
def test_parts_are_searched_for_on_processes_where_there_are_cores(monkeypatch, jobs, started):
    """No more than there are parts; what they do not give back is searched for here."""
    used = []

    def on_processes(work, items, many, task, lost):
        used.append(many)
        yield 1, "from a process"
        raise InputError("no process")

    monkeypatch.setattr(parts, "cores", lambda: jobs)
    monkeypatch.setattr(parts, "on_processes", on_processes)
    monkeypatch.setattr(parts, "of_part", lambda work, claim: (work, claim))
    run = SimpleNamespace(loop="loop", scenario="scene")
    found = list(parts.searches(run, ["a", "b", "c"]))
    here = [(k, (("loop", "scene"), name)) for k, name in enumerate("abc")]
    assert used == started
    assert found == ([(1, "from a process"), here[0], here[2]] if started else here)
    many = list(parts.searches(run, list("abcdefgh")))
    assert len(many) == 8 and used[len(started) :] == (
        [] if jobs == 1 else [min(jobs, parts.SIDE_BY_SIDE)]
    )


# ---- one tube --------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def one(monkeypatch):
    """What is made of a search that comes back so, and of what the checker says."""
    question = SimpleNamespace(tube=SimpleNamespace(T=0.5), begins=2.0)
    monkeypatch.setattr(judged_of, "widths", lambda claim, loop: "half")
    monkeypatch.setattr(judged_of, "free", lambda claim, loop: "free")
    monkeypatch.setattr(judged_of, "worded", lambda claim, loop: SAID)
    monkeypatch.setattr(
        judged_of, "posed", lambda *given: setattr(question, "given", given) or question
    )
    monkeypatch.setattr(judged_of, "notes", lambda question: NOTE)
    monkeypatch.setattr(judged_of, "reason", lambda question, found: "why")
    monkeypatch.setattr(judged_of, "smaller", lambda found, share: "; smaller")
    monkeypatch.setattr(judged_of, "stated", lambda tube, seen: f"stated {tube}")
    monkeypatch.setattr(
        judged_of, "beyond_limits", lambda run, question, c, seen: [f"{c} {seen} left"]
    )

    def made(failed=None, judge=lambda c: "seen"):
        found = SimpleNamespace(failed=failed, tube="tube", seen=None)
        monkeypatch.setattr(judged_of, "searched", lambda question, share: found)
        monkeypatch.setattr(judged_of, "judge", judge)
        monkeypatch.setattr(judged_of, "decided", lambda claim, loop, *given: given)
        claim = SimpleNamespace(substeps=3, after=1.5)
        return judged_of.judged(claim, SimpleNamespace(loop=None), None, "start"), question

    return made


def test_what_the_checker_accepts_is_decided_on(one):
    found, question = one()
    assert question.given[1:] == ("half", 3, "free", "start", 1.5)
    assert (found.question, found.tube, found.seen) == (question, "stated tube", "seen")
    assert found.verdict == (question, "stated tube", "seen", SAID, ["stated tube seen left"])


def test_a_search_that_fails_is_told_with_its_instant(one):
    found, _ = one(failed=3)
    assert found.verdict.holds is None and found.verdict.worst == "why; smaller"
    assert found.verdict.instant == 3.5 and found.verdict.assumptions == NOTE
    assert found.tube is None and one(failed=0)[0].verdict.instant == 2.0


def test_what_the_checker_refuses_holds_nothing(one):
    def refused(c):
        raise Refused("sample 7")

    found, _ = one(judge=refused)
    assert found.verdict.holds is None and found.tube is None
    assert found.verdict.worst == "the checker refuses it: sample 7"


# ---- the question ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("after, k", [(0.0, 0), (0.14, 1), (0.16, 2), (0.74, 7)])
def test_a_tube_begins_at_the_nearest_sample(after, k):
    run = SimpleNamespace(
        loop=SimpleNamespace(period=0.1), log=SimpleNamespace(time=0.1 * np.arange(10))
    )
    assert posed_of.first_sample(run, after) == k
    assert posed_of.first_sample(run, 0.84) == 8
    with pytest.raises(InputError, match="before the end of the run at 0.9 s"):
        posed_of.first_sample(run, 0.86)


@pytest.mark.parametrize(
    "name, timed", [("jump", True), ("release", True), ("flow", True), ("start", False)]
)
def test_a_loop_that_reads_the_time_begins_with_the_run(name, timed):
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 2)
    plain = program(ca.Function("f", [t, x], [ca.vertcat(x[1], x[0])]))
    late = program(ca.Function("f", [t, x], [ca.vertcat(x[1], x[0] + t)]))
    programs = dict.fromkeys(("jump", "release", "flow", "start"), plain)
    posed_of.check_untimed(programs)
    if timed:
        with pytest.raises(InputError, match="reads the time itself"):
            posed_of.check_untimed(programs | {name: late})
    else:
        posed_of.check_untimed(programs | {name: late})


def test_which_states_a_sample_reads():
    t, x, w = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX.sym("w")
    jump = program(ca.Function("f", [t, x, w], [ca.vertcat(x[0] * 2, t, x[2] - w)]))
    assert posed_of.read_by(jump, 3).tolist() == [0, 2]


def test_the_course_of_a_run_with_what_else_is_free():
    """Inputs and states before every sample; behind them the values of what is free, and noise of nothing at the start."""
    given = {}

    def start(t, x, w, c):
        given.update(t=t, x=x, w=list(w), c=c)
        return [[7.0], [8.0]]

    x = ca.SX.sym("x", 2)
    traced = SimpleNamespace(
        n_states=2, start=start, constants=lambda loop: "c", flow=ca.Function("f", [x], [-x])
    )
    times = np.array([0.0, 0.1, 0.2])
    values = np.array([[1.0, 2.0, 99.0], [3.0, 4.0, 99.0], [5.0, 6.0, 99.0]])
    demand = SimpleNamespace(at=lambda t: 10 * t, start=[0.5, 0.25])
    run = SimpleNamespace(log=SimpleNamespace(time=times, values=values), demand=demand)
    free = Free((MASS,), (Noise("y", "m", 0.1),))
    w, states, x0 = posed_of._course(run, traced, None, free, None)
    assert w.tolist() == [[0.0], [1.0], [2.0]] and given["w"] == [0.0, 0.0] and given["t"] == 0.0
    assert states.tolist() == [[7, 8, 7, 0], [3, 4, 7, 0], [5, 6, 7, 0]]
    assert x0.tolist() == [0.5, 0.25, 7.0, 0.0]
    _, _, x0 = posed_of._course(run, traced, None, free, np.array([0.75, 0.5]))
    assert x0.tolist() == [0.75, 0.5, 7.0, 0.0] and given["x"].tolist() == [0.75, 0.5]


def test_a_question_has_no_widths_and_no_bounds():
    found = posed_of._without_widths(3, 5, 2)
    shapes = {name: np.shape(value) for name, value in found.items()}
    assert shapes == {
        "finer": (3,), "R": (2, 2), "σ": (), "reach": (3, 1, 5), "segments": (3, 2, 0), "balls": (3, 2, 2),
        "splits": (0, 3), "paths": (0, 0, 0, 0), "low": (5,), "high": (5,),
    }  # fmt: skip
    assert found["σ"] == 1.0 and (found["finer"] == 1).all() and (found["R"] == np.eye(2)).all()
    assert (found["low"] == -np.inf).all() and (found["high"] == np.inf).all()
    told = posed_of._unbounded(("e", "v"))
    assert told["told"].tolist() == ["e", "v"]
    assert (told["least"].tolist(), told["most"].tolist()) == ([-np.inf] * 2, [np.inf] * 2)


def test_of_a_tube_that_begins_later_the_start_is_the_state_as_it_is():
    t, x, w = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("w", 3)
    f = ca.Function("start", [t, x, w], [ca.vertcat(2 * x[0], t)])
    same = posed_of.unchanged(f)
    assert np.ravel(same(5.0, [3.0, 4.0], [0, 0, 0])).tolist() == [3.0, 4.0]
    assert [same.size1_in(i) for i in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("many, step", [(3, 1), (799, 1), (800, 2), (1250, 3)])
def test_of_long_tubes_some_four_hundred_instants_are_told(monkeypatch, many, step):
    """From the instant at which the tube begins, widths and centre alike; a width that is rounding is told as 0."""
    monkeypatch.setattr(judged_of, "digests", lambda c: ("aa", "bb"))
    z = np.arange(4.0 * many).reshape(many, 4)
    c = SimpleNamespace(
        z=z, T=0.5, section=[0, 1, 2, 4], low=np.zeros(5), high=np.ones(5), told=np.array(["e"]),
        least=np.array([-2.0]), most=np.array([3.0]),
    )  # fmt: skip
    units = ("m", "m/s", "N", "V", "1")
    question = SimpleNamespace(states=tuple("qruvϑ"), units=units, begins=7.0, ends="rest")
    reach = np.tile([1.0, 2.0, 0.0, 3.0], (many, 1))
    reach[0, 2] = 1e9
    found = judged_of.told(question, c, reach)
    assert found["time"] == pytest.approx([7.0 + 0.5 * k for k in range(0, many, step)])
    assert found["centre"]["r"] == z[::step, 1].tolist() and found["width"]["ϑ"][-1] == 3.0
    assert found["width"]["u"][1:] == [0.0] * (len(found["time"]) - 1)
    assert found["units"] == {"q": "m", "r": "m/s", "u": "N", "ϑ": "1"}
    assert found["told"] == {"e": [-2.0, 3.0]} and (found["samples"], found["ends"]) == (
        many,
        "rest",
    )
