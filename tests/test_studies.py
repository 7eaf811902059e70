"""The literate studies hold, and their checks are not empty."""

from dataclasses import replace

import numpy as np
import pytest

from plants import machine
from reports.studies import petrovic22
from workbench.contract.parameters import bind


@pytest.fixture(scope="module")
def found():
    return petrovic22.results(legs=3, holds=(1.0, 2.0, 4.0))


def test_petrovic22(found):
    petrovic22.check(found)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: replace(r, forces=(r.forces[0], r.forces[1] * (1 + 1e-10))),
        lambda r: replace(
            r, rows=r.rows | {"monotone friction, ideal valve": r.rows["hold of 1 ms"]}
        ),
        lambda r: replace(
            r, rows=r.rows | {"valve of 100 Hz": replace(r.rows["valve of 100 Hz"], residual=1e-6)}
        ),
        lambda r: replace(r, holds=(r.holds[0], np.sqrt(r.holds[1]), r.holds[2])),
        lambda r: replace(r, slow=None),
    ],
    ids=["forces", "inequality", "identity", "order", "limit"],
)
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        petrovic22.check(spoil(found))


def test_energy_and_forces_are_independent_texts():
    """Equal for the same machine; one cylinder's case a tenth of a percent heavier in one of them shows."""
    crane = machine("hiab-xs031").plant.locked(extension=0.5)
    heavier = bind(
        crane,
        {"structures.tilt.revolute.case.mass": 1.001 * crane.structures[1].revolute.case.mass},
    )
    state = [-1.31, -1.72], [0.21, -0.37], [0.83, 1.27]
    right, wrong = (
        np.array(petrovic22.lagrange_forces(plant, *state)) for plant in (crane, heavier)
    )
    paper = np.array(crane.inverse_dynamics(*state)[0])
    np.testing.assert_allclose(paper, right, rtol=1e-12)
    assert np.abs(wrong - paper).max() > 1e-6 * np.abs(paper).max()
