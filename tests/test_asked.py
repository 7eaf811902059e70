"""Claims that a loop cannot be asked are refused as the file is read, at their line, by the function that the class names."""

from typing import get_args

import pytest

from workbench import InputError
from workbench.cases.file import loads
from workbench.verification.claims import Claim
from workbench.verification.named_functions import check_asked, function

SERVO = "plant: ieha-published-linear\n"
CRANE = "plant: hiab-xs031\ncontroller: {law: PID}\n"
WRONG = {
    "LinearStability": (SERVO, "linear-stability: {at: {nope: 1}}", "nope"),
    "RobustStability": (SERVO, "robust-stability: {box: {nope: [1, 2]}}", "no number 'nope'"),
    "MPCStability": (SERVO, "mpc-stability: true", "not predictive"),
    "CostDecrease": (SERVO, "cost-decrease: true", "not predictive"),
    "Solves": (SERVO, "solves: true", "not predictive"),
    "Sector": (SERVO, "sector: {at: {nope: 1}}", "nope"),
    "RegionOfAttraction": (SERVO, "region-of-attraction: {contains: {nope: 1}}", "nope"),
    "Tube": (SERVO, "tube: {starts: {nope: 1}}", "nope"),
    "Settled": (CRANE, "settled: {floor: 3 bar}", "floor"),
    "PracticalStability": (CRANE, "practical-stability: {bound: 1 J}", "no accompanying function"),
    "Probability": (
        SERVO,
        "probability: {of: always (tool_error < 5 mm), at_most: 0.1, over: {nope: {uniform: [0, 1]}}}",
        "nope",
    ),
    "Sensitivity": (SERVO, "sensitivity: {of: [nope]}", "nope"),
}
ELSEWHERE = {"Supplied"}  # tests/test_supplied_claims.py


def test_every_claim_that_asks_is_tried():
    asking = {cls.__name__ for cls in get_args(Claim) if cls.asked}
    assert asking == set(WRONG) | ELSEWHERE
    assert all(callable(function(cls.asked)) for cls in get_args(Claim) if cls.asked)


@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused_at_its_line(name):
    case, claim, words = WRONG[name]
    text = f"{case}claims:\n  {claim}\n"
    with pytest.raises(InputError, match=words) as refused:
        loads(text, "case.yaml")
    assert refused.value.line == len(text.splitlines())
    assert refused.value.key.startswith("claims.")


def test_what_any_loop_can_be_asked_is_not_looked_at():
    free = [cls for cls in get_args(Claim) if not cls.asked and cls.__name__ == "Tracking"]
    check_asked(free[0](), None)
