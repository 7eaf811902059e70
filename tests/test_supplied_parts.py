"""A supplied certificate's judge and search beside each other: which questions are asked, in which order, and what is said."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, InputError, Sampled, Saturated, Scenario
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.linear.data_margin import NEUTRAL
from workbench.verification.rigorous import supplied_judge
from workbench.verification.rigorous.supplied import check_supplied
from workbench.verification.rigorous.supplied_judge import CHANGES, Judge, _claim
from workbench.verification.rigorous.supplied_search import BATCH, SHOTS

LOW, HIGH, CENTRE = np.array([-1.0, -2.0, 0.3]), np.array([3.0, 4.0, 0.7]), np.array([0.5, 1.0])


def judge(**changes):
    """A judge over two states and one input that varies, whose answers are given."""
    made = object.__new__(Judge)
    motion = SimpleNamespace(
        period=None,
        varying=("load",),
        held={"wind": 2.5},
        curved=None,
        bear=lambda change: made.borne.append(change),
        V=SimpleNamespace(plain=lambda a, b: (np.array([-1e-9]), np.array([1e-9]), None)),
    )
    given = {
        "motion": motion,
        "n": 2,
        "low": LOW,
        "high": HIGH,
        "c": CENTRE,
        "r": np.array([0.1, 0.2]),
        "labels": ("x", "y", "load"),
        "budget": 400,
        "progress": "bar",
        "change": NEUTRAL,
        "core": None,
        "borne": [],
        "_edge_level": lambda: 5.0,
        "_ball_level": lambda: 0.25,
        "_core": lambda: "core",
        "_shots": lambda: np.zeros((0, 3)),
        "_example": lambda *given: None,
        "_search": lambda top, γ: ("proved", 7, None),
        "_reached": lambda γ: (False, None),
    }
    for name, value in (given | changes).items():
        object.__setattr__(made, name, value)
    return made


def test_a_proof_names_its_levels_and_what_it_bears():
    asked = []

    def search(top, γ):
        asked.append((top, γ))
        return "proved", 7, None

    found = judge(_search=search).verdict("x² + y²", "a box", None)
    assert found.holds is True and found.strength == "proof" and found.unit == "1"
    assert asked[0] == (np.inf, 5.0) and found.limit == NEUTRAL and found.margin == CHANGES[-1]
    assert found.data["level"] == 5.0 and found.data["ball"] == 0.25 and found.data["boxes"] == 7
    assert found.worst.startswith("starts with V ≤ 5 go to V ≤ 0.25; 7 sub-boxes; ")
    stated = judge(_search=search).verdict("V", "a box", 3.0)
    assert asked[-1] == (3.0, 3.0) and stated.data["level"] == 3.0
    assert "where V ≤ 3" in stated.claim and "V̇ < 0" in stated.claim
    one = judge(_search=lambda top, γ: ("proved", 1, None)).verdict("V", "a box", None)
    assert "; 1 sub-box; " in one.worst
    texts = [note.text for note in found.assumptions]
    assert texts == ["load stays in [0.3, 0.7]", "inputs stay at wind = 2.5"]


@pytest.mark.parametrize("works, most", [(0, NEUTRAL), (1, CHANGES[0]), (2, CHANGES[1])])
def test_how_much_change_of_the_data_the_search_still_proves(works, most):
    """With twice the boxes and a batch, one change after the other, and everything as it was afterwards."""
    made = judge()
    seen = []

    def search(top, γ):
        seen.append((made.change, made.budget, made.core, made.progress))
        return ("proved" if len(seen) <= works else "left"), 9, None

    object.__setattr__(made, "_search", search)
    assert made._more(8.0, 5.0, 11) == most
    tried = CHANGES[: min(works + 1, len(CHANGES))]
    assert [s[0] for s in seen] == list(tried) and made.borne == [*tried, NEUTRAL]
    assert all(s[1:] == (2 * 11 + BATCH, "core", None) for s in seen)
    assert (made.budget, made.progress, made.change) == (400, "bar", NEUTRAL)
    high = judge(_ball_level=lambda: 5.0)
    assert high._more(8.0, 5.0, 11) == NEUTRAL and high.borne == [CHANGES[0], NEUTRAL]


AT = np.array([3.0, 1.5, 0.5])


@pytest.mark.parametrize(
    "reached, holds, words", [(True, False, "reaches"), (None, None, "may reach")]
)
def test_a_level_that_reaches_the_edge_of_the_box(reached, holds, words):
    same = judge(_ball_level=lambda: 5.0).verdict("V", "a box", None)
    assert same.holds is None and same.strength is None and same.data == {"ball": 5.0, "level": 5.0}
    found = judge(_reached=lambda γ: (reached, AT)).verdict("V", "a box", 2.0)
    assert found.holds is holds and f"{{V ≤ 2}} {words} the boundary" in found.worst
    assert found.data["at"] == {"x": 3.0, "y": 1.5, "load": 0.5} and found.data["level"] == 2.0


@pytest.mark.parametrize("reached, holds", [(True, False), (None, None), (False, None)])
def test_a_box_on_whose_edge_no_level_is_positive(reached, holds):
    zero = judge(_edge_level=lambda: 0.0, _reached=lambda γ: (reached, AT))
    found = zero.verdict("V", "a box", None)
    assert found.holds is holds and found.data["level"] == 0.0
    assert (" at x = 3, y = 1.5" in found.worst) is bool(reached)


@pytest.mark.parametrize(
    "a, b, holds", [(0.1, 0.2, False), (-0.2, -0.1, False), (-0.1, 0.0, True), (0.0, 0.1, True)]
)
def test_v_at_the_centre_is_asked_first(a, b, holds):
    made = judge()
    asked = []

    def plain(low, high):
        asked.append((low.tolist(), high.tolist()))
        return np.array([a]), np.array([b]), None

    made.motion.V = SimpleNamespace(plain=plain)
    found = made.verdict("V", "a box", None)
    assert found.holds is holds and asked == [([[0.5, 1.0, 0.3]], [[0.5, 1.0, 0.7]])]
    if not holds:
        assert found.worst == f"V at the centre is not 0: between {a:g} and {b:g}"
        assert found.data["at"] == {"x": 0.5, "y": 1.0}


def test_an_example_and_boxes_that_are_left():
    at = np.array([1.0, 2.0, 0.5])
    tried = judge(_example=lambda *given: (at, "V ≤ 0")).verdict("V", "a box", None)
    assert tried.holds is False and tried.worst == "V ≤ 0 at x = 1, y = 2, load = 0.5"
    assert tried.data["boxes"] == 0 and tried.data["at"]["y"] == 2.0
    lows = np.arange(30.0).reshape(10, 3)
    found = judge(_search=lambda top, γ: ("left", 50, (lows, lows + 2))).verdict("V", "a box", None)
    assert (
        found.holds is None
        and found.worst == "10 sub-boxes left of 50, one around x = 1, y = 2, load = 3"
    )
    assert len(found.data["left"]) == 8 and found.data["left"][1]["y"] == [4.0, 6.0]


@pytest.mark.parametrize("edge", [4.0, -4.0])
@pytest.mark.parametrize("period, share", [(None, 1e-9), (0.1, 1e-3)])
def test_the_level_that_the_box_allows(monkeypatch, period, share, edge):
    """The least V on its faces, or what curvature proves round the centre if that is more; a little less, of either sign."""
    asked, rooms = [], []

    def least(V, low, high, budget):
        asked.append(budget)
        return edge

    def outside(low, high, c, room):
        rooms.append(room)
        return 7.0

    monkeypatch.setattr(supplied_judge, "least", least)
    monkeypatch.setattr(supplied_judge, "faces", lambda low, high, n: (low, high))
    made = judge()
    object.__delattr__(made, "_edge_level")
    made.motion.period = period
    assert made._edge_level() == pytest.approx(edge - share * 4.0, rel=1e-12) and asked == [100]
    made.motion.curved = [SimpleNamespace(outside=outside)]
    assert made._edge_level() == pytest.approx(7.0 * (1 - share), rel=1e-12)
    assert rooms[0] == pytest.approx([1.5, 3.0]) and (rooms[0] < [1.5, 3.0]).all()


def test_what_is_asked_as_a_sentence():
    motion = SimpleNamespace(period=0.1, held={})
    said = _claim(motion, 4, "v" * 61, "a box", None)
    assert said.startswith("the V supplied > 0 and ΔV < 0 on a box of 4 states minus the ball; ")
    assert _claim(motion, 3, "v" * 60, "a box", None).startswith("v" * 60 + " > 0")
    assert "on a box minus" in _claim(motion, 3, "V", "a box", None)


def test_points_that_are_tried_first():
    """In the box round the centre, half as far each time, and along the directions in which V bends, both ways."""
    made = judge()
    object.__delattr__(made, "_shots")
    shots = made._shots()
    assert shots.shape == (6 * SHOTS, 3)
    away = shots[:, :2] - CENTRE
    assert (shots >= LOW).all() and (shots <= HIGH).all() and np.ptp(shots[:, 2]) > 0.3
    assert np.abs(away[SHOTS:]).max() <= 1.5 and np.abs(away[-SHOTS:]).max() <= 3 / 32
    assert np.abs(away[-SHOTS:]).max() > 2.5 / 32
    own = np.array([[0.2, -0.4]])
    made.motion.curved = [SimpleNamespace(bends=lambda low, high, c: own)]
    more = made._shots()[:, :2] - CENTRE
    for s in 0.5 ** np.arange(6):
        assert (np.abs(more - s * own).max(axis=1) < 1e-12).any()
        assert (np.abs(more + s * own).max(axis=1) < 1e-12).any()


# ---- laws that change with time -----------------------------------------------------------------
@dataclass(frozen=True)
class Turning(Feedback):
    """u = −2 (1 − a sin 3t) y: what it does repeats, and at its first instant it is u = −2 y."""

    a: float = 0.0

    def command(self, t, z, y, r):
        return [-2.0 * y[0] * (1 - self.a * np.sin(3 * t))]


PLANT = Linear(((0.3,),), ((1.0,),), ((1.0,),))
WRAPS = [lambda law: law, lambda law: Sampled(law, 0.05)]


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_law_that_changes_with_time_is_not_judged_by_its_first_instant(wrap):
    loop = lambda a: ClosedLoop(PLANT, wrap(Turning(PLANT, ((2.0,),), a=a)))
    asked = lambda a: check_supplied("x0**2", loop(a), {"x0": (-1.0, 1.0)}, 0.1)
    assert asked(0.0).holds is True
    with pytest.raises(InputError, match="the loop depends on time explicitly"):
        asked(1.6)


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("a, holds", [(0.0, True), (1.6, None)])
def test_limits_of_a_law_that_changes_with_time_are_not_those_of_its_first_instant(wrap, a, holds):
    law = Saturated(Turning(PLANT, ((2.0,),), a=a), -1.0, 1.0)
    sector = C.Sector(place="limit", low=0.3, high=1.0)
    found = verify(ClosedLoop(PLANT, wrap(law)), Scenario(2.0), [C.RegionOfAttraction(), sector])
    assert [v.holds for v in found] == [holds, holds]
    assert all(("changes with time itself" in v.worst) is (holds is None) for v in found)


@dataclass(frozen=True)
class Softening(Linear):
    """ẋ = (0.3 + a sin 3t) x + u."""

    a: float = 0.0

    def rhs(self, t, x, u):
        return [(0.3 + self.a * np.sin(3 * t)) * x[0] + u[0]]


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("a, b", [(0.0, 0.0), (1.6, 0.0), (0.0, 1.6)])
def test_margins_of_a_loop_that_changes_with_time_are_not_those_of_one_instant(wrap, a, b):
    """A gain that goes to and fro, or a plant that does, has no gain margin."""
    plant = Softening(((0.3,),), ((1.0,),), ((1.0,),), x0=(0.0,), a=b)
    loop = ClosedLoop(plant, wrap(Turning(plant, ((2.0,),), a=a)))
    (found,) = verify(loop, Scenario(2.0, offset={"x0": 0.1}), [C.Linear()])
    assert found.holds is (None if a or b else True)
    assert ("changes with time itself" in found.worst) is bool(a or b)
