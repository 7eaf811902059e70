"""What a law called from Python compares, written down: margins by hand, and answers as Python gives them."""

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest
from test_switches_by_hand import Picky, T, Two

from workbench import ClosedLoop, Hold, Sampled, Scenario
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.verification.linear.called_law import Memory
from workbench.verification.practical.called.notes import NOTE, Notes, noted
from workbench.verification.practical.switches import called as called_switches
from workbench.verification.practical.switches.called import (
    EVERY,
    MOST_ROWS,
    Called,
    _covered,
    _spans,
    of_called,
)
from workbench.verification.practical.switches.graph import TIE
from workbench.verification.run import run as simulated


def asked(function, *values):
    """(answer, [(text, least margin, largest margin)]) of a function asked with its comparisons noted."""
    law = Called([function])
    with law.noting():
        answer = function(*values)
        low, high = law.notes.look()
    found = zip(law.notes.texts, low.tolist(), high.tolist())
    return answer, [one for one, k in zip(found, lines(law.notes)) if k in own_lines(function)]


def lines(notes):
    """The line of every place that a note-taker knows."""
    return [int(text.rpartition("(line ")[2][:-1]) for text in notes.texts]


def own_lines(function):
    text, first = inspect.getsourcelines(function)
    return range(first, first + len(text))


def margins(function, *values):
    return [(low, high) for _, low, high in asked(function, *values)[1]]


def less(a, b):
    return a < b


def every(a, b):
    return a < b, a <= b, a > b, a >= b


def chain(a, b, c):
    return a < b <= c


def chained(a, b, c, d):
    return a > b >= c > d


def equal(a, b):
    return a == b or a is b or a < b


def mixed(a, b, c):
    return a < b == c


def larger(a, b, c):
    return max(a, b, c), min(a, b)


def arrays(a, b):
    return np.maximum(a, b)


def clipped(x):
    return np.clip(x, -1.0, 2.0)


def signs(x, y):
    return np.sign(x), math.copysign(x, y)


def alone(values):
    return max(values), min(values, key=lambda v: -v)


def starred(values):
    return max(*values)


def partly(values):
    return max(*values, 3.0)


def nothing(a):
    return a + 1.0


def twice(a):
    return [v > 1.0 for v in a]


def nested(a, b, c):
    return min(max(a, b), c)


def outer(a):
    def inner(b):
        return b < a

    return inner(2.0) and a < 9.0


@pytest.mark.parametrize("a, b", [(1.0, 3.0), (3.0, 1.0), (2.0, 2.0), (-4, 7)])
def test_comparisons_answer_as_before_and_leave_their_difference(a, b):
    answer, found = asked(every, a, b)
    assert answer == (a < b, a <= b, a > b, a >= b) == every(a, b)
    ties = (
        TIE,
        -TIE,
        -TIE,
        TIE,
    )  # of equal numbers the margin has the sign of the side that is taken
    assert [(low, high) for _, low, high in found] == [(a - b or tie,) * 2 for tie in ties]
    line = every.__code__.co_firstlineno + 1
    assert [text for text, _, _ in found] == [
        f"`a {sign} b` (line {line})" for sign in ("<", "<=", ">", ">=")
    ]


def test_a_chain_compares_each_with_the_next():
    for values in ((1.0, 3.0, 3.0), (1.0, 3.0, 2.5), (4.0, 3.0, 9.0), (4.0, 3.0, 2.0)):
        answer, found = asked(chain, *values)
        assert answer is chain(*values)
        a, b, c = values
        whole = 1.0 if answer else -1.0  # a chain is a condition made of several
        assert [low for _, low, _ in found] == pytest.approx([a - b, b - c, whole])
    for values in ((4, 3, 3, 1), (4, 3, 3, 3), (4, 4, 3, 1), (4, 2, 3, 1)):
        assert asked(chained, *values)[0] is chained(*values)


def test_what_is_no_order_of_numbers_is_left_alone():
    line = equal.__code__.co_firstlineno + 1
    assert asked(equal, 1.0, 2.0)[1] == [
        (f"`a < b` (line {line})", -1, -1),
        (f"`a == b or a is b or a < b` (line {line})", 1, 1),
    ]
    assert asked(mixed, 1.0, 2.0, 2.0) == (True, [])
    assert asked(nothing, 1.0) == (2.0, [])
    answer, found = asked(less, "a", "b")
    assert answer is True and np.isnan(found[0][1])
    assert np.isnan(asked(less, np.zeros(0), np.zeros(0))[1][0][1])


def test_arrays_leave_their_least_and_largest_difference():
    answer, found = asked(less, np.array([1.0, 5.0, np.nan]), 3.0)
    assert answer.tolist() == [True, False, False]
    answer, found = asked(arrays, np.array([1.0, 5.0]), np.array([3.0, 4.5]))
    assert answer.tolist() == [3.0, 5.0] and found[0][1:] == (-2.0, 0.5)


def test_the_larger_and_the_smaller_the_first_with_each_other():
    answer, found = asked(larger, 2.0, 7.0, -1.0)
    assert answer == (7.0, 2.0) and [low for _, low, _ in found] == [-5.0, 3.0, -5.0]
    assert margins(clipped, 3.5) == [(4.5, 4.5), (1.5, 1.5)] and asked(clipped, 3.5)[0] == 2.0
    assert margins(nested, 1.0, 4.0, 6.0) == [(-3.0, -3.0), (-2.0, -2.0)]
    assert asked(nested, 1.0, 4.0, 6.0)[0] == 4.0


def test_signs_are_compared_with_zero():
    """Of `sign` the first argument counts, of `copysign` the second."""
    answer, found = asked(signs, -2.5, 4.0)
    assert answer == (-1.0, 2.5) and [low for _, low, _ in found] == [-2.5, 4.0]


def test_what_compares_the_inside_of_one_value_leaves_nothing():
    answer, found = asked(alone, [3.0, 1.0])
    assert answer == (3.0, 3.0) and all(np.isnan(low) for _, low, _ in found)
    assert asked(starred, [1.0, 2.0]) == (2.0, [])
    assert asked(partly, [1.0, 2.0]) == (3.0, [])


def several(a, b):
    first = a > 0 and b > 0
    second = (a > 0) | (b > 0)
    return first, second, all(v > 0 for v in (a, b)), any([a > 0, b > 0]), a and b, 6 & 3


@pytest.mark.parametrize("a, b", [(1.0, 2.0), (1.0, -2.0), (-1.0, 2.0), (-1.0, -2.0)])
def test_a_condition_of_several_comparisons_is_met_or_not(a, b):
    """1 where it is, −1 where it is not; `and` of numbers, and `&` of whole ones, decide nothing."""
    answer, found = asked(several, a, b)
    assert answer == several(a, b)
    law = Called([several])
    first = several.__code__.co_firstlineno
    told = {text: low for text, low, _ in found}
    wanted = zip(answer, ("a > 0 and b > 0", "(a > 0) | (b > 0)", "all((v > 0", "any([a > 0"))
    for met, begin in wanted:
        (low,) = [v for text, v in told.items() if text.startswith(f"`{begin}")]
        assert low == (1.0 if met else -1.0)
    both, bits = (
        [v for t, v in told.items() if t.startswith(f"`{e}`")] for e in ("a and b", "6 & 3")
    )
    assert np.isnan(both + bits).all()
    own = [k for k, line in enumerate(lines(law.notes)) if first <= line <= first + 3]
    conditions = [k for k in own if law.is_condition(k)]
    assert law.whole_first(own)[: len(conditions)] == sorted(conditions, reverse=True)


def test_a_place_keeps_its_extremes_until_somebody_looks():
    law = Called([twice])
    (k,) = [k for k, line in enumerate(lines(law.notes)) if line in own_lines(twice)]
    with law.noting():
        assert twice([3.0, 0.5, 2.0]) == [True, False, True]
        low, high = law.notes.look()
        assert (low[k], high[k]) == (-0.5, 2.0)
        assert np.isnan([*law.notes.look()]).all()
        twice([9.0])
        assert [part[k] for part in law.notes.look()] == [8.0, 8.0]


def test_functions_inside_are_noted_with_those_around():
    answer, found = asked(outer, 5.0)
    assert answer is True and [low for _, low, _ in found] == [-3.0, -4.0, 1.0]


def test_each_place_has_a_number_of_its_own():
    notes = Notes()
    assert [notes.place(key, key) for key in ("a", "b", "a", "c")] == [0, 1, 0, 2]
    assert notes.texts == ["a", "b", "c"]


def test_a_function_is_as_it_was_afterwards_and_when_it_fails():
    before = less.__code__
    with pytest.raises(TypeError), Called([less]).noting():
        less(1.0, None)
    assert less.__code__ is before and NOTE not in less.__globals__
    made = eval("lambda a, b: a < b")  # no text
    assert noted(made, Notes()) is None and Called([made, less]).codes[0][0] is less


def test_two_functions_that_look_alike_on_a_line_are_not_noted():
    one, other = (lambda a: a < 1.0), (lambda a: a < 2.0)
    assert noted(one, Notes()) is None and noted(other, Notes()) is None


# ---- along a run -------------------------------------------------------------------------------------------------------
class Counter:
    """A law asked sample by sample: it counts those it was given, and compares their measurement with 3."""

    def __init__(self, y, times=None):
        self.time = np.arange(len(y)) if times is None else times
        self.y = list(y)
        self.seen = {0: Memory([0.0], ((), ()))}

    def step(self, memory, y, row):
        return Memory([memory.wrapped[0] + y], memory.own), np.array([float(less(y, 3.0))])


def test_samples_between_which_a_law_is_looked_at():
    """Each of a short run, at most EVERY spans of a long one, and nothing beyond MOST_ROWS."""
    assert _spans(Counter(np.zeros(5))) == [0, 1, 2, 3, 4, 5]
    long = _spans(Counter([0.0], np.arange(10 * MOST_ROWS)))
    assert (len(long), long[0], long[-1]) == (EVERY + 1, 0, MOST_ROWS)
    assert set(np.diff(long)) == {MOST_ROWS // EVERY}


def test_margins_along_a_run_are_those_between_two_looks(monkeypatch):
    monkeypatch.setattr(called_switches, "asked_of", lambda run: Counter([1.0, 7.0, 2.0, 4.0, 3.5]))
    monkeypatch.setattr(called_switches, "_spans", lambda asked: [0, 2, 3, 5])
    law = Called([less])
    rows, low, high = law.margins(None)
    (k,) = [k for k, line in enumerate(lines(law.notes)) if line in own_lines(less)]
    assert rows.tolist() == [0, 2, 3]
    assert low[k].tolist() == [-2.0, -1.0, 0.5] and high[k].tolist() == [4.0, -1.0, 1.0]
    rows, low, high = Called([]).margins(None)
    assert rows.tolist() == [0] and low.shape == high.shape == (0, 1)


@pytest.mark.parametrize("y, covered", [([1, -3, 2, 5, -4, 6], 7.0), ([1.0] * 40, 0.0)])
def test_what_a_number_covered_between_samples_and_of_one_that_runs_on_nothing(y, covered):
    """Before their samples sums 0, 1, −2, 0, 5, 1 cover 7; one that goes on by 1 a sample is led by time."""
    assert _covered(Counter(y)) == pytest.approx([covered])


def test_memory_that_changes_its_shape_covers_nothing():
    class Growing(Counter):
        def step(self, memory, y, row):
            return Memory([0.0, y], memory.own), None

    assert len(_covered(Growing([1.0, 2.0]))) == 0


# ---- beside a row of a run ---------------------------------------------------------------------------------------------
class Summing:
    """u = 2 e (3 e beyond 0.15) + sum, up to where e is −1; z counts samples, `sum` adds up e/100."""

    references = ("y_d",)

    def __init__(self):
        self.sum = 0.5

    def start(self, t, z, y, r):
        return 3

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        self.sum = self.sum + e / 100
        if e < -1.0:
            raise InputError("beyond what it knows", mend="stay")
        return z + 1, [(2.0 if e < 0.15 else 3.0) * e + self.sum]


@pytest.fixture(scope="module")
def seen():
    loop = ClosedLoop(Two(), Sampled(Plain(Summing()), T))
    return simulated(loop, Scenario(0.2, Hold("output", (0.1,))))


def test_a_called_law_is_asked_beside_a_row(seen):
    """After four samples: what it remembers is counted, put elsewhere, and where it fails there is no command."""
    law = of_called(seen)
    row = 4
    x, z = law.at(seen, row)
    y = seen.log.array("y")
    assert x == pytest.approx([y[row], seen.log.array("w")[row]])
    errors = [0.1 - y[k] for k in range(row)]
    total = 0.5 + sum(errors) / 100
    assert z == pytest.approx([seen.log.array("u_held")[row - 1], total, 3 + row])
    assert law.remembers(seen)
    points = np.tile(np.concatenate([x, z])[:, None], 3)
    points[0] = -0.3, 0.2, 1.3
    points[3, 1] += 4.0
    points[4, 1] += 1.6
    low, high, commands, memory, flow = law.ask(seen, row, points)
    assert flow.shape == (0, 3)
    assert commands[0][:2] == pytest.approx([3 * 0.4 + total + 0.004, -0.2 + total + 4 - 0.001])
    assert memory[2][:2].tolist() == [4 + row, 6 + row], "a whole number stays whole"
    assert memory[1][:2] == pytest.approx([total + 0.004, total + 3.999])
    assert np.isnan(commands[0][2]) and np.isnan(memory[:, 2]).all()
    own = [i for i, t in enumerate(law.notes.texts) if t.startswith("`e < ")]
    assert np.array_equal(low, high, equal_nan=True)
    assert low[own] == pytest.approx(
        np.array([[1.4, 0.9, -0.2], [0.25, -0.25, np.nan]]), nan_ok=True
    )
    assert (
        law.words(own[0], seen).startswith("`e < -1.0` (line ")
        and law.shown(seen, row, points) == {}
    )


def test_what_a_called_law_covered_is_counted_once(seen):
    law = of_called(seen)
    assert law.covered(seen) is law.covered(seen)
    whole = np.cumsum((0.1 - seen.log.array("y")) / 100)
    assert law.covered(seen)[1:] in (pytest.approx([np.ptp(whole), 0.0]), pytest.approx([0.0, 0.0]))


def test_only_laws_called_from_python_are_read(seen):
    law = SimpleNamespace(loop=ClosedLoop(Two(), Sampled(Picky(Two()), T)))
    assert of_called(law) is None and isinstance(of_called(seen), Called)
