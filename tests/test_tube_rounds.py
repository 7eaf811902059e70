"""Rounds of a search for a tube: what is enlarged to what, and when it ends, on tubes of two states and four nodes by hand."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.tube import rounds as module
from workbench.verification.tube.blocks import LEAST, TURNS
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.rounds import (
    ROUNDS,
    SMALLER,
    Ready,
    laps,
    largest,
    rounds,
    settled,
    tiny,
    wider,
)

NODES, STAGES, STATES = 4, 2, 3
NEVER = -1


def tube(first=1, reach=1.0, σ=2.0, **other):
    """A tube whose laps begin at node `first`; of its three states the last two are of the section."""
    given = {field.name: None for field in fields(Tube)} | {
        "states": STATES,
        "section": np.array([1, 2]),
        "lag": 0.0,
        "substeps": np.array([1]),
        "finer": np.array([1] * (NODES - 1)),
        "z": np.zeros((NODES, 2)),
        "σ": σ,
        "reach": np.broadcast_to(reach, (NODES, STAGES + 1, STATES)).astype(float),
        "segments": np.ones((NODES, 2, 3)),
        "balls": np.ones((NODES, 2, 2)),
        "after": np.array([1, 2, 3, first]),
        "splits": np.zeros((0, 3)),
        "half": np.array([0.5, 0.0, 0.25]),
    }
    return Tube(**given | other)


def seen(need=1.0, **other):
    shape = (NODES, STAGES + 1, STATES)
    given = {
        "need": np.broadcast_to(need, shape).astype(float),
        "share": np.full(NODES, 0.5),
        "added": np.zeros((NODES, 2)),
        "defect": np.zeros((NODES, 2)),
        "low": np.full((NODES, STATES), -1.0),
        "high": np.full((NODES, STATES), 2.0),
        "enters": 0.5,
        "returns": 1.5,
        "contracts": 0.5,
        "failed": None,
    }
    return Seen(**given | other)


class Followed:
    """A `Ready` whose tubes come out as these say, one after the other; the last answer is given again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.tubes = []

    def followed(self, c, watch=None):
        self.tubes.append(c)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Kept:
    def __init__(self):
        self.numbers = []

    def keep(self, number, c):
        self.numbers.append(number)


class Steps:
    many = 0

    def step(self):
        self.many += 1


HELD = np.array([False, True, False])


def searched(ready, c, first=0):
    kept, steps = Kept(), Steps()
    found = rounds(ready, HELD, first, c, kept, steps)
    return found, kept.numbers, steps.many


# ---- reaches -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "first, inside", [(0, [1, 1, 1, 1]), (2, [0, 0, 1, 1]), (3, [0, 0, 0, 1]), (NEVER, [0] * 4)]
)
def test_nodes_of_laps(first, inside):
    assert laps(tube(first)).tolist() == [bool(one) for one in inside]


def test_reaches_are_enlarged_where_they_were_too_small_and_in_laps_where_they_nearly_are():
    """1 suffices for 1 and 0.95 before the laps; in a lap 1.1 times 0.95 is taken; 2 becomes 2.2 anywhere."""
    need = np.full((NODES, STAGES + 1, STATES), 0.95)
    need[0, 0, 0] = 2.0
    need[3, 2, 2] = 2.0
    need[1, 1, 1] = 1.0
    need[2, 0, 0] = 0.5
    found = wider(tube(2), seen(need))
    assert found[:2].ravel() == pytest.approx([2.2] + [1.0] * (2 * 9 - 1))
    lap = np.full((2, STAGES + 1, STATES), 1.1 * 0.95)
    lap[1, 2, 2] = 2.2
    lap[0, 0, 0] = 1.0
    assert found[2:] == pytest.approx(lap)


def test_the_largest_reach_is_that_of_a_state():
    reach = np.arange(36.0).reshape(NODES, STAGES + 1, STATES) * [1, -1, 2]
    assert largest(reach).tolist() == [33.0, -1.0, 70.0]


def test_a_tube_with_next_to_no_width():
    """1e-12 of every state's scale, of others of the smallest; segments are those of the starts, here two, of no length."""
    scale = np.array([5.0, 3.0])
    found = tiny(SimpleNamespace(tube=tube(), scale=scale))
    assert found.reach.shape == (NODES, STAGES + 1, STATES)
    assert found.reach[2, 1] == pytest.approx([3e-12, 5e-12, 3e-12], rel=1e-9)
    assert found.segments.shape == (NODES, 2, 2) and not found.segments.any()
    assert found.balls.shape == (NODES, 2, 2)
    assert found.balls[3] == pytest.approx(np.diag([5e-12, 3e-12]), rel=1e-9)


# ---- when the rounds end -------------------------------------------------------------------------------------------------------
def test_a_tube_that_the_checker_bears_out_is_the_result():
    ready = Followed(seen())
    found, numbers, steps = searched(ready, tube(NEVER))
    assert found.failed is None and found.why == "" and found.seen is ready.answers[0]
    assert (numbers, steps, found.tube) == ([0], 1, ready.tubes[0])


@pytest.mark.parametrize("more", [{"failed": 2}, {"enters": 2.5}, {"returns": 2.5}])
def test_what_does_not_hold_is_tried_again_larger_and_for_so_many_rounds(more, monkeypatch):
    monkeypatch.setattr(module, "ball", lambda seen, σ: 3.0 * σ)
    ready = Followed(seen(2.0, share=np.array([0.5, 1.5, 1.0, 0.5]), **more))
    found, numbers, steps = searched(ready, tube(NEVER))
    assert numbers == list(range(ROUNDS)) and steps == ROUNDS
    assert (found.failed, found.why) == (more.get("failed", 3), "the tube grows with every round")
    assert len(ready.tubes) == ROUNDS and found.ready is ready
    one, two = ready.tubes[0], ready.tubes[1]
    assert two.reach == pytest.approx(2.2 * one.reach)
    assert two.σ == one.σ == 2.0, "no lap, no ball"
    assert sorted(map(tuple, two.splits)) == [(k, 1, 0.0) for k in range(NODES)]


def test_a_round_may_begin_later():
    found, numbers, _ = searched(Followed(seen(failed=1)), tube(NEVER), first=ROUNDS - 2)
    assert numbers == [ROUNDS - 2, ROUNDS - 1] and found.failed == 1


@pytest.mark.parametrize("first_lap", [0, 1])
def test_the_ball_of_laps_grows_to_what_enters_and_with_it_what_it_holds(monkeypatch, first_lap):
    monkeypatch.setattr(module, "ball", lambda seen, σ: σ + 1.0)
    ready = Followed(seen(returns=9.0))
    searched(ready, tube(first_lap), first=ROUNDS - 2)
    one, two = ready.tubes
    assert (one.σ, two.σ) == (2.0, 3.0)
    grown = np.where(np.arange(NODES) >= first_lap, 1.5, 1.0)
    assert two.balls == pytest.approx(np.broadcast_to(grown[:, None, None], (NODES, 2, 2)))


def test_axes_of_nodes_that_did_not_fit_or_repeat_are_taken_anew(monkeypatch):
    """Before the laps node 1, whose set needs more than its own; then those of the laps. From the fourth round axes only grow."""
    put = []

    class Fits:
        def __init__(self, c):
            self.take = None

        def put(self, c, nodes, share=None):
            put.append((nodes.tolist(), None if share is None else share.tolist()))
            return replace(c, balls=c.balls.copy())

    monkeypatch.setattr(module, "Fits", Fits)
    monkeypatch.setattr(module, "ball", lambda seen, σ: σ)
    share = [1.0, np.nan, 0.5, 2.0]
    searched(Followed(seen(failed=0, share=np.array(share))), tube(3))
    assert [nodes for nodes, _ in put] == [[1, 3]] * ROUNDS
    searched(Followed(seen(failed=0, share=np.array([1.2, 1.9, 1.0, 1.0]))), tube(3), ROUNDS - 1)
    assert put.pop()[0] == [0, 1, 3]
    assert [share is None for _, share in put] == [True] * TURNS + [False] * (ROUNDS - TURNS)


def test_a_tube_that_cannot_be_enclosed_or_grows_without_end(monkeypatch):
    found, _, _ = searched(Followed(seen(np.array([1.0, np.inf, 1.0]), failed=2)), tube())
    assert (found.failed, found.why) == (2, "the tube is too wide to enclose a sample")
    for need, endless in (((1.0, 4.9e6, 1.0), False), ((1.0, 5.1e6, 1.0), True)):
        ready = Followed(seen(np.array(need), failed=1))
        found, _, _ = searched(ready, tube(NEVER, reach=5.0), ROUNDS - 1)
        assert (found.why == "the tube grows without end") is endless
    monkeypatch.setattr(module, "ball", lambda seen, σ: np.inf)
    found, _, _ = searched(Followed(seen(failed=1)), tube(1))
    assert found.why == "the tube grows without end"
    found, _, _ = searched(Followed(seen(failed=1)), tube(NEVER))
    assert found.why == "the tube grows with every round"


# ---- around laps what is needed ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("first", [0, 1])
def test_reaches_around_laps_come_down_to_what_is_needed(first):
    """A hundredth more than 0.5; what needs more than it had keeps what it had."""
    need = np.full((NODES, STAGES + 1, STATES), 0.5)
    need[1, 1, 1] = 0.995
    before, after = seen(need), seen(0.4)
    ready = Followed(after)
    found = settled(tube(first), before, ready)
    expected = np.full(need.shape, 0.505)
    expected[1, 1, 1] = 1.0
    assert found.tube.reach == pytest.approx(expected) and found.seen is after
    assert found.failed is None and found.ready is ready and len(ready.tubes) == 1
    none = settled(tube(1), seen(0.0), ready)
    assert (none.tube.reach == LEAST).all()


def test_without_laps_a_tube_stays_as_it_is():
    c, first, ready = tube(NEVER), seen(0.5), Followed(seen())
    found = settled(c, first, ready)
    assert (found.tube, found.seen, found.ready) == (c, first, ready) and not ready.tubes


@pytest.mark.parametrize("more", [{"failed": 2}, {"enters": 2.5}, {"returns": 2.5}])
def test_what_is_not_borne_out_with_less_is_tried_three_times(more):
    """Up to what is needed then, and no further than what sufficed; a ball is larger where more of it was needed."""
    share = np.array([0.5, 2.0, np.inf, 1.0])
    ready = Followed(seen(0.7, share=share, **more))
    c, first = tube(1), seen(0.5)
    found = settled(c, first, ready)
    assert (found.tube, found.seen, found.failed) == (c, first, None)
    assert len(ready.tubes) == SMALLER
    one, two = ready.tubes[:2]
    assert one.reach == pytest.approx(np.full(one.reach.shape, 0.505))
    assert two.reach == pytest.approx(np.full(one.reach.shape, 0.707))
    assert two.balls[1] == pytest.approx(2.1 * np.ones((2, 2)))
    assert (two.balls[[0, 2, 3]] == 1.0).all() and (two.segments == 1.0).all()
    wide = Followed(seen(3.0, **more), seen())
    assert settled(c, first, wide).tube.reach == pytest.approx(c.reach)
    again = Followed(seen(0.1, **more), seen())
    assert settled(c, first, again).tube.reach == pytest.approx(np.full(c.reach.shape, 0.505))


# ---- the first round -----------------------------------------------------------------------------------------------------------
def first_round(monkeypatch, *answers, c=None):
    monkeypatch.setattr(module, "balled", lambda question, c, linear, seen: replace(c, σ=1.0))
    monkeypatch.setattr(module, "ball", lambda seen, σ: 5.0 + σ)
    told = {}

    def filled(c, reach, linear, held, course):
        told.update(c=c, reach=reach, linear=linear, course=course)
        return replace(c, σ=c.σ + 100)

    monkeypatch.setattr(module, "filled", filled)
    ready = Followed(*answers)
    ready.question, ready.linear, ready.course = None, "linear", "course"
    steps = Steps()
    found = module.widened(ready, c or tube(1), HELD, steps)
    return found, told, steps.many, ready


def test_a_tube_begins_a_little_above_what_the_linear_loop_reaches(monkeypatch):
    """Its axes are those of the second look, its ball what entered, and what it holds as large."""
    need = np.full((NODES, STAGES + 1, STATES), 0.5)
    found, told, steps, ready = first_round(monkeypatch, seen(7.0), seen(need))
    assert told["c"].reach == pytest.approx(1.2 * need) and told["reach"] is not None
    assert told["reach"] == pytest.approx(need) and (told["linear"], told["course"]) == (
        "linear",
        "course",
    )
    assert told["c"].σ == 5.0 and found.σ == 105.0
    assert (told["c"].balls[1:] == 5.0).all() and (told["c"].balls[0] == 1.0).all()
    assert sorted(map(tuple, told["c"].splits)) == [(k, 1, 0.0) for k in range(NODES)]
    assert steps == 2 and [one.σ for one in ready.tubes] == [2.0, 1.0]
    zero, told, _, _ = first_round(monkeypatch, seen(7.0), seen(0.0))
    assert (told["c"].reach == LEAST).all()


@pytest.mark.parametrize(
    "contracts, ends", [(0.99, False), (1.0, True), (1.5, True), (np.nan, True)]
)
def test_runs_that_do_not_come_closer_have_no_tube(monkeypatch, contracts, ends):
    found, told, _, _ = first_round(monkeypatch, seen(7.0), seen(contracts=contracts, failed=1))
    assert bool(told) is not ends
    if ends:
        assert (found.failed, found.why) == (1, "runs side by side do not come closer")


def test_a_search_is_of_a_part_of_the_starts_and_goes_on_where_it_was(monkeypatch):
    """`half` and `fresh` are those of the part; what is held still and neither released nor constant may be split."""
    whole = tube(1, fresh=np.array([0.1, 0.2, 0.4]))
    flow = SimpleNamespace(still=lambda: np.array([True, True, False]))
    whole = replace(whole, flow=flow)
    question = Posed(whole, (), (), "rest", np.ones(2), "m")
    told = {}

    class Taken:
        def __init__(self, asked, worth):
            told.update(half=asked.half, fresh=asked.fresh, worth=worth)

        def taken_up(self, c, most):
            told["most"] = most
            return told.get("reached")

    monkeypatch.setattr(module, "Kept", Taken)
    monkeypatch.setattr(module, "followed_by_constants", lambda c, linear: c)
    monkeypatch.setattr(module, "released", lambda c: np.array([False, True, False]))
    monkeypatch.setattr(module, "constant", lambda c: np.array([False, False, False]))
    monkeypatch.setattr(module, "turning", lambda c: np.array([True, True, True]))
    monkeypatch.setattr(module, "widened", lambda ready, c, held, progress: whole)
    monkeypatch.setattr(module, "rounds", lambda ready, held, k, c, kept, p: (held.tolist(), k, c))
    ready = Ready(question, None, 0.0, {}, worth=3.0)
    assert module.sized(ready, 0.5, None) == ([True, False, False], 0, whole)
    assert told["half"] == pytest.approx([0.25, 0.0, 0.125]) and (told["worth"], told["most"]) == (
        3.0,
        ROUNDS,
    )
    assert told["fresh"] == pytest.approx([0.05, 0.1, 0.2])
    told["reached"] = (4, "its tube")
    assert module.sized(ready, 0.5, None)[1:] == (4, "its tube")
    ended = module.Result(whole, None, 1, "no")
    told["reached"] = None
    monkeypatch.setattr(module, "widened", lambda ready, c, held, progress: ended)
    assert module.sized(ready, 1.0, None) is ended
