"""Three controllers on one crane: the study holds on a part of its path, and its check is not empty."""

from dataclasses import replace

import pytest

from reports.studies import crane_controllers


@pytest.fixture(scope="module")
def found():
    return crane_controllers.results(legs=2, leg="3 s", settle="1 s", limits=False)


def test_crane_controllers(found):
    crane_controllers.check(found)


def entry(found, k, **changes):
    entries = list(found.entries)
    entries[k] = replace(entries[k], **changes)
    return replace(found, entries=tuple(entries))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: replace(f, notes=("another path",)),
        lambda f: entry(f, 0, nominal=f.entries[1].nominal),
        lambda f: entry(f, 1, nominal=replace(f.entries[1].nominal, settled=False)),
        lambda f: entry(f, 2, also=f.entries[0].also),
        lambda f: entry(f, 0, also=f.entries[2].also),
        lambda f: entry(f, 2, seconds=1e-6),
        lambda f: entry(
            f,
            2,
            verdicts=tuple(
                replace(v, holds=None) if v.key == "solves" else v for v in f.entries[2].verdicts
            ),
        ),
    ],
    ids=["alike", "order", "settled", "load", "slow", "seconds", "solves"],
)
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        crane_controllers.check(spoil(found))
