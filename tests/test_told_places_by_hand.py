"""What is told beside a verdict, by hand: rows of a table, whose v is the largest, the state at which a cost rises, what strays."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.practical.decision import of_storage
from workbench.verification.practical.later import stray
from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.predictive.terminal_claims import terminal_cost
from workbench.verification.results.arrays import excluded
from workbench.verification.rigorous import pictures
from workbench.verification.verdict import Verdict
from workbench.verification.verdicts import COLOURS, _line


# ---- rows of a table -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("holds, word", [(True, "holds"), (False, "violated"), (None, "undecided")])
@pytest.mark.parametrize("counted", [True, False])
def test_the_answer_has_its_colour_and_claims_for_information_are_pale(holds, word, counted):
    one = Verdict("k", "a < b", holds, None if holds is None else "sampled", counted=counted)
    found = _line(("a < b", word, "why"), one)
    pale = "" if counted else " style='opacity:0.6'"
    left = "<td style='text-align:left'>"
    answer = f"<td style='color:{COLOURS[word]};font-weight:600'>{word}</td>"
    assert found == f"<tr{pale}>{left}a &lt; b</td>{answer}{left}why</td></tr>"


# ---- whose v is the largest ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "v, told",
    [
        ((1.0, 3.0, 2.0), "3 J at t = 2.00 s, tip"),
        ((1.0, 2.0, 1.5), "2 J at t = 9.00 s, spool"),
        ((1.0, 1.5, 1.25), "2 J at t = 9.00 s, spool"),
        ((2.5, 2.25, 2.0), "2.5 J at t = 1.00 s, push"),
    ],
)
def test_the_largest_v_is_told_with_its_cause_and_the_nominal_run_comes_first(v, told):
    outcomes = [
        SimpleNamespace(v=one, t=k + 1.0, cause=cause)
        for k, (one, cause) in enumerate(zip(v, ("push", "tip", "load")))
    ]
    known = SimpleNamespace(v=2.0, t=9.0, cause="spool", bound=2.5, stated=False)
    said = lambda holds, worst, **more: (holds, worst, more)
    holds, worst, more = of_storage(known, outcomes, said, {"kept": 1}, "slowest", "none")
    largest = max(2.0, *v)
    assert holds is (largest <= 2.5) and more["margin"] == 2.5 - largest and more["limit"] == 2.5
    assert worst == f"{told}; 3 other starts, bound set on the nominal run; slowest"
    assert more["assumptions"] == "none" and more["unit"] == "J" and more["data"] == {"kept": 1}
    known.stated = True
    assert of_storage(known, outcomes, said, {})[1] == f"{told}; 3 other starts, bound stated"


# ---- where a terminal cost rises -------------------------------------------------------------------------------------------
def test_the_state_at_which_a_terminal_cost_rises_is_told():
    """x⁺ = diag(0.5, 0.9) x, ℓ = |x|², P = diag(4, 1): of the second state P − 0.81 P − 1 = −0.81."""
    A, B, Q = np.diag([0.5, 0.9]), np.zeros((2, 1)), np.eye(2)
    none, K = np.zeros((0, 2)), np.zeros((1, 2))
    S = np.zeros((2, 1))
    one = TerminalIngredients(
        A, B, Q, np.eye(1), np.diag([4.0, 1.0]), K, 1, none, np.zeros((0, 1)), np.zeros(0), S=S
    )
    found = terminal_cost(one)
    assert found.holds is False and found.margin == pytest.approx(-0.81)
    x = found.data["x"]
    assert np.abs(x) == pytest.approx([0.0, 1.0])
    assert found.worst == "rises against ℓ at x = " + np.array2string(np.array(x), precision=6)


# ---- what strays -----------------------------------------------------------------------------------------------------------
def test_what_was_no_number_at_one_instant_of_the_run_says_nothing():
    within = lambda t: [math.nan if t == 0.0 else 1.0, 1.0]
    answer = lambda t: np.array(within(t) if t <= 10.0 else [5.0, 1.0])
    assert stray.stray(answer, 10.0, ("a", "b")) == ""
    other = lambda t: np.array(within(t) if t <= 10.0 else [5.0, math.nan])
    assert "b does what it did at no time" in stray.stray(other, 10.0, ("a", "b"))


# ---- circles ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("α", [0.4, 1.0, 1.9])
def test_the_circle_that_a_disk_margin_excludes_goes_through_both_gains(α):
    """−1/f at f = (1 + α/2)/(1 − α/2) and at its inverse, on the real axis; none where the disk reaches further."""
    centre, radius = excluded(α)
    f = (1 + α / 2) / (1 - α / 2)
    assert (centre + radius, centre - radius) == (pytest.approx(-1 / f), pytest.approx(-f))
    assert centre == pytest.approx(-(1 + α**2 / 4) / (1 - α**2 / 4))
    assert excluded(0.0) is None is excluded(2.0) and excluded(-0.1) is None


@pytest.mark.parametrize("centre, high", [((0.0, 0.0, 0.0), 1.0), ((0.125, -0.25, 0.5), 1.5)])
def test_the_edge_of_a_level_is_found_between_two_neighbours_on_a_ray(centre, high):
    """V = x² + y² + z at z of the centre: off the circle by h²/4 of a chord between neighbours, h apart on the ray."""
    box = {"x": (-1.0, high), "y": (-1.0, 1.0), "z": (0.0, 1.0)}
    data = {
        "V": "x**2 + y**2 + z",
        "box": box,
        "centre": dict(zip(box, centre)),
        "units": dict.fromkeys(box, "m"),
        "level": 0.25 + centre[2],
    }
    run = SimpleNamespace(log={})
    found = pictures._level_set(run, Verdict("supplied", "c", None, data=data))
    boundary = np.array(found["boundary"])
    radius = np.hypot(*boundary.T)
    step = 2.0 * np.hypot(1.0, high) / (pictures.STEPS - 1)
    assert np.abs(radius - 0.5).max() <= step**2 / 4 and len(radius) == pictures.POINTS
    assert found["x"] == "x" and found["y"] == "y" and found["unit_x"] == "m"
