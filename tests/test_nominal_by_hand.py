"""The undisturbed run that practical stability is held against, from what others say of it, without a run."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.practical import nominal as module
from workbench.verification.practical.nominal import Nominal, nominal_run, why_unsound

ONE = SimpleNamespace(bound=None, settle=0.3)


def a_run(e=(0.5, 0.001, 0.004), left=(math.inf, ""), unit="m"):
    return SimpleNamespace(
        loop="loop",
        left=left,
        tool_error=None if e is None else np.array(e),
        error_unit=unit,
        settled=lambda after: np.array([False, True, True]) if after == 3.0 else None,
    )


@pytest.fixture
def told(monkeypatch):
    """A law with an accompanying function: 0.7 J once it has settled, 0.9 J where it walks; nothing swings."""
    own = a_run()
    monkeypatch.setattr(module, "has_ledger", lambda loop: True)
    monkeypatch.setattr(module, "walking", lambda run, settle: ("walks", settle))
    monkeypatch.setattr(
        module, "settled_storage", lambda run, settle: (0.7 if run is own else 0.9, settle, "tip")
    )
    monkeypatch.setattr(module, "storage_floor", lambda run: 2.0)
    monkeypatch.setattr(module, "restless", lambda run: "")
    return own


def test_a_law_without_a_function_has_no_bound_that_we_set(monkeypatch):
    monkeypatch.setattr(module, "has_ledger", lambda loop: False)
    found = nominal_run(ONE, a_run())
    assert math.isnan(found.v) and math.isnan(found.t) and math.isnan(found.bound)
    assert (found.cause, found.stated, found.unsound) == ("", True, "")
    assert found.text == "practically stable: back on its path from other starts"


def test_a_bound_is_ten_times_what_is_left_where_the_run_walks(told):
    found = nominal_run(ONE, told)
    assert found == Nominal(0.9, 0.3, "tip", 9.0, False, "")
    assert found.text == "practically stable, v ≤ 9 J, back on its path from other starts"


def test_a_bound_is_no_less_than_what_can_be_told(told, monkeypatch):
    monkeypatch.setattr(module, "storage_floor", lambda run: 20.0)
    assert nominal_run(ONE, told).bound == 20.0


def test_a_bound_that_is_stated_is_taken_of_the_whole_run(told):
    found = nominal_run(SimpleNamespace(bound=0.25, settle=0.4), told)
    assert found == Nominal(0.7, 0.4, "tip", 0.25, True, "")


@pytest.mark.parametrize(
    "bound, left, unsound",
    [
        (None, "", "swings"),
        (None, "gone after 2 s", ""),  # of a run that ends early nothing more is asked
        (4.0, "", ""),
        (4.0, "gone after 2 s", ""),
    ],
)
def test_no_bound_is_set_on_a_run_that_swings(told, monkeypatch, bound, left, unsound):
    monkeypatch.setattr(module, "restless", lambda run: "swings")
    told.left = (1.0, left)
    assert nominal_run(SimpleNamespace(bound=bound, settle=0.3), told).unsound == unsound


@pytest.mark.parametrize(
    "e, why",
    [
        ((0.5, 0.001, 0.004), ""),
        ((0.0, 0.021, 0.0), "error 21 mm"),  # the largest once the run has settled
        ((0.0, 0.0, 0.019), ""),
        (None, ""),
    ],
)
def test_a_tool_far_off_is_no_run_to_hold_others_against(monkeypatch, e, why):
    monkeypatch.setattr(module, "restless", lambda run: "")
    assert why_unsound(a_run(e)) == why


def test_a_swing_comes_before_a_tool_far_off(monkeypatch):
    monkeypatch.setattr(module, "restless", lambda run: "swings")
    assert why_unsound(a_run((1.0, 1.0, 1.0))) == "swings"
