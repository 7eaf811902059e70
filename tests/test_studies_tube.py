"""The study of a tube holds, and its checks are not empty."""

from dataclasses import replace

import pytest

from reports.studies import tube


@pytest.fixture(scope="module")
def found():
    return tube.results(runs=8, faults=("supply of 20 bar",))


def test_tube(found):
    tube.check(found)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: replace(r, word="undecided"),
        lambda r: replace(r, strength="sampled"),
        lambda r: replace(r, rate=1.01 * r.own),
        lambda r: replace(r, rate=0.0),
        lambda r: replace(r, left=1),
        lambda r: replace(r, ratio=r.ratio | {"x_table": 0.99}),
        lambda r: replace(r, ratio=r.ratio | {"p_a_axis": 3.01}),
        lambda r: replace(r, wider="holds"),
        lambda r: replace(r, faults={"supply of 20 bar": "holds"}),
        lambda r: replace(r, changed=r.changed | {"error": True}),
    ],
)
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        tube.check(spoil(found))


def test_the_tube_and_the_runs_are_drawn(found, tmp_path):
    def drawn(made):
        picture = tmp_path / "tube.png"
        tube.draw(made, str(picture))
        return picture.read_bytes()

    own = drawn(found)
    assert drawn(found) == own
    assert drawn(replace(found, tube=2 * found.tube)) != own
    assert drawn(replace(found, hull=found.hull / 2)) != own
