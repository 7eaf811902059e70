"""The study of planned and driven energy: its findings on a part of the cases, and that a spoilt one is refused."""

from dataclasses import replace

import pytest

from reports.studies import nurmi17


@pytest.fixture(scope="module")
def found():
    return nurmi17.results(("low", "near, 60 kg more"), ("PID",))


def test_nurmi17(found):
    nurmi17.check(found)
    assert [row.supply for row in found.rows] == ["ConstantPressure", "LoadSensing"] * 2


def spoilt_row(found):
    return replace(found, rows=(found.rows[0]._replace(best=1.05 * found.rows[0].best), *found.rows[1:]))


def spoilt_meter(found):
    key = ("PID", "optimum")
    drive = found.drives[key]
    account = replace(drive.account, metered=0.8 * drive.account.metered)
    return replace(found, drives=found.drives | {key: replace(drive, account=account)})


@pytest.mark.parametrize("spoil", [spoilt_row, spoilt_meter])
def test_what_the_study_says_can_be_false(found, spoil):
    with pytest.raises(AssertionError):
        nurmi17.check(spoil(found))
