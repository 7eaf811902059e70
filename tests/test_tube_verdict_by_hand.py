"""What follows from a tube that the checker accepts, and what is said of one that was not found, from numbers written down."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.tube import claim as claims
from workbench.verification.tube import end
from workbench.verification.tube import judged as module
from workbench.verification.verdict import Verdict

STATES, UNITS = ("q", "I", "p"), ("m", "1", "Pa")
SECTION = np.array([0, 2])
TOLD = {"e_q": "m", "e_s": "m", "e_φ": "rad", "tool_error": "m", "v": "J"}
LOW = np.array([[0.05, -1.0, 2e5], [0.15, -1.0, 1e5], [0.25, -1.0, 0.5e5]])  # of three nodes
HIGH = np.array([[0.15, 1.0, 3e5], [0.25, 1.0, 4e5], [0.35, 1.0, 2e5]])
LEAST = np.array([[-1e-3, -4e-3], [0.0, -1e-3], [0.0, 0.0]])
MOST = np.array([[0.0, 0.0], [5e-4, 0.0], [0.0, 2e-3]])
NOTHING = {"told": np.array([], str), "least": np.zeros(0), "most": np.zeros(0)}


def tube(after=(1, 2, 1), **other):
    """Three nodes, a section of q and p, half-widths that shrink; the last two repeat."""
    reach = np.zeros((3, 1, 3))
    reach[:, 0, 0] = 3e-3, 2e-3, 1e-3
    reach[:, 0, 2] = 4e4, 6e4, 5e4
    given = {
        "section": SECTION, "reach": reach, "after": np.array(after), "T": 0.02, "σ": 0.5, "states": 3,
        "z": np.array([[0.1, 1e5], [0.2, 2e5], [0.3, 3e5]]), "half": np.array([3e-3, 0.0, 0.0]),
        "low": np.array([0.05, -1.0, 0.5e5]), "high": np.array([0.35, 1.0, 4e5]),
        "told": np.array(["e_q", "e_s"]), "least": np.array([-1e-3, -4e-3]), "most": np.array([5e-4, 2e-3]),
        "splits": np.zeros((0, 3)),
    }  # fmt: skip
    return SimpleNamespace(**given | other)


def posed(c, **other):
    free = SimpleNamespace(names=[])
    given = {"tube": c, "states": STATES, "units": UNITS, "ends": "period", "left": {}}
    given |= {"conditions": (), "begins": 0.0, "told": TOLD}
    return SimpleNamespace(**given | {"free": free, "scale": np.array([0.2, 2e5])} | other)


# ---- what is shown -------------------------------------------------------------------------------------------
def test_rounding_is_no_width():
    reach = np.array([[1e-12, 2.0], [1e-2, 3.0], [1e-11, 4.0]])
    assert end.shown(reach).tolist() == [[0.0, 2.0], [1e-2, 3.0], [0.0, 4.0]]
    reach[2, 0] = 1.1e-11
    assert end.shown(reach)[2, 0] == 1.1e-11


def test_widths_at_both_ends_in_words():
    c = tube()
    reach = c.reach[:, 0, SECTION]
    assert (
        module.in_words(posed(c), c, reach)
        == "q within ± 3 mm at first, ± 1 mm at the end; error below 4 mm at every sample"
    )
    other = tube(half=np.array([0.0, 0.0, 2e4]), **NOTHING)
    assert (
        module.in_words(posed(other), other, reach)
        == "p within ± 0.4 bar at first, ± 0.5 bar at the end"
    )
    short = posed(other, ends="horizon", begins=1.0)
    assert module.in_words(short, other, reach).endswith(
        "; up to 1.04 s, the end of the run, and no longer"
    )
    fixed = tube(half=np.zeros(3), **NOTHING)
    assert module.in_words(posed(fixed), fixed, reach).startswith("q within")


@pytest.mark.parametrize(
    "names, sizes",
    [
        (("e_q", "e_s"), {("error", "m"): 4e-3}),
        (("e_s", "e_q"), {("error", "m"): 4e-3}),
        (("e_q", "e_φ"), {("error", "m"): 1e-3, ("error", "rad"): 4e-3}),
        (("e_q", "tool_error"), {("tool error", "m"): 4e-3}),
        (("v", "tool_error"), {("v", "J"): 1e-3, ("tool error", "m"): 4e-3}),
    ],
)
def test_what_is_told_of_samples_is_the_tool_s_error_or_the_largest_of_the_outputs(names, sizes):
    c = tube(told=np.array(names))
    assert module.sizes(c, TOLD) == sizes
    high = tube(told=np.array(names), least=np.zeros(2), most=np.array([1e-3, 4e-3]))
    assert module.sizes(high, TOLD) == sizes
    unknown = tube(told=np.array(names), most=np.array([1e-4, np.inf]))
    assert all(size == 1e-3 for size in module.sizes(unknown, TOLD).values())


def test_numbers_of_a_tube(monkeypatch):
    monkeypatch.setattr(module, "digests", lambda c: ("aa", "bb"))
    c = tube()
    found = module.told(posed(c), c, c.reach[:, 0, SECTION])
    assert found["time"] == pytest.approx([0.0, 0.02, 0.04])
    assert found["width"] == {"q": [3e-3, 2e-3, 1e-3], "p": [4e4, 6e4, 5e4]}
    assert found["centre"] == {"q": [0.1, 0.2, 0.3], "p": [1e5, 2e5, 3e5]}
    assert found["units"] == {"q": "m", "p": "Pa"}
    assert found["low"] == {"q": 0.05, "I": -1.0, "p": 0.5e5} and found["high"]["q"] == 0.35
    assert found["samples"] == 3 and found["digests"] == {"loop": "aa", "run": "bb"}


def test_bounds_of_a_tube_are_those_of_its_boxes_rounded_outward(monkeypatch):
    monkeypatch.setattr(module, "replace", lambda c, **new: SimpleNamespace(**vars(c) | new))
    sizes = np.array([[1.0, 5.0], [3.0, 4.0]])
    monkeypatch.setattr(module, "measured", lambda c: (-2 * sizes, sizes))
    low = np.array([[0.1, -2.0, 7.0], [0.2, -3.0, 6.0]])
    found = module.stated(tube(), SimpleNamespace(low=low, high=low + 1.0))
    assert found.low.tolist() == [np.nextafter(v, -np.inf) for v in (0.1, -3.0, 6.0)]
    assert found.high.tolist() == [np.nextafter(v, np.inf) for v in (1.2, -1.0, 8.0)]
    assert found.least.tolist() == [-6.0, -10.0] and found.most.tolist() == [3.0, 5.0]


# ---- the verdict -----------------------------------------------------------------------------------------------
@pytest.fixture
def decided(monkeypatch):
    """The verdict on a tube with a lap that returns to 0.4 of a ball of 0.5, and what is asked of it."""
    monkeypatch.setattr(module, "notes", lambda question: ())
    monkeypatch.setattr(module, "told", lambda question, c, reach: {"reach": reach})
    monkeypatch.setattr(module, "alike", lambda c: (SECTION, "wide"))
    monkeypatch.setattr(module, "measured", lambda c: (LEAST, MOST))

    def asked(c=None, within=(), returns=0.4, narrow=(), left=(), conditions=()):
        c = c or tube()
        monkeypatch.setattr(module, "bounds", lambda claim, loop: dict(within))
        told = lambda states, section, wide: list(narrow) if wide == "wide" else None
        monkeypatch.setattr(module, "narrowed", told)
        said = partial(Verdict, "tube", "text")
        seen = SimpleNamespace(returns=returns, low=LOW, high=HIGH)
        question = posed(c, conditions=conditions, left=dict(left))
        return module.decided(None, None, question, c, seen, said)

    return asked


def test_a_tube_is_a_proof_with_the_rate_of_its_lap(decided):
    verdict = decided()
    assert verdict.holds is True and verdict.strength == "proof"
    assert verdict.margin == pytest.approx(-math.log(0.8) / 0.04) and verdict.unit == "1/s"
    assert verdict.worst.startswith("q within ± 3 mm")
    assert verdict.data["reach"].tolist() == [[3e-3, 4e4], [2e-3, 6e4], [1e-3, 5e4]]


@pytest.mark.parametrize(
    "returns, holds",
    [(0.5 * (1 - 1e-8), True), (0.5 * (1 - 1e-10), None), (0.5, None), (0.6, None), (np.nan, None)],
)
def test_a_lap_that_brings_runs_no_closer_proves_nothing(decided, returns, holds):
    verdict = decided(returns=returns)
    assert verdict.holds is holds
    assert ("neutral to rounding" in verdict.worst) is (holds is None)


def test_a_tube_without_a_lap_has_no_rate_and_must_be_narrower_at_its_end(decided):
    verdict = decided(tube(after=(1, 2, -1)))
    assert verdict.holds is True and verdict.margin is None and verdict.unit == ""
    verdict = decided(tube(after=(1, 2, -1)), narrow=("runs are not closer in q",))
    assert verdict.holds is None and verdict.worst == "runs are not closer in q"
    assert decided(narrow=("runs are not closer in q",)).holds is True  # it has a lap


@pytest.mark.parametrize(
    "low, high, when",
    [
        (0.05, 0.35, ""),
        (0.0, 1.0, ""),
        (0.06, 1.0, "0 s"),
        (0.0, 0.34, "0.04 s"),
        (0.2, 0.3, "0 s"),
        (0.1, 0.2, "0.04 s"),
    ],
)
def test_a_state_that_may_leave_its_bounds_is_undecided(decided, low, high, when):
    """And it is told where it may be furthest beyond them."""
    verdict = decided(within={"q": (low, high)})
    assert verdict.holds is (None if when else True)
    text = "q is only known to stay between 50 mm and 0.35 m, furthest beyond at t = "
    assert not when or verdict.worst == text + when


def test_the_bounds_of_another_state_are_its_own(decided):
    assert decided(within={"p": (0.5e5, 4e5)}).holds is True
    worst = decided(within={"p": (0.5e5, 3.9e5)}).worst
    assert worst.startswith("p is only known to stay between 0.5 bar and 4 bar")
    assert worst.endswith("at t = 0.02 s")


@pytest.mark.parametrize(
    "high, holds", [(-0.2, True), (0.0, True), (1e-9, None), (np.inf, None), (np.nan, None)]
)
def test_a_condition_of_the_law_must_be_met_all_over_the_tube(decided, high, holds):
    c = tube(high=np.array([0.35, high, 4e5]))
    verdict = decided(c, conditions=("I",))
    assert verdict.holds is holds
    assert holds or "a limit of the law may become active: I" in verdict.worst
    assert decided(c).holds is True


@pytest.mark.parametrize(
    "low, high, when",
    [(-4e-3, 2e-3, ""), (-3.9e-3, 2e-3, "0 s"), (-4e-3, 1.9e-3, "0.04 s"), (-1.0, 1.0, "")],
)
def test_what_is_told_of_samples_has_bounds_on_both_sides(decided, low, high, when):
    verdict = decided(within={"e_q": (-1.0, 1.0), "e_s": (low, high)})
    assert verdict.holds is (None if when else True)
    text = "e_s is only known to stay between -4 mm and 2 mm, furthest beyond at t = "
    assert not when or verdict.worst == text + when


def test_a_bound_of_what_is_not_known_is_undecided_and_says_why(decided):
    verdict = decided(tube(**NOTHING), within={"e_q": (-1.0, 1.0)})
    assert verdict.holds is None
    assert verdict.worst == "e_q is not known: the run has no reference of its name"
    verdict = decided(
        within={"v": (0.0, 1.0)}, left={"v": "it depends on ζ, which no sample reads"}
    )
    assert verdict.worst == "v is not known: it depends on ζ, which no sample reads"


@pytest.mark.parametrize("holds, files", [(True, ["file"]), (None, []), (False, [])])
def test_only_what_holds_is_written(monkeypatch, holds, files):
    found = module.Found(Verdict("tube", "text", holds, "proof" if holds is not None else ""))
    monkeypatch.setattr(claims, "leaves", lambda claim, run: None)
    monkeypatch.setattr(claims, "judged", lambda claim, run, share: found)
    monkeypatch.setattr(claims, "expressed", lambda run: run)
    written = []
    monkeypatch.setattr(claims, "write", lambda path, c: written.append(path))
    claim = SimpleNamespace(parts={}, certificate="file", work=10)
    whole = claims.Whole(found.verdict, certificates=(tube(),))
    monkeypatch.setattr(claims.Whole, "of", lambda found: whole)
    assert claims.check_tube(claim, None) is found.verdict and written == files
    claim.certificate = ""
    claims.check_tube(claim, None)
    assert written == files


# ---- where there is none ------------------------------------------------------------------------------------------
def missed(**other):
    given = {
        "tube": tube(), "failed": 1, "why": "too wide", "ready": None,
        "seen": SimpleNamespace(
            added=np.array([[0.0, 0.0], [1e-3, 4e4], [0.0, 0.0]]), defect=np.zeros((3, 2))
        ),
    }  # fmt: skip
    return SimpleNamespace(**given | other)


def test_where_a_search_ended_and_what_is_largest_there():
    c = tube()
    found = missed(tube=c)
    text = "t = 0.02 s: too wide, most by what is added to p in a sample"
    assert module.reason(posed(c), found) == text  # 4/6 of p's width, 1/2 of q's
    c.splits = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    assert module.reason(posed(c), found) == f"{text}, where p may change its sign"
    c.splits = c.splits[:1]
    assert module.reason(posed(c), found) == text
    assert module.reason(posed(c), missed(seen=None, failed=2)) == "t = 0.04 s: too wide"
    c.reach[1, 0, 0] = found.seen.added[1, 0] = (
        0.0  # what has no width and to which nothing is added is no part of it
    )
    assert module.reason(posed(c), found).startswith(text)
    found.seen.added[1] = 0.0
    assert module.reason(posed(c), found) == "t = 0.02 s: too wide"


@pytest.mark.parametrize(
    "holds, told",
    [
        ((), "; nor does one from 0.01 times these starts"),
        ((0.01,), "; a tube does hold from 0.01 times these starts"),
        ((0.01, 0.1), "; a tube does hold from 0.1 times these starts"),
        ((0.01, 0.1, 0.3), "; a tube does hold from 0.3 times these starts"),
        ((0.1, 0.3), "; nor does one from 0.01 times these starts"),
    ],
)
def test_the_widest_of_smaller_starts_that_has_a_tube(monkeypatch, holds, told):
    sized = lambda ready, share, tick: SimpleNamespace(failed=None if share in holds else 0)
    monkeypatch.setattr(module, "sized", sized)
    found = missed(ready=SimpleNamespace(question=posed(tube())))
    assert module.smaller(found, None) == told
    found.ready.question.free.names = ["m"]
    assert module.smaller(found, None) == f"{told} and bounds"
    assert module.smaller(missed(), None) == ""
    assert module.smaller(missed(ready=found.ready, seen=None), None) == ""
