"""Changes by name from Python: the same words as in a case file, the same checks."""

import pytest

from plants import LuGre
from workbench import InputError, changed


def test_numbers_parts_and_all(crane):
    new = changed(
        crane,
        {
            "all.valve.lag": "ideal",
            "payload.mass": "50 kg",
            "lift.friction": {"law": "LuGre", "F_c": 2100.0},
            "tilt.stroke": 0.5,
        },
    )
    assert all(c.valve.lag == "ideal" for c in new.cylinders) and new.payload.mass == 50.0
    assert new.cylinders[0].friction == LuGre(F_c=2100.0) and new.cylinders[1].stroke == 0.5
    assert crane.payload.mass == 0.0 and crane.cylinders[0].valve.lag == "second"


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"lift.strok": 0.5}, "stroke"),
        ({"lift.stroke": "80 bar"}, "length"),
        ({"payload.mass": -1.0}, "mass"),
        ({"lift.stroke": 2.0}, "linkage"),
        ({"all.valve.lag": "third"}, "second"),
    ],
)
def test_what_cannot_be_is_refused_in_words(crane, changes, words):
    with pytest.raises(InputError, match=words):
        changed(crane, changes)


@pytest.mark.parametrize(
    "name, mend",
    [
        ("lift.strok", "did you mean lift.stroke?"),
        ("payload.weight", "payload has mass"),
        ("lift.valve.Q_n", "lift.valve has c_p1, c_n1, c_p2, c_n2, u_max, dead_band, "),
        ("all.valve.lagg", "did you mean all.valve.lag?"),
        ("all.zzz", "write the path as in the machine's own file"),
        ("nowhere.Q_n", "write the path as in the machine's own file"),
        ("paylod.mass", "did you mean payload.mass"),
    ],
)
def test_a_name_that_fits_nothing_is_mended_with_what_there_is(crane, name, mend):
    with pytest.raises(InputError, match="nothing called") as refused:
        changed(crane, {name: 1.0})
    assert refused.value.mend.startswith(mend)
