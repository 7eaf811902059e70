"""Which law serves which drive, and that laws with the same gain take it, and its default, from one place."""

from dataclasses import fields

import pytest

from controllers import VDC
from controllers.vdc.parts import PARTS, SERVED
from workbench.contract.parameters import field_infos


def test_every_kind_of_drive_is_served_by_one_part():
    assert len(set(SERVED)) == len(SERVED)
    for kind in PARTS:
        assert kind.serves, f"{kind.__name__} serves no drive"


@pytest.mark.parametrize("kind", PARTS, ids=lambda kind: kind.__name__)
def test_a_part_takes_the_gains_of_the_law_that_are_its_fields(kind):
    own = [field.name for field in fields(kind)]
    assert own == ["label", "drive", *kind.takes]
    assert set(kind.takes) <= {field.name for field in fields(VDC)}


def test_gains_of_the_same_name_have_the_same_unit_meaning_bound_and_default():
    ours, theirs = field_infos(VDC), field_infos(VDC)
    defaults = {field.name: field.default for field in fields(VDC)}
    for field in fields(VDC):
        assert ours[field.name] == theirs[field.name]
        assert field.default == defaults[field.name]
