"""The study of planned and driven energy: its findings on a part of the plans, coarser, and that a spoilt one is refused."""

from dataclasses import replace

import pytest

from reports.studies import nurmi17
from workbench.sweep import Table

FEW = {
    "path.points": ("low", "near"),
    "crane.object.mass": ("237 kg", "535 kg"),
    "crane.change": ("as built", "larger extension"),
}
COARSE = {"steps": (30,), "search.nodes": (105,), "search.finest": ("0.5 mm",)}


@pytest.fixture(scope="module")
def found():
    return nurmi17.results(
        ("PID",), axes=FEW | COARSE, planners=(nurmi17.WEIGHTED, nurmi17.FLOW), jobs=1
    )


def test_nurmi17(found):
    nurmi17.check(found)
    assert len(found.table) == 16 and len(nurmi17.ASKED.grid) == 72


def spoilt(found, name, row, factor):
    """The findings with one number of the table exchanged."""
    columns = [replace(c, values=c.values.copy()) for c in found.table.columns]
    (column,) = [c for c in columns if c.name == name]
    column.values[row] *= factor
    return replace(found, table=Table(tuple(columns), found.table.about))


def metered(found):
    key = ("PID", "optimum")
    drive = found.drives[key]
    account = replace(drive.account, metered=0.8 * drive.account.metered)
    return replace(found, drives=found.drives | {key: replace(drive, account=account)})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: spoilt(r, "dynamic programming.energy", 0, 1.05),
        lambda r: spoilt(r, f"{nurmi17.WEIGHTED}.energy", 1, 0.8),
        lambda r: spoilt(r, f"{nurmi17.WEIGHTED}.energy", 4, 1 + 1e-12),
        lambda r: spoilt(r, f"{nurmi17.FLOW}.energy", 2, 0.93),
        lambda r: spoilt(r, "dynamic programming.creeping", 3, 0.1),
        metered,
    ],
    ids=["optimum", "range", "load", "one step ahead", "creeping", "meter"],
)
def test_what_the_study_says_can_be_false(found, spoil):
    with pytest.raises(AssertionError):
        nurmi17.check(spoil(found))


def test_a_load_that_the_line_cannot_hold_is_no_plan_and_no_fault(found):
    """Of a pseudo-inverse, which looks at no load; the optimum has to go round it."""
    row = int(
        (
            found.where(supply="constant pressure") & (found.table["crane.object.mass"] > 300)
        ).argmax()
    )
    nurmi17.check(spoilt(found, f"{nurmi17.WEIGHTED}.energy", row, float("nan")))
    with pytest.raises(AssertionError):
        nurmi17.check(spoilt(found, f"{nurmi17.BEST}.energy", row, float("nan")))


def test_it_is_told_and_drawn(found, tmp_path):
    from reports.studies.nurmi17_shown import draw, inside, text

    said = text(found)
    assert "low, 237, as built, constant pressure" in said and "within the paper's range" in said
    assert "PID, optimum: planned" in said
    over = found.over(nurmi17.WEIGHTED)[found.where(supply="constant pressure")]
    assert 0 < inside(over) < len(over) == 8
    draw(found, tmp_path / "n.svg")
    picture = (tmp_path / "n.svg").read_text()
    assert picture.startswith("<?xml") and len(picture) > 1e4
