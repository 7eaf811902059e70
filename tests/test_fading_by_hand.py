"""Which numbers of a law's memory fade by themselves: powers of matrices that are known, and laws of both kinds."""

import math

import numpy as np
import pytest

from controllers import PID
from plants import LinearActuator
from workbench import ClosedLoop, Hold, Sampled, Scenario
from workbench.contract.system import names
from workbench.verification.practical.switches.fading import FORGOTTEN, forgotten
from workbench.verification.practical.switches.of_run import switches_of
from workbench.verification.run import run

EDGE = 1000 * (
    1 - FORGOTTEN ** (1 / 1000)
)  # a share of 1 − EDGE/1000 leaves FORGOTTEN after 1000 samples


@pytest.mark.parametrize(
    "share, fades",
    [
        (0.0, True),
        (1 - 1.001e-3 * EDGE, True),
        (1 - 0.999e-3 * EDGE, False),
        (1.0, False),
        (-0.9, True),
        (-1.0, False),
        (1.1, False),
        (math.nan, False),
    ],
)
def test_a_number_that_keeps_a_share_of_itself(share, fades):
    assert forgotten([np.array([[share]])], np.array([3.0]), 1000).tolist() == [fades]


def test_a_number_that_feeds_one_that_adds_up_does_not_fade():
    """z_1 fades and is added to z_2 on its way; z_3 follows z_2, and leads nowhere itself."""
    J = np.array([[0.5, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.2, 0.3]])
    assert forgotten([J], np.ones(3), 100).tolist() == [False, False, True]


def test_what_is_left_is_measured_by_the_ranges():
    """A thousandth of a small number, added to a large one, is next to nothing there; one without a range counts as of size 1."""
    J = np.array([[0.5, 0.0], [1.0, 1.0]])
    assert forgotten([J], np.array([1e-4, 1.0]), 100).tolist() == [True, False]
    assert forgotten([J], np.array([1e-2, 1.0]), 100).tolist() == [False, False]
    assert forgotten([J], np.array([1e-4, 0.0]), 100).tolist() == [True, False]


def test_one_row_at_which_it_stays_is_enough():
    fades, stays = np.array([[0.2]]), np.array([[1.0]])
    assert forgotten([fades, fades], np.ones(1), 50).all()
    assert not forgotten([fades, stays], np.ones(1), 50).any()
    assert forgotten([], np.zeros(0), 50).tolist() == []


def test_an_integral_leads_on_and_a_filter_does_not(monkeypatch):
    """Of a PID without K_d: its sum of errors counts with what it covered, the filtered error does not."""
    plant = LinearActuator()
    loop = ClosedLoop(plant, Sampled(PID(plant, **PID.suited(plant)), 2e-3))
    seen = run(loop, Scenario(1.0, Hold("output", (0.02,))))
    switching = switches_of(seen)
    assert switching._fading(seen) == {"e_Y_slow"} == seen.kept["fading"]
    covered = dict(zip(names(loop.states)[len(plant.states) :], switching.covered(seen)))
    assert covered["I_Y"] > 0 and covered["e_Y_slow"] == 0.0
    monkeypatch.setattr(switching, "users", True)
    assert switching._fading(seen) == set()
