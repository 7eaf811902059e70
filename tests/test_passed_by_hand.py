"""Edges that no start showed, numbers behind what grows, and questions that do not fit, from answers that are written down."""

from types import SimpleNamespace

import numpy as np
import pytest
from small import Decaying, Linear

from workbench import ClosedLoop, InputError
from workbench.verification import claims as C
from workbench.verification.cause import named
from workbench.verification.practical.branches import untaken
from workbench.verification.practical.branches.untaken import _Search
from workbench.verification.practical.branches.ways import AFTER_A_WHILE, COMMANDS, GAINS, Edge
from workbench.verification.practical.switches import own_plant
from workbench.verification.rigorous import claims as rigorous

# ---- edges that no start showed -----------------------------------------------------------------


def passed(monkeypatch, change=COMMANDS, row=3, there="held", outcomes=(), took=()):
    """What is said of an edge that no start took; outcomes: whether each start held there is back, took: takes the side."""
    monkeypatch.setattr(untaken, "held_at", lambda run, row: there)
    asked = []
    own = object.__new__(_Search)
    own.base, own.run, own.law = "base", None, None
    left, side = iter(outcomes), iter(took)
    own._start = lambda move: move.tolist()
    own.tried = lambda start, run: asked.append((start, run)) or SimpleNamespace(back=next(left))
    own._is_back = lambda outcome: outcome.back
    own._took = lambda outcome, switch: next(side)
    own._told = lambda edge, words: f"told {words}"
    monkeypatch.setattr(untaken, "_ended", lambda outcome: "it stays away")
    edge = Edge(0, np.array([9.0]), change, row, np.array([2.0]))
    return own._not_taken(edge), asked


def test_an_edge_is_looked_at_where_the_loop_is_held():
    with pytest.MonkeyPatch.context() as patch:
        said, asked = passed(patch, outcomes=(True, True, True), took=(False, True))
        assert said == "" and [start for start, _ in asked] == [
            [2.0 * k] for k in untaken.BEYOND[:2]
        ]
        assert {run for _, run in asked} == {"held"}
        said, asked = passed(patch, outcomes=(True, False), took=(False, False))
        assert said == "told held there, it stays away" and len(asked) == 2
        many = len(untaken.BEYOND)
        said, asked = passed(patch, outcomes=(True,) * many, took=(False,) * many)
        assert said == f"told {untaken.PASSES}" and len(asked) == many
        assert passed(patch, there=None) == (f"told {untaken.PASSES}", [])


def test_an_edge_that_nothing_leads_past_at_once():
    with pytest.MonkeyPatch.context() as patch:
        assert passed(patch, AFTER_A_WHILE) == (f"told {untaken.STAYS}", [])
        assert passed(patch, GAINS) == ("", []) == passed(patch, row=0)


# ---- numbers behind what grows --------------------------------------------------------------------
@pytest.mark.parametrize(
    "found, told",
    [
        (("K_p", named.WITHIN), "K_p"),
        (("K_p", 1.001 * named.WITHIN), None),
        (("", 0.0), None),
        (None, None),
    ],
)
def test_the_number_that_lets_a_loop_go(monkeypatch, found, told):
    asked = []
    monkeypatch.setattr(named, "lets_go", lambda run, wires=True: asked.append(wires) or found)
    cause = named._of_numbers("run")
    assert asked == [False] and (cause and cause.words) == told
    assert cause is None or cause.kind == "edge"


def test_a_guess_that_fails_says_nothing(monkeypatch):
    def fails(run, wires=True):
        raise ZeroDivisionError

    monkeypatch.setattr(named, "lets_go", fails)
    assert named._of_numbers("run") is None


# ---- switches of a plant of one's own -----------------------------------------------------------
def test_switches_of_the_plant_stand_behind_those_of_the_law(monkeypatch):
    notes = SimpleNamespace(texts=["first", "second"])
    law = SimpleNamespace(
        notes=notes, words=lambda k, run: notes.texts[k], is_condition=lambda k: k == 1
    )
    monkeypatch.setattr(own_plant, "_words", lambda flow, k, run: f"{flow} {k}")
    both = own_plant.OnOwnPlant(law, "of the plant")
    assert [both.words(k, None) for k in range(4)] == [
        "first", "second", "of the plant 0", "of the plant 1"
    ]  # fmt: skip
    assert [both.is_condition(k) for k in range(3)] == [False, True, False]


# ---- questions that do not fit --------------------------------------------------------------------
PLANT = Linear(((-1.0,),), ((1.0,),), ((1.0,),))


def supplied(V="x0**2", box=(-1.0, 1.0), ball=0.1, **other):
    from small import Feedback

    loop = ClosedLoop(PLANT, Feedback(PLANT, ((1.0,),)))
    rigorous.supplied_asked(C.Supplied(V, {"x0": box}, ball, **other), loop)


@pytest.mark.parametrize(
    "given, begins",
    [
        ({"V": "x0**2 +"}, "V: cannot read the formula"),
        ({"V": "y**2"}, "V: formula 'y**2': unknown signal 'y'"),
        ({"box": (1.0, 1.0)}, "box: x0 from 1 to 1"),
        ({"box": ("1 m", 2.0)}, "box.x0: "),
        ({"ball": 1.0}, "ball: x0 = 0 ± 1 is not inside the box"),
        ({"ball": {"x0": "1 s"}}, "ball.x0: "),
        ({"centre": {"x0": 0.95}}, "ball: x0 = 0.95 ± 0.1 is not inside the box"),
        ({"parameters": {"gone": (0.0, 1.0)}}, "parameters: no number 'gone'"),
        ({"level": float("nan")}, "level: expected a number"),
    ],
)
def test_a_supplied_function_that_does_not_fit_is_refused_with_its_key(given, begins):
    with pytest.raises(InputError) as why:
        supplied(**given)
    assert begins in why.value.message


def test_a_supplied_function_that_fits_is_asked():
    assert supplied() is None and supplied(ball={"x0": 0.99}) is None
    assert Decaying().c == 0.5
