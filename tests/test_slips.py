"""Slips of a newcomer in a machine's file: what was written, where, what was expected, and how to mend it."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import plants
from workbench.cases.file import loads
from workbench.contract.errors import InputError
from workbench.sweep.falsify import asked
from workbench.verification.search.directions import directions

CRANE = (Path(plants.__file__).parent / "skeletons" / "crane.yaml").read_text("utf-8")
LIFT = "plant.actuators.lift.drive"
SLIPS = [
    ("bore: 80 mm", "bore: 80", f"{LIFT}.cylinder.bore", "in m: write it as in 80 mm"),
    ("stroke: 0.56 m", "stroke: 560", f"{LIFT}.cylinder.stroke", "without a unit it is in m"),
    ("p_s: 180 bar", "p_s: 180", "plant.supply.p_s", "in Pa: write it as in 185 bar"),
    ("Q_max: 60 l/min", "Q_max: 60", "plant.supply.Q_max", "in m^3/s: write it as in 40 l/min"),
    (
        "closed: 0.85 m",
        "closed: 1.4 m",
        "plant.actuators.lift",
        "change closed (0.9307 m puts the start into the middle of the stroke)",
    ),
    ("closed: 0.85 m", "closed: 0.5 m", f"{LIFT}.closed", "less than the stroke, 0.56 m"),
    ("law: VDC ", "law: VCD ", "controller.law", "there is no law 'VCD' here"),
    ("type: ServoCylinder", "type: Cylinder", f"{LIFT}.type", "did you mean ServoCylinder?"),
    ("between: [ground.lift, boom.rod]", "body: boom", "plant.actuators.lift.body", "mean joint?"),
    (
        "between: [ground.lift, boom.rod]",
        "joint: boom",
        LIFT,
        "on the revolute joint of boom\n  mend: write 'joint: prismatic' at boom",
    ),
]


@pytest.mark.quick
@pytest.mark.parametrize(("right", "slip", "key", "words"), SLIPS)
def test_a_slip_is_named_at_its_line_with_what_mends_it(right, slip, key, words):
    assert right in CRANE
    text = CRANE.replace(right, slip, 1)
    with pytest.raises(InputError) as caught:
        loads(text, "mine.yaml")
    why = caught.value
    first = text[: text.index(slip)].count("\n") + 1
    assert why.key == key and words in str(why)
    assert abs(first - why.line) <= 4  # a part is named at its own line


@pytest.mark.quick
def test_sizes_with_their_units_are_taken():
    assert loads(CRANE, "mine.yaml").plant.supply.Q_max == pytest.approx(1e-3)


@pytest.mark.quick
def test_a_search_without_a_range_is_told_one_of_its_own_machine():
    case = loads(CRANE, "mine.yaml")
    with pytest.raises(InputError) as caught:
        asked(case, SimpleNamespace(over=[], budget=None, seed=None))
    told = re.search(r"--over '([^']+)'", caught.value.mend)[1]
    assert told == "bodies.arm.mass=45 kg..135 kg"
    claim = asked(case, SimpleNamespace(over=[told], budget=5, seed=None))
    assert directions(case.loop, case.scenario, claim.over)
