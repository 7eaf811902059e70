"""Refusals around a column, shrinking, defaults of predictive laws and what a certificate bears, by hand: edges and exact words."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Hold, Sine
from workbench.verification import claims as C
from workbench.verification.linear import quadratic
from workbench.verification.linear.lyapunov import Certificate
from workbench.verification.predictive import defaults
from workbench.verification.search.shrink import HALVINGS, _nearer, shrunk
from workbench.verification.temporal.refusal import refusal, unknown

TEXT = "".join(chr(ord("a") + k % 26) for k in range(80))


# ---- the piece around a column -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "column, begin, end",
    [
        (1, 0, 30),
        (2, 0, 31),
        (31, 0, 60),
        (32, 1, 61),
        (50, 19, 79),
        (51, 20, 80),
        (80, 49, 80),
        (81, 50, 80),
    ],
)
def test_thirty_letters_to_either_side_of_a_column_are_repeated(column, begin, end):
    before = "…" if begin else ""
    after = "…" if end < 80 else ""
    why = refusal(TEXT, column, "a number", "write one")
    assert why.message == f"column {column}, in “{before}{TEXT[begin:end]}{after}”: a number"
    assert why.mend == "write one"


def test_nothing_is_repeated_of_an_empty_piece_and_spaces_are_one():
    assert refusal("   ", 2, "a word", "").message == "column 2: a word"
    assert refusal("a  b\n c", 2, "a word", "").message == "column 2, in “a b c”: a word"


def test_a_signal_that_there_is_not_is_told_with_the_nearest_or_with_all():
    why = unknown("presure < 1", 1, "presure", ["pressure", "tool_error", "x"])
    assert why.message == "column 1, in “presure < 1”: there is no signal 'presure'"
    assert why.mend == "did you mean pressure?"
    assert unknown("q", 1, "q", ["b_long", "a_long"]).mend == "choose from a_long, b_long"
    assert unknown("q", 1, "q", []).mend == "choose from none"


# ---- shrinking ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("edge", [0.1, 0.3, 0.51, 0.99])
def test_entries_shrink_together_to_just_above_what_still_violates(edge):
    """By bisection between nothing and where they are: never beyond it, at most 2^−6 above the edge."""
    place = np.array([0.5, -0.8, 0.25])
    tried = []

    def violates(x):
        tried.append(x.copy())
        return abs(x[0]) >= edge * 0.5

    found = _nearer(place, [0, 1], violates)
    share = found[0] / place[0]
    assert edge <= share <= min(1.0, edge + 2.0**-HALVINGS) and found[1] == share * place[1]
    assert found[2] == 0.25 and len(tried) == HALVINGS
    assert all(abs(x[0]) <= 0.5 for x in tried) and tried[0][0] == 0.25
    assert place.tolist() == [0.5, -0.8, 0.25]
    assert _nearer(place, [2], lambda x: False).tolist() == place.tolist()


def test_the_fewest_and_smallest_deviations_are_left():
    """The second alone violates from 0.25 on; the others are put back, the smallest first."""
    order = []

    def violates(x):
        order.append(x.tolist())
        return abs(x[1]) >= 0.25

    found = shrunk(np.array([0.5, -1.0, 0.125]), violates)
    assert order[:2] == [[0.5, -1.0, 0.0], [0.0, -1.0, 0.0]]
    assert found[0] == found[2] == 0.0 and -0.25 >= found[1] >= -0.25 * (1 + 2.0**-5)


# ---- defaults of a predictive law ------------------------------------------------------------------------------------------------
def about(jointed=False, linear=True, closed=True, reference=None, predictive=True, **other):
    law = SimpleNamespace(observer=None, terminal="set")
    given = {"scenario": SimpleNamespace(reference=reference, disturbances={})}
    return SimpleNamespace(
        predictive=law if predictive else None, jointed=jointed, linear=linear, closed=closed,
        loop="a loop", **given | other,
    )  # fmt: skip


@pytest.mark.parametrize(
    "loop, limited, asked",
    [
        ({}, True, True), ({}, False, False), ({"jointed": True}, True, False),
        ({"linear": False}, True, False), ({"closed": False}, True, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("predictive", [True, False])
def test_from_where_a_linear_loop_with_limits_comes_back_is_told_for_information(
    monkeypatch, loop, limited, asked, predictive
):
    saturates = lambda asked_of: asked_of == "a loop" and limited
    monkeypatch.setattr("workbench.verification.linear.limited_loop.saturates", saturates)
    unasked = []
    found = defaults.predictive_claims(about(**loop, predictive=predictive), unasked)
    regions = [claim for claim in found if isinstance(claim, C.RegionOfAttraction)]
    assert [claim.counted for claim in regions] == ([False] if asked else [])
    kinds = {type(claim).__name__ for claim in found} - {"RegionOfAttraction"}
    told = predictive and (loop.get("jointed") or not loop.get("linear", True))
    argued = {"Solves", "MPCStability", "CostDecrease"} if predictive else set()
    assert kinds == ({"Solves"} if told else argued)
    assert [key for key, _ in unasked] == (list(defaults.ARGUMENT) if told else [])


@pytest.mark.parametrize(
    "loop, why",
    [
        ({}, ""),
        ({"reference": Hold("output", (0.0,))}, ""),
        ({"scenario": None}, ""),
        ({"reference": Sine("output", 0.0, 1.0, 1.0)}, "a reference that stands still"),
        (
            {"scenario": SimpleNamespace(reference=None, disturbances={"f": 1.0})},
            "nothing disturbs",
        ),
        ({"jointed": True}, "about a linear plant"),
        ({"linear": False}, "about a linear plant"),
    ],
)
def test_why_the_argument_is_left_out(loop, why):
    found = defaults.left_out(about(**loop))
    assert why in found and bool(why) is bool(found)


def test_an_observer_and_a_missing_set_leave_the_argument_out():
    one = about()
    one.predictive.terminal = "cost"
    assert defaults.left_out(one) == defaults.NO_SET
    one.predictive.observer = "a filter"
    assert "estimates them" in defaults.left_out(one)


# ---- what a certificate bears --------------------------------------------------------------------------------------------------
def test_the_best_of_several_certificates_says_what_the_data_bear(monkeypatch):
    """One for each of three rates, at no rate, where a matrix is found; given alone only itself."""
    A = np.diag([-1.0, -2.0])
    asked = []

    def matrix(A, T, rate):
        asked.append((T, rate))
        return None if len(asked) == 2 else (1.0 + len(asked)) * np.eye(2)

    bears = {1.0: 1e-6, 2.0: 1e-3, 4.0: 1e-4}
    monkeypatch.setattr(quadratic, "lyapunov_matrix", matrix)
    monkeypatch.setattr(
        quadratic, "largest_change", lambda bears_of: bears[bears_of.__self__.P[0, 0]]
    )
    own = Certificate((A,), np.eye(2), None, 0.5)
    assert quadratic._bearable(own, True) == 1e-3
    assert asked == [(None, 0.0), (None, 0.15), (None, 0.35)]
    assert quadratic._bearable(own, False) == 1e-6 and len(asked) == 3
