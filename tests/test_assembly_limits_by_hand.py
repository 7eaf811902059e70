"""When the search of an assembly ends: residuals, damping and steps on constraints of one coordinate that never give way."""

from itertools import repeat

import numpy as np
import pytest
from test_assembly_steps_by_hand import machine

from plants.multibody import assembly
from plants.multibody.effort import OF_FREE
from plants.multibody.reach import AGAIN, ALONG, LEFT, MOST, SHARE, TURN
from workbench.contract.errors import InputError

SIZE = 2.5
ONE = np.array([True])


@pytest.fixture(autouse=True)
def sized(monkeypatch):
    monkeypatch.setattr(assembly, "_size", lambda mechanism, z: SIZE)


def searched(own, z=0.0):
    """(positions found or None, how many places were tried)."""
    tried, moved = [], own.moved
    own.moved = lambda z, δ: tried.append(z) or moved(z, δ)
    try:
        return assembly._closed(own, [z], np.eye(1), ONE), len(tried)
    except InputError:
        return None, len(tried)


def stuck(residual):
    """Always as open as this, whatever its slope says."""
    return machine(lambda z: [residual], lambda z: [np.array([1.0])], 1)


@pytest.mark.parametrize("share, tries", [(0.9, False), (1.1, True)])
def test_a_loop_that_is_closed_to_rounding_is_left_alone(share, tries):
    """Below 1e-13 of the size."""
    found, many = searched(stuck(share * 1e-13 * SIZE))
    assert found == [0.0] and (many > 0) is tries


@pytest.mark.parametrize("share, closed", [(0.9, True), (1.1, False)])
def test_a_loop_is_closed_below_a_ten_billionth_of_the_size(share, closed):
    found, _ = searched(stuck(share * 1e-10 * SIZE))
    assert (found is not None) is closed


def dampings(monkeypatch, steps):
    """What each step is damped by; the steps themselves are given."""
    asked = []

    def damped(A, target, damping):
        asked.append(damping)
        return np.array([next(steps)])

    monkeypatch.setattr(assembly, "_damped", damped)
    return asked


def test_damping_rises_tenfold_until_it_is_no_use(monkeypatch):
    asked = dampings(monkeypatch, repeat(0.0))
    searched(stuck(1.0))
    assert asked == pytest.approx([0.0, *(10.0**k for k in range(-6, 8))])


def test_damping_falls_tenfold_with_every_step_that_helps(monkeypatch):
    """From 1e-6 to nothing below 1e-8, while the coordinate goes from 1 to 0."""
    asked = dampings(monkeypatch, iter([0.0, -0.1, -0.1, -0.1, -0.1, -0.6]))
    found, _ = searched(machine(lambda z: [z[0]], lambda z: [np.array([1.0])], 1), 1.0)
    assert found == pytest.approx([0.0], abs=1e-12)
    assert asked == pytest.approx([0.0, 1e-6, 1e-7, 1e-8, 0.0, 0.0], abs=1e-12)


def test_two_hundred_steps_are_made():
    """Each takes a tenth of what is left: after 200 that is 7e-10."""
    own = machine(lambda z: [z[0]], lambda z: [np.array([10.0])], 1)
    found, many = searched(own, 1.0)
    assert found is None and many == 200
    quicker = machine(lambda z: [z[0]], lambda z: [np.array([8.0])], 1)
    assert searched(quicker, 1.0)[0] is not None


def counted(monkeypatch, by):
    """Steps back that are asked for, each of them by as much again."""
    many = []

    def shortest(G, W, target):
        many.append(1)
        return np.array([by * len(many)])

    monkeypatch.setattr(assembly, "shortest", shortest)
    return many


@pytest.mark.parametrize("by, steps", [(0.9e-10, 1), (1.1e-10, 50)])
def test_fifty_steps_back_to_the_nearest(monkeypatch, by, steps):
    """Done where a step is below 1e-10; where all of them are not enough, the closed positions stay."""
    many = counted(monkeypatch, by)
    own = machine(lambda z: [0.0], lambda z: [np.array([1.0])], 1)
    assert assembly._nearest(own, [3.0], np.zeros(1), np.eye(1), ONE, SIZE) == [3.0]
    assert len(many) == steps


@pytest.mark.parametrize("residual, steps", [(0.9e-2 * SIZE, 50), (1.1e-2 * SIZE, 1)])
def test_the_way_back_stays_within_a_hundredth_of_the_loops(monkeypatch, residual, steps):
    many = counted(monkeypatch, 1e-3)
    own = machine(lambda z: [residual], lambda z: [np.array([1.0])], 1)
    assembly._nearest(own, [3.0], np.zeros(1), np.eye(1), ONE, SIZE)
    assert len(many) == steps


def test_shares_that_are_chosen():
    """A fifth of a joint's range, and half of what is left; a force that takes half the pressure leaves √½ of the speed."""
    assert (SHARE, LEFT, TURN) == (0.2, 0.5, 1.5) and OF_FREE**2 == pytest.approx(0.5)
    assert AGAIN * ALONG < MOST ** (2 / 3)
