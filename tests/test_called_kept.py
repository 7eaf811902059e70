"""What a law called from Python keeps beside the numbers of its memory: where each thing stands, and what counts of it."""

import math
from collections import OrderedDict, deque

import numpy as np
import pytest

from workbench.contract.plain import Plain
from workbench.verification.practical.called import kept as module
from workbench.verification.practical.called import reach as called_reach
from workbench.verification.practical.called.kept import (
    Sink,
    moved_on,
    tokens,
    without_records,
)
from workbench.verification.practical.called.reach import (
    functions_of,
    kept_by,
    named_by,
    of_class,
    reached,
)

COUNT = 3


class Thing:
    """An object of attributes."""

    def __init__(self, **own):
        vars(self).update(own)


class Slotted:
    __slots__ = ("a", "b", "empty")

    def __init__(self):
        self.a, self.b = 1.5, "on"


class OneSlot:
    __slots__ = "only"

    def __init__(self):
        self.only = 2.5


class Kind:
    level = 4.0
    name = "kind"

    def method(self):
        return self.level


class Below(Kind):
    level = 5.0


def found(thing, numbers=False):
    return tokens({"law": thing}, numbers)


# ---- tokens -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("thing", [True, "text", b"raw", 1 + 2j, None])
def test_what_is_no_number_is_its_own_token(thing):
    assert found(thing) == {"law": thing}


@pytest.mark.parametrize("thing", [3, 2.5, np.int32(3), np.float64(2.5)])
def test_numbers_of_a_memory_count_where_they_are_asked_for(thing):
    """Floats and whole numbers are followed as memory (`called.numbers`); others, such as NumPy's of 32 bits, are not."""
    assert found(thing) == {} and found(thing, numbers=True) == {"law": float(thing)}
    assert found(np.float32(1.5)) == {"law": 1.5}


def test_lists_and_tables_have_their_lengths_and_what_is_in_them():
    assert found([1.0, "a", (2.0, True)]) == {
        "law": 3,
        "law[1]": "a",
        "law[2]": 2,
        "law[2][1]": True,
    }
    assert found({"x": "a", 2: [1]}) == {"law": 2, "law['x']": "a", "law[2]": 1}
    assert found(deque(["a"])) == {"law": 1, "law[0]": "a"}
    assert found({"b", "a"}) == {"law": ("'a'", "'b'")} and found(frozenset([2])) == {"law": ("2",)}


def test_arrays_have_their_shape_and_other_entries_than_numbers():
    assert found(np.array([[1.0, 2.0]])) == {"law": ((1, 2), b"")}
    assert found(np.array([1, 2]), numbers=True)["law"][1] == np.array([1, 2]).tobytes()
    flags = np.array([True, False])
    assert found(flags) == {"law": ((2,), flags.tobytes())}


def test_attributes_and_slots():
    """Numbers in slots count: no copy of a law's numbers reaches them; those in attributes are followed."""
    assert found(Thing(a=1.0, mode="on")) == {"law.mode": "on"}
    assert found(Slotted()) == {"law.a": 1.5, "law.b": "on"}
    assert found(OneSlot()) == {"law.only": 2.5}


def test_what_is_made_of_parts_that_only_a_copy_knows():
    """A table with an order is taken apart; a generator cannot be, and says nothing."""
    inside = found(Thing(g=np.random.default_rng(3)))
    assert any(isinstance(v, float) for v in inside.values())
    assert found(n for n in range(3)) == {}
    assert found(OrderedDict(a="x")) == {"law": 1, "law['a']": "x"}


def test_what_a_function_keeps_counts_with_its_numbers():
    level = 7.5

    def law(t, y, r, gain=2.0, *, more=0.5):
        return level

    law.calls = 4
    assert found(law) == {
        "law default": 1,
        "law default[0]": 2.0,
        "law named default": 1,
        "law named default['more']": 0.5,
        "law.calls": 4.0,
        "law level": 7.5,
    }
    named = dict(kept_by(law))
    start = law.__qualname__
    assert named[f"{start} default"] == (2.0,) and named[f"{start} level"] == 7.5
    after = found([law, 1.0])
    assert "law[1]" not in after, "numbers beside it are a memory again"


def test_methods_are_those_of_their_object_and_nothing_is_looked_at_twice():
    thing = Thing(mode="on")
    thing.itself = thing
    assert found(thing) == {"law.mode": "on"}
    assert found([thing, thing]) == {"law": 2, "law[0].mode": "on"}

    class Law:
        def __init__(self):
            self.mode = "off"

        def step(self):
            pass

    assert found(Law().step) == {"law.mode": "off"}
    assert found([math, Kind, len]) == {"law": 3}
    assert found(["a"].append) == {"law": 1, "law[0]": "a"}


def test_so_many_things_are_looked_through(monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    assert found([["a"], ["b"], ["c"]]) == {
        "law": 3,
        "law[0]": 1,
        "law[0][0]": "a",
        "law[1]": 1,
        "law[1][0]": "b",
    }


# ---- what functions name --------------------------------------------------------------------------------------------------------
def uses(t):
    return COUNT * math.pi + Kind.level + missing  # noqa: F821


def test_globals_that_a_function_names_and_what_stands_in_their_modules():
    named = dict(named_by(uses))
    assert named["COUNT"] == 3 and named["math.pi"] == math.pi and named["missing"] is None
    assert named["Kind.level"] == 4.0 and named["Kind.name"] == "kind"
    assert "math.sin" not in named and set(named) < set(dict(reached(uses)))


def test_variables_of_a_class_and_of_those_below_it():
    assert list(of_class(Below)) == [
        ("Below.level", 5.0),
        ("Kind.level", 4.0),
        ("Kind.name", "kind"),
    ]
    assert list(of_class(Plain)) == []


def inner(y):
    return y


def helper(y):
    return inner(y)


class Law:
    def __init__(self):
        self.own = lambda y: y

    def start(self, y):
        return y

    def answer(self, y):
        return helper(y) + self.own(y)

    def step(self, t, z, y, r):
        return z, self.answer(y)


def test_functions_that_a_law_calls_at_a_sample(monkeypatch):
    law = Law()
    names = {one.__name__ for one in functions_of(law)}
    assert names == {"step", "answer", "helper", "inner", "<lambda>"}
    assert functions_of(helper) == [helper, inner]
    monkeypatch.setattr(called_reach, "FUNCTIONS", 2)
    assert len(functions_of(law)) == 2


# ---- what moved on ------------------------------------------------------------------------------------------------------------
def writes(law):
    law.seen.append(1.0)
    law.times.extend([2.0])


def reads(law):
    law.seen.append(1.0)
    return len(law.seen)


def test_where_something_is_as_never_before():
    before = [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "x"}]
    assert moved_on([*before, {"a": 1.0, "b": "x"}], []) == ""
    assert moved_on([*before, {"a": 3.0, "b": "y"}], []) == "a"
    assert moved_on([*before, {"a": 2.0, "b": "y"}], []) == "b"
    assert moved_on([*before, {"c": None}], []) == "c", "it was not there before"


@pytest.mark.parametrize(
    "functions, said", [([writes], ""), ([writes, reads], "law.seen"), ([], "law.seen")]
)
def test_what_is_only_appended_to_is_a_record(functions, said):
    """Its length moves on, and what is in it; a token that is no length is no record's."""
    before = {"law.seen": 2, "law.seen[1]": "a"}
    after = {"law.seen": 3, "law.seen[1]": "a", "law.seen[2]": "b"}
    assert moved_on([before, after], functions) == said
    assert moved_on([{"law.seen": "a"}, {"law.seen": "b"}], functions) == "law.seen"
    assert moved_on([{"f times": 1}, {"f times": 2}], [writes]) == ""


class Recording:
    def __init__(self):
        self.seen, self.kept, self.found, self.gain = [], deque(), set(), 2.0

    def step(self, t, z, y, r):
        self.seen.append(y)
        self.found.add(t)
        return z, [self.gain * len(self.kept)]


def test_a_law_without_its_records():
    law = Recording()
    kept = law.kept
    without_records(law)
    assert isinstance(law.seen, Sink) and isinstance(law.found, Sink)
    assert law.kept is kept and law.gain == 2.0
    for write in (law.seen.append, law.seen.appendleft, law.seen.add, law.seen.extend):
        assert write(1.0) is None
    without_records(Slotted())
